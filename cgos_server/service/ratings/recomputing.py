"""The standings as they would be had every game counted from the start as it counts now, corrections and all.

What was published stays as it is; this is the other answer. Must not know: how it is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from cgos_protocol.api.messages import RankSummary
from cgos_protocol.ids import VersionId
from cgos_server.core.rating.base import Entry, Kind, Rating, RatingSystem
from cgos_server.core.rating.ranks import JointlyKnown
from cgos_server.service.ratings.current_state import Progress, unheard, windows
from cgos_server.service.ratings.ledger_fold import Run
from cgos_server.service.ratings.venue_ranks import Activity, ranking_now, rows_of, summed_of
from cgos_server.storage.intervals import interval
from cgos_server.storage.reading.answers import StandingRow
from cgos_server.storage.reading.history import History
from cgos_server.storage.reading.ratings import placed
from cgos_server.storage.reading.refits import in_names
from cgos_server.storage.reading.stored import RankRow, RanksRow

_NOTHING: Final = RankRow(None, None, None, None)


class Recomputed(NamedTuple):
    """Standings that were never published.

    :ivar seq: the last entry whose game could count
    :ivar games: how many games count otherwise than they did at first
    :ivar system: name of the rating system
    :ivar ratings: version id -> rating
    :ivar ranks: version id -> what is said of its rank
    :ivar summed: what is said of all ranks together; None where the system says nothing of them
    """

    def summary(self, names: Mapping[VersionId, str]) -> RankSummary | None:
        """The same in wire names."""
        return None if self.summed is None else in_names(self.summed, names, refit=None)

    seq: int
    games: int
    system: str
    ratings: Mapping[VersionId, Rating]
    ranks: Mapping[VersionId, RankRow]
    summed: RanksRow | None

    def standings(self, names: Mapping[VersionId, str]) -> list[StandingRow]:
        """Where the versions stand, highest mean first, without their last games.

        :param names: version id -> wire name
        """
        rows = [
            StandingRow(
                **rating._asdict() | interval(self.system, rating._asdict()),
                rank=None,
                version=names.get(version, str(version)),
                last_game=None,
                last_game_at=None,
                seq=self.seq,
                system=self.system,
                **self.ranks.get(version, _NOTHING)._asdict(),
            )
            for version, rating in self.ratings.items()
        ]
        return placed(sorted(rows, key=lambda row: (-row.mean, row.version.encode())))


def as_corrected(entries: Iterable[Entry], amended: Mapping[int, int | None]) -> Iterator[Entry]:
    """The entries with every game as it counts now, and without the corrections.

    A game that counted for nothing at first stands where its first correction was.

    :param amended: entry of a corrected game, or of the first correction of a game without an entry -> half points for
        Black, None where it counts for nothing
    """
    for entry in entries:
        if entry.seq in amended:
            score2 = amended[entry.seq]
            if score2 is not None:
                # A repeat that was corrected is counted by everybody.
                yield entry._replace(kind=Kind.GAME, score2=score2, was2=None, repeat=False)
        elif entry.kind is not Kind.CORRECTION:
            yield entry


async def recompute(
    history: History,
    venue: str,
    system: RatingSystem,
    last: int | None = None,
    progress: Progress = unheard,
) -> Recomputed:
    """Fold a venue's corrected results, with refits on the way as the server makes them when it fills a new view.

    :param last: only games up to this entry, as they count today; None: all
    :raises Refused: where there is no such venue
    """
    amended = await history.ledger.amended(venue)
    end = await history.ledger.last_entry(venue)
    end = end if last is None else min(last, end)
    run, seq, activity = Run(system), 0, Activity()
    async for entries in windows(history, venue, 0, end, progress=progress):
        for entry in as_corrected(entries, amended):
            seq += 1
            activity.note(entry)
            run.fold(entry._replace(seq=seq))  # its number among those that count: without gaps
            run.refit_where_due()
    run.refit_where_wanted()
    ranks: dict[VersionId, RankRow] = {}
    summed = None
    if isinstance(system, JointlyKnown):
        ranking = ranking_now(run, activity.of(run))
        computed = ranking.task()
        ranks, summed = rows_of(ranking, computed), summed_of(ranking, computed)
    return Recomputed(
        seq=end,
        games=sum(seq <= end for seq in amended),
        system=system.name,
        ratings=dict(run.ratings),
        ranks=ranks,
        summed=summed,
    )
