"""Writes `dashboards/*.json` from `panels.yml`, both beside it: `python deploy/grafana/make.py`.

Panels follow each other from left to right, row by row. Must not know: what they show.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

HERE = Path(__file__).parent
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
SCHEMA_VERSION = 41
COLUMNS = 24
SIZES = {"stat": (3, 4), "timeseries": (8, 8)}
"""Width and height on Grafana's grid, by the kind of panel."""
STYLES = {
    "stat": {"reduceOptions": {"calcs": ["lastNotNull"]}, "colorMode": "value"},
    "timeseries": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
}
ALERTS = {
    "name": "Alerts",
    "datasource": SOURCE,
    "enable": True,
    "iconColor": "red",
    "titleFormat": "{{alertname}}",
    "expr": 'ALERTS{alertname=~"Cgos.*", alertstate="firing"}',
}
"""Marks on all graphs."""
VENUES = "label_values(cgos_games_started_total, venue)"
VENUE = {
    "name": "venue",
    "label": "Venue",
    "type": "query",
    "datasource": SOURCE,
    "definition": VENUES,
    "query": {"query": VENUES, "refId": "venue"},
    "refresh": 2,
    "sort": 3,
}
SEVERAL = {"multi": True, "includeAll": True, "allValue": ".*", "current": {"text": ["All"], "value": ["$__all"]}}


def placed(rows: dict[str, list[dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    """All panels with their places, each row under its title."""
    top = 0
    for title, panels in rows.items():
        row = {"type": "row", "title": title, "collapsed": False, "panels": []}
        yield row | {"gridPos": {"x": 0, "y": top, "w": COLUMNS, "h": 1}}
        top, left, height = top + 1, 0, 0
        for panel in panels:
            width, height = SIZES[panel.get("kind", "timeseries")]
            if left + width > COLUMNS:
                left, top = 0, top + height
            yield drawn(panel) | {"gridPos": {"x": left, "y": top, "w": width, "h": height}}
            left += width
        top += height


def drawn(panel: dict[str, Any]) -> dict[str, Any]:
    """A panel without its place."""
    kind = panel.get("kind", "timeseries")
    field: dict[str, Any] = {"unit": panel["unit"]}
    if kind == "timeseries" and not panel.get("below_zero"):
        field["min"] = 0
    if "colors" in panel:
        steps = [{"value": None if at == "base" else at, "color": color} for at, color in panel["colors"].items()]
        field["thresholds"] = {"mode": "absolute", "steps": steps}
    if "words" in panel:
        options = {str(value): {"text": word, "color": color} for value, (word, color) in panel["words"].items()}
        field["mappings"] = [{"type": "value", "options": options}]
    return {
        "type": kind,
        "title": panel["title"],
        "description": panel["text"],
        "datasource": SOURCE,
        "fieldConfig": {"defaults": field, "overrides": []},
        "options": STYLES[kind],
        "targets": [
            {"refId": chr(ord("A") + at), "datasource": SOURCE, "expr": expr, "legendFormat": name}
            for at, (name, expr) in enumerate(panel["queries"].items())
        ],
    }


def variables(venues: str) -> list[dict[str, Any]]:
    """What is chosen at the top: the source of the data, and `one` venue, `several` or none."""
    chosen: list[dict[str, Any]] = [
        {"name": "datasource", "label": "Data source", "type": "datasource", "query": "prometheus"}
    ]
    if venues != "none":
        chosen.append(VENUE | (SEVERAL if venues == "several" else {}))
    return chosen


def written(name: str, dashboard: dict[str, Any]) -> dict[str, Any]:
    """The dashboard as Grafana reads it."""
    panels = [panel | {"id": number} for number, panel in enumerate(placed(dashboard["rows"]), 1)]
    return {
        "uid": f"cgos-{name}",
        "title": dashboard["title"],
        "description": dashboard["text"],
        "tags": ["cgos-server"],
        "schemaVersion": SCHEMA_VERSION,
        "editable": True,
        "graphTooltip": 1,
        "refresh": "30s",
        "time": {"from": "now-6h", "to": "now"},
        "timezone": "browser",
        "annotations": {"list": [ALERTS]},
        "links": [{"type": "dashboards", "title": "cgos-server", "tags": ["cgos-server"], "keepTime": True}],
        "templating": {"list": variables(dashboard["venues"])},
        "panels": panels,
    }


def files() -> dict[Path, str]:
    """Path -> text of every dashboard."""
    declared = yaml.safe_load((HERE / "panels.yml").read_text(encoding="utf-8"))
    return {
        HERE / "dashboards" / f"{name}.json": json.dumps(written(name, dashboard), indent=1) + "\n"
        for name, dashboard in declared.items()
        if name != "shared"
    }


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
