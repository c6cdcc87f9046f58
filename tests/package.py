"""Reads a workbook's package: its parts, what they say of each other, and its cells.

With the standard library alone, and without a word of the code that it is to check.
"""

from __future__ import annotations

import functools
import posixpath
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

CONTENT_TYPES: Final = "[Content_Types].xml"


@dataclass(frozen=True, slots=True)
class Relationship:
    """A relationship of a part (ECMA-376 part 2, 6.5); target is the part's name, or a link."""

    source: str
    id: str
    kind: str  # the last word of its type
    target: str
    external: bool


@dataclass(frozen=True, slots=True)
class Sheet:
    """A tab as the workbook lists it."""

    title: str
    part: str
    state: str


@dataclass(frozen=True, slots=True)
class CellContent:
    """What a cell holds and how it looks, with every index resolved.

    value, formula, look and the rest are canonical XML where they are XML: equal text, equal cell.
    """

    kind: str
    value: str
    formula: str
    number_format: str
    font: str
    fill: str
    border: str
    other: str  # alignment, protection and the cell's own attributes


class Package:
    """The parts of a workbook, and what they say of each other."""

    def __init__(self, source: Path | bytes) -> None:
        file = BytesIO(source) if isinstance(source, bytes) else source
        with zipfile.ZipFile(file) as archive:
            names = archive.namelist()
            assert len(names) == len(set(names)), "an entry stands twice in the package"
            self.parts = {name: archive.read(name) for name in names if not name.endswith("/")}

    @functools.cached_property
    def relationships(self) -> frozenset[Relationship]:
        found = set()
        for name in self.parts:
            folder, file = posixpath.split(name)
            if not (folder.endswith("_rels") and file.endswith(".rels")):
                continue
            base = posixpath.dirname(folder)
            source = posixpath.join(base, file.removesuffix(".rels"))
            for item in self.tree(name):
                external = item.get("TargetMode") == "External"
                target = item.get("Target", "")
                if not external:
                    joined = posixpath.join("/", base, target.replace("\\", "/"))
                    target = self._cased(posixpath.normpath(joined).lstrip("/"))
                kind = item.get("Type", "").rpartition("/")[2]
                found.add(Relationship(source, item.get("Id", ""), kind, target, external))
        return frozenset(found)

    def _cased(self, part: str) -> str:
        """Part names are equal without regard to case (ECMA-376 part 2, 6.2.2.3)."""
        if part in self.parts:
            return part
        return next((name for name in self.parts if name.lower() == part.lower()), part)

    @functools.cached_property
    def content_types(self) -> Mapping[str, str]:
        """The content type of every part, and of every ending (``.xml``) as declared."""
        return {
            "." + item.get("Extension", "").lower()
            if local(item) == "Default"
            else item.get("PartName", "").lstrip("/"): item.get("ContentType", "")
            for item in self.tree(CONTENT_TYPES)
        }

    @functools.cached_property
    def workbook_part(self) -> str:
        return next(
            (r.target for r in self.relationships if r.source == "" and r.kind == "officeDocument"),
            "",
        )

    @functools.cached_property
    def sheets(self) -> tuple[Sheet, ...]:
        targets = {r.id: r.target for r in self.relationships if r.source == self.workbook_part}
        listed = []
        for item in self._found(self.workbook_part, "sheets/sheet"):
            ids = [v for k, v in item.attrib.items() if k.endswith("}id")]
            part = targets.get(ids[0], "") if ids else ""
            listed.append(Sheet(item.get("name", ""), part, item.get("state", "visible")))
        return tuple(listed)

    @functools.cached_property
    def extensions(self) -> Mapping[tuple[str, str], int]:
        """How often each (part, uri) stands in an extension list, however deep."""
        return Counter(
            (name, item.get("uri", ""))
            for name, data in self.parts.items()
            if b"extLst" in data and name.endswith(".xml")
            for item in self._found(name, ".//extLst/ext")
            if item.get("uri")
        )

    def part_of(self, title: str) -> str:
        return next((sheet.part for sheet in self.sheets if sheet.title == title), "")

    def part_of_kind(self, kind: str) -> str:
        """The workbook's part of a kind, such as ``styles``; empty where there is none."""
        return next(
            (
                r.target
                for r in self.relationships
                if r.source == self.workbook_part and r.kind == kind
            ),
            "",
        )

    def cells(self, title: str) -> dict[str, CellContent]:
        """Every cell of a tab that has an entry of its own, by address."""
        part = self.part_of(title)
        if part not in self.parts:
            return {}
        found: dict[str, CellContent] = {}
        for cell in self._found(part, "sheetData/row/c"):
            found[cell.get("r", f"?{len(found)}")] = self._cell(cell)
        return found

    def unstyled(self, title: str) -> Iterable[str]:
        """Say which cells of a tab point to a style that is not there."""
        for cell in self._found(self.part_of(title), "sheetData/row/c"):
            if int(cell.get("s", "0")) >= max(1, len(self._styles)):
                where = f"{title!r} {cell.get('r')}"
                yield f"{where} points to style {cell.get('s')} of {len(self._styles)}"

    def _cell(self, cell: ET.Element) -> CellContent:
        own = {local(child): child for child in cell}
        kind = cell.get("t", "n")
        value = "".join(own["v"].itertext()) if "v" in own else ""
        if kind == "s" and value:
            kind, value = "text", self._strings[int(value)]
        elif kind == "inlineStr" and "is" in own:
            kind, value = "text", children(own["is"])
        index = int(cell.get("s", "0"))
        style = self._styles[index] if index < len(self._styles) else ("", "", "", "", "no style")
        rest = " ".join(f"{k}={v}" for k, v in cell.attrib.items() if k not in {"r", "s", "t"})
        formula = canonical(own["f"]) if "f" in own else ""
        return CellContent(kind, value, formula, *style[:4], f"{style[4]} {rest}".strip())

    @functools.cached_property
    def _strings(self) -> list[str]:
        part = self.part_of_kind("sharedStrings")
        return [children(item) for item in self._found(part, "si")]

    @functools.cached_property
    def _styles(self) -> list[tuple[str, str, str, str, str]]:
        part = self.part_of_kind("styles")
        codes = {
            i.get("numFmtId"): i.get("formatCode", "") for i in self._found(part, "numFmts/numFmt")
        }
        tables = {
            name: [canonical(child) for table in self._found(part, name) for child in table]
            for name in ("fonts", "fills", "borders")
        }

        def looked_up(table: str, xf: ET.Element, attribute: str) -> str:
            index = int(xf.get(attribute, "0"))
            return tables[table][index] if index < len(tables[table]) else f"missing {index}"

        styles = []
        for table in self._found(part, "cellXfs"):
            for xf in table:
                number = xf.get("numFmtId", "0")
                flags = "".join(f" {k}={v}" for k, v in sorted(xf.items()) if not k.endswith("Id"))
                styles.append(
                    (
                        codes.get(number, f"built-in {number}"),
                        looked_up("fonts", xf, "fontId"),
                        looked_up("fills", xf, "fillId"),
                        looked_up("borders", xf, "borderId"),
                        children(xf) + flags,
                    )
                )
        return styles

    def tree(self, part: str) -> ET.Element:
        return ET.fromstring(self.parts[part])

    def _found(self, part: str, path: str) -> Iterable[ET.Element]:
        """Elements at a path of local names, in whatever namespace (transitional or strict)."""
        if part not in self.parts:
            return ()
        return self.tree(part).iterfind(re.sub(r"\w+", r"{*}\g<0>", path))


def local(element: ET.Element) -> str:
    return element.tag.rpartition("}")[2]


def canonical(element: ET.Element) -> str:
    """Return an element as text that does not depend on prefixes or on the order of attributes."""
    attributes = "".join(f' {k}="{v}"' for k, v in sorted(element.attrib.items()))
    return f"<{local(element)}{attributes}>{element.text or ''}{children(element)}</>"


def children(element: ET.Element) -> str:
    children = list(element)
    if len(children) == 1 and local(children[0]) == "t":  # plain text, shared or inline alike
        return children[0].text or ""
    return "".join(map(canonical, children))
