"""The fold: from the Record's events to the match."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Final

from sheets_host.game.auction import Slip
from sheets_host.game.match import Handed, Match, Player, Reopening
from sheets_host.game.notes import BY_TEXT, Note
from sheets_host.game.record import Event, Record, RecordBroken
from sheets_host.game.rulings import LOTS, SWITCHES, Rulings
from sheets_host.game.stages import Stage, stage_of


def replay(record: Record) -> Match:
    """Fold a Record into a match. Raises RecordBroken where an event cannot be understood."""
    fold = _Fold()
    for seq, event in enumerate(record.events, 1):
        try:
            getattr(fold, f"on_{event.kind}")(event)
        except (ValueError, KeyError, IndexError) as error:
            raise RecordBroken(
                seq,
                f"row {seq} ({event.kind} {event.player} {event.item} {event.value}) makes no"
                f" sense: {error}",
            ) from error
    return fold.match()


class _Fold:
    """The state that events build up; one method per kind of event."""

    def __init__(self) -> None:
        self.seats: list[str] = []
        self.garnets: dict[str, int] = {}
        self.withdrawn: set[str] = set()
        self.switches: dict[str, str] = {}
        self.deals: dict[int, list[Note]] = {}
        self.bids: dict[tuple[int, str], dict[int, int]] = {}
        self.uses: dict[tuple[int, str], int] = {}
        self.kept: dict[tuple[int, str], str] = {}
        self.compositions: dict[str, Handed] = {}
        self.closed: dict[Stage, str] = {}
        self.reopened: dict[Stage, Reopening] = {}
        self.struck: dict[tuple[str, str, str], str] = {}
        self.renamed: dict[str, str] = {}
        self.rulings: dict[str, str] = {}

    def on_record(self, event: Event) -> None:
        pass

    def on_seat(self, event: Event) -> None:
        if not event.player or event.player in self.seats:
            raise ValueError(f"{event.player!r} cannot take a seat")
        self.seats.append(event.player)

    def on_deal(self, event: Event) -> None:
        round_ = _round(event)
        lots = self.deals.setdefault(round_, [])
        if _lot(event) != len(lots) + 1:
            raise ValueError("a lot out of turn")
        note = BY_TEXT[event.value]
        if any(note in dealt for dealt in self.deals.values()):
            raise ValueError("a note dealt before")
        lots.append(note)

    def on_garnets(self, event: Event) -> None:
        self.garnets[self._seated(event)] = _count(event.value)

    def on_status(self, event: Event) -> None:
        name = self._seated(event)
        if event.value == "withdrawn":
            self.withdrawn.add(name)
        elif event.value == "playing":
            self.withdrawn.discard(name)
        else:
            raise ValueError(f"no status: {event.value!r}")

    def on_switch(self, event: Event) -> None:
        if event.item not in {switch.name for switch in SWITCHES}:
            raise ValueError(f"no switch: {event.item!r}")
        Rulings.of({event.item: event.value})
        self.switches[event.item] = event.value

    def on_slip(self, event: Event) -> None:
        key = _round(event), self._seated(event)
        if event.value not in ("entered", *_NOT_ENTERED):
            raise ValueError(f"no way to close a slip: {event.value!r}")
        self.bids[key] = {}
        self.uses[key] = 0
        self.kept[key] = event.value
        self._unstrike(event)

    def on_exchange(self, event: Event) -> None:
        uses = _count(event.value)
        if uses > _MOST_USES:
            raise ValueError(f"{uses} uses cost more garnets than there can be")
        self.uses[self._slip(event)] = uses

    def on_bid(self, event: Event) -> None:
        self.bids[self._slip(event)][_lot(event)] = _count(event.value)

    def on_composition(self, event: Event) -> None:
        notes = tuple(BY_TEXT[text] for text in event.value.split(", ")) if event.value else ()
        if len(set(notes)) != len(notes):
            raise ValueError("a note twice")
        if event.item not in ("handed in", *_NOT_ENTERED):
            raise ValueError(f"no way to close a composition: {event.item!r}")
        self.compositions[self._seated(event)] = Handed(event.item, notes)
        self._unstrike(event)

    def on_void(self, event: Event) -> None:
        self.struck[event.stage, self._seated(event), event.item] = event.value

    def on_closed(self, event: Event) -> None:
        if event.at and dt.datetime.fromisoformat(event.at).tzinfo is None:
            raise ValueError(f"a time without a zone: {event.at!r}")
        stage = stage_of(event.stage)
        frontier = next(s for s in Stage if s not in self.closed)
        if stage is not frontier and stage not in self.reopened:
            raise ValueError(f"{stage} is not open")
        if stage.round and len(self.deals.get(stage.round, ())) != LOTS:
            raise ValueError(f"{stage} was not dealt")
        self.closed[stage] = event.at
        if self.reopened.pop(stage, Reopening()).settings:
            self.rulings.clear()  # they are taken from Settings anew, like all that stands there

    def on_reopened(self, event: Event) -> None:
        stage = stage_of(event.stage)
        if stage not in self.closed:
            raise ValueError(f"{stage} was never closed")
        before = self.reopened.get(stage, Reopening())
        if event.item == "settings":
            self.reopened[stage] = replace(before, settings=True)
        else:
            players = before.players | {self._seated(event)}
            self.reopened[stage] = replace(before, players=players)

    def on_renamed(self, event: Event) -> None:
        old, new = self._seated(event), event.value
        if not new or new in self.seats:
            raise ValueError(f"{new!r} cannot be the new name")
        self.seats[self.seats.index(old)] = new
        self.renamed = {former: new if now == old else now for former, now in self.renamed.items()}
        self.renamed[old] = new
        self._rename(old, new)

    def on_ruling(self, event: Event) -> None:
        if event.item not in ("Elimination choice", "Winner ruling"):
            raise ValueError(f"no ruling: {event.item!r}")
        self.rulings[event.item] = self._seated(event)

    def _rename(self, old: str, new: str) -> None:
        def key(name: str) -> str:
            return new if name == old else name

        self.garnets = {key(n): v for n, v in self.garnets.items()}
        self.withdrawn = {key(n) for n in self.withdrawn}
        self.bids = {(r, key(n)): v for (r, n), v in self.bids.items()}
        self.uses = {(r, key(n)): v for (r, n), v in self.uses.items()}
        self.kept = {(r, key(n)): v for (r, n), v in self.kept.items()}
        self.compositions = {key(n): v for n, v in self.compositions.items()}
        self.struck = {(s, key(n), i): v for (s, n, i), v in self.struck.items()}
        self.rulings = {i: key(n) for i, n in self.rulings.items()}
        self.reopened = {
            stage: replace(reopening, players=frozenset(map(key, reopening.players)))
            for stage, reopening in self.reopened.items()
        }

    def _unstrike(self, event: Event) -> None:
        self.struck = {
            key: value
            for key, value in self.struck.items()
            if key[:2] != (event.stage, event.player)
        }

    def _seated(self, event: Event) -> str:
        if event.player not in self.seats:
            raise ValueError(f"{event.player!r} has no seat")
        return event.player

    def _slip(self, event: Event) -> tuple[int, str]:
        key = _round(event), event.player
        if key not in self.bids:
            raise ValueError("no slip stands before it")
        return key

    def match(self) -> Match:
        for round_, deal in self.deals.items():
            if len(deal) != LOTS:
                raise RecordBroken(0, f"round {round_} has {len(deal)} lots instead of {LOTS}")
        return Match(
            seats=tuple(self.seats),
            players=tuple(
                Player(name, self.garnets[name], name in self.withdrawn)
                for name in self.seats
                if name in self.garnets
            ),
            rulings=Rulings.of(self.switches),
            deals={round_: tuple(deal) for round_, deal in self.deals.items()},
            slips={key: Slip(bids, self.uses[key]) for key, bids in self.bids.items()},
            kept=self.kept,
            compositions=self.compositions,
            closed=self.closed,
            reopened=self.reopened,
            struck=self.struck,
            renamed=self.renamed,
            choice=self.rulings.get("Elimination choice"),
            winner_ruling=self.rulings.get("Winner ruling"),
            fixed=bool(self.closed),
        )


def _round(event: Event) -> int:
    number = stage_of(event.stage).round
    if number is None:
        raise ValueError(f"no round: {event.stage!r}")
    return number


def _lot(event: Event) -> int:
    word, _, number = event.item.partition(" ")
    if word != "lot" or number not in _LOT_NUMBERS:
        raise ValueError(f"no lot: {event.item!r}")
    return int(number)


_LOT_NUMBERS: Final = frozenset(str(lot) for lot in range(1, LOTS + 1))


_NOT_ENTERED: Final = ("nothing", "void", "withdrawn", "without")
_MOST_USES: Final = 64  # the 64th use alone costs 2^63 garnets


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"no whole number: {text!r}")
    return int(text)
