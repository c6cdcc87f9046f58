"""Charts as requests of `spreadsheets.batchUpdate`.

Source: Google Sheets API v4, page "Charts".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sheets_host.grid import Area, Chart, Series
from sheets_host.stores.google.ranges import Request, grid_range
from sheets_host.stores.google.reading import Sheet


def draw(sheet: Sheet, charts: Sequence[Chart]) -> Iterator[Request]:
    """Draw anew the charts that stand, so that they stay where the host put them; add the rest."""
    for index, chart in enumerate(charts):
        spec = _chart_spec(sheet.id, chart)
        if index < len(sheet.charts):
            yield {"updateChartSpec": {"chartId": sheet.charts[index], "spec": spec}}
            continue
        row, column = chart.at
        corner = {"sheetId": sheet.id, "rowIndex": row - 1, "columnIndex": column - 1}
        position = {
            "overlayPosition": {
                "anchorCell": corner,
                "widthPixels": chart.width,
                "heightPixels": chart.height,
            }
        }
        yield {"addChart": {"chart": {"spec": spec, "position": position}}}
    for chart_id in sheet.charts[len(charts) :]:
        yield {"deleteEmbeddedObject": {"objectId": chart_id}}


def _chart_spec(sheet_id: int, chart: Chart) -> Request:
    values_axis = "BOTTOM_AXIS" if chart.kind == "bar" else "LEFT_AXIS"
    names_axis = "LEFT_AXIS" if chart.kind == "bar" else "BOTTOM_AXIS"
    categories, *values = chart_areas(chart)
    basic: Request = {
        "chartType": chart.kind.upper(),
        "legendPosition": "BOTTOM_LEGEND" if len(chart.series) > 1 else "NO_LEGEND",
        "headerCount": 1 if _headed(chart) else 0,
        "axis": [
            {"position": names_axis, "title": chart.x_title},
            # Tokens and points are counted from 0: else ten of them look like a fall.
            {
                "position": values_axis,
                "title": chart.y_title,
                "viewWindowOptions": {"viewWindowMin": 0},
            },
        ],
        "domains": [{"domain": _source(sheet_id, categories)}],
        "series": [
            {"series": _source(sheet_id, area), "targetAxis": values_axis} for area in values
        ],
    }
    if chart.stacked:
        basic["stackedType"] = "STACKED"
    white = {"rgbColor": {"red": 1, "green": 1, "blue": 1}}
    return {
        "title": chart.title,
        "titleTextFormat": {"bold": True, "fontSize": 13},
        "backgroundColorStyle": white,
        "basicChart": basic,
    }


def _source(sheet_id: int, area: Area) -> Request:
    return {"sourceRange": {"sources": [grid_range(sheet_id, area)]}}


def chart_areas(chart: Chart) -> list[Area]:
    """Return the areas of the categories and of each series.

    Google takes a series' name from the cell before its numbers; where every name stands there,
    all areas begin one cell earlier.
    """
    areas = [chart.categories, *(series.values for series in chart.series)]
    if not _headed(chart):
        return areas
    return [_with_header(area, down=_goes_down(chart.series[0])) for area in areas]


def _goes_down(series: Series) -> bool:
    return series.name == (series.values.top - 1, series.values.left)


def _headed(chart: Chart) -> bool:
    across = all(s.name == (s.values.top, s.values.left - 1) for s in chart.series)
    return bool(chart.series) and (across or all(_goes_down(s) for s in chart.series))


def _with_header(area: Area, *, down: bool) -> Area:
    if down:
        return Area(area.top - 1, area.left, area.bottom, area.right)
    return Area(area.top, area.left - 1, area.bottom, area.right)
