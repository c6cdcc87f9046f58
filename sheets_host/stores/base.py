"""The store protocol: read all, write whole tabs, once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from sheets_host.grid import Book, Protected, Tab


class StoreError(Exception):
    """A workbook cannot be reached, read or written (exit code 3).

    message: what is wrong and where, one line a fault. hint: what to do.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ChangedMeanwhile(StoreError):
    """Someone else wrote between reading and writing; nothing was written."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. ok: right, wrong, or None for worth a look. hint: what to do."""

    ok: bool | None
    what: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Write:
    """One atomic write.

    tabs: each replaces the tab of its title as a whole, or is added at the end.
    since: the book that was read; the write is refused if it changed meanwhile.
    was, now: the Record's seal that was read ("" for none) and the one now written: what a store
        without file digests compares and sets.
    label: what this write does, for the backup's name: letters, digits and hyphens.
    keep: the backup made before this write is never thrown away.
    whole: titles of tabs that are sent from the first row to the last even where few rows differ:
        nothing that a person does to them meanwhile may shift what stands there.
    protected: every protection that the entry tabs shall have now, by tab title, or None to
        leave them as they are.
    """

    tabs: Sequence[Tab]
    since: Book
    was: str
    now: str
    label: str
    keep: bool = False
    protected: dict[str, tuple[Protected, ...]] | None = field(default=None)
    whole: frozenset[str] = frozenset()


class Store(Protocol):
    """Where the tabs of one workbook live."""

    @property
    def name(self) -> str:
        """What people call it: the path or the link as it was given."""
        ...

    @property
    def identity(self) -> str:
        """The same text for every way to name one workbook."""
        ...

    def copies(self) -> Path:
        """Return the folder where copies of the Record are kept; it may not be there yet."""
        ...

    def diagnose(self) -> tuple[Finding, ...]:
        """Look at everything that reading and writing need; change nothing, raise nothing."""
        ...

    def exists(self) -> bool:
        """Tell whether there is a workbook to read; `new` may make one where there is none."""
        ...

    def read(self, titles: Collection[str]) -> Book:
        """Read the tabs of these titles, and every tab's title. Raises StoreError."""
        ...

    def write(self, write: Write) -> tuple[str, ...]:
        """Do it whole or not at all. Raises StoreError, ChangedMeanwhile.

        Returns lines that the host should see, such as where the backup lies.
        """
        ...
