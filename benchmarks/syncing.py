"""A sync as a whole process, beside a bare script that loads and saves the same workbook.

python benchmarks/syncing.py [RUNS]: for 12 and 200 players, medians of runs in turn (ours, theirs,
ours, theirs …) and the ratio pair by pair, so that a change of the machine's speed hits both.
"""

from __future__ import annotations

import datetime as dt
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from sheets_host.game.stages import Stage
from sheets_host.grid import Content
from sheets_host.host.beginning import Plan, new
from sheets_host.host.demo import _bids, type_in
from sheets_host.host.verbs import Context, Wish, check, sync
from sheets_host.stores.base import Store
from sheets_host.stores.excel import ExcelStore

BARE: Final = "import sys, openpyxl; openpyxl.load_workbook(sys.argv[1]).save(sys.argv[2])"
NOW: Final = dt.datetime(2026, 1, 9, 18, 0, tzinfo=dt.UTC)


def _store(reference: str) -> Store:
    return ExcelStore(Path(reference), clock=lambda: NOW)


def game(path: Path, players: int) -> None:
    """Make a match in round 4 with bids typed, so that a sync has something to write."""
    store, context = _store(str(path)), Context(_store, now=lambda: NOW)
    names = tuple((f"Player {number}", 3) for number in range(players))
    made = new(store, Plan(names, {"Deal seed": "benchmark"}), context)
    chance = random.Random(1)
    typed: dict[tuple[str, int, int], Content] = {}
    for round_ in range(1, 5):
        typed |= _bids(check(store, context), round_, chance)
        type_in(store, made.players, typed)
        if round_ < 4:
            sync(store, Wish(close=Stage(round_)), context)


def _seconds(command: Sequence[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - start


def main(runs: int) -> None:
    """Print the medians and the ratios."""
    program = shutil.which("sheets-host", path=str(Path(sys.executable).parent))
    if program is None:
        sys.exit("install the package first: the command sheets-host is timed")
    with tempfile.TemporaryDirectory() as temporary:
        for players in (12, 200):
            original = Path(temporary) / f"{players}.xlsx"
            work, other = original.with_stem("work"), original.with_stem("other")
            game(original, players)
            ours, theirs = [], []
            for run in range(runs + 1):
                shutil.copyfile(original, work)
                pair = (
                    _seconds([program, "sync", str(work)]),
                    _seconds([sys.executable, "-c", BARE, str(original), str(other)]),
                )
                if run:  # the first warms the disk's cache
                    ours.append(pair[0])
                    theirs.append(pair[1])
            ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
            print(
                f"{players:>4} players: sync {statistics.median(ours):.3f} s, openpyxl load and"
                f" save {statistics.median(theirs):.3f} s, ratio {ratio:.2f}"
            )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
