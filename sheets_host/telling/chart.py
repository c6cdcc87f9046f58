"""Where every line, bar and label of the page's drawings stands, in pixels at full size."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sheets_host.game.ledger import Ledger
from sheets_host.game.notes import Note
from sheets_host.game.rulings import ROUNDS, START_TOKENS

TOP: Final = 14
BOTTOM: Final = 26
LEFT: Final = 40
INSET: Final = 10  # from the axis to the first point
LABEL_GAP: Final = 42  # from the last round to the names: the tokens stand between
LABEL_HEIGHT: Final = 16  # from one label to the next, so that none covers another


@dataclass(frozen=True, slots=True)
class Tick:
    """A grid line. at: where it stands, in the chart's units."""

    at: int
    label: str


@dataclass(frozen=True, slots=True)
class Line:
    """One player's tokens. points: (x, y, tokens), the start and then each closed round.

    label_y: where the name stands at the right, None where there are too many for names. label:
    the name, cut to fit.
    """

    player: str
    points: tuple[tuple[int, int, int], ...]
    label: str
    label_y: int | None

    @property
    def path(self) -> str:
        """The line as SVG's `polyline` takes it."""
        return " ".join(f"{x},{y}" for x, y, _ in self.points)


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing of this width and height, in units that are pixels at full size."""

    kind: str
    width: int
    height: int
    right: int
    label_x: int
    ticks: tuple[Tick, ...]
    rounds: tuple[Tick, ...]
    lines: tuple[Line, ...]


def tokens_by_player(ledger: Ledger, names: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Return each player's tokens at the start and after every closed round."""
    closed = range(1, ledger.next_round)
    return {
        name: (START_TOKENS, *(ledger.balances[round_, name].left for round_ in closed))
        for name in names
    }


def token_charts(tokens: Mapping[str, Sequence[int]]) -> tuple[Chart, Chart]:
    """Draw the chart for wide places and for narrow ones: text keeps its size in either."""
    return _drawn("wide", 680, 380, 150, 13, tokens), _drawn("narrow", 340, 300, 112, 9, tokens)


def _drawn(
    kind: str,
    width: int,
    height: int,
    margin: int,
    longest: int,
    tokens: Mapping[str, Sequence[int]],
) -> Chart:
    """Draw a chart. margin: kept for names at the right; longest: characters of a name there."""
    step = 100
    most = max((n for line in tokens.values() for n in line), default=0)
    top = max(START_TOKENS, -(-most // step) * step)
    if top > 8 * step:  # garnets by the hundred: fewer grid lines
        step = -(-top // (5 * step)) * step
    right, floor = width - margin, height - BOTTOM

    def x(round_: int) -> int:
        return LEFT + INSET + (right - LEFT - INSET) * round_ // ROUNDS

    def y(count: int) -> int:
        return floor - (floor - TOP) * count // top

    ends = {name: y(line[-1]) for name, line in tokens.items()}
    labels = _spread(ends, TOP, floor)
    lines = tuple(
        Line(
            name,
            tuple((x(round_), y(count), count) for round_, count in enumerate(line)),
            name if len(name) <= longest else name[: longest - 1].rstrip() + "…",
            labels.get(name),
        )
        for name, line in tokens.items()
    )
    return Chart(
        kind,
        width,
        height,
        right,
        right + LABEL_GAP,
        tuple(Tick(y(count), f"{count}") for count in range(0, top + 1, step)),
        tuple(Tick(x(r), str(r) if r else "Start") for r in range(ROUNDS + 1)),
        lines,
    )


def _spread(ends: Mapping[str, int], top: int, floor: int) -> dict[str, int]:
    """Move labels apart, each as near to its line's end as may be; none where they do not fit."""
    if (len(ends) - 1) * LABEL_HEIGHT > floor - top:
        return {}
    names = sorted(ends, key=lambda name: ends[name])
    down = _pushed((ends[name] for name in names), top)
    # What was pushed below the floor pushes back up.
    up = _pushed((-y for y in reversed(down)), -floor)
    return dict(zip(names, (-y for y in reversed(up)), strict=True))


def _pushed(places: Iterable[int], least: int) -> list[int]:
    """Return the places, each moved up by no more than keeps it clear of the one before."""
    moved: list[int] = []
    for place in places:
        least = max(place, least)
        moved.append(least)
        least += LABEL_HEIGHT
    return moved


# --- a composition as bars ---------------------------------------------------------------------

EIGHTH: Final = 15  # wide enough for a name such as A♯
STEP: Final = 9  # from one pitch to the next
NAME_HEIGHT: Final = 17  # above the highest bar
EDGE: Final = 5


@dataclass(frozen=True, slots=True)
class Bar:
    """One note: the longer it sounds the wider, the higher it sounds the higher."""

    x: int
    y: int
    width: int
    label: str


@dataclass(frozen=True, slots=True)
class Roll:
    """A composition drawn as a piano roll, from its lowest pitch to its highest."""

    width: int
    height: int
    grid: tuple[int, ...]
    bars: tuple[Bar, ...]


def roll_of(composition: Sequence[Note]) -> Roll:
    """Draw the bars of a composition of one note or more."""
    highest = max(note.pitch for note in composition)
    lowest = min(note.pitch for note in composition)
    bars, at = [], 0
    for note in composition:
        name = note.text.partition(" ")[0].replace("#", "♯")
        y = NAME_HEIGHT + (highest - note.pitch) * STEP
        bars.append(Bar(EDGE + at * EIGHTH, y, note.eighths * EIGHTH - 2, name))
        at += note.eighths
    grid = tuple(NAME_HEIGHT + line * STEP for line in range(highest - lowest + 2))
    return Roll(at * EIGHTH + 2 * EDGE, grid[-1] + 2, grid, tuple(bars))
