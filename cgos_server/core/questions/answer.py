"""What is known of a question by its own games, and nothing else.

Must not know: names, the ladder, how the answer is shown.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import Final

from msgspec import Struct

from cgos_protocol.ids import VersionId
from cgos_server.core.questions.asked import Asked, Gauntlet, Test
from cgos_server.core.questions.place import place
from cgos_server.core.questions.tally import Score, Tally
from cgos_server.core.rating.base import Z95
from cgos_server.core.sequential import Estimate, estimate, fixed_estimate, remaining, standing

_NORMAL: Final = NormalDist()


class Against(Struct, frozen=True, kw_only=True):
    """The games against one opponent.

    :ivar superiority: a gauntlet: the probability that the version is stronger than this one's rating; else None
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
    :ivar elo: a test, a challenge: by how much it is stronger; a gauntlet: where it stands on the opponents' scale
    :ivar lower: where the 95 % interval begins, `upper`: where it ends
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


def answer_of(asked: Asked, tally: Tally) -> Answer:
    """What the games of the tally say."""
    counts, score = tally.counts(), tally.score()
    common = {
        "wins": score.wins,
        "draws": score.draws,
        "losses": score.losses,
        "counts": counts,
        "repeated": len(tally.repeated),
        "faults": tally.faults(),
    }
    if isinstance(asked, Test):
        return _of_test(asked, counts, common)
    if isinstance(asked, Gauntlet):
        return _of_gauntlet(asked, tally, common)
    against = tuple(_against(version, tally) for version in sorted(tally.opponents)) if asked.against is None else ()
    if not any(counts):
        return Answer(**common)
    return Answer(**common, **_estimated(fixed_estimate(counts)), against=against)


def _of_test(asked: Test, counts: tuple[int, ...], common: dict[str, object]) -> Answer:
    hypotheses = asked.hypotheses
    stands = standing(counts, hypotheses)
    bounds = {"llr": stands.llr, "reject_at": stands.reject_at, "accept_at": stands.accept_at}
    if not any(counts):
        return Answer(**common, **bounds)  # type: ignore[arg-type]
    left = remaining(counts, hypotheses).pairs if stands.decision is None else None
    return Answer(**common, **bounds, **_estimated(estimate(counts, hypotheses)), pairs_left=left)  # type: ignore[arg-type]


def _of_gauntlet(asked: Gauntlet, tally: Tally, common: dict[str, object]) -> Answer:
    stands = place(asked, tally)
    rated = {opponent.version: opponent.rating for opponent in asked.field}
    sd = stands.half_width / Z95
    against = tuple(
        _against(version, tally, superiority=_NORMAL.cdf((stands.elo - rating) / sd))
        for version, rating in rated.items()
    )
    interval = {"elo": stands.elo, "lower": stands.elo - stands.half_width, "upper": stands.elo + stands.half_width}
    return Answer(**common, **(interval if any(tally.counts()) else {}), against=against)  # type: ignore[arg-type]


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


def _estimated(of: Estimate) -> dict[str, float | None]:
    return {
        "elo": of.elo,
        "lower": of.lower,
        "upper": of.upper,
        "normalized": of.normalized,
        "normalized_lower": of.normalized_lower,
        "normalized_upper": of.normalized_upper,
        "superiority": of.superiority,
    }
