"""What an operator changes about ratings: anchors, what ended games count as, which bots are one engine.

Decides what such a deed appends to the venues' ledgers, in the live server or on a closed database. Must not know:
ratings' formulas, sockets, terminals.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, NamedTuple, TypeVar

from cgos_protocol.errors import Code, Conflict, Invalid, NotFound, OurFault, Unavailable
from cgos_protocol.terms import decode_terms
from cgos_server.core.rating.base import Kind
from cgos_server.service.control import Control
from cgos_server.service.deeds import LAST_NUMBER, REASON_MAX, Deeds
from cgos_server.service.families import Families
from cgos_server.service.ratings import VenueRatings
from cgos_server.service.requests import (
    RESULTS,
    AnchorSet,
    AnchorUnset,
    Done,
    FamilyLink,
    FamilyUnlink,
    GameCorrect,
)
from cgos_server.storage.reading.stored import BotLogin, Counted, FirstRepeat, StoredGame
from cgos_server.storage.records import BotFamily, CorrectionAdded, Record

LoadRatings = Callable[[str], Awaitable[VenueRatings]]

WIDEST_RATING: Final = 10_000.0
WIDEST_SD: Final = 500.0
"""Of an anchor, Elo: whose rating is known no better than that holds no scale."""

_CHUNK: Final = 5_000
"""Entries of a ledger that are read at once."""

_TRIES: Final = 100
"""How often the database is asked anew because results came meanwhile."""

_COUNTS: Final = {None: "nothing", 0: "a win for White", 1: "a draw", 2: "a win for Black"}

T = TypeVar("T")


class _Ruling(NamedTuple):
    """What a game is to count as; fields as in :class:`cgos_server.storage.records.CorrectionAdded`."""

    result: str
    score2: int | None
    winner: int | None


_RULINGS: Final = tuple(map(_Ruling, RESULTS, (None, 2, 0, 1), (None, 0, 1, None)))


class RatingDeeds:
    """Handles the requests that move ratings.

    :param families: who belongs together; links are noted there
    :param control: the live server, or None on a closed database
    :param load_ratings: where there is no live server: a venue's ratings from its ledger; raises Refused for an
        unknown venue
    """

    def __init__(
        self, deeds: Deeds, families: Families, control: Control | None, load_ratings: LoadRatings | None
    ) -> None:
        self._deeds = deeds
        self._families = families
        self._control = control
        self._load_ratings = load_ratings
        self._one_by_one = asyncio.Lock()
        """What a deed finds in the database holds until it is done."""

    # -- anchors

    async def anchor_set(self, request: AnchorSet) -> Done:
        """State a rating."""
        if not -WIDEST_RATING <= request.rating <= WIDEST_RATING:
            raise Invalid(Code.RATING, f"An anchor's rating lies between {-WIDEST_RATING:g} and {WIDEST_RATING:g}.")
        sd = request.sd
        if sd is not None and not 0 < sd <= WIDEST_SD:
            raise Invalid(Code.SD, f"An anchor's standard deviation is above 0 and at most {WIDEST_SD:g} Elo.")
        bot, version, name = await self._deeds.version(request.bot)
        ratings = await self._ratings(request.venue)
        # From here to the commit nothing may wait: the ledger's numbers must reach the store in their order.
        at = self._deeds.now_ms()
        records: list[Record] = []
        if not ratings.knows(version):
            self._families.arrived(version, bot)
            other = self._families.predecessor(version, ratings.standings())
            records += ratings.enter(version, request.rating, at, other).records
        records += ratings.anchor(version, request.rating, at, sd).records
        self._changed(request.venue)
        known = {} if sd is None else {"sd": sd}
        await self._deeds.commit(request, name, records, venue=request.venue, rating=request.rating, **known)
        exactly = "" if sd is None else f", known to a standard deviation of {sd:g}"
        return Done(f"{name} is an anchor of {request.venue} at {request.rating:g}{exactly}.")

    async def anchor_unset(self, request: AnchorUnset) -> Done:
        """Let a rating move again."""
        _, version, name = await self._deeds.version(request.bot)
        ratings = await self._ratings(request.venue)
        if not ratings.knows(version) or not ratings.rating(version).anchor:
            raise Conflict(Code.NO_ANCHOR, f"{name} is no anchor of {request.venue}. See: cgos-server anchor list")
        records = ratings.unanchor(version, self._deeds.now_ms()).records
        self._changed(request.venue)
        await self._deeds.commit(request, name, records, venue=request.venue)
        return Done(f"{name} is no anchor of {request.venue} any more; its rating moves from where it stands.")

    # -- corrections

    async def correct(self, request: GameCorrect) -> Done:
        """Change what an ended game counts as, from now on.

        An operator's word counts by itself: whatever else was played alike, a corrected game is no repeat and has none.
        Where it was the one that counted for several games that were the same, the next of them counts in its stead.
        """
        ruling = next((each for each in _RULINGS if each.result.lower() == request.result.lower()), None)
        if ruling is None:
            raise Invalid(Code.RESULT, f"An ended game can be made to count as {', '.join(RESULTS)}.")
        reason = " ".join(request.reason.split())
        if not reason:
            raise Invalid(Code.NO_REASON, "A correction is kept with its reason: give one.")
        if len(reason) > REASON_MAX:
            raise Invalid(
                Code.LONG_REASON, f"The reason has {len(reason)} characters; {REASON_MAX} are kept. Shorten it."
            )
        async with self._one_by_one:
            game = await self._rated_game(request.game, ruling)
            venue = await self._venue_of(game)
            ratings = await self._ratings(venue)
            if not ratings.knows(game.black_id) or not ratings.knows(game.white_id):
                raise Conflict(Code.NOT_RATED, f"{game.black} and {game.white} are not both rated in {venue}.")
            counted, instead = await self._as_of_now(ratings, lambda: self._count(game))
            was2 = None if counted is None else counted.score2
            if was2 == ruling.score2:
                raise Conflict(
                    Code.NO_CHANGE, f"Game {game.id} counts as {_COUNTS[was2]} already: nothing would change."
                )
            at = self._deeds.now_ms()
            sides = game.black_id, game.white_id
            repeat = counted is not None and counted.repeat
            applied = ratings.correct(game.id, *sides, was2, ruling.score2, at, repeat)
            records: list[Record] = [
                CorrectionAdded(game.id, at, applied.entry.seq, request.actor, reason, ruling.winner, ruling.result),
                *applied.records,
            ]
            digest = _stood_for(counted)
            if instead is not None:
                records += ratings.correct(instead.game_id, *sides, None, instead.score2, at, repeat=True).records
            elif digest is not None:
                ratings.forget(*sides, digest)
            self._changed(venue)
            await self._deeds.commit(
                request,
                f"game {game.id}",
                records,
                venue=venue,
                black=game.black,
                white=game.white,
                result=ruling.result,
                was=_COUNTS[was2],
                reason=reason,
                **({} if instead is None else {"instead": instead.game_id}),
            )
        next_one = "" if instead is None else f" Where repeats count once, game {instead.game_id} counts in its stead."
        return Done(
            f"Game {game.id} of {game.black} (Black) and {game.white} (White) counts as {_COUNTS[ruling.score2]} from "
            f"now on; it counted as {_COUNTS[was2]}.{next_one}"
        )

    async def _rated_game(self, number: int, ruling: _Ruling) -> StoredGame:
        """Raises Refused unless the game has ended, can have that result, and was played for ratings."""
        game = await self._deeds.store.history.games.stored(number) if 0 < number <= LAST_NUMBER else None
        if game is None:
            raise NotFound(Code.NO_GAME, f"There is no game {number}. See: cgos-server games")
        if game.result is None:
            raise Conflict(Code.RUNNING, f"Game {number} has not ended. To end it: cgos-server abort {number}")
        terms = decode_terms(game.terms)
        if not terms.rated:
            raise Conflict(
                Code.NOT_RATED,
                f"Game {number} changed no rating (a sandbox venue, clocks of its own, or begun from an old game): "
                "there is nothing to correct.",
            )
        if ruling.score2 == 1 and terms.rules.komi2 % 2:
            komi = terms.rules.komi2 / 2
            raise NotFound(Code.NO_DRAW, f"Game {number} was played with komi {komi:g}, where nobody can draw.")
        return game

    async def _venue_of(self, game: StoredGame) -> str:
        for venue in await self._deeds.store.history.server.venues():
            if venue.id == game.venue_id:
                return venue.name
        raise NotFound(Code.UNKNOWN_VENUE, f"The venue of game {game.id} is not known any more.")

    async def _count(self, game: StoredGame) -> tuple[Counted | None, FirstRepeat | None]:
        """What it counts as, and the game that would count in its stead."""
        store = self._deeds.store
        counted = await store.history.ledger.counted(game.id)
        digest = _stood_for(counted)
        if digest is None:
            return counted, None
        return counted, await store.history.ledger.first_repeat(game.venue_id, game.black_id, game.white_id, digest)

    async def _as_of_now(self, ratings: VenueRatings, look: Callable[[], Awaitable[T]]) -> T:
        """What `look` finds in the database while that holds all of the venue's entries."""
        for _ in range(_TRIES):
            seq = ratings.seq
            await self._deeds.store.commit([])  # what was submitted before is committed after this
            found = await look()
            if ratings.seq == seq:
                return found
        raise Unavailable(Code.BUSY, "Results come faster than the past can be looked at. Try again.", 10.0)

    # -- families

    async def link(self, request: FamilyLink) -> Done:
        """Put a bot into a family: into that of the leader's own leader, where it has one."""
        async with self._one_by_one:
            bot, named = await self._deeds.bot(request.bot), await self._deeds.bot(request.leader)
            names = {number: name for number, name, _ in await self._deeds.store.history.bots.names()}
            leader = self._families.leader(named.bot_id)
            self._may_join(bot, leader, names)
            venues = await self._venues()
            at = self._deeds.now_ms()
            for login in (bot, named):
                self._families.arrived(login.version_id, login.bot_id)
            records: list[Record] = [BotFamily(leader, bot.bot_id)]
            linked: list[str] = []
            for venue, ratings in venues.items():
                own = self._families.versions(bot.bot_id)
                others = {
                    version
                    for member in (leader, *self._families.members(leader))
                    for version in self._families.versions(member)
                }
                pair = _neighbors(*({v for v in versions if ratings.knows(v)} for versions in (own, others)))
                if pair is not None:
                    records += ratings.link(*pair, at).records
                    linked.append(venue)
                    self._changed(venue)
            self._families.lead(bot.bot_id, leader)
            await self._deeds.commit(request, bot.name, records, leader=names[leader], venues=", ".join(linked))
        return Done(f"{bot.name} belongs to the family of {names[leader]}.{_where(linked, 'linked')}")

    def _may_join(self, bot: BotLogin, leader: int, names: dict[int, str]) -> None:
        now = self._families.leader(bot.bot_id)
        if now == leader != bot.bot_id:
            raise Conflict(Code.LINKED, f"{bot.name} belongs to the family of {names[leader]} already.")
        if now != bot.bot_id:
            raise Conflict(
                Code.LINKED,
                f"{bot.name} belongs to the family of {names[now]}. First: cgos-server family unlink {bot.name}",
            )
        if leader == bot.bot_id:
            raise Conflict(Code.ITSELF, f"{bot.name} leads that family itself: it cannot be linked to it.")
        members = [names[member] for member in self._families.members(bot.bot_id)]
        if members:
            raise Conflict(
                Code.LEADS,
                f"{bot.name} leads a family of its own ({', '.join(members)}). Unlink its members first, or link "
                f"{names[leader]} to {bot.name} instead.",
            )

    async def unlink(self, request: FamilyUnlink) -> Done:
        """Take a bot out of its family. Who succeeded it there succeeds what is older in the family from now on."""
        async with self._one_by_one:
            bot = await self._deeds.bot(request.bot)
            leader = self._families.leader(bot.bot_id)
            if leader == bot.bot_id:
                members = self._families.members(bot.bot_id)
                hint = f" It leads one of {len(members) + 1}: unlink the others from it." if members else ""
                raise Conflict(Code.NOT_LINKED, f"{bot.name} belongs to no other bot's family.{hint}")
            names = {number: name for number, name, _ in await self._deeds.store.history.bots.names()}
            lineages = {venue: _Lineage(self._deeds, ratings) for venue, ratings in (await self._venues()).items()}
            while not all(lineage.complete for lineage in lineages.values()):
                for lineage in lineages.values():
                    await lineage.read()
            at = self._deeds.now_ms()
            records: list[Record] = [BotFamily(None, bot.bot_id)]
            self._families.lead(bot.bot_id, None)
            own = self._families.versions(bot.bot_id)
            unlinked: list[str] = []
            for venue, lineage in lineages.items():
                ratings = lineage.ratings
                cut = sorted(pair for pair in lineage.pairs if len(own.intersection(pair)) == 1)
                for version, other in cut:
                    records += ratings.unlink(version, other, at).records
                    if other in own:
                        older = self._families.predecessor(version, {v for v in ratings.standings() if v < version})
                        if older is not None and (version, older) not in lineage.pairs:
                            lineage.pairs.add((version, older))
                            records += ratings.link(version, older, at).records
                if cut:
                    unlinked.append(venue)
                    self._changed(venue)
            await self._deeds.commit(request, bot.name, records, leader=names[leader], venues=", ".join(unlinked))
        where = _where(unlinked, "unlinked")
        return Done(f"{bot.name} does not belong to the family of {names[leader]} any more.{where}")

    # -- what they share

    async def _ratings(self, venue: str) -> VenueRatings:
        found = self._control.ratings(venue) if self._control is not None else None
        if found is None and self._control is None and self._load_ratings is not None:
            found = await self._load_ratings(venue)
        if found is None:
            raise NotFound(Code.UNKNOWN_VENUE, f"There is no venue {venue}. See: cgos-server check")
        return found

    async def _venues(self) -> dict[str, VenueRatings]:
        """The ratings of all venues that are configured."""
        found: dict[str, VenueRatings] = {}
        for venue in await self._deeds.store.history.server.venues():
            try:
                found[venue.name] = await self._ratings(venue.name)
            except NotFound as refusal:
                if refusal.code is not Code.UNKNOWN_VENUE:
                    raise
        return found

    def _changed(self, venue: str) -> None:
        if self._control is not None:
            self._control.ratings_changed(venue)


class _Lineage:
    """Which versions are linked in a venue, read from its ledger.

    :ivar pairs: (successor, predecessor)
    """

    def __init__(self, deeds: Deeds, ratings: VenueRatings) -> None:
        self.ratings = ratings
        self.pairs: set[tuple[int, int]] = set()
        self._store = deeds.store
        self._after = 0

    @property
    def complete(self) -> bool:
        """True where no entry has come since the last one that was read."""
        return self._after == self.ratings.seq

    async def read(self) -> None:
        """Read on to what was the end when this began."""
        end = self.ratings.seq
        await self._store.commit([])
        while self._after < end:
            entries = await self._store.history.ledger.entries(self.ratings.venue_id, self._after, _CHUNK)
            if not entries:
                raise OurFault(f"A ledger (venue {self.ratings.venue_id}) lacks entries {self._after + 1} to {end}.")
            for entry in entries:
                self._after = entry.seq
                if entry.version is None or entry.other is None:
                    continue
                pair = (entry.version, entry.other)
                (self.pairs.discard if entry.kind is Kind.UNLINK else self.pairs.add)(pair)


def _stood_for(counted: Counted | None) -> int | None:
    """The digest of the games for which this one counts, where they count once."""
    return None if counted is None or counted.repeat or counted.ruled else counted.digest


def _neighbors(own: set[int], others: set[int]) -> tuple[int, int] | None:
    """(successor, predecessor) by which these versions join those: versions are numbered as they came."""
    if not own or not others:
        return None
    first = min(own)
    older = max((version for version in others if version < first), default=None)
    if older is not None:
        return first, older
    after = min(others)
    return after, max(version for version in own if version < after)


def _where(venues: list[str], done: str) -> str:
    return f" Its versions are {done} in {', '.join(venues)}." if venues else ""
