"""The host's tabs, Settings and Players: cells → what the match is set to, and problems."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sheets_host.game.notes import Misspelt, Note, readings
from sheets_host.game.rulings import LOTS, ROUNDS, SWITCHES, Rulings
from sheets_host.game.stages import Stage
from sheets_host.grid import BLANK, Cell, Grid, Kind, Shape, address
from sheets_host.tabs.finding import Table, damage, find_table, fold
from sheets_host.tabs.moments import moment_in
from sheets_host.tabs.problems import (
    DamagedTabs,
    Problem,
    Severity,
    did_you_mean,
    nearest,
    notice,
    quoted,
)
from sheets_host.tabs.readings import read_count, unreadable

SETTINGS_HEADERS: Final = ("Setting", "Value", "What it does")
PLAYERS_HEADERS: Final = ("Player", "Garnets", "Status", "Email", "Entry sheet", "Formerly")
HEADER_WORDS: Final = frozenset({"round", "lot", "note", "state", "position"})
ROUND_CLOSES: Final = tuple(f"Round {r} closes" for r in range(1, ROUNDS + 1))
ROUND_NOTES: Final = tuple(f"Round {r} notes" for r in range(1, ROUNDS + 1))
COMPOSING_CLOSES: Final = "Composing closes"
CHOICE: Final = "Elimination choice"
WINNER_RULING: Final = "Winner ruling"
DEFAULT_GAME: Final = "Composer Auction"

NAMES: Final = (
    "Game",
    "Time zone",
    *ROUND_CLOSES,
    COMPOSING_CLOSES,
    *ROUND_NOTES,
    "Board",
    "Deal seed",
    "Projection",
    *(switch.name for switch in SWITCHES),
    CHOICE,
    WINNER_RULING,
)


@dataclass(frozen=True, slots=True)
class Config:
    """What Settings say. closes: deadlines by stage, with the zone; chosen: the host's notes.

    doubtful: by stage, why its deadline is not the time that was typed (clocks are changed).
    cells: where each value stands. choice and winner_ruling: names as typed, blank for none.
    """

    game: str = DEFAULT_GAME
    zone: ZoneInfo = field(default_factory=lambda: ZoneInfo("UTC"))
    closes: Mapping[Stage, dt.datetime] = field(default_factory=dict)
    doubtful: Mapping[Stage, str] = field(default_factory=dict)
    chosen: Mapping[int, tuple[Note, ...]] = field(default_factory=dict)
    board: str = ""
    seed: str = ""
    projection: bool = True
    rulings: Rulings = Rulings()
    choice: str = ""
    winner_ruling: str = ""
    cells: Mapping[str, str] = field(default_factory=dict)

    def problem(self, name: str, code: str, message: str, hint: str, entry: str = "") -> Problem:
        """Return a problem at a setting's cell."""
        return Problem(
            Severity.PROBLEM, code, "Settings", self.cells.get(name, ""), message, hint, entry
        )


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


# --- Settings ----------------------------------------------------------------------------------


def read_settings(grid: Grid) -> tuple[Config, list[Problem]]:
    """Read Settings. Raises DamagedTabs where its header row is gone."""
    table, faults = find_table(grid, SETTINGS_HEADERS[:2], SETTINGS_HEADERS[2:])
    if table is None or faults:
        raise DamagedTabs(faults)
    problems: list[Problem] = []
    cells: dict[str, tuple[str, Cell]] = {}
    by_fold = {fold(name): name for name in NAMES}
    for row in table.rows():
        label = table.at(row, "Setting")
        if label.kind is Kind.BLANK:
            continue
        name = by_fold.get(fold(label.text))
        place = table.cell(row, "Setting")
        if name is None:
            if table.at(row, "Value").kind is not Kind.BLANK:
                problems.append(_unknown_setting(label, place))
        elif name in cells:
            problems.append(
                Problem(
                    Severity.PROBLEM,
                    "setting-doubled",
                    "Settings",
                    place,
                    f'"{name}" stands twice, also beside {cells[name][0]}',
                    "delete the row that is too many",
                    label.text,
                )
            )
        else:
            cells[name] = table.cell(row, "Value"), table.at(row, "Value")
    reader = _SettingsReader(
        {name: cell for name, (_, cell) in cells.items()},
        {name: place for name, (place, _) in cells.items()},
    )
    config = reader.config()
    return config, problems + reader.problems


def _unknown_setting(label: Cell, place: str) -> Problem:
    return notice(
        Problem(
            Severity.PROBLEM,
            "setting-unknown",
            "Settings",
            place,
            f'"{quoted(label.text)}" is no setting{did_you_mean(label.text, NAMES)}; it has no effect',
            "correct its name, or clear the row",
            label.text,
        )
    )


class _SettingsReader:
    """Reads each value; collects what is not understood."""

    def __init__(self, cells: Mapping[str, Cell], places: Mapping[str, str]) -> None:
        self.cells = cells
        self.places = places
        self.problems: list[Problem] = []

    def config(self) -> Config:
        zone = self._zone()
        deadlines = self._deadlines(zone)
        return Config(
            game=self._text("Game") or DEFAULT_GAME,
            zone=zone,
            closes={stage: moment for stage, (moment, _) in deadlines.items()},
            doubtful={stage: word for stage, (_, word) in deadlines.items() if word},
            chosen=self._chosen(),
            board=self._text("Board"),
            seed=self._text("Deal seed"),
            projection=self._one_of("Projection", ("yes", "no")) == "yes",
            rulings=Rulings.of({s.name: self._one_of(s.name, s.values) for s in SWITCHES}),
            choice=self._text(CHOICE),
            winner_ruling=self._text(WINNER_RULING),
            cells=self.places,
        )

    def _wrong(self, name: str, message: str, hint: str, code: str = "setting-value") -> None:
        self.problems.append(
            Problem(
                Severity.PROBLEM,
                code,
                "Settings",
                self.places.get(name, ""),
                f"{name}: {message}",
                hint,
                quoted(self.cells[name].shown),
            )
        )

    def _text(self, name: str) -> str:
        cell = self.cells.get(name)
        if cell is None:
            return ""
        wrong = unreadable(cell, "plain text")
        if wrong:
            self._wrong(name, wrong.message, wrong.hint, wrong.code)
            return ""
        return quoted(cell.text, 2_000)

    def _one_of(self, name: str, values: tuple[str, ...]) -> str:
        text = self._text(name)
        for value in values:
            if fold(text) == fold(value):
                return value
        if text:
            listed = " or ".join(f'"{value}"' for value in values)
            self._wrong(name, f'"{quoted(text)}" is not understood', f"type {listed}")
        return values[0]

    def _zone(self) -> ZoneInfo:
        name = self._text("Time zone")
        if not name:
            return ZoneInfo("UTC")
        zone = find_zone(name)
        if zone is None:
            self._wrong(
                "Time zone",
                f'"{quoted(name)}" is no time zone known here',
                "type an IANA name such as Europe/Berlin or America/New_York",
            )
        return zone or ZoneInfo("UTC")

    def _deadlines(self, zone: ZoneInfo) -> dict[Stage, tuple[dt.datetime, str]]:
        found = {}
        for stage, name in zip(Stage, (*ROUND_CLOSES, COMPOSING_CLOSES), strict=False):
            moment = self._moment(name)
            if moment is not None:
                found[stage] = moment_in(zone, moment)
        return found

    def _moment(self, name: str) -> dt.datetime | None:
        cell = self.cells.get(name)
        if cell is None or (cell.kind is Kind.BLANK and (cell.formula is None or cell.cached)):
            return None
        hint = "type a date and a time, such as 2026-12-24 18:00"
        moment = cell.moment if cell.shape is Shape.DATE and not cell.merge else None
        if moment is not None:
            if re.search("h", cell.format, re.IGNORECASE) or moment.time() != dt.time(0):
                return moment
            self._wrong(name, f"{quoted(cell.shown)} names a day but no time", hint)
            return None
        if cell.kind is Kind.TEXT:
            text = fold(cell.text).upper()
            if not text:
                return None
            match = re.fullmatch(r"(\d{4}-\d\d-\d\d)[T ]+(\d{1,2}:\d\d(?::\d\d)?)", text)
            if match:
                try:
                    return dt.datetime.fromisoformat(f"{match[1]} {match[2]:0>5}")
                except ValueError:
                    pass
        self._wrong(name, f'"{quoted(cell.shown)}" is no date and time', hint)
        return None

    def _chosen(self) -> dict[int, tuple[Note, ...]]:
        found: dict[int, tuple[Note, ...]] = {}
        taken: dict[Note, str] = {}
        for round_, name in enumerate(ROUND_NOTES, 1):
            notes = self._eight(name)
            if notes is None:
                continue
            clash = next((note for note in notes if note in taken), None)
            if clash:
                self._wrong(
                    name,
                    f"{clash} also stands in {taken[clash]}; each note exists once",
                    "choose another note in one of the two",
                )
                continue
            taken |= dict.fromkeys(notes, name)
            found[round_] = notes
        return found

    def _eight(self, name: str) -> tuple[Note, ...] | None:
        text = self._text(name)
        if not text:
            return None
        hint = f"write {LOTS} different notes with commas between: C whole, D# quarter, …"
        notes = []
        for part in re.split(r"[,;\n]", text):
            if not part.strip():
                continue
            try:
                possible = readings(part)
            except Misspelt as misspelt:
                self._wrong(name, quoted(str(misspelt), 120), hint)
                return None
            if len(possible) > 1:
                self._wrong(name, f'"{quoted(part)}" can mean several notes', hint)
                return None
            notes.append(possible[0])
        if len(notes) != LOTS:
            self._wrong(name, f"{len(notes)} notes stand here instead of {LOTS}", hint)
            return None
        if len(set(notes)) != LOTS:
            twice = next(note for note in notes if notes.count(note) > 1)
            self._wrong(name, f"{twice} stands here twice; each note exists once", hint)
            return None
        return tuple(notes)


def find_zone(name: str) -> ZoneInfo | None:
    """Return the IANA time zone of this name; None where there is none."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


# --- Players -----------------------------------------------------------------------------------


def read_players(grid: Grid) -> tuple[tuple[RosterRow, ...], list[Problem]]:
    """Read Players. Raises DamagedTabs where names cannot be told: all such faults at once."""
    table, faults = find_table(grid, PLAYERS_HEADERS[:1], PLAYERS_HEADERS[1:])
    if table is None or faults:
        raise DamagedTabs(faults)
    # Columns that may be blank may also be missing; one that is nearly there was mistyped.
    columns = {fold(text): column for text, column in table.others.items()}
    problems: list[Problem] = []
    for header in PLAYERS_HEADERS[1:]:
        if fold(header) not in columns:
            near = nearest(header, table.others)
            if near and fold(near) not in map(fold, PLAYERS_HEADERS):
                faults.append(
                    damage(
                        "header-missing",
                        "Players",
                        address(table.row, table.others[near]),
                        f'the header "{header}" is missing; "{quoted(near)}" is the nearest',
                        f'write "{header}" over its column again',
                    )
                )
    for text, column in table.doubled:
        if fold(text) in map(fold, PLAYERS_HEADERS):
            faults.append(
                damage(
                    "header-doubled",
                    "Players",
                    address(table.row, column),
                    f'the header "{quoted(text)}" stands twice, also in'
                    f" {address(table.row, columns[fold(text)])}",
                    "rename or delete the column that is too many",
                )
            )
    rows: list[RosterRow] = []
    seen: dict[str, str] = {}
    for row in table.rows():
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
        rows.append(_roster_row(table, columns, row, name, place, problems))
    faults += _formerly_faults(rows)
    if faults:
        raise DamagedTabs(faults)
    return tuple(rows), problems


def name_fault(name: str) -> str | None:
    """Return why a text cannot be a player's name; None where it can."""
    if not name.strip():
        return "a player's name is blank"
    if fold(name) in HEADER_WORDS:
        return f'"{name}" is a header word of the entry tabs'
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
        return "", damage("player-name", "Players", place, fault, "choose another name", name)
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
    columns: Mapping[str, int],
    row: int,
    name: str,
    place: str,
    problems: list[Problem],
) -> RosterRow:
    def at(header: str) -> tuple[Cell, str]:
        column = columns.get(fold(header))
        return (table.grid.at(row, column), address(row, column)) if column else (BLANK, "")

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
