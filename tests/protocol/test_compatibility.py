"""Which versions go together."""

from __future__ import annotations

import pytest

from cgos_protocol import __version__
from cgos_protocol.compatibility import mismatch


@pytest.mark.parametrize("version", ["0.4.0", "0.4.17", "0.4", "0.4.1.dev3"])
def test_one_series_goes_together(version: str) -> None:
    assert mismatch("cgos-client", version, "0.4.2") is None


@pytest.mark.parametrize("version", ["0.5.0", "1.4.0", "0.40.1", "0.3.9"])
def test_another_series_is_named_with_what_to_install(version: str) -> None:
    sentence = mismatch("cgos-client", version, "0.4.2")
    series = ".".join(version.split(".")[:2])
    assert sentence == (
        f"cgos-client {version} needs cgos-protocol {series}, and 0.4.2 is installed. "
        f"Install the one that belongs to it: python -m pip install 'cgos-protocol=={series}.*'"
    )


def test_what_is_installed_is_looked_at() -> None:
    assert mismatch("cgos-server", __version__) is None
    assert mismatch("cgos-server", "999.0") is not None
