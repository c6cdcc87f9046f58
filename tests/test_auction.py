"""One round: who gains which note (R1 to R4), and the deal (R11)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sheets_host.game.auction import Outcome, Sale, Slip, draw, resolve
from sheets_host.game.notes import ALL_NOTES, BY_TEXT, Note
from sheets_host.game.rulings import LOTS, ROUNDS
from sheets_host.grid import Book
from sheets_host.stores.base import Write
from sheets_host.tabs import host_tabs
from tests.memory_store import MemoryStore
from tests.playing import bid, close, game, look, lot_of, refresh, setting, start

DEAL = ALL_NOTES[:LOTS]


def sold(bids: Mapping[str, int]) -> Outcome:
    """Settle lot 1 of a round in which nothing else is bid on."""
    return resolve(DEAL, {name: Slip({1: tokens}) for name, tokens in bids.items()})[0]


@pytest.mark.parametrize(
    ("bids", "sale", "winner", "highest"),
    [
        ({}, Sale.NO_BIDS, None, None),
        ({"Ann": 5}, Sale.WON, "Ann", 5),
        ({"Ann": 0}, Sale.WON, "Ann", 0),  # R2
        ({"Ann": 5, "Bob": 4}, Sale.WON, "Ann", 5),
        ({"Ann": 0, "Bob": 1}, Sale.WON, "Bob", 1),
        ({"Ann": 5, "Bob": 5}, Sale.TIE, None, 5),  # R3
        ({"Ann": 0, "Bob": 0}, Sale.TIE, None, 0),
        ({"Ann": 5, "Bob": 5, "Cy": 4}, Sale.TIE, None, 5),  # nobody beneath gains it
        ({"Ann": 4, "Bob": 4, "Cy": 5}, Sale.WON, "Cy", 5),  # a tie beneath does not matter
        ({"Ann": 5, "Bob": 5, "Cy": 5}, Sale.TIE, None, 5),
    ],
)
def test_resolve__highest_bid(
    bids: Mapping[str, int], sale: Sale, winner: str | None, highest: int | None
) -> None:
    outcome = sold(bids)
    assert (outcome.sale, outcome.winner, outcome.bid) == (sale, winner, highest)
    assert outcome.bids == bids


def test_resolve__every_lot_by_itself() -> None:
    slips = {"Ann": Slip({1: 3, 2: 3, 8: 1}), "Bob": Slip({2: 3, 3: 0}), "Cy": Slip()}
    outcomes = resolve(DEAL, slips)
    assert [o.lot for o in outcomes] == list(range(1, 9))
    assert [o.note for o in outcomes] == list(DEAL)
    assert [o.winner for o in outcomes] == ["Ann", None, "Bob", None, None, None, None, "Ann"]


@given(st.dictionaries(st.sampled_from("ABCDEF"), st.integers(0, 3)), st.randoms())
def test_resolve__does_not_mind_the_order_of_players(bids: dict[str, int], chance: object) -> None:
    backwards = dict(reversed(bids.items()))
    assert sold(bids) == sold(backwards)
    holders = [name for name, tokens in bids.items() if tokens == max(bids.values())]
    assert sold(bids).winner == (holders[0] if len(holders) == 1 else None)


# --- the deal ----------------------------------------------------------------------------------


def deal_all(seed: str, chosen: Mapping[int, tuple[Note, ...]]) -> list[tuple[Note, ...]]:
    deals: list[tuple[Note, ...]] = []
    for round_ in range(1, ROUNDS + 1):
        gone = [note for deal in deals for note in deal]
        deals.append(draw(seed, round_, gone, chosen))
    return deals


@given(st.text(), st.permutations(ALL_NOTES), st.sets(st.integers(1, ROUNDS)))
def test_draw__deals_each_note_once_and_leaves_the_chosen_out(
    seed: str, notes: list[Note], rounds: set[int]
) -> None:
    chosen = {r: tuple(notes[(r - 1) * LOTS : r * LOTS]) for r in rounds}
    deals = deal_all(seed, chosen)
    assert all(len(deal) == LOTS for deal in deals)
    assert {note for deal in deals for note in deal} == set(ALL_NOTES)
    assert all(deals[r - 1] == chosen[r] for r in rounds)
    assert deal_all(seed, chosen) == deals


def test_draw__the_seed_decides() -> None:
    assert len({tuple(deal_all(str(seed), {})) for seed in range(20)}) == 20
    # The same on every system, for ever: a game rehearsed today repeats tomorrow.
    assert [str(note) for note in draw("test", 1, (), {})] == [
        "A eighth", "D# quarter", "E whole", "G# half",
        "A whole", "B half", "B whole", "C eighth",
    ]  # fmt: skip


def test_draw__looks_even() -> None:
    counts = dict.fromkeys(ALL_NOTES, 0)
    for seed in range(1200):
        for note in draw(str(seed), 1, (), {}):
            counts[note] += 1
    assert all(120 < count < 290 for count in counts.values())  # 200 each, by chance


# --- through a game ----------------------------------------------------------------------------

FIRST = ("C whole", "D whole", "E whole", "F whole", "G whole", "A whole", "B whole", "C half")
LAST = tuple(f"{pitch} eighth" for pitch in ["C", "D", "E", "F", "G", "A", "B", "C#"])


def test_deal__chosen_rounds_are_dealt_as_chosen_and_left_out_before() -> None:
    store = MemoryStore()
    blank = (
        host_tabs.settings({"Round 1 notes": ", ".join(FIRST), "Round 6 notes": ", ".join(LAST)}),
        host_tabs.players([["Ann"]]),
    )
    store.write(Write(blank, Book((), {}), "", "", "template"))
    start(store, seed="")
    assert tuple(map(str, look(store).match.deals[1])) == FIRST
    for round_ in range(1, 6):
        drawn = {str(note) for note in look(store).match.deals[round_]}
        assert not drawn & set(LAST)
        close(store, round_)
    deals = look(store).match.deals
    assert tuple(map(str, deals[6])) == LAST
    assert {note for deal in deals.values() for note in deal} == set(ALL_NOTES)


def test_deal__what_is_chosen_for_a_dealt_round_takes_nothing_from_the_others() -> None:
    store = game("Ann")
    setting(store, "Round 1 notes", ", ".join(LAST))
    dealt = look(store).match.deals[1]
    assert "changed-after-dealing" in [p.code for p in look(store).problems]
    for round_ in range(1, 6):
        close(store, round_)
    deals = look(store).match.deals
    assert deals[1] == dealt
    assert {note for deal in deals.values() for note in deal} == set(ALL_NOTES)


def test_deal__notes_of_later_rounds_are_written_nowhere() -> None:
    store = game("Ann")
    for round_ in range(1, 6):
        close(store, round_)
        dealt = {n for deal in look(store).match.deals.values() for n in deal}
        later = [str(n) for n in ALL_NOTES if n not in dealt]
        assert len(later) == 8 * (6 - round_ - 1)
        titles = store.read(()).titles
        shown = " ".join(c.shown for t in titles for c in store.grid(t).cells.values())
        assert not [note for note in later if note in shown]


def test_deal__a_note_already_dealt_cannot_be_chosen() -> None:
    store = game("Ann")
    gone = str(look(store).match.deals[1][0])
    setting(store, "Round 2 notes", ", ".join([gone, *(n for n in LAST if n != gone)][:8]))
    assert "already-dealt" in [p.code for p in look(store).standing]


def test_round__unsold_and_tied_notes_are_not_offered_again() -> None:
    store = game("Ann", "Bob")
    tied, unsold = (str(note) for note in look(store).match.deals[1][:2])
    bid(store, "Ann", 1, {1: 7})
    bid(store, "Bob", 1, {1: 7})
    for round_ in range(1, 7):
        close(store, round_)
    assert lot_of(store, tied) == (1, 1)
    assert lot_of(store, unsold) == (1, 2)
    assert [n for deal in look(store).match.deals.values() for n in deal].count(
        BY_TEXT[tied]
    ) == 1  # R4


@pytest.mark.parametrize(
    ("typed", "won"),
    [(None, False), ("-", False), ("–", False), ("—", False), ("pass", False), ("PASS", False),
     ("x", False), ("No Bid", False), (0, True), ("0", True), (5, True), (5.0, True), (" 5 ", True),
     ("５", True)],
)  # fmt: skip
def test_round__blank_is_no_bid_and_0_is_one(typed: str | float | None, won: bool) -> None:
    store = game("Ann")
    bid(store, "Ann", 1, {1: typed})
    table = refresh(store).after
    assert not table.standing
    notices = [p.code for p in table.problems]
    assert ("read-as-blank" in notices) == (isinstance(typed, str) and not won)
    close(store, 1)
    assert look(store).ledger.outcomes[1][0].winner == ("Ann" if won else None)


@pytest.mark.parametrize(
    ("before", "after", "noticed"),
    [(None, 0, True), (0, None, True), (0, "0", False), (5, 5.0, False), (5, " 5 ", False),
     (5, 6, True), (5, None, True), (5, "pass", True), (None, "pass", False), ("x", None, False)],
)  # fmt: skip
def test_round__changed_after_closing_is_noticed_and_the_recorded_bid_stands(
    before: str | float | None, after: str | float | None, noticed: bool
) -> None:
    store = game("Ann")
    bid(store, "Ann", 1, {1: before})
    outcome = close(store, 1).after.ledger.outcomes[1]
    bid(store, "Ann", 1, {1: after})
    table = refresh(store).after
    codes = [p.code for p in table.problems]
    assert codes == ["changed-after-closing"] * noticed  # R30
    assert table.ledger.outcomes[1] == outcome
