"""What all measurements share: command line, machine, clocks, tables, goals, figures as JSON.

Must not know: what is measured.
"""

from __future__ import annotations

import argparse
import inspect
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Protocol, get_args, get_origin, get_type_hints

import msgspec
from rich.console import Console
from rich.table import Table

ROOT = next(folder for folder in Path(__file__).resolve().parents if (folder / "pyproject.toml").is_file())
"""This checkout."""


class CommandLine(argparse.ArgumentParser):
    """A program's options; each has `--json FILE` and `--tiny`.

    :param tiny: options' values under `--tiny`, by the names of their attributes: so little that the program is done at
        once and shows only that it works. Options that stand on the command line win.
    """

    def __init__(self, description: str | None, **tiny: object) -> None:
        super().__init__(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        self._tiny = tiny
        self.add_argument("--json", type=Path, metavar="FILE", help="write all figures to FILE")
        self.add_argument("--tiny", action="store_true", help="next to nothing, to see that it works: no figures")

    def read(self, words: Sequence[str] | None = None) -> argparse.Namespace:
        """The options of this command line (None: the process's)."""
        words = sys.argv[1:] if words is None else words
        if "--tiny" in words:
            assert self._tiny.keys() <= {action.dest for action in self._actions}
            self.set_defaults(**self._tiny)
        return self.parse_args(words)


class Main(Protocol):
    """What a program's module has as `main`. `words`: its command line, None for the process's."""

    def __call__(self, words: Sequence[str] | None = None) -> None: ...


def program(run: Callable[..., Any], failed: Callable[[Any], bool] | None = None, **tiny: object) -> Main:
    """The `main` of a module whose options are the parameters of `run`, and whose figures are what it returns.

    Each option has its parameter's name, type and default. Beside the type may stand its help, what its values are
    chosen from, or what makes one of a word: ``Annotated[int, "results of the past"]``.

    :param failed: whether figures are such that the program exits with 1, once they are written
    :param tiny: as for :class:`CommandLine`
    """

    def main(words: Sequence[str] | None = None) -> None:
        parser = CommandLine(sys.modules[run.__module__].__doc__, **tiny)
        hints = get_type_hints(run, include_extras=True)
        for name, parameter in inspect.signature(run).parameters.items():
            _add_option(parser, name, hints[name], parameter.default)
        options = vars(parser.read(words))
        path = options.pop("json")
        del options["tiny"]
        figures = run(**options)
        write_json(path, figures)
        if failed is not None and failed(figures):
            raise SystemExit(1)

    return main


def _add_option(parser: argparse.ArgumentParser, name: str, hint: Any, default: Any) -> None:
    kind, *notes = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    text = next((note for note in notes if isinstance(note, str)), "")
    flag = f"--{name.replace('_', '-')}"
    if kind is bool:
        parser.add_argument(flag, action="store_true", help=text)
        return
    if default is not inspect.Parameter.empty and default is not None:
        text += f" (default {' '.join(map(str, default)) if isinstance(default, tuple | list) else default})"
    many = get_origin(kind) is not None and issubclass(get_origin(kind), Sequence)
    parser.add_argument(
        flag,
        type=next((note for note in notes if inspect.isfunction(note)), get_args(kind)[0] if many else kind),
        nargs="*" if many else None,
        choices=next((note for note in notes if isinstance(note, Collection) and not isinstance(note, str)), None),
        required=default is inspect.Parameter.empty,
        default=None if default is inspect.Parameter.empty else default,
        help=text.strip(),
    )


def write_json(path: Path | None, figures: object) -> None:
    """Write figures as JSON, where somebody wants them; records become objects."""
    if path is not None:
        path.write_text(json.dumps(figures, indent=1, default=msgspec.to_builtins) + "\n", encoding="utf-8")


def processor() -> str:
    """The processor's name as the system tells it."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.machine()


def as_text(table: Table) -> str:
    """The table as text."""
    console = Console(width=120)
    with console.capture() as captured:
        console.print(table)
    return captured.get().rstrip()


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]], left: Collection[str] = ()) -> str:
    """A table as text, its figures to the right; the first column and those of `left` to the left."""
    drawn = Table(title=title)
    for column in columns:
        drawn.add_column(column, justify="left" if column == columns[0] or column in left else "right")
    for row in rows:
        drawn.add_row(*map(str, row))
    return as_text(drawn)


def cpu(work: Callable[[], object], runs: int = 1) -> float:
    """CPU seconds of it, the median of so many runs."""
    seconds = []
    for _ in range(runs):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return statistics.median(seconds)


def medians(samples: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Figure by figure."""
    return {figure: statistics.median(sample[figure] for sample in samples) for figure in samples[0]}


def held(
    figures: Mapping[str, float], goals: Mapping[str, float], least: Collection[str] = ()
) -> dict[str, tuple[float, float]]:
    """Figures beside their goals, printed: (figure, goal) of those that there are; of `least` more is better."""
    both = {name: (figures[name], goal) for name, goal in goals.items() if name in figures}
    for name, (value, goal) in both.items():
        met = value >= goal if name in least else value <= goal
        print(f"  {name:38} {value:10.4g}   goal {goal:10.4g}   {'met' if met else 'MISSED'}")
    return both
