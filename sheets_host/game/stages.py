"""The stages of a match: six rounds, composing, finished."""

from __future__ import annotations

from enum import IntEnum

from sheets_host.game.rulings import ROUNDS


class Stage(IntEnum):
    """One stage is open at a time, in this order."""

    ROUND_1 = 1
    ROUND_2 = 2
    ROUND_3 = 3
    ROUND_4 = 4
    ROUND_5 = 5
    ROUND_6 = 6
    COMPOSING = 7
    FINISHED = 8

    @property
    def round(self) -> int | None:
        """The round's number, or None for composing and finished."""
        return int(self) if self <= ROUNDS else None

    @property
    def kind(self) -> str:
        """One of ``round``, ``composing``, ``finished``."""
        return "round" if self <= ROUNDS else self.name.lower()

    @property
    def key(self) -> str:
        """How the Record names it: ``3`` or ``composing``."""
        return str(int(self)) if self <= ROUNDS else self.name.lower()

    def __str__(self) -> str:
        return f"round {int(self)}" if self <= ROUNDS else self.name.lower()


ROUND_STAGES = tuple(Stage(r) for r in range(1, ROUNDS + 1))
_BY_KEY = {stage.key: stage for stage in (*ROUND_STAGES, Stage.COMPOSING)}


def stage_of(text: str) -> Stage:
    """Read a stage: ``3``, ``round 3``, ``composing``, ``final``. Raises ValueError."""
    if text in _BY_KEY:
        return _BY_KEY[text]
    word = " ".join(text.split()).casefold()
    if word in ("composing", "final"):
        return Stage.COMPOSING
    number = word.removeprefix("round").strip()
    if number in {str(r) for r in range(1, ROUNDS + 1)}:
        return Stage(int(number))
    raise ValueError(f"{text!r} is no stage: write 1 to {ROUNDS}, or final")
