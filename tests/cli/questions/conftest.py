"""Three questions in the database of the command line's tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.storage.asked import QuestionPast
from support.storage.storage_sample import put
from support.web.past import NINE, terms

from cgos_protocol.ids import VersionId
from cgos_protocol.terms import encode_terms
from cgos_server.core.questions.asked import Challenge, Gauntlet, Opponent, State, Test

ALPHA, BETA, GAMMA = VersionId(1), VersionId(2), VersionId(3)
AT = 1_700_000_500_000


def question(number: int, asked: Test | Gauntlet | Challenge) -> QuestionPast:
    return QuestionPast(
        number=number, asked=asked, venue_id=1, terms=encode_terms(terms(NINE)), first_game=1000 * number, at=AT
    )


@pytest.fixture
def asked(data: Path) -> Path:
    """1: a test that goes on; 2: a gauntlet that is answered; 3: a challenge that was stopped; 4: a test that is
    rejected. Of a directory."""
    test = question(1, Test(version=ALPHA, against=BETA, upper=200.0, most_games=100))
    test.pairs((2, 2), (2, 1), (0, 2), (2, None))
    field = (Opponent(version=BETA, rating=1900.0), Opponent(version=GAMMA, rating=1700.0))
    gauntlet = question(2, Gauntlet(version=ALPHA, field=field, most_games=100))
    gauntlet.pairs((2, 0), (1, 2), opponent=BETA)
    gauntlet.pairs((2, 2), opponent=GAMMA)
    challenge = question(3, Challenge(version=ALPHA, against=GAMMA, most_games=20))
    challenge.pair(2, 0, digest=5)
    challenge.pair(2, 0, digest=5)
    lost = question(4, Test(version=ALPHA, against=BETA, upper=200.0, most_games=100))
    lost.pairs(*[(0, 0), (0, 2)] * 8)
    put(
        data / "cgos.sqlite",
        [
            *test.records(),
            *gauntlet.records(State.ANSWERED, "It is known to 50 Elo."),
            *challenge.records(State.STOPPED, "Its owner has stopped it."),
            *lost.records(State.REJECTED, "The log-likelihood ratio reached its bound."),
        ],
    )
    return data


@pytest.fixture(autouse=True)
def no_token(monkeypatch: Any) -> None:
    monkeypatch.delenv("CGOS_TOKEN", raising=False)
