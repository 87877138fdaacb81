"""The pages of a database on a real port, in a thread: for readers that bring their own HTTP."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import uvicorn

from cgos_server.presentation.settings import WebSettings
from cgos_server.storage.reading.history import History
from cgos_server.web.application import create_app


@contextlib.contextmanager
def serving(database: Path, settings: WebSettings, now_ms: Callable[[], int]) -> Iterator[str]:
    """Serve; the address, ``http://127.0.0.1:PORT``."""
    sock = socket.create_server(("127.0.0.1", 0))
    started = threading.Event()
    stopping: list[Callable[[], None]] = []

    def serve() -> None:
        async def run() -> None:
            async with History(database) as history:
                app = create_app(history, settings, now_ms)
                server = uvicorn.Server(
                    uvicorn.Config(app, log_config=None, log_level="error", lifespan="off", ws="none")
                )
                loop = asyncio.get_running_loop()

                def stop() -> None:
                    server.should_exit = True
                    server.force_exit = True
                    app.stop()

                stopping.append(lambda: loop.call_soon_threadsafe(stop) and None)
                work = asyncio.ensure_future(app.run())
                started.set()
                await server.serve(sockets=[sock])
                work.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await work

        asyncio.run(run())

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        assert started.wait(20)
        yield f"http://127.0.0.1:{sock.getsockname()[1]}"
    finally:
        for stop in stopping:
            stop()
        thread.join(20)
        sock.close()
