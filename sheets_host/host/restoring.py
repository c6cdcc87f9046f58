"""The verb `restore`: the way back from a Record that does not verify."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sheets_host.game.record import Record, RecordBroken
from sheets_host.grid import Book
from sheets_host.host.copies import read_copy
from sheets_host.host.gathering import Table, lay_out, read_match
from sheets_host.host.verbs import Context, UsageError
from sheets_host.host.writing import Job, put, put_all, targets
from sheets_host.stores.base import Store, StoreError
from sheets_host.tabs.problems import DamagedTabs, quoted
from sheets_host.tabs.stamps import read_record_tab, stamp_of

SALTED: Final = 2
"""Rows, the second with the salt, after which no two matches have the same seal."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What restore puts back, and in whose place.

    present: in words, what the workbook held. loses: why something recorded since is given up,
    or "". trouble: entry sheets and boards that could not be written; the next sync repairs them.
    """

    record: Record
    present: str
    loses: str
    table: Table
    notes: tuple[str, ...]
    trouble: tuple[StoreError, ...] = ()


def restore(
    store: Store, copy: Path, context: Context, *, sure: bool, dry_run: bool = False
) -> Restored:
    """Put a Record back, only if it verifies, and draw every report from it.

    sure: the host knows that what the copy does not hold is given up; else UsageError. Works also
    where the tab Record is broken, emptied, without its headers, or gone.
    """
    record = read_copy(copy)
    try:
        reading = read_match(store, context.opener, record)
    except DamagedTabs as damaged:
        strangers = {"player-missing", "player-unknown"}
        if {fault.code for fault in damaged.faults} <= strangers:
            raise StoreError(
                f"{copy} names players who have no column here: it seems to be of another match",
                "name a copy from this workbook's own backups; nothing was changed",
            ) from damaged
        raise
    book = reading.book
    before = _present(book)
    words = (
        f"a Record that verifies, of {before.rows} rows (seal {before.seal or 'none'})"
        if isinstance(before, Record)
        else before
    )
    loses = _loses(before, book, record)
    if loses and not (sure or dry_run):
        raise UsageError(f"the workbook holds {words}; {loses}", "if that is meant, say --yes")
    table = lay_out(reading, record, context.now())
    was = before.seal if isinstance(before, Record) else ""
    job = Job(was, table.record.seal, "restore", keep=True, dry_run=dry_run)
    game, *others = targets(table)
    _, notes = put(game, job)
    done = [] if dry_run else put_all(others, job)
    trouble = tuple(result for result in done if isinstance(result, StoreError))
    return Restored(record, words, loses, table, notes, trouble)


def _present(book: Book) -> Record | str:
    """Return the Record as it stands, or in words why it is none."""
    grid = book.grids.get("Record")
    if grid is None:
        return "no tab Record"
    try:
        record = read_record_tab(grid)
    except RecordBroken as error:
        return f"a broken Record ({error.message})"
    except DamagedTabs as error:
        return f"a damaged tab Record ({error.faults[0].message})"
    return record if record.rows else "an empty Record"


def _loses(before: Record | str, book: Book, record: Record) -> str:
    """Say what was recorded and is not in the copy: the Record tells, or else the reports do."""
    if isinstance(before, Record):
        shared = sum(a == b for a, b in zip(before.seals, record.seals, strict=False))
        if shared == before.rows:
            return ""
        if shared < SALTED:
            return "the copy is of another match: what the workbook has recorded is not in it"
        if shared + 1 == before.rows:
            return f"its row {before.rows} is not in the copy"
        return f"its rows {shared + 1} to {before.rows} are not in the copy"
    stamps = [(title, s) for title, grid in book.grids.items() if (s := stamp_of(grid))]
    for title, (rows, seal) in sorted(stamps, key=lambda s: -s[1][0]):
        if rows > record.rows:
            return (
                f'the tab "{quoted(title)}" was drawn from {rows} rows, and the copy has'
                f" {record.rows}: what was recorded after those is not in it"
            )
        if rows and record.seals[rows - 1] != seal:
            return (
                f'the tab "{quoted(title)}" bears the seal {seal} of row {rows}, which is not in'
                " the copy: it is of another match, or this one went another way"
            )
    return ""
