"""Brings about the causes of alerts on a server of its own, and measures how long each takes to fire and to clear.

A real Prometheus weighs the shipped rules, whose times are shortened by a factor (those that look back over days by
ten times as much): what they wait for (`for`), the windows that they look back over, and the days and hours in their
conditions. Thresholds stay. Time to fire counts from when the cause is there, time to clear from when it is gone.
Causes that do not disturb one another are there at the same time. Bounded, stops by itself; ended by a signal it leaves
nothing running and nothing mounted. Needs `prometheus` and `openssl`.

    python -m benchmarks.operations.fire
    python -m benchmarks.operations.fire --only CgosServerDown CgosPagesDown
"""

from __future__ import annotations

import contextlib
import copy
import re
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

from benchmarks.ending import unwinding
from benchmarks.operations.causes import ROUNDS, Cause
from benchmarks.operations.drill import Drill, Missing, drill
from benchmarks.operations.watching import Sightings, rules, watcher
from benchmarks.reporting import program, table

INTERVAL_S = 1.0
"""Between two scrapes: long enough for the answer of a busy server."""
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
DAYS = 10.0
"""Windows of days are shortened so many times more."""
LESS = {"CgosRefitsFail": 4.0, "CgosServerRestarts": 4.0}
"""Alerts whose times are shortened so many times less: a refit that failed rests for half a minute, four starts take
longer than that."""
SETTLE_S = 20.0
"""What has not cleared by then is looked at again at the end."""
LEFT_S = 240.0
"""For which it is waited at the end."""
LONGEST_S = 900.0
"""No cause is looked at for longer in one round."""
DURATION = re.compile(r"(\d+)(ms|s|m|h|d)\b")
LEAST_WINDOW_S = 4 * INTERVAL_S
FAILURES = (Missing, RuntimeError, AssertionError, OSError, sqlite3.Error, subprocess.SubprocessError)
"""Of a cause; the next one is tried all the same."""


def shortened(shipped: dict[str, Any], factor: float) -> dict[str, Any]:
    """The rules with all times divided by the factor; windows hold four scrapes at least."""
    changed = copy.deepcopy(shipped)
    for rule in (rule for group in changed["groups"] for rule in group["rules"]):
        of_days = any(unit == "d" for _, unit in DURATION.findall(rule["expr"]))
        _shorten(rule, factor * (DAYS if of_days else 1.0) / LESS.get(rule["alert"], 1.0))
    return changed


def _shorten(rule: dict[str, Any], factor: float) -> None:
    def shorter(match: re.Match[str]) -> float:
        return int(match[1]) * UNITS[match[2]] / factor

    def window(match: re.Match[str]) -> str:
        return f"{max(LEAST_WINDOW_S, shorter(match)) * 1000:.0f}ms"

    if "for" in rule:
        rule["for"] = DURATION.sub(lambda match: f"{shorter(match) * 1000:.0f}ms", rule["for"])
    text = DURATION.sub(window, rule["expr"])
    rule["expr"] = re.sub(r"\b(86400|3600)\b", lambda match: f"{int(match[1]) / factor:g}", text)


class Trial:
    """A cause, and what became of its alerts.

    :ivar why: it could not be brought about
    """

    def __init__(self, cause: Cause, sightings: Sightings) -> None:
        self.cause = cause
        self.why = ""
        self.rounds_left = cause.rounds
        self._sightings = sightings
        self._stack = contextlib.ExitStack()
        self._there = self._gone = 0.0

    def begin(self, place: Drill) -> None:
        """Bring it about."""
        try:
            self._stack.enter_context(self.cause.make(place))
        except FAILURES as failure:
            self._failed(failure)
        self._there = time.monotonic()

    def end(self) -> None:
        """Undo it, once."""
        try:
            self._stack.close()
        except FAILURES as failure:
            self._failed(failure)
        self._gone = self._gone or time.monotonic()

    def _failed(self, failure: BaseException) -> None:
        self.why = f"{type(failure).__name__}: {failure}"[:300]

    def waits_for(self, firing: bool) -> bool:
        """Some alert has not fired yet, or has not cleared, though it is not too late."""
        if self.why or (firing and time.monotonic() - self._there > self.cause.limit_s):
            return False
        return any(self._taken(alert, firing) is None for alert in self.cause.alerts)

    def _taken(self, alert: str, firing: bool) -> float | None:
        if firing:
            at = self._sightings.first(alert, self._there, True)
            return None if at is None or (self._gone and at > self._gone) else at - self._there
        if self._taken(alert, True) is None:
            return 0.0
        at = self._sightings.first(alert, self._gone, False)
        return None if at is None else at - self._gone

    def outcome(self) -> dict[str, dict[str, Any]]:
        """Alert -> seconds to fire and to clear, None where it did not."""
        rows = {}
        for alert in self.cause.alerts:
            fires = None if self.why else self._taken(alert, True)
            clears = None if fires is None else self._taken(alert, False)
            times = {"fires_s": rounded(fires), "clears_s": rounded(clears)}
            rows[alert] = {"cause": self.cause.what, "why": self.why} | times
        return rows


def rounded(seconds: float | None) -> float | None:
    """To what the looks at Prometheus can tell."""
    return None if seconds is None else round(seconds, 1)


def waited(limit_s: float, condition: Callable[[], bool]) -> None:
    """Until the condition does not hold any more."""
    deadline = time.monotonic() + limit_s
    while condition() and time.monotonic() < deadline:
        time.sleep(INTERVAL_S / 2)


class Course:
    """The rounds: what lasts, and what is over."""

    def __init__(self, place: Drill, sightings: Sightings, stack: contextlib.ExitStack) -> None:
        self.over: list[Trial] = []
        self._lasting: list[Trial] = []
        self._place = place
        self._sightings = sightings
        self._stack = stack

    @property
    def lasts(self) -> bool:
        """Whether a cause of before is to last for another round."""
        return bool(self._lasting)

    def round(self, causes: Sequence[Cause]) -> list[Trial]:
        """Bring these causes about and look; those whose last round this was are undone, and returned."""
        names = {alert for cause in causes for alert in cause.alerts}
        waited(2 * SETTLE_S, lambda: any(self._fires(name) for name in names))
        for cause in causes:
            trial = Trial(cause, self._sightings)
            self._stack.callback(trial.end)  # also where the drill is ended before
            self._lasting.append(trial)
            trial.begin(self._place)
        for trial in self._lasting:
            trial.rounds_left -= 1
        over = [trial for trial in self._lasting if trial.rounds_left <= 0]
        self._lasting = [trial for trial in self._lasting if trial.rounds_left > 0]
        waited(LONGEST_S, lambda: any(trial.waits_for(True) for trial in over))
        for trial in over:
            trial.end()
        server = self._place.server
        if server.process is None or server.process.poll() is not None:
            server.start()
        waited(SETTLE_S, lambda: any(trial.waits_for(False) for trial in over))
        self.over += over
        return over

    def _fires(self, alert: str) -> bool:
        return self._sightings.first(alert, time.monotonic(), False) is None


OF_CLUSTERS = {"CgosNobodyPlays", "CgosNobodyStandsBy"}
"""Alerts for which one server, as this drill has it, is no cause."""


def chosen(only: Sequence[str]) -> list[list[Cause]]:
    """The rounds with the causes of these alerts, or of all."""
    rounds = ([cause for cause in causes if not only or set(only) & set(cause.alerts)] for causes in ROUNDS)
    return [causes for causes in rounds if causes]


def run(
    factor: Annotated[float, "by which times are shortened"] = 60.0,
    only: Annotated[Sequence[str], "these alerts"] = (),
    minutes: Annotated[float, "after which no further round begins"] = 25.0,
) -> dict[str, Any]:
    """One round after the other."""
    alerts = {rule["alert"] for group in rules()["groups"] for rule in group["rules"]}
    assert alerts - OF_CLUSTERS == {name for causes in ROUNDS for cause in causes for name in cause.alerts}
    began = time.monotonic()
    with unwinding(), tempfile.TemporaryDirectory(prefix="cgos-fire-") as name, contextlib.ExitStack() as stack:
        place = stack.enter_context(drill(Path(name)))
        weighed = shortened(rules(), factor)
        watching = stack.enter_context(watcher(Path(name), place.server.health_port, INTERVAL_S, weighed))
        sightings = Sightings(watching, INTERVAL_S / 4)
        stack.enter_context(sightings.looking())
        time.sleep(4 * INTERVAL_S)
        course = Course(place, sightings, stack)
        rounds = chosen(only)
        while (rounds or course.lasts) and time.monotonic() - began < minutes * 60:
            for trial in course.round(rounds.pop(0) if rounds else ()):
                for alert, each in trial.outcome().items():
                    print(f"{time.monotonic() - began:.0f} s: {alert}: {each}", flush=True)
        waited(LEFT_S, lambda: any(trial.waits_for(False) for trial in course.over))
        figures = {alert: each for trial in course.over for alert, each in trial.outcome().items()}
    untried = sorted(alert for causes in rounds for cause in causes for alert in cause.alerts)
    _show(figures, untried, time.monotonic() - began)
    return {"factor": factor, "alerts": figures, "untried": untried}


def _show(figures: dict[str, dict[str, Any]], untried: Sequence[str], took_s: float) -> None:
    def seconds(value: float | None) -> str:
        return "NO" if value is None else f"{value:.1f}"

    rows = [
        (name, each["why"] or each["cause"], seconds(each["fires_s"]), seconds(each["clears_s"]))
        for name, each in figures.items()
    ]
    print(table("alerts by their causes", ("alert", "cause", "fires, s", "clears, s"), rows, left=("cause",)))
    both = [each for each in figures.values() if each["fires_s"] is not None and each["clears_s"] is not None]
    print(f"{len(both)} of {len(figures) + len(untried)} fired and cleared; {took_s / 60:.1f} minutes")
    if untried:
        print(f"out of time: {', '.join(untried)}")


main = program(run, factor=600.0, only=["CgosPagesDown"])


if __name__ == "__main__":
    main()
