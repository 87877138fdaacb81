"""Answers of finished tasks, kept in a file, so that a long run goes on where it was interrupted.

An answer is taken from the file only where the same code would compute the very same task. Must not know: what a task
is.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import msgspec

from cgos_protocol.errors import Code, Invalid
from cgos_server.lab.running import Work, carry_out

T = TypeVar("T", bound=Hashable)


class _Line(msgspec.Struct, frozen=True):
    task: Any
    code: str
    answer: Any


class Kept:
    """A file of answers, one JSON object a line. Lines of other code, and what a run that was killed left of a line,
    stay there and are passed over.

    :param code: see :func:`fingerprint`
    :raises Refused: where the file cannot be read or written
    """

    def __init__(self, path: Path, code: str) -> None:
        self._path = path
        self._code = code
        self._answers: dict[str, Any] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a+", encoding="utf-8") as file:
                file.seek(0)
                lines = file.read().split("\n")
                if lines[-1]:
                    file.write("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise Invalid(Code.LAB, f"Answers cannot be kept in {path}: {error}. Name another folder.") from error
        for line in lines:
            try:
                row = msgspec.json.decode(line, type=_Line)
            except msgspec.MsgspecError:
                continue
            if row.code == code:
                self._answers[_key(row.task)] = row.answer

    def __contains__(self, task: object) -> bool:
        return _key(msgspec.to_builtins(task)) in self._answers

    def of(self, task: object) -> Any:
        """The answer to a task that is in the file."""
        return self._answers[_key(msgspec.to_builtins(task))]

    def add(self, task: object, answer: Any) -> None:
        """Keep an answer, whatever happens next.

        :param answer: as JSON has values; objects have words for keys
        """
        line = json.dumps({"task": msgspec.to_builtins(task), "code": self._code, "answer": answer})
        with self._path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")


def _key(task: Any) -> str:
    return json.dumps(task, sort_keys=True)


def fingerprint(modules: Iterable[ModuleType]) -> str:
    """Of the sources of modules, and of all that is in them where they are packages."""
    digest = hashlib.sha256()
    for module in modules:
        inside = [path for folder in getattr(module, "__path__", ()) for path in Path(folder).rglob("*.py")]
        for path in sorted(inside) or [Path(str(module.__file__))]:
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def answers(
    do: Callable[[T], Any], tasks: Sequence[T], work: Work, kept: Kept | None = None
) -> tuple[dict[T, Any], bool]:
    """What the tasks come to, in their order, and whether Ctrl-C ended it before: then of those that are done.

    :param do: see :func:`cgos_server.lab.running.carry_out`, which also says what is raised
    :param tasks: records that are equal where everything that decides their answers is, but for the code
    :param kept: where answers are taken from and go to
    """
    done = {} if kept is None else {task: kept.of(task) for task in tasks if task in kept}
    waiting = [task for task in tasks if task not in done]

    def take(task: T, answer: Any) -> None:
        if kept is not None:
            kept.add(task, answer)
        done[task] = answer

    interrupted = carry_out(do, waiting, take, work, everything=len(waiting))
    return {task: done[task] for task in tasks if task in done}, interrupted
