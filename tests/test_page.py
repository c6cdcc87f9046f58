"""The spectators' page: what it tells, what it lets in, how it is written."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sheets_host.game.auction import Slip
from sheets_host.game.conditions import CONDITIONS
from sheets_host.game.ledger import settle
from sheets_host.game.match import Reopening
from sheets_host.game.notes import ALL_NOTES
from sheets_host.game.rulings import ANNOUNCED
from sheets_host.game.stages import Stage
from sheets_host.stores.base import StoreError
from sheets_host.tabs.verdicts import standing_word
from sheets_host.telling import MissingExtra, page
from sheets_host.telling.chart import LABEL_HEIGHT, roll_of, token_charts
from sheets_host.telling.page import render_page, write_page
from tests.spectated import ENGRAVING, GAME, HOSTILE, NAMES, match_view


class Reader(HTMLParser):
    """Takes a page apart as a browser does: its elements, attributes and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join("".join(self.words).split())

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.elements)


def spoken(html: str) -> str:
    """Return what a page says, its style and script left out."""
    return Reader(re.sub(r"<(style|script)>.*?</\1>", "", html, flags=re.DOTALL)).text


# --- what it tells -------------------------------------------------------------------------------


@pytest.mark.parametrize("rounds", [0, 1, 3, 5, 6])
@pytest.mark.parametrize("announced", ANNOUNCED.values)
def test_open_round__its_bids_change_nothing(rounds: int, announced: str) -> None:
    view = match_view(rounds=rounds, composed=False, announced=announced)
    slips = {(rounds + 1, name): Slip({1: 317, 2: 0}, 2) for name in NAMES}
    match = replace(view.match, slips={**view.match.slips, **slips})

    assert render_page(replace(view, match=match)) == render_page(view)


def test_open_round__its_notes_are_told_and_later_ones_are_not() -> None:
    view = match_view(rounds=2)
    text = spoken(render_page(view)).replace("♯", "#")

    told = {note for notes in view.match.deals.values() for note in notes}
    assert "On offer in round 3" in text
    for note in view.match.deals[3]:
        assert str(note) in text
    assert not [n for n in ALL_NOTES if n not in told and re.search(rf"(?<!\w){n}", text)]


@pytest.mark.parametrize(
    ("announced", "winning", "losing"),
    [("winners", False, False), ("winning bids", True, False), ("all bids", True, True)],
)
def test_announced_bids__tells_what_the_switch_allows(
    announced: str, winning: bool, losing: bool
) -> None:
    view = match_view(rounds=1, announced=announced)
    bids = {"Ann": 211, "Bob": 199, "Cem": 211}
    slips = {
        ("Ann", 1): bids["Ann"], ("Bob", 1): bids["Bob"],  # Ann wins
        ("Ann", 2): 97, ("Cem", 2): 97, ("Bob", 2): 83,  # a tie
    }  # fmt: skip
    match = replace(
        view.match,
        slips={
            (1, name): Slip({lot: bid for (who, lot), bid in slips.items() if who == name})
            for name in NAMES
        },
    )
    html = render_page(replace(view, match=match, ledger=settle(match)))

    def told(bid: int) -> bool:
        return f"<b>{bid}</b>" in html

    assert (told(211), told(97)) == (winning, winning)
    assert (told(199), told(83)) == (losing, losing)


def test_result__words_points_and_reasons_are_those_of_the_tabs() -> None:
    view = match_view()
    text = spoken(render_page(view))

    assert view.result is not None
    for card in view.result.cards:
        assert standing_word(view, card.player) in text
        for condition, evidence in zip(CONDITIONS, card.evidence, strict=True):
            assert f"{condition.name}{evidence.why.replace('#', '♯')}" in text
    assert "Winner: Token of Life" in text
    assert "Elimination Candidate" in text


def test_result__a_tie_says_who_decides() -> None:
    view = match_view()
    assert view.result is not None
    tied = replace(view.result, candidate=None, choice_among=("Ann", "Bob", "Dee"))
    nobody = replace(tied, winner=None, winner_among=("Cem", "Dee"), choice_among=())

    assert "Ann, Bob and Dee" in spoken(render_page(replace(view, result=tied)))
    text = spoken(render_page(replace(view, result=nobody)))
    assert "Cem and DeeThe host rules who wins" in text


def test_round_open_again__its_results_stand_and_are_marked() -> None:
    view = match_view(rounds=3)
    reopened = {Stage.ROUND_2: Reopening(frozenset({"Ann"}))}
    text = spoken(render_page(replace(view, match=replace(view.match, reopened=reopened))))

    assert "Round 2 is open again for Ann" in text
    assert "Round 2 open again" in text
    assert "On offer" not in text


def test_projection__tells_reach_only_where_the_host_wants_it() -> None:
    view = match_view(rounds=4)
    silent = replace(view, config=replace(view.config, projection=False))

    assert "Within reach" in spoken(render_page(view))
    assert "Within reach" not in spoken(render_page(silent))


def test_same_view__same_text_in_every_process() -> None:
    view = match_view()

    page._template.cache_clear()
    assert render_page(view) == render_page(match_view())


def test_no_jinja2__names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    page._template.cache_clear()
    monkeypatch.setitem(sys.modules, "jinja2", None)

    with pytest.raises(MissingExtra) as caught:
        render_page(match_view(rounds=0))
    assert "'.[page]'" in caught.value.hint


# --- what it lets in -----------------------------------------------------------------------------


@pytest.mark.parametrize("rounds", [3, 6])
def test_hostile_names__stay_text(rounds: int) -> None:
    view = match_view(HOSTILE, rounds=rounds, game=GAME, announced="all bids")
    engravings = dict.fromkeys(HOSTILE, ENGRAVING)
    reader = Reader(render_page(view, engravings=engravings))

    assert [reader.count(tag) for tag in ("script", "style", "img")] == [
        1, 1, sum(1 for handed in view.match.compositions.values() if handed.notes)
    ]  # fmt: skip
    for tag, attributes in reader.elements:
        assert not [name for name in attributes if name.startswith("on")], (tag, attributes)
        assert not [name for name in attributes if name == "style"], (tag, attributes)
        for name in ("src", "href"):
            assert (attributes.get(name) or "#").startswith(("#", "data:image/svg+xml")), tag
    for name in HOSTILE:
        assert name.strip("\u202e\u202c") in reader.text
    assert not set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069") & set(reader.text)


@given(st.text(min_size=1))
def test_any_game_title__stays_text(title: str) -> None:
    view = match_view(("Ann",), rounds=0)
    reader = Reader(render_page(replace(view, config=replace(view.config, game=title))))

    assert reader.elements == Reader(render_page(view)).elements


# --- drawings ------------------------------------------------------------------------------------

TOKENS = st.dictionaries(
    st.text(min_size=1), st.lists(st.integers(0, 5000), min_size=1, max_size=7), max_size=30
).map(lambda d: {n: v[: min(map(len, d.values()))] for n, v in d.items()})


@given(TOKENS)
def test_chart__all_stands_inside_and_labels_keep_apart(tokens: dict[str, list[int]]) -> None:
    for chart in token_charts(tokens):
        for line in chart.lines:
            assert [t for _, _, t in line.points] == tokens[line.player]
            for x, y, _ in line.points:
                assert 0 <= x <= chart.right
                assert 0 <= y <= chart.height
        labels = [line.label_y for line in chart.lines if line.label_y is not None]
        assert len(labels) in (0, len(tokens))
        assert all(b - a >= LABEL_HEIGHT for a, b in pairwise(sorted(labels)))
        assert all(0 < y < chart.height for y in labels)


def test_chart__more_tokens_stand_higher() -> None:
    chart, _ = token_charts({"Ann": [500, 300], "Bob": [500, 480]})
    ann, bob = (line.points[-1][1] for line in chart.lines)

    assert bob < ann


def test_roll__follows_pitch_and_duration() -> None:
    by_text = {str(note): note for note in ALL_NOTES}
    roll = roll_of([by_text[t] for t in ("C whole", "F# eighth", "C# half")])

    assert [bar.label for bar in roll.bars] == ["C", "F♯", "C♯"]
    low, high, middle = roll.bars
    assert high.y < middle.y < low.y
    assert low.width > middle.width > high.width
    assert low.x < high.x < middle.x < roll.width


# --- the file ------------------------------------------------------------------------------------


def test_write__only_where_something_changed(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    one, other = render_page(match_view(rounds=1)), render_page(match_view(rounds=2))

    assert write_page(path, one)
    assert not write_page(path, one)
    assert write_page(path, other)
    assert path.read_bytes() == other.encode()
    assert [p.name for p in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such rights and links")
def test_write__keeps_rights_and_link(tmp_path: Path) -> None:
    path, link = tmp_path / "page.html", tmp_path / "link.html"
    write_page(path, render_page(match_view(rounds=1)))
    path.chmod(0o604)
    link.symlink_to(path)

    assert write_page(link, render_page(match_view(rounds=2)))
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o604


def test_write__a_file_that_is_no_page_is_never_replaced(tmp_path: Path) -> None:
    path = tmp_path / "game.xlsx"
    path.write_bytes(b"PK the whole game")

    with pytest.raises(StoreError, match="no page that this tool wrote"):
        write_page(path, render_page(match_view(rounds=1)))
    assert path.read_bytes() == b"PK the whole game"


@pytest.mark.parametrize(("name", "advice"), [("", "Name a file"), ("no/page.html", "Make the")])
def test_write__what_cannot_be_says_what_to_do(tmp_path: Path, name: str, advice: str) -> None:
    with pytest.raises(StoreError) as caught:
        write_page(tmp_path / name, render_page(match_view(rounds=1)))
    assert str(tmp_path / name).rstrip("/") in caught.value.message
    assert caught.value.hint.startswith(advice)
