"""A node of a cluster before it serves: it waits until the venues may be taken over, and says why not yet.

While it waits it listens for health and metrics alone, answers its control socket and other nodes, which may ask for
transcripts, and has everything imported. Must not know: how a server is built, how a group is taken (see
:mod:`cgos_server.storage.postgres.groups`).
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import structlog
from prometheus_client import CollectorRegistry

from cgos_protocol.api.people import Done
from cgos_protocol.errors import Code, Conflict, DatabaseLocked, StoreError
from cgos_server import __version__
from cgos_server.assembly.database import make_data
from cgos_server.assembly.health import open_health
from cgos_server.assembly.launching import START_S, Launch, stay_watched
from cgos_server.assembly.stopping import Stop, Stopped
from cgos_server.config.schema import Config
from cgos_server.net import control_socket, node_control
from cgos_server.net.health import health_app
from cgos_server.observability.logs import LogCounts
from cgos_server.observability.metrics import Metrics, roles
from cgos_server.observability.transcript_files import FOLDER
from cgos_server.service.commands.declaration import Command
from cgos_server.service.commands.registry import answered
from cgos_server.service.commands.server import Drain, StatusRequest
from cgos_server.service.control import ServerStatus
from cgos_server.service.nodes.commands import OfTranscripts
from cgos_server.service.ratings.build import this_build
from cgos_server.storage.node import Node
from cgos_server.storage.postgres import groups
from cgos_server.storage.postgres.groups import GroupRow, GroupWatch, refusal

if TYPE_CHECKING:
    from cgos_server.web.site import Work

log = structlog.get_logger(__name__)

LOOK_EVERY_S: Final = 0.25
"""Between two looks at who holds the venues."""


class _Reason(NamedTuple):
    """Why a node stands by, as part of a sentence. `wrong`: somebody has to do something about it."""

    words: str
    wrong: bool = False


def nodes_of(config: Config, launch: Launch) -> list[Node]:
    """What this process may be in a cluster: the node that it is, with each group that it may have, the one that it
    wants first first. Empty where it is alone.

    Whoever starts a node without ``--standby`` wants it to serve: then another build is no obstacle.
    """
    cluster = config.cluster
    if not cluster.node:
        return []
    return [
        Node(
            name=cluster.node,
            address=cluster.reached,
            build=this_build().id,
            ttl_s=cluster.ttl_s,
            group=group,
            control=cluster.control,
            any_build=cluster.any_build or not launch.standby,
            inherits=bool(launch.ports.version),
        )
        for group in cluster.groups.parts or config.groups
    ]


def choose(rows: Sequence[GroupRow], nodes: Sequence[Node]) -> Node | None:
    """The first of `nodes` whose group may be taken; before all others the one whose group a program before has left
    to this one. None: there is none."""
    pairs = [(groups.of_node(rows, node), node) for node in nodes]
    left = [node for row, node in pairs if node.inherits and row.node == node.name and row.seen_s is not None]
    return next((node for row, node in pairs if node in left or (not left and row.takeable(node))), None)


class Standby:
    """One a node.

    :param nodes: what it may be, see :func:`nodes_of`
    :param logs: what was logged, for those who ask
    """

    def __init__(self, config: Config, nodes: Sequence[Node], *, launch: Launch, stop: Stop, logs: LogCounts) -> None:
        self._config = config
        self._nodes = nodes
        self._name = nodes[0].name
        self._launch = launch
        self._stop = stop
        self._logs = logs
        self._since = time.monotonic()
        self._why = _Reason("starting")

    async def wait(self) -> Node:
        """Return once a group of venues may be taken, with this node as the one that wants it.

        :raises Stopped: where the server was told to stop meanwhile
        :raises Refused: where this node is not to stand by, and another one lives; or a port cannot be had
        :raises StoreError: where this node is not to stand by, and PostgreSQL does not answer
        """
        database = self._config.server.database
        assert database is not None  # the configuration of a cluster is refused otherwise
        watch = GroupWatch(database, self._nodes[0].purpose)
        try:
            if not self._launch.standby:
                return await self._until_dead(watch)
            chosen = await self._chosen(watch)
            if chosen is None:
                self._launch.ports.opened()  # what a program before has left: nobody is served there now
                async with self._listening():
                    while (chosen := await self._chosen(watch)) is None:
                        await self._pause()
                log.info("taking over", node=self._name, group=chosen.group)
                self._launch.supervisor.busy("taking over", START_S)
            return chosen
        finally:
            await watch.close()

    async def _until_dead(self, watch: GroupWatch) -> Node:
        """An owner that was killed just now does not write again, and soon counts as dead."""
        first = rows = await watch.look()
        while (chosen := choose(rows, self._nodes)) is None:
            if all(self._lives(first, rows, node) for node in self._nodes):
                raise refusal(groups.of_node(rows, self._nodes[0]), self._nodes[0])
            await self._pause()
            rows = await watch.look()
        return chosen

    def _lives(self, before: Sequence[GroupRow], now: Sequence[GroupRow], node: Node) -> bool:
        """Whether somebody writes in the group of `node`."""
        return groups.of_node(before, node).batch != groups.of_node(now, node).batch

    async def _chosen(self, watch: GroupWatch) -> Node | None:
        try:
            rows = await watch.look()
        except (StoreError, DatabaseLocked) as error:
            self._say(_Reason(str(error).rstrip("."), wrong=True))
            return None
        chosen = choose(rows, self._nodes)
        if chosen is None:
            self._say(_reason([(groups.of_node(rows, node), node) for node in self._nodes]))
        return chosen

    async def _pause(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_EVERY_S):
                await self._stop.wanted.wait()
                raise Stopped

    def _say(self, why: _Reason) -> None:
        """To the log and to the supervisor, once."""
        if why != self._why:
            self._why = why
            (log.warning if why.wrong else log.info)("standing by", node=self._name, why=why.words)
            self._launch.supervisor.ready(f"standing by ({why.words})")

    @asynccontextmanager
    async def _listening(self) -> AsyncIterator[None]:
        """Be seen while the block runs."""
        data = self._config.server.data
        make_data(data)
        registry = CollectorRegistry()
        metrics = Metrics(registry, __version__)
        metrics.watch(ready=lambda: False, log_events=self._logs.by_level, cluster_role=lambda: roles("standby"))
        app = health_app({"cluster": lambda: (False, f"standing by ({self._why.words})")}, registry)
        health = open_health(self._config, self._launch.ports, app)
        works: list[Work] = [*health.works, lambda: stay_watched(self._launch.supervisor, lambda: True)]
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work()) for work in works]
            async with control_socket.serve(data, self._answer), self._answering_nodes():
                yield
            for task in tasks:
                task.cancel()

    @asynccontextmanager
    async def _answering_nodes(self) -> AsyncIterator[None]:
        """Answer the other nodes as well, where that is configured: they may ask for transcripts."""
        cluster, listen = self._config.cluster, self._config.listen
        if cluster.key is None or cluster.control_port is None:
            yield
            return
        sock = self._launch.ports.bind(
            "", cluster.control_port, "commands of other nodes", next_free=listen.next_free_port, backlog=listen.backlog
        )
        async with node_control.serve(sock, node_control.server_context(cluster.key), self._answer):
            yield

    async def _answer(self, line: bytes) -> bytes:
        """One line of the control socket, or of another node."""
        return await answered(line, self._perform)

    async def _perform(self, command: Command[Any]) -> Any:
        if isinstance(command, StatusRequest):
            return self._status()
        if isinstance(command, OfTranscripts):
            return await asyncio.to_thread(command.work, self._config.server.data / FOLDER)
        if isinstance(command, Drain):
            self._stop.ask()
            return Done(sentence="This node stands by no longer, and ends.")
        raise Conflict(
            Code.STANDING_BY,
            f"Node {self._name} stands by ({self._why.words}). Give the command to the node that holds the venues: "
            "`cgos-server cluster status` names it.",
        )

    def _status(self) -> ServerStatus:
        return ServerStatus(
            pid=os.getpid(),
            version=__version__,
            up_s=time.monotonic() - self._since,
            ready=False,
            draining=self._stop.wanted.is_set(),
            venues=[],
            games=[],
            bots=[],
            moves=0,
            ended={},
            warnings=self._logs.warnings,
            errors=self._logs.errors,
            web="",
            health="",
            node=self._name,
            standing_by=self._why.words,
        )


def _reason(pairs: Sequence[tuple[GroupRow, Node]]) -> _Reason:
    """Why none of these groups is taken by the node beside it."""
    if len(pairs) == 1:
        return _of_one(*pairs[0], what="the venues")
    reasons = [_of_one(row, node, what=f"the group {row.group}") for row, node in pairs]
    return _Reason("; ".join(reason.words for reason in reasons), any(reason.wrong for reason in reasons))


def _of_one(row: GroupRow, node: Node, *, what: str) -> _Reason:
    if row.held(node.ttl_s):
        if row.strange(node):
            words = f"node {row.node} holds {what}, of another build ({row.build}; this is {node.build})"
            return _Reason(f"{words}: this one will not take over", wrong=True)
        return _Reason(f"node {row.node} holds {what}")
    return _Reason(
        f"nobody holds {what}, and node {row.node} held them last, of another build ({row.build}; this is "
        f"{node.build}): set cluster.any_build, or start a node without --standby",
        wrong=True,
    )
