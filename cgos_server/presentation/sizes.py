"""Sizes in words. Must not know: of what."""

from __future__ import annotations

from typing import Final

_UNITS: Final = ("bytes", "KiB", "MiB", "GiB", "TiB")


def size(number: float) -> str:
    """Bytes as ``12.3 MiB``."""
    value, unit = float(number), _UNITS[0]
    for unit in _UNITS:
        if abs(value) < 1024 or unit == _UNITS[-1]:
            break
        value /= 1024
    return f"{value:.0f} {unit}" if unit == _UNITS[0] or value >= 100 else f"{value:.1f} {unit}"
