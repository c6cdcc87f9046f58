"""How notes are spelt (R23), and what settles a text of several readings (R24)."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sheets_host.game.notes import (
    ALL_NOTES,
    BY_TEXT,
    PITCHES,
    Ambiguous,
    Duration,
    Misspelt,
    Note,
    note,
    read,
    readings,
)

SPELT = {
    Duration.WHOLE: ("whole", "w", "1/1", "W", "Whole"),
    Duration.HALF: ("half", "h", "H", "HALF"),
    Duration.QUARTER: ("quarter", "q", "1/4", "¼"),
    Duration.EIGHTH: ("eighth", "e", "1/8", "E", "⅛"),
}
FLATS = {"Db": "C#", "Eb": "D#", "Gb": "F#", "Ab": "G#", "Bb": "A#"}


def names(notes: tuple[Note, ...]) -> list[str]:
    return [str(found) for found in notes]


def held(text: str) -> tuple[Note, ...]:
    return tuple(BY_TEXT[name] for name in text.split(", ")) if text else ()


def test_notes__are_48_of_12_pitches_and_4_durations() -> None:
    assert len(set(ALL_NOTES)) == 48
    assert {(n.pitch, n.duration) for n in ALL_NOTES} == set(product(range(12), Duration))
    assert [p for p in PITCHES if "#" in p] == ["C#", "D#", "F#", "G#", "A#"]
    assert {str(n)[:2] for n in ALL_NOTES if n.sharp} == {"C#", "D#", "F#", "G#", "A#"}
    assert {d: d.eighths / 2 for d in Duration} == {
        Duration.WHOLE: 4, Duration.HALF: 2, Duration.QUARTER: 1, Duration.EIGHTH: 0.5
    }  # fmt: skip


@pytest.mark.parametrize("written", ALL_NOTES, ids=str)
def test_readings__of_the_form_the_tool_writes_is_the_note(written: Note) -> None:
    assert readings(str(written)) == (written,)
    assert read(str(written), ()) == (written, False)


@pytest.mark.parametrize("pitch", PITCHES)
@pytest.mark.parametrize("duration", Duration, ids=lambda d: d.word)
def test_readings__of_every_spelling_listed(pitch: str, duration: Duration) -> None:
    wanted = (note(PITCHES.index(pitch), duration),)
    flat = next((flat for flat, sharp in FLATS.items() if sharp == pitch), pitch)
    for spelling, space, word in product(
        {pitch, pitch.lower(), pitch.replace("#", "♯"), pitch.replace("#", "＃"), flat,
         flat.lower(), flat.upper(), flat.replace("b", "♭")},
        ("", " ", "  ", "\u00a0"),
        SPELT[duration],
    ):  # fmt: skip
        text = f"{spelling}{space}{word}"
        assert readings(text) == wanted, text


@given(st.sampled_from(ALL_NOTES), st.data())
def test_readings__do_not_mind_case_and_spaces(written: Note, data: st.DataObject) -> None:
    text = str(written).replace("#", data.draw(st.sampled_from(("#", "♯", "＃", " #", " ♯"))))
    cased = "".join(data.draw(st.sampled_from((c.upper(), c.lower()))) for c in text)
    blank = data.draw(st.text(" \t\n\u00a0\u2003\u200b", max_size=4))
    around = data.draw(st.text(" \t\n\u00a0\u200b\ufeff", max_size=3))
    assert readings(around + cased.replace(" ", blank or " ") + around) == (written,)


@given(st.text(alphabet="abcdefghABCDEFGH#♯b♭1248/½¼ whqe.-HalfQuarter\u200b", max_size=12))
def test_readings__of_anything_are_notes_or_refused(text: str) -> None:
    try:
        found = readings(text)
    except Misspelt:
        return
    assert found
    assert list(found) == [n for n in ALL_NOTES if n in set(found)]


REFUSED = {
    "E# quarter": "write F", "e♯q": "write F", "B# whole": "write C", "Cb half": "write B",
    "C♭ h": "write B", "Fb eighth": "write E", "H quarter": "write B", "Hq": "H is not used",
    "h whole": "H is not used", "H": "H is not used", "H# q": "H is not used",
    # One letter each: the German B, not half of an E or a B.
    "He": "H is not used", "HE": "H is not used", "Hb": "H is not used", "H e": "H is not used",
}  # fmt: skip


@pytest.mark.parametrize(("text", "says"), REFUSED.items())
def test_readings__of_what_this_scale_has_not_are_refused(text: str, says: str) -> None:
    with pytest.raises(Misspelt, match=re.escape(says)):
        readings(text)


@pytest.mark.parametrize(
    "text",
    ["", " ", "X", "C## quarter", "Cbb q", "C#5", "C 1/3", "C 1/16", "C 3", "C# crotchet",
     "C quarter D", "C,D", "quarterC#quarter", "C quarter quarter", "ces", "5", "1/2/4", "=C", "#",
     "b#b", "note", "C.quarter?", "do", "C#4#", "C ²⁄₄", "C ٤", "q C", "w E#", "h D"],
)  # fmt: skip
def test_readings__of_what_is_no_note_are_refused_with_what_stood_there(text: str) -> None:
    with pytest.raises(Misspelt, match=re.escape(f'{text}" is no note')):
        readings(text)


FOUR_D_SHARPS = ["D# whole", "D# half", "D# quarter", "D# eighth"]
SEVERAL = {
    "D#": FOUR_D_SHARPS,
    "Eb": FOUR_D_SHARPS,
    "e♭": FOUR_D_SHARPS,
    "B": ["B whole", "B half", "B quarter", "B eighth"],
    "E": ["E whole", "E half", "E quarter", "E eighth"],
    "D 1/2": ["D half", "D eighth"],
    "D½": ["D half", "D eighth"],
    "D 0.5": ["D half", "D eighth"],
    "D4": ["D whole", "D quarter"],
    "D 4": ["D whole", "D quarter"],
    "D1": ["D whole", "D quarter"],
    "D2": ["D half"],
    "D8": ["D eighth"],
    "D-1": ["D whole", "D quarter"],
    "E b": FOUR_D_SHARPS,
    "D# note": FOUR_D_SHARPS,
    "1/4 D#": ["D# quarter"],
    "quarter D#": ["D# quarter"],
    "D#-1/4": ["D# quarter"],
}


@pytest.mark.parametrize(("text", "found"), SEVERAL.items())
def test_readings__name_all_that_a_text_can_mean(text: str, found: list[str]) -> None:
    assert names(readings(text)) == found


@pytest.mark.parametrize(("text", "count"), [("whole", 12), ("quarter", 12), ("4", 24)])
def test_readings__of_a_duration_alone_are_every_pitch(text: str, count: int) -> None:
    assert len(readings(text)) == count


@pytest.mark.parametrize(
    ("text", "notes", "found", "settled"),
    [
        ("D#", "D# half, E half", "D# half", True),
        ("Eb", "D# half, B eighth", "D# half", True),
        ("D", "D# half, D whole", "D whole", True),
        ("D 1/2", "D eighth, D whole", "D eighth", True),
        ("D 1/2", "D half, D whole", "D half", True),
        ("D4", "D quarter, D half", "D quarter", True),
        ("D4", "D whole, D half, D eighth", "D whole", True),
        ("quarter", "D quarter, D half", "D quarter", True),
        ("1/2", "D eighth, D whole", "D eighth", True),
        ("4", "D quarter, D half", "D quarter", True),
        # One reading is that note, held or not: whether it may stand is R19's to say.
        ("D# quarter", "", "D# quarter", False),
        ("D# quarter", "D# half", "D# quarter", False),
    ],
)
def test_read__what_is_held_settles_it(text: str, notes: str, found: str, settled: bool) -> None:
    assert read(text, held(notes)) == (BY_TEXT[found], settled)


@pytest.mark.parametrize(
    ("text", "notes", "named"),
    [
        ("D#", "D# half, D# whole", ["D# whole", "D# half"]),
        ("D 1/2", "D half, D eighth", ["D half", "D eighth"]),
        ("D 1/2", "D whole", ["D half", "D eighth"]),
        ("D4", "D whole, D quarter", ["D whole", "D quarter"]),
        ("D4", "", ["D whole", "D quarter"]),
        ("D#", "E whole", FOUR_D_SHARPS),
        ("Eb", "B eighth", FOUR_D_SHARPS),
        ("quarter", "D quarter, E quarter", ["D quarter", "E quarter"]),
    ],
)
def test_read__what_is_not_settled_is_refused_with_its_readings(
    text: str, notes: str, named: list[str]
) -> None:
    with pytest.raises(Ambiguous) as refused:
        read(text, held(notes))
    assert names(refused.value.readings) == named
    assert all(name in str(refused.value) for name in named)


@given(
    st.text(alphabet="abcdefg#b♭1248/ whqe", min_size=1, max_size=5),
    st.sets(st.sampled_from(ALL_NOTES)),
)
def test_read__never_guesses(text: str, hand: set[Note]) -> None:
    try:
        possible = readings(text)
    except Misspelt:
        return
    fitting = [n for n in possible if n in hand]
    if len(possible) > 1 and len(fitting) != 1:
        with pytest.raises(Ambiguous):
            read(text, hand)
    else:
        assert read(text, hand)[0] == (possible if len(possible) == 1 else fitting)[0]
