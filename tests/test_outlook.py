"""Hindsight, projection and reach: agreement with going through everything there is."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, combinations, permutations, product

import pytest

from sheets_host.game.auction import Outcome, Sale, Slip, draw
from sheets_host.game.best import best
from sheets_host.game.conditions import CONDITIONS, judge_all
from sheets_host.game.ledger import Ledger, settle
from sheets_host.game.match import Handed, Match, Player
from sheets_host.game.notes import ALL_NOTES, Note, readings
from sheets_host.game.outlook import Hindsight, Reach, hindsight, projection, reach
from sheets_host.game.rulings import DESCENDING, EIGHTHS, SHORT_SHARE, TRITONE, Rulings
from sheets_host.game.scoring import result_of
from sheets_host.game.stages import Stage

WORTHS = [condition.worth for condition in CONDITIONS]
ALL_RULINGS = tuple(
    Rulings(short_share=short, descending=run, tritone=tritone, eighths=eighths)
    for short, run, tritone, eighths in product(
        SHORT_SHARE.values, DESCENDING.values, TRITONE.values, EIGHTHS.values
    )
)


def named(rulings: Rulings) -> str:
    """Name rulings by what differs from the defaults."""
    usual = Rulings().named()
    return ", ".join(v for k, v in rulings.named().items() if v != usual[k]) or "defaults"


NAMES = ("Ann", "Bob", "Cem", "Dee")


def held(text: str) -> tuple[Note, ...]:
    return tuple(readings(word)[0] for word in text.split())


# --- matches made to measure -----------------------------------------------------------------------


def holding(
    hands: Mapping[str, Sequence[Note]],
    rulings: Rulings = Rulings(),
    *,
    coming: Sequence[Note] = (),
    hauls: Mapping[str, int] | None = None,
    withdrawn: Sequence[str] = (),
) -> tuple[Match, Ledger]:
    """Make a match in which players hold these notes, and only some are still to come.

    hauls: the most notes that a player won in one round, if not one a round.
    """
    owner = {note: name for name, notes in hands.items() for note in notes}
    outcomes = tuple(
        Outcome(1, note, Sale.WON if note in owner else Sale.NO_BIDS, owner.get(note), None, {})
        for note in ALL_NOTES
        if note not in coming
    )
    won = {}
    for name, notes in hands.items():
        most = (hauls or {}).get(name, min(len(notes), 1))
        rounds = {round_: (note,) for round_, note in enumerate(notes[most:], 2)}
        won[name] = {1: tuple(notes[:most]), **rounds}
    players = tuple(Player(name, 0, name in withdrawn) for name in hands)
    match = Match(tuple(hands), players, rulings)
    return match, replace(settle(match), outcomes={1: outcomes}, won=won)


def hand(rng: random.Random, size: int, apart_from: Sequence[Note] = ()) -> list[Note]:
    """Draw notes among which conditions are met more often than among any."""
    pitches = rng.choice([range(12), range(12), (2, 4, 9), (1, 3, 6, 8, 10, 11), (4, 6, 8, 9, 11),
                          rng.sample(range(12), 2)])  # fmt: skip
    durations = rng.choice([(1,), (1, 2), rng.sample((8, 4, 2, 1), 2), (8, 4, 2, 1), (8, 4, 2, 1)])
    near = [n for n in ALL_NOTES if n.pitch in pitches and n.eighths in durations]
    pool = [*rng.sample(near, len(near)), *rng.sample(ALL_NOTES, 48)]
    return [note for note in dict.fromkeys(pool) if note not in apart_from][:size]


def hands(rng: random.Random, *sizes: int) -> dict[str, list[Note]]:
    dealt: dict[str, list[Note]] = {}
    for name, size in zip(NAMES, sizes, strict=False):
        dealt[name] = hand(rng, size, list(chain.from_iterable(dealt.values())))
    return dealt


def played(seed: int, count: int, rounds: int = 6) -> Match:
    """Play these rounds with bids at random."""
    rng = random.Random(seed)
    names = [f"P{n}" for n in range(count)]
    deals: dict[int, tuple[Note, ...]] = {}
    for round_ in range(1, min(rounds + 1, 6) + 1):
        deals[round_] = draw(str(seed), round_, list(chain.from_iterable(deals.values())), {})
    slips = {
        (round_, name): Slip({lot: rng.randrange(11) for lot in range(1, 9) if rng.random() < 0.5})
        for round_ in range(1, rounds + 1)
        for name in names
    }
    players = tuple(Player(name) for name in names)
    closed = {Stage(round_): "" for round_ in range(1, rounds + 1)}
    return Match(tuple(names), players, Rulings(), deals, slips, closed=closed)


def fulfilled(order: Sequence[Note], most: int, rulings: Rulings) -> frozenset[int]:
    judged = zip(CONDITIONS, judge_all(tuple(order), most, rulings), strict=True)
    return frozenset(condition.number for condition, evidence in judged if evidence.fulfilled)


# --- hindsight -------------------------------------------------------------------------------------


@pytest.mark.parametrize("rulings", ALL_RULINGS, ids=named)
def test_hindsight__agrees_with_every_order(rulings: Rulings) -> None:
    rng = random.Random(str(rulings))
    for sizes in ((5, 6, 3, 7), (6, 5, 4, 0)):
        dealt = hands(rng, *sizes)
        match, ledger = holding(dealt, rulings, hauls={name: rng.choice((1, 5)) for name in NAMES})
        handed = {n: Handed("handed in", tuple(rng.sample(h, len(h)))) for n, h in dealt.items()}
        match = replace(match, compositions=handed)
        result = result_of(match, ledger)
        found = hindsight(match, ledger, result)
        assert set(found) == set(dealt)
        for name in ("Ann", "Bob"):  # their 120 or 720 orders do
            scored = {}
            for order in permutations(dealt[name]):
                met = fulfilled(order, ledger.most(name), rulings)
                if met not in scored:  # the whole match once for each set of conditions
                    other = {**handed, name: Handed("handed in", order)}
                    again = result_of(replace(match, compositions=other), ledger)
                    scored[met] = again.card(name).points
            points = max(scored.values())
            assert found[name].points == points
            assert found[name].left == points - result.card(name).points
            assert scored[fulfilled(found[name].order, ledger.most(name), rulings)] == points
            assert sorted(map(str, found[name].order)) == sorted(map(str, dealt[name]))


def scored(
    dealt: Mapping[str, str], handed: Mapping[str, Handed], withdrawn: Sequence[str] = ()
) -> Mapping[str, Hindsight]:
    notes = {name: held(text) for name, text in dealt.items()}
    match, ledger = holding(notes, withdrawn=withdrawn)
    match = replace(match, compositions=handed)
    return hindsight(match, ledger, result_of(match, ledger))


def test_hindsight__one_more_holder_halves_a_condition() -> None:
    # Ann can rise (10) without an E (6); Bob does not rise, but he has no E either.
    notes = {"Ann": "Aq Gh Fq Dq Ch", "Bob": "Cw Dw Fw Gh Ae"}
    alone = scored(notes, {"Bob": Handed("void")})["Ann"]
    assert (alone.points, alone.left, alone.order) == (16, 16, held("Ch Dq Fq Gh Aq"))
    bob = Handed("handed in", held("Ae Gh Fw Dw Cw"))
    assert scored(notes, {"Bob": bob})["Ann"].points == 10 + 3


def test_hindsight__keeps_the_composition_that_nothing_beats() -> None:
    mine = held("Cq Eh Fq Gq Ae")
    better = scored({"Ann": "Cq Eh Fq Gq Ae"}, {"Ann": Handed("handed in", mine[::-1])})["Ann"]
    assert better == Hindsight(10, mine, 10)
    other = held("Eh Dw Dq Ce Fq")  # of the ends, D and D: found in another order than `best` has
    first = scored({"Ann": "Eh Dw Dq Ce Fq"}, {"Ann": Handed("handed in", other)})["Ann"]
    assert first.points == first.left == 4
    mine = (first.order[-1], *first.order[1:-1], first.order[0])
    again = scored({"Ann": "Eh Dw Dq Ce Fq"}, {"Ann": Handed("handed in", mine)})["Ann"]
    assert again == Hindsight(4, mine, 0)


def test_hindsight__few_notes_nothing_handed_in_and_withdrawn() -> None:
    answers = scored(
        {"Ann": "Cq Dq Fq", "Bob": "Gq Aq Bq Ch Dh", "Cem": "Gh Ah Bh Cw Dw", "Dee": ""},
        {"Bob": Handed("nothing"), "Cem": Handed("withdrawn")},
        withdrawn=("Cem",),
    )
    assert set(answers) == {"Ann", "Bob", "Dee"}
    assert (answers["Ann"].points, answers["Ann"].left) == (0, 0)
    assert (answers["Dee"].points, answers["Dee"].order) == (0, ())
    assert answers["Bob"].points == answers["Bob"].left > 0


def test_hindsight__never_less_than_what_was_had() -> None:
    for seed in range(20):
        match = played(seed, 5)
        ledger = settle(match)
        rng = random.Random(seed)
        handed = {
            n: Handed("handed in", tuple(rng.sample(ledger.notes(n), len(ledger.notes(n)))))
            for n in match.names
        }
        match = replace(match, compositions=handed)
        result = result_of(match, ledger)
        for name, answer in hindsight(match, ledger, result).items():
            assert answer.left >= 0
            assert answer.points - answer.left == result.card(name).points


# --- projection ------------------------------------------------------------------------------------


@pytest.mark.parametrize("rulings", ALL_RULINGS, ids=named)
def test_projection__agrees_with_every_order_and_shares(rulings: Rulings) -> None:
    rng = random.Random(str(rulings))
    dealt = hands(rng, 5, 6, 3, 6)
    hauls = {name: rng.choice((1, 5)) for name in NAMES}
    match, ledger = holding(dealt, rulings, hauls=hauls, withdrawn=("Dee",))
    met = {}
    for name in ("Ann", "Bob", "Cem"):
        sets = {fulfilled(o, ledger.most(name), rulings) for o in permutations(dealt[name])}
        met[name] = max(
            sets, key=lambda s: (sum(WORTHS[n - 1] for n in s), len(s), [-n for n in sorted(s)])
        )
    sharing = {n: s for n, s in met.items() if n != "Cem" or rulings.short_share == "yes"}
    each = {c.number: c.worth // max(1, sum(c.number in s for s in sharing.values()))
            for c in CONDITIONS}  # fmt: skip
    expected = {name: sum(each[number] for number in met[name]) for name in ("Ann", "Bob")}
    assert projection(match, ledger) == {**expected, "Cem": 0}


def test_projection__open_entries_and_compositions_change_nothing() -> None:
    for rounds in (0, 2, 5, 6):
        match = played(1, 3, rounds)
        ledger = settle(match)
        projected, reached = projection(match, ledger), reach(match, ledger)
        nosy = replace(
            match,
            slips={**match.slips, (rounds + 1, "P1"): Slip(dict.fromkeys(range(1, 9), 400))},
            compositions={"P1": Handed("handed in", ledger.notes("P1"))},
        )
        assert projection(nosy, settle(nosy)) == projected
        assert reach(nosy, settle(nosy)) == reached
        assert any(projected.values()) == (rounds > 0)


def test_projection__order_of_players_changes_nothing() -> None:
    match = played(7, 6)
    turned = replace(match, players=match.players[::-1])
    assert projection(match, settle(match)) == projection(turned, settle(turned))
    assert reach(match, settle(match)) == reach(turned, settle(turned))


# --- reach -----------------------------------------------------------------------------------------


def by_going_through(
    notes: Sequence[Note], coming: Sequence[Note], most: int, rulings: Rulings
) -> dict[int, Reach]:
    """Try every set of the notes to come, and ask `best`, itself held to every order, of each."""
    can: dict[int, list[bool]] = {number: [] for number in range(1, 13)}
    for size in range(len(coming) + 1):
        for more in combinations(coming, size):
            final = (*notes, *more)
            for number, answers in can.items():
                only = [int(n == number) for n in range(1, 13)]
                met = best(final, max(most, size), rulings, only)[1]
                answers.append(len(final) >= 5 and number in met)
    return {
        number: Reach.SECURE if all(answers)
        else Reach.POSSIBLE if any(answers)
        else Reach.IMPOSSIBLE
        for number, answers in can.items()
    }  # fmt: skip


# What chance seldom deals: eight eighths, full bars for good, three or four durations of a pitch.
RARE = [
    ("Ce C#e De D#e Fe F#e Ge G#e", "Bw"),
    ("Ce C#e De D#e Fe F#e Ge", "Bw Be"),
    ("Cw Dw Ew Fw Gw", "Bw"),
    ("Dw Dh Dq Ee Fe", "De Bw"),
    ("Dw Dh Dq De Fe", "Bw"),
]


@pytest.mark.parametrize("rulings", ALL_RULINGS[:8], ids=named)  # sharing is no part of it
def test_reach__agrees_with_going_through_everything(rulings: Rulings) -> None:
    rng = random.Random(str(rulings))
    seen: set[tuple[int, Reach]] = set()
    situations = [(held(notes), held(coming)) for notes, coming in RARE]
    for _ in range(60):
        mine = hand(rng, rng.choice((0, 3, 4, 5, 5, 7, 8)))
        others = hand(rng, rng.choice((0, 0, 1, 2, 4, 5)), mine)
        situations.append((tuple(mine), tuple(others)))
    for notes, coming in situations:
        match, ledger = holding(
            {"Ann": notes}, rulings, coming=coming, hauls={"Ann": rng.choice((1, 5))}
        )
        expected = by_going_through(notes, coming, ledger.most("Ann"), rulings)
        found = reach(match, ledger)
        assert {number: row["Ann"] for number, row in found.items()} == expected, (notes, coming)
        seen.update(expected.items())
    # Agreement is only worth something where every answer turns up.
    assert len(seen) == 36, sorted(set(product(range(1, 13), Reach)) - seen)


TABLE = [
    ("five notes are needed", "Dw Dh Dq De", "", 5, Reach.IMPOSSIBLE),
    ("and may still come", "Dw Dh Dq De", "Cq", 5, Reach.POSSIBLE),
    ("all four durations stay", "Dw Dh Dq De F#q", "D#q Eq", 5, Reach.SECURE),
    ("an E can still spoil it", "Cq Dq Fq Gq Aq", "Ee Bq", 10, Reach.POSSIBLE),
    ("no E is left", "Cq Dq Fq Gq Aq", "Be Bq", 10, Reach.SECURE),
    ("an E is held for good", "Eq Dq Fq Gq Aq", "Be Bq", 10, Reach.IMPOSSIBLE),
    ("one pitch twice never rises", "Cq Cw Fq Gq Aq", "Be", 3, Reach.IMPOSSIBLE),
    ("the second D may come", "Dq Eq Ah Ge", "Dw", 11, Reach.POSSIBLE),
    ("no second D is left", "Dq Eq Ah Ge Cq", "Cw Bq", 11, Reach.IMPOSSIBLE),
    ("a bar is full, but an eighth may come", "Cw Dw Ew Fw Gw", "Ae", 1, Reach.POSSIBLE),
    ("a bar is full, and only wholes come", "Cw Dw Ew Fw Gw", "Aw", 1, Reach.SECURE),
    ("half a beat is over for good", "Cw Dw Ew Fw Ge", "Aw Bw", 1, Reach.IMPOSSIBLE),
    ("five lots are left to win", "", "Cq Dq Eq Fq Gq", 8, Reach.POSSIBLE),
    ("three sharps against two, and a natural left", "C#q D#q F#q Cq Dq", "Eq", 2, Reach.POSSIBLE),
    ("G and E major part ways at C and C#", "Gq C#q Aq Bq Ew", "Ae Be", 12, Reach.IMPOSSIBLE),
]


@pytest.mark.parametrize(
    ("notes", "coming", "number", "expected"),
    [row[1:] for row in TABLE],
    ids=[row[0] for row in TABLE],
)
def test_reach__by_hand(notes: str, coming: str, number: int, expected: Reach) -> None:
    match, ledger = holding({"Ann": held(notes)}, coming=held(coming))
    assert reach(match, ledger)[number]["Ann"] is expected


def test_reach__eight_eighths_can_be_overshot_only_exactly() -> None:
    notes = [note for note in ALL_NOTES if note.eighths == 1][:9]
    for eighths, expected in (("at least", Reach.SECURE), ("exactly", Reach.IMPOSSIBLE)):
        match, ledger = holding({"Ann": notes}, Rulings(eighths=eighths), coming=held("Bw"))
        assert reach(match, ledger)[9]["Ann"] is expected


def test_reach__leaves_out_who_withdrew() -> None:
    match, ledger = holding({"Ann": held("Cq"), "Bob": held("Dq")}, withdrawn=("Bob",))
    assert all(set(row) == {"Ann"} for row in reach(match, ledger).values())


def test_reach__secure_and_impossible_are_kept_to_the_end() -> None:
    for seed in range(15):
        whole = played(seed, 3)
        settled: dict[tuple[int, str], Reach] = {}
        for rounds in range(7):
            match = replace(
                whole,
                slips={k: v for k, v in whole.slips.items() if k[0] <= rounds},
                closed={Stage(r): "" for r in range(1, rounds + 1)},
            )
            ledger = settle(match)
            for number, row in reach(match, ledger).items():
                for name, now in row.items():
                    assert settled.get((number, name), now) is now
                    if now is not Reach.POSSIBLE:
                        settled[number, name] = now
                    if rounds == 6:
                        only = [int(n == number) for n in range(1, 13)]
                        met = best(ledger.notes(name), ledger.most(name), match.rulings, only)[1]
                        can = number in met and len(ledger.notes(name)) >= 5
                        assert now is (Reach.SECURE if can else Reach.IMPOSSIBLE)
