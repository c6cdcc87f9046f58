"""A package under change: parts, relationships and content types, on top of an opened one."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from typing import Final

from sheets_host.stores.excel.package import CONTENT_TYPES, Package
from sheets_host.stores.excel.splice import apply, escaped, outline

RELATIONSHIPS: Final = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
TYPES: Final = "http://schemas.openxmlformats.org/package/2006/content-types"
DECLARATION: Final = b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'


class Parts:
    """What a package shall hold. changed: new contents by name; dropped: names of parts to go."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.changed: dict[str, bytes] = {}
        self.dropped: set[str] = set()
        self._taken = {name.lstrip("/").casefold() for name in package.names}

    def get(self, part: str) -> bytes:
        """Return a part as it now stands. Raises StoreError where it is missing."""
        return self.changed[part] if part in self.changed else self.package.part(part)

    def put(self, part: str, data: bytes) -> None:
        """Set a part's contents; nothing changes where they are the same."""
        if part not in self.changed and self.package.has(part) and self.package.part(part) == data:
            return
        self.changed[part] = data

    def new_name(self, pattern: str) -> str:
        """Return the first free name of a pattern such as ``xl/worksheets/sheet{}.xml``.

        A name is taken, too, where relationships of a part of that name were left behind.
        """
        number = 1
        while True:
            name = pattern.format(number)
            rels = self.package.relationships_part(name)
            if not self._taken & {name.casefold(), rels.casefold()}:
                self._taken.add(name.casefold())
                return name
            number += 1

    def add(self, pattern: str, content_type: str, data: bytes) -> str:
        """Add a part with its content type; return its name."""
        name = self.new_name(pattern)
        self.changed[name] = data
        self._declare(name, content_type)
        return name

    def drop(self, source: str, kind: str) -> None:
        """Drop the parts of a kind that `source` has, with relationship and content type."""
        links = [link for link in self.package.related(source, kind) if not link.external]
        targets = {link.target for link in links if self.package.has(link.target)}
        if not links:
            return
        self.dropped |= targets
        rels = self.package.relationships_part(source)
        out = outline(self.get(rels), rels, self.package.name)
        ids = {link.id for link in links}
        self.put(
            rels,
            apply(
                out.data,
                [
                    (each.start, each.end, b"")
                    for each in out.root.children
                    if each.attributes.get("Id") in ids
                ],
            ),
        )
        self._undeclare(targets)

    def link(self, source: str, kind: str, target: str) -> str:
        """Add a relationship from one part to another; return its id."""
        rels = self.package.relationships_part(source)
        if rels not in self.changed and not self.package.has(rels):
            root = f'<Relationships xmlns="{RELATIONSHIPS}"></Relationships>'
            self.changed[rels] = DECLARATION + root.encode()
        out = outline(self.get(rels), rels, self.package.name)
        taken = {each.attributes.get("Id", "").casefold() for each in out.root.children}
        number = len(taken) + 1
        while f"rid{number}" in taken:
            number += 1
        path = posixpath.relpath("/" + target, "/" + posixpath.dirname(source))
        markup = f'<Relationship Id="rId{number}" Type="{OFFICE}{kind}" Target="{escaped(path)}"/>'
        self.put(rels, apply(out.data, [out.insert(out.root, out.markup(markup))]))
        return f"rId{number}"

    def _declare(self, part: str, content_type: str) -> None:
        name = self._content_types()
        out = outline(self.get(name), name, self.package.name)
        markup = f'<Override PartName="/{escaped(part)}" ContentType="{content_type}"/>'
        self.put(name, apply(out.data, [out.insert(out.root, out.markup(markup))]))

    def _undeclare(self, parts: Iterable[str]) -> None:
        gone = {part.lstrip("/").casefold() for part in parts}
        name = self._content_types()
        out = outline(self.get(name), name, self.package.name)
        self.put(
            name,
            apply(
                out.data,
                [
                    (each.start, each.end, b"")
                    for each in out.root.children
                    if each.attributes.get("PartName", "").lstrip("/").casefold() in gone
                ],
            ),
        )

    def _content_types(self) -> str:
        return self.package.info(CONTENT_TYPES).orig_filename
