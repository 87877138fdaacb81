"""What all measurements share: their command line, the machine they were made on, tables as text, figures as JSON."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec
from rich.console import Console
from rich.table import Table


class CommandLine(argparse.ArgumentParser):
    """A program's options; each has `--json FILE` and `--tiny`.

    :param tiny: options' values under `--tiny`, by the names of their attributes: so little that the program is done at
        once and shows only that it works. Options that stand on the command line win.
    """

    def __init__(self, description: str | None, **tiny: object) -> None:
        super().__init__(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        self._tiny = tiny
        self.add_argument("--json", type=Path, metavar="FILE", help="write all figures to FILE")
        self.add_argument("--tiny", action="store_true", help="next to nothing, to see that it works: no figures")

    def read(self, words: Sequence[str] | None = None) -> argparse.Namespace:
        """The options of this command line (None: the process's)."""
        words = sys.argv[1:] if words is None else words
        if "--tiny" in words:
            assert self._tiny.keys() <= {action.dest for action in self._actions}
            self.set_defaults(**self._tiny)
        return self.parse_args(words)


def write_json(path: Path | None, figures: object) -> None:
    """Write figures as JSON, where somebody wants them; records become objects."""
    if path is not None:
        path.write_text(json.dumps(figures, indent=1, default=msgspec.to_builtins) + "\n", encoding="utf-8")


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
