"""Total error and relative strengths: vectors, the iteration by sweeps as an independent way, and plain properties."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.core.vectors import parametrize
from support.tournaments.events import entrants

from cgos_server.tournaments.base import BLACK_WINS, DRAWN, VOID, WHITE_WINS, Bye, Entrant, Event, Game, Result
from cgos_server.tournaments.base import Round as Round_
from cgos_server.tournaments.standings.total_error import TotalError, relative_strengths, total_error

RESULTS = {"B": BLACK_WINS, "W": WHITE_WINS, "D": DRAWN}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        parametrize(metafunc, "case", "total_error")


def test_vectors(case: dict[str, Any]) -> None:
    ids = {name: at for at, name in enumerate(case["players"], 1)}
    rounds = tuple(
        Round_(
            number=number,
            games=tuple(
                Game(black=ids[black], white=ids[white], result=RESULTS[how])
                for black, white, how in round_case["games"]
            ),
            byes=tuple(Bye(ids[name]) for name in round_case["free"]),
        )
        for number, round_case in enumerate(case["rounds"], 1)
    )
    event = Event(
        system="swiss", entrants=tuple(Entrant(id=id_, name=name) for name, id_ in ids.items()), rounds=rounds
    )
    fitted = relative_strengths(event)
    for name, wanted in case["rs_fitted"].items():
        assert fitted[ids[name]] == pytest.approx(wanted, abs=1e-9), name
    by_strengths = {"error_with_fitted": fitted}
    if "rs_given" in case:
        by_strengths["error_with_given"] = {ids[name]: strength for name, strength in case["rs_given"].items()}
    for key, strengths in by_strengths.items():
        quality = total_error(event, strengths)
        for word, wanted in case[key].items():
            assert getattr(quality, word) == pytest.approx(wanted, abs=1e-9, rel=1e-9), (key, word)


@st.composite
def events(draw: st.DrawFn) -> Event:
    count = draw(st.integers(2, 6))
    rounds = []
    for number in range(1, draw(st.integers(1, 4)) + 1):
        there = draw(st.permutations(range(1, count + 1)))
        games = [
            Game(black=black, white=white, result=draw(st.sampled_from([WHITE_WINS, WHITE_WINS, DRAWN, BLACK_WINS])))
            for white, black in zip(there[::2], there[1::2], strict=False)
        ]
        rounds.append(Round_(number=number, games=tuple(games)))
    return Event(system="swiss", entrants=entrants([None] * count), rounds=tuple(rounds))


@settings(max_examples=30)
@given(events())
def test_the_strengths_are_the_fixed_point_of_the_sweeps(event: Event) -> None:
    """Every result pushes or pulls; at the answer nobody moves, and everybody together stands at 0."""
    strengths = relative_strengths(event)
    pushes = {id_: -0.25 * strength for id_, strength in strengths.items()}
    for round_ in event.rounds:
        for game in round_.games:
            assert game.result is not None
            chance = 1 / (1 + math.exp(strengths[game.black] - strengths[game.white]))
            pushes[game.white] += game.result.white / 2 - chance
            pushes[game.black] += game.result.black / 2 - (1 - chance)
    assert max(map(abs, pushes.values())) < 1e-12
    assert sum(strengths.values()) == pytest.approx(0.0, abs=1e-11)


def test_unplayed_games_say_nothing() -> None:
    games = (
        Game(black=2, white=1, result=WHITE_WINS),
        Game(black=4, white=3, result=Result(0, 2, "forfeit")),
        Game(black=6, white=5, result=VOID),
        Game(black=8, white=7),
    )
    event = Event(
        system="swiss", entrants=entrants([None] * 9), rounds=(Round_(number=1, games=games, byes=(Bye(9),)),)
    )
    strengths = relative_strengths(event)
    assert strengths[1] > 0 > strengths[2] == -strengths[1]
    assert [strengths[id_] for id_ in range(3, 10)] == [0.0] * 7
    quality = total_error(event, strengths)
    assert quality.games == 1
    assert quality.rms_per_game == pytest.approx(2 * strengths[1])


def test_e_total_falls_with_size_and_the_mean_of_a_game_does_not() -> None:
    games = tuple(Game(black=2 * at, white=2 * at - 1, result=WHITE_WINS) for at in range(1, 9))
    small = Event(system="swiss", entrants=entrants([None] * 4), rounds=(Round_(number=1, games=games[:2]),))
    large = Event(system="swiss", entrants=entrants([None] * 16), rounds=(Round_(number=1, games=games),))
    few, many = (
        total_error(event, {entrant.id: entrant.id % 2 for entrant in event.entrants}) for event in (small, large)
    )
    assert few.rms_per_game == many.rms_per_game == 1.0
    assert few.e_total == pytest.approx(2 * many.e_total)


def test_nothing_played() -> None:
    event = Event(system="swiss", entrants=entrants([None] * 3))
    assert relative_strengths(event) == {1: 0.0, 2: 0.0, 3: 0.0}
    assert total_error(event, {1: 1.0, 2: 2.0, 3: 3.0}) == TotalError(
        games=0, sum_sq_over_games=0.0, e_total=0.0, inside_root_reading=0.0, rms_per_game=0.0
    )
    assert total_error(replace(event, entrants=()), {}).games == 0
