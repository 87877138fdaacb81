"""The reference of the API ``/api/v1`` as Markdown, for the documentation.

Must not know: who handles them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, get_args

from cgos_protocol.api.route import JSON, PREFIX, Limit, Needs, Operation, Param
from cgos_protocol.options import Choice


def reference(operations: Iterable[Operation]) -> str:
    """A heading and a table for each group, in the order of the operations."""
    groups: dict[str, list[Operation]] = {}
    for operation in operations:
        groups.setdefault(operation.group, []).append(operation)
    return "\n".join(line for group, members in groups.items() for line in _group(group, members))


def _group(name: str, members: list[Operation]) -> list[str]:
    return [
        f"### {name}",
        "",
        f"Under `{PREFIX}`.",
        "",
        "| operation | what | parameters | answer |",
        "|---|---|---|---|",
        *map(_row, members),
        "",
    ]


def _row(each: Operation) -> str:
    sent = [f"body: `{each.body.__name__}`"] if each.body is not None else []
    parameters = ", ".join([*map(_param, each.query), *sent]) or "–"
    needs = (
        ""
        if each.needs is Needs.NOTHING
        else f" Needs a token{'' if each.needs is Needs.TOKEN else f' with the scope `{each.needs}`'}."
    )
    limit = "" if each.limit is Limit.REQUESTS else f" Limit: `{each.limit}`."
    what = f"{each.summary}{needs}{limit}"
    cells = (f"`{each.method} {each.path or '/'}`", what, parameters, _answer(each))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _param(param: Param) -> str:
    if isinstance(param.option, Choice):
        return f"`{param.name}` ({', '.join(param.option.words)})"
    default = "" if param.default is None else f" ({str(param.default).lower()})"
    return f"`{param.name}`{default}"


def _answer(each: Operation) -> str:
    if each.answer is None:
        return ", ".join(each.media)
    names = " or ".join(f"`{name}`" for name in _names(each.answer))
    return names if each.media == (JSON,) else f"lines of {names}"


def _names(kind: Any) -> list[str]:
    members = [member for member in get_args(kind) if hasattr(member, "__struct_fields__")]
    return [member.__name__ for member in members] or [getattr(kind, "__name__", "object")]
