"""What follows from the closed rounds: outcomes, balances, purses, notes won."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sheets_host.game.auction import EMPTY_SLIP, Outcome, resolve
from sheets_host.game.match import Match
from sheets_host.game.notes import Note
from sheets_host.game.purse import Balance, Purse
from sheets_host.game.rulings import START_TOKENS


@dataclass(frozen=True, slots=True)
class Ledger:
    """What follows from the closed rounds of a match.

    outcomes: by round. balances: by (round, player). won: notes by player and round.
    next_round: the one after all closed rounds.
    """

    outcomes: Mapping[int, tuple[Outcome, ...]]
    balances: Mapping[tuple[int, str], Balance]
    purses: Mapping[tuple[int, str], Purse]
    won: Mapping[str, Mapping[int, tuple[Note, ...]]]
    next_round: int

    def purse(self, round_: int, player: str) -> Purse:
        """Return what the player holds when this round's entries are weighed.

        A round that is not closed yet stands after all the closed ones.
        """
        return self.purses[min(round_, self.next_round), player]

    def notes(self, player: str) -> tuple[Note, ...]:
        """Return the notes won, in the order of pitch, then the longest first."""
        notes = (n for won in self.won[player].values() for n in won)
        return tuple(sorted(notes, key=lambda n: (n.pitch, -n.eighths)))

    def most(self, player: str) -> int:
        """Return the most notes won in one round, for condition 8."""
        return max((len(won) for won in self.won[player].values()), default=0)


def settle(match: Match) -> Ledger:
    """Work out every closed round: outcomes, balances, purses before each round, notes won."""
    outcomes: dict[int, tuple[Outcome, ...]] = {}
    balances: dict[tuple[int, str], Balance] = {}
    purses: dict[tuple[int, str], Purse] = {}
    won: dict[str, dict[int, tuple[Note, ...]]] = {name: {} for name in match.names}
    held = {p.name: Purse(START_TOKENS, p.garnets, 0) for p in match.players}
    for round_ in range(1, match.rounds_closed + 1):
        slips = {name: match.slips.get((round_, name), EMPTY_SLIP) for name in match.names}
        outcomes[round_] = resolve(match.deals[round_], slips)
        for name, slip in slips.items():
            purse = purses[round_, name] = held[name]
            after = purse.tokens_after(slip.uses)
            balances[round_, name] = Balance(
                round_, name, purse.tokens, after - purse.tokens, slip.total
            )
            # A huge number of uses never stands: only what was affordable is recorded.
            held[name] = Purse(
                after - slip.total, purse.garnets - purse.cost(slip.uses), purse.used + slip.uses
            )
        for outcome in outcomes[round_]:
            if outcome.winner is not None:
                mine = won[outcome.winner]
                mine[round_] = (*mine.get(round_, ()), outcome.note)
    for name, purse in held.items():
        purses[match.rounds_closed + 1, name] = purse
    return Ledger(outcomes, balances, purses, won, match.rounds_closed + 1)
