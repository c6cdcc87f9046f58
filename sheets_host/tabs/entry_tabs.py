"""The tabs that players fill in, as they are made once. The tool never writes them again.

Every formula that reads a tool tab holds a volatile term (``NOW()``): LibreOffice keeps the
stored result of all others when the file was changed from outside. Only functions that Excel,
LibreOffice and Google all have stand here, and no formula that must be entered as an array.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sheets_host.game.notes import PITCHES, Duration
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
    address,
    column_letters,
)
from sheets_host.tabs.entries import BIDS_HEADERS, COMPOSITIONS_HEADERS, EXCHANGES_HEADERS
from sheets_host.tabs.layout import (
    AS_OF,
    EDGE,
    FIRST,
    GOOD_FILL,
    GOOD_INK,
    HEADER,
    HEADER_MIDDLE,
    HEADER_RIGHT,
    HINT,
    INK,
    IS_CLOSED,
    IS_OPEN,
    LABEL,
    LINE,
    LIVE,
    OPEN_FILL,
    OVERSPENT,
    PALE_INK,
    SHARP,
    TAB_COLOURS,
    UNSURE_FILL,
    WRONG,
    WRONG_INK,
    beside,
    header_height,
    name_width,
    printed,
)

_AUCTION_LAST: Final = FIRST + ROUNDS * LOTS - 1
_NOTES: Final = f"Auction!$C${FIRST}:$C${_AUCTION_LAST}"
_STATES: Final = f"Auction!$D${FIRST}:$D${_AUCTION_LAST}"
_NEWS: Final = Formula(
    '=IF(NOW()=0,"",IF(LEFT(Auction!$A$2,6)="As of ",'
    'MID(Auction!$A$2,FIND(". ",Auction!$A$2)+2,9999)'
    '&". "&LEFT(Auction!$A$2,FIND(". ",Auction!$A$2)-1),Auction!$A$2))'
)
"""What is open and until when, then as of what: a narrow screen shows the beginning only."""
_SHORT_NEWS: Final = Formula(
    '=IF(NOW()=0,"",IFERROR(MID(Auction!$A$2,FIND("omposing is open",Auction!$A$2)-1,17),'
    'IFERROR(MID(Auction!$A$2,FIND(" is open",Auction!$A$2)-7,15),'
    'IF(ISNUMBER(FIND("finished",Auction!$A$2)),"Finished",""))))'
)
"""``Round 3 is open``, ``Composing is open`` or ``Finished``: what fits into frozen columns."""
_KEY: Final = Style(ink=PALE_INK, line=LINE, align="center")
_NOTE: Final = Style(bold=True, ink=INK, line=LINE)
_ENTRY: Final = Style(ink=INK, line=LINE, align="right")
_SPELT: Final = Style(ink=INK, line=LINE, number="@")
_LIVE_TEXT: Final = Style(bold=True, ink=GOOD_INK, align="left")
_UNSURE: Final = Style(fill=UNSURE_FILL, ink=WRONG_INK, italic=True)
_DONE: Final = Style(fill=GOOD_FILL, ink=GOOD_INK, bold=True)
_PASSES: Final = ("", "-", "–", "—", "pass", "x", "no bid")  # R1

_COMPOSING: Final = 'ISNUMBER(SEARCH("composing is open",$A$1))'

BIDS_HEADER: Final = 6
EXCHANGES_HEADER: Final = 6
COMPOSITIONS_HEADER: Final = 8


def entry_tabs(players: Sequence[str]) -> tuple[Tab, ...]:
    """Draw Bids, Exchanges and Compositions; player i reads column i of Collections."""
    return bids(players), exchanges(players), compositions(players)


# --- Bids --------------------------------------------------------------------------------------


def bids(players: Sequence[str]) -> Tab:
    """Draw Bids: 48 rows keyed by Round and Lot; above them what is left, live."""
    first, last = BIDS_HEADER + 1, BIDS_HEADER + ROUNDS * LOTS
    left = len(BIDS_HEADERS)
    seats = range(1, len(players) + 1)
    pad: list[Content] = [None] * (left - 1)
    rows: list[list[Content]] = [
        [_NEWS],
        [
            "Type whole numbers into the yellow rows of your column. Blank is no bid, 0 is a bid."
            " Orange cannot stand."
        ],
        ["Tokens, exchanges included", *pad, *(_tokens(seat) for seat in seats)],
        ["Bid this round", *pad, *(_bid(left + seat, first, last) for seat in seats)],
        ["Left", *pad, *(_less(3, 4, left + seat) for seat in seats)],
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
    entries, notes = Area(first, left + 1, last, right), Area(first, 3, last, 3)
    every, one = Area(first, 1, last, right), address(first, left + 1)
    over = f"{column_letters(left + 1)}$5<0"
    is_open, is_closed = f'$D{first}="open"', f'$D{first}="closed"'
    sharp = f'ISNUMBER(FIND("#",$C{first}))'
    return _tab(
        "Bids",
        rows,
        BIDS_HEADER,
        (7, 5, 13, 8, *(name_width(name) for name in players)),
        left,
        frozen=left - 1,  # a phone has room for the note; how a lot stands is seen by its colour
        styles=(
            # 5.5 must not read 6 above, and be refused below.
            Styled(Area(4, left + 1, 5, right), replace(LIVE, number="General")),
            *_ruled(Area(first, 1, last, left), _KEY),
            *_ruled(notes, _NOTE),
            *_ruled(entries, _ENTRY),
        ),
        rules=(
            Rule(Area(5, left + 1, 5, right), f"={address(5, left + 1)}<0", OVERSPENT),
            Rule(entries, _refused(first, left + 1), WRONG),
            Rule(entries, f'=AND({is_open},{over},{one}<>"")', WRONG),
            Rule(notes, f"=AND({sharp},{is_open})", _sharp(OPEN_FILL)),
            Rule(notes, f"=AND({sharp},NOT({is_closed}))", SHARP),
            Rule(every, f"={is_open}", IS_OPEN),
            Rule(every, f"={is_closed}", IS_CLOSED),
        ),
        checks=(
            WholeNumber(
                entries,
                0,
                "A bid is a whole number",
                "Type 0 or more tokens, digits only; leave the cell blank for no bid.",
            ),
        ),
    )


def _sharp(fill: str) -> Style:
    return Style(ink=SHARP.ink, bold=True, fill=fill)


def _tokens(seat: int) -> Formula:
    """Tokens of the seat's column of Collections, and what the open round's exchanges add."""
    # What Collections says is of today: for a round that was opened again it would be wrong.
    again = 'ISNUMBER(FIND(" is open again",Auction!$A$2))'
    states = f"Exchanges!$B${EXCHANGES_HEADER + 1}:$B${EXCHANGES_HEADER + ROUNDS}"
    column = column_letters(len(EXCHANGES_HEADERS) + seat)
    uses = f"Exchanges!{column}${EXCHANGES_HEADER + 1}:{column}${EXCHANGES_HEADER + ROUNDS}"
    held = f"Collections!{column_letters(1 + seat)}${FIRST}"
    gained = f'{EXCHANGE_TOKENS}*SUMIF({states},"open",{uses})'
    unread = f'SUMPRODUCT(({states}="open")*{_texts(uses)})>0'
    now = f'IFERROR(IF({unread},"?",{held}+{gained}),"?")'
    return Formula(f'=IF(NOW()=0,0,IF({again},"?",{now}))')


def _texts(span: str) -> str:
    """1 for each cell of a span that holds a text other than the words for nothing, else 0."""
    text = f"LOWER(TRIM({span}))"
    others = "*".join(f'({text}<>"{word}")' for word in _PASSES)
    return f"ISTEXT({span})*{others}"


def _bid(column: int, first: int, last: int) -> Formula:
    """Add up what is bid in the open round; with a ``+ ?`` where a text cannot be added."""
    states, bids = f"$D${first}:$D${last}", _span(column, first, last)
    unread = f'SUMPRODUCT(({states}="open")*{_texts(bids)})'
    total = f'SUMIFS({bids},{states},"open",{bids},">=0")'
    return Formula(f'=IFERROR(IF({unread}>0,{total}&" + ?",{total}),"?")')


def _refused(row: int, column: int) -> str:
    """Tell what cannot be read as a number of tokens or uses, as R1, R8 and R10 say.

    A text of digits alone is a number; TEXT gives it back with its zeros, and anything else
    that VALUE takes for a number (1,000 or 1/2) differently.
    """
    cell = address(row, column)
    text = f"LOWER(TRIM({cell}))"
    passes = ",".join(f'{text}="{word}"' for word in _PASSES)
    digits = f'IFERROR(TEXT(VALUE(ASC({text})),REPT("0",LEN({text})))=ASC({text}),FALSE)'
    # Asked first, since LibreOffice takes TRUE for a number as well.
    wrong = f"ISERROR({cell}),TRUE,IF(ISLOGICAL({cell})"
    return (
        f"=IF({wrong},TRUE,IF(ISNUMBER({cell}),OR({cell}<0,{cell}<>INT({cell})),"
        f"IF(ISTEXT({cell}),NOT(OR({passes},{digits})),FALSE))))"
    )


# --- Exchanges ---------------------------------------------------------------------------------


def exchanges(players: Sequence[str]) -> Tab:
    """Draw Exchanges: the number of uses in each round; above them what they cost, live."""
    first, last = EXCHANGES_HEADER + 1, EXCHANGES_HEADER + ROUNDS
    left = len(EXCHANGES_HEADERS)
    columns = range(left + 1, left + 1 + len(players))
    rows: list[list[Content]] = [
        [_NEWS],
        [
            f"Type how often you exchange. Each use gives {EXCHANGE_TOKENS} tokens; your first in"
            " the match costs 1 garnet, the next 2, then 4, 8 … Your garnets stand in Standings."
        ],
        ["Tokens gained, as typed", None, *(_gained(c) for c in columns)],
        # 2 to the power of the uses, less 1, whose sum the prices 1, 2, 4 … are.
        [
            "Garnets spent, as typed",
            None,
            *(Formula(f'=IFERROR(2^({address(3, c)}/{EXCHANGE_TOKENS})-1,"?")') for c in columns),
        ],
        [
            "The next would cost, as typed",
            None,
            *(Formula(f'=IFERROR({address(4, c)}+1,"?")') for c in columns),
        ],
        [*EXCHANGES_HEADERS, *players],
    ]
    for round_ in range(1, ROUNDS + 1):
        row = len(rows) + 1
        index = f"($A{row}-1)*{LOTS}+1"
        rows.append([round_, Formula(f'=IF(NOW()=0,"",INDEX({_STATES},{index})&"")')])
    right = max(left + len(players), left + 1)
    entries, every = Area(first, left + 1, last, right), Area(first, 1, last, right)
    return _tab(
        "Exchanges",
        rows,
        EXCHANGES_HEADER,
        (10, 18, *(name_width(name) for name in players)),
        left,
        styles=(Styled(Area(first, 1, last, left), _KEY), Styled(entries, _ENTRY)),
        rules=(
            Rule(entries, _refused(first, left + 1), WRONG),
            Rule(every, f'=$B{first}="open"', IS_OPEN),
            Rule(every, f'=$B{first}="closed"', IS_CLOSED),
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
    )


def _gained(column: int) -> Formula:
    """Work out what a player's uses give; where they cannot be added up, say so."""
    span = _span(column, EXCHANGES_HEADER + 1, EXCHANGES_HEADER + ROUNDS)
    uses = f"SUM({span})"
    unread = f'SUMPRODUCT({_texts(span)})+COUNTIF({span},"<0")+({uses}<>INT({uses}))>0'
    return Formula(f'=IFERROR(IF({unread},"?",{EXCHANGE_TOKENS}*{uses}),"?")')


# --- Compositions ------------------------------------------------------------------------------


def compositions(players: Sequence[str]) -> Tab:
    """Draw Compositions: 48 positions; above them what is still to be placed, live."""
    first, last = COMPOSITIONS_HEADER + 1, COMPOSITIONS_HEADER + NOTES
    left = len(COMPOSITIONS_HEADERS)
    columns = range(left + 1, left + 1 + len(players))
    rows: list[list[Content]] = [
        [_NEWS],
        [
            "From top to bottom, every note you won, each once. Choose from the list or write"
            " D# quarter; in italics is what is not written so. Blank cells are skipped."
        ],
        ["Notes held", *(Formula(f'=COUNTIF({_held(c)},"?*")+0*NOW()') for c in columns)],
        ["Placed", *(_placed(c, first, last) for c in columns)],
        ["Still to place", *(_waiting(c, first, last) for c in columns)],
        ["Placed twice", *(_twice(c, first, last) for c in columns)],
        ["Next to place", *(_next(c, first, last) for c in columns)],
        [*COMPOSITIONS_HEADERS, *players],
    ]
    rows += [[position] for position in range(1, NOTES + 1)]
    right = max(left + len(players), left + 1)
    entries, column = Area(first, left + 1, last, right), column_letters(left + 1)
    one, span = f"{column}{first}", _span(left + 1, first, last)
    missing, twice = Area(5, left + 1, 5, right), Area(6, left + 1, 6, right)
    return _tab(
        "Compositions",
        rows,
        COMPOSITIONS_HEADER,
        (18, *(max(16, name_width(name)) for name in players)),
        left,
        styles=(
            Styled(Area(3, left + 1, 6, right), replace(LIVE, align="left")),
            Styled(Area(7, left + 1, 7, right), _LIVE_TEXT),
            Styled(Area(COMPOSITIONS_HEADER, left + 1, COMPOSITIONS_HEADER, right), HEADER),
            Styled(Area(first, 1, last, 1), _KEY),
            Styled(entries, _SPELT),
        ),
        rules=(
            Rule(missing, f"=AND({column}5>0,{_COMPOSING})", Style(fill=OPEN_FILL, bold=True)),
            Rule(missing, f"=AND({column}3>0,{column}5=0,{column}4={column}3)", _DONE),
            Rule(missing, f"={column}4>{column}3", WRONG),
            Rule(twice, f"={column}6>0", WRONG),
            Rule(entries, f'=AND({one}<>"",COUNTIF({span},{one})>1)', WRONG),
            # A row that was put in has no position: move what stands below it down instead.
            Rule(entries, f'=AND({one}<>"",$A{first}="")', WRONG),
            Rule(entries, _otherwise_spelt(one), _UNSURE),
            # The news above says what is open; only as many rows are lit as there are notes.
            Rule(
                entries,
                f"=AND({_COMPOSING},$A{first}<={column}$3)",
                IS_OPEN,
            ),
            Rule(entries, '=ISNUMBER(SEARCH("finished",$A$1))', IS_CLOSED),
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
    )


def _otherwise_spelt(cell: str) -> str:
    """Tell what is not written as in the list: it may be read all the same, or it may not.

    Google's conditional formats read no other tab, so the list itself cannot be asked.
    """
    gap = f'FIND(" ",{cell}&" ")'
    pitches = "|".join(PITCHES)
    durations = "|".join(duration.word for duration in Duration)
    no_pitch = f'ISERROR(SEARCH("|"&LEFT({cell},{gap}-1)&"|","|{pitches}|"))'
    no_duration = f'ISERROR(SEARCH("|"&MID({cell},{gap}+1,9)&"|","|{durations}|"))'
    return f'=AND({cell}<>"",OR({no_pitch},{no_duration}))'


def _placed(column: int, first: int, last: int) -> Formula:
    """How many cells of the column hold something, in rows that have a position."""
    return Formula(f'=COUNTIFS({_span(column, first, last)},"<>",{_positions(first, last)},"<>")')


def _waiting(column: int, first: int, last: int) -> Formula:
    """How many of the notes held do not stand in the column, spelt as in the list."""
    waits = f"SUMPRODUCT({_which_wait(column, first, last)})"
    return Formula(f'=IF(NOW()=0,"",IFERROR({waits},"?"))')


def _twice(column: int, first: int, last: int) -> Formula:
    """How many cells repeat a note that stands above or below already, spelt alike."""
    span = _span(column, first, last)
    different = f'SUMPRODUCT(({span}<>"")/(COUNTIF({span},{span})+({span}="")))'
    return Formula(f'=IFERROR(COUNTA({span})-ROUND({different},0),"?")')


def _next(column: int, first: int, last: int) -> Formula:
    """Name the first note held that does not stand in the column yet."""
    held, waiting = _held(column), _which_wait(column, first, last)
    # 1 for the first note that waits; SUMPRODUCT takes whole columns without array entry.
    place = f"SUMPRODUCT(MIN(ROW({held})-{FIRST}+1000*(1-{waiting})))"
    still = f"{address(5, column)}>0"
    return Formula(f'=IF(NOW()=0,"",IFERROR(IF({still},INDEX({held},{place})&"",""),""))')


def _which_wait(column: int, first: int, last: int) -> str:
    """1 for each note held that does not stand in the column, at a position, else 0."""
    span, held = _span(column, first, last), _held(column)
    return f'({held}<>"")*(COUNTIFS({span},{held},{_positions(first, last)},"<>")=0)'


def _positions(first: int, last: int) -> str:
    """The positions, in a form that stays when a column is copied for a new player."""
    return f"$A${first}:$A${last}"


def _held(column: int) -> str:
    """The notes of the seat that stands in this column of Compositions, and in Collections."""
    letters = column_letters(column)
    return f"Collections!{letters}${FIRST + 1}:{letters}${FIRST + NOTES}"


# --- what they share ---------------------------------------------------------------------------


def _tab(
    title: str,
    rows: Sequence[Sequence[Content]],
    header: int,
    widths: tuple[int, ...],
    left: int,
    *,
    frozen: int | None = None,
    styles: Sequence[Styled],
    rules: tuple[Rule, ...],
    checks: tuple[WholeNumber | OneOf, ...],
) -> Tab:
    """Lay out an entry tab: news and a hint, live figures, the header, then the entries.

    left: columns before the players'; frozen: how many of them stay in view, all if None.
    """
    right = max(len(widths), left + 1)
    frozen = left if frozen is None else frozen
    start = beside(widths, frozen)
    if start > 1:
        pad: list[Content] = [None] * (start - 2)
        news, hint = rows[0], rows[1]
        rows = [[_SHORT_NEWS, *pad, *news], [None, *pad, *hint], *rows[2:]]
    return Tab(
        title,
        Owner.PLAYERS,
        rows,
        printed(
            Looks(
                widths=widths,
                frozen=(header, frozen),
                header=header,
                styles=(
                    *(Styled(Area(1, c, 1, c), AS_OF) for c in sorted({1, start})),
                    Styled(Area(2, start, 2, start), HINT),
                    Styled(Area(3, 1, header - 1, 1), LABEL),
                    Styled(Area(3, left + 1, header - 1, right), LIVE),
                    Styled(Area(header, 1, header, left), HEADER_MIDDLE),
                    Styled(Area(header, left + 1, header, right), HEADER_RIGHT),
                    *styles,
                ),
                rules=rules,
                checks=checks,
                heights={header: header_height(rows[header - 1], widths)},
                colour=TAB_COLOURS[Owner.PLAYERS],
            ),
            len(rows),
        ),
    )


def _ruled(area: Area, style: Style) -> tuple[Styled, ...]:
    """Style a column of lots, with a stronger line after each round."""
    return (
        Styled(area, style),
        *(
            Styled(Area(row, area.left, row, area.right), replace(style, line=EDGE))
            for row in range(area.top + LOTS - 1, area.bottom + 1, LOTS)
        ),
    )


def _less(top: int, bottom: int, column: int) -> Formula:
    return Formula(f'=IFERROR({address(top, column)}-{address(bottom, column)},"?")')


def _span(column: int, first: int, last: int) -> str:
    letters = column_letters(column)
    return f"{letters}${first}:{letters}${last}"
