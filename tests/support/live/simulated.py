"""Simulated time, a store in memory whose commits the test releases, and sessions that write down what they hear."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import Any

from cgos_protocol.event_news import EventNews
from cgos_protocol.games.base import Color
from cgos_protocol.question_news import QuestionNews, QuestionTaken
from cgos_protocol.session import GameOver, GameSetup, OperatorDesk, Seat, Turn
from cgos_server.storage.sharing import Alone
from cgos_server.storage.writing.records import Record
from support.storage.subjects import Subjects


class _Timer:
    def __init__(self, callback: Callable[..., None], args: tuple[Any, ...]) -> None:
        self.callback: Callable[..., None] | None = callback
        self.args = args

    def cancel(self) -> None:
        self.callback = None


class SimulatedTime:
    """A Timekeeper that moves only when told. `stall` lets time pass without polling, as a busy loop does."""

    def __init__(self) -> None:
        self.instant = 1_000_000_000
        self.polled = self.instant
        self._timers: list[tuple[int, int, _Timer]] = []
        self._count = 0

    def now(self) -> int:
        return self.instant

    def received(self) -> int:
        return self.polled

    def polled_since(self, instant: int) -> bool:
        return self.polled >= instant

    def wall_ms(self) -> int:
        return 1_700_000_000_000 + self.instant // 1000

    def call_at(self, instant: int, callback: Callable[..., None], *args: Any) -> _Timer:
        timer = _Timer(callback, args)
        self._count += 1
        heapq.heappush(self._timers, (instant, self._count, timer))
        return timer

    def advance(self, us: int) -> None:
        """Let `us` microseconds pass on an idle loop: every timer fires at its time, after a poll."""
        end = self.instant + us
        while self._timers and self._timers[0][0] <= end:
            due, _, timer = heapq.heappop(self._timers)
            self.instant = self.polled = max(self.instant, due)
            if timer.callback is not None:
                timer.callback(*timer.args)
        self.instant = self.polled = end

    def stall(self, us: int) -> None:
        """The loop is busy for `us` microseconds: nothing is polled, no timer fires."""
        self.instant += us


class MemoryStore:
    """What the runtime submits, in order. `hold` keeps commits back until `release`."""

    def __init__(self) -> None:
        self.history: Any = Subjects(self)
        self.sharing = Alone()
        self.records: list[Record] = []
        self.held: list[tuple[Sequence[Record], Callable[[], None] | None]] = []
        self.holding = False
        self.healthy = True

    def submit(self, records: Sequence[Record], then: Callable[[], None] | None = None) -> None:
        if self.holding:
            self.held.append((records, then))
        else:
            self._commit(records, then)

    async def commit(self, records: Sequence[Record]) -> None:
        self.submit(records)

    async def games_untold(self, venue_id: int, version_id: int, since: int) -> list[Any]:
        return []

    async def games_stored(self, game_id: int) -> Any:
        return None

    async def games_recent(self, venue_id: int, limit: int) -> list[Any]:
        return []

    async def games_begun(self, venue_id: int, version_id: int, since: int) -> int:
        return 0

    def _commit(self, records: Sequence[Record], then: Callable[[], None] | None) -> None:
        self.records.extend(records)
        if then is not None:
            then()

    def release(self) -> None:
        """The disk is back: commit what was held, in order."""
        self.holding = False
        held, self.held = self.held, []
        for records, then in held:
            self._commit(records, then)

    def of(self, kind: type) -> list[Any]:
        return [record for record in self.records if isinstance(record, kind)]


class RecordingSession:
    """A PlayerSession that writes down what it is told, as short tuples. It is its own only table.

    :ivar says_ready: as on the CGOS lines; False plays several games, told apart by `RecordingTable`
    :ivar responsive: what `answers` finds
    """

    def __init__(self, number: int = 1, *, says_ready: bool = True) -> None:
        self.id = number
        self.alive = True
        self.proxied = False
        self.says_ready = says_ready
        self.responsive = True
        self.heard_at = 0
        self.entries: list[tuple[Any, ...]] = []
        self.seat: Seat | None = None
        self.name = ""
        self.desk: OperatorDesk | None = None
        self.code = ""
        self.retry_after_s: float | None = None

    def accepted(self, seat: Seat, name: str) -> None:
        self.seat = seat
        self.name = name
        self.entries.append(("accepted",))

    def operator(self, desk: OperatorDesk) -> None:
        self.desk = desk
        self.entries.append(("operator",))

    def refused(self, code: str, sentence: str, retry_after_s: float | None = None) -> None:
        self.alive = False
        self.code = code
        self.retry_after_s = retry_after_s
        self.entries.append(("refused", sentence))

    def table(self, game: int) -> Any:
        return self if self.says_ready else RecordingTable(self, game)

    def unknown(self, games: Sequence[int]) -> None:
        self.entries.append(("unknown", *games))

    def event(self, news: EventNews) -> None:
        self.entries.append(("event", news))

    def event_refused(self, event: str, code: str, sentence: str) -> None:
        self.entries.append(("event refused", event, code, sentence))

    def question(self, news: QuestionNews) -> None:
        self.entries.append(("question", news))

    def question_taken(self, taken: QuestionTaken) -> None:
        self.entries.append(("question taken", taken))

    def question_refused(self, ref: str, code: str, sentence: str) -> None:
        self.entries.append(("question refused", ref, code, sentence))

    async def answers(self, sentence: str) -> bool:
        self.info(sentence)
        return self.responsive

    def setup(self, setup: GameSetup, color: Color) -> None:
        self.entries.append(("setup", setup))

    def genmove(self, color: Color, left_ms: int, other_left_ms: int) -> None:
        self.entries.append(("genmove", color, left_ms))

    def played(self, turn: Turn) -> None:
        then = turn.other_left_ms if turn.on else None
        self.entries.append(("played", turn.color, turn.move, turn.left_ms, then))

    def game_over(self, over: GameOver) -> None:
        self.entries.append(("gameover", over.result, over.detail))

    def hurry(self) -> None: ...

    def info(self, text: str) -> None:
        self.entries.append(("info", text))

    def words(self) -> list[str]:
        return [entry[0] for entry in self.entries]

    def last(self) -> tuple[Any, ...]:
        return self.entries[-1]


class RecordingTable:
    """One of several games of a session: each entry carries the game's number."""

    def __init__(self, session: RecordingSession, game: int) -> None:
        self._entries = session.entries
        self._game = game

    def setup(self, setup: GameSetup, color: Color) -> None:
        self._entries.append(("setup", self._game, color, setup))

    def genmove(self, color: Color, left_ms: int, other_left_ms: int) -> None:
        self._entries.append(("genmove", self._game, color, left_ms))

    def played(self, turn: Turn) -> None:
        self._entries.append(("played", self._game, turn))

    def game_over(self, over: GameOver) -> None:
        self._entries.append(("gameover", self._game, over))

    def hurry(self) -> None: ...
