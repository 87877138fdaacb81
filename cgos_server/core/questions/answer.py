"""What is known of a question by its own games, and nothing else.

Must not know: names, the ladder, how the answer is shown.
"""

from __future__ import annotations

from dataclasses import asdict
from statistics import NormalDist
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from cgos_protocol.ids import VersionId
from cgos_server.core.questions.asked import Asked, Gauntlet, Test
from cgos_server.core.questions.place import place
from cgos_server.core.questions.tally import Score, Tally
from cgos_server.core.rating.together import JointRatings
from cgos_server.core.sequential import (
    LEAST_GAMES,
    Estimate,
    Standing,
    drop_vague_elo,
    estimate,
    fixed_estimate,
    remaining,
    standing,
)

_NORMAL: Final = NormalDist()


class Against(Struct, frozen=True, kw_only=True):
    """The games against one opponent.

    :ivar superiority: a gauntlet: the probability that the version is stronger than this one; else None
    """

    version: VersionId
    wins: int
    draws: int
    losses: int
    counts: tuple[int, ...]
    superiority: float | None = None


class Answer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known. Elo; None where it does not apply, or cannot be said yet.

    :ivar wins: of the version whose strength is asked about, in pairs that count
    :ivar counts: pairs in which it had 0, 1/2, 1, 3/2 and 2 points
    :ivar repeated: pairs that repeated an earlier one move by move, and count for nothing
    :ivar faults: how games ended other than on the board -> [lost so by the version, by its opponents]
    :ivar llr: a test's log-likelihood ratio, with its two bounds `reject_at` and `accept_at`
    :ivar elo: a test, a challenge: by how much it is stronger; a gauntlet: where it stands on the opponents' scale;
        None with the rest of the estimate where :func:`~cgos_server.core.sequential.drop_vague_elo` withholds it
    :ivar lower: where the 95 % interval begins, `upper`: where it ends
    :ivar least_half_width: a gauntlet: half of the interval that any number of games would leave
    :ivar note: what the interval leaves out, a sentence; empty for nothing
    :ivar normalized: the difference in normalized Elo, with its interval
    :ivar superiority: the share of chance that speaks for the version: see
        :attr:`cgos_server.core.sequential.Estimate.superiority`
    :ivar pairs_left: a test that goes on: pairs that it still takes on average, if the estimate is true
    :ivar against: the games by opponent, where there are several
    """

    wins: int = 0
    draws: int = 0
    losses: int = 0
    counts: tuple[int, ...] = (0, 0, 0, 0, 0)
    repeated: int = 0
    faults: dict[str, tuple[int, int]] = {}
    llr: float | None = None
    reject_at: float | None = None
    accept_at: float | None = None
    elo: float | None = None
    lower: float | None = None
    upper: float | None = None
    least_half_width: float = 0.0
    note: str = ""
    normalized: float | None = None
    normalized_lower: float | None = None
    normalized_upper: float | None = None
    superiority: float | None = None
    pairs_left: float | None = None
    against: tuple[Against, ...] = ()

    @property
    def games(self) -> int:
        """Games in pairs that count."""
        return self.wins + self.draws + self.losses

    @property
    def estimate(self) -> Estimate:
        """By how much it is stronger."""
        return Estimate(
            elo=self.elo,
            lower=self.lower,
            upper=self.upper,
            normalized=self.normalized,
            normalized_lower=self.normalized_lower,
            normalized_upper=self.normalized_upper,
            superiority=0.5 if self.superiority is None else self.superiority,
        )


def tallied(asked: Asked, tally: Tally) -> Answer:
    """What is counted of the games, and where a test stands; nothing that is estimated, which takes its time."""
    known = _counted(tally)
    return _with_standing(known, standing(known.counts, asked.hypotheses)) if isinstance(asked, Test) else known


def answer_of(asked: Asked, tally: Tally, ratings: JointRatings | None = None) -> Answer:
    """What the games of the tally say. `ratings`: see :func:`cgos_server.core.questions.place.place`."""
    known = _counted(tally)
    if isinstance(asked, Test):
        return _of_test(asked, known)
    if isinstance(asked, Gauntlet):
        return _of_gauntlet(asked, tally, known, ratings)
    if asked.against is None:
        known = replace(known, against=tuple(_against(version, tally) for version in sorted(tally.opponents)))
    return _with(known, fixed_estimate(known.counts)) if any(known.counts) else known


def _counted(tally: Tally) -> Answer:
    score = tally.score()
    return Answer(
        wins=score.wins,
        draws=score.draws,
        losses=score.losses,
        counts=tally.counts(),
        repeated=len(tally.repeated),
        faults=tally.faults(),
    )


def _with_standing(known: Answer, stands: Standing) -> Answer:
    return replace(known, llr=stands.llr, reject_at=stands.reject_at, accept_at=stands.accept_at)


def _of_test(asked: Test, known: Answer) -> Answer:
    hypotheses = asked.hypotheses
    stands = standing(known.counts, hypotheses)
    known = _with_standing(known, stands)
    if not any(known.counts):
        return known
    if stands.decision is None:
        known = replace(known, pairs_left=remaining(known.counts, hypotheses).pairs)
    return _with(known, estimate(known.counts, hypotheses))


def _of_gauntlet(asked: Gauntlet, tally: Tally, known: Answer, ratings: JointRatings | None) -> Answer:
    stands = place(asked, tally, ratings)
    against = tuple(
        _against(opponent.version, tally, superiority=_NORMAL.cdf(lead / sd))
        for opponent, (lead, sd) in zip(asked.field, stands.leads, strict=True)
    )
    known = replace(known, against=against, note="" if ratings is None else ratings.note)
    if not any(known.counts):
        return known
    elo, half = stands.elo, stands.half_width
    if known.games < LEAST_GAMES and half > asked.within:
        return known
    return replace(known, elo=elo, lower=elo - half, upper=elo + half, least_half_width=stands.least_half_width)


def _against(version: VersionId, tally: Tally, superiority: float | None = None) -> Against:
    score: Score = tally.score(version)
    return Against(
        version=version,
        wins=score.wins,
        draws=score.draws,
        losses=score.losses,
        counts=tally.counts(version),
        superiority=superiority,
    )


def drop_vague_estimate(known: Answer) -> Answer:
    """The answer of a test or a challenge that an earlier release stored, as :func:`answer_of` gives it today."""
    return _with(known, known.estimate) if known.games else known


def _with(known: Answer, of: Estimate) -> Answer:
    return replace(known, **asdict(drop_vague_elo(of, known.games)))
