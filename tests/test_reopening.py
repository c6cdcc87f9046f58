"""The host's hand on a closed stage: reopen, correct, close again; and what everyone else keeps."""

from __future__ import annotations

import dataclasses

import pytest

from sheets_host.game.replay import replay
from sheets_host.game.stages import Stage
from sheets_host.host.closing import impossible
from sheets_host.host.reopening import Preview, consequences, preview, reopen
from sheets_host.host.verbs import Synced, UsageError, Wish, sync, verify
from sheets_host.tabs.problems import Severity
from tests.memory_store import MemoryStore
from tests.playing import (
    NOW,
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
)


def again(
    store: MemoryStore, stage: Stage, *players: str, settings: bool = False, dry_run: bool = False
) -> Synced:
    return reopen(
        store, stage, players, "a typing error", context(), settings=settings, dry_run=dry_run
    )


def try_close(store: MemoryStore, stage: Stage, *, void: bool = False) -> Synced:
    return sync(store, Wish(close=stage, void=void), context())


def after_three_rounds() -> MemoryStore:
    """Ann typed 4 for 40 in round 1 and lost lot 1 to Bob; Eve bids as well."""
    store = game("Ann", "Bob", "Eve:3")
    bid(store, "Ann", 1, {1: 4, 2: 6})
    bid(store, "Bob", 1, {1: 30})
    bid(store, "Eve", 1, {3: 5})
    close(store, 1)
    bid(store, "Ann", 2, {1: 300})
    bid(store, "Bob", 2, {2: 400})
    close(store, 2)
    bid(store, "Ann", 3, {1: 100})
    close(store, 3)
    return store


def winners(store: MemoryStore, round_: int) -> list[str | None]:
    return [outcome.winner for outcome in look(store).ledger.outcomes[round_]]


# --- what is read anew, and what is not ----------------------------------------------------------


def test_reopen__reads_the_named_player_alone() -> None:
    store = after_three_rounds()
    again(store, Stage.ROUND_1, "Ann")
    bid(store, "Ann", 1, {1: 40})
    bid(store, "Bob", 1, {1: 45})  # whoever edits after closing shall not profit
    assert list(look(store).entries) == ["Ann"]
    done = close(store, 1)
    assert winners(store, 1)[:3] == ["Ann", "Ann", "Eve"]
    slips = look(store).match.slips
    assert dict(slips[1, "Ann"].bids) == {1: 40, 2: 6}
    assert dict(slips[1, "Bob"].bids) == {1: 30}
    kinds = {(event.kind, event.player) for event in done.after.record.events[-4:]}
    assert kinds == {("slip", "Ann"), ("bid", "Ann"), ("closed", "")}
    late = [p for p in look(store).problems if p.code == "changed-after-closing"]
    assert [(p.player, p.severity) for p in late] == [("Bob", Severity.NOTICE)]
    assert "recorded: 30, now in the cell: 45" in late[0].message


def test_reopen__leaves_results_as_they_are_until_it_is_closed_again() -> None:
    store = after_three_rounds()
    before = look(store)
    again(store, Stage.ROUND_1, "Ann")
    bid(store, "Ann", 1, {1: 40})
    open_ = refresh(store).after
    assert open_.ledger == before.ledger
    assert open_.match.stage is Stage.ROUND_1
    assert store.table("Auction")[0]["State"] == "open"


def test_reopen__goes_on_with_the_stage_that_was_open() -> None:
    store = after_three_rounds()
    deals = look(store).match.deals
    again(store, Stage.ROUND_1, "Ann")
    close(store, 1)
    table = look(store)
    assert table.match.stage is Stage.ROUND_4
    assert table.match.deals == deals, "nothing is dealt by closing again"
    play_on(store)
    assert look(store).result is not None


@pytest.mark.parametrize("name", ["ann", " ANN ", "Anna"])
def test_reopen__finds_a_player_in_any_case_and_by_a_former_name(name: str) -> None:
    store = after_three_rounds()
    if name == "Anna":
        enrol(store, "Ann", "Formerly", "Anna")
        store.type("Players", "F2", "Ann")
        store.type("Players", "A2", "Annabel")
        refresh(store)
        name = "Ann"
    done = again(store, Stage.ROUND_1, name)
    assert len(done.after.match.reopened[Stage.ROUND_1].players) == 1


REFUSED = [
    (Stage.ROUND_4, ["Ann"], "was never closed: round 4 is open"),
    (Stage.COMPOSING, ["Ann"], "was never closed"),
    (Stage.ROUND_1, [], "name who may correct what"),
    (Stage.ROUND_1, ["Anne"], 'no player is called "Anne"; the nearest is "Ann"'),
]


@pytest.mark.parametrize(("stage", "players", "words"), REFUSED, ids=lambda x: str(x)[:20])
def test_reopen__refuses_with_the_reason(stage: Stage, players: list[str], words: str) -> None:
    store = after_three_rounds()
    writes = len(store.writes)
    with pytest.raises(UsageError, match=words):
        again(store, stage, *players)
    assert len(store.writes) == writes


def test_reopen__of_nobody_shows_how_and_of_a_stranger_who_there_is() -> None:
    store = game("Ann", "Zoë", "Bob")
    close(store, 1)
    with pytest.raises(UsageError) as refused:
        reopen(store, Stage.ROUND_1, [], "why", context())
    assert 'sheets-host reopen WORKBOOK 1 --player "Ann" --reason "' in refused.value.hint
    with pytest.raises(UsageError) as refused:
        reopen(store, Stage.ROUND_1, ["Zoe"], "why", context())
    assert refused.value.hint == "the players are Zoë, Bob, Ann"


def test_reopen__wants_a_reason_and_records_it() -> None:
    store = after_three_rounds()
    with pytest.raises(UsageError, match="a reason is needed"):
        reopen(store, Stage.ROUND_1, ["Ann"], "  \n ", context())
    done = reopen(store, Stage.ROUND_1, ["Ann"], "=HYPERLINK()\nsaid so", context())
    event = done.after.record.events[-1]
    assert (event.kind, event.stage, event.player) == ("reopened", "1", "Ann")
    assert event.value == "=HYPERLINK() said so"


def test_reopen__of_someone_withdrawn_is_refused() -> None:
    store = after_three_rounds()
    enrol(store, "Ann", "Status", "withdrawn")
    with pytest.raises(UsageError, match="has withdrawn"):
        again(store, Stage.ROUND_1, "Ann")


def test_reopen__dry_run_writes_nothing() -> None:
    store = after_three_rounds()
    writes, rows = len(store.writes), look(store).record.rows
    done = again(store, Stage.ROUND_1, "Ann", dry_run=True)
    assert done.written
    assert (len(store.writes), look(store).record.rows) == (writes, rows)


# --- before and after ----------------------------------------------------------------------------


def test_preview__says_what_closing_again_would_change() -> None:
    store = after_three_rounds()
    bid(store, "Ann", 1, {1: 40})
    done = again(store, Stage.ROUND_1, "Ann", dry_run=True)
    foreseen = preview(done.after, NOW)
    note = look(store).match.deals[1][0]
    assert foreseen == Preview(
        changes=(
            f"Ann: round 1 lot 1 4 -> 40, gains {note}, tokens 90 -> 54",
            f"Bob: loses {note}",
        )
    )


def test_preview__with_cells_as_recorded_changes_nothing() -> None:
    store = after_three_rounds()
    assert preview(again(store, Stage.ROUND_1, "Ann").after, NOW) == Preview()


def test_preview__names_what_would_keep_it_open() -> None:
    store = after_three_rounds()
    bid(store, "Ann", 1, {1: "many"})
    done = again(store, Stage.ROUND_1, "Ann")
    assert [p.entry for p in preview(done.after, NOW).problems] == ["many"]


def test_preview__says_the_same_as_the_closing_then_does() -> None:
    store = after_three_rounds()
    again(store, Stage.ROUND_1, "Ann")
    bid(store, "Ann", 1, {1: 40, 2: None})
    foreseen = preview(look(store), NOW).changes
    done = close(store, 1)
    assert foreseen == tuple(consequences(done.before, done.after))
    assert len(foreseen) == 2


def test_consequences__after_the_result_tells_points_and_places() -> None:
    store = game("Ann", "Bob", "Eve")
    bid(store, "Ann", 1, {1: 9, 2: 9, 3: 9, 4: 9, 5: 9})
    bid(store, "Bob", 1, {1: 8, 2: 8, 3: 8, 4: 8, 5: 8})
    play_on(store)
    before = look(store)
    assert before.result is not None
    assert before.result.winner == "Ann"
    again(store, Stage.ROUND_1, "Bob")
    again(store, Stage.COMPOSING, "Ann", "Bob")
    bid(store, "Bob", 1, dict.fromkeys(range(1, 6), 10))
    close(store, 1)
    assert look(store).match.stage is Stage.COMPOSING
    notes = look(store).ledger.notes("Bob")
    compose(store, "Ann", [None] * 5)
    compose(store, "Bob", notes)
    close(store, "final")
    lines = consequences(before, look(store))
    assert any(line.startswith("Bob: ") and "points 0 -> " in line for line in lines)
    assert any(line.startswith("Ann: ") and "-> 0" in line for line in lines)
    assert "winner: Ann -> Bob" in lines


# --- later recorded entries ----------------------------------------------------------------------


def test_close__is_refused_where_a_later_recorded_slip_becomes_impossible() -> None:
    store = after_three_rounds()
    again(store, Stage.ROUND_1, "Ann")
    bid(store, "Ann", 1, {1: 150})
    done = try_close(store, Stage.ROUND_1)
    assert done.closed is None
    assert done.held
    assert [(bad.stage, bad.player) for bad in done.impossible] == [(Stage.ROUND_3, "Ann")]
    assert done.impossible[0].why == "the bids sum to 100, and 44 tokens would be held"
    assert Stage.ROUND_1 in look(store).match.reopened


def test_close__goes_on_where_the_later_stage_is_reopened_too() -> None:
    store = after_three_rounds()
    again(store, Stage.ROUND_1, "Ann")
    bid(store, "Ann", 1, {1: 350})  # rounds 2 and 3 cannot stand any more
    again(store, Stage.ROUND_2, "Ann")
    assert try_close(store, Stage.ROUND_1).closed is Stage.ROUND_1
    bid(store, "Ann", 2, {1: 100})
    held = try_close(store, Stage.ROUND_2)
    assert [(bad.stage, bad.player) for bad in held.impossible] == [(Stage.ROUND_3, "Ann")]
    bid(store, "Ann", 2, {1: 44})
    assert try_close(store, Stage.ROUND_2).closed is Stage.ROUND_2
    table = look(store)
    assert table.ledger.balances[3, "Ann"].left == 0
    assert all(balance.left >= 0 for balance in table.ledger.balances.values())


def test_close__voids_the_later_slip_by_the_hosts_word() -> None:
    store = after_three_rounds()
    again(store, Stage.ROUND_1, "Ann")
    bid(store, "Ann", 1, {1: 150})
    done = try_close(store, Stage.ROUND_1, void=True)
    assert done.closed is Stage.ROUND_1
    match = done.after.match
    assert not match.slips[3, "Ann"].bids
    assert match.kept[3, "Ann"] == "void"
    assert match.struck["3", "Ann", "lot 1"] == "100"
    assert dict(match.slips[2, "Ann"].bids) == {1: 300}, "what can stand stands"
    assert impossible(match, done.after.ledger) == []


def test_close__never_voids_a_later_slip_by_the_switch_alone() -> None:
    store = game("Ann", "Bob", Unfixed_entries_at_closing="void")
    bid(store, "Ann", 1, {1: 10})
    close(store, 1)
    bid(store, "Ann", 2, {1: 400})
    close(store, 2)
    again(store, Stage.ROUND_1, "Ann")
    bid(store, "Ann", 1, {1: 200, 2: "what"})
    held = try_close(store, Stage.ROUND_1)
    assert held.closed is None
    assert [bad.stage for bad in held.impossible] == [Stage.ROUND_2]


def test_close__later_exchanges_that_cannot_be_paid_are_struck_alone() -> None:
    store = game("Ann:3", "Bob")
    bid(store, "Ann", 1, {1: 10})
    close(store, 1)
    exchange(store, "Ann", 2, 2)
    bid(store, "Ann", 2, {1: 400})
    close(store, 2)
    again(store, Stage.ROUND_1, "Ann")
    exchange(store, "Ann", 1, 1)  # the two of round 2 cost 6 then, and 2 garnets are left
    held = try_close(store, Stage.ROUND_1)
    assert held.impossible[0].why == "2 exchanges would cost more than the 2 garnets left"
    done = try_close(store, Stage.ROUND_1, void=True)
    assert dict(done.after.match.slips[2, "Ann"].bids) == {1: 400}
    assert done.after.match.slips[2, "Ann"].uses == 0
    assert done.after.match.struck["2", "Ann", "exchanges"] == "2"
    assert done.after.match.kept[2, "Ann"] == "entered"


def test_close__what_was_struck_out_before_stays_so_when_more_is() -> None:
    store = game("Ann", "Bob")
    bid(store, "Ann", 1, {1: 10})
    close(store, 1)
    bid(store, "Ann", 2, {1: 400, 2: "lots"})
    close(store, 2, void=True)
    again(store, Stage.ROUND_1, "Ann")
    bid(store, "Ann", 1, {1: 200})
    done = try_close(store, Stage.ROUND_1, void=True)
    assert {i: t for (s, _, i), t in done.after.match.struck.items() if s == "2"} == {
        "lot 1": "400",
        "lot 2": "lots",
    }
    assert not [p for p in look(store).problems if p.code == "changed-after-closing"]


def test_close__a_composition_whose_notes_change_hands_is_named() -> None:
    store = game("Ann", "Bob")
    bid(store, "Ann", 1, {1: 4, 2: 6})
    bid(store, "Bob", 1, {1: 30})
    play_on(store)
    again(store, Stage.ROUND_1, "Ann")
    bid(store, "Ann", 1, {1: 40})
    held = try_close(store, Stage.ROUND_1)
    note = look(store).match.deals[1][0]
    assert {(bad.player, bad.why) for bad in held.impossible} == {
        ("Ann", f"in the composition {note} would be missing"),
        ("Bob", f"in the composition {note} would not be held"),
    }
    again(store, Stage.COMPOSING, "Ann", "Bob")
    close(store, 1)
    compose(store, "Bob", [None])
    compose(store, "Ann", look(store).ledger.notes("Ann"))
    done = close(store, "final")
    assert done.after.result is not None
    assert done.after.result.winner == "Ann"


def test_close__leaves_what_hangs_on_garnets_until_those_are_closed_again() -> None:
    store = game("Ann:1", "Bob")
    close(store, 1)
    exchange(store, "Ann", 2, 1)
    close(store, 2)
    again(store, Stage.ROUND_1, "Ann")
    again(store, Stage.ROUND_2, settings=True)
    exchange(store, "Ann", 1, 1)  # round 2's costs 2 garnets then
    assert try_close(store, Stage.ROUND_1).closed is Stage.ROUND_1
    held = try_close(store, Stage.ROUND_2)
    assert [(bad.stage, bad.player) for bad in held.impossible] == [(Stage.ROUND_2, "Ann")]
    enrol(store, "Ann", "Garnets", 3)
    assert try_close(store, Stage.ROUND_2).closed is Stage.ROUND_2
    assert look(store).ledger.purse(3, "Ann").garnets == 0


def test_close__leaves_compositions_until_every_round_is_closed_again() -> None:
    store = game("Ann", "Bob")
    bid(store, "Ann", 1, {1: 4, 2: 6})
    bid(store, "Bob", 1, {1: 30})
    play_on(store)
    again(store, Stage.ROUND_1, "Ann")
    again(store, Stage.ROUND_2, "Bob")
    bid(store, "Ann", 1, {1: 40})
    assert try_close(store, Stage.ROUND_1).closed is Stage.ROUND_1
    held = try_close(store, Stage.ROUND_2)
    assert {(bad.stage, bad.player) for bad in held.impossible} == {
        (Stage.COMPOSING, "Ann"),
        (Stage.COMPOSING, "Bob"),
    }


def test_close__without_a_sheet_leaves_the_recorded_slip_of_its_player() -> None:
    store = after_three_rounds()
    enrol(store, "Bob", "Entry sheet", "gone.xlsx")
    again(store, Stage.ROUND_1, "Ann")
    done = sync(store, Wish(close=Stage.ROUND_1, without=("Bob",)), context())
    assert done.closed is Stage.ROUND_1
    assert dict(done.after.match.slips[1, "Bob"].bids) == {1: 30}
    assert done.after.match.kept[1, "Bob"] == "entered"


# --- switches, garnets, players ------------------------------------------------------------------


def test_settings__change_only_by_reopening() -> None:
    store = after_three_rounds()
    setting(store, "Tritone", "any two")
    enrol(store, "Bob", "Garnets", 7)
    table = refresh(store).after
    assert table.match.rulings.tritone == "neighbours"
    assert table.match.player("Bob").garnets == 0
    told = {p.message for p in table.problems if p.code == "changed-after-closing"}
    assert told == {
        "Tritone: changed after it was fixed; recorded: neighbours, now in the cell: any two",
        "garnets: changed after they were fixed; recorded: 0, now in the cell: 7",
    }
    done = again(store, Stage.ROUND_3, settings=True)
    assert preview(done.after, NOW).changes == (
        "Bob: garnets left 0 -> 7",
        "Tritone: neighbours -> any two",
    )
    assert done.after.match.rulings.tritone == "neighbours", "not before it is closed again"
    close(store, 3)
    match = look(store).match
    assert match.rulings.tritone == "any two"
    assert match.player("Bob").garnets == 7
    assert replay(look(store).record).player("Bob").garnets == 7
    assert not [p for p in look(store).problems if p.code == "changed-after-closing"]


def test_settings__fewer_garnets_than_were_spent_since_are_refused() -> None:
    store = game("Ann:3", "Bob")
    close(store, 1)
    exchange(store, "Ann", 2, 2)
    close(store, 2)
    again(store, Stage.ROUND_1, settings=True)
    enrol(store, "Ann", "Garnets", 1)
    held = try_close(store, Stage.ROUND_1)
    assert [(bad.stage, bad.player) for bad in held.impossible] == [(Stage.ROUND_2, "Ann")]


def test_settings__more_garnets_count_for_what_is_corrected_with_them() -> None:
    store = game("Ann", "Bob")
    close(store, 1)
    again(store, Stage.ROUND_1, "Ann", settings=True)
    enrol(store, "Ann", "Garnets", 3)
    exchange(store, "Ann", 1, 2)
    done = close(store, 1)
    assert done.after.ledger.balances[1, "Ann"].exchanged == 20


def test_settings__the_new_switch_decides_how_that_closing_takes_unfixed_entries() -> None:
    store = after_three_rounds()
    again(store, Stage.ROUND_3, "Ann", settings=True)
    setting(store, "Unfixed entries at closing", "void")
    bid(store, "Ann", 3, {1: "all"})
    assert close(store, 3).after.match.struck["3", "Ann", "lot 1"] == "all"


def test_status__changed_after_the_result_waits_for_a_reopened_stage() -> None:
    store = game("Ann", "Bob", "Eve")
    bid(store, "Ann", 1, dict.fromkeys(range(1, 6), 9))
    play_on(store)
    enrol(store, "Ann", "Status", "withdrawn")
    told = [p for p in look(store).problems if p.code == "changed-after-closing"]
    assert "recorded: playing, now in the cell: withdrawn" in told[0].message
    result = look(store).result
    assert result is not None
    assert result.winner == "Ann"
    again(store, Stage.COMPOSING, "Bob")
    open_ = look(store).result
    assert open_ is not None
    assert open_.winner == "Ann", "earlier results stand until it is closed again"
    done = close(store, "final")
    assert done.after.result is not None
    assert done.after.result.card("Ann").withdrawn
    assert done.after.result.winner != "Ann"


# --- everything is an event ----------------------------------------------------------------------


def test_verify__agrees_after_all_of_it() -> None:
    store = after_three_rounds()
    again(store, Stage.ROUND_1, "Ann", settings=True)
    setting(store, "Descending run", "anywhere")
    bid(store, "Ann", 1, {1: 40})
    close(store, 1)
    enrol(store, "Bob", "Status", "withdrawn")
    play_on(store)
    found = verify(store, context())
    assert found.differing == ()
    recorded = replay(found.table.reading.record)
    assert recorded == dataclasses.replace(found.table.match, rulings=recorded.rulings)
    assert recorded.rulings == found.table.match.rulings


def test_sync__twice_after_reopening_changes_nothing() -> None:
    store = after_three_rounds()
    again(store, Stage.ROUND_1, "Ann")
    refresh(store)
    writes = [write for write in store.writes if write.tabs]
    refresh(store)
    assert [write for write in store.writes if write.tabs] == writes


def test_rename__while_reopened_takes_the_reopening_along() -> None:
    store = after_three_rounds()
    again(store, Stage.ROUND_1, "Ann")
    store.type("Players", "F2", "Ann")
    store.type("Players", "A2", "Annabel")
    table = refresh(store).after
    assert table.match.reopened[Stage.ROUND_1].players == {"Annabel"}
    assert list(table.entries) == ["Annabel"]
    assert close(store, 1).after.match.slips[1, "Annabel"].bids == {1: 4, 2: 6}


def test_settings__reopened_take_the_winners_choice_anew() -> None:
    store = game("Ann", "Bob", "Cid")
    for stage in Stage:
        if stage is not Stage.FINISHED:
            close(store, stage)
    setting(store, "Winner ruling", "Ann")
    refresh(store)
    setting(store, "Elimination choice", "Bob")
    refresh(store)
    assert look(store).match.choice == "Bob"
    setting(store, "Elimination choice", "Cid")
    refresh(store)
    result = look(store).result
    assert result is not None
    assert result.candidate == "Bob"
    reopen(store, Stage.COMPOSING, [], "Ann had named Cid", context(), settings=True)
    close(store, Stage.COMPOSING)
    refresh(store)
    result = look(store).result
    assert result is not None
    assert (result.winner, result.candidate) == ("Ann", "Cid")


def test_void__a_composition_in_odd_spelling_that_falls_later_is_not_said_to_be_changed() -> None:
    store = game("Ann", "Bob")
    bid(store, "Ann", 1, dict.fromkeys(range(1, 7), 2))
    bid(store, "Bob", 1, {1: 1})
    for stage in range(1, 7):
        close(store, stage)
    held = look(store).ledger.notes("Ann")
    compose(store, "Ann", [str(note).replace(" ", "").upper() for note in held])
    close(store, Stage.COMPOSING)
    bid(store, "Bob", 1, {1: 9})
    reopen(store, Stage.ROUND_1, ["Bob"], "he meant 9", context())
    close(store, 1, void=True)
    table = look(store)
    assert table.match.compositions["Ann"].how == "void"
    assert [p.code for p in table.problems if p.code == "changed-after-closing"] == []
