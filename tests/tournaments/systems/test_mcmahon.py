"""McMahon: bar and floor, methods inside a group, who floats and who sits out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.tournaments.events import better_wins, by_lot, finish, play, play_round

from cgos_protocol.errors import Refused
from cgos_server.tournaments.base import (
    BLACK_WINS,
    DRAWN,
    WHITE_WINS,
    Bye,
    Entrant,
    Event,
    Game,
    Request,
    Result,
    Round,
    Standings,
)
from cgos_server.tournaments.event import begin, enter, request_bye, withdraw
from cgos_server.tournaments.ledger import ledger
from cgos_server.tournaments.standings.mms import mms
from cgos_server.tournaments.systems.mcmahon import McMahon
from cgos_server.tournaments.tournament import next_round, standings


def started(*starts: int, **options: Any) -> Event:
    """Entrants with so many half points at the start, the better rated first among equals."""
    people = tuple(
        Entrant(id=at, name=f"bot-{at}", rating=2_000.0 - at, start=start) for at, start in enumerate(starts, 1)
    )
    return Event(system="mcmahon", entrants=people, options=options)


def graded(*grades: str, **options: Any) -> Event:
    people = tuple(Entrant(id=at, name=f"bot-{at}", grade=grade) for at, grade in enumerate(grades, 1))
    return Event(system="mcmahon", entrants=people, options=options)


def pairs(round_: Round) -> set[tuple[int, int]]:
    return {game.pair for game in round_.games}


def of_points(result: Standings) -> dict[int, float | None]:
    return {row.entrant: row.values[result.order.index("mms")] for row in result.rows}


def with_rounds(event: Event, *rounds: list[Game]) -> Event:
    for number, games in enumerate(rounds, 1):
        event = begin(event, Round(number=number, games=tuple(games)))
    return event


def test_equals_meet_from_the_first_round_on() -> None:
    event = graded("9k", "2d", "9k", "1k", "2d", "1k", "1k", "1k")
    round_ = next_round(event)
    assert {(1, 3), (2, 5)} <= pairs(round_)
    groups = round_.explanation.details["groups"]
    assert [set(group) for group in groups] == [{2, 5}, {4, 6, 7, 8}, {1, 3}]
    assert round_.explanation.details["scores"]["2"] == 21.0


def test_above_the_bar_all_are_one_group() -> None:
    grades = ("5d", "4d", "4d", "7d")
    assert len(next_round(graded(*grades)).explanation.details["groups"]) == 3
    assert len(next_round(graded(*grades, bar="4d")).explanation.details["groups"]) == 1


def test_under_the_floor_all_are_one_group() -> None:
    assert len(next_round(graded("20k", "15k", "11k", "10k", floor="10k")).explanation.details["groups"]) == 1


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("folding", {(1, 6), (2, 5), (3, 4)}),
        ("translation", {(1, 4), (2, 5), (3, 6)}),
        ("adjacent", {(1, 2), (3, 4), (5, 6)}),
    ],
)
def test_methods_inside_a_group(method: str, expected: set[tuple[int, int]]) -> None:
    assert pairs(next_round(started(*[4] * 6, method=method))) == expected


def test_the_middle_of_an_odd_group_floats_to_the_middle_of_the_next() -> None:
    round_ = next_round(started(4, 4, 4, 2, 2, 2))
    assert pairs(round_) == {(2, 5), (1, 3), (4, 6)}
    assert round_.explanation.details["floats"] == [[2, 5, 1]]


def test_half_points_count_with_the_points_below() -> None:
    assert next_round(started(5, 4, 3, 2)).explanation.details["groups"] == [[1, 2], [3, 4]]


def test_the_lowest_without_a_bye_sits_out_and_then_the_next() -> None:
    event = started(4, 4, 2, 2, 0)
    out = []
    for _ in range(5):
        round_ = next_round(event)
        assert len(round_.byes) == 1
        assert f"bot-{round_.byes[0].entrant} sits out" in round_.explanation.summary
        out.append(round_.byes[0].entrant)
        event = play_round(event, better_wins)
    assert out[0] == 5
    assert sorted(out) == [1, 2, 3, 4, 5]


def test_two_absences_give_a_point_and_one_none() -> None:
    event = started(*[8] * 6)
    for number, absent in enumerate([(3, 4), (4, 5)], 1):
        for who in absent:
            event = request_bye(event, Request(who, number))
        event = play_round(event, better_wins)
    details = next_round(event).explanation.details["scores"]
    assert details["4"] == 5.0, "two absences"
    assert details["5"] == 4.0, "a loss and one absence"


def test_absence_points_that_count_only_for_pairing() -> None:
    event = started(4, 4, 4, 4)
    for number in (1, 2):
        for who in (3, 4):
            event = request_bye(event, Request(who, number))
        event = play_round(event, better_wins)
    first, second = (replace(event, options={"absences": way}) for way in ("all", "pairing"))
    assert of_points(standings(first))[4] == 3.0
    assert of_points(standings(second))[4] == 2.0
    assert next_round(first).explanation.details["scores"] == next_round(second).explanation.details["scores"]


def test_who_enters_late_starts_as_the_others_and_missed_nothing() -> None:
    event = play(started(4, 4, 4, 4), better_wins, 2)
    event = enter(event, Entrant(id=5, name="late", start=4))
    event = withdraw(event, 1)
    details = next_round(event).explanation.details["scores"]
    assert details["5"] == 2.0
    assert "1" not in details
    after = play(event, better_wins, 2)
    assert of_points(standings(after))[1] == 2.0 + 2.0 + 1.0, "two wins, then two absences"


def test_standings_are_by_mms_sos_sodos_cuss_unless_the_event_says_otherwise() -> None:
    event = play(started(4, 4, 2, 2), better_wins, 2)
    assert standings(event).order == ("mms", "sos", "sodos", "cuss")
    lines = ledger(event).lines
    starts = {1: 4, 2: 4, 3: 2, 4: 2}
    assert of_points(standings(event)) == {id_: mms(lines[id_], start) / 2 for id_, start in starts.items()}
    other = replace(event, tie_breakers=("mms", "sos"))
    assert standings(other).order == ("mms", "sos")


def test_equals_share_a_place() -> None:
    table = standings(started(4, 4, 2))
    assert [row.place for row in table.rows] == [1, 1, 3]


def test_no_handicap_unless_asked_for() -> None:
    assert [game.handicap for game in next_round(started(12, 0)).games] == [0]


@pytest.mark.parametrize(
    ("starts", "options", "stones"),
    [
        ((12, 0), {}, 5),
        ((12, 0), {"reduction": 0}, 6),
        ((12, 1), {"reduction": 0}, 5),
        ((12, 0), {"reduction": 6}, 0),
        ((12, 0), {"reduction": 9}, 0),
        ((40, 0), {"reduction": 2}, 9),
        ((9, 0), {"bar": "15k"}, 3),
        ((10, 0), {"bar": "15k"}, 0),
        ((12, 0), {"bar": "14k"}, 0),
        ((9, 0), {"floor": "25k", "bar": "20k"}, 3),
        ((10, 0), {"floor": "25k", "bar": "20k"}, 0),
        ((2, 0), {}, 0),
    ],
)
def test_stones_are_the_difference_less_the_reduction(
    starts: tuple[int, int], options: dict[str, Any], stones: int
) -> None:
    game = next_round(started(*starts, handicap=True, **options)).games[0]
    assert game.handicap == stones
    if stones:
        assert (game.white, game.black) == (1, 2)
        assert f"receives {stones} stones" in game.reason


def test_who_receives_stones_is_black_whatever_colors_he_had() -> None:
    event = with_rounds(
        started(8, 8, 0, 0, handicap=True, reduction=0),
        [Game(black=1, white=3, result=BLACK_WINS), Game(black=2, white=4, result=BLACK_WINS)],
        [Game(black=1, white=4, result=BLACK_WINS), Game(black=2, white=3, result=BLACK_WINS)],
        [Game(black=2, white=1, result=WHITE_WINS), Game(black=4, white=3, result=WHITE_WINS)],
    )
    games = next_round(event).games
    assert {(game.white, game.black) for game in games} <= {(a, b) for a in (1, 2) for b in (3, 4)} | {(1, 2), (3, 4)}
    for game in games:
        assert game.handicap > 0


def test_drawn_up_and_down_are_by_the_groups_of_their_time() -> None:
    event = with_rounds(
        started(4, 2, 2, 0),
        [Game(black=2, white=1, result=BLACK_WINS), Game(black=4, white=3, result=WHITE_WINS)],
        [Game(black=3, white=1, result=WHITE_WINS), Game(black=4, white=2, result=Result(0, 0, "void"))],
    )
    starts = {1: 4, 2: 2, 3: 2, 4: 0}
    assert McMahon().drawn(ledger(event), starts) == {
        1: [(1, -1), (2, 0)],
        2: [(1, 1), (2, -1)],
        3: [(1, -1), (2, 0)],
        4: [(1, 1), (2, 1)],
    }
    halves = with_rounds(started(5, 4), [Game(black=2, white=1, result=WHITE_WINS)])
    assert McMahon().drawn(ledger(halves), {1: 5, 2: 4}) == {1: [(1, 0)], 2: [(1, 0)]}


@settings(max_examples=20)
@given(
    starts=st.lists(st.integers(0, 12), max_size=9),
    rounds=st.integers(1, 4),
    seed=st.integers(0, 99),
    method=st.sampled_from(["folding", "random"]),
    handicap=st.booleans(),
)
def test_whatever_is_played(starts: list[int], rounds: int, seed: int, method: str, handicap: bool) -> None:
    event = started(*starts, method=method, handicap=handicap)
    for number in range(rounds):
        round_ = next_round(event)
        scores = {int(id_): points for id_, points in round_.explanation.details["scores"].items()}
        known = ledger(event).lines
        assert scores == {id_: mms(known[id_], start) / 2 for id_, start in enumerate(starts, 1)}
        for game in round_.games:
            apart = abs(scores[game.white] - scores[game.black])
            assert game.handicap == (min(9, max(0, int(apart) - 1)) if handicap else 0)
            if game.handicap:
                assert scores[game.white] > scores[game.black]
            elif known[game.white].balance != known[game.black].balance:
                assert known[game.white].balance < known[game.black].balance
        assert round_.byes == tuple(Bye(bye.entrant) for bye in round_.byes)
        event = finish(begin(event, round_), by_lot(seed + number))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"floor": "40k"}, "floor"),
        ({"bar": "high"}, "bar"),
        ({"method": "best"}, "folding"),
        ({"reduction": 10}, "from 0 to 9"),
        ({"floor": "1d", "bar": "1k"}, "under the floor"),
    ],
)
def test_options_that_cannot_be(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        next_round(started(0, 0, **options))


def test_forbidden_pairs_that_leave_nothing_are_refused() -> None:
    event = replace(started(2, 2), forbidden=((2, 1),))
    with pytest.raises(Refused, match="must not meet"):
        next_round(event)


def test_groups_paired_together_are_named() -> None:
    event = with_rounds(
        started(4, 4, 0, 0), [Game(black=2, white=1, result=DRAWN), Game(black=4, white=3, result=DRAWN)]
    )
    round_ = next_round(event)
    assert not pairs(round_) & {(1, 2), (3, 4)}
    assert "The groups of 2 and 0 points are paired as one" in round_.explanation.summary


def test_rematches_are_as_few_as_possible() -> None:
    event = with_rounds(
        started(0, 0, 0, 0),
        [Game(black=2, white=1, result=DRAWN), Game(black=4, white=3, result=DRAWN)],
        [Game(black=3, white=1, result=DRAWN), Game(black=4, white=2, result=DRAWN)],
        [Game(black=4, white=1, result=DRAWN), Game(black=3, white=2, result=DRAWN)],
    )
    round_ = next_round(event)
    assert len(round_.games) == 2
    assert "2 rematches: with fewer," in round_.explanation.summary
