"""The twelve conditions: each judges a composition and says why.

A judge takes the composition (the notes in their order, one at least, no note twice), the most
notes its player won in one round, and the rulings. Its docstring holds the rule, a composition
that meets it and one that just misses under the default switches; a test holds it to both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from sheets_host.game.notes import BAR, PITCHES, TRITONE, Duration, Note
from sheets_host.game.rulings import Rulings

BEAT: Final = 2  # eighths
RUN: Final = 4  # notes of the falling run
MANY: Final = 5  # notes won in one round
EIGHTH_NOTES: Final = 8
E: Final = PITCHES.index("E")
SEQUENCE: Final = ("D", "E", "A", "D")
SEQUENCE_PITCHES: Final = bytes(map(PITCHES.index, SEQUENCE))
KEYS: Final = {
    key: frozenset(map(PITCHES.index, scale.split()))
    for key, scale in (
        ("G major", "G A B C D E F#"),
        ("E major", "E F# G# A B C# D#"),
        ("B major", "B C# D# E F# G# A#"),
    )
}


@dataclass(frozen=True, slots=True)
class Evidence:
    """A judgement and its reason.

    positions: where in the composition, counted from 0, the notes stand that prove it; empty
    where it is missed or rests on the whole. why: one sentence naming the proof or the nearest
    miss.
    """

    fulfilled: bool
    positions: tuple[int, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Condition:
    """One of the twelve. worth: the points that all who fulfil it share."""

    number: int
    name: str
    worth: int
    judge: Callable[[tuple[Note, ...], int, Rulings], Evidence]


def divisible(composition: tuple[Note, ...], _most: int, _rulings: Rulings) -> Evidence:
    """Judge 1: the durations add up to a multiple of 4 beats.

    Meets: C whole, D half, E quarter, F eighth, G eighth
    Misses: C whole, D half, E quarter, F eighth, G quarter
    """
    total = 0
    for note in composition:
        total += note.eighths
    return _sum(total)


@cache
def _sum(total: int) -> Evidence:
    over = total % BAR
    if not over:
        return Evidence(True, (), f"sum is {_beats(total)} beats, a multiple of 4")
    beats = f"{_beats(total)} beat{'' if total <= BEAT else 's'}"
    # Nobody composes nothing, so there is no way down to 0.
    less = f" (or {_beats(over)} less)" if total > BAR else ""
    why = f"sum is {beats}; {_beats(BAR - over)} more{less} would be a multiple of 4"
    return Evidence(False, (), why)


def sharps(composition: tuple[Note, ...], _most: int, _rulings: Rulings) -> Evidence:
    """Judge 2: there are more sharp notes than natural ones.

    Meets: C# eighth, D# quarter, F# eighth, G half, A quarter
    Misses: C# eighth, D# quarter, F# eighth, G half, A quarter, B quarter
    """
    sharp = tuple([at for at, note in enumerate(composition) if note.sharp])
    naturals = len(composition) - len(sharp)
    if len(sharp) > naturals:
        return Evidence(True, sharp, _sharps(len(sharp), naturals))
    return Evidence(False, (), f"{_sharps(len(sharp), naturals)}; more sharps are needed")


def _sharps(sharp: int, naturals: int) -> str:
    return f"{_count(sharp, 'sharp')}, {_count(naturals, 'natural')}"


def ascending(composition: tuple[Note, ...], _most: int, _rulings: Rulings) -> Evidence:
    """Judge 3: each note is strictly higher than the one before.

    Meets: C whole, D half, E quarter, F eighth, G eighth
    Misses: C whole, C half, E quarter, F eighth, G eighth
    """
    before = -1
    for at, note in enumerate(composition):
        if note.pitch <= before:
            former = composition[at - 1]
            how = "not higher than" if note.pitch == before else "lower than"
            why = f"{note.text} (no. {at + 1}) is {how} {former.text} before it"
            return Evidence(False, (), why)
        before = note.pitch
    if len(composition) == 1:
        return Evidence(True, (), f"{composition[0].text} is the only note")
    return Evidence(
        True, (), f"rises at every note from {composition[0].text} to {composition[-1].text}"
    )


def descending(composition: tuple[Note, ...], _most: int, rulings: Rulings) -> Evidence:
    """Judge 4: four notes of one duration, in a row, each lower than the one before.

    Under the switch's `anywhere` other notes may stand between them.

    Meets: B quarter, A quarter, G quarter, F quarter, C eighth
    Misses: B quarter, A half, G quarter, F quarter, C quarter
    """
    if rulings.descending == "anywhere":
        longest = _falling_chain(composition)
        where = "one after another"
    else:
        longest = _falling_run(composition)
        where = "in a row"
    if len(longest) == RUN:
        return Evidence(True, longest, f"{_named(composition, longest)} fall {where}")
    if len(longest) == 1:
        return Evidence(False, (), f"no two notes of one duration fall {where}; {RUN} are needed")
    why = f"{_named(composition, longest)} fall {where}; {RUN} of one duration are needed"
    return Evidence(False, (), why)


def _falling_run(composition: tuple[Note, ...]) -> tuple[int, ...]:
    """Return the first four neighbours that fall, or the first of the longest such runs."""
    start = best_start = 0
    best = 1
    former = composition[0]
    for at, note in enumerate(composition):
        if note.eighths != former.eighths or note.pitch >= former.pitch:
            start = at
        elif at - start >= best:
            best_start, best = start, at - start + 1
            if best == RUN:
                break
        former = note
    return tuple(range(best_start, best_start + best))


def _falling_chain(composition: tuple[Note, ...]) -> tuple[int, ...]:
    """Return four falling notes of one duration, or the longest such chain, gaps allowed."""
    longest: tuple[int, ...] = ()
    # By duration: the chain of each length up to four that ends highest, so can go on best.
    ends: dict[int, list[tuple[int, ...]]] = {}
    for at, note in enumerate(composition):
        chains = ends.setdefault(note.eighths, [])
        length = 0
        while length < len(chains) and composition[chains[length][-1]].pitch > note.pitch:
            length += 1
        chain = (*chains[length - 1], at) if length else (at,)
        chains[length : length + 1] = [chain]
        if len(chain) > len(longest):
            longest = chain
            if len(chain) == RUN:
                break
    return longest


def durations(composition: tuple[Note, ...], _most: int, _rulings: Rulings) -> Evidence:
    """Judge 5: one pitch appears in all four durations, wherever they are.

    Meets: D whole, E quarter, D half, F eighth, D quarter, G eighth, D eighth
    Misses: D whole, E quarter, D half, F eighth, D quarter, G eighth, E eighth
    """
    held = [0] * len(PITCHES)
    for note in composition:
        held[note.pitch] |= note.eighths  # the four durations are four bits
    most = max(held, key=int.bit_count)
    pitch = held.index(most)
    if most == _ALL_DURATIONS:
        where = tuple([at for at, note in enumerate(composition) if note.pitch == pitch])
        return Evidence(True, where, f"{PITCHES[pitch]} in all four durations")
    return _missing(pitch, most)


_ALL_DURATIONS: Final = sum(duration.eighths for duration in Duration)


@cache
def _missing(pitch: int, held: int) -> Evidence:
    lacking = [duration.word for duration in Duration if not duration.eighths & held]
    verb = "is" if len(lacking) == 1 else "are"
    return Evidence(False, (), f"closest is {PITCHES[pitch]}: {_and(lacking)} {verb} missing")


def tritone(composition: tuple[Note, ...], _most: int, rulings: Rulings) -> Evidence:
    """Judge 6: two neighbours are six semitones apart, up or down.

    Under the switch's `any two` they need not be neighbours.

    Meets: F# quarter, C quarter, G quarter, G eighth, A quarter
    Misses: C quarter, D quarter, F# quarter, G eighth, A quarter
    """
    before = -TRITONE - 1
    for at, note in enumerate(composition):
        if abs(note.pitch - before) == TRITONE:
            pair = f"{composition[at - 1].text} and {note.text}"
            return Evidence(True, (at - 1, at), f"{pair}, neighbours, are six semitones apart")
        before = note.pitch
    first: dict[int, int] = {}
    for at, note in enumerate(composition):
        other = first.get((note.pitch + TRITONE) % len(PITCHES))
        if other is not None:
            why = f"{composition[other].text} and {note.text} are six semitones apart"
            if rulings.tritone == "any two":
                return Evidence(True, (other, at), why)
            return Evidence(False, (), f"{why} but not neighbours")
        first.setdefault(note.pitch, at)
    return Evidence(False, (), "no two notes are six semitones apart")


def ends(composition: tuple[Note, ...], _most: int, _rulings: Rulings) -> Evidence:
    """Judge 7: the first note and the last have the same pitch. One note alone does not do.

    Meets: D whole, E quarter, F quarter, G quarter, D quarter
    Misses: D whole, E quarter, F quarter, G quarter, D# quarter
    """
    first, last = composition[0], composition[-1]
    if len(composition) == 1:
        return Evidence(False, (), f"{first.text} is the only note")
    if first.pitch != last.pitch:
        return Evidence(False, (), f"starts on {first.text} and ends on {last.text}")
    why = f"starts on {first.text} and ends on {last.text}, the same pitch"
    return Evidence(True, (0, len(composition) - 1), why)


def haul(_composition: tuple[Note, ...], most: int, _rulings: Rulings) -> Evidence:
    """Judge 8: the player won at least five notes in one round.

    Meets: C quarter, D quarter, E quarter, F quarter, G quarter; 5 won in one round
    Misses: C quarter, D quarter, E quarter, F quarter, G quarter; 4 won in one round
    """
    return _haul(most)


@cache
def _haul(most: int) -> Evidence:
    if most >= MANY:
        return Evidence(True, (), f"won {most} notes in one round")
    return Evidence(False, (), f"won at most {_count(most, 'note')} in one round; 5 are needed")


def eighths(composition: tuple[Note, ...], _most: int, rulings: Rulings) -> Evidence:
    """Judge 9: there are eight eighth notes at least; under the switch's `exactly` no more.

    Meets: C eighth, C# eighth, D eighth, D# eighth, E eighth, F eighth, F# eighth, G eighth
    Misses: C eighth, C# eighth, D eighth, D# eighth, E eighth, F eighth, F# eighth, G half
    """
    found = tuple([at for at, note in enumerate(composition) if note.eighths == 1])
    exactly = rulings.eighths == "exactly"
    if len(found) == EIGHTH_NOTES or (len(found) > EIGHTH_NOTES and not exactly):
        return Evidence(True, found, f"{len(found)} eighth notes")
    needed = "exactly 8 are needed" if exactly else "8 are needed"
    return Evidence(False, (), f"{_count(len(found), 'eighth note')}; {needed}")


def no_e(composition: tuple[Note, ...], _most: int, _rulings: Rulings) -> Evidence:
    """Judge 10: there is no E of any duration.

    Meets: C quarter, D quarter, D# quarter, F quarter, G quarter
    Misses: C quarter, D quarter, E eighth, F quarter, G quarter
    """
    found = [note.text for note in composition if note.pitch == E]
    if not found:
        return _WITHOUT_E
    return Evidence(False, (), f"it holds {_and(found)}")


_WITHOUT_E: Final = Evidence(True, (), "it holds no E")


def sequence(composition: tuple[Note, ...], _most: int, _rulings: Rulings) -> Evidence:
    """Judge 11: D E A D stand as neighbours in this order, in any durations.

    Meets: G quarter, D whole, E eighth, A half, D quarter
    Misses: D whole, F quarter, E eighth, A half, D quarter
    """
    pitches = bytes([note.pitch for note in composition])
    at = pitches.find(SEQUENCE_PITCHES)
    if at >= 0:
        where = tuple(range(at, at + len(SEQUENCE)))
        return Evidence(True, where, f"{_named(composition, where)} stand in a row")
    for part, names, rest in _PARTS:
        at = pitches.find(part)
        if at >= 0:
            found = _named(composition, range(at, at + len(part)))
            return Evidence(False, (), f"{names} is there ({found}); {rest}")
    return Evidence(
        False, (), "no D stands directly before an E, no E before an A, no A before a D"
    )


def _parts() -> Iterable[tuple[bytes, str, str]]:
    """Yield the parts of D E A D, the longest first: pitches, names, and what the part lacks."""
    for length in (3, 2):
        for start in range(len(SEQUENCE) - length + 1):
            stop = start + length
            lacks = [
                f"{' '.join(names)} must stand {side}"
                for names, side in ((SEQUENCE[:start], "before"), (SEQUENCE[stop:], "after"))
                if names
            ]
            yield SEQUENCE_PITCHES[start:stop], " ".join(SEQUENCE[start:stop]), _and(lacks)


def major(composition: tuple[Note, ...], _most: int, _rulings: Rulings) -> Evidence:
    """Judge 12: every pitch belongs to G major, or every one to E major, or to B major.

    The key's own first note need not be there.

    Meets: E quarter, F# quarter, G# quarter, A quarter, B quarter
    Misses: E quarter, F# quarter, G# quarter, A quarter, A# quarter
    """
    pitches = {note.pitch for note in composition}
    keys = [key for key, scale in KEYS.items() if pitches <= scale]
    if keys:
        return Evidence(True, (), f"every pitch belongs to {_and(keys)}")
    closest, outside = "", [note.pitch for note in composition]
    for key, scale in KEYS.items():
        found = [note.pitch for note in composition if note.pitch not in scale]
        if not closest or len(found) < len(outside):
            closest, outside = key, found
    strangers = ", ".join(PITCHES[pitch] for pitch in sorted(set(outside)))
    why = f"closest is {closest}; outside it: {strangers} ({_count(len(outside), 'note')})"
    return Evidence(False, (), why)


CONDITIONS: Final = (
    Condition(1, "Duration divisible by 4", 8, divisible),
    Condition(2, "More sharps than naturals", 10, sharps),
    Condition(3, "Ascending throughout", 10, ascending),
    Condition(4, "Four falling notes of one duration", 14, descending),
    Condition(5, "All four durations of one pitch", 8, durations),
    Condition(6, "A tritone", 6, tritone),
    Condition(7, "Starts and ends on one pitch", 4, ends),
    Condition(8, "Five notes won in one round", 10, haul),
    Condition(9, "Eight eighth notes", 10, eighths),
    Condition(10, "No E", 6, no_e),
    Condition(11, "D E A D in a row", 8, sequence),
    Condition(12, "In G, E or B major", 12, major),
)

NO_COMPOSITION: Final = (Evidence(False, (), "no composition"),) * len(CONDITIONS)


def judge_all(
    composition: tuple[Note, ...], most_in_a_round: int, rulings: Rulings
) -> tuple[Evidence, ...]:
    """Judge a composition by all twelve, in their order. An empty one fulfils nothing (R22)."""
    if not composition:
        return NO_COMPOSITION
    return tuple([c.judge(composition, most_in_a_round, rulings) for c in CONDITIONS])


# --- words -------------------------------------------------------------------------------------

LISTED: Final = 4  # names in a sentence before it says how many more there are


def _beats(count: int) -> str:
    """Write eighths as beats: 25 is 12½."""
    whole, half = divmod(count, BEAT)
    return f"{whole or ''}½" if half else str(whole)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _named(composition: tuple[Note, ...], positions: Iterable[int]) -> str:
    return _and([composition[at].text for at in positions])


def _and(names: Sequence[str]) -> str:
    if len(names) == 1:
        return names[0]
    if len(names) > LISTED + 1:
        return f"{', '.join(names[:LISTED])} and {len(names) - LISTED} more"
    return f"{', '.join(names[:-1])} and {names[-1]}"


_PARTS: Final = tuple(_parts())
