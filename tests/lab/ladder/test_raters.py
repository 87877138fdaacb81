"""Whoever rates a ladder is fed as by a server; the oracle is told what nobody knows."""

from __future__ import annotations

import numpy as np
import pytest

from cgos_protocol.errors import Refused
from cgos_protocol.ids import VersionId
from cgos_server.core.rating.registry import SYSTEMS
from cgos_server.lab.ladder.players import Lots, Players, Population, drawn
from cgos_server.lab.ladder.raters import KNOWN, KNOWN_SD, TOLD, BySystem, Known, Oracle, Rater, rater

LUCK = np.random.default_rng(1)


def played(population: Population, rated: Rater, players: Players, rounds: int) -> None:
    """Everybody meets somebody in each round; who is told of it, is told of all."""
    lots = Lots(population, players, 1, 0)
    for version in range(players.all):
        rated.enter(version, map(VersionId, range(version)), 0.0)
    number: dict[tuple[int, int], int] = {}
    rng = np.random.default_rng(2)
    for at in range(rounds):
        order = rng.permutation(players.all).tolist()
        for black, white in zip(order[::2], order[1::2], strict=True):
            seen = number.get((black, white), 0)
            number[black, white] = seen + 1
            rated.game(black, white, lots.score2(black, white, seen), players.once and seen > 0, 100.0 * at)


@pytest.mark.parametrize("name", [*SYSTEMS, TOLD])
def test_whoever_rates_learns(name: str) -> None:
    population = Population(versions=8)
    players = drawn(population, 1, 0)
    rated = rater(players, name, {}, LUCK)
    played(population, rated, players, 30)
    rows = rated.ratings()
    assert [row.anchor for row in rows] == [version in players.anchors for version in range(8)]
    assert all(row.games == 30 for row in rows)
    assert np.corrcoef([row.mean for row in rows], players.truth)[0, 1] > 0.8
    outcome = rated.predict(0, 1)
    assert (outcome is None) == (name == TOLD)
    known = rated.knowledge([VersionId(3), VersionId(1)])
    assert (known is None) == (name not in (TOLD, "bayes", "whole-history"))
    if known is not None:
        assert np.all(np.linalg.eigvalsh(known.covariance) > 0.0)
        assert known.gram.shape == (2, 2)


def test_what_is_known_from_the_beginning() -> None:
    players = drawn(Population(versions=200), 1, 0)
    rated = rater(players, KNOWN, {}, np.random.default_rng(1))
    assert isinstance(rated, Known)
    errors = [row.mean - true for row, true in zip(rated.ratings(), players.truth.tolist(), strict=True)]
    assert np.std(errors) == pytest.approx(KNOWN_SD, rel=0.15)
    assert rated.knowledge([VersionId(0)]) is None


def test_an_unknown_rating_system_is_refused() -> None:
    with pytest.raises(Refused, match="bayes"):
        rater(drawn(Population(versions=8), 1, 0), "magic", {}, LUCK)


def test_a_newcomer_begins_as_on_cgos_at_the_mean_of_those_who_wait() -> None:
    players = drawn(Population(versions=6, arrivals=200.0), 1, 0)
    as_on_cgos, plain = BySystem(players, "cgos-elo", {"compat": True}), BySystem(players, "cgos-elo", {})
    for rated in (as_on_cgos, plain):
        for version in range(players.present):
            rated.enter(version, (), 0.0)
        rated.enter(players.present, map(VersionId, players.anchors), 10.0)
    there = [as_on_cgos.ratings()[anchor].mean for anchor in players.anchors]
    assert as_on_cgos.ratings()[players.present].mean == pytest.approx(sum(there) / 2)
    assert plain.ratings()[players.present].mean == 2000.0


@pytest.mark.parametrize("name", [TOLD, "bayes"])
def test_a_repeated_game_teaches_nothing(name: str) -> None:
    players = drawn(Population(pool="deterministic", versions=4), 1, 0)
    means = []
    for repeats in (0, 50):
        rated = rater(players, name, {}, LUCK)
        for version in range(4):
            rated.enter(version, (), 0.0)
        rated.game(0, 1, 2, False, 1.0)
        rated.game(2, 3, 0, False, 2.0)
        for _ in range(repeats):
            rated.game(0, 1, 2, True, 3.0)
        means.append([row.mean for row in rated.ratings()])
    assert means[0] == pytest.approx(means[1], abs=0.5)


def test_the_oracle_knows_a_family() -> None:
    """One version's games tell of the next one's strength."""
    players = drawn(Population(pool="families", versions=24), 1, 0)
    oracle = Oracle(players)
    for version in range(24):
        oracle.enter(version, (), 0.0)
    child = next(at for at, below in enumerate(players.predecessors) if below is not None)
    parent = players.predecessors[child]
    assert parent is not None
    known = oracle.knowledge([VersionId(child), VersionId(parent)])
    correlation = known.covariance[0, 1] / np.sqrt(known.covariance[0, 0] * known.covariance[1, 1])
    assert correlation > 0.3
