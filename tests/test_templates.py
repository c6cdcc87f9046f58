"""The workbooks in templates/ are what the code makes today."""

import runpy
from pathlib import Path

import pytest

from tests.command import run

TEMPLATES = Path(__file__).parents[1] / "templates"
NAMES = ("blank-game.xlsx", "round-3-with-mistakes.xlsx")


@pytest.mark.parametrize("name", NAMES)
def test_templates__are_current(name: str, tmp_path: Path) -> None:
    build = runpy.run_path(str(TEMPLATES / "build.py"))["build"]
    build(tmp_path)
    assert (tmp_path / name).read_bytes() == (TEMPLATES / name).read_bytes(), (
        "run: python templates/build.py"
    )


def test_blank_game__filled_in_and_completed_by_new(tmp_path: Path) -> None:
    import openpyxl

    path = tmp_path / "game.xlsx"
    path.write_bytes((TEMPLATES / NAMES[0]).read_bytes())
    book = openpyxl.load_workbook(path)
    book["Players"]["A2"], book["Players"]["B2"] = "Ann", 2
    book["Players"]["A3"] = "Bob"
    book["Settings"]["B2"] = "Our game"
    book.save(path)
    done = run("new", path)
    assert done.code == 0, done.err
    assert "completed for 2 players: Ann and Bob" in done.said
    checked = run("check", path, "--json").json
    assert checked["game"] == "Our game"
    assert [(p["name"], p["garnets"]["start"]) for p in checked["players"]] == [
        ("Ann", 2),
        ("Bob", 0),
    ]


def test_blank_game__without_players_is_refused_in_words(tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    path.write_bytes((TEMPLATES / NAMES[0]).read_bytes())
    before = path.read_bytes()
    done = run("new", path)
    assert done.code == 2
    assert "no player stands in Players" in done.said
    assert path.read_bytes() == before


def test_messy_game__check_names_every_mistake(tmp_path: Path) -> None:
    path = tmp_path / "messy.xlsx"
    path.write_bytes((TEMPLATES / NAMES[1]).read_bytes())
    done = run("check", path, "--json")
    assert done.code == 1
    found = {(p["code"], p["player"]) for p in done.json["problems"]}
    assert found == {
        ("not-a-number", "Ann"),
        ("negative", "Ann"),
        ("read-as-blank", "Ann"),
        ("stored-as-text", "Ann"),
        ("separator", "Bob"),
        ("no-stored-value", "Bob"),
        ("over-budget", "Bob"),
        ("not-whole", "Chloé"),
        ("too-few-garnets", "Chloé"),
    }
