"""The built wheel, installed where the checkout is out of sight, starts a server and plays a game."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest
from support.e2e.processes import bots, server, until

from cgos_server.storage import schema

pytestmark = [pytest.mark.e2e, pytest.mark.wheel]

ROOT = Path(__file__).parents[2]


def test_an_editable_install_finds_the_migrations_of_the_checkout() -> None:
    assert schema.migrations() == ROOT / "migrations"


def test_the_wheel_alone_plays_a_game(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert any(name.startswith("cgos_server/migrations/versions/") for name in names)
    assert not any(name.startswith(("tests/", "benchmarks/")) for name in names)
    home = tmp_path / "home"
    subprocess.run([sys.executable, "-m", "venv", str(home)], check=True, capture_output=True, timeout=120)
    # The libraries that the test environment has already, but not its editable install: a path that a .pth file
    # adds is not searched for further .pth files.
    site = Path(sysconfig.get_path("purelib", vars={"base": str(home), "platbase": str(home)}))
    (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
    python = str(home / "bin" / "python")
    subprocess.run(
        [python, "-m", "pip", "install", "--quiet", "--no-deps", "--ignore-installed", str(wheel)],
        check=True, capture_output=True, timeout=120,
    )  # fmt: skip
    found = subprocess.run(
        [python, "-c", "import cgos_server, cgos_client; print(cgos_server.__file__, cgos_client.__file__)"],
        check=True, capture_output=True, text=True, cwd=tmp_path,
    ).stdout.split()  # fmt: skip
    assert all(Path(path).is_relative_to(home) for path in found)
    assert (home / "bin" / "cgos-server").exists()
    assert (home / "bin" / "cgos-client").exists()
    with server(tmp_path, settings="drain_limit_s = 5", python=python) as serving:
        with bots(serving, {"Random": (["bot", "random"], ()), "Greedy": (["bot", "greedy"], ())}):
            until(lambda: serving.query("select 1 from games where ended_at is not null"), 60, "no game has ended")
        assert "Greedy" in serving.get("/", serving.web_port)[1]
        assert serving.stop() == 0
