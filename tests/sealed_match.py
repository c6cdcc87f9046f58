"""A sealed match for the tests: the host's workbook, a sheet for each player, and the board."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from sheets_host.game.stages import Stage
from sheets_host.grid import Book, Content
from sheets_host.host.beginning import Made, Plan, new
from sheets_host.host.gathering import Table
from sheets_host.host.verbs import Context, Synced, Wish, check, sync
from sheets_host.stores.base import Store, Write
from sheets_host.tabs import host_tabs
from tests.desks import (
    Desk,
    Entries,
    ExcelDesk,
    GoogleDesk,
    MemoryDesk,
    enter,
    of_player,
)
from tests.google_rig import FakeClock
from tests.played import Clock
from tests.sheets_emulator import Emulator

SETTINGS: Final = {"Deal seed": "sealed", "Time zone": "UTC"}
BOARD: Final = "board-of-the-sealed-tests-0001"


def sheet_id(name: str) -> str:
    return f"sheet-of-{name.encode().hex()}-in-the-sealed-tests"[:90]


@dataclass
class Match:
    """A sealed match: the host's workbook, everyone's sheet, and the board.

    away: who lets the host's command fail; by the name of the store that is opened.
    """

    store: Desk
    sheets: dict[str, Desk]
    board: Desk | None = None
    clock: Clock = field(default_factory=Clock)
    replaced: dict[str, Store] = field(default_factory=dict)

    @property
    def context(self) -> Context:
        shelf: dict[str, Store] = {desk.name: desk for desk in self.sheets.values()}
        if self.board is not None:
            shelf[self.board.name] = self.board
        shelf |= self.replaced
        return Context(lambda name: shelf[name], self.clock, lambda: "chance")

    def begin(self, garnets: Sequence[int] = ()) -> Made:
        """Fill in Settings and Players as a host does, and let `new` complete them."""
        held = (*garnets, *([None] * len(self.sheets)))
        rows: list[list[Content]] = [
            [name, held[n], None, None, desk.name]
            for n, (name, desk) in enumerate(self.sheets.items())
        ]
        values = {**SETTINGS, "Board": self.board.name if self.board else ""}
        template = (host_tabs.settings(values), host_tabs.players(rows))
        book = self.store.read(()) if self.store.exists() else Book((), {})
        self.store.write(Write(template, book, "", "", "template"))
        return new(self.store, Plan(), self.context)

    def look(self) -> Table:
        return check(self.store, self.context)

    def sync(self, wish: Wish = Wish()) -> Synced:
        return sync(self.store, wish, self.context)

    def close(self, stage: int, *, void: bool = False, without: Sequence[str] = ()) -> Synced:
        done = self.sync(Wish(Stage(stage), void, tuple(without)))
        assert done.closed is Stage(stage), (done.held, [p.message for p in done.before.standing])
        return done

    def enter(self, entries: Entries) -> None:
        """Let each player type into their own sheet."""
        for name, desk in self.sheets.items():
            enter(desk, of_player(entries, [name]))


def in_memory(*players: str, board: bool = True) -> Match:
    sheets: dict[str, Desk] = {name: MemoryDesk(f"{name}.xlsx") for name in players}
    return Match(MemoryDesk(), sheets, MemoryDesk("board.xlsx") if board else None)


def mixed(
    players: Sequence[str], folder: Path, google: Emulator, *, board: str = "google"
) -> Match:
    """Return a match of which every other sheet is a file, and the rest are on the emulator."""
    clock, time = Clock(), FakeClock()
    sheets: dict[str, Desk] = {}
    for n, name in enumerate(players):
        if n % 2:
            google.add_spreadsheet(sheet_id(name))
            sheets[name] = GoogleDesk(google, sheet_id(name), time)
        else:
            sheets[name] = ExcelDesk(folder / f"player-{n}.xlsx", clock)
    shown: Desk = ExcelDesk(folder / "board.xlsx", clock)
    if board == "google":
        google.add_spreadsheet(BOARD)
        shown = GoogleDesk(google, BOARD, time)
    return Match(ExcelDesk(folder / "game.xlsx", clock), sheets, shown, clock)


def memory(desk: Desk | None) -> MemoryDesk:
    assert isinstance(desk, MemoryDesk)
    return desk


def twin(match: Match) -> Match:
    """Return a match in memory of the same contents that goes its own way."""
    sheets: dict[str, Desk] = {n: copied(desk) for n, desk in match.sheets.items()}
    return replace(match, store=copied(match.store), sheets=sheets, board=copied(match.board))


def copied(desk: Desk | None) -> MemoryDesk:
    made, known = MemoryDesk(memory(desk).name), memory(desk)
    made._grids, made._revision = dict(known._grids), known._revision
    return made
