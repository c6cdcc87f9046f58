"""The Record: the chain names every tampered row, and the fold makes a match of every event."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sheets_host.game.auction import Slip
from sheets_host.game.match import Handed, Match, Player, Reopening
from sheets_host.game.notes import ALL_NOTES, BY_TEXT
from sheets_host.game.record import KINDS, Event, Record, RecordBroken, Row, read_record
from sheets_host.game.replay import replay
from sheets_host.game.rulings import Rulings
from sheets_host.game.stages import Stage
from tests.memory_store import MemoryStore
from tests.playing import bid, close, game, look, play_on, refresh

FIRST = Event("record", item="format", value="1", at="2026-03-01T18:00:00Z")


def deal(round_: int) -> list[Event]:
    notes = ALL_NOTES[(round_ - 1) * 8 : round_ * 8]
    return [Event("deal", str(round_), "", f"lot {i}", str(n)) for i, n in enumerate(notes, 1)]


def record_of(*events: Event) -> Record:
    return Record().with_events([FIRST, *events])


SEATED = (
    Event("seat", player="Ann"),
    Event("seat", player="Bob"),
    Event("garnets", player="Ann", value="3"),
    Event("garnets", player="Bob", value="0"),
    *deal(1),
)


# --- the chain ---------------------------------------------------------------------------------

ROWS = record_of(*SEATED, Event("slip", "1", "Ann", value="entered")).as_rows()
Rows = list[Row]


def put(rows: Rows, seq: int, column: int, text: str) -> None:
    row = list(rows[seq - 1])
    row[column] = text
    rows[seq - 1] = (row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7])


def swap(rows: Rows, one: int, other: int) -> None:
    rows[one - 1], rows[other - 1] = rows[other - 1], rows[one - 1]


def value_altered(rows: Rows) -> None:
    put(rows, 4, 6, "99")


def time_altered(rows: Rows) -> None:
    put(rows, 5, 1, "2026-03-02T18:00:00Z")


def moved_between_columns(rows: Rows) -> None:
    put(rows, 2, 4, "")
    put(rows, 2, 5, "Ann")


def letter_moved_between_columns(rows: Rows) -> None:
    put(rows, 6, 5, "lot 1C")
    put(rows, 6, 6, " whole")


def blank_added(rows: Rows) -> None:
    put(rows, 3, 4, "Bob ")


def seals_swapped(rows: Rows) -> None:
    three, four = rows[2][7], rows[3][7]
    put(rows, 3, 7, four)
    put(rows, 4, 7, three)


def seal_cleared(rows: Rows) -> None:
    put(rows, 7, 7, "")


def rows_swapped(rows: Rows) -> None:
    swap(rows, 6, 9)


def rows_swapped_and_numbered_anew(rows: Rows) -> None:
    swap(rows, 6, 9)
    put(rows, 6, 0, "6")
    put(rows, 9, 0, "9")


def first_removed(rows: Rows) -> None:
    del rows[0]


def one_removed(rows: Rows) -> None:
    del rows[9]


def one_removed_and_numbered_anew(rows: Rows) -> None:
    del rows[9]
    for seq in range(10, len(rows) + 1):
        put(rows, seq, 0, str(seq))


def one_doubled(rows: Rows) -> None:
    rows.insert(5, rows[4])


def one_added_at_the_end(rows: Rows) -> None:
    added = (str(len(rows) + 1), "", "bid", "1", "Bob", "lot 1", "500", rows[-1][7])
    rows.append(added)


@pytest.mark.parametrize(
    ("tamper", "seq", "says"),
    [
        (value_altered, 4, "was altered"),
        (time_altered, 5, "was altered"),
        (moved_between_columns, 2, "was altered"),
        (letter_moved_between_columns, 6, "was altered"),
        (blank_added, 3, "was altered"),
        (seals_swapped, 3, "was altered"),
        (seal_cleared, 7, "reads nothing"),
        (rows_swapped, 6, "not in its place"),
        (rows_swapped_and_numbered_anew, 6, "was altered"),
        (first_removed, 1, "is missing"),
        (one_removed, 10, "is missing"),
        (one_removed_and_numbered_anew, 10, "was altered"),
        (one_doubled, 6, "not in its place"),
        (one_added_at_the_end, len(ROWS) + 1, "was altered"),
    ],
    ids=lambda part: part.__name__ if callable(part) else None,
)
def test_read_record__names_the_tampered_row(
    tamper: Callable[[Rows], None], seq: int, says: str
) -> None:
    rows = list(ROWS)
    tamper(rows)
    with pytest.raises(RecordBroken, match=says) as broken:
        read_record(rows)
    assert broken.value.seq == seq
    assert f"row {seq}" in broken.value.message


def test_read_record__gives_back_what_was_written() -> None:
    read = read_record(ROWS)
    assert read.as_rows() == ROWS
    assert read.rows == len(ROWS)
    assert read.seal == ROWS[-1][7]
    assert read_record([]) == Record()


def test_seal__is_the_chain_of_digests() -> None:
    digest = b""
    for row in ROWS:
        texts = json.dumps(row[:7], ensure_ascii=False, separators=(",", ":"))
        digest = hashlib.sha256(digest + texts.encode()).digest()
        assert row[7].replace(" ", "") == digest.hex()[:16]
        assert [len(part) for part in row[7].split(" ")] == [4, 4, 4, 4]


def test_find__a_seal_however_it_is_spaced() -> None:
    read = read_record(ROWS)
    assert read.find(ROWS[4][7]) == 5
    assert read.find(ROWS[4][7].replace(" ", "").upper()) == 5
    assert read.find("0000 0000 0000 0000") is None


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
EVENTS = st.builds(
    Event, st.sampled_from(KINDS[1:]), TEXTS, TEXTS, TEXTS, TEXTS, TEXTS
)  # fmt: skip


@given(st.lists(EVENTS, max_size=5), st.lists(EVENTS, max_size=5))
def test_record__grows_the_same_in_one_write_or_two(one: list[Event], other: list[Event]) -> None:
    at_once = record_of(*one, *other)
    assert record_of(*one).with_events(other) == at_once
    assert read_record(at_once.as_rows()) == at_once


@given(st.data())
def test_read_record__finds_any_altered_text(data: st.DataObject) -> None:
    rows = list(ROWS)
    seq = data.draw(st.integers(1, len(rows)))
    column = data.draw(st.integers(0, 7))
    text = data.draw(st.text(max_size=20))
    if text == rows[seq - 1][column]:
        return
    put(rows, seq, column, text)
    with pytest.raises(RecordBroken) as broken:
        read_record(rows)
    assert broken.value.seq == seq


@pytest.mark.parametrize(
    "first",
    [Event("record", item="format", value="2"), Event("record", value="1"),
     Event("seat", player="Ann")],
)  # fmt: skip
def test_read_record__of_another_format_is_refused(first: Event) -> None:
    with pytest.raises(RecordBroken, match="format 1") as broken:
        read_record(Record().with_events([first]).as_rows())
    assert broken.value.seq == 1


def test_read_record__of_an_unknown_kind_is_refused() -> None:
    with pytest.raises(RecordBroken, match="unknown kind: 'gift'") as broken:
        read_record(record_of(Event("gift")).as_rows())
    assert broken.value.seq == 2


# --- on the tab: what only the reports' stamps can tell ------------------------------------------


def played() -> MemoryStore:
    store = game("Ann", "Bob")
    bid(store, "Ann", 1, {1: 9})
    close(store, 1)
    return store


def rows_of(store: MemoryStore) -> int:
    return len(store.table("Record"))


def retype(store: MemoryStore, record: Record) -> None:
    """Put another Record into the tab, as someone who knows how seals are made."""
    for row in range(5, 5 + max(rows_of(store), record.rows)):
        texts = record.as_rows()[row - 5] if row - 5 < record.rows else ("",) * 8
        for column, text in zip("ABCDEFGH", texts, strict=True):
            store.type("Record", f"{column}{row}", text)


def test_record_tab__cut_off_at_the_end_is_found() -> None:
    store = played()
    last = rows_of(store)
    for column in "ABCDEFGH":
        store.type("Record", f"{column}{last + 4}", None)
    with pytest.raises(RecordBroken, match="cut off") as broken:
        refresh(store)
    assert broken.value.seq == last


def test_record_tab__emptied_is_found() -> None:
    store = played()
    retype(store, Record())
    with pytest.raises(RecordBroken, match="row 1 ") as broken:
        look(store)
    assert broken.value.seq == 1


def test_record_tab__sealed_anew_is_found() -> None:
    store = played()
    events = list(look(store).record.events)
    at = next(i for i, e in enumerate(events) if e.kind == "bid")
    events[at] = Event("bid", "1", "Ann", "lot 1", "1", events[at].at)
    retype(store, Record().with_events(events))
    with pytest.raises(RecordBroken, match="is not the one that was written") as broken:
        look(store)
    assert broken.value.seq == len(events)


@pytest.mark.parametrize("cell", ["G20", "H6", "A9", "B5"])
def test_record_tab__an_altered_cell_keeps_every_command_out(cell: str) -> None:
    store = played()
    store.type("Record", cell, "altered")
    before = len(store.writes)
    for command in (look, refresh, lambda s: close(s, 2)):
        with pytest.raises(RecordBroken) as broken:
            command(store)
        assert broken.value.seq == int(cell[1:]) - 4
    assert len(store.writes) == before


# --- the fold ----------------------------------------------------------------------------------


def fold(*events: Event) -> Match:
    return replay(record_of(*SEATED, *events))


def entered(name: str, round_: str = "1") -> Event:
    return Event("slip", round_, name, value="entered")


CLOSED = Event("closed", "1", value="hold", at="2026-03-02T18:00:00Z")
NOTES = ", ".join(str(n) for n in ALL_NOTES[:5])


def test_replay__begins_with_seats_and_a_deal() -> None:
    match = replay(record_of(Event("seat", player="Ann"), *deal(1)))
    assert match.seats == ("Ann",)
    assert match.players == ()
    assert match.deals == {1: ALL_NOTES[:8]}
    assert match.stage is Stage.ROUND_1
    assert not match.fixed


def test_replay__garnets_and_status() -> None:
    match = fold(Event("status", player="Bob", value="withdrawn"))
    assert match.players == (Player("Ann", 3), Player("Bob", 0, withdrawn=True))
    assert match.awaited() == ("Ann",)
    back = fold(
        Event("status", player="Bob", value="withdrawn"),
        Event("status", player="Bob", value="playing"),
    )
    assert back.awaited() == ("Ann", "Bob")


def test_replay__switches() -> None:
    match = fold(
        Event("switch", item="Tritone", value="any two"),
        Event("switch", item="Announced bids", value="all bids"),
    )
    assert match.rulings == Rulings(tritone="any two", announced="all bids")


def test_replay__a_slip_with_bids_and_exchanges() -> None:
    match = fold(
        entered("Ann"),
        Event("exchange", "1", "Ann", value="2"),
        Event("bid", "1", "Ann", "lot 1", "0"),
        Event("bid", "1", "Ann", "lot 8", "30"),
        Event("slip", "1", "Bob", value="nothing"),
        CLOSED,
    )
    assert match.slips[1, "Ann"] == Slip({1: 0, 8: 30}, 2)
    assert match.slips[1, "Bob"] == Slip()
    assert match.kept == {(1, "Ann"): "entered", (1, "Bob"): "nothing"}
    assert match.closed == {Stage.ROUND_1: "2026-03-02T18:00:00Z"}
    assert match.stage is Stage.ROUND_2
    assert match.fixed


def test_replay__a_later_slip_replaces_all_of_the_former() -> None:
    match = fold(
        entered("Ann"),
        Event("exchange", "1", "Ann", value="1"),
        Event("bid", "1", "Ann", "lot 1", "5"),
        Event("void", "1", "Ann", "lot 2", "five"),
        Event("void", "1", "Bob", "lot 2", "six"),
        entered("Ann"),
        Event("bid", "1", "Ann", "lot 3", "7"),
    )
    assert match.slips[1, "Ann"] == Slip({3: 7}, 0)
    assert match.struck == {("1", "Bob", "lot 2"): "six"}


def closed_up_to_composing() -> list[Event]:
    events = [CLOSED]
    for round_ in range(2, 7):
        events += [*deal(round_), Event("closed", str(round_), value="hold")]
    return events


def test_replay__compositions() -> None:
    match = fold(
        *closed_up_to_composing(),
        Event("composition", "composing", "Ann", "handed in", NOTES),
        Event("composition", "composing", "Bob", "void"),
        Event("void", "composing", "Bob", "composition", "H quarter"),
        Event("closed", "composing", value="void"),
    )
    assert match.compositions == {
        "Ann": Handed("handed in", ALL_NOTES[:5]),
        "Bob": Handed("void"),
    }
    assert [h.counts for h in match.compositions.values()] == [True, False]
    assert match.struck == {("composing", "Bob", "composition"): "H quarter"}
    assert match.finished
    assert match.stage is Stage.FINISHED


def test_replay__reopened_until_closed_again() -> None:
    again = (
        Event("reopened", "1", "Bob", value="typed too late"),
        Event("reopened", "1", item="settings", value="wrong garnets"),
    )
    match = fold(CLOSED, *deal(2), *again)
    assert match.reopened == {Stage.ROUND_1: Reopening(frozenset({"Bob"}), settings=True)}
    assert match.stage is Stage.ROUND_1
    assert match.frontier is Stage.ROUND_2
    assert match.awaited() == ("Bob",)
    closed = fold(CLOSED, *deal(2), *again, CLOSED)
    assert closed.reopened == {}
    assert closed.stage is Stage.ROUND_2


def test_replay__renamed_takes_everything_along() -> None:
    match = fold(
        entered("Ann"),
        Event("bid", "1", "Ann", "lot 1", "5"),
        Event("void", "1", "Ann", "lot 2", "x5"),
        Event("status", player="Ann", value="withdrawn"),
        CLOSED,
        Event("composition", "composing", "Ann", "handed in", NOTES),
        Event("ruling", item="Winner ruling", player="Ann"),
        Event("reopened", "1", "Ann", value="why not"),
        Event("renamed", player="Ann", value="Anna"),
        Event("renamed", player="Anna", value="Dana"),
    )
    assert match.seats == ("Dana", "Bob")
    assert match.players[0] == Player("Dana", 3, withdrawn=True)
    assert match.slips[1, "Dana"] == Slip({1: 5})
    assert match.kept[1, "Dana"] == "entered"
    assert match.struck == {("1", "Dana", "lot 2"): "x5"}
    assert match.compositions["Dana"].counts
    assert match.winner_ruling == "Dana"
    assert match.reopened[Stage.ROUND_1].players == {"Dana"}
    assert match.renamed == {"Ann": "Dana", "Anna": "Dana"}


def test_replay__rulings() -> None:
    match = fold(
        Event("ruling", item="Winner ruling", player="Ann"),
        Event("ruling", item="Elimination choice", player="Bob"),
    )
    assert (match.winner_ruling, match.choice) == ("Ann", "Bob")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "record"])
def test_replay__an_empty_event_of_any_kind_makes_no_sense(kind: str) -> None:
    with pytest.raises(RecordBroken, match="row 1 ") as broken:
        replay(Record().with_events([Event(kind)]))
    assert broken.value.seq == 1


@pytest.mark.parametrize(
    "event",
    [
        Event("seat"),
        Event("seat", player="Ann"),
        Event("deal", "2", item="lot 2", value="C whole"),
        Event("deal", "2", item="lot 1", value="H whole"),
        Event("deal", "2", item="lot 1", value="C whole"),  # dealt in round 1
        Event("deal", "1", item="lot 9", value="B whole"),
        Event("deal", "7", item="lot 1", value="B whole"),
        Event("deal", "composing", item="lot 1", value="B whole"),
        Event("garnets", player="Cy", value="3"),
        Event("garnets", player="Ann", value="-3"),
        Event("garnets", player="Ann", value="three"),
        Event("garnets", player="Ann", value="٣"),
        Event("status", player="Ann", value="tired"),
        Event("status", player="Cy", value="playing"),
        Event("switch", item="Tritones", value="any two"),
        Event("switch", item="Tritone", value="any"),
        Event("slip", "1", "Cy", value="entered"),
        Event("slip", "composing", "Ann", value="entered"),
        Event("slip", "1", "Ann", value="perhaps"),
        Event("bid", "1", "Bob", "lot 1", "5"),  # no slip before it
        Event("bid", "1", "Ann", "lot 0", "5"),
        Event("bid", "1", "Ann", "1", "5"),
        Event("bid", "1", "Ann", "lot 1", "5.5"),
        Event("bid", "1", "Ann", "lot 1", ""),
        Event("exchange", "1", "Bob", value="1"),
        Event("exchange", "1", "Ann", value="1000"),
        Event("composition", "composing", "Ann", "handed in", "C whole, H whole"),
        Event("composition", "composing", "Ann", "handed in", "C whole, C whole"),
        Event("composition", "composing", "Ann", "lost"),
        Event("composition", "composing", "Cy", "nothing"),
        Event("void", "1", "Cy", "lot 1", "x"),
        Event("closed", "9"),
        Event("closed", "2"),  # round 1 is open
        Event("closed", "composing"),
        Event("closed", "1", value="hold", at="yesterday"),
        Event("closed", "1", value="hold", at="2026-13-01T18:00:00Z"),
        Event("closed", "1", value="hold", at="2026-03-01T18:00:00"),
        Event("reopened", "1", "Ann"),  # never closed
        Event("renamed", player="Cy", value="Dan"),
        Event("renamed", player="Ann", value="Bob"),
        Event("renamed", player="Ann"),
        Event("ruling", item="Winner ruling", player="Cy"),
        Event("ruling", item="Winner", player="Ann"),
    ],
    ids=lambda e: f"{e.kind} {e.stage} {e.player} {e.item} {e.value} {e.at}",
)
def test_replay__names_the_row_that_makes_no_sense(event: Event) -> None:
    record = record_of(*SEATED, entered("Ann"), event)
    with pytest.raises(RecordBroken, match="makes no sense") as broken:
        replay(record)
    assert broken.value.seq == record.rows
    assert f"row {record.rows} ({event.kind} " in broken.value.message


@pytest.mark.parametrize(
    "events",
    [(CLOSED, CLOSED), (CLOSED, Event("closed", "2"))],
    ids=["closed twice", "closed without a deal"],
)
def test_replay__closes_each_stage_once_and_dealt(events: tuple[Event, ...]) -> None:
    with pytest.raises(RecordBroken) as broken:
        fold(*events)
    assert broken.value.seq == 1 + len(SEATED) + len(events)


def test_replay__a_deal_of_fewer_than_eight_cannot_be_closed() -> None:
    with pytest.raises(RecordBroken):
        replay(record_of(Event("seat", player="Ann"), *deal(1)[:7], CLOSED))


def test_replay__of_a_whole_game_holds_every_note() -> None:
    store = game("Ann:1", "Bob")
    play_on(store)
    match = replay(look(store).record)
    assert {n for dealt in match.deals.values() for n in dealt} == set(BY_TEXT.values())
    assert match.finished
