"""The twelve conditions: the rulings' cases, the docstrings' examples, facts, evidence."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import combinations, pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sheets_host.game.conditions import CONDITIONS, KEYS, Condition, Evidence, judge_all
from sheets_host.game.notes import ALL_NOTES, BY_TEXT, PITCHES, Note, readings
from sheets_host.game.rulings import DESCENDING, EIGHTHS, TRITONE, Rulings

Composition = tuple[Note, ...]

DEFAULT = Rulings()
ANYWHERE = Rulings(descending="anywhere")
ANY_TWO = Rulings(tritone="any two")
EXACTLY = Rulings(eighths="exactly")
ALL_RULINGS = tuple(
    Rulings(descending=run, tritone=tritone, eighths=eighths)
    for run, tritone, eighths in product(DESCENDING.values, TRITONE.values, EIGHTHS.values)
)


def composition(text: str) -> Composition:
    """Read notes between blanks, as in ``C#q Dw``."""
    found = [readings(word) for word in text.split()]
    assert all(len(possible) == 1 for possible in found), text
    return tuple(possible[0] for possible in found)


def fulfilled(notes: Composition, most: int, rulings: Rulings) -> set[int]:
    evidence = judge_all(notes, most, rulings)
    return {c.number for c, e in zip(CONDITIONS, evidence, strict=True) if e.fulfilled}


NINE_EIGHTHS = "Ce C#e De D#e Ee Fe F#e Ge G#e"
CASES = [
    ("D1", "Cw Dh Eq Fe Ge", DEFAULT, {1, 3}),
    ("D2", "Cw Dw Eh Fh Ge", DEFAULT, {3}),
    ("D3", "C#e D#q F#e Gh Aq", DEFAULT, {2, 3, 10}),
    ("D4", "Cq Ce Dq Eq Fq", DEFAULT, set()),
    ("D5", "Gq Aq Bq Cq Dq", DEFAULT, {10, 12}),
    ("D6", "Bq Aq Gq Fq Ce", DEFAULT, {4, 10}),
    ("D7", "Bq Ah Gq Fq Ce", DEFAULT, {10}),
    ("D7 anywhere", "Bq Ah Gq Fq Ce", ANYWHERE, {10}),
    ("D8", "Bq De Aq Eh Gq Cw Fq", DEFAULT, set()),
    ("D8 anywhere", "Bq De Aq Eh Gq Cw Fq", ANYWHERE, {4}),
    ("D9", "Dw Eq Dh Fe Dq Ge De", DEFAULT, {5, 7}),
    ("D10", "F#q Cq Gq Ge Aq", DEFAULT, {6, 10, 12}),
    ("D11", "Cq Dq F#q Ge Aq", DEFAULT, {3, 10, 12}),
    ("D11 any two", "Cq Dq F#q Ge Aq", ANY_TWO, {3, 6, 10, 12}),
    ("D12", "Dw Eq Fq Gq Dq", DEFAULT, {1, 7}),
    ("D15", NINE_EIGHTHS, DEFAULT, {3, 9}),
    ("D15 exactly", NINE_EIGHTHS, EXACTLY, {3}),
    ("D16 eight", NINE_EIGHTHS[: NINE_EIGHTHS.rindex(" ")], DEFAULT, {1, 3, 9}),
    ("D16 eight exactly", NINE_EIGHTHS[: NINE_EIGHTHS.rindex(" ")], EXACTLY, {1, 3, 9}),
    ("D16 seven", "Ce C#e De D#e Ee Fe F#e", DEFAULT, {3}),
    ("D17", "Gq Dw Ee Ah Dq", DEFAULT, {11, 12}),
    ("D18", "Dw Fq Ee Ah Dq", DEFAULT, {7}),
    ("D19", "Gq Cq D#q G#q Aq", DEFAULT, {10}),
    ("D20", "Eq F#q G#q Aq Bq", DEFAULT, {3, 12}),
]


@pytest.mark.parametrize(
    ("notes", "rulings", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_judge_all__cases(notes: str, rulings: Rulings, expected: set[int]) -> None:
    assert fulfilled(composition(notes), 0, rulings) == expected


@pytest.mark.parametrize(
    ("notes", "won", "expected"),
    [
        pytest.param("Cq Dq Eq Fq Gq", [0, 5, 0, 0, 0, 0], {3, 8}, id="D13"),
        pytest.param("Cq Dq Eq Fq Gq Aq Bq Ch", [4, 0, 0, 4, 0, 0], {7}, id="D14"),
    ],
)
def test_judge_all__notes_won_in_a_round(notes: str, won: list[int], expected: set[int]) -> None:
    assert fulfilled(composition(notes), max(won), DEFAULT) == expected


def test_judge_all__empty_composition_fulfils_nothing() -> None:
    for rulings in ALL_RULINGS:
        evidence = judge_all((), 8, rulings)
        assert evidence == (Evidence(False, (), "no composition"),) * 12


def test_judge_all__single_note_has_no_two_ends() -> None:
    assert fulfilled(composition("Fq"), 1, DEFAULT) == {3, 10}
    assert fulfilled(composition("Dw"), 1, DEFAULT) == {1, 3, 10, 12}


def test_conditions__numbered_in_order_with_their_worth() -> None:
    assert [c.number for c in CONDITIONS] == list(range(1, 13))
    assert [c.worth for c in CONDITIONS] == [8, 10, 10, 14, 8, 6, 4, 10, 10, 6, 8, 12]
    assert len({c.name for c in CONDITIONS}) == 12


EXAMPLE = re.compile(r"^ *(Meets|Misses): ([^;\n]*)(?:; (\d) won in one round)?$", re.MULTILINE)


@pytest.mark.parametrize("condition", CONDITIONS, ids=lambda c: str(c.number))
def test_judge__docstring_tells_the_rule_and_examples_that_hold(condition: Condition) -> None:
    doc = condition.judge.__doc__ or ""
    assert doc.startswith(f"Judge {condition.number}: ")
    examples = EXAMPLE.findall(doc)
    assert [verdict for verdict, _, _ in examples] == ["Meets", "Misses"]
    for verdict, notes, won in examples:
        judged = tuple(BY_TEXT[text] for text in notes.split(", "))
        assert len(judged) >= 5  # so that it would score
        evidence = condition.judge(judged, int(won or 1), DEFAULT)
        assert evidence.fulfilled == (verdict == "Meets")


# --- words -------------------------------------------------------------------------------------

WHY = [
    (1, "Cw Dh Eq Fe Ge", DEFAULT, "sum is 8 beats, a multiple of 4"),
    (1, "Cw Dw Eh Fh Ge", DEFAULT,
     "sum is 12½ beats; 3½ more (or ½ less) would be a multiple of 4"),
    (1, "Ce", DEFAULT, "sum is ½ beat; 3½ more would be a multiple of 4"),
    (2, "C#e D#q F#e Gh Aq", DEFAULT, "3 sharps, 2 naturals"),
    (2, "C#e Aq", DEFAULT, "1 sharp, 1 natural; more sharps are needed"),
    (2, "Cw", DEFAULT, "0 sharps, 1 natural; more sharps are needed"),
    (3, "Cw", DEFAULT, "C whole is the only note"),
    (3, "Cw Dh", DEFAULT, "rises at every note from C whole to D half"),
    (3, "Cq Ce Dq", DEFAULT, "C eighth (no. 2) is not higher than C quarter before it"),
    (3, "Cq Dq C#q", DEFAULT, "C# quarter (no. 3) is lower than D quarter before it"),
    (4, "Ce Bq Aq Gq Fq", DEFAULT,
     "B quarter, A quarter, G quarter and F quarter fall in a row"),
    (4, "Bq De Aq Eh Gq Cw Fq", ANYWHERE,
     "B quarter, A quarter, G quarter and F quarter fall one after another"),
    (4, "Bq Ah Gq Fq Ce", DEFAULT,
     "G quarter and F quarter fall in a row; 4 of one duration are needed"),
    (4, "Bq Ah Gq Fq Ce", ANYWHERE,
     "B quarter, G quarter and F quarter fall one after another; 4 of one duration are needed"),
    (4, "Bq Ah", DEFAULT, "no two notes of one duration fall in a row; 4 are needed"),
    (5, "Dw Eq Dh Fe Dq Ge De", DEFAULT, "D in all four durations"),
    (5, "Ch Eq Dh Fe Dq Ge De", DEFAULT, "closest is D: whole is missing"),
    (5, "Ch", DEFAULT, "closest is C: whole, quarter and eighth are missing"),
    (6, "F#q Cq Gq", DEFAULT, "F# quarter and C quarter, neighbours, are six semitones apart"),
    (6, "Cq Dq F#q", DEFAULT,
     "C quarter and F# quarter are six semitones apart but not neighbours"),
    (6, "Cq Dq F#q", ANY_TWO, "C quarter and F# quarter are six semitones apart"),
    (6, "Cq Dq Fq", ANY_TWO, "no two notes are six semitones apart"),
    (7, "Dw Fq Dq", DEFAULT, "starts on D whole and ends on D quarter, the same pitch"),
    (7, "Dw Fq", DEFAULT, "starts on D whole and ends on F quarter"),
    (7, "Dw", DEFAULT, "D whole is the only note"),
    (8, "Dw", DEFAULT, "won at most 1 note in one round; 5 are needed"),
    (9, "Dw Ee", DEFAULT, "1 eighth note; 8 are needed"),
    (9, NINE_EIGHTHS, DEFAULT, "9 eighth notes"),
    (9, NINE_EIGHTHS, EXACTLY, "9 eighth notes; exactly 8 are needed"),
    (10, "Dw", DEFAULT, "it holds no E"),
    (10, "Eh Dw Eq", DEFAULT, "it holds E half and E quarter"),
    (11, "Gq Dw Ee Ah Dq", DEFAULT, "D whole, E eighth, A half and D quarter stand in a row"),
    (11, "Dw Fq Ee Ah Dq", DEFAULT,
     "E A D is there (E eighth, A half and D quarter); D must stand before"),
    (11, "Ee Ah Fq", DEFAULT,
     "E A is there (E eighth and A half); D must stand before and D must stand after"),
    (11, "Dq Fq", DEFAULT, "no D stands directly before an E, no E before an A, no A before a D"),
    (11, "Eq Dq", DEFAULT, "no D stands directly before an E, no E before an A, no A before a D"),
    (12, "Eq F#q G#q Aq Bq", DEFAULT, "every pitch belongs to E major"),
    (12, "Eq", DEFAULT, "every pitch belongs to G major, E major and B major"),
    (12, "Eq F#q G#q Aq A#q", DEFAULT, "closest is E major; outside it: A# (1 note)"),
    (12, "Eq Cq Fw", DEFAULT, "closest is G major; outside it: F (1 note)"),
    (12, "Fw Fh Fq Fe G#h A#h", DEFAULT, "closest is B major; outside it: F (4 notes)"),
    (12, "Fw Fh Fq Fe Cq C#h A#h", DEFAULT, "closest is B major; outside it: C, F (5 notes)"),
]  # fmt: skip


@pytest.mark.parametrize(("number", "notes", "rulings", "why"), WHY)
def test_judge__says_why(number: int, notes: str, rulings: Rulings, why: str) -> None:
    assert judge_all(composition(notes), 1, rulings)[number - 1].why == why


def test_judge__all_48_are_told_in_few_words() -> None:
    for rulings in ALL_RULINGS:
        for evidence in judge_all(ALL_NOTES, 8, rulings):
            assert len(evidence.why) < 120
            assert "\n" not in evidence.why


# --- properties --------------------------------------------------------------------------------

# Random notes meet little, so some draws come from notes that meet more: few pitches, one
# duration, rising or falling, the notes of D E A D.
OF_FEW = [n for n in ALL_NOTES if PITCHES[n.pitch] in {"D", "E", "A", "D#", "G#"}]
EIGHTH_NOTES = [n for n in ALL_NOTES if n.eighths == 1]


def draws(notes: list[Note]) -> st.SearchStrategy[Composition]:
    return st.lists(st.sampled_from(notes), min_size=1, max_size=14, unique=True).map(tuple)


def rising(notes: Composition) -> Composition:
    return tuple(sorted(notes, key=lambda n: n.pitch))


compositions = st.one_of(
    draws(list(ALL_NOTES)),
    draws(list(ALL_NOTES)).map(rising),
    draws(list(ALL_NOTES)).map(lambda c: tuple({n.pitch: n for n in rising(c)}.values())),
    draws(OF_FEW),
    draws(EIGHTH_NOTES),
    draws(EIGHTH_NOTES).map(lambda c: rising(c)[::-1]),
    st.permutations([n for n in OF_FEW if n.eighths == 2 or PITCHES[n.pitch] == "D"]).map(tuple),
)
rulings_used = st.sampled_from(ALL_RULINGS)
wins = st.integers(0, 8)


def four_fall(notes: Composition) -> bool:
    return (
        len(notes) == 4
        and len({n.eighths for n in notes}) == 1
        and all(a.pitch > b.pitch for a, b in pairwise(notes))
    )


def pitches(notes: Composition) -> list[str]:
    return [PITCHES[n.pitch] for n in notes]


# Each condition once more, said as plainly as can be.
Plain = Callable[[Composition, int, Rulings], bool]
PLAIN: dict[int, Plain] = {
    1: lambda c, _, __: sum(n.eighths for n in c) % 8 == 0,
    2: lambda c, _, __: sum(n.sharp for n in c) > sum(not n.sharp for n in c),
    3: lambda c, _, __: all(a.pitch < b.pitch for a, b in pairwise(c)),
    4: lambda c, _, r: any(map(four_fall, combinations(c, 4)
        if r.descending == "anywhere" else [c[i : i + 4] for i in range(len(c))])),
    5: lambda c, _, __: any(pitches(c).count(p) == 4 for p in PITCHES),
    6: lambda c, _, r: any(abs(a.pitch - b.pitch) == 6 for a, b in (
        combinations(c, 2) if r.tritone == "any two" else pairwise(c))),
    7: lambda c, _, __: len(c) > 1 and c[0].pitch == c[-1].pitch,
    8: lambda _, most, __: most >= 5,
    9: lambda c, _, r: (sum(n.eighths == 1 for n in c) in (
        {8} if r.eighths == "exactly" else range(8, 13))),
    10: lambda c, _, __: "E" not in pitches(c),
    11: lambda c, _, __: any(pitches(c)[i : i + 4] == list("DEAD") for i in range(len(c))),
    12: lambda c, _, __: any(set(pitches(c)) <= {PITCHES[p] for p in key}
        for key in KEYS.values()),
}  # fmt: skip


@given(compositions, wins, rulings_used)
def test_judge_all__agrees_with_the_plain_definitions(
    notes: Composition, most: int, rulings: Rulings
) -> None:
    expected = {number for number, holds in PLAIN.items() if holds(notes, most, rulings)}
    assert fulfilled(notes, most, rulings) == expected


@given(compositions, wins, rulings_used, st.data())
def test_judge_all__order_matters_to_five_only(
    notes: Composition, most: int, rulings: Rulings, data: st.DataObject
) -> None:
    other = tuple(data.draw(st.permutations(notes)))
    changed = fulfilled(notes, most, rulings) ^ fulfilled(other, most, rulings)
    assert changed <= {3, 4, 6, 7, 11}


@given(compositions, wins, rulings_used)
def test_judge_all__some_never_stand_together(
    notes: Composition, most: int, rulings: Rulings
) -> None:
    found = fulfilled(notes, most, rulings)
    for never in ({3, 4}, {3, 5}, {3, 7}, {3, 11}, {9, 12}, {10, 11}, {2, 11, 12}):
        assert not never <= found


# What the notes at the positions must be, alone, to prove each condition that names some.
PROOF: dict[int, Callable[[Composition], bool]] = {
    2: lambda c: all(n.sharp for n in c),
    4: four_fall,
    5: lambda c: len(c) == 4 and len({n.pitch for n in c}) == 1,
    6: lambda c: len(c) == 2 and abs(c[0].pitch - c[1].pitch) == 6,
    7: lambda c: len(c) == 2 and c[0].pitch == c[1].pitch,
    9: lambda c: len(c) >= 8 and all(n.eighths == 1 for n in c),
    11: lambda c: pitches(c) == list("DEAD"),
}


@given(compositions, wins, rulings_used)
def test_judge_all__positions_prove_it(notes: Composition, most: int, rulings: Rulings) -> None:
    for condition, evidence in zip(CONDITIONS, judge_all(notes, most, rulings), strict=True):
        at = evidence.positions
        assert evidence.why
        if not evidence.fulfilled or condition.number not in PROOF:
            assert at == ()
            continue
        assert list(at) == sorted(set(at))
        assert PROOF[condition.number](tuple(notes[i] for i in at))
        neighbours = {
            4: rulings.descending == "in a row",
            6: rulings.tritone == "neighbours",
            11: True,
        }
        if neighbours.get(condition.number):
            assert at == tuple(range(at[0], at[0] + len(at)))
        if condition.number == 7:
            assert at == (0, len(notes) - 1)
        if condition.number == 2:
            assert len(at) * 2 > len(notes)
