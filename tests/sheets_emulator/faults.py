"""What can go wrong between here and Google, on demand."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from tests.sheets_emulator.schema import Json

HTML_502: Final = b"<!DOCTYPE html><html><title>Error 502 (Server Error)!!1</title></html>"
QUOTA: Final = 60
"""Reads, and writes, that one account may make in a minute."""


def error(code: int, status: str, message: str, *details: Json) -> Json:
    """Return an error as Google writes it."""
    body: Json = {"code": code, "message": message, "status": status}
    if details:
        body["details"] = list(details)
    return {"error": body}


def _info(reason: str, **metadata: Any) -> Json:
    return {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": reason,
        "domain": "googleapis.com",
        "metadata": metadata,
    }


QUOTA_WORDS: Final = (
    "Quota exceeded for quota metric 'Read requests' and limit 'Read requests per minute per user' "
    "of service 'sheets.googleapis.com'"
)
ANSWERS: Final[dict[str, tuple[int, Json]]] = {
    "400-office": (
        400,
        error(
            400,
            "FAILED_PRECONDITION",
            "This operation is not supported for this document. The document must not be an "
            "Office file.",
        ),
    ),
    "401": (
        401,
        error(
            401,
            "UNAUTHENTICATED",
            "Request had invalid authentication credentials. Expected OAuth 2 access token.",
        ),
    ),
    "403": (403, error(403, "PERMISSION_DENIED", "The caller does not have permission")),
    "403-disabled": (
        403,
        error(
            403,
            "PERMISSION_DENIED",
            "Google Sheets API has not been used in project 12345 before or it is disabled.",
            _info("SERVICE_DISABLED", service="sheets.googleapis.com"),
        ),
    ),
    "403-rate": (403, error(403, "PERMISSION_DENIED", QUOTA_WORDS, _info("RATE_LIMIT_EXCEEDED"))),
    "403-scope": (
        403,
        error(
            403,
            "PERMISSION_DENIED",
            "Request had insufficient authentication scopes.",
            _info("ACCESS_TOKEN_SCOPE_INSUFFICIENT"),
        ),
    ),
    "404": (404, error(404, "NOT_FOUND", "Requested entity was not found.")),
    "429": (429, error(429, "RESOURCE_EXHAUSTED", QUOTA_WORDS, _info("RATE_LIMIT_EXCEEDED"))),
    "500": (500, error(500, "INTERNAL", "Internal error encountered.")),
    "503": (503, error(503, "UNAVAILABLE", "The service is currently unavailable.")),
}
BEFORE: Final = frozenset(ANSWERS) | {"502-html", "reset-before"}
AFTER: Final = frozenset({"reset-after", "503-after", "cut-after"})
OTHERS: Final = frozenset({"slow", "edit"})


@dataclass
class Fault:
    """One fault that waits for its call.

    kind: a key of ANSWERS; `502-html`; `reset-before`, `reset-after`, `503-after` (the commit is
    done), `cut-after` (half an answer); `slow` (seconds); `edit` (runs `edit` first).
    on: `read`, `write`, or None for either. skip: how many such calls pass first.
    """

    kind: str
    on: str | None = None
    times: int = 1
    skip: int = 0
    retry_after: int | None = None
    seconds: float = 1.0
    edit: Callable[[], object] | None = None


@dataclass
class Faults:
    """The faults that wait, and the quota."""

    waiting: list[Fault] = field(default_factory=list)
    quota: int | None = None
    taken: dict[str, list[float]] = field(default_factory=dict)

    def add(self, fault: Fault) -> None:
        assert fault.kind in BEFORE | AFTER | OTHERS, fault.kind
        self.waiting.append(fault)

    def next(self, call: str) -> Fault | None:
        """Return the fault that strikes this call, `read` or `write`, if one does."""
        for fault in self.waiting:
            if fault.on not in (None, call):
                continue
            if fault.skip:
                fault.skip -= 1
                continue
            fault.times -= 1
            if not fault.times:
                self.waiting.remove(fault)
            return fault
        if self.quota is not None and self._over(call, self.quota):
            return Fault("429")
        return None

    def _over(self, call: str, quota: int) -> bool:
        now = time.monotonic()
        recent = [moment for moment in self.taken.get(call, []) if now - moment < 60]
        self.taken[call] = [*recent, now]
        return len(recent) >= quota
