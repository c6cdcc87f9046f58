"""Copies of the Record, kept after each closing beside the backups."""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, cast

from sheets_host.game.record import HEADERS, Record, RecordBroken, Row, read_record
from sheets_host.game.stages import stage_of
from sheets_host.stores.base import StoreError
from sheets_host.stores.files import undecoded, whole

KIND: Final = "sheets-host record"
LARGEST: Final = 100_000_000  # bytes of a copy that is read at all
OLD: Final = 3_600  # seconds after which an unfinished copy is nobody's work any more
_NAME: Final = re.compile(r"record (\d{6,}) after .* ([0-9a-f]{8})\.json")
_EXAMPLE: Final = (
    "name a file such as 'record 000057 after round-1 3f9a12cc.json': they lie among the backups"
)


def keep_copy(folder: Path, record: Record, label: str) -> Path:
    """Write a copy of the Record, whole or not at all. Raises StoreError.

    Its name bears the number of rows, so that copies sort in the order of the match, and the
    last seal's beginning, so that a match that went another way after `restore` overwrites none.
    """
    word = re.sub(r"[^a-z0-9]+", "-", label.casefold()).strip("-")
    seal = _short(record.seal)
    path = folder / f"record {record.rows:06d} after {word} {seal}.json"
    text = json.dumps(
        {"kind": KIND, "seal": record.seal, "headers": HEADERS, "rows": record.as_rows()},
        ensure_ascii=False,
        indent=0,
    )
    temporary = folder / f"{path.stem}.{os.getpid()}.tmp"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _clear_away(folder)
        with temporary.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise StoreError(
            f"the copy of the Record could not be kept in {folder}: {error.strerror}",
            "the match itself is safe; make room or mend the folder's permissions",
        ) from error
    return path


def _short(seal: str) -> str:
    return seal.replace(" ", "")[:8]


def _clear_away(folder: Path) -> None:
    """Remove what a run that was killed left unfinished; a young one may be another run's."""
    for stray in folder.glob("record ?????? after *.tmp"):
        with contextlib.suppress(OSError):
            if stray.stat().st_mtime < time.time() - OLD:
                stray.unlink()


def uncopied(folder: Path, record: Record) -> str:
    """Return after which stage a copy of the Record should lie in a folder and does not, or "".

    A run that was killed right after a closing has left none. Looks at names alone.
    """
    closed = [(row, e.stage) for row, e in enumerate(record.events, 1) if e.kind == "closed"]
    if not closed:
        return ""
    last, stage = closed[-1]
    for path in kept_copies(folder):
        if match := _NAME.fullmatch(path.name):
            rows = int(match[1])
            if last <= rows <= record.rows and _short(record.seals[rows - 1]) == match[2]:
                return ""
    return str(stage_of(stage))


def kept_copies(folder: Path) -> list[Path]:
    """Return the copies that lie in a folder, the oldest match state first; [] without a folder."""
    try:
        return sorted(folder.glob("record ?????? after * *.json"))
    except OSError:
        return []  # what cannot be listed cannot be named; reading one says why


def read_copy(path: Path) -> Record:
    """Read and verify a copy. Raises StoreError for no copy, RecordBroken for an altered one."""
    data = whole(path, LARGEST, _EXAMPLE)
    try:
        content = json.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{path} is no copy of a Record: it is no JSON", _EXAMPLE) from error
    rows = content.get("rows") if isinstance(content, dict) else None
    if not isinstance(rows, list) or content.get("kind") != KIND or not all(map(_is_row, rows)):
        raise StoreError(f"{path} is no copy of a Record", _EXAMPLE)
    if not rows:
        raise StoreError(f"{path} is a copy without a row: there is no match in it", _EXAMPLE)
    try:
        record = read_record(cast("Sequence[Row]", [tuple(row) for row in rows]))
    except RecordBroken as error:
        raise RecordBroken(error.seq, f"in the copy {path.name}, {error.message}") from error
    if record.seal != content.get("seal"):
        raise RecordBroken(
            record.rows,
            f"in the copy {path.name}, the last seal is not that of the last row: rows were cut off",
        )
    return record


def _is_row(row: object) -> bool:
    return (
        isinstance(row, list)
        and len(row) == len(HEADERS)
        and all(isinstance(text, str) and not undecoded(text) for text in row)
    )
