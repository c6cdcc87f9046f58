"""A composition as a MIDI file: one track, the octave from middle C up."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Final

from sheets_host.game.conditions import BEAT
from sheets_host.game.notes import Note
from sheets_host.telling import MADE_BY, library

MIDDLE_C: Final = 60
TICKS: Final = 480  # in a quarter note
LOUDNESS: Final = 80  # of 127
QUARTERS_A_BAR: Final = 4
SLOWEST: Final = 4  # quarters a minute: the file counts the microseconds of one in 24 bits


def midi_file(
    composition: Sequence[Note], title: str, *, tempo: int = 96, program: int = 0
) -> bytes:
    """Return a Standard MIDI File of format 0 that plays the composition, a quarter to the beat.

    title: becomes the track's name, in UTF-8. tempo: quarters a minute, from 4, the slowest that
    a MIDI file can say. program: the General MIDI instrument, 0 (the grand piano) to 127. Raises
    MissingExtra without mido, and ValueError for any other tempo or program.
    """
    if tempo < SLOWEST:
        raise ValueError(f"a tempo of {tempo}: {SLOWEST} quarters a minute are the slowest")
    mido = library("mido", "a MIDI file")
    file = mido.MidiFile(type=0, ticks_per_beat=TICKS, charset="utf-8")
    # Half of a surrogate pair cannot be written in UTF-8.
    track = file.add_track(title.encode("utf-8", "replace").decode())
    track.append(mido.MetaMessage("text", text=MADE_BY))
    track.append(mido.MetaMessage("set_tempo", tempo=mido.bpm2tempo(tempo)))
    track.append(mido.MetaMessage("time_signature", numerator=QUARTERS_A_BAR, denominator=4))
    track.append(mido.Message("program_change", program=program))
    for note in composition:
        key = MIDDLE_C + note.pitch
        ticks = note.eighths * TICKS // BEAT
        track.append(mido.Message("note_on", note=key, velocity=LOUDNESS))
        track.append(mido.Message("note_off", note=key, time=ticks))
    track.append(mido.MetaMessage("end_of_track"))
    buffer = io.BytesIO()
    file.save(file=buffer)
    return buffer.getvalue()
