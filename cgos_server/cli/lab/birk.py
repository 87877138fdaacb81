"""`cgos-server lab birk`: who meets whom by Birk's pairing of 2006. Must not know: how that comes about."""

from __future__ import annotations

import click

from cgos_server.cli.lab.experiment import experiment
from cgos_server.lab.birk.report import NAMED, PUBLISHED_PLAYERS, compared
from cgos_server.lab.report import Report
from cgos_server.lab.running import Work


@click.command(short_help="Birk's top-down pairing beside its exact law.")
@click.option(
    "--players",
    type=click.IntRange(2, 24),
    multiple=True,
    default=(PUBLISHED_PLAYERS, PUBLISHED_PLAYERS - 1),
    show_default=True,
    help="In a round; may be repeated. The mail has 14; of an odd number one sits out.",
)
@click.option(
    "--formula",
    "formulas",
    metavar="FORMULA",
    multiple=True,
    default=NAMED,
    show_default=True,
    help="How many candidates are drawn: one of these, or arithmetic in avail and np such as '1 + avail // 3'; may be "
    "repeated.",
)
@click.option(
    "--rounds",
    type=click.IntRange(1, 1_000_000_000),
    default=50_000,
    show_default=True,
    help="By each formula with each number of players.",
)
@experiment("rounds")
def birk(work: Work, players: tuple[int, ...], formulas: tuple[str, ...], rounds: int) -> Report:
    """Who meets whom by Birk's top-down pairing, simulated by the server's matchmaker and exact.

    C. Birk's mail of 2006 has four formulas and for each a table of 14 players: how often two ranks meet, as a ratio to
    chance. Each matrix has here simulated ratios above the diagonal and exact ones below it. With an odd number of
    players one sits out: whoever is left over (`natural`, the published method), or in turns (`fair`, the server's
    default). Every frequency is held against its exact probability at 5 standard errors, and cells of the mail at its
    precision.
    """
    return compared(tuple(dict.fromkeys(players)), tuple(dict.fromkeys(formulas)), rounds, work)
