"""Where a command's words go: streams that are closed, full or left, and what may not go there."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sheets_host.host.jsonview import printed
from sheets_host.streams import Stream, calm, lasting
from sheets_host.terminal import agreed, nearby, out, say
from tests.command import MINDING_CTRL_C, Done, at_terminal, here, run
from tests.workbook import Workbook, text

posix = pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell's redirections")
full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
STEERING = [*map(chr, (*range(0x20), *range(0x7F, 0xA0)))]
STEERING += [*"\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"]


def shell(line: str, cwd: Path, env: Mapping[str, str] | None = None) -> Done:
    """Run a line of a POSIX shell in which ``$host`` is the command."""
    done = subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=cwd,
        env={**os.environ, "host": f"{sys.executable} -m sheets_host", **(env or {})},
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def open_round(path: Path) -> object:
    return here("check", path, "--json").json["stage"]["round"]


# --- streams that take nothing -----------------------------------------------------------------


@posix
@pytest.mark.parametrize("closed", [">&-", "<&-", "2>&-", ">&- 2>&- <&-"])
def test_closed__the_work_is_done_all_the_same(closed: str, game: Path) -> None:
    done = shell(f"$host sync game.xlsx --close 1 {closed}", game.parent)
    assert (done.code, done.err) == (0, "")
    assert open_round(game) == 2
    assert here("verify", game).code == 0


@posix
def test_closed__errors_keep_their_code(tmp_path: Path) -> None:
    assert shell("$host check none.xlsx 2>&-", tmp_path).code == 3
    done = shell("$host check none.xlsx >&- 2>&-", tmp_path)
    assert (done.code, done.out, done.err) == (3, "", "")


@posix
@full
@pytest.mark.parametrize("words", ["sync game.xlsx --close 1", "--help", "check game.xlsx --json"])
def test_full__is_told_and_is_no_success(words: str, game: Path) -> None:
    done = shell(f"$host {words} >/dev/full", game.parent)
    assert done.code == 3
    assert "the results cannot be printed: No space left on device" in done.err
    assert "Traceback" not in done.err
    assert "Exception ignored" not in done.err
    assert open_round(game) == (2 if "sync" in words else 1)


@posix
@full
def test_full__stderr_too(tmp_path: Path) -> None:
    assert shell("$host check none.xlsx 2>/dev/full", tmp_path).code == 3


@posix
def test_broken_pipe__is_quiet(game: Path) -> None:
    # The reader closes before the first word is there.
    done = shell("{ $host sync game.xlsx --close 1; echo $? >code; } | true", game.parent)
    assert done.err == ""
    assert (game.parent / "code").read_text() == "0\n"
    assert open_round(game) == 2


@posix
@full
def test_every__goes_on_where_nothing_can_be_printed(game: Path) -> None:
    book = Workbook(game)
    book.put("Settings", "B4", text("2020-01-01 00:00"))
    book.save()
    words = [sys.executable, "-c", MINDING_CTRL_C, "sync", str(game), "--due", "--every", "5"]
    words += ["--page", str(game.with_name("page.html"))]
    with (
        open("/dev/full", "w") as nowhere,  # noqa: PTH123
        subprocess.Popen(words, stdout=nowhere, stderr=subprocess.PIPE, text=True) as running,
    ):
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.wait(4)  # the first turn is over then, the second is not begun
        assert running.poll() is None
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=30)
    assert running.returncode == 3
    assert "cannot be printed" in said
    assert "Traceback" not in said
    assert open_round(game) == 2
    assert game.with_name("page.html").exists(), "what follows the closing is done, too"


class Failing(io.StringIO):
    def write(self, _text: str) -> int:
        raise OSError(28, "No space left on device")


def test_stream__what_failed_once_is_left_alone() -> None:
    stream = Stream(Failing())
    assert stream.write("word") == 4
    assert stream.trouble == "No space left on device"
    stream.write("more")
    stream.flush()
    assert not stream.isatty()


def test_lasting__puts_back_what_was_there() -> None:
    with contextlib.redirect_stdout(io.StringIO()) as ours:
        with lasting():
            assert sys.stdout is not ours
            out("word")
        assert sys.stdout is ours
    assert ours.getvalue() == "word\n"


# --- the present folder, Ctrl-C ----------------------------------------------------------------


@posix
def test_removed_folder__is_no_obstacle_to_a_path_from_the_root(game: Path) -> None:
    gone = game.parent / "gone"
    gone.mkdir()
    done = shell(f"rmdir '{gone}' && $host sync '{game}' --close 1", gone)
    assert (done.code, done.err) == (0, "")
    gone.mkdir()
    done = shell(f"rmdir '{gone}' && $host check game.xlsx", gone)
    assert done.code == 3
    assert "the present folder was removed" in done.said


def test_nearby__without_a_present_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> Path:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(Path, "cwd", gone)
    assert nearby("/a/b") == "/a/b"


@posix
def test_question__ctrl_c_ends_with_130_and_closes_nothing(game: Path) -> None:
    done = at_terminal("sync", game, answers="\x03")
    assert done.code == 130
    assert "Nothing was closed: round 1 is still open." in done.said
    assert "Traceback" not in done.out
    assert open_round(game) == 1


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("y\n", True),
        (" YES \n", True),
        ("n\n", False),
        ("\n", False),
        ("", False),
        ("x\ny\n", True),
    ],
)
def test_agreed__only_a_yes_is_one(
    typed: str, answer: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
    assert agreed("Close round 1 now?") is answer


# --- what steers a terminal --------------------------------------------------------------------


@pytest.mark.parametrize("character", STEERING, ids=lambda c: f"U+{ord(c):04X}")
def test_words__steer_no_terminal(character: str, capsys: pytest.CaptureFixture[str]) -> None:
    say(f"a{character}b")
    out(f"a{character}b")
    seen = capsys.readouterr()
    assert character == "\n" or character not in seen.out[:-1] + seen.err[:-1]


def test_stream__stderr_lets_no_colour_through() -> None:
    under = io.StringIO()
    Stream(under, plain=True).write("No such option: --\x1b[31m\u202ex\x9b\n")
    assert under.getvalue() == "No such option: -- [31m x \n"


def test_arguments__steer_no_terminal(game: Path) -> None:
    for words in (["check", game, "ex\x1b[31mtra"], ["check", "a\u202e\x9b.ods"], ["\x1b[31m"]):
        done = run(*words)
        assert done.code == 2
        assert not {"\x1b", "\u202e", "\x9b"} & set(done.said)


@given(st.text() | st.sampled_from(STEERING))
def test_json__is_the_same_and_steers_nothing(words: str) -> None:
    shown = printed({"words": words})
    assert json.loads(shown) == {"words": words}
    assert calm(shown) == shown
    assert shown.encode("utf-8")


def test_json__keeps_the_letters_of_people() -> None:
    assert "Zoë 李小龍 🎵" in printed({"name": "Zoë 李小龍 🎵"})


def test_workbook__steers_no_terminal(game: Path) -> None:
    ugly = "x\u202e\x9b\u2066\x85y"
    book = Workbook(game)
    book.put("Bids", "E7", text(ugly))
    book.put("Settings", "B2", text(ugly))
    book.put("Players", "E2", text(f"{ugly}.xlsx"))
    book.save()
    for words in (["check"], ["check", "--json"], ["sync"], ["announce"], ["doctor"], ["verify"]):
        done = here(words[0], game, *words[1:])
        assert not set(ugly[1:-1]) & set(done.out + done.err), words


# --- the last net ------------------------------------------------------------------------------


@pytest.fixture
def faulty(monkeypatch: pytest.MonkeyPatch) -> list[BaseException]:
    """Let the next check fail with what the test puts in."""
    errors: list[BaseException] = []

    def fails(*_: object, **__: object) -> None:
        raise errors[0]

    monkeypatch.setattr("sheets_host.host.verbs.read_match", fails)
    return errors


@pytest.mark.parametrize(
    "error", [KeyError("secret"), RecursionError("secret"), AssertionError("secret"), TypeError()]
)
def test_unforeseen__ends_in_words(
    error: BaseException, faulty: list[BaseException], game: Path
) -> None:
    faulty.append(error)
    done = here("check", game)
    assert (done.code, done.out) == (3, "")
    assert f"a fault of sheets-host itself: {type(error).__name__} in " in done.said
    assert os.path.join("host", "verbs.py") in done.said  # noqa: PTH118
    assert "report it" in done.said
    assert "Traceback" not in done.said
    assert "secret" not in done.said


def test_unforeseen__memory(faulty: list[BaseException], game: Path) -> None:
    faulty.append(MemoryError())
    done = here("check", game)
    assert done.code == 3
    assert "not enough memory" in done.said


def test_unforeseen__what_the_system_says_is_told(faulty: list[BaseException], game: Path) -> None:
    faulty.append(PermissionError(13, "Permission denied", "some.file"))
    done = here("check", game)
    assert done.code == 3
    assert "some.file Permission denied" in done.said


def test_unforeseen__the_traceback_for_those_who_ask(
    faulty: list[BaseException], game: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHEETS_HOST_TRACEBACK", "1")
    faulty.append(KeyError("x"))
    done = here("check", game)
    assert done.code == 3
    assert "Traceback (most recent call last)" in done.err
    assert "a fault of sheets-host itself" in done.err


def test_interrupted__says_so(faulty: list[BaseException], game: Path) -> None:
    faulty.append(KeyboardInterrupt())
    done = here("check", game)
    assert (done.code, done.err) == (130, "sheets-host: stopped\n")


# --- letters that the system's setting does not know -------------------------------------------


@posix
def test_language__a_name_is_never_recorded_without_its_letters(tmp_path: Path) -> None:
    bare = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = shell("$host new game.xlsx --player Zoë --player Bob", tmp_path, bare)
    assert done.code == 2
    assert "PYTHONUTF8=1" in done.said
    assert list(tmp_path.iterdir()) == []


@posix
def test_name__of_bytes_that_are_no_text(tmp_path: Path) -> None:
    done = shell(r"$host new game.xlsx --player $(printf 'Zo\377') --player Bob", tmp_path)
    assert done.code == 2
    assert '"Zo" holds bytes that are no UTF-8' in done.said
