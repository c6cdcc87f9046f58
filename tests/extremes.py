"""Workbooks of extreme size, and what a command on them takes: for tests and benchmarks."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, cast

from sheets_host.tabs.layout import BOARD_TABS
from tests.command import here
from tests.in_place import InPlace, parts_of
from tests.package import Package
from tests.packages import build
from tests.playing import find

ROWS: Final = 1_000_000
PLAYERS: Final = tuple(f"Player {number}" for number in range(1, 201))
TWO: Final = ("Ann", "Bob")


@dataclass(frozen=True, slots=True)
class Cost:
    """What a command took. cpu: seconds of the processor; peak: megabytes, Python included."""

    code: int
    cpu: float
    peak: float
    said: str


_MEASURED: Final = textwrap.dedent(
    """
    import json, sys, time
    from tests.command import here
    from tests.peak import peak

    done = here(*sys.argv[1:])
    print(json.dumps([done.code, time.process_time(), peak(), done.said]))
    """
)


def cost(*words: str | Path, root: Path = Path(__file__).parents[1]) -> Cost:
    """Run a command in a process of its own and say what it took (not on Windows)."""
    run = [sys.executable, "-c", _MEASURED, *map(str, words)]
    made = subprocess.run(
        run, cwd=root, capture_output=True, encoding="utf-8", timeout=120, check=True
    )
    return Cost(*cast("list[object]", json.loads(made.stdout)))  # type: ignore[arg-type]


# --- workbooks ---------------------------------------------------------------------------------


def styled_rows(first: int, last: int, columns: str = "A") -> str:
    """Empty rows with a format, as a fill laid over whole columns leaves them."""
    return "".join(
        f'<row r="{n}" s="1" customFormat="1">'
        + "".join(f'<c r="{letter}{n}" s="1"/>' for letter in columns)
        + "</row>"
        for n in range(first, last)
    )


def begin(path: Path, players: tuple[str, ...] = TWO) -> None:
    """Begin a game, with a bid of each player in round 1."""
    words = [word for name in players for word in ("--player", name)]
    assert here("new", path, *words, "--seed", "any").code == 0
    desk = InPlace(path)
    grid = desk.read(("Bids",)).grids["Bids"]
    cells = {
        find(grid, {"Round": 1, "Lot": 1 + seat % 8}, name): seat % 90
        for seat, name in enumerate(players)
    }
    desk.type_all("Bids", cells)


def rows_on_the_hosts_tab(path: Path) -> None:
    path.write_bytes(build({"Stock": styled_rows(1, ROWS)}))
    begin(path)


def rows_on(*tabs: str, columns: str = "A") -> Callable[[Path], None]:
    """A game with a million formatted rows below what stands on these tabs of its own."""

    def make(path: Path) -> None:
        begin(path)
        package = Package(path)
        with parts_of(path) as found:
            for tab in tabs:
                part = package.part_of(tab)
                rows = styled_rows(1 + _last_row(package, part), ROWS, columns).encode()
                found[part] = found[part].replace(b"</sheetData>", rows + b"</sheetData>")

    return make


def _last_row(package: Package, part: str) -> int:
    return max(int(row.get("r", "0")) for row in package.tree(part).iterfind(".//{*}row"))


def many_tabs(path: Path) -> None:
    path.write_bytes(build({f"Tab {n}": "<row><c><v>1</v></c></row>" for n in range(1, 201)}))
    begin(path)


def many_players(path: Path) -> None:
    begin(path, PLAYERS)


EXTREMES: Final[dict[str, Callable[[Path], None]]] = {
    "an ordinary game": begin,
    "a million rows on a tab of the host's": rows_on_the_hosts_tab,
    "a million rows on Bids": rows_on("Bids"),
    "a million rows on Standings": rows_on("Standings"),
    "three formatted cells in a million rows": rows_on("Standings", columns="ABC"),
    "a million rows on every report": rows_on(*BOARD_TABS),
    "a million rows on every tab that is read": rows_on("Bids", "Exchanges", "Settings", "Record"),
    "200 tabs": many_tabs,
    "200 players": many_players,
}
