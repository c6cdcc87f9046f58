"""Random whole games, wrong entries and all: what holds in every one of them.

Every typed value comes with what it means by the rulings, and `expected` works the auction out
from these meanings alone, so that the host's way from the cells to the balances has a second
reading to agree with.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from sheets_host.game.conditions import CONDITIONS
from sheets_host.game.ledger import settle
from sheets_host.game.notes import ALL_NOTES, Note
from sheets_host.game.record import Record
from sheets_host.game.rulings import LOTS, ROUNDS, SCORING_SWITCHES
from sheets_host.game.scoring import share
from sheets_host.game.stages import Stage
from sheets_host.grid import Cell, Kind, Shape, Strike
from sheets_host.host.gathering import Table
from sheets_host.host.jsonview import as_json
from sheets_host.host.verbs import Wish, sync, verify
from sheets_host.tabs.entry_tabs import BIDS_HEADER, COMPOSITIONS_HEADER, EXCHANGES_HEADER
from sheets_host.tabs.layout import TOOL_TABS
from tests.memory_store import MemoryStore, Typed
from tests.playing import (
    bid,
    close,
    compose,
    context,
    exchange,
    game,
    look,
    refresh,
    setting,
)

NAMES: Final = ("Ann", "bob", "Zoë", "=1+1", "D# quarter", "Käthe & Søn")


@dataclass(frozen=True)
class Value:
    """What is typed, and what it means: a number, None for blank; wrong: it cannot be read."""

    typed: Typed
    means: int | None = None
    wrong: bool = False


NUMBERS = st.one_of(
    st.integers(0, 6),  # ties
    st.integers(0, 120),
    st.sampled_from((0, 250, 500, 501)),
).map(lambda n: Value(n, n))
OTHERS = st.sampled_from(
    (
        Value(None),
        Value("pass"),
        Value("–"),
        Value("  "),
        Value(" 7 ", 7),
        Value("５", 5),
        Value(Cell(Kind.NUMBER, 5.0, "=2+3"), 5),
        Value(Cell(Kind.NUMBER, -0.0), 0),
        Value("five", wrong=True),
        Value("1,000", wrong=True),
        Value(-1, wrong=True),
        Value(5.5, wrong=True),
        Value(True, wrong=True),
        Value(1e300, wrong=True),
        Value(Cell(Kind.ERROR, "#REF!", "=#REF!"), wrong=True),
        Value(Cell(Kind.BLANK, None, "=A1", cached=False), wrong=True),
        Value(Cell(Kind.NUMBER, 46024.0, shape=Shape.DATE), wrong=True),
        Value(Cell(Kind.NUMBER, 5.0, strike=Strike.WHOLE), wrong=True),
        Value(Cell(Kind.BLANK, merge="E7:F7"), wrong=True),
    )
)
BIDS = st.dictionaries(
    st.integers(1, LOTS), st.one_of(NUMBERS, NUMBERS, NUMBERS, OTHERS), max_size=LOTS
)
USES = st.one_of(
    st.just(Value(None)),
    st.integers(0, 3).map(lambda n: Value(n, n)),
    st.sampled_from((Value("two", wrong=True), Value(40, 40), Value(10**14, 10**14), Value("x"))),
)


@dataclass(frozen=True)
class Slips:
    """What one player types for a round."""

    bids: Mapping[int, Value]
    uses: Value


@dataclass(frozen=True)
class Script:
    """A whole game: garnets by player, entries by round and player, compositions, switches."""

    garnets: Mapping[str, int]
    rounds: tuple[Mapping[str, Slips], ...]
    orders: Mapping[str, int]  # what shuffles the notes held
    flaws: Mapping[str, str]
    switches: Mapping[str, str]

    @property
    def players(self) -> tuple[str, ...]:
        return tuple(f"{name}:{garnets}" for name, garnets in self.garnets.items())


FLAWS: Final = ("", "", "", "missing", "twice", "not held", "misspelt", "nothing")


@st.composite
def scripts(draw: st.DrawFn) -> Script:
    names = NAMES[: draw(st.integers(1, len(NAMES)))]
    entries = st.builds(Slips, BIDS, USES)
    return Script(
        garnets={name: draw(st.integers(0, 20)) for name in names},
        rounds=tuple({name: draw(entries) for name in names} for _ in range(ROUNDS)),
        orders={name: draw(st.integers(0, 99)) for name in names},
        flaws={name: draw(st.sampled_from(FLAWS)) for name in names},
        switches={s.name: draw(st.sampled_from(s.values)) for s in SCORING_SWITCHES},
    )


# --- playing -------------------------------------------------------------------------------------


def begin(script: Script, order: tuple[str, ...] | None = None) -> MemoryStore:
    players = [f"{name}:{script.garnets[name]}" for name in order or script.garnets]
    store = game(*players)
    for name, value in script.switches.items():
        setting(store, name, value)
    setting(store, "Unfixed entries at closing", "void")
    return store


def type_round(store: MemoryStore, script: Script, round_: int) -> None:
    for name, slips in script.rounds[round_ - 1].items():
        bid(store, name, round_, {lot: value.typed for lot, value in slips.bids.items()})
        exchange(store, name, round_, slips.uses.typed)


def order_of(script: Script, name: str, held: tuple[Note, ...]) -> list[Note]:
    order = list(held)
    random.Random(script.orders[name]).shuffle(order)
    return order


def type_compositions(store: MemoryStore, script: Script) -> None:
    ledger = look(store).ledger
    for name, flaw in script.flaws.items():
        held = ledger.notes(name)
        spelt: list[Typed] = [str(n) for n in order_of(script, name, held)]
        if flaw == "nothing":
            continue
        if flaw == "missing":
            spelt = spelt[1:]
        elif flaw == "twice":
            spelt += spelt[:1]
        elif flaw == "not held":
            spelt.append(str(next(n for n in ALL_NOTES if n not in held)))
        elif flaw == "misspelt":
            spelt.append("H quarter")
        # Blanks between are skipped.
        compose(store, name, spelt, [2 * i + 1 for i in range(len(spelt))][:24])


def fits(script: Script, name: str, held: int) -> bool:
    """Tell whether what `type_compositions` types stands as a composition."""
    flaw = script.flaws[name]
    return flaw == "" or (flaw in ("missing", "twice") and not held)


def play(store: MemoryStore, script: Script) -> Table:
    for round_ in range(1, ROUNDS + 1):
        type_round(store, script, round_)
        close(store, round_)
    type_compositions(store, script)
    return close(store, "final").after


# --- the second reading --------------------------------------------------------------------------


@dataclass
class Account:
    """What a player of `expected` holds."""

    tokens: int
    garnets: int
    used: int = 0


def expected(
    script: Script,
) -> tuple[dict[tuple[int, str], list[int]], list[dict[int, str | None]]]:
    """Return [start, exchanged, bid] by round and player, and who gains which lot by round."""
    accounts = {name: Account(500, garnets) for name, garnets in script.garnets.items()}
    balances: dict[tuple[int, str], list[int]] = {}
    gains: list[dict[int, str | None]] = []
    for round_, entries in enumerate(script.rounds, 1):
        standing: dict[int, list[tuple[int, str]]] = {}
        for name, slips in entries.items():
            account = accounts[name]
            uses = 0 if slips.uses.wrong else slips.uses.means or 0
            price = sum(2**nth for nth in range(account.used, account.used + min(uses, 60)))
            if price > account.garnets:
                uses = price = 0
            bids = {lot: v.means for lot, v in slips.bids.items() if v.means is not None}
            have = account.tokens + 10 * uses
            if sum(bids.values()) > have:
                bids = {}
            paid = sum(bids.values())
            balances[round_, name] = [account.tokens, 10 * uses, paid]
            accounts[name] = Account(have - paid, account.garnets - price, account.used + uses)
            for lot, tokens in bids.items():
                standing.setdefault(lot, []).append((tokens, name))
        gained: dict[int, str | None] = {}
        for lot, offers in standing.items():
            ranked = sorted(offers, reverse=True)
            tied = len(ranked) > 1 and ranked[0][0] == ranked[1][0]
            gained[lot] = None if tied else ranked[0][1]
        gains.append(gained)
    return balances, gains


def games(count: int) -> settings:
    """Return how to play so many games. A game takes too long for shrinking to be worth it."""
    return settings(
        max_examples=count,
        phases=(Phase.explicit, Phase.reuse, Phase.generate),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )


# --- what holds ----------------------------------------------------------------------------------


@games(30)
@given(scripts())
def test_game__agrees_with_the_second_reading_and_conserves(script: Script) -> None:
    table = play(begin(script), script)
    agrees(script, table)
    conserves(table)
    pays(table)


def agrees(script: Script, table: Table) -> None:
    balances, gains = expected(script)
    found = {
        (b.round, b.player): [b.start, b.exchanged, b.bid] for b in table.ledger.balances.values()
    }
    assert found == balances
    for round_, gained in enumerate(gains, 1):
        winners = {o.lot: o.winner for o in table.ledger.outcomes[round_]}
        assert winners == {lot: gained.get(lot) for lot in range(1, LOTS + 1)}
    assert table.result
    for card in table.result.cards:
        held = table.ledger.notes(card.player)
        stands = fits(script, card.player, len(held)) and held
        order = tuple(order_of(script, card.player, held))
        assert (card.composition or ()) == (order if stands else ())
        assert set(card.tie_notes) == set(held if stands or len(held) < 5 else ())


def conserves(table: Table) -> None:
    """Tokens and garnets add up and are never negative; no note is held twice."""
    ledger = table.ledger
    for name in table.match.names:
        spent = 0
        for round_ in range(1, ROUNDS + 1):
            balance = ledger.balances[round_, name]
            assert balance.left == balance.start + balance.exchanged - balance.bid >= 0
            assert balance.left == ledger.purse(round_ + 1, name).tokens
            assert ledger.purse(round_ + 1, name).garnets >= 0
            assert balance.bid == table.match.slips[round_, name].total
            if table.match.kept[round_, name] == "void":
                assert balance.bid == 0  # a void slip is never charged
            spent += balance.exchanged // 10
        start = table.match.player(name).garnets
        assert start - ledger.purse(ROUNDS + 1, name).garnets == 2**spent - 1
    won = [note for name in table.match.names for note in ledger.notes(name)]
    assert len(won) == len(set(won))


def pays(table: Table) -> None:
    """Shares, garnets earned, ranks and the result follow from the points."""
    result = table.result
    assert result
    for card in result.cards:
        assert card.earned == card.points // 8
        assert card.points == sum(card.points_by_condition)
        assert not card.points or len(card.composition or ()) >= 5
    assert len(result.holders[8]) <= 1
    assert len(result.holders[7]) <= ROUNDS
    for condition, holders, each in zip(CONDITIONS, result.holders, result.each, strict=True):
        assert each == share(condition.worth, len(holders))
        assert each * len(holders) <= condition.worth
    best = max(card.points for card in result.cards)
    if result.winner:
        assert result.card(result.winner).points == best
        assert [c.player for c in result.cards if c.rank == 1] == [result.winner]
        others = [c for c in result.cards if c.player != result.winner]
        last = {c.player for c in others if c.points == min(o.points for o in others)}
        named = {result.candidate} if result.candidate else set(result.choice_among)
        assert named == last
    else:
        assert not any(result.card(name).tie_notes for name in result.winner_among)


def tool_grids(store: MemoryStore, *but: str) -> dict[str, dict[tuple[int, int], Cell]]:
    return {t: dict(store.grid(t).cells) for t in TOOL_TABS if t not in but}


@games(15)
@given(scripts(), st.integers(1, 6))
def test_game__reports_follow_from_the_record_alone(script: Script, stop: int) -> None:
    store = begin(script)
    for round_ in range(1, stop + 1):
        type_round(store, script, round_)
        close(store, round_)
    if stop == ROUNDS:
        type_compositions(store, script)
        close(store, "final")
    assert refresh(store).written == ()  # a second sync writes nothing
    found = verify(store, context())
    assert found.differing == ()
    record = look(store).record
    assert Record().with_events(record.events) == record
    assert settle(look(store).match) == look(store).ledger
    twin = store.copy()
    for title in TOOL_TABS:
        if title != "Record":
            twin.clear(title)
    refresh(twin)
    assert tool_grids(twin) == tool_grids(store)
    changed = [p for p in look(store).problems if p.code == "changed-after-closing"]
    assert [(p.where, p.message) for p in changed] == []


@games(15)
@given(scripts(), st.integers(1, ROUNDS))
def test_game__an_open_stage_shows_on_checks_alone(script: Script, open_: int) -> None:
    store = begin(script)
    for round_ in range(1, open_):
        type_round(store, script, round_)
        close(store, round_)
    refresh(store)  # the settings were typed after the last write
    before = tool_grids(store, "Checks")
    type_round(store, script, open_)
    done = refresh(store)
    assert {title for _, title, _ in done.written} <= {"Checks"}
    assert tool_grids(store, "Checks") == before


def facts(table: Table) -> dict[str, Any]:
    """Return the JSON result by player and without order."""
    view: dict[str, Any] = as_json(table)
    return {
        "stage": view["stage"],
        "players": {p["name"]: p for p in view["players"]},
        "balances": {(b["round"], b["player"]): b for b in view["balances"]},
        "auction": view["auction"],
        "conditions": [{**c, "fulfilled_by": set(c["fulfilled_by"])} for c in view["conditions"]],
        "winner": view["winner"],
        "candidate": view["elimination"]["candidate"],
        "among": set(view["elimination"]["choice_among"]),
        "problems": {(p["code"], p["player"], p["message"]) for p in view["problems"]},
    }


def jumble(store: MemoryStore, chance: random.Random) -> None:
    """Sort the entry tabs' rows and columns anew, and push all of it down and to the right."""
    headers = {
        "Bids": BIDS_HEADER, "Exchanges": EXCHANGES_HEADER, "Compositions": COMPOSITIONS_HEADER
    }  # fmt: skip
    for tab, header in headers.items():
        places = store.grid(tab).cells
        rows = sorted({r for r, _ in places if r > header})
        columns = sorted({c for _, c in places})
        down = dict(zip(rows, chance.sample(rows, len(rows)), strict=True))
        right = dict(zip(columns, chance.sample(columns, len(columns)), strict=True))
        store.rearrange(tab, partial(_moved, down, right))


def _moved(
    down: Mapping[int, int], right: Mapping[int, int], row: int, column: int
) -> tuple[int, int]:
    return down.get(row, row) + 3, right[column] + 2


@games(12)
@given(scripts(), st.randoms(use_true_random=False))
def test_game__order_of_players_rows_and_columns_changes_nothing(
    script: Script, chance: random.Random
) -> None:
    plain = play(begin(script), script)
    names = list(script.garnets)
    chance.shuffle(names)
    other = begin(script, tuple(names))
    jumble(other, chance)
    assert facts(play(other, script)) == facts(plain)


@games(15)
@given(scripts())
def test_game__under_hold_a_stage_with_a_wrong_entry_stays_open(script: Script) -> None:
    store = begin(script)
    setting(store, "Unfixed entries at closing", "hold")
    type_round(store, script, 1)
    table = look(store)
    wrong = {
        name
        for name, slips in script.rounds[0].items()
        if slips.uses.wrong or any(v.wrong for v in slips.bids.values())
    }
    over = {name for name in script.garnets if not_as_typed(script, name)}
    assert {p.player for p in table.standing} == wrong | over
    if wrong | over:
        rows = table.record.rows
        done = sync(store, Wish(close=Stage.ROUND_1), context())
        assert (done.closed, done.after.record.rows) == (None, rows)
        assert done.held
    close(store, 1, void=True)


def not_as_typed(script: Script, name: str) -> bool:
    """Tell whether round 1's slip is charged otherwise than it says."""
    slips = script.rounds[0][name]
    uses = slips.uses.means or 0
    says = [10 * uses, sum(v.means or 0 for v in slips.bids.values())]
    return expected(script)[0][1, name][1:] != says
