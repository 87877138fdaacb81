"""Pairing a record's rounds again: the system's own are confirmed, others are told apart."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from support.tournaments import by_lot, entrants, play

from cgos_server.core.tournaments.base import Bye, Event, Game, Request
from cgos_server.core.tournaments.event import request_bye, withdraw
from cgos_server.core.tournaments.recheck import Recheck, before, recheck
from cgos_server.core.tournaments.tournament import next_round

RATINGS = [2000.0 - 40 * k for k in range(9)]


@pytest.mark.parametrize(
    "word", ["dutch", "random2", "swiss", "tcec", "mcmahon", "godraw", "epm", "weighted", "accelrat"]
)
def test_a_systems_own_rounds_are_confirmed(word: str) -> None:
    event = Event(word, entrants(RATINGS), seed=11)
    event = play(request_bye(event, Request(4, 2, 1)), by_lot(1), 2)
    event = play(withdraw(event, 7), by_lot(2), 2)
    found = list(recheck(event))
    assert [each.number for each in found] == [1, 2, 3, 4]
    assert all(each.agrees and not each.refusal for each in found), found


def test_what_differs_is_named() -> None:
    event = play(Event("tcec", entrants(RATINGS[:7])), by_lot(1), 1)
    first, *others = event.rounds[0].games
    bye = event.rounds[0].byes[0].entrant
    odd = Game(first.white, bye, first.result)
    turned = Game(others[0].black, others[0].white, others[0].result)
    games = (odd, turned, *others[1:])
    changed = replace(event, rounds=(replace(event.rounds[0], games=games, byes=(Bye(first.black),)),))
    assert list(recheck(changed)) == [
        Recheck(
            1,
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
    event = play(Event("swiss", entrants(RATINGS[:4])), by_lot(1), 1)
    every = tuple((a, b) for a in range(1, 5) for b in range(a + 1, 5))
    found = next(recheck(replace(event, forbidden=every)))
    assert not found.agrees
    assert found.refusal


def test_the_past_knows_nothing_of_the_future() -> None:
    event = play(Event("tcec", entrants(RATINGS), seed=3), by_lot(1), 4)
    for number in (1, 2, 3, 4):
        past = before(event, number)
        assert len(past.rounds) == number - 1
        assert next_round(past).games == tuple(replace(game, result=None) for game in event.rounds[number - 1].games)
