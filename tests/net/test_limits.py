"""Room for connections: the limit of open files, without touching the one of this process."""

from __future__ import annotations

import resource

import pytest

from cgos_server.net.limits import SPARE_FILES, room_for


@pytest.mark.parametrize(
    ("soft", "hard", "room", "raised_to"),
    [
        (1024, 1_000_000, 10_000, 10_000 + SPARE_FILES),
        (1024, -1, 10_000, 10_000 + SPARE_FILES),
        (1024, 4096, 4096 - SPARE_FILES, 4096),
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
    assert room_for(10_000) == room
    assert raised == ([] if raised_to is None else [(raised_to, hard)])
