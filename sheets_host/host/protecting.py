"""Which cells of the entry tabs only some may edit, in stores that can say so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sheets_host.game.match import Match
from sheets_host.game.rulings import LOTS
from sheets_host.game.stages import ROUND_STAGES, Stage
from sheets_host.grid import Area, Protected, Tab, grid_of
from sheets_host.tabs.entries import LOT_KEYS, POSITION_KEYS, ROUND_KEYS, Source, find_source
from sheets_host.tabs.finding import Keyed, fold
from sheets_host.tabs.players import RosterRow


def protections(
    source: Source, match: Match, roster: Sequence[RosterRow]
) -> dict[str, tuple[Protected, ...]]:
    """Return by tab: a player's columns are theirs and the host's, closed rows the host's alone."""
    emails = {row.name: row.email for row in roster if row.email}
    closed = [s for s in ROUND_STAGES if s in match.closed and s not in match.reopened]
    composed = Stage.COMPOSING in match.closed and Stage.COMPOSING not in match.reopened
    lots = {(int(s), lot) for s in closed for lot in range(1, LOTS + 1)}
    found = {}
    for keyed, keys, shut in (
        (source.bids, LOT_KEYS, lots),
        (source.exchanges, ROUND_KEYS, {(int(stage),) for stage in closed}),
        (source.compositions, POSITION_KEYS, set(POSITION_KEYS) if composed else set()),
    ):
        columns = [
            _column(keyed, name, email)
            for name, email in emails.items()
            if name in keyed.columns and name in source.players
        ]
        rows = _rows(keyed, [keyed.rows[key] for key in keys if key in shut])
        found[keyed.title] = (*columns, *rows)
    return found


def first_protections(
    entries: Sequence[Tab], names: Sequence[str], match: Match, roster: Sequence[RosterRow]
) -> dict[str, tuple[Protected, ...]]:
    """Return the same for entry tabs that are drawn and not written yet."""
    grids = {tab.title: grid_of(tab) for tab in entries}
    source, _ = find_source(grids, {fold(name): name for name in names}, names)
    assert source is not None
    return protections(source, match, roster)


def _column(keyed: Keyed, player: str, email: str) -> Protected:
    """Protect a player's column with its header: whoever renames it takes the entries away."""
    column = keyed.columns[player]
    area = Area(keyed.table.row, column, max(keyed.rows.values()), column)
    return Protected(area, (email,), f"the column of {player}")


def _rows(keyed: Keyed, rows: Iterable[int]) -> Iterable[Protected]:
    """Lock whole runs of closed rows, across the players' columns."""
    columns = keyed.columns.values()
    if not columns:
        return
    left, right = min(columns), max(columns)
    for top, bottom in _runs(sorted(rows)):
        yield Protected(Area(top, left, bottom, right), (), "closed: what is recorded stands")


def _runs(rows: Sequence[int]) -> list[tuple[int, int]]:
    runs: list[tuple[int, int]] = []
    for row in rows:
        if runs and row == runs[-1][1] + 1:
            runs[-1] = runs[-1][0], row
        else:
            runs.append((row, row))
    return runs
