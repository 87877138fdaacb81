"""All studies of questions as one experiment: which there are, their tasks, one report of what they come to.

Must not know: what a study measures, command lines.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import msgspec

from cgos_server.lab.kept import answers
from cgos_server.lab.questions import errors, gauntlet, leading, posterior
from cgos_server.lab.questions.asked import Asked, grouped
from cgos_server.lab.report import Report, joined
from cgos_server.lab.running import Work


class Study(NamedTuple):
    """:ivar tasks: all that is asked of it, by a seed
    :ivar answer: what a task comes to, in whatever process
    :ivar report: of the tasks that are done
    """

    tasks: Callable[[Asked, int], list[Any]]
    answer: Callable[[Any], Any]
    report: Callable[[Mapping[Any, Any]], Report]


STUDIES: Final[Mapping[str, Study]] = MappingProxyType(
    {
        module.STUDY: Study(module.tasks, module.answer, module.report)
        for module in (errors, leading, posterior, gauntlet)
    }
)


def run(asked: Asked, work: Work) -> Report:
    """Carry out what is asked for, and report it study by study."""
    names = asked.studies or tuple(STUDIES)
    tasks = [task for name in names for task in STUDIES[name].tasks(asked, work.seed)]
    done, interrupted = answers(answer, tasks, work)
    by_study = grouped(done, lambda task: task.study)
    parts = [STUDIES[name].report(its) for name, its in by_study.items()]
    return msgspec.structs.replace(joined(parts), interrupted=interrupted)


def answer(task: Any) -> Any:
    """What one task comes to, in whatever process."""
    return STUDIES[task.study].answer(task)
