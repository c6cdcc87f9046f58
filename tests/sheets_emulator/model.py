"""What an emulated spreadsheet holds, and how it answers `spreadsheets.get`.

Cells are never changed in place, always replaced, so that a batch can be applied to a cheap copy
and committed whole.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from tests.sheets_emulator.schema import InvalidError, Json, Mask, masked

Place = tuple[int, int]
"""Row and column, from 0."""

Evaluate = Callable[[str, str, str], Json]
"""Works out a formula: (tab, address, formula) to an ExtendedValue."""

OWNER: Final = "owner@example.org"
ROBOT: Final = "robot@example.org"

PLAIN_TEXT: Final[Json] = {
    "foregroundColor": {},
    "fontFamily": "Arial",
    "fontSize": 10,
    "bold": False,
    "italic": False,
    "strikethrough": False,
    "underline": False,
}
SEMICOLON_LOCALES: Final = re.compile(
    r"(bg|cs|da|de|el|es|fi|fr|hu|it|nb|nl|pl|pt|ro|ru|sv|tr|uk)_.*"
)
ERROR_TEXTS: Final = {
    "ERROR": "#ERROR!",
    "NULL_VALUE": "#NULL!",
    "DIVIDE_BY_ZERO": "#DIV/0!",
    "VALUE": "#VALUE!",
    "REF": "#REF!",
    "NAME": "#NAME?",
    "NUM": "#NUM!",
    "N_A": "#N/A",
    "LOADING": "Loading...",
}


def blank_results(_tab: str, _address: str, _formula: str) -> Json:
    """Give every formula an empty text: the emulator does not calculate."""
    return {"stringValue": ""}


@dataclass
class Sheet:
    """One tab. `results` holds what a test said that a formula yields."""

    properties: Json
    cells: dict[Place, Json] = field(default_factory=dict)
    results: dict[Place, Json] = field(default_factory=dict)
    merges: list[Json] = field(default_factory=list)
    protected: list[Json] = field(default_factory=list)
    rules: list[Json] = field(default_factory=list)
    charts: list[Json] = field(default_factory=list)
    tables: list[Json] = field(default_factory=list)
    filter: Json | None = None
    row_facts: dict[int, Json] = field(default_factory=dict)
    column_facts: dict[int, Json] = field(default_factory=dict)

    @property
    def id(self) -> int:
        return int(self.properties["sheetId"])

    @property
    def title(self) -> str:
        return str(self.properties["title"])

    @property
    def rows(self) -> int:
        return int(self.properties["gridProperties"]["rowCount"])

    @property
    def columns(self) -> int:
        return int(self.properties["gridProperties"]["columnCount"])

    def copied(self) -> Sheet:
        """Return a copy that can be changed without changing this one."""
        return Sheet(
            copy.deepcopy(self.properties),
            dict(self.cells),
            dict(self.results),
            list(self.merges),
            list(self.protected),
            list(self.rules),
            list(self.charts),
            list(self.tables),
            self.filter,
            dict(self.row_facts),
            dict(self.column_facts),
        )


@dataclass
class Spreadsheet:
    """One spreadsheet. people: who it is shared with, `writer` or `reader`; the owner is apart."""

    id: str
    sheets: list[Sheet]
    locale: str = "en_US"
    time_zone: str = "Etc/GMT"
    title: str = "Untitled spreadsheet"
    named: list[Json] = field(default_factory=list)
    people: dict[str, str] = field(default_factory=lambda: {ROBOT: "writer"})
    evaluate: Evaluate = blank_results
    next_id: int = 1000

    def sheet(self, sheet_id: int) -> Sheet:
        """Return a tab by its id. Raises InvalidError."""
        for sheet in self.sheets:
            if sheet.id == sheet_id:
                return sheet
        raise InvalidError(f"No grid with id: {sheet_id}")

    def tab(self, title: str) -> Sheet:
        """Return a tab by its title, in any case. Raises KeyError."""
        for sheet in self.sheets:
            if sheet.title.casefold() == title.casefold():
                return sheet
        raise KeyError(title)

    def role(self, who: str) -> str | None:
        return "owner" if who == OWNER else self.people.get(who)

    def copied(self) -> Spreadsheet:
        """Return a copy for a batch to work on."""
        clone = copy.copy(self)
        clone.sheets = [sheet.copied() for sheet in self.sheets]
        clone.named = list(self.named)
        return clone

    def fresh_id(self) -> int:
        """Return an id that nothing has yet."""
        self.next_id += 1
        return self.next_id


# --- answers -----------------------------------------------------------------------------------


def without_zeros(area: Json) -> Json:
    """Return a GridRange as Google writes it: what is 0 is left out."""
    return {name: value for name, value in area.items() if value != 0}


def answer(book: Spreadsheet, tree: Mask, who: str) -> Json:
    """Return the Spreadsheet of `spreadsheets.get` under a field mask."""
    whole: Json = {
        "spreadsheetId": book.id,
        "properties": {"title": book.title, "locale": book.locale, "timeZone": book.time_zone},
        "spreadsheetUrl": f"https://docs.google.com/spreadsheets/d/{book.id}/edit",
    }
    if book.named:
        whole["namedRanges"] = [
            named | {"range": without_zeros(named["range"])} for named in book.named
        ]
    whole = masked(whole, tree)
    if "sheets" in tree:
        whole["sheets"] = [_sheet_answer(book, sheet, tree["sheets"], who) for sheet in book.sheets]
    return whole


def _sheet_answer(book: Spreadsheet, sheet: Sheet, tree: Mask, who: str) -> Json:
    index = book.sheets.index(sheet)
    whole: Json = {"properties": sheet.properties | {"index": index, "sheetType": "GRID"}}
    for name, parts in (
        ("merges", [without_zeros(merge) for merge in sheet.merges]),
        ("protectedRanges", [_protection_answer(book, part, who) for part in sheet.protected]),
        ("conditionalFormats", sheet.rules),
        ("charts", sheet.charts),
        ("tables", sheet.tables),
    ):
        if parts:
            whole[name] = parts
    if sheet.filter:
        whole["basicFilter"] = sheet.filter
    whole = masked(whole, tree)
    if "data" in tree:
        whole["data"] = [_data_answer(book, sheet, tree["data"])]
    return whole


def _protection_answer(book: Spreadsheet, part: Json, who: str) -> Json:
    shown = part | {"range": without_zeros(part["range"])}
    if may_edit(book, part, who):
        shown["requestingUserCanEdit"] = True
    else:
        shown.pop("editors", None)
    return shown


def may_edit(book: Spreadsheet, protection: Json, who: str) -> bool:
    """Tell whether someone may edit what a protection covers."""
    users = protection.get("editors", {}).get("users", [])
    return protection.get("warningOnly", False) or book.role(who) == "owner" or who in users


def _data_answer(book: Spreadsheet, sheet: Sheet, tree: Mask) -> Json:
    data: Json = {}
    rows: dict[int, dict[int, Json]] = {}
    if "rowData" in tree:
        cell_tree = tree["rowData"].get("values", {})
        for (row, column), cell in sheet.cells.items():
            if cell:
                rows.setdefault(row, {})[column] = cell_answer(
                    book, sheet, (row, column), cell_tree
                )
    if rows:
        data["rowData"] = [
            {"values": [cells.get(c, {}) for c in range(max(cells) + 1)]}
            if (cells := rows.get(r))
            else {}
            for r in range(max(rows) + 1)
        ]
    for name, facts, count in (
        ("rowMetadata", sheet.row_facts, sheet.rows),
        ("columnMetadata", sheet.column_facts, sheet.columns),
    ):
        size = 21 if name == "rowMetadata" else 100
        if name in tree:
            data[name] = [
                masked({"pixelSize": size} | facts.get(n, {}), tree[name]) for n in range(count)
            ]
    return data


def cell_answer(book: Spreadsheet, sheet: Sheet, place: Place, tree: Mask) -> Json:
    """Return one CellData under a field mask."""
    cell = sheet.cells.get(place, {})
    every = not tree
    shown: Json = {}
    for name in (
        "userEnteredValue",
        "userEnteredFormat",
        "textFormatRuns",
        "note",
        "dataValidation",
    ):
        if name in cell and (every or name in tree):
            shown[name] = cell[name]
    if "userEnteredValue" in cell:
        value = effective(book, sheet, place)
        if value and (every or "effectiveValue" in tree):
            shown["effectiveValue"] = value
        if value and (every or "formattedValue" in tree):
            shown["formattedValue"] = formatted(value)
    link = cell.get("userEnteredFormat", {}).get("textFormat", {}).get("link")
    if link and (every or "hyperlink" in tree):
        shown["hyperlink"] = link["uri"]
    if every or "effectiveFormat" in tree:
        entered = cell.get("userEnteredFormat", {})
        text = PLAIN_TEXT | entered.get("textFormat", {})
        shown["effectiveFormat"] = entered | {"textFormat": text}
    return {name: masked(part, tree.get(name, {})) for name, part in shown.items()}


def effective(book: Spreadsheet, sheet: Sheet, place: Place) -> Json:
    """Return what a cell comes to: its value, or what its formula yields."""
    value: Json = sheet.cells.get(place, {}).get("userEnteredValue", {})
    formula = value.get("formulaValue")
    if formula is None:
        return value
    if place in sheet.results:
        return sheet.results[place]
    if commas_where_semicolons_belong(formula, book.locale):
        return {"errorValue": {"type": "ERROR", "message": "Formula parse error."}}
    return book.evaluate(sheet.title, a1(place), formula)


def commas_where_semicolons_belong(formula: str, locale: str) -> bool:
    """Tell whether a formula parts its arguments in a way that the locale cannot read."""
    bare = re.sub(r'"[^"]*"|\'[^\']*\'', "", formula)
    return bool(SEMICOLON_LOCALES.match(locale)) and "," in re.sub(r"\d,\d", "", bare)


def formatted(value: Json) -> str:
    """Return a value as the sheet shows it, under the automatic format."""
    (kind, content), *_ = value.items()
    if kind == "errorValue":
        return ERROR_TEXTS.get(content["type"], "#ERROR!")
    if kind == "boolValue":
        return "TRUE" if content else "FALSE"
    if kind == "numberValue" and content == int(content):
        return str(int(content))
    return str(content)


def a1(place: Place) -> str:
    """Return the address of a place, such as E7."""
    row, column = place
    letters, rest = "", column + 1
    while rest:
        rest, letter = divmod(rest - 1, 26)
        letters = chr(65 + letter) + letters
    return f"{letters}{row + 1}"


def place_of(address: str) -> Place:
    """Return the place of an address such as E7. Raises ValueError for anything else."""
    found = re.fullmatch(r"([A-Z]{1,3})([1-9][0-9]{0,6})", address.upper())
    if not found:
        raise ValueError(f"{address} is no cell; one is called E7")
    column = 0
    for letter in found[1]:
        column = column * 26 + ord(letter) - 64
    return int(found[2]) - 1, column - 1


def new_sheet(title: str, sheet_id: int, rows: int = 1000, columns: int = 26) -> Sheet:
    """Return an empty tab of Google's usual size."""
    grid: dict[str, Any] = {"rowCount": rows, "columnCount": columns}
    return Sheet({"sheetId": sheet_id, "title": title, "gridProperties": grid})
