"""Writing a tab as the markup of a sheet part (ECMA-376 part 1, 18.3.1).

Everything here is written out by hand rather than by openpyxl, which would cost each sync a tenth
of a second to import, and whose styles would have to be told apart and numbered anew in the
host's workbook anyway. openpyxl draws the charts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from sheets_host.grid import (
    Area,
    Check,
    Looks,
    OneOf,
    Tab,
    WholeNumber,
    column_letters,
    quoted_title,
)
from sheets_host.stores.excel.rows import extent, links, sheet_data, xstring
from sheets_host.stores.excel.splicing import escaped
from sheets_host.stores.excel.stylesheet import Stylesheet

ORDER: Final = (  # noqa: SIM905 - reads as the schema does
    "sheetPr dimension sheetViews sheetFormatPr cols sheetData sheetCalcPr sheetProtection "
    "protectedRanges scenarios autoFilter sortState dataConsolidate customSheetViews mergeCells "
    "phoneticPr conditionalFormatting dataValidations hyperlinks printOptions pageMargins "
    "pageSetup headerFooter rowBreaks colBreaks customProperties cellWatches ignoredErrors "
    "smartTags drawing legacyDrawing legacyDrawingHF drawingHF picture oleObjects controls "
    "webPublishItems tableParts extLst"
).split()
"""The children of a sheet in the order that its schema asks for."""

CONTENTS: Final = (  # noqa: SIM905 - the same
    "dimension sheetData autoFilter sortState mergeCells conditionalFormatting dataValidations "
    "hyperlinks"
).split()
"""What a later write replaces. The rest stays as it is, for the host may have changed it."""

_MAX_TITLE: Final = 32
_MAX_MESSAGE: Final = 255
_MAX_LIST: Final = 255


def contents(tab: Tab, styles: Stylesheet) -> dict[str, str]:
    """Return the parts of a sheet that go with what stands in it, by their names in ORDER."""
    looks = tab.looks
    found = {
        "dimension": f'<dimension ref="{extent(tab)}"/>',
        "sheetData": sheet_data(tab, styles.xf),
        "autoFilter": f'<autoFilter ref="{looks.filtered}"/>' if looks.filtered else "",
        "mergeCells": _counted("mergeCells", [f'<mergeCell ref="{m}"/>' for m in looks.merges]),
        "conditionalFormatting": "".join(_conditional_formats(looks, styles)),
        "dataValidations": _counted(
            "dataValidations", [_check(check) for check in looks.checks if _fits(check)]
        ),
        "hyperlinks": _hyperlinks(tab),
    }
    return {name: markup for name, markup in found.items() if markup}


def whole(tab: Tab, styles: Stylesheet, *, selected: bool) -> str:
    """Return a new sheet but for its drawing. selected: it is the tab that shows on opening."""
    looks = tab.looks
    colour = f'<tabColor rgb="FF{looks.colour}"/>' if looks.colour else ""
    found = contents(tab, styles) | {
        "sheetPr": f'<sheetPr>{colour}<pageSetUpPr fitToPage="{int(not looks.breaks)}"/></sheetPr>',
        "sheetViews": _view(looks, selected=selected),
        "sheetFormatPr": '<sheetFormatPr defaultRowHeight="15"/>',
        "cols": columns(looks),
        # Protected against slips; widths and filters may still be used (18.3.1.85: 0 allows).
        "sheetProtection": (
            '<sheetProtection sheet="1" objects="1" scenarios="1" formatColumns="0" '
            'formatRows="0" autoFilter="0"/>'
            if looks.locked
            else ""
        ),
        "pageMargins": (
            '<pageMargins left="0.5" right="0.5" top="0.75" bottom="0.75" header="0.3" '
            'footer="0.3"/>'
        ),
        "pageSetup": _page_setup(looks),
        "headerFooter": "<headerFooter><oddFooter>&amp;C&amp;A, &amp;P / &amp;N</oddFooter></headerFooter>",
        "rowBreaks": _row_breaks(looks),
        # The Record and entries that look like numbers are texts on purpose.
        "ignoredErrors": (
            '<ignoredErrors><ignoredError sqref="A1:XFD1048576" numberStoredAsText="1"/>'
            "</ignoredErrors>"
        ),
    }
    return "".join(found.get(name, "") for name in ORDER)


def absolute(area: Area) -> str:
    """Return an area as names and charts hold it: ``$B$5:$B$7``."""
    first = f"${column_letters(area.left)}${area.top}"
    last = f"${column_letters(area.right)}${area.bottom}"
    return first if first == last else f"{first}:{last}"


def _counted(name: str, items: list[str]) -> str:
    return f'<{name} count="{len(items)}">{"".join(items)}</{name}>' if items else ""


def _page_setup(looks: Looks) -> str:
    orientation = "landscape" if looks.landscape else "portrait"
    size = (
        f'scale="{looks.scale}"'
        if looks.breaks
        else f'fitToWidth="{looks.across}" fitToHeight="{looks.down}"'
    )
    return f'<pageSetup orientation="{orientation}" {size}/>'


def _row_breaks(looks: Looks) -> str:
    """Write the breaks between printed pages (18.3.1.74), each by the row above it."""
    if not looks.breaks:
        return ""
    count = len(looks.breaks)
    found = "".join(f'<brk id="{row - 1}" max="16383" man="1"/>' for row in looks.breaks)
    return f'<rowBreaks count="{count}" manualBreakCount="{count}">{found}</rowBreaks>'


def _view(looks: Looks, *, selected: bool) -> str:
    rows, columns = looks.frozen
    tab_selected = ' tabSelected="1"' if selected else ""
    if not rows and not columns:
        return f'<sheetViews><sheetView{tab_selected} workbookViewId="0"/></sheetViews>'
    pane = "bottomRight" if rows and columns else "bottomLeft" if rows else "topRight"
    split = (f' xSplit="{columns}"' if columns else "") + (f' ySplit="{rows}"' if rows else "")
    corner = Area(rows + 1, columns + 1, rows + 1, columns + 1)
    return (
        f'<sheetViews><sheetView{tab_selected} workbookViewId="0">'
        f'<pane{split} topLeftCell="{corner}" activePane="{pane}" state="frozen"/>'
        f'<selection pane="{pane}" activeCell="{corner}" sqref="{corner}"/>'
        "</sheetView></sheetViews>"
    )


def columns(looks: Looks) -> str:
    """Return the widths of a tab's columns, as the element `cols`."""
    columns = "".join(
        f'<col min="{number}" max="{number}" width="{width}" customWidth="1"/>'
        for number, width in enumerate(looks.widths, 1)
    )
    return f"<cols>{columns}</cols>" if columns else ""


def _conditional_formats(looks: Looks, styles: Stylesheet) -> Iterator[str]:
    """Yield the conditional formats, those of one area together (18.3.1.18).

    Bars come first, for a rule that holds ends the list: the earlier one wins. Data bars of this
    plain form are read by every program. They fade to white; their modern twins in one colour stand
    in an extension, over which openpyxl warns whoever reads the workbook with it.
    """
    by_area: dict[Area, list[str]] = {}
    for priority, bar in enumerate(looks.bars, 1):
        by_area.setdefault(bar.area, []).append(
            f'<cfRule type="dataBar" priority="{priority}"><dataBar minLength="0" maxLength="100">'
            f'<cfvo type="num" val="0"/><cfvo type="max"/><color rgb="FF{bar.colour}"/>'
            "</dataBar></cfRule>"
        )
    for priority, rule in enumerate(looks.rules, len(looks.bars) + 1):
        by_area.setdefault(rule.area, []).append(
            f'<cfRule type="expression" dxfId="{styles.dxf(rule.style)}" priority="{priority}" '
            f'stopIfTrue="1"><formula>{escaped(rule.formula.removeprefix("="))}</formula></cfRule>'
        )
    for area, rules in by_area.items():
        yield f'<conditionalFormatting sqref="{area}">{"".join(rules)}</conditionalFormatting>'


def _fits(check: Check) -> bool:
    """Tell whether Excel can hold a check: a list of texts is short, and no text has a comma.

    A drop-down is a help; where it cannot be had, entries are read and judged all the same.
    """
    if isinstance(check, OneOf) and not isinstance(check.source, str):
        return len(",".join(check.source)) <= _MAX_LIST and "," not in "".join(check.source)
    return True


def _check(check: Check) -> str:
    """Write a check that warns (18.3.1.32). A warning lets stand what only the rules can judge."""
    title = _attribute(check.title, _MAX_TITLE)
    message = _attribute(check.message, _MAX_MESSAGE)
    # formula1 is an ordinary formula: a list of texts is one quoted text with commas.
    match check:
        case WholeNumber():
            kind = 'type="whole" operator="greaterThanOrEqual"'
            formula = str(check.least)
        case OneOf(source=str() as source):
            kind, formula = 'type="list"', source.removeprefix("=")
        case OneOf(source=values):
            kind = 'type="list"'
            formula = '"' + ",".join(values).replace('"', '""') + '"'
    return (
        f'<dataValidation {kind} errorStyle="warning" allowBlank="1" showInputMessage="1" '
        f'showErrorMessage="1" errorTitle="{title}" error="{message}" promptTitle="{title}" '
        f'prompt="{message}" sqref="{check.area}"><formula1>{escaped(formula)}</formula1>'
        "</dataValidation>"
    )


def _attribute(text: str, longest: int) -> str:
    if len(text) > longest:
        text = text[: longest - 1] + "…"
    return xstring(text).replace('"', "&quot;").replace("\n", "&#10;").replace("\t", " ")


def _hyperlinks(tab: Tab) -> str:
    found = "".join(
        f'<hyperlink ref="{cell}" '
        f'location="{_attribute(f"{quoted_title(link.tab)}!{link.cell}", 2_000)}" '
        f'display="{_attribute(link.text, _MAX_MESSAGE)}"/>'
        for cell, link in links(tab)
    )
    return f"<hyperlinks>{found}</hyperlinks>" if found else ""
