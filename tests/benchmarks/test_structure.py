"""What the structure's figures count; and that no modules of this tree import one another in a circle."""

from __future__ import annotations

from pathlib import Path

from benchmarks import structure

TOP = Path(__file__).parents[2]

WIDE = '''"""A module."""

wide = Wide(1, 2, 3, 4, 5, 6, 7, 8, i=9)  # fmt: skip
'''


def tree(folder: Path, **modules: str) -> Path:
    """A tree whose package holds these modules."""
    package = folder / "cgos_server"
    package.mkdir()
    for name, source in {"__init__": "", **modules}.items():
        (package / f"{name}.py").write_text(source)
    return folder


def test_this_tree_can_be_taken_in() -> None:
    """What is excused has a reason that `structure.REASONS` gives."""
    figures = structure.measured(TOP)
    assert figures.circles == []
    assert figures.positional_calls == []
    assert figures.format_skips == []
    used = {finding.reason for finding in figures.excused}
    assert used == set(structure.REASONS.values()), "a reason that excuses nothing"


def test_imports_for_types_and_inside_functions_close_a_circle(tmp_path: Path) -> None:
    circles = structure.import_circles(
        tree(
            tmp_path,
            one="from cgos_server import two\n",
            two="import typing\nif typing.TYPE_CHECKING:\n    from cgos_server.three import thing\n",
            three="def thing():\n    from . import one\n",
            apart="from cgos_server.one import two\n",
        )
    )
    assert [sorted(set(circle)) for circle in circles] == [
        ["cgos_server.one", "cgos_server.three", "cgos_server.two"],
    ]


def test_lines_of_code_are_neither_docstrings_nor_remarks() -> None:
    source = (
        '"""Said.\n\nAt length."""\n\n# remark\nx = """one\n\ntwo"""\n\n\ndef f():\n    """Said."""\n    return x\n'
    )
    assert structure.code_lines(source) == 5


def test_calls_by_position_are_listed(tmp_path: Path) -> None:
    measured = structure.measured(tree(tmp_path, wide=WIDE))
    assert [(call.what, call.size) for call in measured.positional_calls] == [("Wide", 8)]
    assert len(measured.format_skips) == 1
    assert (measured.python_files, measured.python_lines) == (2, 1)
    assert "positional_calls cgos_server/wide.py:3 Wide 8" in list(structure.listed(measured))


def test_a_reason_excuses_one_thing(tmp_path: Path) -> None:
    called = "one = Table(1, 2, 3, 4, 5)\ntwo = Chair(1, 2, 3, 4, 5)\n"
    measured = structure.measured(tree(tmp_path, house=called))
    assert [call.what for call in measured.positional_calls] == ["Chair"]
    assert [excuse.what for excuse in measured.excused] == ["Table"]
    (line,) = (line for line in structure.listed(measured) if line.startswith("excused"))
    assert line == "excused cgos_server/house.py:1 Table 5 (SQLAlchemy takes columns by position)"
