"""Small random pasts for the read side: bots with versions in two venues, all kinds of verdicts, corrections."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

from cgos_protocol.api.games import Game
from cgos_protocol.games.base import Color
from cgos_protocol.verdict import Reason, Verdict
from cgos_server.storage.reading.game_answers import GameFilter
from cgos_server.storage.writing.records import (
    BotAdded,
    CorrectionAdded,
    GameAdded,
    GameEnded,
    MoveAdded,
    Record,
    VenueAdded,
    VersionAdded,
)

VENUES = {1: "9x9", 2: "19x19"}
VERSIONS = {1: "ant", 2: "ant-2", 3: "bee", 4: "cat", 5: "cat-2"}
BOTS = {"ant": (1, 2), "bee": (3,), "cat": (4, 5)}
HOUR = 3_600_000


class Past:
    """Records, and each game as it should be told."""

    def __init__(self, seed: int, games: int = 120) -> None:
        self.rng = random.Random(seed)
        self.records: list[Record] = [VenueAdded(number, name, "{}", 0) for number, name in VENUES.items()]
        for number, (bot, versions) in enumerate(BOTS.items(), 1):
            self.records.append(BotAdded(number, bot, bot, "", "active", 0))
            for version in versions:
                name = VERSIONS[version]
                label = name.removeprefix(bot).lstrip("-")
                self.records.append(VersionAdded(version, number, name, name, label, "", "", "", 0))
        self.games: dict[int, Game] = {}
        self.counts: dict[int, str] = {}
        """Game -> what it counts as now, for ended ones."""
        number = 0
        for _ in range(games):
            number += self.rng.choice((1, 1, 2, 9))
            self._game(number)
        for game in self.rng.sample(sorted(self.counts), min(10, len(self.counts))):
            for _ in range(self.rng.choice((1, 1, 2))):
                self._correct(game)

    def _game(self, number: int) -> None:
        rng = self.rng
        venue = rng.choice((1, 1, 2))
        black, white = rng.sample(sorted(VERSIONS), 2)
        # A clock that is set back now and then, by less than a day.
        at = number * HOUR + rng.randint(-5 * HOUR, 5 * HOUR) + 10 * HOUR
        self.records.append(GameAdded(number, venue, None, black, white, "", "", "{}", "", at))
        plies = rng.randint(0, 4)
        self.records += [MoveAdded(number, ply, "PASS", 0, 0, 0, 0, 0, at + ply) for ply in range(1, plies + 1)]
        names = VENUES[venue], VERSIONS[black], VERSIONS[white]
        if rng.random() < 0.1:
            self.games[number] = _game(number, names, at, moves=plies)
            return
        reason = rng.choice(list(Reason))
        rated = Verdict(None, reason).rated
        winner = rng.choice((None, Color.BLACK, Color.WHITE)) if rated else None
        verdict = Verdict(winner, reason, 3)
        end = GameEnded(
            at + HOUR, None if winner is None else int(winner), reason, None, "", verdict.text, 2, 2, number
        )
        self.records.append(end)
        self.games[number] = _game(
            number, names, at, moves=plies, ended_at=at + HOUR, result=verdict.text, reason=reason.value
        )
        self.counts[number] = verdict.text

    def _correct(self, number: int) -> None:
        winner, result = self.rng.choice(((0, "B+Forfeit"), (1, "W+Forfeit"), (None, "Draw"), (None, "Void")))
        self.records.append(CorrectionAdded(number, 0, None, "somebody", "a test", winner, result))
        self.counts[number] = result

    def row(self, number: int) -> Game:
        """The game as lists show it."""
        game = self.games[number]
        now = self.counts.get(number)
        fields: dict[str, Any] = {name: getattr(game, name) for name in game.__struct_fields__}
        return Game(**fields | {"corrected": None if now == game.result else now})

    def outcome(self, number: int) -> str | None:
        """``B``, ``W``, ``draw``, ``none``; None while it runs."""
        now = self.counts.get(number)
        if now is None:
            return None
        return {"B+": "B", "W+": "W", "Dr": "draw"}.get(now[:2], "none")

    def matching(self, game_filter: GameFilter) -> list[Game]:
        """What should be found, newest first."""
        return [self.row(number) for number in sorted(self.games, reverse=True) if self._fits(number, game_filter)]

    def _fits(self, number: int, game_filter: GameFilter) -> bool:
        game = self.games[number]
        ended = game.result is not None
        first, second = (_names(name, game_filter.exact) for name in (game_filter.bot, game_filter.opponent))
        return (
            game_filter.venue in (None, game.venue)
            and any(a in first and b in second for a, b in ((game.black, game.white), (game.white, game.black)))
            and game_filter.reason in (None, game.reason)
            and game_filter.result in (None, self.outcome(number))
            and (game_filter.min_moves is None or (ended and game.moves >= game_filter.min_moves))
            and (game_filter.max_moves is None or (ended and game.moves <= game_filter.max_moves))
            and (game_filter.since is None or game.started_at >= game_filter.since)
            and (game_filter.until is None or game.started_at < game_filter.until)
            and game_filter.running in (None, not ended)
        )


def _names(name: str | None, exact: bool) -> Iterable[str]:
    if name is None:
        return VERSIONS.values()
    if exact:
        return {name}
    return {VERSIONS[version] for version in BOTS.get(name, ())} | {name}


def _game(number: int, names: tuple[str, str, str], at: int, moves: int, **ended: Any) -> Game:
    venue, black, white = names
    unfinished = {"ended_at": None, "result": None, "reason": None, "corrected": None}
    return Game(
        id=number,
        venue=venue,
        black=black,
        white=white,
        black_label="",
        white_label="",
        started_at=at,
        moves=moves,
        opening="",
        **unfinished | ended,
    )
