"""Refits are computed by children that can fail, hang and die without harm, and do not outlive us."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.live.toy_refits import ToyRefits

from cgos_server.live.processes.children import COMMAND
from cgos_server.live.processes.worker import receive, send
from cgos_server.live.ratings.refit_executor import FitFailed, FitProcesses

SYSTEM: Any = ToyRefits()


@pytest.fixture
def importable(monkeypatch: pytest.MonkeyPatch) -> None:
    """The child can import what this test asks it to compute."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))


@pytest.fixture
def processes(importable: None) -> Iterator[FitProcesses]:
    with closing(FitProcesses(limit_s=30)) as processes:
        yield processes


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def pid_of(fit: Any) -> int:
    return int(fit.notes.split()[1])


async def test_arrays_go_there_and_come_back_and_the_child_stays(processes: FitProcesses) -> None:
    array = np.arange(300_000, dtype=np.float64)
    first: Any = await processes.refit(SYSTEM, {"do": "sum", "array": array, "included": 7}, cold=False)
    assert first.included == 7
    assert np.array_equal(first.result, array * 2)
    second = await processes.refit(SYSTEM, {"do": "print"}, cold=False)
    assert pid_of(second) == pid_of(first) != os.getpid()


async def test_long_refits_do_not_hold_up_short_ones(processes: FitProcesses) -> None:
    long = asyncio.ensure_future(processes.refit(SYSTEM, {"do": "wait", "seconds": 20}, cold=True))
    short = await processes.refit(SYSTEM, {"do": "sum"}, cold=False)
    assert not long.done()
    assert pid_of(short)
    long.cancel()
    with pytest.raises(asyncio.CancelledError):
        await long


async def test_ranks_wait_for_no_refit(processes: FitProcesses) -> None:
    slow = asyncio.create_task(processes.refit(SYSTEM, {"do": "wait", "seconds": 20}, cold=True))
    quick: Any = await processes.ranks(os.getpid)  # type: ignore[arg-type]
    assert quick != os.getpid()
    assert not slow.done()
    slow.cancel()
    with pytest.raises(asyncio.CancelledError):
        await slow
    with pytest.raises(FitFailed, match=r"(?s)ranks failed: .*ZeroDivisionError"):
        await processes.ranks(partial(divmod, 1, 0))  # type: ignore[arg-type]


async def test_a_refit_that_fails_says_why_and_the_next_one_is_computed(processes: FitProcesses) -> None:
    with pytest.raises(FitFailed, match="this refit cannot be computed"):
        await processes.refit(SYSTEM, {"do": "fail"}, cold=False)
    assert await processes.refit(SYSTEM, {"do": "sum"}, cold=False)


async def test_a_child_that_dies_is_replaced(processes: FitProcesses) -> None:
    with pytest.raises(FitFailed, match="died"):
        await processes.refit(SYSTEM, {"do": "die"}, cold=False)
    assert await processes.refit(SYSTEM, {"do": "sum"}, cold=False)


async def test_a_job_that_cannot_be_sent_fails_like_any_other(processes: FitProcesses) -> None:
    with pytest.raises(FitFailed, match="could not be asked for or understood"):
        await processes.refit(SYSTEM, {"do": lambda: None}, cold=False)
    assert await processes.refit(SYSTEM, {"do": "sum"}, cold=False)


async def test_a_child_that_hangs_is_given_up_and_replaced(importable: None) -> None:
    with closing(FitProcesses(limit_s=3)) as processes:
        first = await processes.refit(SYSTEM, {"do": "sum"}, cold=True)
        with pytest.raises(FitFailed, match="more than 3 s"):
            await processes.refit(SYSTEM, {"do": "wait", "seconds": 60}, cold=True)
        second = await processes.refit(SYSTEM, {"do": "sum"}, cold=True)
        assert pid_of(second) != pid_of(first)
    assert not alive(pid_of(second))


async def test_closing_ends_a_child_in_the_middle_of_its_work(importable: None) -> None:
    with closing(FitProcesses()) as processes:
        pid = pid_of(await processes.refit(SYSTEM, {"do": "sum"}, cold=False))
        waiting = asyncio.ensure_future(processes.refit(SYSTEM, {"do": "wait", "seconds": 60}, cold=False))
        await asyncio.sleep(0)
    assert not alive(pid)
    with pytest.raises(FitFailed):
        await waiting


def test_the_child_goes_when_its_input_ends(importable: None) -> None:
    child = subprocess.Popen((*COMMAND, "refit"), stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert child.stdin is not None
    assert child.stdout is not None
    with child.stdin, child.stdout:
        send(child.stdin, partial(SYSTEM.refit, {"do": "sum"}))  # type: ignore[arg-type]
        fit, problem = receive(child.stdout)  # type: ignore[arg-type]
        assert problem == ""
        assert pid_of(fit) == child.pid
        child.stdin.close()
        assert child.wait(20) == 0


def test_the_child_does_not_outlive_a_killed_parent(importable: None, tmp_path: Path) -> None:
    program = tmp_path / "parent.py"
    program.write_text(
        "import asyncio, os, signal\n"
        "from support.live.toy_refits import ToyRefits\n"
        "from contextlib import closing\n"
        "from cgos_server.live.ratings.refit_executor import FitProcesses\n"
        "async def main():\n"
        "    with closing(FitProcesses()) as processes:\n"
        "        fit = await processes.refit(ToyRefits(), {'do': 'sum'}, cold=False)\n"
        "        print(fit.notes.split()[1], flush=True)\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "asyncio.run(main())\n"
    )
    ended = subprocess.run([sys.executable, program], stdout=subprocess.PIPE, timeout=60, check=False)
    assert ended.returncode == -9
    pid, deadline = int(ended.stdout), time.monotonic() + 20
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not alive(pid)


async def test_closing_while_a_child_is_being_started_does_not_wait_for_it(
    importable: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    starting, closed = threading.Event(), threading.Event()
    started: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def slowly(*arguments: Any, **options: Any) -> Any:
        starting.set()
        closed.wait(20)
        started.append(start(*arguments, **options))
        return started[0]

    monkeypatch.setattr(subprocess, "Popen", slowly)
    with closing(FitProcesses()) as processes:
        waiting = asyncio.ensure_future(processes.refit(SYSTEM, {"do": "wait", "seconds": 60}, cold=False))
        await asyncio.to_thread(starting.wait, 20)
        asyncio.get_running_loop().run_in_executor(None, lambda: (time.sleep(0.2), closed.set()))
    assert started[0].returncode == -9
    with pytest.raises(FitFailed):
        await waiting
