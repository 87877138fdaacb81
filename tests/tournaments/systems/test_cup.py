"""Cup: the vectors, branches that do not wait for each other, and all that is not a plain win."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.core.vectors import Vectors
from support.tournaments.events import (
    NO_SHOW,
    better_wins,
    by_lot,
    entrants,
    finish,
    play,
    play_round,
    without_ids,
    won_by,
)
from support.tournaments.lots import Scripted

from cgos_protocol.errors import Refused
from cgos_server.tournaments.base import (
    BLACK_WINS,
    DRAWN,
    VOID,
    WHITE_WINS,
    Entrant,
    Event,
    Game,
    Request,
    Result,
    Round,
)
from cgos_server.tournaments.event import (
    Played,
    apply,
    begin,
    correct,
    enter,
    forbid,
    open_games,
    rejoin,
    request_bye,
    withdraw,
)
from cgos_server.tournaments.systems.bracket import NOBODY, size_for, standard
from cgos_server.tournaments.systems.cup import Cup
from cgos_server.tournaments.tournament import (
    from_json,
    is_over,
    lots,
    next_round,
    ready_games,
    standings,
    system_of,
    to_json,
)


def _event(n: int, seed: int = 0, **options: Any) -> Event:
    return Event(system="cup", entrants=entrants([None] * n), options=options, seed=seed)


def _champion(event: Event) -> int:
    first, second = standings(event).rows[:2]
    assert (first.place, second.place) == (1, 2)
    return first.entrant


def _pairs(round_: Round) -> list[tuple[int, int]]:
    return [game.pair for game in round_.games]


def test_shapes(vectors: Vectors) -> None:
    shapes = vectors("cup")["shapes"]
    assert shapes
    for shape in shapes:
        n = shape["players"]
        for options in ({}, {"bracket": "list"}, {"passes": "lot"}, {"bracket": "list", "passes": "lot"}):
            event = _event(n, **options)
            paired = next_round(event)
            assert len(paired.byes) == shape["byes"]
            assert len(paired.games) == shape["first_round_games"]
            assert system_of(event).length(event) == shape["rounds"]
            event = play(event, better_wins)
            assert len(event.rounds) == shape["rounds"]
            assert sum(len(round_.games) for round_ in event.rounds) == n - 1


def test_runs(vectors: Vectors) -> None:
    runs = vectors("cup")["runs"]
    assert runs
    for run in runs:
        ids = sorted(slot for slot in run["slots"] if slot is not None)
        is_list = [slot for slot in run["slots"] if slot is not None] == ids
        event = _event(len(ids), bracket="list" if is_list else "standard")
        winners = iter(run["winners_in_order"])
        for expected in run["rounds"]:
            paired = next_round(event)
            assert paired.explanation.details["slots"] == run["slots"]
            assert _pairs(paired) == [tuple(sorted(row[:2])) for row in expected if None not in row]
            assert [bye.entrant for bye in paired.byes] == [row[2] for row in expected if None in row]
            won = {tuple(sorted(row[:2])): row[2] for row in expected if None not in row}
            assert list(won.values()) == [next(winners) for _ in won]
            event = finish(begin(event, paired), lambda game, won=won: won_by(game, won[game.pair]))
        assert is_over(event)
        assert _champion(event) == run["champion"]
        assert next(winners, None) is None


@given(n=st.integers(2, 20), seed=st.integers(0, 1_000), bracket=st.sampled_from(["standard", "list"]))
def test_the_places_are_those_of_the_bracket(n: int, seed: int, bracket: str) -> None:
    event = play(_event(n, bracket=bracket), by_lot(seed, draws=0))
    left = set(range(1, n + 1))
    for number, round_ in enumerate(event.rounds, 1):
        busy = [id_ for pair in _pairs(round_) for id_ in pair] + [bye.entrant for bye in round_.byes]
        assert sorted(busy) == sorted(left)
        out = {game.black if game.result == WHITE_WINS else game.white for game in round_.games}
        left -= out
        places = {row.place for row in standings(event).rows if row.entrant in out}
        assert places == {len(left) + 1}
        assert {row.values for row in standings(event).rows if row.entrant in out} == {(number - 1,)}
    assert left == {_champion(event)}


@given(n=st.integers(2, 33))
def test_the_better_half_reaches_every_round_if_nothing_surprises(n: int) -> None:
    event = play(_event(n), better_wins)
    size = size_for(n)
    for round_ in event.rounds:
        seeds = standard(size)
        assert [pair for pair in zip(seeds[::2], seeds[1::2], strict=True) if max(pair) <= n] == [
            tuple(pair[1:]) for pair in round_.explanation.details["matches"]
        ]
        size //= 2


@given(n=st.integers(3, 20), seed=st.integers(0, 1_000))
def test_who_passes_may_be_drawn_by_lot(n: int, seed: int) -> None:
    event = _event(n, seed, passes="lot")
    draws = lots(event)
    half = size_for(n) // 2
    expected = sorted(range(1, half + 1), key=lambda leader: draws.unit("pass", leader))[: 2 * half - n]
    assert {bye.entrant for bye in next_round(event).byes} == set(expected)
    event = play(event, by_lot(seed))
    assert is_over(event)


@pytest.mark.parametrize(("bracket", "byes"), [("standard", [3, 4]), ("list", [5, 6])])
def test_the_smallest_lots_pass(bracket: str, byes: list[int]) -> None:
    event = _event(6, bracket=bracket, passes="lot")
    rng = Scripted({("pass", leader): 0.9 - leader / 10 for leader in range(1, 5)})
    assert sorted(bye.entrant for bye in system_of(event).pair(event, rng).byes) == byes


class _Fate:
    """Results that depend on the match and on how many games it has had, not on when they are asked for."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def __call__(self, event: Event, number: int, game: Game) -> Result:
        before = sum(other.pair == game.pair for round_ in event.rounds for other in round_.games if other.result)
        rng = random.Random(f"{self.seed} {number} {game.pair} {before}")
        white = WHITE_WINS if (game.white < game.black) == (rng.random() < 0.5) else BLACK_WINS
        strange = [DRAWN, VOID, NO_SHOW, Result(white.black, white.white, "forfeit")]
        return white if before > 3 else rng.choice([white, white, DRAWN, *strange])


@settings(max_examples=60)
@given(
    n=st.integers(2, 12),
    seed=st.integers(0, 10_000),
    third=st.booleans(),
    replays=st.integers(0, 2),
    options=st.sampled_from([{}, {"bracket": "list"}]),
)
def test_branches_that_do_not_wait_give_the_same_games(
    n: int, seed: int, third: bool, replays: int, options: dict[str, str]
) -> None:
    start = _event(n, third_place=third, replays=replays, **options)
    fate = _Fate(seed)

    by_rounds = start
    while not is_over(by_rounds):
        by_rounds = begin(by_rounds, next_round(by_rounds))
        for number, game in open_games(by_rounds):
            by_rounds = apply(
                by_rounds,
                [Played(black=game.black, white=game.white, result=fate(by_rounds, number, game), round=number)],
            )

    rng = random.Random(seed)
    event = start
    while not is_over(event):
        event = from_json(to_json(event))
        for part in ready_games(event):
            assert part.games or part.byes
            event = begin(event, part)
        assert ready_games(event) == ()
        if open_games(event):
            number, game = rng.choice(open_games(event))
            event = apply(
                event, [Played(black=game.black, white=game.white, result=fate(event, number, game), round=number)]
            )

    assert len(event.rounds) == len(by_rounds.rounds)
    for first, second in zip(without_ids(event.rounds), without_ids(by_rounds.rounds), strict=True):
        assert Counter(first.games) == Counter(second.games)
        assert Counter(first.byes) == Counter(second.byes)
    assert standings(event) == standings(by_rounds)
    for round_ in event.rounds:
        games = [game for game in round_.games if game.result != VOID]
        assert max(Counter(game.pair for game in games).values(), default=0) <= replays + 1


@settings(max_examples=60)
@given(
    n=st.integers(0, 10),
    seed=st.integers(0, 10_000),
    changes=st.lists(
        st.tuples(st.sampled_from(["withdraw", "rejoin", "ask", "enter"]), st.integers(0, 99)), max_size=14
    ),
    third=st.booleans(),
)
def test_it_ends_whoever_comes_and_goes(n: int, seed: int, changes: list[tuple[str, int]], third: bool) -> None:
    event = _event(n, third_place=third)
    fate, rng = _Fate(seed), random.Random(seed)
    left = list(changes)
    for _ in range(200):
        if left and event.entrants:
            event = _changed(event, *left.pop())
        parts = ready_games(event)
        assert parts == ready_games(from_json(to_json(event)))
        for part in parts:
            assert part.number <= len(event.rounds) + 1
            assert all(game.result is None and game.reason for game in part.games)
            assert part.explanation.summary
            event = begin(event, part)
        assert ready_games(event) == (), "what has begun is not offered again"
        if open_games(event):
            with pytest.raises(Refused):
                next_round(event)
            number, game = rng.choice(open_games(event))
            event = apply(
                event, [Played(black=game.black, white=game.white, result=fate(event, number, game), round=number)]
            )
        elif is_over(event) and not left:
            break
    assert is_over(event)
    with pytest.raises(Refused):
        next_round(event)
    table = standings(event)
    assert sorted(row.entrant for row in table.rows) == sorted(entrant.id for entrant in event.entrants)
    reached: dict[int, int] = {}
    for round_ in event.rounds:
        for id_ in {id_ for pair in _pairs(round_) for id_ in pair} | {bye.entrant for bye in round_.byes}:
            reached[id_] = round_.number
    reached_third = {row.entrant for row in table.rows if third and row.values[1] is not None}
    for row in table.rows:
        if row.entrant in reached:
            assert row.values[0] is not None
            below = 2 if row.entrant in reached_third else 1
            assert reached[row.entrant] - below <= row.values[0] <= reached[row.entrant]


def _changed(event: Event, what: str, which: int) -> Event:
    id_ = event.entrants[which % len(event.entrants)].id
    if what == "enter":
        return enter(event, Entrant(id=len(event.entrants) + 1, name=f"late-{which}"))
    if what == "ask":
        return request_bye(event, Request(id_, len(event.rounds) + 1 + which % 2, which % 3))
    return withdraw(event, id_) if what == "withdraw" else rejoin(event, id_)


def test_a_semifinal_begins_when_its_two_quarterfinals_are_decided() -> None:
    event = begin(_event(8), next_round(_event(8)))
    assert _pairs(event.rounds[0]) == [(1, 8), (4, 5), (2, 7), (3, 6)]
    first, second, *_ = (game for _, game in open_games(event))
    event = apply(event, [Played(black=first.black, white=first.white, result=won_by(first, 1))])
    assert ready_games(event) == ()
    event = apply(event, [Played(black=second.black, white=second.white, result=won_by(second, 5))])
    (part,) = ready_games(event)
    assert (part.number, _pairs(part)) == (2, [(1, 5)])
    event = begin(event, part)
    with pytest.raises(Refused, match="without a result"):
        next_round(event)
    event = finish(event, better_wins)
    (part,) = ready_games(event)
    assert (part.number, _pairs(part)) == (2, [(2, 3)])
    event = begin(event, part)
    assert (len(event.rounds), _pairs(event.rounds[1])) == (2, [(1, 5), (2, 3)])
    (part,) = ready_games(finish(event, better_wins))
    assert (part.number, _pairs(part)) == (3, [(1, 2)])


def test_replays_are_further_games_of_the_round() -> None:
    event = begin(_event(2, replays=1), next_round(_event(2, replays=1)))
    event = finish(event, lambda _game: DRAWN)
    assert not is_over(event)
    paired = next_round(event)
    (first,), (again,) = event.rounds[0].games, paired.games
    assert (paired.number, again.white, again.black) == (1, first.black, first.white)
    assert ready_games(event) == (paired,)
    event = finish(begin(event, paired), lambda _game: DRAWN)
    assert len(event.rounds) == 1
    assert is_over(event)
    assert _champion(event) == 1


def test_a_void_game_is_played_again() -> None:
    event = play_round(_event(2, replays=0), lambda _game: VOID)
    paired = next_round(event)
    assert paired.number == 1
    assert (paired.games[0].white, paired.games[0].black) == (
        event.rounds[0].games[0].white,
        event.rounds[0].games[0].black,
    )
    assert _champion(play(event, lambda game: won_by(game, 2))) == 2


def test_both_are_out_where_neither_comes() -> None:
    def rule(game: Game) -> Result:
        return NO_SHOW if game.pair == (1, 4) else better_wins(game)

    event = play_round(_event(4), rule)
    paired = next_round(event)
    assert (paired.number, paired.games, [bye.entrant for bye in paired.byes]) == (2, (), [2])
    assert not is_over(event)
    event = begin(event, paired)
    assert is_over(event)
    assert [(row.place, row.entrant) for row in standings(event).rows] == [(1, 2), (2, 1), (2, 3), (2, 4)]


def test_a_final_without_anybody_has_no_winner() -> None:
    event = play_round(play_round(_event(4), better_wins), lambda _game: NO_SHOW)
    assert is_over(event)
    assert [row.place for row in standings(event).rows] == [1, 1, 3, 3]


def test_the_opponent_of_who_has_withdrawn_advances() -> None:
    event = withdraw(play_round(_event(8), better_wins), 4)
    paired = next_round(event)
    assert _pairs(paired) == [(2, 3)]
    assert [(bye.entrant, bye.points) for bye in paired.byes] == [(1, event.bye_points)]
    assert "bot-1 advances without a game" in paired.explanation.summary
    event = begin(event, paired)
    back = rejoin(event, 4)
    assert ready_games(back) == ()
    assert _champion(play(finish(back, better_wins), better_wins)) == 1


def test_a_round_of_nothing_but_byes_comes_before_the_final() -> None:
    event = withdraw(withdraw(play_round(_event(8), better_wins), 4), 2)
    first, second = ready_games(event)
    assert (first.number, first.games, [bye.entrant for bye in first.byes]) == (2, (), [1, 3])
    assert (second.number, _pairs(second)) == (3, [(1, 3)])
    assert next_round(event) == first
    assert _pairs(next_round(begin(event, first))) == [(1, 3)]


def test_a_match_that_was_overtaken_is_not_opened_again() -> None:
    event = withdraw(withdraw(play_round(_event(8), better_wins), 1), 4)
    event = play(event, better_wins)
    assert [[bye.entrant for bye in round_.byes] for round_ in event.rounds] == [[], [], [2]]
    event = rejoin(rejoin(event, 1), 4)
    assert is_over(event)
    assert ready_games(event) == ()
    assert _champion(event) == 2


def test_who_withdraws_during_a_match_loses_what_is_left_of_it() -> None:
    event = play_round(_event(2), lambda _game: DRAWN)
    event = play(withdraw(event, 1), better_wins)
    assert _champion(event) == 2
    assert [bye.entrant for bye in event.rounds[0].byes] == [2]


@pytest.mark.parametrize("points", [0, 1, 2])
def test_who_asks_for_a_bye_loses_the_match(points: int) -> None:
    event = request_bye(play_round(_event(4), better_wins), Request(1, 2, points))
    paired = next_round(event)
    assert paired.games == ()
    assert [(bye.entrant, bye.points, bye.requested) for bye in paired.byes] == [(2, 2, False), (1, points, True)]
    event = begin(event, paired)
    assert is_over(event)
    assert _champion(event) == 2


def test_both_may_ask_for_a_bye() -> None:
    event = play_round(_event(8), better_wins)
    event = request_bye(request_bye(event, Request(1, 2, 1)), Request(4, 2))
    event = begin(event, next_round(event))
    assert [(bye.entrant, bye.points, bye.requested) for bye in event.rounds[1].byes] == [(1, 1, True), (4, 0, True)]
    assert ready_games(event) == ()
    event = play(finish(event, better_wins), better_wins)
    assert [bye.entrant for bye in event.rounds[2].byes] == [2]
    assert _champion(event) == 2


def test_who_passes_may_ask_for_a_bye() -> None:
    event = request_bye(_event(5), Request(1, 2))
    event = play_round(event, better_wins)
    assert _champion(play(event, better_wins)) == 2
    event = request_bye(play_round(_event(8), better_wins), Request(8, 2))
    assert _champion(play(event, better_wins)) == 1


def test_who_is_away_at_the_start_is_not_in() -> None:
    event = withdraw(request_bye(_event(6), Request(3, 1)), 1)
    paired = next_round(event)
    assert sorted(id_ for pair in _pairs(paired) for id_ in pair) == [2, 4, 5, 6]
    assert paired.byes == ()
    event = rejoin(begin(event, paired), 1)
    event = play(finish(event, better_wins), better_wins)
    assert _champion(event) == 2
    assert {row.entrant for row in standings(event).rows if row.values == (None,)} == {1, 3}


def test_nobody_comes_late() -> None:
    event = enter(play_round(_event(4), better_wins), Entrant(id=5, name="late"))
    paired = next_round(event)
    assert _pairs(paired) == [(1, 2)]
    assert "late entered after the start and is not paired" in paired.explanation.summary


def test_two_who_must_not_meet_are_refused() -> None:
    event = forbid(play_round(_event(8), better_wins), 1, 4)
    with pytest.raises(Refused, match="bot-1 against bot-4, who must not meet"):
        next_round(event)
    (part,) = ready_games(event)
    assert _pairs(part) == [(2, 3)]
    assert _champion(play(withdraw(event, 1), better_wins)) == 2


@pytest.mark.parametrize("n", [4, 5, 7, 8])
def test_the_losers_of_the_semifinals_meet(n: int) -> None:
    event = play(_event(n, third_place=True), better_wins)
    assert _pairs(event.rounds[-1]) == [(1, 2), (3, 4)]
    table = standings(event)
    assert table.order == ("advanced", "third")
    assert [(row.place, row.entrant) for row in table.rows[:4]] == [(1, 1), (2, 2), (3, 3), (4, 4)]
    plain = play(_event(n), better_wins)
    assert [row.place for row in standings(plain).rows[:4]] == [1, 2, 3, 3]


def test_third_place_of_three() -> None:
    event = play(_event(3, third_place=True), better_wins)
    assert [(row.place, row.entrant) for row in standings(event).rows] == [(1, 1), (2, 2), (3, 3)]
    assert [bye.entrant for bye in event.rounds[1].byes] == [3]


def test_no_third_place_of_two() -> None:
    event = play(_event(2, third_place=True), better_wins)
    assert len(event.rounds) == 1
    assert event.rounds[0].byes == ()


@pytest.mark.parametrize("n", [0, 1])
def test_too_few(n: int) -> None:
    event = _event(n)
    with pytest.raises(Refused, match="at least two entrants"):
        next_round(event)
    assert is_over(event)
    assert ready_games(event) == ()
    assert len(standings(event).rows) == n


def test_no_more_rounds_than_planned() -> None:
    event = Event(system="cup", entrants=entrants([None] * 8), planned=2)
    event = play(event, better_wins)
    assert len(event.rounds) == 2
    assert ready_games(event) == ()
    assert [row.place for row in standings(event).rows] == [1, 1, 3, 3, 5, 5, 5, 5]


def test_a_corrected_result_sends_the_other_one_on() -> None:
    event = play_round(_event(4), better_wins)
    game = next(game for game in event.rounds[0].games if game.pair == (1, 4))
    event = correct(event, game.id, won_by(game, 4))
    assert _pairs(next_round(event)) == [(2, 4)]


@given(n=st.integers(2, 16), seed=st.integers(0, 1_000))
def test_colors_are_as_even_as_two_can_have_them(n: int, seed: int) -> None:
    event = play(_event(n), by_lot(seed))
    whites: Counter[int] = Counter()
    for round_ in event.rounds:
        earlier = dict(whites)
        matches = set()
        for game in round_.games:
            if game.pair not in matches:
                matches.add(game.pair)
                assert earlier.get(game.white, 0) <= earlier.get(game.black, 0)
        for game in round_.games:
            whites.update({game.white: 1, game.black: -1})


def test_options_are_checked() -> None:
    for options in ({"bracket": "round"}, {"replays": 3}, {"passes": "best"}):
        with pytest.raises(Refused):
            next_round(_event(4, **options))


def test_the_draw_follows_from_the_seed() -> None:
    slots = []
    for seed in range(20):
        event = _event(6, seed, bracket="list", passes="lot")
        first = next_round(event)
        assert first == next_round(from_json(to_json(event)))
        assert play(event, by_lot(1)).rounds[-1].explanation.details["slots"] == first.explanation.details["slots"]
        slots.append(tuple(first.explanation.details["slots"]))
    assert len(set(slots)) > 3


def test_every_match_of_the_bracket_can_be_asked_for() -> None:
    event = _event(5, third_place=True)
    cup = Cup(third_place=True)
    assert cup.matches(event) == []
    event = play_round(event, better_wins)
    result = [(match.round, match.number, match.sides, match.winner, match.is_due) for match in cup.matches(event)]
    assert result == [
        (1, 1, (1, NOBODY), 1, False),
        (1, 2, (4, 5), 4, False),
        (1, 3, (2, NOBODY), 2, False),
        (1, 4, (3, NOBODY), 3, False),
        (2, 1, (1, 4), None, True),
        (2, 2, (2, 3), None, True),
        (3, 1, (None, None), None, False),
        (3, 0, (None, None), None, False),
    ]


def test_who_lost_the_match_for_the_third_place_is_before_who_was_not_in_it() -> None:
    event = play_round(_event(4, third_place=True), better_wins)
    event = play_round(event, lambda game: NO_SHOW if game.pair == (3, 4) else better_wins(game))
    assert is_over(event)
    assert [(row.place, row.entrant, row.values) for row in standings(event).rows] == [
        (1, 1, (2, None)),
        (2, 2, (1, None)),
        (3, 3, (0, 0.0)),
        (3, 4, (0, 0.0)),
    ]
