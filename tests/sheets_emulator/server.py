"""The HTTP side of the emulator: loopback only, strict where Google is."""

from __future__ import annotations

import gzip
import json
import socket
import struct
import threading
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

from tests.sheets_emulator import faults
from tests.sheets_emulator.apply import RefusedError, apply
from tests.sheets_emulator.faults import Fault, Faults, error
from tests.sheets_emulator.model import ROBOT, Spreadsheet, answer
from tests.sheets_emulator.schema import InvalidError, Json, check, mask

BIGGEST_BODY: Final = 50_000_000


@dataclass(frozen=True)
class Call:
    """One call as the server saw it.

    kind: read, write or other. sent, received: bytes of body as they went over the wire.
    """

    kind: str
    path: str
    status: int
    sent: int
    received: int
    body: Json | None


class State:
    """Everything the emulator knows; the lock is held for each call's work."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.books: dict[str, Spreadsheet] = {}
        self.faults = Faults()
        self.calls: list[Call] = []
        self.stopping = threading.Event()
        self.check_answers = True
        self.desk: Callable[[Json], Any] | None = None
        self.token: tuple[int, Json] = (200, {"access_token": ROBOT, "expires_in": 3600})


class AnsweredError(Exception):
    """The answer to a call, where it is not an ordinary one."""

    def __init__(self, status: int, body: Json) -> None:
        super().__init__(status)
        self.status, self.body = status, body


class Server(ThreadingHTTPServer):
    """A server for one State."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, host: str, port: int, state: State) -> None:
        self.state = state
        super().__init__((host, port), Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing: clients break off calls here on purpose."""


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # unbuffered, each header line would be a packet of its own
    server: Server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Keep quiet."""

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def _serve(self, method: str) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(min(length, BIGGEST_BODY))
        url = urlsplit(self.path)
        state = self.server.state
        parts = [unquote(part) for part in url.path.strip("/").split("/")]
        kind = "other"
        if parts[:2] == ["v4", "spreadsheets"] and len(parts) == 3:
            kind = "write" if parts[2].endswith(":batchUpdate") and method == "POST" else "read"
        try:
            body = json.loads(raw) if raw else None
        except ValueError:
            body = None
        fault = state.faults.next(kind) if kind != "other" else None
        if fault and not self._strike_first(fault, kind, len(raw)):
            return
        with state.lock:
            try:
                status, out = self._work(kind, parts, parse_qs(url.query), body)
            except AnsweredError as answered:
                status, out = answered.status, answered.body
            if fault and fault.kind == "503-after" and status == 200:
                status, out = faults.ANSWERS["503"]
            text = self._packed(json.dumps(out, separators=(",", ":")).encode())
            state.calls.append(Call(kind, url.path, status, len(text), len(raw), body))
        if fault and fault.kind == "reset-after":
            self._reset()
            return
        cut = fault is not None and fault.kind == "cut-after"
        self._send(status, text, cut=cut, packed=self._gzip)

    def _strike_first(self, fault: Fault, kind: str, received: int) -> bool:
        """Do what a fault does before the call's work; tell whether the work is still to do."""
        state = self.server.state
        if fault.kind == "slow":
            state.stopping.wait(fault.seconds)
            return True
        if fault.kind == "edit":
            assert fault.edit is not None
            fault.edit()
            return True
        if fault.kind in faults.AFTER:
            return True
        status, text = 0, b""
        if fault.kind == "502-html":
            status, text = 502, faults.HTML_502
        elif fault.kind in faults.ANSWERS:
            status, out = faults.ANSWERS[fault.kind]
            text = json.dumps(out).encode()
        with state.lock:
            state.calls.append(Call(kind, self.path, status, len(text), received, None))
        if status:
            self._send(status, text, html=status == 502, retry_after=fault.retry_after)
        else:
            self._reset()
        return False

    def _work(
        self, kind: str, parts: list[str], query: dict[str, list[str]], body: Json | None
    ) -> tuple[int, Json]:
        state = self.server.state
        if parts == ["desk"] and state.desk and body is not None:
            try:
                return 200, {"answer": state.desk(body)}
            except ValueError as wrong:
                raise AnsweredError(400, error(400, "INVALID_ARGUMENT", str(wrong))) from wrong
        if parts == ["token"]:  # where Google's sign-in would be
            return state.token
        if kind == "other":
            raise AnsweredError(
                404, error(404, "NOT_FOUND", "The emulator does not know this method.")
            )
        sheet_id = parts[2].removesuffix(":batchUpdate")
        book = state.books.get(sheet_id)
        if book is None:
            raise AnsweredError(*faults.ANSWERS["404"])
        bearer = self.headers.get("Authorization", "")
        who = bearer.removeprefix("Bearer ") or ROBOT
        role = book.role(who)
        if role is None or (kind == "write" and role == "reader"):
            raise AnsweredError(*faults.ANSWERS["403"])
        try:
            if kind == "read":
                return 200, self._read(book, query, who)
            return 200, self._write(book, body, who)
        except (InvalidError, RefusedError) as refusal:
            raise AnsweredError(400, error(400, "INVALID_ARGUMENT", str(refusal))) from refusal

    def _read(self, book: Spreadsheet, query: dict[str, list[str]], who: str) -> Json:
        known = {"fields", "prettyPrint", "alt", "includeGridData"}
        for name in query.keys() - known:
            raise InvalidError(f'Invalid JSON payload received. Unknown name "{name}"')
        whole = "spreadsheetId,properties,namedRanges,spreadsheetUrl,sheets(properties,merges)"
        out = answer(book, mask(query.get("fields", [whole])[0], "Spreadsheet"), who)
        if self.server.state.check_answers:
            check(out, "Spreadsheet", answer=True)
        return out

    def _write(self, book: Spreadsheet, body: Json | None, who: str) -> Json:
        if body is None:
            raise InvalidError("Invalid JSON payload received.")
        check(body, "BatchUpdateSpreadsheetRequest")
        if not body.get("requests"):
            raise InvalidError("Must specify at least one request.")
        draft = book.copied()
        replies = apply(draft, body["requests"], who)
        self.server.state.books[book.id] = draft
        out = {"spreadsheetId": book.id, "replies": replies}
        check(out, "BatchUpdateSpreadsheetResponse", answer=True)
        return out

    @property
    def _gzip(self) -> bool:
        """Whether the client gets compressed answers: Google wants it said in both headers."""
        return all(
            "gzip" in self.headers.get(name, "") for name in ("Accept-Encoding", "User-Agent")
        )

    def _packed(self, text: bytes) -> bytes:
        return gzip.compress(text, 1) if self._gzip else text

    def _send(
        self,
        status: int,
        text: bytes,
        *,
        html: bool = False,
        retry_after: int | None = None,
        cut: bool = False,
        packed: bool = False,
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "text/html" if html else "application/json; charset=UTF-8")
        self.send_header("Content-Length", str(len(text)))
        if packed:
            self.send_header("Content-Encoding", "gzip")
        if retry_after is not None:
            self.send_header("Retry-After", str(retry_after))
        self.end_headers()
        self.wfile.write(text[: len(text) // 2] if cut else text)
        self.wfile.flush()
        if cut:
            self._reset()

    def _reset(self) -> None:
        """Break the connection off as a failing network does: with a reset, not a goodbye."""
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.close_connection = True
        # The files over the socket must go as well, or it stays open.
        self.rfile.close()
        self.connection.close()
