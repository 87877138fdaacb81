"""A question with its games and names, read into one value, and kept until something has changed.

A question that has ended has the answer that was stored then; of one that is open it is computed from its games. Must
not know: HTTP, how an answer is said.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import msgspec
import numpy as np

from cgos_protocol.errors import OurFault
from cgos_protocol.games.base import Color
from cgos_protocol.ids import QuestionId, VersionId
from cgos_server.core.questions.answer import Answer, answer_of, drop_vague_estimate
from cgos_server.core.questions.asked import Asked, Gauntlet, State, Test, decode_asked, opponents_of
from cgos_server.core.questions.posterior import Games
from cgos_server.core.questions.tally import Tally
from cgos_server.core.sequential import log_likelihood_ratios
from cgos_server.presentation.strengths import Strengths
from cgos_server.service.questions.tallying import read_games
from cgos_server.storage.reading.asking.questions import Progress, QuestionGameRow, QuestionRow
from cgos_server.storage.reading.history import History

MOST_POINTS: Final = 200
"""Of the path of the log-likelihood ratio."""

_KEPT: Final = 50
"""Questions that are kept in memory."""

_MANY: Final = 500
"""So many games are worth a thread."""


class PathPoint(NamedTuple):
    """The log-likelihood ratio of a test after so many pairs that count."""

    pairs: int
    llr: float


@dataclass(frozen=True, kw_only=True)
class QuestionRecord:
    """A question as it is in the store.

    :ivar names: of its versions, and of all opponents that it had
    :ivar games: pair by pair
    :ivar tally: of an ended question as it ended, with pairs that were taken out
    :ivar answer: as it was stored at the end; computed from the games while it is open
    :ivar out: numbers of pairs that an operator took out
    :ivar without: of an ended question: the answer without the pairs that were taken out; None where there are none, or
        it cannot be computed from the games alone
    """

    row: QuestionRow
    asked: Asked
    names: dict[VersionId, str]
    games: Sequence[QuestionGameRow]
    tally: Tally
    answer: Answer
    without: Answer | None = None
    out: Sequence[int] = ()

    @property
    def state(self) -> State:
        """Where it stands."""
        return State(self.row.state)

    @property
    def version(self) -> str:
        """The name of the version whose strength is asked about."""
        return self.names[self.asked.version]

    @property
    def opponents(self) -> list[str]:
        """The names of those that were asked for."""
        return [self.names[version] for version in opponents_of(self.asked)]

    @cached_property
    def path(self) -> list[PathPoint]:
        """How the log-likelihood ratio of a test went, from 0 at 0 pairs, as pairs ended; of a long one some points."""
        if not isinstance(self.asked, Test):
            return []
        cells = np.zeros((1, 5))
        cells = np.concatenate((cells, np.cumsum(np.eye(5)[self._results()], axis=0)))
        chosen = np.unique(np.linspace(0, len(cells) - 1, min(len(cells), MOST_POINTS)).round().astype(int))
        ratios = log_likelihood_ratios(cells[chosen], self.asked.hypotheses)
        return [PathPoint(int(pairs), float(llr)) for pairs, llr in zip(chosen, ratios, strict=True)]

    def superiority(self, strengths: Strengths | None) -> float | None:
        """The probability that the version is stronger than its opponent, Bayesian: by the ladder, and by these games
        where they are not rated, and so are not in the ladder; None where there is no one opponent, or where the ladder
        does not know both."""
        opponents = opponents_of(self.asked)
        if strengths is None or len(opponents) != 1:
            return None
        games = Games()
        if not self.asked.rated:
            games = Games(*(self.tally.score(opponents[0], color) for color in (Color.BLACK, Color.WHITE)))
        return strengths.superiority(self.asked.version, opponents[0], games)

    def _results(self) -> list[int]:
        """Half points of the pairs that count, in the order in which they ended; until the question ended."""
        ended = {game.game_id: game.ended_at or 0 for game in self.games}
        last = self.row.ended_at
        pairs: list[tuple[int, int, int]] = []
        for pair, score2 in self.tally.counting_pairs():
            at = max(ended[half.game] for half in pair.halves)
            if last is None or at <= last:
                pairs.append((at, pair.number, score2))
        return [score2 for _, _, score2 in sorted(pairs)]


class ReadQuestions:
    """The questions of one database, each read again when something has changed.

    One a process that reads; it is for one event loop.
    """

    def __init__(self, history: History) -> None:
        self._history = history
        self._records: OrderedDict[tuple[int, QuestionId], tuple[Progress, QuestionRecord]] = OrderedDict()
        self._one_at_a_time = asyncio.Lock()

    async def numbered(self, question: QuestionId) -> QuestionRecord:
        """A question as it is now. Raises Refused (``no-question``), StoreError, and OurFault where it cannot be
        read."""
        async with self._one_at_a_time:
            key = (self._history.names_known, question)
            row = await self._history.questions.numbered(question)
            progress = await self._history.questions.progress(question)
            known = self._records.get(key)
            if known is None or known[0] != progress or known[1].row != row:
                self._records[key] = progress, await self._read(row)
                if len(self._records) > _KEPT:
                    self._records.popitem(last=False)
            self._records.move_to_end(key)
            return self._records[key][1]

    async def _read(self, row: QuestionRow) -> QuestionRecord:
        asked = decode_asked(row.asked)
        games = await self._history.questions.games(row.id)
        names = await names_of(self._history, [asked], games)
        if len(games) > _MANY:
            return await asyncio.to_thread(_record, row, asked, games=games, names=names)
        return _record(row, asked, games=games, names=names)


async def names_of(
    history: History, questions: Iterable[Asked], games: Iterable[QuestionGameRow] = ()
) -> dict[VersionId, str]:
    """The names of all versions of questions and games."""
    versions = {version for asked in questions for version in (asked.version, *opponents_of(asked))}
    versions.update(version for game in games for version in (game.black_id, game.white_id))
    return await history.questions.names(versions)


def stored_answer(row: QuestionRow) -> Answer | None:
    """The answer at the end; None of a question that is open. Raises OurFault."""
    if not row.answer:
        return None
    try:
        answer = msgspec.json.decode(row.answer, type=Answer)
    except msgspec.MsgspecError as error:
        raise OurFault(f"the answer of question {row.id} cannot be read: {error}") from error
    return answer if row.kind == Gauntlet.kind else drop_vague_estimate(answer)


def _record(
    row: QuestionRow, asked: Asked, *, games: Sequence[QuestionGameRow], names: dict[VersionId, str]
) -> QuestionRecord:
    tally, without = Tally(), None
    answer = stored_answer(row)
    last = row.ended_at
    read_games(tally, asked, games if last is None else [game._replace(void=False) for game in games])
    out = sorted({game.pair for game in games if game.void})
    is_joint = isinstance(asked, Gauntlet) and asked.joint  # what the venue knew then of the opponents is not stored
    if last is not None and out and not is_joint:
        left = Tally()
        read_games(left, asked, [game for game in games if game.ended_at is not None and game.ended_at <= last])
        without = answer_of(asked, left)
    answer = answer or answer_of(asked, tally)
    return QuestionRecord(
        row=row, asked=asked, names=names, games=games, tally=tally, answer=answer, without=without, out=out
    )
