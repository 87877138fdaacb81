"""What systems have in common in which whoever loses is out: how a match ends, its colors, who meets whom by folding.

A match is one game, and more where that was drawn or void; all are games of one round. Must not know: brackets, groups.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from typing import NamedTuple

from msgspec.structs import replace

from cgos_protocol.options import Number
from cgos_server.tournaments.base import Event, Game, Pair, Round, Standings
from cgos_server.tournaments.kept import kept
from cgos_server.tournaments.ledger import Ledger
from cgos_server.tournaments.pairing.colors import Colors, by_record
from cgos_server.tournaments.pairing.perfect import Matching
from cgos_server.tournaments.standings.places import ranked
from cgos_server.tournaments.standings.tiebreaks import standings_by

REPLAYS = Number(
    0, 2, whole=True, meaning="how often a drawn match may be played again before the better seed advances"
)


class Match(NamedTuple):
    """How a match stands.

    :ivar is_open: a game of it is being played
    :ivar winner: id; None: none, or not yet
    :ivar losers: ids, both where each of them lost
    :ivar again: the game to be played next where the match is not decided; None: the first one, or none
    """

    is_open: bool = False
    winner: int | None = None
    losers: tuple[int, ...] = ()
    again: Game | None = None

    @property
    def is_decided(self) -> bool:
        return bool(self.losers)


def match(games: Sequence[Game], better: int, worse: int, replays: int) -> Match:
    """How a match stands after some games.

    A draw is played again with colors swapped, up to `replays` times, then the better seed advances; a void game is
    played again as it was and counts for nothing; a game that gives nobody points is lost by both (all our choice). A
    forfeit decides like any game.

    :param games: of these two in this round, in order
    """
    draws = 0
    again: Game | None = None
    for game in games:
        result = game.result
        if result is None:
            return Match(is_open=True)
        if result.how == "void":
            again = Game(black=game.black, white=game.white, reason="the game before was void")
        elif result.white != result.black:
            winner, loser = (game.white, game.black) if result.white > result.black else (game.black, game.white)
            return Match(winner=winner, losers=(loser,))
        elif result.white == 0:
            return Match(losers=(better, worse))
        elif draws == replays:
            return Match(winner=better, losers=(worse,))
        else:
            draws += 1
            again = Game(
                black=game.white, white=game.black, reason=f"replay {draws} of {replays} after a draw, colors swapped"
            )
    return Match(again=again)


def needless(games: Sequence[Game], better: int, worse: int, replays: int) -> Sequence[Game]:
    """The games of a match from the first one on that was not to be played after those before.

    :param games: of these two in this round, in order
    """
    for at, game in enumerate(games):
        state = match(games[:at], better, worse, replays)
        again = state.again
        if state.is_decided or (again is not None and (again.white, again.black) != (game.white, game.black)):
            return games[at:]
    return ()


def stale_games(
    event: Event, number: int, pairs: Collection[Set[int | None]], seeds: Mapping[int, int], replays: int
) -> Iterator[int]:
    """Ids of the games of a round that are of none of these pairs, or were not to be played again.

    :param seeds: id -> seed
    """
    for pair, games in games_of(event, number).items():
        wrong = needless(games, *by_seed(pair, seeds), replays) if set(pair) in pairs else games
        yield from (game.id for game in wrong)


def by_seed(pair: Iterable[int], seeds: Mapping[int, int]) -> Pair:
    """The two of a pair, the better seed first; who has none stands before all others."""
    one, other = pair
    return (other, one) if seeds.get(other, 0) < seeds.get(one, 0) else (one, other)


def first_game(ledger: Ledger, pair: Iterable[int], seeds: Mapping[int, int], board: int, title: str) -> Game:
    """The first game of a match.

    :param board: from 1
    :param title: what the match is called, with what parts it from the rest of the reason
    """
    better, worse = by_seed(pair, seeds)
    white, black, why = colors(ledger, better, worse, board)
    return Game(black=black, white=white, reason=f"{title} seed {seeds[better]} against seed {seeds[worse]}; {why}")


def games_of(event: Event, number: int) -> Mapping[Pair, Sequence[Game]]:
    """(Smaller id, larger id) -> their games in a round of the record, in order."""
    return _by_pair(event.rounds[number - 1]) if number <= len(event.rounds) else {}


@kept
def _by_pair(each: Round) -> Mapping[Pair, Sequence[Game]]:
    games: dict[Pair, list[Game]] = {}
    for game in each.games:
        games.setdefault(game.pair, []).append(game)
    return games


def colors(ledger: Ledger, better: int, worse: int, board: int) -> Colors:
    """Who has White in the first game of a match (our choice): who has the lower color balance; else those who had
    different colors last change them; else the better seed has Black on odd boards. No lot decides, so that
    colors do not depend on when a game begins.

    :param board: from 1
    """
    decided = by_record(ledger, better, worse)
    if decided is not None:
        return decided
    if board % 2:
        return Colors(worse, better, f"the better seed has Black on board {board}")
    return Colors(better, worse, f"the better seed has White on board {board}")


def folded(order: Sequence[int], barred: Iterable[tuple[int, int]]) -> list[tuple[int, int]] | None:
    """The best of them meets the worst that it may, the best of the others the worst of these, and so on; a choice that
    leaves the rest without a pairing is taken back. None where there is no pairing.

    :param order: ids, best first, an even number
    :param barred: pairs, either way round; those with others do not matter
    :returns: (better, worse), by the better
    """
    place = {id_: at for at, id_ in enumerate(order)}
    masks = [(1 << len(order)) - 1 & ~(1 << at) for at in range(len(order))]
    for one, other in barred:
        if one in place and other in place:
            masks[place[one]] &= ~(1 << place[other])
            masks[place[other]] &= ~(1 << place[one])
    matching = Matching(masks)
    if not matching.is_perfect:
        return None
    pairs: list[tuple[int, int]] = []
    left = list(range(len(order)))
    while left:
        first = left.pop(0)
        second = next(at for at in reversed(left) if masks[first] >> at & 1 and matching.take(first, at))
        left.remove(second)
        pairs.append((order[first], order[second]))
    return pairs


def placed(
    event: Event,
    order: Sequence[str],
    values: Mapping[str, Mapping[int, float | None]],
    ascending: Sequence[str] = (),
) -> Standings:
    """The standings by `order`; the event's tie-breakers, if it has any, separate those who would share a place."""
    if not event.tie_breakers:
        return ranked(event, order, values, ascending)
    others = standings_by(event, event.tie_breakers)
    places: dict[int, float | None] = {row.entrant: row.place for row in others.rows}
    table = ranked(event, (*order, ""), {**values, "": places}, (*ascending, ""))
    more = {row.entrant: row.values for row in others.rows}
    rows = tuple(replace(row, values=(*row.values[:-1], *more[row.entrant])) for row in table.rows)
    return Standings((*order, *others.order), rows)
