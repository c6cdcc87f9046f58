"""From the answer of `spreadsheets.get` to the cells that all tabs share.

Source: Google Sheets API v4, REST resource "v4.spreadsheets", and its page "Cells".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from sheets_host.grid import BLANK, Area, Book, Cell, Grid, Kind, Shape, Strike, shape_of
from sheets_host.stores.google.formulas import out_of_locale

Json = Mapping[str, Any]

MARK_NAME: Final = "sheets_host_seal"
"""The named range whose id tells which write stands last."""

MARK_FIELDS: Final = "namedRanges(namedRangeId,name)"

FIELDS: Final = (
    f"spreadsheetId,properties(locale,timeZone),{MARK_FIELDS},sheets("
    "properties(sheetId,title,index,hidden,gridProperties),"
    "merges,tables(name),conditionalFormats(ranges),basicFilter(range),charts(chartId),"
    "protectedRanges(protectedRangeId,description,range),"
    "data(startRow,startColumn,"
    "rowMetadata(hiddenByFilter,hiddenByUser),columnMetadata(hiddenByUser),"
    "rowData(values(userEnteredValue,effectiveValue,note,"
    "textFormatRuns(startIndex,format(strikethrough)),userEnteredFormat(numberFormat),"
    "effectiveFormat(numberFormat,textFormat(strikethrough))))))"
)
"""All that one read asks for. No ranges are named: they would hide every other tab."""


@dataclass(frozen=True, slots=True)
class Protection:
    """A protected range. area: None for a whole tab."""

    id: int
    description: str
    area: Area | None


@dataclass(frozen=True, slots=True)
class Sheet:
    """What a write needs to know of a tab besides its cells.

    rules: how many conditional formats it has.
    """

    id: int
    title: str
    rows: int
    columns: int
    rules: int = 0
    filtered: bool = False
    charts: tuple[int, ...] = ()
    protections: tuple[Protection, ...] = ()


@dataclass(frozen=True, slots=True)
class Seen:
    """A spreadsheet as it stood when it was read. mark: the id of the last write, or None."""

    mark: str | None
    locale: str
    sheets: tuple[Sheet, ...]

    def sheet(self, title: str) -> Sheet | None:
        """Return the tab of a title; Google's titles are unique without regard to case."""
        for sheet in self.sheets:
            if sheet.title.casefold() == title.casefold():
                return sheet
        return None


def mark_of(answer: Json) -> str | None:
    """Return the id of our named range, which changes with each write, or None."""
    for named in answer.get("namedRanges", ()):
        if named.get("name") == MARK_NAME:
            return str(named["namedRangeId"])
    return None


def book_of(answer: Json, titles: Collection[str]) -> Book:
    """Return the tabs asked for, by the titles asked for, and every tab's own title."""
    locale = answer.get("properties", {}).get("locale", "en_US")
    wanted = {title.casefold(): title for title in titles}
    sheets, grids, names = [], {}, []
    for sheet in answer.get("sheets", ()):
        facts = _sheet_facts(sheet)
        sheets.append(facts)
        names.append(facts.title)
        if asked := wanted.get(facts.title.casefold()):
            grids[asked] = grid_of(sheet, locale)
    return Book(tuple(names), grids, Seen(mark_of(answer), locale, tuple(sheets)))


def _sheet_facts(sheet: Json) -> Sheet:
    properties = sheet["properties"]
    size = properties.get("gridProperties", {})
    return Sheet(
        id=properties.get("sheetId", 0),
        title=properties["title"],
        rows=size.get("rowCount", 0),
        columns=size.get("columnCount", 0),
        rules=len(sheet.get("conditionalFormats", ())),
        filtered="basicFilter" in sheet,
        charts=tuple(chart["chartId"] for chart in sheet.get("charts", ())),
        protections=tuple(
            Protection(
                part["protectedRangeId"],
                part.get("description", ""),
                area_of(part.get("range", {})),
            )
            for part in sheet.get("protectedRanges", ())
        ),
    )


def area_of(grid_range: Json) -> Area | None:
    """Return the area of a GridRange, or None where it is unbounded on some side."""
    bottom, right = grid_range.get("endRowIndex"), grid_range.get("endColumnIndex")
    if bottom is None or right is None:
        return None
    top, left = grid_range.get("startRowIndex", 0), grid_range.get("startColumnIndex", 0)
    return Area(top + 1, left + 1, bottom, right)


def grid_of(sheet: Json, locale: str) -> Grid:
    """Return one tab of the answer as a grid."""
    properties = sheet["properties"]
    raw: dict[tuple[int, int], Json] = {}
    hidden_rows: set[int] = set()
    hidden_columns: set[int] = set()
    for data in sheet.get("data", ()):
        top, left = data.get("startRow", 0) + 1, data.get("startColumn", 0) + 1
        for r, row in enumerate(data.get("rowData", ()), top):
            raw.update(((r, c), cell) for c, cell in enumerate(row.get("values", ()), left) if cell)
        hidden_rows.update(_hidden(data.get("rowMetadata", ()), top))
        hidden_columns.update(_hidden(data.get("columnMetadata", ()), left))
    cells = {place: cell_of(data, locale) for place, data in raw.items()}
    cells = {place: cell for place, cell in cells.items() if _tells_something(cell)}
    _lay_merges(cells, sheet.get("merges", ()))
    return Grid(
        title=properties["title"],
        cells=cells,
        hidden=properties.get("hidden", False),
        hidden_rows=frozenset(hidden_rows),
        hidden_columns=frozenset(hidden_columns),
        tables=tuple(table.get("name", "") for table in sheet.get("tables", ())),
        key=str(properties.get("sheetId", 0)),
    )


def _hidden(facts: Iterable[Json], first: int) -> Iterator[int]:
    return (
        number
        for number, fact in enumerate(facts, first)
        if fact.get("hiddenByUser") or fact.get("hiddenByFilter")
    )


def _tells_something(cell: Cell) -> bool:
    return (
        cell.kind is not Kind.BLANK
        or cell.formula is not None
        or cell.strike is not Strike.NONE
        or cell.comment
    )


def _lay_merges(cells: dict[tuple[int, int], Cell], merges: Iterable[Json]) -> None:
    """Note at each cell of a merged area that it is merged.

    Only as far as the tab is filled: a merge of a whole tab has ten million cells.
    """
    bottom = max((row for row, _ in cells), default=0)
    right = max((column for _, column in cells), default=0)
    for merge in merges:
        area = area_of(merge)
        if area is None:
            continue
        for row in range(area.top, min(area.bottom, bottom) + 1):
            for column in range(area.left, min(area.right, right) + 1):
                cells[row, column] = replace(cells.get((row, column), BLANK), merge=str(area))


# --- one cell ----------------------------------------------------------------------------------

ERRORS: Final = {
    "ERROR": "#ERROR!",
    "NULL_VALUE": "#NULL!",
    "DIVIDE_BY_ZERO": "#DIV/0!",
    "VALUE": "#VALUE!",
    "REF": "#REF!",
    "NAME": "#NAME?",
    "NUM": "#NUM!",
    "N_A": "#N/A",
    "LOADING": "Loading…",
}
"""Google's error types as a cell shows them ("Cells", ErrorType)."""

FORMATS: Final = {
    "TEXT": ("@", Shape.TEXT),
    "NUMBER": ("General", None),
    "PERCENT": ("0.00%", Shape.PERCENT),
    "CURRENCY": ("$#,##0.00", Shape.CURRENCY),
    "DATE": ("yyyy-mm-dd", Shape.DATE),
    "TIME": ("hh:mm:ss", Shape.TIME),
    "DATE_TIME": ("yyyy-mm-dd hh:mm:ss", Shape.DATE),
    "SCIENTIFIC": ("0.00E+00", Shape.SCIENTIFIC),
}
"""By NumberFormat.type: the pattern where none is given, and the shape where the type decides."""


def cell_of(data: Json, locale: str = "en_US") -> Cell:
    """Return one CellData as a cell. Text that looks like a number stays text."""
    entered = data.get("userEnteredValue", {})
    kind, value = _value(data.get("effectiveValue", entered))
    formula = entered.get("formulaValue")
    effective = data.get("effectiveFormat", {})
    number = effective.get("numberFormat") or data.get("userEnteredFormat", {}).get("numberFormat")
    code, shape = _number_format(number)
    return Cell(
        kind=kind,
        value=value,
        formula=None if formula is None else out_of_locale(formula, locale),
        format=code,
        shape=shape,
        strike=_strike(data),
        comment="note" in data,
    )


def _value(value: Json) -> tuple[Kind, float | str | bool | None]:
    if "errorValue" in value:
        return Kind.ERROR, ERRORS.get(value["errorValue"].get("type", ""), "#ERROR!")
    if "boolValue" in value:
        return Kind.BOOLEAN, bool(value["boolValue"])
    if "numberValue" in value:
        return Kind.NUMBER, float(value["numberValue"])
    if "stringValue" in value:
        return Kind.TEXT, str(value["stringValue"])
    return Kind.BLANK, None


def _number_format(number: Json | None) -> tuple[str, Shape]:
    if not number:
        return "General", Shape.GENERAL
    code, shape = FORMATS.get(number.get("type", ""), ("General", None))
    code = number.get("pattern") or code
    return code, shape or shape_of(code)


def _strike(data: Json) -> Strike:
    whole = data.get("effectiveFormat", {}).get("textFormat", {}).get("strikethrough", False)
    runs = data.get("textFormatRuns", ())
    struck = [run.get("format", {}).get("strikethrough", whole) for run in runs]
    # The first run may begin past the start; what stands before it looks as the cell does.
    if not runs or runs[0].get("startIndex", 0) > 0:
        struck.append(whole)
    if all(struck):
        return Strike.WHOLE
    return Strike.PART if any(struck) else Strike.NONE
