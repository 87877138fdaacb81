"""A question in words: what is asked and on which terms, and how it stands as those are told it who asked.

Must not know: who is told, by which way.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from cgos_protocol.ids import QuestionId, VersionId
from cgos_protocol.question_news import QuestionNews
from cgos_server.core.questions.answer import Answer
from cgos_server.core.questions.asked import Asked, Gauntlet, State, Test, opponents_of
from cgos_server.core.sequential import Scale

Names: TypeAlias = Mapping[VersionId, str]
"""Wire names."""

SCALES: Final[Mapping[Scale, str]] = MappingProxyType({Scale.LOGISTIC: "logistic", Scale.NORMALIZED: "normalized"})
"""What kind of Elo the bounds of a test are."""

_MOST_NAMED: Final = 5
"""Opponents that a sentence lists."""


def asks(asked: Asked, names: Names) -> str:
    """What is asked: ``Is Bolt-2 stronger than Bolt-1?``"""
    version = names[asked.version]
    opponents = [names[opponent] for opponent in opponents_of(asked)]
    if len(opponents) > _MOST_NAMED:
        opponents[_MOST_NAMED - 1 :] = [f"{len(opponents) - _MOST_NAMED + 1} others"]
    *others, last = opponents or ["whoever accepts"]
    whom = f"{', '.join(others)} and {last}" if others else last
    if isinstance(asked, Test):
        return f"Is {version} stronger than {whom}?"
    if isinstance(asked, Gauntlet):
        return f"Where does {version} stand among {whom}, to within {asked.within:g} Elo?"
    return f"How does {version} fare in {asked.most_games} games against {whom}?"


def terms(asked: Asked) -> str:
    """How it is answered, in a sentence: bounds and error rates of a test, the budget, whether its games are rated."""
    games = f"{asked.most_games} {'rated' if asked.rated else 'unrated'} games"
    if isinstance(asked, Test):
        return (
            f"A sequential test between {asked.lower:g} and {asked.upper:g} {SCALES[asked.scale]} Elo, with error "
            f"rates of {100 * asked.alpha:g} % and {100 * asked.beta:g} %, of {games} at most."
        )
    if isinstance(asked, Gauntlet):
        return f"A gauntlet of {games} at most."
    return f"A challenge of {games}."


def news_of(
    question: QuestionId,
    venue: str,
    asked: Asked,
    *,
    state: State,
    why: str,
    known: Answer,
    names: Names,
) -> QuestionNews:
    """How it stands. `why`: it has ended so, a sentence; `known`: what its games say."""
    stands = f"{state.value.capitalize()}: {why}" if why else f"It is {state.value}."
    return QuestionNews(
        question=question,
        venue=venue,
        kind=asked.kind,
        state=state.value,
        text=f"Question {question}: {asks(asked, names)} {stands}",
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
