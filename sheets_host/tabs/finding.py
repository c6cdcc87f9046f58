"""Find tabs by title, columns by header, rows by key: never by position."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from sheets_host.game.notes import tidy
from sheets_host.grid import Book, Cell, Grid, Kind, address
from sheets_host.tabs.problems import MANY, Problem, Severity, did_you_mean, nearest, quoted

HEADER_ROWS: Final = 200  # a header stands within so many rows, whatever was inserted above it


def damage(code: str, tab: str, cell: str, message: str, hint: str, entry: str = "") -> Problem:
    """Return a fault that keeps the tab from being read at all."""
    return Problem(Severity.PROBLEM, code, tab, cell, message, hint, entry)


@lru_cache(maxsize=10_000)
def fold(text: str) -> str:
    """Return a text as headers and names are compared: tidy, without regard to case."""
    return tidy(text).casefold()


@dataclass(frozen=True, slots=True)
class Table:
    """A header row found on a tab, and what stands under it.

    columns: by the fixed headers' own spelling. others: further headed columns, by their text.
    doubled: headers of `others` that stand twice.
    """

    grid: Grid
    row: int
    columns: Mapping[str, int]
    others: Mapping[str, int]
    doubled: tuple[tuple[str, int], ...]

    def at(self, row: int, header: str) -> Cell:
        return self.grid.at(row, self.columns[header])

    def cell(self, row: int, header: str) -> str:
        return address(row, self.columns[header])

    def rows(self) -> Sequence[int]:
        """Rows below the header that hold something, in order."""
        return sorted({r for r, _ in self.grid.cells if r > self.row})


def find_table(
    grid: Grid, headers: Collection[str], optional: Collection[str] = ()
) -> tuple[Table | None, list[Problem]]:
    """Find the row that holds these headers, and every fault of it.

    optional: further headers that tell the row, too, and may be missing from it.
    """
    by_row: dict[int, dict[int, str]] = {}
    for (row, column), cell in grid.cells.items():
        if row <= HEADER_ROWS and cell.kind is not Kind.BLANK and tidy(cell.text):
            by_row.setdefault(row, {})[column] = tidy(cell.text)
    wanted = {fold(header): header for header in headers}
    telling = wanted.keys() | set(map(fold, optional))

    def known(row: int) -> int:
        return len({fold(text) for text in by_row[row].values()} & telling)

    best = max(sorted(by_row), key=known, default=0)
    if not best or not known(best):
        return None, [
            damage(
                "headers-missing",
                grid.title,
                "",
                f"the header row is missing: no row holds {', '.join(headers)}",
                "put the header row back, or restore the workbook from a backup",
            )
        ]
    columns: dict[str, int] = {}
    others: dict[str, int] = {}
    doubled: list[tuple[str, int]] = []
    faults: list[Problem] = []
    seen: set[str] = set()
    for column, text in sorted(by_row[best].items()):
        header = wanted.get(fold(text))
        place = address(best, column)
        if header is None:
            if fold(text) in seen:
                doubled.append((text, column))
            else:
                seen.add(fold(text))
                others[text] = column
        elif header in columns:
            faults.append(
                damage(
                    "header-doubled",
                    grid.title,
                    place,
                    f'the header "{header}" stands twice, also in {address(best, columns[header])}',
                    "rename or delete the column that is too many",
                    text,
                )
            )
        else:
            columns[header] = column
    for header in headers:
        if header not in columns:
            near = nearest(header, others)
            where = address(best, others[near]) if near else ""
            found = f'; "{quoted(near)}" in {where} is the nearest' if near else ""
            faults.append(
                damage(
                    "header-missing",
                    grid.title,
                    where or address(best, 1),
                    f'the header "{header}" is missing from row {best}{found}',
                    f'write "{header}" over its column again',
                )
            )
    return Table(grid, best, columns, others, tuple(doubled)), faults


def find_grids(book: Book, titles: Iterable[str]) -> tuple[dict[str, Grid], list[Problem]]:
    """Find the tabs of these titles; name what is missing, doubled or turned into a table."""
    found: dict[str, Grid] = {}
    faults: list[Problem] = []
    wanted = tuple(titles)
    if not any(t == title or is_copy(t, title) for t in book.titles for title in wanted):
        return {}, [
            damage(
                "no-game",
                "workbook",
                "",
                f"none of the game's tabs is here; there are: {_listed(book.titles)}",
                "name the game's own workbook, or make a game in this one with: sheets-host new",
            )
        ]
    for title in wanted:
        copies = [t for t in book.titles if is_copy(t, title)]
        grid = book.grids.get(title)
        if grid is None:
            spare = [t for t in book.titles if t not in wanted]
            near = copies[0] if copies else nearest(title, spare)
            near = near or next((t for t in spare if fold(title) in fold(t)), None)
            found_text = f'; the nearest is "{quoted(near)}"' if near else ""
            if near and near.strip() == title:
                found_text += ", with a space before or behind it"
            elif near and tidy(near) == title:
                found_text += ", with something in it that cannot be seen"
            faults.append(
                damage(
                    "tab-missing",
                    title,
                    "",
                    f'the tab "{title}" is missing{found_text}; there are: {_listed(book.titles)}',
                    f'rename the tab back to "{title}", or restore a backup',
                )
            )
            continue
        for copy in copies:
            faults.append(
                damage(
                    "tab-doubled",
                    title,
                    "",
                    f'two tabs claim to be "{title}": it and "{quoted(copy)}"',
                    "delete or rename the one that does not count",
                )
            )
        if grid.tables:
            faults.append(
                damage(
                    "tab-is-a-table",
                    title,
                    "",
                    f'a spreadsheet table ("{quoted(grid.tables[0])}") was laid over this tab',
                    "turn it back into a plain range (Table Design, Convert to Range)",
                )
            )
        found[title] = grid
    return found, faults


def hidden_notices(grids: Mapping[str, Grid]) -> list[Problem]:
    """Name the tabs that are hidden: they are read all the same."""
    return [
        Problem(
            Severity.NOTICE,
            "hidden-tab",
            title,
            "",
            "the tab is hidden; it is read all the same",
            "show it, if that was not meant",
        )
        for title, grid in grids.items()
        if grid.hidden
    ]


def is_copy(candidate: str, title: str) -> bool:
    """Tell whether a tab looks like a copy of another: ``Bids (2)``, ``Copy of Bids``, ``bids``.

    So it does where its title says nothing else: signs, digits, and the words by which programs
    name copies in their languages.
    """
    if candidate == title:
        return False
    before, found, behind = fold(candidate).partition(fold(title))
    if not found:
        return False
    words = re.sub(r"[\s\d_.,()\[\]\u2013\u2014-]+", " ", f"{before} {behind}").split()
    apart = not re.search(r"[^\W_]\Z", before) and not re.match(r"[a-z]", behind)
    return apart and all(word in _OF_COPIES for word in words)


_OF_COPIES: Final = frozenset(
    fold(word)
    for language in (
        "copy of duplicate",
        "copia de di copie cópia còpia",
        "kopie von kopia kopi kopio af av från van z",
        "kopija koopia kópia kópie másolat másolata",
        "kopya kopyası salinan bản sao của",
        "копия копія копие",
        "のコピー コピー 的副本 副本 的複本 複本 의 사본",
        "نسخة من עותק של สำเนาของ สำเนา",
    )
    for word in language.split()
)


def _listed(titles: Sequence[str]) -> str:
    names = [f'"{quoted(title, 31)}"' for title in titles]
    return ", ".join(names[:20]) + (" …" if len(names) > 20 else "")


@dataclass(frozen=True, slots=True)
class Keyed:
    """The rows of an entry tab by their key, and every player's column."""

    table: Table
    rows: Mapping[tuple[int, ...], int]
    columns: Mapping[str, int]

    @property
    def grid(self) -> Grid:
        return self.table.grid

    @property
    def title(self) -> str:
        return self.table.grid.title

    def place(self, key: tuple[int, ...], player: str) -> tuple[int, int]:
        return self.rows[key], self.columns[player]

    def header_cell(self, player: str) -> str:
        return address(self.table.row, self.columns[player])


def find_keyed(
    grid: Grid,
    headers: Sequence[str],
    keys: Sequence[str],
    wanted: Sequence[tuple[int, ...]],
    names: Mapping[str, str],
    ignored: Collection[str] = (),
) -> tuple[Keyed | None, list[Problem]]:
    """Find an entry tab's rows by key and columns by player.

    names: what may stand in a header (folded) to the player it means. ignored: folded headers
    of columns that may stand there and are not read.
    """
    table, faults = find_table(grid, headers)
    if table is None or any(fault.code == "header-missing" for fault in faults):
        return None, faults
    rows, more = _rows_by_key(table, keys, wanted)
    faults += more
    columns: dict[str, int] = {}
    unknown: list[tuple[str, int]] = list(table.doubled)
    for text, column in table.others.items():
        player = names.get(fold(text))
        if player is not None and player not in columns:
            columns[player] = column
        elif fold(text) not in ignored:
            unknown.append((text, column))
    missing = [player for player in dict.fromkeys(names.values()) if player not in columns]
    for number, (text, column) in enumerate(unknown):
        known = (missing or names.values()) if number < MANY else ()  # looking takes its time
        place = address(table.row, column)
        if fold(text) in names:
            faults.append(
                damage(
                    "player-doubled",
                    grid.title,
                    place,
                    f'"{quoted(text)}" heads two columns, so it is unclear which one counts',
                    "delete or rename the column that is too many",
                    text,
                )
            )
        else:
            faults.append(
                damage(
                    "player-unknown",
                    grid.title,
                    place,
                    f'"{quoted(text)}" heads a'
                    f" column, but no such player is in Players"
                    f"{did_you_mean(text, known)}",
                    "write the player's name as in Players, or clear the header if"
                    " the column is no player's",
                    text,
                )
            )
    for player in missing:
        near = nearest(player, [text for text, _ in unknown[: 4 * MANY]])
        found = f'; "{quoted(near)}" is the nearest' if near else ""
        faults.append(
            damage(
                "player-missing",
                grid.title,
                address(table.row, 1),
                f'no column is headed "{quoted(player)}"{found}',
                "write the player's name over the column again (a new player: copy the"
                " last player's column and change its header)",
            )
        )
    return Keyed(table, rows, columns), faults


def _rows_by_key(
    table: Table, keys: Sequence[str], wanted: Sequence[tuple[int, ...]]
) -> tuple[dict[tuple[int, ...], int], list[Problem]]:
    rows: dict[tuple[int, ...], int] = {}
    faults: list[Problem] = []
    known = set(wanted)
    spoken = " and ".join(keys)
    for row in table.rows():
        cells = [table.at(row, key) for key in keys]
        if all(cell.kind is Kind.BLANK for cell in cells):
            continue
        key = tuple(_key_part(cell) for cell in cells)
        place = table.cell(row, keys[0])
        shown = ", ".join(
            f"{name} {quoted(cell.shown) or 'blank'}"
            for name, cell in zip(keys, cells, strict=True)
        )
        if key not in known:
            faults.append(
                damage(
                    "key-damaged",
                    table.grid.title,
                    place,
                    f"row {row} is headed {shown}, which is no row of this tab",
                    f"put {spoken} back as it was; in a row that is not the game's, leave"
                    f" the column{'s' * (len(keys) > 1)} {spoken} blank",
                    shown,
                )
            )
        elif key in rows:
            faults.append(
                damage(
                    "key-doubled",
                    table.grid.title,
                    place,
                    f"rows {rows[key]} and {row} are both headed {shown}",
                    "correct the one that was overwritten, or delete the row that is too many",
                    shown,
                )
            )
        else:
            rows[key] = row
    for key in wanted:
        if key not in rows:
            words = ", ".join(f"{name} {part}" for name, part in zip(keys, key, strict=True))
            faults.append(
                damage(
                    "key-missing",
                    table.grid.title,
                    "",
                    f"the row of {words} is missing",
                    f"undo what removed it, or type {words} into a blank row of the table",
                )
            )
    return rows, faults


def _key_part(cell: Cell) -> int:
    if isinstance(cell.value, float) and cell.value == int(min(abs(cell.value), 1e6)):
        return int(cell.value)
    text = tidy(cell.text) if cell.kind is Kind.TEXT else ""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else -1
