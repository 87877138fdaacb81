"""How a question goes on: what is played next, and when it has ended."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from cgos_protocol.errors import Invalid, OurFault
from cgos_protocol.games.base import Color
from cgos_protocol.ids import GameId, QuestionId, VersionId
from cgos_server.core.questions.asked import (
    Asked,
    Challenge,
    Gauntlet,
    Opponent,
    State,
    Test,
    decode_asked,
    encode_asked,
    opponents_of,
    require_askable,
)
from cgos_server.core.questions.course import REPEATS, ended, missing_games, next_pair
from cgos_server.core.questions.tally import Tally
from cgos_server.core.rating.together import JointRatings
from cgos_server.core.sequential import Scale

NEW, OLD, THIRD, FOURTH = (VersionId(number) for number in (1, 2, 3, 4))
TEST = Test(version=NEW, against=OLD, most_games=100, upper=100.0)
GAUNTLET = Gauntlet(
    version=NEW,
    most_games=400,
    within=60.0,
    field=(Opponent(version=OLD, rating=1500.0), Opponent(version=THIRD, rating=2000.0)),
)


def play(tally: Tally, asked: Asked, scores: tuple[int, int], *, same: bool = False) -> None:
    """Its next pair, with these half points of the version as Black and as White."""
    first = next_pair(asked, tally, QuestionId(7), openings=(), able={OLD, THIRD})
    assert first is not None
    for color, score2 in zip(Color, scores, strict=True):
        game = GameId(2 * first.pair + color)
        tally.began(game, first.pair, first.opponent, opening=first.opening, color=color)
        tally.ended(game, score2, digest=color if same else game)


@given(st.integers(1, 40), st.integers(1, 1000))
def test_each_opening_comes_once_before_any_comes_again(size: int, question: int) -> None:
    openings, tally, drawn = [f"o{number}" for number in range(size)], Tally(), []
    asked = Challenge(version=NEW, against=OLD, most_games=1000)
    for _ in range(2 * size):
        first = next_pair(asked, tally, QuestionId(question), openings=openings, able={OLD})
        assert first is not None
        drawn.append(first.opening)
        for color in Color:
            tally.began(GameId(2 * first.pair + color), first.pair, OLD, opening=first.opening, color=color)
    assert sorted(drawn[:size]) == sorted(drawn[size:]) == sorted(openings)


def test_the_second_game_has_the_opening_of_the_first_and_the_other_color() -> None:
    tally = Tally()
    first = next_pair(TEST, tally, QuestionId(1), openings=("star", "tengen"), able={OLD})
    assert first is not None
    tally.began(GameId(1), first.pair, OLD, opening=first.opening, color=first.color)
    (second,) = missing_games(tally)
    assert second == first._replace(color=first.color.other)


def test_no_pair_begins_without_an_opponent_or_beyond_the_budget() -> None:
    assert next_pair(TEST, Tally(), QuestionId(1), openings=(), able={THIRD}) is None
    tally, small = Tally(), Challenge(version=NEW, against=OLD, most_games=4)
    play(tally, small, (2, 0))
    tally.began(GameId(90), 2, OLD, opening="", color=Color.WHITE)
    assert next_pair(small, tally, QuestionId(1), openings=(), able={OLD}) is None, "pair 2 takes the last game"


def test_a_challenge_to_whoever_accepts_meets_them_in_turn() -> None:
    asked, tally = Challenge(version=NEW, most_games=100), Tally()
    for _ in range(4):
        play(tally, asked, (2, 0))
    assert [tally.pairs_with(version) for version in (OLD, THIRD)] == [2, 2]


def test_a_gauntlet_plays_most_against_those_whose_games_tell_most_and_meets_all() -> None:
    tally = Tally()
    while ended(GAUNTLET, tally, openings=0, now_ms=0) is None:
        play(tally, GAUNTLET, (2, 2) if tally.pairs_with(OLD) > tally.pairs_with(THIRD) else (2, 0))
    assert ended(GAUNTLET, tally, openings=0, now_ms=0) == (State.ANSWERED, "It is known to 60 Elo.")
    assert min(tally.pairs_with(OLD), tally.pairs_with(THIRD)) > 5


HARDLY_KNOWN = JointRatings(np.array([1500.0, 2000.0]), 80.0**2 * np.eye(2))
ASKED_EARLIER = (
    '{"kind":"gauntlet","version":1,"most_games":400,'
    '"field":[{"version":2,"rating":1500.0},{"version":3,"rating":2000.0}],"within":60.0}'
)


def test_a_gauntlet_ends_where_no_number_of_games_would_do() -> None:
    end = ended(GAUNTLET, Tally(), openings=0, now_ms=0, ratings=HARDLY_KNOWN)
    assert end == (
        State.NOT_ANSWERED,
        "No number of games makes it more precise than 110 Elo: the ratings of its opponents are not known better.",
    )
    wide = replace(GAUNTLET, within=115.0)
    assert ended(wide, Tally(), openings=0, now_ms=0, ratings=HARDLY_KNOWN) is None


def test_a_gauntlet_plays_longer_where_its_opponents_are_not_known_exactly() -> None:
    counts = []
    for ratings in (None, HARDLY_KNOWN._replace(covariance=30.0**2 * np.eye(2))):
        tally = Tally()
        while ended(GAUNTLET, tally, openings=0, now_ms=0, ratings=ratings) is None:
            play(tally, GAUNTLET, (2, 0))
        counts.append(tally.begun)
    assert counts[1] > 1.5 * counts[0]


def test_a_gauntlet_that_an_earlier_server_began_keeps_its_rule() -> None:
    asked = decode_asked(ASKED_EARLIER)
    assert asked == GAUNTLET
    assert isinstance(asked, Gauntlet)
    assert not asked.joint
    assert encode_asked(asked) == ASKED_EARLIER
    assert decode_asked(encode_asked(replace(asked, joint=True))) == replace(GAUNTLET, joint=True)


@pytest.mark.parametrize(
    ("scores", "state"), [((2, 2), State.ACCEPTED), ((0, 0), State.REJECTED), ((2, 0), State.REJECTED)]
)
def test_a_test_ends_as_its_likelihood_says(scores: tuple[int, int], state: State) -> None:
    tally = Tally()
    play(tally, TEST, (2, 0))
    play(tally, TEST, (0, 2))
    while (end := ended(TEST, tally, openings=0, now_ms=0)) is None:
        play(tally, TEST, scores)
    assert end.state is state


def test_repeats_end_it_only_once_no_opening_is_fresh() -> None:
    tally = Tally()
    for _ in range(1 + REPEATS):
        play(tally, TEST, (2, 0), same=True)
    assert tally.lately_repeated == REPEATS
    assert ended(TEST, tally, openings=2, now_ms=0) is None
    end = ended(TEST, tally, openings=1, now_ms=0)
    assert end is not None
    assert end.state is State.NOT_ANSWERED


def test_time_ends_it_unless_it_is_answered() -> None:
    asked = Challenge(version=NEW, against=OLD, most_games=2, ends_at=1000)
    tally = Tally()
    assert ended(asked, tally, openings=0, now_ms=999) is None
    assert ended(asked, tally, openings=0, now_ms=1000) == (State.NOT_ANSWERED, "Its time is up.")
    play(tally, asked, (2, 2))
    assert ended(asked, tally, openings=0, now_ms=1000) == (State.ANSWERED, "All 2 games are played.")


@pytest.mark.parametrize("asked", [TEST, GAUNTLET, Challenge(version=NEW, most_games=2, rated=True, foreign=(OLD,))])
def test_what_is_asked_is_read_back(asked: Asked) -> None:
    assert decode_asked(encode_asked(asked)) == asked
    require_askable(asked)


def test_what_cannot_be_read_is_our_fault() -> None:
    with pytest.raises(OurFault, match="a question cannot be read"):
        decode_asked('{"kind":"riddle"}')


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        (Challenge(version=NEW, against=NEW, most_games=2), "against itself"),
        (Challenge(version=NEW, against=OLD, most_games=3), "3 cannot be played"),
        (Challenge(version=NEW, against=OLD, most_games=0), "0 cannot be played"),
        (Gauntlet(version=NEW, most_games=2, field=()), "needs opponents"),
        (Gauntlet(version=NEW, most_games=2, field=GAUNTLET.field, within=0.0), "wider than 0"),
        (Gauntlet(version=NEW, most_games=2, field=GAUNTLET.field * 2), "named twice"),
        (Test(version=NEW, against=OLD, most_games=2, lower=5.0, upper=5.0), "below"),
        (Test(version=NEW, against=OLD, most_games=2, alpha=0.0), "error rates"),
        (Test(version=NEW, against=OLD, most_games=2, scale=Scale.LOGISTIC, upper=float("nan")), "Bounds"),
    ],
)
def test_what_cannot_be_asked_is_refused(asked: Asked, sentence: str) -> None:
    with pytest.raises(Invalid, match=sentence):
        require_askable(asked)


def test_opponents_are_those_that_are_named() -> None:
    assert opponents_of(GAUNTLET) == (OLD, THIRD)
    assert opponents_of(TEST) == (OLD,)
    assert opponents_of(Challenge(version=NEW, most_games=2)) == ()
