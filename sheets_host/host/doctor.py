"""The verb `doctor`: what is right and what is not between this computer and a match."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sheets_host.game.stages import Stage
from sheets_host.grid import Book
from sheets_host.host.beginning import half_made, in_the_way
from sheets_host.host.copies import kept_copies
from sheets_host.host.gathering import lay_out, read_match
from sheets_host.host.verbs import Context
from sheets_host.stores.base import Finding, Store, StoreError
from sheets_host.tabs.layout import TITLES
from sheets_host.tabs.problems import DamagedTabs, quoted


def examine(store: Store, context: Context) -> Iterator[Finding]:
    """Look at the way to the workbook first, then at the game in it. Changes nothing.

    Raises RecordBroken, once all the rest was told.
    """
    told = {finding.what: finding for finding in store.diagnose()}
    yield from told.values()
    yield from _copies(store)
    for finding in _game(store, context):
        if finding.what not in told:
            yield finding


def _copies(store: Store) -> list[Finding]:
    """Name the way back, whether it is needed or not."""
    kept = kept_copies(store.copies())
    if not kept:
        return []
    return [Finding(True, f"Copies of the Record: {len(kept)}; the last one is {kept[-1]}")]


def _game(store: Store, context: Context) -> list[Finding]:
    try:
        reading = read_match(store, context.opener, progress=context.progress)
    except StoreError as error:
        return [Finding(False, error.message, error.hint)]
    except DamagedTabs as damaged:
        return _beginning(store) or [
            Finding(False, f"{fault.where}: {fault.message}", fault.hint)
            for fault in damaged.faults
        ]
    table = lay_out(reading, reading.record, context.now())
    found = [
        Finding(
            True, f"The Record verifies: {reading.record.rows} rows, seal {reading.record.seal}."
        ),
        Finding(True, _stage(table.match.stage)),
    ]
    for sheet in reading.sheets:
        if sheet.fault:
            found.append(Finding(False, quoted(sheet.fault.message, 1_000), sheet.fault.hint))
        else:
            found.append(
                Finding(
                    True,
                    f"The entry sheet of {quoted(sheet.player)} can be read: {sheet.store.name}.",
                )
            )
    if reading.board is not None:
        found.append(_board(*reading.board))
    problems = len(table.standing)
    found.append(
        Finding(
            not problems or None,
            f"Problems in the tabs: {problems}." if problems else "No problems in the tabs.",
            "sheets-host check names them" if problems else "",
        )
    )
    return found


def _beginning(store: Store) -> list[Finding]:
    """Say how to begin where no game is, but one can be made; [] where `new` would refuse."""
    book = store.read(TITLES)
    if in_the_way(book):
        return []
    if half_made(book):
        return [
            Finding(
                None,
                "Settings and Players are here; the match is not begun.",
                "next: fill them in, save and close the workbook, and make the game with:"
                " sheets-host new WORKBOOK",
            )
        ]
    return [
        Finding(
            None,
            "No game is in it yet.",
            "next: make the game with: sheets-host new WORKBOOK --player NAME --player NAME"
            " (other tabs stay as they are)",
        )
    ]


def _board(board: Store, book: Book | StoreError) -> Finding:
    if isinstance(book, StoreError):
        return Finding(False, book.message, book.hint)
    if board.exists():
        return Finding(True, f"The board can be read: {board.name}.")
    folder = Path(board.identity).parent  # only a file can be missing; a Google Sheet is not made
    if folder.is_dir():
        return Finding(True, f"The board is made by the next sync: {board.name}.")
    return Finding(
        False,
        f"The board cannot be made: {board.name} lies in no folder that is there.",
        f"make the folder {folder}, or correct Board in Settings",
    )


def _stage(stage: Stage) -> str:
    if stage is Stage.FINISHED:
        return "The match is finished."
    return f"{str(stage).capitalize()} is open."


def examine_access(credentials: Path | None) -> tuple[Finding, ...]:
    """Look at the way to Google alone."""
    from sheets_host.stores.google.doctor import diagnose

    return diagnose(None, credentials=credentials)
