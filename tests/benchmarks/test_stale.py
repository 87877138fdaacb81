"""Every table of measured figures names its commit and paths, and those are told whose paths changed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from benchmarks import stale

TOP = Path(__file__).parents[2]

PAGE = """# Speed

| word | meaning |
|---|---|
| move | what is played |

| bots | us |
|---|---|
| 20 | 23.7 |

Measured at `{commit}`; depends on `one.py`, `some
things`.

## More

| bots | us |
|---|---|
| 20 | under 5 |

Measured yesterday.
"""


def test_every_table_names_its_commit_and_paths_that_exist() -> None:
    tables = stale.all_tables()
    assert {table.page for table in tables} >= {f"docs/{page}.md" for page in ("benchmarks", "ratings", "matchmaking")}
    for table in tables:
        place = f"{table.page}:{table.line}"
        assert table.commit, f"{place}: below the table must stand: Measured at `COMMIT`; depends on `PATH`, `PATH`."
        assert [path for path in table.paths if not (TOP / path).exists()] == [], place


def test_every_table_of_the_benchmarks_is_one() -> None:
    page = TOP / "docs" / "benchmarks.md"
    count = page.read_text(encoding="utf-8").count("\n|---") + page.read_text(encoding="utf-8").count("\n| ---")
    assert len(list(stale.tables(page))) == count


def git(directory: Path, *words: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "commit.gpgsign=false")
    return subprocess.run(
        ["git", *identity, *words], cwd=directory, check=True, capture_output=True, text=True
    ).stdout.strip()  # fmt: skip


@pytest.fixture
def checkout(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A history of two files and a page that names its first commit."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "some things").mkdir()
    (tmp_path / "one.py").write_text("1\n")
    (tmp_path / "some things" / "a.py").write_text("1\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "one")
    commit = git(tmp_path, "rev-parse", "--short", "HEAD")
    (tmp_path / "docs" / "speed.md").write_text(PAGE.format(commit=commit))
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-qm", "two")
    monkeypatch.setattr(stale, "ROOT", tmp_path)
    return tmp_path


def test_tables_whose_paths_changed_are_told(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = "docs/speed.md:16 (More) names no commit and paths\n"
    stale.main([])
    assert capsys.readouterr().out == missing + "1 of 2 tables and results are to be measured again or looked at\n"
    (checkout / "some things" / "a.py").write_text("2\n")
    git(checkout, "commit", "-qam", "three")
    stale.main(["--json", str(checkout / "stale.json")])
    first, second, _ = capsys.readouterr().out.splitlines(keepends=True)
    assert first.startswith("docs/speed.md:7 (Speed) ")
    assert first.endswith(": 1 file changed: some things/a.py\n")
    assert second == missing
    assert json.loads((checkout / "stale.json").read_text())[0]["files"] == ["some things/a.py"]


def test_a_short_form_with_the_same_figures_makes_a_later_commit_count(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = git(checkout, "rev-parse", "--short", "HEAD")
    (checkout / "some things" / "a.py").write_text("2\n")
    git(checkout, "commit", "-qam", "three")
    again = git(checkout, "rev-parse", "--short", "HEAD")
    page = PAGE.format(commit=first).replace("`; depends", f"`, the same in a short form at `{again}`; depends")
    (checkout / "docs" / "speed.md").write_text(page)
    stale.main([])
    assert "1 of 2 tables" in capsys.readouterr().out
    (checkout / "one.py").write_text("2\n")
    git(checkout, "commit", "-qam", "four")
    stale.main([])
    assert f" {again}: 1 file changed: one.py\n" in capsys.readouterr().out


def test_a_commit_that_is_not_there_is_told(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (checkout / "docs" / "speed.md").write_text(PAGE.format(commit="0123456789"))
    stale.main([])
    assert "git knows no commit 0123456789 here" in capsys.readouterr().out


def test_a_machine_without_git_is_told(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(checkout))
    stale.main([])
    assert "cannot be looked at: git is not installed" in capsys.readouterr().out
