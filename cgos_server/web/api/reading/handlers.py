"""Who answers the reading routes: the classes whose methods are these operations and their handlers.

Must not know: what they answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from cgos_protocol.api.route import Operation
from cgos_server.web.api.framework import Answer, ApiRequest, Handler
from cgos_server.web.api.reading.bots import ReadingBots
from cgos_server.web.api.reading.events import ReadingEvents
from cgos_server.web.api.reading.exports import Exports
from cgos_server.web.api.reading.games import ReadingGames
from cgos_server.web.api.reading.live import Live
from cgos_server.web.api.reading.operators import ReadingOperators
from cgos_server.web.api.reading.own import ReadingOwn
from cgos_server.web.api.reading.questions import ReadingQuestions
from cgos_server.web.api.reading.server import LiveServer, ReadingServer
from cgos_server.web.api.reading.venues import ReadingVenues
from cgos_server.web.api.typed import handlers_of, operations_of
from cgos_server.web.site import Site

READING: Final[tuple[Operation, ...]] = operations_of(
    (
        ReadingServer,
        ReadingVenues,
        ReadingBots,
        ReadingGames,
        ReadingEvents,
        ReadingQuestions,
        Live,
        Exports,
        ReadingOwn,
        ReadingOperators,
    )
)
"""Every one of them, in the documentation's order."""


def handlers(site: Site, describe: Callable[[], dict[str, Any]]) -> dict[str, Handler]:
    """Operation id -> its handler.

    :param describe: makes the description of the API
    """
    live, own = LiveServer(site), ReadingOwn(site)

    async def bot_now(request: ApiRequest) -> Answer:
        """A command has this route; its answer is remembered, as one of the reading routes."""
        return await own.bot_now(str(request.values["bot"]), request.request)

    return {"bot_now": bot_now} | handlers_of(
        (
            ReadingServer(site, live, describe),
            ReadingVenues(site, live),
            ReadingBots(site),
            ReadingGames(site),
            ReadingEvents(site),
            ReadingQuestions(site),
            Live(site),
            Exports(site),
            own,
            ReadingOperators(site),
        )
    )
