"""`cgos-server lab thesis`: Vuorinen's thesis, value by value.

Must not know: how anything is computed.
"""

from __future__ import annotations

import click

from cgos_server.cli.common import gathered
from cgos_server.cli.lab.experiment import experiment
from cgos_server.lab.report import Report
from cgos_server.lab.running import Work
from cgos_server.lab.thesis.errors import ROUNDS, SIZES, Fields
from cgos_server.lab.thesis.experiment import experiment as carried_out
from cgos_server.tournaments.standings.grades import GRADES
from cgos_server.tournaments.systems.from_starts import NO_BAR


@click.command(short_help="Vuorinen's thesis of 2010, value by value.")
@click.option(
    "--size",
    "sizes",
    type=click.IntRange(4, 5000),
    multiple=True,
    default=SIZES,
    show_default=True,
    help="Players of a drawn field; may be repeated.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1, 100),
    multiple=True,
    default=ROUNDS,
    show_default=True,
    help="Of each event; may be repeated.",
)
@click.option(
    "--events",
    type=click.IntRange(1, 1_000_000),
    default=10,
    show_default=True,
    help="Fields of each size and number of rounds, which all systems meet.",
)
@click.option(
    "--bar",
    type=click.Choice((NO_BAR, *GRADES)),
    metavar="GRADE",
    default=NO_BAR,
    show_default=True,
    help="The top group's grade in all systems with starting points, such as 4d.",
)
@experiment("players' rounds")
@gathered(Fields)
def thesis(fields: Fields, work: Work) -> Report:
    """Vuorinen's thesis on Go tournaments (2010): tables, figures and formulas value by value, and total errors.

    Beside each printed value stands the server's; misprints are named. Then McMahon, weighted, GoDraw, EPM and AccelRat
    are compared by the total error (equation 7.1, in three readings) on drawn fields. Those of the source are not
    published, so that only orders can be compared.
    """
    return carried_out(fields, work)
