"""The server of the drills of dashboards and alerts: bots are registered, an account is told of their games, the lines
and WebSocket speak TLS by a certificate of the server's own.

Must not know: what is done to it, who looks at it.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.operations import peers
from benchmarks.reporting import ROOT

sys.path.insert(0, str(ROOT / "tests"))

from support.e2e.processes import ServerProcess, end, free_port, until
from support.net.certificates import self_signed

CERTIFICATE_DAYS = 90
PAGES_S = 30.0
"""Within which the pages answer."""


def prepared(folder: Path, bots: int, webhook_port: int, settings: str, *, venue: str, requests: int) -> ServerProcess:
    """A server that is not running yet, its data below the folder.

    :param webhook_port: where the webhook's messages go
    :param settings: TOML: keys of ``[server]``, then other tables
    :param venue: TOML: keys of the venue
    :param requests: that a visitor may make in a minute
    """
    peers.past(folder / "data", bots, f"http://127.0.0.1:{webhook_port}/")
    files = self_signed(folder, days=CERTIFICATE_DAYS)
    tls = f'[tls]\ncertificate = "{files.certificate}"\nkey = "{files.key}"\n'
    serving = ServerProcess(folder, f"drain_limit_s = 0\n{settings}\n{tls}", venue=venue)
    serving.configure(
        web=f'webhooks_to = "127.0.0.1"\nrequests_per_minute = {requests}',
        websocket="tls = true",
        venue=f"tls_port = {free_port()}",
    )
    return serving


@contextlib.contextmanager
def started(serving: ServerProcess) -> Iterator[ServerProcess]:
    """It runs, with its pages, until the end of the block."""
    try:
        serving.start()
        until(lambda: serving.get("/metrics/web")[0] == 200, PAGES_S, "the pages do not answer")
        yield serving
    finally:
        if serving.process is not None:
            end(serving.process)
