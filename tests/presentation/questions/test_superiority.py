"""The Bayesian figure beside a question's answer, by a venue's saved state."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from statistics import NormalDist

import pytest
from support.storage.asked import QuestionPast
from support.storage.rated_past import VENUE
from support.storage.storage_sample import put
from support.web.past import NINE, terms

from cgos_protocol.ids import QuestionId, VersionId
from cgos_protocol.terms import encode_terms
from cgos_server.core.questions.asked import Asked, Challenge, Test
from cgos_server.core.rating.bayes.system import Bayes
from cgos_server.core.rating.registry import rating_system
from cgos_server.presentation.questions.reading import Questions
from cgos_server.presentation.settings import Rated, VenueSettings, WebSettings
from cgos_server.presentation.strengths import StrengthsOf
from cgos_server.storage.reading.history import History

SETTINGS = WebSettings(venues={VENUE: VenueSettings(rated=Rated(("bayes",)))})
CAT, DOG = VersionId(3), VersionId(4)


@pytest.fixture
async def history(rated_past: Path, tmp_path: Path) -> AsyncIterator[History]:
    data = Path(shutil.copytree(rated_past, tmp_path / "data"))
    async with History(data / "cgos.sqlite") as opened:
        yield opened


def asked(number: int, question: Asked, *results: tuple[int, int], opponent: int | None = None) -> QuestionPast:
    past = QuestionPast(
        number=number,
        asked=question,
        venue_id=NINE,
        terms=encode_terms(terms(NINE)),
        first_game=10_000 * number,
        at=1_700_100_000_000,
    )
    past.pairs(*results, opponent=opponent)
    return past


async def superiority(history: History, past: QuestionPast) -> float | None:
    place = history.source.location
    assert isinstance(place, Path)
    put(place, past.records())
    questions = Questions(history, StrengthsOf(history, SETTINGS), 0.5)
    return (await questions.detail(QuestionId(past.number), "http://x")).superiority


async def test_it_begins_with_the_ladder_and_goes_with_the_games(history: History) -> None:
    known = await StrengthsOf(history, SETTINGS).venue(VENUE)
    assert known is not None
    saved = await history.refits.state(VENUE, "bayes")
    assert saved is not None
    ladder = rating_system("bayes", 1800.0, {})
    assert isinstance(ladder, Bayes)
    mean, sd = ladder.joint_difference(ladder.load(saved.state), DOG, CAT)
    test = Test(version=DOG, against=CAT, most_games=100)
    without = await superiority(history, asked(1, test))
    assert without == pytest.approx(1 - NormalDist(mean, sd).cdf(0), abs=1e-3)
    odds = known.odds("Dog", "Cat")
    assert odds is not None
    assert odds.superiority is not None
    assert without is not None
    assert abs(without - 0.5) > abs(odds.superiority - 0.5), "a comparison widens what the ladder knows"
    won = await superiority(history, asked(2, test, *[(2, 2)] * 4))
    lost = await superiority(history, asked(3, test, *[(0, 0)] * 4))
    assert won is not None
    assert lost is not None
    assert without is not None
    assert lost < without < won


async def test_rated_games_are_in_the_ladder_already(history: History) -> None:
    rated = Test(version=DOG, against=CAT, most_games=100, rated=True)
    before = await superiority(history, asked(1, rated))
    assert await superiority(history, asked(2, rated, (0, 0), (0, 0))) == before


async def test_it_is_said_of_two_that_the_ladder_knows(history: History) -> None:
    anybody = Challenge(version=DOG, most_games=20)
    assert await superiority(history, asked(1, anybody, (2, 2), opponent=CAT)) is None
    questions = Questions(history, StrengthsOf(history, WebSettings(venues={})), 0.5)
    assert await questions.detail(QuestionId(1), "http://x") is not None
