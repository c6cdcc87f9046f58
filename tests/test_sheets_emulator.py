"""The emulator is as strict as Google where the store could go wrong."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from http.client import HTTPConnection
from typing import Any

import pytest

from tests.google_rig import SHEET, Rig, rig_fixture
from tests.sheets_emulator.__main__ import ask, serve
from tests.sheets_emulator.schema import InvalidError, mask, schemas

__all__ = ["rig_fixture"]


def call(rig: Rig, method: str, path: str, body: object = None) -> tuple[int, dict[str, Any]]:
    connection = HTTPConnection(rig.google.host, timeout=5)
    try:
        connection.request(method, f"/v4/spreadsheets/{path}", json.dumps(body) if body else None)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def batch(rig: Rig, *requests: dict[str, Any]) -> str:
    status, answer = call(rig, "POST", f"{SHEET}:batchUpdate", {"requests": list(requests)})
    return "" if status == 200 else f"{status} {answer['error']['message']}"


def cells(fields: str = "userEnteredValue", **more: Any) -> dict[str, Any]:
    area = {"sheetId": 0, "startRowIndex": 0, "endRowIndex": 2, "endColumnIndex": 2}
    return {"updateCells": {"range": area, "fields": fields, "rows": []} | more}


def text(value: str) -> dict[str, Any]:
    return {"values": [{"userEnteredValue": {"stringValue": value}}]}


REFUSED = [
    ("no requests", (), "Must specify at least one request"),
    ("unknown kind", ({"updateCell": {}},), "Unknown name \"updateCell\" at 'requests[0]'"),
    ("unknown field", (cells(colour="red"),), "Unknown name \"colour\" at 'requests[0].update_cells'"),
    ("two kinds", ({"addSheet": {}, "deleteSheet": {"sheetId": 0}},), "oneof"),
    ("a wrong type", (cells(rows=[{"values": [{"note": 5}]}]),), "TYPE_STRING"),
    ("an unknown enum", ({"mergeCells": {"mergeType": "ALL"}},), "merge_type"),
    ("no mask", (cells(fields=""),), "Invalid requests[0].updateCells"),
    ("a wrong mask", (cells(fields="userEnteredValue,colour"),), "'colour'"),
    ("more rows than the range", (cells(rows=[text("a")] * 3),), "beyond the last requested row"),
    (
        "beyond the grid",
        (cells(range={"sheetId": 0, "endRowIndex": 1001, "endColumnIndex": 1}),),
        "exceeds grid limits. Max rows: 1000, max columns: 26",
    ),
    ("no such tab", (cells(range={"sheetId": 9}),), "No grid with id: 9"),
    ("an old title", ({"addSheet": {"properties": {"title": "SHEET1"}}},), "already exists"),
    ("an old id", ({"addSheet": {"properties": {"sheetId": 0, "title": "X"}}},), "already exists"),
    (
        "every row frozen",
        (
            {
                "updateSheetProperties": {
                    "properties": {"sheetId": 0, "gridProperties": {"frozenRowCount": 1000}},
                    "fields": "gridProperties.frozenRowCount",
                }
            },
        ),
        "freeze all",
    ),
    ("no such name", ({"deleteNamedRange": {"namedRangeId": "x"}},), "No named range"),
    (
        "a rule that names another tab",
        (
            {
                "addConditionalFormatRule": {
                    "rule": {
                        "ranges": [{"sheetId": 0}],
                        "booleanRule": {
                            "condition": {
                                "type": "CUSTOM_FORMULA",
                                "values": [{"userEnteredValue": "=Other!A1"}],
                            },
                            "format": {},
                        },
                    }
                }
            },
        ),
        "cannot reference a different sheet",
    ),
    (
        "the second of two",
        (cells(rows=[text("a")]), {"deleteSheet": {"sheetId": 7}}),
        "Invalid requests[1].deleteSheet",
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("requests", "words"), [c[1:] for c in REFUSED], ids=[c[0] for c in REFUSED]
)
def test_batch__refused_and_nothing_done(
    rig: Rig, requests: tuple[dict[str, Any], ...], words: str
) -> None:
    before = rig.google.snapshot(SHEET)
    said = batch(rig, *requests)
    assert said.startswith("400 ")
    assert words in said
    assert rig.google.snapshot(SHEET) == before


def test_batch__a_range_clears_what_the_rows_do_not_cover(rig: Rig) -> None:
    for at in ("A1", "B1", "A2", "C1"):
        rig.google.type(SHEET, "Sheet1", at, at)
    assert batch(rig, cells(rows=[text("new")])) == ""
    assert rig.google.values(SHEET, "Sheet1") == [["new", "", "C1"]]


def test_get__trims_what_is_empty(rig: Rig) -> None:
    fields = "sheets(properties.sheetId,data(startRow,rowData(values(userEnteredValue))))"
    assert call(rig, "GET", f"{SHEET}?fields={fields}")[1] == {
        "sheets": [{"properties": {"sheetId": 0}, "data": [{}]}]
    }
    rig.google.type(SHEET, "Sheet1", "B2", "x")
    assert call(rig, "GET", f"{SHEET}?fields={fields}")[1]["sheets"][0]["data"] == [
        {"rowData": [{}, {"values": [{}, {"userEnteredValue": {"stringValue": "x"}}]}]}
    ]


@pytest.mark.parametrize(
    "fields", ["sheets(data", "colour", "sheets.colour", "sheets%20", "locale"]
)
def test_get__refuses_a_mask_it_does_not_know(rig: Rig, fields: str) -> None:
    assert call(rig, "GET", f"{SHEET}?fields={fields}")[0] == 400


@pytest.mark.parametrize("path", ["unknown-sheet-0123456789012", f"{SHEET}/values/A1"])
def test_get__unknown(rig: Rig, path: str) -> None:
    status, answer = call(rig, "GET", path)
    assert (status, answer["error"]["status"]) == (404, "NOT_FOUND")


def test_mask__reads_both_ways_of_writing() -> None:
    assert mask("sheets.data(rowData.values),spreadsheetId", "Spreadsheet") == {
        "sheets": {"data": {"rowData": {"values": {}}}},
        "spreadsheetId": {},
    }
    with pytest.raises(InvalidError):
        mask("sheets, properties", "Spreadsheet")


def test_schema__is_googles() -> None:
    assert len(schemas()) > 200
    assert "requests" in schemas()["BatchUpdateSpreadsheetRequest"]["properties"]


def test_server__answers_without_delay(rig: Rig) -> None:
    rig.store.read([])
    start = time.perf_counter()
    for _ in range(20):
        rig.store.read([])
    assert (time.perf_counter() - start) / 20 < 0.03  # with Nagle's delay, 44 ms each


def test_desk__types_and_shows_from_another_terminal(
    rig: Rig, capsys: pytest.CaptureFixture[str]
) -> None:
    port = int(rig.google.host.rpartition(":")[2])
    order = {"do": "type", "id": SHEET, "tab": "Sheet1", "cell": "B1", "text": "12"}
    assert ask(port, order) == 0
    assert ask(port, {"do": "show", "id": SHEET, "tab": "Sheet1"}) == 0
    assert ask(port, {"do": "show", "id": SHEET}) == 0
    assert capsys.readouterr().out == "done\n\t12\nSheet1\n"
    assert ask(port, order | {"tab": "Nope"}) == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"tab": "Nope"}, "there is no tab Nope; there are: Sheet1"),
        ({"id": "other"}, f"there is no sheet other; there is: {SHEET}"),
        ({"cell": "zzz"}, "zzz is no cell; one is called E7"),
        ({"who": "eve@example.org"}, "eve@example.org may not type there"),
    ],
)
def test_desk__says_what_cannot_be_done(
    change: dict[str, str], words: str, rig: Rig, capsys: pytest.CaptureFixture[str]
) -> None:
    port = int(rig.google.host.rpartition(":")[2])
    order = {"do": "type", "id": SHEET, "tab": "Sheet1", "cell": "B1", "text": "12"}
    assert ask(port, order | change) == 1
    assert capsys.readouterr().err.count(words) == 1


def test_desk__a_reader_that_has_read_enough_is_no_error(rig: Rig) -> None:
    for row in range(1, 400):
        rig.google.type(SHEET, "Sheet1", f"A{row}", "many words " * 30)
    port = rig.google.host.rpartition(":")[2]
    words = [sys.executable, "-m", "tests.sheets_emulator", "--port", port, "--sheet", SHEET]
    with subprocess.Popen(
        [*words, "show", "Sheet1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as showing:
        assert showing.stdout is not None
        assert showing.stderr is not None
        assert showing.stdout.readline().startswith(b"many words")
        showing.stdout.close()
        assert (showing.stderr.read(), showing.wait(20)) == (b"", 0)


def test_server__a_port_in_use_is_told(rig: Rig, capsys: pytest.CaptureFixture[str]) -> None:
    port = int(rig.google.host.rpartition(":")[2])
    assert serve(port, SHEET) == 3
    assert f"Port {port} cannot be used" in capsys.readouterr().err
