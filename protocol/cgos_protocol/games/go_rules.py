"""The game of Go as venues offer it: turns, passes, ko and suicide rules, area score with komi, handicap stones.

Area scoring after Tromp and Taylor (1995): all stones on the board are alive, two passes in a row end the game at
once. Must not know: clocks, players, resignation, wires, storage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from cgos_protocol.games.base import Color, Illegality, Ko, Ruleset, Start
from cgos_protocol.games.go_board import BLACK, EMPTY, PASS, Board, Tables, tables
from cgos_protocol.games.notation import PASS_WORD, normal, vertex
from cgos_protocol.options import Option

SMALLEST, LARGEST = 2, 25
"""Edges of the boards that can be played on; the largest is what GTP can name."""

_COLORS = (Color.BLACK, Color.WHITE)

_KO = MappingProxyType(
    {
        Ko.POSITIONAL: "Positional superko: no move may recreate any earlier position of the whole board.",
        Ko.SITUATIONAL: "Situational superko: no move may recreate an earlier position with the same side to move.",
        Ko.SIMPLE: "Simple ko: no move may recreate the position before the opponent's last move.",
    }
)


class GoPosition:
    """One game of Go in progress: a :class:`~cgos_protocol.games.base.Position`.

    A move is a point of :class:`~cgos_protocol.games.go_board.Tables`, or ``PASS`` (-1).

    :param board: the stones and the past
    :param komi2: White's compensation in half points
    :param to_play: 0 black, 1 white
    """

    __slots__ = ("_komi2", "_passes", "_ply", "_side", "board")

    def __init__(self, board: Board, komi2: int, to_play: int = BLACK) -> None:
        self.board = board
        """The stones: for reading. Playing on it directly would leave this position's turn and passes behind."""
        self._komi2 = komi2
        self._side = to_play
        self._ply = 0
        self._passes = 0

    @property
    def ply(self) -> int:
        """Moves made so far, passes included; set-up stones are not moves."""
        return self._ply

    @property
    def to_play(self) -> Color:
        """Whose turn it is."""
        return _COLORS[self._side]

    @property
    def size(self) -> int:
        """The board's edge in points."""
        return self.board.tables.size

    @property
    def captures(self) -> tuple[int, int]:
        """Stones taken off the board so far by Black and by White."""
        black, white = self.board.captures
        return black, white

    def read(self, text: str) -> int | None:
        """The move that `text` means: a vertex in any case, or a word that starts with "pa" for a pass; white space
        around it is ignored. None for anything else (resigning is no move). Never raises."""
        moves = self.board.tables.moves
        move = moves.get(text)
        if move is None:
            word = normal(text)
            move = None if word is None else moves.get(word)
        return move

    def write(self, move: int) -> str:
        """The one normal spelling of `move`: ``D4`` or ``PASS``."""
        return PASS_WORD if move == PASS else self.board.tables.names[move]

    def play(self, move: int) -> Illegality | None:
        """Play `move` for the side to move. None: played. Otherwise the reason, and nothing has changed."""
        if self._passes == 2:
            return Illegality.OVER
        if move == PASS:
            self.board.skip(self._side)
            self._passes += 1
        else:
            refusal = self.board.play(self._side, move)
            if refusal is not None:
                return refusal
            self._passes = 0
        self._side = 1 - self._side
        self._ply += 1
        return None

    def is_over(self) -> bool:
        """True after two passes in a row."""
        return self._passes == 2

    def score(self) -> int:
        """Black's margin in half points, komi counted, as the position stands; negative where White leads."""
        return 2 * self.board.area() - self._komi2

    def empties(self) -> list[int]:
        """All empty points, as moves."""
        return self.board.empties()

    def is_eye(self, color: Color, move: int) -> bool:
        """True where `move` would fill what looks like an eye of `color`; see :meth:`Board.is_eye`."""
        return self.board.is_eye(int(color), move)

    def stones(self) -> dict[str, Color]:
        """The color of every stone by its vertex, row by row from the bottom."""
        at, shared = self.board.at, self.board.tables
        return {shared.names[point]: _COLORS[at(point)] for point in shared.points if at(point) != EMPTY}

    def rows(self) -> list[str]:
        """The board as people draw it: rows from the top, ``X`` black, ``O`` white, ``.`` empty."""
        shared = self.board.tables
        marks = "".join("XO."[self.board.at(point)] for point in shared.points)
        return [marks[first : first + shared.size] for first in range(0, len(marks), shared.size)][::-1]

    def copy(self) -> GoPosition:
        """An independent game with the same past."""
        twin = type(self)(self.board.copy(), self._komi2, self._side)
        twin._ply = self._ply
        twin._passes = self._passes
        return twin


class Go:
    """Go under area scoring: a game that venues can offer.

    Variants of Go are subclasses: stones are placed and captured as in Go, for that is what pages and clients draw.
    They may differ in what can be played by, what is legal, when it is over, and who has won.

    :cvar position: what :meth:`new` makes
    """

    name: str = "go"
    about: str = "Go under area scoring"
    options: Mapping[str, Option] = MappingProxyType({})
    position: type[GoPosition] = GoPosition

    def check(self, rules: Ruleset) -> str | None:
        """None where Go can be played by `rules`; otherwise a sentence that says what to change."""
        if rules.game != self.name:
            return f'These rules are for the game "{rules.game}": set game to "{self.name}".'
        if not SMALLEST <= rules.size <= LARGEST:
            return f"A board of size {rules.size} is not possible: set size to a number from {SMALLEST} to {LARGEST}."
        return None

    def points(self, rules: Ruleset) -> int:
        """The number of points on the board."""
        return rules.size * rules.size

    def new(self, rules: Ruleset, start: Start | None = None) -> GoPosition:
        """A game about to begin. Set-up stones belong to the first position, which no move may recreate.

        :raises ValueError: where :meth:`check` objects, or a set-up stone is off the board, named twice or leaves a
            chain without liberties
        """
        objection = self.check(rules)
        if objection is not None:
            raise ValueError(objection)
        begin = start or Start()
        shared = tables(rules.size)
        black, white = _set_up_points(shared, begin.black), _set_up_points(shared, begin.white)
        board = Board(
            shared=shared, ko=rules.ko, suicide=rules.suicide, black=black, white=white, to_play=int(begin.to_play)
        )
        return self.position(board, rules.komi2, int(begin.to_play))

    def in_words(self, rules: Ruleset) -> list[tuple[str, str]]:
        """How it is scored and what is forbidden: headings, each with sentences for people."""
        suicide = "allowed: stones without liberties come off" if rules.suicide else "illegal, and so loses the game"
        return [
            (
                "Scoring",
                "By area, as the board stands after two passes: all stones on it are alive, so capture dead ones "
                "first.",
            ),
            ("Repetition", _KO[rules.ko]),
            ("Suicide", f"A move that leaves its own stones without liberties is {suicide}."),
        ]


GO = Go()


def handicap(size: int, stones: int) -> Start:
    """The customary fixed handicap: black stones on the star points, White to move.

    The points are those of GTP's ``fixed_handicap`` (Farnebäck 2002): on the fourth line from size 13 up, else on the
    third; corners first, and the middle of sides and board only where the size is odd and at least 9.

    :param size: board edge; 7-25
    :param stones: 2-9 on odd sizes from 9 up, else 2-4
    :raises ValueError: where that size has no such handicap
    """
    most = 0 if not 7 <= size <= LARGEST else 9 if size % 2 and size >= 9 else 4
    if not 2 <= stones <= most:
        offer = f"choose 2 to {most} stones" if most else f"choose a size from 7 to {LARGEST}"
        raise ValueError(f"There is no fixed handicap of {stones} stones on a board of size {size}: {offer}.")
    low = 3 if size >= 13 else 2
    high, middle = size - 1 - low, size // 2
    corners = [(low, low), (high, high), (low, high), (high, low)]
    sides = [(low, middle), (high, middle), (middle, low), (middle, high)]
    chosen = (corners + sides)[: stones - stones % 2] if stones > 4 else corners[:stones]
    if stones > 4 and stones % 2:
        chosen.append((middle, middle))
    return Start(black=tuple(vertex(column, row) for column, row in chosen), to_play=Color.WHITE)


def _set_up_points(shared: Tables, vertices: Sequence[str]) -> list[int]:
    points = [shared.moves.get(normal(text) or "", PASS) for text in vertices]
    for text, point in zip(vertices, points, strict=True):
        if point == PASS:
            raise ValueError(f"{text!r} is not a point of a board of size {shared.size}: name a vertex such as B2.")
    return points
