"""How large everything is: looked at beside the loop; what cannot be looked at keeps its last figure."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from cgos_protocol.errors import StoreError
from cgos_server.live.processes.sizes import PAUSE_AFTER, Sizes, bytes_below
from cgos_server.observability.transcript_files import FOLDER


class Database:
    def __init__(self) -> None:
        self.failing = False

    async def size(self) -> Mapping[str, int]:
        if self.failing:
            raise StoreError("the database cannot be read")
        return {"database": 10, "log": 3}


def figures(sizes: Sizes) -> dict[str, object]:
    return {word: read() for word, read in sizes.watched().items()}  # type: ignore[operator]


async def test_sizes_are_unknown_until_somebody_has_looked(tmp_path: Path) -> None:
    (tmp_path / FOLDER / "9x9").mkdir(parents=True)
    (tmp_path / FOLDER / "9x9" / "a.gz").write_bytes(bytes(700))
    (tmp_path / "else").write_bytes(bytes(5_000))
    sizes = Sizes(tmp_path, Database().size)
    assert figures(sizes) == {"database_size": {}, "disk_free": None, "disk_size": None, "transcripts_size": None}
    await sizes.look()
    looked = figures(sizes)
    assert looked["database_size"] == {"database": 10, "log": 3}
    assert looked["transcripts_size"] == 700
    assert looked["disk_size"] == shutil.disk_usage(tmp_path).total


async def test_what_cannot_be_looked_at_keeps_its_last_figure(tmp_path: Path) -> None:
    database, data = Database(), tmp_path / "data"
    data.mkdir()
    sizes = Sizes(data, database.size)
    await sizes.look()
    before = figures(sizes)
    database.failing = True
    await sizes.look()
    assert figures(sizes)["database_size"] == before["database_size"]
    data.rmdir()
    await sizes.look()
    assert figures(sizes)["disk_size"] == before["disk_size"]


def test_a_folder_is_as_large_as_all_files_below_it(tmp_path: Path) -> None:
    assert bytes_below(tmp_path / "nowhere") == 0
    for number in range(2 * PAUSE_AFTER + 1):
        folder = tmp_path / str(number % 3) / "deep"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / str(number)).write_bytes(bytes(number))
    (tmp_path / "link").symlink_to("/")
    link = (tmp_path / "link").lstat().st_size
    assert bytes_below(tmp_path) == sum(range(2 * PAUSE_AFTER + 1)) + link


def test_a_file_that_goes_meanwhile_takes_no_other_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(PAUSE_AFTER + 10):
        (tmp_path / str(number)).write_bytes(bytes(100))
    monkeypatch.setattr(time, "sleep", lambda _: [path.unlink() for path in list(tmp_path.iterdir())[-5:-4]])
    assert bytes_below(tmp_path) == (PAUSE_AFTER + 9) * 100
