"""Who may edit what: protected ranges, and which of them are ours.

Ours are known by how their description begins, and it ends with digits that tell whether they
still say what they should: Google shows a range's editors to those only who are among them.

Source: Google Sheets API v4, page "Sheets", ProtectedRange. A range that names no editors lets
everyone in who may edit the file, so ours always name the account that makes them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Final

from sheets_host.grid import Area, Protected
from sheets_host.stores.google.ranges import Request, grid_range
from sheets_host.stores.google.reading import Protection, Sheet

OURS: Final = "sheets-host: "
TOOL: Final = f"{OURS}kept by the tool"


def tool_description(looks: str) -> str:
    """Return what the protection of a tool tab says; looks: the digest of its looks."""
    return f"{TOOL} [{looks}]"


def standing_looks(sheet: Sheet) -> str | None:
    """Return the digest of the looks that a tool tab was last given, or None."""
    for protection in sheet.protections:
        if protection.description.startswith(TOOL):
            return protection.description.removeprefix(TOOL).strip(" []")
    return None


def lock_tool_tab(sheet: Sheet, looks: str, account: str | None) -> Iterator[Request]:
    """Protect a whole tool tab, in place of our former protection of it."""
    for protection in sheet.protections:
        if protection.description.startswith(TOOL):
            yield _delete(protection)
    yield _add(grid_range(sheet.id), tool_description(looks), account, ())


def protect_entries(
    sheet: Sheet, wanted: Iterable[Protected], account: str | None
) -> Iterator[Request]:
    """Bring an entry tab's protections of ours to what they shall be; others' stay."""
    missing = {(part.area, _entry_description(part)): part for part in wanted}
    for protection in sheet.protections:
        if not protection.description.startswith(OURS) or protection.description.startswith(TOOL):
            continue
        stands = (protection.area or Area(1, 1, sheet.rows, sheet.columns), protection.description)
        if stands in missing:
            del missing[stands]
        else:
            yield _delete(protection)
    for (area, description), part in missing.items():
        yield _add(grid_range(sheet.id, area), description, account, part.editors)


def _entry_description(part: Protected) -> str:
    mails = ",".join(sorted(mail.casefold() for mail in part.editors))
    return f"{OURS}{part.why} [{hashlib.sha256(mails.encode()).hexdigest()[:6]}]"


def _delete(protection: Protection) -> Request:
    return {"deleteProtectedRange": {"protectedRangeId": protection.id}}


def _add(span: Request, description: str, account: str | None, editors: tuple[str, ...]) -> Request:
    users = list(dict.fromkeys([*([account] if account else []), *editors]))
    made = {
        "range": span,
        "description": description,
        "warningOnly": False,
        "editors": {"users": users, "domainUsersCanEdit": False},
    }
    return {"addProtectedRange": {"protectedRange": made}}
