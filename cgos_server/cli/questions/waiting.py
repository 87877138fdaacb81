"""Waiting until a question has ended: progress for people on standard error, and exit codes for an author's CI.

Must not know: where questions are read, how a question goes on.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

import click
from rich.console import Console
from rich.markup import escape

from cgos_protocol.api.questions import QuestionDetail
from cgos_protocol.errors import RateLimited, Refused, StoreError, Unavailable
from cgos_protocol.ids import QuestionId
from cgos_server.cli.output import print_json, say
from cgos_server.cli.questions.sources import Place, Source, opened
from cgos_server.presentation.words import count

EXITS: Final[Mapping[str, int]] = MappingProxyType(
    {"accepted": 0, "answered": 0, "rejected": 1, "not answered": 3, "stopped": 3}
)
"""Exit code by how a question ended."""

FAILED: Final = 2
"""Exit code where nobody knows how it ended: the server refuses, or does not answer any more."""

INTERRUPTED: Final = 130

GONE_S: Final = 600.0
"""A server that does not answer for so long is not waited for."""

LINES_EVERY_S: Final = 60.0
"""Progress comes so often at most where nobody looks at a terminal."""


class Failed(click.ClickException):
    """Whoever waits must not take it for a rejection."""

    exit_code = FAILED


@contextlib.contextmanager
def failing() -> Iterator[None]:
    """Refusals, and a database that cannot be read, become :class:`Failed`."""
    try:
        yield
    except (Refused, StoreError) as error:
        raise Failed(str(error)) from error


def wait_and_show(place: Place, question: QuestionId, *, as_json: bool) -> None:
    """Wait until it has ended, print the six lines (or JSON), and exit as it ended. Raises Failed, SystemExit."""
    try:
        with failing(), opened(place) as source, _progress() as tell:
            detail = wait(source, question, tell)
    except KeyboardInterrupt:
        elsewhere = f" --server {place.elsewhere.address}" if place.elsewhere is not None else ""
        say(
            f"Question {question} goes on. Look at it with: cgos-server question show {question}{elsewhere}; wait for "
            f"it again with: cgos-server question wait {question}{elsewhere}"
        )
        sys.exit(INTERRUPTED)
    say(detail.stands)
    if as_json:
        print_json(detail)
    else:
        click.echo(detail.text)
    sys.exit(EXITS[detail.state])


def wait(
    source: Source,
    question: QuestionId,
    tell: Callable[[str], None],
    *,
    pause: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> QuestionDetail:
    """A question once it has ended. Raises Refused where it is not there, or where nobody answers for `GONE_S`.

    :param tell: told how it stands
    :param pause: waits so many seconds
    :param clock: seconds
    """
    answered = clock()
    while True:
        every = source.every_s
        try:
            detail = source.detail(question)
        except (Unavailable, RateLimited) as refusal:
            if clock() - answered > GONE_S:
                raise
            tell(refusal.sentence)
            every = max(every, refusal.retry_after_s or 0.0)
        else:
            if detail.state in EXITS:
                return detail
            answered = clock()
            tell(progress(detail))
        pause(every)


def progress(detail: QuestionDetail) -> str:
    """How it stands, in short: ``Question 7: LLR 1.20 (-2.94, 2.94), 40 games, about 200 more``; and what it waits
    for."""
    answer = detail.answer
    parts = []
    if answer.llr is not None and answer.llr_lower is not None and answer.llr_upper is not None:
        parts.append(f"LLR {answer.llr:.2f} ({answer.llr_lower:.2f}, {answer.llr_upper:.2f})")
    parts.append(count(answer.wins + answer.draws + answer.losses, "game"))
    if answer.games_left is not None:
        parts.append(f"about {round(answer.games_left)} more")
    waits = f". {detail.waits}" if detail.waits else ""
    return f"Question {detail.question}: {', '.join(parts)}{waits}"


@contextlib.contextmanager
def _progress(clock: Callable[[], float] = time.monotonic) -> Iterator[Callable[[str], None]]:
    """Shows what it is told on standard error: in one place of a terminal, elsewhere new lines, now and then."""
    console = Console(stderr=True)
    if console.is_terminal:
        with console.status("") as status:
            yield lambda text: status.update(escape(text))
        return
    said, at = "", float("-inf")

    def tell(text: str) -> None:
        nonlocal said, at
        if text != said and clock() - at >= LINES_EVERY_S:
            said, at = text, clock()
            say(text)

    yield tell
