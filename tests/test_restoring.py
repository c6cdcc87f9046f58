"""The proof and the way back: verify, every kind of tampering, copies of the Record, restore."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sheets_host.game.record import HEADERS, Record, RecordBroken, Row, read_record
from sheets_host.game.stages import Stage
from sheets_host.host.copies import keep_copy, kept_copies, read_copy
from sheets_host.host.doctor import examine
from sheets_host.host.restoring import restore
from sheets_host.host.verbs import UsageError, Wish, sync, verify
from sheets_host.stores.base import Finding, Store, StoreError
from sheets_host.stores.excel import ExcelStore
from sheets_host.tabs.problems import DamagedTabs
from tests.command import here
from tests.google_rig import SHEET, Rig, rig_fixture
from tests.memory_store import MemoryStore
from tests.playing import (
    NOW,
    SEED,
    bid,
    close,
    context,
    enrol,
    game,
    look,
    play_on,
    refresh,
    setting,
    start,
)
from tests.workbook import Workbook, text

__all__ = ["rig_fixture"]

FIRST = 5  # the Record's first row on its tab


def played(rounds: int = 2, seed: str = SEED) -> MemoryStore:
    store = game("Ann:3", "Bob", "Eve", seed=seed)
    for round_ in range(1, rounds + 1):
        bid(store, "Ann", round_, {1: 9, 2: 5})
        bid(store, "Bob", round_, {2: 7, 3: 3})
        close(store, round_)
    return store


def rows_of(store: MemoryStore) -> list[Row]:
    grid = store.grid("Record")
    last = max(row for row, _ in grid.cells)
    return [
        tuple(grid.at(row, column).text for column in range(1, 9))  # type: ignore[misc]
        for row in range(FIRST, last + 1)
    ]


def put_rows(store: MemoryStore, rows: list[Row]) -> None:
    """Type rows over the Record, and clear what is left below."""
    height = max(len(rows), len(rows_of(store)))
    for n in range(height):
        texts = rows[n] if n < len(rows) else ("",) * 8
        for column, content in zip("ABCDEFGH", texts, strict=True):
            store.type("Record", f"{column}{FIRST + n}", content)


def copies(store: Store) -> list[Path]:
    return sorted(path for path in store.copies().iterdir() if path.suffix == ".json")


# --- tampering -----------------------------------------------------------------------------------

Rows = list[Row]


def find(rows: Rows, kind: str, nth: int = 0) -> int:
    return [n for n, row in enumerate(rows) if row[2] == kind][nth]


def value_changed(rows: Rows) -> int:
    n = find(rows, "bid")
    rows[n] = (*rows[n][:6], "99", rows[n][7])
    return n + 1


def player_changed(rows: Rows) -> int:
    n = find(rows, "bid")
    rows[n] = (*rows[n][:4], "Bob", *rows[n][5:])
    return n + 1


def rows_swapped(rows: Rows) -> int:
    n = find(rows, "bid")
    rows[n], rows[n + 1] = rows[n + 1], rows[n]
    return n + 1


def row_removed(rows: Rows) -> int:
    n = find(rows, "bid")
    del rows[n]
    return n + 1


def row_added_between(rows: Rows) -> int:
    n = find(rows, "bid")
    rows.insert(n, rows[n])
    return n + 2


def row_added_at_the_end(rows: Rows) -> int:
    rows.append((str(len(rows) + 1), "", "bid", "2", "Ann", "lot 5", "1", rows[-1][7]))
    return len(rows)


def seals_swapped(rows: Rows) -> int:
    n = find(rows, "bid")
    one, two = rows[n], rows[n + 1]
    rows[n], rows[n + 1] = (*one[:7], two[7]), (*two[:7], one[7])
    return n + 1


def cut_off_at_the_end(rows: Rows) -> int:
    del rows[-5:]
    return len(rows) + 1


def rebuilt_from_the_change_on(rows: Rows) -> int:
    """Somebody who knows how seals are made works them all out anew."""
    record = read_record(rows)
    n = find(rows, "bid")
    events = list(record.events)
    events[n] = type(events[n])(**{**_fields(events[n]), "value": "1"})
    rows[:] = Record().with_events(events).as_rows()
    return len(rows)


def _fields(event: object) -> dict[str, str]:
    names = ("kind", "stage", "player", "item", "value", "at")
    return {name: getattr(event, name) for name in names}


TAMPERINGS: list[tuple[Callable[[Rows], int], str]] = [
    (value_changed, r"\(bid Ann lot 1 99\) was altered"),
    (player_changed, "was altered"),
    (rows_swapped, "is not in its place"),
    (row_removed, "is missing"),
    (row_added_between, "is not in its place|is missing"),
    (row_added_at_the_end, "was altered"),
    (seals_swapped, "was altered"),
    (cut_off_at_the_end, "were cut off"),
    (rebuilt_from_the_change_on, "is not the one that was written"),
]


@pytest.mark.parametrize(
    ("tamper", "says"), TAMPERINGS, ids=lambda part: part.__name__ if callable(part) else ""
)
def test_tampering__is_named_and_keeps_every_command_out(
    tamper: Callable[[Rows], int], says: str
) -> None:
    store = played()
    rows = rows_of(store)
    row = tamper(rows)
    put_rows(store, rows)
    writes = len(store.writes)
    for command in (look, refresh, lambda s: verify(s, context()), lambda s: close(s, 3)):
        with pytest.raises(RecordBroken, match=says) as broken:
            command(store)
        assert f"row {row}" in broken.value.message
    assert len(store.writes) == writes


@pytest.mark.parametrize("tamper", [case for case, _ in TAMPERINGS], ids=lambda case: case.__name__)
def test_tampering__is_undone_by_the_last_copy(tamper: Callable[[Rows], int]) -> None:
    store = played()
    before = look(store)
    rows = rows_of(store)
    tamper(rows)
    put_rows(store, rows)
    done = restore(store, copies(store)[-1], context(), sure=tamper in SURE)
    assert done.record == before.record
    assert look(store).ledger == before.ledger
    assert verify(store, context()).differing == ()


SURE = (rebuilt_from_the_change_on,)  # its chain is sound in itself, so the host must say --yes


def test_rebuilt_chain__on_every_tab_is_told_by_an_announced_seal() -> None:
    store = played()
    announced = look(store).record.seal
    early = look(store).record.seals[3]
    rows = rows_of(store)
    rebuilt_from_the_change_on(rows)
    put_rows(store, rows)
    for title in ("Standings", "Balances", "Garnets", "Conditions", "Breakdown", "Auction",
                  "Collections", "Checks", "Record"):  # fmt: skip
        store.type(title, "A3", None)  # the stamps that would betray it
    refresh(store)
    assert verify(store, context()).differing == ()
    assert verify(store, context(), announced).announced is None
    assert verify(store, context(), early).announced == 4, "what came before the change"


def test_verify__says_at_which_stage_an_announced_seal_lies() -> None:
    store = game("Ann", "Bob")
    seals = [close(store, 1).after.record.seal, close(store, 2).after.record.seal]
    play_on(store)
    for round_, seal in enumerate(seals, 1):
        for spelt in (seal, seal.upper(), seal.replace(" ", ""), f" {seal} "):
            found = verify(store, context(), spelt)
            assert found.stage.startswith(f"written when round {round_} was closed, ")
    final = verify(store, context(), look(store).record.seal)
    assert final.stage.startswith("written when composing was closed, ")
    first = verify(store, context(), look(store).record.seals[0])
    assert first.announced == 1
    assert first.stage.startswith("written when the match was made, ")
    assert verify(store, context(), "").announced is None


REPORTS = [
    ("Standings", "Player", "Somebody"),
    ("Balances", "Left", 999),
    ("Garnets", "Now", 9),
    ("Conditions", "Worth", 99),
    ("Breakdown", "Why", "because"),
    ("Auction", "Winner", "Eve"),
    ("Collections", "Ann", "C whole"),
]


@pytest.mark.parametrize(("tab", "header", "value"), REPORTS, ids=str)
def test_verify__names_an_edited_report_cell(tab: str, header: str, value: str | int) -> None:
    store = game("Ann:3", "Bob", "Eve")
    bid(store, "Ann", 1, dict.fromkeys(range(1, 7), 9))
    play_on(store)
    grid = store.grid(tab)
    column = next(c for (r, c), cell in grid.cells.items() if r == 4 and cell.text == header)
    cell = f"{chr(64 + column)}6"
    before = store.at(tab, cell).shown
    store.type(tab, cell, value)
    (difference,) = verify(store, context()).differing
    assert (difference.tab, difference.cell, difference.says) == (tab, cell, str(value))
    assert difference.should_say == before
    assert difference.where == f"{tab}!{cell}"
    refresh(store)
    assert verify(store, context()).differing == ()


def test_verify__names_an_edited_cell_of_the_board() -> None:
    store, board = game("Ann", "Bob"), MemoryStore("board.xlsx")
    setting(store, "Board", "board.xlsx")
    ours = context(board)
    bid(store, "Ann", 1, {1: 9})
    close(store, 1, at=ours)
    board.type("Auction", "F5", "Bob")
    (difference,) = verify(store, ours).differing
    assert difference.where == "board.xlsx: Auction!F5"


# --- copies --------------------------------------------------------------------------------------


def test_copies__one_after_each_closing_and_none_else() -> None:
    store = played()
    refresh(store)
    play_on(store)
    found = copies(store)
    assert [path.name.rpartition(" ")[0].partition("after ")[2] for path in found] == [
        *(f"round-{r}" for r in range(1, 7)), "composing",
    ]  # fmt: skip
    assert [read_copy(path).rows for path in found] == sorted(read_copy(p).rows for p in found)
    assert read_copy(found[-1]) == look(store).record


def test_doctor__names_the_last_copy_even_where_the_record_is_broken(tmp_path: Path) -> None:
    store = ExcelStore(tmp_path / "game.xlsx", clock=lambda: NOW)
    start(store, "Ann", "Bob")
    for round_ in (1, 2):
        close(store, round_)
    book = Workbook(tmp_path / "game.xlsx")
    book.put("Record", "G20", text("meddled"))
    book.save()
    last = kept_copies(store.copies())[-1]
    assert "after round-2" in last.name
    found: list[Finding] = []
    with pytest.raises(RecordBroken, match="meddled"):
        found.extend(examine(store, context()))
    assert any(str(last) in finding.what for finding in found if finding.ok)
    assert kept_copies(tmp_path / "none") == []


def test_copies__of_a_dry_run_are_not_kept() -> None:
    store = game("Ann", "Bob")
    assert sync(store, Wish(close=Stage.ROUND_1, dry_run=True), context()).closed
    assert not store.copies().exists()


def test_copies__a_match_that_went_another_way_overwrites_none() -> None:
    store = played(1)
    early = copies(store)[0]
    close(store, 2)
    restore(store, early, context(), sure=True)
    bid(store, "Eve", 2, {5: 5})
    bid(store, "Ann", 2, {})
    close(store, 2)
    seals = [read_copy(path).seal for path in copies(store)]
    assert len(set(seals)) == 3


def test_copies__that_cannot_be_kept_are_told_and_the_closing_stands(tmp_path: Path) -> None:
    store = game("Ann", "Bob")
    (tmp_path / "file").write_text("in the way")
    store.copies = lambda: tmp_path / "file" / "copies"  # type: ignore[method-assign]
    done = close(store, 1)
    assert [error.message.split(":")[0] for error in done.trouble] == [
        f"the copy of the Record could not be kept in {tmp_path / 'file' / 'copies'}"
    ]
    assert look(store).match.stage is Stage.ROUND_2


BAD_COPIES = [
    ("", StoreError, "is no copy"),
    ("[]", StoreError, "is no copy"),
    ('{"kind": "sheets-host record"}', StoreError, "is no copy"),
    ('{"kind": "sheets-host record", "rows": [["1"]]}', StoreError, "is no copy"),
    ('{"kind": "other", "rows": []}', StoreError, "is no copy"),
    ("[" * 100_000, StoreError, "is no copy"),
    ("\ufffe\x00", StoreError, "is no copy"),
]


@pytest.mark.parametrize(("content", "error", "says"), BAD_COPIES, ids=lambda x: str(x)[:30])
def test_read_copy__refuses_what_is_none(
    content: str, error: type[Exception], says: str, tmp_path: Path
) -> None:
    path = tmp_path / "copy.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(error, match=says):
        read_copy(path)


def test_read_copy__refuses_an_altered_one(tmp_path: Path) -> None:
    path = keep_copy(tmp_path, look(played()).record, "round 2")
    whole = json.loads(path.read_text(encoding="utf-8"))
    assert whole["headers"] == list(HEADERS)
    bad = json.loads(path.read_text(encoding="utf-8"))
    bad["rows"][20][6] = "99"
    path.write_text(json.dumps(bad), encoding="utf-8")
    with pytest.raises(RecordBroken, match="row 21"):
        read_copy(path)
    whole["rows"].pop()
    path.write_text(json.dumps(whole), encoding="utf-8")
    with pytest.raises(RecordBroken, match="cut off"):
        read_copy(path)
    with pytest.raises(StoreError, match="cannot be read"):
        read_copy(tmp_path / "none.json")


# --- restore -------------------------------------------------------------------------------------


def emptied(store: MemoryStore) -> None:
    put_rows(store, [])


def all_cleared(store: MemoryStore) -> None:
    for row, column in list(store.grid("Record").cells):
        store.type("Record", f"{chr(64 + column)}{row}", None)


def header_gone(store: MemoryStore) -> None:
    for column in "ABCDEFGH":
        store.type("Record", f"{column}4", None)


def one_header_gone(store: MemoryStore) -> None:
    store.type("Record", "H4", "Stamp")


def tab_deleted(store: MemoryStore) -> None:
    store.delete("Record")


def tab_renamed(store: MemoryStore) -> None:
    store.rename("Record", "Chronicle")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (emptied, "an empty Record"),
        (all_cleared, "an empty Record"),
        (header_gone, "a damaged tab Record"),
        (one_header_gone, "a damaged tab Record"),
        (tab_deleted, "no tab Record"),
        (tab_renamed, "no tab Record"),
    ],
    ids=lambda part: part.__name__ if callable(part) else "",
)
def test_restore__whatever_became_of_the_tab(
    spoil: Callable[[MemoryStore], None], words: str
) -> None:
    store = played()
    before = look(store)
    spoil(store)
    with pytest.raises((DamagedTabs, RecordBroken)):
        look(store)
    done = restore(store, copies(store)[-1], context(), sure=False)
    assert done.present.startswith(words)
    assert done.loses == ""
    assert look(store).record == before.record
    assert verify(store, context()).differing == ()


def test_restore__an_older_copy_over_a_sound_record_wants_to_be_sure() -> None:
    store = played()
    first, second = copies(store)
    rows = look(store).record.rows
    with pytest.raises(UsageError, match="a Record that verifies") as refusal:
        restore(store, first, context(), sure=False)
    kept = read_copy(first).rows
    assert f"its rows {kept + 1} to {rows} are not in the copy" in refusal.value.message
    assert look(store).record.rows == rows
    shown = restore(store, first, context(), sure=False, dry_run=True)
    assert shown.loses
    assert look(store).record.rows == rows
    restore(store, first, context(), sure=True)
    assert look(store).match.stage is Stage.ROUND_2
    again = close(store, 2)
    assert again.after.ledger == restore(store, second, context(), sure=True).table.ledger


def test_restore__a_copy_of_another_match_never_says_to_change_names(tmp_path: Path) -> None:
    other = game("Xu", "Yve")
    close(other, 1)
    (copy,) = copies(other)
    store = game("Ann", "Bob")
    close(store, 1)
    store.type("Players", "F3", "Bob")
    store.type("Players", "A3", "Dora")
    refresh(store)
    with pytest.raises(StoreError, match="seems to be of another match"):
        restore(store, copy, context(), sure=True)


def test_restore__a_copy_of_a_match_of_the_same_players_is_told() -> None:
    other = played(1, seed="other")
    (copy,) = copies(other)
    store = played(1)
    with pytest.raises(UsageError, match="the copy is of another match"):
        restore(store, copy, context(), sure=False)


def test_restore__over_a_broken_record_names_what_the_copy_lacks() -> None:
    store = played()
    emptied(store)
    with pytest.raises(UsageError, match="what was recorded after those is not in it"):
        restore(store, copies(store)[0], context(), sure=False)


def test_restore__a_copy_of_another_match_is_told_by_the_reports() -> None:
    store, other = played(), played(seed="another")
    assert look(store).record.rows == look(other).record.rows
    emptied(store)
    with pytest.raises(UsageError, match="it is of another match"):
        restore(store, copies(other)[-1], context(), sure=False)


def test_restore__the_same_record_changes_nothing() -> None:
    store = played()
    writes = len([write for write in store.writes if write.tabs])
    done = restore(store, copies(store)[-1], context(), sure=False)
    assert done.loses == ""
    assert len([write for write in store.writes if write.tabs]) == writes


def test_restore__heals_a_report_whose_stamp_was_typed_over() -> None:
    store = played()
    stamp = store.at("Standings", "A3").text
    store.type("Standings", "A3", stamp.replace("Record: ", "Record: 9"))
    with pytest.raises(RecordBroken):
        look(store)
    restore(store, copies(store)[-1], context(), sure=False)
    assert store.at("Standings", "A3").text == stamp


def test_restore__follows_a_rename_that_came_after_the_copy() -> None:
    store = played()
    store.type("Players", "F2", "Ann")
    store.type("Players", "A2", "Annabel")
    refresh(store)
    enrol(store, "Bob", "Status", "withdrawn")
    emptied(store)
    done = restore(store, copies(store)[-1], context(), sure=True)
    assert done.table.match.names == ("Annabel", "Bob", "Eve")
    assert look(store).match.names == ("Annabel", "Bob", "Eve")


def test_restore__on_a_file_keeps_what_stood_before(tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    store = ExcelStore(path, clock=lambda: NOW)
    start(store, "Ann", "Bob")
    close(store, 1)
    book = Workbook(path)
    book.put("Record", "G20", text("meddled"))
    book.save()
    with pytest.raises(RecordBroken, match="row 16"):
        look(store)
    done = restore(store, copies(store)[-1], context(), sure=False)
    assert "a broken Record (row 16" in done.present
    assert any(note.startswith("Backup: ") for note in done.notes)
    assert verify(store, context()).differing == ()


def test_restore__on_google(rig: Rig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(rig.store), "copies", lambda _: tmp_path)
    start(rig.store, "Ann", "Bob")
    close(rig.store, 1)
    rig.google.type(SHEET, "Record", "G20", "meddled")
    with pytest.raises(RecordBroken, match="row 16"):
        look(rig.store)
    restore(rig.store, copies(rig.store)[-1], context(), sure=False)
    found = verify(rig.store, context())
    assert found.differing == ()
    close(rig.store, 2)
    rig.google.type(SHEET, "Balances", "F5", "1")
    (difference,) = verify(rig.store, context()).differing
    assert difference.where == "Balances!F5"


# --- copies that are none, or are missing --------------------------------------------------------


def altered(store: Store, **changes: object) -> Path:
    """Write the last copy anew, with some of its parts changed."""
    path = copies(store)[-1]
    content = json.loads(path.read_text(encoding="utf-8")) | changes
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"rows": [], "seal": ""}, "without a row"),
        ({"rows": [["\ud800"] * 8]}, "no copy of a Record"),
        ({"rows": [[None] * 8]}, "no copy of a Record"),
        ({"rows": {}}, "no copy of a Record"),
        ({"kind": ["sheets-host record"]}, "no copy of a Record"),
    ],
)
def test_copy__that_is_none(changes: dict[str, object], says: str) -> None:
    store = played(1)
    path = altered(store, **changes)
    with pytest.raises(StoreError, match=says) as caught:
        restore(store, path, context(), sure=True)
    assert str(path) in caught.value.message
    assert "they lie among the backups" in caught.value.hint


@pytest.mark.parametrize("seal", ["\ud800", None, 7, ["x"]])
def test_copy__with_an_odd_seal(seal: object) -> None:
    store = played(1)  # its folder goes with it
    with pytest.raises(RecordBroken, match="the last seal is not that of the last row"):
        read_copy(altered(store, seal=seal))


@pytest.mark.parametrize("text_", ["[" * 100_000, '{"a":' * 100_000, "9" * 10_000, "\ufeff{}", ""])
def test_copy__of_odd_json(text_: str, tmp_path: Path) -> None:
    path = tmp_path / "copy.json"
    path.write_text(text_, encoding="utf-8")
    with pytest.raises(StoreError, match="no copy of a Record"):
        read_copy(path)


def test_copy__too_large_is_not_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sheets_host.host.copies.LARGEST", 10)
    path = tmp_path / "copy.json"
    path.write_text(" " * 11, encoding="utf-8")
    with pytest.raises(StoreError, match="too large: at most 10 bytes"):
        read_copy(path)


def test_copy__that_a_killed_run_left_out_is_made_by_the_next_sync() -> None:
    store = played(2)
    [first, second] = copies(store)
    kept = second.read_bytes()
    second.unlink()  # killed between the write and the copy
    done = sync(store, Wish(), context())
    assert copies(store) == [first, second]
    assert second.read_bytes() == kept
    assert any(str(second) in note for note in done.notes)
    assert sync(store, Wish(), context()).notes == ()


def test_copy__of_a_command_that_was_killed_before_it(tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    assert here("new", path, "--player", "Ann", "--player", "Bob", "--seed", "s").code == 0
    killed = (
        "import os, sys; from sheets_host.host import verbs; from sheets_host.cli import main;"
        "verbs.keep_copy = lambda *_: os._exit(9); main()"
    )
    words = [sys.executable, "-c", killed, "sync", str(path), "--close", "1"]
    assert subprocess.run(words, check=False, capture_output=True, timeout=60).returncode == 9
    folder = tmp_path / "game-backups"
    assert kept_copies(folder) == []
    assert here("sync", path).code == 0
    [copy] = kept_copies(folder)
    assert "after round-1" in copy.name
    assert here("restore", path, copy, "--dry-run").code == 0


def test_copy__is_made_once_and_not_by_a_dry_run() -> None:
    store = played(1)
    [path] = copies(store)
    path.unlink()
    sync(store, Wish(dry_run=True), context())
    assert copies(store) == []
    sync(store, Wish(), context())
    first = path.stat().st_mtime_ns
    sync(store, Wish(), context())
    assert path.stat().st_mtime_ns == first


def test_copy__of_another_way_of_the_match_does_not_count() -> None:
    store, other = played(2), played(2, seed="another")
    for path in copies(store):
        path.unlink()
    [*_, theirs] = copies(other)
    record = read_copy(theirs)
    keep_copy(store.copies(), record, "round 2")
    sync(store, Wish(), context())
    assert len(copies(store)) == 2


def test_copy__that_cannot_be_made_later_is_told() -> None:
    store = played(1)
    for path in copies(store):
        path.unlink()
    store.copies().rmdir()
    store.copies().write_text("in the way", encoding="utf-8")
    done = sync(store, Wish(), context())
    assert "could not be kept" in done.trouble[0].message


def test_copy__clears_away_what_killed_runs_left_if_it_is_old() -> None:
    store = played(1)
    folder = store.copies()
    names = ("record 000057 after round-1 3f9a12cc.99.tmp", "record of mine.tmp", "x.tmp")
    old, mine, other = (folder / name for name in names)
    young = folder / "record 000057 after round-1 3f9a12cc.98.tmp"
    for path in (old, mine, other, young):
        path.touch()
        if path != young:
            os.utime(path, (1_000_000_000, 1_000_000_000))
    bid(store, "Ann", 2, {1: 1})
    close(store, 2)
    assert not old.exists()
    assert mine.exists()
    assert other.exists()
    assert young.exists()
    assert len(copies(store)) == 2
