"""What is said of ranks in one venue: who takes part, what of it is news, and the records that it leaves behind.

Decides which change is noticed. Must not know: how ranks are computed, where and when that is done.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import msgspec
import numpy as np

from cgos_protocol.ids import VenueId, VersionId
from cgos_server.core.rating.base import Entry, Kind
from cgos_server.core.rating.ranks import Ints, JointlyKnown, Ranks, Strengths, ranks
from cgos_server.service.ratings.ledger_fold import Begun, Run
from cgos_server.service.ratings.listed import RETIRED_MS
from cgos_server.storage.reading.stored import RankRow, RanksRow
from cgos_server.storage.store import Store
from cgos_server.storage.writing.records import Record
from cgos_server.storage.writing.refitting import RankMoved, RanksSummed

SEED: Final = 0
"""Of every draw of strengths: what changes from refit to refit is what is known, and not the luck of the draw."""

NOTICED: Final = 0.01
"""A change of a probability above this is recorded."""

_NOTICED_PART: Final = 10
"""And a change of an end of the interval by more than this part of its length."""

_NOTHING: Final = RankRow(None, None, None, None)


class Ranking(NamedTuple):
    """Ranks to be computed.

    :ivar system: the rating system's name
    :ivar refit: number of the refit that they follow
    :ivar versions: by place among the system's strengths
    :ivar task: computes them; can be pickled
    """

    system: str
    refit: int
    versions: tuple[VersionId, ...]
    task: Callable[[], Ranks]


class Activity:
    """Which versions have played lately, by a venue's rated games: those that standings list."""

    def __init__(self, last_games: Mapping[VersionId, int] | None = None) -> None:
        self._last: dict[VersionId, int] = dict(last_games or {})
        self._latest = max(self._last.values(), default=0)

    def note(self, entry: Entry) -> None:
        """An entry of the ledger."""
        if entry.kind is Kind.GAME and entry.black is not None and entry.white is not None:
            self._last[entry.black] = self._last[entry.white] = entry.at
            self._latest = max(self._latest, entry.at)

    def of(self, run: Run) -> list[VersionId]:
        """Those of them that have a rated game under a system."""
        since = self._latest - RETIRED_MS
        return [
            version
            for version, rating in run.ratings.items()
            if rating.games and self._last.get(version, since) >= since
        ]


class VenueRanks:
    """One a venue."""

    def __init__(self, venue_id: VenueId) -> None:
        self.activity = Activity()
        self._venue_id = venue_id
        self._recorded: dict[str, dict[VersionId, RankRow]] = {}
        self._summed: dict[str, RanksRow | None] = {}

    async def load(self, store: Store, headline: str, runs: Sequence[Run]) -> None:
        """What was said so far, and who played when. Raises StoreError."""
        self.activity = Activity(await store.history.ratings.last_games(self._venue_id, headline))
        for run in runs:
            if isinstance(run.system, JointlyKnown):
                name = run.system.name
                self._recorded[name] = await store.history.ranks.last(self._venue_id, name)
                self._summed[name] = await store.history.ranks.last_summary(self._venue_id, name)

    def missing(self, runs: Sequence[Run]) -> list[Ranking]:
        """After a start: the ranks as they are now under systems of which nothing was ever said of ranks."""
        missing = []
        for run in runs:
            system = run.system
            if isinstance(system, JointlyKnown) and run.refits and self._summed.get(system.name) is None:
                missing.append(ranking_now(run, self.activity.of(run)))
        return missing

    def ranking(self, run: Run, begun: Begun, fit: Any) -> Ranking | None:
        """The ranks that follow from a refit that is in place; None where the system says nothing of ranks."""
        system = run.system
        if not isinstance(system, JointlyKnown):
            return None
        places, versions = _placed(system, run.state, self.activity.of(run))
        return Ranking(
            system.name, run.refits, versions, partial(_after_refit, system, job=begun.job, fit=fit, places=places)
        )

    def records(self, ranking: Ranking, computed: Ranks) -> list[Record]:
        """What these ranks leave behind: what is news in them."""
        recorded = self._recorded.setdefault(ranking.system, {})
        now = dict.fromkeys(recorded, _NOTHING) | rows_of(ranking, computed)
        moved = {version: row for version, row in now.items() if _noticed(recorded.get(version, _NOTHING), row)}
        recorded |= moved
        records: list[Record] = [
            RankMoved(
                venue_id=self._venue_id,
                system=ranking.system,
                version_id=version,
                number=ranking.refit,
                **row._asdict(),
            )
            for version, row in moved.items()
        ]
        summed = summed_of(ranking, computed)
        if summed is not None and summed != self._summed.get(ranking.system):
            self._summed[ranking.system] = summed
            records.append(
                RanksSummed(venue_id=self._venue_id, system=ranking.system, number=ranking.refit, **summed._asdict())
            )
        return records


def ranking_now(run: Run, among: Sequence[VersionId]) -> Ranking:
    """The ranks of these versions by a system's state as it is, whose strengths must be known jointly."""
    system = run.system
    assert isinstance(system, JointlyKnown)
    places, versions = _placed(system, run.state, among)
    return Ranking(system.name, run.refits, versions, partial(_ranked, system.strengths(run.state), places))


def rows_of(ranking: Ranking, computed: Ranks) -> dict[VersionId, RankRow]:
    """What was found, by version."""
    columns = (computed.lower.tolist(), computed.upper.tolist(), computed.best.tolist(), computed.first_three.tolist())
    return dict(zip(_known(ranking, computed), map(RankRow._make, zip(*columns, strict=True)), strict=True))


def summed_of(ranking: Ranking, computed: Ranks) -> RanksRow | None:
    """What was found of all together; None where nobody takes part."""
    versions = _known(ranking, computed)
    if not versions:
        return None
    by_place = [versions[at] for at in np.argsort(computed.places).tolist()]
    groups = [(by_place[first - 1], by_place[last - 1], last - first + 1) for first, last in computed.groups]
    return RanksRow(
        leader_id=by_place[0],
        versions=len(versions),
        apart=computed.apart,
        turned=computed.turned,
        groups=msgspec.json.encode(groups).decode(),
    )


def _known(ranking: Ranking, computed: Ranks) -> tuple[VersionId, ...]:
    """Whoever joined after the refit began stands behind all that it knows."""
    return ranking.versions[: len(computed.places)]


def _placed(system: JointlyKnown, state: Any, among: Sequence[VersionId]) -> tuple[Ints, tuple[VersionId, ...]]:
    places = system.places(state, among)
    return places, tuple(system.version_at(state, place) for place in places.tolist())


def _after_refit(system: JointlyKnown, job: Any, fit: Any, places: Ints) -> Ranks:
    return _ranked(system.strengths_of(job, fit), places)


def _ranked(strengths: Strengths, places: Ints) -> Ranks:
    return ranks(strengths, places[places < len(strengths.means)], np.random.default_rng(SEED))


def _noticed(before: RankRow, now: RankRow) -> bool:
    if before.rank_lower is None or now.rank_lower is None:
        return before != now
    ends = zip(before[:2], now[:2], strict=True)
    length = (now.rank_upper or 0) - now.rank_lower
    return any(_NOTICED_PART * abs((was or 0) - (end or 0)) > length for was, end in ends) or any(
        abs((was or 0.0) - (share or 0.0)) > NOTICED for was, share in zip(before[2:], now[2:], strict=True)
    )
