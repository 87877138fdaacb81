"""How much code there is, and how well it can be taken in: the same figures of any tree of this project.

Every Python file is formatted first, the places that ask not to be included, so that neither long lines nor hand-set
ones flatter a tree. A line of code holds more than a comment or a docstring; templates and scripts are counted too.
Counted besides: calls with more than four positional arguments, `# fmt: skip`, and circles of imports, type-only and
lazy ones included. A call that has a reason is listed with it (`REASONS`). `--against DIR` shows another tree beside
this one, `--list` says where each finding is.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tempfile
import tokenize
from collections.abc import Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Final

import msgspec
from rich.table import Table

from benchmarks.reporting import ROOT, CommandLine, as_text, write_json

PRODUCT = ("cgos_server", "clients", "protocol", "migrations")
"""Folders that hold the three distributions; one that a tree has not is left out."""

MOST_POSITIONAL = 4

REASONS: Final = {
    "MoveAdded": "a row in the order of its statement, built for every move of every game",
    "Table": "SQLAlchemy takes columns by position",
    "Index": "SQLAlchemy takes columns by position",
    "create_table": "SQLAlchemy takes columns by position",
    "select": "SQLAlchemy takes columns by position",
    "generator": "words that name a stream of random numbers, as many as it takes",
    "GzipFile": "the standard library's, with two places that are nothing",
}
"""Why a call with many positional arguments stays so, by the last word of what is called."""

_SKIP = re.compile(r"[ \t]*# fmt: (?:skip|off|on)\b.*")
_TEXTS = {".html", ".xml", ".txt", ".js", ".mjs", ".css", ".mako"}
_REMARKS = {
    ".js": re.compile(r"/\*.*?\*/|(?m:^\s*//.*$)", re.DOTALL),
    ".mjs": re.compile(r"/\*.*?\*/|(?m:^\s*//.*$)", re.DOTALL),
    ".css": re.compile(r"/\*.*?\*/", re.DOTALL),
    ".html": re.compile(r"<!--.*?-->|\{#.*?#\}", re.DOTALL),
    ".xml": re.compile(r"<!--.*?-->|\{#.*?#\}", re.DOTALL),
}
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


class Finding(msgspec.Struct, kw_only=True, frozen=True):
    """A place that is larger than it should be."""

    path: str
    line: int
    what: str
    size: int

    @property
    def reason(self) -> str:
        """Why it stays so; empty where nothing excuses it."""
        return REASONS.get(self.what.rpartition(".")[2], "")


class Structure(msgspec.Struct, kw_only=True):
    """What is counted of one tree; what has a reason to be large is in `excused` alone."""

    python_files: int = 0
    python_lines: int = 0
    text_files: int = 0
    text_lines: int = 0
    positional_calls: list[Finding] = []
    format_skips: list[Finding] = []
    circles: list[list[str]] = []
    excused: list[Finding] = []


def formatted(sources: dict[str, str]) -> dict[str, str]:
    """Sources by path, as the formatter has them where nothing is left out. Raises CalledProcessError where one of them
    is no Python."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, source in enumerate(sources.values()):
            plain = "\n".join(_SKIP.sub("", line) for line in source.splitlines()) + "\n"
            (folder / f"{number}.py").write_text(plain, encoding="utf-8")
        command = [sys.executable, "-m", "ruff", "format", "--quiet", "--isolated", "--line-length", "120", name]
        subprocess.run(command, check=True)
        return {path: (folder / f"{number}.py").read_text(encoding="utf-8") for number, path in enumerate(sources)}


def code_lines(source: str) -> int:
    """Lines of Python that hold more than a comment, a docstring or nothing."""
    held: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in _NO_CODE:
            held.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            held.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(held)


def text_lines(path: Path) -> int:
    """Lines of a template, a script or a style sheet that hold more than a remark or nothing."""
    text = path.read_text(encoding="utf-8")
    remark = _REMARKS.get(path.suffix)
    return sum(bool(line.strip()) for line in (remark.sub("", text) if remark else text).splitlines())


def positional_calls(path: str, tree: ast.Module) -> Iterator[Finding]:
    """Calls whose arguments can be told apart by their places only."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and len(node.args) > MOST_POSITIONAL:
            called = ast.unparse(node.func)
            yield Finding(path=path, line=node.lineno, what=called, size=len(node.args))


def imports(module: str, tree: ast.Module, modules: frozenset[str], packages: frozenset[str]) -> set[str]:
    """Which of `modules` this one imports, wherever in the file.

    :param packages: those of `modules` that are packages
    """
    package = [*module.split("."), "__init__"] if module in packages else module.split(".")
    wanted: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            wanted.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                name = f"{base}.{alias.name}"
                wanted.add(name if name in modules else base)
    return (wanted & modules) - {module}


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Modules that import one another in a circle: each circle that has to be cut until none is left."""
    left = {module: set(needs) for module, needs in graph.items()}
    cut: list[list[str]] = []
    while True:
        try:
            TopologicalSorter(left).prepare()
        except CycleError as error:
            circle: list[str] = error.args[1]
            cut.append(circle)
            left[circle[1]].discard(circle[0])
        else:
            return cut


def module_name(path: Path, tree: Path) -> str:
    """The dotted name under which a file of a tree is imported."""
    parts = list(path.relative_to(tree).with_suffix("").parts)
    if parts[0] in ("clients", "protocol"):
        del parts[0]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def files(tree: Path) -> list[Path]:
    """What the three distributions of a tree are made of."""
    return [
        file
        for folder in PRODUCT
        for file in sorted((tree / folder).rglob("*"))
        if file.is_file() and "__pycache__" not in file.parts
    ]


def import_circles(tree: Path) -> list[list[str]]:
    """The circles of a tree's imports; see :func:`circles`."""
    parsed = {
        module_name(file, tree): ast.parse(file.read_text(encoding="utf-8"))
        for file in files(tree)
        if file.suffix == ".py"
    }
    modules = frozenset(parsed)
    packages = frozenset(module_name(file, tree) for file in files(tree) if file.name == "__init__.py")
    return circles({module: imports(module, code, modules, packages) for module, code in parsed.items()})


def measured(tree: Path) -> Structure:
    """All figures of one tree."""
    structure = Structure(circles=import_circles(tree))
    written = {
        str(file.relative_to(tree)): file.read_text(encoding="utf-8") for file in files(tree) if file.suffix == ".py"
    }
    for path, source in formatted(written).items():
        parsed = ast.parse(source)
        structure.python_files += 1
        structure.python_lines += code_lines(source)
        for finding in positional_calls(path, parsed):
            (structure.excused if finding.reason else structure.positional_calls).append(finding)
    for path, source in written.items():
        for number, line in enumerate(source.splitlines(), 1):
            if _SKIP.search(line):
                structure.format_skips.append(Finding(path=path, line=number, what=line.strip(), size=1))
    for file in files(tree):
        if file.suffix in _TEXTS:
            structure.text_files += 1
            structure.text_lines += text_lines(file)
    return structure


def shown(structures: dict[str, Structure]) -> Table:
    """A row a figure, a column a tree."""
    table = Table("figure", *structures, title="structure")
    for name in Structure.__struct_fields__:
        values = [getattr(structure, name) for structure in structures.values()]
        table.add_row(
            name.replace("_", " "), *(f"{value if isinstance(value, int) else len(value)}" for value in values)
        )
    return table


def listed(structure: Structure) -> Iterator[str]:
    """Where each finding is, a line each."""
    for name in Structure.__struct_fields__:
        value = getattr(structure, name)
        for finding in () if isinstance(value, int) else value:
            if isinstance(finding, Finding):
                place = f"{name} {finding.path}:{finding.line} {finding.what} {finding.size}"
                yield f"{place} ({finding.reason})" if name == "excused" else place
            else:
                yield f"{name} {' -> '.join(finding)}"


def main(words: Sequence[str] | None = None) -> None:
    parser = CommandLine(__doc__)
    parser.add_argument("--tree", type=Path, default=ROOT, metavar="DIR", help="in place of this one")
    parser.add_argument("--against", type=Path, metavar="DIR", help="another tree, before this one")
    parser.add_argument("--list", action="store_true", help="say where each finding is")
    options = parser.read(words)
    trees = [*([options.against] if options.against else []), options.tree]
    structures = {str(tree): measured(tree) for tree in trees if not options.tiny}
    print(as_text(shown(structures)))
    if options.list:
        for structure in structures.values():
            print("\n".join(listed(structure)))
    write_json(options.json, structures)


if __name__ == "__main__":
    main()
