"""The ratings of a real server: stopped at the worst instants, replayed afterwards to the last bit."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.e2e.processes import ServerProcess, server, until
from support.e2e.witnessing import assert_every_result_is_rated_once, witnesses

pytestmark = pytest.mark.e2e

VENUE = """time = { system = "absolute", main = "2m" }
rating = { views = "cgos-elo, glicko2" }"""


def fit_workers(serving: ServerProcess) -> Iterator[int]:
    """The children that compute refits."""
    assert serving.process is not None
    for entry in Path("/proc").iterdir():
        try:
            command = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
            parent = (entry / "stat").read_text().rsplit(") ", 1)[1].split()[1] if command else ""
        except (FileNotFoundError, ProcessLookupError):
            continue
        if b"-refit" in command and parent == str(serving.process.pid):
            yield int(entry.name)


def count(serving: ServerProcess, what: str) -> int:
    return int(
        serving.query(f"select coalesce(max({what[: what.index(' ')]}), 0) from {what[what.index(' ') + 1 :]}")[0][0]
    )


def assert_replays(serving: ServerProcess) -> None:
    for system in ("bayes", "cgos-elo", "glicko2"):
        done = serving.command("rate", "replay", "--system", system, "--json")
        assert done.returncode == 0, done.stdout + done.stderr
        (replayed,) = json.loads(done.stdout)["9x9"]
        assert replayed["exact"] is True, done.stdout
        assert (replayed["refits"] > 0) is (system == "bayes")


def test_killed_between_result_and_refit_the_replay_is_exact_to_the_bit(tmp_path: Path) -> None:
    with server(tmp_path, venue=VENUE) as serving, witnesses(serving):
        for _ in range(2):
            refits = count(serving, "number refits")
            until(lambda before=refits: count(serving, "number refits") > before + 2, 90, "no refits")  # type: ignore[misc]
            workers = list(fit_workers(serving))
            assert workers
            for pid in workers:
                os.kill(pid, signal.SIGSTOP)
            try:
                # Results that no refit can follow any more.
                seq = count(serving, "seq ledger")
                until(lambda before=seq: count(serving, "seq ledger") > before + 3, 90, "no results")  # type: ignore[misc]
                serving.kill()
            finally:
                for pid in workers:
                    os.kill(pid, signal.SIGCONT)
            until(lambda pids=workers: not any(Path(f"/proc/{pid}").exists() for pid in pids), 20, "orphans")  # type: ignore[misc]
            assert count(serving, "seq ledger") > count(serving, "applied refits")
            serving.start()
        until(lambda: count(serving, "applied refits") >= count(serving, "seq ledger") - 3, 60, "no refit afterwards")
        assert serving.stop() == 0
        assert_every_result_is_rated_once(serving)
        assert_replays(serving)
        assert serving.query("select count(*) from rating_states") == [(3,)]


def test_a_server_that_is_stopped_in_order_has_nothing_to_compute_again(tmp_path: Path) -> None:
    with server(tmp_path, venue=VENUE) as serving, witnesses(serving, 2):
        until(lambda: count(serving, "number refits") > 2, 90, "no refits")
        assert serving.stop() == 0
        saved = serving.query("select system, seq, refit from rating_states order by system")
        assert [row[0] for row in saved] == ["bayes", "cgos-elo", "glicko2"]
        assert {row[1] for row in saved} == {count(serving, "seq ledger")}
        assert saved[0][2] == count(serving, "number refits")
        assert_replays(serving)
