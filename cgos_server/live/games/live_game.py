"""One running game: takes moves, has them refereed and committed, and only then tells both sides.

Plain synchronous calls inside the event loop; the one asynchronous step is the commit. Between a move's arrival and
its commit no clock runs, so waiting for the disk is charged to nobody. Must not know: wire formats, SQL, how bots are
paired.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

import structlog

from cgos_protocol.clock import remaining_ms, start
from cgos_protocol.event_news import Occasion
from cgos_protocol.facts import GameEnded as GameEndedFact
from cgos_protocol.facts import MovePlayed
from cgos_protocol.games.base import Color, mover_of
from cgos_protocol.ids import GameId, QuestionId, VersionId
from cgos_protocol.referee import Played, Referee
from cgos_protocol.session import Fault, GameOver, GameSetup, RatingMoved, Table, Turn
from cgos_protocol.verdict import Reason, Verdict
from cgos_server.core.venue import Venue
from cgos_server.live.bus import FactBus
from cgos_server.live.games.phases import GAME, GamePhase, check
from cgos_server.live.games.result_delivery import ResultDelivery, game_ended
from cgos_server.live.ratings.rater import Rater
from cgos_server.live.signing_in.expected import Expected
from cgos_server.net.loop import Handle, Timekeeper
from cgos_server.observability.metrics import VenueMeter
from cgos_server.service.ratings.venue_ratings import Applied
from cgos_server.storage.reading.stored import StoredMove
from cgos_server.storage.store import Store
from cgos_server.storage.writing.records import AnalysisAdded, MoveAdded, Record

log = structlog.get_logger(__name__)

_EXPECTING_US: Final = 100_000
"""Between two looks whether a mover whose time is up has been let in."""

# What each move asks for, bound once: Python 3.11 looks a member up through its enum's metaclass.
_RUNNING: Final = GamePhase.RUNNING
_COMMITS_A_MOVE: Final = GamePhase.COMMITTING
_OVERRULED: Final = GamePhase.OVERRULED

_COMMITTING: Final = (GamePhase.COMMITTING, GamePhase.OVERRULED, GamePhase.ENDING)
_ENDING: Final = (GamePhase.OVERRULED, GamePhase.ENDING, GamePhase.OVER)


@dataclass(slots=True, kw_only=True)
class VenueContext:
    """What everything in one venue shares.

    :ivar venue: as configured now; a running game keeps the terms with which it began
    :ivar spawn: starts a coroutine in the server's task group
    :ivar expected: who is on the way in
    :ivar arrived: called with the version of whoever has signed in, before anybody can give it a game
    :ivar ended: called, in this order, once a game's end was committed and told
    """

    venue: Venue
    store: Store
    time: Timekeeper
    bus: FactBus
    rater: Rater
    meter: VenueMeter
    spawn: Callable[[Coroutine[Any, Any, None]], None]
    expected: Expected = field(default_factory=Expected)
    arrived: list[Callable[[VersionId], None]] = field(default_factory=list)
    ended: list[Callable[[LiveGame], None]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Side:
    """One player of a game: its version and how it was announced."""

    version: VersionId
    name: str
    label: str


class LiveGame:
    """A game from its commit to the commit of its verdict.

    :param why: why these two meet, for people
    :ivar opening: the name of the opening that it begins with, or empty
    :ivar started_at: Unix milliseconds
    :ivar occasion: the event that it is played in; None: it is none of an event
    :ivar question: the one that it is played for; None: for none
    :ivar over: how it ended, once that is committed; without anybody's rating
    :ivar flagged: the side that let its time run out and sent nothing
    :ivar thought: [Black's, White's] microseconds of thinking since the server started
    """

    def __init__(
        self,
        game_id: GameId,
        context: VenueContext,
        referee: Referee,
        black: Side,
        white: Side,
        started_at: int,
        why: str = "",
        opening: str = "",
    ) -> None:
        self.id = game_id
        self.referee = referee
        self.sides = (black, white)
        self.phase = GamePhase.SETTLING
        self.started_at = started_at
        self.opening = opening
        self.occasion: Occasion | None = None
        self.question: QuestionId | None = None
        self._context = context
        self._why = why
        self._tables: list[Table | None] = [None, None]
        self._moves: list[tuple[str, int]] = []
        # When each move was received (loop's clock), where that decides who may see it.
        self._instants: list[int] | None = [] if context.venue.delay else None
        self._deliveries: tuple[ResultDelivery, ...] = ()
        self._late: list[tuple[Color, Table]] = []
        self._played: Played | None = None
        self._mover = Color.BLACK
        self.over: GameOver | None = None
        self._applied: Applied | None = None
        self._received = self._received_at = 0
        self._clock_started = 0
        self._flag_at = 0
        self._timer: Handle | None = None
        self._timer_at = 0
        # After a restart: the sides that have neither come back yet nor used up their grace, which ends at an instant.
        self._awaited: set[Color] = set()
        self._grace_ends = 0
        self._credited = -1
        self.flagged: Color | None = None
        self.thought = [0, 0]

    # -- what others may ask

    @property
    def ply(self) -> int:
        """Committed plies."""
        return len(self._moves)

    def present(self, color: Color) -> bool:
        """True while that side is connected."""
        return self._tables[color] is not None

    @property
    def ending(self) -> bool:
        """True once its end is on its way to the disk."""
        return self.phase in _ENDING

    @property
    def committing(self) -> bool:
        """True while a move or the end is on its way to the disk."""
        return self.phase in _COMMITTING

    def delivery(self, color: Color) -> ResultDelivery:
        """What that side knows of the game's end; only once there is one."""
        return self._deliveries[color]

    def played_by(self, instant: int) -> int:
        """Committed plies that were received by `instant` (microseconds); all of them once the game is over, and where
        the venue has no delay."""
        if self._instants is None or self.over is not None:
            return self.ply
        return bisect_right(self._instants, instant)

    def setup(self, ply: int | None = None) -> GameSetup:
        """The game as committed, or as it was after an earlier `ply`."""
        ply = self.ply if ply is None else ply
        terms = self.referee.terms
        black, white = self.sides
        return GameSetup(
            game=self.id,
            size=terms.rules.size,
            komi2=terms.rules.komi2,
            level_ms=remaining_ms(terms.time, start(terms.time)),
            black=black.name,
            black_label=black.label,
            white=white.name,
            white_label=white.label,
            moves=tuple(self._moves[:ply]),
            left_ms=(self._left_after(ply, Color.BLACK), self._left_after(ply, Color.WHITE)),
            venue=self._context.venue.name,
            terms=terms,
            why=self._why,
            opening=self.opening,
            occasion=self.occasion,
            question=self.question,
        )

    def moves(self) -> list[str]:
        """The committed ones, as they are written."""
        return [move for move, _ in self._moves]

    def turns(self, since: int) -> list[Turn]:
        """The committed plies after `since`; their times are not kept (`at` is 0)."""
        turns: list[Turn] = []
        for ply in range(since + 1, self.ply + 1):
            move, left = self._moves[ply - 1]
            color = mover_of(ply)
            other = self._left_after(ply, color.other)
            turns.append(Turn(ply=ply, color=color, move=move, left_ms=left, other_left_ms=other, at=0, on=False))
        return turns

    def _left_after(self, ply: int, color: Color) -> int:
        """Milliseconds that `color` has left after `ply`."""
        last = ply if ply and mover_of(ply) is color else ply - 1
        if last > 0:
            return self._moves[last - 1][1]
        terms = self.referee.terms
        return remaining_ms(terms.time, terms.starting_clock(color))

    # -- its life

    def _become(self, phase: GamePhase) -> None:
        """Go on to another phase. Raises OurFault where there is no way to it.

        Only what each move does, from running to committing and back, is not checked again.
        """
        check(GAME, self.phase, phase)
        self.phase = phase

    def begin(self, black: Table | None, white: Table | None) -> None:
        """The game is committed: set both sides up, and ask for the first move after the settle pause."""
        setup = self.setup()
        for color, table in ((Color.BLACK, black), (Color.WHITE, white)):
            if table is not None:
                self._tables[color] = table
                table.setup(setup, color)
        self._wake_at(self._context.time.now() + self._context.venue.pairing.settle)

    def continues(self, moves: Sequence[StoredMove]) -> None:
        """Begin after these moves, which neither side made. Raises OurFault where they cannot be played."""
        self._replay(moves, given=True)
        if self._instants is not None:
            self._instants = [0] * len(moves)  # known to everybody

    def _replay(self, moves: Sequence[StoredMove], given: bool) -> None:
        self.referee.replay(((move.move, move.clock) for move in moves), given)
        control = self.referee.terms.time
        self._moves = [(move.move, remaining_ms(control, move.clock)) for move in moves]

    def resume(self, moves: Sequence[StoredMove]) -> None:
        """Read back after a restart: the committed moves, both sides away, the clock standing."""
        self._replay(moves, given=False)
        if self._instants is not None:
            # As if they were played just now: whether anybody has seen them is not known any more.
            self._instants = [self._context.time.now()] * len(moves)
        self._awaited = {Color.BLACK, Color.WHITE}
        self._become(GamePhase.INTERRUPTED)
        self._wake_at(self._context.time.now() + self._context.venue.void_after)

    def suspend(self) -> None:
        """The server stops: from here on the game stands as it will after the restart. What is being committed is
        still told."""
        self._awaited = {Color.BLACK, Color.WHITE}
        self._grace_ends = self._context.time.now() + self._context.venue.return_grace
        if self.phase in (GamePhase.SETTLING, GamePhase.RUNNING):
            self._stand()

    # -- players come and go

    def returned(self, color: Color, table: Table, since: int | None = None) -> None:
        """That side signed in again: show it the game, and go on.

        :param since: when it asked to (microseconds): from then on the check of its password was our time. Given once a
            move, lest signing in again and again stops a clock
        """
        self._awaited.discard(color)
        now = self._context.time.now()
        self._grace_ends = now + self._context.venue.return_grace
        if self.committing:
            self._late.append((color, table))
            return
        self._tables[color] = table
        table.setup(self.setup(), color)
        mover = self.referee.to_play
        if self.phase is GamePhase.INTERRUPTED:
            if color is mover:
                self._run()
            else:
                self._wake_at(self._grace_ends)
        elif self.phase is GamePhase.RUNNING and color is mover:
            if since is not None and self._credited != self.ply:
                self._credited = self.ply
                ours = now - max(since, self._clock_started)
                self._clock_started += ours
                self._flag_at += ours
            self._ask(table, color, now - self._clock_started)

    def retell(self, color: Color) -> None:
        """That side wants to hear again where its game stands."""
        table = self._tables[color]
        if table is None:
            return
        if self.committing:
            self._tables[color] = None  # until the commit, after which it is told everything at once
            self._late.append((color, table))
            return
        table.setup(self.setup(), color)
        if self.phase is GamePhase.RUNNING and color is self.referee.to_play:
            self._ask(table, color, self._context.time.now() - self._clock_started)

    def left(self, color: Color) -> None:
        """That side's connection is gone. A running clock runs on; a standing one stands."""
        self._tables[color] = None
        self._late = [(late, table) for late, table in self._late if late is not color]
        if self.phase is GamePhase.INTERRUPTED and not any(self._tables):
            self._wake_at(self._context.time.now() + self._context.venue.void_after)

    # -- a move

    def repeats(self, ply: int, text: str) -> bool:
        """True where `text` is the move that stands at the committed `ply`, in whatever spelling."""
        return ply > 0 and self._spelt(text) == self._moves[ply - 1][0]

    def objection(self, color: Color, text: str) -> Fault | None:
        """What is wrong with `text` as that side's next move while something is being committed. None: it is the very
        move, or an end overtook it."""
        played = self._played
        if played is None:
            return None
        if color is not self._mover:
            return Fault.NOT_YOUR_TURN
        return None if self._spelt(text) == played.move_text else Fault.CONTRADICTION

    def _spelt(self, text: str) -> str:
        """`text` in the normal spelling of moves; itself where it is none."""
        position = self.referee.position
        move = position.read(text)
        return text if move is None else position.write(move)

    def move(self, color: Color, text: str, analysis: str | None, received: int) -> None:
        """That side answered `genmove`. Ignored unless it is its turn and its clock runs."""
        referee = self.referee
        if self.phase is not _RUNNING or color is not referee.to_play:
            return
        try:
            played = referee.submit(text, received - self._clock_started)
        except Exception as error:
            self._end(self._our_fault(error), [])
            return
        self._mover = color
        self._received = received
        self._received_at = self._context.time.wall_ms()
        records: list[Record] = []
        if played is not None:
            self._played = played
            self.thought[color] += played.used
            ply = len(self._moves) + 1
            records.append(MoveAdded(self.id, ply, played.move_text, *played.clock, played.used, self._received_at))
            if analysis is not None:
                records.append(AnalysisAdded(self.id, ply, analysis))
        if referee.verdict is not None:
            self._end(referee.verdict, records)
        else:
            self.phase = _COMMITS_A_MOVE
            self._context.store.submit(records, self._committed)

    def _committed(self) -> None:
        """The move is durable: tell the opponent, whose clock starts now."""
        self._tell_move(then=self.phase is not _OVERRULED)
        if self._late:
            self._admit_late()
        if self.phase is _OVERRULED:
            self._become(GamePhase.ENDING)  # the end is on its way already
            return
        if self._awaited and self.referee.to_play in self._awaited:
            self._stand()
            return
        self._start_clock()
        self._context.meter.moved(self._clock_started - self._received)

    def _tell_move(self, then: bool) -> None:
        """Note the committed move and relay it; with `then` it is also the opponent's turn."""
        referee = self.referee
        played = self._played
        assert played is not None
        self._played = None
        mover = self._mover
        moves, other = self._moves, mover.other
        # The other side's clock stands since its last move.
        other_left = moves[-1][1] if moves else referee.remaining_ms(other)
        left = referee.remaining_ms(mover)
        moves.append((played.move_text, left))
        if self._instants is not None:
            self._instants.append(self._received)
        opponent = self._tables[other]
        if opponent is not None:
            opponent.played(
                Turn(
                    ply=len(moves),
                    color=mover,
                    move=played.move_text,
                    left_ms=left,
                    other_left_ms=other_left,
                    at=self._received_at,
                    on=then,
                )
            )
        bus = self._context.bus
        if bus.wanted(MovePlayed):
            venue = self._context.venue.name
            bus.publish(MovePlayed(venue=venue, game=self.id, ply=len(moves), move=played.move_text, left_ms=left))

    def _admit_late(self) -> None:
        """Those who signed in while a commit was under way see the game as it is after it."""
        late, self._late = self._late, []
        for color, table in late:
            self._tables[color] = table
            table.setup(self.setup(), color)
            if self.referee.verdict is None and color is self.referee.to_play:
                self._ask(table, color, 0)

    # -- clocks

    def _run(self) -> None:
        """Ask the mover for a move, if it is there, and start its clock."""
        mover = self.referee.to_play
        table = self._tables[mover]
        if table is not None:
            self._ask(table, mover, 0)
        self._start_clock()

    def _ask(self, table: Table, mover: Color, elapsed: int) -> None:
        referee = self.referee
        table.genmove(mover, referee.remaining_ms(mover, elapsed), referee.remaining_ms(mover.other))

    def _start_clock(self) -> None:
        self.phase = _RUNNING
        self._clock_started = now = self._context.time.now()
        self._flag_at = deadline = now + self.referee.deadline() + 1  # at the deadline itself a move is in time
        # One timer a game, left alone while it is early enough: cancelling one a move costs more than the move.
        if self._timer is None or self._timer_at > deadline:
            self._wake_at(deadline)

    def _stand(self) -> None:
        """No clock runs until the mover comes back or its grace is over."""
        self._become(GamePhase.INTERRUPTED)
        self._wake_at(self._grace_ends)

    def _wake_at(self, instant: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = instant
        self._timer = self._context.time.call_at(instant, self._woken)

    def _woken(self) -> None:
        """The game's one timer: end of the settle pause, a flag, a grace that is over."""
        self._timer = None
        time = self._context.time
        match self.phase:
            case GamePhase.SETTLING:
                self._run()
            case GamePhase.RUNNING if time.now() < self._flag_at:
                self._wake_at(self._flag_at)
            case GamePhase.RUNNING if not time.polled_since(self._flag_at):
                # The move may lie in the socket: look once more before the flag falls.
                self._wake_at(time.now())
            case GamePhase.RUNNING if self._mover_is_expected():
                self._wake_at(time.now() + _EXPECTING_US)
            case GamePhase.RUNNING:
                self._flag()
            case GamePhase.INTERRUPTED if any(self._tables):
                self._awaited.discard(self.referee.to_play)
                self._run()
            case GamePhase.INTERRUPTED:
                self._end(self.referee.void("Both sides stayed away after a restart of the server."), [])

    def _mover_is_expected(self) -> bool:
        """It asked to come in before its time was up, and what it waits for since is our answer."""
        mover = self.sides[self.referee.to_play]
        return self._credited != self.ply and self._context.expected.since_before(mover.name, self._flag_at)

    def _flag(self) -> None:
        """The mover's time is up, unless its answer lies in the server, held back for a line end that never comes."""
        table = self._tables[self.referee.to_play]
        if table is not None:
            table.hurry()
        if self.phase is GamePhase.RUNNING:
            self.flagged = self.referee.to_play
            self.thought[self.flagged] += self._context.time.now() - self._clock_started
            self._end(self.referee.expire(), [])

    # -- the end

    def forfeit(self, loser: Color, detail: str) -> None:
        """An operator rules that `loser` has lost."""
        self._rule(lambda: self.referee.forfeit(loser, detail))

    def abort(self, detail: str) -> None:
        """An operator ends the game without a result."""
        self._rule(lambda: self.referee.abort(detail))

    def fail(self, error: Exception) -> None:
        """It cannot go on, by a fault of ours."""
        self._rule(lambda: self._our_fault(error))

    def _rule(self, verdict: Callable[[], Verdict]) -> None:
        """End the game unless it is ending. A move that is being committed goes before the end, and is told before."""
        if not self.ending:
            if self.phase is GamePhase.COMMITTING:
                self._become(GamePhase.OVERRULED)
            self._end(verdict(), [])

    def _end(self, verdict: Verdict, records: list[Record]) -> None:
        """Commit the verdict with its rating, in one transaction with the move that caused it."""
        if self.phase is not GamePhase.OVERRULED:
            self._become(GamePhase.ENDING)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        context = self._context
        at = context.time.wall_ms()
        black, white = self.sides
        try:
            if self.referee.terms.rated:
                moves = self.moves()
                if self._played is not None:
                    moves.append(self._played.move_text)
                self._applied = context.rater.apply(
                    self.id, black=black.version, white=white.version, verdict=verdict, moves=moves, at=at
                )
        except Exception as error:
            verdict = self._our_fault(error)
        self._deliveries = tuple(
            ResultDelivery(context.store, self.id, color, written=self._tables[color] is not None) for color in Color
        )
        black_told, white_told = (delivery.progress for delivery in self._deliveries)
        records.append(game_ended(self.id, verdict, at, (black_told, white_told)))
        if self._applied is not None:
            records.extend(self._applied.records)
        context.store.submit(records, partial(self._ended, verdict, at))

    def _our_fault(self, error: Exception) -> Verdict:
        """An exception decides no game: what we cannot referee or rate is void."""
        log.error("our fault; the game is void", game=self.id, venue=self._context.venue.name, exc_info=error)
        return Verdict(None, Reason.VOID, None, "The server made a mistake in this game")

    def _ended(self, verdict: Verdict, at: int) -> None:
        """The verdict is durable: tell both sides, then everybody else."""
        if self._played is not None:
            self._tell_move(then=False)
            self._context.meter.moves += 1  # nobody answers it, so it has no relay latency
        self._admit_late()
        self._become(GamePhase.OVER)
        date = datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d")
        over = GameOver(
            date=date,
            result=verdict.text,
            winner=verdict.winner,
            reason=verdict.reason.value,
            detail=verdict.detail,
            plies=self.ply,
        )
        self.over = over
        for color in Color:
            table = self._tables[color]
            if table is not None:
                table.game_over(over._replace(rating=self._rating_of(color)))
                self._deliveries[color].written()
            else:
                self._deliveries[color].missed()
        context = self._context
        context.meter.ended_by[verdict.reason] += 1
        used = [max(0, self._left_after(0, color) - self._left_after(self.ply, color)) for color in Color]
        context.bus.publish(
            GameEndedFact(
                venue=context.venue.name,
                game=self.id,
                result=verdict.text,
                reason=verdict.reason.value,
                at=at / 1000,
                black_used_ms=used[Color.BLACK],
                white_used_ms=used[Color.WHITE],
            )
        )
        if self._applied is not None:
            context.rater.tell(self._applied)
        for ended in context.ended:
            ended(self)

    def _rating_of(self, color: Color) -> RatingMoved | None:
        """What the game did to that side's rating."""
        changes = () if self._applied is None else self._applied.changes
        mine = (change for change in changes if change.version == self.sides[color].version)
        return next(map(self._context.rater.moved, mine), None)
