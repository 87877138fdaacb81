"""When a round is due, and the wait of two that have just met for a third."""

from __future__ import annotations

import pytest

from cgos_server.core.pairing.base import Candidate, Pair
from cgos_server.core.pairing.rolling import due, rematch_holds
from cgos_server.core.venue import Policy


@pytest.mark.parametrize(
    ("policy", "idle", "running", "expected"),
    [
        (Policy.ROLLING, 0, 0, False),
        (Policy.ROLLING, 1, 0, False),
        (Policy.ROLLING, 2, 0, True),
        (Policy.ROLLING, 2, 50, True),
        (Policy.BARRIER, 2, 0, True),
        (Policy.BARRIER, 1, 0, False),
        (Policy.BARRIER, 20, 1, False),
    ],
)
def test_due(policy: Policy, idle: int, running: int, expected: bool) -> None:
    assert due(policy, idle, running) is expected


def holds(
    *, waited: tuple[int, int] = (0, 0), last: tuple[int | None, int | None] = (2, 1), others: bool = True
) -> bool:
    candidates = {i: Candidate(i, f"bot-{i}", 0.0, waited[i - 1], last_opponent=last[i - 1]) for i in (1, 2)}
    return rematch_holds(Pair(1, 2, ""), candidates, 10, others)


def test_two_that_just_met_wait_for_a_third() -> None:
    assert holds()
    assert holds(waited=(9, 3))


@pytest.mark.parametrize("waited", [(10, 0), (0, 10), (99, 99)])
def test_the_longer_wait_of_the_two_counts(waited: tuple[int, int]) -> None:
    assert not holds(waited=waited)


def test_nobody_waits_for_a_third_that_is_not_connected() -> None:
    assert not holds(others=False)


@pytest.mark.parametrize("last", [(2, None), (None, 1), (2, 3), (3, 1), (None, None)])
def test_only_a_pair_in_which_each_met_the_other_last_waits(last: tuple[int | None, int | None]) -> None:
    assert not holds(last=last)
