"""What fails for a while is logged twice: when it begins, and when it has been over for a while."""

from __future__ import annotations

from structlog.testing import capture_logs
from support.live.simulated import SimulatedTime

from cgos_server.live.processes.outages import QUIET_US, Outage


def test_an_outage_is_said_once_and_its_end_once() -> None:
    time = SimulatedTime()
    outage = Outage(time, "it fails", "it works")
    with capture_logs() as logs:
        outage.worked()
        for _ in range(7):
            outage.failed(OSError("full"), "Free some space.")
            time.advance(500_000)
        outage.worked()
        time.advance(QUIET_US - 1)
        assert [entry["event"] for entry in logs] == ["it fails"]
        time.advance(1)
        outage.worked()
        time.advance(QUIET_US)
    assert logs == [
        {"event": "it fails", "why": "full", "remedy": "Free some space.", "log_level": "warning"},
        {"event": "it works", "failures": 7, "seconds": 3.0, "log_level": "warning"},
    ]


def test_what_works_now_and_then_does_not_work() -> None:
    time = SimulatedTime()
    outage = Outage(time, "it fails", "it works")
    with capture_logs() as logs:
        for _ in range(10):
            outage.failed("busy", None)
            time.advance(QUIET_US // 2)
            outage.worked()
            time.advance(QUIET_US // 2)
        assert [entry["event"] for entry in logs] == ["it fails"]
        outage.worked()
        time.advance(2 * QUIET_US)
        outage.worked()
        time.advance(QUIET_US)
        assert [entry["event"] for entry in logs] == ["it fails", "it works"]
        outage.failed("busy", None)
    assert [entry["event"] for entry in logs] == ["it fails", "it works", "it fails"]
