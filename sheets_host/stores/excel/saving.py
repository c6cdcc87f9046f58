"""Putting a new workbook in the old one's place, whole or not at all.

The order of the steps is the promise: at each of them a crash leaves the old file or the new one
under the workbook's name, and at worst a temporary file that the next write removes.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import platform
import re
import stat
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from sheets_host.stores.base import ChangedMeanwhile, StoreError
from sheets_host.stores.excel.preflight import MAX_FILE

STEPS: Final = (
    "clean up",
    "check",
    "write",
    "read back",
    "back up",
    "check again",
    "replace",
    "thin out backups",
)
"""What a save does, in order; `step` is told each name before it is done."""

KEPT_BACKUPS: Final = 20
_PATIENCE: Final = 0.5  # seconds that a replace is tried for, while another program has the file
_PAUSE: Final = 0.05
_TEMPORARY: Final = ".tmp"


@dataclass(frozen=True, slots=True)
class Save:
    """One replacement of a file. before: the bytes it holds now; None: there must be no file.

    path: the file itself, no link to it. at: when, for the backup's name. label and keep: as a
    Write has them.
    """

    path: Path
    before: bytes | None
    after: bytes
    at: datetime
    label: str
    keep: bool = False


def nothing(_step: str) -> None:
    """Do nothing at a step; tests raise or end the process here."""


def read_file(path: Path) -> bytes:
    """Return a file's bytes. Raises StoreError where it cannot be read."""
    try:
        state = path.stat()
        if stat.S_ISDIR(state.st_mode):
            raise StoreError(f"{path} is a folder.", "Name the workbook in it.")
        if not stat.S_ISREG(state.st_mode):
            raise StoreError(f"{path} is no file but a device or pipe.", "Name a workbook.")
        if state.st_size > MAX_FILE:
            raise StoreError(
                f"{path} is {state.st_size >> 20:,} MB large; at most {MAX_FILE >> 20} MB are "
                "read.",
                "Take large pictures and data out of the workbook, or start a new one.",
            )
        return path.read_bytes()
    except FileNotFoundError:
        raise StoreError(
            f"{path} does not exist.",
            "Check the name, or make a new game there with: sheets-host new",
        ) from None
    except PermissionError as error:
        raise StoreError(
            f"{path} cannot be read ({error.strerror}).",
            "Close it where it is open, or give yourself the right to read it.",
        ) from error
    except OSError as error:
        raise StoreError(f"{path} cannot be read ({error.strerror}).", advice(error)) from error
    except ValueError:  # a character that no path can hold, as of a cell of Players
        raise StoreError(f"{path!r} is no path.", "Check the name.") from None


def save(job: Save, step: Callable[[str], None] = nothing) -> tuple[str, ...]:
    """Replace the file. Returns lines for the host: where the backup lies, what went amiss.

    Raises ChangedMeanwhile where the file is not what `before` says, StoreError where it cannot
    be written; the file is then as it was.
    """
    path = job.path
    temporary = path.with_name(f"{_temporary_stem(path)}{os.getpid()}{_TEMPORARY}")
    try:
        step("clean up")
        _clean_up(path)
        step("check")
        mode = _check(job)
        step("write")
        _write(temporary, job.after, mode)
        step("read back")
        if temporary.read_bytes() != job.after:
            raise StoreError(
                f"{path}: what was written beside it does not read back the same.",
                "The disk or the network folder may be failing: save somewhere else.",
            )
        step("back up")
        backup = _back_up(job)
        step("check again")
        _unchanged(job)
        step("replace")
        _replace(temporary, job)
    except OSError as error:
        place = Path(os.fsdecode(error.filename)) if error.filename else path
        where = f": {place.parent}" if place.parent != path.parent else ""
        raise StoreError(
            f"{path} cannot be written ({error.strerror or error}{where}). The file was not changed.",
            advice(error),
        ) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    step("thin out backups")
    return (f"Backup: {backup}", *_thin_out(path, backup.parent, backup)) if backup else ()


# --- the steps ---------------------------------------------------------------------------------


def _temporary_stem(path: Path) -> str:
    """Return how this computer's temporary files begin; another's are not ours to remove.

    The workbook's name goes in as a digest, since it may be as long as names can be.
    """
    node = re.sub(r"[^A-Za-z0-9-]", "", platform.node())[:40]
    return f".sheets-host-{hashlib.sha256(os.fsencode(path.name)).hexdigest()[:12]}-{node}-"


def _clean_up(path: Path) -> None:
    """Remove what a run that was killed left behind; no other runs, since the lock is held."""
    for folder in (path.parent, backup_folder(path)):
        if not folder.is_dir():
            continue
        for entry in folder.iterdir():
            if entry.name.startswith(_temporary_stem(path)) and entry.name.endswith(_TEMPORARY):
                with contextlib.suppress(OSError):
                    entry.unlink()


def _check(job: Save) -> int | None:
    """Look whether the file can be written; return its mode, None where there is no file."""
    if not job.path.parent.is_dir():
        raise StoreError(
            f"{job.path} cannot be made: there is no folder {job.path.parent}.",
            "Make the folder, or check the name.",
        )
    _unchanged(job)
    if job.before is None:
        return None
    mode = job.path.stat().st_mode
    if not mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
        raise StoreError(f"{job.path} is read-only.", "Make it writable, or work on a copy.")
    try:
        # Changes nothing, and fails where Excel holds the file on Windows.
        with job.path.open("r+b"):
            pass
    except PermissionError as error:
        raise StoreError(
            f"{job.path} cannot be written: it is open in another program, or you have no right "
            f"to write it ({error.strerror}).",
            "Close it there, or give yourself the right, and run this again.",
        ) from error
    return stat.S_IMODE(mode)


def _unchanged(job: Save) -> None:
    """Raise ChangedMeanwhile where the file is not the one that was read."""
    if job.before is None:
        if os.path.lexists(job.path):
            raise ChangedMeanwhile(
                f"{job.path} exists by now; nothing was written.",
                "Choose another name, or look what it holds.",
            )
        return
    try:
        now = job.path.read_bytes()
    except FileNotFoundError:
        raise ChangedMeanwhile(
            f"{job.path} was removed or renamed meanwhile; nothing was written.",
            "Look where it went, and run this again.",
        ) from None
    if now != job.before:
        raise ChangedMeanwhile(
            f"{job.path} was changed by someone else meanwhile; nothing was written.",
            "Run this again: it reads the file anew.",
        )


def _write(path: Path, data: bytes, mode: int | None) -> None:
    """Write a new file and see it through to the disk."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags, 0o666), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    if mode is not None:
        path.chmod(mode)


def _replace(temporary: Path, job: Save) -> None:
    if job.before is None:
        _put_new(temporary, job)
    else:
        _keep_owner(temporary, job.path)
        end = time.monotonic() + _PATIENCE
        while True:
            try:
                os.replace(temporary, job.path)  # noqa: PTH105 - tests stand in for this one
                break
            except FileNotFoundError:
                # A network folder may do it, lose the answer, and be asked again.
                if job.path.read_bytes() != job.after:
                    raise
                break
            except OSError as error:
                # A virus scanner or a synchroniser may have it for a moment, on Windows, and a
                # network folder may be busy.
                if time.monotonic() > end:
                    _leave_beside(temporary, job, error)
                time.sleep(_PAUSE)
    _see_through(job.path.parent)


def _put_new(temporary: Path, job: Save) -> None:
    """Give the file its name, never over another: a link or, on Windows, a rename refuses that."""
    try:
        if sys.platform == "win32":
            temporary.rename(job.path)
        else:
            os.link(temporary, job.path)
    except FileExistsError:
        _unchanged(job)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS):
            raise
        _unchanged(job)  # a file system without links
        temporary.rename(job.path)


def _keep_owner(temporary: Path, path: Path) -> None:
    """Leave the file to whom it belongs, where the system lets us (as root, on a server)."""
    if sys.platform != "win32":
        old, new = path.stat(), temporary.stat()
        if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
            with contextlib.suppress(PermissionError):
                os.chown(temporary, old.st_uid, old.st_gid)
                temporary.chmod(stat.S_IMODE(old.st_mode))


def _leave_beside(temporary: Path, job: Save, error: OSError) -> None:
    stamp = _stamp(job.at)
    beside = job.path.with_name(f"{job.path.stem} (finished {stamp}){job.path.suffix}")
    temporary.rename(beside)
    raise StoreError(
        f"{job.path} could not be replaced: another program holds it, or its folder does not let "
        f"go of it ({error.strerror}). It is as it was; the finished workbook lies beside it: "
        f"{beside.name}",
        "Close the workbook everywhere and run this again; then remove that file.",
    ) from error


def _see_through(folder: Path) -> None:
    """See a folder's new names through to the disk, where the system has a way.

    The names are there already, and there is no way back: a failure changes nothing for anyone
    but after a power cut.
    """
    if sys.platform != "win32":
        with contextlib.suppress(OSError):
            handle = os.open(folder, os.O_RDONLY)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)


# --- backups -----------------------------------------------------------------------------------


def backup_folder(path: Path) -> Path:
    """Return the folder beside a workbook where its backups lie."""
    return path.with_name(f"{path.stem}-backups")


def _back_up(job: Save) -> Path | None:
    if job.before is None:
        return None
    folder = backup_folder(job.path)
    if not folder.is_dir():
        if os.path.lexists(folder):
            raise StoreError(
                f"{job.path} cannot be written: {folder} is in the way, where its backups belong. "
                "The file was not changed.",
                "Move that to another place, and run this again.",
            )
        folder.mkdir()
        _see_through(folder.parent)
    temporary = folder / f"{_temporary_stem(job.path)}{os.getpid()}{_TEMPORARY}"
    try:
        _write(temporary, job.before, None)
        for name in _backup_names(job):
            backup = folder / name
            if not backup.exists():
                temporary.rename(backup)
                break
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
    _see_through(folder)
    return backup


def _backup_names(job: Save) -> Iterator[str]:
    label = re.sub(r"[^A-Za-z0-9-]+", "-", job.label).strip("-") or "write"
    kept = " (kept)" if job.keep else ""
    for number in range(1, 10_000):
        again = f"-{number}" if number > 1 else ""
        yield f"{job.path.stem} {_stamp(job.at)}{again} before-{label}{kept}{job.path.suffix}"


def _stamp(at: datetime) -> str:
    """Return a time as names of files show it, in UTC: ``2026-11-29 201500Z``."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H%M%SZ}"


def _thin_out(path: Path, folder: Path, newest: Path) -> tuple[str, ...]:
    """Remove all but the last backups, those aside that are kept for good.

    newest: the one just made, which stays although a clock that ran ahead has dated others later.
    """
    pattern = re.compile(
        re.escape(path.stem)
        + r" (\d{4}-\d\d-\d\d \d{6}Z)(?:-(\d+))? before-[A-Za-z0-9-]+"
        + re.escape(path.suffix)
    )
    try:
        found = sorted(
            (match[1], int(match[2] or 1), entry)
            for entry in folder.iterdir()
            if (match := pattern.fullmatch(entry.name))
        )
        others = [entry for _, _, entry in found if entry != newest]
        for entry in others[: max(0, len(found) - KEPT_BACKUPS)]:
            entry.unlink()
    except OSError as error:
        return (f"Old backups cannot be removed ({error.strerror}): {folder}",)
    return ()


# --- words -------------------------------------------------------------------------------------


def advice(error: OSError) -> str:
    """Return what to do about a file that the system refuses."""
    if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
        return "The disk is full: make room, and run this again."
    if error.errno in (errno.EACCES, errno.EPERM):
        return (
            "You have no right to read or write in this folder: change that, or work on a copy "
            "elsewhere."
        )
    if error.errno == errno.ELOOP:
        return "The link leads back to itself: name the workbook, or mend the link."
    if error.errno == errno.ENAMETOOLONG:
        return "The name leaves no room for those of backups: shorten it."
    if error.errno == errno.EROFS:
        return "The disk can only be read: copy the workbook to another place."
    return "Check the disk or the network folder, and run this again."
