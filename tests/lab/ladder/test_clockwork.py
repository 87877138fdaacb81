"""The simulated ladder's figures add up, who comes plays, who leaves does not, and nothing is asked that a server would
not ask."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import pytest

from cgos_protocol.ids import VersionId
from cgos_protocol.randomness import Rng
from cgos_server.core.pairing.base import Pairing, PairingPass
from cgos_server.core.pairing.registry import matchmaker
from cgos_server.core.venue import Policy
from cgos_server.lab.ladder.clockwork import Game, Ladder, Timing
from cgos_server.lab.ladder.play import Play, simulate
from cgos_server.lab.ladder.players import HOUR, Lots, Population, drawn
from cgos_server.lab.ladder.raters import Known


def test_both_policies_side_by_side() -> None:
    population = Population(versions=6, hours=0.5, fastest=10.0, spread=4.0)
    by_policy = {
        policy: simulate(population, matchmaker("random", {"repeat_most": 20}), policy, seed=1) for policy in Policy
    }
    assert by_policy[Policy.ROLLING].games > by_policy[Policy.BARRIER].games > 0
    for figures in by_policy.values():
        assert sum(figures.games_of) == 2 * figures.games
        assert 0.0 < figures.lowest_utilization <= figures.utilization <= 1.0
        assert figures.wait_p50 <= figures.wait_p90 <= figures.wait_p99 <= figures.wait_max
        assert all(abs(sum(row) - 1.0) < 1e-9 for row in figures.thirds)
        assert 1.0 <= figures.opponents <= 5.0
        assert np.mean(figures.idle_of) == pytest.approx(1.0 - figures.utilization)


def test_time_in_a_game_is_what_its_bots_think() -> None:
    """Two bots alone meet at once, whatever the policy: all that is lost is settling and the wait for the next pass."""
    population = Population(versions=2, hours=10.0, fastest=50.0, spread=1.0)
    figures = simulate(population, matchmaker("random", {}), Policy.ROLLING, settle=4.0)
    assert figures.wait_p50 <= 1.0
    assert figures.utilization == pytest.approx(100.0 / 104.5, abs=0.005)
    assert figures.games == pytest.approx(36_000 / 104.5, rel=0.02)


class Watched:
    """A matchmaker that pairs at random, and a watch; both keep what they saw."""

    def __init__(self) -> None:
        self.inner = matchmaker("random", {})
        self.name, self.options = self.inner.name, self.inner.options
        self.asked: list[PairingPass] = []
        self.begun: list[Game] = []
        self.ends: list[float] = []
        self.came: dict[int, float] = {}
        self.gone: dict[int, float] = {}
        self.there: list[tuple[float, list[VersionId]]] = []
        self.enough = math.inf

    def pair(self, pairing_pass: PairingPass, rng: Rng) -> Pairing:
        self.asked.append(pairing_pass)
        return self.inner.pair(pairing_pass, rng)

    def paired(self, waits: Iterable[float], passed_over: int) -> None:
        assert min(waits) >= 0.0

    def began(self, game: Game) -> None:
        self.begun.append(game)

    def ended(self, game: Game, score2: int) -> None:
        assert score2 in (0, 2)
        self.ends.append(game.end)

    def arrived(self, version: VersionId, now: float) -> None:
        self.came[version] = now

    def left(self, version: VersionId, now: float, waited: float | None) -> None:
        self.gone[version] = now

    def look(self, now: float, there: Iterable[VersionId]) -> bool:
        self.there.append((now, list(there)))
        return now >= self.enough


def ladder(population: Population, watched: Watched, policy: Policy = Policy.ROLLING) -> Ladder:
    players = drawn(population, 1, 0)
    return Ladder(
        players=players,
        lots=Lots(population, players, 1, 0),
        method=watched,
        policy=policy,
        timing=Timing(hours=population.hours, interval=5.0),
        rater=Known(players.truth),
        luck=1,
    )


@pytest.mark.parametrize("policy", Policy)
def test_who_arrives_plays_and_who_leaves_does_not(policy: Policy) -> None:
    watched = Watched()
    its = ladder(Population(versions=8, hours=3.0, arrivals=60.0, departures=60.0), watched, policy)
    its.run(watched, (1.0, 2.0, 3.0))
    players = its.players
    assert len(watched.came) == players.all - players.present > 2
    assert watched.came == {version: players.arrives[version] for version in watched.came}
    assert len(watched.gone) > 2
    for version, at in watched.gone.items():
        assert at >= players.leaves[version]
        assert not any(version in (game.black, game.white) for game in watched.begun if game.end > at)
    played = {version for game in watched.begun for version in (game.black, game.white)}
    assert played & watched.came.keys()
    for now, there in watched.there:
        gone = [version for version, at in watched.gone.items() if at <= now]
        assert set(there) == set(np.flatnonzero(players.arrives <= now).tolist()) - set(gone)
    assert all(one.connected >= len(one.candidates) >= 2 for one in watched.asked)


def test_things_happen_in_their_order() -> None:
    watched = Watched()
    its = ladder(Population(versions=8, hours=1.0), watched)
    its.run(watched)
    assert watched.ends == sorted(watched.ends)
    assert len(watched.ends) + len(its.running) == len(watched.begun)
    assert its.now == HOUR


def test_it_ends_when_the_watch_has_seen_enough() -> None:
    watched = Watched()
    watched.enough = 0.5 * HOUR
    its = ladder(Population(versions=8, hours=1.0), watched)
    its.run(watched, (0.25, 0.5, 0.75))
    assert [now for now, _ in watched.there] == [0.25 * HOUR, 0.5 * HOUR]
    assert its.now == 0.5 * HOUR
    assert max(watched.ends) <= 0.5 * HOUR


def test_shares_count_the_time_that_a_version_was_there() -> None:
    watched = Watched()
    its = ladder(Population(versions=6, hours=2.0, spread=1.0, fastest=60.0, arrivals=24.0), watched)
    play = Play(its.players)
    its.run(play)
    figures = play.figures(its)
    assert figures.games_of
    assert 0.5 < figures.lowest_utilization <= figures.utilization < 1.0
