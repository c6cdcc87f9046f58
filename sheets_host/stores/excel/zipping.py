"""Writing a package's zip anew: parts that do not change keep their packed bytes.

The same input gives the same bytes: changed parts keep the time of the entry they replace, new
ones carry the earliest time that a zip can hold.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from typing import Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipInfo

from sheets_host.stores.base import StoreError
from sheets_host.stores.excel.package import Package

_LOCAL: Final = struct.Struct("<4s5H3L2H")
_CENTRAL: Final = struct.Struct("<4s6H3L5H2L")
_END: Final = struct.Struct("<4s4H2LH")
_UTF8: Final = 0x800
_DESCRIPTOR: Final = 0x8  # sizes stand behind the data; here they stand before it
_EPOCH: Final = (1980, 1, 1, 0, 0, 0)
_LIMIT: Final = 0xFFFFFFFF


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
