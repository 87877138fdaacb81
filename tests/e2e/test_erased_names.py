"""Who is erased while the server runs is named on no page any more, whichever process serves the pages."""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
from pathlib import Path

import pytest
from support.e2e.processes import ServerProcess, end, until
from support.web.past import BOTS, EVENT, NOW, Builder, write

from cgos_server.storage import schema
from cgos_server.storage.writing.records import BotOwner, OwnerAdded

pytestmark = pytest.mark.e2e

PLACES = (
    f"/events/{EVENT}",
    f"/events/{EVENT}/log",
    f"/events/{EVENT}/crosstable",
    f"/events/{EVENT}/feed.atom",
    f"/api/v1/events/{EVENT}",
    f"/api/v1/events/{EVENT}/export.json",
)


@pytest.mark.parametrize("mode", ["process", "inline"])
def test_no_page_of_an_event_names_who_was_erased(tmp_path: Path, mode: str) -> None:
    server = ServerProcess(tmp_path, venue='time = { system = "absolute", main = "5m" }')
    server.configure(web=f'mode = "{mode}"\nrequests_per_minute = 6000')
    server.data.mkdir()
    schema.prepare(server.data / "cgos.sqlite")
    owned = [OwnerAdded(1, "ann", "ann", "hash", 0, NOW), BotOwner(1, 1)]
    asyncio.run(write(server.data / "cgos.sqlite", [*Builder().build(), *owned]))
    server.start()
    try:
        for place in PLACES:
            status, text = server.page(place)
            assert (status, BOTS[0] in text) == (200, True), place
        command = [sys.executable, "-m", "cgos_server", "account", "erase", "ann", "--bots"]
        done = subprocess.run(
            [*command, "--reason", "a wish", "--config", str(server.config)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr

        def naming() -> list[str]:
            answers = {place: server.page(place) for place in PLACES}
            assert {status for status, _ in answers.values()} == {200}
            return [place for place, (_, text) in answers.items() if BOTS[0] in text]

        with contextlib.suppress(AssertionError):
            until(lambda: not naming(), 10, "it is named")
        assert naming() == []
    finally:
        assert server.process is not None
        end(server.process)
