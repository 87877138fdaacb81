"""What both registries of metrics are made of: histograms of whole numbers, tallies of codes, families for Prometheus.

Must not know: what is counted, in which process.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric

SECOND = 1_000_000
"""Microseconds, in which times are measured."""

MAX_REFUSAL_CODES = 48
"""Codes are words in our own source; a fault that made them vary must not grow the scrape without bound."""

_CODE = re.compile(r"[a-z][a-z0-9-]{0,31}\Z")


class Meter:
    """A histogram of non-negative integers."""

    __slots__ = ("_bounds", "counts", "total")

    def __init__(self, bounds: Sequence[int]) -> None:
        self._bounds = tuple(bounds)
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0

    def observe(self, value: int) -> None:
        """Count one value; a bound belongs to the bucket that it closes."""
        self.counts[bisect_left(self._bounds, value)] += 1
        self.total += value

    def buckets(self, unit: int) -> list[tuple[str, float]]:
        """Cumulative Prometheus buckets, bounds divided by `unit`."""
        cumulative = 0
        result: list[tuple[str, float]] = []
        bounds = [str(float(bound) / unit) for bound in self._bounds]
        for bound, count in zip([*bounds, "+Inf"], self.counts, strict=True):
            cumulative += count
            result.append((bound, cumulative))
        return result


class RefusalTally:
    """What policy refused, by code: a bounded set of words, whatever is thrown at it."""

    __slots__ = ("counts",)

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def add(self, code: str) -> None:
        """Count one refusal; an unlikely code, and every new one beyond the limit, goes under ``other``."""
        counts = self.counts
        if code not in counts and (len(counts) >= MAX_REFUSAL_CODES or not _CODE.match(code)):
            code = "other"
        counts[code] = counts.get(code, 0) + 1


def counter(name: str, text: str, label: str, counts: Mapping[Any, float]) -> Metric:
    """A counter for each word of the label."""
    return labeled(CounterMetricFamily(name, text, labels=(label,)), (((str(word),), n) for word, n in counts.items()))


def labeled(family: Any, samples: Iterable[tuple[tuple[str, ...], float]]) -> Metric:
    """The family with these samples: labels and value."""
    for labels, value in samples:
        family.add_metric(labels, value)
    metric: Metric = family
    return metric


def histogram(name: str, text: str, meters: Mapping[str, Meter], unit: int, label: str = "") -> Metric:
    """One family. Without a label its only meter goes by the empty word."""
    family = HistogramMetricFamily(name, text, labels=(label,) if label else ())
    for word, meter in meters.items():
        family.add_metric((word,) if label else (), meter.buckets(unit), meter.total / unit)
    return family
