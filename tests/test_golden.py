"""Whole matches that a reader can follow, replayed word for word on both stores."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.golden_match import (
    GOLDEN,
    Desk,
    actual_of,
    expected_of,
    on_excel,
    on_google,
    replay,
    steps,
)

MATCHES = sorted(path for path in GOLDEN.iterdir() if path.is_dir())
Open = Callable[[Path], AbstractContextManager[Desk]]


@pytest.mark.parametrize("open_desk", [on_excel, on_google], ids=["excel", "google"])
@pytest.mark.parametrize("match", MATCHES, ids=lambda path: path.name)
def test_match__says_the_same_as_ever(match: Path, open_desk: Open, tmp_path: Path) -> None:
    differing = []
    with open_desk(tmp_path) as desk:
        for step, printed in replay(match, desk):
            expected = expected_of(step)
            if expected.exists() and expected.read_text(encoding="utf-8") == printed:
                actual_of(step).unlink(missing_ok=True)
                continue
            actual_of(step).write_text(printed, encoding="utf-8", newline="\n")
            differing.append(actual_of(step).name)
    assert not differing, f"see {match}: compare with .expected.txt"


@pytest.mark.parametrize("match", MATCHES, ids=lambda path: path.name)
def test_match__every_line_that_looks_like_an_action_is_one(match: Path) -> None:
    """A mistyped action would pass for prose, and nothing would be typed."""
    from tests.golden_match import _ACTIONS

    for step in steps(match):
        for line in step.read_text(encoding="utf-8").splitlines():
            words = ("bids in", "exchanges in", "composes", "Setting ", "Player ", "Column ", "At ")
            if any(word in line for word in words) and line.count(":") == 1 and len(line) < 90:
                assert any(p.fullmatch(line.strip()) for p, _ in _ACTIONS), (step.name, line)
