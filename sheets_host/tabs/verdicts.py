"""The tabs of who stands where: the standings, the twelve conditions, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from sheets_host.game.conditions import CONDITIONS
from sheets_host.game.outlook import Reach, reach
from sheets_host.game.rulings import ROUNDS, SHORT
from sheets_host.game.scoring import Card
from sheets_host.grid import (
    Area,
    Bar,
    Chart,
    Content,
    Looks,
    Rule,
    Series,
    Style,
    Tab,
)
from sheets_host.tabs.layout import (
    BAND,
    BAR,
    BRONZE_FILL,
    FILTER,
    FIRST,
    GOLD_FILL,
    GOOD_FILL,
    GOOD_INK,
    MIDDLE,
    NAME_WRAPPED,
    NUMBER,
    PALE_INK,
    SILVER_FILL,
    TOOL_HEADER,
    WRAPPED,
    WRONG_FILL,
    WRONG_INK,
    Column,
    name_column,
    tool_tab,
)
from sheets_host.tabs.view import (
    Outlook,
    View,
    as_of,
    standings_order,
    why_none,
)

WINNER: Final = "Winner: Token of Life"
CANDIDATE: Final = "Elimination Candidate"
_RANK: Final = replace(MIDDLE, number='[=1]"★ "0;0')  # the number stays a number


def standings(view: View) -> Tab:
    """Draw who holds what, and after the result who stands where."""
    columns = (
        Column("Rank", 7, _RANK),
        name_column(view.match.seats),
        Column("Points", 10, NUMBER),
        Column("Projected", 11, NUMBER),
        Column("Best possible", 11, NUMBER),
        Column("Notes", 8, MIDDLE),
        Column("Tokens", 12, NUMBER),
        Column("Garnets", 10, MIDDLE),
        Column("Conditions", 22, WRAPPED),
        Column("Result", 34, WRAPPED),
    )
    body = [_standing(view, name) for name in standings_order(view)]
    last = max(FIRST, FIRST + len(body) - 1)
    row, rank = Area(FIRST, 1, last, 10), Area(FIRST, 1, last, 2)
    rules = (
        Rule(row, f'=LEFT($J{FIRST},6)="Winner"', Style(fill=GOLD_FILL, bold=True)),
        Rule(row, f'=LEFT($J{FIRST},11)="Elimination"', Style(fill=WRONG_FILL, ink=WRONG_INK)),
        Rule(row, f'=$J{FIRST}="withdrawn"', Style(ink=PALE_INK, italic=True)),
        Rule(rank, f"=AND($A{FIRST}=2,$C{FIRST}>0)", Style(fill=SILVER_FILL, bold=True)),
        Rule(rank, f"=AND($A{FIRST}=3,$C{FIRST}>0)", Style(fill=BRONZE_FILL, bold=True)),
    )
    bars = (Bar(Area(FIRST, 3, last, 3), BAR), Bar(Area(FIRST, 7, last, 7), BAR))
    return tool_tab(
        "Standings",
        f"{view.config.game}: standings",
        as_of(view),
        columns,
        body,
        Looks(rules=rules, bars=bars),
        frozen_columns=2,
        hint=_standings_hint(view),
    )


def _standings_hint(view: View) -> str:
    if view.result is not None:
        return "Best possible: what the notes could have scored, with all others as handed in"
    if view.outlooks:
        return (
            "Until the end the order is by Projected: the points if the match ended now and all"
            " composed at their best"
        )
    return ""


def _standing(view: View, name: str) -> list[Content]:
    card = view.result.card(name) if view.result else None
    outlook = view.outlooks.get(name, Outlook())
    purse = view.ledger.purse(ROUNDS + 1, name)
    fulfilled = ", ".join(str(number) for number in card.fulfilled) if card else ""
    return [
        card.rank if card else None,
        name,
        card.points if card else None,
        outlook.projected,
        outlook.best_possible,
        len(view.ledger.notes(name)),
        purse.tokens,
        purse.garnets + (card.earned if card else 0),
        fulfilled,
        standing_word(view, name),
    ]


def standing_word(view: View, name: str) -> str:
    """Return what the result says of a player; before it, only whether they withdrew."""
    result = view.result
    if view.match.player(name).withdrawn:
        return "withdrawn"
    if result is None:
        return ""
    if name == result.winner:
        return WINNER
    if name == result.candidate:
        return CANDIDATE
    if name in result.winner_among:
        return "tied for the win: the host rules"
    if name in result.choice_among:
        return "tied for last: the winner chooses"
    return ""


def conditions(view: View) -> Tab:
    """Draw the twelve conditions as a board of who has what, and a chart of what they pay.

    Until the result the board tells what is sure, still open, or out of reach.
    """
    match, result, reaches = view.match, view.result, _reaches(view)
    columns = [
        Column("#", 5, MIDDLE),
        Column("Condition", 20, NAME_WRAPPED),
        Column("Worth", 8, MIDDLE),
        Column("Fulfilled by", 36, WRAPPED),
        Column("Each", 8, replace(MIDDLE, bold=True)),
        *(Column(name, _board_width(name), MIDDLE) for name in match.names),
    ]
    body: list[list[Content]] = []
    for i, condition in enumerate(CONDITIONS):
        holders = result.holders[i] if result else ()
        each = result.each[i] if result else None
        live = reaches.get(condition.number, {})
        marks = [
            ("✓" if name in holders else "–") if result else _LIVE.get(live.get(name), "")
            for name in match.names
        ]
        body.append(
            [condition.number, condition.name, condition.worth, ", ".join(holders), each, *marks]
        )
    last = FIRST + len(body) - 1
    board = Area(FIRST, 6, last, max(6, len(columns)))
    rules = (
        Rule(board, f'=F{FIRST}="✓"', Style(fill=GOOD_FILL, ink=GOOD_INK, bold=True)),
        Rule(board, f'=F{FIRST}="–"', Style(ink=PALE_INK)),
    )
    names = Area(FIRST, 1, last, 1)
    chart = Chart(
        "column",
        "Points by condition",
        "condition",
        "points",
        names,
        tuple(Series((TOOL_HEADER, c), Area(FIRST, c, last, c)) for c in (3, 5)),
        # Right of the columns that each printed page repeats, and a column more: its edge would
        # show beside them.
        (last + 3, 4),
        width=560,
        height=300,
    )
    return tool_tab(
        "Conditions",
        "The twelve conditions",
        as_of(view),
        columns,
        body,
        Looks(rules=rules, charts=(chart,)),
        frozen_columns=2,
        hint=_REACHES if reaches else "",
    )


def _reaches(view: View) -> Mapping[int, Mapping[str, Reach]]:
    """Return who can still fulfil what, from closed rounds alone; {} where it is not wanted."""
    wanted = view.config.projection and view.match.rounds_closed and view.result is None
    return reach(view.match, view.ledger) if wanted else {}


_REACHES: Final = (
    "sure: can be met, whatever else is won · open: may yet be met · out: cannot be met any more"
)
_LIVE: Final[Mapping[Reach | None, str]] = {
    Reach.SECURE: "sure",
    Reach.POSSIBLE: "open",
    Reach.IMPOSSIBLE: "out",
}


def _board_width(name: str) -> int:
    """Return the width of a column of marks: no more than the longest word of its header asks."""
    return max(7, min(14, 3 + max(map(len, name.split()), default=0)))


def breakdown(view: View) -> Tab:
    """Draw, for each player and condition, yes or no and why."""
    columns = (
        name_column(view.match.seats),
        Column("#", 5, MIDDLE),
        Column("Condition", 34, WRAPPED),
        Column("Fulfilled", 11, MIDDLE),
        Column("Why", 84, WRAPPED),
        Column("Points", 9, NUMBER),
    )
    cards = view.result.cards if view.result else ()
    body = [row for card in cards for row in explained(card, why_none(view, card.player))]
    last = max(FIRST, FIRST + len(body) - 1)
    answers = Area(FIRST, 4, last, 6)
    is_no, band = f'$D{FIRST}="no"', f"MOD(INT((ROW()-{FIRST})/{len(CONDITIONS)}),2)=1"
    rules = (
        Rule(
            Area(FIRST, 4, last, 4),
            f'=$D{FIRST}="yes"',
            Style(fill=GOOD_FILL, ink=GOOD_INK, bold=True),
        ),
        Rule(answers, f"=AND({is_no},{band})", Style(ink=PALE_INK, fill=BAND)),
        Rule(answers, f"={is_no}", Style(ink=PALE_INK)),
        Rule(Area(FIRST, 1, last, 6), f"={band}", Style(fill=BAND)),  # every other player
    )
    return tool_tab(
        "Breakdown",
        "Why each condition is fulfilled or not",
        as_of(view),
        columns,
        body,
        Looks(rules=rules, filtered=FILTER),
        frozen_columns=2,
        grows=True,
    )


def explained(card: Card, none: str) -> list[list[Content]]:
    """Return a player's twelve rows. none: why there is no composition, where there is none."""
    rows: list[list[Content]] = []
    for i, condition in enumerate(CONDITIONS):
        evidence = card.evidence[i]
        yes = evidence.fulfilled and card.counts
        why = evidence.why
        if card.composition is None:
            why = none
        elif evidence.fulfilled and not card.counts:
            why += f"; fewer than {SHORT} notes do not count"
        elif yes and not card.scores:
            why += f"; fewer than {SHORT} notes score nothing"
        rows.append(
            [
                card.player,
                condition.number,
                condition.name,
                "yes" if yes else "no",
                why,
                card.points_by_condition[i],
            ]
        )
    return rows
