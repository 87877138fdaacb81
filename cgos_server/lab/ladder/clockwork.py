"""One venue in simulated time: pairing passes as a server makes them, games as long as both think, who comes and goes.

The clock goes from one pairing pass to the next; nothing is decided where fewer than two could play. Must not know: how
pairs are made, how ratings are computed, true strengths.
"""

from __future__ import annotations

import heapq
import math
import random
from collections import deque
from collections.abc import Iterable
from itertools import combinations
from typing import Final, NamedTuple, Protocol

from msgspec import Struct

from cgos_protocol.ids import VersionId
from cgos_server.core.pairing.base import Candidate, Matchmaker, Meeting, PairingPass
from cgos_server.core.pairing.constraints import Constraints
from cgos_server.core.pairing.fairness import colors
from cgos_server.core.pairing.memory import Memory
from cgos_server.core.pairing.methods.optimal import MOST_EXACT
from cgos_server.core.pairing.registry import decide
from cgos_server.core.pairing.rolling import due
from cgos_server.core.venue import Policy
from cgos_server.lab.ladder.players import HOUR, Lots, Players
from cgos_server.lab.ladder.raters import Rater
from cgos_server.lab.ratings.matchmakers import uses_knowledge

SECOND: Final = 1_000_000

LENGTHS: Final = 20
"""Ended games whose length tells how soon versions become free; in a large pool twice the pool."""

_FEW: Final = 20
"""Up to so many who are ready all pairs are looked at, whether they have met."""


class Timing(Struct, frozen=True, kw_only=True):
    """:ivar interval: seconds between two passes
    :ivar settle: seconds from a game's end until its versions are ready again
    """

    hours: float
    interval: float = 1.0
    settle: float = 0.5


class Game(NamedTuple):
    """A game that runs; ordered by its end.

    :ivar end: seconds, settling included; its result is known then
    :ivar own: seconds that Black and White think
    :ivar number: of the two with these colors, from 0
    """

    end: float
    black: VersionId
    white: VersionId
    own: tuple[float, float]
    number: int

    @property
    def length(self) -> float:
        return sum(self.own)


class Watch(Protocol):
    """Is told what happens, in the order of time; all times are seconds."""

    def paired(self, waits: Iterable[float], passed_over: int) -> None:
        """A pass has made games: so long who plays now had waited, and so many passes in a row the one that was passed
        over most often."""

    def began(self, game: Game) -> None:
        """A game begins."""

    def ended(self, game: Game, score2: int) -> None:
        """A game has ended, and is rated."""

    def arrived(self, version: VersionId, now: float) -> None:
        """A version has joined."""

    def left(self, version: VersionId, now: float, waited: float | None) -> None:
        """A version is gone, which had waited so long; None: it came from a game."""

    def look(self, now: float, there: Iterable[VersionId]) -> bool:
        """It is time to look at the ratings of those who are there; True where that was all it wanted to see."""


class Ladder:
    """A ladder from its first pass to its last one.

    :param luck: the seed of what the matchmaker and colors draw by lot

    :ivar now: seconds
    :ivar ready: version -> since when, seconds
    :ivar running: a heap
    """

    def __init__(
        self,
        players: Players,
        lots: Lots,
        method: Matchmaker,
        policy: Policy,
        timing: Timing,
        rater: Rater,
        luck: int,
    ) -> None:
        self.players, self.method, self.policy, self.timing, self.rater = players, method, policy, timing, rater
        self.memory = Memory(int(method.options.get("repeat_last", Constraints().repeat_last)), {}, {}, {})
        self.now = 0.0
        self.passes = 0
        self.ready: dict[VersionId, float] = {}
        self.running: list[Game] = []
        self._lots = lots
        self._rng = random.Random(luck)
        self._there: dict[VersionId, None] = {}
        self._leaving: set[VersionId] = set()
        self._sat_out: dict[VersionId, tuple[int, int]] = {}
        self._lengths: deque[float] = deque(maxlen=max(LENGTHS, 2 * players.present))
        self._games_of = [0] * players.all
        self._paces: dict[VersionId, float] = {}
        self._knowing = uses_knowledge(method.name)
        for version in range(players.present):
            self._arrive(VersionId(version), 0.0)

    def run(self, watch: Watch, looks: Iterable[float] = ()) -> None:
        """Play it, as long as its timing says or the watch wants.

        :param looks: hours at which the watch looks at the ratings
        """
        end = self.timing.hours * HOUR
        schedule = self._schedule(looks, end)
        while True:
            if len(self.ready) < 2 or (self.policy is Policy.BARRIER and self.running):
                # Nothing can be decided before more are ready: the passes until then are skipped.
                self.now = max(self.now, self._tick(self._next_ready(schedule, end)))
            seen = self._go_on(min(self.now, end), schedule, watch)
            if seen or self.now >= end:
                break
            if due(self.policy, len(self.ready), len(self.running)):
                self._run_pass(watch)
            self.now += self.timing.interval

    # -- time

    def _schedule(self, looks: Iterable[float], end: float) -> deque[tuple[float, int, VersionId]]:
        """What happens at a known time: who arrives (0) and leaves (1), and looks (2)."""
        players = self.players
        events: list[tuple[float, int, VersionId]] = [(look * HOUR, 2, VersionId(0)) for look in looks]
        for version in range(players.all):
            if version >= players.present:
                events.append((float(players.arrives[version]), 0, VersionId(version)))
            if players.leaves[version] <= end:
                events.append((float(players.leaves[version]), 1, VersionId(version)))
        return deque(sorted(events))

    def _next_ready(self, schedule: Iterable[tuple[float, int, VersionId]], end: float) -> float:
        """When the next pass could be due."""
        if self.policy is Policy.BARRIER and self.running:
            return max(game.end for game in self.running)
        ends = [self.running[0].end] if self.running else []
        return min([*ends, *(at for at, what, _ in schedule if what == 0)], default=end)

    def _tick(self, at: float) -> float:
        """The first pass not before `at`."""
        return math.ceil(at / self.timing.interval - 1e-9) * self.timing.interval

    def _go_on(self, until: float, schedule: deque[tuple[float, int, VersionId]], watch: Watch) -> bool:
        """Everything that happens until then, in its order; whether the watch has seen all it wanted."""
        while schedule and schedule[0][0] <= until:
            at, what, version = schedule.popleft()
            self._finish(at, watch)
            if what == 0:
                self._arrive(version, at)
                watch.arrived(version, at)
            elif what == 1:
                self._depart(version, at, watch)
            elif watch.look(at, self._there):
                self.now = at
                return True
        self._finish(until, watch)
        self.now = until
        return False

    def _finish(self, until: float, watch: Watch) -> None:
        while self.running and self.running[0].end <= until:
            game = heapq.heappop(self.running)
            for version, own in zip((game.black, game.white), game.own, strict=True):
                self.memory.thought(version, int(own * SECOND))
                if version in self._leaving:
                    self._leave(version, game.end, None, watch)
                else:
                    self.ready[version] = game.end
            score2 = self._lots.score2(game.black, game.white, game.number)
            repeat = self.players.once and game.number > 0
            self.rater.game(game.black, game.white, score2, repeat=repeat, now=game.end)
            self._lengths.append(game.length + self.timing.settle)
            self._paces = {}
            watch.ended(game, score2)

    def _arrive(self, version: VersionId, at: float) -> None:
        self.rater.enter(version, self.ready, at)
        self.ready[version] = at
        self._there[version] = None
        self._paces = {}

    def _depart(self, version: VersionId, at: float, watch: Watch) -> None:
        """It leaves now, or after the game that it plays."""
        if version in self.ready:
            self._leave(version, at, at - self.ready.pop(version), watch)
        else:
            self._leaving.add(version)

    def _leave(self, version: VersionId, at: float, waited: float | None, watch: Watch) -> None:
        del self._there[version]
        self._sat_out.pop(version, None)
        self._paces = {}
        watch.left(version, at, waited)

    # -- passes

    def pairing_pass(self) -> PairingPass:
        """What the matchmaker is asked now."""
        ready = list(self.ready)
        self._paces = self._paces or self.memory.paces(self._there)
        # By Little's law, as nearly everybody plays nearly always.
        flow = len(self._there) * len(self._lengths) / sum(self._lengths) if self._lengths else 0.0
        knowing = self._knowing and len(ready) <= MOST_EXACT
        return PairingPass(
            candidates=[self._candidate(version) for version in ready],
            meetings=self._meetings(),
            knowledge=self.rater.knowledge(ready) if knowing else None,
            policy=self.policy,
            connected=len(self._there),
            flow=flow,
        )

    def _candidate(self, version: VersionId) -> Candidate:
        memory, rating = self.memory, self.rater.ratings()[version]
        sat_out, last_sat_out = self._sat_out.get(version, (0, None))
        return Candidate(
            id=version,
            name=f"bot-{version}",
            rating=rating.mean,
            waited=int((self.now - self.ready[version]) * SECOND),
            sat_out=sat_out,
            last_sit_out=last_sat_out,
            last_opponent=memory.last_opponent(version),
            sd=rating.spread if self.rater.sure else 0.0,
            games=rating.games,
            anchor=rating.anchor,
            provisional=rating.provisional,
            balance=memory.balance(version),
            owner=self.players.owners[version],
            family=self.players.families[version],
            recent=memory.remembered(version),
            pace=self._paces.get(version, 0.5),
            paced=memory.paced(version),
        )

    def _meetings(self) -> list[Meeting]:
        memory, ready = self.memory, self.ready
        if len(ready) > _FEW:
            return [
                memory.meeting(*pair) for pair in sorted({pair for each in ready for pair in memory.met(each, ready)})
            ]
        return [m for m in (memory.meeting(a, b) for a, b in combinations(sorted(ready), 2)) if any(m[2:])]

    def _run_pass(self, watch: Watch) -> None:
        pairing = decide(self.method, self.pairing_pass(), self._rng)
        self.passes += 1
        if not pairing.pairs:
            return
        waits = [self.now - self.ready.pop(version) for pair in pairing.pairs for version in (pair.high, pair.low)]
        for pair in pairing.pairs:
            watch.began(self._begin(pair.high, pair.low))
        for version in self.ready:
            self._sat_out[version] = (self._sat_out.get(version, (0, 0))[0] + 1, self.passes)
        watch.paired(waits, max((self._sat_out[version][0] for version in self.ready), default=0))

    def _begin(self, one: VersionId, other: VersionId) -> Game:
        memory = self.memory
        black, white, _ = colors(one, other, memory.as_black, memory.balance, rng=self._rng)
        own: list[float] = []
        for version in (black, white):
            self._sat_out.pop(version, None)
            own.append(self._lots.thinking(version, self._games_of[version]))
            self._games_of[version] += 1
        end = self.now + sum(own) + self.timing.settle
        number = memory.as_black(black, white)
        game = Game(end=end, black=black, white=white, own=(own[0], own[1]), number=number)
        memory.began(black, white, self._paces)
        heapq.heappush(self.running, game)
        return game
