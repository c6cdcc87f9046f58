"""Runs the command line: as a process of its own, or in this one, which is ten times as quick."""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast
from unittest.mock import patch

SECONDS = 20.0
# A person reads a question before answering. Python keeps a Ctrl-C for the next key where it comes
# in the microseconds between the question and the wait for an answer.
READING = 0.3


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended. out: its results; err: what it said to the person."""

    code: int
    out: str
    err: str

    @property
    def said(self) -> str:
        """All it printed, each run of white space as one space: lines are wrapped anywhere."""
        return " ".join((self.out + self.err).split())

    @property
    def json(self) -> dict[str, Any]:
        return cast("dict[str, Any]", json.loads(self.out))


def here(*words: str | Path) -> Done:
    """Run the command in this process, off a terminal."""
    from sheets_host.cli import main

    out, err = io.StringIO(), io.StringIO()
    code = 0
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        patch.object(sys, "argv", ["sheets-host", *map(str, words)]),
        patch.object(sys, "stdin", io.StringIO()),
    ):
        try:
            main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1 if end.code else 0
    return Done(code, out.getvalue(), err.getvalue())


def run(*words: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Done:
    """Run the command as a person's script would: ``python -m sheets_host …``."""
    made = subprocess.run(
        [sys.executable, "-m", "sheets_host", *map(str, words)],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        encoding="utf-8",
        stdin=subprocess.DEVNULL,
        timeout=SECONDS,
        check=False,
    )
    return Done(made.returncode, made.stdout, made.stderr)


# As at a terminal: a shell's background jobs ignore Ctrl-C, and so would what they start.
MINDING_CTRL_C: Final = (
    "import runpy, signal\n"
    "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "runpy.run_module('sheets_host', run_name='__main__', alter_sys=True)\n"
)
# A shell makes the terminal that of the command which it starts.
_LED_BY_A_TERMINAL: Final = (
    f"import fcntl, termios\nfcntl.ioctl(0, termios.TIOCSCTTY, 0)\n{MINDING_CTRL_C}"
)


def at_terminal(
    *words: str | Path,
    answers: str = "",
    question: str = "[y/N]",
    env: Mapping[str, str] | None = None,
) -> Done:
    """Run the command on a terminal of 80 columns; answers: what is typed once it asks.

    All it prints is in `out`, as the person at the terminal sees it. POSIX only.
    """
    import fcntl
    import pty
    import select
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    clean = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    with subprocess.Popen(
        [sys.executable, "-c", _LED_BY_A_TERMINAL, *map(str, words)],
        env={**clean, "TERM": "xterm-256color", "COLUMNS": "80", **(env or {})},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        seen = b""
        with contextlib.suppress(OSError):  # how Linux says that the other end is closed
            while select.select([ours], [], [], SECONDS)[0] and (chunk := os.read(ours, 4096)):
                seen += chunk
                if answers and question.encode() in seen:
                    time.sleep(READING)
                    os.write(ours, answers.encode())
                    answers = ""
        os.close(ours)
        code = process.wait(SECONDS)
    return Done(code, seen.decode("utf-8").replace("\r\n", "\n"), "")
