"""What the classical systems share: a result moves its two players and nobody else, both from where they stood before.

Decides how the ledger's kinds of entries reach such a system. A repeated game counts as any other, lineage only says
where a successor starts. Must not know: how far a result moves anybody; that is each system's own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Generic, TypeVar

from cgos_protocol.ids import VersionId
from cgos_server.core.rating import checks
from cgos_server.core.rating.base import Change, Entry, Kind, Rating, RatingSystem
from cgos_server.core.rating.plain_state import dumped, loaded

State = dict[VersionId, Rating]
"""The state of a system that keeps nothing but the ratings."""

S = TypeVar("S")

_LAYOUT = 2


class Classical(RatingSystem, ABC, Generic[S]):
    """The fold; see :class:`cgos_server.core.rating.base.RatingSystem`. `S` is the state's type.

    :cvar sure: False: K factors are no standard deviations
    :cvar form: the state's type, as it is read from bytes
    """

    __slots__ = ()

    sure: ClassVar[bool] = False
    form: ClassVar[Any]

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

    def dump(self, state: S) -> bytes:
        """The state as bytes, whole and exact."""
        return dumped(repr(self), _LAYOUT, state)

    def load(self, data: bytes) -> S:
        """What :meth:`dump` wrote under the same options. Raises ValueError for anything else."""
        state: S = loaded(data, repr(self), _LAYOUT, self.form)
        return state

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
            black, white, score2 = checks.result(entry)
            b, w = ratings[black], ratings[white]
            after = self._met(state, black, white, score2 / 2)
        elif entry.kind is Kind.CORRECTION:
            game = checks.correction(entry)
            if entry.repeat and game.was2 is None:
                return ()  # for those who did not count it so far
            black, white = game.black, game.white
            b, w = ratings[black], ratings[white]
            was, score = (None if half is None else half / 2 for half in (game.was2, game.score2))
            after = self._corrected(state, black=black, white=white, was=was, score=score)
        else:
            return self._alone(state, entry)
        ratings[black], ratings[white] = after
        return Change(black, b, after[0]), Change(white, w, after[1])

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

    form = dict[VersionId, Rating]

    def start(self) -> State:
        """The empty pool."""
        return {}

    def _ratings(self, state: State) -> dict[VersionId, Rating]:
        return state


def games_after(before: Rating, was: Any, score: Any) -> int:
    """The number of games after a correction from `was` to `score` (None: the game does not count)."""
    return max(0, before.games + (score is not None) - (was is not None))
