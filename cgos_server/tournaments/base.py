"""The words of a tournament: who has entered, who met whom and with which result; and what every system offers.

An :class:`Event` is a value that holds everything a system may look at, so that any round can be computed again from
it. Points are whole half points throughout. Must not know: any single system, files.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias, get_type_hints

import numpy as np
from msgspec import Struct, field
from numpy.typing import NDArray

from cgos_protocol.catalog import Declaration

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

Pair: TypeAlias = tuple[int, int]
"""Two ids; the smaller one first, where a function does not say otherwise."""

WIN, DRAW, LOSS = 2, 1, 0
"""In half points."""

How: TypeAlias = Literal["played", "forfeit", "void", "no-contest"]
"""Played: counts for everything, a forfeit after the first move included. Forfeit: never started; points as given, no
colors. Void: annulled and to be played again, such as where the server was at fault; no points, no colors.
No-contest: annulled for good; likewise. However it ended, the two have been paired."""


def pair_of(one: int, other: int) -> Pair:
    """Smaller id, larger id."""
    return (one, other) if one < other else (other, one)


class Entrant(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """Who takes part.

    :ivar id: 1 or more; what games refer to
    :ivar rating: Elo, or GoR where the system says so; None: unknown
    :ivar start: half points that a McMahon entrant starts with; None: from grade or rating
    :ivar grade: of Go, such as ``4d`` or ``12k``
    :ivar country: for engines the author
    :ivar club: for engines the program's family
    :ivar joined: number of the first round that could be played
    """

    id: int
    name: str
    rating: float | None = None
    start: int | None = None
    grade: str = ""
    country: str = ""
    club: str = ""
    joined: int = 1


class Result(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What a game gave each side, in half points."""

    black: int
    white: int
    how: How = "played"

    @property
    def white_share(self) -> float:
        """White's share of the points, 0 to 1; 0 where nobody has any."""
        return self.white / ((self.white + self.black) or 1)


WHITE_WINS = Result(LOSS, WIN)
BLACK_WINS = Result(WIN, LOSS)
DRAWN = Result(DRAW, DRAW)
VOID = Result(0, 0, "void")
NO_CONTEST = Result(0, 0, "no-contest")


class Game(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """One game of a round; `white` and `black` are entrants' ids.

    :ivar result: None until it has ended
    :ivar handicap: stones that Black receives
    :ivar reason: why these two meet, and with these colors
    :ivar id: 1, 2... in the order in which games joined the record, never given twice in an event; 0: not of a record
    """

    black: int
    white: int
    result: Result | None = None
    handicap: int = 0
    reason: str = ""
    id: int = 0

    @property
    def pair(self) -> Pair:
        """Smaller id, larger id."""
        return pair_of(self.white, self.black)

    @property
    def how(self) -> How | None:
        """How it ended; None: it has not."""
        return None if self.result is None else self.result.how


class Bye(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A round without an opponent.

    :ivar points: half points that it gives
    :ivar requested: asked for by the entrant, not given because the field was odd
    """

    entrant: int
    points: int = WIN
    requested: bool = False


class Explanation(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Why a round is as it is.

    :ivar summary: sentences for people
    :ivar details: for programs: JSON values by names that the system documents
    """

    summary: str = ""
    details: dict[str, Any] = field(default_factory=dict)


class Round(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True, dict=True):
    """Who meets whom. An entrant that is neither in a game nor has a bye was absent.

    :ivar number: 1, 2...
    """

    number: int
    games: tuple[Game, ...] = ()
    byes: tuple[Bye, ...] = ()
    explanation: Explanation = field(default_factory=Explanation)

    @cached_property
    def is_complete(self) -> bool:
        return None not in [game.result for game in self.games]

    @cached_property
    def has_void(self) -> bool:
        """Whether one of its games is void."""
        return any(game.how == "void" for game in self.games)

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """Of each of its games."""
        return tuple([game.pair for game in self.games])

    @cached_property
    def ids(self) -> tuple[int, ...]:
        """Of those in its games, then of those with a bye; again for each game and bye."""
        return (*(id_ for pair in self.pairs for id_ in pair), *(bye.entrant for bye in self.byes))


class Request(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """An entrant does not want to play in a round, and what that gives: half points."""

    entrant: int
    round: int
    points: int = 0


ChangeKind: TypeAlias = Literal[
    "withdraw", "rejoin", "forbid", "lift", "bye", "cancel-bye", "strike", "correct", "take-back"
]


class Change(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    """What was changed otherwise than by entering, pairing and first results; undoing is a change like any other.

    :ivar round: the first one that is paired with it: it holds from there on, and rounds before know nothing of it
    :ivar entrants: ids: of the one concerned, of `forbid` and `lift` the smaller one first
    :ivar games: ids: of the corrected game, or of those that were taken back
    :ivar before: of `correct`: the result that was replaced; None: there was none
    """

    kind: ChangeKind
    round: int
    entrants: tuple[int, ...] = ()
    games: tuple[int, ...] = ()
    before: Result | None = None


OptionValue: TypeAlias = bool | int | float | str


class Event(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True, dict=True):
    """The whole record of a tournament; changed only by the functions of :mod:`cgos_server.tournaments.event`.

    :ivar system: word of the registry
    :ivar entrants: in the order of registration, which is the order of numbers or seeds where a system has such
    :ivar options: of the system, where they are not its defaults
    :ivar planned: how many rounds; None: as many as the system takes, or until somebody ends it
    :ivar seed: of all that is drawn by lot
    :ivar rounds: with numbers 1, 2... without gaps
    :ivar withdrawn: ids of those who will not play on
    :ivar requests: byes asked for, of past rounds too
    :ivar forbidden: (smaller id, larger id) of pairs that must not meet from now on; `changes` tell since when
    :ivar bye_points: what a bye given because the field was odd is worth, in half points
    :ivar tie_breakers: words of the order of standings; empty: the system's own
    :ivar changes: in the order in which they were made
    :ivar format: of the record
    """

    system: str
    entrants: tuple[Entrant, ...] = ()
    name: str = ""
    options: dict[str, OptionValue] = field(default_factory=dict)
    planned: int | None = None
    seed: int = 0
    rounds: tuple[Round, ...] = ()
    withdrawn: tuple[int, ...] = ()
    requests: tuple[Request, ...] = ()
    forbidden: tuple[tuple[int, int], ...] = ()
    bye_points: int = WIN
    tie_breakers: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    format: int = 1

    @cached_property
    def by_id(self) -> Mapping[int, Entrant]:
        """Everybody who ever entered, in the order of registration."""
        return {one.id: one for one in self.entrants}

    @cached_property
    def names(self) -> Mapping[int, str]:
        """By id, in the order of registration; namesakes are told apart by their ids, as in ``Ann #3``."""
        times = Counter(one.name for one in self.entrants)
        return {one.id: f"{one.name} #{one.id}" if times[one.name] > 1 else one.name for one in self.entrants}

    @property
    def games(self) -> Iterator[tuple[int, Game]]:
        """(Number of the round, game) of the whole record, in order."""
        return ((each.number, game) for each in self.rounds for game in each.games)

    @property
    def played(self) -> Iterator[tuple[Game, Result]]:
        """The games really played, in order."""
        return ((game, game.result) for _, game in self.games if game.result and game.how == "played")


class Row(Struct, frozen=True, kw_only=True):
    """One line of the standings.

    :ivar place: 1 = best; the same for those whom nothing separates
    :ivar values: in points (not half points), one for each of :attr:`Standings.order`; None: does not apply
    """

    place: int
    entrant: int
    name: str
    values: tuple[float | None, ...]


class Standings(Struct, frozen=True):
    """Everybody who ever entered, best first.

    :ivar order: words of what is compared, the first one first
    :ivar remark: what the rows do not say, in sentences, such as that nobody has won
    """

    order: tuple[str, ...]
    rows: tuple[Row, ...]
    remark: str = ""


class Stale(NamedTuple):
    """What of a record its results do not lead to.

    :ivar games: ids
    :ivar byes: (number of the round, id of the entrant)
    """

    games: frozenset[int] = frozenset()
    byes: frozenset[tuple[int, int]] = frozenset()


class Chance(Protocol):
    """A source of randomness whose draws have names, so that none depends on how many came before.

    The same purpose and keys give the same number again: a purpose is drawn from once per round and keys. Keys are ids
    or counters; for a pair, in an order that the system states.
    """

    def unit(self, purpose: str, *keys: int) -> float:
        """Uniform in [0, 1)."""

    def units(self, purpose: str, first: Ints, second: Ints) -> Floats:
        """(m,) ``unit(purpose, first[k], second[k])`` of each k."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TournamentDeclaration(Declaration):
    """A tournament system. `make` takes its options and nothing else.

    :ivar for_new_events: the options that new events are recorded with unless somebody says otherwise; records that
        have none of them keep the defaults of `make`
    """

    for_new_events: Mapping[str, OptionValue] | None = None


def declared(
    make: type[DataclassInstance], name: str, about: str, **for_new_events: OptionValue
) -> TournamentDeclaration:
    """The declaration of a system whose options are the fields of a dataclass: each is annotated with what it may be,
    and its default is the option's, but for those in `for_new_events`."""
    hints = get_type_hints(make, include_extras=True)
    defaults = {each.name: each.default for each in fields(make)} | for_new_events
    options = {key: hints[key].__metadata__[0]._replace(default=value) for key, value in defaults.items()}
    return TournamentDeclaration(name=name, about=about, make=make, options=options, for_new_events=for_new_events)


class System(Protocol):
    """A pairing system. The record of an event in, decisions out; nothing is kept between calls.

    :ivar name: its word in the registry
    :ivar tie_breakers: words of its own order of standings, points included
    """

    @property
    def name(self) -> str: ...

    @property
    def tie_breakers(self) -> tuple[str, ...]: ...

    def length(self, event: Event) -> int | None:
        """How many rounds it takes in all; None where any number will do."""

    def pair(self, event: Event, rng: Chance) -> Round:
        """The next round, not yet part of the record.

        :raises Refused: where the event is over, a game of the record has no result yet, or entrants or options cannot
            be
        """

    def ready_games(self, event: Event, rng: Chance) -> tuple[Round, ...]:
        """What could begin now, while other games may still be played, as parts of rounds: those who wait for nobody.
        For systems by rounds: the next round as soon as the last one is complete."""

    def standings(self, event: Event) -> Standings: ...

    def closed(self, event: Event) -> str:
        """Why nobody can enter any more, as a sentence; empty where somebody can."""

    @property
    def rounds_follow(self) -> bool:
        """Whether a corrected result changes what was paired after it, as in a knock-out; otherwise later rounds stay
        as they were paired."""

    def stale(self, event: Event) -> Stale:
        """What the record's results do not lead to: replays of games that need none; where rounds follow, also matches
        between others than these."""

    def is_over(self, event: Event) -> bool:
        """Nothing is left to pair, and every game has its result."""
