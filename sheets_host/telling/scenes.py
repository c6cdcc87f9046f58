"""What the spectators' page shows, part by part, as its template takes it.

All of it is drawn from the public tabs, or from what they are drawn from: closed rounds, and the
notes of the open one.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sheets_host.game.auction import Outcome, Sale
from sheets_host.game.conditions import CONDITIONS, Condition
from sheets_host.game.notes import Note
from sheets_host.game.outlook import Reach, reach
from sheets_host.game.scoring import Result
from sheets_host.grid import Content, Tab
from sheets_host.tabs.layout import FIRST, TOOL_HEADER
from sheets_host.tabs.verdicts import breakdown, standing_word, standings
from sheets_host.tabs.view import View, deadline, lot_state, moment_text
from sheets_host.telling.chart import Roll, roll_of


@dataclass(frozen=True, slots=True)
class Heading:
    """A column of Standings. numeric: sorts as a number, the greatest first."""

    text: str
    numeric: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A player's row of Standings. word: what the result says; it stands by the name."""

    player: str
    word: str
    cells: tuple[Content, ...]


@dataclass(frozen=True, slots=True)
class Standings:
    """The tab Standings, without the columns in which nothing stands yet."""

    headings: tuple[Heading, ...]
    rows: tuple[Row, ...]


def standings_of(view: View) -> Standings:
    """Take the tab Standings; the result's words stand by the names instead of in a column."""
    headers, body = _read(standings(view))
    player = headers.index("Player")
    shown = [
        c
        for c, header in enumerate(headers)
        if header != "Result" and any(row[c] not in (None, "") for row in body)
    ]
    numeric = {c for c in shown if any(isinstance(row[c], int) for row in body)}
    return Standings(
        tuple(Heading(headers[c], c in numeric) for c in shown),
        tuple(
            Row(name, standing_word(view, name), tuple(row[c] for c in shown))
            for row in body
            for name in [str(row[player])]
        ),
    )


def _read(tab: Tab) -> tuple[list[str], list[Sequence[Content]]]:
    """Take a tool tab's header and body: what the page says is what the tab says."""
    return [str(header) for header in tab.rows[TOOL_HEADER - 1]], list(tab.rows[FIRST - 1 :])


@dataclass(frozen=True, slots=True)
class Offer:
    """The notes of the open round. until: when it closes, as people read it, or blank."""

    round: int
    notes: tuple[Note, ...]
    until: str


def offer_of(view: View) -> Offer | None:
    """Return what is on offer; None while composing, finished or where a round is open again."""
    stage = view.match.stage
    if stage.round is None or stage.round in view.ledger.outcomes:
        return None
    until = deadline(view, stage)
    notes = view.match.deals.get(stage.round, ())
    return Offer(stage.round, notes, moment_text(until) if until else "")


@dataclass(frozen=True, slots=True)
class Story:
    """A closed round. gains: players and how many notes each won, the most first."""

    round: int
    reopened: bool
    lots: tuple[Outcome, ...]
    gains: tuple[tuple[str, int], ...]
    ties: int
    unsold: int
    bid: int
    last: bool


def story_of(view: View, round_: int) -> Story:
    """Tell a closed round. Raises KeyError for one that was never closed."""
    lots = view.ledger.outcomes[round_]
    won = {name: len(view.ledger.won[name].get(round_, ())) for name in view.match.names}
    gains = sorted(((n, count) for n, count in won.items() if count), key=lambda g: (-g[1], g[0]))
    return Story(
        round_,
        lot_state(view.match, round_) == "open",
        lots,
        tuple(gains),
        sum(lot.sale is Sale.TIE for lot in lots),
        sum(lot.sale is Sale.NO_BIDS for lot in lots),
        sum(view.ledger.balances[round_, name].bid for name in view.match.names),
        round_ == max(view.ledger.outcomes),
    )


@dataclass(frozen=True, slots=True)
class Square:
    """A condition on the board. groups: what is said of whom, such as ``Secure`` and names."""

    condition: Condition
    each: int | None
    groups: tuple[tuple[str, str, tuple[str, ...]], ...]


_REACH: Final = (
    (Reach.SECURE, "Secure"),
    (Reach.POSSIBLE, "Within reach"),
    (Reach.IMPOSSIBLE, "Out of reach"),
)


def squares_of(view: View) -> list[Square]:
    """Lay out the board: who fulfils what; before the result who can, if the host wants it told."""
    if view.result:
        columns = zip(CONDITIONS, view.result.holders, view.result.each, strict=True)
        return [Square(c, each, (("holds", "", holders),)) for c, holders, each in columns]
    if not view.config.projection or not view.ledger.outcomes:
        return [Square(condition, None, ()) for condition in CONDITIONS]
    table = reach(view.match, view.ledger)
    return [
        Square(
            condition,
            None,
            tuple(
                (
                    how.value,
                    word,
                    tuple(n for n, found in table[condition.number].items() if found is how),
                )
                for how, word in _REACH
            ),
        )
        for condition in CONDITIONS
    ]


@dataclass(frozen=True, slots=True)
class Picture:
    """Sheet music as an image of its own: its ids, styles and links stay inside it.

    width, height: in CSS pixels, the same scale for every composition.
    """

    address: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Piece:
    """One player's composition and what it earned. notes: none where no composition counts.

    why: rows of the tab Breakdown: number, condition, yes or no, why, points.
    """

    player: str
    notes: tuple[Note, ...]
    rank: int
    points: int
    word: str
    picture: Picture | None
    why: tuple[Sequence[Content], ...]

    @property
    def melody(self) -> str:
        """What page.js plays: pitch and length in eighths of each note."""
        return " ".join(f"{note.pitch}:{note.eighths}" for note in self.notes)

    @property
    def roll(self) -> Roll:
        return roll_of(self.notes)


def pieces_of(view: View, engravings: Mapping[str, str]) -> list[Piece]:
    """Return all compositions, best first; none before the result."""
    if view.result is None:
        return []
    _, rows = _read(breakdown(view))
    cards = sorted(view.result.cards, key=lambda c: (c.rank, c.player.casefold(), c.player))
    return [
        Piece(
            card.player,
            card.composition or (),
            card.rank,
            card.points,
            standing_word(view, card.player),
            _picture(engravings.get(card.player, "")) if card.composition else None,
            tuple(row[1:] for row in rows if row[0] == card.player),
        )
        for card in cards
    ]


_VIEW_BOX: Final = re.compile(r'viewBox="0 0 (\d+)(?:\.\d+)? (\d+)')
_SCALE: Final = 30  # per cent: verovio's units to CSS pixels


def _picture(svg: str) -> Picture | None:
    """Take an engraving as it is; None for none."""
    box = _VIEW_BOX.search(svg)
    if box is None:
        return None
    data = base64.b64encode(svg.encode("utf-8", "replace")).decode("ascii")
    width, height = (int(size) * _SCALE // 100 for size in box.groups())
    return Picture(f"data:image/svg+xml;base64,{data}", width, height)


def decided_by(result: Result | None) -> str:
    """Return what follows the winner's points; blank where those decide."""
    if result is None or result.winner is None:
        return ""
    return {
        "points": "",
        "highest pitch": ", tied, and ahead by the highest pitch",
        "longest note": ", tied, and ahead by the longest note of the highest pitch",
    }.get(result.decided_by, ", tied, and chosen by the host")
