"""Room for connections: the limit of open files, without touching the one of this process; listeners at that limit."""

from __future__ import annotations

import asyncio
import errno
import resource
import socket
from collections.abc import Callable
from typing import Any

import pytest
from structlog.testing import capture_logs

from cgos_protocol.errors import Code, Invalid
from cgos_server.net.limits import ACCEPT_PAUSE_S, SPARE_FILES, AcceptingLoop, room_for

LISTENERS = 7


@pytest.mark.parametrize(
    ("soft", "hard", "room", "raised_to"),
    [
        (1024, 1_000_000, 10_000, 10_000 + SPARE_FILES + LISTENERS),
        (1024, -1, 10_000, 10_000 + SPARE_FILES + LISTENERS),
        (1024, 4096, 4096 - SPARE_FILES - LISTENERS, 4096),
        (65_536, 65_536, 10_000, None),
        (-1, -1, 10_000, None),
    ],
)
def test_the_limit_of_open_files_is_raised_as_far_as_needed(
    monkeypatch: pytest.MonkeyPatch, soft: int, hard: int, room: int, raised_to: int | None
) -> None:
    raised: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda _: (soft, hard))
    monkeypatch.setattr(resource, "setrlimit", lambda _, limits: raised.append(limits))
    assert room_for(10_000, listeners=LISTENERS) == room
    assert raised == ([] if raised_to is None else [(raised_to, hard)])


@pytest.mark.parametrize(("missing", "refused"), [(1, True), (0, False)])
def test_a_limit_below_what_is_needed_is_refused_with_the_number(
    monkeypatch: pytest.MonkeyPatch, missing: int, refused: bool
) -> None:
    needed = SPARE_FILES + LISTENERS + 4
    monkeypatch.setattr(resource, "getrlimit", lambda _: (64, needed - missing))
    monkeypatch.setattr(resource, "setrlimit", lambda *_: None)
    if not refused:
        assert room_for(10_000, listeners=LISTENERS, least=4) == 4
        return
    with pytest.raises(Invalid, match=f"needs {needed} at least") as refusal:
        room_for(10_000, listeners=LISTENERS, least=4)
    assert refusal.value.code is Code.OPEN_FILES


class SteppedLoop(AcceptingLoop):
    """Keeps its timers for the test, which lets them go off."""

    def __init__(self) -> None:
        super().__init__()
        self.timers: list[tuple[float, Callable[..., object], tuple[Any, ...]]] = []

    def call_later(self, delay: float, callback: Callable[..., object], *args: Any, **_: Any) -> Any:
        self.timers.append((delay, callback, args))

    def pass_time(self, seconds: float) -> None:
        """Let all timers of this delay go off."""
        due = [timer for timer in self.timers if timer[0] == seconds]
        self.timers = [timer for timer in self.timers if timer[0] != seconds]
        for _, callback, args in due:
            callback(*args)


class CrowdedSocket(socket.socket):
    """A listening socket of a process that may have no further file."""

    attempts = 0
    is_full = True

    def accept(self) -> tuple[socket.socket, Any]:
        self.attempts += 1
        if self.is_full:
            raise OSError(errno.EMFILE, "Too many open files")
        return super().accept()


async def turn() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def test_a_listener_without_files_pauses_and_says_so_once_a_minute() -> None:
    with asyncio.Runner(loop_factory=SteppedLoop) as runner, capture_logs() as logs:
        loop = runner.get_loop()
        assert isinstance(loop, SteppedLoop)

        async def watch(loop: SteppedLoop) -> None:
            connected: list[asyncio.BaseTransport] = []

            class Peer(asyncio.Protocol):
                def connection_made(self, transport: asyncio.BaseTransport) -> None:
                    connected.append(transport)

            sock = CrowdedSocket()
            sock.bind(("127.0.0.1", 0))
            server = await loop.create_server(Peer, sock=sock)
            with socket.create_connection(sock.getsockname()):
                await turn()
                assert sock.attempts == 1
                for _ in range(2):
                    loop.pass_time(ACCEPT_PAUSE_S)
                    await turn()
                assert sock.attempts == 3
                assert [entry["failures"] for entry in logs] == [1]
                loop.pass_time(60.0)
                assert [entry["failures"] for entry in logs] == [1, 2]
                sock.is_full = False
                loop.pass_time(ACCEPT_PAUSE_S)
                await turn()
                assert len(connected) == 1
                loop.pass_time(60.0)
                assert len(logs) == 2
                assert not loop.timers
                connected[0].close()  # type: ignore[attr-defined]
            server.close()
            await turn()

        runner.run(watch(loop))


def test_a_listener_that_is_closed_while_it_pauses_stays_closed() -> None:
    with asyncio.Runner(loop_factory=SteppedLoop) as runner, capture_logs():
        loop = runner.get_loop()
        assert isinstance(loop, SteppedLoop)

        async def watch(loop: SteppedLoop) -> None:
            sock = CrowdedSocket()
            sock.bind(("127.0.0.1", 0))
            server = await loop.create_server(asyncio.Protocol, sock=sock)
            with socket.create_connection(sock.getsockname()):
                await turn()
                server.close()
                loop.pass_time(ACCEPT_PAUSE_S)
                await turn()
            assert sock.attempts == 1

        runner.run(watch(loop))
