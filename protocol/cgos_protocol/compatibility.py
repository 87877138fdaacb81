"""Whether the installed cgos-protocol goes with the distribution that asks.

Distributions of one ``MAJOR.MINOR`` go together; what is behind may differ. Whoever starts a program asks first, so
that a half-done upgrade is a sentence and not an import that fails. Must not know: the distributions by name.
"""

from __future__ import annotations

from cgos_protocol import __version__


def mismatch(distribution: str, version: str, installed: str = __version__) -> str | None:
    """Why they do not go together, as a sentence that says what to do; None where they do.

    :param distribution: the name of the distribution that asks
    :param version: its version, ``MAJOR.MINOR`` and whatever follows
    :param installed: the version of cgos-protocol
    """
    series = _series(version)
    if series == _series(installed):
        return None
    needed = ".".join(series)
    return (
        f"{distribution} {version} needs cgos-protocol {needed}, and {installed} is installed. "
        f"Install the one that belongs to it: python -m pip install 'cgos-protocol=={needed}.*'"
    )


def _series(version: str) -> tuple[str, ...]:
    return tuple(version.split(".")[:2])
