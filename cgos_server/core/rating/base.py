"""What the server may ask of any rating system: a fold over a venue's numbered ledger.

A system sees entries in order and answers with what changed. Given the same entries it gives the same numbers, so the
published ratings can be replayed. Must not know: storage, names, games' moves, the clock on the wall.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol


class Kind(enum.StrEnum):
    """What an entry of the ledger says."""

    ENTER = "enter"
    """A version joins the pool at rating `value`."""
    GAME = "game"
    """A rated game: `black` against `white`, `score2` for Black."""
    ANCHOR = "anchor"
    """A version's rating is known from now on: `value`."""
    UNANCHOR = "unanchor"
    """An anchor becomes an ordinary version, where it stands."""


class Entry(NamedTuple):
    """One numbered entry of a venue's ledger.

    :ivar seq: its number, from 1, without gaps
    :ivar version: the version of ENTER, ANCHOR and UNANCHOR
    :ivar black: version id (GAME)
    :ivar white: version id (GAME)
    :ivar score2: Black's result in half points, 0-2 (GAME)
    :ivar value: a rating (ENTER, ANCHOR)
    """

    seq: int
    kind: Kind
    version: int | None = None
    black: int | None = None
    white: int | None = None
    score2: int | None = None
    value: float | None = None


class Rating(NamedTuple):
    """Where a version stands.

    :ivar mean: the rating, in Elo
    :ivar spread: how sure the system is: a standard deviation, or for K-factor systems the K
    :ivar games: rated games played
    :ivar provisional: True while the number should not be trusted
    :ivar anchor: True where the rating is fixed from outside
    """

    mean: float
    spread: float
    games: int
    provisional: bool
    anchor: bool = False


class Change(NamedTuple):
    """One version's move caused by one entry. `before` is the rating just before the entry."""

    version: int
    before: Rating
    after: Rating


class RatingSystem(Protocol):
    """A pure fold. The state is the caller's to keep and opaque to it.

    `fold` may update the state in place and return the same object: the state handed in must not be used afterwards.
    """

    @property
    def name(self) -> str:
        """The word in configuration and in the store."""

    def start(self) -> Any:
        """The state before the first entry."""

    def fold(self, state: Any, entry: Entry) -> tuple[Any, tuple[Change, ...]]:
        """Apply one entry. Raises KeyError where it names a version that never entered."""

    def standings(self, state: Any) -> Mapping[int, Rating]:
        """Every version's rating."""

    def predict(self, state: Any, black: int, white: int) -> float:
        """Black's expected score, 0..1."""
