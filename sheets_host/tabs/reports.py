"""The match → the tool's tabs. Pure: the same match always draws the same tabs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from sheets_host.game.record import HEADERS as RECORD_HEADERS
from sheets_host.grid import (
    Area,
    Content,
    Link,
    Looks,
    Rule,
    Style,
    Tab,
)
from sheets_host.tabs.entries import Receipt
from sheets_host.tabs.holdings import auction, balances, collections, garnets
from sheets_host.tabs.layout import (
    FILTER,
    FIRST,
    GOOD_INK,
    NAME,
    NAME_WRAPPED,
    OPEN_FILL,
    PLAIN_TEXT,
    PLAIN_WRAPPED,
    WRAPPED,
    WRONG_FILL,
    WRONG_INK,
    Column,
    tool_tab,
)
from sheets_host.tabs.problems import Problem, Severity
from sheets_host.tabs.verdicts import (
    breakdown,
    conditions,
    standings,
)
from sheets_host.tabs.view import (
    View,
    as_of,
)


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


def checks(view: View, problems: Sequence[Problem], receipts: Sequence[Receipt]) -> Tab:
    """Draw what is wrong, what to know, and every entry of the open stage as read."""
    columns = (
        Column("Severity", 11, NAME),
        Column("Where", 22, replace(WRAPPED, ink=GOOD_INK)),
        Column("Player", 20, NAME_WRAPPED),
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
        Looks(rules=rules, filtered=FILTER),
        frozen_columns=1,
        grows=True,
    )


def _where(file: str | None, tab: str, cell: str) -> Content:
    place = f"{tab}!{cell}" if cell else tab
    if file is not None:
        return f"{file}: {place}"
    return Link(place, tab, cell) if cell else place


def record(view: View) -> Tab:
    """Draw the Record, every cell text."""
    columns = [
        Column(header, width, PLAIN_WRAPPED if header in _WRAPPED else PLAIN_TEXT)
        for header, width in zip(RECORD_HEADERS, _WIDTHS, strict=True)
    ]
    return tool_tab(
        "Record",
        "The Record: the game itself; please do not touch",
        as_of(view),
        columns,
        view.record.as_rows(),
        Looks(filtered=FILTER),
        frozen_columns=1,
        grows=True,
    )


_WIDTHS: Final = (7, 24, 14, 12, 26, 26, 48, 22)
_WRAPPED: Final = ("Player", "Item", "Value")  # texts that may be long
