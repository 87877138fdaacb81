"""Plays many cases: those whose bots may be paired one at a time, the others beside them, a few at once.

Must not know: how outcomes are shown.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatchcase
from importlib import resources
from pathlib import Path

from cgos_client.conformance.case_run import CLEAN_UP_SECONDS, CaseRun
from cgos_client.conformance.expectations import RunSettings
from cgos_client.conformance.language import BadTranscript, Case, parse
from cgos_client.conformance.outcome import Differs, Outcome, Verdict

SPARE_SECONDS = 120.0
"""What a case may take beyond twice the wait for a game, before it is given up."""


def all_cases(directory: Path | None = None) -> list[Case]:
    """The kit's own cases, or those of the ``*.txt`` files in `directory`. Raises BadTranscript."""
    folder = directory or resources.files("cgos_client.conformance") / "transcripts"
    files = sorted(
        (file.name, file.read_text(encoding="ascii")) for file in folder.iterdir() if file.name.endswith(".txt")
    )
    cases = [case for name, text in files for case in parse(name, text)]
    seen: dict[str, Case] = {}
    for case in cases:
        if case.name in seen:
            raise BadTranscript(f"{case.file}, line {case.line}: {seen[case.name].file} has a case {case.name!r} too")
        seen[case.name] = case
    return cases


def chosen(cases: Sequence[Case], patterns: Iterable[str]) -> list[Case]:
    """Those that one of `patterns` names (``*`` and ``?`` are allowed); all where there is none."""
    wanted = list(patterns)
    return [case for case in cases if not wanted or any(fnmatchcase(case.name, pattern) for pattern in wanted)]


async def play_all(
    cases: Sequence[Case], settings: RunSettings, jobs: int, rng: random.Random, done: Callable[[Outcome], None]
) -> list[Outcome]:
    """Play `cases`, in their own order where they are played one at a time, harsh ones last.

    :param jobs: how many cases without pairing run at once
    :param done: told of every outcome as it is known
    :returns: outcomes in the order of `cases`
    """
    outcomes: dict[str, Outcome] = {}
    alone, beside = asyncio.Semaphore(1), asyncio.Semaphore(jobs)  # both let in whoever came first

    async def play(case: Case, seed: int) -> None:
        async with alone if case.alone else beside:
            outcome = outcomes[case.name] = await _bounded(case, settings, random.Random(seed))
            done(outcome)

    seeded = sorted(((case, rng.getrandbits(64)) for case in cases), key=lambda pair: bool(pair[0].harsh))
    async with asyncio.TaskGroup() as tasks:
        for case, seed in seeded:
            tasks.create_task(play(case, seed))
    return [outcomes[case.name] for case in cases]


async def _bounded(case: Case, settings: RunSettings, rng: random.Random) -> Outcome:
    limit = 2 * settings.patience + settings.longest + SPARE_SECONDS + CLEAN_UP_SECONDS
    try:
        async with asyncio.timeout(limit):
            return await CaseRun(case, settings, rng).play()
    except TimeoutError:
        late = Differs(f"the case ends within {limit:g} s", "it was given up")
        return Outcome(
            case=case, verdict=Verdict.DIFFERS, seconds=limit, why=str(late), expected=late.expected, got=late.got
        )
