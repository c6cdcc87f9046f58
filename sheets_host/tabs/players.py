"""The tab Players: cells → who takes part, and problems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sheets_host.grid import Cell, Grid
from sheets_host.tabs.finding import Table, damage, find_table, fold
from sheets_host.tabs.problems import (
    DamagedTabs,
    Problem,
    Severity,
    quoted,
)
from sheets_host.tabs.readings import read_count, unreadable

PLAYERS_HEADERS: Final = ("Player", "Garnets", "Status", "Email", "Entry sheet", "Formerly")
HEADER_WORDS: Final = frozenset({"round", "lot", "note", "state", "position"})


@dataclass(frozen=True, slots=True)
class RosterRow:
    """One row of Players. cell: of the name; cells: of the other columns, by header."""

    name: str
    garnets: int
    withdrawn: bool
    email: str
    entry_sheet: str
    formerly: str
    cell: str
    cells: Mapping[str, str]


def read_players(grid: Grid) -> tuple[tuple[RosterRow, ...], list[Problem]]:
    """Read Players. Raises DamagedTabs where names cannot be told: all such faults at once."""
    table, faults = find_table(grid, PLAYERS_HEADERS)
    if table is None or faults:
        raise DamagedTabs(faults)
    problems: list[Problem] = []
    rows: list[RosterRow] = []
    seen: dict[str, str] = {}
    for row in table.rows():
        if len(rows) + len(faults) > MOST_PLAYERS:
            faults.append(_too_many(table.cell(row, "Player")))
            break
        name_cell = table.at(row, "Player")
        place = table.cell(row, "Player")
        name, fault = _name(name_cell, place)
        if fault:
            faults.append(fault)
        if not name:
            continue
        if fold(name) in seen:  # columns are found so, too
            faults.append(
                damage(
                    "player-twice",
                    "Players",
                    place,
                    f'"{quoted(name)}" stands twice,'
                    f" also in {seen[fold(name)]} (capital letters do not tell"
                    " players apart)",
                    "give each player a name of their own",
                    name,
                )
            )
        seen[fold(name)] = place
        rows.append(_roster_row(table, row, name, place, problems))
    faults += _formerly_faults(rows)
    if faults:
        raise DamagedTabs(faults)
    return tuple(rows), problems


MOST_PLAYERS: Final = 1_000


def _too_many(place: str) -> Problem:
    return damage(
        "players-too-many",
        "Players",
        place,
        f"from here on more rows follow than the {MOST_PLAYERS:,} players that are read",
        "clear what is no player's row",
    )


def name_fault(name: str) -> str | None:
    """Return why a text cannot be a player's name; None where it can."""
    if not name.strip():
        return "a player's name is blank"
    if fold(name) in HEADER_WORDS:
        return f'"{name}" is a column title; choose another name'
    if quoted(name, 10_000) != name:
        return f'"{quoted(name)}" holds line breaks or invisible characters'
    if len(name) > 100:
        return f'"{quoted(name)}" is longer than 100 characters'
    return None


def _name(cell: Cell, place: str) -> tuple[str, Problem | None]:
    wrong = unreadable(cell, "the player's name")
    if wrong:
        return "", damage(wrong.code, "Players", place, wrong.message, wrong.hint, cell.shown)
    name = quoted(cell.text, 10_000)
    if not name:
        return "", None
    fault = name_fault(name)
    if fault:
        return "", damage("player-name", "Players", place, fault, "type another name here", name)
    return name, None


def _formerly_faults(rows: Sequence[RosterRow]) -> list[Problem]:
    faults = []
    names = {fold(row.name): row for row in rows}
    seen: dict[str, RosterRow] = {}
    for row in rows:
        former = fold(row.formerly)
        if not former:
            continue
        other = names.get(former) or seen.get(former)
        if other is not None and other is not row:
            faults.append(
                damage(
                    "formerly-taken",
                    "Players",
                    row.cells.get("Formerly", row.cell),
                    f'"{quoted(row.formerly)}" also stands in row {other.cell[1:]}, so'
                    " it is unclear who took over from whom",
                    "let each former name stand once, and in no Player column",
                    row.formerly,
                )
            )
        seen[former] = row
    return faults


def _roster_row(
    table: Table,
    row: int,
    name: str,
    place: str,
    problems: list[Problem],
) -> RosterRow:
    def at(header: str) -> tuple[Cell, str]:
        return table.at(row, header), table.cell(row, header)

    def wrong(header: str, code: str, message: str, hint: str) -> None:
        cell, where = at(header)
        problems.append(
            Problem(
                Severity.PROBLEM,
                code,
                "Players",
                where,
                f"{header}: {message}",
                hint,
                quoted(cell.shown),
                name,
            )
        )

    def text(header: str) -> str:
        cell, _ = at(header)
        word = unreadable(cell, "plain text")
        if word:
            wrong(header, word.code, word.message, word.hint)
            return ""
        return quoted(cell.text, 2_000)

    count = read_count(at("Garnets")[0], "garnets")
    if count.wrong:
        wrong("Garnets", count.wrong.code, count.wrong.message, count.wrong.hint)
    status = fold(text("Status"))
    if status not in ("", "playing", "withdrawn"):
        wrong(
            "Status",
            "status-unknown",
            f'"{quoted(status)}" is not understood',
            'leave it blank, or type "withdrawn"',
        )
    return RosterRow(
        name,
        count.value or 0,
        status == "withdrawn",
        text("Email"),
        text("Entry sheet"),
        text("Formerly"),
        place,
        {header: at(header)[1] for header in PLAYERS_HEADERS[1:]},
    )
