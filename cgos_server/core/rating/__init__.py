"""Rating systems behind one small interface; see :mod:`cgos_server.core.rating.base`.

For results without a server there is :class:`BradleyTerry`. It is imported when it is first asked for, so that the
interface alone does not cost numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cgos_server.core.rating.library.bradley_terry import BradleyTerry, Estimate, FirstMoverWarning
    from cgos_server.core.rating.library.findings import Difference, Learned

__all__ = ["BradleyTerry", "Difference", "Estimate", "FirstMoverWarning", "Learned"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from cgos_server.core.rating.library import bradley_terry

    return getattr(bradley_terry, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
