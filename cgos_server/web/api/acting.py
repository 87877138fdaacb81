"""The handlers of commands that change something.

A command is made of the path and the body, as its declaration says, and handed to the game process with the rights of
whoever asks. Must not know: who may have what done, what commands do.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from cgos_protocol.api.route import Param
from cgos_protocol.options import UnixTime
from cgos_server.presentation.answers import published
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.fields import Source, parameters
from cgos_server.service.commands.registry import on
from cgos_server.service.commands.surfaces import ApiRoute
from cgos_server.service.people.authority import Sight
from cgos_server.web.api.caller import person_of
from cgos_server.web.api.framework import ApiRequest, Handler
from cgos_server.web.api.operations import ANSWERS, in_path
from cgos_server.web.api.strictly import read
from cgos_server.web.site import Site


def handlers(site: Site) -> dict[str, Handler]:
    """Operation id -> who answers it. What one's bot does just now is answered elsewhere: it is remembered."""

    async def may_be_reached(request: ApiRequest) -> None:
        await person_of(site, request.request, Sight.OWN_BOTS)  # or strangers would have names looked up
        await site.outside.permit(request.body.url)

    before = {"make_webhook": may_be_reached}
    return {
        route.id: _handler(site, command, route, before.get(route.id))
        for command, route in on(ApiRoute)
        if route.id != "bot_now"
    }


def _handler(
    site: Site, command: type[Command[Any]], route: ApiRoute, before: Callable[[ApiRequest], Awaitable[None]] | None
) -> Handler:
    """The handler of a command.

    :param before: what is looked at first; raises Refused
    """
    fields = {each.name: each for each in parameters(command)}
    path = in_path(route)
    less = ANSWERS.get(route.id)

    async def handler(request: ApiRequest) -> Any:
        if before is not None:
            await before(request)
        values: dict[str, Any] = {field: request.values[name] for name, field in path.items()}
        for name, field in fields.items():
            if field.field.source is Source.VISITOR:
                values[name] = site.visitor(request.request)
            elif name not in values and field.field.source is not Source.MACHINE:
                values[name] = getattr(request.body, name)
                if field.field.source in (Source.MOMENT, Source.TIME):
                    read(Param(name, UnixTime(), ""), str(values[name] or 0), status=422)
        if command.allowed is Right.STRANGER:
            answer = await site.ask(command(**values))
        else:
            answer = await site.on_behalf(request.credential, request.request, command(**values))
        return answer if less is None else published(answer, less)

    return handler
