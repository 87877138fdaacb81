"""The checks before a commit need nothing but the project's environment, pass on the tree, and notice what is wrong."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

TOP = Path(__file__).parents[2]
PROGRAMS = Path(sys.executable).parent
CONFIGURATION: Any = yaml.safe_load((TOP / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
HOOKS = [hook for repository in CONFIGURATION["repos"] for hook in repository["hooks"]]

BROKEN = {
    "cgos_server/core/broken.py": "import cgos_server.web.site, os \nteh = 1",  # codespell:ignore teh
    "merged.md": "<<<<<<< HEAD\n",
    "large.txt": "large\n" * 150_000,
}
"""Files that no hook may let pass, all hooks taken together."""


class Checkout:
    """A copy of what git would commit, since some hooks mend what they find."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / "checkout"
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("GIT_")},
            "PRE_COMMIT_HOME": str(directory / "pre-commit"),
            "PYTHONPATH": f"{self.path}{os.pathsep}{self.path / 'clients'}",
        }
        names = subprocess.check_output(["git", "ls-files", "-z", "-c", "-o", "--exclude-standard"], cwd=TOP, text=True)
        for name in filter(None, names.split("\0")):
            if (TOP / name).is_file():
                self.put(name, (TOP / name).read_bytes())
        configuration = (TOP / ".pre-commit-config.yaml").read_text(encoding="utf-8")
        self.put(".pre-commit-config.yaml", configuration.replace(".venv/bin", str(PROGRAMS)).encode())
        self.git("init", "--quiet")

    def put(self, name: str, content: bytes) -> None:
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).write_bytes(content)

    def git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self.path, env=self.environment, check=True, timeout=60)

    def run(self, *words: str) -> dict[str, str]:
        """What becomes of each hook, by its id; all that they say is printed."""
        self.git("add", "--all")
        command = [PROGRAMS / "pre-commit", "run", "--color", "never", *words]
        ended = subprocess.run(
            command, cwd=self.path, env=self.environment, capture_output=True, text=True, timeout=120, check=False
        )
        print(ended.stdout, ended.stderr)
        outcomes = dict(re.findall(r"^(.+?)\.{3,}.*?(Passed|Failed|Skipped)$", ended.stdout, re.MULTILINE))
        assert len(outcomes) == len(HOOKS)
        return {hook["id"]: outcomes[hook["name"]] for hook in HOOKS}


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def test_nothing_is_fetched_and_every_program_is_in_the_environment() -> None:
    assert {repository["repo"] for repository in CONFIGURATION["repos"]} == {"local"}
    for hook in HOOKS:
        program = Path(hook["entry"].split()[0])
        assert (hook["language"], program.parent) == ("system", Path(".venv/bin")), hook["id"]
        assert shutil.which(program.name, path=str(PROGRAMS)), hook["id"]


def test_every_hook_passes_on_the_tree(checkout: Checkout) -> None:
    assert checkout.run("--all-files") == {hook["id"]: "Passed" for hook in HOOKS}


def test_every_hook_notices_what_is_wrong(checkout: Checkout) -> None:
    for name, text in BROKEN.items():
        checkout.put(name, text.encode())
    assert checkout.run("--files", *BROKEN) == {hook["id"]: "Failed" for hook in HOOKS}
