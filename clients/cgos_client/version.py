"""The version of cgos-client, as it names itself to servers and engines."""

from __future__ import annotations

__version__ = "0.1.0"
