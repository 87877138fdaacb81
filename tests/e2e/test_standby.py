"""Two real nodes on one PostgreSQL: what is told survives whoever dies, and the games go on at the other one."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.e2e.nodes import NodeProcess, nodes
from support.e2e.processes import until
from support.e2e.witness import Witness
from support.e2e.witnessing import (
    assert_every_result_is_rated_once,
    assert_nothing_told_is_lost,
    plies,
    witnesses,
)
from support.storage.postgres import PostgresServer, postgres_server, why_not
from support.storage.postgres_fixtures import ask

pytestmark = pytest.mark.e2e

TTL_S = 1.5


@pytest.fixture(scope="module")
def restarting() -> Iterator[PostgresServer]:
    """A PostgreSQL server that may be restarted."""
    reason = why_not()
    if reason is not None:
        pytest.skip(reason)
    with postgres_server() as running:
        yield running


def goes_on(node: NodeProcess, threads: list[Witness]) -> None:
    """The node serves, games go on, and whatever was told before is there."""
    until(node.serves, 20, f"node {node.name} does not take over")
    for thread in threads:
        thread.port = node.port  # where it signs in when its connection is gone
    before = plies(node)
    until(lambda: plies(node) > before + 20, 20, "play does not go on")
    assert_nothing_told_is_lost(node, threads)


def test_whoever_dies_is_followed_and_nothing_told_is_lost(restarting: PostgresServer, tmp_path: Path) -> None:
    ask(restarting.url(), "CREATE DATABASE nodes")
    with nodes(tmp_path, restarting.url("nodes"), "a", "b", ttl_s=TTL_S) as both:
        for node in both:  # on an empty database
            node.serve("--standby")
        until(lambda: any(node.serves() for node in both), 30, "nobody serves")
        a, b = sorted(both, key=lambda node: not node.serves())
        until(b.stands_by, 30, "the other one does not stand by")
        assert b.get("/livez") == (200, "alive\n")
        assert b.get("/readyz") == (503, f"not ready\ncluster: standing by (node {a.name} holds the venues)\n")
        assert 'cgos_cluster_role{role="standby"} 1.0' in b.get("/metrics")[1]
        assert 'cgos_cluster_role{role="owner"} 1.0' in a.get("/metrics")[1]
        with witnesses(a, 2) as threads:
            goes_on(a, threads)

            assert a.process is not None
            a.process.send_signal(signal.SIGSTOP)  # longer than its time to live
            until(b.serves, 20, "the other one does not take over")
            a.process.send_signal(signal.SIGCONT)
            assert a.process.wait(20) == 75
            assert f"node {b.name} has taken the venues over" in a.tail()
            goes_on(b, threads)

            a.stand_by()
            b.kill()
            restarting.stop("immediate")
            b.serve("--standby")  # it waits for PostgreSQL, too
            time.sleep(TTL_S)  # nobody could be seen meanwhile
            restarting.start()
            began = time.monotonic()
            until(lambda: a.serves() or b.serves(), 20, "nobody takes over")
            assert time.monotonic() - began > TTL_S - 1.0
            a, b = sorted((a, b), key=lambda node: not node.serves())
            goes_on(a, threads)
            until(b.stands_by, 30, "the other one does not stand by")
            assert b.stop() == 0
        assert a.query("SELECT node, seen IS NULL FROM writer") == [(a.name, False)]
        assert a.stop() == 0
        assert a.query("SELECT node, seen IS NULL FROM writer") == [(a.name, True)]  # another one may have it at once
        assert_every_result_is_rated_once(a)
        assert [thread.conflicts for thread in threads] == [[], []]
        reasons = {reason for (reason,) in a.query("SELECT DISTINCT reason FROM games WHERE ended_at IS NOT NULL")}
        assert reasons <= {"score"}  # no clock was charged for any of it
