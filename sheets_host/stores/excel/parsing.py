"""Parsing the XML of a package with expat: fast, in pieces, and within bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, NoReturn
from xml.parsers import expat

from sheets_host.stores.base import StoreError

MAIN: Final = "http://schemas.openxmlformats.org/spreadsheetml/2006/main "
"""Namespace of workbooks, sheets and styles, as expat puts it before an element's name."""
LINKS: Final = "http://schemas.openxmlformats.org/officeDocument/2006/relationships "
"""Namespace of the attribute ``r:id``."""
COMPATIBILITY: Final = "http://schemas.openxmlformats.org/markup-compatibility/2006 "

MAX_DEPTH: Final = 200
MAX_TOKEN: Final = 1 << 20
"""Bytes of one tag, comment or the like: expat reads an unfinished one anew with each piece."""
MAX_ELEMENTS: Final = 500_000
"""Elements of a part that is read as a whole. Excel's 64,000 cell formats with as many cell styles
and all that belongs to them are fewer."""

Start = Callable[[str, dict[str, str]], None]
End = Callable[[str], None]

_HINT: Final = "Restore an earlier copy, or open it in Excel or LibreOffice and save it again."


ATTRIBUTES_AN_ELEMENT: Final = 3  # at most, on average


class Enough(Exception):
    """Raised by a handler that has seen all it wants of a part; no error."""


def counter(part: str, name: str, most: int = MAX_ELEMENTS) -> Callable[[dict[str, str]], None]:
    """Return what counts a part's elements, each by its attributes, and refuses too many."""
    elements, attributes = most, ATTRIBUTES_AN_ELEMENT * most

    def count(found: dict[str, str]) -> None:
        nonlocal elements, attributes
        elements -= 1
        attributes -= len(found)
        if elements < 0 or attributes < 0:
            raise StoreError(
                f"{name}: the part {part} holds more elements than can be read.",
                "Clear unused formats and names, or copy the tabs into a new workbook.",
            )

    return count


def local_name(tag: str) -> str:
    """Return an element's name without its namespace, as messages quote it."""
    return tag.rpartition(" ")[2][:20]


def count_of(text: str | None) -> int | None:
    """Return a whole number of at most ten plain digits; None for anything else.

    Python takes other scripts' digits for numbers, and refuses to read thousands of them.
    """
    return int(text) if text and len(text) <= 10 and text.isascii() and text.isdigit() else None


def parser_of(part: str, name: str) -> expat.XMLParserType:
    """Return a parser that refuses what no workbook holds: DTDs, entities, other encodings.

    Elements and attributes with a namespace are called ``namespace local``. Text comes in one
    piece between two tags (or in pieces of 64 KB).
    """
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_size = 1 << 16
    parser.buffer_text = True

    def doctype(*_: object) -> NoReturn:
        raise StoreError(
            f"{name}: the part {part} holds a document type or entity declaration. No "
            "spreadsheet program writes one, and it can do harm.",
            "Do not use this file; start from one that a spreadsheet program saved.",
        )

    def declaration(_version: str, encoding: str | None, _standalone: int) -> None:
        if encoding and encoding.lower() not in ("utf-8", "us-ascii"):
            _other_encoding(part, name, encoding)

    parser.StartDoctypeDeclHandler = doctype
    parser.EntityDeclHandler = doctype
    parser.XmlDeclHandler = declaration
    return parser


def feed(
    parser: expat.XMLParserType, chunks: Iterable[bytes], part: str, name: str, fed: int = 0
) -> None:
    """Put a part through a parser. Raises StoreError for broken XML, and what handlers raise.

    fed: bytes that the parser has had before.
    """
    try:
        for chunk in chunks:
            if not fed and (chunk[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in chunk[:4]):
                _other_encoding(part, name, "UTF-16")
            parser.Parse(chunk, False)
            fed += len(chunk)
            if fed - parser.CurrentByteIndex > MAX_TOKEN:
                raise StoreError(
                    f"{name}: the part {part} holds a tag of more than {MAX_TOKEN >> 20} MB.",
                    _HINT,
                )
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise StoreError(
            f"{name}: the part {part} is damaged (line {error.lineno}, column {error.offset}: "
            f"{expat.ErrorString(error.code)}).",
            _HINT,
        ) from error


def walk(
    chunks: Iterable[bytes],
    part: str,
    name: str,
    start: Start,
    end: End | None = None,
    text: Callable[[str], None] | None = None,
    most: int = MAX_ELEMENTS,
) -> None:
    """Call `start`, `end` and `text` for a part's elements, its compatibility choices resolved.

    Of an ``mc:AlternateContent`` (ECMA-376 part 3, 10.2) the fallback is taken: no extension is
    understood here. A handler may raise Enough to stop. More than `most` elements are refused.
    """
    parser = parser_of(part, name)
    count = counter(part, name, most)
    depth = 0
    skipped = 0  # the depth of the choice that is being skipped
    choice = COMPATIBILITY + "Choice"

    def opened(tag: str, attributes: dict[str, str]) -> None:
        nonlocal depth, skipped
        count(attributes)
        depth += 1
        if depth > MAX_DEPTH:
            raise StoreError(
                f"{name}: the part {part} is nested more than {MAX_DEPTH} deep.", _HINT
            )
        if skipped:
            return
        if tag == choice:
            skipped = depth
        else:
            start(tag, attributes)

    def closed(tag: str) -> None:
        nonlocal depth, skipped
        if not skipped:
            if end:
                end(tag)
        elif skipped == depth:
            skipped = 0
        depth -= 1

    parser.StartElementHandler = opened
    parser.EndElementHandler = closed
    if text:
        wanted = text
        parser.CharacterDataHandler = lambda data: None if skipped else wanted(data)
    try:
        feed(parser, chunks, part, name)
    except Enough:
        return


def _other_encoding(part: str, name: str, encoding: str) -> NoReturn:
    raise StoreError(
        f"{name}: the part {part} is written in {encoding}; only UTF-8 is read and written.",
        'Open it in Excel or LibreOffice and save it as "Excel Workbook (.xlsx)".',
    )
