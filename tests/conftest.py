"""Shared by all tests: the support package beside this file is importable as `support`."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from support.postgres_fixtures import new_url, postgres  # noqa: F401 - every test may ask for them
