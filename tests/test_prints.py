"""How the tabs print: nothing cut off, a header on each page, no page for a few last rows."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from sheets_host.game.rulings import Rulings
from sheets_host.game.stages import Stage
from sheets_host.grid import Looks, Tab
from sheets_host.host.drawing import game_tabs
from sheets_host.host.verbs import check
from sheets_host.stores.excel import ExcelStore
from sheets_host.tabs import host_tabs
from sheets_host.tabs.entry_tabs import entry_tabs
from sheets_host.tabs.layout import (
    BOARD_TABS,
    HEADER,
    PAGE_HEIGHT,
    STRAGGLERS,
    beside,
    in_two,
    printed,
)
from sheets_host.tabs.stamps import stamp_of
from tests.office import Office
from tests.package import Package
from tests.played import Clock, context, names, play

MANY: Final = 40
SEVERAL_ACROSS: Final = ("Bids", "Exchanges", "Compositions", "Conditions", "Collections")
SHORT_NEWS: Final = {
    Stage.ROUND_1: "Round 1 is open",
    Stage.ROUND_3: "Round 3 is open",
    Stage.COMPOSING: "Composing is open",
    Stage.FINISHED: "Finished",
}


# --- printed by LibreOffice ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Print:
    """A printed workbook: the text of its pages by tab, in order; and the tabs that it shows."""

    pages: Mapping[str, Sequence[str]]
    tabs: Mapping[str, Tab]


def printout(office: Office, folder: Path, players: int, stage: Stage) -> Print:
    program = shutil.which("pdftotext")
    if program is None:
        pytest.skip("pdftotext (poppler-utils) is not here")
    path, pdf = folder / "game.xlsx", folder / "game.pdf"
    play(path, names(players), stage)
    with office.open(path) as doc:
        doc.pdf(pdf)
    run = subprocess.run([program, "-layout", str(pdf), "-"], check=True, capture_output=True)
    pages: dict[str, list[str]] = {}
    for page in run.stdout.decode().split("\f")[:-1]:
        *lines, footer = page.strip().splitlines()
        tab, _ = footer.strip().rsplit(", ", 1)
        pages.setdefault(tab, []).append("\n".join(lines))
    table = check(ExcelStore(path, clock=Clock()), context(Clock()))
    tabs = (*entry_tabs(names(players)), *game_tabs(table))
    return Print(pages, {tab.title: tab for tab in tabs})


@pytest.fixture(scope="module")
def wide(office: Office, tmp_path_factory: pytest.TempPathFactory) -> Print:
    return printout(office, tmp_path_factory.mktemp("wide"), MANY, Stage.ROUND_3)


@pytest.fixture(scope="module")
def small(office: Office, tmp_path_factory: pytest.TempPathFactory) -> Print:
    return printout(office, tmp_path_factory.mktemp("small"), 3, Stage.FINISHED)


def test_pages__each_has_the_header_of_what_stands_on_it(wide: Print) -> None:
    for title, tab in wide.tabs.items():
        assert tab.looks.header
        left = tab.looks.frozen[1] if tab.looks.across > 1 else tab.size[1]
        repeated = [str(h) for h in tab.rows[tab.looks.header - 1][:left] if h]
        for number, page in enumerate(wide.pages[title]):
            words = page.split()
            for head in repeated:
                assert set(head.split()) <= set(words), (title, number, head)


def test_pages__several_across_show_each_player_once(wide: Print) -> None:
    assert tuple(t for t, tab in wide.tabs.items() if tab.looks.across > 1) == SEVERAL_ACROSS
    for title in ("Bids", "Exchanges", "Compositions", "Collections"):
        pages = wide.pages[title]
        assert len(pages) == wide.tabs[title].looks.across == 3
        for name in names(MANY):
            found = [len(re.findall(rf"\b{name}\b(?! \d)", page)) for page in pages]
            assert sorted(found) == [0, 0, 1], (title, name)


def test_pages__no_line_above_the_header_is_repeated_where_it_is_cut_off(wide: Print) -> None:
    """A PDF holds the whole of a text that is cut off; it must stand on the first page alone."""
    for title in SEVERAL_ACROSS:
        first, *others = wide.pages[title]
        long = [str(line[-1]) for line in wide.tabs[title].rows[1:3] if isinstance(line[-1], str)]
        for text in ("As of round 2, closed", *(text for text in long if len(text) > 20)):
            assert text in first, (title, text)
            assert not [page for page in others if text in page], (title, text)
        if title in ("Bids", "Exchanges", "Compositions"):
            assert all(page.startswith("Round 3 is open") for page in others)


def test_pages__heading_stands_with_what_it_heads(small: Print) -> None:
    tab = host_tabs.how_to_play("Game", Rulings())
    headings = {str(row[0]) for row in tab.rows if len(row) == 1}
    first, second = small.pages["How to play"]
    assert first.splitlines()[-1].strip() not in headings
    assert second.splitlines()[0].strip() in headings


def test_pages__no_second_one_for_a_few_rows(small: Print, wide: Print) -> None:
    for title in ("Bids", "Exchanges", "Compositions", "Standings", "Auction", "Collections"):
        assert len(small.pages[title]) == 1, title
    assert len(wide.pages["Standings"]) == len(wide.pages["Auction"]) == 1
    assert len(small.pages["Conditions"]) == 1  # and its chart is not cut in two


@pytest.mark.parametrize("stage", SHORT_NEWS)
def test_wide_entry_tabs__say_in_short_what_is_open(
    office: Office, tmp_path: Path, stage: Stage
) -> None:
    path = tmp_path / "game.xlsx"
    play(path, names(22), stage)
    with office.open(path) as doc:
        for tab, right in (("Bids", "D1"), ("Exchanges", "C1"), ("Compositions", "B1")):
            assert doc.text(tab, "A1") == SHORT_NEWS[stage]
            as_of, _, is_open = doc.text("Auction", "A2").partition(". ")
            assert doc.text(tab, right) == (f"{is_open}. {as_of}" if is_open else as_of)
        assert doc.errors() == []


# --- what the tabs ask for -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("widths", "frozen", "rows", "expected"),
    [
        # landscape, across, down
        ((50, 50), 0, 40, (False, 1, 0)),
        ((50, 50), 0, 54, (False, 1, 1)),  # 810 points on a page of 684
        ((50, 50), 0, 61, (False, 1, 0)),  # beyond a third of a second page
        ((50, 50), 0, 0, (False, 1, 0)),
        ((50, 51), 0, 30, (True, 1, 0)),
        ((50, 90), 0, 42, (True, 1, 1)),
        ((120, 120), 0, 40, (True, 1, 0)),  # so wide that all is small already
        ((40, 100, 101), 1, 40, (True, 2, 1)),
        ((40, *[10] * 40), 1, 54, (True, 2, 0)),
        ((40, *[10] * 41), 1, 54, (True, 3, 1)),
    ],
)  # fmt: skip
def test_printed(
    widths: tuple[int, ...], frozen: int, rows: int, expected: tuple[bool, int, int]
) -> None:
    looks = printed(Looks(widths=widths, frozen=(4, frozen)), rows)
    assert (looks.landscape, looks.across, looks.down) == expected
    assert beside(widths, frozen) == (frozen + 1 if looks.across > 1 else 1)


def test_printed__a_tab_is_set_up_alike_whatever_it_comes_to_hold(tmp_path: Path) -> None:
    """The page setup is written once, when a tab is made."""
    found = []
    for stage in (Stage.ROUND_1, Stage.FINISHED):
        path = tmp_path / f"{stage.name}.xlsx"
        play(path, names(12), stage)
        table = check(ExcelStore(path, clock=Clock()), context(Clock()))
        looks = {tab.title: tab.looks for tab in game_tabs(table)}
        found.append({t: (x.landscape, x.across, x.down, x.breaks) for t, x in looks.items()})
    assert found[0] == found[1]


def test_in_two__breaks_where_the_longer_page_is_shortest() -> None:
    looks = Looks(widths=(99,), heights={5: 400})
    found = in_two(looks, (2, 5, 8, 60), 80)
    assert found.breaks == (8,)  # 490 points above, and 73 rows of 15 below
    assert found.scale == 97 * PAGE_HEIGHT // (73 * 15)
    assert in_two(looks, (4,), 20).scale == 77  # a font a third wider has room
    assert 1 < STRAGGLERS < 1.5


def test_page_setup__is_written(tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    play(path, names(3), Stage.ROUND_1)
    package = Package(path)
    rules = package.parts["xl/worksheets/sheet1.xml"].decode()
    (row,) = host_tabs.how_to_play("Game", Rulings()).looks.breaks
    assert f'<brk id="{row - 1}" max="16383" man="1"/></rowBreaks>' in rules
    assert '<pageSetUpPr fitToPage="0"/>' in rules
    assert re.search(r'<pageSetup orientation="portrait" scale="\d\d"/>', rules)
    bids = package.parts["xl/worksheets/sheet4.xml"].decode()
    assert '<pageSetup orientation="portrait" fitToWidth="1" fitToHeight="1"/>' in bids
    assert "rowBreaks" not in bids


def test_header__no_empty_cell_is_filled_on_each_page(tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    play(path, names(3), Stage.ROUND_3)
    table = check(ExcelStore(path, clock=Clock()), context(Clock()))
    for tab in (*entry_tabs(names(3)), *game_tabs(table)):
        row = tab.looks.header
        assert row
        for column in range(1, len(tab.looks.widths) + 1):
            styles = [s.style for s in tab.looks.styles if (row, column) in s.area]
            if styles and styles[-1].fill == HEADER.fill:
                assert column <= len(tab.rows[row - 1]), tab.title
                assert tab.rows[row - 1][column - 1], (tab.title, column)


def test_stamps__are_found_on_every_report_of_a_wide_match(tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    play(path, names(MANY), Stage.ROUND_3)
    reading = check(ExcelStore(path, clock=Clock()), context(Clock())).reading
    stamps = {title: stamp_of(reading.book.grids[title]) for title in BOARD_TABS}
    record = reading.record
    assert stamps == dict.fromkeys(BOARD_TABS, (record.rows, record.seals[-1]))
