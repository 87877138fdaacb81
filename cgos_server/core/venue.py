"""A venue: one pool in which ratings are comparable, as a value.

What the first game fixes for ever (game, size, komi, rules, time control) lies in ``rules`` and ``time``; the rest may
change between starts. Must not know: ports, sockets, storage.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from cgos_protocol.clock import TimeControl
from cgos_protocol.games.base import Ruleset
from cgos_protocol.ids import VenueId
from cgos_protocol.openings import OpeningSet
from cgos_protocol.terms import Terms


class Policy(enum.StrEnum):
    """When idle bots are paired."""

    ROLLING = "rolling"
    """Whoever is idle, every few seconds."""
    BARRIER = "barrier"
    """When the last game has ended (classic CGOS)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairingSettings:
    """How and when this venue pairs. Times in microseconds.

    :ivar method: a name known to :func:`cgos_server.core.pairing.registry.matchmaker`
    :ivar options: what is set otherwise than the method's defaults: its own options and the constraints
    :ivar interval: time between two pairing passes
    :ivar settle: pause between ``setup`` and the first ``genmove``; charged to nobody
    :ivar openings: what pairs of games may begin with
    :ivar openings_share: share of new pairs that get an opening where there are any
    :ivar suspend_after: games in a row that a version spoils before it is suspended; 0: never
    """

    policy: Policy = Policy.ROLLING
    method: str = "information"
    options: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    interval: int = 1_000_000
    settle: int = 1_000_000
    openings: OpeningSet = OpeningSet()  # noqa: RUF009 - frozen
    openings_share: float = 1.0
    suspend_after: int = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Venue:
    """One venue. Times in microseconds.

    :ivar id: the store's number for it
    :ivar name: the operator's word for it, unique on the server
    :ivar move_limit: plies after which the game is scored as it stands
    :ivar first_move_limit: time a side has for its own first move before the game is aborted, unrated
    :ivar ready_limit: time a bot has to answer ``gameover`` with ``ready`` before it is told that it is not paired
    :ivar return_grace: after a restart: how long the mover may stay away before his clock starts
    :ivar void_after: after a restart: how long both may stay away before the game is void
    :ivar rating: the headline system, by its word in :mod:`cgos_server.core.rating.registry`
    :ivar views: further systems, shown beside it
    :ivar rating_options: system -> its own options
    :ivar initial: rating of a new version
    :ivar rated: False for a sandbox, where results change no rating
    :ivar delay: time until a move of a running game is shown to anybody but the players
    """

    id: VenueId
    name: str
    rules: Ruleset
    time: TimeControl
    move_limit: int
    first_move_limit: int
    pairing: PairingSettings = field(default_factory=PairingSettings)
    rating: str = "bayes"
    views: tuple[str, ...] = ()
    rating_options: Mapping[str, Mapping[str, str | int | float | bool]] = field(default_factory=dict)
    initial: float = 1800.0
    ready_limit: int = 60_000_000
    return_grace: int = 120_000_000
    void_after: int = 900_000_000
    rated: bool = True
    delay: int = 0


def terms_of(venue: Venue) -> Terms:
    """The terms of a game that starts in `venue` now."""
    return Terms(
        rules=venue.rules,
        time=venue.time,
        move_limit=venue.move_limit,
        first_move_limit=venue.first_move_limit,
        rated=venue.rated,
    )
