"""What an operator's command lines do: they read the live venue, or ask :class:`cgos_server.service.admin.Admin`, who
performs commands and writes them down. Implements :class:`cgos_protocol.session.OperatorDesk`.

Must not know: sockets, how lines are framed, what commands do.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

import structlog

from cgos_protocol.api.people import Done, EndedGame
from cgos_protocol.errors import CgosError, Code, Forbidden, Refused
from cgos_protocol.games.base import Color
from cgos_protocol.ids import GameId
from cgos_protocol.lines import admin as words
from cgos_protocol.session import Availability, ListedGame
from cgos_server.live.games.live_game import LiveGame
from cgos_server.live.games.phases import GamePhase
from cgos_server.live.venue.gallery import RECENT, listed_game
from cgos_server.live.venue.live_venue import LiveVenue, running
from cgos_server.live.venue.player import Player
from cgos_server.service.admin import Admin
from cgos_server.service.commands.declaration import Command
from cgos_server.service.commands.registry import on
from cgos_server.service.commands.surfaces import OperatorLine
from cgos_server.service.control import ArrangedGame
from cgos_server.service.holds import Hold
from cgos_server.service.people.accounts import Operator
from cgos_server.storage.store import Store

log = structlog.get_logger(__name__)

Spawn = Callable[[Coroutine[Any, Any, None]], None]

COMMANDS: Final = MappingProxyType({surface.line: command for command, surface in on(OperatorLine)})
"""Kind of line -> the command that it becomes."""


class Operators:
    """Gives an operator who signs in a session. One a server.

    :param spawn: starts a coroutine in the server's task group
    """

    def __init__(self, venues: Mapping[str, LiveVenue], admin: Admin, store: Store, spawn: Spawn) -> None:
        self.venues = venues
        self.admin = admin
        self.store = store
        self.spawn = spawn

    def __call__(self, venue: str, operator: Operator, address: str) -> OperatorSession:
        return OperatorSession(self, self.venues[venue], operator.name, address)


class OperatorSession:
    """One operator at one venue.

    :param name: the account
    :param address: where it sits, for the audit
    """

    def __init__(self, server: Operators, venue: LiveVenue, name: str, address: str) -> None:
        self._server = server
        self._venue = venue
        self._name = name
        self._actor = f"{name} ({address})"

    def command(self, line: str, answer: Callable[[Sequence[str]], None]) -> None:
        """See :class:`~cgos_protocol.session.OperatorDesk`."""
        self._server.spawn(self._command(line, answer))

    async def _command(self, line: str, answer: Callable[[Sequence[str]], None]) -> None:
        command = words.parse(line)
        lines: Sequence[str]
        try:
            lines = await self._do(command)
        except Refused as refusal:
            lines = [words.refusal_line(refusal.code, refusal.sentence, command)]
        except CgosError as error:
            lines = [f"The server could not do it: {error}"]
        except Exception as error:
            log.error("our fault in an operator's command", account=self._name, command=line, exc_info=error)
            lines = ["The server made a mistake, and its log says more. See with games and who what has been done."]
        answer(lines)

    async def _do(self, command: words.Command) -> Sequence[str]:
        if isinstance(command, words.Wrong):
            return [command.sentence]
        if isinstance(command, words.Help | words.Quit):
            return words.help_lines()
        await self._check_right()
        if isinstance(command, words.Who):
            return self._who()
        if isinstance(command, words.Games):
            return await self._games()
        return await self._perform(COMMANDS[type(command)], command)

    async def _check_right(self) -> None:
        """The right may have been taken away since the sign-in."""
        owner = await self._server.store.history.people.owner(self._name)
        if owner is None or not owner.admin or owner.state != "active":
            raise Forbidden(Code.NO_RIGHT, f"The account {self._name} has not the right admin any more.")

    async def _perform(self, kind: type[Command[Any]], line: words.Command) -> Sequence[str]:
        """The command of a line; what concerns a venue concerns this one."""
        values = line._asdict() | {"actor": self._actor}
        if "venue" in kind.__struct_fields__:
            values["venue"] = self._venue.venue.name
        match await self._server.admin.handle(kind(**values)):
            case ArrangedGame() as game:
                return [words.arranged_line(game.white, game.white_label, game.black, game.black_label)]
            case EndedGame() as game:
                return [words.aborted_line(game.game, game.white, game.black)]
            case Done(sentence=sentence):
                return [sentence]
        return ["done"]

    def _who(self) -> list[str]:
        rating = self._venue.ratings.rating
        lines: list[str] = []
        for player in self._venue.roster.here():
            mean, spread, *_ = rating(player.version)
            game = next(iter(player.games), GameId(0))
            lines.append(words.who_line(player.name, _state(player), game=game, mean=mean, spread=spread))
        return lines

    async def _games(self) -> list[str]:
        venue = self._venue
        rules = venue.venue.rules
        ended = await self._server.store.history.games.recent(venue.venue.id, RECENT)
        lines = [words.ended_game_line(listed_game(game, rules.size, rules.komi2)) for game in ended]
        for live in running(venue):
            black, white = live.sides
            listed = ListedGame(
                game=live.id,
                started_at=live.started_at / 1000,
                size=rules.size,
                komi2=rules.komi2,
                black=black.name,
                black_label=black.label,
                white=white.name,
                white_label=white.label,
                result=None,
            )
            white_ms, black_ms = _left(live)
            lines.append(words.running_game_line(listed, white_ms, black_ms, live.ply))
        return lines


def _state(player: Player) -> str:
    """What a bot does, in the words of its side of the dialogue."""
    if player.has(Hold.OWES_READY):
        return "gameover"
    for game in player.games.values():
        if game.phase is GamePhase.RUNNING and game.referee.to_play is player.color(game):
            return "genmove"
    if player.games or player.reserved:
        return "ok"
    if player.has(Hold.DRAINING) or player.has(Hold.SENT_HOME):
        return Availability.DRAINING.value
    return Availability.PAUSED.value if player.has(Hold.RESTING) else "waiting"


def _left(game: LiveGame) -> tuple[int, int]:
    """[White's, Black's] milliseconds left, as committed."""
    if game.ply == 0:
        return game.referee.remaining_ms(Color.WHITE), game.referee.remaining_ms(Color.BLACK)
    (last,) = game.turns(game.ply - 1)
    mover, other = last.left_ms, last.other_left_ms
    return (mover, other) if last.color is Color.WHITE else (other, mover)
