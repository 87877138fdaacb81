"""Questions as the messages that the API answers and commands print with `--json`.

Must not know: HTTP, SQL.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import MappingProxyType
from typing import Any, Final, cast

from msgspec.structs import replace

from cgos_protocol.api import questions as api
from cgos_server.core.questions.answer import Answer
from cgos_server.core.questions.asked import Asked, Challenge, Gauntlet, State, Test, decode_asked, opponents_of
from cgos_server.core.questions.wording import Names, asks
from cgos_server.core.sequential import Counts, Decision, Standing
from cgos_server.presentation.questions import sentences
from cgos_server.presentation.questions.paste import (
    Challenged,
    Placed,
    SequentialTest,
    lines_of_challenge,
    lines_of_gauntlet,
    six_lines,
)
from cgos_server.presentation.questions.record import QuestionRecord
from cgos_server.presentation.strengths import Strengths
from cgos_server.service.questions.planning import Pace
from cgos_server.service.questions.tallying import WITHOUT_RESULT
from cgos_server.storage.reading.asking.questions import QuestionRow

_DECISIONS: Final = MappingProxyType({State.ACCEPTED: Decision.ACCEPTED, State.REJECTED: Decision.REJECTED})


def question(row: QuestionRow, names: Names) -> api.Question:
    """A question as lists show it. Raises OurFault."""
    return api.Question(**_fields(row, decode_asked(row.asked), names))


def detail(record: QuestionRecord, *, link: str, pace: Pace, strengths: Strengths | None) -> api.QuestionDetail:
    """A question with what is known of it, but for what only the server that plays knows.

    :param link: where people can look at it
    :param strengths: of its venue's ladder
    """
    left = games_left(record)
    return api.QuestionDetail(
        **_fields(record.row, record.asked, record.names),
        stands=stands(record),
        waits="",
        running=record.tally.running if record.state is State.OPEN else 0,
        answer=_answer(record, left, None if left is None else pace.hours(left)),
        superiority=record.superiority(strengths),
        path=[api.PathPoint(pairs=point.pairs, llr=point.llr) for point in record.path],
        text=text(record, link),
    )


def with_waits(detail: api.QuestionDetail, seen: Iterable[api.QuestionNow]) -> api.QuestionDetail:
    """The same, with what it waits for, as servers that play say it of their questions."""
    now = next((each for each in seen if each.question == detail.question), None)
    return detail if now is None or now.running else replace(detail, waits=now.waits)


def stands(record: QuestionRecord) -> str:
    """Where it stands, in sentences."""
    told = sentences.stands(
        record.state,
        record.row.why,
        asked=record.asked,
        answer=record.answer,
        names=record.names,
        games_left=games_left(record),
    )
    taken_out = sentences.describe_taken_out(record.out, record.without, asked=record.asked, names=record.names)
    return told + taken_out


def games(record: QuestionRecord) -> api.QuestionGames:
    """Its games, pair by pair; those without a result were played again."""
    return api.QuestionGames(
        items=[
            api.QuestionGame(
                game=row.game_id,
                pair=row.pair,
                opening=row.opening,
                black=record.names[row.black_id],
                white=record.names[row.white_id],
                result=row.result,
                started_at=row.started_at,
                repeated=row.pair in record.tally.repeated and row.reason not in WITHOUT_RESULT,
                taken_out=row.pair in record.out,
            )
            for row in record.games
        ]
    )


def games_left(record: QuestionRecord) -> float | None:
    """Games that it still takes on average, if the estimate is true, within its budget; None where nobody knows, and at
    the end."""
    if record.state is not State.OPEN:
        return None
    asked, answer = record.asked, record.answer
    budget = float(asked.most_games - record.tally.begun + record.tally.running)
    if isinstance(asked, Challenge):
        return budget
    if isinstance(asked, Test):
        return None if answer.pairs_left is None else min(budget, 2.0 * answer.pairs_left)
    if answer.lower is None or answer.upper is None:
        return None
    half, least = (answer.upper - answer.lower) / 2.0, answer.least_half_width
    by_games = asked.within**2 - least**2
    return min(budget, max(0.0, answer.games * ((half**2 - least**2) / by_games - 1.0))) if by_games > 0 else None


def text(record: QuestionRecord, link: str) -> str:
    """The six lines to paste."""
    asked, answer, names = record.asked, record.answer, record.names
    points = answer.wins, answer.draws, answer.losses
    state = "goes on" if record.state is State.OPEN else record.row.state
    if isinstance(asked, Test):
        decision = _DECISIONS.get(record.state)
        tested = SequentialTest(
            older=names[asked.against],
            newer=record.version,
            hypotheses=asked.hypotheses,
            counts=Counts.of(answer.counts),
            points=points,
            standing=_standing(asked, answer, decision),
            estimate=answer.estimate,
            ended="" if decision is not None else state,
        )
        return six_lines(tested, link)
    if isinstance(asked, Gauntlet):
        placed = Placed(
            version=record.version,
            state=state,
            within=asked.within,
            value=answer.elo,
            lower=answer.lower,
            upper=answer.upper,
            points=points,
            opponents=_met(asked, answer, names),
        )
        return lines_of_gauntlet(placed, link)
    challenged = Challenged(
        version=record.version,
        against="whoever accepts" if asked.against is None else names[asked.against],
        state=state,
        most_games=asked.most_games,
        counts=Counts.of(answer.counts),
        points=points,
        estimate=answer.estimate,
    )
    return lines_of_challenge(challenged, link)


def _fields(row: QuestionRow, asked: Asked, names: Names) -> dict[str, Any]:
    test = asked if isinstance(asked, Test) else None
    return {
        "question": row.id,
        "venue": row.venue,
        "kind": asked.kind,
        "owner": row.owner,
        "version": names[asked.version],
        "against": [names[version] for version in opponents_of(asked)],
        "asks": asks(asked, names),
        "state": cast(api.StateWord, row.state),
        "why": row.why,
        "asked_at": row.asked_at,
        "ended_at": row.ended_at,
        "ends_at": asked.ends_at,
        "most_games": asked.most_games,
        "rated": asked.rated,
        "priority": row.priority,
        "scale": test.scale.value if test else None,
        "lower": test.lower if test else None,
        "upper": test.upper if test else None,
        "alpha": test.alpha if test else None,
        "beta": test.beta if test else None,
        "within": asked.within if isinstance(asked, Gauntlet) else None,
    }


def _answer(record: QuestionRecord, left: float | None, hours: float | None) -> api.QuestionAnswer:
    answer, names = record.answer, record.names
    asked = record.asked
    ratings = {each.version: each.rating for each in asked.field} if isinstance(asked, Gauntlet) else {}
    return api.QuestionAnswer(
        wins=answer.wins,
        draws=answer.draws,
        losses=answer.losses,
        counts=list(answer.counts),
        repeated=answer.repeated,
        faults=answer.faults,
        llr=answer.llr,
        llr_lower=answer.reject_at,
        llr_upper=answer.accept_at,
        elo=answer.elo,
        lower=answer.lower,
        upper=answer.upper,
        normalized=answer.normalized,
        normalized_lower=answer.normalized_lower,
        normalized_upper=answer.normalized_upper,
        superiority=answer.superiority,
        games_left=left,
        hours_left=hours,
        against=[
            api.AgainstOpponent(
                opponent=names[each.version],
                wins=each.wins,
                draws=each.draws,
                losses=each.losses,
                counts=list(each.counts),
                rating=ratings.get(each.version),
                superiority=each.superiority,
            )
            for each in answer.against
        ],
    )


def _met(asked: Gauntlet, answer: Answer, names: Names) -> list[tuple[str, float, tuple[int, int, int]]]:
    """Opponents of a gauntlet, the strongest first."""
    played = {each.version: (each.wins, each.draws, each.losses) for each in answer.against}
    field = sorted(asked.field, key=lambda each: (-each.rating, each.version))
    return [(names[each.version], each.rating, played.get(each.version, (0, 0, 0))) for each in field]


def _standing(asked: Test, answer: Answer, decision: Decision | None) -> Standing:
    hypotheses = asked.hypotheses
    return Standing(
        llr=answer.llr or 0.0, reject_at=hypotheses.reject_at, accept_at=hypotheses.accept_at, decision=decision
    )
