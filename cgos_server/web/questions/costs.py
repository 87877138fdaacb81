"""What a question is expected to cost, as a table and as a sentence. Must not know: how that is computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cgos_protocol.api.questions import QuestionCost
from cgos_server.presentation import words
from cgos_server.presentation.pictures.question_pictures import signed


class Cost(NamedTuple):
    """One case, in words. `difference`: Elo; empty where it makes none; `time`: empty where nobody knows;
    `accepted`: per cent of such tests; empty where nothing is accepted."""

    case: str
    difference: str
    games: str
    time: str
    accepted: str

    @classmethod
    def of(cls, cost: QuestionCost) -> Cost:
        """As a server says it."""
        return cls(
            case=cost.case,
            difference="" if cost.difference is None else f"{signed(cost.difference, 1)} Elo",
            games=words.count(max(1, round(cost.games)), "game"),
            time="" if cost.hours is None else time_of(cost.hours),
            accepted="" if cost.accepted is None else f"{words.likelihood(cost.accepted)} %",
        )


class CostTable(NamedTuple):
    """The cases, and which columns say something."""

    lines: list[Cost]
    differences: bool
    times: bool
    accepted: bool


def cost_lines(costs: Sequence[Cost]) -> CostTable:
    """As a table."""
    return CostTable(
        lines=list(costs),
        differences=any(cost.difference for cost in costs),
        times=any(cost.time for cost in costs),
        accepted=any(cost.accepted for cost in costs),
    )


def costs_sentence(costs: Sequence[Cost]) -> str:
    """As a sentence: ``On average it takes: no difference, 812 games (3 h); ...``"""
    listed = [f"{cost.case}, {cost.games}{f' ({cost.time})' if cost.time else ''}" for cost in costs]
    return f"On average it takes: {'; '.join(listed)}."


def time_of(hours: float) -> str:
    """About how long: ``20 min``, ``3 h 10 min``, ``12 days``."""
    if hours >= 72:
        return words.count(round(hours / 24), "day")
    minutes = hours * 60
    return words.duration(60.0 * max(1, round(minutes, -1) if minutes > 60 else round(minutes)))
