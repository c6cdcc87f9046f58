"""Our cell reader beside openpyxl and calamine: real workbooks, and two made for the purpose.

Wherever another reader says something else than ours, the difference falls under one of the
explanations below. A difference that none explains fails, and so does an explanation that
explains nothing any more.
"""

from __future__ import annotations

import datetime as dt
import io
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import python_calamine
import xlsxwriter  # type: ignore[import-untyped]
from openpyxl.utils.datetime import to_excel

from sheets_host.grid import Area, Cell, Grid, Kind, Shape, Strike
from sheets_host.stores.base import StoreError
from sheets_host.stores.excel.package import Package
from sheets_host.stores.excel.reading import read_grids
from tests.packages import build, styles

REFUSED = {
    "calamine__pass_protected.xlsx": "protected by a password",
    "poi__SampleSS.strict.xlsx": "Strict Open XML Spreadsheet",
    "poi__hello-world-signed.xlsx": "digitally signed",
    "python-calamine__empty_file.xlsx": "empty (0 bytes)",
}
"""Files of the corpus that we refuse, and why."""

ONLY_OURS = {
    "ClosedXML__EmptyFill.xlsx": (TypeError, "an empty <fill/>"),
    "calamine__issue_419.xlsx": (KeyError, "a part's name in another letter case"),
    "calamine__pivots.xlsx": (TypeError, "a pivot cache"),
    "poi__style-alternate-content.xlsx": (TypeError, "a font in mc:AlternateContent"),
}
"""Files that we read and openpyxl does not: how that ends, and at what."""


Value = float | str | bool | None
Place = tuple[int, int]


@dataclass(frozen=True)
class Difference:
    """What another reader says of a cell. what: its value, formula, format …"""

    reader: str
    what: str
    cell: Cell
    theirs: object


@dataclass(frozen=True)
class Explanation:
    why: str
    fits: Callable[[Difference], bool]


EXPLANATIONS = {
    "errors vanish": Explanation(
        "calamine reads an error as an empty cell, as if nobody had bid",
        lambda d: d.reader == "calamine" and d.cell.kind is Kind.ERROR and d.theirs is None,
    ),
    "array results": Explanation(
        "openpyxl knows the formula of an array in its first cell alone; the others look typed",
        lambda d: d.what == "formula" and d.theirs is None,
    ),
    "empty results": Explanation(
        "neither reader tells the empty text of a formula from a formula never calculated",
        lambda d: d.what == "value" and d.cell.value == "" and d.theirs is None,
    ),
    "escapes": Explanation(
        "openpyxl leaves escapes such as _x000D_ as they are written",
        lambda d: d.reader == "openpyxl" and "_x000D_" in str(d.theirs),
    ),
    "days before March 1900": Explanation(
        "both readers shift them, since Excel has a 29 February 1900; we keep what is stored",
        lambda d: d.what == "value" and isinstance(d.cell.value, float) and d.cell.value <= 60,
    ),
}


def values_of(grid: Grid) -> dict[Place, Value]:
    return {place: cell.value for place, cell in grid.cells.items() if cell.kind is not Kind.BLANK}


def openpyxl_books(data: bytes) -> tuple[Any, Any]:
    """Return a workbook with stored values, and one with formulas."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # openpyxl says which extensions it drops
        stored = openpyxl.load_workbook(io.BytesIO(data), data_only=True)
        return stored, openpyxl.load_workbook(io.BytesIO(data), rich_text=False)


def in_our_terms(value: object) -> Value:
    """Return a foreign value as ours: numbers as floats, dates and times as serials."""
    if value is None or value == "":
        return None
    if isinstance(value, bool | str):
        return value
    if isinstance(value, int | float):
        return float(value)
    assert isinstance(value, dt.datetime | dt.date | dt.time | dt.timedelta)
    return float(to_excel(value))  # type: ignore[no-untyped-call]


def same(mine: Value, theirs: Value) -> bool:
    if isinstance(mine, float) and isinstance(theirs, float):
        return mine == theirs or abs(mine - theirs) < 1e-9
    return type(mine) is type(theirs) and mine == theirs


def against_openpyxl(grids: dict[str, Grid], data: bytes) -> Iterator[Difference]:
    stored, written = openpyxl_books(data)
    assert [tab.title for tab in stored.worksheets] == list(grids)
    for title, grid in grids.items():
        shown, formulas = stored[title], written[title]
        # Only cells that hold something have a format that matters.
        for row in formulas.iter_rows():
            for their in row:
                mine = grid.at(their.row, their.column)
                value = in_our_terms(shown.cell(their.row, their.column).value)
                formula = getattr(their.value, "text", their.value)
                if not (isinstance(formula, str) and their.data_type == "f"):
                    formula = None
                facts = [("value", mine.value, value), ("formula", mine.formula, formula)]
                if their.value is not None:
                    facts += [
                        ("format", mine.format, their.number_format),
                        ("date", mine.shape in (Shape.DATE, Shape.TIME), their.is_date),
                    ]
                if mine.strike is not Strike.PART and their.value is not None:
                    facts += [("strike", mine.strike is Strike.WHOLE, bool(their.font.strike))]
                facts += [("comment", mine.comment, their.comment is not None)]
                for what, ours, theirs in facts:
                    if not same(ours, theirs):
                        yield Difference("openpyxl", what, mine, theirs)
        beyond = set(values_of(grid)) - {
            (cell.row, cell.column) for row in formulas.iter_rows() for cell in row
        }
        assert not beyond
        hidden = {number for number, row in formulas.row_dimensions.items() if row.hidden}
        assert grid.hidden_rows >= hidden  # openpyxl leaves out rows without cells
        merges = {cell.merge for cell in grid.cells.values() if cell.merge}
        assert merges <= {str(Area.of(str(area))) for area in formulas.merged_cells.ranges}


def against_calamine(grids: dict[str, Grid], data: bytes) -> Iterator[Difference]:
    book = python_calamine.load_workbook(io.BytesIO(data))
    for title, grid in grids.items():
        rows = book.get_sheet_by_name(title).to_python(skip_empty_area=False)
        theirs = {
            (r, c): in_our_terms(value)
            for r, row in enumerate(rows, 1)
            for c, value in enumerate(row, 1)
        }
        for place in {**values_of(grid), **theirs}:
            mine = grid.at(*place)
            if not same(mine.value, theirs.get(place)):
                yield Difference("calamine", "value", mine, theirs.get(place))


def unexplained(differences: Iterator[Difference]) -> list[Difference]:
    return [one for one in differences if not any(e.fits(one) for e in EXPLANATIONS.values())]


def read(data: bytes, name: str = "Game.xlsx") -> dict[str, Grid]:
    package = Package.open(data, name)
    return read_grids(package, {sheet.title for sheet in package.sheets})[1]


# --- two workbooks that hold what people type -----------------------------------------------------

FORMATS = ("d-mmm", "h:mm", "[h]:mm", "m/d/yy h:mm", '0" tokens"', "0.0,")
STRINGS = (
    "<si><t>a_x000D_b</t></si><si><t>_x005F_x0041_</t></si>"
    '<si><r><rPr><strike/></rPr><t>40</t></r><r><t xml:space="preserve"> 50</t></r></si>'
    '<si><t>七</t><rPh sb="0" eb="1"><t>なな</t></rPh></si>'
    '<si><t xml:space="preserve"> 5 </t></si>'
)
CELLS = (
    "<c><v>50</v></c>", "<c><v>50.5</v></c>", "<c><v>-3</v></c>", "<c><v>-0</v></c>",
    "<c><v>1e400</v></c>", "<c><v>1.23456789012346E+19</v></c>",
    '<c s="2"><v>46024</v></c>', '<c s="2"><v>59</v></c>', '<c s="2"><v>60</v></c>',
    '<c s="3"><v>0.4375</v></c>', '<c s="4"><v>1.25</v></c>', '<c s="5"><v>46024.75</v></c>',
    '<c s="6"><v>5</v></c>', '<c s="7"><v>50000</v></c>', '<c s="1"><v>50</v></c>',
    '<c t="d"><v>2026-01-02T06:00:00</v></c>',
    '<c t="b"><v>1</v></c>', '<c t="b"><v>0</v></c>', '<c t="e"><v>#REF!</v></c>',
    '<c t="s"><v>0</v></c>', '<c t="s"><v>1</v></c>', '<c t="s"><v>2</v></c>',
    '<c t="s"><v>3</v></c>', '<c t="s"><v>4</v></c>',
    '<c t="inlineStr"><is><t>pass</t></is></c>', '<c t="inlineStr"><is><t>a_x000D_b</t></is></c>',
    '<c t="inlineStr"><is><r><t>4</t></r><r><t>5</t></r></is></c>',
    "<c><f>1+1</f></c>", "<c><f>1+1</f><v></v></c>", '<c t="str"><f>""</f><v></v></c>',
    '<c t="str"><f>"a"</f><v>a_x000D_b</v></c>', '<c t="e"><f>1/0</f><v>#DIV/0!</v></c>',
    '<c t="b"><f>1=1</f><v>1</v></c>', "<c><f>10+5</f><v>15</v></c>",
)  # fmt: skip


def raw_workbook() -> bytes:
    rows = [
        f'<row r="{n}">{cell.replace("<c", f"""<c r="B{n}" """, 1)}</row>'
        for n, cell in enumerate(CELLS, 1)
    ]
    n = len(CELLS)
    rows += [
        f'<row r="{n + 2}"><c r="A{n + 2}"><f t="shared" ref="A{n + 2}:A{n + 4}" si="0">'
        f"SUM(B1:$B$9)+Other!C3</f><v>1</v></c></row>",
        *(f'<row r="{r}"><c r="A{r}"><f t="shared" si="0"/><v>1</v></c></row>'
          for r in (n + 3, n + 4)),
    ]  # fmt: skip
    return build(
        {"Bids": "".join(rows), "Other": '<row r="3"><c r="C3"><v>1</v></c></row>'},
        strings=STRINGS,
        more={"xl/styles.xml": styles(*FORMATS)},
    )


MOMENT = dt.datetime(2026, 1, 2, 18)  # noqa: DTZ001 - cells know no zones


def foreign_workbook() -> bytes:
    target = io.BytesIO()
    with xlsxwriter.Workbook(target, {"in_memory": True}) as book:
        tab = book.add_worksheet("Bids & pieces")
        struck = book.add_format({"font_strikeout": True})
        tab.write_row("A1", ["Round", "Lot", "Ann", "Bob"])
        tab.write("C2", 40, struck)
        tab.write_rich_string("C3", struck, "40", " 50")
        tab.write_comment("C4", "better 60")
        tab.merge_range("C6:D6", 7)
        tab.write_array_formula("A8:B9", "{=C2:D3}", None, 1)
        tab.write("B8", 2)
        tab.write_datetime("C8", MOMENT, book.add_format({"num_format": 22}))
        tab.set_row(8, None, None, {"hidden": True})
        tab.set_column("F:G", None, None, {"hidden": True})
        for row, number in enumerate((9, 11, 12, 14, 16, 20, 37, 42, 43, 46, 49), 10):
            tab.write(row, 0, 0.5, book.add_format({"num_format": number}))
        book.add_worksheet("Hidden").hide()
    return target.getvalue()


MADE = {"raw": raw_workbook, "foreign": foreign_workbook}


@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_made_workbooks__every_difference_is_explained(make: Callable[[], bytes]) -> None:
    data = make()
    grids = read(data)
    assert unexplained(against_openpyxl(grids, data)) == []
    assert unexplained(against_calamine(grids, data)) == []


def test_explanations__explain_something() -> None:
    found: Counter[str] = Counter()
    for make in MADE.values():
        data = make()
        grids = read(data)
        for one in (*against_openpyxl(grids, data), *against_calamine(grids, data)):
            found.update(name for name, e in EXPLANATIONS.items() if e.fits(one))
    assert set(found) == set(EXPLANATIONS)


def test_foreign_workbook__what_neither_reader_says() -> None:
    grid = read(foreign_workbook())["Bids & pieces"]
    assert grid.at(2, 3).strike is Strike.WHOLE
    assert grid.at(3, 3).strike is Strike.PART
    assert grid.at(4, 3) == Cell(comment=True)
    assert (grid.at(6, 3).merge, grid.at(6, 4).merge) == ("C6:D6", "C6:D6")
    assert grid.hidden_columns == {6, 7}
    assert read(foreign_workbook())["Hidden"].hidden


# --- the corpus -----------------------------------------------------------------------------------


def refusal(file: Path) -> str | None:
    try:
        read(file.read_bytes(), file.name)
    except StoreError as error:
        return error.message
    return None


def test_corpus__what_is_refused(corpus: Path) -> None:
    refused = {file.name: message for file in corpus.iterdir() if (message := refusal(file))
               and file.suffix == ".xlsx"}  # fmt: skip
    assert set(refused) == set(REFUSED)
    for name, message in refused.items():
        assert REFUSED[name] in message


@pytest.mark.parametrize("name", ONLY_OURS)
def test_corpus__what_openpyxl_cannot_open(corpus: Path, name: str) -> None:
    data = (corpus / name).read_bytes()
    with pytest.raises(ONLY_OURS[name][0]):
        openpyxl_books(data)
    assert read(data)


def test_corpus__every_difference_is_explained(corpus: Path) -> None:
    cells = 0
    for file in sorted(set(corpus.glob("*.xlsx")) - {corpus / name for name in REFUSED}):
        data = file.read_bytes()
        grids = read(data, file.name)
        assert unexplained(against_calamine(grids, data)) == [], file.name
        if file.name not in ONLY_OURS:
            assert unexplained(against_openpyxl(grids, data)) == [], file.name
        cells += sum(len(grid.cells) for grid in grids.values())
    assert cells > 1_000
