"""Makes the results of the lab that docs/ shows, or the same experiments at a smaller size.

Each is a command of the lab with a seed, so that the same tree gives the same figures on any machine. `--size full`
writes them to docs/lab, with the commit of the tree, and into the pages that show them; smaller sizes go to dist/lab
and show that everything works. `--confirm` computes the tiny forms of results whose code has changed since in both
trees, and notes where they are the same. Must not know: which experiments there are, how one is carried out, how a page
is written.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec

from benchmarks.lab.experiments import EXPERIMENTS, SEED, Experiment
from benchmarks.lab.kept import FOLDER, Kept, keep, kept_results, pages, refreshed
from benchmarks.reporting import ROOT, processor, program
from cgos_server.lab.drawing import draw
from cgos_server.lab.report import Report

SIZES: Final = ("tiny", "short", "full")


def run(
    size: Annotated[str, SIZES, "how much of each"] = "short",
    only: Annotated[Sequence[str], str, "these alone, by their names"] = (),
    jobs: Annotated[int, "processes"] = os.cpu_count() or 1,
    pages_only: Annotated[bool, "draw kept results and write them into the pages again, compute nothing"] = False,
    confirm: Annotated[bool, "note of kept results whose code has changed that their tiny forms are the same"] = False,
) -> dict[str, Any]:
    """By name: command, CPU seconds, how many checks there are and which do not hold."""
    known = [experiment.name for experiment in EXPERIMENTS]
    if unknown := [name for name in only if name not in known]:
        sys.exit(f"There is no experiment {', '.join(unknown)}. There are: {', '.join(known)}.")
    figures: dict[str, Any] = {}
    if confirm:
        _confirm(only)
    elif not pages_only:
        commit = _commit(size == "full")
        for experiment in EXPERIMENTS:
            if not only or experiment.name in only:
                figures[experiment.name] = _carried_out(experiment, size, jobs, commit)
    else:
        _redraw(only)
    if pages_only or confirm or size == "full":
        _refresh_pages()
    return figures


def _confirm(only: Sequence[str]) -> None:
    """A tree that gives the same figures in the tiny form counts like the one that computed a result."""
    head, results = _commit(True), kept_results()
    for experiment in EXPERIMENTS:
        kept = results.get(experiment.name)
        if kept is None or (only and experiment.name not in only):
            continue
        changed = _git("diff", "--name-only", f"{kept.again or kept.commit}..HEAD", "--", *kept.paths)
        if changed:
            with _checked_out(kept.commit) as tree:
                same = _tiny_tables(experiment, tree) == _tiny_tables(experiment, ROOT)
            print(f"{experiment.name}: {'the same' if same else 'NOT the same; make it again'}", flush=True)
            if same:
                keep(FOLDER, experiment.name, msgspec.structs.replace(kept, again=head))


@contextlib.contextmanager
def _checked_out(commit: str) -> Iterator[Path]:
    """The tree of a commit, for a while."""
    with tempfile.TemporaryDirectory(prefix="cgos-lab-") as folder:
        tree = Path(folder) / "tree"
        subprocess.run(["git", "-C", str(ROOT), "worktree", "add", "-q", "--detach", str(tree), commit], check=True)
        try:
            yield tree
        finally:
            subprocess.run(["git", "-C", str(ROOT), "worktree", "remove", "--force", str(tree)], check=True)


def _tiny_tables(experiment: Experiment, tree: Path) -> list[Any]:
    """All figures that a tree's tiny form prints."""
    path = os.pathsep.join(str(tree / folder) for folder in ("", "protocol", "clients"))
    command = [
        sys.executable,
        "-m",
        "cgos_server",
        "lab",
        *experiment.words,
        *experiment.tiny,
        "--seed",
        SEED,
        "--json",
    ]
    ended = subprocess.run(command, capture_output=True, cwd=tree, env={**os.environ, "PYTHONPATH": path})
    if not ended.stdout:
        sys.exit(f"{experiment.name} of {tree} ended with {ended.returncode}: {ended.stderr.decode()[-500:]}")
    tables: list[Any] = json.loads(ended.stdout)["tables"]
    return tables


def _redraw(only: Sequence[str]) -> None:
    """Results hold what their pictures show."""
    for name, kept in kept_results().items():
        if not only or name in only:
            draw(kept.report, FOLDER / f"{name}.svg")


def _refresh_pages() -> None:
    results = kept_results()
    try:
        texts = {page: refreshed(page.read_text(encoding="utf-8"), results) for page in pages()}
    except LookupError as error:
        sys.exit(f"{error} The pages stay as they are.")
    for page, text in texts.items():
        page.write_text(text, encoding="utf-8")


def _folder(experiment: Experiment, size: str) -> Path:
    folder = FOLDER if size == "full" and experiment.kept else ROOT / "dist" / "lab"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _commit(is_kept: bool) -> str:
    """Of this tree; where results are kept, that has to be the code that computes them."""
    changed = _git("status", "--porcelain", "--", "cgos_server", "protocol") if is_kept else ""
    if changed:
        sys.exit(f"Commit these first, since results name a commit:\n{changed}")
    return _git("rev-parse", "--short=8", "HEAD").strip()


def _git(*words: str) -> str:
    """What git says; nothing where it is not installed, or this is no checkout."""
    try:
        return subprocess.run(["git", "-C", str(ROOT), *words], capture_output=True, text=True).stdout
    except FileNotFoundError:
        return ""


def _carried_out(experiment: Experiment, size: str, jobs: int, commit: str) -> dict[str, Any]:
    folder, more = _folder(experiment, size), {"tiny": experiment.tiny, "short": experiment.short, "full": ()}[size]
    words = ["lab", *experiment.words, *more, "--seed", SEED]
    picture = folder / f"{experiment.name}.svg"
    command = [sys.executable, "-m", "cgos_server", *words, "--jobs", str(jobs), "--json", "--plot", str(picture)]
    print(f"cgos-server {' '.join(words)}", flush=True)
    began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryFile() as output:
        code = subprocess.run(command, stdout=output, cwd=ROOT).returncode
        output.seek(0)
        printed = output.read()
    if code not in (0, 1) or not printed:  # 1: a check does not hold, which the result says
        sys.exit(f"It ended with {code}.")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    answer = json.loads(printed)
    kept = Kept(
        command=answer.pop("command"),
        version=answer.pop("version"),
        commit=commit,
        paths=experiment.paths,
        seconds=round(seconds, 1),
        machine=processor(),
        report=msgspec.convert(answer, Report),
    )
    keep(folder, experiment.name, kept)
    failing = [check.claim for check in kept.report.checks if not check.holds]
    print(
        f"  {time.monotonic() - began:.0f} s, {seconds:.0f} s of CPU; {len(kept.report.checks)} checks, "
        f"{len(failing)} of which do not hold{': ' if failing else ''}{'; '.join(failing)}",
        flush=True,
    )
    return {"command": kept.command, "seconds": seconds, "checks": len(kept.report.checks), "failing": failing}


main = program(run, size="tiny", only=["birk"])

if __name__ == "__main__":
    main()
