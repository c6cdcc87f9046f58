"""Text in columns of a terminal: how wide it is, where a line may break, tables that fit."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest
from typing import Final

from sheets_host.tabs.problems import set_apart

GAP: Final = "  "  # between the columns of a table
_FAIR: Final = 12  # columns of a terminal for a column of text, where it has that much to say
_TIE: Final = "\x00"  # a space that no line breaks at; it stands in no text that is to be shown

_NOTE: Final = r"\b[A-G]#? (?:whole|half|quarter|eighth)\b(?:: \d+)?"
_QUOTED: Final = r"\"[^\"]*\"|'[^']*'"
_OPTION: Final = rf"--[a-z-]+ (?:{_QUOTED}|(?:[A-Z]|[1-6]\b|final\b)\S*)"
_ARGUMENT: Final = (
    rf"(?:{_OPTION}|--[a-z-]+|{_QUOTED}|[A-Z]{{2,}}\b|[1-6]\b|final\b|\S*[./\\]\S+|[\w-]{{20,}})"
)
_TOGETHER: Final = re.compile(
    rf"(?:\b[Ll]ot \d,? )?{_NOTE}"
    r"|\b(?:[Ll]ots?|[Rr]ound|[Pp]osition|[Rr]ow|[Cc]ondition|[Nn]ote|[Rr]ank) \d+"
    r"|\b\d+ (?:tokens?|garnets?|points?|notes?|rows?|players?|columns?)\b"
    r"|\b[0-9a-f]{4}(?: [0-9a-f]{4}){3}\b"  # a seal
    r"|\brecord \d{6} after \S+ [0-9a-f]{8}\.json"  # a copy, and a backup
    r"|\S+ \d{4}-\d\d-\d\d \d{6}Z \S+(?: \(kept\)\S*)?"
    r"|\b\d{4}-\d\d-\d\d \d\d:\d\d"
    rf"|\bsheets-host [a-z]+\b(?: {_ARGUMENT})*"
    rf"|{_OPTION}"
)

_COPIED: Final = re.compile(rf"[{_TIE}/\\=]|\.\w|\A[A-Za-z0-9_-]{{1,60}}\Z")  # commands, paths, ids


def cells_of(text: str) -> int:
    """Return how many columns a text takes: wide characters take two, marks none."""
    return sum(map(_cells, text))


def _cells(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf") or "\u1160" <= character <= "\u11ff":
        return 0  # marks, joiners, and the later parts of a Korean syllable
    return 1 + (unicodedata.east_asian_width(character) in "WF")


def cut(text: str, room: int) -> str:
    """Return as much of the beginning of a text as fits into so many columns."""
    return next(_pieces(text, room), "")


def wrapped(
    text: str,
    room: int,
    *,
    first: int | None = None,
    kept: Collection[str] = (),
    whole: bool = True,
) -> list[str]:
    """Break a text at spaces into lines of so many columns; first: how many the first line has.

    What belongs together stays on one line: a note, a lot and its number, a command, and the texts
    in `kept`. whole: a command, a path or an id that is longer than a line stays whole, to be
    copied; else it is broken as any other word is, such as a name.
    """
    lines = [""]
    for word in _words(_tied(text, kept), room, whole=whole):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        most = room if first is None or len(lines) > 1 else first
        if not lines[-1] or cells_of(longer) <= most:
            lines[-1] = longer
        else:
            lines.append(word)
    return [line.replace(_TIE, " ") for line in lines]


def hung(text: str, room: int, first: str, more: str, *, kept: Collection[str] = ()) -> list[str]:
    """Break a text into lines, the first of which begins with `first`, all others with `more`."""
    lines = wrapped(text, room - len(more), first=room - len(first), kept=kept)
    return [(more if number else first) + line for number, line in enumerate(lines)]


def _tied(text: str, kept: Collection[str] = ()) -> str:
    for part in kept:
        text = text.replace(part, part.replace(" ", _TIE))
    return _TOGETHER.sub(lambda found: found[0].replace(" ", _TIE), text)


def _words(text: str, room: int, *, whole: bool) -> Iterator[str]:
    for word in text.split(" "):
        if cells_of(word) <= room or (whole and _COPIED.search(word)):
            yield word
            continue
        for part in word.split(_TIE):
            yield from _pieces(part, room)


def _pieces(word: str, room: int) -> Iterator[str]:
    """Break within a word; a mark stays with its letter."""
    piece, taken = "", 0
    for character in word:
        wide = _cells(character)
        if piece and wide and taken + wide > room:
            yield piece
            piece, taken = "", 0
        piece += character
        taken += wide
    if piece:
        yield piece


# --- tables ------------------------------------------------------------------------------------


def table(
    rows: Sequence[Sequence[str]], room: int, right: Collection[int] = ()
) -> Iterator[list[str]]:
    """Lay out a table, the first row its headers: for each row, its lines.

    right: the columns of numbers. They stay whole; where there is too little room, the cells of
    the widest other columns take several lines. Nothing is left out.
    """
    widths = _shared(rows, room - len(GAP) * (len(rows[0]) - 1), right)
    for row in rows:
        cells = [wrapped(cell, widths[i], whole=False) for i, cell in enumerate(row)]
        yield [
            GAP.join(_padded(part, widths[i], i in right) for i, part in enumerate(parts)).rstrip()
            for parts in zip_longest(*cells, fillvalue="")
        ]


def _shared(rows: Sequence[Sequence[str]], room: int, right: Collection[int]) -> list[int]:
    """Return the width of each column: as wide as it wants to be, the widest give way first.

    A column of text keeps a width that can be read as long as any other can give way. Words are
    broken only where whole ones leave too little room, numbers never.
    """
    columns = list(zip(*rows, strict=True))
    widths = [max(map(cells_of, column)) for column in columns]
    whole = [
        max(cells_of(word) for cell in column for word in _tied(cell).split(" "))
        for column in columns
    ]
    fair = [word if i in right else min(widths[i], _FAIR) for i, word in enumerate(whole)]
    least = [
        max(1, *map(cells_of, column[1:])) if i in right else 2 for i, column in enumerate(columns)
    ]
    for floors in (list(map(max, whole, fair)), fair, least):
        while sum(widths) > room:
            wide = [i for i, width in enumerate(widths) if width > floors[i]]
            if not wide:
                break
            widths[max(wide, key=lambda i: (widths[i], i))] -= 1
    return widths


def _padded(text: str, width: int, right: bool) -> str:
    padding = " " * (width - cells_of(text))
    shown = set_apart(text)
    return padding + shown if right else shown + padding
