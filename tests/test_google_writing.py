"""What a write makes of a Google Sheet, on the emulator."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sheets_host.grid import (
    Area,
    Cell,
    Content,
    Kind,
    Looks,
    Owner,
    Style,
    Styled,
    Tab,
    same_contents,
)
from sheets_host.stores.base import Write
from sheets_host.stores.google import GoogleStore
from tests.google_rig import (
    SHEET,
    FakeClock,
    Rig,
    all_tabs,
    bids,
    checks,
    record,
    rig_fixture,
    write,
)
from tests.sheets_emulator import Emulator

__all__ = ["rig_fixture"]


def test_write__what_was_written_stands_and_nothing_is_sent_again(rig: Rig) -> None:
    write(rig.store, *all_tabs())
    book = rig.store.read([tab.title for tab in all_tabs()])
    assert book.titles == ("Sheet1", "Bids", "Checks", "Record")
    for tab in all_tabs():
        assert same_contents(tab, book.grids[tab.title]), tab.title
    before = len(rig.google.calls)
    assert rig.store.write(Write(all_tabs(), book, "s1", "s1", "again")) == ()
    assert len(rig.google.calls) == before


def test_write__is_one_call(rig: Rig) -> None:
    write(rig.store, *all_tabs())
    assert [call.kind for call in rig.google.calls] == ["read", "write"]


def test_write__text_is_never_a_formula(rig: Rig) -> None:
    nasty = ["=1+1", "+1", "-1", "@x", "'quoted", "1/2", "007", "TRUE", "#REF!", "=HYPERLINK(1)"]
    tab = Tab("Checks", Owner.TOOL, [nasty])
    write(rig.store, tab)
    grid = rig.store.read(["Checks"]).grids["Checks"]
    for column, text in enumerate(nasty, 1):
        assert grid.at(1, column) == Cell(Kind.TEXT, text)


def test_write__fewer_rows_and_columns_leave_nothing_behind(rig: Rig) -> None:
    wide = Tab("Standings", Owner.TOOL, [["a", "b", "c"], ["d", "e", "f"], ["g"], [], [], ["z"]])
    narrow = Tab("Standings", Owner.TOOL, [["a", "B"], [None, "e"]])
    write(rig.store, wide)
    write(rig.store, narrow, now="s2")
    assert rig.google.values(SHEET, "Standings") == [["a", "B"], ["", "e"]]


def test_write__only_the_rows_that_differ_are_sent(rig: Rig) -> None:
    def tab(*changed: int) -> Tab:
        return Tab(
            "T", Owner.TOOL, [[f"row {n}", (n in changed and "!") or "="] for n in range(40)]
        )

    write(rig.store, tab())
    write(rig.store, tab(3, 5, 30), now="s2")
    body = rig.google.calls[-1].body
    assert body is not None
    blocks = [
        (part["updateCells"]["range"]["startRowIndex"], part["updateCells"]["range"]["endRowIndex"])
        for part in body["requests"]
        if "updateCells" in part
    ]
    assert blocks == [(3, 6), (30, 31)]
    assert same_contents(tab(3, 5, 30), rig.store.read(["T"]).grids["T"])


def test_write__grows_columns_before_rows_before_it_fills(rig: Rig) -> None:
    rig.google.add_spreadsheet(SHEET, ["Sheet1", "Standings"])
    rig.google.batch(
        SHEET,
        {
            "updateSheetProperties": {
                "properties": {"sheetId": 1, "gridProperties": {"rowCount": 2, "columnCount": 2}},
                "fields": "gridProperties(rowCount,columnCount)",
            }
        },
    )
    tab = Tab("Standings", Owner.TOOL, [[str(n) for n in range(5)]] * 5, Looks(frozen=(4, 1)))
    write(rig.store, tab)
    body = rig.google.calls[-1].body
    assert body is not None
    fields = [
        r["updateSheetProperties"]["fields"]
        for r in body["requests"]
        if "updateSheetProperties" in r
    ]
    assert fields[:2] == ["gridProperties.columnCount", "gridProperties.rowCount"]
    assert same_contents(tab, rig.store.read(["Standings"]).grids["Standings"])


def test_write__never_freezes_every_row(rig: Rig) -> None:
    write(rig.store, Tab("Standings", Owner.TOOL, [["a"]] * 4, Looks(frozen=(4, 1))))
    assert rig.google.tab(SHEET, "Standings").rows > 4


def test_write__binds_a_tab_by_its_id_and_never_adds_a_second(rig: Rig) -> None:
    rig.google.add_spreadsheet(SHEET, ["Sheet1", "RECORD"])
    write(rig.store, record("s1"))
    assert [sheet.title for sheet in rig.google.book(SHEET).sheets] == ["Sheet1", "RECORD"]


def test_write__leaves_every_other_tab_alone(rig: Rig) -> None:
    rig.google.type(SHEET, "Sheet1", "B2", "the host's own", note="mine", strike=True)
    before = rig.google.snapshot(SHEET)["Sheet1"]
    write(rig.store, *all_tabs())
    assert rig.google.snapshot(SHEET)["Sheet1"] == before


def test_write__links_lead_to_tabs_of_the_same_batch(rig: Rig) -> None:
    write(rig.store, *all_tabs())
    target = rig.google.tab(SHEET, "Bids").id
    cell = rig.google.cell(SHEET, "Checks", "A5")
    assert cell["userEnteredValue"] == {"stringValue": "Bids!C3"}
    assert cell["userEnteredFormat"]["textFormat"]["link"]["uri"] == f"#gid={target}&range=C3"


def test_write__a_link_goes_with_its_row(rig: Rig) -> None:
    write(rig.store, *all_tabs())
    write(rig.store, checks(), now="s2")
    assert rig.google.cell(SHEET, "Checks", "A5") == {}


def test_write__new_tabs_get_their_looks(rig: Rig) -> None:
    write(rig.store, *all_tabs())
    sheet = rig.google.tab(SHEET, "Bids")
    grid = sheet.properties["gridProperties"]
    assert (grid["frozenRowCount"], grid["frozenColumnCount"]) == (2, 1)
    header = rig.google.cell(SHEET, "Bids", "A2")["userEnteredFormat"]
    assert header["textFormat"]["bold"] is True
    assert header["backgroundColorStyle"]["rgbColor"] == {
        "red": 0.1216,
        "green": 0.3059,
        "blue": 0.4706,
    }
    assert (
        rig.google.cell(SHEET, "Bids", "C3")["userEnteredFormat"]["numberFormat"]["type"]
        == "NUMBER"
    )
    conditions = [r["booleanRule"]["condition"] for r in sheet.rules if "booleanRule" in r]
    assert [c["values"][0]["userEnteredValue"] for c in conditions] == [
        '=$B3="closed"',
        '=INDIRECT("Record!"&"R"&(ROW()+2)&"C3",FALSE)<>INDIRECT("Record!$A$1")',
    ]
    assert "gradientRule" in sheet.rules[2]
    whole, one_of, listed = (
        rig.google.cell(SHEET, "Bids", at)["dataValidation"] for at in ("C5", "B3", "B1")
    )
    assert [rule["strict"] for rule in (whole, one_of, listed)] == [False] * 3
    assert one_of["condition"]["values"] == [{"userEnteredValue": "=Record!$C$5:$C$60"}]
    assert listed["condition"]["type"] == "ONE_OF_LIST"
    assert sheet.merges
    assert sheet.filter
    assert sheet.properties["tabColorStyle"]["rgbColor"]["red"] == 1
    assert sheet.column_facts[0]["pixelSize"] == 61
    assert sheet.row_facts[0]["pixelSize"] == 40
    chart = sheet.charts[0]["spec"]["basicChart"]
    assert (chart["chartType"], chart["headerCount"]) == ("BAR", 1)
    assert [axis.get("viewWindowOptions") for axis in chart["axis"]] == [None, {"viewWindowMin": 0}]
    ground = sheet.charts[0]["spec"]["backgroundColorStyle"]["rgbColor"]
    assert ground == {"red": 1, "green": 1, "blue": 1}


def test_write__changed_looks_replace_the_former_ones(rig: Rig) -> None:
    tab = replace(bids(), owner=Owner.TOOL)
    write(rig.store, tab, record("s1"))
    rig.google.tab(SHEET, "Bids").charts[0]["position"]["moved"] = True
    rules = (tab.looks.rules[0],)
    looks = replace(tab.looks, rules=rules, bars=(), merges=(), filtered=None, checks=())
    write(rig.store, replace(tab, looks=looks), now="s2")
    sheet = rig.google.tab(SHEET, "Bids")
    assert (len(sheet.rules), sheet.merges, sheet.filter) == (1, [], None)
    assert "dataValidation" not in rig.google.cell(SHEET, "Bids", "C3")
    assert len(sheet.charts) == 1
    assert sheet.charts[0]["position"]["moved"] is True
    assert len(sheet.protected) == 1


def test_write__new_looks_do_not_send_the_rows_again(rig: Rig) -> None:
    """A filter or a rule that grows with the rows must not cost the whole tab."""

    def tab(rows: int) -> Tab:
        events = [[f"row {n}"] for n in range(rows)]
        return Tab("T", Owner.TOOL, events, Looks(filtered=Area(1, 1, rows, 1)))

    write(rig.store, tab(50))
    write(rig.store, tab(51), now="s2")
    body = rig.google.calls[-1].body
    assert body is not None
    sent = [part["updateCells"]["rows"] for part in body["requests"] if "updateCells" in part]
    assert [len(rows) for rows in sent] == [1]
    filtered = rig.google.tab(SHEET, "T").filter
    assert filtered is not None
    assert filtered["range"]["endRowIndex"] == 51


def test_write__rows_that_appear_get_their_style(rig: Rig) -> None:
    write(rig.store, record("s0"))
    write(rig.store, record("s0", "s1"), now="s1")
    assert (
        rig.google.cell(SHEET, "Record", "A6")["userEnteredFormat"]["numberFormat"]["type"]
        == "TEXT"
    )


def test_write__nothing_of_a_style_stays_where_it_no_longer_is(rig: Rig) -> None:
    def tab(text: str, *styles: Styled) -> Tab:
        return Tab("T", Owner.TOOL, [[text]], Looks(styles=styles))

    write(rig.store, tab("bad", Styled(Area(1, 1, 1, 1), Style(fill="FF0000"))))
    write(rig.store, tab("good"), now="s2")
    assert "userEnteredFormat" not in rig.google.cell(SHEET, "T", "A1")


def test_write__a_row_is_no_higher_than_what_stands_in_it_now(rig: Rig) -> None:
    def tab(*names: str) -> Tab:
        heights = {row: 48 for row, name in enumerate(names, 1) if len(name) > 9}
        return Tab("T", Owner.TOOL, [[name] for name in names], Looks(heights=heights))

    write(rig.store, tab("Ann", "A long name", "Bob"))
    write(rig.store, tab("A long name", "Ann", "Bob"), now="s2")
    facts = rig.google.tab(SHEET, "T").row_facts
    assert [facts[row]["pixelSize"] for row in (0, 1)] == [64, 21]


@pytest.mark.parametrize("locale", ["en_US", "de_DE", "de_CH", "fr_FR", "ja_JP"])
def test_write__formulas_in_the_locale_of_the_sheet(rig: Rig, locale: str) -> None:
    rig.google.add_spreadsheet(SHEET, locale=locale)
    write(rig.store, bids(), record("s1"))
    grid = rig.store.read(["Bids"]).grids["Bids"]
    assert grid.at(3, 2).kind is Kind.TEXT  # where the locale cannot read it, an error
    assert same_contents(bids(), grid)


def test_write__merges_that_frozen_panes_would_cut_are_left_out(rig: Rig) -> None:
    looks = Looks(frozen=(1, 1), merges=(Area(1, 1, 1, 3), Area(2, 2, 2, 3)))
    write(rig.store, Tab("T", Owner.TOOL, [["A long title"], ["a", "b"]], looks))
    assert [area["startRowIndex"] for area in rig.google.tab(SHEET, "T").merges] == [1]


@pytest.mark.parametrize(("players", "most"), [(12, 60_000), (200, 1_500_000)])
def test_write__bytes_of_a_closing_are_bounded(players: int, most: int) -> None:
    """A round closes: its bids are appended to the Record, and every report changes."""

    def game(rounds: int) -> tuple[Tab, ...]:
        events: list[list[Content]] = [
            [
                str(n),
                "2026-11-02T20:00:00Z",
                "bid",
                "1",
                f"Player {n % players}",
                "D# quarter",
                "40",
                "3f9a 1b2c 0d4e 77aa",
            ]
            for n in range(rounds * players * 8)
        ]
        reports: list[list[Content]] = [
            [f"Player {n}", rounds, rounds * 7, "D# quarter", ""] for n in range(players)
        ]
        return (
            Tab("Record", Owner.TOOL, [["Record"], [f"round {rounds}"], [], ["Seq"], *events]),
            Tab("Balances", Owner.TOOL, [*reports] * rounds),
            Tab("Standings", Owner.TOOL, reports),
        )  # fmt: skip

    with Emulator() as google:
        google.add_spreadsheet(SHEET)
        google.state.check_answers = players < 100
        store = GoogleStore(
            SHEET,
            clock=FakeClock().clock(30.0),
            environ={"SHEETS_EMULATOR_HOST": google.host},
        )
        write(store, *game(1))
        write(store, *game(2), now="s2")
        sent = google.calls[-1].received
        assert [call.kind for call in google.calls] == ["read", "write"] * 2
        assert sent < most, sent
