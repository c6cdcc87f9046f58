"""The best composition: agreement with every order there is, overlaps by hand, large hands."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from itertools import combinations, pairwise, permutations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sheets_host.game.best import best
from sheets_host.game.conditions import CONDITIONS, judge_all
from sheets_host.game.notes import ALL_NOTES, PITCHES, Note, readings
from sheets_host.game.rulings import DESCENDING, EIGHTHS, TRITONE, Rulings

WORTH = [condition.worth for condition in CONDITIONS]
ORDERED = frozenset({3, 4, 6, 7, 11})  # the conditions that depend on the order
ALL_RULINGS = tuple(
    Rulings(descending=run, tritone=tritone, eighths=eighths)
    for run, tritone, eighths in product(DESCENDING.values, TRITONE.values, EIGHTHS.values)
)


def rank(numbers: Iterable[int], value: Sequence[int]) -> tuple[int, int, list[int]]:
    """Pay, then how many, then the lowest numbers: what `best` promises to maximise."""
    ordered = sorted(numbers)
    return sum(value[n - 1] for n in ordered), len(ordered), [-n for n in ordered]


def fulfilled(order: Sequence[Note], most: int, rulings: Rulings) -> frozenset[int]:
    judged = zip(CONDITIONS, judge_all(tuple(order), most, rulings), strict=True)
    return frozenset(condition.number for condition, evidence in judged if evidence.fulfilled)


def held(text: str) -> list[Note]:
    return [readings(word)[0] for word in text.split()]


# --- every order ---------------------------------------------------------------------------------


def reachable(notes: Sequence[Note]) -> set[tuple[bool, ...]]:
    """Go through every order and return which conditions stand together in one.

    Each is: rising, falling in a row, falling anywhere, tritone of neighbours, ends, D E A D.
    Written apart from the code under test, and quick, since 7 notes have 5,040 orders.
    """
    count = range(len(notes))
    rises = [[a.pitch < b.pitch for b in notes] for a in notes]
    falls = [[a.pitch > b.pitch and a.eighths == b.eighths for b in notes] for a in notes]
    apart = [[abs(a.pitch - b.pitch) == 6 for b in notes] for a in notes]
    name = [PITCHES[note.pitch] for note in notes]
    fours = any(sum(n.eighths == m.eighths for n in notes) >= 4 for m in notes)

    def fall(chains: Iterable[tuple[int, ...]]) -> bool:
        return any(falls[a][b] and falls[b][c] and falls[c][d] for a, b, c, d in chains)

    found: set[tuple[bool, ...]] = set()
    for order in permutations(count):
        pairs = list(pairwise(order))
        in_a_row = fours and fall(zip(order, order[1:], order[2:], order[3:], strict=False))
        anywhere = in_a_row or (fours and fall(combinations(order, 4)))
        found.add(
            (
                all(rises[a][b] for a, b in pairs),
                in_a_row,
                anywhere,
                any(apart[a][b] for a, b in pairs),
                len(order) > 1 and name[order[0]] == name[order[-1]],
                " D E A D " in f" {' '.join(name[at] for at in order)} ",
            )
        )
    return found


def under(found: set[tuple[bool, ...]], notes: Sequence[Note], r: Rulings) -> set[frozenset[int]]:
    """Return the sets of ordered conditions that can be met together under these rulings."""
    any_two = any(abs(a.pitch - b.pitch) == 6 for a, b in combinations(notes, 2))
    sets = set()
    for rising, in_a_row, anywhere, near, ends, sequence in found:
        verdicts = {
            3: rising,
            4: anywhere if r.descending == "anywhere" else in_a_row,
            6: any_two if r.tritone == "any two" else near,
            7: ends,
            11: sequence,
        }
        sets.add(frozenset(number for number, met in verdicts.items() if met))
    return sets


def assert_best(notes: Sequence[Note], values: Iterable[Sequence[int]]) -> None:
    found = reachable(notes)
    values = list(values)
    for rulings in ALL_RULINGS:
        sets = under(found, notes, rulings)
        for value in values:
            order, numbers = best(notes, 5, rulings, value)
            assert sorted(map(str, order)) == sorted(map(str, notes))
            assert numbers == fulfilled(order, 5, rulings)
            assert numbers & ORDERED == max(sets, key=lambda s: rank(s, value))


# Hands in which pieces exist and must share notes: few pitches or few durations.
def hand(rng: random.Random, size: int) -> list[Note]:
    pitches = rng.choice([
        PITCHES,
        ("D", "E", "A", *rng.sample(PITCHES, 2)),
        ("D", "E", "A", "G#", "D#"),
        ("C", "C#", "D", "E", "A"),
        rng.sample(PITCHES, 5),
    ])  # fmt: skip
    durations = rng.sample((8, 4, 2, 1), rng.choice((1, 2, 2, 3, 4)))
    pool = [n for n in ALL_NOTES if PITCHES[n.pitch] in pitches and n.eighths in durations]
    return rng.sample(pool, min(size, len(pool)))


def some_values(rng: random.Random) -> list[list[int]]:
    # Few different numbers make ties, and ties must break as promised too.
    return [WORTH, [0] * 12, [rng.randrange(3) for _ in WORTH], [rng.randrange(20) for _ in WORTH]]


@pytest.mark.parametrize(("size", "count"), [(1, 5), (2, 20), (3, 30), (4, 60), (5, 100), (6, 100)])
def test_best__agrees_with_every_order(size: int, count: int) -> None:
    rng = random.Random(size)
    for _ in range(count):
        assert_best(hand(rng, size), some_values(rng))


@pytest.mark.parametrize(("size", "count"), [(7, 60), (8, 4)])
def test_best__agrees_with_every_order_of_more_notes(size: int, count: int) -> None:
    rng = random.Random(size)
    for _ in range(count):
        assert_best(hand(rng, size), some_values(rng))


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from(ALL_NOTES), min_size=1, max_size=6, unique=True),
    st.lists(st.integers(0, 14), min_size=12, max_size=12),
)
def test_best__agrees_with_every_order_of_any_notes(notes: list[Note], value: list[int]) -> None:
    assert_best(notes, [value])


# --- by hand -------------------------------------------------------------------------------------

IN_A_ROW = Rulings()
ANYWHERE = Rulings(descending="anywhere")
TABLE = [
    ("the run begins inside D E A D", "Dw Ee Aq Dq C#q Cq", IN_A_ROW, {4, 11}),
    ("the run ends on the D of D E A D", "Bq Gq Fq Dq Ee Ah Dw", IN_A_ROW, {4, 11}),
    ("the whole is D E A D", "Dw Ee Ah Dq", IN_A_ROW, {7, 11}),
    ("one note more has no room at the ends", "Dw Ee Ah Dq Gw", IN_A_ROW, {11}),
    ("the tritone lies in the run", "Bq Aq F#q Cq", IN_A_ROW, {4, 6}),
    ("four notes of a run cannot rise too", "Cq Dq Eq Gq", IN_A_ROW, {4}),
    ("a run begins at an end", "Bq Bw Aq Gq F#q", IN_A_ROW, {4, 7}),
    ("a run cannot enter D E A D at its A from above", "Bq Dw Eh Aq Dq Cq", IN_A_ROW, {4}),
    ("but goes through it where notes may part it", "Bq Dw Eh Aq Dq Cq", ANYWHERE, {4, 11}),
    ("a run cannot come back to D E A D", "Aq Gq Fq Dq Ee Dw", ANYWHERE, {4, 7}),
    ("nothing", "", IN_A_ROW, set()),
]


@pytest.mark.parametrize(
    ("notes", "rulings", "expected"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE]
)
def test_best__by_hand(notes: str, rulings: Rulings, expected: set[int]) -> None:
    order, numbers = best(held(notes), 0, rulings, WORTH)
    assert numbers & ORDERED == expected
    assert len(order) == len(held(notes))


def test_best__value_decides() -> None:
    notes = held("Cq Dq Fq Gq Aq")  # four can fall, or all can rise
    dear_rise = [0, 0, 15, 14, *[0] * 8]
    assert 3 in best(notes, 0, IN_A_ROW, dear_rise)[1]
    assert 4 in best(notes, 0, IN_A_ROW, WORTH)[1]


def test_best__eight_need_no_order() -> None:
    notes = held("Ce C#e De D#e Fe F#e Ge G#e Bq")
    for most, eighths, expected in ((5, "at least", {8, 9}), (4, "exactly", {9})):
        numbers = best(notes, most, Rulings(eighths=eighths), WORTH)[1]
        assert numbers & {8, 9} == expected


def test_best__all_48_meet_all_that_can_stand_together() -> None:
    for rulings in ALL_RULINGS:
        order, numbers = best(ALL_NOTES, 8, rulings, WORTH)
        assert numbers >= {4, 5, 6, 7, 8, 11}
        assert sorted(map(str, order)) == sorted(map(str, ALL_NOTES))


# --- large hands ---------------------------------------------------------------------------------


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from(ALL_NOTES), min_size=1, unique=True),
    st.lists(st.integers(0, 14), min_size=12, max_size=12),
    st.sampled_from(ALL_RULINGS),
    st.randoms(use_true_random=False),
)
def test_best__no_order_pays_more_and_given_order_never_matters(
    notes: list[Note], value: list[int], rulings: Rulings, rng: random.Random
) -> None:
    answer = best(notes, 5, rulings, value)
    order, numbers = answer
    assert numbers == fulfilled(order, 5, rulings)
    for _ in range(5):
        rng.shuffle(notes)
        assert best(notes, 5, rulings, value) == answer
        assert rank(fulfilled(notes, 5, rulings), value) <= rank(numbers, value)


@pytest.mark.parametrize("size", [9, 12, 20, 48])
def test_best__finds_at_least_the_pieces_that_were_planted(size: int) -> None:
    rng = random.Random(size)
    for _ in range(40):
        planted = plant(rng, size)
        mixed = rng.sample(planted, len(planted))
        for rulings in ALL_RULINGS:
            value = [rng.randrange(20) for _ in WORTH]
            pay = rank(best(mixed, 0, rulings, value)[1], value)
            assert pay >= rank(fulfilled(planted, 0, rulings), value)


def plant(rng: random.Random, size: int) -> list[Note]:
    """Return an order with D E A D, a run, a tritone and equal ends in it, as far as they fit."""

    def of(*pitches: str) -> list[Note]:
        return [rng.choice([n for n in ALL_NOTES if PITCHES[n.pitch] == p]) for p in pitches]

    duration = rng.choice((8, 4, 2, 1))
    run = [n for n in rng.sample(ALL_NOTES, 48) if n.eighths == duration][:4]
    low = rng.randrange(6)
    pieces = [
        of("D", "E", "A", "D"),
        sorted(run, key=lambda n: -n.pitch),
        of(PITCHES[low], PITCHES[low + 6]),
    ]
    rng.shuffle(pieces)
    end = rng.choice(PITCHES)
    middle = [note for piece in pieces for note in piece]
    order = list(dict.fromkeys([*of(end), *middle, *rng.sample(ALL_NOTES, size)]))[: size - 1]
    return list(dict.fromkeys([*order, *of(end)]))
