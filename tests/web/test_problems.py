"""Which status the API gives to each refusal. The list beside this file was written once; programs rely on it."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from cgos_server.errors import Refused
from cgos_server.web.problems import problem_of

ROOT = Path(__file__).parents[2]
STATUSES: dict[str, int] = json.loads(Path(__file__).with_name("status_by_code.json").read_text("utf-8"))

RAISED = {"Refused": 0, "Refusal": 0, "Misread": 0, "SchemaMismatch": 0, "DatabaseLocked": 0, "HttpRefused": 1}
"""What is called with a code, and at which place the code stands."""

COMPUTED = {"no-black", "no-white", "black-busy", "white-busy"}
"""Codes that are put together where they are raised."""

BY_NAME = {"wrong-password", "port-busy", "pairing-option", "rating-option", "tournament-option", "invalid", "config"}
"""Codes that have a name where they are raised, or are handed to what raises them."""


def raised() -> dict[str, list[str]]:
    """Code -> where it is raised."""
    found: dict[str, list[str]] = {}
    for path in sorted((ROOT / "cgos_server").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            place = RAISED.get(node.func.id, len(node.args))
            if place < len(node.args) and isinstance(code := node.args[place], ast.Constant):
                found.setdefault(code.value, []).append(f"{path}:{node.lineno}")
    return found


def test_the_list_has_every_code_that_is_raised() -> None:
    assert raised().keys() | COMPUTED | BY_NAME | {"store"} == STATUSES.keys()


@pytest.mark.parametrize(("code", "status"), STATUSES.items())
def test_each_refusal_has_its_status(code: str, status: int) -> None:
    assert problem_of(Refused(code, "No.")).status == status
