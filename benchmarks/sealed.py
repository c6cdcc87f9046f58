"""Calls and time of sealed play as players grow: 6, 24 and 60 entry sheets and a board.

python -m benchmarks.sealed [MILLISECONDS], in the project's folder: in files, and on the emulator
of the tests, which answers each call after so long (250 unless told; Google takes some hundred).
For each size: `new`, the sync that first draws the board, one that changes nothing, and one that
closes round 1; how long, and how many reads and writes. The last line tells what Google's limit of
60 reads and 60 writes a minute adds to the largest match.
"""

from __future__ import annotations

import datetime as dt
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from sheets_host.game.stages import Stage
from sheets_host.grid import Book, Content
from sheets_host.host.beginning import Plan, new
from sheets_host.host.verbs import Context, Wish, sync
from sheets_host.stores.base import Store, Write
from sheets_host.stores.excel import ExcelStore
from sheets_host.stores.google import GoogleStore
from sheets_host.stores.google.pacing import Pace
from sheets_host.tabs import host_tabs
from tests.sheets_emulator import Emulator

SIZES: Final = (6, 24, 60)
NOW: Final = dt.datetime(2026, 1, 9, 18, 0, tzinfo=dt.UTC)


def begin(game: Store, sheets: Sequence[str], board: str) -> None:
    """Write Settings and Players as a host fills them in."""
    rows: list[list[Content]] = [
        [f"Player {n}", 2, None, None, sheet] for n, sheet in enumerate(sheets, 1)
    ]
    tabs = (host_tabs.settings({"Deal seed": "benchmark", "Board": board}), host_tabs.players(rows))
    book = game.read(()) if game.exists() else Book((), {})
    game.write(Write(tabs, book, "", "", "template"))


def verbs(game: Store, context: Context) -> list[tuple[str, Callable[[], object]]]:
    """Return what is timed, in order."""
    return [
        ("new", lambda: new(game, Plan(), context)),
        ("first sync", lambda: sync(game, Wish(), context)),
        ("sync", lambda: sync(game, Wish(), context)),
        ("close", lambda: sync(game, Wish(Stage.ROUND_1), context)),
    ]


def seconds_of(do: Callable[[], object]) -> float:
    """Return how long something takes."""
    start = time.perf_counter()
    do()
    return time.perf_counter() - start


def in_files(players: int, folder: Path) -> None:
    """Print what a match in files takes."""

    def opener(path: str) -> Store:
        return ExcelStore(Path(path), clock=lambda: NOW)

    game = opener(str(folder / "game.xlsx"))
    begin(game, [str(folder / f"{n}.xlsx") for n in range(players)], str(folder / "board.xlsx"))
    for what, do in verbs(game, Context(opener, now=lambda: NOW)):
        print(f"{players:>3} files    {what:<11}{seconds_of(do):8.2f} s")


def on_google(players: int, delay: float, folder: str) -> None:
    """Print what a match on the emulator takes. folder: for the copies of the Record."""
    with Emulator() as google:
        ids = [
            f"{what}-of-the-benchmark-0000" for what in ("game", "board", *map(str, range(players)))
        ]
        for sheet_id in ids:
            google.add_spreadsheet(sheet_id)
        environ = {
            "SHEETS_EMULATOR_HOST": google.host,
            "XDG_DATA_HOME": folder,
            "LOCALAPPDATA": folder,
        }

        def opener(reference: str) -> Store:
            return GoogleStore(reference, environ=environ)

        game = opener(ids[0])
        begin(game, ids[2:], ids[1])
        google.calls.clear()
        google.fault("slow", times=1_000_000, seconds=delay)
        for what, do in verbs(game, Context(opener, now=lambda: NOW)):
            took, reads, writes = seconds_of(do), google.count("read"), google.count("write")
            print(
                f"{players:>3} emulated {what:<11}{took:8.2f} s{reads:>5} reads{writes:>4} writes"
            )
            google.calls.clear()


def paced(calls: int) -> float:
    """Return how long so many calls of one kind wait for Google's limit, coming at once."""
    pace = Pace()
    return max(pace.turn(0.0)[0] for _ in range(calls))


def main(milliseconds: int) -> None:
    """Print every size, files first."""
    for players in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            in_files(players, Path(folder))
            on_google(players, milliseconds / 1000, folder)
    most = SIZES[-1] + 2
    print(f"Google's limit adds {paced(most):.0f} s to {most} reads, and to as many writes.")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 250)
