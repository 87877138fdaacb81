"""Answers of the API about events: which there are, and all that their logs say.

Must not know: SQL, what follows from a log, how addresses are read.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from cgos_protocol.api import events as api
from cgos_protocol.api.event_forecast import EventForecast
from cgos_protocol.api.route import CSV, LARGEST, TEXT, Limit
from cgos_protocol.errors import Code, NotFound
from cgos_protocol.options import Number
from cgos_server.presentation.events import answers, files
from cgos_server.presentation.events.rehearsing import Wishes
from cgos_server.tournaments.running.settings import MOST_ENTRANTS
from cgos_server.web.api.reading.parameters import Before, BotName, Cursor, EventName, OnlyVenue, PageSize, up_to
from cgos_server.web.api.typed import Group
from cgos_server.web.site import Site

_events = Group("Events")


class ReadingEvents:
    """The handlers."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._history = site.history

    @_events.get("/events")
    async def events(
        self,
        phase: Annotated[
            Literal["announced", "entry", "closed", "running", "over", "cancelled"] | None, "Only those so far."
        ] = None,
        venue: OnlyVenue = None,
        before: Before = None,
        limit: Annotated[PageSize, up_to(200)] = 50,
    ) -> api.EventPage:
        """Events, the latest announced first."""
        rows = await self._history.events.page(limit + 1, before=before, phase=phase, venue=venue)
        page = rows[:limit]
        return api.EventPage(
            items=await self._site.events.summaries(page),
            next=page[-1].id if len(rows) > limit else None,
        )

    @_events.get("/events/{event}")
    async def event(self, event: EventName) -> api.EventNow:
        """All of one event but its log and its crosstable."""
        sandboxes = self._site.settings.sandboxes
        return await self._site.events.made_of(event, partial(answers.now, sandboxes=sandboxes))

    @_events.get("/events/{event}/standings")
    async def event_standings(self, event: EventName) -> api.EventStandings:
        """Who stands where in an event, with tie-breakers."""
        return await self._site.events.made_of(event, answers.standings)

    @_events.get("/events/{event}/crosstable")
    async def event_crosstable(self, event: EventName) -> api.EventCrosstable:
        """Who met whom in an event, by rounds and pair by pair."""
        return await self._site.events.made_of(event, answers.cross_table)

    @_events.get("/events/{event}/rounds")
    async def event_rounds(self, event: EventName) -> api.EventRounds:
        """An event's rounds, with the reasons for every pairing."""
        return await self._site.events.made_of(event, answers.rounds)

    @_events.get("/events/{event}/rounds/{number}")
    async def event_round(
        self, event: EventName, number: Annotated[int, up_to(LARGEST), "Number of a round of the event."]
    ) -> api.EventRound:
        """One round of an event."""
        record = await self._site.events.named(event)
        begun = record.state.event.rounds
        if number > len(begun):
            raise NotFound(Code.NO_ROUND, f"{event} has no round {number}: {len(begun)} have begun.")
        return answers.one_round(record, begun[number - 1])

    @_events.get("/events/{event}/games")
    async def event_games(self, event: EventName) -> api.EventGames:
        """An event's games by their numbers there.

        Those that were taken back with their rounds are not among them: the log has them, and `/games?event=` has all
        that were played.
        """
        return await self._site.events.made_of(event, answers.games)

    @_events.get("/events/{event}/forecast", also=(Limit.RECOMPUTE,))
    async def event_forecast(
        self,
        request: Request,
        event: EventName,
        entrants: Annotated[
            int | None, Number(2, MOST_ENTRANTS, whole=True), "So many in all; before the start."
        ] = None,
        rounds: Annotated[int | None, up_to(10_000), "So many, not as announced."] = None,
        game_s: Annotated[int | None, up_to(604_800), "A game lasts so many seconds in the mean."] = None,
        slots: Annotated[int, up_to(1_000), "Games at a time of one entrant."] = 1,
    ) -> EventForecast:
        """How long an event will take, and when each round is likely to begin.

        It is played through many times in simulated time, with its own system, from where it stands. The answer is kept
        for a minute while the event does not move; what is asked otherwise than it is announced is limited.
        """
        wishes = Wishes(entrants=entrants, rounds=rounds, game_s=game_s, slots=slots)
        if wishes != Wishes():
            self._site.limits.spend(Limit.RECOMPUTE, self._site.visitor(request))
        return await self._site.rehearsals.ahead(event, wishes)

    @_events.get("/events/{event}/log")
    async def event_log(
        self, event: EventName, cursor: Cursor, limit: Annotated[PageSize, up_to(1000)] = 200
    ) -> api.EventLog:
        """Everything that ever happened in an event: all else follows from it."""
        record = await self._site.events.named(event)
        incarnation = await self._site.history.server.check_cursor(
            cursor.incarnation, cursor.after, len(record.entries)
        )
        return msgspec.structs.replace(answers.log_page(record, cursor.after, limit), incarnation=incarnation)

    @_events.get("/events/{event}/export.json")
    async def event_export_json(self, event: EventName) -> api.EventExport:
        """Everything of an event as one file: settings, record, games, log."""
        return await self._site.events.made_of(event, files.exported)

    @_events.get("/events/{event}/export.trf", media=(TEXT,))
    async def event_export_trf(
        self,
        event: EventName,
        edition: Annotated[Literal["trf16", "trf-2026"], "By which standard."] = "trf16",
    ) -> Response:
        """An event as a tournament report (TRF), where that can hold it.

        Reports hold one game of a player a round: the bubble, replayed matches and double rounds are refused.
        """
        return await self._file(event, edition, "trf", TEXT)

    @_events.get("/events/{event}/export.csv", media=(CSV,))
    async def event_export_csv(self, event: EventName) -> Response:
        """An event as a table: one line an entrant, one column a round."""
        return await self._file(event, "csv", "csv", CSV)

    @_events.get("/events/{event}/export.txt", media=(TEXT,))
    async def event_export_text(self, event: EventName) -> Response:
        """Standings and crosstable of an event for people to read."""
        return await self._file(event, "text", "txt", TEXT)

    @_events.get("/bots/{bot}/events")
    async def bot_events(self, bot: BotName) -> api.BotEvents:
        """The events of a bot, with where its versions stand."""
        detail = await self._history.bots.detail(bot)
        records = await self._site.events.all_of(await self._history.events.of_bot_named(detail.name))
        return api.BotEvents(bot=detail.name, items=[answers.of_bot(record, detail.name) for record in records])

    async def _file(self, event: str, word: files.FileWord, ending: str, media: str) -> Response:
        body = await self._site.events.made_of(event, partial(files.file_of, word=word))
        headers = {"Content-Disposition": f'attachment; filename="{event}.{ending}"'}
        return Response(body, headers=headers, media_type=f"{media}; charset=utf-8")
