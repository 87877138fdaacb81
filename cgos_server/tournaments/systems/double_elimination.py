"""Double elimination: out after two losses.

Must not know: how a match is decided.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

from msgspec.structs import replace

from cgos_protocol.errors import Code, Invalid, Refused
from cgos_server.tournaments.base import (
    Bye,
    Chance,
    Event,
    Explanation,
    Game,
    Pair,
    Round,
    Stale,
    Standings,
    declared,
)
from cgos_server.tournaments.event import field_of, open_games, refuse_over, require_results
from cgos_server.tournaments.kept import kept
from cgos_server.tournaments.ledger import Ledger, ledger
from cgos_server.tournaments.past import before
from cgos_server.tournaments.systems.fixed_field import fixed, latecomers, require_two, seeds_of, starters, too_late
from cgos_server.tournaments.systems.knockout import (
    REPLAYS,
    by_seed,
    first_game,
    folded,
    games_of,
    match,
    placed,
    stale_games,
)
from cgos_server.tournaments.words import listed

UNBEATEN, BEATEN = 0, 1
"""Losses of those in a branch."""


@dataclass(slots=True, kw_only=True)
class _State:
    """What the record says of the rounds before one.

    :ivar number: of that round
    :ivar seeds: id -> seed, of those who were there at the start, best first
    :ivar losses: id -> how many matches were lost
    :ivar passes: id -> how many were given
    :ivar known: for each branch whether everybody in it is known
    :ivar replays: (number of the round, game to be played next)
    """

    number: int
    seeds: Mapping[int, int]
    losses: dict[int, int]
    passes: dict[int, int]
    known: list[bool]
    replays: list[tuple[int, Game]]

    def group(self, losses: int, there: Collection[int]) -> list[int]:
        """Those of a branch who are there, by seeds."""
        return [id_ for id_, lost in self.losses.items() if lost == losses and id_ in there]


@dataclass(frozen=True, kw_only=True)
class DoubleElimination:
    """Whoever has lost two matches is out; the last one left has won.

    For a winner whom one bad game does not cost the event. The winner is known after 2N - 2 matches, or 2N - 1: every
    match is a loss, and all but the winner have two. (Vuorinen 2010, section 3.2.1, says log2 of N rounds, rounded up;
    that is only until one of them is unbeaten.) The number of rounds depends on the results. Seeds are the order of
    registration of those who are there when the first round begins.

    Vuorinen says that the unbeaten meet each other, and those with one loss each other; the rest is our choice. Each
    round pairs first the unbeaten, then those with one loss, each group in the order of seeds: the best seed meets the
    worst one not met yet, and so on; a choice that leaves the others without a pairing is taken back, and where
    there is none without rematches, they are folded with rematches. Of an odd group passes who passed least often,
    among these the best seed; a group of one passes too. If each group has one, they meet in the final. If the unbeaten
    loses it, both have one loss, and another match decides.

    Option `replays`: how often a drawn match is played again, in its round and with colors swapped, before the better
    seed advances. A void game is played again and counts for nothing. A forfeit decides; if neither gets a point, both
    have lost. Whoever withdraws is out; whoever returns has the losses of before. Who asked for a bye sits out that
    round, without a loss and without a pass. A pass is recorded as a bye. Whoever enters late, or asks for a bye in the
    first round, is not paired, and the summary says so. Two who must not meet are kept apart as long as others are left
    for them, else the round is refused, replays too.

    Colors (our choice): who has the lower color balance; else those who had different colors last change them;
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
    rounds_follow = True
    tie_breakers = ("lasted", "losses")

    replays: Annotated[int, REPLAYS] = 2

    def length(self, event: Event) -> int | None:  # noqa: ARG002 - it depends on the results
        return None

    def pair(self, event: Event, rng: Chance) -> Round:  # noqa: ARG002 - no lots
        require_results(event)
        require_two("A double elimination", len(starters(event)))
        due = self._due(event)
        if not due:
            raise refuse_over(event, self._without_winner(event))
        return due[0]

    def ready_games(self, event: Event, rng: Chance) -> tuple[Round, ...]:  # noqa: ARG002 - no lots
        return tuple(self._due(event))

    def standings(self, event: Event) -> Standings:
        state = self._state(event)
        active = set(_active(event, state))
        lines = ledger(event).lines
        lasted: dict[int, float | None] = dict.fromkeys(event.names)
        losses = dict(lasted)
        for id_ in state.seeds:
            seen = [entry.round for entry in lines[id_].entries if entry.kind != "absent"]
            lasted[id_] = len(event.rounds) + 1 if id_ in active else max(seen, default=0)
            losses[id_] = state.losses[id_]
        table = placed(event, self.tie_breakers, {"lasted": lasted, "losses": losses}, ("losses",))
        return replace(table, remark=self._without_winner(event))

    def closed(self, event: Event) -> str:
        return fixed("a double elimination") if event.rounds else ""

    def stale(self, event: Event) -> Stale:
        """Of each branch and round: games of pairs, and passes, that the results before do not lead to; and replays
        that are not due."""
        games: set[int] = set()
        byes: set[tuple[int, int]] = set()
        for each in event.rounds:
            past = before(event, each.number)
            state = self._state(past)
            led_to = _parts(past, state, frozenset())
            pairs = [set(game.pair) for part in led_to for game in part.games]
            passing = {bye.entrant for part in led_to for bye in part.byes}
            games.update(stale_games(event, each.number, pairs, seeds=state.seeds, replays=self.replays))
            byes.update((each.number, bye.entrant) for bye in each.byes if bye.entrant not in passing)
        return Stale(frozenset(games), frozenset(byes))

    def is_over(self, event: Event) -> bool:
        return not open_games(event) and not self._due(event)

    def _due(self, event: Event) -> Sequence[Round]:
        """What can begin, as parts of rounds: undecided matches that go on, then branches whose members are known."""
        return _due(event, self.replays)

    def _without_winner(self, event: Event) -> str:
        """A sentence where the event has ended and nobody is left, else nothing."""
        state = self._state(event)
        if not event.rounds or not all(state.known) or _active(event, state):
            return ""
        return "There is no winner: nobody is left with less than two losses."

    def _state(self, event: Event) -> _State:
        """Before the next round."""
        *_, state = _states(event, self.replays)
        return state


@kept
def _due(event: Event, replays: int) -> Sequence[Round]:
    """What can begin: see :class:`DoubleElimination`.

    :param replays: the option
    """
    if len(starters(event)) < 2:
        return ()
    branches: list[Round] = []
    for state in _states(event, replays):
        if event.planned is None or state.number <= event.planned:
            branches += _parts(event, state, _begun(event, state.number))
    rounds = sorted({number for number, _ in state.replays})
    again = [_replayed(event, number, [game for at, game in state.replays if at == number]) for number in rounds]
    return (*again, *branches)


def _states(event: Event, replays: int) -> Iterator[_State]:
    """Before each round of the record, and before the next one: the same state, which grows.

    :param replays: the option
    """
    seeds = seeds_of(event)
    state = _State(
        number=1,
        seeds=seeds,
        losses=dict.fromkeys(seeds, 0),
        passes=dict.fromkeys(seeds, 0),
        known=[True, True],
        replays=[],
    )
    yield state
    for each in event.rounds:
        _enter(event, state, each, replays)
        state.number += 1
        yield state


def _enter(event: Event, state: _State, each: Round, replays: int) -> None:
    """What a round of the record adds to the state before it."""
    there = _there(event, each.number)
    begun = _begun(event, each.number)
    for losses in (UNBEATEN, BEATEN):
        group = state.group(losses, there)
        if group and begun.isdisjoint(group):
            state.known[losses] = state.known[BEATEN] = False
    for bye in each.byes:
        if bye.entrant in state.seeds and not bye.requested:
            state.passes[bye.entrant] += 1
    lost: list[int] = []
    for pair, games in games_of(event, each.number).items():
        if pair[0] not in state.seeds or pair[1] not in state.seeds:
            continue
        outcome = match(games, *by_seed(pair, state.seeds), replays)
        lost += outcome.losers
        goes_on = outcome.again is not None and not _is_overtaken(event, each.number, pair)
        if goes_on and outcome.again is not None:
            state.replays.append((each.number, outcome.again))
        if outcome.is_open or goes_on:
            state.known[BEATEN] = False
            state.known[UNBEATEN] &= all(state.losses[id_] for id_ in pair)
    for id_ in lost:
        state.losses[id_] += 1


def _is_overtaken(event: Event, number: int, pair: Pair) -> bool:
    """Whoever left is not waited for: an undecided match of that round stays so, though they may return."""
    return not _there(event, number + 1).issuperset(pair) or any(
        not _begun(event, each.number).isdisjoint(pair) for each in event.rounds[number:]
    )


@kept
def _there(event: Event, number: int) -> frozenset[int]:
    """Those who were there for a round of the record, or are for the next one: whoever returned later was not."""
    out = set(event.withdrawn)
    for change in event.changes:
        if change.kind == "rejoin" and change.round > number:
            out.update(change.entrants)
    return frozenset([one.id for one in event.entrants if one.id not in out])


def _begun(event: Event, number: int) -> frozenset[int]:
    """Who has a game or a bye in a round."""
    return _busy(event.rounds[number - 1]) if number <= len(event.rounds) else frozenset()


@kept
def _busy(each: Round) -> frozenset[int]:
    return frozenset(each.ids)


def _active(event: Event, state: _State) -> list[int]:
    """Those who are still in, by seeds."""
    return [id_ for id_ in state.seeds if state.losses[id_] < 2 and id_ not in event.withdrawn]


def _replayed(event: Event, number: int, games: Sequence[Game]) -> Round:
    for game in games:
        if game.pair in event.forbidden:
            raise _kept_apart(event.names, game.pair)
    return Round(
        number=number,
        games=tuple(games),
        byes=(),
        explanation=Explanation(f"Undecided matches of round {number} go on: {len(games)}."),
    )


def _parts(event: Event, state: _State, begun: Collection[int]) -> tuple[Round, ...]:
    """What of a round can begin: all of it, or the branches that have not begun and whose members are known.

    :param begun: who has a game or a bye in the round
    """
    there = _there(event, state.number)
    groups = [state.group(losses, there) for losses in (UNBEATEN, BEATEN)]
    waits = [bool(group) and not set(group) & set(begun) for group in groups]
    if not begun and all(state.known):
        return (_round(event, state, groups),) if len(groups[UNBEATEN]) + len(groups[BEATEN]) > 1 else ()
    first = [*groups[:1], []]
    if not begun and state.known[UNBEATEN] and len(_playing(event, state, groups[UNBEATEN])) > 1:
        return (_round(event, state, first),)
    if begun and waits[BEATEN] and state.known[BEATEN] and not waits[UNBEATEN]:
        return (_round(event, state, [[], groups[BEATEN]], board=1 + len(groups[UNBEATEN]) // 2),)
    return ()


def _playing(event: Event, state: _State, group: Sequence[int]) -> list[int]:
    requested = {bye.entrant for bye in field_of(event, state.number).byes}
    return [id_ for id_ in group if id_ not in requested]


def _round(event: Event, state: _State, groups: Sequence[Sequence[int]], board: int = 1) -> Round:
    """The round, or the part of one branch.

    :param groups: of each branch ids by seeds; of one that is not part of it none
    :param board: number of the first board
    """
    number = state.number
    requested = {bye.entrant: bye for bye in field_of(event, number).byes}
    active = sorted((id_ for group in groups for id_ in group), key=lambda id_: state.seeds[id_])
    unbeaten, beaten = (_playing(event, state, group) for group in groups)
    known = ledger(event, number - 1)
    names = event.names
    final = len(unbeaten) == len(beaten) == 1 and len(active) == 2
    last = not unbeaten and len(beaten) == len(active) == 2 and board == 1
    games: list[Game] = []
    passes: list[int] = []
    rematches = [False, False]
    sentences = [f"{len(unbeaten)} unbeaten, {len(beaten)} with one loss."]
    if board > 1:
        sentences = [f"{len(beaten)} with one loss; the unbeaten play already."]
    elif not all(state.known):
        sentences = [f"{len(unbeaten)} unbeaten; those with one loss are not known yet."]
    if final:
        pair = (unbeaten[0], beaten[0])
        if tuple(sorted(pair)) in event.forbidden:
            raise _kept_apart(names, pair)
        games.append(first_game(known, pair, state.seeds, board=1, title="final: unbeaten against one loss,"))
        sentences.append("They meet in the final; if the unbeaten loses, another match decides.")
    else:
        with_one = "the last two, with one loss each" if last else "those with one loss"
        for at, (group, what) in enumerate(((unbeaten, "the unbeaten"), (beaten, with_one))):
            sits, pairs, rematches[at] = _group(event, state, known=known, group=group, names=names)
            passes += sits
            for pair in pairs:
                games.append(first_game(known, pair, state.seeds, board=len(games) + board, title=f"among {what},"))
            if last and pairs:
                sentences.append("The last two meet; this match decides.")
            elif rematches[at]:
                sentences.append(f"Among {what} a rematch cannot be avoided.")
        if passes:
            sentences.append(f"{listed([names[id_] for id_ in passes])} pass{'es'[: 2 * (len(passes) == 1)]}.")
    byes = (*(Bye(id_, event.bye_points) for id_ in passes), *(requested[id_] for id_ in active if id_ in requested))
    details = {"unbeaten": unbeaten, "beaten_once": beaten, "passes": passes, "final": final, "rematches": rematches}
    return Round(
        number=number,
        games=tuple(games),
        byes=byes,
        explanation=Explanation(" ".join(sentences) + too_late(latecomers(event)), details),
    )


def _group(
    event: Event, state: _State, known: Ledger, group: Sequence[int], names: Mapping[int, str]
) -> tuple[list[int], list[Pair], bool]:
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
    return Invalid(
        Code.FORBIDDEN_PAIR,
        f"{listed([names[id_] for id_ in ids])} cannot be paired with each other, because some of them must not meet. "
        "Withdraw one of them, or lift that.",
    )


SYSTEM: Final = declared(DoubleElimination, "double-elimination", "a knock-out in which everybody may lose once")
