"""`cgos-server tournament simulate` and `reproduce`: what systems are worth, from simulated tournaments.

Must not know: how a tournament is simulated.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import click

from cgos_protocol.errors import Code, Invalid
from cgos_server.cli.common import WordOf, gathered, json_option, named_value
from cgos_server.cli.output import print_json, print_table, say
from cgos_server.cli.progress import progress_bar
from cgos_server.lab import reproduction
from cgos_server.lab.reproduction import ALLOWED, BETA, PLAYERS, ROUNDS, TOLERANCE, Reproduction, compared
from cgos_server.lab.running import Work
from cgos_server.lab.tournaments import Figure, Runs, run
from cgos_server.tournaments.base import OptionValue
from cgos_server.tournaments.registry import options_of, words
from cgos_server.tournaments.simulation.one_event import Model, Plan, check

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""

_NAMES: Mapping[str, str] = {
    "kendall": "Kendall tau",
    "spearman": "Spearman rho",
    "ndcg": "NDCG",
    "float_pairs": "float pairs",
    "color_difference": "color difference of a round",
    "largest_color_difference": "largest color difference",
    "unforeseen": "unforeseen results",
    "draws": "draws",
    "best_first": "strongest ranked first",
    "rounds": "rounds",
    "games": "games",
    "strength_difference": "strength difference",
}

_MORE_TABLE = 4
"""So many systems stand side by side; more are a table each."""

_jobs_option = click.option(
    "--jobs", type=click.IntRange(1, 1024), default=1, show_default=True, help="How many processes compute."
)
_seed_option = click.option(
    "--seed", type=click.IntRange(0, 2**63 - 1), default=0, show_default=True, help="Of everything drawn by lot."
)


class Course(NamedTuple):
    """What is simulated by each system; see :class:`cgos_server.tournaments.simulation.one_event.Plan`.

    :ivar options: NAME=VALUE, each of those systems that have it
    """

    systems: Sequence[str]
    options: Sequence[str]
    players: int
    rounds: int | None
    low: float
    high: float
    model: Model
    differences: bool

    def plans(self) -> list[Plan]:
        """One for each system, in their order. Raises Refused where no system has one of the options."""
        given: dict[str, dict[str, OptionValue]] = {name: {} for name in self.systems}
        for text in self.options:
            key, value = named_value(text)
            having = [name for name in given if key in options_of(name)]
            if not having:
                choices = ", ".join(dict.fromkeys(word for name in given for word in options_of(name)))
                raise Invalid(
                    Code.TOURNAMENT_OPTION,
                    f"No system asked for has an option {key!r}. Choose from: {choices or 'they have none'}.",
                )
            for name in having:
                given[name][key] = value
        return [
            Plan(
                system=name,
                players=self.players,
                rounds=self.rounds,
                low=self.low,
                high=self.high,
                options=options,
                model=self.model,
                differences=self.differences,
            )
            for name, options in given.items()
        ]


@click.command()
@click.option("--players", type=click.IntRange(2, 100_000), required=True, help="In each tournament.")
@click.option("--rounds", type=click.IntRange(1, 10_000), help="In each tournament; some systems end by themselves.")
@click.option(
    "--system",
    "systems",
    type=WordOf(words),
    metavar="SYSTEM",
    multiple=True,
    required=True,
    help="May be repeated, to compare (`tournament systems` lists them).",
)
@click.option(
    "--option", "options", metavar="NAME=VALUE", multiple=True, help="An option of those systems that have it."
)
@click.option(
    "--tournaments", type=click.IntRange(1, 100_000_000), default=1000, show_default=True, help="By each system."
)
@_jobs_option
@_seed_option
@click.option("--low", type=float, default=1000.0, show_default=True, help="Least true strength, in Elo.")
@click.option("--high", type=float, default=1800.0, show_default=True, help="Largest true strength, in Elo.")
@click.option(
    "--model",
    type=click.Choice(("milvang", "elo")),
    default="milvang",
    show_default=True,
    help="How games end: with draws and White's advantage, or by Elo's curve without either.",
)
@click.option(
    "--differences", is_flag=True, help="Also how near the pairs came to the largest difference in strength; slow."
)
@json_option
@gathered(Course)
def simulate(course: Course, tournaments: int, jobs: int, seed: int, as_json: bool) -> None:
    """Simulate tournaments and measure how true their final rankings are.

    True strengths are uniform from --low to --high. A player's rating, which is all that a system sees, is the strength
    and normal noise; games are decided by the strengths (Milvang 2016). With the same seed every system meets the same
    players with the same ratings, whatever the number of processes. After each mean stands its standard error. Ctrl-C
    prints what is done; the exit code is then 130.

    --json prints an object with seed, interrupted and series: for each system its plan, how many tournaments, and
    measures, a list of objects with measure, mean and error (of the mean; null: not measured).
    """
    plans = course.plans()
    for plan in plans:
        check(plan)
    with progress_bar("tournaments") as progress:
        runs = run(plans, tournaments, Work(seed, jobs, progress))
    if as_json:
        print_json({"seed": seed, "interrupted": runs.interrupted, "series": runs.series})
    else:
        _print_measures(runs)
    _end(runs.interrupted)


@click.command()
@click.option(
    "--tournaments",
    type=click.IntRange(2, 100_000_000),
    default=reproduction.TOURNAMENTS,
    show_default=True,
    help="By each system in each range.",
)
@_jobs_option
@_seed_option
@json_option
def reproduce(tournaments: int, jobs: int, seed: int, as_json: bool) -> None:
    """Simulate a published table again and compare.

    Table 4 of Sauer, Cseh & Lenzner (2022): 32 players, 7 rounds, three ranges of strength, the mean of Kendall's tau
    of the final ranking by Burstein, Random2 and Dutch; beside them Random and Monrad, of which the source has no
    numbers. Exits with 1 where a mean is more than three standard errors outside 0.003 about the published one, which
    is itself the mean of one series, or the order of systems is another one.
    """
    with progress_bar("tournaments") as progress:
        table = compared(run(reproduction.plans(), tournaments, Work(seed, jobs, progress)))
    if as_json:
        print_json(table)
    else:
        _print_reproduction(table)
    _end(table.interrupted)
    if not (table.within and table.ordered):
        sys.exit(1)


def _print_measures(runs: Runs) -> None:
    if not any(series.tournaments for series in runs.series):
        return
    side_by_side = len(runs.series) <= _MORE_TABLE
    tables = [runs.series] if side_by_side else [(series,) for series in runs.series]
    plan = runs.series[0].plan
    for at, table in enumerate(tables):
        if at:
            click.echo()
        columns = [{each.measure: each for each in series.measures} for series in table]
        counts = {series.tournaments for series in table}
        title = f"{plan.players} players, strengths {plan.low:g} to {plan.high:g}, "
        title += " and ".join(f"{count} tournaments" for count in sorted(counts, reverse=True))
        rows = [
            (name, *(_mean(column[measure]) for column in columns))
            for measure, name in _NAMES.items()
            if any(column[measure].mean is not None for column in columns)
        ]
        print_table(("measure", *(series.plan.system for series in table)), rows, title)


def _mean(figure: Figure) -> str | None:
    if figure.mean is None:
        return None
    digits = 4 if abs(figure.mean) < 10 else 2
    return f"{figure.mean:.{digits}f}" + ("" if not figure.error else f" ± {figure.error:.{digits}f}")


def _print_reproduction(table: Reproduction) -> None:
    print_table(
        ("strengths", "system", "tournaments", "Kendall tau", "error", "published", "deviation in errors"),
        [
            (
                f"{cell.low}-{cell.high}",
                cell.system,
                cell.tournaments,
                _decimals(cell.kendall, ".4f"),
                _decimals(cell.error, ".4f"),
                _decimals(cell.published, ".3f"),
                _decimals(cell.deviation, "+.1f"),
            )
            for cell in table.cells
        ],
        f"Mean Kendall tau of the final ranking: {PLAYERS} players, {ROUNDS} rounds, beta {BETA}",
    )
    within = "yes" if table.within else "no"
    click.echo(f"Means within {ALLOWED:g} standard errors of {TOLERANCE:g} about the published ones: {within}.")
    click.echo(
        f"Published order of systems ({' > '.join(reproduction.PUBLISHED)}): {'yes' if table.ordered else 'no'}."
    )


def _decimals(number: float | None, form: str) -> str | None:
    return None if number is None else format(number, form)


def _end(interrupted: bool) -> None:
    if interrupted:
        say("Interrupted: this is what was done until then.")
        sys.exit(INTERRUPTED)
