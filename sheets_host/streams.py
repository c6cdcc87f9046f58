"""Stdout and stderr that outlast what stands behind them: a full disk, a reader who left, nothing.

A command's work is never cut short by its words: what cannot be printed is dropped, and told at the
end. Nothing that steers a terminal goes out, whoever wrote it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, TextIO, cast

# Controls but for the line feed, and what turns the direction of writing (Unicode 15, 23.2).
_STEERING: Final = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
_STEERING_BUT_CR: Final = re.compile(_STEERING.pattern.replace("\x0b-\x1f", "\x0b\x0c\x0e-\x1f"))


def calm(text: str) -> str:
    """Return a text with a blank for each character that could steer a terminal."""
    return _STEERING.sub(" ", text)


class Stream:
    """A text stream that never fails. trouble: why nothing more comes through, in words.

    A reader who has left (a broken pipe) is no trouble, nor is a stream that was closed before
    the command began: there, nobody wants the words.
    """

    encoding = "utf-8"
    errors = "replace"

    def __init__(self, under: TextIO | None, *, plain: bool = False) -> None:
        """Stand before a stream. plain: no colours are meant for it, so none pass."""
        self._under = under
        self._plain = plain
        self.trouble = ""

    def write(self, text: str) -> int:
        """Write what can be written; always say that all was."""
        if self._under is not None:
            # The carriage return is that of our own progress line.
            shown = _STEERING_BUT_CR.sub(" ", text) if self._plain else text
            with self._minding(self._under):
                self._under.write(shown)
        return len(text)

    def flush(self) -> None:
        """See everything through, as far as it goes."""
        if self._under is not None:
            with self._minding(self._under):
                self._under.flush()

    def isatty(self) -> bool:
        """Tell whether a person looks on."""
        return self._under is not None and not self._under.closed and self._under.isatty()

    def fileno(self) -> int:
        """Return the system's number of the stream; tests' own have none."""
        if self._under is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        return self._under.fileno()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._under, name)

    @contextlib.contextmanager
    def _minding(self, under: TextIO) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:  # a closed stream raises ValueError
            # Windows says EINVAL of a pipe that nobody reads.
            left = isinstance(error, BrokenPipeError) or (
                sys.platform == "win32" and getattr(error, "errno", None) == errno.EINVAL
            )
            if not left:
                self.trouble = getattr(error, "strerror", None) or "it is closed"
            self._under = None
            _lead_nowhere(under)


def _lead_nowhere(under: TextIO) -> None:
    """Send the rest to nowhere: else the system's buffer fails once more when Python ends."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        try:
            os.dup2(nowhere, under.fileno())
        finally:
            os.close(nowhere)


@dataclass(frozen=True, slots=True)
class Streams:
    """Both streams while a command runs."""

    out: Stream
    err: Stream


@contextlib.contextmanager
def lasting() -> Iterator[Streams]:
    """Put such streams in the place of Python's own, and those back at the end.

    They speak UTF-8: a Windows console or pipe may otherwise refuse a sharp or a name.
    """
    _take_low_numbers()
    before = sys.stdout, sys.stderr
    for stream in before:
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace")
    typing = getattr(sys.stdin, "reconfigure", None)
    if typing is not None:
        typing(errors="replace")
    streams = Streams(Stream(sys.stdout), Stream(sys.stderr, plain=True))
    sys.stdout, sys.stderr = cast("TextIO", streams.out), cast("TextIO", streams.err)
    try:
        yield streams
    finally:
        streams.out.flush()
        streams.err.flush()
        sys.stdout, sys.stderr = before


def _take_low_numbers() -> None:
    """Open what was closed: else a workbook gets number 2, and a library's warnings go into it."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest number that is free
