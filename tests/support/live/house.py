"""One venue in simulated time: its store, its bots, and what they hear."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from cgos_protocol.clock import TimeControl, TimeSystem
from cgos_protocol.errors import Code, Invalid, Unauthenticated
from cgos_protocol.games.base import Ruleset
from cgos_protocol.session import Credentials, Known, Limits, OperatorDesk, Wish
from cgos_server.core.pairing.base import PairingPass
from cgos_server.core.rating.base import Fit, Refitting
from cgos_server.core.rating.ranks import Ranks
from cgos_server.core.venue import PairingSettings, Venue
from cgos_server.live.bus import Bus
from cgos_server.live.pairing.executor import Decided, decide
from cgos_server.live.signing_in.multi_venue import MultiVenueSignIn
from cgos_server.live.venue.live_venue import LiveVenue, Shared, open_venue
from cgos_server.observability.metrics import Metrics
from cgos_server.service.ids import Ids
from cgos_server.service.people.accounts import Operator, SignedIn
from cgos_server.service.ratings.families import Families
from cgos_server.storage.reading.stored import NextIds, StoredGame
from support.live.simulated import MemoryStore, RecordingSession, SimulatedTime

S = 1_000_000


class Accounts:
    """Everybody may come in; the name says which version it is."""

    def __init__(self) -> None:
        self.versions: dict[str, int] = {}
        self.gate = asyncio.Event()
        self.gate.set()

    async def sign_in(self, credentials: Credentials) -> SignedIn:
        await self.gate.wait()
        if credentials.secret == "wrong":
            raise Unauthenticated(Code.WRONG_PASSWORD, "Sorry, password doesn't match.")
        number = self.versions.setdefault(credentials.name, len(self.versions) + 1)
        return SignedIn(number, number, credentials.name)


class HistoryStore(MemoryStore):
    """A store whose past is given."""

    def __init__(self) -> None:
        super().__init__()
        self.untold: list[StoredGame] = []
        self.stored: dict[int, StoredGame] = {}
        self.begun = 0

    async def ledger_entries(self, venue_id: int, after: int = 0, limit: int | None = None) -> list[Any]:
        return []

    async def ledger_links(self, venue_id: int) -> list[Any]:
        return []

    async def ledger_digests(self, venue_id: int, after: int = 0, limit: int | None = None) -> list[Any]:
        return []

    async def ratings_last_games(self, venue_id: int, system: str) -> dict[int, int]:
        return {}

    async def ranks_last(self, venue_id: int, system: str) -> dict[int, Any]:
        return {}

    async def ranks_last_summary(self, venue_id: int, system: str) -> None:
        return None

    async def ratings_last_published(self, venue_id: int) -> dict[str, int]:
        return {}

    async def ratings_shown(self, venue_id: int, system: str) -> dict[int, Any]:
        return {}

    async def refits_state(self, venue_id: int, system: str) -> None:
        return None

    async def refits_last(self, venue_id: int, system: str) -> int:
        return 0

    async def refits_after(self, venue_id: int, system: str, after: int = 0, limit: int | None = None) -> list[Any]:
        return []

    async def pairings_meetings(self, venue_id: int) -> list[Any]:
        return []

    async def pairings_recent_opponents(self, venue_id: int, last: int) -> dict[int, list[int]]:
        return {}

    async def pairings_thinking(self, venue_id: int, games: int) -> dict[int, float]:
        return {}

    async def pairings_halves(self, venue_id: int) -> list[Any]:
        return []

    async def pairings_suspensions(self, venue_id: int) -> list[Any]:
        return []

    async def pairings_last_round(self, venue_id: int) -> int:
        return 0

    async def games_untold(self, venue_id: int, version_id: int, since: int) -> list[StoredGame]:
        return self.untold

    async def games_stored(self, game_id: int) -> StoredGame | None:
        return self.stored.get(game_id)

    async def games_begun(self, venue_id: int, version_id: int, since: int) -> int:
        return self.begun


class InlineExecutor:
    """Computes refits here and now."""

    async def refit(self, system: Refitting, job: Any, cold: bool) -> Fit:
        return system.refit(job)

    async def ranks(self, task: Callable[[], Ranks]) -> Ranks:
        return task()


class HeldExecutor:
    """Decides every pass here, once its gate is open.

    :ivar fault: raised instead
    """

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.gate.set()
        self.fault: Exception | None = None

    async def decide(self, method: str, options: Mapping[str, Any], pairing_pass: PairingPass, seed: int) -> Decided:
        await self.gate.wait()
        if self.fault is not None:
            raise self.fault
        return decide(method, options, pairing_pass, seed)


class NoGames:
    """A past in which nobody played."""

    async def games(self, version: str, venue: str, limit: int | None = None) -> list[Any]:
        return []


class House:
    """One venue with its store, time and bots. With `beside` it is a second venue of that house's server."""

    def __init__(self, rated: bool = True, beside: House | None = None, **pairing: Any) -> None:
        self.time = beside.time if beside else SimulatedTime()
        self.store = beside.store if beside else HistoryStore()
        self.accounts = beside.accounts if beside else Accounts()
        self.families = Families({}, {})
        self.tasks: list[asyncio.Task[None]] = beside.tasks if beside else []
        self.ids = beside.ids if beside else Ids(NextIds._make(1 for _ in NextIds._fields))
        self.venue = Venue(
            id=2 if beside else 1, name="sandbox" if beside else "9x9", rules=Ruleset(),
            time=TimeControl(system=TimeSystem.ABSOLUTE, main=60 * S), move_limit=243, first_move_limit=60 * S,
            pairing=PairingSettings(settle=0, **pairing), rated=rated,
        )  # fmt: skip
        self.deciding = HeldExecutor()
        self.live: LiveVenue
        self.sessions: dict[str, RecordingSession] = {}

    async def open(self) -> House:
        shared = Shared(
            store=self.store,  # type: ignore[arg-type]
            time=self.time,
            bus=Bus(lambda error: pytest.fail(repr(error))),
            ids=self.ids,
            accounts=self.accounts,  # type: ignore[arg-type]
            metrics=Metrics(CollectorRegistry(), "test"),
            names={},
            families=self.families,
            operators=self.operators,
            spawn=self.spawn,
            refit_executor=InlineExecutor(),
            pairing_executor=self.deciding,
            build="test",
            history=NoGames(),
            folded=lambda _venue, _entry: None,
        )
        self.live = await open_venue(self.venue, shared)
        return self

    def operators(self, venue: str, operator: Operator, address: str) -> OperatorDesk:
        raise Invalid(Code.OPERATOR, f"No operators in {venue} from {address}.")

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self.tasks.append(asyncio.get_running_loop().create_task(work))

    async def sign_in(
        self, name: str, secret: str = "secret", session: RecordingSession | None = None
    ) -> RecordingSession:
        session = session or RecordingSession(len(self.sessions) + 1)
        self.live.arrivals.sign_in(session, Credentials(name, secret, None, "test", False, "127.0.0.1"))
        await asyncio.gather(*self.tasks)
        self.sessions[name] = session
        return session

    async def check_in(
        self, name: str, slots: int = 1, limits: Limits | None = None, known: tuple[Known, ...] = (), *others: House
    ) -> RecordingSession:
        """A bot of several slots, by one connection into this venue and `others`; its session here."""
        houses = (self, *others)
        sessions = {
            house.venue.name: RecordingSession(100 * len(self.sessions) + at, says_ready=False)
            for at, house in enumerate(houses)
        }
        concierge = MultiVenueSignIn({house.venue.name: house.live.arrivals for house in houses})
        credentials = Credentials(name, "secret", None, "test", True, "127.0.0.1")
        concierge.sign_in(sessions, credentials, Wish(slots, limits or Limits(), known))
        await self.settle()
        for house in houses:
            house.sessions[name] = sessions[house.venue.name]
        return sessions[self.venue.name]

    async def settle(self) -> None:
        """Wait for everything that was spawned, and for what that spawned."""
        while any(not task.done() for task in self.tasks):
            await asyncio.gather(*self.tasks)

    async def arrive(self, *names: str) -> list[RecordingSession]:
        return [await self.sign_in(name) for name in names]

    async def run_pass(self) -> None:
        await self.live.matchmaker.run_pass()
        self.time.advance(0)

    def finish(self) -> None:
        """Every running game ends by resignation; everybody says ready."""
        for game in list(self.live.roster.games()):
            game.move(game.referee.to_play, "resign", None, self.time.received())
        for player in list(self.live.roster.players.values()):
            self.live.lobby.ready(player)

    def opponents(self) -> set[frozenset[str]]:
        return {frozenset(side.name for side in game.sides) for game in self.live.roster.games()}
