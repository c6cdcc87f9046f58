"""The verbs: parse, call, print, exit code. Decides nothing."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand

from sheets_host import __version__
from sheets_host.game.record import RecordBroken
from sheets_host.game.rulings import ROUNDS
from sheets_host.game.stages import Stage, stage_of
from sheets_host.host.drawing import Difference
from sheets_host.host.gathering import Table
from sheets_host.host.verbs import Context, Synced, UsageError, Wish
from sheets_host.host.verbs import check as check_match
from sheets_host.host.verbs import sync as sync_match
from sheets_host.host.verbs import verify as verify_match
from sheets_host.opening import Access, base_folder, opener, store_for
from sheets_host.stores.base import Finding, Store, StoreError
from sheets_host.stores.files import undecoded
from sheets_host.streams import Streams, lasting
from sheets_host.tabs.problems import DamagedTabs, quoted
from sheets_host.telling import MissingExtra, library
from sheets_host.terminal import agreed, as_word, complain, interactive, listed, out, progress, say

OK, PROBLEMS, USAGE, UNREACHABLE, BROKEN = range(5)
STOPPED = 130  # by Ctrl-C, as shells say it
DAY = 24 * 60 * 60  # seconds
TRACEBACK = "SHEETS_HOST_TRACEBACK"

app = typer.Typer(
    name="sheets-host",
    help="Host a Composer Auction from an Excel workbook or a Google Sheet.",
    epilog="Exit codes: 0 done, 1 problems in the entries, 2 usage, 3 the workbook cannot be"
    " reached, read or written, 4 the Record does not verify.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


class Verb(TyperCommand):
    """A command whose usage names its arguments as the README does: WORKBOOK, not {WORKBOOK}."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the words of the usage line."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]


verb = partial(app.command, cls=Verb)

Workbook = Annotated[
    str,
    typer.Argument(
        metavar="WORKBOOK",
        help="A path (.xlsx or .xlsm), a Google Sheets link, or a bare spreadsheet id.",
    ),
]
Credentials = Annotated[
    Path | None,
    typer.Option("--credentials", help="Google: the service account's or user's key file."),
]
IgnoreLock = Annotated[
    bool,
    typer.Option(
        "--ignore-lock", help="Excel: write although the file seems to be open elsewhere."
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print the host's view as JSON.")]


def _context(workbook: str, access: Access) -> Context:
    return Context(opener(workbook, access), progress=progress)


@verb(short_help="Make a match.")
def new(
    workbook: Workbook,
    player: Annotated[
        list[str] | None,
        typer.Option(help="A player's name, with garnets if any: Ann or Ann:3. Repeat for each."),
    ] = None,
    title: Annotated[str, typer.Option(help="The game's title.")] = "",
    zone: Annotated[str, typer.Option(help="The time zone of deadlines: Europe/Berlin.")] = "",
    seed: Annotated[str, typer.Option(help="Makes the deal repeat, for rehearsals.")] = "",
    entry_sheets: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Sealed play: make each player's entry sheet here; over a game, the missing ones.",
        ),
    ] = None,
    credentials: Credentials = None,
    ignore_lock: IgnoreLock = False,
) -> None:
    """Make the tabs of a match in a new file, an existing workbook or an empty Google Sheet."""
    from sheets_host.host.beginning import new as new_match
    from sheets_host.host.beginning import plan
    from sheets_host.printing import show_made

    access = Access(credentials, ignore_lock)
    wish = plan(player or [], title, zone, seed, entry_sheets, base_folder(workbook))
    made = new_match(store_for(workbook, access), wish, _context(workbook, access))
    show_made(made)
    _exit(UNREACHABLE if made.sheets and made.sheets.trouble else OK)


@verb(short_help="Show all entries and problems.")
def check(
    workbook: Workbook,
    as_json: AsJson = False,
    credentials: Credentials = None,
) -> None:
    """Read everything, show every entry as read and all problems; write nothing."""
    from sheets_host.printing import show_table

    access = Access(credentials)
    context = _context(workbook, access)
    table = check_match(store_for(workbook, access), context)
    if as_json:
        _print_json(table)
    else:
        show_table(table, context.now())
    _exit(UNREACHABLE if table.faults else PROBLEMS if table.standing else OK)


@verb(short_help="Refresh the reports; close a stage.")
def sync(
    workbook: Workbook,
    close: Annotated[
        str | None, typer.Option(metavar="STAGE", help="Close this stage: 1 to 6, or final.")
    ] = None,
    due: Annotated[
        bool, typer.Option("--due", help="Close the open stage if its deadline has passed.")
    ] = False,
    every: Annotated[
        int | None,
        typer.Option(
            metavar="SECONDS",
            help="Repeat every SECONDS until Ctrl-C; closes stages only with --due.",
        ),
    ] = None,
    void: Annotated[
        bool,
        typer.Option("--void", help="Close although problems stand: strike out what is wrong."),
    ] = False,
    without: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Close without a player whose sheet is out of reach."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show tab by tab what would change; write nothing.")
    ] = False,
    page: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Keep the spectators' page current, too.")
    ] = None,
    as_json: AsJson = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="On a terminal: close without being asked.")
    ] = False,
    credentials: Credentials = None,
    ignore_lock: IgnoreLock = False,
) -> None:
    """Refresh every report; close the open stage if you say so."""
    from sheets_host.printing import show_synced, show_trouble, warn_alone

    access = Access(credentials, ignore_lock)
    if close is not None and due:
        raise UsageError(
            "--close closes a stage now, --due once its deadline has passed", "say one of them"
        )
    wish = Wish(_stage(close), void, tuple(without or ()), due, dry_run)
    for option, given in (("--without", without), ("--void", void)):
        if given and close is None and not due:
            raise UsageError(f"{option} is for closing", "say --close STAGE, or --due, as well")
    if every is not None:
        _check_every(every, wish, as_json=as_json)
    store, context = store_for(workbook, access), _context(workbook, access)
    if page is not None:  # before anything is closed
        from sheets_host.telling.page import check_place

        library("jinja2", "the page", extra="page")
        check_place(page)
    if every is not None:
        _watch(store, wish, context, every, page)
        return
    done = sync_match(store, wish, context)
    if as_json:
        # A dry run shows the match as it is: the next round's notes are not drawn yet.
        _print_json(done.before if dry_run else done.after)
    else:
        show_synced(done, dry_run)
    show_trouble(done)
    warn_alone(done, dry_run=dry_run)
    if _keep_page(done, None if dry_run else page) and not as_json:
        out(f"Wrote the page: {page}")
    asked = close is None and not due and not dry_run and not as_json
    if asked and _shall_close(done.after, yes):
        done = sync_match(store, Wish(done.after.match.stage), context)
        show_synced(done, dry_run=False)
        show_trouble(done)
        warn_alone(done)
        if _keep_page(done, page):
            out(f"Wrote the page: {page}")
    _exit(_sync_code(done, wish))


def _check_every(seconds: int, wish: Wish, *, as_json: bool) -> None:
    if wish.close is not None or wish.dry_run:
        raise UsageError("--every goes with --due, not with --close or --dry-run")
    if as_json:
        raise UsageError(
            "--every prints a line a turn, and no JSON",
            "run check --json beside it, or sync --json",
        )
    if seconds > DAY:
        raise UsageError(f"--every {seconds} is too slow", f"say {DAY} seconds (a day) or fewer")


def _watch(store: Store, wish: Wish, context: Context, seconds: int, page: Path | None) -> None:
    from sheets_host.host.watching import Beat, minding_ctrl_c, watch
    from sheets_host.printing import show_beat, warn_alone

    def tell(beat: Beat) -> None:
        done = beat.synced
        show_beat(beat, page=done is not None and _keep_page(done, page))
        if done is not None:
            warn_alone(done)

    with minding_ctrl_c(say) as stop, suppress(KeyboardInterrupt):
        watch(store, wish, context, seconds, time.sleep, tell, stop=stop)
    say("Stopped; the match is as the last line says.")


def _keep_page(done: Synced, page: Path | None) -> bool:
    """Write the spectators' page if it is not up to date; that it cannot be written never undoes a
    sync. Returns whether it was written."""
    from sheets_host.host.publishing import write_page_of

    if page is None:
        return False
    try:
        return write_page_of(done.after, page)
    except StoreError as error:
        complain(
            f"sheets-host: the page is not written: {quoted(error.message, 500)}",
            quoted(error.hint, 500),
        )
        return False


def _shall_close(table: Table, yes: bool) -> bool:
    """Ask on a terminal whether to close the open stage; nowhere else."""
    from sheets_host.printing import warn_to_close_alone

    if table.standing or table.faults or table.match.stage is Stage.FINISHED:
        return False
    if not interactive():
        if yes:
            complain(
                "sheets-host: --yes answers a question that is asked on a terminal only",
                f"in a script, name the stage: --close {table.match.stage.round or 'final'}",
            )
        return False
    if table.match.stage is Stage.ROUND_1 and len(table.match.names) == 1:
        warn_to_close_alone()
    if table.silent:
        complain(f"Nothing was entered by {listed(table.silent)}.")
    try:
        return yes or agreed(f"Close {table.match.stage} now?")
    except KeyboardInterrupt:
        say("")
        say(f"Nothing was closed: {table.match.stage} is still open.")
        raise


def _sync_code(done: Synced, wish: Wish) -> int:
    if done.trouble or any(fault.player not in wish.without for fault in done.after.faults):
        return UNREACHABLE
    if done.closed is not None:
        return OK  # what is wrong with the next stage's entries can be mended until it closes
    return PROBLEMS if done.after.standing or done.held else OK


@verb(short_help="Let players correct a closed stage.")
def reopen(
    workbook: Workbook,
    stage: Annotated[
        str, typer.Argument(metavar="STAGE", help="The closed stage: 1 to 6, or final.")
    ],
    player: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Whose entries may be corrected. Repeat for each."),
    ] = None,
    reason: Annotated[str, typer.Option(help="Why; it stands in the Record.")] = "",
    settings: Annotated[
        bool, typer.Option("--settings", help="Read the switches and garnets anew, too.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write nothing.")] = False,
    credentials: Credentials = None,
    ignore_lock: IgnoreLock = False,
) -> None:
    """Let named players correct their entries of a closed stage; all others stand."""
    from sheets_host.host.reopening import preview
    from sheets_host.host.reopening import reopen as reopen_stage
    from sheets_host.printing import show_reopened, show_trouble

    access = Access(credentials, ignore_lock)
    chosen = stage_named(stage, "STAGE")
    context = _context(workbook, access)
    done = reopen_stage(
        store_for(workbook, access),
        chosen,
        player or [],
        reason,
        context,
        settings=settings,
        dry_run=dry_run,
    )
    foreseen = preview(done.after, context.now()) if done.after.match.stage is chosen else None
    show_reopened(done, chosen, dry_run, foreseen)
    show_trouble(done)
    _exit(UNREACHABLE if done.trouble else OK)


@verb(short_help="Print words ready to post.")
def announce(
    workbook: Workbook,
    round_: Annotated[
        int | None,
        typer.Option("--round", metavar="ROUND", help="This round, 1 to 6; else the last stage."),
    ] = None,
    missing: Annotated[
        bool, typer.Option("--missing", help="A reminder of who has entered nothing yet.")
    ] = False,
    plain: Annotated[bool, typer.Option("--plain", help="Plain text, no Markdown.")] = False,
    credentials: Credentials = None,
) -> None:
    """Print words ready to post: the last round, the result, or a reminder."""
    from sheets_host.host.publishing import announcement

    access = Access(credentials)
    if round_ is not None and not 1 <= round_ <= ROUNDS:
        raise UsageError(
            f"--round {round_}: there is no such round", f"say a round from 1 to {ROUNDS}"
        )
    context = _context(workbook, access)
    table = check_match(store_for(workbook, access), context)
    for fault in table.faults:
        complain(f"sheets-host: {quoted(fault.message, 500)}", quoted(fault.hint, 500))
    sys.stdout.write(
        announcement(table, round_, context.now(), missing=missing, markdown=not plain)
    )


@verb(short_help="Prove that nothing was changed.")
def verify(
    workbook: Workbook,
    seal: Annotated[
        str, typer.Option(help='An announced seal: say whether it lies on the chain: "3f9a …".')
    ] = "",
    as_json: AsJson = False,
    credentials: Credentials = None,
) -> None:
    """Work everything out anew from the Record and compare it with what the tabs say."""
    from sheets_host.printing import show_verified

    access = Access(credentials)
    _seal(seal)
    found = verify_match(store_for(workbook, access), _context(workbook, access), seal)
    if as_json:
        _print_json(found.table, found.differing)
    show_verified(found, seal, quiet=as_json)
    if seal and found.announced is None:
        _exit(BROKEN)
    _exit(PROBLEMS if found.differing else OK)


@verb(short_help="Put a copy of the Record back.")
def restore(
    workbook: Workbook,
    copy: Annotated[
        Path, typer.Argument(metavar="COPY", help="A copy of the Record, from the backups.")
    ],
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Even if rows of a sound Record are given up.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write nothing.")] = False,
    credentials: Credentials = None,
    ignore_lock: IgnoreLock = False,
) -> None:
    """Put a copy of the Record back, only if it verifies."""
    from sheets_host.host.restoring import restore as restore_record
    from sheets_host.printing import show_restored

    access = Access(credentials, ignore_lock)
    done = restore_record(
        store_for(workbook, access), copy, _context(workbook, access), sure=yes, dry_run=dry_run
    )
    show_restored(done, dry_run)
    _exit(UNREACHABLE if done.trouble else OK)


@verb(short_help="Write MIDI and sheet music.")
def listen(
    workbook: Workbook,
    folder: Annotated[Path, typer.Option("--out", metavar="DIR", help="The folder for the files.")],
    credentials: Credentials = None,
) -> None:
    """Write each composition as a MIDI file and as sheet music (SVG)."""
    from sheets_host.host.publishing import listen as listen_to

    access = Access(credentials)
    table = check_match(store_for(workbook, access), _context(workbook, access))
    for path in listen_to(table, folder):
        out(str(path))


@verb(short_help="Write a page for spectators.")
def page(
    workbook: Workbook,
    file: Annotated[Path, typer.Option("--out", metavar="FILE", help="The page to write.")],
    credentials: Credentials = None,
) -> None:
    """Write one self-contained page for spectators; nothing of an open round is on it."""
    from sheets_host.host.publishing import write_page_of

    access = Access(credentials)
    table = check_match(store_for(workbook, access), _context(workbook, access))
    wrote = write_page_of(table, file)
    out(f"{'Wrote' if wrote else 'Up to date:'} {file}")


@verb(short_help="Find out what does not work.")
def doctor(
    workbook: Annotated[
        str | None,
        typer.Argument(metavar="WORKBOOK", help="A workbook; without one, only the way to Google."),
    ] = None,
    credentials: Credentials = None,
) -> None:
    """Look at access, locks and the game itself, and say what to do. Changes nothing."""
    from sheets_host.host.doctor import examine, examine_access
    from sheets_host.printing import show_findings

    access = Access(credentials)
    findings: Iterable[Finding]
    if workbook is None:
        findings = examine_access(credentials)
    else:
        findings = examine(store_for(workbook, access), _context(workbook, access))
    _exit(OK if show_findings(findings) else UNREACHABLE)


@verb(short_help="Play a made-up match.")
def demo(
    path: Annotated[
        Path | None, typer.Argument(metavar="PATH", help="Where to leave the workbook.")
    ] = None,
) -> None:
    """Let made-up players play a whole game, and leave the workbook to look at."""
    from sheets_host.host.demo import demo as play
    from sheets_host.opening import free_path
    from sheets_host.printing import show_result

    target = str(path or free_path("composer-auction-demo.xlsx"))
    store = store_for(target, Access())
    if store.exists():
        raise UsageError(f"{target} exists; demo never writes over a file", "name another one")
    done = play(store, _context(target, Access()))
    show_result(done.after)
    out()
    out(f"Open {target} to look at the whole match, or try:")
    out(f"  sheets-host check {as_word(target)}")


# --- ends --------------------------------------------------------------------------------------


def _stage(text: str | None) -> Stage | None:
    if text is None:
        return None
    return stage_named(text, "--close")


def _seal(text: str) -> None:
    """Refuse what cannot be a seal: a wrongly typed one is not a Record that was changed."""
    if text and not re.fullmatch(r"[0-9a-fA-F]{16}", "".join(text.split())):
        raise UsageError(
            f'--seal: "{quoted(text)}" is no seal',
            "a seal is 16 digits of 0-9 and a-f, such as 3f9a 12cc 77ab 0d1e",
        )


def stage_named(text: str, what: str) -> Stage:
    """Read a stage. Raises UsageError naming the option or argument."""
    try:
        return stage_of(text)
    except ValueError as error:
        raise UsageError(f"{what}: {error}") from error


def _print_json(table: Table, differing: Sequence[Difference] = ()) -> None:
    from sheets_host.host.jsonview import as_json, printed

    out(printed(as_json(table, differing)))


def _exit(code: int) -> NoReturn:
    raise typer.Exit(code)


def _version(wanted: bool) -> None:
    if wanted:
        out(f"sheets-host {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command; every fault ends in plain words and an exit code, known or not."""
    with lasting() as streams:
        code = _run()
        streams.out.flush()
        sys.exit(_told(streams, code))


def _told(streams: Streams, code: int) -> int:
    """Say that results could not be printed; what the command did is done all the same."""
    if not streams.out.trouble:
        return code
    complain(
        f"sheets-host: the results cannot be printed: {streams.out.trouble}",
        "the command went on to its end: sheets-host check shows how the match stands",
    )
    return code or UNREACHABLE


def _run() -> int:
    """Run the command. Returns its exit code."""
    if sys.getfilesystemencoding() != "utf-8" and undecoded("".join(sys.argv)):
        return _fail(
            USAGE,
            "the system's language setting cannot read a letter of this command: a name would be"
            " recorded without it",
            "set the variable PYTHONUTF8=1, or a setting with UTF-8 such as LC_ALL=C.UTF-8",
        )
    try:
        app()
    except SystemExit as end:  # how typer ends, always
        return _ended(end.code)
    except UsageError as error:
        return _fail(USAGE, error.message, error.hint)
    except StoreError as error:
        return _fail(UNREACHABLE, error.message, error.hint)
    except MissingExtra as error:
        return _fail(USAGE, error.message, error.hint)
    except DamagedTabs as error:
        say("sheets-host: the workbook cannot be read as a game:")
        for fault in error.faults:
            complain(
                f"{quoted(fault.where, 300)}: {quoted(fault.message, 1_000)}",
                quoted(fault.hint, 500),
                2,
            )
        say("  Nothing was changed.")
        return UNREACHABLE
    except RecordBroken as error:
        return _fail(
            BROKEN,
            f"the Record does not verify: {error.message}",
            "nothing was changed. Put the row back as it was (undo, or the version history), or"
            " put a copy back: sheets-host restore WORKBOOK COPY; copies of the Record are kept"
            " after each closing, in the folder that sheets-host doctor names",
        )
    except KeyboardInterrupt:
        return _ended(STOPPED)
    except Exception as error:  # noqa: BLE001 - the last net: no host should meet a traceback
        return _unforeseen(error)
    return OK


def _ended(code: object) -> int:
    if code == STOPPED:
        say("sheets-host: stopped")
    return code if isinstance(code, int) else OK if code is None else PROBLEMS


def _unforeseen(error: Exception) -> int:
    """Tell a fault of our own. Its text stays out: it may quote what nobody should see."""
    import traceback

    if os.environ.get(TRACEBACK):
        for line in traceback.format_exception(error):
            say(line.rstrip())
    if isinstance(error, MemoryError):
        return _fail(
            UNREACHABLE,
            "there is not enough memory for this workbook",
            "close other programs, or take what does not belong to the game out of the workbook."
            " A write is whole or not at all: sheets-host check shows how the match stands",
        )
    ours = Path(__file__).parent
    frames = traceback.extract_tb(error.__traceback__)
    place = next((f for f in reversed(frames) if ours in Path(f.filename).parents), None)
    where = f" in {Path(place.filename).relative_to(ours)}, line {place.lineno}" if place else ""
    why = ""
    if isinstance(error, OSError):  # what the system says quotes nobody
        why = f": {' '.join(filter(None, (str(error.filename or ''), error.strerror)))}"
    return _fail(
        UNREACHABLE,
        f"a fault of sheets-host itself: {type(error).__name__}{where}{why}",
        "a write is whole or not at all: sheets-host check shows how the match stands. Please"
        f" report it with this line, the command and sheets-host {__version__};"
        f" {TRACEBACK}=1 before the command shows more",
    )


def _fail(code: int, message: str, hint: str) -> int:
    complain(f"sheets-host: {quoted(message, 2_000)}", quoted(hint, 1_000))
    return code


if __name__ == "__main__":
    main()
