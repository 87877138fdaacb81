"""Command line of simulations that have many replicates: on all cores, and going on where they were interrupted.

Must not know: what is simulated.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from cgos_server.cli.progress import progress_bar
from cgos_server.lab.kept import Kept, answers
from cgos_server.lab.running import Work

T = TypeVar("T")


def add_arguments(parser: argparse.ArgumentParser, name: str, seed: int) -> None:
    """What every benchmark of replicates can be told."""
    cache = Path(tempfile.gettempdir()) / f"cgos-{name}"
    parser.add_argument("--seed", type=int, default=seed)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--cache", type=Path, default=cache, help="where replicates go, and come from")


def carry_out(
    work: Callable[[T], dict[str, Any]], tasks: Sequence[T], options: argparse.Namespace, name: str, code: str
) -> dict[T, dict[str, Any]]:
    """Figures of the replicates, those that were kept among them; after Ctrl-C of those that are done.

    :param tasks: of everything that figures depend on, but for the code
    :param name: of the benchmark
    :param code: a fingerprint of the code that computes them
    """
    with progress_bar("replicates") as progress:
        how = Work(options.seed, options.workers, progress)
        done, interrupted = answers(work, tasks, how, Kept(options.cache / f"{name}.jsonl", code))
    if interrupted:
        print("Interrupted: this is what was done until then.")
    return done
