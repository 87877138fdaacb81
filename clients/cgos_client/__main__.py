"""``python -m cgos_client`` is ``cgos-client``."""

from __future__ import annotations

from cgos_client.cli import main

main(prog_name="cgos-client")
