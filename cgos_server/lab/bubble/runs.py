"""One list ranked again by each method: who meets whom, how many games that takes, and what the new ranking is worth.

Everything is made by the server's systems. Must not know: how a list comes about, how many there are, processes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from msgspec import Struct

from cgos_server.lab.bubble.lists import Listed
from cgos_server.tournaments.base import Entrant, Event, Game, Round
from cgos_server.tournaments.chance import Lots
from cgos_server.tournaments.event import field_of
from cgos_server.tournaments.ledger import ledger
from cgos_server.tournaments.simulation.one_event import Chances, chances_by, entrants_of, final_order, play, played
from cgos_server.tournaments.standings.quality import kendall
from cgos_server.tournaments.systems.bubble import Bubble, Played
from cgos_server.tournaments.systems.bubble_run import Run, advance, arranged, unmet
from cgos_server.tournaments.systems.mwm import Mwm
from cgos_server.tournaments.systems.round_robin import RoundRobin, rounds_for
from cgos_server.tournaments.systems.swiss import Swiss

Model: TypeAlias = Literal["elo", "milvang", "certain"]
"""How games end: see :data:`cgos_server.tournaments.simulation.one_event.Model`; `certain`: the stronger one wins."""

MODELS: Final[tuple[Model, ...]] = get_args(Model)

OLD: Final = "old list"
BUBBLE: Final = "bubble"
ROUND_ROBIN: Final = "round robin"


class Methods(Struct, frozen=True, kw_only=True):
    """What is compared.

    :ivar rounds: of the Swiss events that are short; of the others as many as give the bubble's number of games
    """

    active: int = 10
    matches: int = 15
    unpark: int | None = None
    games: int = 1
    rounds: int = 9

    @property
    def bubble(self) -> Bubble:
        """Raises Refused where the options do not go together."""
        return Bubble(
            active_size=self.active,
            min_matches=self.matches,
            unpark_below=self.unpark,
            games_per_match=self.games,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Of the methods, in the order of the tables."""
        short = f"{self.rounds} rounds"
        return (
            OLD,
            BUBBLE,
            ROUND_ROBIN,
            "mwm, as many games",
            "swiss, as many games",
            f"mwm, {short}",
            f"swiss, {short}",
        )


class Ranked(NamedTuple):
    """What came of a list by one method.

    :ivar tau: Kendall's, of the new ranking with the truth
    :ivar games: played
    :ivar share: of a round robin's games
    :ivar off: mean distance of those who have changed from their true places; None: nobody has
    """

    tau: float
    games: int
    share: float
    off: float | None


def ranked(old: Listed, methods: Methods, model: Model, seed: int) -> list[Ranked]:
    """The list ranked again by each of :attr:`Methods.names`, games drawn from the same seed.

    In the Swiss events ratings are the places of the old list, which pair the first round and part those whom nothing
    else does. None has more rounds than there are opponents.
    """
    size = len(old.strengths)
    chances = chances_of(old, model)
    order, rounds = bubble_of(size, methods.bubble, chances, seed)
    games = sum(len(each.games) for each in rounds)
    most = rounds_for(size)
    equal = min(most, max(1, round(2 * games / size)))
    answers = [_ranked(old, range(1, size + 1), 0, methods), _ranked(old, order, games, methods)]
    event = round_robin_of(size, methods.games == 2, chances, seed)
    answers.append(_of_event(old, RoundRobin(double=methods.games == 2), event, methods))
    for length in (equal, min(most, methods.rounds)):
        for system in (Mwm(order="burstein"), Swiss()):
            start = Event(system=system.name, entrants=_entrants(size), planned=length, seed=seed)
            answers.append(_of_event(old, system, play(system, start, chances), methods))
    return answers


def chances_of(old: Listed, model: Model) -> Chances:
    """What decides the games of this list's engines, 1 = listed first."""
    if model != "certain":
        return chances_by(model, old.strengths)
    strengths = old.strengths

    def chances(game: Game) -> tuple[float, float]:
        white, black = strengths[game.white - 1], strengths[game.black - 1]
        return float(white > black), float(white >= black)

    return chances


def bubble_of(size: int, system: Bubble, chances: Chances, seed: int) -> tuple[tuple[int, ...], list[Round]]:
    """The new ranking, ids best first, and the rounds that led to it.

    The same as the system makes of an event, round by round; but that replays the whole record before each step, which
    for a list of 200 takes most of the time.
    """
    ids = range(1, size + 1)
    place = {id_: id_ - 1 for id_ in ids}
    so_far = Played(system.games_per_match, ())
    run, rounds = Run(), list[Round]()
    while True:
        run, _ = advance(arranged(run, ids, place), ids, place=place, matches=so_far, rules=system.rules)
        if run.is_finished:
            return run.ranked[::-1], rounds
        games = system.games(unmet(run.active, so_far), so_far, place)
        rounds.append(played(Round(number=len(rounds) + 1, games=games), seed, chances))
        so_far.add(rounds[-1])


def round_robin_of(size: int, double: bool, chances: Chances, seed: int) -> Event:
    """A round robin with all its results. Its table depends on no result, so that all rounds are made beforehand."""
    system = RoundRobin(double=double)
    event = Event(system=system.name, entrants=_entrants(size), options={"double": double}, seed=seed)
    before = ledger(event)
    rounds = [
        played(system.decide(event, field_of(event, number), before, Lots(seed, number)), seed, chances)
        for number in range(1, system.length(event) + 1)
    ]
    return Event(system=system.name, entrants=event.entrants, options=event.options, seed=seed, rounds=tuple(rounds))


def _entrants(size: int) -> tuple[Entrant, ...]:
    """In the order of the old list, with ratings that say no more than it."""
    return entrants_of(np.arange(size, 0, -1, dtype=np.float64))


def _of_event(old: Listed, system: RoundRobin | Mwm | Swiss, event: Event, methods: Methods) -> Ranked:
    return _ranked(old, final_order(system, event), sum(1 for _ in event.games), methods)


def _ranked(old: Listed, order: Sequence[int], games: int, methods: Methods) -> Ranked:
    """:param order: ids, best first"""
    strength = dict(enumerate(old.strengths.tolist(), 1))
    true = {id_: at for at, id_ in enumerate(sorted(strength, key=lambda id_: (-strength[id_], id_)))}
    now = {id_: at for at, id_ in enumerate(order)}
    away = [abs(now[at + 1] - true[at + 1]) for at in old.changed]
    return Ranked(
        tau=kendall(order, strength),
        games=games,
        share=games / (methods.games * math.comb(len(order), 2)),
        off=sum(away) / len(away) if away else None,
    )
