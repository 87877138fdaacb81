"""The packages of docs/plugins.md as files, built and installed where a test wants them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "plugins.md"


def written(directory: Path) -> list[Path]:
    """The folders of the page's packages, written below `directory`."""
    folders: dict[Path, None] = {}
    for name, text in re.findall(r"^`([\w.-]+/[\w.-]+)`:\n\n```\w+\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S):
        file = directory / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
        folders[file.parent] = None
    return list(folders)


def changed(folder: Path, *changes: tuple[str, str]) -> Path:
    """The package in `folder` with other text in its files; every old text must be there."""
    for old, new in changes:
        files = [file for file in folder.iterdir() if file.is_file() and old in file.read_text("utf-8")]
        assert files, f"{old} is nowhere in {folder}"
        for file in files:
            file.write_text(file.read_text("utf-8").replace(old, new), "utf-8")
    return folder


def install(target: Path, *folders: Path) -> Path:
    """Build these packages and install them into `target`, without a network."""
    subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"),
            *("--no-deps", "--no-build-isolation", "--upgrade", "--target", str(target), *map(str, folders)),
        ],
        check=True,
        capture_output=True,
        timeout=120,
    )
    return target


def declared(target: Path, name: str, group: str, word: str, reference: str, version: str = "1.0") -> Path:
    """A distribution without a build: its metadata with one entry point, in `target`."""
    info = target / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{word} = {reference}\n")
    return target
