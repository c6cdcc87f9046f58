"""The verb `restore`: the way back from a Record that does not verify."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sheets_host.game.record import Record, RecordBroken
from sheets_host.host.copies import read_copy
from sheets_host.host.drawing import changed, game_tabs
from sheets_host.host.gathering import Table, lay_out, read_match
from sheets_host.host.verbs import Context, UsageError
from sheets_host.stores.base import Store, Write
from sheets_host.tabs.layout import TITLES
from sheets_host.tabs.problems import DamagedTabs
from sheets_host.tabs.stamps import read_record_tab


@dataclass(frozen=True, slots=True)
class Restored:
    """What restore puts back, and in whose place. present: why the present Record is broken, or
    how many rows it has. loses: rows of a sound Record that the copy does not hold."""

    record: Record
    present: str
    loses: int
    table: Table
    notes: tuple[str, ...]


def restore(
    store: Store, copy: Path, context: Context, *, sure: bool, dry_run: bool = False
) -> Restored:
    """Put a Record back, only if it verifies, and draw every report from it.

    sure: the host knows that rows of a sound Record are given up; else UsageError.
    """
    record = read_copy(copy)
    before = _present(store)
    loses, words = 0, str(before)
    if isinstance(before, Record):
        words = f"a Record that verifies, of {before.rows} rows (seal {before.seal or 'none'})"
        shared = sum(a == b for a, b in zip(before.seals, record.seals, strict=False))
        loses = before.rows - shared
    if loses and not (sure or dry_run):
        raise UsageError(
            f"the workbook holds {words}; {loses} of its rows are not in the copy and would be"
            " lost",
            "if that is meant, say --yes",
        )
    reading = read_match(store, context.opener, record)
    table = lay_out(reading, record, context.now())
    tabs = changed(game_tabs(table), reading.book)
    notes: tuple[str, ...] = ()
    if tabs and not dry_run:
        was = before.seal if isinstance(before, Record) else ""
        notes = store.write(Write(tabs, reading.book, was, record.seal, "restore", keep=True))
    return Restored(record, words, loses, table, notes)


def _present(store: Store) -> Record | str:
    """Return the Record as it stands, or why it is broken."""
    grid = store.read(TITLES).grids.get("Record")
    if grid is None:
        return "no Record at all"
    try:
        return read_record_tab(grid)
    except RecordBroken as error:
        return f"a broken Record ({error.message})"
    except DamagedTabs as error:
        return f"a damaged tab ({error.faults[0].message})"
