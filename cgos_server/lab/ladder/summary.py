"""What the replicates of one row come to: curves over all of them, where these reach a goal, and standard errors.

Must not know: how a replicate is played, how figures are written.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import takewhile

from msgspec import Struct
from msgspec.structs import replace

from cgos_server.lab.ladder.course import BINS, Calibration, Course, Curve, Look
from cgos_server.lab.ladder.play import Figures
from cgos_server.lab.ladder.replicate import Outcome, Row
from cgos_server.lab.ratings.runs import rms
from cgos_server.lab.report import Mean, mean_of

ENOUGH = 5
"""Newcomers of whom an error is told."""


class Series(Struct, frozen=True):
    """:ivar outcomes: of the replicates that are done, in their order; at least one"""

    pool: str
    row: Row
    outcomes: tuple[Outcome, ...]

    @property
    def courses(self) -> list[Course]:
        """Empty where nothing was learned."""
        return [outcome.course for outcome in self.outcomes if outcome.course is not None]

    @property
    def looks(self) -> list[list[Look]]:
        """Of each moment that all replicates have seen, the looks of all of them."""
        return [list(each) for each in zip(*(course.looks for course in self.courses), strict=False)]

    def of_play(self, figure: Callable[[Figures], float | None]) -> Mean | None:
        """A mean; None where a replicate has no such figure."""
        return _mean([figure(outcome.play) for outcome in self.outcomes])

    @property
    def ends(self) -> list[Look]:
        """The last look of each replicate."""
        return [course.looks[-1] for course in self.courses]

    def carried(self) -> list[list[Look]]:
        """Of each moment that any replicate has seen, the looks of all: one that has ended, because its ratings were
        true enough, stays as it was, with as many games an hour as before."""
        courses = self.courses
        most = max((course.looks for course in courses), key=len, default=())
        return [[_carried(course.looks, at, longest.hours) for course in courses] for at, longest in enumerate(most)]

    def at_end(self, figure: Callable[[Look], float | None]) -> Mean | None:
        """A mean over the ends; None where a replicate has no such figure."""
        return _mean([figure(look) for look in self.ends])


def _carried(looks: Sequence[Look], at: int, hours: float) -> Look:
    last = looks[min(at, len(looks) - 1)]
    return last if at < len(looks) else replace(last, hours=hours, games=last.games * hours / last.hours)


def _mean(values: Sequence[float | None]) -> Mean | None:
    known = [value for value in values if value is not None]
    return mean_of(known) if known and len(known) == len(values) else None


def root(squares: Sequence[float]) -> Mean:
    """Root of the mean square, from one mean square for each replicate."""
    value, error = rms(squares)
    return Mean(value, None if math.isnan(error) else error)


def reached(times: Sequence[float], errors: Sequence[float], goal: float) -> float | None:
    """When an error that was measured at some times comes to be `goal` at most; None: it does not.

    Straight lines in the logarithms between them, from time 0 in the logarithm of the error alone. The first time
    stands for anything before.
    """
    place = next((at for at, error in enumerate(errors) if error <= goal), None)
    if not place:
        return None if place is None else times[0]
    (t0, t1), (e0, e1) = times[place - 1 : place + 1], errors[place - 1 : place + 1]
    if e1 <= 0.0:
        return t1
    part = (math.log(e0) - math.log(goal)) / (math.log(e0) - math.log(e1))
    return t1 * part if t0 <= 0.0 else math.exp(math.log(t0) + part * (math.log(t1) - math.log(t0)))


def jackknife(statistic: Callable[[Sequence[int]], float | None], number: int) -> Mean | None:
    """A statistic of all replicates, by their places, with its standard error (Quenouille 1956, Tukey 1958): None
    where it is not known of all but one."""
    value = statistic(range(number))
    if value is None:
        return None
    without = [statistic([each for each in range(number) if each != left]) for left in range(number)]
    known = [each for each in without if each is not None]
    if number < 2 or len(known) < number:
        return Mean(value)
    mean = math.fsum(known) / number
    return Mean(value, math.sqrt((number - 1) / number * math.fsum((each - mean) ** 2 for each in known)))


def until(series: Series, goal: float, time: Callable[[Look], float], square: Callable[[Look], float]) -> Mean | None:
    """When the RMSE of the whole pool, over all replicates, comes to be `goal` Elo.

    :param time: hours, or games of a version
    :param square: mean square error
    """
    moments = series.carried()

    def of(which: Sequence[int]) -> float | None:
        if not which:
            return None
        times = [math.fsum(time(looks[each]) for each in which) / len(which) for looks in moments]
        errors = [math.sqrt(math.fsum(square(looks[each]) for each in which) / len(which)) for looks in moments]
        return reached(times, errors, goal)

    return jackknife(of, len(series.outcomes))


def newcomers_until(series: Series, goal: float, curve: Callable[[Course], Curve], step: float = 1.0) -> Mean | None:
    """When the RMSE of newcomers, over all replicates, comes to be `goal` Elo, as long as there are ENOUGH of them.

    :param step: from one point of the curve to the next
    """
    curves = [curve(course) for course in series.courses]

    def of(which: Sequence[int]) -> float | None:
        chosen = [curves[each] for each in which]
        counts = [sum(each) for each in zip(*(own.counts for own in chosen), strict=False)]
        squares = [math.fsum(each) for each in zip(*(own.squares for own in chosen), strict=False)]
        known = list(takewhile(lambda point: point[1] >= ENOUGH, zip(squares, counts, strict=True)))
        errors = [math.sqrt(square / count) for square, count in known]
        place = next((at for at, error in enumerate(errors, 1) if error <= goal), None)
        return None if place is None else step * place

    return jackknife(of, len(curves)) if curves else None


def calibration(series: Series) -> Calibration | None:
    """Of all games of all replicates; None where nothing was said."""
    each = [course.calibration for course in series.courses]
    if not sum(sum(own.games) for own in each):
        return None
    return Calibration(
        games=tuple(sum(own.games[at] for own in each) for at in range(BINS)),
        said=tuple(math.fsum(own.said[at] for own in each) for at in range(BINS)),
        scored=tuple(math.fsum(own.scored[at] for own in each) for at in range(BINS)),
        loss=math.fsum(own.loss for own in each),
    )


def miscalibration(of: Calibration) -> float:
    """How far what was expected is from what came, on the average over games, from 0: by bins (expected calibration
    error)."""
    apart = math.fsum(abs(said - scored) for said, scored in zip(of.said, of.scored, strict=True))
    return apart / sum(of.games)


def log_loss(series: Series) -> Mean | None:
    """Nats a game."""
    known = [(own.loss, sum(own.games)) for own in (course.calibration for course in series.courses)]
    values = [loss / games for loss, games in known if games]
    return mean_of(values) if values else None
