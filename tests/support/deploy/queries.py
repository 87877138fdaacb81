"""What a query for Prometheus reads, beside what the program declares.

Must not know: which queries there are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric

from cgos_server.observability.metrics import Metrics
from cgos_server.observability.web_metrics import WebMetrics

OF_PROMETHEUS = {"up", "ALERTS"}
OF_A_SCRAPE = {"job", "instance", "le", "alertname", "alertstate"}
"""Labels that no family declares."""
NAME = re.compile(r"\b(?:cgos|process|python)_[a-z_]+\b|\bup\b|\bALERTS\b")
SELECTOR = re.compile(r"([A-Za-z_]+)\{([^}]*)\}")
MATCHER = re.compile(r'(\w+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"')
ROW = re.compile(r"^\| `(\w+)` \| \w+ \| ([^|]*) \| (.*) \|$", re.MULTILINE)
METRICS_PAGE = Path(__file__).parents[3] / "docs" / "metrics.md"


def names(query: str) -> set[str]:
    """The metrics that it reads."""
    return set(NAME.findall(re.sub(r'"[^"]*"', '""', query)))


def declared() -> set[str]:
    """All that both processes export, histograms by their three parts."""
    game, web = CollectorRegistry(), CollectorRegistry()
    Metrics(game, "1")
    WebMetrics(web)
    return {name for registry in (game, web) for family in registry.collect() for name in _parts(family)}


def bounds() -> set[tuple[str, str]]:
    """(histogram's buckets, upper bound) of all that both processes export."""
    game, web = CollectorRegistry(), CollectorRegistry()
    Metrics(game, "1").venue("9x9")
    WebMetrics(web)
    samples = (sample for registry in (game, web) for family in registry.collect() for sample in family.samples)
    return {(sample.name, sample.labels["le"]) for sample in samples if "le" in sample.labels}


def _parts(family: Metric) -> Iterator[str]:
    if family.type == "counter":
        yield f"{family.name}_total"
    elif family.type == "histogram":
        yield from (f"{family.name}_{part}" for part in ("bucket", "sum", "count"))
    else:
        yield f"{family.name}_info" if family.type == "info" else family.name


def unknown_matchers(query: str) -> list[str]:
    """Labels, and words for their values, that docs/metrics.md does not have for the metric they stand at."""
    rows = {name: (labels, text) for name, labels, text in ROW.findall(METRICS_PAGE.read_text(encoding="utf-8"))}
    unknown = []
    for metric, matchers in SELECTOR.findall(query):
        labels, text = rows.get(re.sub(r"_(bucket|sum|count)$", "", metric), ("", ""))
        for label, values in MATCHER.findall(matchers):
            if label in OF_A_SCRAPE:
                continue
            if f"`{label}`" not in labels:
                unknown.append(f"{metric}: {label}")
            elif not values.startswith("$"):
                unknown += [f"{metric}: {label}={word}" for word in values.split("|") if f"`{word}`" not in text]
    return unknown
