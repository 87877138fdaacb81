"""What reports of measurements share: the machine they were made on, tables as text."""

from __future__ import annotations

import platform
from pathlib import Path

from rich.console import Console
from rich.table import Table


def processor() -> str:
    """The processor's name as the system tells it."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.machine()


def as_text(table: Table) -> str:
    """The table as text."""
    console = Console(width=120)
    with console.capture() as captured:
        console.print(table)
    return captured.get().rstrip()
