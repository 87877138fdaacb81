"""The control socket: one line each way, who may open it, what a dead server leaves."""

from __future__ import annotations

import asyncio
import socket
import stat
from pathlib import Path

import pytest

from cgos_protocol.errors import OurFault, Refused
from cgos_server.net import control_socket, conversations
from cgos_server.net.control_socket import POINTER, SOCKET, call, serve


async def echo(line: bytes) -> bytes:
    return b"heard " + line


def names_in(directory: Path) -> list[str]:
    return [path.name for path in directory.iterdir()]


@pytest.fixture
def far(tmp_path: Path) -> Path:
    """A directory whose path no socket address can hold."""
    directory = tmp_path / ("long" * 20) / ("longer" * 10)
    directory.mkdir(parents=True)
    return directory


async def test_one_line_out_one_line_in(tmp_path: Path) -> None:
    async with serve(tmp_path, echo):
        assert await call(tmp_path, b'{"a": 1}') == b'heard {"a": 1}'
    assert names_in(tmp_path) == []


async def test_only_the_owner_may_open_it(tmp_path: Path) -> None:
    async with serve(tmp_path, echo):
        mode = (tmp_path / SOCKET).stat().st_mode
        assert stat.S_ISSOCK(mode)
        assert stat.S_IMODE(mode) == 0o600


async def test_a_socket_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as failure:  # the system's own error names no file
        async with serve(tmp_path / "gone", echo):
            pass
    assert failure.value.filename == str(tmp_path / "gone" / SOCKET)


async def test_a_path_too_long_for_a_socket(far: Path) -> None:
    async with serve(far, echo):
        named = Path((far / POINTER).read_text())
        assert not named.is_relative_to(far)
        assert stat.S_IMODE(named.parent.stat().st_mode) == 0o700
        assert await call(far, b"x") == b"heard x"
    assert names_in(far) == []
    assert not named.parent.exists()


async def test_many_clients_at_once(tmp_path: Path) -> None:
    async with serve(tmp_path, echo):
        answers = await asyncio.gather(*(call(tmp_path, str(n).encode()) for n in range(50)))
        assert answers == [b"heard " + str(n).encode() for n in range(50)]


async def test_large_answers_pass(tmp_path: Path) -> None:
    async def talk(line: bytes) -> bytes:
        return line * 3_000_000

    async with serve(tmp_path, talk):
        assert len(await call(tmp_path, b"x")) == 3_000_000


async def test_a_dead_servers_socket_is_replaced(tmp_path: Path) -> None:
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(tmp_path / SOCKET))
    dead.close()
    async with serve(tmp_path, echo):
        assert await call(tmp_path, b"x") == b"heard x"


async def test_a_dead_servers_far_socket_is_replaced(far: Path, tmp_path: Path) -> None:
    left = tmp_path / "left"
    left.mkdir()
    dead = socket.socket(socket.AF_UNIX)
    dead.bind(str(left / SOCKET))
    dead.close()
    (far / POINTER).write_text(str(left / SOCKET))
    async with serve(far, echo):
        assert await call(far, b"x") == b"heard x"
        assert not left.exists()


async def test_what_else_lies_beside_a_left_socket_stays(far: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("kept")
    (far / POINTER).write_text(str(precious / "file"))
    async with serve(far, echo):
        assert (precious / "file").read_text() == "kept"


async def test_a_living_server_is_not_replaced(tmp_path: Path) -> None:
    async with serve(tmp_path, echo):
        with pytest.raises(Refused, match="Another server runs"):
            await serve(tmp_path, echo).__aenter__()
        assert await call(tmp_path, b"x") == b"heard x"


async def test_no_server(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"No server runs on .* cgos-server serve") as refusal:
        await call(tmp_path, b"x")
    assert refusal.value.code == "no-server"


async def test_a_directory_that_is_a_file(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    for path in (file, file / "below"):
        with pytest.raises(Refused, match=r"cannot be used as a data directory.* --data") as refusal:
            await call(path, b"x")
        assert refusal.value.code == "no-directory"


async def test_an_answer_that_never_comes(tmp_path: Path) -> None:
    async def silent(line: bytes) -> bytes:
        await asyncio.Event().wait()
        return line

    async with serve(tmp_path, silent):
        with pytest.raises(OurFault, match=r"did not answer within 0\.05 seconds"):
            await call(tmp_path, b"x", timeout_s=0.05)


async def test_closing_breaks_off_who_is_waiting(tmp_path: Path) -> None:
    began = asyncio.Event()

    async def silent(line: bytes) -> bytes:
        began.set()
        await asyncio.Event().wait()
        return line

    async with serve(tmp_path, silent):
        waiting = asyncio.ensure_future(call(tmp_path, b"x"))
        await began.wait()
    with pytest.raises(OurFault):
        await waiting


async def test_an_endless_line_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_socket, "REQUEST_MAX", 1000)
    lines = []

    async def note(line: bytes) -> bytes:
        lines.append(line)
        return b""

    async with serve(tmp_path, note):
        with pytest.raises(OurFault, match="broke off"):
            await call(tmp_path, b"x" * 100_000)
        assert lines == []


async def test_a_client_that_says_nothing_is_dropped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversations, "READ_S", 0.02)
    async with serve(tmp_path, echo):
        reader, writer = await asyncio.open_unix_connection(str(tmp_path / SOCKET))
        async with asyncio.timeout(5):
            assert await reader.read() == b""
        writer.close()
        assert await call(tmp_path, b"x") == b"heard x"


async def test_half_a_line_is_no_request(tmp_path: Path) -> None:
    lines = []

    async def note(line: bytes) -> bytes:
        lines.append(line)
        return b""

    async with serve(tmp_path, note):
        reader, writer = await asyncio.open_unix_connection(str(tmp_path / SOCKET))
        writer.write(b'{"half"')
        writer.write_eof()
        async with asyncio.timeout(5):
            assert await reader.read() == b""
        writer.close()
        assert lines == []
