"""docs/questions.md: its tables are computed again, its examples print what the page says."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path

from click.testing import CliRunner

from cgos_server.cli.main import main
from cgos_server.core.sequential import Hypotheses, Scale, expected_at, fixed_length, pair_distribution

PAGE = Path(__file__).parents[2] / "docs" / "questions.md"
BOUNDS = ((0.0, 5.0), (0.0, 10.0), (0.0, 20.0), (0.0, 50.0), (0.0, 100.0))
SHARES = (-0.5, 0.0, 0.5, 1.0, 1.5)
"""Where the true difference lies, from the lower bound (0) to the upper one (1)."""

SIMUL_AT_0 = (0.032347, 0.246400, 0.442505, 0.246400, 0.032347)
SIMUL_AT_2 = (0.031425, 0.242521, 0.442462, 0.250299, 0.033293)
SIMUL_SLIGHT = (0.000586, 0.045994, 0.903702, 0.049052, 0.000667)
PUBLISHED = (
    ("[-0.5, 2.5] normalized [1]", "1", "116 000", Hypotheses(lower=-0.5, upper=2.5), 1.0, pair_distribution(0.0)),
    (
        "[0, 2] logistic [2]",
        "0",
        "60 007, accepted 5.3 %",
        Hypotheses(lower=0, upper=2, scale=Scale.LOGISTIC),
        0.0,
        SIMUL_AT_0,
    ),
    (
        "[0, 2] logistic [2]",
        "2",
        "60 849, accepted 95.1 %",
        Hypotheses(lower=0, upper=2, scale=Scale.LOGISTIC),
        2.0,
        SIMUL_AT_2,
    ),
    ("[0, 5] normalized [2]", "2.5", "42 049, accepted 49.6 %", Hypotheses(lower=0, upper=5), 2.5, SIMUL_SLIGHT),
)


def thousands(games: float) -> str:
    return f"{round(games):,}".replace(",", " ")


def cost_rows(draws: float = 0.2) -> list[str]:
    pairs = pair_distribution(0.0, draws=draws)
    rows = []
    for lower, upper in BOUNDS:
        test = Hypotheses(lower=lower, upper=upper)
        costs = [expected_at(test, lower + share * (upper - lower), pairs) for share in SHARES]
        games = [2 * cost.pairs for cost in costs] + [2 * fixed_length(test, None, pairs)]
        rows.append(f"| [{lower:g}, {upper:g}] | {' | '.join(map(thousands, games))} |")
    return rows


def published_rows() -> list[str]:
    rows = []
    for test, difference, published, hypotheses, at, pairs in PUBLISHED:
        cost = expected_at(hypotheses, at, pairs)
        accepted = f", accepted {100 * cost.accepted:.1f} %" if "accepted" in published else ""
        rows.append(f"| {test} | {difference} | {published} | {thousands(2 * cost.pairs)}{accepted} |")
    return rows


def test_the_tables_of_costs_are_what_the_code_computes() -> None:
    page = PAGE.read_text()
    for row in (*cost_rows(), *published_rows()):
        assert row in page, row
    table = page.partition("## What a test costs")[2]
    assert len(re.findall(r"^\| \[", table, re.MULTILINE)) == len(BOUNDS) + len(PUBLISHED)


def test_published_figures_and_ours_differ_by_less_than_two_per_cent() -> None:
    for row in published_rows():
        _, _, _, published, here, _ = (cell.strip() for cell in row.split("|"))
        one, other = (float(cell.partition(",")[0].replace(" ", "")) for cell in (published, here))
        assert abs(one - other) < 0.02 * one, row


def test_draws_hardly_change_the_costs() -> None:
    for row, drawn in zip(cost_rows(0.0), cost_rows(0.6), strict=True):
        for one, other in zip(row.split("|")[2:-2], drawn.split("|")[2:-2], strict=True):
            games = float(one.replace(" ", ""))
            assert abs(games - float(other.replace(" ", ""))) <= 0.03 * games, row


def test_the_command_prints_what_the_page_shows() -> None:
    ((counts, command, output),) = re.findall(
        r"^\$ echo ([\d ]+) \| cgos-server ([^\n]*)\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL
    )
    printed = CliRunner().invoke(main, shlex.split(command), input=f"{counts}\n")
    assert printed.exit_code == 0, printed.output
    assert printed.stdout == output


def test_the_example_prints_what_the_page_says() -> None:
    ((code, output),) = re.findall(r"```python\n(.*?)```\n\nprints\n\n```\n(.*?)```", PAGE.read_text(), re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(PAGE), "exec"), {})
    assert printed.getvalue() == output
