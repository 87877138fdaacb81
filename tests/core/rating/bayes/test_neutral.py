"""Games in which nobody moved first: the likelihood without an advantage, and all else as it is."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest

from cgos_server.core.rating import BradleyTerry
from cgos_server.core.rating.bayes import normal, sites
from cgos_server.core.rating.bayes.joint import join, known_start
from cgos_server.core.rating.bayes.pool import Links, Pool, Prior
from cgos_server.core.rating.bayes.system import dump_state

Q = math.log(10) / 400


def log_result(difference: float, advantage: float, nu: float, result: str) -> float:
    """Davidson (1970), written down once more."""
    strong, weak = 10 ** ((difference + advantage) / 800), 10 ** (-(difference + advantage) / 800)
    of = {"win": strong, "draw": nu, "loss": weak}
    return math.log(of[result] / (strong + weak + nu))


def mixed_pool(prior: Prior, n: int = 2) -> Pool:
    """Two versions with games in either order and with nobody first; more are anchors without games."""
    nobody = np.array([], dtype=np.int64), np.array([]), np.array([])
    return Pool(
        n=n,
        prior=prior,
        anchors=(np.array([0]), np.array([2000.0]), np.array([1e-2])),
        own=nobody,
        links=Links(nobody[0], nobody[0], sd=nobody[1], surely=nobody[0]),
        first=np.array([0, 1, 0, 1]),
        second=np.array([1, 0, 1, 0]),
        wins=np.array([6.0, 4.0, 3.0, 5.0]),
        draws=np.array([2.0, 1.0, 3.0, 0.0]),
        losses=np.array([1.0, 3.0, 2.0, 2.0]),
        neutral=np.array([False, False, True, True]),
    )


COUNTS = ((6, 2, 1, 1.0), (3, 1, 4, -1.0), (3 + 2, 3, 2 + 5, 0.0))
"""Of the same games in the view of version 0: wins, draws, losses, and who moved first."""


def brute(difference: float, advantage: float, nu: float) -> float:
    return sum(
        wins * log_result(difference, at * advantage, nu, "win")
        + draws * log_result(difference, at * advantage, nu, "draw")
        + losses * log_result(difference, at * advantage, nu, "loss")
        for wins, draws, losses, at in COUNTS
    )


def test_the_mode_is_that_of_a_grid() -> None:
    fitted = normal.cold(mixed_pool(Prior(initial=2000.0, learned=False)))
    nu = fitted.hyper.draw

    def posterior(difference: float, advantage: float, draw: float) -> float:
        prior = -0.5 * (difference / 500.0) ** 2 - 0.5 * (advantage / 50.0) ** 2 - 0.5 * math.log(draw) ** 2
        return prior + brute(difference, advantage, draw)

    center, width = [0.0, 0.0, 1.0], [200.0, 100.0, 0.9]
    for _ in range(12):
        axes = [np.linspace(c - w, c + w, 9) for c, w in zip(center, width, strict=True)]
        center = list(
            max(((d, h, v) for d in axes[0] for h in axes[1] for v in axes[2] if v > 0), key=lambda at: posterior(*at))
        )
        width = [each * 0.4 for each in width]
    assert fitted.x[0] - fitted.x[1] == pytest.approx(center[0], abs=0.05)
    assert fitted.hyper.advantage == pytest.approx(center[1], abs=0.05)
    assert nu == pytest.approx(center[2], abs=1e-3)


@pytest.mark.parametrize(("mean", "sd"), [(-30.0, 60.0), (50.0, 400.0)])
@pytest.mark.parametrize("advantage", [0.0, 40.0])
@pytest.mark.parametrize("nu", [0.0, 0.8])
def test_moments_of_a_pair_are_those_of_an_integral(mean: float, sd: float, advantage: float, nu: float) -> None:
    pool = mixed_pool(Prior(initial=2000.0))
    of = sites.cells(pool)
    tilted = sites.tilted(
        of, np.zeros(1), precision=np.array([sd**-2]), mean=np.array([mean]), advantage=advantage, draw=nu, learn=True
    )
    y = np.linspace(mean - 8 * sd, mean + 8 * sd, 40_001)

    def log_of(at: float, share: float) -> np.ndarray:
        total = np.zeros_like(y)
        for wins, draws, losses, side in COUNTS:
            z = Q * (y + side * at)
            normalizer = np.log(np.exp(z / 2) + np.exp(-z / 2) + share)
            total += (
                (wins - losses) / 2 * z
                - (wins + draws + losses) * normalizer
                + draws * (math.log(share) if share else 0.0)
            )
        return total

    logs = log_of(advantage, nu) - 0.5 * ((y - mean) / sd) ** 2 - math.log(sd * math.sqrt(2 * math.pi))
    weight = np.exp(logs - logs.max())
    z, share = weight.sum(), weight / weight.sum()
    assert tilted.mean[0] == pytest.approx(share @ y, abs=0.02)
    assert tilted.variance[0] == pytest.approx(share @ (y - share @ y) ** 2, rel=1e-3)
    assert tilted.log_z[0] == pytest.approx(logs.max() + math.log(z * (y[1] - y[0])), abs=1e-3)
    assert tilted.evidence is not None
    up, here, down = log_of(advantage + 0.5, nu), log_of(advantage, nu), log_of(advantage - 0.5, nu)
    assert tilted.evidence.advantage_slope == pytest.approx(share @ (up - down), abs=1e-4)
    assert tilted.evidence.advantage_bend == pytest.approx(share @ (up - 2 * here + down) / 0.25, rel=1e-2)
    if nu:
        up, down = log_of(advantage, nu * math.exp(0.01)), log_of(advantage, nu * math.exp(-0.01))
        assert tilted.evidence.draw_slope == pytest.approx(share @ (up - down) / 0.02, abs=1e-3)
        assert tilted.evidence.draw_bend == pytest.approx(share @ (up - 2 * here + down) / 1e-4, rel=1e-2)


def test_slopes_and_values_are_derivatives_of_one_another() -> None:
    of = sites.cells(mixed_pool(Prior(initial=2000.0)))
    for advantage in (0.0, 60.0):
        at = [sites.values(of, np.array([35.0 + step]), advantage, 0.7)[0] for step in (-0.1, 0.0, 0.1)]
        slope, bend = sites.slopes(of, np.array([35.0]), advantage, 0.7)
        assert at[1] == pytest.approx(brute(35.0, advantage, 0.7))
        assert slope[0] == pytest.approx((at[2] - at[0]) / 0.2, rel=1e-5)
        assert bend[0] == pytest.approx(-(at[2] - 2 * at[1] + at[0]) / 0.01, rel=1e-3)


def test_the_fixed_prior_has_the_right_derivatives() -> None:
    prior = Prior(initial=2000.0, learned=False)
    pool = mixed_pool(prior)
    joint = join(pool, 0)
    at = normal.Point(known_start(pool, joint) + np.array([10.0, -40.0]), 25.0, -0.3)
    gradient, hessian = normal.derivatives(joint, prior, at, True)
    steps = np.diag([0.05, 0.05, 0.05, 1e-4])
    for index, step in enumerate(steps):
        moved = [
            normal.Point(at.x + sign * step[:2], at.advantage + sign * step[2], at.log_draw + sign * step[3])
            for sign in (1, -1)
        ]
        up, down = (normal.value(joint, prior, each, True) for each in moved)
        slopes = [normal.derivatives(joint, prior, each, True)[0] for each in moved]
        assert gradient[index] == pytest.approx((up - down) / (2 * step[index]), rel=1e-3, abs=1e-5)
        bend = -(slopes[0] - slopes[1]) / (2 * step[index])
        assert hessian[index] == pytest.approx(bend, rel=1e-3, abs=1e-6)


GAMES = [
    (a, b, score) for a, b, score in zip("ABCADBCAAB", "BCDCBDABDC", (1, 1, 0.5, 0, 1, 0, 0.5, 1, 1, 0), strict=True)
]


@pytest.mark.parametrize("learned", [True, False])
def test_neutral_is_no_advantage(learned: bool) -> None:
    """Exactly as a model in which the first move is worth nothing has it; and as both colors equally."""
    neutral, nothing, both = (BradleyTerry(learned=learned, advantage_sd=sd) for sd in (50.0, 0.0, 50.0))
    for a, b, score in GAMES:
        neutral.add(a, b, score, games=2, neutral=True)
        nothing.add(a, b, score, games=2)
        both.add(a, b, score)
        both.add(b, a, 1 - score)
    for other in (nothing, both):
        for name in neutral:
            mine, its = neutral.rating(name), other.rating(name)
            assert (mine.mean, mine.lower, mine.upper) == pytest.approx((its.mean, its.lower, its.upper), abs=1e-3)
    assert neutral.learned().advantage == 0.0
    assert neutral.learned().advantage_sd == pytest.approx(50.0)
    assert nothing.learned().advantage_sd == 0.0
    assert neutral.predict("A", "B", neutral=True) == neutral.predict("A", "B")


def test_results_at_once_and_in_either_order_count_alike() -> None:
    added, played = BradleyTerry(), BradleyTerry()
    for name in "ABCD":  # the same order, so that rounding is the same
        added.version(name)
    for a, b, score in GAMES:
        added.add(b, a, 1 - score, neutral=True)
        played.play(a, b, score, neutral=True)
    one_by_one = played.rating("A").mean
    assert repr(added) == repr(played) == "<BradleyTerry: 4 names, 10 games>"
    assert {name: played.fit().rating(name) for name in "ABCD"} == {name: added.rating(name) for name in "ABCD"}
    assert one_by_one != played.rating("A").mean
    added.add("A", "B", 1, games=-1, neutral=True)
    with pytest.raises(ValueError, match="fewer than 5"):
        added.add("A", "B", 1, games=-5, neutral=True)
    with pytest.raises(ValueError, match="fewer than 1"):
        added.add("A", "B", 1, games=-1)


def test_a_step_without_the_first_move_knows_no_advantage() -> None:
    plain, turned = BradleyTerry(), BradleyTerry()
    for model in (plain, turned):
        model.add("A", "B", 1, games=30)
        model.add("B", "A", 1, games=29)
        model.add("B", "A", 0)
        model.add("B", "A", 0.5, games=5)
        model.fit()
    assert plain.learned().advantage > 50
    plain.play("A", "B", 0.5, neutral=True)
    turned.play("A", "B", 0.5)
    # A draw costs the side that moves first the more, as it was expected to win.
    assert plain.difference("A", "B").mean > turned.difference("A", "B").mean + 2
    level = plain.predict("A", "B", neutral=True)
    back = plain.predict("B", "A", neutral=True)
    assert level.win == pytest.approx(back.loss)
    assert plain.predict("A", "B").win > level.win + 0.1
    assert plain.predict("B", "A").win > back.win + 0.1


def test_winners_first_do_not_become_an_advantage() -> None:
    random = Random(4)
    strengths = {f"P{at}": 1800.0 + 100.0 * at for at in range(5)}
    listed, truly = BradleyTerry(), BradleyTerry()
    for _ in range(400):
        first, second = random.sample(sorted(strengths), 2)
        won = random.random() < 1 / (1 + 10 ** ((strengths[second] - strengths[first] - 80) / 400))
        truly.add(first, second, int(won))
        listed.beat(*((first, second) if won else (second, first)))
    assert truly.learned().advantage == pytest.approx(80, abs=2.5 * truly.learned().advantage_sd)
    assert listed.learned().advantage == 0.0
    for name, strength in strengths.items():
        assert listed.rating(name).mean == pytest.approx(strength, abs=3 * listed.rating(name).sd)


def test_no_ledger_keeps_such_games() -> None:
    model = BradleyTerry()
    model.beat("A", "B")
    with pytest.raises(ValueError, match="no ledger"):
        dump_state(model._state, model._system.prior)
