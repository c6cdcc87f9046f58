"""What extreme workbooks take, beside openpyxl and calamine, and how many foreign ones stay whole.

python -m benchmarks.workbooks: every command in a process of its own, seconds of the processor
and the most memory it held; the three readers by turns on the same file, Python's start and all
imports included. SHEETS_HOST_CORPUS adds a folder of real workbooks to those made here.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

from sheets_host.tabs.layout import TOOL_TABS
from tests.command import here
from tests.extremes import EXTREMES, cost
from tests.foreign import FOREIGN
from tests.package_diff import assert_kept

ROOT: Final = Path(__file__).parents[1]
RUNS: Final = 3
SLOW: Final = "a million rows"  # openpyxl needs half a minute for each: one run
TOO_MUCH: Final = "a million rows on every tab that is read"  # for openpyxl: some 4 GB

_READERS: Final = {
    "ours": """
        import datetime
        from sheets_host.stores.excel import ExcelStore
        from sheets_host.tabs.layout import TITLES
        store = ExcelStore(Path(path), clock=datetime.datetime.now)
        store.read(TITLES)
    """,
    "openpyxl": """
        import openpyxl
        book = openpyxl.load_workbook(path)  # to walk its cells would make a million more
    """,
    "calamine": """
        import python_calamine
        book = python_calamine.load_workbook(path)
        for name in book.sheet_names:
            book.get_sheet_by_name(name).to_python(skip_empty_area=False)
    """,
}


def read(reader: str, path: Path) -> tuple[float, float]:
    """Return the seconds and the megabytes that reading takes."""
    script = (
        "import json, sys, time\nfrom pathlib import Path\npath = sys.argv[1]\n"
        f"{textwrap.dedent(_READERS[reader])}\nfrom tests.peak import peak\n"
        "print(json.dumps([time.process_time(), peak()]))"
    )
    run = [sys.executable, "-c", script, str(path)]
    made = subprocess.run(run, cwd=ROOT, capture_output=True, text=True, check=True)
    seconds, megabytes = cast("list[float]", json.loads(made.stdout))
    return seconds, megabytes


def extremes(folder: Path) -> None:
    """Print what each command takes on each extreme workbook, and what reading it takes."""
    heads = ("check", "sync --close 1", *(f"{reader} reads" for reader in _READERS))
    print(f"{'':42}" + "".join(f"{head:>18}" for head in heads))
    for name, make in EXTREMES.items():
        path = folder / "extreme.xlsx"
        path.unlink(missing_ok=True)
        make(path)
        readers = [reader for reader in _READERS if name != TOO_MUCH or reader != "openpyxl"]
        taken: dict[str, list[tuple[float, float]]] = {}
        for _ in range(1 if name.startswith(SLOW) else RUNS):
            for reader in readers:
                taken.setdefault(reader, []).append(read(reader, path))
        best = {reader: min(each) for reader, each in taken.items()}
        done = [cost("check", path), cost("sync", path, "--close", "1")]
        assert all(each.code == 0 for each in done)
        found = [(each.cpu, each.peak) for each in done] + list(best.values())
        print(f"{name:42}" + "".join(f"{s:10.2f} s{mb:5.0f} MB" for s, mb in found))
        for reader in readers[1:]:
            slower, larger = (
                theirs / mine for theirs, mine in zip(best[reader], best["ours"], strict=True)
            )
            print(f"    {reader} to ours: {slower:.1f} of the time, {larger:.1f} of the memory")


def foreign(folder: Path) -> Iterator[Path]:
    """Yield copies of all foreign workbooks there are."""
    for _, make in FOREIGN:
        yield make(folder)
    corpus = os.environ.get("SHEETS_HOST_CORPUS")
    for file in sorted(Path(corpus).glob("*.xls[xm]")) if corpus else ():
        yield shutil.copyfile(file, folder / file.name)


def kept(folder: Path) -> None:
    """Print how many workbooks a game left whole, and why others were refused."""
    import openpyxl

    whole = openpyxl_fails = 0
    refused: Counter[str] = Counter()
    for path in foreign(folder):
        try:
            openpyxl.load_workbook(path).save(folder / "saved.xlsx")
        except Exception:  # noqa: BLE001 - whatever it is, the workbook is not saved
            openpyxl_fails += 1
        before = path.read_bytes()
        done = here("new", path, "--player", "Ann", "--player", "Bob")
        if done.code:
            assert path.read_bytes() == before
            refused[done.err.splitlines()[0].partition(str(path))[2].strip(" :")] += 1
            continue
        assert_kept(before, path.read_bytes())
        before = path.read_bytes()
        assert here("sync", path, "--close", "1").code == 0
        assert_kept(
            before, path.read_bytes(), except_tabs=TOOL_TABS, except_parts=["*calcChain.xml"]
        )
        whole += 1
    print(f"kept whole through new and a closing: {whole}; refused: {sum(refused.values())}")
    for reason, times in refused.items():
        print(f"    {times}: {reason}")
    print(f"openpyxl cannot load and save: {openpyxl_fails}")


def main() -> None:
    """Print both tables."""
    with tempfile.TemporaryDirectory() as folder:
        kept(Path(folder))
        extremes(Path(folder))


if __name__ == "__main__":
    main()
