"""Who sits out of an odd field, and what is said of it."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from support.tournaments.events import entrants

from cgos_protocol.errors import Refused
from cgos_server.tournaments.base import Bye, Event, Round
from cgos_server.tournaments.ledger import ledger
from cgos_server.tournaments.pairing.byes import odd_one_out, sit_out
from cgos_server.tournaments.pairing.rematches import can_be_paired, pair_of


def _event(count: int, byes: list[int], forbidden: tuple[tuple[int, int], ...] = ()) -> Event:
    """Everybody has as many byes as the list says."""
    rounds: list[Round] = []
    for id_, often in enumerate(byes, 1):
        rounds += [Round(number=len(rounds) + k, games=(), byes=(Bye(id_),)) for k in range(1, often + 1)]
    return Event(system="swiss", entrants=entrants([None] * count), rounds=tuple(rounds), forbidden=forbidden)


def test_an_even_field_plays() -> None:
    event = _event(4, [0, 0, 0, 1])
    out = sit_out(event, [3, 1, 4, 2], ledger(event))
    assert (out.byes, out.order, out.why) == ((), (3, 1, 4, 2), ())


def test_the_lowest_of_those_with_the_fewest() -> None:
    event = replace(_event(3, [0, 0, 1]), bye_points=1)
    out = sit_out(event, [3, 1, 2], ledger(event), "lowest rated")
    assert out.byes == (Bye(2, 1),)
    assert out.order == (3, 1)
    assert out.why == ("bot-2 sits out: the lowest rated of those with the fewest byes.",)


def test_another_one_where_forbidden_pairs_want_it() -> None:
    event = _event(3, [0, 0, 0], ((1, 2),))
    out = sit_out(event, [1, 2, 3], ledger(event))
    assert out.order == (1, 3)
    assert out.why == ("bot-2 sits out: with bot-3 out, forbidden pairs would leave others without opponents.",)


@given(
    st.sampled_from([1, 3, 5, 7]).flatmap(
        lambda n: st.tuples(
            st.lists(st.integers(0, 2), min_size=n, max_size=n),
            st.permutations(range(1, n + 1)),
            st.sets(st.sampled_from([*combinations(range(1, n + 1), 2), (1, n + 1)])),
        )
    )
)
def test_the_first_in_order_without_whom_the_others_can_be_paired(
    case: tuple[list[int], list[int], set[tuple[int, int]]],
) -> None:
    byes, places, forbidden = case
    lines = ledger(_event(len(byes), byes))
    order = sorted(places, key=lambda id_: (byes[id_ - 1], -places.index(id_)))
    could = [
        out
        for out in order
        if can_be_paired([id_ for id_ in places if id_ != out], lambda a, b: pair_of(a, b) in forbidden)
    ]
    if could:
        assert odd_one_out(places, lines, forbidden) == could[0]
    else:
        with pytest.raises(Refused, match="whoever sits out"):
            odd_one_out(places, lines, forbidden)
