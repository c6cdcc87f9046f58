"""Nothing that is written to a board or to another player depends on an open entry."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sheets_host.game.rulings import LOTS
from sheets_host.game.stages import Stage
from sheets_host.grid import Cell, Kind, Strike
from sheets_host.host.reopening import reopen
from sheets_host.stores.base import Write
from tests.desks import (
    Entries,
    compositions,
    slips,
)
from tests.memory_store import Typed
from tests.playing import setting
from tests.sealed_match import (
    Match,
    in_memory,
    memory,
    mixed,
    twin,
)
from tests.sheets_emulator import Emulator


@pytest.fixture(name="google")
def _google() -> Iterator[Emulator]:
    with Emulator() as google:
        yield google


ODD_BIDS: Final[st.SearchStrategy[Typed]] = st.one_of(
    st.none(),
    st.integers(-5, 600),
    st.sampled_from(["pass", "12", "all", "=SUM(A1)", "1,000", ""]),
    st.sampled_from(
        [5.5, True, Cell(Kind.ERROR, "#DIV/0!", "=1/0"), Cell(Kind.NUMBER, 7.0, "=3+4")]
    ),
    st.builds(lambda n: Cell(Kind.NUMBER, float(n), strike=Strike.WHOLE), st.integers(0, 99)),
)
ODD_NOTES: Final[st.SearchStrategy[Typed]] = st.one_of(
    st.none(),
    st.sampled_from(["C whole", "D# quarter", "Db q", "1/2", "H half", "G", "E eighth"]),
    st.sampled_from([4.0, False, Cell(Kind.ERROR, "#N/A", "=NA()")]),
)
STAGES: Final = (*list(Stage), "reopened")


@st.composite
def open_entries(draw: st.DrawFn, player: str) -> Entries:
    """Return anything a player may type anywhere in their sheet."""
    entries: Entries = {}
    for round_ in range(1, 7):
        for lot in draw(st.lists(st.integers(1, LOTS), max_size=3, unique=True)):
            entries["Bids", (round_, lot), player] = draw(ODD_BIDS)
        if draw(st.booleans()):
            entries["Exchanges", (round_,), player] = draw(ODD_BIDS)
    for position in draw(st.lists(st.integers(1, 48), max_size=6, unique=True)):
        entries["Compositions", (position,), player] = draw(ODD_NOTES)
    return entries


def advance(match: Match, until: Stage | str, chance: random.Random) -> None:
    """Play up to a stage, or reopen a closed round for Ann."""
    last = Stage.ROUND_3 if until == "reopened" else until
    assert isinstance(last, Stage)
    for stage in Stage:
        if stage is last:
            break
        table = match.look()
        match.enter(slips(table, chance) if stage.round else compositions(table, chance))
        match.close(int(stage))
    if until == "reopened":
        reopen(match.store, Stage.ROUND_2, ["Ann"], "mistyped", match.context)


@given(st.data(), st.sampled_from(STAGES), st.integers(0, 10**6))
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_written_to_others__never_depends_on_an_open_entry(
    data: st.DataObject, until: Stage | str, seed: int
) -> None:
    """Everything drawn for the board and for the others, contents and looks, is the same."""
    played = in_memory("Ann", "Bob", "Eve")
    played.begin([seed % 4, 1, 2])
    setting(played.store, "Unfixed entries at closing", "void" if seed % 2 else "hold")
    advance(played, until, random.Random(seed))
    drawn = []
    for _ in range(2):
        match = twin(played)
        match.enter(data.draw(open_entries("Ann")))
        match.sync()
        others = [match.board, match.sheets["Bob"], match.sheets["Eve"]]
        drawn.append([[without_book(w) for w in memory(desk).writes] for desk in others])
    assert drawn[0] == drawn[1]


def without_book(write: Write) -> object:
    """Return all of a write but the book it was laid over."""
    return write.tabs, write.was, write.now, write.label, write.keep, write.protected


def kept(match: Match, google: Emulator, folder: Path) -> tuple[dict[Path, bytes], dict[str, Any]]:
    """Return every byte of every file, and every emulated sheet."""
    files = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    return files, {key: book.copied() for key, book in google.state.books.items()}


@pytest.mark.parametrize(
    ("until", "board"),
    [(stage, ("excel", "google")[n % 2]) for n, stage in enumerate(STAGES)],
    ids=str,
)
def test_bytes_of_others__never_depend_on_an_open_entry(
    tmp_path: Path, google: Emulator, until: Stage | str, board: str
) -> None:
    """Ann's sheet is a file, Bob's is on Google, Eve's a file; the board is either."""
    match = mixed(("Ann", "Bob", "Eve"), tmp_path, google, board=board)
    match.begin([3, 1, 2])
    advance(match, until, random.Random(str(until)))
    files, books = kept(match, google, tmp_path)
    ends = []
    for typed in range(3):
        for path in tmp_path.rglob("*"):
            if path.is_file():
                path.unlink()
        for path, data in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        google.state.books = {key: book.copied() for key, book in books.items()}
        google.calls.clear()
        chance = random.Random(typed)
        bids: list[Typed] = [1, 300, "what", 2.5]
        uses: list[Typed] = [1, -1, "x"]
        entries: Entries = {
            ("Bids", (r, chance.randint(1, LOTS)), "Ann"): chance.choice(bids) for r in range(1, 7)
        }
        entries["Compositions", (1,), "Ann"] = chance.choice(["C whole", "H half"])
        entries["Exchanges", (2,), "Ann"] = chance.choice(uses)
        match.enter(entries if typed else {})
        match.sync()
        mine = {match.sheets["Ann"].name, match.store.name}
        public = {
            path: path.read_bytes() for path in tmp_path.glob("*.xlsx") if str(path) not in mine
        }
        sent = [(c.path, c.body) for c in google.calls if c.kind == "write"]
        ends.append((public, sent, {key: google.snapshot(key) for key in google.state.books}))
    assert ends[0] == ends[1] == ends[2]
    assert len(ends[0][0]) == (2 if board == "excel" else 1)
