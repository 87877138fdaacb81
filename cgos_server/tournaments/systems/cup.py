"""Cup: whoever loses is out. Its matches wait only for those that they follow.

Must not know: how a match is decided.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from msgspec.structs import replace

from cgos_protocol.errors import Code, Invalid
from cgos_protocol.options import Choice, Flag
from cgos_server.tournaments.base import (
    Chance,
    Event,
    Explanation,
    Game,
    Round,
    Stale,
    Standings,
    declared,
)
from cgos_server.tournaments.chance import shuffled
from cgos_server.tournaments.event import open_games, refuse_over, require_results
from cgos_server.tournaments.ledger import ledger
from cgos_server.tournaments.systems.bracket import (
    NOBODY,
    Slots,
    Standing,
    drawn,
    leaders,
    recorded,
    rounds_for,
    size_for,
    stand,
)
from cgos_server.tournaments.systems.fixed_field import fixed, latecomers, require_two, seeds_of, starters, too_late
from cgos_server.tournaments.systems.knockout import REPLAYS, by_seed, first_game, placed, stale_games
from cgos_server.tournaments.words import counted, listed


@dataclass(frozen=True, kw_only=True)
class Cup:
    """Whoever loses a match is out; the last one left has won.

    For a winner in few rounds: log2 of N, rounded up (Vuorinen 2010, section 3.2, where "2N players" must read 2^N). It
    finds only the winner, and needs entrants whose order is known if that shall be the right one. Seeds are the order
    of registration of those who are there when the first round begins. With P the smallest power of two that is at
    least N, P - N of them pass the first round, N - P/2 games are played in it, N - 1 in all.

    Options. `bracket`: `standard` (our choice, the default): seeds s and P + 1 - s meet first, and 1 and 2 can meet
    only in the final; or `list` (Vuorinen): first and second of the list meet first, third and fourth, and so on.
    `passes`: who passes the first round: the first `seeds` (our choice, the default) or those who are drawn by `lot`
    (Vuorinen), in the standard bracket of the better half. `third_place`: the losers of the semifinals meet for it, in
    the round of the final. `replays`: how often a drawn match is played again before the better seed advances.

    A match can have several games, all in its round: a draw is played again with colors swapped, a void game with the
    same colors and without counting. A forfeit decides. If neither gets a point, both are out, and whoever waits for
    the winner advances without a game; where that is the final there is no winner, and standings and `next` say so. A
    corrected result takes back the later matches that had other opponents by the old one. Whoever has withdrawn, or
    asked for a bye in the round of its match, loses that match (our choice: a cup cannot wait). Advancing without a
    game is recorded as a bye. Whoever enters late is not paired, and the summary says so. Two who must not meet cannot
    be kept apart: their match is refused.

    Colors (our choice, Vuorinen is silent): who has the lower color balance; else those who had different colors
    last change them; else the better seed has Black in matches of odd number.

    `ready_games` offers each match as soon as those before it are decided, with the number of its own round, and
    replays; `pair` waits for all games: it gives the next round, or the replays of the present one as further games of
    it.

    Standings: `advanced`, rounds got through, passes and byes included; those who lost in the same round share a place
    (our choice). With `third_place` the word `third` follows: 1 for who won that match, 0 for who did not. The event's
    tie-breakers, if it has any, come last.

    Details of a round: `slots`, ids by slots of the bracket, null for empty ones; `matches`: [number in the round, or 0
    for the third place, upper id, lower id] of each game. Draws: `pass`, keyed by the upper seed of a match in the
    first round, with `list` by its number; the smallest pass.
    """

    name = "cup"
    rounds_follow = True

    bracket: Annotated[
        str, Choice(("standard", "list"), meaning="whether seeds 1 and 2 meet in the final, or as listed")
    ] = "standard"
    passes: Annotated[str, Choice(("seeds", "lot"), meaning="who passes the first round: the best, or by lot")] = (
        "seeds"
    )
    third_place: Annotated[bool, Flag(meaning="whether the losers of the semifinals play for the third place")] = False
    replays: Annotated[int, REPLAYS] = 2

    @property
    def tie_breakers(self) -> tuple[str, ...]:
        return ("advanced", "third") if self.third_place else ("advanced",)

    @property
    def _is_standard(self) -> bool:
        return self.bracket == "standard"

    def length(self, event: Event) -> int:
        return rounds_for(len(starters(event)))

    def pair(self, event: Event, rng: Chance) -> Round:
        require_results(event)
        require_two("A cup", len(starters(event)))
        due = self._due(event, self._slots(event, rng))
        if not due:
            raise refuse_over(event, self._without_winner(event))
        first = min(due)
        return self._round(event, rng, first, due[first])

    def ready_games(self, event: Event, rng: Chance) -> tuple[Round, ...]:
        """See the class. Two who must not meet are left out here, and refused by `pair`."""
        if len(starters(event)) < 2:
            return ()
        due = self._due(event, self._slots(event, rng))
        allowed = (
            (number, [each for each in due[number] if not (each.is_due and _pair(each) in event.forbidden)])
            for number in sorted(due)
        )
        return tuple(self._round(event, rng, number, matches) for number, matches in allowed if matches)

    def matches(self, event: Event) -> list[Standing]:
        """How every match of the bracket stands, by rounds and slots, the one for the third place last; none before
        the first round has begun."""
        ids = list(seeds_of(event))
        if not event.rounds or len(ids) < 2:
            return []
        return self._stand(event, recorded(event, ids, self._is_standard))

    def standings(self, event: Event) -> Standings:
        third: dict[int, float | None] = dict.fromkeys(event.names)
        advanced = {**third, **dict.fromkeys(seeds_of(event), 0.0)}
        for each in self.matches(event):
            if each.number and each.winner:
                advanced[each.winner] = each.round
            elif each.is_decided and not each.number:
                third.update({id_: float(id_ == each.winner) for id_ in each.sides if id_})
        values = {"advanced": advanced, "third": third}
        return replace(placed(event, self.tie_breakers, values), remark=self._without_winner(event))

    def closed(self, event: Event) -> str:
        return fixed("a cup") if event.rounds else ""

    def stale(self, event: Event) -> Stale:
        """Games and byes of no match of the bracket as the results make it, and replays that are not due."""
        seeds = seeds_of(event)
        if not event.rounds or len(seeds) < 2:
            return Stale()
        matches: defaultdict[int, list[set[int | None]]] = defaultdict(list)
        for one in self.matches(event):
            matches[one.round].append(set(one.sides))
        games: set[int] = set()
        byes: set[tuple[int, int]] = set()
        for each in event.rounds:
            pairs = matches[each.number]
            games.update(stale_games(event, each.number, pairs, seeds=seeds, replays=self.replays))
            out = {*event.withdrawn, *(bye.entrant for bye in each.byes if bye.requested), NOBODY}
            for bye in each.byes:
                others = [side for two in pairs if bye.entrant in two for side in two - {bye.entrant}]
                if not others or (not bye.requested and not out.intersection(others)):
                    byes.add((each.number, bye.entrant))
        return Stale(frozenset(games), frozenset(byes))

    def _without_winner(self, event: Event) -> str:
        """A sentence where the cup has ended and nobody has won it, else nothing."""
        final = next((each for each in reversed(self.matches(event)) if each.number), None)
        if final is None or final.winner != NOBODY:
            return ""
        lost = [event.names[side] for side in final.sides if side]
        why = f"{listed(lost)} both lost the final" if len(lost) == 2 else "nobody was left to win the final"
        return f"There is no winner: {why}."

    def is_over(self, event: Event) -> bool:
        if open_games(event):
            return False
        ids = list(seeds_of(event))
        if len(ids) < 2:
            return True
        if not event.rounds:
            return event.planned == 0
        return not self._due(event, recorded(event, ids, self._is_standard))

    def _slots(self, event: Event, rng: Chance) -> Slots:
        ids = list(seeds_of(event))
        if event.rounds:
            return recorded(event, ids, self._is_standard)
        order = sorted(leaders(len(ids), self._is_standard))
        free = size_for(len(ids)) - len(ids)
        passing = shuffled(rng, order, "pass") if self.passes == "lot" else order
        return drawn(ids, self._is_standard, passing[:free])

    def _stand(self, event: Event, slots: Slots) -> list[Standing]:
        return stand(event, slots, seeds=seeds_of(event), replays=self.replays, third_place=self.third_place)

    def _due(self, event: Event, slots: Slots) -> dict[int, list[Standing]]:
        """Round -> matches of which something can begin, or a bye is to be recorded."""
        matches = self._stand(event, slots)
        decided = {(each.round, each.number) for each in matches if each.is_decided}
        due: dict[int, list[Standing]] = {}
        for each in matches:
            # Whoever rejoins after the match that followed was decided without it does not open its own again.
            overtaken = each.is_due and each.number > 0 and (each.round + 1, (each.number + 1) // 2) in decided
            planned = event.planned is None or each.round <= event.planned
            if (each.is_due or each.byes) and planned and not overtaken:
                due.setdefault(each.round, []).append(each)
        return due

    def _round(self, event: Event, rng: Chance, number: int, matches: Sequence[Standing]) -> Round:
        names, seeds = event.names, seeds_of(event)
        rounds = rounds_for(len(seeds))
        known = ledger(event)
        games: list[Game] = []
        pairs: list[list[int]] = []
        for each in matches:
            if each.is_due:
                if _pair(each) in event.forbidden:
                    better, worse = by_seed(_pair(each), seeds)
                    raise Invalid(
                        Code.FORBIDDEN_PAIR,
                        f"The next match is {names[better]} against {names[worse]}, who must not meet. Withdraw one of "
                        "them, or lift that.",
                    )
                title = f"{_title(number, each.number, rounds)}:"
                if each.again is not None:
                    games.append(replace(each.again, reason=f"{title} {each.again.reason}"))
                else:
                    games.append(first_game(known, _pair(each), seeds, board=max(each.number, 1), title=title))
                pairs.append([each.number, *(id_ or 0 for id_ in each.sides)])
        byes = tuple(bye for each in matches for bye in each.byes)
        free = [names[bye.entrant] for bye in byes if not bye.requested]
        sentences = [f"{_name(number, rounds).capitalize()}: {counted(len(games), 'game')}."]
        if any(each.again is not None for each in matches):
            sentences.append("Undecided matches go on.")
        if free:
            sentences.append(f"{listed(free)} advance{'s'[: len(free) == 1]} without a game.")
        summary = " ".join(sentences) + too_late(latecomers(event))
        details = {"slots": list(self._slots(event, rng)), "matches": pairs}
        return Round(number=number, games=tuple(games), byes=byes, explanation=Explanation(summary, details))


def _pair(each: Standing) -> tuple[int, int]:
    """The two of a match whose sides are both known: smaller id, larger id."""
    one, other = sorted(id_ for id_ in each.sides if id_)
    return one, other


def _name(number: int, rounds: int) -> str:
    """What a round is called."""
    left = rounds - number
    return ("final", "semifinals", "quarterfinals")[left] if left < 3 else f"round of the last {2 << left}"


def _title(number: int, match: int, rounds: int) -> str:
    """What a match is called."""
    if match == 0:
        return "match for the third place"
    left = rounds - number
    return "final" if left == 0 else f"{_name(number, rounds).removesuffix('s')} {'match ' * (left > 2)}{match}"


SYSTEM: Final = declared(Cup, "cup", "a knock-out: the winner never lost")
