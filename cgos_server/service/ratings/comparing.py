"""How well each rating system foretells a venue's own results: every game is predicted before it is seen.

What is measured is the cross-entropy (log loss) and the mean squared error (Brier 1950) of Black's expected score, the
same for systems with and without draws, on the same games for all. Must not know: how what was found is shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from cgos_protocol.ids import VersionId
from cgos_server.core.rating.base import Entry, Kind, Outcome, RatingSystem
from cgos_server.service.ratings.current_state import Progress, unheard, windows
from cgos_server.service.ratings.ledger_fold import Run
from cgos_server.storage.reading.history import History

KNOWN: Final = 20
"""Games from which on a version counts as known here: where both are, systems can no longer blame the newcomers."""

_TENTHS: Final = 10


class Tenth(msgspec.Struct, frozen=True):
    """Games for which Black's expected score was in one tenth of 0..1.

    :ivar expected: their mean expected score for Black
    :ivar scored: the mean of what Black scored
    :ivar error: binomial standard error of `scored` where the predictions are right; it is less where games are drawn
    """

    games: int
    expected: float
    scored: float
    error: float


class Scored(msgspec.Struct, frozen=True, kw_only=True):
    """How one system foretold the games.

    :ivar log_loss: nats a game; a coin has ln 2 = 0.693
    :ivar squared: mean squared error of Black's expected score; a coin has 0.25 where nothing is drawn
    :ivar known_log_loss: of the games in which both had played :data:`KNOWN` games; None where there are none
    :ivar behind: by how much its log loss is above the first system's
    :ivar behind_error: standard error of that, from the differences game by game
    :ivar tenths: calibration, from the tenth 0..0.1 to 0.9..1
    """

    system: str
    log_loss: float
    squared: float
    known_log_loss: float | None
    behind: float
    behind_error: float
    tenths: list[Tenth]


class Compared(msgspec.Struct, kw_only=True):
    """What a comparison found.

    :ivar games: games that were predicted
    :ivar known: those in which both had played :data:`KNOWN` games
    :ivar repeats: games left out because the same two had played the very same game before
    :ivar void: games left out because they count for nothing any more
    """

    entries: int = 0
    games: int = 0
    known: int = 0
    repeats: int = 0
    void: int = 0
    systems: list[Scored] = []


class _Tally:
    """One system's sums."""

    def __init__(self, system: RatingSystem) -> None:
        self.run = Run(system)
        self.loss = self.squared = self.known = 0.0
        self.behind = self.behind2 = 0.0
        self.counts = [0] * _TENTHS
        self.sums = [(0.0, 0.0, 0.0)] * _TENTHS

    def add(self, outcome: Outcome, score2: int, known: bool, first_loss: float | None) -> float:
        """Count a prediction; its log loss."""
        loss, expected, scored = outcome.log_loss(score2), outcome.score, score2 / 2
        self.loss += loss
        self.squared += (expected - scored) ** 2
        if known:
            self.known += loss
        if first_loss is not None:
            self.behind += loss - first_loss
            self.behind2 += (loss - first_loss) ** 2
        tenth = min(int(expected * _TENTHS), _TENTHS - 1)
        self.counts[tenth] += 1
        sums = self.sums[tenth]
        self.sums[tenth] = sums[0] + expected, sums[1] + scored, sums[2] + expected * (1.0 - expected)
        return loss

    def scored(self, games: int, known: int) -> Scored:
        """The means over `games` games."""
        behind = self.behind / games
        of_behind = max(0.0, self.behind2 / games - behind**2)
        return Scored(
            system=self.run.system.name,
            log_loss=self.loss / games,
            squared=self.squared / games,
            known_log_loss=self.known / known if known else None,
            behind=behind,
            behind_error=math.sqrt(of_behind / games),
            tenths=[
                Tenth(count, expected / count, scored / count, math.sqrt(variance) / count)
                if count
                else Tenth(0, 0.0, 0.0, 0.0)
                for count, (expected, scored, variance) in zip(self.counts, self.sums, strict=True)
            ],
        )


class Comparison:
    """A comparison under way: every entry is folded into every system, with refits on the way as when the server
    fills a new view.

    A game counts here as it counts now. Repeats of the very same game are folded but not counted: they say how
    deterministic engines are, not how strong.

    :param systems: the first is the one that the others are compared with
    :param amended: see :func:`cgos_server.service.ratings.recomputing.as_corrected`
    """

    def __init__(self, systems: Sequence[RatingSystem], amended: Mapping[int, int | None]) -> None:
        self._tallies = [_Tally(system) for system in systems]
        self._amended = amended
        self._played: dict[int, int] = {}
        self._compared = Compared()

    def take(self, entries: Iterable[Entry]) -> None:
        """The next entries of the ledger. Raises OurFault where one makes no sense."""
        for entry in entries:
            if entry.kind is Kind.GAME and entry.black is not None and entry.white is not None:
                self._predict(entry, entry.black, entry.white)
            for tally in self._tallies:
                tally.run.fold(entry)
                tally.run.refit_where_due()
            self._compared.entries += 1

    def result(self) -> Compared:
        """What was found."""
        compared = self._compared
        if compared.games:
            compared.systems = [tally.scored(compared.games, compared.known) for tally in self._tallies]
        return compared

    def _predict(self, entry: Entry, black: VersionId, white: VersionId) -> None:
        played = self._played
        known = min(played.get(black, 0), played.get(white, 0)) >= KNOWN
        for version in (black, white):
            played[version] = played.get(version, 0) + 1
        score2 = self._amended.get(entry.seq, entry.score2)
        if score2 is None:
            self._compared.void += 1
            return
        if entry.repeat:
            self._compared.repeats += 1
            return
        first_loss: float | None = None
        for tally in self._tallies:
            loss = tally.add(tally.run.system.predict(tally.run.state, black, white), score2, known, first_loss)
            first_loss = loss if first_loss is None else first_loss
        self._compared.games += 1
        self._compared.known += known


async def compare(
    history: History,
    venue: str,
    systems: Sequence[RatingSystem],
    progress: Progress = unheard,
) -> Compared:
    """Compare systems on all results of a venue. Raises Refused where there is no such venue."""
    under_way = Comparison(systems, await history.ledger.amended(venue))
    last = await history.ledger.last_entry(venue)
    async for entries in windows(history, venue, 0, last, progress=progress):
        under_way.take(entries)
    return under_way.result()
