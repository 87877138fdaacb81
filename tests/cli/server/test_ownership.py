"""Commands of root on a data directory that belongs to the server's user: the server can use all that comes of them."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.net.certificates import self_signed

SERVER = 6809
"""The number of a user that need not exist."""

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to others")


def owners(directory: Path) -> dict[str, int]:
    return {str(path): path.lstat().st_uid for path in (directory, *directory.rglob("*"))}


@pytest.fixture
def of_the_server(data: Path) -> Path:
    transcripts = data / "transcripts" / "2"
    transcripts.mkdir(parents=True)
    (transcripts / "00000000000000000001.transcript").write_text('#{"name":"Beta","connection":1}\n5>setup Alpha(1?)\n')
    for path in (data, *data.rglob("*")):
        os.chown(path, SERVER, SERVER)
    return data


def test_what_root_does_belongs_to_the_owner_of_the_data(run: Any, of_the_server: Path) -> None:
    run("standings", "--venue", "9x9")
    taken = json.loads(run("db", "backup", "--json").stdout)["file"]
    run("account", "add", "Olive", stdin="long-secret\n")
    run("bot", "erase", "Alpha", "--reason", "its wish")
    run("db", "prune")
    run("db", "drill")
    run("db", "restore", taken)
    run("db", "upgrade")
    there = owners(of_the_server)
    assert {Path(path).name for path in there} >= {"cgos.sqlite", "cgos.sqlite.lock", Path(taken).name}
    assert [path for path, owner in there.items() if owner != SERVER] == []


def test_a_directory_in_one_of_somebody_else_is_theirs(run: Any, tmp_path: Path) -> None:
    os.chown(tmp_path, SERVER, SERVER)
    where = tmp_path / "more" / "data"
    run("account", "add", "Olive", stdin="long-secret\n", where=where)
    assert {path: owner for path, owner in owners(tmp_path / "more").items() if owner != SERVER} == {}
    assert where.stat().st_mode & 0o777 == 0o700


def test_where_root_cannot_give_files_away_it_goes_on(
    run: Any, of_the_server: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object, **_more: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "chown", refuse)
    monkeypatch.setattr(os, "fchown", refuse)
    run("bot", "erase", "Alpha", "--reason", "its wish")
    run("db", "backup")


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Of the certificate by which the pages are to speak TLS, in a folder that everybody may enter."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        files = self_signed(Path(folder))
        for variable, value in (
            ("WEB__TLS", "true"),
            ("VENUE__9X9__TLS_PORT", "6810"),
            ("TLS__CERTIFICATE", files.certificate),
            ("TLS__KEY", files.key),
        ):
            monkeypatch.setenv(f"CGOS_{variable}", value)
        Path(files.certificate).chmod(0o644)
        Path(files.key).chmod(0o640)
        yield Path(files.key)


def test_a_key_that_root_alone_can_read_is_refused(run: Any, of_the_server: Path, key: Path) -> None:
    sentence = f"{key} cannot be read by the user {SERVER}, whom {of_the_server} belongs to"
    assert sentence in run("check", fails=1).stderr
    assert sentence in run("doctor", fails=1).stdout
    os.chown(key, 0, SERVER)
    lines = [line.split()[:3] for line in run("check").stdout.splitlines()]
    assert ["9x9", "6809", "6810"] in lines
    assert ["13x13", "6813", "-"] in lines


def test_a_key_in_a_folder_that_is_closed_to_the_server_is_refused(run: Any, of_the_server: Path, key: Path) -> None:
    key.chmod(0o644)
    key.parent.chmod(0o700)
    run("check", fails=1)
