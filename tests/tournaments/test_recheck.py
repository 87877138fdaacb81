"""Pairing a record's rounds again: the system's own are confirmed, others are told apart."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from support.tournaments.events import better_wins, by_lot, entrants, finish, play, play_round

from cgos_server.tournaments.base import (
    BLACK_WINS,
    DRAWN,
    VOID,
    WHITE_WINS,
    Bye,
    Entrant,
    Event,
    Game,
    Request,
    Round,
)
from cgos_server.tournaments.event import begin, enter, forbid, request_bye, withdraw
from cgos_server.tournaments.past import before
from cgos_server.tournaments.recheck import Recheck, recheck
from cgos_server.tournaments.tournament import next_round

RATINGS = [2000.0 - 40 * k for k in range(9)]


@pytest.mark.parametrize(
    "word", ["dutch", "random2", "swiss", "tcec", "mcmahon", "godraw", "epm", "weighted", "accelrat"]
)
def test_a_systems_own_rounds_are_confirmed(word: str) -> None:
    event = Event(system=word, entrants=entrants(RATINGS), seed=11)
    event = play(request_bye(event, Request(4, 2, 1)), by_lot(1), 2)
    event = play(withdraw(event, 7), by_lot(2), 2)
    checks = list(recheck(event))
    assert [check.number for check in checks] == [1, 2, 3, 4]
    assert all(check.agrees and not check.refusal for check in checks), checks


def test_further_games_of_a_round_are_confirmed() -> None:
    event = play(Event(system="cup", entrants=entrants(RATINGS[:6]), seed=2), by_lot(4, draws=0.6))
    assert any(len(round_.games) > len({game.pair for game in round_.games}) for round_ in event.rounds)
    assert all(check.agrees for check in recheck(event))
    turned = event.rounds[0].games[-1]
    games = (*event.rounds[0].games[:-1], Game(black=turned.white, white=turned.black, result=turned.result))
    changed = replace(event, rounds=(replace(event.rounds[0], games=games), *event.rounds[1:]))
    assert next(recheck(changed)).swapped == ((turned.black, turned.white),)


@pytest.mark.parametrize("word", ["cup", "double-elimination", "bubble"])
def test_who_withdraws_during_a_match_is_taken_to_have_done_so(word: str) -> None:
    for leaves in (1, 2):
        event = play_round(
            Event(system=word, entrants=entrants([None] * 4)),
            lambda game: VOID if 1 in game.pair else better_wins(game),
        )
        (again, *_) = next_round(event).games
        event = play(withdraw(event, again.pair[leaves - 1]), better_wins)
        assert [check for check in recheck(event) if not check.agrees] == []


def test_a_replay_that_was_not_played_is_no_difference_but_what_follows_is() -> None:
    event = play_round(
        Event(system="cup", entrants=entrants([None] * 4)), lambda game: DRAWN if 1 in game.pair else better_wins(game)
    )
    early = begin(event, Round(number=2, games=(Game(black=2, white=1, result=WHITE_WINS),)))
    assert [check.agrees for check in recheck(early)] == [True, False]


def test_who_entered_later_changes_nothing_before() -> None:
    order = ("points", "direct", "buchholz", "sonneborn-berger")
    event = play(Event(system="swiss", entrants=entrants(RATINGS[:6]), seed=2, tie_breakers=order), better_wins, 2)
    alone = next_round(event)
    event = begin(event, alone)
    event = finish(event, better_wins)
    event = enter(
        forbid(enter(event, Entrant(id=7, name="late", rating=2500.0)), 1, 7),
        Entrant(id=8, name="later", rating=2400.0),
    )
    event = play(event, better_wins, 1)
    assert before(event, 3).entrants == event.entrants[:6]
    assert before(event, 3).forbidden == ()
    assert next_round(before(event, 3)) == alone
    assert all(check.agrees for check in recheck(event))


def test_who_withdraws_while_parked_was_parked_until_then() -> None:
    event = Event(system="bubble", entrants=entrants([None] * 10), options={"active_size": 4, "min_matches": 6})
    event = play(event, lambda game: WHITE_WINS if game.white > game.black else BLACK_WINS, 4)
    parked = event.rounds[-1].explanation.details["events"][-1]["parked"]
    assert parked
    for id_ in parked:
        ended = play(withdraw(event, id_), better_wins)
        assert all(check.agrees for check in recheck(ended))
        assert before(ended, 4).withdrawn == ()
        assert before(ended, 5).withdrawn == (id_,)
    odd = replace(event.rounds[0].explanation, details={"withdrawn": [[1], "x", 2]})
    assert before(replace(event, rounds=(replace(event.rounds[0], explanation=odd),)), 1).withdrawn == (2,)


def test_what_differs_is_named() -> None:
    event = play(Event(system="tcec", entrants=entrants(RATINGS[:7])), by_lot(1), 1)
    first, *others = event.rounds[0].games
    bye = event.rounds[0].byes[0].entrant
    odd = Game(black=bye, white=first.white, result=first.result)
    turned = Game(black=others[0].white, white=others[0].black, result=others[0].result)
    games = (odd, turned, *others[1:])
    changed = replace(event, rounds=(replace(event.rounds[0], games=games, byes=(Bye(first.black),)),))
    assert list(recheck(changed)) == [
        Recheck(
            number=1,
            agrees=False,
            missing=((first.white, first.black),),
            unexpected=((odd.white, odd.black),),
            swapped=((turned.white, turned.black),),
            byes=(bye,),
            recorded_byes=(first.black,),
            summary=event.rounds[0].explanation.summary,
        )
    ]


def test_a_refusal_is_a_finding() -> None:
    event = play(Event(system="swiss", entrants=entrants(RATINGS[:4])), by_lot(1), 1)
    every = tuple((a, b) for a in range(1, 5) for b in range(a + 1, 5))
    checks = next(recheck(replace(event, forbidden=every)))
    assert not checks.agrees
    assert checks.refusal


def test_the_past_knows_nothing_of_the_future() -> None:
    event = play(Event(system="tcec", entrants=entrants(RATINGS), seed=3), by_lot(1), 4)
    for number in (1, 2, 3, 4):
        past = before(event, number)
        assert len(past.rounds) == number - 1
        assert next_round(past).games == tuple(
            replace(game, result=None, id=0) for game in event.rounds[number - 1].games
        )
