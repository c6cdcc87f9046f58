"""Small tabs, drawn with every look there is, that the tests of the Excel store write."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Final

from sheets_host.grid import (
    Area,
    Bar,
    Book,
    Chart,
    Content,
    Formula,
    Link,
    Looks,
    OneOf,
    Owner,
    Rule,
    Series,
    Style,
    Styled,
    Tab,
    WholeNumber,
)
from sheets_host.stores.base import Write

HEAD: Final = Style(bold=True, fill="DDEEFF", ink="112233", wrap=True, line="999999")
NOW: Final = dt.datetime(2026, 11, 29, 20, 15, tzinfo=dt.UTC)

REPORT: Final = Tab(
    "Game report",
    Owner.TOOL,
    [
        ["Composer Auction"],
        ["as of 29 Nov 2026"],
        [],
        ["Player", "Points", "Twice", "Where"],
        ["Ann", 5, Formula("=B5*2+0*NOW()"), Link("Bids!E7", "Game help", "B2")],
        ["=1+1", 12, Formula('=IF(NOW()=0,"","late")'), None],
        ["a & b <c>", 0, None, "007"],
    ],
    Looks(
        widths=(20, 10, 10, 24),
        frozen=(4, 1),
        header=4,
        styles=(
            Styled(Area.of("A4:D4"), HEAD),
            Styled(Area.of("A5:A9"), Style(number="@")),
            Styled(Area.of("B5:B9"), Style(number='0 "points"', align="right")),
        ),
        rules=(
            Rule(Area.of("A5:D9"), "=$B5>10", Style(bold=True, fill="FFFF00")),
            Rule(Area.of("A5:D9"), "=$B5>4", Style(ink="FF0000")),
        ),
        bars=(Bar(Area.of("B5:B9"), "3366CC"),),
        checks=(
            WholeNumber(Area.of("B5:B9"), 0, "Bids", "A whole number, 0 or more"),
            OneOf(Area.of("D5:D6"), ("yes", "no"), "Answer", "yes or no"),
            OneOf(Area.of("D7:D9"), "=$A$5:$A$9", "Name", "A player's name"),
        ),
        charts=(
            Chart(
                "line",
                "Points",
                "Player",
                "Points",
                Area.of("A5:A7"),
                (Series((4, 2), Area.of("B5:B7")),),
                (12, 1),
            ),
        ),
        merges=(Area.of("A1:D1"),),
        heights={1: 30},
        filtered=Area.of("A4:D7"),
        colour="AA0000",
        landscape=True,
        locked=True,
    ),
)

HELP: Final = Tab("Game help", Owner.HOST, [["Rules"], ["", "See the report"]])


PLAIN: Final = Looks()


def tab(title: str, *rows: Sequence[Content], looks: Looks = PLAIN) -> Tab:
    """A plain tool tab."""
    return Tab(title, Owner.TOOL, rows, looks)


def write(*tabs: Tab, since: Book | None = None, label: str = "sync", keep: bool = False) -> Write:
    """A write of these tabs over what was read; into a new file where nothing was."""
    return Write(tabs, since or Book((), {}), "", "seal", label, keep)
