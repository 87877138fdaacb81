"""What all handlers of the pages and of the API share: the history, the settings, templates, the way to the server.

Made once an application. Must not know: what stands on a page, which addresses there are.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote

import jinja2
import msgspec
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from cgos_protocol.api.games import Game
from cgos_protocol.errors import CgosError
from cgos_protocol.facts import AnyFact
from cgos_protocol.ids import GameId
from cgos_server import __version__
from cgos_server.core.rating.registry import sure
from cgos_server.net.forwarded import bare, is_among, origin
from cgos_server.observability.web_metrics import WebMetrics
from cgos_server.presentation import ranks, words
from cgos_server.presentation.events.reading import ReadEvents
from cgos_server.presentation.explaining import Explaining
from cgos_server.presentation.questions.reading import Questions
from cgos_server.presentation.settings import WebSettings, networks
from cgos_server.presentation.strengths import StrengthsOf
from cgos_server.service.commands import registry
from cgos_server.service.commands.availability import BotLook
from cgos_server.service.commands.declaration import Command
from cgos_server.storage.reading.answers import GameDetail
from cgos_server.storage.reading.history import History
from cgos_server.tournaments.registry import shown_name
from cgos_server.web.around.limiting import Limits
from cgos_server.web.around.problems import lack_of, problem_of
from cgos_server.web.around.redirecting import HOST
from cgos_server.web.drawing.interval_svg import beside_rating, scale, standing_interval
from cgos_server.web.live.hub import Hub
from cgos_server.web.people.bots_now import BotsNow
from cgos_server.web.people.outside import Outside
from cgos_server.web.questions.now import QuestionsNow
from cgos_server.web.rehearsals import Rehearsals
from cgos_server.web.server import OneServer, Server
from cgos_server.web.strength_changes import StrengthChanges

A = TypeVar("A")

Work = Callable[[], Coroutine[Any, Any, None]]
"""Runs until it is cancelled, or there is nothing more to do."""


Handler = Callable[["Site", Request], Awaitable[Response]]
"""Answers a request."""

Pages = Mapping[str, Handler]
"""Addresses, in the order in which they are tried, with what answers a GET there."""


class Site:
    """One server as its pages see it.

    :ivar bots_now: what owners' bots do in the live server
    :ivar server: whoever plays
    :ivar events: tournaments that the server holds
    :ivar questions: what is asked by games
    :ivar deliveries: what became of webhooks' messages
    :ivar hub: what happens now
    :ivar hearers: told every fact, None where some are missing; they return at once
    :ivar questions_now: what open questions do in the live server
    :ivar strength_changes: which versions seem to have changed
    :ivar outside: the way to where webhooks are sent
    :ivar rehearsals: how long events will take
    :ivar works: what runs beside answering
    :ivar now_ms: Unix time in milliseconds
    :ivar metrics: what is counted of all this
    """

    def __init__(
        self,
        history: History,
        settings: WebSettings,
        static_version: str,
        now_ms: Callable[[], int],
        hub: Hub,
        server: Server | None = None,
        outside: Outside | None = None,
    ) -> None:
        self.history = history
        self.settings = settings
        self.now_ms = now_ms
        self.hub = hub
        self.metrics = WebMetrics()
        self.server = server or OneServer()
        self.outside = outside or Outside(networks(settings.webhooks_to))
        self.hearers: list[Callable[[AnyFact | None], None]] = [hub.heard]
        self.works: list[Work] = [hub.run]
        self._proxies = networks(settings.proxies)
        self.limits = Limits(settings, lambda: now_ms() / 1000)
        self.strengths = StrengthsOf(history, settings)
        self.questions = Questions(history, self.strengths, settings.questions_share)
        self.explaining = Explaining(history)
        self.events = ReadEvents(history)
        self.rehearsals = Rehearsals(history, self.events, settings, now_ms)
        self.works += [self.events.read_ahead, self.rehearsals.run]
        self.deliveries = self.server.deliveries(history, now_ms)
        self.bots_now = BotsNow(self.everywhere_on_behalf, now_ms)
        self.strength_changes = StrengthChanges(self.everywhere, now_ms)
        self.questions_now = QuestionsNow(self.everywhere, now_ms)
        self.templates = jinja2.Environment(
            loader=jinja2.PackageLoader("cgos_server.web"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self.templates.filters.update(words.FILTERS, system_name=shown_name)
        self.templates.globals.update(
            server=settings.server_name,
            venue_names=list(settings.venues),
            sandboxes=settings.sandboxes,
            in_sandbox=words.IN_SANDBOX,
            not_rated=words.NOT_RATED,
            venue_path=venue_path,
            bot_path=bot_path,
            event_path=event_path,
            question_path=question_path,
            ago=words.ago,
            sure=sure,
            beside_rating=beside_rating,
            finely=words.finely,
            scale=scale,
            interval=standing_interval,
            rank_odds=ranks.odds,
            program_version=__version__,
            static_version=static_version,
        )

    def attend(self, hear: Callable[[AnyFact | None], None], work: Work) -> None:
        """Let `hear` be told every fact, and `work` run as long as requests are answered."""
        self.hearers.append(hear)
        self.works.append(work)

    def offer(self, names: Mapping[str, Any]) -> None:
        """Give all templates these names: functions that several pages use."""
        self.templates.globals.update(names)

    def render(
        self, template: str, status: int = 200, *, refresh: bool = False, here: str = "", **values: Any
    ) -> Response:
        """A page. With `refresh` it loads itself again where no script runs; `here` is the entry of the menu it belongs
        to."""
        page = self.templates.get_template(template).render(
            values, refresh=self.settings.refresh_s if refresh else 0, here=here, now=self.now_ms()
        )
        return HTMLResponse(page, status)

    async def ask(self, command: Command[A]) -> A:
        """Have it performed. Raises Refused (``no-server`` where nobody answers), OurFault."""
        return await registry.ask(self._call(command), command)

    async def on_behalf(self, credential: str, request: Request, command: Command[A]) -> A:
        """Have it performed with the rights of whoever has this session or token. Raises as :meth:`ask`."""
        answer = await registry.ask_on_behalf(self._call(command), command, credential, self.visitor(request))
        bot = command.concerned()
        if isinstance(bot, str) and not isinstance(command, BotLook):
            self.bots_now.forget(bot)
        return answer

    async def everywhere(self, command: Command[A]) -> list[A]:
        """What each server that plays answers, one answer at least. Raises as :meth:`ask`."""
        return await registry.ask_all(self.server.everywhere, command)

    async def everywhere_on_behalf(self, credential: str, request: Request, command: Command[A]) -> list[A]:
        """As :meth:`everywhere`, with the rights of whoever has this session or token."""
        visitor = self.visitor(request)
        return await registry.ask_all_on_behalf(self.server.everywhere, command, credential, visitor)

    def _call(self, command: Command[Any]) -> registry.Call:
        return self.server.call if command.forwarded else self.server.here

    def refused(self, failure: CgosError) -> None:
        """Count an answer that says so."""
        problem = problem_of(failure)
        self.metrics.refused(problem.code, lack_of(problem))

    def address(self, request: Request) -> str:
        """The pages' own address as people see it, without a slash at its end."""
        if self.settings.public_url:
            return self.settings.public_url
        host = request.headers.get("host", "")
        if not HOST.fullmatch(host):  # a stranger's word, which goes into links
            name, port = request.scope.get("server") or ("localhost", None)
            host = name if port is None else f"{name}:{port}"
        return f"{self._scheme(request)}://{host}"

    def visitor(self, request: Request) -> str:
        """The address of whoever asks; what a proxy of ours says of it is believed, and nobody else."""
        peer = request.client.host if request.client is not None else ""
        return origin(peer, request.headers.getlist("x-forwarded-for"), self._proxies)

    def _scheme(self, request: Request) -> str:
        """How the visitor came: a proxy of ours may have ended the encryption."""
        peer = request.client.host if request.client is not None else ""
        schemes = request.headers.getlist("x-forwarded-proto")[-1:]
        if schemes and is_among(bare(peer), self._proxies):
            return "https" if schemes[0].rpartition(",")[2].strip().lower() == "https" else "http"
        return str(request.scope.get("scheme", "http"))

    def visible(self, game: GameDetail) -> GameDetail:
        """What anybody may see of it: of a running game no move that is younger than the venue's delay."""
        delay = self.settings.delay_ms(game.game.venue)
        if not delay or game.game.result is not None:
            return game
        latest = self.now_ms() - delay
        moves = [move for move in game.moves if move.at <= latest]
        return msgspec.structs.replace(game, moves=moves, game=msgspec.structs.replace(game.game, moves=len(moves)))

    async def visible_rows(self, rows: Sequence[Game]) -> list[Game]:
        """The same of games in a list: how many moves a running one has says when the latest was played. Raises
        StoreError."""
        delays = {row.venue: self.settings.delay_ms(row.venue) for row in rows if row.result is None}
        counts: dict[GameId, int] = {}
        for delay in sorted(set(delays.values()) - {0}):
            late = [row.id for row in rows if row.result is None and delays[row.venue] == delay]
            counts |= await self.history.games.played_by(late, self.now_ms() - delay)
        return [msgspec.structs.replace(row, moves=counts[row.id]) if row.id in counts else row for row in rows]


def venue_path(name: str) -> str:
    """Where a venue's page is."""
    return f"/venue/{quote(name, safe='')}"


def bot_path(name: str) -> str:
    """Where a bot's or a version's page is."""
    return f"/bot/{quote(name, safe='')}"


def event_path(name: str) -> str:
    """Where an event's page is."""
    return f"/events/{quote(name, safe='')}"


def question_path(question: int) -> str:
    """Where a question's page is."""
    return f"/questions/{question}"


def wall_ms() -> int:
    """Unix time in milliseconds."""
    return time.time_ns() // 1_000_000
