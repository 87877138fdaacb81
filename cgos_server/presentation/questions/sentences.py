"""Questions in plain sentences: where one stands, how it ended.

For pages, commands and messages. Must not know: who reads them, where values come from.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType
from typing import Final

from cgos_server.core.questions.answer import Answer
from cgos_server.core.questions.asked import Asked, Gauntlet, State, Test
from cgos_server.core.questions.wording import Names
from cgos_server.core.sequential import standing
from cgos_server.presentation import words
from cgos_server.presentation.questions.paste import with_interval

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
    elo = with_interval(answer.elo, answer.lower, answer.upper)
    if answer.elo is None:
        return f"{elo.capitalize()}."
    if isinstance(asked, Gauntlet):
        return f"{version} stands at {elo} (95 %) on the scale of its opponents. {answer.note}".rstrip()
    against = getattr(asked, "against", None)
    whom = "its opponents together" if against is None else names[against]
    return f"{version} minus {whom}: {elo} Elo (95 %)."


def describe_taken_out(out: Sequence[int], answer: Answer | None, *, asked: Asked, names: Names) -> str:
    """Say which pairs an operator took out, if any, and what an ended question would be without them."""
    pairs = f"pair{'s' if len(out) > 1 else ''} {', '.join(map(str, out))}"
    if answer is None:
        return f" An operator took out {pairs}." if out else ""
    if not isinstance(asked, Test):
        return f" Without {pairs} it would say: {says(asked, answer, names)}"
    decision = standing(answer.counts, asked.hypotheses).decision
    return f" Without {pairs} it would be {decision or 'undecided'}: {_ratio(answer)}."


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
