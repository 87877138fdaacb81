"""How this process was started, and by whom: sockets that a program before has left, the program itself, a supervisor.

Must not know: what is served.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from cgos_server.assembly.handover import Program, started_by
from cgos_server.net.inheriting import Ports, inherited
from cgos_server.observability.notifying import Supervisor, supervisor

START_S = 60.0
"""Within which a start says that it goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One a process.

    :ivar program: by which it was started, and can be replaced; None where it cannot
    :ivar standby: True where a node of a cluster waits until it may take over; False: it is refused where it may not
    """

    ports: Ports = field(default_factory=Ports)
    program: Program | None = None
    supervisor: Supervisor = field(default_factory=Supervisor)
    standby: bool = False


def launched(standby: bool) -> Launch:
    """That of this process, whose environment names no sockets any more. Raises Refused where it names garbage."""
    launch = Launch(
        ports=inherited(os.environ),
        program=started_by(sys.orig_argv, sys.argv[1:], sys.executable),
        supervisor=supervisor(os.environ),
        standby=standby,
    )
    launch.supervisor.busy("starting", START_S)
    return launch


async def stay_watched(watcher: Supervisor, well: Callable[[], bool]) -> None:
    """Tell a supervisor that the loop turns, while `well` says so: often, since one slow commit is no reason to die."""
    while watcher.watchdog_s is not None:
        if well():
            watcher.alive()
        await asyncio.sleep(watcher.watchdog_s / 10)
