"""Which tables of measured figures in docs/, and kept results of the lab, may no longer be true: those whose paths have
changed since their commit.

Below each such table stands a paragraph of one form, which this module alone declares:

    Measured at `0e32078`; depends on `cgos_server/net`, `benchmarks/moves/server_moves.py`.
    Measured at `0e32078`, the same in a short form at `f7b3019`; depends on `cgos_server/core/rating`.

The commit is that of the tree in which the figures were measured; the paths are what they depend on, as git takes them.
A program that simulates with a seed takes hours and no clock: where a short form of it gives the very same figures in
both trees, what lies between changed none of them, and the second commit counts.
A table is one of measured figures where more than half of its cells but the first of each row begin with a number,
and where it has such a paragraph.
"""

from __future__ import annotations

import itertools
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from benchmarks.lab.kept import kept_results
from benchmarks.reporting import ROOT, CommandLine, write_json

LINE = re.compile(
    r"Measured at `(?P<commit>[0-9a-f]{7,40})`(?:, the same in a short form at `(?P<again>[0-9a-f]{7,40})`)?"
    r"; depends on (?P<paths>`[^`]+`(?:, `[^`]+`)*)\."
)
NUMBER = re.compile(r"(?:under )?[*~<+-]*\d")


class Table(msgspec.Struct, kw_only=True, frozen=True):
    """A table of measured figures; without a commit where the paragraph is missing or of another form.

    :ivar commit: the last one at which the figures are known to be true
    """

    page: str
    line: int
    heading: str
    commit: str = ""
    paths: tuple[str, ...] = ()


class Stale(msgspec.Struct, kw_only=True, frozen=True):
    """A table, and what has changed since it was measured; or why that cannot be said."""

    table: Table
    files: tuple[str, ...] = ()
    trouble: str = ""


def is_measured(rows: Sequence[str]) -> bool:
    """Whether the rows of a table, its head left out, are measured figures."""
    cells = [cell.strip() for row in rows for cell in row.strip().strip("|").split("|")[1:] if cell.strip()]
    return 2 * sum(NUMBER.match(cell) is not None for cell in cells) > len(cells)


def tables(page: Path) -> Iterator[Table]:
    """The tables of measured figures of a page."""
    heading, code, first = "", False, 0
    lines = [*page.read_text(encoding="utf-8").splitlines(), ""]
    for at, line in enumerate(lines):
        if line.startswith("```"):
            code = not code
        elif line.startswith("#") and not code:
            heading = line.lstrip("# ")
        elif line.startswith("|") and not code:
            first = first or at + 1
        elif first:
            measured = LINE.fullmatch(" ".join(itertools.takewhile(bool, lines[at + 1 :])))
            if measured or is_measured(lines[first + 1 : at]):
                yield _table(page, first, heading, measured)
            first = 0


def _table(page: Path, line: int, heading: str, measured: re.Match[str] | None) -> Table:
    name = str(page.relative_to(ROOT))
    if measured is None:
        return Table(page=name, line=line, heading=heading)
    paths = tuple(measured["paths"].strip("`").split("`, `"))
    return Table(page=name, line=line, heading=heading, commit=measured["again"] or measured["commit"], paths=paths)


def all_tables() -> list[Table]:
    """Of all pages, and all kept results of the lab."""
    of_pages = [table for page in sorted((ROOT / "docs").glob("*.md")) for table in tables(page)]
    results = kept_results(ROOT / "docs" / "lab")
    return of_pages + [
        Table(
            page=f"docs/lab/{name}.json",
            line=1,
            heading=kept.command,
            commit=kept.again or kept.commit,
            paths=kept.paths,
        )
        for name, kept in results.items()
    ]


def stale(listed: Sequence[Table]) -> list[Stale]:
    """Those whose paths have changed between their commit and HEAD."""
    results = []
    for table in listed:
        if not table.commit:
            results.append(Stale(table=table, trouble="names no commit and paths"))
            continue
        try:
            changed = subprocess.run(
                ["git", "-C", str(ROOT), "diff", "--name-only", f"{table.commit}..HEAD", "--", *table.paths],
                capture_output=True,
                text=True,
            )
        except FileNotFoundError:
            results.append(Stale(table=table, trouble="cannot be looked at: git is not installed"))
            continue
        if changed.returncode:
            reason = f"cannot be looked at: git knows no commit {table.commit} here (no checkout, or a shallow one)"
            results.append(Stale(table=table, trouble=reason))
        elif changed.stdout:
            results.append(Stale(table=table, files=tuple(changed.stdout.splitlines())))
    return results


def sentence(result: Stale) -> str:
    """What is the matter with a table, on one line."""
    table = result.table
    place = f"{table.page}:{table.line} ({table.heading})"
    if result.trouble:
        return f"{place} {result.trouble}"
    count = len(result.files)
    changed = f"{count} file{'s' if count > 1 else ''} changed: {', '.join(result.files[:3])}"
    return f"{place} {table.commit}: {changed}{', ...' if count > 3 else ''}"


def main(words: Sequence[str] | None = None) -> None:
    options = CommandLine(__doc__).read(words)
    listed = all_tables()
    results = stale(listed)
    for result in results:
        print(sentence(result))
    print(f"{len(results)} of {len(listed)} tables and results are to be measured again or looked at")
    write_json(options.json, results)


if __name__ == "__main__":
    main()
