"""Reads a server's API ``/api/v1`` from Python: ``api.Server("http://host:8080").standings("9x9")``.

Answers are messages of `cgos_protocol.api`, the same that the server makes them of. Lists of any length are
iterators that ask for the next page when they get there. What the server refuses is raised with its sentence
(:class:`ApiRefused`). Standard library only. Must not know: HTTP, which is `api_http`'s.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict, TypeVar, Unpack

import msgspec

from cgos_client.api_http import ApiRefused, Http, Value, decoded, path_of
from cgos_client.errors import CannotConnect, ConnectionLost
from cgos_client.retry import Pauses
from cgos_protocol.api.bulk import ExportedChange, ExportedGame, ExportedRefit
from cgos_protocol.api.events import (
    BotEvent,
    BotEvents,
    EventCrosstable,
    EventGame,
    EventGames,
    EventLog,
    EventLogLine,
    EventNow,
    EventPage,
    EventRound,
    EventRounds,
    EventStandings,
    EventSummary,
    PhaseWord,
)
from cgos_protocol.api.figures import LedgerEntry, LedgerPage, VenueMetrics, VersionFigures
from cgos_protocol.api.games import (
    Game,
    GameDetail,
    GamePage,
    Move,
    Moves,
    Round,
    RoundDetail,
    RoundPage,
)
from cgos_protocol.api.live import GameEvent, LiveEnd, LiveMove, VenueEvent
from cgos_protocol.api.messages import (
    Bot,
    BotDetail,
    BotPage,
    Crosstable,
    HistoryPage,
    Index,
    Opponent,
    Opponents,
    PairStatistics,
    RankHistory,
    RankPoint,
    RatingChange,
    RatingCurve,
    RatingPoint,
    Standings,
    Status,
    Venue,
    Venues,
    VersionDetail,
)
from cgos_protocol.api.people import Me
from cgos_protocol.api.questions import (
    Question,
    QuestionDetail,
    QuestionGame,
    QuestionGames,
    QuestionPage,
    StateWord,
)
from cgos_protocol.api.route import SGF

__all__ = ["ApiRefused", "CannotConnect", "ConnectionLost", "LiveEnd", "LiveMove", "Server", "Wanted"]

RECOMPUTED_S = 60.0
"""Seconds that a server may take for standings that it computes again, and somewhat more."""

ATTEMPTS = 6
"""How often in a row a broken stream is opened again without anything coming of it."""

T = TypeVar("T")
Query = Mapping[str, Value]
Winner = Literal["B", "W", "draw", "none"]


class Wanted(TypedDict, total=False):
    """Which games are asked for; without a field, or with None, any.

    :ivar bot: a bot's or a version's name; it played with either color
    :ivar opponent: another one's, against which it played
    :ivar reason: of the verdict: ``score``, ``resignation``, ``time`` ...
    :ivar result: what the game counts as now
    :ivar since: begun at this time or later, `until`: before it (Unix milliseconds)
    :ivar event: name of the event that it was played in
    """

    venue: str | None
    bot: str | None
    opponent: str | None
    reason: str | None
    result: Winner | None
    min_moves: int | None
    max_moves: int | None
    since: int | None
    until: int | None
    event: str | None


class Server:
    """One server. Every method raises ApiRefused, CannotConnect or ConnectionLost.

    :param address: of its pages: ``http://host:8080``
    :param token: of the API, for :meth:`me`; whatever else is here anybody may read
    :param timeout: seconds without a byte after which a connection counts as broken
    :param patience: seconds that one call may wait where the server asks to come later (429); 0: it raises at once
    """

    def __init__(
        self,
        address: str,
        token: str | None = None,
        *,
        timeout: float = 30.0,
        patience: float = 120.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._http = Http(server=address, token=token, timeout=timeout, patience=patience, sleep=sleep)

    def index(self) -> Index:
        """What the server is."""
        return self._get(Index, "")

    def status(self) -> Status:
        """Whether it plays, and how much there is."""
        return self._get(Status, "/status")

    def me(self) -> Me:
        """Whose token this is."""
        return self._get(Me, "/me")

    # -- venues

    def venues(self) -> list[Venue]:
        """All venues."""
        return self._get(Venues, "/venues").items

    def venue(self, venue: str) -> Venue:
        """One venue."""
        return self._get(Venue, path_of("venues", venue))

    def standings(
        self,
        venue: str,
        *,
        system: str | None = None,
        as_of: int | None = None,
        at: int | None = None,
        on: str | None = None,
        recomputed: bool = False,
        everybody: bool = False,
    ) -> Standings:
        """Who stands where.

        :param as_of: after this entry of the ledger; `at`: at this time (Unix milliseconds); `on`: at the end of
            this day (UTC), such as 2026-01-31; None for now
        :param recomputed: computed again with every game as it counts now
        :param everybody: also versions without a rated game, and retired ones
        """
        query: Query = {
            "system": system,
            "as_of": as_of,
            "at": at,
            "on": on,
            "recomputed": recomputed or None,
            "show": "all" if everybody else None,
        }
        return self._get(Standings, path_of("venues", venue, "standings"), query, RECOMPUTED_S if recomputed else 0.0)

    def crosstable(self, venue: str, *, versions: Sequence[str] | None = None, top: int | None = None) -> Crosstable:
        """Every pair that met, of these versions or of the `top` best."""
        query: Query = {"versions": None if versions is None else ",".join(versions), "top": top}
        return self._get(Crosstable, path_of("venues", venue, "crosstable"), query)

    def pair(self, venue: str, one: str, other: str) -> PairStatistics:
        """Two versions compared."""
        return self._get(PairStatistics, path_of("venues", venue) + path_of("pairs", one, other))

    def metrics(self, venue: str) -> VenueMetrics:
        """A venue in figures."""
        return self._get(VenueMetrics, path_of("venues", venue, "metrics"))

    def rounds(self, venue: str) -> Iterator[Round]:
        """Rounds, newest first."""
        return self._pages(RoundPage, path_of("venues", venue, "rounds"), query={}, cursor="before", limit=200)

    def ledger(self, venue: str, *, after: int = 0, incarnation: str | None = None) -> Iterator[LedgerEntry]:
        """The numbered facts that ratings follow from, in order.

        :param incarnation: of which `after` is, as :meth:`index` named it then; refused where it is another one now
        """
        query: Query = {"after": after, "incarnation": incarnation}
        return self._pages(LedgerPage, path_of("venues", venue, "ledger"), query=query, cursor="after", limit=1000)

    # -- bots and versions

    def bots(self) -> Iterator[Bot]:
        """All bots, by name."""
        return self._pages(BotPage, "/bots", query={}, cursor="after", limit=1000)

    def bot(self, name: str) -> BotDetail:
        """One bot with its versions and where they stand."""
        return self._get(BotDetail, path_of("bots", name))

    def version(self, name: str) -> VersionDetail:
        """One version and where it stands."""
        return self._get(VersionDetail, path_of("versions", name))

    def history(self, version: str, *, venue: str | None = None, system: str | None = None) -> Iterator[RatingChange]:
        """Every change of a version's rating, oldest first, with the game that caused it."""
        query: Query = {"venue": venue, "system": system}
        path = path_of("versions", version, "history")
        return self._pages(HistoryPage, path, query=query, cursor="after", limit=1000)

    def curve(
        self, version: str, *, venue: str | None = None, system: str | None = None, points: int = 300
    ) -> list[RatingPoint]:
        """The same drawn through about so many points."""
        query: Query = {"venue": venue, "system": system, "points": points}
        return self._get(RatingCurve, path_of("versions", version, "history"), query).points

    def rank_history(
        self, version: str, *, venue: str | None = None, system: str | None = None, after: int = 0
    ) -> Iterator[RankPoint]:
        """What refits above number `after` said of a version's rank, oldest first."""
        query: Query = {"venue": venue, "system": system, "after": after or None}
        return self._pages(RankHistory, path_of("versions", version, "ranks"), query=query, cursor="after", limit=1000)

    def opponents(self, version: str, *, venue: str | None = None) -> list[Opponent]:
        """Whom a version met, and what came of it."""
        return self._get(Opponents, path_of("versions", version, "opponents"), {"venue": venue}).items

    def figures(self, version: str, *, venue: str | None = None) -> VersionFigures:
        """How a version's games ended, by color and reason, and how much it was signed in."""
        return self._get(VersionFigures, path_of("versions", version, "figures"), {"venue": venue})

    # -- games

    def games(self, *, running: bool | None = None, **wanted: Unpack[Wanted]) -> Iterator[Game]:
        """Games of this kind, newest first.

        :param running: True for those that are being played, False for ended ones
        :param wanted: fields of :class:`Wanted`
        """
        query: dict[str, Any] = {**wanted, "running": running}
        return self._pages(GamePage, "/games", query=query, cursor="before", limit=500)

    def game(self, game: int) -> GameDetail:
        """All about one game but its moves."""
        return self._get(GameDetail, path_of("games", game))

    def moves(self, game: int, *, after: int = 0) -> list[Move]:
        """A game's moves after a ply, with clocks and analysis; of a running game those that may be shown."""
        return self._get(Moves, path_of("games", game, "moves"), {"after": after}).items

    def sgf(self, game: int) -> str:
        """A game's file."""
        return self._http.answer(path_of("games", f"{game}.sgf"), {}, accept=SGF).decode()

    def pairing(self, game: int) -> RoundDetail:
        """Why these two, with everybody whom they could have met."""
        return self._get(RoundDetail, path_of("games", game, "pairing"))

    def round(self, number: int) -> RoundDetail:
        """One round, by its id."""
        return self._get(RoundDetail, path_of("rounds", number))

    # -- events

    def events(self, *, phase: PhaseWord | None = None, venue: str | None = None) -> Iterator[EventSummary]:
        """Events, the latest announced first."""
        return self._pages(EventPage, "/events", query={"phase": phase, "venue": venue}, cursor="before", limit=200)

    def event(self, name: str) -> EventNow:
        """All of one event but its log and its crosstable."""
        return self._get(EventNow, path_of("events", name))

    def event_standings(self, name: str) -> EventStandings:
        """Who stands where in an event."""
        return self._get(EventStandings, path_of("events", name, "standings"))

    def event_crosstable(self, name: str) -> EventCrosstable:
        """Who met whom in an event, by rounds and pair by pair."""
        return self._get(EventCrosstable, path_of("events", name, "crosstable"))

    def event_rounds(self, name: str) -> list[EventRound]:
        """An event's rounds, with the reasons for every pairing."""
        return self._get(EventRounds, path_of("events", name, "rounds")).items

    def event_games(self, name: str) -> list[EventGame]:
        """An event's games by their numbers there."""
        return self._get(EventGames, path_of("events", name, "games")).items

    def event_log(self, name: str, *, after: int = 0, incarnation: str | None = None) -> Iterator[EventLogLine]:
        """Everything that happened in an event after entry `after`, in order; `incarnation` as for :meth:`ledger`."""
        query: Query = {"after": after, "incarnation": incarnation}
        return self._pages(EventLog, path_of("events", name, "log"), query=query, cursor="after", limit=1000)

    def bot_events(self, bot: str) -> list[BotEvent]:
        """The events of a bot, with where its versions stand."""
        return self._get(BotEvents, path_of("bots", bot, "events")).items

    # -- questions

    def questions(
        self,
        *,
        venue: str | None = None,
        owner: str | None = None,
        bot: str | None = None,
        state: StateWord | None = None,
    ) -> Iterator[Question]:
        """What was asked by games, the latest first."""
        query: Query = {"venue": venue, "owner": owner, "bot": bot, "state": state}
        return self._pages(QuestionPage, "/questions", query=query, cursor="before", limit=200)

    def question(self, number: int) -> QuestionDetail:
        """One question, with what its games say."""
        return self._get(QuestionDetail, path_of("questions", number))

    def question_games(self, number: int) -> list[QuestionGame]:
        """The games of a question, pair by pair."""
        return self._get(QuestionGames, path_of("questions", number, "games")).items

    # -- exports

    def export_games(self, *, after: int = 0, **wanted: Unpack[Wanted]) -> Iterator[ExportedGame]:
        """All ended games of this kind in one stream, oldest first, from number `after` + 1 on.

        :param wanted: fields of :class:`Wanted`
        """
        query: dict[str, Any] = {**wanted}
        return self._export(ExportedGame, "/export/games.ndjson", query=query, after=after, number=lambda game: game.id)

    def export_ratings(
        self, venue: str, *, system: str | None = None, after: int = 0, incarnation: str | None = None
    ) -> Iterator[ExportedChange]:
        """Every change of every rating under a system, by the ledger's entries, from entry `after` + 1 on;
        `incarnation` as for :meth:`ledger`."""
        # One entry may change several ratings: one that broke off in its midst is asked for again, as a whole.
        seq, of_entry, skip = after, 0, 0

        def rest() -> Query:
            nonlocal skip
            skip = of_entry
            return {"system": system, "after": (seq - 1 if of_entry else seq) or None, "incarnation": incarnation}

        path = path_of("export", "venues", venue, "ratings.ndjson")
        for change in self._lines(ExportedChange, path, rest):
            if skip and change.seq == seq:
                skip -= 1
                continue
            seq, of_entry = change.seq, of_entry + 1 if change.seq == seq else 1
            yield change

    def export_refits(
        self, venue: str, *, system: str | None = None, after: int = 0, incarnation: str | None = None
    ) -> Iterator[ExportedRefit]:
        """Every refit of a system with what it moved, in the order of their numbers, from `after` + 1 on;
        `incarnation` as for :meth:`ledger`."""
        path = path_of("export", "venues", venue, "refits.ndjson")
        query: Query = {"system": system, "incarnation": incarnation}
        return self._export(ExportedRefit, path, query=query, after=after, number=lambda refit: refit.number)

    def export_ledger(self, venue: str, *, after: int = 0, incarnation: str | None = None) -> Iterator[LedgerEntry]:
        """A venue's whole ledger in one stream, in order, from entry `after` + 1 on; `incarnation` as for
        :meth:`ledger`."""
        path, query = path_of("export", "venues", venue, "ledger.ndjson"), {"incarnation": incarnation}
        return self._export(LedgerEntry, path, query=query, after=after, number=lambda entry: entry.seq)

    def export_sgf(
        self, target: Path | str, *, venue: str | None = None, bot: str | None = None, after: int = 0
    ) -> int:
        """Write ended games as an archive (tar) of files to `target`; its length in bytes."""
        query: Query = {"venue": venue, "bot": bot, "after": after or None}
        whole = Path(target)
        part = whole.with_name(f".{whole.name}.part")  # a broken download leaves the file of an earlier one
        try:
            with part.open("wb") as file:
                length = self._http.download("/export/games.tar", query, file)
            part.replace(whole)
        finally:
            part.unlink(missing_ok=True)
        return length

    # -- live

    def live(self, game: int, *, since: int = 0, idle: float = 90.0) -> Iterator[LiveMove | LiveEnd]:
        """A game's moves after ply `since` as they are played; the last one is its end.

        A broken connection is opened again where it broke, without a move missing or twice. Raises where that comes to
        nothing several times in a row.

        :param idle: seconds without a word of the server after which the connection counts as broken
        """
        ply = since

        def rest() -> Query:
            return {"since": ply, "format": "ndjson"}

        ended = "The server ends the stream again and again before the game is over."
        for event in self._lines(GameEvent, path_of("games", game, "live"), rest, idle=idle, ended=ended):
            if isinstance(event, LiveEnd):
                yield event
                return
            if event.ply > ply:
                ply = event.ply
                yield event

    def live_venue(self, venue: str | None = None, *, moves: bool = False, idle: float = 90.0) -> Iterator[VenueEvent]:
        """What happens in a venue, or in all; it has no end. After a gap the server says anew what runs (`games`)."""
        query: Query = {"venue": venue, "moves": moves or None, "format": "ndjson"}
        ended = "The server ends the stream again and again."
        return self._lines(VenueEvent, "/live", lambda: query, idle=idle, ended=ended)

    # -- how

    def _get(self, kind: type[T], path: str, query: Query | None = None, least_s: float = 0.0) -> T:
        """`least_s`: seconds that a healthy server may need for it."""
        answer: T = decoded(self._http.answer(path, query or {}, least_s=least_s), kind)
        return answer

    def _pages(self, kind: type[msgspec.Struct], path: str, query: Query, cursor: str, limit: int) -> Iterator[Any]:
        """All items of all pages."""
        query = {**query, "limit": limit}
        while True:
            page: Any = self._get(kind, path, query)
            yield from page.items
            if page.next is None:
                return
            known = {"incarnation": page.incarnation or None} if "incarnation" in kind.__struct_fields__ else {}
            query = {**query, cursor: page.next, **known}

    def _export(self, kind: type[T], path: str, query: Query, after: int, number: Callable[[T], int]) -> Iterator[T]:
        """The lines of an export whose numbers rise from line to line."""

        def rest() -> Query:
            return {**query, "after": after or None}

        for value in self._lines(kind, path, rest):
            after = number(value)
            yield value

    def _lines(
        self, kind: Any, path: str, rest: Callable[[], Query], *, idle: float | None = None, ended: str = ""
    ) -> Iterator[Any]:
        """The values of a stream's lines, gone on with where it broke.

        :param rest: asks for what has not come yet
        :param idle: seconds without a byte after which a connection counts as broken; None: the usual
        :param ended: of a stream without an end, what is wrong where the server ends it again and again
        """
        pauses, failed = Pauses(random.Random(), first=0.5, longest=15.0), 0
        known: dict[str, str] = {}
        while True:
            try:
                for line in self._http.lines(path, {**rest(), **known}, idle, known):
                    value = decoded(line, kind)
                    if failed:
                        pauses.reset()
                        failed = 0
                    yield value
                if not ended:
                    return
                raise ConnectionLost(ended)
            except (ConnectionLost, CannotConnect):
                failed += 1
                if failed > ATTEMPTS:
                    raise
            self._http.sleep(pauses.next())
