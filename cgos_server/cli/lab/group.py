"""`cgos-server lab`: the group of all experiments, loaded when they are called.

Must not know: what they do.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import click

EXPERIMENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "birk": "birk:birk",
        "gor": "gor:gor",
        "swiss": "swiss:swiss",
        "bubble": "bubble:bubble",
        "thesis": "thesis:thesis",
        "ladder": "ladder:ladder",
        "accuracy": "accuracy:accuracy",
        "questions": "questions:questions",
    }
)
"""Command -> module of this package and object in it, in the order in which help lists them."""


class Experiments(click.Group):
    """Loads an experiment's module when it is named."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(EXPERIMENTS)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        if name not in EXPERIMENTS:
            return None
        module, attribute = EXPERIMENTS[name].split(":")
        command: click.Command = getattr(importlib.import_module(f"cgos_server.cli.lab.{module}"), attribute)
        return command


@click.command(cls=Experiments, short_help="Recompute every published figure, and our own.")
def lab() -> None:
    """Recompute what was published, and what this project says of itself, by the server's own code.

    Each experiment prints what the source has, what comes out here and its standard error. No server is needed. The
    same seed and version give the same figures, whatever --jobs says. --plot FILE draws them (pip install
    'cgos-server[lab]'). The exit code is 1 where a figure is not what the source has, 130 after Ctrl-C, which prints
    what is done until then.
    """
