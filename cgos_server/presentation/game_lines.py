"""A game's moves and what bots said with them, in lines of words and figures, for pages and commands.

Plain functions of a stored game. Must not know: the database, HTTP, how a line is shown.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import Final, NamedTuple

from cgos_protocol.api.live import Analysis, Candidate
from cgos_protocol.games.notation import PASS_WORD
from cgos_server.presentation import analysis, words
from cgos_server.presentation.stored_game import StoredGame, clock_of

LETTERS: Final = "ABCDEFGHJKLM"
"""What considered moves go by, best first."""


class MoveLine(NamedTuple):
    """One line of a game page's list of moves. `winrate` and `score` are Black's, as texts; empty for none."""

    ply: int
    color: str
    move: str
    used: str
    left: str
    winrate: str
    score: str
    analyzed: bool


class CandidateLine(NamedTuple):
    """A considered move as the list beside the board shows it."""

    letter: str
    move: str
    winrate: str
    score: str
    visits: str
    pv: str


class Said(NamedTuple):
    """What a bot said with the move shown. `figures` are from its own side, in a line."""

    figures: str
    comment: str
    candidates: list[CandidateLine]


def analyses(game: StoredGame) -> dict[int, Analysis]:
    """Ply -> what can be used of what was said with it."""
    size = game.terms.rules.size
    read = ((row.ply, analysis.read(row.analysis, size)) for row in game.detail.moves)
    return {ply: each for ply, each in read if each is not None}


def move_lines(game: StoredGame, by_ply: dict[int, Analysis]) -> list[MoveLine]:
    """All moves."""
    return [_move_line(game, row.ply, by_ply.get(row.ply)) for row in game.detail.moves]


def _move_line(game: StoredGame, ply: int, thought: Analysis | None) -> MoveLine:
    row = game.detail.moves[ply - 1]
    color = game.color(ply)
    winrate = None if thought is None else analysis.black_winrate(thought, color)
    score = None if thought is None else analysis.black_score(thought, color)
    return MoveLine(
        ply=ply,
        color=color.letter,
        move=row.move,
        used=words.span(row.used_us),
        left=words.time_left(game.terms.time, clock_of(row)),
        winrate="" if winrate is None else f"{winrate:.4g}",
        score="" if score is None else f"{score:.4g}",
        analyzed=thought is not None,
    )


def said_with(game: StoredGame, ply: int, one: Analysis | None) -> Said | None:
    """What was said with move number `ply`."""
    if one is None:
        return None
    name = game.detail.moves[ply - 1].move
    who = f"{game.color(ply).name.capitalize()} {'passes' if name == PASS_WORD else name}"
    figures = [("win rate ", percent(one.winrate)), ("score ", _points(one.score)), ("visits ", _count(one.visits))]
    return Said(
        ", ".join([who, *(word + figure for word, figure in figures if figure)]),
        one.comment,
        [_candidate_line(letter, candidate) for letter, candidate in zip(LETTERS, one.moves, strict=False)],
    )


def _candidate_line(letter: str, candidate: Candidate) -> CandidateLine:
    return CandidateLine(
        letter=letter,
        move="pass" if candidate.move == PASS_WORD else candidate.move,
        winrate=percent(candidate.winrate),
        score=_points(candidate.score),
        visits=_count(candidate.visits),
        pv=" ".join(candidate.pv),
    )


def percent(share: float | None) -> str:
    return "" if share is None else f"{_tenths(100 * share)} %"


def _points(score: float | None) -> str:
    return "" if score is None else f"{_tenths(score):+}"


def _tenths(figure: float) -> Decimal:
    """Rounded as the page's script does, which takes the larger one of two that are as near."""
    return Decimal(figure).quantize(Decimal("0.1"), ROUND_HALF_UP)


def _count(count: int | None) -> str:
    return "" if count is None else f"{count:,}".replace(",", " ")
