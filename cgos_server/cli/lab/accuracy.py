"""`cgos-server lab accuracy`: how far off ratings are, by rating system, of newcomers, by matchmaker.

Must not know: how anything is simulated.
"""

from __future__ import annotations

from pathlib import Path

import click

from cgos_server.cli.common import gathered
from cgos_server.cli.lab.experiment import experiment
from cgos_server.lab.accuracy.asked import LARGE, SEED, Asked
from cgos_server.lab.accuracy.studies import STUDIES, run
from cgos_server.lab.ratings.matchmakers import METHODS
from cgos_server.lab.ratings.pools import GAMES, POOLS
from cgos_server.lab.report import Report
from cgos_server.lab.running import Work


@click.command(short_help="How far off ratings are after so many games.")
@click.option(
    "--study", "studies", type=click.Choice([*STUDIES]), multiple=True, help="Only this one; may be repeated."
)
@click.option(
    "--pool",
    "pools",
    type=click.Choice([*POOLS, LARGE]),
    multiple=True,
    help="Of systems and matchmakers only this pool; may be repeated. Matchmakers have normal, bimodal and large.",
)
@click.option(
    "--method",
    "methods",
    type=click.Choice([*METHODS]),
    multiple=True,
    help="Of the matchmakers only this one; may be repeated.",
)
@click.option(
    "--replicates",
    type=click.IntRange(1, 100_000),
    default=96,
    show_default=True,
    help="Of the main pools and matchmakers; other rows, which cost more or matter less, have a third to a 48th.",
)
@click.option("--versions", type=click.IntRange(4, 4096), help="In every pool, in place of its own number.")
@click.option(
    "--games",
    type=click.IntRange(GAMES[0], GAMES[-1]),
    default=GAMES[-1],
    show_default=True,
    help="That each version plays.",
)
@click.option(
    "--cache",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Keep every replicate in DIR, and take those from there that the same code has computed before.",
)
@experiment("replicates", seed=SEED)
@gathered(Asked)
def accuracy(asked: Asked, work: Work, cache: Path | None) -> Report:
    """Rating systems and matchmakers in pools whose true strengths are known: errors, intervals, games needed.

    One game a version and round, from a cold start, two anchors. Three studies: systems (all see the same results of
    twelve pools), newcomers (games until one is known, by how the others are known), matchmakers (what each is worth to
    the ratings). Beside them stands the limit: the error of the best schedule there could be, told the true
    distribution. All of it takes hours; --replicates 6 --games 40 is a first look.
    """
    return run(asked, work, cache)
