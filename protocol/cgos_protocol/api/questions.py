"""Answers of the API about questions: what was asked by games, what it is expected to cost, what is known.

Must not know: how a question goes on, who may ask.
"""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from cgos_protocol.api.messages import Answer, Moment, WireName
from cgos_protocol.ids import QuestionId

Kind = Literal["test", "gauntlet", "challenge"]
StateWord = Literal["open", "accepted", "rejected", "answered", "not answered", "stopped"]
QuestionNumber = Annotated[int, Meta(ge=1, le=2**53)]


class QuestionCost(Answer, frozen=True, kw_only=True):
    """What a question is expected to cost where the version is stronger by `difference` Elo; None where that makes no
    difference. `games` and `hours` are means; `hours` is None where nobody knows how long games take here. `accepted`:
    the probability that a test accepts."""

    case: str
    difference: float | None
    games: float
    hours: float | None
    accepted: float | None


class AskedQuestion(Answer, frozen=True, kw_only=True):
    """A question, as it was taken; `question` is None where only its cost was asked. `sentence` says what it is."""

    question: QuestionId | None
    venue: WireName
    kind: Kind
    sentence: str
    costs: list[QuestionCost]


class AgainstOpponent(Answer, frozen=True, kw_only=True):
    """The games of a question against one opponent, as the version that is asked about sees them. `rating`: the
    opponent's, when a gauntlet was asked; `superiority`: the probability that the version is stronger than that."""

    opponent: WireName
    wins: int
    draws: int
    losses: int
    counts: list[int]
    rating: float | None = None
    superiority: float | None = None


class QuestionAnswer(Answer, frozen=True, kw_only=True):
    """What the games of a question say, and they alone. Elo; null where it does not apply or cannot be said yet.

    `wins`, `draws` and `losses` are those of the version, in pairs that count; `counts`: pairs of games in which it had
    0, 1/2, 1, 3/2 and 2 points; `repeated` pairs count for nothing.
    `faults`: how games ended other than on the board -> [lost so by the version, by its opponents]. `llr` lies between
    `llr_lower` and `llr_upper` while a test goes on. `elo` with the 95 % interval `lower` to `upper`: by how much the
    version is stronger, of a test median-unbiased; of a gauntlet where it stands on the opponents' scale.
    `superiority`: one minus the probability that so favorable an outcome comes of equals. `games_left` and `hours_left`
    are expected while it goes on, if the estimate is true.
    """

    wins: int
    draws: int
    losses: int
    counts: list[int]
    repeated: int
    faults: dict[str, tuple[int, int]]
    llr: float | None
    llr_lower: float | None
    llr_upper: float | None
    elo: float | None
    lower: float | None
    upper: float | None
    normalized: float | None
    normalized_lower: float | None
    normalized_upper: float | None
    superiority: float | None
    games_left: float | None
    hours_left: float | None
    against: list[AgainstOpponent]


class Question(Answer, frozen=True, kw_only=True):
    """A question as lists show it. `asks` says what is asked, `why` how it ended. `against` is empty in a challenge to
    whoever accepts; `owner` is null where an operator asks. `scale`, `lower`, `upper`, `alpha`, `beta` are those of a
    test, `within` that of a gauntlet."""

    question: QuestionId
    venue: WireName
    kind: Kind
    owner: WireName | None
    version: WireName
    against: list[WireName]
    asks: str
    state: StateWord
    why: str
    asked_at: Moment
    ended_at: Moment | None
    ends_at: Moment | None
    most_games: int
    rated: bool
    priority: int
    scale: str | None
    lower: float | None
    upper: float | None
    alpha: float | None
    beta: float | None
    within: float | None


class PathPoint(Answer, frozen=True, kw_only=True):
    """The log-likelihood ratio of a test after so many pairs that count."""

    pairs: int
    llr: float


class QuestionDetail(Question, frozen=True, kw_only=True):
    """A question with what is known of it: `stands` says where it stands, `running` how many games of it run, `waits`
    why none begins while it is open; empty where one runs, and where the server that plays does not answer. Its own
    games decide (`answer`). `superiority` does not: it is Bayesian, the probability that the version is stronger than
    `against` by the ladder's ratings and these games together; null where there is no one opponent, and where the
    ladder does not know both. `path`: how the log-likelihood ratio of a test went, thinned. `text`: six lines to
    paste."""

    stands: str
    waits: str
    running: int
    answer: QuestionAnswer
    superiority: float | None
    path: list[PathPoint]
    text: str


class QuestionNow(Answer, frozen=True, kw_only=True):
    """A question that has not ended, as it is just now. `waits`: why no game of it begins, a sentence; empty where
    games run or begin. `running`: games of it that run."""

    question: QuestionId
    waits: str
    running: int


class QuestionGame(Answer, frozen=True, kw_only=True):
    """A game that was played for a question. `result` is null while it runs; `repeated`: its pair counts for
    nothing; `taken_out`: an operator took its pair out."""

    game: int
    pair: int
    opening: str
    black: WireName
    white: WireName
    result: str | None
    started_at: Moment
    repeated: bool
    taken_out: bool = False


class QuestionPage(Answer, frozen=True, kw_only=True):
    """Questions, the latest first. `next` is the `before` of the next page, null at the end."""

    items: list[Question]
    next: int | None


class QuestionGames(Answer, frozen=True, kw_only=True):
    """The games of a question, pair by pair."""

    items: list[QuestionGame]
