"""A real Prometheus with the shipped configuration, scraping one server on loopback more often than it would.

Must not know: what is asked of it, and what the server does meanwhile.
"""

from __future__ import annotations

import contextlib
import json
import math
import shutil
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from benchmarks.moves.crowd import free_ports
from benchmarks.reporting import ROOT

DEPLOY = ROOT / "deploy"
RULES = DEPLOY / "prometheus" / "alerts.yml"
START_S = 30.0


def rules() -> dict[str, Any]:
    """The shipped rules of alerts."""
    loaded: dict[str, Any] = yaml.safe_load(RULES.read_text(encoding="utf-8"))
    return loaded


class Watcher:
    """A running Prometheus."""

    def __init__(self, url: str) -> None:
        self._url = url

    def values(self, query: str) -> list[float]:
        """The samples of an instant query; what is not a number is left out."""
        answer = self._get("/api/v1/query", query=query)
        return [number for sample in answer["result"] if not math.isnan(number := float(sample["value"][1]))]

    def firing(self) -> set[str]:
        """The alerts that fire."""
        return {
            each["labels"]["alertname"] for each in self._get("/api/v1/alerts")["alerts"] if each["state"] == "firing"
        }

    def _get(self, path: str, **parameters: str) -> Any:
        url = f"{self._url}{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=60) as answer:
            return json.load(answer)["data"]

    def ready(self) -> bool:
        """It answers queries."""
        try:
            with urllib.request.urlopen(f"{self._url}/-/ready", timeout=2):
                return True
        except OSError:
            return False


class Sightings:
    """What fired when, by the clock ``time.monotonic``, as a thread saw it."""

    def __init__(self, watching: Watcher, every_s: float) -> None:
        self._watching = watching
        self._every_s = every_s
        self._seen: list[tuple[float, frozenset[str]]] = [(time.monotonic(), frozenset())]
        self._stopped = threading.Event()

    @contextlib.contextmanager
    def looking(self) -> Iterator[None]:
        """It looks again and again as long as the block runs, also where Prometheus does not answer now and then."""
        thread = threading.Thread(target=self._look, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stopped.set()
            thread.join(timeout=90)

    def _look(self) -> None:
        while not self._stopped.wait(self._every_s):
            with contextlib.suppress(OSError):
                firing = frozenset(self._watching.firing())
                if firing != self._seen[-1][1]:
                    self._seen.append((time.monotonic(), firing))

    def ever(self) -> set[str]:
        """All that fired at some time."""
        return {alert for _, firing in list(self._seen) for alert in firing}

    def first(self, alert: str, since: float, firing: bool) -> float | None:
        """When it fired first, or did not, at or after this time; None where that has not been seen."""
        seen = list(self._seen)
        current = max(at for at, _ in seen if at <= since) if seen[0][0] <= since else seen[0][0]
        return next((max(at, since) for at, alerts in seen if at >= current and (alert in alerts) == firing), None)


@contextlib.contextmanager
def watcher(folder: Path, health: int, interval_s: float, weighed: dict[str, Any] | None = None) -> Iterator[Watcher]:
    """Prometheus with deploy/prometheus.yml, every job's target being the port `health`.

    :param interval_s: between two scrapes, and two looks at the rules
    :param weighed: rules in place of the shipped ones
    :raises RuntimeError: there is none here, or it does not start
    """
    program = shutil.which("prometheus")
    if program is None:
        raise RuntimeError("prometheus is not installed")
    config = yaml.safe_load((DEPLOY / "prometheus.yml").read_text(encoding="utf-8"))
    interval = f"{interval_s * 1000:.0f}ms"
    config["global"] = {"scrape_interval": interval, "evaluation_interval": interval, "scrape_timeout": interval}
    for job in config["scrape_configs"]:
        job["static_configs"] = [{"targets": [f"127.0.0.1:{health}"]}]
    own = folder / "rules.yml"
    own.write_text(yaml.safe_dump(weighed or rules()))
    config["rule_files"] = [str(own)]
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    port, _ = free_ports()
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(
            [
                program,
                f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={folder / 'samples'}",
                f"--web.listen-address=127.0.0.1:{port}",
            ],
            stdout=log,
            stderr=log,
        )
    try:
        running = Watcher(f"http://127.0.0.1:{port}")
        deadline = time.monotonic() + START_S
        while not running.ready():
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"prometheus does not start: {(folder / 'prometheus.log').read_text()[-2000:]}")
            time.sleep(0.2)
        yield running
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)
