"""A real Chromium without a window, driven over its DevTools protocol by a pipe.

No library is needed for it: Chromium reads JSON messages from file descriptor 3, writes them to 4,
and ends each with a NUL (chromium: content/browser/devtools/devtools_pipe_handler.cc).
"""

from __future__ import annotations

import base64
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

NAMES: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS: Final = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--mute-audio", "--remote-debugging-pipe",
)  # fmt: skip
PATIENCE: Final = 30.0  # seconds for any answer

# Descriptors 3 and 4 may be taken by the pipes themselves, so both are moved out of the way first.
_ON_3_AND_4: Final = """
import fcntl, os, sys
ours = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3]]
os.dup2(ours[0], 3)
os.dup2(ours[1], 4)
os.execv(sys.argv[3], sys.argv[3:])
"""


class ChromiumMissingError(Exception):
    """There is no Chromium here, or no pipe to drive it by."""


class Chromium:
    """One browser with a profile of its own, thrown away with it."""

    def __init__(self) -> None:
        found = next(filter(None, map(shutil.which, NAMES)), None)
        if found is None:
            raise ChromiumMissingError(f"no Chromium: none of {', '.join(NAMES)} is installed")
        if sys.platform == "win32":
            raise ChromiumMissingError("Chromium is driven by a pipe that Windows does not have")
        self._profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        read_by_it, self._to = os.pipe()
        self._from, written_by_it = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _ON_3_AND_4, str(read_by_it), str(written_by_it), found,
             *FLAGS, f"--user-data-dir={self._profile.name}", "about:blank"],
            pass_fds=(read_by_it, written_by_it),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(read_by_it)
        os.close(written_by_it)
        self._rest = b""
        self._number = 0
        self._sessions: dict[str, Page] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the browser: by asking, then by force."""
        try:
            self.call("Browser.close", {})
            self._process.wait(5)
        except (OSError, TimeoutError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        os.close(self._to)
        os.close(self._from)
        self._profile.cleanup()

    def page(self, width: int = 1280, height: int = 900, *, dark: bool = False) -> Page:
        """Open an empty page of this size, in CSS pixels, with storage of its own."""
        context = self.call("Target.createBrowserContext", {})["browserContextId"]
        target = self.call(
            "Target.createTarget", {"url": "about:blank", "browserContextId": context}
        )["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})
        return Page(self, session["sessionId"], width, height, dark)

    def call(self, method: str, params: dict[str, Any], session: str = "") -> dict[str, Any]:
        """Send a command and wait for its answer. Raises RuntimeError where it is refused."""
        self._number += 1
        number = self._number
        message: dict[str, Any] = {"id": number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self._to, data) :]
        while True:
            answer = self._next(PATIENCE)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                result: dict[str, Any] = answer.get("result", {})
                return result

    def listen(self, seconds: float) -> None:
        """Take what the browser tells for some time."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            try:
                self._next(left)
            except TimeoutError:
                return

    def _next(self, seconds: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._from], [], [], seconds)
            if not ready:
                raise TimeoutError(f"Chromium said nothing for {seconds:.0f} s")
            data = os.read(self._from, 1 << 16)
            if not data:
                raise OSError("Chromium has ended")
            self._rest += data
        line, _, self._rest = self._rest.partition(b"\0")
        message: dict[str, Any] = json.loads(line)
        page = self._sessions.get(message.get("sessionId", ""))
        if page and "method" in message:
            page.events.append(message)
        return message


class Page:
    """One page. events: all that the browser told of it."""

    def __init__(
        self, browser: Chromium, session: str, width: int, height: int, dark: bool
    ) -> None:
        self._browser = browser
        self._session = session
        self.events: list[dict[str, Any]] = []
        browser._sessions[session] = self
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.resize(width, height)
        scheme = "dark" if dark else "light"
        self.call(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": scheme}],
        )

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command to this page."""
        return self._browser.call(method, params, self._session)

    def resize(self, width: int, height: int) -> None:
        """Make the page this wide and high, as a phone's up to 500 pixels."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width <= 500,
        )

    def before(self, script: str) -> None:
        """Run a script ahead of every page loaded from now on."""
        self.call("Page.addScriptToEvaluateOnNewDocument", source=script)

    def goto(self, address: str) -> None:
        """Load a page and wait until all of it is there."""
        self.call("Page.navigate", url=address)
        self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, script: str) -> Any:
        """Evaluate an expression as if a person had just touched the page."""
        answer = self.call(
            "Runtime.evaluate",
            expression=script,
            returnByValue=True,
            awaitPromise=True,
            userGesture=True,
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(json.dumps(answer["exceptionDetails"]))
        return answer["result"].get("value")

    def until(self, script: str, seconds: float = 10) -> None:
        """Wait until an expression holds. Raises AssertionError where it never does."""
        self._wait(lambda: self.run(script), seconds, script)

    def click(self, selector: str) -> None:
        """Click the middle of an element with a real mouse."""
        x, y = self.run(
            f"""(element => {{
                element.scrollIntoView({{ block: "center", behavior: "instant" }});
                const at = element.getBoundingClientRect();
                return [at.x + at.width / 2, at.y + at.height / 2];
            }})(document.querySelector({json.dumps(selector)}))"""
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def _wait(self, holds: Callable[[], Any], seconds: float, what: str) -> None:
        end = time.monotonic() + seconds
        while not holds():
            if time.monotonic() > end:
                raise AssertionError(f"never in {seconds:.0f} s: {what}")
            self._browser.listen(0.05)

    def requests(self) -> list[str]:
        """Return every address asked for, pictures inside the page left out."""
        asked = (
            event["params"]["request"]["url"]
            for event in self.events
            if event["method"] == "Network.requestWillBeSent"
        )
        return [address for address in asked if not address.startswith("data:")]

    def complaints(self) -> list[str]:
        """Return every error, warning and violated policy that the console shows."""
        found = []
        for event in self.events:
            params = event["params"]
            if event["method"] == "Runtime.exceptionThrown":
                found.append(json.dumps(params["exceptionDetails"]))
            elif event["method"] == "Runtime.consoleAPICalled":
                found.append(json.dumps(params["args"]))
            elif event["method"] == "Log.entryAdded":
                found.append(params["entry"]["text"])
        return found

    def screenshot(self, path: Path, *, full: bool = True) -> None:
        """Save a picture of the page, down to its end if it is to be full."""
        shot = self.call("Page.captureScreenshot", captureBeyondViewport=full)
        path.write_bytes(base64.b64decode(shot["data"]))
