"""The picture of a bracket: every match and name, winners in bold, unfinished and odd fields."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from msgspec.structs import replace
from support.tournaments.events import better_wins, by_lot, entrants, play, play_round

from cgos_server.presentation.pictures.bracket_picture import bracket_svg
from cgos_server.tournaments.base import VOID, Event
from cgos_server.tournaments.systems.bracket import NOBODY, Standing, recorded, stand

SVG = "{http://www.w3.org/2000/svg}"


def matches_of(event: Event, third_place: bool = False) -> list[Standing]:
    ids = [entrant.id for entrant in event.entrants]
    return stand(event, recorded(event, ids, True), {id_: id_ for id_ in ids}, 2, third_place)


def words(svg: str) -> list[tuple[str, bool]]:
    root = ElementTree.fromstring(svg)
    return [("".join(element.itertext()), element.get("font-weight") == "bold") for element in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("count", [2, 3, 7, 8, 100])
def test_every_match_of_a_played_cup_is_in_it(count: int) -> None:
    event = play(Event(system="cup", entrants=entrants([None] * count)), better_wins)
    matches = matches_of(event)
    svg = bracket_svg(event, matches)
    shown = words(svg)
    for entrant in event.entrants:
        sides = sum(entrant.id in match.sides for match in matches)
        won = sum(entrant.id == match.winner for match in matches)
        assert shown.count((entrant.name, True)) == won
        assert shown.count((entrant.name, False)) == sides - won
    assert shown.count(("nobody", False)) == sum(side == NOBODY for match in matches for side in match.sides)
    assert "bot-1 has won it." in svg
    boxes = ElementTree.fromstring(svg).findall(f"{SVG}rect")[1:]
    places = {(float(box.get("x", "")), float(box.get("y", ""))) for box in boxes}
    assert len(places) == len(boxes) == len(matches)


def test_an_unfinished_cup_with_a_match_for_the_third_place() -> None:
    event = replace(Event(system="cup", entrants=entrants([None] * 8), options={"third_place": True}), name="Cup <1>")
    event = play_round(play_round(event, better_wins), better_wins)
    matches = matches_of(event, third_place=True)
    shown = words(bracket_svg(event, matches))
    assert "It has not been won yet." in bracket_svg(event, matches)
    assert ("Third place", False) in shown
    assert ("Cup <1>", True) in shown
    assert shown.count(("bot-4", False)) == 2  # lost the semifinal, plays for the third place
    assert shown.count(("bot-1", False)) == 1  # in the final


def test_points_of_replays_are_added() -> None:
    event = play(Event(system="cup", entrants=entrants([None] * 2), seed=3), by_lot(5, draws=1.0))
    shown = words(bracket_svg(event, matches_of(event)))
    assert len(event.rounds[0].games) == 3
    assert [(text, bold) for text, bold in shown if text in ("1½", "bot-1", "bot-2")] == [
        ("bot-1", True),
        ("1½", True),
        ("bot-2", False),
        ("1½", False),
    ]


def test_a_void_game_is_not_a_score() -> None:
    event = play_round(Event(system="cup", entrants=entrants([None] * 2)), lambda _game: VOID)
    assert {text for text, _ in words(bracket_svg(event, matches_of(event)))} == {"Bracket", "Final", "bot-1", "bot-2"}


def test_no_matches() -> None:
    ElementTree.fromstring(bracket_svg(Event(system="cup"), []))
