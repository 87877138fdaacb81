"""A program that is told to end undoes what it began."""

from __future__ import annotations

import os
import signal

import pytest

from benchmarks.ending import unwinding


def interrupted(number: signal.Signals, undone: list[str]) -> None:
    with unwinding():
        try:
            signal.raise_signal(number)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            undone.append("a mount")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_leaves_the_contexts_inside_and_another_one_does_not_hurry_them(number: signal.Signals) -> None:
    outside = signal.signal(number, signal.SIG_DFL)  # whoever runs the tests may ignore it
    try:
        undone: list[str] = []
        with pytest.raises(SystemExit) as ended:
            interrupted(number, undone)
        assert ended.value.code == 128 + number
        assert undone == ["a mount"]
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, outside)


def test_a_signal_that_is_ignored_stays_so() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with unwinding():
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
