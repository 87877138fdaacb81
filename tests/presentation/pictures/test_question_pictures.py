"""Pictures of a question: what lies where, and what they say to people who cannot see them."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.pages.question_picture import picture
from benchmarks.reporting import ROOT
from cgos_server.presentation.pictures.question_pictures import (
    WIDTH,
    counts_svg,
    elo_svg,
    interval_words,
    llr_svg,
    signed,
)

NUMBERS = st.one_of(st.none(), st.floats(-900, 900))


def bounds(picture: ET.Element) -> dict[str, float]:
    """Where the two bounds are drawn, from above."""
    return {
        (each.get("class") or "").split()[0]: float((each.get("d") or "").split()[1].split("H")[0])
        for each in picture
        if (each.get("class") or "").endswith(" bound")
    }


def points(picture: ET.Element) -> list[tuple[float, float]]:
    (line,) = (each for each in picture if each.get("class") == "course")
    places = (line.get("d") or "")[1:].split("L")
    return [(float(x), float(y)) for x, y in (place.split() for place in places)]


@settings(max_examples=30)
@given(st.lists(st.floats(-8, 8), min_size=1, max_size=60))
def test_the_ratio_lies_between_its_bounds_as_the_picture_shows_it(ratios: list[float]) -> None:
    path = list(enumerate([0.0, *ratios]))
    picture = ET.fromstring(llr_svg(path, -2.94, 2.94))
    at = bounds(picture)
    assert at["accepts"] < at["rejects"]
    drawn = points(picture)
    assert [x for x, _ in drawn] == sorted(x for x, _ in drawn)
    for (_, llr), (x, y) in zip(path, drawn, strict=True):
        assert 0 <= x <= WIDTH
        assert (y > at["accepts"] + 0.2) <= (llr < 2.94)
        assert (y < at["rejects"] - 0.2) <= (llr > -2.94)


def test_it_says_what_it_shows_and_stands_alone_with_its_title() -> None:
    path = [(0, 0.0), (140, -1.5)]
    alone = ET.fromstring(llr_svg(path, -2.944, 2.944, title="Is <B> stronger?", inline=False))
    texts = ["".join(each.itertext()) for each in alone]
    assert texts[0] == "Is <B> stronger?"
    assert texts[1].startswith("After 140 pairs the log-likelihood ratio is −1.50.")
    assert {"accepted at 2.94", "rejected at −2.94", "100 pairs"} <= set(texts)
    part = ET.fromstring(llr_svg(path, -2.944, 2.944))
    assert "After 140 pairs" in (part.get("aria-label") or "")


def test_the_picture_of_the_documentation_is_drawn_so() -> None:
    assert picture() == (ROOT / "docs" / "images" / "question.svg").read_text("utf-8")


def test_a_test_without_a_pair_is_drawn() -> None:
    assert points(ET.fromstring(llr_svg([(0, 0.0)], -2.94, 2.94))) != []


@settings(max_examples=30)
@given(NUMBERS, NUMBERS, NUMBERS)
def test_an_interval_goes_as_far_as_it_is_known(value: float | None, one: float | None, other: float | None) -> None:
    lower, upper = (min(one, other), max(one, other)) if one is not None and other is not None else (one, other)
    picture = ET.fromstring(elo_svg(value, lower, upper))
    (bar,) = (each for each in picture if each.get("class") == "range")
    left, width = float(bar.get("x", "")), float(bar.get("width", ""))
    assert 0 <= left <= left + width <= WIDTH
    arrows = [each for each in picture if each.tag == "path" and each.get("class") == "at"]
    assert len(arrows) == [lower, upper].count(None)
    assert sum(each.tag == "circle" for each in picture) == (value is not None)


def test_counts_are_as_high_as_they_are_many() -> None:
    picture = ET.fromstring(counts_svg([0, 5, 20, 10, 1]))
    bars = [each for each in picture if (each.get("class") or "").startswith("cell")]
    heights = [float(bar.get("height", "")) for bar in bars]
    assert heights[2] == 2 * heights[3] == 4 * heights[1]
    assert "0 of 0, 5 of ½, 20 of 1, 10 of 1½, 1 of 2; 56 % were even" in (picture.get("aria-label") or "")
    assert ET.fromstring(counts_svg([0, 0, 0, 0, 0])) is not None


@pytest.mark.parametrize(
    ("lower", "upper", "words"),
    [(-3.0, 4.0, "−3.0 to 4.0"), (None, 4.0, "at most 4.0"), (-3.0, None, "at least −3.0"), (None, None, "any")],
)
def test_an_interval_in_words(lower: float | None, upper: float | None, words: str) -> None:
    assert interval_words(lower, upper) == words
    assert signed(-0.001, 2) == "0.00"
