"""Brings about the causes of alerts on a server of its own, and measures how long each takes to fire and to clear.

A real Prometheus weighs the shipped rules, whose times are shortened by a factor: what they wait for (`for`), the
windows that they look back over, and the days and hours in their conditions. Thresholds stay. Time to fire counts from
when the cause is there, time to clear from when it is gone. Alerts that no cause on loopback brings about are listed
with the reason. Bounded, stops by itself. Needs `prometheus`.

    python -m benchmarks.operations.fire
    python -m benchmarks.operations.fire --only CgosServerDown CgosPagesDown
"""

from __future__ import annotations

import contextlib
import copy
import re
import sqlite3
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from benchmarks.operations.causes import CAUSES, NOT_CAUSED, Cause, Drill, Missing, drill
from benchmarks.operations.watching import Watcher, rules, watcher
from benchmarks.reporting import program, table

INTERVAL_S = 0.5
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
DURATION = re.compile(r"(\d+)(ms|s|m|h|d)\b")
LEAST_WINDOW_S = 4 * INTERVAL_S
FAILURES = (Missing, RuntimeError, AssertionError, OSError, sqlite3.Error)
"""Of a cause; the next one is tried all the same."""


def shortened(shipped: dict[str, Any], factor: float) -> dict[str, Any]:
    """The rules with all times divided by the factor; windows hold four scrapes at least."""

    def shorter(match: re.Match[str]) -> float:
        return int(match[1]) * UNITS[match[2]] / factor

    def window(match: re.Match[str]) -> str:
        return f"{max(LEAST_WINDOW_S, shorter(match)) * 1000:.0f}ms"

    changed = copy.deepcopy(shipped)
    for rule in (rule for group in changed["groups"] for rule in group["rules"]):
        if "for" in rule:
            rule["for"] = DURATION.sub(lambda match: f"{shorter(match) * 1000:.0f}ms", rule["for"])
        text = DURATION.sub(window, rule["expr"])
        rule["expr"] = re.sub(r"\b(86400|3600)\b", lambda match: f"{int(match[1]) / factor:g}", text)
    return changed


def until(watching: Watcher, wanted: set[str], present: bool, limit_s: float) -> dict[str, float]:
    """Alert -> seconds until it fires, or with `present` false until it does no more; without those that did not."""
    began = time.monotonic()
    reached: dict[str, float] = {}
    while len(reached) < len(wanted) and time.monotonic() - began < limit_s:
        with contextlib.suppress(OSError):
            firing = watching.firing()
            for name in wanted - reached.keys():
                if (name in firing) == present:
                    reached[name] = round(time.monotonic() - began, 1)
        time.sleep(INTERVAL_S / 2)
    return reached


def tried(cause: Cause, place: Drill, watching: Watcher) -> dict[str, dict[str, Any]]:
    """What became of a cause's alerts."""
    fired: dict[str, float] = {}
    why = ""
    until(watching, set(cause.alerts), False, cause.limit_s)
    try:
        with cause.make(place):
            fired = until(watching, set(cause.alerts), True, cause.limit_s)
    except FAILURES as failure:
        why = f"{type(failure).__name__}: {failure}"[:300]
    if place.server.process is None or place.server.process.poll() is not None:
        place.server.start()
    cleared = until(watching, set(fired), False, cause.limit_s)
    return {
        name: {"cause": cause.what, "fires_s": fired.get(name), "clears_s": cleared.get(name), "why": why}
        for name in cause.alerts
    }


def run(
    factor: Annotated[float, "by which times are shortened"] = 60.0,
    only: Annotated[Sequence[str], "these alerts"] = (),
) -> dict[str, Any]:
    """One cause after the other."""
    alerts = {rule["alert"] for group in rules()["groups"] for rule in group["rules"]}
    assert alerts == {name for cause in CAUSES for name in cause.alerts} | NOT_CAUSED.keys()
    figures: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory(prefix="cgos-fire-") as name, contextlib.ExitStack() as stack:
        place = stack.enter_context(drill(Path(name)))
        weighed = shortened(rules(), factor)
        watching = stack.enter_context(watcher(Path(name), place.server.health_port, INTERVAL_S, weighed))
        time.sleep(4 * INTERVAL_S)
        for cause in CAUSES:
            if only and not set(only) & set(cause.alerts):
                continue
            figures |= (outcome := tried(cause, place, watching))
            for alert, each in outcome.items():
                print(f"{alert}: {each}", flush=True)
    _show(figures, only)
    return {"factor": factor, "alerts": figures, "not_caused": NOT_CAUSED}


def _show(figures: dict[str, dict[str, Any]], only: Sequence[str]) -> None:
    def seconds(value: float | None) -> str:
        return "NO" if value is None else f"{value:.1f}"

    rows = [
        (name, each["why"] or each["cause"], seconds(each["fires_s"]), seconds(each["clears_s"]))
        for name, each in figures.items()
    ]
    print(table("alerts by their causes", ("alert", "cause", "fires, s", "clears, s"), rows, left=("cause",)))
    both = [each for each in figures.values() if each["fires_s"] is not None and each["clears_s"] is not None]
    print(f"{len(both)} of {len(figures)} fired and cleared; {len(NOT_CAUSED)} are not brought about:")
    for name, reason in NOT_CAUSED.items() if not only else ():
        print(f"  {name}: {reason}")


main = program(run, factor=600.0, only=["CgosPagesDown"])


if __name__ == "__main__":
    main()
