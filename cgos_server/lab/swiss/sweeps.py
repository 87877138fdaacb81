"""Systems side by side while one thing changes: what is simulated for that, and its tables and pictures.

Decides how many events a cell gets, and that what several sweeps have in common is simulated once. Must not know: which
sweeps there are, what was published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from cgos_server.lab.report import Chart, Column, Line, Mean, Table, line_of
from cgos_server.lab.running import Work
from cgos_server.lab.tournaments import Asked, Series, run_all
from cgos_server.tournaments.base import OptionValue, System
from cgos_server.tournaments.registry import options_of
from cgos_server.tournaments.simulation.one_event import Plan, Shape

PLAYERS: Final = 32
ROUNDS: Final = 7

FEWER: Final = 10
"""Systems whose events are simulated one by one get a tenth of the events."""

LEAST: Final = 2
"""Events a cell, so that there are standard errors."""

MEASURES: Final[Mapping[str, Column]] = MappingProxyType(
    {
        "kendall": Column(name="Kendall's tau", digits=4),
        "spearman": Column(name="Spearman's rho", digits=4),
        "ndcg": Column(name="NDCG", digits=4),
        "float_pairs": Column(name="float pairs", digits=2),
        "color_difference": Column(name="color difference of a round", digits=2),
        "largest_color_difference": Column(name="largest color difference", digits=2),
        "unforeseen": Column(name="unforeseen results", digits=4),
        "draws": Column(name="draws", digits=4),
        "best_first": Column(name="strongest ranked first", digits=4),
        "rounds": Column(name="rounds", digits=2),
        "games": Column(name="games", digits=2),
        "strength_difference": Column(name="strength difference", digits=4),
    }
)
"""By the names of :class:`cgos_server.tournaments.simulation.one_event.Measures`."""


class Contestant(Struct, frozen=True, kw_only=True):
    """A system in a sweep.

    :ivar label: what its column is called
    :ivar system: word of the registry
    :ivar by: who pairs in its place; None: it does
    :ivar to_the_end: it goes on until it is over by itself, whatever the number of rounds
    """

    label: str
    system: str
    by: System | None = None
    to_the_end: bool = False


class Setting(Struct, frozen=True, kw_only=True):
    """What all contestants of a sweep meet.

    :ivar x: where it is on the axis of a picture; None: settings are side by side
    :ivar beta: of those systems that have that option; None: their default, 2
    """

    label: str
    x: float | None = None
    players: int = PLAYERS
    rounds: int = ROUNDS
    low: float = 1400.0
    high: float = 2200.0
    shape: Shape = "uniform"
    beta: int | None = None


class Sweep(Struct, frozen=True, kw_only=True):
    """:ivar key: of its tables and pictures, before the measure
    :ivar varied: what changes from setting to setting, with its unit
    :ivar measures: keys of :data:`MEASURES`
    """

    key: str
    title: str
    varied: str
    settings: tuple[Setting, ...]
    contestants: tuple[Contestant, ...]
    measures: tuple[str, ...]
    log_x: bool = False


class Swept(Struct, frozen=True):
    """What came of a sweep.

    :ivar grid: by setting, then by contestant
    """

    sweep: Sweep
    grid: tuple[tuple[Series, ...], ...]

    def mean(self, setting: int, label: str, measure: str) -> Mean | None:
        """Of the contestant with that label; None: nothing was measured."""
        at = [each.label for each in self.sweep.contestants].index(label)
        return self.grid[setting][at].mean(measure)


def carried_out(sweeps: Sequence[Sweep], events: int, work: Work) -> tuple[list[Swept], bool]:
    """What came of all of them, and whether they were interrupted.

    :param events: a cell with 32 players or fewer, of systems that are simulated many at a time
    :raises Refused: where an event cannot be
    """
    wanted = [
        [asked_for(setting, each, events) for setting in sweep.settings for each in sweep.contestants]
        for sweep in sweeps
    ]
    different: list[Asked] = []
    for asked in (one for each in wanted for one in each):
        if asked not in different:
            different.append(asked)
    runs = run_all(different, work)
    swept = []
    for sweep, each in zip(sweeps, wanted, strict=True):
        series = [runs.series[different.index(asked)] for asked in each]
        width = len(sweep.contestants)
        swept.append(Swept(sweep, tuple(tuple(series[at : at + width]) for at in range(0, len(series), width))))
    return swept, runs.interrupted


def asked_for(setting: Setting, contestant: Contestant, events: int) -> Asked:
    """The events of one cell. Larger fields get fewer, by the square of their size: each says more and takes longer."""
    options: dict[str, OptionValue] = {}
    if setting.beta is not None and "beta" in options_of(contestant.system):
        options["beta"] = setting.beta
    plan = Plan(
        system=contestant.system,
        players=setting.players,
        rounds=None if contestant.to_the_end else setting.rounds,
        low=setting.low,
        high=setting.high,
        shape=setting.shape,
        options=options,
    )
    whole = Asked(plan=plan, tournaments=events, by=contestant.by)
    share = min(1.0, (PLAYERS / setting.players) ** 2) / (1 if whole.is_fast else FEWER)
    return Asked(plan=plan, tournaments=max(LEAST, round(events * share)), by=contestant.by)


def tables(swept: Swept) -> list[Table]:
    """A table of each measure, systems side by side; of a single setting one table of all measures, system by
    system."""
    sweep = swept.sweep
    if len(sweep.settings) == 1:
        return [_by_system(swept)]
    return [
        Table(
            key=f"{sweep.key}-{measure}",
            title=f"{sweep.title}: {MEASURES[measure].name} ({_events(swept)})",
            columns=(
                Column(name=sweep.varied),
                *(Column(name=each.label, digits=MEASURES[measure].digits) for each in sweep.contestants),
            ),
            rows=tuple(
                (setting.label, *(series.mean(measure) for series in row))
                for setting, row in zip(sweep.settings, swept.grid, strict=True)
            ),
        )
        for measure in sweep.measures
    ]


def pictures(swept: Swept) -> list[Chart]:
    """A picture of each measure; of a single setting systems are side by side."""
    return [_picture(swept, measure) for measure in swept.sweep.measures]


def _by_system(swept: Swept) -> Table:
    sweep = swept.sweep
    return Table(
        key=sweep.key,
        title=sweep.title,
        columns=(Column(name="system"), Column(name="events"), *(MEASURES[each] for each in sweep.measures)),
        rows=tuple(
            (each.label, series.tournaments, *(series.mean(measure) for measure in sweep.measures))
            for each, series in zip(sweep.contestants, swept.grid[0], strict=True)
        ),
    )


def _events(swept: Swept) -> str:
    """How many a cell has, in words."""
    counts = sorted({series.tournaments for row in swept.grid for series in row})
    return f"{counts[0]} events a cell" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} events a cell"


def _picture(swept: Swept, measure: str) -> Chart:
    sweep = swept.sweep
    if len(sweep.settings) == 1:
        points = [(float(at), series.mean(measure)) for at, series in enumerate(swept.grid[0])]
        lines = [line_through(sweep.title, points, points=True)]
        names = [each.label for each in sweep.contestants]
    else:
        numbered = all(setting.x is not None for setting in sweep.settings)
        places = [float(at) if setting.x is None else setting.x for at, setting in enumerate(sweep.settings)]
        lines = [
            line_through(
                each.label,
                [(x, row[at].mean(measure)) for x, row in zip(places, swept.grid, strict=True)],
                points=not numbered,
            )
            for at, each in enumerate(sweep.contestants)
        ]
        names = [] if numbered else [setting.label for setting in sweep.settings]
    return Chart(
        key=f"{sweep.key}-{measure}",
        title=sweep.title,
        x_label="system" if len(sweep.settings) == 1 else sweep.varied,
        y_label=MEASURES[measure].name,
        lines=tuple(line for line in lines if line.x),
        log_x=sweep.log_x,
        names=tuple(names),
    )


def line_through(name: str, places: Sequence[tuple[float, Mean | None]], points: bool) -> Line:
    """Means with two standard errors to either side, where there are means."""
    known = [(x, mean) for x, mean in places if mean is not None]
    return line_of(name, [x for x, _ in known], [mean for _, mean in known], errors=2.0, points=points)
