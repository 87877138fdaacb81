"""From facts to what owners of bots are told of them.

Knows what happened to which version, and nothing of who is told, or how. Counts in memory; what happened while no web
process ran can be told from stored games.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Iterable
from typing import Any, Final, NamedTuple

from cgos_protocol.api.games import Game
from cgos_protocol.facts import AnyFact, BotArrived, BotLeft, GameEnded, GameStarted
from cgos_protocol.ids import GameId

TIME_LOSSES: Final = 3
"""Games in a row lost on time that are worth a message; our choice."""

_GAMES_KEPT = 20_000
_VERSIONS_KEPT = 20_000


class Happening(NamedTuple):
    """Something that happened to a version. `at` in Unix milliseconds, `more` for the message's body."""

    event: str
    version: str
    venue: str
    at: int
    more: dict[str, Any]


class Happenings:
    """Follows games from their beginning to their end."""

    def __init__(self) -> None:
        self._playing: OrderedDict[int, tuple[str, str]] = OrderedDict()
        self._late: OrderedDict[str, int] = OrderedDict()

    def players(self, game: GameId) -> tuple[str, str] | None:
        """Black and White of a running game, where its beginning was heard."""
        return self._playing.get(game)

    def of(self, fact: AnyFact, players: tuple[str, str] | None, now_ms: int) -> list[Happening]:
        """What `fact` means to versions. `players`: Black and White, where it is about a game."""
        match fact:
            case GameStarted():
                self._playing[fact.game] = (fact.black, fact.white)
                if len(self._playing) > _GAMES_KEPT:
                    self._playing.popitem(last=False)
                return self._both(
                    "game-started", fact.venue, game=fact.game, players=(fact.black, fact.white), at=fact.at, more={}
                )
            case GameEnded():
                self._playing.pop(fact.game, None)
                if players is None:
                    return []
                ending = {"result": fact.result, "reason": fact.reason}
                ended = self._both("game-ended", fact.venue, game=fact.game, players=players, at=fact.at, more=ending)
                return ended + self._time_losses(fact, players)
            case BotArrived():
                return [Happening(event="signed-in", version=fact.version, venue=fact.venue, at=now_ms, more={})]
            case BotLeft():
                return [Happening(event="signed-out", version=fact.version, venue=fact.venue, at=now_ms, more={})]
        return []

    def replay(self, games: Iterable[Game], versions: Collection[str], now_ms: int) -> list[Happening]:
        """What stored games meant to the versions that played them, as if they had been heard when they were played.
        Counts of `versions` go on from there.

        :param games: all of the latest ones of `versions`, running ones too, in any order
        """
        past = Happenings()
        facts: list[tuple[int, int, AnyFact, Game]] = []
        for game in games:
            began = GameStarted(
                venue=game.venue, game=game.id, black=game.black, white=game.white, at=game.started_at / 1000
            )
            facts.append((game.started_at, 2 * game.id, began, game))
            if game.ended_at is not None:
                over = GameEnded(
                    venue=game.venue,
                    game=game.id,
                    result=game.result or "",
                    reason=game.reason or "",
                    at=game.ended_at / 1000,
                )
                facts.append((game.ended_at, 2 * game.id + 1, over, game))
        facts.sort(key=lambda each: each[:2])
        happenings = [
            happening for _, _, fact, game in facts for happening in past.of(fact, (game.black, game.white), now_ms)
        ]
        self._playing |= past._playing
        for version in versions:
            self._late.pop(version, None)
            if version in past._late:
                self._late[version] = past._late[version]
        return happenings

    def _both(
        self, event: str, venue: str, game: GameId, players: tuple[str, str], at: float, more: dict[str, Any]
    ) -> list[Happening]:
        about = {"id": game, "venue": venue, "black": players[0], "white": players[1], **more}
        return [
            Happening(event=event, version=name, venue=venue, at=round(1000 * at), more={"color": color, "game": about})
            for name, color in zip(players, ("black", "white"), strict=True)
        ]

    def _time_losses(self, fact: GameEnded, players: tuple[str, str]) -> list[Happening]:
        loser = {"W+": players[0], "B+": players[1]}.get(fact.result[:2])
        happenings = []
        for name in players:
            if fact.reason != "time" or name != loser:
                if fact.reason not in ("void", "abort"):
                    self._late.pop(name, None)
                continue
            in_a_row = self._late.pop(name, 0) + 1
            self._late[name] = in_a_row
            if len(self._late) > _VERSIONS_KEPT:
                self._late.popitem(last=False)
            if in_a_row % TIME_LOSSES == 0:
                about = {"id": fact.game, "venue": fact.venue, "black": players[0], "white": players[1]}
                more = {"in_a_row": in_a_row, "game": about}
                happenings.append(
                    Happening(event="time-losses", version=name, venue=fact.venue, at=round(1000 * fact.at), more=more)
                )
        return happenings
