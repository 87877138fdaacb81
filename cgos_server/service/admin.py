"""Does what an operator asks for: :class:`Admin` handles the requests of :mod:`cgos_server.service.requests`, in the
live server or on a closed database. Each deed is one commit together with its audit row.

What moves ratings is done in :mod:`cgos_server.service.rating_deeds`. Must not know: sockets, terminals, configuration
files.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import assert_never

import msgspec

from cgos_server.core.games.base import Color
from cgos_server.errors import CgosError, Refused
from cgos_server.protocol.names import fold, name_fault, password_fault
from cgos_server.service.accounts import Accounts
from cgos_server.service.control import Control
from cgos_server.service.deeds import Deeds, one_line
from cgos_server.service.families import Families
from cgos_server.service.ids import Ids
from cgos_server.service.passwords import Passwords, digest, looks_like_token, new_token
from cgos_server.service.rating_deeds import LAST_NUMBER, LoadRatings, RatingDeeds
from cgos_server.service.requests import (
    RIGHTS,
    AccountAdd,
    AccountGrant,
    AccountPasswd,
    AccountRevoke,
    AnchorSet,
    AnchorUnset,
    Approve,
    Arranged,
    BotAdd,
    BotDisable,
    BotEnable,
    BotPasswd,
    BotRecall,
    Done,
    Drain,
    Ended,
    FamilyLink,
    FamilyUnlink,
    GameAbort,
    GameCorrect,
    Kick,
    Match,
    Preview,
    Previewed,
    Refusal,
    Reload,
    Reloaded,
    Request,
    Response,
    StatusNow,
    StatusRequest,
    TokenMade,
    TokenMake,
    TokenRevoke,
    VenuePause,
    VenueResume,
    decode,
)
from cgos_server.storage.records import (
    BotPassword,
    BotState,
    OwnerAdded,
    OwnerChanged,
    Record,
    SetbackNow,
    TokenAdded,
    TokenRevoked,
)
from cgos_server.storage.store import Owner, Store


class Admin:
    """Handles requests.

    :param control: the live server, or None on a closed database
    :param load_ratings: where there is no live server: a venue's ratings from its ledger; raises Refused for an
        unknown venue
    :param now_ms: Unix milliseconds
    :param families: who belongs together; links are noted there
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
    ) -> None:
        self._store = store
        self._ids = ids
        self._accounts = accounts
        self._passwords = passwords
        self._now_ms = now_ms
        self._control = control
        self._deeds = Deeds(store, now_ms)
        self._rating = RatingDeeds(self._deeds, families or Families({}, {}), control, load_ratings)
        self._bot, self._commit = self._deeds.bot, self._deeds.commit

    async def answer(self, line: bytes) -> bytes:
        """One line of the control socket: a request in JSON, answered by a response or a :class:`Refusal`."""
        try:
            response: Response | Refusal = await self.handle(decode(line))
        except msgspec.DecodeError as error:
            response = Refusal("bad-request", f"The server does not understand this request: {error}.")
        except Refused as refusal:
            response = Refusal(refusal.code, refusal.sentence)
        except CgosError as error:
            response = Refusal("our-fault", f"The server could not do it: {error}")
        return msgspec.json.encode(response)

    async def handle(self, request: Request) -> Response:
        """Do it. Raises Refused with the sentence, CommitFailed where the database does not commit."""
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
            case AccountAdd():
                return await self._account_add(request)
            case AccountPasswd():
                return await self._account_passwd(request)
            case AccountGrant() | AccountRevoke():
                return await self._account_right(request)
            case TokenMake():
                return await self._token_make(request)
            case TokenRevoke():
                return await self._token_revoke(request)
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
        assert_never(request)

    # -- bots

    async def _bot_add(self, request: BotAdd) -> Done:
        async with self._accounts.name_lock(request.name):
            await self._accounts.register(request.name, request.password, "active", request.actor, "")
        return Done(f"The bot {request.name} may play.")

    async def _bot_passwd(self, request: BotPasswd) -> Done:
        bot = await self._bot(request.name)
        hashed = await self._hash(request.password)
        await self._commit(request, bot.name, [BotPassword(hashed, bot.bot_id)])
        return Done(f"The password of {bot.name} is replaced.")

    async def _bot_disable(self, request: BotDisable) -> Done:
        bot = await self._bot(request.name)
        reason = one_line(request.reason)
        await self._commit(request, bot.name, [BotState("disabled", reason, bot.bot_id)], reason=reason)
        why = f": {reason}" if reason else "."
        gone = 0 if self._control is None else self._control.dismiss(bot.bot_id, f"{bot.name} was disabled{why}")
        closed = f"; closed {gone} {'connection' if gone == 1 else 'connections'} of it" if gone else ""
        return Done(f"{bot.name} is disabled{closed}.")

    async def _bot_enable(self, request: BotEnable) -> Done:
        bot = await self._bot(request.name)
        if bot.state == "pending":
            raise Refused(
                "waits-approval", f"{bot.name} waits for approval. Approve it with: cgos-server approve {bot.name}"
            )
        await self._commit(request, bot.name, [BotState("active", "", bot.bot_id)])
        return Done(f"{bot.name} may play.")

    async def _bot_recall(self, request: BotRecall) -> Done:
        asked = await self._versions(request.name)
        if self._control is not None:
            recalled = self._control.recall(request.venue, asked.keys())
            records: list[Record] = []  # the live server keeps its own account of it
        else:
            recalled = await self._set_aside(request.venue, asked.keys())
            ids = {venue.name: venue.id for venue in await self._store.venues()}
            now = self._now_ms()
            records = [
                SetbackNow(ids[venue], version, 0, 0, "", now)
                for venue, versions in recalled.items()
                for version in versions
            ]
        if not recalled:
            where = "" if request.venue is None else f" in {request.venue}"
            raise Refused("not-set-aside", f"{request.name} is not set aside{where}. See: cgos-server bots")
        who = ", ".join(sorted({asked[version] for versions in recalled.values() for version in versions}))
        where = ", ".join(sorted(recalled))
        await self._commit(request, request.name, records, versions=who, venues=where)
        return Done(f"{who} may play again in {where}.")

    async def _set_aside(self, venue: str | None, versions: Collection[int]) -> dict[str, list[int]]:
        """By venue, which of the versions the database says to be set aside. Raises Refused (``unknown-venue``)."""
        venues = {row.name: row.id for row in await self._store.venues()}
        if venue is not None and venue not in venues:
            raise Refused("unknown-venue", f"There is no venue {venue}. The venues are {', '.join(sorted(venues))}.")
        found = {
            name: [
                row.version_id for row in await self._store.setbacks(number)
                if row.set_aside and row.version_id in versions
            ]
            for name, number in venues.items()
            if venue in (None, name)
        }  # fmt: skip
        return {name: there for name, there in found.items() if there}

    async def _versions(self, name: str) -> dict[int, str]:
        """Version id -> wire name of the versions of the bot `name`, or of the one version that is called so. Raises
        Refused (``unknown-bot``)."""
        named = await self._deeds.version(name)
        names = await self._store.version_names()
        if await self._store.login(name) is None:
            return {named.version_id: named.name}
        bots = await self._store.bot_ids()
        return {version: names[version] for version, bot in bots.items() if bot == named.bot_id}

    async def _approve(self, request: Approve) -> Done:
        bot = await self._bot(request.name)
        if bot.state != "pending":
            raise Refused("not-pending", f"{bot.name} does not wait for approval; it is {bot.state}.")
        await self._commit(request, bot.name, [BotState("active", "", bot.bot_id)])
        return Done(f"{bot.name} may play.")

    # -- accounts

    async def _account_add(self, request: AccountAdd) -> Done:
        fault = name_fault(request.name)
        if fault is not None:
            raise Refused("name", fault)
        async with self._accounts.name_lock(request.name):
            await self._accounts.must_be_free(request.name)
            hashed = await self._hash(request.password)
            added = OwnerAdded(
                self._ids.owner(), request.name, fold(request.name), hashed, int(request.admin), self._now_ms()
            )
            await self._commit(request, request.name, [added], admin=request.admin)
        return Done(f"The account {request.name} is made{', with the right admin' if request.admin else ''}.")

    async def _account_passwd(self, request: AccountPasswd) -> Done:
        async with self._accounts.name_lock(request.name):  # a row is replaced as a whole
            owner = await self._owner(request.name)
            hashed = await self._hash(request.password)
            await self._commit(request, owner.name, [OwnerChanged(hashed, int(owner.admin), owner.state, owner.id)])
        return Done(f"The password of {owner.name} is replaced.")

    async def _account_right(self, request: AccountGrant | AccountRevoke) -> Done:
        if request.right not in RIGHTS:
            raise Refused("unknown-right", f"There is no right {request.right!r}. Choose one of: {', '.join(RIGHTS)}.")
        grant = isinstance(request, AccountGrant)
        async with self._accounts.name_lock(request.name):
            owner = await self._owner(request.name)
            changed = OwnerChanged(owner.password, int(grant), owner.state, owner.id)
            await self._commit(request, owner.name, [changed], right=request.right)
        return Done(f"{owner.name} {'has' if grant else 'does not have'} the right {request.right}.")

    # -- tokens

    async def _token_make(self, request: TokenMake) -> TokenMade:
        bot = await self._bot(request.bot)
        label = " ".join(request.label.split())[:80]
        token, number = new_token(), self._ids.token()
        added = TokenAdded(number, bot.bot_id, digest(token), label, self._now_ms())
        await self._commit(request, bot.name, [added], token=number, label=label)
        return TokenMade(number, token)

    async def _token_revoke(self, request: TokenRevoke) -> Done:
        bot = await self._bot(request.bot)
        found = {token.id: token for token in await self._store.tokens(bot.bot_id)}.get(request.token)
        if found is None:
            raise Refused(
                "unknown-token", f"{bot.name} has no token {request.token}. See: cgos-server token list {bot.name}"
            )
        if found.revoked_at is not None:
            raise Refused("revoked", f"Token {found.id} of {bot.name} is revoked already.")
        await self._commit(request, bot.name, [TokenRevoked(self._now_ms(), found.id)], token=found.id)
        return Done(f"Token {found.id} of {bot.name} is revoked.")

    # -- the live server

    async def _match(self, request: Match) -> Arranged:
        live = self._live()
        opening = None
        if request.game is not None:
            opening = await self._store.game(request.game) if 0 < request.game <= LAST_NUMBER else None
            if opening is None:
                raise Refused("bad-game", f"There is no game {request.game} to begin from.")
        arranged = live.match(
            request.venue, request.white, request.black, (request.white_s, request.black_s), opening, request.moves,
            request.actor,
        )  # fmt: skip
        await self._commit(
            request, f"game {arranged.game}", [], venue=arranged.venue, white=arranged.white, black=arranged.black,
            white_s=request.white_s, black_s=request.black_s, opening=request.game or 0, plies=arranged.plies,
            rated=arranged.rated,
        )  # fmt: skip
        return Arranged(arranged)

    async def _abort(self, request: GameAbort) -> Ended:
        live = self._live()
        winner = _ruling(request.result)
        reason = one_line(request.reason)
        ended = live.end_game(request.game, winner, reason or "By ruling of the operator")
        await self._commit(
            request, f"game {ended.game}", [], venue=ended.venue, white=ended.white, black=ended.black,
            result=ended.result, reason=reason,
        )  # fmt: skip
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
        reason = one_line(request.reason)
        sentence = f"The operator closes your connection{f': {reason}' if reason else '.'}"
        gone = live.kick(request.bot, sentence)
        if not gone:
            bot = await self._store.login(request.bot)
            gone = live.dismiss(bot.bot_id, sentence) if bot is not None else 0
        if not gone:
            raise Refused("not-here", f"{request.bot} is not signed in. See: cgos-server status")
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
            raise Refused("no-server", "No server runs on this database. Start one with: cgos-server serve")
        return self._control

    async def _owner(self, name: str) -> Owner:
        owner = await self._store.owner(name)
        if owner is None:
            raise Refused("unknown-account", f"There is no account {name}. Add it with: cgos-server account add {name}")
        return owner

    async def _hash(self, password: str) -> str:
        fault = password_fault(password)
        if fault is None and looks_like_token(password):
            fault = "A password must not look like a token: choose another."
        if fault is not None:
            raise Refused("password", fault)
        return await self._passwords.hash(password)


def _ruling(result: str | None) -> Color | None:
    """Who wins by forfeit, None for nobody. Raises Refused for what an operator cannot give."""
    match (result or "abort").lower():
        case "abort":
            return None
        case "b+forfeit":
            return Color.BLACK
        case "w+forfeit":
            return Color.WHITE
    raise Refused("result", "A game can be given B+Forfeit or W+Forfeit, which is rated, or Abort, which is not.")
