"""The host's tabs, as they are made once: How to play, Settings, Players."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from sheets_host.game.conditions import CONDITIONS
from sheets_host.game.rulings import (
    ANNOUNCED,
    COMPOSING_HOURS,
    DESCENDING,
    EIGHTHS,
    EXCHANGE_TOKENS,
    LOTS,
    NOTES,
    POINTS_PER_GARNET,
    ROUNDS,
    SHORT,
    SHORT_SHARE,
    START_TOKENS,
    SWITCHES,
    TRITONE,
    UNFIXED,
    Rulings,
    Switch,
)
from sheets_host.grid import Area, Content, Looks, OneOf, Owner, Style, Styled, Tab
from sheets_host.tabs.layout import (
    CLOSED_FILL,
    GOOD_FILL,
    HEADER,
    HEADER_MIDDLE,
    INK,
    LINE,
    LINE_HEIGHT,
    NAVY,
    OPEN_FILL,
    PALE_INK,
    TAB_COLOURS,
    TITLE,
    TITLE_HEIGHT,
    TYPE_FILL,
    UNSURE_FILL,
    WRAPPED,
    WRONG_FILL,
    in_two,
    lines_of,
)
from sheets_host.tabs.players import PLAYERS_HEADERS
from sheets_host.tabs.settings import (
    CHOICE,
    COMPOSING_CLOSES,
    DEFAULT_GAME,
    NAMES,
    ROUND_CLOSES,
    ROUND_NOTES,
    SETTINGS_HEADERS,
    WINNER_RULING,
)

_HEADING: Final = Style(bold=True, size=13, ink=NAVY, line=NAVY)
_BODY: Final = Style(ink=INK, wrap=True, top=True)
_KEY: Final = Style(bold=True, ink=NAVY, align="center", top=True)
_NAME: Final = Style(bold=True, ink=INK, line=LINE, top=True)
_VALUE: Final = Style(ink=INK, line=LINE, top=True, wrap=True, fill=TYPE_FILL, number="@")
_COUNT: Final = Style(ink=INK, line=LINE, top=True, fill=TYPE_FILL, align="center")


def _switch_words(switch: Switch) -> str:
    if switch.what.startswith(f"{switch.default}:"):
        return switch.what  # it tells each value by itself
    return f"{' / '.join(switch.values)}: {switch.what}"


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
    **{switch.name: _switch_words(switch) for switch in SWITCHES},
    CHOICE: "at a tie for last place: whom the winner names",
    WINNER_RULING: "if a tie for the win cannot be decided by notes: whom you name",
}


_SETTINGS_WIDTHS: Final = (29, 34, 86)
_PLAYERS_WIDTHS: Final = (30, 10, 14, 30, 40, 26)


def _heights(rows: Sequence[Sequence[Content]], widths: Sequence[int]) -> dict[int, int]:
    """Return the height of each row whose texts take more than one line."""
    lines = {
        number: max(lines_of(text, width) for text, width in zip(row, widths, strict=False))
        for number, row in enumerate(rows, 1)
    }
    return {number: LINE_HEIGHT * count for number, count in lines.items() if count > 1}


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
            widths=_SETTINGS_WIDTHS,
            frozen=(1, 1),
            header=1,
            styles=(
                Styled(Area(1, 1, 1, 3), HEADER),
                Styled(Area(2, 1, last, 1), _NAME),
                Styled(Area(2, 2, last, 2), _VALUE),
                Styled(Area(2, 3, last, 3), replace(WRAPPED, ink=PALE_INK)),
            ),
            heights=_heights(rows, _SETTINGS_WIDTHS),
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
            widths=_PLAYERS_WIDTHS,
            heights=_heights(body, _PLAYERS_WIDTHS),
            frozen=(1, 1),
            header=1,
            styles=(
                Styled(Area(1, 1, 1, len(PLAYERS_HEADERS)), HEADER),
                Styled(Area(1, 2, 1, 2), HEADER_MIDDLE),
                Styled(Area(2, 1, last, 1), replace(_VALUE, bold=True)),
                Styled(Area(2, 2, last, 2), _COUNT),
                Styled(Area(2, 3, last, len(PLAYERS_HEADERS)), _VALUE),
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


# --- How to play -------------------------------------------------------------------------------

_Line = tuple[str, str, str, Style]
"""A line of the rules: a mark, the text, what it is worth, and how the mark looks."""

_WIDTHS: Final = (6, 82, 11)
_HEADING_HEIGHT: Final = 22  # points, for type of 13


def how_to_play(game: str, rulings: Rulings, sealed: bool = False) -> Tab:
    """Draw the rules in words, with this match's switches."""
    rows: list[list[Content]] = [[game]]
    styles = [Styled(Area(1, 1, 1, 1), TITLE)]
    starts: list[int] = []
    for heading, lines in _chapters(rulings, sealed):
        rows += [[], [heading]]
        starts.append(len(rows))
        styles.append(Styled(Area(len(rows), 1, len(rows), 3), _HEADING))
        for mark, text, worth, style in lines:
            rows.append([mark, text, worth])
            row = len(rows)
            styles += [
                Styled(Area(row, 1, row, 1), style),
                Styled(Area(row, 2, row, 2), _BODY),
                Styled(Area(row, 3, row, 3), replace(_BODY, align="right", wrap=False)),
            ]
    heights = {
        number: LINE_HEIGHT * lines_of(row[1], _WIDTHS[1]) + 3
        for number, row in enumerate(rows, 1)
        if len(row) == len(_WIDTHS)
    }
    heights |= dict.fromkeys(starts, _HEADING_HEIGHT)
    return Tab(
        "How to play",
        Owner.HOST,
        rows,
        in_two(
            Looks(
                widths=_WIDTHS,
                styles=tuple(styles),
                heights={1: TITLE_HEIGHT, **heights},
                colour=TAB_COLOURS[Owner.HOST],
            ),
            starts,
            len(rows),
        ),
    )


def _told(*paragraphs: str) -> list[_Line]:
    return [("", paragraph, "", _BODY) for paragraph in paragraphs]


def _chapters(rulings: Rulings, sealed: bool) -> Iterator[tuple[str, Sequence[_Line]]]:
    yield (
        "What it is about",
        _told(
            f"Win notes in an auction of {ROUNDS} sealed rounds, and set all you won into one"
            " composition. Twelve conditions give points. The most points win a Token of Life; the"
            " player with the fewest is the Elimination Candidate.",
            f"There are {NOTES} notes: each of the 12 pitches C, C♯, D, D♯, E, F, F♯, G, G♯, A, A♯"
            " and B as a whole, a half, a quarter and an eighth. Every note exists once, in one"
            f" octave. {LOTS} of them, drawn when the round opens, are offered in each round.",
        ),
    )
    yield (
        "Bidding: the tab Bids",
        _told(
            f"You start with {START_TOKENS} tokens. In the rows of the open round, type a whole"
            " number into your column beside each note you want. A blank cell is no bid; 0 is a"
            " bid, and wins if nobody else bids.",
            "The highest bid wins the note. If two or more are highest, nobody gets it, and it is"
            " gone for good. Everybody pays every bid, won or not.",
            "Your bids of one round may not add up to more than you hold. The lines above the"
            " table update as you type.",
        ),
    )
    yield (
        "Garnets: the tab Exchanges",
        _told(
            f"In any round you may exchange garnets for tokens, several times if you like: {EXCHANGE_TOKENS}"
            " tokens each time. Your first exchange of the match costs 1 garnet, the second 2, then"
            " 4, 8 and so on. The tokens count for that round's bids.",
            f"At the end everybody earns a garnet for each {POINTS_PER_GARNET} points. It comes too"
            " late to be spent in this match.",
        ),
    )
    yield (
        "Composing: the tab Compositions",
        _told(
            "After the last round, put every note you won into your column, each once, from top to"
            " bottom in the order you choose. The list in each cell holds your notes. You may also"
            " write them: D# quarter, d♯ q, Eb 1/4 and the like are understood.",
            f"With fewer than {SHORT} notes you score nothing. With {SHORT} or more you must hand in.",
            f"Composing lasts {COMPOSING_HOURS} hours after round {ROUNDS} was closed, unless the"
            " host sets another time.",
        ),
    )
    yield (
        "Deadlines, and what everybody is told",
        _told(
            "The top line of each tab that you type into says what is open and, if there is a"
            " deadline, until when. What counts is what stands there when the host closes.",
            f"After each round everybody is told who won each note{_TOLD[rulings.announced]}, and"
            " how many tokens each player has left. Bids of an open round are never announced.",
        ),
    )
    worths = {condition.number: condition.worth for condition in CONDITIONS}
    yield (
        "The twelve conditions",
        [
            (f"{number}", f"{text}.", f"{worths[number]} points", _KEY)
            for number, text in enumerate(_conditions(rulings), 1)
        ],
    )
    yield (
        "Points",
        _told(
            "The points of a condition are divided among all who meet it; what does not divide"
            f" evenly is lost. {_SHORT_SHARE[rulings.short_share]}",
            "A tie for the win goes to the highest pitch in the tied compositions, then to the"
            " longer note of that pitch. At a tie for last place the winner chooses the Elimination"
            " Candidate among those tied.",
        ),
    )
    yield (
        "How this match reads the rules",
        [
            ("•", f"{_MEANING[name, value]} ({name}: {value})", "", _KEY)
            for name, value in rulings.named().items()
        ],
    )
    yield (
        "What the colours say",
        [
            ("", "Yellow: open, you can type here.", "", replace(_KEY, fill=OPEN_FILL)),
            ("", "Grey: closed, nothing changes any more.", "", replace(_KEY, fill=CLOSED_FILL)),
            (
                "",
                "Orange: this cannot stand. It cannot be read, stands there twice, or the sum is more"
                " than you hold. The tab Checks says what to do.",
                "",
                replace(_KEY, fill=WRONG_FILL),
            ),
            (
                "",
                "Pale orange, in italics: not spelt as in the list of your notes. It may be read"
                " all the same: the tab Checks says how.",
                "",
                replace(_KEY, fill=UNSURE_FILL),
            ),
            ("✓", "Blue: yes, or done.", "", replace(_KEY, fill=GOOD_FILL)),
            (
                "?",
                "This cannot be worked out here: something is no plain number, or a round is open"
                " again. What counts is in the tab Checks.",
                "",
                _KEY,
            ),
        ],
    )
    yield (
        "Where to look",
        [
            ("", f"{tab}: {what}.", "", _BODY)
            for tab, what in (
                ("Standings", "who holds what, and at the end who won"),
                ("Auction", "every note offered so far, and who won it"),
                ("Collections", "everybody's notes and tokens"),
                ("Balances and Garnets", "how tokens and garnets came and went"),
                ("Conditions and Breakdown", "who met which condition, and why or why not"),
            )
        ],
    )
    yield (
        "Who can see what",
        _told(
            "You type into a sheet of your own, which only you and the host can read. The results"
            " are published after each round."
            if sealed
            else "Everything is in one workbook: whoever can open it can read every bid, also before"
            " a round is closed. Hidden or protected tabs do not change that. For secret bids,"
            " send them to the host to type in, or ask the host for sealed entry sheets."
        ),
    )


_TOLD: Final = {
    "winners": "",
    "winning bids": " and for how much",
    "all bids": " and what everybody bid",
}

_MEANING: Final[Mapping[tuple[str, str], str]] = {
    (UNFIXED.name, "hold"): "While an entry is wrong, the stage stays open until it is corrected.",
    (UNFIXED.name, "void"): "What is still wrong when a stage closes is struck out.",
    (SHORT_SHARE.name, "no"): f"Compositions of fewer than {SHORT} notes score 0, and nobody shares"
    " a condition's points with them.",
    (SHORT_SHARE.name, "yes"): f"Compositions of 1 to {SHORT - 1} notes score 0, but whoever meets"
    " the same condition shares its points with them.",
    (DESCENDING.name, "in a row"): "Condition 4: the four falling notes stand directly after one"
    " another.",
    (DESCENDING.name, "anywhere"): "Condition 4: other notes may stand between the four falling"
    " ones.",
    (TRITONE.name, "neighbours"): "Condition 6: the two notes six semitones apart stand side by"
    " side.",
    (TRITONE.name, "any two"): "Condition 6: the two notes six semitones apart may stand anywhere.",
    (EIGHTHS.name, "at least"): "Condition 9: more than eight eighth notes count, too.",
    (EIGHTHS.name, "exactly"): "Condition 9: nine eighth notes or more do not count.",
    (ANNOUNCED.name, "winners"): "After each round everybody is told who won, and no single bid.",
    (ANNOUNCED.name, "winning bids"): "After each round everybody is told who won, and with which"
    " bid.",
    (ANNOUNCED.name, "all bids"): "After each round everybody is told every bid.",
}
"""What each value of a switch means to a player."""

_SHORT_SHARE: Final = {
    "no": f"Compositions of fewer than {SHORT} notes are not counted there.",
    "yes": f"Compositions of 1 to {SHORT - 1} notes are counted there, though they score 0.",
}


def _conditions(rulings: Rulings) -> tuple[str, ...]:
    """Say the twelve conditions in words, as this match's switches read them."""
    in_a_row = rulings.descending == "in a row"
    neighbours = rulings.tritone == "neighbours"
    least = "exactly" if rulings.eighths == "exactly" else "at least"
    return (
        "The durations add up to a multiple of 4 (whole 4, half 2, quarter 1, eighth ½)",
        "There are more sharp notes than natural ones",
        "Each note is higher than the one before",
        "Four notes of one duration, each lower than the one before, "
        + ("in a row" if in_a_row else "in this order; others may stand between"),
        "One pitch appears in all four durations",
        f"Two {'neighbours' if neighbours else 'notes'} lie six semitones apart, such as C and F♯",
        "The first and the last note have the same pitch",
        "You won five notes or more in one round",
        f"There are {least} eight eighth notes",
        "No note is an E (D♯ does not count as one)",
        "D, E, A and D stand beside each other in this order, in any durations",
        "All pitches belong to G major (G A B C D E F♯), or all to E major (E F♯ G♯ A B C♯ D♯), or"
        " all to B major (B C♯ D♯ E F♯ G♯ A♯)",
    )
