"""The verb `new`: the tabs of a match, in a new file, an existing workbook or an empty sheet."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sheets_host.game.ledger import settle
from sheets_host.game.match import Match
from sheets_host.game.record import FORMAT, Event, Record
from sheets_host.game.replay import replay
from sheets_host.game.stages import Stage
from sheets_host.grid import Book, Content, Grid, Tab, same_contents
from sheets_host.host.closing import opening_events
from sheets_host.host.gathering import present, stamp_time
from sheets_host.host.protecting import first_protections
from sheets_host.host.sheets import SheetsMade, make_sheets, sheet_paths
from sheets_host.host.verbs import Context, UsageError
from sheets_host.stores.base import Store, StoreError, Write
from sheets_host.stores.files import reason, undecoded
from sheets_host.tabs import host_tabs, reports
from sheets_host.tabs.entry_tabs import entry_tabs
from sheets_host.tabs.finding import fold, is_copy
from sheets_host.tabs.layout import HOST_TABS, TITLES
from sheets_host.tabs.players import RosterRow, name_fault, read_players
from sheets_host.tabs.problems import DamagedTabs, Problem, quoted
from sheets_host.tabs.settings import Config, find_zone, read_settings
from sheets_host.tabs.stamps import read_record_tab
from sheets_host.tabs.view import View


@dataclass(frozen=True, slots=True)
class Plan:
    """What `new` was told: names with their garnets, settings by name, paths of entry sheets.

    sheets: by player; None where no entry sheets are asked for.
    """

    players: tuple[tuple[str, int], ...] = ()
    settings: Mapping[str, str] | None = None
    sheets: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Made:
    """What `new` made. completed: the workbook already held Settings and Players.

    existed: the game was there; only entry sheets were made.
    """

    store: Store
    players: tuple[str, ...]
    completed: bool = False
    existed: bool = False
    others: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    notices: tuple[Problem, ...] = ()
    sheets: SheetsMade | None = None


def plan(
    players: Sequence[str],
    title: str = "",
    zone: str = "",
    seed: str = "",
    entry_sheets: Path | None = None,
    base: Path = Path(),
) -> Plan:
    """Read the words of `new`: ``Ann`` or ``Ann:3``. Raises UsageError for all that is wrong.

    entry_sheets: the folder for them; their paths are written relative to `base`.
    """
    faults: list[str] = []
    parsed: list[tuple[str, int]] = []
    for text in players:
        if undecoded(text):
            faults.append(f'"{quoted(text)}" holds bytes that are no UTF-8')
            continue
        name, garnets = _name_and_garnets(text)
        fault = name_fault(name)
        _, colon, rest = text.rpartition(":")
        if colon and name == quoted(text, 10_000):
            fault = (
                f'"{quoted(text)}": garnets are a whole number, 0 or more, after the colon, not'
                f' "{quoted(rest)}" (a name that has a colon itself needs them: "{quoted(text)}:0")'
            )
        if fault:
            faults.append(fault)
        elif fold(name) in (fold(known) for known, _ in parsed):
            faults.append(
                f'"{quoted(name)}" stands twice (capital letters do not tell players apart)'
            )
        else:
            parsed.append((name, garnets))
    if zone and find_zone(zone) is None:
        faults.append(
            f'"{quoted(zone)}" is no time zone known here: write an IANA name such as Europe/Berlin'
        )
    if faults:
        raise UsageError("; ".join(faults))
    given = {"Game": quoted(title, 200), "Time zone": zone, "Deal seed": quoted(seed, 200)}
    sheets = None
    if entry_sheets is not None:
        try:
            entry_sheets.mkdir(parents=True, exist_ok=True)
            sheets = sheet_paths([name for name, _ in parsed], entry_sheets, base)
            for path in sheets.values():
                path.encode()  # it goes into a cell
        except (OSError, RuntimeError, ValueError) as error:
            wrong = f"the folder {entry_sheets} cannot be made: {reason(error)}"
            raise StoreError(wrong, "name another one with --entry-sheets") from error
    return Plan(tuple(parsed), {name: value for name, value in given.items() if value}, sheets)


def _name_and_garnets(text: str) -> tuple[str, int]:
    name, colon, number = text.rpartition(":")
    if colon and number.strip().isascii() and number.strip().isdigit() and len(number) < 10:
        return quoted(name, 10_000), int(number)
    return quoted(text, 10_000), 0


def new(store: Store, wish: Plan, context: Context) -> Made:
    """Make the tabs and open round 1.

    Raises UsageError without players; StoreError over a game that has a Record, or where tabs of
    the game's titles stand that it cannot have made.
    """
    exists = store.exists()
    book = store.read(TITLES) if exists else Book((), {})
    if _holds_a_game(book):
        return _only_sheets(store, wish, context)
    completed = half_made(book)
    foreign = in_the_way(book)
    if foreign:
        listed = ", ".join(f'"{title}"' for title in foreign)
        raise StoreError(
            f"{store.name}: tabs of these names are in the way: {listed}",
            "rename or delete them, or choose another workbook; nothing was changed",
        )
    host, config, roster, notices = _completed(book, wish) if completed else _made(wish)
    sealed = any(row.entry_sheet for row in roster)
    rules = host_tabs.how_to_play(config.game, config.rulings, sealed)
    if _is_templates(book.grids.get(rules.title)):
        host = (rules, *host)
    names = tuple(row.name for row in roster)
    view = _opened(config, roster, context)
    tool = reports.tool_tabs(view, notices, ())
    entries = entry_tabs(names)
    protected = first_protections(entries, names, view.match, roster)
    tabs = (*host, *entries, *tool)
    notes = store.write(Write(tabs, book, "", view.record.seal, "new", True, protected))
    others = tuple(title for title in book.titles if title not in _ours(book))
    sheets = make_sheets(store, context) if any(row.entry_sheet for row in roster) else None
    return Made(store, names, completed, False, others, notes, tuple(notices), sheets)


def half_made(book: Book) -> bool:
    """Tell whether the host's own tabs are there, as in the blank template: `new` adds the rest."""
    return {"Settings", "Players"} <= _ours(book)


def in_the_way(book: Book) -> list[str]:
    """Return the titles of the tabs beside which `new` can make none of its own."""
    ours = _ours(book)
    foreign = sorted(ours - set(HOST_TABS)) if half_made(book) else sorted(ours)
    # Beside a new "Bids", a "Bids (2)" would look like a copy of it: no later sync could tell.
    foreign += [t for t in book.titles if any(is_copy(t, title) for title in TITLES)]
    return list(dict.fromkeys(foreign))


def _ours(book: Book) -> set[str]:
    return {t for t in book.titles if fold(t) in {fold(title) for title in TITLES}}


def _is_templates(rules: Grid | None) -> bool:
    """Tell whether How to play is missing, or says what the blank template's does.

    Only then may it be written for the game that is begun; else a host has written it.
    """
    blank = Config()
    return rules is None or same_contents(host_tabs.how_to_play(blank.game, blank.rulings), rules)


def _holds_a_game(book: Book) -> bool:
    grid = book.grids.get("Record")
    try:
        return grid is not None and bool(read_record_tab(grid).rows)
    except DamagedTabs:
        return False  # a tab of the host's own that happens to be called Record


def _only_sheets(store: Store, wish: Plan, context: Context) -> Made:
    """Over a game, make nothing but the entry sheets that are missing."""
    if wish.sheets is None:
        raise StoreError(
            f"{store.name} already holds a game with a Record",
            "go on with: sheets-host sync; or name another workbook for a new game",
        )
    if wish.players or wish.settings:
        raise UsageError(
            f"{store.name} already holds a game: only its missing entry sheets can be made",
            "say --entry-sheets without players, title, zone or seed",
        )
    sheets = make_sheets(store, context)
    return Made(store, tuple(name for _, name in sheets.made), existed=True, sheets=sheets)


def _made(wish: Plan) -> tuple[tuple[Tab, ...], Config, tuple[RosterRow, ...], list[Problem]]:
    """Draw the host's tabs from the command's words."""
    if not wish.players:
        raise UsageError(
            "a game needs players",
            "name them: --player Ann --player Bob:3 (3 garnets); or fill in a copy of"
            " templates/blank-game.xlsx and run new on it",
        )
    given = dict(wish.settings or {})
    config = Config(seed=given.get("Deal seed", ""))
    if "Game" in given:
        config = replace(config, game=given["Game"])
    zone = find_zone(given.get("Time zone", "UTC"))
    if zone is not None:
        config = replace(config, zone=zone)
    sheets = wish.sheets or {}
    roster = tuple(
        RosterRow(
            name,
            garnets,
            withdrawn=False,
            email="",
            entry_sheet=sheets.get(name, ""),
            formerly="",
            cell=f"A{row}",
            cells={},
        )
        for row, (name, garnets) in enumerate(wish.players, 2)
    )
    rows: list[Sequence[Content]] = [
        [name, garnets or None, None, None, sheets.get(name)] for name, garnets in wish.players
    ]
    return (host_tabs.settings(given), host_tabs.players(rows)), config, roster, []


def _completed(
    book: Book, wish: Plan
) -> tuple[tuple[Tab, ...], Config, tuple[RosterRow, ...], list[Problem]]:
    """Take Settings and Players as the host filled them in; they are not written again."""
    if wish.players or wish.settings:
        raise UsageError(
            "the workbook already has Settings and Players",
            "type the title, the zone, the seed and the players there, and run new without them",
        )
    config, problems = read_settings(book.grids["Settings"])
    roster, more = read_players(book.grids["Players"])
    standing = [problem for problem in (*problems, *more) if problem.stands]
    if standing:
        raise DamagedTabs(standing)
    if not roster:
        raise UsageError(
            "no player stands in Players", "write the players' names under the header Player"
        )
    without = [quoted(row.name) for row in roster if not row.entry_sheet]
    if wish.sheets is not None and without:
        raise UsageError(
            f"--entry-sheets: Players names no entry sheet for {', '.join(without)}",
            "write a path for each under Entry sheet, such as sheets/Ann.xlsx, and run new without"
            " --entry-sheets: it makes them all",
        )
    return (), config, roster, [*problems, *more]


def _salt(config: Config, context: Context) -> str:
    """Return the Record's salt; a rehearsal's is as repeatable as its deal."""
    return hashlib.sha256(f"salt|{config.seed or context.chance()}".encode()).hexdigest()[:32]


def _opened(config: Config, roster: Sequence[RosterRow], context: Context) -> View:
    """Begin the Record: its format and salt, the seats, and round 1's deal."""
    at = stamp_time(context.now())
    events = [
        Event("record", item="format", value=FORMAT),
        Event("record", item="salt", value=_salt(config, context)),
        *(Event("seat", player=row.name) for row in roster),
        *opening_events(
            Stage.ROUND_1, Match(), dict(config.chosen), config.seed or context.chance()
        ),
    ]
    record = Record().with_events(replace(event, at=at) for event in events)
    match = present(replay(record), roster, config)
    return View(match, settle(match), None, record, config, {})
