"""Three real nodes and two groups of venues on one PostgreSQL: who plays what, and what all of them know."""

from __future__ import annotations

import asyncio
import json
from functools import partial
from pathlib import Path

import pytest
from support.e2e.nodes import NodeProcess, nodes, race
from support.e2e.processes import until
from support.e2e.witness import Witness
from support.e2e.witnessing import assert_nothing_told_is_lost, witnesses
from support.net.certificates import cluster_key
from support.storage.postgres import PostgresServer
from support.storage.postgres_fixtures import ask as query

from cgos_protocol.errors import NotFound
from cgos_server.net import control_socket
from cgos_server.service.commands.registry import ask
from cgos_server.service.commands.server import HandOver

pytestmark = pytest.mark.e2e

TTL_S = 1.5
SECOND = "second"
RACES = 10


def plies(node: NodeProcess, venue: str) -> int:
    rows = node.query(
        "SELECT count(*) FROM moves JOIN games ON games.id = game_id JOIN venues ON venues.id = venue_id "
        f"WHERE name = '{venue}'"
    )
    return int(rows[0][0])


def goes_on(node: NodeProcess, venue: str, threads: list[Witness], port: int) -> None:
    """Games in this venue go on at this port, and whatever was told before is there."""
    for thread in threads:
        thread.port = port
    before = plies(node, venue)
    until(lambda: plies(node, venue) > before + 20, 30, f"play in {venue} does not go on")
    assert_nothing_told_is_lost(node, threads)


def test_two_groups_and_what_they_have_in_common(postgres: PostgresServer, tmp_path: Path) -> None:
    query(postgres.url(), "CREATE DATABASE groups")
    key = cluster_key(tmp_path / "cluster.pem")
    with nodes(tmp_path, postgres.url("groups"), "a", "b", "c", ttl_s=TTL_S, second=SECOND, key=key) as three:
        a, b, c = three
        for node, group in ((a, "main"), (b, SECOND)):
            node.serve("--standby")
            until(node.serves, 30, f"node {node.name} does not serve")
            held = {row["group"]: row["node"] for row in _status(node)}
            assert held[group] == node.name
        upgraded = a.command("upgrade")  # it keeps its group, and its port for commands
        assert upgraded.returncode == 0, upgraded.stderr
        until(a.serves, 30, "node a does not go on")
        c.stand_by()
        assert "node a holds the group main; node b holds the group second" in c.get("/readyz")[1]

        with witnesses(a, 2) as at_main, witnesses(b, 2, port=b.second_port, first=2) as at_second:
            goes_on(a, "9x9", at_main, a.port)
            goes_on(a, SECOND, at_second, b.second_port)

            for venue in ("9x9", SECOND):  # the other node's, too
                done = a.command("pause", "--venue", venue)
                assert done.returncode == 0, done.stderr
            for number in range(RACES):  # of two who register one name at once one gets it
                told = race((a.port, b.second_port), f"racer{number}")
                assert told == [f"Error: Sorry, password doesn't match the name racer{number}.\n"]
            assert a.query("SELECT count(*) FROM bots WHERE name LIKE 'racer%'") == [(RACES,)]
            for node in three:  # each listens where it has to, and nowhere else
                assert _ports(node) == ["ok"]

            with pytest.raises(NotFound, match="This node does not have the group second"):
                asyncio.run(ask(partial(control_socket.call, a.data), HandOver(group=SECOND)))

            for venue in ("9x9", SECOND):  # by a node that stands by
                assert c.command("resume", "--venue", venue).returncode == 0

            done = a.command("bot", "disable", "witness2", "--reason", "it hangs")  # it plays at the other node
            assert done.returncode == 0, done.stderr
            until(lambda: any("it hangs" in error for error in at_second[0].errors), 20, "it is not shut out")
            assert a.command("bot", "enable", "witness2").returncode == 0
            linked = a.command("family", "link", "witness3", "witness2")
            assert linked.returncode == 0, linked.stderr
            asked = (
                "SELECT count(*) FROM ledger JOIN venues ON venues.id = venue_id "
                f"WHERE name = '{SECOND}' AND kind = 'link'"
            )
            until(lambda: b.query(asked) == [(1,)], 20, "the other group's ledger does not say so")
            goes_on(a, SECOND, at_second, b.second_port)

            b.kill()
            until(c.serves, 20, "the third one does not take the second group over")
            goes_on(a, "9x9", at_main, a.port)
            goes_on(a, SECOND, at_second, c.second_port)
            b.stand_by()
            handed_over = c.command("cluster", "handover", "main")
            assert handed_over.returncode == 0, handed_over.stderr
            assert "Node b at localhost has the group main." in handed_over.stderr
            assert a.process is not None
            assert a.process.wait(20) == 75
            until(b.serves, 20, "the other one does not take the group that was handed over")
            goes_on(b, "9x9", at_main, b.port)
            assert "No node stands by" in c.command("cluster", "handover", SECOND).stderr
            groups = sorted(line for line in b.command("status").stdout.splitlines() if line.startswith("group "))
            assert groups == ["group main: node b at localhost", "group second: node c at localhost"]
        games = a.query("SELECT venues.name, count(*) FROM games JOIN venues ON venues.id = venue_id GROUP BY 1")
        assert {name for name, _ in games} == {"9x9", SECOND}
        reasons = a.query("SELECT DISTINCT reason FROM games WHERE reason IN ('time', 'forfeit')")
        assert reasons == []
        for node in (b, c):
            assert node.stop() == 0
    for node in three:
        assert not [event for event in node.log_events() if event["level"] == "error"]


def _status(node: NodeProcess) -> list[dict[str, object]]:
    done = node.command("cluster", "status", "--json")
    assert done.returncode == 0, done.stderr
    rows: list[dict[str, object]] = json.loads(done.stdout)
    return rows


def _ports(node: NodeProcess) -> list[str]:
    """What `doctor` says of its ports."""
    findings = json.loads(node.command("doctor", "--json").stdout)
    return [finding["level"] for finding in findings if finding["check"] == "ports"]
