"""Slots of brackets, drawn and read off the record."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tournaments.events import entrants

from cgos_protocol.errors import Refused
from cgos_server.tournaments.base import Bye, Event, Game, Round
from cgos_server.tournaments.systems.bracket import drawn, leaders, recorded, size_for, standard


def test_sizes() -> None:
    assert [size_for(n) for n in (1, 2, 3, 4, 5, 8, 9, 33)] == [1, 2, 4, 4, 8, 8, 16, 64]


@given(power=st.integers(0, 8))
def test_the_better_seeds_of_the_standard_bracket_meet_as_late_as_can_be(power: int) -> None:
    size = 1 << power
    slots = standard(size)
    assert sorted(slots) == list(range(1, size + 1))
    while len(slots) > 1:  # the better one of each match advances
        matches = list(zip(slots[::2], slots[1::2], strict=True))
        assert all(sum(seeds) == len(slots) + 1 for seeds in matches)
        slots = [min(seeds) for seeds in matches]
    assert slots == [1]


def test_the_standard_bracket_of_eight() -> None:
    assert standard(8) == [1, 8, 4, 5, 2, 7, 3, 6]


@given(n=st.integers(2, 33))
def test_the_first_pass_where_they_lead_to_seeds_that_are_absent(n: int) -> None:
    ids = list(range(1, n + 1))
    passing = sorted(leaders(n, True))[: size_for(n) - n]
    assert drawn(ids, True, passing) == tuple(seed if seed <= n else None for seed in standard(size_for(n)))


@given(n=st.integers(2, 20), is_standard=st.booleans(), data=st.data())
def test_what_was_drawn_can_be_read_off_the_first_round(n: int, is_standard: bool, data: st.DataObject) -> None:
    ids = data.draw(st.permutations(range(1, n + 1)))
    passing = data.draw(st.permutations(leaders(n, is_standard)))[: size_for(n) - n]
    slots = drawn(ids, is_standard, passing)
    assert sorted(slot for slot in slots if slot is not None) == sorted(ids)
    assert None not in slots[::2]
    matches = list(zip(slots[::2], slots[1::2], strict=True))
    games = tuple(
        Game(black=black, white=white) for white, black in data.draw(st.permutations(matches)) if black is not None
    )
    byes = tuple(Bye(first) for first, second in matches if first is not None and second is None)
    event = Event(system="cup", entrants=entrants([None] * n), rounds=(Round(number=1, games=games, byes=byes),))
    assert recorded(event, ids, is_standard) == slots


@pytest.mark.parametrize(("is_standard", "games"), [(True, ((1, 2), (3, 4))), (False, ((1, 3), (2, 4)))])
def test_a_first_round_of_another_bracket_is_refused(is_standard: bool, games: tuple[tuple[int, int], ...]) -> None:
    event = Event(
        system="cup",
        entrants=entrants([None] * 4),
        rounds=(Round(number=1, games=tuple(Game(black=black, white=white) for white, black in games)),),
    )
    with pytest.raises(Refused, match="not one of this bracket"):
        recorded(event, [1, 2, 3, 4], is_standard)
    assert recorded(event, [1, 2, 3, 4], not is_standard)
