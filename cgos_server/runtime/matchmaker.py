"""One venue's matchmaker: has its acts of pairing decided, records why, and has the games begun.

When to pair and whom is decided by :mod:`cgos_server.core.pairing`; here is only the doing. Must not know: how ratings
or pairs are computed, wire formats, SQL.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import structlog

from cgos_protocol.terms import Terms
from cgos_protocol.verdict import Reason
from cgos_server.core.pairing.base import Act, Matchmaker, Pair
from cgos_server.core.pairing.constraints import Kin
from cgos_server.core.pairing.explain import encode_inputs
from cgos_server.core.pairing.listed import SECOND_GAMES, AsListed
from cgos_server.core.pairing.registry import matchmaker
from cgos_server.core.pairing.rolling import due
from cgos_server.core.venue import PairingSettings
from cgos_server.runtime.beginning import SLICE, Beginner, Prepared
from cgos_server.runtime.deciding import Decided, Deciding
from cgos_server.runtime.gathering import Gatherer
from cgos_server.runtime.live_game import Desk, LiveGame
from cgos_server.runtime.lobby import Lobby
from cgos_server.runtime.openings import Openings, Owed
from cgos_server.runtime.player import Player
from cgos_server.service.ids import Ids
from cgos_server.storage.reading.stored import StoredGame, StoredMove
from cgos_server.storage.records import Record, RoundAdded

log = structlog.get_logger(__name__)

_REPAIRS = 3
"""How often those whose partner went while a decision was being made are paired anew."""


class VenueMatchmaker:
    """Pairs the idle bots of one venue, for ever.

    :param new_seed: gives the seed of the next act
    :ivar draining: nobody is paired any more, as the server stops
    :ivar paused: nobody is paired, as an operator wishes
    """

    def __init__(
        self,
        desk: Desk,
        lobby: Lobby,
        gatherer: Gatherer,
        beginner: Beginner,
        deciding: Deciding,
        openings: Openings,
        ids: Ids,
        new_seed: Callable[[], int],
    ) -> None:
        self.draining = False
        self.paused = False
        self._desk = desk
        self._lobby = lobby
        self._gatherer = gatherer
        self._beginner = beginner
        self._deciding = deciding
        self._openings = openings
        self._ids = ids
        self._new_seed = new_seed
        self._settings = desk.venue.pairing
        self._method: Matchmaker = matchmaker(self._settings.method, self._settings.options)

    def configure(self, settings: PairingSettings) -> None:
        """Pair by these settings from the next act on. Raises Refused where the method objects."""
        self._method = matchmaker(settings.method, settings.options)
        self._settings = settings
        self._gatherer.memory.keep(remembered(self._method))

    async def run(self) -> None:
        """An act of pairing every `interval`, until cancelled. A fault in one is reported; the other venues play on."""
        while True:
            await asyncio.sleep(self._settings.interval / 1e6)
            try:
                await self.act()
            except Exception as error:
                log.error("our fault in pairing", venue=self._desk.venue.name, exc_info=error)

    async def act(self) -> None:
        """Pair whoever can be paired now; returns when the round was handed to the store."""
        idle = self._lobby.idle()
        if self._stopped or not due(self._settings.policy, len(idle), self._lobby.begun()):
            return
        owed, busy, rest = self._owed(idle)
        if owed:
            try:
                await self._second_games(owed, busy)
            except Exception as error:  # they would come first in every act to come
                log.error("our fault in second games of openings", venue=self._desk.venue.name, exc_info=error)
        for _ in range(1 + _REPAIRS):
            rest = [player for player in rest if player.available]  # nobody held them so far
            if len(rest) < 2 or self._stopped:
                return
            rest = await self._decide(rest)

    def restored(self, game: LiveGame) -> None:
        """A game was read back after a restart."""
        self._gatherer.memory.restored(game.sides[0].version, game.sides[1].version)

    def lost(self, game: StoredGame) -> None:
        """A game could not be read back after a restart."""
        self._openings.undone(game.black_id, game.white_id, game.opening, game.started_at)

    def ended(self, game: LiveGame) -> None:
        """A game of this venue has ended."""
        memory = self._gatherer.memory
        if game.over is not None and game.over.reason in (Reason.VOID, Reason.ABORT):
            memory.undone(game.sides[0].version, game.sides[1].version)
            return
        for side, thought in zip(game.sides, game.thought, strict=True):
            memory.thought(side.version, thought)
        self._gatherer.ended(sum(game.thought))

    def arrange(self, black: Player, white: Player, terms: Terms, moves: Sequence[StoredMove], why: str) -> int:
        """Let these two play now, by an operator's wish, beginning after `moves`; the number of the game.

        It begins once it is committed. Raises OurFault where `moves` cannot be played under `terms`.
        """
        at = self._desk.time.wall_ms()
        prepared = self._beginner.arranged(black=black, white=white, terms=terms, moves=moves, at=at, why=why)
        for player in (black, white):
            player.reserve()
            player.chosen = True
            self._gatherer.plays(player.version)
        self._beginner.submit([], [prepared], at)
        return prepared.game.id

    async def preview(self, method: str | None, options: Mapping[str, Any]) -> Preview:
        """What an act would decide now; nothing comes of it.

        :param method: another matchmaker, or None for the venue's own
        :param options: on top of the method's defaults, or of the venue's own options where it is the venue's method
        :raises Refused: where name or options are unknown
        """
        settings = self._settings
        own = settings.options if method in (None, settings.method) else {}
        chosen = matchmaker(method or settings.method, {**own, **options})
        owed, busy, rest = self._owed(self._lobby.idle())
        listed = await self._gatherer.act(_listed(owed, busy), settings.policy, choosing=False)
        act = await self._gatherer.act(rest, settings.policy)
        seed = self._new_seed()
        decided = await self._deciding.decide(chosen.name, chosen.options, act, seed)
        return Preview(method=chosen, act=act, seed=seed, decided=decided, listed=listed, second=_settled(owed, listed))

    @property
    def _stopped(self) -> bool:
        return self.draining or self.paused

    def _owed(self, idle: Sequence[Player]) -> tuple[list[Owed], dict[int, Player], list[Player]]:
        """The second games that can be played now, whose they are, and who is left for other games."""
        ready, options = {player.version: player for player in idle}, self._method.options
        owed = self._openings.owed(
            ready.keys(),
            self._settings.openings,
            self._desk.time.wall_ms(),
            lambda black, white: self._may_meet(ready[black], ready[white], options),
        )
        busy = {version: ready.pop(version) for one in owed for version in (one.black, one.white)}
        return owed, busy, list(ready.values())

    def _may_meet(self, one: Player, other: Player, options: Mapping[str, Any]) -> bool:
        """False where two who owe each other a game are forbidden to meet by now, or one's owner avoids the other."""
        families = self._gatherer.families
        owner = options["same_owner"] == Kin.FORBIDDEN and one.bot == other.bot
        family = options["same_family"] == Kin.FORBIDDEN and families.leader(one.bot) == families.leader(other.bot)
        return not (owner or family or other.name in one.limits.avoid or one.name in other.limits.avoid)

    async def _decide(self, players: list[Player]) -> list[Player]:
        """One act among `players`; who of them lost its partner while it was being decided, with whom they could meet.

        Nobody else gives them a game meanwhile.
        """
        method, settings = self._method, self._settings
        started = self._desk.time.now()
        for player in players:
            player.reserve()
        try:
            act = await self._gatherer.act(players, settings.policy)
            seed = self._new_seed()
            decided = await self._deciding.decide(method.name, method.options, act, seed)
            if self._stopped:
                return []
            widowed = await self._record(
                decided, settings, method=method, seed=seed, players={one.version: one for one in players}
            )
        finally:
            self._lobby.release(player for player in players if player.reserved and not player.chosen)
        self._desk.meter.paired(settings.policy.value, self._desk.time.now() - started)
        if not widowed:
            return []
        left = [player for player in players if player.version in decided.pairing.sits_out and player.available]
        return [*widowed, *left]

    async def _record(
        self,
        decided: Decided,
        settings: PairingSettings,
        method: Matchmaker,
        seed: int,
        players: dict[int, Player],
    ) -> list[Player]:
        """Turn a decision into games and submit the round as one group; who lost its partner meanwhile."""
        pairing, inputs = decided
        rng = random.Random(seed ^ 1)
        round_id = self._ids.round()
        at = self._desk.time.wall_ms()
        prepared: list[Prepared] = []
        widowed: list[Player] = []
        for count, pair in enumerate(pairing.pairs, 1):
            both = players[pair.high], players[pair.low]
            if all(player.could_play for player in both):
                opening = self._openings.first(settings.openings, settings.openings_share, rng)
                prepared.append(self._beginner.pair(round_id, pair, players, at, opening, rng))
            else:
                widowed += [player for player in both if player.could_play]
            if count % SLICE == 0:
                await asyncio.sleep(0)
        if prepared and not self._stopped:
            self._gatherer.decided(
                [side.version for one in prepared for side in one.game.sides],
                [version for version in pairing.sits_out if players[version].could_play],
            )
            record = RoundAdded(
                round_id,
                self._desk.venue.id,
                self._gatherer.number,
                at,
                settings.policy.value,
                method.name,
                json.dumps(dict(method.options)),
                str(seed),
                inputs,
                json.dumps({str(version): why for version, why in pairing.sits_out.items()}),
                json.dumps(list(pairing.notes)),
                pairing.total,
            )
            self._begin(record, prepared, players, at)
        return widowed

    def _begin(self, record: Record, prepared: Sequence[Prepared], players: Mapping[int, Player], at: int) -> None:
        for one in prepared:
            for side in one.game.sides:
                players[side.version].chosen = True
        self._beginner.submit([record], prepared, at)

    async def _second_games(self, owed: Sequence[Owed], players: dict[int, Player]) -> None:
        """Play the second games of openings, with colors swapped: a round of their own, in which nothing is chosen."""
        listed = _listed(owed, players)
        for player in listed:
            player.reserve()
        try:
            act = await self._gatherer.act(listed, self._settings.policy, choosing=False)
            if not self._stopped:
                await self._record_second_games(owed, players, act)
        finally:
            self._lobby.release(player for player in listed if player.reserved and not player.chosen)

    async def _record_second_games(self, owed: Sequence[Owed], players: dict[int, Player], act: Act) -> None:
        at = self._desk.time.wall_ms()
        round_id = self._ids.round()
        prepared: list[Prepared] = []
        for count, (one, pair) in enumerate(zip(owed, _settled(owed, act), strict=True), 1):
            if players[one.black].could_play and players[one.white].could_play:
                prepared.append(
                    self._beginner.second(round_id, pair, black=one.black, players=players, at=at, opening=one.opening)
                )
            if count % SLICE == 0:
                await asyncio.sleep(0)
        if prepared and not self._stopped:
            self._gatherer.decided([side.version for one in prepared for side in one.game.sides], [])
            record = RoundAdded(
                round_id,
                self._desk.venue.id,
                self._gatherer.number,
                at,
                act.policy.value,
                SECOND_GAMES,
                "{}",
                "0",
                encode_inputs(act),
                "{}",
                "[]",
            )
            self._begin(record, prepared, players, at)


class Preview(NamedTuple):
    """What an act of pairing would decide.

    :ivar listed: those who owe each other the second game of an opening, which comes before everything else
    :ivar second: their pairs
    """

    method: Matchmaker
    act: Act
    seed: int
    decided: Decided
    listed: Act
    second: Sequence[Pair]


def _listed(owed: Sequence[Owed], players: Mapping[int, Player]) -> list[Player]:
    return [players[version] for one in owed for version in (one.black, one.white)]


def _settled(owed: Sequence[Owed], listed: Act) -> list[Pair]:
    """The pairs of second games, in the order of `owed`."""
    pairs = AsListed().pair(listed, random.Random(0)).pairs
    return [pair._replace(reason=one.why) for one, pair in zip(owed, pairs, strict=True)]


def remembered(method: Matchmaker) -> int:
    """How many of a version's last games this matchmaker looks at."""
    return int(method.options["repeat_last"])
