"""The tab Settings: cells → what the match is set to, and problems."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sheets_host.game.notes import Misspelt, Note, readings
from sheets_host.game.rulings import LOTS, ROUNDS, SWITCHES, Rulings
from sheets_host.game.stages import Stage
from sheets_host.grid import Cell, Grid, Kind, Shape
from sheets_host.tabs.finding import find_table, fold
from sheets_host.tabs.moments import moment_in
from sheets_host.tabs.problems import (
    MANY,
    DamagedTabs,
    Problem,
    Severity,
    did_you_mean,
    notice,
    quoted,
)
from sheets_host.tabs.readings import unreadable

SETTINGS_HEADERS: Final = ("Setting", "Value", "What it does")
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
                # Looking for the nearest takes its time, and nobody reads thousands.
                near = did_you_mean(label.text, NAMES) if len(problems) < MANY else ""
                problems.append(_unknown_setting(label, place, near))
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


def _unknown_setting(label: Cell, place: str, near: str) -> Problem:
    return notice(
        Problem(
            Severity.PROBLEM,
            "setting-unknown",
            "Settings",
            place,
            f'"{quoted(label.text)}" is no setting{near}; it has no effect',
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
            if moment is None:
                continue
            try:
                found[stage] = moment_in(zone, moment)
            except OverflowError:
                self._wrong(name, f"{moment} is beyond the calendar", "type another date")
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
