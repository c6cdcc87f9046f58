"""How fast compositions are judged, best orders found and outlooks drawn.

Run it with: python benchmarks/scoring.py

Prints medians of one run; what they mean for a machine is for its reader to say.
"""

from __future__ import annotations

import random
from dataclasses import replace
from statistics import median
from time import perf_counter
from typing import Final

from sheets_host.game.auction import Slip, draw
from sheets_host.game.best import best
from sheets_host.game.conditions import CONDITIONS, judge_all
from sheets_host.game.ledger import settle
from sheets_host.game.match import Handed, Match, Player
from sheets_host.game.notes import ALL_NOTES, Note
from sheets_host.game.outlook import hindsight, projection, reach
from sheets_host.game.rulings import LOTS, Rulings
from sheets_host.game.scoring import result_of
from sheets_host.game.stages import Stage

SEED: Final = 1
ASKED: Final = 10_000  # compositions of 12 notes that a second should do for
WORTH: Final = [condition.worth for condition in CONDITIONS]
RULINGS: Final = {
    "defaults": Rulings(),
    "other values": Rulings(descending="anywhere", tritone="any two", eighths="exactly"),
}


def main() -> None:
    """Measure and print."""
    rng = random.Random(SEED)
    compositions = [tuple(rng.sample(ALL_NOTES, 12)) for _ in range(5_000)]
    for name, rulings in RULINGS.items():
        rate = judged_per_second(compositions, rulings)
        print(
            f"12 notes judged with evidence, {name}: {rate:,.0f} a second,"
            f" {rate / ASKED:.1f} times {ASKED:,}"
        )
    for name, rulings in RULINGS.items():
        times = {
            size: milliseconds([rng.sample(ALL_NOTES, size) for _ in range(300)], rulings)
            for size in (8, 16, 24, 48)
        }
        for size, (middle, worst) in times.items():
            print(
                f"best order of {size:2} notes, {name}: median {middle:.2f} ms,"
                f" worst {worst:.2f} ms, {middle / times[8][0]:.1f} times that of 8"
            )
    for players in (12, 200):
        for closed in (3, 6):
            for name, middle in outlook_milliseconds(players, closed).items():
                print(f"{name}, {players} players, {closed} rounds closed: median {middle:.1f} ms")


def judged_per_second(compositions: list[tuple[Note, ...]], rulings: Rulings) -> float:
    """Return the median rate of five passes over the compositions."""
    rates = []
    for _ in range(5):
        start = perf_counter()
        for composition in compositions:
            judge_all(composition, 3, rulings)
        rates.append(len(compositions) / (perf_counter() - start))
    return median(rates)


def milliseconds(hands: list[list[Note]], rulings: Rulings) -> tuple[float, float]:
    """Return the median and the worst time of the best orders of these hands."""
    times = []
    for hand in hands:
        start = perf_counter()
        best(hand, 3, rulings, WORTH)
        times.append((perf_counter() - start) * 1000)
    return median(times), max(times)


def outlook_milliseconds(players: int, closed: int) -> dict[str, float]:
    """Return the median times of all that a sync draws of what may come, over random matches.

    A few players outbid the others and win most of the notes: the dear case, since hands of five
    notes and more are what is searched.
    """
    times: dict[str, list[float]] = {"projection": [], "reach": [], "hindsight": []}
    for seed in range(20):
        match = random_match(seed, players, closed)
        ledger = settle(match)
        result = result_of(match, ledger)
        for name, draw_it in (
            ("projection", lambda m=match, k=ledger: projection(m, k)),
            ("reach", lambda m=match, k=ledger: reach(m, k)),
            ("hindsight", lambda m=match, k=ledger, r=result: hindsight(m, k, r)),
        ):
            start = perf_counter()
            draw_it()
            times[name].append((perf_counter() - start) * 1000)
    return {name: median(took) for name, took in times.items()}


def random_match(seed: int, players: int, closed: int) -> Match:
    """Return a match in which some players outbid the others."""
    rng = random.Random(seed)
    names = tuple(f"Player {n}" for n in range(players))
    greedy = set(names[: max(2, players // 30)])
    slips = {
        (round_, name): Slip(
            {lot: rng.randrange(60) + 30 * (name in greedy) for lot in range(1, LOTS + 1)}
        )
        for round_ in range(1, closed + 1)
        for name in names
    }
    deals: dict[int, tuple[Note, ...]] = {}
    for round_ in range(1, closed + 1):
        deals[round_] = draw(str(seed), round_, [n for deal in deals.values() for n in deal], {})
    rounds = {Stage(round_): "" for round_ in range(1, closed + 1)}
    match = Match(names, tuple(map(Player, names)), Rulings(), deals, slips, closed=rounds)
    ledger = settle(match)
    handed = {name: Handed("handed in", ledger.notes(name)) for name in names}
    return replace(match, compositions=handed)


if __name__ == "__main__":
    main()
