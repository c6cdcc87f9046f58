"""Opening a workbook file: what is refused, in which words, and what a package knows of itself."""

from __future__ import annotations

import io
import struct
import time
import zipfile
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sheets_host.stores.base import StoreError
from sheets_host.stores.excel import preflight
from sheets_host.stores.excel.package import Package
from sheets_host.stores.excel.reading import read_grids
from tests import packages
from tests.packages import build, link, parts, relationships, zipped

CELL = '<row r="1"><c r="A1"><v>5</v></c></row>'
GOOD = {"Bids": CELL}
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)


def without(*names: str) -> bytes:
    kept = {name: data for name, data in parts(GOOD).items() if name not in names}
    return zipped(kept)


def swapped(part: str, old: str, new: str) -> bytes:
    contents = parts(GOOD)
    text = contents[part]
    assert isinstance(text, str)
    assert old in text
    return zipped(contents | {part: text.replace(old, new)})


def with_part(name: str, content: str | bytes = "") -> bytes:
    return zipped(parts(GOOD) | {name: content})


def patched(find: bytes, offset: int, new: bytes, data: bytes | None = None) -> bytes:
    """Overwrite bytes at an offset from the last place where a signature stands."""
    data = data or build(GOOD)
    at = data.rindex(find) + offset
    return data[:at] + new + data[at + len(new) :]


def compressed(method: int) -> bytes:
    return zipped(parts(GOOD), method)


def lying(declared: int) -> bytes:
    """A package whose sheet declares another size than it unpacks to."""
    data = build({"Bids": CELL + "<row/>" * (3 << 20)})
    at = data.rindex(b"PK\x01\x02")
    return data[: at + 24] + struct.pack("<I", declared) + data[at + 28 :]


def overlapping() -> bytes:
    data = build(GOOD)
    first = data.index(b"PK\x01\x02")
    second = data.index(b"PK\x01\x02", first + 1)
    return data[: second + 42] + data[first + 42 : first + 46] + data[second + 46 :]


def many_parts() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for n in range(preflight.MAX_PARTS + 1):
            archive.writestr(str(n), b"")
    return target.getvalue()


DTD = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]>'
WORKBOOK = "xl/workbook.xml"
TYPES = "[Content_Types].xml"

REFUSED: dict[str, tuple[Callable[[], bytes], str, str]] = {
    # name: the file, what the message says, what the hint says
    "empty": (lambda: b"", "is empty (0 bytes)", "Restore an earlier copy"),
    "cut off": (lambda: build(GOOD)[:-200], "is cut off", "Restore"),
    "something behind": (lambda: build(GOOD) + b"x" * 70_000, "something was added behind", "Rest"),
    "cut off at the start": (lambda: b"PK\x03\x04", "is cut off", "Restore"),
    "not a zip": (lambda: bytes(range(256)) * 9, "it is not a zip file", "save it as"),
    "a picture": (lambda: b"\x89PNG\r\n\x1a\n" + bytes(500), "it is not a zip file", "save it as"),
    "a PDF": (lambda: b"%PDF-1.7\n%...", "is a PDF", "Name the workbook itself"),
    "an old workbook": (lambda: OLE, "is an old Excel workbook (.xls)", "save it as"),
    "encrypted": (
        lambda: OLE + "EncryptedPackage".encode("utf-16-le"),
        "is protected by a password",
        "Take the password off",
    ),
    "a text": (lambda: b"Round,Lot,Ann\n1,1,5\n", "is a text file (.csv", "save it as"),
    "a text in UTF-16": (lambda: "Round\tLot\n".encode("utf-16"), "is a text file", "save it as"),
    "a web page": (lambda: b"\xef\xbb\xbf<HTML><table>", "is a web page (HTML)", "save it as"),
    "Excel 2003 XML": (
        lambda: (
            b'<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet">'
        ),
        "is an XML spreadsheet of Excel 2003",
        "save it as",
    ),
    "flat OpenDocument": (
        lambda: (
            b'<?xml version="1.0"?><office:document '
            b'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0">'
        ),
        "is a flat OpenDocument file",
        "save it as",
    ),
    "OpenDocument": (
        lambda: zipped({"mimetype": "application/vnd.oasis.opendocument.spreadsheet"}),
        "is an OpenDocument spreadsheet (.ods)",
        "save it as",
    ),
    "Numbers": (lambda: zipped({"Index/Document.iwa": b""}), "Apple Numbers", "Export To, Excel"),
    "a binary workbook": (
        lambda: swapped(TYPES, "spreadsheetml.sheet.main+xml", "ms-excel.sheet.binary.x.main"),
        "is a binary workbook (.xlsb)",
        "save it as",
    ),
    "a Word document": (
        lambda: swapped(
            TYPES, "spreadsheetml.sheet.main+xml", "wordprocessingml.document.main+xml"
        ),
        "a document of another program (Word)",
        "Name the workbook",
    ),
    "signed": (
        lambda: with_part("_xmlsignatures/origin.sigs"),
        "is digitally signed",
        "Remove the signature",
    ),
    "signed by .NET": (
        lambda: swapped(
            "_rels/.rels",
            "</Relationships>",
            '<Relationship Id="s" Target="/package/services/digital-signature/origin.psdsor" Type="'
            "http://schemas.openxmlformats.org/package/2006/relationships/digital-signature/origin"
            '"/></Relationships>',
        ),
        "is digitally signed",
        "Remove the signature",
    ),
    "strict links": (
        lambda: swapped(
            "_rels/.rels",
            "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
            "http://purl.oclc.org/ooxml/officeDocument/relationships",
        ),
        "Strict Open XML Spreadsheet",
        'the ordinary type "Excel Workbook (.xlsx)"',
    ),
    "a strict workbook": (
        lambda: swapped(WORKBOOK, packages.MAIN, "http://purl.oclc.org/ooxml/spreadsheetml/main"),
        "Strict Open XML Spreadsheet",
        'the ordinary type "Excel Workbook (.xlsx)"',
    ),
    "a zip of something else": (
        lambda: zipped({"photo.jpg": b"x"}),
        "the list of content types ([Content_Types].xml) is missing",
        "Restore",
    ),
    "an empty zip": (lambda: zipped({}), "[Content_Types].xml) is missing", "Restore"),
    "no content types": (lambda: without(TYPES), "[Content_Types].xml) is missing", "Restore"),
    "no links": (lambda: without("_rels/.rels"), "(_rels/.rels) is missing", "Restore"),
    "no workbook": (lambda: without(WORKBOOK), "the workbook part (xl/workbook.xml)", "Restore"),
    "no styles": (lambda: without("xl/styles.xml"), "the styles part (styles.xml)", "Restore"),
    "no sheet part": (
        lambda: without("xl/worksheets/sheet1.xml"),
        'the part of its tab "Bids" is missing',
        "Restore",
    ),
    "no tab": (lambda: build({}), "names no tab", "Restore"),
    "two tabs of one name": (
        lambda: build({"Bids": CELL, "BIDS": CELL}),
        'two of its tabs are called "BIDS"',
        "Restore",
    ),
    "two tabs in one part": (
        lambda: zipped(
            {
                name: data.replace("sheet2.xml", "sheet1.xml") if name.endswith(".rels") else data
                for name, data in parts({"Bids": CELL, "Stock": CELL}).items()
                if isinstance(data, str)
            }
        ),
        'its tabs "Bids" and "Stock" are one and the same part, xl/worksheets/sheet1.xml',
        "Restore",
    ),
    "a tab without a number": (
        lambda: swapped(WORKBOOK, 'sheetId="1"', 'sheetId="-1"'),
        'its tab "Bids" has the id "-1"',
        "Restore",
    ),
    "DTD in the workbook": (
        lambda: zipped(parts(GOOD) | {WORKBOOK: DTD + "<x/>"}),
        "the part xl/workbook.xml holds a document type or entity declaration",
        "Do not use this file",
    ),
    "DTD in the content types": (
        lambda: zipped(parts(GOOD) | {TYPES: DTD + "<x>&a;</x>"}),
        "holds a document type or entity declaration",
        "Do not use this file",
    ),
    "DTD in a sheet": (
        lambda: build({"Bids": DTD + packages.sheet(CELL)}),
        "the part xl/worksheets/sheet1.xml holds a document type",
        "Do not use this file",
    ),
    "UTF-16": (
        lambda: zipped(parts(GOOD) | {WORKBOOK: "<workbook/>".encode("utf-16")}),
        "the part xl/workbook.xml is written in UTF-16",
        "save it as",
    ),
    "UTF-16 without a mark": (
        lambda: zipped(parts(GOOD) | {WORKBOOK: "<workbook/>".encode("utf-16-be")}),
        "the part xl/workbook.xml is written in UTF-16",
        "save it as",
    ),
    "another encoding": (
        lambda: zipped(
            parts(GOOD) | {WORKBOOK: '<?xml version="1.0" encoding="windows-1252"?><workbook/>'}
        ),
        "the part xl/workbook.xml is written in windows-1252",
        "save it as",
    ),
    "broken XML": (
        lambda: swapped(WORKBOOK, "</sheets>", "</sheet>"),
        "the part xl/workbook.xml is damaged (line 1, column",
        "Restore",
    ),
    "nested too deep": (
        lambda: zipped(parts(GOOD) | {WORKBOOK: "<a>" * 1000 + "</a>" * 1000}),
        "is nested more than 200 deep",
        "Restore",
    ),
    "a part twice in another case": (
        lambda: with_part("xl/Workbook.xml"),
        "the names of the parts xl/workbook.xml and xl/Workbook.xml differ only in letter case",
        "save it as",
    ),
    "backslashes": (
        lambda: with_part("xl\\worksheets\\other.xml"),
        "has a backslash or a zero byte in its name",
        "save it as",
    ),
    "a text that is none": (
        lambda: build(
            {"Bids": '<row><c t="s"><v>1</v></c></row>'}, strings="<si/><sj><t>5</t></sj>"
        ),
        'the part xl/sharedStrings.xml is damaged: a "sj" does not belong in text 1',
        "Restore",
    ),
    "a format that is none": (
        lambda: swapped("xl/styles.xml", '<xf numFmtId="0" fontId="1"/>', "<xg/>"),
        'the part xl/styles.xml is damaged: a "xg" does not belong among its formats',
        "Restore",
    ),
    "an encrypted part": (
        lambda: patched(b"PK\x01\x02", 8, b"\x01\x00"),
        "is encrypted inside the zip",
        "save it as",
    ),
    "bzip2": (lambda: compressed(zipfile.ZIP_BZIP2), "(method 12)", "save it as"),
    "lzma": (lambda: compressed(zipfile.ZIP_LZMA), "(method 14)", "save it as"),
    "an unknown method": (
        lambda: patched(b"PK\x01\x02", 10, b"\x63\x00"),
        "(method 99)",
        "save it as",
    ),
    "too many parts": (many_parts, "holds more than 20,000 parts", "start a new one"),
    "too many parts, said to be few": (
        lambda: patched(b"PK\x05\x06", 8, b"\x01\x00\x01\x00", many_parts()),
        "holds more than 20,000 parts",
        "start a new one",
    ),
    "a declared bomb": (
        lambda: patched(b"PK\x01\x02", 24, b"\xf0\xff\xff\xff"),
        "would unpack to 4,096 MB",
        "Clear the formats",
    ),
    "an undeclared bomb": (lambda: lying(1000), "unpacks to more than the file declares", "Rest"),
    "a part shorter than declared": (
        lambda: lying(30 << 20),
        "the checksum of the part xl/worksheets/sheet1.xml is wrong",
        "Restore",
    ),
    "a wrong checksum": (
        lambda: patched(b"PK\x01\x02", 16, b"\0\0\0\0"),
        "the checksum of the part xl/worksheets/sheet1.xml is wrong",
        "Restore",
    ),
    "parts over each other": (overlapping, "overlaps another", "Restore"),
    "a part beyond the end": (
        lambda: patched(b"PK\x01\x02", 42, b"\xff\xff\xff\x00"),
        "nothing begins where the part xl/worksheets/sheet1.xml should",
        "Restore",
    ),
    "a part over the directory": (
        lambda: patched(b"PK\x01\x02", 20, b"\xff\x01\x00\x00"),
        "xl/worksheets/sheet1.xml",
        "Restore",
    ),
    "no directory": (lambda: patched(b"PK\x05\x06", 12, bytes(8)), "[Content_Types].xml", "Rest"),
    "directory elsewhere": (
        lambda: patched(b"PK\x05\x06", 16, b"\x05\x00\x00\x00"),
        "is damaged",
        "Restore",
    ),
    "directory size beyond the file": (
        lambda: patched(b"PK\x05\x06", 12, b"\xff\xff\x02\x00"),
        "is damaged",
        "Restore",
    ),
}


def read_all(data: bytes) -> None:
    package = Package.open(data, "Game.xlsx")
    read_grids(package, {sheet.title for sheet in package.sheets})


def refusal(data: bytes) -> StoreError | None:
    try:
        read_all(data)
    except StoreError as error:
        return error
    return None


@pytest.mark.parametrize("case", REFUSED)
def test_package__says_what_the_file_is_and_what_to_do(case: str) -> None:
    make, message, hint = REFUSED[case]
    data = make()
    with pytest.raises(StoreError) as caught:
        read_all(data)
    assert message in caught.value.message
    assert caught.value.message.startswith("Game.xlsx")
    assert "\n" not in caught.value.message
    assert hint in caught.value.hint


def test_package__refuses_a_file_that_is_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preflight, "MAX_FILE", 500)
    with pytest.raises(StoreError, match="at most 0 MB are read"):
        Package.open(build(GOOD), "Game.xlsx")


def test_package__unpacks_no_more_than_declared() -> None:
    # A sheet of 18 MB that says it has 1,000 bytes: the first piece already tells.
    package = Package.open(lying(1000), "Game.xlsx")
    assert package.infos[-1].file_size == 1000
    pieces = package.pieces("xl/worksheets/sheet1.xml")
    with pytest.raises(StoreError, match="zip bomb"):
        next(pieces)


def test_package__a_bomb_is_refused_at_once() -> None:
    started = time.process_time()
    with pytest.raises(StoreError):
        Package.open(patched(b"PK\x01\x02", 24, b"\xf0\xff\xff\xff"), "Game.xlsx")
    assert time.process_time() - started < 1


def test_package__knows_its_parts_and_tabs() -> None:
    contents = parts(
        {"Bids": CELL, "Old": CELL, "Deep": CELL},
        strings="<si><t>x</t></si>",
        workbook='<workbookPr date1904="1"/>',
    )
    book = str(contents[WORKBOOK])
    book = book.replace('sheetId="2"', 'sheetId="7" state="hidden"')
    book = book.replace('sheetId="3"', 'sheetId="3" state="veryHidden"')
    package = Package.open(zipped(contents | {WORKBOOK: book}), "Game.xlsx")

    assert package.names == tuple(contents)
    assert package.workbook == WORKBOOK
    assert package.styles == "xl/styles.xml"
    assert package.shared_strings == "xl/sharedStrings.xml"
    assert package.date1904
    assert [
        (tab.title, tab.part, tab.state, tab.rel_id, tab.sheet_id, tab.kind)
        for tab in package.sheets
    ] == [
        ("Bids", "xl/worksheets/sheet1.xml", "visible", "rId1", 1, "worksheet"),
        ("Old", "xl/worksheets/sheet2.xml", "hidden", "rId2", 7, "worksheet"),
        ("Deep", "xl/worksheets/sheet3.xml", "veryHidden", "rId3", 3, "worksheet"),
    ]
    assert package.content_types.of("xl/worksheets/sheet1.xml").endswith(".worksheet+xml")
    assert package.content_types.of("xl/other.xml") == "application/xml"
    assert package.content_types.of("xl/picture.png") == ""


def test_package__gives_parts_whole_and_as_they_lie() -> None:
    contents = parts(GOOD)
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        package = Package.open(zipped(contents, method), "Game.xlsx")
        for name, content in contents.items():
            expected = content.encode() if isinstance(content, str) else content
            assert package.part(name) == expected
            assert len(package.packed(name)) == package.info(name).compress_size
    with pytest.raises(StoreError, match=r"the part xl/none\.xml is missing"):
        package.part("xl/none.xml")


def test_package__finds_parts_in_any_letter_case() -> None:
    contents = parts(GOOD, strings="<si><t>x</t></si>")
    contents["xl/SharedStrings.XML"] = contents.pop("xl/sharedStrings.xml")
    package = Package.open(zipped(contents), "Game.xlsx")
    assert package.shared_strings == "xl/SharedStrings.XML"
    assert package.has("XL/sharedstrings.xml")
    assert b"<si>" in package.part("xl/sharedStrings.xml")


TARGETS = {
    # how a workbook may name the part of its tab
    "beside": "worksheets/sheet1.xml",
    "from the root": "/xl/worksheets/sheet1.xml",
    "up and down": "../xl/./worksheets/sheet1.xml",
    "backslashes": "worksheets\\sheet1.xml",
    "percent signs": "worksheets/sheet%31.xml",
    "another case": "Worksheets/SHEET1.xml",
}


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_package__follows_relationships(target: str) -> None:
    data = swapped("xl/_rels/workbook.xml.rels", "worksheets/sheet1.xml", target)
    assert Package.open(data, "Game.xlsx").sheets[0].part == "xl/worksheets/sheet1.xml"


def test_package__lists_relationships_by_type() -> None:
    outside = '<Relationship Id="rId8" Type="x/hyperlink" Target="a\\b" TargetMode="External"/>'
    data = with_part(
        "xl/worksheets/_rels/sheet1.xml.rels",
        relationships(link("rId5", "comments", "../comments1.xml") + outside),
    )
    package = Package.open(data, "Game.xlsx")
    sheet = package.sheets[0].part
    assert [(one.id, one.kind, one.target) for one in package.related(sheet, "comments")] == [
        ("rId5", "comments", "xl/comments1.xml")
    ]
    assert [one.external for one in package.related(sheet)] == [False, True]
    assert package.related(sheet, "hyperlink")[0].target == "a\\b"
    assert package.related("xl/styles.xml") == ()


def test_package__a_chart_sheet_is_a_tab_without_cells() -> None:
    data = swapped(
        "xl/_rels/workbook.xml.rels", "relationships/worksheet", "relationships/chartsheet"
    )
    package = Package.open(data, "Game.xlsx")
    assert package.sheets[0].kind == "chartsheet"
    assert read_grids(package, {"Bids"}) == (("Bids",), {})


@pytest.mark.parametrize(("count", "refused"), [(6, False), (1 << 40, True)])
def test_package__a_zip64_directory_is_read_and_bounded(count: int, refused: bool) -> None:
    data = build(GOOD)
    end = data.rindex(b"PK\x05\x06")
    size, start = struct.unpack_from("<II", data, end + 12)
    record = b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, count, count, size, start)
    locator = b"PK\x06\x07" + struct.pack("<IQI", 0, end, 1)
    last = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 65535, 65535, 2**32 - 1, 2**32 - 1, 0)
    error = refusal(data[:end] + record + locator + last)
    assert (error is not None) == refused
    if error:
        assert "holds more than 20,000 parts" in error.message


@settings(max_examples=300, deadline=1000)
@given(st.data())
def test_package__damage_ends_in_a_line_and_never_in_a_traceback(data: st.DataObject) -> None:
    whole = bytearray(build({"Bids": CELL}, strings="<si><t>x</t></si>"))
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(whole) - 1))
        whole[at] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        del whole[data.draw(st.integers(0, len(whole))) :]
    error = refusal(bytes(whole))
    assert error is None or (error.message.startswith("Game.xlsx") and error.hint)
