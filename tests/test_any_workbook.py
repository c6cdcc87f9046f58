"""A whole game through the command, in workbooks that were somebody's before: nothing is lost."""

from __future__ import annotations

import shutil
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import openpyxl
import pytest

from sheets_host.tabs.layout import TOOL_TABS
from tests.command import Done, here
from tests.foreign import FOREIGN, OFFICE_FOREIGN, unicode_tabs
from tests.in_place import InPlace, packed, parts_of
from tests.office import Office
from tests.package import Package
from tests.package_diff import assert_kept
from tests.packages import link, relationships
from tests.playing import bid, compose, exchange, find, look
from tests.test_excel_package import REFUSED as BROKEN

SECONDS: Final = 2.0
"""What any refusal may take, on the slowest machine that tests run on."""
MEGABYTES: Final = 150
"""The most memory that refusing all broken files may take, Python itself included."""


def done(*words: str | Path) -> Done:
    """Run a command that must succeed."""
    made = here(*words)
    assert made.code == 0, made.said
    return made


def synced(path: Path, *words: str) -> None:
    """Sync, and compare everything that is not the tool's own with what stood before."""
    before = path.read_bytes()
    done("sync", path, *words)
    # The chain of formulas goes where a replaced cell held one.
    assert_kept(before, path.read_bytes(), except_tabs=TOOL_TABS, except_parts=["*calcChain.xml"])


def play(path: Path) -> None:
    """Begin a game in a workbook, type, close two rounds; everything else must stay."""
    before = path.read_bytes()
    done("new", path, "--player", "Ann:3", "--player", "Bob", "--seed", "any")
    assert_kept(before, path.read_bytes())
    desk = InPlace(path)
    bid(desk, "Ann", 1, {1: 40, 3: 12, 8: 0})
    bid(desk, "Bob", 1, {1: 39, 4: " 7 "})
    exchange(desk, "Ann", 1, 1)
    synced(path)
    synced(path, "--close", "1")
    bid(desk, "Bob", 2, {2: 33})
    synced(path, "--close", "2")
    after = path.read_bytes()
    synced(path)
    assert path.read_bytes() == after, "a sync that has nothing to say wrote all the same"
    done("verify", path)
    ledger = look(desk).ledger
    left = {name: ledger.balances[1, name].left for name in ("Ann", "Bob")}
    assert left == {"Ann": 500 + 10 - 52, "Bob": 500 - 46}
    assert len(ledger.notes("Ann")) == 3
    assert len(ledger.notes("Bob")) == 2


def without_look_alikes(path: Path) -> None:
    """Rename a tab that `new` would take for a copy of one of its own."""
    with parts_of(path) as parts:
        workbook = parts["xl/workbook.xml"]
        parts["xl/workbook.xml"] = workbook.replace(b'"Bids (2)"', b'"Offers (2)"')


@pytest.mark.parametrize(("name", "make"), FOREIGN, ids=[name for name, _ in FOREIGN])
def test_game__in_a_foreign_workbook(
    name: str, make: Callable[[Path], Path], tmp_path: Path
) -> None:
    path = make(tmp_path)
    if name == "unicode tabs":
        without_look_alikes(path)
    kind = Package(path).content_types["xl/workbook.xml"]
    macros = Package(path).parts.get("xl/vbaProject.bin")
    play(path)
    after = Package(path)
    assert after.content_types["xl/workbook.xml"] == kind
    assert after.parts.get("xl/vbaProject.bin") == macros
    assert (macros is not None) == (path.suffix == ".xlsm")


@pytest.mark.office
@pytest.mark.parametrize(("name", "make"), OFFICE_FOREIGN, ids=[n for n, _ in OFFICE_FOREIGN])
def test_game__in_a_workbook_of_libreoffice(
    name: str, make: Callable[[Office, Path], Path], office: Office, tmp_path: Path
) -> None:
    play(make(office, tmp_path))


@pytest.mark.office
def test_game__typed_into_with_libreoffice(office: Office, tmp_path: Path) -> None:
    """From each save of LibreOffice on, which writes the whole file anew, nothing is lost."""
    path = dict(FOREIGN)["conditional formats"](tmp_path)
    done("new", path, "--player", "Ann:3", "--player", "Bob", "--seed", "any")
    desk = InPlace(path)
    for round_, typed in ((1, "41"), (2, "=20+22")):
        grid = desk.read(("Bids",)).grids["Bids"]
        with office.open(path) as doc:
            doc.type("Bids", find(grid, {"Round": round_, "Lot": 2}, "Ann"), typed)
            doc.save()
        synced(path)
        synced(path, "--close", str(round_))
    balances = [look(desk).ledger.balances[round_, "Ann"].bid for round_ in (1, 2)]
    assert balances == [41, 42]
    done("verify", path)


CORPUS_REFUSED: Final = {
    "poi__SampleSS.strict.xlsx": 'saved as "Strict Open XML Spreadsheet", which is not supported',
    "poi__hello-world-signed.xlsx": "is digitally signed: any change would break the signature",
    "calamine__pass_protected.xlsx": "is protected by a password to open it",
    "python-calamine__empty_file.xlsx": "is empty (0 bytes)",
}


def test_game__in_every_workbook_of_the_corpus_or_refused(corpus: Path, tmp_path: Path) -> None:
    files = sorted(corpus.glob("*.xls[xm]"))
    assert len(files) > 10
    refused = {}
    for file in files:
        path = tmp_path / file.name
        shutil.copyfile(file, path)
        if file.name not in CORPUS_REFUSED:
            play(path)
            continue
        made = here("new", path, "--player", "Ann")
        assert made.code == 3
        assert path.read_bytes() == file.read_bytes()
        refused[file.name] = made.said
    assert refused.keys() == CORPUS_REFUSED.keys()
    for name, reason in CORPUS_REFUSED.items():
        assert reason in refused[name]
        assert " -> " in refused[name]


def test_game__to_its_end_in_a_foreign_workbook(tmp_path: Path) -> None:
    path = dict(FOREIGN)["charts"](tmp_path)
    done("new", path, "--player", "Ann:3", "--player", "Bob", "--seed", "any")
    desk = InPlace(path)
    for round_ in range(1, 7):
        bid(desk, "Ann", round_, {lot: 5 + lot for lot in range(1, 5)})
        bid(desk, "Bob", round_, {lot: lot for lot in range(5, 9)})
        synced(path, "--close", str(round_))
    for name in ("Ann", "Bob"):
        compose(desk, name, look(desk).ledger.notes(name))
    synced(path, "--close", "final")
    done("verify", path)
    assert here("check", path, "--json").json["winner"] in ("Ann", "Bob")


# --- files that are no workbooks ---------------------------------------------------------------


@pytest.mark.parametrize("case", BROKEN)
@pytest.mark.parametrize("verb", ["sync", "new"])
def test_broken__one_line_and_what_to_do(case: str, verb: str, tmp_path: Path) -> None:
    make, reason, hint = BROKEN[case]
    path = tmp_path / "Game.xlsx"
    path.write_bytes(before := make())
    start = time.monotonic()
    made = here(verb, path, *(["--player", "Ann"] if verb == "new" else []))
    assert time.monotonic() - start < SECONDS
    assert made.code == 3
    assert made.out == ""
    assert reason in made.said
    assert hint in made.said
    assert made.err.startswith("sheets-host: ")
    assert made.err.count("\n  -> ") == 1, "one thing is said, and what to do"
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["Game.xlsx"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not tell the peak so")
def test_broken__all_of_them_in_little_memory(tmp_path: Path) -> None:
    for number, (make, _, _) in enumerate(BROKEN.values()):
        (tmp_path / f"{number}.xlsx").write_bytes(make())
    script = textwrap.dedent(
        """
        import sys
        from pathlib import Path
        from tests.command import here
        from tests.peak import peak

        for path in sorted(Path(sys.argv[1]).iterdir()):
            assert here("sync", path).code == 3, path
        print(peak())
        """
    )
    run = [sys.executable, "-c", script, str(tmp_path)]
    root = Path(__file__).parents[1]
    made = subprocess.run(run, cwd=root, capture_output=True, text=True, timeout=60, check=True)
    assert float(made.stdout) < MEGABYTES


# --- tabs that were tampered with --------------------------------------------------------------


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("game") / "Game.xlsx"
    done("new", path, "--player", "Ann:3", "--player", "Bob", "--seed", "any")
    bid(InPlace(path), "Ann", 1, {1: 40})
    return path.read_bytes()


Parts = dict[str, bytes]
TABLE: Final = b"""<table xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"
 id="1" name="Table1" displayName="Table1" ref="A1:B2"/>"""


def put(parts: Parts, tab: str, old: str, new: str) -> None:
    """Replace the first such markup of a tab's part; of the workbook's where the tab is ""."""
    part = Package(packed(parts)).part_of(tab) if tab else "xl/workbook.xml"
    assert old.encode() in parts[part], (tab, old)
    parts[part] = parts[part].replace(old.encode(), new.encode(), 1)


def renamed(tab: str, title: str) -> Callable[[Parts], None]:
    return lambda parts: put(parts, "", f'<sheet name="{tab}"', f'<sheet name="{title}"')


def edited(tab: str, old: str, new: str) -> Callable[[Parts], None]:
    return lambda parts: put(parts, tab, old, new)


def both(one: Callable[[Parts], None], two: Callable[[Parts], None]) -> Callable[[Parts], None]:
    def tamper(parts: Parts) -> None:
        one(parts)
        two(parts)

    return tamper


def made_a_table(parts: Parts) -> None:
    part = Package(packed(parts)).part_of("Bids")
    folder, _, file = part.rpartition("/")
    parts["xl/tables/table1.xml"] = TABLE
    rels = f"{folder}/_rels/{file}.rels"
    parts[rels] = relationships(link("rId1", "table", "../tables/table1.xml")).encode()


TAMPERED: Final[dict[str, tuple[Callable[[Parts], None], tuple[str, ...]]]] = {
    # name: what was done, and what the command says of it
    "a tab renamed": (
        renamed("Bids", "Bidz"),
        ('the tab "Bids" is missing; the nearest is "Bidz"', 'rename the tab back to "Bids"'),
    ),
    "two tabs renamed": (
        both(renamed("Bids", "My Bids"), renamed("Players", "My Players")),
        ('the tab "Bids" is missing', 'the tab "Players" is missing'),
    ),
    "a tab doubled": (
        renamed("How to play", "Bids (2)"),
        ('two tabs claim to be "Bids": it and "Bids (2)"', "delete or rename the one"),
    ),
    "a tab turned into a table": (
        made_a_table,
        ('a spreadsheet table ("Table1") was laid over this tab', "Convert to Range"),
    ),
    "a header renamed": (
        edited("Bids", "<t>Lot</t>", "<t>Lott</t>"),
        ('the header "Lot" is missing', '"Lott" in', "is the nearest"),
    ),
    "a header doubled": (
        edited("Bids", "<t>State</t>", "<t>Round</t>"),
        ('the header "Round" stands twice', "rename or delete"),
    ),
    "a player's column misspelt": (
        edited("Bids", "<t>Ann</t>", "<t>Anne</t>"),
        ('"Anne" heads a column', 'no column is headed "Ann"', "Ann"),
    ),
    "a player's column doubled": (
        edited("Bids", "<t>Bob</t>", "<t>Ann</t>"),
        ('"Ann" heads two columns', 'no column is headed "Bob"'),
    ),
    "a key damaged": (
        edited("Exchanges", "<v>3</v>", "<v>33</v>"),
        ("Exchanges!A9", "33", "the row of Round 3 is missing"),
    ),
    "a key doubled": (
        edited("Exchanges", "<v>3</v>", "<v>2</v>"),
        ("Exchanges!A9", "rows 8 and 9", "the row of Round 3 is missing"),
    ),
}


@pytest.mark.parametrize("case", TAMPERED)
def test_tampered__everything_wrong_is_named(case: str, game: bytes, tmp_path: Path) -> None:
    tamper, said = TAMPERED[case]
    path = tmp_path / "Game.xlsx"
    path.write_bytes(game)
    with parts_of(path) as parts:
        tamper(parts)
    before = path.read_bytes()
    for words in (["check"], ["sync"], ["sync", "--close", "1"]):
        made = here(words[0], path, *words[1:])
        assert made.code == 3
        for each in said:
            assert each in made.said
        assert "Nothing was changed" in made.said
        assert path.read_bytes() == before


def test_tampered__a_hidden_tab_is_read_with_a_notice(game: bytes, tmp_path: Path) -> None:
    path = tmp_path / "Game.xlsx"
    path.write_bytes(game)
    with parts_of(path) as parts:
        put(parts, "", '<sheet name="Bids"', '<sheet state="hidden" name="Bids"')
    made = done("check", path)
    assert "the tab is hidden; it is read all the same" in made.said
    assert "40" in made.said


def test_new__look_alikes_of_its_tabs_are_refused(tmp_path: Path) -> None:
    path = unicode_tabs(tmp_path)
    before = path.read_bytes()
    made = here("new", path, "--player", "Ann")
    assert made.code == 3
    assert 'tabs of these names are in the way: "Bids (2)"' in made.said
    assert path.read_bytes() == before


def test_styles__of_a_workbook_that_openpyxl_saves_between_do_not_pile_up(tmp_path: Path) -> None:
    """It writes ``<b val="1"/>`` for ``<b/>``, leaves out ``applyFont`` and says that nothing pivots."""
    path = tmp_path / "game.xlsx"
    assert here("new", path, "--player", "Ann", "--player", "Bob").code == 0
    counts = set()
    for turn in range(4):
        book = openpyxl.load_workbook(path)
        book["Bids"]["E7"] = turn + 1
        book.save(path)
        done = here("sync", path)
        assert "Checks" in done.out, done.said
        styles = Package(path).tree("xl/styles.xml")
        counts.add(str({child.tag: len(child) for child in styles}))
    assert len(counts) == 1
