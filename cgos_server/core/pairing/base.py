"""What the server may ask of any matchmaker: candidates in; pairs, who sits out and the reason out.

Randomness comes in as `rng`, of which only ``random()`` is called, so that a recorded seed replays a round for ever.
Must not know: storage, sessions, the clock on the wall.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol


class Rng(Protocol):
    """A source of randomness: floats uniform in [0, 1). ``random.Random(seed)`` is one."""

    def random(self) -> float: ...


class Candidate(NamedTuple):
    """A version that could play now.

    :ivar id: version id
    :ivar name: wire name, for the explanation
    :ivar rating: mean rating
    :ivar waited: microseconds since it became ready
    :ivar sat_out: sit-outs since its last game (0: none)
    :ivar last_sit_out: number of the act of pairing in which it last sat out since its last game, or None
    :ivar last_opponent: version id of its previous opponent in this venue, or None
    :ivar apart: version ids that it must never meet, whatever else gives way
    """

    id: int
    name: str
    rating: float
    waited: int = 0
    sat_out: int = 0
    last_sit_out: int | None = None
    last_opponent: int | None = None
    apart: tuple[int, ...] = ()


class Pair(NamedTuple):
    """Two versions, the higher ranked first, and the sentence that says why they meet."""

    high: int
    low: int
    reason: str
    detail: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Pairing:
    """What a matchmaker decided.

    :ivar pairs: in the order in which they were made
    :ivar sits_out: versions that stay unpaired, each with the sentence that says why
    :ivar notes: events worth keeping, such as a constraint that gave way
    """

    pairs: Sequence[Pair]
    sits_out: Mapping[int, str] = field(default_factory=dict)
    notes: Sequence[str] = ()


class Matchmaker(Protocol):
    """One method, built from its options."""

    @property
    def name(self) -> str:
        """The word in configuration and in the record of a round."""

    @property
    def options(self) -> Mapping[str, Any]:
        """All options in force, for the record."""

    def pair(self, candidates: Sequence[Candidate], rng: Rng) -> Pairing:
        """Pair `candidates` (ids are unique; order does not matter), nobody with a version that it must not meet."""
