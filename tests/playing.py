"""Play a game in a test as people do: type into cells found by their headers, sync, close."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

from sheets_host.game.notes import Note
from sheets_host.game.stages import Stage, stage_of
from sheets_host.grid import Grid, address
from sheets_host.host.beginning import Made, new, plan
from sheets_host.host.gathering import Table
from sheets_host.host.verbs import Context, Synced, Wish, check, sync
from sheets_host.stores.base import Store
from tests.memory_store import MemoryStore, Typed

NOW: Final = dt.datetime(2026, 3, 1, 18, tzinfo=dt.UTC)
SEED: Final = "test"


class Typing(Store, Protocol):
    """A store into which a test can type."""

    def type(self, tab: str, cell: str, value: Typed) -> None:
        """Put a value into a cell such as ``E7``."""
        ...


def context(
    *shelf: Store, now: dt.datetime = NOW, chance: Callable[[], str] = lambda: SEED
) -> Context:
    """Return a context that opens the workbooks of this shelf by their names, at a fixed time."""
    stores = {store.name: store for store in shelf}

    def opener(reference: str) -> Store:
        return stores.get(reference) or MemoryStore(reference)

    return Context(opener, lambda: now, chance)


def start(
    store: Store,
    *players: str,
    seed: str = SEED,
    title: str = "",
    zone: str = "",
    at: Context | None = None,
) -> Made:
    """Begin a game; players as the command takes them: ``Ann`` or ``Ann:3``."""
    return new(store, plan(list(map(seated, players)), title, zone, seed), at or context())


def seated(player: str) -> str:
    """Return how a player is named to the command: a colon in the name wants garnets after it."""
    return player if player.rpartition(":")[2].isdecimal() or ":" not in player else f"{player}:0"


def game(*players: str, seed: str = SEED, **settings: Typed) -> MemoryStore:
    """Begin a game in memory. settings: by name, with ``_`` for each space."""
    store = MemoryStore()
    start(store, *players, seed=seed)
    for name, value in settings.items():
        setting(store, name.replace("_", " "), value)
    return store


# --- typing ------------------------------------------------------------------------------------


def bid(store: Typing, player: str, round_: int, bids: Mapping[int, Typed]) -> None:
    """Type bids by lot into a player's column."""
    grid = _grid(store, "Bids")
    for lot, value in bids.items():
        store.type("Bids", find(grid, {"Round": round_, "Lot": lot}, player), value)


def exchange(store: Typing, player: str, round_: int, uses: Typed) -> None:
    """Type how often a player uses the exchange in a round."""
    cell = find(_grid(store, "Exchanges"), {"Round": round_}, player)
    store.type("Exchanges", cell, uses)


def compose(
    store: Typing, player: str, notes: Sequence[Note | Typed], positions: Sequence[int] = ()
) -> None:
    """Type a composition from position 1 on, or at these positions."""
    grid = _grid(store, "Compositions")
    for position, note in zip(positions or range(1, len(notes) + 1), notes, strict=True):
        text = str(note) if isinstance(note, Note) else note
        store.type("Compositions", find(grid, {"Position": position}, player), text)


def setting(store: Typing, name: str, value: Typed) -> None:
    """Type the value of a setting."""
    store.type("Settings", find(_grid(store, "Settings"), {"Setting": name}, "Value"), value)


def enrol(store: Typing, player: str, header: str, value: Typed) -> None:
    """Type into a player's row of Players, such as ``Status`` or ``Garnets``."""
    store.type("Players", find(_grid(store, "Players"), {"Player": player}, header), value)


def find(grid: Grid, keys: Mapping[str, int | str], header: str) -> str:
    """Return the cell under a header, in the row that these key columns name.

    Raises LookupError where there is none.
    """
    texts: dict[int, dict[str, int]] = {}
    for (row, column), cell in sorted(grid.cells.items()):
        texts.setdefault(row, {})[cell.text] = column
    for row, heads in texts.items():
        if {*keys, header} <= heads.keys():
            for below in (r for r in texts if r > row):
                if all(grid.at(below, heads[k]).text == str(v) for k, v in keys.items()):
                    return address(below, heads[header])
    raise LookupError(f"{grid.title}: {header} {dict(keys)}")


def _grid(store: Store, title: str) -> Grid:
    return store.read((title,)).grids[title]


# --- the host ----------------------------------------------------------------------------------


def look(store: Store, at: Context | None = None) -> Table:
    """Read the game and lay it out; nothing is written."""
    return check(store, at or context())


def refresh(store: Store, at: Context | None = None) -> Synced:
    """Sync and close nothing."""
    return sync(store, Wish(), at or context())


def close(
    store: Store, stage: Stage | int | str, *, void: bool = False, at: Context | None = None
) -> Synced:
    """Close a stage: its number, or ``final``. Fails the test where it stays open."""
    wanted = stage if isinstance(stage, Stage) else stage_of(str(stage))
    done = sync(store, Wish(close=wanted, void=void), at or context())
    assert done.closed is wanted, (done.held, [p.message for p in done.before.standing])
    return done


def compose_all(store: Typing, at: Context | None = None) -> None:
    """Let everybody hand in what they hold, from the lowest pitch up."""
    table = look(store, at)
    for name in table.match.names:
        compose(store, name, table.ledger.notes(name))


def play_on(store: Typing, at: Context | None = None) -> Synced:
    """Close every round from the open one on, without more bids; compose, and finish."""
    table = look(store, at)
    for round_ in range(int(table.match.stage), int(Stage.COMPOSING)):
        close(store, round_, at=at)
    compose_all(store, at)
    return close(store, "final", at=at)


def lot_of(store: Store, note: str, at: Context | None = None) -> tuple[int, int]:
    """Return (round, lot) of a dealt note. Raises LookupError where it is not dealt yet."""
    for round_, deal in look(store, at).match.deals.items():
        for lot, dealt in enumerate(deal, 1):
            if str(dealt) == note:
                return round_, lot
    raise LookupError(note)
