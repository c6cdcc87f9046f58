"""Everything that can go wrong on the way to Google, at each call of a sync."""

from __future__ import annotations

import time

import pytest

from sheets_host.grid import Owner, Tab
from sheets_host.stores.base import ChangedMeanwhile, StoreError, Write
from sheets_host.stores.google.transport import DEADLINE, TRIES
from tests.google_rig import SHEET, Rig, bids, checks, record, rig_fixture, write
from tests.sheets_emulator import ROBOT

__all__ = ["rig_fixture"]

PASSING = [
    ("429", {}),
    ("429", {"retry_after": 7}),
    ("403-rate", {}),
    ("500", {}),
    ("503", {}),
    ("503", {"retry_after": 3}),
    ("502-html", {}),
    ("reset-before", {}),
    ("reset-after", {}),
    ("503-after", {}),
    ("cut-after", {}),
    ("slow", {"seconds": 0.6}),
]
IDS = [f"{kind}{options or ''}" for kind, options in PASSING]


def begin(rig: Rig) -> None:
    """Leave a game that stands, so that the next sync has something to append to."""
    write(rig.store, bids(), checks("C3"), record("s0"), now="s0")
    rig.google.calls.clear()


def sync(rig: Rig) -> None:
    """Append to the Record and refresh a report, as closing a round does."""
    write(rig.another(answer=0.3), checks("C4"), record("s0", "s1"), was="s0", now="s1")


def outcome(rig: Rig) -> list[list[str]]:
    return rig.google.values(SHEET, "Record")[4:]


DONE = [["1", "=not a formula 1", "s0"], ["2", "=not a formula 2", "s1"]]
BEFORE = DONE[:1]


@pytest.mark.parametrize("on", ["read", "write"])
@pytest.mark.parametrize(("kind", "options"), PASSING, ids=IDS)
def test_sync__goes_through_what_passes(
    rig: Rig, kind: str, options: dict[str, int], on: str
) -> None:
    begin(rig)
    rig.google.fault(kind, on, **options)  # type: ignore[arg-type]
    sync(rig)
    assert outcome(rig) == DONE
    assert len(rig.time.said) == 1, "a word on stderr for each wait"
    assert SHEET in rig.time.said[0]
    assert len(rig.google.book(SHEET).named) == 1


@pytest.mark.parametrize("kind", ["500", "503", "502-html", "reset-before"])
def test_write__an_unclear_answer_is_asked_about_before_anything_is_sent_again(
    rig: Rig, kind: str
) -> None:
    begin(rig)
    rig.google.fault(kind, "write")
    sync(rig)
    assert [call.kind for call in rig.google.calls] == ["read", "write", "read", "write"]


@pytest.mark.parametrize("kind", ["reset-after", "503-after", "cut-after"])
def test_write__what_was_done_is_not_sent_again(rig: Rig, kind: str) -> None:
    begin(rig)
    rig.google.fault(kind, "write")
    sync(rig)
    assert [call.kind for call in rig.google.calls] == ["read", "write", "read"]
    assert outcome(rig) == DONE


def test_write__a_quota_is_a_clear_no(rig: Rig) -> None:
    begin(rig)
    rig.google.fault("429", "write")
    sync(rig)
    assert [call.kind for call in rig.google.calls] == ["read", "write", "write"]


def test_write__the_same_batch_sent_twice_is_done_once(rig: Rig) -> None:
    """Something between here and Google repeats a request on its own."""
    begin(rig)
    store = rig.another()
    book = store.read(["Record"])
    once = Write((record("s0", "s1"),), book, "s0", "s1", "x")
    store.write(once)
    before = rig.google.snapshot(SHEET)
    rig.another().write(once)
    assert rig.google.snapshot(SHEET) == before


def test_waiting__as_long_as_google_asks(rig: Rig) -> None:
    rig.google.fault("429", retry_after=17)
    rig.store.read([])
    assert rig.time.waits == [17]


def test_waiting__not_beyond_the_deadline(rig: Rig) -> None:
    rig.google.fault("429", retry_after=3600)
    with pytest.raises(StoreError, match="slow down"):
        rig.store.read([])
    assert rig.time.waits == []


@pytest.mark.parametrize("kind", ["429", "500", "502-html", "reset-before"])
@pytest.mark.parametrize("on", ["read", "write"])
def test_lasting_trouble__ends(rig: Rig, kind: str, on: str) -> None:
    begin(rig)
    rig.google.fault(kind, on, times=1000)
    with pytest.raises(StoreError) as caught:
        sync(rig)
    assert sum(call.kind == on for call in rig.google.calls) == TRIES
    assert sum(rig.time.waits) <= DEADLINE
    assert outcome(rig) == BEFORE
    assert "again" in caught.value.hint


def test_lasting_trouble__after_the_write_was_done(rig: Rig) -> None:
    begin(rig)
    rig.google.fault("reset-after", "write")
    rig.google.fault("503", "read", skip=1, times=1000)
    with pytest.raises(StoreError, match="cannot be told whether the write was done") as caught:
        sync(rig)
    assert "repeats nothing" in caught.value.hint
    rig.google.state.faults.waiting.clear()
    before = rig.google.snapshot(SHEET)
    sync(rig)
    assert rig.google.snapshot(SHEET) == before


def test_a_quota__ends_in_words(rig: Rig) -> None:
    rig.google.limit(3)
    for _ in range(3):
        rig.store.read([])
    with pytest.raises(StoreError, match=r"slow down \(429\)"):
        rig.store.read([])


FINAL = [
    ("400-office", "Excel file", "Save as Google Sheets"),
    ("401", "sign-in", "doctor"),
    ("403", ROBOT, f"add {ROBOT} and make it Editor"),
    ("403-disabled", "API is off", "console.cloud.google.com"),
    ("403-scope", "does not cover spreadsheets", "auth/spreadsheets"),
    ("404", "no spreadsheet with this id", "Check the link"),
]


@pytest.mark.parametrize("on", ["read", "write"])
@pytest.mark.parametrize(("kind", "what", "hint"), FINAL, ids=[kind for kind, *_ in FINAL])
def test_what_stays__is_told_at_once(rig: Rig, kind: str, what: str, hint: str, on: str) -> None:
    begin(rig)
    rig.google.fault(kind, on)
    with pytest.raises(StoreError) as caught:
        sync(rig)
    assert what in caught.value.message
    assert SHEET in caught.value.message
    assert hint in caught.value.hint
    assert rig.time.waits == []
    assert sum(call.kind == on for call in rig.google.calls) == 1
    assert outcome(rig) == BEFORE


def test_an_invalid_request__undoes_the_whole_batch(rig: Rig) -> None:
    begin(rig)
    before = rig.google.snapshot(SHEET)
    long = Tab("Checks", Owner.TOOL, [["x" * 50_001]])
    with pytest.raises(StoreError, match=r"tab 'Checks'.*nothing was written.*50000 characters"):
        write(rig.store, record("s0", "s1"), long, was="s0", now="s1")
    assert rig.google.snapshot(SHEET) == before
    assert len(rig.google.book(SHEET).named) == 1


def test_an_edit_between_read_and_write__by_another_host(rig: Rig) -> None:
    begin(rig)
    other = rig.another()
    book = other.read(["Record"])
    theirs = Write((record("s0", "theirs"),), book, "s0", "theirs", "x")
    rig.google.fault("edit", "write", edit=lambda: other.write(theirs))
    with pytest.raises(ChangedMeanwhile):
        sync(rig)
    assert outcome(rig)[-1][-1] == "theirs"
    assert len(outcome(rig)) == 2


def test_an_edit_between_read_and_write__a_player_inserts_a_row_and_types(rig: Rig) -> None:
    begin(rig)
    sheet = rig.google.tab(SHEET, "Bids").id
    span = {"sheetId": sheet, "dimension": "ROWS", "startIndex": 2, "endIndex": 3}

    def edit() -> None:
        rig.google.batch(SHEET, {"insertDimension": {"range": span}})
        rig.google.type(SHEET, "Bids", "C4", "12")

    rig.google.fault("edit", "write", edit=edit)
    sync(rig)
    assert outcome(rig) == DONE
    assert rig.google.values(SHEET, "Bids")[3][2] == "12"


def test_the_network__is_gone(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sheets_host.stores.google.transport.GOOGLE", rig.google.url)
    rig.google._server.shutdown()
    rig.google._server.server_close()
    with pytest.raises(StoreError, match="connection to Google failed"):
        rig.store.read([])
    assert len(rig.time.waits) == TRIES - 1


def test_the_emulator__that_was_stopped_is_told_at_once(rig: Rig) -> None:
    rig.google._server.shutdown()
    rig.google._server.server_close()
    with pytest.raises(StoreError, match=f"nothing answers at {rig.google.host}") as stopped:
        rig.store.read([])
    assert "SHEETS_EMULATOR_HOST" in stopped.value.hint
    assert rig.time.waits == []


def test_a_slow_write__that_arrives_after_its_repeat_is_refused(rig: Rig) -> None:
    begin(rig)
    rig.google.fault("slow", "write", seconds=0.7)
    sync(rig)
    late = time.monotonic() + 5
    while rig.google.count("write") < 2 and time.monotonic() < late:
        time.sleep(0.02)
    assert [call.status for call in rig.google.calls if call.kind == "write"] == [200, 400]
    assert outcome(rig) == DONE
