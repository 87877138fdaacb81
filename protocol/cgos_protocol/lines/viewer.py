"""The viewer side of the CGOS line protocol: what a viewer may ask, and the lines that it is told.

Old viewers stop at surprising things, so these hold for every line: it is a proper Tcl list and never blank; a
`gameover` names only a game that a `match` line announced before; a game is `setup` once for each `observe`; and in
`setup` and `update`, where a viewer tells a result from a move by its second character, that character is a ``+``. An
ending without a winner is written there as ``0+`` and its word (``0+Draw``, ``0+Abort``, ``0+Void``): ``0`` is SGF's
word for a draw, no viewer takes it for the ``B`` or ``W`` of a winner, and what happened stays readable. (``B+0.0``,
which servers of old wrote for a draw, is a win of Black to everybody who reads it.) In `match` and `gameover`, where no
viewer looks at the second character, the words stand as they always did. Must not know: sockets, who watches what, how
games are found.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple, TypeAlias

from cgos_protocol.facts import Fact, GameEnded, GameStarted
from cgos_protocol.ids import GameId
from cgos_protocol.lines.words import safe_text, safe_word, seat, whole_ms
from cgos_protocol.session import GameOver, ListedGame, ShownGame, Turn
from cgos_protocol.verdict import Reason

_OBSERVE: Final = re.compile(rb"observe\s+([0-9]{1,19})", re.IGNORECASE)
_LAST_GAME: Final = 2**63 - 1

LINES_KEPT: Final = 4_096
"""Lines of a venue's list that are kept, so that a thousand viewers cost little more than one."""


class Observe(NamedTuple):
    """Show this game and follow it."""

    game: GameId


class Quit(NamedTuple):
    """The viewer leaves: close now, without a word."""


class Ignored(NamedTuple):
    """Nothing that a viewer can ask for; to be counted."""


Event: TypeAlias = Observe | Quit | Ignored


class MatchLines:
    """The `match` lines of one venue, written once for all its viewers."""

    __slots__ = ("_written",)

    def __init__(self) -> None:
        self._written: dict[tuple[GameId, str | None], str] = {}

    def written(self, game: GameId, result: str | None) -> str | None:
        """The line of that game, running or with that result, if it was written lately."""
        return self._written.get((game, result))

    def write(self, game: ListedGame) -> str:
        written = self._written
        if len(written) >= LINES_KEPT:
            written.clear()
        when, result = ("- -", "-") if game.result is None else (_moment(game.started_at), safe_word(game.result))
        line = written[game.game, game.result] = (
            f"match {game.game} {when} {game.size} {game.komi2 / 2:.1f} {seat(game.white, game.white_label)} "
            f"{seat(game.black, game.black_label)} {result}\n"
        )
        return line


class CgosViewer:
    """One viewer's connection after its `v1` line, without the connection: lines in, events out; calls in, bytes out.

    A call that has nothing to say returns ``b""``.

    :param size: of the venue's board
    :param komi2: of the venue's games, in half points
    :param lines: shared by all viewers of the venue
    """

    __slots__ = ("_announced", "_clocks", "_komi", "_latest", "_lines", "_size")

    def __init__(self, size: int, komi2: int, lines: MatchLines) -> None:
        self._size = size
        self._komi = komi2
        self._lines = lines
        # The running games that a `match` line announced and no `gameover` has ended, and the latest game of all.
        self._announced: set[GameId] = set()
        self._latest = 0
        # By game that was `setup` and runs: [Black's, White's] milliseconds left.
        self._clocks: dict[GameId, list[int]] = {}

    def receive(self, line: bytes) -> Event:
        """What `line` (with or without its end) asks for. Never raises."""
        line = line.strip()
        if line.lower() == b"quit":
            return Quit()
        request = _OBSERVE.fullmatch(line)
        if request is None or int(request[1]) > _LAST_GAME:
            return Ignored()
        game = GameId(int(request[1]))
        self._clocks.pop(game, None)
        return Observe(game)

    # What the server says.

    def listed(self, games: Sequence[ListedGame], missed: int) -> bytes:
        """The picture of the venue; after `missed` facts only what this viewer does not know yet."""
        lines: list[str] = []
        if missed:
            lines.append(f"info You read too slowly: {missed} events were skipped. The list goes on as it is now.\n")
            lines += self._caught_up(games)
        else:
            lines += [self._match(game) for game in games]
            if not games:
                lines.append("info No game was played here yet.\n")
        return "".join(lines).encode("ascii")

    def facts(self, facts: Sequence[Fact]) -> bytes:
        """What happened: games that begin and end. Viewers of this protocol have no words for the rest."""
        lines: list[str] = []
        for fact in facts:
            if isinstance(fact, GameStarted):
                lines.append(self._started(fact))
            elif isinstance(fact, GameEnded):
                lines += self._gameover(fact.game, fact.result, fact.white_used_ms, fact.black_used_ms)
        return "".join(lines).encode("ascii")

    def shown(self, game: GameId, shown: ShownGame | None, since: int) -> bytes:
        """A game that was asked for; or, where it was `setup` already, its moves after `since`."""
        if shown is None:
            return f"setup {game} ?\n".encode("ascii")
        setup, over = shown.setup, shown.over
        known = game in self._clocks
        if known or over is None:
            self._clocks[game] = list(setup.left_ms)
        if not known:
            return _setup(game, shown).encode("ascii")
        data = "".join(_update(game, move, left) for move, left in setup.moves[since:]).encode("ascii")
        return data if over is None else data + self.ended(game, over)

    def moved(self, game: GameId, turns: Sequence[Turn]) -> bytes:
        """Moves of a game that is followed."""
        clocks = self._clocks.setdefault(game, [0, 0])
        for turn in turns:
            clocks[turn.color] = turn.left_ms
        return "".join(_update(game, turn.move, turn.left_ms) for turn in turns).encode("ascii")

    def ended(self, game: GameId, over: GameOver) -> bytes:
        """A game that is followed has ended. A resignation is told as a move as well, as it always was, with what the
        loser had left after its last move."""
        clocks = self._clocks.pop(game, [0, 0])
        resigned = ""
        if over.reason == Reason.RESIGNATION and over.winner is not None:
            resigned = _update(game, "resign", clocks[over.winner.other])
        return f"{resigned}update {game} {_plus(over.result)}\n".encode("ascii")

    def info(self, text: str) -> bytes:
        """A sentence to the person; nothing is written where nothing is left of it."""
        text = safe_text(text)
        return f"info {text}\n".encode("ascii") if text else b""

    def _match(self, game: ListedGame) -> str:
        self._announce(game.game, game.result is None)
        return self._lines.written(game.game, game.result) or self._lines.write(game)

    def _started(self, fact: GameStarted) -> str:
        self._announce(fact.game, True)
        return self._lines.written(fact.game, None) or self._lines.write(
            ListedGame(
                game=fact.game,
                started_at=fact.at,
                size=self._size,
                komi2=self._komi,
                black=fact.black,
                black_label=fact.black_label,
                white=fact.white,
                white_label=fact.white_label,
                result=None,
            )
        )

    def _announce(self, game: GameId, running: bool) -> None:
        if game > self._latest:
            self._latest = game
        if running:
            self._announced.add(game)

    def _gameover(self, game: GameId, result: str, white_ms: int, black_ms: int) -> list[str]:
        if game not in self._announced:
            return []  # a viewer looks it up among the games that it was told of, and may stop where there is none
        self._announced.discard(game)
        return [f"gameover {game} {safe_word(result)} {whole_ms(white_ms)} {whole_ms(black_ms)}\n"]

    def _caught_up(self, games: Sequence[ListedGame]) -> list[str]:
        lines: list[str] = []
        latest, pictured = self._latest, {game.game for game in games}
        for game in sorted(self._announced - pictured):
            lines += self._gameover(game, "?", 0, 0)  # it ended long ago; `observe` tells how
        for listed in games:
            if listed.game in self._announced:
                if listed.result is not None:
                    lines += self._gameover(listed.game, listed.result, 0, 0)
            elif listed.result is None or listed.game > latest:
                lines.append(self._match(listed))
        return lines


def _setup(game: GameId, shown: ShownGame) -> str:
    setup, over = shown.setup, shown.over
    words = [
        f"setup {game} {_moment(shown.started_at) if over is not None else '- -'} {setup.size} {setup.komi2 / 2:.1f}",
        seat(setup.white, setup.white_label),
        seat(setup.black, setup.black_label),
        str(whole_ms(setup.level_ms)),
    ]
    words += [f"{safe_word(move)} {whole_ms(left)}" for move, left in setup.moves]
    if over is not None:
        words.append(_plus(over.result))
    return " ".join(words) + "\n"


def _update(game: GameId, move: str, left_ms: int) -> str:
    return f"update {game} {safe_word(move)} {whole_ms(left_ms)}\n"


def _plus(result: str) -> str:
    """A result as `setup` and `update` write it."""
    word = safe_word(result)
    return word if word[1:2] == "+" else f"0+{word}"


def _moment(at: float) -> str:
    """Unix seconds as the two words for date and time (UTC)."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M")


_HEARD: Final = (
    ("observe <game>", "show this game: `setup`, and while it runs an `update` for each move; 64 at once at most"),
    ("quit", "close"),
    ("(any other line)", "ignored, and counted"),
)
_PLAYERS: Final = "<white>(<rating>) <black>(<rating>)"
_SAID: Final = (
    (f"match <game> <date> <time> <size> <komi> {_PLAYERS} <result>", "a game that has ended: the latest 40 at first"),
    (f"match <game> - - <size> <komi> {_PLAYERS} -", "a game that runs: at first, and whenever one begins"),
    (
        f"setup <game> - - <size> <komi> {_PLAYERS} <ms>[ <move> <ms left> ...]",
        "the answer to `observe`: a game that runs",
    ),
    (
        f"setup <game> <date> <time> <size> <komi> {_PLAYERS} <ms>[ <move> <ms left> ...] <result+>",
        "the answer to `observe`: a game that has ended",
    ),
    ("setup <game> ?", "the answer to `observe`: no such game here"),
    ("update <game> <move> <ms left>", "a move of an observed game; `resign` too"),
    ("update <game> <result+>", "an observed game has ended"),
    ("gameover <game> <result> <ms used by White> <ms used by Black>", "any game that was announced has ended"),
    ("info <text>", "a word to the person"),
    ("Error: <sentence>", "why the server closes the connection"),
)


def table() -> list[tuple[str, str]]:
    """All lines for documentation: (line, meaning); ``V:`` the viewer speaks, ``S:`` the server."""
    return [*((f"V: {line}", meaning) for line, meaning in _HEARD), *((f"S: {line}", text) for line, text in _SAID)]
