"""Fixtures that several tests share, and how Hypothesis runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.command import here
from tests.office import Office, OfficeMissingError

# The same examples on every run, and none that fails for a slow machine; HYPOTHESIS_PROFILE=search
# looks for new ones.
settings.register_profile("ci", derandomize=True, deadline=None)
settings.register_profile("search", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@pytest.fixture(scope="session")
def office() -> Iterator[Office]:
    """A LibreOffice that types as a person would; starts when first opened."""
    try:
        made = Office()
    except OfficeMissingError as missing:
        pytest.skip(str(missing))
    with made:
        yield made


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real workbooks."""
    folder = os.environ.get("SHEETS_HOST_CORPUS")
    if not folder:
        pytest.skip("SHEETS_HOST_CORPUS names no folder of real workbooks")
    return Path(folder)


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A match of Ann and Bob in round 1, without a bid; modules may have one of their own."""
    path = tmp_path_factory.mktemp("fresh") / "game.xlsx"
    assert here("new", path, "--player", "Ann", "--player", "Bob", "--seed", "s").code == 0
    return path.read_bytes()


@pytest.fixture
def game(fresh: bytes, tmp_path: Path) -> Path:
    """The module's fresh match, as a file to play with."""
    path = tmp_path / "game.xlsx"
    path.write_bytes(fresh)
    return path
