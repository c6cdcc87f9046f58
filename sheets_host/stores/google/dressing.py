"""A tab's looks as requests of `spreadsheets.batchUpdate`.

Source: Google Sheets API v4, pages "Requests", "Cells", "Sheets" and "Charts". Two things have no
equal there: a bar behind a number becomes a shade, and pages are not set up for print.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from sheets_host.grid import (
    Area,
    Looks,
    OneOf,
    Rule,
    Shape,
    Style,
    WholeNumber,
    address,
    shape_of,
)
from sheets_host.stores.google.charts import chart_areas, draw
from sheets_host.stores.google.formulas import into_locale, through_indirect
from sheets_host.stores.google.ranges import Request, grid_range
from sheets_host.stores.google.reading import Sheet

BARE: Final = "FFFFFF"
_ROW: Final = 21  # pixels, of a row that nobody has changed
FORMAT_TYPES: Final = {
    Shape.TEXT: "TEXT",
    Shape.DATE: "DATE_TIME",
    Shape.TIME: "TIME",
    Shape.PERCENT: "PERCENT",
    Shape.CURRENCY: "CURRENCY",
    Shape.SCIENTIFIC: "SCIENTIFIC",
}


def colour(rgb: str) -> Request:
    """Return the ColorStyle of RRGGBB."""
    red, green, blue = (round(int(rgb[at : at + 2], 16) / 255, 4) for at in (0, 2, 4))
    return {"rgbColor": {"red": red, "green": green, "blue": blue}}


def cell_format(style: Style) -> Request:
    """Return the CellFormat of a style."""
    text: Request = {}
    if style.bold:
        text["bold"] = True
    if style.italic:
        text["italic"] = True
    if style.size:
        text["fontSize"] = style.size
    if style.ink:
        text["foregroundColorStyle"] = colour(style.ink)
    made: Request = {"textFormat": text} if text else {}
    if style.fill:
        made["backgroundColorStyle"] = colour(style.fill)
    if style.align:
        made["horizontalAlignment"] = style.align.upper()
    if style.top:
        made["verticalAlignment"] = "TOP"
    if style.wrap:
        made["wrapStrategy"] = "WRAP"
    if style.line:
        made["borders"] = {"bottom": {"style": "SOLID", "colorStyle": colour(style.line)}}
    if style.number != "General":
        kind = FORMAT_TYPES.get(shape_of(style.number), "NUMBER")
        made["numberFormat"] = {"type": kind, "pattern": style.number}
    return made


def looks_digest(looks: Looks) -> str:
    """Return eight hex digits that change with the looks, apart from what follows the rows."""
    lasting = replace(looks, styles=(), heights={})
    return hashlib.sha256(repr(lasting).encode()).hexdigest()[:8]


def needed_size(looks: Looks) -> tuple[int, int]:
    """Return the rows and columns that a tab must have for its looks to fit."""
    areas = [
        *(styled.area for styled in looks.styles),
        *(rule.area for rule in looks.rules),
        *(bar.area for bar in looks.bars),
        *(check.area for check in looks.checks),
        *looks.merges,
        *(Area(*chart.at, *chart.at) for chart in looks.charts),
        *(area for chart in looks.charts for area in chart_areas(chart)),
        *([looks.filtered] if looks.filtered else []),
    ]
    frozen_rows, frozen_columns = looks.frozen
    rows = max([frozen_rows + 1, *(area.bottom for area in areas), *looks.heights])
    columns = max([frozen_columns + 1, *(area.right for area in areas), len(looks.widths)])
    return rows, columns


def lay_styles(sheet_id: int, looks: Looks, within: Area, *, fresh: bool) -> Iterator[Request]:
    """Lay the styles over some rows, and the rows' heights; what was laid there before goes."""
    if not fresh:
        yield _repeat(sheet_id, within, {})
        if looks.heights:  # a long name that stood in a row may stand in another now
            yield _sized(sheet_id, "ROWS", within.top - 1, within.bottom, _ROW)
    for styled in looks.styles:
        if shared := _shared(styled.area, within):
            yield _repeat(sheet_id, shared, cell_format(styled.style))
    for row, points in looks.heights.items():
        if within.top <= row <= within.bottom:
            # Google counts pixels, 96 to the inch; a point is 1/72 inch.
            yield _sized(sheet_id, "ROWS", row - 1, row, round(points * 96 / 72))


def _repeat(sheet_id: int, area: Area, made: Request) -> Request:
    cell = {"userEnteredFormat": made} if made else {}
    span = grid_range(sheet_id, area)
    return {"repeatCell": {"range": span, "cell": cell, "fields": "userEnteredFormat"}}


def _shared(one: Area, other: Area) -> Area | None:
    top, left = max(one.top, other.top), max(one.left, other.left)
    bottom, right = min(one.bottom, other.bottom), min(one.right, other.right)
    return Area(top, left, bottom, right) if top <= bottom and left <= right else None


def _sized(sheet_id: int, dimension: str, start: int, end: int, pixels: int) -> Request:
    return {
        "updateDimensionProperties": {
            "range": {
                "sheetId": sheet_id,
                "dimension": dimension,
                "startIndex": start,
                "endIndex": end,
            },
            "properties": {"pixelSize": pixels},
            "fields": "pixelSize",
        }
    }


def dress(sheet: Sheet, looks: Looks, locale: str, *, fresh: bool) -> Iterator[Request]:
    """Lay all looks but the styles; on a tab that stood before, in place of the former ones."""
    if not fresh:
        yield {"unmergeCells": {"range": grid_range(sheet.id)}}
        yield {"setDataValidation": {"range": grid_range(sheet.id)}}
        if sheet.filtered:
            yield {"clearBasicFilter": {"sheetId": sheet.id}}
        for _ in range(sheet.rules):
            yield {"deleteConditionalFormatRule": {"sheetId": sheet.id, "index": 0}}
    for area in looks.merges:
        if _cut_by_frost(area, looks.frozen):
            continue  # Google refuses it, and a title runs over into blank cells all the same
        yield {"mergeCells": {"range": grid_range(sheet.id, area), "mergeType": "MERGE_ALL"}}
    yield from _widths(sheet.id, looks.widths)
    yield _frozen_and_colour(sheet.id, looks)
    yield from _rules(sheet.id, looks, locale)
    for check in looks.checks:
        yield {
            "setDataValidation": {
                "range": grid_range(sheet.id, check.area),
                "rule": _validation(check, locale),
            }
        }
    if looks.filtered:
        yield {"setBasicFilter": {"filter": {"range": grid_range(sheet.id, looks.filtered)}}}
    yield from draw(sheet, looks.charts)


def _cut_by_frost(area: Area, frozen: tuple[int, int]) -> bool:
    rows, columns = frozen
    return area.top <= rows < area.bottom or area.left <= columns < area.right


def _widths(sheet_id: int, widths: tuple[int, ...]) -> Iterator[Request]:
    start = 0
    for column, width in enumerate(widths):
        if column + 1 == len(widths) or widths[column + 1] != width:
            # A digit of Google's usual font is 7 pixels wide, and a cell has a margin.
            yield _sized(sheet_id, "COLUMNS", start, column + 1, width * 7 + 5)
            start = column + 1


def _frozen_and_colour(sheet_id: int, looks: Looks) -> Request:
    rows, columns = looks.frozen
    properties: Request = {
        "sheetId": sheet_id,
        "gridProperties": {"frozenRowCount": rows, "frozenColumnCount": columns},
    }
    if looks.colour:
        properties["tabColorStyle"] = colour(looks.colour)
    fields = "gridProperties(frozenRowCount,frozenColumnCount),tabColorStyle"
    return {"updateSheetProperties": {"properties": properties, "fields": fields}}


def _rules(sheet_id: int, looks: Looks, locale: str) -> Iterator[Request]:
    made = [_boolean_rule(rule, locale) for rule in looks.rules]
    made += [
        {
            "gradientRule": {
                "minpoint": {"type": "MIN", "colorStyle": colour(BARE)},
                "maxpoint": {"type": "MAX", "colorStyle": colour(bar.colour)},
            }
        }
        for bar in looks.bars
    ]
    areas = [*(rule.area for rule in looks.rules), *(bar.area for bar in looks.bars)]
    for index, (area, rule) in enumerate(zip(areas, made, strict=True)):
        rule["ranges"] = [grid_range(sheet_id, area)]
        yield {"addConditionalFormatRule": {"rule": rule, "index": index}}


def _boolean_rule(rule: Rule, locale: str) -> Request:
    formula = through_indirect(rule.formula, rule.area.top, rule.area.left)
    look = replace(Style(), bold=rule.style.bold, italic=rule.style.italic, ink=rule.style.ink,
                   fill=rule.style.fill)  # fmt: skip
    return {
        "booleanRule": {
            "condition": _condition("CUSTOM_FORMULA", into_locale(formula, locale)),
            "format": cell_format(look),
        }
    }


def _condition(kind: str, *values: str) -> Request:
    return {"type": kind, "values": [{"userEnteredValue": value} for value in values]}


def _validation(check: WholeNumber | OneOf, locale: str) -> Request:
    rule: Request = {"inputMessage": f"{check.title}: {check.message}", "strict": False}
    if isinstance(check, WholeNumber):
        cell = address(check.area.top, check.area.left)
        formula = f"=AND(ISNUMBER({cell}),{cell}>={check.least},{cell}=INT({cell}))"
        return rule | {"condition": _condition("CUSTOM_FORMULA", into_locale(formula, locale))}
    rule["showCustomUi"] = True
    if isinstance(check.source, str):
        return rule | {"condition": _condition("ONE_OF_RANGE", check.source)}
    return rule | {"condition": _condition("ONE_OF_LIST", *check.source)}
