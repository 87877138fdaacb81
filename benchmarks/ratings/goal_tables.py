"""What the replicates of a pool of the goals come to, and the tables of it.

Must not know: how a replicate is simulated.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.ratings.goal_pools import GOAL_POOLS
from benchmarks.ratings.goal_runs import SAID
from cgos_server.lab.ratings.draws import STAR
from cgos_server.lab.ratings.newcomers import GOALS as NEWCOMER_GOALS
from cgos_server.lab.ratings.newcomers import summary as newcomer_summary
from cgos_server.lab.ratings.runs import rms, share

Row = Mapping[str, Any]
NEWCOMER_LOOKS = (1, 5, 10, 20, 40, 80)


def summary(name: str, rows: Mapping[str, Sequence[Row]]) -> dict[str, Any]:
    """A pool's figures by side and number of games; each is [mean, its standard error], but for counts.

    :param rows: by side the replicates, in the same order
    """
    common = {
        "replicates": len(next(iter(rows.values()))),
        "cpu_s": {side: share([its["cpu_s"] for its in replicates])[0] for side, replicates in rows.items()},
    }
    if name not in GOAL_POOLS:
        sides = {
            side: newcomer_summary([{"at": {side: its}} for its in replicates], side)
            for side, replicates in rows.items()
        }
        return common | {"sides": sides}
    entry = {side: _entry(replicates) for side, replicates in rows.items() if replicates[0]["entry"]}
    return common | {"sides": {side: _by_look(replicates) for side, replicates in rows.items()}, "entry": entry}


def _entry(replicates: Sequence[Row]) -> dict[str, Any]:
    """Of versions that join later, when they join; the offset is not taken off."""
    parts = [part for its in replicates for part in its["entry"]]
    return {
        "rmse": rms([part["mse"] + part["offset"] ** 2 for part in parts]),
        "inside": share([part["inside"] for part in parts]),
        "halfwidth": share([part["halfwidth"] for part in parts]),
    }


def _by_look(replicates: Sequence[Row]) -> dict[str, Any]:
    return {games: _figures([its["at"][games] for its in replicates]) for games in replicates[0]["at"]}


def ratios(
    sides: Mapping[str, Mapping[int, Row]], linked: Mapping[str, Mapping[int, Row]]
) -> dict[str, dict[str, tuple[float, float]]]:
    """Ratios of RMSE over the same games, by what is compared and number of games.

    :param sides: by side, the replicates of a pool by number
    :param linked: the same of the pool whose games these are, and that is told of links; empty if there is none
    """
    compared = {f"linked / not, {side}": (linked.get(side, {}), its) for side, its in sides.items()}
    if "against" in sides:
        compared = {"this / against": (sides["this"], sides["against"])} | compared
    by_text: dict[str, dict[str, tuple[float, float]]] = {}
    for text, (one, other) in compared.items():
        common = sorted(set(one) & set(other))
        for games in one[common[0]]["at"] if common else ():
            squares = [[its[at]["at"][games]["mse"] for at in common] for its in (one, other)]
            by_text.setdefault(text, {})[games] = ratio(*squares)
    return by_text


def ratio(squares: Sequence[float], others: Sequence[float]) -> tuple[float, float]:
    """Of two RMSE over the same replicates, and its standard error; of their mean squares."""
    one, other = np.array(squares), np.array(others)
    quotient = math.sqrt(one.mean() / other.mean())
    if len(one) < 2:
        return quotient, math.nan
    scatter = float(np.std(one / one.mean() - other / other.mean(), ddof=1))
    return quotient, quotient * scatter / 2 / math.sqrt(len(one))


def calibration(counts: Sequence[Sequence[int]]) -> tuple[int, float, float]:
    """Pairs in all, the share that is truly so and its standard error, of (pairs, truly) by replicate: pairs of one
    replicate are not independent."""
    pairs, truly = np.array(counts, dtype=float).T
    total = float(pairs.sum())
    if total == 0:
        return 0, math.nan, math.nan
    its = float(truly.sum()) / total
    n = len(counts)
    se = math.sqrt(n / (n - 1) * float(((truly - its * pairs) ** 2).sum())) / total if n > 1 else math.nan
    return int(total), its, se


def _figures(rows: Sequence[Row]) -> dict[str, Any]:
    figures: dict[str, Any] = {
        "rmse": rms([row["mse"] for row in rows]),
        "offset": rms([row["offset"] ** 2 for row in rows]),
        "said": [calibration([row["said"][place] for row in rows]) for place in range(len(SAID))],
        "superior": [share([row["superior"][place] for row in rows]) for place in (0, 1)],
        "star": [share([row["star"][place] for row in rows])[0] for place in range(3)],
        "stepped": rms([row["stepped"]["mse"] for row in rows]),
        "stepped_inside": share([row["stepped"]["inside"] for row in rows]),
        "star_inside": share([float(row["star"][1] <= STAR <= row["star"][2]) for row in rows]),
    }
    for key in ("inside", "pairs", "halfwidth", "undecided"):
        figures[key] = share([row[key] for row in rows])
    if "misplaced" in rows[0]:
        figures["misplaced"] = rms([row["misplaced"] for row in rows])
    return figures


def report(pools: Mapping[str, Any], say: Callable[[str], None] = print) -> None:
    """The tables."""
    for name, figures in pools.items():
        cpu = ", ".join(f"{side} {seconds:.1f}" for side, seconds in figures["cpu_s"].items())
        if name in GOAL_POOLS:
            text, rows = GOAL_POOLS[name].text, _pool_rows(name, figures)
        else:
            text, rows = "newcomers by window among N(2000, 350) that are known to 20", _newcomer_rows(figures)
        say(f"\n{name}: {text}; {figures['replicates']} replicates; CPU s of one: {cpu}")
        for row in rows:
            say(f"  {row[0]:32}" + "".join(f"{cell:>19}" for cell in row[1:]))
        for side, its in figures.get("entry", {}).items():
            say(
                f"  when they join, {side}: RMSE {_cell(its['rmse'], 1)}, intervals hold {_cell(its['inside'], 3)}, "
                f"half-width {_cell(its['halfwidth'], 0)}"
            )


def _cell(pair: Sequence[float], digits: int) -> str:
    value, error = pair
    return f"{value:.{digits}f} ± {error:.{digits}f}" if math.isfinite(error) else f"{value:.{digits}f}"


def _pool_rows(name: str, figures: Row) -> list[list[str]]:
    pool, sides = GOAL_POOLS[name], figures["sides"]
    looks = list(next(iter(sides.values())))
    rows: list[list[str]] = [["after rounds", *looks]]

    def add(text: str, key: str, digits: int, who: Sequence[str] = tuple(sides)) -> None:
        for side in who:
            its = [sides[side][games] for games in looks]
            if key in its[0]:
                rows.append([f"{text}, {side}", *(_cell(row[key], digits) for row in its)])

    add("RMSE", "rmse", 1)
    for text, its in figures["ratios"].items():
        rows.append([f"  {text}", *(_cell(its[games], 3) for games in looks)])
    if pool.goals:
        rows.append(["  goal", *(str(pool.goals.get(int(games), "")) for games in looks)])
    systems = [side for side in sides if side != "told"]
    add("RMSE before the refit", "stepped", 1, systems)
    add("RMSE of the misplaced", "misplaced", 1)
    add("intervals hold", "inside", 3)
    add("before the refit", "stepped_inside", 3, systems)
    add("differences hold", "pairs", 3)
    add("half-width", "halfwidth", 0)
    add("offset, rms", "offset", 1)
    for side in sides:
        for place, (least, most) in enumerate(SAID):
            its = [sides[side][games]["said"][place] for games in looks]
            cells = (f"{_cell(row[1:], 2)}, {row[0]}" if row[0] else "-" for row in its)
            rows.append([f"said {least:g}-{most:g}: true, of, {side}", *cells])
    add(f"pairs said {SAID[0][0]:g}-{SAID[-1][1]:g}", "undecided", 3)
    for side in sides:
        its = [sides[side][games]["superior"] for games in looks]
        rows.append([f"superior, said and true, {side}", *(f"{row[0][0]:.3f}, {row[1][0]:.3f}" for row in its)])
    if name == "star":
        add("3500 is inside", "star_inside", 2)
        for side in sides:
            its = [sides[side][games]["star"] for games in looks]
            rows.append([f"it stands at, {side}", *("{:.0f}: {:.0f}-{:.0f}".format(*row) for row in its)])
    return rows


def _newcomer_rows(figures: Row) -> list[list[str]]:
    rows = [["after games", *map(str, NEWCOMER_LOOKS)]]
    for side, its in figures["sides"].items():
        looks = [games - 1 for games in NEWCOMER_LOOKS if games <= len(its["rmse"])]
        rows.append([f"RMSE, {side}", *(_cell((its["rmse"][at], its["se"][at]), 0) for at in looks)])
        rows.append([f"intervals hold, {side}", *(f"{its['inside'][at]:.3f}" for at in looks)])
        to = (str(its["to"][f"{goal:g}"] or "-") for goal in NEWCOMER_GOALS)
        rows.append([f"games to {', '.join(f'{goal:g}' for goal in NEWCOMER_GOALS)}", ", ".join(to)])
    return rows
