"""Results of two players as a sequential test counts them: pairs of games with colors swapped, or single games.

Two games are a pair where the colors are swapped and they have the same opening (the same pair, opening, position or
round of the file). Where no two games of a file have such a thing in common, or it says nothing of the kind, two that
follow one another with colors swapped are one. Must not know: tests, ratings, files.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from msgspec import Struct

from cgos_protocol.errors import Code, Conflict, Invalid, NotFound
from cgos_server.tournaments.files.games_list import GameResult

PAIR_CELLS: Final = 5
GAME_CELLS: Final = 3

_COUNTS: Final = re.compile(r"(?:[A-Za-z][^\d:|]*(?:\([^)]*\))?\s*[:|]\s*)?[\[({]?\s*(\d+(?:[\s,;]+\d+)*)\s*[\])}]?")
_LABELED: Final = re.compile(
    r"^[ \t]*(?:Ptnml\(0-2\)|Penta(?:nomial)?(?:\(0-2\))?|Pairs|Single)[ \t]*[:|][ \t]*\[?[ \t]*(\d[\d, \t]*\d)",
    re.MULTILINE,
)
"""A line of counts among others, as fastchess, OpenBench and our own lines for a pull request have it."""
_COMMENT: Final = re.compile(r"^\s*#.*$", re.MULTILINE)
_MOST_DIGITS: Final = 12


class Results(Struct, frozen=True, kw_only=True):
    """What came of games between two.

    :ivar cells: of each pair, or single game, in order: twice B's points
    :ivar games: the games of these, as (won, drawn, lost) by B
    :ivar kinds: how many cells there may be: 5 of pairs, 3 of single games
    :ivar left_out: games without a partner
    """

    cells: tuple[int, ...]
    games: tuple[tuple[int, int, int], ...]
    kinds: int
    left_out: int = 0


class _Game(NamedTuple):
    """Of two players. `half_points`: B's, 0 to 2. `moved_first`: whether B did; None: nobody knows."""

    half_points: int
    moved_first: bool | None
    opening: str


def counts_in(text: str) -> tuple[int, ...] | None:
    """Five counts of pairs or three of single games, where a text is nothing else: ``379 10170 21828 10640 343``, or as
    other programs write them, ``Ptnml(0-2): 379, 10170, 21828, 10640, 343``, alone or among other lines. Lines that
    begin with ``#`` are comments.

    :raises Refused: where several lines have counts
    """
    text = _COMMENT.sub("", text).strip()
    found = _COUNTS.fullmatch(text)
    counts = [found[1]] if found else _LABELED.findall(text)
    if len(counts) > 1:
        raise Invalid(Code.RESULTS, f"{len(counts)} lines have counts of pairs. Give the one that counts alone.")
    if not counts:
        return None
    words = re.split(r"[\s,;]+", counts[0])
    if len(words) not in (PAIR_CELLS, GAME_CELLS) or any(len(word) > _MOST_DIGITS for word in words):
        return None
    return tuple(map(int, words))


def results_of(
    games: Sequence[GameResult], newer: str | None, older: str | None = None, *, single: bool = False
) -> tuple[str, str, Results]:
    """Names of B and A, and what came of their games.

    :param newer: B, whose strength is asked
    :param older: A; None: the only opponent
    :param single: count every game alone
    :raises Refused: the names are not clear, or there is nothing to count
    """
    newer, older = _two(games, newer, older)
    of_both = [_seen(game, newer) for game in games if {game.first, game.second} == {newer, older}]
    if not of_both:
        raise NotFound(Code.NO_GAME, f"{newer} and {older} have no game with a result against each other.")
    if single:
        cells = tuple(game.half_points for game in of_both)
        return newer, older, Results(cells=cells, games=tuple(map(_points, of_both)), kinds=GAME_CELLS)
    pairs = _pairs(of_both)
    if not pairs:
        raise Invalid(
            Code.RESULTS,
            f"No two games of {newer} and {older} are a pair: none have colors swapped on the same opening, or one "
            "after the other. Give --single to count every game alone.",
        )
    return (
        newer,
        older,
        Results(
            cells=tuple(one.half_points + other.half_points for one, other in pairs),
            games=tuple((a + d, b + e, c + f) for (a, b, c), (d, e, f) in (map(_points, pair) for pair in pairs)),
            kinds=PAIR_CELLS,
            left_out=len(of_both) - 2 * len(pairs),
        ),
    )


def _two(games: Iterable[GameResult], newer: str | None, older: str | None) -> tuple[str, str]:
    names = list(dict.fromkeys(name for game in games for name in (game.first, game.second)))
    if newer is None:
        few = " or ".join(names[:5]) if len(names) <= 5 else "one of the names in the file"
        raise Invalid(Code.RESULTS, f"It is not clear whose strength is asked. Say it with --of: {few}.")
    for name in (newer, older):
        if name is not None and name not in names:
            near = difflib.get_close_matches(name, names, 3, 0.5)
            hint = f"Did you mean {' or '.join(near)}?" if near else "Give a name as it is in the file."
            raise NotFound(Code.NO_VERSION, f"{name!r} has no game with a result. {hint}")
    if newer == older:
        raise Conflict(Code.SAME_VERSION, f"{newer} cannot be compared with itself. Name another one with --against.")
    others = [name for name in names if name != newer] if older is None else [older]
    if len(others) != 1:
        raise Invalid(
            Code.RESULTS,
            f"The file has games of {len(names)} players, and it is not clear against whom {newer} is to be compared. "
            "Say it with --against.",
        )
    return newer, others[0]


def _seen(game: GameResult, newer: str) -> _Game:
    ahead = game.first == newer
    half_points = round(2 * (game.score if ahead else 1 - game.score))
    return _Game(half_points, None if game.neutral else ahead, game.opening)


def _points(game: _Game) -> tuple[int, int, int]:
    return int(game.half_points == 2), int(game.half_points == 1), int(game.half_points == 0)


def _pairs(games: Sequence[_Game]) -> list[tuple[_Game, _Game]]:
    """The pairs, in the order of their second games."""
    found = list(_of_one_opening(games))
    apart = [(at, game) for at, game in enumerate(games) if not (found and game.opening)]
    found += _one_after_the_other(apart)
    return [(each.one, each.other) for each in sorted(found, key=lambda each: each.at)]


class _Pair(NamedTuple):
    """`at`: the place of the second game in the file."""

    at: int
    one: _Game
    other: _Game


def _of_one_opening(games: Sequence[_Game]) -> Iterator[_Pair]:
    waiting: dict[tuple[str, bool | None], list[_Game]] = {}
    for at, game in enumerate(games):
        if not game.opening:
            continue
        swapped = None if game.moved_first is None else not game.moved_first
        partners = waiting.get((game.opening, swapped))
        if partners:
            yield _Pair(at, partners.pop(0), game)
        else:
            waiting.setdefault((game.opening, game.moved_first), []).append(game)


def _one_after_the_other(games: Iterable[tuple[int, _Game]]) -> Iterator[_Pair]:
    before: _Game | None = None
    for at, game in games:
        if before is not None and game.moved_first is not None and before.moved_first is (not game.moved_first):
            yield _Pair(at, before, game)
            before = None
        else:
            before = game
