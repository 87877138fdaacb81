"""The server's matchmakers by rounds: what they are told of who sat out."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cgos_server.lab.ratings.matchmakers import Rounds
from cgos_server.lab.ratings.runs import Driven


@pytest.mark.parametrize("name", ["birk", "permuted", "adjacent", "random", "entropy", "information"])
def test_in_an_odd_pool_nobody_sits_out_twice_running(name: str) -> None:
    driven = Driven("cgos-elo")
    for _ in range(7):
        driven.enter()
    rounds = Rounds(name, {}, np.random.default_rng(1))
    out = []
    for _ in range(21):
        pairs = rounds.pairs(driven)
        out.append(set(range(7)).difference(*pairs))
        for first, second in pairs:
            rounds.began(first, second)
    assert all(len(each) == 1 for each in out)
    assert all(one != other for one, other in itertools.pairwise(out))
