"""docs/ratings.md: its program runs and prints what the page says, its options and systems exist."""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path

from click.testing import CliRunner

from cgos_server.cli.main import main
from cgos_server.core.rating.registry import SYSTEMS

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "ratings.md"


def test_the_example_prints_what_the_page_says() -> None:
    code, expected_output = re.findall(r"```python\n(.*?)```\n\nprints\n\n```\n(.*?)```", PAGE.read_text(), re.DOTALL)[
        0
    ]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, str(PAGE), "exec"), {})
    assert printed.getvalue() == expected_output


def test_every_system_has_a_row_and_its_options_exist() -> None:
    section = PAGE.read_text().partition("## The other systems")[2].partition("\n## ")[0]
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (.*) \|$", section, re.MULTILINE))
    assert set(rows) == set(SYSTEMS)
    configuration = (DOCS / "configuration.md").read_text()
    for row in rows.values():
        for key in re.findall(r"`(\w+)(?: = \w+)?`", row):
            assert f"| `{key}` |" in configuration, key


def test_the_table_of_points_is_what_the_command_prints(tmp_path: Path) -> None:
    section = PAGE.read_text().partition("### Points and draws")[2].partition("\n### ")[0]
    (command,) = re.findall(r"`cgos-server (rate points --draws .*?)`", section)
    printed = CliRunner().invoke(main, [*command.split(), "--data", str(tmp_path)])
    assert printed.exit_code == 0, printed.output
    rows = [re.split(r"  +", line.strip()) for line in printed.stdout.splitlines()[1:]]
    assert re.findall(r"^\| (\d+) \| (.*?) \| (.*?) \| (.*?) \|$", section, re.MULTILINE) == [
        tuple(row) for row in rows
    ]
