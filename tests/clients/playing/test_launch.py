"""What a bot's table says of its version reaches the sign-in."""

from __future__ import annotations

from typing import Any

import pytest

from cgos_client.playing import launch
from cgos_client.playing.bots_file import BotTable, ServerTable


def test_a_table_reaches_the_sign_in(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments: dict[str, Any] = {}
    monkeypatch.setattr(launch, "connect", lambda *_, **given: arguments.update(given))
    bot = BotTable(
        name="First",
        venues=["9x9"],
        version="1.2",
        wire_name="First-fast",
        predecessor="First-1.1",
        author="A. Body",
        builtin="random",
        accepts=["Them"],
        hours="22-6",
        events=["spring-cup"],
    )
    launch.runner(ServerTable(url="ws://localhost:6868"), bot, "sesame", once=True, tell=print)
    names = ("bot", "version", "wire_name", "predecessor", "author", "accepts", "hours", "events")
    options = {name: arguments[name] for name in names}
    assert options == {
        "bot": "First", "version": "1.2", "wire_name": "First-fast", "predecessor": "First-1.1", "author": "A. Body",
        "accepts": ["Them"], "hours": "22-6", "events": ["spring-cup"],
    }  # fmt: skip
