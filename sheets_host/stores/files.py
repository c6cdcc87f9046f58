"""Files that people name: read within bounds, and never what is no plain file.

A pipe would keep a command waiting for ever, and a device fill the memory or swallow a result.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from sheets_host.stores.base import StoreError

_KINDS: Final = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
# A pipe put there between looking and opening is opened without waiting for its other end.
_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def undecoded(text: str) -> bool:
    """Tell whether a text holds what UTF-8 cannot say: a byte that was none, half of a pair."""
    return any("\ud800" <= sign <= "\udfff" for sign in text)


def reason(error: Exception) -> str:
    """Return why something could not be done with a path, in the system's words or Python's."""
    if isinstance(error, OSError):
        return error.strerror or type(error).__name__
    if isinstance(error, UnicodeError):
        return "it holds a character that no path can have here"
    return str(error)  # "embedded null byte", "Could not determine home directory."


def kind_of(path: Path) -> str:
    """Return what stands at a path in the place of a file: ``a pipe``; "" for a file or nothing.

    Raises OSError where that cannot be seen.
    """
    try:
        return _kind(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return ""


def _kind(mode: int) -> str:
    named = next((words for test, words in _KINDS if test(mode)), "something else")
    return "" if stat.S_ISREG(mode) else named


def beginning(path: Path, most: int) -> bytes:
    """Return a file's first bytes. Raises StoreError for what is no file, OSError, ValueError."""
    if kind := kind_of(path):
        raise StoreError(f"{path} is {kind}, not a file.", "Name a file.")
    with os.fdopen(os.open(path, _FLAGS), "rb") as file:
        if kind := _kind(os.fstat(file.fileno()).st_mode):
            raise StoreError(f"{path} is {kind}, not a file.", "Name a file.")
        return file.read(most)


def whole(path: Path, most: int, hint: str) -> bytes:
    """Return a file's bytes. Raises StoreError for what is no file, too large or out of reach.

    most: bytes that are read at all. hint: what to do instead.
    """
    try:
        data = beginning(path, most + 1)
    except (OSError, ValueError) as error:
        raise StoreError(f"{path} cannot be read: {reason(error)}", hint) from error
    except StoreError as error:
        raise StoreError(error.message, hint) from None
    if len(data) > most:
        raise StoreError(f"{path} is too large: at most {most:,} bytes are read", hint)
    return data
