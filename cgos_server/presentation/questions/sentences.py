"""Questions in plain sentences: what is asked, where it stands, how it ended.

For pages, commands and messages. Must not know: who reads them, where values come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from cgos_protocol.ids import VersionId
from cgos_server.core.questions.answer import Answer
from cgos_server.core.questions.asked import Asked, Gauntlet, State, Test
from cgos_server.presentation import words
from cgos_server.presentation.questions.paste import SCALES, with_interval
from cgos_server.tournaments.words import listed

Names = Mapping[VersionId, str]

MOST_NAMED: Final = 5
"""Opponents that a sentence lists."""

_HEADS: Final = MappingProxyType(
    {
        State.OPEN: "It goes on",
        State.ACCEPTED: "Accepted",
        State.REJECTED: "Rejected",
        State.ANSWERED: "Answered",
        State.NOT_ANSWERED: "Not answered",
        State.STOPPED: "Stopped",
    }
)


def asks(asked: Asked, names: Names) -> str:
    """What is asked: ``Is Bolt-2 stronger than Bolt-1?``"""
    version = names[asked.version]
    if isinstance(asked, Test):
        return f"Is {version} stronger than {names[asked.against]}?"
    if isinstance(asked, Gauntlet):
        return f"Where does {version} stand among {field(asked, names)}, to within {asked.within:g} Elo?"
    whom = "whoever accepts" if asked.against is None else names[asked.against]
    return f"How does {version} fare in {words.count(asked.most_games, 'game')} against {whom}?"


def terms(asked: Asked) -> str:
    """How it is answered, in a sentence: bounds and error rates of a test, the budget, whether its games are rated."""
    most = words.count(asked.most_games, "game")
    rated = "rated" if asked.rated else "unrated"
    if isinstance(asked, Test):
        return (
            f"A sequential test between {asked.lower:g} and {asked.upper:g} {SCALES[asked.scale]} Elo, with error "
            f"rates of {100 * asked.alpha:g} % and {100 * asked.beta:g} %, of {most} at most, {rated}."
        )
    if isinstance(asked, Gauntlet):
        return f"A gauntlet of {most} at most, {rated}."
    return f"A challenge of {most}, {rated}."


def stands(
    state: State, why: str, *, asked: Asked, answer: Answer, names: Names, games_left: float | None = None
) -> str:
    """Where it stands, or how it ended, and what its games say: ``It goes on: the log-likelihood ratio is 1.20, between
    -2.94 and 2.94. ...``

    :param why: a sentence; empty while it is open
    :param games_left: expected; None where nobody knows
    """
    if state is State.OPEN:
        parts = [f"{_HEADS[state]}: {_so_far(asked, answer)}"]
    elif state in (State.ACCEPTED, State.REJECTED):
        parts = [f"{_HEADS[state]}: {_ratio(answer)}.", f"{_played(answer)}."]
    else:
        parts = [f"{_HEADS[state]}: {_lowered(why)}" if why else f"{_HEADS[state]}."]
        parts.append(f"{_played(answer)}." if answer.games else "No pair of games has ended.")
    if answer.games:
        parts.append(says(asked, answer, names))
    if games_left is not None and state is State.OPEN:
        parts.append(f"About {words.count(max(1, round(games_left)), 'game')} more are expected.")
    return " ".join(parts)


def says(asked: Asked, answer: Answer, names: Names) -> str:
    """What its games say of strength, in a sentence."""
    version = names[asked.version]
    if isinstance(asked, Gauntlet):
        elo = with_interval(answer.elo, answer.lower, answer.upper)
        return f"{version} stands at {elo} (95 %) on the scale of its opponents."
    against = getattr(asked, "against", None)
    whom = "its opponents together" if against is None else names[against]
    return f"{version} minus {whom}: {with_interval(answer.elo, answer.lower, answer.upper)} Elo (95 %)."


def field(asked: Gauntlet, names: Names) -> str:
    """The opponents of a gauntlet, the first of many."""
    named = [names[opponent.version] for opponent in asked.field]
    if len(named) <= MOST_NAMED:
        return listed(named)
    return f"{', '.join(named[: MOST_NAMED - 1])} and {len(named) - MOST_NAMED + 1} others"


def headline(state: State) -> str:
    """``It goes on``, ``Accepted``, ``Not answered``."""
    return _HEADS[state]


def _so_far(asked: Asked, answer: Answer) -> str:
    if not answer.games:
        return "no pair of games has ended yet."
    if isinstance(asked, Test):
        return f"{_ratio(answer)}. {_played(answer)}."
    if isinstance(asked, Gauntlet):
        half = None if answer.lower is None or answer.upper is None else (answer.upper - answer.lower) / 2
        known = "" if half is None else f"it is known to {half:.0f} Elo, and asked to within {asked.within:g}. "
        return f"{known}{_played(answer)}."
    return f"{words.count(answer.games, 'game')} of {words.count(asked.most_games, 'game')} count. {_played(answer)}."


def _ratio(answer: Answer) -> str:
    """``the log-likelihood ratio is 1.20, between -2.94 and 2.94``; of a test alone."""
    if answer.llr is None or answer.reject_at is None or answer.accept_at is None:
        return "nothing is known yet"
    if answer.llr >= answer.accept_at:
        return f"the log-likelihood ratio is {answer.llr:.2f}, at its upper bound of {answer.accept_at:.2f} or above it"
    if answer.llr <= answer.reject_at:
        return f"the log-likelihood ratio is {answer.llr:.2f}, at its lower bound of {answer.reject_at:.2f} or below it"
    return f"the log-likelihood ratio is {answer.llr:.2f}, between {answer.reject_at:.2f} and {answer.accept_at:.2f}"


def _played(answer: Answer) -> str:
    """``Of 40 games it won 20, drew 4 and lost 16``."""
    return f"Of {words.count(answer.games, 'game')} it won {answer.wins}, drew {answer.draws} and lost {answer.losses}"


def _lowered(sentence: str) -> str:
    """Behind a colon."""
    return sentence[:1].lower() + sentence[1:]
