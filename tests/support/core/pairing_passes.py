"""Pairing passes, for hypothesis: few versions, everything that a constraint may look at."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from cgos_server.core.pairing.base import Candidate, Meeting, Pairing, PairingPass
from cgos_server.core.pairing.constraints import Constraints, Kin
from cgos_server.core.pairing.rolling import Waiting
from cgos_server.core.venue import Policy


def pairing_pass_of(size: int, seed: int, policy: Policy, bound: bool = True) -> PairingPass:
    """Versions 1 to `size` in some order, of few ratings, so that ties are common; no Knowledge.

    :param bound: whether versions may have owners, and others whom they must not or would rather not meet
    """
    rng = random.Random(seed)
    ids = list(range(1, size + 1))

    def others(me: int) -> tuple[int, ...]:
        number = rng.choice((0, 0, 1, 3)) if bound else 0
        return tuple(sorted({rng.randint(1, size + 2) for _ in range(number)} - {me}))

    candidates = [
        Candidate(
            me,
            f"bot-{me}",
            rng.randint(-3, 8) * 100.0,
            waited=rng.choice((0, 1, 2_000_000, 9_999_999, 10_000_000, 400_000_000)),
            sat_out=rng.choice((0, 0, 3, 10, 25)),
            last_sit_out=rng.choice((None, 1, 2, 9)),
            last_opponent=rng.choice([None, size + 1, *(other for other in ids if other != me)]),
            apart=others(me),
            sd=rng.choice((0.0, 60.0, 300.0)),
            games=rng.randint(0, 200),
            anchor=rng.random() < 0.3,
            provisional=rng.random() < 0.5,
            balance=rng.randint(-9, 9),
            owner=rng.randint(0, 4) if bound else 0,
            family=rng.randint(0, 4),
            avoid=others(me),
            recent=rng.randint(0, 120),
            pace=rng.random(),
            paced=rng.random() - 0.5,
        )
        for me in rng.sample(ids, size)
    ]
    pairs = [(a, b) for a in ids for b in ids if a < b]
    meetings = [
        Meeting(*rng.sample(pair, 2), *(rng.randint(0, 30) for _ in range(4)), rng.randint(0, 9), rng.randint(0, 9))
        for pair in rng.sample(pairs, min(len(pairs), rng.randint(0, 12)))
    ]
    return PairingPass(
        candidates=candidates,
        meetings=meetings,
        policy=policy,
        connected=rng.randint(0, 40),
        flow=rng.choice((0.0, 0.05, 3.0)),
    )


def pairing_passes(
    least: int = 0, most: int = 13, policy: Policy | None = None, bound: bool = True
) -> st.SearchStrategy[PairingPass]:
    """Passes of `least` to `most` versions; see :func:`pairing_pass_of`. They shrink in size only."""
    policies = st.sampled_from(Policy) if policy is None else st.just(policy)
    return st.builds(pairing_pass_of, st.integers(least, most), st.integers(0, 2**32), policies, st.just(bound))


kin = st.sampled_from(Kin)
wishes = st.builds(
    Constraints,
    same_owner=kin,
    same_family=kin,
    avoid_last=st.booleans(),
    repeat_most=st.integers(1, 120),
    repeat_last=st.integers(1, 100),
    max_expected=st.sampled_from((0.51, 0.8, 0.95, 1.0)),
    patience=st.sampled_from((0, 5_000_000, 10_000_000)),
    repeat_cost=st.sampled_from((0.0, 0.1)),
)

waitings = st.builds(Waiting, pass_over=st.integers(1, 25), overdue=st.sampled_from((0.0, 0.5, 1.0, 2.5)))


def ids(pairing: Pairing) -> list[tuple[int, int]]:
    """(high, low) of each pair, in the order made."""
    return [(pair.high, pair.low) for pair in pairing.pairs]
