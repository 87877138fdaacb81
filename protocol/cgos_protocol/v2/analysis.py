"""Analysis that came with a move of ``cgos.v2``: what is kept of it, or which of its fields does not fit, and why.

Must not know: connections, which encoding it came in.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
from typing import Any, Final, NamedTuple

import msgspec

from cgos_protocol.lines.player import ANALYSIS_MAX
from cgos_protocol.v2.messages import Analysis


class Unfit(NamedTuple):
    """Analysis that is dropped. `why` names the field, and what is wrong with it: a sentence."""

    why: str


def compact(analysis: Analysis) -> str | Unfit:
    """`analysis` as compact JSON of at most `ANALYSIS_MAX` bytes."""
    with contextlib.suppress(*UNWRITABLE):
        text = msgspec.json.encode(analysis)
        if len(text) <= ANALYSIS_MAX:
            return text.decode()
    sizes: dict[str, int] = {}
    for name in analysis.__struct_fields__:
        try:
            sizes[name] = len(msgspec.json.encode(getattr(analysis, name)))
        except UNWRITABLE as error:
            return unfit(str(error) if not isinstance(error, RecursionError) else _DEEP, name)
    longest = max(sizes, key=lambda name: sizes[name])
    return unfit(
        f"{sizes[longest]} bytes as compact JSON, while the whole analysis has at most {ANALYSIS_MAX}", longest
    )


def misfit(error: Exception, raw: bytes, binary: bool) -> Unfit:
    """Why `raw` was not read as analysis: `error` is what the reader said, `binary` that it was not JSON."""
    if isinstance(error, RecursionError):
        return unfit(_DEEP)
    if isinstance(error, msgspec.ValidationError):
        what, _, place = str(error).partition(" - at `$")
        return unfit(what, place.strip(".`"))
    if not binary:
        with contextlib.suppress(ValueError, RecursionError):
            where = _infinite(json.loads(raw), "")
            if where is not None:
                return unfit("JSON has neither NaN nor infinite numbers: write null, or leave it out", where.strip("."))
    return unfit(str(error))


UNWRITABLE: Final = (msgspec.MsgspecError, TypeError, ValueError, OverflowError, RecursionError)
"""What reading and writing analysis may raise."""

_DEEP: Final = "nested too deeply"
_UNSAFE: Final = re.compile(r"[^ -~]")
_WHY_MAX: Final = 300


def unfit(what: str, place: str = "") -> Unfit:
    """`place` is the field within the analysis, such as ``moves[3].pv``; empty for the analysis itself."""
    separator = "" if not place or place.startswith("[") else "."
    return Unfit(_UNSAFE.sub("?", f"analysis{separator}{place}: {what}"[:_WHY_MAX]).rstrip(".") + ".")


def _infinite(value: Any, place: str) -> str | None:
    """Where in `value` the first number stands that is not finite; None where there is none."""
    if isinstance(value, float):
        return None if math.isfinite(value) else place
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    steps = ((f"{place}.{key}" if isinstance(value, dict) else f"{place}[{key}]", part) for key, part in inner)
    return next((at for step, part in steps if (at := _infinite(part, step)) is not None), None)
