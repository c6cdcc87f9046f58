"""What changed after it was recorded, and players who come, go, or are replaced."""

from __future__ import annotations

import pytest

from sheets_host.game.stages import Stage
from sheets_host.host.reopening import reopen
from sheets_host.host.verbs import Wish, sync, verify
from sheets_host.tabs.problems import Problem, Severity
from tests.memory_store import MemoryStore, Typed
from tests.playing import (
    bid,
    close,
    compose,
    context,
    enrol,
    exchange,
    game,
    look,
    play_on,
    refresh,
    setting,
    start,
)


def told(store: MemoryStore, code: str) -> list[Problem]:
    return [problem for problem in look(store).problems if problem.code == code]


def rename(store: MemoryStore, row: int, name: str, formerly: str) -> None:
    """Do as the host does: type the new name over the old, and the old one into Formerly."""
    store.type("Players", f"F{row}", formerly)
    store.type("Players", f"A{row}", name)


# --- entries changed after closing (R30) ---------------------------------------------------------

LATE: list[tuple[Typed, Typed, str, str]] = [
    (12, 40, "12", "40"),
    (12, None, "12", "nothing"),
    (None, 5, "no entry", "5"),
    (12, "twelve", "12", "twelve"),
    (0, None, "0", "nothing"),
    (None, 0, "no entry", "0"),
]


@pytest.mark.parametrize(("before", "now", "recorded", "present"), LATE)
def test_late_bid__is_listed_with_both_values_and_does_not_count(
    before: Typed, now: Typed, recorded: str, present: str
) -> None:
    store = game("Ann", "Bob")
    bid(store, "Ann", 1, {3: before})
    close(store, 1)
    ledger = look(store).ledger
    bid(store, "Ann", 1, {3: now})
    (notice,) = told(store, "changed-after-closing")
    assert notice.severity is Severity.NOTICE
    assert (notice.tab, notice.player) == ("Bids", "Ann")
    assert store.at("Bids", notice.cell).shown == ("" if now is None else str(now))
    assert f"recorded: {recorded}, now in the cell: {present}" in notice.message
    assert look(store).ledger == ledger
    row = next(r for r in refresh(store).after.problems if r.code == "changed-after-closing")
    assert row.message in {line["Problem"] for line in store.table("Checks") if "Problem" in line}


@pytest.mark.parametrize(
    ("before", "now"), [(12, "12"), (12, " 12 "), (None, "-"), (None, "pass"), ("x", None)]
)
def test_late_bid__that_says_the_same_in_another_way_is_not_listed(
    before: Typed, now: Typed
) -> None:
    store = game("Ann", "Bob")
    bid(store, "Ann", 1, {3: before})
    close(store, 1)
    bid(store, "Ann", 1, {3: now})
    assert told(store, "changed-after-closing") == []


def test_late_exchange_and_composition__are_listed() -> None:
    store = game("Ann:3", "Bob")
    exchange(store, "Ann", 1, 1)
    bid(store, "Ann", 1, {1: 5, 2: 5})
    play_on(store)
    exchange(store, "Ann", 1, None)
    compose(store, "Ann", list(reversed(look(store).ledger.notes("Ann"))))
    messages = [notice.message for notice in told(store, "changed-after-closing")]
    assert len(messages) == 3
    assert messages[0].startswith("exchanges: changed after round 1 was closed; recorded: 1,")
    assert messages[1].startswith("note 1: changed after composing was closed; recorded: ")


def test_struck_out_entry__that_still_stands_in_its_cell_is_not_listed() -> None:
    store = game("Ann", "Bob")
    bid(store, "Ann", 1, {1: "lots"})
    close(store, 1, void=True)
    assert told(store, "changed-after-closing") == []
    bid(store, "Ann", 1, {1: 5})
    (notice,) = told(store, "changed-after-closing")
    assert "recorded: lots, now in the cell: 5" in notice.message


def test_early_entry__is_a_notice_and_counts_once_its_stage_is_open() -> None:
    store = game("Ann", "Bob")
    bid(store, "Ann", 2, {1: 5})
    (notice,) = told(store, "too-early")
    assert notice.severity is Severity.NOTICE
    close(store, 1)
    assert told(store, "too-early") == []
    assert dict(close(store, 2).after.match.slips[2, "Ann"].bids) == {1: 5}


@pytest.mark.parametrize("player", ["Ann", "Bob"])
def test_early_entries__of_a_player_are_one_notice(player: str) -> None:
    store = game("Ann", "Bob")
    bid(store, player, 3, {2: 5, 3: 6, 7: 1})
    compose(store, player, ["C whole", "D half"], positions=[1, 4])
    bids, composition = told(store, "too-early")
    assert (bids.message, bids.entry, bids.player) == (
        "bids of round 3 (3 cells): round 3 is not open yet",
        "5, 6, 1",
        player,
    )
    first, last = (store.at("Bids", cell).shown for cell in bids.cell.split(":"))
    assert (first, last) == ("5", "1")
    assert composition.message == "composition (2 cells): composing is not open yet"
    first, last = (store.at("Compositions", cell).shown for cell in composition.cell.split(":"))
    assert (first, last) == ("C whole", "D half")


def test_entries_of_a_stage_that_waits_for_a_reopened_one__are_told_as_such() -> None:
    store = game("Ann", "Bob")
    close(store, 1)
    bid(store, "Ann", 2, {1: 5})
    reopen(store, Stage.ROUND_1, ["Bob"], "lot 6 was meant", context())
    (notice,) = told(store, "too-early")
    assert notice.message == "lot 1: round 2 waits until round 1 is closed again"


# --- players who come ----------------------------------------------------------------------------


def join(store: MemoryStore, name: str, garnets: int = 0) -> None:
    """Do as `How to play` says: a row in Players, and the last player's column copied."""
    row = max(r for r, _ in store.grid("Players").cells) + 1
    store.type("Players", f"A{row}", name)
    store.type("Players", f"B{row}", garnets or None)
    for tab, key in (("Bids", "Lot"), ("Exchanges", "State"), ("Compositions", "Position")):
        grid = store.grid(tab)
        header = next(r for (r, _), cell in grid.cells.items() if cell.text == key)
        right = max(c for r, c in grid.cells if r == header)
        store.type(tab, f"{chr(ord('A') + right)}{header}", name)


def test_player__added_before_the_first_close_takes_part() -> None:
    store = game("Ann", "Bob")
    bid(store, "Ann", 1, {1: 5})
    join(store, "Eve", 2)
    refresh(store)
    assert [head for head in store.table("Collections")[0] if head != "Item"] == [
        "Ann", "Bob", "Eve",
    ]  # fmt: skip
    bid(store, "Eve", 1, {1: 9})
    exchange(store, "Eve", 1, 1)
    table = close(store, 1).after
    assert table.ledger.outcomes[1][0].winner == "Eve"
    assert table.match.player("Eve").garnets == 2
    assert table.ledger.balances[1, "Eve"].left == 501
    assert verify(store, context()).differing == ()


def test_player__added_after_the_first_close_is_refused_with_the_reason() -> None:
    store = game("Ann", "Bob")
    close(store, 1)
    join(store, "Eve")
    (problem,) = told(store, "player-too-late")
    assert problem.severity is Severity.PROBLEM
    assert problem.cell == "A4"
    assert "Eve was added after the first round was closed" in problem.message
    assert "Formerly" in problem.hint
    held = sync(store, Wish(close=Stage.ROUND_2), context())
    assert held.closed is None
    assert held.held


def test_player__whose_name_was_overwritten_is_named() -> None:
    store = game("Ann", "Bob")
    close(store, 1)
    store.type("Players", "A3", "Bea")
    (problem,) = told(store, "player-too-late")
    assert problem.hint == (
        "if Bea takes over from Bob, write Bob under Formerly in this row;"
        " else put the name Bob back"
    )
    store.type("Players", "F3", "Bob")
    assert told(store, "player-too-late") == []


@pytest.mark.parametrize("last", ["1", "3", "final"])
def test_switch__changed_late_names_the_command_that_records_it(last: str) -> None:
    store = game("Ann", "Bob")
    for stage in [*range(1, 7), "final"]:
        close(store, stage)
        if str(stage) == last:
            break
    setting(store, "Tritone", "any two")
    (notice,) = told(store, "changed-after-closing")
    command = f"sheets-host reopen WORKBOOK {last} --settings --reason TEXT"
    assert notice.hint.endswith(command)
    stage = Stage.COMPOSING if last == "final" else Stage(int(last))
    reopen(store, stage, [], "agreed", context(), settings=True)
    hints = [notice.hint for notice in told(store, "changed-after-closing")]
    assert hints in ([], [f"the recorded value stands until {stage} is closed again"])


def test_player__who_comes_too_late_does_not_hold_up_an_unattended_game() -> None:
    store = game("Ann", "Bob", Unfixed_entries_at_closing="void")
    close(store, 1)
    join(store, "Eve")
    table = close(store, 2).after
    assert table.match.names == ("Ann", "Bob")
    assert told(store, "player-too-late")


# --- players who change --------------------------------------------------------------------------


def test_rename__is_followed_and_recorded() -> None:
    store = game("Ann:3", "Bob")
    bid(store, "Ann", 1, {1: 50})
    exchange(store, "Ann", 1, 1)
    close(store, 1)
    rename(store, 2, "Annabel", "Ann")
    table = refresh(store).after
    assert [e.kind for e in table.record.events[-1:]] == ["renamed"]
    assert table.ledger.purse(2, "Annabel").tokens == 460
    assert table.ledger.purse(2, "Annabel").garnets == 2
    assert len(table.ledger.notes("Annabel")) == 1
    assert "Annabel" in store.table("Collections")[0]
    assert [row["Player"] for row in store.table("Standings")] == ["Annabel", "Bob"]
    bid(store, "Ann", 2, {1: 7})  # the column may keep its heading
    assert close(store, 2).after.ledger.outcomes[2][0].winner == "Annabel"


def test_rename__the_columns_heading_may_follow() -> None:
    store = game("Ann", "Bob")
    close(store, 1)
    rename(store, 2, "Annabel", "Ann")
    for tab in ("Bids", "Exchanges", "Compositions"):
        place = next(p for p, cell in store.grid(tab).cells.items() if cell.text == "Ann")
        store.type(tab, f"{chr(64 + place[1])}{place[0]}", "Annabel")
    bid(store, "Annabel", 2, {1: 7})
    assert close(store, 2).after.ledger.outcomes[2][0].winner == "Annabel"


@pytest.mark.parametrize("formerly", ["Annabel", "annabel", "Ann", "ANN "])
def test_substitute__of_a_substitute_is_followed(formerly: str) -> None:
    store = game("Ann", "Bob")
    bid(store, "Ann", 1, {1: 50})
    close(store, 1)
    rename(store, 2, "Annabel", "Ann")
    refresh(store)
    rename(store, 2, "Carl", formerly)
    table = refresh(store).after
    assert table.match.names == ("Carl", "Bob")
    assert table.ledger.purse(2, "Carl").tokens == 450
    bid(store, "Ann", 2, {1: 7})
    assert close(store, 2).after.ledger.outcomes[2][0].winner == "Carl"
    assert verify(store, context()).differing == ()


def test_rename__before_the_first_close_keeps_the_seat() -> None:
    store = game("Ann", "Bob")
    rename(store, 2, "Annabel", "Ann")
    table = refresh(store).after
    assert table.match.seats == ("Annabel", "Bob")


def test_player__whose_row_was_removed_still_takes_part() -> None:
    store = game("Ann", "Bob")
    close(store, 1)
    store.type("Players", "A3", None)
    (notice,) = told(store, "player-removed")
    assert notice.player == "Bob"
    bid(store, "Bob", 2, {1: 7})
    assert close(store, 2).after.ledger.outcomes[2][0].winner == "Bob"


# --- players who give up (R32) -------------------------------------------------------------------


def test_withdrawal__keeps_the_notes_and_ends_everything_else() -> None:
    store = game("Ann", "Bob", "Eve")
    bid(store, "Ann", 1, dict.fromkeys(range(1, 7), 9))
    close(store, 1)
    enrol(store, "Ann", "Status", "withdrawn")
    bid(store, "Ann", 2, {1: 9})
    (notice,) = told(store, "withdrawn")
    assert notice.message == "lot 1 of round 2: Ann has withdrawn; this entry does not count"
    table = close(store, 2).after
    assert told(store, "withdrawn") == [], "the round is closed: all is said"
    assert told(store, "changed-after-closing") == []
    assert table.match.kept[2, "Ann"] == "withdrawn"
    assert table.ledger.balances[2, "Ann"].bid == 0
    assert len(table.ledger.notes("Ann")) == 6
    for round_ in range(3, 7):
        close(store, round_)
    done = close(store, "final")
    assert done.after.match.compositions["Ann"].how == "withdrawn"
    result = done.after.result
    assert result is not None
    assert "Ann" not in (
        result.winner,
        result.candidate,
        *result.choice_among,
        *result.winner_among,
    )


def test_withdrawal__can_be_taken_back() -> None:
    store = game("Ann", "Bob")
    close(store, 1)
    enrol(store, "Ann", "Status", "withdrawn")
    close(store, 2)
    enrol(store, "Ann", "Status", None)
    bid(store, "Ann", 3, {1: 9})
    done = close(store, 3)
    assert done.after.ledger.outcomes[3][0].winner == "Ann"
    changes = [e.value for e in done.after.record.events if e.kind == "status"]
    assert changes == ["withdrawn", "playing"]


# --- the host's rulings --------------------------------------------------------------------------


def test_switch__that_acts_at_once_is_not_listed() -> None:
    store = game("Ann", "Bob")
    bid(store, "Ann", 1, {1: 9})
    close(store, 1)
    setting(store, "Announced bids", "all bids")
    refresh(store)
    assert told(store, "changed-after-closing") == []
    assert "Ann: 9" in store.table("Auction")[0].values()


def test_choice__changed_after_it_was_recorded_has_no_effect() -> None:
    store = game("Ann", "Bob", "Eve")
    bid(store, "Ann", 1, dict.fromkeys(range(1, 6), 9))
    play_on(store)
    setting(store, "Elimination choice", "Bob")
    refresh(store)
    setting(store, "Elimination choice", "Eve")
    table = refresh(store).after
    assert table.result is not None
    assert table.result.candidate == "Bob"
    (notice,) = told(store, "choice-without-effect")
    assert "recorded: Bob" in notice.message


def test_correction__of_a_tie_for_last_asks_for_the_choice_anew() -> None:
    store = game("Ann", "Bob", "Eve", "Zoë")
    bid(store, "Ann", 1, dict.fromkeys(range(1, 6), 9))
    play_on(store)
    setting(store, "Elimination choice", "Bob")
    refresh(store)
    reopen(store, Stage.ROUND_1, ["Bob"], "misread", context())
    reopen(store, Stage.COMPOSING, ["Ann", "Bob"], "misread", context())
    bid(store, "Bob", 1, dict.fromkeys(range(1, 6), 10))
    close(store, 1)
    compose(store, "Ann", [None] * 5)
    compose(store, "Bob", look(store).ledger.notes("Bob"))
    table = close(store, "final").after
    assert table.result is not None
    assert table.result.winner == "Bob"
    assert set(table.result.choice_among) == {"Ann", "Eve", "Zoë"}


def test_start__with_a_chosen_round_deals_it() -> None:
    store = MemoryStore()
    start(store, "Ann", "Bob")
    dealt = {str(note) for note in look(store).match.deals[1]}
    chosen = [n for n in ("C whole", "C half", "C quarter", "C eighth", "D whole", "D half",
                          "D quarter", "D eighth", "E whole", "E half", "E quarter", "E eighth",
                          "F whole", "F half", "F quarter", "F eighth") if n not in dealt][:8]  # fmt: skip
    setting(store, "Round 3 notes", ", ".join(chosen))
    for round_ in (1, 2):
        close(store, round_)
    match = look(store).match
    assert [str(note) for note in match.deals[3]] == chosen
    assert not set(map(str, match.deals[2])) & set(chosen)
