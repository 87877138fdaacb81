"""The examples of proxies, put where a test can run the real programs on them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from cgos_server.net.tls.certificates import TlsFiles

PROXIES = Path(__file__).parents[3] / "deploy/proxies"


def program(name: str) -> str:
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def placed(example: str, directory: Path, files: TlsFiles, **changes: int | str) -> Path:
    """The example with its certificate where there is one, and with other words for some of its own."""
    for name, parts in (
        ("fullchain.pem", [files.certificate]),
        ("privkey.pem", [files.key]),
        ("cgos.pem", [files.certificate, files.key]),
    ):
        (directory / name).write_text("".join(Path(part).read_text() for part in parts))
    text = (PROXIES / example).read_text().replace("/etc/ssl/cgos", str(directory))
    for old, new in changes.items():
        assert old in text, old
        text = text.replace(old, str(new))
    path = directory / example
    path.write_text(text)
    return path
