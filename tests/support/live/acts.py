"""What a control has the server do, where there is no server: nothing, unless a test says so."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from cgos_protocol.api.people import Upgraded
from cgos_server.live.venue.live_control import ServerActs


def server_acts(reload: Callable[[], Awaitable[list[str]]]) -> ServerActs:
    """Those of a control whose server can only read its configuration again."""
    return ServerActs(
        drain=lambda: None, reload=reload, check_upgrade=_nothing_new, upgrade=lambda: None, hand_over=lambda: None
    )


async def _nothing_new(_program: str | None) -> Upgraded:
    return Upgraded(before="0", after="0", notes=[])
