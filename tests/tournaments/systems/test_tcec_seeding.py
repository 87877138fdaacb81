"""TCEC's seeding: groups, distances, unknown ratings, lots."""

from __future__ import annotations

import pytest
from support.core.vectors import Vectors
from support.tournaments.events import entrants
from support.tournaments.lots import Scripted

from cgos_server.tournaments.base import Entrant
from cgos_server.tournaments.chance import Lots
from cgos_server.tournaments.systems.tcec_seeding import METHODS, dealt, seeded, strength_groups


def test_vectors(vectors: Vectors) -> None:
    for case in vectors("tcec_seeding")["cases"]:
        players, expected = case["players"], case["expected"]
        field = [Entrant(id=at, name=player["id"], rating=player["elo"]) for at, player in enumerate(players, 1)]
        groups = strength_groups(field, case["groups"])
        assert [len(group) for group in groups] == expected["group_sizes"]
        assert [[field[id_ - 1].name for id_ in group] for group in groups] == expected["group_members"]
        assert [field[id_ - 1].name for id_ in dealt(groups)] == expected["seed_order"]
        assert seeded(field, "group", case["groups"], Lots(0, 0)) == dealt(groups)


def test_equal_distance_is_dealing_from_half_as_many_groups() -> None:
    field = entrants([2900, 2800, 2700, 2600, 2500, 2400, 2300])
    assert seeded(field, "equal-distance", 1, Lots(0, 0)) == [1, 4, 6, 2, 5, 7, 3]
    assert seeded(entrants([2500]), "equal-distance", 1, Lots(0, 0)) == [1]
    assert seeded((), "equal-distance", 1, Lots(0, 0)) == []


@pytest.mark.parametrize("groups", [-3, 0, 1])
def test_too_few_groups_are_one(groups: int) -> None:
    field = entrants([2000, 2200, 2100])
    assert strength_groups(field, groups) == [[2, 3, 1]]


def test_too_many_groups_are_one_for_each() -> None:
    assert strength_groups(entrants([2000, 2200, 2100]), 9) == [[2], [3], [1]]


def test_unknown_ratings_are_the_lowest_in_the_order_of_registration() -> None:
    assert strength_groups(entrants([None, 10.0, None, -5.0]), 1) == [[2, 4, 1, 3]]


def test_by_lot_the_smallest_number_is_seed_one() -> None:
    drawn = Scripted({("seed", 1): 0.5, ("seed", 2): 0.9, ("seed", 3): 0.1})
    assert seeded(entrants([1, 2, 3]), "random", 1, drawn) == [3, 1, 2]


@pytest.mark.parametrize("method", METHODS)
def test_who_enters_late_comes_last(method: str) -> None:
    first = entrants([2000, 2500, 2200, 2100])
    late = (Entrant(id=9, name="late", rating=3000.0, joined=3), Entrant(id=5, name="later", rating=3100.0, joined=4))
    ids = seeded((*first, *late), method, 2, Lots(7, 0))
    assert ids[:4] == seeded(first, method, 2, Lots(7, 0))
    assert sorted(ids[:4]) == [1, 2, 3, 4]
    assert ids[4:] == [9, 5]
