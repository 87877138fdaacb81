"""Fields that several commands on events have, and what they say of whoever gives them.

Must not know: single commands, how events go on.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from cgos_protocol.api import people as api
from cgos_protocol.api.messages import Moment
from cgos_protocol.errors import Code, NotFound
from cgos_protocol.ids import VersionId
from cgos_server.service.commands.context import CommandContext
from cgos_server.service.commands.fields import Field, Source
from cgos_server.service.people.authority import is_operator
from cgos_server.tournaments.running.settings import MOST_ENTRANTS
from cgos_server.tournaments.running.state import EventState, Seat

EventWord = Annotated[str, Field(body=api.Name, label="The event's name", caption="Name", metavar="EVENT")]
VersionWord = Annotated[str, Field(body=api.Name, label="The version", caption="Version", metavar="VERSION")]
EventGame = Annotated[
    int,
    Field(
        body=Annotated[int, Meta(ge=1, le=1_000_000_000)],
        label="The game's number in the event",
        caption="Number of the game in the event",
        metavar="GAME",
    ),
]
EntrantCount = Annotated[int, Meta(ge=1, le=MOST_ENTRANTS)]


def why_field(help_text: str = "Why: it is kept, and stands in the event's log.") -> Field:
    """The reason of a ruling."""
    return Field(
        body=api.Reason,
        label="The reason, which everybody can read,",
        caption="Reason",
        hint="Everybody can read it.",
        help=help_text,
    )


Why = Annotated[str, why_field()]


def time_field(help_text: str, caption: str) -> Field:
    """When something of an event happens."""
    return Field(
        body=Moment | None,
        label=caption,
        caption=caption,
        hint="2026-01-31T18:00 (UTC), or now+2h.",
        help=help_text,
        metavar="TIME",
        source=Source.TIME,
    )


def by_operator(context: CommandContext) -> bool:
    """True where an operator does it, or whoever is at the machine."""
    return context.asker is None or is_operator(context.asker.person)


def actor_of(context: CommandContext) -> str:
    """Who does it, as the event's log has it: everybody reads that, so it says no address."""
    return "operator" if context.asker is None else context.asker.person.name


def seat_named(state: EventState, version: VersionId, name: str) -> Seat:
    """The entry of a version. Raises Refused (``no-entrant``)."""
    seat = state.seat_of(version)
    if seat is None:
        raise NotFound(Code.NO_ENTRANT, f"{name} has not entered {state.settings.name}.")
    return seat
