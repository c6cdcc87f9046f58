"""Two hosts at once, players who type meanwhile, and who may edit what."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sheets_host.grid import Area, Protected
from sheets_host.stores.base import ChangedMeanwhile, StoreError, Write
from tests.google_rig import SHEET, Rig, all_tabs, checks, record, rig_fixture, write
from tests.sheets_emulator import ROBOT

__all__ = ["rig_fixture"]

# --- two at once ----------------------------------------------------------------------


def test_write__of_two_hosts_one_wins_and_the_other_is_told(rig: Rig) -> None:
    write(rig.store, record("s0"))
    other = rig.another()
    mine, theirs = rig.store.read(["Record"]), other.read(["Record"])
    other.write(Write((record("s0", "theirs"),), theirs, "s0", "theirs", "x"))
    with pytest.raises(ChangedMeanwhile, match="another sync"):
        rig.store.write(Write((record("s0", "mine"),), mine, "s0", "mine", "x"))
    assert rig.google.values(SHEET, "Record")[-1][-1] == "theirs"


def test_write__of_two_hosts_who_begin_one_wins(rig: Rig) -> None:
    other = rig.another()
    mine, theirs = rig.store.read(["Record"]), other.read(["Record"])
    other.write(Write((record("theirs"),), theirs, "", "theirs", "x"))
    with pytest.raises((ChangedMeanwhile, StoreError)):
        rig.store.write(Write((record("mine"),), mine, "", "mine", "x"))
    assert rig.google.values(SHEET, "Record")[-1][-1] == "theirs"


def test_write__of_two_refreshes_of_one_record_the_second_is_told(rig: Rig) -> None:
    write(rig.store, record("s0"), checks("A1"))
    other = rig.another()
    mine, theirs = rig.store.read(["Checks"]), other.read(["Checks"])
    other.write(Write((checks("A2"),), theirs, "s0", "s0", "x"))
    with pytest.raises(ChangedMeanwhile):
        rig.store.write(Write((checks("A3"),), mine, "s0", "s0", "x"))


def test_write__entries_typed_meanwhile_are_untouched(rig: Rig) -> None:
    write(rig.store, *all_tabs())
    book = rig.store.read(["Record"])
    rig.google.type(SHEET, "Bids", "C3", "12")
    rig.store.write(Write((record("s0", "s1", "s2"),), book, "s1", "s2", "x"))
    assert rig.google.values(SHEET, "Bids")[2][2] == "12"


def test_write__a_tab_deleted_meanwhile(rig: Rig) -> None:
    write(rig.store, *all_tabs())
    book = rig.store.read(["Record"])
    rig.google.batch(SHEET, {"deleteSheet": {"sheetId": rig.google.tab(SHEET, "Record").id}})
    with pytest.raises(StoreError, match=r"the tabs were changed.*nothing was written"):
        rig.store.write(Write((record("s0", "s1", "s2"),), book, "s1", "s2", "x"))


# --- protections ----------------------------------------------------------------------

ANN, BOB = "ann@example.org", "bob@example.org"


def shared(rig: Rig) -> None:
    rig.google.book(SHEET).people |= {ANN: "writer", BOB: "writer"}


def protect(rig: Rig, *parts: Protected) -> None:
    book = rig.store.read(["Bids"])
    rig.store.write(Write((), book, "s1", "s1", "x", protected={"Bids": parts}))


def refused(rig: Rig, tab: str, at: str, who: str) -> bool:
    try:
        rig.google.type(SHEET, tab, at, "7", who=who)
    except PermissionError:
        return True
    return False


def test_protect__tool_tabs_are_open_to_the_hosts_account_alone(rig: Rig) -> None:
    shared(rig)
    write(rig.store, *all_tabs())
    assert refused(rig, "Record", "A1", ANN)
    assert refused(rig, "Checks", "Z99", ANN) is refused(rig, "Checks", "A1", BOB) is True
    assert not refused(rig, "Bids", "C3", ANN)
    assert [p["editors"]["users"] for p in rig.google.tab(SHEET, "Record").protected] == [[ROBOT]]


def test_protect__columns_of_players_and_rows_of_closed_rounds(rig: Rig) -> None:
    shared(rig)
    write(rig.store, *all_tabs())
    rig.google.type(SHEET, "Bids", "C4", "5", who=ANN)
    before = rig.google.snapshot(SHEET)
    column = Protected(Area(3, 3, 5, 3), (ANN,), "Ann's column")
    closed = Protected(Area(3, 1, 3, 3), (), "round 1 is closed")
    protect(rig, column, closed)
    assert refused(rig, "Bids", "C4", BOB)
    assert not refused(rig, "Bids", "C4", ANN)
    assert refused(rig, "Bids", "C3", ANN)
    protect(rig, column)  # reopened
    assert not refused(rig, "Bids", "C3", ANN)
    rig.google.type(SHEET, "Bids", "C3", None)
    rig.google.type(SHEET, "Bids", "C4", "5", who=ANN)
    after = rig.google.snapshot(SHEET)
    after["Bids"].pop("C3"), before["Bids"].pop("C3")
    assert after == before


def test_protect__the_same_again_sends_nothing(rig: Rig) -> None:
    write(rig.store, *all_tabs())
    part = Protected(Area(3, 3, 5, 3), (ANN,), "Ann's column")
    protect(rig, part)
    before = len(rig.google.calls)
    protect(rig, part)
    assert [call.kind for call in rig.google.calls[before:]] == ["read"]
    protect(rig, replace(part, editors=(BOB,)))
    assert len(rig.google.tab(SHEET, "Bids").protected) == 1
    assert BOB in rig.google.tab(SHEET, "Bids").protected[0]["editors"]["users"]


def test_protect__the_hosts_own_protections_stay(rig: Rig) -> None:
    write(rig.store, *all_tabs())
    area = {"sheetId": rig.google.tab(SHEET, "Bids").id, "endRowIndex": 1}
    rig.google.batch(
        SHEET,
        {"addProtectedRange": {"protectedRange": {"range": area, "description": "the host's"}}},
    )
    protect(rig)
    assert [p["description"] for p in rig.google.tab(SHEET, "Bids").protected] == ["the host's"]


def test_protect__a_tab_that_someone_else_protects_is_named(rig: Rig) -> None:
    write(rig.store, *all_tabs())
    sheet = rig.google.tab(SHEET, "Record")
    rig.google.batch(
        SHEET,
        {
            "addProtectedRange": {
                "protectedRange": {
                    "range": {"sheetId": sheet.id},
                    "editors": {"users": ["owner@example.org"]},
                }
            }
        },
    )
    before = rig.google.snapshot(SHEET)
    with pytest.raises(StoreError, match="tab 'Record': someone else protected it") as caught:
        write(rig.store, record("s0", "s1", "s2"), was="s1", now="s2")
    assert ROBOT in caught.value.hint
    assert rig.google.snapshot(SHEET) == before
