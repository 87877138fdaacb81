"""Chapter 7 of Vuorinen (2010): the total error of McMahon, weighted, GoDraw, EPM and AccelRat on drawn fields.

The source's fields and results are not published, nor is its algorithm of relative strengths, so that nothing but
orders can be compared. Must not know: how a system pairs, terminals.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from cgos_server.lab.ratings.pools import generator
from cgos_server.lab.report import Cell, Chart, Column, Report, Table, line_of, mean_of
from cgos_server.lab.running import Work, carry_out
from cgos_server.lab.thesis.fields import chances_of, field_of
from cgos_server.tournaments.base import Event, OptionValue
from cgos_server.tournaments.registry import system
from cgos_server.tournaments.simulation.one_event import play
from cgos_server.tournaments.standings.total_error import TotalError, relative_strengths, total_error
from cgos_server.tournaments.systems.from_starts import NO_BAR

SYSTEMS: Final[Mapping[str, Mapping[str, OptionValue]]] = MappingProxyType(
    {"mcmahon": {}, "weighted": {}, "godraw": {}, "epm": {}, "accelrat": {"update": "gor"}}
)
"""Word -> options that are not the system's defaults."""

UNBARRED: Final = ("accelrat",)
"""Systems without starting points."""

SIZES: Final = (34, 64, 128, 250, 712)
ROUNDS: Final = (5, 10)

CLEAR: Final = 2.0
"""Standard errors by which the difference of two systems, on the same fields, is to be above 0 to be called one."""


class Fields(Struct, frozen=True, kw_only=True):
    """What is simulated.

    :ivar events: by each system, of each size and number of rounds; the fields of a size are the same for all of them
    :ivar bar: of all systems with starting points
    """

    sizes: tuple[int, ...] = SIZES
    rounds: tuple[int, ...] = ROUNDS
    events: int = 10
    bar: str = NO_BAR


class Task(Struct, frozen=True, kw_only=True):
    """One event."""

    system: str
    size: int
    rounds: int
    bar: str
    replicate: int
    seed: int


class Errors(Struct, frozen=True, kw_only=True):
    """Of one event.

    :ivar relative: by the strengths that its own results show, natural-log odds
    :ivar true: root mean square difference of a game by true strengths, GoR points
    """

    relative: TotalError
    true: float


ErrorsOf = dict[tuple[int, int, str], list[Errors]]
"""By players, rounds and system: of each event."""


def total_errors(fields: Fields, work: Work) -> Report:
    """The errors of all systems; all of them meet the same fields.

    :raises Refused: where a system cannot take them
    """
    errors_of: ErrorsOf = {
        (size, rounds, word): [] for size in fields.sizes for rounds in fields.rounds for word in SYSTEMS
    }
    interrupted = carry_out(
        done,
        _tasks(fields, work.seed),
        lambda task, answer: errors_of[task.size, task.rounds, task.system].append(answer),
        work,
        everything=fields.events * len(SYSTEMS) * sum(fields.sizes) * sum(fields.rounds),
        size=lambda task: task.size * task.rounds,
    )
    return Report(
        tables=(_errors(fields, errors_of), _orders(fields, errors_of), _by_size(fields, errors_of)),
        pictures=tuple(_pictures(fields, errors_of)),
        interrupted=interrupted,
    )


def done(task: Task) -> Errors:
    """What came of one event."""
    rng = generator(task.seed, "thesis", task.size, task.replicate)
    field = field_of(task.size, rng)
    options = dict(SYSTEMS[task.system])
    if task.system not in UNBARRED and task.bar != NO_BAR:
        options["bar"] = task.bar
    event = Event(
        system=task.system,
        entrants=field.entrants,
        options=options,
        planned=task.rounds,
        seed=int(rng.integers(2**53)),
    )
    event = play(system(task.system, options), event, chances_of(field))
    true = total_error(event, dict(enumerate(field.strengths.tolist(), 1)))
    return Errors(relative=total_error(event, relative_strengths(event)), true=true.rms_per_game)


def _tasks(fields: Fields, seed: int) -> Iterator[Task]:
    for replicate in range(fields.events):
        for size in fields.sizes:
            for rounds in fields.rounds:
                for word in SYSTEMS:
                    yield Task(system=word, size=size, rounds=rounds, bar=fields.bar, replicate=replicate, seed=seed)


_READINGS: Final = MappingProxyType(
    {
        "7.1 as printed": "e_total",
        "7.1, factor inside the root": "inside_root_reading",
        "root mean square of a game": "rms_per_game",
    }
)


def _values(errors: Sequence[Errors], reading: str) -> list[float]:
    return [getattr(each.relative, reading) for each in errors]


def _errors(fields: Fields, errors_of: ErrorsOf) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for (size, rounds, word), errors in errors_of.items():
        if errors:
            means = [mean_of(_values(errors, reading)) for reading in _READINGS.values()]
            rows.append((size, rounds, word, *means, mean_of([each.true for each in errors])))
    return Table(
        key="errors",
        title=f"Total error by relative strengths (reconstructed), {fields.events} drawn fields of each size",
        columns=(
            Column(name="players"),
            Column(name="rounds"),
            Column(name="system"),
            *(Column(name=name, digits=4) for name in _READINGS),
            Column(name="by true strengths, points", digits=1),
        ),
        rows=tuple(rows),
    )


def _orders(fields: Fields, errors_of: ErrorsOf) -> Table:
    """Systems by their errors; between neighbors in the order stands whether they are clearly apart."""
    rows = []
    for size in fields.sizes:
        for rounds in fields.rounds:
            each = {word: errors_of[size, rounds, word] for word in SYSTEMS}
            shortest = min(map(len, each.values()))
            if shortest:
                relative = {word: _values(errors[:shortest], "rms_per_game") for word, errors in each.items()}
                true = {word: [one.true for one in errors[:shortest]] for word, errors in each.items()}
                rows.append((size, rounds, _order(relative), _order(true)))
    return Table(
        key="orders",
        title=f"Systems, the smallest error first; < : on the same fields apart by more than {CLEAR:g} standard errors",
        columns=(
            Column(name="players"),
            Column(name="rounds"),
            Column(name="by relative strengths"),
            Column(name="by true strengths"),
        ),
        rows=tuple(rows),
    )


def _order(values: Mapping[str, Sequence[float]]) -> str:
    words = sorted(values, key=lambda word: math.fsum(values[word]))
    parts = [words[0]]
    for one, other in itertools.pairwise(words):
        apart = mean_of([b - a for a, b in zip(values[one], values[other], strict=True)])
        clear = apart.error is not None and apart.mean > CLEAR * apart.error
        parts += ["<" if clear else "~", other]
    return " ".join(parts)


def _by_size(fields: Fields, errors_of: ErrorsOf) -> Table:
    """What each reading makes of a larger field."""
    small, large = min(fields.sizes), max(fields.sizes)
    rows: list[tuple[Cell, ...]] = []
    for rounds in fields.rounds:
        for word in SYSTEMS:
            low, high = errors_of[small, rounds, word], errors_of[large, rounds, word]
            if low and high and small < large:
                shares = [
                    mean_of(_values(high, reading)).mean / mean_of(_values(low, reading)).mean
                    for reading in _READINGS.values()
                ]
                rows.append((rounds, word, *shares, math.sqrt(small / large)))
    return Table(
        key="by-size",
        title=f"The error of {large} players over that of {small}; the square root is what the printed formula adds",
        columns=(
            Column(name="rounds"),
            Column(name="system"),
            *(Column(name=name) for name in _READINGS),
            Column(name=f"sqrt({small}/{large})"),
        ),
        rows=tuple(rows),
    )


def _pictures(fields: Fields, errors_of: ErrorsOf) -> Iterator[Chart]:
    if not all(errors_of.values()):
        return
    sizes = tuple(map(float, fields.sizes))
    for name, reading in _READINGS.items():
        for rounds in fields.rounds:
            lines = tuple(
                line_of(
                    word,
                    sizes,
                    [mean_of(_values(errors_of[size, rounds, word], reading)) for size in fields.sizes],
                    errors=1.0,
                )
                for word in SYSTEMS
            )
            yield Chart(
                key=f"{reading}-{rounds}",
                title=f"{name}, {rounds} rounds",
                x_label="players",
                y_label="total error",
                lines=tuple(lines),
                log_x=True,
            )
