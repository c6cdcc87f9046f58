"""The workbooks around the game workbook: an entry sheet for each player, and the public board.

Their entries count only where it is certain whose they are. What cannot be reached or trusted is
a fault with a place in Players, never an exception: the game itself goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from threading import Lock
from typing import Final

from sheets_host.game.match import Match
from sheets_host.game.record import Record
from sheets_host.game.rulings import LOTS
from sheets_host.grid import Book, Grid, Kind
from sheets_host.stores.base import Store, StoreError
from sheets_host.tabs.entries import Source, find_source
from sheets_host.tabs.finding import find_grids, fold
from sheets_host.tabs.layout import BOARD_TABS, ENTRY_TABS, SHEET_TABS
from sheets_host.tabs.players import RosterRow
from sheets_host.tabs.problems import Problem, Severity, quoted
from sheets_host.tabs.stamps import stamp_of

Opener = Callable[[str], Store]
Board = tuple[Store, Book | StoreError]
SIDE_BY_SIDE: Final = 8
"""Workbooks read, or written, at the same time."""

MARK: Final = (3, 5)
"""Row and column of Checks where an entry sheet says which game it belongs to."""


Progress = Callable[[int, int], None]


def silent(_done: int, _total: int) -> None:
    """Show no progress."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One player's entry sheet as read. fault: why it cannot be trusted or reached, or None."""

    player: str
    store: Store
    book: Book | None
    source: Source | None
    fault: Problem | None


def read_outside(
    store: Store,
    match: Match,
    roster: Sequence[RosterRow],
    record: Record,
    board: str,
    opener: Opener,
    progress: Progress,
) -> tuple[tuple[Sheet, ...], Board | None]:
    """Read every entry sheet and the board, side by side, each with one call.

    store: the game workbook; board: what Settings call it, "" for none. progress is told how many
    sheets of how many are read.
    """
    rows = [row for row in roster if row.entry_sheet]
    if not rows and not board:
        return (), None
    stores = {row.name: opener(row.entry_sheet) for row in rows}
    users: dict[str, list[str]] = {store.identity: [_GAME]}
    for name, sheet in stores.items():
        users.setdefault(sheet.identity, []).append(name)

    def read(row: RosterRow) -> Sheet:
        sheet = stores[row.name]
        others = [user for user in users[sheet.identity] if user != row.name]
        found = None if _GAME in others else _read_sheet(row, sheet, match, roster, record)
        if others and (found is None or found.source is None):
            # Where one of them is named in the sheet itself, it is theirs, whoever else points to
            # it: a player may put a link to another's sheet in the place of their own.
            fault = sheet_fault(
                row,
                "sheet-shared",
                f"it is {_use(others[0])} as well",
                "give each player a sheet of their own",
            )
            return Sheet(row.name, sheet, None, None, fault)
        assert found is not None
        return found

    done, counting = count(1), Lock()

    def read_one(row: RosterRow) -> Sheet:
        sheet = read(row)
        with counting:  # told in order, too: a count that runs backwards frightens people
            progress(next(done), len(rows))
        return sheet

    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        shown = pool.submit(_read_board, opener(board), users) if board else None
        sheets = tuple(pool.map(read_one, rows))
        return sheets, shown.result() if shown else None


_GAME: Final = ""
SHEET_HEADING: Final = "Entry sheet of "


def _use(user: str) -> str:
    return "the game workbook" if user == _GAME else f"the entry sheet of {quoted(user)}"


# --- entry sheets ------------------------------------------------------------------------------


def _read_sheet(
    row: RosterRow, store: Store, match: Match, roster: Sequence[RosterRow], record: Record
) -> Sheet:
    try:
        book = store.read((*ENTRY_TABS, *SHEET_TABS))
        source, wrong = _sheet_source(row, book, match, roster, record)
    except StoreError as error:
        hint = error.hint
        if _missing(store):
            hint = _way_back(store) + (
                "correct the path in Players; a sheet that is not there is made by: sheets-host"
                " new GAME --entry-sheets DIR; or close without this player: --without NAME"
            )
        fault = sheet_fault(row, "sheet-unreachable", _of_it(error.message, store), hint)
        return Sheet(row.name, store, None, None, fault)
    except Exception as error:  # noqa: BLE001 - a sheet is its player's: it may stop nobody else
        fault = sheet_fault(
            row,
            "sheet-damaged",
            f"it cannot be read ({type(error).__name__})",
            "open it in a spreadsheet program and save it, or ask the player for another",
        )
        return Sheet(row.name, store, None, None, fault)
    return Sheet(row.name, store, book, source, wrong)


def _of_it(message: str, store: Store) -> str:
    """Return a store's message without the path at its beginning, which the fault names already."""
    for path in (store.name, store.identity):
        if message.startswith(f"{path} "):
            return f"it{message.removeprefix(path)}".rstrip(".")
        if message.startswith(f"{path}: "):
            return message.removeprefix(f"{path}: ").rstrip(".")
    return message


def _way_back(store: Store) -> str:
    """Say where a sheet that is gone has its backups, if it has any."""
    folder = store.copies()
    try:
        there = any(folder.iterdir())
    except OSError:
        return ""
    return f"put its newest backup back, from {folder}; or " if there else ""


def _missing(store: Store) -> bool:
    """Tell whether a sheet is simply not there; what names no workbook at all is another matter."""
    try:
        return not store.exists()
    except StoreError:
        return False


def sheet_fault(row: RosterRow, code: str, message: str, hint: str) -> Problem:
    """Return why an entry sheet does not count, at its cell of Players."""
    return Problem(
        Severity.PROBLEM,
        code,
        "Players",
        row.cells.get("Entry sheet", row.cell),
        f"the entry sheet of {quoted(row.name)} ({quoted(row.entry_sheet)}): {message}",
        hint,
        quoted(row.entry_sheet),
        row.name,
    )


def _sheet_source(
    row: RosterRow, book: Book, match: Match, roster: Sequence[RosterRow], record: Record
) -> tuple[Source | None, Problem | None]:
    """Find the entry tabs of a sheet, if it is this player's and of this game."""
    grids, faults = find_grids(book, (*ENTRY_TABS, *SHEET_TABS))
    if not faults:
        wrong = _not_theirs(row, grids["Checks"], match, record)
        if wrong:
            return None, sheet_fault(row, "sheet-of-another", *wrong)
        names = header_names(match, roster, [row.name])
        source, faults = find_source(grids, names, [row.name], file=quoted(row.entry_sheet))
        if source:
            return source, None
    words = "; ".join(f"{fault.where}: {fault.message}" for fault in faults[:5])
    words += f"; and {len(faults) - 5} more" if len(faults) > 5 else ""
    return None, sheet_fault(row, "sheet-damaged", words, faults[0].hint)


def header_names(match: Match, roster: Sequence[RosterRow], names: Sequence[str]) -> dict[str, str]:
    """Return what may head a player's column, folded: the name, or a former one."""
    present = {fold(name): name for name in names}
    former = {fold(row.formerly): row.name for row in roster if row.formerly and row.name in names}
    moved = moved_seats(match, roster)
    former |= {fold(old): new for old, new in moved.items() if new in names}
    chains = ((old, moved.get(new, new)) for old, new in match.renamed.items())
    former |= {fold(old): new for old, new in chains if new in names}
    return {**{old: new for old, new in former.items() if old not in present}, **present}


def moved_seats(match: Match, roster: Sequence[RosterRow]) -> dict[str, str]:
    """Return who was renamed or replaced since the Record was written: seat to new name.

    `Formerly` may name any of a seat's former names, in any case: it still stands there when a
    substitute is replaced in turn. A name of which only the case changed needs none.
    """
    seats = {fold(old): new for old, new in match.renamed.items()}
    seats |= {fold(seat): seat for seat in match.seats}
    present = {row.name for row in roster}
    moved = {}
    for row in roster:
        seat = seats.get(fold(row.formerly or row.name))
        if seat is not None and seat not in present and row.name not in match.seats:
            moved[seat] = row.name
    return moved


def sheet_heading(player: str) -> str:
    """Return the heading of Checks in a player's entry sheet: whose sheet it is."""
    return f"{SHEET_HEADING}{player}"


def game_mark(record: Record) -> str:
    """Return what tells this game from all others: the seal of its first deal.

    Not the last seal: after a Record was restored, sheets bear later ones, and are still its own.
    """
    dealt = zip(record.events, record.seals, strict=True)
    last = f"lot {LOTS}"
    return next((f"Game {s}" for e, s in dealt if e.kind == "deal" and e.item == last), "")


def _not_theirs(
    row: RosterRow, checks: Grid, match: Match, record: Record
) -> tuple[str, str] | None:
    heading = checks.at(1, 1).text
    theirs = header_names(match, [row], [row.name])
    if fold(heading) not in {fold(sheet_heading(name)) for name in theirs}:
        return (
            f'it says "{quoted(heading)}" on its tab Checks, so it is not this player\'s sheet',
            "write each player's own sheet into Players",
        )
    if checks.at(*MARK).text != game_mark(record):
        return (
            "its tab Checks bears the mark of another game, or none",
            "write this game's sheet into Players",
        )
    return None


def sheet_notices(sheets: Sequence[Sheet]) -> list[Problem]:
    """Name what the host should know of the sheets' files: open elsewhere, a conflict copy."""
    return [
        Problem(
            Severity.NOTICE,
            "workbook",
            "",
            "",
            f"the entry sheet of {quoted(sheet.player)}: {text}",
            file=sheet.store.name,
        )
        for sheet in sheets
        if sheet.book is not None
        for text in sheet.book.notices
    ]


# --- the board ---------------------------------------------------------------------------------


def _read_board(store: Store, users: Mapping[str, Sequence[str]]) -> Board:
    try:
        book = store.read(BOARD_TABS) if store.exists() else Book((), {})
    except StoreError as error:
        return store, error
    return store, _board_fault(store, book, users) or book


def _board_fault(store: Store, book: Book, users: Mapping[str, Sequence[str]]) -> StoreError | None:
    """Return why the board is not drawn here: never over what the tool did not draw."""
    if store.identity in users:
        return StoreError(
            f"Board in Settings names {_use(users[store.identity][0])} ({store.name})",
            "name a workbook that is the board alone, or clear the cell",
        )
    of_a_game = {fold(title) for title in ("Record", *ENTRY_TABS)}
    taken = [title for title in book.titles if fold(title) in of_a_game]
    if taken:
        return StoreError(
            f'{store.name}: the board holds a tab "{quoted(taken[0])}", so it is a game or an'
            " entry sheet itself",
            "name another workbook under Board in Settings",
        )
    foreign = [title for title, grid in book.grids.items() if _holds(grid) and not stamp_of(grid)]
    if foreign:
        listed = ", ".join(f'"{title}"' for title in foreign)
        return StoreError(
            f"{store.name}: tabs of these names are in the way on the board: {listed}",
            "rename or delete them, or name another workbook under Board in Settings",
        )
    return None


def _holds(grid: Grid) -> bool:
    return any(cell.kind is not Kind.BLANK for cell in grid.cells.values())
