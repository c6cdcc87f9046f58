"""Who else holds a workbook: Excel, LibreOffice, or another run of this tool."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sheets_host.stores.base import StoreError
from sheets_host.stores.files import beginning

_PATIENCE: Final = 5.0  # seconds that another run is waited for
_PAUSE: Final = 0.05
PROCESSES: Final = Path("/proc")  # where Linux lists what runs


# --- other programs ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Holder:
    """A program that has the workbook open, as its owner file beside the workbook says.

    who: the person and, where the file says so, the computer. stale: True where the program is
    known not to run any more, so that the file is a left-over of a crash.
    """

    program: str
    who: str
    file: Path
    stale: bool


def holders(path: Path) -> tuple[Holder, ...]:
    """Return the programs that say they have this workbook open."""
    found = []
    excel = path.with_name("~$" + path.name)
    office = path.with_name(f".~lock.{path.name}#")
    if (content := _content(excel)) is not None:
        found.append(Holder("Excel", _excel_user(content), excel, _excel_is_gone(excel)))
    if (content := _content(office)) is not None:
        who, computer = _office_user(content)
        stale = _office_is_gone(computer)
        if computer:
            who = f"{who} on {computer}"
        found.append(Holder("LibreOffice", who, office, stale))
    return tuple(found)


def _content(path: Path) -> bytes | None:
    try:
        return beginning(path, 4096)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except StoreError:
        return None  # a pipe or a folder: no program keeps its owner file so
    except OSError as error:
        # No file has so long a name. Else it is there: Excel lets nobody read it while it runs.
        return None if error.errno == errno.ENAMETOOLONG else b""


def _excel_user(content: bytes) -> str:
    """Read the user's name: length and name in single bytes, further on again in UTF-16."""
    if len(content) > 56:
        length = int.from_bytes(content[55:57], "little")
        name = content[57 : 57 + 2 * length].decode("utf-16-le", errors="replace")
        if 0 < length <= 54 and len(name) == length:
            return _plain(name)
    length = content[0] if content else 0
    return _plain(content[1 : 1 + length].decode("cp1252", errors="replace")) or "somebody"


def _excel_is_gone(path: Path) -> bool:
    """On Windows Excel keeps its owner file open, so one that can be opened is a left-over."""
    if sys.platform != "win32":
        return False
    try:
        with path.open("r+b"):
            return True
    except OSError:
        return False


def _office_user(content: bytes) -> tuple[str, str]:
    """Read the person and the computer: fields with commas between, escaped by backslashes."""
    fields = [""]
    escaped = False
    for sign in content.decode("utf-8", errors="replace"):
        if escaped or sign not in "\\,;":
            fields[-1] += sign
            escaped = False
        elif sign == "\\":
            escaped = True
        else:
            fields.append("")
    fields += [""] * 3
    return _plain(fields[0]) or _plain(fields[1]) or "somebody", _plain(fields[2])


def _office_is_gone(computer: str) -> bool:
    """Tell whether LibreOffice surely does not run: known only on this computer, under Linux."""
    if computer.casefold() != platform.node().casefold() or not (PROCESSES / "self/comm").exists():
        return False
    for process in PROCESSES.iterdir():
        if process.name.isdigit():
            try:
                name = (process / "comm").read_text("utf-8", errors="replace")
            except OSError:
                continue  # it ended meanwhile
            if name.startswith(("soffice", "oosplash")):
                return False
    return True


def _plain(text: str) -> str:
    return "".join(sign for sign in text if sign.isprintable()).strip()


# --- other runs of this tool -------------------------------------------------------------------


@contextlib.contextmanager
def alone(path: Path, patience: float = _PATIENCE) -> Iterator[None]:
    """Be the only run on this computer that writes this workbook.

    The system lets go of the lock when a run ends, however it ends. It lies in the folder for
    temporary files, so that nothing is left beside the workbook; on another computer nothing
    holds it, which is why a write compares the file's digest as well. Raises StoreError where
    another run keeps it for `patience` seconds.
    """
    # The empty file stays: were it removed, a run that had opened it and waits would get the lock
    # of a file without a name, while the next one makes a new file and locks that as well.
    key = hashlib.sha256(os.path.normcase(path).encode("utf-8", "surrogatepass")).hexdigest()
    user = os.getuid() if sys.platform != "win32" else ""
    name = f"sheets-host-{user}-{key[:32]}.lock"
    try:
        file = Path(tempfile.gettempdir()) / name
    except OSError as error:
        raise StoreError(
            f"{path}: there is no folder for temporary files, where the lock would lie.",
            "Make room, or name a folder that you may write to in the variable TMPDIR.",
        ) from error
    try:
        handle = os.open(file, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except OSError as error:
        raise StoreError(
            f"{path}: the lock {file} cannot be made ({error.strerror}).",
            f"Make room or give yourself the right to write in {file.parent}.",
        ) from error
    try:
        end = time.monotonic() + patience
        while not _take(handle):
            if time.monotonic() > end:
                raise StoreError(
                    f"{path}: another sheets-host is writing this workbook.",
                    "Wait until it is done, or end it, and run this again.",
                )
            time.sleep(_PAUSE)
        yield
    finally:
        os.close(handle)


if sys.platform == "win32":
    import msvcrt

    def _take(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _take(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
