"""One sign-in for all sheets of an account, and its calls within Google's limit a minute."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from sheets_host.stores.google import GoogleStore, store
from sheets_host.stores.google.pacing import CALLS, MINUTE, Pace
from tests.google_rig import FakeClock, Rig, rig_fixture
from tests.sheets_emulator import ROBOT

__all__ = ["rig_fixture"]


def test_pace__lets_a_minutes_calls_through_at_once() -> None:
    pace = Pace(calls=3, seconds=60)
    assert [pace.turn(now) for now in (100.0, 101.0, 102.0)] == [(0.0, False)] * 3
    assert pace.turn(110.0) == (50.0, True)
    assert pace.turn(110.0) == (51.0, False), "one word for all who wait for the same minute"
    assert pace.turn(170.0) == (0.0, False), "102 is a minute ago"
    assert pace.turn(170.0) == (50.0, True), "160 is not"


@pytest.mark.parametrize("calls", [1, 5, 60])
def test_pace__never_lets_more_through_than_a_minute_allows(calls: int) -> None:
    pace, at = Pace(calls, 60), []
    for n in range(5 * calls):
        now = n / 8  # exact in binary
        at.append(now + pace.turn(now)[0])
    assert all(later - earlier >= 60 for earlier, later in zip(at, at[calls:], strict=False))
    assert at[-1] <= 60 * 4 + 5 * calls / 8, "and no fewer"


@pytest.fixture(name="key", scope="module")
def _key(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = made.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return {
        "type": "service_account",
        "private_key_id": "k",
        "private_key": pem.decode(),
        "client_email": ROBOT,
    }


def test_sheets_of_one_account__sign_in_once_and_share_the_limit(
    rig: Rig, key: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "GOOGLE", rig.google.url)
    path = tmp_path / "key.json"
    path.write_text(json.dumps(key | {"token_uri": f"{rig.google.url}/token"}), encoding="utf-8")
    ids = [f"entry-sheet-of-the-tests-{n:04}" for n in range(CALLS + 5)]
    for sheet_id in ids:
        rig.google.add_spreadsheet(sheet_id)
    time = FakeClock()

    def read(sheet_id: str) -> None:
        sheet = GoogleStore(sheet_id, credentials=path, environ={}, clock=time.clock())
        assert sheet.read(["Sheet1"]).titles == ("Sheet1",)

    read(ids[0])
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(read, ids[1:]))
    assert sum(call.path == "/token" for call in rig.google.calls) == 1
    assert rig.google.count("read") == CALLS + 5
    assert 0 < len(time.waits) <= 5
    assert max(time.waits) <= MINUTE
    assert time.said == ["Google allows 60 reads a minute; waiting 61 s for the next"]


def test_a_new_key__is_a_new_sign_in(
    rig: Rig, key: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "GOOGLE", rig.google.url)
    path = tmp_path / "key.json"
    for n in range(2):
        facts = key | {"token_uri": f"{rig.google.url}/token", "private_key_id": "k" * (n + 1)}
        path.write_text(json.dumps(facts), encoding="utf-8")
        GoogleStore(
            rig.store.sheet_id, credentials=path, environ={}, clock=FakeClock().clock()
        ).read([])
    assert sum(call.path == "/token" for call in rig.google.calls) == 2
