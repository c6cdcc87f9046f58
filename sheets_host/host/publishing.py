"""The verbs `announce`, `listen` and `page`: which words, music and pictures are due."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from sheets_host.game.notes import Note
from sheets_host.game.outlook import hindsight
from sheets_host.game.scoring import under_other_rulings
from sheets_host.game.stages import Stage
from sheets_host.host.gathering import Table
from sheets_host.host.verbs import UsageError
from sheets_host.stores.base import StoreError
from sheets_host.stores.files import beginning, reason
from sheets_host.tabs.problems import quoted
from sheets_host.telling import MissingExtra
from sheets_host.telling.announce import (
    Voice,
    announce_opening,
    announce_result,
    announce_round,
    corrected_last,
    remind,
)

MUSIC: Final = 10_000_000  # bytes of a file that is looked at before it is written over


def announcement(
    table: Table,
    round_: int | None,
    now: dt.datetime,
    *,
    missing: bool = False,
    markdown: bool = True,
) -> str:
    """Return the words for a closed round, the result or a reminder. Raises UsageError."""
    view, match, voice = table.view, table.match, Voice(markdown)
    if missing:
        if match.stage is Stage.FINISHED:
            raise UsageError("the match is finished: nobody is missing")
        return remind(view, table.silent, now, voice, unread=bool(table.unread))
    if round_ is not None:
        if round_ > match.rounds_closed:
            words = f"round {round_} is not closed yet"
            raise UsageError(words, "leave out --round for the last one")
        return announce_round(view, round_, voice, last=round_ == match.rounds_closed)
    if not match.rounds_closed:
        return announce_opening(view, voice)
    rounds = corrected_last(view) or ([] if table.result else [match.rounds_closed])
    news = [announce_round(view, each, voice, last=each == rounds[-1]) for each in rounds]
    if table.result is not None:
        looking_back = hindsight(match, table.ledger, table.result)
        news.append(announce_result(view, voice, looking_back))
    return "\n".join(news)


def what_hangs(table: Table) -> list[str]:
    """Say what would end otherwise under each other value of each switch that scores.

    For the host's eyes: what a dispute is about, or that none is worth it. [] before the result.
    """
    ours = table.result
    if ours is None:
        return []
    lines, winners = [], set()
    for (switch, value), other in under_other_rulings(table.match).items():
        parts = []
        if other.winner != ours.winner:
            winners.add(other.winner)
            parts.append(f"the winner would be {_or_among(other.winner, other.winner_among)}")
        if (other.candidate, other.choice_among) != (ours.candidate, ours.choice_among):
            last = _or_among(other.candidate, other.choice_among)
            parts.append(f"last place would go to {last}")
        if parts:
            lines.append(f'If {switch} were "{value}", {" and ".join(parts)}.')
    if not lines:
        return ["No other switch setting would change the winner or last place."]
    return lines if winners else ["No other switch setting would change the winner.", *lines]


def _or_among(name: str | None, among: Sequence[str]) -> str:
    if name is not None:
        return quoted(name, 100)
    return f"one of {', '.join(quoted(n, 100) for n in among)}" if among else "nobody"


def compositions(table: Table) -> Mapping[str, Sequence[Note]]:
    """Return every composition that was handed in, by player; none before the result."""
    cards = table.result.cards if table.result else ()
    return {card.player: card.composition for card in cards if card.composition}


def listen(table: Table, folder: Path) -> list[Path]:
    """Write each composition as MIDI and as sheet music. Raises UsageError, StoreError,
    MissingExtra."""
    from sheets_host.telling.listening import listen_files

    pieces = compositions(table)
    if table.result is None:
        raise UsageError(
            "there is nothing to hear yet: compositions are known once composing is closed"
        )
    if not pieces:
        raise UsageError("there is nothing to hear: no composition was handed in")
    files = listen_files(pieces, table.reading.config.game)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in files:  # all are looked at before any is written
            _refuse_anothers(folder / name)
        for name, data in files.items():
            (folder / name).write_bytes(data)
    except (OSError, ValueError) as error:
        raise StoreError(
            f"{folder} cannot be written: {reason(error)}", "name another folder with --out"
        ) from error
    return [folder / name for name in files]


def _refuse_anothers(path: Path) -> None:
    from sheets_host.telling.listening import is_ours

    if path.exists() and (data := beginning(path, MUSIC)) and not is_ours(data):
        raise StoreError(
            f"{path} is there already, and not of this tool's making; nothing was written",
            "name another folder with --out, or take that file away",
        )


def write_page_of(table: Table, path: Path) -> bool:
    """Write the spectators' page; False where it is up to date. Raises StoreError, MissingExtra.

    Engraved music is left out where its library is missing.
    """
    from sheets_host.telling.page import render_page, write_page

    return write_page(path, render_page(table.view, engravings=_engravings(table)))


def _engravings(table: Table) -> Mapping[str, str]:
    from sheets_host.telling.engraving import engrave

    try:
        return {name: engrave(notes, "") for name, notes in compositions(table).items()}
    except MissingExtra:
        return {}
