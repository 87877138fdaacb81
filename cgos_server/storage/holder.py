"""Who holds a database, in words. Must not know: how it is held."""

from __future__ import annotations

import os
import socket
from datetime import datetime
from pathlib import Path

from cgos_protocol.errors import Code, DatabaseLocked
from cgos_server.storage.location import Location

_OF_A_CLUSTER = (
    "Have the node do it that holds the venues (`cgos-server cluster status` names it), by the same command there, or "
    "stop all nodes first."
)


def in_use(location: Location, who: str, since: datetime | None, *, cluster: bool = False) -> DatabaseLocked:
    """The refusal of a second holder. `who` as ``cgos-server serve (process 7 on host)``.

    :param cluster: whether that is a node of a cluster
    """
    when = f", since {since:%Y-%m-%d %H:%M} UTC" if since is not None else ""
    who = f"{who[:-1]}{when})" if who.endswith(")") else who + when
    other = "another data directory" if isinstance(location, Path) else "another database"
    remedy = _OF_A_CLUSTER if cluster else f"Stop it first, or give {other} in the configuration."
    return DatabaseLocked(Code.DATABASE_LOCKED, f"The database {location} is in use by {who}. {remedy}")


def holder_name(purpose: str) -> str:
    """This process as a holder, as it is shown to others."""
    return f"{purpose} (process {os.getpid()} on {socket.gethostname()})"
