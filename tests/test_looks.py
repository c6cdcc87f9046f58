"""How the tabs look: one visual language that is read in every program, and does not pile up."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sheets_host.game.rulings import ROUNDS, Rulings
from sheets_host.game.stages import Stage
from sheets_host.grid import Area, Formula, Owner, Tab
from sheets_host.host import demo
from sheets_host.host.drawing import game_tabs
from sheets_host.host.verbs import Wish, check, sync
from sheets_host.stores.excel import ExcelStore
from sheets_host.tabs import host_tabs
from sheets_host.tabs.entry_tabs import BIDS_HEADER, entry_tabs
from sheets_host.tabs.layout import (
    LINE_HEIGHT,
    TITLES,
    TOOL_HEADER,
    TOOL_TABS,
    lines_of,
)
from tests.google_rig import SHEET, Rig, rig_fixture
from tests.package import Package
from tests.played import Clock, begin, begin_in, context, names, play

__all__ = ["rig_fixture"]
LONG = ("Ann", "A name of fully forty characters, no less", "Maximiliane-Wilhelmine-Friederike")
SIZES = {"three": names(3), "twelve": names(12), "long": LONG, "one": ("Solo",)}


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, Stage], tuple[Tab, ...]]:
    """All fifteen tabs by the players and the stage."""
    found = {}
    for size, players in SIZES.items():
        for stage in (Stage.ROUND_1, Stage.ROUND_3, Stage.FINISHED):
            if stage is Stage.ROUND_3 and size != "three":
                continue
            path = tmp_path_factory.mktemp("looks") / "game.xlsx"
            play(path, players, stage)
            table = check(ExcelStore(path, clock=Clock()), context(Clock()))
            roster = [[name, None] for name in players]
            host = (
                host_tabs.how_to_play("Game", Rulings()),
                host_tabs.settings({}),
                host_tabs.players(roster),
            )
            found[size, stage] = (*host, *entry_tabs(players), *game_tabs(table))
    return found


Drawn = dict[tuple[str, Stage], tuple[Tab, ...]]


def test_every_tab__has_its_looks(drawn: Drawn) -> None:
    for tabs in drawn.values():
        assert [tab.title for tab in tabs] == [*TITLES]
        assert len({tab.looks.colour for tab in tabs}) == 3  # one for each owner
        for tab in tabs:
            looks = tab.looks
            assert looks.locked == (tab.owner is Owner.TOOL)
            assert looks.header or tab.title == "How to play"
            if looks.header:
                assert looks.frozen[0] == looks.header
            assert len(looks.widths) >= tab.size[1]


def test_tool_tabs__title_and_as_of_above_the_header(drawn: Drawn) -> None:
    for (_, stage), tabs in drawn.items():
        for tab in tabs:
            if tab.title in TOOL_TABS:
                words = {Stage.ROUND_1: "Round 1 is open", Stage.FINISHED: "finished"}
                assert words.get(stage, "As of round 2, closed") in str(tab.rows[1][0])
                assert str(tab.rows[2][0]).startswith("Record: ")
                assert tab.looks.header == TOOL_HEADER


def test_wrapped_texts__have_room(drawn: Drawn) -> None:
    """Where a text takes several lines, its row is high enough, whatever program opens it."""
    seen = 0
    for tabs in drawn.values():
        for tab in tabs:
            for row, line in enumerate(tab.rows, 1):
                for column, content in enumerate(line, 1):
                    styles = [s.style for s in tab.looks.styles if (row, column) in s.area]
                    if not (isinstance(content, str) and styles and styles[-1].wrap):
                        continue
                    lines = lines_of(content, tab.looks.widths[column - 1])
                    height = tab.looks.heights.get(row, LINE_HEIGHT)
                    assert height >= min(405, LINE_HEIGHT * lines), (tab.title, row, content)
                    seen += lines > 1
    assert seen > 50


def test_names__fit_their_columns(drawn: Drawn) -> None:
    """A name that stands one a row is never cut off; one that heads a column is wrapped."""
    for (size, _), tabs in drawn.items():
        for tab in tabs:
            header = tab.rows[tab.looks.header - 1] if tab.looks.header else ()
            for column, head in enumerate(header):
                if head in ("Player", "Winner") and tab.title not in (
                    "Players",
                    "Checks",
                    "Record",
                ):
                    longest = max(map(len, SIZES[size]))
                    assert tab.looks.widths[column] > longest, tab.title


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("", 10, 1), ("short", 10, 1), ("two words", 8, 2), ("exactly ten", 11, 1),
        ("one two three four", 9, 3), ("unbreakableword", 8, 2), ("a\nb", 10, 2),
        ("a word unbreakableword", 8, 3), (5, 1, 1), (None, 4, 1), (Formula("=1+1"), 4, 1),
    ],
)  # fmt: skip
def test_lines_of(text: object, width: int, lines: int) -> None:
    assert lines_of(text, width) == lines  # type: ignore[arg-type]


def test_charts__refer_to_what_stands_there_from_the_first_version_on(drawn: Drawn) -> None:
    for (size, _), tabs in drawn.items():
        by_title = {tab.title: tab for tab in tabs}
        balances, conditions = by_title["Balances"], by_title["Conditions"]
        (tokens,), (points,) = balances.looks.charts, conditions.looks.charts
        first = next(tabs_ for (s, stage), tabs_ in drawn.items() if s == size)
        assert tokens == next(t for t in first if t.title == "Balances").looks.charts[0]
        assert [content for content in balances.rows[3] if content] == [
            "Round", "Player", "Start", "Exchanged", "Bid", "Left",
        ]  # fmt: skip
        assert balances.rows[2][8] == "Tokens left after"
        assert cells(balances, tokens.categories) == ["start", *(f"R{r}" for r in range(1, 7))]
        assert len(tokens.series) == len(SIZES[size])
        if len(balances.rows) == 4:  # no round is closed: there are no figures yet
            continue
        shown = [at(balances, *series.name) for series in tokens.series]
        assert shown == [*SIZES[size]]
        for series in tokens.series:
            values = cells(balances, series.values)
            assert values[0] == 500
            assert len(values) == ROUNDS + 1
        assert [at(conditions, *series.name) for series in points.series] == ["Worth", "Each"]
        assert cells(conditions, points.categories) == [*range(1, 13)]


def test_balances__history_is_what_the_rows_say(drawn: Drawn) -> None:
    for (size, _), tabs in drawn.items():
        tab = next(tab for tab in tabs if tab.title == "Balances")
        left = {(row[1], row[0]): row[5] for row in tab.rows[4:] if row[0]}
        assert len(tab.rows) == 4 or len(tab.rows) >= 4 + len(SIZES[size])
        for row in tab.rows[4 : 4 + len(SIZES[size])]:
            history = [left.get((row[8], r)) for r in range(1, ROUNDS + 1)]
            assert [*row[10:17]][:ROUNDS] == history


def test_balances__chart_of_many_shows_those_who_hold_most(tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    play(path, names(15), Stage.ROUND_3)
    table = check(ExcelStore(path, clock=Clock()), context(Clock()))
    tab = next(tab for tab in game_tabs(table) if tab.title == "Balances")
    (chart,) = tab.looks.charts
    assert len(chart.series) == 12
    held = [tab.rows[4 + n][11] for n in range(15)]
    assert held == sorted(held, key=lambda tokens: -int(str(tokens)))


def at(tab: Tab, row: int, column: int) -> object:
    line = tab.rows[row - 1]
    return line[column - 1] if column <= len(line) else None


def cells(tab: Tab, area: Area) -> list[object]:
    return [
        at(tab, row, column)
        for row in range(area.top, area.bottom + 1)
        for column in range(area.left, area.right + 1)
    ]


FUNCTIONS = """
    AND ASC COUNTA COUNTIF FIND IF IFERROR INDEX INT ISERROR ISLOGICAL ISNUMBER ISTEXT LEFT LEN
    LOWER MID MIN MOD NOT NOW OR REPT ROUND ROW SEARCH SUM SUMIF SUMPRODUCT TEXT TRIM VALUE
"""


def test_formulas__only_functions_that_all_programs_have(drawn: Drawn) -> None:
    allowed = set(FUNCTIONS.split())
    tabs = (*drawn["three", Stage.ROUND_3], *entry_tabs(names(40)))  # wide ones say more
    formulas = [c.text for tab in tabs for row in tab.rows for c in row if isinstance(c, Formula)]
    formulas += [rule.formula for tab in tabs for rule in tab.looks.rules]
    used = {name for text in formulas for name in re.findall(r"([A-Z]+)\(", text)}
    assert used <= allowed
    for text in formulas:
        if "Auction!" in text or "Collections!" in text:
            assert "NOW()" in text, text
        assert not set(re.findall(r"(\w+)!", text)) - {"Auction", "Collections", "Exchanges"}
        assert not re.search(r"[{}]", text), "no array constant stands in a conditional format"


def luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.2."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_colours__text_is_read_with_ease(drawn: Drawn) -> None:
    """Every ink on every fill it stands on has a contrast of 4.5 to 1 at least (WCAG 2.2, AA)."""
    pairs = set()
    for tab in drawn["three", Stage.FINISHED]:
        for styled in tab.looks.styles:
            pairs.add((styled.style.ink or "000000", styled.style.fill or "FFFFFF"))
        inks = {s.style.ink or "000000" for s in tab.looks.styles if not s.style.fill}
        for rule in tab.looks.rules:
            under = {rule.style.ink} if rule.style.ink else inks
            pairs |= {(ink, rule.style.fill or "FFFFFF") for ink in under if ink}
    faint = []
    for ink, fill in pairs:
        low, high = sorted((luminance(ink), luminance(fill)))
        contrast = (high + 0.05) / (low + 0.05)
        if contrast < 4.5:
            faint.append((ink, fill, round(contrast, 2)))
    assert faint == []


def test_print__wide_tabs_stand_on_several_pages_with_their_first_columns(tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    begin(path, names(40), Clock())
    package = Package(path)
    workbook = package.parts["xl/workbook.xml"].decode()
    assert ">Bids!$A:$D,Bids!$6:$6</definedName>" in workbook
    assert ">Standings!$4:$4</definedName>" in workbook
    number = 1 + TITLES.index("Bids")
    assert b'fitToWidth="3"' in package.parts[f"xl/worksheets/sheet{number}.xml"]


# --- formats do not pile up ----------------------------------------------------------------------


def styles_of(path: Path) -> dict[str, int]:
    tree = Package(path).tree("xl/styles.xml")
    return {child.tag.rpartition("}")[2]: len(child) for child in tree}


def test_fifty_syncs__file_and_formats_stay_as_large(tmp_path: Path) -> None:
    path, clock = tmp_path / "game.xlsx", Clock()
    store = begin(path, names(3), clock)
    seen = set()
    for turn in range(50):
        entry = 10 + turn % 2
        demo.type_in(store, names(3), {("Bids", BIDS_HEADER + 1, 5): entry})
        done = sync(store, Wish(), context(clock))
        assert ("Checks" in {title for _, title, _ in done.written}) is True
        if turn > 1:
            seen.add(
                (turn % 2, path.stat().st_size, str(styles_of(path)), len(Package(path).parts))
            )
    assert len(seen) == 2


def test_sync_of_an_unchanged_game__writes_nothing(tmp_path: Path) -> None:
    for stage in (Stage.ROUND_1, Stage.ROUND_4, Stage.COMPOSING, Stage.FINISHED):
        path = tmp_path / f"{int(stage)}.xlsx"
        play(path, names(4), stage)
        before = path.read_bytes()
        store = ExcelStore(path, clock=Clock())
        assert sync(store, Wish(), context(Clock())).written == ()
        assert path.read_bytes() == before


def test_google__rules_charts_and_bars_are_there_once(rig: Rig) -> None:
    clock, store = Clock(), rig.store
    begin_in(store, names(3), clock)
    for turn in range(4):
        demo.type_in(store, names(3), {("Bids", BIDS_HEADER + 1, 5): 10 + turn})
        stage = Stage(turn) if turn else None
        sync(store, Wish(close=stage), context(clock))
        table = check(store, context(clock))
        for tab in (*entry_tabs(names(3)), *game_tabs(table)):
            sheet, looks = rig.google.tab(SHEET, tab.title), tab.looks
            assert len(sheet.rules) == len(looks.rules) + len(looks.bars), (turn, tab.title)
            assert len(sheet.charts) == len(looks.charts), (turn, tab.title)
