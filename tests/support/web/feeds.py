"""A feed of news, with what is put into it and what comes out."""

from __future__ import annotations

import json
from typing import Any

from cgos_protocol.facts import AnyFact, MovePlayed
from cgos_server.web.live.news import KEPT, News, Portion


def news(kept: int = KEPT, **delays: int) -> News:
    return News("ab", delays, kept)


def lines(portion: Portion | None) -> list[dict[str, Any]]:
    assert portion is not None
    return [json.loads(line) for line in portion.data.splitlines()]


def move(ply: int, venue: str = "9x9") -> AnyFact:
    return MovePlayed(venue=venue, game=1, ply=ply, move="D4", left_ms=1000)
