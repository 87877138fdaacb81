"""CPU time of refits and of a step in this tree and in another checkout of it, by turns, with links and without.

`--against DIR` is a checkout of another commit (`git worktree add DIR COMMIT`). Both fold the same results, with the
same interpreter, packages and one BLAS thread; who comes first alternates. Medians of the ratios of pairs: they carry
over to other machines. With links the pool is families of eight versions, each entered as successor of the one before.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before numpy is imported

import itertools
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec

from benchmarks.moves.checkouts import checkout, commit
from benchmarks.ratings.rating_speed import SIZES, refit_costs
from benchmarks.ratings.tree_child import TreeChild
from benchmarks.reporting import ROOT, held, program

ROUNDS = 60
"""Games a version before anything is timed."""
LINKED = (False, True)
MOST = {False: 1.3, True: 2.0}
"""The goals of refits, without and with links, as ratios."""


class Cost(msgspec.Struct, kw_only=True):
    """CPU seconds in both trees by run, and the median of their ratios."""

    what: str
    versions: int
    linked: bool
    this: list[float]
    other: list[float]
    ratio: float

    @property
    def name(self) -> str:
        return f"{self.what} {self.versions}, {'linked' if self.linked else 'no links'}"


def run(
    against: Annotated[Path, checkout, "the other checkout"],
    tree: Annotated[Path, checkout, "in place of this one"] = ROOT,
    sizes: Annotated[Sequence[int], "of the pools"] = SIZES,
    runs: Annotated[int, "pairs at each size; a third of them at 1000 and above"] = 9,
    rounds: Annotated[int, "games a version before anything is timed"] = ROUNDS,
) -> dict[str, object]:
    """Both trees at each size, with links and without.

    :return: ``costs``: see :class:`Cost`; ``goals``: (ratio, goal)
    """
    print(f"{commit(tree)} ({tree}) against {commit(against)} ({against})", flush=True)
    costs: list[Cost] = []
    with TreeChild(tree, refit_costs) as this, TreeChild(against, refit_costs) as other:
        for versions, linked in itertools.product(sizes, LINKED):
            pairs: list[tuple[dict[str, float], dict[str, float]]] = []
            for number in range(runs if versions < 1000 else max(1, runs // 3)):
                order = (this, other) if number % 2 else (other, this)
                answers = {child: child.ask(versions=versions, linked=linked, rounds=rounds) for child in order}
                pairs.append((answers[this], answers[other]))
            for what in pairs[0][0]:
                mine, its = [pair[0][what] for pair in pairs], [pair[1][what] for pair in pairs]
                ratio = statistics.median(one / two for one, two in zip(mine, its, strict=True))
                costs.append(Cost(what=what, versions=versions, linked=linked, this=mine, other=its, ratio=ratio))
                _show(costs[-1])
    goals = {cost.name: MOST[cost.linked] for cost in costs if cost.what != "step"}
    both = held({cost.name: cost.ratio for cost in costs}, goals)
    return {"this": commit(tree), "other": commit(against), "costs": costs, "goals": both}


def _show(cost: Cost) -> None:
    ratios = [one / two for one, two in zip(cost.this, cost.other, strict=True)]
    print(
        f"{cost.name:>24}: {statistics.median(cost.this) * 1e3:10.3f} ms, the other"
        f" {statistics.median(cost.other) * 1e3:10.3f} ms, ratio {cost.ratio:.3f}"
        f" ({min(ratios):.3f} to {max(ratios):.3f}, {len(ratios)} pairs)",
        flush=True,
    )


main = program(run, sizes=[16], runs=1, rounds=4)


if __name__ == "__main__":
    main()
