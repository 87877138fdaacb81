"""Newcomers, one at a time, in a pool that is known: how many games until their strength is known, too.

64 versions of N(2000, 350); only the newcomer's own games count. Must not know: how a system rates, how figures are
shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from numpy.random import Generator

from cgos_server.core.rating.base import Z95
from cgos_server.lab.accuracy.asked import HEADLINE, Asked, Group, Task, by_games, replicates, root
from cgos_server.lab.ratings.matchmakers import METHODS, Rounds
from cgos_server.lab.ratings.newcomers import GOALS, KNOWN_SD, newcomers_run, summary, told_run
from cgos_server.lab.ratings.pools import POOLS
from cgos_server.lab.report import Cell, Chart, Column, Mean, Picture, Table, line_of

STUDY: Final = "newcomers"
POOL: Final = "normal"

NEWCOMERS: Final = 64
"""At most, in a replicate."""

GAMES: Final = 72
"""At most, that a newcomer plays."""

SHOWN: Final = (1, 2, 5, 10, 16, 20, 26, 32, 40, 50, 60, 72)
"""After so many of them figures are in the tables."""

SYSTEMS: Final[Sequence[tuple[str, str, Mapping[str, Any]]]] = tuple(
    (name, name, {}) for name in (HEADLINE, "cgos-elo", "glicko2")
)


class Setting(NamedTuple):
    """How the others are known, and how a newcomer finds its opponents.

    :ivar fewer: so many times fewer replicates
    :ivar known: see :func:`cgos_server.lab.ratings.newcomers.newcomers_run`; ``told``: by an estimator that is told
        the distribution, and that nobody can better
    :ivar reach: width of the window, Elo; None: as wide as the ratings ask for
    :ivar method: a matchmaker of the server, in place of the window
    """

    fewer: int
    known: str
    reach: float | None = None
    method: str | None = None


SETTINGS: Final[Mapping[str, Setting]] = MappingProxyType(
    {
        "stated": Setting(6, "stated"),
        "stated, window 500": Setting(12, "stated", 500.0),
        "results": Setting(48, "results"),
        "told": Setting(6, "told"),
        "told, window 500": Setting(6, "told", 500.0),
        "stated, information": Setting(8, "stated", method="information"),
        "stated, permuted": Setting(8, "stated", method="permuted"),
    }
)


def tasks(asked: Asked, seed: int) -> list[Task]:
    """All replicates, setting by setting."""
    return [
        task
        for row, setting in SETTINGS.items()
        for task in replicates(
            asked,
            setting.fewer,
            study=STUDY,
            pool=POOL,
            row=row,
            versions=asked.versions or POOLS[POOL].versions,
            games=min(asked.games, GAMES),
            seed=seed,
        )
    ]


def replicate(task: Task) -> dict[str, Any]:
    """See :func:`cgos_server.lab.ratings.newcomers.newcomers_run`."""
    setting = SETTINGS[task.row]
    fields: dict[str, Any] = {
        "replicate": task.replicate,
        "newcomers": _newcomers(task),
        "games": task.games,
        "reach": setting.reach,
    }
    if setting.known == "told":
        return told_run(task.made_pool(), task.seed, **fields)
    if setting.method is None:
        return newcomers_run(task.made_pool(), task.seed, known=setting.known, systems=SYSTEMS, **fields)
    name, options = METHODS[setting.method]

    def meet(rng: Generator) -> Rounds:
        return Rounds(name, options, rng)

    return newcomers_run(task.made_pool(), task.seed, known=setting.known, systems=SYSTEMS[:1], meet=meet, **fields)


def _newcomers(task: Task) -> int:
    return min(NEWCOMERS, task.versions)


def tables(groups: Mapping[tuple[str, str], Group]) -> list[Table]:
    """Errors and intervals by games, and games until an error is small enough."""
    errors: list[tuple[Cell, ...]] = []
    intervals: list[tuple[Cell, ...]] = []
    goals: list[tuple[Cell, ...]] = []
    longest = max(task.games for task, _ in groups.values())
    shown = [games for games in SHOWN if games <= longest]
    for (_, row), (task, answers) in groups.items():
        for label in answers[0]["at"]:
            summed = summary(answers, label)
            errors.append((row, label, *(_figures(summed, shown))))
            if label in (HEADLINE, "told"):
                intervals.append((row, label, *(summed["inside"][games - 1] for games in shown)))
            known = root(answer["established"][label] for answer in answers).mean
            reached = tuple(summed["to"][f"{goal:g}"] for goal in GOALS)
            goals.append((row, label, len(answers) * _newcomers(task), known, *reached))
    who = (Column(name="the others are known, opponents by"), Column(name="system"))
    return [
        Table(
            key="newcomers",
            title=f"Newcomers among those who are known (stated: to {KNOWN_SD:g} Elo): RMSE (Elo) after so many games",
            columns=(*who, *by_games(shown, 0)),
            rows=tuple(errors),
        ),
        Table(
            key="newcomers-goals",
            title="Games of newcomers until their RMSE is so small",
            columns=(
                *who,
                Column(name="newcomers"),
                Column(name="the others' RMSE", digits=0),
                *(Column(name=f"{goal:g} Elo") for goal in GOALS),
            ),
            rows=tuple(goals),
        ),
        Table(
            key="newcomers-intervals",
            title="Share of newcomers' 95 % intervals that hold the truth, after so many games",
            columns=(*who, *by_games(shown, 2)),
            rows=tuple(intervals),
        ),
    ]


def _figures(summed: Mapping[str, Any], games: Sequence[int]) -> list[Mean]:
    """RMSE after so many games, each with its standard error where there is one."""
    errors = [(summed["rmse"][number - 1], summed["se"][number - 1]) for number in games]
    return [Mean(mean, None if error != error else error) for mean, error in errors]


def pictures(groups: Mapping[tuple[str, str], Group]) -> list[Picture]:
    """Errors by games: of all systems where strengths are stated, and of the headline in all settings."""
    by_system, by_setting = [], []
    for (_, row), (task, answers) in groups.items():
        for label in answers[0]["at"]:
            games = range(1, task.games + 1)
            figures = _figures(summary(answers, label), games)
            is_told = label == "told"
            if row in ("stated", "told"):
                by_system.append(
                    line_of("told everything" if is_told else label, games, figures, errors=Z95, dashed=is_told)
                )
            if label == HEADLINE or is_told:
                means = [Mean(figure.mean) for figure in figures]
                by_setting.append(line_of(row, games, means, errors=Z95, dashed=is_told))
    return [
        Chart(
            key=key,
            title=title,
            x_label="games of the newcomer",
            y_label="RMSE (Elo)",
            lines=tuple(lines),
            log_x=True,
            log_y=True,
        )
        for key, title, lines in (
            ("newcomers", "Newcomers among stated strengths", by_system),
            ("newcomers-settings", f"Newcomers rated by {HEADLINE}, by how the others are known", by_setting),
        )
        if lines
    ]
