"""A game in a real LibreOffice: typed as people do, saved there, synced, and opened again."""

from __future__ import annotations

import runpy
from collections.abc import Mapping
from pathlib import Path

import pytest

from sheets_host.game.notes import ALL_NOTES
from sheets_host.game.stages import Stage
from sheets_host.grid import Area, address, column_letters, place_of
from sheets_host.tabs.layout import (
    CLOSED_FILL,
    GOOD_FILL,
    OPEN_FILL,
    OVER_FILL,
    TITLES,
    UNSURE_FILL,
    WRONG_FILL,
)
from tests.command import here
from tests.foreign import looks
from tests.office import Document, Office
from tests.package import Package
from tests.played import Clock, begin, names, play

pytestmark = pytest.mark.office

AREA = "A1:T80"


def rows_of(doc: Document, tab: str, key: str) -> list[dict[str, object]]:
    """Return what stands below a tab's header, which holds this word, by header; `row` besides."""
    values = doc.values(tab, AREA)
    head = next(i for i, row in enumerate(values) if key in row)
    found = []
    for number, row in enumerate(values[head + 1 :], head + 2):
        line: dict[str, object] = {
            str(name): value for name, value in zip(values[head], row, strict=True) if name
        }
        if line.get(key) not in (None, ""):
            found.append({**line, "row": number})
    return found


def cell(doc: Document, tab: str, header: str, **keys: object) -> str:
    """Return the cell under a header in the row that the keys name."""
    values = doc.values(tab, AREA)
    head = next(i for i, row in enumerate(values) if header in row and set(keys) <= set(row))
    column = values[head].index(header)
    for number, row in enumerate(values[head + 1 :], head + 2):
        if all(row[values[head].index(k)] == v for k, v in keys.items()):
            return address(number, column + 1)
    raise LookupError(f"{tab}: {header} {keys}")


def live(doc: Document, tab: str, label: str, player: str) -> object:
    """Return a player's live figure above an entry tab's header."""
    values = doc.values(tab, AREA)
    row = next(row for row in values if row[0] == label)
    head = next(row for row in values if player in row)
    return row[head.index(player)]


def begun(path: Path, *players: str) -> Path:
    done = here("new", path, "--seed", "office", *(w for p in players for w in ("--player", p)))
    assert done.code == 0, done.said
    return path


# --- a whole game --------------------------------------------------------------------------------

BIDS: Mapping[str, Mapping[int, str]] = {
    "Ann": {1: "12", 2: "8", 3: "5", 8: "5"},
    "Bob": {3: "9", 4: "7", 5: "=2+4", 8: "5"},
    "Cleo": {6: "0", 7: "3", 1: "x"},
}
SPENT = {"Ann": 30, "Bob": 27, "Cleo": 3}
WON = {"Ann": (1, 2), "Bob": (3, 4, 5), "Cleo": (6, 7)}
USES = {("Ann", 2): 1, ("Ann", 3): 1, ("Cleo", 5): 1}


def odd(text: str, number: int) -> str:
    """Spell a note in one of the other ways that are understood."""
    pitch, duration = text.split()
    flats = {"C#": "Db", "D#": "E♭", "F#": "Gb", "G#": "ab", "A#": "B♭"}
    return (
        text.replace("#", "♯"),
        text.upper(),
        f"{pitch}{duration[0]}",
        f"{flats.get(pitch, pitch.lower())}   {duration}",
        f"{pitch} 1/1" if duration == "whole" else f"  {text}",
    )[number % 5]


def test_whole_game(office: Office, tmp_path: Path) -> None:
    path = begun(tmp_path / "game.xlsx", "Ann:3", "Bob", "Cleo:1")
    tokens = dict.fromkeys(BIDS, 500)
    notes: dict[str, list[str]] = {name: [] for name in BIDS}
    for round_ in range(1, 7):
        with office.open(path) as doc:
            bids = rows_of(doc, "Bids", "Round")
            auction = rows_of(doc, "Auction", "Round")
            assert [b["Note"] for b in bids] == [a["Note"] or "" for a in auction]
            for b in bids:
                at = int(float(str(b["Round"])))
                wanted = "closed" if at < round_ else "open" if at == round_ else ""
                assert (b["State"], bool(b["Note"])) == (wanted, at <= round_), b
            for name, slip in BIDS.items():
                for lot, text in slip.items():
                    doc.type("Bids", cell(doc, "Bids", name, Round=round_, Lot=lot), text)
                if uses := USES.get((name, round_)):
                    doc.type("Exchanges", cell(doc, "Exchanges", name, Round=round_), str(uses))
                    tokens[name] += 10 * uses
                assert live(doc, "Bids", "Tokens, exchanges included", name) == tokens[name]
                assert live(doc, "Bids", "Bid this round", name) == SPENT[name]
                tokens[name] -= SPENT[name]
                assert live(doc, "Bids", "Left", name) == tokens[name]
                offered = {b["Lot"]: str(b["Note"]) for b in bids if b["Round"] == round_}
                notes[name] += [offered[lot] for lot in WON[name]]
            assert doc.errors() == []
            doc.save()
        done = here("sync", path, "--close", str(round_))
        assert done.code == 0, done.said
    with office.open(path) as doc:
        assert "Composing is open" in str(doc.value("Compositions", "A1"))
        for name in BIDS:
            assert live(doc, "Compositions", "Notes held", name) == len(notes[name])
            assert live(doc, "Compositions", "Still to place", name) == len(notes[name])
            otherwise = 0  # the list of notes held is all that the formulas can look at
            for number, text in enumerate(sorted(notes[name])):
                place = cell(doc, "Compositions", name, Position=number + 1)
                typed = odd(text, number) if name == "Bob" else text
                doc.type("Compositions", place, typed)
                otherwise += typed.casefold() != text.casefold()
            assert live(doc, "Compositions", "Still to place", name) == otherwise
            assert live(doc, "Compositions", "Placed twice", name) == 0
        assert doc.errors() == []
        doc.save()
    done = here("sync", path, "--close", "final", "--json")
    assert done.code == 0, done.said
    told = {player["name"]: player for player in done.json["players"]}
    assert {name: p["composition"] for name, p in told.items()} == {
        name: sorted(held) for name, held in notes.items()
    }
    with office.open(path) as doc:
        assert "The match is finished" in str(doc.value("Bids", "A1"))
        standings = {str(row["Player"]): row for row in rows_of(doc, "Standings", "Player")}
        for name, row in standings.items():
            assert (row["Points"], row["Tokens"]) == (told[name]["points"], tokens[name])
        winner = done.json["winner"]
        assert standings[winner]["Rank"] == 1
        assert str(standings[winner]["Result"]).startswith("Winner")
        assert [row["Left"] for row in rows_of(doc, "Balances", "Round")][-3:] == [*tokens.values()]
        assert {str(a["Outcome"]) for a in rows_of(doc, "Auction", "Round")} == {"won", "tie"}
        assert doc.errors() == []
    before = path.read_bytes()
    assert here("sync", path).code == 0
    assert path.read_bytes() == before


# --- what people do to a sheet -------------------------------------------------------------------


def test_sorted_inserted_hidden__is_read_and_shown_right(office: Office, tmp_path: Path) -> None:
    path = begun(tmp_path / "game.xlsx", "Ann:3", "Bob")
    typed = {("Ann", 1): 7, ("Ann", 5): 11, ("Bob", 5): 13, ("Bob", 8): 2}
    with office.open(path) as doc:
        notes = {b["Lot"]: b["Note"] for b in rows_of(doc, "Bids", "Round") if b["Round"] == 1}
        for (name, lot), bid in typed.items():
            doc.type("Bids", cell(doc, "Bids", name, Round=1, Lot=lot), str(bid))
        first, last = rows_of(doc, "Bids", "Round")[0]["row"], rows_of(doc, "Bids", "Round")[-1]
        area = f"A{first}:F{last['row']}"
        doc.sort("Bids", area, "E", ascending=False)
        doc.sort("Bids", area, "C")
        doc.insert_rows("Bids", 1, 2)
        doc.insert_rows("Bids", 30, 3)
        doc.insert_rows("Compositions", 20)
        doc.insert_columns("Bids", "A")
        doc.insert_columns("Bids", "F")
        doc.type("Bids", "A1", "a word of the host's")
        doc.hide_rows("Bids", 12, 6)
        doc.save()
    for _ in range(2):
        told = here("check", path, "--json")
        assert told.code == 0, told.said
        assert {p["name"]: p["entered"] for p in told.json["players"]} == {"Ann": True, "Bob": True}
        with office.open(path) as doc:
            bids = rows_of(doc, "Bids", "Round")
            assert len(bids) == 48
            shown = {b["Lot"]: b["Note"] for b in bids if b["Round"] == 1}
            assert shown == notes
            assert {b["State"] for b in bids if b["Round"] == 1} == {"open"}
            assert {(b["Note"], b["State"]) for b in bids if b["Round"] != 1} == {("", "")}
            held = {(n, b["Lot"]): b[n] for b in bids for n in ("Ann", "Bob") if b[n]}
            assert held == typed
            rows = doc.values("Bids", AREA)
            left = next(row for row in rows if row[1] == "Left")
            head = next(row for row in rows if "Ann" in row)
            assert [left[head.index(name)] for name in ("Ann", "Bob")] == [482, 485]
            fills = doc.backgrounds("Bids", AREA)  # of the rows that are not hidden
            for b in bids:
                if (fill := f"C{b['row']}") in fills:
                    assert fills[fill] == (OPEN_FILL if b["Round"] == 1 else None)
            assert doc.errors() == []
        assert here("sync", path).code == 0
    done = here("sync", path, "--close", "1", "--json")
    assert done.code == 0, done.said
    won = {lot["lot"]: lot["winner"] for lot in done.json["auction"] if lot["outcome"] == "won"}
    assert won == {1: "Ann", 5: "Bob", 8: "Bob"}


def test_copied_column__works_for_a_new_player(office: Office, tmp_path: Path) -> None:
    path = begun(tmp_path / "game.xlsx", "Ann:3", "Bob")
    with office.open(path) as doc:
        for tab in ("Bids", "Exchanges", "Compositions"):
            place = cell(
                doc, tab, "Bob", **({"Position": 1} if tab == "Compositions" else {"Round": 1})
            )
            row, column = place_of(place)
            letters = column_letters(column)
            doc.copy(tab, f"{letters}1:{letters}60", f"{column_letters(column + 1)}1")
            doc.type(tab, address(row - 1, column + 1), "Cleo")
        doc.type("Players", "A4", "Cleo")
        doc.type("Players", "B4", "1")
        doc.save()
    assert here("sync", path).code == 0
    with office.open(path) as doc:
        doc.type("Exchanges", cell(doc, "Exchanges", "Cleo", Round=1), "1")
        bid = cell(doc, "Bids", "Cleo", Round=1, Lot=2)
        doc.type("Bids", bid, "44")
        assert live(doc, "Bids", "Left", "Cleo") == 466
        assert live(doc, "Bids", "Left", "Bob") == 500
        assert doc.validation("Bids", bid).type == "whole"
        assert doc.background("Bids", bid) == OPEN_FILL
        doc.type("Bids", bid, "4.5")
        assert doc.background("Bids", bid) == WRONG_FILL
        doc.type("Bids", bid, "44")
        assert doc.errors() == []
        doc.save()
    done = here("sync", path, "--close", "1", "--json")
    assert done.code == 0, done.said
    assert {p["name"]: p["tokens"] for p in done.json["players"]}["Cleo"] == 466
    with office.open(path) as doc:
        assert live(doc, "Compositions", "Notes held", "Cleo") == 1
        assert live(doc, "Compositions", "Notes held", "Bob") == 0
        note = live(doc, "Compositions", "Next to place", "Cleo")
        assert listed(doc, "Cleo") == [note]


def listed(doc: Document, player: str) -> list[object]:
    """Return what the drop-down in a player's column of Compositions offers."""
    place = cell(doc, "Compositions", player, Position=7)
    check = doc.validation("Compositions", place)
    assert (check.type, check.style, check.dropdown) == ("list", "warning", True)
    tab, _, source = check.formula1.replace("$", "").partition(".")
    area = Area.of(source)
    assert area.left == area.right
    column = area.left + place_of(place)[1] - place_of(check.base)[1]
    values = doc.column(tab, column_letters(column), area.top, area.bottom)
    return [value for value in values if value not in (None, "")]


# --- a game on its way ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def third_round(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("office") / "third.xlsx"
    play(path, names(3), Stage.ROUND_3)
    return path


@pytest.fixture(scope="module")
def composing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("office") / "composing.xlsx"
    play(path, names(3), Stage.COMPOSING)
    return path


def test_colours__open_closed_and_to_come(office: Office, third_round: Path) -> None:
    with office.open(third_round) as doc:
        shown = doc.backgrounds("Bids", "A7:G54")
        for b in rows_of(doc, "Bids", "Round"):
            wanted = {1: CLOSED_FILL, 2: CLOSED_FILL, 3: OPEN_FILL}.get(int(float(str(b["Round"]))))
            row = [shown[f"{letter}{b['row']}"] for letter in "ABCDEFG"]
            assert set(row) == {wanted}, b
        exchanges = doc.backgrounds("Exchanges", "A7:E12")
        assert [exchanges[f"C{row}"] for row in (7, 8, 9, 10)] == [
            CLOSED_FILL,
            CLOSED_FILL,
            OPEN_FILL,
            None,
        ]
        # Nothing is to be placed yet, though notes are held.
        assert any(live(doc, "Compositions", "Still to place", name) for name in names(3))
        assert set(doc.backgrounds("Compositions", "B3:D7").values()) == {None}
        assert set(doc.backgrounds("Compositions", "B9:D56").values()) == {None}
        auction = {row["Lot"]: row["row"] for row in rows_of(doc, "Auction", "Round")[16:24]}
        assert doc.background("Auction", f"B{auction[1]}") == OPEN_FILL


REFUSED = [
    ("5.5", True), ("-3", True), ("five", True), ("TRUE", True), ("=1/0", True), ("=1/4", True),
    ("'1,000", True), ("'1/2", True), ("'5.0", True), ("5;6", True), ("5 tokens", True),
    ("0", False), ("50", False), ("=2+3", False), ("'50", False), ("'00050", False), ("pass", False),
    ("X", False), ("-", False), ("–", False), ("No bid", False), ("", False),
]  # fmt: skip


def test_colours__refused_entries(office: Office, third_round: Path) -> None:
    with office.open(third_round) as doc:
        row = next(b["row"] for b in rows_of(doc, "Bids", "Round") if b["Round"] == 4)
        place = f"E{row}"
        found = []
        for text, _ in REFUSED:
            doc.type("Bids", place, text)
            found.append((text, doc.background("Bids", place) == WRONG_FILL))
        assert found == REFUSED
        # An error is told, and does not spread to the figures above.
        doc.type("Bids", cell(doc, "Bids", "Clara", Round=3, Lot=1), "=1/0")
        assert live(doc, "Bids", "Left", "Clara") == "?"
        assert isinstance(live(doc, "Bids", "Left", "Fanny"), float)


def test_colours__overspent(office: Office, third_round: Path) -> None:
    with office.open(third_round) as doc:
        place = cell(doc, "Bids", "Clara", Round=3, Lot=2)
        doc.type("Bids", place, "")
        left = live(doc, "Bids", "Left", "Clara")
        assert isinstance(left, float)
        doc.type("Bids", place, str(int(left)))
        assert live(doc, "Bids", "Left", "Clara") == 0
        assert doc.background("Bids", place) == OPEN_FILL
        doc.type("Bids", place, str(int(left) + 1))
        assert live(doc, "Bids", "Left", "Clara") == -1
        assert doc.background("Bids", "F5") == OVER_FILL
        assert doc.background("Bids", "E5") != OVER_FILL
        assert doc.background("Bids", place) == WRONG_FILL
        # A use of the exchange makes it good at once.
        doc.type("Exchanges", cell(doc, "Exchanges", "Clara", Round=3), "3")
        assert doc.background("Bids", place) == OPEN_FILL


def test_bids__what_cannot_be_added_up_is_said(office: Office, third_round: Path) -> None:
    with office.open(third_round) as doc:
        places = [cell(doc, "Bids", "Fanny", Round=3, Lot=lot) for lot in range(1, 9)]
        tokens = live(doc, "Bids", "Tokens, exchanges included", "Fanny")
        assert isinstance(tokens, float)
        for place, text in zip(places, ("12", "5.5", "-3", "pass", "–", "X", "", "0"), strict=True):
            doc.type("Bids", place, text)
        assert live(doc, "Bids", "Bid this round", "Fanny") == 17.5
        assert live(doc, "Bids", "Left", "Fanny") == tokens - 17.5
        for text in ("'5", "'５", "five"):
            doc.type("Bids", places[3], text)
            assert live(doc, "Bids", "Bid this round", "Fanny") == "17.5 + ?"
            assert live(doc, "Bids", "Left", "Fanny") == "?"
        assert doc.background("Bids", places[0]) == OPEN_FILL


@pytest.mark.parametrize("round_", [2, 6])
def test_bids__of_a_round_that_is_open_again_show_no_tokens_of_today(
    round_: int, office: Office, composing: Path, tmp_path: Path
) -> None:
    path = tmp_path / "game.xlsx"
    path.write_bytes(composing.read_bytes())
    done = here("reopen", path, str(round_), "--player", "Clara", "--reason", "misread")
    assert done.code == 0, done.said
    with office.open(path) as doc:
        assert live(doc, "Bids", "Tokens, exchanges included", "Clara") == "?"
        assert live(doc, "Bids", "Left", "Clara") == "?"
        assert doc.value("Bids", "A1") == (
            f"Round {round_} is open again for Clara (Europe/Berlin). As of round "
            + str(doc.value("Auction", "A2")).removeprefix("As of round ").partition(". ")[0]
        )
        bids = [b for b in rows_of(doc, "Bids", "Round") if b["Round"] == round_]
        shown = doc.backgrounds("Bids", "F7:F54")
        assert {shown[f"F{bid['row']}"] for bid in bids} == {OPEN_FILL}


def test_exchanges__what_cannot_be_added_up_is_said(office: Office, third_round: Path) -> None:
    figures = (
        "Tokens gained, as typed",
        "Garnets spent, as typed",
        "The next would cost, as typed",
    )
    with office.open(third_round) as doc:
        places = [cell(doc, "Exchanges", "Fanny", Round=round_) for round_ in (3, 4, 5)]
        doc.type("Exchanges", cell(doc, "Exchanges", "Fanny", Round=1), "")
        doc.type("Exchanges", cell(doc, "Exchanges", "Fanny", Round=2), "")
        doc.type("Exchanges", places[0], "")
        tokens = live(doc, "Bids", "Tokens, exchanges included", "Fanny")
        assert isinstance(tokens, float)
        for typed, shown, now in (
            ("3", (30, 7, 8), tokens + 30),
            ("pass", (0, 0, 1), tokens),
            ("'1", ("?",) * 3, "?"),
            ("one", ("?",) * 3, "?"),
            ("0.5", ("?",) * 3, tokens + 5),
            ("-1", ("?",) * 3, tokens - 10),
        ):
            doc.type("Exchanges", places[0], typed)
            assert tuple(live(doc, "Exchanges", f, "Fanny") for f in figures) == shown, typed
            assert live(doc, "Bids", "Tokens, exchanges included", "Fanny") == now, typed


def test_compositions__what_stands_beside_no_position_is_not_counted(
    office: Office, composing: Path
) -> None:
    with office.open(composing) as doc:
        one, two = (cell(doc, "Compositions", "Clara", Position=p) for p in (1, 2))
        held = live(doc, "Compositions", "Notes held", "Clara")
        assert isinstance(held, float)
        note = doc.value("Compositions", two)
        doc.type("Compositions", "A10", "")  # as a row that somebody put in
        assert doc.value("Compositions", two) == note
        assert live(doc, "Compositions", "Placed", "Clara") == held - 1
        assert live(doc, "Compositions", "Still to place", "Clara") == 1
        assert live(doc, "Compositions", "Next to place", "Clara") == note
        assert doc.background("Compositions", two) == WRONG_FILL
        assert doc.background("Compositions", one) == OPEN_FILL


def test_checks__warn_and_do_not_forbid(office: Office, third_round: Path) -> None:
    with office.open(third_round) as doc:
        for tab, place in (("Bids", "E7"), ("Bids", "G54"), ("Exchanges", "C7")):
            check = doc.validation(tab, place)
            assert (check.type, check.operator, check.formula1) == ("whole", "greater_equal", "0")
            assert (check.style, check.blank) == ("warning", True)
            assert check.message
        assert doc.validation("Bids", "D7").type == "any"


def test_compositions__drop_downs_and_guide(office: Office, composing: Path) -> None:
    with office.open(composing) as doc:
        held = {}
        for column, name in enumerate(names(3), 2):
            letters = column_letters(column)
            held[name] = [n for n in doc.column("Collections", letters, 6, 53) if n]
            assert listed(doc, name) == held[name]
            assert set(map(str, held[name])) <= {str(note) for note in ALL_NOTES}
            assert live(doc, "Compositions", "Notes held", name) == len(held[name])
            assert live(doc, "Compositions", "Still to place", name) == 0
            assert live(doc, "Compositions", "Next to place", name) == ""
        assert doc.background("Compositions", "C5") == GOOD_FILL
        one, two = (cell(doc, "Compositions", "Clara", Position=p) for p in (1, 2))
        assert doc.number_format("Compositions", one) == "@"
        assert doc.background("Compositions", one) == OPEN_FILL
        first, second = doc.value("Compositions", one), doc.value("Compositions", two)
        doc.type("Compositions", one, "")
        assert live(doc, "Compositions", "Still to place", "Clara") == 1
        assert live(doc, "Compositions", "Next to place", "Clara") == first
        assert doc.background("Compositions", "C5") == OPEN_FILL
        doc.type("Compositions", one, str(second))
        assert live(doc, "Compositions", "Placed twice", "Clara") == 1
        assert {doc.background("Compositions", place) for place in (one, two)} == {WRONG_FILL}
        doc.type("Compositions", one, "1/2")
        assert doc.value("Compositions", one) == "1/2"
        assert doc.errors() == []


def test_compositions__what_is_not_as_in_the_list_is_never_called_done(
    office: Office, composing: Path
) -> None:
    with office.open(composing) as doc:
        one = cell(doc, "Compositions", "Clara", Position=1)
        note = str(doc.value("Compositions", one))
        pitch, duration = note.split()
        held = doc.column("Collections", "C", 6, 53)
        foreign = next(str(n) for n in ALL_NOTES if str(n) not in held)
        assert doc.background("Compositions", "C5") == GOOD_FILL
        spelt = {f"{pitch} third": UNSURE_FILL, f"H {duration}": UNSURE_FILL, foreign: OPEN_FILL}
        for text, fill in (
            spelt | {f"{pitch} {duration[0]}": UNSURE_FILL, f"{pitch}  {duration}": UNSURE_FILL}
        ).items():
            doc.type("Compositions", one, text)
            assert live(doc, "Compositions", "Still to place", "Clara") == 1
            assert live(doc, "Compositions", "Next to place", "Clara") == note
            assert doc.background("Compositions", "C5") == OPEN_FILL
            assert doc.background("Compositions", one) == fill, text
        doc.type("Compositions", one, note.upper())
        assert live(doc, "Compositions", "Still to place", "Clara") == 0
        assert doc.background("Compositions", "C5") == GOOD_FILL
        spare = cell(doc, "Compositions", "Clara", Position=48)
        doc.type("Compositions", spare, foreign)  # one too many
        assert doc.background("Compositions", "C5") == WRONG_FILL


def test_frozen(office: Office, third_round: Path) -> None:
    with office.open(third_round) as doc:
        assert {tab: doc.frozen(tab) for tab in TITLES} == {
            "How to play": (0, 0), "Settings": (1, 1), "Players": (1, 1),
            "Bids": (6, 3), "Exchanges": (6, 2), "Compositions": (8, 1),
            "Standings": (4, 2), "Balances": (4, 2), "Garnets": (4, 1), "Conditions": (4, 2),
            "Breakdown": (4, 2), "Auction": (4, 3), "Collections": (4, 1), "Checks": (4, 1),
            "Record": (4, 1),
        }  # fmt: skip


# --- files that LibreOffice made -----------------------------------------------------------------


def test_new__into_a_workbook_of_libreoffice(office: Office, tmp_path: Path) -> None:
    with office.open(looks(tmp_path)) as doc:
        path = tmp_path / "theirs.xlsx"
        doc.save_as(path)
        sheets, values = doc.sheets(), doc.values("Looks", "A1:H12")
    begun(path, "Ann", "Bob")
    with office.open(path) as doc:
        assert doc.sheets() == [*sheets, *TITLES]
        assert doc.values("Looks", "A1:H12") == values
        assert doc.frozen("Bids") == (6, 3)
        doc.type("Bids", cell(doc, "Bids", "Ann", Round=1, Lot=1), "9")
        assert live(doc, "Bids", "Left", "Ann") == 491
        doc.save()
    assert here("sync", path, "--close", "1").code == 0
    with office.open(path) as doc:
        assert live(doc, "Bids", "Tokens, exchanges included", "Ann") == 491
        assert doc.values("Looks", "A1:H12") == values


def counts(path: Path) -> dict[str, int]:
    """Return how many formats a workbook has, by kind."""
    styles = Package(path).tree("xl/styles.xml")
    found = {child.tag.rpartition("}")[2]: len(child) for child in styles}
    return {name: found.get(name, 0) for name in ("fonts", "fills", "borders", "cellXfs", "dxfs")}


def test_saving_and_syncing__formats_do_not_pile_up(office: Office, tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    begin(path, names(3), Clock())
    seen, sizes = [], []
    for turn in range(5):
        with office.open(path) as doc:
            doc.type("Bids", cell(doc, "Bids", "Clara", Round=1, Lot=1), str(10 + turn))
            doc.save()
        assert here("sync", path).code == 0
        seen.append(counts(path))
        sizes.append(path.stat().st_size)
    assert seen[1:] == [seen[1]] * 4
    assert max(sizes[1:]) - min(sizes[1:]) < 200


def test_pictures_of_the_readme__are_small(office: Office, tmp_path: Path) -> None:
    script = runpy.run_path(str(Path(__file__).parents[1] / "docs" / "pictures.py"))
    office.pictures(begun(tmp_path / "game.xlsx", "Ann"), tmp_path)  # skips where it cannot be
    script["main"](tmp_path / "pictures", script["PICTURES"][2:3])
    (picture,) = (tmp_path / "pictures").iterdir()
    assert picture.name == "standings.png"
    assert 5_000 < picture.stat().st_size < 100_000
