"""`cgos-server lab gor`: the European Go ratings of a thesis of 2010. Must not know: how any figure is computed."""

from __future__ import annotations

import click

from cgos_protocol.errors import Code, Invalid
from cgos_server.cli.lab.experiment import experiment
from cgos_server.lab.gor.inflation import Pool
from cgos_server.lab.gor.report import compared
from cgos_server.lab.report import Report
from cgos_server.lab.running import Work


@click.command(short_help="European Go ratings before 2021, value by value.")
@click.option(
    "--own",
    "owns",
    type=click.FloatRange(100.0, 2700.0),
    multiple=True,
    default=(700.0, 1400.0, 2200.0),
    show_default=True,
    help="Rating of the player whose curves are computed, GoR points; may be repeated.",
)
@click.option(
    "--versions",
    type=click.IntRange(4, 300),
    default=32,
    show_default=True,
    help="Engines in the pool whose inflation is measured; an even number.",
)
@click.option(
    "--rounds", type=click.IntRange(1, 1_000_000), default=200, show_default=True, help="That this pool plays."
)
@click.option(
    "--replicates",
    type=click.IntRange(1, 1_000_000),
    default=8,
    show_default=True,
    help="Pools by each matchmaker, with and without epsilon.",
)
@experiment("pools")
def gor(work: Work, owns: tuple[float, ...], versions: int, rounds: int, replicates: int) -> Report:
    """European Go ratings before 2021: expectancy, con, expected change, entropy pairing, inflation.

    T. Vuorinen's thesis of 2010, value by value: table 2.1 (con), figure 2.1 (expectancy), figure 2.2 (the expected
    total change of a game, which turns out to be what epsilon puts into a pool, and where it is largest), tables 2.2
    and 2.3 (six players and their best round by entropy) with what is misprinted in them. At last a simulated pool
    of engines of fixed strength: how its mean rating rises by each pairing.
    """
    if versions % 2:
        raise Invalid(Code.LAB, f"--versions is {versions}, but everybody plays in every round. Take an even number.")
    pool = Pool(versions=versions, rounds=rounds, replicates=replicates)
    return compared(tuple(dict.fromkeys(owns)), pool, work)
