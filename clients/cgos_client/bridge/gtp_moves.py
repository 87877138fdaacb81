"""The ways of asking a GTP engine for a move, and what their answers mean.

Pure: reads lines that have arrived. Lenient where a move can be seen beyond doubt, since an answer that is thrown away
costs a game. Must not know: processes, which way is tried when another one failed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from cgos_client.bridge.engine import normal_move
from cgos_client.bridge.gtp_analysis import AnalysisText, from_info, from_json


class Choice(NamedTuple):
    """What an answer says.

    :ivar move: upper-case vertex, ``PASS`` or ``RESIGN``
    :ivar analysis: the analysis as it can be sent, or None
    :ivar remark: a clause about the answer that its author should hear, or nothing
    """

    move: str
    analysis: str | None = None
    remark: str = ""


class MoveCommand(NamedTuple):
    """One way of asking for a move.

    :ivar command: the command's name in ``list_commands``
    :ivar arguments: what follows it; ``{color}`` is replaced
    :ivar read: makes a :class:`Choice` of the answer's lines (stripped, none empty) and the board's size, or None
        where no move can be seen in the answer
    :ivar analyses: True where the answer may hold analysis
    """

    command: str
    arguments: str
    read: Callable[[Sequence[str], int], Choice | None]
    analyses: bool

    def line(self, color: str) -> str:
        """The whole command for the color ``"b"`` or ``"w"``."""
        return f"{self.command} {self.arguments.format(color=color)}"


def shown(lines: Sequence[str]) -> str:
    """An answer as a sentence shows it: quoted, on one line, cut."""
    return repr(" / ".join(lines)[:200])


def _read_plain(lines: Sequence[str], size: int) -> Choice | None:
    """``D4``; from more than that the first word is taken if it is a move."""
    if not lines:
        return None
    if len(lines) == 1 and (move := normal_move(lines[0], size)) is not None:
        return Choice(move)
    words = lines[0].split()
    if words[0].lower() in ("play", "move") and len(words) > 1:
        words = words[1:]
    move = normal_move(words[0], size)
    if move is None:
        return None
    return Choice(move, None, f"was {shown(lines)}, where GTP has the move alone; {move} was taken")


def _read_played(
    lines: Sequence[str], size: int, analysis_in: Callable[[Sequence[str], int, str], AnalysisText]
) -> Choice | None:
    """Lines of analysis, then ``play <move>``."""
    for index in range(len(lines) - 1, -1, -1):
        word, _, rest = lines[index].partition(" ")
        if word.lower() == "play":
            move = next((move for text in rest.split() if (move := normal_move(text, size)) is not None), None)
            if move is None:
                return None
            analysis = analysis_in([line for line in lines[:index] if line], size, move)
            return Choice(move, analysis.text, f"holds an analysis that {analysis.remark}" if analysis.remark else "")
    if len(lines) == 1 and (move := normal_move(lines[0], size)) is not None:
        return Choice(move, None, f"was {shown(lines)} instead of analysis and 'play {move}'; the move was taken")
    return None


_read_cgos = partial(_read_played, analysis_in=lambda lines, _size, _move: from_json(lines))
_read_kata = partial(_read_played, analysis_in=partial(from_info, per_10000=False))
_read_lz = partial(_read_played, analysis_in=partial(from_info, per_10000=True))

MOVE_COMMANDS = (
    MoveCommand("cgos-genmove_analyze", "{color}", _read_cgos, True),
    MoveCommand("kata-genmove_analyze", "{color} ownership true", _read_kata, True),
    MoveCommand("lz-genmove_analyze", "{color} 100000", _read_lz, True),
    MoveCommand("genmove", "{color}", _read_plain, False),
)
"""The ways of asking for a move, best first; the first that the engine lists, and that has not failed, is used.

Leela Zero's takes an interval in centiseconds: so long a one that the block at the end is the only one.
"""
