"""Metrics of both processes: what is counted is what is exported, documented, well-formed and cheap."""

from __future__ import annotations

import platform
import re
import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from support.promtool import findings

from cgos_protocol.api.route import Limit
from cgos_protocol.verdict import Reason
from cgos_server.core.venue import Policy
from cgos_server.observability.meters import MAX_REFUSAL_CODES, Meter
from cgos_server.observability.metrics import LATENCY_BOUNDS_US, CloseReason, LoginOutcome, Metrics, roles
from cgos_server.observability.web_metrics import Lack, RouteGroup, StreamKind, WebhookOutcome, WebMetrics

DOCS = Path(__file__).parents[2] / "docs" / "metrics.md"


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


def busy(registry: CollectorRegistry) -> Metrics:
    """Metrics of which each has been touched at least once."""
    metrics = Metrics(registry, "1.2.3")
    metrics.watch(connections=lambda: 7, bots=lambda: {("9x9", "idle"): 3, ("9x9", "playing"): 4})
    metrics.watch(events=lambda: {("9x9", "running"): 2, ("9x9", "paused"): 1}, event_games_begun=lambda: {"9x9": 31})
    metrics.watch(event_games=lambda: {("9x9", "due"): 8, ("9x9", "running"): 9})
    metrics.watch(questions=lambda: {("9x9", "test"): 3}, questions_ended=lambda: {("9x9", "accepted"): 5})
    metrics.watch(question_games_begun=lambda: {"9x9": 41}, question_games_over=lambda: {"9x9": 40})
    metrics.watch(question_slot_seconds=lambda: {("9x9", "questions"): 1.5, ("9x9", "all"): 6.0})
    metrics.watch(games=lambda: {"9x9": 2}, commit_queue=lambda: 5, commit_failing=lambda: True)
    metrics.watch(password_queue=lambda: 6, log_events=lambda: {"warning": 1, "error": 0})
    metrics.watch(ready=lambda: True, transcripts_dropped=lambda: 3)
    metrics.watch(database_size=lambda: {"database": 4096, "log": 512}, transcripts_size=lambda: 99)
    metrics.watch(disk_free=lambda: 1_000, disk_size=lambda: 2_000)
    metrics.watch(cluster_role=lambda: roles("owner"))
    metrics.watch(certificate_expiry=lambda: {"web": 1_900_000_000}, certificate_reload_failures=lambda: 2)
    venue = metrics.venue("9x9")
    for latency in (90, 100, 101, 3_000_000, 60_000_000):
        venue.moved(latency)
    venue.moves += 1
    venue.logins[LoginOutcome.REGISTERED] += 1
    venue.refused("name-taken")
    venue.paired(Policy.ROLLING, 800)
    venue.started_games += 1
    venue.information_bits += 0.75
    venue.wait.observe(4_000_000)
    venue.wait.observe(40_000_000)
    venue.ended_by[Reason.TIME] += 1
    venue.rated(2)
    metrics.refused("name-taken")
    metrics.connection_opened()
    metrics.connection_closed(CloseReason.QUIT)
    metrics.line_ignored()
    metrics.pruned("analyses", 3)
    metrics.web_restarted()
    metrics.tls_handshake_failed()
    metrics.commits.committed(12, 300)
    metrics.commits.failures += 1
    metrics.loop_lag.observe(2_000)
    metrics.backups.taken(1_000, 7, 2.5)
    return metrics


def value(registry: CollectorRegistry, name: str, **labels: str) -> float | None:
    return registry.get_sample_value(name, labels)


def test_what_is_counted_is_exported(registry: CollectorRegistry) -> None:
    metrics = busy(registry)
    assert value(registry, "cgos_moves_total", venue="9x9") == 6
    assert metrics.moves == 6
    assert metrics.ended == {"time": 1}
    assert value(registry, "cgos_bots", venue="9x9", state="playing") == 4
    assert value(registry, "cgos_events", venue="9x9", phase="paused") == 1
    assert value(registry, "cgos_event_games", venue="9x9", state="due") == 8
    assert value(registry, "cgos_event_games_started_total", venue="9x9") == 31
    assert value(registry, "cgos_questions_open", venue="9x9", kind="test") == 3
    assert value(registry, "cgos_questions_ended_total", venue="9x9", state="accepted") == 5
    assert value(registry, "cgos_question_games_started_total", venue="9x9") == 41
    assert value(registry, "cgos_question_games_ended_total", venue="9x9") == 40
    assert value(registry, "cgos_question_slot_seconds_total", venue="9x9", of="all") == 6.0
    assert value(registry, "cgos_connections") == 7
    assert value(registry, "cgos_ready") == 1
    assert value(registry, "cgos_database_size_bytes", part="log") == 512
    assert value(registry, "cgos_disk_free_bytes") == 1_000
    assert value(registry, "cgos_disk_size_bytes") == 2_000
    assert value(registry, "cgos_transcripts_size_bytes") == 99
    assert value(registry, "cgos_transcript_lines_dropped_total") == 3
    assert value(registry, "cgos_game_information_bits_total", venue="9x9") == 0.75
    assert value(registry, "cgos_games_running", venue="9x9") == 2
    assert value(registry, "cgos_commit_failing") == 1
    assert value(registry, "cgos_refusals_total", code="name-taken") == 2
    assert value(registry, "cgos_logins_total", venue="9x9", outcome="registered") == 1
    assert value(registry, "cgos_games_ended_total", venue="9x9", reason="time") == 1
    assert value(registry, "cgos_games_ended_total", venue="9x9", reason="illegal move") == 0
    assert value(registry, "cgos_rounds_total", venue="9x9", policy="rolling") == 1
    assert value(registry, "cgos_rounds_total", venue="9x9", policy="barrier") == 0
    assert value(registry, "cgos_connections_closed_total", reason="quit") == 1
    assert value(registry, "cgos_commit_batch_records_sum") == 12
    assert value(registry, "cgos_game_wait_seconds_sum", venue="9x9") == 44
    assert value(registry, "cgos_log_events_total", level="warning") == 1
    assert value(registry, "cgos_build_info", version="1.2.3", python=platform.python_version()) == 1


def test_a_bound_belongs_to_the_bucket_that_it_closes(registry: CollectorRegistry) -> None:
    busy(registry)
    name = "cgos_relay_latency_seconds"
    assert value(registry, name + "_bucket", venue="9x9", le="0.0001") == 2
    assert value(registry, name + "_bucket", venue="9x9", le="0.00025") == 3
    assert value(registry, name + "_bucket", venue="9x9", le="2.5") == 3
    assert value(registry, name + "_bucket", venue="9x9", le="5.0") == 4
    assert value(registry, name + "_bucket", venue="9x9", le="10.0") == 4
    assert value(registry, name + "_bucket", venue="9x9", le="+Inf") == 5
    assert value(registry, name + "_count", venue="9x9") == 5
    assert value(registry, name + "_sum", venue="9x9") == pytest.approx(63.000291)


@given(st.lists(st.integers(0, 20_000_000), max_size=50))
def test_buckets_say_how_many_values_lie_at_or_below_their_bound(values: list[int]) -> None:
    meter = Meter(LATENCY_BOUNDS_US)
    for item in values:
        meter.observe(item)
    bounds = [*LATENCY_BOUNDS_US, float("inf")]
    assert [count for _, count in meter.buckets(1)] == [sum(item <= bound for item in values) for bound in bounds]
    assert meter.total == sum(values)


def test_refusal_codes_stay_a_small_set(registry: CollectorRegistry) -> None:
    metrics = Metrics(registry, "1")
    for number in range(1_000):
        metrics.refused(f"code-{number}")
    metrics.refused('Not a code!"')
    codes = [s for family in registry.collect() for s in family.samples if s.name == "cgos_refusals_total"]
    assert len(codes) == MAX_REFUSAL_CODES + 1
    assert sum(sample.value for sample in codes) == 1_001
    assert value(registry, "cgos_refusals_total", code="other") == 1_001 - MAX_REFUSAL_CODES


def test_nobody_watched_means_no_sample_rather_than_a_zero(registry: CollectorRegistry) -> None:
    Metrics(registry, "1")
    assert value(registry, "cgos_connections") is None
    assert value(registry, "cgos_commit_failing") is None


def test_a_size_at_which_nobody_has_looked_yet_has_no_sample(registry: CollectorRegistry) -> None:
    Metrics(registry, "1").watch(disk_free=lambda: None, database_size=dict)
    assert value(registry, "cgos_disk_free_bytes") is None
    assert value(registry, "cgos_database_size_bytes", part="database") is None


def exported(registry: CollectorRegistry) -> dict[str, tuple[str, frozenset[str]]]:
    """Name -> type and labels."""
    families: dict[str, tuple[str, frozenset[str]]] = {}
    for family in text_string_to_metric_families(generate_latest(registry).decode()):
        name = family.name + ("_total" if family.type == "counter" else "")
        labels = frozenset(key for sample in family.samples for key in sample.labels if key != "le")
        families[name] = (family.type, labels)
    return families


def test_every_metric_is_documented_and_every_documented_metric_exists(registry: CollectorRegistry) -> None:
    busy(registry)
    row = re.compile(r"^\| `(\w+)` \| (\w+) \| ([^|]*)\|", re.MULTILINE)
    documented = {
        name: (kind, frozenset(re.findall(r"`(\w+)`", labels)))
        for name, kind, labels in row.findall(DOCS.read_text(encoding="utf-8"))
    }
    web = WebMetrics()
    web.refused("no-place")
    both = exported(registry), exported(web.registry)
    assert documented == both[0] | both[1]
    # Only what any Python process has stands in both.
    assert [name for name in both[0].keys() & both[1].keys() if name.startswith("cgos_")] == []


def test_words_of_closed_sets_are_documented() -> None:
    text = DOCS.read_text(encoding="utf-8")
    for words in (CloseReason, LoginOutcome, Reason, Policy, RouteGroup, StreamKind, Limit, Lack, WebhookOutcome):
        assert [word.value for word in words if f"`{word.value}`" not in text] == []


def test_queries_in_the_documentation_name_existing_metrics(registry: CollectorRegistry) -> None:
    busy(registry)
    names = {sample.name for family in registry.collect() for sample in family.samples}
    queries = DOCS.read_text(encoding="utf-8").split("## Questions")[1]
    queried = set(re.findall(r"\bcgos_\w+", queries))
    assert queried
    assert queried <= names


def test_promtool_accepts_the_exposition(registry: CollectorRegistry) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed")
    busy(registry)
    web = WebMetrics()
    web.refused("requests", Limit.REQUESTS)
    for which in (registry, web.registry):
        assert findings(promtool, generate_latest(which)) == []
