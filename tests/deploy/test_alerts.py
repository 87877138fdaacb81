"""The alerts are rules that Prometheus accepts, fire when they must, and say what to do."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.deploy import queries

TOP = Path(__file__).parents[2]
RULES = TOP / "deploy" / "prometheus" / "alerts.yml"
CALM = Path(__file__).parent / "alerts" / "calm.yml"
"""What must not fire any alert."""
CASES = sorted(set(CALM.parent.glob("*.yml")) - {CALM})
GUIDE = TOP / "docs" / "alerts.md"
SAYS = ["Means", "Costs", "Do first", "Clears"]


def loaded(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


ALERTS = {rule["alert"]: rule for group in loaded(RULES)["groups"] for rule in group["rules"]}


def promtool(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    program = shutil.which("promtool")
    if program is None:
        pytest.skip("promtool is not installed")
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=60)


def test_prometheus_accepts_the_rules() -> None:
    check = promtool("check", "rules", RULES)
    assert check.returncode == 0, check.stdout + check.stderr


@pytest.mark.parametrize("cases", [*CASES, CALM], ids=lambda path: path.stem)
def test_each_rule_fires_when_it_must_and_only_then(cases: Path) -> None:
    test = promtool("test", "rules", cases)
    assert test.returncode == 0, test.stdout + test.stderr


def test_each_rule_has_a_case_that_fires_and_one_that_does_not_and_one_that_clears() -> None:
    firing: set[str] = set()
    quiet: set[str] = set()
    cleared: set[str] = set()
    for path in CASES:
        step = loaded(path)["evaluation_interval"]
        for case in loaded(path)["tests"]:
            given = {name for series in case["input_series"] for name in _instances(series["series"])}
            states = {}
            for test in case["promql_expr_test"]:
                assert f'alertname="{case["name"]}"' in test["expr"]
                samples = [sample["labels"] for sample in test["exp_samples"]]
                states[_minutes(test["eval_time"])] = [each for each in samples if 'alertstate="firing"' in each]
            first = next(at for at, labels in states.items() if labels)
            assert states[first - _minutes(step)] == [], f"{case['name']}: not shown that it waits until {first} m"
            firing.add(case["name"])
            quiet |= {case["name"] for labels in [states[first]] if given - set(_instances("".join(labels)))}
            cleared |= {case["name"] for at, labels in states.items() if at > first and not labels}
    assert firing == quiet == cleared == set(ALERTS)


def test_the_cases_have_histograms_as_the_program_exports_them() -> None:
    series = {each["series"] for path in CASES for case in loaded(path)["tests"] for each in case["input_series"]}
    used = {(each.partition("{")[0], bound) for each in series for bound in re.findall(r'\ble="([^"]+)"', each)}
    assert used
    assert used <= queries.bounds()


def _minutes(duration: str) -> int:
    assert duration.endswith("m")
    return int(duration[:-1])


def _instances(labels: str) -> list[str]:
    return re.findall(r'instance="(\w+)"', labels)


@pytest.mark.parametrize("name", ALERTS)
def test_a_rule_reads_what_the_program_exports(name: str) -> None:
    query = ALERTS[name]["expr"]
    assert queries.names(query)
    assert queries.names(query) <= queries.declared() | queries.OF_PROMETHEUS
    assert queries.unknown_matchers(query) == []


def test_each_rule_has_its_section_in_the_guide() -> None:
    sections = re.findall(r"^## (.*)\n((?:(?!#).*\n)*)", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    assert [title for title, _ in sections] == list(ALERTS)
    for title, text in sections:
        assert re.findall(r"^\*\*([^*]+)\*\*: ", text, re.MULTILINE) == SAYS, title


@pytest.mark.parametrize("path", ["prometheus.yml", "compose/prometheus.yml"])
def test_the_links_of_alerts_begin_with_a_whole_address(path: str) -> None:
    assert re.fullmatch(r"https?://[^/]+/.*/", loaded(TOP / "deploy" / path)["global"]["external_labels"]["docs"])


@pytest.mark.parametrize("name", ALERTS)
def test_a_rule_says_how_urgent_it_is_and_where_to_read_on(name: str) -> None:
    rule = ALERTS[name]
    assert rule["labels"]["severity"] in ("critical", "warning")
    assert set(rule["annotations"]) == {"summary", "description", "runbook_url"}
    assert rule["annotations"]["runbook_url"] == f"{{{{ $externalLabels.docs }}}}alerts.md#{name.lower()}"
    assert rule["annotations"]["summary"].endswith(".")
