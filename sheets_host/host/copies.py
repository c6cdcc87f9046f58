"""Copies of the Record, kept after each closing beside the backups."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final, cast

from sheets_host.game.record import HEADERS, Record, RecordBroken, Row, read_record
from sheets_host.stores.base import StoreError

KIND: Final = "sheets-host record"
LARGEST: Final = 100_000_000  # bytes of a copy that is read at all


def keep_copy(folder: Path, record: Record, label: str) -> Path:
    """Write a copy of the Record, whole or not at all. Raises StoreError.

    Its name bears the number of rows, so that copies sort in the order of the match, and the
    last seal's beginning, so that a match that went another way after `restore` overwrites none.
    """
    word = re.sub(r"[^a-z0-9]+", "-", label.casefold()).strip("-")
    seal = record.seal.replace(" ", "")[:8]
    path = folder / f"record {record.rows:06d} after {word} {seal}.json"
    text = json.dumps(
        {"kind": KIND, "seal": record.seal, "headers": HEADERS, "rows": record.as_rows()},
        ensure_ascii=False,
        indent=0,
    )
    temporary = path.with_suffix(".tmp")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with temporary.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise StoreError(
            f"the copy of the Record could not be kept in {folder}: {error.strerror}",
            "the match itself is safe; make room or mend the folder's permissions",
        ) from error
    return path


def kept_copies(folder: Path) -> list[Path]:
    """Return the copies that lie in a folder, the oldest match state first; [] without a folder."""
    try:
        return sorted(folder.glob("record ?????? after * *.json"))
    except OSError:
        return []  # what cannot be listed cannot be named; reading one says why


def read_copy(path: Path) -> Record:
    """Read and verify a copy. Raises StoreError for no copy, RecordBroken for an altered one."""
    try:
        if path.stat().st_size > LARGEST:
            raise StoreError(f"{path} is too large to be a copy of a Record")
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StoreError(
            f"{path} cannot be read: {error.strerror}",
            "name a copy of the Record: they lie in the folder of the backups",
        ) from error
    except (ValueError, RecursionError) as error:
        raise StoreError(
            f"{path} is no copy of a Record",
            "name a file such as 'record 000057 after round-1 3f9a12cc.json': they lie among the"
            " backups",
        ) from error
    rows = content.get("rows") if isinstance(content, dict) else None
    if not isinstance(rows, list) or content.get("kind") != KIND or not all(map(_is_row, rows)):
        raise StoreError(
            f"{path} is no copy of a Record",
            "name a file such as 'record 000057 after round-1 3f9a12cc.json': they lie among the"
            " backups",
        )
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
        and all(isinstance(text, str) for text in row)
    )
