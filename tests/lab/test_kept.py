"""Answers that are kept: taken again where task and code are the same, and only there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

import cgos_server.lab.ratings
from cgos_protocol.errors import Code, Refused
from cgos_server.lab import kept as module
from cgos_server.lab.kept import Kept, answers, fingerprint
from cgos_server.lab.running import Work


class Task(Struct, frozen=True, kw_only=True):
    word: str
    number: int = 0


class Triple(NamedTuple):
    word: str
    number: int


def squared(task: Task) -> dict[str, Any]:
    return {"square": task.number**2, "none": None, "third": task.number / 3}


class Told:
    """Squares, counting how often; Ctrl-C at one number."""

    def __init__(self, stops_at: int | None = None) -> None:
        self.asked: list[int] = []
        self._stops_at = stops_at

    def __call__(self, task: Task) -> dict[str, Any]:
        if task.number == self._stops_at:
            raise KeyboardInterrupt
        self.asked.append(task.number)
        return squared(task)


def tasks(count: int) -> list[Task]:
    return [Task(word="a", number=number) for number in range(count)]


def test_a_run_goes_on_where_it_was_interrupted(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "some.jsonl"
    first = Told(stops_at=3)
    found, interrupted = answers(first, tasks(6), Work(), Kept(path, "code"))
    assert (list(found), interrupted) == (tasks(3), True)
    heard: list[tuple[int, int]] = []
    second = Told()
    work = Work(progress=lambda done, everything: heard.append((done, everything)))
    found, interrupted = answers(second, tasks(6), work, Kept(path, "code"))
    assert (list(found), interrupted) == (tasks(6), False)
    assert (first.asked, second.asked) == ([0, 1, 2], [3, 4, 5])
    assert heard[-1] == (3, 3), "what is left to do"
    assert found == answers(squared, tasks(6), Work())[0], "to the last bit"


def test_answers_of_other_code_are_left_where_they_are(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    answers(squared, tasks(2), Work(), Kept(path, "before"))
    again = Told()
    answers(again, tasks(2), Work(), Kept(path, "now"))
    assert again.asked == [0, 1]
    assert [json.loads(line)["code"] for line in path.read_text().splitlines()] == ["before"] * 2 + ["now"] * 2
    assert Task(word="a", number=1) in Kept(path, "before")


@given(cut=st.integers(0, 200))
def test_a_line_that_was_cut_off_is_computed_again(cut: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("kept") / "some.jsonl"
    answers(squared, tasks(2), Work(), Kept(path, "code"))
    path.write_text(path.read_text()[: -cut or None])
    assert answers(squared, tasks(2), Work(), Kept(path, "code")) == (answers(squared, tasks(2), Work()))
    never = Told(stops_at=0)
    assert answers(never, tasks(2), Work(), Kept(path, "code"))[1] is False, "and is whole now"
    assert never.asked == []


def test_tasks_are_told_apart_by_every_field(tmp_path: Path) -> None:
    kept = Kept(tmp_path / "some.jsonl", "code")
    kept.add(Task(word="a", number=1), {"is": "it"})
    kept.add(Triple("a", 1), {"is": "another"})
    kept = Kept(tmp_path / "some.jsonl", "code")
    assert kept.of(Task(word="a", number=1)) == {"is": "it"}
    assert kept.of(Triple("a", 1)) == {"is": "another"}
    assert Task(word="b", number=1) not in kept
    assert Triple("a", 2) not in kept


def test_a_file_that_cannot_be_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "bytes").write_bytes(b"\xff\n")
    for path in (tmp_path / "file" / "some.jsonl", tmp_path / "bytes"):
        with pytest.raises(Refused, match=r"cannot be kept in .*Name another folder\.") as refused:
            Kept(path, "code")
        assert refused.value.code is Code.LAB


def test_the_fingerprint_is_of_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fingerprint([module]) == fingerprint([module])
    assert len({fingerprint([module]), fingerprint([cgos_server.lab.ratings]), fingerprint([pytest, module])}) == 3
    copy = tmp_path / "copy.py"
    copy.write_text("1\n")
    monkeypatch.setattr(module, "__file__", str(copy))
    before = fingerprint([module])
    copy.write_text("2\n")
    assert fingerprint([module]) != before
