"""Files to listen to and look at: each composition as MIDI and as SVG, under a safe name."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from sheets_host.game.notes import Note
from sheets_host.telling import MADE_BY
from sheets_host.telling.engraving import engrave
from sheets_host.telling.midi import midi_file

LONGEST: Final = 100  # bytes in UTF-8: file systems stop at 255 bytes, or at 255 characters
NAMELESS: Final = "player"
# What Windows forbids, and with it `/`, all that macOS and Linux do.
_FORBIDDEN: Final = re.compile(r'[<>:"/\\|?*]')
# Devices of Windows (Microsoft's page "Naming Files, Paths, and Namespaces"), whatever follows a
# dot after them.
_RESERVED: Final = re.compile(
    r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])\s*(\.|$)", re.IGNORECASE
)


def listen_files(compositions: Mapping[str, Sequence[Note]], game: str) -> Mapping[str, bytes]:
    """Return by file name a `.mid` and a `.svg` for each player with a note in the composition.

    game: stands in the titles beside the player. Raises MissingExtra without mido or verovio.
    """
    files: dict[str, bytes] = {}
    taken: set[str] = set()
    for player, composition in compositions.items():
        if not composition:
            continue
        name = safe_name(player, taken)
        taken.add(name)
        title = f"{player} – {game}" if game else player
        files[f"{name}.mid"] = midi_file(composition, title)
        files[f"{name}.svg"] = f"{engrave(composition, title)}<!-- {MADE_BY} -->\n".encode()
    return files


def is_ours(data: bytes) -> bool:
    """Tell whether a file's bytes are of a kind that `listen_files` makes."""
    return data.startswith((b"MThd", b"<svg")) and MADE_BY.encode() in data


def safe_name(player: str, taken: Collection[str]) -> str:
    """Return a file name, yet without suffix, that Windows, macOS and Linux all take.

    taken: names given before. What differs from one of them by case or accents' coding alone is
    the same file to some systems, so it gets a number.
    """
    plain = _cut(_cleaned(player), LONGEST) or NAMELESS
    if _RESERVED.match(plain):
        plain = f"_{plain}"
    used = {_key(name) for name in taken}
    name, number = plain, 1
    while _key(name) in used:
        number += 1
        name = f"{_cut(plain, LONGEST - len(str(number)) - 1)} {number}"
    return name


def _cleaned(text: str) -> str:
    spaced = " ".join(_FORBIDDEN.sub("-", unicodedata.normalize("NFC", text)).split())
    # Controls, directions of writing, halves of surrogate pairs, what no font knows.
    visible = "".join(c for c in spaced if unicodedata.category(c)[0] != "C")
    return _trimmed(visible)


def _trimmed(text: str) -> str:
    """Drop what may not end a name on Windows, hides it elsewhere, or looks like an option."""
    return text.strip(" .").lstrip("-. ").rstrip(" .")


def _cut(text: str, most: int) -> str:
    return _trimmed(text.encode()[:most].decode("utf-8", "ignore"))


def _key(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
