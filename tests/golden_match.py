"""Replays the matches under ``tests/golden``: what people type, what the host runs, what comes of it.

A match is a folder of steps, ``03-round-2.txt`` and so on, each a plain text that a person can
follow, and beside each what the commands of that step print. Run
``python -m tests.golden_match`` to write those anew.

    At 2026-03-24 18:00 Europe/Berlin      the time from here on
    Ann bids in round 1: 3=40 5=12         lot and bid; the column is found by its heading
    Ann exchanges in round 1: 2
    Ann composes: C whole, D# half         from position 1 on
    Setting Round 2 closes: 2026-…         a value of Settings
    Player Ann, Status: withdrawn          a cell of Players
    Player Zoë joins: 2                    a new row with garnets, and the last column copied
    Player Zoë leaves                      both are cleared again
    Column Ann is headed Anna              in the three entry tabs
    Record row 40, Value: 9                somebody meddles with it
    Cell Standings!B5: Zoë                 or with a report
    $ sync WORKBOOK --close 1              COPY-round-1 is the copy kept after that closing, and
                                           SEAL-round-1 its seal

Everything else is prose.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Protocol
from unittest.mock import patch
from zoneinfo import ZoneInfo

from sheets_host.grid import Book, Grid, address
from sheets_host.host.copies import read_copy
from sheets_host.host.verbs import Context
from sheets_host.opening import Access, opener, store_for
from tests.command import here
from tests.playing import find
from tests.workbook import NOTHING, Workbook, number, text

GOLDEN: Final = Path(__file__).parent / "golden"
NAME: Final = "match-of-the-tests-0123456.xlsx"
SHEET: Final = "match_of_the_tests_0123456_sheet"[: len(NAME)]
"""As long as the file's name, so that lines are wrapped alike."""

_OF_ONE_STORE: Final = (
    (re.compile(r"^Backup:\s[\s\S]*?\.xlsx\n", re.MULTILINE), ""),
    (re.compile(r"^Other tabs stay as they were: Sheet1\.\n", re.MULTILINE), ""),
    (
        re.compile(
            r"^Copy of the Record:[\s\S]*?record\s+(\d{6})\s+after\s+(\S+)\s+(\w{8})\.json",
            re.MULTILINE,
        ),
        r"Copy of the Record: record \1 after \2 \3.json",
    ),
)
"""What only a file has, or only an emulated sheet (never without a tab), and folders: wrapped
anywhere."""

Value = int | str | None


class Desk(Protocol):
    """A workbook at which people sit and type."""

    reference: str

    def type(self, edits: Mapping[tuple[str, str], Value]) -> None:
        """Put values into cells, by tab and address."""
        ...


class ExcelDesk:
    """A file in the current folder."""

    reference = NAME

    def type(self, edits: Mapping[tuple[str, str], Value]) -> None:
        book = Workbook(Path(NAME))
        for (tab, cell), value in edits.items():
            content = (
                NOTHING if value is None else number(value) if isinstance(value, int) else None
            )
            book.put(tab, cell, content or text(str(value)))
        book.save()


class GoogleDesk:
    """A sheet on the emulator."""

    reference = SHEET

    def __init__(self, put: Callable[[str, str, Value], None]) -> None:
        self._put = put

    def type(self, edits: Mapping[tuple[str, str], Value]) -> None:
        for (tab, cell), value in edits.items():
            self._put(tab, cell, value)


@contextmanager
def on_excel(folder: Path) -> Iterator[Desk]:
    """Play in a folder of its own."""
    with contextlib.chdir(folder):
        yield ExcelDesk()


@contextmanager
def on_google(folder: Path) -> Iterator[Desk]:
    """Play on an emulated Google Sheet."""
    from tests.sheets_emulator import Emulator

    with Emulator() as google, contextlib.chdir(folder):
        google.add_spreadsheet(SHEET)
        homes = {"XDG_DATA_HOME": str(folder), "LOCALAPPDATA": str(folder), "HOME": str(folder)}
        with patch.dict("os.environ", {"SHEETS_EMULATOR_HOST": google.host, **homes}):

            def put(tab: str, cell: str, value: Value) -> None:
                google.type(SHEET, tab, cell, "" if value is None else str(value))

            yield GoogleDesk(put)


class Play:
    """One match being replayed at a desk."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.now = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
        self.edits: dict[tuple[str, str], Value] = {}
        self._grids: dict[str, Grid] = {}  # as read; only what is typed into cells changes them

    def step(self, script: str) -> str:
        """Do what a step says. Returns what its commands printed."""
        printed = []
        for line in script.splitlines():
            if line.startswith("$ "):
                self._flush()
                printed.append(self._run(line[2:]))
                continue
            for pattern, do in _ACTIONS:
                if found := pattern.fullmatch(line.strip()):
                    do(self, *found.groups())
                    break
        self._flush()
        return "\n".join(printed)

    # --- the host ------------------------------------------------------------------------------

    def _run(self, line: str) -> str:
        words = [self._word(word) for word in shlex.split(line)]

        def context(workbook: str, access: Access) -> Context:
            return Context(opener(workbook, access), lambda: self.now)

        with patch("sheets_host.cli._context", context):
            done = here(*words)
        said = done.out + (f"[stderr]\n{done.err}" if done.err else "")
        said = said.replace(self.desk.reference, "WORKBOOK")
        for pattern, instead in _OF_ONE_STORE:
            said = pattern.sub(instead, said)
        return f"$ {line}\n{said}[exit code {done.code}]\n"

    def _word(self, word: str) -> str:
        if word == "WORKBOOK":
            return self.desk.reference
        kind, _, stage = word.partition("-")
        if kind not in ("COPY", "SEAL"):
            return word
        folder = store_for(self.desk.reference, Access()).copies()
        copy = min(folder.glob(f"record * after {stage} *.json"))
        return str(copy) if kind == "COPY" else read_copy(copy).seal

    # --- people --------------------------------------------------------------------------------

    def _flush(self) -> None:
        if self.edits:
            self.desk.type(self.edits)
            self.edits = {}

    def _grid(self, tab: str) -> Grid:
        self._flush()
        book: Book = store_for(self.desk.reference, Access()).read((tab,))
        return book.grids[tab]

    def at(self, day: str, hour: str, zone: str) -> None:
        wall = dt.datetime.fromisoformat(f"{day} {hour}")
        self.now = wall.replace(tzinfo=ZoneInfo(zone)).astimezone(dt.UTC)

    def bids(self, player: str, round_: str, pairs: str) -> None:
        grid = self._cached("Bids")
        for lot, value in re.findall(r'(\d)=("[^"]*"|\S+)', pairs):
            cell = find(grid, {"Round": int(round_), "Lot": int(lot)}, player)
            self.edits["Bids", cell] = _value(value)

    def exchanges(self, player: str, round_: str, uses: str) -> None:
        cell = find(self._cached("Exchanges"), {"Round": int(round_)}, player)
        self.edits["Exchanges", cell] = _value(uses)

    def composes(self, player: str, notes: str) -> None:
        grid = self._cached("Compositions")
        for position, note in enumerate(notes.split(", "), 1):
            self.edits["Compositions", find(grid, {"Position": position}, player)] = note

    def setting(self, name: str, value: str) -> None:
        cell = find(self._cached("Settings"), {"Setting": name}, "Value")
        self.edits["Settings", cell] = value

    def player(self, name: str, header: str, value: str) -> None:
        cell = find(self._cached("Players"), {"Player": name}, header)
        self.edits["Players", cell] = _value(value)
        self._forget()  # the name itself may have been typed over

    def joins(self, name: str, garnets: str) -> None:
        grid = self._grid("Players")
        row, column = _header(grid, "Player")
        below = max(r for r, c in grid.cells if c == column and grid.at(r, c).text) + 1
        self.edits["Players", address(below, column)] = name
        self.edits["Players", address(below, _header(grid, "Garnets")[1])] = int(garnets)
        for tab, heads in self._heads():
            row, right = max(heads)
            self.edits[tab, address(row, right + 1)] = name
        self._forget()

    def leaves(self, name: str) -> None:
        grid = self._grid("Players")
        for header in ("Player", "Garnets"):
            self.edits["Players", find(grid, {"Player": name}, header)] = None
        self.headed(name, None)

    def headed(self, old: str, new: str | None) -> None:
        for tab, heads in self._heads():
            place = next(place for place, text in heads.items() if text == old)
            self.edits[tab, address(*place)] = new
        self._forget()

    def _heads(self) -> Iterator[tuple[str, dict[tuple[int, int], str]]]:
        """Yield each entry tab and the texts of its header row by place."""
        for tab, key in (("Bids", "Lot"), ("Exchanges", "State"), ("Compositions", "Position")):
            grid = self._grid(tab)
            row, _ = _header(grid, key)
            yield tab, {p: c.text for p, c in grid.cells.items() if p[0] == row and c.text}

    def _forget(self) -> None:
        self._flush()
        self._grids.clear()

    def meddled(self, row: str, header: str, value: str) -> None:
        cell = find(self._grid("Record"), {"Seq": row}, header)
        self.edits["Record", cell] = value

    def overtyped(self, tab: str, cell: str, value: str) -> None:
        self.edits[tab, cell] = value

    def _cached(self, tab: str) -> Grid:
        if tab not in self._grids:
            self._grids[tab] = self._grid(tab)
        return self._grids[tab]


def _header(grid: Grid, header: str) -> tuple[int, int]:
    return next(place for place, cell in sorted(grid.cells.items()) if cell.text == header)


def _value(words: str) -> Value:
    if words.isdigit():
        return int(words)
    return words.strip('"') or None


_ACTIONS: Final = tuple(
    (re.compile(pattern), do)
    for pattern, do in (
        (r"At (\S+) (\S+) (\S+)", Play.at),
        (r"(.+) bids in round (\d): (.+)", Play.bids),
        (r"(.+) exchanges in round (\d): (.+)", Play.exchanges),
        (r"(.+) composes: (.+)", Play.composes),
        (r"Setting ([^:]+): (.*)", Play.setting),
        (r"Player (.+) joins: (\d+)", Play.joins),
        (r"Player (.+) leaves", Play.leaves),
        (r"Player (.+), (\w[\w ]*): (.*)", Play.player),
        (r"Column (.+) is headed (.+)", Play.headed),
        (r"Record row (\d+), (\w+): (.*)", Play.meddled),
        (r"Cell (\w+)!(\w+): (.*)", Play.overtyped),
    )
)


def steps(match: Path) -> list[Path]:
    """Return the scripts of a match, in order."""
    return sorted(p for p in match.glob("*.txt") if len(p.suffixes) == 1)


def expected_of(step: Path) -> Path:
    return step.with_suffix(".expected.txt")


def actual_of(step: Path) -> Path:
    return step.with_suffix(".actual.txt")


def replay(match: Path, desk: Desk) -> Iterator[tuple[Path, str]]:
    """Play a match. Yields each step and what it printed."""
    play = Play(desk)
    for step in steps(match):
        yield step, play.step(step.read_text(encoding="utf-8"))


def main() -> None:
    """Write what every step prints anew, from a replay on Excel."""
    for match in sorted(p for p in GOLDEN.iterdir() if p.is_dir()):
        with tempfile.TemporaryDirectory() as folder, on_excel(Path(folder)) as desk:
            for step, printed in replay(match, desk):
                expected_of(step).write_text(printed, encoding="utf-8", newline="\n")
                actual_of(step).unlink(missing_ok=True)
                sys.stdout.write(f"{expected_of(step).relative_to(GOLDEN)}\n")


if __name__ == "__main__":
    main()
