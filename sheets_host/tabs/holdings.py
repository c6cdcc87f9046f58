"""The tabs of what is held: the auction, tokens round by round, garnets, and everybody's notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sheets_host.game.auction import Outcome
from sheets_host.game.notes import Note
from sheets_host.game.rulings import LOTS, NOTES, ROUNDS, START_TOKENS
from sheets_host.grid import (
    Area,
    Bar,
    Chart,
    Content,
    Looks,
    Rule,
    Series,
    Styled,
    Tab,
)
from sheets_host.tabs.layout import (
    BAR,
    EDGE,
    FILTER,
    FIRST,
    GAP,
    IS_CLOSED,
    IS_OPEN,
    LABEL,
    MIDDLE,
    NAME,
    NUMBER,
    OPEN_FILL,
    SHARP,
    SMALL,
    TEXT,
    TOOL_HEADER,
    WRAPPED,
    Column,
    header_style,
    name_column,
    name_width,
    names_width,
    tool_tab,
)
from sheets_host.tabs.problems import set_apart
from sheets_host.tabs.view import (
    View,
    as_of,
    lot_state,
    standings_order,
)


def balances(view: View) -> Tab:
    """Draw start + exchanged - bid = left for every closed round and player.

    Right of it, from column I on, every player's tokens over the rounds, and a chart of them. What
    heads those columns stands in row 3, so that the header row holds the table's headers alone.
    """
    names = view.match.names
    columns = (
        Column("Round", 8, MIDDLE),
        name_column(view.match.seats),
        Column("Start", 10, NUMBER),
        Column("Exchanged", 12, NUMBER),
        Column("Bid", 10, NUMBER),
        Column("Left", 14, NUMBER),
        Column("", 3, GAP),
        Column("", 3, GAP),
        Column("", max(20, names_width(view.match.seats)), GAP),
        *(Column("", 8, GAP) for _ in range(ROUNDS + 1)),
    )
    body: list[list[Content]] = [
        [b.round, b.player, b.start, b.exchanged, b.bid, b.left]
        for b in view.ledger.balances.values()
    ]
    rounds = len(body) // len(names) if names else 0
    bars = (Bar(Area(FIRST, 6, max(FIRST, FIRST + len(body) - 1), 6), BAR),)
    history = _history(view) if body else []
    body += [[] for _ in range(len(history) - len(body))]
    for row, line in zip(body, history, strict=False):
        row += [None] * (_HISTORY - 1 - len(row))
        row += line
    bottom = max(FIRST, TOOL_HEADER + len(names))
    looks = Looks(
        bars=bars,
        styles=(
            Styled(Area(_HEADS, _HISTORY, _HEADS, _HISTORY), header_style(TEXT)),
            Styled(Area(_HEADS, _HISTORY + 1, _HEADS, _AFTER), header_style(NUMBER)),
            Styled(Area(FIRST, _HISTORY, bottom, _HISTORY), NAME),
            Styled(Area(FIRST, _HISTORY + 1, bottom, _AFTER), NUMBER),
        ),
        charts=(_tokens_chart(len(names)),) if names else (),
    )
    tab = tool_tab(
        "Balances",
        "Tokens, round by round",
        as_of(view),
        columns,
        body,
        looks,
        frozen_columns=2,
        edges=(len(names) * r for r in range(1, rounds + 1)),
        grows=True,
    )
    rows = list(tab.rows)
    blank = [None] * (_HISTORY - 2)
    heads = ("Tokens left after", "start", *(f"R{r}" for r in range(1, ROUNDS + 1)))
    rows[_HEADS - 1] = [*rows[_HEADS - 1], *blank, *heads]
    return replace(tab, rows=rows)


_HEADS: Final = TOOL_HEADER - 1
_HISTORY: Final = 9  # column I
_AFTER: Final = _HISTORY + 1 + ROUNDS
_LINES: Final = 12  # that a chart's colours and dashes tell apart


def _history(view: View) -> list[list[Content]]:
    """Return each player's tokens at the start and after each closed round.

    Where there are more than a chart can tell apart, they stand as in Standings: the chart shows
    the first. Who holds most would be who bids least.
    """
    left = {key: balance.left for key, balance in view.ledger.balances.items()}
    names = view.match.names
    if len(names) > _LINES:
        names = standings_order(view)
    rounds = range(1, ROUNDS + 1)
    return [[name, START_TOKENS, *(left.get((r, name)) for r in rounds)] for name in names]


def _tokens_chart(players: int) -> Chart:
    """Draw a line for each player, or for the first of many; its areas do not grow."""
    shown = min(players, _LINES)
    series = tuple(
        Series((row, _HISTORY), Area(row, _HISTORY + 1, row, _AFTER))
        for row in range(FIRST, FIRST + shown)
    )
    return Chart(
        "line",
        "Tokens left" if shown == players else f"Tokens left: the first {shown} of Standings",
        "after round",
        "tokens",
        Area(_HEADS, _HISTORY + 1, _HEADS, _AFTER),
        series,
        # Below the figures where they are few, beside them where they are many.
        # There is room for those who may yet join.
        (FIRST + _LINES + 1, _HISTORY) if shown == players else (FIRST, _AFTER + 2),
        width=640,
        height=320 + 10 * shown,  # the names stand below the plot
    )


def garnets(view: View) -> Tab:
    """Draw what each player held, spent and earned."""
    columns = (
        name_column(view.match.seats),
        Column("Start", 10, NUMBER),
        Column("Spent", 10, NUMBER),
        Column("Earned", 10, NUMBER),
        Column("Now", 12, NUMBER),
    )
    body: list[list[Content]] = []
    for player in view.match.players:
        left = view.ledger.purse(ROUNDS + 1, player.name).garnets
        earned = view.result.card(player.name).earned if view.result else None
        body.append(
            [player.name, player.garnets, player.garnets - left, earned, left + (earned or 0)]
        )
    bars = (Bar(Area(FIRST, 5, max(FIRST, FIRST + len(body) - 1), 5), BAR),)
    return tool_tab(
        "Garnets", "Garnets", as_of(view), columns, body, Looks(bars=bars), frozen_columns=1
    )


def auction(view: View) -> Tab:
    """Draw all 48 lots in order: a round's notes from its opening on, its outcome once closed."""
    announced = view.config.rulings.announced
    columns = [
        Column("Round", 8, MIDDLE),
        Column("Lot", 6, MIDDLE),
        Column("Note", 13, NAME),
        Column("State", 10),
        Column("Outcome", 11),
        Column("Winner", names_width(view.match.seats), NAME),
    ]
    if announced != "winners":
        columns.append(Column("Winning bid", 10, MIDDLE))
    if announced == "all bids":
        columns.append(Column("All bids", 50, WRAPPED))
    body = [
        _lot(view, round_, lot, announced)
        for round_ in range(1, ROUNDS + 1)
        for lot in range(1, LOTS + 1)
    ]
    last = FIRST + len(body) - 1
    area, notes = Area(FIRST, 1, last, len(columns)), Area(FIRST, 3, last, 3)
    unsold = f'=AND($D{FIRST}="closed",$E{FIRST}<>"won")'
    rules = (
        Rule(area, unsold, replace(IS_CLOSED, italic=True)),
        Rule(notes, f'=AND(ISNUMBER(FIND("#",$C{FIRST})),$D{FIRST}<>"open")', SHARP),
        Rule(notes, f'=ISNUMBER(FIND("#",$C{FIRST}))', replace(SHARP, fill=OPEN_FILL)),
        Rule(area, f'=$D{FIRST}="open"', IS_OPEN),
    )
    return tool_tab(
        "Auction",
        "The auction, lot by lot",
        as_of(view),
        columns,
        body,
        Looks(rules=rules, filtered=FILTER),
        frozen_columns=3,
        edges=range(LOTS, len(body) + 1, LOTS),
        grows=announced == "all bids",  # rows of many players are as high as several
    )


def _lot(view: View, round_: int, lot: int, announced: str) -> list[Content]:
    match = view.match
    deal = match.deals.get(round_)
    row: list[Content] = [round_, lot, str(deal[lot - 1]) if deal else "", lot_state(match, round_)]
    outcomes = view.ledger.outcomes.get(round_)
    if outcomes is None:
        return row
    outcome = outcomes[lot - 1]
    row += [outcome.sale.value, outcome.winner or ""]
    if announced != "winners":
        # A tie has no winning bid: how high it was is told where all bids are.
        row.append(outcome.bid if outcome.winner or announced == "all bids" else None)
    if announced == "all bids":
        row.append(all_bids(outcome))
    return row


def all_bids(outcome: Outcome) -> str:
    """Return every bid on a lot, highest first: ``Ann: 12, Bob: 9``."""
    return ", ".join(f"{set_apart(name)}: {bid}" for name, bid in outcome.ranked())


def collections(view: View, seats: Sequence[str]) -> Tab:
    """Draw tokens and notes, a column a seat: a column that never moves."""
    playing = set(view.match.names)
    columns = [
        Column("Item", 10, SMALL),
        *(Column(name, max(15, name_width(name))) for name in seats),
    ]
    notes = {name: view.ledger.notes(name) if name in playing else () for name in seats}
    tokens: list[Content] = ["Tokens"]
    tokens += [
        view.ledger.purse(ROUNDS + 1, name).tokens if name in playing else None for name in seats
    ]
    body: list[list[Content]] = [tokens]
    for position in range(NOTES):
        body.append([f"Note {position + 1}", *(_nth(notes[name], position) for name in seats)])
    right, last = max(2, len(columns)), TOOL_HEADER + len(body)
    looks = Looks(
        styles=(
            Styled(Area(FIRST, 1, FIRST, 1), replace(LABEL, align="center", line=EDGE)),
            Styled(
                Area(FIRST, 2, FIRST, right), replace(NUMBER, bold=True, align="left", line=EDGE)
            ),
        ),
        rules=(
            Rule(
                Area(FIRST + 1, 2, last, right),
                f'=ISNUMBER(FIND("#",B{FIRST + 1}))',
                SHARP,
            ),
        ),
    )
    return tool_tab(
        "Collections",
        "What each player holds",
        as_of(view),
        columns,
        body,
        looks,
        frozen_columns=1,
    )


def _nth(notes: Sequence[Note], position: int) -> str:
    return str(notes[position]) if position < len(notes) else ""
