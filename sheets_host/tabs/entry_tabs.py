"""The tabs that players fill in, as they are made once. The tool never writes them again.

Every formula that reads a tool tab holds a volatile term (``NOW()``): LibreOffice keeps the
stored result of all others when the file was changed from outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sheets_host.game.rulings import EXCHANGE_TOKENS, LOTS, NOTES, ROUNDS
from sheets_host.grid import (
    Area,
    Content,
    Formula,
    Looks,
    OneOf,
    Owner,
    Rule,
    Style,
    Styled,
    Tab,
    WholeNumber,
    column_letters,
)
from sheets_host.tabs.entries import BIDS_HEADERS, COMPOSITIONS_HEADERS, EXCHANGES_HEADERS
from sheets_host.tabs.layout import (
    CLOSED_FILL,
    FIRST,
    GOOD_INK,
    HEADER,
    HEADER_RIGHT,
    INK,
    LABEL,
    LINE,
    LIVE,
    OPEN_FILL,
    PALE_INK,
    TAB_COLOURS,
    WRONG_FILL,
    WRONG_INK,
    name_width,
)

_AUCTION_LAST: Final = FIRST + ROUNDS * LOTS - 1
_NOTES: Final = f"Auction!$C${FIRST}:$C${_AUCTION_LAST}"
_STATES: Final = f"Auction!$D${FIRST}:$D${_AUCTION_LAST}"
_NEWS: Final = Formula('=IF(NOW()=0,"",Auction!$A$2)')
_KEY: Final = Style(ink=PALE_INK, line=LINE, align="center")
_NOTE: Final = Style(bold=True, ink=INK, line=LINE)
_ENTRY: Final = Style(ink=INK, line=LINE, align="right")
_SPELT: Final = Style(ink=INK, line=LINE, number="@")
_HINT: Final = Style(ink=PALE_INK, italic=True)
_NEWS_STYLE: Final = Style(bold=True, ink=GOOD_INK)
_WRONG: Final = Style(fill=WRONG_FILL, ink=WRONG_INK, bold=True)
_IS_OPEN: Final = Style(fill=OPEN_FILL)
_IS_CLOSED: Final = Style(fill=CLOSED_FILL, ink=PALE_INK)

BIDS_HEADER: Final = 5
EXCHANGES_HEADER: Final = 4
COMPOSITIONS_HEADER: Final = 5


def entry_tabs(players: Sequence[str]) -> tuple[Tab, ...]:
    """Draw Bids, Exchanges and Compositions; player i reads column i of Collections."""
    return bids(players), exchanges(players), compositions(players)


def bids(players: Sequence[str]) -> Tab:
    """Draw Bids: 48 rows keyed by Round and Lot; above them what is left, live."""
    first, last = BIDS_HEADER + 1, BIDS_HEADER + ROUNDS * LOTS
    left = len(BIDS_HEADERS)
    columns = range(left + 1, left + 1 + len(players))
    rows: list[list[Content]] = [
        [_NEWS],
        ["", "", "", "Tokens, exchanges included", *(_tokens(c - left) for c in columns)],
        ["", "", "", "Bid this round", *(_bid(c, first, last) for c in columns)],
        ["", "", "", "Left", *(_left(c) for c in columns)],
        [*BIDS_HEADERS, *players],
    ]
    for round_ in range(1, ROUNDS + 1):
        for lot in range(1, LOTS + 1):
            row = len(rows) + 1
            index = f"($A{row}-1)*{LOTS}+$B{row}"
            rows.append(
                [
                    round_,
                    lot,
                    Formula(f'=IF(NOW()=0,"",INDEX({_NOTES},{index})&"")'),
                    Formula(f'=IF(NOW()=0,"",INDEX({_STATES},{index})&"")'),
                ]
            )
    right = max(left + len(players), left + 1)
    entries = Area(first, left + 1, last, right)
    return Tab(
        "Bids",
        Owner.PLAYERS,
        rows,
        Looks(
            widths=(8, 6, 14, 26, *(name_width(name) for name in players)),
            frozen=(BIDS_HEADER, left),
            header=BIDS_HEADER,
            styles=(
                Styled(Area(1, 1, 1, 1), _NEWS_STYLE),
                Styled(Area(2, left, 4, left), LABEL),
                Styled(Area(2, left + 1, 4, right), LIVE),
                *_header_styles(BIDS_HEADER, left, right),
                Styled(Area(first, 1, last, 2), _KEY),
                Styled(Area(first, 3, last, 3), _NOTE),
                Styled(Area(first, 4, last, 4), _KEY),
                Styled(entries, _ENTRY),
            ),
            rules=(
                Rule(Area(4, left + 1, 4, right), f"={_at(4, left + 1)}<0", _WRONG),
                Rule(entries, _refused(first, left + 1), _WRONG),
                Rule(Area(first, 1, last, right), f'=$D{first}="open"', _IS_OPEN),
                Rule(Area(first, 1, last, right), f'=$D{first}="closed"', _IS_CLOSED),
            ),
            checks=(
                WholeNumber(
                    entries,
                    0,
                    "A bid is a whole number",
                    "Type 0 or more tokens, digits only; leave the cell blank for no bid.",
                ),
            ),
            colour=TAB_COLOURS[Owner.PLAYERS],
            landscape=True,
        ),
    )


def exchanges(players: Sequence[str]) -> Tab:
    """Draw Exchanges: the number of uses in each round; above them what they cost, live."""
    first, last = EXCHANGES_HEADER + 1, EXCHANGES_HEADER + ROUNDS
    left = len(EXCHANGES_HEADERS)
    columns = range(left + 1, left + 1 + len(players))
    rows: list[list[Content]] = [
        [_NEWS],
        [
            "",
            f"Each use gives {EXCHANGE_TOKENS} tokens. Your first costs 1 garnet, the next 2,"
            " then 4, 8 …",
        ],
        [
            "",
            "Garnets spent in all",
            *(Formula(f"=2^SUM({_span(c, first, last)})-1") for c in columns),
        ],
        [*EXCHANGES_HEADERS, *players],
    ]
    for round_ in range(1, ROUNDS + 1):
        row = len(rows) + 1
        index = f"($A{row}-1)*{LOTS}+1"
        rows.append([round_, Formula(f'=IF(NOW()=0,"",INDEX({_STATES},{index})&"")')])
    right = max(left + len(players), left + 1)
    entries = Area(first, left + 1, last, right)
    return Tab(
        "Exchanges",
        Owner.PLAYERS,
        rows,
        Looks(
            widths=(8, 22, *(name_width(name) for name in players)),
            frozen=(EXCHANGES_HEADER, left),
            header=EXCHANGES_HEADER,
            styles=(
                Styled(Area(1, 1, 1, 1), _NEWS_STYLE),
                Styled(Area(2, 2, 2, 2), _HINT),
                Styled(Area(3, left, 3, left), LABEL),
                Styled(Area(3, left + 1, 3, right), LIVE),
                *_header_styles(EXCHANGES_HEADER, left, right),
                Styled(Area(first, 1, last, left), _KEY),
                Styled(entries, _ENTRY),
            ),
            rules=(
                Rule(entries, _refused(first, left + 1), _WRONG),
                Rule(Area(first, 1, last, right), f'=$B{first}="open"', _IS_OPEN),
                Rule(Area(first, 1, last, right), f'=$B{first}="closed"', _IS_CLOSED),
            ),
            checks=(
                WholeNumber(
                    entries,
                    0,
                    "Uses of the exchange",
                    "Type how often you use the exchange in this round; leave the cell"
                    " blank for not at all.",
                ),
            ),
            colour=TAB_COLOURS[Owner.PLAYERS],
            landscape=True,
        ),
    )


def compositions(players: Sequence[str]) -> Tab:
    """Draw Compositions: 48 positions; above them what is still to be placed, live."""
    first, last = COMPOSITIONS_HEADER + 1, COMPOSITIONS_HEADER + NOTES
    left = len(COMPOSITIONS_HEADERS)
    columns = range(left + 1, left + 1 + len(players))
    rows: list[list[Content]] = [
        [_NEWS],
        ["Notes held", *(Formula(f'=COUNTIF({_held(c)},"?*")+0*NOW()') for c in columns)],
        ["Placed", *(Formula(f"=COUNTA({_span(c, first, last)})") for c in columns)],
        ["To place", *(Formula(f"={_at(2, c)}-{_at(3, c)}") for c in columns)],
        [*COMPOSITIONS_HEADERS, *players],
    ]
    rows += [[position] for position in range(1, NOTES + 1)]
    right = max(left + len(players), left + 1)
    entries = Area(first, left + 1, last, right)
    top_left = _at(first, left + 1)
    column = f"{column_letters(left + 1)}${first}:{column_letters(left + 1)}${last}"
    return Tab(
        "Compositions",
        Owner.PLAYERS,
        rows,
        Looks(
            widths=(12, *(max(15, name_width(name)) for name in players)),
            frozen=(COMPOSITIONS_HEADER, left),
            header=COMPOSITIONS_HEADER,
            styles=(
                Styled(Area(1, 1, 1, 1), _NEWS_STYLE),
                Styled(Area(2, 1, 4, 1), LABEL),
                Styled(Area(2, left + 1, 4, right), LIVE),
                *_header_styles(COMPOSITIONS_HEADER, left, right),
                Styled(Area(first, 1, last, 1), _KEY),
                Styled(entries, _SPELT),
            ),
            rules=(
                Rule(Area(4, left + 1, 4, right), f"={_at(4, left + 1)}<>0", _WRONG),
                Rule(entries, f'=AND({top_left}<>"",COUNTIF({column},{top_left})>1)', _WRONG),
            ),
            # A range per player, without $ before its column: a column copied for a new player reads
            # the next column of Collections.
            checks=tuple(
                OneOf(
                    Area(first, c, last, c),
                    f"={_held(c)}",
                    "A note you hold",
                    "Choose a note from the list, or write it as D# quarter.",
                )
                for c in columns
            ),
            colour=TAB_COLOURS[Owner.PLAYERS],
            landscape=True,
        ),
    )


def _header_styles(row: int, left: int, right: int) -> tuple[Styled, ...]:
    return (
        Styled(Area(row, 1, row, left), HEADER),
        Styled(Area(row, left + 1, row, right), HEADER_RIGHT),
    )


def _tokens(seat: int) -> Formula:
    """Tokens of the seat's column of Collections, and what the open round's exchanges add."""
    states = f"Exchanges!$B${EXCHANGES_HEADER + 1}:$B${EXCHANGES_HEADER + ROUNDS}"
    column = column_letters(len(EXCHANGES_HEADERS) + seat)
    uses = f"Exchanges!{column}${EXCHANGES_HEADER + 1}:{column}${EXCHANGES_HEADER + ROUNDS}"
    held = f"Collections!{column_letters(1 + seat)}${FIRST}"
    return Formula(f'=IF(NOW()=0,0,{held}+{EXCHANGE_TOKENS}*SUMIF({states},"open",{uses}))')


def _bid(column: int, first: int, last: int) -> Formula:
    return Formula(f'=SUMIF($D${first}:$D${last},"open",{_span(column, first, last)})')


def _left(column: int) -> Formula:
    return Formula(f"={_at(2, column)}-{_at(3, column)}")


def _held(column: int) -> str:
    """The notes of the seat that stands in this column of Compositions, and in Collections."""
    letters = column_letters(column)
    return f"Collections!{letters}${FIRST + 1}:{letters}${FIRST + NOTES}"


def _span(column: int, first: int, last: int) -> str:
    letters = column_letters(column)
    return f"{letters}${first}:{letters}${last}"


def _at(row: int, column: int) -> str:
    return f"{column_letters(column)}{row}"


def _refused(row: int, column: int) -> str:
    """A number that is no whole number from 0 on, or a text without any digit's worth."""
    cell = _at(row, column)
    return f"=IF(ISNUMBER({cell}),OR({cell}<0,{cell}<>INT({cell})),ISERROR({cell}))"
