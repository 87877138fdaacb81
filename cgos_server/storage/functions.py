"""What SQLite and PostgreSQL call by different names, as SQLAlchemy constructs that each dialect spells its own way;
and a fragment that many statements have in them.

Must not know: tables, questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, FromClause, Integer, select
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement


class greater(FunctionElement[int]):
    """The greater one of two numbers, none of which is NULL."""

    type = Integer()
    inherit_cache = True
    name = "greater"


class bytewise(FunctionElement[str]):
    """A text column that sorts by its bytes, wherever the database was made."""

    inherit_cache = True
    name = "bytewise"

    def __init__(self, column: ColumnElement[str]) -> None:
        super().__init__(column)
        self.type = column.type


def latest(
    what: ColumnElement[Any], *, where: Sequence[ColumnElement[bool]], by: ColumnElement[int], of: FromClause
) -> ColumnElement[Any]:
    """For each row of `of` this value of the last row in the order of `by` that fulfills all conditions; NULL where
    there is none."""
    return select(what).where(*where).order_by(by.desc()).limit(1).correlate(of).scalar_subquery()


@compiles(greater)
def _greatest(element: greater, compiler: SQLCompiler, **kw: Any) -> str:
    return f"greatest({compiler.process(element.clauses, **kw)})"


@compiles(greater, "sqlite")
def _max(element: greater, compiler: SQLCompiler, **kw: Any) -> str:
    return f"max({compiler.process(element.clauses, **kw)})"


@compiles(bytewise)
def _collated(element: bytewise, compiler: SQLCompiler, **kw: Any) -> str:
    return f'{compiler.process(element.clauses, **kw)} COLLATE "C"'


@compiles(bytewise, "sqlite")
def _binary(element: bytewise, compiler: SQLCompiler, **kw: Any) -> str:
    return compiler.process(element.clauses, **kw)
