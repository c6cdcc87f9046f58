"""What people really type, and what spreadsheet programs make of it: cell by cell, in real files.

Each case stands in a cell of a real workbook and is read as `check` reads it. A cell is read as
something, or it is a problem, and what may surprise is told in a notice: nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import openpyxl
import pytest
from openpyxl.styles import Font, PatternFill

from sheets_host.game.notes import Note, readings
from sheets_host.game.stages import Stage
from sheets_host.host.gathering import Table
from sheets_host.host.verbs import Wish, sync
from sheets_host.stores.excel import ExcelStore
from sheets_host.tabs.entry_tabs import BIDS_HEADER, COMPOSITIONS_HEADER, EXCHANGES_HEADER
from sheets_host.tabs.problems import Severity
from tests.playing import NOW, close, context, look, start
from tests.workbook import (
    NOTHING,
    Content,
    Workbook,
    boolean,
    error,
    formula,
    inline,
    iso_date,
    number,
    opened,
    phonetic,
    quoted,
    result,
    rich,
    struck,
    text,
)

B, X, P = BIDS_HEADER, EXCHANGES_HEADER, COMPOSITIONS_HEADER
"""The header rows of Bids, Exchanges and Compositions, as `new` makes them."""
BID, NEXT_BID, BOBS_BID, HEADER = f"E{B + 1}", f"E{B + 2}", f"F{B + 1}", f"E{B}"
USES, GARNETS = f"C{X + 1}", "B2"
POSITION, HEADER_OF_COMPOSITION = f"B{P + 1}", f"B{P}"
HELD: Final = (
    "D# quarter", "C# quarter", "C# half", "A eighth",
    "D whole", "D half", "F quarter", "B quarter",
)  # fmt: skip
"""What Ann holds when she composes: one D# and one eighth, two C# and two D."""


# --- the table ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Case:
    """One cell. read: as what it is read, None for a blank; problem and notices: codes.

    says: what the problem or the notices must say, besides where they stand.
    """

    id: str
    content: Content
    read: str | None = None
    problem: str | None = None
    notices: tuple[str, ...] = ()
    says: tuple[str, ...] = ()


def accepted(id_: str, content: Content, value: object, *notices: str, says: str = "") -> Case:
    return Case(id_, content, str(value), None, notices, (says,) if says else ())


def blank(id_: str, content: Content, *notices: str) -> Case:
    return Case(id_, content, None, None, notices)


def refused(id_: str, content: Content, problem: str, *says: str) -> Case:
    return Case(id_, content, None, problem, (), says)


def formatted(code: str | int, value: float | str) -> Content:
    return number(value, code)


COUNTS: Final = (
    # Numbers, as they are stored when they are typed plainly.
    accepted("plain", number(50), 50),
    accepted("zero", number(0), 0),
    accepted("minus zero", number("-0"), 0),
    accepted("with a point", number("50.0"), 50),
    accepted("exponent", number("5E1"), 50),
    accepted("thousands shown", formatted("#,##0", 400), 400),
    accepted("thousands typed in a German sheet are 1", number(1), 1),
    accepted("currency", formatted('"€"#,##0.00', 5), 5),
    accepted("accounting", formatted(44, 5), 5),
    accepted("fraction format of a whole number", formatted("# ?/?", 5), 5),
    accepted("text format, still a number", formatted("@", 50), 50),
    accepted("scientific", formatted("0.00E+00", 50), 50, "display-differs"),
    accepted("shown in thousands", formatted("0,", 400), 400, "display-differs", says="400"),
    accepted("shown as nothing", formatted(";;;", 50), 50, "display-differs"),
    accepted("a hair beside", number(50.00000000000001), 50, "rounded", says="50"),
    # Numbers that are texts.
    accepted("text", text("50", "@"), 50, "stored-as-text"),
    accepted("inline text", inline("50"), 50, "stored-as-text"),
    accepted("after an apostrophe", quoted(text("50")), 50, "stored-as-text"),
    accepted("spaces around", text(" 50 ", "@"), 50, "stored-as-text"),
    accepted("no-break space", text("50\xa0", "@"), 50, "stored-as-text"),
    accepted("zero-width space", text("\u200b50"), 50, "stored-as-text"),
    accepted("line break", text("50\n"), 50, "stored-as-text"),
    accepted("escaped carriage return", text("50_x000D_"), 50, "stored-as-text"),
    accepted("full-width digits", text("１００"), 100, "stored-as-text", says="100"),
    accepted("leading zeros", text("00050"), 50, "stored-as-text"),
    accepted("text with a point and a zero", text("50.0"), 50, "stored-as-text"),
    accepted("with its reading above", phonetic("50", "ごじゅう"), 50, "stored-as-text"),
    accepted("rich text, nothing struck", rich(("5", False), ("0", False)), 50, "stored-as-text"),
    # Formulas count with the value that is stored beside them.
    accepted("formula", formula("10+5", number(15)), 15, "formula", says="=10+5"),
    accepted(
        "formula that changes by itself",
        formula("RANDBETWEEN(1,9)", number(4)), 4, "formula", says="RANDBETWEEN in it",
    ),
    accepted(
        "formula with a hair beside", formula("5*10.000000000000002", number(50.00000000000001)),
        50, "rounded", "formula",
    ),
    accepted(
        "formula with a text", formula('"5"&"0"', result("50")), 50, "stored-as-text",
    ),
    # No bid.
    blank("nothing", NOTHING),
    blank("spaces only", text(" \xa0 ")),
    blank("empty text of a formula", formula('""', result(""))),
    blank("empty shared text", text("")),
    *(
        blank(f"pass word {word}", text(word), "read-as-blank")
        for word in ("-", "–", "—", "x", "X", "pass", "PASS", " Pass ", "no bid", "No  Bid", "ｘ")
    ),
    # Numbers that are no bid.
    refused("half", number(50.5), "not-whole", "50.5"),
    refused("half that its format hides", formatted("0", 50.4), "not-whole", "50.4", "hides"),
    refused("half a fraction", formatted("# ?/?", 0.5), "not-whole", "0.5"),
    refused("negative", number(-3), "negative", "-3"),
    refused("negative in brackets", formatted("0_);(0)", -5), "negative", "-5"),
    refused("percent", formatted("0%", 0.5), "percent", "50%", "0.5"),
    refused("percent of a whole number", formatted("0%", 50), "percent", "5000%", "50"),
    refused("largest number", number("1.7976931348623157E+308"), "too-large"),
    refused("twenty digits", number("1.23456789012346E+19"), "too-large"),
    refused("sixteen digits of text", text("1234567890123456"), "too-large"),
    refused("infinity", number("INF"), "formula-error", "INF"),
    # Dates and times: never the serial behind them.
    refused("1/2 became a date", formatted(16, 46024), "date", "2 Jan 2026", "date"),
    refused("1/2 in LibreOffice", formatted("mm/dd/yy", 46024), "date", "2 Jan 2026"),
    refused("50 in a cell for dates", formatted(14, 50), "date", "formatted as a date"),
    refused("0 in a cell for dates", formatted(14, 0), "date", "formatted as a date"),
    refused("10:30 became a time", formatted("h:mm", 0.4375), "date", "10:30", "time of day"),
    refused("8 A became a time", formatted("h:mm AM/PM", 1 / 3), "date", "08:00"),
    refused("elapsed time", formatted("[h]:mm", 2.0625), "date", "time of day"),
    refused("date and time", formatted(22, 46024.75), "date", "18:00"),
    refused("a date in words", iso_date("2026-01-02"), "date", "2 Jan 2026"),
    # Values of other kinds.
    refused("true", boolean(True), "boolean", "TRUE"),
    refused("false, or an unticked checkbox", boolean(False), "boolean", "FALSE"),
    refused("true by formula", formula("1=1", boolean(True)), "boolean", "TRUE"),
    refused("formula without a value", formula("10+5"), "no-stored-value", "=10+5", "save it"),
    refused("empty text without a value", formula('""'), "no-stored-value", '=""'),
    *(
        refused(f"error {code}", formula("1/0", error(code)), "formula-error", code, "=1/0")
        for code in ("#REF!", "#NAME?", "#DIV/0!", "#N/A", "#VALUE!", "#NUM!", "#NULL!", "#SPILL!")
    ),
    refused("pass typed after =", formula("pass", error("#NAME?")), "formula-error", "=pass"),
    refused("error pasted as a value", error("#N/A"), "formula-error", "holds the error #N/A"),
    # Strike-through: what is meant cannot be told.
    refused("struck out", struck(number(50)), "struck-out", "50"),
    refused("struck out text", struck(text("50")), "struck-out", "50"),
    refused("partly struck", rich(("40", True), (" 50", False)), "struck-out", "40 50"),
    refused("struck run by run", rich(("4", True), ("0", True)), "struck-out", "40"),
    blank("struck out and empty", struck(NOTHING)),
    # Texts that are no whole number.
    *(
        refused(f"separator in {words}", text(words), "separator", "without a separator")
        for words in ("1,000", "1.000", "1 000", "1'000", "1’000", "1\u202f000", "1.000.000")
    ),
    *(refused(f"fraction {words}", text(words), "not-whole", words) for words in ("50,5", "5.5")),
    *(refused(f"negative {words}", text(words), "negative") for words in ("-3", "−3", "(5)")),
    *(
        refused(f"text {words}", text(words), "not-a-number", f'"{words}"', "no bid")
        for words in (
            "n/a", "none", "p", "3-4", "1-2", "5 tokens", "5t", "~5", "5*", "5?", "five", "五",
            "½", "²", "٥", "Ⅴ", "⑤", "5;6", "5/6", "5€", "$5", "8 A", "#REF!", "TRUE", "1e400",
            "5e1", "0x32", "+5", "5 0", "=5", "🎵",
        )
    ),
)  # fmt: skip


def parsed(notes: Sequence[str]) -> tuple[Note, ...]:
    return tuple(readings(note)[0] for note in notes)


SPELLINGS: Final = (
    # As the tool writes it, and every other spelling of a held note.
    *(
        accepted(f"spelt {words}", text(words, "@"), "D# quarter")
        for words in (
            "D# quarter", "d# quarter", "D♯ quarter", "D＃ quarter", "D # quarter", "D#quarter",
            "D# Quarter", "D# QUARTER", " D#  quarter ", "D#\xa0quarter", "D# q", "D# Q", "d#q",
            "D# 1/4", "D#/4", "D#-1/4", "1/4 D#", "quarter D#", "D#, quarter", "D# quarter note",
            "D#\u200b quarter", "D# ¼", "Eb quarter", "E♭ q", "eb 1/4", "D# quarter\n",
        )
    ),
    accepted("inline", inline("D# quarter"), "D# quarter"),
    accepted("with its reading above", phonetic("D# quarter", "れ"), "D# quarter"),
    accepted("whole", text("D whole"), "D whole"),
    accepted("whole as 1/1", text("D 1/1"), "D whole"),
    accepted("eighth", text("A e"), "A eighth"),
    accepted("eighth as 1/8", text("A 1/8"), "A eighth"),
    accepted("B stays B", text("b q"), "B quarter"),
    accepted(
        "formula", formula('"D#"&" quarter"', result("D# quarter")), "D# quarter", "formula",
    ),
    # What could mean several notes is held against what Ann holds.
    accepted("pitch alone", text("D#"), "D# quarter", "read-as", says="the only note held"),
    accepted("flat alone", text("Eb"), "D# quarter", "read-as"),
    accepted("pitch and half, one half held", text("C# 1/2"), "C# half", "read-as"),
    accepted("pitch and half, one eighth held", text("A 1/2"), "A eighth", "read-as"),
    accepted("number 4 of a pitch held whole", text("D4"), "D whole", "read-as"),
    accepted("number 4 of a pitch held quarter", text("C#4"), "C# quarter", "read-as"),
    accepted("duration alone", text("1/8"), "A eighth", "read-as"),
    accepted("a number cell", number(8), "A eighth", "read-as"),
    # Blanks between are skipped.
    blank("nothing", NOTHING),
    blank("spaces only", text("  ")),
    blank("empty text of a formula", formula('""', result(""))),
    # What could mean several notes that are held, or none of them.
    refused("two of one pitch", text("C#"), "ambiguous-note", "C# half, C# quarter", "in full"),
    refused("flat of two", text("Db"), "ambiguous-note", "C# half, C# quarter"),
    refused("half or eighth of any pitch", text("1/2"), "ambiguous-note", "A eighth"),
    refused("number of a pitch not held", text("C4"), "ambiguous-note", "C whole, C quarter"),
    refused("E alone, not held", text("E"), "ambiguous-note", "E eighth"),
    refused("C with an octave that no duration is", text("C5"), "not-a-note", '"C5"', "octave"),
    refused("an octave of C#", text("C#6"), "not-a-note", '"C#6"', "octave"),
    # Names that this game does not have.
    refused("H", text("H quarter"), "not-a-note", "B"),
    refused("E sharp", text("E# quarter"), "not-a-note", "write F"),
    refused("B sharp", text("B# quarter"), "not-a-note", "write C"),
    refused("C flat", text("Cb quarter"), "not-a-note", "write B"),
    refused("F flat", text("Fb quarter"), "not-a-note", "write E"),
    refused("crotchet", text("D# crotchet"), "not-a-note", "D# crotchet"),
    refused("misspelt", text("D# quater"), "not-a-note", 'nearest is "D# quarter"'),
    refused("two notes", text("D# quarter, C# half"), "not-a-note"),
    refused("double sharp", text("D## quarter"), "not-a-note"),
    refused("solmisation", text("re quarter"), "not-a-note"),
    refused("a pass word", text("-"), "not-a-note"),
    # Notes that are not Ann's.
    refused("not held", text("G whole"), "note-not-held", "G whole", "Ann"),
    # What is no text of hers.
    refused("1/4 became a date", formatted(16, 46026), "date", "4 Jan 2026", "D# quarter"),
    refused("8 A became a time", formatted("h:mm AM/PM", 1 / 3), "date", "8 A"),
    refused("true", boolean(True), "boolean", "TRUE"),
    refused("error", formula("D", error("#NAME?")), "formula-error", "#NAME?"),
    refused("formula without a value", formula("Auction!C5"), "no-stored-value", "=Auction!C5"),
    refused("struck out", struck(text("D# quarter")), "struck-out", "D# quarter"),
    refused("partly struck", rich(("D#", True), ("C# half", False)), "struck-out"),
)  # fmt: skip


# --- the workbooks -----------------------------------------------------------------------------


def store(path: Path) -> ExcelStore:
    return ExcelStore(path, clock=lambda: NOW)


@pytest.fixture(scope="module")
def round_1(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A match in round 1 of Ann with 20 garnets, Bob and Eve."""
    path = tmp_path_factory.mktemp("round-1") / "game.xlsx"
    start(store(path), "Ann:20", "Bob", "Eve")
    return path.read_bytes()


@pytest.fixture(scope="module")
def composing(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The same in composing: the host chose round 2's notes, and Ann won all of them."""
    path = tmp_path_factory.mktemp("composing") / "game.xlsx"
    start(store(path), "Ann", "Bob", "Eve", seed=SPARING_SEED)
    book = Workbook(path)
    with opened(path) as sheets:
        settings = sheets["Settings"]
        row = next(r for r in range(1, 60) if settings.cell(r, 1).value == "Round 2 notes")
    book.put("Settings", f"B{row}", text(", ".join(HELD)))
    for lot in range(8):
        book.put("Bids", f"E{B + 9 + lot}", number(lot))
    book.save()
    for round_ in range(1, 7):
        close(store(path), round_)
    return path.read_bytes()


SPARING_SEED: Final = "seed"
"""A seed whose first round has none of the notes that the host chooses for the second."""


def read_with(data: bytes, path: Path, *puts: tuple[str, str, Content]) -> Table:
    """Put contents into a workbook's cells, and read it as `check` does."""
    path.write_bytes(data)
    book = Workbook(path)
    for tab, cell, content in puts:
        book.put(tab, cell, content)
    book.save()
    return look(store(path))


def as_read(table: Table, tab: str, cell: str) -> str | None:
    """What the receipt says that a cell is read as; None where there is none."""
    found = [r.reading for r in table.receipts if (r.tab, r.cell) == (tab, cell)]
    assert len(found) <= 1
    return found[0].rpartition(": ")[2] if found else None


def told(table: Table, tab: str, cell: str, severity: Severity) -> list[str]:
    return [p.code for p in table.problems if (p.tab, p.cell, p.severity) == (tab, cell, severity)]


def hold(case: Case, table: Table, tab: str, cell: str, shown: bool = True) -> None:
    """Hold what a table says of a cell against a case."""
    problems = told(table, tab, cell, Severity.PROBLEM)
    assert problems == ([case.problem] if case.problem else [])
    assert sorted(told(table, tab, cell, Severity.NOTICE)) == sorted(case.notices)
    if shown:
        assert as_read(table, tab, cell) == case.read
    words = " ".join(f"{p.message} {p.hint}" for p in table.problems if p.cell == cell)
    for part in case.says:
        assert part in words
    for problem in table.problems:
        if problem.stands and problem.cell == cell:
            assert problem.player == "Ann"
            assert problem.hint


def ids(cases: Sequence[Case]) -> list[str]:
    assert len({case.id for case in cases}) == len(cases)
    return [case.id for case in cases]


# --- one cell at a time ------------------------------------------------------------------------


@pytest.mark.parametrize("case", COUNTS, ids=ids(COUNTS))
def test_bid(case: Case, round_1: bytes, tmp_path: Path) -> None:
    table = read_with(round_1, tmp_path / "game.xlsx", ("Bids", BID, case.content))
    hold(case, table, "Bids", BID)
    slip = table.entries["Ann"].slip
    assert slip.bids == ({} if case.read is None else {1: int(case.read)})
    assert bool(table.standing) == (case.problem is not None)


@pytest.mark.parametrize("case", COUNTS, ids=ids(COUNTS))
def test_uses_of_the_exchange(case: Case, round_1: bytes, tmp_path: Path) -> None:
    table = read_with(round_1, tmp_path / "game.xlsx", ("Exchanges", USES, case.content))
    problems = told(table, "Exchanges", USES, Severity.PROBLEM)
    if case.read is not None and int(case.read) > 4:  # 20 garnets pay for 1 + 2 + 4 + 8
        assert problems == ["too-few-garnets"]
        assert as_read(table, "Exchanges", USES) == case.read
        return
    says = tuple(s for s in case.says if s != "no bid")
    hold(Case(case.id, case.content, case.read, case.problem, case.notices, says),
         table, "Exchanges", USES)  # fmt: skip


@pytest.mark.parametrize("case", COUNTS, ids=ids(COUNTS))
def test_garnets_of_a_player(case: Case, round_1: bytes, tmp_path: Path) -> None:
    table = read_with(round_1, tmp_path / "game.xlsx", ("Players", GARNETS, case.content))
    assert told(table, "Players", GARNETS, Severity.PROBLEM) == (
        [case.problem] if case.problem else []
    )
    assert table.match.player("Ann").garnets == int(case.read or 0)


@pytest.mark.parametrize("case", SPELLINGS, ids=ids(SPELLINGS))
def test_note_of_a_composition(case: Case, composing: bytes, tmp_path: Path) -> None:
    table = read_with(composing, tmp_path / "game.xlsx", ("Compositions", POSITION, case.content))
    hold(case, table, "Compositions", POSITION)


# --- more than one cell ------------------------------------------------------------------------


def test_held__as_the_spellings_suppose(composing: bytes, tmp_path: Path) -> None:
    table = read_with(composing, tmp_path / "game.xlsx")
    assert set(table.ledger.notes("Ann")) == set(parsed(HELD))


def test_bids__one_too_many_tokens(round_1: bytes, tmp_path: Path) -> None:
    puts = (("Bids", BID, number(500)), ("Bids", NEXT_BID, number(1)))
    table = read_with(round_1, tmp_path / "game.xlsx", *puts)
    assert told(table, "Bids", HEADER, Severity.PROBLEM) == ["over-budget"]
    assert "501" in table.standing[0].message
    assert "1 too many" in table.standing[0].message


def test_bids__an_exchange_pays_for_them(round_1: bytes, tmp_path: Path) -> None:
    puts = (("Bids", BID, number(510)), ("Exchanges", USES, number(1)))
    assert read_with(round_1, tmp_path / "game.xlsx", *puts).standing == ()


def test_bids__a_thousand_in_a_german_sheet(round_1: bytes, tmp_path: Path) -> None:
    """1.000 typed there is 1000; no program can see that 1,000 typed there became 1."""
    table = read_with(round_1, tmp_path / "game.xlsx", ("Bids", BID, number(1000, "#,##0")))
    assert as_read(table, "Bids", BID) == "1000"
    assert told(table, "Bids", HEADER, Severity.PROBLEM) == ["over-budget"]


def test_merged_cells__two_players(round_1: bytes, tmp_path: Path) -> None:
    table = merged(round_1, tmp_path, f"{BID}:{BOBS_BID}")
    for cell in (BID, BOBS_BID):
        assert told(table, "Bids", cell, Severity.PROBLEM) == ["merged"]
    assert "hold" in table.standing[0].message
    assert "12" in table.standing[0].message
    assert {p.player for p in table.standing} == {"Ann", "Bob"}


def test_merged_cells__two_lots(round_1: bytes, tmp_path: Path) -> None:
    table = merged(round_1, tmp_path, f"{BID}:{NEXT_BID}")
    assert [p.cell for p in table.standing] == [BID, NEXT_BID]
    assert table.entries["Ann"].slip.bids == {}


def test_merged_cells__a_value_hidden_beneath(round_1: bytes, tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    path.write_bytes(round_1)
    book = Workbook(path)
    book.put("Bids", BOBS_BID, number(400))
    book.merge("Bids", f"{BID}:{BOBS_BID}")
    book.save()
    table = look(store(path))
    assert told(table, "Bids", BOBS_BID, Severity.PROBLEM) == ["merged"]
    assert table.entries["Bob"].slip.bids == {}


def merged(data: bytes, folder: Path, area: str) -> Table:
    path = folder / "game.xlsx"
    path.write_bytes(data)
    book = Workbook(path)
    book.put("Bids", BID, number(12))
    book.merge("Bids", area)
    book.save()
    return look(store(path))


@pytest.mark.parametrize("threaded", [False, True], ids=["note", "thread"])
@pytest.mark.parametrize("tab", ["Bids", "Exchanges", "Compositions"])
@pytest.mark.parametrize("typed", [False, True], ids=["blank cell", "filled cell"])
def test_comment__is_named_and_not_read(
    threaded: bool, tab: str, typed: bool, round_1: bytes, composing: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "game.xlsx"
    path.write_bytes(composing if tab == "Compositions" else round_1)
    cell = {"Bids": BID, "Exchanges": USES, "Compositions": POSITION}[tab]
    words = "D# quarter" if tab == "Compositions" else "2"
    if typed:
        book = Workbook(path)
        book.put(tab, cell, text(words) if tab == "Compositions" else number(2))
        book.save()
    hang(path, tab, cell, threaded)
    table = look(store(path))
    assert told(table, tab, cell, Severity.NOTICE) == ["comment"]
    assert as_read(table, tab, cell) == (words if typed else None)


def hang(path: Path, tab: str, cell: str, threaded: bool) -> None:
    if threaded:
        book = Workbook(path)
        book.thread(tab, cell, "make that 20")
        book.save()
        return
    from openpyxl.comments import Comment

    with opened(path) as sheets:
        sheets[tab][cell].comment = Comment("make that 20", "Ann")


def test_hidden_rows_and_columns__are_read_and_named(round_1: bytes, tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    path.write_bytes(round_1)
    book = Workbook(path)
    book.put("Bids", BID, number(12))
    book.save()
    with opened(path) as sheets:
        for row in (B + 1, B + 2, B + 3, B + 15):
            sheets["Bids"].row_dimensions[row].hidden = True
        sheets["Bids"].column_dimensions["E"].hidden = True
        sheets["Exchanges"].column_dimensions["D"].hidden = True
    table = look(store(path))
    assert as_read(table, "Bids", BID) == "12"
    messages = {p.tab: p.message for p in table.problems if p.code == "hidden-entries"}
    assert set(messages) == {"Bids", "Exchanges"}
    assert f"rows {B + 1}-{B + 3}, {B + 15} and column E are hidden" in messages["Bids"]
    assert "column D is hidden" in messages["Exchanges"]


def test_composition__a_note_twice_and_the_others_missing(composing: bytes, tmp_path: Path) -> None:
    puts = [("Compositions", f"B{P + 1 + i}", text(note)) for i, note in enumerate(HELD[:6])]
    puts.append(("Compositions", f"B{P + 15}", text("Eb q")))
    table = read_with(composing, tmp_path / "game.xlsx", *puts)
    assert told(table, "Compositions", f"B{P + 15}", Severity.PROBLEM) == ["note-twice"]
    assert told(table, "Compositions", HEADER_OF_COMPOSITION, Severity.PROBLEM) == ["notes-missing"]
    words = {p.code: p.message for p in table.standing}
    assert POSITION in words["note-twice"]
    assert "F quarter, B quarter" in words["notes-missing"]


def test_composition__blanks_between_are_skipped(composing: bytes, tmp_path: Path) -> None:
    puts = [("Compositions", f"B{P + 1 + 3 * i}", text(note)) for i, note in enumerate(HELD)]
    table = read_with(composing, tmp_path / "game.xlsx", *puts)
    assert table.standing == ()
    handed = table.entries["Ann"].handed
    assert handed is not None
    assert handed.notes == parsed(HELD)


def test_composition__nothing_handed_in(composing: bytes, tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    table = read_with(composing, path)
    assert table.silent == ("Ann", "Bob", "Eve")
    assert table.standing == ()
    done = sync(store(path), Wish(Stage.COMPOSING), context())
    assert done.closed is None
    assert [(p.code, p.cell, p.player) for p in done.before.standing] == [
        ("not-handed-in", HEADER_OF_COMPOSITION, "Ann")
    ]


@pytest.mark.parametrize(
    ("tab", "cell", "word"),
    [
        ("Bids", f"E{B + 49}", "lot"),
        ("Exchanges", f"C{X + 7}", "round"),
        ("Compositions", f"B{P + 49}", "position"),
    ],
)
def test_below_the_rows__is_named_and_not_read(
    tab: str, cell: str, word: str, round_1: bytes, tmp_path: Path
) -> None:
    table = read_with(round_1, tmp_path / "game.xlsx", (tab, cell, number(50)))
    assert told(table, tab, cell, Severity.NOTICE) == ["outside-the-rows"]
    assert word in table.problems[0].message
    assert not table.entries["Ann"].typed


def test_bloated_tab__styled_blanks_to_the_end(round_1: bytes, tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    path.write_bytes(round_1)
    book = Workbook(path)
    for row in (100, 10_000, 1_048_576):
        book.put("Bids", f"E{row}", NOTHING)
    book.put("Bids", BID, number(3))
    book.save()
    table = look(store(path))
    assert as_read(table, "Bids", BID) == "3"
    assert table.problems == ()


# --- entries of other stages -------------------------------------------------------------------


def test_too_early__is_named_and_counts_later(round_1: bytes, tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    early = f"E{B + 9}"
    table = read_with(round_1, path, ("Bids", early, number(7)))
    assert told(table, "Bids", early, Severity.NOTICE) == ["too-early"]
    assert not table.entries["Ann"].typed
    after = close(store(path), 1).after
    assert as_read(after, "Bids", early) == "7"
    assert told(after, "Bids", early, Severity.NOTICE) == []


@pytest.mark.parametrize(
    ("now", "named"),
    [
        (number(8), True),
        (NOTHING, True),
        (boolean(True), True),
        (formula("7"), True),
        (text("seven"), True),
        (number(7), False),
        (text(" 7 "), False),
        (formula("3+4", number(7)), False),
    ],
    ids=["changed", "cleared", "true", "no value", "a word", "same", "as text", "as formula"],
)
def test_changed_after_closing__the_recorded_stands(
    now: Content, named: bool, round_1: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "game.xlsx"
    read_with(round_1, path, ("Bids", BID, number(7)))
    close(store(path), 1)
    table = read_with(path.read_bytes(), path, ("Bids", BID, now))
    found = [p for p in table.problems if p.cell == BID]
    assert [p.code for p in found] == (["changed-after-closing"] if named else [])
    assert not named or "recorded: 7, now in the cell: " in found[0].message
    assert table.match.slips[1, "Ann"].bids == {1: 7}
    assert table.standing == ()


@pytest.mark.parametrize("value", [50, "50"])
def test_bid__in_white_on_white_counts_and_is_told(
    value: int | str, round_1: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "game.xlsx"
    path.write_bytes(round_1)
    book = openpyxl.load_workbook(path)
    book["Bids"]["E7"] = value
    book["Bids"]["E7"].font = Font(color="FFFFFFFF")
    book.save(path)
    table = read_with(path.read_bytes(), path)
    assert as_read(table, "Bids", "E7") == "50"
    assert "display-differs" in told(table, "Bids", "E7", Severity.NOTICE)
    book["Bids"]["E7"].fill = PatternFill("solid", fgColor="FF1F3A5F")
    book.save(path)
    table = read_with(path.read_bytes(), path)
    assert "display-differs" not in told(table, "Bids", "E7", Severity.NOTICE)
