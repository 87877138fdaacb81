"""The rows that the writer takes of refits: what each one moved, and what it says of the ranks.

As :mod:`cgos_server.storage.writing.records`. Must not know: SQL, how a refit is made.
"""

from __future__ import annotations

from typing import NamedTuple

from cgos_protocol.ids import VenueId, VersionId


class RefitAdded(NamedTuple):
    """Refit `number` (from 1) of a system with refits: it counts entries up to `included`, began while refit `base`
    (0: none) was in place, and was put in after entry `applied`. `notes` is JSON of hyperparameters, start and
    iterations, `build` the id of a `BuildSeen`."""

    venue_id: VenueId
    system: str
    number: int
    included: int
    base: int
    applied: int
    cold: int
    notes: str
    build: str
    at: int
    took_us: int


class RefitMoved(NamedTuple):
    """Refit `number`, after entry `applied`, moved this version. Kept only where mean or spread moved by more than 0.1
    since the version's last row: an index for graphs, the truth is the ledger with the recorded refits."""

    venue_id: VenueId
    system: str
    version_id: VersionId
    number: int
    applied: int
    mean: float
    spread: float
    lower: float | None = None
    upper: float | None = None


class RankMoved(NamedTuple):
    """What refit `number` says of a version's rank: its 95 % interval, the probabilities to be the best and among the
    first three. All None: the version takes no part in ranks any more. Kept only where it is noticeably other than in
    the version's last row."""

    venue_id: VenueId
    system: str
    version_id: VersionId
    number: int
    rank_lower: int | None
    rank_upper: int | None
    best: float | None
    first_three: float | None


class RanksSummed(NamedTuple):
    """What refit `number` says of all ranks together, kept where it is other than what the last one said.

    :ivar leader_id: who is first by mean
    :ivar versions: how many take part
    :ivar apart: how many of the pairs of neighbors are told apart
    :ivar turned: how few results, turned round, would put another first; None where nobody can say
    :ivar groups: JSON of [first version's id, last one's, how many versions] for each run that cannot be told apart
    """

    venue_id: VenueId
    system: str
    number: int
    leader_id: VersionId
    versions: int
    apart: int
    turned: int | None
    groups: str


class RefitMoveForgotten(NamedTuple):
    """A `RefitMoved` is kept no longer: the row goes."""

    venue_id: VenueId
    system: str
    version_id: VersionId
    number: int


class RankMoveForgotten(NamedTuple):
    """A `RankMoved` is kept no longer: the row goes."""

    venue_id: VenueId
    system: str
    version_id: VersionId
    number: int


class RankSumForgotten(NamedTuple):
    """A `RanksSummed` is kept no longer: the row goes."""

    venue_id: VenueId
    system: str
    number: int


Refitting = (
    RefitAdded | RefitMoved | RankMoved | RanksSummed | RefitMoveForgotten | RankMoveForgotten | RankSumForgotten
)
