"""Acts of pairing, for hypothesis: few versions, everything that a constraint may look at."""

from __future__ import annotations

from hypothesis import strategies as st

from cgos_server.core.pairing.base import Act, Candidate, Meeting, Pairing
from cgos_server.core.pairing.constraints import Constraints, Kin
from cgos_server.core.venue import Policy


@st.composite
def acts(
    draw: st.DrawFn, least: int = 0, most: int = 13, policy: Policy | None = None, apart: bool = True
) -> Act:
    """Versions 1, 2, ... in any order, of few ratings, so that ties are common; no Knowledge."""
    size = draw(st.integers(least, most))
    ids = list(range(1, size + 1))
    others = st.sets(st.integers(1, size + 2), max_size=3)
    candidates = []
    for me in draw(st.permutations(ids)):
        keep = tuple(sorted(draw(others) - {me})) if apart else ()
        candidates.append(
            Candidate(
                me,
                f"bot-{me}",
                draw(st.integers(-3, 8)) * 100.0,
                waited=draw(st.sampled_from((0, 1, 2_000_000, 9_999_999, 10_000_000, 400_000_000))),
                sat_out=draw(st.integers(0, 25)),
                last_sit_out=draw(st.none() | st.integers(1, 9)),
                last_opponent=draw(st.none() | st.integers(1, size + 1).filter(lambda other, me=me: other != me)),  # type: ignore[misc]
                apart=keep,
                sd=draw(st.sampled_from((0.0, 60.0, 300.0))),
                anchor=draw(st.booleans()),
                provisional=draw(st.booleans()),
                balance=draw(st.integers(-9, 9)),
                owner=draw(st.integers(0, 3)) if apart else 0,
                family=draw(st.integers(0, 3)),
                avoid=tuple(sorted(draw(others) - {me})),
                recent=draw(st.integers(0, 120)),
                pace=draw(st.floats(0, 1)),
                paced=draw(st.floats(-0.5, 0.5)),
            )
        )
    pairs = [(a, b) for a in ids for b in ids if a < b]
    meetings = []
    for a, b in draw(st.lists(st.sampled_from(pairs), unique=True, max_size=12)) if pairs else ():
        one, other = draw(st.permutations((a, b)))
        counts = draw(st.tuples(*[st.integers(0, 30)] * 4))
        meetings.append(Meeting(one, other, *counts))
    return Act(
        candidates,
        meetings,
        policy=draw(st.sampled_from(Policy)) if policy is None else policy,
        connected=draw(st.integers(0, 40)),
        flow=draw(st.sampled_from((0.0, 0.05, 3.0))),
    )


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


def ids(pairing: Pairing) -> list[tuple[int, int]]:
    """(high, low) of each pair, in the order made."""
    return [(pair.high, pair.low) for pair in pairing.pairs]
