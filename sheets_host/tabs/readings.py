"""One cell → what a person meant by it, or why that cannot be told."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Final

from sheets_host.game.notes import Ambiguous, Misspelt, Note, read, tidy
from sheets_host.grid import Cell, Kind, Shape, Strike
from sheets_host.tabs.problems import quoted

PASS_WORDS: Final = ("-", "–", "—", "pass", "x", "no bid")
EXACT: Final = 1e15  # whole numbers beyond it are rounded by spreadsheets


@dataclass(frozen=True, slots=True)
class Word:
    """A remark on a cell: a stable code, what is the matter, what to do."""

    code: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Count:
    """A whole number as read. value: None for blank; wrong: why it cannot be read."""

    value: int | None = None
    wrong: Word | None = None
    notices: tuple[Word, ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Spelt:
    """A note as read. note: None for blank."""

    note: Note | None = None
    wrong: Word | None = None
    notices: tuple[Word, ...] = field(default=())


def unreadable(cell: Cell, wanted: str) -> Word | None:
    """Return why this cell holds nothing that can be read at all; None where it may.

    wanted: what to type instead, such as ``a whole number``. A cell is never guessed at.
    """
    shown = quoted(cell.shown)
    if cell.merge:
        holds = f' and hold "{shown}"' if shown else ""
        return Word(
            "merged",
            f"the cells {cell.merge} are merged{holds}, so it is unclear whose entry this is",
            f"unmerge {cell.merge} and type {wanted} into each cell",
        )
    if cell.formula is not None and not cell.cached:
        return Word(
            "no-stored-value",
            f"the formula {quoted(cell.formula)} has no stored value",
            f"open the workbook in a spreadsheet program and save it, or type {wanted}",
        )
    if cell.kind is Kind.BLANK:
        return None
    if cell.kind is Kind.ERROR:
        if cell.formula is not None:
            told = f"the formula {quoted(cell.formula)} gives the error {shown}"
        elif cell.text.startswith(("#", "Err:")):
            told = f"the cell holds the error {shown}"
        else:
            told = f'the cell holds "{shown}", written as no spreadsheet program writes a value'
        return Word(
            "formula-error",
            told,
            f"clear the cell, mend the formula, or type {wanted}",
        )
    if cell.kind is Kind.BOOLEAN:
        return Word(
            "boolean",
            f"the cell holds {shown}, a yes-or-no value or a checkbox",
            f"type {wanted}",
        )
    if cell.strike is Strike.WHOLE and tidy(cell.text):
        return Word(
            "struck-out",
            f'"{shown}" is struck out, so it is unclear whether it counts',
            f"clear the cell, or type {wanted} without strike-through",
        )
    if cell.strike is Strike.PART:
        return Word(
            "struck-out",
            f'part of "{shown}" is struck out, so it is unclear what counts',
            f"type {wanted} alone, without strike-through",
        )
    if cell.shape is Shape.DATE and cell.kind is Kind.NUMBER:
        return Word(
            "date",
            f"the cell is formatted as a date and holds {shown}, typed so or made by the"
            " spreadsheet from something like 1/2 or 3-4",
            f"set the cell's format to plain text or number and type {wanted}",
        )
    if cell.shape is Shape.TIME and cell.kind is Kind.NUMBER:
        return Word(
            "date",
            f"the cell is formatted as a time of day and holds {shown}, typed so or made by"
            " the spreadsheet from something like 8 A",
            f"set the cell's format to plain text or number and type {wanted}",
        )
    return None


def read_count(cell: Cell, what: str = "bid") -> Count:
    """Read a bid, a number of uses or of garnets (R1, R8, R10)."""
    wanted = "a whole number such as 12"
    wrong = unreadable(cell, wanted)
    if wrong:
        return Count(wrong=wrong)
    if isinstance(cell.value, float):
        return _count_of_number(cell, cell.value, wanted)
    text = tidy(cell.text)
    if not text:
        return Count()
    if text.casefold() in PASS_WORDS:
        return Count(notices=(Word("read-as-blank", f'"{quoted(text)}" is read as no {what}'),))
    bare = "".join(str(ord(c) - 0xFF10) if "０" <= c <= "９" else c for c in _visible(cell.text))
    # 50.0 stays a text where the comma is the decimal point; three zeros might be thousands.
    digits = re.fullmatch(r"([0-9]+)(?:\.00?)?", bare)
    if digits:
        if len(digits[1].lstrip("0")) > 15:
            return Count(wrong=_too_large(text))
        number = int(digits[1].lstrip("0") or "0")  # Python reads no thousands of digits
        told = Word("stored-as-text", f"the number is stored as text; it is read as {number}")
        return Count(number, notices=(told, *_unseen(cell, number)))
    return Count(wrong=_no_count(text, quoted(cell.text), wanted, what))


def _visible(text: str) -> str:
    """Strip white space of all kinds around, and what has no width (pasted from a chat)."""
    import unicodedata

    return "".join(c for c in text if unicodedata.category(c) != "Cf").strip()


def _count_of_number(cell: Cell, number: float, wanted: str) -> Count:
    if not abs(number) < EXACT:
        return Count(wrong=_too_large(cell.shown))
    if cell.shape is Shape.PERCENT:
        return Count(
            wrong=Word(
                "percent",
                f"the cell holds a percentage ({number * 100:g}%), which is the number {number:g}",
                f"set the cell's format to number and type {wanted}",
            )
        )
    notices = []
    whole = round(number)
    if whole != number:
        if abs(number - whole) >= 1e-9:
            hidden = (
                " (the cell's format hides the fraction)" if cell.format in ("0", "#,##0") else ""
            )
            return Count(
                wrong=Word(
                    "not-whole",
                    f"{quoted(cell.shown)} is not a whole number" + hidden,
                    f"type {wanted}",
                )
            )
        notices.append(Word("rounded", f"{quoted(cell.shown)} is read as {whole}"))
    if whole < 0:
        return Count(wrong=Word("negative", f"{whole} is less than 0", f"type {wanted}"))
    if cell.formula is not None:
        notices.append(_of_formula(cell.formula, whole))
    notices += _unseen(cell, whole)
    if cell.shape in _MISLEADING:
        notices.append(
            Word(
                "display-differs",
                f"the cell's format shows something else than the value {whole}, which counts",
            )
        )
    return Count(whole, notices=tuple(notices))


def _unseen(cell: Cell, value: int | Note) -> Iterator[Word]:
    """Tell what nobody can see in the cell: it counts, and may be there by mistake."""
    if cell.unseen:
        yield Word(
            "display-differs",
            f"the cell's font has the colour of its ground, so that its value {value}, which"
            " counts, cannot be seen",
        )


_VOLATILE: Final = re.compile(r"\b(NOW|TODAY|RAND|RANDBETWEEN|OFFSET|INDIRECT)\s*\(", re.IGNORECASE)


def _of_formula(formula: str, value: int | Note) -> Word:
    """Tell that a formula's stored value is what counts; it may be another one tomorrow."""
    changing = _VOLATILE.search(formula)
    return Word(
        "formula",
        f"the formula {quoted(formula)} is read as its stored value, {value}"
        + (f"; with {changing[1].upper()} in it, that changes by itself" if changing else ""),
        "type the value itself" if changing else "",
    )


_MISLEADING: Final = (Shape.SCIENTIFIC, Shape.SCALED, Shape.HIDDEN)


def _too_large(text: str) -> Word:
    return Word(
        "too-large",
        f"{quoted(text)} is larger than any number of tokens",
        "type the number of tokens, digits only",
    )


def _no_count(text: str, shown: str, wanted: str, what: str) -> Word:
    """Say why a text is no number. text: tidied; shown: as it stands, since ² is not 2."""
    if re.fullmatch(r"[0-9]{1,3}([.,'’ ][0-9]{3})+", text):
        with_, without = re.sub(r"[^0-9]", "", text), re.split(r"[^0-9]", text, maxsplit=1)[0]
        return Word(
            "separator",
            f'"{shown}" can be read as {with_} or as {without}',
            "type digits only, without a separator",
        )
    if re.fullmatch(r"[-−–(]\s*[0-9]+\)?", text):
        return Word("negative", f'"{shown}" is less than 0', f"type {wanted}")
    if re.fullmatch(r"[0-9]*[.,][0-9]+", text):
        return Word("not-whole", f'"{shown}" is not a whole number', f"type {wanted}")
    return Word(
        "not-a-number",
        f'"{shown}" is not a whole number',
        "type digits only, or leave the cell blank"
        # Who types a bid may well mean to say that it is none; elsewhere the words only puzzle.
        + (f" ({', '.join(PASS_WORDS[3:])} and a dash are read as blank too)" * (what == "bid")),
    )


def read_note(cell: Cell, held: Collection[Note]) -> Spelt:
    """Read a note of a composition as its player means it (R19, R23, R24)."""
    wanted = "a note such as D# quarter"
    wrong = unreadable(cell, wanted)
    if wrong:
        return Spelt(wrong=wrong)
    text = cell.text if cell.kind is not Kind.BLANK else ""
    if not tidy(text):
        return Spelt()
    shown = quoted(text)
    try:
        note, settled = read(text, held)
    except Misspelt:
        return Spelt(wrong=_misspelt(text))
    except Ambiguous as ambiguous:
        names = _listed(ambiguous.readings)
        if any(reading in held for reading in ambiguous.readings):
            why = f'"{shown}" can mean several of the notes held: {names}'
        else:
            why = f'"{shown}" can mean {names}, none of which the player holds'
        return Spelt(wrong=Word("ambiguous-note", why, f"type {wanted}, in full"))
    notices = []
    if settled:
        notices.append(
            Word("read-as", f'"{shown}" is read as {note}, the only note held that fits')
        )
    if cell.formula is not None:
        notices.append(_of_formula(cell.formula, note))
    notices += _unseen(cell, note)
    return Spelt(note, notices=tuple(notices))


def _listed(notes: Collection[Note]) -> str:
    names = [str(note) for note in notes]
    return ", ".join(names[:4]) + (" and others" if len(names) > 4 else "")


def _misspelt(text: str) -> Word:
    from sheets_host.game.notes import BY_TEXT, readings
    from sheets_host.tabs.problems import did_you_mean

    try:
        readings(text)
    except Misspelt as misspelt:
        why = quoted(str(misspelt), 120)
        if re.fullmatch(r"[A-Ga-g][#b]?\s*-?[0-9]+", tidy(text)):
            why += "; notes have no octave here"
        elif why.endswith("is no note"):  # otherwise it says already what to write
            why += did_you_mean(tidy(text), BY_TEXT)
        return Word(
            "not-a-note",
            why,
            "type a pitch (C to B, # for sharps) and whole, half, quarter or eighth, such as"
            " D# quarter; or clear the cell",
        )
    raise AssertionError(text)
