"""The host's view of a match as JSON: schema 1, stable for scripts."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final

from sheets_host.game.conditions import CONDITIONS
from sheets_host.game.rulings import ROUNDS
from sheets_host.host.drawing import Difference
from sheets_host.host.gathering import Table
from sheets_host.tabs.problems import Problem, Severity, quoted

Json = dict[str, object]


def as_json(table: Table, differing: Sequence[Difference] = ()) -> Json:
    """Return what check, sync and verify print with --json; None where not yet known.

    differing: what verify found in the reports; told among the problems.
    """
    match, ledger, result = table.match, table.ledger, table.result
    return {
        "schema": 1,
        "game": table.reading.config.game,
        "stage": {"name": match.stage.kind, "round": match.stage.round},
        "players": [_player(table, name) for name in match.names],
        "balances": [
            {
                "round": b.round,
                "player": b.player,
                "start": b.start,
                "exchanged": b.exchanged,
                "bid": b.bid,
                "left": b.left,
            }
            for b in ledger.balances.values()
        ],
        "auction": _auction(table),
        "conditions": [
            {
                "number": c.number,
                "name": c.name,
                "worth": c.worth,
                "fulfilled_by": list(result.holders[i]) if result else None,
                "each": result.each[i] if result else None,
            }
            for i, c in enumerate(CONDITIONS)
        ],
        "winner": result.winner if result else None,
        "elimination": {
            "candidate": result.candidate if result else None,
            "choice_among": list(result.choice_among) if result else [],
        },
        "problems": [
            problem_json(p) for p in (*map(_difference, differing), *table.faults, *table.problems)
        ],
        "record": {"rows": table.record.rows, "seal": table.record.seal},
    }


# Controls, halves of pairs, ends of lines, and what turns the direction of writing.
_UNSEEN: Final = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def printed(view: Json) -> str:
    """Return a view as the text of JSON, people's letters as they are.

    What could steer a terminal, or be no UTF-8, is written as an escape: it means the same.
    """
    text = json.dumps(view, ensure_ascii=False, indent=2)
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _player(table: Table, name: str) -> Json:
    purse = table.ledger.purse(ROUNDS + 1, name)
    start = table.match.player(name).garnets
    card = table.result.card(name) if table.result else None
    entry = table.entries.get(name)
    earned = card.earned if card else None
    composition = card.composition if card else None
    return {
        "name": name,
        "entered": entry.typed if entry else False,
        "tokens": purse.tokens,
        "garnets": {
            "start": start,
            "spent": start - purse.garnets,
            "earned": earned,
            "now": purse.garnets + (earned or 0),
        },
        "notes": [str(note) for note in table.ledger.notes(name)],
        "composition": [str(note) for note in composition] if composition is not None else None,
        "points": card.points if card else None,
        "rank": card.rank if card else None,
        "conditions": list(card.fulfilled) if card else None,
    }


def _auction(table: Table) -> list[Json]:
    lots: list[Json] = []
    for round_, deal in sorted(table.match.deals.items()):
        outcomes = table.ledger.outcomes.get(round_)
        for lot, note in enumerate(deal, 1):
            outcome = outcomes[lot - 1] if outcomes else None
            lots.append(
                {
                    "round": round_,
                    "lot": lot,
                    "note": str(note),
                    "outcome": outcome.sale.value if outcome else "open",
                    "winner": outcome.winner if outcome else None,
                    "bid": outcome.bid if outcome else None,
                }
            )
    return lots


def _difference(difference: Difference) -> Problem:
    return Problem(
        Severity.PROBLEM,
        "report-differs",
        difference.tab,
        difference.cell,
        f"the cell says {quoted(difference.says) or 'nothing'}; the Record gives"
        f" {quoted(difference.should_say) or 'nothing'}",
        "sync writes the reports anew",
        file=difference.file,
    )


def problem_json(problem: Problem) -> Json:
    """Return one problem as JSON. file: None in the game workbook."""
    return {
        "severity": problem.severity.value,
        "file": problem.file,
        "tab": problem.tab,
        "cell": problem.cell,
        "player": problem.player,
        "code": problem.code,
        "message": problem.message,
        "hint": problem.hint,
    }
