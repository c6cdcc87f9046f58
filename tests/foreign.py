"""Workbooks as other programs make them, full of what must not be lost.

Each function writes one into a folder and returns its path. `FOREIGN` names them all for
parametrising; `OFFICE_FOREIGN` those that need a LibreOffice to make.
"""

from __future__ import annotations

import datetime as dt
import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.office import Office


def tiny_png() -> bytes:
    """A red picture of 2 by 2 pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    rows = (b"\x00" + b"\xff\x00\x00" * 2) * 2
    header = struct.pack(">IIBBBBB", 2, 2, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


@contextmanager
def _workbook(path: Path, **options: Any) -> Iterator[Any]:
    from xlsxwriter import Workbook  # type: ignore[import-untyped]

    with Workbook(str(path), options) as book:
        # A fixed time, so that the same call makes the same bytes inside the parts.
        book.set_properties({"created": dt.datetime(2026, 1, 2, 3, 4, 5)})  # noqa: DTZ001
        yield book


def _numbers(sheet: Any) -> None:
    sheet.write_row("A1", ["Round", "Ann", "Bob"])
    for row in range(1, 7):
        sheet.write_row(row, 0, [row, 500 - 7 * row, 500 - 3 * row * row])


# --- one feature each --------------------------------------------------------------------------


def charts(folder: Path) -> Path:
    """A line chart, two charts in one with a second axis, and a chart that is a tab."""
    path = folder / "charts.xlsx"
    with _workbook(path) as book:
        sheet = book.add_worksheet("Numbers")
        _numbers(sheet)
        series = {"name": "=Numbers!$B$1", "categories": "=Numbers!$A$2:$A$7"}
        line = book.add_chart({"type": "line"})
        line.add_series(series | {"values": "=Numbers!$B$2:$B$7", "trendline": {"type": "linear"}})
        line.set_style(12)
        sheet.insert_chart("E2", line, {"description": "tokens over the rounds"})
        bars = book.add_chart({"type": "column", "subtype": "stacked"})
        bars.add_series(series | {"values": "=Numbers!$B$2:$B$7"})
        second = book.add_chart({"type": "scatter"})
        second.add_series(series | {"values": "=Numbers!$C$2:$C$7", "y2_axis": True})
        bars.combine(second)
        sheet.insert_chart("E20", bars)
        tab = book.add_chartsheet("Chart alone")
        pie = book.add_chart({"type": "doughnut"})
        pie.add_series(series | {"values": "=Numbers!$B$2:$B$7"})
        tab.set_chart(pie)
    return path


def sparklines(folder: Path) -> Path:
    """Sparklines: an extension of the worksheet (x14)."""
    path = folder / "sparklines.xlsx"
    with _workbook(path) as book:
        sheet = book.add_worksheet("Sparks")
        _numbers(sheet)
        for column, kind in enumerate(("line", "column", "win_loss"), 1):
            area = f"Sparks!{'ABC'[column - 1]}2:{'ABC'[column - 1]}7"
            sheet.add_sparkline(8, column, {"range": area, "type": kind, "markers": True})
    return path


def validations(folder: Path) -> Path:
    """Drop-downs, number, date and custom checks, of every alert style, also on another tab."""
    path = folder / "validations.xlsx"
    with _workbook(path) as book:
        sheet = book.add_worksheet("Entries")
        source = book.add_worksheet("Source")
        source.write_column("A1", ["one", "two", "three"])
        checks: tuple[dict[str, Any], ...] = (
            {"validate": "list", "source": ["a", "b & c", "<d>"]},
            {"validate": "list", "source": "=Source!$A$1:$A$3", "error_type": "warning"},
            {"validate": "integer", "criteria": ">=", "value": 0, "error_type": "information"},
            {"validate": "date", "criteria": ">", "value": dt.date(2026, 1, 1)},
            {"validate": "custom", "value": '=AND(A1<>"",LEN(A1)<5)', "input_title": "Now"},
            {"validate": "any", "input_title": "Type", "input_message": "whatever you like"},
        )
        for row, check in enumerate(checks):
            sheet.data_validation(row, 0, row + 2, 3, check)
    return path


def _with_parts(path: Path, replacements: dict[str, tuple[str, str]]) -> None:
    """Put text into parts of a package: what XlsxWriter cannot write itself."""
    out = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for info in old.infolist():
            data = old.read(info)
            if info.filename in replacements:
                before, after = replacements[info.filename]
                text = data.decode()
                assert text.count(before) == 1, (info.filename, before)
                data = text.replace(before, after).encode()
            new.writestr(info, data)
    path.write_bytes(out.getvalue())


_X14_VALIDATIONS: Final = (
    '<extLst><ext xmlns:x14="http://schemas.microsoft.com/office/spreadsheetml/2009/9/main"'
    ' uri="{CCE6A557-97BC-4b89-ADB6-D9C93CAAB3DF}"><x14:dataValidations'
    ' xmlns:xm="http://schemas.microsoft.com/office/excel/2006/main" count="1">'
    '<x14:dataValidation type="list" allowBlank="1" showErrorMessage="1"><x14:formula1>'
    "<xm:f>Source!$A$1:$A$3</xm:f></x14:formula1><xm:sqref>B2:B9</xm:sqref>"
    "</x14:dataValidation></x14:dataValidations></ext></extLst></worksheet>"
)


def x14_validations(folder: Path) -> Path:
    """A drop-down as Excel 2010 writes it when the list stands on another tab."""
    path = folder / "x14_validations.xlsx"
    with _workbook(path) as book:
        book.add_worksheet("Entries").write("A1", "Choose")
        book.add_worksheet("Source").write_column("A1", ["one", "two", "three"])
    _with_parts(path, {"xl/worksheets/sheet1.xml": ("</worksheet>", _X14_VALIDATIONS)})
    return path


def conditional_formats(folder: Path) -> Path:
    """Formulas, data bars of 2007 and 2010 (x14), icons, colour scales."""
    path = folder / "conditional_formats.xlsx"
    with _workbook(path) as book:
        sheet = book.add_worksheet("Formats")
        _numbers(sheet)
        red = book.add_format({"bg_color": "#FFC7CE", "font_color": "#9C0006"})
        area = "B2:C7"
        for rule in (
            {"type": "formula", "criteria": "=$A2>3", "format": red, "stop_if_true": True},
            {"type": "cell", "criteria": "<", "value": 450, "format": red},
            {"type": "data_bar"},
            {"type": "data_bar", "data_bar_2010": True, "bar_negative_color": "#FF0000"},
            {"type": "icon_set", "icon_style": "3_traffic_lights"},
            {"type": "3_color_scale"},
            {"type": "duplicate", "format": red},
        ):
            sheet.conditional_format(area, rule)
    return path


def pictures(folder: Path) -> Path:
    """A picture on the sheet, one in a cell, one behind it, one in the page's header."""
    path = folder / "pictures.xlsx"
    red = folder / "red.png"
    red.write_bytes(tiny_png())
    with _workbook(path) as book:
        sheet = book.add_worksheet("Pictures")
        sheet.insert_image("B2", str(red), {"url": "https://example.com/", "x_scale": 20})
        sheet.embed_image("D2", str(red))
        sheet.set_background(str(red))
        sheet.set_header("&L&G", {"image_left": str(red)})
    return path


def text_boxes(folder: Path) -> Path:
    """Text boxes, one of them linked to a cell."""
    path = folder / "text_boxes.xlsx"
    with _workbook(path) as book:
        sheet = book.add_worksheet("Boxes")
        sheet.insert_textbox("B2", "Bids close at 18:00 & not later", {"font": {"bold": True}})
        sheet.insert_textbox("B12", "linked", {"textlink": "=$A$1", "fill": {"color": "#FFF2CC"}})
    return path


def comments(folder: Path) -> Path:
    """Notes on cells, with looks of their own (VML)."""
    path = folder / "comments.xlsx"
    with _workbook(path) as book:
        sheet = book.add_worksheet("Notes")
        sheet.write_comment("B2", "a bid of 5?", {"author": "Ann", "color": "#CCFFCC"})
        sheet.write_comment("C9", "wide\nand tall", {"width": 300, "height": 200, "visible": True})
    return path


def tables(folder: Path) -> Path:
    """Two tables, one with totals and a calculated column."""
    path = folder / "tables.xlsx"
    with _workbook(path) as book:
        sheet = book.add_worksheet("Tables")
        columns = [
            {"header": "Lot", "total_string": "Sum"},
            {"header": "Bid", "total_function": "sum"},
            {"header": "Twice", "formula": "=Lots[@[Bid]]*2"},
        ]
        rows = [[1, 10], [2, 20], [3, 30]]
        options = {"data": rows, "columns": columns, "total_row": True, "name": "Lots"}
        sheet.add_table("B2:D6", options)
        sheet.add_table("F2:G5", {"style": "Table Style Light 11", "name": "Others"})
    return path


def defined_names(folder: Path) -> Path:
    """Names for the book and for one tab, print areas, repeated rows."""
    path = folder / "defined_names.xlsx"
    with _workbook(path) as book:
        first, second = book.add_worksheet("First"), book.add_worksheet("The second")
        _numbers(first)
        book.define_name("Tokens", "=First!$B$2:$B$7")
        book.define_name("Rate", "=0.5")
        book.define_name("'The second'!Here", "='The second'!$A$1")
        second.write_formula("A1", "=SUM(Tokens)*Rate", None, 1411.5)
        first.print_area("A1:C7")
        first.repeat_rows(0)
        second.print_area(0, 0, 9, 9)
    return path


def dynamic_arrays(folder: Path) -> Path:
    """Spilling formulas (xl/metadata.xml), a LAMBDA, an array formula of the old kind."""
    path = folder / "dynamic_arrays.xlsx"
    with _workbook(path) as book:
        sheet = book.add_worksheet("Arrays")
        _numbers(sheet)
        sheet.write_dynamic_array_formula("E2:E7", "=_xlfn._xlws.SORT(B2:B7)", None, 458)
        sheet.write_dynamic_array_formula("G2", "=_xlfn.LAMBDA(_xlpm.x,_xlpm.x*2)(A2)", None, 2)
        sheet.write_array_formula("I2:I3", "{=A2:A3*2}", None, 2)
    return path


def rich_text(folder: Path) -> Path:
    """Cells whose text changes its looks half-way, one half struck out."""
    path = folder / "rich_text.xlsx"
    with _workbook(path) as book:
        sheet = book.add_worksheet("Rich")
        bold, struck = book.add_format({"bold": 1}), book.add_format({"font_strikeout": 1})
        sheet.write_rich_string("A1", "a ", bold, "bold", " word")
        sheet.write_rich_string("A2", struck, "40", " 50")
        sheet.write("A3", 50, struck)
        sheet.write("A4", " spaces \n kept ", book.add_format({"text_wrap": 1}))
    return path


def hidden_tabs(folder: Path) -> Path:
    """A hidden and a very hidden tab, hidden rows and columns, grouped rows."""
    path = folder / "hidden_tabs.xlsx"
    with _workbook(path) as book:
        sheet = book.add_worksheet("Seen")
        book.add_worksheet("Hidden").hide()
        book.add_worksheet("Very hidden").very_hidden()
        _numbers(sheet)
        sheet.set_row(2, None, None, {"hidden": True})
        for row in (3, 4):
            sheet.set_row(row, 30, None, {"level": 1, "hidden": True})
        sheet.set_row(5, None, None, {"collapsed": True})
        sheet.set_column("C:C", 20, None, {"hidden": True})
        sheet.set_column("D:E", 20, None, {"level": 1})
    return path


def filtered(folder: Path) -> Path:
    """An autofilter with a criterion, frozen panes, a protected tab, merged cells, links."""
    path = folder / "filtered.xlsx"
    with _workbook(path) as book:
        sheet = book.add_worksheet("Filtered")
        _numbers(sheet)
        sheet.autofilter("A1:C7")
        sheet.filter_column("A", "x > 3")
        for row in (1, 2, 3):
            sheet.set_row(row, None, None, {"hidden": True})
        sheet.freeze_panes(1, 1)
        sheet.protect("secret", {"sort": True, "autofilter": True})
        sheet.unprotect_range("B2:C7", "Bids")
        sheet.merge_range("E1:G2", "together", book.add_format({"align": "center"}))
        sheet.write_url("E4", "https://example.com/?a=1&b=2#c", string="out")
        sheet.write_url("E5", "internal:'Filtered'!A1", string="in")
        sheet.write_url("E6", "mailto:ann@example.com", tip="write")
        sheet.ignore_errors({"number_stored_as_text": "A1:A9"})
    return path


def properties(folder: Path) -> Path:
    """Custom document properties, a page set-up, tab colours, a theme font, number formats."""
    path = folder / "properties.xlsx"
    with _workbook(path) as book:
        book.set_custom_property("Match", "spring", "text")
        book.set_custom_property("Players", 12)
        book.set_custom_property("Final", False)
        book.set_size(2400, 1200)
        sheet = book.add_worksheet("Page")
        sheet.set_tab_color("#00B050")
        sheet.set_landscape()
        sheet.fit_to_pages(1, 0)
        sheet.set_footer("&CPage &P of &N")
        sheet.set_h_pagebreaks([20])
        for row, code in enumerate(
            ('0.00 "tokens"', "[Red]-0;0", "d mmm yyyy", "# ?/?", "@", ";;;")
        ):
            sheet.write(row, 0, 41.5, book.add_format({"num_format": code, "font_name": "Arial"}))
    return path


def macros(folder: Path) -> Path:
    """An .xlsm with a button. The project is a stand-in: its bytes must stay, nobody runs it."""
    path = folder / "macros.xlsm"
    project = folder / "vbaProject.bin"
    project.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(range(256)) * 8)
    with _workbook(path) as book:
        book.add_vba_project(str(project))
        book.set_vba_name("ThisWorkbook")
        sheet = book.add_worksheet("Macros")
        sheet.set_vba_name("Sheet1")
        options = {"macro": "close_round", "caption": "Close", "width": 90, "height": 30}
        sheet.insert_button("B2", options)
        sheet.insert_checkbox("B6", True)
    return path


def many_tabs(folder: Path) -> Path:
    """200 tabs."""
    path = folder / "many_tabs.xlsx"
    with _workbook(path) as book:
        for number in range(1, 201):
            book.add_worksheet(f"Tab {number}").write("A1", number)
    return path


UNICODE_TITLES: Final = (
    "Übersicht",
    "競り",
    "🎵 Noten",
    "it's",
    "a & b <c>",
    "Bids (2)",
    " spaced ",
    "x" * 31,
    "é",
    "الجولة",
)


def unicode_tabs(folder: Path) -> Path:
    """Titles that need quoting, escaping or more than ASCII."""
    path = folder / "unicode_tabs.xlsx"
    with _workbook(path) as book:
        for title in UNICODE_TITLES:
            book.add_worksheet(title).write("A1", title)
    return path


def inline_strings(folder: Path) -> Path:
    """No shared strings: text stands in its cell, as streaming writers leave it."""
    path = folder / "inline_strings.xlsx"
    with _workbook(path, constant_memory=True) as book:
        _numbers(book.add_worksheet("Inline"))
    return path


def looks(folder: Path) -> Path:
    """Checks, colours, a text column and frozen panes, for the tests of LibreOffice itself."""
    path = folder / "looks.xlsx"
    with _workbook(path) as book:
        sheet = book.add_worksheet("Looks")
        source = book.add_worksheet("Source")
        locked = book.add_worksheet("Locked")
        red, green = (book.add_format({"bg_color": c}) for c in ("#FF0000", "#00FF00"))
        sheet.write_row("A1", ["Looks"])
        sheet.merge_range("A2:B3", "merged", green)
        sheet.set_row(9, None, None, {"hidden": True})
        sheet.write_column("A4", ["Ann", "Bob", "Cay"])
        sheet.write_column("B4", [5, 6, 7])
        sheet.write("F4", "green", green)
        sheet.set_column("G:G", None, book.add_format({"num_format": "@"}))
        formula = {"type": "formula", "criteria": "=$B4=5", "format": red}
        sheet.conditional_format("B4:D9", formula)
        sheet.conditional_format("E4:E9", {"type": "data_bar"})
        whole = {"validate": "integer", "criteria": ">=", "value": 0, "error_type": "warning"}
        said = {"input_title": "Bid", "input_message": "Whole tokens"}
        sheet.data_validation("B4:B9", whole | said)
        sheet.data_validation("C4:C9", {"validate": "list", "source": "=Source!$A$1:$A$3"})
        sheet.freeze_panes(3, 1)
        source.write_column("A1", ["one", "two", "three"])
        source.write_column("B1", [1, 2, 3])
        locked.protect()
        locked.write("A1", "locked")
        locked.write("B1", None, book.add_format({"locked": False}))
    return path


FOREIGN: Final[tuple[tuple[str, Callable[[Path], Path]], ...]] = (
    ("charts", charts),
    ("sparklines", sparklines),
    ("validations", validations),
    ("x14 validations", x14_validations),
    ("conditional formats", conditional_formats),
    ("pictures", pictures),
    ("text boxes", text_boxes),
    ("comments", comments),
    ("tables", tables),
    ("defined names", defined_names),
    ("dynamic arrays", dynamic_arrays),
    ("rich text", rich_text),
    ("hidden tabs", hidden_tabs),
    ("filtered and protected", filtered),
    ("properties", properties),
    ("macros", macros),
    ("200 tabs", many_tabs),
    ("unicode tabs", unicode_tabs),
    ("inline strings", inline_strings),
    ("looks", looks),
)


# --- made by LibreOffice -----------------------------------------------------------------------


def typed_in_libreoffice(office: Office, folder: Path) -> Path:
    """Entries of every kind typed into LibreOffice and saved there."""
    path = folder / "typed.xlsx"
    with office.open(looks(folder)) as doc:
        for row, text in enumerate(("5", "1/2", "TRUE", "5.5", "=2+3", "='a'", "C♯ quarter"), 20):
            doc.type("Looks", f"H{row}", text)
            doc.type("Looks", f"G{row}", text)
        doc.hide("Source")
        doc.save_as(path)
    return path


def charts_through_libreoffice(office: Office, folder: Path) -> Path:
    """A workbook of charts that has been through LibreOffice."""
    path = folder / "charts_resaved.xlsx"
    with office.open(charts(folder)) as doc:
        doc.save_as(path)
    return path


OFFICE_FOREIGN: Final[tuple[tuple[str, Callable[[Office, Path], Path]], ...]] = (
    ("typed in LibreOffice", typed_in_libreoffice),
    ("charts through LibreOffice", charts_through_libreoffice),
)
