"""One pass over a sheet's XML (ECMA-376 part 1, 18.3.1): what stands where, not yet understood.

The handlers are the hottest code of reading: the Record of a large game has 100,000 cells. They
keep raw texts and leave their meaning to reading.py, which sees each different one once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, NoReturn
from xml.parsers.expat import XMLParserType

from sheets_host.grid import Area, place_of
from sheets_host.stores.base import StoreError
from sheets_host.stores.excel.formulas import MAX_COLUMN, MAX_ROW
from sheets_host.stores.excel.package import Package, SheetRef
from sheets_host.stores.excel.parsing import (
    MAIN,
    MAX_DEPTH,
    MAX_ELEMENTS,
    Enough,
    count_of,
    feed,
    local_name,
    parser_of,
)
from sheets_host.stores.excel.texts import MAX_PIECES, Runs, Text, kept

EMPTY_RUN: Final = 2_000
"""Rows in a run without a value, after which the rest of a tab is taken to be empty."""
MAX_CELLS: Final = 800_000
"""Cells that hold something on all tabs that are read of one workbook; a game of 200 players has
112,000 in its Record."""
MAX_BLANKS: Final = 4_000_000
"""Cells of those tabs that have a format and hold nothing, among those that do."""
MAX_BLANK_RUN: Final = 1_000_000
"""Such cells in a run, after which the rest of a tab is taken to be empty."""
MAX_READ: Final = 256 << 20
"""Bytes of those tabs that are put through the parser."""
MAX_CHARACTERS: Final = 16 << 20
"""Characters of all values, texts and formulas on those tabs; each may take 4 bytes."""
MAX_MERGES: Final = 200_000
"""Merges of one tab."""
MAX_FORMULA: Final = 8_192
"""Characters of a formula that are kept: Excel allows no more."""
MAX_HEAD: Final = 4 << 20
"""Bytes before a tab's rows."""

Raw = tuple[str, str, str | None, str | None, Text | None]
"""A cell as it is written: type, style, value, formula, inline text."""

_WORKSHEET: Final = MAIN + "worksheet"
_SHEET_DATA: Final = MAIN + "sheetData"
_ROW: Final = MAIN + "row"
_C: Final = MAIN + "c"
_V: Final = MAIN + "v"
_F: Final = MAIN + "f"
_IS: Final = MAIN + "is"
_COL: Final = MAIN + "col"
_CELL_ATTRIBUTES: Final = frozenset(("r", "s", "t", "cm", "vm", "ph"))  # 18.3.1.4
_EXTENSIONS: Final = (MAIN + "extLst", MAIN + "ext")
_DEPTH_OF_CELLS: Final = 4  # worksheet, sheetData, row, c
_DEPTH_OF_VALUES: Final = 5
_MERGE: Final = MAIN + "mergeCell"
_CLEAR: Final = (
    "Clear what does not belong to the game, formats of empty rows and columns too, or move the "
    "tab into a new workbook."
)
_RESTORE: Final = "Restore an earlier copy, or open it in Excel or LibreOffice and save it again."
_TRUE: Final = ("1", "true")
_DIGITS: Final = "0123456789"
_END_OF_DATA: Final = re.compile(rb"</([^\s<>/:]{1,80}:)?sheetData\s*>")
_LONGEST_END: Final = 128  # bytes that such an end may take


@dataclass(slots=True)
class Spent:
    """What the tabs of one workbook that were read before have taken; see the bounds above."""

    cells: int = 0
    blanks: int = 0
    parsed: int = 0
    characters: int = 0
    elements: int = 0


@dataclass(slots=True)
class Scan:
    """What one sheet holds, in raw form.

    struck: cells that hold nothing but are struck out, with their style.
    arrays: formulas that fill an area. shared: where each shared formula stands, and its text;
    followers: the cells that share one, by its group.
    whole: False where reading stopped early.
    """

    cells: dict[tuple[int, int], Raw] = field(default_factory=dict)
    struck: dict[tuple[int, int], str] = field(default_factory=dict)
    merges: list[Area] = field(default_factory=list)
    arrays: list[tuple[Area, str]] = field(default_factory=list)
    followers: dict[tuple[int, int], str] = field(default_factory=dict)
    shared: dict[str, tuple[tuple[int, int], str]] = field(default_factory=dict)
    hidden_rows: set[int] = field(default_factory=set)
    hidden_columns: set[int] = field(default_factory=set)
    whole: bool = True


def scan(
    package: Package, sheet: SheetRef, struck: frozenset[str], spent: Spent | None = None
) -> Scan:
    """Read a worksheet's part. Raises StoreError where it is damaged or too large.

    struck: the styles whose cells are kept though they hold nothing. spent: what the workbook's
    other tabs took; it grows.
    After EMPTY_RUN rows without a value the other rows are stepped over unparsed; what follows
    them (merges) is read again.
    """
    scanner = _Scanner(package.name, sheet, struck, spent or Spent())
    chunks = package.pieces(sheet.part)
    try:
        feed(scanner.parser(), scanner.guarded(chunks), sheet.part, package.name)
    except Enough:
        scanner.scan.whole = False
        tail = _without_rows(scanner.head, scanner.chunk, chunks)
        with suppress(Enough):  # a second sheetData, which no program writes, is not read
            feed(scanner.parser(), scanner.guarded(tail), sheet.part, package.name)
    scanner.spend()
    return scanner.scan


def _without_rows(head: bytes, chunk: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    """Yield a sheet as if it had no rows: what stands before them, and what stands after."""
    while not (end := _END_OF_DATA.search(chunk)):
        following = next(rest, b"")
        if not following:
            return  # cut off: the parser will say so
        chunk = chunk[-_LONGEST_END:] + following
    yield head + b"<" + (end[1] or b"") + b"sheetData/>"
    yield chunk[end.end() :]
    yield from rest


class _Scanner:
    """The handlers, and where they stand in the sheet."""

    def __init__(self, name: str, sheet: SheetRef, struck: frozenset[str], spent: Spent) -> None:
        self.scan = Scan()
        self._spent = spent
        self.head = b""  # the XML before the rows
        self.chunk = b""  # the XML that is being parsed
        self._name = name
        self._sheet = sheet
        self._struck = struck
        self._parser: XMLParserType | None = None
        self._depth = 0
        self._head_known = False
        self._last_hidden = 0  # column
        self._row = 0
        self._row_text = "0"
        self._row_holds = False
        self._empty_rows = 0
        self._columns: dict[str, int] = {}  # letters to numbers
        self._column = 0
        self._type = "n"
        self._style = "0"
        self._value: str | None = None
        self._formula: str | None = None
        self._inline: Text | None = None
        self._sharing: dict[str, str] = {}  # the attributes of the formula, if it has any
        self._pieces: list[str] = []  # of the text that is being read
        self._runs = Runs(self._pieces, self._refuse_in_row)  # of the inline text being read
        self._in_data = False
        self._in_item = False
        self._extension = 0  # the depth of the extension among the rows that is being read
        self._elements = 0  # of all kinds but cells and their values
        self._characters = 0  # of values, texts and formulas
        self._blanks = 0
        self._blanks_at_value = 0

    def parser(self) -> XMLParserType:
        """Return a parser at the beginning of the part that calls these handlers."""
        self._depth = self._row = 0
        self._in_data = False
        self._blanks_at_value = self._blanks
        parser = self._parser = parser_of(self._sheet.part, self._name)
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._pieces.append
        return parser

    def guarded(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the chunks as long as what they held keeps within bounds.

        Between chunks the bounds cost nothing, and one chunk of 64 KB cannot do much harm.
        """
        scan, spent = self.scan, self._spent
        for chunk in chunks:
            self.chunk = chunk
            if not self._head_known:
                self.head += chunk
            yield chunk
            spent.parsed += len(chunk)
            if self._depth > MAX_DEPTH:
                self._refuse(f"is nested more than {MAX_DEPTH} deep")
            if len(self._pieces) > MAX_PIECES:
                self._refuse(f"holds a text of more than {MAX_PIECES // 16} MB")
            if spent.cells + len(scan.cells) + len(scan.struck) > MAX_CELLS:
                self._refuse(f"has, with the others, over {MAX_CELLS:,} cells that hold something")
            if len(scan.merges) > MAX_MERGES:
                self._refuse(f"has more than {MAX_MERGES:,} merged areas")
            if (
                spent.blanks + self._blanks > MAX_BLANKS
                or spent.parsed > MAX_READ
                or spent.characters + self._characters > MAX_CHARACTERS
                or spent.elements + self._elements > MAX_ELEMENTS
                or len(self.head) > MAX_HEAD
            ):
                self._refuse("holds more than can be read")
            if self._blanks - self._blanks_at_value > MAX_BLANK_RUN:
                raise Enough

    def spend(self) -> None:
        """Count what this tab took."""
        self._spent.cells += len(self.scan.cells) + len(self.scan.struck)
        self._spent.blanks += self._blanks
        self._spent.characters += self._characters
        self._spent.elements += self._elements

    def _refuse(self, what: str, hint: str = _CLEAR) -> NoReturn:
        raise StoreError(f'{self._name}: the tab "{self._sheet.title}" {what}.', hint)

    def _damaged(self, how: str) -> NoReturn:
        self._refuse(f"is damaged: {how}", _RESTORE)

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        if tag == _C:
            if self._depth != _DEPTH_OF_CELLS or self._extension:
                self._refuse_element(tag)
            ref = attributes.get("r")
            if ref is None:
                column = self._column + 1
            else:
                letters = ref.rstrip(_DIGITS)
                column = self._columns.get(letters, 0)
                if not column or ref[len(letters) :] != self._row_text:
                    column = self._placed(ref, letters)
            if column <= self._column:
                self._damaged(f"the cells of row {self._row} are not in order")
            if column > MAX_COLUMN:
                self._refuse(f"has a cell beyond the last column, {MAX_COLUMN:,}")
            if not attributes.keys() <= _CELL_ATTRIBUTES:
                self._refuse_odd(attributes)
            self._column = column
            self._type = attributes.get("t", "n")
            self._style = attributes.get("s", "0")
            self._value = self._formula = self._inline = None
            self._pieces.clear()
        elif tag == _V:
            self._pieces.clear()
            if self._depth != _DEPTH_OF_VALUES or self._value is not None:
                self._refuse_element(tag)
        elif self._in_item:
            self._elements += 1
            self._runs.start(tag, attributes)
        elif tag == _F and self._in_data:
            self._pieces.clear()
            if self._depth != _DEPTH_OF_VALUES or self._extension or self._formula is not None:
                self._refuse_element(tag)
            self._sharing = attributes
        elif tag == _ROW:
            self._start_row(attributes)
        elif tag == _IS:
            self._pieces.clear()
            if self._depth != _DEPTH_OF_VALUES or self._extension or self._inline is not None:
                self._refuse_element(tag)
            self._in_item = True
        else:
            self._start_other(tag, attributes)

    def _end(self, tag: str) -> None:
        self._depth -= 1
        if tag == _V:
            pieces = self._pieces
            value = pieces[0] if len(pieces) == 1 else "".join(pieces)
            self._value = kept(value)
            self._characters += len(value)
            pieces.clear()
        elif tag == _C:
            if self._pieces:
                self._refuse_bare_text()
            place = (self._row, self._column)
            if self._value is None and self._formula is None and self._inline is None:
                self._blanks += 1
                if self._style in self._struck:
                    self.scan.struck[place] = self._style
            else:
                self._row_holds = True
                self._blanks_at_value = self._blanks
                self.scan.cells[place] = (
                    self._type, self._style, self._value, self._formula, self._inline,
                )  # fmt: skip
        elif self._in_item:
            if tag == _IS:
                inline = self._inline = self._runs.taken()
                self._characters += len(inline if isinstance(inline, str) else inline.text)
                self._in_item = False
            else:
                self._runs.end(tag)
        elif tag == _F and self._in_data:
            self._end_formula()
        elif tag == _ROW:
            self._end_row()
        elif tag == _SHEET_DATA:
            self._in_data = False
        elif self._extension and self._depth < self._extension:
            self._extension = 0
            self._pieces.clear()

    def _refuse_bare_text(self) -> None:
        """Refuse text in a cell that is in none of the elements where text belongs."""
        if self._extension:
            self._pieces.clear()
        else:
            self._runs.nothing_bare()

    def _placed(self, ref: str, letters: str) -> int:
        """Return a cell's column where it is not known yet, or where its row is another."""
        try:
            row, column = place_of(ref)
        except ValueError:
            self._damaged(f'it has a cell with the address "{ref[:20]}"')
        if row != self._row:
            self._damaged(f"the cell {ref} stands in row {self._row}")
        self._columns[letters] = column
        return column

    def _refuse_element(self, tag: str) -> NoReturn:
        self._refuse_in_row(f'a "{local_name(tag)}"')

    def _refuse_in_row(self, what: str) -> NoReturn:
        where = f"in row {self._row}" if self._row else "among its rows"
        self._damaged(f"{what} does not belong {where}")

    def _refuse_odd(self, attributes: dict[str, str]) -> None:
        """Refuse attributes that a cell cannot have: one may be what was its type."""
        odd = [name for name in attributes if " " not in name and name not in _CELL_ATTRIBUTES]
        if odd:
            self._damaged(f'a cell of row {self._row} has the attribute "{odd[0][:20]}"')

    def _to_row(self, row: int) -> None:
        if not 0 < row <= MAX_ROW:
            self._refuse(f"has a cell outside the rows 1 to {MAX_ROW:,}")
        if row <= self._row:
            self._damaged(f"row {row} comes after row {self._row}")
        self._row = row
        self._row_text = str(row)

    def _start_row(self, attributes: dict[str, str]) -> None:
        self._elements += 1
        text = attributes.get("r")
        number = self._row + 1 if text is None else count_of(text)
        if number is not None:
            self._to_row(number)
        else:
            assert text is not None
            self._damaged(f'it has a row with the number "{text[:20]}"')
        self._column = 0
        self._row_holds = False
        self._pieces.clear()
        if attributes.get("hidden") in _TRUE:
            self.scan.hidden_rows.add(self._row)

    def _end_row(self) -> None:
        if self._row_holds:
            self._empty_rows = 0
            return
        self._empty_rows += 1
        if self._empty_rows >= EMPTY_RUN:
            raise Enough

    def _end_formula(self) -> None:
        formula = self._formula = "".join(self._pieces)[:MAX_FORMULA]
        self._characters += len(formula)
        self._pieces.clear()
        kind = self._sharing.get("t")
        place = (self._row, self._column)
        if kind == "shared":
            group = self._sharing.get("si", "")
            if formula:
                self.scan.shared.setdefault(group, (place, formula))
            else:
                self.scan.followers[place] = group
        elif kind in ("array", "dataTable") and ":" in self._sharing.get("ref", ""):
            self.scan.arrays.append((self._area(self._sharing["ref"]), formula))

    def _start_other(self, tag: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        if self._depth == 1 and tag != _WORKSHEET:
            self._damaged("its part holds no worksheet")
        if self._in_data:
            # What is not understood among the cells might be a bid; an extension is none.
            self._refuse_bare_text()
            if tag in _EXTENSIONS:
                self._extension = self._extension or self._depth
            elif not self._extension:
                self._refuse_element(tag)
            return
        self._pieces.clear()
        if tag == _SHEET_DATA:
            self._in_data = True
            if not self._head_known:
                assert self._parser is not None
                self._head_known = True
                self.head = self.head[: self._parser.CurrentByteIndex]
        elif tag == _MERGE:
            self.scan.merges.append(self._area(attributes.get("ref", "")))
        elif tag == _COL and attributes.get("hidden") in _TRUE:
            self._hide_columns(attributes)

    def _area(self, ref: str) -> Area:
        try:
            return Area.of(ref)
        except ValueError:
            self._damaged(f'it names the cells "{ref[:40]}"')

    def _hide_columns(self, attributes: dict[str, str]) -> None:
        first, last = count_of(attributes.get("min")), count_of(attributes.get("max"))
        if first is None or last is None:
            return  # it can only matter to a notice
        # In order and apart, as the schema wants them; else a few bytes could mean much work.
        start = max(first, self._last_hidden + 1)
        self._last_hidden = max(self._last_hidden, min(last, MAX_COLUMN))
        self.scan.hidden_columns.update(range(start, self._last_hidden + 1))
