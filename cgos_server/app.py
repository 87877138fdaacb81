"""The composition root: a table of contents of a running server.

Start reading here: :meth:`App._live` says in which order a server is built, runs, and is taken apart. Everything is
made there, or by a part of :mod:`cgos_server.assembly`, and handed to whoever needs it; nothing is global.
"""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

import structlog

from cgos_protocol.errors import EXIT_DISK, EXIT_OVERTAKEN, CgosError, Code, Overtaken, Refused, StoreError
from cgos_protocol.facts import GameEnded
from cgos_server.assembly.foundations import Foundations, open_foundations
from cgos_server.assembly.handover import Handover
from cgos_server.assembly.launching import START_S, Launch, stay_watched
from cgos_server.assembly.listeners import Listeners
from cgos_server.assembly.pages import Pages
from cgos_server.assembly.reaching import kept_files
from cgos_server.assembly.reloading import Reloading
from cgos_server.assembly.spawning import Spawner
from cgos_server.assembly.standing_by import LOOK_EVERY_S, Standby, nodes_of
from cgos_server.assembly.stopping import Stop, Stopped
from cgos_server.config.schema import Config
from cgos_server.config.venues import enroll_venues
from cgos_server.core.venue import Venue
from cgos_server.live.events.director import EventDirector
from cgos_server.live.events.event_facts import event_facts
from cgos_server.live.events.event_figures import EventFigures
from cgos_server.live.events.event_pairer import EventPairing
from cgos_server.live.events.herald import EventHerald
from cgos_server.live.games.recovery import cut_off, restore
from cgos_server.live.pairing.executor import PairingProcess
from cgos_server.live.processes.backups import BackupSchedule, Plan
from cgos_server.live.processes.bot_changes import BotChanges
from cgos_server.live.processes.fact_notices import FactNotices
from cgos_server.live.processes.housekeeping import calm_collector, look_after, measure_lag
from cgos_server.live.processes.pruning import BackgroundPruner
from cgos_server.live.processes.sizes import Sizes
from cgos_server.live.questions.director import QuestionDirector
from cgos_server.live.questions.herald import QuestionHerald
from cgos_server.live.questions.question_facts import QuestionFacts
from cgos_server.live.questions.question_figures import QuestionFigures
from cgos_server.live.ratings.refit_executor import FitProcesses
from cgos_server.live.signing_in.multi_venue import MultiVenueSignIn
from cgos_server.live.venue.elsewhere import Elsewhere
from cgos_server.live.venue.live_control import Addresses, LiveControl, ServerActs
from cgos_server.live.venue.live_venue import LiveVenue, Shared, bots_by_state, open_venue, running
from cgos_server.live.venue.operator_session import Operators
from cgos_server.net import control_socket, node_control
from cgos_server.net.health import Probe
from cgos_server.net.loop import PollClock
from cgos_server.net.tls.certificates import CertificateKeeper
from cgos_server.observability.logs import LogCounts
from cgos_server.observability.notifying import SERVING
from cgos_server.observability.transcript_files import FOLDER, forget
from cgos_server.observability.transcripts import Transcripts
from cgos_server.service.admin import Admin
from cgos_server.service.people.sessions import DAY_MS
from cgos_server.service.pruning import Kind, Pruner
from cgos_server.service.ratings.build import one_thread, this_build
from cgos_server.storage.store import Store

if TYPE_CHECKING:
    from cgos_server.web.site import Work

log = structlog.get_logger(__name__)


_GOES_DOWN: Final = "The server goes down for a while and takes no new games. Please come back."
_HANDED_OVER: Final = "Another machine goes on with all games. Please come back at once."
_UPGRADED: Final = "The server is upgraded and cuts all connections. Please come back at once: all games go on."


_ENDING_S: Final = 30.0
"""What an end may take after its games, for a supervisor."""


class App:
    """One server process.

    :param clock: the selector of the running loop
    :param logs: what was counted while logging was set up
    :param origin: where the configuration comes from, for messages
    :param reread: reads it again, from where it came from; raises ConfigErrors
    :param started: called once everything listens
    :param launch: how this process was started
    :ivar addresses: where it listens, for people
    :ivar handover: who takes over at the end
    """

    def __init__(
        self,
        config: Config,
        clock: PollClock,
        logs: LogCounts,
        origin: str,
        started: Callable[[App], None],
        reread: Callable[[], Config] | None = None,
        launch: Launch | None = None,
    ) -> None:
        self.venues: dict[str, LiveVenue] = {}
        self.addresses = Addresses()
        self.stop = Stop()
        self._config = self._whole = config
        self._clock = clock
        self._logs = logs
        self._origin = origin
        self._started = started
        self._launch = launch = launch or Launch()
        self.handover = Handover(launch.program, launch.ports, self.stop, config.server)
        self._reloading = Reloading(config, self.venues, reread, launch.supervisor)
        self._spawner: Spawner | None = None
        self._nodes = nodes_of(config, launch)
        self._elsewhere = Elsewhere()
        self._files = kept_files(config)

    async def run(self) -> int:
        """Run until a signal, `drain` or a fault of the disk; the exit code. Every told move is safe then."""
        loop = asyncio.get_running_loop()
        handled = {signal.SIGTERM: self.stop.ask, signal.SIGINT: self.stop.ask, signal.SIGHUP: self._hung_up}
        for number, handler in handled.items():
            loop.add_signal_handler(number, handler)
        try:
            async with AsyncExitStack() as stack:
                await self._live(stack)
        except Stopped:
            return 0
        except BaseExceptionGroup as group:
            # A task group wraps what its body raises; a refusal at the start is for a person to read.
            if group.split(Stopped)[1] is None:
                return 0
            refusals, rest = group.split((CgosError, OSError))
            if refusals is None or rest is not None:
                raise
            refusal = refusals.exceptions[0]
            raise refusal from refusal.__cause__
        finally:
            for number in handled:
                loop.remove_signal_handler(number)
        if self.stop.failure is None:
            return EXIT_OVERTAKEN if self.stop.handed_over else 0
        return EXIT_OVERTAKEN if isinstance(self.stop.failure, Overtaken) else EXIT_DISK

    async def _live(self, stack: AsyncExitStack) -> None:
        base = await self._foundations(stack)
        config = self._config
        base.bus.subscribe(GameEnded, self.stop.game_ended)
        venues = await enroll_venues(config, base.store, base.time.wall_ms(), self._origin)
        one_thread()
        async with asyncio.TaskGroup() as group:
            spawner = self._spawner = Spawner(group)
            control = self._control(base)
            pruner = self._pruner(base)
            admin = self._admin(base, control, pruner)
            await self._open_venues(venues, await self._shared(stack, base, admin=admin, spawner=spawner))
            director, herald = await self._open_events(stack, base, control=control, spawner=spawner)
            questions = await self._open_questions(base, control, admin=admin, spawner=spawner)
            keeper = self._open_certificate(base)
            listeners = await self._open_listeners(stack, base, spawner=spawner, keeper=keeper)
            await stack.enter_async_context(control_socket.serve(config.server.data, admin.answer))
            await self._answer_nodes(stack, listeners, admin)
            pages = Pages(self._whole, base, self.addresses)
            probes = _probes(base.store, control)
            base.metrics.watch(ready=lambda: all(probe()[0] for probe in probes.values()))
            health = listeners.health(probes, base.registry, pages.metrics)
            works = [*await pages.open(stack, listeners, self.venues, admin.answer), *self._works(base, listeners)]
            works += [director.run, herald.run, questions.run, pruner.run, self._backups(base).run]
            if base.store.sharing.block:
                works += self._works_of_node(base, control, admin)
            works += [] if keeper is None else [keeper.run]
            probed = group.create_task(health.run())
            tasks = [probed, *(group.create_task(_run(work)) for work in works)]
            control.pause_s = self._launch.ports.opened()
            self._say_started(control.pause_s)
            await self.stop.wanted.wait()
            await self._drain(control)
            if self.stop.replaced:
                self.handover.keep()  # health and pages in this process close theirs
                health.stop()
                await asyncio.gather(pages.end(), asyncio.wait([probed]))  # while the games go on
                self.handover.leave()
                base.store.hand_on()
            listeners.close()
            self._suspend()
            await self._close_connections(spawner, listeners)
            health.stop()
            pages.stop()
            for task in tasks:
                task.cancel()
            spawner.cancel()
        for live in self.venues.values():
            live.refitter.save()

    # -- its parts, in order

    async def _foundations(self, stack: AsyncExitStack) -> Foundations:
        """Of a node of a cluster: once a group of venues is its to have; no other venue is configured from then on."""
        config = self._config
        if not self._nodes:
            return await open_foundations(stack, config, self._clock, self.stop.commit_failed)
        standby = Standby(config, self._nodes, launch=self._launch, stop=self.stop, logs=self._logs)
        while True:
            node = await standby.wait()
            self._config = config.of_group(node.group)
            others = {venue.name: venue.group for venue in config.venue if venue.group != node.group}
            self._elsewhere = Elsewhere(others, node=node.name, group=node.group)
            try:
                async with AsyncExitStack() as laid:
                    failed = self.stop.commit_failed
                    base = await open_foundations(laid, self._config, self._clock, failed, node=node)
                    stack.push_async_exit(laid.pop_all())
                    return base
            except (Refused, StoreError) as error:
                passes = isinstance(error, StoreError) or error.code in (Code.GROUP_HELD, Code.DATABASE_LOCKED)
                if not (self._launch.standby and passes):
                    raise
                log.info("the venues were not to be had", why=str(error))
                await asyncio.sleep(LOOK_EVERY_S)

    def _control(self, base: Foundations) -> LiveControl:
        return LiveControl(
            venues=self.venues,
            store=base.store,
            time=base.time,
            metrics=base.metrics,
            logs=self._logs,
            addresses=self.addresses,
            acts=ServerActs(
                drain=self.stop.wanted.set,
                reload=self._reloading.reload,
                check_upgrade=self.handover.check,
                upgrade=self.handover.begin,
                hand_over=self.stop.hand_over,
            ),
            elsewhere=self._elsewhere,
        )

    def _pruner(self, base: Foundations) -> BackgroundPruner:
        for kind in Kind:
            base.metrics.pruned(kind.value, 0)
        return BackgroundPruner(
            base.store,
            lambda: self._reloading.config.retention.days(),
            time=base.time,
            counted=lambda kind, rows: base.metrics.pruned(kind.value, rows),
        )

    def _backups(self, base: Foundations) -> BackupSchedule:
        def plan() -> Plan:
            config = self._reloading.config
            return Plan(config.backups, config.backup.at.minute, config.backup.keep)

        location = self._config.server.location
        return BackupSchedule(location, plan, time=base.time, meter=base.metrics.backups)

    def _admin(self, base: Foundations, control: LiveControl, pruner: Pruner) -> Admin:
        return Admin(
            base.accounts,
            control,
            pruner=pruner,
            session_ms=round(self._config.web.session_days * DAY_MS),
            accounts_open=self._config.web.accounts == "open",
            files=self._files,
        )

    def _works_of_node(self, base: Foundations, control: LiveControl, admin: Admin) -> list[Work]:
        """What a node does besides, as others change what is common to all."""
        sharing = base.store.sharing
        changes = BotChanges(
            base.store,
            control,
            families=base.families,
            ledgers=admin.ledgers,
            here=lambda: {player.bot for venue in self.venues.values() for player in venue.roster.here()},
            now_ms=base.time.wall_ms,
        )
        notices = FactNotices(base.bus, sharing.tell, dropped=base.metrics.facts_dropped)
        return [changes.run, notices.run, lambda: base.ids.stock(sharing), lambda: self._elsewhere.run(sharing)]

    async def _shared(self, stack: AsyncExitStack, base: Foundations, *, admin: Admin, spawner: Spawner) -> Shared:
        return Shared(
            store=base.store,
            time=base.time,
            bus=base.bus,
            ids=base.ids,
            accounts=base.accounts,
            metrics=base.metrics,
            names=await base.store.history.bots.version_names(),
            families=base.families,
            operators=Operators(self.venues, admin, base.store, spawner.spawn),
            spawn=spawner.spawn,
            refit_executor=stack.enter_context(closing(FitProcesses())),
            pairing_executor=stack.enter_context(closing(PairingProcess())),
            build=this_build().text,
            history=base.store.history.changes,
            folded=self._folded,
        )

    async def _open_venues(self, venues: Sequence[Venue], shared: Shared) -> None:
        """Every venue with the games that a stop has left unfinished."""
        for venue in venues:
            self.venues[venue.name] = await open_venue(venue, shared)
        store = shared.store
        left_open = await store.history.server.left_open()
        if ours := await store.sharing.ours("connection", left_open):
            await store.commit(cut_off({number: at for number, at in left_open.items() if number in ours}))
        by_id = {live.venue.id: live for live in self.venues.values()}
        others = [venue.id for venue in await store.history.server.venues() if venue.name in self._elsewhere]
        restored, waiting = restore(await store.history.games.unfinished(others), by_id)
        if restored or waiting:
            log.info("unfinished games", restored=restored, of_venues_not_configured=waiting)
        for live in self.venues.values():
            await live.gallery.open()

    async def _open_events(
        self, stack: AsyncExitStack, base: Foundations, control: LiveControl, spawner: Spawner
    ) -> tuple[EventDirector, EventHerald]:
        """The events that are not over, as they stand after the games of before."""
        pairing = stack.enter_context(closing(EventPairing()))
        director = EventDirector(
            self.venues, base.store, time=base.time, ids=base.ids, pairer=pairing, elsewhere=self._elsewhere
        )
        await director.open()
        figures = EventFigures(director.runners, self.venues)
        director.committed += [event_facts(base.bus, base.time.wall_ms), figures.heard]
        base.metrics.watch(events=figures.events, event_games=figures.games, event_games_begun=figures.begun)
        control.events = director
        herald = EventHerald(director, self.venues, base.store, time=base.time, spawn=spawner.spawn)
        herald.open()
        return director, herald

    async def _open_questions(
        self, base: Foundations, control: LiveControl, *, admin: Admin, spawner: Spawner
    ) -> QuestionDirector:
        """The questions that have not ended, as they stand after the games of before."""
        director = QuestionDirector(
            self.venues,
            base.store,
            time=base.time,
            ids=base.ids,
            policy=lambda: self._reloading.config.questions.policy,
            elsewhere=self._elsewhere,
        )
        await director.open()
        figures = QuestionFigures(director)
        director.moved += [QuestionFacts(base.bus, self.venues, base.time).heard, figures.heard]
        base.metrics.watch(
            questions=figures.open,
            questions_ended=figures.ended,
            question_games_begun=figures.begun,
            question_games_over=figures.over,
            question_slot_seconds=figures.slot_seconds,
        )
        QuestionHerald(director, self.venues, admin, spawner.spawn).open()
        control.questions = director
        return director

    def _folded(self, venue: str, entry: int) -> None:
        log.info("folding results into ratings", venue=venue, entries=entry)
        self._launch.supervisor.busy(f"folding results of {venue} into ratings ({entry})", START_S)
        if self.stop.wanted.is_set():
            raise Stopped

    def _open_certificate(self, base: Foundations) -> CertificateKeeper | None:
        """The certificate of what speaks TLS; None where nothing does. Raises Refused where it cannot be used."""
        config, files = self._config, self._config.tls.files
        if files is None or not (names := config.tls_listeners):
            return None
        keeper = self._reloading.keeper = CertificateKeeper(files)
        base.metrics.watch(
            certificate_expiry=lambda: dict.fromkeys(names, keeper.current.expires_at),
            certificate_reload_failures=lambda: keeper.failures,
        )
        return keeper

    async def _open_listeners(
        self, stack: AsyncExitStack, base: Foundations, *, spawner: Spawner, keeper: CertificateKeeper | None
    ) -> Listeners:
        transcripts = await self._transcripts(stack)
        listeners = Listeners(
            self._config,
            base,
            self._launch.ports,
            transcripts=transcripts,
            addresses=self.addresses,
            keeper=keeper,
        )
        base.metrics.watch(
            transcripts_dropped=lambda: 0 if transcripts is None else transcripts.dropped,
            connections=lambda: listeners.open,
            bots=self._bots,
            games=lambda: {name: len(venue.roster.running) for name, venue in self.venues.items()},
            commit_queue=lambda: base.store.pending,
            commit_failing=lambda: not base.store.healthy,
            password_queue=lambda: base.passwords.waiting,
            log_events=self._logs.by_level,
        )
        stack.push_async_callback(self._close_connections, spawner, listeners)
        stack.callback(listeners.close)  # what listens already when a later port is refused
        arrivals = {name: live.arrivals for name, live in self.venues.items()}
        await listeners.open_ports(self.venues, MultiVenueSignIn(arrivals, self._elsewhere), self._elsewhere)
        return listeners

    async def _answer_nodes(self, stack: AsyncExitStack, listeners: Listeners, admin: Admin) -> None:
        """Take commands that are given on the machines of other nodes, where that is configured."""
        cluster = self._config.cluster
        if cluster.key is not None and cluster.control_port is not None:
            context = node_control.server_context(cluster.key)
            sock = listeners.bind("", cluster.control_port, "commands of other nodes")
            await stack.enter_async_context(node_control.serve(sock, context, admin.answer))

    async def _transcripts(self, stack: AsyncExitStack) -> Transcripts | None:
        """What takes down what is said; None where nothing is kept, and what was kept is removed."""
        kept = self._config.transcripts
        folder: Path = self._config.server.data / FOLDER
        if kept.days > 0:
            self._files.transcripts = stack.enter_context(Transcripts(folder, kept.days, kept.bytes_per_bot))
            return self._files.transcripts
        await asyncio.to_thread(forget, folder)
        return None

    def _works(self, base: Foundations, listeners: Listeners) -> Iterator[Work]:
        """What runs as long as the server."""
        for venue in self.venues.values():
            yield from (venue.matchmaker.run, venue.gallery.run, venue.refitter.run, venue.watch.run)
        yield lambda: look_after([venue.reminders for venue in self.venues.values()])
        yield lambda: measure_lag(base.time, base.metrics.loop_lag)
        sizes = Sizes(self._config.server.data, base.store.history.server.size)
        base.metrics.watch(**sizes.watched())
        yield sizes.run
        yield lambda: calm_collector(lambda: listeners.open)
        yield lambda: stay_watched(self._launch.supervisor, lambda: base.store.healthy)

    def _say_started(self, pause_s: float | None) -> None:
        if pause_s is not None:
            log.info("took over", version_before=self._launch.ports.version, pause_s=round(pause_s, 3))
        log.info(
            "started",
            venues={name: venue.port for name, venue in self.venues.items()},
            websocket=self.addresses.websocket,
            web=self.addresses.web,
            health=self.addresses.health,
            data=str(self._config.server.data),
        )
        self._launch.supervisor.ready(SERVING)
        self._started(self)

    def _hung_up(self) -> None:
        """SIGHUP: read the configuration again."""
        if self._spawner is not None:
            self._spawner.spawn(self._reloading.reload_and_log())

    # -- ending

    async def _drain(self, control: LiveControl) -> None:
        """No new game; the running ones may end for a while, then they are left as they are: committed."""
        control.begin_draining()
        words = _UPGRADED if self.stop.replaced else _HANDED_OVER if self.stop.handed_over else _GOES_DOWN
        games_go_on = self.stop.replaced or self.stop.handed_over
        for venue in self.venues.values():
            for player in venue.roster.here() if games_go_on else venue.roster.idle():
                if player.session is not None:
                    player.session.info(words)
        log.info("draining", games=self._begun())
        supervisor, limit_s = self._launch.supervisor, self._config.server.drain_limit_s
        if self.stop.replaced:
            supervisor.reloading("handing over to another program")
        else:
            supervisor.stopping("letting running games end", limit_s + _ENDING_S)
        await self.stop.drained(self._begun, limit_s)
        log.info("stopping", games_suspended=sum(len(venue.roster.running) for venue in self.venues.values()))

    def _suspend(self) -> None:
        """From here on no game takes a move and no flag falls, however long the rest of the ending takes."""
        for venue in self.venues.values():
            for game in running(venue):
                game.suspend()

    async def _close_connections(self, spawner: Spawner, listeners: Listeners) -> None:
        """All are gone when this returns, so that the store hears of it while it is open."""
        spawner.closed = True
        for venue in self.venues.values():
            venue.lobby.stopping = True
        await listeners.cut()

    def _begun(self) -> int:
        """With those that begin in a moment, when they are committed: their players have been chosen."""
        return sum(venue.roster.begun() for venue in self.venues.values())

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
