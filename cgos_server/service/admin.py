"""What an operator may do, as request values: one :class:`Admin` handles them, in the live server or on a closed
database. Each deed is one commit together with its audit row.

The same bytes travel over the control socket. Must not know: sockets, terminals, configuration files.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import assert_never

import msgspec

from cgos_server.core.games.base import Color
from cgos_server.errors import CgosError, Refused
from cgos_server.protocol.names import fold, name_fault, password_fault
from cgos_server.service.accounts import Accounts
from cgos_server.service.audit import audit
from cgos_server.service.control import ArrangedGame, Control, EndedGame, ServerStatus
from cgos_server.service.ids import Ids
from cgos_server.service.passwords import Passwords, digest, looks_like_token, new_token
from cgos_server.service.ratings import VenueRatings
from cgos_server.storage.records import (
    BotPassword,
    BotState,
    OwnerAdded,
    OwnerChanged,
    Record,
    TokenAdded,
    TokenRevoked,
)
from cgos_server.storage.store import BotLogin, Owner, Store

RIGHTS = ("admin",)
WIDEST_RATING = 10_000.0
LAST_NUMBER = 2**63 - 1
"""A game's number as the database can hold it."""


class _Request(msgspec.Struct, frozen=True, kw_only=True, tag_field="do", forbid_unknown_fields=True):
    """A deed. `actor` is who asks, for the audit."""

    actor: str = "operator"


class BotAdd(_Request, frozen=True, kw_only=True, tag="bot add"):
    """Register a bot that may play at once."""

    name: str
    password: str


class BotPasswd(_Request, frozen=True, kw_only=True, tag="bot passwd"):
    """Replace a bot's password."""

    name: str
    password: str


class BotDisable(_Request, frozen=True, kw_only=True, tag="bot disable"):
    """Keep a bot out and dismiss its connections; `reason` is told to its author."""

    name: str
    reason: str


class BotEnable(_Request, frozen=True, kw_only=True, tag="bot enable"):
    """Let a disabled bot play again."""

    name: str


class Approve(_Request, frozen=True, kw_only=True, tag="approve"):
    """Let a bot play that registered itself and waits."""

    name: str


class AccountAdd(_Request, frozen=True, kw_only=True, tag="account add"):
    """Make a person's account."""

    name: str
    password: str
    admin: bool = False


class AccountPasswd(_Request, frozen=True, kw_only=True, tag="account passwd"):
    """Replace an account's password."""

    name: str
    password: str


class AccountGrant(_Request, frozen=True, kw_only=True, tag="account grant"):
    """Give an account a right (`admin`)."""

    name: str
    right: str


class AccountRevoke(_Request, frozen=True, kw_only=True, tag="account revoke"):
    """Take a right away."""

    name: str
    right: str


class TokenMake(_Request, frozen=True, kw_only=True, tag="token make"):
    """Make a token for a bot; `label` is for people."""

    bot: str
    label: str = ""


class TokenRevoke(_Request, frozen=True, kw_only=True, tag="token revoke"):
    """End a token's validity."""

    bot: str
    token: int


class AnchorSet(_Request, frozen=True, kw_only=True, tag="anchor set"):
    """Fix a bot's rating in a venue."""

    venue: str
    bot: str
    rating: float


class AnchorUnset(_Request, frozen=True, kw_only=True, tag="anchor unset"):
    """Let an anchor's rating move again."""

    venue: str
    bot: str


class Drain(_Request, frozen=True, kw_only=True, tag="drain"):
    """End the running server in good order."""


class StatusRequest(_Request, frozen=True, kw_only=True, tag="status"):
    """What the running server does now."""


class Match(_Request, frozen=True, kw_only=True, tag="match"):
    """Let two bots play now. Seconds of main time, 0 for the venue's own; with `game` the new game begins with the
    first `moves` moves (all without it) of that old one."""

    venue: str
    white: str
    black: str
    white_s: int = 0
    black_s: int = 0
    game: int | None = None
    moves: int | None = None


class GameAbort(_Request, frozen=True, kw_only=True, tag="abort"):
    """End a running game: without a result, or as ``B+Forfeit`` or ``W+Forfeit``. `reason` is told to both sides."""

    game: int
    result: str | None = None
    reason: str = ""


class VenuePause(_Request, frozen=True, kw_only=True, tag="pause"):
    """Pair nobody in a venue until it is resumed or the server starts again; running games go on."""

    venue: str


class VenueResume(_Request, frozen=True, kw_only=True, tag="resume"):
    """Pair again."""

    venue: str


class Kick(_Request, frozen=True, kw_only=True, tag="kick"):
    """Close the connections of a bot, or of one of its versions; `reason` is told. It may come back."""

    bot: str
    reason: str = ""


Request = (
    BotAdd
    | BotPasswd
    | BotDisable
    | BotEnable
    | Approve
    | AccountAdd
    | AccountPasswd
    | AccountGrant
    | AccountRevoke
    | TokenMake
    | TokenRevoke
    | AnchorSet
    | AnchorUnset
    | Drain
    | Match
    | GameAbort
    | VenuePause
    | VenueResume
    | Kick
    | StatusRequest
)


class Done(msgspec.Struct, frozen=True, tag_field="is", tag="done"):
    """It is done and committed; `sentence` says what."""

    sentence: str


class TokenMade(msgspec.Struct, frozen=True, tag_field="is", tag="token"):
    """The only time that the token's text is seen."""

    id: int
    token: str


class StatusNow(msgspec.Struct, frozen=True, tag_field="is", tag="status"):
    """Answer to `StatusRequest`."""

    status: ServerStatus


class Arranged(msgspec.Struct, frozen=True, tag_field="is", tag="arranged"):
    """Answer to `Match`."""

    game: ArrangedGame


class Ended(msgspec.Struct, frozen=True, tag_field="is", tag="ended"):
    """Answer to `GameAbort`."""

    game: EndedGame


class Refusal(msgspec.Struct, frozen=True, tag_field="is", tag="refused"):
    """It was not done; see :class:`cgos_server.errors.Refused`."""

    code: str
    sentence: str


Response = Done | TokenMade | StatusNow | Arranged | Ended
_REQUEST: msgspec.json.Decoder[Request] = msgspec.json.Decoder(Request)
_ANSWER: msgspec.json.Decoder[Response | Refusal] = msgspec.json.Decoder(Response | Refusal)

LoadRatings = Callable[[str], Awaitable[VenueRatings]]


async def ask(call: Callable[[bytes], Awaitable[bytes]], request: Request) -> Response:
    """Have a running server handle `request`; `call` takes one line to its control socket and brings the answer.

    :raises Refused: where the server refuses, or `call` does
    """
    response = _ANSWER.decode(await call(msgspec.json.encode(request)))
    if isinstance(response, Refusal):
        raise Refused(response.code, response.sentence)
    return response


class Admin:
    """Handles requests.

    :param control: the live server, or None on a closed database
    :param load_ratings: where there is no live server: a venue's ratings from its ledger; raises Refused for an
        unknown venue
    :param now_ms: Unix milliseconds
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
    ) -> None:
        self._store = store
        self._ids = ids
        self._accounts = accounts
        self._passwords = passwords
        self._now_ms = now_ms
        self._control = control
        self._load_ratings = load_ratings

    async def answer(self, line: bytes) -> bytes:
        """One line of the control socket: a request in JSON, answered by a response or a :class:`Refusal`."""
        try:
            response: Response | Refusal = await self.handle(_REQUEST.decode(line))
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
                return await self._anchor_set(request)
            case AnchorUnset():
                return await self._anchor_unset(request)
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
        reason = " ".join(request.reason.split())[:200]
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

    # -- anchors

    async def _anchor_set(self, request: AnchorSet) -> Done:
        if not -WIDEST_RATING <= request.rating <= WIDEST_RATING:
            raise Refused("rating", f"An anchor's rating lies between {-WIDEST_RATING:g} and {WIDEST_RATING:g}.")
        bot = await self._bot(request.bot)
        ratings = await self._ratings(request.venue)
        # From here to the commit nothing may wait: the ledger's numbers must reach the store in their order.
        at = self._now_ms()
        records: list[Record] = []
        if not ratings.knows(bot.version_id):
            records += ratings.enter(bot.version_id, request.rating, at).records
        records += ratings.anchor(bot.version_id, request.rating, at).records
        await self._commit(request, bot.name, records, venue=request.venue, rating=request.rating)
        return Done(f"{bot.name} is an anchor of {request.venue} at {request.rating:g}.")

    async def _anchor_unset(self, request: AnchorUnset) -> Done:
        bot = await self._bot(request.bot)
        ratings = await self._ratings(request.venue)
        if not ratings.knows(bot.version_id) or not ratings.rating(bot.version_id).anchor:
            raise Refused("no-anchor", f"{bot.name} is no anchor of {request.venue}. See: cgos-server anchor list")
        records = ratings.unanchor(bot.version_id, self._now_ms()).records
        await self._commit(request, bot.name, records, venue=request.venue)
        return Done(f"{bot.name} is no anchor of {request.venue} any more; its rating moves from where it stands.")

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
        reason = " ".join(request.reason.split())[:200]
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
        reason = " ".join(request.reason.split())[:200]
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

    # -- what they share

    def _live(self) -> Control:
        if self._control is None:
            raise Refused("no-server", "No server runs on this database. Start one with: cgos-server serve")
        return self._control

    async def _ratings(self, venue: str) -> VenueRatings:
        found = self._control.ratings(venue) if self._control is not None else None
        if found is None and self._control is None and self._load_ratings is not None:
            found = await self._load_ratings(venue)
        if found is None:
            raise Refused("unknown-venue", f"There is no venue {venue}. See: cgos-server check")
        return found

    async def _bot(self, name: str) -> BotLogin:
        bot = await self._store.login(name)
        if bot is None:
            near = await self._store.name_taken(fold(name))
            other = near is not None and near != name  # then nobody else can have this name
            hint = (
                f"Did you mean {near}?" if other else f"See: cgos-server bots. Add it with: cgos-server bot add {name}"
            )
            raise Refused("unknown-bot", f"There is no bot {name}. {hint}")
        return bot

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

    async def _commit(
        self, request: Request, subject: str, records: list[Record], **detail: str | int | float | bool
    ) -> None:
        action = str(request.__struct_config__.tag)
        await self._store.commit([*records, audit(self._now_ms(), request.actor, action, subject, **detail)])


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
