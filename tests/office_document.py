"""One spreadsheet that is open in LibreOffice, as `Office.open` hands it out."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from sheets_host.grid import Area, address, place_of

Value = str | float | None


class OfficeError(Exception):
    """LibreOffice could not do what was asked, or is gone."""


@dataclass(frozen=True, slots=True)
class Validation:
    """What a cell lets in. type: any, whole, list …; style: stop, warning, info.

    formula1, formula2: the bounds, or the source of the list, in LibreOffice's spelling
    (``$Collections.$B$6:$B$53``), as they read for the cell `base`: seen from another cell, what
    is relative in them moves along. title, message: shown when the cell is chosen.
    """

    type: str
    operator: str
    formula1: str
    formula2: str
    base: str
    style: str
    blank: bool
    dropdown: bool
    title: str
    message: str
    error_title: str
    error: str


@dataclass(frozen=True, slots=True)
class ConditionalFormat:
    """One rule, in the order in which they count.

    kind: condition, colour scale, data bar, icons, date; operator: formula, =, <, between …
    formula: without ``=``, for the top left cell. fill, ink: RRGGBB or None.
    """

    ranges: tuple[str, ...]
    kind: str
    operator: str
    formula: str
    fill: str | None
    ink: str | None


@dataclass(frozen=True, slots=True)
class CellError:
    """A cell that holds or shows an error."""

    tab: str
    cell: str
    shown: str


class Document:
    """One open spreadsheet. Cells are named as ``E7``, rows and columns as people name them."""

    def __init__(self, do: Callable[..., Any]) -> None:
        self._do = do

    # --- cells ---

    def type(self, tab: str, cell: str, text: str) -> None:
        """Type into a cell: its format and the locale decide what becomes of the text."""
        self._do("type", tab=tab, cell=cell, text=text)

    def value(self, tab: str, cell: str) -> Value:
        """What the cell holds, of a formula its result; TRUE is 1.0, an error is its text."""
        value: Value = self._do("value", tab=tab, cell=cell)
        return value

    def values(self, tab: str, area: str) -> list[list[Value]]:
        """The values of an area, row by row."""
        values: list[list[Value]] = self._do("values", tab=tab, area=area)
        return values

    def column(self, tab: str, column: str, first: int, last: int) -> list[Value]:
        """The values of one column, from row `first` to row `last`."""
        return [row[0] for row in self.values(tab, f"{column}{first}:{column}{last}")]

    def text(self, tab: str, cell: str) -> str:
        """What the cell shows."""
        return str(self._do("text", tab=tab, cell=cell))

    def formula(self, tab: str, cell: str) -> str | None:
        """The formula in LibreOffice's spelling, None where there is none."""
        formula: str | None = self._do("formula", tab=tab, cell=cell)
        return formula

    def number_format(self, tab: str, cell: str) -> str:
        return str(self._do("number_format", tab=tab, cell=cell))

    def recalculate(self) -> None:
        """Recalculate what LibreOffice itself thinks is due, and nothing else."""
        self._do("recalculate")

    def errors(self) -> list[CellError]:
        """Every cell of every tab that holds an error or shows one."""
        return [CellError(*found) for found in self._do("errors")]

    # --- tabs ---

    def sheets(self) -> list[str]:
        return list(self._do("sheets"))

    def rename(self, tab: str, new: str) -> None:
        self._do("rename", tab=tab, new=new)

    def hide(self, tab: str) -> None:
        self._do("hide", tab=tab)

    def insert_rows(self, tab: str, row: int, count: int = 1) -> None:
        """Insert rows above a row."""
        self._do("insert_rows", tab=tab, row=row, count=count)

    def delete_rows(self, tab: str, row: int, count: int = 1) -> None:
        self._do("delete_rows", tab=tab, row=row, count=count)

    def insert_columns(self, tab: str, column: str, count: int = 1) -> None:
        """Insert columns left of a column."""
        self._do("insert_columns", tab=tab, column=column, count=count)

    def delete_columns(self, tab: str, column: str, count: int = 1) -> None:
        self._do("delete_columns", tab=tab, column=column, count=count)

    def sort(self, tab: str, area: str, column: str, ascending: bool = True) -> None:
        """Sort the rows of an area, which has no header, by one of its columns."""
        self._do("sort", tab=tab, area=area, column=column, ascending=ascending)

    def copy(self, tab: str, area: str, cell: str) -> None:
        """Copy an area with all that hangs on it, and paste it with this top left cell."""
        self._do("copy", tab=tab, area=area, cell=cell)

    def hide_rows(self, tab: str, row: int, count: int = 1) -> None:
        self._do("hide_rows", tab=tab, row=row, count=count)

    def frozen(self, tab: str) -> tuple[int, int]:
        """How many rows and columns stay in view."""
        rows, columns = self._do("frozen", tab=tab)
        return rows, columns

    # --- looks ---

    def validation(self, tab: str, cell: str) -> Validation:
        return Validation(**self._do("validation", tab=tab, cell=cell))

    def conditional_formats(self, tab: str) -> list[ConditionalFormat]:
        found = self._do("conditional_formats", tab=tab)
        return [ConditionalFormat(**rule | {"ranges": tuple(rule["ranges"])}) for rule in found]

    def backgrounds(self, tab: str, area: str) -> dict[str, str | None]:
        """The fill that each visible cell really shows, conditional formats included: RRGGBB.

        LibreOffice tells it only in its HTML, which covers what lies within the used area.
        """
        layout = self._do("layout", tab=tab)
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            self._do("export", path=str(page))
            html = page.read_text(encoding="utf-8")
        fills = _html_fills(html, layout["index"])
        wanted = Area.of(area)
        return {
            address(row, column): fills.get((r, c))
            for r, row in enumerate(layout["rows"])
            for c, column in enumerate(layout["columns"])
            if (row, column) in wanted
        }

    def background(self, tab: str, cell: str) -> str | None:
        """The fill that a cell really shows; see `backgrounds`."""
        shown = self.backgrounds(tab, cell)
        if address(*place_of(cell)) not in shown:
            raise OfficeError(f"{tab} {cell} is hidden or lies beyond the used area")
        return shown[address(*place_of(cell))]

    # --- files ---

    def save(self) -> None:
        """Save in place, in the format it has."""
        self._do("save")

    def save_as(self, path: Path) -> None:
        """Save under another name, which the document has from then on."""
        self._do("save_as", path=str(path.resolve()))

    def pdf(self, path: Path) -> None:
        self._do("export", path=str(path.resolve()))


def _html_fills(html: str, index: int) -> dict[tuple[int, int], str]:
    """Return the fills of a tab's table, by row and column from 0 among those exported."""
    anchor = f'<A NAME="table{index}">'
    if '<A NAME="table' in html:  # left out where a single tab has anything to show
        if anchor not in html:
            return {}
        html = html.partition(anchor)[2].partition('<A NAME="table')[0]
    table = _Table()
    table.feed(html)
    return table.fills


class _Table(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.fills: dict[tuple[int, int], str] = {}
        self._taken: set[tuple[int, int]] = set()
        self._row = -1
        self._column = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self._row += 1
            self._column = 0
        if tag != "td":
            return
        has = dict(attrs)
        while (self._row, self._column) in self._taken:
            self._column += 1
        for r in range(int(has.get("rowspan") or 1)):
            for c in range(int(has.get("colspan") or 1)):
                place = (self._row + r, self._column + c)
                self._taken.add(place)
                if fill := has.get("bgcolor"):
                    self.fills[place] = fill.removeprefix("#")
