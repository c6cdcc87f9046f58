"""Matches to look at, and names that try to be markup."""

from __future__ import annotations

import random
from collections.abc import Sequence

from sheets_host.game.auction import draw
from sheets_host.game.best import best
from sheets_host.game.conditions import CONDITIONS
from sheets_host.game.ledger import settle
from sheets_host.game.notes import Note
from sheets_host.game.record import Event, Record
from sheets_host.game.replay import replay
from sheets_host.game.rulings import Rulings
from sheets_host.game.scoring import result_of
from sheets_host.tabs.settings import Config
from sheets_host.tabs.view import Outlook, View

NAMES = ("Ann", "Bob", "Cem", "Dee")
HOSTILE = (
    "<script>hit()</script>",
    'O\'Brien "Quote" onload=hit()',
    "</style><img src=x onerror=hit()>",
    "\u202eevil\u202c",
    "שלום עולם",
    "x" * 70,
    "{{ 7*7 }}",
    "&lt;b&gt;",
    "--><!--",
    "</svg></title>]]>",
    "🎼👩‍👧 choir",
    "A B C D E F G H",
    "` ${hit()}",
)
GAME = '</title></style><script>hit()</script>"\u202e'
ENGRAVING = (
    '<svg viewBox="0 0 1600 280" xmlns="http://www.w3.org/2000/svg"><style>path{fill:red}</style>'
    '<script>hit()</script><path d="M0 0h900v200z"/></svg>'
)


def at(stage: int) -> str:
    return f"2026-03-{stage:02}T18:00:00Z"


def match_view(
    names: Sequence[str] = NAMES,
    *,
    rounds: int = 6,
    composed: bool = True,
    announced: str = "winners",
    game: str = "Composer Auction",
) -> View:
    """Play some rounds, and to the end if all six are played and composed, by chance alone."""
    chance = random.Random("page")
    events = [Event("record", item="format", value="1", at=at(1))]
    events += [Event("seat", player=name) for name in names]
    events += [Event("garnets", player=name, value="9") for name in names]
    gone: list[Note] = []
    for round_ in range(1, min(rounds + 1, 6) + 1):
        deal = draw("page", round_, gone, {})
        gone += deal
        events += [
            Event("deal", str(round_), item=f"lot {lot}", value=str(note))
            for lot, note in enumerate(deal, 1)
        ]
        if round_ > rounds:
            break
        for name in names:
            events.append(Event("slip", str(round_), name, value="entered"))
            events += [
                Event("bid", str(round_), name, f"lot {lot}", str(chance.randint(0, 25)))
                for lot in chance.sample(range(1, 9), 3)
            ]
        events.append(Event("closed", str(round_), value="hold", at=at(round_)))
    match = replay(Record().with_events(events))
    ledger = settle(match)
    if rounds == 6 and composed:
        worths = [condition.worth for condition in CONDITIONS]
        for name in names:
            order, _ = best(ledger.notes(name), ledger.most(name), match.rulings, worths)
            value = ", ".join(map(str, order))
            events.append(Event("composition", "composing", name, "handed in", value))
        events.append(Event("closed", "composing", value="hold", at=at(7)))
    record = Record().with_events(events)
    match = replay(record)
    result = result_of(match, ledger) if match.finished else None
    config = Config(game=game, rulings=Rulings(announced=announced))
    outlook = Outlook(best_possible=21) if result else Outlook(projected=7)
    outlooks = dict.fromkeys(names, outlook)
    return View(match, ledger, result, record, config, outlooks)
