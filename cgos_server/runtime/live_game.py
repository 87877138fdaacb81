"""One running game: takes moves, has them refereed and committed, and only then tells both sides.

Plain synchronous calls inside the event loop; the one asynchronous step is the commit. Between a move's arrival and
its commit no clock runs, so waiting for the disk is charged to nobody. Must not know: wire formats, SQL, how bots are
paired.
"""

from __future__ import annotations

import enum
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

import structlog

from cgos_protocol.clock import remaining_ms, start
from cgos_protocol.facts import GameEnded as GameEndedFact
from cgos_protocol.facts import MovePlayed
from cgos_protocol.games.base import Color, mover_of
from cgos_protocol.referee import Played, Referee
from cgos_protocol.session import Fault, GameOver, GameSetup, RatingMoved, Table, Turn
from cgos_protocol.verdict import Reason, Verdict
from cgos_server.core.venue import Venue
from cgos_server.net.loop import Handle, Timekeeper
from cgos_server.observability.metrics import VenueMeter
from cgos_server.runtime.bus import FactBus
from cgos_server.runtime.rater import Rater
from cgos_server.runtime.telling import Telling
from cgos_server.service.ratings import Applied
from cgos_server.storage.reading.stored import StoredMove
from cgos_server.storage.records import AnalysisAdded, GameEnded, MoveAdded, Record
from cgos_server.storage.store import Store


class Phase(enum.Enum):
    """Where a game is in its life."""

    SETTLING = enum.auto()
    """Both sides were set up; the first `genmove` comes after a pause."""
    RUNNING = enum.auto()
    """The mover's clock runs."""
    COMMITTING = enum.auto()
    """A move or an end waits for its commit; no clock runs."""
    SUSPENDED = enum.auto()
    """Cut by a restart: the clock stands until the mover is back or has been away too long."""
    OVER = enum.auto()


log = structlog.get_logger(__name__)

_EXPECTING_US = 100_000
"""Between two looks whether a mover whose time is up has been let in."""


@dataclass(slots=True)
class Desk:
    """What the games of one venue share.

    :ivar venue: as configured now; a running game keeps the terms with which it began
    """

    venue: Venue
    store: Store
    time: Timekeeper
    bus: FactBus
    rater: Rater
    meter: VenueMeter
    ended: Callable[[LiveGame], None]
    """Called once after a game's end was committed and told."""
    expects: Callable[[str, int], bool] = lambda _name, _instant: False
    """True while a version is being let in that asked for it before that instant (microseconds)."""


@dataclass(frozen=True, slots=True)
class Side:
    """One player of a game: its version and how it was announced."""

    version: int
    name: str
    label: str


class LiveGame:
    """A game from its commit to the commit of its verdict.

    :param why: why these two meet, for people
    :ivar opening: the name of the opening that it begins with, or empty
    :ivar started_at: Unix milliseconds
    :ivar flagged: the side that let its time run out and sent nothing
    :ivar thought: [Black's, White's] microseconds of thinking since the server started
    """

    __slots__ = (
        "_applied",
        "_awaited",
        "_clock_started",
        "_credited",
        "_desk",
        "_ended_as",
        "_flag_at",
        "_grace_ends",
        "_instants",
        "_late",
        "_mover",
        "_moves",
        "_played",
        "_received",
        "_received_at",
        "_ruled",
        "_tables",
        "_tellings",
        "_timer",
        "_timer_at",
        "_why",
        "flagged",
        "id",
        "opening",
        "phase",
        "referee",
        "sides",
        "started_at",
        "thought",
    )

    def __init__(
        self,
        game_id: int,
        desk: Desk,
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
        self.phase = Phase.SETTLING
        self.started_at = started_at
        self.opening = opening
        self._desk = desk
        self._why = why
        self._tables: list[Table | None] = [None, None]
        self._moves: list[tuple[str, int]] = []
        # When each move was received (loop's clock), where that decides who may see it.
        self._instants: list[int] | None = [] if desk.venue.delay else None
        self._tellings: tuple[Telling, ...] = ()
        self._late: list[tuple[Color, Table]] = []
        self._played: Played | None = None
        self._mover = Color.BLACK
        self._ruled = False
        self._ended_as: GameOver | None = None
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
    def over(self) -> GameOver | None:
        """How it ended, once that is committed; without anybody's rating."""
        return self._ended_as

    @property
    def ending(self) -> bool:
        """True once its end is on its way to the disk."""
        return bool(self._tellings)

    def telling(self, color: Color) -> Telling:
        """What that side knows of the game's end; only once there is one."""
        return self._tellings[color]

    def played_by(self, instant: int) -> int:
        """Committed plies that were received by `instant` (microseconds); all of them once the game is over, and where
        the venue has no delay."""
        if self._instants is None or self._ended_as is not None:
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
            venue=self._desk.venue.name,
            terms=terms,
            why=self._why,
            opening=self.opening,
        )

    def turns(self, since: int) -> list[Turn]:
        """The committed plies after `since`; their times are not kept (`at` is 0)."""
        turns: list[Turn] = []
        for ply in range(since + 1, self.ply + 1):
            move, left = self._moves[ply - 1]
            color = mover_of(ply)
            turns.append(Turn(ply, color, move, left, self._left_after(ply, color.other), 0, False))
        return turns

    def _left_after(self, ply: int, color: Color) -> int:
        """Milliseconds that `color` has left after `ply`."""
        last = ply if ply and mover_of(ply) is color else ply - 1
        if last > 0:
            return self._moves[last - 1][1]
        terms = self.referee.terms
        return remaining_ms(terms.time, terms.starting_clock(color))

    # -- beginning

    def begin(self, black: Table | None, white: Table | None) -> None:
        """The game is committed: set both sides up, and ask for the first move after the settle pause."""
        setup = self.setup()
        for color, table in ((Color.BLACK, black), (Color.WHITE, white)):
            if table is not None:
                self._tables[color] = table
                table.setup(setup, color)
        self._wake_at(self._desk.time.now() + self._desk.venue.pairing.settle)

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
            self._instants = [self._desk.time.now()] * len(moves)
        self._awaited = {Color.BLACK, Color.WHITE}
        self.phase = Phase.SUSPENDED
        self._wake_at(self._desk.time.now() + self._desk.venue.void_after)

    def suspend(self) -> None:
        """The server stops: from here on the game stands as it will after the restart. What is being committed is
        still told."""
        self._awaited = {Color.BLACK, Color.WHITE}
        self._grace_ends = self._desk.time.now() + self._desk.venue.return_grace
        if self.phase in (Phase.SETTLING, Phase.RUNNING):
            self._stand()

    # -- players come and go

    def returned(self, color: Color, table: Table, asked: int | None = None) -> None:
        """That side signed in again: show it the game, and go on.

        :param asked: when it asked to (microseconds): from then on the check of its password was our time. Given once a
            move, lest signing in again and again stops a clock
        """
        self._awaited.discard(color)
        now = self._desk.time.now()
        self._grace_ends = now + self._desk.venue.return_grace
        if self.phase is Phase.COMMITTING:
            self._late.append((color, table))
            return
        self._tables[color] = table
        table.setup(self.setup(), color)
        mover = self.referee.to_play
        if self.phase is Phase.SUSPENDED:
            if color is mover:
                self._run()
            else:
                self._wake_at(self._grace_ends)
        elif self.phase is Phase.RUNNING and color is mover:
            if asked is not None and self._credited != self.ply:
                self._credited = self.ply
                ours = now - max(asked, self._clock_started)
                self._clock_started += ours
                self._flag_at += ours
            self._ask(table, color, now - self._clock_started)

    def retell(self, color: Color) -> None:
        """That side wants to hear again where its game stands."""
        table = self._tables[color]
        if table is None:
            return
        if self.phase is Phase.COMMITTING:
            self._tables[color] = None  # until the commit, after which it is told everything at once
            self._late.append((color, table))
            return
        table.setup(self.setup(), color)
        if self.phase is Phase.RUNNING and color is self.referee.to_play:
            self._ask(table, color, self._desk.time.now() - self._clock_started)

    def left(self, color: Color) -> None:
        """That side's connection is gone. A running clock runs on; a standing one stands."""
        self._tables[color] = None
        self._late = [(late, table) for late, table in self._late if late is not color]
        if self.phase is Phase.SUSPENDED and not any(self._tables):
            self._wake_at(self._desk.time.now() + self._desk.venue.void_after)

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
        if self.phase is not Phase.RUNNING or color is not referee.to_play:
            return
        try:
            played = referee.submit(text, received - self._clock_started)
        except Exception as error:
            self._end(self._our_fault(error), [])
            return
        self.phase = Phase.COMMITTING
        self._mover = color
        self._received = received
        self._received_at = self._desk.time.wall_ms()
        records: list[Record] = []
        if played is not None:
            self._played = played
            self.thought[color] += played.used
            clock = played.clock
            records.append(
                MoveAdded(self.id, len(self._moves) + 1, played.move_text, *clock, played.used, self._received_at)
            )
            if analysis is not None:
                records.append(AnalysisAdded(self.id, len(self._moves) + 1, analysis))
        if referee.verdict is not None:
            self._end(referee.verdict, records)
        else:
            self._desk.store.submit(records, self._committed)

    def _committed(self) -> None:
        """The move is durable: tell the opponent, whose clock starts now."""
        self._tell_move(then=not self._ruled)
        if self._late:
            self._admit_late()
        if self._ruled:
            return  # the end is on its way already
        if self._awaited and self.referee.to_play in self._awaited:
            self._stand()
            return
        self._start_clock()
        self._desk.meter.moved(self._clock_started - self._received)

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
            opponent.played(Turn(len(moves), mover, played.move_text, left, other_left, self._received_at, then))
        bus = self._desk.bus
        if bus.wanted(MovePlayed):
            bus.publish(MovePlayed(self._desk.venue.name, self.id, len(moves), played.move_text, left))

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
        self.phase = Phase.RUNNING
        self._clock_started = now = self._desk.time.now()
        self._flag_at = deadline = now + self.referee.deadline() + 1  # at the deadline itself a move is in time
        # One timer a game, left alone while it is early enough: cancelling one a move costs more than the move.
        if self._timer is None or self._timer_at > deadline:
            self._wake_at(deadline)

    def _stand(self) -> None:
        """No clock runs until the mover comes back or its grace is over."""
        self.phase = Phase.SUSPENDED
        self._wake_at(self._grace_ends)

    def _wake_at(self, instant: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = instant
        self._timer = self._desk.time.call_at(instant, self._woken)

    def _woken(self) -> None:
        """The game's one timer: end of the settle pause, a flag, a grace that is over."""
        self._timer = None
        time = self._desk.time
        match self.phase:
            case Phase.SETTLING:
                self._run()
            case Phase.RUNNING if time.now() < self._flag_at:
                self._wake_at(self._flag_at)
            case Phase.RUNNING if not time.polled_since(self._flag_at):
                # The move may lie in the socket: look once more before the flag falls.
                self._wake_at(time.now())
            case Phase.RUNNING if self._mover_is_expected():
                self._wake_at(time.now() + _EXPECTING_US)
            case Phase.RUNNING:
                self._flag()
            case Phase.SUSPENDED if any(self._tables):
                self._awaited.discard(self.referee.to_play)
                self._run()
            case Phase.SUSPENDED:
                self._end(self.referee.void("Both sides stayed away after a restart of the server."), [])
            case Phase.COMMITTING | Phase.OVER:
                pass

    def _mover_is_expected(self) -> bool:
        """It asked to come in before its time was up, and what it waits for since is our answer."""
        mover = self.sides[self.referee.to_play]
        return self._credited != self.ply and self._desk.expects(mover.name, self._flag_at)

    def _flag(self) -> None:
        """The mover's time is up, unless its answer lies in the server, held back for a line end that never comes."""
        table = self._tables[self.referee.to_play]
        if table is not None:
            table.hurry()
        if self.phase is Phase.RUNNING:
            self.flagged = self.referee.to_play
            self.thought[self.flagged] += self._desk.time.now() - self._clock_started
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
            self._ruled = self.phase is Phase.COMMITTING
            self._end(verdict(), [])

    def _end(self, verdict: Verdict, records: list[Record]) -> None:
        """Commit the verdict with its rating, in one transaction with the move that caused it."""
        self.phase = Phase.COMMITTING
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        desk = self._desk
        at = desk.time.wall_ms()
        black, white = self.sides
        try:
            if self.referee.terms.rated:
                moves = [move for move, _ in self._moves]
                if self._played is not None:
                    moves.append(self._played.move_text)
                self._applied = desk.rater.apply(
                    self.id, black=black.version, white=white.version, verdict=verdict, moves=moves, at=at
                )
        except Exception as error:
            verdict = self._our_fault(error)
        self._tellings = tuple(
            Telling(desk.store, self.id, color, written=self._tables[color] is not None) for color in Color
        )
        winner = None if verdict.winner is None else int(verdict.winner)
        told_black, told_white = (telling.told for telling in self._tellings)
        records.append(
            GameEnded(
                at,
                winner,
                verdict.reason.value,
                verdict.margin2,
                verdict.detail,
                verdict.text,
                told_black,
                told_white,
                self.id,
            )
        )
        if self._applied is not None:
            records.extend(self._applied.records)
        desk.store.submit(records, partial(self._ended, verdict, at))

    def _our_fault(self, error: Exception) -> Verdict:
        """An exception decides no game: what we cannot referee or rate is void."""
        log.error("our fault; the game is void", game=self.id, venue=self._desk.venue.name, exc_info=error)
        return Verdict(None, Reason.VOID, None, "The server made a mistake in this game")

    def _ended(self, verdict: Verdict, at: int) -> None:
        """The verdict is durable: tell both sides, then everybody else."""
        if self._played is not None:
            self._tell_move(then=False)
            self._desk.meter.moved_last()
        self._admit_late()
        self.phase = Phase.OVER
        date = datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d")
        over = GameOver(
            date=date,
            result=verdict.text,
            winner=verdict.winner,
            reason=verdict.reason.value,
            detail=verdict.detail,
            plies=self.ply,
        )
        self._ended_as = over
        for color in Color:
            table = self._tables[color]
            if table is not None:
                table.game_over(over._replace(rating=self._rating_of(color)))
                self._tellings[color].written()
            else:
                self._tellings[color].missed()
        desk = self._desk
        desk.meter.ended(verdict.reason)
        used = [max(0, self._left_after(0, color) - self._left_after(self.ply, color)) for color in Color]
        desk.bus.publish(GameEndedFact(desk.venue.name, self.id, verdict.text, verdict.reason.value, at / 1000, *used))
        if self._applied is not None:
            desk.rater.tell(self._applied)
        desk.ended(self)

    def _rating_of(self, color: Color) -> RatingMoved | None:
        """What the game did to that side's rating."""
        changes = () if self._applied is None else self._applied.changes
        version, plus_minus = self.sides[color].version, self._desk.rater.plus_minus
        found = (RatingMoved(was.mean, now.mean, plus_minus(now)) for who, was, now in changes if who == version)
        return next(found, None)
