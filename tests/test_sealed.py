"""Sealed play: an entry sheet for each player, and a board that all may read."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from sheets_host.game.stages import Stage
from sheets_host.grid import Book, Cell, Kind, Strike
from sheets_host.host.beginning import Plan, new
from sheets_host.host.jsonview import as_json
from sheets_host.host.reopening import reopen
from sheets_host.host.verbs import Synced, UsageError, Wish
from sheets_host.stores.base import Store, StoreError, Write
from sheets_host.tabs.layout import BOARD_TABS, TOOL_TABS
from tests.desks import (
    MemoryDesk,
    compositions,
    enter,
    places,
    slips,
    tabs_of,
)
from tests.played import names
from tests.playing import enrol, setting
from tests.sealed_match import (
    BOARD,
    SETTINGS,
    Match,
    copied,
    in_memory,
    memory,
    mixed,
)
from tests.sheets_emulator import Emulator


@pytest.fixture(name="google")
def _google() -> Iterator[Emulator]:
    with Emulator() as google:
        yield google


# --- a whole match -----------------------------------------------------------------------------


def without_seals(json: Any) -> Any:
    """Return the host's view without what must differ: seals, and which file is meant."""
    json = {**json, "record": {"rows": json["record"]["rows"]}}
    json["problems"] = [{**p, "file": None, "cell": None} for p in json["problems"]]
    return json


def reports(store: Store) -> dict[str, Any]:
    """Return the report tabs without the line that bears the seal."""
    tabs = tabs_of(store, [t for t in TOOL_TABS if t not in ("Checks", "Record")])
    return {
        title: {place: cell for place, cell in cells.items() if place[0] != 3}  # type: ignore[attr-defined]
        for title, cells in tabs.items()
    }


def test_twelve_players__half_excel_half_google__is_the_game_in_one_file(
    tmp_path: Path, google: Emulator
) -> None:
    players = names(12)
    garnets = [n % 5 for n in range(12)]
    match = mixed(players, tmp_path, google)
    made = match.begin(garnets)
    assert made.sheets is not None
    assert [name for _, name in made.sheets.made] == list(players)
    assert made.sheets.trouble == ()
    first = match.sync()
    assert {name for name, _, _ in first.written} == {BOARD}, "what new made needs no mending"
    one = MemoryDesk("one.xlsx")
    alone = Match(one, {}, None)
    new(one, Plan(tuple(zip(players, garnets, strict=True)), SETTINGS), alone.context)
    chance = random.Random("sealed")
    for stage in range(1, 8):
        table = match.look()
        assert without_seals(as_json(table)) == without_seals(as_json(alone.look()))
        entries = slips(table, chance) if stage < 7 else compositions(table, chance)
        if stage == 3:
            entries["Bids", (3, 1), "Ethel"] = Cell(Kind.TEXT, "many")
            entries["Bids", (3, 2), "Clara"] = 1000
            entries["Bids", (3, 3), "Robert"] = Cell(Kind.NUMBER, 9.0, strike=Strike.WHOLE)
        match.enter(entries)
        enter(one, entries)
        void = stage == 3
        ours, theirs = match.close(stage, void=void), alone.close(stage, void=void)
        assert ours.trouble == ()
        assert without_seals(as_json(ours.after)) == without_seals(as_json(theirs.after))
        assert reports(match.store) == reports(one)
    assert match.board is not None
    assert tabs_of(match.board, TOOL_TABS) == tabs_of(match.store, BOARD_TABS)
    assert match.sync().written == ()
    assert match.look().result is not None


def test_what_is_told_of_a_player__stands_in_their_sheet_alone() -> None:
    match = in_memory("Ann", "Bob")
    match.begin()
    match.enter({("Bids", (1, 3), "Ann"): 12, ("Bids", (1, 4), "Bob"): "what?"})
    match.sync()
    ann, bob = (str(tabs_of(match.sheets[name], ["Checks"])) for name in ("Ann", "Bob"))
    assert "lot 3" in ann
    assert "read as" in ann
    assert "what?" not in ann
    assert "what?" in bob
    assert "lot 3" not in bob
    assert match.board is not None
    assert not {"Checks", "Record"} & set(match.board.read(()).titles)
    game = str(tabs_of(match.store, ["Checks"]))
    assert "Ann.xlsx: Bids!" in game
    assert "Bob.xlsx: Bids!" in game


# --- out of reach, or not trusted --------------------------------------------------------------


class Away:
    """A workbook that cannot be reached, or only not written."""

    def __init__(self, desk: Store, *, writes_only: bool = False) -> None:
        self.desk, self.writes_only = desk, writes_only
        self.name, self.identity = desk.name, desk.identity

    def copies(self) -> Path:
        return self.desk.copies()

    def diagnose(self) -> tuple[Any, ...]:
        return ()

    def exists(self) -> bool:
        return True

    def read(self, titles: Any) -> Book:
        if self.writes_only:
            return self.desk.read(titles)
        raise StoreError(f"{self.name}: nobody is there", "look again")

    def write(self, write: Write) -> tuple[str, ...]:
        raise StoreError(f"{self.name}: it is locked", "unlock it")


@pytest.mark.parametrize("void", [True, False])
@pytest.mark.parametrize("due", [True, False])
def test_a_sheet_out_of_reach__keeps_every_stage_open(void: bool, due: bool) -> None:
    match = in_memory("Ann", "Bob")
    match.begin()
    setting(match.store, "Round 1 closes", "2026-01-01 12:00")
    setting(match.store, "Unfixed entries at closing", "void")
    match.replaced["Bob.xlsx"] = Away(match.sheets["Bob"])
    done = match.sync(Wish(None if due else Stage.ROUND_1, void, due=due))
    assert done.closed is None
    assert done.held == "an entry sheet cannot be read (Bob)"
    (fault,) = done.after.faults
    assert (fault.code, fault.cell, fault.player) == ("sheet-unreachable", "E3", "Bob")
    assert "nobody is there" in fault.message


def test_without__closes_and_is_recorded() -> None:
    match = in_memory("Ann", "Bob", "Eve")
    match.begin()
    match.enter({("Bids", (1, 1), "Ann"): 5, ("Bids", (1, 1), "Bob"): 9})
    match.replaced["Bob.xlsx"] = Away(match.sheets["Bob"])
    with pytest.raises(UsageError, match="can be read"):
        match.sync(Wish(Stage.ROUND_1, without=("Ann", "Bob")))
    with pytest.raises(UsageError, match="no player is called"):
        match.sync(Wish(Stage.ROUND_1, without=("Bobby",)))
    done = match.close(1, without=["Bob"])
    slips_ = {e.player: e.value for e in done.after.record.events if e.kind == "slip"}
    assert slips_ == {"Ann": "entered", "Bob": "without", "Eve": "nothing"}
    assert done.after.ledger.outcomes[1][0].winner == "Ann"
    match.replaced.clear()
    back = match.sync().after
    assert [(p.code, p.player) for p in back.problems] == [("changed-after-closing", "Bob")]
    assert "As of round 1, closed" in str(tabs_of(match.sheets["Bob"], ["Checks"]))


def test_a_withdrawn_players_sheet__is_not_waited_for() -> None:
    match = in_memory("Ann", "Bob")
    match.begin()
    enrol(match.store, "Bob", "Status", "withdrawn")
    match.replaced["Bob.xlsx"] = Away(match.sheets["Bob"])
    match.close(1)


@pytest.mark.parametrize("which", ["Ann.xlsx", "board.xlsx"])
def test_a_locked_workbook__never_blocks_the_record(which: str) -> None:
    match = in_memory("Ann", "Bob")
    match.begin()
    match.sync()
    match.enter({("Bids", (1, 1), "Ann"): 5})
    assert match.board is not None
    locked = match.sheets["Ann"] if which == "Ann.xlsx" else match.board
    match.replaced[which] = Away(locked, writes_only=True)
    done = match.close(1)
    assert [error.message for error in done.trouble] == [f"{which}: it is locked"]
    match.replaced.clear()
    mended = match.sync()
    assert {name for name, _, _ in mended.written} == {which}
    assert match.sync().written == ()


def test_a_board_out_of_reach__never_blocks_the_record() -> None:
    match = in_memory("Ann", "Bob")
    match.begin()
    assert match.board is not None
    match.replaced["board.xlsx"] = Away(match.board)
    done = match.close(1)
    assert [error.message for error in done.trouble] == ["board.xlsx: nobody is there"]


def faults_of(match: Match) -> dict[str, str]:
    """Return the code of each player's fault; and see that nothing closes."""
    done = match.sync(Wish(Stage.ROUND_2, void=True))
    assert done.closed is None
    return {str(fault.player): fault.code for fault in done.after.faults}


def ready(*players: str) -> Match:
    match = in_memory(*players)
    match.begin()
    match.enter({("Bids", (1, 1), name): n for n, name in enumerate(players)})
    match.close(1)
    return match


def test_swapped_sheets__are_noticed() -> None:
    match = ready("Ann", "Bob", "Eve")
    match.replaced = {"Ann.xlsx": match.sheets["Bob"], "Bob.xlsx": match.sheets["Ann"]}
    assert faults_of(match) == {"Ann": "sheet-of-another", "Bob": "sheet-of-another"}
    assert "Ann" not in str(tabs_of(match.sheets["Bob"], ["Checks"]))


def test_a_copied_sheet__is_noticed() -> None:
    match = ready("Ann", "Bob")
    copy = copied(match.sheets["Ann"])
    copy._name = "Bob.xlsx"
    match.replaced = {"Bob.xlsx": copy}
    assert faults_of(match) == {"Bob": "sheet-of-another"}


def test_a_copied_sheet__with_the_header_changed__is_noticed() -> None:
    match = ready("Ann", "Bob")
    copy = copied(match.sheets["Ann"])
    for tab, cell in places(copy, {(t, k, "Ann"): None for t, k in HEADS}):
        copy.type(tab, f"{cell[0]}{HEADER_ROW[tab]}", "Bob")
    copy._name = "Bob.xlsx"
    match.replaced = {"Bob.xlsx": copy}
    assert faults_of(match) == {"Bob": "sheet-of-another"}


HEADS: Final = (("Bids", (1, 1)), ("Exchanges", (1,)), ("Compositions", (1,)))
HEADER_ROW: Final = {"Bids": 6, "Exchanges": 6, "Compositions": 8}


def test_two_players_on_one_sheet__is_that_of_whom_it_names() -> None:
    match = ready("Ann", "Bob", "Eve")
    match.replaced = {"Bob.xlsx": match.sheets["Ann"]}
    assert faults_of(match) == {"Bob": "sheet-shared"}
    match.replaced = dict.fromkeys(("Ann.xlsx", "Bob.xlsx"), match.sheets["Eve"])
    assert faults_of(match) == {"Ann": "sheet-shared", "Bob": "sheet-shared"}
    match.close(2, without=["Ann", "Bob"])


def test_the_game_workbook_as_an_entry_sheet__is_noticed() -> None:
    match = ready("Ann", "Bob")
    match.replaced = {"Bob.xlsx": match.store}
    assert faults_of(match) == {"Bob": "sheet-shared"}


def test_a_sheet_of_another_game__is_noticed() -> None:
    match = ready("Ann", "Bob")
    other = in_memory("Ann", "Bob")
    other.clock.pass_(1)
    other.begin()
    match.replaced = {"Bob.xlsx": other.sheets["Bob"]}
    assert faults_of(match) == {"Bob": "sheet-of-another"}


def test_a_sheet_with_another_players_column__is_noticed() -> None:
    match = ready("Ann", "Bob")
    (_, cell), *_ = places(match.sheets["Bob"], {("Bids", (1, 1), "Bob"): None})
    beside = f"{chr(ord(cell[0]) + 1)}6"
    match.sheets["Bob"].type("Bids", beside, "Ann")
    assert faults_of(match) == {"Bob": "sheet-damaged"}


@pytest.mark.parametrize("tab", ["Bids", "Checks", "Auction"])
def test_a_sheet_without_a_tab__is_noticed(tab: str) -> None:
    match = ready("Ann", "Bob")
    memory(match.sheets["Bob"]).delete(tab)
    assert faults_of(match) == {"Bob": "sheet-damaged"}


def test_a_sheet_is_its_own__after_the_record_was_restored() -> None:
    """The sheets bear later seals than the Record that was put back; they are of this game."""
    match = ready("Ann", "Bob")
    earlier = copied(match.store)
    match.enter({("Bids", (2, 1), "Ann"): 6})
    match.close(2)
    match.store = earlier
    again = match.close(2)
    assert again.after.faults == ()
    assert again.after.match.slips[2, "Ann"].bids == {1: 6}


def test_a_renamed_player__keeps_the_sheet() -> None:
    match = ready("Ann", "Bob")
    enrol(match.store, "Bob", "Formerly", "Bob")
    enrol(match.store, "Bob", "Player", "Robert")
    enter(match.sheets["Bob"], {("Bids", (2, 1), "Bob"): 8})
    done = match.close(2)
    assert done.after.faults == ()
    assert done.after.match.slips[2, "Robert"].bids == {1: 8}
    assert match.sync().after.faults == ()


def test_a_sealed_players_column_in_the_game_workbook__is_ignored_with_a_notice() -> None:
    match = ready("Ann", "Bob")
    enter(match.store, {("Bids", (2, 1), "Ann"): 400})
    table = match.look()
    assert [(p.code, p.tab, p.player) for p in table.problems] == [
        ("column-ignored", "Bids", "Ann")
    ]
    done = match.close(2)
    assert done.after.match.slips[2, "Ann"].bids == {}


# --- the board ---------------------------------------------------------------------------------


def board_trouble(match: Match) -> str:
    done = match.close(2)
    (error,) = done.trouble
    return error.message


def test_a_board_that_is_an_entry_sheet__is_not_drawn() -> None:
    match = ready("Ann", "Bob")
    before = tabs_of(match.sheets["Ann"], ["Bids"])
    match.replaced = {"board.xlsx": match.sheets["Ann"]}
    assert "Board in Settings names the entry sheet of Ann" in board_trouble(match)
    assert tabs_of(match.sheets["Ann"], ["Bids"]) == before
    assert match.sync().written == ()


def test_a_board_that_is_the_game_workbook__is_not_drawn() -> None:
    match = ready("Ann", "Bob")
    match.replaced = {"board.xlsx": match.store}
    assert "Board in Settings names the game workbook" in board_trouble(match)


def test_a_board_that_is_another_game__is_not_drawn() -> None:
    match, other = ready("Ann", "Bob"), ready("Cid", "Dee")
    memory(other.store)._name = "other.xlsx"
    match.replaced = {"board.xlsx": other.store}
    assert 'holds a tab "' in board_trouble(match)
    other.close(2)


def test_a_board_with_a_tab_of_the_hosts_own__is_not_drawn_over() -> None:
    match = in_memory("Ann", "Bob")
    assert isinstance(match.board, MemoryDesk)
    match.board.type("Garnets", "A1", "prices of jewels")
    match.board.type("Notes", "A1", "mine")
    match.begin()
    done = match.close(1)
    assert "in the way" in done.trouble[0].message
    assert match.board.at("Garnets", "A1").text == "prices of jewels"
    match.board.delete("Garnets")
    assert match.sync().trouble == ()
    assert match.board.at("Notes", "A1").text == "mine"


# --- killed in between -------------------------------------------------------------------------


class Killed(BaseException):
    """The process ends here: nothing of ours may catch it."""


class Mortal(MemoryDesk):
    """A workbook at which the process is killed before its write, or right after it."""

    when: str = ""

    def write(self, write: Write) -> tuple[str, ...]:
        if self.when == "before":
            raise Killed
        lines = super().write(write)
        if self.when == "after":
            raise Killed
        return lines


WORKBOOKS: Final = ("game", "Ann", "Bob", "board")


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("which", WORKBOOKS)
@pytest.mark.parametrize("verb", ["close", "reopen"])
def test_killed_anywhere__the_next_sync_finishes(which: str, when: str, verb: str) -> None:
    def finished(kill: str) -> list[dict[str, object]]:
        desks = {name: Mortal(f"{name}.xlsx") for name in WORKBOOKS}
        match = Match(desks["game"], {"Ann": desks["Ann"], "Bob": desks["Bob"]}, desks["board"])
        match.begin()
        match.enter({("Bids", (1, 1), "Ann"): 5, ("Bids", (1, 1), "Bob"): 6})
        if verb == "reopen":
            match.close(1)

        def do() -> Synced:
            if verb == "close":
                return match.sync(Wish(Stage.ROUND_1))
            return reopen(match.store, Stage.ROUND_1, ["Ann"], "x", match.context)

        if kill:
            desks[which].when = kill
            with pytest.raises(Killed):
                do()
            desks[which].when = ""
        if verb == "close" or not kill or (which, kill) == ("game", "before"):
            do()
        else:
            match.sync()
        assert match.sync().written == ()
        return [tabs_of(desk, desk.read(()).titles) for desk in desks.values()]

    assert finished(when) == finished("")
