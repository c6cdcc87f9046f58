"""Changing an XML part in place: find elements by their byte offsets, cut and paste around them.

Whatever is not cut or pasted stays byte for byte as its program wrote it: declarations, prefixes,
spacing, extensions that nobody here has heard of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from sheets_host.stores.excel.parsing import MAIN, counter, feed, parser_of

Edit = tuple[int, int, bytes]
"""From this offset to that one, put these bytes instead."""

# Possessive, since each step that could be taken back would be kept in memory.
_TAG: Final = re.compile(rb"""<(?:[^"'>]++|"[^"]*+"|'[^']*+')*+>""")
_QNAME: Final = re.compile(rb"<(?:([^\s:/>]+):)?")
_ATTRIBUTE: Final = re.compile(rb"""\s([^\s=]+)\s*=\s*("[^"]*"|'[^']*')""")
_UNSAFE: Final = re.compile('[&<>"\x00-\x1f\ufffe\uffff\ud800-\udfff]')
_NAMED: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"}


@dataclass(slots=True)
class Element:
    """An element of a part and where its bytes lie.

    name: ``namespace local``. start: its ``<``; inner: what follows its start tag; close: its end
    tag's ``<``; end: what follows it. For ``<a/>`` inner, close and end are the same.
    """

    name: str
    attributes: dict[str, str]
    start: int
    inner: int
    close: int = 0
    end: int = 0
    children: list[Element] = field(default_factory=list)

    def all(self, name: str) -> Iterator[Element]:
        """Yield the children of this name."""
        return (child for child in self.children if child.name == name)

    def first(self, name: str) -> Element | None:
        """Return the first child of this name, if any."""
        return next(self.all(name), None)


@dataclass(frozen=True, slots=True)
class Outline:
    """A part's bytes, its root element, and the prefix that its names carry (``x:`` or none)."""

    data: bytes
    root: Element
    prefix: str

    def insert(self, parent: Element, markup: bytes, before: int | None = None) -> Edit:
        """Put markup into an element: before an offset within it, or at its end."""
        if parent.inner != parent.end:
            at = parent.close if before is None else before
            return at, at, markup
        # <a/> becomes <a>…</a>.
        tag = self.data[parent.start : parent.end]
        name = re.match(rb"<([^\s/>]+)", tag)
        assert name
        return parent.end - 2, parent.end, b">" + markup + b"</" + name[1] + b">"

    def set_attributes(self, element: Element, values: dict[str, str]) -> list[Edit]:
        """Set attributes that carry no prefix, or add them."""
        tag_end = element.inner
        present = {
            match[1].decode(): match.span(2)
            for match in _ATTRIBUTE.finditer(self.data, element.start, tag_end)
        }
        edits: list[Edit] = []
        for name, value in values.items():
            quoted = f'"{escaped(value)}"'.encode("ascii", "xmlcharrefreplace")
            if name in present:
                edits.append((*present[name], quoted))
            else:
                at = tag_end - (2 if self.data[tag_end - 2 : tag_end] == b"/>" else 1)
                edits.append((at, at, b" " + name.encode() + b"=" + quoted))
        return edits

    def place(self, name: str, order: Sequence[str]) -> int | None:
        """Return the offset before which a child of the root must stand, by its schema's order.

        name and order: local names of the main namespace. None: at the root's end.
        """
        later = {MAIN + each for each in order[order.index(name) + 1 :]}
        return next((child.start for child in self.root.children if child.name in later), None)

    def markup(self, text: str) -> bytes:
        """Return markup of the main namespace with this part's prefix, in plain ASCII.

        ASCII, since a part may declare an encoding that cannot hold every character.
        """
        if self.prefix:
            text = re.sub(r"<(/?)(?=[A-Za-z])", rf"<\1{self.prefix}", text)
        return text.encode("ascii", "xmlcharrefreplace")


def outline(data: bytes, part: str, name: str, *, hollow: str = "") -> Outline:
    """Read where a part's elements lie. Raises StoreError for broken XML, and for too much of it.

    hollow: the local name of an element, directly under the root, whose content is not looked at;
    a sheet's rows can be many megabytes.
    """
    gap_from, gap_to = _gap(data, hollow) if hollow else (len(data), len(data))
    shift = gap_to - gap_from
    parser = parser_of(part, name)
    roots: list[Element] = []
    stack: list[Element] = []
    count = counter(part, name)

    def opened(tag: str, attributes: dict[str, str]) -> None:
        count(attributes)
        at = parser.CurrentByteIndex
        at += shift if at >= gap_from else 0
        match = _TAG.match(data, at)
        assert match, "expat found a tag here"
        element = Element(tag, attributes, at, match.end())
        (stack[-1].children if stack else roots).append(element)
        stack.append(element)

    def closed(_tag: str) -> None:
        at = parser.CurrentByteIndex
        at += shift if at >= gap_from else 0
        element = stack.pop()
        if data[element.inner - 2 : element.inner] == b"/>":
            element.close = element.end = element.inner
        else:
            element.close, element.end = at, data.index(b">", at) + 1

    parser.StartElementHandler = opened
    parser.EndElementHandler = closed
    feed(parser, [data[:gap_from], data[gap_to:]], part, name)
    root = roots[0]
    prefix = _QNAME.match(data, root.start)
    assert prefix
    return Outline(data, root, f"{prefix[1].decode()}:" if prefix[1] else "")


def _gap(data: bytes, hollow: str) -> tuple[int, int]:
    """Return where an element's content begins and ends; nothing where it has none.

    Nor where the part holds comments or the like, which may hide look-alikes of its tags.
    """
    if b"<!" in data or data.count(b"<?") > 1:
        return len(data), len(data)
    opening = re.search(rb"<(?:[^\s:/<>!?]+:)?" + hollow.encode() + rb"(?:\s[^>]*)?>", data)
    if opening and not opening[0].endswith(b"/>"):
        name = re.match(rb"<([^\s/>]+)", opening[0])
        assert name
        end = data.rfind(b"</" + name[1])
        if end >= opening.end():
            return opening.end(), end
    return len(data), len(data)


def apply(data: bytes, edits: Iterable[Edit]) -> bytes:
    """Carry out edits that do not overlap; those at one place keep their order."""
    pieces: list[bytes] = []
    at = 0
    for start, end, new in sorted(edits, key=lambda edit: edit[:2]):
        assert start >= at, "edits overlap"
        pieces += (data[at:start], new)
        at = end
    pieces.append(data[at:])
    return b"".join(pieces)


def escaped(text: str) -> str:
    """Return text as an attribute's value or an element's content holds it.

    U+FFFD stands for what XML cannot hold at all.
    """
    return _UNSAFE.sub(_reference, text)


def _reference(match: re.Match[str]) -> str:
    sign = match[0]
    if sign in "\t\r\n":
        return f"&#{ord(sign)};"
    return _NAMED.get(sign, "\ufffd")
