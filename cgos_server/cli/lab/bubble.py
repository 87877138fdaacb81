"""`cgos-server lab bubble`: Muller's bubble against a round robin and Swiss.

Must not know: how a list is ranked.
"""

from __future__ import annotations

import click

from cgos_server.cli.common import gathered
from cgos_server.cli.lab.experiment import experiment
from cgos_server.lab.bubble.experiment import SIZES, Lists
from cgos_server.lab.bubble.experiment import experiment as carried_out
from cgos_server.lab.bubble.lists import SCENARIOS, Shape
from cgos_server.lab.bubble.runs import MODELS, Methods
from cgos_server.lab.report import Report
from cgos_server.lab.running import Work


@click.command(short_help="What Muller's bubble saves and costs.")
@click.option(
    "--size",
    "sizes",
    type=click.IntRange(2, 1000),
    multiple=True,
    default=SIZES,
    show_default=True,
    help="Engines of a list; may be repeated.",
)
@click.option(
    "--scenario",
    "scenarios",
    type=click.Choice(SCENARIOS),
    multiple=True,
    default=SCENARIOS,
    show_default=True,
    help="What the old list is like: right; with errors (noisy); some have improved; some are new and stand at its "
    "end; all of these together (mixed). May be repeated.",
)
@click.option(
    "--events",
    type=click.IntRange(1, 1_000_000),
    default=20,
    show_default=True,
    help="Lists of each size and scenario.",
)
@click.option(
    "--model",
    type=click.Choice(MODELS),
    default="elo",
    show_default=True,
    help="How games end: by the Elo curve; by Milvang's model, with draws and White's advantage; or the stronger wins.",
)
@click.option(
    "--active", type=click.IntRange(2, 1000), default=10, show_default=True, help="How many play all against all (A)."
)
@click.option(
    "--matches",
    type=click.IntRange(0, 10_000),
    default=15,
    show_default=True,
    help="Matches before an engine is ranked for good (M).",
)
@click.option(
    "--unpark",
    type=click.IntRange(1, 999),
    help="Of how many of the active set one set aside may have met to return; without it 5 or less (U).",
)
@click.option(
    "--games", type=click.IntRange(1, 2), default=1, show_default=True, help="Games of a match; 2: colors reversed."
)
@click.option(
    "--rounds",
    type=click.IntRange(1, 1000),
    default=9,
    show_default=True,
    help="Of the short Swiss events; the others have as many games as the bubble.",
)
@click.option("--low", type=float, default=1000.0, show_default=True, help="Least true strength, in Elo.")
@click.option("--high", type=float, default=2600.0, show_default=True, help="Largest true strength, in Elo.")
@click.option(
    "--noise",
    type=click.FloatRange(0, 10_000),
    default=100.0,
    show_default=True,
    help="Standard deviation of the errors of a list, in Elo.",
)
@click.option(
    "--changed",
    type=click.FloatRange(0, 0.5, min_open=True),
    default=0.1,
    show_default=True,
    help="Share of the engines that have improved, and of those that are new; at least one.",
)
@click.option(
    "--places",
    type=click.IntRange(1, 999),
    help="So many places too low stand those who have improved; without it a quarter of the list.",
)
@experiment("engines of lists")
@gathered(Lists)
@gathered(Shape)
@gathered(Methods)
def bubble(methods: Methods, shape: Shape, lists: Lists, work: Work) -> Report:
    """Muller's bubble (2007) on long lists of engines: games, and Kendall's tau of the new ranking with the truth.

    Each list is ranked again by the bubble, by a round robin, and by Swiss events (mwm in Burstein's order, and swiss)
    with about as many games, and with few rounds. It is checked that a right list of 20 takes 179 of 190 matches and
    one of 30 takes 269 of 435 where the stronger one always wins, and that the strongest newcomer reaches the top.
    """
    return carried_out(lists, shape, methods, work)
