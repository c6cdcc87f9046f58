"""A match as one HTML page for spectators: nothing outside it is needed, or ever asked for.

`page.html.jinja` says what stands where, `page.css` how it looks, `page.js` what moves. No script
or style runs but those two files, whose digests the page's Content-Security-Policy names: a text
that slipped through unescaped would still be inert.
"""

from __future__ import annotations

import base64
import contextlib
import errno
import hashlib
import os
import stat
import unicodedata
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from sheets_host.game.auction import Sale
from sheets_host.game.stages import Stage
from sheets_host.stores.base import StoreError
from sheets_host.stores.files import beginning, reason
from sheets_host.tabs.view import View, as_of, stamp
from sheets_host.telling import library
from sheets_host.telling.chart import token_charts, tokens_by_player
from sheets_host.telling.scenes import (
    decided_by,
    offer_of,
    pieces_of,
    squares_of,
    standings_of,
    story_of,
)

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
        "decided_by": decided_by(view.result),
        "offer": offer_of(view),
        "table": standings_of(view),
        "tokens": tokens,
        "charts": token_charts(tokens) if view.ledger.outcomes else (),
        "rounds": [story_of(view, round_) for round_ in view.ledger.outcomes],
        "announced": view.config.rulings.announced,
        "conditions": squares_of(view),
        "pieces": pieces_of(view, engravings),
        "hands": {name: held for name in names if (held := view.ledger.notes(name))},
    }
    text: str = _template().render(context)
    return text


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
    environment.globals |= {"Stage": Stage, "Sale": Sale, "COLOURS": COLOURS}
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
    with _telling(path):
        # Where the path is a link, what it points to is replaced, and the link stays.
        target = Path(os.path.realpath(path))
        if _standing(target, len(data) + 1) == data:
            return False
        _put(target, data)
    return True


def check_place(path: Path) -> None:
    """Raise StoreError where a page could not be put: over another file, a pipe, a folder."""
    with _telling(path):
        target = Path(os.path.realpath(path))
        _standing(target, HEAD)
        if not target.parent.is_dir():
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))


def _standing(path: Path, most: int) -> bytes | None:
    """Return the beginning of a page that stands there, None where nothing does.

    path: with all links followed.
    """
    if path.is_symlink():  # every link was followed: this one leads back to itself
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    if not path.exists():
        return None
    before = beginning(path, max(most, HEAD))
    if before and MARKER not in before[:HEAD]:
        raise StoreError(
            f"{path} is no page that this tool wrote; it was left as it is.",
            "Name another file for the page, or remove this one first.",
        )
    return before


@contextlib.contextmanager
def _telling(path: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise StoreError(
            f"{path}: the page cannot be written ({reason(error)}). Nothing was changed.",
            _advice(path),
        ) from error


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
    with contextlib.suppress(OSError):  # the folder above may let nobody look
        if not path.parent.is_dir():
            return f"Make the folder {path.parent} first, or name another place."
    return "See that the folder may be written to and that the disk has room."
