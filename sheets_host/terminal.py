"""The terminal: results on stdout, talk on stderr, 80 columns, colour only where it is wanted."""

from __future__ import annotations

import os
import shutil
import sys
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Final

from sheets_host.streams import calm
from sheets_host.tabs.problems import quoted

WIDTH: Final = 80
MANY: Final = 8  # entry sheets; fewer are read at once


def say(text: str) -> None:
    """Talk to the person at the keyboard: on stderr, apart from results."""
    sys.stderr.write(f"{calm(text)}\n")


def out(text: str = "", *codes: str) -> None:
    """Print a result; codes: how it looks on a terminal."""
    sys.stdout.write(f"{styled(calm(text), *codes)}\n")


def interactive() -> bool:
    """Tell whether a person is there to read a question and answer it."""
    return sys.stdin is not None and sys.stdin.isatty() and sys.stdout.isatty()


def agreed(question: str) -> bool:
    """Ask until the answer is yes or no; nothing typed, and the end of all typing, are no."""
    while True:
        sys.stderr.write(f"{calm(question)} [y/N]: ")
        sys.stderr.flush()
        typed = sys.stdin.readline()
        if not typed:
            say("")
        answer = typed.strip().casefold()
        if answer in ("y", "yes"):
            return True
        if answer in ("", "n", "no"):
            return False
        say("Please type y or n.")


def progress(done: int, total: int) -> None:
    """Show how many entry sheets are read: only on a terminal, and only where it takes long."""
    if total < MANY or not sys.stderr.isatty():
        return
    line = f"Reading entry sheets: {done} of {total}" if done < total else ""
    sys.stderr.write(f"\r{line:<{WIDTH - 1}}" + ("" if line else "\r"))
    sys.stderr.flush()


def nearby(text: str) -> str:
    """Shorten paths below the present folder."""
    try:
        here = Path.cwd()
    except OSError:  # somebody removed the present folder
        return text
    return text.replace(f"{here}{os.sep}", "")


def plural(count: int, noun: str) -> str:
    """Return ``1 player`` or ``3 players``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listed(names: Iterable[str]) -> str:
    """Return ``Ann, Bob and Eve``."""
    shown = [quoted(name) for name in names]
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def styled(text: str, *codes: str) -> str:
    """Colour a text, on a terminal only and never under NO_COLOR (no-color.org)."""
    if not codes or not sys.stdout.isatty():
        return text
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    return f"\x1b[{';'.join(codes)}m{text}\x1b[0m"


BOLD: Final = "1"
RED: Final = "31"
YELLOW: Final = "33"


def width() -> int:
    """Return how many columns to use: 80, on a terminal up to 100 if it has them."""
    if not sys.stdout.isatty():
        return WIDTH
    return max(40, min(shutil.get_terminal_size((WIDTH, 24)).columns, 100))


def cells_of(text: str) -> int:
    """Return how many columns a text takes: wide characters take two, marks none."""
    return sum(
        0
        if unicodedata.combining(c) or c in "\u200d\ufe0f"
        else 1 + (unicodedata.east_asian_width(c) in "WF")
        for c in text
    )


def wrapped(text: str, width: int) -> list[str]:
    """Break a text at spaces into lines of so many columns; a longer word stays whole."""
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if not lines[-1] or cells_of(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def print_wrapped(text: str, indent: int) -> None:
    """Print a paragraph with an indent."""
    for line in wrapped(text, width() - indent):
        out(" " * indent + line)


def print_rows(
    headers: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int] = ()
) -> None:
    """Print a table without lines, which a screen reader can follow; its last column wraps."""
    shown = [[quoted(cell, 2_000) for cell in row] for row in (headers, *rows)]
    last = len(headers) - 1
    widths = [max(cells_of(row[i]) for row in shown) for i in range(last)]
    room = max(20, width() - sum(widths) - 2 * last)
    for number, row in enumerate(shown):
        padding = [" " * (widths[i] - cells_of(row[i])) for i in range(last)]
        cells = [padding[i] + row[i] if i in right else row[i] + padding[i] for i in range(last)]
        tail = wrapped(row[last], room)
        first = "  ".join([*cells, tail[0]]).rstrip()
        out(first, *([BOLD] if number == 0 else []))
        for more in tail[1:]:
            out(" " * (sum(widths) + 2 * last) + more)
