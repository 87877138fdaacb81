"""What was asked by games, how each question stands, which games were played for it.

Must not know: what follows from games.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import BigInteger, RowMapping, bindparam, case, exists, func, select

from cgos_protocol.errors import Code, NotFound
from cgos_protocol.ids import GameId, QuestionId, VenueId, VersionId
from cgos_server.storage import tables
from cgos_server.storage.parameters import bounded, number, portions
from cgos_server.storage.reading.game_rows import is_last_correction
from cgos_server.storage.reading.source import Read, Subject, value, venue_id

_questions, _versions, _played = tables.questions, tables.question_versions, tables.question_games
_games, _venues, _owners, _names = tables.games, tables.venues, tables.owners, tables.versions
_corrections = tables.corrections


class QuestionRow(NamedTuple):
    """A question. `venue`, `owner`: names; `owner` is None where an operator asks. `asked`, `answer`: JSON; `answer` is
    empty until the end, but for gauntlets."""

    id: QuestionId
    venue_id: VenueId
    venue: str
    owner_id: int | None
    owner: str | None
    kind: str
    asked: str
    asked_at: int
    priority: int
    state: str
    ended_at: int | None
    why: str
    answer: str


class QuestionGameRow(NamedTuple):
    """A game that was played for a question.

    :ivar opening: its name, empty for none
    :ivar digest: tells the same game played again; None while it runs
    :ivar reason: of its verdict; None while it runs
    :ivar winner: 0 Black, 1 White; None for neither
    :ivar void: an operator corrected it to count as nothing, which takes its pair out
    """

    game_id: GameId
    question_id: QuestionId
    pair: int
    opening: str
    digest: int | None
    black_id: VersionId
    white_id: VersionId
    reason: str | None
    winner: int | None
    plies: int | None
    started_at: int
    ended_at: int | None
    result: str | None
    void: bool = False


class Progress(NamedTuple):
    """Games of a question: that began, that are over, whose digest is known, that an operator made void."""

    begun: int
    over: int
    digests: int
    void: int


_QUESTION: Final = bindparam("question", type_=BigInteger)
_ROWS: Final = (
    select(
        _questions.c.id,
        _questions.c.venue_id,
        _venues.c.name.label("venue"),
        _questions.c.owner_id,
        _owners.c.name.label("owner"),
        _questions.c.kind,
        _questions.c.asked,
        _questions.c.asked_at,
        _questions.c.priority,
        _questions.c.state,
        _questions.c.ended_at,
        _questions.c.why,
        _questions.c.answer,
    )
    .join(_venues, _venues.c.id == _questions.c.venue_id)
    .outerjoin(_owners, _owners.c.id == _questions.c.owner_id)
    .order_by(_questions.c.id.desc())
)
_NUMBERED: Final = _ROWS.where(_questions.c.id == _QUESTION)
_OPEN: Final = _ROWS.where(_questions.c.ended_at.is_(None))
_VOID: Final = exists().where(
    _corrections.c.game_id == _games.c.id, _corrections.c.result == "Void", is_last_correction
)
_GAMES: Final = select(
    _played.c.game_id,
    _played.c.question_id,
    _played.c.pair,
    _played.c.opening,
    _played.c.digest,
    _games.c.black_id,
    _games.c.white_id,
    _games.c.reason,
    _games.c.winner,
    _games.c.plies,
    _games.c.started_at,
    _games.c.ended_at,
    _games.c.result,
    _VOID.label("void"),
).join(_games, _games.c.id == _played.c.game_id)
_OF_QUESTION: Final = _GAMES.where(_played.c.question_id == _QUESTION).order_by(_played.c.pair, _played.c.game_id)
_PROGRESS: Final[Any] = (
    select(
        func.count().label("begun"),
        func.count(_games.c.ended_at).label("over"),
        func.count(_played.c.digest).label("digests"),
        func.count(case((_VOID, 1))).label("void"),
    )
    .select_from(_played)
    .join(_games, _games.c.id == _played.c.game_id)
    .where(_played.c.question_id == _QUESTION)
)
_OF_GAME: Final = _GAMES.where(_played.c.game_id == bindparam("game", type_=BigInteger))


class Questions(Subject):
    """Asked about questions."""

    async def open(self) -> list[QuestionRow]:
        """Those that have not ended, the latest first."""
        return [value(QuestionRow, row) for row in await self._source.rows(_OPEN)]

    async def numbered(self, question: QuestionId) -> QuestionRow:
        """One question. Raises Refused (``no-question``)."""
        rows = await self._source.rows(_NUMBERED, question=bounded(question))
        if not rows:
            raise NotFound(Code.NO_QUESTION, f"There is no question {question}.")
        return value(QuestionRow, rows[0])

    async def owner_of(self, question: QuestionId) -> int | None:
        """The account that asked it; None where an operator did, or there is no such question."""
        rows = await self._source.rows(_NUMBERED, question=bounded(question))
        return rows[0]["owner_id"] if rows else None

    async def page(
        self,
        limit: int,
        *,
        before: int | None = None,
        venue: str | None = None,
        owner: int | None = None,
        versions: Collection[VersionId] | None = None,
        state: str | None = None,
    ) -> list[QuestionRow]:
        """Up to `limit` questions, the latest first: those before this number, of this venue, by this account, with
        one of these versions, in this state. Raises Refused where there is no such venue."""

        async def ask(read: Read) -> Sequence[RowMapping]:
            wanted = _ROWS.limit(limit)
            if before is not None:
                wanted = wanted.where(_questions.c.id < number(before))
            if venue is not None:
                wanted = wanted.where(_questions.c.venue_id == await venue_id(read, venue))
            if owner is not None:
                wanted = wanted.where(_questions.c.owner_id == number(owner))
            if state is not None:
                wanted = wanted.where(_questions.c.state == state)
            if versions is not None:
                about = select(_versions.c.question_id).where(_versions.c.version_id.in_(versions))
                wanted = wanted.where(_questions.c.id.in_(about))
            return await read(wanted)

        return [value(QuestionRow, row) for row in await self._source.answer(ask)]

    async def names(self, versions: Collection[VersionId]) -> dict[VersionId, str]:
        """The wire names of versions, by their numbers; one that is not there is left out."""

        async def ask(read: Read) -> dict[VersionId, str]:
            return {
                VersionId(row["id"]): row["wire_name"]
                for some in portions(sorted(versions))
                for row in await read(select(_names.c.id, _names.c.wire_name).where(_names.c.id.in_(some)))
            }

        return await self._source.answer(ask)

    async def progress(self, question: QuestionId) -> Progress:
        """How many games there are of it: it changes whenever :meth:`games` does."""
        (row,) = await self._source.rows(_PROGRESS, question=question)
        return value(Progress, row)

    async def games(self, question: QuestionId) -> list[QuestionGameRow]:
        """The games that were played for it, pair by pair."""
        return [value(QuestionGameRow, row) for row in await self._source.rows(_OF_QUESTION, question=question)]

    async def of_game(self, game: GameId) -> QuestionGameRow | None:
        """For which question a game was played; None: for none."""
        rows = await self._source.rows(_OF_GAME, game=game)
        return value(QuestionGameRow, rows[0]) if rows else None
