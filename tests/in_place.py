"""Typing into a workbook in a file, byte by byte.

Of the tab that is typed into one cell changes; every other byte of every part stays, so that a
test can tell whether anything of it was lost. Cells must be of the form that `new` writes.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from xml.sax.saxutils import escape

from sheets_host.stores.excel import ExcelStore
from tests.memory_store import Typed
from tests.package import Package
from tests.playing import NOW


class InPlace(ExcelStore):
    """The Excel store of one file, into which a test can type."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, clock=lambda: NOW)
        self.path = path

    def type(self, tab: str, cell: str, value: Typed) -> None:
        """Put a value into a cell such as ``E7`` that has an entry of its own in the part."""
        self.type_all(tab, {cell: value})

    def type_all(self, tab: str, cells: Mapping[str, Typed]) -> None:
        """Put values into many cells of a tab."""
        part = Package(self.path).part_of(tab)
        with parts_of(self.path) as parts:
            for cell, value in cells.items():
                found = re.compile(rf'<c r="{cell}"( s="\d+")?(/>|[^>]*>.*?</c>)'.encode())
                new = rf'<c r="{cell}"\1{_content(value)}'.encode()
                parts[part], count = found.subn(new, parts[part])
                assert count == 1, f"{tab}!{cell} has no entry of its own"


def _content(value: Typed) -> str:
    if value is None:
        return "/>"
    if isinstance(value, str):
        return rf' t="inlineStr"><is><t xml:space="preserve">{escape(value)}</t></is></c>'
    assert isinstance(value, int | float)
    return f"><v>{value}</v></c>"


@contextmanager
def parts_of(path: Path) -> Iterator[dict[str, bytes]]:
    """Give a file's parts to be changed, and write them back in their order."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    yield parts
    path.write_bytes(packed(parts))


def packed(parts: Mapping[str, bytes]) -> bytes:
    """Zip parts in their order."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return target.getvalue()
