"""What a match tells outside the spreadsheet."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Final

MADE_BY: Final = "made by sheets-host"
"""Stands in every file of music: no other file of its name is written over."""


class MissingExtra(Exception):
    """A library of an optional extra is not installed. hint: what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


def library(name: str, purpose: str, extra: str = "music") -> ModuleType:
    """Import a library of an optional extra. Raises MissingExtra, naming what it is needed for."""
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtra(
            f"{purpose} needs the library {name}, which cannot be imported here: {error}",
            f"in the project's folder: .venv/bin/pip install '.[{extra}]'",
        ) from error
