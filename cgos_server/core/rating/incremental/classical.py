"""What the classical systems share: a result moves its two players and nobody else, both from where they stood before.

Decides how the ledger's kinds of entries reach such a system. A repeated game counts as any other, lineage only says
where a successor starts. Must not know: how far a result moves anybody; that is each system's own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from cgos_protocol.ids import VersionId
from cgos_server.core.rating import checks
from cgos_server.core.rating.base import Change, Entry, Kind, Outcome, Rating
from cgos_server.core.rating.plain_state import dumped, loaded

State = dict[VersionId, Rating]
"""The state of a system that keeps nothing but the ratings."""

S = TypeVar("S")

_LAYOUT = 1


class Classical(ABC, Generic[S]):
    """The fold; see :class:`cgos_server.core.rating.base.RatingSystem`. `S` is the state's type."""

    __slots__ = ()

    @property
    @abstractmethod
    def name(self) -> str:
        """The word in configuration and in the store."""

    @property
    def sure(self) -> bool:
        """K factors are no standard deviations."""
        return False

    @abstractmethod
    def is_provisional(self, spread: float, games: int) -> bool:
        """Whether a rating with this spread was provisional; not asked about anchors."""

    @abstractmethod
    def start(self) -> S:
        """The empty pool."""

    @abstractmethod
    def predict(self, state: S, black: VersionId, white: VersionId) -> Outcome:
        """The next game of these two. Raises KeyError for a version that never entered."""

    @abstractmethod
    def dump(self, state: S) -> bytes:
        """The state as bytes, whole and exact."""

    @abstractmethod
    def load(self, data: bytes) -> S:
        """The state that `dump` wrote, bit for bit. Raises ValueError for anything else."""

    def fold(self, state: S, entry: Entry) -> tuple[S, tuple[Change, ...]]:
        """Apply one entry; `state` is updated in place.

        A game and a correction change both sides, if only in their number of games; the change of an ENTER has
        before = after; an UNANCHOR of a version that is no anchor changes nothing, nor do LINK and UNLINK. Raises
        KeyError where the entry names a version that never entered, OurFault where the entry makes no sense.
        """
        return state, self._changes(state, entry)

    def standings(self, state: S) -> Mapping[VersionId, Rating]:
        """Every version's rating: a read-only view of `state`."""
        return MappingProxyType(self._ratings(state))

    # -- each system's own

    @abstractmethod
    def _ratings(self, state: S) -> dict[VersionId, Rating]:
        """The ratings in `state`, to be written to."""

    @abstractmethod
    def _entered(self, state: S, entry: Entry) -> Rating:
        """Where the newcomer of an ENTER starts."""

    @abstractmethod
    def _anchored(self, before: Rating, entry: Entry) -> Rating:
        """The version as an anchor."""

    @abstractmethod
    def _freed(self, before: Rating) -> Rating:
        """A former anchor as an ordinary version."""

    @abstractmethod
    def _met(self, state: S, black: VersionId, white: VersionId, score: float) -> tuple[Rating, Rating]:
        """Both after a game with `score` (0..1) for Black."""

    @abstractmethod
    def _corrected(
        self, state: S, black: VersionId, white: VersionId, was: float | None, score: float | None
    ) -> tuple[Rating, Rating]:
        """Both after a game that gave Black `was` gives `score` instead (None: the game does not count)."""

    # -- the ledger

    def _changes(self, state: S, entry: Entry) -> tuple[Change, ...]:
        ratings = self._ratings(state)
        if entry.kind is Kind.GAME:
            game = checks.result(entry)
            b, w = ratings[game.black], ratings[game.white]
            after = self._met(state, game.black, game.white, _points(game.score2))
        elif entry.kind is Kind.CORRECTION:
            game = checks.correction(entry)
            if entry.repeat and game.was2 is None:
                return ()  # for those who did not count it so far
            b, w = ratings[game.black], ratings[game.white]
            was, score = game.was2, game.score2
            after = self._corrected(
                state,
                black=game.black,
                white=game.white,
                was=None if was is None else was / 2,
                score=None if score is None else score / 2,
            )
        else:
            return self._alone(state, entry)
        ratings[game.black], ratings[game.white] = after
        return Change(game.black, b, after[0]), Change(game.white, w, after[1])

    def _alone(self, state: S, entry: Entry) -> tuple[Change, ...]:
        """Entries about one version."""
        ratings = self._ratings(state)
        version = checks.version(entry)
        if entry.kind is Kind.ENTER:
            checks.newcomer(entry, version in ratings)
            ratings[version] = entered = self._entered(state, entry)
            return (Change(version, entered, entered),)
        before = ratings[version]
        if entry.kind is Kind.ANCHOR:
            after = self._anchored(before, entry)
        elif entry.kind is Kind.UNANCHOR and before.anchor:
            after = self._freed(before)
        else:
            if entry.kind is not Kind.UNANCHOR and checks.predecessor(entry) not in ratings:
                raise KeyError(entry.other)
            checks.deviation(entry, 1.0)
            return ()
        ratings[version] = after
        return (Change(version, before, after),)

    def _start_of(self, state: S, entry: Entry, initial: float) -> float:
        """The mean at which a newcomer enters: what the entry says, else its predecessor's, else `initial`."""
        before = None if entry.other is None else self._ratings(state)[entry.other]
        if entry.value is not None:
            return checks.value(entry)
        return initial if before is None else before.mean


class Plain(Classical[State]):
    """A classical system whose state is the ratings and nothing else."""

    __slots__ = ()

    def start(self) -> State:
        """The empty pool."""
        return {}

    def dump(self, state: State) -> bytes:
        """The ratings as MessagePack."""
        return dumped(repr(self), _LAYOUT, state)

    def load(self, data: bytes) -> State:
        """What :meth:`dump` wrote under the same options. Raises ValueError for anything else."""
        return loaded(data, repr(self), _LAYOUT, dict[VersionId, Rating])

    def _ratings(self, state: State) -> dict[VersionId, Rating]:
        return state


def games_after(before: Rating, was: Any, score: Any) -> int:
    """The number of games after a correction from `was` to `score` (None: the game does not count)."""
    return max(0, before.games + (score is not None) - (was is not None))


def _points(score2: int | None) -> float:
    assert score2 is not None  # a GAME's was checked
    return score2 / 2
