"""The Excel store as the rest of the program uses it: read, write, read again."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import textwrap
import time
import zipfile
from pathlib import Path
from typing import Final

import pytest

from sheets_host.grid import Book, same_contents
from sheets_host.stores.base import ChangedMeanwhile, Store, StoreError
from sheets_host.stores.excel import ExcelStore
from tests.drawn import HELP, NOW, REPORT, tab, write

TITLES: Final = (REPORT.title, HELP.title)
LATER: Final = dataclasses.replace(REPORT, rows=[*REPORT.rows, ["Cay", 3]])


def store(path: Path, *, force_lock: bool = False) -> ExcelStore:
    return ExcelStore(path, clock=lambda: NOW, force_lock=force_lock)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "game.xlsx"
    store(path).write(write(REPORT, HELP))
    return path


def test_store__new_file_then_later_writes(tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    ours: Store = store(path)
    assert ours.name == str(path)
    assert not ours.exists()
    assert ours.write(write(REPORT, HELP, label="new")) == ()
    assert ours.exists()
    book = ours.read(TITLES)
    assert book.titles == TITLES
    assert book.notices == ()
    assert same_contents(REPORT, book.grids[REPORT.title])
    assert same_contents(HELP, book.grids[HELP.title])

    (backup,) = ours.write(write(LATER, tab("More", [1]), since=book, label="close-1", keep=True))
    assert backup.endswith("game 2026-11-29 201500Z before-close-1 (kept).xlsx")
    again = ours.read([REPORT.title, "no such tab"])
    assert again.titles == (*TITLES, "More")
    assert again.grids.keys() == {REPORT.title}
    assert same_contents(LATER, again.grids[REPORT.title])


def test_store__what_stands_already_is_not_written(path: Path) -> None:
    before = path.stat()
    assert store(path).write(write(REPORT, HELP, since=store(path).read(TITLES))) == ()
    assert store(path).write(write(since=store(path).read(TITLES))) == ()
    assert path.stat() == before
    assert [entry.name for entry in path.parent.iterdir()] == ["game.xlsx"]


def test_store__revision_tells_whether_the_file_is_the_same(path: Path) -> None:
    first = store(path).read([]).revision
    os.utime(path, (0, 0))
    assert store(path).read(TITLES).revision == first
    store(path).write(write(LATER, since=store(path).read([])))
    assert store(path).read([]).revision != first


def test_store__other_write_between_read_and_write(path: Path) -> None:
    book = store(path).read(TITLES)
    store(path).write(write(LATER, since=store(path).read(TITLES)))
    theirs = path.read_bytes()
    with pytest.raises(ChangedMeanwhile):
        store(path).write(write(REPORT, tab("x", ["y"]), since=book))
    assert path.read_bytes() == theirs


def test_store__new_never_goes_over_a_file(path: Path) -> None:
    theirs = path.read_bytes()
    with pytest.raises(ChangedMeanwhile, match="exists by now"):
        store(path).write(write(HELP))
    assert path.read_bytes() == theirs


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("missing.xlsx", "does not exist"),
        ("folder.xlsx", "is a folder"),
        ("text.xlsx", "not an Excel workbook"),
        ("empty.xlsx", "empty"),
    ],
)
def test_store__what_cannot_be_read(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "folder.xlsx").mkdir()
    (tmp_path / "text.xlsx").write_text("Player;Bid\nAnn;5\n")
    (tmp_path / "empty.xlsx").touch()
    with pytest.raises(StoreError, match=reason) as raised:
        store(tmp_path / name).read(TITLES)
    assert str(tmp_path / name) in raised.value.message
    assert raised.value.hint


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names here")
def test_store__pipe_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.xlsx")
    with pytest.raises(StoreError, match="pipe"):
        store(tmp_path / "pipe.xlsx").read(TITLES)


@pytest.mark.parametrize("name", ["game.ods", "game", "game.xls"])
def test_store__new_file_of_another_kind(tmp_path: Path, name: str) -> None:
    with pytest.raises(StoreError, match=r"\.xlsx or \.xlsm"):
        store(tmp_path / name).write(write(HELP))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_store__link_stays_a_link(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "elsewhere" / "link.xlsx"
    link.parent.mkdir()
    link.symlink_to(path)
    store(link).write(write(LATER, since=store(link).read(TITLES)))
    assert link.is_symlink()
    assert same_contents(LATER, store(path).read(TITLES).grids[REPORT.title])
    assert (path.parent / "game-backups").is_dir()
    assert [entry.name for entry in link.parent.iterdir()] == ["link.xlsx"]


# --- open elsewhere ----------------------------------------------------------------------------

_OFFICE: Final = "Ann,ann,another-computer,29.11.2026 20:15,file:///x;"


def test_store__open_in_libreoffice_is_refused_unless_told(path: Path) -> None:
    lock = path.with_name(".~lock.game.xlsx#")
    lock.write_text(_OFFICE)
    book = store(path).read(TITLES)
    assert "open in LibreOffice (Ann on another-computer)" in book.notices[0]
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"LibreOffice \(Ann on another-computer\)") as raised:
        store(path).write(write(LATER, since=book))
    assert lock.name in raised.value.hint
    assert "--ignore-lock" in raised.value.hint
    assert path.read_bytes() == before
    store(path, force_lock=True).write(write(LATER, since=book))
    assert same_contents(LATER, store(path).read(TITLES).grids[REPORT.title])


@pytest.mark.parametrize(
    ("name", "noticed"),
    [
        ("game (Ann's conflicted copy 2026-11-29).xlsx", True),
        ("game (conflicted copy 2026-11-29 201500).xlsx", True),
        ("game (SFConflict ann 2026).xlsx", True),
        ("game-DESKTOP-4F2K9A.xlsx", True),
        ("game.sync-conflict-20261129-201500-ABCDEFG.xlsx", True),
        ("game (1).xlsx", False),
        ("game-2.xlsx", False),
        ("games (conflicted copy).xlsx", False),
        ("game (conflicted copy).pdf", False),
    ],
)
def test_store__conflict_copies_are_noticed(path: Path, name: str, noticed: bool) -> None:
    path.with_name(name).touch()
    notices = store(path).read([]).notices
    assert any(name in notice for notice in notices) == noticed


# --- quick and small ---------------------------------------------------------------------------


def test_store__later_write_loads_no_openpyxl(path: Path) -> None:
    code = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from tests.test_excel_store import LATER, TITLES, store
        from tests.drawn import write
        path = Path(sys.argv[1])
        store(path).write(write(LATER, since=store(path).read(TITLES)))
        heavy = {"openpyxl", "gspread", "requests", "rich", "numpy"} & set(sys.modules)
        sys.exit(f"loaded: {heavy}" if heavy else 0)
        """
    )
    root = Path(__file__).parents[1]
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, cwd=root)
    assert same_contents(LATER, store(path).read(TITLES).grids[REPORT.title])


def test_store__million_styled_rows_on_the_hosts_tab_cost_nothing(tmp_path: Path) -> None:
    from xlsxwriter import Workbook  # type: ignore[import-untyped]

    small, path = tmp_path / "small.xlsx", tmp_path / "game.xlsx"
    with Workbook(small) as book:
        book.add_worksheet("Host").write("A1", "mine")
    rows = "".join(f'<row r="{row}" s="0" customFormat="1"/>' for row in range(2, 1_048_577))
    with zipfile.ZipFile(small) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            part = old.read(name)
            if name == "xl/worksheets/sheet1.xml":
                part = part.replace(b"</sheetData>", rows.encode() + b"</sheetData>")
            new.writestr(name, part)
    ours = store(path)
    start = time.process_time()
    ours.write(write(HELP, since=ours.read(TITLES)))
    assert time.process_time() - start < 1  # about 0.05 s: the sheet is never unpacked
    assert same_contents(HELP, ours.read(TITLES).grids[HELP.title])


def test_store__empty_book_of_another_store_makes_a_file(tmp_path: Path) -> None:
    path = tmp_path / "board.xlsm"
    ours = store(path)
    ours.write(write(HELP, since=Book(titles=(), grids={}, revision=None)))
    assert ours.read(TITLES).titles == (HELP.title,)


def test_store__damaged_part_of_the_hosts_is_read_past_and_not_written(path: Path) -> None:
    """What is damaged must not be handed on from file to file while the sound backups go."""
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("xl/media/image1.png", b"a picture of a composer")
    data = path.read_bytes()
    path.write_bytes(data.replace(b"a picture of a composer", b"a picture of a composed"))
    before = path.read_bytes()
    book = store(path).read(TITLES)
    with pytest.raises(StoreError, match="checksum of the part xl/media/image1"):
        store(path).write(write(LATER, since=book))
    assert path.read_bytes() == before
