"""The measurements of tournaments run, on small fields, and compare what they say they compare."""

from __future__ import annotations

import math
from typing import Any

import pytest

from benchmarks.tournaments import tournament_speed


@pytest.fixture
def speed(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(tournament_speed, "CASES", (("tcec", 64), ("dutch", 32), ("random2", 128)))
    monkeypatch.setattr(tournament_speed, "ROUNDS", {"tcec": 2, "dutch": 2, "random2": 2})
    monkeypatch.setattr(tournament_speed, "PLAYERS", 6)
    monkeypatch.setattr(tournament_speed, "LENGTH", 2)
    return tournament_speed


def test_everything_is_measured_and_told(speed: Any, capsys: pytest.CaptureFixture[str]) -> None:
    figures = speed.run(runs=1, largest=16, tournaments=8)
    text = capsys.readouterr().out
    assert "Simulated tournaments of 6 players and 2 rounds" in text
    for name, (value, goal) in figures["goals"].items():
        assert value > 0.0
        assert f"{name:38} {value:10.4g}   goal {goal:10.4g}" in text
    assert {row["system"] for row in figures["simulations"]} == set(speed.SIMULATED)


def test_both_matchings_of_a_large_round_weigh_the_same(speed: Any) -> None:
    for before in (0, 4):
        position = speed.Position(16, before, "burstein")
        assert {tuple(sorted(pair)) for pair in position.bare()()} == set(position.ours().pairs)


def test_the_networkx_loop_plays_the_same_tournaments(speed: Any) -> None:
    plan = speed.Plan(system="dutch", players=10, rounds=4)
    ours = speed.simulate_many(plan, [1, 2])
    other = speed.simulate_many(plan, [1, 2], speed.by_networkx, (math.inf,))
    assert ours.measures == other.measures


def test_the_plain_loop_finds_rounds_that_are_as_good(speed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(speed, "PLAYERS", 10)

    def checked(n: int, edges: list[tuple[int, int, int]]) -> list[tuple[int, int]]:
        weight = {frozenset(edge[:2]): speed.plain(edge[2]) for edge in edges}
        plain, best = (solve(n, edges) for solve in (speed.by_plain_networkx, speed.best))
        assert sum(weight[frozenset(pair)] for pair in plain) == sum(weight[frozenset(pair)] for pair in best)
        return plain

    played = speed.simulate_many(speed.Plan(system="dutch", players=10, rounds=4), [1, 2, 3], checked, (math.inf,))
    assert len(played.measures) == 3
