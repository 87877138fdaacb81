"""Why two versions met: a recorded pairing pass with everything that it was decided from, and decided once more.

Must not know: the live server, how answers are shown.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
import numpy as np
from msgspec.structs import replace

from cgos_protocol.api import games as api
from cgos_protocol.errors import Refused
from cgos_protocol.ids import GameId, VersionId
from cgos_protocol.randomness import Rng
from cgos_server.core.pairing.base import Candidate, Floats, Matchmaker, Pairing, PairingPass
from cgos_server.core.pairing.constraints import FREE, PairConstraints
from cgos_server.core.pairing.explain import decode_inputs, recorded_method, recorded_plugin, same
from cgos_server.core.pairing.methods.objective import Objective
from cgos_server.core.pairing.ranking import ranked
from cgos_server.core.pairing.registry import decide, matchmakers
from cgos_server.core.pairing.rolling import unfairness
from cgos_server.core.pairing.shared_options import shared
from cgos_server.storage.reading.answers import RoundDetail as Recorded

PARTNERS: Final = 8
"""Of a version's possible partners so many are shown at first, besides the one that it met."""

_REMOVED: Final = (
    "What it was decided from is kept no longer (`retention.rounds_days`): it cannot be decided again, nor is it known "
    "who else was ready."
)


def explain(
    detail: Recorded,
    names: Mapping[VersionId, str],
    game: GameId | None = None,
    *,
    most: int | None = None,
    too_many: str = "",
    partners: int | None = None,
) -> api.RoundDetail:
    """All about a round, and about one of its games.

    :param names: version id -> wire name, of all versions
    :param partners: so many of a version's possible partners, besides the one that it met; None: all of them
    :param most: with more candidates it is not decided again, for the reason `too_many`; None: however many there are
    :raises OurFault: where its record cannot be read
    """
    if detail.inputs is None:
        return as_recorded(detail, names, game, _REMOVED)
    inputs = msgspec.json.encode(detail.inputs).decode()
    recorded = decode_inputs(inputs)
    pairing_pass = ranked(recorded)
    explained = as_recorded(detail, names, game, "Nobody was chosen in this round: there is nothing to decide again.")
    replay = explained.replay
    could: dict[str, list[api.Partner]] = {}
    if most is not None and len(pairing_pass.candidates) > most:
        replay = _no_replay(too_many)
    elif pairing_pass.candidates:
        try:
            method = recorded_method(detail.method, detail.options or {})
            replay = _replay(detail, decide(method, recorded, random.Random(int(detail.seed))), names)
        except Refused as refusal:
            replay = _no_replay(f"It cannot be decided again by this program. {refusal}")
        else:
            view = _View(pairing_pass, method, random.Random(int(detail.seed)), detail.pairings)
            sides = () if explained.game is None else (explained.game.high, explained.game.low)
            could = {side: view.partners(side, partners) for side in sides}
    replay = replace(replay, sentence=replay.sentence + _of_another_version(detail.method, inputs))
    met, sits_out = _met(detail.pairings), _sits_out(detail)
    ready = [_ready(one, names, met, sits_out) for one in pairing_pass.candidates]
    return replace(explained, ready=ready, partners=could, replay=replay)


def order_in_words(partners: Sequence[api.Partner]) -> str:
    """Say how the partners of a version are sorted."""
    by_worth = bool(partners) and partners[0].worth is not None
    return f"those that no rule kept apart first, by {'worth minus costs' if by_worth else 'difference of ratings'}"


def _of_another_version(method: str, inputs: str) -> str:
    """A further sentence where another version of a plug-in decided the pass than is installed now."""
    then, now = recorded_plugin(inputs), matchmakers().origin(method)
    if not then or then == now:
        return ""
    return f" It was decided by {then}; {f'{now} is installed now' if now else 'that is not installed now'}."


def as_recorded(detail: Recorded, names: Mapping[VersionId, str], game: GameId | None, why: str) -> api.RoundDetail:
    """What was said of a pass when it was decided, without what it was decided from; `why`: why there is no more."""
    return api.RoundDetail(
        round=detail.id,
        venue=detail.venue,
        number=detail.number,
        at=detail.at,
        policy=detail.policy,
        method=detail.method,
        options=detail.options or {},
        seed=detail.seed,
        total=detail.total,
        game=next((row for row in detail.pairings if row.game == game), None),
        pairs=detail.pairings,
        ready=[],
        sits_out={names.get(version, str(version)): why for version, why in _sits_out(detail).items()},
        notes=list(detail.notes or ()),
        partners={},
        replay=_no_replay(why),
    )


def _no_replay(why: str) -> api.Replay:
    return api.Replay(agrees=None, sentence=why, total=None, missing=[], other=[])


def _sits_out(detail: Recorded) -> dict[VersionId, str]:
    return {VersionId(int(version)): str(why) for version, why in (detail.sits_out or {}).items()}


def _met(pairs: Sequence[api.Pairing]) -> dict[str, tuple[str, GameId]]:
    """Name -> whom it met, and in which game."""
    return {name: (other, row.game) for row in pairs for name, other in ((row.high, row.low), (row.low, row.high))}


def _ready(
    one: Candidate,
    names: Mapping[VersionId, str],
    met: Mapping[str, tuple[str, GameId]],
    sits_out: Mapping[VersionId, str],
) -> api.Ready:
    partner, game = met.get(one.name, (None, None))
    last = one.last_opponent
    return api.Ready(
        name=one.name,
        rating=one.rating,
        sd=one.sd,
        games=one.games,
        waited_s=one.waited / 1e6,
        sat_out=one.sat_out,
        last_opponent=None if last is None else names.get(last, str(last)),
        balance=one.balance,
        anchor=one.anchor,
        provisional=one.provisional,
        met=partner,
        game=game,
        left_over=sits_out.get(one.id, ""),
    )


def _replay(detail: Recorded, again: Pairing, names: Mapping[VersionId, str]) -> api.Replay:
    ids = {name: version for version, name in names.items()}
    recorded = {_ordered(row.high, row.low) for row in detail.pairings}
    now = {_ordered(names[pair.high], names[pair.low]) for pair in again.pairs}
    verdict = same([(ids[one], ids[other]) for one, other in recorded], detail.total, again)
    missing, other = sorted(recorded - now), sorted(now - recorded)
    alike = "" if verdict.agrees or missing else " The pairs are the same."
    return api.Replay(
        agrees=verdict.agrees, sentence=verdict.sentence + alike, total=again.total, missing=missing, other=other
    )


def _ordered(one: str, other: str) -> tuple[str, str]:
    return min(one, other), max(one, other)


class _View:
    """What the method saw in the pairs of one pass."""

    def __init__(self, pairing_pass: PairingPass, method: Matchmaker, rng: Rng, pairs: Sequence[api.Pairing]) -> None:
        self._pairing_pass, self._candidates = pairing_pass, pairing_pass.candidates
        self._place = {candidate.name: at for at, candidate in enumerate(pairing_pass.candidates)}
        # All options are recorded; a method without constraints keeps nobody apart.
        constraints, self._waiting = shared(method.name, method.options, FREE)
        self._rules = PairConstraints(constraints, pairing_pass, self._waiting)
        # Methods that pair one after another have no objective.
        objective: Objective | None = getattr(method, "objective", None)
        alone = len(pairing_pass.candidates) < 2
        self._worths = None if objective is None or alone else objective.look(pairing_pass, rng)
        self._met = {name: other for name, (other, _) in _met(pairs).items()}

    def partners(self, name: str, most: int | None) -> list[api.Partner]:
        """Those whom the version could have met, as :func:`order_in_words` says, with the one that it met at least
        `most`; empty where it was no candidate."""
        at = self._place.get(name)
        if at is None:
            return []
        others = np.array([place for place in range(len(self._candidates)) if place != at], dtype=np.int64)
        me = np.full(len(others), at, dtype=np.int64)
        expected, possible = self._rules.expected(me, others), self._rules.open(me, others)
        costs = self._rules.costs(me, others) + unfairness(self._pairing_pass, self._waiting, me, others)
        barriers = self._rules.barriers(me, others)
        worth = None if self._worths is None else self._worths.of(me, others)
        order = np.lexsort((self._far(at, others) if worth is None else costs - worth, barriers > 0, ~possible))
        chosen = [row for row in order.tolist() if self._candidates[others[row]].name == self._met.get(name)]
        shown = dict.fromkeys((*chosen, *order.tolist()[:most]))
        partners = []
        for row in sorted(shown, key=order.tolist().index):
            other = self._candidates[others[row]]
            partners.append(
                api.Partner(
                    name=other.name,
                    rating=other.rating,
                    expected=float(expected[row]),
                    worth=None if worth is None else float(worth[row]),
                    costs=float(costs[row]),
                    kept=self._rules.never(at, int(others[row])) or self._rules.why(at, int(others[row])),
                    possible=bool(possible[row]),
                    met=self._met.get(other.name),
                )
            )
        return partners

    def _far(self, at: int, others: np.ndarray[Any, np.dtype[np.int64]]) -> Floats:
        ratings = np.array([candidate.rating for candidate in self._candidates])
        far: Floats = np.abs(ratings[others] - ratings[at])
        return far
