"""A workbook is replaced whole or not at all, whatever happens on the way."""

from __future__ import annotations

import errno
import os
import platform
import shutil
import stat
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Final

import pytest

from sheets_host.stores.base import ChangedMeanwhile, StoreError
from sheets_host.stores.excel import locks, saving
from sheets_host.stores.excel.locks import alone, holders
from sheets_host.stores.excel.saving import STEPS, Save, save
from tests.drawn import NOW

OLD: Final = b"old" * 1000
NEW: Final = b"new" * 1001


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a game.xlsx"
    path.write_bytes(OLD)
    return path


def job(path: Path, *, before: bytes | None = OLD, keep: bool = False, seconds: int = 0) -> Save:
    return Save(path, before, NEW, NOW + timedelta(seconds=seconds), "close-1", keep)


def beside(path: Path) -> list[str]:
    """What lies in the workbook's folder, the workbook and its backups aside."""
    ours = {path.name, saving.backup_folder(path).name}
    inside = saving.backup_folder(path)
    names = [entry.name for entry in path.parent.iterdir() if entry.name not in ours]
    if inside.is_dir():
        names += [e.name for e in inside.iterdir() if not e.name.startswith("a game 2026-11-29 ")]
    return sorted(names)


def backups(path: Path) -> list[str]:
    return sorted(entry.name for entry in saving.backup_folder(path).iterdir())


def at(wanted: str, do: Callable[[], None]) -> Callable[[str], None]:
    return lambda step: do() if step == wanted else None


# --- the plain way -----------------------------------------------------------------------------


def test_save__replaces_and_backs_up(path: Path) -> None:
    done: list[str] = []
    notices = save(job(path), done.append)
    assert tuple(done) == STEPS
    assert path.read_bytes() == NEW
    backup = saving.backup_folder(path) / "a game 2026-11-29 201500Z before-close-1.xlsx"
    assert notices == (f"Backup: {backup}",)
    assert backup.read_bytes() == OLD
    assert beside(path) == []


def test_save__new_file_has_no_backup(tmp_path: Path) -> None:
    path = tmp_path / "new.xlsx"
    assert save(job(path, before=None)) == ()
    assert path.read_bytes() == NEW
    assert [entry.name for entry in tmp_path.iterdir()] == ["new.xlsx"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_save__mode_stays(path: Path) -> None:
    path.chmod(0o640)
    save(job(path))
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no owners to keep")
def test_save__owner_stays(path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can give a file away")
    os.chown(path, 12345, 12346)
    save(job(path))
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 12346)


# --- ended in the middle -----------------------------------------------------------------------

_KILLED: Final = 77
_RUN: Final = textwrap.dedent(
    """
    import os, sys
    from pathlib import Path
    from sheets_host.stores.excel.saving import save
    from tests.test_excel_saving import job

    path, how, where = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    before = path.read_bytes() if path.exists() else None
    work = job(path, before=before)

    def step(name):
        if how == "step" and name == where:
            os._exit(77)

    left = int(where) if how == "operation" else -1

    def audit(event, arguments):
        global left
        if event == "open" or event.startswith(("os.", "shutil.")):
            if any(str(path.parent) in str(each) for each in arguments):
                left -= 1
                if left == 0:
                    os._exit(77)

    if how == "operation":
        sys.addaudithook(audit)
    save(work, step)
    """
)


def killed(path: Path, how: str, where: str) -> bool:
    """Save in a process of its own that ends itself there; tell whether it did."""
    run = [sys.executable, "-c", _RUN, str(path), how, where]
    code = subprocess.run(run, check=False, cwd=Path(__file__).parents[1]).returncode
    assert code in (0, _KILLED)
    return code == _KILLED


def check_whole_then_save_again(path: Path, was: bytes | None) -> None:
    now = path.read_bytes() if path.exists() else None
    assert now in (was, NEW)
    save(Save(path, now, OLD, NOW, "again"))
    assert path.read_bytes() == OLD
    assert beside(path) == []


@pytest.mark.parametrize("step", STEPS)
def test_killed__at_each_step(path: Path, step: str) -> None:
    assert killed(path, "step", step)
    assert path.read_bytes() == (NEW if step == "thin out backups" else OLD)
    check_whole_then_save_again(path, OLD)


@pytest.mark.parametrize("exists", [True, False])
def test_killed__before_each_operation_on_a_file(path: Path, exists: bool) -> None:
    for number in range(1, 60):
        shutil.rmtree(saving.backup_folder(path), ignore_errors=True)
        path.unlink()
        if exists:
            path.write_bytes(OLD)
        if not killed(path, "operation", str(number)):
            break
        check_whole_then_save_again(path, OLD if exists else None)
    assert 5 < number < 59
    assert path.read_bytes() == NEW


# --- failing in the middle ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (errno.ENOSPC, "disk is full"),
        (errno.EACCES, "no right"),
        (errno.EROFS, "only be read"),
        (errno.EIO, "network folder"),
    ],
)
@pytest.mark.parametrize("step", STEPS[:-1])
def test_failing__at_each_step_leaves_the_old_file(
    path: Path, step: str, code: int, advice: str
) -> None:
    def fail() -> None:
        raise OSError(code, os.strerror(code))

    with pytest.raises(StoreError) as raised:
        save(job(path), at(step, fail))
    assert str(path) in raised.value.message
    assert advice in raised.value.hint
    assert path.read_bytes() == OLD
    assert beside(path) == []


def test_failing__disk_that_gives_back_something_else(path: Path) -> None:
    def spoil() -> None:
        (temporary,) = path.parent.glob(".*.tmp")
        temporary.write_bytes(b"spoilt")

    with pytest.raises(StoreError, match="does not read back"):
        save(job(path), at("read back", spoil))
    assert path.read_bytes() == OLD
    assert beside(path) == []


def test_failing__interrupted_by_the_keyboard(path: Path) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        save(job(path), at("check again", interrupt))
    assert path.read_bytes() == OLD
    assert beside(path) == []


# --- changed by others -------------------------------------------------------------------------


@pytest.mark.parametrize("step", STEPS[: STEPS.index("check again") + 1])
def test_changed__before_any_step_up_to_the_last_check(path: Path, step: str) -> None:
    with pytest.raises(ChangedMeanwhile, match="changed by someone else"):
        save(job(path), at(step, lambda: (path.write_bytes(b"theirs"), None)[1]))
    assert path.read_bytes() == b"theirs"
    assert beside(path) == []


def test_changed__removed(path: Path) -> None:
    path.unlink()
    with pytest.raises(ChangedMeanwhile, match="removed or renamed"):
        save(job(path))
    assert not path.exists()


@pytest.mark.parametrize("step", STEPS[: STEPS.index("replace") + 1])
def test_changed__new_file_never_goes_over_another(tmp_path: Path, step: str) -> None:
    path = tmp_path / "a game.xlsx"
    with pytest.raises(ChangedMeanwhile, match="exists by now"):
        save(job(path, before=None), at(step, lambda: (path.write_bytes(b"theirs"), None)[1]))
    assert path.read_bytes() == b"theirs"
    assert beside(path) == []


def test_changed__no_links_on_the_file_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_source: object, _target: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    path = tmp_path / "new.xlsx"
    save(job(path, before=None))
    assert path.read_bytes() == NEW
    assert [entry.name for entry in tmp_path.iterdir()] == ["new.xlsx"]


# --- held or forbidden -------------------------------------------------------------------------


class Stubborn:
    """An os.replace that another program's hold makes fail for a number of times."""

    def __init__(self, times: int) -> None:
        self.left = times
        self.replace = os.replace

    def __call__(self, source: Path, target: Path) -> None:
        if self.left:
            self.left -= 1
            raise PermissionError(errno.EACCES, "Access is denied")
        self.replace(source, target)


def test_held__for_a_moment(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "replace", Stubborn(3))
    save(job(path))
    assert path.read_bytes() == NEW


def test_held__for_good_leaves_the_finished_file_beside(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "replace", Stubborn(10**9))
    start = time.monotonic()
    with pytest.raises(StoreError, match="another program holds it") as raised:
        save(job(path))
    assert 0.4 < time.monotonic() - start < 5
    finished = path.with_name("a game (finished 2026-11-29 201500Z).xlsx")
    assert finished.name in raised.value.message
    assert finished.read_bytes() == NEW
    assert path.read_bytes() == OLD
    assert beside(path) == [finished.name]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_forbidden__read_only_file(path: Path) -> None:
    path.chmod(0o444)
    with pytest.raises(StoreError, match="read-only"):
        save(job(path))
    assert path.read_bytes() == OLD
    assert beside(path) == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_forbidden__read_only_folder(path: Path) -> None:
    if os.getuid() == 0:
        pytest.skip("root may write anywhere")
    path.parent.chmod(0o555)
    try:
        with pytest.raises(StoreError) as raised:
            save(job(path))
        assert "no right" in raised.value.hint
    finally:
        path.parent.chmod(0o755)
    assert beside(path) == []


def test_forbidden__folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no folder"):
        save(job(tmp_path / "no" / "game.xlsx", before=None))


def test_forbidden__name_too_long_for_its_backups(tmp_path: Path) -> None:
    path = tmp_path / ("g" * 240 + ".xlsx")
    path.write_bytes(OLD)
    with pytest.raises(StoreError) as raised:
        save(job(path))
    assert "shorten" in raised.value.hint
    assert path.read_bytes() == OLD
    assert beside(path) == []


def test_forbidden__something_else_where_backups_go(path: Path) -> None:
    saving.backup_folder(path).write_text("a file")
    with pytest.raises(StoreError, match="cannot be written"):
        save(job(path))
    assert path.read_bytes() == OLD
    assert beside(path) == []


# --- backups -----------------------------------------------------------------------------------


def test_backups__last_twenty_and_all_that_are_kept(path: Path) -> None:
    stranger = saving.backup_folder(path) / "a game 2026-11-29 mine.xlsx"
    stranger.parent.mkdir()
    stranger.write_bytes(b"mine")
    for number in range(30):
        path.write_bytes(OLD)
        save(job(path, keep=number % 10 == 0, seconds=number))
    names = [name for name in backups(path) if name != stranger.name]
    kept = [name for name in names if "(kept)" in name]
    assert len(names) - len(kept) == 20
    assert [name[18:25] for name in kept] == ["201500Z", "201510Z", "201520Z"]
    assert stranger.exists()
    assert "a game 2026-11-29 201529Z before-close-1.xlsx" in names


def test_backups__the_one_just_made_stays_though_others_are_dated_later(path: Path) -> None:
    folder = saving.backup_folder(path)
    folder.mkdir()
    later = [folder / f"a game 2030-01-01 0000{n:02}Z before-sync.xlsx" for n in range(20)]
    for each in later:
        each.write_bytes(b"later")
    (told,) = save(job(path))
    made = Path(told.removeprefix("Backup: "))
    assert made.exists()
    assert [each.exists() for each in later] == [False] + [True] * 19


def test_backups__old_one_that_cannot_be_removed_is_said(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saving, "KEPT_BACKUPS", 1)
    saving.backup_folder(path).mkdir()
    (saving.backup_folder(path) / "a game 2026-11-28 201500Z before-sync.xlsx").mkdir()
    backup, said = save(job(path))
    assert backup.startswith("Backup: ")
    assert "cannot be removed" in said
    assert path.read_bytes() == NEW


def test_backups__two_in_one_second(path: Path) -> None:
    for _ in range(3):
        path.write_bytes(OLD)
        save(job(path))
    assert backups(path) == [
        "a game 2026-11-29 201500Z before-close-1.xlsx",
        "a game 2026-11-29 201500Z-2 before-close-1.xlsx",
        "a game 2026-11-29 201500Z-3 before-close-1.xlsx",
    ]


def test_backups__label_with_signs_that_names_cannot_hold(path: Path) -> None:
    save(Save(path, OLD, NEW, NOW, "../..\\a:b*?"))
    assert backups(path) == ["a game 2026-11-29 201500Z before-a-b.xlsx"]


def test_backups__another_workbook_of_the_folder_is_not_touched(path: Path) -> None:
    other = path.with_name("a.xlsx")
    other.write_bytes(OLD)
    for number in range(22):
        path.write_bytes(OLD)
        save(job(path, seconds=number))
    save(job(other))
    assert len(backups(path)) == 20
    assert len(backups(other)) == 1


# --- other runs of the tool --------------------------------------------------------------------

_HOLD: Final = textwrap.dedent(
    """
    import sys
    from pathlib import Path
    from sheets_host.stores.excel.locks import alone
    with alone(Path(sys.argv[1])):
        print("held", flush=True)
        sys.stdin.read()
    """
)


def test_alone__another_run_is_waited_for_then_named(path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    assert holder.stdin
    assert holder.stdout
    with holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(StoreError, match="another sheets-host"), alone(path, patience=0.2):
            pass
        with alone(path.with_name("other.xlsx"), patience=0.2):
            pass  # each workbook has a lock of its own
        holder.kill()  # the system lets go of a dead run's lock
        with alone(path, patience=5):
            pass
    assert beside(path) == []


# --- other programs ----------------------------------------------------------------------------


def excel_owner_file(user: str) -> bytes:
    """As Excel writes it: 54 bytes with the name, then the name in UTF-16; 165 bytes in all."""
    single = user.encode("cp1252", errors="replace")
    wide = user.encode("utf-16-le")
    first = bytes([len(single)]) + single.ljust(54, b" ")
    return (first + len(user).to_bytes(2, "little") + wide + b" \0" * 60)[:165]


@pytest.mark.skipif(sys.platform == "win32", reason="a left-over there, since nothing holds it")
@pytest.mark.parametrize("user", ["Ann Müller", "競 太郎", "A"])
def test_holders__excel(path: Path, user: str) -> None:
    path.with_name("~$a game.xlsx").write_bytes(excel_owner_file(user))
    (holder,) = holders(path)
    assert (holder.program, holder.who, holder.stale) == ("Excel", user, False)


@pytest.mark.parametrize("content", [b"", b"\x05", b"\xff" * 165, bytes(4000)])
def test_holders__broken_owner_files_name_somebody(path: Path, content: bytes) -> None:
    path.with_name("~$a game.xlsx").write_bytes(content)
    path.with_name(".~lock.a game.xlsx#").write_bytes(content)
    found = holders(path)
    assert [holder.program for holder in found] == ["Excel", "LibreOffice"]
    assert all(holder.who for holder in found)


@pytest.mark.parametrize(
    ("content", "who"),
    [
        (",ann,pc-7,29.11.2026 20:15,file:///home/ann/.config/libreoffice/4;", "ann on pc-7"),
        ("Ann Müller,ann,pc-7,29.11.2026 20:15,file:///x;", "Ann Müller on pc-7"),
        ("Ann\\, the host,ann,pc\\;7,29.11.2026 20:15,;", "Ann, the host on pc;7"),
    ],
)
def test_holders__libreoffice(path: Path, content: str, who: str) -> None:
    path.with_name(".~lock.a game.xlsx#").write_text(content, encoding="utf-8")
    (holder,) = holders(path)
    assert (holder.program, holder.who, holder.stale) == ("LibreOffice", who, False)


def until(true: Callable[[], bool]) -> None:
    """Wait a little for something that another process brings about."""
    for _ in range(200):
        if true():
            return
        time.sleep(0.01)
    pytest.fail("it did not come about")


@pytest.mark.skipif(not Path("/proc/self/comm").exists(), reason="needs /proc")
def test_holders__libreoffice_that_runs_here(path: Path) -> None:
    left_by_libreoffice(path)
    program = path.parent / "soffice.bin"
    shutil.copy(shutil.which("sleep") or "/bin/sleep", program)
    with subprocess.Popen([str(program), "60"]) as running:
        until(lambda: Path(f"/proc/{running.pid}/comm").read_text().strip() == program.name)
        assert not holders(path)[0].stale
        running.kill()


@pytest.mark.parametrize(
    ("runs", "stale"),
    [
        (["python3", "bash"], True),
        (["python3", "soffice.bin"], False),
        (["oosplash"], False),
        ([], False),  # no such list on this system: nobody knows
    ],
)
def test_holders__libreoffice_that_does_not_run_here_left_its_file(
    runs: list[str], stale: bool, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_by_libreoffice(path)
    listed = path.parent / "proc"
    for number, name in zip(
        ["self", "7", "8"], ["sheets-host", *runs] if runs else [], strict=False
    ):
        (listed / number).mkdir(parents=True)
        (listed / number / "comm").write_text(f"{name}\n")
    monkeypatch.setattr(locks, "PROCESSES", listed)
    assert holders(path)[0].stale is stale


def left_by_libreoffice(path: Path) -> None:
    content = f",ann,{platform.node()},29.11.2026 20:15,file:///x;"
    path.with_name(f".~lock.{path.name}#").write_text(content, encoding="utf-8")
