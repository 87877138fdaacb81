"""Writes a game as SGF, FF[4] (Arno Hollosi, red-bean.com/sgf): one tree, one variation.

Set-up, moves with the clock after each, and what the engines said about them. Must not know: where games are kept, who
asks for the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from cgos_protocol.clock import ClockState, TimeControl, TimeSystem
from cgos_protocol.games.base import Color, Ko, Ruleset, Start
from cgos_protocol.games.notation import to_sgf

_MOVES_A_LINE: Final = 10


class RecordedMove(NamedTuple):
    """One move.

    :ivar vertex: in the normal spelling, or ``PASS``
    :ivar clock: the mover's clock after it, None where it is not known
    :ivar analysis: the JSON that came with it, or None
    """

    color: Color
    vertex: str
    clock: ClockState | None = None
    analysis: str | None = None


class GameRecord(NamedTuple):
    """Everything a game's file says.

    :ivar game: the game's number
    :ivar date: of its start, YYYY-MM-DD
    :ivar result: as in :attr:`cgos_protocol.verdict.Verdict.text`; empty while the game is on
    :ivar ending: what there is to say about the end, for the last comment; may be empty
    :ivar place: the server's name
    :ivar event: the name of the event that it was played in, or of the venue
    :ivar round: number of the event's round, or empty
    :ivar program: what wrote it: its name, a colon, its version
    :ivar start: set-up stones, None for an empty board
    :ivar opening: the name of the opening that its first moves are, or empty
    """

    game: int
    black: str
    black_label: str
    white: str
    white_label: str
    rules: Ruleset
    time: TimeControl
    date: str
    result: str
    ending: str
    place: str
    event: str
    program: str
    moves: tuple[RecordedMove, ...]
    start: Start | None = None
    opening: str = ""
    round: str = ""


def write(record: GameRecord) -> str:
    """The file as text; store and send it as UTF-8.

    FF[4] knows fewer results than CGOS: a loss by an illegal move is written as a forfeit and an abort as void, and
    `ending` says what it was. Raises ValueError where a vertex does not lie on the board.
    """
    nodes = [_node(record, move) for move in record.moves]
    lines = ["".join(nodes[at : at + _MOVES_A_LINE]) for at in range(0, len(nodes), _MOVES_A_LINE)]
    if record.ending:
        lines.append(f";C[{_text(record.ending)}]")
    return "\n".join(["(" + _root(record), *lines]) + ")\n"


_RULES_NAMES: Final = {
    (Ko.POSITIONAL, True): "Tromp-Taylor",
    (Ko.POSITIONAL, False): "Chinese",
    (Ko.SITUATIONAL, True): "NZ",
    (Ko.SITUATIONAL, False): "AGA",
    (Ko.SIMPLE, True): "Area",
    (Ko.SIMPLE, False): "Chinese",
}
"""The nearest name that other programs know, by ko rule and suicide. All of them score by area."""

_RESULT = re.compile(r"[BW]\+([0-9.]+|Resign|Time|Forfeit)|Draw|Void")


def _root(record: GameRecord) -> str:
    rules, control = record.rules, record.time
    main, overtime = _limits(control)
    properties = {
        "GM": "1",
        "FF": "4",
        "CA": "UTF-8",
        "AP": _line(record.program),
        "RU": _RULES_NAMES[rules.ko, rules.suicide],
        "SZ": str(rules.size),
        "KM": f"{rules.komi2 / 2:.1f}",
        "TM": main,
        "OT": overtime,
        "PW": _line(record.white),
        "PB": _line(record.black),
        "WR": _line(record.white_label),
        "BR": _line(record.black_label),
        "DT": _line(record.date),
        "PC": _line(record.place),
        "EV": _line(record.event),
        "RO": _line(record.round),
        "GN": str(record.game),
        "ON": _line(record.opening),
        "RE": _result(record.result),
    }
    start = record.start
    return ";" + "".join(f"{key}[{value}]" for key, value in properties.items() if value) + _set_up(start, rules.size)


def _set_up(start: Start | None, size: int) -> str:
    if start is None:
        return ""
    stones = "".join(
        key + "".join(f"[{to_sgf(vertex, size)}]" for vertex in vertices)
        for key, vertices in (("AB", start.black), ("AW", start.white))
        if vertices
    )
    return f"{stones}PL[{start.to_play.letter.upper()}]"


def _node(record: GameRecord, move: RecordedMove) -> str:
    side = move.color.letter.upper()
    parts = [f";{side}[{to_sgf(move.vertex, record.rules.size)}]", *_clock(record.time, side, move.clock)]
    if move.analysis is not None:
        parts.append(f"CC[{_text(move.analysis)}]")
        comment = _comment(move.analysis)
        if comment:
            parts.append(f"C[{_text(comment)}]")
    return "".join(parts)


def _clock(control: TimeControl, side: str, clock: ClockState | None) -> Iterator[str]:
    """Time left, and in overtime the periods (byo-yomi) or the moves still to make in this period (Canadian)."""
    if clock is None:
        return
    left, quota = clock.main, 0
    if control.system is TimeSystem.FIXED:
        left = control.period
    elif clock.main == 0 and clock.quota:
        left = clock.period if control.system is TimeSystem.CANADIAN else control.period
        quota = clock.quota
    yield f"{side}L[{_seconds(left)}]"
    if quota:
        yield f"O{side}[{quota}]"


def _limits(control: TimeControl) -> tuple[str, str]:
    """``TM`` and ``OT`` in the forms that other servers and editors use."""
    main, period = _seconds(control.main), _seconds(control.period)
    match control.system:
        case TimeSystem.FISCHER:
            return main, f"{_seconds(control.increment)} fischer"
        case TimeSystem.BYOYOMI:
            return main, f"{control.periods}x{period} byo-yomi"
        case TimeSystem.CANADIAN:
            return main, f"{control.stones}/{period} Canadian"
        case TimeSystem.FIXED:
            return "0", f"{period} simple"
        case _:
            return main, ""


def _seconds(us: int) -> str:
    """Seconds with as many of three decimals as it takes, rounded down."""
    whole, rest = divmod(us // 1000, 1000)
    return f"{whole}.{rest:03}".rstrip("0").rstrip(".")


def _result(result: str) -> str:
    if not result:
        return "?"
    if _RESULT.fullmatch(result):
        return result
    return f"{result[0]}+Forfeit" if result[:2] in ("B+", "W+") else "Void"


class _Said(msgspec.Struct):
    comment: str = ""


_SAID: Final = msgspec.json.Decoder(_Said)


def _comment(analysis: str) -> str:
    """The readable part of an analysis, if it has one; an analysis may be any JSON value."""
    try:
        return _SAID.decode(analysis).comment
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return ""


_CONTROL: Final = dict.fromkeys([*range(9), 11, 12, *range(14, 32), 127], " ")
_ESCAPED: Final = _CONTROL | {ord("\\"): "\\\\", ord("]"): "\\]"}


def _text(text: str) -> str:
    """`text` as a Text value: line ends stay, what SGF reads as its own is escaped."""
    unixed = text.replace("\r\n", "\n").replace("\r", "\n")
    return unixed.encode("utf-8", "replace").decode().translate(_ESCAPED)


def _line(text: str) -> str:
    """`text` as a SimpleText value: one line."""
    return " ".join(_text(text).split("\n"))
