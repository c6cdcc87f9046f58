"""Edits a game's workbook as spreadsheet programs leave it when people have typed into it.

    book = Workbook(path)
    book.put("Bids", "E6", number(50.4, "0"))
    book.save()

The cells' XML is written here, so that every form a program may save can stand in a cell.
`opened` hands the workbook to openpyxl instead, for all that concerns whole rows and tabs.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

from sheets_host.grid import place_of
from tests.packages import LINKS, MAIN, link, relationships

_STRINGS: Final = "xl/sharedStrings.xml"
_STYLES: Final = "xl/styles.xml"
_TYPES: Final = "[Content_Types].xml"
_WORKBOOK_LINKS: Final = "xl/_rels/workbook.xml.rels"
_STRINGS_TYPE: Final = (
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
)
_THREADS: Final = "http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments"
_THREADS_TYPE: Final = "application/vnd.ms-excel.threadedcomments+xml"
_THREADS_LINK: Final = "http://schemas.microsoft.com/office/2017/10/relationships/threadedComment"

for _prefix, _name in (("", MAIN), ("r", LINKS)):
    ET.register_namespace(_prefix, _name)


# --- what can stand in a cell ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Content:
    """What stands in a cell.

    kind: its ``t`` attribute; inner: the XML within ``c``; shared: the XML of its shared string.
    format: a number format's code, or the id of a built-in one; None leaves what is there.
    struck: the whole cell's font is struck out. quoted: typed after an apostrophe.
    """

    kind: str = "n"
    inner: str = ""
    shared: str | None = None
    format: str | int | None = None
    struck: bool = False
    quoted: bool = False


NOTHING: Final = Content()


def number(value: float | str, code: str | int | None = None) -> Content:
    """A number, as written or as Python writes it."""
    return Content("n", f"<v>{value}</v>", format=code)


def text(value: str, code: str | int | None = None) -> Content:
    """A text in the shared strings, where Excel and LibreOffice put it."""
    return Content("s", shared=f'<t xml:space="preserve">{escape(value)}</t>', format=code)


def inline(value: str) -> Content:
    """A text in the cell itself, where programs that write without reading put it."""
    return Content("inlineStr", f'<is><t xml:space="preserve">{escape(value)}</t></is>')


def rich(*runs: tuple[str, bool]) -> Content:
    """A text of runs, each struck out or not."""
    return Content("s", shared="".join(_run(words, struck) for words, struck in runs))


def phonetic(value: str, reading: str) -> Content:
    """A text with its reading above it, as Japanese Excel stores it."""
    above = f'<rPh sb="0" eb="{len(value)}"><t>{escape(reading)}</t></rPh>'
    return Content("s", shared=f"<t>{escape(value)}</t>{above}")


def boolean(value: bool) -> Content:
    return Content("b", f"<v>{int(value)}</v>")


def error(code: str) -> Content:
    return Content("e", f"<v>{escape(code)}</v>")


def formula(words: str, result: Content | None = None) -> Content:
    """A formula without its ``=``; result: what is stored beside it, None where nothing is."""
    start = f"<f>{escape(words)}</f>"
    if result is None:
        return Content("n", start)
    return replace(result, inner=start + result.inner)


def result(value: str) -> Content:
    """A formula's result that is a text."""
    return Content("str", f"<v>{escape(value)}</v>")


def iso_date(value: str) -> Content:
    """A date in words (ECMA-376 part 1, 18.18.11), as some programs write it."""
    return Content("d", f"<v>{value}</v>")


def struck(content: Content) -> Content:
    return replace(content, struck=True)


def quoted(content: Content) -> Content:
    return replace(content, quoted=True)


def _run(words: str, struck: bool) -> str:
    look = "<rPr><strike/></rPr>" if struck else "<rPr><b/></rPr>"
    return f'<r>{look}<t xml:space="preserve">{escape(words)}</t></r>'


# --- the workbook ------------------------------------------------------------------------------


class Workbook:
    """The parts of a workbook that `new` made, to be edited and saved again."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with zipfile.ZipFile(path) as archive:
            self.parts = {name: archive.read(name) for name in archive.namelist()}
        self._trees: dict[str, ET.Element] = {}

    def put(self, tab: str, cell: str, content: Content) -> None:
        """Let this stand in a cell, with the look it had but for what `content` says."""
        element = self._cell(tab, cell)
        style = element.get("s", "0")
        element.clear()
        element.set("r", cell)
        element.set("s", self._style(style, content))
        if content.kind != "n":
            element.set("t", content.kind)
        inner = content.inner
        if content.shared is not None:
            inner = f"{inner}<v>{self._shared(content.shared)}</v>"
        element.extend(ET.fromstring(f'<c xmlns="{MAIN}">{inner}</c>'))

    def merge(self, tab: str, area: str) -> None:
        """Merge an area, its contents left as they are."""
        sheet = self._tree(self.part_of(tab))
        merges = sheet.find(_tag("mergeCells"))
        if merges is None:
            merges = ET.Element(_tag("mergeCells"))
            sheet.insert(list(sheet).index(_must(sheet, "sheetData")) + 1, merges)
        ET.SubElement(merges, _tag("mergeCell"), ref=area)

    def thread(self, tab: str, cell: str, words: str) -> None:
        """Hang a comment of the kind that people can answer on a cell."""
        part = self.part_of(tab)
        folder, _, file = part.rpartition("/")
        links = f"{folder}/_rels/{file}.rels"
        own = (
            f'<Relationship Id="rIdT" Type="{_THREADS_LINK}" Target="../threadedComments/t1.xml"/>'
        )
        if links in self.parts:
            self._put_before(links, "</Relationships>", own)
        else:
            self.parts[links] = relationships(own).encode()
        self.parts["xl/threadedComments/t1.xml"] = (
            f'<ThreadedComments xmlns="{_THREADS}"><threadedComment ref="{cell}"'
            ' dT="2026-01-02T03:04:05.00" personId="{0}" id="{1}">'
            f"<text>{escape(words)}</text></threadedComment></ThreadedComments>"
        ).encode()
        self._declare("xl/threadedComments/t1.xml", _THREADS_TYPE)

    def part_of(self, tab: str) -> str:
        """Return the name of a tab's part."""
        sheets = self._tree("xl/workbook.xml").iter(_tag("sheet"))
        number = next(s.get(f"{{{LINKS}}}id") for s in sheets if s.get("name") == tab)
        links = ET.fromstring(self.parts[_WORKBOOK_LINKS])
        target = next(item.get("Target", "") for item in links if item.get("Id") == number)
        return target.lstrip("/") if target.startswith("/") else f"xl/{target}"

    def save(self) -> None:
        for name, tree in self._trees.items():
            self.parts[name] = ET.tostring(tree, "utf-8", xml_declaration=True)
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name, part in self.parts.items():
                archive.writestr(name, part)
        self.path.write_bytes(data.getvalue())

    def _tree(self, part: str) -> ET.Element:
        if part not in self._trees:
            self._trees[part] = ET.fromstring(self.parts[part])
        return self._trees[part]

    def _cell(self, tab: str, cell: str) -> ET.Element:
        row_number, column = place_of(cell)
        rows = _must(self._tree(self.part_of(tab)), "sheetData")
        row = _in_order(rows, "row", str(row_number), lambda r: int(r.get("r", "0")), row_number)
        return _in_order(row, "c", cell, lambda c: place_of(c.get("r", ""))[1], column)

    def _style(self, style: str, content: Content) -> str:
        """Return the number of a style like this one, with the content's format and font."""
        if content.format is None and not content.struck and not content.quoted:
            return style
        sheet = self._tree(_STYLES)
        xfs = _must(sheet, "cellXfs")
        xf = deepcopy(xfs[int(style)])
        if content.format is not None:
            xf.set("numFmtId", self._format(sheet, content.format))
        if content.struck:
            fonts = _must(sheet, "fonts")
            font = deepcopy(fonts[int(xf.get("fontId", "0"))])
            font.insert(0, ET.Element(_tag("strike")))
            xf.set("fontId", _append(fonts, font))
        if content.quoted:
            xf.set("quotePrefix", "1")
        return _append(xfs, xf)

    def _format(self, sheet: ET.Element, code: str | int) -> str:
        if isinstance(code, int):
            return str(code)
        formats = sheet.find(_tag("numFmts"))
        if formats is None:
            formats = ET.Element(_tag("numFmts"))
            sheet.insert(0, formats)
        number = str(500 + len(formats))
        _append(formats, ET.Element(_tag("numFmt"), numFmtId=number, formatCode=code))
        return number

    def _shared(self, xml: str) -> str:
        if _STRINGS not in self.parts:
            self.parts[_STRINGS] = f'<sst xmlns="{MAIN}"/>'.encode()
            self._put_before(
                _WORKBOOK_LINKS,
                "</Relationships>",
                link("rIdStrings", "sharedStrings", "sharedStrings.xml"),
            )
            self._declare(_STRINGS, _STRINGS_TYPE)
        table = self._tree(_STRINGS)
        return _append(table, ET.fromstring(f'<si xmlns="{MAIN}">{xml}</si>'))

    def _declare(self, part: str, kind: str) -> None:
        self._put_before(_TYPES, "</Types>", f'<Override PartName="/{part}" ContentType="{kind}"/>')

    def _put_before(self, part: str, end: str, xml: str) -> None:
        assert part not in self._trees
        self.parts[part] = self.parts[part].replace(end.encode(), f"{xml}{end}".encode())


def _tag(name: str) -> str:
    return f"{{{MAIN}}}{name}"


def _must(parent: ET.Element, name: str) -> ET.Element:
    found = parent.find(_tag(name))
    assert found is not None
    return found


def _append(table: ET.Element, entry: ET.Element) -> str:
    """Add an entry to a counted table; return its number."""
    table.append(entry)
    table.set("count", str(len(table)))
    return str(len(table) - 1)


_Key = Callable[[ET.Element], int]


def _in_order(parent: ET.Element, name: str, ref: str, key: _Key, wanted: int) -> ET.Element:
    """Return the child of this key, made where it is not there yet."""
    at = sum(key(child) < wanted for child in parent)
    if at < len(parent) and key(parent[at]) == wanted:
        return parent[at]
    made = ET.Element(_tag(name), r=ref)
    parent.insert(at, made)
    return made


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Open a workbook with openpyxl and save it again: for whole rows, columns and tabs."""
    import openpyxl

    book = openpyxl.load_workbook(path, keep_vba=path.suffix == ".xlsm")
    yield book
    book.save(path)


def moved_rows(sheet: Any, order: dict[int, int]) -> None:
    """Put rows in other places, as sorting does: from old row number to new.

    What a formula says of its own row follows it there.
    """
    width = sheet.max_column
    lines = {old: [cell.value for cell in sheet[old][:width]] for old in order}
    for old, new in order.items():
        for column, value in enumerate(lines[old], 1):
            if isinstance(value, str) and value.startswith("="):
                value = re.sub(rf"(\$[A-Z]+){old}\b", rf"\g<1>{new}", value)
            sheet.cell(new, column).value = value
