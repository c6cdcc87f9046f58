"""A workbook that lives in memory: a store for the tests of what the stores only carry."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path

from sheets_host.grid import BLANK, Book, Cell, Content, Formula, Grid, Kind, Link, Tab, place_of
from sheets_host.stores.base import ChangedMeanwhile, Finding, StoreError, Write

Typed = Content | float | bool | Cell
"""What a person puts into a cell: None clears it, a str is text, a Cell stands as it is."""


class MemoryStore:
    """A store whose tabs are grids; formulas have an empty text as their stored value.

    writes: every write that was done, in order. refusal: what the next writes fail with, or None.
    """

    def __init__(self, name: str = "game.xlsx") -> None:
        self._name = name
        self._grids: dict[str, Grid] = {}
        self._revision = 0
        self.writes: list[Write] = []
        self.refusal: StoreError | None = None
        self._folder: Path | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def identity(self) -> str:
        return self._name

    def copies(self) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp())
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return self._folder / "copies"

    def diagnose(self) -> tuple[Finding, ...]:
        return (Finding(self.exists(), f"{self.name} lives in memory"),)

    def exists(self) -> bool:
        return bool(self._grids)

    def read(self, titles: Collection[str]) -> Book:
        if not self.exists():
            raise StoreError(f"{self.name}: there is no such workbook")
        found = {title: grid for title, grid in self._grids.items() if title in titles}
        return Book(tuple(self._grids), found, self._revision)

    def write(self, write: Write) -> tuple[str, ...]:
        if self.refusal is not None:
            raise self.refusal
        if self.exists() and write.since.revision != self._revision:
            raise ChangedMeanwhile(f"{self.name} was changed meanwhile")
        self._grids |= {tab.title: grid_of(tab) for tab in write.tabs}
        self._revision += 1
        self.writes.append(write)
        return ()

    # --- as a person does ----------------------------------------------------------------------

    def type(self, tab: str, cell: str, value: Typed) -> None:
        """Put a value into a cell such as ``E7``; a tab that is not there is added."""
        cells = dict(self._grids.get(tab, Grid(tab, {})).cells)
        typed = _cell(value)
        if typed == BLANK:
            cells.pop(place_of(cell), None)
        else:
            cells[place_of(cell)] = typed
        self._put(replace(self._grids.get(tab, Grid(tab, {})), cells=cells))

    def rearrange(self, tab: str, move: Callable[[int, int], tuple[int, int]]) -> None:
        """Move every cell of a tab from (row, column) to where `move` says; no two to one place."""
        grid = self._grids[tab]
        moved = {move(*place): cell for place, cell in grid.cells.items()}
        assert len(moved) == len(grid.cells)
        self._put(replace(grid, cells=moved))

    def clear(self, tab: str) -> None:
        """Empty a tab."""
        self._put(replace(self._grids[tab], cells={}))

    def rename(self, tab: str, title: str) -> None:
        """Rename a tab."""
        self._grids = {
            (title if t == tab else t): replace(g, title=title) if t == tab else g
            for t, g in self._grids.items()
        }
        self._revision += 1

    def delete(self, tab: str) -> None:
        """Delete a tab."""
        del self._grids[tab]
        self._revision += 1

    # --- for the tests' eyes -------------------------------------------------------------------

    def grid(self, tab: str) -> Grid:
        """Return a tab as it stands."""
        return self._grids[tab]

    def at(self, tab: str, cell: str) -> Cell:
        """Return a cell as it stands."""
        return self._grids[tab].at(*place_of(cell))

    def table(self, tab: str, header: int = 4) -> list[dict[str, str]]:
        """Return the rows below the header row as texts by header, blank rows left out."""
        grid = self._grids[tab]
        heads = {c: cell.text for (r, c), cell in grid.cells.items() if r == header}
        last = max((r for r, _ in grid.cells), default=0)
        rows = [
            {head: grid.at(row, column).text for column, head in sorted(heads.items())}
            for row in range(header + 1, last + 1)
        ]
        return [row for row in rows if any(row.values())]

    def copy(self) -> MemoryStore:
        """Return a workbook of the same name and contents that goes its own way."""
        twin = MemoryStore(self._name)
        twin._grids = dict(self._grids)
        twin._revision = self._revision
        return twin

    def _put(self, grid: Grid) -> None:
        self._grids[grid.title] = grid
        self._revision += 1


def grid_of(tab: Tab) -> Grid:
    """Return a drawn tab as a store reads it again."""
    cells = {
        (r, c): cell
        for r, row in enumerate(tab.rows, 1)
        for c, content in enumerate(row, 1)
        if (cell := _cell(content)) != BLANK
    }
    return Grid(tab.title, cells)


def _cell(value: Typed) -> Cell:
    if isinstance(value, Cell):
        return value
    if value is None or value == "":
        return BLANK
    if isinstance(value, bool):
        return Cell(Kind.BOOLEAN, value)
    if isinstance(value, (int, float)):
        return Cell(Kind.NUMBER, float(value))
    if isinstance(value, Formula):
        return Cell(Kind.TEXT, "", value.text)
    return Cell(Kind.TEXT, value.text if isinstance(value, Link) else value)
