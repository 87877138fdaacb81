"""Viewers and operators in transcripts: a parser of our own reads the server's lines, its code says them again."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from cgos_protocol.facts import GameEnded, GameStarted
from cgos_protocol.games.base import Color
from cgos_protocol.lines import admin as cgos_admin
from cgos_protocol.lines.viewer import CgosViewer, MatchLines
from cgos_protocol.session import GameOver, GameSetup, ListedGame, ShownGame, Turn
from support.protocol.viewers import TkViewer

_SEAT = re.compile(r"(\S+)\((\S+)\)")
_PLUS = re.compile(r"0\+(Draw|Abort|Void)")


def _seat(word: str) -> tuple[str, str]:
    seat = _SEAT.fullmatch(word)
    assert seat is not None, word
    return seat[1], seat[2]


def _moment(day: str, hour: str) -> float:
    if day == "-":
        return 0.0
    return datetime.strptime(f"{day} {hour}", "%Y-%m-%d %H:%M").replace(tzinfo=UTC).timestamp()


def _listed(words: list[str], result: str | None) -> ListedGame:
    """Of the words after ``match``."""
    game, day, hour, size, komi, white, black, *_ = words
    return ListedGame(
        int(game), _moment(day, hour), int(size), round(float(komi) * 2), *_seat(black), *_seat(white), result
    )


def _result(word: str) -> str:
    plain = _PLUS.fullmatch(word)
    return plain[1] if plain is not None else word


class ViewerSide:
    """A viewer on one connection of a transcript, and what a real one would show."""

    def __init__(self) -> None:
        self.viewer = CgosViewer(9, 14, MatchLines())
        self.screen = TkViewer()
        self.plies: dict[str, int] = {}

    def group(self, lines: list[str]) -> int:
        """How many of the next lines are said at once: a resignation is a move and a result."""
        words = lines[0].split()
        return 2 if words[0] == "update" and words[2] == "resign" else 1

    def say(self, lines: list[str]) -> bytes:
        data = self._say(lines)
        self.screen.hear(data)
        return data

    def _say(self, lines: list[str]) -> bytes:
        viewer = self.viewer
        word, *words = lines[0].split()
        match word:
            case "info" if lines[0] == "info No game was played here yet.":
                return viewer.listed([], 0)
            case "info":
                return viewer.info(lines[0][5:])
            case "match" if words[-1] == "-":
                game = _listed(words, None)
                return viewer.facts(
                    [
                        GameStarted(
                            venue="9x9",
                            game=game.game,
                            black=game.black,
                            white=game.white,
                            at=0.0,
                            black_label=game.black_label,
                            white_label=game.white_label,
                        )
                    ]
                )
            case "match":
                return viewer.listed([_listed(words, words[-1])], 0)
            case "gameover":
                return viewer.facts(
                    [
                        GameEnded(
                            venue="9x9",
                            game=int(words[0]),
                            result=words[1],
                            reason="",
                            at=0.0,
                            black_used_ms=int(words[3]),
                            white_used_ms=int(words[2]),
                        )
                    ]
                )
            case "setup" if words[1] == "?":
                return viewer.shown(int(words[0]), None, 0)
            case "setup":
                return self._setup(words)
            case "update" if len(words) == 2 or len(lines) == 2:
                return self._ended(lines[-1].split()[1:], resigned=len(lines) == 2)
            case "update":
                ply = self.plies[words[0]] = self.plies[words[0]] + 1
                color = Color.WHITE if ply % 2 == 0 else Color.BLACK
                return viewer.moved(
                    int(words[0]),
                    [Turn(ply=ply, color=color, move=words[1], left_ms=int(words[2]), other_left_ms=0, at=0, on=False)],
                )
        raise AssertionError(f"the server has no word for {lines[0]!r}")

    def _setup(self, words: list[str]) -> bytes:
        game, day, hour, size, komi, white, black, level, *rest = words
        result = _result(rest.pop()) if len(rest) % 2 else None
        moves = tuple((rest[at], int(rest[at + 1])) for at in range(0, len(rest), 2))
        left = [int(level), int(level)]
        for ply, (_, after) in enumerate(moves):
            left[ply % 2] = after
        setup = GameSetup(
            int(game), int(size), round(float(komi) * 2), int(level), *_seat(black), *_seat(white), moves,
            (left[0], left[1]),
        )  # fmt: skip
        over = None if result is None else GameOver("", result, None, "", "", len(moves))
        self.plies[game] = len(moves)
        return self.viewer.shown(int(game), ShownGame(setup, _moment(day, hour), over), 0)

    def _ended(self, words: list[str], resigned: bool) -> bytes:
        winner = {"B": Color.BLACK, "W": Color.WHITE}.get(words[1][0])
        reason = "resignation" if resigned else "score"
        return self.viewer.ended(int(words[0]), GameOver("", _result(words[1]), winner, reason, "", 0))


class OperatorSide:
    """An operator on one connection of a transcript."""

    def __init__(self) -> None:
        self.pending: list[tuple[str, cgos_admin.Command]] = []

    def hear(self, line: str) -> str:
        command = cgos_admin.parse(line)
        self.pending.append((line, command))
        return type(command).__name__

    def group(self, lines: list[str]) -> int:
        """An answer goes as far as its end mark."""
        return next((at for at, line in enumerate(lines, 1) if line.startswith("end: ")), 1)

    def say(self, lines: list[str]) -> bytes:
        line, command = self.pending.pop(0)
        return cgos_admin.answer(line, [self._say(text, command) for text in lines[:-1]])

    def _say(self, line: str, command: cgos_admin.Command) -> str:
        words = line.split()
        match command:
            case cgos_admin.Wrong(sentence):
                return sentence
            case cgos_admin.Who():
                return cgos_admin.who_line(words[0], words[1], int(words[2]), float(words[3]), float(words[4]))
            case cgos_admin.Games() if words[-1] == "-":
                return cgos_admin.running_game_line(_listed(words[1:], None), *map(int, words[-4:-1]))
            case cgos_admin.Games():
                return cgos_admin.ended_game_line(_listed(words[1:], words[-1]))
            case cgos_admin.Match() if words[0] == "match":
                (white, white_label), (black, black_label) = map(_seat, words[1:])
                return cgos_admin.arranged_line(white, white_label, black, black_label)
            case cgos_admin.Match():
                return cgos_admin.refusal_line("no-white", line.split(": ", 1)[1], command)
            case cgos_admin.Abort() if words[0] == "aborted":
                return cgos_admin.aborted_line(int(words[1]), words[2], words[3])
            case cgos_admin.Abort():
                return cgos_admin.refusal_line("no-game", line.split(": ", 1)[1], command)
        return line
