"""Rehearse on an emulated Google Sheet: no account, no network.

python -m tests.sheets_emulator --port 8765
    runs the emulator with one empty sheet and says how to use it
python -m tests.sheets_emulator --port 8765 type Bids E7 12
    types into the running one, as a person would
python -m tests.sheets_emulator --port 8765 show Bids
    prints what a tab shows; without a tab, the names of the tabs
python -m tests.sheets_emulator --port 8765 fault 503 write
    lets the next call fail
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import urllib.error
import urllib.request
from typing import Any

from tests.sheets_emulator import Emulator
from tests.sheets_emulator.faults import AFTER, BEFORE

REHEARSAL = "rehearsal-sheet-on-this-computer"


def main(arguments: list[str] | None = None) -> int:
    """Run the emulator, or speak to the one that runs."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.sheets_emulator",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--port", type=int, default=8765, choices=range(1, 65536), metavar="PORT")
    parser.add_argument("--sheet", default=REHEARSAL, help="the spreadsheet's id")
    verbs = parser.add_subparsers(dest="verb")
    typing = verbs.add_parser("type")
    for name in ("tab", "cell", "text"):
        typing.add_argument(name)
    typing.add_argument("--who", help="a mail address; the owner where left out")
    verbs.add_parser("show").add_argument("tab", nargs="?")
    fault = verbs.add_parser("fault")
    fault.add_argument("kind", choices=sorted(AFTER | BEFORE))
    fault.add_argument("on", nargs="?", choices=["read", "write"])
    fault.add_argument("--times", type=int, default=1)
    given = parser.parse_args(arguments)
    if given.verb is None:
        return serve(given.port, given.sheet)
    order = {name: value for name, value in vars(given).items() if value is not None}
    return ask(given.port, order | {"do": given.verb, "id": given.sheet})


def serve(port: int, sheet: str) -> int:
    """Run until interrupted."""
    try:
        emulator = Emulator(port)
    except OSError as refused:
        print(f"Port {port} cannot be used: {refused.strerror}; try another.", file=sys.stderr)
        return 3
    with emulator as google:
        google.add_spreadsheet(sheet)
        print(f"Emulating Google Sheets on {google.host}. In another terminal:\n")
        print(f"  SHEETS_EMULATOR_HOST={google.host} sheets-host new {sheet} --player Ann\n")
        print("Stop it with Ctrl+C; what was written is then gone.", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print()
    return 0


def ask(port: int, order: dict[str, Any]) -> int:
    """Send an order to the running emulator and print what it answers."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/desk", json.dumps(order).encode())
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=10) as answered:
            answer = json.loads(answered.read())["answer"]
    except urllib.error.HTTPError as refusal:
        with refusal:
            print(json.loads(refusal.read())["error"]["message"], file=sys.stderr)
        return 1
    except OSError as unreached:
        print(f"No emulator answers on port {port}: {unreached}", file=sys.stderr)
        return 3
    rows = answer if isinstance(answer, list) else [[answer]]
    try:
        for row in rows:
            print("\t".join(row))
        sys.stdout.flush()
    except BrokenPipeError:  # `show … | head`: who reads has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for Python's last flush
    return 0


if __name__ == "__main__":
    sys.exit(main())
