"""Credentials: where they are found, what is wrong with them, and that they stay secret."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa

from sheets_host.stores.base import Finding, StoreError
from sheets_host.stores.google import GoogleStore, access, store
from sheets_host.stores.google.access import SCOPE, Found, emulator_base, find_credentials, load
from sheets_host.stores.google.doctor import diagnose
from tests.command import here
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


PKCS8 = serialization.PrivateFormat.PKCS8


def other_keys() -> dict[str, str]:
    """Keys that are none of Google's kind."""
    plain: serialization.KeySerializationEncryption = serialization.NoEncryption()
    locked = serialization.BestAvailableEncryption(b"password")
    rsa_key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = serialization.Encoding.PEM
    elliptic = ec.generate_private_key(ec.SECP256R1())
    return {
        "EC": elliptic.private_bytes(pem, PKCS8, plain).decode(),
        "Ed25519": ed25519.Ed25519PrivateKey.generate().private_bytes(pem, PKCS8, plain).decode(),
        "locked": rsa_key.private_bytes(pem, PKCS8, locked).decode(),
        "none": "hello",
        "half a pair": "\ud800",
    }


@pytest.mark.parametrize("kind", other_keys())
def test_load__keys_of_another_kind(tmp_path: Path, kind: str) -> None:
    path = put(tmp_path / "key.json", service(other_keys()[kind]))
    with pytest.raises(StoreError, match="the private key in it is") as caught:
        load(Found(path, "test"))
    assert ("locked with a password" in caught.value.message) == (kind == "locked")
    assert "Download the key anew" in caught.value.hint
    assert wrong(diagnose(None, credentials=path, environ={})) == [caught.value.message]


@pytest.mark.parametrize("value", [None, 7, 1.5, True, [], {}, ["x"], ""])
@pytest.mark.parametrize("name", ["client_email", "private_key", "token_uri"])
def test_load__a_field_of_another_type(tmp_path: Path, key: str, name: str, value: object) -> None:
    path = put(tmp_path / "key.json", service(key) | {name: value})
    with pytest.raises(StoreError, match=f"lacks {name}"):
        load(Found(path, "test"))


@pytest.mark.parametrize("value", [None, 7, [], ["x"], {"a": 1}, "\ud800"])
@pytest.mark.parametrize("name", ["private_key_id", "project_id", "universe_domain", "scopes"])
def test_load__what_is_not_needed_may_be_anything(
    tmp_path: Path, key: str, name: str, value: object
) -> None:
    path = put(tmp_path / "key.json", service(key) | {name: value})
    assert load(Found(path, "test")).account == ROBOT


@pytest.mark.parametrize(
    "more",
    [
        {"expiry": "yesterday", "token": "t"},
        {"expiry": 7},
        {"expiry": "2026-13-45T00:00:00Z"},
        {"token": 7},
        {"scopes": None},
        {"scopes": ""},
        {"scopes": f"openid {SCOPE}"},
        {"quota_project_id": 7},
        {"universe_domain": []},
    ],
    ids=str,
)
def test_load__a_user_with_odd_fields(tmp_path: Path, more: dict[str, object]) -> None:
    who = load(Found(put(tmp_path / "user.json", USER | more), "test"))
    assert who.account == OWNER
    assert who.credentials.token is None


@pytest.mark.parametrize("scopes", [7, {"a": 1}, [7], ["openid"], [None], "openid", True])
def test_load__a_user_whose_scopes_do_not_reach(tmp_path: Path, scopes: object) -> None:
    with pytest.raises(StoreError, match="does not cover spreadsheets"):
        load(Found(put(tmp_path / "user.json", USER | {"scopes": scopes}), "test"))


@pytest.mark.parametrize("account", [None, 7, [], "", "Ann"])
def test_load__a_user_whose_address_is_none(tmp_path: Path, account: object) -> None:
    assert (
        load(Found(put(tmp_path / "user.json", USER | {"account": account}), "t")).account is None
    )


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"[" * 100_000, "is not JSON"),
        (b'{"a":' * 100_000, "is not JSON"),
        (b'{"type": "service_account", "x": "\xff"}', "is not JSON"),
        (b"\x80\x81", "is not JSON"),
        (b"", "is not JSON"),
        (b"9" * 10_000, "is not JSON"),
        (b'{"type": ["service_account"]}', "neither"),
        (b'{"type": {"a": [[[[[[[[[[1]]]]]]]]]]}}', "neither"),
        (b'"service_account"', "holds no credentials"),
        (b" " * 1_000_001, "too large"),
    ],
    ids=range(10),
)
def test_load__odd_files(tmp_path: Path, content: bytes, says: str) -> None:
    path = tmp_path / "key.json"
    path.write_bytes(content)
    path.chmod(0o600)
    with pytest.raises(StoreError, match=says) as caught:
        load(Found(path, "test"))
    assert caught.value.hint
    done = here("doctor", "--credentials", path)
    assert done.code == 3
    assert says in done.said
    assert "fault of sheets-host" not in done.said


@pytest.mark.parametrize(
    "address",
    [
        "https://oauth2.googleapis.com/token",
        "https://accounts.google.com/o/oauth2/token",
        "https://www.googleapis.com:443/oauth2/v4/token",
        "http://127.0.0.1:8765/token",
        "http://localhost:1/token",
        "http://[::1]:1/token",
    ],
)
def test_token_uri__of_google_or_this_computer(tmp_path: Path, key: str, address: str) -> None:
    path = put(tmp_path / "key.json", service(key, token_uri=address))
    assert load(Found(path, "test")).account == ROBOT


@pytest.mark.parametrize(
    "address",
    [
        "https://example.org/token",
        "https://oauth2.googleapis.com.example.org/token",
        "https://googleapis.com@example.org/token",
        "https://example.org/oauth2.googleapis.com",
        "https://example.org#.googleapis.com",
        "https://example.org\\.googleapis.com/token",
        "https://notgoogle.com/token",
        "http://oauth2.googleapis.com/token",
        "https://oauth2.googleapis.com/token\n",
        "https://oauth2.googleapis.com/token?to=https://example.org",
        "http://127.0.0.1.example.org/token",
        "http://10.0.0.1/token",
        "file:///key",
        "token",
    ],
)
def test_token_uri__of_a_stranger(tmp_path: Path, key: str, address: str) -> None:
    path = put(tmp_path / "key.json", service(key, token_uri=address))
    with pytest.raises(StoreError, match="token_uri is not an address of Google's"):
        load(Found(path, "test"))


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


class Stranger(BaseHTTPRequestHandler):
    """Answers every sign-in in the way that the test says."""

    status, body, place = 200, b"", ""
    asked = 0

    def do_POST(self) -> None:
        type(self).asked += 1
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(self.status)
        if self.place:
            self.send_header("Location", self.place)
        self.send_header("Content-Length", str(len(self.body)))
        self.end_headers()
        self.wfile.write(self.body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def stranger() -> Iterator[tuple[type[Stranger], str]]:
    class Ours(Stranger):
        pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Ours)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield Ours, f"http://127.0.0.1:{server.server_port}/token"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (200, b"<html>Welcome to the hotel</html>"),
        (403, b"<html>blocked</html>"),
        (503, b"<html>down</html>"),
        (302, b""),
        (200, b""),
        (200, b"[]"),
        (400, b"[]"),
        (200, b"{}"),
        (200, b'"text"'),
        (200, b"null"),
        (200, b"[" * 100_000),
        (200, b"\xff\xfe"),
        (200, b'{"access_token": 7}'),
        (200, b'{"access_token": "a", "expires_in": "soon"}'),
        (200, b'{"access_token": "a", "expires_in": 1e99}'),
        (200, b'{"access_token": "a", "expires_in": 99999999999999}'),
        (200, b'{"access_token": "a", "expires_in": []}'),
    ],
)
def test_sign_in__answered_by_something_else(
    stranger: tuple[type[Stranger], str], tmp_path: Path, key: str, status: int, body: bytes
) -> None:
    answers, address = stranger
    answers.status, answers.body = status, body
    answers.place = address if status == 302 else ""
    path = put(tmp_path / "key.json", service(key, token_uri=address))
    assert wrong(diagnose(SHEET, credentials=path, environ={}, clock=FakeClock().clock())) == [
        "Something else than Google answers the sign-in."
    ]
    assert answers.asked == 1, "no redirection is followed with what was signed"
    time = FakeClock()
    with pytest.raises(StoreError, match="the answer to the sign-in is not Google's"):
        GoogleStore(SHEET, credentials=path, environ={}, clock=time.clock()).read([])


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
