"""What each workbook of a match shall show, and which of its tabs would change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from sheets_host.grid import (
    Area,
    Book,
    Cell,
    Content,
    Formula,
    Link,
    Styled,
    Tab,
    address,
    same_contents,
    stands,
)
from sheets_host.host.gathering import Table
from sheets_host.host.outside import MARK, game_mark, sheet_heading
from sheets_host.tabs import holdings, reports, verdicts
from sheets_host.tabs.layout import BOARD_TABS, STAMP_HINT, TOOL_HEADER


def game_tabs(table: Table) -> tuple[Tab, ...]:
    """Draw the tool's tabs of the game workbook."""
    return reports.tool_tabs(table.view, (*table.faults, *table.problems), table.receipts)


def board_tabs(table: Table) -> tuple[Tab, ...]:
    """Draw the public tabs: nothing on them depends on an open stage's entries."""
    tabs = reports.tool_tabs(table.view, (), ())
    return tuple(tab for tab in tabs if tab.title in BOARD_TABS)


def sheet_tabs(table: Table, player: str) -> tuple[Tab, ...]:
    """Draw the tool's tabs of one player's entry sheet: of Checks, only what is theirs."""
    view = table.view
    problems = [replace(p, file=None) for p in table.problems if p.player == player and p.file]
    receipts = [replace(r, file=None) for r in table.receipts if r.player == player]
    checks = reports.checks(view, problems, receipts)
    marked = [*checks.rows[2], None, None, None, game_mark(table.record), _MARK_MEANS]
    row, column = MARK
    small = Styled(Area(row, column, row, column + 1), STAMP_HINT)
    checks = replace(
        checks,
        rows=[[sheet_heading(player)], checks.rows[1], marked, *checks.rows[3:]],
        looks=replace(checks.looks, styles=(*checks.looks.styles, small)),
    )
    return (
        holdings.auction(view),
        holdings.collections(view, (player,)),
        verdicts.standings(view),
        checks,
    )


_MARK_MEANS: Final = "← names the game this sheet belongs to: please leave it"


def changed(tabs: Sequence[Tab], book: Book) -> tuple[Tab, ...]:
    """Return the tabs whose contents differ from what stands in the book."""
    return tuple(
        tab
        for tab in tabs
        if tab.title not in book.grids or not same_contents(tab, book.grids[tab.title])
    )


@dataclass(frozen=True, slots=True)
class Difference:
    """A cell of a report that says something else than the Record gives.

    file: the workbook where it is not the game workbook itself, else "".
    """

    tab: str
    cell: str
    says: str
    should_say: str
    file: str = ""

    @property
    def where(self) -> str:
        place = f"{self.tab}!{self.cell}" if self.cell else self.tab
        return f"{self.file}: {place}" if self.file else place


def differences(tab: Tab, book: Book) -> list[Difference]:
    """Return every differing cell from the header row on; what is above it bears no result."""
    grid = book.grids.get(tab.title)
    if grid is None:
        return [Difference(tab.title, "", "nothing: the tab is missing", "the report")]
    places = set(grid.cells)
    places |= {(r, c) for r, row in enumerate(tab.rows, 1) for c in range(1, len(row) + 1)}
    found = []
    for row, column in sorted(places):
        if row < TOOL_HEADER:
            continue
        line = tab.rows[row - 1] if row <= len(tab.rows) else ()
        content = line[column - 1] if column <= len(line) else None
        cell = grid.at(row, column)
        if not stands(content, cell):
            found.append(Difference(tab.title, address(row, column), cell.shown, _words(content)))
    return found


def _words(content: Content) -> str:
    if isinstance(content, Link | Formula):
        return content.text
    return "" if content is None else str(content)


def differing_rows(tab: Tab, book: Book) -> int:
    """Return how many rows of a tab would change."""
    grid = book.grids.get(tab.title)
    if grid is None:
        return len(tab.rows)
    standing: dict[int, dict[tuple[int, int], Cell]] = {}
    for (r, c), cell in grid.cells.items():
        standing.setdefault(r, {})[1, c] = cell
    count = 0
    for r in range(1, max([len(tab.rows), *standing]) + 1):
        row = tuple(tab.rows[r - 1]) if r <= len(tab.rows) else ()
        there = replace(grid, cells=standing.get(r, {}))
        count += not same_contents(Tab(tab.title, tab.owner, [row]), there)
    return count
