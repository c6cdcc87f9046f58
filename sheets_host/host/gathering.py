"""Read every workbook of a match once, and lay out what it all means.

`read_match` touches the stores; `lay_out` is pure, so that a verb can look at the match before and
after a decision with the same code.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from sheets_host.game.ledger import Ledger, settle
from sheets_host.game.match import Match, Player
from sheets_host.game.outlook import hindsight, projection
from sheets_host.game.record import Event, Record
from sheets_host.game.replay import replay
from sheets_host.game.scoring import Result, result_of
from sheets_host.grid import Book, Grid
from sheets_host.host.outside import (
    SHEET_HEADING,
    Board,
    Opener,
    Progress,
    Sheet,
    header_names,
    moved_seats,
    read_outside,
    sheet_notices,
    silent,
)
from sheets_host.stores.base import Store
from sheets_host.tabs.entries import Entry, Receipt, Source, find_source, read_stage
from sheets_host.tabs.finding import damage, find_grids, fold, hidden_notices
from sheets_host.tabs.late import deadline_notices, entry_notices, fixed_notices
from sheets_host.tabs.layout import BOARD_TABS, ENTRY_TABS, TITLES, TOOL_TABS
from sheets_host.tabs.players import RosterRow, read_players
from sheets_host.tabs.problems import DamagedTabs, Problem, Severity, few, quoted
from sheets_host.tabs.settings import CHOICE, ROUND_NOTES, WINNER_RULING, Config, read_settings
from sheets_host.tabs.stamps import COPY_BACK, check_stamps, read_record_tab
from sheets_host.tabs.view import Outlook, View

NEEDED: Final = tuple(title for title in TITLES if title != "How to play")


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything that was read, once. record: verified. own: the game workbook's entry tabs."""

    store: Store
    book: Book
    config: Config
    roster: tuple[RosterRow, ...]
    record: Record
    own: Source
    sheets: tuple[Sheet, ...]
    board: Board | None
    problems: tuple[Problem, ...]

    @property
    def sources(self) -> tuple[Source, ...]:
        return (self.own, *(sheet.source for sheet in self.sheets if sheet.source))


@dataclass(frozen=True)
class Table:
    """The match laid out: what the Record says, with what stands in the tabs now.

    record: with what the next sync will record by itself (renames, seats, the host's rulings).
    """

    reading: Reading
    record: Record
    match: Match
    ledger: Ledger
    result: Result | None
    entries: Mapping[str, Entry]
    problems: tuple[Problem, ...]

    @cached_property
    def view(self) -> View:
        """What the tool's tabs show of it."""
        config = self.reading.config
        return View(
            self.match, self.ledger, self.result, self.record, config, outlooks(self, config)
        )

    @property
    def receipts(self) -> tuple[Receipt, ...]:
        return tuple(receipt for entry in self.entries.values() for receipt in entry.receipts)

    @property
    def faults(self) -> tuple[Problem, ...]:
        """Entry sheets that cannot be reached or trusted."""
        return tuple(sheet.fault for sheet in self.reading.sheets if sheet.fault)

    @property
    def standing(self) -> tuple[Problem, ...]:
        """Problems that keep the open stage from closing."""
        return tuple(problem for problem in self.problems if problem.stands)

    @property
    def silent(self) -> tuple[str, ...]:
        """Who is awaited and has entered nothing; not those whose entries cannot be read."""
        return tuple(
            name
            for name in self.match.awaited()
            if name not in self.unread
            and (name not in self.entries or not self.entries[name].typed)
        )

    @property
    def unread(self) -> tuple[str, ...]:
        """Who is awaited and has an entry sheet that cannot be read."""
        faulty = {fault.player for fault in self.faults}
        return tuple(name for name in self.match.awaited() if name in faulty)


def outlooks(table: Table, config: Config) -> dict[str, Outlook]:
    """Return what could be, from closed rounds alone: hindsight once there is a result."""
    match, ledger, result = table.match, table.ledger, table.result
    if result is not None:
        found = hindsight(match, ledger, result)
        return {name: Outlook(best_possible=best.points) for name, best in found.items()}
    if not config.projection or not match.rounds_closed:
        return {}
    return {name: Outlook(projected=points) for name, points in projection(match, ledger).items()}


# --- reading -----------------------------------------------------------------------------------


def read_match(
    store: Store,
    opener: Opener,
    instead: Record | None = None,
    progress: Progress = silent,
) -> Reading:
    """Read the game workbook, then every entry sheet and the board, each with one call.

    instead: a Record to take in place of the one that stands there.
    Raises StoreError, DamagedTabs (all faults at once), RecordBroken.
    """
    book = store.read(TITLES)
    grids, faults = find_grids(book, NEEDED)
    if instead is not None:
        made_anew = ("Record", "tab-missing")
        faults = [fault for fault in faults if (fault.tab, fault.code) != made_anew]
    if faults:
        raise DamagedTabs(_other_workbook(book) or _with_way_back(faults))
    record = instead or read_record_tab(grids["Record"])
    if instead is None:
        check_stamps(record, {t: g for t, g in grids.items() if t in TOOL_TABS and t != "Record"})
    if not record.rows:
        raise DamagedTabs(
            [
                damage(
                    "record-empty",
                    "Record",
                    "",
                    "the tab Record is empty: no game was started here",
                    f"start one with: sheets-host new; or if there was one, {COPY_BACK}",
                )
            ]
        )
    config, problems = read_settings(grids["Settings"])
    roster, more = read_players(grids["Players"])
    problems += more
    if not roster:
        raise DamagedTabs(
            [
                damage(
                    "players-missing",
                    "Players",
                    "",
                    "no player stands in Players",
                    "write the players' names under the header Player",
                )
            ]
        )
    match = replay(record)
    own = _own_source(grids, match, roster)
    sheets, board = read_outside(store, match, roster, record, config.board, opener, progress)
    problems += hidden_notices(grids)
    problems += [_book_notice(text) for text in book.notices]
    problems += sheet_notices(sheets)
    return Reading(store, book, config, roster, record, own, sheets, board, tuple(problems))


def _other_workbook(book: Book) -> list[Problem]:
    """Tell a player's entry sheet or a board from a damaged game; [] for neither."""
    if {"Settings", "Players"} <= set(book.titles) and not {*ENTRY_TABS, *TOOL_TABS} & {
        *book.titles
    }:
        told = "no game is started here yet: only the host's tabs stand in it"
        return [damage("no-game", "workbook", "", told, "start it with: sheets-host new")]
    if "Settings" in book.titles or "Record" in book.titles:
        return []
    heading = book.grids["Checks"].at(1, 1).text if "Checks" in book.grids else ""
    hint = "name the game's own workbook, the one with the tabs Settings and Record"
    if heading.startswith(SHEET_HEADING):
        who = quoted(heading.removeprefix(SHEET_HEADING))
        return [damage("no-game", "workbook", "", f"this is the entry sheet of {who}", hint)]
    if set(BOARD_TABS) <= set(book.titles):
        return [damage("no-game", "workbook", "", "this is a board, drawn from a game", hint)]
    return []


CHOOSE_AGAIN: Final = (
    "sheets-host reopen WORKBOOK final --settings --reason TEXT, then sync --close final"
)


def _with_way_back(faults: Sequence[Problem]) -> list[Problem]:
    """A missing tab of the tool's own needs no backup: an empty one is filled again, and for the
    Record there are copies."""
    faults = [replace(f, hint=f"{f.hint}; {COPY_BACK}") if f.tab == "Record" else f for f in faults]
    return [
        replace(
            f,
            hint=f'rename it back to "{f.tab}", or add an empty tab of that name: the next'
            " sync fills it",
        )
        if f.code == "tab-missing" and f.tab in TOOL_TABS and f.tab != "Record"
        else f
        for f in faults
    ]


def _book_notice(text: str) -> Problem:
    return Problem(Severity.NOTICE, "workbook", "", "", text)


def _players(match: Match, roster: Sequence[RosterRow]) -> list[str]:
    """Who has a column: before the first closing as Players says, then as the Record says."""
    if not match.fixed:
        return [row.name for row in roster]
    moved = moved_seats(match, roster)
    return [moved.get(name, name) for name in match.names]


def _own_source(
    grids: Mapping[str, Grid],
    match: Match,
    roster: Sequence[RosterRow],
) -> Source:
    names = _players(match, roster)
    away = {row.name for row in roster if row.entry_sheet}
    own = [name for name in names if name not in away]
    # A player who came too late may have a column by now: it is refused with that reason.
    late = (row.name for row in roster if row.name not in names)
    ignored = {*header_names(match, roster, names), *map(fold, match.seats), *map(fold, late)}
    source, faults = find_source(grids, header_names(match, roster, own), own, ignored)
    if source is None:
        raise DamagedTabs(faults)
    return source


# --- laying out --------------------------------------------------------------------------------


def lay_out(reading: Reading, record: Record, now: dt.datetime, *, closing: bool = False) -> Table:
    """Work out what a Record and the present tabs mean together. Pure.

    closing: the open stage is to be closed now, so that what is owed and missing is a problem.
    """
    config, roster = reading.config, reading.roster
    record, recorded = _caught_up(record, roster, now)
    match = present(recorded, roster, config)
    ledger = settle(match)
    result = result_of(match, ledger) if match.finished else None
    problems = list(reading.problems)
    if result is not None:
        record, match, result, more = _with_rulings(record, match, ledger, config, roster, now)
        problems += more
    problems += _deal_problems(match, config)
    weighed = as_reopened(match, roster, config)
    entries = read_stage(reading.sources, weighed, settle(weighed), closing=closing)
    problems += [problem for entry in entries.values() for problem in entry.problems]
    problems += fixed_notices(match, config, roster) if not _settings_open(match) else []
    problems += deadline_notices(match, config)
    problems += entry_notices(reading.sources, match, ledger)
    problems += _ignored_columns(reading)
    return Table(reading, record, match, ledger, result, entries, few(problems))


def stamp_time(now: dt.datetime) -> str:
    """Return a time as the Record holds it, in UTC."""
    return now.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _caught_up(
    record: Record, roster: Sequence[RosterRow], now: dt.datetime
) -> tuple[Record, Match]:
    """Record what Players says that the Record does not know yet: renames, and new seats."""
    at = stamp_time(now)
    match = replay(record)
    renames = [
        Event("renamed", player=old, value=new, at=at)
        for old, new in moved_seats(match, roster).items()
    ]
    if renames:
        record = record.with_events(renames)
        match = replay(record)
    seats = [
        Event("seat", player=row.name, at=at)
        for row in roster
        if not match.fixed and row.name not in match.seats
    ]
    if seats:
        record = record.with_events(seats)
        match = replay(record)
    return record, match


def present(match: Match, roster: Sequence[RosterRow], config: Config) -> Match:
    """Lay what acts at once over what is recorded.

    Until the first closing that is players, garnets and switches; later `Status` (until the
    result, which stands until a reopened stage is closed again) and `Announced bids` alone.
    """
    rows = {row.name: row for row in roster}
    if not match.fixed:
        players = tuple(
            Player(name, rows[name].garnets, rows[name].withdrawn)
            for name in match.seats
            if name in rows
        )
        return replace(match, players=players, rulings=config.rulings)
    rulings = replace(match.rulings, announced=config.rulings.announced)
    players = match.players if match.finished else _statuses(match, roster)
    return replace(match, players=players, rulings=rulings)


def _statuses(match: Match, roster: Sequence[RosterRow]) -> tuple[Player, ...]:
    withdrawn = {row.name: row.withdrawn for row in roster}
    return tuple(replace(p, withdrawn=withdrawn.get(p.name, p.withdrawn)) for p in match.players)


def _settings_open(match: Match) -> bool:
    reopening = match.reopened.get(match.stage)
    return reopening is not None and reopening.settings


def as_reopened(match: Match, roster: Sequence[RosterRow], config: Config) -> Match:
    """Return what a reopened stage's entries are weighed by, since it is recorded with them: the
    present garnets and switches, if those were reopened, and who has withdrawn since the result."""
    if not match.reopened:
        return match
    match = replace(match, players=_statuses(match, roster))
    if not _settings_open(match):
        return match
    garnets = {row.name: row.garnets for row in roster}
    players = tuple(replace(p, garnets=garnets.get(p.name, p.garnets)) for p in match.players)
    return replace(match, players=players, rulings=config.rulings)


def _with_rulings(
    record: Record,
    match: Match,
    ledger: Ledger,
    config: Config,
    roster: Sequence[RosterRow],
    now: dt.datetime,
) -> tuple[Record, Match, Result, list[Problem]]:
    """Take the host's ruling on the winner, then the winner's choice, where they are due."""
    problems: list[Problem] = []
    for setting, typed in ((WINNER_RULING, config.winner_ruling), (CHOICE, config.choice)):
        result = result_of(match, ledger)
        among = result.winner_among if setting == WINNER_RULING else result.choice_among
        recorded = match.winner_ruling if setting == WINNER_RULING else match.choice
        name = next((n for n in match.names if fold(n) == fold(typed)), None)
        if not typed:
            continue
        if among and name in among:
            event = Event("ruling", item=setting, player=name or "", at=stamp_time(now))
            record = record.with_events([event])
            match = present(replay(record), roster, config)
        elif among:
            problems.append(
                config.problem(
                    setting,
                    "choice-outside",
                    f'{setting}: "{quoted(typed)}" is not among those tied:'
                    f" {', '.join(map(quoted, among))}",
                    "type one of these names",
                    typed,
                )
            )
        elif name is None or (name != recorded and _decided(setting, result, recorded)):
            stands = f"; recorded: {quoted(recorded)}" if recorded else ""
            problems.append(
                replace(
                    config.problem(
                        setting,
                        "choice-without-effect",
                        f'{setting}: "{quoted(typed)}" has no effect{stands}',
                        "clear the cell, if that was not meant"
                        + (f"; to change what is recorded: {CHOOSE_AGAIN}" if recorded else ""),
                        typed,
                    ),
                    severity=Severity.NOTICE,
                )
            )
    return record, match, result_of(match, ledger), problems


def _decided(setting: str, result: Result, recorded: str | None) -> bool:
    return recorded is not None or (setting == CHOICE and result.candidate is not None)


def _deal_problems(match: Match, config: Config) -> list[Problem]:
    """Hold the notes that the host chose against those already dealt."""
    problems: list[Problem] = []
    dealt = {note: round_ for round_, deal in match.deals.items() for note in deal}
    for round_, chosen in config.chosen.items():
        name = ROUND_NOTES[round_ - 1]
        if round_ in match.deals:
            if set(chosen) != set(match.deals[round_]):
                problems.append(
                    replace(
                        config.problem(
                            name,
                            "changed-after-dealing",
                            f"{name}: round {round_} is dealt; its notes stand",
                            "clear the cell, if that was not meant",
                        ),
                        severity=Severity.NOTICE,
                    )
                )
            continue
        gone = [f"{note} (round {dealt[note]})" for note in chosen if note in dealt]
        if gone:
            problems.append(
                config.problem(
                    name,
                    "already-dealt",
                    f"{name}: already dealt: {', '.join(gone)}",
                    "choose notes that have not been offered",
                )
            )
    return problems


def _ignored_columns(reading: Reading) -> list[Problem]:
    """Name what stands in the game workbook's columns of players with a sheet of their own."""
    found: list[Problem] = []
    for sheet in reading.sheets:
        for keyed in (reading.own.bids, reading.own.exchanges, reading.own.compositions):
            column = next(
                (c for text, c in keyed.table.others.items() if fold(text) == fold(sheet.player)),
                None,
            )
            typed = column and any(
                c == column and r > keyed.table.row and cell.shown.strip()
                for (r, c), cell in keyed.grid.cells.items()
            )
            if typed:
                found.append(
                    Problem(
                        Severity.NOTICE,
                        "column-ignored",
                        keyed.title,
                        "",
                        f"something stands in the column of {quoted(sheet.player)}, whose entries are"
                        " read from a sheet of their own",
                        "clear the column",
                        "",
                        sheet.player,
                    )
                )
    return found
