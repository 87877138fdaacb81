"""A bot's page, two bots compared, the crosstable: the figures are those of the history."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from support.storage.rated_past import NAMES, T0, VENUE, alter
from web.test_pages import Page, assert_harmless, client, get

from cgos_protocol.api.figures import Ending
from cgos_server.presentation import words
from cgos_server.presentation.settings import Rated, VenueSettings, WebSettings
from cgos_server.presentation.strengths import StrengthsOf
from cgos_server.presentation.words import likelihood
from cgos_server.service.ratings.expectation import chances
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.storage.reading.history import History
from cgos_server.web.pages.bot import endings

SETTINGS = WebSettings(venues={VENUE: VenueSettings(port=6809, rated=Rated(("bayes", "cgos-elo")))})
PAIR = f"/venue/{VENUE}/pair?a=Fox&b=Cat"
CROSS = f"/venue/{VENUE}/crosstable"


@pytest.fixture
async def web(rated: History) -> AsyncIterator[httpx2.AsyncClient]:
    async with client(rated, SETTINGS) as opened:
        yield opened


# -- a bot


async def test_opponents_with_what_was_to_be_expected(web: httpx2.AsyncClient, rated: History) -> None:
    page = await get(web, "/bot/Fox")
    means = await rated.ratings.means(VENUE, "bayes", NAMES)
    known = await StrengthsOf(rated, SETTINGS).venue(VENUE)
    assert known is not None
    for row in await rated.records.opponents(VENUE, "Fox"):
        both = chances("Fox", row.opponent, means["Fox"], means[row.opponent], known)
        assert both is not None
        expected = f"{likelihood(both.a_game(row.as_black, row.as_white))} %"
        score = f"{100 * row.score / row.with_result:.0f} %" if row.with_result else "–"
        assert [row.opponent, str(row.games), str(row.wins), str(row.losses), score, expected] in page.rows
    assert "Expected by the ratings of now, not of then" in page.text


LINKED = (
    "UPDATE ledger SET other_id = (SELECT id FROM versions WHERE wire_name = 'Ant'), sd = ?, surely = ? "
    "WHERE kind = 'enter' AND version_id = (SELECT id FROM versions WHERE wire_name = 'Fox')"
)


@pytest.mark.parametrize(
    ("sd", "surely", "more"),
    [(None, 0, ""), (None, 1, ", surely"), (40.0, 0, ", by a step of standard deviation 40 Elo")],
)
async def test_whom_it_succeeds(rated_past: Path, tmp_path: Path, sd: float | None, surely: int, more: str) -> None:
    data = Path(shutil.copytree(rated_past, tmp_path / "data"))
    alter(data, LINKED, sd, surely)
    async with History(data / "cgos.sqlite") as history, client(history, SETTINGS) as web:
        page = await get(web, "/bot/Fox")
        assert f"Fox succeeds Ant on {VENUE}{more}." in page.text
        assert "/bot/Ant" in list(page.links())
        assert "succeeds" not in (await get(web, "/bot/Cat")).text
        for path in ("bots", "versions"):
            (link,) = (await web.get(f"/api/v1/{path}/Fox")).json()["links"]
            since = link.pop("at")
            assert link == {
                "version": "Fox", "venue": VENUE, "predecessor": "Ant", "sd": sd, "surely": bool(surely)
            }  # fmt: skip
            assert since >= T0
        assert (await web.get("/api/v1/versions/Cat")).json()["links"] == []


async def test_places_and_ratings_in_all_systems(web: httpx2.AsyncClient, rated: History) -> None:
    page = await get(web, "/bot/Cat")
    for row in await rated.ratings.ranked(["Cat"]):
        (line,) = (cells for cells in page.rows if cells[:2] == [row.venue, row.system])
        assert line[2].startswith(f"{row.mean:.0f}")
        assert line[3:] == [str(row.rank), str(row.games)]


@pytest.mark.parametrize(("query", "word"), [("", "over time"), ("?over=games", "over its games")])
async def test_the_band_is_over_time_or_over_games(web: httpx2.AsyncClient, query: str, word: str) -> None:
    body = (await web.get(f"/bot/Fox{query}")).text
    assert f'<title id="band-title">Rating of Fox on 9x9 {word}</title>' in body
    assert body.count('class="band"') == 1


async def test_another_version_is_marked_and_linked(rated_past: Path, tmp_path: Path) -> None:
    data = Path(shutil.copytree(rated_past, tmp_path / "data"))
    alter(data, "UPDATE bots SET name = 'Old', name_key = 'old' WHERE id = 3")
    alter(data, "UPDATE versions SET bot_id = 6, label = 'v1', created_at = 1700000900000 WHERE id = 3")
    alter(data, "UPDATE versions SET engine = 'GNU <Go>', parameters = '{\"level\": 1}', author = 'A & B' WHERE id = 6")
    async with History(data / "cgos.sqlite") as history, client(history, SETTINGS) as web:
        page = await get(web, "/bot/Fox")
        other = await get(web, "/bot/Cat")
    assert "/bot/Cat" in list(page.links())
    assert "v1" in page.text
    assert "GNU <Go>" in page.text
    assert "level 1" in page.text
    assert "A version of Fox." in other.text


async def test_what_keeps_a_bot_from_playing_is_said(rated_past: Path, tmp_path: Path) -> None:
    data = Path(shutil.copytree(rated_past, tmp_path / "data"))
    alter(data, "UPDATE bots SET state = 'disabled', reason = 'floods <b>', until = 1700000000000 WHERE name = 'Fox'")
    alter(data, "UPDATE bots SET state = 'pending' WHERE name = 'Cat'")
    alter(data, "UPDATE bots SET paused = 1 WHERE name = 'Dog'")
    alter(data, "INSERT INTO suspensions VALUES (1, 2, 5, 1, 'time', 1700000000000)")
    async with History(data / "cgos.sqlite") as history, client(history, SETTINGS) as web:
        assert "Disabled by an operator until 2023-11-14 22:13 UTC: floods <b>" in (await get(web, "/bot/Fox")).text
        assert "Waits for an operator's approval." in (await get(web, "/bot/Cat")).text
        assert "Paused by its owner" in (await get(web, "/bot/Dog")).text
        page = (await get(web, "/bot/Bee")).text
    assert (
        "Bee is suspended on 9x9 since 2023-11-14 22:13 UTC: it spoilt 5 games in a row, the last one by time." in page
    )


async def test_a_bot_that_stays_is_here_and_not_long_gone(rated_past: Path, tmp_path: Path) -> None:
    data = Path(shutil.copytree(rated_past, tmp_path / "data"))
    opened = "INSERT INTO connections VALUES (?, 1, (SELECT id FROM versions WHERE wire_name = ?), '', '', ?, ?, '')"
    alter(data, opened, 901, "Dog", T0, None)
    alter(data, opened, 902, "Cat", T0, T0 + 1000)
    async with History(data / "cgos.sqlite") as history, client(history, SETTINGS, T0 + 20 * 86_400_000 + 1000) as web:
        dog, cat = (await get(web, "/bot/Dog")).text, (await get(web, "/bot/Cat")).text
    assert "here now, came 20 days ago" in dog
    assert "last seen 20 days ago" in cat
    assert "last seen" not in dog
    assert "here now" not in cat


async def test_uptime_is_the_share_of_the_time_signed_in(history: History) -> None:
    from support.web.past import NOW

    async with client(history) as web:
        page = await get(web, "/bot/amigo")
    assert len(await history.bots.presence("amigo", NOW - 30 * 86_400_000, NOW)) == 1
    since = 26 * 60 * 60_000  # when that past began
    assert f"{100 * since / (7 * 86_400_000):.1f} % of the last 7 days" in page.text
    assert f"{100 * since / (30 * 86_400_000):.1f} % of the last 30 days" in page.text


def test_games_that_a_bot_spoils_itself_stand_out() -> None:
    rows = [
        Ending(color="black", reason="time", outcome="lost", games=5),
        Ending(color="white", reason="time", outcome="won", games=2),
        Ending(color="white", reason="score", outcome="lost", games=80),
        Ending(color="black", reason="illegal move", outcome="lost", games=1),
        Ending(color="black", reason="abort", outcome="none", games=12),
    ]
    by_reason = {ending.reason: ending for ending in endings(rows)}
    assert next(iter(by_reason)) == "score"
    assert [reason for reason, ending in by_reason.items() if ending.bad] == ["time"]
    assert (by_reason["time"].won, by_reason["time"].lost, by_reason["time"].share) == (2, 5, 0.05)


async def test_the_snippet_of_the_badge_is_ready_to_copy(web: httpx2.AsyncClient) -> None:
    page = await get(web, "/bot/Fox")
    base = "http://go.example.org:8080"
    assert f"[![Fox on 9x9]({base}/badge/9x9/Fox.svg)]({base}/bot/Fox)" in page.text
    assert (await web.get("/badge/9x9/Fox.svg")).status_code == 200


# -- two


async def test_unrated_games_are_labeled_where_they_are_counted(rated_past: Path, tmp_path: Path) -> None:
    data = Path(shutil.copytree(rated_past, tmp_path / "data"))
    latest = "SELECT id + 1 AS id FROM games ORDER BY id DESC LIMIT 1"
    copied = "venue_id, black_id, white_id, black_label, white_label, started_at, ended_at, winner, reason, result"
    # A game of a question: it has a result, and no entry in the ledger.
    alter(
        data,
        f"INSERT INTO games (id, terms, start, {copied}) "
        f"SELECT ({latest}), json_set(terms, '$.rated', json('false')), start, {copied} FROM games "
        "WHERE black_id = 6 AND white_id = 3 AND winner IS NOT NULL LIMIT 1",
    )
    async with History(data / "cgos.sqlite") as history, client(history, SETTINGS) as web:
        cross, pair, bot = [await get(web, path) for path in (CROSS, PAIR, "/bot/Fox")]
        records = await history.records.crosstable(VENUE, NAMES)
        of_pair = (await web.get(f"/api/v1/venues/{VENUE}/pairs/Fox/Cat")).json()["record"]
        games = next(row.games for row in await history.ratings.ranked(["Fox"]) if row.system == "bayes")
        met = await history.records.opponents(VENUE, "Fox")
    counted = sum(record.with_result for record in records)
    assert f"{counted} games with a result in all, unrated ones too." in cross.text
    assert "rated games" not in cross.text.replace("unrated", "")
    assert "All games by color, unrated ones too" in pair.text
    assert f"{games} rated games" in pair.text
    assert sum(row.with_result for row in met) == games + 1, "one more than is rated"
    assert bot.rows[0][-1] == "Rated games"
    assert bot.text.count("All games, unrated ones too") == 2
    assert of_pair["with_result"] == of_pair["rated"]


async def test_a_pair_has_its_score_and_all_its_games(web: httpx2.AsyncClient, rated: History) -> None:
    page = await get(web, PAIR)
    record = await rated.records.pair(VENUE, "Fox", "Cat")
    assert f"Fox scored {record.one_wins + record.draws / 2:g} of {record.with_result}" in page.text
    games = [game for game in await rated.games.find(GameFilter(), 1000) if {game.black, game.white} == {"Fox", "Cat"}]
    assert [int(row[0]) for row in page.rows if row[0].isdigit()] == [game.id for game in games]
    assert record.games == len(games)


async def test_a_pair_is_of_two_versions_and_not_of_all_that_their_bots_have(rated_past: Path, tmp_path: Path) -> None:
    """A bot that says no version plays under the bot's own name, as one of its versions."""
    data = Path(shutil.copytree(rated_past, tmp_path / "data"))
    alter(data, "UPDATE versions SET bot_id = 6, label = 'v1' WHERE wire_name = 'Cat'")
    async with History(data / "cgos.sqlite") as history, client(history, SETTINGS) as web:
        page = await get(web, f"/venue/{VENUE}/pair?a=Fox&b=Bee")
        record = await history.records.pair(VENUE, "Fox", "Bee")
        games = [
            game.id
            for game in await history.games.find(GameFilter(), 1000)
            if {game.black, game.white} == {"Fox", "Bee"}
        ]
    assert [int(row[0]) for row in page.rows if row[0].isdigit()] == games
    assert record.games == len(games)


async def test_both_sides_of_a_pair_agree(web: httpx2.AsyncClient, rated: History) -> None:
    mine, theirs = await get(web, PAIR), await get(web, f"/venue/{VENUE}/pair?a=Cat&b=Fox")
    record = await rated.records.pair(VENUE, "Fox", "Cat")
    assert f"Cat scored {record.other_wins + record.draws / 2:g} of {record.with_result}" in theirs.text
    (first,), (other,) = ([row for row in page.rows if row and row[0] == "Black"] for page in (mine, theirs))
    assert int(first[1]) + int(other[1]) == record.games


async def test_without_a_joint_distribution_the_published_ratings_tell(rated_past: Path, tmp_path: Path) -> None:
    data = Path(shutil.copytree(rated_past, tmp_path / "data"))
    alter(data, "DELETE FROM rating_states")
    plain = WebSettings(venues={VENUE: VenueSettings(port=6809, rated=Rated(("cgos-elo",)))})
    async with History(data / "cgos.sqlite") as history:
        means = await history.ratings.means(VENUE, "bayes", NAMES)
        async with client(history, SETTINGS) as web:
            page = await get(web, PAIR)
        async with client(history, plain) as web:
            without = await get(web, PAIR)
    assert "from the two published ratings alone" in page.text
    assert f"{means['Fox'] - means['Cat']:+.0f} ±" in page.text
    assert "Fox with a probability of" in page.text
    assert "with a probability of" not in without.text  # a system that says no intervals


async def test_two_that_never_met(rated: History, web: httpx2.AsyncClient) -> None:
    met = {frozenset((row.one, row.other)) for row in await rated.records.crosstable(VENUE, NAMES)}
    first, second = next((a, b) for a in NAMES for b in NAMES if a < b and frozenset((a, b)) not in met)
    page = await get(web, f"/venue/{VENUE}/pair?a={first}&b={second}")
    assert "The two have not ended a game here yet." in page.text


async def test_a_sandbox_compares_nobody(rated: History) -> None:
    sandbox = WebSettings(venues={VENUE: VenueSettings(port=6809, rated=Rated(("bayes",)), counts=False)})
    async with client(rated, sandbox) as web:
        page = await get(web, PAIR)
        bot = await get(web, "/bot/Fox")
        assert words.IN_SANDBOX in bot.text
        assert "Expected by the ratings" not in bot.text
        assert not [row for row in bot.rows if len(row) == 6 and row[0] in NAMES and row[-1] != "–"]
        assert "is not rated here: Fox" in (await get(web, f"{CROSS}?bots=Fox,Bee", 404)).text
        for path in (f"/venue/{VENUE}/odds", CROSS):
            assert words.IN_SANDBOX in (await get(web, path)).text
        for path in (PAIR, f"/venue/{VENUE}", CROSS):
            assert "A sandbox: results here change no rating." in (await get(web, path)).text
    assert "Fox scored" in page.text
    assert words.IN_SANDBOX in page.text
    assert "expected" not in page.text
    assert "A sandbox" not in (await get_of(rated)).text


async def get_of(rated: History) -> Page:
    async with client(rated, SETTINGS) as web:
        return await get(web, PAIR)


# -- all of them


async def test_the_crosstable_has_every_pair_from_both_sides(web: httpx2.AsyncClient, rated: History) -> None:
    page = await get(web, CROSS)
    assert_harmless(page)
    titles = [attributes["title"] for tag, attributes in page.tags if tag == "a" and attributes.get("title")]
    records = [record for record in await rated.records.crosstable(VENUE, NAMES) if record.with_result]
    for record in records:
        points = record.one_wins + record.draws / 2
        for side, other, score in (
            (record.one, record.other, points),
            (record.other, record.one, record.with_result - points),
        ):
            assert any(
                str(t).startswith(f"{side} scored {score:g} of {record.with_result} against {other};") for t in titles
            )
    assert len(titles) == 2 * len(records)


async def test_a_crosstable_of_the_best_or_of_some(web: httpx2.AsyncClient, rated: History) -> None:
    best = [row.version for row in await rated.ratings.standings(VENUE, "bayes", limit=3)]
    top = await get(web, f"{CROSS}?top=3")
    assert [attributes["title"] for tag, attributes in top.tags if tag == "abbr"] == best
    some = await get(web, f"{CROSS}?bots=Ant,+Fox")
    assert [attributes["title"] for tag, attributes in some.tags if tag == "abbr"] == ["Fox", "Ant"]
    assert "nothing to compare yet" in (await get(web, "/venue/13x13/crosstable")).text
