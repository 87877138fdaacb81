"""What the server on a data directory says of itself: by the control socket, and by its health listener.

Must not know: what a good answer is.
"""

from __future__ import annotations

import asyncio
import functools
import urllib.error
import urllib.request
from pathlib import Path
from typing import Final

import msgspec

from cgos_protocol.errors import Code, OurFault, Refused
from cgos_server.cli.doctor.checks.answering import Answering, State
from cgos_server.cli.doctor.observing import processes
from cgos_server.net import control_socket
from cgos_server.service.commands.registry import ask
from cgos_server.service.commands.server import StatusRequest
from cgos_server.storage import DATABASE
from cgos_server.storage.lock import holder_of

ANSWER_S: Final = 5.0


def look(directory: Path) -> Answering:
    """Its state, and what it says where it answers."""
    seen = functools.partial(Answering, directory=str(directory))
    try:
        call = functools.partial(control_socket.call, directory, timeout_s=ANSWER_S)
        now = asyncio.run(ask(call, StatusRequest()))
    except OurFault as fault:
        pid = control_socket.listener(directory) or _holder(directory)
        return seen(state=State.SILENT, pid=pid, process_state=processes.state(pid), reason=str(fault))
    except Refused as refusal:
        if refusal.code in (Code.NO_SERVER, Code.NO_DIRECTORY):
            return seen(state=State.ABSENT, pid=_holder(directory))
        return seen(state=State.UNKNOWN, reason=refusal.sentence.rstrip("."))
    except msgspec.MsgspecError as error:
        return seen(state=State.UNKNOWN, reason=f"its answer is not one that this program knows ({error})")
    return seen(
        state=State.ANSWERS,
        pid=now.pid,
        version=now.version,
        draining=now.draining,
        errors=now.errors,
        standing_by=now.standing_by,
        venues=frozenset(venue.name for venue in now.venues),
        health=now.health,
        livez=None if now.standing_by else _get(f"{now.health}/livez"),
        readyz=None if now.standing_by else _get(f"{now.health}/readyz"),
    )


def _holder(directory: Path) -> int:
    """The process that holds the database; 0 where none does, or it is not known."""
    holder = holder_of(directory / DATABASE)
    return holder.pid if holder is not None and processes.exists(holder.pid) else 0


def _get(url: str) -> tuple[int | None, str]:
    """Status and body; None and the reason where there is no answer."""
    try:
        with urllib.request.urlopen(url, timeout=ANSWER_S) as answer:
            return answer.status, answer.read().decode(errors="replace")
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode(errors="replace")
    except OSError as error:
        return None, str(getattr(error, "reason", error))
