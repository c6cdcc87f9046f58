"""What could have been and what can still be: hindsight, projection, and who can reach what.

A player who has withdrawn owes no composition (R32), and appears in none of the three.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import groupby
from typing import Final

from sheets_host.game.best import best
from sheets_host.game.conditions import (
    CONDITIONS,
    EIGHTH_NOTES,
    KEYS,
    MANY,
    RUN,
    SEQUENCE_PITCHES,
    E,
)
from sheets_host.game.ledger import Ledger
from sheets_host.game.match import Handed, Match
from sheets_host.game.notes import ALL_NOTES, BAR, PITCHES, TRITONE, Duration, Note
from sheets_host.game.rulings import SHORT, Rulings
from sheets_host.game.scoring import Result, result_of, share

Notes = Sequence[Note]
WORTHS: Final = tuple(condition.worth for condition in CONDITIONS)


def _playing(match: Match) -> list[str]:
    return [player.name for player in match.players if not player.withdrawn]


# --- what could have been ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Hindsight:
    """The most that a player could have had with the notes won.

    points: shared as the rules say. order: of all the notes, the player's own composition where
    none would have paid more. left: points that the player left on the table.
    """

    points: int
    order: tuple[Note, ...]
    left: int


def hindsight(match: Match, ledger: Ledger, result: Result) -> Mapping[str, Hindsight]:
    """Return by player the best composition, everyone else's standing as handed in.

    result: of this match under its own rulings. Meeting a condition that others hold makes one
    holder more of them, and all of them share anew. A player who handed in nothing, or nothing
    that counted, could still have had what the notes allow; fewer than five notes score 0 in
    every order (R21).
    """
    return {name: _best_possible(match, ledger, result, name) for name in _playing(match)}


def _best_possible(match: Match, ledger: Ledger, result: Result, name: str) -> Hindsight:
    card = result.card(name)
    notes = ledger.notes(name)
    if len(notes) < SHORT:
        return Hindsight(0, card.composition or notes, 0)
    value = [
        share(worth, len(set(holders) - {name}) + 1)
        for worth, holders in zip(WORTHS, result.holders, strict=True)
    ]
    order, numbers = best(notes, ledger.most(name), match.rulings, value)
    points = sum(value[number - 1] for number in numbers)
    left = points - card.points
    return Hindsight(points, order if left or card.composition is None else card.composition, left)


# --- if the match ended now ----------------------------------------------------------------------


def projection(match: Match, ledger: Ledger) -> Mapping[str, int]:
    """Return by player the points if the match ended with the last closed round.

    Everyone is taken to compose for the most points before sharing, and then shares as the rules
    say. It rests on closed rounds alone: on no open bid, and on no composition.
    """
    compositions = {
        name: Handed(
            "handed in", best(ledger.notes(name), ledger.most(name), match.rulings, WORTHS)[0]
        )
        for name in _playing(match)
    }
    result = result_of(replace(match, compositions=compositions), ledger)
    return {card.player: card.points for card in result.cards if not card.withdrawn}


# --- what can still be ---------------------------------------------------------------------------


class Reach(StrEnum):
    """Whether a player can fulfil a condition in a composition that scores."""

    SECURE = "secure"  # whatever notes may yet be won
    POSSIBLE = "possible"
    IMPOSSIBLE = "impossible"  # whatever notes may yet be won


def reach(match: Match, ledger: Ledger) -> Mapping[int, Mapping[str, Reach]]:
    """Return by condition's number and player who has it secure, can or cannot reach it.

    All notes won must be used (R18), and a composition of fewer than five scores nothing (R21).
    A player may still win any of the notes that no closed round has dealt, for nothing if need be
    (R2), or none of them; so each answer holds for that condition by itself, and says nothing of
    several in one composition. Secure is what no further note can spoil: without an E, condition
    10 is secure only once no E is left to be dealt. Closed rounds are taken to stand.
    """
    gone = {outcome.note for outcomes in ledger.outcomes.values() for outcome in outcomes}
    coming = tuple(note for note in ALL_NOTES if note not in gone)
    remainders = _remainders(coming)
    table: dict[int, dict[str, Reach]] = {condition.number: {} for condition in CONDITIONS}
    for name in _playing(match):
        hand = _Hand(ledger.notes(name), coming, remainders, ledger.most(name), match.rulings)
        for number, bounds in _BOUNDS.items():
            table[number][name] = _reach_of(hand, *bounds(hand))
    return table


def _reach_of(hand: _Hand, secure: bool, possible: bool) -> Reach:
    """Weigh what holds of enough notes, and whether there are enough."""
    if secure and len(hand.held) >= SHORT:
        return Reach.SECURE
    if possible and len(hand.held) + len(hand.coming) >= SHORT:
        return Reach.POSSIBLE
    return Reach.IMPOSSIBLE


@dataclass(frozen=True, slots=True)
class _Hand:
    """What a player holds and may yet win. remainders: see `_remainders`."""

    held: Notes
    coming: Notes
    remainders: frozenset[tuple[int, int]]
    most: int
    rulings: Rulings

    @property
    def all(self) -> Notes:
        return (*self.held, *self.coming)


# Each of the following tells (secure, possible) of one condition. That a secure hand has five
# notes, and a possible one can get them at all, is seen to by `_reach_of`.
_Bounds = Callable[[_Hand], tuple[bool, bool]]


def _growing(met: Callable[[Notes], bool]) -> _Bounds:
    """Bound what further notes never spoil, as they can stand apart from those that meet it."""
    return lambda hand: (met(hand.held), met(hand.all))


def _shrinking(largest: Callable[[Notes, Notes], int]) -> _Bounds:
    """Bound what fewer notes never spoil; `largest` counts the notes of the largest hand of such.

    It is 0 where the notes held spoil it already.
    """

    def bounds(hand: _Hand) -> tuple[bool, bool]:
        size = largest(hand.held, hand.coming)
        return size == len(hand.all), size >= SHORT

    return bounds


def _divisible(hand: _Hand) -> tuple[bool, bool]:
    over = sum(note.eighths for note in hand.held) % BAR
    whole_bars = all(note.eighths % BAR == 0 for note in hand.coming)
    possible = any(
        len(hand.held) + size >= SHORT and (over + rest) % BAR == 0
        for size, rest in hand.remainders
    )
    return over == 0 and whole_bars, possible


def _remainders(notes: Notes) -> frozenset[tuple[int, int]]:
    """Return how many of the notes can be taken, five meaning more too, and what bars are over."""
    found = {(0, 0)}
    for note in notes:
        found |= {(min(size + 1, SHORT), (rest + note.eighths) % BAR) for size, rest in found}
    return frozenset(found)


def _sharps(hand: _Hand) -> tuple[bool, bool]:
    lead = sum(1 if note.sharp else -1 for note in hand.held)
    sharp = sum(note.sharp for note in hand.coming)
    natural = len(hand.coming) - sharp
    # All sharps that come help; naturals are taken only to make five notes.
    fill = max(0, SHORT - len(hand.held) - sharp)
    return lead > natural, lead + sharp > fill


def _rising(held: Notes, coming: Notes) -> int:
    pitches = {note.pitch for note in held}
    return len(pitches.union(n.pitch for n in coming)) if len(pitches) == len(held) else 0


def _run(notes: Notes) -> bool:
    return any(count >= RUN for count in _counts(note.eighths for note in notes))


def _durations(notes: Notes) -> bool:
    return any(count == len(Duration) for count in _counts(note.pitch for note in notes))


def _counts(keys: Iterable[int]) -> list[int]:
    return [len(list(same)) for _, same in groupby(sorted(keys))]


def _tritone(notes: Notes) -> bool:
    pitches = {note.pitch for note in notes}
    return any((pitch + TRITONE) % len(PITCHES) in pitches for pitch in pitches)


def _ends(notes: Notes) -> bool:
    return len({note.pitch for note in notes}) < len(notes)


def _haul(hand: _Hand) -> tuple[bool, bool]:
    secure = hand.most >= MANY
    return secure, secure or len(hand.coming) >= MANY  # they come by whole rounds


def _eighths(hand: _Hand) -> tuple[bool, bool]:
    held = sum(note.eighths == 1 for note in hand.held)
    most = held + sum(note.eighths == 1 for note in hand.coming)
    if hand.rulings.eighths == "exactly":
        return held == most == EIGHTH_NOTES, held <= EIGHTH_NOTES <= most
    return held >= EIGHTH_NOTES, most >= EIGHTH_NOTES


def _no_e(held: Notes, coming: Notes) -> int:
    if any(note.pitch == E for note in held):
        return 0
    return len(held) + sum(note.pitch != E for note in coming)


def _sequence(notes: Notes) -> bool:
    pitches = [note.pitch for note in notes]
    return all(pitches.count(p) >= SEQUENCE_PITCHES.count(p) for p in SEQUENCE_PITCHES)


def _major(held: Notes, coming: Notes) -> int:
    return max(
        len(held) + sum(note.pitch in scale for note in coming)
        if all(note.pitch in scale for note in held)
        else 0
        for scale in KEYS.values()
    )


_BOUNDS: Final[Mapping[int, _Bounds]] = {
    1: _divisible,
    2: _sharps,
    3: _shrinking(_rising),
    4: _growing(_run),
    5: _growing(_durations),
    6: _growing(_tritone),
    7: _growing(_ends),
    8: _haul,
    9: _eighths,
    10: _shrinking(_no_e),
    11: _growing(_sequence),
    12: _shrinking(_major),
}
