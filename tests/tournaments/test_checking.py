"""Records that cannot be are refused with a sentence that says what and where."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from support.tournaments.events import by_lot, entrants, play, without_ids

from cgos_protocol.errors import Refused
from cgos_server.tournaments.base import WHITE_WINS, Bye, Entrant, Event, Game, Request, Result, Round
from cgos_server.tournaments.checking import MOST_ID, checked
from cgos_server.tournaments.event import Played, apply, begin, correct, enter, request_bye
from cgos_server.tournaments.tournament import from_json, next_round, to_json

THREE = Event(system="swiss", entrants=entrants([2000.0, 1900.0, 1800.0]))


def _with(*games: Game, byes: tuple[Bye, ...] = (), number: int = 1) -> Event:
    return replace(THREE, rounds=(Round(number=number, games=games, byes=byes),))


def _entrant(**values: Any) -> Event:
    return replace(THREE, entrants=(*THREE.entrants, Entrant(**{"id": 4, "name": "Odd", **values})))


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (_entrant(id=0), "Odd cannot have the number 0"),
        (_entrant(id=MOST_ID + 1), "Odd cannot have the number"),
        (_entrant(id=2), "Two have entered as 2"),
        (_entrant(name="Odd\nname"), "control character"),
        (_entrant(rating=float("nan")), "Odd cannot have the rating nan"),
        (_entrant(rating=float("-inf")), "Odd cannot have the rating -inf"),
        (_entrant(rating=1e300), "Odd cannot have the rating"),
        (_entrant(start=10**9), "Odd cannot start with 1000000000 half points"),
        (_entrant(joined=0), "Odd cannot have joined in round 0"),
        (replace(THREE, planned=0), "The event cannot have 0 rounds"),
        (replace(THREE, planned=-3), "The event cannot have -3 rounds"),
        (replace(THREE, bye_points=7), "A bye cannot be worth 7 half points"),
        (replace(THREE, withdrawn=(9,)), "Nobody entered as 9"),
        (replace(THREE, requests=(Request(9, 1),)), "Nobody entered as 9"),
        (replace(THREE, requests=(Request(1, 0),)), "bot-1 cannot ask for a bye in round 0"),
        (replace(THREE, requests=(Request(1, 1, 9),)), "bot-1 asked for in round 1 cannot give 9 half points"),
        (replace(THREE, forbidden=((1, 1),)), "bot-1 cannot be kept from itself"),
        (replace(THREE, forbidden=((1, 9),)), "Nobody entered as 9"),
        (_with(Game(black=2, white=1), number=2), "The round at place 1 has the number 2"),
        (_with(Game(black=1, white=1)), "Round 1 has bot-1 against itself"),
        (_with(Game(black=9, white=1)), "Round 1 has a player 9, but nobody entered as 9"),
        (_with(byes=(Bye(9),)), "Round 1 has a player 9, but nobody entered as 9"),
        (_with(byes=(Bye(1), Bye(1))), "Round 1 has two byes of bot-1"),
        (_with(byes=(Bye(1, -1),)), "a bye cannot give bot-1 -1 half points"),
        (_with(Game(black=2, white=1, result=Result(0, 9))), "bot-2 - bot-1 cannot end 0-4.5"),
        (_with(Game(black=2, white=1, result=Result(-1, 0))), "bot-2 - bot-1 cannot end -0.5-0"),
        (_with(Game(black=2, white=1, result=Result(1, 1, "void"))), "bot-2 - bot-1 is void"),
        (_with(Game(black=2, white=1, handicap=-1)), "bot-2 - bot-1 cannot have -1 handicap stones"),
        (
            replace(_entrant(joined=2), rounds=(Round(number=1, games=(Game(black=4, white=1),)),)),
            "Odd is in round 1 but joined for round 2",
        ),
    ],
)
def test_what_cannot_be(event: Event, words: str) -> None:
    with pytest.raises(Refused, match=words) as refusal:
        checked(event)
    assert refusal.value.sentence.endswith(".")


@pytest.mark.parametrize("event", [replace(THREE, planned=0), _with(Game(black=1, white=1)), replace(THREE, format=0)])
def test_json_is_checked(event: Event) -> None:
    with pytest.raises(Refused):
        from_json(to_json(event))


def test_a_record_of_ours_is_as_it_was() -> None:
    event = replace(THREE, forbidden=((1, 2),), requests=(Request(3, 2, 1),), withdrawn=(2,))
    event = play(event, by_lot(3), 2)
    assert checked(event) == event


def test_forbidden_pairs_come_in_one_order() -> None:
    event = replace(THREE, forbidden=((3, 1), (1, 3), (2, 3)))
    assert checked(event).forbidden == ((1, 3), (2, 3))
    assert [bye.entrant for bye in next_round(event).byes] == [3]


def test_other_points_can_be_shown() -> None:
    football = replace(_with(Game(black=2, white=1, result=Result(0, 6)), byes=(Bye(3, 6),)), bye_points=6)
    assert without_ids(checked(football, any_points=True).rounds) == football.rounds
    with pytest.raises(Refused):
        checked(football)


@pytest.mark.parametrize("name", ["Zoë", "李", "\u202e right to left", "😀", ""])
def test_names_are_anything(name: str) -> None:
    event = enter(THREE, Entrant(id=4, name=name))
    assert from_json(to_json(event)) == event


def test_changes_are_checked_too() -> None:
    with pytest.raises(Refused, match="rating"):
        enter(THREE, Entrant(id=4, name="Odd", rating=float("inf")))
    with pytest.raises(Refused, match="cannot give 8 half points"):
        request_bye(THREE, Request(1, 1, 8))
    with pytest.raises(Refused, match="against itself"):
        begin(THREE, Round(number=1, games=(Game(black=2, white=2),)))
    event = begin(THREE, Round(number=1, games=(Game(black=2, white=1),), byes=(Bye(3),)))
    with pytest.raises(Refused, match="two byes of bot-3"):
        begin(event, Round(number=1, games=(), byes=(Bye(3),)))
    with pytest.raises(Refused, match=r"Round 1: bot-2 - bot-1 cannot end 0-1\.5"):
        apply(event, [Played(black=2, white=1, result=Result(0, 3))])
    event = apply(event, [Played(black=2, white=1, result=WHITE_WINS)])
    with pytest.raises(Refused, match="cannot end 5-0"):
        correct(event, 1, Result(10, 0))


@pytest.mark.parametrize(
    "text",
    [
        '{"system":"swiss","options":' + '{"a":' * 100_000,
        "\ud800",
        '{"system":"swiss","entrants":[{"id":1,"name":"a","rating":1e999}]}',
        b'{"system":"swiss","name":"\xff"}',
        msgspec.json.encode({"system": "swiss", "entrants": [{"id": 2**70, "name": "a"}]}),
    ],
)
def test_json_that_wants_to_hurt(text: str | bytes) -> None:
    with pytest.raises(Refused):
        from_json(text)


def test_games_without_ids_get_the_next_free_ones() -> None:
    event = replace(
        THREE,
        rounds=(
            Round(number=1, games=(Game(black=2, white=1), Game(black=3, white=1, id=4))),
            Round(number=2, games=(Game(black=3, white=2),)),
        ),
    )
    assert [game.id for round_ in checked(event).rounds for game in round_.games] == [5, 4, 6]
    for id_, words in ((4, "2 games have the id 4"), (-1, "cannot have the id -1")):
        odd = replace(event, rounds=(*event.rounds[:1], Round(number=2, games=(Game(black=3, white=2, id=id_),))))
        with pytest.raises(Refused, match=words):
            checked(odd)
