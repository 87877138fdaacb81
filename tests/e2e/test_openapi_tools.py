"""What others' tools make of ``docs/openapi.json``: two generators for Python, one for TypeScript, and a linter."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pytest
from support.e2e.npm import installed

ROOT = Path(__file__).parents[2]
DOCUMENT: Final = ROOT / "docs" / "openapi.json"
BIN: Final = Path(sys.executable).parent
LIMIT_S: Final = 120

pytestmark = [pytest.mark.e2e]

Ran = subprocess.CompletedProcess[str]


@pytest.fixture(scope="module")
def types() -> set[str]:
    """The names of all types in the description."""
    return set(json.loads(DOCUMENT.read_text("utf-8"))["components"]["schemas"])


def run(directory: Path, *words: str | Path) -> Ran:
    path = os.pathsep.join((str(BIN), os.environ["PATH"]))
    return subprocess.run(
        [str(word) for word in words], cwd=directory, env=os.environ | {"PATH": path},
        capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Starts all tools at once; tool -> the directory where it worked and how it ended."""
    work = tmp_path_factory.mktemp("tools")
    config = work / "openapi-python-client.yaml"
    config.write_text("post_hooks: []\n")  # it would run linters over what it wrote

    def npm(command: str, *packages: str) -> Callable[[Path, list[str | Path]], Ran]:
        return lambda directory, words: run(directory, installed(directory, *packages) / ".bin" / command, *words)

    def python(command: str) -> Callable[[Path, list[str | Path]], Ran]:
        return lambda directory, words: run(directory, BIN / command, *words)

    tools: dict[str, tuple[Callable[[Path, list[str | Path]], Ran], list[str | Path]]] = {
        "openapi-python-client": (
            python("openapi-python-client"),
            ["generate", "--path", DOCUMENT, "--output-path", "client", "--config", config],
        ),
        "datamodel-code-generator": (python("datamodel-codegen"), [
            "--input", DOCUMENT, "--input-file-type", "openapi", "--output", "models.py", "--output-model-type",
            "pydantic_v2.BaseModel", "--formatters", "builtin",
        ]),
        "openapi-typescript": (
            npm("openapi-typescript", "openapi-typescript", "typescript"), [DOCUMENT, "--output", "api.ts"],
        ),
        "redocly": (npm("redocly", "@redocly/cli"), ["lint", DOCUMENT, "--format", "json"]),
    }  # fmt: skip
    with ThreadPoolExecutor(len(tools)) as pool:
        places = {name: work / name for name in tools}
        for place in places.values():
            place.mkdir()
        works = {name: pool.submit(start, places[name], words) for name, (start, words) in tools.items()}
        yield lambda name: (places[name], works[name].result())


def test_openapi_python_client_makes_a_client(ran: Any, types: set[str]) -> None:
    directory, done = ran("openapi-python-client")
    assert done.returncode == 0, done.stdout + done.stderr
    package = directory / "client" / "cgos_server_client"
    made = {
        node.name
        for file in (package / "models").glob("*.py")
        for node in ast.parse(file.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef)
    }
    assert types - made == set()
    operations = [path for path in (package / "api").rglob("*.py") if path.stem != "__init__"]
    routes = json.loads(DOCUMENT.read_text("utf-8"))["paths"]
    assert len(operations) == sum(len(place) for place in routes.values())


def test_datamodel_code_generator_makes_models(ran: Any, types: set[str]) -> None:
    directory, done = ran("datamodel-code-generator")
    assert done.returncode == 0, done.stderr
    tree = ast.parse((directory / "models.py").read_text("utf-8"))
    assert types - {node.name for node in tree.body if isinstance(node, ast.ClassDef)} == set()
    imported = run(directory, sys.executable, "-c", "import models; models.LiveMove.model_json_schema()")
    assert imported.returncode == 0, imported.stderr


def test_openapi_typescript_makes_types(ran: Any, types: set[str]) -> None:
    directory, done = ran("openapi-typescript")
    assert done.returncode == 0, done.stdout + done.stderr
    text = (directory / "api.ts").read_text("utf-8")
    assert types - set(re.findall(r"^ {8}(\w+): ", text, re.MULTILINE)) == set()
    assert '"application/x-ndjson": components["schemas"]["TranscriptLine"]' in text


def test_redocly_finds_nothing(ran: Any) -> None:
    _, done = ran("redocly")
    assert json.loads(done.stdout)["problems"] == [], done.stderr
    assert done.returncode == 0
