"""Two real web nodes before two groups of venues on one PostgreSQL: they show, do and tell what concerns all nodes."""

from __future__ import annotations

import contextlib
import urllib.error
from collections import Counter
from pathlib import Path

import pytest
from support.e2e.nodes import NodeProcess, nodes
from support.e2e.processes import end, until
from support.e2e.web_nodes import Hook, Viewer, WebNode, hook
from support.e2e.witnessing import witnesses
from support.net.certificates import cluster_key
from support.storage.postgres import PostgresServer
from support.storage.postgres_fixtures import ask as query

pytestmark = pytest.mark.e2e

TTL_S = 1.5
SECOND = "second"
CUT_LISTENERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE '%listening%'"


def test_two_web_nodes_before_two_groups(postgres: PostgresServer, tmp_path: Path) -> None:
    query(postgres.url(), "CREATE DATABASE pages")
    options = {"ttl_s": TTL_S, "second": SECOND, "key": cluster_key(tmp_path / "cluster.pem")}
    with contextlib.ExitStack() as stack:
        a, b = stack.enter_context(nodes(tmp_path, postgres.url("pages"), "a", "b", **options))
        for node in (a, b):
            node.serve("--standby")
            until(node.serves, 30, f"node {node.name} does not serve")
        first, second = (WebNode(tmp_path, name, postgres.url("pages"), **options) for name in ("w1", "w2"))
        for web in (first, second):
            stack.callback(_ended, web)
            web.start()
            until(web.serves, 20, "it does not say that it is ready")
        sink = stack.enter_context(hook())
        viewer = Viewer(first.web_port)
        with witnesses(a, 2), witnesses(b, 2, port=b.second_port, first=2):
            until(lambda: len(_venues_of_games(a)) == 2, 30, "games begin in both venues")
            viewer.start()

            done = a.command("account", "add", "alice", "--admin", stdin="correct-horse-7\n")
            assert done.returncode == 0, done.stderr
            signed_in = first.api("POST", "/sign-in", {"name": "alice", "password": "correct-horse-7"})[0]
            token = signed_in["session"]
            for bot in ("witness0", "witness2"):  # each plays at another node
                second.api("POST", f"/bots/{bot}/claim", {"secret": "secret"}, token)
                second.api("POST", "/me/webhooks", {"url": sink.url, "events": ["game-ended"], "bot": bot}, token)
            now = second.api("GET", "/bots/witness2/now", token=token)[0]
            assert [item["venue"] for item in now["items"]] == [SECOND]
            assert first.get(f"/venue/{SECOND}", first.web_port)[0] == 200
            with pytest.raises(urllib.error.HTTPError) as refused:  # about one process
                first.api("POST", "/admin/drain", {}, token)
            assert refused.value.code == 409
            until(lambda: len(set(sink.ends())) >= 4, 40, "webhooks are not told")

            viewer.port = second.web_port  # as a balancer would send it elsewhere
            until(lambda: viewer.pictures >= 2, 20, "the viewer does not go on")
            listening = (
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE '%listening%'"
            )
            assert len(query(postgres.url("pages"), listening)) >= 4
            until(lambda: viewer.pictures >= 3, 20, "what was lost is not made up for")

            sender, other = _sender_first(first, second)
            told = len(sink.told)
            sender.kill()
            until(lambda: len(sink.told) > told + 3, 60, "the other one does not tell webhooks")
            viewer.port = other.web_port
            until(lambda: viewer.pictures >= 3, 20, "the viewer does not go on")

            lines, headers = other.api("GET", "/bots/witness2/transcript?limit=50", token=token)
            assert len(lines) == 50
            assert "Cgos-Missing-Nodes" not in headers
            played = len(viewer.moves)
            until(lambda: len(viewer.moves) > played + 50, 30, "the stream does not go on")
            viewer.stop()
        until(lambda: _owed(a, sink) == set(), 60, "an end was not told")
        b.kill()
        lines, headers = other.api("GET", "/bots/witness2/transcript?limit=50", token=token)
        assert (lines, headers["Cgos-Missing-Nodes"]) == ([], "b")
        done = a.command("bot", "transcript", "witness2")
        assert "missing, as they do not answer: b" in done.stderr

        assert viewer.gaps == []
        stored = {(game, ply): move for game, ply, move in a.query("SELECT game_id, ply, move FROM moves")}
        assert {place: move for place, move in viewer.moves.items() if stored.get(place) != move} == {}
        assert len(_venues_of(a, viewer)) == 2
        twice = {number: count for number, count in Counter(each for each, _, _ in sink.told).items() if count > 1}
        assert all(count == 2 for count in twice.values()), twice
        assert len(twice) <= 4  # at the failover alone
        assert [event for event in other.log_events() if event["level"] == "error"] == []
        assert other.stop() == 0


def _ended(web: WebNode) -> None:
    if web.process is not None:
        end(web.process)


def _venues_of_games(node: NodeProcess) -> set[int]:
    return {venue for (venue,) in node.query("SELECT DISTINCT venue_id FROM moves JOIN games ON games.id = game_id")}


def _venues_of(node: NodeProcess, viewer: Viewer) -> set[int]:
    venues = dict(node.query("SELECT id, venue_id FROM games"))
    return {venues[game] for game, _ in viewer.moves}


def _owed(node: NodeProcess, sink: Hook) -> set[int]:
    """Ended games of both bots, since their webhooks were made, of which the hook was not told."""
    rows = node.query(
        "SELECT games.id FROM games, webhooks JOIN bots ON bots.id = bot_id JOIN versions ON versions.bot_id = bots.id "
        "WHERE versions.id IN (black_id, white_id) AND ended_at > webhooks.created_at"
    )
    return {game for (game,) in rows} - set(sink.ends())


def _sender_first(*webs: WebNode) -> tuple[WebNode, WebNode]:
    """The one that sends webhooks, and the other one."""
    sender = next(web for web in webs if web.count("cgos_web_sends_webhooks") == 1)
    return sender, next(web for web in webs if web is not sender)
