"""`cgos-server cluster status` and `handover`, and `serve --standby` where there is no cluster."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path

from click.testing import CliRunner
from support.storage.storage_sample import execute

from cgos_server.cli.main import main
from cgos_server.storage.location import PostgresUrl
from cgos_server.storage.postgres.connections import OtherLoop
from cgos_server.storage.postgres.groups import GroupWatch


def run(config: Path, *arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, [*arguments, "--config", str(config)])
    return done.exit_code, done.output


def configured(directory: Path, url: PostgresUrl | None) -> Path:
    config = directory / "cgos.toml"
    database = "" if url is None else f'database = "{url.dsn}"\ndurability = "power"\n[cluster]\nnode = "a"\n'
    config.write_text(f"[server]\n{database}")
    return config


@contextlib.contextmanager
def standing_by(url: PostgresUrl) -> Iterator[None]:
    """Node c stands by."""
    loop, watch = OtherLoop(), GroupWatch(url, "cgos-server serve, node c")
    try:
        loop.run(watch.look())
        yield
    finally:
        loop.run(watch.close())
        loop.close()


def test_the_row_is_shown(new_url: Callable[..., PostgresUrl], tmp_path: Path) -> None:
    url = new_url()
    config = configured(tmp_path, url)
    fresh = {"group": "main", "held": False, "node": "", "address": "", "control": "", "build": ""}
    fresh |= {"seen_s": None, "batch": 0}
    assert json.loads(run(config, "cluster", "status", "--json")[1]) == [fresh]
    held = "node = 'b', address = 'b.example', build = 'one', batch = 8, seen = clock_timestamp()"
    execute(url, f"UPDATE writer SET {held}")
    [row] = json.loads(run(config, "cluster", "status", "--json")[1])
    assert 0 <= row["seen_s"] < 5
    row["seen_s"] = ...
    assert row == fresh | {"held": True, "node": "b", "address": "b.example", "build": "one", "batch": 8, "seen_s": ...}
    head, line = run(config, "cluster", "status")[1].splitlines()
    assert head.split() == ["group", "held", "node", "address", "build", "seen", "(s", "ago)", "batch"]
    assert line.split()[:5] == ["main", "yes", "b", "b.example", "one"]
    execute(url, "UPDATE writer SET seen = NULL")
    assert run(config, "cluster", "status")[1].splitlines()[1].split() == [
        "main",
        "no",
        "b",
        "b.example",
        "one",
        "-",
        "8",
    ]


def test_what_cannot_be_handed_over(new_url: Callable[..., PostgresUrl], tmp_path: Path) -> None:
    url = new_url()
    config = configured(tmp_path, url)
    for group in ("main", "large"):
        code, said = run(config, "cluster", "handover", group)
        assert (code, said.startswith(f"Error: No node has a group {group} just now.")) == (1, True), said
    execute(url, "UPDATE writer SET node = 'b', address = 'b.example', seen = clock_timestamp() + interval '1 hour'")
    code, said = run(config, "cluster", "handover", "main")
    assert (code, said.startswith("Error: No node stands by, so nobody would go on.")) == (1, True), said
    with standing_by(url):
        code, said = run(config, "cluster", "handover", "main")
        assert (code, said.startswith("Error: Node b takes no commands from other machines. Give this")) == (1, True), (
            said
        )


def test_sqlite_is_no_cluster(tmp_path: Path) -> None:
    code, said = run(configured(tmp_path, None), "cluster", "status")
    assert code == 1
    assert "is SQLite: one process uses it, and no cluster can" in said


def test_a_process_alone_cannot_stand_by(tmp_path: Path) -> None:
    code, said = run(configured(tmp_path, None), "serve", "--standby")
    assert code == 2
    assert said == "Error: --standby: this process is no node of a cluster. Set cluster.node to its name.\n"
