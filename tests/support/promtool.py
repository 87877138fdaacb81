"""What promtool has against an exposition."""

from __future__ import annotations

import subprocess

BITS = 'cgos_game_information_bits_total use base unit "bytes" instead of "bits"'
"""Information is measured in bits: for promtool they are parts of bytes, whatever is counted."""


def findings(promtool: str, exposition: bytes) -> list[str]:
    """All but :data:`BITS`."""
    check = subprocess.run([promtool, "check", "metrics"], input=exposition, capture_output=True, timeout=30)
    lines = (check.stdout + check.stderr).decode().splitlines()
    assert (check.returncode == 0) == (not lines)
    return [line for line in lines if line != BITS]
