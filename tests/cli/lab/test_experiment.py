"""What all commands of the lab have in common: tables, JSON, pictures, exit codes, and the words that repeat a run."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from cgos_server import __version__
from cgos_server.cli.lab.experiment import INTERRUPTED, experiment
from cgos_server.cli.lab.group import EXPERIMENTS, lab
from cgos_server.cli.main import main
from cgos_server.lab.report import Chart, Check, Column, Line, Mean, Report, Table
from cgos_server.lab.running import Work


@click.command()
@click.option("--events", type=int, default=3)
@click.option("--system", "systems", multiple=True)
@click.option("--fail", is_flag=True)
@click.option("--stop", is_flag=True)
@experiment("events")
def made(work: Work, events: int, systems: tuple[str, ...], fail: bool, stop: bool) -> Report:
    """An experiment."""
    work.progress(events, events)
    return Report(
        tables=(
            Table(
                key="tau",
                title=f"Seed {work.seed}",
                columns=(Column(name="system"), Column(name="tau", digits=2)),
                rows=tuple((system, Mean(0.5, 0.125)) for system in systems),
            ),
        ),
        checks=(Check(claim="as published", holds=not fail, measured=Mean(1.0), expected=1.0, allowed=0.5),),
        pictures=(Chart(key="c", title="C", x_label="x", y_label="y", lines=(Line(name="l", x=(0.0,), y=(1.0,)),)),)
        if events
        else (),
        notes=("One constant was fitted.",),
        interrupted=stop,
    )


def call(*words: str) -> Result:
    return CliRunner().invoke(made, list(words), prog_name="cgos-server lab made")


def test_tables_checks_and_sentences_are_printed() -> None:
    ended = call("--system", "dutch", "--seed", "7")
    assert ended.exit_code == 0, ended.output
    assert ended.stdout.splitlines() == [
        "Seed 7",
        "system  tau",
        "dutch   0.50 ± 0.12",
        "",
        "What was checked",
        "claim           ours  expected  allowed  holds",
        "as published  1.0000    1.0000   0.5000  yes",
        "",
        "One constant was fitted.",
    ]


def test_json_has_the_report_and_the_words_that_repeat_it() -> None:
    ended = call("--system", "dutch", "--system", "tcec", "--fail", "--jobs", "2", "--seed", "3", "--json")
    answer = json.loads(ended.stdout)
    assert answer["command"] == "cgos-server lab made --system dutch --system tcec --fail --seed 3"
    assert answer["version"] == __version__
    assert answer["checks"][0]["holds"] is False
    assert [row[0] for row in answer["tables"][0]["rows"]] == ["dutch", "tcec"]


def test_the_exit_code_says_what_holds() -> None:
    assert call("--fail").exit_code == 1
    ended = call("--fail", "--stop")
    assert ended.exit_code == INTERRUPTED
    assert "until then" in ended.stderr


def test_a_picture_is_drawn_beside_the_tables(tmp_path: Path) -> None:
    ended = call("--plot", str(tmp_path / "one.svg"))
    assert ended.exit_code == 0, ended.output
    assert (tmp_path / "one.svg").read_bytes().startswith(b"<?xml")
    ended = call("--events", "0", "--stop", "--plot", str(tmp_path / "none.svg"))
    assert (ended.exit_code, (tmp_path / "none.svg").exists()) == (INTERRUPTED, False)
    refused = CliRunner().invoke(made, ["--plot", str(tmp_path / "one.gif")])
    assert "is to end with" in str(refused.exception)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_takes_the_options_that_all_have(name: str) -> None:
    command = lab.get_command(click.Context(lab), name)
    assert command is not None
    assert {"seed", "jobs", "as_json", "plot"} <= {parameter.name for parameter in command.params}
    assert all(getattr(parameter, "help", "text") for parameter in command.params)
    assert command.help


def test_the_group_lists_them_all() -> None:
    ended = CliRunner().invoke(main, ["lab", "--help"])
    assert ended.exit_code == 0
    assert all(f"  {name} " in ended.stdout for name in EXPERIMENTS)
    assert CliRunner().invoke(main, ["lab", "nothing"]).exit_code == 2
