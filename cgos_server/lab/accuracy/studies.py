"""All studies of accuracy as one experiment: which there are, their replicates, one report of what they come to.

Must not know: what a study measures, command lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from cgos_protocol.errors import Code, Invalid
from cgos_server.core import pairing, rating
from cgos_server.lab import accuracy, ratings
from cgos_server.lab.accuracy import matchmakers, newcomers, systems
from cgos_server.lab.accuracy.asked import Asked, Group, Task, grouped
from cgos_server.lab.kept import Kept, answers, fingerprint
from cgos_server.lab.report import Picture, Report, Table
from cgos_server.lab.running import Work

Groups = Mapping[tuple[str, str], Group]


class Study(NamedTuple):
    """:ivar replicate: what a task comes to, as JSON has values; the same on every machine"""

    tasks: Callable[[Asked, int], list[Task]]
    replicate: Callable[[Task], dict[str, Any]]
    tables: Callable[[Groups], list[Table]]
    pictures: Callable[[Groups], list[Picture]]


STUDIES: Final[Mapping[str, Study]] = MappingProxyType(
    {
        module.STUDY: Study(module.tasks, module.replicate, module.tables, module.pictures)
        for module in (systems, newcomers, matchmakers)
    }
)

FILE: Final = "accuracy.jsonl"
"""In which replicates are kept."""


def run(asked: Asked, work: Work, cache: Path | None = None) -> Report:
    """Carry out what is asked for, and report it study by study.

    :param cache: the folder in which replicates are kept, and from which those are taken that are there; None: none
    :raises Refused: where nothing is asked for
    """
    tasks = [task for name in asked.studies or STUDIES for task in STUDIES[name].tasks(asked, work.seed)]
    if not tasks:
        raise Invalid(
            Code.LAB,
            f"No study of {', '.join(asked.studies or STUDIES)} has such pools and matchmakers. Choose others, or "
            "leave them out.",
        )
    kept = None if cache is None else Kept(cache / FILE, code())
    by_task, interrupted = answers(replicate, tasks, work, kept)
    groups = grouped(by_task)
    return Report(
        tables=tuple(table for name, its in groups.items() for table in STUDIES[name].tables(its)),
        pictures=tuple(picture for name, its in groups.items() for picture in STUDIES[name].pictures(its)),
        interrupted=interrupted,
    )


def replicate(task: Task) -> dict[str, Any]:
    """What one replicate comes to, in whatever process."""
    return STUDIES[task.study].replicate(task)


def code() -> str:
    """A fingerprint of what decides the answers: rating systems, matchmakers, the simulation."""
    return fingerprint([rating, pairing, ratings, accuracy])
