"""Anchors and versions that do not play like their number are found, and the others are left in peace."""

from __future__ import annotations

import math
import random
from collections.abc import Collection
from statistics import NormalDist
from typing import Any

import msgspec
import pytest

from cgos_protocol.api.messages import StrengthChange
from cgos_server.core.rating.base import Entry, Kind, Outcome, Rating
from cgos_server.core.rating.bayes.system import AnchorResidual, Bayes
from cgos_server.service.ratings.ledger_fold import Run
from cgos_server.service.ratings.rating_health import ANCHOR_ALARMS, check_anchors, check_version, settled
from cgos_server.storage.reading.answers import VersionGame


def _residual(version: int, z: float) -> AnchorResidual:
    return AnchorResidual(version, 1800.0, 1.0, 1800.0 + 40 * z, 40.0, z)


@pytest.mark.parametrize("anchors", [2, 5, 40])
def test_the_rate_of_false_alarms_is_shared_by_the_anchors(anchors: int) -> None:
    findings = check_anchors([_residual(number, 0.1 * number) for number in range(anchors)], {}, "9x9")
    assert len({finding.limit for finding in findings}) == 1
    one_alarm = 2 * (1 - NormalDist().cdf(findings[0].limit))
    assert anchors * one_alarm == pytest.approx(ANCHOR_ALARMS, rel=1e-6)


def test_an_anchor_is_told_of_by_its_name() -> None:
    worst, fine = check_anchors([_residual(7, -0.5), _residual(8, 4.2)], {7: "Rock", 8: "Balloon"}, "9x9")
    assert (worst.version, worst.alarm, fine.version, fine.alarm) == ("Balloon", True, "Rock", False)
    assert "Balloon does not play like its number any more: it stands for 1800" in worst.sentence
    assert "1968 ± 78" in worst.sentence
    assert "cgos-server anchor set Balloon" in worst.sentence
    assert fine.sentence.startswith("Rock plays like its number")
    assert check_anchors([], {}, "9x9") == []


def test_an_anchor_that_became_stronger_is_found_in_the_results() -> None:
    system, rng = Bayes(1800.0), random.Random(3)
    run = Run(system)
    true = {1: 1500.0, 2: 1800.0, 3: 2400.0, 4: 1600.0, 5: 1900.0}
    for version, value in true.items():
        run.fold(Entry(run.seq + 1, Kind.ENTER, version, value=1800.0))
        if version <= 3:
            stated = 2000.0 if version == 3 else value  # the third is 400 better than its number
            run.fold(Entry(run.seq + 1, Kind.ANCHOR, version, value=stated))
    for _ in range(600):
        black, white = rng.sample(sorted(true), 2)
        won = rng.random() < 1 / (1 + 10 ** ((true[white] - true[black]) / 400))
        run.fold(Entry(run.seq + 1, Kind.GAME, None, black, white, 2 if won else 0))
    run.refit_now(cold=True)
    findings = check_anchors(system.anchor_residuals(run.state), {3: "Cheat"}, "9x9")
    assert findings[0].version == "Cheat"
    assert findings[0].alarm
    assert findings[0].mean > 2150


def _games(scores: list[int], **more: bool) -> list[VersionGame]:
    return [
        VersionGame(
            seq=10 + at,
            game=100 + at,
            at=1000 * at,
            opponent=2,
            color=("black", "white")[at % 2],
            score2=score2,
            **{"repeat": False, **more},
        )
        for at, score2 in enumerate(scores)
    ]


def _even(_black: int, _white: int) -> Outcome:
    return Outcome(0.5, 0.0, 0.5)


def _check(name: str, games: list[VersionGame], *, predict: Any = _even, **more: Any) -> StrengthChange | None:
    """Version 1 at 1900, whose opponent 2 stands at 1800 ± 20 (sd); 3 has no games."""
    ratings = {
        1: Rating(1900.0, 30.0, len(games), False),
        2: Rating(1800.0, 20.0, 500, False),
        3: Rating(9000.0, 300.0, 0, True),
    }
    return check_version(
        name, 1, games, **{"venue": "9x9", "predict": predict, "ratings": ratings, "sure": True, **more}
    )


def _changed(seed: int = 11) -> list[int]:
    rng = random.Random(seed)
    return [2 * (rng.random() < 0.25) for _ in range(60)] + [2 * (rng.random() < 0.85) for _ in range(60)]


def test_a_version_that_changed_is_found_where_it_changed() -> None:
    change = _check("Chameleon", _games(_changed()))
    assert change is not None
    assert (change.version, change.venue, change.state) == ("Chameleon", "9x9", "flagged")
    assert change.noticed_after == 80  # as soon as there was a look after the change
    assert change.noticed_at == 79_000  # the last of those games
    assert abs(change.number - 61) <= 8
    assert change.game == 100 + change.number - 1
    assert change.shift > 150
    assert change.z > 4.26
    assert "Chameleon seems to have become" in change.sentence
    assert "stronger" in change.sentence
    assert "cgos-client run --version NEW" in change.proposal
    assert "cgos-server family link NEW Chameleon" in change.proposal


def test_what_it_shows_since_is_by_those_games_alone() -> None:
    games = _games(_changed())
    change = _check("Chameleon", games)
    assert change is not None
    assert change.rating_since is not None
    later = [game for game in games if game.game >= change.game]
    assert change.rating_since.games == len(later)
    score = sum(game.score2 or 0 for game in later) / 2 / len(later)
    plain = 1900 + 400 * math.log10(score / (1 - score))  # at 1900 the games are even
    assert change.rating_since.mean == pytest.approx(plain, abs=40)
    assert change.rating_since.lower < change.rating_since.mean < change.rating_since.upper
    assert change.rating_since.lower > 1900
    unsure = _check("Chameleon", games, sure=False)
    assert unsure is not None
    assert unsure.rating_since is None


def test_games_that_are_not_looked_at_are_counted() -> None:
    games = _games(_changed())
    one, later = _check("Old", games), _check("Old", games, earlier=1000)
    assert one is not None
    assert later is not None
    assert (later.number, later.noticed_after) == (one.number + 1000, one.noticed_after + 1000)
    assert "after 1080 games" in later.sentence


def test_opponents_can_be_left_out() -> None:
    """Their games keep their numbers."""
    games = _games(_changed())
    between = [msgspec.structs.replace(game, opponent=3, score2=1) for game in games]
    mixed = [game for both in zip(games, between, strict=True) for game in both]
    plain, without = _check("Mixed", games), _check("Mixed", mixed, without=[3])
    assert plain is not None
    assert without is not None
    assert (without.game, without.z, without.rating_since) == (plain.game, plain.z, plain.rating_since)
    assert (without.number, without.noticed_after) == (2 * plain.number - 1, 2 * plain.noticed_after - 1)
    assert _check("Mixed", mixed, without=[2]) is None


async def test_the_surest_change_explains_others() -> None:
    one = _check("One", _games(_changed()))
    assert one is not None
    changes = {
        4: msgspec.structs.replace(one, z=4.0),
        5: msgspec.structs.replace(one, z=6.0),
        6: msgspec.structs.replace(one, z=5.0),
    }
    asked = []

    async def again(version: int, without: Collection[int]) -> StrengthChange | None:
        asked.append((version, set(without)))
        return None if version == 6 else changes[version]

    assert await settled(changes, again) == {5: changes[5], 4: changes[4]}
    assert asked == [(6, {5}), (4, {5})], "what has been explained explains nothing"
    assert await settled({}, again) == {}


def test_a_smaller_change_is_watched() -> None:
    """And is said to be less sure."""
    states = {}
    for seed in range(40):
        rng = random.Random(seed)
        scores = [2 * (rng.random() < 0.4) for _ in range(80)] + [2 * (rng.random() < 0.65) for _ in range(80)]
        change = _check("Newt", _games(scores))
        if change is not None:
            states[change.state] = change.sentence
    assert "one in a hundred is watched" in states["watch"]
    assert "one in a thousand is flagged" in states["flagged"]


def test_games_that_do_not_count_are_left_out() -> None:
    assert _check("Parrot", _games(_changed(), repeat=True)) is None
    assert _check("Ghost", [msgspec.structs.replace(game, score2=None) for game in _games(_changed())]) is None


def test_a_score_is_held_against_the_expectation_of_its_color() -> None:
    # First it always has Black, and wins nearly always; then it always has White, and loses as surely.
    rng = random.Random(2)
    games = [
        VersionGame(
            seq=at,
            game=at,
            at=0,
            opponent=2,
            color=color,
            score2=2 * ((rng.random() < 0.95) == (color == "black")),
            repeat=False,
        )
        for at, color in enumerate(["black"] * 80 + ["white"] * 80)
    ]
    assert _check("Day", games, predict=lambda _black, _white: Outcome(0.95, 0.0, 0.05)) is None
    assert _check("Day", games) is not None


def test_versions_that_never_change_are_left_in_peace() -> None:
    rng = random.Random(5)
    states = []
    for _ in range(150):
        expected = rng.uniform(0.2, 0.8)
        change = _check("Rock", _games([2 * (rng.random() < expected) for _ in range(160)]))
        states += [] if change is None else [change.state]
    assert states.count("flagged") <= 2  # one in a thousand would be 0.15; 3 or more has a probability of 0.0006
    assert len(states) <= 6  # one in a hundred would be 1.5; 7 or more has a probability of 0.001
