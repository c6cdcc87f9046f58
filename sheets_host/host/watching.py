"""``sync --every``: repeat, quietly, through errors, until Ctrl-C."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

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


def watch(
    store: Store,
    wish: Wish,
    context: Context,
    seconds: int,
    sleep: Callable[[float], None],
    tell: Callable[[Beat], None],
    beats: int | None = None,
) -> None:
    """Sync every so many seconds; a lost network or a locked file is told once and tried again.

    beats: how often, None for ever. Raises UsageError for too quick a beat; RecordBroken ends it,
    since nothing may be written on a Record that does not verify.
    """
    if seconds < LEAST:
        raise UsageError(f"--every {seconds} is too quick", f"say {LEAST} seconds or more")
    last = ""
    turn = 0
    while beats is None or turn < beats:
        if turn:
            sleep(seconds)
        turn += 1
        synced, trouble = None, ""
        try:
            synced = sync(store, wish, context)
            trouble = "; ".join(error.message for error in synced.trouble)
        except StoreError as error:
            trouble = error.message
        except DamagedTabs as error:
            trouble = str(error)
        state = trouble or (_state(synced) if synced else "")
        wrote = synced is not None and bool(synced.written)
        tell(Beat(synced, trouble, state != last or wrote))
        last = state


def _state(synced: Synced) -> str:
    """What is worth a line when it changes: the stage, and why it stays open."""
    return f"{synced.after.match.stage} {synced.held} {len(synced.after.standing)}"
