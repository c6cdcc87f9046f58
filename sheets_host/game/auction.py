"""One round of the auction: the deal, the slips, and who gains which note."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

from sheets_host.game.notes import ALL_NOTES, Note
from sheets_host.game.rulings import LOTS


@dataclass(frozen=True, slots=True)
class Slip:
    """What one player enters for one round.

    bids: tokens by lot (1 to 8); a lot without a bid is left out, and 0 is a bid (R1).
    uses: how often the exchange is used in this round (R14).
    """

    bids: Mapping[int, int] = field(default_factory=dict)
    uses: int = 0

    @property
    def total(self) -> int:
        """Tokens bid, won or not: all of them are paid (R5)."""
        return sum(self.bids.values())


EMPTY_SLIP: Final = Slip()


class Sale(Enum):
    """How a lot ends."""

    WON = "won"
    TIE = "tie"
    NO_BIDS = "no bids"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A lot of a closed round. bid: the highest, None without bids; bids: by player."""

    lot: int
    note: Note
    sale: Sale
    winner: str | None
    bid: int | None
    bids: Mapping[str, int]

    def ranked(self) -> list[tuple[str, int]]:
        """Return every player's bid, the highest first; alike ones by name."""
        return sorted(self.bids.items(), key=lambda bid: (-bid[1], bid[0].casefold(), bid[0]))


def resolve(deal: tuple[Note, ...], slips: Mapping[str, Slip]) -> tuple[Outcome, ...]:
    """Settle a round: the highest bid wins (a sole 0 too, R2), a tie for it sells nothing (R3)."""
    return tuple(
        _settle(lot, note, {p: slip.bids[lot] for p, slip in slips.items() if lot in slip.bids})
        for lot, note in enumerate(deal, 1)
    )


def _settle(lot: int, note: Note, bids: Mapping[str, int]) -> Outcome:
    if not bids:
        return Outcome(lot, note, Sale.NO_BIDS, None, None, bids)
    highest = max(bids.values())
    holders = [player for player, bid in bids.items() if bid == highest]
    if len(holders) > 1:
        return Outcome(lot, note, Sale.TIE, None, highest, bids)
    return Outcome(lot, note, Sale.WON, holders[0], highest, bids)


def draw(
    seed: str, round_: int, gone: Collection[Note], chosen: Mapping[int, tuple[Note, ...]]
) -> tuple[Note, ...]:
    """Return a round's eight notes (R11).

    chosen: the rounds whose notes the host picked; drawn rounds leave all of those out.
    gone: notes dealt before. The draw takes the notes in the order of a digest of seed, round
    and note, so that the same seed deals the same notes on every system, for ever.
    """
    if round_ in chosen:
        return chosen[round_]
    kept_back = {note for notes in chosen.values() for note in notes}
    left = [note for note in ALL_NOTES if note not in gone and note not in kept_back]
    left.sort(key=lambda n: hashlib.sha256(f"{seed}|{round_}|{n}".encode()).digest())
    return tuple(left[:LOTS])
