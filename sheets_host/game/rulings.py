"""Every number of the game, and every switch by which a match may read a rule differently."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

ROUNDS: Final = 6
LOTS: Final = 8
NOTES: Final = ROUNDS * LOTS  # 12 pitches of 4 durations
START_TOKENS: Final = 500
EXCHANGE_TOKENS: Final = 10  # gained by each use of the exchange
SHORT: Final = 5  # a composition of fewer notes scores nothing
POINTS_PER_GARNET: Final = 8
COMPOSING_HOURS: Final = 24


@dataclass(frozen=True, slots=True)
class Switch:
    """A rule that can be read in more than one way: the first value is the default."""

    name: str
    values: tuple[str, ...]
    what: str

    @property
    def default(self) -> str:
        return self.values[0]


UNFIXED: Final = Switch(
    "Unfixed entries at closing",
    ("hold", "void"),
    "hold: a stage stays open while an entry is wrong · void: what is wrong is struck out and"
    " the stage closes; an unattended game wants void",
)
SHORT_SHARE: Final = Switch(
    "Short compositions share",
    ("no", "yes"),
    "whether compositions of 1 to 4 notes, which score 0, still count among those who share a"
    " condition's points",
)
DESCENDING: Final = Switch(
    "Descending run",
    ("in a row", "anywhere"),
    "condition 4: the four falling notes are neighbours, or may have other notes between them",
)
TRITONE: Final = Switch(
    "Tritone",
    ("neighbours", "any two"),
    "condition 6: the two notes six semitones apart are neighbours, or any two",
)
EIGHTHS: Final = Switch(
    "Eight eighths",
    ("at least", "exactly"),
    "condition 9: eight eighth notes or more, or exactly eight",
)
ANNOUNCED: Final = Switch(
    "Announced bids",
    ("winners", "winning bids", "all bids"),
    "what the Auction tab and the announcements tell of closed rounds besides who won",
)

SWITCHES: Final = (UNFIXED, SHORT_SHARE, DESCENDING, TRITONE, EIGHTHS, ANNOUNCED)
SCORING_SWITCHES: Final = (SHORT_SHARE, DESCENDING, TRITONE, EIGHTHS)


@dataclass(frozen=True, slots=True)
class Rulings:
    """The value of every switch in one match."""

    unfixed: str = UNFIXED.default
    short_share: str = SHORT_SHARE.default
    descending: str = DESCENDING.default
    tritone: str = TRITONE.default
    eighths: str = EIGHTHS.default
    announced: str = ANNOUNCED.default

    @classmethod
    def of(cls, values: Mapping[str, str]) -> Rulings:
        """Take values by the switches' names; what is not named has its default.

        Raises ValueError for a value that the switch does not have.
        """
        chosen = []
        for switch in SWITCHES:
            value = values.get(switch.name, switch.default)
            if value not in switch.values:
                raise ValueError(f"{switch.name}: {value!r} is none of {', '.join(switch.values)}")
            chosen.append(value)
        return cls(*chosen)

    def named(self) -> dict[str, str]:
        """Return the values by the switches' names, in the order of `SWITCHES`."""
        values = (
            self.unfixed,
            self.short_share,
            self.descending,
            self.tritone,
            self.eighths,
            self.announced,
        )
        return {switch.name: value for switch, value in zip(SWITCHES, values, strict=True)}
