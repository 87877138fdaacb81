"""The board as a picture: well-formed, complete, and everything where it belongs."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.games.base import Color
from cgos_protocol.games.notation import vertex
from cgos_server.web.drawing.board_svg import CELL, Proposal, board_svg, small_board_svg, star_points

sizes = st.integers(2, 25)


def picture(
    size: int, stones: dict[str, Color], last: str | None = None, title: str = "t", text: str = "d"
) -> ET.Element:
    return ET.fromstring(board_svg(size, stones, last, title, text))


def circles(svg: ET.Element, name: str) -> set[tuple[float, float]]:
    return {(float(c.get("cx", "")), float(c.get("cy", ""))) for c in svg.iter("circle") if c.get("class") == name}


@given(st.data())
def test_stones_lie_on_crossings_of_their_own(data: st.DataObject) -> None:
    size = data.draw(sizes)
    points = [(column, row) for column in range(size) for row in range(size)]
    chosen = data.draw(st.dictionaries(st.sampled_from(points), st.sampled_from(Color), max_size=40))
    stones = {vertex(*point): color for point, color in chosen.items()}
    svg = picture(size, stones)
    edge = float(svg.get("viewBox", "").split()[2])
    margin = (edge - CELL * (size - 1)) / 2
    for color in Color:
        expected = {
            (margin + CELL * column, edge - margin - CELL * row) for (column, row), c in chosen.items() if c is color
        }
        assert circles(svg, color.letter) == expected


@given(sizes)
def test_every_line_has_its_name(size: int) -> None:
    texts = [text.text for text in picture(size, {}).iter("text")]
    assert sorted(texts) == sorted([*"ABCDEFGHJKLMNOPQRSTUVWXYZ"[:size], *map(str, range(1, size + 1))])


@given(sizes)
def test_what_is_written_stays_readable_on_many_lines(size: int) -> None:
    svg = picture(size, {})
    numbered = ET.fromstring(board_svg(size, {"A1": Color.BLACK}, None, "t", "d", numbers={"A1": 600}))
    edge = float(svg.get("viewBox", "").split()[2])
    for drawn, name in ((svg, "names"), (numbered, "numbers")):
        (letters,) = (float(g.get("font-size", "")) for g in drawn.iter("g") if g.get("class") == name)
        assert letters * 560 / edge >= 9, "as wide as a page shows it, in pixels"
        assert 3 * 0.6 * letters < CELL, "three digits fit on a stone"


def test_a_corner_is_where_players_expect_it() -> None:
    svg = picture(9, {"A1": Color.BLACK, "J9": Color.WHITE})
    ((left, bottom),) = circles(svg, "b")
    ((right, top),) = circles(svg, "w")
    assert left < right
    assert bottom > top


def test_the_last_move_is_marked_in_the_other_color() -> None:
    svg = picture(9, {"D4": Color.BLACK, "E5": Color.WHITE}, last="E5")
    (mark,) = [circle for circle in svg.iter("circle") if circle.get("class") == "last w"]
    ((x, y),) = circles(svg, "w")
    assert (float(mark.get("cx", "")), float(mark.get("cy", ""))) == (x, y)


@pytest.mark.parametrize("last", [None, "A1"])
def test_no_mark_without_a_stone(last: str | None) -> None:
    svg = picture(9, {"D4": Color.BLACK}, last)
    assert not [circle for circle in svg.iter("circle") if "last" in str(circle.get("class"))]


def test_words_for_people_who_cannot_see_it_are_escaped() -> None:
    svg = picture(5, {}, title='<b>&"', text="</desc><script>")
    title, text = svg.find("title"), svg.find("desc")
    assert title is not None
    assert text is not None
    assert (title.text, text.text) == ('<b>&"', "</desc><script>")
    assert svg.get("role") == "img"
    assert svg.get("aria-labelledby") == f"{title.get('id')} {text.get('id')}"


@pytest.mark.parametrize(
    ("size", "points"),
    [
        (5, set()),
        (7, {"C3", "C5", "E3", "E5"}),
        (8, {"C3", "C6", "F3", "F6"}),
        (9, {"C3", "C7", "G3", "G7", "E5"}),
        (13, {"D4", "D10", "K4", "K10", "G7"}),
        (19, {"D4", "D10", "D16", "K4", "K10", "K16", "Q4", "Q10", "Q16"}),
    ],
)
def test_star_points(size: int, points: set[str]) -> None:
    assert set(star_points(size)) == points


@given(sizes)
def test_nothing_is_styled_or_scripted_inline(size: int) -> None:
    for element in picture(size, {"A1": Color.BLACK}, "A1").iter():
        assert element.tag not in ("style", "script")
        assert not [key for key in element.attrib if key == "style" or key.startswith("on")]


def texts(svg: ET.Element, group: str) -> list[str | None]:
    element = next(part for part in svg.iter("g") if part.get("class") == group)
    return [text.text for text in element.iter("text")]


def test_numbers_stand_on_stones_only_and_replace_the_mark() -> None:
    stones = {"D4": Color.BLACK, "E5": Color.WHITE}
    svg = ET.fromstring(board_svg(9, stones, "E5", "t", "d", numbers={"D4": 1, "C3": 2, "E5": 3}))
    assert texts(svg, "numbers") == ["1", "3"]
    assert not [circle for circle in svg.iter("circle") if "last" in str(circle.get("class"))]


def test_proposals_are_shown_on_empty_points_only() -> None:
    proposals = [Proposal("D4", "A", "61"), Proposal("E5", "B", "<b>"), Proposal("PASS", "C", "3")]
    svg = ET.fromstring(board_svg(9, {"D4": Color.BLACK}, None, "t", "d", proposals=proposals))
    assert texts(svg, "proposals") == ["B", "<b>"]


@given(st.dictionaries(st.sampled_from(["A1", "C3", "E5"]), st.floats(-1, 1)))
def test_owners_are_drawn_where_they_are_sure(owners: dict[str, float]) -> None:
    svg = ET.fromstring(board_svg(5, {"A1": Color.BLACK}, None, "t", "d", owners=owners))
    squares = [square.get("class") for square in svg.iter("rect") if square.get("class") != "wood"]
    expected = [
        "b" if owner > 0 else "w"
        for name, owner in owners.items()
        if abs(owner) >= 0.08 and not (name == "A1" and owner > 0)
    ]
    assert squares == expected


@given(sizes)
def test_small_boards_have_no_names_and_the_same_points(size: int) -> None:
    svg = ET.fromstring(small_board_svg(size, {"A1": Color.BLACK}, "A1", "<one>"))
    assert svg.get("aria-label") == "<one>"
    assert list(svg.iter("text")) == []
    ((x, y),) = circles(svg, "b")
    margin = float(svg.get("data-margin", ""))
    assert (x, y) == (margin, margin + CELL * (size - 1))
