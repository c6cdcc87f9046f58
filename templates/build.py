"""Build the workbooks of this folder: python templates/build.py [FOLDER]."""

from __future__ import annotations

import datetime as dt
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

from sheets_host.game.rulings import LOTS, Rulings
from sheets_host.game.stages import Stage
from sheets_host.grid import Book, Content, Formula
from sheets_host.host.beginning import Plan, new
from sheets_host.host.demo import type_in
from sheets_host.host.verbs import Context, Wish, sync
from sheets_host.stores.base import Store, Write
from sheets_host.stores.excel import ExcelStore
from sheets_host.tabs import host_tabs
from sheets_host.tabs.entry_tabs import BIDS_HEADER, EXCHANGES_HEADER
from sheets_host.tabs.settings import DEFAULT_GAME

BLANK: Final = "blank-game.xlsx"
MESSY: Final = "round-3-with-mistakes.xlsx"
NOW: Final = dt.datetime(2026, 1, 9, 18, 0, tzinfo=dt.UTC)
PLAYERS: Final = (("Ann", 3), ("Bob", 0), ("Chloé", 1), ("Dmitri", 7))


def _store(reference: str) -> Store:
    return ExcelStore(Path(reference), clock=lambda: NOW)


def build(folder: Path) -> None:
    """Write both workbooks into a folder; the same code always writes the same bytes."""
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        _blank(work / BLANK)
        _messy(work / MESSY)
        for name in (BLANK, MESSY):
            shutil.copyfile(work / name, folder / name)


def _blank(path: Path) -> None:
    """The host's three tabs, to fill in; `new` makes the rest."""
    tabs = (
        host_tabs.how_to_play(DEFAULT_GAME, Rulings()),
        host_tabs.settings({}),
        host_tabs.players([]),
    )
    _store(str(path)).write(Write(tabs, Book((), {}), "", "", "template"))


def _messy(path: Path) -> None:
    """A game in round 3 whose entries show what `check` finds."""
    store = _store(str(path))
    context = Context(_store, now=lambda: NOW)
    new(store, Plan(PLAYERS, {"Game": "A game to try check on", "Deal seed": "template"}), context)
    names = tuple(name for name, _ in PLAYERS)
    typed: dict[tuple[str, int, int], Content] = {}
    for round_, bids in ((1, _ROUND_1), (2, _ROUND_2), (3, _ROUND_3)):
        for (player, lot), content in bids.items():
            row = BIDS_HEADER + (round_ - 1) * LOTS + lot
            typed["Bids", row, 5 + names.index(player)] = content
        typed |= _EXCHANGES if round_ == len(names) - 1 else {}
        type_in(store, names, typed)
        if round_ < 3:
            sync(store, Wish(close=Stage(round_)), context)


_ROUND_1: Final[dict[tuple[str, int], Content]] = {
    ("Ann", 1): 40, ("Ann", 2): 25, ("Ann", 3): 30, ("Bob", 1): 45, ("Bob", 4): 60,
    ("Chloé", 3): 30, ("Chloé", 5): 0, ("Dmitri", 6): 12, ("Dmitri", 7): 80,
}  # fmt: skip
_ROUND_2: Final[dict[tuple[str, int], Content]] = {
    ("Ann", 1): 20, ("Ann", 8): 35, ("Bob", 2): 15, ("Bob", 3): 22, ("Chloé", 4): 90,
    ("Chloé", 6): 1, ("Dmitri", 1): 20, ("Dmitri", 5): 33,
}  # fmt: skip
_ROUND_3: Final[dict[tuple[str, int], Content]] = {
    ("Ann", 1): "12 tokens", ("Ann", 2): -3, ("Ann", 3): "pass", ("Ann", 4): " 15 ",
    ("Bob", 1): 5000, ("Bob", 2): "1,000", ("Bob", 5): Formula("=10+5"),
    ("Chloé", 1): 12, ("Chloé", 2): "5,5", ("Chloé", 7): 14,
}  # fmt: skip
_EXCHANGES: Final[dict[tuple[str, int, int], Content]] = {
    ("Exchanges", EXCHANGES_HEADER + 3, 3 + 2): 2,  # Chloé has one garnet; two uses cost three
}

if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent)
