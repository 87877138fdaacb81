"""What a start of the server loads: an upgrade in place makes everybody wait for it."""

from __future__ import annotations

import subprocess
import sys

NEEDLESS = ("alembic", "jinja2", "sqlalchemy.orm", "cgos_server.web.application", "cgos_server.web.site")
"""Pages that have a process of their own, migrations, a mapper of objects."""


def test_a_start_waits_for_no_library_that_serves_no_bot() -> None:
    code = "import sys, cgos_server.cli.server.serve; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    modules = loaded.stdout.split()
    assert "cgos_server.app" in modules
    assert [name for name in NEEDLESS if name in modules] == []
