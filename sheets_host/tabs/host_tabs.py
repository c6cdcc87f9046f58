"""The host's tabs, as they are made once: How to play, Settings, Players."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from sheets_host.game.conditions import CONDITIONS
from sheets_host.game.rulings import (
    COMPOSING_HOURS,
    EXCHANGE_TOKENS,
    LOTS,
    NOTES,
    POINTS_PER_GARNET,
    ROUNDS,
    SHORT,
    START_TOKENS,
    SWITCHES,
    Rulings,
)
from sheets_host.grid import Area, Content, Looks, OneOf, Owner, Style, Styled, Tab
from sheets_host.tabs.layout import (
    HEADER,
    INK,
    LINE,
    NAVY,
    PLAIN_TEXT,
    TAB_COLOURS,
    TITLE,
    WRAPPED,
)
from sheets_host.tabs.settings import (
    CHOICE,
    COMPOSING_CLOSES,
    DEFAULT_GAME,
    NAMES,
    PLAYERS_HEADERS,
    ROUND_CLOSES,
    ROUND_NOTES,
    SETTINGS_HEADERS,
    WINNER_RULING,
)

_HEADING: Final = Style(bold=True, size=12, ink=NAVY)
_BODY: Final = Style(ink=INK, wrap=True, top=True)
_NAME: Final = Style(bold=True, ink=INK, line=LINE, top=True)

WHAT_IT_DOES: Final[Mapping[str, str]] = {
    "Game": "the title on every report",
    "Time zone": "an IANA name such as Europe/Berlin; deadlines below are read in it",
    **dict.fromkeys(ROUND_CLOSES, "date and time, such as 2026-12-24 18:00; blank: no deadline"),
    COMPOSING_CLOSES: f"date and time; blank: {COMPOSING_HOURS} hours after round {ROUNDS} closed",
    **dict.fromkeys(
        ROUND_NOTES,
        f"{LOTS} notes of your choice, with commas between; blank: drawn when the round opens",
    ),
    "Board": "a public workbook (path or Google link) that gets the reports; blank: none",
    "Deal seed": "the same seed deals the same notes, for rehearsals; blank: chance. Whoever reads"
    " it can know every deal",
    "Projection": "yes or no: whether Standings show what each player would score now",
    **{switch.name: f"{' / '.join(switch.values)}: {switch.what}" for switch in SWITCHES},
    CHOICE: "at a tie for last place: whom the winner names",
    WINNER_RULING: "if a tie for the win cannot be decided by notes: whom you name",
}


def settings(values: Mapping[str, str]) -> Tab:
    """Draw Settings; values: by name, what is not named has its default."""
    defaults = {"Game": DEFAULT_GAME, "Time zone": "UTC", "Projection": "yes", **Rulings().named()}
    rows: list[list[Content]] = [list(SETTINGS_HEADERS)]
    rows += [[name, values.get(name, defaults.get(name, "")), WHAT_IT_DOES[name]] for name in NAMES]
    last = len(rows)
    choices = {switch.name: switch.values for switch in SWITCHES} | {"Projection": ("yes", "no")}
    checks = tuple(
        OneOf(Area(row, 2, row, 2), choices[name], name, "Choose from the list.")
        for row, name in enumerate(NAMES, 2)
        if name in choices
    )
    return Tab(
        "Settings",
        Owner.HOST,
        rows,
        Looks(
            widths=(30, 34, 84),
            frozen=(1, 1),
            header=1,
            styles=(
                Styled(Area(1, 1, 1, 3), HEADER),
                Styled(Area(2, 1, last, 1), _NAME),
                Styled(Area(2, 2, last, 2), PLAIN_TEXT),
                Styled(Area(2, 3, last, 3), WRAPPED),
            ),
            checks=checks,
            colour=TAB_COLOURS[Owner.HOST],
            landscape=True,
        ),
    )


def players(rows: Sequence[Sequence[Content]]) -> Tab:
    """Draw Players; rows: in the order of its headers."""
    body: list[Sequence[Content]] = [list(PLAYERS_HEADERS), *rows]
    last = max(len(body), 41)
    return Tab(
        "Players",
        Owner.HOST,
        body,
        Looks(
            widths=(26, 10, 14, 30, 40, 26),
            frozen=(1, 1),
            header=1,
            styles=(
                Styled(Area(1, 1, 1, len(PLAYERS_HEADERS)), HEADER),
                Styled(Area(2, 1, last, 1), Style(bold=True, ink=INK, line=LINE, number="@")),
                Styled(Area(2, 2, last, 2), Style(ink=INK, line=LINE, align="right")),
                Styled(Area(2, 3, last, len(PLAYERS_HEADERS)), PLAIN_TEXT),
            ),
            checks=(
                OneOf(
                    Area(2, 3, last, 3),
                    ("withdrawn",),
                    "Status",
                    "Leave it blank, or choose withdrawn.",
                ),
            ),
            colour=TAB_COLOURS[Owner.HOST],
            landscape=True,
        ),
    )


def how_to_play(game: str, rulings: Rulings, sealed: bool = False) -> Tab:
    """Draw the rules in words, with this match's switches."""
    lines: list[tuple[str, Style]] = [(game, TITLE)]
    for heading, paragraphs in _chapters(rulings, sealed):
        lines.append(("", _BODY))
        lines.append((heading, _HEADING))
        lines += [(paragraph, _BODY) for paragraph in paragraphs]
    return Tab(
        "How to play",
        Owner.HOST,
        [[text] for text, _ in lines],
        Looks(
            widths=(110,),
            styles=tuple(
                Styled(Area(row, 1, row, 1), style) for row, (_, style) in enumerate(lines, 1)
            ),
            colour=TAB_COLOURS[Owner.HOST],
        ),
    )


def _chapters(rulings: Rulings, sealed: bool) -> Sequence[tuple[str, Sequence[str]]]:
    return (
        (
            "What it is about",
            (
                f"Win musical notes in {ROUNDS} sealed rounds, then order all of them into one"
                " composition. It scores by twelve conditions. The most points win a Token of Life;"
                " the fewest make the Elimination Candidate.",
                f"There are {NOTES} notes: the 12 pitches C C# D D# E F F# G G# A A# B, each as a"
                f" whole, half, quarter and eighth. Each exists once; {LOTS} are offered a round.",
            ),
        ),
        (
            "Bidding (tab Bids)",
            (
                f"Everybody starts with {START_TOKENS} tokens. Type a whole number into your column,"
                " beside each note you want, in the rows of the open round. Blank is no bid; 0 is a"
                " bid.",
                "The highest bid gains the note. If the highest bid is a tie, nobody gains it, and it"
                " does not come back. Every bid is paid, won or not.",
                "Your bids of a round may not sum to more than you hold; the rows above the table"
                " count along while you type.",
            ),
        ),
        (
            "Garnets (tab Exchanges)",
            (
                f"In any round you may change garnets into {EXCHANGE_TOKENS} tokens, several times."
                " Your first use in the match costs 1 garnet, the second 2, then 4, 8 and so on.",
                f"At the end everybody gains a garnet for each {POINTS_PER_GARNET} points.",
            ),
        ),
        (
            "Composing (tab Compositions)",
            (
                "After the last round, put every note you won into your column, each once, in the"
                " order you choose, top to bottom. The drop-down lists your notes; blanks between are"
                " skipped.",
                f"Fewer than {SHORT} notes score nothing. Whoever holds {SHORT} or more must hand in.",
            ),
        ),
        (
            "The twelve conditions",
            tuple(f"{c.number}. {c.name} ({c.worth} points)" for c in CONDITIONS),
        ),
        (
            "Points",
            (
                "Each condition pays its points divided by the number of players who fulfil it, the"
                " remainder dropped.",
                "A tie for the win goes to the highest pitch in the tied compositions, then to the"
                " longer note of that pitch. At a tie for last, the winner names the Elimination"
                " Candidate.",
            ),
        ),
        (
            "How this match reads the rules",
            tuple(f"{name}: {value}" for name, value in rulings.named().items()),
        ),
        (
            "Who can see what",
            (
                "You type into a sheet of your own, which only you and the host can read; the results"
                " are published after each round."
                if sealed
                else "Everything is in one workbook: whoever can open it can read every bid, also before"
                " a round is closed. Hidden or protected tabs do not change that. For secret bids,"
                " send them to the host to type in, or ask the host for sealed entry sheets.",
            ),
        ),
    )
