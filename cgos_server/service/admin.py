"""Does what operators and owners ask for: :class:`Admin` handles the requests of
:mod:`cgos_server.service.requests`, in the live server or on a closed database. Each deed is one commit together with
its audit row.

Who comes by the control socket may do everything; who is asked for on somebody's behalf, what
:mod:`~cgos_server.service.authority` allows. What moves ratings is done in :mod:`~cgos_server.service.rating_deeds`,
accounts in :mod:`~cgos_server.service.people`, owners' bots in :mod:`~cgos_server.service.owning`. Must not know:
sockets, terminals, configuration files.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Final, assert_never

import msgspec

from cgos_protocol.errors import (
    CgosError,
    Code,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    Refused,
    Unauthenticated,
    Unavailable,
)
from cgos_protocol.games.base import Color
from cgos_server.service.accounts import Accounts, until_words
from cgos_server.service.authority import About, about, may
from cgos_server.service.control import Control
from cgos_server.service.deeds import LAST_NUMBER, Deeds, one_line, reason_for, shown_address
from cgos_server.service.families import Families
from cgos_server.service.ids import Ids
from cgos_server.service.owning import Owning
from cgos_server.service.passwords import Passwords, digest, lets_people_in
from cgos_server.service.people import DAY_MS, Caller, People
from cgos_server.service.rating_deeds import LoadRatings, RatingDeeds
from cgos_server.service.requests import (
    AccessMake,
    AccessRevoke,
    AccountAdd,
    AccountDisable,
    AccountEnable,
    AccountGrant,
    AccountPasswd,
    AccountRegister,
    AccountRevoke,
    AnchorSet,
    AnchorUnset,
    Approve,
    Arranged,
    BotAdd,
    BotClaim,
    BotDisable,
    BotDrain,
    BotEnable,
    BotLimit,
    BotLook,
    BotOwn,
    BotPasswd,
    BotPause,
    BotRecall,
    BotRelease,
    BotResume,
    Done,
    Drain,
    Ended,
    FamilyLink,
    FamilyUnlink,
    GameAbort,
    GameCorrect,
    Kick,
    Match,
    OnBehalf,
    PasswordChange,
    Preview,
    Previewed,
    Refusal,
    Reload,
    Reloaded,
    Request,
    Response,
    SignIn,
    SignOut,
    StatusNow,
    StatusRequest,
    TokenMake,
    TokenRevoke,
    VenuePause,
    VenueResume,
    WebhookAdd,
    WebhookGiveUp,
    WebhookRemove,
    decode,
)
from cgos_server.storage.records import BotPassword, BotState, Record, SetbackNow
from cgos_server.storage.store import Store

LAST_MOMENT: Final = 253_402_300_799_000
"""The last moment that can be told people, in the year 9999 (Unix milliseconds)."""


class Admin:
    """Handles requests.

    :param control: the live server, or None on a closed database
    :param load_ratings: where there is no live server: a venue's ratings from its ledger; raises Refused for an
        unknown venue
    :param now_ms: Unix milliseconds
    :param families: who belongs together; links are noted there
    :param session_ms: how long a person's session lasts, milliseconds
    :param accounts_open: True where people make their accounts themselves
    """

    def __init__(
        self,
        store: Store,
        ids: Ids,
        accounts: Accounts,
        passwords: Passwords,
        now_ms: Callable[[], int],
        control: Control | None = None,
        load_ratings: LoadRatings | None = None,
        families: Families | None = None,
        session_ms: int = 30 * DAY_MS,
        accounts_open: bool = True,
    ) -> None:
        self._store = store
        self._accounts = accounts
        self._now_ms = now_ms
        self._control = control
        self._deeds = Deeds(store, now_ms)
        self._rating = RatingDeeds(self._deeds, families or Families({}, {}), control, load_ratings)
        self._people = People(
            deeds=self._deeds,
            ids=ids,
            accounts=accounts,
            passwords=passwords,
            session_ms=session_ms,
            accounts_open=accounts_open,
        )
        self._owning = Owning(self._deeds, ids, accounts, control)
        self._bot, self._commit = self._deeds.bot, self._deeds.commit

    async def answer(self, line: bytes) -> bytes:
        """One line of the control socket: a request in JSON, answered by a response or a :class:`Refusal`."""
        try:
            response: Response | Refusal = await self.handle(decode(line))
        except msgspec.DecodeError as error:
            response = Refusal(Code.BAD_REQUEST, f"The server does not understand this request: {error}.")
        except Refused as refusal:
            response = Refusal(refusal.code, refusal.sentence, refusal.retry_after_s)
        except CgosError as error:
            response = Refusal(Code.OUR_FAULT, f"The server could not do it: {error}")
        return msgspec.json.encode(response)

    async def handle(self, request: Request) -> Response:
        """Do it. Raises Refused with the sentence, CommitFailed where the database does not commit."""
        if isinstance(request, OnBehalf):
            return await self._on_behalf(request)
        async with await self._turn(request):
            return await self._do(request, None)

    async def _on_behalf(self, request: OnBehalf) -> Response:
        """The request inside, if whoever has the credential may ask for it. Who that is, whose the bot is and the deed
        are one turn of the bot: rights that are lost meanwhile are lost."""
        try:
            asked = decode(request.request)
        except msgspec.DecodeError as error:
            raise Invalid(Code.BAD_REQUEST, f"The server does not understand this request: {error}.") from error
        async with await self._turn(asked):
            person = None
            if lets_people_in(request.credential):
                person = await self._store.history.people.person(digest(request.credential), self._now_ms())
            may(person, asked, await self._owner_of(about(asked)))
            assert person is not None
            caller = Caller(person, shown_address(request.address))
            asked = msgspec.structs.replace(asked, actor=f"{person.name} ({caller.address})")
            return await self._do(asked, caller)

    async def _turn(self, request: Request) -> AbstractAsyncContextManager[object]:
        """One after the other what concerns one bot. A claim checks a password first, and takes its turn itself."""
        match request:
            case BotDisable(name=name) | BotEnable(name=name) | Approve(name=name) | BotOwn(bot=name):
                pass
            case _:
                name = about(request).bot or ""
        owned = await self._store.history.people.bot_owner(name) if name else None
        return nullcontext() if owned is None else self._accounts.bot_lock(owned.bot_id)

    async def _owner_of(self, what: About) -> int | None:
        """The account that owns it."""
        if what.bot is not None:
            bot = await self._store.history.people.bot_owner(what.bot)
            return None if bot is None else bot.owner
        if what.webhook is not None:
            webhook = await self._deeds.webhook(what.webhook)
            return None if webhook is None else webhook.owner_id
        access = None if what.access is None else await self._deeds.access(what.access)
        return None if access is None else access.owner_id

    async def _do(self, request: Request, caller: Caller | None) -> Response:
        """Do it; `caller` is None for whoever may do everything."""
        match request:
            case BotAdd():
                return await self._bot_add(request)
            case BotPasswd():
                return await self._bot_passwd(request)
            case BotDisable():
                return await self._bot_disable(request)
            case BotEnable():
                return await self._bot_enable(request)
            case BotRecall():
                return await self._bot_recall(request)
            case Approve():
                return await self._approve(request)
            case TokenMake():
                return await self._owning.token_make(request)
            case TokenRevoke():
                return await self._owning.token_revoke(request)
            case BotClaim():
                return await self._owning.claim(request, _somebody(caller))
            case BotOwn():
                return await self._owning.own(request)
            case BotRelease():
                return await self._owning.release(request)
            case BotPause() | BotResume():
                return await self._owning.pause(request)
            case BotDrain():
                return await self._owning.drain(request)
            case BotLimit():
                return await self._owning.limit(request)
            case BotLook():
                return await self._owning.look(request)
            case WebhookAdd():
                return await self._owning.webhook_add(request, _somebody(caller))
            case WebhookRemove() | WebhookGiveUp():
                return await self._owning.webhook_stop(request)
            case SignIn():
                return await self._people.sign_in(request, shown_address(request.address))
            case AccountRegister():
                return await self._people.register(request, shown_address(request.address))
            case SignOut():
                return await self._people.sign_out(request, _somebody(caller))
            case PasswordChange():
                return await self._people.password_change(request, _somebody(caller))
            case AccessMake():
                return await self._people.access_make(request, _somebody(caller))
            case AccessRevoke():
                return await self._people.access_revoke(request)
            case AccountAdd():
                return await self._people.add(request)
            case AccountPasswd():
                return await self._people.passwd(request)
            case AccountGrant() | AccountRevoke():
                return await self._people.right(request)
            case AccountDisable():
                return await self._people.disable(request)
            case AccountEnable():
                return await self._people.enable(request)
            case AnchorSet():
                return await self._rating.anchor_set(request)
            case AnchorUnset():
                return await self._rating.anchor_unset(request)
            case GameCorrect():
                return await self._rating.correct(request)
            case FamilyLink():
                return await self._rating.link(request)
            case FamilyUnlink():
                return await self._rating.unlink(request)
            case Drain():
                self._live().drain()
                return Done("No new game begins; the server stops when the running ones have ended.")
            case Match():
                return await self._match(request)
            case GameAbort():
                return await self._abort(request)
            case VenuePause():
                return await self._pause(request)
            case VenueResume():
                return await self._resume(request)
            case Kick():
                return await self._kick(request)
            case Preview():
                live = self._live()
                return Previewed(await live.preview(request.venue, request.method, request.options))
            case Reload():
                return await self._reload(request)
            case StatusRequest():
                return StatusNow(self._live().status())
            case OnBehalf():
                raise Forbidden(Code.NOT_ALLOWED, "Nobody asks on behalf of somebody who asks on behalf of somebody.")
        assert_never(request)

    # -- bots

    async def _bot_add(self, request: BotAdd) -> Done:
        async with self._accounts.name_lock(request.name):
            await self._accounts.register(request.name, request.password, "active", request.actor, "")
        return Done(f"The bot {request.name} may play.")

    async def _bot_passwd(self, request: BotPasswd) -> Done:
        bot = await self._bot(request.name)
        hashed = await self._accounts.new_password(request.password)
        await self._commit(request, bot.name, [BotPassword(hashed, bot.bot_id)])
        return Done(f"The password of {bot.name} is replaced.")

    async def _bot_disable(self, request: BotDisable) -> Done:
        bot = await self._bot(request.name)
        reason = reason_for(request.reason, "the bot is disabled")
        end = ""
        if request.until is not None:
            if not self._now_ms() < request.until <= LAST_MOMENT:
                raise Invalid(Code.UNTIL, "The end of the time in which a bot is disabled lies in the future.")
            end = f" until {until_words(request.until)}"
        await self._commit(
            request,
            bot.name,
            [BotState("disabled", reason, request.until, bot.bot_id)],
            reason=reason,
            until=request.until or 0,
        )
        told = f"{bot.name} was disabled{end}: {reason}"
        gone = 0 if self._control is None else self._control.dismiss(bot.bot_id, told)
        closed = f"; closed {gone} {'connection' if gone == 1 else 'connections'} of it" if gone else ""
        return Done(f"{bot.name} is disabled{end}{closed}.")

    async def _bot_enable(self, request: BotEnable) -> Done:
        bot = await self._bot(request.name)
        if bot.state == "pending":
            raise Conflict(
                Code.WAITS_APPROVAL, f"{bot.name} waits for approval. Approve it with: cgos-server approve {bot.name}"
            )
        await self._commit(request, bot.name, [BotState("active", "", None, bot.bot_id)])
        return Done(f"{bot.name} may play.")

    async def _bot_recall(self, request: BotRecall) -> Done:
        asked = await self._versions(request.name)
        if self._control is not None:
            recalled = self._control.recall(request.venue, asked.keys())
            records: list[Record] = []  # the live server keeps its own account of it
        else:
            recalled = await self._set_aside(request.venue, asked.keys())
            ids = {venue.name: venue.id for venue in await self._store.history.server.venues()}
            now = self._now_ms()
            records = [
                SetbackNow(ids[venue], version, 0, 0, "", now)
                for venue, versions in recalled.items()
                for version in versions
            ]
        if not recalled:
            where = "" if request.venue is None else f" in {request.venue}"
            raise Conflict(Code.NOT_SET_ASIDE, f"{request.name} is not set aside{where}. See: cgos-server bots")
        who = ", ".join(sorted({asked[version] for versions in recalled.values() for version in versions}))
        where = ", ".join(sorted(recalled))
        await self._commit(request, request.name, records, versions=who, venues=where)
        return Done(f"{who} may play again in {where}.")

    async def _set_aside(self, venue: str | None, versions: Collection[int]) -> dict[str, list[int]]:
        """By venue, which of the versions the database says to be set aside. Raises Refused (``unknown-venue``)."""
        venues = {row.name: row.id for row in await self._store.history.server.venues()}
        if venue is not None and venue not in venues:
            raise NotFound(
                Code.UNKNOWN_VENUE, f"There is no venue {venue}. The venues are {', '.join(sorted(venues))}."
            )
        found = {
            name: [
                row.version_id
                for row in await self._store.history.pairings.setbacks(number)
                if row.set_aside and row.version_id in versions
            ]
            for name, number in venues.items()
            if venue in (None, name)
        }
        return {name: there for name, there in found.items() if there}

    async def _versions(self, name: str) -> dict[int, str]:
        """Version id -> wire name of the versions of the bot `name`, or of the one version that is called so. Raises
        Refused (``unknown-bot``)."""
        named = await self._deeds.version(name)
        names = await self._store.history.bots.version_names()
        if await self._store.history.bots.login(name) is None:
            return {named.version_id: named.name}
        bots = await self._store.history.bots.of_versions()
        return {version: names[version] for version, bot in bots.items() if bot == named.bot_id}

    async def _approve(self, request: Approve) -> Done:
        bot = await self._bot(request.name)
        if bot.state != "pending":
            raise Conflict(Code.NOT_PENDING, f"{bot.name} does not wait for approval; it is {bot.state}.")
        await self._commit(request, bot.name, [BotState("active", "", None, bot.bot_id)])
        return Done(f"{bot.name} may play.")

    # -- the live server

    async def _match(self, request: Match) -> Arranged:
        live = self._live()
        opening = None
        if request.game is not None:
            opening = await self._store.history.games.stored(request.game) if 0 < request.game <= LAST_NUMBER else None
            if opening is None:
                raise Invalid(Code.BAD_GAME, f"There is no game {request.game} to begin from.")
        arranged = live.match(
            request.venue,
            white=request.white,
            black=request.black,
            mains_s=(request.white_s, request.black_s),
            opening=opening,
            plies=request.moves,
            actor=request.actor,
        )
        await self._commit(
            request,
            f"game {arranged.game}",
            [],
            venue=arranged.venue,
            white=arranged.white,
            black=arranged.black,
            white_s=request.white_s,
            black_s=request.black_s,
            opening=request.game or 0,
            plies=arranged.plies,
            rated=arranged.rated,
        )
        return Arranged(arranged)

    async def _abort(self, request: GameAbort) -> Ended:
        live = self._live()
        winner = _ruling(request.result)
        reason = one_line(request.reason)
        ended = live.end_game(request.game, winner, reason or "By ruling of the operator")
        await self._commit(
            request,
            f"game {ended.game}",
            [],
            venue=ended.venue,
            white=ended.white,
            black=ended.black,
            result=ended.result,
            reason=reason,
        )
        return Ended(ended)

    async def _pause(self, request: VenuePause) -> Done:
        self._live().pause(request.venue, True)
        await self._commit(request, request.venue, [])
        return Done(
            f"Nobody is paired in {request.venue} until it is resumed or the server starts again. Running games go on."
        )

    async def _resume(self, request: VenueResume) -> Done:
        self._live().pause(request.venue, False)
        await self._commit(request, request.venue, [])
        return Done(f"{request.venue} pairs again.")

    async def _kick(self, request: Kick) -> Done:
        live = self._live()
        reason = reason_for(request.reason, "the connection is closed")
        sentence = f"The operator closes your connection: {reason}"
        gone = live.kick(request.bot, sentence)
        if not gone:
            bot = await self._store.history.bots.login(request.bot)
            gone = live.dismiss(bot.bot_id, sentence) if bot is not None else 0
        if not gone:
            raise Conflict(Code.NOT_HERE, f"{request.bot} is not signed in. See: cgos-server status")
        await self._commit(request, request.bot, [], reason=reason, connections=gone)
        return Done(
            f"Closed {gone} {'connection' if gone == 1 else 'connections'} of {request.bot}. It may come back; to keep "
            f"it out: cgos-server bot disable {request.bot}"
        )

    async def _reload(self, request: Reload) -> Reloaded:
        changes = await self._live().reload()
        await self._commit(request, "configuration", [], changes=" ".join(changes))
        return Reloaded(changes)

    # -- what they share

    def _live(self) -> Control:
        if self._control is None:
            raise Unavailable(Code.NO_SERVER, "No server runs on this database. Start one with: cgos-server serve")
        return self._control


def _somebody(caller: Caller | None) -> Caller:
    """Whoever this is done for. Raises Refused (``not-signed-in``) where it is nobody in particular."""
    if caller is None:
        raise Unauthenticated(
            Code.NOT_SIGNED_IN, "This is done for somebody who is signed in, on the pages or by the API."
        )
    return caller


def _ruling(result: str | None) -> Color | None:
    """Who wins by forfeit, None for nobody. Raises Refused for what an operator cannot give."""
    match (result or "abort").lower():
        case "abort":
            return None
        case "b+forfeit":
            return Color.BLACK
        case "w+forfeit":
            return Color.WHITE
    raise Invalid(Code.RESULT, "A game can be given B+Forfeit or W+Forfeit, which is rated, or Abort, which is not.")
