"""The requests of `spreadsheets.batchUpdate`, each applied to a spreadsheet or refused.

Refusals carry Google's words; the server puts `Invalid requests[i].kind:` before them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tests.sheets_emulator import on_cells, on_tabs
from tests.sheets_emulator.model import Spreadsheet
from tests.sheets_emulator.schema import InvalidError, Json

MOST_CELLS: Final = 10_000_000


class RefusedError(Exception):
    """A request of a batch is refused: index, kind, and Google's words."""

    def __init__(self, index: int, kind: str, words: str) -> None:
        super().__init__(f"Invalid requests[{index}].{kind}: {words}")


def apply(book: Spreadsheet, requests: list[Json], who: str) -> list[Json]:
    """Apply a batch to a spreadsheet, in order, and return the replies. Raises RefusedError."""
    replies = []
    for index, request in enumerate(requests):
        (kind, body), *_ = request.items() or [("", {})]
        if kind not in KINDS:
            raise RefusedError(index, kind, "The emulator does not know this request.")
        try:
            replies.append(KINDS[kind](book, body, who) or {})
        except InvalidError as refusal:
            raise RefusedError(index, kind, str(refusal)) from refusal
    if sum(sheet.rows * sheet.columns for sheet in book.sheets) > MOST_CELLS:
        words = f"This action would increase the number of cells above the limit of {MOST_CELLS}."
        raise RefusedError(len(requests) - 1, kind, words)
    return replies


KINDS: Final[dict[str, Callable[[Spreadsheet, Json, str], Any]]] = {
    "updateCells": on_cells.update_cells,
    "repeatCell": on_cells.repeat_cell,
    "setDataValidation": on_cells.set_validation,
    "mergeCells": on_cells.merge_cells,
    "unmergeCells": on_cells.unmerge_cells,
    "addSheet": on_tabs.add_sheet,
    "deleteSheet": on_tabs.delete_sheet,
    "updateSheetProperties": on_tabs.update_sheet,
    "updateDimensionProperties": on_tabs.update_dimension,
    "insertDimension": on_tabs.insert_dimension,
    "addProtectedRange": on_tabs.add_protection,
    "deleteProtectedRange": on_tabs.delete_protection,
    "addNamedRange": on_tabs.add_name,
    "deleteNamedRange": on_tabs.delete_name,
    "addConditionalFormatRule": on_tabs.add_rule,
    "deleteConditionalFormatRule": on_tabs.delete_rule,
    "setBasicFilter": on_tabs.set_filter,
    "clearBasicFilter": on_tabs.clear_filter,
    "addChart": on_tabs.add_chart,
    "updateChartSpec": on_tabs.update_chart,
    "deleteEmbeddedObject": on_tabs.delete_object,
}
