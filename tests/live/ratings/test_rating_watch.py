"""What the hourly look at a venue's ratings finds, and what it leaves alone."""

from __future__ import annotations

import asyncio
import math
import random
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from cgos_protocol.errors import StoreError
from cgos_server.core.rating.registry import rating_system
from cgos_server.live.ratings import rating_watch
from cgos_server.live.ratings.rating_watch import RatingWatch
from cgos_server.observability.metrics import Metrics
from cgos_server.service.ratings.venue_ratings import VenueRatings
from cgos_server.storage.reading.answers import VersionGame

ANCHORS = {1: 1600.0, 2: 1800.0, 3: 2000.0}
NAMES = {1: "low", 2: "middle", 3: "high", 4: "bot", 5: "other"}


class Past:
    """Games between versions whose strength is known here, rated and kept."""

    def __init__(self) -> None:
        self.ratings = VenueRatings(1, rating_system("bayes", 1800.0, {}))
        for version in NAMES:
            self.ratings.enter(version, 1800.0, 0)
        for version, value in ANCHORS.items():
            self.ratings.anchor(version, value, 0)
        self.played: dict[str, list[VersionGame]] = {name: [] for name in NAMES.values()}
        self.rng = random.Random(4)
        self.looked_at: list[str] = []
        self.fails = False

    def play(self, black: int, white: int, gap: float, games: int) -> None:
        """`gap`: Elo by which Black is really stronger."""
        for _ in range(games):
            score2 = 2 if self.rng.random() < 1 / (1 + math.pow(10, -gap / 400)) else 0
            seq = self.ratings.game(self.ratings.seq, black, white, score2, 0).entry.seq
            self.played[NAMES[black]].append(
                VersionGame(seq=seq, game=seq, at=0, opponent=white, color="black", score2=score2, repeat=False)
            )
            self.played[NAMES[white]].append(
                VersionGame(seq=seq, game=seq, at=0, opponent=black, color="white", score2=2 - score2, repeat=False)
            )

    def refit(self) -> None:
        begun = self.ratings.begin("bayes", True)
        self.ratings.finish(begun, self.ratings.refitting("bayes").refit(begun.job), 0, 0)

    async def games(self, version: str, venue: str, limit: int | None = None) -> list[VersionGame]:
        if self.fails:
            raise StoreError("the disk is away")
        self.looked_at.append(version)
        return self.played[version]


def watch(past: Past) -> tuple[RatingWatch, Any]:
    meter = Metrics(CollectorRegistry(), "test").venue("9x9")
    return RatingWatch("9x9", past.ratings, past, NAMES, meter), meter.warnings


async def test_everything_plays_like_its_number() -> None:
    past = Past()
    for white in (1, 2, 3):
        past.play(4, white, 1800 - ANCHORS[white], 30)
    past.play(1, 3, -400, 30)
    past.play(1, 2, -200, 30)
    past.refit()
    looking, warnings = watch(past)
    await looking.look()
    assert warnings == {"anchor": 0, "break": 0}
    assert set(past.looked_at) == {"low", "middle", "high", "bot"}, "whoever has enough games"


async def test_an_anchor_that_plays_otherwise_than_its_number_is_told_once(
    capsys: pytest.CaptureFixture[str],
) -> None:
    past = Past()
    past.play(1, 2, -200, 120)
    past.play(3, 2, -300, 120)  # "high" stands for 2000 and plays like 1500
    past.play(3, 1, -100, 120)
    past.refit()
    looking, warnings = watch(past)
    await looking.look()
    assert warnings["anchor"] >= 1
    assert capsys.readouterr().out.count("high does not play like its number") == 1
    await looking.look()
    assert warnings["anchor"] >= 1
    assert "does not play" not in capsys.readouterr().out


async def test_a_version_that_became_another_is_found_when_it_has_played_enough(
    capsys: pytest.CaptureFixture[str],
) -> None:
    past = Past()
    for stronger in (0, 400):
        for _ in range(30):
            for white, value in ANCHORS.items():
                past.play(4, white, 1800 + stronger - value, 1)
    past.refit()
    looking, warnings = watch(past)
    await looking.look()
    assert warnings["break"] == 1
    assert capsys.readouterr().out.count("bot seems to have become") == 1
    looks = len(past.looked_at)
    await looking.look()
    assert len(past.looked_at) == looks, "it is looked at again when it has played twice as much"
    assert warnings["break"] == 1
    assert "bot" not in capsys.readouterr().out


async def test_a_database_that_does_not_answer_is_no_end_of_it() -> None:
    past = Past()
    past.play(4, 2, 0, 50)
    past.fails = True
    looking, warnings = watch(past)
    with pytest.raises(StoreError):
        await looking.look()
    past.fails = False
    await looking.look()
    assert "bot" in past.looked_at
    assert warnings["break"] == 0


async def test_a_fault_of_ours_in_a_look_does_not_end_the_server(monkeypatch: pytest.MonkeyPatch) -> None:
    looking, _ = watch(Past())
    looked: list[int] = []

    async def look() -> None:
        looked.append(1)
        if len(looked) == 1:
            raise KeyError(4)

    monkeypatch.setattr(looking, "look", look)
    monkeypatch.setattr(rating_watch, "FIRST_S", 0.0)
    monkeypatch.setattr(rating_watch, "EVERY_S", 0.0)
    task = asyncio.get_running_loop().create_task(looking.run())
    async with asyncio.timeout(10):
        while len(looked) < 3 and not task.done():  # noqa: ASYNC110 - a condition without an event
            await asyncio.sleep(0)
    assert not task.done()
    task.cancel()
