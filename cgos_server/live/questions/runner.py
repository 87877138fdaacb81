"""One question on the live server: what it wants next, what its games brought, and how it ends.

The tally in memory is that of the store, a moment ahead of its commit. Must not know: who is signed in, how games are
begun, other questions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from cgos_protocol.games.base import Color
from cgos_protocol.ids import GameId, QuestionId, VersionId
from cgos_protocol.verdict import Reason
from cgos_server.core.questions.answer import Answer, answer_of
from cgos_server.core.questions.asked import Asked, Gauntlet, State, decode_asked, opponents_of
from cgos_server.core.questions.course import Ended, Wanted, ended, missing_games, next_pair
from cgos_server.core.questions.tally import Tally
from cgos_server.core.rating.repeats import game_digest
from cgos_server.core.rating.together import JointRatings
from cgos_server.service.questions.tallying import WITHOUT_RESULT, color_of, end_game, half_points, read_games
from cgos_server.storage.reading.asking.questions import QuestionGameRow, QuestionRow
from cgos_server.storage.writing.asking import QuestionGameEnded, QuestionMoved
from cgos_server.storage.writing.records import Record


class End(NamedTuple):
    """How it has ended. `why`: a sentence without names; `answer`: what was known then."""

    why: str
    answer: Answer


class QuestionRunner:
    """One question that has not ended.

    :param ratings: what the venue knows of these versions now
    :ivar waits: why no game of it begins just now, a sentence; empty where games run or begin
    :ivar gone_since: when somebody without whom it cannot go on was last seen (Unix ms); None: all are here
    :ivar end: None while it is open
    """

    def __init__(self, row: QuestionRow, ratings: Callable[[Sequence[VersionId]], JointRatings]) -> None:
        self.id: QuestionId = row.id
        self.venue = row.venue
        self.owner_id = row.owner_id
        self.owner = row.owner
        self.asked: Asked = decode_asked(row.asked)
        self.asked_at = row.asked_at
        self.priority = row.priority
        self.tally = Tally()
        self._ratings_of = ratings
        self._joint = isinstance(self.asked, Gauntlet) and self.asked.joint
        self.waits = ""
        self.gone_since: int | None = None
        self.end: End | None = None
        self._looked_at: tuple[object, ...] = ()

    def read(self, games: Iterable[QuestionGameRow]) -> list[GameId]:
        """Tally what the store has of its games; those whose result is in the store without a digest, as the server was
        killed before that was written."""
        return read_games(self.tally, self.asked, games)

    @property
    def versions(self) -> tuple[VersionId, ...]:
        """Whom it is about, as far as they are named."""
        return (self.asked.version, *opponents_of(self.asked))

    def wanted(self, openings: Sequence[str], able: Collection[VersionId]) -> Iterator[Wanted]:
        """Games that could begin, the most pressing first."""
        missing = missing_games(self.tally)
        yield from missing
        first = next_pair(self.asked, self.tally, self.id, openings=openings, able=able)
        if first is not None:
            yield first

    def ended(self, openings: int, now_ms: int) -> Ended | None:
        """Whether it has ended, and how; computed where something has happened since it was last asked."""
        tally, ends_at = self.tally, self.asked.ends_at
        happened = (tally.begun, tally.running, sum(tally.counts()), len(tally.repeated), tally.out, openings)
        if happened == self._looked_at and (ends_at is None or now_ms < ends_at):
            return None
        self._looked_at = happened
        return ended(self.asked, tally, openings=openings, now_ms=now_ms, ratings=self._ratings())

    def answer(self) -> Answer:
        """What is known now."""
        return answer_of(self.asked, self.tally, self._ratings())

    def _ratings(self) -> JointRatings | None:
        """What the venue knows of a gauntlet's opponents now; None where they count as known."""
        return self._ratings_of(opponents_of(self.asked)) if self._joint else None

    # -- its games

    def began(self, game: GameId, wanted: Wanted) -> None:
        """A game of it is about to begin."""
        self.tally.began(game, wanted.pair, wanted.opponent, opening=wanted.opening, color=wanted.color)

    def over(
        self, game: GameId, black: VersionId, winner: Color | None, *, reason: Reason, moves: Sequence[str]
    ) -> list[Record]:
        """A game of it has ended; what is to be stored."""
        if reason in WITHOUT_RESULT:
            self.tally.undone(game)
            return []
        digest = game_digest(moves, half_points(winner, Color.BLACK))
        color = color_of(self.asked, black)
        end_game(self.tally, game, color, winner=winner, reason=reason, digest=digest)
        records: list[Record] = [QuestionGameEnded(digest, game)]
        if self._joint and self.end is None:
            records.append(self.moved(State.OPEN, "", None))
        return records

    # -- how it stands

    def moved(self, state: State, why: str, at: int | None) -> QuestionMoved:
        """The record of its standing otherwise; `at`: when it ended, Unix ms. It has the answer at the end, and that of
        a gauntlet at any time: its readers do not know what the venue knows of the opponents."""
        is_open = state is State.OPEN
        answer = None if is_open and not self._joint else self.answer()
        self.end = None if is_open or answer is None else End(why, answer)
        text = "" if answer is None else msgspec.json.encode(answer).decode()
        return QuestionMoved(priority=self.priority, state=state.value, ended_at=at, why=why, answer=text, id=self.id)
