"""`cgos-server lab questions`: what the answers of tests and gauntlets are worth.

Must not know: how it is simulated.
"""

from __future__ import annotations

import click

from cgos_server.cli.common import gathered
from cgos_server.cli.lab.experiment import experiment
from cgos_server.lab.questions.asked import BOUNDS, Asked
from cgos_server.lab.questions.studies import STUDIES, run
from cgos_server.lab.report import Report
from cgos_server.lab.running import Work


@click.command(short_help="Error rates, costs and calibration of the answers to questions.")
@click.option(
    "--study", "studies", type=click.Choice([*STUDIES]), multiple=True, help="Only this one; may be repeated."
)
@click.option(
    "--bounds",
    metavar="LOWER,UPPER",
    multiple=True,
    default=BOUNDS,
    show_default=True,
    help="Of the tests of errors and leading, normalized Elo; may be repeated.",
)
@click.option(
    "--tests",
    type=click.IntRange(1, 1_000_000),
    default=20_000,
    show_default=True,
    help="Sequential tests at each true difference of errors, and about as many of leading.",
)
@click.option(
    "--ladders",
    type=click.IntRange(1, 100_000),
    default=100,
    show_default=True,
    help="Of leading and posterior; and of gauntlet, each with one newcomer on the ladder and eight by each field.",
)
@click.option(
    "--versions",
    type=click.IntRange(4, 4096),
    default=64,
    show_default=True,
    help="Of each ladder; an even number.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1, 1000),
    default=30,
    show_default=True,
    help="Of leading and posterior: games of each version on the ladder before anything is asked.",
)
@click.option(
    "--within",
    type=click.FloatRange(5.0, 500.0),
    default=50.0,
    show_default=True,
    help="Of gauntlet: half of the 95 % interval that is wanted, Elo.",
)
@click.option(
    "--draws",
    type=click.FloatRange(0.0, 0.9),
    default=0.2,
    show_default=True,
    help="The share of their games that equals draw.",
)
@click.option(
    "--spread",
    type=click.FloatRange(0.0, 400.0),
    default=50.0,
    show_default=True,
    help="How much openings differ: the standard deviation of what one is worth to the first mover, Elo.",
)
@experiment("tasks")
@gathered(Asked)
def questions(asked: Asked, work: Work) -> Report:
    """What the answers to questions are worth: tests, P(stronger) and gauntlets, by the server's own code.

    Studies: errors (how often sequential tests err, and how many games they take beside theory and beside a test of
    fixed length, at five true differences), leading (the same where owners ask only because the new version leads the
    ladder), posterior (how true P(stronger) is, asked blindly and because it leads), gauntlet (games until a newcomer
    is known to 50 Elo, by a gauntlet and by the ladder's matchmaker; how many intervals hold the strength).
    """
    return run(asked, work)
