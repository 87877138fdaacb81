"""Which Python `make` takes, what it says while it installs, and that its help names all it does."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).parents[2]
TOOLS = ("bash", "sh", "echo", "grep", "find", "wc", "touch", "mkdir", "cp", "chmod", "env")
PACKAGES = (TOP / "requirements.lock").read_text(encoding="utf-8").count("==")

ANSWERS = """#!/bin/sh
case "$1 $2" in
"--version "*) echo "Python {version}";;
-c*) {old};;
"-m venv") mkdir -p "$3/bin" "$3/lib" && cp "$0" "$3/bin/python";;
"-m pip") echo "$0 $*" >>"$LOG"; {pip};;
esac
"""
SHIM = '#!/bin/sh\necho "this version is not installed" >&2\nexit 127\n'


class Machine:
    """A PATH with the tools that are always there, and stubs of Python."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "path"
        self.path.mkdir()
        self.venv = directory / "venv"
        self.log = directory / "pip.log"
        for tool in TOOLS:
            where = shutil.which(tool)
            assert where is not None
            (self.path / tool).symlink_to(where)
        self.put("sleep", f"#!/bin/sh\n{shutil.which('sleep')} 0.01\n")

    def put(self, name: str, script: str) -> None:
        (self.path / name).write_text(script, encoding="utf-8")
        (self.path / name).chmod(0o755)

    def python(self, name: str, *, old: str = "exit 0", pip: str = "exit 0") -> None:
        """One that answers."""
        self.put(name, ANSWERS.format(version=f"{name.removeprefix('python')}.9", old=old, pip=pip))

    def make(self, *words: str, target: str = "venv") -> subprocess.CompletedProcess[str]:
        make = shutil.which("make")
        assert make is not None
        return subprocess.run(
            [make, target, f"VENV={self.venv}", *words],
            cwd=TOP, env={"PATH": str(self.path), "LOG": str(self.log)}, capture_output=True, text=True, timeout=60,
        )  # fmt: skip


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize(
    ("there", "shims", "taken"),
    [
        (("python3.11",), (), "python3.11"),
        (("python3.11", "python3.13"), (), "python3.13"),
        (("python3.11", "python3.12"), ("python3.13",), "python3.12"),
        (("python3.11", "python3.14"), ("python3.12", "python3.13"), "python3.11"),
    ],
)
def test_the_newest_that_answers_is_taken(
    machine: Machine, there: tuple[str, ...], shims: tuple[str, ...], taken: str
) -> None:
    for name in there:
        machine.python(name)
    for name in shims:
        machine.put(name, SHIM)
    made = machine.make()
    assert made.returncode == 0, made.stderr
    assert made.stdout == ""
    lines = made.stderr.splitlines()
    assert lines[0] == f"making {machine.venv} with {taken} (Python {taken.removeprefix('python')}.9)"
    assert lines[1].startswith(f"installing {PACKAGES} packages of requirements.lock")
    assert lines[-1].startswith("installed in ")
    assert len(machine.log.read_text(encoding="utf-8").splitlines()) == 2
    assert (machine.venv / ".ready").exists()


def test_nothing_that_answers_is_refused(machine: Machine) -> None:
    machine.put("python3.13", SHIM)
    machine.python("python3.10")
    made = machine.make()
    assert made.returncode != 0
    assert made.stderr.startswith(
        "Python 3.11, 3.12 or 3.13 is needed: none of python3.13, python3.12 and python3.11 answers"
    )
    assert not machine.venv.exists()


def test_another_one_may_be_named(machine: Machine) -> None:
    machine.python("python3.12")
    machine.python("snake")
    assert "with snake (" in machine.make("PYTHON=snake").stderr


@pytest.mark.parametrize("name", ["python3.10", "python3.14"])
def test_a_named_one_that_is_too_old_or_absent_is_refused(machine: Machine, name: str) -> None:
    machine.python("python3.12")
    machine.python("python3.10", old="exit 1")
    made = machine.make(f"PYTHON={name}")
    assert made.returncode != 0
    assert made.stderr.startswith(f"{name} is no Python 3.11 or later that answers.")


def test_what_fails_is_not_taken_for_ready(machine: Machine) -> None:
    machine.python("python3.12", pip='echo "no such package" >&2; exit 1')
    made = machine.make()
    assert made.returncode != 0
    assert "no such package" in made.stderr
    assert not (machine.venv / ".ready").exists()


def targets() -> set[str]:
    """All that `make` can be asked for."""
    phony = re.search(r"^\.PHONY: (.*)$", (TOP / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert phony is not None
    return set(phony[1].split())


def test_the_help_names_every_target_and_no_other(machine: Machine) -> None:
    help_text = machine.make(target="help").stdout
    assert set(re.findall(r"\bmake ([a-z-]+)", help_text)) == targets() - {"help"}


def test_the_contributors_page_names_targets_that_exist() -> None:
    page = (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`make ([a-z-]+)", page))
    assert {"test", "fix", "one", "coverage", "docs", "hooks"} <= named <= targets()


def test_one_test_must_be_named(machine: Machine) -> None:
    machine.python("python3.12")
    made = machine.make(target="one")
    assert made.returncode != 0
    assert "Name a test: make one T=tests/" in made.stderr
