"""The command line from outside: what a host types, reads and gets back as an exit code."""

from __future__ import annotations

import re
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from sheets_host import __version__
from sheets_host.game.stages import Stage
from sheets_host.tabs.entry_tabs import BIDS_HEADER, COMPOSITIONS_HEADER
from tests.command import Done, at_terminal, here, run
from tests.in_place import InPlace
from tests.played import play
from tests.playing import seated
from tests.workbook import Workbook, number, opened, text

VERBS: Final = ("new", "check", "sync", "reopen", "announce", "verify", "demo", "doctor")
NAMES: Final = ("Ann", "Bob", "Eve")
FIRST = BIDS_HEADER + 1
on_a_terminal = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX terminals")


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A match of Ann with 3 garnets, Bob and Eve in round 1, without a bid."""
    path = tmp_path_factory.mktemp("cli") / "game.xlsx"
    done = run("new", path, *players("Ann:3", "Bob", "Eve"), "--seed", "seed")
    assert (done.code, done.err) == (0, "")
    return path.read_bytes()


@pytest.fixture(scope="module")
def finished(fresh: bytes, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A match played to its end; Ann won every note of round 1 and composed them."""
    path = tmp_path_factory.mktemp("finished") / "game.xlsx"
    path.write_bytes(fresh)
    bid(path, *(("E", lot, lot + 5) for lot in range(1, 9)))
    for round_ in range(1, 7):
        assert here("sync", path, "--close", str(round_)).code == 0
    notes = here("check", path, "--json").json["players"][0]["notes"]
    book = Workbook(path)
    for position, note in enumerate(notes, COMPOSITIONS_HEADER + 1):
        book.put("Compositions", f"B{position}", text(note))
    book.save()
    assert here("sync", path, "--close", "final").code == 0
    return path.read_bytes()


def players(*names: str) -> list[str]:
    return [f"--player={name}" for name in names]


def bid(path: Path, *bids: tuple[str, int, int | float | str]) -> None:
    """Type bids of round 1: column, lot, what is typed."""
    book = Workbook(path)
    for column, lot, value in bids:
        content = text(value) if isinstance(value, str) else number(value)
        book.put("Bids", f"{column}{BIDS_HEADER + lot}", content)
    book.save()


def stage(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = here("check", path, "--json").json["stage"]
    return found


def widths(done: Done) -> int:
    """How wide the widest line is, in columns of a terminal; a backup's path stays whole."""
    return max(
        sum(
            0
            if unicodedata.combining(c) or c in "\u200d\ufe0f"
            else 1 + (unicodedata.east_asian_width(c) in "WF")
            for c in line
        )
        for line in done.out.splitlines()
        if not line.startswith("Backup: ")
    )


# --- help --------------------------------------------------------------------------------------


HEAVY: Final = ("openpyxl", "gspread", "google.auth", "requests", "rich", "pydantic")


def loaded_by(*words: str | Path) -> set[str]:
    """Which heavy libraries a command has loaded when it ends."""
    code = (
        "import sys, atexit\n"
        f"sys.argv = {['sheets-host', *map(str, words)]!r}\n"
        f"atexit.register(lambda: print('loaded', *sorted(set({HEAVY!r}) & set(sys.modules))))\n"
        "from sheets_host.cli import main\n"
        "main()\n"
    )
    made = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True, timeout=60
    )
    return set(made.stdout.splitlines()[-1].split()[1:])


@pytest.mark.parametrize("words", [["--help"], ["--version"], *([v, "--help"] for v in VERBS)])
def test_help__loads_nothing_heavy(words: list[str]) -> None:
    assert loaded_by(*words) == set()


def test_check__loads_no_library_of_the_other_store(game: Path) -> None:
    assert loaded_by("check", game) == set()


def test_help__names_every_verb_and_exit_code() -> None:
    done = run("--help")
    assert done.code == 0
    for verb in VERBS:
        assert f"\n  {verb} " in done.out
    assert "0 done, 1 problems in the entries, 2 usage, 3 the workbook cannot" in done.said
    assert widths(done) <= 80


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_a_verb__fits_80_columns(verb: str) -> None:
    done = here(verb, "--help")
    assert done.code == 0
    assert widths(done) <= 80


def test_version() -> None:
    done = run("--version")
    assert (done.code, done.out, done.err) == (0, f"sheets-host {__version__}\n", "")


# --- exit codes --------------------------------------------------------------------------------


def test_exit_0__all_is_well(game: Path) -> None:
    done = run("check", game)
    assert (done.code, done.err) == (0, "")
    assert "Round 1 is open" in done.out
    assert "Nothing entered: Ann, Bob and Eve" in done.out


def test_exit_1__a_problem_in_an_entry(game: Path) -> None:
    bid(game, ("E", 1, 5.5), ("F", 2, "ten"))
    before = game.read_bytes()
    done = run("check", game)
    assert (done.code, done.err) == (1, "")
    assert "2 problems:" in done.out
    for words in (f"Bids!E{FIRST} (Ann)", "5.5 is not a whole number", f"Bids!F{FIRST + 1} (Bob)"):
        assert words in done.out
    assert game.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["no-such-verb"], "No such command"),
        (["check"], "check [OPTIONS] WORKBOOK"),
        (["check"], "Missing argument 'WORKBOOK'"),
        (["announce", "game.xlsx", "--round", "9"], "--round 9: there is no such round"),
        (["check", "game.xlsx", "--wrong"], "No such option"),
        (["sync", "game.xlsx", "--close", "7"], "write 1 to 6, or final"),
        (["sync", "game.xlsx", "--close", "0"], "write 1 to 6, or final"),
        (["sync", "game.xlsx", "--close", "two"], "write 1 to 6, or final"),
        (["sync", "game.xlsx", "--close", "2"], "round 2 is not open: round 1 is"),
        (["sync", "game.xlsx", "--close", "final"], "composing is not open: round 1 is"),
        (["check", "game"], '"game" is no workbook'),
        (["check", "game.ods"], '"game.ods" is no workbook'),
        (["check", "=cmd|x"], '"=cmd|x" is no workbook'),
        (["sync", "game.xlsx", "--void"], "--void is for closing"),
        (["sync", "game.xlsx", "--without", "Ann"], "--without is for closing"),
        (["sync", "game.xlsx", "--every", "10000000000"], "say 86400 seconds (a day) or fewer"),
        (["sync", "game.xlsx", "--every", "86401"], "say 86400 seconds (a day) or fewer"),
        (["sync", "game.xlsx", "--every", "60", "--json"], "--every prints a line a turn"),
        (["sync", "game.xlsx", "--close", "1", "--due"], "say one of them"),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, list) else "",
)
def test_exit_2__usage(words: list[str], says: str, game: Path) -> None:
    before = game.read_bytes()
    done = run(*words, cwd=game.parent)
    assert (done.code, done.out) == (2, "")
    assert says in " ".join(done.err.split())
    assert "Traceback" not in done.err
    assert game.read_bytes() == before


@pytest.mark.parametrize("verb", ["check", "sync", "verify", "announce"])
def test_exit_3__no_such_file(verb: str, tmp_path: Path) -> None:
    done = here(verb, tmp_path / "none.xlsx")
    assert (done.code, done.out) == (3, "")
    assert "does not exist" in done.said
    assert "sheets-host new" in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"Round,Lot,Ann\n1,1,5\n"])
def test_exit_3__no_workbook(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    path.write_bytes(data)
    done = here("sync", path)
    assert (done.code, done.out) == (3, "")
    assert str(path) in done.said
    assert "->" in done.err
    assert path.read_bytes() == data


def test_exit_3__a_workbook_without_a_game(tmp_path: Path) -> None:
    from openpyxl import Workbook as Plain

    path = tmp_path / "plain.xlsx"
    Plain().save(path)
    done = here("check", path)
    assert (done.code, done.out) == (3, "")
    assert "none of the game's tabs is here" in done.said
    assert "sheets-host new" in done.said


RECORD: Final[dict[str, Callable[[Any], None]]] = {
    "edited": lambda sheet: _set(sheet["G9"], "C whole" if sheet["G9"].value != "C whole" else "x"),
    "removed": lambda sheet: sheet.delete_rows(9),
    "reordered": lambda sheet: _swap(sheet, 9, 10),
    "cut off": lambda sheet: sheet.delete_rows(sheet.max_row),
    "added": lambda sheet: _set(sheet.cell(sheet.max_row + 1, 3), "closed"),
}


def _set(cell: Any, value: str) -> None:
    cell.value = value


def _swap(sheet: Any, one: int, other: int) -> None:
    for column in range(1, 9):
        a, b = sheet.cell(one, column), sheet.cell(other, column)
        a.value, b.value = b.value, a.value


@pytest.mark.parametrize("damage", RECORD)
def test_exit_4__the_record_was_tampered_with(damage: str, game: Path) -> None:
    with opened(game) as book:
        RECORD[damage](book["Record"])
    before = game.read_bytes()
    for words in (["check"], ["sync", "--close", "1"], ["verify"], ["check", "--json"]):
        done = here(words[0], game, *words[1:])
        assert (done.code, done.out) == (4, "")
        assert "the Record does not verify" in done.said
        assert re.search(r"row \d+", done.said)
        assert "nothing was changed" in done.said
        assert "sheets-host restore" in done.said
    assert game.read_bytes() == before
    assert list(game.parent.iterdir()) == [game]


# --- sync --------------------------------------------------------------------------------------


def test_sync__twice_leaves_the_bytes(game: Path) -> None:
    bid(game, ("E", 1, 12))
    assert run("sync", game).code == 0
    before = game.read_bytes()
    again = run("sync", game)
    assert again.code == 0
    assert "Nothing to write" in again.out
    assert game.read_bytes() == before


def test_close__tells_who_won_and_what_is_left(game: Path) -> None:
    bid(game, ("E", 1, 12), ("F", 1, 9), ("F", 2, 7), ("G", 2, 7))
    done = run("sync", game, "--close", "1")
    assert (done.code, done.err) == (0, "")
    assert "Round 1 is closed." in done.out
    assert re.search(r"\n +1 .* won +Ann +12\n", done.out)
    assert re.search(r"\n +2 .* tie +7\n", done.out)
    assert re.search(r"\nBob +500 +0 +16 +484 +0\n", done.out)
    assert "Round 2 is open" in done.out
    assert stage(game) == {"name": "round", "round": 2}


@pytest.mark.parametrize("words", ["1", "round 1", "Round 1"])
def test_close__already_closed(words: str, game: Path) -> None:
    assert here("sync", game, "--close", "1").code == 0
    before = game.read_bytes()
    done = here("sync", game, "--close", words)
    assert done.code == 0
    assert "Round 1 was closed before" in done.out
    assert stage(game) == {"name": "round", "round": 2}
    assert game.read_bytes() == before


def test_close__problems_hold_it_and_stand_in_checks(game: Path) -> None:
    bid(game, ("E", 1, 5.5))
    done = run("sync", game, "--close", "1")
    assert done.code == 1
    assert "Round 1 stays open: problems stand" in done.out
    assert f"Bids!E{FIRST} (Ann)" in done.out
    assert stage(game) == {"name": "round", "round": 1}
    with opened(game) as book:
        row = [cell.value for cell in book["Checks"][5]]
    assert row[:4] == ["problem", f"Bids!E{FIRST}", "Ann", "5.5"]


def test_close__void_strikes_out_what_is_wrong(game: Path) -> None:
    bid(game, ("E", 1, 5.5), ("E", 2, 20), ("F", 1, 501))
    done = run("sync", game, "--close", "1", "--void")
    assert done.code == 0
    assert "Round 1 is closed." in done.out
    found = here("check", game, "--json").json
    bids = {b["player"]: b["bid"] for b in found["balances"]}
    assert bids == {"Ann": 20, "Bob": 0, "Eve": 0}
    assert [a["winner"] for a in found["auction"][:2]] == [None, "Ann"]


def test_void__does_not_excuse_a_wrong_setting(game: Path) -> None:
    with opened(game) as book:
        for row in book["Settings"]:
            if row[0].value == "Tritone":
                row[1].value = "often"
    done = here("sync", game, "--close", "1", "--void")
    assert done.code == 1
    assert "stays open" in done.out
    assert "Tritone" in done.out


def test_yes__off_a_terminal_closes_nothing(game: Path) -> None:
    done = run("sync", game, "--yes")
    assert done.code == 0
    assert "--close" in done.err
    assert stage(game) == {"name": "round", "round": 1}


def deal(path: Path, round_: int) -> list[str]:
    auction = here("check", path, "--json").json["auction"]
    return [lot["note"] for lot in auction if lot["round"] == round_]


@pytest.mark.parametrize("words", [[], ["--json"]], ids=["words", "json"])
def test_dry_run__writes_nothing_and_shows_no_deal(
    words: list[str], game: Path, tmp_path: Path
) -> None:
    bid(game, ("E", 1, 12))
    before = game.read_bytes()
    done = run("sync", game, "--close", "1", "--dry-run", *words)
    assert done.code == 0
    assert game.read_bytes() == before
    assert list(tmp_path.iterdir()) == [game]
    assert here("sync", game, "--close", "1").code == 0
    coming = deal(game, 2)
    assert len(coming) == 8
    assert [note for note in coming if f"{note}" in done.out + done.err] == []
    if not words:
        assert "Round 1 would be closed." in done.out
        assert "Nothing was written" in done.out
        for tab in ("Auction", "Balances", "Record"):
            assert re.search(rf"{tab} \(\d+ rows?\)", done.said)


def test_dry_run__of_the_end_shows_the_result(tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    play(path, ("Ann", "Bob", "Eve"), Stage.COMPOSING)
    before = path.read_bytes()
    words = ("sync", path, "--close", "final", "--void")
    foreseen = here(*words, "--dry-run")
    assert path.read_bytes() == before
    made = here(*words)
    assert (foreseen.code, made.code) == (0, 0)
    for name in ("Ann", "Bob", "Eve"):
        (line,) = re.findall(rf"^ +\d+  {name} .*", made.out, re.MULTILINE)
        assert line in foreseen.out.splitlines()
    assert "wins the Token of Life" in foreseen.out


def test_substitute__is_named_once(game: Path) -> None:
    assert here("sync", game, "--close", "1").code == 0
    desk = InPlace(game)
    desk.type("Players", "A3", "Dora")
    desk.type("Players", "F3", "Bob")
    done = here("sync", game)
    assert done.code == 0, done.said
    line = "Bob is Dora from now on: notes, tokens and garnets stay."
    assert line in done.out.splitlines()
    assert line not in here("sync", game).out


def test_dry_run__nothing_to_do(game: Path) -> None:
    here("sync", game)
    done = here("sync", game, "--dry-run")
    assert done.code == 0
    assert "Nothing to write" in done.out


def test_results_and_talk__go_apart(game: Path) -> None:
    bid(game, ("E", 1, 5.5))
    assert run("check", game).err == ""
    broken = run("check", game.with_name("none.xlsx"))
    assert broken.out == ""
    assert broken.err.startswith("sheets-host: ")


# --- json --------------------------------------------------------------------------------------

TEXT, WHOLE, YES_NO = str, int, bool
MAYBE_TEXT, MAYBE_WHOLE = (str, type(None)), (int, type(None))

GARNETS: Final = {"start": WHOLE, "spent": WHOLE, "earned": MAYBE_WHOLE, "now": WHOLE}
SCHEMA: Final[dict[str, Any]] = {
    "schema": WHOLE,
    "game": TEXT,
    "stage": {"name": TEXT, "round": MAYBE_WHOLE},
    "players": [
        {
            "name": TEXT,
            "entered": YES_NO,
            "tokens": WHOLE,
            "garnets": GARNETS,
            "notes": [TEXT],
            "composition": (list, type(None)),
            "points": MAYBE_WHOLE,
            "rank": MAYBE_WHOLE,
            "conditions": (list, type(None)),
        }
    ],
    "balances": [
        {"round": WHOLE, "player": TEXT, "start": WHOLE, "exchanged": WHOLE, "bid": WHOLE,
         "left": WHOLE}
    ],
    "auction": [
        {"round": WHOLE, "lot": WHOLE, "note": TEXT, "outcome": TEXT, "winner": MAYBE_TEXT,
         "bid": MAYBE_WHOLE}
    ],
    "conditions": [
        {"number": WHOLE, "name": TEXT, "worth": WHOLE, "fulfilled_by": (list, type(None)),
         "each": MAYBE_WHOLE}
    ],
    "winner": MAYBE_TEXT,
    "elimination": {"candidate": MAYBE_TEXT, "choice_among": [TEXT]},
    "problems": [
        {"severity": TEXT, "file": MAYBE_TEXT, "tab": TEXT, "cell": TEXT, "player": MAYBE_TEXT,
         "code": TEXT, "message": TEXT, "hint": TEXT}
    ],
    "record": {"rows": WHOLE, "seal": TEXT},
}  # fmt: skip


def assert_shape(value: Any, shape: Any, where: str = "$") -> None:
    """Hold a JSON value against a shape: the same keys in the same order, the same types."""
    if isinstance(shape, dict):
        assert list(value) == list(shape), where
        for key, inner in shape.items():
            assert_shape(value[key], inner, f"{where}.{key}")
    elif isinstance(shape, list):
        assert isinstance(value, list), where
        for i, item in enumerate(value):
            assert_shape(item, shape[0], f"{where}[{i}]")
    else:
        assert isinstance(value, shape), where
        assert shape is YES_NO or not isinstance(value, bool), where


def test_json__in_a_round(game: Path) -> None:
    bid(game, ("E", 1, 12), ("F", 1, 5.5))
    done = run("check", game, "--json")
    assert done.code == 1
    found = done.json
    assert_shape(found, SCHEMA)
    assert found["schema"] == 1
    assert found["stage"] == {"name": "round", "round": 1}
    assert [p["entered"] for p in found["players"]] == [True, True, False]
    assert [p["tokens"] for p in found["players"]] == [500, 500, 500]
    assert found["players"][0]["garnets"] == {"start": 3, "spent": 0, "earned": None, "now": 3}
    assert {(a["outcome"], a["winner"], a["bid"]) for a in found["auction"]} == {
        ("open", None, None)
    }
    assert [a["lot"] for a in found["auction"]] == list(range(1, 9))
    assert [(c["number"], c["fulfilled_by"]) for c in found["conditions"]] == [
        (number_, None) for number_ in range(1, 13)
    ]
    assert found["problems"][0] | {"message": "", "hint": ""} == {
        "severity": "problem",
        "file": None,
        "tab": "Bids",
        "cell": f"F{FIRST}",
        "player": "Bob",
        "code": "not-whole",
        "message": "",
        "hint": "",
    }


def test_json__of_sync_after_closing(game: Path) -> None:
    bid(game, ("E", 1, 12), ("E", 2, 0), ("F", 3, 4), ("G", 3, 4))
    done = run("sync", game, "--close", "1", "--json")
    assert (done.code, done.err) == (0, "")
    found = done.json
    assert_shape(found, SCHEMA)
    lots = [(a["outcome"], a["winner"], a["bid"]) for a in found["auction"][:4]]
    assert lots == [
        ("won", "Ann", 12),
        ("won", "Ann", 0),
        ("tie", None, 4),
        ("no bids", None, None),
    ]
    assert found["balances"][0] == {
        "round": 1, "player": "Ann", "start": 500, "exchanged": 0, "bid": 12, "left": 488,
    }  # fmt: skip
    assert found["players"][0]["tokens"] == 488
    assert set(found["players"][0]["notes"]) == {a["note"] for a in found["auction"][:2]}


def test_json__of_a_finished_match(finished: bytes, tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    path.write_bytes(finished)
    for verb in ("check", "sync", "verify"):
        done = run(verb, path, "--json")
        assert (done.code, done.err) == (0, "")
        found = done.json
        assert_shape(found, SCHEMA)
        assert found["stage"] == {"name": "finished", "round": None}
        assert found["winner"] == "Ann"
        ann, bob, _ = found["players"]
        assert (ann["rank"], len(ann["composition"])) == (1, 8)
        assert ann["garnets"]["earned"] == ann["points"] // 8
        assert (bob["points"], bob["conditions"]) == (0, [])
        assert len(found["auction"]) == 48
        assert found["elimination"] == {"candidate": None, "choice_among": ["Bob", "Eve"]}
        assert len(found["balances"]) == 18
        for condition in found["conditions"]:
            assert condition["fulfilled_by"] in ([], ["Ann"])


def test_what_hangs__is_told_at_the_end_and_by_verify_alone(
    finished: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "game.xlsx"
    path.write_bytes(finished)
    hangs = re.compile(r"No other switch setting|If [A-Z][\w ]+ were \"")
    assert not hangs.search(here("sync", path).said)
    assert hangs.search(here("verify", path).said)
    reopened = here("reopen", path, "final", "--settings", "--reason", "agreed")
    assert reopened.code == 0, reopened.said
    assert hangs.search(here("sync", path, "--close", "final").said)


def test_verify__another_seal_is_told_before_all_that_is_well(game: Path) -> None:
    done = here("verify", game, "--seal", "1234567890abcdef")
    assert done.code == 4
    assert done.out.startswith("The seal 1234567890abcdef lies on no row")
    assert "The Record verifies" in done.out


def test_garnets__that_cannot_be_read_are_not_told_of_passing(game: Path) -> None:
    desk = InPlace(game)
    desk.type("Players", "B2", "two")
    (problem,) = here("check", game, "--json").json["problems"]
    assert problem["hint"] == "type digits only, or leave the cell blank"


def test_doctor__counts_backups(game: Path) -> None:
    assert "ok: No backups yet in " in here("doctor", game).said
    bid(game, ("E", 1, 12))
    here("sync", game)
    assert "ok: 1 backup or copy lies in " in here("doctor", game).said


def test_doctor__before_the_game_is_made_says_what_comes_next(tmp_path: Path) -> None:
    from openpyxl import Workbook as Plain

    path = tmp_path / "mine.xlsx"
    Plain().save(path)
    done = here("doctor", path)
    assert (done.code, "WRONG" in done.said) == (0, False), done.said
    assert "is whole: 1 tab." in done.said
    assert "next: make the game with: sheets-host new" in done.said
    blank = tmp_path / "blank.xlsx"
    blank.write_bytes((Path(__file__).parents[1] / "templates" / "blank-game.xlsx").read_bytes())
    done = here("doctor", blank)
    assert (done.code, "next: fill them in" in done.said) == (0, True), done.said


def test_doctor__a_game_without_its_record_is_no_beginning(game: Path) -> None:
    with opened(game) as book:
        del book["Record"]
    done = here("doctor", game)
    assert (done.code, "WRONG" in done.said) == (3, True)
    assert "next:" not in done.said


def test_close__one_player_alone_is_warned(tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    here("new", path, "--player", "Ann")
    foreseen = here("sync", path, "--close", "1", "--dry-run")
    assert "nobody can join once round 1 is closed" in " ".join(foreseen.err.split())
    done = here("sync", path, "--close", "1", "--json")
    assert done.code == 0
    assert "round 1 is closed with one player" in " ".join(done.err.split())
    assert "one player" not in here("sync", path, "--close", "2").said


def test_end__without_a_composition_is_told_as_such(fresh: bytes, tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    path.write_bytes(fresh)
    bid(path, *(("E", lot, 5) for lot in range(1, 6)))
    music = tmp_path / "music"
    assert "known once composing is closed" in here("listen", path, "--out", music).said
    for stage_ in ("1", "2", "3", "4", "5", "6"):
        here("sync", path, "--close", stage_)
    done = here("sync", path, "--close", "final", "--void")
    assert "Ann: handed in no composition" in done.said
    done = here("listen", path, "--out", music)
    assert (done.code, "no composition was handed in" in done.said) == (2, True)


def test_page__is_told_when_it_is_written(game: Path, tmp_path: Path) -> None:
    page = tmp_path / "match.html"
    told = f"Wrote the page: {page}\n"
    assert told in here("sync", game, "--page", page).out
    assert told not in here("sync", game, "--page", page).out, "it is up to date"
    page.unlink()
    assert here("sync", game, "--page", page, "--json").json["schema"] == 1
    assert page.exists()


def test_verify__says_when_a_seal_was_written(game: Path) -> None:
    for words, says in (
        (["sync"], "written when the match was made,"),
        (["sync", "--close", "1"], "written when round 1 was closed,"),
        (["reopen", "1", "--player", "Ann", "--reason", "x"], "round 1 was opened again,"),
    ):
        assert here(words[0], game, *words[1:]).code == 0
        seal = here("check", game, "--json").json["record"]["seal"]
        done = here("verify", game, "--seal", seal)
        assert says in done.said
        assert re.search(r", \w{3} \d+ \w{3} \d{4} \d\d:\d\d \(UTC\)\.", done.said)


# --- new ---------------------------------------------------------------------------------------


def test_new__says_what_to_do_next(tmp_path: Path) -> None:
    done = run("new", "game.xlsx", *players(*NAMES), cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert "3 players: Ann, Bob and Eve" in done.out
    assert "can read every bid" in done.said
    assert "sheets-host sync game.xlsx --close 1" in done.said
    assert widths(done) <= 80
    assert [entry.name for entry in tmp_path.iterdir()] == ["game.xlsx"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], ["a game needs players", "--player Ann"]),
        (players("Ann", "ann"), ['"ann" stands twice', "capital letters"]),
        (players("Ann", "Ａｎｎ"), ["stands twice"]),
        (players("Jürgen", "JÜRGEN"), ["stands twice"]),
        *((players("Ann", word), ["column title"]) for word in
          ("Round", "lot", "NOTE", "State", "position", " Round ")),
        (players("Ann:x"), ['"Ann:x"', 'not "x"', "whole number", '"Ann:x:0"']),
        (players("Ann:"), ["whole number"]),
        (players("Ann", ""), ["blank"]),
        (players("Ann", "  "), ["blank"]),
        (players("x" * 101), ["longer than 100"]),
        (players("Ann", "ann", "Round"), ["stands twice", "column title"]),
        ([*players("Ann"), "--zone", "Mars/Olympus"], ["Mars/Olympus", "Europe/Berlin"]),
    ],
    ids=lambda v: " ".join(v)[:40] if isinstance(v, list) else "",
)  # fmt: skip
def test_new__refused(words: Sequence[str], says: Sequence[str], tmp_path: Path) -> None:
    done = here("new", tmp_path / "game.xlsx", *words)
    assert (done.code, done.out) == (2, "")
    for part in says:
        assert part in done.said
    assert list(tmp_path.iterdir()) == []


def test_new__one_player_alone_is_told(tmp_path: Path) -> None:
    done = here("new", tmp_path / "game.xlsx", "--player", "Ann")
    assert done.code == 0
    assert "this match has one player; it needs two or more" in done.said


def test_new__over_a_game(game: Path) -> None:
    before = game.read_bytes()
    done = run("new", game, *players(*NAMES))
    assert (done.code, done.out) == (3, "")
    assert "already holds a game" in done.said
    assert game.read_bytes() == before


def test_new__tabs_in_the_way(tmp_path: Path) -> None:
    from openpyxl import Workbook as Plain

    path = tmp_path / "mine.xlsx"
    book = Plain()
    book.create_sheet("bids")
    book.create_sheet("Checks")
    book.save(path)
    before = path.read_bytes()
    done = here("new", path, *players(*NAMES))
    assert (done.code, done.out) == (3, "")
    assert '"Checks", "bids"' in done.said
    assert "nothing was changed" in done.said
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "code", "says"),
    [
        ("game.xls", 2, "is no workbook"),
        ("game", 2, "is no workbook"),
        ("nowhere/game.xlsx", 3, "there is no folder"),
        ("folder.xlsx", 3, "is a folder"),
    ],
)
def test_new__no_place_for_it(name: str, code: int, says: str, tmp_path: Path) -> None:
    (tmp_path / "folder.xlsx").mkdir()
    done = run("new", name, *players(*NAMES), cwd=tmp_path)
    assert (done.code, done.out) == (code, "")
    assert says in done.said


def test_new__the_same_seed_deals_the_same(tmp_path: Path) -> None:
    deals = []
    for name, seed in (("a", "one"), ("b", "one"), ("c", "two")):
        path = tmp_path / f"{name}.xlsx"
        assert here("new", path, *players(*NAMES), "--seed", seed).code == 0
        deals.append(deal(path, 1))
    assert deals[0] == deals[1] != deals[2]


# --- names that bite ---------------------------------------------------------------------------

BITING: Final = (
    '=HYPERLINK("http://example.com","click")',
    "@everyone",
    "a|b",
    "<>",
    "~t",
    "Jürgen Größe",
    "🎵🎶",
    "x" * 40,
    "-Ann",
    "+1+1",
    "O'Brien",
    '"quoted"',
    "a:b",
    "Ann & <b>Bob</b>",
    "**bold**",
    "%s {0}",
    "李小龍",
    "C# quarter",
    "Total",
)


@pytest.fixture(scope="module")
def bitten(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A match of players whose names are hostile; each bids on lot 1, the last one most."""
    path = tmp_path_factory.mktemp("biting") / "game.xlsx"
    done = run("new", path, *players(*map(seated, BITING[:-1]), f"{BITING[-1]}:2"), "--seed", "s")
    assert (done.code, done.err) == (0, "")
    book = Workbook(path)
    for seat in range(len(BITING)):
        book.put("Bids", f"{chr(ord('E') + seat)}{FIRST}", number(seat))
    book.save()
    return path


def test_biting_names__play(bitten: Path, tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    path.write_bytes(bitten.read_bytes())
    done = run("sync", path, "--close", "1")
    assert (done.code, done.err) == (0, "")
    found = run("check", path, "--json").json
    assert [p["name"] for p in found["players"]] == list(BITING)
    assert found["problems"] == []
    assert found["players"][-1]["garnets"]["start"] == 2
    assert (found["auction"][0]["winner"], found["auction"][0]["bid"]) == ("Total", 18)
    assert here("verify", path).code == 0


def test_biting_names__are_never_formulas(bitten: Path, tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    path.write_bytes(bitten.read_bytes())
    assert here("sync", path, "--close", "1").code == 0
    for part in Workbook(path).parts.values():
        for formula in re.findall(rb"<f[ >].*?</f>", part):
            assert b"example.com" not in formula
            assert b"everyone" not in formula
            assert b"+1+1" not in formula
    with opened(path) as book:
        heads = [book["Bids"].cell(BIDS_HEADER, c) for c in range(5, 5 + len(BITING))]
        assert [cell.value for cell in heads] == list(BITING)


def test_biting_names__output_fits_80_columns(bitten: Path, tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    path.write_bytes(bitten.read_bytes())
    for words in (["check"], ["sync", "--close", "1"], ["sync"], ["verify"]):
        done = run(words[0], path.name, *words[1:], cwd=tmp_path)
        assert done.code == 0
        assert widths(done) <= 80, done.out


def test_messy_round__fits_80_columns(game: Path) -> None:
    bid(game, *(("E", lot, "~" * 70) for lot in range(1, 9)), ("F", 1, 400), ("F", 2, 400))
    done = run("check", game.name, cwd=game.parent)
    assert done.code == 1
    assert widths(done) <= 80, done.out


@pytest.mark.parametrize("words", [["--close", "1", "--dry-run"], ["--close", "1"], []])
def test_sync__fits_80_columns(words: list[str], game: Path) -> None:
    bid(game, ("E", 1, 12))
    done = run("sync", game.name, *words, cwd=game.parent)
    assert done.code == 0
    assert widths(done) <= 80, done.out


def test_finished_match__fits_80_columns(finished: bytes, tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    path.write_bytes(finished)
    done = run("check", path.name, cwd=tmp_path)
    assert done.code == 0
    assert "Ann wins the Token of Life" in done.said
    assert "Elimination choice" in done.said
    assert widths(done) <= 80, done.out


# --- demo --------------------------------------------------------------------------------------


def test_demo__is_left_to_look_at_and_never_written_over(tmp_path: Path) -> None:
    done = run("demo", "show.xlsx", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert "wins the Token of Life" in done.said
    assert widths(done) <= 80
    before = (tmp_path / "show.xlsx").read_bytes()
    again = run("demo", "show.xlsx", cwd=tmp_path)
    assert (again.code, again.out) == (2, "")
    assert "exists" in again.said
    assert (tmp_path / "show.xlsx").read_bytes() == before
    assert here("verify", tmp_path / "show.xlsx").code == 0


# --- at a terminal -----------------------------------------------------------------------------


@on_a_terminal
@pytest.mark.parametrize("answer", ["y\n", "yes\n"])
def test_question__yes_closes(answer: str, game: Path) -> None:
    bid(game, ("E", 1, 12))
    done = at_terminal("sync", game, answers=answer)
    assert done.code == 0
    assert "Nothing was entered by Bob and Eve." in done.said
    assert "Close round 1 now? [y/N]" in done.said
    assert "Round 1 is closed." in done.said
    assert stage(game) == {"name": "round", "round": 2}


@on_a_terminal
@pytest.mark.parametrize("answer", ["n\n", "\n"], ids=["no", "enter"])
def test_question__no_leaves_it_open(answer: str, game: Path) -> None:
    done = at_terminal("sync", game, answers=answer)
    assert done.code == 0
    assert "Close round 1 now? [y/N]" in done.said
    assert stage(game) == {"name": "round", "round": 1}


@on_a_terminal
def test_question__ctrl_c_leaves_it_open(game: Path) -> None:
    done = at_terminal("sync", game, answers="\x03")
    assert "Traceback" not in done.out
    assert stage(game) == {"name": "round", "round": 1}


@on_a_terminal
def test_question__is_not_asked_while_a_problem_stands(game: Path) -> None:
    bid(game, ("E", 1, 5.5))
    done = at_terminal("sync", game, answers="y\n")
    assert done.code == 1
    assert "[y/N]" not in done.out
    assert stage(game) == {"name": "round", "round": 1}


@on_a_terminal
def test_question__yes_beforehand(game: Path) -> None:
    done = at_terminal("sync", game, "--yes")
    assert done.code == 0
    assert "[y/N]" not in done.out
    assert "Nothing was entered by Ann, Bob and Eve." in done.said
    assert stage(game) == {"name": "round", "round": 2}


@on_a_terminal
def test_question__is_not_asked_with_close_or_dry_run(game: Path) -> None:
    assert "[y/N]" not in at_terminal("sync", game, "--dry-run", answers="y\n").out
    assert "[y/N]" not in at_terminal("sync", game, "--close", "1", answers="y\n").out
    assert stage(game) == {"name": "round", "round": 2}


@on_a_terminal
def test_colour__on_a_terminal_only_and_never_under_no_color(game: Path) -> None:
    bid(game, ("E", 1, 5.5))
    assert "\x1b[" in at_terminal("check", game).out
    assert "\x1b[" not in at_terminal("check", game, env={"NO_COLOR": "1"}).out
    assert "\x1b[" not in at_terminal("check", game, env={"TERM": "dumb"}).out
    assert "\x1b[" not in run("check", game).out
