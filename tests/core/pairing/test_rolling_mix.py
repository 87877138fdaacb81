"""Nobody waits for strangers, yet fast bots do not only meet fast bots: simulated ladders, hours in a moment."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.pairing import pairing_days as days
from cgos_protocol.randomness import Rng
from cgos_server.core.pairing.base import Pairing, PairingPass
from cgos_server.core.pairing.registry import matchmaker
from cgos_server.core.venue import Policy

INTERVAL = 4.0
"""Seconds between two acts; more than a server's, since every act costs the test as much as it costs the server."""


def play(
    bots: int,
    hours: float,
    method: str,
    policy: Policy = Policy.ROLLING,
    *,
    interval: float = INTERVAL,
    **options: Any,
) -> Any:
    """The figures of a ladder whose bots think 12 to 300 s a game."""
    pool = days.Pool.draw(bots, 12.0, 25.0, seed=1)
    return days.simulate(pool, policy, matchmaker(method, options), hours, interval=interval)


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
    held = play(6, 16.0, "random", interval=15.0)
    assert 0.2 < held.most_often <= 0.4
    assert play(6, 16.0, "random", interval=15.0, repeat_most=100).most_often > 0.4


class Watched:
    """A matchmaker of whose acts one remembers those in which somebody had been passed over as often as is allowed."""

    def __init__(self, method: str, **options: Any) -> None:
        self.inner = matchmaker(method, options)
        self.name, self.options = self.inner.name, self.inner.options
        self.most = self.options["pass_over"]
        self.late: list[tuple[int, int]] = []
        """Of each such act: how many of them there were, and how many of them were left once more."""

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
    pool = days.Pool.draw(20, 12.0, 25.0, seed=2)
    days.simulate(pool, Policy.ROLLING, watched, 0.7, interval=INTERVAL)
    assert len(watched.late) > 10
    assert all(left <= late % 2 for late, left in watched.late)
    assert play(20, 0.7, method, pass_over=1000, **choosy).passed_over > 2


@pytest.mark.parametrize("method", ["information", "birk"])
@pytest.mark.parametrize("policy", Policy)
def test_of_one_owners_seven_among_three_others_everybody_plays(method: str, policy: Policy) -> None:
    """Games of two minutes. Only three of the seven can play at a time; the weakest is nobody's first choice."""
    pool = days.Pool.draw(10, 60.0, 1.0, seed=3, owners=[7])

    def of(**options: Any) -> Any:
        return days.simulate(pool, policy, matchmaker(method, options), 2.5, interval=3 * INTERVAL)

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
    pool = days.Pool.draw(10, 60.0, 1.0, seed=1, owners=[9])
    figures = days.simulate(pool, Policy.ROLLING, matchmaker("information", {}), 3.0, interval=3 * INTERVAL)
    assert figures.least_games > 0.8
    assert 8.0 < figures.wait_max_games < 10.5


def test_with_the_barrier_policy_all_begin_together() -> None:
    figures = play(12, 12.0, "birk", Policy.BARRIER)
    assert figures.games % 6 == 0
    assert figures.games == 6 * figures.acts
    assert figures.passed_over == 0
