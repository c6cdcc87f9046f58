"""Tabs of an Excel package as grids of cells.

The meaning of raw cells (ECMA-376 part 1, 18.3.1.4): type, value, style and formula together make
one `Cell`. A cell that cannot be understood becomes an ERROR cell that quotes what stands there;
only what makes a whole tab unreadable raises StoreError.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

from sheets_host.grid import BLANK, Area, Cell, Grid, Kind, Shape, Strike, place_of, shape_of
from sheets_host.stores.base import StoreError
from sheets_host.stores.excel.formats import Look, looks_of
from sheets_host.stores.excel.formulas import shifted
from sheets_host.stores.excel.package import Package, SheetRef
from sheets_host.stores.excel.parsing import MAIN, Enough, count_of, walk
from sheets_host.stores.excel.scanning import MAX_CELLS, Raw, Scan, Spent, scan
from sheets_host.stores.excel.texts import RichText, Text, shared_texts, unescaped

Places = dict[tuple[int, int], Cell]

_NUMBER: Final = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
_EPOCH: Final = dt.datetime(1899, 12, 30)  # noqa: DTZ001 - cells know no zones
_DAYS_TO_1904: Final = 1462
MOST_MOVED: Final = 1_000_000  # characters of shared formulas that are written out on one tab
MAX_COVERED: Final = 200_000
"""Cells that the merges and array formulas of one tab may cover together."""


def read_grids(
    package: Package, titles: Collection[str]
) -> tuple[tuple[str, ...], dict[str, Grid]]:
    """Return every tab's title, in order, and the grids of the tabs wanted that are there.

    Chart sheets and the like have a title and no grid. Raises StoreError where a wanted tab, or
    the styles, cannot be read.
    """
    wanted = [
        sheet for sheet in package.sheets if sheet.title in titles and sheet.kind == "worksheet"
    ]
    grids: dict[str, Grid] = {}
    if wanted:
        looks = looks_of(package)
        struck = frozenset(str(index) for index, look in enumerate(looks) if look.struck)
        scans = list(_scans(package, wanted, struck))
        texts = shared_texts(package, _text_numbers(found for _, found in scans))
        meaning = _Meaning(looks, texts, package.date1904)
        for sheet, found in scans:
            grids[sheet.title] = _grid(package, sheet, found, meaning)
    return tuple(sheet.title for sheet in package.sheets), grids


def _scans(
    package: Package, wanted: Iterable[SheetRef], struck: frozenset[str]
) -> Iterator[tuple[SheetRef, Scan]]:
    """Scan one tab after the other, as long as all of them together keep within bounds."""
    spent = Spent()
    for sheet in wanted:
        yield sheet, scan(package, sheet, struck, spent)


def _text_numbers(scans: Iterable[Scan]) -> set[int]:
    values = {raw[2] for found in scans for raw in found.cells.values() if raw[0] == "s"}
    return {index for value in values if (index := count_of(value)) is not None}


def _grid(package: Package, sheet: SheetRef, found: Scan, meaning: _Meaning) -> Grid:
    cells: Places = {}
    for place, raw in found.cells.items():
        cell = meaning.of(raw)
        if cell is not BLANK:
            cells[place] = cell
    for place, style in found.struck.items():
        cells.setdefault(place, meaning.of(("n", style, None, None, None)))
    _share_formulas(cells, found)
    _spread_arrays(cells, found, package.name, sheet.title)
    _lay_merges(cells, found.merges, package.name, sheet.title)
    for place in _comments(package, sheet):
        cells[place] = replace(cells.get(place, BLANK), comment=True)
    return Grid(
        title=sheet.title,
        cells=cells,
        hidden=sheet.state != "visible",
        hidden_rows=frozenset(found.hidden_rows),
        hidden_columns=frozenset(found.hidden_columns),
        tables=tuple(_tables(package, sheet)),
        key=sheet.part,
    )


class _Meaning:
    """What raw cells mean in one workbook. Equal ones are understood once and share a `Cell`."""

    def __init__(self, looks: tuple[Look, ...], texts: Mapping[int, Text], date1904: bool) -> None:
        self._looks = looks
        self._styles = {str(index): look for index, look in enumerate(looks)}
        self._texts = texts
        self._date1904 = date1904
        self._known: dict[Raw, Cell] = {}

    def of(self, raw: Raw) -> Cell:
        """Return what a raw cell means; BLANK itself for one that is as good as not there."""
        cell = self._known.get(raw)
        if cell is None:
            cell = self._known[raw] = self._understood(raw)
        return cell

    def _understood(self, raw: Raw) -> Cell:
        kind, style, written, formula, inline = raw
        if inline is not None and kind != "inlineStr":
            # No program writes that, and most show nothing of it: it may have been a bid.
            kind, written = "broken", inline.text if isinstance(inline, RichText) else inline
        look = self._styles.get(style) or self._looks[0]
        strike = Strike.WHOLE if look.struck else Strike.NONE
        shape = shape_of(look.format)
        value: float | str | bool | None
        if kind in ("s", "inlineStr"):
            text = inline if kind == "inlineStr" else self._shared(written)
            if text is None:
                found, value = _broken(written)
            else:
                found = Kind.TEXT
                if isinstance(text, RichText):
                    value, strike = text.text, _strike(text, look.struck)
                else:
                    value = text
        elif kind == "d":
            found, value = _iso_date(written)
            if found is Kind.NUMBER and shape is not Shape.TIME:
                shape = Shape.DATE
        else:
            found, value = _plain(kind, written)
            if found is Kind.NUMBER and self._date1904:
                value = _from_1904(value, shape)
        if value == "" and found is Kind.TEXT and formula is None:
            found, value = Kind.BLANK, None
        if found is Kind.BLANK and formula is None and strike is Strike.NONE:
            return BLANK
        return Cell(
            kind=found,
            value=value,
            formula=None if formula is None else "=" + unescaped(formula),
            cached=formula is None or found is not Kind.BLANK,
            format=look.format,
            shape=shape,
            strike=strike,
            unseen=look.unseen,
        )

    def _shared(self, number: str | None) -> Text | None:
        if not number:
            return ""
        index = count_of(number)
        return None if index is None else self._texts.get(index)


def _plain(kind: str, written: str | None) -> tuple[Kind, float | str | bool | None]:
    """Read a value that stands in the cell itself."""
    if written is None:
        return Kind.BLANK, None
    if kind == "str":
        return Kind.TEXT, unescaped(written)
    if kind == "e":
        return Kind.ERROR, written.strip() or "#VALUE!"
    bare = written.strip()
    if not bare:
        return Kind.BLANK, None
    if kind == "b" and bare in ("0", "1", "false", "true"):
        return Kind.BOOLEAN, bare in ("1", "true")
    if kind == "n" and _NUMBER.fullmatch(bare):
        return Kind.NUMBER, float(bare)
    return _broken(written)


def _broken(written: str | None) -> tuple[Kind, str | None]:
    """Return what no spreadsheet program writes as an error that quotes it."""
    return (Kind.ERROR, written[:80]) if written else (Kind.BLANK, None)


def _iso_date(written: str | None) -> tuple[Kind, float | str | None]:
    """Read a date of ISO 8601 (ECMA-376 part 1, 18.18.11) as a serial of the 1900 system."""
    text = (written or "").strip()
    try:
        if ":" in text and "-" not in text[:5]:
            time = dt.time.fromisoformat(text.removeprefix("T"))
            moment = dt.datetime.combine(_EPOCH, time)
        else:
            moment = dt.datetime.fromisoformat(text)
    except ValueError:
        return _broken(written)
    # What the cell says is the clock on the wall; a zone, which Excel never writes, says no more.
    return Kind.NUMBER, (moment.replace(tzinfo=None) - _EPOCH) / dt.timedelta(days=1)


def _from_1904(value: float | str | bool | None, shape: Shape) -> float | str | bool | None:
    """Move a date of the 1904 system; a bare time of day is the same in both."""
    assert isinstance(value, float)
    if shape is Shape.DATE or (shape is Shape.TIME and value >= 1):
        return value + _DAYS_TO_1904
    return value


def _strike(text: RichText, whole: bool) -> Strike:
    flags = {whole if flag is None else flag for flag in text.struck}
    if flags == {True}:
        return Strike.WHOLE
    return Strike.PART if True in flags else Strike.NONE


def _share_formulas(cells: Places, found: Scan) -> None:
    """Give the followers of a shared formula its text as it reads at their place.

    A long formula shared by many could keep a reader busy for hours: beyond a bound the followers
    show the text of the first.
    """
    left = MOST_MOVED
    texts = {group: "=" + unescaped(formula) for group, (_, formula) in found.shared.items()}
    for place, group in found.followers.items():
        cell = cells.get(place)
        if cell is None:
            continue
        formula = texts.get(group, "=")
        left -= len(formula)
        if left > 0 and group in found.shared:
            home, _ = found.shared[group]
            formula = shifted(formula, place[0] - home[0], place[1] - home[1])
        cells[place] = replace(cell, formula=formula)


def _spread_arrays(cells: Places, found: Scan, name: str, title: str) -> None:
    """Mark the cells that an array formula fills: they hold its results, not typed values."""
    covered = _Covered(name, title)
    for area, formula in found.arrays:
        text = "=" + formula
        for place in covered.places(area, cells):
            cell = cells.get(place)
            if cell is not None and cell.formula is None:
                cells[place] = replace(cell, formula=text)


def _lay_merges(cells: Places, merges: Iterable[Area], name: str, title: str) -> None:
    """Mark the cells that merges cover, blank ones too, as far as the tab is used."""
    covered = _Covered(name, title)
    for area in merges:
        blank = replace(BLANK, merge=str(area))
        for place in covered.places(area, cells):
            cell = cells.get(place)
            cells[place] = replace(cell, merge=blank.merge) if cell else blank


class _Covered:
    """Counts the work of walking areas, so that a few bytes of XML cannot ask for hours."""

    def __init__(self, name: str, title: str) -> None:
        self._name = name
        self._title = title
        self._left = MAX_COVERED
        self._corner: tuple[int, int] | None = None

    def places(self, area: Area, cells: Places) -> Iterator[tuple[int, int]]:
        if self._corner is None:
            self._corner = (
                max((row for row, _ in cells), default=0),
                max((column for _, column in cells), default=0),
            )
        bottom, right = min(area.bottom, self._corner[0]), min(area.right, self._corner[1])
        self._left -= 1 + max(0, bottom - area.top + 1) * max(0, right - area.left + 1)
        if self._left < 0:
            raise StoreError(
                f'{self._name}: the merged cells and array formulas of the tab "{self._title}" '
                f"cover more than {MAX_COVERED:,} cells.",
                "Unmerge what does not belong to the game, or move the tab into a new workbook.",
            )
        for row in range(area.top, bottom + 1):
            for column in range(area.left, right + 1):
                yield row, column


def _comments(package: Package, sheet: SheetRef) -> set[tuple[int, int]]:
    """Return where comments stand, old ones (notes) and threaded ones."""
    places: set[tuple[int, int]] = set()

    def start(_tag: str, attributes: dict[str, str]) -> None:
        ref = attributes.get("ref")
        if ref is None:
            return
        try:
            places.add(place_of(ref))
        except ValueError:
            return  # a comment that stands nowhere hides no bid
        if len(places) > MAX_CELLS:
            raise Enough

    for kind in ("comments", "threadedComment"):
        part = package.first_related(sheet.part, kind)  # a tab has one of each at most
        if part is not None:
            walk(package.pieces(part), part, package.name, start)
    return places


def _tables(package: Package, sheet: SheetRef) -> Iterator[str]:
    """Yield the names of the tables laid over a tab (ECMA-376 part 1, 18.5.1.2)."""
    links = package.related(sheet.part, "table")
    parts = {link.target for link in links if not link.external and package.has(link.target)}
    for part in sorted(parts):
        names: list[str] = []

        def start(tag: str, attributes: dict[str, str], names: list[str] = names) -> None:
            if tag == MAIN + "table":
                names.append(attributes.get("displayName") or attributes.get("name", ""))
            raise Enough

        walk(package.pieces(part), part, package.name, start)
        yield from names
