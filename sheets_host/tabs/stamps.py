"""What the tool's own tabs say: the Record's rows, and the stamp on every report."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, cast

from sheets_host.game.record import HEADERS, Record, RecordBroken, Row, read_record
from sheets_host.grid import Grid, Kind
from sheets_host.tabs.finding import find_table
from sheets_host.tabs.layout import TOOL_HEADER
from sheets_host.tabs.problems import DamagedTabs

COPY_BACK: Final = "put a copy of the Record back: sheets-host restore WORKBOOK COPY"
_FARTHEST: Final = 6  # on wide tabs a stamp stands right of the frozen columns
_STAMP: Final = re.compile(r"Record: ([0-9]{1,9}) rows, seal ([0-9a-f ]{19})")


def read_record_tab(grid: Grid) -> Record:
    """Read and verify the Record. Raises DamagedTabs without its headers, RecordBroken."""
    if not grid.cells:
        return Record()
    table, faults = find_table(grid, HEADERS)
    if table is None or faults:
        raise DamagedTabs(replace(f, hint=f"{f.hint}; or {COPY_BACK}") for f in faults)
    rows, places = [], []
    for row in table.rows():
        texts = tuple(_text(grid, row, table.columns[header]) for header in HEADERS)
        if any(texts):
            rows.append(cast("Row", texts))
            places.append(row)
    try:
        return read_record(rows)
    except RecordBroken as broken:
        place = table.cell(places[broken.seq - 1], HEADERS[0])
        raise RecordBroken(broken.seq, f"{broken.message} (see Record!{place})") from None


def _text(grid: Grid, row: int, column: int) -> str:
    cell = grid.at(row, column)
    return "" if cell.kind is Kind.BLANK else cell.text


def stamp_of(grid: Grid) -> tuple[int, str] | None:
    """Return the rows and the seal that a report was drawn from; None where it bears no stamp."""
    for row in range(1, TOOL_HEADER):
        for column in range(1, _FARTHEST + 1):
            match = _STAMP.fullmatch(grid.at(row, column).text)
            if match:
                return int(match[1]), match[2]
    return None


def check_stamps(record: Record, grids: Mapping[str, Grid]) -> None:
    """Hold the reports' stamps against the Record. Raises RecordBroken where rows were cut off.

    A rebuilt chain is found too: it gives other seals than the reports bear.
    """
    for title, grid in grids.items():
        stamp = stamp_of(grid)
        if stamp is None:
            continue
        rows, seal = stamp
        if rows > record.rows:
            raise RecordBroken(
                record.rows + 1,
                f"row {record.rows + 1} and what came after it were cut off:"
                f' the tab "{title}" was drawn from {rows} rows, and {record.rows} are left',
            )
        if rows and record.seals[rows - 1] != seal:
            raise RecordBroken(
                rows,
                f'row {rows} is not the one that was written: the tab "{title}" bears its'
                f" seal {seal}, and the Record gives {record.seals[rows - 1]}",
            )
