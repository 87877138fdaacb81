"""The facade: events as JSON, systems by their words."""

from __future__ import annotations

import msgspec
import pytest
from support.tournaments.events import by_lot, entrants, play

from cgos_protocol.errors import Refused
from cgos_server.tournaments.base import Event
from cgos_server.tournaments.registry import SHORT, SYSTEMS, known, options_of, system
from cgos_server.tournaments.tournament import from_json, system_of, to_json


def test_an_event_is_the_same_after_json() -> None:
    event = play(Event(system="round-robin", entrants=entrants([2000, None, 1800.5, 1700, 1600]), seed=5), by_lot(3))
    assert len(event.rounds) == 5
    assert from_json(to_json(event)) == event


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"", "not an event's JSON: Input data was truncated"),
        (b"\xff", "not an event's JSON"),
        (b'{"system": 4}', r"Expected `str`, got `int` - at `\$.system`"),
        (b'{"system": "swiss", "entrants": [{"id": 1}]}', r"missing required field `name` - at `\$.entrants\[0\]`"),
        (b'{"system": "swiss", "sytem": 1}', "unknown field `sytem`"),
        (b'{"system": "swiss", "format": 99}', "The event has format 99"),
    ],
)
def test_json_that_is_no_event(text: bytes, words: str) -> None:
    with pytest.raises(Refused, match=words):
        from_json(text)


@pytest.mark.parametrize("word", [*SYSTEMS, *SHORT])
def test_every_word_makes_a_system(word: str) -> None:
    made = system(word)
    assert made.name == known(word)[0]
    assert made.tie_breakers
    assert system_of(Event(system=word, options={})).name == made.name


def test_unknown_words_are_refused_with_the_choices() -> None:
    with pytest.raises(Refused, match="There is no tournament system 'chess'"):
        system("chess")
    with pytest.raises(Refused, match="mwm has no option 'alpha'"):
        system("mwm", {"alpha": 1})
    for word in SYSTEMS:
        for key in options_of(word):
            with pytest.raises(Refused, match=f"{word}: {key} cannot be "):
                system(word, {key: msgspec.UNSET})
