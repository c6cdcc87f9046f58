"""Shares, points, ranks, the winner and the Elimination Candidate (R17, R20 to R32)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest

from sheets_host.game.auction import Slip
from sheets_host.game.ledger import settle
from sheets_host.game.match import Handed, Match, Player
from sheets_host.game.notes import ALL_NOTES, Note, readings
from sheets_host.game.rulings import LOTS, ROUNDS, Rulings
from sheets_host.game.scoring import Result, result_of, share, under_other_rulings
from sheets_host.game.stages import Stage
from sheets_host.host.verbs import Wish, sync
from tests.playing import bid, close, compose, context, enrol, game, look, play_on, refresh, setting


def notes(text: str) -> tuple[Note, ...]:
    """Return notes between blanks, as in ``C#q Dw``."""
    return tuple(readings(word)[0] for word in text.split())


@dataclass(frozen=True)
class Hand:
    """What a player of a made-up match won, in the order of their composition.

    how: as in `Handed`. streak: how many of the notes were won in round 1, the rest one a round.
    """

    text: str = ""
    how: str = "handed in"
    withdrawn: bool = False
    streak: int | None = None

    @property
    def notes(self) -> tuple[Note, ...]:
        return notes(self.text)


def match_of(hands: Mapping[str, Hand | str], **rulings: str) -> Match:
    """Return a finished match in which these hands were won, each lot for a bid of 1.

    Hands share lots of the rounds from 1 to 6 as evenly as their notes allow, so that nobody
    wins five in a round unless `streak` says so.
    """
    players = {name: h if isinstance(h, Hand) else Hand(h) for name, h in hands.items()}
    rounds: dict[int, list[tuple[Note, str]]] = {r: [] for r in range(1, ROUNDS + 1)}
    mine: dict[tuple[int, str], int] = {}
    for name, hand in players.items():
        for note in hand.notes[: hand.streak or 0]:
            rounds[1].append((note, name))
            mine[1, name] = mine.get((1, name), 0) + 1
    for name, hand in players.items():
        for note in hand.notes[hand.streak or 0 :]:
            fits = [r for r in rounds if len(rounds[r]) < LOTS]
            best = min(fits, key=lambda r: (mine.get((r, name), 0), len(rounds[r])))
            rounds[best].append((note, name))
            mine[best, name] = mine.get((best, name), 0) + 1
    held = {note for lots in rounds.values() for note, _ in lots}
    spare = [note for note in ALL_NOTES if note not in held]
    deals, slips = {}, {}
    for round_, lots in rounds.items():
        dealt = [note for note, _ in lots]
        dealt += [spare.pop() for _ in range(LOTS - len(dealt))]
        deals[round_] = tuple(dealt)
        for name in players:
            won = {lot: 1 for lot, (_, winner) in enumerate(lots, 1) if winner == name}
            slips[round_, name] = Slip(won)
    return Match(
        seats=tuple(players),
        players=tuple(Player(n, 0, h.withdrawn) for n, h in players.items()),
        rulings=Rulings(**rulings),
        deals=deals,
        slips=slips,
        compositions={
            n: Handed(h.how, h.notes if h.how == "handed in" else ()) for n, h in players.items()
        },
        closed=dict.fromkeys(tuple(Stage)[:7], "2026-03-01T18:00:00Z"),
        fixed=True,
    )


def score(
    hands: Mapping[str, Hand | str],
    *,
    winner_ruling: str | None = None,
    choice: str | None = None,
    **rulings: str,
) -> Result:
    match = match_of(hands, **rulings)
    match = replace(match, winner_ruling=winner_ruling, choice=choice)
    return result_of(match, settle(match))


def points(result: Result) -> dict[str, int]:
    return {card.player: card.points for card in result.cards}


def ranks(result: Result) -> dict[str, int]:
    return {card.player: card.rank for card in result.cards}


# --- shares ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("worth", "holders", "each"),
    [(14, 0, 0), (14, 1, 14), (14, 2, 7), (14, 3, 4), (4, 5, 0), (4, 4, 1), (10, 3, 3),
     (8, 3, 2), (6, 6, 1), (12, 5, 2)],
)  # fmt: skip
def test_share__drops_the_remainder(worth: int, holders: int, each: int) -> None:
    assert share(worth, holders) == each


def test_result__three_share_14_and_get_4_each() -> None:
    fall = {"Ann": "Aq Gq Fq Dq Ew", "Bob": "Ah Gh Fh Dh Eq", "Cy": "Aw Gw Fw Dw Ee"}
    result = score(fall)
    assert result.holders[3] == ("Ann", "Bob", "Cy")
    assert result.each[3] == 4
    assert {card.points_by_condition[3] for card in result.cards} == {4}


def test_result__five_share_4_and_get_nothing() -> None:
    ends = {
        "Ann": "Cq Gq Dq Eq Cw",
        "Bob": "Fq Aq Dh Eh Fw",
        "Cy": "C#q Gh De Ee C#w",
        "Dan": "D#q Gw Ae Ge D#w",
        "Eve": "F#q Ah Bq Be F#w",
    }
    result = score(ends)
    assert len(result.holders[6]) == 5
    assert result.each[6] == 0
    assert all(7 in card.fulfilled for card in result.cards)
    assert {card.points_by_condition[6] for card in result.cards} == {0}


def test_result__points_are_the_sum_and_8_of_them_a_garnet() -> None:
    result = score({"Ann": "Eq F#q G#q Aq Bq", "Bob": "Cq Ce Dq Ew Fq", "Cy": "F#w Cw Gw Ge Aw"})
    assert result.card("Ann").fulfilled == (3, 12)
    assert result.card("Ann").points == 10 + 6
    assert result.card("Cy").points == 6 + 6 + 6
    assert [card.earned for card in result.cards] == [2, 0, 2]  # R17


@pytest.mark.parametrize(("streak", "fulfilled"), [(5, (3, 8)), (4, (3,))])
def test_result__five_won_in_one_round(streak: int, fulfilled: tuple[int, ...]) -> None:
    result = score({"Ann": Hand("Cq Dq Eq Fq Gq", streak=streak)})
    assert result.card("Ann").fulfilled == fulfilled


# --- short, missing and withdrawn ----------------------------------------------------------------

FULL = "Gq Aq Bq Cq Dq"  # 10 and 12
SHORT = "F#w Gw Aw Bw"  # 1, 3, 10 and 12, if it counts


@pytest.mark.parametrize(
    ("switch", "holders", "each", "ann"),
    [("no", ("Ann",), 12, 18), ("yes", ("Ann", "Bob"), 6, 9)],
)
def test_short_compositions__share_only_by_the_switch(
    switch: str, holders: tuple[str, ...], each: int, ann: int
) -> None:
    result = score({"Ann": FULL, "Bob": SHORT}, short_share=switch)
    assert (result.holders[11], result.each[11]) == (holders, each)
    assert points(result) == {"Ann": ann, "Bob": 0}  # R21, R22
    assert result.card("Bob").fulfilled == ((1, 3, 10, 12) if switch == "yes" else ())


@pytest.mark.parametrize("switch", ["no", "yes"])
@pytest.mark.parametrize("empty", [Hand(), Hand("", "nothing")])
def test_short_compositions__an_empty_one_fulfils_nothing(switch: str, empty: Hand) -> None:
    result = score({"Ann": FULL, "Bob": empty}, short_share=switch)
    assert result.card("Bob").fulfilled == ()
    assert result.holders[9] == ("Ann",)


@pytest.mark.parametrize("how", ["nothing", "void", "without", "withdrawn"])
@pytest.mark.parametrize("switch", ["no", "yes"])
def test_not_handed_in__scores_nothing_and_holds_nothing(how: str, switch: str) -> None:
    result = score({"Ann": FULL, "Bob": Hand("Bw Ah F#q Gq Ew", how)}, short_share=switch)
    card = result.card("Bob")
    assert (card.points, card.fulfilled, card.composition, card.tie_notes) == (0, (), None, ())
    assert result.each[11] == 12


NOTHING = "Cq Ce Dq Ew Fq"  # fulfils none


def test_not_handed_in__with_five_notes_no_note_counts_at_a_tie() -> None:
    result = score({"Ann": NOTHING, "Bob": Hand("Bw Bh Gq Fh Ah", "void")})
    assert points(result) == {"Ann": 0, "Bob": 0}
    assert (result.winner, result.decided_by) == ("Ann", "highest pitch")


@pytest.mark.parametrize("how", ["nothing", "void", "without"])
def test_not_handed_in__with_fewer_the_notes_held_count_at_a_tie(how: str) -> None:
    result = score({"Ann": NOTHING, "Bob": Hand("Bw Bh Gq Fh", how)})
    assert points(result) == {"Ann": 0, "Bob": 0}
    assert (result.winner, result.decided_by) == ("Bob", "highest pitch")  # R20, R26


def test_withdrawn__is_neither_winner_nor_candidate() -> None:
    hands: dict[str, Hand | str] = {
        "Ann": FULL,
        "Bob": NOTHING,
        "Cy": Hand("Bw Bh Be Gh Fw", "withdrawn", True),
    }
    result = score(hands)
    assert (result.winner, result.candidate) == ("Ann", "Bob")
    assert result.card("Cy").points == 0
    assert result.choice_among == ()


def test_withdrawn__a_composition_of_theirs_would_not_count() -> None:
    result = score({"Ann": FULL, "Cy": Hand("Gh Ah Bh Ch Dh", withdrawn=True)})
    assert result.holders[11] == ("Ann",)
    assert result.each[11] == 12


def test_withdrawn__all_of_them_leave_nobody_to_win() -> None:
    result = score({"Ann": Hand(FULL, withdrawn=True), "Bob": Hand(withdrawn=True)})
    assert (result.winner, result.winner_among) == (None, ())
    assert (result.candidate, result.choice_among) == (None, ())


# --- switches ------------------------------------------------------------------------------------

EIGHTHS = "Ce C#e De D#e Ee Fe F#e Ge G#e"


@pytest.mark.parametrize(
    ("name", "value", "hand", "fulfilled"),
    [
        ("descending", "in a row", "Bq De Aq Eh Gq Cw Fq", ()),
        ("descending", "anywhere", "Bq De Aq Eh Gq Cw Fq", (4,)),
        ("tritone", "neighbours", "Cq Dq F#q Ge Aq", (3, 10, 12)),
        ("tritone", "any two", "Cq Dq F#q Ge Aq", (3, 6, 10, 12)),
        ("eighths", "at least", EIGHTHS, (3, 9)),
        ("eighths", "exactly", EIGHTHS, (3,)),
        ("short_share", "no", SHORT, ()),
        ("short_share", "yes", SHORT, (1, 3, 10, 12)),
        ("announced", "all bids", "Cq Dq F#q Ge Aq", (3, 10, 12)),
        ("unfixed", "void", "Cq Dq F#q Ge Aq", (3, 10, 12)),
    ],
)
def test_switch__decides(name: str, value: str, hand: str, fulfilled: tuple[int, ...]) -> None:
    assert score({"Ann": hand, "Bob": NOTHING}, **{name: value}).card("Ann").fulfilled == fulfilled


def test_under_other_rulings__says_what_each_switch_would_change() -> None:
    match = match_of({"Ann": "Cq Dq F#q Ge Aq", "Bob": SHORT})
    others = under_other_rulings(match)
    assert set(others) == {
        ("Short compositions share", "yes"),
        ("Descending run", "anywhere"),
        ("Tritone", "any two"),
        ("Eight eighths", "exactly"),
    }
    assert points(others["Tritone", "any two"])["Ann"] == 10 + 6 + 6 + 12
    assert points(others["Short compositions share", "yes"])["Ann"] == 5 + 3 + 6


# --- the winner ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hands", "winner", "decided_by"),
    [
        ({"Ann": FULL, "Bob": NOTHING}, "Ann", "points"),
        ({"Ann": FULL}, "Ann", "points"),
        ({"Ann": ""}, "Ann", "points"),
        # Equal points: the highest pitch, wherever it stands in the composition.
        ({"Ann": "Cq Ce Dq Ew Fq", "Bob": "Gq Ge Dh Eq Fe"}, "Bob", "highest pitch"),
        # The same pitch: the longest note of it; what else is held does not matter.
        ({"Ann": "Gq Ce Dw Ew Ch", "Bob": "Ge Gh Dh Eq De"}, "Bob", "longest note"),
        # More notes of the highest pitch, or longer ones of another, do not help.
        ({"Ann": "Gw Ce Dw Eh De", "Bob": "Gh Ge Gq Ew Dh"}, "Ann", "longest note"),
        # Short compositions take part at a tie on 0 points (R26).
        ({"Ann": NOTHING, "Bob": "Be"}, "Bob", "highest pitch"),
        ({"Ann": "Be", "Bob": "Bq"}, "Bob", "longest note"),
        ({"Ann": "", "Bob": "Ce"}, "Bob", "highest pitch"),
    ],
)
def test_winner__tie_breaks(hands: Mapping[str, str], winner: str, decided_by: str) -> None:
    for order in (hands, dict(reversed(list(hands.items())))):
        result = score(order)
        assert (result.winner, result.decided_by) == (winner, decided_by)
        assert result.winner_among == ()


def test_winner__more_points_win_whatever_the_notes() -> None:
    result = score({"Ann": "Cq Dq Eq Fq Gq", "Bob": "Bw Be Eh Ew Fe"})
    assert points(result) == {"Ann": 10, "Bob": 0}
    assert (result.winner, result.decided_by) == ("Ann", "points")


def test_winner__without_any_notes_the_host_rules() -> None:
    hands: dict[str, Hand | str] = {
        "Ann": "",
        "Bob": "",
        "Cy": Hand("Bw Bh Gq Fh Ah", "void"),
        "Dan": Hand("", "nothing"),
    }
    result = score(hands)
    assert (result.winner, result.winner_among) == (None, ("Ann", "Bob", "Cy", "Dan"))
    assert (result.candidate, result.choice_among) == (None, ())
    ruled = score(hands, winner_ruling="Bob")
    assert (ruled.winner, ruled.decided_by, ruled.winner_among) == ("Bob", "the host's ruling", ())
    assert ruled.choice_among == ("Ann", "Cy", "Dan")


@pytest.mark.parametrize("ruling", ["Bob", "Zoe"])
def test_winner__a_ruling_cannot_overrule_the_notes(ruling: str) -> None:
    result = score({"Ann": FULL, "Bob": NOTHING}, winner_ruling=ruling)
    assert (result.winner, result.decided_by) == ("Ann", "points")


def test_winner__a_ruling_for_someone_not_tied_decides_nothing() -> None:
    hands: dict[str, Hand | str] = {
        "Ann": "",
        "Bob": "",
        "Cy": Hand("Bw", withdrawn=True, how="withdrawn"),
    }
    assert score(hands, winner_ruling="Cy").winner_among == ("Ann", "Bob")


# --- last place ----------------------------------------------------------------------------------

LAST_TWO: Mapping[str, Hand | str] = {"Ann": FULL, "Bob": NOTHING, "Cy": "Gw Ge Eq Eh Fh"}


def test_candidate__has_the_fewest_points() -> None:
    result = score({"Ann": FULL, "Bob": NOTHING, "Cy": "Cw C#q D#q Ee Fh"})
    assert points(result) == {"Ann": 18, "Bob": 0, "Cy": 10}
    assert (result.candidate, result.choice_among) == ("Bob", ())


@pytest.mark.parametrize(
    ("choice", "candidate", "among"),
    [
        (None, None, ("Bob", "Cy")),
        ("Bob", "Bob", ()),
        ("Cy", "Cy", ()),
        ("Ann", None, ("Bob", "Cy")),  # never the winner's own name
        ("Zoe", None, ("Bob", "Cy")),
    ],
)
def test_candidate__at_a_tie_for_last_the_winner_chooses(
    choice: str | None, candidate: str | None, among: tuple[str, ...]
) -> None:
    result = score(LAST_TWO, choice=choice)
    assert (result.winner, result.candidate, result.choice_among) == ("Ann", candidate, among)


def test_candidate__the_winner_is_excepted_even_at_a_tie_of_all() -> None:
    hands = {"Ann": NOTHING, "Bob": "Gq Ge Dh Eq Fe"}
    result = score(hands)
    assert points(result) == {"Ann": 0, "Bob": 0}
    assert (result.winner, result.candidate, result.choice_among) == ("Bob", "Ann", ())


def test_candidate__a_choice_where_none_is_due_has_no_effect() -> None:
    result = score({"Ann": FULL, "Bob": NOTHING, "Cy": "Cw C#q D#q Ee Fh"}, choice="Cy")
    assert result.candidate == "Bob"


def test_candidate__nobody_where_one_plays_alone() -> None:
    assert score({"Ann": FULL}).candidate is None


# --- ranks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hands", "expected"),
    [
        ({"Ann": FULL, "Bob": NOTHING, "Cy": "Gw Ge Eq Eh Fh"}, {"Ann": 1, "Bob": 2, "Cy": 2}),
        # The winner alone is 1, also where points are equal.
        ({"Ann": NOTHING, "Bob": "Gq Ge Dh Eq Fe"}, {"Ann": 2, "Bob": 1}),
        ({"Ann": "", "Bob": "", "Cy": ""}, {"Ann": 1, "Bob": 1, "Cy": 1}),
        (
            {"Ann": FULL, "Bob": NOTHING, "Cy": "Gw Ge Eq Eh Fh", "Dan": "Cw C#q D#q Ee Fe"},
            {"Ann": 1, "Bob": 3, "Cy": 3, "Dan": 2},
        ),
    ],
)
def test_rank__equal_points_share_one(
    hands: Mapping[str, Hand | str], expected: Mapping[str, int]
) -> None:
    assert ranks(score(hands)) == expected


# --- through a game: the host's rulings ----------------------------------------------------------


def test_game__host_rules_on_the_winner_then_the_winner_chooses() -> None:
    store = game("Ann", "Bob", "Cy")
    play_on(store)
    assert look(store).result is not None
    setting(store, "Winner ruling", "Dan")
    assert [p.code for p in refresh(store).after.standing] == ["choice-outside"]
    setting(store, "Winner ruling", "bob")
    done = refresh(store).after
    assert done.result
    assert (done.result.winner, done.result.choice_among) == ("Bob", ("Ann", "Cy"))
    setting(store, "Elimination choice", "Bob")
    table = refresh(store).after
    assert [p.code for p in table.standing] == ["choice-outside"]
    setting(store, "Elimination choice", "Cy")
    done = refresh(store).after
    assert done.result
    assert (done.result.candidate, done.problems) == ("Cy", ())
    assert refresh(store).written == ()
    # What is recorded stands; another name afterwards is only noticed.
    setting(store, "Elimination choice", "Ann")
    done = refresh(store).after
    assert done.result
    assert done.result.candidate == "Cy"
    assert [p.code for p in done.problems] == ["choice-without-effect"]


def test_game__fewer_than_five_notes_owe_nothing() -> None:
    store = game("Ann", "Bob")
    bid(store, "Ann", 1, {1: 1, 2: 1, 3: 1, 4: 1})
    bid(store, "Bob", 1, {5: 1, 6: 1, 7: 1, 8: 1})
    close(store, 1)
    bid(store, "Bob", 2, {1: 1})
    for round_ in range(2, 7):
        close(store, round_)
    # While composing is open, who handed in nothing is only missing; at closing it matters (R20).
    assert (look(store).standing, look(store).silent) == ((), ("Ann", "Bob"))
    held = sync(store, Wish(close=Stage.COMPOSING), context())
    assert held.closed is None
    assert [(p.code, p.player) for p in held.before.standing] == [("not-handed-in", "Bob")]
    done = close(store, "final", void=True).after
    assert done.result
    assert done.result.card("Ann").tie_notes == done.ledger.notes("Ann")
    assert done.result.card("Bob").tie_notes == ()
    assert done.result.winner == "Ann"


def test_game__withdrawn_keeps_notes_and_owes_nothing() -> None:
    store = game("Ann", "Bob", "Cy")
    bid(store, "Bob", 1, dict.fromkeys(range(1, 9), 1))
    close(store, 1)
    enrol(store, "Bob", "Status", "withdrawn")
    bid(store, "Bob", 2, {1: 9})
    done = close(store, 2).after
    assert done.ledger.balances[2, "Bob"].bid == 0  # bids no more
    for round_ in range(3, 7):
        close(store, round_)
    assert len(look(store).ledger.notes("Bob")) == 8
    compose(store, "Bob", look(store).ledger.notes("Bob"))
    result = close(store, "final").after.result
    assert result
    assert result.card("Bob").points == 0
    assert "Bob" not in (*result.winner_among, result.winner, result.candidate)


def test_game__withdrawing_after_the_result_changes_nothing() -> None:
    store = game("Ann", "Bob")
    bid(store, "Ann", 1, {1: 1})
    result = play_on(store).after.result
    enrol(store, "Ann", "Status", "withdrawn")
    assert refresh(store).after.result == result
