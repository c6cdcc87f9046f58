"""The files of `listen`: names that every system takes, and what is in them."""

from __future__ import annotations

import ntpath
import unicodedata
from pathlib import Path, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sheets_host.game.notes import ALL_NOTES
from sheets_host.telling.listening import listen_files, safe_name

NAMES = [
    ("Ann", "Ann"),
    ("Ann Lee", "Ann Lee"),
    ("Zoë 日本", "Zoë 日本"),
    ("Zoe\u0308", "Zoë"),
    ("  Ann\t Lee \n", "Ann Lee"),
    ("a/b\\c:d*e?f", "a-b-c-d-e-f"),
    ('"<Ann>|"', "Ann---"),
    ("../../etc/passwd", "etc-passwd"),
    ("C:\\Users", "C--Users"),
    ("CON", "_CON"),
    ("con.txt", "_con.txt"),
    ("nul .x", "_nul .x"),
    ("COM1", "_COM1"),
    ("LPT³", "_LPT³"),
    ("Conrad", "Conrad"),
    ("COM10", "COM10"),
    ("Ann.", "Ann"),
    ("Ann . .", "Ann"),
    (".hidden", "hidden"),
    ("-rf", "rf"),
    ("Ann\u202egnp.exe", "Anngnp.exe"),
    ("Ann\0\x1b", "Ann"),
    ("\ud800", "player"),
    ("", "player"),
    ("...", "player"),
    ("/", "player"),
    ("x" * 300, "x" * 100),
    ("é" * 300, "é" * 50),
]


@pytest.mark.parametrize(("player", "expected"), NAMES)
def test_safe_name__by_hand(player: str, expected: str) -> None:
    assert safe_name(player, set()) == expected


def test_safe_name__numbers_what_is_the_same_file_somewhere() -> None:
    taken: set[str] = set()
    for player, expected in (
        ("Ann", "Ann"),
        ("ANN", "ANN 2"),
        ("ann.", "ann 3"),
        ("Ann 2", "Ann 2 2"),
        ("É" * 60, "É" * 50),
        ("e\u0301" * 60, "é" * 49 + " 2"),
    ):
        taken.add(name := safe_name(player, taken))
        assert name == expected


def reserved(name: str) -> bool:
    """Tell what Python knows of Windows' devices; from 3.13 on it is asked elsewhere."""
    ask = getattr(ntpath, "isreserved", None)
    return bool(ask(name)) if ask else PureWindowsPath(name).is_reserved()


@given(st.lists(st.text() | st.sampled_from(["con", "Aux.x", "a", "A", "a ", "á", "Á"])))
def test_safe_name__is_safe_and_the_only_one(players: list[str]) -> None:
    taken: set[str] = set()
    for player in players:
        taken.add(name := safe_name(player, taken))
        assert name == name.strip(" .")
        assert not name.startswith("-")
        assert not reserved(f"{name}.mid")
        assert not set('<>:"/\\|?*') & set(name)
        assert all(unicodedata.category(c)[0] != "C" for c in name)
        assert 0 < len(name.encode()) <= 110
        assert Path(name).name == name
    same = {unicodedata.normalize("NFD", name).casefold() for name in taken}
    assert len(taken) == len(same) == len(players)


def test_listen_files__two_a_player_who_composed(tmp_path: Path) -> None:
    pytest.importorskip("mido", reason="the extra `music` is not installed")
    pytest.importorskip("verovio", reason="the extra `music` is not installed")
    files = listen_files(
        {"Ann/": ALL_NOTES[:5], "ann-": ALL_NOTES[5:10], "Bob": ()}, "Auction & Co"
    )
    assert list(files) == ["Ann-.mid", "Ann-.svg", "ann- 2.mid", "ann- 2.svg"]
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
        assert content.startswith(b"MThd" if name.endswith(".mid") else b"<svg")
    assert "Ann/ – Auction & Co".encode() in files["Ann-.mid"]
    assert "Ann/ – Auction &amp; Co".encode() in files["Ann-.svg"]
