"""Muller's bubble as a tournament system: the record of an event is replayed into a run, and the run says what is next.

Must not know: who leaves and who comes (see :mod:`cgos_server.tournaments.systems.bubble_run`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Final, NamedTuple, TypeAlias

import msgspec

from cgos_protocol.errors import Code, Invalid
from cgos_protocol.options import Number
from cgos_server.tournaments.base import (
    Chance,
    Entrant,
    Event,
    Explanation,
    Game,
    Pair,
    Round,
    Stale,
    Standings,
    declared,
    pair_of,
)
from cgos_server.tournaments.event import open_games, refuse_over, require_results
from cgos_server.tournaments.kept import grown, kept
from cgos_server.tournaments.pairing.replays import needless
from cgos_server.tournaments.systems.bubble_run import Kind, Move, Rules, Run, advance, arranged, follow, table, unmet
from cgos_server.tournaments.systems.knockout import placed
from cgos_server.tournaments.words import counted

USUAL_UNPARK = 5


@dataclass(frozen=True, kw_only=True)
class Bubble:
    """Muller's bubble: re-ranks a long list with few games, by a small round robin that moves up the list from its end.

    The order of registration is the old ranking, best first. The lowest `active_size` play all against all. Then, again
    and again, one leaves and one comes. If the last of the active set has played `min_matches` matches, it is ranked
    for good (*drop*); if not, the first is set aside (*park*), so that the strong do not play all the weak. Who comes:
    the longest parked who has met fewer than `unpark_below` of those who stay; else the next of the old list; else,
    where one is dropped, of the parked the one who has met the fewest. It plays those whom it has not met: two meet
    once in a run. Where nobody could come for one who is parked, the last is dropped although it has played too little
    (our choice). When nobody is left to come, the active set's standings end the ranking.

    What it guarantees: it ends after n(n - 1)/2 matches at most. It pays for long lists only: 20 in the right order
    play 179 of 190 matches, 40 of whom the last is the strongest 359 of 780. How many rounds it takes is not known
    before.

    * A round is a step: the matches of whoever came. An engine may play several matches in it. The next step needs the
      results of all of them. Steps without a match are part of the next round.
    * `games_per_match` 2: a second game with colors reversed, and the sum decides; both 0: no points. 1: White for
      the one who has had it less often, else for the lower in the old list. Matches count 2, 1, 0 half points (our
      choices).
    * `unpark_below` may be 1 to `active_size` - 1, so that whoever returns has somebody to play, and the run ends;
      without it 5, or less in a small active set.
    * Standings inside the active set: see :func:`cgos_server.tournaments.systems.bubble_run.table`.
    * Games that are void are played again with the same colors, as further games of the present round; forfeits count
      as they were given (our choice).
    * Withdrawals (our choice): from the old list or the parked somebody is just taken out. In the active set its
      results no longer count in standings, its opponents keep their number of matches, and somebody comes for it as
      above. It is not in the new ranking, unless it had been ranked.
    * Late entries (our choice): by their rating directly above the first in the list with a lower one, without a
      rating at the end. If that is above everybody who has been in the active set, they take part; else they wait for
      the next run. Who returns keeps its old place, and the same holds for it.
    * Forbidden pairs count as met, without a result. Byes asked for mean nothing.

    Source: H. G. Muller, "New tournament form", WinBoard forum, 19 June 2007. Its summary says that whoever comes plays
    all nine others; the text, that it plays those whom it has not met, is followed. The text takes the parked only
    after drops, the summary after parking too: the summary is followed. With exactly `unpark_below` met an engine stays
    parked. What ties, draws and colors do is not in the source.

    Standings: `list` (the new ranking; while the run goes on: the rest of the old list, the parked, the active set, the
    ranked), then the event's tie-breakers, or points and games with Black. Who has withdrawn or waits for the next run
    is no part of the list.

    Details of a round's explanation: `events` (each has `event`, `step` and what its kind has of the other values of
    :class:`cgos_server.tournaments.systems.bubble_run.Move`) and `withdrawn` (ids that had withdrawn). What they say
    stands, even if a result is corrected later; a round without them is replayed by the rules.

    Draws: none.
    """

    name = "bubble"
    rounds_follow = False
    tie_breakers = ("list", "points", "games-black")

    active_size: Annotated[int, Number(2, 1_000, whole=True, meaning="how many play all against all")] = 10
    min_matches: Annotated[int, Number(0, 10_000, whole=True, meaning="matches before one is ranked for good")] = 15
    unpark_below: Annotated[
        int | None,
        Number(
            1,
            999,
            whole=True,
            meaning="of how many of the active set one set aside may have met to return; without it 5 or less",
        ),
    ] = None
    games_per_match: Annotated[int, Number(1, 2, whole=True, meaning="games of two who meet")] = 2

    def __post_init__(self) -> None:
        if self.unpark_below is not None and self.unpark_below >= self.active_size:
            raise Invalid(
                Code.TOURNAMENT_OPTION,
                f"bubble: unpark_below cannot be {self.unpark_below} where active_size is {self.active_size}. Give a "
                f"whole number from 1 to {self.active_size - 1}.",
            )

    @property
    def rules(self) -> Rules:
        """What the run goes by."""
        unpark_below = self.unpark_below or min(USUAL_UNPARK, self.active_size - 1)
        return Rules(self.active_size, self.min_matches, unpark_below)

    def length(self, event: Event) -> int | None:  # noqa: ARG002 - nobody can know
        return None

    def pair(self, event: Event, rng: Chance) -> Round:  # noqa: ARG002 - no lots
        require_results(event)
        _, run, moves, played = _next(event, self)
        if _is_over(event, run, moves):
            raise refuse_over(event)
        games = self.games(unmet(run.active, played), played, old_ranking(event.entrants))
        if not moves:
            again = f"To be played again: {counted(len(games), 'game')}."
            return Round(number=len(event.rounds), games=games, byes=(), explanation=Explanation(again))
        summary = " ".join(_sentence(move, event.names) for move in moves)
        details = {"events": [_as_details(move) for move in moves], "withdrawn": list(event.withdrawn)}
        return Round(number=len(event.rounds) + 1, games=games, byes=(), explanation=Explanation(summary, details))

    def ready_games(self, event: Event, rng: Chance) -> tuple[Round, ...]:
        if not open_games(event):
            return () if self.is_over(event) else (self.pair(event, rng),)
        replay = self._replayed(event)
        run, played = replay.run, replay.played
        there = [id_ for id_ in run.active if id_ not in event.withdrawn]
        again = self.games(unmet(there, played), played, old_ranking(event.entrants))
        return (Round(number=len(event.rounds), games=again),) if again else ()

    def standings(self, event: Event) -> Standings:
        before, after, _, played = _next(event, self)
        run = after if after.is_finished and not open_games(event) else before
        there = _there(event.entrants, len(event.rounds) + 1, event.withdrawn)
        rows = table([id_ for id_ in run.active if id_ in there], old_ranking(event.entrants), played)
        active = [id_ for id_, _, _ in rows]
        best_first = (*reversed(run.below), *reversed(run.parked), *active, *reversed(run.ranked))
        listed: dict[int, float | None] = dict.fromkeys(event.names)
        listed.update({id_: float(at) for at, id_ in enumerate(best_first, 1)})
        event = msgspec.structs.replace(event, tie_breakers=event.tie_breakers or self.tie_breakers[1:])
        return placed(event, ("list",), {"list": listed}, ascending=("list",))

    def closed(self, event: Event) -> str:  # noqa: ARG002 - the late wait for the next run, or take part
        return ""

    def stale(self, event: Event) -> Stale:
        return needless(event)

    def is_over(self, event: Event) -> bool:
        _, run, moves, _ = _next(event, self)
        return not open_games(event) and _is_over(event, run, moves)

    def trace(self, event: Event) -> list[dict[str, Any]]:
        """All events of the run so far, as in a round's details, the last ones with `finish` if it is over."""
        moves = self._replayed(event).moves
        _, after, last, _ = _next(event, self)
        if after.is_finished and not open_games(event):
            moves = (*moves, *last)
        return [_as_details(move) for move in moves]

    def _replayed(self, event: Event) -> _Replay:
        """The run after the rounds of the record, its steps, and what has been played."""
        # Where rounds do not say who had withdrawn, that follows from later ones.
        tells = all(isinstance(each.explanation.details.get("withdrawn"), list) for each in event.rounds)
        rest = () if tells else (event.rounds, event.withdrawn)
        return grown(event.rounds, (self, event.entrants, event.forbidden, rest), _unplayed, enter=_replay)

    def games(self, pairs: Iterable[tuple[int, int]], played: Played, place: Mapping[int, int]) -> tuple[Game, ...]:
        """What these pairs have left to play, with its colors.

        :param place: of everybody in the old ranking
        """
        games: list[Game] = []
        balance = Counter(played.balance)
        for one, other in pairs:
            lower, upper = (one, other) if place[one] > place[other] else (other, one)
            pair = pair_of(one, other)
            only = played.voided.get(pair) or min(lower, upper, key=lambda id_: balance[id_])
            whites = [lower, upper] if self.games_per_match == 2 else [only]
            begun = played.whites.get(pair, ())
            for number, white in enumerate(_still(whites, begun), 1 + len(begun)):
                black = upper if white == lower else lower
                balance[white] += 1
                balance[black] -= 1
                which = f", game {number} of {self.games_per_match}" if self.games_per_match > 1 else ""
                games.append(Game(black=black, white=white, reason=f"both in the active set and not met yet{which}"))
        return tuple(games)


_LEAVING = ("who", "replacement", "source", "matches", "parked")
_SAID: Mapping[Kind, Sequence[str]] = MappingProxyType(
    {
        "start": ("active", "matches"),
        "park": ("last", "last_matches", "table", *_LEAVING),
        "drop": ("last", "last_matches", "table", *_LEAVING),
        "withdraw": _LEAVING,
        "enter": ("replacement", "source", "matches"),
        "finish": ("table",),
    }
)
"""What a round's details hold of each kind of event."""


class Played:
    """What has been played in a run. A :class:`cgos_server.tournaments.systems.bubble_run.Matches`.

    :param games: so many with a result make a match; void ones are no result
    :param forbidden: pairs that have nothing to play
    :ivar whites: pair -> who had White in the games that have a result or are being played
    :ivar balance: by id: games with White less games with Black
    :ivar voided: pair -> who had White in the last void game
    """

    def __init__(self, games: int, forbidden: Collection[Pair]) -> None:
        self._games = games
        self._forbidden = frozenset(forbidden)
        self._made: dict[Pair, int] = {}  # half points of the first against the second
        self._ended: dict[Pair, int] = {}
        self._counts: dict[int, int] = {}
        self.whites: dict[Pair, tuple[int, ...]] = {}
        self.balance: dict[int, int] = {}
        self.voided: dict[Pair, int] = {}

    def copy(self) -> Played:
        """One that can grow by itself."""
        other = Played(self._games, self._forbidden)
        other._made, other._ended, other._counts = self._made.copy(), self._ended.copy(), self._counts.copy()
        other.whites, other.balance, other.voided = self.whites.copy(), self.balance.copy(), self.voided.copy()
        return other

    def add(self, round_: Round) -> None:
        """What a round has brought so far."""
        for game, pair in zip(round_.games, round_.pairs, strict=True):
            white, black, result = game.white, game.black, game.result
            if result is not None and result.how == "void":
                self.voided[pair] = white
                continue
            self.whites[pair] = (*self.whites.get(pair, ()), white)
            self.balance[white] = self.balance.get(white, 0) + 1
            self.balance[black] = self.balance.get(black, 0) - 1
            if result is not None:
                self._made[white, black] = self._made.get((white, black), 0) + result.white
                self._made[black, white] = self._made.get((black, white), 0) + result.black
                ended = self._ended[pair] = self._ended.get(pair, 0) + 1
                if ended == self._games:
                    self._counts.update((id_, self.count(id_) + 1) for id_ in pair)

    def points(self, one: int, other: int) -> int | None:
        if self._ended.get(pair_of(one, other), 0) < self._games:
            return None
        mine, theirs = self._made[one, other], self._made[other, one]
        return 1 if mine == theirs > 0 else 2 * (mine > theirs)

    def met(self, one: int, other: int) -> bool:
        pair = pair_of(one, other)
        return self._ended.get(pair, 0) >= self._games or pair in self._forbidden

    def count(self, one: int) -> int:
        return self._counts.get(one, 0)


@dataclass(slots=True)
class _Replay:
    """What the rounds of a record make of a run.

    :ivar moves: the steps of the run
    """

    run: Run
    moves: tuple[Move, ...]
    played: Played

    def copy(self) -> _Replay:
        """One that can grow by itself."""
        return _Replay(self.run, self.moves, self.played.copy())


class _Step(NamedTuple):
    """The run before and after the next step, that step, and what has been played before."""

    before: Run
    after: Run
    moves: Sequence[Move]
    played: Played


@kept
def _next(event: Event, system: Bubble) -> _Step:
    replay = system._replayed(event)
    there = _there(event.entrants, len(event.rounds) + 1, event.withdrawn)
    place = old_ranking(event.entrants)
    before = arranged(replay.run, there, place)
    after, moves = advance(before, there, place=place, matches=replay.played, rules=system.rules)
    return _Step(before, after, moves, replay.played)


_Rest: TypeAlias = tuple[()] | tuple[tuple[Round, ...], tuple[int, ...]]
"""Nothing, where every round says who had withdrawn; else all rounds, and the ids of those who have."""


def _unplayed(system: Bubble, _entrants: Sequence[Entrant], forbidden: Collection[Pair], _rest: _Rest) -> _Replay:
    return _Replay(Run(), (), Played(system.games_per_match, forbidden))


def _replay(
    replay: _Replay, each: Round, system: Bubble, entrants: Sequence[Entrant], _forbidden: object, rest: _Rest
) -> None:
    """Follows the run through a round of the record."""
    there = _there(entrants, each.number, _withdrawn(each, rest))
    place = old_ranking(entrants)
    run = arranged(replay.run, there, place)
    followed = _recorded(run, each)
    run, moves = followed or advance(run, there, place=place, matches=replay.played, rules=system.rules)
    replay.run = run
    replay.moves += tuple(moves)
    replay.played.add(each)


def old_ranking(entrants: Sequence[Entrant]) -> dict[int, int]:
    """Everybody's place in the old ranking, 0 = best: the order of registration; late entrants by their ratings."""
    listed = [one for one in entrants if one.joined <= 1]
    for late in entrants:
        if late.joined > 1:
            at = len(listed)
            if late.rating is not None:
                lower = (k for k, one in enumerate(listed) if one.rating is not None and one.rating < late.rating)
                at = next(lower, at)
            listed.insert(at, late)
    return {one.id: at for at, one in enumerate(listed)}


def _is_over(event: Event, run: Run, moves: Sequence[Move]) -> bool:
    """Nothing is left but what nobody has planned.

    :param run: after the next step
    :param moves: that step; empty where something has to be played again
    """
    return run.is_finished or (bool(moves) and event.planned is not None and len(event.rounds) >= event.planned)


def _there(entrants: Sequence[Entrant], number: int, withdrawn: Collection[int]) -> list[int]:
    return [one.id for one in entrants if one.joined <= number and one.id not in withdrawn]


def _withdrawn(each: Round, rest: _Rest) -> Collection[int]:
    """Who had withdrawn when a round was paired; where its explanation says nothing, those who play no more."""
    recorded = each.explanation.details.get("withdrawn")
    if isinstance(recorded, list):
        return recorded
    rounds, withdrawn = rest or ((), ())
    playing = {id_ for later in rounds[each.number - 1 :] for pair in later.pairs for id_ in pair}
    return [id_ for id_ in withdrawn if id_ not in playing]


def _recorded(run: Run, round_: Round) -> tuple[Run, list[Move]] | None:
    """The run after the steps that a round's explanation tells of, and these; None: it tells nothing that fits."""
    try:
        moves = msgspec.convert(round_.explanation.details["events"], list[Move])
        for move in moves:
            run = follow(run, move)
    except (KeyError, ValueError, msgspec.ValidationError):
        return None
    return run, moves


def _as_details(move: Move) -> dict[str, Any]:
    """JSON values of what its kind has."""
    values: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(move))
    return {key: values[key] for key in ("event", "step", *_SAID[move.event])}


def _still(wanted: Sequence[int], begun: Sequence[int]) -> list[int]:
    """Who has White in the games of a match that are left."""
    left = list(wanted)
    for white in begun:
        if white in left:
            left.remove(white)
    return left[: max(0, len(wanted) - len(begun))]


def _sentence(move: Move, names: Mapping[int, str]) -> str:
    comes = ""
    if move.replacement is not None:
        source = "returns" if move.source == "parked" else "comes from the old list"
        matches = counted(len(move.matches), "match", "matches")
        comes = f" {names[move.replacement]} {source} and plays {matches}."
    who = names.get(move.who or 0, "")
    if move.event == "start":
        return f"The lowest {len(move.active)} of the old list play each other."
    if move.event == "park":
        last = names.get(move.last or 0, "")
        return f"{who} leads the active set and is parked, as {last} has played only {move.last_matches}.{comes}"
    if move.event == "drop":
        return f"{who} is last of the active set and gets its place in the new ranking.{comes}"
    if move.event == "withdraw":
        return f"{who} has withdrawn.{comes or ' Nobody is left to come.'}"
    return comes.strip()


SYSTEM: Final = declared(Bubble, "bubble", "a small round robin moves up a long list from its end")
