"""What a bot's page counts: expected points, colors, spoilt games, time signed in."""

from __future__ import annotations

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_server.service import bot_figures as figures


class Met(NamedTuple):
    opponent: str
    as_black: int
    as_white: int
    with_result: int


class Verdict(NamedTuple):
    color: str
    reason: str
    outcome: str
    games: int


class Presence(NamedTuple):
    venue: str
    opened_at: int
    closed_at: int | None


def test_what_games_promise_by_their_results() -> None:
    known = {"me": 1800.0, "x": 1800.0}
    rows = [Met("x", 3, 1, 3), Met("y", 1, 1, 2)]
    ((_, faced), (_, unknown)) = figures.opponents_with_expectation("me", rows, known.get, None)
    assert faced == (0.5, 1.5), "of a game, and of the three that have a result"
    assert unknown == (None, None)


def test_colors_and_what_was_spoilt() -> None:
    rows = [
        Verdict("black", "score", "won", 6),
        Verdict("black", "time", "lost", 2),
        Verdict("white", "time", "won", 4),
        Verdict("white", "score", "drawn", 4),
        Verdict("white", "void", "none", 4),
    ]
    split = figures.color_split(rows)
    assert split["black"] == (6, 2, 0, 0)
    assert split["black"].score == 0.75
    assert split["white"].score == 0.75
    assert figures.color_split([])["white"].score is None
    rates = figures.rates(rows)
    assert rates["time"] == (2, 20)
    assert rates["time"].rate == 0.1
    assert rates["illegal move"].games == 0
    assert figures.rates([])["forfeit"].rate == 0.0


def test_time_signed_in_is_counted_once() -> None:
    both = [Presence("a", 0, 50), Presence("b", 25, 75)]
    assert figures.uptime(both, 0, 100) == 0.75
    assert figures.uptime([Presence("a", 90, None)], 0, 100) == pytest.approx(0.1)
    # A crash hid the first one's end: it was over when the next one began.
    assert figures.uptime([Presence("a", 0, None), Presence("a", 40, 60)], 0, 100) == pytest.approx(0.6)
    assert figures.uptime([], 0, 100) == 0.0
    assert figures.uptime(both, 100, 100) == 0.0


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.integers(-50, 150), st.none() | st.integers(0, 80)), max_size=12),
    st.integers(0, 40),
    st.integers(50, 100),
)
def test_uptime_is_what_counting_gives(drawn: list[tuple[str, int, int | None]], since: int, until: int) -> None:
    rows = [Presence(venue, at, None if length is None else at + length) for venue, at, length in drawn]
    covered: set[int] = set()
    for venue in "ab":
        here = sorted((row for row in rows if row.venue == venue), key=lambda row: row.opened_at)
        for at, row in enumerate(here):
            end = row.closed_at
            if end is None:
                end = here[at + 1].opened_at if at + 1 < len(here) else until
            covered.update(range(max(row.opened_at, since), min(end, until)))
    assert figures.uptime(rows, since, until) == pytest.approx(len(covered) / (until - since))
