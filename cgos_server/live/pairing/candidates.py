"""Puts together what a pairing pass is decided from: who is idle, what is known of them, what they have had before.

Must not know: how pairs are made, what becomes of them, SQL.
"""

from __future__ import annotations

import asyncio
from array import array
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import replace

from cgos_protocol.ids import BotId, VersionId
from cgos_server.core.pairing.base import Candidate, Knowledge, Meeting, PairingPass
from cgos_server.core.pairing.meetings import Rows
from cgos_server.core.pairing.memory import Memory
from cgos_server.core.pairing.methods.optimal import MOST_EXACT
from cgos_server.core.venue import Policy
from cgos_server.live.venue.player import Player
from cgos_server.live.venue.roster import Roster
from cgos_server.net.loop import Timekeeper
from cgos_server.service.ratings.venue_ratings import VenueRatings

SLICE = 32
"""Versions that are looked at before the loop gets a turn."""

_LOOKS = 1_000
"""Likewise, counted in looks at what two of them have had with each other."""

_LENGTHS = 20
"""Games whose length is remembered, to tell how soon others will come; in a large pool twice the pool."""

_BETWEEN_US = 1_000_000
"""About how long it takes from one game to the next besides waiting."""


class CandidateCollector:
    """Of one venue.

    :ivar memory: what the matchmaker remembers of the games so far
    :ivar families: who belongs together
    :ivar number: of the latest pairing pass
    """

    def __init__(self, roster: Roster, ratings: VenueRatings, memory: Memory, time: Timekeeper, number: int) -> None:
        self.memory = memory
        self.families = roster.families
        self.number = number
        self._roster = roster
        self._ratings = ratings
        self._time = time
        self._lengths: deque[int] = deque()
        self._sat_out: dict[VersionId, tuple[int, int]] = {}

    async def pairing_pass(self, players: Sequence[Player], policy: Policy, choosing: bool = True) -> PairingPass:
        """A pass among `players`, as of now. Lets the loop have its turn where they are many.

        :param choosing: False where their pairs are settled, so that nobody looks at what they have had with each other
        """
        paces = self.paces()
        by_name = {player.name: player.version for player in players}
        candidates: list[Candidate] = []
        for at, player in enumerate(players, 1):
            candidates.append(self._candidate(player, by_name, paces))
            if at % SLICE == 0:
                await asyncio.sleep(0)
        pool = sum(player.awaited for player in self._roster.players.values())
        pairing_pass = PairingPass(
            candidates=candidates, meetings=(), knowledge=None, policy=policy, connected=pool, flow=self._flow(pool)
        )
        if not choosing:
            return pairing_pass
        return replace(pairing_pass, meetings=await self._meetings(players), knowledge=await self._knowledge(players))

    async def _meetings(self, players: Sequence[Player]) -> Sequence[Meeting]:
        """What they have had with each other, ordered, each pair once."""
        memory, present = self.memory, {player.version for player in players}
        fields = array("q")
        looked = 0
        for version in sorted(present):
            pairs = memory.met(version, present)
            # Whom only the other remembers comes when it is the other's turn.
            own = [pair for pair in pairs if pair[0] == version or not memory.remembers(pair[0], version)]
            for pair in sorted(own):
                fields.extend(memory.meeting(*pair))
            looked += len(pairs) + len(own) * 4
            if looked > _LOOKS:
                looked = 0
                await asyncio.sleep(0)
        return Rows(fields)

    def paces(self) -> dict[VersionId, float]:
        """How slow each signed-in version plays among them all."""
        return self.memory.paces(player.version for player in self._roster.here())

    def ended(self, length: int) -> None:
        """A game has ended that took so many microseconds."""
        self._lengths.append(length + _BETWEEN_US)
        while len(self._lengths) > max(_LENGTHS, 2 * self._roster.connected):
            self._lengths.popleft()

    def decided(self, paired: Sequence[VersionId], sat_out: Sequence[VersionId]) -> None:
        """A pass is over: these play, those were ready and do not. A pass that pairs nobody passes nobody over."""
        self.number += 1
        players = self._roster.players
        gone = [version for version in self._sat_out if version not in players or players[version].session is None]
        for version in (*paired, *gone):
            self._sat_out.pop(version, None)
        for version in sat_out:
            self._sat_out[version] = (self._sat_out.get(version, (0, 0))[0] + 1, self.number)

    def plays(self, version: VersionId) -> None:
        """It has a game without a pairing pass."""
        self._sat_out.pop(version, None)

    def _candidate(
        self, player: Player, by_name: Mapping[str, VersionId], paces: Mapping[VersionId, float]
    ) -> Candidate:
        version, memory = player.version, self.memory
        rating = self._ratings.rating(version)
        sat_out, last = self._sat_out.get(version, (0, None))
        return Candidate(
            id=version,
            name=player.name,
            rating=rating.mean,
            waited=max(0, self._time.now() - player.ready_since),
            sat_out=sat_out,
            last_sit_out=last,
            last_opponent=memory.last_opponent(version),
            sd=rating.spread if self._ratings.system.sure else 0.0,
            games=rating.games,
            anchor=rating.anchor,
            provisional=rating.provisional,
            balance=memory.balance(version),
            owner=player.bot,
            family=self._family(player.bot),
            avoid=tuple(by_name[name] for name in sorted(player.limits.avoid) if name in by_name),
            recent=memory.remembered(version),
            pace=paces.get(version, 0.5),
            paced=memory.paced(version),
        )

    def _family(self, bot: BotId) -> int:
        """The number of its family, 0 where it has none besides itself."""
        leader = self.families.leader(bot)
        return leader if leader != bot or self.families.members(leader) else 0

    async def _knowledge(self, players: Sequence[Player]) -> Knowledge | None:
        """What is known together of as many as can be paired exactly; the record of more would be megabytes."""
        wide = len(players) > MOST_EXACT
        snapshot = None if wide else self._ratings.together([player.version for player in players])
        if snapshot is None:
            return None
        known = snapshot.compute() if len(players) <= SLICE else await asyncio.to_thread(snapshot.compute)
        return Knowledge(known.covariance, known.gram)

    def _flow(self, pool: int) -> float:
        """Versions that become free a second while all of the pool play (Little 1961); 0 where it is not known."""
        if not self._lengths:
            return 0.0
        return pool * len(self._lengths) * 1e6 / sum(self._lengths)
