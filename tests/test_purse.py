"""Tokens and garnets: what a slip may spend (R6, R12 to R15)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sheets_host.game.auction import Slip
from sheets_host.game.ledger import settle
from sheets_host.game.purse import Balance, Fault, Purse, faults
from tests.playing import bid, close, exchange, game, look, play_on

FEW, OVER = Fault.TOO_FEW_GARNETS, Fault.OVER_BUDGET


@pytest.mark.parametrize(
    ("used", "uses", "cost"),
    [(0, 0, 0), (0, 1, 1), (0, 2, 3), (0, 3, 7), (0, 4, 15), (1, 1, 2), (2, 1, 4), (3, 1, 8),
     (1, 2, 6), (3, 2, 24), (5, 0, 0)],
)  # fmt: skip
def test_cost__doubles_through_the_match(used: int, uses: int, cost: int) -> None:
    assert Purse(500, 100, used).cost(uses) == cost
    assert Purse(500, cost, used).affords(uses)
    assert uses == 0 or not Purse(500, cost - 1, used).affords(uses)


@given(st.integers(0, 12), st.lists(st.integers(0, 6), max_size=6))
def test_cost__is_the_same_however_the_uses_are_spread(before: int, uses: list[int]) -> None:
    purse, spent = Purse(500, 0, before), 0
    for count in uses:
        spent += purse.cost(count)
        purse = Purse(purse.tokens_after(count), 0, purse.used + count)
    assert (
        spent
        == Purse(500, 0, before).cost(sum(uses))
        == sum(2**nth for nth in range(before, before + sum(uses)))
    )
    assert purse.tokens == 500 + 10 * sum(uses)


@given(st.integers(0, 10**15), st.integers(0, 60), st.integers(0, 60))
def test_affords__agrees_with_the_cost(garnets: int, used: int, uses: int) -> None:
    purse = Purse(0, garnets, used)
    assert purse.affords(uses) == (purse.cost(uses) <= garnets)


@pytest.mark.parametrize("uses", [10**6, 10**15 - 1])
def test_affords__never_builds_a_huge_number(uses: int) -> None:
    assert not Purse(500, 10**14, 0).affords(uses)
    assert faults(Slip({}, uses), Purse(500, 10**14, 3)) == (FEW,)


@pytest.mark.parametrize(
    ("slip", "purse", "found"),
    [
        (Slip(), Purse(0, 0, 0), ()),
        (Slip({1: 500}), Purse(500, 0, 0), ()),
        (Slip({1: 501}), Purse(500, 0, 0), (OVER,)),
        (Slip({1: 250, 2: 251}), Purse(500, 0, 0), (OVER,)),
        (Slip(dict.fromkeys(range(1, 9), 63)), Purse(504, 0, 0), ()),
        (Slip(dict.fromkeys(range(1, 9), 63)), Purse(503, 0, 0), (OVER,)),
        (Slip({1: 0}), Purse(0, 0, 0), ()),
        (Slip({1: 1}), Purse(0, 0, 0), (OVER,)),
        # Exchanges count before the bids of their round (R14).
        (Slip({1: 510}, 1), Purse(500, 1, 0), ()),
        (Slip({1: 511}, 1), Purse(500, 1, 0), (OVER,)),
        # 1, 2 and 4 garnets, and one too few.
        (Slip({1: 530}, 3), Purse(500, 7, 0), ()),
        (Slip({}, 3), Purse(500, 6, 0), (FEW,)),
        (Slip({}, 1), Purse(500, 3, 2), (FEW,)),
        (Slip({}, 1), Purse(500, 4, 2), ()),
        (Slip({}, 1), Purse(500, 0, 0), (FEW,)),
        # What cannot be paid gives no tokens.
        (Slip({1: 500}, 3), Purse(500, 6, 0), (FEW,)),
        (Slip({1: 501}, 3), Purse(500, 6, 0), (FEW, OVER)),
        (Slip({1: 10**15 - 1}), Purse(500, 0, 0), (OVER,)),
    ],
)
def test_faults__of_a_slip(slip: Slip, purse: Purse, found: tuple[Fault, ...]) -> None:
    assert faults(slip, purse) == found


def test_balance__start_and_exchanged_less_bid_is_left() -> None:
    assert Balance(1, "Ann", 500, 20, 130).left == 390


# --- through a game ----------------------------------------------------------------------------


def test_match__everyone_pays_every_bid() -> None:
    store = game("Ann:3", "Bob")
    bid(store, "Ann", 1, {1: 20, 2: 7})
    bid(store, "Bob", 1, {1: 30, 3: 5})
    close(store, 1)
    balances = look(store).ledger.balances
    assert (balances[1, "Ann"].bid, balances[1, "Ann"].left) == (27, 473)  # R5: lost bids too
    assert (balances[1, "Bob"].bid, balances[1, "Bob"].left) == (35, 465)


def test_match__exchanges_double_from_round_to_round_and_for_each_player_apart() -> None:
    store = game("Ann:15", "Bob:3")
    for round_, uses in ((1, 1), (2, 2), (6, 1)):
        exchange(store, "Ann", round_, uses)
    exchange(store, "Bob", 2, 2)
    play_on(store)
    ledger = look(store).ledger
    left = {r: ledger.purse(r, "Ann").garnets for r in range(1, 8)}
    assert left == {1: 15, 2: 14, 3: 8, 4: 8, 5: 8, 6: 8, 7: 0}
    assert [ledger.balances[r, "Ann"].exchanged for r in range(1, 7)] == [10, 20, 0, 0, 0, 10]
    assert ledger.purse(7, "Bob") == Purse(520, 0, 2)


def test_match__tokens_may_all_be_spent_and_exchanged_anew() -> None:
    store = game("Ann:1")
    bid(store, "Ann", 1, {1: 500})
    close(store, 1)
    exchange(store, "Ann", 2, 1)
    bid(store, "Ann", 2, {1: 10})
    close(store, 2)
    assert look(store).ledger.purse(3, "Ann") == Purse(0, 0, 1)
    bid(store, "Ann", 3, {1: 0})
    close(store, 3)
    assert look(store).ledger.outcomes[3][0].winner == "Ann"


def test_settle__without_entries_nothing_is_charged() -> None:
    store = game("Ann", "Bob:2")
    play_on(store)
    ledger = settle(look(store).match)
    assert {b.bid for b in ledger.balances.values()} == {0}
    assert ledger.purse(7, "Ann").tokens == 500
    assert ledger.purse(7, "Bob").garnets == 2
