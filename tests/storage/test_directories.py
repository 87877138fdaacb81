"""Whose the files of a server are."""

from __future__ import annotations

import stat
from pathlib import Path

from cgos_server.storage import DATABASE, schema
from cgos_server.storage.location import make_directory, others_may_look


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_data_directory_is_its_owners_alone(tmp_path: Path) -> None:
    new = tmp_path / "some" / "where"
    schema.prepare(new / DATABASE)
    assert (mode(new), mode(new / DATABASE)) == (0o700, 0o600)
    assert not others_may_look(new)


def test_a_directory_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    there = tmp_path / "shared"
    there.mkdir()
    there.chmod(0o755)
    make_directory(there)
    assert mode(there) == 0o755
    assert others_may_look(there)
