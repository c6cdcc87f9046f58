"""Calls to Google that end: timeouts, a bounded number of tries, a deadline, a word while waiting.

gspread's client does the HTTP. Its session has no timeout of its own and never tries again, so
both are decided here. A write whose answer leaves open whether it was done is never sent again
before the sheet was asked.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sheets_host.stores.base import StoreError
from sheets_host.stores.google.refusals import Refusal, explain, refusal_of

if TYPE_CHECKING:
    from gspread.http_client import HTTPClient
    from requests import Session

    from sheets_host.stores.google.pacing import Line

GOOGLE: Final = "https://sheets.googleapis.com"
TRIES: Final = 5
DEADLINE: Final = 120.0
"""Seconds that one read or write may take, all tries together."""

CONNECT: Final = 10.0
ANSWER: Final = 60.0
"""Seconds to wait for a connection, and for an answer (Google ends a call after 180)."""

WAITS: Final = (1.0, 2.0, 4.0, 8.0)
"""Seconds between tries, where Google does not name them."""

QUOTA_WAITS: Final = (5.0, 10.0, 20.0, 30.0)
"""The same after a quota of so many calls a minute is used up."""


def tell(line: str) -> None:
    """Say a word on stderr."""
    visible = "".join(c if c.isprintable() else " " for c in line)  # a link may hold anything
    print(visible, file=sys.stderr, flush=True)


@dataclass(frozen=True, slots=True)
class Clock:
    """The time as the transport knows it; tests bring their own. now: seconds that only grow."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    say: Callable[[str], None] = tell
    answer: float = ANSWER


class RefusedError(Exception):
    """Google refused a request for good."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.message)
        self.refusal = refusal


class PassingError(Exception):
    """Something that may pass. unclear: a write may have been done all the same."""

    def __init__(
        self, why: str, *, unclear: bool, quota: bool = False, wait: float | None = None
    ) -> None:
        super().__init__(why)
        self.why, self.unclear, self.quota, self.wait = why, unclear, quota, wait


@dataclass(slots=True)
class Transport:
    """Speaks to one spreadsheet service. name, account: for messages.

    line: whose turn each call waits for; None where nobody counts calls.
    """

    http: HTTPClient
    base: str
    name: str
    account: str | None
    clock: Clock
    line: Line | None = None

    def read(self, sheet_id: str, fields: str, until: float | None = None) -> Any:
        """Return the answer of `spreadsheets.get`. Raises StoreError."""
        params = {"fields": fields, "prettyPrint": "false"}
        self._take_turn("read")
        until = self.clock.now() + DEADLINE if until is None else until
        number = 0
        while True:
            try:
                return self._call("get", f"/{sheet_id}", until, params=params)
            except RefusedError as refused:
                raise explain(refused.refusal, self.name, self.account) from None
            except PassingError as trouble:
                number += 1
                if not self._wait(trouble, number, until):
                    raise StoreError(
                        f"{self.name}: could not be read: {trouble.why}.",
                        "Nothing was written. Try again in a few minutes.",
                    ) from None

    def send(self, sheet_id: str, body: bytes, landed: Callable[[float], bool]) -> None:
        """Send one `spreadsheets.batchUpdate`. Raises StoreError, RefusedError.

        landed: asks the sheet, until a moment of the clock, whether this batch was done.
        """
        self._take_turn("write")
        until = self.clock.now() + DEADLINE
        number = 0
        while True:
            try:
                self._call("post", f"/{sheet_id}:batchUpdate", until, data=body)
            except PassingError as trouble:
                number += 1
                again = self._wait(trouble, number, until)
                if trouble.unclear and self._done(landed, until, trouble):
                    return
                if not again:
                    raise StoreError(
                        f"{self.name}: could not be written: {trouble.why}.",
                        "The sheet is as it was before. Run the same command again in a few "
                        "minutes.",
                    ) from None
            else:
                return

    def _take_turn(self, kind: str) -> None:
        """Wait for this account's turn; the deadline begins after it."""
        if self.line is not None:
            self.line.wait(kind, self.clock.now(), self.clock.sleep, self.clock.say)

    def _done(self, landed: Callable[[float], bool], until: float, trouble: PassingError) -> bool:
        try:
            return landed(max(until, self.clock.now() + self.clock.answer))
        except StoreError:
            raise StoreError(
                f"{self.name}: {trouble.why}, and it cannot be told whether the write was done.",
                "Either all of it was written or none. Run the same command again when Google can "
                "be reached: it goes on from what stands there and repeats nothing.",
            ) from None

    def _wait(self, trouble: PassingError, number: int, until: float) -> bool:
        """Wait before the next try; False where there is none, for want of tries or time."""
        if number >= TRIES:
            return False
        usual = (QUOTA_WAITS if trouble.quota else WAITS)[number - 1]
        wait = usual if trouble.wait is None else max(trouble.wait, 0.1)
        if self.clock.now() + wait >= until:
            return False
        self.clock.say(
            f"{self.name}: {trouble.why}; waiting {wait:g} s (try {number + 1} of {TRIES})"
        )
        self.clock.sleep(wait)
        return True

    def _call(
        self,
        method: str,
        path: str,
        until: float,
        *,
        params: dict[str, Any] | None = None,
        data: bytes | None = None,
    ) -> Any:
        """Make one call and return its JSON. Raises RefusedError, PassingError, StoreError."""
        import requests
        from google.auth.exceptions import GoogleAuthError, TransportError
        from gspread.exceptions import APIError

        from sheets_host.stores.google.access import EMULATOR, explain_sign_in
        from sheets_host.stores.google.signing import OddAnswer

        left = max(until - self.clock.now(), 1.0)
        self.http.set_timeout((min(CONNECT, left), min(self.clock.answer, left)))
        headers: Mapping[str, str] = {"Content-Type": "application/json"} if data else {}
        url = f"{self.base}/v4/spreadsheets{path}"
        try:
            response = self.http.request(
                method, url, params=params, data=data, headers=dict(headers)
            )
            return response.json()
        except APIError as error:
            raise self._refused(refusal_of(error.response)) from None
        except requests.exceptions.SSLError:
            raise StoreError(
                f"{self.name}: the connection to Google is not trusted (its certificate).",
                "Something between this computer and Google reads along, such as a virus scanner "
                "or an office proxy; or the computer's date is wrong.",
            ) from None
        except requests.exceptions.Timeout:
            raise PassingError("Google does not answer in time", unclear=True) from None
        except (requests.exceptions.RequestException, ValueError) as error:
            # A ValueError is an answer of 200 that is no JSON: a login page of a hotel's network.
            why = "Google's answer cannot be read"
            if isinstance(error, requests.exceptions.ConnectionError):
                if self.base != GOOGLE and _nobody_there(error):
                    raise StoreError(
                        f"{self.name}: nothing answers at {self.base.removeprefix('http://')}.",
                        f"Start the emulator, or unset {EMULATOR} to use Google.",
                    ) from None
                why = "the connection to Google failed"
            raise PassingError(why, unclear=True) from None
        except OddAnswer as error:
            raise PassingError(str(error), unclear=False) from None
        except TransportError:
            # Signing in comes before sending, so nothing was sent.
            raise PassingError(
                "the connection to Google failed at sign-in", unclear=False
            ) from None
        except GoogleAuthError as error:
            raise explain_sign_in(error, self.account) from None

    def _refused(self, refusal: Refusal) -> Exception:
        if not refusal.passing:
            return RefusedError(refusal)
        if refusal.status in (403, 429):
            why = f"Google asks to slow down ({refusal.status})"
            return PassingError(why, unclear=False, quota=True, wait=refusal.retry_after)
        why = f"Google has trouble ({refusal.status})"
        return PassingError(why, unclear=True, wait=refusal.retry_after)


def _nobody_there(error: Exception) -> bool:
    """Tell a connection that was never made from one that broke: on this computer, it will not be."""
    from urllib3.exceptions import NewConnectionError

    return isinstance(
        getattr(error.args[0] if error.args else None, "reason", None), NewConnectionError
    )


def client(session: Session) -> HTTPClient:
    """Return gspread's HTTP client over a session of ours."""
    from gspread.http_client import HTTPClient

    # Google compresses its answers for those alone whose name says that they understand it.
    session.headers["User-Agent"] = "sheets-host (gzip)"
    made = HTTPClient(auth=None, session=session)  # type: ignore[arg-type]  # the session signs in
    made.set_timeout((CONNECT, ANSWER))
    return made
