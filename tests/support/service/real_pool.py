"""A real database with venues, bots and games as the server writes them, and the commands of an operator on it."""

from __future__ import annotations

import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from unittest.mock import patch

from cgos_protocol.clock import TimeControl, TimeSystem
from cgos_protocol.errors import Code, NotFound
from cgos_protocol.games.base import Ruleset
from cgos_protocol.terms import Terms, encode_terms
from cgos_server.core.rating.base import Refitting
from cgos_server.core.rating.bayes import fit
from cgos_server.core.rating.bayes.pool import Pool
from cgos_server.core.rating.registry import rating_system
from cgos_server.core.rating.repeats import game_digest
from cgos_server.service.admin import Admin
from cgos_server.service.people.accounts import Accounts
from cgos_server.service.ratings.families import Families
from cgos_server.service.ratings.venue_ledgers import LoadRatings
from cgos_server.service.ratings.venue_ratings import VenueRatings
from cgos_server.storage import schema
from cgos_server.storage.opening import open_store
from cgos_server.storage.store import Store
from cgos_server.storage.writing import records as r
from cgos_server.storage.writing.group_commit import CommitListener
from support.service.loaded_ratings import loaded_ratings
from support.service.question_desk import QuestionNotes

T0 = 1_700_000_000_000
SYSTEMS = ("bayes", "cgos-elo")


@cache
def _template() -> Path:
    path = Path(mkdtemp(prefix="cgos-pool-")) / "cgos.sqlite"
    schema.prepare(path)
    return path


def _raise(error: Exception) -> None:
    raise error


class _Caught(Exception):
    pass


def refit_of(ratings: VenueRatings) -> Pool:
    """All that a cold refit of the headline would be computed from."""
    system = ratings.system
    assert isinstance(system, Refitting)
    pools: list[Pool] = []

    def cold(pool: Pool, follow: object = None) -> None:
        pools.append(pool)
        raise _Caught

    with patch.object(fit, "cold", cold), suppress(_Caught):
        system.refit(system.job(ratings._headline.state, cold=True))
    return pools[0]


def counts(ratings: VenueRatings) -> dict[tuple[int, int], tuple[float, ...]]:
    """(black, white) -> wins, draws and losses of Black that the headline counts."""
    pool, ids = refit_of(ratings), list(ratings.system.standings(ratings._headline.state))  # in order of joining
    rows = zip(pool.first, pool.second, pool.wins, pool.draws, pool.losses, strict=True)
    return {(ids[black], ids[white]): tuple(map(float, row)) for black, white, *row in rows}


class RealPool:
    """Open it with :meth:`open`. It is the live server that the commands see, too.

    :ivar rated: venue -> its ratings
    :ivar changed: what the commands said had changed
    """

    def __init__(self, path: Path, venues: Sequence[str] = ("9x9",)) -> None:
        self.path = path
        self.venues = tuple(venues)
        self.rated: dict[str, VenueRatings] = {}
        self.changed: list[str] = []
        self.names: dict[int, str] = {}
        self.games = 0
        self.questions = QuestionNotes()
        self.now = T0
        self.store: Store
        self.families: Families
        self.admin: Admin

    async def open(self) -> RealPool:
        """A new database; afterwards, as after a restart of the server."""
        new = not self.path.exists()
        if new:
            shutil.copy(_template(), self.path)
        self.store = await open_store(self.path, CommitListener(failed=_raise, on_error=_raise))
        if new:
            await self.store.commit(
                [r.VenueAdded(number, name, "{}", T0) for number, name in enumerate(self.venues, 1)]
            )
        for number, name in enumerate(self.venues, 1):
            self.rated[name] = await self.load(number)
        self.families = await Families.load(self.store)
        self.admin = self.administrator(None)
        return self

    def administrator(self, load: LoadRatings | None) -> Admin:
        """Whoever performs commands: with `load` where no server runs."""
        nothing: Any = None  # no command on ratings makes an account or looks at a password
        accounts = Accounts(
            store=self.store,
            ids=nothing,
            passwords=nothing,
            registration="open",
            now_ms=self.tick,
            families=self.families,
        )
        live: Any = self if load is None else None
        return Admin(accounts, live, load_ratings=load)

    async def reopen(self) -> None:
        """Stop and start."""
        await self.store.close()
        await self.open()

    async def load(self, venue_id: int) -> VenueRatings:
        headline, *views = (rating_system(name, 1800.0, {}) for name in SYSTEMS)
        return await loaded_ratings(self.store, venue_id, headline, views, at=T0)

    def tick(self) -> int:
        self.now += 1000
        return self.now

    def ratings(self, venue: str) -> VenueRatings | None:
        return self.rated.get(venue)

    def ratings_changed(self, venue: str) -> None:
        self.changed.append(venue)

    async def bot(self, name: str, *venues: str, version: str = "") -> int:
        """A bot, or with `version` another one of a bot that is there; it enters these venues. Its version's id."""
        number = len(self.names) + 1
        self.names[number] = f"{name}-{version}" if version else name
        wire = self.names[number]
        group: list[r.Record] = []
        bot = number
        if version:
            login = await self.store.history.bots.login(name)
            assert login is not None
            bot = login.bot_id
        else:
            group.append(r.BotAdded(bot, name, name.lower(), "no hash", "active", T0))
        group.append(r.VersionAdded(number, bot, wire, wire.lower(), version, "", "", "", T0))
        self.families.arrived(number, bot)
        for venue in venues:
            ratings = self.rated[venue]
            other = self.families.predecessor(number, ratings.standings())
            group += ratings.enter(number, 1800.0, self.tick(), other).records
        await self.store.commit(group)
        return number

    async def game(
        self,
        black: int,
        white: int,
        result: str | None,
        moves: str = "",
        *,
        rated: bool = True,
        komi2: int = 14,
        venue: int = 1,
    ) -> int:
        """A game with `result` (``B+Resign``, ``Abort``, ``Draw``; None: it runs). With `moves` it may be the same as
        another one."""
        self.games += 1
        terms = Terms(
            rules=Ruleset(komi2=komi2),
            time=TimeControl(system=TimeSystem.ABSOLUTE, main=1),
            move_limit=9,
            first_move_limit=9,
            rated=rated,
        )
        group: list[r.Record] = [
            r.GameAdded(self.games, venue, None, black, white, "1800?", "1800?", encode_terms(terms), "", self.tick())
        ]
        score2 = {"B": 2, "W": 0, "D": 1}.get((result or "A")[0])
        if result is not None:
            winner = {2: 0, 0: 1}.get(score2) if score2 is not None else None
            group.append(r.GameEnded(self.tick(), winner, "score", None, "", result, 2, 2, self.games))
        if rated and score2 is not None:
            digest = game_digest(moves.split(), score2) if moves else None
            ratings = self.rated[self.venues[venue - 1]]
            group += ratings.game(self.games, black, white, score2, self.now, digest).records
        await self.store.commit(group)
        return self.games


class Elsewhere:
    """Commands where no server runs."""

    def __init__(self, pool: RealPool) -> None:
        self._pool = pool
        self.admin = pool.administrator(self._load)

    async def _load(self, venue: str) -> VenueRatings:
        if venue not in self._pool.rated:
            raise NotFound(Code.UNKNOWN_VENUE, f"There is no venue {venue}.")
        return await self._pool.load(self._pool.venues.index(venue) + 1)


@asynccontextmanager
async def pool_of_four(directory: Path) -> AsyncIterator[RealPool]:
    """Two venues. Aa (1) and Cc (3) are in both, Bb (2) is in the first, Dd (4) in none."""
    pool = await RealPool(directory / "cgos.sqlite", ("9x9", "19x19")).open()
    await pool.bot("Aa", "9x9", "19x19")
    await pool.bot("Bb", "9x9")
    await pool.bot("Cc", "9x9", "19x19")
    await pool.bot("Dd")
    try:
        yield pool
    finally:
        await pool.store.close()
