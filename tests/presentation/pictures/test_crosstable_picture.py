"""The picture of a crosstable: well-formed, complete, told to the blind, and ordered in darkness as in results."""

from __future__ import annotations

import random
from collections import defaultdict
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace
from support.tournaments.events import better_wins, entrants, play

from cgos_server.presentation.pictures.crosstable_picture import crosstable_svg, figure, ink, shade
from cgos_server.presentation.pictures.svg import plain
from cgos_server.tournaments.base import BLACK_WINS, DRAWN, WHITE_WINS, Event, Game, Result
from cgos_server.tournaments.base import Round as Round_
from cgos_server.tournaments.standings.crosstable import Crosstable, Pair, crosstable
from cgos_server.tournaments.standings.tiebreaks import standings_by

SVG = "{http://www.w3.org/2000/svg}"


def all_meet(count: int, seed: int = 1, both: bool = False) -> Event:
    lots = random.Random(seed)
    results = [WHITE_WINS, BLACK_WINS, DRAWN]
    games = [Game(black=b, white=a, result=lots.choice(results)) for a in range(1, count + 1) for b in range(1, a)]
    games += [Game(black=game.white, white=game.black, result=lots.choice(results)) for game in games] if both else []
    return Event(
        system="round-robin",
        entrants=entrants([None] * count),
        name="All meet",
        rounds=(Round_(number=1, games=tuple(games)),),
    )


def table_of(event: Event) -> Crosstable:
    return crosstable(event, standings_by(event, ("points", "seed")))


def pair(points: int, games: int, text: str) -> Pair:
    return Pair(row=1, column=2, points=points, games=games, text=text)


def texts(svg: str) -> list[str]:
    return ["".join(element.itertext()) for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize("count", [0, 1, 2, 8, 45, 100])
def test_every_result_stands_in_it(count: int) -> None:
    table = table_of(all_meet(count))
    svg = crosstable_svg(table)
    root = ElementTree.fromstring(svg)
    figures = root.findall(f"{SVG}g")[4]
    by_row: defaultdict[float, list[tuple[float, str]]] = defaultdict(list)
    for element in figures:
        places = map(float, element.get("x", "").split())
        by_row[float(element.get("y", ""))] += zip(places, "".join(element.itertext()), strict=True)
    shown = ["".join(mark for _, mark in sorted(row)) for _, row in sorted(by_row.items())]
    wanted = ["".join(str(mark) for mark in row[2 : 2 + count]) for row in table.matrix_text]
    assert shown == [row.replace("*", "").replace("=", "½") for row in wanted if row != "*"]
    squares = sum((path.get("d") or "").count("z") for path in root.iter(f"{SVG}path"))
    assert squares == count * count
    assert len(svg) < 900_000


def test_it_is_told_to_those_who_cannot_see_it() -> None:
    event = replace(all_meet(3), name='Cup <of> "Go" & more\x00')
    root = ElementTree.fromstring(crosstable_svg(table_of(event)))
    assert root.get("role") == "img"
    ids = (root.get("aria-labelledby") or "").split()
    answer = {element.get("id"): element.text for element in root}
    assert answer[ids[0]] == 'Cup <of> "Go" & more?'
    assert "3 entrants" in str(answer[ids[1]])


def test_hostile_and_long_names() -> None:
    names = ("</text><script>alert(1)</script>", "a" * 200, "\ud800\x1b[31m", "白 & 黒")
    event = all_meet(4)
    event = replace(
        event, entrants=tuple(replace(entrant, name=name) for entrant, name in zip(event.entrants, names, strict=True))
    )
    svg = crosstable_svg(table_of(event))
    svg.encode()
    assert "<script" not in svg
    assert any("a" * 26 + "…" in text for text in texts(svg))
    assert any("白 & 黒" in text for text in texts(svg))
    assert plain("\ud800<") == "?&lt;"


def test_the_better_the_darker() -> None:
    light = [sum(int(shade(at / 16)[part : part + 2], 16) for part in (1, 3, 5)) for at in range(17)]
    assert light == sorted(light, reverse=True)
    assert len(set(light)) == 17
    assert shade(-1.0) == shade(0.0)
    assert shade(2.0) == shade(1.0)


def luminance(color: str) -> float:
    """Relative luminance (WCAG 2)."""
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_figures_can_be_read_on_every_color() -> None:
    for at in range(17):
        low, high = sorted((luminance(shade(at / 16)), luminance(ink(at / 16))))
        assert (high + 0.05) / (low + 0.05) > 4.5, at


def test_the_row_won_where_it_is_dark() -> None:
    event = Event(
        system="swiss",
        entrants=entrants([None] * 2),
        rounds=(Round_(number=1, games=(Game(black=2, white=1, result=WHITE_WINS),)),),
    )
    root = ElementTree.fromstring(crosstable_svg(table_of(event)))
    corners = {path.get("fill"): str(path.get("d"))[1:].split("h")[0] for path in root.iter(f"{SVG}path")}
    won, lost = (tuple(map(int, corners[shade(share)].split())) for share in (1.0, 0.0))
    assert won[0] > lost[0]  # the first row's second column
    assert won[1] < lost[1]


def test_figures() -> None:
    assert [figure(pair(1, 1, text)) for text in "1=0+-?x"] == ["1", "½", "0", "+", "-", "?", "x"]
    assert figure(pair(3, 2, "1=")) == "1½/2"
    assert figure(pair(1, 2, "=0")) == "½/2"
    assert figure(pair(0, 0, "x?")) == "?"
    assert figure(pair(0, 0, "xx")) == "x"


def test_open_forfeited_and_unmet() -> None:
    games = (Game(black=2, white=1), Game(black=4, white=3, result=Result(0, 2, "forfeit")))
    event = Event(system="swiss", entrants=entrants([None] * 4), rounds=(Round_(number=1, games=games),))
    svg = crosstable_svg(table_of(event))
    shown = texts(svg)
    assert [shown.count(mark) for mark in "?+-"] == [3, 1, 1]  # one question mark is in the legend
    squares = sum((path.get("d") or "").count("z") for path in ElementTree.fromstring(svg).iter(f"{SVG}path"))
    assert squares == 4 + 4


def test_double_rounds_show_points_and_games() -> None:
    event = all_meet(6, both=True)
    wanted = sorted(figure(pair) for pair in table_of(event).pairs if len(figure(pair)) > 1)
    assert wanted
    assert sorted(text for text in texts(crosstable_svg(table_of(event))) if text.endswith("/2")) == wanted


def test_cells_of_a_picture_in_a_page_lead_where_they_are_told_to() -> None:
    event = play(Event(system="round-robin", entrants=entrants([None] * 3), name='A "cup"'), better_wins)
    table = table_of(event)
    svg = crosstable_svg(table, {(1, 2): "/game/1", (2, 1): "/game/1"})
    root = ElementTree.fromstring(svg)
    assert [link.get("href") for link in root.iter("a")] == ["/game/1", "/game/1"]
    assert [title.text for title in root.iter("title")] == ["bot-1 against bot-2: 1", "bot-2 against bot-1: 0"]
    assert str(root.get("aria-label")).startswith('A "cup". Rows and columns are 3 entrants')
    assert "<a " not in crosstable_svg(table), "one that stands alone leads nowhere"
