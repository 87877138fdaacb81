"""The tally of a question's games, pair by pair."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.games.base import Color
from cgos_protocol.ids import GameId, VersionId
from cgos_server.core.questions.tally import Pair, Score, Tally

OPPONENT, OTHER = VersionId(2), VersionId(3)


def play(
    tally: Tally, pair: int, scores: tuple[int, int], digests: tuple[int, int], opponent: VersionId = OPPONENT
) -> None:
    for color, score2, digest in zip(Color, scores, digests, strict=True):
        game = GameId(10 * pair + color)
        tally.began(game, pair, opponent, opening="", color=color)
        tally.ended(game, score2, digest=digest)


def test_pairs_are_counted_by_their_points_and_games_by_their_results() -> None:
    tally = Tally()
    play(tally, 1, (2, 2), (1, 2))
    play(tally, 2, (2, 0), (3, 4))
    play(tally, 3, (1, 0), (5, 6))
    assert tally.counts() == (0, 1, 1, 0, 1)
    assert tally.score() == Score(wins=3, draws=1, losses=2)
    assert (tally.begun, tally.running) == (6, 0)


def test_a_half_pair_counts_for_nothing_yet() -> None:
    tally = Tally()
    tally.began(GameId(1), 1, OPPONENT, opening="star", color=Color.BLACK)
    assert list(tally.halves_wanted()) == [(tally.pairs[1], Color.WHITE)]
    tally.ended(GameId(1), 2, digest=1)
    assert (tally.counts(), tally.score().games, tally.begun) == ((0,) * 5, 0, 1)


def test_black_is_first_in_pairs_with_an_odd_number() -> None:
    assert Pair(1, OPPONENT, "").missing == [Color.BLACK, Color.WHITE]
    assert Pair(2, OPPONENT, "").missing == [Color.WHITE, Color.BLACK]


def test_a_pair_that_repeats_an_earlier_one_says_nothing_new() -> None:
    tally = Tally()
    play(tally, 1, (2, 2), (1, 2))
    play(tally, 2, (2, 2), (1, 2))
    assert (tally.counts(), tally.repeated, tally.lately_repeated) == ((0, 0, 0, 0, 1), {2}, 1)
    play(tally, 3, (2, 2), (1, 9))
    assert (tally.counts()[4], tally.lately_repeated) == (2, 0), "one other game is enough"
    play(tally, 4, (2, 2), (1, 2), OTHER)
    assert tally.counts(OTHER)[4] == 1, "another opponent's games are other games"
    assert tally.opponents == [OPPONENT, OTHER]


def test_faults_say_who_lost_so() -> None:
    tally = Tally()
    for number, (score2, fault) in enumerate([(0, "time"), (2, "time"), (2, ""), (0, "illegal move")]):
        tally.began(GameId(number), 1 + number // 2, OPPONENT, opening="", color=Color(number % 2))
        tally.ended(GameId(number), score2, digest=number, fault=fault)
    assert tally.faults() == {"time": (1, 1), "illegal move": (1, 0)}


def figures_of(tally: Tally) -> tuple[object, ...]:
    wanted = [(pair.number, color) for pair, color in tally.halves_wanted()]
    return tally.counts(), tally.score(), tally.repeated, tally.begun, tally.running, wanted, tally.faults()


def test_a_pair_that_is_taken_out_counts_as_if_it_had_never_begun_until_it_is_put_back() -> None:
    tally, without = Tally(), Tally()
    for played in (tally, without):
        play(played, 1, (2, 2), (1, 2))
        if played is tally:
            play(played, 2, (0, 1), (3, 4))
        play(played, 3, (0, 1), (3, 4))  # a repeat of the pair that goes
        play(played, 4, (2, 0), (5, 6))
    before = figures_of(tally)
    assert tally.repeated == {3}
    tally.take_out({2})
    assert figures_of(tally) == figures_of(without)
    assert tally.pairs_with(OPPONENT) == 3
    assert max(tally.pairs) == 4, "no other pair gets its number"
    tally.take_out(())
    assert figures_of(tally) == before


def test_the_other_game_of_a_pair_that_is_taken_out_is_played_to_its_end_and_not_played_again() -> None:
    tally = Tally()
    tally.began(GameId(1), 1, OPPONENT, opening="", color=Color.BLACK)
    tally.ended(GameId(1), 2, digest=1)
    tally.began(GameId(2), 1, OPPONENT, opening="", color=Color.WHITE)
    tally.take_out({1})
    assert (tally.begun, tally.running) == (0, 1)
    tally.undone(GameId(2))
    assert (tally.begun, tally.running, list(tally.halves_wanted())) == (0, 0, [])
    tally.take_out(())
    assert [color for _, color in tally.halves_wanted()] == [Color.WHITE]
    tally.began(GameId(3), 1, OPPONENT, opening="", color=Color.WHITE)
    tally.take_out({1})
    tally.ended(GameId(3), 2, digest=2)
    assert (tally.counts(), tally.running) == ((0,) * 5, 0)
    tally.take_out(())
    assert tally.counts() == (0, 0, 0, 0, 1)


ACTS = st.lists(st.tuples(st.sampled_from(["begin", "end", "undo"]), st.integers(0, 2), st.integers(0, 3)), max_size=60)


@given(ACTS)
def test_whatever_happens_its_numbers_go_together(acts: list[tuple[str, int, int]]) -> None:
    tally = Tally()
    running: list[GameId] = []
    for number, (act, score2, digest) in enumerate(acts):
        if act == "begin":
            pair, color = next(tally.halves_wanted(), (Pair(len(tally.pairs) + 1, OPPONENT, ""), Color.BLACK))
            tally.began(GameId(number), pair.number, OPPONENT, opening="", color=color)
            running.append(GameId(number))
        elif running and act == "end":
            tally.ended(running.pop(0), score2, digest=digest)
        elif running:
            tally.undone(running.pop())
    complete = [pair for pair in tally.pairs.values() if pair.score2 is not None]
    assert sum(tally.counts()) + len(tally.repeated) == len(complete)
    assert tally.score().games == 2 * sum(tally.counts())
    assert tally.running == len(running)
    assert tally.begun == sum(len(pair.halves) for pair in tally.pairs.values())
    assert sum(1 for _ in tally.halves_wanted()) == sum(2 - len(pair.halves) for pair in tally.pairs.values())
    points = sum(score * count for score, count in enumerate(tally.counts()))
    assert points == 2 * tally.score().wins + tally.score().draws
