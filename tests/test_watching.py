"""``sync --every``, and two hosts at once."""

from __future__ import annotations

import datetime as dt
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from sheets_host.game.record import RecordBroken
from sheets_host.game.stages import Stage
from sheets_host.host.verbs import Context, Synced, UsageError, Wish, sync, verify
from sheets_host.host.watching import Beat, Stop, minding_ctrl_c, watch
from sheets_host.printing import show_beat
from sheets_host.stores.base import ChangedMeanwhile, Store, StoreError
from sheets_host.stores.excel import ExcelStore
from tests.command import MINDING_CTRL_C, here
from tests.google_rig import SHEET, Rig, rig_fixture
from tests.memory_store import MemoryStore
from tests.playing import NOW, bid, close, context, find, game, look, refresh, setting, start

__all__ = ["rig_fixture"]


class Clock:
    """Time that passes only by waiting."""

    def __init__(self, now: dt.datetime = NOW) -> None:
        self.now = now

    def __call__(self) -> dt.datetime:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += dt.timedelta(seconds=seconds)


def beats(
    store: Store, count: int, *, due: bool = True, clock: Clock | None = None, seconds: int = 60
) -> list[Beat]:
    clock = clock or Clock()
    told: list[Beat] = []
    ours = Context(lambda _: store, clock, lambda: "seed")
    watch(store, Wish(due=due), ours, seconds, clock.sleep, told.append, count)
    return told


# --- beats ---------------------------------------------------------------------------------------


def test_watch__closes_what_is_due_once_and_is_quiet_else() -> None:
    store = game("Ann", "Bob", Round_1_closes="2026-03-01 18:02")
    told = beats(store, 6)
    assert [beat.fresh for beat in told] == [True, False, True, False, False, False]
    closed = [beat.synced.closed for beat in told if beat.synced]
    assert closed == [None, None, Stage.ROUND_1, None, None, None]


def test_watch__writes_nothing_without_a_change() -> None:
    store = game("Ann", "Bob")
    refresh(store)
    before = len([write for write in store.writes if write.tabs])
    beats(store, 5)
    assert len([write for write in store.writes if write.tabs]) == before


def test_watch__goes_through_errors_and_tells_each_once() -> None:
    store = game("Ann", "Bob", Round_1_closes="2026-03-01 18:03")
    store.refusal = StoreError("game.xlsx is open in Excel")
    setting(store, "Game", "Renamed")  # so that there is something to write
    clock = Clock()
    told: list[Beat] = []

    def tell(beat: Beat) -> None:
        told.append(beat)
        if len(told) == 3:
            store.refusal = None

    ours = Context(lambda _: store, clock, lambda: "seed")
    bid(store, "Ann", 1, {1: 5})
    watch(store, Wish(due=True), ours, 60, clock.sleep, tell, 5)
    assert [beat.trouble for beat in told] == ["game.xlsx is open in Excel"] * 3 + ["", ""]
    assert [beat.fresh for beat in told] == [True, False, False, True, False]
    assert look(store).match.stage is Stage.ROUND_2, "the deadline passed meanwhile, and is minded"


def test_watch__goes_through_a_tab_that_someone_renamed() -> None:
    store = game("Ann", "Bob")
    clock = Clock()
    told: list[Beat] = []

    def tell(beat: Beat) -> None:
        told.append(beat)
        if len(told) == 1:
            store.rename("Bids", "Bids of mine")
        elif len(told) == 2:
            store.rename("Bids of mine", "Bids")

    ours = Context(lambda _: store, clock, lambda: "seed")
    watch(store, Wish(), ours, 60, clock.sleep, tell, 3)
    assert ["Bids" in beat.trouble for beat in told] == [False, True, False]


def test_watch__ends_on_a_record_that_does_not_verify() -> None:
    store = game("Ann", "Bob")
    store.type("Record", "G6", "somebody")
    with pytest.raises(RecordBroken):
        beats(store, 3)


@pytest.mark.parametrize("seconds", [4, 0, -1])
def test_watch__refuses_too_quick_a_beat(seconds: int) -> None:
    with pytest.raises(UsageError, match="too quick"):
        beats(game("Ann", "Bob"), 1, seconds=seconds)


def test_watch__under_hold_says_why_it_stays_open_and_once() -> None:
    store = game("Ann", "Bob", Round_1_closes="2026-03-01 17:00")
    bid(store, "Ann", 1, {1: "lots"})
    told = beats(store, 3)
    assert [beat.fresh for beat in told] == [True, False, False]
    assert told[2].synced is not None
    assert told[2].synced.held == "problems stand"


# What a beat's line says, closing or not: with the workbook's name, to be looked at.
LINES: list[tuple[str, list[str]]] = [
    ("hold", ["stays open: 1 problem stands; see: sheets-host check"]),
    ("void", ["closed round 1; struck out: Ann, round 1, lot 1: lots; round 2 is open"]),
]


@pytest.mark.parametrize(("unfixed", "says"), LINES)
def test_beat__tells_what_is_wrong_or_was_struck_out(
    unfixed: str, says: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    store = game(
        "Ann", "Bob", Round_1_closes="2026-03-01 17:00", Unfixed_entries_at_closing=unfixed
    )
    bid(store, "Ann", 1, {1: "lots"})
    show_beat(beats(store, 1)[0], page=True)
    line = " ".join(capsys.readouterr().out.split())
    assert all(words in line for words in says)
    assert line.endswith("and the page")


def test_beat__names_the_closing_where_a_sheet_or_the_board_could_not_be_written(
    capsys: pytest.CaptureFixture[str],
) -> None:
    store = game("Ann", "Bob", Round_1_closes="2026-03-01 17:00")
    (beat,) = beats(store, 1)
    assert beat.synced is not None
    show_beat(replace(beat, trouble="board.xlsx: the disk is full"))
    line = " ".join(capsys.readouterr().out.split())
    assert "closed round 1; a sheet or the board is not written, will try again: board" in line
    show_beat(Beat(None, "the network is gone", fresh=True))
    assert "not done, will try again: the network is gone" in capsys.readouterr().out


# --- Google --------------------------------------------------------------------------------------


def google_game(rig: Rig) -> None:
    start(rig.store, "Ann", "Bob")
    rig.google.calls.clear()


def google_type(rig: Rig, tab: str, keys: dict[str, int | str], header: str, value: str) -> None:
    grid = rig.store.read((tab,)).grids[tab]
    rig.google.type(SHEET, tab, find(grid, keys, header), value)
    rig.google.calls.clear()


def test_watch__on_google_is_one_read_a_beat_and_no_write_without_a_change(rig: Rig) -> None:
    google_game(rig)
    refresh(rig.store)
    rig.google.calls.clear()
    beats(rig.store, 4)
    assert [call.kind for call in rig.google.calls] == ["read"] * 4


def test_watch__on_google_closes_with_one_read_and_one_write(rig: Rig) -> None:
    google_game(rig)
    google_type(rig, "Settings", {"Setting": "Round 1 closes"}, "Value", "2026-03-01 18:01")
    google_type(rig, "Bids", {"Round": 1, "Lot": 1}, "Ann", "12")
    told = beats(rig.store, 3)
    assert [beat.synced.closed for beat in told if beat.synced] == [None, Stage.ROUND_1, None]
    assert [call.kind for call in rig.google.calls] == ["read", "write", "read", "write", "read"]


def test_watch__on_google_goes_through_a_lost_network(rig: Rig) -> None:
    google_game(rig)
    refresh(rig.store)
    rig.google.fault("reset-before", "read", times=7)  # longer than one read is tried
    told = beats(rig.store, 4)
    assert [bool(beat.trouble) for beat in told] == [True, False, False, False]
    assert "could not be read" in told[0].trouble


# --- Ctrl-C --------------------------------------------------------------------------------------


def test_ctrl_c__during_a_turn_ends_it_after_that_turn() -> None:
    store = game("Ann", "Bob", Round_1_closes="2026-03-01 17:00")
    told: list[Beat] = []
    said: list[str] = []

    def pressed_while_the_copy_is_kept() -> Path:
        signal.raise_signal(signal.SIGINT)
        return MemoryStore.copies(store)

    store.copies = pressed_while_the_copy_is_kept  # type: ignore[method-assign]
    before = signal.getsignal(signal.SIGINT)
    with minding_ctrl_c(said.append) as stop:
        ours = Context(lambda _: store, lambda: NOW, lambda: "seed")
        watch(store, Wish(due=True), ours, 60, time.sleep, told.append, None, stop)
    assert len(told) == 1
    assert told[0].synced is not None
    assert told[0].synced.closed is Stage.ROUND_1
    assert len(list(MemoryStore.copies(store).iterdir())) == 1, (
        "what follows the write is done, too"
    )
    assert "Stopping after this turn" in said[0]
    assert signal.getsignal(signal.SIGINT) is before


def press_ctrl_c(*, busy: bool, times: int) -> None:
    with minding_ctrl_c(lambda _: None) as stop:
        stop.busy = busy
        for _ in range(times):
            signal.raise_signal(signal.SIGINT)
            time.sleep(0.01)
        assert stop == Stop(busy=busy, asked=True)


def test_ctrl_c__between_turns_ends_at_once() -> None:
    with pytest.raises(KeyboardInterrupt):
        press_ctrl_c(busy=False, times=1)


def test_ctrl_c__pressed_twice_ends_a_turn() -> None:
    press_ctrl_c(busy=True, times=1)
    with pytest.raises(KeyboardInterrupt):
        press_ctrl_c(busy=True, times=2)


@pytest.mark.skipif(sys.platform == "win32", reason="sends a POSIX signal")
def test_command__every_stops_cleanly_on_ctrl_c(tmp_path: Path) -> None:
    book = tmp_path / "game.xlsx"
    assert here("new", book, "--player", "Ann", "--player", "Bob", "--seed", "s").code == 0
    words = [sys.executable, "-c", MINDING_CTRL_C, "sync", str(book), "--due", "--every", "5"]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    ) as running:
        assert running.stdout is not None
        line = running.stdout.readline()
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=30)
    assert "round 1 is open; 0 of 2 entered" in line
    assert running.returncode == 0
    assert said.endswith("Stopped; the match is as the last line says.\n")
    assert "Traceback" not in said
    assert here("verify", book).code == 0
    assert not [p.name for p in tmp_path.iterdir() if p.name.endswith(".tmp")]


# --- two hosts at once ---------------------------------------------------------------------------


# Their clocks differ: what two hosts write in the same second, with the same seed, is the same.
LATER = context(now=NOW + dt.timedelta(seconds=1))


class Meanwhile:
    """A host's store that lets another host do something between its reading and its writing."""

    def __init__(self, store: Store, other: object) -> None:
        self._store, self._other = store, other

    def __getattr__(self, name: str) -> object:
        return getattr(self._store, name)

    def write(self, write: object) -> tuple[str, ...]:
        other, self._other = self._other, None
        if callable(other):
            other()
        return self._store.write(write)  # type: ignore[arg-type]


@pytest.fixture(name="excel")
def excel_pair(tmp_path: Path) -> tuple[Store, Store]:
    path = tmp_path / "game.xlsx"
    store = ExcelStore(path, clock=lambda: NOW)
    start(store, "Ann", "Bob")
    return store, ExcelStore(path, clock=lambda: NOW)


@pytest.fixture(name="google")
def google_pair(rig: Rig) -> tuple[Store, Store]:
    google_game(rig)
    google_type(rig, "Bids", {"Round": 1, "Lot": 1}, "Ann", "12")
    return rig.store, rig.another()


@pytest.fixture(params=["excel", "google"])
def pair(request: pytest.FixtureRequest) -> tuple[Store, Store]:
    found: tuple[Store, Store] = request.getfixturevalue(request.param)
    return found


def closed_rounds(store: Store) -> list[str]:
    return [e.stage for e in look(store).record.events if e.kind == "closed"]


def test_two_hosts__one_wins_the_other_is_told_and_nothing_is_doubled(
    pair: tuple[Store, Store],
) -> None:
    one, other = pair
    slower = Meanwhile(one, lambda: close(other, 1, at=LATER))
    with pytest.raises(ChangedMeanwhile, match=r"another sync|someone else"):
        sync(slower, Wish(close=Stage.ROUND_1), context())  # type: ignore[arg-type]
    assert closed_rounds(one) == ["1"]
    assert len(look(one).match.deals) == 2
    again = sync(one, Wish(close=Stage.ROUND_1), context())
    assert (again.already, again.closed) == (Stage.ROUND_1, None)
    assert verify(one, context()).differing == ()


def test_two_hosts__a_close_meets_a_reopening(pair: tuple[Store, Store]) -> None:
    from sheets_host.host.reopening import reopen

    one, other = pair
    close(one, 1)

    def reopened() -> None:
        reopen(other, Stage.ROUND_1, ["Ann"], "misread", context())

    with pytest.raises(ChangedMeanwhile):
        sync(Meanwhile(one, reopened), Wish(close=Stage.ROUND_2), context())  # type: ignore[arg-type]
    assert look(one).match.stage is Stage.ROUND_1
    assert closed_rounds(one) == ["1"]


def test_two_hosts__in_two_threads_close_once(pair: tuple[Store, Store]) -> None:
    results: list[Synced | StoreError | UsageError] = []
    gate = threading.Barrier(2)

    def host(store: Store, at: Context) -> None:
        gate.wait()
        try:
            results.append(sync(store, Wish(close=Stage.ROUND_1), at))
        except (StoreError, UsageError) as refusal:
            results.append(refusal)

    times = (context(), LATER)
    threads = [
        threading.Thread(target=host, args=(store, at))
        for store, at in zip(pair, times, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    won = [r for r in results if isinstance(r, Synced) and r.closed]
    told = [r for r in results if isinstance(r, ChangedMeanwhile) or getattr(r, "already", None)]
    assert (len(won), len(told)) == (1, 1)
    assert closed_rounds(pair[0]) == ["1"]
    assert verify(pair[0], context()).differing == ()


def test_two_hosts__each_with_every_closes_each_stage_once(rig: Rig) -> None:
    google_game(rig)
    for round_ in range(1, 7):
        keys: dict[str, int | str] = {"Setting": f"Round {round_} closes"}
        google_type(rig, "Settings", keys, "Value", f"2026-03-01 18:0{round_}")
    stores = (rig.store, rig.another())
    for minute in range(9):
        clock = Clock(NOW + dt.timedelta(minutes=minute))
        for store in stores:
            (beat,) = beats(store, 1, clock=clock)
            assert not beat.trouble
    assert closed_rounds(rig.store) == ["1", "2", "3", "4", "5", "6"]
