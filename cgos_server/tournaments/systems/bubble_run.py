"""A run of Muller's bubble, step by step: who plays, who is parked, who is ranked for good, who comes next.

Source: H. G. Muller, "New tournament form", WinBoard forum, 19 June 2007. Must not know: events, rounds, games, names.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple, Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

Kind: TypeAlias = Literal["start", "park", "drop", "withdraw", "enter", "finish"]
Source: TypeAlias = Literal["old", "parked"]


class Rules(NamedTuple):
    """:ivar active_size: A, 2 or more
    :ivar min_matches: M, 0 or more: before so many matches nobody is dropped
    :ivar unpark_below: U, 1 to A - 1: who has met fewer of those who stay may return
    """

    active_size: int
    min_matches: int
    unpark_below: int


class Matches(Protocol):
    """What has been played in the run."""

    def points(self, one: int, other: int) -> int | None:
        """Half points of `one` in its match with `other`, 0 to 2; None: they have not met, or are not to meet."""

    def met(self, one: int, other: int) -> bool:
        """These two have nothing to play: they have met, or are not to meet."""

    def count(self, one: int) -> int:
        """Matches of the run, against whomever."""


class Move(Struct, frozen=True, kw_only=True):
    """What happened in one step, ids throughout.

    :ivar event: `start`: the lowest of the list begin; `park`, `drop`: somebody leaves, somebody comes; `withdraw`: the
        same for one who went by itself; `enter`: somebody fills a gap; `finish`: all are ranked
    :ivar step: 0, 1...
    :ivar active: of `start`, lowest first
    :ivar who: leaves
    :ivar last: of the table
    :ivar last_matches: its matches in the run
    :ivar table: the standings decided on, best first: (id, half points, matches in the run)
    :ivar replacement: comes
    :ivar source: of the replacement: the old list, or parked
    :ivar matches: to be played because of this step
    :ivar parked: after the step, longest parked first
    """

    event: Kind
    step: int
    active: tuple[int, ...] = ()
    who: int | None = None
    last: int | None = None
    last_matches: int | None = None
    table: tuple[tuple[int, int, int], ...] = ()
    replacement: int | None = None
    source: Source | None = None
    matches: tuple[tuple[int, int], ...] = ()
    parked: tuple[int, ...] = ()


class Run(Struct, frozen=True, kw_only=True):
    """Where a run stands, ids throughout. Who has withdrawn or waits for the next run is nowhere.

    :ivar below: the old list not yet entered, lowest first
    :ivar active: who plays now
    :ivar parked: longest parked first
    :ivar ranked: the new ranking, lowest first
    """

    below: tuple[int, ...] = ()
    active: tuple[int, ...] = ()
    parked: tuple[int, ...] = ()
    ranked: tuple[int, ...] = ()
    steps: int = 0
    is_finished: bool = False

    @property
    def everybody(self) -> frozenset[int]:
        return frozenset((*self.below, *self.active, *self.parked, *self.ranked))


def arranged(run: Run, there: Collection[int], place: Mapping[int, int]) -> Run:
    """The run after people came and went, but for those who went from the active set: see :func:`advance`.

    Who is new enters the list where its place is above everybody in the run so far, else it waits for the next run.

    :param there: ids of all who take part now
    :param place: of everybody in the old ranking, 0 = best
    """
    reached = min((place[id_] for id_ in (*run.active, *run.parked, *run.ranked)), default=len(place))
    known = run.everybody
    below = [id_ for id_ in run.below if id_ in there]
    below += [id_ for id_ in there if id_ not in known and place[id_] < reached]
    below.sort(key=lambda id_: -place[id_])
    return replace(run, below=tuple(below), parked=tuple(id_ for id_ in run.parked if id_ in there))


def advance(
    run: Run, there: Collection[int], place: Mapping[int, int], matches: Matches, rules: Rules
) -> tuple[Run, list[Move]]:
    """What happens until somebody has to play, or all are ranked. Nothing, where matches have to be played first.

    :param run: arranged
    """
    moves: list[Move] = []
    gone = [id_ for id_ in run.active if id_ not in there]
    while gone:
        stay = [id_ for id_ in run.active if id_ not in gone]
        comer = _replacement(run, stay, matches, rules.unpark_below, the_fewest=True)
        run = _take(run, moves, _exchange(run, "withdraw", leaver=gone.pop(0), stay=stay, comer=comer, matches=matches))
    if not run.steps:
        active = run.below[: rules.active_size]
        move = Move(event="start", step=0, active=active, matches=unmet(active, matches))
        run = _take(run, moves, move)
    while run.below and len(run.active) < rules.active_size:
        comer = (run.below[0], "old")
        run = _take(run, moves, _exchange(run, "enter", leaver=None, stay=run.active, comer=comer, matches=matches))
    left = unmet(run.active, matches)
    while not left and not run.is_finished:
        run = _take(run, moves, _step(run, place, matches, rules))
        left = unmet(run.active, matches)
    return run, moves


def follow(run: Run, move: Move) -> Run:
    """The run after a step.

    :raises ValueError: where the step does not fit
    """
    active, below, parked, ranked = (list(part) for part in (run.active, run.below, run.parked, run.ranked))
    for id_ in move.active:
        below.remove(id_)
        active.append(id_)
    if move.who is not None:
        active.remove(move.who)
        if move.event == "park":
            parked.append(move.who)
        elif move.event == "drop":
            ranked.append(move.who)
    if move.replacement is not None:
        (parked if move.source == "parked" else below).remove(move.replacement)
        active.append(move.replacement)
    if move.event == "finish":
        for id_, _, _ in reversed(move.table):
            active.remove(id_)
            ranked.append(id_)
    return Run(
        below=tuple(below),
        active=tuple(active),
        parked=tuple(parked),
        ranked=tuple(ranked),
        steps=run.steps + 1,
        is_finished=move.event == "finish",
    )


def unmet(active: Sequence[int], matches: Matches) -> tuple[tuple[int, int], ...]:
    """What the active set has to play: (later in the set, earlier)."""
    return tuple(
        (active[at], other) for at in range(len(active)) for other in active[:at] if not matches.met(active[at], other)
    )


def table(active: Sequence[int], place: Mapping[int, int], matches: Matches) -> list[tuple[int, int, int]]:
    """Standings of the active set on what its members did against each other, best first: (id, half points, matches in
    the run).

    Points; then Sonneborn-Berger, then matches won, both inside the set; then the better old ranking (the source says
    nothing of ties: our choice).
    """
    made = {one: {other: matches.points(one, other) or 0 for other in active if other != one} for one in active}
    points = {one: sum(row.values()) for one, row in made.items()}
    berger = {one: sum(value * points[other] for other, value in row.items()) for one, row in made.items()}
    wins = {one: sum(value == 2 for value in row.values()) for one, row in made.items()}
    order = sorted(active, key=lambda one: (-points[one], -berger[one], -wins[one], place[one]))
    return [(one, points[one], matches.count(one)) for one in order]


def _step(run: Run, place: Mapping[int, int], matches: Matches, rules: Rules) -> Move:
    """What the standings of the active set lead to."""
    rows = table(run.active, place, matches)
    if not run.below and not run.parked:
        return Move(event="finish", step=run.steps, table=tuple(rows))
    top, last = rows[0][0], rows[-1][0]
    drops = rows[-1][2] >= rules.min_matches
    leaver = last if drops else top
    stay = [id_ for id_ in run.active if id_ != leaver]
    comer = _replacement(run, stay, matches, rules.unpark_below, the_fewest=drops)
    if comer is None:  # to park would change nothing, so the last one goes although it has played too little
        drops, leaver = True, last
        stay = [id_ for id_ in run.active if id_ != leaver]
        comer = _replacement(run, stay, matches, rules.unpark_below, the_fewest=True)
    move = _exchange(run, "drop" if drops else "park", leaver=leaver, stay=stay, comer=comer, matches=matches)
    return replace(move, last=last, last_matches=rows[-1][2], table=tuple(rows))


def _replacement(
    run: Run, stay: Sequence[int], matches: Matches, below: int, the_fewest: bool
) -> tuple[int, Source] | None:
    """Who comes: the longest parked who has met fewer than `below` of those who stay; else the lowest of the old list;
    else, if `the_fewest`, of the parked the one who has met the fewest."""
    met = {id_: sum(matches.met(id_, other) for other in stay) for id_ in run.parked}
    for id_ in run.parked:
        if met[id_] < min(below, len(stay)):
            return id_, "parked"
    if run.below:
        return run.below[0], "old"
    if the_fewest and run.parked:
        return min(run.parked, key=lambda id_: met[id_]), "parked"
    return None


def _exchange(
    run: Run,
    event: Kind,
    leaver: int | None,
    stay: Sequence[int],
    comer: tuple[int, Source] | None,
    matches: Matches,
) -> Move:
    move = Move(event=event, step=run.steps, who=leaver)
    if comer is not None:
        new, source = comer
        to_play = tuple((new, other) for other in stay if not matches.met(new, other))
        move = replace(move, replacement=new, source=source, matches=to_play)
    return replace(move, parked=follow(run, move).parked)


def _take(run: Run, moves: list[Move], move: Move) -> Run:
    moves.append(move)
    return follow(run, move)
