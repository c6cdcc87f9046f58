"""The spectators' page in a real Chromium: it loads, plays, sorts, fits, and lets nothing in."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import pairwise
from pathlib import Path

import pytest

from sheets_host.telling.page import render_page, write_page
from tests.chromium import Chromium, ChromiumMissingError, Page
from tests.spectated import ENGRAVING, GAME, HOSTILE, NAMES, match_view


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chromium]:
    try:
        made = Chromium()
    except ChromiumMissingError as missing:
        pytest.skip(str(missing))
    with made:
        yield made


def opened(
    browser: Chromium, path: Path, html: str, width: int = 1280, *, dark: bool = False
) -> Page:
    """Write a page and open it as a file, with an ear to what it plays."""
    write_page(path, html)
    found = browser.page(width, 900, dark=dark)
    found.before("""
        window.contexts = []; window.notes = []; window.hit = () => { window.struck = true };
        window.AudioContext = class extends AudioContext {
            constructor() { super(); contexts.push(this) }
        };
        const start = OscillatorNode.prototype.start;
        OscillatorNode.prototype.start = function (when) {
            if (this.type === "triangle") notes.push([this.frequency.value, when]);
            start.call(this, when);
        };
    """)
    found.goto(path.as_uri())
    return found


@contextmanager
def served(html: str) -> Iterator[tuple[str, list[str]]]:
    """Serve one page on this machine; yields its address and the paths asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/page.html", asked
        server.shutdown()
        thread.join()


def test_page__asks_for_nothing_and_complains_of_nothing(chromium: Chromium) -> None:
    view = match_view()
    with served(render_page(view, engravings=dict.fromkeys(NAMES, ENGRAVING))) as (address, asked):
        found = chromium.page()
        found.goto(address)
        found.click("#theme")
        found.click("#play-0")
        chromium.listen(0.5)

    assert asked == ["/page.html"]
    assert found.requests() == [address]
    assert found.complaints() == []
    assert found.run("[...document.images].every(i => i.complete && i.naturalWidth)")


def test_page__plays_the_notes_in_time_and_stops(chromium: Chromium, tmp_path: Path) -> None:
    view = match_view()
    found = opened(chromium, tmp_path / "page.html", render_page(view))
    composition = view.match.compositions["Bob"].notes
    assert found.run("contexts.length") == 0  # a browser forbids sound before a touch

    found.click("#play-1")
    found.until("contexts[0]?.state === 'running'")
    notes = found.run("notes")
    assert [round(hz / 261.626 * 1000) for hz, _ in notes] == [
        round(2 ** (note.pitch / 12) * 1000) for note in composition
    ]
    starts = [when for _, when in notes]
    eighth = 30 / 112
    for note, (start, following) in zip(composition[:-1], pairwise(starts), strict=True):
        assert following - start == pytest.approx(note.eighths * eighth, abs=0.01)
    found.until("document.querySelectorAll('.sounding').length === 1")
    assert found.run("document.querySelector('#play-1').textContent") == "Stop"

    found.click("#play-2")  # one plays at a time
    assert found.run("[...document.querySelectorAll('.play.on')].map(b => b.id)") == ["play-2"]
    found.click("#play-2")
    assert found.run("document.querySelectorAll('.play.on, .sounding').length") == 0
    assert found.run("contexts.length") == 1


def test_page__sorts_standings_either_way(chromium: Chromium, tmp_path: Path) -> None:
    view = match_view()
    found = opened(chromium, tmp_path / "page.html", render_page(view))
    shown = "[...document.querySelectorAll('#standings tbody .who')].map(n => n.textContent)"
    tokens = {name: view.ledger.purse(7, name).tokens for name in NAMES}
    place = found.run(
        "[...document.querySelectorAll('#standings thead th')]"
        ".findIndex(t => t.textContent === 'Tokens')"
    )

    found.click(f"#sort-{place}")
    assert [tokens[n] for n in found.run(shown)] == sorted(tokens.values(), reverse=True)
    found.click(f"#sort-{place}")
    assert [tokens[n] for n in found.run(shown)] == sorted(tokens.values())
    assert found.run("document.querySelector('[aria-sort]').ariaSort") == "ascending"
    found.click("#sort-1")
    assert found.run(shown) == sorted(NAMES)


@pytest.mark.parametrize("rounds", [0, 3, 6])
@pytest.mark.parametrize("width", [320, 360, 768, 1280, 1920])
def test_page__nothing_runs_over_the_edge(
    chromium: Chromium, tmp_path: Path, rounds: int, width: int
) -> None:
    view = match_view(HOSTILE, rounds=rounds, game=GAME, announced="all bids")
    html = render_page(view, engravings=dict.fromkeys(HOSTILE, ENGRAVING))
    found = opened(chromium, tmp_path / "page.html", html, width)

    assert found.run("document.documentElement.scrollWidth") == width
    assert not found.run("window.struck")
    assert found.complaints() == []


def test_page__a_wall_is_read_from_afar(chromium: Chromium, tmp_path: Path) -> None:
    found = opened(chromium, tmp_path / "page.html", render_page(match_view()), 1920)
    box = (
        "(s => { const r = document.querySelector(s).getBoundingClientRect(); return [r.x, r.y] })"
    )
    standings, tokens = (
        found.run(f"{box}('#standings-title')"),
        found.run(f"{box}('#tokens-title')"),
    )

    assert standings[1] == tokens[1]  # side by side
    assert found.run("parseFloat(getComputedStyle(document.body).fontSize)") >= 20
    assert found.run("(s => s.scrollWidth <= s.clientWidth)(document.querySelector('.scroll'))")


CONTRAST = """(() => {
    const numbers = (colour) => {
        const canvas = new OffscreenCanvas(1, 1).getContext("2d");
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        return [...canvas.getImageData(0, 0, 1, 1).data];
    };
    const light = ([r, g, b]) => [r, g, b]
        .map((c) => c / 255)
        .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
    const behind = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const colour = numbers(getComputedStyle(at).backgroundColor);
            if (colour[3] === 255) return colour;
        }
    };
    const found = [];
    for (const element of document.querySelectorAll("main *, header *, footer *")) {
        const text = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
        if (!text || !element.checkVisibility()) continue;
        const style = getComputedStyle(element);
        const ink = element.namespaceURI.endsWith("svg") ? style.fill : style.color;
        const pair = [light(numbers(ink)), light(behind(element))].sort((a, b) => b - a);
        const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
        if (ratio < 4.5) found.push([element.className, element.textContent, ratio]);
    }
    return found;
})()"""


@pytest.mark.parametrize("rounds", [3, 6])
@pytest.mark.parametrize("dark", [False, True])
def test_page__every_word_stands_out(
    chromium: Chromium, tmp_path: Path, rounds: int, dark: bool
) -> None:
    """WCAG 2.2, 1.4.3: text has a contrast of 4.5 to 1 at least."""
    html = render_page(match_view(rounds=rounds, announced="all bids"))
    found = opened(chromium, tmp_path / "page.html", html, dark=dark)
    found.run("document.querySelectorAll('details').forEach(d => { d.open = true })")

    assert found.run(CONTRAST) == []


def test_page__dark_and_light_by_hand_are_remembered(chromium: Chromium, tmp_path: Path) -> None:
    found = opened(chromium, tmp_path / "page.html", render_page(match_view()), dark=True)
    paper = "getComputedStyle(document.documentElement).backgroundColor"
    dark = found.run(paper)

    found.click("#theme")
    light = found.run(paper)
    assert light != dark
    found.goto((tmp_path / "page.html").as_uri())
    assert found.run(paper) == light
    found.click("#theme")
    assert found.run(paper) == dark
    assert found.run("document.documentElement.dataset.theme ?? null") is None


def test_page__loads_itself_anew_and_stays_in_place(chromium: Chromium, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    found = opened(chromium, path, render_page(match_view(rounds=2), refresh_seconds=1), 360)
    found.run("document.querySelector('#sort-0').click()")
    found.run("document.querySelector('#sort-0').click()")
    found.run("document.querySelector('#round-1').open = true")
    found.run("scrollTo({ top: 700, behavior: 'instant' })")

    write_page(path, render_page(match_view(rounds=3), refresh_seconds=1))
    found.until("document.querySelector('#round-3') !== null")
    found.until("scrollY === 700")
    assert found.run("document.querySelector('#round-1').open")
    shown = "[...document.querySelectorAll('#standings tbody .who')].map(n => n.textContent)"
    assert found.run(shown) == sorted(NAMES, reverse=True)


@pytest.mark.parametrize("halted", ["music", "by hand"])
def test_page__does_not_load_anew_while_it_shall_not(
    chromium: Chromium, tmp_path: Path, halted: str
) -> None:
    html = render_page(match_view(), refresh_seconds=1)
    found = opened(chromium, tmp_path / "page.html", html)
    button = "#play-0" if halted == "music" else "#refresh"
    found.click(button)
    found.run("window.same = true")
    chromium.listen(2)
    assert found.run("window.same")

    found.click(button)
    found.until("window.same === undefined && document.readyState === 'complete'", 5)


def test_page__what_slips_in_does_not_run(chromium: Chromium, tmp_path: Path) -> None:
    found = opened(chromium, tmp_path / "page.html", render_page(match_view()))
    found.run("""document.body.insertAdjacentHTML("beforeend",
        '<img src="data:," onerror="hit()"><img src="http://127.0.0.1:9/x"><p style="top:0">')""")
    chromium.listen(0.3)

    assert not found.run("window.struck")
    assert len([text for text in found.complaints() if "Content Security Policy" in text]) == 3


def test_page__without_script_all_is_told(chromium: Chromium, tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    write_page(path, render_page(match_view()))
    found = chromium.page(360, 900)
    found.call("Emulation.setScriptExecutionDisabled", value=True)
    found.call("Page.navigate", url=path.as_uri())
    chromium.listen(1)
    found.call("Emulation.setScriptExecutionDisabled", value=False)

    assert found.run("document.querySelector('#play-0').checkVisibility()") is False
    assert found.run("document.querySelector('#standings').checkVisibility()") is True
    assert found.run("document.querySelector('noscript meta, meta[http-equiv=refresh]') !== null")
