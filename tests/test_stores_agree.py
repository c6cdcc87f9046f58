"""The same game in a workbook, on Google Sheets and in memory: the same to the last cell."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from sheets_host.game.stages import Stage
from sheets_host.grid import Book, Cell, Kind, Shape, Strike
from sheets_host.host.beginning import Plan, new
from sheets_host.host.gathering import Table
from sheets_host.host.jsonview import as_json
from sheets_host.host.reopening import reopen
from sheets_host.host.verbs import Synced, Wish, check, sync, verify
from sheets_host.stores.base import Write
from sheets_host.tabs import host_tabs
from sheets_host.tabs.layout import TITLES, TOOL_TABS
from tests.desks import (
    Desk,
    Entries,
    ExcelDesk,
    GoogleDesk,
    MemoryDesk,
    compositions,
    enter,
    places,
    slips,
    tabs_of,
)
from tests.google_rig import SHEET, FakeClock
from tests.played import Clock, context
from tests.playing import enrol, setting
from tests.sheets_emulator import Emulator

PLAYERS: Final = (("Ann", 3), ("Bob", 0), ("=SUM(A1)", 7), ("Zoë O'Brien", 1), ("Eve", 2))
NAMES: Final = tuple(name for name, _ in PLAYERS)
SETTINGS: Final = {
    "Deal seed": "agree",
    "Time zone": "Europe/Berlin",
    "Game": "=A game & <more>",
    "Round 1 closes": "2026-03-04 18:00",
}


@pytest.fixture(name="google")
def _google() -> Iterator[Emulator]:
    with Emulator() as google:
        google.add_spreadsheet(SHEET)
        yield google


@pytest.fixture(name="desks")
def _desks(google: Emulator, tmp_path: Path) -> dict[str, Desk]:
    """One workbook of each kind, all empty."""
    return {
        "excel": ExcelDesk(tmp_path / "game.xlsx", Clock()),
        "google": GoogleDesk(google, SHEET, FakeClock()),
        "memory": MemoryDesk(),
    }


@dataclass
class Told:
    """A game as it is told: what the host and the tabs said after each step."""

    desk: Desk
    clock: Clock = field(default_factory=Clock)
    steps: list[tuple[str, dict[str, Any], dict[str, object]]] = field(default_factory=list)

    def note(self, step: str, table: Table) -> Table:
        self.steps.append((step, as_json(table), tabs_of(self.desk, TOOL_TABS)))
        return table

    def look(self) -> Table:
        return check(self.desk, context(self.clock))

    def sync(self, step: str, wish: Wish = Wish()) -> Synced:
        self.clock.pass_(1)
        done = sync(self.desk, wish, context(self.clock))
        self.note(step, done.after)
        return done

    def close(self, stage: int, *, void: bool = False) -> Synced:
        done = self.sync(f"close {stage}", Wish(Stage(stage), void))
        assert done.closed is Stage(stage), done.held
        return done


def agree(games: list[Told]) -> None:
    """Hold every step of every game against the first's."""
    first, *others = games
    for other in others:
        for (step, json, tabs), (_, their_json, their_tabs) in zip(
            first.steps, other.steps, strict=True
        ):
            assert their_json == json, step
            for title in TOOL_TABS:
                assert their_tabs[title] == tabs[title], (step, title)


# --- what people type --------------------------------------------------------------------------


def number(value: float, code: str = "General", shape: Shape = Shape.GENERAL) -> Cell:
    return Cell(Kind.NUMBER, value, format=code, shape=shape)


ODD: Final[dict[str, tuple[Cell, str]]] = {
    "number as text": (Cell(Kind.TEXT, "12"), "stored-as-text"),
    "blanks around": (Cell(Kind.TEXT, " 7 "), "stored-as-text"),
    "full width": (Cell(Kind.TEXT, "８"), "stored-as-text"),
    "thousands": (Cell(Kind.TEXT, "1,000"), "separator"),
    "fraction of a token": (number(5.5), "not-whole"),
    "negative": (number(-1.0), "negative"),
    "date": (number(46085.0, "yyyy-mm-dd", Shape.DATE), "date"),
    "time of day": (number(0.5, "h:mm", Shape.TIME), "date"),
    "a half": (number(0.5, "# ?/?", Shape.FRACTION), "not-whole"),
    "per cent": (number(0.05, "0%", Shape.PERCENT), "percent"),
    "money": (number(12.0, '"$"#,##0', Shape.CURRENCY), ""),
    "formula": (Cell(Kind.NUMBER, 5.0, "=2+3"), "formula"),
    "formula of a text": (Cell(Kind.TEXT, "9", '=CONCATENATE("9","")'), "stored-as-text"),
    "formula error": (Cell(Kind.ERROR, "#DIV/0!", "=1/0"), "formula-error"),
    "formula's yes": (Cell(Kind.BOOLEAN, True, "=1=1"), "boolean"),
    "checkbox": (Cell(Kind.BOOLEAN, True), "boolean"),
    "struck": (Cell(Kind.NUMBER, 12.0, strike=Strike.WHOLE), "struck-out"),
    "pass": (Cell(Kind.TEXT, "Pass"), "read-as-blank"),
    "dash": (Cell(Kind.TEXT, "–"), "read-as-blank"),
    "words": (Cell(Kind.TEXT, "all of it"), "not-a-number"),
    "text of a formula": (Cell(Kind.TEXT, "=2+3"), "not-a-number"),
    "too large": (number(1e16), "too-large"),
    "nothing bid": (number(0.0), ""),
}


def odd_entries(round_: int) -> tuple[Entries, dict[tuple[str, int], str]]:
    """Spread the odd entries over the first three players' lots; return the codes, too."""
    entries: Entries = {}
    codes = {}
    for nth, (cell, code) in enumerate(ODD.values()):
        player, lot = NAMES[nth // 8], nth % 8 + 1
        entries["Bids", (round_, lot), player] = cell
        codes[player, lot] = code
    return entries, codes


def play(desk: Desk) -> Told:
    """Play a game in which people do all that people do."""
    game, chance = Told(desk), random.Random("agree")
    new(desk, Plan(PLAYERS, SETTINGS), context(game.clock))
    game.sync("new")
    enter(desk, slips(game.look(), chance))
    game.sync("round 1")
    game.close(1)

    entries, _ = odd_entries(2)
    entries["Exchanges", (2,), "Ann"] = Cell(Kind.TEXT, "1")
    entries["Exchanges", (2,), "Eve"] = number(0.5)
    enter(desk, entries)
    desk.merge("Bids", "H15:I15")
    game.sync("odd bids")
    assert game.sync("held", Wish(Stage.ROUND_2)).held
    game.close(2, void=True)

    enter(
        desk,
        {
            ("Bids", (3, 1), "Ann"): 400,
            ("Bids", (3, 2), "Ann"): 399,
            ("Exchanges", (3,), "Bob"): 1,
            ("Exchanges", (3,), "=SUM(A1)"): 2,
            ("Bids", (3, 1), "=SUM(A1)"): 100,
            ("Bids", (3, 8), "Eve"): 7,
        },
    )
    game.sync("over budget")
    game.close(3, void=True)

    enrol(desk, "Eve", "Status", "withdrawn")
    enrol(desk, "Bob", "Formerly", "Bob")
    enrol(desk, "Bob", "Player", "Robert")
    enter(desk, {("Bids", (3, 8), "Eve"): 70, ("Bids", (5, 1), "Ann"): 3})
    game.sync("late and early")
    reopen(desk, Stage.ROUND_3, ["=SUM(A1)"], "mistyped", context(game.clock))
    enter(desk, {("Bids", (3, 1), "=SUM(A1)"): 90})
    game.sync("reopened")
    game.close(3)

    for round_ in (4, 5, 6):
        bids = slips(game.look(), chance)
        enter(desk, {(t, k, "Bob" if p == "Robert" else p): v for (t, k, p), v in bids.items()})
        game.close(round_)
    handed = compositions(game.look(), chance)
    handed = {(t, k, "Bob" if p == "Robert" else p): v for (t, k, p), v in handed.items()}
    mine = [key for key in handed if key[2] == "Ann"]
    spoilt: Entries = {
        mine[0]: str(handed[mine[0]]).replace("#", "♯").upper(),
        ("Compositions", (40,), "Ann"): "H quarter",
        ("Compositions", (41,), "Ann"): number(46024.0, "d-mmm", Shape.DATE),
        ("Compositions", (42,), "Ann"): Cell(Kind.TEXT, "C half", strike=Strike.WHOLE),
        ("Compositions", (43,), "Ann"): handed[mine[1]],
    }
    enter(desk, handed | spoilt)
    game.sync("odd notes")
    enter(desk, dict.fromkeys(list(spoilt)[1:]))
    result = game.close(7).after.result
    assert result is not None
    if result.choice_among:
        setting(desk, "Elimination choice", min(result.choice_among))
        game.sync("chosen")
    return game


def test_a_game__is_the_same_in_every_store(desks: dict[str, Desk]) -> None:
    games = [play(desk) for desk in desks.values()]
    agree(games)
    codes = {p["code"] for _, json, _ in games[0].steps for p in json["problems"]}
    assert {"over-budget", "too-few-garnets", "changed-after-closing", "too-early"} <= codes
    for desk in desks.values():
        assert verify(desk, context(Clock())).differing == ()
    assert games[0].steps[-1][1]["winner"] is not None


@pytest.mark.parametrize("kind", ["excel", "google", "memory"])
def test_odd_entries__are_told_by_the_same_codes_at_their_cells(
    desks: dict[str, Desk], kind: str
) -> None:
    desk = desks[kind]
    entries, codes = odd_entries(1)
    new(desk, Plan(PLAYERS, SETTINGS), context(Clock()))
    enter(desk, entries)
    table = check(desk, context(Clock()))
    told = {problem.cell: problem.code for problem in table.problems if problem.tab == "Bids"}
    cells = [cell for _, cell in places(desk, entries)]
    assert [told.get(cell, "") for cell in cells] == list(codes.values())


# --- how a game begins -------------------------------------------------------------------------


def test_new__makes_the_same_tabs_on_an_empty_sheet(desks: dict[str, Desk]) -> None:
    excel, google = desks["excel"], desks["google"]
    for desk in (excel, google):
        new(desk, Plan(PLAYERS, SETTINGS), context(Clock()))
    ours = tabs_of(excel, TITLES)
    theirs = tabs_of(google, TITLES)
    for title in TITLES:  # a formula's stored value is the program's that calculates
        assert _drawn(theirs[title]) == _drawn(ours[title]), title
    assert google.read(()).titles == ("Sheet1", *TITLES)


def _drawn(tab: Any) -> dict[tuple[int, int], object]:
    return {place: formula or (kind, value) for place, (kind, value, formula) in tab.items()}


def test_new__completes_a_template_the_host_filled_in(desks: dict[str, Desk]) -> None:
    """Settings and Players stay as they are, and the rest is the same as in a game made anew."""
    roster = [[name, garnets or None] for name, garnets in PLAYERS]
    values = {name: SETTINGS[name] for name in ("Deal seed", "Time zone", "Game")}
    made = MemoryDesk()
    new(made, Plan(PLAYERS, values), context(Clock()))
    for kind in ("excel", "google"):
        desk = desks[kind]
        template = (host_tabs.settings(values), host_tabs.players(roster))
        book = desk.read(()) if desk.exists() else Book((), {})
        desk.write(Write(template, book, "", "", "template"))
        filled = tabs_of(desk, ("Settings", "Players"))
        done = new(desk, Plan(), context(Clock()))
        assert done.completed
        assert tabs_of(desk, ("Settings", "Players")) == filled
        for title in TOOL_TABS:
            assert tabs_of(desk, (title,)) == tabs_of(made, (title,)), (kind, title)


# --- who may edit what -------------------------------------------------------------------------

ANN, BOB = "ann@example.org", "bob@example.org"


def may(google: GoogleDesk, who: str, cell: tuple[str, str]) -> bool:
    """Tell whether someone can type into a cell, by trying; the cell is as it was afterwards."""
    before = google.google.book(google.sheet_id).copied()
    try:
        google.type(*cell, 1, who=who)
    except PermissionError:
        return False
    google.google.state.books[google.sheet_id] = before
    return True


def test_protections__columns_of_players_and_rows_of_closed_rounds(
    desks: dict[str, Desk],
) -> None:
    desk = desks["google"]
    assert isinstance(desk, GoogleDesk)
    desk.google.book(SHEET).people |= {ANN: "writer", BOB: "writer"}
    at = context(Clock())
    template = host_tabs.players([["Ann", None, None, ANN], ["Bob", None, None, BOB], ["Eve"]])
    desk.write(Write((host_tabs.settings(SETTINGS), template), desk.read(()), "", "", "x"))
    new(desk, Plan(), at)
    rows = (
        ("Bids", (1, 1)),
        ("Bids", (2, 1)),
        ("Exchanges", (1,)),
        ("Exchanges", (2,)),
        ("Compositions", (1,)),
    )
    keys = [(tab, key, player) for player in ("Ann", "Bob", "Eve") for tab, key in rows]
    cells = dict(zip(keys, places(desk, dict.fromkeys(keys)), strict=True))

    def open_to(who: str) -> set[tuple[str, tuple[int, ...], str]]:
        return {key for key, cell in cells.items() if may(desk, who, cell)}

    def of(player: str, *rounds: int) -> set[tuple[str, tuple[int, ...], str]]:
        return {
            key
            for key in cells
            if key[2] in (player, "Eve") and (key[0] == "Compositions" or key[1][0] in rounds)
        }

    assert open_to(ANN) == of("Ann", 1, 2)
    assert open_to(BOB) == of("Bob", 1, 2)
    assert not may(desk, BOB, ("Bids", "E6")), "Ann's header"
    snapshot = desk.google.snapshot(SHEET)
    calls = desk.google.count("write")
    sync(desk, Wish(), at)
    assert desk.google.count("write") == calls, "what new made needs no mending"
    sync(desk, Wish(Stage.ROUND_1), at)
    assert open_to(ANN) == of("Ann", 2)
    assert open_to(BOB) == of("Bob", 2)
    reopen(desk, Stage.ROUND_1, ["Ann"], "mistyped", at)
    assert open_to(ANN) == of("Ann", 1, 2)
    sync(desk, Wish(Stage.ROUND_1), at)
    assert open_to(ANN) == of("Ann", 2)
    after = desk.google.snapshot(SHEET)
    for title in ("Bids", "Exchanges", "Compositions", "Settings", "Players"):
        assert after[title] == snapshot[title], "protections are no cells"


def test_protections__of_compositions_once_they_are_closed(desks: dict[str, Desk]) -> None:
    desk = desks["google"]
    assert isinstance(desk, GoogleDesk)
    desk.google.book(SHEET).people[ANN] = "writer"
    at = context(Clock())
    new(desk, Plan((("Ann", 0), ("Bob", 0)), SETTINGS), at)
    (cell,) = places(desk, {("Compositions", (48,), "Ann"): None})
    for stage in list(Stage)[:7]:
        assert may(desk, ANN, cell)
        sync(desk, Wish(stage), at)
    assert not may(desk, ANN, cell)
    reopen(desk, Stage.COMPOSING, ["Ann"], "mistyped", at)
    assert may(desk, ANN, cell)


def test_a_tool_tab__cannot_be_edited_by_players(desks: dict[str, Desk]) -> None:
    desk = desks["google"]
    assert isinstance(desk, GoogleDesk)
    desk.google.book(SHEET).people[ANN] = "writer"
    new(desk, Plan(PLAYERS, SETTINGS), context(Clock()))
    assert not [title for title in TOOL_TABS if may(desk, ANN, (title, "A5"))]


# --- calls and bytes ---------------------------------------------------------------------------

KB: Final = 1000


@pytest.mark.parametrize(
    ("players", "most"),
    [
        (12, {"read": 40 * KB, "new": 400 * KB, "sync": 40 * KB, "close": 160 * KB}),
        (200, {"read": 260 * KB, "new": 1500 * KB, "sync": 230 * KB, "close": 1200 * KB}),
    ],
)
def test_calls__one_read_and_at_most_one_write(
    google: Emulator, players: int, most: dict[str, int]
) -> None:
    """Bytes of body as they go over the wire; Google advises less than 2 MB a call.

    A closing sends the whole Record, so that no row that somebody inserts meanwhile shifts it.
    """
    desk, at = GoogleDesk(google, SHEET, FakeClock(), answer=60), context(Clock())
    names = tuple((f"Player {n}", 2) for n in range(1, players + 1))
    chance = random.Random(players)

    def calls() -> tuple[list[str], int, int]:
        found = list(google.calls)
        google.calls.clear()
        reads = sum(call.sent for call in found if call.kind == "read")
        writes = sum(call.received for call in found if call.kind == "write")
        return [call.kind for call in found], reads, writes

    for what, do, kinds in (
        ("new", lambda: new(desk, Plan(names, SETTINGS), at), ["read", "write"]),
        ("check", lambda: check(desk, at), ["read"]),
        ("sync", lambda: sync(desk, Wish(), at), ["read", "write"]),
        ("sync again", lambda: sync(desk, Wish(), at), ["read"]),
        ("close", lambda: sync(desk, Wish(Stage.ROUND_1), at), ["read", "write"]),
        ("close again", lambda: sync(desk, Wish(Stage.ROUND_1), at), ["read"]),
    ):
        if what == "sync":
            enter(desk, slips(check(desk, at), chance))
            google.calls.clear()
        do()
        found, sent, received = calls()
        assert found == kinds, what
        assert sent < most["read"], what
        assert received < most.get(what, 1), what
