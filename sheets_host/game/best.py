"""The best composition: an exact search for the order of all notes that pays the most.

Seven conditions do not care about the order, and each of the other five rests on few notes: a
rising whole (3), a falling run (4), two neighbours a tritone apart (6), the two ends (7), D E A D
(11). A rising whole leaves one order only. For the other four the search settles who must follow
whom and who stands first and last. Whatever agrees can be completed, since all other notes fit
anywhere between; and pieces that overlap need no case of their own, as their links just agree.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, pairwise
from typing import Final

from sheets_host.game.conditions import CONDITIONS, RUN, SEQUENCE_PITCHES, judge_all
from sheets_host.game.notes import PITCHES, TRITONE, Note
from sheets_host.game.rulings import Rulings

FALL: Final = 4
NEAR: Final = 6
ENDS: Final = 7
SEQUENCE: Final = 11
PIECES: Final = tuple(
    frozenset(chosen)
    for size in range(5)
    for chosen in combinations((FALL, NEAR, ENDS, SEQUENCE), size)
)


def best(
    notes: Collection[Note], most_in_a_round: int, rulings: Rulings, value: Sequence[int]
) -> tuple[tuple[Note, ...], frozenset[int]]:
    """Return the order of all the notes that pays the most, and the conditions it fulfils.

    value: what each of the twelve would pay, 0 or more, in their order. Of orders that pay the
    same, one with the most conditions is taken, then one with the lowest numbers; the order in
    which the notes are given never matters. Whether so few notes score at all (R21) is not asked
    here. No notes fulfil nothing.
    """
    rising = tuple(sorted(notes, key=lambda note: (note.pitch, -note.eighths)))
    search = _Search(rising, rulings)

    def rank(numbers: Collection[int]) -> tuple[int, int, list[int]]:
        pay = sum(value[number - 1] for number in numbers)
        return pay, len(numbers), [-number for number in sorted(numbers)]

    def fulfilled(order: tuple[Note, ...]) -> frozenset[int]:
        evidence = judge_all(order, most_in_a_round, rulings)
        return frozenset(c.number for c, e in zip(CONDITIONS, evidence, strict=True) if e.fulfilled)

    by_rank = sorted(PIECES, key=rank, reverse=True)
    joined = next(order for pieces in by_rank if (order := search.meet(pieces)) is not None)
    return max(
        ((order, fulfilled(order)) for order in (joined, rising)),
        key=lambda found: rank(found[1]),
    )


NOBODY: Final = -1


@dataclass(frozen=True, slots=True)
class _Draft:
    """What is settled of an order. Notes are numbers; an open end is NOBODY.

    after: who must follow whom at once.
    """

    size: int
    after: dict[int, int]
    first: int = NOBODY
    last: int = NOBODY

    def taken(self) -> set[int]:
        """Return the notes of which anything is settled."""
        return {self.first, self.last, *self.after, *self.after.values()}

    def linked(self, neighbours: Sequence[int]) -> _Draft | None:
        """Settle that these follow each other at once; None where that cannot be."""
        after = dict(self.after)
        for one, other in pairwise(neighbours):
            if after.setdefault(one, other) != other:
                return None
        draft = _Draft(self.size, after, self.first, self.last)
        return draft if draft.possible() else None

    def possible(self) -> bool:
        """Tell whether an order of all the notes keeps to what is settled."""
        followers = set(self.after.values())
        if len(followers) < len(self.after) or self.first in followers or self.last in self.after:
            return False
        links = 0
        for head in self.after.keys() - followers:
            strand = self._strand(head)
            links += len(strand) - 1
            # A strand from the first note to the last leaves no room for others.
            if head == self.first and strand[-1] == self.last and len(strand) < self.size:
                return False
        return links == len(self.after)  # links of no strand run in a circle

    def strands(self) -> list[list[int]]:
        """Return all the notes, those that must be neighbours together."""
        followers = set(self.after.values())
        return [self._strand(head) for head in range(self.size) if head not in followers]

    def _strand(self, head: int) -> list[int]:
        strand = [head]
        while strand[-1] in self.after:
            strand.append(self.after[strand[-1]])
        return strand


class _Search:
    """The orders of some notes, sorted by pitch, that meet a set of PIECES."""

    def __init__(self, notes: tuple[Note, ...], rulings: Rulings) -> None:
        self.notes = notes
        self.rulings = rulings
        self.known: dict[frozenset[int], tuple[Note, ...] | None] = {}
        self.by_pitch: list[list[int]] = [[] for _ in PITCHES]
        by_duration: dict[int, list[int]] = {}
        for at, note in enumerate(notes):
            self.by_pitch[note.pitch].append(at)
            by_duration.setdefault(note.eighths, []).append(at)
        self.falling = [notes_of_one[::-1] for notes_of_one in by_duration.values()]
        self.alike: set[int] = set()

    def meet(self, pieces: frozenset[int]) -> tuple[Note, ...] | None:
        """Return an order that meets all the pieces; None where no order does."""
        if pieces not in self.known:
            # What cannot be had with fewer pieces is not looked for: that proof is dear.
            fewer = all(self.meet(pieces - {piece}) is not None for piece in pieces)
            self.known[pieces] = self._find(pieces) if fewer else None
        return self.known[pieces]

    def _find(self, pieces: frozenset[int]) -> tuple[Note, ...] | None:
        # Notes of one pitch differ only where a falling run may want one of them.
        wanted = [run for run in self.falling if FALL in pieces and len(run) >= RUN]
        self.alike = set(range(len(self.notes))).difference(*wanted)
        drafts: Iterator[_Draft] = iter([_Draft(len(self.notes), {})])
        if SEQUENCE in pieces:
            drafts = chain.from_iterable(map(self._sequences, drafts))
        if ENDS in pieces:
            drafts = chain.from_iterable(map(self._ends, drafts))
        if NEAR in pieces:
            drafts = chain.from_iterable(map(self._tritones, drafts))
        find = self._fall if FALL in pieces else self._completed
        return next((order for draft in drafts if (order := find(draft)) is not None), None)

    def _sequences(self, draft: _Draft) -> Iterator[_Draft]:
        chosen: list[list[int]] = [[]]
        for pitch in SEQUENCE_PITCHES:
            chosen = [
                [*c, at] for c in chosen for at in self._choices(pitch, set(c)) if at not in c
            ]
        for four in chosen:
            linked = draft.linked(four)
            if linked:
                yield linked

    def _ends(self, draft: _Draft) -> Iterator[_Draft]:
        taken = draft.taken()
        for pitch in range(len(PITCHES)):
            for first in self._choices(pitch, taken):
                for last in self._choices(pitch, taken | {first}):
                    ended = _Draft(draft.size, draft.after, first, last)
                    if first != last and ended.possible():
                        yield ended

    def _tritones(self, draft: _Draft) -> Iterator[_Draft]:
        if self.rulings.tritone == "any two":
            if any(self.by_pitch[p] and self.by_pitch[p + TRITONE] for p in range(TRITONE)):
                yield draft
            return
        taken = draft.taken()
        for pitch in range(len(PITCHES)):
            for one in self._choices(pitch, taken):
                for other in self._choices((pitch + TRITONE) % len(PITCHES), taken):
                    linked = draft.linked((one, other))
                    if linked:
                        yield linked

    def _choices(self, pitch: int, taken: set[int]) -> Iterator[int]:
        """Yield the notes of a pitch; of those alike and not taken the first stands for all."""
        stood_for = False
        for at in self.by_pitch[pitch]:
            if at in self.alike and at not in taken:
                if stood_for:
                    continue
                stood_for = True
            yield at

    def _fall(self, draft: _Draft) -> tuple[Note, ...] | None:
        taken = draft.taken()
        free = ([at for at in run if at not in taken] for run in self.falling)
        # Four notes of which nothing is settled always do; so all fours are tried of few notes.
        easy = next((run[:RUN] for run in free if len(run) >= RUN), None)
        fours = [easy] if easy else chain.from_iterable(combinations(r, RUN) for r in self.falling)
        for four in fours:
            if self.rulings.descending == "anywhere":
                order = self._completed(draft, four)
            else:
                linked = draft.linked(four)
                order = self._completed(linked) if linked else None
            if order is not None:
                return order
        return None

    def _completed(self, draft: _Draft, four: Sequence[int] = ()) -> tuple[Note, ...] | None:
        """Return an order with these four one after another, gaps allowed; None where none is."""

        def place(strand: list[int]) -> int:
            if strand[0] == draft.first:
                return -1
            if strand[-1] == draft.last:
                return RUN + 1
            return next((nth for nth, at in enumerate(four) if at in strand), RUN)

        # Strands can only stand in the order in which the four come to them. If that does not
        # put the four in order, they come back to a strand or go through one backwards.
        order = [at for strand in sorted(draft.strands(), key=place) for at in strand]
        if any(order.index(one) > order.index(other) for one, other in pairwise(four)):
            return None
        return tuple(self.notes[at] for at in order)
