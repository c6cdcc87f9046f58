"""What people who used the tool ran into: each of these once went wrong before their eyes."""

from pathlib import Path
from typing import Any

import openpyxl
import pytest

from tests.command import Done, here
from tests.in_place import InPlace
from tests.workbook import Workbook, number, text


def _host(folder: Path, *words: str) -> Done:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return here(*words)


def _game(folder: Path, *players: str, sheets: bool = False) -> None:
    names = [word for player in players for word in ("--player", player)]
    extra = ["--entry-sheets", "sheets"] if sheets else []
    done = _host(folder, "new", "game.xlsx", *names, "--seed", "7", *extra)
    assert done.code == 0, done.said


def _bids(path: Path) -> dict[tuple[int, int], int]:
    """Return the row of each round and lot."""
    tab = openpyxl.load_workbook(path)["Bids"]
    rows = [(row[0].value, row[1].value, row[0].row) for row in tab.iter_rows()]
    return {
        (round_, lot): place
        for round_, lot, place in rows
        if isinstance(round_, int) and isinstance(lot, int) and place
    }


def test_a_sheet_out_of_reach__its_player_is_not_said_to_have_entered(tmp_path: Path) -> None:
    _game(tmp_path, "Ann", "Bob", sheets=True)
    row = _bids(tmp_path / "sheets/Bob.xlsx")[1, 1]
    InPlace(tmp_path / "sheets/Bob.xlsx").type("Bids", f"E{row}", 5)
    (tmp_path / "sheets/Ann.xlsx").rename(tmp_path / "sheets/gone.xlsx")
    checked = _host(tmp_path, "check", "game.xlsx")
    assert checked.code == 3
    assert "Entered (1 of 2): Bob Cannot be read: Ann" in checked.said
    assert "--entry-sheets DIR; or close without this player: --without NAME" in checked.said
    reminder = _host(tmp_path, "announce", "game.xlsx", "--missing").said
    assert "Everybody whose sheet can be read has entered bids for round 1." in reminder


def test_closing__is_done_although_the_next_rounds_entries_are_wrong(tmp_path: Path) -> None:
    _game(tmp_path, "Ann", "Bob")
    rows = _bids(tmp_path / "game.xlsx")
    InPlace(tmp_path / "game.xlsx").type("Bids", f"E{rows[2, 3]}", "abc")
    closed = _host(tmp_path, "sync", "game.xlsx", "--close", "1")
    assert closed.code == 0, closed.said
    assert "Round 1 is closed." in closed.said
    assert _host(tmp_path, "check", "game.xlsx").code == 1


def test_a_bid_beside_the_last_player__is_told(tmp_path: Path) -> None:
    _game(tmp_path, "Ann", "Bob")
    row = _bids(tmp_path / "game.xlsx")[1, 1]
    book = Workbook(tmp_path / "game.xlsx")
    book.put("Bids", f"G{row}", number(44))
    book.save()
    found = _host(tmp_path, "check", "game.xlsx", "--json").json["problems"]
    assert [(p["code"], p["cell"], p["severity"]) for p in found] == [
        ("outside-the-columns", f"G{row}", "notice")
    ]


@pytest.mark.parametrize("path", ["sheets/Ann.xlsx", "board.xlsx"])
def test_another_workbook_of_the_game__is_told_apart(path: str, tmp_path: Path) -> None:
    _game(tmp_path, "Ann", "Bob", sheets=True)
    book = openpyxl.load_workbook(tmp_path / "game.xlsx")
    board = next(row for row in book["Settings"].iter_rows() if row[0].value == "Board")
    InPlace(tmp_path / "game.xlsx").type("Settings", board[1].coordinate, "board.xlsx")
    assert _host(tmp_path, "sync", "game.xlsx").code == 0
    done = _host(tmp_path, "check", path)
    assert done.code == 3
    what = "this is the entry sheet of Ann" if path != "board.xlsx" else "this is a board"
    assert f"{what}" in done.said
    assert "name the game's own workbook" in done.said


@pytest.mark.parametrize("word", ["Ann:1.5", "Ann:-1", "Ann:", "Ann:+2", "Ann:1,5"])
def test_new__garnets_that_are_none_are_refused(word: str, tmp_path: Path) -> None:
    done = _host(tmp_path, "new", "game.xlsx", "--player", word)
    assert done.code == 2
    assert "garnets are a whole number, 0 or more" in done.said
    assert not (tmp_path / "game.xlsx").exists()


def test_doctor__a_broken_record_is_4_after_all_the_rest(tmp_path: Path) -> None:
    _game(tmp_path, "Ann", "Bob")
    assert _host(tmp_path, "sync", "game.xlsx", "--close", "1").code == 0
    InPlace(tmp_path / "game.xlsx").type("Record", "G6", "tampered")
    done = _host(tmp_path, "doctor", "game.xlsx")
    assert done.code == 4
    assert "Copies of the Record: 1" in done.said
    assert "row 2" in done.said
    assert "Record!A6" in done.said


def test_a_player_who_joins__is_in_the_chart_of_tokens(tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    _game(tmp_path, "Ann", "Bob")
    book: Any = openpyxl.load_workbook(path)
    before = len(book["Balances"]._charts)
    book["Players"]["A4"] = "Cid"
    for title in ("Bids", "Exchanges", "Compositions"):
        tab = book[title]
        head = next(cell for row in tab.iter_rows() for cell in row if cell.value == "Bob")
        tab.cell(head.row, head.column + 1).value = "Cid"
    book.save(path)
    assert before == 1
    assert _host(tmp_path, "sync", "game.xlsx", "--close", "1").code == 0
    after: Any = openpyxl.load_workbook(path)
    (chart,) = after["Balances"]._charts
    assert len(chart.series) == 3


def test_new_columns_of_a_report__get_their_widths(tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    _game(tmp_path, "Ann", "Bob")
    book = openpyxl.load_workbook(path)
    row = next(r for r in book["Settings"].iter_rows() if r[0].value == "Announced bids")
    InPlace(path).type("Settings", row[1].coordinate, "all bids")
    assert _host(tmp_path, "sync", "game.xlsx", "--close", "1").code == 0
    widths = openpyxl.load_workbook(path)["Auction"].column_dimensions
    assert widths["H"].width >= 40


def test_progress__is_shown_on_a_terminal_where_sheets_are_many(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from sheets_host.terminal import progress

    progress(3, 60)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    progress(3, 60)
    assert "Reading entry sheets: 3 of 60" in capsys.readouterr().err
    progress(1, 2)
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("COLUMNS", "30")
    progress(3, 60)
    shown = capsys.readouterr().err
    assert (shown[0], shown[-1], len(shown)) == ("\r", "\r", 31), "one line, and short of its end"


def test_progress__counts_every_sheet(tmp_path: Path) -> None:
    import datetime as dt
    import time

    from sheets_host.host.verbs import Context, check
    from sheets_host.opening import Access, opener, store_for

    _game(tmp_path, "Ann", "Bob", "Cid", sheets=True)
    seen: list[tuple[int, int]] = []

    def slow_at_first(done: int, total: int) -> None:
        time.sleep(0.1 * (done == 1))  # the second sheet is read by then, and may not overtake
        seen.append((done, total))

    path = str(tmp_path / "game.xlsx")
    context = Context(
        opener(path, Access()),
        lambda: dt.datetime(2026, 3, 1, tzinfo=dt.UTC),
        progress=slow_at_first,
    )
    check(store_for(path, Access()), context)
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_a_bid_of_thousands_of_zeros__is_read(tmp_path: Path) -> None:
    _game(tmp_path, "Ann", "Bob")
    path = tmp_path / "game.xlsx"
    row = _bids(path)[1, 1]
    book = Workbook(path)
    book.put("Bids", f"E{row}", text("0" * 5_000 + "5"))
    book.put("Bids", f"F{row}", number("2958465.99999999", "yyyy-mm-dd"))
    book.save()
    found = _host(tmp_path, "check", "game.xlsx", "--json")
    assert found.code == 1
    assert [p["code"] for p in found.json["problems"]] == ["stored-as-text", "date"]


def test_thousands_of_stray_values__are_told_in_a_few_lines(tmp_path: Path) -> None:
    _game(tmp_path, "Ann", "Bob", sheets=True)
    sheet: Any = openpyxl.load_workbook(tmp_path / "sheets/Ann.xlsx")
    for row in range(60, 1_560):
        sheet["Bids"].cell(row, 5).value = row
    for column in range(6, 2_006):
        sheet["Exchanges"].cell(6, column).value = f"name {column}"
    sheet.save(tmp_path / "sheets/Ann.xlsx")
    done = _host(tmp_path, "sync", "game.xlsx", "--close", "1", "--without", "Ann")
    assert done.code == 0, done.said
    assert len(done.out) < 5_000
    sheet["Exchanges"].delete_cols(6, 2_000)
    sheet.save(tmp_path / "sheets/Ann.xlsx")
    done = _host(tmp_path, "check", "game.xlsx", "--json")
    assert len([p for p in done.json["problems"] if p["code"] == "outside-the-rows"]) == 20


@pytest.mark.parametrize("path", ["~nosuchuser/g.xlsx", "x" * 300 + ".xls"])
def test_a_path_that_cannot_be__is_refused_in_words(path: str, tmp_path: Path) -> None:
    done = _host(tmp_path, "check", path)
    assert done.code == 2
    assert "cannot be reached" in done.said
