"""The players' tabs: cells → slips and compositions, receipts and problems."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from sheets_host.game.auction import Slip
from sheets_host.game.ledger import Ledger
from sheets_host.game.match import Handed, Match
from sheets_host.game.notes import Note
from sheets_host.game.purse import Fault, Purse, faults
from sheets_host.game.rulings import EXCHANGE_TOKENS, LOTS, NOTES, ROUNDS, SHORT
from sheets_host.game.stages import Stage
from sheets_host.grid import Cell, Grid, Kind, address
from sheets_host.tabs.finding import Keyed, find_keyed
from sheets_host.tabs.problems import Problem, Severity, quoted
from sheets_host.tabs.readings import Word, read_count, read_note

BIDS_HEADERS: Final = ("Round", "Lot", "Note", "State")
EXCHANGES_HEADERS: Final = ("Round", "State")
COMPOSITIONS_HEADERS: Final = ("Position",)
LOT_KEYS: Final = tuple((r, lot) for r in range(1, ROUNDS + 1) for lot in range(1, LOTS + 1))
ROUND_KEYS: Final = tuple((r,) for r in range(1, ROUNDS + 1))
POSITION_KEYS: Final = tuple((p,) for p in range(1, NOTES + 1))


@dataclass(frozen=True, slots=True)
class Source:
    """Three entry tabs, and the players whose columns count there.

    file: None for the game workbook, else what the entry sheet is called in messages.
    """

    players: tuple[str, ...]
    bids: Keyed
    exchanges: Keyed
    compositions: Keyed
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Receipt:
    """One entry as read: the cell says `entry`, and the game takes it as `reading`."""

    player: str
    tab: str
    cell: str
    entry: str
    reading: str
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """What one player has entered for one stage.

    typed: anything stands in the player's cells. slip: of a round, without what cannot be read.
    unread: what cannot be read, by item (``lot 3``, ``exchanges``), as it stands there.
    handed: the composition. problems: all that keeps this entry from standing, and notices.
    """

    player: str
    typed: bool
    slip: Slip = Slip()
    handed: Handed | None = None
    unread: Mapping[str, str] = field(default_factory=dict)
    over_budget: bool = False
    receipts: tuple[Receipt, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def sound(self) -> bool:
        return not any(problem.stands for problem in self.problems)


def find_source(
    grids: Mapping[str, Grid],
    names: Mapping[str, str],
    players: Sequence[str],
    ignored: Collection[str] = (),
    file: str | None = None,
) -> tuple[Source | None, list[Problem]]:
    """Find the entry tabs' rows and columns. names: folded header text to player."""
    parts: list[Keyed | None] = []
    damages: list[Problem] = []
    for title, headers, keys, wanted in (
        ("Bids", BIDS_HEADERS, ("Round", "Lot"), LOT_KEYS),
        ("Exchanges", EXCHANGES_HEADERS, ("Round",), ROUND_KEYS),
        ("Compositions", COMPOSITIONS_HEADERS, ("Position",), POSITION_KEYS),
    ):
        keyed, more = find_keyed(grids[title], headers, keys, wanted, names, ignored)
        parts.append(keyed)
        damages += more
    bids, exchanges, compositions = parts
    if damages or not (bids and exchanges and compositions):
        return None, damages
    return Source(tuple(players), bids, exchanges, compositions, file), []


def _is_empty(cell: Cell) -> bool:
    """Tell whether nothing stands in a cell, not even half of a merge or of a formula."""
    return cell.kind is Kind.BLANK and cell.formula is None and not cell.merge


class _Reader:
    """Reads one player's cells of one source; collects receipts and problems."""

    def __init__(self, source: Source, player: str) -> None:
        self.source = source
        self.player = player
        self.typed = False
        self.unread: dict[str, str] = {}
        self.receipts: list[Receipt] = []
        self.problems: list[Problem] = []

    def cell(self, keyed: Keyed, key: tuple[int, ...]) -> tuple[Cell, str]:
        row, column = keyed.place(key, self.player)
        cell = keyed.grid.at(row, column)
        if cell.kind is not Kind.BLANK or cell.formula is not None:
            self.typed = self.typed or bool(cell.shown.strip())
        return cell, address(row, column)

    def tell(
        self, severity: Severity, word: Word, tab: str, cell: str, what: str, entry: str
    ) -> None:
        message = f"{what}: {word.message}" if what else word.message
        self.problems.append(
            Problem(
                severity,
                word.code,
                tab,
                cell,
                message,
                word.hint,
                quoted(entry),
                self.player,
                self.source.file,
            )
        )

    def comment(self, cell: Cell, keyed: Keyed, place: str, what: str) -> None:
        """Name a comment: an entry may stand in it, and nobody reads it."""
        if cell.comment:
            word = Word(
                "comment",
                "a comment hangs on this cell; only what the cell itself holds is read",
                "type into the cell what was meant to count",
            )
            self.tell(Severity.NOTICE, word, keyed.title, place, what, cell.shown)

    def count(
        self, keyed: Keyed, key: tuple[int, ...], item: str, what: str, noun: str
    ) -> int | None:
        """Read a number; what cannot be read goes to `unread`."""
        cell, place = self.cell(keyed, key)
        self.comment(cell, keyed, place, what)
        if _is_empty(cell):
            return None
        count = read_count(cell, noun)
        for word in count.notices:
            self.tell(Severity.NOTICE, word, keyed.title, place, what, cell.shown)
        if count.wrong:
            self.tell(Severity.PROBLEM, count.wrong, keyed.title, place, what, cell.shown)
            self.unread[item] = quoted(cell.shown, 200) or "(blank)"
            return None
        if count.value is not None:
            self.receipts.append(
                Receipt(
                    self.player,
                    keyed.title,
                    place,
                    quoted(cell.shown),
                    f"{what}: {count.value}",
                    self.source.file,
                )
            )
        return count.value


def read_slip(
    source: Source, player: str, round_: int, deal: Sequence[Note], purse: Purse
) -> Entry:
    """Read and weigh one player's bids and exchanges of a round."""
    reader = _Reader(source, player)
    bids: dict[int, int] = {}
    for lot in range(1, LOTS + 1):
        what = f"lot {lot}, {deal[lot - 1]}"
        bid = reader.count(source.bids, (round_, lot), f"lot {lot}", what, "bid")
        if bid is not None:
            bids[lot] = bid
    uses = reader.count(source.exchanges, (round_,), "exchanges", "exchanges", "exchange")
    slip = Slip(bids, uses or 0)
    found = faults(slip, purse)
    if Fault.TOO_FEW_GARNETS in found:
        _, place = reader.cell(source.exchanges, (round_,))
        reader.tell(
            Severity.PROBLEM, _too_few_garnets(slip, purse), "Exchanges", place, "", str(slip.uses)
        )
    if Fault.OVER_BUDGET in found:
        sums = _over_budget(slip, purse, Fault.TOO_FEW_GARNETS in found)
        reader.tell(
            Severity.PROBLEM, sums, "Bids", source.bids.header_cell(player), "", str(slip.total)
        )
    return Entry(
        player,
        reader.typed,
        slip,
        None,
        reader.unread,
        Fault.OVER_BUDGET in found,
        tuple(reader.receipts),
        tuple(reader.problems),
    )


def _too_few_garnets(slip: Slip, purse: Purse) -> Word:
    if slip.uses > 60:
        cost = "more garnets than there are"
    else:
        price = purse.cost(slip.uses)
        cost = f"{price} garnet{'s' * (price != 1)}"
    times = "once" if slip.uses == 1 else f"{slip.uses} times"
    before = f" after {purse.used} before" if purse.used else ""
    return Word(
        Fault.TOO_FEW_GARNETS.value,
        f"exchanging {times}{before} costs {cost}, and"
        f" {max(purse.garnets, 0)} {'is' if purse.garnets == 1 else 'are'} left",
        "type a smaller number, or clear the cell",
    )


def _over_budget(slip: Slip, purse: Purse, unpaid: bool) -> Word:
    uses = 0 if unpaid else slip.uses
    have = purse.tokens_after(uses)
    with_ = f" ({EXCHANGE_TOKENS * uses} of them exchanged)" if uses else ""
    return Word(
        Fault.OVER_BUDGET.value,
        f"the bids sum to {slip.total}, and {have} tokens are"
        f" held{with_}: {slip.total - have} too many",
        f"lower the bids by {slip.total - have} in all",
    )


def read_composition(
    source: Source, player: str, held: Sequence[Note], *, closing: bool = False
) -> Entry:
    """Read and weigh one player's composition (R18, R19).

    closing: a composition that is owed and not handed in is a problem now; until then its player
    is only named as missing (R20).
    """
    reader = _Reader(source, player)
    keyed = source.compositions
    notes: list[Note] = []
    places: dict[Note, str] = {}
    for (position,) in POSITION_KEYS:
        cell, place = reader.cell(keyed, (position,))
        what = f"position {position}"
        reader.comment(cell, keyed, place, what)
        if _is_empty(cell):
            continue
        spelt = read_note(cell, held)
        for word in spelt.notices:
            reader.tell(Severity.NOTICE, word, keyed.title, place, what, cell.shown)
        wrong = spelt.wrong
        note = spelt.note
        if note is not None and note in places:
            wrong = Word(
                "note-twice", f"{note} stands twice, also in {places[note]}", "clear one of the two"
            )
        elif note is not None and note not in held:
            wrong = Word(
                "note-not-held",
                f"{note} is not among the notes {quoted(player)} holds",
                "choose a note from the drop-down",
            )
        if wrong:
            reader.tell(Severity.PROBLEM, wrong, keyed.title, place, what, cell.shown)
            reader.unread[what] = quoted(cell.shown, 200)
        elif note is not None:
            places[note] = place
            notes.append(note)
            reader.receipts.append(
                Receipt(
                    player, keyed.title, place, quoted(cell.shown), f"{what}: {note}", source.file
                )
            )
    if reader.typed:
        missing = [note for note in held if note not in places]
        if missing:
            word = Word(
                "notes-missing",
                f"{_listed(missing)} {'is' if len(missing) == 1 else 'are'}"
                " missing; every note won must be used",
                "add what is missing",
            )
            reader.tell(Severity.PROBLEM, word, keyed.title, keyed.header_cell(player), "", "")
            reader.unread.setdefault("composition", f"{_listed(missing)} missing")
    elif closing and len(held) >= SHORT:
        word = Word(
            "not-handed-in",
            f"no composition is handed in; {len(held)} notes are held",
            "order the notes in the player's column",
        )
        reader.tell(Severity.PROBLEM, word, keyed.title, keyed.header_cell(player), "", "")
        reader.unread["composition"] = "nothing handed in"
    handed = Handed("handed in", tuple(notes)) if reader.typed and not reader.unread else None
    return Entry(
        player,
        reader.typed,
        Slip(),
        handed,
        reader.unread,
        False,
        tuple(reader.receipts),
        tuple(reader.problems),
    )


def _listed(notes: Sequence[Note]) -> str:
    names = [str(note) for note in notes]
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def read_stage(
    sources: Sequence[Source], match: Match, ledger: Ledger, *, closing: bool
) -> dict[str, Entry]:
    """Read the open stage's entries of everyone who is awaited, in the order of the players."""
    stage = match.stage
    by_player = {player: source for source in sources for player in source.players}
    entries = {}
    for name in match.awaited():
        source = by_player.get(name)
        if source is None:
            continue
        if stage.round is not None:
            purse = ledger.purse(stage.round, name)
            entries[name] = read_slip(source, name, stage.round, match.deals[stage.round], purse)
        elif stage is Stage.COMPOSING:
            entries[name] = read_composition(source, name, ledger.notes(name), closing=closing)
    return entries
