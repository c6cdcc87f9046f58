"""Write every workbook of a match: which tabs go where, and only what changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

from sheets_host.grid import Book, Protected, Tab
from sheets_host.host.drawing import board_tabs, changed, differing_rows, game_tabs, sheet_tabs
from sheets_host.host.gathering import Table
from sheets_host.host.outside import SIDE_BY_SIDE
from sheets_host.host.protecting import protections
from sheets_host.stores.base import Store, StoreError, Write

Written = tuple[tuple[str, str, int], ...]
"""Workbook, tab and number of rows that changed."""


RECORD: Final = frozenset({"Record"})


@dataclass(frozen=True, slots=True)
class Target:
    """One workbook and what it shall show. book: as read, or why it could not be.

    board: it is the public one.
    """

    store: Store
    book: Book | StoreError
    tabs: tuple[Tab, ...]
    protected: Mapping[str, tuple[Protected, ...]] | None = None
    board: bool = False


@dataclass(frozen=True, slots=True)
class Job:
    """What all writes of one sync have in common. was, now: the Record's seals."""

    was: str
    now: str
    label: str
    keep: bool = False
    dry_run: bool = False


def targets(table: Table) -> list[Target]:
    """Return the game workbook, then the entry sheets that can be trusted, then the board."""
    reading, match, roster = table.reading, table.match, table.reading.roster
    found = [
        Target(
            reading.store, reading.book, game_tabs(table), protections(reading.own, match, roster)
        )
    ]
    for sheet in reading.sheets:
        if sheet.book is not None and sheet.source is not None:
            found.append(
                Target(
                    sheet.store,
                    sheet.book,
                    sheet_tabs(table, sheet.player),
                    protections(sheet.source, match, roster),
                )
            )
    if reading.board is not None:
        found.append(Target(*reading.board, board_tabs(table), board=True))
    return found


def put(target: Target, job: Job) -> tuple[Written, tuple[str, ...]]:
    """Write the tabs that differ. Returns what changed, and lines for the host.

    A store that keeps protections looks at them even where no tab differs. Raises StoreError.
    """
    if isinstance(target.book, StoreError):
        raise target.book
    fresh = changed(target.tabs, target.book)
    written = tuple(
        (target.store.name, tab.title, differing_rows(tab, target.book)) for tab in fresh
    )
    if job.dry_run:
        return written, ()
    protected = dict(target.protected) if target.protected is not None else None
    notes = target.store.write(
        Write(fresh, target.book, job.was, job.now, job.label, job.keep, protected, RECORD)
    )
    return written, notes


def put_all(
    targets: Sequence[Target], job: Job
) -> list[tuple[Written, tuple[str, ...]] | StoreError]:
    """Write the entry sheets side by side, the board after them; what failed is returned.

    The board is last, so that no spectator knows a result before the players can.
    """

    def one(target: Target) -> tuple[Written, tuple[str, ...]] | StoreError:
        try:
            return put(target, job)
        except StoreError as error:
            return error
        except Exception as error:  # noqa: BLE001 - the game is written: one sheet ends nothing
            return StoreError(
                f"{target.store.name}: it cannot be written ({type(error).__name__})",
                "open it in a spreadsheet program and save it; the next sync tries again",
            )

    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        done = list(pool.map(one, [t for t in targets if not t.board]))
    return done + [one(target) for target in targets if target.board]
