"""What a cell's style says that matters to reading: its number format, and strike-through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from sheets_host.grid import MAX_CODE
from sheets_host.stores.base import StoreError
from sheets_host.stores.excel.package import Package
from sheets_host.stores.excel.parsing import COMPATIBILITY, MAIN, count_of, walk
from sheets_host.stores.excel.texts import on


@dataclass(frozen=True, slots=True)
class Look:
    """A cell format (``xf``) as far as it tells how to read a value."""

    format: str = "General"
    struck: bool = False


def _built_in() -> dict[int, str]:
    """Return the formats that a number alone names (ECMA-376 part 1, 18.8.30).

    Those that differ by language stand here for what they show: a date, a time, an amount.
    """
    codes = {
        0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00",
        5: '"$"#,##0_);("$"#,##0)', 6: '"$"#,##0_);[Red]("$"#,##0)',
        7: '"$"#,##0.00_);("$"#,##0.00)', 8: '"$"#,##0.00_);[Red]("$"#,##0.00)',
        9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??",
        14: "mm-dd-yy", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy",
        18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "m/d/yy h:mm",
        32: "h:mm", 33: "h:mm:ss",
        37: "#,##0_);(#,##0)", 38: "#,##0_);[Red](#,##0)",
        39: "#,##0.00_);(#,##0.00)", 40: "#,##0.00_);[Red](#,##0.00)",
        41: r'_(* #,##0_);_(* \(#,##0\);_(* "-"_);_(@_)',
        42: r'_("$"* #,##0_);_("$"* \(#,##0\);_("$"* "-"_);_(@_)',
        43: r'_(* #,##0.00_);_(* \(#,##0.00\);_(* "-"??_);_(@_)',
        44: r'_("$"* #,##0.00_);_("$"* \(#,##0.00\);_("$"* "-"??_);_(@_)',
        45: "mm:ss", 46: "[h]:mm:ss", 47: "mm:ss.0", 48: "##0.0E+0", 49: "@",
        59: "0", 60: "0.00", 61: "#,##0", 62: "#,##0.00", 67: "0%", 68: "0.00%",
        69: "# ?/?", 70: "# ??/??", 75: "h:mm", 76: "h:mm:ss", 77: "d/m/yyyy h:mm",
        78: "mm:ss", 79: "[h]:mm:ss", 80: "mm:ss.0",
    }  # fmt: skip
    dates = [*range(27, 32), *range(34, 37), *range(50, 59), *range(71, 75), 81]
    return codes | dict.fromkeys(dates, "yyyy/m/d")


BUILT_IN: Final = _built_in()


def looks_of(package: Package) -> tuple[Look, ...]:
    """Return the looks of the workbook's cell formats, by their index. Never empty.

    A format that names a font or number format which is not there gets the default one: the
    value is read all the same. ``applyNumberFormat`` and ``applyFont`` do not matter, as Excel
    shows what the ids name.
    """
    codes = dict(BUILT_IN)
    fonts: list[bool] = []
    formats: list[tuple[int, int]] = []
    within = ""  # the collection that is being read
    depth = 0

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal within, depth
        depth += not tag.startswith(COMPATIBILITY)
        if depth == _DEPTH_OF_ITEMS and within and tag not in _ITEMS:
            raise StoreError(  # were it stepped over, every later format would be taken for another
                f"{package.name}: the part {package.styles} is damaged: a "
                f'"{tag.rpartition(" ")[2][:20]}" does not belong among its formats.',
                "Restore an earlier copy, or open it in Excel or LibreOffice and save it again.",
            )
        if tag in _COLLECTIONS:
            within = tag
        elif tag == _NUM_FMT and within == _NUM_FMTS:
            code = attributes.get("formatCode", "General")
            codes[_number(attributes.get("numFmtId"))] = code[:MAX_CODE]
        elif tag == _FONT and within == _FONTS:
            fonts.append(False)
        elif tag == _STRIKE and within == _FONTS and fonts:
            fonts[-1] = on(attributes)
        elif tag == _XF and within == _CELL_XFS:
            formats.append((_number(attributes.get("numFmtId")), _number(attributes.get("fontId"))))

    def end(tag: str) -> None:
        nonlocal within, depth
        depth -= not tag.startswith(COMPATIBILITY)
        if tag == within:
            within = ""

    walk([package.part(package.styles)], package.styles, package.name, start, end)
    return tuple(
        Look(codes.get(number, "General"), fonts[font] if font < len(fonts) else False)
        for number, font in formats
    ) or (Look(),)


_NUM_FMTS: Final = MAIN + "numFmts"
_NUM_FMT: Final = MAIN + "numFmt"
_FONTS: Final = MAIN + "fonts"
_FONT: Final = MAIN + "font"
_STRIKE: Final = MAIN + "strike"
_CELL_XFS: Final = MAIN + "cellXfs"
_XF: Final = MAIN + "xf"
_COLLECTIONS: Final = frozenset((_NUM_FMTS, _FONTS, _CELL_XFS))
_ITEMS: Final = (_NUM_FMT, _FONT, _XF, MAIN + "extLst")
_DEPTH_OF_ITEMS: Final = 3  # styleSheet, fonts, font


def _number(text: str | None) -> int:
    return count_of(text) or 0
