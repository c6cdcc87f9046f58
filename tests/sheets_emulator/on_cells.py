"""Requests that change cells, and who may."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tests.sheets_emulator.model import Place, Sheet, Spreadsheet, may_edit
from tests.sheets_emulator.schema import InvalidError, Json, mask, merge

LONGEST_CELL: Final = 50_000
PROTECTED: Final = (
    "You are trying to edit a protected cell or object. Please contact the spreadsheet owner to "
    "remove protection if you need to edit."
)


# --- ranges ------------------------------------------------------------------------------------


def bounds(book: Spreadsheet, area: Json) -> tuple[Sheet, int, int, int, int]:
    """Return a GridRange's tab, top, left, bottom, right (the latter two not included)."""
    sheet = book.sheet(area.get("sheetId", 0))
    top, left = area.get("startRowIndex", 0), area.get("startColumnIndex", 0)
    bottom = area.get("endRowIndex", sheet.rows)
    right = area.get("endColumnIndex", sheet.columns)
    if bottom > sheet.rows or right > sheet.columns or min(top, left) < 0:
        raise InvalidError(
            f"Range ('{sheet.title}'!R{top + 1}C{left + 1}:R{bottom}C{right}) exceeds grid limits. "
            f"Max rows: {sheet.rows}, max columns: {sheet.columns}"
        )
    if top >= bottom or left >= right:
        raise InvalidError("Range is empty.")
    return sheet, top, left, bottom, right


def places(book: Spreadsheet, area: Json) -> Iterator[Place]:
    _, top, left, bottom, right = bounds(book, area)
    return ((row, column) for row in range(top, bottom) for column in range(left, right))


def overlap(book: Spreadsheet, one: Json, other: Json) -> bool:
    """Tell whether two GridRanges share a cell."""
    if one.get("sheetId", 0) != other.get("sheetId", 0):
        return False
    _, top, left, bottom, right = bounds(book, one)
    _, top2, left2, bottom2, right2 = bounds(book, other)
    return top < bottom2 and top2 < bottom and left < right2 and left2 < right


def guard(book: Spreadsheet, area: Json, who: str) -> None:
    """Refuse an edit of what is protected against this person."""
    sheet = book.sheet(area.get("sheetId", 0))
    for protection in sheet.protected:
        if not may_edit(book, protection, who) and overlap(book, area, protection["range"]):
            raise InvalidError(PROTECTED)


def guard_sheet(book: Spreadsheet, sheet_id: int, who: str) -> Sheet:
    """Refuse an edit of a tab of which anything is protected against this person."""
    guard(book, {"sheetId": sheet_id}, who)
    return book.sheet(sheet_id)


# --- cells -------------------------------------------------------------------------------------


def put(sheet: Sheet, place: Place, cell: Json) -> None:
    """Set a cell; an empty one is forgotten, and what its formula yielded with it."""
    if sheet.cells.get(place, {}).get("userEnteredValue") != cell.get("userEnteredValue"):
        sheet.results.pop(place, None)
        cell.pop("textFormatRuns", None)
    if cell:
        sheet.cells[place] = cell
    else:
        sheet.cells.pop(place, None)


def _check_cell(cell: Json) -> None:
    value = cell.get("userEnteredValue", {})
    if "errorValue" in value:
        raise InvalidError("errorValue is read-only")
    if len(str(value.get("stringValue", ""))) > LONGEST_CELL:
        raise InvalidError(
            f"Your input contains more than the maximum of {LONGEST_CELL} characters in a single "
            "cell."
        )
    formula = value.get("formulaValue")
    if formula is not None and not formula.startswith("="):
        raise InvalidError("Formulas begin with =.")


def update_cells(book: Spreadsheet, body: Json, who: str) -> None:
    tree = mask(body.get("fields", ""), "CellData")
    if ("range" in body) == ("start" in body):
        raise InvalidError("One of range or start must be set.")
    rows = body.get("rows", [])
    if "start" in body:
        start = body["start"]
        top, left = start.get("rowIndex", 0), start.get("columnIndex", 0)
        width = max((len(row.get("values", [])) for row in rows), default=0)
        area = {
            "sheetId": start.get("sheetId", 0),
            "startRowIndex": top,
            "endRowIndex": top + len(rows),
            "startColumnIndex": left,
            "endColumnIndex": left + width,
        }
    else:
        area = body["range"]
    guard(book, area, who)
    sheet, top, left, bottom, right = bounds(book, area)
    for r, row in enumerate(rows):
        if top + r >= bottom:
            raise InvalidError(
                f"Attempting to write row: {top + r}, beyond the last requested row of: "
                f"{bottom - 1}"
            )
        if left + len(row.get("values", [])) > right:
            raise InvalidError(
                f"Attempting to write column: {left + len(row['values']) - 1}, beyond the last "
                f"requested column of: {right - 1}"
            )
        for cell in row.get("values", []):
            _check_cell(cell)
    for row, column in places(book, area):
        given = rows[row - top].get("values", []) if row - top < len(rows) else []
        new = given[column - left] if column - left < len(given) else {}
        put(sheet, (row, column), merge(sheet.cells.get((row, column), {}), new, tree))


def repeat_cell(book: Spreadsheet, body: Json, who: str) -> None:
    tree = mask(body.get("fields", ""), "CellData")
    guard(book, body["range"], who)
    sheet, *_ = bounds(book, body["range"])
    _check_cell(body.get("cell", {}))
    for place in places(book, body["range"]):
        put(sheet, place, merge(sheet.cells.get(place, {}), body.get("cell", {}), tree))


def set_validation(book: Spreadsheet, body: Json, who: str) -> None:
    guard(book, body["range"], who)
    sheet, *_ = bounds(book, body["range"])
    rule = body.get("rule")
    if rule is not None:
        condition(book, rule["condition"], sheet)
    for place in places(book, body["range"]):
        cell = {k: v for k, v in sheet.cells.get(place, {}).items() if k != "dataValidation"}
        put(sheet, place, cell | ({"dataValidation": rule} if rule else {}))


def merge_cells(book: Spreadsheet, body: Json, who: str) -> None:
    if "mergeType" not in body:
        raise InvalidError("No mergeType set.")
    guard(book, body["range"], who)
    sheet, top, left, bottom, right = bounds(book, body["range"])
    for standing in sheet.merges:
        if overlap(book, standing, body["range"]):
            raise InvalidError(
                "You must select all cells in a merged range to merge or unmerge them."
            )
    area = dict(zip(RANGE, (sheet.id, top, bottom, left, right), strict=True))
    sheet.merges.append(area)
    check_frost(sheet)
    for place in places(book, area):
        if place != (top, left) and place in sheet.cells:
            put(sheet, place, {k: v for k, v in sheet.cells[place].items() if "Value" not in k})


RANGE: Final = ("sheetId", "startRowIndex", "endRowIndex", "startColumnIndex", "endColumnIndex")


def unmerge_cells(book: Spreadsheet, body: Json, who: str) -> None:
    guard(book, body["range"], who)
    sheet, *_ = bounds(book, body["range"])
    sheet.merges = [area for area in sheet.merges if not overlap(book, area, body["range"])]


def check_frost(sheet: Sheet) -> None:
    grid = sheet.properties["gridProperties"]
    for area in sheet.merges:
        for frozen, first, last in (
            ("frozenRowCount", "startRowIndex", "endRowIndex"),
            ("frozenColumnCount", "startColumnIndex", "endColumnIndex"),
        ):
            if area[first] < grid.get(frozen, 0) < area[last]:
                raise InvalidError(
                    "You can't freeze rows or columns which contain only part of a merged cell."
                )


def condition(book: Spreadsheet, condition: Json, sheet: Sheet, *, rule: bool = False) -> None:
    values = [value.get("userEnteredValue", "") for value in condition.get("values", [])]
    kind = condition.get("type")
    if kind is None:
        raise InvalidError("No condition type set.")
    if kind == "CUSTOM_FORMULA":
        if len(values) != 1 or not values[0].startswith(("=", "+")):
            raise InvalidError("CUSTOM_FORMULA needs exactly one formula.")
        other = re.sub(r'"[^"]*"', "", values[0])
        if rule and "!" in other:
            raise InvalidError("Conditional format rule cannot reference a different sheet.")
    if kind == "ONE_OF_RANGE":
        found = re.fullmatch(r"=?(?:'((?:[^']|'')+)'|(\w+))!.+", values[0])
        title = (found[1] or found[2]).replace("''", "'") if found else sheet.title
        try:
            book.tab(title)
        except KeyError as missing:
            raise InvalidError(f"Unable to parse range: {values[0]}") from missing
    if kind == "ONE_OF_LIST" and not values:
        raise InvalidError("ONE_OF_LIST needs values.")
