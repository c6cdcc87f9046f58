"""Closing a stage: entries → the events that record it, and what would make it impossible."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from sheets_host.game.auction import Slip, draw
from sheets_host.game.ledger import Ledger, settle
from sheets_host.game.match import Match
from sheets_host.game.notes import Note
from sheets_host.game.purse import Fault, Purse, faults
from sheets_host.game.record import Event, Record
from sheets_host.game.replay import replay
from sheets_host.game.rulings import ROUNDS, SHORT
from sheets_host.game.stages import ROUND_STAGES, Stage
from sheets_host.host.gathering import Table, as_reopened
from sheets_host.tabs.entries import POSITION_KEYS, Entry
from sheets_host.tabs.late import typed_composition


@dataclass(frozen=True, slots=True)
class Impossible:
    """A recorded entry that what is recorded before it no longer allows."""

    stage: Stage
    player: str
    why: str


def opening_events(
    stage: Stage, table_match: Match, chosen: dict[int, tuple[Note, ...]], seed: str
) -> list[Event]:
    """Deal a round's eight notes; no events for composing."""
    if stage.round is None or stage.round in table_match.deals:
        return []
    gone = [note for deal in table_match.deals.values() for note in deal]
    # What was chosen for a round that is dealt has no effect, so it must not be kept back.
    ahead = {r: notes for r, notes in chosen.items() if r not in table_match.deals}
    deal = draw(seed, stage.round, gone, ahead)
    return [
        Event("deal", stage.key, item=f"lot {lot}", value=str(note))
        for lot, note in enumerate(deal, 1)
    ]


def closing_events(
    table: Table, *, void: bool, later: bool, without: Collection[str], seed: str
) -> list[Event]:
    """Return everything that closing the open stage rests on, and the next round's deal.

    void: strike out what cannot stand (R7, R8, R15, R19, R20). later: recorded entries of later
    stages as well, where this closing makes them impossible. without: players whose sheet is out
    of reach, by the host's word. The events bear no time yet.
    """
    match, stage, config = _weighed(table), table.match.stage, table.reading.config
    reopening = match.reopened.get(stage)
    events: list[Event] = []
    if not match.fixed or (reopening and reopening.settings):
        events += _fixed(table)
    events += _statuses(table.record, match)
    for player in match.players:
        name = player.name
        if name in without and name in match.awaited():
            events += _nothing(stage, name, "without")
        elif name in table.entries:
            events += _entered(table, table.entries[name], stage, void)
        elif reopening is None:
            events += _nothing(stage, name, "withdrawn")
    if later:
        events += _voided_later(table.record, events, stage)
    events.append(Event("closed", stage.key, value="void" if void else "hold"))
    if stage is match.frontier and stage < ROUNDS:
        events += opening_events(Stage(stage + 1), match, dict(config.chosen), seed)
    return events


def _fixed(table: Table) -> list[Event]:
    roster = {row.name: row.garnets for row in table.reading.roster}
    garnets = [
        Event("garnets", player=p.name, value=str(roster.get(p.name, p.garnets)))
        for p in table.match.players
    ]
    switches = [
        Event("switch", item=name, value=value)
        for name, value in table.reading.config.rulings.named().items()
    ]
    return garnets + switches


def _statuses(record: Record, match: Match) -> list[Event]:
    recorded = {p.name: p.withdrawn for p in replay(record).players}
    return [
        Event("status", player=p.name, value="withdrawn" if p.withdrawn else "playing")
        for p in match.players
        if p.withdrawn != recorded.get(p.name, False)
    ]


def _nothing(stage: Stage, name: str, how: str) -> list[Event]:
    if stage.round is None:
        return [Event("composition", stage.key, name, item=how)]
    return [Event("slip", stage.key, name, value=how)]


def _entered(table: Table, entry: Entry, stage: Stage, void: bool) -> Iterable[Event]:
    if stage.round is None:
        return _composed(table, entry, stage)
    return _bid(table, entry, stage, void)


def _bid(table: Table, entry: Entry, stage: Stage, void: bool) -> list[Event]:
    """Record a slip. What is struck out stands beside it as it was typed."""
    name = entry.player
    assert void or entry.sound
    purse = settle(_weighed(table)).purse(int(stage), name)
    slip, struck = _strike(entry.slip, purse)
    how = "void" if entry.over_budget else "entered" if entry.typed else "nothing"
    return _slip_events(stage, name, how, slip, {**entry.unread, **struck})


def _weighed(table: Table) -> Match:
    return as_reopened(table.match, table.reading.roster, table.reading.config)


def _strike(slip: Slip, purse: Purse) -> tuple[Slip, dict[str, str]]:
    """Take out of a slip what cannot stand: exchanges that cannot be paid (R15), bids over
    budget (R7). Returns what is left, and what was struck out by item."""
    struck: dict[str, str] = {}
    found = faults(slip, purse)
    if Fault.TOO_FEW_GARNETS in found:
        struck["exchanges"] = str(slip.uses)
        slip = Slip(slip.bids, 0)
    if Fault.OVER_BUDGET in found:
        struck |= {f"lot {lot}": str(bid) for lot, bid in slip.bids.items()}
        slip = Slip({}, slip.uses)
    return slip, struck


def _slip_events(
    stage: Stage, name: str, how: str, slip: Slip, struck: Mapping[str, str]
) -> list[Event]:
    events = [Event("slip", stage.key, name, value=how)]
    if slip.uses:
        events.append(Event("exchange", stage.key, name, value=str(slip.uses)))
    events += [
        Event("bid", stage.key, name, f"lot {lot}", str(bid)) for lot, bid in slip.bids.items()
    ]
    events += [Event("void", stage.key, name, item, value) for item, value in struck.items()]
    return events


def _composed(table: Table, entry: Entry, stage: Stage) -> list[Event]:
    name = entry.player
    if entry.handed is not None:
        notes = ", ".join(map(str, entry.handed.notes))
        return [Event("composition", stage.key, name, "handed in", notes)]
    if not entry.typed and entry.sound:
        return [Event("composition", stage.key, name, "nothing")]  # nothing is owed (R20)
    source = next(s for s in table.reading.sources if name in s.players)
    keyed = source.compositions
    cells = (keyed.grid.at(*keyed.place(key, name)) for key in POSITION_KEYS)
    typed = typed_composition(cell for cell in cells if cell.shown.strip())
    return [
        Event("composition", stage.key, name, "void"),
        Event("void", stage.key, name, "composition", typed),
    ]


def _voided_later(record: Record, events: Sequence[Event], stage: Stage) -> list[Event]:
    """Strike out later recorded entries that this closing makes impossible, one after the other:
    what is struck out frees tokens that may let the next one stand."""
    added: list[Event] = []
    closed = Event("closed", stage.key)
    while True:
        match = replay(record.with_events([*events, *added, closed]))
        ledger = settle(match)
        faulty = impossible(match, ledger)
        if not faulty:
            return added
        added += _struck_later(match, ledger, faulty[0].stage, faulty[0].player)


def _struck_later(match: Match, ledger: Ledger, stage: Stage, name: str) -> list[Event]:
    if stage.round is None:
        notes = ", ".join(map(str, match.compositions[name].notes))
        return [
            Event("composition", stage.key, name, "void"),
            Event("void", stage.key, name, "composition", notes),
        ]
    before = match.slips[stage.round, name]
    slip, struck = _strike(before, ledger.purse(stage.round, name))
    how = "void" if before.bids and not slip.bids else match.kept[stage.round, name]
    # A slip replaces all that was recorded for it: what was struck out before stays so.
    already = {i: v for (key, n, i), v in match.struck.items() if (key, n) == (stage.key, name)}
    return _slip_events(stage, name, how, slip, {**already, **struck})


def impossible(match: Match, ledger: Ledger) -> list[Impossible]:
    """Return recorded entries of closed stages that cannot stand.

    What hangs on a stage that is still open again is left until that one is closed, too: then
    everything is looked at once more.
    """
    found: list[Impossible] = []
    if any(reopening.settings for reopening in match.reopened.values()):
        return found
    for stage in ROUND_STAGES[: match.rounds_closed]:
        for name in match.names:
            if any(s <= stage and name in r.players for s, r in match.reopened.items()):
                continue
            slip = match.slips.get((int(stage), name), Slip())
            purse = ledger.purse(int(stage), name)
            reasons = faults(slip, purse)
            if reasons:
                found.append(Impossible(stage, name, _why(reasons, slip, purse)))
    if Stage.COMPOSING in match.closed and not any(stage.round for stage in match.reopened):
        found += _impossible_compositions(match, ledger)
    return found


def _why(reasons: Collection[Fault], slip: Slip, purse: Purse) -> str:
    if Fault.OVER_BUDGET in reasons:
        held = purse.tokens_after(slip.uses if purse.affords(slip.uses) else 0)
        return f"the bids sum to {slip.total}, and {held} tokens would be held"
    return f"{slip.uses} exchanges would cost more than the {purse.garnets} garnets left"


def _impossible_compositions(match: Match, ledger: Ledger) -> Iterable[Impossible]:
    open_again = match.reopened.get(Stage.COMPOSING)
    for name, handed in match.compositions.items():
        if open_again and name in open_again.players:
            continue
        held = set(ledger.notes(name))
        if handed.counts and set(handed.notes) != held:
            lost = ", ".join(str(n) for n in handed.notes if n not in held)
            new = ", ".join(str(n) for n in ledger.notes(name) if n not in handed.notes)
            parts = [
                f"{lost} would not be held" if lost else "",
                f"{new} would be missing" if new else "",
            ]
            why = "in the composition " + " and ".join(filter(None, parts))
            yield Impossible(Stage.COMPOSING, name, why)
        elif handed.how == "nothing" and len(held) >= SHORT:
            yield Impossible(
                Stage.COMPOSING,
                name,
                f"{len(held)} notes would be held, and no composition was handed in",
            )
