"""The picture of a double elimination: every match and pass, the unbeaten above, links, and what has none."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from support.tournaments.events import better_wins, by_lot, entrants, play, play_round

from cgos_server.presentation.pictures.brackets import bracket_of
from cgos_server.presentation.pictures.branches_picture import branches_svg
from cgos_server.tournaments.base import Event
from cgos_server.tournaments.standings.branches import branch_matches

SVG = "{http://www.w3.org/2000/svg}"


def double(count: int) -> Event:
    return Event(system="double-elimination", entrants=entrants([None] * count), seed=4, name="Double <2>")


@pytest.mark.parametrize("count", [2, 3, 8, 11])
def test_every_match_has_a_box_of_its_own_and_its_winner_is_bold(count: int) -> None:
    event = play(double(count), by_lot(7, draws=0.1))
    matches = branch_matches(event, replays=2)
    root = ElementTree.fromstring(branches_svg(event, matches))
    boxes = root.findall(f"{SVG}rect")[1:]
    places = {(float(box.get("x", "")), float(box.get("y", ""))) for box in boxes}
    assert len(places) == len(boxes) == len(matches)
    names = set(event.names.values())
    bold = [text.text for text in root.iter(f"{SVG}text") if text.get("font-weight") and text.text in names]
    assert len(bold) == sum(len(match.sides) == 2 and match.winner is not None for match in matches)
    lost = [side for match in matches for side in match.sides if len(match.sides) == 2 and side != match.winner]
    assert sorted(map(lost.count, set(lost)))[-1] == 2, "whoever has lost two matches is out"
    assert len(lost) in (2 * count - 2, 2 * count - 1)


def test_the_unbeaten_stand_above_those_with_a_loss() -> None:
    event = play_round(play_round(double(8), better_wins), better_wins)
    svg = branches_svg(event, branch_matches(event, replays=2))
    texts = {str(text.text): float(text.get("y", "")) for text in ElementTree.fromstring(svg).iter(f"{SVG}text")}
    assert texts["Unbeaten"] < texts["bot-1"] < texts["With one loss"] < texts["bot-8"]


def test_a_picture_in_a_page_leads_to_its_matches() -> None:
    event = play_round(double(4), better_wins)
    pairs = [(1, *game.pair) for game in event.rounds[0].games]
    svg = bracket_of(event, {pair: f"/game/{at}?a=1&b=2" for at, pair in enumerate(pairs)})
    assert svg is not None
    root = ElementTree.fromstring(svg)
    assert [link.get("href") for link in root.iter("a")] == ["/game/0?a=1&b=2", "/game/1?a=1&b=2"]
    assert {title.text for title in root.iter("title")} == {"bot-1 1 against bot-4 0", "bot-2 1 against bot-3 0"}
    assert "xmlns" not in svg, "it is a part of a page"
    assert root.get("role") == "group"


def test_other_systems_have_no_bracket_and_none_is_there_before_the_first_round() -> None:
    assert bracket_of(double(4)) is None
    assert bracket_of(Event(system="cup", entrants=entrants([None] * 4))) is None
    swiss = play_round(Event(system="dutch", entrants=entrants([2000.0] * 4)), better_wins)
    assert bracket_of(swiss) is None
