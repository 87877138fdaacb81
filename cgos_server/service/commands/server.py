"""What operators have the running server do: say how it is, read its configuration, hand over, end.

Must not know: how it does it.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from cgos_protocol.api.messages import StrengthChange
from cgos_protocol.api.people import Done, Reloaded, Upgraded
from cgos_protocol.errors import Code, Forbidden, NotFound
from cgos_server.service.commands.context import CommandContext
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.fields import Field, Source
from cgos_server.service.commands.surfaces import ApiRoute, CommandLine, PageForm
from cgos_server.service.control import ServerStatus
from cgos_server.service.pruning import Kind

DRAIN: Final = "drain"
"""What is typed before the server is sent to its end."""


class StatusRequest(Command[ServerStatus], frozen=True, kw_only=True, tag="status"):
    """The live server."""

    forwarded = False
    allowed = Right.OPERATOR
    audited = None
    live = True
    surfaces = (
        CommandLine("status", "What the running server does now: venues, games, bots.", server_only=True),
        ApiRoute("admin_status", "GET", "/admin/status"),
    )

    async def perform(self, context: CommandContext) -> ServerStatus:
        return context.server.status()


class StrengthChangesRequest(Command[list[StrengthChange]], frozen=True, kw_only=True, tag="strength changes"):
    """The versions of all venues whose strength seems to have changed; asked by the pages for everybody."""

    allowed = Right.NOBODY
    audited = None
    live = True

    async def perform(self, context: CommandContext) -> list[StrengthChange]:
        return context.server.strength_changes()


class Drain(Command[Done], frozen=True, kw_only=True, tag="drain"):
    """End the running server in good order."""

    forwarded = False
    allowed = Right.OPERATOR
    audited = None
    live = True
    surfaces = (
        CommandLine(
            "drain",
            "End the running server in good order.\n\n"
            "No new game begins; it stops when the running ones have ended or the limit is reached.",
            server_only=True,
        ),
        ApiRoute("drain_server", "POST", "/admin/drain"),
        PageForm(
            "/admin",
            "Drain",
            title="End the server",
            note="No new game begins; the server ends when the running ones have ended.",
            grave=True,
            warning="No new game will begin, and the server ENDS when the running ones have ended. These pages end "
            "with it. Whoever manages the machine has to start it again.",
            typed=DRAIN,
        ),
    )

    async def perform(self, context: CommandContext) -> Done:
        context.server.drain()
        return Done(sentence="No new game begins; the server stops when the running ones have ended.")


class Reload(Command[Reloaded], frozen=True, kw_only=True, tag="reload"):
    """Read the configuration again."""

    forwarded = False
    allowed = Right.OPERATOR
    live = True
    audited = ("changes",)
    surfaces = (
        CommandLine(
            "reload",
            "Have the running server read its configuration again.\n\n"
            "What concerns pairing holds from then on; it says what else has changed and needs a restart. With a "
            "fault in the configuration nothing changes.",
        ),
        ApiRoute("reload", "POST", "/admin/reload"),
        PageForm(
            "/admin",
            "Reload",
            title="Configuration",
            note="Read the configuration file again. What concerns pairing holds from then on; the answer names what "
            "needs a restart.",
            warning="The configuration will be read again; what concerns pairing holds from then on.",
        ),
    )

    async def perform(self, context: CommandContext) -> Reloaded:
        changes = await context.server.reload()
        await context.commit(self, "configuration", [], changes=" ".join(changes))
        return Reloaded(changes=changes)


class Pruned(msgspec.Struct, frozen=True, kw_only=True):
    """What was removed.

    :ivar rows: by kind, of what is not kept for ever; empty where the server does it from now on
    :ivar in_background: True where the server does it from now on
    """

    rows: dict[str, int]
    in_background: bool


class Prune(Command[Pruned], frozen=True, kw_only=True, tag="db prune"):
    """Remove what is kept no longer from the database; a running server does it beside its games."""

    forwarded = False
    allowed = Right.NOBODY
    audited = tuple(kind.value for kind in Kind)

    async def perform(self, context: CommandContext) -> Pruned:
        assert context.pruner is not None
        removed = await context.pruner.begin()
        rows = {kind.value: count for kind, count in (removed or {}).items()}
        await context.commit(self, "database", [], **rows)
        return Pruned(rows=rows, in_background=removed is None)


class Upgrade(Command[Upgraded], frozen=True, kw_only=True, tag="upgrade"):
    """Have the installed program take over from the running server."""

    forwarded = False
    allowed = Right.OPERATOR
    live = True
    audited = ("before", "after", "program")
    surfaces = (
        CommandLine(
            "upgrade",
            "Have the installed program take over.\n\n"
            "It goes on in the running server's place. It is checked first; where it cannot go on with this database "
            "and configuration, nothing changes and the answer says why. Then bots are cut, the new program goes on in "
            "the same process with the same sockets, and bots resume their games: no connection is refused, no clock "
            "runs meanwhile.",
            server_only=True,
        ),
        ApiRoute("upgrade", "POST", "/admin/upgrade"),
    )

    program: Annotated[
        str | None,
        Field(
            label="The program",
            help="Another program than the one by which the server was started, such as "
            "/opt/cgos-server/0.2.0/bin/cgos-server.",
            metavar="PATH",
            source=Source.MACHINE,
        ),
    ] = None

    async def perform(self, context: CommandContext) -> Upgraded:
        if self.program is not None and context.asker is not None:
            raise Forbidden(Code.NOT_ALLOWED, "Only at the machine can another program be named.")
        upgraded = await context.server.check_upgrade(self.program)
        detail = {} if self.program is None else {"program": self.program}
        await context.commit(self, "server", [], before=upgraded.before, after=upgraded.after, **detail)
        context.server.upgrade()
        return upgraded


class HandOver(Command[Done], frozen=True, kw_only=True, tag="cluster handover"):
    """Have another node of the cluster go on with this one's group. Given to the node that has it."""

    forwarded = False
    allowed = Right.NOBODY
    live = True
    audited = ()

    group: str

    async def perform(self, context: CommandContext) -> Done:
        if context.server.status().group != self.group:
            raise NotFound(
                Code.NO_GROUP, f"This node does not have the group {self.group}. See: cgos-server cluster status"
            )
        await context.commit(self, self.group, [])
        context.server.hand_over()
        return Done(sentence=f"This node lets go of the group {self.group}. Whoever stands by takes it.")


COMMANDS: Final = (StatusRequest, StrengthChangesRequest, Drain, Reload, Upgrade, HandOver, Prune)
