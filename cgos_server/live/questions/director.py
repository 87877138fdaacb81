"""All questions of the server: their games begin where slots are free, after those of events, and their ends are kept.

Decides which slots wait for games of questions. Must not know: who may ask what, likelihoods, wire formats, SQL.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import NamedTuple

import structlog

from cgos_protocol.api.questions import QuestionNow
from cgos_protocol.errors import Code, Conflict, NotFound
from cgos_protocol.games.base import Color
from cgos_protocol.ids import BotId, GameId, QuestionId, VersionId
from cgos_protocol.verdict import Reason
from cgos_server.core.questions.agreement import agrees
from cgos_server.core.questions.asked import Challenge, Change, State, encode_asked
from cgos_server.core.questions.course import Wanted
from cgos_server.core.questions.policy import Policy
from cgos_server.live.events.due_games import HARDLY_BEGUN, meanwhile
from cgos_server.live.games.live_game import LiveGame
from cgos_server.live.questions.game_terms import begins_with, question_terms
from cgos_server.live.questions.runner import QuestionRunner
from cgos_server.live.questions.shares import Shares
from cgos_server.live.venue.elsewhere import Elsewhere
from cgos_server.live.venue.live_venue import LiveVenue
from cgos_server.live.venue.player import Capacity, Player
from cgos_server.net.loop import Timekeeper
from cgos_server.service.holds import Hold
from cgos_server.service.ids import Ids
from cgos_server.service.questions.desk import Asking
from cgos_server.storage.reading.asking.questions import QuestionGameRow, QuestionRow
from cgos_server.storage.store import Store
from cgos_server.storage.writing.asking import QuestionAdded, QuestionGame, QuestionVersion
from cgos_server.storage.writing.records import Record

log = structlog.get_logger(__name__)

EVERY_S = 1.0
"""Questions are looked at so often, and whenever something happens."""

MOST_AT_ONCE = 4
"""Games that begin in one look; more begin in the next one, after these are committed."""

_READS = 3
"""So often the games of a question are read until each is settled."""

_NEEDED = "Somebody whom it needs is not signed in, or takes no games now."

_HOLDS = frozenset({Hold.QUESTION})

Moved = Callable[[QuestionRunner, Change, State], None]
"""Hears what happened to a question, and where it stands then, once that is committed."""


class _Pairing(NamedTuple):
    """Two who are to play a game of a question."""

    wanted: Wanted
    black: Player
    white: Player


class QuestionDirector:
    """One a server.

    :param policy: the limits as they are now
    :ivar runners: questions that have not ended, by number
    :ivar moved: hear of each change
    :ivar shares: how much of whose time questions take, by venue
    :ivar begun: venue -> games of questions that began since the start
    :ivar over: the same of those that have a result
    """

    def __init__(
        self,
        venues: Mapping[str, LiveVenue],
        store: Store,
        time: Timekeeper,
        ids: Ids,
        policy: Callable[[], Policy],
        elsewhere: Elsewhere | None = None,
    ) -> None:
        self.runners: dict[QuestionId, QuestionRunner] = {}
        self.moved: list[Moved] = []
        self._venues = venues
        self._store = store
        self._time = time
        self._ids = ids
        self._policy = policy
        self._elsewhere = elsewhere or Elsewhere()
        self.begun: Counter[str] = Counter()
        self.over: Counter[str] = Counter()
        self._games: dict[GameId, QuestionRunner] = {}
        self.shares = {name: Shares(policy().share, time.now()) for name in venues}
        self._kept: dict[Capacity, Player] = {}
        self._news = asyncio.Event()
        self._resuming = asyncio.Lock()  # or two would have one question at hand twice

    async def open(self) -> None:
        """Read every question that has not ended; what its games brought while nobody wrote it down is written now."""
        await self._store.commit([])  # games that could not be read back are void by now
        for row in await self._store.history.questions.open():
            if row.venue in self._venues:
                await self._read(row)
        for live in self._venues.values():
            live.context.ended.append(self.ended)
            live.context.arrived.append(lambda _version: self._news.set())

    async def _read(self, row: QuestionRow) -> QuestionRunner:
        live = self._venues[row.venue]
        runner = QuestionRunner(row, live.ratings.joint_ratings)
        games = await self._settled_games(row.id, live)
        for game in games:
            if game.reason is None:
                self._games[game.game_id] = runner
        for number in runner.read(games):
            stored = await self._store.history.games.stored(number)
            assert stored is not None
            assert stored.reason is not None
            winner = None if stored.winner is None else Color(stored.winner)
            moves = [move.move for move in stored.moves]
            self._store.submit(runner.over(number, stored.black_id, winner, reason=Reason(stored.reason), moves=moves))
        self.runners[row.id] = runner
        return runner

    async def _settled_games(self, question: QuestionId, live: LiveVenue) -> list[QuestionGameRow]:
        """Its games, each with its result or on a board here."""

        def is_settled(game: QuestionGameRow) -> bool:
            return game.reason is not None or live.roster.game(game.game_id) is not None

        for _ in range(_READS):
            games = await self._store.history.questions.games(question)
            if all(map(is_settled, games)):
                break
            await self._store.commit([])  # one has just ended, or begins: that is committed before this
        return [game for game in games if is_settled(game)]

    # -- what is asked of it (QuestionDesk)

    def ask(self, asking: Asking) -> QuestionId:
        """See :class:`cgos_server.service.questions.desk.QuestionDesk`."""
        live = self._live(asking.venue)
        added = QuestionAdded(
            id=self._ids.question(),
            venue_id=live.venue.id,
            owner_id=asking.owner_id,
            kind=asking.asked.kind,
            asked=encode_asked(asking.asked),
            asked_at=self._time.wall_ms(),
            priority=asking.priority,
            state=State.OPEN,
            ended_at=None,
            why="",
            answer="",
        )
        row = QuestionRow(venue=asking.venue, owner=asking.owner, **added._asdict())
        runner = self.runners[row.id] = QuestionRunner(row, live.ratings.joint_ratings)
        versions = (QuestionVersion(row.id, version) for version in runner.versions)
        self._submit(runner, Change.ASKED, [added, *versions])
        return row.id

    def stop(self, question: QuestionId, why: str) -> None:
        """See :class:`cgos_server.service.questions.desk.QuestionDesk`."""
        self._end(self._runner(question), State.STOPPED, why)

    async def resume(self, question: QuestionId) -> None:
        """See :class:`cgos_server.service.questions.desk.QuestionDesk`."""
        async with self._resuming:
            if question in self.runners:
                raise Conflict(Code.QUESTION_OPEN, f"Question {question} has not ended: games are played for it.")
            await self._store.commit([])
            row = await self._store.history.questions.numbered(question)
            self._live(row.venue)
            if row.state != State.STOPPED:
                why = row.why or row.state
                raise Conflict(Code.QUESTION_ENDED, f"Question {question} has ended: {why} Ask again.")
            runner = await self._read(row)
        self._submit(runner, Change.RESUMED, [runner.moved(State.OPEN, "", None)])

    def prioritize(self, question: QuestionId, priority: int) -> None:
        """See :class:`cgos_server.service.questions.desk.QuestionDesk`."""
        runner = self._runner(question)
        runner.priority = priority
        self._submit(runner, Change.PRIORITIZED, [runner.moved(State.OPEN, "", None)])

    def take_out(self, question: QuestionId, pairs: Collection[int]) -> None:
        """See :class:`cgos_server.service.questions.desk.QuestionDesk`."""
        runner = self.runners.get(question)
        if runner is not None:
            runner.tally.take_out(pairs)
            self._submit(runner, Change.RESULT, [runner.moved(State.OPEN, "", None)])

    def leave(self, bots: Collection[BotId]) -> None:
        """See :class:`cgos_server.service.questions.desk.QuestionDesk`."""
        for runner in list(self.runners.values()):
            live = self._venues[runner.venue]
            if any(live.roster.families.bot(version) in bots for version in runner.versions):
                self._end(runner, State.NOT_ANSWERED, "One of its bots has left the server.")

    def seen(self) -> list[QuestionNow]:
        """See :class:`cgos_server.service.questions.desk.QuestionDesk`."""
        return [
            QuestionNow(question=runner.id, waits=runner.waits, running=runner.tally.running)
            for runner in self.runners.values()
        ]

    def open_of(self, owner_id: int | None) -> int:
        """See :class:`cgos_server.service.questions.desk.QuestionDesk`."""
        return sum(runner.owner_id == owner_id for runner in self.runners.values())

    @property
    def policy(self) -> Policy:
        """See :class:`cgos_server.service.questions.desk.QuestionDesk`."""
        return self._policy()

    def accepted_by(self, venue: str, version: VersionId) -> Collection[str] | None:
        """See :class:`cgos_server.service.questions.desk.QuestionDesk`."""
        player = self._live(venue).roster.players.get(version)
        return None if player is None or player.session is None else player.limits.accepts

    def _runner(self, question: QuestionId) -> QuestionRunner:
        if question not in self.runners:
            raise NotFound(Code.NO_QUESTION, f"There is no question {question} that has not ended.")
        return self.runners[question]

    def _live(self, venue: str) -> LiveVenue:
        return self._elsewhere.require(self._venues, venue)

    # -- it goes on

    async def run(self) -> None:
        """For ever."""
        while True:
            try:
                async with asyncio.timeout(EVERY_S):
                    await self._news.wait()
            except TimeoutError:
                pass
            self._news.clear()
            try:
                self.look()
            except Exception as error:  # the games go on, and so do other questions
                log.error("our fault in questions", exc_info=error)

    def look(self) -> None:
        """Do what is due now."""
        now, wall = self._time.now(), self._time.wall_ms()
        for name, live in self._venues.items():
            self.shares[name].share = self._policy().share
            self.shares[name].look(live.roster.here(), self._taken(live), now)
        for runner in list(self.runners.values()):
            self._guarded(runner, partial(self._look_at, runner, wall))
        self._begin_games()

    def _guarded(self, runner: QuestionRunner, work: Callable[[], None]) -> None:
        """A fault in one question stops that one; the others go on."""
        try:
            work()
        except Exception as error:
            log.error("our fault in a question", question=runner.id, exc_info=error)
            self._end(runner, State.STOPPED, "The server failed. It can be resumed.")

    def _look_at(self, runner: QuestionRunner, wall: int) -> None:
        """Whether it has ended, or somebody is gone."""
        live = self._venues[runner.venue]
        end = runner.ended(len(live.venue.pairing.openings), wall)
        if end is not None:
            self._end(runner, *end)
            return
        opponents = runner.versions[1:]
        can_go_on = _could_soon(live.roster.players.get(runner.asked.version)) and (
            not opponents or any(self._plays_in(runner, live, version) for version in opponents)
        )
        if can_go_on:
            runner.gone_since = None
        elif runner.gone_since is None:
            runner.gone_since = wall
        elif wall - runner.gone_since > self._policy().patience_ms:
            hours = self._policy().patience_ms / 3_600_000
            why = f"A bot that it needs took no games of it for {hours:g} hours."
            self._end(runner, State.NOT_ANSWERED, why)

    def _end(self, runner: QuestionRunner, state: State, why: str) -> None:
        if self.runners.pop(runner.id, None) is None:
            return
        at = self._time.wall_ms()
        self._submit(runner, Change.ENDED, [runner.moved(state, why, at)], state)
        log.info("a question has ended", question=runner.id, venue=runner.venue, state=state.value, why=why)

    def _submit(self, runner: QuestionRunner, change: Change, records: list[Record], state: State = State.OPEN) -> None:
        self._store.submit(records, partial(self._was_committed, runner, change, state))
        self._news.set()

    def _was_committed(self, runner: QuestionRunner, change: Change, state: State) -> None:
        for hear in self.moved:
            hear(runner, change, state)

    # -- games begin

    def _begin_games(self) -> None:
        """Begin what can begin, and keep slots for what is next."""
        begun = 0
        kept: dict[Capacity, Player] = {}
        for runner in self._in_turn():
            if self._venues[runner.venue].matchmaker.holds:
                runner.waits = "The venue pairs nobody now."
                continue
            before = len(self._games)
            self._guarded(runner, partial(self._begin_of, runner, kept, MOST_AT_ONCE - begun))
            begun += len(self._games) - before
        self._keep(kept)

    def _begin_of(self, runner: QuestionRunner, kept: dict[Capacity, Player], most: int) -> None:
        """Begin up to so many of its games; who is free waits for the next one."""
        live = self._venues[runner.venue]
        for _ in range(most):
            pairing = self._next(runner, live, kept)
            if pairing is None:
                return
            self._begin(runner, live, pairing)

    def _in_turn(self) -> list[QuestionRunner]:
        """Those for which games are played, in the order in which they get slots: of whom least is played now first,
        then by priority and age."""
        policy, running = self._policy(), Counter[int | None]()
        turns: list[QuestionRunner] = []
        of_owner: Counter[int | None] = Counter()
        for runner in self.runners.values():
            running[runner.owner_id] += runner.tally.running
        for runner in sorted(self.runners.values(), key=lambda one: (-one.priority, one.id)):
            of_owner[runner.owner_id] += runner.gone_since is None  # who is gone keeps nobody's turn
            if runner.owner_id is not None and of_owner[runner.owner_id] > policy.running_per_owner:
                runner.waits = f"It waits for its turn: {policy.running_per_owner} questions of an account run at once."
                continue
            turns.append(runner)
        return sorted(turns, key=lambda one: (running[one.owner_id], -one.priority, one.id))

    def _next(self, runner: QuestionRunner, live: LiveVenue, kept: dict[Capacity, Player]) -> _Pairing | None:
        """A game of it that can begin now; None: there is none, and who is free waits for the first of those that are
        wanted, where its time allows."""
        able = self._able(runner, live)
        openings = live.venue.pairing.openings.names
        runner.waits = ""
        waits = ""
        for wanted in runner.wanted(openings, able):
            black, white = self._players(runner, live, wanted)
            if black is None or white is None:
                waits = waits or _NEEDED
                continue
            pairing = _Pairing(wanted, black, white)
            both = black, white
            if not all(self._may(live, player) for player in both):
                waits = waits or "Its bots have spent their share of time on questions, and play on the ladder first."
                continue
            if all(_is_free(player, kept) for player in both):
                return pairing
            if not waits:
                waits = "Its bots play other games, which end first."
                self._wait_for(live, pairing, kept)
        nobody = _NEEDED if runner.versions[1:] else "Nobody who accepts such games is free now."
        runner.waits = waits or ("" if runner.tally.running else nobody)
        return None

    def _wait_for(self, live: LiveVenue, pairing: _Pairing, kept: dict[Capacity, Player]) -> None:
        since = round(self._time.wall_ms() - HARDLY_BEGUN * live.lengths.mean_ms)
        others = meanwhile(pairing.black, pairing.white, since)
        for player in (pairing.black, pairing.white):
            if player not in others:
                kept.setdefault(player.capacity, player)

    def _players(self, runner: QuestionRunner, live: LiveVenue, wanted: Wanted) -> tuple[Player | None, Player | None]:
        """Black and White, as far as they are here and could soon play."""
        who = [runner.asked.version, wanted.opponent]
        if wanted.color is Color.WHITE:
            who.reverse()
        black, white = (live.roster.players.get(version) for version in who)
        return black if _could_soon(black) else None, white if _could_soon(white) else None

    def _able(self, runner: QuestionRunner, live: LiveVenue) -> Collection[VersionId]:
        """Opponents who are here and agree; of a challenge to whoever accepts, all such."""
        asked = runner.asked
        if isinstance(asked, Challenge) and asked.against is None:
            subject = live.roster.families.bot(asked.version)
            asking = live.roster.players.get(asked.version)
            return {
                player.version
                for player in live.roster.here()
                if player.bot != subject
                and _is_free(player, {})
                and not _avoid(player, asking)
                and agrees(player.limits.accepts, asker=runner.owner, bot=live.roster.names[asked.version])
            }
        return {version for version in runner.versions[1:] if self._plays_in(runner, live, version)}

    def _plays_in(self, runner: QuestionRunner, live: LiveVenue, version: VersionId) -> bool:
        """Whether an opponent is here and held by nothing that lasts, and still agrees where it is somebody else's."""
        player = live.roster.players.get(version)
        if player is None or not _could_soon(player):
            return False
        if version not in runner.asked.foreign:
            return True
        return agrees(player.limits.accepts, asker=runner.owner, bot=live.roster.names[runner.asked.version])

    def _may(self, live: LiveVenue, player: Player) -> bool:
        return self.shares[live.venue.name].allow(player, self._time.now(), live.venue.pairing.interval)

    def _begin(self, runner: QuestionRunner, live: LiveVenue, pairing: _Pairing) -> None:
        wanted = pairing.wanted
        terms = question_terms(live.venue, runner.asked)

        def also(game: GameId) -> list[Record]:
            runner.began(game, wanted)
            self._games[game] = runner
            return [QuestionGame(game, runner.id, wanted.pair, wanted.opening)]

        live.matchmaker.arrange(
            black=pairing.black,
            white=pairing.white,
            terms=terms,
            moves=begins_with(live.venue, terms, wanted.opening),
            why=f"Question {runner.id}, a {runner.asked.kind}: pair {wanted.pair}.",
            also=also,
            question=runner.id,
        )
        self._store.submit([], partial(self._has_begun, live.venue.name))

    def _has_begun(self, venue: str) -> None:
        self.begun[venue] += 1
        self._news.set()

    def _keep(self, kept: dict[Capacity, Player]) -> None:
        """These slots wait for games of questions, and no others."""
        for capacity in self._kept.keys() - kept.keys():
            capacity.asked = 0
        for capacity in kept:
            capacity.asked = 1
        self._kept = kept

    def _taken(self, live: LiveVenue) -> Counter[VersionId]:
        """Slots that games of questions have, or that wait for one."""
        taken: Counter[VersionId] = Counter()
        for number in self._games:
            game = live.roster.game(number)
            if game is not None:
                taken.update(side.version for side in game.sides)
        for player in self._kept.values():
            if live.roster.players.get(player.version) is player:
                taken[player.version] += player.capacity.used < player.capacity.slots
        return taken

    # -- games end

    def ended(self, game: LiveGame) -> None:
        """A game of some venue has ended: where it is one of a question, that goes on."""
        runner, over = self._games.pop(game.id, None), game.over
        if runner is None or over is None:
            return
        black = game.sides[Color.BLACK].version
        records = runner.over(game.id, black, over.winner, reason=Reason(over.reason), moves=game.moves())
        self.over[runner.venue] += bool(records)
        if runner.id in self.runners:
            self._submit(runner, Change.RESULT, records)
        else:
            self._store.submit(records)


def _avoid(one: Player, other: Player | None) -> bool:
    """Whether one of them does not want to meet the other; who was named is met all the same, having agreed."""
    return other is not None and (other.name in one.limits.avoid or one.name in other.limits.avoid)


def _could_soon(player: Player | None) -> bool:
    """True where it is here, and nothing keeps it from a game that does not pass by itself."""
    return player is not None and player.session is not None and player.awaited


def _is_free(player: Player, kept: Mapping[Capacity, Player]) -> bool:
    """True where a game of a question could begin; not in a slot that waits for a game of an event, or of a question
    before this one."""
    capacity = player.capacity
    others = capacity in kept
    return player.holds <= _HOLDS and capacity.used + capacity.kept + others < capacity.slots
