"""The Excel store: one workbook in a file."""

from __future__ import annotations

import hashlib
import os
import platform
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Final

from sheets_host.grid import Book
from sheets_host.stores.base import Finding, StoreError, Write
from sheets_host.stores.excel import saving
from sheets_host.stores.excel.locks import Holder, alone, holders
from sheets_host.stores.excel.package import Package
from sheets_host.stores.excel.reading import read_grids

_SUFFIXES: Final = (".xlsx", ".xlsm")


@dataclass(frozen=True, slots=True)
class _Read:
    """What was read: two are equal where the file's bytes were."""

    digest: str
    package: Package = field(compare=False, repr=False)


class ExcelStore:
    """A workbook in a file, as `sheets_host.stores.base.Store` asks.

    path: of the workbook; a link is followed, so that what it leads to is replaced and not the
        link. clock: the time for the backups' names, with a zone.
    force_lock: write although an owner file says that someone has the workbook open.
    step: is told the name of each step of saving before it is done (`saving.STEPS`); for tests.
    """

    def __init__(
        self,
        path: Path,
        *,
        clock: Callable[[], datetime],
        force_lock: bool = False,
        step: Callable[[str], None] = saving.nothing,
    ) -> None:
        self._given = path
        self._path = Path(os.path.realpath(path))
        self._clock = clock
        self._force_lock = force_lock
        self._step = step

    @property
    def name(self) -> str:
        """The path as it was given."""
        return str(self._given)

    @property
    def identity(self) -> str:
        """The file itself, whatever link or relative path leads to it."""
        return os.path.normcase(self._path)

    def copies(self) -> Path:
        """Return the folder of the backups: copies of the Record lie among them."""
        return saving.backup_folder(self._path)

    def diagnose(self) -> tuple[Finding, ...]:
        from sheets_host.stores.excel.doctor import diagnose

        return diagnose(self._path, self.name)

    def exists(self) -> bool:
        """Tell whether there is such a file. Raises StoreError where that cannot be seen."""
        try:
            return self._path.exists()
        except OSError as error:
            raise StoreError(
                f"{self.name} cannot be reached ({error.strerror}).",
                saving.advice(error),
            ) from error

    def read(self, titles: Collection[str]) -> Book:
        """Read the tabs of these titles. Raises StoreError for what is no readable workbook."""
        data = saving.read_file(self._path)
        package = Package.open(data, self.name)
        found, grids = read_grids(package, titles)
        notices = [*_conflict_copies(self._path), *map(_unsaved, self._live_holders())]
        revision = _Read(hashlib.sha256(data).hexdigest(), package)
        return Book(found, grids, revision, tuple(notices))

    def write(self, write: Write) -> tuple[str, ...]:
        """Put the tabs in and replace the file, after a backup; or make it where `since` is empty.

        Raises ChangedMeanwhile where the file is not as it was read, StoreError where it cannot
        be written. Nothing has changed then.
        """
        from sheets_host.stores.excel.grafting import graft

        if not write.tabs:
            return ()
        self._refuse_held()
        if isinstance(write.since.revision, _Read):
            package = write.since.revision.package
            before: bytes | None = package.data
            after = graft(package, write.tabs)
        else:
            before = None
            after = graft(self._blank(write), write.tabs, fresh=True)
        if after == before:
            return ()
        job = saving.Save(self._path, before, after, self._clock(), write.label, write.keep)
        with alone(self._path):
            return saving.save(job, self._step)

    def _blank(self, write: Write) -> Package:
        from sheets_host.stores.excel.blank import blank

        suffix = self._path.suffix.lower()
        if suffix not in _SUFFIXES:
            raise StoreError(
                f"{self.name}: a new workbook's name ends in .xlsx or .xlsm.",
                "Choose such a name.",
            )
        return blank(write.tabs[0].title, self.name, suffix)

    def _live_holders(self) -> list[Holder]:
        return [holder for holder in holders(self._path) if not holder.stale]

    def _refuse_held(self) -> None:
        if self._force_lock:
            return
        for holder in self._live_holders():
            raise StoreError(
                f"{self.name} is open in {holder.program} ({holder.who}). The file was not changed.",
                "Save and close it there, and run this again. If nobody has it open, the file "
                f"{holder.file.name} is left from a crash: remove it, or add --ignore-lock.",
            )


def _unsaved(holder: Holder) -> str:
    return (
        f"The workbook is open in {holder.program} ({holder.who}): what is not saved there is "
        "not read."
    )


_CONFLICT: Final = re.compile(
    r" ?[(\[].*(conflict|Konflikt|conflit|conflicto).*[)\]]"  # Dropbox, Nextcloud, Google Drive
    r"|-(DESKTOP|LAPTOP)-\w+|\.sync-conflict-.*",  # OneDrive, Syncthing
    re.IGNORECASE,
)


def _conflict_copies(path: Path) -> list[str]:
    """Name the copies that synchronisers make beside a file when two people changed it at once."""
    here = f"-{platform.node()}".casefold()  # OneDrive adds the computer's name
    notices = []
    try:
        names = sorted(entry.name for entry in os.scandir(path.parent))
    except OSError:
        return []  # the folder cannot be listed; the workbook itself could be read
    for name in names:
        if name == path.name or not name.startswith(path.stem) or not name.endswith(path.suffix):
            continue
        added = name[len(path.stem) : len(name) - len(path.suffix)]
        if _CONFLICT.fullmatch(added) or (added.casefold() == here and len(here) > 1):
            notices.append(
                f"There is a conflict copy beside the workbook: {name}. Someone's entries may be "
                "in it; compare the two, and remove it."
            )
    return notices
