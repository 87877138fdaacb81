"""Commands that are elsewhere now: their words refuse, and name the successor.

Must not know: what they did.
"""

from __future__ import annotations

import click

from cgos_protocol.errors import Code, Invalid


def moved(word: str, successor: str) -> click.Command:
    """A command that help does not list, and that refuses whatever it is told."""

    def refuse() -> None:
        raise Invalid(Code.LAB, f"`{click.get_current_context().command_path}` is now `{successor}`.")

    settings = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}
    return click.Command(word, callback=refuse, hidden=True, context_settings=settings)
