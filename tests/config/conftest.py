"""Configuration files for the tests beside this."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def write(tmp_path: Path) -> Any:
    def write(text: str) -> Path:
        path = tmp_path / "cgos.toml"
        path.write_text(text)
        return path

    return write
