"""Anchors and versions that do not play like their number are found, and the others are left in peace."""

from __future__ import annotations

import random
from statistics import NormalDist

import pytest

from cgos_server.core.rating.base import Entry, Kind, Outcome
from cgos_server.core.rating.bayes.system import AnchorResidual, Bayes
from cgos_server.core.rating.breaks import looks
from cgos_server.service.ratings.ledger_fold import Run
from cgos_server.service.ratings.rating_health import ANCHOR_ALARMS, check_anchors, check_version
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
            at=0,
            opponent=2,
            color=("black", "white")[at % 2],
            score2=score2,
            **{"repeat": False, **more},
        )
        for at, score2 in enumerate(scores)
    ]


def _even(_black: int, _white: int) -> Outcome:
    return Outcome(0.5, 0.0, 0.5)


def test_a_version_that_changed_is_found_where_it_changed() -> None:
    rng = random.Random(11)
    scores = [2 * (rng.random() < 0.25) for _ in range(60)] + [2 * (rng.random() < 0.85) for _ in range(60)]
    finding = check_version("Chameleon", 1, _games(scores), _even)
    assert finding is not None
    assert finding.look == 80  # as soon as there was a look after the change
    assert abs(finding.games - 60) <= 8
    assert finding.game == 100 + finding.games
    assert finding.shift > 150
    assert finding.p < 0.001
    assert "Chameleon seems to have become" in finding.sentence
    assert "stronger" in finding.sentence


def test_games_that_do_not_count_are_left_out() -> None:
    rng = random.Random(11)
    scores = [2 * (rng.random() < 0.25) for _ in range(60)] + [2 * (rng.random() < 0.85) for _ in range(60)]
    assert check_version("Parrot", 1, _games(scores, repeat=True), _even) is None
    assert check_version("Ghost", 1, [_void(game) for game in _games(scores)], _even) is None


def _void(game: VersionGame) -> VersionGame:
    return VersionGame(
        seq=game.seq,
        game=game.game,
        at=game.at,
        opponent=game.opponent,
        color=game.color,
        score2=None,
        repeat=game.repeat,
    )


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
    assert check_version("Day", 1, games, lambda _black, _white: Outcome(0.95, 0.0, 0.05)) is None
    assert check_version("Day", 1, games, _even) is not None


def test_versions_that_never_change_are_left_in_peace() -> None:
    rng = random.Random(5)
    flagged = 0
    for _ in range(150):
        expected = rng.uniform(0.2, 0.8)
        scores = [2 * (rng.random() < expected) for _ in range(160)]
        flagged += check_version("Rock", 1, _games(scores), _even) is not None
    assert flagged <= 2  # one in a thousand would be 0.15; 3 or more has a probability of 0.0006


@pytest.mark.parametrize(
    ("games", "passed"), [(0, 0), (39, 0), (40, 1), (79, 1), (80, 2), (159, 2), (160, 3), (5120, 8)]
)
def test_looks(games: int, passed: int) -> None:
    assert looks(games) == passed
