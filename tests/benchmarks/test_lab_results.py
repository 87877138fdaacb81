"""Kept results of the lab: their commands are commands, the pages show what they hold, and nothing else."""

from __future__ import annotations

import importlib
from pathlib import Path

import click
import pytest
from msgspec.structs import replace

from benchmarks import stale
from benchmarks.lab import kept
from benchmarks.lab.experiments import EXPERIMENTS, SEED, Experiment
from benchmarks.lab.kept import Kept, keep, kept_results, pages, refreshed
from cgos_server.cli.main import main
from cgos_server.lab.report import Check, Column, Mean, Report, Table

TOP = Path(__file__).parents[2]

RESULT = Kept(
    command="cgos-server lab made",
    version="0.1",
    commit="0123abcd",
    paths=("cgos_server/core", "cgos_server/lab"),
    seconds=1.5,
    machine="one",
    report=Report(
        tables=(
            Table(
                key="tau",
                title="How true",
                columns=(Column(name="system"), Column(name="a|b", digits=2)),
                rows=(("dutch", Mean(0.5, 0.25)), ("tcec", None)),
            ),
        ),
        checks=(Check(claim="as published", holds=True),),
    ),
)

BEFORE = """# A page

<!-- result made.tau -->
| old | table |
<!-- end of result -->

And <!-- not one -->.
<!-- result made.checks -->
"""

AFTER = """# A page

<!-- result made.tau -->

How true, by `cgos-server lab made`:

| system | a\\|b |
|---|---|
| dutch | 0.50 ± 0.25 |
| tcec |  |

Measured at `0123abcd`; depends on `cgos_server/core`, `cgos_server/lab`.

<!-- end of result -->

And <!-- not one -->.
<!-- result made.checks -->

What was checked, by `cgos-server lab made`:

| claim | ours | expected | allowed | holds |
|---|---|---|---|---|
| as published |  |  |  | yes |

Measured at `0123abcd`; depends on `cgos_server/core`, `cgos_server/lab`.

<!-- end of result -->
"""


def test_a_page_takes_its_tables_from_the_results() -> None:
    assert refreshed(BEFORE, {"made": RESULT}) == AFTER
    assert refreshed(AFTER, {"made": RESULT}) == AFTER


def test_a_later_tree_with_the_same_figures_is_named() -> None:
    again = replace(RESULT, again="89abcdef")
    commits = "Measured at `0123abcd`, the same in a short form at `89abcdef`"
    line = f"{commits}; depends on `cgos_server/core`, `cgos_server/lab`."
    assert stale.LINE.fullmatch(line)
    assert line in refreshed(BEFORE, {"made": again})


def test_a_table_that_is_new_takes_nothing_from_those_behind_it() -> None:
    new = "<!-- result made.tau -->\n"
    assert refreshed(new + "\nText.\n\n" + AFTER, {"made": RESULT}).count("How true") == 2
    assert "\nText.\n" in refreshed(new + "\nText.\n\n" + AFTER, {"made": RESULT})


def test_a_page_that_shows_what_is_not_there_is_told() -> None:
    with pytest.raises(LookupError, match="No result made"):
        refreshed(BEFORE, {})
    with pytest.raises(LookupError, match="no table other"):
        refreshed("<!-- result made.other -->\n", {"made": RESULT})


def test_a_result_is_read_as_it_was_kept(tmp_path: Path) -> None:
    keep(tmp_path / "lab", "made", RESULT)
    assert kept_results(tmp_path / "lab") == {"made": RESULT}


def test_every_page_shows_the_kept_results() -> None:
    results = kept_results()
    for page in pages():
        text = page.read_text(encoding="utf-8")
        assert refreshed(text, results) == text, f"{page}: python -m benchmarks.lab.results --pages-only"


def test_every_kept_result_names_its_commit_and_paths_that_exist() -> None:
    for name, result in kept_results().items():
        assert len(result.commit) >= 7, name
        assert result.paths, name
        assert [path for path in result.paths if not (TOP / path).exists()] == [], name
        assert not result.report.interrupted, name
        assert (kept.FOLDER / f"{name}.svg").exists() == bool(result.report.pictures), name


@pytest.mark.parametrize("experiment", EXPERIMENTS, ids=lambda each: each.name)
def test_every_experiment_is_a_command(experiment: Experiment) -> None:
    for more in (experiment.tiny, experiment.short, ()):
        words = ["lab", *experiment.words, *more, "--seed", SEED]
        command: click.Command = main
        with click.Context(command) as context:
            while isinstance(command, click.Group):
                name, found, words = command.resolve_command(context, words)
                assert found is not None, name
                command = found
            command.make_context(experiment.name, words)
    assert [path for path in experiment.paths if not (TOP / path).exists()] == []


def test_results_and_experiments_have_the_same_names() -> None:
    assert sorted(kept_results()) == sorted(experiment.name for experiment in EXPERIMENTS if experiment.kept)
    assert importlib.import_module("benchmarks.lab.results").main
