"""A corrected game, repeated or not, leaves every system where the corrected results would have led it."""

from __future__ import annotations

from typing import Any

import pytest

from cgos_server.core.rating.base import Entry, Kind, Refitting
from cgos_server.core.rating.registry import SYSTEMS, rating_system

START = [Entry(version, Kind.ENTER, version, value=1800.0) for version in (1, 2, 3)]


def game(black: int, white: int, score2: int, repeat: bool = False) -> Entry:
    return Entry(0, Kind.GAME, None, black, white, score2, repeat=repeat)


def correction(black: int, white: int, was2: int | None, score2: int | None, repeat: bool = False) -> Entry:
    return Entry(0, Kind.CORRECTION, None, black, white, score2, was2=was2, repeat=repeat)


def folded(system: Any, entries: list[Entry]) -> Any:
    state = system.start()
    for seq, entry in enumerate([*START, *entries], 1):
        state, _ = system.fold(state, entry._replace(seq=seq))
    if isinstance(system, Refitting):
        state = system.install(state, system.refit(system.job(state, True)))
    return system.standings(state)


OTHERS = [game(1, 3, 2), game(3, 2, 0), game(2, 3, 2)]
FIRST, AGAIN = game(1, 2, 2), game(1, 2, 2, repeat=True)


@pytest.mark.parametrize("name", ["bayes", "whole-history"])
@pytest.mark.parametrize(
    ("entries", "the_same_as"),
    [
        # a repeat is not counted
        ([FIRST, AGAIN], [FIRST]),
        # voiding a repeat changes nothing
        ([FIRST, AGAIN, correction(1, 2, 2, None, repeat=True)], [FIRST]),
        # voiding the first lets its repeat count in its stead
        ([FIRST, AGAIN, correction(1, 2, 2, None), correction(1, 2, None, 2, repeat=True)], [FIRST]),
        # voiding a game that nobody repeated takes it back
        ([FIRST, correction(1, 2, 2, None)], []),
        # another verdict
        ([FIRST, correction(1, 2, 2, 0)], [game(1, 2, 0)]),
        # a repeat whose verdict is another is no repeat any more
        ([FIRST, AGAIN, correction(1, 2, 2, 0, repeat=True)], [FIRST, game(1, 2, 0)]),
        # a game without a result is given one
        ([correction(1, 2, None, 2)], [FIRST]),
    ],
)
def test_what_counts_repeats_once_comes_out_as_if_it_had_been_so(
    name: str, entries: list[Entry], the_same_as: list[Entry]
) -> None:
    system = rating_system(name, 1800.0, {})
    standings, wanted = folded(system, OTHERS + entries), folded(system, OTHERS + the_same_as)
    for version in (1, 2, 3):
        assert standings[version].mean == pytest.approx(wanted[version].mean, abs=1e-6)
        assert standings[version].spread == pytest.approx(wanted[version].spread, abs=1e-6)


@pytest.mark.parametrize("name", SYSTEMS)
def test_the_numbers_of_games_are_those_that_were_played_and_not_voided(name: str) -> None:
    system = rating_system(name, 1800.0, {})
    entries = [FIRST, AGAIN, correction(1, 2, 2, None), correction(1, 2, None, 2, repeat=True)]
    assert [folded(system, entries)[version].games for version in (1, 2, 3)] == [1, 1, 0]
    entries.append(correction(1, 2, 2, None))
    assert [folded(system, entries)[version].games for version in (1, 2, 3)] == [0, 0, 0]


@pytest.mark.parametrize("name", ["cgos-elo", "gor", "egf2021", "glicko2"])
def test_a_repeat_that_now_counts_was_counted_by_the_others_before(name: str) -> None:
    system = rating_system(name, 1800.0, {})
    entries = [FIRST, AGAIN]
    assert folded(system, [*entries, correction(1, 2, None, 2, repeat=True)]) == folded(system, entries)
