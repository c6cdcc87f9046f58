"""What Google's refusals mean, and what to do about each.

Source: Google Sheets API v4, page "Troubleshoot API errors", and the answers themselves: the
status is taken from the HTTP answer, since an error page in HTML has no other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sheets_host.stores.base import StoreError

if TYPE_CHECKING:
    from requests import Response

PASSING: Final = frozenset({429, 500, 502, 503, 504})
"""HTTP statuses that pass by themselves."""

RATE_REASONS: Final = frozenset(
    {"RATE_LIMIT_EXCEEDED", "rateLimitExceeded", "userRateLimitExceeded"}
)
SWITCH: Final = "https://console.cloud.google.com/apis/library/sheets.googleapis.com"


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that is not the one asked for.

    status: of HTTP. message: Google's, one line. reasons: its machine-readable reasons.
    retry_after: seconds that Google asks to wait, or None.
    """

    status: int
    message: str
    reasons: frozenset[str] = frozenset()
    retry_after: float | None = None

    @property
    def passing(self) -> bool:
        """Whether the same request may succeed later."""
        return self.status in PASSING or (self.status == 403 and bool(self.reasons & RATE_REASONS))

    @property
    def request(self) -> tuple[int, str] | None:
        """The place and kind of the request of a batch that was refused."""
        found = re.match(r"Invalid requests\[(\d+)\]\.(\w+):", self.message)
        return (int(found[1]), found[2]) if found else None


def refusal_of(response: Response) -> Refusal:
    """Read an HTTP answer that is an error, whatever its body is."""
    try:
        body = response.json()
        error = body["error"] if isinstance(body["error"], dict) else {"message": body["error"]}
    except (ValueError, KeyError, TypeError):
        error = {}
    reasons = {part.get("reason", "") for part in error.get("details", ())}
    reasons |= {part.get("reason", "") for part in error.get("errors", ())}
    message = " ".join(str(error.get("message", response.reason or "")).split())
    return Refusal(
        response.status_code, message[:500], frozenset(reasons - {""}), _retry_after(response)
    )


def _retry_after(response: Response) -> float | None:
    given = response.headers.get("Retry-After", "")
    return float(given) if re.fullmatch(r"\d{1,6}", given) else None


def explain(refusal: Refusal, name: str, account: str | None) -> StoreError:
    """Turn a refusal that stays into words. account: the address that sheets are shared with."""
    message = refusal.message
    if refusal.status == 401:
        return StoreError(
            f"{name}: Google does not accept the sign-in (401).",
            "The credentials are no longer valid: make a new key or sign in again, then run "
            "`sheets-host doctor`.",
        )
    if refusal.status == 403:
        return _forbidden(refusal, name, account)
    if refusal.status == 404:
        return StoreError(
            f"{name}: Google has no spreadsheet with this id (404).",
            "Check the link: it begins with https://docs.google.com/spreadsheets/d/. A link to a "
            "Doc, a folder or a published page will not do, and the sheet may have been deleted.",
        )
    if "Office file" in message:
        return StoreError(
            f"{name}: this is an Excel file lying on Drive, not a Google Sheet.",
            "Open it and choose File, Save as Google Sheets, and give that link; or download the "
            "file and give its path.",
        )
    return StoreError(
        f"{name}: Google refused ({refusal.status}): {message or 'no reason given'}",
        "Nothing was written. If it happens again, please report it with this line.",
    )


def _forbidden(refusal: Refusal, name: str, account: str | None) -> StoreError:
    if "SERVICE_DISABLED" in refusal.reasons or "has not been used in project" in refusal.message:
        return StoreError(
            f"{name}: the Google Sheets API is off in the project that the credentials belong to.",
            f"Turn it on at {SWITCH} (choose that project first), wait a minute, and run again.",
        )
    if "ACCESS_TOKEN_SCOPE_INSUFFICIENT" in refusal.reasons or "scopes" in refusal.message:
        return StoreError(
            f"{name}: the sign-in does not cover spreadsheets.",
            "Sign in again and allow access to spreadsheets "
            "(https://www.googleapis.com/auth/spreadsheets).",
        )
    if "storageQuotaExceeded" in refusal.reasons:
        return StoreError(
            f"{name}: a service account has no room on Drive to make files of its own (403).",
            "Make the sheet yourself and share it with the service account as Editor.",
        )
    who = account or "the account you signed in with"
    return StoreError(
        f"{name}: {who} may not open or edit this sheet (403).",
        f"In the sheet choose Share, add {who} and make it Editor.",
    )


def explain_write(
    refusal: Refusal,
    name: str,
    account: str | None,
    requests: Sequence[Mapping[str, Any]],
    tabs: Mapping[int, str],
) -> StoreError:
    """Turn a refused batch into words that name the tab."""
    place = refusal.request
    if place is None or place[0] >= len(requests):
        return explain(refusal, name, account)
    tab = tabs.get(_sheet_id(requests[place[0]]), "")
    where = f"{name}, tab '{tab}'" if tab else name
    words = refusal.message.partition(":")[2].strip()
    if "protected" in words:
        who = account or "the account you signed in with"
        return StoreError(
            f"{where}: someone else protected it, so nothing was written.",
            "Whoever set the protection, or the sheet's owner, must lift it (Data, Protect sheets "
            f"and ranges) or add {who} to its editors.",
        )
    if "exceeds grid limits" in words or "No grid with id" in words or "already exists" in words:
        return StoreError(
            f"{where}: the tabs were changed while this ran, so nothing was written: {words}",
            "Run the same command again.",
        )
    if place[1] == "addProtectedRange":
        return StoreError(
            f"{where}: Google refused to protect cells, so nothing was written: {words}",
            "Check the addresses under Email of Players: each must belong to a Google account.",
        )
    return StoreError(
        f"{where}: Google refused {place[1]}, so nothing was written: {words}",
        "If it happens again, please report it with this line.",
    )


def _sheet_id(request: object) -> int:
    """Return the first sheet id in a request, or -1."""
    if isinstance(request, Mapping):
        if isinstance(found := request.get("sheetId"), int):
            return found
        request = list(request.values())
    if isinstance(request, list):
        return next((i for part in request if (i := _sheet_id(part)) >= 0), -1)
    return -1
