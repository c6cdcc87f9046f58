"""What a cell's style says that matters to reading: its number format, what is struck or unseen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NoReturn

from sheets_host.grid import MAX_CODE
from sheets_host.stores.base import StoreError
from sheets_host.stores.excel.package import Package
from sheets_host.stores.excel.parsing import COMPATIBILITY, MAIN, count_of, local_name, walk
from sheets_host.stores.excel.texts import on


@dataclass(frozen=True, slots=True)
class Look:
    """A cell format (``xf``) as far as it tells how to read a value.

    unseen: the font has the colour of the fill behind it.
    """

    format: str = "General"
    struck: bool = False
    unseen: bool = False


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
    fonts: list[tuple[bool, str]] = []  # struck, colour
    fills: list[str] = []  # colours
    formats: list[tuple[int, int, int]] = []
    within = ""  # the collection that is being read
    depth = 0

    def damaged(how: str) -> NoReturn:
        raise StoreError(
            f"{package.name}: the part {package.styles} is damaged: {how}.",
            "Restore an earlier copy, or open it in Excel or LibreOffice and save it again.",
        )

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal within, depth
        depth += not tag.startswith(COMPATIBILITY)
        if depth == 1 and tag != _ROOT:
            damaged("it holds no styles as an ordinary workbook has them")
        if depth == _DEPTH_OF_ITEMS and within and tag not in _ITEMS:
            # Were it stepped over, every later format would be taken for another.
            damaged(f'a "{local_name(tag)}" does not belong among its formats')
        if tag in _COLLECTIONS:
            within = tag
        elif tag == _NUM_FMT and within == _NUM_FMTS:
            number = count_of(attributes.get("numFmtId"))
            if number is None:
                damaged(f'a number format has the id "{attributes.get("numFmtId", "")[:20]}"')
            codes[number] = attributes.get("formatCode", "General")[:MAX_CODE]
        elif tag == _FONT and within == _FONTS:
            fonts.append((False, _BLACK))
        elif tag == _STRIKE and within == _FONTS and fonts:
            fonts[-1] = on(attributes), fonts[-1][1]
        elif tag == _COLOUR and within == _FONTS and fonts:
            fonts[-1] = fonts[-1][0], _colour(attributes)
        elif tag == _FILL and within == _FILLS:
            fills.append(_WHITE)
        elif tag == _PATTERN and within == _FILLS and fills:
            kind = attributes.get("patternType", "none")
            fills[-1] = _BLACK if kind == "solid" else _WHITE if kind == "none" else kind
        elif tag == _FORE and within == _FILLS and fills and fills[-1] == _BLACK:
            fills[-1] = _colour(attributes)
        elif tag == _XF and within == _CELL_XFS:
            ids = [_number(attributes.get(name)) for name in ("numFmtId", "fontId", "fillId")]
            formats.append((ids[0], ids[1], ids[2]))

    def end(tag: str) -> None:
        nonlocal within, depth
        depth -= not tag.startswith(COMPATIBILITY)
        if tag == within:
            within = ""

    walk([package.part(package.styles)], package.styles, package.name, start, end)
    if not (fonts and fills and formats):
        damaged("it lists no fonts, no fills or no cell formats")
    looks = []
    for number, font, fill in formats:
        struck, ink = fonts[font] if font < len(fonts) else (False, _BLACK)
        ground = fills[fill] if fill < len(fills) else _WHITE
        looks.append(Look(codes.get(number, "General"), struck, ink == ground))
    return tuple(looks)


_BLACK: Final = "000000"
_WHITE: Final = "FFFFFF"
_THEMED: Final = {"0": _WHITE, "1": _BLACK}  # the window's ground and text, 20.1.6.2
_INDEXED: Final = {"0": _BLACK, "1": _WHITE, "8": _BLACK, "9": _WHITE, "64": _BLACK, "65": _WHITE}


def _colour(attributes: dict[str, str]) -> str:
    """Return what tells two colours apart (18.8.3, 18.8.19): RRGGBB where it is known, else words.

    A theme's other colours, and tints, are not worked out: they are alike where written alike.
    """
    tint = attributes.get("tint", "0")
    if "rgb" in attributes:
        plain = attributes["rgb"][-6:].upper()
    elif "theme" in attributes:
        plain = _THEMED.get(attributes["theme"], f"theme {attributes['theme'][:9]}")
    elif "indexed" in attributes:
        plain = _INDEXED.get(attributes["indexed"], f"indexed {attributes['indexed'][:9]}")
    else:
        plain = _BLACK
    return plain if tint in ("0", "0.0") else f"{plain} {tint[:20]}"


_ROOT: Final = MAIN + "styleSheet"
_NUM_FMTS: Final = MAIN + "numFmts"
_NUM_FMT: Final = MAIN + "numFmt"
_FONTS: Final = MAIN + "fonts"
_FONT: Final = MAIN + "font"
_STRIKE: Final = MAIN + "strike"
_COLOUR: Final = MAIN + "color"
_FILLS: Final = MAIN + "fills"
_FILL: Final = MAIN + "fill"
_PATTERN: Final = MAIN + "patternFill"
_FORE: Final = MAIN + "fgColor"
_CELL_XFS: Final = MAIN + "cellXfs"
_XF: Final = MAIN + "xf"
_COLLECTIONS: Final = frozenset((_NUM_FMTS, _FONTS, _FILLS, _CELL_XFS))
_ITEMS: Final = (_NUM_FMT, _FONT, _FILL, _XF, MAIN + "extLst")
_DEPTH_OF_ITEMS: Final = 3  # styleSheet, fonts, font


def _number(text: str | None) -> int:
    return count_of(text) or 0
