"""Is this file a workbook at all, and one that can be opened without harm?

Everything here looks at the bytes and at the zip's directory (PKWARE APPNOTE 4.3); no part is
unpacked yet. Whatever is wrong ends in a StoreError that says what the file is and what to do.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import Final, NoReturn

from sheets_host.stores.base import StoreError

MAX_FILE: Final = 256 << 20
"""Bytes of the file itself."""
MAX_UNPACKED: Final = 1 << 30
"""Bytes of all parts together, as the zip declares them. Only a few of them are ever unpacked."""
MAX_PARTS: Final = 20_000
MAX_PART: Final = 64 << 20
"""Bytes of one part that is unpacked as a whole; sheets are read piece by piece instead."""
MAX_SHEET: Final = 256 << 20
"""Bytes of a sheet that gets new rows: it may carry formats of a million empty ones."""

_SAVE_AGAIN: Final = 'Open it in Excel or LibreOffice and save it as "Excel Workbook (.xlsx)".'
_RESTORE: Final = "Restore an earlier copy of the file, or download or save it again."

_END: Final = b"PK\x05\x06"
_END_SIZE: Final = 22
_ZIP64_END: Final = b"PK\x06\x06"
_ZIP64_LOCATOR: Final = b"PK\x06\x07"
_LOCAL: Final = b"PK\x03\x04"
_LOCAL_SIZE: Final = 30
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_LONGEST_ENTRY: Final = 200  # bytes of the directory for one part, on average
_ENCRYPTED_FLAGS: Final = 0x1 | 0x40 | 0x2000


def entries(data: bytes, name: str) -> tuple[zipfile.ZipInfo, ...]:
    """Return the zip's entries in the order of its directory, once they are known to be sound.

    name: what people call the file, for the messages.
    Raises StoreError for anything but a plain zip that lies within the bounds above.
    """
    _sniff(data, name)
    _bound_directory(data, name)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = tuple(archive.infolist())
            directory = archive.start_dir
    except (
        zipfile.BadZipFile,
        zipfile.LargeZipFile,
        NotImplementedError,
        ValueError,  # takes in UnicodeDecodeError; negative seeks raise it too
        OverflowError,
        OSError,
        struct.error,
        EOFError,
        RuntimeError,
        IndexError,
    ) as error:
        _damaged(name, str(error), error)
    if len(infos) > MAX_PARTS:  # the end record may have lied
        _too_many_parts(name)
    _check_names(infos, name)
    _check_entries(infos, name)
    _check_places(data, infos, directory, name)
    return infos


def packed(data: bytes, info: zipfile.ZipInfo, name: str) -> memoryview:
    """Return an entry's bytes as they lie in the file, still compressed."""
    start, end = _body(data, info, name)
    return memoryview(data)[start:end]


def unpack(data: bytes, info: zipfile.ZipInfo, name: str, piece: int = 1 << 16) -> Iterator[bytes]:
    """Yield an entry's unpacked bytes, in pieces of at most `piece` bytes.

    Never more is unpacked than the zip declares; a part that holds more or less, or whose
    checksum differs, raises StoreError. What was yielded before that is not to be trusted.
    """
    source = packed(data, info, name)
    crc = length = 0
    for chunk in (
        _stored(source, piece)
        if info.compress_type == zipfile.ZIP_STORED
        else _inflated(source, info, name, piece)
    ):
        length += len(chunk)
        if length > info.file_size:
            raise StoreError(
                f"{name}: the part {info.filename} unpacks to more than the file declares: "
                "it is damaged or a zip bomb.",
                _RESTORE,
            )
        crc = zlib.crc32(chunk, crc)
        yield chunk
    if length != info.file_size or crc != info.CRC:
        _damaged(name, f"the checksum of the part {info.filename} is wrong")


def _stored(source: memoryview, piece: int) -> Iterator[bytes]:
    for at in range(0, len(source), piece):
        yield bytes(source[at : at + piece])


def _inflated(source: memoryview, info: zipfile.ZipInfo, name: str, piece: int) -> Iterator[bytes]:
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        # The compressed bytes go in piece by piece too: what zlib has not yet used it hands back
        # as a copy, and copying megabytes for every piece would be slow.
        for at in range(0, len(source), piece):
            rest: bytes | memoryview = source[at : at + piece]
            while len(rest) and not inflater.eof:
                chunk = inflater.decompress(rest, piece)
                rest = inflater.unconsumed_tail
                if chunk:
                    yield chunk
        while not inflater.eof:
            chunk = inflater.decompress(b"", piece)
            if not chunk:
                _damaged(name, f"the part {info.filename} is cut off")
            yield chunk
    except zlib.error as error:
        _damaged(name, f"the part {info.filename} cannot be unpacked", error)


def _damaged(name: str, detail: str, cause: BaseException | None = None) -> NoReturn:
    raise StoreError(f"{name} is damaged: {detail.rstrip('.')}.", _RESTORE) from cause


def _sniff(data: bytes, name: str) -> None:
    """Name what is not a zip."""
    if not data:
        raise StoreError(f"{name} is empty (0 bytes): a save or a copy was interrupted.", _RESTORE)
    if len(data) > MAX_FILE:
        raise StoreError(
            f"{name} is {len(data) >> 20} MB large; at most {MAX_FILE >> 20} MB are read.",
            "Take large pictures and data out of the workbook, or start a new one.",
        )
    if data.startswith(_OLE):
        # MS-OFFCRYPTO 2.3.4.4: an encrypted package is a stream of this name; directory entries
        # hold names in UTF-16.
        if "EncryptedPackage".encode("utf-16-le") in data:
            raise StoreError(
                f"{name} is protected by a password to open it.",
                "Take the password off: in Excel, File, Info, Protect Workbook, "
                "Encrypt with Password, and clear the box.",
            )
        raise StoreError(f"{name} is an old Excel workbook (.xls).", _SAVE_AGAIN)
    if data.startswith((_LOCAL, _END)):
        return
    if data.startswith(b"%PDF"):
        raise StoreError(f"{name} is a PDF, not a workbook.", "Name the workbook itself.")
    kind = _text_kind(data[:4096])
    if kind:
        raise StoreError(f"{name} is {kind}, not an Excel workbook.", _SAVE_AGAIN)
    if _END not in data[-_END_SIZE - 0xFFFF :]:
        raise StoreError(f"{name} is not an Excel workbook (it is not a zip file).", _SAVE_AGAIN)


def _text_kind(head: bytes) -> str | None:
    """Say what kind of text a file begins with; None where it is not text."""
    wide = head.startswith((b"\xff\xfe", b"\xfe\xff"))
    text = head.decode("utf-16" if wide else "utf-8", errors="replace")
    if "\0" in text or text.count("�") > len(text) // 4:
        return None
    lower = text.lower()
    if "<html" in lower or "<table" in lower or "<!doctype html" in lower:
        return "a web page (HTML)"
    if "urn:schemas-microsoft-com:office:spreadsheet" in lower:
        return "an XML spreadsheet of Excel 2003"
    if "urn:oasis:names:tc:opendocument" in lower:
        return "a flat OpenDocument file"
    if lower.lstrip().startswith("<?xml"):
        return "an XML file"
    return "a text file (.csv or the like)"


def _bound_directory(data: bytes, name: str) -> None:
    """Refuse a zip that is cut off or holds too much, before its directory is read."""
    end = data.rfind(_END, max(0, len(data) - _END_SIZE - 0xFFFF))
    if end < 0 or end + _END_SIZE > len(data):
        raise StoreError(
            f"{name} is cut off, or something was added behind it: the end of a workbook is missing"
            " (an interrupted copy or download?).",
            _RESTORE,
        )
    count, size = struct.unpack_from("<HI", data, end + 10)
    locator = end - 20
    if locator >= 0 and data[locator : locator + 4] == _ZIP64_LOCATOR:
        (where,) = struct.unpack_from("<Q", data, locator + 8)
        if data[where : where + 4] == _ZIP64_END and where + 56 <= len(data):
            count, size = struct.unpack_from("<QQ", data, where + 32)
    if count > MAX_PARTS or size > MAX_PARTS * _LONGEST_ENTRY:
        _too_many_parts(name)


def _too_many_parts(name: str) -> NoReturn:
    raise StoreError(
        f"{name} holds more than {MAX_PARTS:,} parts.",
        "This is no ordinary workbook: start a new one.",
    )


def _check_names(infos: tuple[zipfile.ZipInfo, ...], name: str) -> None:
    seen: dict[str, str] = {}
    for info in infos:
        part = info.orig_filename  # zipfile cuts at NUL and, on Windows, turns backslashes
        if "\\" in part or "\0" in part:
            raise StoreError(
                f"{name}: the part {part!r} has a backslash or a zero byte in its name, so it "
                "cannot be written without harm.",
                _SAVE_AGAIN,
            )
        key = part.lstrip("/").casefold()
        if key in seen:
            twins = (
                f"the part {part} is there twice"
                if seen[key] == part
                else f"the names of the parts {seen[key]} and {part} differ only in letter case"
            )
            raise StoreError(f"{name}: {twins}.", _SAVE_AGAIN)
        seen[key] = part


def _check_entries(infos: tuple[zipfile.ZipInfo, ...], name: str) -> None:
    for info in infos:
        if info.flag_bits & _ENCRYPTED_FLAGS:
            raise StoreError(
                f"{name}: the part {info.filename} is encrypted inside the zip.", _SAVE_AGAIN
            )
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise StoreError(
                f"{name}: the part {info.filename} is compressed in a way that workbooks do not "
                f"use (method {info.compress_type}).",
                _SAVE_AGAIN,
            )
        if info.compress_type == zipfile.ZIP_STORED and info.compress_size != info.file_size:
            _damaged(name, f"the size of the part {info.filename} is wrong")
    total = sum(info.file_size for info in infos)
    if total > MAX_UNPACKED:
        raise StoreError(
            f"{name} would unpack to {total >> 20:,} MB; at most {MAX_UNPACKED >> 20:,} MB are "
            "read. It may be a zip bomb.",
            "Clear the formats of empty rows and columns, or start a new workbook.",
        )


def _check_places(
    data: bytes, infos: tuple[zipfile.ZipInfo, ...], directory: int, name: str
) -> None:
    """Refuse entries that overlap (the way of zip bombs) or lie over the directory."""
    free = 0
    for info in sorted(infos, key=lambda info: info.header_offset):
        if info.header_offset < free:
            _damaged(name, f"the part {info.filename} overlaps another")
        free = _body(data, info, name)[1]
        if free > directory:
            _damaged(name, f"the part {info.filename} overlaps the zip's directory")


def _body(data: bytes, info: zipfile.ZipInfo, name: str) -> tuple[int, int]:
    """Return where an entry's bytes begin and end in the file."""
    header = info.header_offset
    if header < 0 or data[header : header + 4] != _LOCAL or header + _LOCAL_SIZE > len(data):
        _damaged(name, f"nothing begins where the part {info.filename} should")
    name_length, extra_length = struct.unpack_from("<HH", data, header + 26)
    start = header + _LOCAL_SIZE + name_length + extra_length
    end = start + info.compress_size
    if end > len(data):
        _damaged(name, f"the part {info.filename} is cut off")
    return start, end
