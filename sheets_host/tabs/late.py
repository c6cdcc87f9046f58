"""Notices: entries that do not count now, and settings that changed after they were fixed."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from sheets_host.game.ledger import Ledger
from sheets_host.game.match import Handed, Match
from sheets_host.game.notes import BY_TEXT, Note
from sheets_host.game.stages import ROUND_STAGES, Stage
from sheets_host.grid import Cell, Kind, address, column_letters
from sheets_host.tabs.entries import LOT_KEYS, POSITION_KEYS, Source
from sheets_host.tabs.finding import Keyed
from sheets_host.tabs.players import RosterRow
from sheets_host.tabs.problems import Problem, Severity, notice, quoted
from sheets_host.tabs.readings import read_count, read_note
from sheets_host.tabs.settings import COMPOSING_CLOSES, ROUND_CLOSES, Config


def entry_notices(sources: Sequence[Source], match: Match, ledger: Ledger) -> list[Problem]:
    """Name entries changed after closing (R30), typed too early (R31), or outside the rows."""
    found: list[Problem] = []
    for source in sources:
        for player in source.players:
            if player not in match.names:
                continue
            for stage in ROUND_STAGES:
                if stage is not match.stage or player not in match.awaited():
                    found += _round(source, player, stage, match)
            if match.stage is not Stage.COMPOSING or player not in match.awaited():
                found += _composition(source, player, match, ledger.notes(player))
        found += _stray(source)
        found += _beside(source)
        found += _hidden(source)
    return found


def _note(
    code: str,
    keyed: Keyed,
    cell: str,
    message: str,
    hint: str,
    entry: str,
    player: str,
    file: str | None,
) -> Problem:
    return Problem(Severity.NOTICE, code, keyed.title, cell, message, hint, entry, player, file)


def _changed(
    keyed: Keyed,
    place: str,
    what: str,
    stage: Stage,
    recorded: str,
    shown: str,
    player: str,
    file: str | None,
) -> Problem:
    return _note(
        "changed-after-closing",
        keyed,
        place,
        f"{what}: changed after {stage} was closed; recorded: {recorded or 'no entry'},"
        f" now in the cell{'s' * (what == 'composition')}: {shown or 'nothing'}",
        "the recorded entry stands; the host can reopen the stage for this player",
        shown,
        player,
        file,
    )


@dataclass(frozen=True, slots=True)
class _Early:
    """An entry of a stage that is not open: its place, its item, and what stands there."""

    place: tuple[int, int]
    item: str
    shown: str


def _unheard(
    keyed: Keyed,
    what: str,
    entries: Sequence[_Early],
    stage: Stage,
    match: Match,
    player: str,
    file: str | None,
) -> Iterable[Problem]:
    """Tell of one player's entries that do not count, or not yet: all of a stage and tab at once.

    what: what they are called together.
    """
    if not entries:
        return
    rows = sorted(entry.place for entry in entries)
    first, last = rows[0], rows[-1]
    place = address(*first) if first == last else f"{address(*first)}:{address(*last)}"
    named = entries[0].item if len(entries) == 1 else f"{what} ({len(entries)} cells)"
    shown = quoted(", ".join(entry.shown for entry in entries))
    if match.player(player).withdrawn:
        code, hint = "withdrawn", ""
        if len(entries) == 1 and stage is not Stage.COMPOSING:
            named = f"{named} of {stage}"
        why = (
            f"{quoted(player)} has withdrawn;"
            f" {'this entry does' if len(entries) == 1 else 'these entries do'} not count"
        )
    else:
        code, hint = "too-early", "it counts once that stage is open, if it still stands at closing"
        why = f"{stage} is not open yet"
        if stage is match.frontier:  # it was open before another one was opened again
            why = f"{stage} waits until {match.stage} is closed again"
            hint = "it counts then, if it still stands at closing"
    yield _note(code, keyed, place, f"{named}: {why}", hint, shown, player, file)


def _round(source: Source, player: str, stage: Stage, match: Match) -> Iterable[Problem]:
    round_ = int(stage)
    closed = stage in match.closed
    if closed and match.kept.get((round_, player)) == "withdrawn":
        return  # it never counted, as was told until the round was closed: nothing has changed
    recorded = recorded_slip(match, player, stage) if closed else {}
    bids = [(source.bids, key, f"lot {key[1]}") for key in LOT_KEYS if key[0] == round_]
    early: dict[str, list[_Early]] = {"Bids": [], "Exchanges": []}
    for keyed, key, what in (*bids, (source.exchanges, (round_,), "exchanges")):
        row, column = keyed.place(key, player)
        cell = keyed.grid.at(row, column)
        before = recorded.get(what, "")
        if cell.kind is Kind.BLANK and not before:
            continue
        shown = quoted(cell.shown)
        if closed:
            if not _same_count(cell, before, what):
                yield _changed(
                    keyed, address(row, column), what, stage, before, shown, player, source.file
                )
        elif shown:
            early[keyed.title].append(_Early((row, column), what, shown))
    for keyed, word in ((source.bids, f"bids of {stage}"), (source.exchanges, "exchanges")):
        yield from _unheard(keyed, word, early[keyed.title], stage, match, player, source.file)


def recorded_slip(match: Match, player: str, stage: Stage) -> dict[str, str]:
    """Return a closed round's recorded entries by item, as texts; what was voided as it stood."""
    slip = match.slips.get((int(stage), player))
    found = {f"lot {lot}": str(bid) for lot, bid in slip.bids.items()} if slip else {}
    if slip and slip.uses:
        found["exchanges"] = str(slip.uses)
    for (key, name, item), value in match.struck.items():
        if key == stage.key and name == player:
            found[item] = value
    return found


def _same_count(cell: Cell, recorded: str, item: str) -> bool:
    """Tell whether a cell still says what was recorded from it."""
    if (quoted(cell.shown, 200) or ("(blank)" if cell.merge else "")) == recorded:
        return True
    if cell.kind is Kind.BLANK:
        return not recorded
    count = read_count(cell)
    if count.wrong:
        return False
    said = "" if count.value is None else str(count.value)
    if item == "exchanges" and said == "0":
        said = ""  # no uses are recorded like a blank cell; a bid of 0 is a bid
    return said == recorded


def _composition(
    source: Source, player: str, match: Match, held: Sequence[Note]
) -> Iterable[Problem]:
    keyed = source.compositions
    places = [keyed.place(key, player) for key in POSITION_KEYS]
    filled = [(address(*p), cell) for p in places if (cell := keyed.grid.at(*p)).shown.strip()]
    handed = match.compositions.get(player, Handed("nothing"))
    if Stage.COMPOSING not in match.closed:
        early = [
            _Early(place, "composition", quoted(cell.shown))
            for place in places
            if (cell := keyed.grid.at(*place)).shown.strip()
        ]
        yield from _unheard(
            keyed, "composition", early, Stage.COMPOSING, match, player, source.file
        )
        return
    if handed.how == "withdrawn":
        return
    if handed.counts:
        pairs = [
            (str(note), filled[i] if i < len(filled) else None)
            for i, note in enumerate(handed.notes)
        ]
        pairs += [("", extra) for extra in filled[len(handed.notes) :]]
        for i, (recorded, now) in enumerate(pairs, 1):
            if now is None:
                yield _changed(
                    keyed,
                    keyed.header_cell(player),
                    f"note {i}",
                    Stage.COMPOSING,
                    recorded,
                    "",
                    player,
                    source.file,
                )
            elif not _same_note(now[1], recorded, held):
                yield _changed(
                    keyed,
                    now[0],
                    f"note {i}",
                    Stage.COMPOSING,
                    recorded,
                    quoted(now[1].shown),
                    player,
                    source.file,
                )
        return
    before = match.struck.get((Stage.COMPOSING.key, player, "composition"), "")
    cells = [cell for _, cell in filled]
    now_text = typed_composition(cells)
    if before not in (now_text, _canonical(cells, before)):
        yield _changed(
            keyed,
            keyed.header_cell(player),
            "composition",
            Stage.COMPOSING,
            before and f"what was struck out ({before})",
            now_text,
            player,
            source.file,
        )


def typed_composition(cells: Iterable[Cell]) -> str:
    """Return what stands in a composition's cells, as it is recorded when it is struck out."""
    return quoted(", ".join(quoted(cell.shown) for cell in cells), 1_000)


def _canonical(cells: Iterable[Cell], recorded: str) -> str:
    """Return a composition as the tool spells it, where each cell means a note of `recorded`.

    What a later correction struck out was recorded in the tool's spelling, not as it was typed.
    """
    notes = [BY_TEXT[text] for text in recorded.split(", ") if text in BY_TEXT]
    return ", ".join(str(read_note(cell, notes).note) for cell in cells)


def _same_note(cell: Cell, recorded: str, held: Sequence[Note]) -> bool:
    spelt = read_note(cell, held)
    return spelt.wrong is None and str(spelt.note or "") == recorded


def _stray(source: Source) -> Iterable[Problem]:
    """Name values in a player's column that stand in no keyed row: nobody reads them.

    Only the first few of each column: one who pastes thousands gets no report of thousands.
    """
    for keyed in (source.bids, source.exchanges, source.compositions):
        rows = set(keyed.rows.values())
        by_column = {keyed.columns[p]: p for p in source.players if p in keyed.columns}
        told: Counter[int] = Counter()
        for (row, column), cell in keyed.grid.cells.items():
            if (
                row > keyed.table.row
                and row not in rows
                and column in by_column
                and told[column] < _MOST_STRAY
                and cell.shown.strip()
            ):
                told[column] += 1
                yield _note(
                    "outside-the-rows",
                    keyed,
                    address(row, column),
                    f"this stands beside no {_KEY_WORDS[keyed.title]} and is not read",
                    "move it into its row, or clear it",
                    quoted(cell.shown),
                    by_column[column],
                    source.file,
                )


_MOST_STRAY: Final = 20


def _beside(source: Source) -> Iterable[Problem]:
    """Name what looks like a bid right beside the last player's column: a slip of the mouse."""
    for keyed in (source.bids, source.exchanges):
        if not keyed.columns:
            continue
        table = keyed.table
        column = max(keyed.columns.values()) + 1
        if column in (*table.columns.values(), *table.others.values()):
            continue
        for row in sorted(keyed.rows.values()):
            cell = keyed.grid.at(row, column)
            if read_count(cell).value is not None:
                yield Problem(
                    Severity.NOTICE,
                    "outside-the-columns",
                    keyed.title,
                    address(row, column),
                    "this number stands in a column without a player's name and is not read",
                    "move it into its player's column, or clear it",
                    quoted(cell.shown),
                    None,
                    source.file,
                )


def _hidden(source: Source) -> Iterable[Problem]:
    """Name rows and columns of entries that are hidden or filtered out: they count as well."""
    for keyed in (source.bids, source.exchanges, source.compositions):
        rows = sorted(keyed.grid.hidden_rows & set(keyed.rows.values()))
        columns = sorted(keyed.grid.hidden_columns & {keyed.columns[p] for p in source.players})
        parts = [
            f"row{'s' * (len(rows) > 1)} {_spans(rows, str)}" if rows else "",
            f"column{'s' * (len(columns) > 1)} {_spans(columns, column_letters)}"
            if columns
            else "",
        ]
        said = " and ".join(filter(None, parts))
        if said:
            several = len(rows) + len(columns) > 1
            yield Problem(
                Severity.NOTICE,
                "hidden-entries",
                keyed.title,
                "",
                f"{said} {'are' if several else 'is'} hidden or filtered out;"
                f" {'they are' if several else 'it is'} read all the same",
                "show them, if that was not meant" if several else "show it, if that was not meant",
                file=source.file,
            )


def _spans(numbers: Sequence[int], name: Callable[[int], str]) -> str:
    """Return ``6-13, 20``: numbers in order, runs of them as spans."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and number == spans[-1][-1] + 1:
            spans[-1][1:] = [number]
        else:
            spans.append([number])
    return ", ".join("-".join(map(name, span)) for span in spans)


_KEY_WORDS: Final = {"Bids": "lot", "Exchanges": "round", "Compositions": "position"}


# --- settings ----------------------------------------------------------------------------------


def deadline_notices(match: Match, config: Config) -> list[Problem]:
    """Name deadlines to come that do not mean what was typed, or come before their stage opens."""
    found = []
    before = max(match.closed.values(), default="")
    last, whose = (dt.datetime.fromisoformat(before), "") if before else (None, "")
    for stage, until in sorted(config.closes.items()):
        if stage in match.closed:
            continue
        name = (*ROUND_CLOSES, COMPOSING_CLOSES)[stage - 1]
        words, code = [], "deadline-early"
        if stage in config.doubtful:
            words, code = [config.doubtful[stage]], "deadline-doubtful"
        if last is not None and until <= last:
            when = (
                f"it is no later than {whose}"
                if whose
                else "it had passed when the stage before it was closed"
            )
            words.append(f"{when}, so that --due closes {stage} as soon as it opens")
        last, whose = until, name
        if words:
            found.append(
                notice(
                    config.problem(
                        name,
                        code,
                        f"{name}: {'; '.join(words)}",
                        "type another time, if that was not meant",
                    )
                )
            )
    return found


def fixed_notices(match: Match, config: Config, roster: Sequence[RosterRow]) -> list[Problem]:
    """Name switches, garnets and players that differ from what the first closing fixed."""
    if not match.fixed:
        return []
    found: list[Problem] = []
    hint = _way_to_change(match)
    present = config.rulings.named()
    for name, recorded in match.rulings.named().items():
        if name != "Announced bids" and present[name] != recorded:
            found.append(
                Problem(
                    Severity.NOTICE,
                    "changed-after-closing",
                    "Settings",
                    config.cells.get(name, ""),
                    f"{name}: changed after it was fixed; recorded: {recorded}, now in the cell:"
                    f" {present[name]}",
                    hint,
                    present[name],
                )
            )
    by_name = {row.name: row for row in roster}
    for player in match.players:
        row = by_name.get(player.name)
        if row is None:
            found.append(
                Problem(
                    Severity.NOTICE,
                    "player-removed",
                    "Players",
                    "",
                    f"{quoted(player.name)} is no longer in Players and still takes part",
                    'put the row back; a player who gives up has the status "withdrawn"',
                    "",
                    player.name,
                )
            )
        elif row.garnets != player.garnets:
            found.append(
                Problem(
                    Severity.NOTICE,
                    "changed-after-closing",
                    "Players",
                    row.cells.get("Garnets", row.cell),
                    f"garnets: changed after they were fixed; recorded: {player.garnets}, now in"
                    f" the cell: {row.garnets}",
                    hint,
                    str(row.garnets),
                    player.name,
                )
            )
        if row is not None and match.finished and row.withdrawn != player.withdrawn:
            found.append(
                Problem(
                    Severity.NOTICE,
                    "changed-after-closing",
                    "Players",
                    row.cells.get("Status", row.cell),
                    "Status: changed after the match was finished; recorded:"
                    f" {_status(player.withdrawn)}, now in the cell: {_status(row.withdrawn)}",
                    "the recorded value stands; a stage that is reopened and closed again takes the new"
                    " one",
                    _status(row.withdrawn),
                    player.name,
                )
            )
    late = [row for row in roster if row.name not in match.names]
    gone = [name for name in match.names if name not in by_name]
    for row in late:
        found.append(
            Problem(
                Severity.PROBLEM,
                "player-too-late",
                "Players",
                row.cell,
                f"{quoted(row.name)} was added after the first round was closed",
                _way_in(row.name, gone if len(late) == 1 else []),
                row.name,
                row.name,
            )
        )
    return found


def _way_to_change(match: Match) -> str:
    """Say how a switch or garnets are recorded anew: by the last stage that was closed."""
    for stage, reopening in match.reopened.items():
        if reopening.settings:
            return f"the recorded value stands until {stage} is closed again"
    last = max(match.closed)
    return (
        "the recorded value stands; to change it: sheets-host reopen WORKBOOK"
        f" {last.round or 'final'} --settings --reason TEXT"
    )


def _way_in(name: str, gone: Sequence[str]) -> str:
    """Say what to do about a late player. gone: who stood in Players, and no longer does."""
    if len(gone) != 1:
        return (
            "remove the row; a substitute takes over a player's row with the former name in"
            " Formerly"
        )
    former = quoted(gone[0], 100)
    return (
        f"if {quoted(name, 100)} takes over from {former}, write {former} under Formerly in this"
        f" row; else put the name {former} back"
    )


def _status(withdrawn: bool) -> str:
    return "withdrawn" if withdrawn else "playing"
