"""Questions with their games, as records of the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import msgspec

from cgos_protocol.games.base import Color
from cgos_protocol.ids import QuestionId, VenueId, VersionId
from cgos_protocol.verdict import Reason, Verdict
from cgos_server.core.questions.answer import answer_of
from cgos_server.core.questions.asked import Asked, State, encode_asked, opponents_of
from cgos_server.core.questions.tally import Tally
from cgos_server.storage.writing.asking import QuestionAdded, QuestionGame, QuestionGameEnded, QuestionVersion
from cgos_server.storage.writing.records import GameAdded, GameEnded, Record

GAME_MS = 60_000


@dataclass(kw_only=True)
class QuestionPast:
    """A question whose games followed each other; `records` is all of it.

    :param terms: of its games, as the store has them
    """

    number: int
    asked: Asked
    venue_id: int
    terms: str
    first_game: int
    at: int
    owner_id: int | None = None
    priority: int = 0

    def __post_init__(self) -> None:
        self.tally = Tally()
        self.games: list[Record] = []
        self._numbers = count(self.first_game)
        self._pairs = count(1)
        self.now = self.at

    def pair(self, as_black: int | None, as_white: int | None, *, opponent: int | None = None, digest: int = 0) -> None:
        """A pair of games in which the version had these half points; None: the game runs. `digest`: 0 for a game like
        no other."""
        against = VersionId(opponent) if opponent is not None else opponents_of(self.asked)[0]
        pair = next(self._pairs)
        for color, score2 in ((Color.BLACK, as_black), (Color.WHITE, as_white)):
            number = next(self._numbers)
            sides = (self.asked.version, against) if color is Color.BLACK else (against, self.asked.version)
            self.games += [
                GameAdded(number, VenueId(self.venue_id), None, *sides, "1800", "1800", self.terms, "", self.now),
                QuestionGame(number, QuestionId(self.number), pair, ""),
            ]
            self.tally.began(number, pair, against, opening="", color=color)
            if score2 is None:
                continue
            self.now += GAME_MS
            winner = None if score2 == 1 else color if score2 == 2 else color.other
            verdict = Verdict(winner, Reason.RESIGNATION) if winner is not None else Verdict(None, Reason.SCORE)
            own = digest or number
            self.games += [
                GameEnded(self.now, winner, verdict.reason.value, None, "", verdict.text, 2, 2, number),
                QuestionGameEnded(own, number),
            ]
            self.tally.ended(number, score2, digest=own)

    def played(self, pair: int, end: GameEnded, color: Color, opponent: int | None = None) -> None:
        """A game that was played anyway, in which the version had this color, is one of the question."""
        against = VersionId(opponent) if opponent is not None else opponents_of(self.asked)[0]
        self.games += [
            QuestionGame(end.id, QuestionId(self.number), pair, ""),
            QuestionGameEnded(end.id, end.id),
        ]
        self.tally.began(end.id, pair, against, opening="", color=color)
        score2 = 1 if end.winner is None else 2 * (end.winner == color)
        self.tally.ended(end.id, score2, digest=end.id)
        self.now = max(self.now, end.ended_at)

    def pairs(self, *results: tuple[int | None, int | None], opponent: int | None = None) -> None:
        """Several of them."""
        for as_black, as_white in results:
            self.pair(as_black, as_white, opponent=opponent)

    def records(self, state: State = State.OPEN, why: str = "") -> list[Record]:
        """All that the store has of it. At its end it has the answer that its games give."""
        ended = state is not State.OPEN
        answer = msgspec.json.encode(answer_of(self.asked, self.tally)).decode() if ended else ""
        versions: Sequence[VersionId] = (self.asked.version, *opponents_of(self.asked))
        return [
            QuestionAdded(
                id=QuestionId(self.number),
                venue_id=VenueId(self.venue_id),
                owner_id=self.owner_id,
                kind=self.asked.kind,
                asked=encode_asked(self.asked),
                asked_at=self.at,
                priority=self.priority,
                state=state.value,
                ended_at=self.now + 1 if ended else None,
                why=why,
                answer=answer,
            ),
            *(QuestionVersion(QuestionId(self.number), version) for version in versions),
            *self.games,
        ]
