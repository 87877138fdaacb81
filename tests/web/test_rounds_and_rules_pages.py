"""Why two met, and the rules of a venue in words."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import httpx2
import pytest
from service.pairing.test_explained import NAMES, a_pairing_pass, paired
from support.web.past import BOTS, ENDED, EVENT, FRESH, OPENING  # noqa: F401
from web.test_pages import client, get, web  # noqa: F401

from cgos_protocol.api.games import RoundDetail
from cgos_protocol.clock import TimeControl, TimeSystem
from cgos_protocol.games.base import Ko, Ruleset
from cgos_server.core.venue import Policy
from cgos_server.presentation.explaining import Explaining
from cgos_server.presentation.rules import clock_in_words, pairing_options, provisional_rule, sections
from cgos_server.presentation.settings import Rated, VenueSettings, WebSettings
from cgos_server.presentation.words import count, duration
from cgos_server.service.pairing.explained import PARTNERS, explain
from cgos_server.storage.reading.history import History
from cgos_server.web.pages import rounds
from cgos_server.web.pages.rounds import ROUNDS

SECOND = 1_000_000
CANDIDATES = 40


async def test_all_pairing_passes_newest_first(web: httpx2.AsyncClient, history: History) -> None:  # noqa: F811
    first = await get(web, "/venue/9x9/rounds")
    second = await get(web, f"/venue/9x9/rounds?before={ENDED + 2 - ROUNDS}")
    numbers = [int(row[0]) for page in (first, second) for row in page.rows if row[0].isdigit()]
    listed = await history.pairings.rounds("9x9", 2 * ROUNDS)
    assert numbers == [each.number for each in listed]
    assert first.attribute("a", "href", rel="next") is not None


async def test_a_pairing_pass_tells_its_games_and_is_decided_again(web: httpx2.AsyncClient, history: History) -> None:  # noqa: F811
    page = await get(web, "/round/1")
    detail = await history.pairings.round(1)
    explained = explain(detail, await history.bots.version_names())
    assert explained.replay.sentence in page.text
    for pair in detail.pairings:
        assert f"{pair.reason} {pair.colors}" in page.text
        assert f"/game/{pair.game}/pairing" in list(page.links())


async def test_why_these_two(web: httpx2.AsyncClient, history: History) -> None:  # noqa: F811
    game = (await history.games.detail(1)).game
    page = await get(web, "/game/1/pairing")
    assert f"Why {game.black} met {game.white}" in page.text
    assert "drew 3 of 5 & met the strongest of them <drawn>. Black by lot." in page.text


async def test_why_these_two_where_no_matchmaker_chose(database: Path, tmp_path: Path) -> None:
    """An event, a question or an operator paired them; page and API say which."""
    path = tmp_path / "cgos.sqlite"
    shutil.copy(database, path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DELETE FROM pairings")
        (event,) = connection.execute("SELECT min(game_id) FROM event_games").fetchone()
        free = "FROM question_games WHERE game_id NOT IN (SELECT game_id FROM event_games) ORDER BY game_id"
        asked, number, pair = connection.execute(f"SELECT game_id, question_id, pair {free}").fetchone()
        connection.commit()
    expected = {
        event: f"round 1 of event {EVENT} did.",
        asked: f"question {number} (pair {pair}) did.",
        FRESH: "an operator did.",
    }
    async with History(path) as history, client(history, WebSettings()) as web:  # noqa: F811
        for game, sentence in expected.items():
            assert sentence in (await get(web, f"/game/{game}/pairing")).text
            problem = (await web.get(f"/api/v1/games/{game}/pairing")).json()
            assert (problem["code"], sentence in problem["detail"]) == ("no-pairing", True)


async def test_the_candidates_are_all_there(web: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    detail = paired("information", a_pairing_pass(CANDIDATES, Policy.BARRIER))
    row = detail.pairings[0]
    explained = explain(detail, NAMES, row.game)

    async def known(_self: Explaining, _number: int, _game: int | None) -> RoundDetail:
        return explained

    monkeypatch.setattr(Explaining, "_explained", known)
    monkeypatch.setattr(rounds, "READY", 15)
    page = await get(web, "/game/1/pairing")
    everybody = {NAMES[number] for number in range(1, CANDIDATES + 1)}
    partners = [cells[0] for cells in page.rows if len(cells) == 7 and "%" in cells[2]]
    shares = {cells[2] for cells in page.rows if len(cells) == 7 and "%" in cells[2]}
    assert shares.isdisjoint({"0 %", "100 %"})
    assert sorted(partners) == sorted([*(everybody - {row.high}), *(everybody - {row.low})])
    # The ones that were met stand above what is folded up.
    assert all(name in partners[: PARTNERS + 2] for name in (row.low,))
    ready = [cells for cells in page.rows if len(cells) == 7 and cells[2].endswith(" s")]
    assert len(ready) == 15
    assert "/game/1/pairing?ready=all" in list(page.links())
    whole = await get(web, "/game/1/pairing?ready=all")
    assert {cells[0] for cells in whole.rows if len(cells) == 7 and cells[2].endswith(" s")} == everybody


@pytest.mark.parametrize("method", ["information", "birk"])
async def test_how_partners_are_sorted_and_what_pairs_are_worth(
    web: httpx2.AsyncClient,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    method: str,
) -> None:
    """Waiting allows a pair to fall short by some bits, which is no part of its worth."""
    detail = paired(method, a_pairing_pass())
    row = detail.pairings[0]
    explained = explain(detail, NAMES, row.game)

    async def known(_self: Explaining, _number: int, _game: int | None) -> RoundDetail:
        return explained

    monkeypatch.setattr(Explaining, "_explained", known)
    page = await get(web, "/game/1/pairing")
    by = "worth minus costs" if method == "information" else "difference of ratings"
    assert f"As the method saw them: those that no rule kept apart first, by {by}" in page.text
    for name, partners in explained.partners.items():
        table = [cells for cells in page.rows if len(cells) == 7 and "%" in cells[2]]
        met = row.low if name == row.high else row.high
        assert [cells[6] for cells in table if cells[0] == met] == ["this game"]
        if method == "information":
            value = [(not each.possible, bool(each.kept), each.costs - (each.worth or 0.0)) for each in partners]
            assert value == sorted(value)
    worths = [pair.detail["worth"] for pair in detail.pairings if "worth" in pair.detail]
    if method == "information":
        assert detail.total is not None
        assert detail.total > 1.5e6 * sum(worths)
        assert f"Worth together{sum(worths):.3f} bit" in page.text
    else:
        assert "Worth together" not in page.text


@pytest.mark.parametrize(
    ("control", "words"),
    [
        (TimeControl(system=TimeSystem.ABSOLUTE, main=300 * SECOND), "Each side has 5 min for the whole game."),
        (
            TimeControl(system=TimeSystem.FISCHER, main=60 * SECOND, increment=2 * SECOND),
            "Each side begins with 1 min and gains 2 s with every move.",
        ),
        (TimeControl(system=TimeSystem.FIXED, period=5 * SECOND), "Each move has to be made within 5 s."),
        (
            TimeControl(system=TimeSystem.CANADIAN, period=60 * SECOND, stones=20),
            "Every 20 moves have to be made within 1 min.",
        ),
        (
            TimeControl(system=TimeSystem.BYOYOMI, main=3600 * SECOND, period=30 * SECOND, periods=5),
            "Each side has 1 h, then 5 periods of 30 s: a move within a period costs none of them.",
        ),
    ],
)
def test_clocks_in_words(control: TimeControl, words: str) -> None:
    assert clock_in_words(control) == words


def test_lengths_and_numbers_in_words() -> None:
    assert [duration(seconds) for seconds in (0.5, 45, 90, 600, 5400, 86_400, 4 * 86_400)] == [
        "0.5 s", "45 s", "90 s", "10 min", "1 h 30 min", "24 h", "4 days",
    ]  # fmt: skip
    assert [count(1, "game"), count(0, "game"), count(2, "ply", "plies")] == ["1 game", "0 games", "2 plies"]
    assert count(1234567, "game").replace("\N{NARROW NO-BREAK SPACE}", " ") == "1 234 567 games"


def test_rules_follow_what_is_configured() -> None:
    rules = Ruleset(size=13, komi2=15, ko=Ko.SITUATIONAL, suicide=True)
    venue = VenueSettings(
        move_limit=500, first_move_s=90, openings=12, openings_share=0.5, policy="barrier", method="random",
        delay_s=60, counts=False, suspend_after=3, void_after_s=900, return_grace_s=120, ready_s=60,
    )  # fmt: skip
    sentences = " ".join(
        rule.sentence
        for _, section_rules in sections(rules, TimeControl(system=TimeSystem.FIXED, period=SECOND), venue)
        for rule in section_rules
    )
    for part in (
        "13×13", "7.5 points", "with the same side to move", "allowed: stones without liberties", "After 500 moves",
        "50 % of new pairs begin with one of 12 openings", "within 90 s", "within 1 min to be paired",
        "All games begin together", "“random”: anybody meets anybody", "spoils 3 games in a row",
        "Results here change no rating", "shown 1 min after they were played", "both stay away for 15 min",
    ):  # fmt: skip
        assert part in sentences


def test_the_provisional_rule_is_that_of_the_system() -> None:
    assert "above 100 Elo" in provisional_rule("bayes", {})
    assert "above 80 Elo" in provisional_rule("bayes", {"provisional": 80})
    assert "K factor is above 16" in provisional_rule("cgos-elo", {})


def test_options_have_meanings_and_say_which_are_the_venues_own() -> None:
    options = {option.name: option for option in pairing_options("information", {"grace": 7.0})}
    assert (options["grace"].value, options["grace"].own) == ("7", True)
    assert not options["repeat_most"].own
    assert all(option.meaning for option in options.values())
    assert [option.name for option in pairing_options("no such method", {"x": 1})] == ["x"]


async def test_the_page_of_the_rules(history: History) -> None:
    venue = VenueSettings(port=6809, rated=Rated(("bayes", "cgos-elo")), method="birk")
    async with client(history, WebSettings(venues={"9x9": venue})) as web:  # noqa: F811
        page = await get(web, "/venue/9x9/rules")
        closed = await get(web, "/venue/13x13/rules")
    assert "By “birk”: one after the other draws an opponent" in page.text
    assert "also rated by cgos-elo" in page.text
    assert ["bye", "fair"] in [row[:2] for row in page.rows]
    assert "Closed at present" in closed.text
