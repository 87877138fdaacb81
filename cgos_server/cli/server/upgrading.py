"""`cgos-server upgrade`: has the running server replaced, and waits until the new program serves.

Must not know: what the server looks at, how it hands over.
"""

from __future__ import annotations

import time
from typing import Final

import msgspec

from cgos_protocol.api.people import Upgraded
from cgos_protocol.errors import OurFault, Unavailable
from cgos_server.cli.commands.asking import ask_server
from cgos_server.cli.commands.declared import command
from cgos_server.cli.common import Setup
from cgos_server.cli.output import say
from cgos_server.service.commands.server import StatusRequest
from cgos_server.service.control import ServerStatus

LIMIT_S: Final = 120.0
"""How long the new program may take until it serves; it folds results in that time, where a rating system is new."""

_LOOK_S: Final = 0.1


def _served(setup: Setup, checked: Upgraded) -> Upgraded:
    """Wait until the new program serves, or stands by as another node was faster. Raises OurFault where it does
    neither."""
    say(f"Version {checked.after} was checked and takes over from {checked.before}.")
    answered = time.monotonic()
    status: ServerStatus | None = None
    while (waited := time.monotonic() - answered) < LIMIT_S:
        time.sleep(_LOOK_S)
        try:
            status = ask_server(setup, StatusRequest())
        except (Unavailable, OurFault):
            continue
        if status.up_s < waited and status.pause_s is not None:
            return msgspec.structs.replace(checked, after=status.version, pause_s=status.pause_s)
        if status.up_s < waited and status.standing_by:
            say(f"The new program stands by: {status.standing_by}.")
            return msgspec.structs.replace(checked, after=status.version)
    if status is not None and status.up_s < LIMIT_S:
        raise OurFault("the server was started again, and did not take over: its log says why. Bots can come back")
    raise OurFault(
        f"the new program does not answer after {LIMIT_S:g} s: look at its log, and start it. All told moves are safe"
    )


upgrade = command("upgrade", _served)
