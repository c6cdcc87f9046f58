"""What is wrong, as data: where it stands, what stands there, what to do."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final


class Severity(Enum):
    """A problem keeps a stage from closing; a notice only tells."""

    PROBLEM = "problem"
    NOTICE = "notice"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to tell, with its source.

    code: a stable word for scripts. entry: what stands in the cell. file: None in the game
    workbook itself, else the entry sheet's name.
    """

    severity: Severity
    code: str
    tab: str
    cell: str
    message: str
    hint: str = ""
    entry: str = ""
    player: str | None = None
    file: str | None = None

    @property
    def stands(self) -> bool:
        """Tell whether it keeps a stage open."""
        return self.severity is Severity.PROBLEM

    @property
    def where(self) -> str:
        """The place in words: ``Bids!E7``, with the file where it is not the game workbook."""
        place = f"{self.tab}!{self.cell}" if self.cell else self.tab
        return f"{self.file}: {place}" if self.file else place


def notice(problem: Problem) -> Problem:
    """Return the same as a notice."""
    return replace(problem, severity=Severity.NOTICE)


MANY = 50
"""Problems of one kind on one tab that are told each; nobody reads thousands."""


def few(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return problems with no more of one kind than anybody reads, and how many more there are.

    A player's own are all told.
    """
    told: list[Problem] = []
    counts: dict[tuple[Severity, str, str, str | None], int] = {}
    for problem in problems:
        kind = problem.severity, problem.code, problem.tab, problem.file
        counts[kind] = counts.get(kind, 0) + (problem.player is None)
        if problem.player is not None or counts[kind] <= MANY:
            told.append(problem)
    for kind, count in counts.items():
        if count > MANY:
            last = next(p for p in reversed(told) if (p.severity, p.code, p.tab, p.file) == kind)
            more = f"{count - MANY:,} more of this kind: {last.message}, and the like"
            told.append(replace(last, cell="", message=more, entry="", player=None))
    return tuple(told)


class DamagedTabs(Exception):
    """The tabs of a workbook cannot be read as a game's (exit code 3); all faults at once."""

    def __init__(self, faults: Iterable[Problem]) -> None:
        self.faults = few(faults)
        super().__init__("; ".join(f"{fault.where}: {fault.message}" for fault in self.faults))


def quoted(text: str, most: int = 60) -> str:
    """Return a person's text fit to stand in a message: visible, on one line, not too long."""
    seen = text[: 8 * most]  # a text may be very long, and spaces in it many
    visible = "".join(c if _printable(c) else " " for c in seen)
    line = " ".join(visible.split())
    whole = len(line) <= most and len(seen) == len(text)
    return line if whole else line[: most - 1] + "…"


def _printable(character: str) -> bool:
    # Cc, Cs and bidi controls could steer a terminal or hide text; a joiner in an emoji may stay.
    if character in "\u200d\ufe0f":
        return True
    return unicodedata.category(character) not in ("Cc", "Cs", "Cf", "Co", "Cn", "Zl", "Zp")


def set_apart(text: str) -> str:
    """Return a person's text so that a number beside it stays there, whatever its script.

    Text that is read from right to left is isolated (Unicode Standard Annex 9): else what follows
    it would seem to stand on its other side.
    """
    leftwards = any(unicodedata.bidirectional(c) in ("R", "AL", "AN") for c in text)
    return f"{_ISOLATE}{text}{_END}" if leftwards else text


_ISOLATE: Final = "\u2068"
_END: Final = "\u2069"


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that is most like this one, or None where none is."""
    from difflib import get_close_matches

    by_fold = {name.casefold(): name for name in known}
    close = get_close_matches(word.casefold(), by_fold, 1, 0.6)
    return by_fold[close[0]] if close else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return ``; the nearest is "Bids"`` or nothing."""
    match = nearest(word, known)
    return f'; the nearest is "{match}"' if match else ""
