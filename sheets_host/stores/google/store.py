"""A game's tabs in one Google Sheet."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Final

from sheets_host.grid import Book
from sheets_host.stores.base import ChangedMeanwhile, Finding, StoreError, Write
from sheets_host.stores.google import access
from sheets_host.stores.google.pacing import line
from sheets_host.stores.google.reading import FIELDS, MARK_FIELDS, Seen, book_of, mark_of
from sheets_host.stores.google.refusals import explain_write
from sheets_host.stores.google.transport import GOOGLE, Clock, RefusedError, Transport, client
from sheets_host.stores.google.writing import Plan, plan

_ID: Final = re.compile(r"[A-Za-z0-9_-]{20,100}")
_LINK: Final = re.compile(
    r"https?://docs\.google\.com/(?:a/[^/]+/)?spreadsheets/(?:u/\d+/)?d/(?P<id>[A-Za-z0-9_-]{20,100})"
    r"(?:[/?#].*)?"
)
MARKING: Final = ("deleteNamedRange", "addNamedRange")
NO_MAIL: Final = (
    "The sign-in file does not name its mail address, so Google may let every editor of the sheet "
    'edit what is protected. Add "account": "you@example.org" to that file, and the next '
    "protections name you alone."
)


def parse_reference(text: str) -> str:
    """Return the spreadsheet's id from a link to it or from the bare id.

    Raises StoreError for anything else.
    """
    text = text.strip()
    if _ID.fullmatch(text):
        return text
    if found := _LINK.fullmatch(text):
        if found["id"] == "e" or "/d/e/" in text:
            raise StoreError(
                f"{text} is a published page, which nobody can edit.",
                "Open the sheet itself and copy the link from the address bar.",
            )
        return found["id"]
    raise StoreError(
        f"'{text[:200]}' is not a link to a Google Sheet.",
        "Open the sheet and copy the link from the address bar: it begins with "
        "https://docs.google.com/spreadsheets/d/.",
    )


class GoogleStore:
    """The store of one Google Sheet; stores.base.Store tells what each method promises.

    spreadsheet: its link or id. credentials: a file named by the host, or None to look for one.
    """

    def __init__(
        self,
        spreadsheet: str,
        *,
        credentials: Path | None = None,
        clock: Clock | None = None,
        environ: Mapping[str, str] = os.environ,
    ) -> None:
        self._name = spreadsheet
        self.sheet_id = parse_reference(spreadsheet)
        self._credentials = credentials
        self._clock = clock or Clock()
        self._environ = environ
        self._transport: Transport | None = None

    @property
    def name(self) -> str:
        return self._name

    @property
    def account(self) -> str | None:
        """The mail address that the sheet is to be shared with, once signed in."""
        return self.transport.account

    @property
    def transport(self) -> Transport:
        """The connection, made when it is first needed. Raises StoreError."""
        if self._transport is None:
            base = access.emulator_base(self._environ)
            if base:
                http, account = client(access.loopback_session()), "robot@example.org"
                self._transport = Transport(http, base, self._name, account, self._clock)
            else:
                own = line(access.find_credentials(self._credentials, self._environ))
                http = client(own.session)
                self._transport = Transport(http, GOOGLE, self._name, own.account, self._clock, own)
        return self._transport

    @property
    def identity(self) -> str:
        """The spreadsheet's id, whatever link leads to it."""
        return self.sheet_id

    def copies(self) -> Path:
        """Return a folder of this sheet's own among the user's data."""
        return access.data_folder(self._environ) / self.sheet_id

    def diagnose(self) -> tuple[Finding, ...]:
        from sheets_host.stores.google.doctor import diagnose

        return diagnose(
            self._name, credentials=self._credentials, environ=self._environ, clock=self._clock
        )

    def exists(self) -> bool:
        """Say that there is a sheet: it is never made here, and reading tells if it is missing."""
        return True

    def read(self, titles: Collection[str]) -> Book:
        return book_of(self.transport.read(self.sheet_id, FIELDS), titles)

    def write(self, write: Write) -> tuple[str, ...]:
        seen = write.since.revision
        if not isinstance(seen, Seen):
            raise TypeError("a Google Sheet is written over a book that was read from it")
        batch = plan(write, seen, self.transport.account)
        if batch is None:
            return ()
        self._send(batch)
        return (NO_MAIL,) if batch.protects and not self.transport.account else ()

    def _send(self, batch: Plan) -> None:
        def landed(until: float) -> bool:
            answer = self.transport.read(self.sheet_id, MARK_FIELDS, until)
            return mark_of(answer) == batch.mark

        try:
            self.transport.send(self.sheet_id, batch.body, landed)
        except RefusedError as refused:
            refusal = refused.refusal
            request = refusal.request
            if request and request[1] in MARKING and "No grid" not in refusal.message:
                if landed(self._clock.now() + self._clock.answer):
                    return  # the one who wrote first was ourselves
                raise ChangedMeanwhile(
                    f"{self._name}: another sync wrote to this sheet after this one had read it, or "
                    "a tab was deleted there. Nothing was written.",
                    "Run the same command again: it reads what stands there now.",
                ) from None
            raise explain_write(
                refusal, self._name, self.transport.account, batch.requests, batch.tabs
            ) from None
