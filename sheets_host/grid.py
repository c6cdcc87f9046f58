"""Cells, tabs and looks in words that no store owns.

Stores turn a workbook into a `Book` of `Grid`s of `Cell`s, and turn `Tab`s into a
workbook again. The tabs read the former and draw the latter. Rows and columns count
from 1 everywhere, as people count them.
"""

from __future__ import annotations

import datetime as dt
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import cache, lru_cache
from typing import Final
from unicodedata import category

# --- addresses ---------------------------------------------------------------------------------


@cache
def column_letters(column: int) -> str:
    """Return the letters of a column: 1 is ``A``, 27 is ``AA``."""
    letters = ""
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def column_number(letters: str) -> int:
    """Return the number of a column: ``A`` is 1, ``AA`` is 27."""
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number


def address(row: int, column: int) -> str:
    """Return a cell's address, such as ``E7``."""
    return f"{column_letters(column)}{row}"


_ADDRESS: Final = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")


def place_of(cell: str) -> tuple[int, int]:
    """Return (row, column) of an address such as ``E7``. Raises ValueError for anything else."""
    match = _ADDRESS.fullmatch(cell)
    if not match:
        raise ValueError(f"not a cell address: {cell!r}")
    return int(match[2]), column_number(match[1])


def quoted_title(title: str) -> str:
    """Return a tab's title as a formula names it: bare, or in quotes where it must be."""
    if re.fullmatch(r"[A-Za-z_]+", title):
        return title
    return "'" + title.replace("'", "''") + "'"


@dataclass(frozen=True, slots=True)
class Area:
    """A rectangle of cells, both corners included."""

    top: int
    left: int
    bottom: int
    right: int

    @classmethod
    def of(cls, text: str) -> Area:
        """Read ``B2:D9`` or ``B2``. Raises ValueError for anything else."""
        first, _, last = text.partition(":")
        top, left = place_of(first)
        bottom, right = place_of(last or first)
        return cls(min(top, bottom), min(left, right), max(top, bottom), max(left, right))

    def __str__(self) -> str:
        first = address(self.top, self.left)
        last = address(self.bottom, self.right)
        return first if first == last else f"{first}:{last}"

    def __contains__(self, place: object) -> bool:
        match place:
            case (int(row), int(column)):
                return self.top <= row <= self.bottom and self.left <= column <= self.right
        return False


# --- what is read ------------------------------------------------------------------------------


class Kind(Enum):
    """What a cell holds."""

    BLANK = "blank"
    NUMBER = "number"
    TEXT = "text"
    BOOLEAN = "boolean"
    ERROR = "error"


class Shape(Enum):
    """What a number format makes of a number."""

    GENERAL = "general"
    DATE = "date"  # a date, with or without a time
    TIME = "time"
    FRACTION = "fraction"
    PERCENT = "percent"
    SCIENTIFIC = "scientific"
    CURRENCY = "currency"
    SCALED = "scaled"  # shows thousands of the value, or digits that are none of it
    HIDDEN = "hidden"  # shows nothing
    TEXT = "text"


class Strike(Enum):
    """Whether a cell's text is struck out."""

    NONE = "none"
    WHOLE = "whole"
    PART = "part"


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell as a store read it.

    value: a float for NUMBER (dates are serials of the 1900 system), a str for TEXT and ERROR,
        a bool for BOOLEAN, None for BLANK. A formula's value is the one stored beside it.
    formula: the formula with its ``=``, or None where a plain value was typed.
    cached: False where a formula has no stored value.
    format: the number format's code (ECMA-376 part 1, 18.8.31), shape: what it shows.
    merge: the merged area that covers the cell, such as ``E5:F5``, or None.
    unseen: the font has the colour of the ground, so that nothing shows.
    """

    kind: Kind = Kind.BLANK
    value: float | str | bool | None = None
    formula: str | None = None
    cached: bool = True
    format: str = "General"
    shape: Shape = Shape.GENERAL
    strike: Strike = Strike.NONE
    merge: str | None = None
    comment: bool = False
    unseen: bool = False

    @property
    def shown(self) -> str:
        """What stands in the cell, in words for a message."""
        if self.formula is not None and not self.cached:
            return self.formula
        if isinstance(self.value, bool):
            return "TRUE" if self.value else "FALSE"
        if isinstance(self.value, float):
            moment = self.moment
            if moment is not None:
                return _moment_text(moment, self.shape)
            return number_text(self.value)
        return self.value or ""

    @property
    def text(self) -> str:
        """The value as a person would type it again; empty for a blank cell."""
        if isinstance(self.value, float):
            return number_text(self.value)
        return self.shown

    @property
    def moment(self) -> dt.datetime | None:
        """The date and time that the cell holds, without a zone; None where it holds none."""
        if self.kind is not Kind.NUMBER or self.shape not in (Shape.DATE, Shape.TIME):
            return None
        assert isinstance(self.value, float)
        if not 0 <= self.value < 2_958_466:  # 31 December 9999
            return None
        seconds = min(round(self.value * 86_400), 2_958_466 * 86_400 - 1)
        # Cells bear no zone: what they mean is the game's to say.
        return dt.datetime(1899, 12, 30) + dt.timedelta(seconds=seconds)  # noqa: DTZ001


BLANK: Final = Cell()


def number_text(number: float) -> str:
    """Return a number in its shortest form: ``5``, ``5.5``, ``1e+21``."""
    if number == int(number) if abs(number) < 1e15 else False:
        return str(int(number))
    return repr(number)


def _moment_text(moment: dt.datetime, shape: Shape) -> str:
    if shape is Shape.TIME:
        return f"{moment:%H:%M}"
    day = f"{moment.day} {_MONTHS[moment.month - 1]} {moment.year}"
    return day if moment.time() == dt.time(0) else f"{day} {moment:%H:%M}"


_MONTHS: Final = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split()  # noqa: SIM905

_LITERAL: Final = re.compile(r'"[^"]*(?:"|$)|\\.|_.|\*.')
_BRACKET: Final = re.compile(r"\[([^\]]*)\]")
_SECTION: Final = re.compile(r'((?:"[^"]*(?:"|$)|\\.|_.|\*.|\[[^\]]*\]|[^;])*)(?:;|$)', re.DOTALL)
_CONDITION: Final = re.compile(r"(<=|>=|<>|<|>|=)\s*(-?[0-9]+(?:\.[0-9]*)?)")
_CLOCK: Final = re.compile(r"am/pm|a/p|h|s|\[m+\]")
_CALENDAR: Final = re.compile(r"[ydg]|mmm|bb|aaa")


MAX_CODE: Final = 255
"""Characters of a number format that are read: Excel allows no more."""


@lru_cache(maxsize=1024)
def shape_of(code: str) -> Shape:
    """Tell what a number format shows, from its code (ECMA-376 part 1, 18.8.31).

    Only the section for positive numbers counts; where sections have conditions, that for 50.
    Both stores use it: Google writes the same codes.
    """
    section, alone = _positive_section(code[:MAX_CODE])
    bare = _LITERAL.sub("", section)
    brackets = [content.lower() for content in _BRACKET.findall(bare)]
    elapsed = "".join(f"[{content}]" for content in brackets if re.fullmatch("h+|m+|s+", content))
    shown = re.sub(r"\s", "", _BRACKET.sub("", bare)).lower()
    # Japanese and Chinese programs write General as G/標準 and the like.
    general = "general" in shown or shown == "standard" or shown.startswith("g/")
    digits = bool(re.search("[0#?]", shown))
    if not general:
        calendar, clock = _CALENDAR.search(shown), _CLOCK.search(shown + elapsed)
        if calendar or clock or ("m" in shown and not digits):
            return Shape.TIME if clock and not calendar else Shape.DATE
        if re.search("[0#?]e[+-]", shown):
            return Shape.SCIENTIFIC
    if "%" in shown:
        return Shape.PERCENT
    if re.search("[0#?]/[0-9#?]", shown):
        return Shape.FRACTION
    if re.search("[0#?],+(?![0#?,])", shown) or _changes_number(section):
        return Shape.SCALED
    if "@" in shown:
        return Shape.TEXT
    only_colour = alone and not shown and bare == section  # or nothing at all
    if not (general or digits or only_colour or re.search("[a-z]", shown)):
        return Shape.HIDDEN
    symbols = [content[1:].split("-")[0] for content in brackets if content.startswith("$")]
    if any(symbols) or any(category(sign) == "Sc" for sign in _BRACKET.sub("", section)):
        return Shape.CURRENCY
    return Shape.GENERAL


def _changes_number(section: str) -> bool:
    """Tell whether literal signs of a section make another number of it: ``0"0"``, ``0\\.0``."""
    shown = _LITERAL.sub(_marked, section)
    return bool(re.search("[0#?]\1|\1[0#?]|[0#?]\2+[0#?]", shown))


def _marked(literal: re.Match[str]) -> str:
    """Return a 1 for each digit of a literal, a 2 for each point, as control characters."""
    text = literal[0]
    if text[0] in "_*":
        return " "  # it only fills up space
    text = text.removeprefix("\\").strip('"')
    return "".join("\1" if c in "0123456789" else "\2" if c in ".," else " " for c in text)


def _positive_section(code: str) -> tuple[str, bool]:
    """Return the section of a format that shows a positive number; True where it is the only one.

    Two sections at most can have conditions, such as ``[>=100]``; they stand first.
    """
    sections = [match[1] for match in _SECTION.finditer(code)]
    if len(sections) > 1 and not code.endswith(";"):
        sections.pop()  # the empty match at the end
    tests = [_CONDITION.search(" ".join(_BRACKET.findall(section))) for section in sections[:2]]
    if not any(tests):
        return sections[0], len(sections) == 1
    for section, test in zip(sections, tests, strict=False):
        if test is None or _COMPARE[test[1]](50, float(test[2])):
            return section, False
    return sections[min(2, len(sections) - 1)], False


_COMPARE: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "<>": operator.ne,
    ">=": operator.ge,
    ">": operator.gt,
}


@dataclass(frozen=True, slots=True)
class Grid:
    """One tab as a store read it.

    cells: every cell that holds something, or that is merged or struck, by (row, column).
    hidden: the tab is hidden. tables: names of the spreadsheet tables laid over the tab.
    key: what the store binds the tab by (a part's name, a sheet's id).
    """

    title: str
    cells: Mapping[tuple[int, int], Cell]
    hidden: bool = False
    hidden_rows: frozenset[int] = frozenset()
    hidden_columns: frozenset[int] = frozenset()
    tables: tuple[str, ...] = ()
    key: str = ""

    def at(self, row: int, column: int) -> Cell:
        """Return the cell at a place; a blank one where nothing stands."""
        return self.cells.get((row, column), BLANK)


@dataclass(frozen=True, slots=True)
class Book:
    """A workbook as a store read it.

    titles: every tab, in order. grids: the tabs that were asked for and are there, by title.
    revision: what the store needs to tell whether anything changed since; opaque to others.
    notices: what the host should know of the file itself, such as a conflict copy beside it.
    """

    titles: tuple[str, ...]
    grids: Mapping[str, Grid]
    revision: object = None
    notices: tuple[str, ...] = ()


# --- what is drawn -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula, with its ``=``. Only functions that Excel, LibreOffice and Google all have."""

    text: str


@dataclass(frozen=True, slots=True)
class Link:
    """Text that leads to a cell of a tab in the same workbook."""

    text: str
    tab: str
    cell: str


Content = str | int | Formula | Link | None
"""What a drawn cell holds. A str is always text, whatever it looks like."""


class Owner(Enum):
    """Who may write on a tab."""

    HOST = "host"
    PLAYERS = "players"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Style:
    """How cells look. Colours are RRGGBB; None leaves the store's default."""

    bold: bool = False
    italic: bool = False
    size: int | None = None  # points
    ink: str | None = None
    fill: str | None = None
    align: str | None = None  # left, center, right
    top: bool = False  # align to the top rather than the bottom
    wrap: bool = False
    number: str = "General"  # number format code; "@" is text
    line: str | None = None  # colour of a thin line below


@dataclass(frozen=True, slots=True)
class Styled:
    """A style laid over an area. Where areas overlap, the later one stands."""

    area: Area
    style: Style


@dataclass(frozen=True, slots=True)
class Rule:
    """A conditional format: where the formula holds, the style shows.

    formula: with its ``=``, written for the area's top left cell; earlier rules win.
    Only the style's bold, italic, ink and fill count.
    """

    area: Area
    formula: str
    style: Style


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar behind each number of an area, as long as the number is large."""

    area: Area
    colour: str


@dataclass(frozen=True, slots=True)
class WholeNumber:
    """A check: a whole number from `least` on. It warns and does not forbid."""

    area: Area
    least: int
    title: str
    message: str


@dataclass(frozen=True, slots=True)
class OneOf:
    """A check: one of the texts of a list, offered as a drop-down. It warns and does not forbid.

    source: an area in absolute form, ``=Collections!$B$6:$B$53``, or the values themselves.
    """

    area: Area
    source: str | tuple[str, ...]
    title: str
    message: str


Check = WholeNumber | OneOf


@dataclass(frozen=True, slots=True)
class Series:
    """One line or set of columns of a chart: where its name and its numbers stand on the tab."""

    name: tuple[int, int]
    values: Area


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart over cells of its own tab. kind: line, column or bar; at: its top left cell."""

    kind: str
    title: str
    x_title: str
    y_title: str
    categories: Area
    series: tuple[Series, ...]
    at: tuple[int, int]
    width: int = 640  # pixels
    height: int = 320
    stacked: bool = False


@dataclass(frozen=True, slots=True)
class Looks:
    """Everything about a tab but its contents.

    widths: of the columns from A on, in characters. frozen: rows and columns that stay in view.
    header: the row that each printed page repeats. filtered: the area of the filter, if any.
    heights: of rows that need one, in points. locked: protected, without a password.
    across: printed pages side by side; where there are several, each repeats the frozen columns.
    down: printed pages one below another that all rows must fit on; 0: as many as it takes.
    breaks: rows that begin a new printed page; such a tab is printed at `scale`, in percent of
        its full size, for programs do not heed breaks where they fit a tab to its pages.
    """

    widths: tuple[int, ...] = ()
    frozen: tuple[int, int] = (0, 0)
    header: int | None = None
    styles: tuple[Styled, ...] = ()
    rules: tuple[Rule, ...] = ()
    bars: tuple[Bar, ...] = ()
    checks: tuple[Check, ...] = ()
    charts: tuple[Chart, ...] = ()
    merges: tuple[Area, ...] = ()
    heights: Mapping[int, int] = field(default_factory=dict)
    filtered: Area | None = None
    colour: str | None = None
    landscape: bool = False
    across: int = 1
    down: int = 0
    breaks: tuple[int, ...] = ()
    scale: int = 100
    locked: bool = False


@dataclass(frozen=True, slots=True)
class Protected:
    """Columns or rows of an entry tab that only some may edit; stores that cannot, leave it out.

    editors: mail addresses besides the host's own; empty: nobody but the host.
    """

    area: Area
    editors: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Tab:
    """One tab as it shall be: contents from A1 on, row by row, and looks."""

    title: str
    owner: Owner
    rows: Sequence[Sequence[Content]]
    looks: Looks = Looks()

    @property
    def size(self) -> tuple[int, int]:
        """Rows and columns that hold something."""
        return len(self.rows), max((len(row) for row in self.rows), default=0)


def grid_of(tab: Tab) -> Grid:
    """Return a drawn tab as if it had been read; formulas have no stored value yet."""
    cells = {
        (r, c): _cell_of(content)
        for r, row in enumerate(tab.rows, 1)
        for c, content in enumerate(row, 1)
        if content is not None and content != ""
    }
    return Grid(tab.title, cells)


def _cell_of(content: str | int | Formula | Link) -> Cell:
    if isinstance(content, Formula):
        return Cell(formula=content.text, cached=False)
    if isinstance(content, int):
        return Cell(Kind.NUMBER, float(content))
    return Cell(Kind.TEXT, content.text if isinstance(content, Link) else content)


def same_contents(tab: Tab, grid: Grid) -> bool:
    """Tell whether a tab already holds exactly what would be drawn: contents, not looks."""
    drawn = 0
    for r, row in enumerate(tab.rows, 1):
        for c, content in enumerate(row, 1):
            if content is None or content == "":
                continue
            drawn += 1
            if not stands(content, grid.at(r, c)):
                return False
    standing = sum(
        cell.kind is not Kind.BLANK or cell.formula is not None for cell in grid.cells.values()
    )
    return drawn == standing


def stands(content: Content, cell: Cell) -> bool:
    """Tell whether a cell holds exactly what would be drawn there."""
    if content is None or content == "":
        return cell.kind is Kind.BLANK and cell.formula is None
    if isinstance(content, Formula):
        return cell.formula == content.text
    if cell.formula is not None:
        return False
    if isinstance(content, int):
        return cell.kind is Kind.NUMBER and cell.value == content
    text = content.text if isinstance(content, Link) else content
    return cell.kind is Kind.TEXT and cell.value == text
