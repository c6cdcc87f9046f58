"""Charts of a tab, drawn by openpyxl in a workbook of its own and lifted out of it.

This module alone imports openpyxl, when a tab with a chart is new. Colours, the ground and the
type are written out: a workbook without a theme has none to give, and some programs then draw
nothing at all, or let the lines of the sheet show through.
"""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Final, Literal

from sheets_host.grid import Area, Chart, Series, Tab, address, quoted_title
from sheets_host.stores.excel.rendering import absolute

if TYPE_CHECKING:
    from openpyxl.chart import BarChart, LineChart
    from openpyxl.chart.series import Series as DrawnSeries
    from openpyxl.chart.shapes import GraphicalProperties
    from openpyxl.chart.text import RichText

_CENTIMETRES_A_PIXEL: Final = 2.54 / 96
_LINE: Final = 22_225  # English metric units: 1.75 points
_COLOURS: Final = ("0072B2", "D55E00", "009E73", "CC79A7", "56B4E9", "E69F00", "332288", "999999")
"""Told apart by those who see colours differently, too; after the last, lines are dashed."""
_Dash = Literal["solid", "dash", "sysDot"]
_DASHES: Final[tuple[_Dash, ...]] = ("solid", "dash", "sysDot")
_AXIS: Final = "808080"
_GRID: Final = "D9D9D9"
_GROUND: Final = "FFFFFF"
_INK: Final = "404040"
_TITLE_SIZE: Final = 1_300  # hundredths of a point
_TEXT_SIZE: Final = 900


def draw(tab: Tab) -> tuple[bytes, tuple[bytes, ...]]:
    """Return a drawing part and its chart parts; the drawing calls them rId1, rId2 and so on."""
    from openpyxl import Workbook

    book = Workbook()
    sheet = book.create_sheet(tab.title)
    for chart in tab.looks.charts:
        sheet.add_chart(_chart(chart, tab.title), address(*chart.at))
    target = io.BytesIO()
    book.save(target)
    with zipfile.ZipFile(target) as package:
        return _prefixed(package.read("xl/drawings/drawing1.xml")), tuple(
            package.read(f"xl/charts/chart{number}.xml")
            for number in range(1, len(tab.looks.charts) + 1)
        )


def _prefixed(drawing: bytes) -> bytes:
    """Write a drawing with the prefixes that Excel uses: exceljs reads no other (version 4.4)."""
    from xml.etree import ElementTree as ET

    for prefix, namespace in _PREFIXES.items():
        ET.register_namespace(prefix, namespace)
    root = ET.fromstring(drawing)  # noqa: S314 - openpyxl has just written it
    made: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return made


_DRAWING_ML: Final = "http://schemas.openxmlformats.org/drawingml/2006/"
_PREFIXES: Final = {
    "xdr": _DRAWING_ML + "spreadsheetDrawing",
    "a": _DRAWING_ML + "main",
    "c": _DRAWING_ML + "chart",
    "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
}


def _chart(chart: Chart, title: str) -> LineChart | BarChart:
    from openpyxl.chart import BarChart, LineChart
    from openpyxl.chart.axis import ChartLines
    from openpyxl.chart.legend import Legend

    drawn = LineChart() if chart.kind == "line" else BarChart()
    if isinstance(drawn, BarChart):
        drawn.type = "bar" if chart.kind == "bar" else "col"
    if chart.stacked:
        drawn.grouping = "stacked"
        if isinstance(drawn, BarChart):
            drawn.overlap = 100
    drawn.title = chart.title
    drawn.x_axis.title = chart.x_title
    drawn.y_axis.title = chart.y_title
    for headed in (drawn, drawn.x_axis, drawn.y_axis):
        if headed.title is not None and headed.title.tx and headed.title.tx.rich:
            headed.title.overlay = False
            looks = _type(_TITLE_SIZE, bold=True) if headed is drawn else _type(_TEXT_SIZE)
            for paragraph in headed.title.tx.rich.paragraphs:
                paragraph.pPr = looks.paragraphs[0].pPr
    # Below the plot: beside it, one long name takes most of the room.
    drawn.legend = Legend()
    drawn.legend.position = "b"
    drawn.legend.overlay = False
    for worded in (drawn.legend, drawn.x_axis, drawn.y_axis):
        worded.txPr = _type(_TEXT_SIZE)
    # openpyxl leaves these out, and Excel takes them for hidden axes and round corners.
    drawn.x_axis.delete = False
    drawn.y_axis.delete = False
    drawn.roundedCorners = False
    drawn.graphical_properties = _filled(_GROUND, edge=_GRID)
    drawn.plot_area.graphicalProperties = _filled(_GROUND)
    # Tokens and points are counted from 0: else ten of them look like a fall.
    drawn.y_axis.scaling.min = 0
    drawn.y_axis.number_format = "#,##0"
    drawn.x_axis.graphicalProperties = _line(_AXIS)
    drawn.y_axis.graphicalProperties = _line(_AXIS)
    drawn.y_axis.majorGridlines = ChartLines(spPr=_line(_GRID))
    # In centimetres; the stubs call one a whole number, openpyxl does not.
    drawn.width = chart.width * _CENTIMETRES_A_PIXEL  # type: ignore[assignment]
    drawn.height = chart.height * _CENTIMETRES_A_PIXEL
    for number, series in enumerate(chart.series):
        drawn.series.append(_series(chart, series, number, title))
    return drawn


def _series(chart: Chart, series: Series, number: int, title: str) -> DrawnSeries:
    from openpyxl.chart.data_source import AxDataSource, NumDataSource, NumRef, StrRef
    from openpyxl.chart.series import SeriesLabel
    from openpyxl.chart.series_factory import SeriesFactory

    values = _reference(series.values, title)
    drawn: DrawnSeries = SeriesFactory(values)
    # Said again, for openpyxl takes the title's quotes apart and doubles them anew.
    drawn.val = NumDataSource(numRef=NumRef(f=values))
    drawn.tx = SeriesLabel(strRef=StrRef(f=_reference(Area(*series.name, *series.name), title)))
    drawn.cat = AxDataSource(strRef=StrRef(f=_reference(chart.categories, title)))
    colour = _COLOURS[number % len(_COLOURS)]
    dash = _DASHES[number // len(_COLOURS) % len(_DASHES)]
    drawn.spPr = _line(colour, dash) if chart.kind == "line" else _filled(colour)
    drawn.smooth = False if chart.kind == "line" else None
    return drawn


def _line(colour: str, dash: _Dash = "solid") -> GraphicalProperties:
    from openpyxl.chart.shapes import GraphicalProperties
    from openpyxl.drawing.line import LineProperties

    width = 9_525 if colour in (_AXIS, _GRID) else _LINE
    return GraphicalProperties(ln=LineProperties(solidFill=colour, prstDash=dash, w=width))


def _filled(colour: str, edge: str | None = None) -> GraphicalProperties:
    from openpyxl.chart.shapes import GraphicalProperties
    from openpyxl.drawing.line import LineProperties

    ln = _line(edge).ln if edge else LineProperties(noFill=True)
    return GraphicalProperties(solidFill=colour, ln=ln)


def _type(size: int, *, bold: bool = False) -> RichText:
    """Return plain type of this size, in hundredths of a point."""
    from openpyxl.chart.text import RichText
    from openpyxl.drawing.text import CharacterProperties, Paragraph, ParagraphProperties

    looks = CharacterProperties(sz=size, b=bold, solidFill=_INK)
    return RichText(p=[Paragraph(pPr=ParagraphProperties(defRPr=looks), endParaRPr=looks)])


def _reference(area: Area, title: str) -> str:
    """Return an area as a chart names it: ``'Game report'!$B$5:$B$7``."""
    return f"{quoted_title(title)}!{absolute(area)}"
