"""What people do to a game's tabs: each fault is named with its place, and nothing is changed.

Every case does to a real workbook what a person would do in a spreadsheet program, and runs the
command on it. Faults of the tabs end in exit code 3, faults of what the host typed in 1.
"""

from __future__ import annotations

import datetime as dt
import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from sheets_host.tabs.entry_tabs import BIDS_HEADER, COMPOSITIONS_HEADER, EXCHANGES_HEADER
from sheets_host.tabs.layout import ENTRY_TABS, TITLES, TOOL_TABS
from tests.command import here
from tests.workbook import (
    NOTHING,
    Content,
    Workbook,
    boolean,
    error,
    formula,
    moved_rows,
    number,
    opened,
    text,
)

Deed = Callable[[Path], None]
"""What a person does to a workbook."""

B, X, P = BIDS_HEADER, EXCHANGES_HEADER, COMPOSITIONS_HEADER
"""The header rows of Bids, Exchanges and Compositions, as `new` makes them."""

SEED: Final = "seed"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A match in round 1 of Ann, Bob and Eve; Ann bids 12 on lot 1 and changes one garnet."""
    path = tmp_path_factory.mktemp("structure") / "game.xlsx"
    players = ("--player", "Ann:3", "--player", "Bob", "--player", "Eve")
    assert here("new", path, *players, "--seed", SEED).code == 0
    book = Workbook(path)
    book.put("Bids", f"E{B + 1}", number(12))
    book.put("Exchanges", f"C{X + 1}", number(1))
    book.save()
    return path.read_bytes()


def in_program(change: Callable[[Any], None]) -> Deed:
    """Do to the workbook as it lies open in openpyxl, for all that moves cells and tabs."""

    @functools.wraps(change)
    def deed(path: Path) -> None:
        with opened(path) as book:
            change(book)

    return deed


def typed(value: object) -> Content:
    """What a spreadsheet program stores of something typed."""
    match value:
        case None:
            return NOTHING
        case bool():
            return boolean(value)
        case int() | float():
            return number(value)
        case dt.date():
            return number((value - dt.date(1899, 12, 30)).days, 14)
        case str() if value.startswith("#"):
            return error(value)
        case str() if value.startswith("="):
            return formula(value[1:])
    return text(str(value))


@dataclass(frozen=True, slots=True)
class Fault:
    """A deed that makes the tabs unreadable. says: what the message must name."""

    id: str
    deed: Deed
    says: tuple[str, ...]


def fault(id_: str, deed: Deed, *says: str) -> Fault:
    return Fault(id_, deed, says)


def at(tab: str, cell: str, value: object) -> Deed:
    """Type a value over a cell."""
    return several((tab, cell, value))


def several(*changes: tuple[str, str, object]) -> Deed:
    """Type values over cells."""

    def deed(path: Path) -> None:
        book = Workbook(path)
        for tab, cell, value in changes:
            book.put(tab, cell, typed(value))
        book.save()

    return deed


def renamed(tab: str, title: str) -> Deed:
    def change(book: Any) -> None:
        book[tab].title = "in between"  # openpyxl takes no title that differs in case only
        book["in between"].title = title

    return in_program(change)


def copied(tab: str, title: str) -> Deed:
    def change(book: Any) -> None:
        book.copy_worksheet(book[tab]).title = title

    return in_program(change)


def deleted(tab: str) -> Deed:
    def change(book: Any) -> None:
        book.remove(book[tab])

    return in_program(change)


def as_table(tab: str, area: str) -> Deed:
    def change(book: Any) -> None:
        from openpyxl.worksheet.table import Table

        book[tab].add_table(Table(displayName="Table1", ref=area))

    return in_program(change)


def row_deleted(tab: str, row: int) -> Deed:
    def change(book: Any) -> None:
        book[tab].delete_rows(row)

    return in_program(change)


TAB_FAULTS: Final = (
    *(
        fault(f"{tab} deleted", deleted(tab), tab, f'the tab "{tab}" is missing', "there are: ")
        for tab in TITLES
        if tab != "How to play"
    ),
    *(
        fault(
            f"Bids renamed {title}",
            renamed("Bids", title),
            'the tab "Bids" is missing',
            f'the nearest is "{title.strip()}"',
            'rename the tab back to "Bids"',
        )
        for title in (
            *("Bid", "bids", "Bids ", "Bids old", "Bids (2)", "Copy of Bids", "Bibs"),
            "Bids - Table 1",
        )
    ),
    fault("Bids renamed to a word of its own", renamed("Bids", "Gebote"), '"Gebote"'),
    fault("Settings renamed in capitals", renamed("Settings", "SETTINGS"), 'nearest is "SETTINGS"'),
    *(
        fault(
            f"copied as {title}",
            copied(tab, title),
            f'two tabs claim to be "{tab}"',
            f'"{title}"',
            "delete or rename the one that does not count",
        )
        for tab, title in (
            ("Bids", "Bids (2)"),
            ("Bids", "Bids (3)"),
            ("Bids", "Copy of Bids"),
            ("Bids", "Kopie von Bids"),
            ("Bids", "Copia de Bids"),
            ("Bids", "Copie de Bids"),
            ("Bids", "Bids – Kopie"),
            ("Bids", "Bids のコピー"),
            ("Bids", "Bids的副本"),
            ("Bids", "สำเนาของ Bids"),
            ("Bids", "Copy of Copy of Bids"),
            ("Bids", "Copy of Bids 1"),
            ("Bids", "Bids (2) (2)"),
            ("Bids", "Bids.1"),
            ("Bids", "Bids_2"),
            ("Compositions", "Compositions (2)"),
            ("Players", "Players (2)"),
            ("Record", "Record (2)"),
        )
    ),
    fault(
        "Bids a table", as_table("Bids", f"A{B}:G{B + 48}"), "Bids", "Table1", "Convert to Range"
    ),
    fault("Players a table", as_table("Players", "A1:F4"), "Players", "Table1"),
    fault("Record's header renamed", at("Record", "B4", "Atx"), "Record!B4", '"At"', '"Atx"'),
)

HEADER_FAULTS: Final = (
    fault("Lot cleared", at("Bids", f"B{B}", None), f"Bids!A{B}", f'"Lot" is missing from row {B}'),
    fault(
        "Lot renamed",
        at("Bids", f"B{B}", "Lots"),
        f"Bids!B{B}",
        '"Lot" is missing',
        '"Lots"',
        f"B{B}",
    ),
    fault(
        "Round renamed", at("Bids", f"A{B}", "Runde"), f"Bids!A{B}", '"Round" is missing', '"Runde"'
    ),
    fault("State cleared", at("Bids", f"D{B}", None), '"State" is missing'),
    fault("Lot twice", at("Bids", f"J{B}", "Lot"), f"Bids!J{B}", '"Lot" stands twice', f"B{B}"),
    fault("Lot twice, in capitals", at("Bids", f"J{B}", "LOT"), f"Bids!J{B}", '"Lot" stands twice'),
    fault("header row deleted", row_deleted("Bids", B), "Bids", "header row is missing", "Round"),
    fault("Round of Exchanges", at("Exchanges", f"A{X}", "Rnd"), f"Exchanges!A{X}", '"Rnd"'),
    fault("Position cleared", at("Compositions", f"A{P}", None), "Compositions", "Position"),
    fault("Value of Settings", at("Settings", "B1", "Values"), "Settings!B1", '"Values"'),
    fault("Setting twice", at("Settings", "D1", "Setting"), "Settings!D1", "A1"),
    fault("Player of Players", at("Players", "A1", "Who"), "Players", '"Player"'),
    fault("Garnets misspelt", at("Players", "B1", "Garnet"), "Players!B1", '"Garnets"', '"Garnet"'),
    fault(
        "Garnets twice",
        at("Players", "G1", "Garnets"),
        "Players!G1",
        '"Garnets" stands twice, also in B1',
    ),
    fault("Seal of the Record", at("Record", "H4", None), "Record!A4", '"Seal"'),
)

COLUMN_FAULTS: Final = (
    fault("misspelt", at("Bids", f"E{B}", "Anne"), f"Bids!E{B}", '"Anne" heads a column', '"Ann"'),
    fault("misspelt, seen from Players", at("Bids", f"E{B}", "Anne"), 'headed "Ann"', '"Anne"'),
    fault(
        "cleared", at("Exchanges", f"C{X}", None), f"Exchanges!A{X}", 'no column is headed "Ann"'
    ),
    fault(
        "unknown", at("Bids", f"J{B}", "Zed"), f"Bids!J{B}", '"Zed" heads a column', "in Players"
    ),
    fault(
        "a heading of the host's", at("Bids", f"J{B}", "Remarks"), f"Bids!J{B}", "clear the header"
    ),
    fault(
        "twice", at("Compositions", f"J{P}", "Ann"), f"Compositions!J{P}", '"Ann" heads two columns'
    ),
    fault(
        "twice, in capitals", at("Bids", f"J{B}", "ANN"), f"Bids!J{B}", '"ANN" heads two columns'
    ),
    fault(
        "a new player without a column", at("Players", "A5", "Zoë"), "Bids", 'headed "Zoë"', "copy"
    ),
)

KEY_FAULTS: Final = (
    fault(
        "a word",
        at("Bids", f"A{B + 1}", "one"),
        f"Bids!A{B + 1}",
        f"row {B + 1} is headed Round one, Lot 1",
    ),
    fault(
        "half a key",
        at("Bids", f"B{B + 1}", None),
        f"Bids!A{B + 1}",
        f"row {B + 1} is headed Round 1, Lot blank",
    ),
    fault(
        "round 7",
        at("Bids", f"A{B + 1}", 7),
        f"Bids!A{B + 1}",
        f"row {B + 1} is headed Round 7, Lot 1",
    ),
    fault(
        "a fraction",
        at("Bids", f"B{B + 1}", 1.5),
        f"Bids!A{B + 1}",
        f"row {B + 1} is headed Round 1, Lot 1.5",
    ),
    fault("a date", at("Bids", f"B{B + 1}", dt.date(2026, 1, 2)), f"Bids!A{B + 1}", "2 Jan 2026"),
    fault("an error", at("Bids", f"B{B + 1}", "#REF!"), f"Bids!A{B + 1}", "#REF!"),
    fault(
        "twice",
        at("Bids", f"B{B + 2}", 1),
        f"Bids!A{B + 2}",
        f"rows {B + 1} and {B + 2} are both headed Round 1, Lot 1",
    ),
    fault(
        "twice leaves one out", at("Bids", f"B{B + 2}", 1), "the row of Round 1, Lot 2 is missing"
    ),
    fault("row deleted", row_deleted("Bids", B + 1), "the row of Round 1, Lot 1 is missing"),
    fault("row of Exchanges deleted", row_deleted("Exchanges", X + 3), "row of Round 3 is missing"),
    fault(
        "position twice",
        at("Compositions", f"A{P + 2}", 1),
        f"Compositions!A{P + 2}",
        f"rows {P + 1} and {P + 2}",
    ),
    fault("position cleared", at("Compositions", f"A{P + 1}", None), "Position 1 is missing"),
    fault(
        "a sum below",
        at("Bids", f"A{B + 55}", "Total"),
        f"Bids!A{B + 55}",
        f"row {B + 55} is headed Round Total, Lot blank",
    ),
)

PLAYER_FAULTS: Final = (
    fault("same name", at("Players", "A5", "Ann"), "Players!A5", '"Ann" stands twice', "A2"),
    fault("case apart", at("Players", "A5", "aNN"), "Players!A5", '"aNN" stands twice', "capital"),
    fault("full width apart", at("Players", "A5", "Ａｎｎ"), "Players!A5"),
    *(
        fault(
            f"called {word}", at("Players", "A2", word), "Players!A2", f'"{word}"', "column title"
        )
        for word in ("Round", "LOT", " note ".strip(), "State", "position")
    ),
    fault("too long", at("Players", "A2", "x" * 101), "Players!A2", "longer than 100"),
    fault("an error", at("Players", "A2", "#N/A"), "Players!A2", "#N/A"),
    fault("yes-or-no", at("Players", "A2", True), "Players!A2", "TRUE"),
    fault("a date", at("Players", "A2", dt.date(2026, 5, 1)), "Players!A2", "1 May 2026"),
    fault("a formula without a value", at("Players", "A2", "=B2"), "Players!A2", "=B2"),
    fault("former name in play", at("Players", "F2", "Bob"), "Players!F2", '"Bob"', "row 3"),
)

ALL_FAULTS: Final = (
    *((f"tab: {f.id}", f) for f in TAB_FAULTS),
    *((f"header: {f.id}", f) for f in HEADER_FAULTS),
    *((f"column: {f.id}", f) for f in COLUMN_FAULTS),
    *((f"key: {f.id}", f) for f in KEY_FAULTS),
    *((f"player: {f.id}", f) for f in PLAYER_FAULTS),
)


@pytest.mark.parametrize("case", [f for _, f in ALL_FAULTS], ids=[i for i, _ in ALL_FAULTS])
def test_fault__is_named_and_nothing_is_changed(case: Fault, game: Path) -> None:
    case.deed(game)
    before = game.read_bytes()
    done = here("sync", game, "--close", "1", "--void")
    assert done.code == 3
    for part in case.says:
        assert part in done.said
    assert "Nothing was changed" in done.said
    assert "->" in done.err
    assert done.out == ""
    assert game.read_bytes() == before
    assert list(game.parent.iterdir()) == [game]
    assert here("check", game).code == 3


def test_faults__all_at_once(game: Path) -> None:
    several(
        ("Bids", f"E{B}", "Anne"),
        ("Bids", f"A{B + 1}", "one"),
        ("Exchanges", f"C{X}", None),
        ("Compositions", f"A{P + 2}", 1),
    )(game)
    said = here("check", game).said
    for place in (f"Bids!E{B}", f"Bids!A{B + 1}", f"Exchanges!A{X}", f"Compositions!A{P + 2}"):
        assert place in said


def test_faults_of_tabs__all_at_once(game: Path) -> None:
    def deed(book: Any) -> None:
        book["Bids"].title = "Bid"
        del book["Standings"]
        book.copy_worksheet(book["Players"]).title = "Players (2)"

    in_program(deed)(game)
    said = here("check", game).said
    for words in ('"Bids" is missing', '"Standings" is missing', 'claim to be "Players"'):
        assert words in said


def test_tool_tab_deleted__an_empty_one_is_filled(game: Path) -> None:
    """The hint for a report that is gone: it needs no backup."""
    deleted("Standings")(game)
    assert "add an empty tab" in here("sync", game).said

    in_program(lambda book: book.create_sheet("Standings"))(game)
    assert here("sync", game).code == 0
    with opened(game) as book:
        assert book["Standings"]["B5"].value == "Ann"


# --- what harms nothing ------------------------------------------------------------------------


def in_hiding(state: str) -> Deed:
    def change(book: Any) -> None:
        for title in ("Bids", "Record"):
            book[title].sheet_state = state

    return in_program(change)


@in_program
def sorted_downwards(book: Any) -> None:
    for tab, first, last in (
        ("Bids", B + 1, B + 48),
        ("Exchanges", X + 1, X + 6),
        ("Compositions", P + 1, P + 48),
    ):
        moved_rows(book[tab], {row: first + last - row for row in range(first, last + 1)})


@in_program
def inserted_rows(book: Any) -> None:
    book["Bids"].insert_rows(3, 2)
    book["Bids"].insert_rows(B + 5)
    book["Exchanges"].insert_rows(1)


@in_program
def inserted_columns(book: Any) -> None:
    book["Bids"].insert_cols(1)
    book["Bids"].insert_cols(4, 2)
    book["Bids"][f"D{B + 15}"].value = "not headed, so nobody's"
    book["Exchanges"].insert_cols(2)


@in_program
def other_order(book: Any) -> None:
    """Swap the columns of Ann and Bob, as dragging them does."""
    for tab, left, right in (("Bids", 5, 6), ("Exchanges", 3, 4), ("Compositions", 2, 3)):
        for row in range(1, 60):
            ours, theirs = book[tab].cell(row, left), book[tab].cell(row, right)
            ours.value, theirs.value = theirs.value, ours.value


@in_program
def other_case(book: Any) -> None:
    book["Bids"][f"A{B}"].value = " ROUND "
    book["Bids"][f"E{B}"].value = "ann"
    book["Exchanges"][f"C{X}"].value = "ANN\u200b"
    book["Players"]["A1"].value = "PLAYER"
    book["Settings"]["A2"].value = "game"


@in_program
def keys_as_text(book: Any) -> None:
    for row in range(B + 1, B + 49):
        for column in (1, 2):
            cell = book["Bids"].cell(row, column)
            cell.value = f"{cell.value} "


@in_program
def beside_the_table(book: Any) -> None:
    book["Bids"]["M3"].value = "Lunch at noon"
    book["Bids"]["M20"].value = 7
    book["Settings"]["E9"].value = "ask Bob"
    book["Players"]["H2"].value = "brings cake"


@in_program
def blank_rows_between(book: Any) -> None:
    book["Players"].insert_rows(3)
    book["Settings"].insert_rows(5, 3)


@in_program
def tabs_in_other_order(book: Any) -> None:
    book._sheets.reverse()
    book.create_sheet("Notes of mine", 3)


HARMLESS: Final[tuple[tuple[Deed, tuple[str, ...]], ...]] = (
    (in_hiding("hidden"), ("hidden-tab", "hidden-tab")),
    (in_hiding("veryHidden"), ("hidden-tab", "hidden-tab")),
    (deleted("How to play"), ()),
    (sorted_downwards, ()),
    (inserted_rows, ()),
    (inserted_columns, ()),
    (other_order, ()),
    (other_case, ()),
    (keys_as_text, ()),
    (beside_the_table, ()),
    (blank_rows_between, ()),
    (tabs_in_other_order, ()),
)


@pytest.mark.parametrize(
    ("deed", "codes"), HARMLESS, ids=lambda v: getattr(v, "__name__", "") or " "
)
def test_harmless__the_same_entries_are_read(
    deed: Deed, codes: tuple[str, ...], game: Path
) -> None:
    deed(game)
    before = game.read_bytes()
    done = here("check", game, "--json")
    assert done.code == 0
    assert [p["code"] for p in done.json["problems"]] == list(codes)
    assert game.read_bytes() == before
    assert here("sync", game, "--close", "1").code == 0
    balances = {b["player"]: b for b in here("check", game, "--json").json["balances"]}
    assert (balances["Ann"]["exchanged"], balances["Ann"]["bid"]) == (10, 12)
    assert (balances["Bob"]["exchanged"], balances["Bob"]["bid"]) == (0, 0)


def test_player_removed_before_the_first_closing__has_no_say(game: Path) -> None:
    at("Players", "A4", None)(game)
    assert [p["name"] for p in here("check", game, "--json").json["players"]] == ["Ann", "Bob"]


def test_player_added_with_a_column__plays(game: Path) -> None:
    def deed(book: Any) -> None:
        book["Players"]["A5"].value = "Zoë"
        for tab, cell in (("Bids", f"H{B}"), ("Exchanges", f"F{X}"), ("Compositions", f"E{P}")):
            book[tab][cell].value = "Zoë"
        book["Bids"][f"H{B + 1}"].value = 20

    in_program(deed)(game)
    assert here("sync", game, "--close", "1").code == 0
    assert here("check", game, "--json").json["auction"][0]["winner"] == "Zoë"


def test_player_added_after_the_first_closing__is_refused(game: Path) -> None:
    assert here("sync", game, "--close", "1").code == 0
    at("Players", "A5", "Zoë")(game)
    found = here("check", game, "--json")
    assert found.code == 1
    assert [(p["code"], p["tab"], p["cell"]) for p in found.json["problems"]] == [
        ("player-too-late", "Players", "A5")
    ]


# --- what the host typed -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Typed:
    """Something typed into the value of a setting. code: of the problem, None if it is taken."""

    setting: str
    content: Content
    code: str | None
    says: str = ""

    @property
    def id(self) -> str:
        return f"{self.setting}: {self.says or self.content.shared or self.content.inner}"


EIGHT: Final = "D w, D h, D q, D e, D# w, D# h, D# q, D# e"
"""Eight notes that the seed does not deal in round 1."""

TYPED: Final = (
    Typed("Game", boolean(True), "boolean", "TRUE"),
    Typed("Game", formula('"A"&"B"'), "no-stored-value", '="A"&"B"'),
    Typed("Game", error("#REF!"), "formula-error", "#REF!"),
    Typed("Game", number(46024, 14), "date", "2 Jan 2026"),
    Typed("Time zone", text("Mars/Olympus"), "setting-value", "Mars/Olympus"),
    Typed("Time zone", text("MEZ"), "setting-value", "MEZ"),
    Typed("Time zone", text("../../etc/passwd"), "setting-value", "no time zone"),
    Typed("Time zone", text("Europe/Berlin"), None),
    Typed("Round 1 closes", text("2026-12-24 18:00"), None),
    Typed("Round 1 closes", text("2026-12-24T18:00"), None),
    Typed("Round 1 closes", number(46380.75, "yyyy-mm-dd hh:mm"), None),
    Typed("Round 1 closes", number(46380.75, 22), None),
    Typed("Round 1 closes", text("24.12.2026 18:00"), "setting-value", "24.12.2026 18:00"),
    Typed("Round 1 closes", text("tomorrow"), "setting-value", "tomorrow"),
    Typed("Round 1 closes", text("2026-13-40 18:00"), "setting-value", "2026-13-40"),
    Typed("Round 1 closes", number(46380.75), "setting-value", "46380.75"),
    Typed("Round 1 closes", number(46380, 14), "setting-value", "names a day but no time"),
    Typed("Round 1 closes", number(0.75, 20), "setting-value", "18:00"),
    Typed("Round 1 closes", formula("NOW()"), "setting-value", "=NOW()"),
    Typed("Round 2 notes", text(EIGHT), None),
    Typed("Round 2 notes", text(EIGHT.replace(",", ";\n")), None),
    Typed("Round 2 notes", text(EIGHT[:-6]), "setting-value", "7 notes stand here instead of 8"),
    Typed("Round 2 notes", text(EIGHT[:-4] + "D w"), "setting-value", "D whole stands here twice"),
    Typed("Round 2 notes", text(EIGHT + ", H q"), "setting-value", "H is not used here"),
    Typed("Round 2 notes", text(EIGHT[:-4] + "E"), "setting-value", "can mean several notes"),
    Typed("Projection", text("maybe"), "setting-value", 'type "yes" or "no"'),
    Typed("Projection", text("NO"), None),
    Typed("Projection", boolean(False), "boolean", "FALSE"),
    Typed("Unfixed entries at closing", text("Void "), None),
    Typed("Unfixed entries at closing", text("holds"), "setting-value", '"hold" or "void"'),
    Typed("Descending run", text("any where"), "setting-value", '"in a row" or "anywhere"'),
    Typed("Tritone", text("any"), "setting-value", '"neighbours" or "any two"'),
    Typed("Eight eighths", number(8), "setting-value", '"at least" or "exactly"'),
    Typed("Announced bids", text("none"), "setting-value", '"all bids"'),
)


def cell_of(game: Path, setting: str) -> str:
    with opened(game) as book:
        rows = [row[0].row for row in book["Settings"] if row[0].value == setting]
    return f"B{rows[0]}"


@pytest.mark.parametrize("case", TYPED, ids=[t.id for t in TYPED])
def test_setting(case: Typed, game: Path) -> None:
    cell = cell_of(game, case.setting)
    book = Workbook(game)
    book.put("Settings", cell, case.content)
    book.save()
    before = game.read_bytes()
    done = here("check", game, "--json")
    found = done.json["problems"]
    assert game.read_bytes() == before
    if case.code is None:
        assert (done.code, found) == (0, [])
        return
    assert done.code == 1
    assert [(p["severity"], p["code"], p["tab"], p["cell"]) for p in found] == [
        ("problem", case.code, "Settings", cell)
    ]
    assert found[0]["hint"]
    assert case.says in f"{found[0]['message']} {found[0]['hint']}"
    closing = here("sync", game, "--close", "1")
    assert closing.code == 1
    assert "stays open" in closing.said


def test_setting__unknown_is_a_notice_with_the_nearest(game: Path) -> None:
    several(
        ("Settings", "A50", "Triton"),
        ("Settings", "B50", "any two"),
        ("Settings", "A51", "A remark of mine"),
    )(game)
    done = here("check", game, "--json")
    assert done.code == 0
    assert [(p["severity"], p["code"], p["cell"]) for p in done.json["problems"]] == [
        ("notice", "setting-unknown", "A50")
    ]
    assert 'nearest is "Tritone"' in done.json["problems"][0]["message"]


def test_setting__twice_is_a_problem(game: Path) -> None:
    several(("Settings", "A50", "tritone"), ("Settings", "B50", "any two"))(game)
    done = here("check", game, "--json")
    assert done.code == 1
    (problem,) = done.json["problems"]
    assert (problem["code"], problem["cell"]) == ("setting-doubled", "A50")
    assert cell_of(game, "Tritone") in problem["message"]


def test_setting__row_deleted_leaves_the_default(game: Path) -> None:
    row = int(cell_of(game, "Tritone")[1:])
    row_deleted("Settings", row)(game)
    assert here("check", game).code == 0


def test_settings__a_note_chosen_twice(game: Path) -> None:
    two, three = cell_of(game, "Round 2 notes"), cell_of(game, "Round 3 notes")
    other = EIGHT.replace("D#", "E").replace("D w", "A w")

    several(("Settings", two, EIGHT), ("Settings", three, other))(game)
    (problem,) = here("check", game, "--json").json["problems"]
    assert problem["cell"] == three
    assert "D half also stands in Round 2 notes" in problem["message"]


def test_settings__a_note_dealt_already(game: Path) -> None:
    cell = cell_of(game, "Round 2 notes")
    dealt = [lot["note"] for lot in here("check", game, "--json").json["auction"]]
    at("Settings", cell, ", ".join(dealt))(game)
    (problem,) = here("check", game, "--json").json["problems"]
    assert (problem["code"], problem["cell"]) == ("already-dealt", cell)
    assert f"{dealt[0]} (round 1)" in problem["message"]


@pytest.mark.parametrize("status", ["gone", "withdrawn?", "0"])
def test_status__not_understood(status: str, game: Path) -> None:
    at("Players", "C2", status)(game)
    done = here("check", game, "--json")
    assert done.code == 1
    (problem,) = done.json["problems"]
    assert (problem["code"], problem["cell"], problem["player"]) == ("status-unknown", "C2", "Ann")


@pytest.mark.parametrize("status", ["withdrawn", "WITHDRAWN ", "Withdrawn"])
def test_status__withdrawn(status: str, game: Path) -> None:
    at("Players", "C2", status)(game)
    done = here("check", game, "--json")
    assert done.code == 0
    assert [(p["code"], p["cell"]) for p in done.json["problems"]] == [
        ("withdrawn", f"E{B + 1}"),
        ("withdrawn", f"C{X + 1}"),
    ]


def test_players__none_left(game: Path) -> None:
    several(*(("Players", f"A{row}", None) for row in (2, 3, 4)))(game)
    done = here("check", game)
    assert done.code == 3
    assert "no player stands in Players" in done.said


def test_titles__every_tab_is_covered() -> None:
    assert {t for t in TITLES if t not in ("How to play", "Settings", "Players")} == {
        *ENTRY_TABS,
        *TOOL_TABS,
    }
