"""Tokens and garnets: what a player may spend."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from sheets_host.game.auction import Slip
from sheets_host.game.rulings import EXCHANGE_TOKENS


@dataclass(frozen=True, slots=True)
class Balance:
    """One player's tokens in one closed round: start + exchanged - bid = left."""

    round: int
    player: str
    start: int
    exchanged: int
    bid: int

    @property
    def left(self) -> int:
        return self.start + self.exchanged - self.bid


@dataclass(frozen=True, slots=True)
class Purse:
    """What a player holds when a round's entries are weighed.

    tokens: before exchanges of that round. garnets: not yet spent.
    used: exchanges in all other rounds that come before it.
    """

    tokens: int
    garnets: int
    used: int

    def cost(self, uses: int) -> int:
        """Garnets that this many further uses cost: 1, 2, 4 … doubling through the match (R13)."""
        return ((1 << uses) - 1) << self.used

    def affords(self, uses: int) -> bool:
        """Tell whether the garnets suffice, without ever building a huge number."""
        if uses == 0:
            return True
        return uses <= self.garnets.bit_length() and self.cost(uses) <= self.garnets

    def tokens_after(self, uses: int) -> int:
        """Tokens to bid with once the exchange was used (R14)."""
        return self.tokens + EXCHANGE_TOKENS * uses


class Fault(Enum):
    """Why a slip cannot stand."""

    TOO_FEW_GARNETS = "too-few-garnets"  # R15: void strikes out the round's exchanges
    OVER_BUDGET = "over-budget"  # R7: void strikes out the whole slip


def faults(slip: Slip, purse: Purse) -> tuple[Fault, ...]:
    """Return every reason why this slip cannot stand; () for a sound one.

    Exchanges that cannot be paid give no tokens. This one check serves `check`, closing,
    voiding, and what is looked at again after a stage was reopened.
    """
    found = []
    uses = slip.uses
    if not purse.affords(uses):
        found.append(Fault.TOO_FEW_GARNETS)
        uses = 0
    if slip.total > purse.tokens_after(uses):
        found.append(Fault.OVER_BUDGET)
    return tuple(found)
