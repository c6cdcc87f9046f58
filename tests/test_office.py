"""LibreOffice, as the tests drive it: typing gives what a person would get."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.foreign import OFFICE_FOREIGN, looks
from tests.office import CellError, ConditionalFormat, Office, OfficeError, OfficeMissingError
from tests.package import Package

pytestmark = pytest.mark.office


@pytest.fixture
def book(tmp_path: Path) -> Path:
    return looks(tmp_path)


TYPED = [
    # typed, in a General cell, its number format, in a text cell
    ("5", 5.0, "General", "5"),
    ("5 ", 5.0, "General", "5 "),
    ("5\u00a0", 5.0, "General", "5\u00a0"),
    ("'50", "50", "General", "'50"),
    ("5.5", 5.5, "General", "5.5"),
    ("1,000", 1000.0, "General", "1,000"),
    ("50,5", "50,5", "General", "50,5"),
    ("TRUE", 1.0, "BOOLEAN", "TRUE"),
    ("50%", 0.5, "0.00%", "50%"),
    ("00050", 50.0, "General", "00050"),
    ("１００", "１００", "General", "１００"),
    ("=2+3", 5.0, "General", "=2+3"),
    ("#REF!", "#REF!", "General", "#REF!"),
    ("C#", "C#", "General", "C#"),
    ("", None, "General", None),
]


def test_type__general_and_text_cells(office: Office, book: Path) -> None:
    with office.open(book) as doc:
        got = []
        for typed, *_ in TYPED:
            doc.type("Looks", "H20", typed)
            doc.type("Looks", "G20", typed)
            held = doc.value("Looks", "H20"), doc.number_format("Looks", "H20")
            got.append((typed, *held, doc.value("Looks", "G20")))
            doc.delete_rows("Looks", 20)
            doc.insert_rows("Looks", 20)
        assert doc.number_format("Looks", "G30") == "@"
    assert got == TYPED


def test_type__a_half_becomes_a_date_unless_the_cell_is_text(office: Office, book: Path) -> None:
    with office.open(book) as doc:
        doc.type("Looks", "H20", "1/2")
        doc.type("Looks", "G20", "1/2")
        value = doc.value("Looks", "H20")
        assert isinstance(value, float)
        assert value > 46_000  # the second of January of this year
        assert doc.number_format("Looks", "H20") == "MM/DD/YY"
        assert doc.value("Looks", "G20") == "1/2"


def test_type__protected_cell(office: Office, book: Path) -> None:
    with office.open(book) as doc:
        with pytest.raises(OfficeError, match="Locked A1 is protected"):
            doc.type("Locked", "A1", "5")
        doc.type("Locked", "B1", "5")
        assert doc.value("Locked", "B1") == 5.0


def test_type__another_locale(book: Path) -> None:
    try:
        german = Office(locale="de-DE")
    except OfficeMissingError as missing:
        pytest.skip(str(missing))
    with german, german.open(book) as doc:
        doc.type("Looks", "H20", "50,5")
        doc.type("Looks", "H21", "1,000")
        doc.type("Looks", "H22", "50.0")
        assert doc.column("Looks", "H", 20, 22) == [50.5, 1.0, "50.0"]


def test_save__keeps_what_was_typed(office: Office, book: Path) -> None:
    with office.open(book) as doc:
        doc.type("Looks", "B4", "7")
        doc.type("Looks", "H20", "=B4*6")
        doc.save()
    with office.open(book) as doc:
        assert doc.value("Looks", "B4") == 7.0
        assert doc.formula("Looks", "H20") == "=B4*6"
        assert doc.text("Looks", "H20") == "42"


def test_open__unsaved_changes_are_dropped(office: Office, book: Path) -> None:
    before = book.read_bytes()
    with office.open(book) as doc:
        doc.type("Looks", "B4", "7")
    assert book.read_bytes() == before


def test_looks(office: Office, book: Path) -> None:
    with office.open(book) as doc:
        assert doc.frozen("Looks") == (3, 1)
        assert doc.frozen("Source") == (0, 0)
        assert doc.conditional_formats("Looks") == [
            ConditionalFormat(("B4:D9",), "condition", "formula", "$B4=5", "FF0000", None),
            ConditionalFormat(("E4:E9",), "data bar", "", "", None, None),
        ]
        whole = doc.validation("Looks", "B4")
        assert (whole.type, whole.operator, whole.formula1) == ("whole", "greater_equal", "0")
        assert (whole.style, whole.title, whole.message) == ("warning", "Bid", "Whole tokens")
        listed = doc.validation("Looks", "C4")
        assert (listed.type, listed.formula1) == ("list", "$Source.$A$1:$A$3")
        assert doc.validation("Looks", "F4").type == "any"


def test_background__follows_what_is_typed(office: Office, book: Path) -> None:
    with office.open(book) as doc:
        before = doc.backgrounds("Looks", "A4:F6")
        doc.type("Looks", "B5", "5")
        after = doc.backgrounds("Looks", "A4:F6")
        with pytest.raises(OfficeError, match="used area"):
            doc.background("Looks", "A400")
        doc.hide("Source")
        with pytest.raises(OfficeError, match="hidden"):
            doc.background("Source", "A1")
    assert (before["C4"], before["C5"]) == ("FF0000", None)
    changed = {cell for cell in before if before[cell] != after[cell]}
    assert changed == {"B5", "C5", "D5"}
    assert after["C5"] == "FF0000"
    assert after["F4"] == before["F4"] == "00FF00"


def test_rows_columns_and_tabs(office: Office, book: Path) -> None:
    with office.open(book) as doc:
        assert doc.column("Source", "A", 1, 3) == ["one", "two", "three"]
        doc.sort("Source", "A1:B3", "B", ascending=False)
        assert doc.values("Source", "A1:B3") == [["three", 3.0], ["two", 2.0], ["one", 1.0]]
        doc.insert_rows("Source", 2, 2)
        doc.insert_columns("Source", "B")
        assert doc.values("Source", "A4:C5") == [["two", None, 2.0], ["one", None, 1.0]]
        doc.delete_columns("Source", "B")
        doc.delete_rows("Source", 2, 2)
        assert doc.values("Source", "A2:B2") == [["two", 2.0]]
        doc.rename("Source", "Origin")
        doc.hide("Origin")
        assert doc.sheets() == ["Looks", "Origin", "Locked"]
        assert doc.validation("Looks", "C4").formula1 == "$Origin.$A$1:$A$3"
        with pytest.raises(OfficeError, match="no tab 'Source'"):
            doc.value("Source", "A1")


def test_errors__values_and_texts(office: Office, book: Path) -> None:
    with office.open(book) as doc:
        assert doc.errors() == []
        doc.type("Source", "D2", "=1/0")
        doc.type("Looks", "H20", "=NOSUCH(1)")
        doc.type("Looks", "H21", '="#"&"N/A"')
        doc.type("Looks", "H22", "# 1")
        assert doc.errors() == [
            CellError("Looks", "H20", "#NAME?"),
            CellError("Looks", "H21", "#N/A"),
            CellError("Source", "D2", "#DIV/0!"),
        ]


def test_pictures__one_a_page(office: Office, book: Path, tmp_path: Path) -> None:
    if shutil.which("pdftoppm") is None:
        pytest.skip("pdftoppm (poppler-utils) is not here")
    pages = office.pictures(book, tmp_path / "pages", dpi=30)
    assert len(pages) >= 3
    assert office.pictures(book, tmp_path / "pages", dpi=30) == pages
    assert all(page.read_bytes().startswith(b"\x89PNG") for page in pages)


@pytest.mark.parametrize(("name", "make"), OFFICE_FOREIGN)
def test_made_by_libreoffice(
    office: Office, tmp_path: Path, name: str, make: Callable[[Office, Path], Path]
) -> None:
    package = Package(make(office, tmp_path))
    assert package.sheets, name
    assert b"LibreOffice" in package.parts["docProps/app.xml"]


def test_open__no_spreadsheet(office: Office, tmp_path: Path) -> None:
    missing = tmp_path / "missing.xlsx"
    with pytest.raises(OfficeError, match="open"), office.open(missing):
        pass
    text = tmp_path / "text.txt"
    text.write_text("hello")
    with pytest.raises(OfficeError, match=r"cannot open|no spreadsheet"), office.open(text):
        pass


@pytest.mark.parametrize("harm", [signal.SIGSTOP, signal.SIGKILL])
def test_call__libreoffice_hangs_or_dies(book: Path, harm: signal.Signals) -> None:
    try:
        fresh = Office(timeout=3)
    except OfficeMissingError as missing:
        pytest.skip(str(missing))
    with fresh:
        with fresh.open(book) as doc:
            assert fresh.pid
            os.killpg(fresh.pid, harm)
            with pytest.raises(OfficeError, match=r"did not answer|went down"):
                doc.value("Looks", "B4")
            with pytest.raises(OfficeError, match="went down"):
                doc.value("Looks", "B4")
        with fresh.open(book) as doc:
            assert doc.value("Looks", "B4") == 5.0


def test_end__leaves_no_process_and_no_folder(book: Path) -> None:
    try:
        fresh = Office()
    except OfficeMissingError as missing:
        pytest.skip(str(missing))
    with fresh, fresh.open(book):
        pid = fresh.pid
        assert pid
    assert fresh.pid is None
    assert not fresh._folder.exists()
    give_up = time.monotonic() + 5  # killed at once, but the system takes its time
    while _runs(pid) and time.monotonic() < give_up:
        time.sleep(0.05)
    assert not _runs(pid)


def _runs(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True
