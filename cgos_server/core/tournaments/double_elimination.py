"""Double elimination: out after two losses.

Must not know: how a match is decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

from cgos_server.core.options import Option
from cgos_server.core.tournaments.base import Bye, Chance, Event, Explanation, Game, Round, Standings
from cgos_server.core.tournaments.event import field_of, open_games, refuse_over, require_results
from cgos_server.core.tournaments.fixed_field import latecomers, require_two, starters, too_late
from cgos_server.core.tournaments.knockout import REPLAYS, colours, folded, games_of, match, placed
from cgos_server.core.tournaments.ledger import Ledger, ledger
from cgos_server.core.tournaments.words import listed
from cgos_server.errors import Refused

Pairs = list[tuple[int, int]]


@dataclass(slots=True)
class _State:
    """What the record says.

    :ivar seeds: id -> seed, of those who were there at the start, best first
    :ivar losses: id -> how many matches were lost
    :ivar passes: id -> how many were given
    :ivar replays: games of the last round that are to be played next
    """

    seeds: dict[int, int]
    losses: dict[int, int]
    passes: dict[int, int]
    replays: list[Game]


class DoubleElimination:
    """Whoever has lost two matches is out; the last one left has won.

    For a winner whom one bad game does not cost the event. The winner is known after 2N - 2 matches, or 2N - 1: every
    match is a loss, and all but the winner have two. (Vuorinen 2010, section 3.2.1, says log2 of N rounds, rounded up;
    that is only until one of them is unbeaten.) The number of rounds depends on the results. Seeds are the order of
    registration of those who are there when the first round begins.

    Vuorinen says that the unbeaten meet each other, and those with one loss each other; the rest is our choice. Each
    round pairs first the unbeaten, then those with one loss, each group in the order of seeds: the best seed meets the
    worst whom he has not met, and so on; a choice that leaves the others without a pairing is taken back, and where
    there is none without rematches, they are folded with rematches. Of an odd group passes who passed least often,
    among these the best seed; a group of one passes too. If each group has one, they meet in the final. If the unbeaten
    loses it, both have one loss, and another match decides.

    Option `replays`: how often a drawn match is played again, in its round and with colours swapped, before the better
    seed advances. A void game is played again and counts for nothing. A forfeit decides; if neither gets a point, both
    have lost. Whoever withdraws is out; whoever returns has the losses of before. Who asked for a bye sits out that
    round, without a loss and without a pass. A pass is recorded as a bye. Whoever enters late, or asks for a bye in the
    first round, is not paired, and the summary says so. Two who must not meet are kept apart as long as others are left
    for them, else the round is refused, replays too.

    Colours (our choice): who has the lower colour balance; else those who had different colours last change them;
    else the better seed has Black on odd boards.

    `pair` and `ready_games` wait for all games of a round; then they give its replays as further games of it, or the
    next round.

    Standings: `lasted`, the last round that somebody was in; one more than the rounds so far for who still is. Then
    `losses`, fewer being better. Those whom both leave equal share a place; the event's tie-breakers, if it has any,
    come last.

    Details of a round: `unbeaten`, `beaten_once`: ids by seeds of those who are there; `passes`: ids; `final`: whether
    each group has one, and neither asked for a bye; `rematches`: whether the unbeaten, and those with one loss, could
    not be paired without. Draws: none.
    """

    name = "double-elimination"
    tie_breakers = ("lasted", "losses")
    OPTIONS: ClassVar[Mapping[str, Option]] = MappingProxyType({"replays": REPLAYS})

    def __init__(self, replays: int = 2) -> None:
        self._replays = replays

    def length(self, event: Event) -> int | None:  # noqa: ARG002 - it depends on the results
        return None

    def pair(self, event: Event, rng: Chance) -> Round:  # noqa: ARG002 - no lots
        require_results(event)
        require_two("A double elimination", len(starters(event)))
        state = self._state(event)
        if state.replays:
            return _replayed(event, state)
        if self._is_decided(event, state):
            raise refuse_over(event)
        return _next(event, state)

    def ready_games(self, event: Event, rng: Chance) -> tuple[Round, ...]:
        return () if open_games(event) or self.is_over(event) else (self.pair(event, rng),)

    def standings(self, event: Event) -> Standings:
        state = self._state(event)
        active = set(_active(event, state))
        lines = ledger(event).lines
        lasted: dict[int, float | None] = {one.id: None for one in event.entrants}
        losses: dict[int, float | None] = dict(lasted)
        for id_ in state.seeds:
            seen = [entry.round for entry in lines[id_].entries if entry.kind != "absent"]
            lasted[id_] = len(event.rounds) + 1 if id_ in active else max(seen, default=0)
            losses[id_] = state.losses[id_]
        return placed(event, self.tie_breakers, {"lasted": lasted, "losses": losses}, ("losses",))

    def is_over(self, event: Event) -> bool:
        state = self._state(event)
        return not open_games(event) and not state.replays and self._is_decided(event, state)

    def _is_decided(self, event: Event, state: _State) -> bool:
        if event.planned is not None and len(event.rounds) >= event.planned:
            return True
        return len(state.seeds) < 2 or len(_active(event, state)) < 2

    def _state(self, event: Event) -> _State:
        seeds = {one.id: seed for seed, one in enumerate(starters(event), 1)}
        state = _State(seeds, dict.fromkeys(seeds, 0), dict.fromkeys(seeds, 0), [])
        for each in event.rounds:
            for bye in each.byes:
                if bye.entrant in seeds and not bye.requested:
                    state.passes[bye.entrant] += 1
            state.replays = []
            for pair, games in games_of(event, each.number).items():
                if any(id_ not in seeds for id_ in pair):
                    continue
                better, worse = sorted(pair, key=lambda id_: seeds[id_])
                found = match(games, better, worse, self._replays)
                for id_ in found.losers:
                    state.losses[id_] += 1
                if found.again is not None and not set(pair) & set(event.withdrawn):
                    state.replays.append(found.again)
        return state


def _active(event: Event, state: _State) -> list[int]:
    """Those who are still in, by seeds."""
    return [id_ for id_ in state.seeds if state.losses[id_] < 2 and id_ not in event.withdrawn]


def _replayed(event: Event, state: _State) -> Round:
    number = len(event.rounds)
    games = tuple(state.replays)
    for game in games:
        if game.pair in event.forbidden:
            raise _kept_apart({one.id: one.name for one in event.entrants}, game.pair)
    return Round(number, games, (), Explanation(f"Undecided matches of round {number} go on: {len(games)}."))


def _next(event: Event, state: _State) -> Round:
    asked = {bye.entrant: bye for bye in field_of(event).byes}
    active = _active(event, state)
    there = [id_ for id_ in active if id_ not in asked]
    unbeaten = [id_ for id_ in there if state.losses[id_] == 0]
    beaten = [id_ for id_ in there if state.losses[id_] == 1]
    known = ledger(event)
    names = {one.id: one.name for one in event.entrants}
    number = len(event.rounds) + 1
    final = len(unbeaten) == len(beaten) == 1 and len(there) == len(active)
    last = not unbeaten and len(beaten) == len(active) == 2
    games: list[Game] = []
    passes: list[int] = []
    rematches = [False, False]
    sentences = [f"{len(unbeaten)} unbeaten, {len(beaten)} with one loss."]
    if final:
        pair = (unbeaten[0], beaten[0])
        if tuple(sorted(pair)) in event.forbidden:
            raise _kept_apart(names, pair)
        games.append(_game(known, state, pair, 1, "final: unbeaten against one loss"))
        sentences.append("They meet in the final; if the unbeaten loses, another match decides.")
    else:
        with_one = "the last two, with one loss each" if last else "those with one loss"
        for at, (group, what) in enumerate(((unbeaten, "the unbeaten"), (beaten, with_one))):
            sits, pairs, rematches[at] = _group(event, state, known, group, names)
            passes += sits
            for pair in pairs:
                games.append(_game(known, state, pair, len(games) + 1, f"among {what}"))
            if last and pairs:
                sentences.append("The last two meet; this match decides.")
            elif rematches[at]:
                sentences.append(f"Among {what} a rematch cannot be avoided.")
        if passes:
            sentences.append(f"{listed([names[id_] for id_ in passes])} pass{'es'[: 2 * (len(passes) == 1)]}.")
    byes = (*(Bye(id_, event.bye_points) for id_ in passes), *(asked[id_] for id_ in active if id_ in asked))
    late = too_late([one.name for one in latecomers(event, starters(event))])
    details = {"unbeaten": unbeaten, "beaten_once": beaten, "passes": passes, "final": final, "rematches": rematches}
    return Round(number, tuple(games), byes, Explanation(" ".join(sentences) + late, details))


def _group(
    event: Event, state: _State, known: Ledger, group: Sequence[int], names: Mapping[int, str]
) -> tuple[list[int], Pairs, bool]:
    """Who passes, who meets whom, and whether that takes a rematch.

    :param group: ids by seeds
    """

    waiting = sorted(group, key=lambda id_: (state.passes[id_], state.seeds[id_])) if len(group) % 2 else [None]
    for sits in waiting:
        rest = [id_ for id_ in group if id_ != sits]
        for rematches in (False, True):
            pairs = folded(rest, event.forbidden if rematches else (*event.forbidden, *known.met))
            if pairs is not None:
                return [] if sits is None else [sits], pairs, rematches
    raise _kept_apart(names, group)


def _kept_apart(names: Mapping[int, str], ids: Sequence[int]) -> Refused:
    return Refused(
        "forbidden-pair",
        f"{listed([names[id_] for id_ in ids])} cannot be paired with each other, because some of them must not meet. "
        "Withdraw one of them, or lift that.",
    )


def _game(known: Ledger, state: _State, pair: tuple[int, int], board: int, reason: str) -> Game:
    better, worse = sorted(pair, key=lambda id_: state.seeds[id_])
    white, black, why = colours(known, better, worse, board)
    return Game(white, black, reason=f"{reason}, seed {state.seeds[better]} against seed {state.seeds[worse]}; {why}")
