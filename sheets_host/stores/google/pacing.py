"""What all sheets of one account share: a sign-in, its connections, and Google's limit a minute.

Source: Google Sheets API v4, page "Usage limits": 60 reads and 60 writes a minute for each user.
A match of many entry sheets would run into it; so calls wait for their turn here rather than for
Google's refusal, which tells nobody how long.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from sheets_host.stores.google import access

if TYPE_CHECKING:
    from requests import Session

    from sheets_host.stores.google.access import Found

CALLS: Final = 60
"""Reads, and writes, that an account may make in a minute."""

MINUTE: Final = 61.0
"""Seconds: one more than a minute has, since calls are not equally long on their way."""


@dataclass(slots=True)
class Pace:
    """Turns for calls of one kind, all threads together. calls: in so many seconds."""

    calls: int = CALLS
    seconds: float = MINUTE
    _turns: deque[float] = field(default_factory=deque)
    _told: float = float("-inf")
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def turn(self, now: float) -> tuple[float, bool]:
        """Take the next turn: how many seconds to wait for it, and whether to say so."""
        with self._lock:
            at = now
            if len(self._turns) == self.calls:
                at = max(now, self._turns.popleft() + self.seconds)
            self._turns.append(at)
            # One word for all who wait for the same minute.
            tells = at > now and at >= self._told + self.seconds / 2
            if tells:
                self._told = at
            return at - now, tells


@dataclass(frozen=True, slots=True)
class Line:
    """One account's line to Google. reads, writes: its turns."""

    session: Session
    account: str | None
    reads: Pace = field(default_factory=Pace)
    writes: Pace = field(default_factory=Pace)

    def wait(
        self, kind: str, now: float, sleep: Callable[[float], None], say: Callable[[str], None]
    ) -> None:
        """Wait until a read or a write is within the limit."""
        pace = self.reads if kind == "read" else self.writes
        seconds, tells = pace.turn(now)
        if tells:
            say(
                f"Google allows {pace.calls} {kind}s a minute; waiting {seconds:.0f} s for the next"
            )
        if seconds > 0:
            sleep(seconds)


_LINES: Final[dict[tuple[str, int, int], Line]] = {}
_LOCK: Final = threading.Lock()


def line(found: Found) -> Line:
    """Return the line of a credentials file; the same as long as the file stays as it is.

    So the sheets of a match are signed in for once. Raises StoreError.
    """
    try:
        facts = found.path.stat()
        key = (str(found.path.resolve()), facts.st_mtime_ns, facts.st_size)
    except OSError:
        key = (str(found.path), 0, 0)  # reading it will say what is wrong
    with _LOCK:
        if key not in _LINES:
            who = access.load(found)
            _LINES[key] = Line(access.google_session(who), who.account)
        return _LINES[key]
