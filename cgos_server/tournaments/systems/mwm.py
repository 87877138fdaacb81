"""MWM Swiss: the whole field is paired at once, by one maximum weight matching a round.

Knows who is ranked where, who sits out, who gets White, and how to say why. Must not know: the weights and how the
matching is found, how tie-breakers are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Annotated, Final

import numpy as np

from cgos_protocol.errors import Code, NotFound
from cgos_protocol.options import Choice, Flag, Number
from cgos_server.tournaments.base import (
    Chance,
    Entrant,
    Event,
    Explanation,
    Game,
    Ints,
    Round,
    Standings,
    declared,
)
from cgos_server.tournaments.chance import COLOR_LOT, Lots, coin
from cgos_server.tournaments.event import Field
from cgos_server.tournaments.ledger import Ledger, Line, counting
from cgos_server.tournaments.pairing.byes import sit_out
from cgos_server.tournaments.pairing.colors import BY_LOT, LOWER_BALANCE, once_more
from cgos_server.tournaments.pairing.mwm_weights import (
    MILLION,
    ORDERS,
    Bools,
    Decision,
    of_ranks,
    pair_field,
    third_of,
)
from cgos_server.tournaments.standings.tiebreaks import standings_by
from cgos_server.tournaments.systems.by_rounds import ByRounds
from cgos_server.tournaments.words import counted, in_points

_RELAXED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "strict": "",
        "color_relaxed": "No round of new pairs keeps everybody's colors within {beta}, so this one need not.",
        "rematch": "No round of new pairs is possible, so pairs may meet again, as seldom as can be.",
        "rematch_color_relaxed": "No round of new pairs is possible, and none that keeps everybody's colors within "
        "{beta}, so pairs may meet again, as seldom as can be, and colors may differ more.",
    }
)


@dataclass(frozen=True)
class Mwm(ByRounds):
    """MWM Swiss: near scores first, balanced colors second, the order of pairing third, over the whole field at once.

    For fields in which a round robin would take too long, where the final ranking shall be as true as possible; any
    number of rounds. Everybody plays in every round, but one of an odd field: the last in rank of those with the
    fewest byes, so that nobody has a second one before everybody has had one (after that: our choice). Guaranteed
    in every round: nobody has had one color in over `beta` games more than the other, and nobody meets the same
    opponent twice. Where no such round exists, this round alone lets go of, in this order (our choice; the source
    has nothing): the colors (`color_relaxed`), new opponents (`rematch`: as few and as rare rematches as can be,
    before all else), or both (`rematch_color_relaxed`). Pairs that must not meet never do; where that leaves no
    round, it is refused.

    Ranks are by score, rating, then the order of `ties`; no rating counts as the lowest (our choice). Of all possible
    rounds the one is made that is best in the sums over its pairs of, first, the distances of the scores; second, the
    differences of the color balances, the larger the better; third, what the order of pairing says. These are whole
    numbers and compared exactly; rounds equal in all three are separated by fixed numbers of the ranks (our choice).
    Who has had White less often gets White; between equals a coin decides.

    Games that were not played leave the colors alone. New events treat forfeits as FIDE does (C.04): two whose game was
    forfeited may be paired again, and a win by forfeit counts like a bye where a field is odd. Records without the two
    options are of earlier events: there forfeits count as met, and not as byes. A late entrant begins with nothing.
    Byes asked for do not count as byes of an odd field.

    Source: Sauer, Cseh & Lenzner (2022; 2024). They scale the three sums by 10,000 and 100, which does not always keep
    their order, hence the exact comparison; any beta between 1 and 2 is said to keep balances within 1, which holds for
    1 alone, hence `beta` is rounded down; that up to n / 2 rounds are always possible overlooks the colors: with beta
    1 and 8 players about one event in twenty has no strict round 4. The first two weights and the numbers of the random
    orders are reconstructed from their published figures: :mod:`cgos_server.tournaments.pairing.mwm_weights`. Standings
    are theirs: FIDE C.02.13 (2020) for individual Swiss events with consistent ratings, then the rating.

    Options:

    - `order`: `dutch`, the upper half of a score group against the lower, 1-5, 2-6, 3-7, 4-8; `burstein`, the first
      against the last, 1-8, 2-7, 3-6, 4-5, which in their simulations ranks best; `monrad`, neighbors, 1-2, 3-4, 5-6,
      7-8; `random`; `random2`, random between the halves of a score group.
    - `ties`: `listed`, that of registration, or `lot`, drawn once for the event.
    - `forfeit_counts_as_met`, `forfeit_win_takes_bye`: see above; of new events false and true.

    Draws: `u` (smaller id, larger id), the numbers of the random orders; `color` (better ranked, other), true if the
    better ranked has White; and of the lots of round 0 `order` (id).

    Details: `order`, `beta`; `level`: `strict` or what was let go; `total`: the sums of the three weights (half points;
    games; millionths), before them at the rematch levels how often these pairs had met; `ranked`: ids of the paired,
    best first; `balances`: games with White less games with Black before the round, of each of them.
    """

    name = "mwm"
    tie_breakers = (
        "points",
        "buchholz-cut1",
        "buchholz",
        "direct",
        "aroc",
        "wins",
        "wins-black",
        "games-black",
        "sonneborn-berger",
        "rating",
        "seed",
    )

    order: Annotated[str, Choice(ORDERS, meaning="whom of a score group the method would like to meet")] = "burstein"
    beta: Annotated[float, Number(1, 1_000, meaning="largest difference between games with either color")] = 2
    ties: Annotated[str, Choice(("listed", "lot"), meaning="the order of those with equal ratings")] = "listed"
    forfeit_counts_as_met: Annotated[bool, Flag(meaning="whether two whose game was forfeited have met")] = True
    forfeit_win_takes_bye: Annotated[bool, Flag(meaning="whether a win by forfeit uses up the bye")] = False

    @property
    def balance(self) -> int:
        """Games with one color that anybody may have had more than with the other, in whole ones."""
        return int(self.beta)

    def decide(self, event: Event, field: Field, ledger: Ledger, rng: Chance) -> Round:
        names = event.names
        ledger = self._counted(event, ledger)
        byes = "byes and wins by forfeit" if self.forfeit_win_takes_bye else "byes"
        out = sit_out(event, self._ranked(event, field.players, ledger), ledger, "lowest in rank", byes=byes)
        ids, why = list(out.order), list(out.why)
        lines = [ledger.lines[id_] for id_ in ids]
        decision = self._decision(ids, lines, ledger=ledger, event=event, rng=rng)
        if decision.level != "strict":
            why.append(_RELAXED[decision.level].format(beta=self.balance))
        games = _games(ids, decision, ledger, rng)
        again = [
            f"{names[game.black]} - {names[game.white]}" for game in games if ledger.have_met(game.white, game.black)
        ]
        if again:
            why.append(f"Once more: {', '.join(again)}.")
        first = f"Round {field.number}: {counted(len(games), 'game')}, order {self.order}."
        details = {
            "order": self.order,
            "beta": self.balance,
            "level": decision.level,
            "total": list(decision.total),
            "ranked": ids,
            "balances": [line.balance for line in lines],
        }
        return Round(
            number=field.number, games=games, byes=out.byes, explanation=Explanation(" ".join((first, *why)), details)
        )

    def _counted(self, event: Event, ledger: Ledger) -> Ledger:
        """Return the ledger with the meetings and byes that count by the options about forfeits."""
        lines, met = ledger.lines, ledger.met
        if not self.forfeit_counts_as_met:
            rounds = ({game.pair for game in counting(each) if game.how != "forfeit"} for each in event.rounds)
            met = Counter(pair for pairs in rounds for pair in pairs)
        if self.forfeit_win_takes_bye:
            lines = {id_: replace(line, byes=line.byes + line.forfeit_wins) for id_, line in lines.items()}
        return Ledger(lines, met)

    def standings(self, event: Event) -> Standings:
        order = event.tie_breakers or self.tie_breakers
        seeds = {id_: float(at) for id_, at in self._seeds(event).items()}
        return standings_by(event, order, given={"seed": seeds})

    def _seeds(self, event: Event) -> dict[int, int]:
        """By id: 1, 2... in the order of those whom nothing else separates."""
        ids = [one.id for one in event.entrants]
        if self.ties == "lot":
            lots = Lots(event.seed, 0)
            ids.sort(key=lambda id_: (lots.unit("order", id_), id_))
        return {id_: at for at, id_ in enumerate(ids, 1)}

    def _ranked(self, event: Event, players: Sequence[Entrant], ledger: Ledger) -> list[int]:
        """Ids, best first."""
        seeds = self._seeds(event)

        def key(one: Entrant) -> tuple[float, ...]:
            rating = float("-inf") if one.rating is None else one.rating
            return -ledger.lines[one.id].score, -rating, seeds[one.id]

        return [one.id for one in sorted(players, key=key)]

    def _decision(
        self, ids: Sequence[int], lines: Sequence[Line], ledger: Ledger, event: Event, rng: Chance
    ) -> Decision:
        times, barred = of_ranks(ids, ledger.met, event.forbidden)
        _require_opponents([event.names[id_] for id_ in ids], barred)
        keys = np.array(ids, dtype=np.int64)

        def u(i: Ints, j: Ints) -> Ints:
            units = rng.units("u", np.minimum(keys[i], keys[j]), np.maximum(keys[i], keys[j]))
            return np.floor(units * MILLION).astype(np.int64)

        score = np.array([line.score for line in lines], dtype=np.int64)
        balance = np.array([line.balance for line in lines], dtype=np.int64)
        third = third_of(self.order, score, u)
        return pair_field(score, balance, times=times, beta=self.balance, third=third, barred=barred)


def _games(ids: Sequence[int], decision: Decision, ledger: Ledger, rng: Chance) -> tuple[Game, ...]:
    games: list[Game] = []
    for i, j in decision.pairs:
        better, other = ids[i], ids[j]
        one, two = ledger.lines[better], ledger.lines[other]
        by_lot = one.balance == two.balance
        is_white = coin(rng, COLOR_LOT, better, other) if by_lot else one.balance < two.balance
        points = (
            f"both {in_points(one.score / 2)}"
            if one.score == two.score
            else f"{one.score / 2:g} and {two.score / 2:g} points"
        )
        why = f"{BY_LOT if by_lot else LOWER_BALANCE}{once_more(ledger, better, other)}"
        white, black = (better, other) if is_white else (other, better)
        games.append(Game(black=black, white=white, reason=f"{points}, ranks {i + 1} and {j + 1}; {why}"))
    return tuple(games)


def _require_opponents(names: Sequence[str], barred: Bools) -> None:
    """Raises Refused where somebody must not meet any of the others."""
    for rank, count in enumerate(barred.sum(axis=0).tolist()):
        if count == len(names) - 1:
            raise NotFound(
                Code.NO_ROUND,
                f"{names[rank]} must not meet any of the others who are there. Allow one of these pairs, or let "
                f"{names[rank]} ask for a bye.",
            )


SYSTEM: Final = declared(
    Mwm,
    "mwm",
    "near scores, then even colors, then an order of pairing, over the whole field at once",
    forfeit_counts_as_met=False,
    forfeit_win_takes_bye=True,
)
