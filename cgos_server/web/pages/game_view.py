"""What a game page shows of one game at one ply, as values for its template and its script.

Plain functions of a stored game. Must not know: the database, HTTP, templates.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from markupsafe import Markup

from cgos_protocol import clock
from cgos_protocol.api.live import Analysis
from cgos_protocol.games.base import Color
from cgos_protocol.games.notation import COLUMNS, PASS_WORD, to_sgf
from cgos_server.presentation import analysis, words
from cgos_server.presentation.game_lines import LETTERS, percent
from cgos_server.presentation.stored_game import StoredGame
from cgos_server.web.drawing.board_svg import Proposal
from cgos_server.web.drawing.curves_svg import curves_svg

_LEAST_BOUND: Final = 5.0
"""Points at the edge of a picture of scores, at least."""


class Opinions(NamedTuple):
    """What both bots thought all along: ply -> Black's winrate less a half, and Black's score, as each bot saw it."""

    winrates: tuple[dict[int, float], dict[int, float]]
    scores: tuple[dict[int, float], dict[int, float]]

    @property
    def bound(self) -> float:
        """Points at the edge of the picture of scores."""
        return max([_LEAST_BOUND, *(abs(score) for side in self.scores for score in side.values())])


class Texts(NamedTuple):
    """A position to copy."""

    gtp: str
    diagram: str
    sgf: str


def opinions(game: StoredGame, by_ply: dict[int, Analysis]) -> Opinions:
    """Of all moves."""
    seen = Opinions(({}, {}), ({}, {}))
    for ply, one in by_ply.items():
        color = game.color(ply)
        winrate, score = analysis.black_winrate(one, color), analysis.black_score(one, color)
        if winrate is not None:
            seen.winrates[color][ply] = winrate - 0.5
        if score is not None:
            seen.scores[color][ply] = score
    return seen


class Curves(NamedTuple):
    """A picture of what both bots thought.

    :ivar there: False where it is empty, and kept for what may come
    :ivar edges: what its upper edge, its middle and its lower edge stand for
    """

    kind: str
    heading: str
    picture: Markup
    there: bool
    edges: tuple[str, str, str]


def curves(seen: Opinions, plies: int, ply: int) -> list[Curves]:
    """The picture of win rates and the one of scores."""
    return [
        Curves(
            kind=kind,
            heading=heading,
            picture=curves_svg(*sides, plies=plies, ply=ply, bound=bound, kind=kind, title=f"{heading}, move by move"),
            there=any(sides),
            edges=edges,
        )
        for kind, heading, sides, bound, edges in (
            ("winrate", "Black's win rate, as each bot sees it", seen.winrates, 0.5, ("100 %", "50 %", "0 %")),
            ("score", "Black's lead in points, as each bot sees it", seen.scores, seen.bound, _edges(seen.bound)),
        )
    ]


def _edges(bound: float) -> tuple[str, str, str]:
    return f"+{bound:.0f}", "0", f"−{bound:.0f}"


def proposals(one: Analysis | None) -> list[Proposal]:
    """Considered moves for the board."""
    if one is None:
        return []
    pairs = zip(LETTERS, one.moves, strict=False)
    return [Proposal(move.move, letter, percent(move.winrate)[:-2]) for letter, move in pairs]


def numbers(game: StoredGame, ply: int) -> dict[str, int]:
    """Vertex -> the last move that was made there, of the first `ply` moves."""
    return {row.move: row.ply for row in game.detail.moves[:ply] if row.move != PASS_WORD}


def texts(game: StoredGame, ply: int) -> Texts:
    """The position after `ply` moves in three forms."""
    rules, start = game.terms.rules, game.start
    moves = game.detail.moves[:ply]
    set_up = [] if start is None else [(Color.BLACK, start.black), (Color.WHITE, start.white)]
    gtp = [f"boardsize {rules.size}", "clear_board", f"komi {rules.komi2 / 2:g}"]
    gtp += [f"play {color.letter} {name}" for color, names in set_up for name in names]
    gtp += [f"play {game.color(row.ply).letter} {row.move}" for row in moves]
    stones = game.position(ply).stones
    sides = []
    for color in Color:
        own = sorted(to_sgf(name, rules.size) for name, stone in stones.items() if stone is color)
        sides.append(f"A{color.letter.upper()}" + "".join(f"[{point}]" for point in own) if own else "")
    to_play = game.color(ply + 1).letter.upper()
    return Texts(
        "\n".join(gtp),
        "\n".join(_diagram(rules.size, stones)),
        f"(;GM[1]FF[4]SZ[{rules.size}]KM[{rules.komi2 / 2:g}]{''.join(sides)}PL[{to_play}])",
    )


def _diagram(size: int, stones: dict[str, Color]) -> Iterable[str]:
    head = "   " + " ".join(COLUMNS[:size])
    yield head
    for row in range(size, 0, -1):
        points = (stones.get(f"{column}{row}") for column in COLUMNS[:size])
        yield f"{row:2} " + " ".join("." if stone is None else "XO"[stone] for stone in points) + f" {row}"
    yield head


def script_data(game: StoredGame) -> dict[str, Any]:
    """What the page's script must know besides what stands on the page."""
    start = game.start
    first = {color: game.terms.starting_clock(color) for color in Color}
    return {
        "game": game.detail.game.id,
        "size": game.terms.rules.size,
        "komi": game.terms.rules.komi2 / 2,
        "first": game.color(1).letter,
        "black": " ".join(start.black) if start else "",
        "white": " ".join(start.white) if start else "",
        "clock-b": words.time_left(game.terms.time, first[Color.BLACK]),
        "clock-w": words.time_left(game.terms.time, first[Color.WHITE]),
        "counts-b": clock.remaining_ms(game.terms.time, game.clock_after(Color.BLACK, len(game.detail.moves))),
        "counts-w": clock.remaining_ms(game.terms.time, game.clock_after(Color.WHITE, len(game.detail.moves))),
    }
