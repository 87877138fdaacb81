"""The terms of a game: taken from its venue, stored, read again."""

from __future__ import annotations

import pytest

from cgos_protocol.clock import TimeControl, TimeSystem
from cgos_protocol.errors import OurFault
from cgos_protocol.games.base import Ko, Ruleset
from cgos_protocol.terms import Terms, decode_terms, encode_terms
from cgos_server.core.venue import Venue, terms_of


def test_terms_travel_as_json_and_keep_what_the_game_was_started_with() -> None:
    venue = Venue(
        id=1,
        name="odd",
        rules=Ruleset(size=13, komi2=13, ko=Ko.SITUATIONAL, suicide=True),
        time=TimeControl(system=TimeSystem.CANADIAN, main=1, period=2, stones=3, lag=4, lag_bank=5),
        move_limit=507,
        first_move_limit=9,
    )
    terms = terms_of(venue)
    assert decode_terms(encode_terms(terms)) == terms
    assert terms == Terms(rules=venue.rules, time=venue.time, move_limit=507, first_move_limit=9)


@pytest.mark.parametrize("text", ["", "{}", '{"rules": 3}', "no json"])
def test_unreadable_terms_are_our_fault(text: str) -> None:
    with pytest.raises(OurFault, match="terms"):
        decode_terms(text)
