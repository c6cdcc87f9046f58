"""``sync --every``: repeat, quietly, through errors, until Ctrl-C."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from sheets_host.game.record import RecordBroken
from sheets_host.host.verbs import Context, Synced, UsageError, Wish, sync
from sheets_host.stores.base import Store, StoreError
from sheets_host.tabs.problems import DamagedTabs

LEAST: Final = 5  # seconds between two beats: Google counts 60 reads a minute, for all together


@dataclass(frozen=True, slots=True)
class Beat:
    """One turn: what a sync did, or why it could not. fresh: it differs from the turn before."""

    synced: Synced | None
    trouble: str
    fresh: bool


@dataclass(slots=True)
class Stop:
    """Whether Ctrl-C was pressed. busy: a turn is under way, and is finished first."""

    busy: bool = False
    asked: bool = False


@contextmanager
def minding_ctrl_c(say: Callable[[str], None]) -> Iterator[Stop]:
    """Let Ctrl-C end the wait between two turns at once, and a turn once it is done.

    A write is whole or not at all in any case; so is what comes after it: the copy of the Record,
    the entry sheets, the board. Pressed twice, it ends the turn as well (KeyboardInterrupt).
    """
    stop = Stop()

    def pressed(_number: int, _frame: object) -> None:
        if stop.asked or not stop.busy:
            raise KeyboardInterrupt
        stop.asked = True
        say("Stopping after this turn; Ctrl-C again stops at once.")

    before = signal.signal(signal.SIGINT, pressed)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def watch(
    store: Store,
    wish: Wish,
    context: Context,
    seconds: int,
    sleep: Callable[[float], None],
    tell: Callable[[Beat], None],
    beats: int | None = None,
    stop: Stop | None = None,
) -> None:
    """Sync every so many seconds; a lost network or a locked file is told once and tried again.

    beats: how often, None for ever. stop: ends it after the turn in which it is asked for. Raises
    UsageError for too quick a beat; RecordBroken ends it, since nothing may be written on a Record
    that does not verify.
    """
    if seconds < LEAST:
        raise UsageError(f"--every {seconds} is too quick", f"say {LEAST} seconds or more")
    stop = stop or Stop()
    last = ""
    turn = 0
    while beats is None or turn < beats:
        if turn:
            sleep(seconds)
        turn += 1
        stop.busy = True
        beat, last = _turn(store, wish, context, last)
        tell(beat)
        stop.busy = False
        if stop.asked:
            return


def _turn(store: Store, wish: Wish, context: Context, last: str) -> tuple[Beat, str]:
    """Sync once. Returns what came of it, and what is worth a line when it changes."""
    synced, trouble = None, ""
    try:
        synced = sync(store, wish, context)
        trouble = "; ".join(error.message for error in synced.trouble)
    except StoreError as error:
        trouble = error.message
    except DamagedTabs as error:
        trouble = str(error)
    except (RecordBroken, UsageError):
        raise
    except Exception as error:  # noqa: BLE001 - a match runs for weeks: the next turn may do
        trouble = f"a fault of sheets-host itself: {type(error).__name__}: {error}"
    state = trouble or (_state(synced) if synced else "")
    wrote = synced is not None and bool(synced.written)
    return Beat(synced, trouble, state != last or wrote), state


def _state(synced: Synced) -> str:
    """What is worth a line when it changes: the stage, and why it stays open."""
    return f"{synced.after.match.stage} {synced.held} {len(synced.after.standing)}"
