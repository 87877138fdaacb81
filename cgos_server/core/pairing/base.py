"""What the server may ask of any matchmaker: a pairing pass in; pairs, who sits out and the reason out.

A pass holds everything that a decision may depend on, as plain values, so that a recorded one replays for ever.
Randomness comes in as `rng`, of which only ``random()`` is called. Must not know: storage, sessions, the clock on the
wall.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cgos_protocol.catalog import Declaration
from cgos_protocol.ids import VersionId
from cgos_protocol.randomness import Rng
from cgos_server.core.venue import Policy

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


LOGIT = log(10.0) / 400.0
"""Units of the logistic function in a point of Elo."""


class Candidate(NamedTuple):
    """A version that could play now.

    A new field stands last, with a default that means "not known", so that records of older releases can be read.

    :ivar id: version id
    :ivar name: wire name, for the explanation
    :ivar rating: mean rating
    :ivar waited: microseconds since it became ready
    :ivar sat_out: sit-outs since its last game (0: none): pairing passes in which it was ready and others were paired
    :ivar last_sit_out: number of the pairing pass in which it last sat out since its last game, or None
    :ivar last_opponent: version id of its previous opponent in this venue, or None
    :ivar apart: version ids that it must never meet, whatever else gives way
    :ivar sd: standard deviation of the rating, 0 where it is not known
    :ivar games: rated games
    :ivar anchor: its rating is known in advance
    :ivar provisional: its rating is not well known yet
    :ivar balance: games as Black minus games as White, against anybody
    :ivar owner: versions with the same number belong to one owner; 0: to nobody
    :ivar family: versions with the same number are one engine; 0: of its own
    :ivar avoid: version ids that its owner would rather not meet
    :ivar recent: how many of its last games are remembered (see :class:`Meeting`)
    :ivar pace: how slow it plays among the connected versions: 0 the fastest, 1 the slowest
    :ivar paced: mean of (opponent's pace - 0.5) over its remembered games, newer ones weighing more; negative where it
        has met fast ones more than its share
    """

    id: VersionId
    name: str
    rating: float
    waited: int = 0
    sat_out: int = 0
    last_sit_out: int | None = None
    last_opponent: VersionId | None = None
    apart: tuple[VersionId, ...] = ()
    sd: float = 0.0
    games: int = 0
    anchor: bool = False
    provisional: bool = False
    balance: int = 0
    owner: int = 0
    family: int = 0
    avoid: tuple[VersionId, ...] = ()
    recent: int = 0
    pace: float = 0.5
    paced: float = 0.0


class Meeting(NamedTuple):
    """What two candidates have had with each other; pairs that never met are left out.

    :ivar a: version id
    :ivar b: version id of the other
    :ivar recent_a: games against b among the remembered last games of a
    :ivar recent_b: games against a among those of b
    :ivar black_a: games, of all, in which a was Black against b
    :ivar black_b: games, of all, in which b was Black against a
    :ivar lately_a: games against b among the last 10 of a
    :ivar lately_b: games against a among the last 10 of b
    """

    a: VersionId
    b: VersionId
    recent_a: int = 0
    recent_b: int = 0
    black_a: int = 0
    black_b: int = 0
    lately_a: int = 0
    lately_b: int = 0


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What a rating system knows of the candidates together, in their order. Only differences of versions are meant:
    from where the ratings are seen is the system's choice.

    :ivar covariance: (n, n) C of their ratings, Elo^2
    :ivar gram: (n, n) of G[i, j] = sum over the venue's versions k that are no anchors of C[i, k] C[j, k], Elo^4: by
        how much a result of i against j narrows everybody's rating is a quadratic form of it
    """

    covariance: Floats
    gram: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class PairingPass:
    """One pairing pass, before it is decided.

    :ivar candidates: who could play now; ids are unique, the order does not matter
    :ivar meetings: what they have had with each other
    :ivar knowledge: what is known of their ratings together; None: each on its own (`Candidate.sd`)
    :ivar policy: with BARRIER nobody is left unpaired for the sake of a better partner later
    :ivar connected: versions that are signed in and take games, those who play included; 0: as many as there are
        candidates
    :ivar flow: versions that become free a second while everybody plays: connected ones over the mean length of a
        game; 0 where it is not known
    """

    candidates: Sequence[Candidate]
    meetings: Sequence[Meeting] = ()
    knowledge: Knowledge | None = None
    policy: Policy = Policy.BARRIER
    connected: int = 0
    flow: float = 0.0

    @property
    def pool(self) -> int:
        """How many versions there are to meet, the candidate itself included."""
        return max(self.connected, len(self.candidates))


def of_difference(own: Floats, across: Floats | None, i: Ints, j: Ints) -> Floats:
    """(m,) a quadratic form of the differences of candidates, never negative: of their covariance the variances.

    :param own: (n,) the form's diagonal
    :param across: (n, n) the form; None: it is diagonal
    """
    form: Floats = own[i] + own[j]
    if across is not None:
        form -= 2.0 * across[i, j]
    return np.maximum(form, 0.0, out=form)


class Pair(NamedTuple):
    """Two versions, the higher ranked first, and the sentence that says why they meet.

    `detail` holds what the sentence was made of, for machines: JSON values only.
    """

    high: VersionId
    low: VersionId
    reason: str
    detail: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairing:
    """What a matchmaker decided.

    :ivar pairs: in the order in which they were made
    :ivar sits_out: versions that stay unpaired, each with the sentence that says why
    :ivar notes: events worth keeping, such as a constraint that gave way
    :ivar total: what the pairs are worth together by the method's own objective, in whole millionths; None for a method
        that has none. Where several optima tie, a replay finds this total and perhaps other pairs
    """

    pairs: Sequence[Pair]
    sits_out: Mapping[VersionId, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    total: int | None = None


class Matchmaker(Protocol):
    """One method, built from its options."""

    @property
    def name(self) -> str:
        """The word in configuration and in the record of a round."""

    @property
    def options(self) -> Mapping[str, Any]:
        """All options in force, the constraints among them, for the record: JSON values."""

    def pair(self, pairing_pass: PairingPass, rng: Rng) -> Pairing:
        """Pair the candidates, nobody with a version that it must not meet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchmakerDeclaration(Declaration):
    """A matchmaker. `make` takes besides its own options, by keyword, `constraints`
    (:class:`cgos_server.core.pairing.constraints.Constraints`) and `waiting`
    (:class:`cgos_server.core.pairing.rolling.Waiting`), whose options every matchmaker has.

    :ivar max_expected: the default of that constraint: largest expected score of a game, 0.51 to 1
    """

    max_expected: float = 1.0
