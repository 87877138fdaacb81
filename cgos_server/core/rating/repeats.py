"""Which games are the very same game: deterministic engines repeat theirs, and the second time says nothing new.

Decides what "the same" means and keeps what was played. Must not know: games' rules, storage, what rating systems make
of it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable
from hashlib import blake2b

from cgos_protocol.ids import VersionId


def game_digest(moves: Iterable[str], score2: int) -> int:
    """A number below 2^63 that is the same for the same moves (in their normal spelling) and the same result.

    :param score2: Black's result in half points
    """
    digest = blake2b(" ".join(moves).encode(), digest_size=8, salt=bytes((score2,)))
    return int.from_bytes(digest.digest(), "big") >> 1


class Repeats:
    """The digests of the games between each two versions with each color: 8 bytes a game."""

    def __init__(self) -> None:
        self._played: dict[tuple[int, int], array[int]] = {}

    def add(self, black: VersionId, white: VersionId, digest: int) -> bool:
        """Note a game; True where it is a repeat."""
        played = self._played.setdefault((black, white), array("q"))
        at = bisect_left(played, digest)
        if at < len(played) and played[at] == digest:
            return True
        played.insert(at, digest)
        return False

    def discard(self, black: VersionId, white: VersionId, digest: int) -> None:
        """No game of these with this digest counts any more: the next one will be no repeat."""
        played = self._played.get((black, white), array("q"))
        at = bisect_left(played, digest)
        if at < len(played) and played[at] == digest:
            del played[at]
