"""A board in a frame of another site follows its game, and so does the Python reader."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from playwright.async_api import expect
from support.e2e.line_bot import LineBot

from cgos_client import api


@contextlib.contextmanager
def site(page: str) -> Iterator[str]:
    """Another site with this one page; its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://localhost:{server.server_port}/"
        server.shutdown()
        thread.join()


async def test_a_framed_board_follows_its_game(visitor, serving) -> None:
    with contextlib.ExitStack() as stack:
        bots = await asyncio.to_thread(
            lambda: [stack.enter_context(LineBot(serving.small_port, name)) for name in ("EmbedA", "EmbedB")]
        )
        game = await asyncio.to_thread(lambda: bots[0].game)
        black, white = bots if bots[0].is_black else bots[::-1]
        await asyncio.to_thread(black.play, "C3", "")
        outside = stack.enter_context(
            site(f"<iframe width=400 height=500 src='{serving.url}/embed/game/{game}'></iframe>")
        )
        visitor.allowed.append(outside)
        page = await visitor.open("/connect")
        await page.goto(outside)
        frame = page.frame_locator("iframe")
        await expect(frame.locator(".state")).to_have_text("Move 1")
        await expect(frame.locator("main[data-ready]")).to_have_count(1)
        watching = asyncio.create_task(asyncio.to_thread(lambda: list(api.Server(serving.url).live(game))))
        await asyncio.to_thread(white.play, "D3", "")
        await expect(frame.locator(".state")).to_have_text("Move 2")
        await expect(frame.locator("svg.board .stones circle:not(.last)")).to_have_count(2)
        await asyncio.to_thread(black.play, "resign", "")
        await expect(frame.locator(".state")).to_contain_text("W+Resign")
        *moves, end = await watching
        assert [(move.ply, move.move) for move in moves if isinstance(move, api.LiveMove)] == [(1, "C3"), (2, "D3")]
        assert isinstance(end, api.LiveEnd)
        assert end.result == "W+Resign"
