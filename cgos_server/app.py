"""The composition root: a table of contents of a running server.

Start reading here: :meth:`App._live` says in which order a server is built, runs, and is taken apart. Everything is
made there, or by a part of :mod:`cgos_server.assembly`, and handed to whoever needs it; nothing is global.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import msgspec
import structlog
from prometheus_client import CollectorRegistry

from cgos_protocol.errors import EXIT_DISK, CgosError, Code, CommitFailed, Conflict
from cgos_protocol.facts import GameEnded
from cgos_server import __version__
from cgos_server.assembly.database import open_database
from cgos_server.assembly.faults import report
from cgos_server.assembly.listeners import Listeners
from cgos_server.assembly.pages import Pages
from cgos_server.assembly.spawning import Spawner
from cgos_server.config import Config, enroll_venues
from cgos_server.config.reloading import changed
from cgos_server.config.schema import AccountsMode
from cgos_server.config.venues import venue_value
from cgos_server.core.venue import Venue
from cgos_server.net import control_socket
from cgos_server.net.forwarded import comes_from
from cgos_server.net.health import Probe
from cgos_server.net.loop import LoopTime, PollClock
from cgos_server.observability.logs import LogCounts
from cgos_server.observability.metrics import Metrics
from cgos_server.observability.transcript_files import FOLDER, forget
from cgos_server.observability.transcripts import Transcripts
from cgos_server.runtime.bus import Bus
from cgos_server.runtime.concierge import HouseConcierge
from cgos_server.runtime.deciding import PairingProcess
from cgos_server.runtime.fitting import FitProcesses
from cgos_server.runtime.housekeeping import calm_collector, look_after, measure_lag
from cgos_server.runtime.live_control import LiveControl
from cgos_server.runtime.live_venue import LiveVenue, Shared, bots_by_state, open_venue, reconfigure, running
from cgos_server.runtime.operator_desk import Operators
from cgos_server.runtime.recovery import cut_off, restore
from cgos_server.service.accounts import Accounts
from cgos_server.service.admin import Admin
from cgos_server.service.build import one_thread, this_build
from cgos_server.service.failures import Failures
from cgos_server.service.families import Families
from cgos_server.service.ids import Ids
from cgos_server.service.passwords import Passwords
from cgos_server.service.sessions import DAY_MS
from cgos_server.storage.store import Store
from cgos_server.web.site import Work

log = structlog.get_logger(__name__)


class _Stopped(Exception):
    """The server was told to stop while it was starting."""


class App:
    """One server process.

    :param clock: the selector of the running loop
    :param logs: what was counted while logging was set up
    :param origin: where the configuration comes from, for messages
    :param reread: reads it again, from where it came from; raises ConfigErrors
    :param started: called once everything listens
    """

    def __init__(
        self,
        config: Config,
        clock: PollClock,
        logs: LogCounts,
        origin: str,
        started: Callable[[App], None],
        reread: Callable[[], Config] | None = None,
    ) -> None:
        self.config = config
        self.venues: dict[str, LiveVenue] = {}
        self._clock = clock
        self._logs = logs
        self._origin = origin
        self._started = started
        self._reread = reread
        self._reloading = asyncio.Lock()
        self._stop = asyncio.Event()
        self._at_once = False
        self._progress = asyncio.Event()
        self._failure: CommitFailed | None = None
        self._listeners: Listeners | None = None
        self._pages: Pages | None = None
        self._spawner: Spawner | None = None

    @property
    def ws_url(self) -> str:
        """Where `cgos.v2` is spoken; empty where it is not."""
        return "" if self._listeners is None else self._listeners.ws_url

    @property
    def web_url(self) -> str:
        """Where the pages are; empty where there are none."""
        return "" if self._pages is None else self._pages.url

    @property
    def health_url(self) -> str:
        """Where health and metrics are told."""
        return "" if self._listeners is None else self._listeners.health_url

    async def run(self) -> int:
        """Run until a signal, `drain` or a fault of the disk; the exit code. Every told move is safe then."""
        loop = asyncio.get_running_loop()
        handled = {signal.SIGTERM: self._signaled, signal.SIGINT: self._signaled, signal.SIGHUP: self._hung_up}
        for number, handler in handled.items():
            loop.add_signal_handler(number, handler)
        try:
            async with AsyncExitStack() as stack:
                await self._live(stack)
        except BaseExceptionGroup as group:
            # A task group wraps what its body raises; a refusal at the start is for a person to read.
            if group.split(_Stopped)[1] is None:
                return 0
            refusals, rest = group.split((CgosError, OSError))
            if refusals is None or rest is not None:
                raise
            refusal = refusals.exceptions[0]
            raise refusal from refusal.__cause__
        finally:
            for number in handled:
                loop.remove_signal_handler(number)
        return 0 if self._failure is None else EXIT_DISK

    # -- building

    async def _live(self, stack: AsyncExitStack) -> None:
        config = self.config
        time = LoopTime(asyncio.get_running_loop(), self._clock)
        registry = CollectorRegistry()
        metrics = Metrics(registry, __version__)
        store = await open_database(
            stack,
            config.server,
            time=time,
            meter=metrics.commits,
            soon=self._clock.before_poll,
            failed=self._commit_failed,
        )
        ids = Ids(await store.history.server.next_ids())
        passwords = stack.enter_context(Passwords(config.limits.password_queue))
        families = await Families.load(store, config.server.families)
        accounts = self._accounts(store, ids, passwords, time=time, families=families)
        venues = await enroll_venues(config, store, time.wall_ms(), self._origin)
        one_thread()
        async with asyncio.TaskGroup() as group:
            spawner = self._spawner = Spawner(group)
            bus = Bus(report)
            bus.subscribe(GameEnded, lambda _: self._progress.set())
            control = LiveControl(
                venues=self.venues,
                store=store,
                time=time,
                metrics=metrics,
                logs=self._logs,
                addresses=lambda: (self.ws_url, self.web_url, self.health_url),
                drain=self._stop.set,
                reload=self._reload,
            )
            admin = self._admin(accounts, control)
            shared = Shared(
                store=store,
                time=time,
                bus=bus,
                ids=ids,
                accounts=accounts,
                metrics=metrics,
                names=await store.history.bots.version_names(),
                families=families,
                operators=Operators(self.venues, admin, store, spawner.spawn),
                spawn=spawner.spawn,
                fitting=stack.enter_context(FitProcesses()),
                deciding=stack.enter_context(PairingProcess()),
                build=this_build().text,
                history=store.history.changes,
                folded=self._folded,
            )
            await self._open_venues(venues, shared)
            transcripts = await self._transcripts(stack)
            listeners = self._listeners = Listeners(config, time, metrics, transcripts)
            self._watch(metrics, store, passwords, transcripts)
            stack.push_async_callback(self._close_connections)
            stack.callback(listeners.close)  # what listens already when a later port is refused
            lobbies = {name: live.lobby for name, live in self.venues.items()}
            concierge = HouseConcierge(lobbies, accounts, time, spawner.spawn)
            await listeners.open_ports(self.venues, ids.connection, concierge)
            await stack.enter_async_context(control_socket.serve(config.server.data, admin.answer))
            health = listeners.health(_probes(store, control), registry)
            pages = self._pages = Pages(config, time, metrics, bus)
            works = [*await pages.open(stack, listeners, self.venues, admin.answer), *self._works(time, metrics)]
            tasks = [group.create_task(health.run()), *(group.create_task(_run(work)) for work in works)]
            self._say_started()
            await self._stop.wait()
            await self._drain(control)
            listeners.close()
            self._suspend()
            await self._close_connections()
            health.stop()
            pages.stop()
            for task in tasks:
                task.cancel()
            spawner.cancel()
        for live in self.venues.values():
            live.refitter.save()

    # -- its parts, in order

    def _accounts(
        self, store: Store, ids: Ids, passwords: Passwords, *, time: LoopTime, families: Families
    ) -> Accounts:
        config = self.config
        return Accounts(
            store,
            ids,
            passwords,
            config.server.registration.value,
            now_ms=time.wall_ms,
            failures=Failures(
                config.limits.failed_logins, round(config.limits.failed_login_pause_s * 1000), time.wall_ms
            ),
            may_command=lambda address: comes_from(address, config.admin.networks.parts, config.listen.proxies.parts),
            families=families,
        )

    def _admin(self, accounts: Accounts, control: LiveControl) -> Admin:
        return Admin(
            accounts,
            control,
            session_ms=round(self.config.web.session_days * DAY_MS),
            accounts_open=self.config.web.accounts is AccountsMode.OPEN,
        )

    async def _open_venues(self, venues: list[Venue], shared: Shared) -> None:
        """Every venue with the games that a stop has left unfinished."""
        for venue in venues:
            self.venues[venue.name] = await open_venue(venue, shared)
        store = shared.store
        if left_open := await store.history.server.left_open():
            await store.commit(cut_off(left_open))
        by_id = {live.venue.id: live for live in self.venues.values()}
        restored, waiting = restore(await store.history.games.unfinished(), by_id)
        if restored or waiting:
            log.info("unfinished games", restored=restored, of_venues_not_configured=waiting)
        for live in self.venues.values():
            await live.gallery.open()

    def _folded(self, venue: str, entry: int) -> None:
        log.info("folding results into ratings", venue=venue, entries=entry)
        if self._stop.is_set():
            raise _Stopped

    async def _transcripts(self, stack: AsyncExitStack) -> Transcripts | None:
        """What takes down what is said; None where nothing is kept, and what was kept is removed."""
        kept = self.config.transcripts
        folder: Path = self.config.server.data / FOLDER
        if kept.days > 0:
            return stack.enter_context(Transcripts(folder, kept.days, kept.bytes_per_bot))
        await asyncio.to_thread(forget, folder)
        return None

    def _watch(self, metrics: Metrics, store: Store, passwords: Passwords, transcripts: Transcripts | None) -> None:
        listeners = self._listeners
        assert listeners is not None
        metrics.watch(
            transcripts_dropped=lambda: 0 if transcripts is None else transcripts.dropped,
            connections=lambda: listeners.open,
            bots=self._bots,
            games=lambda: {name: len(running(venue)) for name, venue in self.venues.items()},
            commit_queue=lambda: store.pending,
            commit_failing=lambda: not store.healthy,
            password_queue=lambda: passwords.waiting,
            log_events=self._logs.by_level,
        )

    def _works(self, time: LoopTime, metrics: Metrics) -> Iterator[Work]:
        """What runs as long as the server."""
        listeners = self._listeners
        assert listeners is not None
        for venue in self.venues.values():
            yield from (venue.matchmaker.run, venue.gallery.run, venue.refitter.run, venue.watch.run)
        yield lambda: look_after([venue.lobby for venue in self.venues.values()])
        yield lambda: measure_lag(time, metrics.loop_lag)
        yield lambda: calm_collector(lambda: listeners.open)

    def _say_started(self) -> None:
        log.info(
            "started",
            venues={name: venue.port for name, venue in self.venues.items()},
            websocket=self.ws_url,
            web=self.web_url,
            health=self.health_url,
            data=str(self.config.server.data),
        )
        self._started(self)

    # -- another configuration

    def _hung_up(self) -> None:
        """SIGHUP: read the configuration again."""
        if self._spawner is not None:
            self._spawner.spawn(self._reload_and_log())

    async def _reload_and_log(self) -> None:
        try:
            await self._reload()
        except CgosError as error:
            log.error("the configuration stays as it was", why=str(error))

    async def _reload(self) -> list[str]:
        """Read the configuration again and put in force what can be, all or nothing; sentences that say what has
        changed and what has to wait for a restart. Raises ConfigErrors, Refused."""
        if self._reread is None:
            raise Conflict(Code.NO_RELOAD, "This server was not started from a configuration that can be read again.")
        async with self._reloading:  # what was read first must not come last
            return await self._read_again(self._reread)

    async def _read_again(self, reread: Callable[[], Config]) -> list[str]:
        new = await asyncio.to_thread(reread)
        found = changed(self.config, new)
        pairings = {
            venue.name: await asyncio.to_thread(venue_value, venue, self.venues[venue.name].venue.id)
            for venue in new.venue
            if venue.name in self.venues
        }
        said: list[str] = []
        for name, value in pairings.items():
            if value.pairing != self.venues[name].venue.pairing:
                reconfigure(self.venues[name], value.pairing)
                said += found.now.get(name, [f"{name}: what its files of openings hold has changed."])
        by_name = {venue.name: venue for venue in new.venue}
        self.config = msgspec.structs.replace(
            self.config,
            venue=tuple(
                msgspec.structs.replace(venue, pairing=by_name.get(venue.name, venue).pairing)
                for venue in self.config.venue
            ),
        )
        said += found.later
        log.info("configuration read again", changes=said)
        return said

    # -- ending

    def _signaled(self) -> None:
        """The first signal drains, the second one stops at once."""
        self._at_once = self._stop.is_set()
        self._progress.set()
        self._stop.set()

    def _commit_failed(self, failure: CommitFailed) -> None:
        log.error("commits failed for too long; stopping with every told move safe", why=str(failure))
        self._failure = failure
        self._at_once = True
        self._progress.set()
        self._stop.set()

    async def _drain(self, control: LiveControl) -> None:
        """No new game; the running ones may end for a while, then they are left as they are: committed."""
        control.draining = True
        for venue in self.venues.values():
            venue.matchmaker.draining = True
            for player in venue.lobby.idle():
                if player.session is not None:
                    player.session.info("The server goes down for a while and takes no new games. Please come back.")
        log.info("draining", games=self._begun())
        try:
            async with asyncio.timeout(self.config.server.drain_limit_s):
                while self._begun() and not self._at_once:
                    self._progress.clear()
                    await self._progress.wait()
        except TimeoutError:
            pass
        log.info("stopping", games_suspended=self._running())

    def _suspend(self) -> None:
        """From here on no game takes a move and no flag falls, however long the rest of the ending takes."""
        for venue in self.venues.values():
            for game in running(venue):
                game.suspend()

    async def _close_connections(self) -> None:
        """All are gone when this returns, so that the store hears of it while it is open."""
        if self._spawner is not None:
            self._spawner.closed = True
        for venue in self.venues.values():
            venue.lobby.stopping = True
        if self._listeners is not None:
            await self._listeners.cut()

    def _running(self) -> int:
        return sum(len(running(venue)) for venue in self.venues.values())

    def _begun(self) -> int:
        """With those that begin in a moment, when they are committed: their players have been chosen."""
        return sum(venue.lobby.begun() for venue in self.venues.values())

    def _bots(self) -> dict[tuple[str, str], int]:
        return {(name, state): n for name, live in self.venues.items() for state, n in bots_by_state(live).items()}


async def _run(work: Work) -> None:
    await work()


def _probes(store: Store, control: LiveControl) -> dict[str, Probe]:
    """What `/readyz` asks."""
    return {
        "database": lambda: (store.healthy, "commits return" if store.healthy else "commits do not return"),
        "drain": lambda: (not control.draining, "going down" if control.draining else "taking games"),
    }
