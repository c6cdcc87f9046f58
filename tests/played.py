"""Games played by made-up players through the host's own verbs, for tests and pictures."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from sheets_host.game.stages import Stage
from sheets_host.grid import Content
from sheets_host.host import demo
from sheets_host.host.beginning import Plan, new
from sheets_host.host.verbs import Context, Synced, Wish, check, sync
from sheets_host.stores.base import Store
from sheets_host.stores.excel import ExcelStore

NAMES: Final = (
    "Amadeus", "Clara", "Fanny", "Franz", "Hildegard", "Ludwig", "Maria Theresia", "Nadia",
    "Johann Sebastian", "Ethel", "Robert", "Zoë",
)  # fmt: skip
START: Final = dt.datetime(2026, 3, 3, 17, 0, tzinfo=dt.UTC)


def names(count: int) -> tuple[str, ...]:
    """Return so many players' names; after the first twelve they are numbered."""
    more = (f"{NAMES[i % len(NAMES)]} {i // len(NAMES) + 1}" for i in range(count))
    return (*NAMES[:count], *list(more)[len(NAMES) : count])


class Clock:
    """A time that stands still until it is moved on."""

    def __init__(self, at: dt.datetime = START) -> None:
        self.at = at

    def __call__(self) -> dt.datetime:
        return self.at

    def pass_(self, hours: float) -> None:
        self.at += dt.timedelta(hours=hours)


def context(clock: Clock) -> Context:
    """Return a context in which no other workbook is opened and chance is none."""

    def opener(reference: str) -> Store:
        raise AssertionError(f"{reference} was opened")

    return Context(opener, now=clock, chance=lambda: "chance")


def begin(
    path: Path, players: Sequence[str], clock: Clock, settings: Mapping[str, str] | None = None
) -> ExcelStore:
    """Make a file with a match in it; see `begin_in`."""
    store = ExcelStore(path, clock=clock)
    begin_in(store, players, clock, settings)
    return store


def begin_in(
    store: Store, players: Sequence[str], clock: Clock, settings: Mapping[str, str] | None = None
) -> None:
    """Begin a match, with garnets 0 to 4 by turns, and always the same deal."""
    given = {"Deal seed": "played", "Time zone": "Europe/Berlin", **(settings or {})}
    roster = tuple((name, seat % 5) for seat, name in enumerate(players))
    new(store, Plan(roster, given), context(clock))


def play(
    path: Path,
    players: Sequence[str],
    until: Stage = Stage.FINISHED,
    settings: Mapping[str, str] | None = None,
) -> Synced:
    """Play up to a stage, whose entries are typed too, and leave the workbook."""
    clock = Clock()
    store = begin(path, players, clock, settings)
    chance = random.Random("played")
    typed: dict[tuple[str, int, int], Content] = {}
    done = sync(store, Wish(), context(clock))
    for stage in Stage:
        if stage is Stage.FINISHED:
            break
        table = check(store, context(clock))
        typed |= (
            demo._bids(table, int(stage), chance)
            if stage.round is not None
            else demo._compositions(table)
        )
        demo.type_in(store, players, typed)
        wish = replace(Wish(), close=None if stage is until else stage)
        clock.pass_(24)
        done = sync(store, wish, context(clock))
        if stage is until:
            return done
    result = done.after.result
    if result and result.choice_among:
        values = {"Deal seed": "played", "Time zone": "Europe/Berlin", **(settings or {})}
        demo._type_settings(store, {**values, "Elimination choice": min(result.choice_among)})
        done = sync(store, Wish(), context(clock))
    return done
