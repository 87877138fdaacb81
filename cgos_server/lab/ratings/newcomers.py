"""Newcomers, one at a time, among versions whose strength is known: how many games until a newcomer's is, too.

A newcomer finds its opponents by the permuted window, or by another matchmaker, in rounds in which all the others take
part, but only its own games count.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from cgos_server.core.rating.base import Z95
from cgos_server.lab.ratings.pools import Colors, Floats, Pool, anchors, generator, permuted_window, score2
from cgos_server.lab.ratings.runs import Driven, Meetings, rms, share

KNOWN_SD = 20.0
"""How exactly the others are known, Elo."""

LONG = 450
"""Rounds of games by which the others come to be known, where they are known by their results."""

LOGIT = np.log(10.0) / 400.0
"""Logits a point of Elo."""

GOALS = (100.0, 75.0, 50.0)
"""RMSE of newcomers: after how many games is it at most this?"""


def often(games: int) -> bool:
    """Whether a warm refit follows that game of the newcomer. On a server the others play too, so that there is one
    after every game: this is less. No cold ones: what is known of the pool hardly changes by one version."""
    return games <= 12 or (games <= 32 and games % 2 == 0) or games % 4 == 0


def newcomers_run(
    pool: Pool,
    seed: int,
    replicate: int,
    known: str,
    newcomers: int,
    games: int,
    systems: Sequence[tuple[str, str, Mapping[str, Any]]],
    reach: float | None = None,
    meet: Callable[[np.random.Generator], Meetings] | None = None,
) -> dict[str, Any]:
    """The first of `systems`, (label, name, options), drives the matchmaker.

    :param known: ``stated``: every established version enters with its strength plus N(0, KNOWN_SD), and with that sd;
        two of them are anchors, so that the scale is held (for systems that know no sd all are anchors). ``results``:
        it has played LONG games against the others, two of which are anchors, and nothing else is known
    :param reach: width of the window, in place of what follows from the ratings
    :param meet: makes another matchmaker, one for each newcomer
    :return: by label: ``mse`` and ``inside`` (share of 95 % intervals with the truth in them) after 1, 2, ... games,
        over the newcomers; ``established``: mean square error of the established versions
    """
    stream = functools.partial(generator, seed, pool.name, known)
    draw = stream("truth", replicate)
    truth, strengths = pool.draw(draw), pool.draw(stream("newcomers", replicate))
    strengths = np.resize(strengths, newcomers) if newcomers <= len(strengths) else draw.choice(strengths, newcomers)
    rng = stream("games", replicate)
    driven = {label: Driven(name, options) for label, name, options in systems}
    if known == "stated":
        _state(driven.values(), truth, rng)
    else:
        _establish(driven.values(), pool, truth, rng)
    saved = {label: rated.save() for label, rated in driven.items()}
    established = {label: float(np.mean((rated.ratings()[0] - truth) ** 2)) for label, rated in driven.items()}
    squares = {label: np.zeros((newcomers, games)) for label in driven}
    inside = {label: np.zeros((newcomers, games)) for label in driven}
    for number, strength in enumerate(strengths.tolist()):
        colors, new = Colors(rng), pool.versions
        meetings = None if meet is None else meet(rng)
        for label, system in driven.items():
            system.restore(saved[label])
            system.enter()
        for game in range(games):
            driver = next(iter(driven.values()))
            if meetings is None:
                first, second = colors.first(new, _opponent(rng, driver.ratings()[0], new, reach))
            else:
                first, second = _met(meetings, driver, new, colors)
            sign = 1.0 if first == new else -1.0
            score = score2(rng, pool, sign * (strength - float(truth[first + second - new])))
            for label, system in driven.items():
                system.game(first, second, score)
                if often(game + 1):
                    system.refit(cold=False)
                mean, lower, upper = system.rating(new)
                squares[label][number, game] = (mean - strength) ** 2
                inside[label][number, game] = lower <= strength <= upper
    return {
        "established": established,
        "at": {
            label: {"mse": squares[label].mean(axis=0).tolist(), "inside": inside[label].mean(axis=0).tolist()}
            for label in driven
        },
    }


def told_run(
    pool: Pool, seed: int, replicate: int, newcomers: int, games: int, reach: float | None = None
) -> dict[str, Any]:
    """What nobody can do better: the exact posterior of each newcomer, by an estimator that is told the pool's normal
    distribution and how well the others are known (KNOWN_SD), and that drives the matchmaker itself.

    :return: as :func:`newcomers_run`, for one system, ``told``
    """
    ((_, center, sd),) = pool.groups
    stream = functools.partial(generator, seed, pool.name, "told")
    truth = pool.draw(stream("truth", replicate))
    rng = stream("games", replicate)
    values = truth + rng.normal(0.0, KNOWN_SD, pool.versions)
    grid = np.arange(center - 6.0 * sd, center + 6.0 * sd, 10.0)
    # A logistic curve averaged over a normal opponent is nearly one of smaller slope (MacKay 1992).
    slope = LOGIT / np.sqrt(1.0 + np.pi / 8.0 * (KNOWN_SD * LOGIT) ** 2)
    squares, inside = np.zeros((newcomers, games)), np.zeros((newcomers, games))
    for number, strength in enumerate(rng.normal(center, sd, newcomers).tolist()):
        log_density, mean = -0.5 * ((grid - center) / sd) ** 2, center
        for game in range(games):
            opponent = _opponent(rng, np.append(values, mean), pool.versions, reach)
            won = score2(rng, pool, strength - float(truth[opponent])) == 2
            log_density -= np.logaddexp(0.0, (values[opponent] - grid) * slope * (1.0 if won else -1.0))
            weights = np.exp(log_density - log_density.max())
            weights /= weights.sum()
            mean = float(weights @ grid)
            spread = float(np.sqrt(weights @ (grid - mean) ** 2))
            squares[number, game] = (mean - strength) ** 2
            inside[number, game] = abs(mean - strength) <= Z95 * spread
    return {
        "established": {"told": float(np.mean((values - truth) ** 2))},
        "at": {"told": {"mse": squares.mean(axis=0).tolist(), "inside": inside.mean(axis=0).tolist()}},
    }


def _state(systems: Collection[Driven], truth: Floats, rng: np.random.Generator) -> None:
    """Everybody's strength is known to KNOWN_SD."""
    values = (truth + rng.normal(0.0, KNOWN_SD, len(truth))).tolist()
    for system in systems:
        for value in values:
            system.enter_known(value, KNOWN_SD)
        for number in anchors(truth):
            system.anchor(number, values[number], KNOWN_SD)
        system.refit_if_due()


def _establish(systems: Collection[Driven], pool: Pool, truth: Floats, rng: np.random.Generator) -> None:
    """Everybody plays LONG games, paired by true strength."""
    fixed, colors = anchors(truth), Colors(rng)
    for system in systems:
        for number in range(pool.versions):
            system.enter(float(truth[number]) if number in fixed else None)
    for _ in range(LONG):
        for pair in permuted_window(rng, truth):
            first, second = colors.first(*pair)
            score = score2(rng, pool, float(truth[first] - truth[second]))
            for system in systems:
                system.game(first, second, score)
    for system in systems:
        system.refit(cold=True)
        system.refit_if_due()


def _opponent(rng: np.random.Generator, ratings: Floats, new: int, reach: float | None) -> int:
    """Whom the newcomer meets: rounds are drawn until it does not sit out."""
    while True:
        for pair in permuted_window(rng, ratings, reach):
            if new in pair:
                return sum(pair) - new


def _met(meetings: Meetings, driver: Driven, new: int, colors: Colors) -> tuple[int, int]:
    """The newcomer's next game by another matchmaker, first mover first. The others' games of these rounds are
    remembered, so that they have other opponents in between, but not rated."""
    while True:
        own = None
        for pair in meetings.pairs(driver):
            first, second = colors.first(*pair)
            meetings.began(first, second)
            if new in pair:
                own = first, second
        if own is not None:
            return own


def summary(replicates: Sequence[Mapping[str, Any]], label: str) -> dict[str, Any]:
    """What all replicates come to for one system: RMSE with its standard error and the share of intervals that hold the
    truth, after 1, 2, ... games; and after how many games each of GOALS is reached."""
    rows = [replicate["at"][label] for replicate in replicates]
    games = range(len(rows[0]["mse"]))
    errors = [rms([row["mse"][game] for row in rows]) for game in games]
    return {
        "rmse": [error for error, _ in errors],
        "se": [se for _, se in errors],
        "inside": [share([row["inside"][game] for row in rows])[0] for game in games],
        "to": {
            f"{goal:g}": next((number for number, (rmse, _) in enumerate(errors, 1) if rmse <= goal), None)
            for goal in GOALS
        },
    }
