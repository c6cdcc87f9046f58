"""Credentials: where they are found, what is wrong with them, and that they stay secret."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from sheets_host.stores.base import Finding, StoreError
from sheets_host.stores.google import GoogleStore, access, store
from sheets_host.stores.google.access import SCOPE, Found, emulator_base, find_credentials, load
from sheets_host.stores.google.doctor import diagnose
from tests.google_rig import SHEET, FakeClock, Rig, rig_fixture
from tests.sheets_emulator import OWNER, ROBOT, Emulator

__all__ = ["rig_fixture"]


@pytest.fixture(scope="module")
def key() -> str:
    made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return made.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()


def service(key: str, **changes: str | None) -> dict[str, Any]:
    made = {
        "type": "service_account",
        "project_id": "p",
        "private_key_id": "k",
        "private_key": key,
        "client_email": ROBOT,
        "client_id": "1",
        "token_uri": "https://oauth2.googleapis.com/token",
    } | changes
    return {name: value for name, value in made.items() if value is not None}


USER = {
    "refresh_token": "1//secret-refresh",
    "client_id": "c",
    "client_secret": "secret-client",
    "token_uri": "https://oauth2.googleapis.com/token",
    "account": OWNER,
}


def put(path: Path, facts: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(facts if isinstance(facts, str) else json.dumps(facts), encoding="utf-8")
    path.chmod(0o600)
    return path


# --- the emulator's address --------------------------------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "127.9.9.9:1", "localhost:80", "[::1]:8765"])
def test_emulator__loopback(host: str) -> None:
    assert emulator_base({"SHEETS_EMULATOR_HOST": host}) == f"http://{host}"


@pytest.mark.parametrize(
    "host",
    [
        "sheets.example.org:80",
        "10.0.0.1:80",
        "0.0.0.0:80",
        "[::]:80",
        "127.0.0.1",
        "127.0.0.1:0",
        "127.0.0.1:99999",
        "127.0.0.1:80/../x",
        "127.0.0.1:80@example.org:80",
        "localhost.example.org:80",
        "http://127.0.0.1:80",
        "2130706433:80",
    ],
)
def test_emulator__nothing_else(host: str) -> None:
    with pytest.raises(StoreError, match="not an address of this computer"):
        emulator_base({"SHEETS_EMULATOR_HOST": host})


def test_emulator__unset() -> None:
    assert emulator_base({}) is None
    assert emulator_base({"SHEETS_EMULATOR_HOST": ""}) is None


# --- where they are found ----------------------------------------------------------------------


def test_find__in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    environ = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "APPDATA": str(tmp_path / "config")}
    gspread = access._gspread_folder(environ)
    places = [
        put(gspread / "authorized_user.json", USER),
        put(gspread / "service_account.json", {}),
        put(access.config_folder(environ) / "credentials.json", {}),
        put(tmp_path / "google.json", {}),
        put(tmp_path / "ours.json", {}),
        put(tmp_path / "given.json", {}),
    ]
    for n, place in enumerate(places):
        if n == 3:
            environ["GOOGLE_APPLICATION_CREDENTIALS"] = str(place)
        if n == 4:
            environ["SHEETS_HOST_CREDENTIALS"] = str(place)
        for later in places[n + 1 :]:
            later.unlink(missing_ok=True)
        for again in places[: n + 1]:
            put(again, {})
        given = place if n == 5 else None
        assert find_credentials(given, environ).path == place


def test_find__nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    with pytest.raises(StoreError, match="No Google credentials") as caught:
        find_credentials(None, {"XDG_CONFIG_HOME": str(tmp_path)})
    assert "SHEETS_HOST_CREDENTIALS" in caught.value.hint


def test_find__a_file_that_is_named_but_not_there(tmp_path: Path) -> None:
    environ = {"SHEETS_HOST_CREDENTIALS": str(tmp_path / "none.json")}
    with pytest.raises(StoreError, match=r"SHEETS_HOST_CREDENTIALS names .*none\.json"):
        find_credentials(None, environ)


# --- what is in them ---------------------------------------------------------------------------


def test_load__a_service_account(tmp_path: Path, key: str) -> None:
    found = Found(put(tmp_path / "key.json", service(key)), "test")
    who = load(found)
    assert (who.kind, who.account) == ("service account", ROBOT)
    assert who.credentials.scopes == [SCOPE]  # type: ignore[attr-defined]
    assert "PRIVATE" not in repr(who)


@pytest.mark.parametrize("kind", [{}, {"type": "authorized_user"}, {"scopes": [SCOPE]}])
def test_load__a_user(tmp_path: Path, kind: dict[str, Any]) -> None:
    who = load(Found(put(tmp_path / "user.json", USER | kind), "test"))
    assert (who.kind, who.account) == ("signed-in user", OWNER)
    assert who.credentials.scopes == [SCOPE]  # type: ignore[attr-defined]
    assert "secret" not in repr(who)


def bad_files(key: str) -> list[tuple[str, object, str]]:
    return [
        ("no JSON", "hello", "is not JSON"),
        ("a list", [], "holds no credentials"),
        ("another type", {"type": "external_account"}, "its type is 'external_account'"),
        ("nothing known", {"a": 1}, "neither"),
        ("an OAuth client", {"installed": {"client_id": "c"}}, "OAuth client"),
        ("no private key", service(key, private_key=None), "lacks private_key"),
        ("user as service", USER | {"type": "service_account"}, "lacks client_email"),
        ("service as user", service(key, type="authorized_user"), "lacks refresh_token"),
        ("no type", service(key, type=None), 'lacks "type"'),
        ("literal \\n", service(key.replace("\n", "\\n")), r"two characters"),
        ("a damaged key", service(key[:200]), "private key in it is damaged"),
        ("other scopes", USER | {"scopes": ["https://www.googleapis.com/auth/drive"]}, "cover"),
        ("the example", service("REPLACE-ME"), "is the example"),
        ("half the example", service(key, client_email="REPLACE-ME@x.org"), "is the example"),
    ]


@pytest.mark.parametrize("number", range(14))
def test_load__what_is_wrong_is_told_and_no_secret(tmp_path: Path, key: str, number: int) -> None:
    _, facts, words = bad_files(key)[number]
    path = put(tmp_path / "key.json", facts)
    with pytest.raises(StoreError) as caught:
        load(Found(path, "test"))
    said = caught.value.message + caught.value.hint
    assert words in said
    assert str(path) in said
    assert caught.value.hint
    assert caught.value.__cause__ is None
    for secret in (key[60:90], "secret-refresh", "secret-client"):
        assert secret not in said


def test_the_example__is_recognised() -> None:
    example = Path(__file__).parent.parent / "credentials.example.json"
    with pytest.raises(StoreError, match="is the example"):
        load(Found(example, "test"))


# --- signing in --------------------------------------------------------------------------------


@pytest.fixture(name="signed")
def _signed(
    rig: Rig, tmp_path: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[Emulator, Path]:
    """Let the emulator stand where Google is, sign-in included."""
    monkeypatch.setattr(store, "GOOGLE", rig.google.url)
    facts = service(key, token_uri=f"{rig.google.url}/token")
    return rig.google, put(tmp_path / "key.json", facts)


def test_sign_in__a_read_as_the_service_account(signed: tuple[Emulator, Path]) -> None:
    _, path = signed
    book = GoogleStore(SHEET, credentials=path, environ={}).read(["Sheet1"])
    assert book.titles == ("Sheet1",)


def test_sign_in__not_shared_names_the_address(signed: tuple[Emulator, Path]) -> None:
    google, path = signed
    google.book(SHEET).people = {}
    with pytest.raises(StoreError) as caught:
        GoogleStore(SHEET, credentials=path, environ={}, clock=FakeClock().clock()).read([])
    assert f"add {ROBOT} and make it Editor" in caught.value.hint


SIGN_IN = [
    ("invalid_grant", "Invalid JWT Signature.", "Make a new key"),
    (
        "invalid_grant",
        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe.",
        "Set the computer's date",
    ),
    ("invalid_grant", "Invalid grant: account not found", "Make a new service account"),
    ("invalid_grant", "Token has been expired or revoked.", "7 days"),
    ("unauthorized_client", "Client is unauthorized", "anew"),
]


@pytest.mark.parametrize(("code", "words", "hint"), SIGN_IN)
def test_sign_in__refused(signed: tuple[Emulator, Path], code: str, words: str, hint: str) -> None:
    google, path = signed
    google.state.token = (400, {"error": code, "error_description": words})
    with pytest.raises(StoreError) as caught:
        GoogleStore(SHEET, credentials=path, environ={}, clock=FakeClock().clock()).read([])
    assert hint in caught.value.hint
    assert ROBOT in caught.value.message
    assert not [call for call in google.calls if call.kind == "read"]


# --- doctor ------------------------------------------------------------------------------------


def wrong(findings: tuple[Finding, ...]) -> list[str]:
    return [finding.what for finding in findings if finding.ok is False]


def test_doctor__all_is_well(signed: tuple[Emulator, Path]) -> None:
    google, path = signed
    before = google.snapshot(SHEET)
    findings = diagnose(SHEET, credentials=path, environ={}, clock=FakeClock().clock())
    assert [finding.ok for finding in findings] == [True] * len(findings)
    said = " ".join(finding.what for finding in findings)
    assert all(part in said for part in (str(path), ROBOT, SCOPE, "can be read", "may be edited"))
    assert "PRIVATE" not in said
    assert google.snapshot(SHEET) == before


def test_doctor__a_reader_may_not_write(signed: tuple[Emulator, Path]) -> None:
    google, path = signed
    google.book(SHEET).people = {ROBOT: "reader"}
    findings = diagnose(SHEET, credentials=path, environ={}, clock=FakeClock().clock())
    assert wrong(findings) == [f"{SHEET}: {ROBOT} may not open or edit this sheet (403)."]
    assert findings[-2].ok, "reading was right"


def test_doctor__a_protection_of_someone_else(rig: Rig) -> None:
    rig.google.batch(
        SHEET,
        {
            "addProtectedRange": {
                "protectedRange": {"range": {"sheetId": 0}, "editors": {"users": [OWNER]}}
            }
        },
    )
    findings = diagnose(SHEET, environ={"SHEETS_EMULATOR_HOST": rig.google.host})
    assert findings[-1].ok is None
    assert "'Sheet1'" in findings[-1].what


@pytest.mark.skipif(os.name != "posix", reason="file modes are POSIX's")
def test_doctor__a_file_that_others_can_read(signed: tuple[Emulator, Path]) -> None:
    _, path = signed
    path.chmod(0o644)
    findings = diagnose(None, credentials=path, environ={})
    assert [f.hint for f in findings if f.ok is None] == [f"chmod 600 {path}"]
    assert wrong(findings) == []


def test_doctor__stops_at_what_is_wrong(tmp_path: Path) -> None:
    path = put(tmp_path / "key.json", {"type": "service_account"})
    findings = diagnose(SHEET, credentials=path, environ={}, clock=FakeClock().clock())
    assert [finding.ok for finding in findings] == [True, False]
    assert findings[-1].hint
