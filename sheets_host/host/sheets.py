"""Sealed play: an entry sheet of their own for each player."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from sheets_host.game.match import Match
from sheets_host.game.rulings import LOTS
from sheets_host.grid import Book, Content, Tab
from sheets_host.host.drawing import sheet_tabs
from sheets_host.host.gathering import Table, lay_out, read_match
from sheets_host.host.outside import SIDE_BY_SIDE, Sheet
from sheets_host.host.protecting import first_protections
from sheets_host.host.verbs import Context
from sheets_host.stores.base import Store, StoreError, Write
from sheets_host.tabs.entry_tabs import (
    BIDS_HEADER,
    COMPOSITIONS_HEADER,
    EXCHANGES_HEADER,
    entry_tabs,
)
from sheets_host.tabs.layout import ENTRY_TABS, SHEET_TABS
from sheets_host.telling.listening import safe_name

_TITLES = (*ENTRY_TABS, *SHEET_TABS)


@dataclass(frozen=True, slots=True)
class SheetsMade:
    """Which entry sheets were made: name and player; which could not be; who has none."""

    made: tuple[tuple[str, str], ...] = ()
    trouble: tuple[StoreError, ...] = ()
    without: tuple[str, ...] = ()


def sheet_paths(names: Sequence[str], folder: Path, base: Path) -> Mapping[str, str]:
    """Return a path for each player's sheet in a folder, relative to the game's folder `base`."""
    taken: set[str] = set()
    paths = {}
    for name in names:
        stem = safe_name(name, taken)
        taken.add(stem)
        path = folder / f"{stem}.xlsx"
        try:
            shown = Path(os.path.relpath(path.resolve(), base.resolve()))
        except ValueError:  # another drive on Windows
            shown = path.resolve()
        paths[name] = shown.as_posix()
    return paths


def make_sheets(store: Store, context: Context) -> SheetsMade:
    """Make every entry sheet that Players names and that is not there yet; fill empty ones."""
    reading = read_match(store, context.opener, progress=context.progress)
    table = lay_out(reading, reading.record, context.now())
    made: list[tuple[str, str]] = []
    trouble: list[StoreError] = []

    def make(sheet: Sheet) -> bool | StoreError:
        if sheet.fault is not None and sheet.fault.code == "sheet-shared":
            return StoreError(sheet.fault.message, sheet.fault.hint)
        try:
            return _fill(sheet, table)
        except StoreError as error:
            return error

    wanted = [sheet for sheet in reading.sheets if sheet.player in table.match.names]
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        for sheet, done in zip(wanted, pool.map(make, wanted), strict=True):
            if isinstance(done, StoreError):
                trouble.append(done)
            elif done:
                made.append((sheet.store.name, sheet.player))
    without = tuple(row.name for row in reading.roster if not row.entry_sheet)
    return SheetsMade(tuple(made), tuple(trouble), without)


def _as_recorded(tabs: tuple[Tab, ...], match: Match, player: str) -> tuple[Tab, ...]:
    """Fill in what is recorded of a player, where a sheet is made again in the middle of a match."""
    bids, exchanges, compositions = (replace(tab, rows=[*map(list, tab.rows)]) for tab in tabs)
    for (round_, name), slip in match.slips.items():
        if name != player:
            continue
        for lot, tokens in slip.bids.items():
            _append(bids, BIDS_HEADER + (round_ - 1) * LOTS + lot, tokens)
        if slip.uses:
            _append(exchanges, EXCHANGES_HEADER + round_, slip.uses)
    handed = match.compositions.get(player)
    for position, note in enumerate(handed.notes if handed else (), 1):
        _append(compositions, COMPOSITIONS_HEADER + position, str(note))
    return bids, exchanges, compositions


def _append(tab: Tab, row: int, content: Content) -> None:
    """Write into the player's column, which is the last one. row: counted from 1."""
    line = tab.rows[row - 1]
    assert isinstance(line, list)
    line.append(content)


def _fill(sheet: Sheet, table: Table) -> bool:
    """Make the tabs of an entry sheet; False where it has them. Raises StoreError."""
    store, player, book = sheet.store, sheet.player, sheet.book
    if book is None:
        book = store.read(_TITLES) if store.exists() else Book((), {})
    ours = [title for title in book.titles if title in _TITLES]
    if len(ours) == len(_TITLES):
        return False
    if ours:
        raise StoreError(
            f"{store.name}: it holds some of the tabs of an entry sheet, but not all: "
            + ", ".join(ours),
            "delete them, or name another sheet in Players",
        )
    entries = _as_recorded(entry_tabs((player,)), table.match, player)
    protected = first_protections(entries, (player,), table.match, table.reading.roster)
    tabs = (*entries, *sheet_tabs(table, player))
    store.write(Write(tabs, book, "", table.record.seal, "new", True, protected))
    return True
