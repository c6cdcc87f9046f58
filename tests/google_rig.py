"""What the tests of the Google store share: an emulator, a store on it, a clock that does not wait."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from sheets_host.grid import (
    Area,
    Bar,
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
from sheets_host.stores.google import GoogleStore
from sheets_host.stores.google.transport import Clock
from tests.sheets_emulator import Emulator

SHEET = "sheet-of-the-tests-0123456789"


@dataclass
class FakeClock:
    """Time that passes only by waiting. said: the words on stderr; waits: in seconds."""

    time: float = 1000.0
    waits: list[float] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.time += seconds

    def clock(self, answer: float = 5.0) -> Clock:
        return Clock(lambda: self.time, self.sleep, self.said.append, answer)


@dataclass
class Rig:
    """One emulated sheet and a store on it."""

    google: Emulator
    time: FakeClock
    store: GoogleStore

    def another(self, answer: float = 5.0) -> GoogleStore:
        """Return a second host's store on the same sheet."""
        return GoogleStore(
            SHEET,
            clock=self.time.clock(answer),
            environ={"SHEETS_EMULATOR_HOST": self.google.host},
        )


def rig() -> Iterator[Rig]:
    """Run an emulator with one empty sheet."""
    with Emulator() as google:
        google.add_spreadsheet(SHEET)
        time = FakeClock()
        environ = {"SHEETS_EMULATOR_HOST": google.host}
        yield Rig(google, time, GoogleStore(SHEET, clock=time.clock(), environ=environ))


rig_fixture = pytest.fixture(name="rig")(rig)

HEADER = ("Seq", "Event", "Seal")


def record(*seals: str) -> Tab:
    """Return a Record of some rows, one a seal."""
    rows: list[tuple[Content, ...]] = [("Record",), (), (), HEADER]
    rows += [(str(n), f"=not a formula {n}", seal) for n, seal in enumerate(seals, 1)]
    looks = Looks(
        widths=(6, 40, 12),
        frozen=(4, 0),
        header=4,
        styles=(
            Styled(Area(1, 1, 1, 3), Style(bold=True, size=14)),
            Styled(Area(4, 1, 4 + len(seals), 3), Style(number="@", wrap=True)),
        ),
    )
    return Tab("Record", Owner.TOOL, rows, looks)


def checks(*where: str) -> Tab:
    """Return a Checks tab with links to cells of Bids."""
    rows: list[tuple[Content, ...]] = [("Checks",), (), (), ("Where", "Problem")]
    rows += [(Link(f"Bids!{cell}", "Bids", cell), "=1+1") for cell in where]
    return Tab("Checks", Owner.TOOL, rows, Looks(frozen=(4, 0)))


def bids(rounds: int = 3) -> Tab:
    """Return an entry tab with all looks there are."""
    rows: list[tuple[Content, ...]] = [("Bids", "left", 500), ("Round", "State", "Ann")]
    rows += [
        (n, Formula(f'=IF(NOW()=0,"",INDEX(Record!$C$5:$C$60,{n}))'), None)
        for n in range(1, rounds + 1)
    ]
    last = rounds + 2
    looks = Looks(
        widths=(8, 8, 14),
        frozen=(2, 1),
        styles=(
            Styled(Area(2, 1, 2, 3), Style(bold=True, fill="1F4E78", ink="FFFFFF", align="center")),
            Styled(Area(3, 3, last, 3), Style(number="0", line="CCCCCC", top=True)),
        ),
        rules=(
            Rule(Area(3, 1, last, 3), '=$B3="closed"', Style(fill="DDDDDD", ink="777777")),
            Rule(Area(3, 1, last, 3), "=Record!$C5<>Record!$A$1", Style(bold=True)),
        ),
        bars=(Bar(Area(3, 3, last, 3), "63BE7B"),),
        checks=(
            WholeNumber(Area(3, 3, last, 3), 0, "Bid", "A whole number"),
            OneOf(Area(3, 2, last, 2), "=Record!$C$5:$C$60", "State", "One of these"),
            OneOf(Area(1, 2, 1, 2), ("left", "right"), "Side", "One of these"),
        ),
        charts=(
            Chart(
                kind="bar",
                title="Bids",
                x_title="Round",
                y_title="Tokens",
                categories=Area(3, 1, last, 1),
                series=(Series((2, 3), Area(3, 3, last, 3)),),
                at=(1, 5),
            ),
        ),
        merges=(Area(1, 4, 1, 5),),
        heights={1: 30},
        filtered=Area(2, 1, last, 3),
        colour="FFC000",
    )
    return Tab("Bids", Owner.PLAYERS, rows, looks)


def write(store: GoogleStore, *tabs: Tab, was: str = "", now: str = "s1") -> tuple[str, ...]:
    """Read, then write these tabs."""
    book = store.read([tab.title for tab in tabs])
    return store.write(Write(tabs, book, was, now, "test"))


def all_tabs() -> tuple[Tab, ...]:
    """Return an entry tab and two tool tabs."""
    return bids(), checks("C3", "C4"), record("s0", "s1")
