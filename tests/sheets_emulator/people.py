"""People at an emulated sheet: what typing makes of a text, as in Google's own window.

Only what the tests need of it: numbers, percentages, money, dates, times, fractions, TRUE and
FALSE, formulas, the apostrophe.
"""

from __future__ import annotations

import datetime as dt
import re
from functools import partial
from typing import Final

from tests.sheets_emulator.schema import Json

YEAR: Final = 2026
"""The year of a date typed without one."""

EPOCH: Final = dt.date(1899, 12, 30)

_whole = partial(re.fullmatch, flags=re.ASCII)

Typed = str | float | bool | None


def _format(kind: str, pattern: str = "") -> Json:
    return {"type": kind} | ({"pattern": pattern} if pattern else {})


def typed(content: Typed, *, as_text: bool = False) -> tuple[Json, Json | None]:
    """Return the value and the number format that typing something leaves in a cell.

    as_text: the cell has the text format, so everything but a formula stays as it was typed.
    """
    if content is None or content == "":
        return {}, None
    if isinstance(content, bool):
        return {"boolValue": content}, None
    if isinstance(content, int | float):
        return {"numberValue": content}, None
    if content.startswith("'"):
        return {"stringValue": content[1:]}, None
    if content.startswith("=") and len(content) > 1:
        return {"formulaValue": content}, None
    if as_text:
        return {"stringValue": content}, None
    return _parsed(content)


def _parsed(content: str) -> tuple[Json, Json | None]:
    text = content.strip()
    if text.upper() in ("TRUE", "FALSE"):
        return {"boolValue": text.upper() == "TRUE"}, None
    if _whole(r"[+-]?\d{1,3}(,\d{3})+|[+-]?\d+(\.\d*)?|[+-]?\.\d+", text):
        plain = text.replace(",", "")
        return {"numberValue": float(plain)}, _format("NUMBER", "#,##0") if "," in text else None
    if _whole(r"[+-]?\d+(\.\d*)?[eE][+-]?\d+", text):
        return {"numberValue": float(text)}, _format("SCIENTIFIC", "0.00E+00")
    if match := _whole(r"([+-]?\d+(?:\.\d+)?)%", text):
        return {"numberValue": float(match[1]) / 100}, _format("PERCENT", "0%")
    if match := _whole(r"\$(\d+(?:\.\d+)?)", text):
        return {"numberValue": float(match[1])}, _format("CURRENCY", '"$"#,##0')
    if match := _whole(r"(\d+) (\d+)/(\d+)", text):
        whole, top, bottom = map(int, match.groups())
        return {"numberValue": whole + top / bottom}, _format("NUMBER", "# ?/?")
    return _moment(text) or ({"stringValue": content}, None)


def _moment(text: str) -> tuple[Json, Json] | None:
    if match := _whole(r"(\d{1,2}):(\d\d)(?::(\d\d))?", text):
        hour, minute, second = (int(part or 0) for part in match.groups())
        share = (hour * 3600 + minute * 60 + second) / 86_400
        return {"numberValue": share}, _format("TIME", "h:mm")
    day: tuple[int, int, int] | None = None
    time = "0:00"
    if match := _whole(r"(\d{1,2})/(\d{1,2})(?:/(\d{4}))?", text):
        day = int(match[3] or YEAR), int(match[1]), int(match[2])
    elif match := _whole(r"(\d{4})-(\d{1,2})-(\d{1,2})(?:[ T](\d{1,2}:\d\d))?", text):
        day, time = (int(match[1]), int(match[2]), int(match[3])), match[4] or time
    if day is None:
        return None
    try:
        serial = (dt.date(*day) - EPOCH).days
    except ValueError:
        return None
    hours, _, minutes = time.partition(":")
    share = (int(hours) * 60 + int(minutes)) / 1440
    if share:
        return {"numberValue": serial + share}, _format("DATE_TIME", "yyyy-mm-dd h:mm")
    return {"numberValue": serial}, _format("DATE", "M/d/yyyy")
