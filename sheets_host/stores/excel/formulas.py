"""Shared formulas: what the other cells of the group hold (ECMA-376 part 1, 18.3.1.40)."""

from __future__ import annotations

import re
from typing import Final

from sheets_host.grid import column_letters, column_number

MAX_ROW: Final = 1_048_576
MAX_COLUMN: Final = 16_384

# What is not a reference is matched too, so that it is stepped over: texts, quoted tab names,
# structured references and links to other files, names, functions and numbers. One that does not
# end takes in the rest: were it tried again at each sign, a long formula would take hours.
_TOKEN: Final = re.compile(
    r"""
    "[^"]*(?:"|$) | '[^']*(?:'|$) | \[[^\]]*(?:\]|$)
    | (?P<cell> (\$?)([A-Za-z]{1,3})(\$?)([0-9]{1,7}) (?![A-Za-z0-9_.(!]) )
    | (?P<columns> (\$?)([A-Za-z]{1,3}):(\$?)([A-Za-z]{1,3}) (?![A-Za-z0-9_.(!]) )
    | (?P<rows> (\$?)([0-9]{1,7}):(\$?)([0-9]{1,7}) (?![A-Za-z0-9_.(!]) )
    | [\w.\\]+ | .
    """,
    re.VERBOSE | re.DOTALL,
)


def shifted(formula: str, rows: int, columns: int) -> str:
    """Return a formula as it reads so many rows further down and columns further right.

    References with a ``$`` stand; one that would leave the sheet becomes ``#REF!``.
    """

    def moved(match: re.Match[str]) -> str:
        if match["cell"]:
            column, row = _column(match[2], match[3], columns), _row(match[4], match[5], rows)
            return column + row if column and row else "#REF!"
        if match["columns"]:
            ends = _column(match[7], match[8], columns), _column(match[9], match[10], columns)
        elif match["rows"]:
            ends = _row(match[12], match[13], rows), _row(match[14], match[15], rows)
        else:
            return match[0]
        return ":".join(ends) if all(ends) else "#REF!"

    return _TOKEN.sub(moved, formula)


def _column(fixed: str, letters: str, by: int) -> str:
    if fixed:
        return fixed + letters
    number = column_number(letters) + by
    return column_letters(number) if 0 < number <= MAX_COLUMN else ""


def _row(fixed: str, digits: str, by: int) -> str:
    if fixed:
        return fixed + digits
    number = int(digits) + by
    return str(number) if 0 < number <= MAX_ROW else ""
