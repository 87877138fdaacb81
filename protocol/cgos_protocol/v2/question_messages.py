"""The messages of ``cgos.v2`` about questions: a bot asks about its own strength, and hears how that stands.

They are part of the unions in :mod:`cgos_protocol.v2.messages`, where the rules for all messages stand. Must not know:
how a question is answered.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from cgos_protocol.ids import QuestionId
from cgos_protocol.question_news import QuestionKind
from cgos_protocol.v2.fields import Elo, GamesWanted, Name, QuestionNumber, Rate, Text


class _Message(msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag=True):
    """Base of all of them."""


class Ask(_Message, frozen=True, tag="ask", kw_only=True):
    """The bot asks about the strength of the version that is signed in, on behalf of the account that owns it. Answered
    by `asked`, or by an `error` that is not fatal; both say `ref` again.

    `test`: is it stronger than the one in `against`, by a sequential test between `lower` and `upper` (Elo of `scale`)?
    `gauntlet`: where does it stand among those in `against`, to `within` so many Elo? `challenge`: `most_games` games
    against the one in `against`, or without one against whoever accepts. What is not said is as the server's commands
    have it. With `dry` nothing is asked: the answer says what it is expected to cost. `ends_at` is a Unix time in
    seconds.
    """

    kind: QuestionKind
    venue: Name
    against: Annotated[list[Name], Meta(max_length=100)] = []
    most_games: GamesWanted | None = None
    lower: Elo | None = None
    upper: Elo | None = None
    scale: Literal["nelo", "elo"] | None = None
    alpha: Rate | None = None
    beta: Rate | None = None
    within: Annotated[float, Meta(gt=0, le=1_000)] | None = None
    rated: bool = False
    ends_at: Annotated[float, Meta(ge=0, le=1e18)] | None = None
    priority: Annotated[int, Meta(ge=-100, le=100)] = 0
    dry: bool = False
    ref: Text = ""


class StopQuestion(
    msgspec.Struct, frozen=True, omit_defaults=True, tag_field="type", tag="stop_question", kw_only=True
):
    """No further game of a question about this bot is to begin. Answered by `question`, or by an `error` that is not
    fatal and says `ref` again. Its owner can resume it."""

    question: QuestionNumber
    ref: Text = ""


class QuestionCost(msgspec.Struct, frozen=True, kw_only=True):
    """What a question is expected to cost on average where the version is stronger by `difference` Elo. `hours` is null
    where nobody knows how long games take. `accepted`: the probability that a test accepts."""

    case: str
    difference: float | None
    games: float
    hours: float | None
    accepted: float | None


class Asked(_Message, frozen=True, tag="asked", kw_only=True):
    """Answer to `ask`: what is asked, as number (0: only its cost was wanted) and sentence, and what it is expected to
    cost. How it stands is told by `question`, which may come before."""

    question: int
    venue: str
    kind: QuestionKind
    text: str
    costs: list[QuestionCost]
    ref: str = ""


class QuestionTold(_Message, frozen=True, tag="question", kw_only=True):
    """How a question about this bot stands: told when it is asked, has ended, is stopped or resumed, and after each
    sign-in while it is open. `text` says it for people.

    `state`: open, accepted or rejected (a test), answered (a gauntlet, a challenge), not answered, stopped. There may
    be further words. The figures are those of the question's own games, and null where they do not apply or cannot be
    said yet: `wins`, `draws` and `losses` in pairs that count; `counts`, the pairs in which `version` had 0, 1/2, 1,
    3/2 and 2 points; `llr`, a test's log-likelihood ratio; `elo`, by how much it is stronger, or of a gauntlet where it
    stands, with the 95 % interval `lower` to `upper`.
    """

    question: QuestionId
    venue: str
    kind: QuestionKind
    state: str
    text: str
    version: str
    against: list[str]
    wins: int
    draws: int
    losses: int
    counts: list[int]
    llr: float | None
    elo: float | None
    lower: float | None
    upper: float | None
