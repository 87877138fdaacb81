"""Tools from npm that tests use: installed for the run, each at exactly one version, outside the tree."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

PINNED: Final = {
    "@redocly/cli": "2.77.0",
    "axe-core": "4.14.1",
    "openapi-typescript": "7.13.0",
    "typescript": "5.9.3",
}
_LIMIT_S: Final = 120


def installed(directory: Path, *packages: str) -> Path:
    """The ``node_modules`` with these packages, and what they need. Skips the test where there is no npm.

    :raises AssertionError: with npm's words, where they cannot be installed
    """
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed")
    named = [f"{package}@{PINNED[package]}" for package in packages]
    quiet = ["--no-save", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel", "error"]
    done = subprocess.run(
        [npm, "install", "--prefix", str(directory), *quiet, *named],
        cwd=directory, capture_output=True, text=True, timeout=_LIMIT_S, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return directory / "node_modules"
