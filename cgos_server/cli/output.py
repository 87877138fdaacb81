"""Results on standard output: JSON, tables for people, the same tables as plain aligned text where nobody looks.

Must not know: what the results mean.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import click
import msgspec
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cgos_server.presentation.text_table import rightward, text_table
from cgos_server.presentation.words import moment

T = TypeVar("T")


def print_json(value: Any) -> None:
    """`value` as indented JSON, its fields as they are called inside."""
    click.echo(msgspec.json.format(msgspec.json.encode(value), indent=2))


def without(value: msgspec.Struct, *names: str) -> dict[str, Any]:
    """A value's fields, except those of these names."""
    return {name: field for name, field in msgspec.structs.asdict(value).items() if name not in names}


def print_table(columns: Sequence[str], rows: Sequence[Sequence[object]], title: str = "") -> None:
    """A table; columns that hold only numbers stand to the right. None is shown as ``-``."""
    cells = [[shown(cell) for cell in row] for row in rows]
    if sys.stdout and sys.stdout.isatty():  # there is none at all where the shell has closed it
        table = Table(title=Text(shown(title)) if title else None, title_justify="left", box=SIMPLE_HEAD)
        for name, is_right in zip(columns, rightward(columns, cells), strict=True):
            table.add_column(name, justify="right" if is_right else "left")
        for row in cells:
            table.add_row(*map(Text, row))
        Console().print(table)
        return
    if title:
        click.echo(shown(title))
    for line in text_table(columns, cells):
        click.echo(line)


def apart(answers: Iterable[T]) -> Iterator[T]:
    """Each of several answers, with an empty line before all but the first."""
    for index, answer in enumerate(answers):
        if index:
            click.echo()
        yield answer


def print_list(rows: Sequence[T], columns: Mapping[str, Callable[[T], object]], *, as_json: bool) -> None:
    """A list as JSON, or as a table of what `columns` take from each row, by their headings."""
    if as_json:
        print_json(rows)
    else:
        print_table(tuple(columns), [[cell(row) for cell in columns.values()] for row in rows])


def when(at: int | None) -> str | None:
    """A time (Unix milliseconds) as a cell; None where there is none."""
    return None if at is None else moment(at)


def show_plugins(used: Sequence[str], problems: Sequence[str]) -> None:
    """The installed plug-ins, and what is wrong with those that are left out; nothing where there are none."""
    for phrase in used:
        click.echo(f"plug-in: {shown(phrase)}")
    for sentence in problems:
        click.echo(shown(sentence))


def in_words(options: Mapping[str, object]) -> str:
    """Options with their values: ``avoid_last false, window 3``."""
    return ", ".join(f"{key} {_value(value)}" for key, value in sorted(options.items()))


def say(sentence: str) -> None:
    """A word to the person, on standard error."""
    click.echo(sentence, err=True)


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


def shown(cell: object) -> str:
    """One cell, without characters that a terminal would obey."""
    text = "-" if cell is None or cell == "" else f"{cell:g}" if isinstance(cell, float) else str(cell)
    return "".join(letter if letter.isprintable() or letter == "\N{NARROW NO-BREAK SPACE}" else "?" for letter in text)
