"""Everything that can go wrong on the way to Google, under the real command line.

The game ends right, nothing stands twice or by half, and the host is told what happened.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

import pytest

from sheets_host import cli
from sheets_host.host.verbs import Context
from sheets_host.opening import Access, opener
from sheets_host.stores.google import access, store
from tests.command import Done, here
from tests.google_rig import SHEET, FakeClock
from tests.playing import NOW
from tests.sheets_emulator import OWNER, ROBOT, Emulator
from tests.sheets_emulator.model import Spreadsheet

PASSING = [
    ("429", {}),
    ("429", {"retry_after": 7}),
    ("403-rate", {}),
    ("500", {}),
    ("503", {}),
    ("503", {"retry_after": 3}),
    ("502-html", {}),
    ("reset-before", {}),
    ("reset-after", {}),
    ("503-after", {}),
    ("cut-after", {}),
    ("slow", {"seconds": 0.9}),
]
IDS = [f"{kind}{options or ''}" for kind, options in PASSING]
WORDS = {
    "429": "slow down (429)",
    "403-rate": "slow down (403)",
    "500": "trouble (500)",
    "503": "trouble (503)",
    "503-after": "trouble (503)",
    "502-html": "trouble (502)",
    "reset-before": "connection to Google failed",
    "reset-after": "connection to Google failed",
    "cut-after": "answer cannot be read",
    "slow": "does not answer in time",
}
FINAL = [
    ("400-office", "Excel file lying on Drive"),
    ("401", "does not accept the sign-in"),
    ("403", f"add {ROBOT} and make it Editor"),
    ("403-disabled", "API is off"),
    ("403-scope", "does not cover spreadsheets"),
    ("404", "no spreadsheet with this id"),
]


@dataclass
class Game:
    """A game in round 1 with bids typed, and what closing that round leaves if all goes well."""

    google: Emulator
    time: FakeClock
    before: Spreadsheet
    after: dict[str, object]

    def sync(self) -> Done:
        return here("sync", SHEET, "--close", "1")

    def stands(self) -> dict[str, object]:
        return self.google.snapshot(SHEET)

    def untouched(self) -> bool:
        return all(
            new.cells == old.cells
            for new, old in zip(self.google.book(SHEET).sheets, self.before.sheets, strict=True)
        )

    def writes(self, count: int) -> list[int]:
        """Wait until so many writes have come in; return how they were answered."""
        late = monotonic() + 5
        while self.google.count("write") < count and monotonic() < late:
            sleep(0.02)
        return [call.status for call in self.google.calls if call.kind == "write"]

    def ends_right(self) -> None:
        """The next sync, with nothing in its way, leaves what an undisturbed one leaves."""
        self.google.state.faults.waiting.clear()
        done = self.sync()
        assert done.code == 0, done.said
        assert self.stands() == self.after
        assert len(self.google.book(SHEET).named) == 1


def at_the_command_line(
    google: Emulator, time: FakeClock, folder: Path, patch: pytest.MonkeyPatch
) -> None:
    """Let the command line speak to the emulator, at a fixed time, without really waiting."""

    def context(workbook: str, access_: Access) -> Context:
        return Context(opener(workbook, access_), lambda: NOW, lambda: "chance")

    patch.setenv("SHEETS_EMULATOR_HOST", google.host)
    patch.setattr(cli, "_context", context)
    patch.setattr(store, "Clock", lambda: time.clock(answer=0.4))
    patch.setattr(access, "data_folder", lambda _environ: folder)


@pytest.fixture(name="made", scope="module")
def _made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Game]:
    with Emulator() as google, pytest.MonkeyPatch.context() as patch:
        time = FakeClock()
        google.add_spreadsheet(SHEET)
        at_the_command_line(google, time, tmp_path_factory.mktemp("data"), patch)
        words = ("new", SHEET, "--player", "Ann", "--player", "Bob:1", "--seed", "faults")
        assert here(*words).code == 0
        for cell, bid in {"E7": "12", "F7": "11", "E8": "0", "F9": "30"}.items():
            google.type(SHEET, "Bids", cell, bid)
        assert here("sync", SHEET).code == 0
        before = google.book(SHEET).copied()
        assert here("sync", SHEET, "--close", "1").code == 0
        yield Game(google, time, before, google.snapshot(SHEET))


@pytest.fixture(name="game")
def _game(made: Game) -> Game:
    """The game as it stood before closing; nothing has been called or said yet."""
    made.google.state.books[SHEET] = made.before.copied()
    made.google.state.faults.waiting.clear()
    made.google.calls.clear()
    made.time.said.clear()
    made.time.waits.clear()
    return made


@pytest.mark.parametrize("on", ["read", "write"])
@pytest.mark.parametrize(("kind", "options"), PASSING, ids=IDS)
def test_sync__goes_through_what_passes(
    game: Game, kind: str, options: dict[str, int], on: str
) -> None:
    game.google.fault(kind, on, **options)  # type: ignore[arg-type]
    done = game.sync()
    assert done.code == 0, done.said
    assert game.stands() == game.after
    (said,) = game.time.said
    assert WORDS[kind] in said
    assert SHEET in said
    if (kind, on) == ("slow", "write"):
        # The first one arrives after its repeat, and Google refuses it.
        assert game.writes(2) == [200, 400]
    game.ends_right()


@pytest.mark.parametrize("on", ["read", "write"])
@pytest.mark.parametrize(("kind", "words"), FINAL, ids=[kind for kind, _ in FINAL])
def test_sync__tells_what_stays(game: Game, kind: str, words: str, on: str) -> None:
    game.google.fault(kind, on)
    done = game.sync()
    assert done.code == 3
    assert words in done.said
    assert "Traceback" not in done.said
    assert game.untouched()
    assert game.time.waits == []
    game.ends_right()


@pytest.mark.parametrize("on", ["read", "write"])
@pytest.mark.parametrize("kind", ["429", "500", "502-html", "reset-before"])
def test_sync__gives_up_on_what_lasts(game: Game, kind: str, on: str) -> None:
    game.google.fault(kind, on, times=1000)
    done = game.sync()
    assert done.code == 3
    assert WORDS[kind] in done.said
    assert "again" in done.said
    assert game.untouched()
    game.ends_right()


@pytest.mark.parametrize("kind", ["reset-after", "503-after", "cut-after"])
def test_sync__that_cannot_be_told_of_is_repeated_without_harm(game: Game, kind: str) -> None:
    game.google.fault(kind, "write")
    game.google.fault("503", "read", skip=1, times=1000)
    done = game.sync()
    assert done.code == 3
    assert "cannot be told whether the write was done" in done.said
    assert game.stands() == game.after
    game.ends_right()


def test_sync__of_two_hosts_one_closes_and_the_other_is_told(game: Game) -> None:
    def close_first() -> None:
        game.google.type(SHEET, "Bids", "E8", "7")
        assert here("sync", SHEET, "--close", "1").code == 0

    game.google.fault("edit", "write", edit=close_first)
    done = game.sync()
    assert done.code == 3
    assert "another sync wrote to this sheet" in done.said
    assert "Run the same command again" in done.said
    assert game.stands() != game.after
    theirs = game.stands()
    assert "closed before" in game.sync().said
    assert game.stands() == theirs


def test_sync__of_two_hosts_who_do_the_same_is_done_once(game: Game) -> None:
    game.google.fault("edit", "write", edit=lambda: here("sync", SHEET, "--close", "1"))
    assert game.sync().code == 0
    assert game.stands() == game.after


def test_sync__keeps_what_a_player_types_meanwhile(game: Game) -> None:
    game.google.fault("edit", "write", edit=lambda: game.google.type(SHEET, "Bids", "E7", "99"))
    done = game.sync()
    assert done.code == 0
    stands = game.stands()
    assert stands["Record"] == game.after["Record"], "what was read is what counts"
    found = here("check", SHEET, "--json").json["problems"]
    (late,) = [p for p in found if p["code"] == "changed-after-closing"]
    assert late["cell"] == "E7"
    assert "recorded: 12, now in the cell: 99" in late["message"]


@pytest.mark.parametrize("title", ["Bids", "Record"])
def test_sync__does_not_write_beside_a_row_inserted_meanwhile(title: str, game: Game) -> None:
    tab = game.google.tab(SHEET, title).id
    span = {"sheetId": tab, "dimension": "ROWS", "startIndex": 2, "endIndex": 3}
    game.google.fault(
        "edit",
        "write",
        edit=lambda: game.google.batch(SHEET, {"insertDimension": {"range": span}}),
    )
    assert game.sync().code == 0
    assert game.stands()["Record"] == game.after["Record"]
    assert here("sync", SHEET).code == 0


def test_sync__into_a_tab_that_someone_else_protects_writes_nothing(game: Game) -> None:
    shut = {
        "range": {"sheetId": game.google.tab(SHEET, "Auction").id},
        "editors": {"users": [OWNER]},
    }
    (reply,) = game.google.batch(SHEET, {"addProtectedRange": {"protectedRange": shut}})
    done = game.sync()
    assert done.code == 3
    assert "tab 'Auction': someone else protected it" in done.said
    assert game.untouched()
    number = reply["addProtectedRange"]["protectedRange"]["protectedRangeId"]
    game.google.batch(SHEET, {"deleteProtectedRange": {"protectedRangeId": number}})
    game.ends_right()


def test_sync__into_a_tab_deleted_meanwhile_writes_nothing(game: Game) -> None:
    def delete() -> None:
        game.google.batch(SHEET, {"deleteSheet": {"sheetId": game.google.tab(SHEET, "Auction").id}})

    game.google.fault("edit", "write", edit=delete)
    done = game.sync()
    assert done.code == 3
    assert "nothing was written" in done.said.casefold()
    assert game.google.values(SHEET, "Record")[-1][2] == "deal"


def test_sync__with_a_request_that_google_refuses_writes_nothing(
    game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last request of the batch is senseless, and all before it is undone."""
    from sheets_host.stores.google import writing

    marked = writing._marked

    def spoilt(*parts: object) -> writing.Plan:
        made = marked(*parts)  # type: ignore[arg-type]
        tab = game.google.tab(SHEET, "Record").id
        wrong = {"updateCells": {"range": {"sheetId": tab, "endRowIndex": 10**6}, "fields": "note"}}
        return writing.Plan((*made.requests, wrong), made.mark, made.tabs, made.protects)

    with monkeypatch.context() as patch:
        patch.setattr(writing, "_marked", spoilt)
        done = game.sync()
    assert done.code == 3
    assert "tab 'Record'" in done.said
    assert game.untouched()
    game.ends_right()


@pytest.mark.parametrize("verb", [("check",), ("verify",), ("announce",)])
def test_reading_verbs__tell_what_is_wrong(game: Game, verb: tuple[str, ...]) -> None:
    game.google.fault("403", "read")
    done = here(*verb, SHEET)
    assert done.code == 3
    assert ROBOT in done.said
    assert game.google.count("write") == 0


def test_new__interrupted_after_its_commit_is_not_done_twice(
    game: Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = "another-sheet-of-tests-012345"
    game.google.add_spreadsheet(other)
    words = ("new", other, "--player", "Ann", "--player", "Bob", "--seed", "x")
    game.google.fault("reset-after", "write")
    assert here(*words).code == 0
    made = game.google.snapshot(other)
    again = here(*words)
    assert again.code == 3
    assert "already holds a game" in again.said
    assert game.google.snapshot(other) == made
