"""The verb `reopen`: let named players correct their entries of a closed stage."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sheets_host.game.match import Match
from sheets_host.game.purse import Purse
from sheets_host.game.record import Event
from sheets_host.game.stages import ROUND_STAGES, Stage
from sheets_host.host.closing import Impossible, closing_events, impossible
from sheets_host.host.gathering import Table, lay_out, read_match, stamp_time
from sheets_host.host.verbs import Context, Synced, UsageError, Wish, apply, no_player
from sheets_host.stores.base import Store
from sheets_host.tabs.finding import fold
from sheets_host.tabs.late import recorded_slip
from sheets_host.tabs.problems import Problem, quoted


def reopen(
    store: Store,
    stage: Stage,
    players: Sequence[str],
    reason: str,
    context: Context,
    *,
    settings: bool = False,
    dry_run: bool = False,
) -> Synced:
    """Record that these players' entries of a stage are read anew when it is closed again.

    settings: the switches and the garnets too. Everyone else's recorded entries stand, and so do
    the results until then. Raises UsageError for what cannot be reopened.
    """
    now = context.now()
    reading = read_match(store, context.opener, progress=context.progress)
    before = lay_out(reading, reading.record, now)
    names = _who(before, players)
    why = quoted(reason, 500)
    if stage not in before.match.closed:
        raise UsageError(
            f"{stage} was never closed: {before.match.stage} is open",
            "entries of an open stage can simply be corrected in their cells",
        )
    if not names and not settings:
        raise UsageError(
            "name who may correct what: --player NAME, or --settings",
            _example(before, stage),
        )
    if not why:
        raise UsageError("a reason is needed: it stands in the Record", _example(before, stage))
    at = stamp_time(now)
    events = [Event("reopened", stage.key, name, value=why, at=at) for name in names]
    if settings:
        events.append(Event("reopened", stage.key, item="settings", value=why, at=at))
    after = lay_out(reading, before.record.with_events(events), now)
    return apply(
        Synced(before, after), Wish(dry_run=dry_run), f"reopening-{stage}".replace(" ", "-")
    )


def _example(table: Table, stage: Stage) -> str:
    name = quoted(next(iter(table.match.names), "Ann"), 100)
    command = f"sheets-host reopen WORKBOOK {stage.round or 'final'}"
    return f'for example: {command} --player "{name}" --reason "lot 6 was meant"'


def _who(table: Table, players: Sequence[str]) -> list[str]:
    match = table.match
    withdrawn = {row.name for row in table.reading.roster if row.withdrawn}
    by_fold = {fold(name): name for name in match.names}
    by_fold |= {fold(old): new for old, new in match.renamed.items() if new in match.names}
    names = []
    for text in players:
        name = by_fold.get(fold(text))
        if name is None:
            raise no_player(text, match.names)
        if name in withdrawn:
            raise UsageError(
                f"{quoted(name)} has withdrawn and enters nothing",
                "clear the status in Players first",
            )
        if name not in names:
            names.append(name)
    return names


@dataclass(frozen=True, slots=True)
class Preview:
    """What closing a reopened stage would do with what stands in the cells now.

    problems: what would keep it open. impossible: later recorded entries that could not stand.
    changes: who gains or loses what, one line each.
    """

    problems: tuple[Problem, ...] = ()
    impossible: tuple[Impossible, ...] = ()
    changes: tuple[str, ...] = ()


def preview(table: Table, now: dt.datetime) -> Preview:
    """Close the open stage in thought alone. Nothing is recorded, drawn or written."""
    closing = lay_out(table.reading, table.record, now, closing=True)
    if closing.faults or closing.standing:
        return Preview(problems=(*closing.faults, *closing.standing))
    at = stamp_time(now)
    # Chance has no say here: a stage that is closed again deals nothing.
    events = closing_events(closing, void=False, later=False, without=(), seed="")
    timed = [replace(event, at=at) for event in events]
    after = lay_out(table.reading, closing.record.with_events(timed), now)
    return Preview(
        (), tuple(impossible(after.match, after.ledger)), tuple(consequences(table, after))
    )


def consequences(before: Table, after: Table) -> list[str]:
    """Say which entries, notes, tokens, garnets and points differ between two states of a match."""
    lines = []
    for name in after.match.names:
        if name not in before.match.names:
            continue
        parts = _entries(before, after, name)
        had, has = before.ledger.notes(name), after.ledger.notes(name)
        parts += [f"gains {n}" for n in has if n not in had]
        parts += [f"loses {n}" for n in had if n not in has]
        was, now = _purse(before, name), _purse(after, name)
        parts += _shift("tokens", was.tokens, now.tokens)
        parts += _shift("garnets left", was.garnets, now.garnets)
        if before.result and after.result:
            then, then_now = before.result.card(name), after.result.card(name)
            parts += _shift("points", then.points, then_now.points)
            parts += _shift("garnets earned", then.earned, then_now.earned)
        if parts:
            lines.append(f"{quoted(name)}: {', '.join(parts)}")
    lines += _switches(before, after)
    if before.result and after.result:
        for what, was_, now_ in (
            ("winner", before.result.winner, after.result.winner),
            ("Elimination Candidate", before.result.candidate, after.result.candidate),
        ):
            if was_ != now_:
                lines.append(f"{what}: {quoted(was_ or 'open')} -> {quoted(now_ or 'open')}")
    return lines


def _entries(before: Table, after: Table, name: str) -> list[str]:
    """Say what is recorded of a player's entries otherwise than before."""
    parts = []
    for stage in ROUND_STAGES[: after.match.rounds_closed]:
        then, now = (_slip(table.match, name, stage) for table in (before, after))
        for item in sorted(then.keys() | now.keys()):
            was, is_ = then.get(item, "nothing"), now.get(item, "nothing")
            if was != is_:
                parts.append(f"{stage} {item} {was} -> {is_}")
    then_, now_ = (table.match.compositions.get(name) for table in (before, after))
    if then_ is not None and now_ is not None and then_ != now_:
        parts.append("another composition" if now_.counts else f"composition: {now_.how}")
    return parts


def _slip(match: Match, name: str, stage: Stage) -> dict[str, str]:
    struck = {i for (key, n, i) in match.struck if (key, n) == (stage.key, name)}
    return {
        item: f"void ({quoted(text)})" if item in struck else text
        for item, text in recorded_slip(match, name, stage).items()
    }


def _switches(before: Table, after: Table) -> list[str]:
    was = before.match.rulings.named()
    return [
        f"{name}: {was[name]} -> {value}"
        for name, value in after.match.rulings.named().items()
        if value != was[name]
    ]


def _purse(table: Table, name: str) -> Purse:
    return table.ledger.purse(table.ledger.next_round, name)


def _shift(what: str, before: int, after: int) -> list[str]:
    return [] if before == after else [f"{what} {before} -> {after}"]
