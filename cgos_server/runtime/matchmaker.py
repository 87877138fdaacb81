"""One venue's matchmaker: collects the candidates, asks the pairing method, records why, and starts the games.

When to pair and whom is decided by :mod:`cgos_server.core.pairing`; here is only the doing. Must not know: how ratings
or pairs are computed, wire formats, SQL.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Sequence
from functools import partial

import structlog

from cgos_server.core.facts import GameStarted
from cgos_server.core.pairing.base import Candidate, Matchmaker, Pair, Pairing
from cgos_server.core.pairing.explain import encode_inputs
from cgos_server.core.pairing.fairness import colors
from cgos_server.core.pairing.rolling import due, rematch_holds
from cgos_server.core.referee import Referee, Terms, encode, terms_of
from cgos_server.core.venue import Policy
from cgos_server.runtime.live_game import Desk, LiveGame, Side
from cgos_server.runtime.lobby import Lobby
from cgos_server.runtime.player import Player
from cgos_server.service.ids import Ids
from cgos_server.storage.records import GameAdded, MoveAdded, PairingAdded, Record, RoundAdded
from cgos_server.storage.store import StoredMove

log = structlog.get_logger(__name__)

THREAD_FROM = 200
"""Candidates from which on the method runs in a thread, so that the loop is not held for more than a few ms."""

SLICE = 32
"""Games begun before the loop gets a turn."""


class VenueMatchmaker:
    """Pairs the idle bots of one venue, for ever.

    :param meetings: (black, white) -> games with these colors so far; kept up to date here
    :param number: the number of the venue's latest act of pairing
    :param new_seed: gives the seed of the next act
    """

    def __init__(
        self,
        desk: Desk,
        lobby: Lobby,
        method: Matchmaker,
        ids: Ids,
        meetings: dict[tuple[int, int], int],
        number: int,
        new_seed: Callable[[], int],
    ) -> None:
        self.draining = False
        self.paused = False
        self._desk = desk
        self._lobby = lobby
        self._method = method
        self._ids = ids
        self._meetings = meetings
        self._balance: dict[int, int] = {}
        for (black, white), games in meetings.items():
            self._balance[black] = self._balance.get(black, 0) + games
            self._balance[white] = self._balance.get(white, 0) - games
        self._number = number
        self._new_seed = new_seed
        self._sat_out: dict[int, tuple[int, int]] = {}

    async def run(self) -> None:
        """An act of pairing every `interval`, until cancelled. A fault in one is reported; the other venues play on."""
        interval = self._desk.venue.pairing.interval / 1e6
        while True:
            await asyncio.sleep(interval)
            try:
                await self.act()
            except Exception as error:
                log.error("our fault in pairing", venue=self._desk.venue.name, exc_info=error)

    async def act(self) -> None:
        """Pair whoever can be paired now; returns when the round was handed to the store."""
        settings = self._desk.venue.pairing
        idle = self._lobby.idle()
        if self.draining or self.paused or not due(settings.policy, len(idle), sum(1 for _ in self._lobby.games())):
            return
        apart = keep_apart(idle, settings.same_bot)
        candidates = [self._candidate(player, apart.get(player.version, ())) for player in idle]
        held = {player.version: player for player in idle}
        seed = self._new_seed()
        started = self._desk.time.now()
        if len(candidates) < THREAD_FROM:
            pairing = self._method.pair(candidates, random.Random(seed))
        else:
            for player in idle:
                player.reserve()
            try:
                pairing = await asyncio.to_thread(self._method.pair, candidates, random.Random(seed))
            finally:
                self._lobby.release(idle)
            if self.draining or self.paused:
                return
        self._record(pairing, candidates, held, seed)
        self._desk.meter.paired(settings.policy.value, self._desk.time.now() - started)

    def _candidate(self, player: Player, apart: tuple[int, ...]) -> Candidate:
        sat_out, last = self._sat_out.get(player.version, (0, None))
        return Candidate(
            player.version,
            player.name,
            self._desk.rater.ratings.rating(player.version).mean,
            self._desk.time.now() - player.since,
            sat_out,
            last,
            self._lobby.last_opponent.get(player.version),
            apart,
        )

    def _record(self, pairing: Pairing, candidates: list[Candidate], held: dict[int, Player], seed: int) -> None:
        """Turn the decision into games and submit the round as one group."""
        desk = self._desk
        venue = desk.venue
        by_id = {candidate.id: candidate for candidate in candidates}
        colors_rng = random.Random(seed ^ 1)
        round_id = self._ids.round()
        at = desk.time.wall_ms()
        terms = terms_of(venue)
        encoded = encode(terms)
        games: list[LiveGame] = []
        records: list[Record] = []
        waits: dict[int, str] = {}
        for pair in pairing.pairs:
            high, low = held[pair.high], held[pair.low]
            if not (high.available and low.available):
                continue  # it went, or paused, while the method worked
            if venue.pairing.policy is Policy.ROLLING and rematch_holds(
                pair, by_id, venue.pairing.rematch_wait, self._lobby.connected > 2
            ):
                why = "Its last opponent was the only one free; it waits a little for a third."
                waits[pair.high] = waits[pair.low] = why
                continue
            black, white, why_colors = colors(pair.high, pair.low, self._as_black, self._balance_of, colors_rng)
            first, second = held[black], held[white]
            sides = [Side(player.version, player.name, desk.rater.label(player.version)) for player in (first, second)]
            game = LiveGame(self._ids.game(), desk, Referee(terms), sides[0], sides[1], at, pair.reason)
            games.append(game)
            records.append(
                GameAdded(game.id, venue.id, round_id, black, white, sides[0].label, sides[1].label, encoded, "", at)
            )
            records.append(
                PairingAdded(
                    game.id, round_id, pair.high, pair.low, pair.reason, why_colors,
                    json.dumps(dict(pair.detail) | self._color_inputs(pair)),
                )
            )  # fmt: skip
        if not games and not pairing.sits_out:
            return  # all wait for a third: nothing was decided that anybody could ask about
        self._number += 1
        for version, why in pairing.sits_out.items():
            self._sat_out[version] = (self._sat_out.get(version, (0, 0))[0] + 1, self._number)
            waits[version] = why
        records.insert(
            0,
            RoundAdded(
                round_id, venue.id, self._number, at, venue.pairing.policy.value, self._method.name,
                json.dumps(dict(self._method.options)), str(seed), encode_inputs(candidates),
                json.dumps({str(version): why for version, why in waits.items()}), json.dumps(list(pairing.notes)),
            ),
        )  # fmt: skip
        for game in games:
            for side in game.sides:
                held[side.version].reserve()
                self._sat_out.pop(side.version, None)
        desk.store.submit(records, partial(self._begin, games, at))

    def arrange(self, black: Player, white: Player, terms: Terms, moves: Sequence[StoredMove], why: str) -> int:
        """Let these two play now, by an operator's wish, beginning after `moves`; the number of the game.

        It begins once it is committed. Raises OurFault where `moves` cannot be played under `terms`.
        """
        desk = self._desk
        at = desk.time.wall_ms()
        first, second = (
            Side(player.version, player.name, desk.rater.label(player.version)) for player in (black, white)
        )
        game = LiveGame(self._ids.game(), desk, Referee(terms), first, second, at, why)
        game.continues(moves)
        records: list[Record] = [
            GameAdded(
                game.id, desk.venue.id, None, black.version, white.version, first.label, second.label, encode(terms),
                "", at,
            ),
            *(MoveAdded(game.id, ply, move.move, *move.clock, 0, at) for ply, move in enumerate(moves, 1)),
        ]  # fmt: skip
        black.reserve()
        white.reserve()
        desk.store.submit(records, partial(self._begin, [game], at))
        return game.id

    def _begin(self, games: list[LiveGame], at: int) -> None:
        """The round is committed: bring its players to their boards, a few at a time."""
        desk = self._desk
        for game in games[:SLICE]:
            black, white = game.sides
            self.count(black.version, white.version)
            now = desk.time.now()
            for side in game.sides:
                desk.meter.waited(now - self._lobby.player(side.version).since)
            self._lobby.began(game)
            desk.meter.started()
            log.debug("game began", game=game.id, venue=desk.venue.name, black=black.name, white=white.name)
            desk.bus.publish(
                GameStarted(desk.venue.name, game.id, black.name, white.name, at / 1000, black.label, white.label)
            )
        if rest := games[SLICE:]:
            desk.time.call_at(desk.time.now(), self._begin, rest, at)

    def count(self, black: int, white: int) -> None:
        """These two play a game that the store did not count among their meetings when the server started."""
        self._meetings[black, white] = self._meetings.get((black, white), 0) + 1
        self._balance[black] = self._balance.get(black, 0) + 1
        self._balance[white] = self._balance.get(white, 0) - 1

    def _color_inputs(self, pair: Pair) -> dict[str, list[int]]:
        """What the colors were decided by, for the record."""
        high, low = pair.high, pair.low
        return {
            "as_black": [self._as_black(high, low), self._as_black(low, high)],
            "balance": [self._balance_of(high), self._balance_of(low)],
        }

    def _as_black(self, black: int, white: int) -> int:
        return self._meetings.get((black, white), 0)

    def _balance_of(self, version: int) -> int:
        return self._balance.get(version, 0)


def keep_apart(players: Sequence[Player], same_bot: bool) -> dict[int, tuple[int, ...]]:
    """By version: the other versions of its bot, unless `same_bot`, and those that its owner avoids."""
    bots: dict[int, list[int]] = {}
    for player in players:
        bots.setdefault(player.bot, []).append(player.version)
    by_name = {player.name: player.version for player in players}
    apart: dict[int, tuple[int, ...]] = {}
    for player in players:
        sisters = () if same_bot else bots[player.bot]
        avoided = [by_name[name] for name in player.limits.avoid if name in by_name]
        others = dict.fromkeys(version for version in (*sisters, *avoided) if version != player.version)
        if others:
            apart[player.version] = tuple(others)
    return apart
