"""Every metric of the process that serves the pages, in a registry of its own.

Requests are counted by groups of addresses, never by an address: whatever strangers ask for, the labels are words of
our own source. Must not know: which addresses there are, HTTP, who reads the metrics. Everything here belongs to the
thread of the event loop.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from prometheus_client import CollectorRegistry, GCCollector, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from cgos_protocol.api.route import Limit
from cgos_server.observability.meters import SECOND, Meter, RefusalTally, counter, histogram, labeled

DURATION_BOUNDS_US: Final = (*(step * 1_000 * 10**power for power in range(4) for step in (1, 2.5, 5)), 10 * SECOND)
"""1 ms to 10 s."""

STATUSES: Final = ("2xx", "3xx", "4xx", "5xx")


class RouteGroup(enum.StrEnum):
    """What a request is for: a few words for all addresses."""

    OVERVIEW = "overview"
    VENUE = "venue"
    BOT = "bot"
    GAME = "game"
    EVENT = "event"
    QUESTION = "question"
    WALL = "wall"
    CONNECT = "connect"
    ACCOUNT = "account"
    ADMIN = "admin"
    EMBED = "embed"
    """Badges, pictures for links, boards in frames of other sites."""
    API_READ = "api-read"
    API_ACT = "api-act"
    EXPORT = "export"
    STREAM = "stream"
    FILE = "file"
    """Scripts, style, icons."""
    DOCS = "docs"
    OTHER = "other"
    """No address of ours."""


class StreamKind(enum.StrEnum):
    """What lasts for as long as its reader stays."""

    GAME = "game"
    VENUE = "venue"
    """What happens in a venue, or in all."""
    EXPORT = "export"


LASTING: Final = frozenset({RouteGroup.STREAM, RouteGroup.EXPORT})
"""Whose duration is the reader's choice."""


class Lack(enum.StrEnum):
    """Why a request was answered 503, besides the limits of :class:`cgos_protocol.api.route.Limit`."""

    DATABASE = "database"
    """It could not be read."""
    SERVER = "server"
    """The process that plays did not answer."""
    OTHER = "other"
    """Too many pictures wait to be drawn, a computation is too long for now."""


class WebhookOutcome(enum.StrEnum):
    """What became of a try to tell a webhook, or of a message."""

    DELIVERED = "delivered"
    FAILED = "failed"
    """A try, which another one may follow."""
    GIVEN_UP = "given-up"
    """A message, after its last try, or with the webhook that was stopped."""
    DROPPED = "dropped"
    """A message, as too many waited."""


class RouteMeter:
    """The requests of one group.

    :ivar answered: class of status, of :data:`STATUSES` -> answers
    :ivar duration: microseconds to the last byte
    """

    __slots__ = ("answered", "duration")

    def __init__(self) -> None:
        self.answered = dict.fromkeys(STATUSES, 0)
        self.duration = Meter(DURATION_BOUNDS_US)


class WebMetrics:
    """All of it. Registers itself and the process's own figures with `registry`, which must be fresh.

    :ivar registry: what is read at a scrape
    :ivar routes: group -> its requests
    :ivar streams: kind -> how many are open
    :ivar limited: limit, or what was lacking -> answers 429 and 503
    :ivar webhooks: outcome -> how often
    :ivar facts_missed: times that facts of the game process did not reach this one
    :ivar webhook_queue: messages that wait, once somebody says so
    :ivar sends_webhooks: whether this process is the one that sends them
    """

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self.registry = registry or CollectorRegistry()
        self.routes = {group: RouteMeter() for group in RouteGroup}
        self.streams = dict.fromkeys(StreamKind, 0)
        self.limited: dict[Limit | Lack, int] = dict.fromkeys((*Limit, *Lack), 0)
        self.webhooks = dict.fromkeys(WebhookOutcome, 0)
        self.facts_missed = 0
        self.webhook_queue: Callable[[], int] = int
        self.sends_webhooks: Callable[[], bool] = bool
        self._refusals = RefusalTally()
        self.registry.register(self)
        ProcessCollector(registry=self.registry)
        GCCollector(registry=self.registry)

    def refused(self, code: str, limit: Limit | Lack | None = None) -> None:
        """A request was refused with this code of :class:`cgos_protocol.errors.Code`.

        :param limit: what was reached, or is lacking, where another attempt later may succeed
        """
        self._refusals.add(code)
        if limit is not None:
            self.limited[limit] += 1

    def describe(self) -> Iterable[Metric]:
        """Tells the registry that nothing needs to be collected to register this."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """The families, for the registry."""
        requests = CounterMetricFamily(
            "cgos_web_requests_total", "Requests answered, by group of addresses.", labels=("route", "status")
        )
        yield labeled(
            requests,
            (
                ((group.value, status), count)
                for group, meter in self.routes.items()
                for status, count in meter.answered.items()
            ),
        )
        durations = {group.value: meter.duration for group, meter in self.routes.items() if group not in LASTING}
        yield histogram(
            "cgos_web_request_duration_seconds",
            "From a request's head to the last byte of its answer.",
            durations,
            label="route",
            unit=SECOND,
        )
        streams = GaugeMetricFamily("cgos_web_streams", "Answers that last, open now.", labels=("kind",))
        yield labeled(streams, (((kind.value,), count) for kind, count in self.streams.items()))
        for name, text, label, counts in (
            ("cgos_web_refusals_total", "Requests refused, by code.", "code", self._refusals.counts),
            ("cgos_web_limited_total", "Answers 429 and 503, by limit.", "limit", self.limited),
            ("cgos_web_webhooks_total", "Messages of webhooks, by outcome.", "outcome", self.webhooks),
        ):
            yield counter(name, text, label, counts)
        yield GaugeMetricFamily(
            "cgos_web_webhook_queue_length", "Messages of webhooks that wait.", self.webhook_queue()
        )
        yield GaugeMetricFamily(
            "cgos_web_sends_webhooks", "1 for the process that sends webhooks, else 0.", self.sends_webhooks()
        )
        yield CounterMetricFamily(
            "cgos_web_facts_missed_total", "Times that facts did not reach this process.", value=self.facts_missed
        )
