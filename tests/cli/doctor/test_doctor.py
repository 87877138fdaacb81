"""The command on a real database, and that its observers see what is really there."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import socket
import sqlite3
import ssl
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cgos_server.cli.doctor import command
from cgos_server.cli.doctor.checks.answering import State
from cgos_server.cli.doctor.findings import Level
from cgos_server.cli.doctor.observing import certificates, machine, ports, processes, server, transcripts
from cgos_server.config.loader import load
from cgos_server.net import control_socket
from cgos_server.net.listening import obstacle

Run = Callable[..., Any]
DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture(autouse=True)
def _ports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ports that nobody has are looked at by tests of their own; other servers may run on this machine."""
    for key in ("WEBSOCKET", "WEB", "HEALTH", "VENUE__9X9", "VENUE__13X13", "VENUE__19X19"):
        monkeypatch.setenv(f"CGOS_{key}__PORT", "0")


@pytest.fixture
def findings(as_json: Run) -> Callable[..., dict[str, list[dict[str, str]]]]:
    """What is not ok, by check; the command ends with `fails`."""

    def ask(*words: str, fails: int = 0) -> dict[str, list[dict[str, str]]]:
        there: dict[str, list[dict[str, str]]] = {}
        for finding in as_json("doctor", *words, fails=fails):
            if finding["level"] != "ok":
                there.setdefault(finding["check"], []).append(finding)
        return there

    return ask


def test_a_stopped_server_in_order(data: Path, run: Run) -> None:
    data.chmod(0o700)
    shown = run("doctor", "--deep").stdout
    assert "no server runs on" in shown
    assert "the database's pages are whole" in shown
    assert "about 2 games" in shown
    assert re.search(r"^0 wrong, \d warnings?, \d unknown, \d+ ok$", shown, re.MULTILINE)


def test_every_check_says_something_and_is_in_the_guide(as_json: Run, data: Path) -> None:
    data.chmod(0o700)
    checks = list(dict.fromkeys(finding["check"] for finding in as_json("doctor")))
    assert checks == list(command.CHECKS)
    section = (DOCS / "operator.md").read_text().partition("## Doctor")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `([a-z]+)` \|", section, re.MULTILINE) == checks


def test_a_configuration_that_cannot_be_read(run: Run, tmp_path: Path) -> None:
    config = tmp_path / "cgos.toml"
    config.write_text("[web]\nprot = 1\n")
    shown = run("doctor", "--config", str(config), fails=1).stdout
    assert f"wrong    configuration: {config}: web.prot: is no key that the server knows." in shown
    assert "-> Did you mean port?" in shown


def test_terms_that_the_database_has_otherwise(findings: Run, monkeypatch: pytest.MonkeyPatch, data: Path) -> None:
    data.chmod(0o700)
    monkeypatch.setenv("CGOS_VENUE__9X9__KOMI", "5.5")
    (fault,) = findings(fails=1)["configuration"]
    assert "komi" in fault["sentence"]


def test_a_database_of_a_newer_program(findings: Run, data: Path) -> None:
    data.chmod(0o700)
    with contextlib.closing(sqlite3.connect(data / "cgos.sqlite")) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999_later'")
    (fault,) = findings(fails=1)["database"]
    assert "which this program" in fault["sentence"]
    assert "Use that newer program again" in fault["remedy"]


def test_a_file_that_is_no_database(findings: Run, data: Path) -> None:
    data.chmod(0o700)
    (data / "cgos.sqlite").write_bytes(b"not a database" * 1000)
    assert findings(fails=1)["database"][0]["level"] == "wrong"


def test_a_database_with_a_torn_page(findings: Run, data: Path) -> None:
    data.chmod(0o700)
    path = data / "cgos.sqlite"
    with contextlib.closing(sqlite3.connect(path)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'games'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    with path.open("rb+") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    there = findings("--deep", fails=1)
    assert there["durability"][0]["level"] == "wrong"
    assert "bring back a copy" in there["durability"][0]["remedy"]


def test_a_directory_that_all_may_enter(findings: Run, data: Path) -> None:
    data.chmod(0o755)
    (fault,) = findings(fails=1)["permissions"]
    assert "chmod 700" in fault["remedy"]


def test_a_check_that_fails_itself_is_said_for_itself(
    findings: Run, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data.chmod(0o700)

    def broken(*_: object, **__: object) -> None:
        raise KeyError("inode")

    def hidden(*_: object) -> None:
        raise PermissionError(13, "Permission denied", "/secret")

    monkeypatch.setattr(machine, "disk", broken)
    monkeypatch.setattr(transcripts, "look", hidden)
    there = findings()
    assert "failed itself (KeyError: 'inode')" in there["disk"][0]["sentence"]
    assert there["transcripts"][0] == {
        "check": "transcripts",
        "level": "unknown",
        "sentence": "this cannot be seen: /secret: Permission denied",
        "remedy": "Run this command as the server's user or as root.",
    }
    assert "permissions" not in there


def test_a_port_of_another_program(data: Path, as_json: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        monkeypatch.setenv("CGOS_WEB__PORT", str(number))
        (fault,) = (each for each in as_json("doctor", fails=1) if each["check"] == "ports")
        assert fault["level"] == Level.WRONG
        assert f"port {number} of 127.0.0.1 (pages) is held by" in fault["sentence"]
        if Path("/proc/net/tcp").exists():
            assert f"(process {os.getpid()})" in fault["sentence"]
        assert obstacle("127.0.0.1", number) is not None
    assert obstacle("127.0.0.1", number) is None


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="only Linux tells who listens where")
def test_a_port_that_this_user_may_not_have_can_still_be_the_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """The service has a right to port 443 which commands of its user lack."""
    monkeypatch.setattr(ports, "obstacle", lambda _host, _port: PermissionError(errno.EACCES, "Permission denied"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = load(None, {}, {"health.port": listening.getsockname()[1]})
        *_, held = ports.look(config)
    assert (held.busy, held.forbidden) == (True, False)
    *_, free = ports.look(config)
    assert (free.busy, free.forbidden) == (False, True)


def test_a_server_that_takes_connections_and_never_answers(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "ANSWER_S", 0.05)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(data / control_socket.SOCKET))
        listener.listen()
        seen = server.look(data)
    assert seen.state is State.SILENT
    assert seen.pid in (0, os.getpid())
    assert server.look(data).state is State.ABSENT


def test_what_the_system_tells_of_this_process() -> None:
    limit = processes.open_files(None)
    assert not isinstance(limit, str)
    assert limit.soft is None or limit.soft > 0
    assert os.getpid() in processes.family(os.getpid())
    assert processes.exists(os.getpid())
    assert isinstance(processes.open_files(2**30), str)
    kept = machine.clock()
    assert isinstance(kept, str) or kept.error_us >= 0
    disk = machine.disk(Path("/nowhere/at/all"), "data directory")
    assert 0 <= disk.free <= disk.size


def test_every_port_that_is_configured_is_looked_at() -> None:
    keys = {"web.tls": True, "web.redirect_port": 18081, "tls.certificate": "a.pem", "tls.key": "a.key"}
    config = load(None, {"CGOS_VENUE__9X9__TLS_PORT": "16810"}, keys)
    looked_at = {port.number: port.key for port in ports.look(config)}
    assert (looked_at[16810], looked_at[18081]) == ("tls_port of [[venue]] 9x9", "web.redirect_port")
    assert len(looked_at) == 8
    assert [port.key for port in ports.look(config, standing_by=True)] == ["health.port"]


def test_who_has_a_file_open(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with path.open("w"):
        there = processes.readers(path)
    assert not there or os.getpid() in there
    assert processes.readers(path) == {}


def test_transcripts_are_counted_by_bot(tmp_path: Path) -> None:
    assert transcripts.look(tmp_path / "none") is None
    for name, length in (("a", 10), ("b", 30)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.transcript").write_bytes(b"x" * length)
    (tmp_path / "stray").write_text("")
    seen = transcripts.look(tmp_path)
    assert seen is not None
    assert (seen.total, seen.largest, seen.bots, seen.whole) == (40, 30, 2, True)


def test_addresses_that_are_to_be_secure() -> None:
    config = load(None, {}, {"web.public_url": "https://a.example", "websocket.public_url": "wss://b.example:99"})
    assert certificates.public_addresses(config) == ["https://a.example", "wss://b.example:99"]
    assert certificates.public_addresses(load(None, {}, {"web.public_url": "http://a.example"})) == []


def test_what_an_address_shows_that_speaks_no_tls() -> None:
    with socket.create_server(("127.0.0.1", 0)) as plain:
        url = f"https://127.0.0.1:{plain.getsockname()[1]}"

        def answer() -> None:
            peer, _ = plain.accept()
            with peer:
                peer.recv(4096)
                peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        assert certificates.shown_by(url).refused.startswith("there is no TLS")
        thread.join()
    assert certificates.shown_by(url).unreachable
    assert ssl.create_default_context().check_hostname
