"""What a rating depends on to the last bit besides the results: the machine's arithmetic.

Replaying gives the very same bits only under the same build; see `docs/ratings.md`. Must not know: ratings, storage.
"""

from __future__ import annotations

import hashlib
import platform
from typing import NamedTuple

import numpy as np
from threadpoolctl import ThreadpoolController

from cgos_server.core.rating.base import RatingSystem
from cgos_server.core.rating.registry import systems


class Build(NamedTuple):
    """`id` is short and the same for the same `text`."""

    id: str
    text: str


def one_thread() -> ThreadpoolController:
    """Hold numpy's linear algebra to one thread from now on: with several its sums depend on their number."""
    controller = ThreadpoolController()
    controller.limit(limits=1, user_api="blas")
    return controller


def this_build() -> Build:
    """Python, numpy, BLAS with the kernels that it chose, the processor's features that numpy uses, architecture."""
    blas = sorted(
        " ".join(str(library.get(key)) for key in ("internal_api", "version", "architecture"))
        for library in ThreadpoolController().info()
        if library.get("user_api") == "blas"
    )
    features = np.show_config(mode="dicts")["SIMD Extensions"]
    text = "; ".join(
        (
            f"{platform.python_implementation()} {platform.python_version()}",
            f"numpy {np.__version__} ({' '.join(features.get('found', ()))})",
            *blas,
            platform.machine(),
            platform.libc_ver()[0] + " " + platform.libc_ver()[1],
        )
    )
    return _named(text)


def under(build: str, system: RatingSystem) -> Build:
    """The same with the options of a rating system, of which its numbers are made as well, and the plug-in's version.

    :param build: text of :func:`this_build`
    """
    origin = systems().origin(system.name)
    return _named(f"{build}; {system!r}; {origin}" if origin else f"{build}; {system!r}")


def _named(text: str) -> Build:
    return Build(hashlib.sha256(text.encode()).hexdigest()[:12], text)
