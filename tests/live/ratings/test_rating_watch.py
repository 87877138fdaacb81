"""What the hourly look at a venue's ratings finds, and what it leaves alone."""

from __future__ import annotations

import asyncio
import math
import random
from typing import Any

import msgspec
import pytest
from prometheus_client import CollectorRegistry
from structlog.testing import capture_logs

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
    assert warnings == {"anchor": 0, "watch": 0, "flagged": 0}
    assert set(past.looked_at) == {"low", "middle", "high", "bot"}, "whoever has enough games"


async def test_an_anchor_that_plays_otherwise_than_its_number_is_told_once() -> None:
    past = Past()
    past.play(1, 2, -200, 120)
    past.play(3, 2, -300, 120)  # "high" stands for 2000 and plays like 1500
    past.play(3, 1, -100, 120)
    past.refit()
    looking, warnings = watch(past)
    with capture_logs() as logs:
        await looking.look()
    assert warnings["anchor"] >= 1
    assert sum(log["event"].startswith("high does not play like its number") for log in logs) == 1
    with capture_logs() as logs:
        await looking.look()
    assert warnings["anchor"] >= 1
    assert logs == []


def changing(past: Past, bot: int, *strengths: float) -> None:
    """90 games at each of these strengths, against all anchors in turn."""
    for strength in strengths:
        for _ in range(30):
            for white, value in ANCHORS.items():
                past.play(bot, white, strength - value, 1)


async def test_a_version_that_became_another_is_found_when_it_has_played_enough() -> None:
    past = Past()
    changing(past, 4, 1800.0, 2200.0)
    past.refit()
    looking, warnings = watch(past)
    with capture_logs() as logs:
        await looking.look()
    assert (warnings["flagged"], warnings["watch"]) == (1, 0)
    (told,) = (log for log in logs if log["event"].startswith("bot seems to have become"))
    assert "cgos-client run --version NEW" in told["proposal"]
    (change,) = looking.changes()
    assert (change.version, change.venue, change.state) == ("bot", "9x9", "flagged")
    assert abs(change.number - 91) < 15
    assert change.rating_since is not None
    assert change.rating_since.lower < 2200 < change.rating_since.upper
    assert past.ratings.rating(4).mean < change.rating_since.mean, "the headline stays"
    looks = len(past.looked_at)
    with capture_logs() as logs:
        await looking.look()
    assert set(past.looked_at[looks:]) == {"bot"}, "the others are looked at again at the next number of games"
    assert warnings["flagged"] == 1
    assert logs == [], "it is told once"


async def test_a_restart_finds_again_what_was_flagged() -> None:
    past = Past()
    changing(past, 4, 1800.0, 2200.0)
    past.refit()
    before, _ = watch(past)
    await before.look()
    after, warnings = watch(past)
    assert after.changes() == []
    await after.look()
    assert after.changes() == before.changes() != []
    assert warnings["flagged"] == 1


async def test_a_correction_takes_a_flag_back() -> None:
    past = Past()
    changing(past, 4, 1800.0, 2200.0)
    past.refit()
    looking, warnings = watch(past)
    await looking.look()
    assert warnings["flagged"] == 1
    games = past.played["bot"]
    past.played["bot"] = [*games[:90], *(msgspec.structs.replace(game, score2=None) for game in games[90:])]
    with capture_logs() as logs:
        await looking.look()
    assert looking.changes() == []
    assert warnings == {"anchor": warnings["anchor"], "watch": 0, "flagged": 0}
    assert [log["event"] for log in logs] == ["a version does not break with its past any more"]


async def test_many_change_at_once_and_whom_they_meet_are_left_in_peace() -> None:
    """Nobody but the two that change meets the anchors: by all their games these seem to change, too."""
    past = Past()
    changing(past, 4, 1800.0, 2200.0)
    changing(past, 5, 2000.0, 1600.0)
    past.refit()
    looking, warnings = watch(past)
    with capture_logs() as logs:
        await looking.look()
    bot, other = looking.changes()
    assert (bot.version, other.version, warnings["flagged"]) == ("bot", "other", 2)
    assert bot.shift > 200 > -200 > other.shift
    assert set(past.looked_at) == set(NAMES.values())
    assert not any("low" in log["event"] for log in logs)


async def test_what_it_plays_since_is_known_anew_at_every_look() -> None:
    past = Past()
    changing(past, 4, 1800.0, 2200.0)
    past.refit()
    looking, _ = watch(past)
    await looking.look()
    (before,) = looking.changes()
    past.play(4, 3, 200.0, 10)
    await looking.look()
    (after,) = looking.changes()
    assert before.rating_since is not None
    assert after.rating_since is not None
    assert after.rating_since.games == before.rating_since.games + 10
    assert (after.number, after.noticed_after) == (before.number, before.noticed_after)


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
    assert (warnings["watch"], warnings["flagged"]) == (0, 0)


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
