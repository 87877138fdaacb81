"""A real server on PostgreSQL: what must survive its database's restarts, and its own."""

from __future__ import annotations

import contextlib
import itertools
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from support.e2e.processes import ServerProcess, end, until
from support.e2e.witnessing import (
    assert_every_result_is_rated_once,
    assert_nothing_told_is_lost,
    ended,
    plies,
    witnesses,
)
from support.storage.postgres import PostgresServer, postgres_server, why_not
from support.storage.postgres_fixtures import ask

pytestmark = pytest.mark.e2e

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="module")
def restarting() -> Iterator[PostgresServer]:
    """A PostgreSQL server that may be restarted. What it need not write at once stays unwritten for long."""
    reason = why_not()
    if reason is not None:
        pytest.skip(reason)
    with postgres_server("wal_writer_delay = 1s\nwal_writer_flush_after = 1GB") as running:
        yield running


class OnPostgres(ServerProcess):
    """A server whose database is in PostgreSQL."""

    def __init__(self, directory: Path, url: str, settings: str = "") -> None:
        self.database = url
        super().__init__(directory, settings=f'database = "{url}"\n{settings}')

    def query(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        assert not parameters
        return ask(self.database, sql)


Serve = Callable[..., contextlib.AbstractContextManager[OnPostgres]]


@pytest.fixture
def serve(restarting: PostgresServer, tmp_path: Path) -> Serve:
    @contextlib.contextmanager
    def run(settings: str = "") -> Iterator[OnPostgres]:
        name = f"e2e_{next(_NUMBERS)}"
        ask(restarting.url(), f"CREATE DATABASE {name}")
        serving = OnPostgres(tmp_path, restarting.url(name), settings)
        try:
            serving.start()
            yield serving
        finally:
            if serving.process is not None:
                end(serving.process)

    return run


@pytest.mark.parametrize("durability", ["process", "power"])
def test_postgresql_restarted_during_play_costs_nobody_anything(
    serve: Serve, restarting: PostgresServer, durability: str
) -> None:
    def away() -> None:
        restarting.stop("fast")
        until(lambda: serving.get("/readyz")[0] == 503, 10, "readyz stays green")
        assert serving.get("/livez")[0] == 200
        restarting.start()

    def killed() -> None:
        restarting.kill()
        restarting.start()

    restarts: tuple[Callable[[], object], ...] = (
        lambda: restarting.restart("fast"),
        lambda: restarting.restart("immediate"),
        killed,
        away,
    )
    with serve(f'durability = "{durability}"') as serving, witnesses(serving) as threads:
        for restart in restarts:
            before = plies(serving)
            until(lambda before=before: plies(serving) > before + 60, 60, "no moves")  # type: ignore[misc]
            restart()
            stuck = plies(serving)
            until(lambda stuck=stuck: plies(serving) > stuck + 20, 60, "play does not go on")  # type: ignore[misc]
            until(lambda: serving.get("/readyz")[0] == 200, 10, "readyz stays red")
            assert_nothing_told_is_lost(serving, threads)
        until(lambda: ended(serving) >= 2, 90, "no game ends")
        until(lambda: "witness0" in serving.page("/")[1], 60, "no page shows the players")
        assert serving.stop() == 0
        assert_nothing_told_is_lost(serving, threads)
        assert_every_result_is_rated_once(serving)
        assert {row[0] for row in serving.query("select distinct reason from games where ended_at is not null")} == {
            "score"
        }
        assert [thread.errors for thread in threads] == [[]] * len(threads)
    assert "a secret of the tests" not in serving.log.read_text()


def test_the_server_killed_on_postgresql_goes_on(serve: Serve) -> None:
    with serve() as serving, witnesses(serving) as threads:
        for _ in range(2):
            before = plies(serving)
            until(lambda before=before: plies(serving) > before + 60, 60, "no moves")  # type: ignore[misc]
            serving.kill()
            assert_nothing_told_is_lost(serving, threads)
            serving.start()
        before = ended(serving)
        until(lambda: ended(serving) > before, 90, "no game ends")
        assert_nothing_told_is_lost(serving, threads)
    assert_every_result_is_rated_once(serving)


@pytest.mark.parametrize(("how", "durability"), [("fast", "process"), ("immediate", "power")])
def test_a_postgresql_that_stays_away_ends_the_server_with_every_told_move_safe(
    serve: Serve, restarting: PostgresServer, how: str, durability: str
) -> None:
    with serve(f'commit_timeout_s = 3\ndurability = "{durability}"') as serving, witnesses(serving, 2) as threads:
        until(lambda: plies(serving) > 20, 60, "no moves")
        restarting.stop(how)
        try:
            assert serving.process is not None
            assert serving.process.wait(20) == 74
        finally:
            restarting.start()
        assert_nothing_told_is_lost(serving, threads)
        serving.start()
        until(lambda: ended(serving) >= 1, 60, "the game does not go on")
        assert_nothing_told_is_lost(serving, threads)
    assert_every_result_is_rated_once(serving)


def test_a_second_server_on_the_same_database_is_refused(serve: Serve, tmp_path: Path) -> None:
    with serve() as serving:
        other = tmp_path / "other"
        other.mkdir()
        second = OnPostgres(other, serving.database)
        refused: subprocess.CompletedProcess[str] = second.command("serve")
        assert refused.returncode == 1
        assert serving.process is not None
        assert f"in use by cgos-server serve (process {serving.process.pid} on" in refused.stderr
        assert "Traceback" not in refused.stderr
        # A command goes through the server, and one without the configuration is told where to look.
        assert serving.command("bot", "add", "Delta", stdin="secret\n").returncode == 0
        assert serving.query("select state from bots where name = 'Delta'") == [("active",)]
        blind = subprocess.run(
            [serving.python, "-m", "cgos_server", "bots", "--data", str(serving.data)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert blind.returncode == 1
        assert "keeps its database in postgresql://cgos@127.0.0.1" in blind.stderr
