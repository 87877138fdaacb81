"""How a bot comes in: its password is checked, it is looked at everywhere first, then seated everywhere at once.

Must not know: how passwords are checked, wire formats, what happens in a game.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final, TypeAlias

import structlog

from cgos_protocol.errors import Code, Conflict, Refused, StoreError
from cgos_protocol.ids import GameId, VersionId
from cgos_protocol.session import Credentials, OperatorDesk, PlayerSession, Wish
from cgos_server.live.games.live_game import VenueContext
from cgos_server.live.signing_in.duplicate_login import DuplicateLogin
from cgos_server.live.signing_in.expected import presumed_name
from cgos_server.live.venue.lobby import Admission, Lobby
from cgos_server.live.venue.player import Capacity
from cgos_server.live.venue.roster import Roster
from cgos_server.observability.metrics import LoginOutcome
from cgos_server.service.people.accounts import Accounts, Operator
from cgos_server.storage.reading.stored import StoredGame
from cgos_server.storage.writing.records import ConnectionClosed, ConnectionOpened, Record

log = structlog.get_logger(__name__)

RETELL_MS: Final = 3_600_000
"""The end of a game is not repeated when it lies further back than this (Unix ms)."""


class Arrivals:
    """The door of one venue.

    :param operator: gives an operator from an address its desk; raises Refused where it may not
    """

    def __init__(
        self,
        context: VenueContext,
        roster: Roster,
        *,
        lobby: Lobby,
        accounts: Accounts,
        operator: Callable[[Operator, str], OperatorDesk],
    ) -> None:
        self.context = context
        self._roster = roster
        self._lobby = lobby
        self._accounts = accounts
        self._operator = operator
        self._duplicates = DuplicateLogin(context.time, context.venue.ready_limit)
        self._arriving: set[VersionId] = set()

    def sign_in(self, session: PlayerSession, credentials: Credentials) -> None:
        """See :class:`~cgos_protocol.session.Reception`."""

        def operator(signed: Operator) -> None:
            session.operator(self._operator(signed, credentials.address))
            log.info(
                "operator signed in",
                connection=session.id,
                account=signed.name,
                venue=self.context.venue.name,
                address=credentials.address,
            )

        self.bring_in([(self, session)], credentials, Wish(), operator)

    def bring_in(
        self, places: Places, credentials: Credentials, wish: Wish, operator: Callable[[Operator], None]
    ) -> None:
        """Check a bot's password once and seat it in all of these venues or none; this one is the first of them.

        :param operator: told where it is an operator that signs in; raises Refused where it cannot do so here
        """
        since = self.context.time.received()

        async def enter() -> bool:
            with ExitStack() as on_the_way:
                for arrivals, _ in places:
                    on_the_way.enter_context(arrivals.context.expected.expecting(presumed_name(credentials), since))
                signed = await self._accounts.sign_in(credentials)
                if not all(session.alive for _, session in places):
                    return False
                if isinstance(signed, Operator):
                    operator(signed)
                    return False
                named, predecessor = credentials.declared.predecessor, None
                rated = (arrivals.context.rater.ratings for arrivals, _ in places)
                if named is not None and not all(ratings.knows(signed.version_id) for ratings in rated):
                    predecessor = await self._accounts.predecessor(signed, named)
                admission = Admission(
                    credentials=credentials,
                    signed=signed,
                    since=since,
                    capacity=Capacity(wish.slots),
                    wish=wish,
                    predecessor=predecessor,
                )
                await admit(places, admission)
                return signed.new

        self.context.spawn(self._receive(places[0][1], credentials, enter))

    async def _receive(
        self, session: PlayerSession, credentials: Credentials, enter: Callable[[], Coroutine[Any, Any, bool]]
    ) -> None:
        """Run a sign-in; whatever comes of it, the session hears it and it is counted.

        :param enter: does it; True where it registered a new name. Whom it has told a refusal, it has closed
        """
        meter = self.context.meter
        outcome = LoginOutcome.ABANDONED
        try:
            new = await enter()
            if session.alive:
                outcome = LoginOutcome.REGISTERED if new else LoginOutcome.ACCEPTED
        except Refused as refusal:
            outcome = LoginOutcome.REFUSED
            meter.refused(refusal.code)
            log.info(
                "sign-in refused",
                connection=session.id,
                bot=credentials.name,
                venue=self.context.venue.name,
                code=refusal.code,
                address=credentials.address,
            )
            if session.alive:
                session.refused(refusal.code, refusal.sentence, refusal.retry_after_s)
        except StoreError:
            outcome = LoginOutcome.REFUSED
            meter.refused(Code.STORE)
            session.refused(
                Code.STORE, "The server cannot reach its database just now. Please try again in a minute.", 60.0
            )
        except Exception:
            outcome = LoginOutcome.REFUSED
            # Without a word the bot would wait for ever.
            session.refused(
                Code.OUR_FAULT, "The server failed to sign you in, by a fault of its own. Please tell its operator."
            )
            raise
        finally:
            meter.logins[outcome] += 1

    @contextmanager
    def arriving(self, admission: Admission) -> Iterator[None]:
        """Keep the version's place until the end of the block: nobody else comes in under its name meanwhile.

        :raises Refused: where it is kept already
        """
        signed = admission.signed
        if signed.version_id in self._arriving:
            raise Conflict(
                Code.ALREADY_ARRIVING, f"Another sign-in as {signed.name} is being looked at. Try again.", 5.0
            )
        self._arriving.add(signed.version_id)
        try:
            with self.context.expected.expecting(signed.name, admission.since):
                yield
        finally:
            self._arriving.discard(signed.version_id)

    async def make_room(self, admission: Admission) -> None:
        """Have a connection of the version that is there already give way.

        :raises Refused: where it stays
        """
        player = self._roster.players.get(admission.signed.version_id)
        if player is None or player.session is None:
            return
        await self._duplicates.settle(player, admission.credentials.address)
        session = player.session
        if session is None:
            return  # it went by itself meanwhile
        log.info(
            "connection replaced by a new sign-in",
            connection=session.id,
            bot=player.name,
            venue=self.context.venue.name,
        )
        self._lobby.left(player, orderly=False)
        session.refused("replaced", "Another client signed in under your name, and this connection did not answer.")

    async def enroll(self, session: PlayerSession, admission: Admission) -> None:
        """Write the arrival down. Raises StoreError."""
        signed, credentials, context = admission.signed, admission.credentials, self.context
        version = signed.version_id
        self._roster.names[version] = signed.name
        self._roster.families.arrived(version, signed.bot_id)
        at = context.time.wall_ms()
        records: list[Record] = [
            ConnectionOpened(
                id=session.id,
                venue_id=context.venue.id,
                version_id=version,
                address=credentials.address,
                client=credentials.client,
                opened_at=at,
            )
        ]
        ratings = context.rater.ratings
        if not ratings.knows(version):
            predecessor = self._roster.families.predecessor(version, ratings.standings(), admission.predecessor)
            records += ratings.enter(version, self._initial_rating(), at, predecessor).records
        await context.store.commit(records)

    def _initial_rating(self) -> float:
        """Of a new version: the venue's own, or with `compat` the mean of those who wait, as on CGOS."""
        venue, ratings = self.context.venue, self.context.rater.ratings
        if venue.rating == "cgos-elo" and venue.rating_options.get("cgos-elo", {}).get("compat"):
            means = [ratings.rating(player.version).mean for player in self._roster.idle()]
            if means:
                return sum(means) / len(means)
        return venue.initial

    def running(self, version: VersionId) -> frozenset[GameId]:
        """The games that a version plays, or is away from."""
        player = self._roster.players.get(version)
        return frozenset() if player is None else frozenset(player.games)

    async def untold(self, version: VersionId, session: PlayerSession) -> list[StoredGame]:
        """The games whose end the version was not surely told. Raises StoreError."""
        if session.says_ready and self.running(version):
            return []  # one game at a time: the one that runs
        context = self.context
        return await context.store.history.games.untold(context.venue.id, version, context.time.wall_ms() - RETELL_MS)

    def seat(self, session: PlayerSession, admission: Admission, untold: Sequence[StoredGame]) -> None:
        """It is in."""
        self._duplicates.settled(admission.signed.version_id, admission.credentials.address)
        self._lobby.seat(session, admission, untold)

    def turn_away(self, session: PlayerSession) -> None:
        """Its arrival was written down, and it does not come in."""
        now = self.context.time.wall_ms()
        self.context.store.submit([ConnectionClosed(now, "lost during sign-in", session.id)])


Places: TypeAlias = Sequence[tuple[Arrivals, PlayerSession]]
"""Where a connection wants to play, and by which session."""


async def admit(places: Places, admission: Admission) -> None:
    """Seat a bot in all of these venues or none; the sessions are one connection's.

    Nobody is seated before all has been looked at: nothing begins in one venue while the bot waits for another. Where
    one venue refuses, its session is told so.

    :raises Refused: where another connection of the bot stays
    :raises StoreError: where the database does not answer
    """
    enrolled: list[tuple[Arrivals, PlayerSession]] = []
    with ExitStack() as arriving:
        try:
            for arrivals, session in places:
                try:
                    arriving.enter_context(arrivals.arriving(admission))
                    await arrivals.make_room(admission)
                except Refused as refusal:
                    session.refused(refusal.code, refusal.sentence, refusal.retry_after_s)
                    raise
            for arrivals, session in places:
                enrolled.append((arrivals, session))
                await arrivals.enroll(session, admission)
            untold = await _untold(places, admission.signed.version_id)
            if all(session.alive for _, session in places):
                enrolled.clear()
                for arrivals, session in places:
                    arrivals.seat(session, admission, untold[arrivals])
        finally:
            for arrivals, session in enrolled:
                arrivals.turn_away(session)


async def _untold(places: Places, version: VersionId) -> dict[Arrivals, list[StoredGame]]:
    """By venue: the ended games of which the version is to be told.

    A venue is asked again where a game ended meanwhile: its end may have been committed too late for the answer.
    """
    untold: dict[Arrivals, list[StoredGame]] = {}
    running: dict[Arrivals, frozenset[GameId]] = {}
    while missing := [place for place in places if place[0] not in untold]:
        for arrivals, session in missing:
            running[arrivals] = arrivals.running(version)
            untold[arrivals] = await arrivals.untold(version, session)
        for arrivals, _ in places:
            if running[arrivals] - arrivals.running(version):
                del untold[arrivals]
    return untold
