"""The server's matchmakers in a simulation: one pass a round, fed with what a server would know.

Colors, strengths and results are the caller's.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import numpy as np
from numpy.random import Generator

from cgos_protocol.ids import VersionId
from cgos_server.core.pairing.base import Candidate, Knowledge, PairingPass
from cgos_server.core.pairing.constraints import Constraints
from cgos_server.core.pairing.memory import Memory
from cgos_server.core.pairing.registry import METHODS as MATCHMAKERS
from cgos_server.core.pairing.registry import matchmaker
from cgos_server.core.rating.posterior_fold import PosteriorFold
from cgos_server.core.venue import Policy
from cgos_server.lab.ratings.runs import Driven

METHODS: Final[Mapping[str, tuple[str, Mapping[str, Any]]]] = MappingProxyType(
    {
        "information": ("information", {}),
        "permuted": ("permuted", {}),
        "birk, half": ("birk", {"formula": "half"}),
        "birk, fifth": ("birk", {"formula": "fifth"}),
        "birk, sqrt": ("birk", {"formula": "sqrt"}),
        "birk, one": ("birk", {"formula": "one"}),
        "entropy": ("entropy", {}),
        "entropy, venue": ("entropy", {"model": "venue"}),
        "expected-change": ("expected-change", {}),
        "adjacent": ("adjacent", {}),
        "random": ("random", {}),
    }
)
"""Row -> method and its options; constraints are the defaults of a venue."""


def uses_knowledge(method: str) -> bool:
    """Whether a matchmaker may look at what is known of several versions together, which is costly to compute."""
    return method in ("information", "entropy") or method not in MATCHMAKERS


class Rounds:
    """One matchmaker of a venue with the barrier policy, and its memory of the games.

    :param name: the word in configuration
    """

    def __init__(self, name: str, options: Mapping[str, Any], rng: Generator) -> None:
        self._matchmaker = matchmaker(name, options)
        self._knowing = uses_knowledge(name)
        self._rng = random.Random(int(rng.integers(2**63)))
        self._memory = Memory(Constraints().repeat_last, {}, {}, {})
        self._rounds = 0
        self._sat_out: dict[VersionId, tuple[int, int]] = {}

    def pairs(self, driven: Driven) -> list[tuple[int, int]]:
        """Who meets whom in the next round of all versions."""
        pairing_pass = self._pairing_pass(driven)
        pairing = self._matchmaker.pair(pairing_pass, self._rng)
        self._rounds += 1
        self._sat_out = {
            version: (self._sat_out.get(version, (0, 0))[0] + 1, self._rounds) for version in pairing.sits_out
        }
        return [(pair.high, pair.low) for pair in pairing.pairs]

    def began(self, first: int, second: int) -> None:
        """A game of these two begins."""
        self._memory.began(VersionId(first), VersionId(second), {})

    def _pairing_pass(self, driven: Driven) -> PairingPass:
        memory, versions = self._memory, [VersionId(number) for number in range(driven.versions)]
        standings = driven.system.standings(driven.state)
        candidates = []
        for version in versions:
            shown = standings[version]
            sat_out, last_sit_out = self._sat_out.get(version, (0, None))
            candidates.append(
                Candidate(
                    id=version,
                    name=f"bot {version}",
                    rating=shown.mean,
                    sat_out=sat_out,
                    last_sit_out=last_sit_out,
                    last_opponent=memory.last_opponent(version),
                    sd=shown.spread if driven.system.sure else 0.0,
                    games=shown.games,
                    anchor=shown.anchor,
                    provisional=shown.provisional,
                    balance=memory.balance(version),
                    recent=memory.remembered(version),
                )
            )
        met = sorted({pair for version in versions for pair in memory.met(version, versions)})
        return PairingPass(
            candidates=candidates,
            meetings=[memory.meeting(*pair) for pair in met],
            knowledge=knowledge(driven, versions) if self._knowing else None,
            policy=Policy.BARRIER,
        )


def knowledge(driven: Driven, versions: Sequence[VersionId]) -> Knowledge | None:
    """What a rating system knows of these versions together; None where it knows each on its own only."""
    if not isinstance(driven.system, PosteriorFold):
        return None
    joint = driven.system.joint(driven.state, versions)
    # As a server records it: what is replayed is what was decided with.
    return Knowledge(*(np.asarray(part, dtype=np.float32).astype(np.float64) for part in joint))
