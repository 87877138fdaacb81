"""The games of one question, pair by pair: which are played, how they ended, which of them say nothing new.

An opening is played twice, with colors swapped; the two games are a pair. Must not know: what is asked, when games are
played, storage.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from cgos_protocol.games.base import Color
from cgos_protocol.ids import GameId, VersionId


class Half(NamedTuple):
    """One of the two games of a pair.

    :ivar color: the version's whose strength is asked about
    :ivar score2: its half points, 0 to 2; None while the game runs
    :ivar digest: tells the same game played again; None while it runs
    :ivar fault: how it ended other than on the board, such as ``time``; else empty
    """

    game: GameId
    color: Color
    score2: int | None = None
    digest: int | None = None
    fault: str = ""


class Pair(NamedTuple):
    """A pair of games.

    :ivar number: from 1
    :ivar opening: its name, empty for none
    :ivar halves: those that have begun and were not void
    """

    number: int
    opponent: VersionId
    opening: str
    halves: tuple[Half, ...] = ()

    @property
    def score2(self) -> int | None:
        """Half points of both games, 0 to 4; None until both have ended."""
        scores = [half.score2 for half in self.halves]
        if len(scores) < 2 or any(score is None for score in scores):
            return None
        return sum(score for score in scores if score is not None)

    @property
    def missing(self) -> list[Color]:
        """The version's colors in the games that have not begun. Black is first in pairs with an odd number."""
        begun = {half.color for half in self.halves}
        first = Color.BLACK if self.number % 2 else Color.WHITE
        return [color for color in (first, first.other) if color not in begun]


class Score(NamedTuple):
    """Of the version whose strength is asked about."""

    wins: int
    draws: int
    losses: int

    @property
    def games(self) -> int:
        """All together."""
        return sum(self)


class Tally:
    """Of one question.

    :ivar pairs: by number
    :ivar repeated: numbers of pairs in which both games were those of an earlier pair with this opponent, move by move:
        they say nothing new and count for nothing
    :ivar out: numbers of pairs that an operator took out; they count as if they had never begun
    :ivar lately_repeated: how many of the latest pairs that ended were such
    :ivar begun: games that have begun, without those that were void and those of pairs that are taken out
    :ivar running: games that run
    """

    def __init__(self) -> None:
        self.pairs: dict[int, Pair] = {}
        self.repeated: set[int] = set()
        self.out: frozenset[int] = frozenset()
        self.lately_repeated = 0
        self.begun = self.running = 0
        self._wanting: set[int] = set()
        self._of_game: dict[GameId, int] = {}
        self._seen: set[tuple[VersionId, tuple[int | None, ...]]] = set()
        self._cells: dict[VersionId, list[int]] = {}
        self._scores: dict[tuple[VersionId, Color], list[int]] = {}

    # -- what happens

    def began(self, game: GameId, pair: int, opponent: VersionId, *, opening: str, color: Color) -> None:
        """A game has begun; `color` is the version's whose strength is asked about."""
        before = self.pairs.get(pair) or Pair(pair, opponent, opening)
        self._put(before._replace(halves=(*before.halves, Half(game, color))))
        self._of_game[game] = pair
        self.begun += 1
        self.running += 1

    def ended(self, game: GameId, score2: int, *, digest: int, fault: str = "") -> None:
        """It has a result. Raises KeyError for a game that never began."""
        number = self._of_game[game]
        pair = self.pairs[number]
        halves = tuple(
            half._replace(score2=score2, digest=digest, fault=fault) if half.game == game else half
            for half in pair.halves
        )
        pair = pair._replace(halves=halves)
        self._put(pair)
        self.running -= 1
        if pair.score2 is not None and number not in self.out:
            self._complete(pair, pair.score2)

    def undone(self, game: GameId) -> None:
        """It ended without a result: as if it had never begun."""
        pair = self.pairs[self._of_game.pop(game)]
        self._put(pair._replace(halves=tuple(half for half in pair.halves if half.game != game)))
        self.begun -= pair.number not in self.out
        self.running -= 1

    def take_out(self, pairs: Collection[int]) -> None:
        """Count as if these pairs had never begun; all other pairs count. Running games are played to their end."""
        self.out = frozenset(pairs)
        self.repeated, self._seen, self.lately_repeated = set(), set(), 0
        self._cells, self._scores = {}, {}
        others = [pair for number, pair in sorted(self.pairs.items()) if number not in self.out]
        self.begun = sum(len(pair.halves) for pair in others)
        self._wanting = {pair.number for pair in others if len(pair.halves) < 2}
        for pair in others:
            if pair.score2 is not None:
                self._complete(pair, pair.score2)

    def _put(self, pair: Pair) -> None:
        self.pairs[pair.number] = pair
        if len(pair.halves) < 2 and pair.number not in self.out:
            self._wanting.add(pair.number)
        else:
            self._wanting.discard(pair.number)

    def _complete(self, pair: Pair, score2: int) -> None:
        digests = tuple(half.digest for half in sorted(pair.halves, key=lambda half: half.color))
        key = (pair.opponent, digests)
        if key in self._seen:
            self.repeated.add(pair.number)
            self.lately_repeated += 1
            return
        self._seen.add(key)
        self.lately_repeated = 0
        self._cells.setdefault(pair.opponent, [0] * 5)[score2] += 1
        for half in pair.halves:
            assert half.score2 is not None
            self._scores.setdefault((pair.opponent, half.color), [0] * 3)[2 - half.score2] += 1

    # -- what is known

    @property
    def opponents(self) -> list[VersionId]:
        """Those against whom a pair counts."""
        return list(self._cells)

    def counts(self, opponent: VersionId | None = None) -> tuple[int, ...]:
        """Pairs in which the version had 0, 1/2, 1, 3/2 and 2 points; of all opponents, or of one. Repeats are none."""
        if opponent is not None:
            return tuple(self._cells.get(opponent, [0] * 5))
        return tuple(sum(cells) for cells in zip(*self._cells.values(), strict=True)) or (0,) * 5

    def score(self, opponent: VersionId | None = None, color: Color | None = None) -> Score:
        """Of the games in pairs that count; against one opponent, with one color of the version."""
        opponents = self._cells if opponent is None else (opponent,)
        colors = Color if color is None else (color,)
        scores = [self._scores.get((whom, side), [0] * 3) for whom in opponents for side in colors]
        return Score(*(sum(cells) for cells in zip([0] * 3, *scores, strict=True)))

    def faults(self) -> dict[str, tuple[int, int]]:
        """How games that count ended other than on the board: how often the version lost so, and its opponents."""
        faults: dict[str, tuple[int, int]] = {}
        for half in (half for pair, _ in self.counting_pairs() for half in pair.halves):
            if half.fault:
                own, others = faults.get(half.fault, (0, 0))
                faults[half.fault] = (own + (half.score2 == 0), others + (half.score2 == 2))
        return faults

    def pairs_with(self, opponent: VersionId) -> int:
        """Pairs with this opponent that have begun."""
        return sum(pair.opponent == opponent and pair.number not in self.out for pair in self.pairs.values())

    def halves_wanted(self) -> Iterator[tuple[Pair, Color]]:
        """Games that are missing of pairs, with the version's color; the earliest pair first."""
        for number in sorted(self._wanting):
            pair = self.pairs[number]
            for color in pair.missing:
                yield pair, color

    def counting_pairs(self) -> Iterator[tuple[Pair, int]]:
        """Yield the pairs that count, each with its half points."""
        skipped = self.repeated | self.out
        for pair in self.pairs.values():
            if pair.score2 is not None and pair.number not in skipped:
                yield pair, pair.score2
