"""Kept results of the lab: what made each, at which commit, on which paths it depends; and their tables on pages.

A page shows a table between two lines of one form, which this module alone declares:

    <!-- result swiss.table4 -->
    <!-- end of result -->

What stands between them is written by :func:`refreshed` from ``docs/lab/swiss.json``. Must not know: which results
there are, how they are made.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from benchmarks.reporting import ROOT
from cgos_server.lab.report import Column, Report, Table, table_of_checks, written

FOLDER = ROOT / "docs" / "lab"

SHOWN = re.compile(
    r"<!-- result (?P<name>[a-z0-9-]+)\.(?P<key>[a-z0-9_-]+) -->\n"
    r"(?:(?:(?!<!-- ).)*<!-- end of result -->\n|)",  # up to the end that is nearest, or nothing where none was written
    re.DOTALL,
)


class Kept(msgspec.Struct, kw_only=True, frozen=True):
    """A result.

    :ivar command: the words that give it again
    :ivar commit: of the tree that computed it
    :ivar again: of a later tree, which gives the same figures in the tiny form; empty: there is none
    :ivar paths: what its figures depend on, as git takes them
    :ivar seconds: CPU time, all processes together
    """

    command: str
    version: str
    commit: str
    paths: tuple[str, ...]
    seconds: float
    machine: str
    report: Report
    again: str = ""

    def table(self, key: str) -> Table:
        """By its key; ``checks`` are those of the report. Raises LookupError."""
        tables = [*self.report.tables, table_of_checks(self.report.checks)]
        for table in tables:
            if table.key == key:
                return table
        raise LookupError(f"There is no table {key} in the result: {', '.join(table.key for table in tables)}")


def keep(folder: Path, name: str, kept: Kept) -> None:
    """Write a result."""
    folder.mkdir(parents=True, exist_ok=True)
    encoded = msgspec.json.encode(kept)
    (folder / f"{name}.json").write_bytes(msgspec.json.format(encoded, indent=1) + b"\n")


def kept_results(folder: Path = FOLDER) -> dict[str, Kept]:
    """All that there are, by name."""
    return {path.stem: msgspec.json.decode(path.read_bytes(), type=Kept) for path in sorted(folder.glob("*.json"))}


def pages(root: Path = ROOT) -> list[Path]:
    """Those that show results."""
    return [page for page in sorted((root / "docs").glob("*.md")) if SHOWN.search(page.read_text(encoding="utf-8"))]


def refreshed(text: str, results: dict[str, Kept]) -> str:
    """A page with its tables as the results have them. Raises LookupError where one is not kept."""

    def block(match: re.Match[str]) -> str:
        name, key = match["name"], match["key"]
        if name not in results:
            raise LookupError(f"No result {name} is kept in docs/lab, which a page shows.")
        return f"<!-- result {name}.{key} -->\n{_markdown(results[name], key)}<!-- end of result -->\n"

    return SHOWN.sub(block, text)


def _markdown(kept: Kept, key: str) -> str:
    table = kept.table(key)
    lines = ["", f"{table.title}, by `{kept.command}`:", "", _row([column.name for column in table.columns])]
    lines.append("|" + "---|" * len(table.columns))
    lines += [_row(_cells(row, table.columns)) for row in table.rows]
    paths = ", ".join(f"`{path}`" for path in kept.paths)
    again = f", the same in a short form at `{kept.again}`" if kept.again else ""
    lines += ["", f"Measured at `{kept.commit}`{again}; depends on {paths}.", "", ""]
    return "\n".join(lines)


def _cells(row: Sequence[object], columns: Sequence[Column]) -> list[str]:
    return [written(cell, column) for cell, column in zip(row, columns, strict=True)]  # type: ignore[arg-type]


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
