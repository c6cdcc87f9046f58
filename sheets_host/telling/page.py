"""A match as one HTML page for spectators: nothing outside it is needed, or ever asked for.

`page.html.jinja` says what stands where, `page.css` how it looks, `page.js` what moves. No script
or style runs but those two files, whose digests the page's Content-Security-Policy names: a text
that slipped through unescaped would still be inert.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import stat
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from sheets_host.game.auction import Outcome, Sale
from sheets_host.game.conditions import CONDITIONS, Condition
from sheets_host.game.notes import Note
from sheets_host.game.outlook import Reach, reach
from sheets_host.game.rulings import ROUNDS
from sheets_host.game.scoring import Result
from sheets_host.game.stages import Stage
from sheets_host.grid import Content, Tab
from sheets_host.stores.base import StoreError
from sheets_host.tabs.layout import FIRST, TOOL_HEADER
from sheets_host.tabs.reports import (
    View,
    as_of,
    breakdown,
    deadline,
    lot_state,
    moment_text,
    stamp,
    standing_word,
    standings,
)
from sheets_host.telling import library
from sheets_host.telling.chart import token_charts, tokens_by_player

COLOURS: Final = 12  # that page.css tells apart; further players repeat them, with dashes
MARKER: Final = b'<meta name="generator" content="sheets-host">'
HEAD: Final = 2048  # bytes in which a page of ours has its marker


def render_page(
    view: View,
    *,
    refresh_seconds: int = 60,
    engravings: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return the page. The same arguments always give the same text.

    It tells what the public tabs tell: of an open round the notes, never a bid.
    refresh_seconds: how often the page loads itself anew, 0 for never. engravings: by player, the
    composition as SVG; where one is missing, a picture of its pitches stands alone.
    Raises MissingExtra without Jinja2.
    """
    css, script = _file("page.css"), _file("page.js")
    names = view.match.names
    tokens = tokens_by_player(view.ledger, names)
    context = {
        "policy": _policy(css, script),
        "css": css,
        "script": script,
        "refresh": refresh_seconds,
        "game": view.config.game,
        "as_of": as_of(view)[0],
        "stamp": stamp(view.record),
        "stage": view.match.stage,
        "colours": {name: i for i, name in enumerate(names)},
        "result": view.result,
        "decided_by": _decided_by(view.result),
        "offer": _offer(view),
        "table": _standings(view),
        "tokens": tokens,
        "charts": token_charts(tokens) if view.ledger.outcomes else (),
        "rounds": [_story(view, round_) for round_ in view.ledger.outcomes],
        "announced": view.config.rulings.announced,
        "conditions": _conditions(view),
        "pieces": _pieces(view, engravings),
        "hands": {name: view.ledger.notes(name) for name in names},
    }
    text: str = _template().render(context)
    return text


# --- what the template shows -------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Heading:
    """A column of Standings. numeric: sorts as a number, the greatest first."""

    text: str
    numeric: bool


@dataclass(frozen=True, slots=True)
class Row:
    """A player's row of Standings."""

    player: str
    cells: tuple[Content, ...]


@dataclass(frozen=True, slots=True)
class Standings:
    """The tab Standings, without the columns in which nothing stands yet."""

    headings: tuple[Heading, ...]
    rows: tuple[Row, ...]


def _standings(view: View) -> Standings:
    headers, body = _read(standings(view))
    shown = [c for c in range(len(headers)) if any(row[c] not in (None, "") for row in body)]
    return Standings(
        tuple(Heading(headers[c], any(isinstance(row[c], int) for row in body)) for c in shown),
        tuple(Row(str(row[headers.index("Player")]), tuple(row[c] for c in shown)) for row in body),
    )


def _read(tab: Tab) -> tuple[list[str], list[Sequence[Content]]]:
    """Take a tool tab's header and body: what the page says is what the tab says."""
    return [str(header) for header in tab.rows[TOOL_HEADER - 1]], list(tab.rows[FIRST - 1 :])


@dataclass(frozen=True, slots=True)
class Offer:
    """The notes of the open round. until: when it closes, as people read it, or blank."""

    round: int
    notes: tuple[Note, ...]
    until: str


def _offer(view: View) -> Offer | None:
    stage = view.match.stage
    if stage.round is None or stage.round in view.ledger.outcomes:
        return None
    until = deadline(view, stage)
    notes = view.match.deals.get(stage.round, ())
    return Offer(stage.round, notes, moment_text(until) if until else "")


@dataclass(frozen=True, slots=True)
class Story:
    """A closed round. gains: players and how many notes each won, the most first."""

    round: int
    reopened: bool
    lots: tuple[Outcome, ...]
    gains: tuple[tuple[str, int], ...]
    ties: int
    unsold: int
    bid: int
    last: bool

    @staticmethod
    def bids(lot: Outcome) -> list[tuple[str, int]]:
        """Return every bid on a lot, highest first."""
        return sorted(lot.bids.items(), key=lambda b: (-b[1], b[0].casefold(), b[0]))


def _story(view: View, round_: int) -> Story:
    lots = view.ledger.outcomes[round_]
    won = {name: len(view.ledger.won[name].get(round_, ())) for name in view.match.names}
    gains = sorted(((n, count) for n, count in won.items() if count), key=lambda g: (-g[1], g[0]))
    return Story(
        round_,
        lot_state(view.match, round_) == "open",
        lots,
        tuple(gains),
        sum(lot.sale is Sale.TIE for lot in lots),
        sum(lot.sale is Sale.NO_BIDS for lot in lots),
        sum(view.ledger.balances[round_, name].bid for name in view.match.names),
        round_ == max(view.ledger.outcomes),
    )


@dataclass(frozen=True, slots=True)
class Square:
    """A condition on the board. groups: what is said of whom, such as ``Secure`` and names."""

    condition: Condition
    each: int | None
    groups: tuple[tuple[str, str, tuple[str, ...]], ...]


_REACH: Final = (
    (Reach.SECURE, "Secure"),
    (Reach.POSSIBLE, "Within reach"),
    (Reach.IMPOSSIBLE, "Out of reach"),
)


def _conditions(view: View) -> list[Square]:
    if view.result:
        columns = zip(CONDITIONS, view.result.holders, view.result.each, strict=True)
        return [Square(c, each, (("holds", "", holders),)) for c, holders, each in columns]
    if not view.config.projection or not view.ledger.outcomes:
        return [Square(condition, None, ()) for condition in CONDITIONS]
    table = reach(view.match, view.ledger)
    return [
        Square(
            condition,
            None,
            tuple(
                (
                    how.value,
                    word,
                    tuple(n for n, found in table[condition.number].items() if found is how),
                )
                for how, word in _REACH
            ),
        )
        for condition in CONDITIONS
    ]


@dataclass(frozen=True, slots=True)
class Piece:
    """One player's composition and what it earned. picture: the engraving as an image, or blank.

    why: rows of the tab Breakdown: number, condition, yes or no, why, points.
    """

    player: str
    notes: tuple[Note, ...]
    rank: int
    points: int
    word: str
    picture: str
    why: tuple[Sequence[Content], ...]

    @property
    def melody(self) -> str:
        """What page.js plays: pitch and length in eighths of each note."""
        return " ".join(f"{note.pitch}:{note.eighths}" for note in self.notes)

    @property
    def eighths(self) -> int:
        return sum(note.eighths for note in self.notes)

    def bars(self) -> list[tuple[Note, int]]:
        """Return each note and when it begins, in eighths."""
        at, placed = 0, []
        for note in self.notes:
            placed.append((note, at))
            at += note.eighths
        return placed


def _pieces(view: View, engravings: Mapping[str, str]) -> list[Piece]:
    if view.result is None:
        return []
    _, rows = _read(breakdown(view))
    cards = sorted(view.result.cards, key=lambda c: (c.rank, c.player.casefold(), c.player))
    return [
        Piece(
            card.player,
            card.composition or (),
            card.rank,
            card.points,
            standing_word(view, card.player),
            _picture(engravings.get(card.player, "")) if card.composition else "",
            tuple(row[1:] for row in rows if row[0] == card.player),
        )
        for card in cards
    ]


def _picture(svg: str) -> str:
    """Return an engraving as an image of its own: its ids, styles and links stay inside it."""
    if not svg:
        return ""
    return "data:image/svg+xml;base64," + base64.b64encode(_bytes(svg)).decode("ascii")


def _decided_by(result: Result | None) -> str:
    if result is None or result.winner is None:
        return ""
    return {
        "points": "by points",
        "highest pitch": "tied on points, by the highest pitch",
        "longest note": "tied on points and pitch, by the longest note of that pitch",
    }.get(result.decided_by, "tied in everything, by the host's ruling")


# --- the template ------------------------------------------------------------------------------


@cache
def _template() -> Any:
    """Load the template. What it shows is escaped by itself, and a misspelt name is an error."""
    jinja2 = library("jinja2", "the page", extra="page")
    environment = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["calm"] = _calm
    environment.filters["sharp"] = lambda text: str(text).replace("#", "♯")
    environment.globals |= {"Stage": Stage, "Sale": Sale, "ROUNDS": ROUNDS, "COLOURS": COLOURS}
    return environment.from_string(_file("page.html.jinja"))


def _calm(text: object) -> str:
    """Drop characters that steer the text around them, or that no page may hold."""
    steering = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    return "".join(
        c for c in str(text) if c not in steering and unicodedata.category(c) not in ("Cc", "Cs")
    )


def _file(name: str) -> str:
    return resources.files("sheets_host.telling").joinpath(name).read_text("utf-8")


def _policy(css: str, script: str) -> str:
    """Allow these two texts, pictures that the page holds itself, and nothing else (CSP 3)."""
    return (
        f"default-src 'none'; style-src {_digest(css)}; script-src {_digest(script)};"
        " img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


# --- the file ----------------------------------------------------------------------------------


def write_page(path: Path, html: str) -> bool:
    """Put the page in place, whole or not at all. Returns False where it stands there already.

    A file that is no page of ours is never replaced. Raises StoreError; the file is then as it was.
    """
    data = _bytes(html)
    try:
        # Where the path is a link, what it points to is replaced, and the link stays.
        path = path.resolve()
        before = path.read_bytes() if path.exists() else None
        if before == data:
            return False
        if before and MARKER not in before[:HEAD]:
            raise StoreError(
                f"{path} is no page that this tool wrote; it was left as it is.",
                "Name another file for the page, or remove this one first.",
            )
        _put(path, data)
    except OSError as error:
        raise StoreError(
            f"{path}: the page cannot be written ({error.strerror or error}). Nothing was changed.",
            _advice(path),
        ) from error
    return True


def _put(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            # A web server that may read the old page may read the new one.
            temporary.chmod(stat.S_IMODE(path.stat().st_mode))
        temporary.replace(path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def _advice(path: Path) -> str:
    if path.is_dir():
        return "Name a file in this folder, such as page.html."
    if not path.parent.is_dir():
        return f"Make the folder {path.parent} first, or name another place."
    return "See that the folder may be written to and that the disk has room."
