"""Writing a tab's contents as the rows of a sheet part (ECMA-376 part 1, 18.3.1.80)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from sheets_host.grid import Area, Content, Formula, Link, Style, Tab, address, column_letters
from sheets_host.stores.base import StoreError
from sheets_host.stores.excel.splicing import escaped

MAX_TEXT: Final = 32_767
"""Characters that a cell of Excel holds."""

_SPECIAL: Final = re.compile("[&<>\x00-\x1f\ufffe\uffff\ud800-\udfff]|_x|^\\s|\\s$|  ")
_ESCAPED: Final = re.compile("[\x00-\x08\x0b-\x1f\ufffe\uffff]|_(?=x[0-9A-Fa-f]{4}_)")
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def xstring(text: str) -> str:
    """Return text as ST_Xstring holds it (ECMA-376 part 1, 22.9.2.19), ready to be markup.

    Characters that XML cannot hold become ``_xHHHH_``, and so does the underscore of a text that
    looks like such an escape. Half a surrogate pair is no character: U+FFFD stands for it.
    """
    text = _SURROGATE.sub("\ufffd", text)
    text = _ESCAPED.sub(lambda match: f"_x{ord(match[0]):04X}_", text)
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def sheet_data(tab: Tab, xf: Callable[[Style], int]) -> str:
    """Return a tab's rows as ``<sheetData>…</sheetData>``.

    xf: gives the index in the workbook's cellXfs for a style. Strings stand inline, so that the
    workbook's shared strings need no change; a formula has no stored value, since the program
    that opens the workbook works it out. Raises StoreError for text that no cell can hold.
    """
    pieces = ["<sheetData>"]
    heights = tab.looks.heights
    contents = tab.rows
    for first, last, styled in _bands(tab, xf):
        width = max(styled, default=0)
        attributes = [
            f' s="{styled[column]}"' if styled.get(column) else "" for column in range(width + 1)
        ]
        blanks = [column for column in range(1, width + 1) if attributes[column]]
        for number in range(first, last + 1):
            row = contents[number - 1] if number <= len(contents) else ()
            cells = [
                _cell(tab, content, number, column, attributes[column] if column <= width else "")
                for column, content in enumerate(row, 1)
                if content is not None and content != ""
            ]
            filled = len(cells)
            if blanks and (filled < len(row) or len(row) < blanks[-1]):
                cells = _with_blanks(row, cells, number, attributes, blanks)
            height = heights.get(number)
            if cells or height:
                tall = f' ht="{height}" customHeight="1"' if height else ""
                pieces += (f'<row r="{number}"{tall}>', *cells, "</row>")
    pieces.append("</sheetData>")
    return "".join(pieces)


def _cell(tab: Tab, content: Content, row: int, column: int, style: str) -> str:
    place = f'<c r="{column_letters(column)}{row}"{style}'
    if isinstance(content, int):
        return f"{place}><v>{int(content)}</v></c>"
    if isinstance(content, Formula):
        return f"{place}><f>{escaped(content.text.removeprefix('='))}</f></c>"
    text = content.text if isinstance(content, Link) else content
    assert text is not None
    if len(text) > MAX_TEXT:
        raise StoreError(
            f"The cell {tab.title}!{address(row, column)} would hold {len(text):,} characters; "
            f"Excel keeps {MAX_TEXT:,}.",
            "Shorten the names or texts that it repeats.",
        )
    if _SPECIAL.search(text):
        return f'{place} t="inlineStr"><is><t xml:space="preserve">{xstring(text)}</t></is></c>'
    return f'{place} t="inlineStr"><is><t>{text}</t></is></c>'


def _with_blanks(
    row: Sequence[Content], cells: list[str], number: int, styles: list[str], blanks: list[int]
) -> list[str]:
    """Put the blank cells that carry a style between the filled ones."""
    filled = iter(cells)
    wanted = set(blanks)
    merged = []
    for column in range(1, max(len(row), blanks[-1]) + 1):
        content = row[column - 1] if column <= len(row) else None
        if content is not None and content != "":
            merged.append(next(filled))
        elif column in wanted:
            merged.append(f'<c r="{column_letters(column)}{number}"{styles[column]}/>')
    return merged


def _bands(tab: Tab, xf: Callable[[Style], int]) -> Iterator[tuple[int, int, dict[int, int]]]:
    """Yield (first row, last row, style index by column) for rows that are styled alike."""
    styles = tab.looks.styles
    last = max(len(tab.rows), *(styled.area.bottom for styled in styles), *tab.looks.heights, 0)
    tops = {1} | {styled.area.top for styled in styles}
    bottoms = {styled.area.bottom + 1 for styled in styles}
    starts = sorted(row for row in tops | bottoms if row <= last)
    indexes = {styled.style: xf(styled.style) for styled in styles}
    for start, following in zip(starts, [*starts[1:], last + 1], strict=True):
        by_column: dict[int, int] = {}
        for styled in styles:
            area = styled.area
            if area.top <= start <= area.bottom:
                by_column.update(
                    dict.fromkeys(range(area.left, area.right + 1), indexes[styled.style])
                )
        yield start, following - 1, by_column


def links(tab: Tab) -> Iterator[tuple[str, Link]]:
    """Yield each link of a tab with its cell's address."""
    for number, row in enumerate(tab.rows, 1):
        for column, content in enumerate(row, 1):
            if isinstance(content, Link):
                yield address(number, column), content


def extent(tab: Tab) -> Area:
    """Return the area of what a tab holds or styles; A1 where that is nothing."""
    rows, columns = tab.size
    areas = [styled.area for styled in tab.looks.styles]
    return Area(
        1,
        1,
        max(rows, 1, *(area.bottom for area in areas)),
        max(columns, 1, *(area.right for area in areas)),
    )
