"""How an event comes about: it is announced, changed before it starts, opened and closed for entries, cloned.

Must not know: how events go on, what follows from an entry of their logs.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Annotated, Final

import msgspec
from msgspec.structs import replace

from cgos_protocol.api import people as api
from cgos_protocol.api.people import Done
from cgos_protocol.errors import Code, Conflict, Invalid
from cgos_server.service.commands.context import CommandContext
from cgos_server.service.commands.declaration import Command, Right
from cgos_server.service.commands.fields import Field, VenueName
from cgos_server.service.commands.surfaces import ApiRoute, CommandLine, PageForm
from cgos_server.service.events.entering import PAGE, candidate_of
from cgos_server.service.events.fields import EventWord, actor_of, time_field
from cgos_server.service.events.holding import is_before
from cgos_server.service.events.moments import in_words
from cgos_server.service.events.terms import GROUPS, Terms
from cgos_server.tournaments.registry import new_options, words
from cgos_server.tournaments.running import log
from cgos_server.tournaments.running.admission import entering
from cgos_server.tournaments.running.settings import EventSettings
from cgos_server.tournaments.running.state import EventState, Phase
from cgos_server.tournaments.running.steps import closing
from cgos_server.tournaments.running.succession import cloned

_PAST_MS: Final = 60_000
"""So long ago is now: what is said takes its time to come here."""

SystemWord = Annotated[
    str, Field(body=api.Name, label="The tournament system", caption="System", metavar="SYSTEM", words=words)
]
Entrants = Annotated[
    list[str],
    Field(
        label="The versions",
        caption="Versions that are in from the beginning",
        hint="Names with blanks between them.",
        help="A version that is in from the beginning; may be repeated.",
        metavar="VERSION",
    ),
]


class EventCreate(Terms, frozen=True, kw_only=True, tag="event create"):
    """Announce an event: a tournament that the server holds by itself.

    What is not said is as usual. It says whether games will count for the venue's ratings.
    """

    allowed = Right.OPERATOR
    live = True
    audited = ("rated", "system", "venue")
    surfaces = (
        CommandLine(
            "event create",
            "Announce EVENT, a tournament that the server holds by itself, by the tournament system SYSTEM.\n\n"
            "Times are UTC: 2026-01-31T18:00, or from now: now+2h.",
            arguments=("event", "system"),
        ),
        ApiRoute(
            "create_event",
            "POST",
            "/admin/events",
            body="CreateEvent",
            body_says="An event as it is announced; what is null or not there is as usual.",
            status=201,
        ),
        PageForm(
            "/admin/events",
            "Announce it",
            title="Announce an event",
            note="Name, system and venue are enough. All else is as usual, and may be changed until the start.",
            groups=GROUPS,
        ),
    )

    event: EventWord
    system: SystemWord
    venue: VenueName
    enter: Entrants = msgspec.field(default_factory=list)

    async def perform(self, context: CommandContext) -> Done:
        events = context.server.events
        usual = EventSettings(name=self.event, venue=self.venue, system=self.system, options=new_options(self.system))
        settings = self.settings_from(usual)
        _require_to_come(self.starts_at, context.now_ms())
        _require_meant(settings)
        rated = events.is_rated(settings)
        named = [await candidate_of(context, self.venue, name) for name in dict.fromkeys(self.enter)]
        actor = actor_of(context)
        state = await _announced(context, settings, actor)
        for candidate in named:
            state = events.say(self.event, entering(state, candidate, by_operator=True), actor)
        await context.commit(self, self.event, [], venue=self.venue, system=self.system, rated=rated)
        return Done(sentence=f"{self.event} is announced. {_rated(rated)} {_next_step(state)}")


class EventChange(Terms, frozen=True, kw_only=True, tag="event change"):
    """Announce an event otherwise, before it starts. Its name and its venue stay."""

    allowed = Right.OPERATOR
    live = True
    audited = ("changed", "rated")
    surfaces = (
        CommandLine(
            "event change",
            "Announce EVENT otherwise, before it starts.\n\nWhat no option says stays as it was.",
            arguments=("event",),
        ),
        ApiRoute(
            "change_event",
            "PUT",
            "/admin/events/{event}",
            body="ChangeEvent",
            body_says="What is otherwise from now on; what is null or not there stays as it was.",
        ),
        PageForm(
            PAGE,
            "Announce it so",
            title="Change the announcement",
            note="What is left empty stays as it was.",
            groups=GROUPS,
            when=is_before,
        ),
    )

    event: EventWord
    system: Annotated[
        str | None,
        Field(
            body=api.Name | None,
            label="The tournament system",
            caption="System",
            help="Another tournament system.",
            words=words,
        ),
    ] = None
    usual: Annotated[
        list[str],
        Field(
            label="The settings that are as usual",
            caption="As usual again",
            hint="Names of settings with blanks between them, such as komi or most.",
            help="A setting that is as usual again, such as `komi`; may be repeated.",
            metavar="SETTING",
        ),
    ] = msgspec.field(default_factory=list)

    async def perform(self, context: CommandContext) -> Done:
        events = context.server.events
        before = events.state(self.event).settings
        start = (
            before
            if self.system is None
            else replace(before, system=self.system, options=new_options(self.system), tie_breakers=())
        )
        settings = self.settings_from(start, tuple(self.usual))
        _require_to_come(self.starts_at, context.now_ms())
        _require_meant(settings)
        rated = events.is_rated(settings)
        events.say(self.event, log.Announced(settings=settings), actor_of(context))
        changed = sorted(_changed(before, settings))
        await context.commit(self, self.event, [], changed=", ".join(changed), rated=rated)
        what = ", ".join(changed) or "nothing"
        return Done(sentence=f"{self.event} is announced anew; what is otherwise: {what}. {_rated(rated)}")


class EventOpen(Command[Done], frozen=True, kw_only=True, tag="event open"):
    """Let versions enter an event."""

    allowed = Right.OPERATOR
    live = True
    surfaces = (
        CommandLine("event open", "Let versions enter EVENT."),
        ApiRoute("open_event", "POST", "/admin/events/{event}/open"),
        PageForm(PAGE, "Open entry", when=lambda state: is_before(state) and state.phase is not Phase.ENTRY),
    )

    event: EventWord

    async def perform(self, context: CommandContext) -> Done:
        events = context.server.events
        rated = events.is_rated(events.state(self.event).settings)
        events.say(self.event, log.Opened(), actor_of(context))
        await context.commit(self, self.event, [])
        return Done(sentence=f"Versions may enter {self.event}. {_rated(rated)}")


class EventClose(Command[Done], frozen=True, kw_only=True, tag="event close"):
    """Close the entry to an event: the ratings of its entrants are taken."""

    allowed = Right.OPERATOR
    live = True
    surfaces = (
        CommandLine("event close", "Close the entry to EVENT: the ratings of its entrants are taken."),
        ApiRoute("close_event", "POST", "/admin/events/{event}/close"),
        PageForm(PAGE, "Close entry", when=lambda state: is_before(state) and state.phase is Phase.ENTRY),
    )

    event: EventWord

    async def perform(self, context: CommandContext) -> Done:
        events = context.server.events
        state = events.state(self.event)
        venue = state.settings.venue
        said = closing(state, lambda version: events.rating(venue, version))
        state = events.say(self.event, said, actor_of(context))
        await context.commit(self, self.event, [])
        return Done(sentence=f"Entry to {self.event} is closed; {len(state.there)} are in.")


class EventClone(Command[Done], frozen=True, kw_only=True, tag="event clone"):
    """Announce an event once more under another name, with nobody in it yet. The first one may be over.

    Its times are so much later as its start is; without a start, none is said.
    """

    allowed = Right.OPERATOR
    live = True
    audited = ("of", "rated")
    surfaces = (
        CommandLine(
            "event clone",
            "Announce EVENT once more as NAME, with nobody in it yet.\n\nIts times move with its start.",
            arguments=("event", "name"),
        ),
        ApiRoute(
            "clone_event",
            "POST",
            "/admin/events/{event}/clone",
            body="CloneEvent",
            body_says="The name of the new event, and when it starts; null: that is not said yet.",
            status=201,
        ),
        PageForm(PAGE, "Announce it", title="Hold it once more"),
    )

    event: EventWord
    name: Annotated[str, Field(body=api.Name, label="The new event's name", metavar="NAME")]
    starts_at: Annotated[int | None, time_field("When the new one starts: a date, or now+2h.", "It starts")] = None

    async def perform(self, context: CommandContext) -> Done:
        events = context.server.events
        _require_to_come(self.starts_at, context.now_ms())
        settings = _once_more((await events.reopen(self.event)).settings, self.name, self.starts_at)
        rated = events.is_rated(settings)
        state = await _announced(context, settings, actor_of(context))
        await context.commit(self, self.name, [], of=self.event, rated=rated)
        return Done(sentence=f"{self.name} is announced as {self.event} was. {_rated(rated)} {_next_step(state)}")


async def _announced(context: CommandContext, settings: EventSettings, actor: str) -> EventState:
    """A new event. Raises Refused where it cannot be, as where another node has one of this name."""
    store, events = context.store, context.server.events
    if not store.sharing.block:
        return events.announce(settings, actor)
    async with store.sharing.hold(f"event {settings.name}"):
        if any(row.name == settings.name for row in await store.history.events.all()):
            raise Conflict(
                Code.EVENT_NAME_TAKEN, f"There is an event {settings.name}, or there was. Take another name."
            )
        state = events.announce(settings, actor)
        await store.commit([])  # it is there before anybody else looks
        return state


def _require_to_come(starts_at: int | None, now_ms: int) -> None:
    """Raises Refused (``event-setting``) for a start in the past: the event would be called off once entry opens."""
    if starts_at is not None and starts_at < now_ms - _PAST_MS:
        raise Invalid(
            Code.EVENT_SETTING,
            f"It cannot start on {in_words(starts_at)}, which is past. Give a time to come, such as now+2h.",
        )


def _require_meant(settings: EventSettings) -> None:
    """Raises Refused (``event-setting``) where one setting makes another one idle: nobody means that.

    Asked of what is announced from now on alone: an event whose log has such settings goes on.
    """
    if settings.limits.most is not None and (settings.times.starts_with or 0) > settings.limits.most:
        raise Invalid(
            Code.EVENT_SETTING,
            f"It takes {settings.limits.most} entrants, so it never has the {settings.times.starts_with} with which it "
            "would start. Let in as many, or start with fewer.",
        )
    if settings.play.increment_s is not None and settings.play.main_s is None:
        raise Invalid(
            Code.EVENT_SETTING,
            "An increment goes with a main time. Give both, or neither for the venue's clock.",
        )


def _once_more(settings: EventSettings, name: str, starts_at: int | None) -> EventSettings:
    before = settings.times
    if starts_at is None or before.starts_at is None:
        times = replace(before, opens_at=None, closes_at=None, starts_at=starts_at)
        if starts_at is None:  # what needs the time of a start has none
            times = replace(times, check_in_s=0, every_days=None)
        return cloned(replace(settings, times=times), name)
    return cloned(settings, name, starts_at - before.starts_at)


def _changed(before: EventSettings, now: EventSettings) -> Collection[str]:
    """Names of the settings that are not as they were."""
    old, new = (msgspec.to_builtins(settings) for settings in (before, now))
    flat = [
        {name: value for name, value in each.items() if not isinstance(value, dict) or name == "options"}
        | {name: value for part in ("limits", "play", "times") for name, value in each.get(part, {}).items()}
        for each in (old, new)
    ]
    return {name for name in {*flat[0], *flat[1]} if flat[0].get(name) != flat[1].get(name)}


def _rated(rated: bool) -> str:
    return "Its games count for the ratings." if rated else "Its games do not count for the ratings."


def _next_step(state: EventState) -> str:
    """What is to be done for it to go on."""
    times = state.settings.times
    if times.opens_at is None:
        return f"Versions may enter once it is opened (cgos-server event open {state.settings.name})."
    return f"Entry opens at {in_words(times.opens_at)}."


COMMANDS: Final[tuple[type[Command[Done]], ...]] = (EventCreate, EventChange, EventOpen, EventClose, EventClone)
