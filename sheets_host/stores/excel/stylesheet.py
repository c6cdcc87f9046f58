"""Adding the looks that tabs need to a workbook's styles part (ECMA-376 part 1, 18.8).

A style is looked up among those that are there, and appended only where none is equal, so that
writing a tab again adds nothing. What stands in the part keeps its bytes and its index.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NoReturn

from sheets_host.grid import Style
from sheets_host.stores.base import StoreError
from sheets_host.stores.excel.parsing import COMPATIBILITY, MAIN, count_of
from sheets_host.stores.excel.splicing import Edit, Element, Outline, apply, escaped, outline
from sheets_host.stores.excel.texts import on

MAX_XFS: Final = 64_000
"""Excel opens no workbook with more cell formats."""

_ORDER: Final = (  # noqa: SIM905 - reads as the schema does
    "numFmts fonts fills borders cellStyleXfs cellXfs cellStyles dxfs tableStyles colors extLst"
).split()
_FONT_ORDER: Final = (  # noqa: SIM905 - the same
    "b i strike condense extend outline shadow u vertAlign sz color name family charset scheme"
).split()
_BUILT_IN: Final = {"General": 0, "0": 1, "0.00": 2, "#,##0": 3, "#,##0.00": 4, "0%": 9, "@": 49}
_FIRST_OWN_FORMAT: Final = 164  # lower ids belong to Excel, 18.8.30

_Shape = tuple[str, tuple[tuple[str, str], ...], tuple["_Shape", ...]]
"""An element without its place: name, sorted attributes, children."""


class Stylesheet:
    """A styles part that grows as styles are asked for. `name` is the file's, for messages."""

    def __init__(self, data: bytes, part: str, name: str) -> None:
        self._part = part
        self._name = name
        self._outline = outline(data, part, name)
        self._lists = {
            each: _List(self._outline, each, each == "fonts", self._unreadable)
            for each in ("fonts", "fills", "borders", "cellXfs", "dxfs")
        }
        for each in ("fonts", "fills", "borders", "cellXfs"):
            if not self._lists[each].items:
                raise StoreError(
                    f"{name}: the part {part} lists no {each}, so nothing can be added to it.",
                    "Open the workbook in Excel or LibreOffice and save it again.",
                )
        default = self._lists["fonts"].items[0][2]
        if any(tag == MAIN + "strike" and on(dict(attributes)) for tag, attributes, _ in default):
            raise StoreError(
                f"{name}: the workbook's ordinary font is struck out, and what is struck out counts "
                "for nothing.",
                "In Excel, modify the cell style Normal: its font without strikethrough.",
            )
        self._formats, self._format_shapes = self._read_formats()
        self._new_formats: list[str] = []
        self._named = self._outline.root.first(MAIN + "cellStyleXfs") is not None
        self._indexes: dict[Style, int] = {Style(): 0}

    def xf(self, style: Style) -> int:
        """Return a style's index in cellXfs. Raises StoreError beyond what Excel can open."""
        index = self._indexes.get(style)
        if index is None:
            index = self._indexes[style] = self._lists["cellXfs"].index(self._xf(style))
            if len(self._lists["cellXfs"].items) > MAX_XFS:
                raise StoreError(
                    f"{self._name} has {MAX_XFS:,} cell formats already; Excel opens no more.",
                    "Clear unused formats, or copy the tabs into a new workbook.",
                )
        return index

    def dxf(self, style: Style) -> int:
        """Return the index in dxfs for what a conditional format shows (18.8.14)."""
        font = "".join(
            (
                "<b/>" if style.bold else "",
                "<i/>" if style.italic else "",
                f'<color rgb="FF{style.ink}"/>' if style.ink else "",
            )
        )
        fill = f'<fill><patternFill><bgColor rgb="FF{style.fill}"/></patternFill></fill>'
        return self._lists["dxfs"].index(
            f"<dxf>{f'<font>{font}</font>' if font else ''}{fill if style.fill else ''}</dxf>"
        )

    def to_bytes(self) -> bytes:
        """Return the part, with what was added."""
        edits: list[Edit] = []
        if self._new_formats:
            edits += self._appended("numFmts", self._new_formats, len(self._format_shapes))
        for name, each in self._lists.items():
            if each.added:
                edits += self._appended(name, each.added, len(each.items))
        return apply(self._outline.data, edits)

    # --- pieces -------------------------------------------------------------------------------

    def _xf(self, style: Style) -> str:
        font = self._font(style)
        fill = border = number = 0
        if style.fill:
            fill = self._lists["fills"].index(
                '<fill><patternFill patternType="solid">'
                f'<fgColor rgb="FF{style.fill}"/><bgColor indexed="64"/></patternFill></fill>'
            )
        if style.line:
            border = self._lists["borders"].index(
                '<border><left/><right/><top/><bottom style="thin">'
                f'<color rgb="FF{style.line}"/></bottom><diagonal/></border>'
            )
        number = self._format(style.number)
        alignment = "".join(
            (
                f' horizontal="{style.align}"' if style.align else "",
                ' vertical="top"' if style.top else "",
                ' wrapText="1"' if style.wrap else "",
            )
        )
        attributes = "".join(
            (
                f'numFmtId="{number}" fontId="{font}" fillId="{fill}" borderId="{border}"',
                ' xfId="0"' if self._named else "",
                ' applyNumberFormat="1"' if number else "",
                ' applyFont="1"' if font else "",
                ' applyFill="1"' if fill else "",
                ' applyBorder="1"' if border else "",
                ' applyAlignment="1"' if alignment else "",
            )
        )
        inner = f"<alignment{alignment}/>" if alignment else ""
        return f"<xf {attributes}>{inner}</xf>" if inner else f"<xf {attributes}/>"

    def _font(self, style: Style) -> int:
        """Return the index of the workbook's own default font with the style's changes."""
        if not (style.bold or style.italic or style.size or style.ink):
            return 0
        changes = {
            "b": "<b/>" if style.bold else None,
            "i": "<i/>" if style.italic else None,
            "sz": f'<sz val="{style.size}"/>' if style.size else None,
            "color": f'<color rgb="FF{style.ink}"/>' if style.ink else None,
        }
        default = self._lists["fonts"].items[0]
        children = {child[0].removeprefix(MAIN): _markup(child) for child in default[2]}
        children |= {name: markup for name, markup in changes.items() if markup}
        # Excel reads the children in this order only, and some programs write another.
        inner = "".join(children[name] for name in _FONT_ORDER if name in children)
        return self._lists["fonts"].index(f"<font>{inner}</font>")

    def _format(self, code: str) -> int:
        if code in _BUILT_IN:
            return _BUILT_IN[code]
        if code not in self._formats:
            number = max(_FIRST_OWN_FORMAT - 1, *self._formats.values(), 0) + 1
            self._formats[code] = number
            markup = f'<numFmt numFmtId="{number}" formatCode="{escaped(code)}"/>'
            self._new_formats.append(markup)
            self._format_shapes.append(markup)
        return self._formats[code]

    def _read_formats(self) -> tuple[dict[str, int], list[str]]:
        parent = self._outline.root.first(MAIN + "numFmts")
        found: dict[str, int] = {}
        every: list[str] = []
        for child in parent.all(MAIN + "numFmt") if parent else ():
            number = count_of(child.attributes.get("numFmtId"))
            if number is None:
                self._unreadable("numFmts")
            found.setdefault(child.attributes.get("formatCode", ""), number)
            every.append(str(number))
        return found, every

    def _appended(self, name: str, added: list[str], count: int) -> list[Edit]:
        out = self._outline
        parent = out.root.first(MAIN + name)
        if parent:
            return [
                *out.set_attributes(parent, {"count": str(count)}),
                out.insert(parent, out.markup("".join(added))),
            ]
        whole = f'<{name} count="{count}">{"".join(added)}</{name}>'
        return [out.insert(out.root, out.markup(whole), out.place(name, _ORDER))]

    def _unreadable(self, what: str) -> NoReturn:
        raise StoreError(
            f"{self._name}: the {what} of the part {self._part} hold something unknown, so their "
            "numbers cannot be told.",
            "Open the workbook in Excel or LibreOffice and save it again.",
        )


class _List:
    """One list of the styles part: what is in it by index, and what is to be appended."""

    def __init__(
        self, out: Outline, name: str, unordered: bool, refuse: Callable[[str], None]
    ) -> None:
        self.added: list[str] = []
        self._unordered = unordered
        parent = out.root.first(MAIN + name)
        self.items: list[_Shape] = [
            _shape(child) for child in (_effective(parent, name, refuse) if parent else ())
        ]
        self._known: dict[_Shape, int] = {}
        for index, shape in enumerate(self.items):
            self._known.setdefault(self._key(shape), index)

    def index(self, markup: str) -> int:
        """Return where this markup's equal stands; at the end, if it was new."""
        element = outline(
            f'<x xmlns="{MAIN.strip()}">{markup}</x>'.encode(), "styles", "new"
        ).root.children[0]
        shape = _shape(element)
        found = self._known.get(self._key(shape))
        if found is None:
            found = self._known[self._key(shape)] = len(self.items)
            self.items.append(shape)
            self.added.append(markup)
        return found

    def _key(self, shape: _Shape) -> _Shape:
        shape = _plain(shape)
        return (*shape[:2], tuple(sorted(shape[2]))) if self._unordered else shape


def _effective(parent: Element, name: str, refuse: Callable[[str], None]) -> Iterator[Element]:
    """Yield a list's items, each choice (ECMA-376 part 3, 10.2) as the one it counts for."""
    for child in parent.children:
        if child.name != COMPATIBILITY + "AlternateContent":
            if not child.name.endswith("extLst"):
                yield child
            continue
        offers = [[*choice.children] for choice in child.children]
        if not offers or any(len(offer) != 1 for offer in offers):
            refuse(name)
        yield offers[-1][0]


def _shape(element: Element) -> _Shape:
    return (
        element.name,
        tuple(sorted(element.attributes.items())),
        tuple(_shape(child) for child in element.children),
    )


_SAID: Final = {"val": ("1", "true"), "pivotButton": ("0", "false"), "quotePrefix": ("0", "false")}
"""Attributes of styles that some programs write out though they say what holds without them."""


def _plain(shape: _Shape) -> _Shape:
    """Return an element as it reads without what goes without saying: ``<b val="1"/>`` is ``<b/>``.

    Else each program that saves the workbook in its own manner would leave us its styles again.
    What ``applyFont`` and the like say follows from the ids, unless they deny it.
    """
    name, attributes, children = shape
    kept = tuple(
        (key, value)
        for key, value in attributes
        if value not in _SAID.get(key, ())
        and not (key.startswith("apply") and value in ("1", "true"))
    )
    return name, kept, tuple(map(_plain, children))


def _markup(shape: _Shape) -> str:
    """Write an element of the main namespace again; attributes of other namespaces are left out."""
    name = shape[0].removeprefix(MAIN)
    attributes = "".join(f' {key}="{escaped(value)}"' for key, value in shape[1] if " " not in key)
    inner = "".join(_markup(child) for child in shape[2] if child[0].startswith(MAIN))
    return f"<{name}{attributes}>{inner}</{name}>" if inner else f"<{name}{attributes}/>"
