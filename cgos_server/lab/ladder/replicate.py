"""One replicate of one row: a matchmaker with a rating system and a policy, in a pool, from the first game to the last.

A value of (population, row, seed, replicate). All rows of a replicate meet the same versions, and a game that two rows
have in common has the same result. Must not know: other replicates, tables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct, field

from cgos_protocol.errors import Code, Invalid
from cgos_protocol.ids import VersionId
from cgos_server.core.pairing.constraints import FREE
from cgos_server.core.pairing.registry import matchmaker
from cgos_server.core.pairing.rolling import Waiting
from cgos_server.core.pairing.shared_options import flat
from cgos_server.core.rating.registry import rating_system
from cgos_server.core.venue import PairingSettings, Policy
from cgos_server.lab.ladder.clockwork import Game, Ladder, Timing, Watch
from cgos_server.lab.ladder.course import Course, Recorder
from cgos_server.lab.ladder.play import Figures, Play
from cgos_server.lab.ladder.players import HOUR, Lots, Population, drawn, stream
from cgos_server.lab.ladder.raters import KNOWN, TOLD, rater
from cgos_server.lab.ratings.pools import INITIAL

LEAST_RATED: Final = 4
"""Versions: two of them are anchors, and ranks are of the others."""


class Row(Struct, frozen=True, kw_only=True):
    """Who pairs, who rates, and when.

    :ivar rating: a rating system, :data:`KNOWN` or :data:`TOLD`
    :ivar interval: seconds between two passes; None: as the ladder has it
    """

    label: str
    matchmaker: str
    rating: str
    policy: Policy
    matchmaker_options: Mapping[str, Any] = field(default_factory=dict)
    rating_options: Mapping[str, Any] = field(default_factory=dict)
    interval: float | None = None


_VENUE: Final = PairingSettings()

CGOS_INTERVAL: Final = 15.0
"""Seconds between two looks of CGOS whether all games have ended."""

SERVERS: Final[Mapping[str, Row]] = MappingProxyType(
    {
        "cgos": Row(
            label="cgos",
            matchmaker="permuted",
            rating="cgos-elo",
            policy=Policy.BARRIER,
            matchmaker_options=flat(FREE, Waiting(overdue=0.0)),
            rating_options={"compat": True},
            interval=CGOS_INTERVAL,
        ),
        "ours": Row(label="ours", matchmaker=_VENUE.method, rating="bayes", policy=_VENUE.policy),
    }
)
"""What servers do by default: CGOS after its source code, by the server's own means; and this one."""


class Task(Struct, frozen=True, kw_only=True):
    """:ivar looks: hours at which the ratings are looked at
    :ivar until: it ends at the first of them at which the RMSE is at most this, Elo; 0: it does not
    """

    population: Population
    row: Row
    seed: int
    replicate: int
    looks: tuple[float, ...]
    until: float = 0.0
    interval: float = 1.0
    settle: float = 0.5


class Outcome(Struct, frozen=True):
    """:ivar course: None where the strengths were known from the beginning"""

    play: Figures
    course: Course | None


def check(row: Row, population: Population) -> None:
    """Raises Refused where the row cannot be, or not in such a pool."""
    matchmaker(row.matchmaker, row.matchmaker_options)
    if row.rating not in (KNOWN, TOLD):
        rating_system(row.rating, INITIAL, row.rating_options)
    elif row.rating_options:
        raise Invalid(Code.LAB, f"The rating {row.rating!r} has no options. Leave them out.")
    if row.rating != KNOWN and population.versions < LEAST_RATED:
        raise Invalid(
            Code.LAB,
            f"Ratings of {population.versions} versions cannot be judged: two are anchors. Take {LEAST_RATED} or more.",
        )


def do(task: Task) -> Outcome:
    """Play it."""
    population, row, replicate = task.population, task.row, task.replicate
    players = drawn(population, task.seed, replicate)
    known = stream(population, task.seed, "known", replicate)
    rated = rater(players, row.rating, row.rating_options, known)
    ladder = Ladder(
        players=players,
        lots=Lots(population, players, task.seed, replicate),
        method=matchmaker(row.matchmaker, row.matchmaker_options),
        policy=row.policy,
        timing=Timing(
            hours=population.hours,
            interval=task.interval if row.interval is None else row.interval,
            settle=task.settle,
        ),
        rater=rated,
        luck=int(stream(population, task.seed, "pairing", replicate).integers(2**63)),
    )
    play = Play(players)
    if not rated.learns:
        ladder.run(play)
        return Outcome(play.figures(ladder), None)
    recorder = Recorder(players, rated, task.until)
    ladder.run(_Both(play, recorder), task.looks)
    return Outcome(play.figures(ladder), recorder.course(ladder.now / HOUR))


class _Both:
    """Two who watch the same."""

    def __init__(self, one: Watch, other: Watch) -> None:
        self._all = (one, other)

    def paired(self, waits: Iterable[float], passed_over: int) -> None:
        for watch in self._all:
            watch.paired(waits, passed_over)

    def began(self, game: Game) -> None:
        for watch in self._all:
            watch.began(game)

    def ended(self, game: Game, score2: int) -> None:
        for watch in self._all:
            watch.ended(game, score2)

    def arrived(self, version: VersionId, now: float) -> None:
        for watch in self._all:
            watch.arrived(version, now)

    def left(self, version: VersionId, now: float, waited: float | None) -> None:
        for watch in self._all:
            watch.left(version, now, waited)

    def look(self, now: float, there: Iterable[VersionId]) -> bool:
        seen = [watch.look(now, there) for watch in self._all]
        return any(seen)
