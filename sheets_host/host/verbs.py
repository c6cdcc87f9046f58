"""The verbs: each reads, decides and writes, in a straight line."""

from __future__ import annotations

import datetime as dt
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from sheets_host.game.record import Event, Record
from sheets_host.game.stages import Stage, stage_of
from sheets_host.grid import Book
from sheets_host.host.closing import Impossible, closing_events, impossible
from sheets_host.host.copies import keep_copy, uncopied
from sheets_host.host.drawing import Difference, differences
from sheets_host.host.gathering import Table, as_reopened, lay_out, read_match, stamp_time
from sheets_host.host.outside import Opener, Progress, silent
from sheets_host.host.writing import Job, put, put_all, targets
from sheets_host.stores.base import Store, StoreError
from sheets_host.tabs.finding import fold
from sheets_host.tabs.problems import did_you_mean, quoted
from sheets_host.tabs.settings import Config
from sheets_host.tabs.view import deadline, local, moment_text


class UsageError(Exception):
    """The command's words ask for something that cannot be done (exit code 2)."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def no_player(text: str, names: Sequence[str], where: str = "") -> UsageError:
    """Return that nobody has this name, with the names there are, the most alike first."""
    from difflib import SequenceMatcher

    ordered = sorted(
        names, key=lambda name: SequenceMatcher(None, fold(text), fold(name)).ratio(), reverse=True
    )
    shown = ", ".join(quoted(name, 100) for name in ordered[:_SHOWN])
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return UsageError(
        f'{where}no player is called "{quoted(text)}"{did_you_mean(text, names)}',
        f"the players are {shown}{more}",
    )


_SHOWN: Final = 12


@dataclass(frozen=True, slots=True)
class Context:
    """What a verb may not look up by itself: how to open a workbook, the time, and chance.

    progress: is told how many entry sheets of how many are read.
    """

    opener: Opener
    now: Callable[[], dt.datetime] = lambda: dt.datetime.now(dt.UTC)
    chance: Callable[[], str] = lambda: secrets.token_hex(16)
    progress: Progress = silent


# --- check -------------------------------------------------------------------------------------


def check(store: Store, context: Context) -> Table:
    """Read everything and lay it out; write nothing."""
    reading = read_match(store, context.opener, progress=context.progress)
    return lay_out(reading, reading.record, context.now())


# --- sync --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Wish:
    """What sync is asked to do besides refreshing.

    close: the stage to close. void: strike out what cannot stand. without: players whose entry
    sheet is out of reach, to close without. dry_run: write nothing.
    """

    close: Stage | None = None
    void: bool = False
    without: tuple[str, ...] = ()
    due: bool = False
    dry_run: bool = False


@dataclass(frozen=True, slots=True)
class Synced:
    """What sync found and did.

    before, after: the match laid out before and after. closed: the stage that was closed now.
    already: the stage asked for had been closed before. held: why the stage asked for stays open.
    written: what changed, by workbook and tab. notes: lines for the host. backups: how many of the
    workbooks around the game's were kept as they had been. trouble: sheets and boards that could not
    be written; the next sync repairs them.
    """

    before: Table
    after: Table
    closed: Stage | None = None
    already: Stage | None = None
    held: str = ""
    impossible: tuple[Impossible, ...] = ()
    written: tuple[tuple[str, str, int], ...] = ()
    notes: tuple[str, ...] = ()
    backups: int = 0
    trouble: tuple[StoreError, ...] = field(default=())


def sync(store: Store, wish: Wish, context: Context) -> Synced:
    """Refresh every report, and close a stage if that is asked for and can be.

    Raises UsageError for a stage that is not open yet; StoreError, DamagedTabs, RecordBroken.
    """
    # The time before the reading: what is typed until the deadline is then always read, however
    # long that takes.
    now = context.now()
    reading = read_match(store, context.opener, progress=context.progress)
    before = lay_out(reading, reading.record, now)
    stage = before.match.stage
    close, already = _asked(before, wish, now)
    # Whose sheet can be read again is not left out: it is simply read.
    out_of_reach = {sheet.player for sheet in reading.sheets if sheet.fault}
    if wish.due:
        wish = replace(wish, without=tuple(n for n in wish.without if n in out_of_reach))
    if close:
        before = lay_out(reading, reading.record, now, closing=True)
    held = _why_held(before, wish) if close else ""
    after = before
    problems: tuple[Impossible, ...] = ()
    closed = None
    if close and not held:
        after, problems = _closed(before, wish, context.chance, now)
        closed = None if problems else stage
        held = "later recorded entries would become impossible" if problems else ""
        after = before if problems else after
    done = Synced(before, after, closed, already, held, problems)
    label = f"closing-{stage}".replace(" ", "-") if closed else "sync"
    return apply(done, wish, label)


def _asked(table: Table, wish: Wish, now: dt.datetime) -> tuple[bool, Stage | None]:
    """Tell whether the open stage is to be closed, or which stage had been closed already."""
    match = table.match
    if wish.due and wish.close is None:
        return is_due(table, now), None
    if wish.close is None:
        return False, None
    if wish.close is match.stage:
        return True, None
    if wish.close in match.closed and wish.close not in match.reopened:
        return False, wish.close
    raise UsageError(f"{wish.close} is not open: {match.stage} is", f"close {match.stage} first")


def is_due(table: Table, now: dt.datetime) -> bool:
    """Tell whether the open stage's deadline has passed.

    A reopened stage is never due: its deadline is long past, and the host closes it by hand.
    """
    if table.match.stage is Stage.FINISHED or table.match.reopened:
        return False
    until = deadline(table.view, table.match.stage)
    return until is not None and until <= now


def voids(table: Table, wish: Wish) -> bool:
    """Tell whether closing strikes out what cannot stand: by flag, or by the match's switch."""
    weighed = as_reopened(table.match, table.reading.roster, table.reading.config)
    return wish.void or weighed.rulings.unfixed == "void"


def _why_held(table: Table, wish: Wish) -> str:
    """Return why the open stage cannot be closed; "" if it can."""
    out_of_reach = {sheet.player for sheet in table.reading.sheets if sheet.fault}
    for name in wish.without:
        if name not in table.match.names:
            raise no_player(name, table.match.names, "--without: ")
        if name not in out_of_reach:
            raise UsageError(
                f"--without: the entries of {quoted(name)} can be read",
                "--without is for entry sheets that are out of reach",
            )
    out = [
        s
        for s in table.reading.sheets
        if s.fault and s.player not in wish.without and s.player in table.match.awaited()
    ]
    if out:
        names = ", ".join(quoted(sheet.player) for sheet in out)
        return f"an entry sheet cannot be read ({names})"
    voidable = {id(p) for e in table.entries.values() for p in e.problems}
    # Nor does someone who came too late hold up an unattended game: they are not in it.
    voidable |= {id(p) for p in table.problems if p.code == "player-too-late"}
    standing = [
        p
        for p in table.standing
        if not (voids(table, wish) and id(p) in voidable) and p.player not in wish.without
    ]
    if standing and voids(table, wish):
        return "problems stand that voiding does not strike out: they are not in entries"
    return "problems stand" if standing else ""


def _closed(
    before: Table, wish: Wish, chance: Callable[[], str], now: dt.datetime
) -> tuple[Table, tuple[Impossible, ...]]:
    """Record the closing and lay the match out anew: the next stage's entries count now."""
    seed = before.reading.config.seed or chance()
    # Recorded entries of later stages fall by the host's word alone, never by the switch.
    events = closing_events(
        before, void=voids(before, wish), later=wish.void, without=wish.without, seed=seed
    )
    at = stamp_time(now)
    record = before.record.with_events(_timed(events, at))
    after = lay_out(before.reading, record, now)
    return after, tuple(impossible(after.match, after.ledger))


def _timed(events: Sequence[Event], at: str) -> list[Event]:
    return [replace(event, at=at) for event in events]


def apply(done: Synced, wish: Wish, label: str) -> Synced:
    """Write what changed, and after a closing keep a copy of the Record.

    The game workbook comes first, since its Record is the commit; what fails after it is named,
    and the next sync repairs it.
    """
    game, *others = targets(done.after)
    job = Job(
        done.before.reading.record.seal,
        done.after.record.seal,
        label,
        keep=done.closed is not None,
        dry_run=wish.dry_run,
    )
    written, notes = put(game, job)
    trouble: list[StoreError] = []
    backups = 0
    if not wish.dry_run:
        try:
            notes += _copied(game.store, done)
        except StoreError as error:
            trouble.append(error)
    for end in put_all(others, job):
        if isinstance(end, StoreError):
            trouble.append(end)
        else:
            written += end[0]
            # Ten sheets, ten backups: each lies where that of the game does, and is only counted.
            others_notes = tuple(note for note in end[1] if not note.startswith(_BACKUP))
            backups += len(end[1]) - len(others_notes)
            notes += others_notes
    return replace(done, written=written, notes=notes, backups=backups, trouble=tuple(trouble))


_BACKUP: Final = "Backup: "


def _copied(store: Store, done: Synced) -> tuple[str, ...]:
    """Keep a copy of the Record after a closing, or the one that a run which was killed left out."""
    folder, record = store.copies(), done.after.record
    stage = str(done.closed) if done.closed is not None else uncopied(folder, record)
    if not stage:
        return ()
    return (f"Copy of the Record: {keep_copy(folder, record, stage)}",)


# --- verify ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Verified:
    """What verify found.

    differing: what a tab says and what the Record gives, where they differ. announced: the row
    of the seal that was asked for, None where it is on no row. stage: when that row was written.
    """

    table: Table
    differing: tuple[Difference, ...]
    announced: int | None = None
    stage: str = ""


def verify(store: Store, context: Context, seal: str = "") -> Verified:
    """Work out every report from the Record alone and compare it with what the tabs say.

    Entry sheets and the board are compared, too, as far as they can be read.
    seal: an announced one, to be found on the chain. Raises RecordBroken where the Record does
    not verify.
    """
    table = check(store, context)
    game, *others = targets(table)
    found = [
        replace(difference, file="" if target is game else target.store.name)
        for target in (game, *others)
        if isinstance(target.book, Book)
        for tab in target.tabs
        if tab.title not in ("Checks", "Record")
        for difference in differences(tab, target.book)
    ]
    record = table.reading.record
    row = record.find(seal) if seal else None
    stage = stage_at(record, row, table.reading.config) if row else ""
    return Verified(table, tuple(found), row, stage)


def stage_at(record: Record, row: int, config: Config) -> str:
    """Return in words when a row of the Record was written, in the game's zone."""
    event = record.events[row - 1]
    when = f"{moment_text(local(event.at, config))} ({config.zone.key})"
    return f"written when {_occasion(record, row)}, {when}"


def _occasion(record: Record, row: int) -> str:
    """Return what was done when a row was written. A stage's entries come before its closing, and
    the next deal after it."""
    event = record.events[row - 1]
    closed = [stage_of(e.stage) for e in record.events[:row] if e.kind == "closed"]
    last = f"after {closed[-1]} was closed" if closed else "before any stage was closed"
    match event.kind:
        case "record":
            return _MADE
        case "seat":
            dealt = any(e.kind == "deal" for e in record.events[:row])
            return f"{quoted(event.player)} joined" if dealt else _MADE
        case "deal":
            return f"{closed[-1]} was closed" if closed else _MADE
        case "reopened":
            return f"{stage_of(event.stage)} was opened again"
        case "renamed":
            return f"{quoted(event.player)} became {quoted(event.value)}, {last}"
        case "ruling":
            return f"the ruling on {event.item} was recorded, {last}"
    ends = (stage_of(e.stage) for e in record.events[row - 1 :] if e.kind == "closed")
    return next((f"{stage} was closed" for stage in ends), last)


_MADE: Final = "the match was made"
