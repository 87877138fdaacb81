"""What a venue's matchmaker remembers of the games played so far: who met whom, with which colors, how fast.

Everything is kept so that one game costs the same however many there were. Must not know: storage, who is idle now,
how pairs are made.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Mapping
from itertools import islice

from cgos_protocol.ids import VersionId
from cgos_server.core.pairing.base import Meeting
from cgos_server.core.pairing.rolling import paced_after

_THINKING_SHARE = 0.1
"""Weight of the latest game in a version's mean thinking time."""


_LATELY = 10
"""Games that count as late ones; see `Meeting.lately_a`."""


class Memory:
    """Of one venue.

    :param last: how many of a version's last games are remembered one by one
    :param meetings: (black, white) -> games with these colors so far
    :param recent: version -> its last opponents, oldest first
    :param thinking: version -> microseconds that it thinks in a game
    """

    def __init__(
        self,
        last: int,
        meetings: Mapping[tuple[VersionId, VersionId], int],
        recent: Mapping[VersionId, Iterable[VersionId]],
        thinking: Mapping[VersionId, float],
    ) -> None:
        self.last = last
        self._blacks = dict(meetings)
        self._balance: dict[VersionId, int] = {}
        for (black, white), games in meetings.items():
            self._balance[black] = self._balance.get(black, 0) + games
            self._balance[white] = self._balance.get(white, 0) - games
        self._recent: dict[VersionId, deque[VersionId]] = {}
        self._often: dict[VersionId, dict[VersionId, int]] = {}
        self._paced: dict[VersionId, float] = {}
        self._thinking = dict(thinking)
        paces = self.paces(self._thinking)
        for version, opponents in recent.items():
            for opponent in opponents:
                self._met(version, opponent, paces.get(opponent, 0.5))

    def keep(self, last: int) -> None:
        """Remember so many of a version's last games from now on."""
        self.last = last

    def began(self, black: VersionId, white: VersionId, paces: Mapping[VersionId, float]) -> None:
        """A game of these two begins.

        :param paces: version -> its pace now; see :class:`cgos_server.core.pairing.base.Candidate`
        """
        self._count(black, white, 1)
        self._met(black, white, paces.get(white, 0.5))
        self._met(white, black, paces.get(black, 0.5))

    def restored(self, black: VersionId, white: VersionId) -> None:
        """A game of these two goes on which is among the `recent` already, but not among the `meetings`."""
        self._count(black, white, 1)

    def undone(self, black: VersionId, white: VersionId) -> None:
        """A game of these two has ended without a result: it gave nobody a color."""
        self._count(black, white, -1)

    def thought(self, version: VersionId, us: int) -> None:
        """A game of the version has ended in which it thought for so many microseconds."""
        before = self._thinking.get(version)
        self._thinking[version] = us if before is None else before + _THINKING_SHARE * (us - before)

    def paces(self, versions: Iterable[VersionId]) -> dict[VersionId, float]:
        """How slow each is among `versions`: 0 the fastest, 1 the slowest; 0.5 where nothing is known of it."""
        known = sorted((self._thinking[version], version) for version in versions if version in self._thinking)
        top = max(1, len(known) - 1)
        return {version: place / top if len(known) > 1 else 0.5 for place, (_, version) in enumerate(known)}

    def paced(self, version: VersionId) -> float:
        """See :class:`cgos_server.core.pairing.base.Candidate`."""
        return self._paced.get(version, 0.0)

    def remembered(self, version: VersionId) -> int:
        """How many of its last games are remembered."""
        self._forget(version)
        return len(self._recent.get(version, ()))

    def last_opponent(self, version: VersionId) -> VersionId | None:
        """Its opponent in its latest game."""
        recent = self._recent.get(version)
        return recent[-1] if recent else None

    def as_black(self, black: VersionId, white: VersionId) -> int:
        """Games with these colors, of all."""
        return self._blacks.get((black, white), 0)

    def balance(self, version: VersionId) -> int:
        """Games as Black minus games as White."""
        return self._balance.get(version, 0)

    def met(self, version: VersionId, present: Container[VersionId]) -> list[tuple[VersionId, VersionId]]:
        """Whom of `present` it remembers, as pairs (smaller id, larger id). The other may not remember it."""
        self._forget(version)
        often = self._often.get(version, {})
        return [(min(version, other), max(version, other)) for other in often if other in present]

    def remembers(self, version: VersionId, other: VersionId) -> bool:
        """Whether `version` has met `other` in one of its remembered games."""
        return other in self._often.get(version, {})

    def meeting(self, a: VersionId, b: VersionId) -> Meeting:
        """What two versions have had with each other."""
        recent_a, recent_b = self._often.get(a, {}).get(b, 0), self._often.get(b, {}).get(a, 0)
        lately_a = self._lately(a, b) if recent_a else 0
        lately_b = self._lately(b, a) if recent_b else 0
        return Meeting(
            a=a,
            b=b,
            recent_a=recent_a,
            recent_b=recent_b,
            black_a=self.as_black(a, b),
            black_b=self.as_black(b, a),
            lately_a=lately_a,
            lately_b=lately_b,
        )

    def _lately(self, version: VersionId, opponent: VersionId) -> int:
        return [*islice(reversed(self._recent[version]), _LATELY)].count(opponent)

    def _met(self, version: VersionId, opponent: VersionId, pace: float) -> None:
        recent = self._recent.setdefault(version, deque())
        often = self._often.setdefault(version, {})
        recent.append(opponent)
        often[opponent] = often.get(opponent, 0) + 1
        self._forget(version)
        self._paced[version] = paced_after(self._paced.get(version, 0.0), pace)

    def _count(self, black: VersionId, white: VersionId, games: int) -> None:
        self._blacks[black, white] = self._blacks.get((black, white), 0) + games
        self._balance[black] = self._balance.get(black, 0) + games
        self._balance[white] = self._balance.get(white, 0) - games

    def _forget(self, version: VersionId) -> None:
        """Keep no more of its last games than are to be remembered."""
        recent = self._recent.get(version)
        while recent is not None and len(recent) > self.last:
            oldest, often = recent.popleft(), self._often[version]
            often[oldest] -= 1
            if not often[oldest]:
                del often[oldest]
