"""The example of an Alertmanager: the real program takes it, tells who must know, and of a cause only the cause."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.e2e.processes import end, free_port, until

DEPLOY = Path(__file__).parents[2] / "deploy"
EXAMPLE = DEPLOY / "prometheus" / "alertmanager.yml"
CONFIG = yaml.safe_load(EXAMPLE.read_text(encoding="utf-8"))
RULES = [
    rule
    for group in yaml.safe_load((DEPLOY / "prometheus" / "alerts.yml").read_text(encoding="utf-8"))["groups"]
    for rule in group["rules"]
]
ALERTS = {rule["alert"]: rule["labels"]["severity"] for rule in RULES}


def program(*names: str) -> str:
    found = next(filter(None, map(shutil.which, names)), None)
    if found is None:
        pytest.skip(f"{names[0]} is not installed")
    return found


def matched(matchers: list[str]) -> set[str]:
    """The alerts that pass all matchers by name."""
    alerts = set(ALERTS)
    for name, sign, value in (re.fullmatch(r'(\w+)(=~|!=|=)"(.*)"', each).groups() for each in matchers):  # type: ignore[union-attr]
        assert name == "alertname"
        alerts = {alert for alert in alerts if (re.fullmatch(value, alert) is None) == (sign == "!=")}
    return alerts


def test_each_severity_has_a_receiver() -> None:
    routes = {matcher: route["receiver"] for route in CONFIG["route"]["routes"] for matcher in route["matchers"]}
    assert routes == {'severity="critical"': "wake", 'severity="warning"': "morning"}
    assert {CONFIG["route"]["receiver"], *routes.values()} == {each["name"] for each in CONFIG["receivers"]}
    assert set(ALERTS.values()) == {"critical", "warning"}


def test_what_is_silenced_is_no_cause_and_every_name_is_an_alert() -> None:
    for rule in CONFIG["inhibit_rules"]:
        source, target = matched(rule["source_matchers"]), matched(rule["target_matchers"])
        assert source
        assert target
        assert not source & target
        assert rule["equal"] == ["instance"]
        for matcher in (*rule["source_matchers"], *rule["target_matchers"]):
            words = re.sub(r"\(([^)]*)\)|\.\+", "", matcher.partition('"')[2]).strip('"').split("|")
            assert all(any(alert.startswith(word) for alert in ALERTS) for word in words), matcher


def test_the_real_programs_take_it(tmp_path: Path) -> None:
    text = (DEPLOY / "prometheus.yml").read_text(encoding="utf-8")
    (tmp_path / "prometheus.yml").write_text(text.replace("# alerting:", "alerting:"))
    (tmp_path / "prometheus").symlink_to(DEPLOY / "prometheus")
    assert yaml.safe_load((tmp_path / "prometheus.yml").read_text())["alerting"]["alertmanagers"]
    subprocess.run([program("promtool"), "check", "config", tmp_path / "prometheus.yml"], check=True, timeout=30)
    amtool = program("amtool")
    subprocess.run([amtool, "check-config", EXAMPLE], check=True, timeout=30)
    for severity, receiver in (("critical", "wake"), ("warning", "morning")):
        route = [amtool, "config", "routes", "test", f"--config.file={EXAMPLE}", f"severity={severity}"]
        assert subprocess.run(route, check=True, capture_output=True, text=True, timeout=30).stdout.strip() == receiver


@pytest.fixture
def alertmanager(tmp_path: Path) -> Iterator[str]:
    """The address of a running one."""
    port = free_port()
    command = [program("prometheus-alertmanager", "alertmanager"), f"--config.file={EXAMPLE}"]
    command += [f"--storage.path={tmp_path}", f"--web.listen-address=127.0.0.1:{port}", "--cluster.listen-address="]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        url = f"http://127.0.0.1:{port}/api/v2"
        until(lambda: _answers(url), 30, "the Alertmanager does not answer")
        yield url
    finally:
        end(process)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/status", timeout=5):
            return True
    except OSError:
        return False


def _silenced(url: str) -> set[tuple[str, str]]:
    with urllib.request.urlopen(f"{url}/alerts", timeout=5) as answer:
        alerts: list[dict[str, Any]] = json.load(answer)
    return {
        (each["labels"]["instance"], each["labels"]["alertname"]) for each in alerts if each["status"]["inhibitedBy"]
    }


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("cause", "silent"),
    [
        ("CgosServerDown", set(ALERTS) - {"CgosServerDown"}),
        ("CgosPagesDown", {"CgosPagesFail", "CgosWebhooksFail", "CgosFactsDropped"}),
        ("CgosDiskFull", {"CgosDiskFillsUp", "CgosBackupFails"}),
    ],
)
def test_of_a_cause_and_what_follows_only_the_cause_is_told(alertmanager: str, cause: str, silent: set[str]) -> None:
    # Of all alerts some would silence others on the other server, too.
    elsewhere = silent if cause != "CgosServerDown" else set()
    posted = [*(("one", name) for name in {cause, *silent}), *(("other", name) for name in elsewhere)]
    alerts = [
        {"labels": {"alertname": name, "instance": instance, "severity": ALERTS[name]}} for instance, name in posted
    ]
    request = urllib.request.Request(
        f"{alertmanager}/alerts", json.dumps(alerts).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=5) as answer:
        assert answer.status == 200
    wanted = {("one", name) for name in silent}
    assert until(lambda: _silenced(alertmanager) == wanted, 10, "what follows from the cause is not silent")
