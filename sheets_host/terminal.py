"""The terminal: results on stdout, talk on stderr, 80 columns, colour only where it is wanted."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Final, TextIO

from sheets_host.streams import calm
from sheets_host.tabs.problems import quoted
from sheets_host.wrapping import cells_of, cut, hung, table

WIDTH: Final = 80
MANY: Final = 8  # entry sheets; fewer are read at once


def say(text: str) -> None:
    """Talk to the person at the keyboard: on stderr, apart from results."""
    sys.stderr.write(f"{calm(text)}\n")


def complain(text: str, hint: str = "", indent: int = 0) -> None:
    """Say on stderr what is wrong, and below it what to do."""
    room, left, kept = columns(sys.stderr), " " * indent, _typed()
    first = " ".join(text.split(" ")[:2])  # else "sheets-host:" stands alone before a long path
    for line in hung(text, room, left, f"{left}  ", kept=[*kept, first]):
        say(line)
    if hint:
        for line in hung(hint, room, f"{left}  -> ", f"{left}     ", kept=kept):
            say(line)


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
    if total >= MANY:
        fleeting(f"Reading entry sheets: {done} of {total}" if done < total else "")


def fleeting(text: str) -> None:
    """Show a line that the next words take the place of: on a terminal only, and never wrapped."""
    if not sys.stderr.isatty():
        return
    room = columns(sys.stderr, most=WIDTH) - 1  # some terminals wrap once the last column is full
    shown = cut(calm(text), room)
    sys.stderr.write(f"\r{shown}{' ' * (room - cells_of(shown))}\r")
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
    shown = [quoted(name, 100) for name in names]
    return " and ".join(filter(None, [", ".join(shown[:-1]), *shown[-1:]]))


def as_word(text: str) -> str:
    """Return a text as one word of a command line, to be copied: quoted where a shell needs it."""
    if re.fullmatch(r"[\w./:@%+\\-]+", text):
        return text
    return shlex.quote(text) if os.name == "posix" else f'"{text}"'


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
    """Return how many columns results use: 80, on a terminal up to 100 if it has them."""
    return max(40, columns(sys.stdout))


def columns(stream: TextIO, most: int = 100) -> int:
    """Return how many columns a stream shows: 80 off a terminal, on one as many as it has."""
    if not stream.isatty():
        return WIDTH
    found = 0
    if not os.environ.get("COLUMNS", "").isdecimal():
        try:  # shutil asks stdout alone, which may lead to a file
            found = os.get_terminal_size(stream.fileno()).columns
        except (OSError, ValueError):
            found = 0
    return max(20, min(found or shutil.get_terminal_size((WIDTH, 24)).columns, most))


def _typed() -> list[str]:
    """Return what may stand in a message to be copied and holds spaces: it is never broken."""
    words = [word for word in sys.argv[1:] if " " in word.strip()]
    try:
        here = str(Path.cwd())
    except OSError:
        return words
    return [*words, here] if " " in here else words


def print_wrapped(text: str, indent: int, hanging: int = 0, *codes: str) -> None:
    """Print a paragraph with an indent; hanging: how much more of it further lines have."""
    left = " " * indent
    for line in hung(text, width(), left, left + " " * hanging, kept=_typed()):
        out(line, *codes)


def print_hint(hint: str, indent: int) -> None:
    """Print what to do, below what is wrong."""
    left = " " * indent
    for line in hung(hint, width(), f"{left}-> ", f"{left}   ", kept=_typed()):
        out(line)


def print_rows(
    headers: Sequence[str], rows: Sequence[Sequence[str]], right: Collection[int] = ()
) -> None:
    """Print a table without lines, which a screen reader can follow, in as many columns as fit.

    right: the columns of numbers.
    """
    shown = [[quoted(cell, 2_000) for cell in row] for row in (headers, *rows)]
    for number, lines in enumerate(table(shown, width(), right)):
        for line in lines:
            # Not calmed: what is in it was quoted, and the marks around a name are our own.
            sys.stdout.write(f"{styled(line, *([BOLD] if number == 0 else []))}\n")
