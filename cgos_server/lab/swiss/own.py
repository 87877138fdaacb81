"""An experiment of one's own: any systems in fields of any size and strength, every measure of each.

Must not know: how a tournament is simulated, command lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from cgos_protocol.errors import Code, Invalid
from cgos_server.lab.report import Chart, Column, Report, Table
from cgos_server.lab.running import Work
from cgos_server.lab.swiss.bbp import BbpPairings
from cgos_server.lab.swiss.studies import about, program
from cgos_server.lab.swiss.sweeps import MEASURES, Contestant, line_through
from cgos_server.lab.tournaments import Asked, Series, run_all
from cgos_server.tournaments.base import OptionValue
from cgos_server.tournaments.registry import options_of
from cgos_server.tournaments.simulation.one_event import Model, Plan, Shape, check

ABREAST: Final = 4
"""So many systems stand side by side; more are tables each."""

SHARES: Final = tuple(name for name, column in MEASURES.items() if column.digits == 4)
COUNTS: Final = tuple(name for name in MEASURES if name not in SHARES)

PICTURES: Final = ("kendall", "float_pairs", "largest_color_difference")

NOTE: Final = (
    "A player's rating, which is all that a system sees, is the true strength and normal noise with a standard "
    "deviation of 150 - s/20 Elo at strength s, which was fitted to table 4 of Sauer, Cseh & Lenzner (2022); games are "
    "decided by the strengths."
)


class Own(Struct, frozen=True, kw_only=True):
    """What is simulated by each system; see :class:`cgos_server.tournaments.simulation.one_event.Plan`.

    :ivar options: each of those systems that have it
    """

    systems: tuple[str, ...]
    options: Mapping[str, OptionValue]
    players: int
    rounds: int | None = None
    low: float = 1000.0
    high: float = 1800.0
    model: Model = "milvang"
    shape: Shape = "uniform"
    differences: bool = False


def report(own: Own, events: int, bbp: BbpPairings | None, work: Work) -> Report:
    """Every measure of every system.

    :raises Refused: where no system has one of the options, or an event cannot be
    """
    contestants = [Contestant(label=word, system=word) for word in own.systems]
    if bbp is not None:
        contestants.append(program(bbp))
    if not contestants:
        raise Invalid(Code.LAB, "There is no system to simulate. Name some by --system.")
    given = _given(own)
    asked = [
        Asked(
            plan=_plan(own, each.system, {} if each.by is not None else given[each.system]),
            tournaments=events,
            by=each.by,
        )
        for each in contestants
    ]
    for each in asked:
        check(each.plan)
    runs = run_all(asked, work)
    done = [(each.label, series) for each, series in zip(contestants, runs.series, strict=True) if series.tournaments]
    return Report(
        tables=tuple(_tables(own, done)),
        pictures=tuple(_picture(own, done, measure) for measure in PICTURES if done),
        notes=(NOTE, *([about(bbp)] if bbp is not None else [])),
        interrupted=runs.interrupted,
    )


def _given(own: Own) -> dict[str, dict[str, OptionValue]]:
    """The options of each system."""
    given: dict[str, dict[str, OptionValue]] = {name: {} for name in own.systems}
    for key, value in own.options.items():
        having = [name for name in given if key in options_of(name)]
        if not having:
            choices = ", ".join(dict.fromkeys(word for name in given for word in options_of(name)))
            raise Invalid(
                Code.TOURNAMENT_OPTION,
                f"No system asked for has an option {key!r}. Choose from: {choices or 'they have none'}.",
            )
        for name in having:
            given[name][key] = value
    return given


def _plan(own: Own, system: str, options: dict[str, OptionValue]) -> Plan:
    return Plan(
        system=system,
        players=own.players,
        rounds=own.rounds,
        low=own.low,
        high=own.high,
        options=options,
        model=own.model,
        shape=own.shape,
        differences=own.differences,
    )


def _tables(own: Own, done: Sequence[tuple[str, Series]]) -> list[Table]:
    side_by_side = [done] if len(done) <= ABREAST else [[one] for one in done]
    made = []
    for some in side_by_side:
        counts = sorted({series.tournaments for _, series in some}, reverse=True)
        title = f"{own.players} players, strengths {own.low:g} to {own.high:g}, "
        title += " and ".join(f"{count} events" for count in counts)
        for key, measures, digits in (("measures", SHARES, 4), ("counts", COUNTS, 2)):
            rows = [(MEASURES[name].name, *(series.mean(name) for _, series in some)) for name in measures]
            made.append(
                Table(
                    key=key if len(side_by_side) == 1 else f"{key}-{some[0][0]}",
                    title=title,
                    columns=(Column(name="measure"), *(Column(name=label, digits=digits) for label, _ in some)),
                    rows=tuple(row for row in rows if any(mean is not None for mean in row[1:])),
                )
            )
    return [table for table in made if table.rows]


def _picture(own: Own, done: Sequence[tuple[str, Series]], measure: str) -> Chart:
    return Chart(
        key=measure,
        title=f"{own.players} players, strengths {own.low:g} to {own.high:g}",
        x_label="system",
        y_label=MEASURES[measure].name,
        lines=(
            line_through(
                MEASURES[measure].name,
                [(float(at), series.mean(measure)) for at, (_, series) in enumerate(done)],
                points=True,
            ),
        ),
        names=tuple(label for label, _ in done),
    )
