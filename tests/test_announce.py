"""Announcements: what they tell, and what no person's text can make of them."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from itertools import zip_longest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sheets_host.game.auction import Slip
from sheets_host.game.ledger import settle
from sheets_host.game.match import Handed, Match, Player
from sheets_host.game.notes import ALL_NOTES, Note, readings
from sheets_host.game.rulings import Rulings
from sheets_host.game.scoring import result_of
from sheets_host.game.stages import Stage
from sheets_host.host.gathering import Table
from sheets_host.host.publishing import announcement, what_hangs
from sheets_host.host.reopening import reopen
from sheets_host.host.verbs import UsageError
from sheets_host.tabs.players import name_fault
from sheets_host.telling.announce import Voice
from tests.memory_store import MemoryStore
from tests.playing import (
    NOW,
    bid,
    close,
    context,
    enrol,
    exchange,
    game,
    look,
    play_on,
    refresh,
    setting,
    start,
)


def told(store: MemoryStore, round_: int | None = None, *, markdown: bool = False) -> str:
    return announcement(look(store), round_, NOW, markdown=markdown)


def a_round(**settings: str) -> MemoryStore:
    """Ann wins lot 1, lot 2 is a tie, nobody wants the others."""
    store = game("Ann:3", "Bob", "Eve", **settings)
    exchange(store, "Ann", 1, 1)
    bid(store, "Ann", 1, {1: 30, 2: 20})
    bid(store, "Bob", 1, {1: 12, 2: 20})
    bid(store, "Eve", 1, {1: 0})
    close(store, 1)
    return store


# --- a round -------------------------------------------------------------------------------------

LOTS = [
    ("winners", ": Ann", ": a tie, nobody gains it"),
    ("winning bids", ": Ann, for 30", ": a tie, nobody gains it"),
    (
        "all bids",
        ": Ann, for 30 (Ann: 30, Bob: 12, Eve: 0)",
        ": a tie at 20, nobody gains it (Ann: 20, Bob: 20)",
    ),
]


@pytest.mark.parametrize(("announced", "won", "tie"), LOTS, ids=lambda x: str(x)[:14])
def test_round__tells_what_announced_bids_allows(announced: str, won: str, tie: str) -> None:
    store = a_round(Announced_bids=announced, Round_2_closes="2026-03-24 18:00")
    notes = look(store).match.deals[1]
    offer = ", ".join(map(str, look(store).match.deals[2]))
    lines = told(store).splitlines()
    assert lines[0] == "Composer Auction: round 1 is closed"
    assert lines[3] == f"- Lot 1, {notes[0]}{won}"
    assert lines[4] == f"- Lot 2, {notes[1]}{tie}"
    assert lines[5:11] == [f"- Lot {n}, {notes[n - 1]}: no bids" for n in range(3, 9)]
    assert lines[12:] == [
        "Tokens left", "", "- Ann: 460", "- Bob: 468", "- Eve: 500", "",
        f"Round 2 is open until Tue 24 Mar 2026 18:00 (UTC). On offer: {offer}.", "",
        f"Record: {look(store).record.rows} rows, seal {look(store).record.seal}",
    ]  # fmt: skip


def test_round__a_former_one_tells_no_deadline() -> None:
    store = a_round()
    close(store, 2)
    assert "is open" not in told(store, 1)
    assert "Round 3 is open." in told(store)
    assert told(store) == told(store, 2)


def test_round__an_open_one_is_never_announced() -> None:
    store = game("Ann", "Bob")
    bid(store, "Ann", 1, {1: 77})
    for round_ in (1, 2):
        with pytest.raises(UsageError, match="closed"):
            told(store, round_)
    assert "77" not in told(store)
    close(store, 1)
    bid(store, "Ann", 2, {1: 88})
    assert "88" not in told(store)


def test_opening__tells_what_is_on_offer() -> None:
    store = game("Ann", "Bob", Round_1_closes="2026-03-24 18:00")
    offer = ", ".join(map(str, look(store).match.deals[1]))
    lines = told(store).splitlines()
    assert lines[0] == "Composer Auction: the auction begins"
    assert f"Round 1 is open until Tue 24 Mar 2026 18:00 (UTC). On offer: {offer}." in lines


def test_round__that_is_open_again_says_so() -> None:
    store = a_round()
    before = told(store)
    reopen(store, Stage.ROUND_1, ["Bob"], "misread", context())
    bid(store, "Bob", 1, {1: 99})
    words = told(store)
    assert words.splitlines()[:18] == before.splitlines()[:18]
    assert "Round 1 is open again for Bob; what is said here stands until it is closed" in words
    assert CORRECTED not in words
    close(store, 1)
    assert CORRECTED in told(store).splitlines()


CORRECTED = "Closed again: where something else was announced before, this is what stands."


def test_round__is_corrected_by_an_earlier_one_and_not_by_a_later() -> None:
    store = a_round()
    close(store, 2)
    close(store, 3)
    reopen(store, Stage.ROUND_2, ["Bob"], "misread", context())
    close(store, 2)
    told_of = {round_: CORRECTED in told(store, round_) for round_ in (1, 2, 3)}
    assert told_of == {1: False, 2: True, 3: True}


def test_news__of_a_corrected_round_tells_what_was_before_and_what_comes_next() -> None:
    store = a_round()
    bid(store, "Bob", 2, {1: 5})
    close(store, 2)
    reopen(store, Stage.ROUND_1, ["Bob"], "misread", context())
    bid(store, "Bob", 1, {1: 99, 2: 1})
    close(store, 1)
    deal = look(store).match.deals
    words = told(store).splitlines()
    assert words[0] == "Composer Auction: round 1 is closed"
    assert f"- Lot 1, {deal[1][0]}: Bob (before: Ann)" in words
    assert f"- Lot 2, {deal[1][1]}: Ann (before: a tie)" in words
    assert f"- Lot 3, {deal[1][2]}: no bids" in words
    assert any(line.startswith("Round 3 is open. On offer: ") for line in words)
    assert "(before:" not in told(store, 2)
    close(store, 3)
    assert told(store).startswith("Composer Auction: round 3 is closed")
    assert "(before: Ann)" in told(store, 1)


def test_news__of_rounds_corrected_after_the_end_comes_before_the_result() -> None:
    store = finished()
    for stage in (Stage.ROUND_1, Stage.ROUND_2):
        reopen(store, stage, ["Eve"], "misread", context())
    close(store, 1)
    close(store, 2)
    headings = [line for line in told(store, markdown=True).splitlines() if line[:3] == "## "]
    assert [line.rpartition(": ")[2] for line in headings] == [
        "round 1 is closed", "round 2 is closed", "the result",
    ]  # fmt: skip


# --- the result ----------------------------------------------------------------------------------


def finished() -> MemoryStore:
    store = game("Ann", "Bob", "Eve", "Zoë")
    bid(store, "Ann", 1, dict.fromkeys(range(1, 6), 9))
    bid(store, "Bob", 1, {6: 9, 7: 9, 8: 9})
    bid(store, "Bob", 2, {1: 9, 2: 9})
    play_on(store)
    return store


def test_result__tells_winner_points_conditions_and_garnets() -> None:
    store = finished()
    result = look(store).result
    assert result is not None
    words = told(store)
    assert f"{result.winner} wins the Token of Life, by points." in words
    for card in result.cards:
        line = next(
            li for li in words.splitlines() if li.startswith(f"- Rank {card.rank}, {card.player}")
        )
        assert f"{card.points} point" in line
        for number in card.fulfilled:
            assert f"condition {number} ({card.points_by_condition[number - 1]})" in line
        assert (f"- {card.player}: +{card.earned}" in words) == bool(card.earned)
    assert "- Condition 8, " in words
    assert words.endswith(f"seal {look(store).record.seal}\n")


def test_result__says_who_must_choose_among_whom_and_then_who_it_is() -> None:
    store = finished()
    assert "Ann names the Elimination Candidate among Eve and Zoë." in told(store)
    setting(store, "Elimination choice", "zoë")
    refresh(store)
    assert "The Elimination Candidate is Zoë." in told(store)


TIES = [
    ({"Ann": {1: 9}, "Bob": {2: 9}}, r"\w+ wins the Token of Life, tied on points, by the highest"),
    ({}, "The win is tied between Ann and Bob; the host rules."),
]


@pytest.mark.parametrize(("bids", "words"), TIES, ids=["pitch", "no notes"])
def test_result__names_what_decided(bids: dict[str, dict[int, int]], words: str) -> None:
    store = game("Ann", "Bob")
    for name, by_lot in bids.items():
        bid(store, name, 1, by_lot)
    play_on(store)
    assert re.search(words, told(store))
    if not bids:
        setting(store, "Winner ruling", "Bob")
        refresh(store)
        assert "Bob wins the Token of Life, by the host's ruling." in told(store)


def test_result__says_that_a_short_composition_shares_and_gets_nothing() -> None:
    store = game("Ann", "Bob", **{"Short compositions share": "yes"})
    bid(store, "Ann", 1, dict.fromkeys(range(1, 6), 9))
    bid(store, "Bob", 1, {6: 9})
    play_on(store)
    result = look(store).result
    assert result is not None
    shared = [who for who in result.holders if who == ("Ann", "Bob")]
    assert shared
    words = told(store)
    assert words.count(" each; nothing for Bob (fewer than 5 notes)") == len(shared)
    assert "nothing for Ann" not in words
    reopen(store, Stage.COMPOSING, ["Ann"], "misread", context())
    close(store, Stage.COMPOSING)
    assert CORRECTED in told(store).splitlines()


def test_result__a_withdrawn_player_is_named_as_such() -> None:
    store = game("Ann", "Bob", "Eve")
    bid(store, "Ann", 1, dict.fromkeys(range(1, 6), 9))
    close(store, 1)
    enrol(store, "Eve", "Status", "withdrawn")
    play_on(store)
    assert "Eve: 0 points, withdrawn" in told(store)


def test_reminder__after_the_end_is_refused() -> None:
    with pytest.raises(UsageError, match="finished"):
        announcement(look(finished()), None, NOW, missing=True)


# --- how much hangs on a ruling ------------------------------------------------------------------


def test_what_hangs__says_so_where_nothing_does() -> None:
    assert what_hangs(look(game("Ann", "Bob"))) == []
    assert what_hangs(look(finished())) == [
        "No other switch setting would change the winner or last place."
    ]


RUN = "Bq De Aq Eh Gq Cw Fq"  # a falling run, a tritone: only if other notes may stand between
NO_E = "Ch Dh C#h G#h Fh"  # condition 10: 6
RISING = "Dw D#w Ew Fw F#w"  # conditions 1 and 3: 18
ONE = "A#w"  # too short to score


def ended(**handed: str) -> Table:
    """Return a match in which each player won the notes of a composition and handed it in."""
    compositions = {name: [note_of(n) for n in notes.split()] for name, notes in handed.items()}
    # By turns, so that nobody wins five notes in one round (condition 8).
    turns = [n for several in zip_longest(*compositions.values()) for n in several if n]
    order = [*turns, *(note for note in ALL_NOTES if note not in turns)]
    deals = {r: tuple(order[8 * r - 8 : 8 * r]) for r in range(1, 7)}
    slips = {
        (r, name): Slip({lot: 1 for lot, note in enumerate(deal, 1) if note in notes})
        for r, deal in deals.items()
        for name, notes in compositions.items()
    }
    match = Match(
        players=tuple(map(Player, handed)),
        deals=deals,
        slips=slips,
        compositions={n: Handed("handed in", tuple(notes)) for n, notes in compositions.items()},
        closed={stage: "2026-03-01T18:00:00Z" for stage in Stage if stage is not Stage.FINISHED},
    )
    ledger = settle(match)
    table = look(game("Ann", "Bob"))
    return replace(table, match=match, ledger=ledger, result=result_of(match, ledger))


def note_of(short: str) -> Note:
    (note,) = readings(short)
    return note


def test_what_hangs__names_the_switch_and_who_would_win_and_be_last() -> None:
    assert what_hangs(ended(Ann=RUN, Bob=NO_E, Eve=ONE)) == [
        'If Descending run were "anywhere", the winner would be Ann and last place would go to Eve.',
        'If Tritone were "any two", last place would go to Eve.',
    ]


def test_what_hangs__says_that_the_winner_is_the_same_where_only_the_last_place_differs() -> None:
    assert what_hangs(ended(Ann=RUN, Bob=NO_E, Eve=ONE, Zoe=RISING)) == [
        "No other switch setting would change the winner.",
        'If Descending run were "anywhere", last place would go to Eve.',
        'If Tritone were "any two", last place would go to Eve.',
    ]


def test_what_hangs__a_tie_for_last_is_named_as_one() -> None:
    table = ended(Ann=RUN, Bob=NO_E, Eve=ONE)
    anywhere = replace(table.match, rulings=Rulings(descending="anywhere"))
    ledger = settle(anywhere)
    lines = what_hangs(replace(table, match=anywhere, result=result_of(anywhere, ledger)))
    assert lines == [
        'If Descending run were "in a row", the winner would be Bob and last place would go to one of'
        " Ann, Eve.",
    ]


# --- hostile names -------------------------------------------------------------------------------

HOSTILE = (
    "@everyone", "@here", "<@123456789>", "<@&99>", "<#42>", "<!channel>", "@ann.b", "ann@example.org",
    "[click](https://evil.example)", "![x](https://evil.example/x.png)", "https://evil.example/a",
    "www.evil.example", "<https://evil.example>", "evil.example/x", "mailto:a@b.c",
    "**Ann**", "__Ann__", "*Ann*", "_Ann_", "~~Ann~~", "`Ann`", "```x", "||Ann||", "$x$", "^x^",
    "# Ann", "## Ann", "> Ann", "- Ann", "+ Ann", "* Ann", "1. Ann", "12) Ann", "---", "===", "***",
    ":skull: Ann", "<:skull:123>", "<a:party:1>", "<t:1700000000:R>", "</giphy:1>", "/giphy", "#123",
    "octo/repo#1", "<script>alert(1)</script>", "<b>Ann</b>", "&lt;b&gt;", "&#64;everyone",
    "\\*Ann\\*", "\\", "| a | b |", "{{x}}", "=HYPERLINK(\"https://evil.example\")",
    "שלום", "عمر ١٢", "Ann שלום 7",
)  # fmt: skip

ALLOWED = {"h2", "p", "strong", "ul", "li", "code"}


def rendered(words: str) -> tuple[set[str], str]:
    """Return the elements that a Markdown renderer makes of this, and the text that is seen."""
    markdown_it = pytest.importorskip("markdown_it")
    html = markdown_it.MarkdownIt("commonmark", {"html": True}).enable(["strikethrough", "table"])
    shown = html.render(words)
    tags = set(re.findall(r"</?([a-z0-9]+)", shown))
    seen = unescape(re.sub(r"<[^>]*>", "", shown))
    return tags, seen


def plain(text: str) -> str:
    return text.replace("\u200b", "").replace("\u2068", "").replace("\u2069", "")


@pytest.mark.parametrize("name", HOSTILE)
def test_markdown__of_a_hostile_name_shows_it_and_does_nothing(name: str) -> None:
    store = MemoryStore()
    start(store, name, "Bob", title=name)
    bid(store, name, 1, dict.fromkeys(range(1, 6), 9))
    close(store, 1)
    reminder = announcement(look(store), None, NOW, missing=True)
    words = [reminder, told(store, markdown=True)]
    play_on(store)
    words.append(told(store, markdown=True))
    for text in words:
        tags, seen = rendered(text)
        assert tags <= ALLOWED
        assert name in plain(seen)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("markdown", [True, False])
def test_name__calls_nobody_and_links_nowhere(name: str, markdown: bool) -> None:
    """Chats look for these after they have rendered the text, so escaping alone is not enough."""
    said = Voice(markdown).name(name)
    seen = said.replace("\\", "") if markdown else said
    assert not re.search(r"[@#]\w", seen)
    assert not re.search(r"<[@#!:]\w|<t:\d|<a:\w", seen)
    assert "://" not in seen
    assert not re.search(r"\bwww\.\w", seen)
    assert not re.search(r"\w\.(example|org|c)\b", seen)
    assert not re.search(r":\w+:", seen)
    assert not re.match(r"/\w", seen)


@given(st.text(max_size=40))
def test_name__of_any_text_is_one_line_without_controls(text: str) -> None:
    for markdown in (True, False):
        said = Voice(markdown).name(text)
        assert "\n" not in said
        assert "\r" not in said
        assert not set(said) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\x1b\x00")
        assert said.count("\u2068") == said.count("\u2069")


@given(st.text(min_size=1, max_size=30).filter(lambda text: name_fault(text.strip()) is None))
def test_name__any_players_name_is_shown_as_it_is(text: str) -> None:
    name = " ".join(text.split())
    if name_fault(name) is not None or not name:
        return
    tags, seen = rendered(f"- {Voice().name(name)}: 5\n")
    assert tags == {"ul", "li"}
    assert plain(seen).strip() == f"{plain(name)}: 5"


def test_name__that_reads_leftwards_is_set_apart_from_the_number_beside_it() -> None:
    assert Voice(markdown=False).name("שלום") == "\u2068שלום\u2069"
    assert Voice(markdown=False).name("Ann") == "Ann"


def test_title__with_line_breaks_and_bidi_controls_stays_one_heading() -> None:
    store = game("Ann", "Bob")
    setting(store, "Game", "Spring\n\n# Ann won\u202e!")
    close(store, 1)
    first, second = told(store, markdown=True).splitlines()[:2]
    assert first == "## Spring \\# Ann won \\!: round 1 is closed"
    assert second == ""
