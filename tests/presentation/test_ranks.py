"""How sure ranks are, in words."""

from __future__ import annotations

from typing import Any

import pytest

from cgos_protocol.api.messages import RankGroup, RankSummary, Standing
from cgos_server.presentation.ranks import Alike, alike, interval, odds, percent, sentences


def row(**fields: Any) -> Standing:
    return Standing(
        rank=1,
        version="a",
        mean=2000.0,
        half_width=40.0,
        spread=20.0,
        games=9,
        provisional=False,
        anchor=False,
        last_game=None,
        last_game_at=None,
        seq=1,
        **fields,
    )


def summary(*groups: tuple[str, str, int], versions: int = 5, apart: int = 1, turned: int | None = 3) -> RankSummary:
    return RankSummary(
        refit=1,
        leader="a",
        versions=versions,
        neighbors=versions - 1,
        apart=apart,
        turned=turned,
        groups=[RankGroup(first=first, last=last, versions=size) for first, last, size in groups],
    )


@pytest.mark.parametrize(
    ("ends", "short", "long"),
    [
        ((2, 5), "2–5", "2 to 5 with 95 %; the best with 12 %, among the first three with 71 %"),
        ((3, 3), "3", "3 with 95 %; the best with 12 %, among the first three with 71 %"),
    ],
)
def test_a_rank_says_how_sure_it_is(ends: tuple[int, int], short: str, long: str) -> None:
    standing = row(rank_lower=ends[0], rank_upper=ends[1], best=0.12, first_three=0.708)
    assert (interval(standing), odds(standing)) == (short, long)


def test_of_others_nothing_is_said() -> None:
    assert (interval(row()), odds(row())) == ("", "")


@pytest.mark.parametrize(
    ("share", "words"),
    [(0.0, "under 1 %"), (0.0099, "under 1 %"), (0.01, "1 %"), (0.99, "99 %"), (0.9999, "over 99 %")],
)
def test_nothing_is_said_to_be_certain(share: float, words: str) -> None:
    assert percent(share) == words


def test_runs_say_from_whom_each_cannot_be_told_apart() -> None:
    marks = alike(summary(("a", "c", 3), ("b", "d", 3)), ["a", "b", "c", "d", "e"])
    assert marks == {
        "a": Alike(1, 3, False),
        "b": Alike(1, 4, False),
        "c": Alike(1, 4, False),
        "d": Alike(2, 4, True),
        "e": Alike(5, 5, False),
    }


def test_a_run_whose_ends_are_gone_says_nothing() -> None:
    assert alike(summary(("a", "gone", 3)), ["a", "b"]) == {"a": Alike(1, 1, True), "b": Alike(2, 2, False)}


def test_standings_say_how_sure_they_are() -> None:
    assert sentences(summary(("b", "e", 4))) == [
        "Of 4 pairs of neighbors 1 has an order that is known with 95 % one-sided (25 %).",
        "3 results turned round would put another than a first.",
        "These cannot be told apart: b to e (4).",
    ]


def test_the_plural_goes_with_its_number() -> None:
    assert sentences(summary(versions=2, apart=0, turned=1)) == [
        "Of 1 pair of neighbors 0 have an order that is known with 95 % one-sided (0 %).",
        "1 result turned round would put another than a first.",
    ]


def test_many_runs_are_counted_and_many_results_are_not() -> None:
    lines = sentences(summary(*((f"a{at}", f"b{at}", 2) for at in range(7)), turned=51))
    assert lines[1] == "More than 50 results turned round would put another than a first."
    assert lines[2].endswith("a4 to b4 (2), and 2 more such runs of neighbors.")


def test_one_alone_needs_no_words() -> None:
    assert sentences(summary(versions=1, apart=0, turned=None)) == []
