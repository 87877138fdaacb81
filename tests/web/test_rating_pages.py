"""Ratings on the pages: intervals, views, past standings, who is stronger."""

from __future__ import annotations

import re
import shutil
from asyncio import to_thread
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest
from click.testing import CliRunner
from support.storage.rated_past import NAMES, VENUE, VOIDED, alter
from web.test_pages import Page, assert_harmless, client, get

from cgos_protocol.ids import VersionId
from cgos_protocol.intervals import beside as beside_rating
from cgos_protocol.intervals import one_sided, written
from cgos_server.cli.main import main
from cgos_server.core.rating.base import Entry, Kind
from cgos_server.core.rating.registry import rating_system
from cgos_server.presentation import ranks, words
from cgos_server.presentation.settings import Rated, VenueSettings, WebSettings
from cgos_server.presentation.strengths import FRESH_S, StrengthsOf
from cgos_server.presentation.words import likelihood
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.storage.reading.history import History
from cgos_server.web.pages.bot import CHANGES

SETTINGS = WebSettings(
    server_name="Riverside", venues={VENUE: VenueSettings(port=6809, rated=Rated(("bayes", "cgos-elo")))}
)
ODDS = f"/venue/{VENUE}/odds"
PAIR = f"/venue/{VENUE}/pair"
CROSS = f"/venue/{VENUE}/crosstable"


@pytest.fixture
async def web(rated: History) -> AsyncIterator[httpx2.AsyncClient]:
    async with client(rated, SETTINGS) as opened:
        yield opened


def _numbers(page: Page) -> dict[str, str]:
    """Name -> rating as it stands in the standings."""
    return {
        row[at]: row[at + 1]
        for row in page.rows
        for at in (1, 2)  # behind the rank, and what is said of it
        if len(row) > 4 and row[at] in NAMES and row[at + 1][:1].isdigit()
    }


async def test_a_rating_stands_there_with_its_interval(web: httpx2.AsyncClient, rated: History) -> None:
    page = await get(web, f"/venue/{VENUE}")
    shown = _numbers(page)
    assert list(shown) == [row.version for row in await rated.ratings.standings(VENUE, "bayes")]
    for row in await rated.ratings.standings(VENUE, "bayes"):
        mark = "=" if row.anchor else "?" if row.provisional else ""
        beside = one_sided(row.mean, row.lower, row.upper) or beside_rating(row.mean, row.lower, row.upper)
        assert shown[row.version] == f"{row.mean:.0f}{mark}{beside}"
    last = await rated.ledger.last_entry(VENUE)
    games = await rated.ledger.games_at(VENUE, last)
    assert games < last
    assert f"as of now, after {games} games (entry {last})" in page.text
    bars = [attributes for tag, attributes in page.tags if tag == "svg" and attributes.get("class") == "interval"]
    assert len(bars) == len(NAMES)
    assert [bar["aria-label"] for bar in bars] == [
        words.standing(row) for row in await rated.ratings.standings(VENUE, "bayes")
    ]


async def test_a_bot_s_page_says_how_sure_its_rank_is(web: httpx2.AsyncClient, rated: History) -> None:
    (row,) = (row for row in await rated.ratings.ranked(["Fox"]) if row.system == "bayes")
    assert row.rank_lower is not None
    page = await get(web, "/bot/Fox")
    assert f"On {VENUE}, of the ranks among those that are listed: {ranks.odds(row)}." in page.text


async def test_the_newest_results_say_what_they_count_as(rated_past: Path, tmp_path: Path) -> None:
    data = Path(shutil.copytree(rated_past, tmp_path / "data"))
    alter(
        data,
        "INSERT INTO corrections (id, game_id, at, actor, reason, winner, result) "
        "SELECT 99, max(id), 0, 'operator', '', NULL, 'Void' FROM games",
    )
    async with History(data / "cgos.sqlite") as history, client(history, SETTINGS) as web:
        (newest,) = await history.games.find(GameFilter(), 1)
        page = await get(web, "/")
    assert newest.result is not None
    (row,) = (row for row in page.rows if row[0] == str(newest.id))
    assert row[3] == f"{newest.result}, now Void"


async def test_views_are_another_address(web: httpx2.AsyncClient, rated: History) -> None:
    page = await get(web, f"/venue/{VENUE}")
    assert f"/venue/{VENUE}?system=cgos-elo" in list(page.links())
    view = await get(web, f"/venue/{VENUE}?system=cgos-elo")
    rows = {row.version: row for row in await rated.ratings.standings(VENUE, "cgos-elo")}
    assert {name: re.sub(r"[?=]", "", text) for name, text in _numbers(view).items()} == {
        name: f"{row.mean:.0f}" for name, row in rows.items()
    }
    await get(web, f"/venue/{VENUE}?system=gor", 404)
    front = await get(web, "/")
    assert "±" in front.text


async def test_past_standings(web: httpx2.AsyncClient, rated: History) -> None:
    page = await get(web, f"/venue/{VENUE}?as_of=30")
    games = await rated.ledger.games_at(VENUE, 30)
    assert games < 30
    assert f"as they were published after {games} games (entry 30)" in page.text
    assert not page.attribute("meta", "content", **{"http-equiv": "refresh"})
    shown = _numbers(page)
    for row in await rated.ratings.standings(VENUE, "bayes", 30):
        assert shown[row.version].startswith(f"{row.mean:.0f}")
    assert (await get(web, f"/venue/{VENUE}?as_of=0")).text.count("Nobody was rated after 0 games (entry 0)") == 1
    await get(web, f"/venue/{VENUE}?as_of=999999", 404)
    await get(web, f"/venue/{VENUE}?as_of=x", 400)


async def test_no_anchor_is_why_a_version_stays_provisional(rated_past: Path, tmp_path: Path) -> None:
    data = Path(shutil.copytree(rated_past, tmp_path / "data"))
    sentence = "No anchor: the scale is loose"

    async def loose_sentences() -> list[bool]:
        async with History(data / "cgos.sqlite") as history, client(history, SETTINGS) as web:
            pages = [(await get(web, path)).text for path in (f"/venue/{VENUE}", "/bot/Bee")]
        command = ["standings", "--venue", VENUE, "--data", str(data)]
        return [sentence in shown for shown in (*pages, (await to_thread(CliRunner().invoke, main, command)).stdout)]

    for games, anchor, expected in ((49, 0, False), (231, 0, True), (231, 1, False)):
        alter(data, f"UPDATE ratings SET provisional = 1, anchor = 0, games = {games} WHERE system = 'bayes'")
        alter(data, f"UPDATE ratings SET anchor = {anchor} WHERE version_id = 1 AND system = 'bayes'")
        assert await loose_sentences() == [expected] * 3


async def test_a_bots_page_tells_what_moved_its_rating(web: httpx2.AsyncClient, rated: History) -> None:
    page = await get(web, "/bot/Bee")
    points = await rated.changes.latest("Bee", VENUE, CHANGES, "bayes")
    assert "all results weighed anew" in page.text
    last = points[-1]
    assert words.finely(last.after_mean, last.after_lower, last.after_upper) in page.text
    assert sum(row[1] in ("all results weighed anew",) for row in page.rows if len(row) == 5) == sum(
        point.refit is not None for point in points
    )
    assert {row[1] for row in page.rows if row and row[0] == VENUE} == {"bayes", "cgos-elo"}


async def test_the_rules_say_where_a_newcomer_begins(web: httpx2.AsyncClient, rated: History) -> None:
    saved = await rated.refits.state(VENUE, "bayes")
    assert saved is not None
    system = rating_system("bayes", 1800.0, {})
    entry = Entry(saved.seq + 1, Kind.ENTER, VersionId(999), value=1800.0)
    _, ((_, entered, _),) = system.fold(system.load(saved.state), entry)
    assert abs(entered.mean - 1800.0) > 1
    now = f"{entered.mean:.0f} {beside_rating(entered.mean, entered.lower, entered.upper)}"
    assert f"begins at the pool's mean (now {now})" in (await get(web, f"/venue/{VENUE}/rules")).text
    settings = WebSettings(venues={VENUE: VenueSettings(rated=Rated(("cgos-elo", "bayes"), initial=1234.0))})
    async with client(rated, settings) as plain:
        assert "begins at 1234." in (await get(plain, f"/venue/{VENUE}/rules")).text


async def test_who_is_stronger_than_whom(web: httpx2.AsyncClient, rated: History) -> None:
    page = await get(web, ODDS)
    best = [row for row in page.rows if len(row) == len(NAMES) + 2 and row[1] in NAMES]
    assert next(row[1] for row in best) == "Fox"
    for i, row in enumerate(best):
        assert row[2 + i] == "–"
        for j, other in enumerate(best):
            if i != j:
                both = [int(text.removeprefix("over ").removeprefix("under ")) for text in (row[2 + j], other[2 + i])]
                assert abs(sum(both) - 100) <= 1
    # By hand from the saved state.
    saved = await rated.refits.state(VENUE, "bayes")
    assert saved is not None
    place = f"after {await rated.ledger.games_at(VENUE, saved.seq)} games (entry {saved.seq})"
    assert place in page.text
    system = rating_system("bayes", 1800.0, {})
    state = system.load(saved.state)
    ant, fox = NAMES.index("Ant") + 1, NAMES.index("Fox") + 1
    share = system.superiority(state, fox, ant)  # type: ignore[attr-defined]
    assert best[0][2 + [row[1] for row in best].index("Ant")] == "over 99"
    assert 0.995 < share < 1
    moved = await web.get(f"{ODDS}?a=Fox&b=Ant")
    assert (moved.status_code, moved.headers["location"]) == (307, f"{PAIR}?a=Fox&b=Ant")
    pair = await get(web, f"{PAIR}?a=Fox&b=Ant")
    assert f"Fox with a probability of {likelihood(share, 1)} %" in pair.text
    assert f"Fox is expected to score {100 * system.predict(state, fox, ant).score:.1f} %" in pair.text
    assert f"from the joint distribution of all strengths {place}" in pair.text
    for query, status in (
        ("a=Fox&b=Fox", 400),
        ("a=<script>", 400),
        ("a=Fox&b=Nobody", 404),
        ("a=<script>&b=Ant", 404),
    ):
        assert "<script>" not in (await web.get(f"{PAIR}?{query}")).text
        await get(web, f"{PAIR}?{query}", status)
    await get(web, "/venue/8x8/odds", 404)


async def test_nothing_to_compare(web: httpx2.AsyncClient, history: History) -> None:
    assert "nothing to compare yet" in (await get(web, "/venue/13x13/odds")).text
    async with client(history, SETTINGS) as plain:  # K factors know no joint distribution
        assert "nothing to compare yet" in (await get(plain, ODDS)).text


async def test_a_saved_state_is_loaded_once(rated_past: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = Path(shutil.copytree(rated_past, tmp_path / "data"))
    async with History(data / "cgos.sqlite") as history:
        now = [5.0]
        strengths = StrengthsOf(history, SETTINGS, lambda: now[0])
        first = await strengths.venue(VENUE)
        assert first is not None
        assert await strengths.venue(VENUE) is first
        alter(data, "UPDATE rating_states SET refit = refit + 1")
        now[0] += FRESH_S - 1
        assert await strengths.venue(VENUE) is first
        now[0] += 1
        later = await strengths.venue(VENUE)
        assert later is not first
        other = StrengthsOf(
            history, WebSettings(venues={VENUE: VenueSettings(port=0, rated=Rated(("bayes",), 1500.0))})
        )
        assert await other.venue(VENUE) is None  # saved under other options
        alter(data, "UPDATE rating_states SET state = x'00', refit = refit + 1")
        now[0] += FRESH_S
        assert await strengths.venue(VENUE) is None


async def test_what_was_learned_of_draws_holds_for_the_ratings_of_that_system_alone(rated: History) -> None:
    known = await StrengthsOf(rated, SETTINGS).venue(VENUE)
    saved = await rated.refits.state(VENUE, "bayes")
    assert known is not None
    assert saved is not None
    system = rating_system("bayes", 1800.0, {})
    state = system.load(saved.state)
    ahead, behind = (system.outcome_at(state, lead) for lead in (200.0, -200.0))  # type: ignore[attr-defined]
    assert known.chances_at(200.0) == (ahead.score, 1 - behind.score)
    other = VenueSettings(port=6809, rated=Rated(("cgos-elo", "bayes")))
    view = await StrengthsOf(rated, WebSettings(venues={VENUE: other})).venue(VENUE)
    assert view is not None
    assert view.chances_at(200.0) is None


@pytest.mark.parametrize("path", [ODDS, f"{PAIR}?a=Fox&b=Ant", CROSS, f"/venue/{VENUE}?as_of=30", "/bot/Fox"])
async def test_these_pages_are_sound_and_safe_too(web: httpx2.AsyncClient, path: str) -> None:
    response = await web.get(path)
    page = Page(response.text)
    assert_harmless(page)
    assert sum(tag == "h1" for tag, _ in page.tags) == 1
    for link in page.links():
        if not link.startswith(("/static", "/account")):
            assert (await web.get(link)).status_code == 200, link


async def test_a_corrected_game_says_so(web: httpx2.AsyncClient, rated: History) -> None:
    page = await get(web, f"/game/{VOIDED}")
    assert re.search(r"Corrected ?.* UTC: [BW]\+3\.0 became Void \(a test\)", page.text)
    (change,) = (
        row for row in (await rated.games.detail(VOIDED)).ratings if row.system == "bayes" and row.version == "Bee"
    )
    before = written(change.before_mean, change.before_lower, change.before_upper)
    after = written(change.after_mean, change.after_lower, change.after_upper)
    assert f"{before} → {after}" in page.text
    listed = await get(web, f"/games?venue={VENUE}&before={VOIDED + 1}")
    (row,) = (row for row in listed.rows if row[0] == str(VOIDED))
    assert row[3].endswith("+3.0, now Void")
