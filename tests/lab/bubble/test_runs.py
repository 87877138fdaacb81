"""A list ranked again: quick ways give exactly what the systems make of an event."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cgos_server.lab.bubble.lists import Listed, Shape, listed
from cgos_server.lab.bubble.runs import MODELS, Methods, Model, bubble_of, chances_of, ranked, round_robin_of
from cgos_server.lab.ratings.pools import generator
from cgos_server.tournaments.base import Entrant, Event, Game, Result
from cgos_server.tournaments.simulation.one_event import entrants_of, play
from cgos_server.tournaments.systems.bubble import Bubble
from cgos_server.tournaments.systems.round_robin import RoundRobin

Meeting = tuple[int, int, int, Result | None]


def a_list(size: int, seed: int) -> Listed:
    return listed("mixed", size, Shape(), generator(seed, "list"))


def meetings(event: Event) -> list[Meeting]:
    return [(number, game.white, game.black, game.result) for number, game in event.games]


@settings(max_examples=25)
@given(
    size=st.integers(1, 16),
    seed=st.integers(0, 2**53 - 1),
    active=st.integers(2, 6),
    matches=st.integers(0, 8),
    games=st.integers(1, 2),
    model=st.sampled_from(MODELS),
)
def test_a_run_is_that_of_the_system(size: int, seed: int, active: int, matches: int, games: int, model: Model) -> None:
    system = Bubble(active_size=active, min_matches=matches, games_per_match=games)
    chances = chances_of(a_list(size, 3) if size > 1 else Listed(np.ones(1), ()), model)
    order, rounds = bubble_of(size, system, chances, seed)
    entrants = tuple(Entrant(id=at, name=str(at)) for at in range(1, size + 1))
    event = play(system, Event(system="bubble", entrants=entrants, seed=seed), chances)
    assert order == tuple(row.entrant for row in system.standings(event).rows)
    assert meetings(Event(system="bubble", rounds=tuple(rounds))) == meetings(event)


@settings(max_examples=10)
@given(size=st.integers(2, 9), double=st.booleans(), seed=st.integers(0, 2**53 - 1))
def test_a_round_robin_is_that_of_the_system(size: int, double: bool, seed: int) -> None:
    chances = chances_of(a_list(size, 4), "milvang")
    system = RoundRobin(double=double)
    entrants = entrants_of(np.arange(size, 0, -1, dtype=np.float64))
    start = Event(system="round-robin", entrants=entrants, options={"double": double}, seed=seed)
    assert meetings(round_robin_of(size, double, chances, seed)) == meetings(play(system, start, chances))


def test_the_stronger_one_always_wins_or_nobody_does() -> None:
    chances = chances_of(Listed(np.array([3.0, 2.0, 2.0]), ()), "certain")
    assert [chances(Game(white=white, black=black)) for white, black in ((1, 2), (2, 1), (2, 3))] == [
        (1.0, 1.0),
        (0.0, 0.0),
        (0.0, 1.0),
    ]


@settings(max_examples=10)
@given(size=st.integers(2, 14), seed=st.integers(0, 1000), games=st.integers(1, 2), rounds=st.integers(1, 20))
def test_every_method_ranks_the_list(size: int, seed: int, games: int, rounds: int) -> None:
    methods = Methods(active=4, matches=3, games=games, rounds=rounds)
    old = a_list(size, seed)
    answers = dict(zip(methods.names, ranked(old, methods, "elo", seed), strict=True))
    assert answers["old list"].games == 0
    robin = answers["round robin"]
    assert (robin.games, robin.share) == (games * math.comb(size, 2), 1.0)
    assert 0 < answers["bubble"].share <= 1.0
    for name, answer in answers.items():
        assert -1.0 <= answer.tau <= 1.0
        assert answer.off is not None
        assert 0.0 <= answer.off < size
        if "rounds" in name:
            assert answer.games == min(rounds, size - 1 + size % 2) * (size // 2)


def test_without_chance_a_round_robin_finds_the_truth() -> None:
    old = a_list(12, 1)
    answers = dict(zip(Methods().names, ranked(old, Methods(), "certain", 1), strict=True))
    assert answers["old list"].tau < 1.0
    assert (answers["round robin"].tau, answers["round robin"].off) == (1.0, 0.0)
    assert answers["bubble"].tau == 1.0
