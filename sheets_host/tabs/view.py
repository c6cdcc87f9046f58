"""What the tool's tabs show, and what stands above each of them: rows 1 to 3."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from sheets_host.game.ledger import Ledger
from sheets_host.game.match import Match
from sheets_host.game.record import Record
from sheets_host.game.rulings import COMPOSING_HOURS
from sheets_host.game.scoring import NOT_HANDED_IN, Result
from sheets_host.game.stages import Stage
from sheets_host.tabs.moments import after_hours
from sheets_host.tabs.settings import Config


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a player could get, beyond what is: blank where None. In undivided or shared points."""

    projected: int | None = None
    best_possible: int | None = None


@dataclass(frozen=True, slots=True)
class View:
    """Everything that the tool's tabs show. result: None until composing is closed."""

    match: Match
    ledger: Ledger
    result: Result | None
    record: Record
    config: Config
    outlooks: dict[str, Outlook]


def deadline(view: View, stage: Stage) -> dt.datetime | None:
    """When a stage closes, in the game's zone: as set, or 24 hours after round 6 for composing.

    A reopened stage has none: the host closes it again by hand.
    """
    if stage in view.match.reopened:
        return None
    until = view.config.closes.get(stage)
    closed = view.match.closed.get(Stage.ROUND_6)
    if until is None and stage is Stage.COMPOSING and closed is not None:
        until = after_hours(local(closed, view.config), COMPOSING_HOURS)
    return until


def local(at: str, config: Config) -> dt.datetime:
    """Return a Record's time in the game's zone. Raises ValueError where it is none."""
    return dt.datetime.fromisoformat(at).astimezone(config.zone)


def moment_text(moment: dt.datetime) -> str:
    """Return a time as people read it: ``Tue 3 Mar 2026 18:00``."""
    return f"{moment:%a} {moment.day} {moment:%b %Y %H:%M}"


def as_of(view: View) -> tuple[str, str]:
    """Return rows 2 and 3 of every report: what is closed and open, and the Record's last seal."""
    match, zone = view.match, view.config.zone.key
    parts = []
    closed = [s for s in match.closed if s not in match.reopened]
    if closed:
        last = max(closed)
        parts.append(f"As of {last}, closed {moment_text(local(match.closed[last], view.config))}")
    if match.reopened:
        who = match.reopened[match.stage]
        names = ", ".join(sorted(who.players)) or "the settings"
        parts.append(f"{str(match.stage).capitalize()} is open again for {names}")
    elif match.stage is not Stage.FINISHED:
        until = deadline(view, match.stage)
        end = f" until {moment_text(until)}" if until else ""
        parts.append(f"{str(match.stage).capitalize()} is open{end}")
    else:
        parts.append("The match is finished")
    return ". ".join(parts) + f" ({zone})", stamp(view.record)


def stamp(record: Record) -> str:
    """Return the line that ties a report to the Record it was drawn from."""
    return f"Record: {record.rows} rows, seal {record.seal}"


def lot_state(match: Match, round_: int) -> str:
    """Return a round's state: blank, ``open`` or ``closed``."""
    if match.stage == round_:
        return "open"
    return "closed" if Stage(round_) in match.closed else ""


def standings_order(view: View) -> tuple[str, ...]:
    """Return the players as Standings lists them: by rank; until the result by Projected.

    All stand as in Players until that is known.
    """
    if view.result is None:
        projected = {name: outlook.projected or 0 for name, outlook in view.outlooks.items()}
        return tuple(sorted(view.match.names, key=lambda name: -projected.get(name, 0)))
    cards = sorted(view.result.cards, key=lambda c: (c.rank, c.player.casefold(), c.player))
    return tuple(card.player for card in cards)


def why_none(view: View, name: str) -> str:
    """Say why a closed match scores no composition of a player's; empty where it scores one."""
    match = view.match
    handed = match.compositions.get(name, NOT_HANDED_IN)
    if match.player(name).withdrawn:
        return "withdrawn: no composition counts"
    if handed.counts:
        return ""
    if handed.how == "without":
        return "closed without this player's entry sheet"
    if match.struck.get((Stage.COMPOSING.key, name, "composition")):
        # What is wrong with a composition always comes to this (R19).
        return (
            "struck out at closing: the composition could not be read as all notes won, each once"
        )
    return "no composition was handed in" if view.ledger.notes(name) else "won no notes"
