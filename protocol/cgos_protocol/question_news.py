"""What a bot asks of its own strength by games, and what it is told of such questions: the part of the seam for them.

A bot asks about the version that is signed in, on behalf of its owner. Must not know: likelihoods, wire formats, who is
told.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import msgspec

from cgos_protocol.ids import QuestionId

QuestionKind = Literal["test", "gauntlet", "challenge"]


class QuestionWish(msgspec.Struct, frozen=True, kw_only=True):
    """A bot asks something. What is None is as the server's commands have it.

    :ivar ref: what the client calls it; the answer says it again
    :ivar against: a test's opponent; a gauntlet's; a challenge's, or nobody for whoever accepts
    :ivar lower: of a test, as `upper`, `scale` (``nelo`` or ``elo``), `alpha` and `beta`
    :ivar within: of a gauntlet, Elo
    :ivar ends_at_ms: Unix milliseconds
    :ivar dry: it only wants to know what it costs
    """

    ref: str
    kind: QuestionKind
    venue: str
    against: tuple[str, ...] = ()
    most_games: int | None = None
    lower: float | None = None
    upper: float | None = None
    scale: str | None = None
    alpha: float | None = None
    beta: float | None = None
    within: float | None = None
    rated: bool = False
    ends_at_ms: int | None = None
    priority: int = 0
    dry: bool = False


class StopWish(NamedTuple):
    """A bot wants a question about itself to be stopped. `ref`: see :class:`QuestionWish`."""

    ref: str
    question: QuestionId


class ExpectedCost(NamedTuple):
    """What a question is expected to cost in one case.

    :ivar difference: by how much the version is stronger in this case, Elo; None where that makes no difference
    :ivar games: the mean
    :ivar hours: the mean; None where nobody knows how long games take
    :ivar accepted: the probability that a test accepts; None of others
    """

    case: str
    difference: float | None
    games: float
    hours: float | None
    accepted: float | None


class QuestionTaken(NamedTuple):
    """Answer to a :class:`QuestionWish`.

    :ivar question: its number; None where only its cost was asked
    :ivar text: what is asked, a sentence
    """

    ref: str
    question: QuestionId | None
    venue: str
    kind: QuestionKind
    text: str
    costs: tuple[ExpectedCost, ...]


class QuestionNews(msgspec.Struct, frozen=True, kw_only=True):
    """How a question stands, and what its games say.

    :ivar state: ``open``, ``accepted``, ``rejected``, ``answered``, ``not answered`` or ``stopped``
    :ivar text: what is asked and how it stands, sentences
    :ivar version: whose strength is asked about
    :ivar against: the opponents that are named
    :ivar wins: of the version, in pairs of games that count, as `draws` and `losses`
    :ivar counts: pairs in which it had 0, 1/2, 1, 3/2 and 2 points
    :ivar llr: a test's log-likelihood ratio
    :ivar elo: by how much it is stronger; of a gauntlet where it stands on the opponents' scale
    :ivar lower: where the 95 % interval of `elo` begins
    :ivar upper: where it ends
    """

    question: QuestionId
    venue: str
    kind: QuestionKind
    state: str
    text: str
    version: str
    against: tuple[str, ...] = ()
    wins: int = 0
    draws: int = 0
    losses: int = 0
    counts: tuple[int, ...] = (0, 0, 0, 0, 0)
    llr: float | None = None
    elo: float | None = None
    lower: float | None = None
    upper: float | None = None
