"""Engraving: what is written reads as what was composed, and the picture shows what is written."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sheets_host.game.notes import ALL_NOTES, PITCHES, Note, readings
from sheets_host.telling import MissingExtra
from sheets_host.telling.engraving import VALUES, Sign, engrave, measures

COMPOSITIONS = st.lists(st.sampled_from(ALL_NOTES), unique=True)
SVG = "{http://www.w3.org/2000/svg}"
SHARP, NATURAL = "E262", "E261"  # SMuFL, "Standard accidentals"
HEADS = ("E0A2", "E0A3", "E0A4")  # whole, half, black: SMuFL, "Noteheads"


def held(text: str) -> tuple[Note, ...]:
    return tuple(readings(word)[0] for word in text.split())


def metered(composition: Sequence[Note]) -> bool:
    return sum(note.eighths for note in composition) % 8 == 0


# --- what is written -----------------------------------------------------------------------------


def read_back(bars: Sequence[Sequence[Sign]], *, reaches: str) -> list[tuple[int, int]]:
    """Read the signs as a musician would: (pitch, eighths) of each note, tied ones as one.

    reaches: how far an accidental does: to the end of its ``bar``, to the next in its place
    (``on``), or no further than its ``note``.
    """
    in_force: dict[str, str] = {}
    notes: list[tuple[int, int]] = []
    for bar in bars:
        if reaches == "bar":
            in_force.clear()
        for sign in bar:
            if sign.tie in ("m", "t"):  # what is tied goes on as it began
                assert not sign.accidental
                pitch, eighths = notes.pop()
                assert PITCHES[pitch][0] == PITCHES[sign.pitch][0]
                notes.append((pitch, eighths + sign.eighths))
                continue
            place = PITCHES[sign.pitch][0]  # of the pitch only this is told by where it stands
            if reaches == "note":
                in_force.clear()
            if sign.accidental:
                in_force[place] = sign.accidental
            name = place + ("#" if in_force.get(place) == "s" else "")
            notes.append((PITCHES.index(name), sign.eighths))
    return notes


@settings(max_examples=300)
@given(COMPOSITIONS)
def test_measures__read_as_they_were_composed(composition: Sequence[Note]) -> None:
    bars = measures(composition)
    expected = [(note.pitch, note.eighths) for note in composition]
    for reaches in ("bar",) if metered(composition) else ("bar", "on", "note"):
        assert read_back(bars, reaches=reaches) == expected
    assert {sign.eighths for bar in bars for sign in bar} <= set(VALUES)


@settings(max_examples=300)
@given(COMPOSITIONS)
def test_measures__fill_their_bars_and_show_the_middle(composition: Sequence[Note]) -> None:
    bars = measures(composition)
    if not metered(composition):
        assert all(len(bar) == 1 and bar[0].tie == "" for bar in bars)
        return
    for bar in bars:
        at = 0
        for sign in bar:
            assert sign.at == at
            across = at < 4 < at + sign.eighths
            assert not across or (at % 2 == 0 and sign.eighths in (4, 6, 8))
            at += sign.eighths
        assert at == 8


# Each note as it is written: its place, then # or = for a sharp or natural sign before it, and ~
# where it is tied on from the one before.
SPELT = [
    ("F after F# in a bar needs its natural", "F#q Fq Ch", "F# F= C"),
    ("and F# after it its sharp again", "F#q Fq F#h", "F# F= F#"),
    ("a sharp stands for its bar", "F#q F#h F#e De", "F# F F D"),
    ("the bar line ends it", "F#q Ch Dq F#h F#e Fq Fe", "F# C D F# F F= F"),
    ("a natural is a courtesy after the bar line", "F#w Fw F#q Fq Fh", "F# F= F# F= F"),
    ("a tied sharp reaches over the bar line, and no further", "Ch Dq F#w F#q", "C D F# F~ F#"),
    ("other places keep their own", "C#q Dq C#h", "C# D C"),
    ("without meter each sharp has its own", "F#q F#h F#e Fq Fe", "F# F# F# F= F"),
]


@pytest.mark.parametrize(("notes", "expected"), [r[1:] for r in SPELT], ids=[r[0] for r in SPELT])
def test_measures__by_hand(notes: str, expected: str) -> None:
    mark = {"s": "#", "n": "=", "": ""}
    signs = [sign for bar in measures(held(notes)) for sign in bar]
    found = [
        f"{PITCHES[s.pitch][0]}{mark[s.accidental]}{'~' if s.tie in ('m', 't') else ''}"
        for s in signs
    ]
    assert " ".join(found) == expected


# --- the picture -----------------------------------------------------------------------------------


draws = pytest.mark.skipif(not find_spec("verovio"), reason="the extra `music` is not installed")


def glyphs(svg: str) -> list[tuple[str, int, int]]:
    """Return every music sign drawn: its SMuFL code, x and y."""
    return [
        (code, int(x), int(y))
        for code, x, y in re.findall(
            r'href="#(E[0-9A-F]{3})-\w+" transform="translate\((\d+), (\d+)\)', svg
        )
    ]


@draws
@settings(max_examples=40)
@given(COMPOSITIONS)
def test_engrave__draws_every_note_and_accidental(composition: Sequence[Note]) -> None:
    drawn = [code for code, _, _ in glyphs(engrave(composition, "A title"))]
    signs = [sign for bar in measures(composition) for sign in bar]
    assert sum(code in HEADS for code in drawn) == len(signs)
    for code, accidental in ((SHARP, "s"), (NATURAL, "n")):
        assert drawn.count(code) == sum(sign.accidental == accidental for sign in signs)


@draws
def test_engrave__places_follow_the_letters() -> None:
    scale = held("Cq C#q Dq D#q Eq Fq F#q Gq G#q Aq A#q Bq Ch")  # without meter: none is tied
    heights = [y for code, _, y in glyphs(engrave(scale, "")) if code in HEADS]
    steps = [(heights[0] - y) / (heights[0] - heights[-2]) * 6 for y in heights]
    assert steps == [0, 0, 1, 1, 2, 3, 3, 4, 4, 5, 5, 6, 0]


HOSTILE = [
    "</svg><script>alert(1)</script>",
    '" onload="alert(1)',
    "a & b < c > d 'e'",
    '<g id="E050-x" href="#y">',
    "&lt;b&gt; &#60;",
    "]]> <!-- -- >",
    "Zoë 日本 🎵",
]


@draws
@pytest.mark.parametrize("title", HOSTILE)
def test_engrave__a_title_is_text(title: str) -> None:
    root = ET.fromstring(engrave(held("Cq Dq Eq Fq Gq"), title))
    plain = ET.fromstring(engrave(held("Cq Dq Eq Fq Gq"), "title"))
    assert title in "".join(root.itertext())
    assert {e.tag for e in root.iter()} == {e.tag for e in plain.iter()}
    assert {k for e in root.iter() for k in e.attrib} == {k for e in plain.iter() for k in e.attrib}


@draws
def test_engrave__titles_that_cannot_be_shown() -> None:
    for title in ("", " \n ", "\0\x1b\ud800\uffff"):
        root = ET.fromstring(engrave(held("Cq Dq"), title))
        assert not list(root.iter(f"{SVG}text"))
    long = "".join(ET.fromstring(engrave(held("Cq"), "word " * 60)).itertext())
    assert "word word" in long
    assert "…" in long
    assert "word " * 15 not in long


@draws
def test_engrave__needs_nothing_from_elsewhere_and_shares_no_id() -> None:
    seen: set[str] = set()
    for n in range(60):
        svg = engrave(ALL_NOTES[n % 40 : n % 40 + 5], f"Player {n}")
        root = ET.fromstring(svg)
        ids = [element.get("id", "") for element in root.iter() if "id" in element.attrib]
        assert len(ids) == len(set(ids))
        assert seen.isdisjoint(ids)
        seen.update(ids)
        references = set(re.findall(r'href="#?([^"]*)"', svg))
        assert {*references, root.get("id")} == set(ids)
        assert set(re.findall(r"https?://[^\"]*", svg)) <= {
            "http://www.w3.org/2000/svg",
            "http://www.w3.org/1999/xlink",
        }
        assert "url(" not in svg
        for style in root.iter(f"{SVG}style"):  # its rules touch nothing else on a page
            selectors = re.sub(r"\{[^}]*\}", ",", style.text or "").split(",")
            assert all(s.strip().startswith(f"#{root.get('id')} ") for s in selectors if s.strip())


@draws
def test_engrave__is_the_same_each_time_and_takes_the_page_colour() -> None:
    svg = engrave(ALL_NOTES[:9], "Ann")
    assert svg == engrave(ALL_NOTES[:9], "Ann")
    assert svg != engrave(ALL_NOTES[:9], "Bob")
    root = ET.fromstring(svg)
    assert root.get("fill") == "currentColor"
    assert not [e for e in root.iter() if {"color", "width", "height"} & set(e.attrib)]


@draws
def test_engrave__breaks_long_music_into_lines_on_one_page() -> None:
    root = ET.fromstring(engrave(ALL_NOTES, "All"))
    systems = [e for e in root.iter() if e.get("class") == "system"]
    assert len(systems) > 3
    assert not [code for code, _, _ in glyphs(engrave((), "Nobody")) if code in HEADS]


def test_engrave__says_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "verovio", None)
    with pytest.raises(MissingExtra, match="verovio") as missing:
        engrave(held("Cq"), "")
    assert "'.[music]'" in missing.value.hint
