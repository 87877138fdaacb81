"""The three distributions, built and installed where the checkout is out of sight: cgos-protocol passes its tests by
itself, cgos-client needs little, and a bot of one environment plays a rated game on a server of another."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.e2e.processes import client, server, until

from cgos_server.storage import schema

pytestmark = [pytest.mark.e2e, pytest.mark.wheel]

ROOT = Path(__file__).parents[2]
FOLDERS = {"cgos_protocol": "protocol", "cgos_client": "clients", "cgos_server": "."}
TOOLS = ("hypothesis", "pytest", "pytest-asyncio", "pytest-timeout", "pytest-xdist", "sgfmill")
NOT_THE_CLIENTS = {"numpy", "sqlalchemy", "uvicorn", "pillow", "cgos-server"}


def run(*command: str | Path, cwd: Path | None = None) -> str:
    """What a command says; it fails where the command does."""
    words = [str(word) for word in command]
    ended = subprocess.run(words, capture_output=True, text=True, timeout=300, cwd=cwd)
    assert ended.returncode == 0, f"{' '.join(words)}: {ended.stdout}{ended.stderr}"
    return ended.stdout


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Package -> its wheel."""
    directory = tmp_path_factory.mktemp("wheels")
    for folder in FOLDERS.values():
        run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", directory, ROOT / folder)
    return {package: next(directory.glob(f"{package}-*.whl")) for package in FOLDERS}


def environment(home: Path, wheels: Sequence[Path], also: Sequence[str] = (), *, libraries: bool = False) -> Path:
    """The Python of a new environment with these wheels and what they ask for.

    :param also: distributions to install besides
    :param libraries: other distributions are those of this environment, instead of what the wheels ask for
    """
    run(sys.executable, "-m", "venv", home)
    python = home / "bin" / "python"
    install = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if libraries:
        # Not this environment's editable installs: a path that a .pth file adds is not searched for further ones.
        site = Path(sysconfig.get_path("purelib", vars={"base": str(home), "platbase": str(home)}))
        (site / "libraries.pth").write_text(sysconfig.get_path("purelib") + "\n")
        install += ["--no-deps", "--ignore-installed"]
    else:
        install += ["--constraint", ROOT / "requirements.lock"]
    run(*install, *wheels, *also)
    return python


def distributions(python: Path) -> set[str]:
    """What is installed beside pip, by name."""
    listed = json.loads(run(python, "-m", "pip", "list", "--disable-pip-version-check", "--format", "json"))
    return {package["name"].lower() for package in listed} - {"pip", "setuptools"}


def test_an_editable_install_finds_the_migrations_of_the_checkout() -> None:
    assert schema.migrations() == ROOT / "migrations"


def test_every_wheel_holds_its_package_and_no_other(wheels: dict[str, Path]) -> None:
    for package, wheel in wheels.items():
        names = zipfile.ZipFile(wheel).namelist()
        assert {name.split("/")[0] for name in names if not name.split("/")[0].endswith(".dist-info")} == {package}
        assert f"{package}/py.typed" in names
    server_names = zipfile.ZipFile(wheels["cgos_server"]).namelist()
    assert any(name.startswith("cgos_server/migrations/versions/") for name in server_names)


def test_cgos_protocol_passes_its_tests_by_itself(wheels: dict[str, Path], tmp_path: Path) -> None:
    python = environment(tmp_path / "home", [wheels["cgos_protocol"]], also=TOOLS)
    assert distributions(python) & {"cgos-client", "cgos-server", "sqlalchemy", "numpy"} == set()
    # Not `python -m pytest`: that would find the packages that lie in the current directory.
    pytest_ = (python.with_name("pytest"), "-p", "no:cacheprovider", "-n", "2", "-q", "-m", "not slow")
    output = run(*pytest_, ROOT / "tests/protocol")
    assert " passed" in output


def test_a_bot_of_one_environment_plays_rated_on_a_server_of_another(wheels: dict[str, Path], tmp_path: Path) -> None:
    own = environment(tmp_path / "client", [wheels["cgos_protocol"], wheels["cgos_client"]])
    installed = distributions(own)
    assert {"cgos-client", "cgos-protocol"} <= installed
    assert len(installed) <= 9, sorted(installed)
    assert not installed & NOT_THE_CLIENTS
    # The server has everything but the client.
    there = environment(tmp_path / "server", [wheels["cgos_protocol"], wheels["cgos_server"]], libraries=True)
    with server(tmp_path, settings="drain_limit_s = 5", python=str(there)) as serving:
        with (
            client(serving, "Random", ["bot", "random"], python=str(own)),
            client(serving, "Greedy", ["bot", "greedy"], python=str(own)),
        ):
            until(lambda: serving.query("select 1 from games where ended_at is not null"), 60, "no game has ended")
        assert "Greedy" in serving.page("/")[1]
        assert serving.query("select 1 from ratings where games > 0")
        assert serving.stop() == 0


def test_another_version_of_cgos_protocol_is_named_before_anything_is_done(tmp_path: Path) -> None:
    for package, program in (("cgos_server", "cgos-server"), ("cgos_client", "cgos-client")):
        code = (
            "import cgos_protocol, runpy, sys\n"
            "cgos_protocol.__version__ = '7.3.1'\n"
            f"sys.argv = ['{program}', '--help']\n"
            f"runpy.run_module('{package}', run_name='__main__')\n"
        )
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=tmp_path)
        assert ended.returncode == 2
        assert ended.stdout == ""
        assert f"{program} 0.1.0 needs cgos-protocol 0.1, and 7.3.1 is installed." in ended.stderr
