"""The Record: the rows that are the game, and the seals that chain them.

Each row is eight texts. A row's seal is the SHA-256 of the full digest before it and the row's
other seven texts; people read its first 16 hex digits in fours. So one seal, read out loud,
vouches for every row up to it.

Events, by their word in the column Event (Round holds a stage: 1 to 6, or composing):

==============  ========================================================================
record          Item ``format``, Value the version; always the first row. Then Item ``salt``: a
                random text, so that nobody can guess sealed bids by trying what fits a seal
seat            Player takes the next column of the Collections tab
deal            Round, Item ``lot 1``, Value the note
garnets         Player, Value the garnets held at the start
status          Player, Value ``playing`` or ``withdrawn``
switch          Item the switch, Value its value
slip            Round, Player, Value ``entered``, ``nothing``, ``void``, ``withdrawn`` or
                ``without``: what follows replaces all that the player had in that round
exchange        Round, Player, Value the number of uses
bid             Round, Player, Item ``lot 1``, Value the tokens
composition     Player, Item ``handed in``, ``nothing``, ``void``, ``withdrawn`` or
                ``without``, Value the notes in order, separated by commas
void            Round, Player, Item what was struck out, Value what stood there
closed          Round: the stage is closed; Value ``hold`` or ``void``
reopened        Round, Player (or Item ``settings``), Value the reason
renamed         Player, Value the new name
ruling          Item ``Elimination choice`` or ``Winner ruling``, Player the name
==============  ========================================================================
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

FORMAT: Final = "1"
KINDS: Final = (
    "record",
    "seat",
    "deal",
    "garnets",
    "status",
    "switch",
    "slip",
    "exchange",
    "bid",
    "composition",
    "void",
    "closed",
    "reopened",
    "renamed",
    "ruling",
)
HEADERS: Final = ("Seq", "At", "Event", "Round", "Player", "Item", "Value", "Seal")
Row = tuple[str, str, str, str, str, str, str, str]


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened. at: UTC, ``2026-03-01T18:00:00Z``; stage: `Stage.key` or ``""``."""

    kind: str
    stage: str = ""
    player: str = ""
    item: str = ""
    value: str = ""
    at: str = ""


class RecordBroken(Exception):
    """The Record does not verify (exit code 4). seq: the row at fault, counted from 1."""

    def __init__(self, seq: int, message: str) -> None:
        super().__init__(message)
        self.seq = seq
        self.message = message


@dataclass(frozen=True, slots=True)
class Record:
    """A chain of events that verifies. seals: of every row, as people read them."""

    events: tuple[Event, ...] = ()
    seals: tuple[str, ...] = ()
    digest: bytes = b""

    @property
    def rows(self) -> int:
        return len(self.events)

    @property
    def seal(self) -> str:
        """The last seal; empty for an empty Record."""
        return self.seals[-1] if self.seals else ""

    def with_events(self, events: Iterable[Event]) -> Record:
        """Return the Record with these events added at its end."""
        added = list(events)
        digest, seals = self.digest, []
        for seq, event in enumerate(added, self.rows + 1):
            digest = _next(digest, _texts(seq, event))
            seals.append(_spoken(digest))
        return Record((*self.events, *added), (*self.seals, *seals), digest)

    def as_rows(self) -> tuple[Row, ...]:
        """Return the rows as the Record tab holds them."""
        return tuple(
            (*_texts(seq, event), seal)
            for seq, (event, seal) in enumerate(zip(self.events, self.seals, strict=True), 1)
        )

    def find(self, seal: str) -> int | None:
        """Return the Seq of the row with this seal, however it is spaced; None if on no row."""
        wanted = "".join(seal.split()).casefold()
        for seq, known in enumerate(self.seals, 1):
            if known.replace(" ", "") == wanted:
                return seq
        return None


def read_record(rows: Sequence[Row]) -> Record:
    """Verify rows as they stand on the tab. Raises RecordBroken naming the first bad row."""
    digest = b""
    events, seals = [], []
    for seq, row in enumerate(rows, 1):
        if row[0] != str(seq):
            raise RecordBroken(seq, _out_of_order(seq, row[0], {r[0] for r in rows}))
        digest = _next(digest, row[:7])
        spoken = _spoken(digest)
        if row[7] != spoken:
            raise RecordBroken(
                seq,
                f"row {seq} ({row[2]} {row[4]} {row[5]} {row[6]}) was altered: its seal reads"
                f" {row[7] or 'nothing'}, and what stands in the row gives {spoken}",
            )
        event = Event(row[2], row[3], row[4], row[5], row[6], row[1])
        if seq == 1 and (event.kind, event.item, event.value) != ("record", "format", FORMAT):
            raise RecordBroken(
                1, f"row 1 does not name format {FORMAT}, the one this version reads"
            )
        if event.kind not in KINDS:
            raise RecordBroken(seq, f"row {seq} is of an unknown kind: {event.kind!r}")
        events.append(event)
        seals.append(spoken)
    return Record(tuple(events), tuple(seals), digest)


def _out_of_order(seq: int, found: str, present: set[str]) -> str:
    if not found:
        return f"row {seq} has no Seq: a row was added, or its number removed"
    if str(seq) in present:
        return f"row {seq} is not in its place: Seq {found or 'nothing'} stands there instead"
    return f"row {seq} is missing: Seq {found or 'nothing'} stands in its place"


def _texts(seq: int, event: Event) -> tuple[str, str, str, str, str, str, str]:
    return (
        str(seq),
        event.at,
        event.kind,
        event.stage,
        event.player,
        event.item,
        event.value,
    )


def _next(digest: bytes, texts: Sequence[str]) -> bytes:
    # JSON keeps the borders between the texts: moving one from column to column changes it.
    plain = json.dumps(list(texts), ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(digest + plain.encode("utf-8", "surrogatepass")).digest()


def _spoken(digest: bytes) -> str:
    text = digest.hex()[:16]
    return " ".join(text[i : i + 4] for i in range(0, 16, 4))
