"""Workbooks that players type into, in every store alike: a file, an emulated sheet, the memory.

An odd entry is a `Cell`: what a store is to read is also what is put there, in the form that Excel
saves it in or that Google keeps it in.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import Any, Final, Protocol
from weakref import finalize

from sheets_host.game.rulings import LOTS
from sheets_host.grid import (
    Area,
    Cell,
    Formula,
    Grid,
    Kind,
    Link,
    Shape,
    Strike,
    address,
    place_of,
)
from sheets_host.host.gathering import Table
from sheets_host.stores.base import Store
from sheets_host.stores.excel import ExcelStore
from sheets_host.stores.google import GoogleStore
from sheets_host.stores.google.ranges import grid_range
from sheets_host.tabs.layout import ENTRY_TABS
from tests import workbook
from tests.google_rig import FakeClock
from tests.memory_store import MemoryStore, Typed
from tests.sheets_emulator import OWNER, Emulator

Places = Mapping[tuple[str, str], Typed]
"""What is typed, by tab and cell."""

Entries = dict[tuple[str, tuple[int, ...], str], Typed]
"""What is typed, by entry tab, key (round and lot, round, or position) and player."""


class Desk(Store, Protocol):
    """A store at which people sit."""

    def put(self, places: Places) -> None:
        """Type into several cells."""
        ...

    def type(self, tab: str, cell: str, value: Typed) -> None: ...

    def merge(self, tab: str, area: str) -> None:
        """Merge cells; their contents stay."""
        ...


class MemoryDesk(MemoryStore):
    def put(self, places: Places) -> None:
        for (tab, cell), value in places.items():
            self.type(tab, cell, value)

    def merge(self, tab: str, area: str) -> None:
        covered = Area.of(area)
        for row in range(covered.top, covered.bottom + 1):
            for column in range(covered.left, covered.right + 1):
                cell = address(row, column)
                self.type(tab, cell, replace(self.at(tab, cell), merge=area))


class ExcelDesk(ExcelStore):
    def __init__(self, path: Path, clock: Callable[[], datetime]) -> None:
        super().__init__(path, clock=clock)
        self.path = path

    def put(self, places: Places) -> None:
        book = workbook.Workbook(self.path)
        for (tab, cell), value in places.items():
            book.put(tab, cell, _in_a_file(value))
        book.save()

    def type(self, tab: str, cell: str, value: Typed) -> None:
        self.put({(tab, cell): value})

    def merge(self, tab: str, area: str) -> None:
        book = workbook.Workbook(self.path)
        book.merge(tab, area)
        book.save()


class GoogleDesk(GoogleStore):
    def __init__(
        self, google: Emulator, sheet_id: str, time: FakeClock, answer: float = 5.0
    ) -> None:
        environ = {"SHEETS_EMULATOR_HOST": google.host}
        super().__init__(sheet_id, clock=time.clock(answer), environ=environ)
        self.google = google
        self._folder = Path(mkdtemp())
        finalize(self, rmtree, self._folder, ignore_errors=True)

    def copies(self) -> Path:
        return self._folder

    def put(self, places: Places) -> None:
        for (tab, cell), value in places.items():
            self.type(tab, cell, value)

    def type(self, tab: str, cell: str, value: Typed, who: str = OWNER) -> None:
        self.google.type(self.sheet_id, tab, cell, **_in_a_sheet(value), who=who)

    def merge(self, tab: str, area: str) -> None:
        span = grid_range(self.google.tab(self.sheet_id, tab).id, Area.of(area))
        request = {"mergeCells": {"range": span, "mergeType": "MERGE_ALL"}}
        self.google.batch(self.sheet_id, request)


# --- what stands in a cell ---------------------------------------------------------------------


def _in_a_file(value: Typed) -> workbook.Content:
    if isinstance(value, Cell):
        return _cell_in_a_file(value)
    if value is None or value == "":
        return workbook.NOTHING
    if isinstance(value, bool):
        return workbook.boolean(value)
    if isinstance(value, int | float):
        return workbook.number(value)
    assert not isinstance(value, Formula | Link)
    return workbook.text(value)


def _cell_in_a_file(cell: Cell) -> workbook.Content:
    code = None if cell.format == "General" else cell.format
    inside = cell.formula is not None
    if cell.kind is Kind.NUMBER:
        content = workbook.number(float(str(cell.value)), code)
    elif cell.kind is Kind.TEXT:
        content = workbook.result(str(cell.value)) if inside else workbook.text(str(cell.value))
    elif cell.kind is Kind.BOOLEAN:
        content = workbook.boolean(bool(cell.value))
    else:
        content = workbook.error(str(cell.value))
    if cell.formula is not None:
        content = replace(workbook.formula(cell.formula[1:], content), format=code)
    return workbook.struck(content) if cell.strike is Strike.WHOLE else content


_TYPES: Final = {
    Shape.DATE: "DATE",
    Shape.TIME: "TIME",
    Shape.PERCENT: "PERCENT",
    Shape.CURRENCY: "CURRENCY",
    Shape.SCIENTIFIC: "SCIENTIFIC",
    Shape.FRACTION: "NUMBER",
}
_ERRORS: Final = {"#DIV/0!": "DIVIDE_BY_ZERO", "#REF!": "REF", "#N/A": "N_A", "#VALUE!": "VALUE"}


def _in_a_sheet(value: Typed) -> dict[str, Any]:
    if not isinstance(value, Cell):
        assert not isinstance(value, Formula | Link)
        return {"content": f"'{value}" if isinstance(value, str) and value else value}
    typed: dict[str, Any] = {"content": value.value, "strike": value.strike is Strike.WHOLE}
    if value.kind is Kind.TEXT:
        typed["content"] = f"'{value.value}"
    if value.shape in _TYPES:
        typed["number_format"] = {"type": _TYPES[value.shape], "pattern": value.format}
    if value.formula is not None:
        typed["content"] = value.formula
        typed["result"] = _extended(value)
    return typed


def _extended(cell: Cell) -> dict[str, Any]:
    """Return what a formula comes to as Google keeps it."""
    if cell.kind is Kind.ERROR:
        return {"errorValue": {"type": _ERRORS[str(cell.value)]}}
    name = {Kind.NUMBER: "numberValue", Kind.TEXT: "stringValue", Kind.BOOLEAN: "boolValue"}
    return {name[cell.kind]: cell.value}


# --- what players enter ------------------------------------------------------------------------

_KEYS: Final = {
    "Bids": ("Round", "Lot"),
    "Exchanges": ("Round",),
    "Compositions": ("Position",),
}


def places(store: Store, entries: Entries) -> dict[tuple[str, str], Typed]:
    """Find the cells of these entries by their headers and keys."""
    grids = store.read(ENTRY_TABS).grids
    found = {tab: _headers_and_rows(grids[tab], _KEYS[tab]) for tab, _, _ in entries}
    return {
        (tab, address(found[tab][1][key], found[tab][0][player])): value
        for (tab, key, player), value in entries.items()
    }


def _headers_and_rows(
    grid: Grid, keys: tuple[str, ...]
) -> tuple[dict[str, int], dict[tuple[int, ...], int]]:
    top = min(row for (row, _), cell in grid.cells.items() if cell.value == keys[0])
    heads = {cell.text: column for (row, column), cell in grid.cells.items() if row == top}
    rows = {}
    for row in {row for row, _ in grid.cells if row > top}:
        rows[tuple(int(grid.at(row, heads[key]).text) for key in keys)] = row
    return heads, rows


def enter(desk: Desk, entries: Entries) -> None:
    """Type these entries where they belong."""
    if entries:
        desk.put(places(desk, entries))


def slips(table: Table, chance: random.Random, most: int = 4) -> Entries:
    """Let everyone who is awaited bid on a few lots of the open round; some exchange a garnet."""
    round_ = int(table.match.stage)
    entries: Entries = {}
    for name in table.match.awaited():
        purse = table.ledger.purse(round_, name)
        uses = int(purse.affords(1) and chance.random() < 0.3)
        if uses:
            entries["Exchanges", (round_,), name] = uses
        left = purse.tokens_after(uses)
        for lot in chance.sample(range(1, LOTS + 1), chance.randint(0, most)):
            bid = min(left, chance.randint(0, 60))
            left -= bid
            entries["Bids", (round_, lot), name] = bid
    return entries


def compositions(table: Table, chance: random.Random) -> Entries:
    """Let everyone hand in what they hold, in some order."""
    entries: Entries = {}
    for name in table.match.awaited():
        notes = list(table.ledger.notes(name))
        chance.shuffle(notes)
        for position, note in enumerate(notes, 1):
            entries["Compositions", (position,), name] = str(note)
    return entries


def of_player(entries: Entries, players: Iterable[str]) -> Entries:
    """Return the entries of these players alone."""
    wanted = set(players)
    return {key: value for key, value in entries.items() if key[2] in wanted}


# --- what stands there -------------------------------------------------------------------------


def contents(grid: Grid) -> dict[tuple[int, int], tuple[str, object, str | None]]:
    """Return what stands in a tab: kind, value and formula of each cell that holds something."""
    return {
        place: (cell.kind.value, cell.value, cell.formula)
        for place, cell in grid.cells.items()
        if cell.kind is not Kind.BLANK or cell.formula is not None
    }


def tabs_of(store: Store, titles: Iterable[str]) -> dict[str, object]:
    """Return the contents of these tabs."""
    wanted = tuple(titles)
    grids = store.read(wanted).grids
    return {title: contents(grids[title]) for title in wanted if title in grids}


def cell_at(store: Store, tab: str, cell: str) -> Cell:
    """Return one cell as the store reads it."""
    return store.read((tab,)).grids[tab].at(*place_of(cell))
