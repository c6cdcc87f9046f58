"""Tables and paragraphs that fit a terminal, whatever the names in them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sheets_host.terminal import as_word, complain, print_rows, print_wrapped
from sheets_host.wrapping import cells_of, cut, hung, table, wrapped

BALANCES: Final = ("Player", "Start", "Exchanged", "Bid", "Left", "Notes now")
OUTCOMES: Final = ("Lot", "Note", "Outcome", "Winner", "Highest bid")
ISOLATES: Final = dict.fromkeys(map(ord, "\u2068\u2069"))


def columns(text: str) -> int:
    """How many columns a terminal gives a text, worked out apart from the code's own way."""
    return sum(
        0
        if unicodedata.category(c) in ("Mn", "Me", "Cf") or 0x1160 <= ord(c) <= 0x11FF
        else 2
        if unicodedata.east_asian_width(c) in "WF"
        else 1
        for c in text
    )


# As Players takes them: no controls, no line breaks, blanks one at a time.
NAMES = (
    st.text(
        st.characters(exclude_categories=("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")), max_size=100
    )
    .map(lambda text: " ".join(text.split()))
    .filter(bool)
)
NUMBERS = st.integers(0, 99_999).map(str)
BALANCE = st.tuples(NAMES, NUMBERS, NUMBERS, NUMBERS, NUMBERS, st.integers(0, 48).map(str))
LONG = "Wolfgangus Theophilus Amadeus van Mozart"


@given(st.lists(BALANCE, min_size=1, max_size=5), st.integers(40, 100))
@example([("x" * 98, "500", "0", "80", "420", "2")], 80)
@example([("\u05d0\u05d1 " * 30 + "\u05d0", "500", "0", "80", "420", "2")], 40)
def test_table__fits_and_leaves_nothing_out(rows: Sequence[tuple[str, ...]], room: int) -> None:
    head, *body = table([BALANCES, *rows], room, range(1, 6))
    assert max(map(columns, head)) <= room
    for row, lines in zip(rows, body, strict=True):
        assert max(map(columns, lines)) <= room
        said = "".join(lines).translate(ISOLATES)
        assert len("".join(said.split())) == len("".join("".join(row).split()))
        first = lines[0].translate(ISOLATES)
        assert first.split()[-5:] == list(row[1:]), "numbers are whole, on the first line"


@pytest.mark.parametrize("name", ["x" * 37, LONG, LONG * 2 + "n" * 18, "\u674e" * 50])
def test_outcomes__keep_their_notes_whole(name: str) -> None:
    rows = [("1", "D# quarter", "won", name, "12"), ("2", "C half", "tie", "", "9")]
    _, first, second = table([OUTCOMES, *rows], 80, (0, 4))
    assert first[0].startswith("  1  D# quarter  won ")
    assert second == [second[0]]
    assert first[0].endswith("  12")
    assert len(second[0]) == columns(first[0]), "the last column is aligned to the right, too"


def test_table__is_as_narrow_as_it_can_be() -> None:
    rows = list(table([("Player", "Points"), ("Ann", "7"), ("Bob", "12")], 80, (1,)))
    assert rows == [["Player  Points"], ["Ann          7"], ["Bob         12"]]


def test_table__a_name_that_reads_leftwards_is_set_apart(
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = "\u0645\u062d\u0645\u062f"
    print_rows(BALANCES, [(name, "490", "10", "0", "500", "3")], range(1, 6))
    line = capsys.readouterr().out.splitlines()[1]
    assert line.startswith(f"\u2068{name}\u2069  ")
    assert line.split()[1:] == ["490", "10", "0", "500", "3"]


def test_table__marks_of_a_person_are_not_ours(capsys: pytest.CaptureFixture[str]) -> None:
    print_rows(("Player", "Points"), [("\u2066Ann\u202e\x1b", "7")], (1,))
    assert not set("\u2066\u202e\x1b\u2068") & set(capsys.readouterr().out)


@given(st.text(), st.integers(1, 80))
def test_cut__fits_and_is_a_beginning(text: str, room: int) -> None:
    shown = cut(text, room)
    assert text.startswith(shown)
    assert cells_of(shown) <= max(room, 2)


@given(st.lists(st.sampled_from(["F# half", "lot 6", "row 12", "round 3", "and", "a", "C eighth"])))
def test_wrapped__what_belongs_together_stays_so(words: list[str]) -> None:
    lines = wrapped(" ".join(words), 24)
    assert " ".join(lines).split() == " ".join(words).split()
    for line in lines:
        assert columns(line) <= 24
        assert not re.search(r"(lot|row|round|[A-G]#?)$", line)


COMMAND: Final = "sheets-host reopen 'my game.xlsx' 2 --player \"Ann B\" --reason TEXT"


def test_complain__wraps_and_never_within_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    complain(f"sheets-host: {'word ' * 30}end", f"{'word ' * 10}then {COMMAND}, or wait")
    lines = capsys.readouterr().err.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("sheets-host: word")
    assert [line[:5] for line in lines if "->" in line] == ["  -> "]
    assert f"     {COMMAND}, or wait" in lines


def test_paragraph__a_path_that_was_typed_stays_whole(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = "a folder/of many words/my game.xlsx"
    monkeypatch.setattr("sys.argv", ["sheets-host", "check", path])
    print_wrapped(f"{'x' * 60} {path}: is a path", 0)
    assert path in capsys.readouterr().out


@pytest.mark.parametrize("name", ["\u674e" * 40, "\u674e" * 40 + ",", "x" * 79 + ",", "x" * 100])
def test_paragraph__a_name_wider_than_a_line_is_broken(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_wrapped(f"Bids!F17:F21 ({name})", 2, 2)
    print_wrapped(f"Nothing entered: {name} and Bob", 0)
    said = capsys.readouterr().out
    assert max(map(columns, said.splitlines())) <= 80
    assert "".join(said.split()).count(name) == 2


@pytest.mark.parametrize("long", ["a" * 50, "folder/" * 20 + "game.xlsx", "https://x/" + "y" * 90])
def test_paragraph__what_is_to_be_copied_stays_whole(
    long: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_wrapped(f"It is {long}", 0, 40)
    assert long in capsys.readouterr().out


def test_table__a_column_of_text_stays_readable_beside_long_names() -> None:
    heads = ("Rank", "Player", "Points", "Conditions", "Garnets", "Result")
    result = "tied on last"
    rows = [heads, ("1", "Maximilian-Alexander-" * 3, "26", "1, 2, 3, 4", "+3", result)]
    head, first = table(rows, 80, (0, 2, 4))
    assert max(map(columns, (*head, *first))) <= 80
    assert first[0].endswith(result), "its words alone would leave it six columns"


def test_hung__each_line_has_the_room_that_its_indent_leaves() -> None:
    assert hung("aaa bbb ccc ddd", 8, "", "    ") == ["aaa bbb", "    ccc", "    ddd"]
    assert hung("aaa bbb ccc", 8, "  -> ", "") == ["  -> aaa", "bbb ccc"]


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("game.xlsx", "game.xlsx"),
        ("https://docs.google.com/spreadsheets/d/1aB/edit", None),
        ("my game.xlsx", "'my game.xlsx'"),
        ("$(rm x)", "'$(rm x)'"),
    ],
)
def test_as_word__can_be_pasted(
    text: str, word: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.name", "posix")
    assert as_word(text) == (word or text)
