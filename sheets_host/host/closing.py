"""Closing a stage: entries → the events that record it, and what would make it impossible."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from sheets_host.game.auction import Slip, draw
from sheets_host.game.match import Ledger, Match, replay, settle
from sheets_host.game.notes import Note
from sheets_host.game.purse import Fault, faults
from sheets_host.game.record import Event, Record
from sheets_host.game.rulings import ROUNDS, SHORT
from sheets_host.game.stages import ROUND_STAGES, Stage
from sheets_host.host.gathering import Table
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


def closing_events(table: Table, void: bool, without: Collection[str], seed: str) -> list[Event]:
    """Return everything that closing the open stage rests on, and the next round's deal.

    void: strike out what cannot stand (R7, R8, R15, R19, R20). without: players whose sheet is
    out of reach, by the host's word. The events bear no time yet.
    """
    match, stage, config = table.match, table.match.stage, table.reading.config
    reopening = match.reopened.get(stage)
    events: list[Event] = []
    if not match.fixed or (reopening and reopening.settings):
        events += _fixed(table)
    events += _statuses(table)
    for player in match.players:
        name = player.name
        if name in without:
            events += _nothing(stage, name, "without")
        elif name in table.entries:
            events += _entered(table, table.entries[name], stage, void)
        elif reopening is None:
            events += _nothing(stage, name, "withdrawn")
    if void:
        events += _voided_later(table.record, events)
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


def _statuses(table: Table) -> list[Event]:
    recorded = {p.name: p.withdrawn for p in replay(table.record).players}
    return [
        Event("status", player=p.name, value="withdrawn" if p.withdrawn else "playing")
        for p in table.match.players
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
    name, slip = entry.player, entry.slip
    struck = dict(entry.unread)
    purse = table.ledger.purse(int(stage), name)
    found = {problem.code for problem in entry.problems if problem.stands}
    assert void or not (found or struck)
    if Fault.TOO_FEW_GARNETS.value in found:
        struck["exchanges"] = str(slip.uses)
        slip = Slip(slip.bids, 0)
    if entry.over_budget:
        struck |= {f"lot {lot}": str(bid) for lot, bid in slip.bids.items()}
        slip = Slip({}, slip.uses)
    assert not faults(slip, purse) or table.match.reopened
    how = "void" if entry.over_budget else "entered" if entry.typed else "nothing"
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
    if not entry.typed:
        return [Event("composition", stage.key, name, "nothing")]
    source = next(s for s in table.reading.sources if name in s.players)
    keyed = source.compositions
    cells = (keyed.grid.at(*keyed.place(key, name)) for key in POSITION_KEYS)
    typed = typed_composition(cell for cell in cells if cell.shown.strip())
    return [
        Event("composition", stage.key, name, "void"),
        Event("void", stage.key, name, "composition", typed),
    ]


def _voided_later(record: Record, events: list[Event]) -> list[Event]:
    """Strike out later recorded entries that this closing makes impossible."""
    added: list[Event] = []
    closed = [Event("closed", _stage_of(events))] if _stage_of(events) else []
    while True:
        match = replay(record.with_events([*events, *added, *closed]))
        faulty = impossible(match, settle(match))
        if not faulty:
            return added
        first = faulty[0]
        if first.stage.round is None:
            handed = match.compositions[first.player]
            added += [
                Event("composition", first.stage.key, first.player, "void"),
                Event(
                    "void",
                    first.stage.key,
                    first.player,
                    "composition",
                    ", ".join(map(str, handed.notes)),
                ),
            ]
            continue
        slip = match.slips[int(first.stage), first.player]
        added.append(Event("slip", first.stage.key, first.player, value="void"))
        added += [
            Event("void", first.stage.key, first.player, f"lot {lot}", str(bid))
            for lot, bid in slip.bids.items()
        ]
        if slip.uses:
            added.append(Event("void", first.stage.key, first.player, "exchanges", str(slip.uses)))


def _stage_of(events: list[Event]) -> str:
    return next((e.stage for e in reversed(events) if e.kind in ("slip", "composition")), "")


def impossible(match: Match, ledger: Ledger) -> list[Impossible]:
    """Return recorded entries of closed stages that cannot stand, but for those reopened."""
    found = []
    for stage in ROUND_STAGES[: match.rounds_closed]:
        open_again = match.reopened.get(stage)
        for name in match.names:
            if open_again and name in open_again.players:
                continue
            slip = match.slips.get((int(stage), name), Slip())
            purse = ledger.purse(int(stage), name)
            reasons = faults(slip, purse)
            if reasons:
                why = (
                    f"the bids sum to {slip.total}, and {purse.tokens_after(slip.uses)} tokens"
                    " would be held"
                    if Fault.OVER_BUDGET in reasons
                    else f"{slip.uses} exchanges would cost more than the {purse.garnets} garnets"
                    " left"
                )
                found.append(Impossible(stage, name, why))
    if Stage.COMPOSING in match.closed:
        found += _impossible_compositions(match, ledger)
    return found


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
