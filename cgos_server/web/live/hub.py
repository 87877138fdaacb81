"""What happens now, as the web process knows it: facts come in from the game process, and wake whoever streams.

Facts are doorbells: moves are read from the database, where their clocks and analyses are, in one query for all games
that somebody watches, however many watch. Must not know: HTTP, where facts come from.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from functools import partial
from typing import Final, NamedTuple

import msgspec
import structlog

from cgos_protocol.api.games import Game
from cgos_protocol.api.live import LiveGame, VenueGames
from cgos_protocol.errors import Code, NotFound, OurFault, Refused, StoreError
from cgos_protocol.facts import AnyFact, GameEnded, GameStarted, MovePlayed
from cgos_protocol.ids import GameId
from cgos_server.presentation.settings import WebSettings
from cgos_server.presentation.stored_game import terms_and_start
from cgos_server.storage.reading.game_answers import GameTerms
from cgos_server.storage.reading.history import History
from cgos_server.web.live.bell import Bell, rang
from cgos_server.web.live.board import Board
from cgos_server.web.live.framing import Message, message
from cgos_server.web.live.news import News

log = structlog.get_logger(__name__)

LINGER_MS: Final = 2000
"""So long a board is kept that nobody watches any more: those who come again find it, and need not read it again."""

TICK_S: Final = 0.1
"""What happens within so long is told together."""

SLOWEST_TICK_S: Final = 0.5
"""The same while the process cannot keep up: fewer and larger portions cost less."""

POLL_S: Final = 30.0
"""Everything watched is read again so often, whatever rang."""

BOARDS: Final = 48
"""Running games whose moves are in a picture, the newest."""

_LOSSES_MS: Final = 2000
"""However often something is lost, everything is read again no more often than this: who is overrun already would be so
all the more."""

_UNREAD: Final = 50_000
"""Facts that may wait while the database does not answer; with more of them all are lost."""

_SAID: Final = 1000
"""Games of which it is remembered that they were complained of."""

_PICTURE_MS: Final = 2000
"""A picture is handed out for so long; what happened since follows it anyway."""


class Picture(NamedTuple):
    """What runs, and the place in the news from which to go on."""

    games: Message
    place: int
    at: int


class Hub:
    """One an application.

    :ivar news: what the venues' streams read
    :ivar bell: rung when there is more of it
    :ivar followers: streams that follow the moves of a venue
    :ivar stopping: all streams are to end
    """

    def __init__(self, history: History, settings: WebSettings, now_ms: Callable[[], int]) -> None:
        """`now_ms`: Unix time in milliseconds."""
        self._history = history
        self._settings = settings
        self._now_ms = now_ms
        delays = {venue: settings.delay_ms(venue) for venue in settings.venues}
        self.news = News(secrets.token_hex(4), delays)
        self.bell = Bell()
        self.stopping = False
        self._boards: dict[GameId, Board | None] = {}
        self._loading: dict[GameId, asyncio.Lock] = {}
        self._rung: set[GameId] = set()
        self._ended: set[GameId] = set()
        self.followers = 0
        self._lost = True  # whatever happened before this process began
        self._began = False
        self._polling = False
        self._unreadable: set[GameId] = set()
        self._after_ms = 0
        self._facts: list[AnyFact] = []
        self._wake = Bell()
        self._stopped = asyncio.Event()
        self._pictures: dict[tuple[str | None, bool], Picture] = {}
        self._picturing = asyncio.Lock()
        self._starts: dict[GameId, LiveGame] = {}

    def heard(self, fact: AnyFact | None) -> None:
        """The next fact; None where some were lost on the way. Returns at once."""
        if fact is None or len(self._facts) >= _UNREAD:
            self._lost = True
            self._facts.clear()
        if fact is not None:
            self._facts.append(fact)
            if isinstance(fact, MovePlayed | GameEnded) and fact.game in self._boards:
                (self._ended if isinstance(fact, GameEnded) else self._rung).add(fact.game)
        self._wake.ring()

    async def run(self) -> None:
        """Look whenever something rang, until :meth:`stop`."""
        clock = asyncio.get_running_loop().time
        tick = TICK_S
        while not self.stopping:
            wake = self._wake.listen()
            try:
                await self.look()
            except StoreError as error:
                log.warning("live boards cannot be read just now", error=str(error))
                await rang(self._stopped, 1.0)
                continue
            due = self._next_due()
            wait = POLL_S if due is None else min(max(0.0, (due - self._now_ms()) / 1000), POLL_S)
            if not await rang(wake, wait) and wait == POLL_S:
                self._polling = True
            due_at = clock() + tick
            await asyncio.sleep(0 if self.stopping else tick)
            tick = min(2 * tick, SLOWEST_TICK_S) if clock() - due_at > TICK_S / 2 else max(0.8 * tick, TICK_S)

    def stop(self) -> None:
        """All streams end, and :meth:`run` returns."""
        self.stopping = True
        self._stopped.set()
        self._wake.ring()
        self.bell.ring()
        for board in self._boards.values():
            if board is not None:
                board.bell.ring()

    async def look(self) -> None:
        """Read and tell what there is, and forget what nobody watches. Raises StoreError; nothing is lost by it."""
        self._forget()
        if self._lost and self._now_ms() >= self._after_ms:
            await self._after_loss()
        elif self._polling:
            await self._compare()
            self._polling = False
        if not self._lost:
            await self._publish()
        # What is being read for the first time just now may have missed what rang: its turn is the next one.
        loading = {game for game, board in self._boards.items() if board is None}
        ended, self._ended = self._ended - loading, self._ended & loading
        rung, self._rung = self._rung - ended - loading, self._rung & loading
        try:
            await self._read_moves(rung)
            for game in ended:
                await self._read_end(game)
        except BaseException:
            self._rung |= rung
            self._ended |= ended
            raise
        now = self._now_ms()
        for board in self._boards.values():
            if board is not None:
                board.release(now)

    @contextlib.asynccontextmanager
    async def watching(self, game: GameId) -> AsyncIterator[Board]:
        """A game's board, kept up to date inside the block. Raises Refused (``no-game``), StoreError, OurFault."""
        lock = self._loading.setdefault(game, asyncio.Lock())
        async with lock:
            board = self._boards.get(game)
            if board is None:
                # From here on facts about it ring, so that none falls between the reading and the watching.
                self._boards[game] = None
                try:
                    detail = await self._history.games.detail(game)
                    board = Board(detail, self._settings.delay_ms(detail.game.venue))
                except BaseException:
                    del self._boards[game]
                    raise
                board.release(self._now_ms())
                self._boards[game] = board
                self._wake.ring()
            board.viewers += 1
        try:
            yield board
        finally:
            board.viewers -= 1
            board.left_ms = self._now_ms()

    async def picture(self, venue: str | None, moves: bool) -> Picture:
        """What runs in one venue or (None) in all, with the moves of the newest games where they are asked for.

        Shared by all who come at about the same time. Raises StoreError.
        """
        key = (venue, moves)
        async with self._picturing:
            known = self._pictures.get(key)
            now = self._now_ms()
            if known is not None and 0 <= now - known.at < _PICTURE_MS and self.news.reaches(known.place):
                return known
            place = self.news.head
            games = await self.running(venue, moves)
            picture = Picture(message(VenueGames(tuple(games)), self.news.identity(place)), place, now)
            self._pictures[key] = picture
            return picture

    def _forget(self) -> None:
        now = self._now_ms()
        unwatched = [
            game
            for game, board in self._boards.items()
            if board is not None and not board.viewers and not 0 <= now - board.left_ms < LINGER_MS
        ]
        for game in unwatched:
            del self._boards[game]
            lock = self._loading.get(game)
            if lock is not None and not lock.locked():
                del self._loading[game]

    async def _publish(self) -> None:
        """Put what was heard into the news, games that have begun with their boards where anybody follows moves."""
        facts, self._facts = self._facts, []
        begun = [fact for fact in facts if isinstance(fact, GameStarted)] if self.followers else []
        try:
            boards = await self._given(begun[-BOARDS:])
        except BaseException:
            self._facts = facts + self._facts
            raise
        now, head = self._now_ms(), self.news.head
        for fact in facts:
            board = boards.get(fact.game) if isinstance(fact, GameStarted) else None
            self.news.add(fact, now, board)
        self.news.release(now)
        if self.news.head != head:
            self.bell.ring()

    async def _given(self, begun: Sequence[GameStarted]) -> dict[GameId, LiveGame]:
        """Games that have just begun, with the moves that were given. Raises StoreError."""
        rows = [
            Game(
                id=fact.game,
                venue=fact.venue,
                black=fact.black,
                white=fact.white,
                black_label=fact.black_label,
                white_label=fact.white_label,
                started_at=round(1000 * fact.at),
                ended_at=None,
                result=None,
                reason=None,
                moves=0,
                corrected=None,
                opening="",
            )
            for fact in begun
        ]
        return {game.game: game for game in await self._until(rows, lambda start: start.started_at)}

    async def _until(self, rows: Sequence[Game], latest: Callable[[LiveGame], int]) -> list[LiveGame]:
        """These games with the moves until a time of each (Unix milliseconds); without those that mean nothing.
        Raises StoreError."""
        starts = await self._beginnings(rows)
        played = await self._history.games.moves_after(dict.fromkeys(starts, 0)) if starts else {}
        games = []
        for game, start in starts.items():
            last = latest(start)
            shown = tuple(move.move for move in played.get(game, ()) if move.at <= last)
            games.append(msgspec.structs.replace(start, ply=len(shown), moves=shown))
        return games

    def _again(self) -> None:
        """Read everything that is watched."""
        self._rung |= {game for game, board in self._boards.items() if board is None or not board.over}

    async def _after_loss(self) -> None:
        self._lost = False  # something may be lost while this reads
        # Somebody may have been erased.
        self._history.forget_names()
        self._starts.clear()
        self._pictures.clear()
        for game in [game for game, board in self._boards.items() if board is not None and board.over]:
            del self._boards[game]  # whoever watches it keeps it
        try:
            await self._compare()
        except BaseException:
            self._lost = True
            raise
        # Another loss follows the one at the start at once: the server says that earlier facts are missing.
        self._after_ms = self._now_ms() + _LOSSES_MS if self._began else 0
        self._began = True
        self.news.lost(self._now_ms())
        self.bell.ring()

    async def _compare(self) -> None:
        """Ring for everything that is watched, and find out what has ended. Raises StoreError."""
        running = {row.id for row in await self._history.games.running()} if self._boards else set()
        self._again()
        self._ended |= {game for game in self._rung if game not in running}

    async def _read_moves(self, games: Iterable[GameId]) -> None:
        boards = {game: board for game in games if (board := self._boards.get(game)) is not None and not board.over}
        if not boards:
            return
        played = await self._history.games.moves_after({game: board.known for game, board in boards.items()})
        now = self._now_ms()
        for game, moves in played.items():
            self._continued(game, boards[game], partial(boards[game].add, moves, now))

    async def _read_end(self, game: GameId) -> None:
        board = self._boards.get(game)
        if board is None or board.over:
            return
        try:
            detail = await self._history.games.detail(game)
        except StoreError:
            raise  # nothing is wrong with the game: it is read again
        except (Refused, OurFault) as error:
            self._unread(game, error)
            board.fail()
            return
        if detail.game.result is not None:
            self._continued(game, board, partial(board.finish, detail))

    def _continued(self, game: GameId, board: Board, tell: Callable[[], None]) -> None:
        """What one game holds must not keep all others from going on."""
        try:
            tell()
        except Exception as error:
            self._unread(game, error)
            board.fail()

    def _unread(self, game: GameId, error: Exception) -> None:
        """Say it once."""
        if game not in self._unreadable:
            log.error("a game cannot be shown and is left out", game=game, error=str(error))
            self._unreadable.add(game)
            if len(self._unreadable) > _SAID:
                self._unreadable.clear()

    def _next_due(self) -> int | None:
        due = [board.next_due for board in self._boards.values() if board is not None and not board.over]
        due += [self.news.next_due, self._after_ms if self._lost else None]
        return min((at for at in due if at is not None), default=None)

    async def running(self, venue: str | None, moves: bool) -> list[LiveGame]:
        """Running games, newest first; with `moves` the newest `BOARDS`, each as far as it may be told.

        :raises Refused: there is no such venue
        :raises StoreError: the database does not answer
        """
        sizes = {row.name: int(row.fixed["size"]) for row in await self._history.server.venues()}
        if venue is not None and venue not in sizes:
            raise NotFound(Code.NO_VENUE, f"There is no venue {venue!r} on this server.")
        rows = await self._history.games.running(venue)
        if not moves:
            delayed = self._settings.delay_ms
            return [beginning_of(row, sizes[row.venue], None if delayed(row.venue) else row.moves) for row in rows]
        return await self.standing(rows[:BOARDS])

    async def standing(self, rows: Sequence[Game]) -> list[LiveGame]:
        """These games with their moves, as far as those may be told; without those that mean nothing. Raises
        StoreError."""

        def latest(start: LiveGame) -> int:
            # The moves of an opening are given with the game, and nothing rings for them.
            return max(self._now_ms() - self._settings.delay_ms(start.venue), start.started_at)

        return await self._until(rows, latest)

    async def _beginnings(self, rows: Sequence[Game]) -> dict[GameId, LiveGame]:
        """Game -> how it began, without its moves; in one question. Raises StoreError."""
        new = [row.id for row in rows if row.id not in self._starts]
        terms = await self._history.games.terms_of(new) if new else {}
        starts = {}
        for row in rows:
            start = self._starts.get(row.id)
            try:
                if start is None and row.id in terms:
                    start = _beginning(row, terms[row.id])
            except OurFault as error:
                self._unread(row.id, error)
            if start is not None:
                starts[row.id] = start
        self._starts = (self._starts if len(self._starts) < 4 * BOARDS else {}) | starts
        return starts


def _beginning(row: Game, agreed: GameTerms) -> LiveGame:
    """How a game began, without its moves. Raises OurFault where its stored terms mean nothing."""
    terms, start = terms_and_start(row.id, agreed.terms, agreed.start)
    live = beginning_of(row, terms.rules.size, 0)
    if start is None:
        return live
    return msgspec.structs.replace(
        live, to_play=start.to_play.letter, black_stones=start.black, white_stones=start.white
    )


def beginning_of(row: Game, size: int, ply: int | None) -> LiveGame:
    """A game by its row alone."""
    return LiveGame(
        game=row.id,
        venue=row.venue,
        size=size,
        black=row.black,
        white=row.white,
        black_label=row.black_label,
        white_label=row.white_label,
        started_at=row.started_at,
        ply=ply,
    )
