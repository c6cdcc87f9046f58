"""A match: everything that has happened in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sheets_host.game.auction import Slip
from sheets_host.game.notes import Note
from sheets_host.game.rulings import ROUNDS, Rulings
from sheets_host.game.stages import Stage


@dataclass(frozen=True, slots=True)
class Player:
    """Someone who takes part. garnets: held at the start."""

    name: str
    garnets: int = 0
    withdrawn: bool = False


@dataclass(frozen=True, slots=True)
class Handed:
    """What became of a player's composition at closing.

    how: ``handed in``, ``nothing``, ``void``, ``withdrawn`` or ``without``; notes: in order.
    """

    how: str
    notes: tuple[Note, ...] = ()

    @property
    def counts(self) -> bool:
        return self.how == "handed in"


@dataclass(frozen=True, slots=True)
class Reopening:
    """Whose entries of a closed stage may be corrected; settings: switches and garnets too."""

    players: frozenset[str] = frozenset()
    settings: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """Everything that has happened.

    seats: every player who ever had a column in Collections, in its order.
    players: those who play, in the order of seats. fixed: a stage was closed, so that players,
    garnets and switches stand. closed: when each stage was (last) closed, in UTC.
    struck: what was voided, by (stage, player, item), as it stood there.
    """

    seats: tuple[str, ...] = ()
    players: tuple[Player, ...] = ()
    rulings: Rulings = Rulings()
    deals: Mapping[int, tuple[Note, ...]] = field(default_factory=dict)
    slips: Mapping[tuple[int, str], Slip] = field(default_factory=dict)
    kept: Mapping[tuple[int, str], str] = field(default_factory=dict)  # how each slip was closed
    compositions: Mapping[str, Handed] = field(default_factory=dict)
    closed: Mapping[Stage, str] = field(default_factory=dict)
    reopened: Mapping[Stage, Reopening] = field(default_factory=dict)
    struck: Mapping[tuple[str, str, str], str] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)  # former name to present name
    choice: str | None = None
    winner_ruling: str | None = None
    fixed: bool = False

    @property
    def frontier(self) -> Stage:
        """The first stage that was never closed."""
        return next((s for s in Stage if s not in self.closed), Stage.FINISHED)

    @property
    def stage(self) -> Stage:
        """The open stage: the earliest reopened one, else the first never closed."""
        return min(self.reopened, default=self.frontier)

    @property
    def finished(self) -> bool:
        """Tell whether there is a result, be it that a stage was reopened since."""
        return self.frontier is Stage.FINISHED

    @property
    def rounds_closed(self) -> int:
        return min(int(self.frontier) - 1, ROUNDS)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(player.name for player in self.players)

    def player(self, name: str) -> Player:
        return next(player for player in self.players if player.name == name)

    def awaited(self) -> tuple[str, ...]:
        """Return the players whose entries of the open stage are read (R32; reopened: named)."""
        names = tuple(p.name for p in self.players if not p.withdrawn)
        reopening = self.reopened.get(self.stage)
        if reopening is None:
            return names
        return tuple(name for name in names if name in reopening.players)
