"""What speaks against a pair besides the method's own objective: what forbids it, what has to give way first, what
merely costs something.

Hard: a version never meets itself, nor one that it must be kept apart from. A **barrier** forbids a pair until one of
the two has waited for `patience`; then barriers give way, the largest expected score first. A **cost** only makes a
pair less welcome. Must not know: how pairs are made, whose worth the costs are weighed against.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from cgos_server.core.pairing.base import Act, Bools, Floats, Ints


class Kin(enum.StrEnum):
    """Whether versions of one owner, or of one family, may meet."""

    FORBIDDEN = "forbidden"
    DISCOURAGED = "discouraged"
    FREE = "free"


class Barrier(enum.IntFlag):
    """Why a pair is not made while both can still wait. The larger the number, the later it gives way; two barriers at
    once give way after either alone."""

    EXPECTED = 1
    """The expected score is too one-sided."""
    OFTEN = 2
    """Too many of the last games of one of them were against the other."""
    LAST = 4
    """One was the other's last opponent."""
    KIN = 8
    """Same owner or family, where that is discouraged."""
    AVOID = 16
    """One's owner would rather not meet the other."""


@dataclass(frozen=True, slots=True)
class Constraints:
    """A venue's wishes about pairs. Costs are in bits, the unit of what a game can tell at most.

    :ivar same_owner: versions of one owner
    :ivar same_family: versions of one family
    :ivar avoid_last: whether a version is kept from its last opponent while a third is connected
    :ivar repeat_most: games against one opponent among the last `repeat_last` of either; in a small pool so many more
        that twice an even share is allowed
    :ivar repeat_last: how many last games are looked at
    :ivar max_expected: largest expected score, 0.5 to 1 (1: no limit)
    :ivar patience: microseconds of waiting after which barriers give way
    :ivar colour_cost: bits that a pair costs in which both are owed the same colour
    :ivar anchor_cost: bits that a pair of anchors costs
    :ivar newcomer_cost: bits that a pair of provisional versions costs while there are well-known ones to meet
    :ivar repeat_cost: share of a game's worth that each recent meeting of the two takes away
    """

    same_owner: Kin = Kin.FORBIDDEN
    same_family: Kin = Kin.DISCOURAGED
    avoid_last: bool = True
    repeat_most: int = 10
    repeat_last: int = 100
    max_expected: float = 1.0
    patience: int = 10_000_000
    colour_cost: float = 0.05
    anchor_cost: float = 0.2
    newcomer_cost: float = 0.1
    repeat_cost: float = 0.0


FREE = Constraints(
    same_owner=Kin.FREE, same_family=Kin.FREE, avoid_last=False, repeat_most=1_000_000, colour_cost=0.0, anchor_cost=0.0,
    newcomer_cost=0.0,
)  # fmt: skip
"""Nothing but what is hard."""


class Judge:
    """The constraints applied to one act.

    Indices are places in ``act.candidates``. Pairs come as two arrays of the same length, so that a method that looks
    at few pairs of many versions pays for those only.
    """

    def __init__(self, constraints: Constraints, act: Act) -> None:
        self.constraints = constraints
        self.act = act
        raise NotImplementedError

    def possible(self, i: Ints, j: Ints) -> Bools:
        """(m,) False where a pair is forbidden for good."""
        raise NotImplementedError

    def barriers(self, i: Ints, j: Ints) -> Ints:
        """(m,) the :class:`Barrier` flags of each pair, whether anybody has lost patience or not."""
        raise NotImplementedError

    def open(self, i: Ints, j: Ints) -> Bools:
        """(m,) True where a pair may be made now: possible, and without a barrier or one of the two out of patience."""
        raise NotImplementedError

    def costs(self, i: Ints, j: Ints) -> Floats:
        """(m,) what speaks against each pair, in bits; never negative."""
        raise NotImplementedError

    def impatient(self, i: int) -> bool:
        """True once the version has waited so long that barriers give way for it."""
        raise NotImplementedError

    def say(self, i: int, j: int) -> str:
        """What gave way for this pair, as a sentence; empty where nothing did."""
        raise NotImplementedError
