"""The verb `reopen`: let named players correct their entries of a closed stage."""

from __future__ import annotations

from collections.abc import Sequence

from sheets_host.game.record import Event
from sheets_host.game.stages import Stage
from sheets_host.host.gathering import Table, lay_out, read_match, stamp_time
from sheets_host.host.verbs import Context, Synced, UsageError, Wish, apply
from sheets_host.stores.base import Store
from sheets_host.tabs.finding import fold
from sheets_host.tabs.problems import did_you_mean, quoted


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
    reading = read_match(store, context.opener)
    before = lay_out(reading, reading.record, context.now())
    names = _who(before, players)
    why = quoted(reason, 500)
    if stage not in before.match.closed:
        raise UsageError(f"{stage} was never closed: {before.match.stage} is open")
    if not names and not settings:
        raise UsageError("name who may correct what: --player NAME, or --settings")
    if not why:
        raise UsageError("a reason is needed: --reason TEXT; it stands in the Record")
    at = stamp_time(context.now())
    events = [Event("reopened", stage.key, name, value=why, at=at) for name in names]
    if settings:
        events.append(Event("reopened", stage.key, item="settings", value=why, at=at))
    after = lay_out(reading, before.record.with_events(events), context.now())
    return apply(Synced(before, after), Wish(dry_run=dry_run), f"reopening-{stage}")


def _who(table: Table, players: Sequence[str]) -> list[str]:
    match = table.match
    by_fold = {fold(name): name for name in match.names}
    by_fold |= {fold(old): new for old, new in match.renamed.items() if new in match.names}
    names = []
    for text in players:
        name = by_fold.get(fold(text))
        if name is None:
            near = did_you_mean(text, match.names)
            raise UsageError(f'no player is called "{quoted(text)}"{near}')
        if match.player(name).withdrawn:
            raise UsageError(
                f"{quoted(name)} has withdrawn and enters nothing",
                "clear the status in Players first",
            )
        if name not in names:
            names.append(name)
    return names


def consequences(before: Table, after: Table) -> list[str]:
    """Say who gains or loses which note, tokens and points between two states of a match."""
    lines = []
    for name in after.match.names:
        if name not in before.match.names:
            continue
        had, has = before.ledger.notes(name), after.ledger.notes(name)
        parts = [f"gains {n}" for n in has if n not in had]
        parts += [f"loses {n}" for n in had if n not in has]
        parts += _shift("tokens", _tokens(before, name), _tokens(after, name))
        if before.result and after.result:
            parts += _shift(
                "points", before.result.card(name).points, after.result.card(name).points
            )
        if parts:
            lines.append(f"{quoted(name)}: {', '.join(parts)}")
    if before.result and after.result:
        for what, then, now in (
            ("winner", before.result.winner, after.result.winner),
            ("Elimination Candidate", before.result.candidate, after.result.candidate),
        ):
            if then != now:
                lines.append(f"{what}: {quoted(then or 'open')} -> {quoted(now or 'open')}")
    return lines


def _tokens(table: Table, name: str) -> int:
    return table.ledger.purse(table.ledger.next_round, name).tokens


def _shift(what: str, before: int, after: int) -> list[str]:
    return [] if before == after else [f"{what} {before} -> {after}"]
