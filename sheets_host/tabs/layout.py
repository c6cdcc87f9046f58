"""Titles, headers, colours and widths: how every tab looks, in words no store owns."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from sheets_host.grid import Area, Content, Link, Looks, Owner, Style, Styled, Tab

HOST_TABS: Final = ("How to play", "Settings", "Players")
ENTRY_TABS: Final = ("Bids", "Exchanges", "Compositions")
TOOL_TABS: Final = (
    "Standings",
    "Balances",
    "Garnets",
    "Conditions",
    "Breakdown",
    "Auction",
    "Collections",
    "Checks",
    "Record",
)
TITLES: Final = (*HOST_TABS, *ENTRY_TABS, *TOOL_TABS)
BOARD_TABS: Final = tuple(title for title in TOOL_TABS if title not in ("Checks", "Record"))
SHEET_TABS: Final = ("Auction", "Collections", "Standings", "Checks")

TOOL_HEADER: Final = 4  # the header row of every tool tab; formulas of the entry tabs rely on it
FIRST: Final = TOOL_HEADER + 1
HINTS: Final = 5  # the column, right of every stamp, in which a hint on how to read a tab begins

# The one visual language. Warm: people type here, or must act. Blue: the tool speaks, or yes.
# Orange: this cannot stand. Grey: over. Blue and orange stay apart for every kind of
# colour-blindness and, one being darker, in a black and white print; what a colour says, a word,
# a sign or bold type says too.
INK: Final = "1F2937"
PALE_INK: Final = "4B5563"
WHITE: Final = "FFFFFF"
NAVY: Final = "1F3A5F"
LINE: Final = "D5DCE5"
BAND: Final = "F3F6FA"
EDGE: Final = "8FA3BC"  # between rounds
TYPE_FILL: Final = "FFFBEA"  # people may type here
OPEN_FILL: Final = "FFEFB0"
CLOSED_FILL: Final = "ECEEF1"
WRONG_FILL: Final = "F9C9A8"
UNSURE_FILL: Final = "FCE5D4"
WRONG_INK: Final = "8A2C0D"
OVER_FILL: Final = "C2410C"  # more spent than held; white on it is read at 5.2 to 1
GOOD_FILL: Final = "DCEBFA"
GOOD_INK: Final = "1E4E8C"
GOLD_FILL: Final = "F9E08B"
SILVER_FILL: Final = "DDE1E6"
BRONZE_FILL: Final = "EBC9A5"
BAR: Final = "8DBBE8"
TAB_COLOURS: Final = {Owner.HOST: "8A8F98", Owner.PLAYERS: "E69F00", Owner.TOOL: "0072B2"}

TITLE: Final = Style(bold=True, size=16, ink=NAVY)
AS_OF: Final = Style(bold=True, ink=GOOD_INK)
STAMP: Final = Style(ink=PALE_INK, size=9)
STAMP_HINT: Final = Style(ink=PALE_INK, size=9, italic=True)
HINT: Final = Style(ink=PALE_INK, italic=True)
# Left is said aloud: a program else puts a name that is read from right to left on the right.
HEADER: Final = Style(bold=True, ink=WHITE, fill=NAVY, align="left", wrap=True, top=True)
HEADER_RIGHT: Final = replace(HEADER, align="right")
HEADER_MIDDLE: Final = replace(HEADER, align="center")
TEXT: Final = Style(ink=INK, align="left", line=LINE, top=True)
NAME: Final = replace(TEXT, bold=True)
NAME_WRAPPED: Final = replace(NAME, wrap=True)
WRAPPED: Final = replace(TEXT, wrap=True)
NUMBER: Final = replace(TEXT, align="right", number="#,##0")
MIDDLE: Final = replace(TEXT, align="center")
SMALL: Final = replace(MIDDLE, ink=PALE_INK)
PLAIN_TEXT: Final = replace(TEXT, number="@")
PLAIN_WRAPPED: Final = replace(PLAIN_TEXT, wrap=True)
LABEL: Final = Style(bold=True, ink=INK)
LIVE: Final = Style(bold=True, ink=NAVY, align="right", number="#,##0")
GAP: Final = Style()
WRONG: Final = Style(fill=WRONG_FILL, ink=WRONG_INK, bold=True)
OVERSPENT: Final = Style(fill=OVER_FILL, ink=WHITE, bold=True)
SHARP: Final = Style(ink=GOOD_INK, bold=True)
IS_OPEN: Final = Style(fill=OPEN_FILL)
IS_CLOSED: Final = Style(fill=CLOSED_FILL, ink=PALE_INK)

FROZEN_NAME: Final = 18  # characters
LINE_HEIGHT: Final = 15  # points
TITLE_HEIGHT: Final = 24
MOST_HEIGHT: Final = 405  # Excel allows 409
PORTRAIT: Final = 100  # characters that a page shows side by side in full size
LANDSCAPE: Final = 240  # the same in landscape at the smallest size that is read with ease
FULL_LANDSCAPE: Final = 135  # the same in landscape in full size
PAGE_HEIGHT: Final = 684  # points between the margins of a page; paper in the USA is the shorter
LANDSCAPE_HEIGHT: Final = 487  # the same in landscape, where A4 is the shorter
STRAGGLERS: Final = 4 / 3  # pages that are shrunk to one, rather than leave a few rows to a second


FILTER: Final = Area(1, 1, 1, 1)
"""Asks `tool_tab` for a filter over the table; it knows the area."""


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a tool tab: header, width in characters, and how its body looks."""

    header: str
    width: int
    style: Style = TEXT


def header_style(style: Style) -> Style:
    """Return how the header over such a body looks: it stands where the body stands."""
    if style == GAP:
        return GAP
    return {"right": HEADER_RIGHT, "center": HEADER_MIDDLE}.get(style.align or "", HEADER)


def tool_tab(
    title: str,
    heading: str,
    as_of: Sequence[str],
    columns: Sequence[Column],
    body: Sequence[Sequence[Content]],
    looks: Looks = Looks(),
    frozen_columns: int = 0,
    edges: Iterable[int] = (),
    grows: bool = False,
    hint: str = "",
) -> Tab:
    """Lay out a tool tab: title and "as of" in rows 1 to 3, the header in row 4, the body below.

    looks: what the tab has beyond that; its widths, freeze, header, heights, print and protection
    are set here. edges: rows of the body, from 1, after which a stronger line stands. grows: rows
    are added as the match goes on, so that nobody knows how many pages they take. hint: how the
    tab is read; it stands in row 3, right of the stamp, where no reader of the table meets it.
    """
    width = len(columns)
    last = max(FIRST, TOOL_HEADER + len(body))
    lines = (*as_of, "", "")
    headers = [column.header for column in columns]
    widths = tuple(column.width for column in columns)
    start = beside(widths, frozen_columns)
    pad: list[Content] = [None] * (start - 1)
    above = [[*pad, text] for text in (heading, lines[0], lines[1])]
    if hint:
        above[2] += [None] * (HINTS - 1 - len(above[2])) + [hint]
    rows: list[Sequence[Content]] = [*above, headers, *body]
    styles = [
        Styled(Area(1, start, 1, start), TITLE),
        Styled(Area(2, start, 2, start), AS_OF),
        Styled(Area(3, start, 3, start), STAMP),
        *([Styled(Area(3, HINTS, 3, HINTS), STAMP_HINT)] if hint else []),
        *(
            Styled(Area(TOOL_HEADER, c, TOOL_HEADER, c), header_style(column.style))
            for c, column in enumerate(columns, 1)
        ),
        *(Styled(Area(FIRST, c, last, c), column.style) for c, column in enumerate(columns, 1)),
        *(
            Styled(Area(row, c, row, c), replace(column.style, line=EDGE))
            for row in (TOOL_HEADER + edge for edge in edges)
            for c, column in enumerate(columns, 1)
            if column.style != GAP
        ),
    ]
    heights = {1: TITLE_HEIGHT, TOOL_HEADER: header_height(headers, widths)}
    # Bold type is wider than the rest.
    wrapped = [
        (c, column.width - 2 * column.style.bold)
        for c, column in enumerate(columns)
        if column.style.wrap
    ]
    for number, row in enumerate(body, FIRST):
        lines_ = max((lines_of(row[c], w) for c, w in wrapped if c < len(row)), default=1)
        if lines_ > 1:
            # A little air, and a line more for each four: what is long adds up to more.
            heights[number] = min(MOST_HEIGHT, LINE_HEIGHT * (lines_ + lines_ // 4) + 3)
    return Tab(
        title,
        Owner.TOOL,
        rows,
        printed(
            replace(
                looks,
                widths=widths,
                frozen=(TOOL_HEADER, frozen_columns),
                header=TOOL_HEADER,
                styles=(*styles, *looks.styles),
                heights=heights,
                filtered=Area(TOOL_HEADER, 1, last, width) if looks.filtered else None,
                colour=TAB_COLOURS[Owner.TOOL],
                locked=True,
            ),
            0 if grows else len(rows),
        ),
    )


def printed(looks: Looks, rows: int) -> Looks:
    """Choose the paper's direction, and how many pages a tab is printed on so that it is read.

    rows: how many there will be; 0 where nobody knows. Where the last few would stand alone on a
    second page, all shrink a little to fit on one. Only their number counts, not how high they
    are: what a tab holds later must not change how it is set up.
    """
    total = sum(looks.widths)
    landscape, pages = total > PORTRAIT, pages_across(looks.widths, looks.frozen[1])
    full, height = (FULL_LANDSCAPE, LANDSCAPE_HEIGHT) if landscape else (PORTRAIT, PAGE_HEIGHT)
    repeated = sum(looks.widths[: looks.frozen[1]]) * (pages - 1)
    scale = min(1, full * pages / (total + repeated))
    one_page = 1 < LINE_HEIGHT * rows * scale / height <= STRAGGLERS
    # A chart below the rows is not to be cut in two either.
    one_page |= bool(rows and looks.charts and pages == 1)
    return replace(looks, landscape=landscape, across=pages, down=int(one_page))


def pages_across(widths: Sequence[int], frozen: int) -> int:
    """Return how many printed pages stand side by side; each repeats the frozen columns."""
    left, total = sum(widths[:frozen]), sum(widths)
    return -(-(total - left) // (LANDSCAPE - left)) if total > LANDSCAPE else 1


def beside(widths: Sequence[int], frozen: int) -> int:
    """Return the column in which long texts above the header begin.

    Where the frozen columns are repeated on several pages, or stay while others are scrolled, a
    text that begins in them is cut off at their end. So it begins right of them then.
    """
    return frozen + 1 if pages_across(widths, frozen) > 1 else 1


def in_two(looks: Looks, starts: Sequence[int], rows: int) -> Looks:
    """Have chapters printed on two pages, with no heading parted from what stands below it.

    starts: the row of each chapter's heading. The break stands where the longer page is shortest.
    """

    def points(first: int, end: int) -> int:
        return sum(looks.heights.get(row, LINE_HEIGHT) for row in range(first, end))

    longer, row = min((max(points(1, s), points(s, rows + 1)), s) for s in starts)
    # Not quite the whole page: programs differ by a line or two, and where the font is missing,
    # the one in its place makes all columns up to a third wider.
    scale = min(97 * PAGE_HEIGHT // longer, 77 * PORTRAIT // sum(looks.widths), 100)
    return replace(looks, breaks=(row,), scale=scale)


def header_height(headers: Sequence[Content], widths: Sequence[int]) -> int:
    """Return the height in points of a row of headers, which are bold and wrapped."""
    most = max(
        (lines_of(text, width - 1) for text, width in zip(headers, widths, strict=False)), default=1
    )
    return LINE_HEIGHT * most + 3


def lines_of(content: Content, width: int) -> int:
    """Return how many lines a text takes in a column of this width, in characters.

    Programs that open the file do not all work it out. Rather one line too many than a text cut
    off: fonts differ, and most texts run a little narrower than so many digits.
    """
    text = content.text if isinstance(content, Link) else content
    if not isinstance(text, str):
        return 1
    room = max(4, width)
    if len(text) <= room and text.isascii():
        return 1 + text.count("\n")
    count = 0
    for paragraph in text.split("\n"):
        used = room + 1
        for word in paragraph.split(" "):
            length = digits_wide(word)
            if used + 1 + length > room:
                count += max(1, -(-length // room))
                used = (length - 1) % room + 1
            else:
                used += 1 + length
    return count


def digits_wide(text: str) -> int:
    """Return how many digits' width a text takes: letters of East Asia and emoji take two each."""
    if text.isascii():
        return len(text)
    return len(text) + sum(unicodedata.east_asian_width(c) in "WF" for c in text)


def name_width(name: str) -> int:
    """Return a column width that shows a player's name, wrapped once at most."""
    return max(10, min(24, len(name) + 3))


def names_width(names: Iterable[str], most: int = 44) -> int:
    """Return the width of a column that holds names, one a row, in bold."""
    return max(14, min(most, 3 + max(map(digits_wide, names), default=0)))


def name_column(names: Iterable[str]) -> Column:
    """Return the column of players that stays in view: long names are wrapped in it.

    A phone shows some fifty characters side by side; what is frozen takes half of them at most.
    """
    return Column("Player", names_width(names, FROZEN_NAME), NAME_WRAPPED)
