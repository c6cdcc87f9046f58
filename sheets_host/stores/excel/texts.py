"""Texts of cells: shared and inline strings, rich runs, escapes (ECMA-376 part 1, 18.4)."""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Final, NamedTuple, NoReturn

from sheets_host.stores.base import StoreError
from sheets_host.stores.excel.package import Package
from sheets_host.stores.excel.parsing import MAIN, Enough, local_name, walk

TEXT: Final = MAIN + "t"
_SST: Final = MAIN + "sst"
_SI: Final = MAIN + "si"
_R: Final = MAIN + "r"
_RPR: Final = MAIN + "rPr"
_RPH: Final = MAIN + "rPh"
_PHONETIC_FONT: Final = MAIN + "phoneticPr"
_EXTENSIONS: Final = MAIN + "extLst"
_STRIKE: Final = MAIN + "strike"
_NOT_ASIDE: Final = (TEXT, _R, _RPR, _RPH, _PHONETIC_FONT)

MAX_SHARED: Final = 5_000_000
"""Elements of the shared strings that are stepped through."""
MAX_TEXT: Final = 32_767
"""Characters of a text that are kept: Excel allows no more, and no entry takes so many."""
MAX_ALL_TEXTS: Final = 32 << 20
"""Characters of all shared strings that are kept; each may take 4 bytes."""
MAX_PIECES: Final = 64
"""Pieces of one text, of 64 KB each as the parser hands them over."""


class RichText(NamedTuple):
    """A text in runs and, for those that show something, whether each is struck out.

    None stands for a run without a font of its own: the cell's font decides.
    """

    text: str
    struck: frozenset[bool | None]


Text = str | RichText
"""What a string item holds. A plain text is a plain str: there are many, and they must be cheap."""


def on(attributes: dict[str, str]) -> bool:
    """Tell whether a font property such as ``<strike/>`` is set; its value defaults to true."""
    return attributes.get("val", "1") not in ("0", "false")


def kept(text: str) -> str:
    """Return a text within MAX_TEXT, or its beginning, which then ends so that it reads as none."""
    return text if len(text) <= MAX_TEXT else text[:MAX_TEXT] + "…"


class Runs:
    """Gathers string items, ``<si>`` or ``<is>``, one after the other, without phonetic runs.

    pieces: where the parser puts text. refuse: is told what does not belong in an item, which may
    be what was a text.
    """

    def __init__(self, pieces: list[str], refuse: Callable[[str], NoReturn]) -> None:
        self.pieces = pieces
        self._refuse = refuse
        self._texts: list[str] = []
        self._rich = False
        self._flags: set[bool | None] = set()
        self._struck: bool | None = None
        self._in_text = False
        self._run = ""  # the run of either kind that is being read
        self._aside = ""  # the font of a run, or of the phonetic ones: no text stands there

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Take an element's start inside the item."""
        if self._in_text or (self._aside and tag in _NOT_ASIDE):
            self._refuse(f'a "{local_name(tag)}"')
        if self.pieces:
            self.nothing_bare()
        if tag == TEXT:
            self._in_text = True
        elif self._aside:
            if tag == _STRIKE:
                self._struck = on(attributes)
        elif tag in (_R, _RPH) and not self._run:
            self._rich = True
            self._run = tag
        elif tag == _RPR and self._run == _R:
            self._struck = False
            self._aside = tag
        elif tag == _PHONETIC_FONT:
            self._aside = tag
        else:
            self._refuse(f'a "{local_name(tag)}"')

    def end(self, tag: str) -> None:
        """Take an element's end inside the item."""
        pieces = self.pieces
        if tag == TEXT:
            text = pieces[0] if len(pieces) == 1 else "".join(pieces)
            pieces.clear()
            self._in_text = False
            if self._run != _RPH:
                self._texts.append(text)
                if self._rich and text.strip():
                    self._flags.add(self._struck)
            return
        if pieces:
            self.nothing_bare()
        if tag == self._run:
            self._run = ""
            self._struck = None
        elif tag == self._aside:
            self._aside = ""

    def taken(self) -> Text:
        """Return the item, and begin the next."""
        if self.pieces:
            self.nothing_bare()
        texts = self._texts
        text = kept(texts[0] if len(texts) == 1 else "".join(texts))
        texts.clear()
        if "_x" in text:
            text = unescaped(text)
        if not self._rich:
            return text
        flags = frozenset(self._flags or (None,))
        self.__init__(self.pieces, self._refuse)  # type: ignore[misc]
        return RichText(text, flags)

    def nothing_bare(self) -> None:
        """Refuse text outside the elements where text belongs; white space there means nothing."""
        if "".join(self.pieces).strip():
            self._refuse("bare text")
        self.pieces.clear()


_ESCAPE: Final = re.compile(r"_x([0-9A-Fa-f]{4})_")


def unescaped(text: str) -> str:
    """Return a text with ``_x000D_`` and the like turned into what they stand for (22.9.2.19)."""
    text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
    # Two escapes can make up one character beyond the first plane; a half one is no character.
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def shared_texts(package: Package, wanted: AbstractSet[int]) -> dict[int, Text]:
    """Return those shared strings that are wanted and there, by their index.

    The part is read piece by piece and no further than needed; it may be of any size.
    """
    part = package.shared_strings
    if part is None or not wanted:
        return {}
    name = package.name
    last = max(wanted)
    found: dict[int, Text] = {}
    left = MAX_ALL_TEXTS
    index = 0
    pieces: list[str] = []

    def refuse(what: str) -> NoReturn:
        raise StoreError(
            f"{name}: the part {part} is damaged: {what} does not belong in text {index}.",
            "Restore an earlier copy, or open it in Excel or LibreOffice and save it again.",
        )

    runs = Runs(pieces, refuse)
    within = ""  # the item, or what else the table holds
    deeper = 0  # elements of it that are open

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal deeper, within
        if within == _SI:
            runs.start(tag, attributes)
        elif within:
            deeper += 1
            pieces.clear()
        elif tag in (_SI, _EXTENSIONS):
            within = tag
            runs.nothing_bare()
        elif tag != _SST:
            refuse(f'a "{local_name(tag)}"')

    def end(tag: str) -> None:
        nonlocal deeper, index, left, within
        if within == _SI and tag != _SI:
            runs.end(tag)
            return
        if within == _EXTENSIONS:
            pieces.clear()
            within = within if deeper else ""
            deeper -= bool(deeper)
            return
        within = ""
        if tag != _SI:
            return
        text = runs.taken()
        if index in wanted:
            found[index] = text
            left -= len(text) if isinstance(text, str) else len(text.text)
            if left < 0:
                raise StoreError(
                    f"{name}: the texts of the game's tabs are more than can be read.",
                    "Clear on them what does not belong to the game.",
                )
        if index == last:
            raise Enough
        index += 1

    def text(piece: str) -> None:
        pieces.append(piece)
        if len(pieces) > MAX_PIECES:
            raise StoreError(
                f"{name}: the part {part} holds a text of more than {MAX_PIECES // 16} MB.",
                "Take that text out of the workbook.",
            )

    walk(package.pieces(part), part, name, start, end, text, MAX_SHARED)
    return found
