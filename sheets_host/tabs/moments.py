"""Wall-clock times of a zone → moments, also in the nights when clocks are changed."""

from __future__ import annotations

import datetime as dt
from zoneinfo import ZoneInfo


def moment_in(zone: ZoneInfo, wall: dt.datetime) -> tuple[dt.datetime, str]:
    """Return the moment that a wall-clock time names in a zone, and a word where it is doubtful.

    When clocks go forward, an hour of the night does not exist; when they go back, one exists
    twice. Of the two readings the later counts: 02:30 in a night that leaps from 02:00 to 03:00 is
    03:30, and a 02:30 that comes twice is the second. A deadline that falls late costs nobody a
    bid, one that falls early may. The word is empty for every other time.

    Raises OverflowError for a time at the very edge of the calendar.
    """
    first, second = (wall.replace(tzinfo=zone, fold=fold).astimezone(dt.UTC) for fold in (0, 1))
    later = max(first, second).astimezone(zone)
    if first == second:
        return later, ""
    if later.replace(tzinfo=None, fold=0) == wall:
        return later, (
            f"clocks go back that night and {wall:%H:%M} comes twice in {zone.key};"
            f" the second one counts, {later:%H:%M %Z}"
        )
    return later, (
        f"clocks go forward that night and {wall:%H:%M} does not exist in {zone.key};"
        f" {later:%H:%M %Z} counts"
    )


def after_hours(moment: dt.datetime, hours: int) -> dt.datetime:
    """Return a moment so many hours later, as they pass: a night of changed clocks is no shorter.

    Adding to a time with a zone moves the hands of the clock instead (datetime's arithmetic).
    """
    later = moment.astimezone(dt.UTC) + dt.timedelta(hours=hours)
    return later.astimezone(moment.tzinfo)
