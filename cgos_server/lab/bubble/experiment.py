"""Muller's bubble on lists of many sizes: what it costs and what it is worth, beside a round robin and Swiss.

Must not know: how a list is ranked, terminals.

What is published, by H. G. Muller ("New tournament form", WinBoard forum, 19 June 2007), is the method, without any
figures. What is held against here are exact figures of it where the stronger one always wins; they were counted by
another implementation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

import numpy as np
from msgspec import Struct

from cgos_protocol.errors import Code, Invalid
from cgos_server.lab.bubble.lists import Listed, Scenario, Shape, listed, require_shape
from cgos_server.lab.bubble.runs import BUBBLE, ROUND_ROBIN, Methods, Model, Ranked, bubble_of, chances_of, ranked
from cgos_server.lab.ratings.pools import generator
from cgos_server.lab.report import Chart, Check, Column, Mean, Report, Table, line_of, mean_of
from cgos_server.lab.running import Work, carry_out
from cgos_server.tournaments.systems.bubble import Bubble

SIZES: Final = (10, 20, 30, 50, 100, 200)

MATCHES: Final = ((20, 179), (30, 269))
"""Engines of a right list, and matches of a run by the usual rules where the stronger one always wins."""

NEWCOMERS: Final = (12, 40, 100)
"""Lists on which the strongest one comes in at the end."""

TEXTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "right": "The old list is right",
        "noisy": "The old list has errors",
        "improved": "Some have improved",
        "new": "Some are new, at the end of the list",
        "mixed": "Errors, some improved, some new",
    }
)


class Lists(Struct, frozen=True, kw_only=True):
    """What is simulated.

    :ivar events: lists of each size and scenario
    """

    sizes: tuple[int, ...] = SIZES
    scenarios: tuple[Scenario, ...] = ("right", "noisy", "improved", "new", "mixed")
    events: int = 20
    model: Model = "elo"


class Task(Struct, frozen=True, kw_only=True):
    """One list."""

    scenario: Scenario
    size: int
    replicate: int
    seed: int
    shape: Shape
    methods: Methods
    model: Model


def experiment(lists: Lists, shape: Shape, methods: Methods, work: Work) -> Report:
    """All lists, ranked again.

    :raises Refused: where options do not go together
    """
    methods.bubble  # noqa: B018 - refuses what cannot be
    require_shape(shape, lists.sizes)
    if len(set(lists.sizes)) < len(lists.sizes) or len(set(lists.scenarios)) < len(lists.scenarios):
        raise Invalid(Code.LAB, "A size or a scenario is given twice. Name each once.")
    answers_of: dict[tuple[Scenario, int], list[list[Ranked]]] = {
        (scenario, size): [] for scenario in lists.scenarios for size in lists.sizes
    }
    interrupted = carry_out(
        done,
        _tasks(lists, shape, methods, work.seed),
        lambda task, answer: answers_of[task.scenario, task.size].append(answer),
        work,
        everything=lists.events * sum(lists.sizes) * len(lists.scenarios),
        size=lambda task: task.size,
    )
    return Report(
        tables=tuple(_tables(lists, methods, answers_of)),
        checks=tuple(_checks()),
        pictures=tuple(_pictures(lists, methods, answers_of)),
        notes=_notes(methods),
        interrupted=interrupted,
    )


def done(task: Task) -> list[Ranked]:
    """What came of one list. The same list whatever the methods are."""
    rng = generator(task.seed, "bubble", task.scenario, task.size, task.replicate)
    old = listed(task.scenario, task.size, task.shape, rng)
    return ranked(old, task.methods, task.model, int(rng.integers(2**53)))


def _tasks(lists: Lists, shape: Shape, methods: Methods, seed: int) -> Iterator[Task]:
    for replicate in range(lists.events):
        for scenario in lists.scenarios:
            for size in lists.sizes:
                yield Task(
                    scenario=scenario,
                    size=size,
                    replicate=replicate,
                    seed=seed,
                    shape=shape,
                    methods=methods,
                    model=lists.model,
                )


Answers = dict[tuple[Scenario, int], list[list[Ranked]]]
"""By scenario and size: of each list, what came of it by each method."""

_COLUMNS: Final = (
    Column(name="engines"),
    Column(name="method"),
    Column(name="games", digits=1),
    Column(name="games an engine", digits=1),
    Column(name="of a round robin", digits=1, percent=True),
    Column(name="tau", digits=4),
    Column(name="changed: places off", digits=2),
)


def _tables(lists: Lists, methods: Methods, answers_of: Answers) -> Iterator[Table]:
    for scenario in lists.scenarios:
        rows = []
        for size in lists.sizes:
            answers = answers_of[scenario, size]
            for at, name in enumerate(methods.names if answers else ()):
                each = [answer[at] for answer in answers]
                games = _settled(mean_of([one.games for one in each]))
                off = [one.off for one in each if one.off is not None]
                an_engine = Mean(2 * games.mean / size, None if games.error is None else 2 * games.error / size)
                share = _settled(mean_of([one.share for one in each]))
                tau = mean_of([one.tau for one in each])
                rows.append((size, name, games, an_engine, share, tau, mean_of(off) if off else None))
        yield Table(
            key=scenario,
            title=f"{TEXTS[scenario]}: {lists.events} lists of each size, games by the model {lists.model}",
            columns=_COLUMNS,
            rows=tuple(rows),
        )


def _settled(mean: Mean) -> Mean:
    """Without an error, where every list has the same."""
    return mean if mean.error else Mean(mean.mean)


def _checks() -> Iterator[Check]:
    for size, matches in MATCHES:
        order, count = _certain(tuple(range(size, 0, -1)))
        yield Check(
            claim=f"matches on a right list of {size}, the stronger one wins",
            holds=count == matches and order == tuple(range(1, size + 1)),
            measured=Mean(count),
            expected=float(matches),
            allowed=0.0,
        )
    for size in NEWCOMERS:
        order, _ = _certain((*range(size - 1, 0, -1), size))
        yield Check(
            claim=f"place of the strongest one that comes in at the end of {size}",
            holds=order == (size, *range(1, size)),
            measured=Mean(1.0 + order.index(size)),
            expected=1.0,
            allowed=0.0,
        )


def _certain(strengths: Sequence[int]) -> tuple[tuple[int, ...], int]:
    """The new ranking by the usual rules, and the matches it took, where the stronger one always wins."""
    old = Listed(np.array(strengths, dtype=np.float64), ())
    order, rounds = bubble_of(len(strengths), Bubble(games_per_match=1), chances_of(old, "certain"), seed=0)
    return order, sum(len(each.games) for each in rounds)


def _pictures(lists: Lists, methods: Methods, answers_of: Answers) -> Iterator[Chart]:
    if not all(answers_of.values()):
        return
    sizes = tuple(float(size) for size in lists.sizes)

    def means(scenario: Scenario, name: str, measure: str) -> list[Mean]:
        at = methods.names.index(name)
        return [
            mean_of([getattr(answer[at], measure) for answer in answers_of[scenario, size]]) for size in lists.sizes
        ]

    for scenario in lists.scenarios:
        yield Chart(
            key=f"tau-{scenario}",
            title=TEXTS[scenario],
            x_label="engines",
            y_label="Kendall's tau with the truth",
            lines=tuple(line_of(name, sizes, means(scenario, name, "tau"), errors=1.0) for name in methods.names),
            log_x=True,
        )
    robin = line_of(ROUND_ROBIN, sizes, means(lists.scenarios[0], ROUND_ROBIN, "games"), errors=1.0, dashed=True)
    yield Chart(
        key="games",
        title="Games that the bubble takes",
        x_label="engines",
        y_label="games",
        lines=(
            robin,
            *(line_of(each, sizes, means(each, BUBBLE, "games"), errors=1.0) for each in lists.scenarios),
        ),
        log_x=True,
        log_y=True,
    )


def _notes(methods: Methods) -> tuple[str, ...]:
    several = (
        "A match is two games here, as it is usual on the server; Swiss events cannot have as many games where that "
        "takes more rounds than there are opponents."
        if methods.games == 2
        else "A match is one game here, so that all methods compare game by game; the server's default is two."
    )
    return (
        "The source has the method and no figures. The counts of matches and the strongest newcomer's way to the top "
        "are exact where the stronger one always wins, by the usual rules, whatever options are given.",
        "Lists, strengths and errors are this project's. In Swiss events ratings are the places of the old list; the "
        "bubble, too, uses it for nothing but the order of entering and the last tie-break.",
        several,
    )
