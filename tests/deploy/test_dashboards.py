"""The dashboards are those that panels.yml declares, and draw what the program exports."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from support.deploy import queries

DEPLOY = Path(__file__).parents[2] / "deploy"
GRAFANA = DEPLOY / "grafana"
DASHBOARDS = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in GRAFANA.glob("dashboards/*.json")}

UNITS = {"none", "short", "percentunit", "s", "bytes", "ops", "reqps"}
"""Grafana's words for those in use."""
SUBJECTS = {
    "bots": "cgos_bots",
    "games": "cgos_games_running",
    "waits": "cgos_game_wait_seconds_bucket",
    "information a game": "cgos_game_information_bits_total",
    "a move's way": "cgos_relay_latency_seconds_bucket",
    "commit time": "cgos_commit_latency_seconds_bucket",
    "loop lag": "cgos_loop_lag_seconds_bucket",
    "refits": "cgos_refits_total",
    "errors by kind": "cgos_log_events_total",
    "refusals by code": "cgos_refusals_total",
    "outcomes by reason": "cgos_games_ended_total",
    "facts dropped": "cgos_facts_dropped_total",
    "requests of pages": "cgos_web_requests_total",
    "time of pages": "cgos_web_request_duration_seconds_bucket",
    "streams": "cgos_web_streams",
    "answers 429": "cgos_web_limited_total",
    "webhooks": "cgos_web_webhooks_total",
    "size of the database": "cgos_database_size_bytes",
    "backups": "cgos_backup_last_success_timestamp_seconds",
}


def panels(dashboard: dict[str, Any]) -> list[dict[str, Any]]:
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def expressions() -> Iterator[tuple[str, str]]:
    """(where, query) of all panels."""
    for name, dashboard in DASHBOARDS.items():
        for panel in panels(dashboard):
            for target in panel["targets"]:
                yield f"{name}: {panel['title']}: {target['legendFormat']}", target["expr"]


def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make", GRAFANA / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_dashboards_are_those_of_panels_yml() -> None:
    files = maker().files()
    assert {path.stem for path in files} == set(DASHBOARDS) == {"overview", "venue", "pages"}
    for path, text in files.items():
        assert path.read_text(encoding="utf-8") == text, "run: python deploy/grafana/make.py"


def test_the_panels_read_what_the_program_exports() -> None:
    declared = queries.declared() | queries.OF_PROMETHEUS
    for where, query in expressions():
        assert queries.names(query), where
        assert queries.names(query) <= declared, where
        assert queries.unknown_matchers(query) == [], where


def test_every_subject_has_a_panel() -> None:
    drawn = {name for _, query in expressions() for name in queries.names(query)}
    assert {subject for subject, metric in SUBJECTS.items() if metric not in drawn} == set()


def test_dashboards_are_told_apart_and_have_one_source() -> None:
    assert len({dashboard["uid"] for dashboard in DASHBOARDS.values()}) == len(DASHBOARDS)
    for dashboard in DASHBOARDS.values():
        variables = [each["name"] for each in dashboard["templating"]["list"]]
        assert variables.count("datasource") == 1
        assert len(variables) == len(set(variables))
        assert len({panel["id"] for panel in dashboard["panels"]}) == len(dashboard["panels"])
        used = set(re.findall(r"\$(\w+)|\$\{(\w+)\}", json.dumps(dashboard["panels"])))
        assert {"".join(name) for name in used} <= {*variables, "__rate_interval"}
        for panel in panels(dashboard):
            for part in (panel, *panel["targets"]):
                assert part["datasource"] == {"type": "prometheus", "uid": "${datasource}"}


@pytest.mark.parametrize("name", DASHBOARDS)
def test_each_panel_says_what_it_shows_in_which_unit_and_names_its_lines(name: str) -> None:
    dashboard = DASHBOARDS[name]
    assert "id" not in dashboard, "Grafana gives it, and takes no other one's"
    assert dashboard["schemaVersion"] >= 36, "from then on sources are named as here"
    assert [panel["id"] for panel in dashboard["panels"]] == list(range(1, len(dashboard["panels"]) + 1))
    titles = [panel["title"] for panel in dashboard["panels"] if panel["type"] == "timeseries"]
    assert len(titles) == len(set(titles))
    for panel in panels(dashboard):
        assert panel["description"].endswith("."), panel["title"]
        assert panel["fieldConfig"]["defaults"]["unit"] in UNITS, panel["title"]
        assert all(target["legendFormat"] for target in panel["targets"]), panel["title"]
        refs = [target["refId"] for target in panel["targets"]]
        assert len(refs) == len(set(refs)) > 0, panel["title"]


@pytest.mark.parametrize("name", DASHBOARDS)
def test_no_panel_covers_another(name: str) -> None:
    covered: set[tuple[int, int]] = set()
    for panel in DASHBOARDS[name]["panels"]:
        place = panel["gridPos"]
        assert place["x"] + place["w"] <= 24
        cells = {(place["x"] + x, place["y"] + y) for x in range(place["w"]) for y in range(place["h"])}
        assert not cells & covered, panel["title"]
        covered |= cells


def test_provisioning_finds_the_dashboards_and_the_source() -> None:
    (provider,) = yaml.safe_load((GRAFANA / "provisioning/dashboards/cgos.yml").read_text())["providers"]
    path = provider["options"]["path"]
    guide = (DEPLOY / "README.md").read_text(encoding="utf-8")
    assert f"dashboards/*.json {path}" in guide
    for folder in GRAFANA.joinpath("provisioning").iterdir():
        assert f"provisioning/{folder.name}" in guide
    (source,) = yaml.safe_load((GRAFANA / "provisioning/datasources/prometheus.yml").read_text())["datasources"]
    scraped = yaml.safe_load((DEPLOY / "prometheus.yml").read_text())
    assert source["jsonData"]["timeInterval"] == scraped["global"]["scrape_interval"]
    jobs = {job for _, query in expressions() for job in re.findall(r'job="([\w-]+)"', query)}
    assert jobs <= {each["job_name"] for each in scraped["scrape_configs"]}
