"""The composition root: builds a server from a configuration, runs it, and takes it apart in order.

Start reading here. Everything is made in :meth:`App._build` and handed to whoever needs it; nothing is global. What is
decided here is only the order of starting and stopping.
"""

from __future__ import annotations

import asyncio
import signal
import socket
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AsyncExitStack
from typing import Any

import msgspec
import structlog
from prometheus_client import CollectorRegistry

from cgos_server import __version__
from cgos_server.config import Config, enrol_venues
from cgos_server.config.reloading import changed
from cgos_server.config.schema import AccountsMode, WebMode
from cgos_server.config.values import us
from cgos_server.config.venues import venue_value
from cgos_server.core.facts import GameEnded
from cgos_server.errors import EXIT_DISK, CgosError, Code, CommitFailed, Conflict, Invalid, StoreError
from cgos_server.net import control_socket
from cgos_server.net.forwarded import comes_from
from cgos_server.net.health import health_app
from cgos_server.net.http import HttpListener
from cgos_server.net.limits import ConnectionCount, SocketLimits, room_for
from cgos_server.net.listening import bind, until_free
from cgos_server.net.loop import LoopTime, PollClock
from cgos_server.net.tcp import Port, listen
from cgos_server.net.websocket import listen_ws
from cgos_server.net.websocket_port import WsPort, WsSettings
from cgos_server.net.wire import Door, Ending
from cgos_server.observability.logs import LogCounts
from cgos_server.observability.metrics import Metrics
from cgos_server.observability.transcript_files import FOLDER, forget
from cgos_server.observability.transcripts import Transcripts
from cgos_server.protocol.ws_render import venue_info
from cgos_server.runtime.bus import Bus
from cgos_server.runtime.concierge import HouseConcierge
from cgos_server.runtime.deciding import PairingProcess
from cgos_server.runtime.fact_pipe import KINDS, FactPipe
from cgos_server.runtime.fitting import FitProcesses
from cgos_server.runtime.housekeeping import calm_collector, look_after, measure_lag
from cgos_server.runtime.live_control import LiveControl
from cgos_server.runtime.live_venue import LiveVenue, Shared, bots_by_state, open_venue, reconfigure, running
from cgos_server.runtime.operator_desk import Operators
from cgos_server.runtime.outages import Outage
from cgos_server.runtime.recovery import cut_off, restore
from cgos_server.runtime.web_process import WebProcess
from cgos_server.service.accounts import Accounts
from cgos_server.service.admin import Admin
from cgos_server.service.build import one_thread, this_build
from cgos_server.service.families import Families
from cgos_server.service.ids import Ids
from cgos_server.service.passwords import Passwords
from cgos_server.service.people import DAY_MS
from cgos_server.storage import schema
from cgos_server.storage.causes import cause_of
from cgos_server.storage.history import History
from cgos_server.storage.location import make_directory, note_elsewhere, others_may_look
from cgos_server.storage.lock import DatabaseLock
from cgos_server.storage.sql_store import SqlStore, open_store
from cgos_server.web.application import create_app
from cgos_server.web.remembering import REMEMBER_S
from cgos_server.web.settings import VenueSettings, WebSettings, command, environment
from cgos_server.web.site import Call, Work

log = structlog.get_logger(__name__)

_LOCK_PATIENCE_S = 3.0
"""How long the session of a server that was just killed may keep the lock of a database in PostgreSQL."""

_PAGES_PORT_S = 5.0
"""How long the web process of a server that was just killed may keep the port of the pages."""


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
        self.ws_url = self.web_url = self.health_url = ""
        self._ws_port = 0
        self._clock = clock
        self._logs = logs
        self._origin = origin
        self._started = started
        self._reread = reread
        self._reloading = asyncio.Lock()
        self._stop = asyncio.Event()
        self._at_once = False
        self._closing = False
        self._progress = asyncio.Event()
        self._failure: CommitFailed | None = None
        self._connections: set[Ending] = set()
        self._spawn: Callable[[Coroutine[Any, Any, None]], None] | None = None
        self._transcripts: Transcripts | None = None

    async def run(self) -> int:
        """Run until a signal, `drain` or a fault of the disk; the exit code. Every told move is safe then."""
        loop = asyncio.get_running_loop()
        handled = {signal.SIGTERM: self._signalled, signal.SIGINT: self._signalled, signal.SIGHUP: self._hung_up}
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
        data = config.server.data
        database = config.server.location
        try:
            make_directory(data)
            lock = stack.enter_context(DatabaseLock(database, "cgos-server serve", _LOCK_PATIENCE_S))
        except OSError as error:
            raise Invalid(
                Code.DATA,
                f"The data directory {data} cannot be used: {error.strerror}. Mend that, or name another one.",
            ) from error
        if others_may_look(data):
            log.warning(
                "other users of this machine can look into the data directory; if none of them has to: chmod 700",
                data=str(data),
            )
        await asyncio.to_thread(schema.prepare, database)
        if config.server.database is not None:
            note_elsewhere(data, config.server.database)
        registry = CollectorRegistry()
        metrics = Metrics(registry, __version__)
        time = LoopTime(asyncio.get_running_loop(), self._clock)
        commits = Outage(time, "commits fail and are tried again; nobody is told of a move meanwhile", "commits return")
        checkpoints = Outage(
            time,
            "the write-ahead log cannot be moved into the database, and grows; nothing is lost",
            "the write-ahead log is moved into the database",
        )

        def committed(records: int, seconds: float) -> None:
            metrics.commits.committed(records, int(seconds * 1e6))
            commits.worked()

        def failed(error: Exception) -> None:
            metrics.commits.failed()
            commits.failed(error, _remedy(error))

        def checkpointed(failure: StoreError | None) -> None:
            if failure is None:
                checkpoints.worked()
            else:
                checkpoints.failed(failure, _remedy(failure))

        store = await open_store(
            database,
            lock=lock,
            durability=config.server.durability.value,
            commit_timeout=config.server.commit_timeout_s,
            failed=self._commit_failed,
            on_error=_report,
            observe=committed,
            retrying=failed,
            checkpointed=checkpointed,
            soon=self._clock.before_poll,
        )
        stack.push_async_callback(store.close)
        ids = Ids(await store.next_ids())
        passwords = stack.enter_context(Passwords(config.limits.password_queue))
        families = await Families.load(store, config.server.families)
        accounts = Accounts(
            store,
            ids,
            passwords,
            config.server.registration.value,
            time.wall_ms,
            failed_logins=config.limits.failed_logins,
            failed_login_pause_s=config.limits.failed_login_pause_s,
            may_command=lambda address: comes_from(address, config.admin.networks.parts, config.listen.proxies.parts),
            families=families,
        )
        venues = await enrol_venues(config, store, time.wall_ms(), self._origin)
        one_thread()
        build = this_build().text
        async with asyncio.TaskGroup() as group:
            arrivals: set[asyncio.Task[None]] = set()

            def spawn(work: Coroutine[Any, Any, None]) -> None:
                if self._closing:
                    work.close()
                    return
                task = group.create_task(_guarded(work))
                arrivals.add(task)
                task.add_done_callback(arrivals.discard)

            bus = Bus(_report)
            bus.subscribe(GameEnded, lambda _: self._progress.set())
            control = LiveControl(
                self.venues,
                store,
                time,
                metrics,
                self._logs,
                lambda: (self.ws_url, self.web_url, self.health_url),
                self._stop.set,
                self._reload,
            )
            self._spawn = spawn
            admin = Admin(
                store,
                ids,
                accounts,
                passwords,
                time.wall_ms,
                control,
                families=families,
                session_ms=round(config.web.session_days * DAY_MS),
                accounts_open=config.web.accounts is AccountsMode.OPEN,
            )
            operators = Operators(self.venues, admin, store, spawn)
            shared = Shared(
                store, time, bus, ids, accounts, metrics, await store.version_names(), families, operators, spawn,
                stack.enter_context(FitProcesses()), stack.enter_context(PairingProcess()), build,
                await stack.enter_async_context(History(database)), self._folded,
            )  # fmt: skip
            for venue in venues:
                self.venues[venue.name] = await open_venue(venue, shared)
            await self._restore(store)
            for live in self.venues.values():
                await live.gallery.open()
            limits = self._socket_limits()
            count = ConnectionCount(limits)
            kept = self.config.transcripts
            transcripts = data / FOLDER
            if kept.days > 0:
                self._transcripts = stack.enter_context(Transcripts(transcripts, kept.days, kept.bytes_per_bot))
            else:
                await asyncio.to_thread(forget, transcripts)
            metrics.watch(
                transcripts_dropped=lambda: 0 if self._transcripts is None else self._transcripts.dropped,
                connections=lambda: count.open,
                bots=self._bots,
                games=lambda: {name: len(running(venue)) for name, venue in self.venues.items()},
                commit_queue=lambda: store.pending,
                commit_failing=lambda: not store.healthy,
                password_queue=lambda: passwords.waiting,
                log_events=self._logs.by_level,
            )
            stack.push_async_callback(self._close_connections)
            lobbies = {name: live.lobby for name, live in self.venues.items()}
            concierge = HouseConcierge(lobbies, accounts, time, spawn)
            servers: list[asyncio.Server] = []
            stack.callback(_close_all, servers)  # what listens already when a later port is refused
            await self._open_ports(servers, time, limits, count, metrics, ids, concierge)
            await stack.enter_async_context(control_socket.serve(data, admin.answer))
            health = self._health(registry, store, control)
            web, more = await self._web(stack, metrics, bus, time, admin.answer)
            works = [
                health.run(),
                *(() if web is None else (web.run(),)),
                *(work() for work in more),
                *(venue.matchmaker.run() for venue in self.venues.values()),
                *(venue.gallery.run() for venue in self.venues.values()),
                *(venue.refitter.run() for venue in self.venues.values()),
                *(venue.watch.run() for venue in self.venues.values()),
                look_after([venue.lobby for venue in self.venues.values()]),
                measure_lag(time, metrics.loop_lag),
                calm_collector(lambda: count.open),
            ]
            tasks = [group.create_task(work) for work in works]
            log.info("started", venues={name: venue.port for name, venue in self.venues.items()},
                     websocket=self.ws_url, web=self.web_url,
                     health=self.health_url, data=str(data))  # fmt: skip
            self._started(self)
            await self._stop.wait()
            await self._drain(control)
            _close_all(servers)
            self._suspend()
            await self._close_connections()
            health.stop()
            if web is not None:
                web.stop()
            for task in (*tasks, *arrivals):
                task.cancel()
        for live in self.venues.values():
            live.refitter.save()

    def _folded(self, venue: str, entry: int) -> None:
        log.info("folding results into ratings", venue=venue, entries=entry)
        if self._stop.is_set():
            raise _Stopped

    async def _restore(self, store: SqlStore) -> None:
        if left_open := await store.left_open():
            await store.commit(cut_off(left_open))
        by_id = {venue.venue.id: venue for venue in self.venues.values()}
        restored, waiting = restore(await store.unfinished_games(), by_id)
        if restored or waiting:
            log.info("unfinished games", restored=restored, of_venues_not_configured=waiting)

    def _socket_limits(self) -> SocketLimits:
        limits = self.config.limits
        room = room_for(limits.connections)
        if room < limits.connections:
            log.warning("the system's limit of open files leaves room for fewer connections than configured",
                        configured=limits.connections, room=room)  # fmt: skip
        return SocketLimits(
            room,
            limits.connections_per_address,
            us(limits.login_timeout_s),
            limits.outbox_bytes,
            limits.ignored_lines_per_minute,
        )

    async def _open_ports(
        self,
        servers: list[asyncio.Server],
        time: LoopTime,
        limits: SocketLimits,
        count: ConnectionCount,
        metrics: Metrics,
        ids: Ids,
        concierge: HouseConcierge,
    ) -> None:
        """Listen on every venue's port and on the WebSocket's; each is put into `servers` as soon as it listens."""
        settings = self.config.listen
        doors: dict[str, Door] = {}
        for config in self.config.venue:
            venue = self.venues[config.name]
            sock = self._bind(settings.bots_host, config.port, f"venue {config.name}")
            door = Door(
                venue.lobby, venue.gallery, time, limits, count, metrics, ids.connection,
                transcripts=self._transcripts, venue=config.name,
            )  # fmt: skip
            servers.append(await listen(Port(door, settings.proxies.parts, self._connections), sock, settings.backlog))
            venue.port = sock.getsockname()[1]
            doors[config.name] = door
        if self.config.websocket.enabled:
            servers.append(await self._open_websocket(doors, concierge))

    async def _open_websocket(self, doors: Mapping[str, Door], concierge: HouseConcierge) -> asyncio.Server:
        config = self.config.websocket
        door = next(iter(doors.values()))
        port = WsPort(
            concierge,
            doors,
            tuple(
                venue_info(live.venue, one.public_address.port or live.port)
                for one, live in zip(self.config.venue, self.venues.values(), strict=True)
            ),
            self.config.server.name,
            f"cgos-server {__version__}",
            door.time,
            door.limits,
            door.count,
            door.metrics,
            door.new_id,
            self.config.listen.proxies.parts,
            WsSettings(config.compression, config.max_message_bytes, us(config.ping_s), us(config.pong_timeout_s)),
            self._connections,
            self._transcripts,
        )
        sock = self._bind(config.host, config.port, "the WebSocket port")
        self.ws_url, self._ws_port = _url(sock, config.host, "ws"), sock.getsockname()[1]
        return await listen_ws(port, sock, self.config.listen.backlog)

    def _bind(self, host: str, port: int, whose: str) -> socket.socket:
        settings = self.config.listen
        return bind(host, port, whose, next_free=settings.next_free_port, backlog=settings.backlog)

    def _health(self, registry: CollectorRegistry, store: SqlStore, control: LiveControl) -> HttpListener:
        settings = self.config.health
        sock = self._bind(settings.host, settings.port, "health and metrics")
        self.health_url = _url(sock, settings.host)
        probes = {
            "database": lambda: (store.healthy, "commits return" if store.healthy else "commits do not return"),
            "drain": lambda: (not control.draining, "going down" if control.draining else "taking games"),
        }
        return HttpListener(health_app(probes, registry), sock)

    async def _web(
        self, stack: AsyncExitStack, metrics: Metrics, bus: Bus, time: LoopTime, answer: Call
    ) -> tuple[WebProcess | HttpListener | None, list[Work]]:
        """The pages, and what is to run beside them here."""
        settings = self.config.web
        if settings.mode is WebMode.OFF:
            return None, []
        sock = await until_free(lambda: self._bind(settings.host, settings.port, "the pages"), _PAGES_PORT_S)
        self.web_url = _url(sock, settings.host)
        server = self.config.server
        shown = WebSettings(
            server_name=server.name,
            venues={
                config.name: VenueSettings.of(live.venue, live.port, str(config.public_address))
                for config, live in zip(self.config.venue, self.venues.values(), strict=True)
            },
            bots_host=self.config.listen.bots_host,
            registration=server.registration.value,
            websocket=self._ws_port,
            websocket_url=str(self.config.websocket.public_url),
            public_url=settings.public_url.rstrip("/"),
            proxies=tuple(map(str, settings.proxies.parts)),
            accounts=settings.accounts.value,
            requests_per_minute=settings.requests_per_minute,
            streams_per_address=settings.streams_per_address,
            exports_at_once=settings.exports_at_once,
            webhooks_to=tuple(map(str, settings.webhooks_to.parts)),
            transcript_days=self.config.transcripts.days,
        )
        if settings.mode is WebMode.INLINE:
            history = await stack.enter_async_context(History(server.location))
            pages = create_app(history, shown, call=answer, data=server.data, remember_s=REMEMBER_S)
            for kind in KINDS:
                bus.subscribe(kind, pages.heard)
            return HttpListener(pages, sock), [pages.run]
        argv = command(server.data, shown, server.log_format.value, server.log_level.value)
        pipe = FactPipe(bus, time, dropped=metrics.facts_dropped)
        web = WebProcess(
            argv, sock, environment(server.database), log=log, restarted=metrics.web_restarted, telling=pipe
        )
        return web, []

    # -- another configuration

    def _hung_up(self) -> None:
        """SIGHUP: read the configuration again."""
        if self._spawn is not None:
            self._spawn(self._reload_and_log())

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

    def _signalled(self) -> None:
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
        self._closing = True
        for venue in self.venues.values():
            venue.lobby.stopping = True
        for connection in list(self._connections):
            connection.shut()
        await asyncio.sleep(0)
        for connection in list(self._connections):
            connection.cut()
        await asyncio.sleep(0)

    def _running(self) -> int:
        return sum(len(running(venue)) for venue in self.venues.values())

    def _begun(self) -> int:
        """With those that begin in a moment, when they are committed: their players have been chosen."""
        return sum(venue.lobby.begun() for venue in self.venues.values())

    def _bots(self) -> dict[tuple[str, str], int]:
        return {(name, state): n for name, live in self.venues.items() for state, n in bots_by_state(live).items()}


def _close_all(servers: list[asyncio.Server]) -> None:
    for server in servers:
        server.close()


async def _guarded(work: Coroutine[Any, Any, None]) -> None:
    """A fault of ours in one sign-in must not end the server."""
    try:
        await work
    except CommitFailed:
        pass  # said once, when commits were given up
    except Exception as error:
        _report(error)


def _remedy(error: Exception) -> str | None:
    cause = cause_of(error)
    return None if cause is None else cause.value


def _report(error: Exception) -> None:
    remedy = _remedy(error) if isinstance(error, StoreError) else None
    if remedy is None:
        log.error("our fault", exc_info=error)
    else:
        log.error("the database does not answer", why=str(error), remedy=remedy)


def _url(sock: socket.socket, host: str, scheme: str = "http") -> str:
    shown = host if host not in ("", "0.0.0.0", "::") else "localhost"
    shown = f"[{shown}]" if ":" in shown else shown
    return f"{scheme}://{shown}:{sock.getsockname()[1]}"
