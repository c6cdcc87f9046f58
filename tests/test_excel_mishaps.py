"""What goes wrong around a file while a game is hosted: kills, locks, races, full disks.

Each through the real command. Whatever happens, the file is the old one or the new one, whole,
and the next sync completes.
"""

from __future__ import annotations

import errno
import functools
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from sheets_host.stores.excel import locks, saving, store
from tests.command import SECONDS, Done, here
from tests.in_place import InPlace
from tests.playing import bid, look
from tests.test_excel_saving import excel_owner_file

ROOT: Final = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("fresh") / "game.xlsx"
    assert here("new", path, "--player", "Ann:3", "--player", "Bob", "--seed", "any").code == 0
    bid(InPlace(path), "Ann", 1, {1: 40})
    bid(InPlace(path), "Bob", 1, {2: 7})
    return path.read_bytes()


@pytest.fixture
def path(game: Path) -> Path:
    return game


def close(path: Path, *more: str) -> Done:
    return here("sync", path, "--close", "1", *more)


def left_over(path: Path) -> list[Path]:
    """Temporary files beside a workbook and among its backups."""
    return list(path.parent.rglob("*.tmp"))


def refused(path: Path, *said: str) -> None:
    """Close round 1, which must fail: in one line what, in one what to do; the file as it was."""
    before = path.read_bytes()
    made = close(path)
    assert made.code == 3, made.said
    assert made.out == ""
    assert made.err.startswith("sheets-host: ")
    assert made.err.count("\n  -> ") == 1
    for each in said:
        assert each in made.said
    assert path.read_bytes() == before
    assert left_over(path) == []


def completes(path: Path) -> None:
    """Close round 1, which must now succeed, and be what was typed."""
    made = close(path)
    assert made.code == 0, made.said
    assert here("verify", path).code == 0
    ledger = look(InPlace(path)).ledger
    assert [ledger.balances[1, name].left for name in ("Ann", "Bob")] == [460, 493]
    assert left_over(path) == []


# --- killed in the middle ----------------------------------------------------------------------

_KILLED: Final = 77
_KILL: Final = textwrap.dedent(
    f"""
    import os, sys
    from sheets_host import cli
    from sheets_host.stores.excel import store

    target = sys.argv.pop(1)
    save = store.saving.save

    def step(name):
        if name == target:
            os._exit({_KILLED})

    store.saving.save = lambda job, _: save(job, step)
    cli.main()
    """
)


@pytest.mark.parametrize("step", saving.STEPS)
def test_killed__at_each_step_of_a_closing(path: Path, fresh: bytes, step: str) -> None:
    run = [sys.executable, "-c", _KILL, step, "sync", str(path), "--close", "1"]
    assert subprocess.run(run, cwd=ROOT, check=False, timeout=SECONDS).returncode == _KILLED
    replaced = saving.STEPS.index(step) > saving.STEPS.index("replace")
    assert (path.read_bytes() != fresh) == replaced
    completes(path)


@pytest.mark.parametrize("step", saving.STEPS)
def test_killed__at_each_step_of_new(tmp_path: Path, step: str) -> None:
    path = tmp_path / "game.xlsx"
    run = [sys.executable, "-c", _KILL, step, "new", str(path), "--player", "Ann"]
    assert subprocess.run(run, cwd=ROOT, check=False, timeout=SECONDS).returncode == _KILLED
    if path.exists():
        assert step == saving.STEPS[-1]
        assert here("sync", path).code == 0
    else:
        assert here("new", path, "--player", "Ann").code == 0
    assert left_over(path) == []
    assert here("verify", path).code == 0


# --- open elsewhere ----------------------------------------------------------------------------


def excel_holds(path: Path) -> Path:
    lock = path.with_name("~$" + path.name)
    lock.write_bytes(excel_owner_file("Clara Schumann"))
    return lock


def libreoffice_holds(path: Path) -> Path:
    lock = path.with_name(f".~lock.{path.name}#")
    lock.write_text("Clara Schumann,clara,pc-7,29.11.2026 20:15,file:///x;", encoding="utf-8")
    return lock


@pytest.mark.parametrize(
    ("hold", "who"),
    [
        (excel_holds, "is open in Excel (Clara Schumann)"),
        (libreoffice_holds, "is open in LibreOffice (Clara Schumann on pc-7)"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="Windows knows these for left-overs")
def test_open__names_who_has_it_and_the_way_past(
    path: Path, hold: Callable[[Path], Path], who: str
) -> None:
    lock = hold(path)
    refused(path, who, "The file was not changed", lock.name, "--ignore-lock")
    looked = here("check", path)
    assert looked.code == 0, "reading hurts nobody"
    assert "what is not saved there is not read" in looked.said
    assert close(path, "--ignore-lock").code == 0
    lock.unlink()
    completes(path)


def test_open__a_lock_left_behind_is_no_lock(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = libreoffice_holds(path)
    monkeypatch.setattr(locks, "_office_is_gone", lambda computer: computer == "pc-7")
    assert "was left behind by LibreOffice" in here("doctor", path).said
    assert lock.exists()
    completes(path)


def test_another_run__is_waited_for_and_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "alone", functools.partial(locks.alone, patience=0.2))
    hold = (
        "import sys; from pathlib import Path; from sheets_host.stores.excel.locks import alone\n"
        "with alone(Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", hold, os.path.realpath(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as other:
        assert other.stdout
        assert other.stdout.readline() == "held\n"
        refused(path, "another sheets-host is writing this workbook", "Wait until it is done")
        other.kill()
    completes(path)


def test_another_run__two_close_at_once_and_one_does(path: Path) -> None:
    run = [sys.executable, "-m", "sheets_host", "sync", str(path), "--close", "1"]
    both = [
        subprocess.Popen(run, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for each in both:
        out, err = each.communicate(timeout=SECONDS)
        assert each.returncode in (0, 3), out + err
        assert "Traceback" not in err
        if each.returncode == 3:
            assert "was changed by someone else meanwhile; nothing was written" in err
    assert 0 in [each.returncode for each in both]
    record = look(InPlace(path)).record
    assert sum(event.kind == "closed" for event in record.events) == 1
    completes(path)


# --- changed meanwhile -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda path: bid(InPlace(path), "Ann", 1, {3: 9}),
            "was changed by someone else meanwhile",
        ),
        (lambda path: path.write_bytes(b"PK"), "was changed by someone else meanwhile"),
        (lambda path: path.unlink(), "was removed or renamed meanwhile"),
    ],
)
@pytest.mark.parametrize("step", ["check", "check again"])
def test_changed__between_reading_and_writing(
    path: Path,
    fresh: bytes,
    step: str,
    change: Callable[[Path], None],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    save = saving.save

    def at(name: str) -> None:
        if name == step:
            change(path)

    with monkeypatch.context() as patch:
        patch.setattr(saving, "save", lambda job, _: save(job, at))
        made = close(path)
    assert made.code == 3
    assert said in made.said
    assert "nothing was written" in made.said
    assert not path.exists() or path.read_bytes() != fresh, "the other's file went"
    path.write_bytes(fresh)
    completes(path)


# --- disks and folders -------------------------------------------------------------------------

_ON_A_SMALL_DISK: Final = textwrap.dedent(
    """
    import subprocess, sys
    from pathlib import Path
    from tests.test_excel_mishaps import completes, refused

    source, folder, how = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", folder]).returncode:
        sys.exit(99)
    path = folder / "game.xlsx"
    path.write_bytes(source.read_bytes())

    def remount(option):
        subprocess.run(["mount", "-o", f"remount,bind,{option}", folder], check=True)

    if how == "full":
        filler = folder / "filler"
        with filler.open("wb", buffering=0) as file:
            try:
                while file.write(bytes(4096)):
                    pass
            except OSError:
                pass
        for room in range(0, 30):  # pages of 4 KB that are free: it fails further on each time
            if room * 4096 > len(source.read_bytes()) * 2:
                break
            refused(path, "No space left on device", "make room")
            with filler.open("r+b") as file:
                file.truncate(filler.stat().st_size - 4096)
        filler.unlink()
    else:
        remount("ro")
        refused(path, "Read-only file system", "copy the workbook to another place")
        remount("rw")
    completes(path)
    """
)


@pytest.mark.parametrize("how", ["full", "read-only"])
def test_disk__full_or_read_only(path: Path, tmp_path: Path, how: str) -> None:
    unshare = shutil.which("unshare")
    if not unshare:
        pytest.skip("needs unshare, to mount a small disk that nobody else sees")
    folder = tmp_path / "disk"
    folder.mkdir()
    run = [unshare, "--user", "--map-root-user", "--mount", sys.executable]
    run += ["-c", _ON_A_SMALL_DISK, str(path), str(folder), how]
    made = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=False, timeout=120)
    if made.returncode == 99 or "unshare failed" in made.stderr:
        pytest.skip("this system lets nobody mount a small disk")
    assert made.returncode == 0, made.stderr


@pytest.mark.parametrize("step", saving.STEPS[:-1])
def test_disk__fails_at_each_step(path: Path, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    save = saving.save

    def at(name: str) -> None:
        if name == step:
            raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(saving, "save", lambda job, _: save(job, at))
        refused(path, "Input/output error", "Check the disk or the network folder")
    completes(path)


def flaky(times: int, number: int, *, done: bool = False) -> Callable[[Path, Path], None]:
    """Return an os.replace that fails so often; done: but has been done all the same."""
    replace = os.replace
    left = times

    def replace_(source: Path, target: Path) -> None:
        nonlocal left
        if left:
            left -= 1
            if done:
                replace(source, target)
            raise OSError(number, os.strerror(number))
        replace(source, target)

    return replace_


@pytest.mark.parametrize("number", [errno.EACCES, errno.EBUSY, errno.EIO, errno.ETIMEDOUT])
@pytest.mark.parametrize("done", [False, True], ids=["not done", "done and not said"])
def test_network__replacing_fails_for_a_while(
    path: Path, number: int, done: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", flaky(1 if done else 3, number, done=done))
        assert close(path).code == 0
    completes(path)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EBUSY, errno.EIO])
def test_network__replacing_fails_for_good(
    path: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", flaky(10**9, number))
        refused(path, "could not be replaced", "It is as it was", "lies beside it", "(finished ")
    (finished,) = path.parent.glob("game (finished *).xlsx")
    assert here("verify", finished).code == 0
    completes(path)


# --- backups -----------------------------------------------------------------------------------


def test_backups__dated_the_last_twenty_and_every_one_before_a_closing(path: Path) -> None:
    lots = [(round_, lot) for round_ in (1, 2) for lot in range(1, 9)]
    for number in range(26):
        _, lot = lots[number % 16]
        desk = InPlace(path)
        bid(desk, "Ann", int(look(desk).match.stage), {lot: number})
        assert here("sync", path).code == 0
        if number in (3, 7):
            before = path.read_bytes()
            made = here("sync", path, "--close", str(int(look(desk).match.stage)))
            assert made.code == 0
            assert "(kept)" in made.said
    names = sorted(each.name for each in saving.backup_folder(path).glob("*.xlsx"))
    kept = [name for name in names if "(kept)" in name]
    assert [name.partition(" before-")[2] for name in kept] == [
        "closing-round-1 (kept).xlsx",
        "closing-round-2 (kept).xlsx",
    ]
    assert len(names) - len(kept) == saving.KEPT_BACKUPS
    assert all(name.startswith("game 20") for name in names)
    assert (saving.backup_folder(path) / kept[1]).read_bytes() == before


def test_backups__one_put_back_is_the_game_again(path: Path) -> None:
    before = path.read_bytes()
    completes(path)
    (backup,) = saving.backup_folder(path).glob("*before-closing-round-1 (kept).xlsx")
    shutil.copyfile(backup, path)
    assert path.read_bytes() == before
    completes(path)
