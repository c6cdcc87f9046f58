"""Requests that add, change and remove tabs, and what is laid over their cells."""

from __future__ import annotations

import re

from tests.sheets_emulator.model import (
    Place,
    Sheet,
    Spreadsheet,
    may_edit,
    new_sheet,
    without_zeros,
)
from tests.sheets_emulator.on_cells import (
    PROTECTED,
    RANGE,
    bounds,
    check_frost,
    condition,
    guard,
    guard_sheet,
)
from tests.sheets_emulator.schema import InvalidError, Json, mask, merge

# --- tabs --------------------------------------------------------------------------------------


def _check_title(book: Spreadsheet, title: str, but: int | None = None) -> None:
    if not title or len(title) > 100:
        raise InvalidError("A sheet's name must hold 1 to 100 characters.")
    for sheet in book.sheets:
        if sheet.id != but and sheet.title.casefold() == title.casefold():
            raise InvalidError(
                f'A sheet with the name "{title}" already exists. Please enter another name.'
            )


def _check_grid(properties: Json) -> None:
    grid = properties["gridProperties"]
    for counted, frozen in (("rowCount", "frozenRowCount"), ("columnCount", "frozenColumnCount")):
        if grid[counted] < 1:
            raise InvalidError(f"{counted} must be positive.")
        if grid.get(frozen, 0) >= grid[counted]:
            raise InvalidError("You can't freeze all visible rows or columns on the sheet.")


def add_sheet(book: Spreadsheet, body: Json, _who: str) -> Json:
    asked = body.get("properties", {})
    sheet_id = asked.get("sheetId", book.fresh_id())
    if any(sheet.id == sheet_id for sheet in book.sheets):
        raise InvalidError(f"Sheet with id {sheet_id} already exists.")
    if sheet_id < 0:
        raise InvalidError("sheetId must be non-negative.")
    _check_title(book, asked.get("title", f"Sheet{len(book.sheets) + 1}"))
    sheet = new_sheet(asked.get("title", f"Sheet{len(book.sheets) + 1}"), sheet_id)
    sheet.properties |= {k: v for k, v in asked.items() if k not in ("gridProperties", "index")}
    sheet.properties["gridProperties"] |= asked.get("gridProperties", {})
    _check_grid(sheet.properties)
    book.sheets.insert(asked.get("index", len(book.sheets)), sheet)
    return {"addSheet": {"properties": sheet.properties}}


def delete_sheet(book: Spreadsheet, body: Json, who: str) -> None:
    sheet = guard_sheet(book, body["sheetId"], who)
    if len(book.sheets) == 1:
        raise InvalidError("You can't remove all the sheets in a document.")
    book.sheets.remove(sheet)


def update_sheet(book: Spreadsheet, body: Json, who: str) -> None:
    asked = body.get("properties", {})
    tree = mask(body.get("fields", ""), "SheetProperties")
    sheet = guard_sheet(book, asked.get("sheetId", 0), who)
    if "title" in tree:
        _check_title(book, asked.get("title", ""), sheet.id)
    sheet.properties = merge(sheet.properties, asked, tree)
    _check_grid(sheet.properties)
    check_frost(sheet)
    for place in [p for p in sheet.cells if p[0] >= sheet.rows or p[1] >= sheet.columns]:
        del sheet.cells[place]


def update_dimension(book: Spreadsheet, body: Json, who: str) -> None:
    tree = mask(body.get("fields", ""), "DimensionProperties")
    span = body["range"]
    sheet = guard_sheet(book, span.get("sheetId", 0), who)
    rows = span["dimension"] == "ROWS"
    last = span.get("endIndex", sheet.rows if rows else sheet.columns)
    if last > (sheet.rows if rows else sheet.columns):
        raise InvalidError("Range exceeds grid limits.")
    facts = sheet.row_facts if rows else sheet.column_facts
    for number in range(span.get("startIndex", 0), last):
        facts[number] = merge(facts.get(number, {}), body.get("properties", {}), tree)


def insert_dimension(book: Spreadsheet, body: Json, who: str) -> None:
    span = body["range"]
    sheet = guard_sheet(book, span.get("sheetId", 0), who)
    rows = span["dimension"] == "ROWS"
    first, last = span["startIndex"], span["endIndex"]
    count = last - first

    def moved(place: Place) -> Place:
        row, column = place
        if rows:
            return (row + count if row >= first else row), column
        return row, (column + count if column >= first else column)

    sheet.cells = {moved(place): cell for place, cell in sheet.cells.items()}
    sheet.results = {moved(place): result for place, result in sheet.results.items()}
    grid = sheet.properties["gridProperties"]
    grid["rowCount" if rows else "columnCount"] += count
    start, end = ("startRowIndex", "endRowIndex") if rows else RANGE[3:]

    def stretched(area: Json) -> Json:
        return area | {
            name: area[name] + count
            for name, past in ((start, first - 1), (end, first))
            if name in area and area[name] > past
        }

    sheet.merges = [stretched(area) for area in sheet.merges]
    sheet.protected = [part | {"range": stretched(part["range"])} for part in sheet.protected]


# --- protections, names, rules, charts ------------------------------------------------------------


def add_protection(book: Spreadsheet, body: Json, who: str) -> Json:
    part = dict(body["protectedRange"])
    sheet, *_ = bounds(book, part.get("range", {}))
    part.setdefault("protectedRangeId", book.fresh_id())
    if any(
        p["protectedRangeId"] == part["protectedRangeId"] for s in book.sheets for p in s.protected
    ):
        raise InvalidError(f"A protected range with id {part['protectedRangeId']} already exists.")
    users = part.get("editors", {}).get("users", [])
    if not part.get("warningOnly"):
        # Where nobody is named, everyone who may edit the file may edit the range.
        everyone = [mail for mail, role in book.people.items() if role == "writer"]
        named = users or everyone
        part["editors"] = {"users": list(dict.fromkeys([*named, who]))}
    sheet.protected.append(part)
    return {"addProtectedRange": {"protectedRange": part | {"range": without_zeros(part["range"])}}}


def delete_protection(book: Spreadsheet, body: Json, who: str) -> None:
    for sheet in book.sheets:
        for part in sheet.protected:
            if part["protectedRangeId"] == body["protectedRangeId"]:
                if not may_edit(book, part, who):
                    raise InvalidError(PROTECTED)
                sheet.protected.remove(part)
                return
    raise InvalidError(f"No protected range with ID: {body['protectedRangeId']}")


def add_name(book: Spreadsheet, body: Json, _who: str) -> Json:
    named = dict(body["namedRange"])
    bounds(book, named.get("range", {}))
    name = named.get("name", "")
    if not re.fullmatch(r"(?!(?i:true|false))[A-Za-z_]\w{0,249}", name) or re.fullmatch(
        r"(?i)[a-z]{1,3}\d+|r\d*c\d*", name
    ):
        raise InvalidError("The name of the named range is not valid.")
    named.setdefault("namedRangeId", str(book.fresh_id()))
    for standing in book.named:
        if standing["namedRangeId"] == named["namedRangeId"]:
            raise InvalidError(f"A named range with id {named['namedRangeId']} already exists.")
        if standing["name"].casefold() == name.casefold():
            raise InvalidError(f"A named range with the name {name} already exists.")
    book.named.append(named)
    return {"addNamedRange": {"namedRange": named}}


def delete_name(book: Spreadsheet, body: Json, _who: str) -> None:
    for named in book.named:
        if named["namedRangeId"] == body.get("namedRangeId"):
            book.named.remove(named)
            return
    raise InvalidError(f"No named range with id: {body.get('namedRangeId')}")


def add_rule(book: Spreadsheet, body: Json, _who: str) -> None:
    rule = body["rule"]
    sheet: Sheet | None = None
    for area in rule.get("ranges", []):
        sheet, *_ = bounds(book, area)
    if sheet is None:
        raise InvalidError("A rule needs at least one range.")
    if "booleanRule" in rule:
        condition(book, rule["booleanRule"]["condition"], sheet, rule=True)
    elif not {"minpoint", "maxpoint"} <= rule["gradientRule"].keys():
        raise InvalidError("A gradient needs a minpoint and a maxpoint.")
    if not 0 <= body.get("index", 0) <= len(sheet.rules):
        raise InvalidError("Index out of range.")
    sheet.rules.insert(body.get("index", 0), rule)


def delete_rule(book: Spreadsheet, body: Json, who: str) -> None:
    sheet = guard_sheet(book, body.get("sheetId", 0), who)
    if not 0 <= body.get("index", 0) < len(sheet.rules):
        raise InvalidError(
            f"No conditional format on sheet: {sheet.id} at index: {body.get('index', 0)}"
        )
    sheet.rules.pop(body.get("index", 0))


def set_filter(book: Spreadsheet, body: Json, who: str) -> None:
    sheet, *_ = bounds(book, body["filter"]["range"])
    guard(book, body["filter"]["range"], who)
    sheet.filter = body["filter"]


def clear_filter(book: Spreadsheet, body: Json, who: str) -> None:
    guard_sheet(book, body.get("sheetId", 0), who).filter = None


def _check_chart(book: Spreadsheet, spec: Json) -> None:
    basic = spec.get("basicChart")
    if not basic or "chartType" not in basic:
        raise InvalidError("A chart needs a spec.")
    axis = "BOTTOM_AXIS" if basic["chartType"] == "BAR" else "LEFT_AXIS"
    lengths = set()
    for part in (
        *(domain["domain"] for domain in basic.get("domains", [])),
        *(series["series"] for series in basic.get("series", [])),
    ):
        for area in part["sourceRange"]["sources"]:
            _, top, left, bottom, right = bounds(book, area)
            if bottom - top > 1 and right - left > 1:
                raise InvalidError("A chart's range is one row or one column.")
            lengths.add(max(bottom - top, right - left))
    if len(lengths) > 1:
        raise InvalidError("All ranges of a chart have the same length.")
    for series in basic.get("series", []):
        if series.get("targetAxis", axis) != axis:
            raise InvalidError("InvalidError target axis.")


def add_chart(book: Spreadsheet, body: Json, who: str) -> Json:
    chart = dict(body["chart"])
    anchor = chart["position"]["overlayPosition"]["anchorCell"]
    sheet = guard_sheet(book, anchor.get("sheetId", 0), who)
    _check_chart(book, chart["spec"])
    chart.setdefault("chartId", book.fresh_id())
    if any(c["chartId"] == chart["chartId"] for s in book.sheets for c in s.charts):
        raise InvalidError(f"A chart with id {chart['chartId']} already exists.")
    sheet.charts.append(chart)
    return {"addChart": {"chart": chart}}


def _chart(book: Spreadsheet, chart_id: int, who: str) -> tuple[Sheet, Json]:
    for sheet in book.sheets:
        for chart in sheet.charts:
            if chart["chartId"] == chart_id:
                guard_sheet(book, sheet.id, who)
                return sheet, chart
    raise InvalidError(f"No chart with id: {chart_id}")


def update_chart(book: Spreadsheet, body: Json, who: str) -> None:
    sheet, chart = _chart(book, body["chartId"], who)
    _check_chart(book, body["spec"])
    sheet.charts[sheet.charts.index(chart)] = chart | {"spec": body["spec"]}


def delete_object(book: Spreadsheet, body: Json, who: str) -> None:
    sheet, chart = _chart(book, body["objectId"], who)
    sheet.charts.remove(chart)
