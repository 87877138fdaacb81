"""Nobody waits for strangers, yet fast bots do not only meet fast bots: simulated ladders, hours in a moment."""

from __future__ import annotations

from typing import Any

import pytest

from cgos_protocol.randomness import Rng
from cgos_server.core.pairing.base import Pairing, PairingPass
from cgos_server.core.pairing.registry import matchmaker
from cgos_server.core.venue import Policy
from cgos_server.lab.ladder.play import simulate
from cgos_server.lab.ladder.players import Population

INTERVAL = 4.0
"""Seconds between two passes; more than a server's, since every pass costs the test as much as it costs the server."""


def play(
    bots: int,
    hours: float,
    method: str,
    policy: Policy = Policy.ROLLING,
    *,
    interval: float = INTERVAL,
    seed: int = 1,
    **options: Any,
) -> Any:
    """The figures of a ladder whose bots think 12 to 300 s a game."""
    population = Population(versions=bots, hours=hours, fastest=12.0, spread=25.0)
    return simulate(population, matchmaker(method, options), policy, interval=interval, seed=seed)


@pytest.mark.parametrize(("method", "hours"), [("information", 2.0), ("birk", 2.0)])
def test_fast_bots_meet_everybody_and_nobody_waits_long(method: str, hours: float) -> None:
    rolling = play(40, hours, method)
    barrier = play(40, 3 * hours, method, Policy.BARRIER)
    alone = play(40, hours, method, fairness=0.0)
    assert rolling.own_share <= 1.25 * barrier.own_share < alone.own_share
    assert rolling.utilization > 0.85 > 0.5 > barrier.utilization
    assert rolling.wait_p50 < 3 * INTERVAL
    assert rolling.most_often <= 0.1


def test_six_bots_do_not_meet_one_opponent_over_and_over() -> None:
    held = play(6, 16.0, "random", interval=15.0, seed=5)
    assert 0.2 < held.most_often <= 0.4
    assert play(6, 16.0, "random", interval=15.0, seed=5, repeat_most=100).most_often > 0.4


class Watched:
    """A matchmaker, with the passes in which somebody had been passed over as often as is allowed."""

    def __init__(self, method: str, **options: Any) -> None:
        self.inner = matchmaker(method, options)
        self.name, self.options = self.inner.name, self.inner.options
        self.most = self.options["pass_over"]
        self.late: list[tuple[int, int]] = []
        """Of each such pass: how many of them there were, and how many of them were left once more."""

    def pair(self, pairing_pass: PairingPass, rng: Rng) -> Pairing:
        pairing = self.inner.pair(pairing_pass, rng)
        late = {c.id for c in pairing_pass.candidates if c.sat_out >= self.most}
        if late and pairing.pairs:
            self.late.append((len(late), len(late & pairing.sits_out.keys())))
        return pairing


@pytest.mark.parametrize("method", ["information", "birk"])
def test_nobody_is_passed_over_more_often_than_allowed(method: str) -> None:
    choosy: dict[str, Any] = {"ease": 10.0, "grace": 0.0}
    watched = Watched(method, pass_over=1, **choosy)
    simulate(Population(versions=20, hours=0.7), watched, Policy.ROLLING, interval=INTERVAL, seed=2)
    assert len(watched.late) > 10
    assert all(left <= late % 2 for late, left in watched.late)
    assert play(20, 0.7, method, pass_over=1000, **choosy).passed_over > 2


@pytest.mark.parametrize("method", ["information", "birk"])
@pytest.mark.parametrize("policy", Policy)
def test_of_one_owners_seven_among_three_others_everybody_plays(method: str, policy: Policy) -> None:
    """Games of two minutes. Only three of the seven can play at a time; the weakest is nobody's first choice."""
    population = Population(versions=10, hours=2.5, fastest=60.0, spread=1.0, owners=(7,))

    def of(**options: Any) -> Any:
        return simulate(population, matchmaker(method, options), policy, interval=3 * INTERVAL, seed=4)

    figures = of()
    assert figures.least_games > 0.6
    assert figures.wait_max_games < 3.5
    before = of(overdue=0.0)
    assert figures.games > 0.97 * before.games
    if (method, policy) != ("information", Policy.BARRIER):
        assert before.least_games < 0.5
        assert before.wait_max_games > 6.0


def test_one_owner_of_all_but_one_takes_turns() -> None:
    """Who waits cannot play sooner than the other eight, each of them once."""
    population = Population(versions=10, hours=3.0, fastest=60.0, spread=1.0, owners=(9,))
    figures = simulate(population, matchmaker("information", {}), Policy.ROLLING, interval=3 * INTERVAL, seed=1)
    assert figures.least_games > 0.8
    assert 8.0 < figures.wait_max_games < 10.5


def test_with_the_barrier_policy_all_begin_together() -> None:
    figures = play(12, 12.0, "birk", Policy.BARRIER)
    assert figures.games % 6 == 0
    assert figures.games == 6 * figures.passes
    assert figures.passed_over == 0
