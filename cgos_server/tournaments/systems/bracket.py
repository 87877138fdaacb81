"""Who meets whom in a cup: the slots, and how every match of the bracket stands by the record.

Must not know: lots, standings, explanations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from cgos_protocol.errors import Code, Invalid
from cgos_server.tournaments.base import Bye, Event, Game
from cgos_server.tournaments.systems.knockout import by_seed, games_of, match

NOBODY: Final = 0
"""Stands where an id could: this side stays empty."""

Slots = tuple[int | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How one match of the bracket stands.

    :ivar round: in which it is played
    :ivar number: within its round, from 1, by slots; 0: for the third place
    :ivar sides: ids or NOBODY, the upper slot first; None: not known yet
    :ivar winner: id, or NOBODY where nobody advances; None: not decided yet
    :ivar loser: the only one who lost it, likewise
    :ivar is_due: its first game, or the game `again`, can begin now
    :ivar again: game to be played after others of this match
    :ivar byes: those of this match that are not in the record yet
    """

    round: int
    number: int
    sides: tuple[int | None, int | None]
    winner: int | None = None
    loser: int | None = None
    is_due: bool = False
    again: Game | None = None
    byes: tuple[Bye, ...] = ()

    @property
    def is_decided(self) -> bool:
        return self.winner is not None


def size_for(entrants: int) -> int:
    """Number of slots: the smallest power of two that is enough."""
    return 1 << rounds_for(entrants)


def rounds_for(entrants: int) -> int:
    """How many rounds leave one of them."""
    return max(0, entrants - 1).bit_length()


def standard(size: int) -> list[int]:
    """Seeds by slots, so that s and size + 1 - s meet first and 1 and 2 can meet only in the final.

    :param size: a power of two
    """
    order = [1]
    while len(order) < size:
        order = [seed for better in order for seed in (better, 2 * len(order) + 1 - better)]
    return order


def leaders(entrants: int, is_standard: bool) -> list[int]:
    """Upper seed of each match of the first round, by slots, where the place tells it; else its number."""
    size = size_for(entrants)
    return standard(size)[::2] if is_standard else list(range(1, size // 2 + 1))


def drawn(ids: Sequence[int], is_standard: bool, passing: Sequence[int]) -> Slots:
    """The slots of a bracket that has not begun.

    In the standard bracket those of the better half who have an opponent meet the worse half: the best the worst.

    :param ids: by seeds
    :param passing: whose match in the first round has an empty slot: of :func:`leaders`
    """
    free = set(passing)
    order = leaders(len(ids), is_standard)
    slots: list[int | None] = []
    if is_standard:
        rest = list(ids[len(order) :])
        other = {seed: rest.pop() for seed in sorted(order) if seed not in free}
        for seed in order:
            slots += [ids[seed - 1], other.get(seed)]
    else:
        rest = list(reversed(ids))
        for number in order:
            slots += [rest.pop(), None if number in free else rest.pop()]
    return tuple(slots)


def recorded(event: Event, ids: Sequence[int], is_standard: bool) -> Slots:
    """The slots of a bracket, read off the record of its first round.

    :param ids: by seeds
    :raises Refused: where that round is not one of this bracket
    """
    met: dict[int, int] = {}
    for game in event.rounds[0].games:
        met[game.white], met[game.black] = game.black, game.white
    if is_standard:
        upper = [ids[seed - 1] for seed in leaders(len(ids), is_standard)]
    else:
        upper = [id_ for at, id_ in enumerate(ids) if met.get(id_) not in ids[:at]]
    slots = tuple(slot for id_ in upper for slot in (id_, met.get(id_)))
    in_place = is_standard or [slot for slot in slots if slot is not None] == list(ids)
    if not in_place or sorted(slot for slot in slots if slot is not None) != sorted(ids):
        raise Invalid(
            Code.BRACKET,
            "The first round of the record is not one of this bracket. Compare the option bracket and the order in "
            "which the entrants are listed.",
        )
    return slots


def stand(event: Event, slots: Slots, seeds: Mapping[int, int], replays: int, third_place: bool) -> list[Standing]:
    """Every match of the bracket, by rounds and slots; the one for the third place last.

    :param seeds: id -> seed
    """
    sides: list[int | None] = [NOBODY if slot is None else slot for slot in slots]
    matches: list[Standing] = []
    number = 0
    semifinals: list[Standing] = []
    while len(sides) > 1:
        number += 1
        look = _Look(event, number, seeds, replays)
        row = [look.at(at // 2 + 1, sides[at], sides[at + 1]) for at in range(0, len(sides), 2)]
        matches += row
        sides = [each.winner for each in row]
        if len(row) == 2:
            semifinals = row
    if third_place and semifinals:
        one, other = semifinals
        matches.append(_Look(event, number, seeds, replays).at(0, one.loser, other.loser))
    return matches


class _Look:
    """Reads the matches of one round off the record."""

    def __init__(self, event: Event, number: int, seeds: Mapping[int, int], replays: int) -> None:
        byes = event.rounds[number - 1].byes if number <= len(event.rounds) else ()
        self._event, self._number, self._seeds, self._replays = event, number, seeds, replays
        self._games = games_of(event, number)
        self._passed = {bye.entrant for bye in byes if not bye.requested}
        self._requested = {bye.entrant: bye.points for bye in byes if bye.requested}
        self._requested_in_record = set(self._requested)
        self._requested.update({one.entrant: one.points for one in event.requests if one.round == number})

    def at(self, number: int, one: int | None, other: int | None) -> Standing:
        sides = (one, other)
        for winner, loser in (sides, sides[::-1]):
            if winner in self._passed:
                return self._decided(number, sides, winner, loser)
        if one is None or other is None:
            return Standing(round=self._number, number=number, sides=sides)
        if NOBODY in sides:
            return self._alone(number, (one, other))
        return self._both(number, (one, other))

    def _alone(self, number: int, sides: tuple[int, int]) -> Standing:
        """At least one side is nobody."""
        one = max(sides)
        if one == NOBODY or one in self._event.withdrawn:
            return self._decided(number, sides, NOBODY, one)
        return self._decided(number, sides, winner=one, loser=NOBODY, byes=(Bye(one, self._event.bye_points),))

    def _both(self, number: int, sides: tuple[int, int]) -> Standing:
        better, worse = by_seed(sides, self._seeds)
        state = match(self._games.get((min(sides), max(sides)), ()), better, worse, self._replays)
        if state.is_open:
            return Standing(round=self._number, number=number, sides=sides)
        if state.is_decided:
            loser = state.losers[0] if len(state.losers) == 1 else NOBODY
            return self._decided(number, sides, state.winner or NOBODY, loser)
        able = [id_ for id_ in sides if id_ not in self._event.withdrawn and id_ not in self._requested]
        if len(able) == 2:
            return Standing(round=self._number, number=number, sides=sides, is_due=True, again=state.again)
        requested = tuple(
            Bye(id_, self._requested[id_], requested=True)
            for id_ in sides
            if id_ not in able and id_ in self._requested and id_ not in self._requested_in_record
        )
        if not able:
            return self._decided(number, sides, winner=NOBODY, loser=NOBODY, byes=requested)
        gone = next(id_ for id_ in sides if id_ not in able)
        return self._decided(
            number, sides, winner=able[0], loser=gone, byes=(Bye(able[0], self._event.bye_points), *requested)
        )

    def _decided(
        self,
        number: int,
        sides: tuple[int | None, int | None],
        winner: int | None,
        loser: int | None,
        byes: tuple[Bye, ...] = (),
    ) -> Standing:
        return Standing(round=self._number, number=number, sides=sides, winner=winner, loser=loser or NOBODY, byes=byes)
