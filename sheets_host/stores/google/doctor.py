"""What is right and what is not between this computer and a Google Sheet. Changes nothing."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from sheets_host.stores.base import Finding, StoreError
from sheets_host.stores.google import access
from sheets_host.stores.google.access import SCOPE, Access
from sheets_host.stores.google.refusals import explain
from sheets_host.stores.google.store import NO_MAIL, GoogleStore
from sheets_host.stores.google.transport import Clock, RefusedError
from sheets_host.stores.google.writing import encoded

FIELDS: Final = (
    "spreadsheetId,properties(title,locale,timeZone),sheets(properties(title),"
    "protectedRanges(warningOnly,requestingUserCanEdit))"
)
NOTHING: Final = encoded({"requests": [{"deleteNamedRange": {"namedRangeId": "sheetshostdoctor"}}]})
"""A batch that Google refuses: to an editor as senseless (400), to a reader as forbidden (403)."""


def diagnose(
    spreadsheet: str | None,
    *,
    credentials: Path | None = None,
    environ: Mapping[str, str] = os.environ,
    clock: Clock | None = None,
) -> tuple[Finding, ...]:
    """Look at everything that a sync of this sheet needs; None looks at the credentials alone.

    What depends on something that is wrong is not looked at.
    """
    findings: list[Finding] = []
    try:
        findings.extend(_credentials(credentials, environ, findings))
        if spreadsheet is not None:
            store = GoogleStore(spreadsheet, credentials=credentials, clock=clock, environ=environ)
            findings.extend(_sheet(store, findings))
    except StoreError as error:
        findings.append(Finding(False, error.message, error.hint))
    return tuple(findings)


def _credentials(
    given: Path | None, environ: Mapping[str, str], findings: list[Finding]
) -> Iterator[Finding]:
    base = access.emulator_base(environ)
    if base:
        yield Finding(
            True, f"The emulator at {base} is used ({access.EMULATOR}), without credentials."
        )
        return
    found = access.find_credentials(given, environ)
    findings.append(Finding(True, f"Credentials: {found.path} ({found.why})."))
    if os.name == "posix" and found.path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        findings.append(
            Finding(
                None,
                f"{found.path} can be read by other users of this computer.",
                f"chmod 600 {found.path}",
            )
        )
    who = access.load(found)
    findings.append(
        Finding(True, f"They are those of a {who.kind}: {who.account or 'no address'}.")
    )
    if not who.account:
        findings.append(Finding(None, "The file names no mail address.", NO_MAIL))
    _sign_in(who)
    yield Finding(True, f"Google accepts the sign-in, for spreadsheets only ({SCOPE}).")


def _sign_in(who: Access) -> None:
    from google.auth.exceptions import GoogleAuthError, TransportError

    from sheets_host.stores.google.signing import OddAnswer, asking

    try:
        who.credentials.refresh(asking())  # type: ignore[no-untyped-call]
    except OddAnswer:
        raise StoreError(
            "Something else than Google answers the sign-in.",
            "A network with a login page does that, as in hotels: sign in there with a browser"
            " first. Or check the proxy.",
        ) from None
    except TransportError:
        raise StoreError(
            "Google cannot be reached to sign in.",
            "Check the connection to the internet, and the proxy if there is one.",
        ) from None
    except GoogleAuthError as error:
        raise access.explain_sign_in(error, who.account) from None


def _sheet(store: GoogleStore, findings: list[Finding]) -> Iterator[Finding]:
    answer = store.transport.read(store.sheet_id, FIELDS)
    facts = answer["properties"]
    titles = [sheet["properties"]["title"] for sheet in answer["sheets"]]
    findings.append(
        Finding(
            True,
            f"The sheet '{facts['title']}' can be read: {len(titles)} tab{'s' * (len(titles) != 1)}, "
            f"{facts['locale']}, {facts['timeZone']}.",
        )
    )
    _may_write(store)
    yield Finding(True, "The sheet may be edited.")
    for sheet in answer["sheets"]:
        if any(_shut(part) for part in sheet.get("protectedRanges", ())):
            yield Finding(
                None,
                f"Tab '{sheet['properties']['title']}': someone else protected cells there.",
                "Cells that a sync writes must be open to "
                f"{store.account or 'your account'}: Data, Protect sheets and ranges.",
            )


def _shut(protection: Mapping[str, Any]) -> bool:
    return not protection.get("requestingUserCanEdit") and not protection.get("warningOnly")


def _may_write(store: GoogleStore) -> None:
    try:
        store.transport.send(store.sheet_id, NOTHING, lambda _until: False)
    except RefusedError as refused:
        if refused.refusal.request is None:
            raise explain(refused.refusal, store.name, store.account) from None
