"""How much of a version's time questions may take, and whether they may take more now.

A version saves time while it is here, at the share that the server allows, and spends it while it plays for a question
or waits for such a game. Must not know: questions, how games begin.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from cgos_protocol.ids import VersionId
from cgos_server.live.venue.player import Player

MOST_S: Final = 600.0
"""Slot seconds that a version saves at most, or owes: what it did an hour ago is settled."""

LEFT_IDLE: Final = 5
"""Pairing intervals after which the ladder has nothing for a version that waits: then a question takes nobody's time,
however much it has had."""


class Shares:
    """Of one venue.

    :param share: 0 to 1
    :ivar taken_s: slot seconds that questions had since the start, of versions that were here
    :ivar slot_s: all slot seconds of versions that were here
    """

    def __init__(self, share: float, now: int) -> None:
        self.share = share
        self._saved: dict[VersionId, float] = {}
        self._looked = now
        self.taken_s = self.slot_s = 0.0

    def look(self, here: Iterable[Player], taken: Mapping[VersionId, int], now: int) -> None:
        """Time has passed.

        :param taken: version -> slots that games of questions have, or that wait for one
        :param now: microseconds
        """
        passed_s, self._looked = (now - self._looked) / 1e6, now
        saved: dict[VersionId, float] = {}
        for player in here:
            slot_s = passed_s * player.capacity.slots
            taken_s = passed_s * taken.get(player.version, 0)
            self.slot_s += slot_s
            self.taken_s += taken_s
            earned = self.share * slot_s - taken_s
            saved[player.version] = max(-MOST_S, min(MOST_S, self._saved.get(player.version, 0.0) + earned))
        self._saved = saved

    def allow(self, player: Player, now: int, interval: int) -> bool:
        """Whether a question may take some of its time now.

        :param interval: between two pairing passes, microseconds
        """
        if self._saved.get(player.version, 0.0) >= 0.0:
            return True
        return player.available and now - player.ready_since > LEFT_IDLE * interval
