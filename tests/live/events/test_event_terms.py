"""What an event's games are played by."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from support.live.house import House, S

from cgos_protocol.clock import TimeSystem
from cgos_protocol.errors import Refused
from cgos_protocol.openings import Opening, OpeningSet
from cgos_server.core.venue import terms_of
from cgos_server.live.events.event_terms import begins_with, event_terms, require_playable
from cgos_server.tournaments.base import Game
from cgos_server.tournaments.running.settings import EventSettings, Play, empty_event


def settings(play: Play | None = None, **more: Any) -> EventSettings:
    filled = {"name": "E", "venue": "9x9", "system": "swiss", "rated": play is None, **more}
    return EventSettings(play=play or Play(), **filled)


async def test_they_are_the_venues_own_unless_the_event_says_otherwise() -> None:
    venue = House().venue
    assert event_terms(venue, settings()) == terms_of(venue)
    own = event_terms(venue, settings(Play(komi=0.5, main_s=30, increment_s=1)))
    assert own.rules.komi2 == 1
    assert (own.time.system, own.time.main, own.time.increment) == (TimeSystem.FISCHER, 30 * S, S)
    assert own.first_move_limit == 30 * S
    assert terms_of(venue).rated
    assert not own.rated


@pytest.mark.parametrize(
    ("play", "sentence"),
    [
        (Play(komi=0.3), "whole or half points"),
        (Play(main_s=0.0), "seconds a game"),
        (Play(first_moves=("E5", "E5")), "move 2, E5, is not possible there"),
        (Play(first_moves=("Z9",)), "move 1, Z9, is not possible there"),
    ],
)
async def test_what_cannot_be_played_is_refused(play: Play, sentence: str) -> None:
    with pytest.raises(Refused, match=sentence):
        require_playable(House().venue, settings(play))


async def test_systems_that_give_stones_are_refused() -> None:
    with pytest.raises(Refused, match="without handicap stones"):
        require_playable(House().venue, settings(system="mcmahon", options={"handicap": True}))
    require_playable(House().venue, settings(system="mcmahon"))


async def test_games_begin_with_the_venues_openings_the_same_with_both_colors() -> None:
    venue = House().venue
    openings = OpeningSet((Opening("center", ("E5", "C3")), Opening("corner", ("C3", "G7"))))
    venue = replace(venue, pairing=replace(venue.pairing, openings=openings))
    announced = settings()
    event = empty_event(announced)

    def moves(black: int, white: int, of: EventSettings = announced) -> tuple[str, ...]:
        return tuple(each.move for each in begins_with(venue, of, event, Game(black=black, white=white)))

    assert {moves(1, other) for other in range(2, 20)} == {("E5", "C3"), ("C3", "G7")}
    assert all(moves(1, other) == moves(other, 1) for other in range(2, 20))
    assert event_terms(venue, settings(Play(openings=True), rated=True)).rated
    assert moves(1, 2, settings(Play(openings=False))) == ()
    venue = replace(venue, pairing=replace(venue.pairing, openings_share=0.0))
    assert moves(1, 2) == ()
