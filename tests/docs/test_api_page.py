"""docs/api.md: every example of it runs against a server, every write example fits its operation, and its reference is
the table of routes."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import msgspec
import pytest
from support.web.commands_server import deeds_server
from support.web.pages_server import serving
from support.web.past import NOW, Builder, write

from cgos_protocol.api.bulk import ExportedChange, ExportedRank, ExportedRefit
from cgos_protocol.api.figures import LedgerEntry
from cgos_protocol.api.games import Game
from cgos_protocol.api.route import PREFIX, Limit, Needs, Operation
from cgos_server.config.schema import LimitsConfig
from cgos_server.presentation.settings import Rated, VenueSettings, WebSettings
from cgos_server.service.commands.accounts import AccountAdd
from cgos_server.service.commands.bots import BotAdd
from cgos_server.service.people.sessions import MOST_REGISTRATIONS
from cgos_server.storage import schema
from cgos_server.web.api.operations import ROUTES
from cgos_server.web.api.reference import reference
from cgos_server.web.around.limiting import RECOMPUTES_PER_MINUTE, SIGN_INS_PER_MINUTE

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text("utf-8")
HERE = "http://localhost:8080"
SETTINGS = WebSettings(
    venues={name: VenueSettings(rated=Rated(("cgos-elo",))) for name in ("9x9", "13x13", "19x19")},
    requests_per_minute=100_000,
)


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def commands() -> list[str]:
    return [line for block in blocks("sh") for line in block.replace("\\\n", " ").splitlines()]


READING = [line for line in commands() if "Authorization" not in line]
WRITING = [line for line in commands() if "Authorization" in line]


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = tmp_path_factory.mktemp("api_page") / "cgos.sqlite"
    schema.prepare(path)
    asyncio.run(write(path, Builder().build()))
    with serving(path, SETTINGS, lambda: NOW) as where:
        yield where


def request_of(line: str) -> tuple[str, str, bytes | None]:
    """Method, address and body of a curl command."""
    words = shlex.split(line.split("|")[0])
    (url,) = [word for word in words if word.startswith("http")]
    method = words[words.index("-X") + 1] if "-X" in words else "GET"
    return method, url, words[words.index("-d") + 1].encode() if "-d" in words else None


def answer(line: str, address: str) -> tuple[bytes, bool]:
    """What the command prints, and whether it came to its end."""
    line = line.replace(HERE, address)
    if shutil.which("curl") is None:
        _, url, _ = request_of(line)
        return httpx2.get(url, timeout=30).content, True
    endless = "/live?venue" in line  # it is cut off
    script = f'curl() {{ command curl --max-time {3 if endless else 60} "$@"; }}\n{line}'
    done = subprocess.run(["bash", "-c", script], capture_output=True, timeout=90, check=False)
    assert done.returncode in ((0, 28) if endless else (0,)), (line, done.stderr)
    return done.stdout, done.returncode == 0


@pytest.mark.parametrize("line", READING)
def test_every_curl_example_is_answered(line: str, address: str) -> None:
    if shutil.which("curl") is None and "/live?venue" in line:
        pytest.skip("an endless stream needs curl")
    data, _ = answer(line, address)
    path = urlsplit(request_of(line)[1]).path
    assert data
    if "color=" in line:
        assert json.loads(data)["parameter"] == "color"
    elif path.endswith(".ndjson") or "ndjson" in line:
        assert all("code" not in json.loads(part) for part in data.splitlines() if part)
    elif path.startswith(PREFIX) and not path.endswith((".csv", ".tar", ".sgf", "/live", "/text")):
        body = json.loads(data)
        assert "code" not in body, body
        assert body.get("items", [1]) != []
    else:
        assert not data.startswith(b'{"title"'), data


@pytest.mark.parametrize("number", range(len(blocks("python"))))
def test_every_python_example_runs(
    number: int, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(blocks("python")[number].replace(HERE, address), "docs/api.md", "exec"), {})
    assert capsys.readouterr().out.strip()


def test_there_are_examples_of_both_kinds() -> None:
    assert len(READING) >= 20
    assert len(blocks("python")) >= 7
    assert len(WRITING) >= 5


@pytest.mark.parametrize("line", WRITING)
def test_every_write_example_fits_its_operation(line: str) -> None:
    method, url, body = request_of(line)
    operations = [route for route in ROUTES if route.method == method and fits(route, urlsplit(url).path)]
    assert len(operations) == 1, line
    (operation,) = operations
    assert operation.needs is not Needs.NOTHING
    assert (body is None) == (operation.body is None)
    if body is not None:
        msgspec.json.decode(body, type=operation.body)
        assert "Content-Type: application/json" in line


async def test_every_write_example_is_done(tmp_path: Path) -> None:
    """In the page's order, with a token that has both scopes."""
    async with deeds_server(tmp_path) as server:
        for name in ("amigo", "Sakura-5k"):
            await server.admin.handle(BotAdd(name=name, password="its-password"))
        await server.admin.handle(AccountAdd(name="Olive", password="long-secret", admin=True))
        await server.played(1, 1, 2)
        session = await server.sign_in("Olive")
        made = await server.ask("POST", "/me/tokens", {"scopes": ["bots", "admin"]}, session, 201)
        for line in WRITING:
            method, url, body = request_of(line)
            place = url.partition(PREFIX)[2]
            value = None if body is None else json.loads(body)
            answer = await server.ask(method, place, value, made.json()["token"])
            assert answer.status_code in (200, 201), (line, answer.text)
        assert server.live.calls[-1][0] in ("wishes", "drain bot", "pause")
        assert (await server.history.games.detail(1)).corrections[0].result == "Void"


def fits(operation: Operation, path: str) -> bool:
    pattern = re.sub(r"\\{\w+\\}", "[^/]+", re.escape(PREFIX + operation.path))
    return re.fullmatch(pattern, path) is not None


def test_the_reference_is_the_table() -> None:
    """Written again by: everything below "## Reference" is a sentence and `api_reference.reference(ROUTES)`."""
    assert PAGE.partition("## Reference\n")[2].partition("/docs/api`.\n\n")[2] == reference(ROUTES).rstrip("\n") + "\n"
    for operation in ROUTES:
        assert f"| `{operation.method} {operation.path or '/'}` |" in PAGE


def test_the_limits_are_those_that_hold() -> None:
    rows = dict(re.findall(r"^\| `([\w-]+)` \| [^|]+ \| (.*) \|$", PAGE.partition("## Venues")[0], re.MULTILINE))
    assert set(rows) == set(map(str, Limit))
    defaults = WebSettings()
    assert rows["requests"].startswith(f"{defaults.requests_per_minute},")
    assert rows["bulk"].startswith(f"{defaults.exports_at_once} of everybody, half")
    assert rows["streams"].startswith(f"{defaults.streams_per_address} of one address, ten times")
    assert rows["sign-in"] == str(SIGN_INS_PER_MINUTE)
    assert rows["passwords"].startswith(f"{LimitsConfig().failed_logins},")
    assert rows["accounts"] == str(MOST_REGISTRATIONS)
    assert rows["recompute"] == str(RECOMPUTES_PER_MINUTE)


def test_every_column_of_the_exports_is_explained() -> None:
    section = PAGE.partition("### Columns")[2].partition("\n## ")[0]
    for kind in (Game, ExportedChange, ExportedRefit, ExportedRank, LedgerEntry):
        for name in kind.__struct_fields__:
            assert f"`{name}`" in section, (kind.__name__, name)
