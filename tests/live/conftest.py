"""A gallery with everything that it needs."""

from __future__ import annotations

import pytest
from support.live.gallery_room import Room


@pytest.fixture
async def room() -> Room:
    room = Room()
    await room.gallery.open()
    return room
