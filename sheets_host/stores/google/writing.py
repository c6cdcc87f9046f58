"""One write as one `spreadsheets.batchUpdate`, which Google does whole or not at all.

A batch begins by deleting the named range whose id the last write left, and adds one of its own:
so it fails as a whole if anyone wrote since the sheet was read, a repeat of itself included. That
is what makes it safe to send only the rows that differ.

Source: Google Sheets API v4, page "spreadsheets.batchUpdate".
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from sheets_host.grid import (
    Area,
    Cell,
    Content,
    Formula,
    Grid,
    Link,
    Owner,
    Protected,
    Tab,
    same_contents,
)
from sheets_host.stores.base import Write
from sheets_host.stores.google.dressing import (
    dress,
    lay_styles,
    looks_digest,
    needed_size,
)
from sheets_host.stores.google.formulas import into_locale
from sheets_host.stores.google.protecting import lock_tool_tab, protect_entries, standing_looks
from sheets_host.stores.google.ranges import Request, grid_range
from sheets_host.stores.google.reading import MARK_NAME, Seen, Sheet

SPARE: Final = {Owner.TOOL: (0, 0), Owner.HOST: (50, 2), Owner.PLAYERS: (10, 4)}
"""Empty rows and columns that a new tab gets, for people to fill."""

WHOLE: Final = 50_000
"""So many cells make the 2 MB that Google recommends at most for one call (page "Usage limits")."""
BRIDGE: Final = 4
"""So many equal rows between two that differ are sent along: cheaper than one more request."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What to send. mark: what stands in the sheet once it is done; tabs: titles by sheet id."""

    requests: tuple[Request, ...]
    mark: str
    tabs: Mapping[int, str]
    protects: bool

    @property
    def body(self) -> bytes:
        """The request's body: JSON without needless blanks."""
        return encoded({"requests": self.requests})


def encoded(value: object) -> bytes:
    """Return compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(errors="replace")


def plan(write: Write, seen: Seen, account: str | None) -> Plan | None:
    """Work out the batch of a write, or None where the sheet already is as it shall be."""
    sheets = {tab.title: seen.sheet(tab.title) for tab in write.tabs}
    new = {tab.title: _new_sheet(tab, seen) for tab in write.tabs if sheets[tab.title] is None}
    ids = {sheet.title.casefold(): sheet.id for sheet in (*seen.sheets, *new.values())}
    added = [_add_sheet(sheet) for sheet in new.values()]
    work: list[Request] = []
    for tab in write.tabs:
        scribe = Scribe(tab, seen.locale, ids, whole=tab.title in write.whole)
        standing = sheets[tab.title]
        if standing is None:
            work += scribe.fresh(new[tab.title])
            protected = new[tab.title]
        else:
            work += scribe.over(standing, write.since.grids.get(tab.title))
            protected = standing
        if locked(tab) and standing_looks(protected) != looks_digest(tab.looks):
            work += lock_tool_tab(protected, looks_digest(tab.looks), account)
    if write.protected is not None:
        for sheet in (*seen.sheets, *new.values()):
            wanted = _of_title(write.protected, sheet.title)
            work += protect_entries(sheet, wanted, account)
    if not added and not work:
        return None
    return _marked(write, seen, added, work, ids, new)


def _of_title(by_title: Mapping[str, tuple[Protected, ...]], title: str) -> tuple[Protected, ...]:
    for key, value in by_title.items():
        if key.casefold() == title.casefold():
            return value
    return ()


def locked(tab: Tab) -> bool:
    """Tell whether a tab is the tool's alone."""
    return tab.owner is Owner.TOOL or tab.looks.locked


def _marked(
    write: Write,
    seen: Seen,
    added: list[Request],
    work: list[Request],
    ids: Mapping[str, int],
    new: Mapping[str, Sheet],
) -> Plan:
    digest = hashlib.sha256(encoded([write.was, write.now, seen.mark, added, work])).hexdigest()
    mark = f"sheetshost{digest[:24]}"
    taken = [] if seen.mark is None else [{"deleteNamedRange": {"namedRangeId": seen.mark}}]
    home = ids[write.tabs[-1].title.casefold()] if write.tabs else next(iter(ids.values()))
    corner = grid_range(home, Area(1, 1, 1, 1))
    set_now = {"namedRange": {"namedRangeId": mark, "name": MARK_NAME, "range": corner}}
    titles = {sheet.id: sheet.title for sheet in (*seen.sheets, *new.values())}
    return Plan(
        requests=(*taken, *added, {"addNamedRange": set_now}, *work),
        mark=mark,
        tabs=titles,
        protects=any("addProtectedRange" in request for request in work),
    )


def _new_sheet(tab: Tab, seen: Seen) -> Sheet:
    """Return a new tab with an id made from its title, so that a repeat meets itself."""
    taken = {sheet.id for sheet in seen.sheets}
    sheet_id = zlib.crc32(tab.title.casefold().encode()) & 0x7FFFFFFF
    while sheet_id in taken or sheet_id == 0:
        sheet_id = (sheet_id + 1) & 0x7FFFFFFF
    rows, columns = _size(tab)
    more_rows, more_columns = SPARE[tab.owner]
    return Sheet(sheet_id, tab.title, rows + more_rows, columns + more_columns)


def _size(tab: Tab) -> tuple[int, int]:
    rows, columns = tab.size
    for_looks = needed_size(tab.looks)
    return max(rows, for_looks[0], 1), max(columns, for_looks[1], 1)


def _add_sheet(sheet: Sheet) -> Request:
    grid = {"rowCount": sheet.rows, "columnCount": sheet.columns}
    properties = {"sheetId": sheet.id, "title": sheet.title, "gridProperties": grid}
    return {"addSheet": {"properties": properties}}


# --- one tab -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Scribe:
    """Writes one tab. ids: of every tab, by its title in small letters, for links."""

    tab: Tab
    locale: str
    ids: Mapping[str, int]
    whole: bool = False

    def fresh(self, sheet: Sheet) -> list[Request]:
        """Fill a tab that the same batch adds."""
        everything = Area(1, 1, sheet.rows, sheet.columns)
        requests = [
            *lay_styles(sheet.id, self.tab.looks, everything, fresh=True),
            *dress(sheet, self.tab.looks, self.locale, fresh=True),
        ]
        rows, columns = self.tab.size
        if rows and columns:
            requests.append(self._cells(sheet.id, Area(1, 1, rows, columns)))
        return requests

    def over(self, sheet: Sheet, grid: Grid | None) -> list[Request]:
        """Bring a tab that stands to what it shall be. grid: what was read of it, if anything."""
        rows, columns = _size(self.tab)
        grown = replace(sheet, rows=max(rows, sheet.rows), columns=max(columns, sheet.columns))
        standing_digest = standing_looks(sheet)
        if locked(self.tab) and standing_digest is None:
            grid = None  # a tab that was never dressed gets every row's style
        blocks = self._blocks(grown, grid)
        requests = list(self._grow(sheet, grown))
        if standing_digest != looks_digest(self.tab.looks) if locked(self.tab) else blocks:
            requests += dress(grown, self.tab.looks, self.locale, fresh=False)
        for top, bottom in blocks:
            block = Area(top, 1, bottom, grown.columns)
            requests += lay_styles(sheet.id, self.tab.looks, block, fresh=False)
            requests.append(self._cells(sheet.id, block))
        return requests

    def _grow(self, sheet: Sheet, grown: Sheet) -> Iterator[Request]:
        for field, standing, needed in (
            ("columnCount", sheet.columns, grown.columns),
            ("rowCount", sheet.rows, grown.rows),
        ):
            if needed > standing:
                properties = {"sheetId": sheet.id, "gridProperties": {field: needed}}
                fields = f"gridProperties.{field}"
                yield {"updateSheetProperties": {"properties": properties, "fields": fields}}

    def _blocks(self, sheet: Sheet, grid: Grid | None) -> list[tuple[int, int]]:
        """Return the first and last row of each run that differs; all where none is known."""
        if grid is None:
            return [(1, sheet.rows)]
        standing: dict[int, dict[tuple[int, int], Cell]] = {}
        for (row, column), cell in grid.cells.items():
            standing.setdefault(row, {})[1, column] = cell
        blocks: list[tuple[int, int]] = []
        for row in range(1, max([len(self.tab.rows), *standing]) + 1):
            wanted = Tab(self.tab.title, self.tab.owner, self.tab.rows[row - 1 : row])
            if same_contents(wanted, Grid(grid.title, standing.get(row, {}))):
                continue
            if blocks and row - blocks[-1][1] <= BRIDGE + 1:
                blocks[-1] = (blocks[-1][0], row)
            else:
                blocks.append((row, row))
        below = blocks and blocks[-1][1] > (self.tab.looks.header or 0)
        if below and self.whole and len(self.tab.rows) * self.tab.size[1] <= WHOLE:
            return [(1, max([len(self.tab.rows), *standing]))]
        return blocks

    def _cells(self, sheet_id: int, area: Area) -> Request:
        """Write the rows of an area; what they do not cover there is cleared."""
        rows = [self._row(row) for row in self.tab.rows[area.top - 1 : area.bottom]]
        while rows and not rows[-1]:
            rows.pop()
        fields = "userEnteredValue"
        if any("userEnteredFormat" in cell for row in rows for cell in row.get("values", ())):
            fields += ",userEnteredFormat.textFormat.link"
        span = grid_range(sheet_id, area)
        return {"updateCells": {"range": span, "rows": rows, "fields": fields}}

    def _row(self, row: Sequence[Content]) -> Request:
        cells = [self._cell(content) for content in row]
        while cells and not cells[-1]:
            cells.pop()
        return {"values": cells} if cells else {}

    def _cell(self, content: Content) -> dict[str, Any]:
        if content is None or content == "":
            return {}
        if isinstance(content, int):
            return {"userEnteredValue": {"numberValue": content}}
        if isinstance(content, Formula):
            formula = into_locale(content.text, self.locale)
            return {"userEnteredValue": {"formulaValue": formula}}
        if isinstance(content, Link):
            return self._link(content)
        return {"userEnteredValue": {"stringValue": content}}

    def _link(self, link: Link) -> dict[str, Any]:
        value = {"userEnteredValue": {"stringValue": link.text}}
        there = self.ids.get(link.tab.casefold())
        if there is None:
            return value
        look = {"textFormat": {"link": {"uri": f"#gid={there}&range={link.cell}"}}}
        return value | {"userEnteredFormat": look}
