"""The handlers of commands that change something.

A command is made of the path and the body, as its declaration says, and handed to the game process with the rights of
whoever asks. Must not know: single commands, who may have what done.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.fields import Source, parameters
from cgos_server.service.commands.surfaces import ApiRoute
from cgos_server.web.api.framework import ApiRequest, Handler
from cgos_server.web.api.operations import in_path
from cgos_server.web.site import Site


def performing(
    site: Site,
    command: type[Command[Any]],
    route: ApiRoute,
    before: Callable[[ApiRequest], Awaitable[None]] | None = None,
    shown: Callable[[Any], Any] | None = None,
) -> Handler:
    """The handler of a command.

    :param before: what is looked at first; raises Refused
    :param shown: makes the API's answer of the command's, where that is another one
    """
    fields = {each.name: each for each in parameters(command)}
    path = in_path(route)

    async def handler(request: ApiRequest) -> Any:
        if before is not None:
            await before(request)
        values: dict[str, Any] = {field: request.values[name] for name, field in path.items()}
        for name, field in fields.items():
            if field.field.source is Source.VISITOR:
                values[name] = site.visitor(request.request)
            elif name not in values:
                values[name] = getattr(request.body, name)
        if command.allowed is Right.STRANGER:
            answer = await site.ask(command(**values))
        else:
            answer = await site.on_behalf(request.credential, request.request, command(**values))
        return answer if shown is None else shown(answer)

    return handler
