"""Runs an engine through the awkward cases of a rating server and says in plain words what would have gone wrong.

The engine is driven by the same code that drives it on a server, so what that code warns of is part of the answer.
Decides the order of the cases, what happens when the engine fails in one, and how findings look. Must not know: what a
case does.
"""

from __future__ import annotations

import contextlib
import enum
import json
import logging
import textwrap
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

from cgos_client.bridge.engine import EngineFailure, EngineUnfit
from cgos_client.bridge.gtp_engine import GtpEngine

RESTARTS = 2
"""Starts that may fail in a row before the rest is not tried."""
REMARKS = 3
"""Warnings of the client that a finding repeats."""
NOISE = "the engine wrote"
"""How the client's warnings about stray output begin; they are a case of their own."""

FAILURE_REMEDY = (
    "The client starts such an engine again and replays the game, while its clock runs; after three failures in a row "
    "it resigns the game. Try the command by hand in the engine."
)


class Status(enum.StrEnum):
    """How a case ended."""

    PASSED = "passed"
    WARNING = "warning"
    FAILED = "FAILED"


class Finding(NamedTuple):
    """One case's end.

    :ivar sentence: what was seen, or what would have gone wrong
    :ivar remedy: what to do about it; empty where there is nothing to do
    """

    case: str
    status: Status
    sentence: str
    remedy: str = ""


class Outcome(NamedTuple):
    """What a case says of itself, where it does not fail.

    :ivar remedy: not empty where the sentence is a warning
    :ivar foreseen: part of a warning of the client that the case itself has brought about
    """

    sentence: str
    remedy: str = ""
    foreseen: str = ""


class Fault(Exception):
    """The engine would have lost a game here.

    :ivar sentence: how
    :ivar remedy: what to do about it
    """

    def __init__(self, sentence: str, remedy: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.remedy = remedy


class Trial(NamedTuple):
    """What a case works with.

    :ivar engine: started, its board unknown
    :ivar make: another engine of the same kind, not started
    :ivar size: board edge in points
    :ivar progress: told what is being done
    """

    engine: GtpEngine
    make: Callable[[], GtpEngine]
    size: int
    progress: Callable[[str], None]


Case = Callable[[Trial], Awaitable[Outcome]]


async def run_cases(
    cases: Sequence[tuple[str, Case]], make: Callable[[], GtpEngine], size: int, progress: Callable[[str], None]
) -> list[Finding]:
    """Every case in its order, on an engine that is started again whenever it failed.

    :param make: a new engine, not started, with deadlines for all that it is asked
    """
    findings: list[Finding] = []
    noise: list[str] = []
    engine: GtpEngine | None = None
    failed_starts = 0
    try:
        for name, case in cases:
            with _client_warnings() as warnings:
                progress(name)
                try:
                    if engine is None:
                        engine = make()
                        failed_starts += 1
                        await engine.start()
                        failed_starts = 0
                    outcome = await case(Trial(engine, make, size, partial(_within, progress, name)))
                    finding = _judged(name, outcome, [text for text in warnings if not text.startswith(NOISE)])
                except Fault as fault:
                    finding = Finding(name, Status.FAILED, fault.sentence, fault.remedy)
                except EngineFailure as failure:
                    remedy = FAILURE_REMEDY if not isinstance(failure, EngineUnfit) else ""
                    finding = Finding(name, Status.FAILED, _sentence(str(failure)), remedy)
                    if engine is not None:
                        await engine.close()
                    engine = None
                findings.append(finding)
                noise += [text for text in warnings if text.startswith(NOISE)]
            if failed_starts >= RESTARTS or (failed_starts and len(findings) == 1):
                findings.append(
                    Finding("the rest", Status.FAILED, "The other cases were not tried: the engine does not start.")
                )
                return findings
    finally:
        if engine is not None:
            await engine.close()
    findings.append(_output(noise))
    return findings


def lines(findings: Sequence[Finding], columns: int) -> Iterator[str]:
    """The findings for people: a row for each, its remedy below it, and the sum; wrapped at `columns`."""
    width = max(len(finding.case) for finding in findings)
    indent = " " * (11 + width)
    for finding in findings:
        row = f"{finding.status:<8} {finding.case:<{width}}  {finding.sentence}"
        yield from textwrap.wrap(row, columns, subsequent_indent=indent)
        if finding.remedy:
            yield from textwrap.wrap(
                f"-> {finding.remedy}", columns, initial_indent=indent, subsequent_indent=f"{indent}   "
            )
    count = {status: sum(finding.status is status for finding in findings) for status in Status}
    warnings = "1 warning" if count[Status.WARNING] == 1 else f"{count[Status.WARNING]} warnings"
    yield f"{count[Status.PASSED]} passed, {warnings}, {count[Status.FAILED]} failed"


def as_json(findings: Sequence[Finding]) -> str:
    """The findings as one JSON array of objects: case, status (passed, warning, failed), sentence, remedy."""
    return json.dumps([finding._asdict() | {"status": finding.status.lower()} for finding in findings], indent=1)


def exit_status(findings: Sequence[Finding]) -> int:
    """1 where a case failed, else 0."""
    return int(any(finding.status is Status.FAILED for finding in findings))


def _within(progress: Callable[[str], None], name: str, text: str) -> None:
    progress(f"{name}: {text}")


def _judged(name: str, outcome: Outcome, warnings: Sequence[str]) -> Finding:
    """What the client warned of turns a pass into a warning."""
    unforeseen = [text for text in warnings if not outcome.foreseen or outcome.foreseen not in text]
    if not unforeseen:
        status = Status.WARNING if outcome.remedy else Status.PASSED
        return Finding(name, status, outcome.sentence, outcome.remedy)
    sentences = list(dict.fromkeys(map(_sentence, unforeseen)))
    more = f" (and {len(sentences) - REMARKS} more)" if len(sentences) > REMARKS else ""
    remedy = outcome.remedy or "The game goes on, but not as the engine's author meant it: read the sentences above."
    return Finding(name, Status.WARNING, " ".join([outcome.sentence, *sentences[:REMARKS]]) + more, remedy)


def _output(noise: Sequence[str]) -> Finding:
    if not noise:
        return Finding("output", Status.PASSED, "Nothing but answers came on the standard output.")
    return Finding(
        "output",
        Status.WARNING,
        f"{_sentence(noise[0])} That happened {len(noise)} times; one such line in the wrong place is taken for an "
        "answer, and a game is lost.",
        "Let the engine write everything but its answers to its standard error.",
    )


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


@contextlib.contextmanager
def _client_warnings() -> Iterator[list[str]]:
    """What the client warns of during the block."""
    handler = _Collector()
    logger = logging.getLogger("cgos_client")
    logger.addHandler(handler)
    try:
        yield handler.texts
    finally:
        logger.removeHandler(handler)


class _Collector(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())
