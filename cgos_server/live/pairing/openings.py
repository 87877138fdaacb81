"""One venue's openings at work: which one a new pair gets, and whose second game with swapped colors is missing.

An opening is fair only in two games: whoever had Black in the first has White in the second. Must not know: how pairs
are found, where openings are read, SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Final, NamedTuple

from cgos_protocol.games.base import Color
from cgos_protocol.ids import VersionId
from cgos_protocol.openings import Opening, OpeningSet
from cgos_protocol.randomness import Rng
from cgos_protocol.verdict import Reason
from cgos_server.live.games.live_game import LiveGame
from cgos_server.storage.reading.stored import Half

KEPT_MS: Final = 86_400_000
"""How long two versions owe each other a second game (milliseconds from the beginning of the first)."""

SWEEP_MS: Final = 3_600_000
"""How often all debts are looked at, also those of versions that do not come back. There may be ten thousands."""


class Owed(NamedTuple):
    """The second game of an opening, with the colors that it is to be played with.

    :ivar why: why these two meet, for people
    """

    black: VersionId
    white: VersionId
    opening: Opening
    why: str


class _Debt(NamedTuple):
    """Of a lower version, a higher one and an opening: how many games more the lower one had Black, and when the latest
    began (Unix ms)."""

    more: int
    at: int


class Openings:
    """Who owes whom the second game of which opening, in one venue.

    :param halves: openings that two versions played more often with some colors than with the others, as stored
    """

    def __init__(self, halves: Iterable[Half]) -> None:
        self._swept = 0
        self._debts: dict[VersionId, dict[tuple[VersionId, str], _Debt]] = {}
        for half in halves:
            self._count(black=half.black, white=half.white, opening=half.opening, games=half.games, at=half.at)

    def first(self, book: OpeningSet, share: float, rng: Rng) -> Opening | None:
        """The opening of a new pair of games; None for the empty board.

        :param share: of the pairs that get one, 0 to 1
        """
        if not book or rng.random() >= share:
            return None
        return book.choose(rng)

    def owed(
        self,
        ready: Collection[VersionId],
        book: OpeningSet,
        now: int,
        may: Callable[[VersionId, VersionId], bool] = lambda _black, _white: True,
    ) -> list[Owed]:
        """Second games that can be played now, the oldest debt first; each version is in one at most.

        Debts older than a day, and those of openings that are not in `book` any more, are forgotten.

        :param ready: versions that could take a game; asked often whether one is among them
        :param now: Unix ms
        :param may: whether two versions may meet at all
        """
        everybody = now - self._swept > SWEEP_MS
        if everybody:
            self._swept = now
        for lower in list(self._debts) if everybody else ready:
            debts = self._debts.get(lower, {})
            for key in [key for key, debt in debts.items() if now - debt.at > KEPT_MS or book.named(key[1]) is None]:
                self._settle(lower, key)
        playable = [
            (debt.at, lower, *key)
            for lower in ready
            for key, debt in self._debts.get(lower, {}).items()
            if key[0] in ready
        ]
        games: list[Owed] = []
        taken: set[VersionId] = set()
        for _, lower, higher, name in sorted(playable):
            opening, debt = book.named(name), self._debts[lower][higher, name]
            black, white = (higher, lower) if debt.more > 0 else (lower, higher)
            if opening is not None and not taken & {lower, higher} and may(black, white):
                taken |= {lower, higher}
                games.append(Owed(black, white, opening, f"Second game of opening {name}, colors swapped."))
        return games

    def began(self, black: VersionId, white: VersionId, opening: str, at: int) -> None:
        """A game with this opening (empty: none) has begun; `at` in Unix ms."""
        if opening:
            self._count(black=black, white=white, opening=opening, games=1, at=at)

    def ended(self, game: LiveGame) -> None:
        """A game has ended; one without a result is as if it had never begun."""
        over = game.over
        if game.opening and over is not None and over.reason in (Reason.VOID, Reason.ABORT):
            black, white = (game.sides[color].version for color in Color)
            self.undone(black, white, game.opening, game.started_at)

    def undone(self, black: VersionId, white: VersionId, opening: str, at: int) -> None:
        """A game with this opening (empty: none), which began at `at`, is as if it had never begun."""
        if opening:
            self._count(black=black, white=white, opening=opening, games=-1, at=at)

    def _count(self, black: VersionId, white: VersionId, opening: str, games: int, at: int) -> None:
        lower, key = min(black, white), (max(black, white), opening)
        debts = self._debts.setdefault(lower, {})
        before = debts.get(key, _Debt(0, at))
        more = before.more + (games if black == lower else -games)
        debts[key] = _Debt(more, max(at, before.at))
        if not more:
            self._settle(lower, key)

    def _settle(self, lower: VersionId, key: tuple[VersionId, str]) -> None:
        del self._debts[lower][key]
        if not self._debts[lower]:
            del self._debts[lower]
