"""`cgos-server cluster status`, and `serve --standby` where there is no cluster."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import CliRunner
from support.storage.storage_sample import execute

from cgos_server.cli.main import main
from cgos_server.storage.location import PostgresUrl


def run(config: Path, *arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, [*arguments, "--config", str(config)])
    return done.exit_code, done.output


def configured(directory: Path, url: PostgresUrl | None) -> Path:
    config = directory / "cgos.toml"
    database = "" if url is None else f'database = "{url.dsn}"\ndurability = "power"\n[cluster]\nnode = "a"\n'
    config.write_text(f"[server]\n{database}")
    return config


def test_the_row_is_shown(new_url: Callable[..., PostgresUrl], tmp_path: Path) -> None:
    url = new_url()
    config = configured(tmp_path, url)
    fresh = {"group": "main", "held": False, "node": "", "address": "", "build": "", "seen_s": None, "batch": 0}
    assert json.loads(run(config, "cluster", "status", "--json")[1]) == [fresh]
    held = "node = 'b', address = 'b.example', build = 'one', batch = 8, seen = clock_timestamp()"
    execute(url, f"UPDATE writer SET {held}")
    [row] = json.loads(run(config, "cluster", "status", "--json")[1])
    assert 0 <= row.pop("seen_s") < 5
    assert row == {"group": "main", "held": True, "node": "b", "address": "b.example", "build": "one", "batch": 8}
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


def test_sqlite_is_no_cluster(tmp_path: Path) -> None:
    code, said = run(configured(tmp_path, None), "cluster", "status")
    assert code == 1
    assert "is SQLite: one process uses it, and no cluster can" in said


def test_a_process_alone_cannot_stand_by(tmp_path: Path) -> None:
    code, said = run(configured(tmp_path, None), "serve", "--standby")
    assert code == 2
    assert said == "Error: --standby: this process is no node of a cluster. Set cluster.node to its name.\n"
