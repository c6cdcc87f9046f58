"""Paths that people name: what is no file, is out of reach, or is somebody else's."""

from __future__ import annotations

import errno
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from sheets_host.host.verbs import UsageError
from sheets_host.opening import Access, opener, store_for
from sheets_host.stores.base import StoreError
from sheets_host.stores.excel import locks
from sheets_host.stores.excel.doctor import diagnose
from sheets_host.stores.files import beginning, kind_of, reason, undecoded, whole
from sheets_host.telling.listening import is_ours
from sheets_host.telling.page import check_place
from tests.command import here, run
from tests.workbook import Workbook, text

posix = pytest.mark.skipif(sys.platform == "win32", reason="pipes, devices and sockets of POSIX")
pytestmark = posix

LONG = "x" * 300


@pytest.fixture(scope="module")
def finished(fresh: bytes, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A match that Ann won with a composition."""
    path = tmp_path_factory.mktemp("finished") / "game.xlsx"
    assert here("demo", path).code == 0
    return path.read_bytes()


@pytest.fixture(params=["pipe", "socket", "folder", "/dev/null", "/dev/zero"])
def special(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param.startswith("/"):
        return Path(request.param)
    path = tmp_path / "it"
    if request.param == "pipe":
        os.mkfifo(path)
    elif request.param == "folder":
        path.mkdir()
    else:
        with socket.socket(socket.AF_UNIX) as made:
            before = Path.cwd()
            os.chdir(tmp_path)  # a socket's path may not be long
            try:
                made.bind("it")
            finally:
                os.chdir(before)
    return path


# --- what is no file ---------------------------------------------------------------------------

USES: dict[str, Callable[[Path, Path], list[str | Path]]] = {
    "page": lambda game, it: ["page", game, "--out", it],
    "sync": lambda game, it: ["sync", game, "--close", "1", "--page", it],
    "restore": lambda game, it: ["restore", game, it],
    "doctor": lambda _, it: ["doctor", "--credentials", it],
    "check": lambda _, it: ["check", it],
}


@pytest.mark.parametrize("use", USES)
def test_no_file__is_refused_at_once_and_left_alone(use: str, special: Path, game: Path) -> None:
    before, kind = game.read_bytes(), kind_of(special)
    done = run(*USES[use](game, special))  # ends within some seconds, or fails
    assert done.code == 3
    assert " is " in done.said
    assert "Traceback" not in done.said
    assert kind_of(special) == kind != ""
    assert game.read_bytes() == before, "nothing was closed"


def test_no_file__in_the_place_of_music(finished: bytes, tmp_path: Path) -> None:
    pytest.importorskip("verovio", reason="the extra `music` is not installed")
    game = tmp_path / "game.xlsx"
    game.write_bytes(finished)
    done = here("listen", game, "--out", tmp_path / "music")
    assert done.code == 0
    names = [Path(line) for line in done.out.splitlines()]
    assert all(is_ours(name.read_bytes()) for name in names)
    assert here("listen", game, "--out", tmp_path / "music").code == 0, "written over"
    names[0].unlink()
    os.mkfifo(names[0])
    before = names[1].stat().st_mtime_ns
    done = here("listen", game, "--out", tmp_path / "music")
    assert done.code == 3
    assert f"{names[0]} is a pipe" in done.said
    assert names[1].stat().st_mtime_ns == before, "none was written"


@pytest.mark.parametrize("content", [b"MThd my own tune", b"<svg>my own picture</svg>", b"\0"])
def test_music__never_over_another_file(content: bytes, finished: bytes, tmp_path: Path) -> None:
    pytest.importorskip("verovio", reason="the extra `music` is not installed")
    game = tmp_path / "game.xlsx"
    game.write_bytes(finished)
    [name, *_] = here("listen", game, "--out", tmp_path / "a").out.splitlines()
    theirs = tmp_path / "b" / Path(name).name
    theirs.parent.mkdir()
    theirs.write_bytes(content)
    done = here("listen", game, "--out", tmp_path / "b")
    assert done.code == 3
    assert f"{theirs} is there already" in done.said
    assert theirs.read_bytes() == content
    assert list(theirs.parent.iterdir()) == [theirs]


def test_music__is_kept_apart_from_other_files() -> None:
    assert not is_ours(b"made by sheets-host")
    assert not is_ours(b"")


# --- a page ------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["page", "sync"])
def test_page__never_over_another_file(verb: str, game: Path) -> None:
    theirs = game.with_name("mine.html")
    theirs.write_text("<!doctype html><title>mine</title>", encoding="utf-8")
    before = theirs.read_bytes(), game.read_bytes()
    words: list[str | Path] = (
        ["--out", theirs] if verb == "page" else ["--close", "1", "--page", theirs]
    )
    done = run(verb, game, *words)
    assert done.code == 3
    assert "Name another file for the page, or remove this one first" in done.said
    assert (theirs.read_bytes(), game.read_bytes()) == before


def test_page__through_a_link_to_its_target(game: Path) -> None:
    (game.parent / "site").mkdir()
    link = game.with_name("link.html")
    link.symlink_to("site/page.html")
    for _ in range(2):
        assert run("page", "game.xlsx", "--out", "link.html", cwd=game.parent).code == 0
        assert link.is_symlink()
        assert (game.parent / "site" / "page.html").read_bytes().startswith(b"<!doctype html>")


def test_page__a_link_that_leads_back_to_itself_stays(game: Path) -> None:
    link = game.with_name("loop.html")
    link.symlink_to("loop.html")
    done = run("page", game, "--out", link)
    assert done.code == 3
    assert "symbolic links" in done.said
    assert link.is_symlink()


def test_page__no_such_folder_is_told_before_closing(game: Path) -> None:
    done = run("sync", game, "--close", "1", "--page", game.parent / "none" / "page.html")
    assert done.code == 3
    assert "Make the folder" in done.said
    assert here("check", game, "--json").json["stage"]["round"] == 1
    check_place(game.with_name("page.html"))


# --- paths that cannot be ----------------------------------------------------------------------


@pytest.mark.parametrize("name", [f"{LONG}.xlsx", "game.xlsx/game.xlsx", "loop.xlsx"])
@pytest.mark.parametrize("verb", ["check", "new", "doctor"])
def test_path__that_cannot_be(verb: str, name: str, game: Path) -> None:
    game.with_name("loop.xlsx").symlink_to("loop.xlsx")
    players = ["--player", "Ann", "--player", "Bob"] if verb == "new" else []
    done = run(verb, name, *players, cwd=game.parent)
    assert done.code == 3
    assert "->" in done.said
    assert "fault of sheets-host" not in done.said


@pytest.mark.parametrize("name", [LONG, "game.xlsx/x", "loop"])
@pytest.mark.parametrize("use", ["page", "sync", "restore", "doctor"])
def test_path__of_another_file_that_cannot_be(use: str, name: str, game: Path) -> None:
    game.with_name("loop").symlink_to("loop")
    done = run(*USES[use](game, game.parent / name))
    assert done.code == 3
    assert "->" in done.said
    assert "fault of sheets-host" not in done.said


def test_path__too_long_for_backups(game: Path) -> None:
    long = game.rename(game.with_name("x" * 248 + ".xlsx"))
    assert here("check", long).code == 0
    done = here("sync", long, "--close", "1")
    assert done.code == 3
    assert "shorten it" in done.said
    assert "shorten it" in here("doctor", long).said
    assert here("check", long, "--json").json["stage"]["round"] == 1


@pytest.mark.parametrize("path", ["a\0b.xlsx", "a\0b", "a\ud800b.xlsx", "~nosuchuser/x", LONG])
def test_path__in_a_cell_that_cannot_be(path: str, tmp_path: Path) -> None:
    with pytest.raises((UsageError, StoreError)):
        store_for(path, Access())
    # An entry sheet or a board: told where it is read.
    store = opener(str(tmp_path / "game.xlsx"), Access())(path)
    with pytest.raises(StoreError):
        store.read([])


def test_entry_sheet__of_an_impossible_path_is_a_fault_of_its_own(game: Path) -> None:
    book = Workbook(game)
    book.put("Players", "E2", text(f"{LONG}/sheet"))
    book.put("Players", "E3", text("game.xlsx/sheet.xlsx"))
    book.save()
    done = here("check", game)
    assert done.code == 3
    assert "Players!E2 (Ann)" in done.said
    assert "Players!E3 (Bob)" in done.said


# --- out of reach ------------------------------------------------------------------------------


@pytest.fixture
def shut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that lets nobody look into it, be it root."""
    folder = tmp_path / "shut"
    folder.mkdir()
    real, opened = os.stat, os.open

    def refused(path: object) -> None:
        if isinstance(path, (str, os.PathLike)) and f"{folder}{os.sep}" in f"{os.fspath(path)}":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))

    def stat(path: str, *words: object, **more: object) -> os.stat_result:
        refused(path)
        return real(path, *words, **more)  # type: ignore[arg-type]

    def open_(path: str, *words: object, **more: object) -> int:
        refused(path)
        return opened(path, *words, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "stat", stat)
    monkeypatch.setattr(os, "open", open_)
    return folder


@pytest.mark.parametrize("use", USES)
def test_out_of_reach__in_words(use: str, shut: Path, game: Path) -> None:
    before = game.read_bytes()
    done = here(*USES[use](game, shut / "it"))
    assert done.code == 3
    assert "Permission denied" in done.said
    assert "->" in done.said
    assert "fault of sheets-host" not in done.said
    assert game.read_bytes() == before


def test_out_of_reach__new(shut: Path) -> None:
    done = here("new", shut / "game.xlsx", "--player", "Ann", "--player", "Bob")
    assert done.code == 3
    assert "cannot be reached (Permission denied)" in done.said


def test_out_of_reach__sheets_and_board_are_faults_and_the_game_goes_on(
    shut: Path, game: Path
) -> None:
    book = Workbook(game)
    book.put("Players", "E2", text("shut/Ann.xlsx"))
    book.put("Settings", "B17", text("shut/board"))
    book.save()
    done = here("check", game)
    assert done.code == 3
    assert "Players!E2 (Ann)" in done.said
    assert "Permission denied" in done.said
    assert "fault of sheets-host" not in done.said


# --- the parts ---------------------------------------------------------------------------------


def test_whole__within_bounds(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12345")
    assert whole(path, 5, "hint") == b"12345"
    assert beginning(path, 3) == b"123"
    with pytest.raises(StoreError, match="too large: at most 4 bytes") as caught:
        whole(path, 4, "hint")
    assert caught.value.hint == "hint"
    with pytest.raises(StoreError, match="No such file"):
        whole(tmp_path / "none", 4, "hint")
    assert kind_of(tmp_path / "none") == kind_of(path) == kind_of(path / "below") == ""


def test_reason__is_said_of_each_kind() -> None:
    assert reason(OSError(errno.ENOSPC, "No space")) == "No space"
    assert "no path can have" in reason(UnicodeEncodeError("utf-8", "\ud800", 0, 1, "x"))
    assert reason(RuntimeError("Could not determine home directory.")).startswith("Could")
    assert undecoded("a\udcff")
    assert not undecoded("Zoë")


def test_owner_files__a_pipe_or_a_folder_is_none(game: Path) -> None:
    os.mkfifo(game.with_name(f".~lock.{game.name}#"))
    game.with_name(f"~${game.name}").mkdir()
    assert locks.holders(game) == ()


def test_owner_files__of_a_name_that_leaves_no_room(game: Path) -> None:
    assert locks.holders(game.with_name("x" * 250 + ".xlsx")) == ()


def test_lock__without_a_folder_for_temporary_files(
    game: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none() -> str:
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found")

    monkeypatch.setattr("tempfile.gettempdir", none)
    done = here("sync", game, "--close", "1")
    assert done.code == 3
    assert "TMPDIR" in done.said


def test_doctor__raises_nothing_for_a_long_name(game: Path) -> None:
    long = game.rename(game.with_name("x" * 248 + ".xlsx"))
    assert [finding.ok for finding in diagnose(long, str(long))][-1] is False
