"""How far a long command is, on standard error, where somebody looks.

Must not know: what is being done.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Protocol

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


class Advance(Protocol):
    """Told how much is done, and of how much; `what` is being done from now on."""

    def __call__(self, done: int, everything: int, what: str = ..., /) -> None: ...


@contextlib.contextmanager
def progress_bar(what: str) -> Iterator[Advance]:
    """A bar, nothing where standard error is no terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda _done, _all, _what=what: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, everything, now=what: bar.update(task, description=now, completed=done, total=everything)


@contextlib.contextmanager
def working(what: str) -> Iterator[None]:
    """Says what is being done, of which nobody knows how long it takes; nothing where standard error is no terminal."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield
