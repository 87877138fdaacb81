"""A question in words, and how it stands as those are told it who asked.

Must not know: who is told, by which way.
"""

from __future__ import annotations

from collections.abc import Mapping

from cgos_protocol.ids import QuestionId, VersionId
from cgos_protocol.question_news import QuestionNews
from cgos_server.core.questions.answer import Answer
from cgos_server.core.questions.asked import Asked, Gauntlet, State, Test, opponents_of


def what_is_asked(asked: Asked, names: Mapping[VersionId, str]) -> str:
    """The rest of a sentence that begins with the number of the question. `names`: wire names."""
    name = names[asked.version]
    whom = ", ".join(names[version] for version in opponents_of(asked)) or "whoever accepts"
    if isinstance(asked, Test):
        return f"is {name} stronger than {whom}? Bounds [{asked.lower:g}, {asked.upper:g}] {asked.scale.value}."
    if isinstance(asked, Gauntlet):
        return f"where does {name} stand among {whom}, to within {asked.within:g} Elo?"
    return f"{asked.most_games} games of {name} against {whom}."


def news_of(
    question: QuestionId,
    venue: str,
    asked: Asked,
    *,
    state: State,
    why: str,
    known: Answer,
    names: Mapping[VersionId, str],
) -> QuestionNews:
    """How it stands. `why`: it has ended so, a sentence; `known`: what its games say."""
    stands = f"{state.value.capitalize()}: {why}" if why else f"It is {state.value}."
    return QuestionNews(
        question=question,
        venue=venue,
        kind=asked.kind,
        state=state.value,
        text=f"Question {question}: {what_is_asked(asked, names)} {stands}",
        version=names[asked.version],
        against=tuple(names[version] for version in opponents_of(asked)),
        wins=known.wins,
        draws=known.draws,
        losses=known.losses,
        counts=known.counts,
        llr=known.llr,
        elo=known.elo,
        lower=known.lower,
        upper=known.upper,
    )
