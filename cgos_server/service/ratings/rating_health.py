"""Does everything that is rated play like its number: anchors like theirs, versions like their own past?

Each finding comes with a sentence for an operator and a stated rate of false alarms. Must not know: who asks, where the
posterior comes from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import NormalDist
from typing import Final

import msgspec

from cgos_protocol.ids import GameId, VersionId
from cgos_server.core.rating import breaks
from cgos_server.core.rating.base import Outcome
from cgos_server.core.rating.bayes.system import AnchorResidual
from cgos_server.storage.reading.answers import VersionGame

ANCHOR_ALARMS: Final = 0.001
"""The probability that one look raises an alarm though every anchor plays like its number (two-sided, shared equally
by the anchors: Bonferroni)."""


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


class BreakFinding(msgspec.Struct, frozen=True, kw_only=True):
    """A version whose results break with its past.

    :ivar version: wire name
    :ivar look: the number of games at which that was noticed
    :ivar games: how many of them came before the likeliest change
    :ivar game: the first game after it
    :ivar shift: strength after it minus strength before it, Elo
    :ivar p: the probability of so large a difference somewhere if nothing changed
    """

    version: str
    look: int
    games: int
    game: GameId
    shift: float
    p: float
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
    name: str, version: VersionId, games: Sequence[VersionGame], predict: Callable[[VersionId, VersionId], Outcome]
) -> BreakFinding | None:
    """Whether a version's results break with its past; the false alarms of its whole life are one in a thousand.

    :param games: all its games, in order; repeats and those that count for nothing are left out here
    :param predict: (black, white) -> what to expect at the ratings of today
    """
    counted = [game for game in games if game.score2 is not None and not game.repeat]
    results = [_result(version, game, predict) for game in counted]
    flagged = breaks.find(results)
    if flagged is None:
        return None
    look, change = flagged
    game = counted[change.at].game
    way = "stronger" if change.shift > 0 else "weaker"
    sentence = (
        f"{name} seems to have become {abs(change.shift):.0f} Elo {way} at about its {_ordinal(change.at + 1)} game "
        f"(game {game}): if it had not changed, so large a break would come up with probability {change.p:.1g}. If "
        "it is another engine or another setting now, give that a name or a version of its own."
    )
    return BreakFinding(
        version=name, look=look, games=change.at, game=game, shift=change.shift, p=change.p, sentence=sentence
    )


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
