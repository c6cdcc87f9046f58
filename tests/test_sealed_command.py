"""Sealed play by the command line: in files, and on Google with every call failing once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from sheets_host.grid import Content
from sheets_host.stores.base import Write
from sheets_host.tabs import host_tabs
from tests.command import Done, here
from tests.desks import (
    ExcelDesk,
    GoogleDesk,
    enter,
    tabs_of,
)
from tests.google_rig import FakeClock
from tests.played import Clock
from tests.playing import enrol, setting
from tests.sealed_match import (
    BOARD,
    SETTINGS,
    sheet_id,
)
from tests.sheets_emulator import Emulator
from tests.test_sync_faults import at_the_command_line


@pytest.fixture(name="google")
def _google() -> Iterator[Emulator]:
    with Emulator() as google:
        yield google


def test_new__entry_sheets_by_the_command_line(
    tmp_path: Path, google: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files by `--entry-sheets`; then the host names an empty Google Sheet instead of one."""
    at_the_command_line(google, FakeClock(), tmp_path / "data", monkeypatch)
    game, folder = tmp_path / "game.xlsx", tmp_path / "sheets"
    words = [word for name in ("Ann", "Bob/Eve", "ann e") for word in ("--player", name)]
    done = here("new", game, *words, "--entry-sheets", folder)
    assert done.code == 0, done.said
    assert len(list(folder.glob("*.xlsx"))) == 3
    assert "Entry sheet for Ann" in done.said
    assert here("check", game, "--json").json["problems"] == []
    before = {path: path.read_bytes() for path in folder.glob("*.xlsx")}
    desk = ExcelDesk(game, Clock())
    google.add_spreadsheet(sheet_id("Ann"))
    enrol(
        desk,
        "Ann",
        "Entry sheet",
        f"https://docs.google.com/spreadsheets/d/{sheet_id('Ann')}/edit#gid=0",
    )
    assert here("sync", game).code == 3, "an empty sheet is no entry sheet"
    done = here("new", game, "--entry-sheets", folder)
    assert done.code == 0, done.said
    assert "1 entry sheet made" in done.said
    assert here("sync", game).code == 0
    assert {path: path.read_bytes() for path in folder.glob("*.xlsx")} == before
    enter(GoogleDesk(google, sheet_id("Ann"), FakeClock()), {("Bids", (1, 3), "Ann"): 12})
    done = here("check", game)
    assert "lot 3" in done.said
    assert "12 of 500 tokens" in done.said
    assert here("new", game, "--player", "Zoë", "--entry-sheets", folder).code == 2
    assert here("new", game).code == 3


@pytest.fixture(name="files")
def _files(tmp_path: Path, google: Emulator, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sealed match in files: game.xlsx, and entry sheets in the folder sheets."""
    at_the_command_line(google, FakeClock(), tmp_path / "data", monkeypatch)
    words = ("--player", "Ann", "--player", "Bob")
    made = here("new", tmp_path / "game.xlsx", *words, "--entry-sheets", tmp_path / "sheets")
    assert made.code == 0, made.said
    return tmp_path


def codes(done: Done) -> list[tuple[str, str]]:
    return [(p["code"], p["player"]) for p in done.json["problems"] if p["severity"] == "problem"]


@pytest.mark.parametrize(
    "path",
    ["sheets/Ann.xlsx", "./sheets/../sheets/Ann.xlsx", "{base}/sheets/Ann.xlsx", "link.xlsx"],
)
def test_one_file_spelled_in_two_ways__is_noticed(files: Path, path: str) -> None:
    if path == "link.xlsx":
        (files / path).symlink_to(files / "sheets" / "Ann.xlsx")
    desk = ExcelDesk(files / "game.xlsx", Clock())
    enrol(desk, "Bob", "Entry sheet", path.format(base=files))
    done = here("sync", files / "game.xlsx", "--close", "1", "--void", "--json")
    assert done.code == 3
    assert codes(done) == [("sheet-shared", "Bob")]
    assert done.json["stage"] == {"name": "round", "round": 1}
    done = here("sync", files / "game.xlsx", "--close", "1", "--without", "Bob")
    assert done.code == 0, done.said


@pytest.mark.parametrize("reference", ["gone.xlsx", "what?", "http://example.org/x", "sheets"])
def test_an_entry_sheet_that_leads_nowhere__is_named_and_nothing_closes(
    files: Path, reference: str
) -> None:
    enrol(ExcelDesk(files / "game.xlsx", Clock()), "Bob", "Entry sheet", reference)
    for more in ((), ("--void",)):
        done = here("sync", files / "game.xlsx", "--close", "1", *more, "--json")
        assert done.code == 3
        assert codes(done) == [("sheet-unreachable", "Bob")]
        assert done.json["stage"]["round"] == 1
    said = here("check", files / "game.xlsx").said
    assert "Players!E3" in said
    assert "the entry sheet of Bob" in said


@pytest.mark.parametrize("reference", ["what?", "http://example.org/x", "sheets"])
def test_a_board_that_leads_nowhere__never_blocks_the_record(files: Path, reference: str) -> None:
    setting(ExcelDesk(files / "game.xlsx", Clock()), "Board", reference)
    done = here("sync", files / "game.xlsx", "--close", "1")
    assert done.code == 3
    assert "Round 1 is closed" in done.said
    assert "not written" in done.said


def test_a_deleted_sheet__and_without(files: Path) -> None:
    game = files / "game.xlsx"
    (files / "sheets" / "Bob.xlsx").unlink()
    done = here("sync", game, "--close", "1")
    assert done.code == 3
    assert "stays open: an entry sheet cannot be read" in done.said
    done = here("sync", game, "--close", "1", "--without", "Bob")
    assert "Round 1 is closed" in done.said
    assert here("verify", game).code == 0
    done = here("new", game, "--entry-sheets", files / "sheets")
    assert "1 entry sheet made" in done.said
    assert here("sync", game).code == 0


def test_sheets_and_board__are_written_in_one_line(files: Path) -> None:
    game = files / "game.xlsx"
    setting(ExcelDesk(game, Clock()), "Board", "board.xlsx")
    sheets = ", ".join(str(files / "sheets" / f"{name}.xlsx") for name in ("Ann", "Bob"))
    both = f"2 entry sheets ({sheets}) and the board ({files / 'board.xlsx'})"
    first = here("sync", game, "--close", "1").said
    assert f"Wrote {both}; a backup lies beside 2 of them." in first
    assert f"Would write {both}." in here("sync", game, "--close", "2", "--dry-run").said
    second = here("sync", game, "--close", "2")
    assert f"Wrote {both}; a backup lies beside each." in second.said
    assert second.out.count("\nBackup: ") == 1, "the game's own"


def test_a_sheet_that_is_not_there__is_named_once(files: Path) -> None:
    (files / "sheets" / "Bob.xlsx").unlink()
    said = here("check", files / "game.xlsx").said
    assert "the entry sheet of Bob (sheets/Bob.xlsx): it does not exist -> correct" in said


def test_a_sheet_open_in_excel__is_told_and_mended_later(files: Path) -> None:
    game, lock = files / "game.xlsx", files / "sheets" / "~$Bob.xlsx"
    lock.write_bytes(b"\x03Bob" + b" " * 50 + b"\x03\x00B\x00o\x00b\x00" + b" \x00" * 51)
    enter(ExcelDesk(files / "sheets" / "Bob.xlsx", Clock()), {("Bids", (1, 1), "Bob"): 4})
    done = here("sync", game, "--close", "1")
    assert done.code == 3
    assert "Round 1 is closed" in done.said
    assert "what is not saved there is not read" in done.said
    assert "Bob.xlsx is open in" in done.said
    lock.unlink()
    assert here("sync", game).code == 0
    assert "closed" in str(tabs_of(ExcelDesk(files / "sheets" / "Bob.xlsx", Clock()), ["Auction"]))


def test_doctor__looks_at_every_sheet(files: Path) -> None:
    (files / "sheets" / "Bob.xlsx").unlink()
    done = here("doctor", files / "game.xlsx")
    assert done.code == 3
    assert "ok: The entry sheet of Ann can be read" in done.said
    assert "WRONG: the entry sheet of Bob" in done.said


def test_doctor__tells_a_board_that_is_not_there_yet(files: Path) -> None:
    game = files / "game.xlsx"
    for board, says, code in (
        ("board.xlsx", "ok: The board is made by the next sync", 0),
        ("nodir/board.xlsx", "WRONG: The board cannot be made", 3),
    ):
        setting(ExcelDesk(game, Clock()), "Board", board)
        done = here("doctor", game)
        assert (says in done.said, done.code) == (True, code), done.said
    setting(ExcelDesk(game, Clock()), "Board", "board.xlsx")
    here("sync", game)
    assert "ok: The board can be read" in here("doctor", game).said


# --- on Google -----------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["500", "reset-after", "403", "404", "429"])
@pytest.mark.parametrize("on", ["read", "write"])
@pytest.mark.parametrize("call", range(4))
def test_faults_of_google__at_each_call_of_a_sealed_sync(
    sealed_online: Online, kind: str, on: str, call: int
) -> None:
    """Game, two entry sheets and the board, each read and written: any of the eight calls fails."""
    online = sealed_online
    online.reset()
    passing = kind not in ("403", "404")
    online.google.fault(kind, on, skip=call)
    done = here("sync", GAME, "--close", "1")
    assert "Traceback" not in done.said
    if passing:
        assert done.code == 0, done.said
        assert online.stands() == online.after
    else:
        assert done.code == 3, done.said
        assert "(403)" in done.said or "(404)" in done.said
    again = here("sync", GAME, "--close", "1")
    assert again.code == 0, again.said
    assert online.stands() == online.after


GAME: Final = "game-of-the-sealed-tests-00001"


@dataclass
class Online:
    """A sealed match that is all on the emulator, in round 1."""

    google: Emulator
    before: dict[str, Any]
    after: dict[str, Any] = field(default_factory=dict)

    def stands(self) -> dict[str, Any]:
        return {key: self.google.snapshot(key) for key in self.google.state.books}

    def reset(self) -> None:
        self.google.state.books = {key: book.copied() for key, book in self.before.items()}
        self.google.state.faults.waiting.clear()


@pytest.fixture(name="sealed_online", scope="module")
def _sealed_online(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Online]:
    with Emulator() as google, pytest.MonkeyPatch.context() as patch:
        time = FakeClock()
        at_the_command_line(google, time, tmp_path_factory.mktemp("data"), patch)
        ids = [sheet_id("Ann"), sheet_id("Bob")]
        for key in (GAME, BOARD, *ids):
            google.add_spreadsheet(key)
        desk = GoogleDesk(google, GAME, time)
        values = {**SETTINGS, "Board": BOARD}
        rows: list[list[Content]] = [["Ann", 1, None, None, ids[0]], ["Bob", 2, None, None, ids[1]]]
        template = (host_tabs.settings(values), host_tabs.players(rows))
        desk.write(Write(template, desk.read(()), "", "", "x"))
        assert here("new", GAME).code == 0
        for key, name, bid in ((ids[0], "Ann", 12), (ids[1], "Bob", 9)):
            enter(GoogleDesk(google, key, time), {("Bids", (1, 1), name): bid})
        assert here("sync", GAME).code == 0
        online = Online(google, {key: book.copied() for key, book in google.state.books.items()})
        assert here("sync", GAME, "--close", "1").code == 0
        online.after = online.stands()
        yield online


def test_a_lost_sheet__is_said_not_to_be_readable_and_made_again_as_recorded(files: Path) -> None:
    game, sheet = files / "game.xlsx", files / "sheets" / "Ann.xlsx"
    desk = ExcelDesk(sheet, Clock())
    enter(desk, {("Bids", (1, 2), "Ann"): 30})
    assert here("sync", game, "--close", "1").code == 0
    sheet.unlink()
    lost = here("check", game)
    assert lost.code == 3
    assert "Cannot be read: Ann" in lost.out
    (silent,) = re.findall("Nothing entered: .*", lost.out)
    assert "Ann" not in silent
    assert f"put its newest backup back, from {sheet.with_name('Ann-backups')}" in lost.said
    reminder = here("announce", game, "--missing")
    assert "Ann" not in reminder.out
    assert "Ann" in reminder.err
    assert here("new", game, "--entry-sheets", sheet.parent).code == 0
    found = here("check", game, "--json")
    assert [p for p in found.json["problems"] if p["player"] == "Ann"] == []
    assert ExcelDesk(sheet, Clock()).read(("Bids",)).grids["Bids"].at(8, 5).value == 30
