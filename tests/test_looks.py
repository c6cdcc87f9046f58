"""How the tabs look: one visual language that is read in every program, and does not pile up."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest

from sheets_host.game.auction import Outcome, Sale
from sheets_host.game.conditions import CONDITIONS, judge_all
from sheets_host.game.notes import ALL_NOTES
from sheets_host.game.rulings import ROUNDS, SWITCHES, Rulings
from sheets_host.game.scoring import Card
from sheets_host.game.stages import Stage
from sheets_host.grid import Area, Formula, Owner, Tab
from sheets_host.host import demo
from sheets_host.host.drawing import game_tabs
from sheets_host.host.outside import MARK
from sheets_host.host.publishing import announcement
from sheets_host.host.verbs import Wish, check, sync
from sheets_host.stores.excel import ExcelStore
from sheets_host.tabs import holdings, host_tabs, verdicts
from sheets_host.tabs.entry_tabs import BIDS_HEADER, entry_tabs
from sheets_host.tabs.layout import (
    HINTS,
    LINE_HEIGHT,
    TITLES,
    TOOL_HEADER,
    TOOL_TABS,
    lines_of,
)
from tests.google_rig import SHEET, Rig, rig_fixture
from tests.package import Package, local
from tests.played import Clock, begin, begin_in, context, names, play
from tests.playing import NOW, bid, close, compose, enrol, game, look
from tests.sealed_match import in_memory

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
                if head in ("Player", "Winner") and tab.title != "Players":
                    longest = max(map(len, SIZES[size]))
                    place = tab.looks.header or 0, column + 1
                    body = place[0] + 1, place[1]
                    style = [s.style for s in tab.looks.styles if body in s.area][-1]
                    assert style.wrap or tab.looks.widths[column] > longest, tab.title


def test_frozen_columns__leave_half_of_a_phone_to_scroll(drawn: Drawn) -> None:
    """A phone is 360 pixels wide; a digit takes 7, and a column's margin 5."""
    for tabs in drawn.values():
        for tab in tabs:
            if tab.title in TOOL_TABS:
                frozen = tab.looks.widths[: tab.looks.frozen[1]]
                assert sum(7 * width + 5 for width in frozen) <= 205, tab.title


def test_names__stand_on_the_left_whatever_their_script(drawn: Drawn) -> None:
    for tabs in drawn.values():
        for tab in tabs:
            if tab.title not in TOOL_TABS:
                continue
            for column, head in enumerate(tab.rows[TOOL_HEADER - 1], 1):
                if head in ("Player", "Winner", "Fulfilled by", "All bids", "Result", "Entry"):
                    for row in (TOOL_HEADER, TOOL_HEADER + 1):
                        style = [s.style for s in tab.looks.styles if (row, column) in s.area][-1]
                        assert style.align == "left", (tab.title, head)


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("", 10, 1), ("short", 10, 1), ("two words", 8, 2), ("exactly ten", 11, 1),
        ("one two three four", 9, 3), ("unbreakableword", 8, 2), ("a\nb", 10, 2),
        ("a word unbreakableword", 8, 3), (5, 1, 1), (None, 4, 1), (Formula("=1+1"), 4, 1),
        ("小林さくら", 10, 1), ("小林さくら", 9, 2), ("🎹 Zoë 🎵", 8, 2), ("Zoë", 4, 1),
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


@pytest.mark.parametrize("stage", [Stage.ROUND_3, Stage.FINISHED])
def test_balances__chart_of_many_shows_the_first_of_standings(tmp_path: Path, stage: Stage) -> None:
    path = tmp_path / "game.xlsx"
    play(path, names(15), stage)
    table = check(ExcelStore(path, clock=Clock()), context(Clock()))
    tabs = {tab.title: tab for tab in game_tabs(table)}
    (chart,) = tabs["Balances"].looks.charts
    assert len(chart.series) == 12
    assert chart.title == "Tokens left: the first 12 of Standings"
    shown = [tabs["Balances"].rows[4 + n][8] for n in range(15)]
    assert shown == [row[1] for row in tabs["Standings"].rows[4:]]
    if stage is Stage.FINISHED:
        assert shown != [*names(15)]


def test_charts__have_a_ground_type_and_an_axis_from_nought(tmp_path: Path) -> None:
    """A workbook without a theme has none to give; else the sheet's lines show through."""
    path = tmp_path / "game.xlsx"
    begin(path, names(3), Clock())
    package = Package(path)
    parts = [part for part in package.parts if part.startswith("xl/charts/")]
    assert len(parts) == 2
    for part in parts:
        chart = package.tree(part)

        def found(*steps: str, chart: ET.Element = chart) -> list[ET.Element]:
            return chart.findall("/".join((".", *(f"{{*}}{step}" for step in steps))))

        for ground in (found("spPr"), found("chart", "plotArea", "spPr")):
            assert [c.get("val") for c in ground[0].findall("{*}solidFill/{*}srgbClr")] == [
                "FFFFFF"
            ]
        (legend,) = found("chart", "legend")
        assert [x.get("val") for x in legend if local(x) in ("legendPos", "overlay")] == ["b", "0"]
        assert [x.get("val") for x in found("chart", "title", "overlay")] == ["0"]
        axis = found("chart", "plotArea", "valAx", "scaling", "min")
        assert [x.get("val") for x in axis] == ["0"]
        worded = [x for x in chart.iter() if local(x) in ("legend", "catAx", "valAx", "title")]
        assert len(worded) == 6
        for each in worded:
            sizes = {run.get("sz") for run in each.iter() if local(run) == "defRPr"}
            assert sizes <= {"900", "1300"}
            assert sizes


# --- what a tab says of itself --------------------------------------------------------------------


def test_hints__how_standings_and_conditions_are_read_stands_above_them(drawn: Drawn) -> None:
    def hint(size: str, stage: Stage, title: str) -> str:
        tab = next(tab for tab in drawn[size, stage] if tab.title == title)
        assert tab.rows[2][0] or tab.rows[2][1] or tab.rows[2][2]  # the stamp is there, too
        assert len(tab.rows) == TOOL_HEADER + (12 if title == "Conditions" else len(SIZES[size]))
        return str(tab.rows[2][HINTS - 1]) if len(tab.rows[2]) >= HINTS else ""

    assert hint("three", Stage.ROUND_1, "Standings") == ""  # nothing is projected yet
    assert "order is by Projected" in hint("three", Stage.ROUND_3, "Standings")
    assert hint("twelve", Stage.FINISHED, "Standings").startswith("Best possible: ")
    assert hint("three", Stage.ROUND_1, "Conditions") == ""
    assert hint("three", Stage.ROUND_3, "Conditions").startswith("sure: ")
    assert hint("twelve", Stage.FINISHED, "Conditions") == ""


def test_entry_sheet__says_what_the_mark_on_checks_is() -> None:
    match = in_memory("Ann", "Bob")
    match.begin()
    grid = match.sheets["Ann"].read(("Checks",)).grids["Checks"]
    row, column = MARK
    assert grid.at(row, column).text.startswith("Game ")
    assert "please leave it" in grid.at(row, column + 1).text


def test_all_bids__a_number_stays_beside_a_name_that_reads_leftwards() -> None:
    bids = {"علي": 12, "Ann": 9, "דנה": 3}
    outcome = Outcome(1, ALL_NOTES[0], Sale.WON, "علي", 12, bids)
    assert holdings.all_bids(outcome) == "\u2068علي\u2069: 12, Ann: 9, \u2068דנה\u2069: 3"


def test_breakdown__says_why_there_is_no_composition() -> None:
    store = game("Ann", "Bob", "Eve", "Zed", "Gil", "Kim")
    for round_, name, lots in ((1, "Ann", 5), (2, "Bob", 5), (3, "Zed", 1), (4, "Kim", 5)):
        bid(store, name, round_, dict.fromkeys(range(1, lots + 1), 1))
    for round_ in range(1, ROUNDS + 1):
        close(store, round_)
    held = look(store).ledger
    compose(store, "Ann", [*held.notes("Ann")[:4], "D# third"])
    compose(store, "Kim", held.notes("Kim"))
    enrol(store, "Gil", "Status", "withdrawn")
    done = close(store, "final", void=True)
    tab = next(tab for tab in game_tabs(done.after) if tab.title == "Breakdown")
    why: dict[object, set[object]] = {}
    for row in tab.rows[TOOL_HEADER:]:
        why.setdefault(row[0], set()).add(row[4])
    struck = "struck out at closing: the composition could not be read as all notes won, each once"
    assert len(why.pop("Kim")) == len(CONDITIONS)
    assert why == {
        "Ann": {struck},
        "Bob": {"no composition was handed in"},
        "Eve": {"won no notes"},
        "Zed": {"no composition was handed in"},
        "Gil": {"withdrawn: no composition counts"},
    }
    said = announcement(done.after, None, NOW, markdown=False)
    assert f"Ann: 0 points ({struck})" in said
    assert "Eve: 0 points (won no notes)" in said
    assert "Gil: 0 points, withdrawn\n" in said
    assert "Kim: 0 points (" not in said


def test_breakdown__one_note_alone_needs_no_remark_twice() -> None:
    card = Card(
        "Ann",
        ALL_NOTES[:1],
        False,
        judge_all(ALL_NOTES[:1], 1, Rulings()),
        (0,) * len(CONDITIONS),
        ALL_NOTES[:1],
        False,
    )
    rows = verdicts.explained(card, "")
    assert rows[2][3:5] == ["no", "C whole is the only note; fewer than 5 notes do not count"]
    shared = verdicts.explained(replace(card, counts=True), "")
    assert shared[2][3:5] == ["yes", "C whole is the only note; fewer than 5 notes score nothing"]


def test_rules__each_switch_is_said_in_a_sentence_that_names_it_and_its_value() -> None:
    for switch in SWITCHES:
        told = set()
        for value in switch.values:
            tab = host_tabs.how_to_play("Game", Rulings.of({switch.name: value}))
            (line,) = [str(row[1]) for row in tab.rows if f"({switch.name}: " in str(row[1:2])]
            assert line.endswith(f". ({switch.name}: {value})")
            told.add(line)
        assert len(told) == len(switch.values)
    assert "hold / void" not in str(host_tabs.settings({}).rows)


def test_rules__headings_have_room_for_their_type() -> None:
    tab = host_tabs.how_to_play("Game", Rulings())
    for row, line in enumerate(tab.rows[1:], 2):
        if len(line) == 1:
            (size,) = {s.style.size for s in tab.looks.styles if (row, 1) in s.area}
            assert tab.looks.heights[row] >= 1.5 * (size or 0)


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
    AND ASC COUNTA COUNTIF COUNTIFS FIND IF IFERROR INDEX INT ISERROR ISLOGICAL ISNUMBER ISTEXT LEFT LEN
    LOWER MATCH MID MIN MOD NOT NOW OR REPT ROUND ROW SEARCH SUM SUMIF SUMIFS SUMPRODUCT TEXT TRIM
    VALUE
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
    assert ">Bids!$A:$C,Bids!$6:$6</definedName>" in workbook
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
