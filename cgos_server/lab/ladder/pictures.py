"""The pictures of a ladder: errors by hours and by games, calibration, who waits how much.

Must not know: how a replicate is played, how pictures are drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cgos_server.lab.ladder.course import Look
from cgos_server.lab.ladder.kinds import KINDS
from cgos_server.lab.ladder.players import Population
from cgos_server.lab.ladder.summary import Series, calibration, root
from cgos_server.lab.ratings.pools import LIMIT_GAMES, LIMITS, POOLS
from cgos_server.lab.report import Chart, Line, line_of, mean_of


def pictures(series: Sequence[Series], population: Population) -> tuple[Chart, ...]:
    """Of each pool; those without lines are left out."""
    charts: list[Chart] = []
    for pool in dict.fromkeys(each.pool for each in series):
        its = [each for each in series if each.pool == pool]
        rated = [each for each in its if each.courses]
        charts += [
            _by_hours(pool, rated),
            _by_games(pool, rated, population),
            _calibration(pool, rated),
            _idle(pool, its),
        ]
    return tuple(chart for chart in charts if chart.lines)


def _by_hours(pool: str, rated: Sequence[Series]) -> Chart:
    return Chart(
        key=f"{pool}-hours",
        title=f"{pool}: error by hours",
        x_label="hours",
        y_label="RMSE, Elo",
        lines=_curves(rated, lambda look: look.hours),
        log_x=True,
        log_y=True,
    )


def _by_games(pool: str, rated: Sequence[Series], population: Population) -> Chart:
    lines, limit = _curves(rated, lambda look: look.games), KINDS[pool].limit
    if lines and limit is not None and population.versions == POOLS[limit].versions:
        most = max(max(line.x) for line in lines)
        known = [(float(games), float(rmse)) for games, rmse in zip(LIMIT_GAMES, LIMITS[limit], strict=True)]
        x, y = zip(*(each for each in known if each[0] <= 2.0 * most or each == known[0]), strict=True)
        lines += (Line(name="the best schedule there could be", x=x, y=y, dashed=True),)
    return Chart(
        key=f"{pool}-games",
        title=f"{pool}: error by games",
        x_label="games of a version",
        y_label="RMSE, Elo",
        lines=lines,
        log_x=True,
        log_y=True,
    )


def _curves(rated: Sequence[Series], x: Callable[[Look], float]) -> tuple[Line, ...]:
    """Of each row, and of the oracle that rates its games; the band is one standard error either way."""
    lines: list[Line] = []
    for each in rated:
        moments = [looks for looks in each.looks if mean_of([x(look) for look in looks]).mean > 0.0]
        if not moments:
            continue
        at = tuple(mean_of([x(look) for look in looks]).mean for looks in moments)
        own = [root([look.mse for look in looks]) for looks in moments]
        told = [root([look.told_mse for look in looks]) for looks in moments]
        lines.append(line_of(each.row.label, at, own, errors=1.0))
        name = f"{each.row.label}: oracle, same games"
        lines.append(Line(name=name, x=at, y=tuple(mean.mean for mean in told), dashed=True))
    return tuple(lines)


def _calibration(pool: str, rated: Sequence[Series]) -> Chart:
    lines = [Line(name="as expected", x=(0.0, 1.0), y=(0.0, 1.0), dashed=True)]
    for each in rated:
        of = calibration(each)
        if of is None:
            continue
        bins = [(n, said, scored) for n, said, scored in zip(of.games, of.said, of.scored, strict=True) if n]
        x, y = tuple(said / n for n, said, _ in bins), tuple(scored / n for n, _, scored in bins)
        lines.append(Line(name=each.row.label, x=x, y=y))
    return Chart(
        key=f"{pool}-calibration",
        title=f"{pool}: calibration",
        x_label="expected score of Black, by the ratings before the game",
        y_label="score",
        lines=tuple(lines) if len(lines) > 1 else (),
    )


def _idle(pool: str, series: Sequence[Series]) -> Chart:
    """By speed, in the order of versions: those who come later are among them in other places each time."""
    lines: list[Line] = []
    for each in series:
        number = min(len(outcome.play.idle_of) for outcome in each.outcomes)
        shares = [
            mean_of([outcome.play.idle_of[at * len(outcome.play.idle_of) // number] for outcome in each.outcomes]).mean
            for at in range(number)
        ]
        places = tuple(at / max(1, number - 1) for at in range(number))
        lines.append(Line(name=each.row.label, x=places, y=tuple(shares)))
    return Chart(
        key=f"{pool}-idle",
        title=f"{pool}: share of time without a game",
        x_label="versions by speed: 0 the fastest, 1 the slowest",
        y_label="idle share",
        lines=tuple(lines),
    )
