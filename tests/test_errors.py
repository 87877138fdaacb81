"""The tree of errors: every code has one class, and whoever refuses says both rightly."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import msgspec
import pytest

from cgos_protocol import errors
from cgos_protocol.errors import Code, Conflict, Invalid, NotFound, Refused
from cgos_protocol.lines.misread import Misread
from cgos_server.config.problems import ConfigErrors
from cgos_server.service.commands.registry import Refusal, ask
from cgos_server.service.commands.server import Reload
from cgos_server.web.around.limiting import TooMuch
from cgos_server.web.around.problems import HttpRefused, Wrong

ROOT = Path(__file__).parents[1]
CLASSES = {
    **{name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Refused)},
    **{kind.__name__: kind for kind in (ConfigErrors, HttpRefused, Misread, TooMuch, Wrong)},
}


@cache
def trees() -> dict[Path, ast.Module]:
    """All modules that know the tree of errors."""
    folders = ("cgos_server", "clients/cgos_client", "protocol/cgos_protocol")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*.py")]
    declaring = ROOT / "protocol/cgos_protocol/errors.py"
    return {path: ast.parse(path.read_text("utf-8")) for path in paths if path != declaring}


def members(node: ast.AST) -> Iterator[Code]:
    """The members of Code that are named below a node."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute) and isinstance(inner.value, ast.Name) and inner.value.id == "Code":
            yield Code[inner.attr]


def test_every_refusal_is_raised_as_the_class_of_its_code() -> None:
    checked = 0
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if not path.is_relative_to(ROOT / "clients"):  # the client has a Refused of its own
                assert node.func.id != "Refused", f"{path}:{node.lineno}: one of its classes says more"
            kind = CLASSES.get(node.func.id)
            for code in (code for argument in node.args[:2] for code in members(argument) if kind is not None):
                assert kind is not None
                assert issubclass(kind, code.kind), f"{path}:{node.lineno}: {code} is of {code.kind.__name__}"
                checked += 1
    assert checked > 250


def test_another_class_than_that_of_the_code_is_a_mistake_of_ours() -> None:
    for kind in (Refused, NotFound):
        with pytest.raises(TypeError, match="name-taken is the code of a Conflict"):
            kind(Code.NAME_TAKEN, "The name is taken.")
    assert type(Refused.of(Code.NAME_TAKEN, "The name is taken.", 2.1)) is Conflict


def test_every_code_is_used_and_none_is_written_out() -> None:
    used: set[Code] = set()
    words = {str(code) for code in Code if "-" in code}
    for path, tree in trees().items():
        used.update(members(tree))
        for node in ast.walk(tree):
            assert not isinstance(node, ast.Constant) or node.value not in words, f"{path}:{node.lineno}"
    assert used == set(Code)


def test_a_code_is_called_after_its_word_and_says_what_happened_in_one_sentence() -> None:
    for code in Code:
        assert code.name == code.upper().replace("-", "_")
        assert code.meaning[0].isupper()
        assert code.meaning.index(".") == len(code.meaning) - 1, code


async def test_a_refusal_arrives_as_it_was_raised() -> None:
    async def call(_line: bytes) -> bytes:
        return msgspec.json.encode(Refusal(code, "No.", 3.0))

    for code in Code:
        with pytest.raises(Refused) as raised:
            await ask(call, Reload())
        assert type(raised.value) is code.kind
        assert (raised.value.code, raised.value.sentence, raised.value.retry_after_s) == (code, "No.", 3.0)


async def test_a_refusal_of_a_newer_server_is_still_a_sentence() -> None:
    async def call(_line: bytes) -> bytes:
        return b'{"is":"refused","code":"of-tomorrow","sentence":"Tomorrow."}'

    with pytest.raises(Invalid, match=r"^Tomorrow\.$") as raised:
        await ask(call, Reload())
    assert raised.value.code == "of-tomorrow"
    assert raised.value.code not in set(Code)
    assert (
        msgspec.json.encode(Refusal(raised.value.code, "Tomorrow."))[:40] == b'{"is":"refused","code":"of-tomorrow","se'
    )


def test_the_page_lists_every_code() -> None:
    rows = [f"| `{code}` | {code.kind.status} | {code.meaning} |" for code in sorted(Code)]
    page = (ROOT / "docs/refusals.md").read_text("utf-8")
    assert [line for line in page.splitlines() if line.startswith("| `")] == rows
