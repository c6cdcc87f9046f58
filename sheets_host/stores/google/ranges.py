"""Areas as the Sheets API names them.

Source: Google Sheets API v4, page "Other", GridRange: rows and columns from 0, the last ones not
included.
"""

from __future__ import annotations

from typing import Any

from sheets_host.grid import Area

Request = dict[str, Any]
"""A request of a batch, or a part of one, as JSON."""


def grid_range(sheet_id: int, area: Area | None = None) -> Request:
    """Return the GridRange of an area, or of the whole tab."""
    if area is None:
        return {"sheetId": sheet_id}
    return {
        "sheetId": sheet_id,
        "startRowIndex": area.top - 1,
        "endRowIndex": area.bottom,
        "startColumnIndex": area.left - 1,
        "endColumnIndex": area.right,
    }
