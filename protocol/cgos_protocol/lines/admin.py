"""An operator's lines on a CGOS port: commands in, answers out, in the forms that scripts know since 2013.

Every command is answered, also one that failed or is none, and every answer ends with one line ``end: <command>``: the
colon keeps it apart from everything else that a first word may be, as no name contains one, and scripts that do not
know it read on. No line is ever blank. Must not know: sockets, how commands are done.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple, TypeAlias

from cgos_protocol.errors import Code
from cgos_protocol.ids import GameId
from cgos_protocol.lines.words import safe_text, safe_word, seat, whole_ms
from cgos_protocol.session import ListedGame

COMMAND_MAX: Final = 500
"""Characters of a command that are read."""

_LAST_NUMBER: Final = 2**63 - 1


class Who(NamedTuple):
    """Who is signed in."""


class Games(NamedTuple):
    """The latest games and the running ones."""


class Match(NamedTuple):
    """Let these two play now. Seconds, 0: the venue's own; `game`: an old one to begin from, with its first `moves`."""

    white: str
    black: str
    white_s: int = 0
    black_s: int = 0
    game: GameId | None = None
    moves: int | None = None


class Abort(NamedTuple):
    """End a game, with the result that is given."""

    game: GameId
    result: str | None = None


class Pause(NamedTuple):
    """Pair nobody."""


class Resume(NamedTuple):
    """Pair again."""


class Kick(NamedTuple):
    """Close a bot's connection."""

    bot: str
    reason: str


class Help(NamedTuple):
    """What can be said."""


class Quit(NamedTuple):
    """Close this connection."""


class Wrong(NamedTuple):
    """Nothing to do but to say why."""

    sentence: str


Command: TypeAlias = Who | Games | Match | Abort | Pause | Resume | Kick | Help | Quit | Wrong


class Form(NamedTuple):
    """One command for help and documentation.

    :ivar read: makes the command of the words after the first; None where they do not fit
    :ivar answer: the lines of success, in words
    """

    usage: str
    meaning: str
    answer: str
    read: Callable[[list[str]], Command | None]


def parse(line: str) -> Command:
    """What an operator's line asks for. Never raises."""
    words = line[:COMMAND_MAX].split()
    if not words:
        return Wrong("no command, say help")
    form = FORMS.get(words[0].lower())
    if form is None:
        return Wrong(f"unknown command {safe_word(words[0][:40])}, say help")
    command = form.read(words[1:])
    return Wrong(f"usage: {form.usage}") if command is None else command


def help_lines() -> list[str]:
    """The answer to `help`."""
    return [f"help {form.usage} : {form.meaning}" for form in FORMS.values()]


def who_line(name: str, state: str, game: GameId, mean: float, spread: float) -> str:
    """One signed-in bot. `game` is 0 where it plays none."""
    return f"{safe_word(name)} {safe_word(state)} {game} {mean:.1f} {spread:.1f}"


def ended_game_line(game: ListedGame) -> str:
    """One game that has ended."""
    moment = datetime.fromtimestamp(game.started_at, UTC).strftime("%Y-%m-%d %H:%M")
    return f"match {game.game} {moment} {_board(game)} - - - {safe_word(game.result or '-')}"


def running_game_line(game: ListedGame, white_ms: int, black_ms: int, plies: int) -> str:
    """One running game, with both times left and the number of moves."""
    return f"match {game.game} - - {_board(game)} {whole_ms(white_ms)} {whole_ms(black_ms)} {plies} -"


def arranged_line(white: str, white_label: str, black: str, black_label: str) -> str:
    """A game was arranged."""
    return f"match {seat(white, white_label)} {seat(black, black_label)}"


def aborted_line(game: GameId, white: str, black: str) -> str:
    """A game was ended."""
    return f"aborted {game} {safe_word(white)} {safe_word(black)}"


_REFUSALS: Final = {
    (Match, Code.SAME_PLAYER): "same player {white} {black}",
    (Match, Code.NO_WHITE): "no login player {white}",
    (Match, Code.NO_BLACK): "no login player {black}",
    (Match, Code.WHITE_BUSY): "player is not waiting {white}",
    (Match, Code.BLACK_BUSY): "player is not waiting {black}",
    (Match, Code.BAD_TIME): "bad time",
    (Match, Code.BAD_GAME): "bad game",
    (Match, Code.BAD_LENGTH): "bad game length",
    (Abort, Code.NO_GAME): "No game",
}
"""The words that scripts know, by command and code; braces hold the names of the command's fields."""


def refusal_line(code: Code, sentence: str, command: Command) -> str:
    """Why a command was not done: the words that scripts know, then the sentence."""
    words = _REFUSALS.get((type(command), code))
    return sentence if words is None else f"{words.format(**command._asdict())}: {sentence}"


def answer(line: str, lines: Sequence[str]) -> bytes:
    """The answer to the command `line` as it is written: its lines without blank ones, then the end mark."""
    word = safe_word((line.split() or ["-"])[0][:40])
    safe_lines = [safe for safe in map(safe_text, lines) if safe]
    return "".join(f"{text}\n" for text in [*safe_lines, f"end: {word}"]).encode("ascii")


def _board(game: ListedGame) -> str:
    players = f"{seat(game.white, game.white_label)} {seat(game.black, game.black_label)}"
    return f"{game.size} {game.komi2 / 2:.1f} {players}"


def _alone(command: Command) -> Callable[[list[str]], Command | None]:
    """A command without parameters."""
    return lambda words: None if words else command


def _match(words: list[str]) -> Command | None:
    if not 2 <= len(words) <= 6:
        return None
    white, black, *rest = words
    seconds = [_number(word) for word in rest[:2]] + [0, 0]
    number, moves = ([_number(word) for word in rest[2:]] + [None, None])[:2]
    game = None if number is None else GameId(number)
    if seconds[0] is None or seconds[1] is None:
        return Wrong("bad time: give whole seconds, or 0 for the venue's own time")
    if len(rest) > 2 and game is None:
        return Wrong("bad game: give the number of an old game")
    if len(rest) > 3 and moves is None:
        return Wrong("bad game length: give the number of moves to take from the old game")
    return Match(black=black, white=white, white_s=seconds[0], black_s=seconds[1], game=game, moves=moves)


def _abort(words: list[str]) -> Command | None:
    if not 1 <= len(words) <= 2:
        return None
    number = _number(words[0])
    if number is None:
        return Wrong(f"No game: {words[0][:40]} is no number of a game")
    return Abort(GameId(number), *words[1:])


def _kick(words: list[str]) -> Command | None:
    return Kick(words[0], " ".join(words[1:])) if len(words) > 1 else None


def _number(word: str) -> int | None:
    """A whole number that the database can hold."""
    number = int(word) if word.isascii() and word.isdigit() and len(word) <= 19 else None
    return None if number is None or number > _LAST_NUMBER else number


FORMS: Final = {
    "who": Form(
        "who",
        "the bots that are signed in here",
        "`<name> <state> <game or 0> <rating> <spread>`, one line a bot",
        _alone(Who()),
    ),
    "games": Form(
        "games",
        "the latest 40 games and the running ones",
        "`match <game> <date> <time> <size> <komi> <white>(<rating>) <black>(<rating>) - - - <result>`, and for "
        "running games `match <game> - - <size> <komi> <white>(<rating>) <black>(<rating>) <ms left of White> "
        "<ms left of Black> <moves> -`",
        _alone(Games()),
    ),
    "match": Form(
        "match <white> <black> [<seconds of White> [<seconds of Black> [<old game> [<moves of it>]]]]",
        "a game of these two now; 0 seconds: the venue's own time",
        "`match <white>(<rating>) <black>(<rating>)`",
        _match,
    ),
    "abort": Form(
        "abort <game> [Abort|B+Forfeit|W+Forfeit]",
        "end a game, without a result unless one is given",
        "`aborted <game> <white> <black>`",
        _abort,
    ),
    "pause": Form(
        "pause", "pair nobody here until resume or the next start of the server", "a sentence", _alone(Pause())
    ),
    "resume": Form("resume", "pair again", "a sentence", _alone(Resume())),
    "kick": Form(
        "kick <name> <reason>", "close the connections of a bot, told why; it may come back", "a sentence", _kick
    ),
    "help": Form("help", "this list", "`help <usage> : <meaning>`, one line a command", _alone(Help())),
    "quit": Form("quit", "close this connection", "`Quit`", _alone(Quit())),
}
"""By its first word: every command."""
