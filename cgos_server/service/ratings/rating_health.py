"""Does everything that is rated play like its number: anchors like theirs, versions like their own past?

Each finding comes with a sentence for an operator and a stated rate of false alarms. Must not know: who asks, where the
posterior comes from.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from statistics import NormalDist
from typing import Final

import msgspec

from cgos_protocol.api.messages import RatingSince, StrengthChange
from cgos_protocol.ids import VersionId
from cgos_server.core.rating import breaks
from cgos_server.core.rating.base import Outcome, Rating
from cgos_server.core.rating.bayes.system import AnchorResidual
from cgos_server.core.rating.since import strength_of
from cgos_server.storage.reading.answers import VersionGame

ANCHOR_ALARMS: Final = 0.001
"""The probability that one look raises an alarm though every anchor plays like its number (two-sided, shared equally
by the anchors: Bonferroni)."""

PROPOSAL: Final = (
    "If {name} is another engine or another setting now, give that a version of its own, which is rated by itself and "
    "begins near this one. By WebSocket: sign in with another `version` (cgos-client run --version NEW). On the CGOS "
    "lines: sign in under another name, which an operator links with: cgos-server family link NEW {name}. If nothing "
    "was changed, there is nothing to do."
)
"""What an owner is asked to do."""


class AnchorFinding(msgspec.Struct, frozen=True, kw_only=True):
    """An anchor against what its games and the other anchors say of it.

    :ivar version: wire name
    :ivar value: its stated rating, Elo, known to `sd`
    :ivar mean: what the games say, known to `mean_sd`
    :ivar z: their difference in standard deviations
    :ivar limit: beyond which |z| is an alarm
    """

    version: str
    value: float
    sd: float
    mean: float
    mean_sd: float
    z: float
    limit: float
    alarm: bool
    sentence: str


def check_anchors(
    residuals: Iterable[AnchorResidual], names: Mapping[VersionId, str], venue: str
) -> list[AnchorFinding]:
    """A finding for every anchor of which something is known besides its own number, the worst first.

    :param residuals: of :meth:`cgos_server.core.rating.bayes.system.Bayes.anchor_residuals`
    :param names: version id -> wire name
    :param venue: the word for it, for the remedy
    """
    worst_first = sorted(residuals, key=lambda residual: -abs(residual.z))
    limit = NormalDist().inv_cdf(1 - ANCHOR_ALARMS / (2 * max(len(worst_first), 1)))
    findings = []
    for residual in worst_first:
        name, alarm = names.get(residual.version, str(residual.version)), abs(residual.z) > limit
        # A statement is as far off as the two differ, with the uncertainty of both.
        says = f"say {residual.mean:.0f} ± {1.96 * residual.mean_sd:.0f}."
        verdict = (
            f"{name} does not play like its number any more: it stands for {residual.value:.0f}, but its games against "
            f"the others {says} Set it anew with: cgos-server anchor set {name} RATING --sd SD --venue {venue}. Or let "
            f"it go with: cgos-server anchor unset {name} --venue {venue}"
            if alarm
            else f"{name} plays like its number: its games against the others {says}"
        )
        of = residual._asdict() | {"version": name}
        findings.append(AnchorFinding(**of, limit=limit, alarm=alarm, sentence=verdict))
    return findings


def check_version(
    name: str,
    version: VersionId,
    games: Sequence[VersionGame],
    *,
    venue: str,
    predict: Callable[[VersionId, VersionId], Outcome],
    ratings: Mapping[VersionId, Rating],
    sure: bool,
    earlier: int = 0,
    without: Collection[VersionId] = (),
) -> StrengthChange | None:
    """Whether a version's strength seems to have changed, by :func:`cgos_server.core.rating.breaks.find`.

    :param games: all its games, in order; repeats and those that count for nothing are left out here
    :param venue: the word for it
    :param predict: (black, white) -> what to expect at the ratings of today
    :param ratings: everybody's, of today
    :param sure: their spreads are standard deviations in Elo
    :param earlier: games before these, which are not looked at
    :param without: opponents whose games are left out, too
    """
    counted = [game for game in games if game.score2 is not None and not game.repeat]
    numbered = [(number, game) for number, game in enumerate(counted, earlier + 1) if game.opponent not in without]
    tested = [game for _, game in numbered]
    results = [_result(version, game, predict) for game in tested]
    noticed = breaks.find(results)
    if noticed is None:
        return None
    at, last = noticed.change.at, noticed.look - 1
    number, noticed_after = numbered[at][0], numbered[last][0]
    since = _since(tested[at:], results[at:], ratings[version].mean, ratings) if sure else None
    way = "stronger" if noticed.change.shift > 0 else "weaker"
    rate = "one in a thousand is flagged" if noticed.state is breaks.State.FLAGGED else "one in a hundred is watched"
    return StrengthChange(
        version=name,
        venue=venue,
        state=noticed.state.value,
        noticed_at=tested[last].at,
        noticed_after=noticed_after,
        number=number,
        game=tested[at].game,
        shift=noticed.change.shift,
        z=noticed.change.z,
        rating_since=since,
        sentence=f"{name} seems to have become {abs(noticed.change.shift):.0f} Elo {way} at about its "
        f"{_ordinal(number)} game (game {tested[at].game}), as seen after {noticed_after} games. Of versions that "
        f"never change {rate} within {breaks.CALIBRATED} games.",
        proposal=PROPOSAL.format(name=name),
    )


async def settled(
    changes: Mapping[VersionId, StrengthChange],
    again: Callable[[VersionId, Collection[VersionId]], Awaitable[StrengthChange | None]],
) -> dict[VersionId, StrengthChange]:
    """Of versions that seem to have changed, those of which this holds without their games against the others.

    Who changes seems to change those whom it meets often. The surest comes first, since all its games speak for it,
    and of theirs only those against it.

    :param again: :func:`check_version` of this version without these opponents
    """
    sure: dict[VersionId, StrengthChange] = {}
    for version in sorted(changes, key=lambda version: (-changes[version].z, version)):
        change = await again(version, sure.keys()) if sure else changes[version]
        if change is not None:
            sure[version] = change
    return sure


def _since(
    games: Sequence[VersionGame],
    results: Sequence[breaks.Result],
    rating: float,
    ratings: Mapping[VersionId, Rating],
) -> RatingSince:
    strength = strength_of(
        results,
        [game.opponent for game in games],
        rating=rating,
        spreads={game.opponent: ratings[game.opponent].spread for game in games},
        pool=[each.mean for each in ratings.values() if each.games],
    )
    return RatingSince(games=len(games), **strength._asdict())


def _result(version: VersionId, game: VersionGame, predict: Callable[[VersionId, VersionId], Outcome]) -> breaks.Result:
    assert game.score2 is not None
    black = game.color == "black"
    outcome = predict(version, game.opponent) if black else predict(game.opponent, version)
    expected = outcome.score if black else 1 - outcome.score
    variance = outcome.win + outcome.draw / 4 - outcome.score**2
    return breaks.Result(game.score2 / 2, min(max(expected, 1e-6), 1 - 1e-6), max(variance, 1e-6))


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
