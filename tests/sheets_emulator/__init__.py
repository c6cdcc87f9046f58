"""An emulator of Google Sheets on this computer, for tests and rehearsals.

    with Emulator() as google:
        google.add_spreadsheet(ID, ["Sheet1"])
        ...                      # the store, with SHEETS_EMULATOR_HOST=google.host
        google.type(ID, "Bids", "E7", "12")
        google.values(ID, "Standings")

Strict where Google is: every request and answer is held against Google's discovery document, and
a batch is applied whole or not at all. It does not calculate: a formula yields an empty text unless
a test says otherwise (`result=` of `type`, or `evaluate`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, Self

from tests.sheets_emulator.apply import apply
from tests.sheets_emulator.faults import Fault
from tests.sheets_emulator.model import (
    OWNER,
    ROBOT,
    Evaluate,
    Sheet,
    Spreadsheet,
    a1,
    effective,
    formatted,
    new_sheet,
    place_of,
)
from tests.sheets_emulator.on_cells import guard, put
from tests.sheets_emulator.people import Typed, typed
from tests.sheets_emulator.schema import InvalidError, Json
from tests.sheets_emulator.server import Call, Server, State

__all__ = ["OWNER", "ROBOT", "Call", "Emulator"]


class Emulator:
    """A running emulator. Who calls without credentials is ROBOT; sheets belong to OWNER."""

    def __init__(self, port: int = 0) -> None:
        self.state = State()
        self.state.desk = self._desk
        self._server = Server("127.0.0.1", port, self.state)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.state.stopping.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def host(self) -> str:
        """What SHEETS_EMULATOR_HOST is to hold: 127.0.0.1 and the port."""
        return f"127.0.0.1:{self._server.server_port}"

    @property
    def url(self) -> str:
        return f"http://{self.host}"

    @property
    def calls(self) -> list[Call]:
        """Every call so far, in order."""
        return self.state.calls

    def count(self, kind: str) -> int:
        """Return how many calls of a kind, `read` or `write`, came in."""
        return sum(call.kind == kind for call in self.calls)

    # --- setting up ----------------------------------------------------------------------------

    def add_spreadsheet(
        self,
        sheet_id: str,
        titles: Sequence[str] = ("Sheet1",),
        *,
        people: dict[str, str] | None = None,
        locale: str = "en_US",
        evaluate: Evaluate | None = None,
    ) -> Spreadsheet:
        """Make a spreadsheet that is shared with ROBOT, or with the people given."""
        book = Spreadsheet(sheet_id, [new_sheet(t, n) for n, t in enumerate(titles)], locale)
        if people is not None:
            book.people = people
        if evaluate is not None:
            book.evaluate = evaluate
        self.state.books[sheet_id] = book
        return book

    def fault(
        self,
        kind: str,
        on: str | None = None,
        *,
        times: int = 1,
        skip: int = 0,
        retry_after: int | None = None,
        seconds: float = 1.0,
        edit: Callable[[], object] | None = None,
    ) -> None:
        """Let a coming call fail; faults.Fault tells the kinds."""
        self.state.faults.add(Fault(kind, on, times, skip, retry_after, seconds, edit))

    def limit(self, quota: int | None) -> None:
        """Set how many reads, and writes, a minute are answered (Google: 60)."""
        self.state.faults.quota = quota

    # --- people at the sheet -------------------------------------------------------------------

    def book(self, sheet_id: str) -> Spreadsheet:
        return self.state.books[sheet_id]

    def tab(self, sheet_id: str, title: str) -> Sheet:
        """Return a tab, as it stands. Raises KeyError."""
        return self.book(sheet_id).tab(title)

    def type(
        self,
        sheet_id: str,
        tab: str,
        address: str,
        content: Typed,
        *,
        number_format: Json | None = None,
        strike: bool = False,
        runs: list[Json] | None = None,
        note: str | None = None,
        result: Json | None = None,
        who: str = OWNER,
    ) -> None:
        """Type something into a cell, as a person would.

        number_format: the cell's, such as {"type": "DATE"}. strike: the text is struck out; runs:
        parts of it are. result: what the formula yields. Raises PermissionError where the cell is
        protected against this person.
        """
        with self.state.lock:
            book = self.book(sheet_id)
            sheet = book.tab(tab)
            place = place_of(address)
            self._guard(book, sheet, place, who)
            before = sheet.cells.get(place, {})
            look = dict(before.get("userEnteredFormat", {}))
            as_text = look.get("numberFormat", {}).get("type") == "TEXT"
            value, implied = typed(content, as_text=as_text)
            if number_format or (implied and "numberFormat" not in look):
                look["numberFormat"] = number_format or implied
            if strike:
                look["textFormat"] = look.get("textFormat", {}) | {"strikethrough": True}
            cell = {k: v for k, v in before.items() if k in ("dataValidation", "note")}
            if value:
                cell["userEnteredValue"] = value
            if look:
                cell["userEnteredFormat"] = look
            if note:
                cell["note"] = note
            put(sheet, place, cell)
            if runs:
                cell["textFormatRuns"] = runs
            if result is not None:
                sheet.results[place] = result

    def _guard(self, book: Spreadsheet, sheet: Sheet, place: tuple[int, int], who: str) -> None:
        if book.role(who) not in ("owner", "writer"):
            raise PermissionError(f"{who} may not type there: the sheet is not shared so")
        row, column = place
        area = {
            "sheetId": sheet.id,
            "startRowIndex": row,
            "endRowIndex": row + 1,
            "startColumnIndex": column,
            "endColumnIndex": column + 1,
        }
        try:
            guard(book, area, who)
        except InvalidError as refusal:
            raise PermissionError(f"{who} may not type there: {refusal}") from refusal

    def batch(self, sheet_id: str, *requests: Json, who: str = OWNER) -> list[Json]:
        """Do what a person's own program does to the sheet: any requests of the API."""
        with self.state.lock:
            draft = self.book(sheet_id).copied()
            replies = apply(draft, list(requests), who)
            self.state.books[sheet_id] = draft
            return replies

    def values(self, sheet_id: str, tab: str) -> list[list[str]]:
        """Return what a tab shows, trailing blanks left out."""
        book = self.book(sheet_id)
        sheet = book.tab(tab)
        shown: list[list[str]] = []
        for row, column in sorted(sheet.cells):
            value = effective(book, sheet, (row, column))
            if not value:
                continue
            while len(shown) <= row:
                shown.append([])
            while len(shown[row]) <= column:
                shown[row].append("")
            shown[row][column] = formatted(value)
        return shown

    def cell(self, sheet_id: str, tab: str, address: str) -> Json:
        """Return a cell's CellData as it is kept: what was entered, format, note, check."""
        return self.tab(sheet_id, tab).cells.get(place_of(address), {})

    def snapshot(self, sheet_id: str) -> Json:
        """Return all that the cells of a spreadsheet hold, to compare."""
        return {
            sheet.title: {a1(place): cell for place, cell in sheet.cells.items() if cell}
            for sheet in self.book(sheet_id).sheets
        }

    def _desk(self, order: Json) -> Any:
        """Do what `python -m tests.sheets_emulator VERB` asks of a running emulator.

        Raises ValueError for what cannot be done, in words.
        """
        if order["do"] == "fault":
            self.fault(order["kind"], order.get("on"), times=order.get("times", 1))
            return "waiting"
        if order["id"] not in self.state.books:
            raise ValueError(
                f"there is no sheet {order['id']}; there is: {_listed(self.state.books)}"
            )
        titles = [sheet.title for sheet in self.book(order["id"]).sheets]
        if not order.get("tab"):
            return [[title] for title in titles]
        if order["tab"].casefold() not in map(str.casefold, titles):
            raise ValueError(f"there is no tab {order['tab']}; there are: {_listed(titles)}")
        if order["do"] == "show":
            return self.values(order["id"], order["tab"])
        who = order.get("who") or OWNER
        try:
            self.type(order["id"], order["tab"], order["cell"], order["text"], who=who)
        except PermissionError as refusal:
            raise ValueError(str(refusal)) from refusal
        return "done"


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names)
