"""Deadlines: zones and changed clocks, what is due, and a deadline that passes during a sync."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection
from dataclasses import dataclass
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sheets_host.game.stages import Stage
from sheets_host.grid import Book, Cell, Kind, Shape
from sheets_host.host.publishing import announcement
from sheets_host.host.reopening import reopen
from sheets_host.host.verbs import Context, Synced, Wish, sync
from sheets_host.stores.base import ChangedMeanwhile
from sheets_host.tabs.moments import after_hours, moment_in
from sheets_host.tabs.view import deadline
from tests.memory_store import MemoryStore
from tests.playing import bid, close, context, game, look, refresh, setting, start


def utc(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text).replace(tzinfo=dt.UTC)


def at(text: str) -> Context:
    """Return a context whose time is this one, in UTC."""
    return context(now=utc(text))


def due(store: MemoryStore, when: str, *, void: bool = False) -> Synced:
    return sync(store, Wish(due=True, void=void), at(when))


# --- zones ---------------------------------------------------------------------------------------

MOMENTS = [
    # zone, what is typed, what it is in UTC, what is said of it
    ("Europe/Berlin", "2026-03-24 18:00", "2026-03-24 17:00", ""),
    ("Europe/Berlin", "2026-07-24 18:00", "2026-07-24 16:00", ""),
    ("Europe/Berlin", "2026-03-29 01:59", "2026-03-29 00:59", ""),
    ("Europe/Berlin", "2026-03-29 02:00", "2026-03-29 01:00", "03:00 CEST counts"),
    ("Europe/Berlin", "2026-03-29 02:30", "2026-03-29 01:30", "03:30 CEST counts"),
    ("Europe/Berlin", "2026-03-29 03:00", "2026-03-29 01:00", ""),
    ("Europe/Berlin", "2026-10-25 01:59", "2026-10-24 23:59", ""),
    ("Europe/Berlin", "2026-10-25 02:00", "2026-10-25 01:00", "the second one counts, 02:00 CET"),
    ("Europe/Berlin", "2026-10-25 02:30", "2026-10-25 01:30", "the second one counts, 02:30 CET"),
    ("Europe/Berlin", "2026-10-25 03:00", "2026-10-25 02:00", ""),
    ("America/New_York", "2026-03-08 02:15", "2026-03-08 07:15", "03:15 EDT counts"),
    ("America/New_York", "2026-11-01 01:15", "2026-11-01 06:15", "the second one counts"),
    ("Australia/Lord_Howe", "2026-10-04 02:10", "2026-10-03 15:40", "02:40 +11 counts"),
    ("Australia/Lord_Howe", "2026-04-05 01:40", "2026-04-04 15:10", "the second one counts"),
    ("Pacific/Apia", "2011-12-30 12:00", "2011-12-30 22:00", "counts"),  # a day that never was
    ("Asia/Kathmandu", "2026-03-24 18:00", "2026-03-24 12:15", ""),
    ("Asia/Tokyo", "2026-03-24 00:30", "2026-03-23 15:30", ""),
    ("UTC", "2026-10-25 02:30", "2026-10-25 02:30", ""),
]


@pytest.mark.parametrize(("zone", "typed", "moment", "word"), MOMENTS)
def test_moment_in__takes_the_later_reading(zone: str, typed: str, moment: str, word: str) -> None:
    found, said = moment_in(ZoneInfo(zone), dt.datetime.fromisoformat(typed))
    assert found.astimezone(dt.UTC) == utc(moment)
    assert found.tzinfo == ZoneInfo(zone)
    assert word in said
    assert bool(said) == bool(word)


@given(
    st.datetimes(dt.datetime.fromisoformat("2000-01-01"), dt.datetime.fromisoformat("2040-01-01")),
    st.sampled_from(["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Tehran"]),
)
def test_moment_in__is_never_before_what_was_typed(wall: dt.datetime, zone: str) -> None:
    wall = wall.replace(microsecond=0)
    found, said = moment_in(ZoneInfo(zone), wall)
    shown = found.replace(tzinfo=None, fold=0)
    assert shown >= wall
    assert (shown == wall) or said
    assert found >= wall.replace(tzinfo=ZoneInfo(zone)).astimezone(dt.UTC)


def test_after_hours__counts_hours_that_pass() -> None:
    zone = ZoneInfo("Europe/Berlin")
    evening = dt.datetime(2026, 3, 28, 20, tzinfo=zone)
    assert after_hours(evening, 24).isoformat() == "2026-03-29T21:00:00+02:00"
    evening = dt.datetime(2026, 10, 24, 20, tzinfo=zone)
    assert after_hours(evening, 24).isoformat() == "2026-10-25T19:00:00+01:00"


@pytest.mark.parametrize(
    ("typed", "shown"),
    [("2026-03-29 02:30", "Sun 29 Mar 2026 03:30"), ("2026-10-25 02:30", "Sun 25 Oct 2026 02:30")],
)
def test_settings__say_at_the_cell_what_changed_clocks_make_of_a_deadline(
    typed: str, shown: str
) -> None:
    store = game("Ann", "Bob", Time_zone="Europe/Berlin", Round_1_closes=typed)
    (notice,) = [p for p in look(store).problems if p.code == "deadline-doubtful"]
    assert (notice.tab, bool(notice.cell), notice.stands) == ("Settings", True, False)
    assert shown in str(refresh(store) and store.grid("Standings").at(2, 1).text)
    close(store, 1)
    assert not [p for p in look(store).problems if p.code == "deadline-doubtful"]


def test_composing__closes_24_hours_after_round_6_whatever_the_clocks_do() -> None:
    store = game("Ann", "Bob", Time_zone="Europe/Berlin")
    for round_ in range(1, 7):
        close(store, round_, at=at("2026-03-28 19:00"))
    until = deadline(look(store).view, Stage.COMPOSING)
    assert until is not None
    assert until.astimezone(dt.UTC) == utc("2026-03-29 19:00")
    setting(store, "Composing closes", "2026-04-01 12:00")
    until = deadline(look(store).view, Stage.COMPOSING)
    assert until is not None
    assert until.astimezone(dt.UTC) == utc("2026-04-01 10:00")


@pytest.mark.parametrize("typed", ["tomorrow", "2026-13-01 10:00", "18:00", 46000.0, "2026-03-24"])
def test_settings__a_deadline_that_is_no_time_is_a_problem_and_closes_nothing(
    typed: str | float,
) -> None:
    store = game("Ann", "Bob", Round_1_closes=typed)
    (problem,) = look(store).standing
    assert problem.tab == "Settings"
    assert due(store, "2030-01-01 00:00").closed is None


_EVENING = Cell(Kind.NUMBER, 46105.75, format="yyyy-mm-dd hh:mm", shape=Shape.DATE)


def test_settings__a_date_cell_is_read_in_the_games_zone() -> None:
    store = game("Ann", "Bob", Time_zone="America/New_York")
    setting(store, "Round 1 closes", _EVENING)
    until = deadline(look(store).view, Stage.ROUND_1)
    assert until is not None
    assert until.astimezone(dt.UTC) == utc("2026-03-24 22:00")


# --- what is due ---------------------------------------------------------------------------------


def test_due__closes_at_the_deadline_and_once() -> None:
    store = game("Ann", "Bob", Round_1_closes="2026-03-24 18:00")
    assert due(store, "2026-03-24 17:59:59").closed is None
    assert due(store, "2026-03-24 18:00:00").closed is Stage.ROUND_1
    assert due(store, "2026-03-24 18:00:01").closed is None
    assert look(store).match.stage is Stage.ROUND_2


def test_due__without_a_deadline_closes_nothing() -> None:
    store = game("Ann", "Bob")
    assert due(store, "2099-01-01 00:00").closed is None


def test_due__under_hold_stays_open_while_a_problem_stands() -> None:
    store = game("Ann", "Bob", Round_1_closes="2026-03-24 18:00")
    bid(store, "Ann", 1, {1: "lots"})
    held = due(store, "2026-03-24 18:00")
    assert (held.closed, held.held) == (None, "problems stand")
    bid(store, "Ann", 1, {1: 5})
    assert due(store, "2026-03-24 18:07").closed is Stage.ROUND_1


def test_due__under_void_closes_all_the_same() -> None:
    store = game("Ann", "Bob", Round_1_closes="2026-03-24 18:00", Unfixed_entries_at_closing="void")
    bid(store, "Ann", 1, {1: "lots", 2: 5})
    bid(store, "Bob", 1, {1: 600})
    match = due(store, "2026-03-24 18:00").after.match
    assert match.slips[1, "Ann"].bids == {2: 5}
    assert match.slips[1, "Bob"].bids == {}
    assert match.struck == {("1", "Ann", "lot 1"): "lots", ("1", "Bob", "lot 1"): "600"}


def test_due__a_whole_unattended_match_ends_by_itself() -> None:
    closes = {f"Round_{r}_closes": f"2026-03-{20 + r} 18:00" for r in range(1, 7)}
    store = game("Ann", "Bob", "Eve", Unfixed_entries_at_closing="void", **closes)
    bid(store, "Ann", 1, dict.fromkeys(range(1, 7), 9))
    closed = [
        (when, done.closed)
        for day in range(20, 30)
        for when in (f"2026-03-{day} 17:00", f"2026-03-{day} 19:00")
        if (done := due(store, when)).closed
    ]
    assert closed == [
        *((f"2026-03-{20 + r} 19:00", Stage(r)) for r in range(1, 7)),
        ("2026-03-27 19:00", Stage.COMPOSING),
    ]
    result = look(store).result
    assert result is not None
    assert result.card("Ann").composition is None, "nothing was handed in (R20)"


def test_due__leaves_a_reopened_stage_to_the_host() -> None:
    store = game("Ann", "Bob", Round_1_closes="2026-02-24 18:00")
    assert due(store, "2026-02-24 18:00").closed is Stage.ROUND_1
    reopen(store, Stage.ROUND_1, ["Ann"], "misread", at("2026-02-25 09:00"))
    assert due(store, "2026-02-25 09:01").closed is None
    assert deadline(look(store).view, Stage.ROUND_1) is None
    setting(store, "Round 1 closes", "2026-02-26 18:00")
    assert due(store, "2026-02-26 18:01").closed is None
    setting(store, "Round 2 closes", "2026-02-26 18:00")
    assert due(store, "2026-02-26 18:01").closed is None, "one stage is open at a time"
    close(store, 1)
    assert due(store, "2026-02-26 18:02").closed is Stage.ROUND_2


def test_deadlines__that_pass_before_their_stage_opens_are_named() -> None:
    store = game(
        "Ann", "Bob", Round_1_closes="2026-03-24 18:00", Round_2_closes="2026-03-24 18:00",
        Round_3_closes="2026-03-20 18:00", Round_4_closes="2026-03-25 18:00",
    )  # fmt: skip
    early = [p for p in look(store).problems if p.code == "deadline-early"]
    assert [p.message.split(":")[0] for p in early] == ["Round 2 closes", "Round 3 closes"]
    assert not any(p.stands for p in early)
    close(store, 1, at=at("2026-03-24 18:00"))
    early = [p for p in look(store).problems if p.code == "deadline-early"]
    assert "it had passed when the stage before it was closed" in early[0].message


# --- a deadline that passes during a sync --------------------------------------------------------


@dataclass
class Clock:
    """A time that the test moves on."""

    now: dt.datetime

    def __call__(self) -> dt.datetime:
        return self.now


class SlowStore(MemoryStore):
    """Reading takes ten seconds, and Ann types her bid after the cells were read.

    by_record: like Google, a write minds other writes of the Record, not what people type.
    """

    def __init__(self, clock: Clock, *, by_record: bool) -> None:
        super().__init__()
        self.clock, self.by_record = clock, by_record
        self.slow = False

    def read(self, titles: Collection[str]) -> Book:
        book = super().read(titles)
        if self.slow:
            self.slow = False
            before = self._revision
            bid(self, "Ann", 1, {1: 44})
            self._revision = before if self.by_record else self._revision
            self.clock.now += dt.timedelta(seconds=10)
        return book


@pytest.mark.parametrize("by_record", [True, False], ids=["google", "file"])
def test_deadline__that_passes_during_a_sync_never_costs_a_bid_typed_before_it(
    by_record: bool,
) -> None:
    clock = Clock(utc("2026-03-24 17:59:55"))
    store = SlowStore(clock, by_record=by_record)
    start(store, "Ann", "Bob")
    setting(store, "Round 1 closes", "2026-03-24 18:00")
    refresh(store)
    ours = Context(lambda _: store, clock, lambda: "seed")
    store.slow = True
    if by_record:
        assert sync(store, Wish(due=True), ours).closed is None, "it began before the deadline"
    else:
        with pytest.raises(ChangedMeanwhile):
            sync(store, Wish(due=True), ours)
    assert clock.now > utc("2026-03-24 18:00")
    second = sync(store, Wish(due=True), ours)
    assert second.closed is Stage.ROUND_1
    assert second.after.match.slips[1, "Ann"].bids == {1: 44}
    assert second.after.match.closed[Stage.ROUND_1] == "2026-03-24T18:00:05Z"


# --- telling beforehand --------------------------------------------------------------------------


def test_reminder__names_who_is_missing_and_how_long_there_is() -> None:
    store = game("Ann", "Bob", "Eve", Round_1_closes="2026-03-24 18:00")
    bid(store, "Ann", 1, {1: 5})
    now = utc("2026-03-24 15:30")
    assert announcement(look(store), None, now, missing=True) == (
        "Still without bids for round 1: Bob and Eve. It closes Tue 24 Mar 2026 18:00 (UTC), in 2"
        " hours 30 minutes.\n"
    )
    late = announcement(look(store), None, utc("2026-03-24 18:05"), missing=True)
    assert late.endswith("It was due Tue 24 Mar 2026 18:00 (UTC), 5 minutes ago.\n")
    bid(store, "Bob", 1, {1: 0})
    bid(store, "Eve", 1, {1: "pass"})
    assert announcement(look(store), None, now, missing=True).startswith("Everybody has entered")


def test_reminder__of_a_reopened_stage_names_those_awaited_alone() -> None:
    store = game("Ann", "Bob")
    close(store, 1)
    reopen(store, Stage.ROUND_1, ["Bob"], "misread", context())
    words = announcement(look(store), None, utc("2026-03-24 15:30"), missing=True)
    assert words == "Still without bids for round 1: Bob.\n"
