"""A composition as a picture of its music: MEI for verovio, which makes it SVG.

Where the whole lasts full bars it stands in 4/4, notes across a bar line tied. Otherwise it stands
without meter, each note whole, and lines break between any two notes.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from xml.etree.ElementTree import Element, SubElement, tostring

from sheets_host.game.notes import BAR, PITCHES, Note
from sheets_host.telling import library

MEI: Final = "http://www.music-encoding.org/ns/mei"
TREBLE: Final = {"clef.shape": "G", "clef.line": "2"}
COMMON_TIME: Final = {"meter.count": "4", "meter.unit": "4"}
NO_METER: Final = {"mnum.visible": "false"}  # its measures are no bars that anyone counts
OCTAVE: Final = "4"  # from middle C up
HALF_BAR: Final = BAR // 2
# How a length in eighths is written: the note's value, and its dots.
VALUES: Final = {1: (8, 0), 2: (4, 0), 3: (4, 1), 4: (2, 0), 6: (2, 1), 8: (1, 0)}
LONGEST_TITLE: Final = 48  # characters that fit above a line of music
OPTIONS: Final = {
    "pageWidth": 1600,  # in verovio's units: ten notes or so to a line
    "pageHeight": 60_000,  # the most there can be, for one page however long the music is
    "adjustPageHeight": True,
    "footer": "none",
    "svgViewBox": True,
}


def engrave(composition: Sequence[Note], title: str) -> str:
    """Return the composition as SVG that needs nothing from elsewhere.

    It takes the width and the colour of what it stands in. Its ids are its own, made of title and
    notes, so that many fit on one page, and the same composition always gives the same picture.
    title: stands above; none if empty. Raises MissingExtra without verovio.
    """
    verovio = library("verovio", "engraving")
    shown = _shown(title)
    seed = zlib.crc32("|".join([title, *map(str, composition)]).encode("utf-8", "replace"))
    toolkit = verovio.toolkit()
    toolkit.setOptions({**OPTIONS, "header": "auto" if shown else "none", "xmlIdSeed": seed >> 1})
    if not toolkit.loadData(tostring(_mei(composition, shown), encoding="unicode")):
        raise AssertionError(f"verovio does not read our MEI: {toolkit.getLog()}")
    return _tidied(toolkit.renderToSVG(1))


# --- what is written -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Sign:
    """One written note. at, eighths: its place in the bar and its length, in eighths.

    accidental: ``s`` or ``n`` where one must stand before it. tie: as MEI says it, ``i`` for the
    first of several tied, ``m`` between, ``t`` for the last; empty for a note by itself.
    """

    pitch: int
    at: int
    eighths: int
    accidental: str
    tie: str


def measures(composition: Sequence[Note]) -> list[list[Sign]]:
    """Write a composition: in bars where it fills them, else without meter, a note to a measure."""
    accidentals = _Accidentals()
    if sum(note.eighths for note in composition) % BAR:
        return [
            [Sign(note.pitch, 0, note.eighths, accidentals.before(note.pitch, carried=False), "")]
            for note in composition
        ]
    bars: list[list[Sign]] = []
    at = 0
    for note in composition:
        pieces = list(_pieces(at % BAR, note.eighths))
        for nth, (place, eighths) in enumerate(pieces):
            if place == 0:
                bars.append([])
                accidentals.bar()
            tied = len(pieces) > 1
            tie = "" if not tied else "i" if nth == 0 else "t" if nth == len(pieces) - 1 else "m"
            # A tied note goes on as it began, even over the bar line, and needs no second sign.
            accidental = accidentals.before(note.pitch) if nth == 0 else ""
            bars[-1].append(Sign(note.pitch, place, eighths, accidental, tie))
        at += note.eighths
    return bars


def _pieces(at: int, eighths: int) -> Iterator[tuple[int, int]]:
    """Part a note at bar lines and where it would hide the middle of a bar: (place, eighths)."""
    while eighths:
        piece = min(eighths, BAR - at)
        # On a beat a half, dotted half or whole reads well across the middle; nothing else does.
        if at < HALF_BAR < at + piece and (at % 2 or piece not in (4, 6, 8)):
            piece = HALF_BAR - at
        yield at, piece
        at = (at + piece) % BAR
        eighths -= piece


class _Accidentals:
    """Which notes need a sign before them.

    Within a bar a sign stands for all further notes in its place. The bar line ends it; even so a
    natural is written to the first such note after it, as careful editions do. Where no bar line
    tells how far a sign reaches, every sharp has its own.
    """

    def __init__(self) -> None:
        self.sharp_here: set[str] = set()  # places sharp in this bar
        self.sharp_last: set[str] = set()  # places whose last note, in any bar, was sharp

    def bar(self) -> None:
        self.sharp_here.clear()

    def before(self, pitch: int, *, carried: bool = True) -> str:
        place, sharp = PITCHES[pitch][0], PITCHES[pitch].endswith("#")
        if sharp:
            sign = "" if carried and place in self.sharp_here else "s"
            self.sharp_here.add(place)
            self.sharp_last.add(place)
            return sign
        sign = "n" if place in self.sharp_last else ""
        self.sharp_here.discard(place)
        self.sharp_last.discard(place)
        return sign


def _mei(composition: Sequence[Note], title: str) -> Element:
    bars = measures(composition)
    metered = sum(note.eighths for note in composition) % BAR == 0
    root = Element("mei", {"xmlns": MEI, "meiversion": "5.0"})
    about = SubElement(SubElement(root, "meiHead"), "fileDesc")
    SubElement(SubElement(about, "titleStmt"), "title").text = title
    SubElement(about, "pubStmt")
    score = SubElement(_nested(root, "music", "body", "mdiv"), "score")
    definition = SubElement(score, "scoreDef", COMMON_TIME if metered else NO_METER)
    staves = SubElement(definition, "staffGrp")
    SubElement(staves, "staffDef", {"n": "1", "lines": "5", **TREBLE})
    section = SubElement(score, "section")
    for number, bar in enumerate(bars or [[]], 1):
        line = "end" if number >= len(bars) else "single" if metered else "invis"
        measure = SubElement(section, "measure", {"n": str(number), "right": line})
        if not metered:
            measure.set("metcon", "false")
        staff = SubElement(measure, "staff", {"n": "1"})
        _write(SubElement(staff, "layer", {"n": "1"}), bar)
    return root


def _nested(parent: Element, *names: str) -> Element:
    for name in names:
        parent = SubElement(parent, name)
    return parent


def _write(layer: Element, bar: Sequence[Sign]) -> None:
    """Write a bar's notes, two eighths of one beat under a beam."""
    beam = layer
    for nth, sign in enumerate(bar):
        follower = bar[nth + 1] if nth + 1 < len(bar) else None
        if beam is not layer and sign.at % 2 == 0:
            beam = layer
        if follower and sign.eighths == follower.eighths == 1 and sign.at % 2 == 0:
            beam = SubElement(layer, "beam")
        _write_note(beam, sign)


def _write_note(parent: Element, sign: Sign) -> None:
    value, dots = VALUES[sign.eighths]
    name = PITCHES[sign.pitch]
    note = SubElement(parent, "note", {"pname": name[0].lower(), "oct": OCTAVE, "dur": str(value)})
    if dots:
        note.set("dots", str(dots))
    if sign.accidental:
        note.set("accid", sign.accidental)
    elif name.endswith("#"):
        note.set("accid.ges", "s")  # sounds sharp, by a sign before it
    if sign.tie:
        note.set("tie", sign.tie)


# --- title and picture ---------------------------------------------------------------------------

_UNSPEAKABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def _shown(title: str) -> str:
    """Return a title without what XML cannot hold (XML 1.0, 2.2), cut to fit."""
    plain = " ".join(_UNSPEAKABLE.sub("", title).split())
    return plain if len(plain) <= LONGEST_TITLE else plain[: LONGEST_TITLE - 1].rstrip() + "…"


_TAG: Final = re.compile(r"<[^<>]+>")
_ID: Final = re.compile(r' id="([^"]*)"')
_REFERENCE: Final = re.compile(r'href="#([^"]*)"')


def _tidied(svg: str) -> str:
    """Leave only the ids that are referred to, and take the colour of what stands around."""
    root = _ID.search(svg, 0, svg.index(">"))
    assert root is not None, "verovio gives its pictures an id from 6.4 on"
    kept = {root[1], *_REFERENCE.findall(svg)}

    def tidy(tag: re.Match[str]) -> str:
        return _ID.sub(lambda found: found[0] if found[1] in kept else "", tag[0])

    svg = _TAG.sub(tidy, svg)
    svg = re.sub(r'<title class="labelAttr">[^<]*</title>', "", svg)  # a tool tip that says "title"
    svg = svg.replace('class="definition-scale" color="black"', 'class="definition-scale"', 1)
    return svg.replace("<svg ", '<svg fill="currentColor" ', 1)
