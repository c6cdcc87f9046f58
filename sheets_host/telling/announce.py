"""Words ready to post in a chat or forum: what a round or the match brought.

Markdown, or plain. A person's text takes no effect in either: no mention, no link, no markup.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from sheets_host.game.auction import Outcome, Sale
from sheets_host.game.conditions import CONDITIONS
from sheets_host.game.ledger import settle
from sheets_host.game.outlook import Hindsight
from sheets_host.game.record import Record
from sheets_host.game.replay import replay
from sheets_host.game.rulings import SHORT
from sheets_host.game.scoring import Result
from sheets_host.game.stages import Stage, stage_of
from sheets_host.tabs.problems import quoted, set_apart
from sheets_host.tabs.view import View, deadline, moment_text, stamp, why_none

_MARKUP: Final = re.compile(r"([\\`*_{}\[\]()#+!|<>~&$^]|^-)")
_REACTIVE: Final = re.compile(r"([@#:/.<])(?=\S)")
_NUMBERED: Final = re.compile(r"^(\d+)\.")  # a list would begin
_GAP: Final = "\u200b"  # no width: breaks a mention, a link or an emoji code, and shows nothing


@dataclass(frozen=True, slots=True)
class Voice:
    """How an announcement is written: Markdown or plain."""

    markdown: bool = True

    def name(self, text: str) -> str:
        """Return a person's text so that nobody is called and nothing is formatted by it."""
        calm = _REACTIVE.sub(rf"\1{_GAP}", quoted(text, 200))
        if self.markdown:
            calm = _NUMBERED.sub(r"\1\\.", _MARKUP.sub(r"\\\1", calm))
        return set_apart(calm)

    def strong(self, text: str) -> str:
        """Return text of ours in bold."""
        return f"**{text}**" if self.markdown else text

    def heading(self, text: str) -> str:
        return f"## {text}" if self.markdown else f"{text}\n{'=' * len(text)}"

    def code(self, text: str) -> str:
        return f"`{text}`" if self.markdown else text

    def items(self, lines: Iterable[str]) -> str:
        return "\n".join(f"- {line}" for line in lines)


def announce_round(view: View, round_: int, voice: Voice, *, last: bool = False) -> str:
    """Tell what a closed round brought: winners, ties, tokens left.

    last: this is the latest news, and what comes next is told as well.
    """
    match = view.match
    parts = [voice.heading(f"{voice.name(view.config.game)}: round {round_} is closed")]
    if _corrected(view, Stage(round_)):
        parts.append(_CORRECTED)
    announced, before = view.config.rulings.announced, _before_correction(view, round_)
    parts.append(
        voice.items(
            _outcome(outcome, announced, voice)
            + _instead_of(before.get(outcome.lot), outcome, voice)
            for outcome in view.ledger.outcomes[round_]
        )
    )
    left = (
        f"{voice.name(name)}: {view.ledger.balances[round_, name].left}" for name in match.names
    )
    parts.append(f"{voice.strong('Tokens left')}\n\n{voice.items(left)}")
    if match.reopened:
        parts.append(_open_again(view, voice))
    elif last:
        parts.append(_next(view))
    parts.append(_seal(view, voice))
    return "\n\n".join(parts) + "\n"


_CORRECTED: Final = "Closed again: where something else was announced before, this is what stands."


def _corrected(view: View, stage: Stage) -> bool:
    """Tell whether this stage, or an earlier one, was closed anew since it was first closed."""
    closings = [stage_of(event.stage) for event in view.record.events if event.kind == "closed"]
    return any(closed <= stage for closed in closings[closings.index(stage) + 1 :])


def corrected_last(view: View) -> list[int]:
    """Return the rounds that were closed anew since anything else was closed, in order."""
    closings = [stage_of(event.stage) for event in view.record.events if event.kind == "closed"]
    found: set[int] = set()
    while closings:
        stage = closings.pop()
        if stage not in closings:  # it was closed for the first time
            break
        if stage.round is not None:
            found.add(stage.round)
    return sorted(found)


def _before_correction(view: View, round_: int) -> dict[int, Outcome]:
    """Return a corrected round's outcomes as they were before, by lot; none of another round."""
    events = view.record.events
    opened = [
        at
        for at, event in enumerate(events)
        if event.kind == "reopened" and stage_of(event.stage) is Stage(round_)
    ]
    if not opened or Stage(round_) in view.match.reopened:
        return {}
    ledger = settle(replay(Record().with_events(events[: opened[-1]])))
    return {outcome.lot: outcome for outcome in ledger.outcomes.get(round_, ())}


def _instead_of(before: Outcome | None, now: Outcome, voice: Voice) -> str:
    if before is None or (before.sale, before.winner) == (now.sale, now.winner):
        return ""
    none = "a tie" if before.sale is Sale.TIE else "no bids"
    who = none if before.winner is None else voice.name(before.winner)
    return f" (before: {who})"


def announce_opening(view: View, voice: Voice) -> str:
    """Tell that the match has begun: what is on offer, and until when."""
    heading = voice.heading(f"{voice.name(view.config.game)}: the auction begins")
    return "\n\n".join((heading, _next(view), _seal(view, voice))) + "\n"


def _outcome(outcome: Outcome, announced: str, voice: Voice) -> str:
    lot = f"Lot {outcome.lot}, {outcome.note}"
    bid = "" if announced == "winners" else f", for {outcome.bid}"
    bids = ""
    if announced == "all bids" and outcome.bids:
        ranked = (f"{voice.name(name)}: {bid}" for name, bid in outcome.ranked())
        bids = f" ({', '.join(ranked)})"
    if outcome.sale is Sale.WON and outcome.winner is not None:
        return f"{lot}: {voice.strong(voice.name(outcome.winner))}{bid}{bids}"
    if outcome.sale is Sale.TIE:
        at = f" at {outcome.bid}" if announced == "all bids" else ""
        return f"{lot}: a tie{at}, nobody gains it{bids}"
    return f"{lot}: no bids"


def _next(view: View) -> str:
    stage = view.match.stage
    if stage is Stage.FINISHED:
        return "The match is finished."
    what = "Composing" if stage is Stage.COMPOSING else f"Round {int(stage)}"
    until = deadline(view, stage)
    end = f" until {moment_text(until)} ({view.config.zone.key})" if until else ""
    deal = view.match.deals.get(stage, ())
    offer = f" On offer: {', '.join(map(str, deal))}." if deal else ""
    return f"{what} is open{end}.{offer}"


def _open_again(view: View, voice: Voice) -> str:
    """Say that something may yet change."""
    stage = view.match.stage
    who = sorted(view.match.reopened[stage].players)
    names = f" for {_names(who, voice)}" if who else ""
    what = str(stage).capitalize()
    return f"{what} is open again{names}; what is said here stands until it is closed again."


def _seal(view: View, voice: Voice) -> str:
    line = stamp(view.record)
    words, _, seal = line.partition(", seal ")
    return f"{words}, seal {voice.code(seal)}"


def announce_result(view: View, voice: Voice, hindsight: Mapping[str, Hindsight]) -> str:
    """Tell the end: winner, candidate, points and where they come from, garnets, hindsight."""
    result = view.result
    assert result is not None
    parts = [voice.heading(f"{voice.name(view.config.game)}: the result"), _end(result, voice)]
    if _corrected(view, Stage.COMPOSING):
        parts.insert(1, _CORRECTED)
    cards = sorted(result.cards, key=lambda c: (c.rank, c.player.casefold(), c.player))
    lines = []
    for card in cards:
        numbers = ", ".join(
            f"condition {number} ({card.points_by_condition[number - 1]})"
            for number in card.fulfilled
        )
        none = "" if card.withdrawn else why_none(view, card.player)
        gone = ", withdrawn" if card.withdrawn else f" ({none})" if none else ""
        points = "1 point" if card.points == 1 else f"{card.points} points"
        lines.append(
            f"Rank {card.rank}, {voice.strong(voice.name(card.player))}: {points}{gone}"
            + (f" from {numbers}" if numbers else "")
        )
    parts.append(voice.items(lines))
    parts.append(f"{voice.strong('Conditions')}\n\n{voice.items(_shares(result, voice))}")
    garnets = (f"{voice.name(card.player)}: +{card.earned}" for card in cards if card.earned)
    parts.append(
        f"{voice.strong('Garnets earned')}\n\n"
        + (voice.items(garnets) or "- nobody reached 8 points")
    )
    parts.append(
        _looking_back(
            cards_points={c.player: c.points for c in cards}, hindsight=hindsight, voice=voice
        )
    )
    if view.match.reopened:
        parts.append(_open_again(view, voice))
    parts.append(_seal(view, voice))
    return "\n\n".join(part for part in parts if part) + "\n"


def _end(result: Result, voice: Voice) -> str:
    if result.winner is None:
        if not result.winner_among:
            return "Nobody is left to win."
        return f"The win is tied between {_names(result.winner_among, voice)}; the host rules."
    how = {
        "points": "by points",
        "highest pitch": "tied on points, by the highest pitch",
        "longest note": "tied on points and pitch, by the longest note of that pitch",
    }.get(result.decided_by, "by the host's ruling")
    words = [f"{voice.strong(voice.name(result.winner))} wins the Token of Life, {how}."]
    if result.candidate is not None:
        words.append(f"The Elimination Candidate is {voice.strong(voice.name(result.candidate))}.")
    elif result.choice_among:
        words.append(
            f"{voice.name(result.winner)} names the Elimination Candidate among"
            f" {_names(result.choice_among, voice)}."
        )
    return " ".join(words)


def _names(names: Sequence[str], voice: Voice) -> str:
    shown = [voice.name(name) for name in names]
    return " and ".join(filter(None, [", ".join(shown[:-1]), shown[-1]]))


def _shares(result: Result, voice: Voice) -> Iterable[str]:
    for condition, holders, each in zip(CONDITIONS, result.holders, result.each, strict=True):
        who = (
            f"{_names(holders, voice)}, {each} each"
            if len(holders) > 1
            else (f"{voice.name(holders[0])}, {each}" if holders else "nobody")
        )
        short = [name for name in holders if not result.card(name).scores]
        if short:
            who += f"; nothing for {_names(short, voice)} (fewer than {SHORT} notes)"
        yield f"Condition {condition.number}, {condition.name} ({condition.worth}): {who}"


def _looking_back(
    cards_points: Mapping[str, int], hindsight: Mapping[str, Hindsight], voice: Voice
) -> str:
    lines = [
        f"{voice.name(name)} could have had {best.points}, {best.left} more, with"
        f" {', '.join(str(note) for note in best.order)}"
        for name, best in hindsight.items()
        if best.points > cards_points.get(name, 0)
    ]
    if not lines:
        return ""
    return f"{voice.strong('In hindsight')}\n\n{voice.items(lines)}"


def remind(
    view: View, missing: Sequence[str], now: dt.datetime, voice: Voice, *, unread: bool = False
) -> str:
    """Remind those who have entered nothing for the open stage.

    unread: the sheets of some cannot be read now; of them nothing is said.
    """
    stage = view.match.stage
    what = "a composition" if stage is Stage.COMPOSING else f"bids for round {int(stage)}"
    until = deadline(view, stage)
    end = ""
    if until is not None:
        verb = "It closes" if until > now else "It was due"
        end = f" {verb} {moment_text(until)} ({view.config.zone.key}), {time_left(until, now)}."
    if not missing:
        who = "Everybody whose sheet can be read" if unread else "Everybody"
        return f"{who} has entered {what}.{end}\n"
    return f"Still without {what}: {_names(missing, voice)}.{end}\n"


def time_left(until: dt.datetime, now: dt.datetime) -> str:
    """Return ``in 2 hours 5 minutes`` or ``3 hours ago``."""
    minutes = int(abs((until - now).total_seconds()) // 60)
    days, hours, rest = minutes // 1440, minutes // 60 % 24, minutes % 60
    counted = [(days, "day"), (hours, "hour"), (rest, "minute")]
    words = [f"{n} {unit}{'s' * (n != 1)}" for n, unit in counted if n][:2]
    span = " ".join(words) or "less than a minute"
    return f"in {span}" if until > now else f"{span} ago"
