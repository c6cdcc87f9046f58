"""A read-only view of an Excel package: its parts and how they hang together.

An .xlsx is a zip of parts (ECMA-376 part 2); relationships say which part is what (part 2, 9.3,
and part 1, 12.3). Part names are looked up without regard to case, as the standard asks.
"""

from __future__ import annotations

import posixpath
import zipfile
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from sheets_host.stores.base import StoreError
from sheets_host.stores.excel import preflight
from sheets_host.stores.excel.parsing import LINKS, MAIN, count_of, walk

_TYPES: Final = "http://schemas.openxmlformats.org/package/2006/content-types "
_RELATIONSHIPS: Final = "http://schemas.openxmlformats.org/package/2006/relationships "
_STRICT: Final = "http://purl.oclc.org/ooxml/"

CONTENT_TYPES: Final = "[Content_Types].xml"

_SAVE_AGAIN: Final = 'Open it in Excel or LibreOffice and save it as "Excel Workbook (.xlsx)".'
_RESTORE: Final = "Restore an earlier copy, or open it in Excel or LibreOffice and save it again."
_MAX_SHEETS: Final = 5_000
_MAX_LINKS: Final = 100_000  # of one part; Excel allows 65,530 hyperlinks on a sheet


@dataclass(frozen=True, slots=True)
class Relationship:
    """One link from a part to another, or to something outside the package.

    target: the part's name as the zip has it, or as it is written where there is no such part or
    where it is external. type: the URI, such as ``…/relationships/worksheet``.
    """

    id: str
    type: str
    target: str
    external: bool = False

    @property
    def kind(self) -> str:
        """The last word of the type, such as ``worksheet``."""
        return self.type.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class SheetRef:
    """One tab as the workbook part names it (ECMA-376 part 1, 18.2.19).

    state: ``visible``, ``hidden`` or ``veryHidden``.
    kind: ``worksheet``, or what else the relationship says, such as ``chartsheet``.
    """

    title: str
    part: str
    state: str
    rel_id: str
    sheet_id: int
    kind: str = "worksheet"


@dataclass(frozen=True, slots=True)
class ContentTypes:
    """What each part is: by its own name (in lower case, without the first slash) or ending."""

    overrides: dict[str, str]
    defaults: dict[str, str]

    def of(self, part: str) -> str:
        """Return a part's content type; empty where none is declared."""
        key = part.casefold()
        return self.overrides.get(key) or self.defaults.get(key.rpartition(".")[2], "")


class Package:
    """An opened workbook file. Nothing in it ever changes.

    name: what people call the file. data: its bytes. infos: the zip's entries, in its order.
    workbook, styles, shared_strings: part names. sheets: the tabs in order.
    date1904: dates count from 1904 instead of 1900 (ECMA-376 part 1, 18.2.28).
    """

    name: str
    data: bytes
    infos: tuple[zipfile.ZipInfo, ...]
    content_types: ContentTypes
    workbook: str
    styles: str
    shared_strings: str | None
    sheets: tuple[SheetRef, ...]
    date1904: bool

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self.data = data
        self.infos = preflight.entries(data, name)
        self._entries = {_key(info.orig_filename): info for info in self.infos}
        self._parts: dict[str, bytes] = {}
        self._related: dict[str, tuple[Relationship, ...]] = {}
        self._refuse_other_programs()
        self.content_types = self._read_content_types()
        self.workbook = self._find_workbook()
        if not self.has(links := self.relationships_part(self.workbook)):
            self._missing("the list of what belongs to the workbook part", links)
        self.styles = self.first_related(self.workbook, "styles") or self._missing(
            "the styles part", "styles.xml"
        )
        self.shared_strings = self.first_related(self.workbook, "sharedStrings")
        self.sheets, self.date1904 = self._read_workbook()

    @classmethod
    def open(cls, data: bytes, name: str) -> Package:
        """Look a file over and open it. Raises StoreError, which says what the file is instead."""
        return cls(data, name)

    @property
    def names(self) -> tuple[str, ...]:
        """The parts' names, in the zip's order."""
        return tuple(info.orig_filename for info in self.infos)

    def has(self, part: str) -> bool:
        """Tell whether there is such a part, in whatever letter case."""
        return _key(part) in self._entries

    def info(self, part: str) -> zipfile.ZipInfo:
        """Return a part's entry. Raises StoreError where there is none."""
        entry = self._entries.get(_key(part))
        if entry is None:
            raise StoreError(f"{self.name}: the part {part} is missing.", _RESTORE)
        return entry

    def packed(self, part: str) -> memoryview:
        """Return a part's bytes as they lie in the zip, still compressed."""
        return preflight.packed(self.data, self.info(part), self.name)

    def pieces(self, part: str) -> Iterator[bytes]:
        """Yield a part's unpacked bytes piece by piece, so that a large one takes no memory.

        Raises StoreError for a part that is cut off, or unpacks to more than declared; and at
        the end, where the checksum is wrong.
        """
        return preflight.unpack(self.data, self.info(part), self.name)

    def part(self, part: str) -> bytes:
        """Return a part's unpacked bytes. Raises StoreError where it is missing or too large."""
        key = _key(part)
        if key not in self._parts:
            self._parts[key] = self.unpacked(part)
        return self._parts[key]

    def unpacked(self, part: str, most: int = preflight.MAX_PART) -> bytes:
        """Return the same without keeping it. most: bytes that it may have."""
        size = self.info(part).file_size
        if size > most:
            raise StoreError(
                f"{self.name}: the part {part} is {size >> 20} MB large; at most "
                f"{most >> 20} MB are read.",
                "Clear the formats of empty rows and columns, or start a new workbook.",
            )
        return b"".join(self.pieces(part))

    def check_all(self) -> None:
        """Unpack every part once, keeping nothing. Raises StoreError where one is damaged."""
        for name in self.names:
            deque(self.pieces(name), maxlen=0)

    def related(self, part: str, type_ending: str = "") -> tuple[Relationship, ...]:
        """Return a part's relationships, those whose type ends in ``/type_ending`` or all.

        part: "" stands for the package itself.
        """
        if part not in self._related:
            self._related[part] = self._read_relationships(part)
        found = self._related[part]
        if not type_ending:
            return found
        return tuple(link for link in found if link.type.endswith("/" + type_ending))

    def relationships_part(self, part: str) -> str:
        """Return the name of the part that holds another's relationships; it need not be there.

        As the zip has it, where it is there.
        """
        folder, base = posixpath.split(part)
        return self._actual(posixpath.join(folder, "_rels", base + ".rels"))

    # --- what Package() reads at once -----------------------------------------------------------

    def _refuse_other_programs(self) -> None:
        if self.has("mimetype"):
            kind = self.part("mimetype")[:80].decode("ascii", errors="replace").strip()
            what = "an OpenDocument spreadsheet (.ods)" if "spreadsheet" in kind else f"a {kind}"
            raise StoreError(f"{self.name} is {what}, not an Excel workbook.", _SAVE_AGAIN)
        if self.has("Index/Document.iwa") or self.has("Index.zip"):
            raise StoreError(
                f"{self.name} is an Apple Numbers document, not an Excel workbook.",
                "In Numbers, choose File, Export To, Excel.",
            )
        named_so = any(key.startswith("_xmlsignatures/") for key in self._entries)
        if named_so or self.related("", "digital-signature/origin"):
            raise StoreError(
                f"{self.name} is digitally signed: any change would break the signature.",
                "Remove the signature (in Excel: File, Info, View Signatures), or play in a copy "
                "without it.",
            )

    def _missing(self, what: str, part: str) -> str:
        raise StoreError(
            f"{self.name} is not a whole Excel workbook: {what} ({part}) is missing.", _RESTORE
        )

    def _actual(self, part: str) -> str:
        entry = self._entries.get(_key(part))
        return entry.orig_filename if entry else part

    def _read_content_types(self) -> ContentTypes:
        if not self.has(CONTENT_TYPES):
            self._missing("the list of content types", CONTENT_TYPES)
        overrides: dict[str, str] = {}
        defaults: dict[str, str] = {}

        def start(tag: str, attributes: dict[str, str]) -> None:
            kind = attributes.get("ContentType", "")
            if tag == _TYPES + "Override":
                overrides[_key(attributes.get("PartName", ""))] = kind
            elif tag == _TYPES + "Default":
                defaults[attributes.get("Extension", "").casefold()] = kind

        walk([self.part(CONTENT_TYPES)], CONTENT_TYPES, self.name, start)
        return ContentTypes(overrides, defaults)

    def _read_relationships(self, part: str) -> tuple[Relationship, ...]:
        source = self.relationships_part(part)
        if not self.has(source):
            return ()
        found: list[Relationship] = []

        def start(tag: str, attributes: dict[str, str]) -> None:
            if tag != _RELATIONSHIPS + "Relationship":
                return
            external = attributes.get("TargetMode", "").lower() == "external"
            target = attributes.get("Target", "")
            found.append(
                Relationship(
                    id=attributes.get("Id", ""),
                    type=attributes.get("Type", ""),
                    target=target if external else self._resolve(part, target),
                    external=external,
                )
            )

        walk(self.pieces(source), source, self.name, start, most=_MAX_LINKS)
        return tuple(found)

    def _resolve(self, source: str, target: str) -> str:
        """Return the part that a target means, seen from a source part (RFC 3986, 5.2)."""
        folder = "/" + posixpath.dirname(source)
        path = posixpath.normpath(posixpath.join(folder, target.replace("\\", "/")))
        path = path.lstrip("/")
        return self._actual(path if self.has(path) else unquote(path))

    def _find_workbook(self) -> str:
        links = self.related("", "officeDocument")
        if any(link.type.startswith(_STRICT) for link in links):
            self._refuse_strict()
        inside = [link.target for link in links if not link.external]
        if not inside:
            return self._missing("the link to the workbook part", "_rels/.rels")
        part = inside[0]
        if not self.has(part):
            return self._missing("the workbook part", part)
        kind = self.content_types.of(part)
        if "sheet.binary" in kind or part.lower().endswith(".bin"):
            raise StoreError(f"{self.name} is a binary workbook (.xlsb).", _SAVE_AGAIN)
        if "wordprocessingml" in kind or "presentationml" in kind:
            raise StoreError(
                f"{self.name} is a document of another program "
                f"({'Word' if 'word' in kind else 'PowerPoint'}), not an Excel workbook.",
                "Name the workbook itself.",
            )
        if not kind:
            return self._missing("the content type of the workbook part", part)
        return part

    def _refuse_strict(self) -> None:
        raise StoreError(
            f'{self.name} was saved as "Strict Open XML Spreadsheet", which is not supported.',
            'In Excel, choose Save As and the ordinary type "Excel Workbook (.xlsx)".',
        )

    def first_related(self, part: str, kind: str) -> str | None:
        """Return the first part of a kind that another leads to, if it is there."""
        for link in self.related(part, kind):
            if not link.external and self.has(link.target):
                return link.target
        return None

    def _read_workbook(self) -> tuple[tuple[SheetRef, ...], bool]:
        links = {link.id: link for link in self.related(self.workbook)}
        sheets: list[SheetRef] = []
        date1904 = False
        root = ""

        def start(tag: str, attributes: dict[str, str]) -> None:
            nonlocal date1904, root
            root = root or tag
            if tag == MAIN + "sheet":
                sheets.append(self._sheet(attributes, links))
            elif tag == MAIN + "workbookPr":
                date1904 = attributes.get("date1904") in ("1", "true")

        walk([self.part(self.workbook)], self.workbook, self.name, start)
        if root.startswith(_STRICT):
            self._refuse_strict()
        if root != MAIN + "workbook" or not sheets:
            raise StoreError(f"{self.name} is damaged: {self.workbook} names no tab.", _RESTORE)
        if len(sheets) > _MAX_SHEETS:
            raise StoreError(
                f"{self.name} has {len(sheets):,} tabs; at most {_MAX_SHEETS:,} are read.",
                "Start a new workbook.",
            )
        titles: set[str] = set()
        owners: dict[str, str] = {}
        for sheet in sheets:
            owner = owners.setdefault(_key(sheet.part), sheet.title)
            if owner != sheet.title:
                raise StoreError(  # to write the one would overwrite the other
                    f'{self.name} is damaged: its tabs "{owner}" and "{sheet.title}" are one and '
                    f"the same part, {sheet.part}.",
                    _RESTORE,
                )
            if sheet.title.casefold() in titles:
                raise StoreError(
                    f'{self.name} is damaged: two of its tabs are called "{sheet.title}".',
                    _RESTORE,
                )
            titles.add(sheet.title.casefold())
        return tuple(sheets), date1904

    def _sheet(self, attributes: dict[str, str], links: dict[str, Relationship]) -> SheetRef:
        title = attributes.get("name", "")
        rel_id = attributes.get(LINKS + "id", "")
        written = attributes.get("sheetId", "")
        number = count_of(written)
        link = links.get(rel_id)
        if link is None or link.external or not self.has(link.target):
            raise StoreError(
                f'{self.name} is damaged: the part of its tab "{title}" is missing.', _RESTORE
            )
        if number is None:
            raise StoreError(
                f'{self.name} is damaged: its tab "{title}" has the id "{written[:20]}".', _RESTORE
            )
        state = attributes.get("state", "visible")
        return SheetRef(title, link.target, state, rel_id, number, link.kind)


def _key(part: str) -> str:
    return part.lstrip("/").casefold()
