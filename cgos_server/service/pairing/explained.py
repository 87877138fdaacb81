"""Why two versions met: a recorded pairing pass with everything that it was decided from, and decided once more.

Must not know: the live server, how answers are shown.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import msgspec
import numpy as np

from cgos_protocol.api.games import Pairing as PairingRow
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
from cgos_server.storage.reading.answers import RoundDetail

PARTNERS: Final = 8
"""Of a version's possible partners so many are shown at first, besides the one that it met."""


class Ready(msgspec.Struct, frozen=True):
    """A version that could play.

    :ivar sd: standard deviation of its rating, 0 where it was not known
    :ivar balance: games as Black minus games as White
    :ivar sat_out: sit-outs in a row before this pass
    :ivar met: whom it met, and in which game; None where it stayed unpaired
    :ivar left_over: why it stayed unpaired; empty for one that was paired, or went away meanwhile
    """

    name: str
    rating: float
    sd: float
    games: int
    waited_s: float
    sat_out: int
    last_opponent: str | None
    balance: int
    anchor: bool
    provisional: bool
    met: str | None
    game: GameId | None
    left_over: str


class Partner(msgspec.Struct, frozen=True):
    """One whom a version could have met.

    :ivar expected: the version's expected score against it, 0 to 1
    :ivar worth: what the game was worth by the method's objective; None where the method has none
    :ivar costs: bits that spoke against it: the venue's wishes, and fast ones meeting fast ones
    :ivar kept: what the two were kept from each other by, in words; empty for nothing
    :ivar possible: False where they could not have met in this pass
    :ivar met: whom it met instead; None for nobody
    """

    name: str
    rating: float
    expected: float
    worth: float | None
    costs: float
    kept: str
    possible: bool
    met: str | None


class Replay(msgspec.Struct, frozen=True):
    """The pass decided again.

    :ivar agrees: whether it comes to the same; None where it cannot be decided again
    :ivar total: of the replay, in millionths; None where the method has none
    :ivar missing: recorded pairs that the replay does not make
    :ivar other: pairs of the replay that are not recorded
    """

    agrees: bool | None
    sentence: str
    total: int | None = None
    missing: list[tuple[str, str]] = []
    other: list[tuple[str, str]] = []


class Explained(msgspec.Struct, frozen=True):
    """A pairing pass; the first fields as in :class:`cgos_server.storage.reading.answers.RoundDetail`.

    :ivar game: the pairing that was asked about, None where the whole round was
    :ivar partners: the two versions of that game, each with those whom it could have met, the best ones first
    """

    round: int
    venue: str
    number: int
    at: int
    policy: str
    method: str
    options: dict[str, Any]
    seed: str
    total: int | None
    game: PairingRow | None
    pairs: list[PairingRow]
    ready: list[Ready]
    sits_out: dict[str, str]
    notes: list[str]
    partners: dict[str, list[Partner]]
    replay: Replay


def explain(
    detail: RoundDetail,
    names: Mapping[VersionId, str],
    game: GameId | None = None,
    make_rng: Callable[[int], Rng] = random.Random,
    *,
    most: int | None = None,
    too_many: str = "",
    partners: int | None = None,
) -> Explained:
    """All about a round, and about one of its games.

    :param names: version id -> wire name, of all versions
    :param partners: so many of a version's possible partners, besides the one that it met; None: all of them
    :param make_rng: as when the pass was decided
    :param most: with more candidates it is not decided again, for the reason `too_many`; None: however many there are
    :raises OurFault: where its record cannot be read
    """
    inputs = msgspec.json.encode(detail.inputs).decode()
    recorded = decode_inputs(inputs)
    act = ranked(recorded)
    pairing = _asked(detail, game)
    sits_out = _sits_out(detail)
    replay = Replay(None, "Nobody was chosen in this round: there is nothing to decide again.")
    could: dict[str, list[Partner]] = {}
    if most is not None and len(act.candidates) > most:
        replay = Replay(None, too_many)
    elif act.candidates:
        try:
            method = recorded_method(detail.method, detail.options or {})
            replay = _replay(detail, decide(method, recorded, make_rng(int(detail.seed))), names)
        except Refused as refusal:
            replay = Replay(None, f"It cannot be decided again by this program. {refusal}")
        else:
            view = _View(act, method, make_rng(int(detail.seed)), detail.pairings)
            sides = () if pairing is None else (pairing.high, pairing.low)
            could = {side: view.partners(side, partners) for side in sides}
    replay = msgspec.structs.replace(replay, sentence=replay.sentence + _of_another_version(detail.method, inputs))
    ready = _ready(act.candidates, names, detail.pairings, sits_out)
    return msgspec.structs.replace(as_recorded(detail, names, game, ""), ready=ready, partners=could, replay=replay)


def _of_another_version(method: str, inputs: str) -> str:
    """A further sentence where another version of a plug-in decided the pass than is installed now."""
    then, now = recorded_plugin(inputs), matchmakers().origin(method)
    if not then or then == now:
        return ""
    return f" It was decided by {then}; {f'{now} is installed now' if now else 'that is not installed now'}."


def as_recorded(detail: RoundDetail, names: Mapping[VersionId, str], game: GameId | None, why: str) -> Explained:
    """What was said of a pass when it was decided, without what it was decided from; `why`: why there is no more."""
    return Explained(
        round=detail.id,
        venue=detail.venue,
        number=detail.number,
        at=detail.at,
        policy=detail.policy,
        method=detail.method,
        options=detail.options or {},
        seed=detail.seed,
        total=detail.total,
        game=_asked(detail, game),
        pairs=detail.pairings,
        ready=[],
        sits_out={names.get(version, str(version)): why for version, why in _sits_out(detail).items()},
        notes=list(detail.notes or ()),
        partners={},
        replay=Replay(None, why),
    )


def _asked(detail: RoundDetail, game: GameId | None) -> PairingRow | None:
    return next((row for row in detail.pairings if row.game == game), None)


def _sits_out(detail: RoundDetail) -> dict[VersionId, str]:
    return {VersionId(int(version)): str(why) for version, why in (detail.sits_out or {}).items()}


def _ready(
    candidates: Sequence[Candidate],
    names: Mapping[VersionId, str],
    pairs: Sequence[PairingRow],
    sits_out: Mapping[VersionId, str],
) -> list[Ready]:
    met = {name: (other, row.game) for row in pairs for name, other in ((row.high, row.low), (row.low, row.high))}
    ready = []
    for one in candidates:
        partner, game = met.get(one.name, (None, None))
        last = one.last_opponent
        ready.append(
            Ready(
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
        )
    return ready


def _replay(detail: RoundDetail, again: Pairing, names: Mapping[VersionId, str]) -> Replay:
    ids = {name: version for version, name in names.items()}
    recorded = {_ordered(row.high, row.low) for row in detail.pairings}
    now = {_ordered(names[pair.high], names[pair.low]) for pair in again.pairs}
    verdict = same([(ids[one], ids[other]) for one, other in recorded], detail.total, again)
    missing, other = sorted(recorded - now), sorted(now - recorded)
    alike = "" if verdict.agrees or missing else " The pairs are the same."
    return Replay(
        agrees=verdict.agrees, sentence=verdict.sentence + alike, total=again.total, missing=missing, other=other
    )


def _ordered(one: str, other: str) -> tuple[str, str]:
    return min(one, other), max(one, other)


class _View:
    """What the method saw in the pairs of one pass."""

    def __init__(self, act: PairingPass, method: Matchmaker, rng: Rng, pairs: Sequence[PairingRow]) -> None:
        self._act = act
        self._place = {candidate.name: at for at, candidate in enumerate(act.candidates)}
        # All options are recorded; a method without constraints keeps nobody apart.
        constraints, self._waiting = shared(method.name, method.options, FREE)
        self._rules = PairConstraints(constraints, act, self._waiting)
        # Methods that pair one after another have no objective.
        objective: Objective | None = getattr(method, "objective", None)
        self._worths = None if objective is None or len(act.candidates) < 2 else objective.look(act, rng)
        self._met = {name: other for row in pairs for name, other in ((row.high, row.low), (row.low, row.high))}

    def partners(self, name: str, most: int | None) -> list[Partner]:
        """Those whom the version could have met, the best ones first, with the one that it met at least `most`; empty
        where it was no candidate."""
        at = self._place.get(name)
        if at is None:
            return []
        others = np.array([place for place in range(len(self._act.candidates)) if place != at], dtype=np.int64)
        me = np.full(len(others), at, dtype=np.int64)
        expected, possible = self._rules.expected(me, others), self._rules.open(me, others)
        costs = self._rules.costs(me, others) + unfairness(self._act, self._waiting, me, others)
        barriers = self._rules.barriers(me, others)
        worth = None if self._worths is None else self._worths.of(me, others)
        order = np.lexsort((self._far(at, others) if worth is None else costs - worth, barriers, ~possible))
        chosen = [row for row in order.tolist() if self._act.candidates[others[row]].name == self._met.get(name)]
        shown = dict.fromkeys((*chosen, *order.tolist()[:most]))
        partners = []
        for row in sorted(shown, key=order.tolist().index):
            other = self._act.candidates[others[row]]
            partners.append(
                Partner(
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
        ratings = np.array([candidate.rating for candidate in self._act.candidates])
        far: Floats = np.abs(ratings[others] - ratings[at])
        return far
