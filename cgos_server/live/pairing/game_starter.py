"""Turns pairs into games: who takes Black, from which opening, with which records; and brings them to their boards once
they are committed.

Must not know: how pairs are made, wire formats, SQL.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import structlog

from cgos_protocol.facts import GameStarted
from cgos_protocol.ids import VersionId
from cgos_protocol.openings import Opening
from cgos_protocol.randomness import Rng
from cgos_protocol.referee import Referee
from cgos_protocol.terms import Terms, encode_terms
from cgos_server.core.pairing.base import Pair
from cgos_server.core.pairing.fairness import Colors, colors
from cgos_server.core.pairing.memory import Memory
from cgos_server.core.pairing.methods.entropy import result_bits
from cgos_server.core.venue import terms_of
from cgos_server.live.games.live_game import LiveGame, Side, VenueContext
from cgos_server.live.pairing.openings import Openings
from cgos_server.live.venue.lobby import Lobby
from cgos_server.live.venue.player import Player
from cgos_server.live.venue.roster import Roster
from cgos_server.service.ids import Ids
from cgos_server.storage.reading.stored import StoredMove
from cgos_server.storage.writing.records import GameAdded, MoveAdded, PairingAdded, Record

log = structlog.get_logger(__name__)

SLICE = 16
"""Games begun before the loop gets a turn."""


class Prepared(NamedTuple):
    """A game that is about to be committed, with its records.

    :ivar bits: what its result is expected to tell, the entropy of what is expected of it
    """

    game: LiveGame
    records: list[Record]
    bits: float


class GameStarter:
    """Of one venue.

    :param paces: version -> its pace now; see :class:`cgos_server.core.pairing.base.Candidate`
    """

    def __init__(
        self,
        context: VenueContext,
        roster: Roster,
        lobby: Lobby,
        ids: Ids,
        memory: Memory,
        openings: Openings,
        paces: Callable[[], Mapping[VersionId, float]],
    ) -> None:
        self._context = context
        self._roster = roster
        self._lobby = lobby
        self._ids = ids
        self._memory = memory
        self._openings = openings
        self._paces = paces

    def pair(
        self, round_id: int, pair: Pair, players: Mapping[VersionId, Player], at: int, opening: Opening | None, rng: Rng
    ) -> Prepared:
        """The game of a pair of a pairing pass; `rng` decides colors where nothing else does."""
        return self._paired(round_id, pair, chosen=self._colors(pair, rng), players=players, at=at, opening=opening)

    def second(
        self,
        round_id: int,
        pair: Pair,
        black: VersionId,
        players: Mapping[VersionId, Player],
        at: int,
        opening: Opening,
    ) -> Prepared:
        """The second game of a pair that has played the opening the other way round; `black` is the version."""
        white = pair.low if black == pair.high else pair.high
        why = Colors(black, white, "The other way round than in the first game of the opening.")
        return self._paired(round_id, pair, chosen=why, players=players, at=at, opening=opening)

    def arranged(
        self, black: Player, white: Player, terms: Terms, moves: Sequence[StoredMove], at: int, why: str
    ) -> Prepared:
        """A game by an operator's wish, beginning after `moves`. Raises OurFault where they cannot be played."""
        game, records = self._game(None, black=black, white=white, terms=terms, moves=moves, at=at, why=why, opening="")
        return Prepared(game, records, result_bits(self._context.rater.ratings.predict(black.version, white.version)))

    def begin(self, prepared: Sequence[Prepared], at: int) -> None:
        """They are committed: bring the players to their boards, a few at a time. `at`: when, in Unix ms."""
        context = self._context
        paces = self._paces()
        for game, _, bits in prepared[:SLICE]:
            black, white = game.sides
            self._memory.began(black.version, white.version, paces)
            if game.opening:
                self._openings.began(black.version, white.version, game.opening, at)
            now = context.time.now()
            for side in game.sides:
                context.meter.wait.observe(now - self._roster.player(side.version).ready_since)
            self._lobby.began(game)
            context.meter.started_games += 1
            context.meter.information_bits += bits
            log.debug("game began", game=game.id, venue=context.venue.name, black=black.name, white=white.name)
            context.bus.publish(
                GameStarted(
                    venue=context.venue.name,
                    game=game.id,
                    black=black.name,
                    white=white.name,
                    at=at / 1000,
                    black_label=black.label,
                    white_label=white.label,
                )
            )
        if rest := prepared[SLICE:]:
            context.time.call_at(context.time.now(), self.begin, rest, at)

    def submit(self, records: list[Record], prepared: Sequence[Prepared], at: int) -> None:
        """Commit `records` and the games, and begin them then."""
        for one in prepared:
            records += one.records
        self._context.store.submit(records, partial(self.begin, prepared, at))

    def _paired(
        self,
        round_id: int,
        pair: Pair,
        chosen: Colors,
        players: Mapping[VersionId, Player],
        at: int,
        opening: Opening | None,
    ) -> Prepared:
        terms = terms_of(self._context.venue)
        moves = [] if opening is None else [StoredMove(move, clock) for move, clock in opening.stored(terms)]
        name = "" if opening is None else opening.name
        detail = dict(pair.detail) | self._seen(pair, chosen)
        game, records = self._game(
            round_id,
            black=players[chosen.black],
            white=players[chosen.white],
            terms=terms,
            moves=moves,
            at=at,
            why=pair.reason,
            opening=name,
        )
        records.insert(
            1,
            PairingAdded(
                game_id=game.id,
                round_id=round_id,
                high_id=pair.high,
                low_id=pair.low,
                reason=pair.reason,
                colors=chosen.why,
                detail=json.dumps(detail),
            ),
        )
        return Prepared(game, records, detail["bits"])

    def _game(
        self,
        round_id: int | None,
        black: Player,
        white: Player,
        terms: Terms,
        moves: Sequence[StoredMove],
        at: int,
        why: str,
        opening: str,
    ) -> tuple[LiveGame, list[Record]]:
        context = self._context
        first, second = (
            Side(player.version, player.name, context.rater.label(player.version)) for player in (black, white)
        )
        game = LiveGame(
            game_id=self._ids.game(),
            context=context,
            referee=Referee(terms),
            black=first,
            white=second,
            started_at=at,
            why=why,
            opening=opening,
        )
        if moves:
            game.continues(moves)
        records: list[Record] = [
            GameAdded(
                id=game.id,
                venue_id=context.venue.id,
                round_id=round_id,
                black_id=black.version,
                white_id=white.version,
                black_label=first.label,
                white_label=second.label,
                terms=encode_terms(terms),
                start="",
                started_at=at,
                opening=opening,
            ),
            *(MoveAdded(game.id, ply, move.move, *move.clock, 0, at) for ply, move in enumerate(moves, 1)),
        ]
        return game, records

    def _colors(self, pair: Pair, rng: Rng) -> Colors:
        return colors(pair.high, pair.low, as_black=self._memory.as_black, balance=self._memory.balance, rng=rng)

    def _seen(self, pair: Pair, chosen: Colors) -> dict[str, Any]:
        """For the record: what the colors were decided by, and what was expected of the game."""
        high, low, memory = pair.high, pair.low, self._memory
        outcome = self._context.rater.ratings.predict(chosen.black, chosen.white)
        expected = outcome.score if chosen.black == high else 1.0 - outcome.score
        return {
            "as_black": [memory.as_black(high, low), memory.as_black(low, high)],
            "balance": [memory.balance(high), memory.balance(low)],
            "expected": round(expected, 4),
            "bits": round(result_bits(outcome), 4),
        }
