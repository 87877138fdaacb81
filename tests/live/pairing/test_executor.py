"""Large pairing passes are decided in a child, to the same end, and a child that fails harms nobody."""

from __future__ import annotations

import os
import random
import signal
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from cgos_protocol.errors import OurFault
from cgos_server.core.pairing.base import Candidate, PairingPass
from cgos_server.core.pairing.explain import replay
from cgos_server.live.pairing.executor import MOST_INLINE, PairingProcess, decide
from cgos_server.live.processes.worker import NICENESS


def pairing_pass(size: int) -> PairingPass:
    rng = random.Random(size)
    return PairingPass(
        candidates=[Candidate(number, f"bot-{number}", rng.gauss(2000, 350), sd=60.0) for number in range(1, size + 1)]
    )


@pytest.fixture
def process() -> Iterator[PairingProcess]:
    with closing(PairingProcess()) as process:
        yield process


def child() -> int | None:
    """The pairing child of this process."""
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "stat").read_text().rsplit(") ", 1)[1].split()[1] == str(os.getpid()):
                command = (entry / "cmdline").read_bytes()
                if b"processes.worker\0pairing" in command:
                    return int(entry.name)
        except (FileNotFoundError, ProcessLookupError):
            continue
    return None


@pytest.mark.parametrize("method", ["information", "birk"])
async def test_the_child_decides_as_this_process_would(process: PairingProcess, method: str) -> None:
    small, large = pairing_pass(MOST_INLINE), pairing_pass(MOST_INLINE + 1)
    assert await process.decide(method, {}, small, 5) == decide(method, {}, small, 5)
    assert child() is None
    there = await process.decide(method, {}, large, 5)
    pid = child()
    assert pid is not None
    ours = os.getpriority(os.PRIO_PROCESS, 0)
    assert os.getpriority(os.PRIO_PROCESS, pid) == min(19, ours + NICENESS)  # the games come first
    assert there == decide(method, {}, large, 5)
    assert replay(method, {}, 5, there.inputs, random.Random).pairs == there.pairing.pairs


async def test_a_child_that_dies_is_replaced(process: PairingProcess) -> None:
    large = pairing_pass(MOST_INLINE + 1)
    await process.decide("birk", {}, large, 5)
    pid = child()
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    os.kill(pid, signal.SIGKILL)
    with suppress(OurFault):  # it may be found alive still
        await process.decide("birk", {}, large, 5)
    assert await process.decide("birk", {}, large, 5) == decide("birk", {}, large, 5)
    assert child() not in (None, pid)


async def test_what_the_method_objects_to_is_told(process: PairingProcess) -> None:
    with pytest.raises(OurFault, match="no pairing method 'bjrk'"):
        await process.decide("bjrk", {}, pairing_pass(MOST_INLINE + 1), 5)


async def test_a_decision_that_takes_too_long_is_given_up() -> None:
    with closing(PairingProcess(limit_s=0.0)) as process, pytest.raises(OurFault, match="took more than 0 s"):
        await process.decide("information", {}, pairing_pass(MOST_INLINE + 1), 5)
