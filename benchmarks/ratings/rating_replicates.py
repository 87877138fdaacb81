"""Many replicates of simulations on all cores, which go on where they were interrupted.

The figures of every replicate are a line of a file. Must not know: what is simulated.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import multiprocessing
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, Protocol, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from benchmarks.reporting import write_json


class Replicate(Protocol):
    """A named tuple of everything that the figures of one replicate depend on, but for the code."""

    @property
    def experiment(self) -> str:
        """What it is a replicate of, in a few words."""

    @property
    def replicate(self) -> int:
        """Its number, from 0."""


T = TypeVar("T", bound=Replicate)


class Checkpoints(Generic[T]):
    """Figures of finished replicates, one JSON object a line.

    :param make: a replicate from its fields
    :param code: a fingerprint of the code that computes them
    :param fresh: forget those of before
    """

    def __init__(self, path: Path, make: Callable[..., T], code: str, fresh: bool) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._code = code
        self.done: dict[T, dict[str, Any]] = {}
        self.of_other_code = 0
        if fresh:
            self._path.unlink(missing_ok=True)
        if self._path.exists():
            for line in self._path.read_text(encoding="utf-8").splitlines():
                try:
                    row = json.loads(line)
                except ValueError:  # the last line of a run that was killed
                    continue
                self.done[make(*row["task"])] = row["found"]
                self.of_other_code += row["sources"] != self._code

    def add(self, task: T, figures: dict[str, Any]) -> None:
        """Kept, whatever happens next."""
        self.done[task] = figures
        line = json.dumps({"task": list(task), "sources": self._code, "found": figures})  # type: ignore[call-overload]
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def warning(self) -> str:
        """A sentence about replicates of other code; empty where there are none."""
        if not self.of_other_code:
            return ""
        return (
            f"{self.of_other_code} replicates in {self._path.parent} were computed by other code; "
            "--fresh computes all again."
        )


def fingerprint(packages: Iterable[ModuleType], modules: Iterable[ModuleType]) -> str:
    """Of the sources of whole packages and of single modules."""
    folders = [Path(folder) for package in packages for folder in package.__path__]
    files = sorted(file for folder in folders for file in folder.rglob("*.py"))
    digest = hashlib.sha256()
    for path in [*files, *(Path(str(module.__file__)) for module in modules)]:
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def add_arguments(parser: argparse.ArgumentParser, name: str, seed: int) -> None:
    """What every benchmark of replicates can be told."""
    cache = Path(tempfile.gettempdir()) / f"cgos-{name}"
    parser.add_argument("--seed", type=int, default=seed)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--cache", type=Path, default=cache, help="where replicates go")
    parser.add_argument("--fresh", action="store_true", help="forget replicates of before")


def finish(figures: Mapping[str, Any], path: Path | None, failed: Sequence[str]) -> None:
    """Write the figures, if they are wanted, and say what failed; then the program has failed."""
    write_json(path, figures)
    if failed:
        sys.exit("\n".join(["These replicates failed:", *failed]))


def carry_out(
    tasks: Sequence[T], checkpoints: Checkpoints[T], workers: int, work: Callable[[T], dict[str, Any]]
) -> list[str]:
    """Run what is not done yet; sentences about replicates that failed."""
    if checkpoints.warning():
        print(checkpoints.warning(), file=sys.stderr)
    waiting = [task for task in tasks if task not in checkpoints.done]
    columns = (
        TextColumn("{task.description:>24}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    failed: list[str] = []
    context = multiprocessing.get_context("spawn")
    with (
        Progress(*columns, console=Console(stderr=True)) as progress,
        ProcessPoolExecutor(workers, mp_context=context) as executor,
    ):
        bar = progress.add_task("replicates", total=len(tasks), completed=len(tasks) - len(waiting))
        futures = {executor.submit(work, task): task for task in waiting}
        try:
            for future in as_completed(futures):
                task = futures[future]
                if error := future.exception():
                    failed.append(f"{task.experiment}, replicate {task.replicate}: {error!r}")
                else:
                    checkpoints.add(task, future.result())
                progress.update(bar, advance=1, description=task.experiment)
        except BaseException:
            executor.shutdown(cancel_futures=True)
            raise
    return failed
