"""The rows that the writer takes of questions: what is asked by games, and which games are played for it.

As :mod:`cgos_server.storage.writing.records`. Must not know: SQL, what follows from a question.
"""

from __future__ import annotations

from typing import NamedTuple

from cgos_protocol.ids import GameId, QuestionId, VenueId, VersionId


class QuestionAdded(NamedTuple):
    """Somebody asks by games. `owner_id`: None for an operator; `asked`: JSON of
    :mod:`cgos_server.core.questions.asked`."""

    id: QuestionId
    venue_id: VenueId
    owner_id: int | None
    kind: str
    asked: str
    asked_at: int
    priority: int
    state: str
    ended_at: int | None
    why: str
    answer: str


class QuestionMoved(NamedTuple):
    """A question stands otherwise. `why`: a sentence, where it does not go on; `answer`: JSON."""

    priority: int
    state: str
    ended_at: int | None
    why: str
    answer: str
    id: QuestionId


class QuestionVersion(NamedTuple):
    """A question is about a version, or has it for an opponent."""

    question_id: QuestionId
    version_id: VersionId


class QuestionGame(NamedTuple):
    """A game is played for a question."""

    game_id: GameId
    question_id: QuestionId
    pair: int
    opening: str


class QuestionGameEnded(NamedTuple):
    """A game that was played for a question has a result; `digest` tells the same game played again."""

    digest: int
    game_id: GameId


Asking = QuestionAdded | QuestionMoved | QuestionVersion | QuestionGame | QuestionGameEnded
