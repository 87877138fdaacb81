"""What the tests of the configuration share: a small venue as TOML, and the problems of a configuration as text."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cgos_server.config.loader import load
from cgos_server.config.problems import ConfigErrors

VENUE = """
[[venue]]
name = "small"
port = 7000
size = 5
time = { main = "1m" }
"""


def problems(path: Path | None, env: Mapping[str, str] | None = None, **overrides: Any) -> list[str]:
    with pytest.raises(ConfigErrors) as raised:
        load(path, env or {}, overrides)
    assert str(raised.value) == "\n".join(str(problem) for problem in raised.value.problems)
    return [str(problem) for problem in raised.value.problems]
