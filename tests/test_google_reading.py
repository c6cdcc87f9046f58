"""Links to Google Sheets, and what a read makes of their cells."""

from __future__ import annotations

from typing import Any

import pytest

from sheets_host.grid import Cell, Kind, Shape, Strike
from sheets_host.stores.base import StoreError
from sheets_host.stores.google import parse_reference
from tests.google_rig import SHEET, Rig, rig_fixture

__all__ = ["rig_fixture"]

# --- references ----------------------------------------------------------------------

ID = "1fxq1DY4l52GJ9h1eyc8MzlUkD748hv7bXBAaY_isDUM"


@pytest.mark.parametrize(
    "text",
    [
        ID,
        f" {ID}\n",
        f"https://docs.google.com/spreadsheets/d/{ID}",
        f"https://docs.google.com/spreadsheets/d/{ID}/edit?gid=0#gid=0",
        f"https://docs.google.com/spreadsheets/u/1/d/{ID}/edit?usp=sharing",
        f"https://docs.google.com/a/example.org/spreadsheets/d/{ID}/edit",
    ],
)
def test_parse_reference__links_and_ids(text: str) -> None:
    assert parse_reference(text) == ID


@pytest.mark.parametrize(
    "text",
    [
        "",
        "game.xlsx",
        "short",
        f"https://docs.google.com/document/d/{ID}/edit",
        f"https://docs.google.com/spreadsheets/d/e/2PACX-{ID}/pubhtml",
        f"https://example.org/spreadsheets/d/{ID}",
        f"https://docs.google.com.example.org/spreadsheets/d/{ID}",
        f"https://docs.google.com/spreadsheets/d/{ID}../x",
    ],
)
def test_parse_reference__anything_else_is_named(text: str) -> None:
    with pytest.raises(StoreError) as caught:
        parse_reference(text)
    assert caught.value.hint


# --- reading ----------------------------------------------------------------------

CELLS: list[tuple[str, dict[str, Any], Cell]] = [
    ("number", {"content": "50"}, Cell(Kind.NUMBER, 50.0)),
    ("trimmed by the sheet", {"content": " 50 "}, Cell(Kind.NUMBER, 50.0)),
    ("text number", {"content": "'50"}, Cell(Kind.TEXT, "50")),
    ("text that is no number: 3E4", {"content": "'3E4"}, Cell(Kind.TEXT, "3E4")),
    ("text 007", {"content": "'007"}, Cell(Kind.TEXT, "007")),
    ("text nan", {"content": "nan"}, Cell(Kind.TEXT, "nan")),
    ("text that is no formula", {"content": "'=1+1"}, Cell(Kind.TEXT, "=1+1")),
    ("full width", {"content": "５０"}, Cell(Kind.TEXT, "５０")),
    ("spaces", {"content": "'  "}, Cell(Kind.TEXT, "  ")),
    ("true", {"content": "TRUE"}, Cell(Kind.BOOLEAN, True)),
    (
        "formula",
        {"content": "=2+3", "result": {"numberValue": 5}},
        Cell(Kind.NUMBER, 5.0, "=2+3"),
    ),
    ("formula of nothing", {"content": '=""'}, Cell(Kind.TEXT, "", '=""')),
    (
        "broken reference",
        {"content": "=#REF!", "result": {"errorValue": {"type": "REF"}}},
        Cell(Kind.ERROR, "#REF!", "=#REF!"),
    ),
    (
        "loading",
        {"content": "=F()", "result": {"errorValue": {"type": "LOADING"}}},
        Cell(Kind.ERROR, "Loading…", "=F()"),
    ),
    (
        "date for 1/2",
        {"content": "1/2"},
        Cell(Kind.NUMBER, 46024.0, format="M/d/yyyy", shape=Shape.DATE),
    ),
    ("time", {"content": "10:30"}, Cell(Kind.NUMBER, 0.4375, format="h:mm", shape=Shape.TIME)),
    (
        "fraction",
        {"content": "0 1/2"},
        Cell(Kind.NUMBER, 0.5, format="# ?/?", shape=Shape.FRACTION),
    ),
    ("percent", {"content": "50%"}, Cell(Kind.NUMBER, 0.5, format="0%", shape=Shape.PERCENT)),
    (
        "money",
        {"content": "$5"},
        Cell(Kind.NUMBER, 5.0, format='"$"#,##0', shape=Shape.CURRENCY),
    ),
    (
        "scientific",
        {"content": "5e1"},
        Cell(Kind.NUMBER, 50.0, format="0.00E+00", shape=Shape.SCIENTIFIC),
    ),
    (
        "thousands hidden",
        {"content": 50000, "number_format": {"type": "NUMBER", "pattern": "0,"}},
        Cell(Kind.NUMBER, 50000.0, format="0,", shape=Shape.SCALED),
    ),
    (
        "date format without a pattern",
        {"content": 50, "number_format": {"type": "DATE"}},
        Cell(Kind.NUMBER, 50.0, format="yyyy-mm-dd", shape=Shape.DATE),
    ),
    (
        "text format",
        {"content": "1/2", "number_format": {"type": "TEXT"}},
        Cell(Kind.NUMBER, 46024.0, format="@", shape=Shape.TEXT),
    ),
    ("struck", {"content": "50", "strike": True}, Cell(Kind.NUMBER, 50.0, strike=Strike.WHOLE)),
    (
        "struck in part",
        {
            "content": "'40 50",
            "runs": [{"format": {"strikethrough": True}}, {"startIndex": 2, "format": {}}],
        },
        Cell(Kind.TEXT, "40 50", strike=Strike.PART),
    ),
    (
        "struck at its end",
        {"content": "'40 50", "runs": [{"startIndex": 3, "format": {"strikethrough": True}}]},
        Cell(Kind.TEXT, "40 50", strike=Strike.PART),
    ),
    ("with a note", {"content": "50", "note": "sic"}, Cell(Kind.NUMBER, 50.0, comment=True)),
]


@pytest.mark.parametrize(("typing", "cell"), [c[1:] for c in CELLS], ids=[c[0] for c in CELLS])
def test_read__typed_cells(rig: Rig, typing: dict[str, Any], cell: Cell) -> None:
    rig.google.type(SHEET, "Sheet1", "E7", **typing)
    assert rig.store.read(["Sheet1"]).grids["Sheet1"].at(7, 5) == cell


def test_read__a_text_format_keeps_what_is_typed(rig: Rig) -> None:
    rig.google.type(SHEET, "Sheet1", "A1", "x", number_format={"type": "TEXT"})
    rig.google.type(SHEET, "Sheet1", "A1", "1/2")
    cell = rig.store.read(["Sheet1"]).grids["Sheet1"].at(1, 1)
    assert (cell.kind, cell.value, cell.shape) == (Kind.TEXT, "1/2", Shape.TEXT)


def test_read__merged_hidden_and_other_facts(rig: Rig) -> None:
    google = rig.google
    google.type(SHEET, "Sheet1", "A1", "Round")
    google.type(SHEET, "Sheet1", "F9", "end")
    google.batch(
        SHEET,
        {
            "mergeCells": {
                "range": {
                    "sheetId": 0,
                    "startRowIndex": 4,
                    "endRowIndex": 5,
                    "startColumnIndex": 4,
                    "endColumnIndex": 6,
                },
                "mergeType": "MERGE_ALL",
            }
        },
        {
            "updateDimensionProperties": {
                "range": {"sheetId": 0, "dimension": "ROWS", "startIndex": 6, "endIndex": 8},
                "properties": {"hiddenByUser": True},
                "fields": "hiddenByUser",
            }
        },
        {
            "updateSheetProperties": {
                "properties": {"sheetId": 0, "hidden": True},
                "fields": "hidden",
            }
        },
    )
    google.tab(SHEET, "Sheet1").tables.append({"name": "Table1"})
    grid = rig.store.read(["Sheet1"]).grids["Sheet1"]
    assert grid.at(5, 5).merge == grid.at(5, 6).merge == "E5:F5"
    assert grid.at(5, 5).kind is Kind.BLANK
    assert grid.hidden_rows == {7, 8}
    assert grid.hidden_columns == frozenset()
    assert (grid.hidden, grid.tables, grid.key) == (True, ("Table1",), "0")


def test_read__a_merge_of_the_whole_tab_costs_no_memory(rig: Rig) -> None:
    rig.google.type(SHEET, "Sheet1", "B2", "x")
    rig.google.tab(SHEET, "Sheet1").merges.append(
        {"sheetId": 0, "endRowIndex": 1000, "endColumnIndex": 26}
    )
    assert len(rig.store.read(["Sheet1"]).grids["Sheet1"].cells) == 4


def test_read__titles_as_asked_for_in_any_case_and_every_title(rig: Rig) -> None:
    rig.google.add_spreadsheet(SHEET, ["bids", "C4", "Other"])
    rig.google.type(SHEET, "C4", "A1", "a tab named as a cell")
    book = rig.store.read(["Bids", "C4", "Missing"])
    assert book.titles == ("bids", "C4", "Other")
    assert set(book.grids) == {"Bids", "C4"}
    assert book.grids["Bids"].title == "bids"
    assert book.grids["C4"].at(1, 1).value == "a tab named as a cell"


def test_read__is_one_call(rig: Rig) -> None:
    rig.store.read(["Sheet1"])
    assert [call.kind for call in rig.google.calls] == ["read"]
