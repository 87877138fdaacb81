"""Who belongs to a fixed field, before the start and after it."""

from __future__ import annotations

import pytest
from support.tournaments.events import entrants

from cgos_protocol.errors import Refused
from cgos_server.tournaments.base import Bye, Entrant, Event, Game, Request, Round
from cgos_server.tournaments.event import begin, enter, refuse_over, rejoin, request_bye, withdraw
from cgos_server.tournaments.systems.fixed_field import latecomers, require_two, starters, too_late
from cgos_server.tournaments.words import listed


def _ids(result: tuple[Entrant, ...]) -> list[int]:
    return [entrant.id for entrant in result]


def test_before_the_start_those_who_are_there() -> None:
    event = withdraw(Event(system="cup", entrants=entrants([None] * 4)), 2)
    event = request_bye(event, Request(3, 1))
    assert _ids(starters(event)) == [1, 4]
    assert _ids(starters(event, keep_byes=True)) == [1, 3, 4]
    assert _ids(starters(rejoin(event, 2))) == [1, 2, 4]


def test_after_the_start_those_of_the_first_round() -> None:
    event = withdraw(Event(system="cup", entrants=entrants([None] * 5)), 5)
    event = begin(event, Round(number=1, games=(Game(black=1, white=2),), byes=(Bye(3), Bye(4, 0, requested=True))))
    event = withdraw(enter(rejoin(event, 5), Entrant(id=6, name="late")), 1)
    assert _ids(starters(event)) == [1, 2, 3]
    assert _ids(starters(event, keep_byes=True)) == [1, 2, 3, 4]
    assert _ids(latecomers(event, keep_byes=True)) == [5, 6]
    assert _ids(latecomers(withdraw(event, 6), keep_byes=True)) == [5]


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_are_refused(count: int) -> None:
    with pytest.raises(Refused, match=f"A cup needs at least two entrants, and has {count}"):
        require_two("A cup", count)
    require_two("A cup", 2)


def test_sentences() -> None:
    assert too_late([]) == ""
    assert too_late([Entrant(id=1, name="Ann")]) == " Ann entered after the start and is not paired."
    three = [Entrant(id=number, name=name) for number, name in enumerate(("Ann", "Ben", "Cy"), 1)]
    assert too_late(three) == " Ann, Ben and Cy entered after the start and are not paired."
    assert listed(["Ann", "Ben"]) == "Ann and Ben"


@pytest.mark.parametrize(("count", "words"), [(0, "0 rounds."), (1, "1 round."), (2, "2 rounds.")])
def test_how_long_it_was(count: int, words: str) -> None:
    event = Event(
        system="cup",
        entrants=entrants([None] * 2),
        rounds=tuple(Round(number=number) for number in range(1, count + 1)),
    )
    assert f"over after {words}" in refuse_over(event).sentence
