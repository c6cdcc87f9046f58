"""From what the host typed to the store that holds it."""

from __future__ import annotations

import datetime as dt
import errno
import os
import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sheets_host.grid import Book
from sheets_host.host.outside import Opener
from sheets_host.host.verbs import UsageError
from sheets_host.stores.base import Finding, Store, StoreError, Write
from sheets_host.stores.files import reason
from sheets_host.tabs.problems import quoted

_SUFFIXES: Final = (".xlsx", ".xlsm")
_BARE_ID: Final = re.compile(r"[A-Za-z0-9_-]{20,}")


@dataclass(frozen=True, slots=True)
class Access:
    """How workbooks may be reached. credentials: a key file for Google, None to look for one."""

    credentials: Path | None = None
    ignore_lock: bool = False


def local_now() -> dt.datetime:
    """Return the time with the system's zone."""
    return dt.datetime.now().astimezone()


def is_link(reference: str) -> bool:
    """Tell whether a text names a Google Sheet rather than a file."""
    return reference.casefold().startswith(("https://", "http://"))


def store_for(reference: str, access: Access, folder: Path = Path()) -> Store:
    """Return the store of a workbook: a path that exists or ends in .xlsx or .xlsm, a Google
    Sheets link or a bare id. Raises UsageError for anything else, StoreError out of reach.

    folder: where relative paths begin.
    """
    try:
        path = folder / Path(reference).expanduser()
        os.fsencode(path)  # fails for what no name can hold
        if not is_link(reference) and (path.suffix.casefold() in _SUFFIXES or path.exists()):
            from sheets_host.stores.excel import ExcelStore

            return ExcelStore(path, clock=local_now, force_lock=access.ignore_lock)
    except (OSError, RuntimeError, ValueError) as error:
        raise _out_of_reach(reference, error) from error
    if is_link(reference) or _BARE_ID.fullmatch(reference):
        from sheets_host.stores.google import GoogleStore

        return GoogleStore(reference, credentials=access.credentials)
    raise UsageError(
        f'"{quoted(reference, 300)}" is no workbook: there is no such file, and it is no Google'
        " Sheets link",
        "name a file that ends in .xlsx or .xlsm, a Google Sheets link, or a spreadsheet's id",
    )


def _out_of_reach(reference: str, error: Exception) -> UsageError | StoreError:
    """Tell a path that cannot be one (no such user, too long) from one that is out of reach."""
    words = f'"{quoted(reference, 300)}" cannot be reached: {reason(error)}'
    if not isinstance(error, OSError) or error.errno == errno.ENAMETOOLONG:
        return UsageError(words, "check the name")
    if not Path(reference).is_absolute() and isinstance(error, FileNotFoundError):
        return StoreError(words, "the present folder was removed: change to another one")
    return StoreError(words, "see who may open that folder, or name another place")


def base_folder(workbook: str) -> Path:
    """Return the folder from which paths in the game workbook are read."""
    try:
        return Path() if is_link(workbook) else Path(workbook).expanduser().parent
    except RuntimeError as error:
        raise _out_of_reach(workbook, error) from error


def opener(workbook: str, access: Access) -> Opener:
    """Return what opens entry sheets and the board: paths are relative to the game workbook.

    It never raises: a reference that leads nowhere says so where it is read, so that one mistyped
    cell of Players does not keep the match from being read.
    """
    folder = base_folder(workbook)

    def open_(reference: str) -> Store:
        try:
            return store_for(reference, access, folder)
        except UsageError as error:
            return Nowhere(reference, StoreError(error.message, error.hint))
        except StoreError as error:
            return Nowhere(reference, error)

    return open_


@dataclass(frozen=True, slots=True)
class Nowhere:
    """The store of a reference that leads to no workbook: every use of it says why."""

    name: str
    why: StoreError

    @property
    def identity(self) -> str:
        return f"nowhere: {self.name}"

    def copies(self) -> Path:
        raise self.why

    def diagnose(self) -> tuple[Finding, ...]:
        return (Finding(False, self.why.message, self.why.hint),)

    def exists(self) -> bool:
        raise self.why

    def read(self, titles: Collection[str]) -> Book:  # noqa: ARG002 - as the protocol asks
        raise self.why

    def write(self, write: Write) -> tuple[str, ...]:  # noqa: ARG002 - as the protocol asks
        raise self.why


def free_path(name: str) -> Path:
    """Return this path, or with a number the next one that is free."""
    path = Path(name)
    number = 2
    while path.exists():
        path = Path(f"{Path(name).stem}-{number}{Path(name).suffix}")
        number += 1
    return path
