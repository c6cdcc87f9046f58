"""A package under change: parts, relationships, content types, and in the end a new zip.

Parts that do not change keep their packed bytes. The same input gives the same bytes: changed
parts keep the time of the entry they replace, new ones carry the earliest that a zip can hold.
"""

from __future__ import annotations

import posixpath
import struct
import zlib
from collections.abc import Iterable, Mapping
from typing import Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipInfo

from sheets_host.stores.base import StoreError
from sheets_host.stores.excel.package import CONTENT_TYPES, Package
from sheets_host.stores.excel.preflight import MAX_PART
from sheets_host.stores.excel.splicing import apply, escaped, outline

RELATIONSHIPS: Final = "http://schemas.openxmlformats.org/package/2006/relationships"
OFFICE: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
TYPES: Final = "http://schemas.openxmlformats.org/package/2006/content-types"
_LINKS: Final = "application/vnd.openxmlformats-package.relationships+xml"
DECLARATION: Final = b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'

_LOCAL: Final = struct.Struct("<4s5H3L2H")
_CENTRAL: Final = struct.Struct("<4s6H3L5H2L")
_END: Final = struct.Struct("<4s4H2LH")
_UTF8: Final = 0x800
_DESCRIPTOR: Final = 0x8  # sizes stand behind the data; here they stand before it
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
_LIMIT: Final = 0xFFFFFFFF


class Parts:
    """What a package shall hold. changed: new contents by name; dropped: names of parts to go."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.changed: dict[str, bytes] = {}
        self.dropped: set[str] = set()
        self._taken = _names_in_use(package)
        self._declared: list[str] = []  # markup
        self._linked: dict[str, list[str]] = {}  # markup by relationships part
        self._ids: dict[str, set[str]] = {}  # of relationships, by part

    def get(self, part: str, most: int = MAX_PART) -> bytes:
        """Return a part as it now stands. Raises StoreError where it is missing or too large."""
        return self.changed[part] if part in self.changed else self.package.unpacked(part, most)

    def put(self, part: str, data: bytes) -> None:
        """Set a part's contents; nothing changes where they are the same."""
        if part in self.changed or not self._holds(part, data):
            self.changed[part] = data

    def _holds(self, part: str, data: bytes) -> bool:
        package = self.package  # a large part is not unpacked to see that it has another size
        same_size = package.has(part) and package.info(part).file_size == len(data)
        return same_size and b"".join(package.pieces(part)) == data

    def new_name(self, pattern: str) -> str:
        """Return the first free name of a pattern such as ``xl/worksheets/sheet{}.xml``.

        A name is taken, too, where a part that is gone has left its relationships behind, its
        content type, or a relationship by which it was a tab.
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
        if rels not in self._ids:
            standing = self.package.related(source)
            self._ids[rels] = {link.id.casefold() for link in standing}
        taken = self._ids[rels]
        number = len(taken) + 1
        while f"rid{number}" in taken:
            number += 1
        taken.add(f"rid{number}")
        path = posixpath.relpath("/" + target, "/" + posixpath.dirname(source))
        self._linked.setdefault(rels, []).append(
            f'<Relationship Id="rId{number}" Type="{OFFICE}{kind}" Target="{escaped(path)}"/>'
        )
        return f"rId{number}"

    def settle(self) -> None:
        """Write down the relationships and content types of what was added, all at once."""
        for rels, links in self._linked.items():
            if rels not in self.changed and not self.package.has(rels):
                self._declare_links()
                root = f'<Relationships xmlns="{RELATIONSHIPS}"></Relationships>'
                self.changed[rels] = DECLARATION + root.encode()
            self._append(rels, links)
        if self._declared:
            self._append(self._content_types(), self._declared)
        self._linked, self._declared = {}, []

    def _append(self, part: str, markup: list[str]) -> None:
        out = outline(self.get(part), part, self.package.name)
        self.put(part, apply(out.data, [out.insert(out.root, out.markup("".join(markup)))]))

    def _declare(self, part: str, content_type: str) -> None:
        self._declared.append(
            f'<Override PartName="/{escaped(part)}" ContentType="{content_type}"/>'
        )

    def _declare_links(self) -> None:
        """Declare the ending of relationships parts, if the package names each of its own alone."""
        default = f'<Default Extension="rels" ContentType="{_LINKS}"/>'
        if "rels" not in self.package.content_types.defaults and default not in self._declared:
            self._declared.append(default)

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


def _names_in_use(package: Package) -> set[str]:
    """Return the names of parts that are there, or that the package's lists speak of."""
    names = {name.lstrip("/").casefold() for name in package.names}
    links = package.related(package.workbook)
    targets = {link.target.casefold() for link in links if not link.external}
    return names | package.content_types.overrides.keys() | targets


# --- the zip -----------------------------------------------------------------------------------


def rewrite(
    package: Package, changed: Mapping[str, bytes], dropped: frozenset[str] = frozenset()
) -> bytes:
    """Return a zip with some parts changed or added, others dropped, the rest untouched.

    changed: contents by part name, as the zip has it; names that are not there are added at the
    end, in the mapping's order. Raises StoreError for a file beyond 4 GB.
    """
    pieces: list[bytes | memoryview] = []
    directory: list[bytes] = []
    offset = 0

    def add(entry: ZipInfo, name: str, data: bytes | memoryview) -> None:
        nonlocal offset
        raw = name.encode("utf-8" if entry.flag_bits & _UTF8 else "cp437")
        flags = entry.flag_bits & ~_DESCRIPTOR
        numbers = (
            entry.extract_version,
            flags,
            entry.compress_type,
            *_dos_time(entry),
            entry.CRC,
            entry.compress_size,
            entry.file_size,
            len(raw),
        )
        if max(offset, entry.compress_size, entry.file_size) >= _LIMIT:
            raise StoreError(f"{package.name} is larger than 4 GB.", "Start a new workbook.")
        local = _LOCAL.pack(b"PK\x03\x04", *numbers, 0) + raw
        system = entry.create_system << 8 | entry.create_version
        directory.append(
            _CENTRAL.pack(
                b"PK\x01\x02",
                system,
                *numbers,
                0,
                len(entry.comment),
                0,
                entry.internal_attr,
                entry.external_attr,
                offset,
            )
            + raw
            + entry.comment
        )
        pieces.extend((local, data))
        offset += len(local) + len(data)

    for info in package.infos:
        name = info.orig_filename
        if name in dropped:
            continue
        if name in changed:
            add(*_packed(name, changed[name], info.date_time, info.flag_bits & _UTF8))
        else:
            add(info, name, package.packed(name))
    known = frozenset(package.names)
    for name, data in changed.items():
        if name not in known:
            add(*_packed(name, data, _EPOCH, 0 if name.isascii() else _UTF8))
    size = sum(map(len, directory))
    count = len(directory)
    end = _END.pack(b"PK\x05\x06", 0, 0, count, count, size, offset, 0)
    return b"".join((*pieces, *directory, end))


def _packed(
    name: str, data: bytes, time: tuple[int, int, int, int, int, int], flags: int
) -> tuple[ZipInfo, str, bytes]:
    deflater = zlib.compressobj(6, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed = deflater.compress(data) + deflater.flush()
    entry = ZipInfo("part", time)
    entry.create_system = 0
    entry.compress_type = ZIP_DEFLATED if len(packed) < len(data) else ZIP_STORED
    if entry.compress_type == ZIP_STORED:
        packed = data
    entry.flag_bits = flags
    entry.CRC = zlib.crc32(data)
    entry.compress_size = len(packed)
    entry.file_size = len(data)
    return entry, name, packed


def _dos_time(entry: ZipInfo) -> tuple[int, int]:
    """Return time and date as MS-DOS packs them (PKWARE APPNOTE 4.4.6)."""
    year, month, day, hour, minute, second = entry.date_time
    return hour << 11 | minute << 5 | second // 2, (year - 1980) << 9 | month << 5 | day
