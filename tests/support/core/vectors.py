"""Where vector files are read from: tests/vectors, or the directory given as `pytest --vectors DIR`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HOME = Path(__file__).parents[2] / "vectors"
Vectors = Callable[[str], dict[str, Any]]


def directory(config: pytest.Config) -> Path:
    chosen = config.getoption("--vectors")
    return HOME if chosen is None else Path(chosen)


def load(name: str, config: pytest.Config) -> dict[str, Any]:
    """The file of that name; where another directory was given and lacks it, the test that asks is skipped."""
    path = directory(config) / f"{name}.json"
    if not path.exists() and path.parent != HOME:
        pytest.skip(f"there is no {path.name} in {path.parent}")
    content: dict[str, Any] = json.loads(path.read_text())
    return content


def its_name(case: dict[str, Any]) -> str:
    return str(case["name"])


def parametrize(
    metafunc: pytest.Metafunc,
    fixture: str,
    name: str,
    kind: str | None = None,
    named: Callable[[dict[str, Any]], str] = its_name,
) -> None:
    """One test a case of a file (of one kind): for `pytest_generate_tests`. A missing file gives one skipped test."""
    path = directory(metafunc.config) / f"{name}.json"
    if not path.exists() and path.parent != HOME:
        reason = pytest.mark.skip(reason=f"there is no {path.name} in {path.parent}")
        metafunc.parametrize(fixture, [pytest.param(None, marks=reason)], ids=["missing"])
        return
    cases = [case for case in json.loads(path.read_text())["cases"] if kind is None or case.get("kind") == kind]
    metafunc.parametrize(fixture, cases, ids=[named(case) for case in cases])
