"""Putting tabs into a workbook that other programs and people use, and changing nothing else.

New tabs are added at the end; a tab that is there gets new contents and keeps what its host put
on it. The workbook part, the styles part, the relationships and the content types change where
they must, in place; every other part keeps its bytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

from sheets_host.grid import Looks, Tab, column_letters, column_number, quoted_title
from sheets_host.stores.base import StoreError
from sheets_host.stores.excel import charts, rendering
from sheets_host.stores.excel.package import Package, SheetRef
from sheets_host.stores.excel.parsing import MAIN, count_of
from sheets_host.stores.excel.preflight import MAX_SHEET
from sheets_host.stores.excel.repacking import DECLARATION, OFFICE, Parts, rewrite
from sheets_host.stores.excel.splicing import Edit, Element, Outline, apply, escaped, outline
from sheets_host.stores.excel.stylesheet import Stylesheet

_SHEET: Final = "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"
_DRAWING: Final = "application/vnd.openxmlformats-officedocument.drawing+xml"
_CHART: Final = "application/vnd.openxmlformats-officedocument.drawingml.chart+xml"

_WORKBOOK_ORDER: Final = (  # noqa: SIM905 - reads as the schema does
    "fileVersion fileSharing workbookPr workbookProtection bookViews sheets functionGroups "
    "externalReferences definedNames calcPr oleSize customWorkbookViews pivotCaches smartTagPr "
    "smartTagTypes webPublishing fileRecoveryPr webPublishObjects extLst"
).split()

MAX_SHEET_ID: Final = 65_534
"""Excel opens no workbook with a higher one."""

_NEWER_FORMATS: Final = "{78c0d931-6437-407d-a8ee-f0aad7539e65}"
"""The extension of conditional formats, such as solid data bars ([MS-XLSX] 2.3.2)."""

_MAX_CHART: Final = 1 << 20
"""Bytes of a chart that may be one of the tool's own."""
_HEADER_WITHIN: Final = 1 << 20
"""Bytes of a sheet among which its header lies."""

_R: Final = f'xmlns:r="{OFFICE.rstrip("/")}"'


@dataclass(frozen=True, slots=True)
class _Placed:
    """A tab and the sheet part that holds it. index: its place among all tabs, from 0."""

    tab: Tab
    part: str
    index: int
    relation: str = ""  # id of the relationship; empty for a tab that was there


def graft(package: Package, tabs: Sequence[Tab], *, fresh: bool = False) -> bytes:
    """Return the package with these tabs in it.

    fresh: the package is a new one of our own; tabs in it are written whole, and its first tab
    is the one that shows. Raises StoreError where a tab cannot be put in without harm.
    """
    package.check_all()  # what is damaged must not be handed on while sound backups go
    parts = Parts(package)
    styles = Stylesheet(package.part(package.styles), package.styles, package.name)
    standing = {sheet.title.casefold(): (i, sheet) for i, sheet in enumerate(package.sheets)}
    placed: list[_Placed] = []
    formulas_gone = False
    for tab in tabs:
        found = standing.get(tab.title.casefold())
        if found is None:
            placed.append(_add(parts, tab, styles, len(standing)))
            standing[tab.title.casefold()] = (
                len(standing),
                SheetRef(tab.title, placed[-1].part, "visible", placed[-1].relation, 0),
            )
        else:
            index, sheet = found
            _refuse_unfit(package, tab, sheet)
            if fresh:
                _write_whole(parts, tab, sheet.part, styles, selected=index == 0)
            else:
                formulas_gone |= _replace(parts, tab, sheet.part, styles)
            placed.append(_Placed(tab, sheet.part, index))
    parts.settle()
    parts.put(package.styles, styles.to_bytes())
    parts.put(package.workbook, _workbook(package, placed, fresh=fresh))
    if formulas_gone:
        # The chain names cells that hold formulas; Excel calls a file damaged where they do not.
        parts.drop(package.workbook, "calcChain")
    grafted = rewrite(package, parts.changed, frozenset(parts.dropped))
    _verify(package, grafted, parts, placed)
    return grafted


def _refuse_unfit(package: Package, tab: Tab, sheet: SheetRef) -> None:
    where = f"{package.name}: the tab {sheet.title}"
    if sheet.title != tab.title:
        raise StoreError(
            f'{where} stands where the tab "{tab.title}" belongs: Excel takes the two names for '
            "one.",
            f'Rename it: to "{tab.title}" if it is the tab of the game, to something else if not.',
        )
    if sheet.kind != "worksheet":
        raise StoreError(
            f"{where} is a {sheet.kind}, not a sheet with cells.", "Rename it, and run this again."
        )
    if package.related(sheet.part, "table"):
        raise StoreError(
            f"{where} has been turned into a table, or holds one; it cannot be written without "
            "breaking the table.",
            "In Excel, click into the table and choose Table Design, Convert to Range.",
        )
    if package.related(sheet.part, "pivotTable"):
        raise StoreError(
            f"{where} holds a pivot table, which a new report would overwrite.",
            "Move the pivot table to a tab of its own.",
        )


# --- sheets ------------------------------------------------------------------------------------


def _add(parts: Parts, tab: Tab, styles: Stylesheet, index: int) -> _Placed:
    part = parts.add("xl/worksheets/sheet{}.xml", _SHEET, b"")
    _write_whole(parts, tab, part, styles, selected=False)
    relation = parts.link(parts.package.workbook, "worksheet", part)
    return _Placed(tab, part, index, relation)


def _write_whole(parts: Parts, tab: Tab, part: str, styles: Stylesheet, *, selected: bool) -> None:
    markup = rendering.whole(tab, styles, selected=selected)
    root = f'<worksheet xmlns="{MAIN.strip()}" {_R}>{markup}</worksheet>'
    data = DECLARATION + root.encode("ascii", "xmlcharrefreplace")
    if tab.looks.charts:
        out = outline(data, part, parts.package.name, hollow="sheetData")
        data = apply(data, [_drawing(parts, tab, part, out)])
    parts.put(part, data)


def _replace(parts: Parts, tab: Tab, part: str, styles: Stylesheet) -> bool:
    """Give a tab new contents; tell whether the old ones held a formula."""
    data = parts.get(part, MAX_SHEET)
    out = outline(data, part, parts.package.name, hollow="sheetData")
    if out.root.name != MAIN + "worksheet":
        raise StoreError(
            f"{parts.package.name}: the tab {tab.title} is damaged: its part {part} is no sheet.",
            "Rename the tab, and run this again: a new one is made.",
        )
    new = rendering.contents(tab, styles)
    if _grows_wider(tab, data):
        new["cols"] = rendering.columns(tab.looks)
    edits: list[Edit] = []
    formulas = False
    for child in out.root.children:
        local = child.name.removeprefix(MAIN)
        if child.name == MAIN + "sheetData":
            formula = re.compile(b"<" + out.prefix.encode() + rb"f[\s/>]")
            formulas = bool(formula.search(data, child.inner, child.close))
        if (local in rendering.CONTENTS or local in new) and child.name == MAIN + local:
            edits.append((child.start, child.end, out.markup(new.pop(local, ""))))
        elif child.name == MAIN + "extLst":
            edits += _without_twins(child)
    for name, markup in new.items():
        at = out.place(name, rendering.ORDER)
        edits.append(out.insert(out.root, out.markup(markup), at))
    if tab.looks.charts and not out.root.first(MAIN + "drawing"):
        edits.append(_drawing(parts, tab, part, out))
    elif tab.looks.charts:
        _redraw(parts, tab, part)
    parts.put(part, apply(data, edits))
    return formulas


def _without_twins(extensions: Element) -> list[Edit]:
    """Take out what newer programs add to conditional formats: these formats are gone."""
    twins = [
        (each.start, each.end, b"")
        for each in extensions.children
        if each.attributes.get("uri", "").casefold() == _NEWER_FORMATS
    ]
    if twins and len(twins) == len(extensions.children):
        return [(extensions.start, extensions.end, b"")]
    return twins


def _grows_wider(tab: Tab, sheet: bytes) -> bool:
    """Tell whether a tab gets columns that it did not have: they have no width yet.

    Otherwise the widths stay, since somebody may have set them.
    """
    header = tab.looks.header
    if header is None:
        return False
    places = re.findall(rb'\br="([A-Z]{1,3})%d"' % header, sheet[:_HEADER_WITHIN])
    standing = max((column_number(letters.decode()) for letters in places), default=0)
    return 0 < standing < tab.size[1]


def _drawing(parts: Parts, tab: Tab, sheet: str, out: Outline) -> Edit:
    """Add a tab's charts; return the edit that puts them on the sheet."""
    drawing, drawn = charts.draw(tab)
    part = parts.add("xl/drawings/drawing{}.xml", _DRAWING, drawing)
    for number, chart in enumerate(drawn, 1):
        relation = parts.link(part, "chart", parts.add("xl/charts/chart{}.xml", _CHART, chart))
        assert relation == f"rId{number}", "a new drawing's relationships count from 1"
    relation = parts.link(sheet, "drawing", part)
    return out.insert(
        out.root,
        out.markup(f'<drawing {_R} r:id="{relation}"/>'),
        out.place("drawing", rendering.ORDER),
    )


def _redraw(parts: Parts, tab: Tab, sheet: str) -> None:
    """Draw a chart of ours anew where it should have other lines: somebody joined the match.

    It stays where it is and as large as it was made. Charts of somebody else's stay as they are.
    """
    package = parts.package
    found = [
        chart.target
        for drawing in package.related(sheet, "drawing")
        for chart in package.related(drawing.target, "chart")
    ]
    for part in dict.fromkeys(found):
        # Somebody's program may have lost it: the tab is right without it. A large one is not ours.
        if not package.has(part) or package.info(part).file_size > _MAX_CHART:
            continue
        data = parts.get(part)
        lines = len(re.findall(rb"<(?:\w+:)?ser>", data))
        for number, chart in enumerate(tab.looks.charts):
            name = chart.title.partition(":")[0].encode()
            if name in data and lines != len(chart.series):
                parts.put(part, charts.draw(tab)[1][number])


# --- the workbook part -------------------------------------------------------------------------


def _workbook(package: Package, placed: Sequence[_Placed], *, fresh: bool) -> bytes:
    out = outline(package.part(package.workbook), package.workbook, package.name)
    sheets = out.root.first(MAIN + "sheets")
    wrapped = (
        each for child in out.root.children for choice in child.children for each in choice.children
    )
    if (
        sheets is None
        or len(list(sheets.all(MAIN + "sheet"))) != len(package.sheets)
        or any(each.name == MAIN + "definedNames" for each in wrapped)
    ):
        raise StoreError(
            f"{package.name}: the list of tabs or of names in {package.workbook} holds something"
            " unknown.",
            "Open the workbook in Excel or LibreOffice and save it again.",
        )
    taken = {sheet.sheet_id for sheet in package.sheets}
    numbers = chain(range(max(taken) + 1, MAX_SHEET_ID + 1), range(1, max(taken)))
    free = (number for number in numbers if number not in taken)
    added = ""
    names: dict[tuple[str, int], str] = {}
    for each in placed:
        looks = each.tab.looks
        if each.relation:
            number = next(free)
            title = escaped(each.tab.title)
            added += f'<sheet name="{title}" sheetId="{number}" {_R} r:id="{each.relation}"/>'
        title = quoted_title(each.tab.title)
        if looks.header and (each.relation or fresh):
            names["_xlnm.Print_Titles", each.index] = _repeated(title, looks)
        names["_xlnm._FilterDatabase", each.index] = (
            f"{title}!{rendering.absolute(looks.filtered)}" if looks.filtered else ""
        )
    edits = [out.insert(sheets, out.markup(added))] if added else []
    edits += _names(out, names)
    edits += _recalculate(out)
    return apply(out.data, edits)


def _repeated(title: str, looks: Looks) -> str:
    """Return what each printed page repeats: the header row, and the frozen columns."""
    row = f"{title}!${looks.header}:${looks.header}"
    if looks.across == 1 or not looks.frozen[1]:
        return row
    return f"{title}!$A:${column_letters(looks.frozen[1])},{row}"


def _names(out: Outline, wanted: dict[tuple[str, int], str]) -> list[Edit]:
    """Set names that belong to one tab each (18.2.5); an empty one is to go."""
    parent = out.root.first(MAIN + "definedNames")
    edits: list[Edit] = []
    left = dict(wanted)
    for child in parent.children if parent else ():
        tab = count_of(child.attributes.get("localSheetId"))
        key = (child.attributes.get("name", ""), -1 if tab is None else tab)
        if key not in left:
            continue
        reference = left.pop(key)
        if not reference:
            edits.append((child.start, child.end, b""))
        elif child.inner != child.end:
            edits.append((child.inner, child.close, out.markup(escaped(reference))))
    markup = "".join(
        f'<definedName name="{name}" localSheetId="{index}"{_hidden(name)}>'
        f"{escaped(reference)}</definedName>"
        for (name, index), reference in left.items()
        if reference
    )
    if not markup:
        return _without_empty(parent, edits)
    if parent:
        return [*edits, out.insert(parent, out.markup(markup))]
    whole = f"<definedNames>{markup}</definedNames>"
    at = out.place("definedNames", _WORKBOOK_ORDER)
    return [*edits, out.insert(out.root, out.markup(whole), at)]


def _hidden(name: str) -> str:
    return ' hidden="1"' if name.endswith("_FilterDatabase") else ""


def _without_empty(parent: Element | None, edits: list[Edit]) -> list[Edit]:
    """Take the whole list out where every name in it goes: it must not stand empty."""
    removed = [edit for edit in edits if edit[2] == b""]
    if parent and removed and len(removed) == len(parent.children):
        return [(parent.start, parent.end, b"")]
    return edits


def _recalculate(out: Outline) -> list[Edit]:
    """Have formulas that read our tabs worked out on opening (18.2.2)."""
    properties = out.root.first(MAIN + "calcPr")
    if properties is None:
        at = out.place("calcPr", _WORKBOOK_ORDER)
        return [out.insert(out.root, out.markup('<calcPr fullCalcOnLoad="1"/>'), at)]
    if properties.attributes.get("fullCalcOnLoad") in ("1", "true"):
        return []
    return out.set_attributes(properties, {"fullCalcOnLoad": "1"})


# --- checking ----------------------------------------------------------------------------------


def _verify(package: Package, grafted: bytes, parts: Parts, placed: Sequence[_Placed]) -> None:
    """Open what was made and hold it against what it was made from; a difference is our fault."""
    made = Package.open(grafted, package.name)
    titles = [sheet.title for sheet in package.sheets]
    titles += [each.tab.title for each in placed if each.relation]
    faults = [] if [sheet.title for sheet in made.sheets] == titles else ["the list of tabs"]
    faults += [
        name
        for name in package.names
        if name not in parts.changed
        and name not in parts.dropped
        and (made.info(name).CRC, made.packed(name))
        != (package.info(name).CRC, package.packed(name))
    ]
    faults += [
        name for name, data in parts.changed.items() if made.unpacked(name, MAX_SHEET) != data
    ]
    for name in (package.styles, *(each.part for each in placed)):
        outline(parts.get(name, MAX_SHEET), name, package.name, hollow="sheetData")
    if faults:
        raise StoreError(
            f"{package.name}: nothing was written, since the result did not pass its own check "
            f"({', '.join(faults)}).",
            "Please report this, with a copy of the workbook.",
        )
