"""MIDI files, read back by a library that shares no code with the one that wrote them."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sheets_host.game.notes import ALL_NOTES, Note
from sheets_host.telling import MissingExtra
from sheets_host.telling.midi import midi_file

pytest.importorskip("mido", reason="the extra `music` is not installed")
py_midicsv = pytest.importorskip("py_midicsv", reason="py_midicsv, the second reader, is missing")

TICKS_OF_AN_EIGHTH = 240


def rows(file: bytes) -> list[list[str]]:
    """Return the events as text: track, tick, kind, and what belongs to it."""
    return list(csv.reader(py_midicsv.midi_to_csv(io.BytesIO(file)), skipinitialspace=True))


def one(file: bytes, kind: str) -> list[str]:
    (found,) = (row for row in rows(file) if row[2] == kind)
    return found[3:]


def heard(file: bytes) -> list[tuple[int, int]]:
    """Return (key, eighths) of the notes as they sound, which must leave no gap nor overlap."""
    notes: list[tuple[int, int]] = []
    sounding: tuple[int, int] | None = None
    clock = 0
    for _, tick, kind, *rest in rows(file):
        if kind == "Note_on_c":
            assert sounding is None
            assert int(rest[2]) > 0
            assert int(tick) == clock
            sounding = int(rest[1]), int(tick)
        elif kind == "Note_off_c":
            assert sounding is not None
            assert int(rest[1]) == sounding[0]
            eighths, over = divmod(int(tick) - sounding[1], TICKS_OF_AN_EIGHTH)
            assert over == 0
            notes.append((sounding[0], eighths))
            sounding, clock = None, int(tick)
    assert sounding is None
    return notes


@given(st.lists(st.sampled_from(ALL_NOTES), unique=True))
def test_midi__the_same_notes_and_durations(composition: Sequence[Note]) -> None:
    file = midi_file(composition, "A title")
    assert heard(file) == [(60 + note.pitch, note.eighths) for note in composition]


def test_midi__tempo_title_instrument_and_resolution() -> None:
    plain = midi_file(ALL_NOTES[:5], "Ann – Auction")
    assert one(plain, "Header") == ["0", "1", str(2 * TICKS_OF_AN_EIGHTH)]
    assert one(plain, "Tempo") == ["625000"]  # microseconds of a quarter: 96 a minute
    assert one(plain, "Program_c") == ["0", "0"]
    assert one(plain, "Time_signature")[:2] == ["4", "2"]
    assert "Ann – Auction".encode() in plain
    other = midi_file(ALL_NOTES[:5], "", tempo=120, program=40)
    assert one(other, "Tempo") == ["500000"]
    assert one(other, "Program_c") == ["0", "40"]


@pytest.mark.parametrize("title", ["", "日本 🎵", "\ud800", "a\nb\0c", "x" * 5000])
def test_midi__takes_any_title(title: str) -> None:
    file = midi_file(ALL_NOTES[:6], title)
    assert len(heard(file)) == 6


@pytest.mark.parametrize("more", [{"tempo": 0}, {"tempo": 3}, {"program": 128}, {"program": -1}])
def test_midi__refuses_what_midi_cannot_say(more: dict[str, int]) -> None:
    with pytest.raises(ValueError):
        midi_file(ALL_NOTES[:5], "", **more)


def test_midi__says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mido", None)
    with pytest.raises(MissingExtra, match="mido") as missing:
        midi_file(ALL_NOTES[:5], "")
    assert "'.[music]'" in missing.value.hint
