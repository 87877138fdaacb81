"""TCEC's Swiss: who meets whom follows from points, seeds and colors alone, and every round can be paired.

Must not know: how seeds are made, how matchings are found, other systems.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, NamedTuple

from cgos_protocol.options import Choice, Number
from cgos_server.tournaments.base import (
    Bye,
    Chance,
    Event,
    Explanation,
    Game,
    Pair,
    Round,
    Standings,
    declared,
)
from cgos_server.tournaments.chance import Lots
from cgos_server.tournaments.event import Field
from cgos_server.tournaments.ledger import Ledger, Line
from cgos_server.tournaments.pairing.byes import odd_one_out
from cgos_server.tournaments.pairing.perfect import Matching
from cgos_server.tournaments.pairing.rematches import no_pairing
from cgos_server.tournaments.standings.tiebreaks import standings_by
from cgos_server.tournaments.systems.by_rounds import ByRounds
from cgos_server.tournaments.systems.tcec_seeding import METHODS, seeded
from cgos_server.tournaments.words import counted

BOUND = 2
"""What the color balances of two opponents may add up to, either way."""


@dataclass(frozen=True, kw_only=True)
class Tcec(ByRounds):
    """TCEC's Swiss: for engines, any number of players and rounds, everything decided without lots.

    Players stand in **pairing order**: points, then seed. The first one meets the next one whom it may meet so that
    all others can still be paired, then the first one left does, and so on. Two may meet if no round of the **history**
    has their pair and their color balances (games with White less games with Black) add up to -2 to 2. Where that
    leaves no way to pair everybody, the oldest rounds leave the history for good, one by one, until there is one: so a
    round can always be paired, and the oldest meetings are repeated first.

    What it guarantees: without withdrawals, late entries and unplayed games nobody has more than two games more with
    one color than with the other. Byes go to those with the fewest.

    * Odd field: of those with the fewest byes the last in pairing order sits out. A bye counts as a win in each game
      of the round (for rounds of two games our choice): `Event.bye_points` a game. Byes asked for do not count as byes.
    * Colors of a single round: the higher balance gets Black; equal balances: the higher score gets Black; else the
      second of the pair has White in rounds 1, 4, 5, 8, 9..., the first one in rounds 2, 3, 6, 7...
    * `games_per_match` 2: two games a pair and round; in game 1 the second of the pair has White, in game 2 the first.
    * `seeding`: `equal-distance` is the default, since the source recommends groups of equal strength or lots, and
      names this number of groups: `group` with half as many groups as players. `group`: the ratings cut into `groups`
      equal parts, seeds dealt from them in turn; `random`: by lot; `listed`: the order of registration, for seeds that
      somebody has set. Unknown ratings count as the lowest. Who enters late gets the next seeds (our choice).
    * Games are listed in the order in which they are to be started: the last pair first; with two games
      the list once more with colors reversed.

    Source: TCEC wiki, "TCEC Swiss Tournament System", revision of 8 March 2021. It says that color balances have the
    parity of the round, which needs an event without byes. Where it is silent (our choices): after withdrawals, late
    entries or unplayed games the color bound of 2 may leave no way to pair everybody even with an empty history; it
    then grows for this round, by 1 at a time, before any round is removed. A game that never started gives no colors,
    but the two have met. A round without pairs is no part of the history. Who returns keeps seed, points, byes,
    colors and history. Forbidden pairs stay so; where they spoil the choice of who sits out, the next one does. A
    round whose explanation says nothing of removals is taken to have removed what the rule removes.

    Order of standings: points; fewer byes; more games with Black; Sonneborn-Berger; seed (from the third on our
    choice).

    Details of a round's explanation: `pairing_order` (ids), `bye` (id or None), `history_removed` (numbers of rounds,
    in order of removal), `color_bound`, `pairs` ([first, second]), `playing_order` ([White, Black]).

    Draws: only for ``seeding="random"``: purpose ``seed``, key id, of round 0.
    """

    name = "tcec"
    tie_breakers = ("points", "byes", "games-black", "sonneborn-berger", "seed")

    games_per_match: Annotated[int, Number(1, 2, whole=True, meaning="games of a pair in a round")] = 1
    seeding: Annotated[str, Choice(METHODS, meaning="where the seeds come from")] = "equal-distance"
    groups: Annotated[int, Number(1, 10_000, whole=True, meaning="into how many parts `group` cuts the ratings")] = 4

    def seeds(self, event: Event) -> list[int]:
        """Ids of everybody who ever entered, seed 1 first."""
        return seeded(event.entrants, self.seeding, self.groups, Lots(event.seed, 0))

    def standings(self, event: Event) -> Standings:
        seed: dict[int, float | None] = {id_: float(at) for at, id_ in enumerate(self.seeds(event), 1)}
        return standings_by(event, event.tie_breakers or self.tie_breakers, given={"seed": seed})

    def decide(self, event: Event, field: Field, ledger: Ledger, rng: Chance) -> Round:  # noqa: ARG002 - no lots
        lines = ledger.lines
        seed = {id_: at for at, id_ in enumerate(self.seeds(event))}
        order = sorted((one.id for one in field.players), key=lambda id_: (-lines[id_].score, seed[id_]))
        forbidden = frozenset(event.forbidden)
        bye = odd_one_out(order, ledger, forbidden) if len(order) % 2 else None
        pool = [id_ for id_ in order if id_ != bye]
        way = _way(pool, {id_: lines[id_].balance for id_ in pool}, forbidden, history(event))
        if way is None:
            raise no_pairing()
        pairs = [(pool[first], pool[second]) for first, second in way.matching.first_pairing()]
        place = {id_: at for at, id_ in enumerate(order, 1)}
        games = self._games(field.number, pairs, lines, place)
        worth = event.bye_points * self.games_per_match
        details: dict[str, Any] = {
            "pairing_order": order,
            "bye": bye,
            "history_removed": list(way.removed),
            "color_bound": way.bound,
            "pairs": [list(pair) for pair in pairs],
            "playing_order": [[game.white, game.black] for game in games],
        }
        summary = _summary(len(pairs), event.names.get(bye or 0), way)
        byes = () if bye is None else (Bye(bye, worth),)
        return Round(number=field.number, games=games, byes=byes, explanation=Explanation(summary, details))

    def _games(
        self, number: int, pairs: Sequence[Pair], lines: Mapping[int, Line], place: Mapping[int, int]
    ) -> tuple[Game, ...]:
        games: list[Game] = []
        for first, second in reversed(pairs):
            where = f"places {place[first]} and {place[second]} of the pairing order"
            first_black, why = True, "game 1 of 2"
            if self.games_per_match == 1:
                first_black, why = _first_has_black(number, lines[first], lines[second])
            white, black = (second, first) if first_black else (first, second)
            games.append(Game(black=black, white=white, reason=f"{where}; {why}"))
        if self.games_per_match == 2:
            games += [
                Game(black=game.white, white=game.black, reason=game.reason.replace("game 1 of 2", "game 2 of 2"))
                for game in games
            ]
        return tuple(games)


class _Way(NamedTuple):
    """How everybody can be paired.

    :ivar bound: of colors
    :ivar removed: numbers of the rounds that had to leave the history, oldest first
    :ivar matching: perfect; vertices are places in the pool
    """

    bound: int
    removed: tuple[int, ...]
    matching: Matching


def history(event: Event) -> list[tuple[int, frozenset[Pair]]]:
    """What keeps pairs from meeting again: (number of the round, its pairs), oldest first.

    A round's explanation says which rounds left it then; where it says nothing the rule is applied.
    """
    kept: deque[tuple[int, frozenset[Pair]]] = deque()
    balance: Counter[int] = Counter()
    for each in event.rounds:
        pairs = frozenset(game.pair for game in each.games)
        gone = _recorded(each)
        if gone is None:
            pool = sorted({id_ for pair in pairs for id_ in pair})
            way = _way(pool, balance, frozenset(event.forbidden) - pairs, kept)
            gone = () if way is None else way.removed
        while kept and kept[0][0] in gone:
            kept.popleft()
        if pairs:
            kept.append((each.number, pairs))
        for game in each.games:
            if game.how == "played":
                balance[game.white] += 1
                balance[game.black] -= 1
    return list(kept)


def _recorded(round_: Round) -> tuple[int, ...] | None:
    """The rounds that left the history, as the explanation says; None where it does not."""
    recorded = round_.explanation.details.get("history_removed")
    if not isinstance(recorded, list) or not all(isinstance(number, int) for number in recorded):
        return None
    return tuple(recorded)


def _way(
    pool: Sequence[int],
    balance: Mapping[int, int],
    forbidden: Collection[Pair],
    past: Iterable[tuple[int, frozenset[Pair]]],
) -> _Way | None:
    """With the least color bound, then with as few rounds removed as possible; None: forbidden pairs leave none.

    :param pool: ids, an even number
    """
    place = {id_: at for at, id_ in enumerate(pool)}
    never = _masks(len(pool), place, forbidden)
    most = 2 * max((abs(balance[id_]) for id_ in pool), default=0)
    bound = BOUND
    allowed = _by_color(pool, balance, bound, never)
    matching = Matching(allowed)
    while not matching.is_perfect:
        if bound >= most:
            return None
        bound += 1
        allowed = _by_color(pool, balance, bound, never)
        matching.allow(allowed)

    rounds = deque(
        (number, [pair for pair in pairs if pair[0] in place and pair[1] in place]) for number, pairs in past
    )
    met = Counter(pair for _, pairs in rounds for pair in pairs)
    barred = _masks(len(pool), place, met)
    matching = Matching([mask & ~bar for mask, bar in zip(allowed, barred, strict=True)])
    removed: list[int] = []
    while not matching.is_perfect:
        number, pairs = rounds.popleft()
        removed.append(number)
        for pair in pairs:
            met[pair] -= 1
            if not met[pair]:
                one, other = place[pair[0]], place[pair[1]]
                barred[one] ^= 1 << other
                barred[other] ^= 1 << one
        matching.allow([mask & ~bar for mask, bar in zip(allowed, barred, strict=True)])
    return _Way(bound, tuple(removed), matching)


def _masks(count: int, place: Mapping[int, int], pairs: Iterable[Pair]) -> list[int]:
    """(count,) the partners of each place, as masks; pairs with somebody who has no place are left out."""
    masks = [0] * count
    for one, other in pairs:
        if one in place and other in place:
            masks[place[one]] |= 1 << place[other]
            masks[place[other]] |= 1 << place[one]
    return masks


def _by_color(pool: Sequence[int], balance: Mapping[int, int], bound: int, never: Sequence[int]) -> list[int]:
    """(n,) whom the colors, and what is never allowed, let each place meet."""
    having: Counter[int] = Counter()
    for at, id_ in enumerate(pool):
        having[balance[id_]] |= 1 << at
    fitting = {own: sum(mask for its, mask in having.items() if abs(own + its) <= bound) for own in having}
    return [fitting[balance[id_]] & ~(1 << at) & ~never[at] for at, id_ in enumerate(pool)]


def _first_has_black(number: int, first: Line, second: Line) -> tuple[bool, str]:
    """Whether the first of a pair has Black in a single round, and why."""
    if first.balance != second.balance:
        return first.balance > second.balance, "Black for the higher color balance"
    if first.score != second.score:
        return first.score > second.score, "equal color balances: Black for the higher score"
    first_black = number % 4 in (0, 1)
    nth = "second" if first_black else "first"
    return first_black, f"equal color balances and scores: White for the {nth} of a pair in this round"


def _summary(pairs: int, sits_out: str | None, way: _Way) -> str:
    sentences = [f"{counted(pairs, 'pair')}, from the top of the pairing order (points, then seed)."]
    if sits_out is not None:
        sentences.append(f"{sits_out} sits out: the last of those with the fewest byes.")
    if way.bound > BOUND:
        sentences.append(
            f"Color balances of opponents may add up to {way.bound} either way: with {BOUND} not everybody could be "
            "paired."
        )
    if way.removed:
        numbers = f"round{'s' * (len(way.removed) > 1)} {', '.join(map(str, way.removed))}"
        sentences.append(f"Pairs of {numbers} may meet again: without that not everybody could be paired.")
    return " ".join(sentences)


SYSTEM: Final = declared(Tcec, "tcec", "TCEC's Swiss, in which nothing is left to chance")
