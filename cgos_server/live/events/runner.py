"""One event on the live server: writes its log, and has it go on by itself.

The state in memory is that of the log, a moment ahead of its commit: groups are committed in the order in which they
are submitted, and where one cannot be, the process ends, so nothing is built on an entry that is lost. Whoever is told
of an entry is told after its commit. Whatever is said is folded first, so what cannot be is refused and nothing is
written. Must not know: other events, how games are begun, wire formats.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TypeAlias

from cgos_protocol.errors import Refused
from cgos_protocol.ids import EventId, VersionId
from cgos_server.live.events.event_pairer import EventPairer
from cgos_server.storage.store import Store
from cgos_server.storage.writing.records import EventEntrant, EventGame, EventLogged, EventPhase, Record
from cgos_server.tournaments.base import Event
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.state import EventState, Phase, after
from cgos_server.tournaments.running.steps import Away, next_step, paired, pairs_now, stuck

SERVER = "server"
"""Who does what nobody asked for."""

STEPS = 16
"""Entries that an event writes by itself before others have their turn."""


Committed: TypeAlias = Callable[[EventState, log.Said | None, EventState], None]
"""Hears of an entry that is committed."""


class EventRunner:
    """One event.

    :param now_ms: Unix ms
    :param moved: called with this one at once after each entry of the log that :meth:`say` writes
    :param committed: called once an entry is committed: with the states before and after it, and its words; None for
        what another one submitted
    :ivar state: folded from the log
    """

    def __init__(
        self,
        event: EventId,
        state: EventState,
        store: Store,
        now_ms: Callable[[], int],
        moved: Callable[[EventRunner], None],
        committed: Committed = lambda _before, _said, _after: None,
    ) -> None:
        self.id = event
        self.state = state
        self._store = store
        self._now_ms = now_ms
        self._moved = moved
        self._committed = committed
        self._committed_seq = state.seq
        self._answered: Event | None = None
        self._computing = False

    def say(self, said: log.Said, actor: str = SERVER, also: Sequence[Record] = ()) -> EventState:
        """Write one more entry of the log, together with other records. Raises Refused where it cannot be; nothing is
        changed then."""
        before = self.state
        state, records = self.said(said, actor)
        self._store.submit([*also, *records], partial(self._was_committed, before, said, state))
        self._moved(self)
        return state

    def said(self, said: log.Said, actor: str = SERVER) -> tuple[EventState, list[Record]]:
        """As :meth:`say`, for whoever submits the records himself, right now, and calls :meth:`submitted` then."""
        body = log.encode(said)
        if isinstance(said, log.Paired):  # reasons may hold what reads back otherwise, such as tuples
            said = log.decode(body)
        entry = log.LogEntry(self.state.seq + 1, self._now_ms(), actor, said)
        before, self.state = self.state, after(self.state, entry)
        if isinstance(said, log.Resumed | log.Extended):
            self._answered = None
        records: list[Record] = [
            EventLogged(
                event_id=self.id,
                seq=entry.seq,
                at=entry.at,
                actor=actor,
                kind=log.kind_of(said),
                body=body,
            )
        ]
        if self.state.phase is not before.phase:
            records.append(EventPhase(self.state.phase.value, self.id))
        if isinstance(said, log.Entered):
            records.append(EventEntrant(self.id, said.entrant, said.version, said.bot))
        if isinstance(said, log.Began):
            records.append(EventGame(said.played_as, self.id, self.state.open[said.game], said.game))
        return self.state, records

    def read_again(self, state: EventState) -> None:
        """The same event with other names."""
        if self._answered is self.state.event:
            self._answered = state.event
        self.state = state

    def submitted(self) -> None:
        """What :meth:`said` gave has been submitted; `moved` is not called."""
        self._store.submit([], partial(self._was_committed, self.state, None, self.state))

    def _was_committed(self, before: EventState, said: log.Said | None, state: EventState) -> None:
        self._committed_seq = state.seq
        self._committed(before, said, state)

    @property
    def is_settled(self) -> bool:
        """True where the store has all of its log."""
        return self._committed_seq == self.state.seq

    @property
    def pairs(self) -> bool:
        """True while it is to be computed what could begin: of each record it is asked once."""
        return self._answered is not self.state.event and pairs_now(self.state)

    @property
    def wants_pairing(self) -> bool:
        """True where nobody computes it yet."""
        return self.pairs and not self._computing

    def advance(self, away: Away, rating: Callable[[VersionId], float | None], up_since: int = 0) -> bool:
        """Say what is due besides pairing. True where more may be due: call again."""
        for _ in range(STEPS):
            said = next_step(self.state, self._now_ms(), away, rating, up_since=up_since)
            if said is None:
                return False
            self.say(said)
        return True

    async def pair(self, pairer: EventPairer) -> None:
        """Have it computed what could begin, and say what follows. Raises OurFault where that failed."""
        self._computing = True
        event = self.state.event
        try:
            rounds = await pairer.ready(event)
        finally:
            self._computing = False
        if self.state.event is not event or not pairs_now(self.state):
            return  # something came in between: what was computed may not hold any more
        self._answered = event
        said = stuck(rounds) if isinstance(rounds, Refused) else paired(self.state, rounds)
        if said is not None:
            self.say(said)

    def is_current(self, number: int, played_as: int) -> bool:
        """True while a game of the server is what a game of the event that has no result is played as."""
        state = self.state
        return state.phase is Phase.RUNNING and number in state.open and state.played_as.get(number) == played_as


def read_log(rows: Iterable[tuple[int, int, str, str]]) -> list[log.LogEntry]:
    """Entries from what the store has of them: (seq, at, actor, body). Raises OurFault."""
    return [log.LogEntry(seq, at, actor, log.decode(body)) for seq, at, actor, body in rows]
