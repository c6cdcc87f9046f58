"""Formulas between the form that all spreadsheets share and the one Google reads.

Google takes a formula as if someone typed it in the spreadsheet's locale. Semicolons between
arguments are understood in every locale, commas in the English ones alone, and half is 0,5 where
the comma is the decimal sign. And a conditional format's formula may not name
another tab except through INDIRECT.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from sheets_host.grid import column_number

COMMA_LANGUAGES: Final = re.compile(
    "az|be|bg|bs|ca|cs|da|de|el|es|et|eu|fi|fr|gl|hr|hu|hy|id|is|it|ka|kk|lt|lv|mk|nb|nl|nn|no|pl|"
    "pt|ro|ru|sk|sl|sq|sr|sv|tr|uk|uz|vi"
)
POINT_LOCALES: Final = frozenset({"de_CH", "es_MX", "it_CH"})
"""Locales that write 0.5 although their language elsewhere writes 0,5."""

_QUOTED: Final = re.compile(r'"[^"]*"|\'(?:[^\']|\'\')*\'')


def _semicolons(locale: str) -> bool:
    return not locale.startswith("en") or locale == "en_ZA"


def _decimal_comma(locale: str) -> bool:
    return locale not in POINT_LOCALES and bool(COMMA_LANGUAGES.fullmatch(locale[:2]))


def into_locale(formula: str, locale: str) -> str:
    """Return a formula as it is typed in a spreadsheet's locale, such as ``de_DE``."""
    if not _semicolons(locale):
        return formula

    def change(part: str) -> str:
        part = part.replace(",", ";")
        return re.sub(r"(?<=\d)\.(?=\d)", ",", part) if _decimal_comma(locale) else part

    return _unquoted(formula, change)


def out_of_locale(formula: str, locale: str) -> str:
    """Return a formula read from a spreadsheet of a locale in the form that all share."""
    if not _semicolons(locale):
        return formula

    def change(part: str) -> str:
        part = re.sub(r"(?<=\d),(?=\d)", ".", part) if _decimal_comma(locale) else part
        return part.replace(";", ",")

    return _unquoted(formula, change)


def _unquoted(formula: str, change: Callable[[str], str]) -> str:
    """Change a formula outside its texts and quoted tab titles."""
    pieces = []
    end = 0
    for quoted in _QUOTED.finditer(formula):
        pieces += [change(formula[end : quoted.start()]), quoted[0]]
        end = quoted.end()
    return "".join([*pieces, change(formula[end:])])


_ELSEWHERE: Final = re.compile(
    r"(?P<tab>'(?:[^']|'')+'|[A-Za-z_]\w*)!"
    r"(?P<first>\$?[A-Z]{1,3}\$?\d+)(?::(?P<last>\$?[A-Z]{1,3}\$?\d+))?"
)


def through_indirect(formula: str, row: int, column: int) -> str:
    """Return a conditional format's formula with its references to other tabs by INDIRECT.

    row, column: the cell that the formula is written for; relative references move with it.
    """

    def replaced(found: re.Match[str]) -> str:
        parts = [found["first"], *([found["last"]] if found["last"] else [])]
        if all(re.fullmatch(r"\$[A-Z]+\$\d+", part) for part in parts):
            return f'INDIRECT("{found[0]}")'
        places = '&":"&'.join(_in_numbers(part, row, column) for part in parts)
        return f'INDIRECT("{found["tab"]}!"&{places},FALSE)'

    # A tab's title may stand in quotes, so only double-quoted texts are left alone here.
    pieces = re.split(r'("[^"]*")', formula)
    return "".join(
        piece if piece.startswith('"') else _ELSEWHERE.sub(replaced, piece) for piece in pieces
    )


def _in_numbers(reference: str, row: int, column: int) -> str:
    """Return a formula that gives a reference in R1C1 style, such as ``"R"&ROW()+2&"C4"``."""
    found = re.fullmatch(r"(\$?)([A-Z]+)(\$?)(\d+)", reference)
    assert found
    there_row, there_column = int(found[4]), column_number(found[2])
    r = f'"R{there_row}"' if found[3] else f'"R"&(ROW(){there_row - row:+d})'
    c = f'"C{there_column}"' if found[1] else f'"C"&(COLUMN(){there_column - column:+d})'
    return f"{r}&{c}"
