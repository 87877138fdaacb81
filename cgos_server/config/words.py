"""What a key's type says: which setting it is (:mod:`cgos_protocol.options`), what it takes and what it means.

Must not know: values, sources, which keys there are.
"""

from __future__ import annotations

import types
from typing import Annotated, Any, Union, get_args, get_origin

from cgos_protocol.options import Choice, Option


def strip(kind: Any) -> Any:
    """A key's type without its annotations and without None."""
    if get_origin(kind) is Annotated:
        return strip(get_args(kind)[0])
    if get_origin(kind) in (Union, types.UnionType):
        return strip(next(arg for arg in get_args(kind) if arg is not type(None)))
    return kind


def inner(kind: Any) -> Any:
    """The type of a table, or of each of a list of tables; any other type stripped."""
    plain = strip(kind)
    return get_args(plain)[0] if get_origin(plain) is tuple else plain


def option_of(kind: Any) -> Option | None:
    """What a key's type says about it; None for a table."""
    return next((each for each in getattr(kind, "__metadata__", ()) if isinstance(each, Option)), None)


def description(kind: Any) -> str:
    """The sentence that says what a key means; empty for a table."""
    option = option_of(kind)
    return "" if option is None else option.meaning


def wanted(option: Option) -> str:
    """What values a key takes, as words after "give"."""
    if isinstance(option, Choice):
        *choices, last = option.words
        return f"{', '.join(choices)} or {last}"
    return option.possible
