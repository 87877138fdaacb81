"""Tables 4 and 5 of the paper, simulated again and held against what was printed and against a long run of ours.

The source: P. Sauer, A. Cseh & P. Lenzner, "Improving ranking quality and fairness in Swiss-system chess tournaments"
(EC 2022; J. Quant. Anal. Sports 20, 2024). Table 4 has means of Kendall's tau, from -1 to 1, between the final ranking
and the true one, table 5 has medians. Weights and noise that are lost are reconstructed in
:func:`cgos_server.tournaments.simulation.milvang.rating_sd` and :class:`cgos_server.tournaments.systems.mwm.Mwm`. Must
not know: how a tournament is simulated, command lines.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from cgos_server.lab.report import Chart, Check, Column, Line, Mean, Table, close
from cgos_server.lab.swiss.sweeps import Setting, Swept, line_through
from cgos_server.lab.tournaments import Series

RANGES: Final = ((1000, 1800), (1400, 2200), (1800, 2600))
"""Of true strengths, in Elo."""

SETTINGS: Final = tuple(Setting(label=f"{low}-{high}", low=float(low), high=float(high)) for low, high in RANGES)

PUBLISHED: Final[Mapping[str, tuple[float, float, float]]] = MappingProxyType(
    {"burstein": (0.624, 0.671, 0.721), "random2": (0.607, 0.654, 0.706), "dutch": (0.588, 0.634, 0.686)}
)
"""Table 4. By system, the best first: means in these ranges."""

UNPUBLISHED: Final = ("random", "monrad")
"""Of which the source gives no numbers."""

MEDIANS: Final[Mapping[str, float]] = MappingProxyType({"dutch": 0.590, "random2": 0.610})
"""Of table 5 two numbers are known here, and which cells they are of is inferred: their means say so. They are of the
first range."""

ALLOWED: Final = 0.003
ALLOWED_MEDIAN: Final = 0.006
FULL: Final = 20_000
"""Events a cell from which on nothing else is allowed; with fewer, :data:`ERRORS` standard errors of ours besides."""

ERRORS: Final = 3.0
REGRESSION: Final = 4.0
"""Standard errors of the difference that two runs of ours may be apart."""

MEDIAN_ERROR: Final = math.sqrt(math.pi / 2.0)
"""Standard error of a median over that of the mean, of normal numbers, which taus of 32 players nearly are."""

OURS_FROM: Final = "cgos-server lab swiss --seed 1 --events 20000"
OURS: Final[Mapping[str, tuple[tuple[float, float], ...]]] = MappingProxyType(
    {
        "burstein": ((0.6246, 0.0005), (0.6713, 0.0004), (0.7226, 0.0004)),
        "random2": ((0.6082, 0.0005), (0.6554, 0.0004), (0.7074, 0.0004)),
        "dutch": ((0.5887, 0.0005), (0.6343, 0.0004), (0.6862, 0.0004)),
        "random": ((0.5545, 0.0005), (0.6052, 0.0005), (0.6627, 0.0004)),
        "monrad": ((0.4406, 0.0006), (0.4855, 0.0006), (0.5354, 0.0005)),
        "tcec": ((0.4932, 0.0018), (0.5478, 0.0016), (0.5980, 0.0014)),
        "mcmahon": ((0.7653, 0.0010), (0.7914, 0.0009), (0.8207, 0.0008)),
        "swiss": ((0.5754, 0.0016), (0.6226, 0.0014), (0.6754, 0.0013)),
        "weighted": ((0.7641, 0.0010), (0.7916, 0.0009), (0.8226, 0.0008)),
    }
)
"""Means and their standard errors by system and range, from :data:`OURS_FROM`. A change of the server's code that moves
them is found by these; they are not published by anybody else."""

NOTES: Final = (
    "Random and Monrad have no published numbers, nor have the systems beside.",
    "Of table 5 only two medians are known here, 0.590 and 0.610. Their cells are inferred: by their means only Dutch "
    "(.588) and Random2 (.607) at 1000-1800 can have them. Without ties tau moves in steps of 4/992 with 32 players, "
    "so that neither can be a median: there are ties, or figures were smoothed or rounded to 0.01; which is not known.",
    f"Our own long run is `{OURS_FROM}`. It is not published: where a mean is not its mean, the code has changed.",
)


def tables(swept: Swept) -> list[Table]:
    """Table 4 and table 5, each beside what was printed."""
    cells = list(_cells(swept))
    title = swept.sweep.title
    return [
        Table(
            key="table4",
            title=f"Table 4, mean of Kendall's tau of the final ranking: {title}",
            columns=(
                Column(name="strengths"),
                Column(name="system"),
                Column(name="events"),
                Column(name="Kendall's tau", digits=4),
                Column(name="published"),
                Column(name="difference", digits=4, signed=True),
                Column(name="in errors", digits=1, signed=True),
            ),
            rows=tuple(
                (SETTINGS[at].label, label, series.tournaments, mean, _published(label, at), *_apart(mean, label, at))
                for at, label, series in cells
                for mean in [series.mean("kendall")]
            ),
        ),
        Table(
            key="table5",
            title=f"Table 5, median of Kendall's tau of the final ranking: {title}",
            columns=(
                Column(name="strengths"),
                Column(name="system"),
                Column(name="events"),
                Column(name="median", digits=4),
                Column(name="published, cell inferred"),
            ),
            rows=tuple(
                (SETTINGS[at].label, label, series.tournaments, _median(series), None if at else MEDIANS.get(label))
                for at, label, series in cells
            ),
        ),
    ]


def pictures(swept: Swept) -> list[Chart]:
    """Means of each system by range, with two standard errors to either side; published ones as dashed lines."""
    lines = [
        line_through(
            each.label,
            [(float(at), row[column].mean("kendall")) for at, row in enumerate(swept.grid)],
            points=True,
        )
        for column, each in enumerate(swept.sweep.contestants)
    ]
    places = tuple(map(float, range(len(RANGES))))
    lines += [Line(name=f"{word}, published", x=places, y=means, dashed=True) for word, means in PUBLISHED.items()]
    return [
        Chart(
            key="tables",
            title=swept.sweep.title,
            x_label="strengths",
            y_label="Kendall's tau",
            lines=tuple(line for line in lines if line.x),
            names=tuple(setting.label for setting in SETTINGS),
        )
    ]


def checks(swept: Swept) -> list[Check]:
    """Means, medians and orders of the paper, and our long run."""
    return [*_means(swept), *_medians(swept), *_orders(swept), *_regressions(swept)]


def float_checks(swept: Swept) -> list[Check]:
    """Of the three systems with numbers, Burstein has the fewest float pairs, as far as errors can tell."""
    made = []
    for at, setting in enumerate(SETTINGS):
        burstein = swept.mean(at, "burstein", "float_pairs")
        for word in ("random2", "dutch"):
            other = swept.mean(at, word, "float_pairs")
            if burstein is None or other is None:
                continue
            error = math.hypot(burstein.error or 0.0, other.error or 0.0)
            made.append(
                Check(
                    claim=f"Burstein has no more float pairs than {word}, {setting.label}: the difference",
                    holds=burstein.mean - other.mean <= ERRORS * error,
                    measured=Mean(burstein.mean - other.mean, error),
                    allowed=ERRORS * error,
                )
            )
    return made


def _cells(swept: Swept) -> Iterator[tuple[int, str, Series]]:
    """(Index of the range, label, what came of it), range by range."""
    for at, row in enumerate(swept.grid):
        for each, series in zip(swept.sweep.contestants, row, strict=True):
            yield at, each.label, series


def _published(label: str, at: int) -> float | None:
    return PUBLISHED[label][at] if label in PUBLISHED else None


def _apart(mean: Mean | None, label: str, at: int) -> tuple[float | None, float | None]:
    """How far from the published mean: as a number and in standard errors."""
    published = _published(label, at)
    if mean is None or published is None:
        return None, None
    return mean.mean - published, (mean.mean - published) / mean.error if mean.error else None


def _median(series: Series) -> float | None:
    return series.figure("kendall").median


def _errors(series: Series) -> float:
    return 0.0 if series.tournaments >= FULL else ERRORS


def _means(swept: Swept) -> Iterator[Check]:
    for at, label, series in _cells(swept):
        mean, published = series.mean("kendall"), _published(label, at)
        if mean is not None and published is not None:
            yield close(f"mean of {label}, {SETTINGS[at].label}", mean, published, ALLOWED, errors=_errors(series))


def _medians(swept: Swept) -> Iterator[Check]:
    for at, label, series in _cells(swept):
        median, figure = _median(series), series.figure("kendall")
        if at == 0 and label in MEDIANS and median is not None:
            measured = Mean(median, None if figure.error is None else MEDIAN_ERROR * figure.error)
            claim = f"median of {label}, {SETTINGS[at].label} (cell inferred)"
            yield close(claim, measured, MEDIANS[label], ALLOWED_MEDIAN, errors=_errors(series))


def _orders(swept: Swept) -> Iterator[Check]:
    for at, setting in enumerate(SETTINGS):
        means = [swept.mean(at, word, "kendall") for word in PUBLISHED]
        holds = all(
            one is not None and other is not None and one.mean > other.mean for one, other in itertools.pairwise(means)
        )
        yield Check(claim=f"{' > '.join(PUBLISHED)}, {setting.label}", holds=holds)


def _regressions(swept: Swept) -> Iterator[Check]:
    for at, label, series in _cells(swept):
        mean = series.mean("kendall")
        if mean is not None and label in OURS:
            ours, error = OURS[label][at]
            reach = REGRESSION * math.hypot(mean.error or 0.0, error)
            yield Check(
                claim=f"as our own long run (not published): {label}, {SETTINGS[at].label}, {ours:.4f}",
                holds=abs(mean.mean - ours) <= reach,
                measured=mean,
                allowed=reach,
            )
