"""Shares, points, ranks, the winner and the Elimination Candidate."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from sheets_host.game.conditions import CONDITIONS, Evidence, judge_all
from sheets_host.game.ledger import Ledger, settle
from sheets_host.game.match import Handed, Match
from sheets_host.game.notes import Note
from sheets_host.game.rulings import POINTS_PER_GARNET, SHORT, Rulings

NOT_HANDED_IN: Final = Handed("nothing")


@dataclass(frozen=True, slots=True)
class Card:
    """How one player's composition scored.

    composition: in order, None where none was handed in. evidence and points: by condition.
    counts: the composition is among those that share the conditions' points (R22).
    tie_notes: what counts at a tie (R20, R26). rank: equal points share one, the winner alone is 1.
    """

    player: str
    composition: tuple[Note, ...] | None
    counts: bool
    evidence: tuple[Evidence, ...]
    points_by_condition: tuple[int, ...]
    tie_notes: tuple[Note, ...]
    withdrawn: bool
    rank: int = 0

    @property
    def scores(self) -> bool:
        """Tell whether points are paid at all: not for a composition that is too short (R21)."""
        return self.composition is not None and len(self.composition) >= SHORT

    @property
    def points(self) -> int:
        return sum(self.points_by_condition)

    @property
    def earned(self) -> int:
        """Garnets earned by points (R17)."""
        return self.points // POINTS_PER_GARNET

    @property
    def fulfilled(self) -> tuple[int, ...]:
        """Numbers of the conditions that this composition fulfils and shares in."""
        return tuple(
            c.number
            for c, e in zip(CONDITIONS, self.evidence, strict=True)
            if e.fulfilled and self.counts
        )


@dataclass(frozen=True, slots=True)
class Result:
    """The end of a match.

    cards: in the order of the players. holders, each: by condition, who shares it and what each
    of them gets. winner: None while the host must rule among `winner_among` (R25) or nobody can
    win. decided_by: ``points``, ``highest pitch``, ``longest note`` or ``the host's ruling``.
    candidate: None while `choice_among` awaits the winner's choice (R28), or nobody can be it.
    """

    cards: tuple[Card, ...]
    holders: tuple[tuple[str, ...], ...]
    each: tuple[int, ...]
    winner: str | None
    decided_by: str
    winner_among: tuple[str, ...]
    candidate: str | None
    choice_among: tuple[str, ...]

    def card(self, player: str) -> Card:
        return next(card for card in self.cards if card.player == player)


def result_of(match: Match, ledger: Ledger, rulings: Rulings | None = None) -> Result:
    """Score a match whose compositions are closed, under its own rulings or others."""
    rulings = rulings or match.rulings
    cards = tuple(_judge(match, ledger, name, rulings) for name in match.names)
    holders = tuple(
        tuple(c.player for c in cards if c.counts and c.evidence[i].fulfilled)
        for i in range(len(CONDITIONS))
    )
    each = tuple(share(c.worth, len(h)) for c, h in zip(CONDITIONS, holders, strict=True))
    cards = tuple(_paid(card, holders, each) for card in cards)
    return _ranked(cards, holders, each, match.winner_ruling, match.choice)


def share(worth: int, holders: int) -> int:
    """What each holder of a condition gets; the remainder is discarded."""
    return worth // holders if holders else 0


def _judge(match: Match, ledger: Ledger, name: str, rulings: Rulings) -> Card:
    player = match.player(name)
    handed = match.compositions.get(name, NOT_HANDED_IN)
    held = ledger.notes(name)
    composition = handed.notes if handed.counts and not player.withdrawn else None
    evidence = judge_all(composition or (), ledger.most(name), rulings)
    length = len(composition or ())
    counts = length >= SHORT or (length > 0 and rulings.short_share == "yes")
    # Fewer than five notes held: nothing is owed, and they count at a tie all the same (R20).
    tie_notes = held if len(held) < SHORT else composition or ()
    return Card(name, composition, counts, evidence, (), tie_notes, player.withdrawn)


def _paid(card: Card, holders: tuple[tuple[str, ...], ...], each: tuple[int, ...]) -> Card:
    points = tuple(
        worth if card.scores and card.player in who else 0
        for who, worth in zip(holders, each, strict=True)
    )
    return replace(card, points_by_condition=points)


def _ranked(
    cards: tuple[Card, ...],
    holders: tuple[tuple[str, ...], ...],
    each: tuple[int, ...],
    winner_ruling: str | None,
    choice: str | None,
) -> Result:
    standing = [card for card in cards if not card.withdrawn]
    winner, decided_by, winner_among = _winner(standing, winner_ruling)
    candidate, choice_among = _candidate(standing, winner, choice)
    ranked = tuple(replace(card, rank=_rank(card, cards, winner)) for card in cards)
    return Result(ranked, holders, each, winner, decided_by, winner_among, candidate, choice_among)


def _winner(standing: list[Card], ruling: str | None) -> tuple[str | None, str, tuple[str, ...]]:
    """Most points, then the highest pitch, then the longest note of it, then the host (R25)."""
    tied, decided_by = standing, ""
    for decided_by, worth in _TIE_BREAKS:
        best = max((worth(card) for card in tied), default=-1)
        tied = [card for card in tied if worth(card) == best]
        if len(tied) == 1:
            return tied[0].player, decided_by, ()
    names = tuple(card.player for card in tied)
    if ruling in names:
        return ruling, "the host's ruling", ()
    return None, "", names


def _highest(card: Card) -> int:
    return max((note.pitch for note in card.tie_notes), default=-1)


def _longest(card: Card) -> int:
    highest = _highest(card)
    return max((note.eighths for note in card.tie_notes if note.pitch == highest), default=-1)


_TIE_BREAKS: Final = (
    ("points", lambda card: card.points),
    ("highest pitch", _highest),
    ("longest note", _longest),
)


def _candidate(
    standing: list[Card], winner: str | None, choice: str | None
) -> tuple[str | None, tuple[str, ...]]:
    """Fewest points, the winner excepted (R27); at a tie the winner chooses (R28)."""
    others = [card for card in standing if card.player != winner]
    if winner is None or not others:
        return None, ()
    fewest = min(card.points for card in others)
    last = tuple(card.player for card in others if card.points == fewest)
    if len(last) == 1:
        return last[0], ()
    return (choice, ()) if choice in last else (None, last)


def _rank(card: Card, cards: tuple[Card, ...], winner: str | None) -> int:
    if card.player == winner:
        return 1
    return 1 + sum(c.points > card.points or c.player == winner for c in cards)


def under_other_rulings(match: Match) -> Mapping[tuple[str, str], Result]:
    """Return the result under each other value of each scoring switch, by (switch, value)."""
    from sheets_host.game.rulings import SCORING_SWITCHES

    ledger = settle(match)
    ours = match.rulings.named()
    return {
        (switch.name, value): result_of(match, ledger, Rulings.of({**ours, switch.name: value}))
        for switch in SCORING_SWITCHES
        for value in switch.values
        if value != ours[switch.name]
    }
