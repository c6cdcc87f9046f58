"""Who we are to Google: where credentials lie, what is wrong with them, what to do.

Source: google-auth's user guide; gspread's page "Authentication". Nothing that a credentials file
holds is ever printed, save the address that sheets are shared with.
"""

from __future__ import annotations

import ipaddress
import json
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sheets_host.stores.base import StoreError
from sheets_host.stores.files import kind_of, reason, whole

if TYPE_CHECKING:
    from google.auth.credentials import Credentials
    from requests import Session

SCOPE: Final = "https://www.googleapis.com/auth/spreadsheets"
EMULATOR: Final = "SHEETS_EMULATOR_HOST"
VARIABLES: Final = ("SHEETS_HOST_CREDENTIALS", "GOOGLE_APPLICATION_CREDENTIALS")
PLACEHOLDER: Final = "REPLACE-ME"
SERVICE_FIELDS: Final = ("client_email", "private_key", "token_uri")
USER_FIELDS: Final = ("refresh_token", "client_id", "client_secret")
LARGEST: Final = 1_000_000  # bytes of a credentials file; a real one has 3,000
# Google's own, or the emulator on this computer, where tests sign in.
_TOKEN_URI: Final = re.compile(
    r"https://([a-z0-9-]+\.)*(google|googleapis)\.com(:443)?(/[\w./~-]*)?"
    r"|https?://(127(\.\d{1,3}){3}|localhost|\[::1\])(:\d{1,5})?(/[\w./~-]*)?",
    re.ASCII,
)
GUIDE: Final = "docs/google.md tells how to set up either kind, step by step."


@dataclass(frozen=True, slots=True)
class Found:
    """A credentials file and why it is the one."""

    path: Path
    why: str


@dataclass(frozen=True, slots=True)
class Access:
    """Credentials that were read. kind: in words. account: the mail address, where it is known."""

    credentials: Credentials = field(repr=False)
    kind: str
    account: str | None
    found: Found


# --- the emulator ------------------------------------------------------------------------------


def emulator_base(environ: Mapping[str, str]) -> str | None:
    """Return the emulator's base URL where one is named. Raises StoreError for any but loopback."""
    given = environ.get(EMULATOR, "")
    if not given:
        return None
    split = re.fullmatch(r"(?P<host>[A-Za-z0-9.]+|\[[0-9A-Fa-f:.]+\]):(?P<port>[0-9]{1,5})", given)
    if split and _loopback(split["host"]) and 0 < int(split["port"]) < 65536:
        return f"http://{given}"
    raise StoreError(
        f"{EMULATOR} is '{given[:60]}', which is not an address of this computer.",
        f"Set it to 127.0.0.1 and a port, such as {EMULATOR}=127.0.0.1:8765, or unset it to use "
        "Google.",
    )


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


# --- where they lie ----------------------------------------------------------------------------


def config_folder(environ: Mapping[str, str], app: str = "sheets-host") -> Path:
    """Return the user's folder for a program's settings, as the system has it."""
    if sys.platform == "win32":
        return Path(environ.get("APPDATA") or _home() / "AppData" / "Roaming") / app
    if sys.platform == "darwin":
        return _home() / "Library" / "Application Support" / app
    return Path(environ.get("XDG_CONFIG_HOME") or _home() / ".config") / app


def data_folder(environ: Mapping[str, str]) -> Path:
    """Return where a program keeps a user's data, by the system's custom."""
    if sys.platform == "win32":
        return Path(environ.get("LOCALAPPDATA") or _home() / "AppData/Local") / "sheets-host"
    if sys.platform == "darwin":
        return _home() / "Library/Application Support/sheets-host"
    return Path(environ.get("XDG_DATA_HOME") or _home() / ".local/share") / "sheets-host"


def _gspread_folder(environ: Mapping[str, str]) -> Path:
    if sys.platform == "win32":
        return config_folder(environ, "gspread")
    return _home() / ".config" / "gspread"


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:
        raise StoreError(
            "This user has no home folder, where credentials and copies of the Record lie.",
            "Set the variable HOME to a folder of yours.",
        ) from None


def find_credentials(given: Path | None, environ: Mapping[str, str] = os.environ) -> Found:
    """Return the credentials file that counts. Raises StoreError where there is none.

    In order: the option, the two variables, the config folder, gspread's own files.
    """
    named = [(given, "--credentials")] if given else []
    named += [(Path(environ[name]), name) for name in VARIABLES if environ.get(name)]
    for path, why in named[:1]:
        return Found(_there(path, why), why)
    ours = config_folder(environ) / "credentials.json"
    theirs = _gspread_folder(environ)
    for path, why in (
        (ours, "the folder of sheets-host"),
        (theirs / "service_account.json", "gspread's folder"),
        (theirs / "authorized_user.json", "gspread's folder"),
    ):
        if _is_file(path):
            return Found(path, why)
    raise StoreError(
        "No Google credentials were found.",
        f"Put the file at {ours}, or name it with --credentials or {VARIABLES[0]}. {GUIDE}",
    )


def _there(path: Path, why: str) -> Path:
    try:
        path = path.expanduser()
        kind, there = kind_of(path), path.exists()
    except (OSError, RuntimeError, ValueError) as error:
        words = f"{why} names {path}, which cannot be reached: {reason(error)}."
        raise StoreError(
            words, f"See who may open that folder, or name another file. {GUIDE}"
        ) from None
    if kind:
        raise StoreError(f"{why} names {path}, which is {kind}, not a file.", GUIDE)
    if not there:
        raise StoreError(f"{why} names {path}, and there is no such file.", GUIDE)
    return path


def _is_file(path: Path) -> bool:
    """Tell whether a file lies at one of the usual places; one out of reach has to be named."""
    try:
        return path.is_file()
    except OSError:
        return False


# --- what they hold ----------------------------------------------------------------------------


def load(found: Found) -> Access:
    """Read a credentials file. Raises StoreError; no message quotes a secret."""
    facts = _json_object(found.path)
    if any(isinstance(value, str) and PLACEHOLDER in value for value in facts.values()):
        raise StoreError(
            f"{found.path} is the example, not real credentials: it still says {PLACEHOLDER}.",
            f"Download a key of your own and use that file. {GUIDE}",
        )
    if "installed" in facts or "web" in facts:
        raise StoreError(
            f"{found.path} describes an OAuth client; it is not yet a sign-in.",
            "It is what signing in starts from: sign in once with it and use the "
            f"authorized_user.json that comes of it. {GUIDE}",
        )
    kind = facts.get("type")
    if kind == "service_account":
        return _service_account(facts, found)
    if kind == "authorized_user" or (kind is None and "refresh_token" in facts):
        return _user(facts, found)
    if kind is None and "private_key" in facts:
        raise StoreError(
            f'{found.path} looks like a service account\'s key, but lacks "type".',
            "Download the key anew and leave the file as it is.",
        )
    raise StoreError(
        f"{found.path} is neither a service account's key nor a signed-in user's file"
        + (f": its type is '{kind[:40]}'." if kind and isinstance(kind, str) else "."),
        GUIDE,
    )


def _json_object(path: Path) -> dict[str, Any]:
    data = whole(
        path, LARGEST, f"Check who may read the file, and that it is the right one. {GUIDE}"
    )
    try:
        facts = json.loads(data.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        raise StoreError(
            f"{path} is not JSON.",
            f"Download the key again as JSON (not P12) and leave the file as it is. {GUIDE}",
        ) from None
    if not isinstance(facts, dict):
        raise StoreError(f"{path} holds no credentials.", GUIDE)
    return facts


def _need(facts: Mapping[str, Any], fields: tuple[str, ...], path: Path, what: str) -> None:
    missing = [name for name in fields if not isinstance(facts.get(name), str) or not facts[name]]
    if missing:
        wrong = [name for name in missing if facts.get(name)]
        of_another_kind = f" ({', '.join(wrong)}: no text)" if wrong else ""
        raise StoreError(
            f"{path} is meant to be {what}, but lacks {', '.join(missing)}{of_another_kind}.",
            "A service account's key has client_email and private_key; a signed-in user's file has "
            "refresh_token, client_id and client_secret. Take the right one, as it was made.",
        )


def _service_account(facts: Mapping[str, Any], found: Found) -> Access:
    from google.oauth2 import service_account

    _need(facts, SERVICE_FIELDS, found.path, "a service account's key")
    if not _TOKEN_URI.fullmatch(facts["token_uri"]):
        raise StoreError(
            f"{found.path}: its token_uri is not an address of Google's, and would get what is"
            " signed with the key.",
            f"Download the key from Google's console yourself and leave the file as it is. {GUIDE}",
        )
    # Nothing else of the file counts: it could lead a sign-in astray.
    used = {name: facts[name] for name in SERVICE_FIELDS}
    used |= {name: v for name in ("private_key_id",) if isinstance(v := facts.get(name), str)}
    try:
        made = service_account.Credentials.from_service_account_info(  # type: ignore[no-untyped-call]
            used, scopes=[SCOPE]
        )
        made.signer.sign(b"a key of another kind is read, and only fails to sign")
    except Exception:  # noqa: BLE001 - the key is a stranger's text, and each library has its own errors
        raise StoreError(
            f"{found.path}: {_what_is_wrong(facts['private_key'])}",
            "Download the key anew (console, the service account, Keys, Add key, JSON) and leave "
            "the file as it is.",
        ) from None
    return Access(made, "service account", used["client_email"], found)


def _what_is_wrong(key: str) -> str:
    if "\\n" in key:
        return (
            "the private key in it is damaged (it holds \\n as two characters where lines should"
            " end)."
        )
    if "ENCRYPTED" in key:
        return "the private key in it is locked with a password; Google's own is not."
    return "the private key in it is damaged, or no RSA key as Google's are."


def _user(facts: Mapping[str, Any], found: Found) -> Access:
    from google.oauth2.credentials import Credentials

    _need(facts, USER_FIELDS, found.path, "a signed-in user's file")
    scopes = facts.get("scopes") or [SCOPE]
    scopes = scopes.split() if isinstance(scopes, str) else scopes
    if not isinstance(scopes, list) or SCOPE not in scopes:
        raise StoreError(
            f"{found.path}: this sign-in does not cover spreadsheets.",
            f"Sign in again with the scope {SCOPE}. {GUIDE}",
        )
    # An access token that stands in the file is not used: it is soon too old, and a new one is
    # asked for with the three fields alone.
    made = Credentials.from_authorized_user_info(  # type: ignore[no-untyped-call]
        {name: facts[name] for name in USER_FIELDS}, scopes=[SCOPE]
    )
    account = facts.get("account")
    known = account if isinstance(account, str) and "@" in account else None
    return Access(made, "signed-in user", known, found)


# --- signing in --------------------------------------------------------------------------------


def google_session(access: Access) -> Session:
    """Return a session that signs its requests in, with a timeout for signing in too."""
    from sheets_host.stores.google.signing import signed_session

    return signed_session(access.credentials)


def loopback_session() -> Session:
    """Return a session for the emulator: no credentials, no proxy."""
    from requests import Session

    session = Session()
    session.trust_env = False
    return session


def explain_sign_in(error: Exception, account: str | None) -> StoreError:
    """Turn google-auth's refusal to sign in into words. Only its known phrases are looked at."""
    text = str(error)
    who = account or "this account"
    if "Invalid JWT Signature" in text:
        return StoreError(
            f"Google does not know the key of {who}: it was replaced, deleted or damaged.",
            "Make a new key for the service account (console, Keys, Add key, JSON) and use that.",
        )
    if "short-lived token" in text or "Invalid JWT: Token" in text:
        return StoreError(
            f"Google refuses the sign-in of {who}: this computer's clock is off.",
            "Set the computer's date, time and time zone, best automatically, then try again.",
        )
    if "account not found" in text.casefold():
        return StoreError(
            f"The service account {who} no longer exists.",
            "Make a new service account and key, and share the sheet with its address.",
        )
    if "expired or revoked" in text or "invalid_grant" in text:
        return StoreError(
            f"The sign-in of {who} has expired or was withdrawn.",
            'Sign in again. While the consent screen is in "Testing", Google ends a sign-in after '
            "7 days: publish it to keep it, or use a service account.",
        )
    code = re.search(r"\b(invalid_scope|unauthorized_client|invalid_client|deleted_client)\b", text)
    return StoreError(
        f"Google refuses the sign-in of {who}" + (f": {code[1]}." if code else "."),
        f"Make the credentials anew. {GUIDE}",
    )
