"""Openings: sequences of moves with which games of a venue begin, chosen by weight, each played with both colors.

A set holds openings that were checked against the rules of the venue. The text form is read here; SGF is
:mod:`cgos_protocol.sgf.reading`'s. Must not know: files, who plays, clocks.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Final, NamedTuple

from cgos_protocol.clock import ClockState
from cgos_protocol.games.base import Color, Illegality, Position, Ruleset
from cgos_protocol.games.registry import game_kind
from cgos_protocol.randomness import Rng
from cgos_protocol.terms import Terms

NAME_MAX: Final = 60
"""Longest name of an opening, in characters."""

WEIGHT_LEAST: Final = 1e-6
WEIGHT_MOST: Final = 1e6
WEIGHTS: Final = "a number from 0.000001 to 1000000"


class Opening(NamedTuple):
    """Moves with which a game begins.

    :ivar name: unique in its set; by it games with swapped colors are found
    :ivar moves: normal spelling, alternating from Black; at least one
    :ivar weight: above 0; how often it is chosen, against the others'
    """

    name: str
    moves: tuple[str, ...]
    weight: float = 1.0

    def stored(self, terms: Terms) -> tuple[tuple[str, ClockState], ...]:
        """Its moves, each with the clock that its mover has before the game: nobody's time is spent on them."""
        clocks = tuple(terms.starting_clock(color) for color in Color)
        return tuple((move, clocks[ply % 2]) for ply, move in enumerate(self.moves))


@dataclass(frozen=True, slots=True)
class OpeningSet:
    """The openings of a venue; false where there are none. Names are unique."""

    openings: tuple[Opening, ...] = ()
    _sums: tuple[float, ...] = field(init=False, compare=False, repr=False)
    _named: Mapping[str, Opening] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_sums", tuple(accumulate(opening.weight for opening in self.openings)))
        object.__setattr__(self, "_named", {opening.name: opening for opening in self.openings})

    def __len__(self) -> int:
        return len(self.openings)

    @property
    def names(self) -> Sequence[str]:
        """Of all, in their order."""
        return tuple(self._named)

    def named(self, name: str) -> Opening | None:
        """The opening of that name."""
        return self._named.get(name)

    def choose(self, rng: Rng) -> Opening:
        """One of them, each with a probability that is its share of all weights. Raises IndexError for an empty set."""
        # The largest float below 1 times a sum is below that sum, so the index exists.
        return self.openings[bisect_right(self._sums, rng.random() * self._sums[-1])]


class Draft(NamedTuple):
    """An opening as written, not checked yet.

    :ivar line: where it stands in its file, from 1
    """

    name: str
    moves: tuple[str, ...]
    weight: float
    line: int


class Fault(NamedTuple):
    """What is wrong in a file, as a sentence without its full stop, and what to do about it."""

    line: int
    problem: str
    remedy: str


_WEIGHT = re.compile(r"([^\s:]*):\s*(.*)")


def parse(text: str) -> tuple[list[Draft], list[Fault]]:
    """Move lists, one opening a line: ``[weight:] name move move ...``.

    The weight is a number (default 1), the name one word, the moves GTP vertices or ``pass``, alternating from
    Black. ``#`` begins a comment. Faults come in the order of their lines.
    """
    drafts: list[Draft] = []
    faults: list[Fault] = []
    for number, line in enumerate(text.splitlines(), 1):
        rest = line.partition("#")[0].strip()
        if not rest:
            continue
        weight = 1.0
        match = _WEIGHT.fullmatch(rest)
        if match is not None:
            parsed_weight = weight_of(match[1])
            if parsed_weight is None:
                faults.append(Fault(number, f'"{match[1]}" is no weight', f"Give {WEIGHTS} before the colon"))
                continue
            weight, rest = parsed_weight, match[2]
        name, *moves = rest.split() or [""]
        drafts.append(Draft(name, tuple(moves), weight, number))
    return drafts, faults


def weight_of(text: str) -> float | None:
    """The weight that `text` means, None where it means none."""
    try:
        weight = float(text)
    except ValueError:
        return None
    return weight if WEIGHT_LEAST <= weight <= WEIGHT_MOST else None


def checked(draft: Draft, rules: Ruleset, move_limit: int) -> Opening | Fault:
    """`draft` as an opening by `rules`, its moves in their normal spelling; or what is wrong with it.

    :param move_limit: plies after which a game is scored as it stands
    :raises Refused: where the rules' game is unknown
    """
    position = game_kind(rules.game).new(rules)
    name = draft.name
    if not name or len(name) > NAME_MAX or not name.isprintable():
        return Fault(draft.line, f'"{name}" is no name', f"Give one of 1 to {NAME_MAX} printable characters")
    if _names_move(position, name):
        return Fault(draft.line, f'"{name}" is a move and not a name', "Give the opening a name before its moves")
    if not draft.moves:
        return Fault(draft.line, f"opening {name} has no moves", "Give at least one, or leave it out")
    moves: list[str] = []
    for ply, text in enumerate(draft.moves, 1):
        move = position.read(text)
        objection = Illegality.SYNTAX if move is None else position.play(move)
        if move is None or objection is not None:
            what = f"move {ply} of opening {name}, {text}, cannot be played ({objection})"
            return Fault(draft.line, what, f"Correct it; the venue's board is {rules.size}x{rules.size}")
        if position.is_over() or ply >= move_limit:
            why = "two passes" if position.is_over() else f"{move_limit} moves"
            return Fault(draft.line, f"opening {name} leaves nothing to play: {why} end a game", "Take fewer moves")
        moves.append(position.write(move))
    return Opening(name, tuple(moves), draft.weight)


def _names_move(position: Position, word: str) -> bool:
    """True where `word` is a vertex of the board; every word in pa... would be a pass, and is a good name."""
    move = position.read(word)
    return move is not None and position.write(move) == word.upper()
