"""The match → the tool's tabs. Pure: the same match always draws the same tabs."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from sheets_host.game.auction import Outcome
from sheets_host.game.conditions import CONDITIONS
from sheets_host.game.match import Ledger, Match
from sheets_host.game.notes import Note
from sheets_host.game.record import HEADERS as RECORD_HEADERS
from sheets_host.game.record import Record
from sheets_host.game.rulings import COMPOSING_HOURS, LOTS, NOTES, ROUNDS, START_TOKENS
from sheets_host.game.scoring import Card, Result
from sheets_host.game.stages import Stage
from sheets_host.grid import (
    Area,
    Bar,
    Chart,
    Content,
    Link,
    Looks,
    Rule,
    Series,
    Style,
    Styled,
    Tab,
)
from sheets_host.tabs.entries import Receipt
from sheets_host.tabs.layout import (
    BAR,
    BRONZE_FILL,
    EDGE,
    FIRST,
    GAP,
    GOLD_FILL,
    GOOD_FILL,
    GOOD_INK,
    IS_CLOSED,
    IS_OPEN,
    LABEL,
    MIDDLE,
    NAME,
    NUMBER,
    OPEN_FILL,
    PALE_INK,
    PLAIN_TEXT,
    PLAIN_WRAPPED,
    SHARP,
    SILVER_FILL,
    SMALL,
    TEXT,
    TOOL_HEADER,
    WRAPPED,
    WRONG_FILL,
    WRONG_INK,
    Column,
    header_style,
    name_width,
    names_width,
    tool_tab,
)
from sheets_host.tabs.problems import Problem, Severity
from sheets_host.tabs.settings import Config

WINNER: Final = "Winner: Token of Life"
CANDIDATE: Final = "Elimination Candidate"


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a player could get, beyond what is: blank where None. In undivided or shared points."""

    projected: int | None = None
    best_possible: int | None = None


@dataclass(frozen=True, slots=True)
class View:
    """Everything that the tool's tabs show. result: None until composing is closed."""

    match: Match
    ledger: Ledger
    result: Result | None
    record: Record
    config: Config
    outlooks: dict[str, Outlook]


def tool_tabs(
    view: View, problems: Sequence[Problem], receipts: Sequence[Receipt]
) -> tuple[Tab, ...]:
    """Draw all nine tabs of the game workbook. Only Checks knows the open stage's entries."""
    return (
        standings(view),
        balances(view),
        garnets(view),
        conditions(view),
        breakdown(view),
        auction(view),
        collections(view, view.match.seats),
        checks(view, problems, receipts),
        record(view),
    )


# --- rows 1 to 3 -------------------------------------------------------------------------------


def deadline(view: View, stage: Stage) -> dt.datetime | None:
    """When a stage closes, in the game's zone: as set, or 24 hours after round 6 for composing."""
    set_ = view.config.closes.get(stage)
    if set_ is not None or stage is not Stage.COMPOSING:
        return set_
    closed = view.match.closed.get(Stage.ROUND_6)
    if closed is None:
        return None
    return local(closed, view.config) + dt.timedelta(hours=COMPOSING_HOURS)


def local(at: str, config: Config) -> dt.datetime:
    """Return a Record's time in the game's zone. Raises ValueError where it is none."""
    return dt.datetime.fromisoformat(at).astimezone(config.zone)


def moment_text(moment: dt.datetime) -> str:
    """Return a time as people read it: ``Tue 3 Mar 2026 18:00``."""
    return f"{moment:%a} {moment.day} {moment:%b %Y %H:%M}"


def as_of(view: View) -> tuple[str, str]:
    """Return rows 2 and 3 of every report: what is closed and open, and the Record's last seal."""
    match, zone = view.match, view.config.zone.key
    parts = []
    closed = [s for s in match.closed if s not in match.reopened]
    if closed:
        last = max(closed)
        parts.append(f"As of {last}, closed {moment_text(local(match.closed[last], view.config))}")
    if match.reopened:
        who = match.reopened[match.stage]
        names = ", ".join(sorted(who.players)) or "the settings"
        parts.append(f"{str(match.stage).capitalize()} is open again for {names}")
    elif match.stage is not Stage.FINISHED:
        until = deadline(view, match.stage)
        end = f" until {moment_text(until)}" if until else ""
        parts.append(f"{str(match.stage).capitalize()} is open{end}")
    else:
        parts.append("The match is finished")
    return ". ".join(parts) + f" ({zone})", stamp(view.record)


def stamp(record: Record) -> str:
    """Return the line that ties a report to the Record it was drawn from."""
    return f"Record: {record.rows} rows, seal {record.seal}"


_FILTER: Final = Area(1, 1, 1, 1)  # asks `tool_tab` for a filter; it knows the area


# --- the tabs ----------------------------------------------------------------------------------


def standings(view: View) -> Tab:
    """Draw who holds what, and after the result who stands where."""
    columns = (
        Column("Rank", 7, MIDDLE),
        Column("Player", names_width(view.match.seats), NAME),
        Column("Points", 10, NUMBER),
        Column("Projected", 11, NUMBER),
        Column("Best possible", 11, NUMBER),
        Column("Notes", 8, MIDDLE),
        Column("Tokens", 12, NUMBER),
        Column("Garnets", 10, MIDDLE),
        Column("Conditions", 22, WRAPPED),
        Column("Result", 34, WRAPPED),
    )
    body = [_standing(view, name) for name in _order(view)]
    last = max(FIRST, FIRST + len(body) - 1)
    row, rank = Area(FIRST, 1, last, 10), Area(FIRST, 1, last, 2)
    rules = (
        Rule(row, f'=LEFT($J{FIRST},6)="Winner"', Style(fill=GOLD_FILL, bold=True)),
        Rule(row, f'=LEFT($J{FIRST},11)="Elimination"', Style(fill=WRONG_FILL, ink=WRONG_INK)),
        Rule(row, f'=$J{FIRST}="withdrawn"', Style(ink=PALE_INK, italic=True)),
        Rule(rank, f"=$A{FIRST}=2", Style(fill=SILVER_FILL, bold=True)),
        Rule(rank, f"=$A{FIRST}=3", Style(fill=BRONZE_FILL, bold=True)),
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
    )


def _order(view: View) -> tuple[str, ...]:
    if view.result is None:
        return view.match.names
    cards = sorted(view.result.cards, key=lambda c: (c.rank, c.player.casefold(), c.player))
    return tuple(card.player for card in cards)


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
        _with_medal(standing_word(view, name), card),
    ]


MEDALS: Final = {1: "🥇", 2: "🥈", 3: "🥉"}


def _with_medal(word: str, card: Card | None) -> str:
    """Add the medal of a rank to the result's word, which stays first; nobody wins one with 0."""
    medal = MEDALS.get(card.rank) if card and (card.points or word == WINNER) else None
    return f"{word} {medal}".strip() if medal else word


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


def balances(view: View) -> Tab:
    """Draw start + exchanged - bid = left for every closed round and player.

    Right of it, from column I on, every player's tokens over the rounds, and a chart of them.
    """
    names = view.match.names
    columns = (
        Column("Round", 8, MIDDLE),
        Column("Player", names_width(view.match.seats), NAME),
        Column("Start", 10, NUMBER),
        Column("Exchanged", 12, NUMBER),
        Column("Bid", 10, NUMBER),
        Column("Left", 14, NUMBER),
        Column("", 3, GAP),
        Column("", 3, GAP),
        Column("Tokens left after", names_width(view.match.seats), GAP),
        *(Column(text, 8, GAP) for text in ("start", *(f"R{r}" for r in range(1, ROUNDS + 1)))),
    )
    body: list[list[Content]] = [
        [b.round, b.player, b.start, b.exchanged, b.bid, b.left]
        for b in view.ledger.balances.values()
    ]
    rounds = len(body) // len(names) if names else 0
    bars = (Bar(Area(FIRST, 6, max(FIRST, FIRST + len(body) - 1), 6), BAR),)
    history = _history(view)
    body += [[] for _ in range(len(history) - len(body))]
    for row, line in zip(body, history, strict=False):
        row += [None] * (_HISTORY - 1 - len(row))
        row += line
    bottom = max(FIRST, TOOL_HEADER + len(history))
    looks = Looks(
        bars=bars,
        styles=(
            Styled(Area(TOOL_HEADER, _HISTORY, TOOL_HEADER, _HISTORY), header_style(TEXT)),
            Styled(Area(TOOL_HEADER, _HISTORY + 1, TOOL_HEADER, _AFTER), header_style(NUMBER)),
            Styled(Area(FIRST, _HISTORY, bottom, _HISTORY), NAME),
            Styled(Area(FIRST, _HISTORY + 1, bottom, _AFTER), NUMBER),
        ),
        charts=(_tokens_chart(len(history)),) if history else (),
    )
    return tool_tab(
        "Balances",
        "Tokens, round by round",
        as_of(view),
        columns,
        body,
        looks,
        frozen_columns=2,
        edges=(len(names) * r for r in range(1, rounds + 1)),
    )


_HISTORY: Final = 9  # column I
_AFTER: Final = _HISTORY + 1 + ROUNDS
_LINES: Final = 12  # that a chart's colours and dashes tell apart


def _history(view: View) -> list[list[Content]]:
    """Return each player's tokens at the start and after each closed round.

    Beyond what a chart can tell apart, those who hold most come first: the chart shows the first.
    """
    left = {key: balance.left for key, balance in view.ledger.balances.items()}
    names = view.match.names
    if len(names) > _LINES:
        purses = {name: view.ledger.purse(ROUNDS + 1, name) for name in names}
        names = tuple(sorted(names, key=lambda name: -purses[name].tokens))
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
        "Tokens left" if shown == players else f"Tokens left: the {shown} who hold most",
        "after round",
        "tokens",
        Area(TOOL_HEADER, _HISTORY + 1, TOOL_HEADER, _AFTER),
        series,
        # Below the figures where they are few, beside them where they are many.
        (FIRST + players + 1, _HISTORY) if shown == players else (TOOL_HEADER, _AFTER + 2),
        width=640,
        height=360,
    )


def garnets(view: View) -> Tab:
    """Draw what each player held, spent and earned."""
    columns = (
        Column("Player", names_width(view.match.seats), NAME),
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


def conditions(view: View) -> Tab:
    """Draw the twelve conditions as a board of who has what, and a chart of what they pay."""
    match, result = view.match, view.result
    columns = [
        Column("#", 5, MIDDLE),
        Column("Condition", 34, replace(NAME, wrap=True)),
        Column("Worth", 8, MIDDLE),
        Column("Fulfilled by", 36, WRAPPED),
        Column("Each", 8, replace(MIDDLE, bold=True)),
        *(Column(name, _board_width(name), MIDDLE) for name in match.names),
    ]
    body: list[list[Content]] = []
    for i, condition in enumerate(CONDITIONS):
        holders = result.holders[i] if result else ()
        each = result.each[i] if result else None
        marks = [("✓" if name in holders else "–") if result else "" for name in match.names]
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
        (last + 3, 2),
        width=640,
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
    )


def _board_width(name: str) -> int:
    """Return the width of a column of marks: no more than the longest word of its header asks."""
    return max(7, min(14, 3 + max(map(len, name.split()), default=0)))


def breakdown(view: View) -> Tab:
    """Draw, for each player and condition, yes or no and why."""
    columns = (
        Column("Player", names_width(view.match.seats), NAME),
        Column("#", 5, MIDDLE),
        Column("Condition", 36, WRAPPED),
        Column("Fulfilled", 11, MIDDLE),
        Column("Why", 72, WRAPPED),
        Column("Points", 9, NUMBER),
    )
    cards = view.result.cards if view.result else ()
    body = [row for card in cards for row in _explained(card)]
    last = max(FIRST, FIRST + len(body) - 1)
    rules = (
        Rule(
            Area(FIRST, 4, last, 4),
            f'=$D{FIRST}="yes"',
            Style(fill=GOOD_FILL, ink=GOOD_INK, bold=True),
        ),
        Rule(Area(FIRST, 4, last, 6), f'=$D{FIRST}="no"', Style(ink=PALE_INK)),
    )
    return tool_tab(
        "Breakdown",
        "Why each condition is fulfilled or not",
        as_of(view),
        columns,
        body,
        Looks(rules=rules, filtered=_FILTER),
        frozen_columns=2,
        edges=range(len(CONDITIONS), len(body) + 1, len(CONDITIONS)),
    )


def _explained(card: Card) -> list[list[Content]]:
    rows: list[list[Content]] = []
    for i, condition in enumerate(CONDITIONS):
        evidence = card.evidence[i]
        yes = evidence.fulfilled and card.counts
        why = evidence.why
        if card.composition is None:
            why = "no composition was handed in"
        elif evidence.fulfilled and not card.counts:
            why += " (but a composition of fewer than 5 notes does not count)"
        elif yes and not card.points_by_condition[i] and len(card.composition) < 5:
            why += " (a composition of fewer than 5 notes scores 0)"
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


def auction(view: View) -> Tab:
    """Draw all 48 lots in order: a round's notes from its opening on, its outcome once closed."""
    announced = view.config.rulings.announced
    columns = [
        Column("Round", 8, MIDDLE),
        Column("Lot", 7, MIDDLE),
        Column("Note", 14, NAME),
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
        Looks(rules=rules, filtered=_FILTER),
        frozen_columns=3,
        edges=range(LOTS, len(body) + 1, LOTS),
    )


def lot_state(match: Match, round_: int) -> str:
    """Return a round's state: blank, ``open`` or ``closed``."""
    if match.stage == round_:
        return "open"
    return "closed" if Stage(round_) in match.closed else ""


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
        row.append(outcome.bid)
    if announced == "all bids":
        row.append(all_bids(outcome))
    return row


def all_bids(outcome: Outcome) -> str:
    """Return every bid on a lot, highest first: ``Ann 12, Bob 9``."""
    bids = sorted(outcome.bids.items(), key=lambda b: (-b[1], b[0].casefold(), b[0]))
    return ", ".join(f"{name} {bid}" for name, bid in bids)


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


def checks(view: View, problems: Sequence[Problem], receipts: Sequence[Receipt]) -> Tab:
    """Draw what is wrong, what to know, and every entry of the open stage as read."""
    columns = (
        Column("Severity", 11, NAME),
        Column("Where", 22, replace(WRAPPED, ink=GOOD_INK)),
        Column("Player", 20, replace(NAME, wrap=True)),
        Column("Entry", 18, WRAPPED),
        Column("Problem", 60, WRAPPED),
        Column("What to do", 50, WRAPPED),
    )
    ordered = sorted(problems, key=lambda p: p.severity is not Severity.PROBLEM)
    body: list[list[Content]] = [
        [
            p.severity.value,
            _where(p.file, p.tab, p.cell),
            p.player or "",
            p.entry,
            p.message,
            p.hint,
        ]
        for p in ordered
    ]
    body += [
        ["receipt", _where(r.file, r.tab, r.cell), r.player, r.entry, f"read as {r.reading}", ""]
        for r in receipts
    ]
    last = max(FIRST, FIRST + len(body) - 1)
    rules = (
        Rule(
            Area(FIRST, 1, last, 6), f'=$A{FIRST}="problem"', Style(fill=WRONG_FILL, ink=WRONG_INK)
        ),
        Rule(Area(FIRST, 1, last, 6), f'=$A{FIRST}="notice"', Style(fill=OPEN_FILL)),
    )
    return tool_tab(
        "Checks",
        "Entries of the open stage, as read",
        as_of(view),
        columns,
        body,
        Looks(rules=rules, filtered=_FILTER),
        frozen_columns=2,
    )


def _where(file: str | None, tab: str, cell: str) -> Content:
    place = f"{tab}!{cell}" if cell else tab
    if file is not None:
        return f"{file}: {place}"
    return Link(place, tab, cell) if cell else place


def record(view: View) -> Tab:
    """Draw the Record, every cell text."""
    columns = [
        Column(header, width, PLAIN_WRAPPED if width == _LONG else PLAIN_TEXT)
        for header, width in zip(RECORD_HEADERS, _WIDTHS, strict=True)
    ]
    return tool_tab(
        "Record",
        "The Record: the game itself; please do not touch",
        as_of(view),
        columns,
        view.record.as_rows(),
        Looks(filtered=_FILTER),
        frozen_columns=1,
    )


_LONG: Final = 48
_WIDTHS: Final = (7, 24, 14, 12, 26, _LONG, _LONG, 22)
