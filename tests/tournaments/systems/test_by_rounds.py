"""When systems of whole rounds may pair, what could begin, and when they are over."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from support.tournaments.events import better_wins, entrants, finish, play_round

from cgos_protocol.errors import Refused
from cgos_server.tournaments.base import Event
from cgos_server.tournaments.event import begin
from cgos_server.tournaments.tournament import is_over, next_round, ready_games, standings

EVENT = Event(system="swiss", entrants=entrants([2000.0 - k for k in range(5)]), planned=2)


def test_a_round_follows_when_the_last_one_is_complete() -> None:
    paired = next_round(EVENT)
    assert ready_games(EVENT) == (paired,)
    event = begin(EVENT, paired)
    assert ready_games(event) == ()
    with pytest.raises(Refused, match=r"Round 1 has games without a result .*, and 1 more"):
        next_round(event)
    event = finish(event, better_wins)
    assert ready_games(event) == (next_round(event),)


def test_it_is_over_after_the_planned_rounds_and_their_results() -> None:
    event = play_round(EVENT, better_wins)
    assert not is_over(event)
    event = begin(event, next_round(event))
    assert not is_over(event)
    event = finish(event, better_wins)
    assert is_over(event)
    assert ready_games(event) == ()
    with pytest.raises(Refused, match="The event is over after 2 rounds"):
        next_round(event)
    assert not is_over(replace(event, planned=None))


def test_standings_are_by_the_systems_order_or_by_the_events() -> None:
    event = play_round(EVENT, better_wins)
    assert standings(event).order == ("points", "buchholz", "sonneborn-berger")
    assert standings(replace(event, tie_breakers=("points", "seed"))).order == ("points", "seed")
