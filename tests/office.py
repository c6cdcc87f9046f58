"""Drives a real LibreOffice, so that tests can type, sort and save as a person would.

    with Office() as office, office.open(path) as doc:
        doc.type("Bids", "E7", "5")
        doc.save()

soffice runs without a window, with a profile of its own, and listens on a pipe that only this
machine sees. `office_server.py` speaks to it, in the Python that has LibreOffice's `uno`. When
LibreOffice hangs or dies, the call ends in an OfficeError and the next `open` starts it anew.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import queue
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Final, Self

from tests.office_document import CellError, ConditionalFormat, Document, OfficeError, Validation

SERVER: Final = Path(__file__).with_name("office_server.py")
__all__ = [
    "CellError",
    "ConditionalFormat",
    "Document",
    "Office",
    "OfficeError",
    "OfficeMissingError",
    "Validation",
]

START_SECONDS: Final = 40.0
END_SECONDS: Final = 5.0


class OfficeMissingError(Exception):
    """LibreOffice, or a Python that has its `uno`, is not on this machine."""


class Office:
    """One LibreOffice. locale: how it reads numbers and dates; timeout: seconds for one call.

    Raises OfficeMissingError where the machine has none, OfficeError where it does not start.
    """

    def __init__(self, *, locale: str = "en-US", timeout: float = 30.0) -> None:
        self._soffice, self._python = _programs()
        self._locale = locale
        self._timeout = timeout
        self._folder = Path(tempfile.mkdtemp(prefix="office-"))
        self._processes: tuple[subprocess.Popen[bytes], subprocess.Popen[str]] | None = None
        self._answers: queue.Queue[str] = queue.Queue()
        self._opened: list[Path] = []
        self._generation = 0  # counts the ends: a document of an earlier LibreOffice is gone

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    @property
    def pid(self) -> int | None:
        """The process (and process group) of soffice, None while it is not running."""
        return self._processes[0].pid if self._processes else None

    @contextlib.contextmanager
    def open(self, path: Path) -> Iterator[Document]:
        """Open a spreadsheet; it is closed at the end, unsaved unless `save` was called."""
        if self._processes is None:
            self._start()
        generation = self._generation
        number = self.call("open", path=str(path.resolve()))
        self._opened.append(path.resolve())

        def do(verb: str, **args: Any) -> Any:
            if self._generation != generation:
                raise OfficeError("this document went down with the LibreOffice that held it")
            return self.call(verb, doc=number, **args)

        try:
            yield Document(do)
        finally:
            if self._generation == generation:
                self.call("close", doc=number)
                self._opened.remove(path.resolve())

    def pictures(self, path: Path, out_dir: Path, dpi: int = 80) -> list[Path]:
        """Print a workbook and return a PNG of each page. Raises OfficeMissingError (pdftoppm)."""
        program = shutil.which("pdftoppm")
        if program is None:
            raise OfficeMissingError("pdftoppm (poppler-utils) is not here")
        out_dir.mkdir(parents=True, exist_ok=True)
        pdf = out_dir / f"{path.stem}.pdf"
        with self.open(path) as doc:
            doc.pdf(pdf)
        for old in out_dir.glob(f"{path.stem}-*.png"):
            old.unlink()
        command = [program, "-png", "-r", str(dpi), str(pdf), str(out_dir / path.stem)]
        subprocess.run(command, check=True, timeout=self._timeout * 2, capture_output=True)
        return sorted(out_dir.glob(f"{path.stem}-*.png"))

    def call(self, verb: str, **args: Any) -> Any:
        """Have the server do one thing. Raises OfficeError; LibreOffice is stopped if it hangs."""
        if self._processes is None:
            raise OfficeError("LibreOffice is not running")
        line = json.dumps({"do": verb, "args": args})
        try:
            _pipe(self._processes[1].stdin).write(line + "\n")
            _pipe(self._processes[1].stdin).flush()
        except OSError as error:
            self._kill()
            raise OfficeError(f"LibreOffice was gone before {verb!r}; it starts anew") from error
        return self._answer(verb, self._timeout)

    def _answer(self, verb: str, seconds: float) -> Any:
        try:
            line = self._answers.get(timeout=seconds)
        except queue.Empty:
            self._kill()
            raise OfficeError(
                f"LibreOffice did not answer {verb!r} within {seconds:g} s; it was stopped and"
                " starts anew at the next open"
            ) from None
        message = json.loads(line) if line else {"lost": "its connection ended"}
        if "lost" in message:
            self._kill()
            raise OfficeError(f"LibreOffice went down in {verb!r}: {message['lost']}")
        if "error" in message:
            raise OfficeError(f"{verb}: {message['error']}")
        return message["ok"]

    def _start(self) -> None:
        profile = self._folder / f"profile-{self._generation}"
        (profile / "user").mkdir(parents=True)
        settings = profile / "user" / "registrymodifications.xcu"
        settings.write_text(_SETTINGS.format(locale=self._locale), encoding="utf-8")
        pipe = f"sheets-host-{os.getpid()}-{secrets.token_hex(4)}"
        soffice = subprocess.Popen(
            [
                self._soffice,
                "--headless",
                "--norestore",
                "--nologo",
                "--nodefault",
                "--nolockcheck",
                f"-env:UserInstallation={profile.as_uri()}",
                f"--accept=pipe,name={pipe};urp;",
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # the launcher's children end with it, and nothing else does
        )
        server = subprocess.Popen(
            [self._python, str(SERVER), pipe, str(START_SECONDS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            start_new_session=True,  # Ctrl+C is ours to act on
        )
        self._processes = (soffice, server)
        self._answers = queue.Queue()
        listen = functools.partial(_listen, _pipe(server.stdout), self._answers)
        threading.Thread(target=listen, daemon=True).start()
        self._answer("start", START_SECONDS + 5)

    def end(self) -> None:
        """End LibreOffice, kindly if it listens, and take its profile away."""
        if self._processes is not None:
            soffice, server = self._processes
            with contextlib.suppress(OSError):
                _pipe(server.stdin).close()  # the server then closes everything and leaves
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(END_SECONDS)
                soffice.wait(END_SECONDS)
            self._kill()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _kill(self) -> None:
        if self._processes is None:
            return
        for process in self._processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        server = self._processes[1]
        self._processes = None
        self._generation += 1
        for path in self._opened:  # or the next LibreOffice would take them for someone else's
            path.with_name(f".~lock.{path.name}#").unlink(missing_ok=True)
        self._opened.clear()
        with contextlib.suppress(OSError):
            _pipe(server.stdin).close()


def _pipe(stream: IO[str] | None) -> IO[str]:
    assert stream is not None
    return stream


def _listen(stream: IO[str], answers: queue.Queue[str]) -> None:
    with stream:
        for line in stream:
            answers.put(line)
    answers.put("")


_SETTINGS: Final = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry"
 xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<item oor:path="/org.openoffice.Setup/L10N"><prop oor:name="ooSetupSystemLocale"
 oor:op="fuse"><value>{locale}</value></prop></item>
</oor:items>
"""


@functools.cache
def _programs() -> tuple[str, str]:
    """Find soffice, and a Python that can import uno. Raises OfficeMissingError."""
    soffice = shutil.which("soffice") or shutil.which("libreoffice")
    if soffice is None or sys.platform == "win32":
        raise OfficeMissingError("LibreOffice's soffice is not here")
    for python in (sys.executable, "/usr/bin/python3", shutil.which("python3")):
        if python is None or not Path(python).exists():
            continue
        asked = subprocess.run(
            [python, "-c", "import uno"], check=False, capture_output=True, timeout=20
        )
        if asked.returncode == 0:
            return soffice, python
    raise OfficeMissingError("no Python here has LibreOffice's uno (python3-uno)")
