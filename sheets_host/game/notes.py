"""The 48 notes, and how people spell them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final

PITCHES: Final = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")
SHARPS: Final = frozenset(p for p, name in enumerate(PITCHES) if name.endswith("#"))
TRITONE: Final = 6  # semitones


class Duration(Enum):
    """How long a note lasts, in eighths of a whole count: a quarter note is 1 beat, 2 eighths."""

    WHOLE = 8
    HALF = 4
    QUARTER = 2
    EIGHTH = 1

    @property
    def eighths(self) -> int:
        return self.value

    @property
    def word(self) -> str:
        return self.name.lower()


BAR: Final = 8  # eighths in the four beats that condition 1 divides by


@dataclass(frozen=True, slots=True)
class Note:
    """A pitch (0 is C, 11 is B) of a duration. Each of the 48 exists once.

    eighths: the duration in eighth notes; text: the form the tool writes, ``D# quarter``.
    """

    pitch: int
    eighths: int
    text: str
    sharp: bool

    @property
    def duration(self) -> Duration:
        return Duration(self.eighths)

    def __str__(self) -> str:
        return self.text


ALL_NOTES: Final = tuple(
    Note(pitch, duration.eighths, f"{name} {duration.word}", pitch in SHARPS)
    for pitch, name in enumerate(PITCHES)
    for duration in Duration
)
_BY_KEY: Final = {(note.pitch, note.eighths): note for note in ALL_NOTES}
BY_TEXT: Final = {note.text: note for note in ALL_NOTES}


def note(pitch: int, duration: Duration) -> Note:
    """Return the one note of this pitch and duration."""
    return _BY_KEY[pitch, duration.eighths]


# --- spelling ----------------------------------------------------------------------------------

_PITCH_OF: Final = {
    **{name.lower(): p for p, name in enumerate(PITCHES)},
    "db": 1, "eb": 3, "gb": 6, "ab": 8, "bb": 10,
}  # fmt: skip
_REFUSED: Final = {
    "e#": "there is no E#: E and F are neighbours; write F",
    "b#": "there is no B#: the notes lie in one octave; write C",
    "cb": "there is no Cb: the notes lie in one octave; write B",
    "fb": "there is no Fb: E and F are neighbours; write E",
    "h": "H is not used here; write B (or A# for the German B)",
    "h#": "H is not used here; write B or C",
    "hb": "H is not used here; write A#",
}
_ALL_DURATIONS: Final = tuple(Duration)
_W, _H, _Q, _E = _ALL_DURATIONS
_DURATIONS: Final = {
    "whole": (_W,), "half": (_H,), "quarter": (_Q,), "eighth": (_E,),
    "w": (_W,), "h": (_H,), "q": (_Q,), "e": (_E,),
    "1/1": (_W,), "1/4": (_Q,), "1/8": (_E,), "/1": (_W,), "/4": (_Q,), "/8": (_E,),
    # One half is a half note, or the rules' own half beat: an eighth.
    "1/2": (_H, _E), "/2": (_H, _E), "0.5": (_H, _E),
    # A bare number counts beats (whole = 4) or names the fraction (4 = a quarter).
    "1": (_Q, _W), "2": (_H,), "4": (_W, _Q), "8": (_E,),
}  # fmt: skip
_PITCH: Final = r"[a-h](?:\s*[#b])?"
_DURATION: Final = r"whole|half|quarter|eighth|1/[1248]|/[1248]|0\.5|[1248]"
_PITCH_FIRST: Final = re.compile(rf"({_PITCH})[\s,-]*({_DURATION}|[whqe])?(?:\s*note)?")
# A letter alone never stands first: Eb is no B eighth, and He no E half.
_DURATION_FIRST: Final = re.compile(rf"({_DURATION})[\s,-]*({_PITCH})?(?:\s*note)?")


_NUMBER: Final = re.compile("(?<![/\u20440-9.])[0-9](?![/\u20440-9.])")


class Misspelt(ValueError):
    """A text that no reading makes a note."""


class Ambiguous(ValueError):
    """A text with several readings that what the player holds does not settle."""

    def __init__(self, text: str, readings: Sequence[Note]) -> None:
        names = [str(reading) for reading in readings]
        listed = ", ".join(names[:4]) + (" …" if len(names) > 4 else "")
        super().__init__(f'"{text}" can mean {listed}')
        self.readings = tuple(readings)


def readings(text: str) -> tuple[Note, ...]:
    """Return every note that a text can mean (R23, R24), in the order of `ALL_NOTES`.

    Raises Misspelt where there is none, saying why.
    """
    plain = tidy(text).casefold().replace("♯", "#").replace("♭", "b").replace("\u2044", "/")
    plain = plain.replace("\u2013", "-").replace("\u2212", "-")
    found: set[Note] = set()
    refusal = ""
    for pattern, pitch_at, duration_at in ((_PITCH_FIRST, 1, 2), (_DURATION_FIRST, 2, 1)):
        match = pattern.fullmatch(plain)
        if not match:
            continue
        spelling = re.sub(r"\s", "", match[pitch_at] or "")
        duration = match[duration_at]
        if spelling in _REFUSED:
            refusal = refusal or _REFUSED[spelling]
        elif spelling:
            found |= {
                note(_PITCH_OF[spelling], d)
                for d in (_DURATIONS[duration] if duration else _ALL_DURATIONS)
            }
        else:
            found |= {note(p, d) for p in range(12) for d in _DURATIONS[duration]}
    if not found:
        raise Misspelt(refusal or f'"{text}" is no note')
    return tuple(n for n in ALL_NOTES if n in found)


def read(text: str, held: Collection[Note]) -> tuple[Note, bool]:
    """Read a note as its player means it; also tell whether what is held settled it (R24).

    A text of one reading is that note, held or not; a bare number in it (D2) is told all the same.
    Of several readings the one held counts.
    Raises Misspelt, or Ambiguous where none or several of the readings are held.
    """
    possible = readings(text)
    if len(possible) == 1:
        return possible[0], bool(_NUMBER.search(tidy(text)))
    fitting = [reading for reading in possible if reading in held]
    if len(fitting) != 1:
        raise Ambiguous(text, fitting or possible)
    return fitting[0], True


@lru_cache(maxsize=10_000)  # the same headers, names and entries are looked at again and again
def tidy(text: str) -> str:
    """Return a text in its plain form: compatible characters folded, invisible ones dropped."""
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    folded = unicodedata.normalize("NFKC", text)
    visible = "".join(c for c in folded if unicodedata.category(c) != "Cf")
    return " ".join(visible.split())
