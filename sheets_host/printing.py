"""What the terminal shows: tables that fit 80 columns, colour only where there is a terminal."""

from __future__ import annotations

import datetime as dt
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from sheets_host.game.stages import Stage, stage_of
from sheets_host.host.gathering import Table
from sheets_host.host.verbs import Synced
from sheets_host.tabs.problems import Problem, Severity, quoted
from sheets_host.tabs.verdicts import standing_word
from sheets_host.tabs.view import as_of, deadline
from sheets_host.telling.announce import time_left
from sheets_host.terminal import (
    BOLD,
    RED,
    YELLOW,
    as_word,
    complain,
    fleeting,
    listed,
    nearby,
    out,
    plural,
    print_hint,
    print_rows,
    print_wrapped,
)

if TYPE_CHECKING:
    from sheets_host.host.beginning import Made
    from sheets_host.host.reopening import Preview
    from sheets_host.host.restoring import Restored
    from sheets_host.host.verbs import Verified
    from sheets_host.host.watching import Beat
    from sheets_host.stores.base import Finding, StoreError


# --- check and sync ----------------------------------------------------------------------------


def show_table(table: Table, now: dt.datetime | None = None) -> None:
    """Print the open stage: who has entered, every entry as read, and all that is wrong."""
    view = table.view
    print_wrapped(f"{quoted(table.reading.config.game)}. {as_of(view)[0]}", 0)
    until = deadline(view, table.match.stage)
    if until is not None and now is not None and table.match.stage is not Stage.FINISHED:
        verb = "It closes" if until > now else "Its deadline passed"
        out(f"{verb} {time_left(until, now)}.")
    if table.match.stage is Stage.FINISHED:
        show_result(table)
    else:
        _show_entries(table)
    show_problems((*table.faults, *table.problems))


def _show_entries(table: Table) -> None:
    deal = table.match.deals.get(table.match.stage)
    if deal:
        print_wrapped(f"On offer: {', '.join(str(note) for note in deal)}", 0)
    entered = [name for name, entry in table.entries.items() if entry.typed]
    awaited = table.match.awaited()
    if not awaited:
        return
    who = listed(entered) or "nobody yet"
    print_wrapped(f"Entered ({len(entered)} of {len(awaited)}): {who}", 0)
    if table.silent:
        print_wrapped(f"Nothing entered: {listed(table.silent)}", 0)
    if table.unread:
        print_wrapped(f"Cannot be read: {listed(table.unread)}", 0)
    rows = [(name, _entry_words(table, name)) for name in entered]
    if rows:
        out()
        print_rows(("Player", f"{str(table.match.stage).capitalize()}, as read"), rows)


def _entry_words(table: Table, name: str) -> str:
    entry = table.entries[name]
    round_ = table.match.stage.round
    if round_ is None:
        words = [r.reading.split(": ", 1)[1] for r in entry.receipts]
        return ", ".join(words) or "nothing that can be read"
    deal = table.match.deals[round_]
    bids = [f"lot {lot} {deal[lot - 1]}: {bid}" for lot, bid in entry.slip.bids.items()]
    purse = table.ledger.purse(round_, name)
    have = purse.tokens_after(entry.slip.uses if purse.affords(entry.slip.uses) else 0)
    if entry.slip.uses:
        bids.append(plural(entry.slip.uses, "exchange"))
    bids += [f"{item} cannot be read" for item in entry.unread]
    return f"{', '.join(bids) or 'no bids'}; {entry.slip.total} of {have} tokens"


def show_problems(problems: Sequence[Problem]) -> None:
    """Print every problem, then every notice, with its place and what to do."""
    for severity, heading in ((Severity.PROBLEM, "problem"), (Severity.NOTICE, "notice")):
        some = [problem for problem in problems if problem.severity is severity]
        if some:
            out()
            out(plural(len(some), heading) + ":")
            for problem in some:
                _print_problem(problem)


def _print_problem(problem: Problem) -> None:
    who = f" ({quoted(problem.player)})" if problem.player else ""
    place = problem.where if problem.tab else "workbook"
    colours = (BOLD, RED) if problem.stands else (YELLOW,)
    print_wrapped(f"{quoted(place, 300)}{who}", 2, 2, *colours)
    print_wrapped(quoted(problem.message, 1_000), 4)
    if problem.hint:
        print_hint(quoted(problem.hint, 500), 4)


def show_result(table: Table) -> None:
    """Print the final standings, the winner, and who is or may be eliminated."""
    result = table.result
    if result is None:
        return
    view = table.view
    cards = sorted(result.cards, key=lambda c: (c.rank, c.player.casefold()))
    rows = [
        (
            str(c.rank),
            c.player,
            str(c.points),
            ", ".join(map(str, c.fulfilled)) or "none",
            f"+{c.earned}",
            standing_word(view, c.player),
        )
        for c in cards
    ]
    out()
    print_rows(("Rank", "Player", "Points", "Conditions", "Garnets", "Result"), rows, (0, 2, 4))
    out()
    print_wrapped(result_words(table), 0)


def result_words(table: Table) -> str:
    """Return the end of the match in sentences."""
    result = table.result
    if result is None:
        return ""
    if result.winner is None and result.winner_among:
        return (
            f"The win is tied between {listed(result.winner_among)}, and no notes can decide"
            ' it: write the name into "Winner ruling" in Settings and sync again.'
        )
    if result.winner is None:
        return "Nobody is left to win."
    words = [f"{quoted(result.winner, 100)} wins the Token of Life, {_HOW[result.decided_by]}."]
    if result.candidate:
        words.append(f"Elimination Candidate: {quoted(result.candidate, 100)}.")
    elif result.choice_among:
        words.append(
            f"{quoted(result.winner, 100)} chooses the Elimination Candidate among"
            f" {listed(result.choice_among)}: write the name into"
            ' "Elimination choice" in Settings and sync again.'
        )
    return " ".join(words)


_HOW: Final = {
    "points": "by points",
    "highest pitch": "tied on points; highest pitch",
    "longest note": "tied on points and pitch; longest note",
    "the host's ruling": "tied; by your ruling",
}


def show_synced(done: Synced, dry_run: bool) -> None:
    """Print what a sync found, closed and wrote."""
    _show_renamed(done)
    if done.closed is not None:
        would = "would be closed" if dry_run else "is closed"
        out(f"{str(done.closed).capitalize()} {would}.")
        _show_outcomes(done, done.closed)
    elif done.already is not None:
        out(f"{str(done.already).capitalize()} was closed before; nothing to close.")
    if done.held:
        print_wrapped(
            f"{str(done.before.match.stage).capitalize()} stays open: {done.held}."
            + (f" {_WAY_ON}" if done.held == "problems stand" else ""),
            0,
        )
    for bad in done.impossible:
        print_wrapped(f"{quoted(bad.player)}, {bad.stage}: {bad.why}.", 2)
        print_hint(
            f"reopen it for them too (sheets-host reopen {_workbook(done)}"
            f" {bad.stage.round or 'final'} --player {as_word(quoted(bad.player, 100))} --reason"
            " TEXT), or close with --void",
            4,
        )
    if done.closed is not None:
        _show_struck(done)
        _show_consequences(done)
        out()
    show_table(done.before if dry_run else done.after)
    if dry_run and done.closed is Stage.COMPOSING:
        show_result(done.after)
    news = done.closed is Stage.COMPOSING or done.after.result != done.before.result
    if news and done.after.result is not None and not dry_run:
        show_what_hangs(done.after)
    out()
    _show_written(done, dry_run)


_WAY_ON: Final = "Correct the cells and close again, or add --void to strike out what is wrong."


def show_trouble(done: Synced) -> None:
    """Say on stderr which workbooks could not be written after the Record was."""
    _say_not_written(done.trouble)


def warn_alone(done: Synced, *, dry_run: bool = False) -> None:
    """Say on stderr that a match was begun, or would be, that nobody but one player can be in."""
    first = done.closed is Stage.ROUND_1 and Stage.ROUND_1 not in done.before.match.closed
    if not first or len(done.after.match.names) > 1:
        return
    if dry_run:
        warn_to_close_alone()
        return
    complain(
        "sheets-host: round 1 is closed with one player, and nobody can join any more",
        "for a match of two or more, begin another one with: sheets-host new",
    )


def warn_to_close_alone() -> None:
    """Say on stderr what closing round 1 with one player means."""
    complain(
        "sheets-host: this match has one player, and nobody can join once round 1 is closed",
        "add others before: see 'A new player' in the README",
    )


def _say_not_written(troubles: Sequence[StoreError]) -> None:
    for trouble in troubles:
        complain(
            f"sheets-host: not written: {quoted(trouble.message, 1_000)}",
            quoted(trouble.hint or "the next sync tries again", 500),
        )


def _show_renamed(done: Synced) -> None:
    """Print who plays on under another name: a substitute, or the same person."""
    for event in done.after.record.events[done.before.reading.record.rows :]:
        if event.kind == "renamed":
            print_wrapped(
                f"{quoted(event.player)} is {quoted(event.value)} from now on: notes, tokens and"
                " garnets stay.",
                0,
            )


def _show_struck(done: Synced) -> None:
    """Print what a closing struck out: it stands in the cells, and does not count."""
    struck = _struck(done)
    if struck:
        out()
        out("Struck out:")
    for words in struck:
        print_wrapped(words, 2)


def _struck(done: Synced) -> list[str]:
    before = done.before.match.struck
    found = []
    for (key, name, item), text in done.after.match.struck.items():
        if (key, name, item) in before:
            continue
        if item == "composition" and not text:
            found.append(f"{quoted(name)}: handed in no composition")
        else:
            found.append(f"{quoted(name)}, {stage_of(key)}, {item}: {quoted(text) or 'nothing'}")
    return found


def _show_consequences(done: Synced) -> None:
    """Print what closing a reopened stage changed; a first closing has its outcome tables."""
    from sheets_host.host.reopening import consequences

    if done.closed not in done.before.match.reopened:
        return
    lines = consequences(done.before, done.after)
    out()
    out("What that changes:" if lines else "It changes nothing: no note, no tokens, no points.")
    for line in lines:
        print_wrapped(line, 2)


def _show_outcomes(done: Synced, stage: Stage) -> None:
    if stage.round is None:
        return
    rows = []
    for outcome in done.after.ledger.outcomes[stage.round]:
        bid = "" if outcome.bid is None else str(outcome.bid)
        rows.append(
            (str(outcome.lot), str(outcome.note), outcome.sale.value, outcome.winner or "", bid)
        )
    out()
    print_rows(("Lot", "Note", "Outcome", "Winner", "Highest bid"), rows, (0, 4))
    balances = done.after.ledger.balances
    balance_rows = [
        (
            name,
            str(b.start),
            str(b.exchanged),
            str(b.bid),
            str(b.left),
            str(len(done.after.ledger.notes(name))),
        )
        for name in done.after.match.names
        for b in [balances[stage.round, name]]
    ]
    out()
    print_rows(
        ("Player", "Start", "Exchanged", "Bid", "Left", "Notes now"), balance_rows, (1, 2, 3, 4, 5)
    )


def _show_written(done: Synced, dry_run: bool) -> None:
    if not done.written:
        if not done.trouble:
            out("Nothing to write: every tab is up to date.")
        return
    verb = "Would write" if dry_run else "Wrote"
    game, board = done.after.reading.store.name, done.after.reading.board
    tabs = [
        f"{tab} ({plural(rows, 'row')})" if dry_run else tab
        for name, tab, rows in done.written
        if name == game
    ]
    if tabs:
        print_wrapped(f"{verb} {quoted(game, 300)}: {', '.join(tabs)}", 0)
    others = list(dict.fromkeys(name for name, _, _ in done.written if name != game))
    boards = [name for name in others if board is not None and name == board[0].name]
    sheets = [name for name in others if name not in boards]
    parts = [f"{plural(len(sheets), 'entry sheet')}{_few(sheets)}"] if sheets else []
    parts += [f"the board{_few(boards)}"] if boards else []
    if parts:
        kept = ""
        if done.backups == len(others):
            kept = f"; a backup lies beside {'it' if len(others) == 1 else 'each'}"
        elif done.backups:  # what is new, or lies on Google, has none
            kept = f"; a backup lies beside {done.backups} of them"
        print_wrapped(f"{verb} {' and '.join(parts)}{kept}.", 0)
    _show_notes(done.notes)
    out(
        f"Record: {plural(done.after.record.rows, 'row')}, seal {done.after.record.seal}"
        if not dry_run
        else "Nothing was written (--dry-run)."
    )


def _few(names: Sequence[str]) -> str:
    """Name workbooks where they are few."""
    if len(names) > _FEW:
        return ""
    return f" ({', '.join(nearby(quoted(name, 300)) for name in names)})"


_FEW: Final = 3


def _show_notes(notes: Iterable[str]) -> None:
    """Print what a store tells; a path stays on one line, to be copied."""
    for note in notes:
        out(nearby(quoted(note, 1_000)))


def show_made(made: Made) -> None:
    """Print what `new` made, and who can see what in it."""
    store = quoted(made.store.name, 300)
    if made.existed:
        out(f"{store}: {plural(len(made.players), 'entry sheet')} made.")
        _show_sheets(made)
        return
    verb = "completed" if made.completed else "made"
    print_wrapped(
        f"{store}: {verb} for {plural(len(made.players), 'player')}: {listed(made.players)}.", 0
    )
    if len(made.players) == 1:
        complain(
            "sheets-host: this match has one player; it needs two or more",
            "add others until round 1 is closed: see 'A new player' in the README",
        )
    if made.others:
        print_wrapped(f"Other tabs stay as they were: {listed(made.others)}.", 0)
    _show_sheets(made)
    if made.sheets is None:
        out("Round 1 is open. Players type their bids into the yellow rows of Bids.")
        print_wrapped(
            "Whoever can open this workbook can read every bid in it, also before a round is"
            " closed; hiding or protecting tabs does not change that. Sealed bids need"
            " --entry-sheets.",
            0,
        )
    else:
        print_wrapped(
            "Round 1 is open. Send each player their own entry sheet; keep this workbook and its"
            " backups folder to yourself. To show results to everybody, write the path of a public"
            " workbook into Settings, row Board.",
            0,
        )
    out(f"When all have bid: sheets-host sync {as_word(store)} --close 1")
    _show_notes(made.notes)
    show_problems(made.notices)


def _show_sheets(made: Made) -> None:
    if made.sheets is None:
        return
    for name, player in made.sheets.made:
        print_wrapped(f"Entry sheet for {quoted(player)}: {quoted(name, 300)}", 0, 2)
    for error in made.sheets.trouble:
        complain(f"sheets-host: not made: {quoted(error.message, 1_000)}", quoted(error.hint, 500))
    if made.existed and made.sheets.without:
        print_wrapped(
            f"No entry sheet is named in Players for {listed(made.sheets.without)}: write a path"
            " or a link there and run new again.",
            0,
        )


def show_reopened(
    done: Synced, stage: Stage, dry_run: bool, foreseen: Preview | None = None
) -> None:
    """Print who may correct what, and what to do next."""
    reopening = done.after.match.reopened[stage]
    who = listed(sorted(reopening.players))
    what = [f"the entries of {who}"] if who else []
    what += ["the switches and garnets"] if reopening.settings else []
    verb = "would be" if dry_run else "is"
    print_wrapped(
        f"{str(stage).capitalize()} {verb} open again for {' and '.join(what)}. All other recorded"
        " entries stand, and the results too until it is closed again.",
        0,
    )
    close = stage.round or "final"
    _show_preview(foreseen)
    out(f"When the cells are corrected: sheets-host sync {_workbook(done)} --close {close}")
    _show_written(done, dry_run)


def _show_preview(foreseen: Preview | None) -> None:
    """Print what closing the stage again would change, as the cells stand now."""
    if foreseen is None:
        return
    if foreseen.problems:
        out("As the cells stand now, it could not be closed again:")
        for problem in foreseen.problems:
            print_wrapped(f"{quoted(problem.where, 300)}: {quoted(problem.message, 500)}", 2)
        return
    if not foreseen.changes:
        out("As the cells stand now, closing it again changes nothing.")
        return
    out("As the cells stand now, closing it again changes:")
    for line in foreseen.changes:
        print_wrapped(line, 2)
    for bad in foreseen.impossible:
        print_wrapped(
            f"It would be refused: {quoted(bad.player)}, {bad.stage}: {bad.why}. Reopen"
            f" {bad.stage} for them too, or close with --void.",
            2,
        )


def _workbook(done: Synced) -> str:
    return as_word(quoted(done.before.reading.store.name, 300))


def show_beat(beat: Beat, *, page: bool = False) -> None:
    """Print one turn of ``sync --every``: a line when something changed, else a quiet one.

    page: the spectators' page was written.
    """
    now = dt.datetime.now().astimezone()
    closed = ""
    if beat.synced is not None and beat.synced.closed:
        closed = f"closed {beat.synced.closed}; {_struck_briefly(beat.synced)}"
    if beat.trouble:  # where there was a sync, the game itself is written
        what = "not done" if beat.synced is None else "a sheet or the board is not written"
        line = f"{now:%H:%M:%S} {closed}{what}, will try again: {quoted(beat.trouble, 500)}"
    elif beat.synced is None:
        return
    else:
        after = beat.synced.after
        held = _held_briefly(beat.synced) if beat.synced.held else ""
        written = [plural(len(beat.synced.written), "tab")] if beat.synced.written else []
        written += ["the page"] if page else []
        wrote = f"; wrote {' and '.join(written)}" if written else ""
        until = deadline(after.view, after.match.stage)
        left = ""
        if until is not None:
            left = f", {'closes' if until > now else 'was due'} {time_left(until, now)}"
        awaited = len(after.match.awaited())
        entered = f"{awaited - len(after.silent) - len(after.unread)} of {awaited} entered"
        line = f"{now:%H:%M:%S} {closed}{after.match.stage} is open{left}; {entered}{held}{wrote}"
        if after.match.stage is Stage.FINISHED:
            line = f"{now:%H:%M:%S} {closed}the match is finished{wrote}"
    if beat.fresh:
        print_wrapped(line, 0, 9)
        sys.stdout.flush()
    else:
        fleeting(line)


def _held_briefly(done: Synced) -> str:
    why = done.held
    if why == "problems stand":
        count = len(done.before.standing)
        why = f"{plural(count, 'problem')} stand{'s' * (count == 1)}"
    return f"; stays open: {why}; see: sheets-host check {_workbook(done)}"


def _struck_briefly(done: Synced) -> str:
    struck = _struck(done)
    if not struck:
        return ""
    more = f" and {len(struck) - _FEW} more, see the tab Record" if len(struck) > _FEW else ""
    return f"struck out: {'; '.join(struck[:_FEW])}{more}; "


def show_verified(found: Verified, seal: str, *, quiet: bool) -> None:
    """Print whether the Record, the reports and an announced seal agree; quiet: JSON stands on stdout."""
    record = found.table.reading.record

    def tell(text: str, hint: str = "") -> None:
        if quiet:
            complain(text, hint)
            return
        print_wrapped(text, 0, 2)
        if hint:
            print_hint(hint, 2)

    # The worst first: nobody shall stop reading at a line that says all is well.
    if seal and found.announced is None:
        tell(
            f"The seal {quoted(seal)} lies on no row: this Record is not the one announced.",
            "compare its digits with the announcement. If they are right, the past was rewritten"
            " since: whoever keeps a copy of the Record can show how it was",
        )
    if not quiet:
        out(f"The Record verifies: {plural(record.rows, 'row')}, seal {record.seal}.")
    for difference in found.differing[:40]:
        tell(
            f"{quoted(difference.where, 300)} says {quoted(difference.says) or 'nothing'};"
            f" the Record gives {quoted(difference.should_say) or 'nothing'}"
        )
    if found.differing:
        more = len(found.differing) - 40
        tell((f"and {more} more. " if more > 0 else "") + "sync writes the reports anew.")
    if quiet:
        return
    if not found.differing:
        out("Every report says what the Record gives.")
    if seal and found.announced is not None:
        print_wrapped(
            f"The seal {quoted(seal)} is that of row {found.announced}, {found.stage}.", 0
        )
    if found.table.result is not None:
        show_what_hangs(found.table)


def show_restored(done: Restored, dry_run: bool) -> None:
    """Print what was put back, and in whose place."""
    verb = "Would put back" if dry_run else "Put back"
    out(f"{verb} {plural(done.record.rows, 'row')}, seal {done.record.seal}.")
    print_wrapped(f"In its place stood {quoted(done.present, 500)}.", 0)
    if done.loses:
        print_wrapped(f"Given up: {quoted(done.loses, 500)}.", 0)
    out(f"The match stands at: {done.table.match.stage}.")
    _show_notes(done.notes)
    _say_not_written(done.trouble)


def show_what_hangs(table: Table) -> None:
    """Print how much hangs on each switch. For the host alone."""
    from sheets_host.host.publishing import what_hangs

    out()
    for line in what_hangs(table):
        print_wrapped(line, 0)


def show_findings(findings: Iterable[Finding]) -> bool:
    """Print what is looked at as it comes: right, worth a look, or wrong with what to do.

    Returns whether nothing was wrong.
    """
    words = {True: "ok", None: "look", False: "WRONG"}
    fine = True
    for finding in findings:
        fine = fine and finding.ok is not False
        print_wrapped(f"{words[finding.ok]}: {quoted(finding.what, 1_000)}", 0)
        if finding.hint:
            print_hint(quoted(finding.hint, 500), 4)
    return fine
