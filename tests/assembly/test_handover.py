"""Which program takes over, and what is asked of it before: programs here are scripts that say this or that."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import msgspec
import pytest

from cgos_protocol.errors import Code, Refused
from cgos_server import __version__
from cgos_server.assembly import handover
from cgos_server.assembly.handover import CHECK, FORM, Fitness, Handover, Program, started_by
from cgos_server.assembly.stopping import Stop
from cgos_server.config.schema import ServerConfig
from cgos_server.net.inheriting import VARIABLE, Ports


class Server:
    """As much of one as hands over."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "cgos-server"
        self.config = ServerConfig(data=directory / "data")
        self.stop = Stop()
        self.handover = Handover(Program((str(self.path),), ("serve", "--data", "x")), Ports(), self.stop, self.config)

    def install(self, script: str) -> None:
        self.path.write_text(f"#!/bin/sh\n{script}\n")
        self.path.chmod(0o755)

    def fitness(self, **other: object) -> str:
        own = {"version": "9.9", "form": FORM, "data": str(self.config.data), "database": str(self.config.location)}
        return msgspec.json.encode(own | {"notes": ["a plug-in is left out"]} | other).decode()

    async def refused(self, path: str | None = None) -> str:
        with pytest.raises(Refused) as caught:
            await self.handover.check(path)
        assert caught.value.code is Code.NO_HANDOVER
        assert self.handover.successor is None
        return caught.value.sentence


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path)


async def test_a_program_that_fits_takes_over_with_the_sockets_in_its_environment(server: Server) -> None:
    server.install(f"""test "$*" = "serve --data x {CHECK}" && echo '{server.fitness()}'""")
    upgraded = await server.handover.check(None)
    assert (upgraded.before, upgraded.after, upgraded.notes) == (__version__, "9.9", ["a plug-in is left out"])
    assert not server.stop.wanted.is_set()
    server.handover.begin()
    assert server.stop.wanted.is_set()
    server.handover.leave()
    successor = server.handover.successor
    assert successor is not None
    assert successor.command == (str(server.path), "serve", "--data", "x")
    assert successor.environment.keys() == os.environ.keys() | {VARIABLE}


async def test_a_signal_meanwhile_ends_the_server_for_good(server: Server) -> None:
    server.install(f"echo '{server.fitness()}'")
    await server.handover.check(None)
    server.handover.begin()
    server.handover.leave()
    server.stop.ask()
    assert server.handover.successor is None


async def test_what_cannot_take_over_is_refused_with_its_own_words(server: Server) -> None:
    assert "cannot be executed" in await server.refused()
    server.install("echo 'Error: The database has the older schema 7.' >&2; exit 1")
    assert (await server.refused()).endswith("goes on as it was: The database has the older schema 7.")
    server.install("exit 3")
    assert "it ends with 3" in await server.refused()
    server.install("echo hello")
    assert "cannot be understood" in await server.refused()
    server.install(f"echo '{server.fitness(form=FORM + 1)}'")
    assert "in another way" in await server.refused()
    server.install(f"echo '{server.fitness(data='/elsewhere')}'")
    assert "other data (/elsewhere" in await server.refused()
    assert "no whole path" in await server.refused("cgos-server")


async def test_a_program_that_does_not_answer_is_ended(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handover, "CHECK_S", 0.3)
    server.install(f"echo $$ > {server.path}.pid; sleep 60")
    assert "did not answer within 0.3 s" in await server.refused()
    with pytest.raises(ProcessLookupError):
        os.kill(int(Path(f"{server.path}.pid").read_text()), 0)


async def test_only_one_is_checked_at_a_time_and_none_at_the_end(server: Server) -> None:
    release = server.path.with_name("fifo")
    os.mkfifo(release)
    server.install(f"read word < {release}; echo '{server.fitness()}'")
    async with asyncio.TaskGroup() as group:
        first = group.create_task(server.refused())
        await asyncio.sleep(0)
        assert "Another upgrade is being checked" in await server.refused()
        server.stop.ask()
        await asyncio.to_thread(release.write_text, "go\n")
    assert "it was told to while the program was checked" in first.result()
    assert "ending already" in await server.refused()


def test_the_program_is_that_by_which_the_server_was_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "current" / "cgos-server"
    (tmp_path / "0.1.0").mkdir()
    (tmp_path / "current").symlink_to("0.1.0")
    script.write_text("#!/usr/bin/python3\n")
    serve = ["serve", "--config", "x"]
    assert started_by(["python", str(script), *serve], serve, sys.executable).command == (sys.executable, str(script))
    script.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    program = started_by(["/venv/bin/python3", "current/cgos-server", *serve], serve, sys.executable)
    assert program == Program((str(script),), tuple(serve))
    by_module = started_by(["python", "-X", "dev", "-m", "cgos_server", *serve], serve, sys.executable)
    assert by_module == Program((sys.executable, "-X", "dev", "-m", "cgos_server"), tuple(serve))


async def test_a_server_of_a_test_cannot_hand_over() -> None:
    nobody = Handover(None, Ports(), Stop(), ServerConfig())
    with pytest.raises(Refused, match="was not started by"):
        await nobody.check(None)


def test_what_a_program_says_of_itself_is_read_as_it_is_written() -> None:
    fitness = Fitness(version="1", form=FORM, data="/d", database="/d/cgos.sqlite", notes=[])
    assert msgspec.json.decode(msgspec.json.encode(fitness), type=Fitness) == fitness
