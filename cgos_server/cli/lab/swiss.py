"""`cgos-server lab swiss`: Swiss systems held against published tables, against each other, or as somebody asks.

Must not know: how a tournament is simulated, what was published.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, get_args

import click
from click.core import ParameterSource

from cgos_protocol.errors import Code, Invalid
from cgos_server.cli.common import WordOf, gathered, named_value
from cgos_server.cli.lab.experiment import experiment
from cgos_server.lab.report import Report
from cgos_server.lab.running import Work
from cgos_server.lab.swiss import own, studies
from cgos_server.lab.swiss.bbp import bbp_pairings
from cgos_server.lab.swiss.own import Own
from cgos_server.tournaments.registry import words
from cgos_server.tournaments.simulation.one_event import Model, Shape

_DEFAULT: Final = "tables"


class Course(NamedTuple):
    """What an experiment of one's own may say; see :class:`cgos_server.lab.swiss.own.Own`."""

    players: int | None
    rounds: int | None
    low: float
    high: float
    model: Model
    strengths: Shape
    options: Sequence[str]
    differences: bool

    def own(self, players: int, systems: Sequence[str]) -> Own:
        return Own(
            systems=tuple(dict.fromkeys(systems)),
            options=dict(named_value(text) for text in self.options),
            players=players,
            rounds=self.rounds,
            low=self.low,
            high=self.high,
            model=self.model,
            shape=self.strengths,
            differences=self.differences,
        )


def _require_a_study() -> None:
    """Raises Refused where something is said that only an experiment of one's own can heed."""
    context = click.get_current_context()
    said = [
        parameter.opts[0]
        for parameter in context.command.params
        if parameter.name in Course._fields
        and context.get_parameter_source(parameter.name) is ParameterSource.COMMANDLINE
    ]
    if said:
        raise Invalid(Code.LAB, f"{' and '.join(said)} can be said of an experiment of your own: give --players, too.")


@click.command(short_help="How true rankings of Swiss systems are.")
@click.option(
    "--study",
    type=click.Choice((*studies.STUDIES, "all")),
    help=f"What is compared; {_DEFAULT} where neither this nor --players is given. floats: pairs of different scores. "
    "colors: differences of colors. beta: how far colors may differ. sizes: players and rounds. ranges, distributions: "
    "of true strengths. systems: all twelve.",
)
@click.option(
    "--events",
    type=click.IntRange(2, 100_000_000),
    default=2000,
    show_default=True,
    help="By each system and setting. In studies systems that are slow and large fields have fewer.",
)
@click.option(
    "--system",
    "systems",
    type=WordOf(words),
    metavar="SYSTEM",
    multiple=True,
    help="Beside those of the study, or in an experiment of your own; may be repeated (`tournament systems` lists "
    "them).",
)
@click.option(
    "--bbp",
    metavar="PATH",
    help="The program bbpPairings, which then pairs a column of its own by FIDE's rules.",
)
@click.option("--players", type=click.IntRange(2, 100_000), help="In each event; makes it an experiment of your own.")
@click.option("--rounds", type=click.IntRange(1, 10_000), help="In each event; some systems end by themselves.")
@click.option("--option", "options", metavar="NAME=VALUE", multiple=True, help="Of those systems that have it.")
@click.option("--low", type=float, default=1000.0, show_default=True, help="Least true strength, in Elo.")
@click.option("--high", type=float, default=1800.0, show_default=True, help="Largest true strength, in Elo.")
@click.option(
    "--strengths",
    type=click.Choice(get_args(Shape)),
    default="uniform",
    show_default=True,
    help="Their distribution; others have the mean and the standard deviation of the uniform one.",
)
@click.option(
    "--model",
    type=click.Choice(get_args(Model)),
    default="milvang",
    show_default=True,
    help="How games end: with draws and White's advantage, or by Elo's curve without either.",
)
@click.option(
    "--differences", is_flag=True, help="Also how near the pairs came to the largest difference in strength; slow."
)
@experiment("events")
@gathered(Course)
def swiss(
    course: Course, work: Work, study: str | None, events: int, systems: Sequence[str], bbp: str | None
) -> Report:
    """Swiss systems: how true their final rankings are, how many pairs float, how colors are balanced.

    Without --study and --players: tables 4 and 5 of Sauer, Cseh & Lenzner (2022; 2024), means and medians of Kendall's
    tau of the final ranking by Burstein, Random2 and Dutch, 32 players, 7 rounds, three ranges of strengths; beside
    them Random, Monrad, TCEC, McMahon, our Swiss and weighted matching. It exits with 1 where a mean is farther than
    0.003 from the published one, or a median farther than 0.006 (with fewer than 20000 events three standard errors
    more), where the order of systems is another one, or where a mean is not that of a long run of our own.

    With --players: an experiment of your own, every measure of every --system.

    True strengths are drawn from a range. A player's rating, which is all that a system sees, is the strength and
    normal noise; games are decided by the strengths (Milvang 2016). With the same seed all systems meet the same
    players with the same ratings. After each mean stands its standard error.
    """
    if course.players is not None and study is not None:
        raise Invalid(
            Code.LAB, "--players makes an experiment of your own, which is no --study. Leave one of them out."
        )
    if course.players is None:
        _require_a_study()
    program = None if bbp is None else bbp_pairings(bbp)
    if course.players is not None:
        return own.report(course.own(course.players, systems), events, program, work)
    return studies.report(study or _DEFAULT, events, given=systems, bbp=program, work=work)
