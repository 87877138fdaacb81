"""One venue's matchmaker: has its pairing passes decided, records why, and has the games begun.

When to pair and whom is decided by :mod:`cgos_server.core.pairing`; here is only the doing. Must not know: how ratings
or pairs are computed, wire formats, SQL.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import structlog

from cgos_protocol.event_news import Occasion
from cgos_protocol.ids import GameId, QuestionId, VersionId
from cgos_protocol.terms import Terms
from cgos_protocol.verdict import Reason
from cgos_server.core.pairing.base import Matchmaker, Pair, Pairing, PairingPass
from cgos_server.core.pairing.constraints import Kin
from cgos_server.core.pairing.explain import encode_inputs
from cgos_server.core.pairing.listed import SECOND_GAMES, AsListed
from cgos_server.core.pairing.registry import matchmaker
from cgos_server.core.pairing.rolling import due
from cgos_server.core.venue import PairingSettings
from cgos_server.live.games.live_game import LiveGame, VenueContext
from cgos_server.live.pairing.candidates import CandidateCollector
from cgos_server.live.pairing.executor import Decided, PairingExecutor
from cgos_server.live.pairing.game_starter import SLICE, GameStarter, Prepared
from cgos_server.live.pairing.openings import Openings, Owed
from cgos_server.live.venue.player import Player
from cgos_server.live.venue.roster import Roster
from cgos_server.service.holds import Hold
from cgos_server.service.ids import Ids
from cgos_server.storage.reading.stored import StoredGame, StoredMove
from cgos_server.storage.writing.records import Record, RoundAdded

log = structlog.get_logger(__name__)

_REPAIRS = 3
"""How often those whose partner went while a decision was being made are paired anew."""


class VenueMatchmaker:
    """Pairs the idle bots of one venue, for ever.

    :param new_seed: gives the seed of the next pass
    :ivar holds: why nobody is paired in the venue: an operator has paused it, the server stops
    """

    def __init__(
        self,
        context: VenueContext,
        roster: Roster,
        collector: CandidateCollector,
        starter: GameStarter,
        executor: PairingExecutor,
        openings: Openings,
        ids: Ids,
        new_seed: Callable[[], int],
    ) -> None:
        self.holds: set[Hold] = set()
        self._context = context
        self._roster = roster
        self._collector = collector
        self._starter = starter
        self._executor = executor
        self._openings = openings
        self._ids = ids
        self._new_seed = new_seed
        self._settings = context.venue.pairing
        self._method: Matchmaker = matchmaker(self._settings.method, self._settings.options)

    def configure(self, settings: PairingSettings) -> None:
        """Pair by these settings from the next pass on. Raises Refused where the method objects."""
        self._method = matchmaker(settings.method, settings.options)
        self._settings = settings
        self._collector.memory.keep(remembered(self._method))

    async def run(self) -> None:
        """A pairing pass every `interval`, until cancelled. A fault in one is reported; the other venues play on."""
        while True:
            await asyncio.sleep(self._settings.interval / 1e6)
            try:
                await self.run_pass()
            except Exception as error:
                log.error("our fault in pairing", venue=self._context.venue.name, exc_info=error)

    async def run_pass(self) -> None:
        """Pair whoever can be paired now; returns when the round was handed to the store."""
        idle = self._roster.idle()
        if self.holds or not due(self._settings.policy, len(idle), self._roster.begun()):
            return
        owed, busy, rest = self._owed(idle)
        if owed:
            try:
                await self._second_games(owed, busy)
            except Exception as error:  # they would come first in every pass to come
                log.error("our fault in second games of openings", venue=self._context.venue.name, exc_info=error)
        for _ in range(1 + _REPAIRS):
            rest = [player for player in rest if player.available]  # nobody held them so far
            if len(rest) < 2 or self.holds:
                return
            rest = await self._decide(rest)

    def restored(self, game: LiveGame) -> None:
        """A game was read back after a restart."""
        self._collector.memory.restored(game.sides[0].version, game.sides[1].version)

    def lost(self, game: StoredGame) -> None:
        """A game could not be read back after a restart."""
        self._openings.undone(game.black_id, game.white_id, game.opening, game.started_at)

    def ended(self, game: LiveGame) -> None:
        """A game of this venue has ended."""
        memory = self._collector.memory
        if game.over is not None and game.over.reason in (Reason.VOID, Reason.ABORT):
            memory.undone(game.sides[0].version, game.sides[1].version)
            return
        for side, thought in zip(game.sides, game.thought, strict=True):
            memory.thought(side.version, thought)
        self._collector.ended(sum(game.thought))

    def arrange(
        self,
        black: Player,
        white: Player,
        terms: Terms,
        moves: Sequence[StoredMove],
        why: str,
        also: Callable[[GameId], list[Record]] = lambda _game: [],
        occasion: Occasion | None = None,
        question: QuestionId | None = None,
    ) -> GameId:
        """Let these two play now, by an operator's wish, in an event or for a question; the game's number.

        It begins after `moves`, once it is committed. Raises OurFault where `moves` cannot be played under `terms`.

        :param also: what is committed together with it, after it
        :param occasion: the event that it is played in
        :param question: the question that it is played for
        """
        at = self._context.time.wall_ms()
        prepared = self._starter.arranged(black=black, white=white, terms=terms, moves=moves, at=at, why=why)
        prepared.game.occasion, prepared.game.question = occasion, question
        for player in (black, white):
            player.consider()
            player.choose()
            self._collector.plays(player.version)
        prepared.records.extend(also(prepared.game.id))
        self._starter.submit([], [prepared], at)
        return prepared.game.id

    async def preview(self, method: str | None, options: Mapping[str, Any]) -> Preview:
        """What a pass would decide now; nothing comes of it.

        :param method: another matchmaker, or None for the venue's own
        :param options: on top of the method's defaults, or of the venue's own options where it is the venue's method
        :raises Refused: where name or options are unknown
        """
        settings = self._settings
        own = settings.options if method in (None, settings.method) else {}
        chosen = matchmaker(method or settings.method, {**own, **options})
        owed, busy, rest = self._owed(self._roster.idle())
        listed = await self._collector.pairing_pass(_listed(owed, busy), settings.policy, choosing=False)
        pairing_pass = await self._collector.pairing_pass(rest, settings.policy)
        seed = self._new_seed()
        decided = await self._executor.decide(chosen.name, chosen.options, pairing_pass, seed)
        return Preview(
            method=chosen,
            pairing_pass=pairing_pass,
            seed=seed,
            decided=decided,
            listed=listed,
            second=_settled(owed, listed),
        )

    def _owed(self, idle: Sequence[Player]) -> tuple[list[Owed], dict[VersionId, Player], list[Player]]:
        """The second games that can be played now, whose they are, and who is left for other games."""
        ready, options = {player.version: player for player in idle}, self._method.options
        owed = self._openings.owed(
            ready.keys(),
            self._settings.openings,
            self._context.time.wall_ms(),
            lambda black, white: self._may_meet(ready[black], ready[white], options),
        )
        busy = {version: ready.pop(version) for one in owed for version in (one.black, one.white)}
        return owed, busy, list(ready.values())

    def _may_meet(self, one: Player, other: Player, options: Mapping[str, Any]) -> bool:
        """False where two who owe each other a game are forbidden to meet by now, or one's owner avoids the other."""
        families = self._collector.families
        owner = options["same_owner"] == Kin.FORBIDDEN and one.bot == other.bot
        family = options["same_family"] == Kin.FORBIDDEN and families.leader(one.bot) == families.leader(other.bot)
        return not (owner or family or other.name in one.limits.avoid or one.name in other.limits.avoid)

    async def _decide(self, players: list[Player]) -> list[Player]:
        """One pass among `players`; who of them lost its partner while it was being decided, with whom they could meet.

        Nobody else gives them a game meanwhile.
        """
        method, settings = self._method, self._settings
        started = self._context.time.now()
        for player in players:
            player.consider()
        try:
            pairing_pass = await self._collector.pairing_pass(players, settings.policy)
            seed = self._new_seed()
            decided = await self._executor.decide(method.name, method.options, pairing_pass, seed)
            if self.holds:
                return []
            widowed = await self._play_chosen(
                decided, settings, method=method, seed=seed, players={one.version: one for one in players}
            )
        finally:
            self._roster.let_go(players)
        self._context.meter.paired(settings.policy.value, self._context.time.now() - started)
        if not widowed:
            return []
        left = [player for player in players if player.version in decided.pairing.sits_out and player.available]
        return [*widowed, *left]

    async def _play_chosen(
        self,
        decided: Decided,
        settings: PairingSettings,
        *,
        method: Matchmaker,
        seed: int,
        players: Mapping[VersionId, Player],
    ) -> list[Player]:
        """Play what was decided; who lost its partner meanwhile."""
        rng = random.Random(seed ^ 1)
        widowed: list[Player] = []

        def game_of(round_id: int, at: int, pair: Pair) -> Prepared | None:
            both = players[pair.high], players[pair.low]
            if not all(player.could_play for player in both):
                widowed.extend(player for player in both if player.could_play)
                return None
            opening = self._openings.first(settings.openings, settings.openings_share, rng)
            return self._starter.pair(round_id, pair, players=players, at=at, opening=opening, rng=rng)

        record = partial(
            RoundAdded,
            policy=settings.policy.value,
            method=method.name,
            options=json.dumps(dict(method.options)),
            seed=str(seed),
        )
        await self._play(decided, players, game_of=game_of, record=record)
        return widowed

    async def _second_games(self, owed: Sequence[Owed], players: Mapping[VersionId, Player]) -> None:
        """Play the second games of openings, with colors swapped: a round of their own, in which nothing is chosen."""
        listed = _listed(owed, players)
        for player in listed:
            player.consider()
        try:
            pairing_pass = await self._collector.pairing_pass(listed, self._settings.policy, choosing=False)
            if not self.holds:
                await self._play_second_games(owed, players, pairing_pass)
        finally:
            self._roster.let_go(listed)

    async def _play_second_games(
        self, owed: Sequence[Owed], players: Mapping[VersionId, Player], pairing_pass: PairingPass
    ) -> None:
        by_version = {version: one for one in owed for version in (one.black, one.white)}

        def game_of(round_id: int, at: int, pair: Pair) -> Prepared | None:
            one = by_version[pair.high]
            if not (players[one.black].could_play and players[one.white].could_play):
                return None
            return self._starter.second(round_id, pair, black=one.black, players=players, at=at, opening=one.opening)

        record = partial(RoundAdded, policy=pairing_pass.policy.value, method=SECOND_GAMES, options="{}", seed="0")
        await self._play(
            Decided(Pairing(pairs=_settled(owed, pairing_pass)), encode_inputs(pairing_pass)),
            players,
            game_of=game_of,
            record=record,
        )

    async def _play(
        self,
        decided: Decided,
        players: Mapping[VersionId, Player],
        *,
        game_of: Callable[[int, int, Pair], Prepared | None],
        record: Callable[..., RoundAdded],
    ) -> None:
        """Turn a decision into games, and submit them with their round as one group.

        :param game_of: the game of a pair, by the round's number and time (Unix ms); None where it cannot be played
            any more
        :param record: of the round, with everything that its decision does not hold
        """
        pairing, inputs = decided
        round_id, at = self._ids.round(), self._context.time.wall_ms()
        prepared: list[Prepared] = []
        for count, pair in enumerate(pairing.pairs, 1):
            game = game_of(round_id, at, pair)
            if game is not None:
                prepared.append(game)
            if count % SLICE == 0:
                await asyncio.sleep(0)
        if not prepared or self.holds:
            return
        playing = [side.version for one in prepared for side in one.game.sides]
        self._collector.decided(playing, [version for version in pairing.sits_out if players[version].could_play])
        for version in playing:
            players[version].choose()
        added = record(
            id=round_id,
            venue_id=self._context.venue.id,
            number=self._collector.number,
            at=at,
            inputs=inputs,
            sits_out=json.dumps({str(version): why for version, why in pairing.sits_out.items()}),
            notes=json.dumps(list(pairing.notes)),
            total=pairing.total,
        )
        self._starter.submit([added], prepared, at)


class Preview(NamedTuple):
    """What a pairing pass would decide.

    :ivar listed: those who owe each other the second game of an opening, which comes before everything else
    :ivar second: their pairs
    """

    method: Matchmaker
    pairing_pass: PairingPass
    seed: int
    decided: Decided
    listed: PairingPass
    second: Sequence[Pair]


def _listed(owed: Sequence[Owed], players: Mapping[VersionId, Player]) -> list[Player]:
    return [players[version] for one in owed for version in (one.black, one.white)]


def _settled(owed: Sequence[Owed], listed: PairingPass) -> list[Pair]:
    """The pairs of second games, in the order of `owed`."""
    pairs = AsListed().pair(listed, random.Random(0)).pairs
    return [pair._replace(reason=one.why) for one, pair in zip(owed, pairs, strict=True)]


def remembered(method: Matchmaker) -> int:
    """How many of a version's last games this matchmaker looks at."""
    return int(method.options["repeat_last"])
