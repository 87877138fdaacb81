"""Versions whose strength changes under one name, and versions that never change: how many does the test notice?

Every version plays so many games against opponents from N(0, 120) about its first strength, whose ratings are known;
nothing is drawn. False alarms are counted over all looks; alarms after a change within 80 games of it, and over all
looks. Of those that are noticed: how many intervals of the rating since hold the strength after the change. The rows
with another mean of the opponents are lop-sided pairings.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Annotated, NamedTuple

import numpy as np

from benchmarks.reporting import program, table
from cgos_server.core.rating.breaks import (
    CALIBRATED,
    ELO,
    THRESHOLDS,
    Result,
    State,
    examine,
    find,
    look_at,
    looks,
    threshold,
)
from cgos_server.core.rating.since import strength_of

OPPONENTS_SD = 120.0
"""Elo."""

SOON = 80
"""Games after the change in which an alarm is soon."""

CHANGES = ((80, 200.0), (80, 300.0), (80, 100.0), (160, 200.0))
"""After how many games, and by how much, Elo."""

LOPSIDED = (0.0, 200.0, 400.0, 800.0)
"""Elo by which a version is stronger than its opponents on average."""


class Share(NamedTuple):
    """How many of so many versions, with its standard error."""

    share: float
    of: int

    def __str__(self) -> str:
        return f"{self.share:.4f} ± {sqrt(self.share * (1 - self.share) / max(self.of, 1)):.4f}"


def played(
    rng: np.random.Generator, games: int, after: int | None = None, change: float = 0.0, above: float = 0.0
) -> list[Result]:
    """The games of one version that is `above` its opponents, and stronger by `change` from game `after` on."""
    ahead = rng.normal(above, OPPONENTS_SD, games)
    true = ahead + np.where(np.arange(games) >= (games if after is None else after), change, 0.0)
    expected = 1.0 / (1.0 + np.exp(-ahead / ELO))
    scores = (rng.random(games) < 1.0 / (1.0 + np.exp(-true / ELO))).astype(float)
    rows = zip(scores.tolist(), expected.tolist(), (expected * (1.0 - expected)).tolist(), strict=True)
    return [Result(*row) for row in rows]


def alarm(results: Sequence[Result]) -> dict[State, int]:
    """At how many games a version first came to each state; one that it never came to is left out."""
    alarms: dict[State, int] = {}
    for games in map(look_at, range(looks(len(results)))):
        change = examine(results[:games])
        for state in THRESHOLDS:
            if change is not None and change.z >= threshold(state, games):
                alarms.setdefault(state, games)
    return alarms


def shares(alarms: Sequence[dict[State, int]], state: State, last: int) -> Share:
    """Of versions with these alarms, how many were in this state after game `last`."""
    return Share(sum(each.get(state, last + 1) <= last for each in alarms) / len(alarms), len(alarms))


def inside(lives: Sequence[Sequence[Result]], change: float) -> Share:
    """How many intervals of the rating since hold the strength after the change, of those versions that are noticed."""
    held = []
    for results in lives:
        noticed = find(results)
        if noticed is not None:
            later = results[noticed.change.at :]
            shown = strength_of(later, [0] * len(later), rating=0.0, spreads={0: 0.0}, pool=[0.0])
            held.append(shown.lower < change < shown.upper)
    return Share(sum(held) / max(len(held), 1), len(held))


def false_alarms(rng: np.random.Generator, never: int, games: int) -> list[list[str]]:
    """By how far versions stand above their opponents, the share that comes to each state."""
    rows = []
    for above in LOPSIDED:
        alarms = [alarm(played(rng, games, above=above)) for _ in range(never)]
        rows.append([f"{above:+.0f}", *(str(shares(alarms, state, games)) for state in THRESHOLDS)])
    return rows


def detections(rng: np.random.Generator, changing: int, games: int) -> list[list[str]]:
    """By change, the share that comes to each state within `SOON` games of it, and by the last game."""
    rows = []
    for after, change in CHANGES:
        lives = [played(rng, games, after, change) for _ in range(changing)]
        alarms = [alarm(results) for results in lives]
        noticed = [shares(alarms, state, last) for state in THRESHOLDS for last in (after + SOON, games)]
        rows.append([f"{change:+.0f} at {after}", *map(str, noticed), str(inside(lives, change))])
    return rows


def run(
    never: Annotated[int, "versions that never change"] = 4000,
    changing: Annotated[int, "versions with each change"] = 1000,
    games: Annotated[int, "games of each version"] = CALIBRATED,
    seed: int = 1,
) -> dict[str, object]:
    """False alarms and detections."""
    rng = np.random.default_rng(seed)
    never_changed, changed = false_alarms(rng, never, games), detections(rng, changing, games)
    columns = ["Elo above opponents", *(f"{state}, from {least}" for state, least in THRESHOLDS.items())]
    print(table(f"{never} versions that never change: alarms in {games} games", columns, never_changed))
    columns = ["change", *(f"{state}, {when}" for state in THRESHOLDS for when in (f"within {SOON}", f"by {games}"))]
    print(table(f"{changing} versions with each change: alarms", [*columns, "since: inside"], changed))
    return {"false alarms": never_changed, "detections": changed}


main = program(run, never=5, changing=5)

if __name__ == "__main__":
    main()
