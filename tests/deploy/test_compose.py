"""The compose files are whole: pinned, shut in, without secrets, and what they mount and run is there.

No container is started here.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import IPv4Network, ip_address
from pathlib import Path
from typing import Any

import pytest
import yaml

from cgos_server import __version__
from cgos_server.config.loader import load
from cgos_server.config.schema import Config

TOP = Path(__file__).parents[2]
HERE = TOP / "deploy/compose"
DEFAULT = Config()
FILES = ("compose.yml", "postgres.yml")
PARTS: dict[str, dict[str, Any]] = {name: yaml.safe_load((HERE / name).read_text(encoding="utf-8")) for name in FILES}
WORLD = {"0.0.0.0:80:80", "0.0.0.0:443:443", *(f"0.0.0.0:{venue.port}:{venue.port}" for venue in DEFAULT.venue)}
THIS_MACHINE = {"127.0.0.1:3000:3000", "127.0.0.1:9090:9090"}
VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*)|:\?[^}]*)?\}")


def example() -> dict[str, str]:
    """The variables of .env.example, those in comments too."""
    text = (HERE / ".env.example").read_text(encoding="utf-8")
    return dict(re.findall(r"^#?([A-Z_]+)=(.+)$", text, re.MULTILINE))


CLUSTER: dict[str, Any] = yaml.safe_load((HERE / "cluster.yml").read_text(encoding="utf-8"))
"""Not one of the others: it is started by itself."""


def services() -> dict[str, dict[str, Any]]:
    """Those that are defined; postgres.yml adds to the server besides."""
    return PARTS["postgres.yml"]["services"] | PARTS["compose.yml"]["services"]


def all_services() -> dict[str, dict[str, Any]]:
    return services() | CLUSTER["services"]


def keys(section: str) -> set[str]:
    return {name for part in PARTS.values() for name in part.get(section, {})}


def filled(text: str) -> str:
    """With the variables' defaults, else with the values of the example."""
    return VARIABLE.sub(lambda match: match[2] or example()[match[1]], text)


def mounts() -> Iterator[tuple[str, str, str]]:
    """(service, source, target and mode)."""
    for name, service in services().items():
        for mount in service["volumes"]:
            source, target = filled(mount).split(":", 1)
            yield name, source, target


def images() -> Iterator[str]:
    for service in all_services().values():
        yield filled(service["image"])
        yield from re.findall(r"^FROM (\S+)", service.get("build", {}).get("dockerfile_inline", ""), re.MULTILINE)


# -- images and what they may


def test_every_image_has_a_version() -> None:
    assert example()["CGOS_VERSION"] == __version__
    for image in images():
        assert re.fullmatch(r"[a-z/-]+:v?\d+\.\d+[\w.-]*", image), image


def test_the_image_of_the_server_is_built_by_the_dockerfile() -> None:
    build = services()["server"]["build"]
    assert (HERE / build["context"]).resolve() == TOP
    assert (TOP / build["dockerfile"]).is_file()


@pytest.mark.parametrize("name", sorted(all_services()))
def test_a_service_is_shut_in_and_starts_again(name: str) -> None:
    service = all_services()[name]
    assert service["restart"] == "unless-stopped"
    assert service["read_only"] is True
    assert (service["cap_drop"], service["security_opt"]) == (["ALL"], ["no-new-privileges:true"])
    assert service.get("cap_add", []) == (["NET_BIND_SERVICE"] if name in ("proxy", "balancer") else [])
    if service["image"].startswith("cgos-server:"):
        assert "user" not in service, "the Dockerfile says it"
    else:
        assert int(service["user"].split(":")[0]) > 0
        assert service["healthcheck"]["test"][0] == "CMD"


def test_stopping_leaves_running_games_their_time() -> None:
    assert int(services()["server"]["stop_grace_period"].removesuffix("s")) >= DEFAULT.server.drain_limit_s + 20
    assert services()["server"]["ulimits"]["nofile"] > DEFAULT.limits.connections + 1_000


# -- what is reached


def test_only_lines_and_proxy_are_published_to_the_world() -> None:
    published = {port for service in services().values() for port in service.get("ports", [])}
    assert published == WORLD | THIS_MACHINE
    assert not {int(port.split(":")[-1]) for port in published} & {DEFAULT.health.port, DEFAULT.web.port}
    assert "ports" not in services()["database"]
    assert PARTS["postgres.yml"]["networks"]["database"] == {"internal": True}


def test_the_proxy_leads_to_the_server_and_not_to_health() -> None:
    text = (HERE / "Caddyfile").read_text(encoding="utf-8")
    led_to = re.findall(r"(\{\$\w+\}) \{[^}]*?(?:\{[^}]*\}[^}]*?)?reverse_proxy (\S+)", text)
    assert dict(led_to) == {
        "{$CGOS_PAGES}": f"server:{DEFAULT.web.port}",
        "{$CGOS_BOTS}": f"server:{DEFAULT.websocket.port}",
    }
    assert {"CGOS_PAGES", "CGOS_BOTS"} <= set(services()["proxy"]["environment"])


def test_caddy_takes_its_file(tmp_path: Path) -> None:
    caddy = shutil.which("caddy")
    if caddy is None:
        pytest.skip("caddy is not installed")
    check = subprocess.run(
        [caddy, "validate", "--adapter", "caddyfile", "--config", str(HERE / "Caddyfile")],
        capture_output=True,
        text=True,
        timeout=30,
        env=example() | {"HOME": str(tmp_path), "PATH": os.environ["PATH"]},
    )
    assert check.returncode == 0, check.stderr
    assert '"level":"warn"' not in check.stderr


# -- mounts and secrets


def test_what_is_mounted_exists() -> None:
    named = set()
    for name, source, target in mounts():
        if source.startswith("."):
            assert (HERE / source).exists(), source
            assert target.endswith(":ro"), (name, target)
        else:
            named.add(source)
    assert named == keys("volumes")


def test_the_server_writes_where_the_image_lets_it() -> None:
    dockerfile = (TOP / "deploy/Dockerfile").read_text(encoding="utf-8")
    (made,) = re.findall(r"--mode 0700 (.*)\n", dockerfile)
    written = {target for name, _, target in mounts() if name == "server" and not target.endswith(":ro")}
    assert written == set(made.split())


def test_no_secret_is_in_a_file_of_ours() -> None:
    secrets = {secret: part["secrets"][secret]["file"] for part in PARTS.values() for secret in part["secrets"]}
    assert secrets == {name: f"secrets/{name}" for name in secrets}
    for service in services().values():
        assert set(service.get("secrets", [])) <= set(secrets)
        for key, value in service.get("environment", {}).items():
            assert "PASS" not in key or value.removeprefix("/run/secrets/") in secrets, key
    ignored = (TOP / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert {"/deploy/compose/.env", "/deploy/compose/secrets/"} <= set(ignored)


# -- the configuration of what runs


@pytest.mark.parametrize("files", [FILES[:1], FILES], ids=["sqlite", "postgres"])
def test_the_server_takes_its_configuration(files: tuple[str, ...]) -> None:
    environment = {"CGOS_WEB__HOST": "0.0.0.0", "CGOS_HEALTH__HOST": "0.0.0.0", "CGOS_SERVER__DATA": "/data"}
    for name in files:
        environment |= PARTS[name]["services"]["server"]["environment"]
    targets = {target.removesuffix(":ro"): source for name, source, target in mounts() if name == "server"}
    folder, file = environment.pop("CGOS_CONFIG").rsplit("/", 1)
    config = load(HERE / targets[folder] / file, env={key: filled(value) for key, value in environment.items()})
    proxy = services()["proxy"]["networks"]["default"]["ipv4_address"]
    assert str(config.listen.proxies) == str(config.web.proxies) == f"{proxy}/32"
    assert config.web.public_url == f"https://{example()['CGOS_PAGES']}"
    assert str(config.websocket.public_url) == f"wss://{example()['CGOS_BOTS']}"
    assert str(config.backup.folder) in targets
    assert str(config.backup.at)
    assert bool(config.server.database) == (len(files) == 2)


@pytest.mark.parametrize("name", ["a", "b", "w1", "w2"])
def test_a_node_of_the_cluster_takes_its_configuration(name: str) -> None:
    service = CLUSTER["services"][name]
    environment = {"CGOS_WEB__HOST": "0.0.0.0", "CGOS_HEALTH__HOST": "0.0.0.0", "CGOS_SERVER__DATA": "/data"}
    environment |= {key: filled(value) for key, value in service["environment"].items() if key != "CGOS_CONFIG"}
    config = load(HERE / "cluster/cgos.toml", env=environment)
    assert config.cluster.node == name
    assert config.cluster.key is not None
    assert config.cluster.key.name in service["secrets"]
    (balancer,) = CLUSTER["services"]["balancer"]["networks"].values()
    assert str(config.listen.proxies) == str(config.web.proxies) == f"{balancer['ipv4_address']}/32"
    example_of_proxy = (TOP / "deploy/proxies/haproxy-cluster.cfg").read_text(encoding="utf-8")
    address = service["networks"]["default"]["ipv4_address"]
    assert f"server {name} {address}:{DEFAULT.web.port}" in example_of_proxy
    if name in "ab":
        assert config.cluster.address == address
    sources = [mount.split(":")[0] for mount in service["volumes"] if mount.startswith(".")]
    assert all((HERE / source).is_dir() for source in sources)
    assert {mount.split(":")[0] for mount in service["volumes"]} & {"a", "b", "w1", "w2"} == {name}


def test_no_container_can_take_the_address_that_the_server_believes() -> None:
    (settings,) = PARTS["compose.yml"]["networks"]["default"]["ipam"]["config"]
    subnet, given_out = IPv4Network(settings["subnet"]), IPv4Network(settings["ip_range"])
    proxy = ip_address(services()["proxy"]["networks"]["default"]["ipv4_address"])
    assert given_out.subnet_of(subnet)
    for fixed in (proxy, ip_address(settings["gateway"])):
        assert fixed in subnet
        assert fixed not in given_out


def test_the_servers_password_is_that_of_the_database() -> None:
    environment = PARTS["postgres.yml"]["services"]["server"]["environment"]
    database = services()["database"]["environment"]
    assert f"//{database['POSTGRES_USER']}@database:5432/" in environment["CGOS_SERVER__DATABASE"]


def test_prometheus_has_the_jobs_of_the_scrape_file_at_another_address() -> None:
    text = (TOP / "deploy/prometheus.yml").read_text(encoding="utf-8")
    address = f"server:{DEFAULT.health.port}"
    ours = yaml.safe_load((HERE / "prometheus.yml").read_text(encoding="utf-8"))
    assert ours == yaml.safe_load(text.replace(f"127.0.0.1:{DEFAULT.health.port}", address))


def test_prometheus_takes_its_configuration(tmp_path: Path) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed")
    for name, source, target in mounts():
        if name == "prometheus" and source.startswith("."):
            placed = tmp_path / target.removesuffix(":ro").lstrip("/")
            placed.parent.mkdir(parents=True, exist_ok=True)
            placed.symlink_to((HERE / source).resolve())
    file = next(word.split("=")[1] for word in services()["prometheus"]["command"] if "config.file" in word)
    command = [promtool, "check", "config", str(tmp_path / file.lstrip("/"))]
    check = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert check.returncode == 0, check.stdout + check.stderr
    assert "SUCCESS: 0 rules" not in check.stdout


def test_grafana_looks_where_its_dashboards_are_mounted() -> None:
    provider = yaml.safe_load((TOP / "deploy/grafana/provisioning/dashboards/cgos.yml").read_text(encoding="utf-8"))
    targets = {target.removesuffix(":ro"): source for name, source, target in mounts() if name == "grafana"}
    (place,) = (each["options"]["path"] for each in provider["providers"])
    assert list((HERE / targets[place]).glob("*.json"))
    source = (TOP / "deploy/grafana/provisioning/datasources/prometheus.yml").read_text(encoding="utf-8")
    for variable in re.findall(r"\$\{(\w+)\}", source):
        assert variable in services()["grafana"]["environment"]


# -- health checks


@contextmanager
def answering(status: int) -> Iterator[tuple[int, list[str]]]:
    """(port, paths that were asked for) of a server that gives one answer."""
    paths: list[str] = []

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server.server_port, paths
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(("name", "port"), [("proxy", 2019), ("prometheus", 9090), ("grafana", 3000)])
def test_a_health_check_tells_alive_from_dead(name: str, port: int) -> None:
    _, program, *arguments = services()[name]["healthcheck"]["test"]
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed")
    for status, healthy in ((200, True), (503, False)):
        with answering(status) as (free_port, paths):
            command = [program, *(argument.replace(f":{port}", f":{free_port}") for argument in arguments)]
            check = subprocess.run(command, capture_output=True, text=True, timeout=30)
            assert (check.returncode == 0) is healthy, check.stdout + check.stderr
            assert paths


# -- the whole


@pytest.mark.parametrize("files", [FILES[:1], FILES], ids=["sqlite", "postgres"])
def test_docker_compose_takes_the_files(files: tuple[str, ...]) -> None:
    docker = shutil.which("docker")
    if docker is None or subprocess.run([docker, "compose", "version"], capture_output=True, timeout=30).returncode:
        pytest.skip("docker compose is not installed")
    command = [docker, "compose", "--env-file", ".env.example"]
    for name in files:
        command += ["-f", name]
    check = subprocess.run(
        [*command, "config", "--format", "json"], cwd=HERE, capture_output=True, text=True, timeout=60
    )
    assert check.returncode == 0, check.stderr
    whole = json.loads(check.stdout)
    assert set(whole["services"]) == {name for each in files for name in PARTS[each]["services"]}
    server = whole["services"]["server"]
    assert set(server["networks"]) == {"default", "database"} if len(files) == 2 else {"default"}
    assert ("CGOS_SERVER__DATABASE" in server["environment"]) is (len(files) == 2)
