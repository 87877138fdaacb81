"""What lies in deploy/ is true: ports, commands, keys and files named there are those of the program."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import socket
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from cgos_server.config.loader import load
from cgos_server.config.schema import Config
from cgos_server.net.health import health_app
from cgos_server.net.http import HttpListener

TOP = Path(__file__).parents[2]
DEPLOY = TOP / "deploy"
DEFAULT = Config()
BOT_PORTS = {venue.port for venue in DEFAULT.venue}
ALL_PORTS = {*BOT_PORTS, DEFAULT.websocket.port, DEFAULT.web.port, DEFAULT.health.port}


def read(name: str) -> str:
    return (DEPLOY / name).read_text(encoding="utf-8")


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's (word, rest), comments dropped and continued lines joined."""
    text = re.sub(r"^#.*\n", "", read("Dockerfile"), flags=re.MULTILINE)
    lines = text.replace("\\\n", "").splitlines()
    return [(line.split(None, 1)[0], line.split(None, 1)[1]) for line in lines if line.strip()]


def docker(word: str) -> list[str]:
    return [rest for first, rest in instructions() if first == word]


def assignments(lines: list[str]) -> dict[str, str]:
    return dict(pair.split("=", 1) for line in lines for pair in line.split())


def unit() -> dict[str, list[str]]:
    """Key -> values of the service, in order."""
    values: dict[str, list[str]] = {}
    for line in read("cgos-server.service").splitlines():
        if "=" in line and not line.startswith("#"):
            key, value = line.split("=", 1)
            values.setdefault(key, []).append(value)
    return values


def scripts() -> dict[str, str]:
    loaded = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))
    by_name = loaded["project"]["scripts"]
    assert isinstance(by_name, dict)
    return by_name


# -- the image


def test_the_image_opens_the_default_ports() -> None:
    assert {int(port) for rest in docker("EXPOSE") for port in rest.split()} == ALL_PORTS


def test_the_image_configures_the_server_by_keys_that_exist() -> None:
    config = load(env=assignments(docker("ENV")))
    assert docker("VOLUME") == [str(config.server.data)]
    assert docker("WORKDIR")[-1] == str(config.server.data)
    assert (config.web.host, config.health.host) == ("0.0.0.0", "0.0.0.0")
    assert (config.web.port, config.health.port) == (DEFAULT.web.port, DEFAULT.health.port)


def test_the_image_is_built_from_files_that_exist_and_are_not_ignored() -> None:
    copied = [word for rest in docker("COPY") for word in rest.split()[:-1]]
    assert copied
    allowed = {line[1:] for line in read("Dockerfile.dockerignore").splitlines() if line.startswith("!")}
    assert set(copied) == allowed
    for name in copied:
        assert (TOP / name).exists(), name
    built = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    wheel = built["targets"]["wheel"]
    for needed in (*wheel["packages"], *wheel.get("force-include", {})):
        assert needed.split("/")[0] in copied, needed


def test_the_image_runs_the_server_as_an_ordinary_user() -> None:
    words = [word for word, _ in instructions()]
    (user,) = docker("USER")
    assert user not in ("root", "0")
    assert f" {user} " in " ".join(docker("RUN")) + " "
    assert words.index("USER") > max(index for index, word in enumerate(words) if word == "RUN")
    assert json.loads(docker("CMD")[-1])[0] in scripts()
    assert json.loads(docker("CMD")[-1]) == ["cgos-server", "serve"]


async def test_the_images_health_check_tells_alive_from_dead() -> None:
    check = json.loads(docker("HEALTHCHECK")[0].split("CMD ", 1)[1])
    assert str(DEFAULT.health.port) in check[-1]
    assert check[0] == "python"

    async def healthy(port: int) -> bool:
        code = check[-1].replace(str(DEFAULT.health.port), str(port))
        child = await asyncio.create_subprocess_exec(
            sys.executable, *check[1:-1], code, stderr=asyncio.subprocess.DEVNULL
        )
        return await child.wait() == 0

    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    port = int(sock.getsockname()[1])
    listener = HttpListener(health_app({"sick": lambda: (False, "not ready, but alive")}, CollectorRegistry()), sock)
    async with asyncio.TaskGroup() as group:
        group.create_task(listener.run())
        await asyncio.sleep(0)
        assert await healthy(port)
        listener.stop()
    assert not await healthy(port)


# -- the service


def test_the_service_passes_systemds_own_check(tmp_path: Path) -> None:
    program = shutil.which("systemd-analyze")
    if program is None:
        pytest.skip("systemd-analyze is not installed")
    # It also looks for the executable, which is elsewhere on this machine.
    text = read("cgos-server.service").replace("/opt/cgos-server/current/bin/cgos-server", sys.executable)
    copy = tmp_path / "cgos-server.service"
    copy.write_text(text, encoding="utf-8")
    check = subprocess.run([program, "verify", str(copy)], capture_output=True, text=True, timeout=60)
    assert (check.returncode, check.stdout + check.stderr) == (0, "")


def test_the_service_leaves_running_games_their_time() -> None:
    service = unit()
    assert int(service["TimeoutStopSec"][0]) >= DEFAULT.server.drain_limit_s + 20
    assert service["KillSignal"] == ["SIGTERM"]
    assert int(service["WatchdogSec"][0]) >= 2 * DEFAULT.server.commit_timeout_s
    assert service["Restart"] == ["on-failure"]
    assert int(service["LimitNOFILE"][0]) > DEFAULT.limits.connections + 1_000


def test_the_service_starts_the_server_in_the_directory_it_may_write_to() -> None:
    service = unit()
    program, *arguments = service["ExecStart"][0].split()
    assert Path(program).name in scripts()
    assert arguments == ["serve"]
    assert f"exec {program} " in read("cgos-server.sh")
    assert assignments(service["Environment"])["CGOS_CONFIG"] in read("cgos-server.sh")
    assert service["ExecReload"] == [f"{program} reload"]
    assert (service["Type"], service["NotifyAccess"]) == (["notify"], ["main"])
    config = load(DEPLOY / "cgos.toml")
    assert config.server.data == Path("/var/lib") / service["StateDirectory"][0]
    assert service["WorkingDirectory"] == [str(config.server.data)]
    assert service["ReadWritePaths"] == [f"-{config.backups}"]
    assert service["ProtectSystem"] == ["strict"]


def test_the_guide_makes_the_user_the_folders_and_the_files_of_the_service() -> None:
    service, config, text = unit(), load(DEPLOY / "cgos.toml"), read("README.md")
    (user,) = service["User"]
    assert re.search(rf"useradd .*--home-dir {config.server.data} .* {user}$", text, re.MULTILINE)
    assert f"install -d -m 700 -o {user} -g {user} {config.server.data} {config.backups}\n" in text
    installed = re.findall(r"^    (?:cp|install .*) (deploy/\S+) /", text, re.MULTILINE)
    assert len(installed) == 3
    assert all((TOP / path).is_file() for path in installed)
    assert f" deploy/cgos.toml {assignments(service['Environment'])['CGOS_CONFIG']}\n" in text


@pytest.mark.parametrize(("given", "expected"), [({}, "/etc/cgos/cgos.toml"), ({"CGOS_CONFIG": "a.toml"}, "a.toml")])
def test_commands_find_the_configuration_of_the_service(given: dict[str, str], expected: str, tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text('#!/bin/sh\necho "$CGOS_CONFIG" "$@"\n')
    program.chmod(0o755)
    text = read("cgos-server.sh").replace("/opt/cgos-server/current/bin/cgos-server", str(program))
    shown = subprocess.run(
        ["sh", "-c", text, "cgos-server", "bot", "erase", "two words"],
        env=given,
        capture_output=True,
        text=True,
        timeout=9,
    )
    assert shown.stdout == f"{expected} bot erase two words\n"


# -- monitoring


def test_prometheus_accepts_the_scrape_file() -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed")
    check = subprocess.run(
        [promtool, "check", "config", str(DEPLOY / "prometheus.yml")], capture_output=True, text=True, timeout=30
    )
    assert check.returncode == 0, check.stdout + check.stderr


def test_prometheus_scrapes_the_default_listener() -> None:
    targets = re.findall(r'^      - targets: \["([^"]+)"\]', read("prometheus.yml"), re.MULTILINE)
    assert targets == [f"{DEFAULT.health.host}:{DEFAULT.health.port}"] * 2
    jobs = read("prometheus.yml").split("- job_name: ")[1:]
    paths = {job.split()[0]: re.findall(r"metrics_path: (\S+)", job) for job in jobs}
    assert paths == {"cgos-server": [], "cgos-web": ["/metrics/web"]}  # the default, /metrics, is ours


# -- the guide


def test_the_guide_names_every_port_and_file() -> None:
    text = read("README.md")
    for port in ALL_PORTS:
        assert str(port) in text
    for path in DEPLOY.iterdir():
        assert path.name == "README.md" or f"`{path.name}`" in text
    assert f"{DEFAULT.server.drain_limit_s:.0f} seconds" in text


def test_keys_and_commands_in_the_guide_exist() -> None:
    text = read("README.md")
    section, key = "server", "drain_limit_s"
    assert f"`{section}.{key}`" in text
    assert hasattr(getattr(DEFAULT, section), key)
    commands = set(re.findall(r"(?:^ *|`|sudo )cgos-server (\w+)", text, re.MULTILINE))
    assert commands >= {"check", "doctor", "status"}
    for command in commands:
        answer = subprocess.run(
            [sys.executable, "-m", "cgos_server", command, "--help"], capture_output=True, text=True, timeout=60
        )
        assert answer.returncode == 0, command
        assert "--data" in answer.stdout
