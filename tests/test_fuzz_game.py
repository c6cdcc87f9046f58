"""Random damage to a game's workbook: no traceback, no hang, no half a file, no wrong bid.

The budget runs in a few seconds; ``FUZZ_SECONDS=600 pytest tests/test_fuzz_game.py`` looks on,
with a new seed each time. A failure names its seed: ``FUZZ_SEED=… FUZZ_SECONDS=0`` repeats it.
"""

from __future__ import annotations

import os
import random
import re
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from sheets_host.game.record import RecordBroken
from sheets_host.game.stages import Stage
from sheets_host.host.gathering import Table
from sheets_host.host.verbs import Wish, check, sync
from sheets_host.stores.base import StoreError
from sheets_host.stores.excel.package import Package
from sheets_host.tabs.layout import TOOL_TABS
from sheets_host.tabs.problems import DamagedTabs, Problem
from tests.in_place import InPlace, packed
from tests.playing import bid, close, context, exchange, start

SECONDS: Final = float(os.environ.get("FUZZ_SECONDS", "0"))
SEED: Final = os.environ.get("FUZZ_SEED")
RUNS: Final = 40
"""Runs of each kind of damage where no time is given; fewer where nothing is damaged."""
LONGEST: Final = 5.0
"""Seconds that one command may take, on the slowest machine that tests run on."""

REFUSALS: Final = (StoreError, DamagedTabs, RecordBroken)
"""What the command turns into plain words and an exit code; anything else is a traceback."""

Bids = dict[tuple[str, str], str]
"""What each cell of the open round is read as, by player and cell."""


@dataclass(frozen=True)
class Game:
    """A game's file in round 2, and its bids as the sound file echoes them."""

    data: bytes
    parts: dict[str, bytes]
    bids: Bids
    notices: frozenset[Problem]


@pytest.fixture(scope="module", params=["as new wrote it", "as openpyxl saved it"])
def game(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Game:
    path = tmp_path_factory.mktemp("fuzz") / "game.xlsx"
    desk = InPlace(path)
    start(desk, "Ann:3", "Bob", "Cay:1")
    bid(desk, "Ann", 1, {1: 50, 4: 3})
    bid(desk, "Bob", 1, {1: 49, 2: "x"})
    close(desk, 1)
    bid(desk, "Ann", 2, {1: 41, 2: 0, 7: "12"})
    bid(desk, "Bob", 2, {1: 17, 8: 30})
    bid(desk, "Cay", 2, {3: 99, 4: 1, 5: 2, 6: 88})
    exchange(desk, "Ann", 2, 1)
    sync(desk, Wish(), context())
    if request.param == "as openpyxl saved it":
        import openpyxl

        book = openpyxl.load_workbook(path)  # shared strings, other styles, another order
        book.save(path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    table = check(desk, context())
    bids = echoed(table)
    assert len(bids) == 10
    return Game(path.read_bytes(), parts, bids, frozenset(table.problems))


def echoed(table: Table) -> Bids:
    receipts = (r for entry in table.entries.values() for r in entry.receipts)
    return {(r.player, f"{r.tab}!{r.cell}"): r.reading.rpartition(": ")[2] for r in receipts}


# --- damage ------------------------------------------------------------------------------------

_TAG: Final = re.compile(rb"<[^<>]*>")
_ATTRIBUTE: Final = re.compile(rb'([\w:]+)="([^"]*)"')


def flipped(data: bytes, rng: random.Random) -> bytes:
    """Some bits of the file turned round."""
    damaged = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 20))):
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def cut(data: bytes, rng: random.Random) -> bytes:
    """A piece of the file gone, doubled, zeroed, or its end gone."""
    start = rng.randrange(len(data))
    end = min(len(data), start + rng.choice((1, 30, 512, 4096)))
    return rng.choice(
        (
            data[:start],
            data[:start] + data[end:],
            data[:end] + data[start:],
            data[:start] + bytes(end - start) + data[end:],
        )
    )


def swapped_tags(part: bytes, rng: random.Random) -> bytes:
    """Two tags of a part in each other's place."""
    tags = list(_TAG.finditer(part))
    if len(tags) < 2:
        return part
    one, two = sorted(rng.sample(tags, 2), key=lambda tag: tag.start())
    return b"".join(
        (part[: one.start()], two[0], part[one.end() : two.start()], one[0], part[two.end() :])
    )


def renamed_element(part: bytes, rng: random.Random) -> bytes:
    """One element, start and end, under another name: well-formed, and nonsense."""
    starts = list(re.finditer(rb"<([\w:]+)", part))
    if not starts:
        return part
    found = rng.choice(starts)
    name = found[1]
    other = rng.choice((name[:-1] + b"z", b"v", b"c", b"row", b"t", b"f", b"is", b"si", b"x"))
    tag = _TAG.match(part, found.start())
    assert tag
    closed = tag[0].endswith(b"/>")
    # Its own end is the first of its name, where no other of its name is inside it.
    end = len(part) if closed else part.find(b"</" + name + b">", tag.end())
    closing = part[end:].replace(b"</" + name + b">", b"</" + other + b">", 1)
    return part[: found.start()] + b"<" + other + part[found.end() : end] + closing


def garbled_attribute(part: bytes, rng: random.Random) -> bytes:
    """An attribute's name or value replaced by another's of the part, or by nonsense."""
    found = list(_ATTRIBUTE.finditer(part))
    if not found:
        return part
    target, other = rng.choice(found), rng.choice(found)
    group = rng.choice((1, 2, 2))
    junk = rng.choice((other[group], b"", b"~", b"-1", b"99999999999", b"A0", b"\xff", b"&#0;"))
    return part[: target.start(group)] + junk + part[target.end(group) :]


def cut_piece(part: bytes, rng: random.Random) -> bytes:
    """A piece of a part's markup gone, from one tag's start to another's."""
    at = [tag.start() for tag in _TAG.finditer(part)]
    start = rng.choice(at or [0])
    later = [each for each in at if start < each < start + 2_000]
    return part[:start] + part[rng.choice(later or [len(part)]) :]


def scrambled(part: bytes, rng: random.Random) -> bytes:
    """Any byte of a part replaced by any other."""
    if not part:
        return part
    at = rng.randrange(len(part))
    return part[:at] + bytes([rng.randrange(256)]) + part[at + 1 :]


def reordered(parts: dict[str, bytes], rng: random.Random) -> dict[str, bytes]:
    """The same parts in another order: no damage at all."""
    names = list(parts)
    rng.shuffle(names)
    return {name: parts[name] for name in names}


def mixed_up(parts: dict[str, bytes], rng: random.Random) -> dict[str, bytes]:
    """Two parts under each other's name, one gone, or one renamed."""
    one, two = rng.sample(list(parts), 2)
    damaged = dict(parts)
    match rng.randrange(3):
        case 0:
            damaged[one], damaged[two] = damaged[two], damaged[one]
        case 1:
            del damaged[one]
        case _:
            damaged[one + "x"] = damaged.pop(one)
    return damaged


def of_file(damage: Callable[[bytes, random.Random], bytes]) -> Callable[..., bytes]:
    return lambda game, rng: damage(game.data, rng)


def of_parts(
    damage: Callable[[dict[str, bytes], random.Random], dict[str, bytes]],
) -> Callable[..., bytes]:
    return lambda game, rng: packed(damage(game.parts, rng))


def of_part(damage: Callable[[bytes, random.Random], bytes]) -> Callable[..., bytes]:
    """Damage inside one part or two, whose checksums then fit: as a faulty program leaves it."""

    def made(game: Game, rng: random.Random) -> bytes:
        parts = dict(game.parts)
        for _ in range(rng.choice((1, 1, 2))):
            # Entries, texts and styles more often than reports, of which there is more.
            name = rng.choice(
                (
                    rng.choice(list(parts)),
                    *(n for n in parts if re.search(r"sheet[456]\.|Strings|styles|workbook", n)),
                )
            )
            parts[name] = damage(parts[name], rng)
        return packed(parts)

    return made


DAMAGES: Final[dict[str, tuple[Callable[[Game, random.Random], bytes], bool]]] = {
    # How, and whether the file may say afterwards, as any reader finds, that others were typed.
    "bits flipped": (of_file(flipped), False),
    "pieces of the file cut": (of_file(cut), False),
    "entries reordered": (of_parts(reordered), False),
    "parts mixed up": (of_parts(mixed_up), False),
    "tags swapped": (of_part(swapped_tags), True),
    "elements renamed": (of_part(renamed_element), False),
    "attributes garbled": (of_part(garbled_attribute), True),
    "pieces of parts cut": (of_part(cut_piece), True),
    "bytes of parts replaced": (of_part(scrambled), True),
}


# --- what must hold ----------------------------------------------------------------------------


def seeds(kind: str) -> Iterator[int]:
    """Yield seeds: the one asked for; the same few each time; or new ones until time is up."""
    if SEED:
        yield int(SEED)
    elif not SECONDS:
        yield from range(RUNS // 8 if kind == "entries reordered" else RUNS)
    else:
        end = time.monotonic() + SECONDS / len(DAMAGES) / 2
        while time.monotonic() < end:
            yield random.SystemRandom().randrange(10**12)


@pytest.mark.parametrize("kind", DAMAGES)
def test_damage__is_named_or_harmless(kind: str, game: Game, tmp_path: Path) -> None:
    damage, may_say_so = DAMAGES[kind]
    ends: Counter[str] = Counter()
    for seed in seeds(kind):
        data = damage(game, random.Random(f"{kind} {seed}"))
        path = tmp_path / "game.xlsx"
        path.write_bytes(data)
        try:
            ends[attempt(game, path, data, may_say_so)] += 1
        except Exception as error:
            error.add_note(f"damage: {kind}, seed {seed}; the file: {path}")
            raise
    print(kind, dict(ends))
    assert kind != "entries reordered" or ends.keys() == {"unharmed"}


def attempt(game: Game, path: Path, data: bytes, may_say_so: bool) -> str:
    """Check and sync a damaged file; return how it ended."""
    desk = InPlace(path)
    start = time.monotonic()
    try:
        table = check(desk, context())
    except REFUSALS:
        table = None
    assert path.read_bytes() == data, "check changed the file"
    named = table is None or compare(game, table, path, may_say_so)
    try:
        done = sync(desk, Wish(close=Stage.ROUND_2), context())
    except REFUSALS:
        assert path.read_bytes() == data, "a refused sync changed the file"
        return "refused"
    assert time.monotonic() - start < LONGEST
    assert table is not None, "sync wrote what check refused to read"
    if path.read_bytes() != data:
        check_whole(data, path)
    if not done.closed:
        return "held"
    again = check(desk, context())
    assert again.match.stage is Stage.ROUND_3
    for name, entry in table.entries.items():
        assert again.ledger.balances[2, name].bid == entry.slip.total
    return "named" if named else "unharmed"


def compare(game: Game, table: Table, path: Path, may_say_so: bool) -> bool:
    """Every bid is echoed as it was typed, or a problem or notice names it; tell whether any was.

    may_say_so: or openpyxl, too, finds that the damaged file says what is echoed.
    """
    bids = echoed(table)
    new = [problem for problem in table.problems if problem not in game.notices]
    named = {(p.player, f"{p.tab}!{p.cell}") for p in new}
    stray = {key for key in bids.keys() | game.bids.keys() if bids.get(key) != game.bids.get(key)}
    for key in stray - named:
        assert may_say_so, f"{key} was {game.bids.get(key)}, is read as {bids.get(key)}"
        assert said_by_openpyxl(path, key[1]) == bids.get(key), key
    return bool(stray)


def said_by_openpyxl(path: Path, where: str) -> str | None:
    """Return what openpyxl reads in a cell, as an echo would say it."""
    import openpyxl

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        book = openpyxl.load_workbook(path, data_only=True)
    tab, _, cell = where.partition("!")
    value = book[tab][cell].value
    return None if value is None else str(value)


def check_whole(before: bytes, path: Path) -> None:
    """What was written is a whole workbook, and its other parts are as they were."""
    old, new = Package.open(before, "before"), Package.open(path.read_bytes(), "after")
    ours = {sheet.part for sheet in old.sheets if sheet.title in TOOL_TABS}
    shared = {old.workbook, old.styles, "[Content_Types].xml", old.relationships_part(old.workbook)}
    # The charts of the tool's own tabs are drawn anew where lines are missing from them.
    ours |= {
        chart.target
        for part in ours
        for drawing in old.related(part, "drawing")
        for chart in old.related(drawing.target, "chart")
    }
    ours |= {old.relationships_part(part) for part in ours}
    for name in old.names:
        if name not in ours | shared and "calcChain" not in name:
            assert new.packed(name) == old.packed(name), name
    assert [sheet.title for sheet in new.sheets] == [sheet.title for sheet in old.sheets]
    for name in new.names:
        new.part(name)
