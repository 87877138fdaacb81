"""Where an interval is not even, no surface says half of it: pages, pictures, the API and commands write both ends."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner
from support.storage.rated_past import VENUE, alter
from web.test_pages import client, get
from web.test_rating_pages import SETTINGS

from cgos_server.cli.main import main
from cgos_server.presentation import words
from cgos_server.presentation.settings import Rated, VenueSettings, WebSettings
from cgos_server.presentation.stored_game import StoredGame
from cgos_server.storage.reading.history import History
from cgos_server.web.live.board import _end

_HALF_WIDTH = re.compile(r"±\s*\d+")
_RATING, _LOWER, _UPPER = 2750.0, 2320.0, 4600.0


@pytest.fixture(scope="module")
def uneven(rated_past: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A rated past where nobody ever lost: every interval is open above."""
    data = Path(shutil.copytree(rated_past, tmp_path_factory.mktemp("uneven") / "data"))
    bayes = "WHERE system = 'bayes'"
    alter(data, f"UPDATE ratings SET mean = {_RATING}, lower = {_LOWER}, upper = {_UPPER} {bayes}")
    alter(data, f"UPDATE refit_points SET mean = {_RATING}, lower = {_LOWER}, upper = {_UPPER} {bayes}")
    for side in ("before", "after"):
        values = f"{side}_mean = {_RATING}, {side}_lower = {_LOWER}, {side}_upper = {_UPPER}"
        alter(data, f"UPDATE rating_changes SET {values} {bayes}")
    return data


async def test_pages(uneven: Path) -> None:
    async with History(uneven / "cgos.sqlite") as history, client(history, SETTINGS) as web:
        for path in ("/", f"/venue/{VENUE}", f"/venue/{VENUE}?as_of=30", "/bot/Bee", "/game/3"):
            page = (await get(web, path)).text
            assert not _HALF_WIDTH.search(page.replace("Difference", "")), path
        standings = await web.get(f"/venue/{VENUE}")
        assert '<abbr title="2320 to 4600">at least 2320</abbr>' in standings.text
        assert 'aria-label="2750' in standings.text
        assert "2320 to 4600" in standings.text
        assert "2750.0, 2320.0 to 4600.0" in (await web.get("/bot/Bee")).text
        assert "2750, 2320 to 4600 → 2750, 2320 to 4600 (0)" in (await get(web, "/game/3")).text
        badge = (await web.get(f"/badge/{VENUE}/Bee.svg")).text
        assert "&gt; 2320" in badge
        assert "±" not in badge


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [(1663.4, 1662.6, "1663 → 1663 (0)"), (1662.6, 1662.4, "1663 → 1662 (−1)"), (1662.0, 1663.4, "1662 → 1663 (+1)")],
)
async def test_a_difference_is_that_of_the_ratings_that_are_shown(
    rated_past: Path, tmp_path: Path, before: float, after: float, shown: str
) -> None:
    data = Path(shutil.copytree(rated_past, tmp_path / "data"))
    alter(data, f"UPDATE rating_changes SET before_mean = {before}, after_mean = {after} WHERE system = 'cgos-elo'")
    async with History(data / "cgos.sqlite") as history:
        settings = WebSettings(venues={VENUE: VenueSettings(rated=Rated(("cgos-elo", "bayes")))})
        async with client(history, settings) as web:
            assert shown in (await get(web, "/game/3")).text
        end = [
            rating for rating in _end(StoredGame(await history.games.detail(3))).ratings if rating.system == "cgos-elo"
        ]
        assert {f"{rating.before} → {rating.after}" for rating in end} == {shown[:11]}


async def test_what_programs_read_has_both_ends(uneven: Path) -> None:
    async with History(uneven / "cgos.sqlite") as history, client(history, SETTINGS) as web:
        for row in (await web.get(f"/api/v1/venues/{VENUE}/standings")).json()["items"]:
            assert (row["lower"], row["upper"], row["half_width"]) == (_LOWER, _UPPER, (_UPPER - _LOWER) / 2)
        changes = (await web.get(f"/api/v1/versions/Bee/history?venue={VENUE}")).json()["items"]
        assert {(row["after_lower"], row["after_upper"]) for row in changes} == {(_LOWER, _UPPER)}


def test_commands(uneven: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("CGOS_CONFIG", "CGOS_SERVER__DATA"):
        monkeypatch.delenv(variable, raising=False)

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(main, [*arguments, "--data", str(uneven)])
        assert result.exit_code == 0, result.output
        return result.stdout

    for command in (("standings",), ("history", "Bee"), ("show", "3"), ("bot", "show", "Bee")):
        said = run(*command, *(("--system", "bayes") if command[0] == "history" else ()))
        assert not _HALF_WIDTH.search(said), command
        assert "2320" in said, command
    rows = json.loads(run("standings", "--json"))[VENUE]
    assert {(row["lower"], row["upper"]) for row in rows} == {(_LOWER, _UPPER)}


async def test_words(uneven: Path) -> None:
    async with History(uneven / "cgos.sqlite") as history:
        row = next(row for row in await history.ratings.standings(VENUE, "bayes") if not row.provisional)
    assert words.standing(row) == "2750, 2320 to 4600"
    assert words.briefly(row) == "> 2320"
