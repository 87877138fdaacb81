"""What pages, the API and commands say of a bot besides its rating: expected scores, what went wrong, time signed in.

Pure functions of what the read side answers. Must not know: the database, how a figure is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from cgos_protocol.api.figures import Ending
from cgos_protocol.verdict import Reason
from cgos_server.service.ratings.expectation import Jointly, chances
from cgos_server.storage.reading.answers import PresenceRow
from cgos_server.storage.reading.game_answers import OpponentRow

SPOILT: Final = (Reason.TIME, Reason.ILLEGAL, Reason.FORFEIT)
"""Reasons that a side has only itself to blame for: out of time, an illegal move, away or broken."""


class Faced(NamedTuple):
    """What may be expected now of games against one opponent.

    :ivar a_game: expected score of a game, 0..1, colors as they were had; None where nothing is known of one of them
    :ivar expected: the sum over the games with a result
    """

    a_game: float | None
    expected: float | None


class Share(NamedTuple):
    """So many of so many games."""

    games: int
    of: int

    @property
    def rate(self) -> float:
        """0..1; 0 of no games."""
        return self.games / self.of if self.of else 0.0


class ColorSplit(NamedTuple):
    """Games of one color, by what came of them; `none`: without a result."""

    won: int
    lost: int
    drawn: int
    none: int

    @property
    def score(self) -> float | None:
        """Share of the points, 0..1; None without a game that counts."""
        decided = self.won + self.lost + self.drawn
        return (self.won + self.drawn / 2) / decided if decided else None


def opponents_with_expectation(
    version: str, rows: Iterable[OpponentRow], mean: Callable[[str], float | None], known: Jointly | None
) -> list[tuple[OpponentRow, Faced]]:
    """Every opponent of a version with what its games promise, by
    :func:`cgos_server.service.ratings.expectation.chances`.

    :param mean: a version's published mean, None where it has none
    :param known: what is known jointly, if anything
    """
    own = mean(version)
    faced = []
    for row in rows:
        both = chances(version, row.opponent, mean=own, its_mean=mean(row.opponent), known=known)
        each = None if both is None else both.a_game(row.as_black, row.as_white)
        faced.append((row, Faced(each, None if each is None else each * row.with_result)))
    return faced


def color_split(rows: Iterable[Ending]) -> dict[str, ColorSplit]:
    """``black`` and ``white`` -> what came of the games of this color."""
    counted: Counter[tuple[str, str]] = Counter()
    for row in rows:
        counted[row.color, row.outcome] += row.games
    return {
        color: ColorSplit(*(counted[color, outcome] for outcome in ("won", "lost", "drawn", "none")))
        for color in ("black", "white")
    }


def rates(rows: Sequence[Ending]) -> dict[str, Share]:
    """Reason of :data:`SPOILT` -> how many of all ended games were lost that way."""
    every = sum(row.games for row in rows)
    lost = Counter[str]()
    for row in rows:
        if row.outcome == "lost":
            lost[row.reason] += row.games
    return {reason.value: Share(lost[reason.value], every) for reason in SPOILT}


def signed_in(rows: Iterable[PresenceRow], since: int, until: int) -> list[tuple[int, int]]:
    """When a version was signed in anywhere: beginnings and ends within a span of time, in order; they may overlap.

    A connection without an end whose venue saw a later one of the same version was hidden by a crash: it counts up to
    that one. The last of each venue counts to the end.

    :param since: Unix milliseconds, before `until`
    """
    of_venue: dict[str, list[PresenceRow]] = {}
    for row in sorted(rows, key=lambda row: row.opened_at):
        of_venue.setdefault(row.venue, []).append(row)
    spans: list[tuple[int, int]] = []
    for here in of_venue.values():
        for at, row in enumerate(here):
            end = row.closed_at
            if end is None:
                end = here[at + 1].opened_at if at + 1 < len(here) else until
            spans.append((max(row.opened_at, since), min(end, until)))
    return sorted(spans)


def uptime(rows: Iterable[PresenceRow], since: int, until: int) -> float:
    """Share, 0..1, of a span of time (Unix ms) in which a version was signed in anywhere; as :func:`signed_in`."""
    total, reached = 0, since
    for start, end in signed_in(rows, since, until):
        total += max(0, end - max(start, reached))
        reached = max(reached, end)
    return total / (until - since) if until > since else 0.0
