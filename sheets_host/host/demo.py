"""The verb `demo`: made-up players play a whole game through the same path as a real one."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from sheets_host.game.best import best
from sheets_host.game.conditions import CONDITIONS
from sheets_host.game.rulings import LOTS, ROUNDS
from sheets_host.game.stages import Stage
from sheets_host.grid import Content, Tab
from sheets_host.host.beginning import Plan, new
from sheets_host.host.gathering import Table
from sheets_host.host.verbs import Context, Synced, Wish, check, sync
from sheets_host.stores.base import Store, Write
from sheets_host.tabs.entry_tabs import (
    BIDS_HEADER,
    COMPOSITIONS_HEADER,
    EXCHANGES_HEADER,
    entry_tabs,
)

PLAYERS: Final = (
    ("Amadeus", 3),
    ("Clara", 5),
    ("Fanny", 2),
    ("Franz", 4),
    ("Hildegard", 3),
    ("Ludwig", 1),
)
SEED: Final = "demo"

Typed = Mapping[tuple[str, int, int], Content]
"""What players type: by tab, row and column."""


def demo(store: Store, context: Context) -> Synced:
    """Play a match from `new` to the result and leave the workbook. Raises StoreError."""
    settings = {"Game": "Composer Auction, a demo", "Deal seed": SEED}
    made = new(store, Plan(PLAYERS, settings), context)
    chance = random.Random(SEED)  # noqa: S311 - made-up players, not a draw
    typed: dict[tuple[str, int, int], Content] = {}
    for round_ in range(1, ROUNDS + 1):
        typed |= _bids(check(store, context), round_, chance)
        type_in(store, made.players, typed)
        sync(store, Wish(close=Stage(round_)), context)
    typed |= _compositions(check(store, context))
    type_in(store, made.players, typed)
    done = sync(store, Wish(close=Stage.COMPOSING), context)
    result = done.after.result
    if result and result.choice_among:
        # The winner must choose: the host types the name into Settings.
        choice = {"Elimination choice": min(result.choice_among)}
        _type_settings(store, {**settings, **choice})
        done = sync(store, Wish(), context)
    return done


def type_in(store: Store, players: Sequence[str], typed: Typed) -> None:
    """Do as players do: put entries into the entry tabs' cells."""
    _replace(store, [_filled(tab, typed) for tab in entry_tabs(players)])


def _type_settings(store: Store, values: Mapping[str, str]) -> None:
    from sheets_host.tabs.host_tabs import settings

    _replace(store, [settings(values)])


def _replace(store: Store, tabs: Sequence[Tab]) -> None:
    from sheets_host.tabs.layout import TITLES
    from sheets_host.tabs.stamps import read_record_tab

    book = store.read(TITLES)
    seal = read_record_tab(book.grids["Record"]).seal
    store.write(Write(tabs, book, seal, seal, "typing"))


def _filled(tab: Tab, typed: Typed) -> Tab:
    """Lay entries over an entry tab as it was made."""
    rows = [list(row) for row in tab.rows]
    for (title, row, column), content in typed.items():
        if title == tab.title:
            line = rows[row - 1]
            line += [None] * (column - len(line))
            line[column - 1] = content
    return replace(tab, rows=rows)


def _bids(table: Table, round_: int, chance: random.Random) -> dict[tuple[str, int, int], Content]:
    """Bid on a few lots, more on notes whose pitch or duration is held already."""
    typed: dict[tuple[str, int, int], Content] = {}
    deal = table.match.deals[round_]
    for seat, name in enumerate(table.match.names):
        purse = table.ledger.purse(round_, name)
        uses = int(purse.affords(1) and chance.random() < 0.25)
        if uses:
            typed["Exchanges", EXCHANGES_HEADER + round_, 3 + seat] = uses
        held = table.ledger.notes(name)
        left = purse.tokens_after(uses) // max(1, 7 - round_)
        for lot in chance.sample(range(1, LOTS + 1), chance.randint(2, 4)):
            note = deal[lot - 1]
            liking = 1 + sum(n.pitch == note.pitch or n.eighths == note.eighths for n in held)
            bid = min(left, chance.randint(5, 30) + 4 * liking)
            left -= bid
            typed["Bids", BIDS_HEADER + (round_ - 1) * LOTS + lot, 5 + seat] = bid
    return typed


def _compositions(table: Table) -> dict[tuple[str, int, int], Content]:
    """Order the notes for the most undivided points."""
    worths = [condition.worth for condition in CONDITIONS]
    typed: dict[tuple[str, int, int], Content] = {}
    for seat, name in enumerate(table.match.names):
        most = table.ledger.most(name)
        order, _ = best(table.ledger.notes(name), most, table.match.rulings, worths)
        for position, note in enumerate(order, 1):
            typed["Compositions", COMPOSITIONS_HEADER + position, 2 + seat] = str(note)
    return typed
