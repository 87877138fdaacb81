"""What everything else of a server stands on: time, metrics, the bus, the database, and who may sign in.

Must not know: venues, what listens.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

from prometheus_client import CollectorRegistry

from cgos_protocol.errors import CommitFailed
from cgos_server import __version__
from cgos_server.assembly.database import open_database
from cgos_server.assembly.faults import report
from cgos_server.config.schema import Config
from cgos_server.live.bus import Bus
from cgos_server.net.forwarded import comes_from
from cgos_server.net.loop import LoopTime, PollClock
from cgos_server.observability.metrics import Metrics, roles
from cgos_server.observability.transcript_files import FOLDER, newest_bot
from cgos_server.service.ids import Ids, open_ids
from cgos_server.service.people.accounts import Accounts
from cgos_server.service.people.failures import Failures
from cgos_server.service.people.passwords import Passwords
from cgos_server.service.ratings.families import Families
from cgos_server.storage.node import Node
from cgos_server.storage.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Foundations:
    """One a server."""

    time: LoopTime
    registry: CollectorRegistry
    metrics: Metrics
    bus: Bus
    store: Store
    ids: Ids
    incarnation: str
    passwords: Passwords
    families: Families
    accounts: Accounts


async def open_foundations(
    stack: AsyncExitStack,
    config: Config,
    clock: PollClock,
    failed: Callable[[CommitFailed], None],
    *,
    node: Node | None = None,
) -> Foundations:
    """Lay them; `stack` takes them away again.

    :param clock: the selector of the running loop
    :param failed: told that commits failed for too long
    :param node: which node of a cluster this is; None where this process is alone
    :raises Refused: where the database cannot be used
    :raises StoreError: where it does not answer
    """
    time = LoopTime(asyncio.get_running_loop(), clock)
    registry = CollectorRegistry()
    metrics = Metrics(registry, __version__)
    store = await open_database(
        stack, config.server, time=time, meter=metrics.commits, soon=clock.before_poll, failed=failed, node=node
    )
    if node is not None:
        metrics.watch(cluster_role=lambda: roles("owner"))
    ids = await open_ids(store, newest_bot(config.server.data / FOLDER))
    passwords = stack.enter_context(Passwords(config.limits.password_queue))
    families = await Families.load(store, config.server.families)
    accounts = Accounts(
        store,
        ids,
        passwords,
        config.server.registration.value,
        now_ms=time.wall_ms,
        failures=Failures(config.limits.failed_logins, round(config.limits.failed_login_pause_s * 1000), time.wall_ms),
        may_command=lambda address: comes_from(address, config.admin.networks.parts, config.listen.proxies.parts),
        families=families,
    )
    return Foundations(
        time=time,
        registry=registry,
        metrics=metrics,
        bus=Bus(report),
        store=store,
        ids=ids,
        incarnation=(await store.history.server.incarnation()).incarnation,
        passwords=passwords,
        families=families,
        accounts=accounts,
    )
