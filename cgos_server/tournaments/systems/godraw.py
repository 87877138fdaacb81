"""GoDraw: inside groups of equal score everything is drawn by lot, within rules that keep the draw fair.

Knows the lots and their rules. Must not know: how starting points are found, how standings are counted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from cgos_server.tournaments.base import Bye, Chance, Event, Game, Pair, Round, declared, pair_of
from cgos_server.tournaments.chance import choice, coin, lots_of, shuffled
from cgos_server.tournaments.event import Field, forbidden_pairs, name_of
from cgos_server.tournaments.ledger import Ledger, Line
from cgos_server.tournaments.pairing.byes import odd_one_out
from cgos_server.tournaments.pairing.colors import BY_LOT, LOWER_BALANCE, once_more
from cgos_server.tournaments.pairing.groups import Cost, Part, pair_group
from cgos_server.tournaments.pairing.perfect import Matching
from cgos_server.tournaments.pairing.rematches import fewest_rematches
from cgos_server.tournaments.systems.from_starts import FromStarts, Scores
from cgos_server.tournaments.words import rematches_said

RESTARTS: Final = 50
"""How often a group is drawn anew before it is searched."""

_COSTS: Final = 1 << 20

Labels: TypeAlias = Mapping[int, str | int]
"""Id -> what an entrant shares with others; its own id where nothing is known."""


class Drawn(NamedTuple):
    """Two who were drawn together.

    :ivar wants_white: the first one's wish, which decides where both have had their colors alike
    """

    first: int
    second: int
    wants_white: bool
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the lots are bound by, and where they come from.

    :ivar never: (smaller id, larger id) of those who must not meet
    :ivar lost: ids of those who lost their previous game
    :ivar rose: ids of those who were paired down last round and won
    :ivar labels: countries, then clubs
    :ivar least: smallest number of byes in the field
    :ivar apart: id -> whom it must not be paired with: it has met them, or never must
    :ivar groups: those that have been drawn, None where they could not be
    """

    rng: Chance
    ledger: Ledger
    never: frozenset[Pair]
    lost: frozenset[int]
    rose: frozenset[int]
    labels: tuple[Labels, Labels]
    least: int
    apart: Mapping[int, Set[int]]
    groups: dict[object, Group | None] = field(default_factory=dict)

    def barred(self, one: int, other: int) -> bool:
        """These two must not be paired."""
        return other in self.apart[one]

    def wants_white(self, key: int, attempt: int, id_: int) -> bool:
        """Whether the first of a pair wants White: it has had it less, or by lot.

        :param key: of the part, for the lot
        """
        balance, lot = self.ledger.lines[id_].balance, (key, attempt, id_)
        return balance < 0 if balance else coin(self.rng, "want", *lot)

    def cost(self, key: int) -> Cost:
        """A cost by lot."""
        return lambda one, other: int(self.rng.unit("cost", key, *pair_of(one, other)) * _COSTS)

    def searched(self, key: int, pairs: Sequence[Pair], reason: str) -> list[Drawn]:
        """Pairs that were not drawn but searched."""
        return [Drawn(one, other, self.wants_white(key, RESTARTS + 1, one), reason) for one, other in pairs]


class Group(NamedTuple):
    """A group drawn.

    :ivar pairs: that of its floater first
    :ivar restarts: how often it was drawn anew
    :ivar is_searched: no draw could complete it
    """

    pairs: Sequence[Drawn]
    restarts: int
    is_searched: bool = False


@dataclass(slots=True, kw_only=True)
class Drawing:
    """A whole field drawn.

    :ivar floats: (id, opponent)
    :ivar restarts: number of the group -> how often it was drawn anew
    :ivar searched: numbers of groups that no draw could complete
    """

    pairs: list[Drawn] = field(default_factory=list)
    out: int | None = None
    floats: list[tuple[int, int]] = field(default_factory=list)
    restarts: dict[int, int] = field(default_factory=dict)
    searched: list[int] = field(default_factory=list)


class GoDraw(FromStarts):
    """A McMahon event in which opponents of equal score are drawn by lot: guided random.

    For events that want no seeding inside groups, and for pools in which one author has several engines. Any number of
    rounds will do. Guarantees: no rematch unless the field cannot be paired otherwise, at most one bye for each while
    somebody has had none, those of the same author apart unless one author has more than half of a group or rematches
    interfere. For engines `country` is the author and `club` the program's family; who has none is alone in it (our
    choice).

    Groups are those of equal whole McMahon points, from the top:

    1. An odd group sends one down: by lot among those who lost their previous game, else among all. It meets, in the
       next group, one by lot of those who were paired down last round and won, else of all, but nobody it has met.
       Where that leaves nobody, the first set is widened to its whole group, then the other, then both, and then the
       group further down is asked. In the last group the lowest of those with the fewest byes sits out.
    2. Inside a group a player is drawn from the country with most unpaired players (of equal ones by lot), and its
       opponent from the second one; if it has met all of these, from the third, and so on. Countries of equal size are
       one for that (our choice: where all are alone in theirs, the next rule would have nobody to choose from). When
       one country is left, the same by clubs; then at random.
    3. The first of a pair wants the color that it has had less, or one by lot. Its opponent is drawn from those who
       want the other color, else from all of them. Who has had both alike fits either wish, and where both want the
       same, that one gets it who has had it less, then the first (our choice). With handicap the weaker has Black.
    4. Where nobody is left to choose, the group is drawn anew, its floater included, at most 50 times; then it is
       searched as EPM does, with costs by lot. If that fails it is handled as one with the next group, the last one
       with the group above. Only if the whole field fails there are rematches, as few as possible.

    Source: Kaniuk's GoDraw as described by Vuorinen (2010); who sits out, the order in which a draw is given up, and
    that groups are whole points are our choice. Standings as in McMahon, whose options for starting points, absences
    and handicap it has.

    Draws, each with the number of the group (of several the top one) and of the attempt as first keys: `down` (id),
    `up` (id that comes down), `country` and `club` (number of the pair, smallest unpaired id of that country),
    `player`, `opponent` (number of the pair), `want` (id). Others: `cost` (number of the group, 0 for the whole field;
    smaller id, larger id), `order` (id).
    Players are in the order of their ids when one is drawn.

    Details: `groups` (ids, best first), `scores`, `floats` (id, opponent), `merged` (numbers of groups drawn as one),
    `restarts` (number of the group as text -> how many), `searched` (numbers of groups), `rematches`.
    """

    name = "godraw"

    def decide(self, event: Event, field: Field, ledger: Ledger, rng: Chance) -> Round:
        scores = self.scores(event, field, ledger, rng)
        groups = scores.groups(scores.order)
        facts = _facts(event, field, ledger, self.drawn(ledger, scores.starts), rng=rng)
        parts = [Part((number,), tuple(group)) for number, group in enumerate(groups, 1)]
        drawing = _draw(parts, facts)
        while isinstance(drawing, int) and len(parts) > 1:
            first = min(drawing, len(parts) - 2)
            parts[first : first + 2] = [parts[first].with_next(parts[first + 1])]
            drawing = _draw(parts, facts)
        if isinstance(drawing, int):
            drawing = _with_rematches(scores.order, facts)
        return self._explained(event, field, ledger=ledger, scores=scores, parts=parts, drawing=drawing)

    def _explained(
        self,
        event: Event,
        field: Field,
        ledger: Ledger,
        scores: Scores,
        parts: Sequence[Part],
        drawing: Drawing,
    ) -> Round:
        place = {id_: at for at, id_ in enumerate(scores.order)}
        pairs = sorted(drawing.pairs, key=lambda pair: min(place[pair.first], place[pair.second]))
        games = [self._game(scores, ledger, pair) for pair in pairs]
        rematches = [[game.white, game.black] for game in games if ledger.have_met(game.white, game.black)]
        merged = [list(part.numbers) for part in parts if len(part.numbers) > 1]
        byes, why = [], []
        if drawing.out is not None:
            byes.append(Bye(drawing.out, event.bye_points))
            name = name_of(event, drawing.out)
            why.append(f"{name} sits out: of those left in the last group with the fewest byes, the lowest placed.")
        if merged:
            named = "; ".join(str(part) for part in parts if len(part.numbers) > 1)
            why.append(f"Drawn together, because they could not be paired by themselves: {named}.")
        if drawing.searched:
            named = "; ".join(str(part) for part in parts if part.numbers[0] in drawing.searched)
            why.append(f"Searched, because the lots could not complete them: {named}.")
        if rematches:
            why.append(rematches_said(len(rematches)))
        details = {
            "groups": scores.groups(scores.order),
            "floats": [list(float_) for float_ in drawing.floats],
            "merged": merged,
            "restarts": {str(number): count for number, count in drawing.restarts.items()},
            "searched": drawing.searched,
            "rematches": rematches,
        }
        return self.round(field, scores, games, byes, why=why, details=details)

    def _game(self, scores: Scores, ledger: Ledger, pair: Drawn) -> Game:
        first, second, wants_white, reason = pair
        handicapped = self.with_stones(scores, ledger, one=first, other=second, reason=reason)
        if handicapped is not None:
            return handicapped
        balances = (ledger.lines[first].balance, ledger.lines[second].balance)
        first_is_white = wants_white if balances[0] == balances[1] else balances[0] < balances[1]
        why = BY_LOT if balances[0] == balances[1] else LOWER_BALANCE
        white, black = (first, second) if first_is_white else (second, first)
        return Game(black=black, white=white, reason=f"{reason}; {why}{once_more(ledger, first, second)}")


def _facts(event: Event, field: Field, ledger: Ledger, ways: Mapping[int, list[tuple[int, int]]], rng: Chance) -> Facts:
    last = field.number - 1
    lines = {one.id: ledger.lines[one.id] for one in field.players}
    never = forbidden_pairs(event)
    apart: defaultdict[int, set[int]] = defaultdict(set)
    for one, other in (*ledger.met, *never):
        apart[one].add(other)
        apart[other].add(one)
    return Facts(
        rng=rng,
        ledger=ledger,
        never=never,
        lost=frozenset(id_ for id_, line in lines.items() if _lost_last(line)),
        rose=frozenset(id_ for id_, line in lines.items() if (last, -1) in ways[id_] and _won_in(line, last)),
        labels=(
            {one.id: one.country or one.id for one in field.players},
            {one.id: one.club or one.id for one in field.players},
        ),
        least=min((line.byes for line in lines.values()), default=0),
        apart=apart,
    )


def _lost_last(line: Line) -> bool:
    for entry in reversed(line.entries):
        if entry.kind in ("game", "forfeit"):
            return entry.points < entry.against
    return False


def _won_in(line: Line, number: int) -> bool:
    return any(
        entry.round == number and entry.opponent is not None and entry.points > entry.against for entry in line.entries
    )


def _draw(parts: Sequence[Part], facts: Facts) -> Drawing | int:
    """The field drawn; or which part, 0 the top one, cannot be."""
    drawing = Drawing()
    gone: set[int] = set()
    for at, part in enumerate(parts):
        members = [id_ for id_ in part.members if id_ not in gone]
        below = [left for p in parts[at + 1 :] if (left := [id_ for id_ in p.members if id_ not in gone])]
        if len(members) % 2 and not below:
            drawing.out = _sits_out(members, facts, whole=len(parts) == 1)
            if drawing.out is None:
                return at
            members.remove(drawing.out)
        downs = _floaters(members, below, facts) if len(members) % 2 else {}
        group = _group(part, tuple(members), downs, facts)
        if group is None:
            return at
        number = part.numbers[0]
        if group.restarts:
            drawing.restarts[number] = group.restarts
        if group.is_searched:
            drawing.searched.append(number)
        drawing.floats += [(pair.first, pair.second) for pair in group.pairs[: len(members) % 2]]
        drawing.pairs += group.pairs
        gone.update(id_ for pair in group.pairs for id_ in (pair.first, pair.second))
    return drawing


def _sits_out(members: Sequence[int], facts: Facts, whole: bool) -> int | None:
    """Of the last group; None where others have had fewer byes."""
    if whole:
        return odd_one_out(members, facts.ledger, facts.never)
    return next((id_ for id_ in reversed(members) if facts.ledger.lines[id_].byes == facts.least), None)


def _group(part: Part, members: tuple[int, ...], downs: Mapping[int, tuple[int, ...]], facts: Facts) -> Group | None:
    """A group drawn; None where it cannot be paired without rematches. Asked again it says the same at once.

    :param downs: of an odd group, as of :func:`_floaters`
    """
    key = (part.numbers, members, tuple(downs.items()))
    if key not in facts.groups:
        facts.groups[key] = _drawn_group(part, members, downs, facts)
    return facts.groups[key]


def _drawn_group(part: Part, members: Sequence[int], downs: Mapping[int, Sequence[int]], facts: Facts) -> Group | None:
    if len(members) % 2 and not downs:
        return None
    floats: dict[int, Drawn] = {}
    for attempt in range(RESTARTS + 1):
        above = [_floater(part, attempt, downs, facts)] if downs else []
        floats.update((pair.first, pair) for pair in above if pair.first not in floats)
        inside = _inside(part, attempt, _without(members, above), facts)
        if inside is not None:
            return Group([*above, *inside], attempt)
        if not attempt and _is_hopeless(members, downs, facts):
            return None  # whatever the lots and the search say
    for tried in [[pair] for pair in floats.values()] or [[]]:
        pairs = pair_group(_without(members, tried), lambda _: facts.cost(part.numbers[0]), facts.barred)
        if pairs is not None:
            searched = facts.searched(part.numbers[0], pairs, f"{part}, by search")
            return Group([*tried, *searched], RESTARTS, is_searched=True)
    return None


def _without(members: Sequence[int], pairs: Sequence[Drawn]) -> list[int]:
    """Those who do not come down with one of these pairs."""
    gone = [pair.first for pair in pairs]
    return [id_ for id_ in members if id_ not in gone]


def _is_hopeless(members: Sequence[int], downs: Mapping[int, Sequence[int]], facts: Facts) -> bool:
    """Whether the others cannot be paired without rematches, whoever comes down."""
    for down in downs or (None,):
        rest = [id_ for id_ in members if id_ != down]
        place = {id_: at for at, id_ in enumerate(rest)}
        masks = [
            sum(1 << place[other] for other in place if other not in facts.apart[id_]) & ~(1 << at)
            for id_, at in place.items()
        ]
        if Matching(masks).is_perfect:
            return False
    return True


def _floaters(members: Sequence[int], below: Sequence[Sequence[int]], facts: Facts) -> dict[int, tuple[int, ...]]:
    """Who can come down from an odd group: id -> whom each can meet, ascending; nobody where all who could have met."""
    losers = [id_ for id_ in members if id_ in facts.lost] or members
    for group in below:
        winners = [id_ for id_ in group if id_ in facts.rose] or group
        for downs, ups in ((losers, winners), (members, winners), (losers, group), (members, group)):
            free = {down: tuple(sorted(up for up in ups if up not in facts.apart[down])) for down in downs}
            if any(free.values()):
                return {down: may for down, may in free.items() if may}
    return {}


def _floater(part: Part, attempt: int, downs: Mapping[int, Sequence[int]], facts: Facts) -> Drawn:
    """Who comes down from an odd group, and whom it meets, by lot."""
    keys = (part.numbers[0], attempt)
    down = shuffled(facts.rng, downs, "down", *keys)[0]
    lot = (*keys, down)
    up = choice(facts.rng, downs[down], "up", *lot)
    return Drawn(down, up, facts.wants_white(*lot), f"drawn down from {part}, by lot")


def _inside(part: Part, attempt: int, members: Sequence[int], facts: Facts) -> list[Drawn] | None:
    """An even group drawn by countries and clubs; None where somebody has met all who are left."""
    left = sorted(members)
    pairs: list[Drawn] = []
    while left:
        keys = (part.numbers[0], attempt, len(pairs))
        first, pools, how = _first(keys, left, facts)
        wants_white = facts.wants_white(part.numbers[0], attempt, first)
        apart = facts.apart[first]
        open_ = ([id_ for id_ in pool if id_ not in apart] for pool in pools)
        may = next(filter(None, open_), [])
        if not may:
            return None
        fit = [id_ for id_ in may if _fits(facts.ledger.lines[id_], wants_white)]
        second = choice(facts.rng, fit or may, "opponent", *keys)
        left = [id_ for id_ in left if id_ not in (first, second)]
        pairs.append(Drawn(first, second, wants_white, f"{part}, by lot{how}"))
    return pairs


def _first(keys: tuple[int, int, int], left: Sequence[int], facts: Facts) -> tuple[int, list[list[int]], str]:
    """The first of the next pair; among whom its opponent is drawn, the first set that has one; and how, in words."""
    rng = facts.rng
    for word, labels in zip(("country", "club"), facts.labels, strict=True):
        sets: defaultdict[str | int, list[int]] = defaultdict(list)
        for id_ in left:
            sets[labels[id_]].append(id_)
        if len(sets) == len(left) > 1:  # all are alone in theirs, so that one set is as large as another
            lots = lots_of(rng, left, word, *keys)
            first = min(left, key=lambda id_: (lots[id_], id_))
            return first, [[id_ for id_ in left if id_ != first]], ""
        if len(sets) > 1:
            lots = lots_of(rng, [ids[0] for ids in sets.values()], word, *keys)
            ordered = sorted(sets.values(), key=lambda ids: (-len(ids), lots[ids[0]], ids[0]))
            pools: defaultdict[int, list[int]] = defaultdict(list)
            for ids in ordered[1:]:
                pools[len(ids)] += ids
            how = f" across {_PLURAL[word]}" if len(sets) < len(left) else ""
            return choice(rng, ordered[0], "player", *keys), [sorted(pool) for pool in pools.values()], how
    first = choice(rng, left, "player", *keys)
    return first, [[id_ for id_ in left if id_ != first]], ""


_PLURAL: Final[Mapping[str, str]] = MappingProxyType({"country": "countries", "club": "clubs"})


def _fits(line: Line, other_wants_white: bool) -> bool:
    return line.balance >= 0 if other_wants_white else line.balance <= 0


def _with_rematches(order: Sequence[int], facts: Facts) -> Drawing:
    out = odd_one_out(order, facts.ledger, facts.never) if len(order) % 2 else None
    rest = [id_ for id_ in order if id_ != out]
    pairs = fewest_rematches(rest, facts.cost(0), facts.ledger.met, facts.never)
    return Drawing(pairs=facts.searched(0, pairs, "the whole field, by matching"), out=out)


SYSTEM: Final = declared(GoDraw, "godraw", "a McMahon guided by lot that keeps authors and families apart")
