"""Every program of benchmarks/ works: each is started once, so small that its figures mean nothing."""

from __future__ import annotations

import importlib
import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import pytest

TOP = Path(__file__).parents[2]
BENCHMARKS = TOP / "benchmarks"
FILES = {path.stem: path for path in BENCHMARKS.rglob("*.py") if path.stem != "__init__"}
PROGRAMS = sorted(FILES)


def module_of(name: str) -> ModuleType:
    return importlib.import_module(".".join(FILES[name].relative_to(TOP).with_suffix("").parts))


PARTS = {
    "load_bots": "server_moves",
    "bare_relay": "server_moves",
    "returning_bots": "upgrade_drill",
    "ws_relay": "move_pairs",
}
"""Programs that others start as processes, and who does it in its tiny form."""
TESTED = {"event_all": "e2e/test_events.py"}
"""Programs whose work another test does, and which."""
DATABASE = "data/cgos.sqlite"
WORDS: dict[str, Sequence[str]] = {
    "big_database": (DATABASE,),
    "move_instructions": ("--against", str(TOP)),
    "move_pairs": ("--against", str(TOP)),
    "page_speed": ("data",),
    "pairing_picture": ("--output", "picture.svg"),
    "question_picture": ("--output", "picture.svg"),
    "rating_ranks": ("--cache", "."),
    "rating_goals": ("--cache", ".", "--against", str(TOP)),
    "rating_pairs": ("--against", str(TOP)),
    "screenshots": ("pictures",),
}
"""What a program must be told, its working directory being empty."""
NEEDS = {
    "calm": "prometheus",
    "costs": "initdb",
    "faults": "haproxy",
    "fire": "prometheus",
    "move_instructions": "valgrind",
    "postgres_commit": "initdb",
    "races": "initdb",
    "rolling": "haproxy",
    "scrape": "prometheus",
    "screenshots": "chromium",
    "takeover": "initdb",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_works(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    if name in NEEDS and shutil.which(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} is not installed")
    monkeypatch.chdir(tmp_path)
    module = module_of(name)
    if name in PARTS:
        assert name in FILES[PARTS[name]].read_text() + FILES["loads"].read_text()
        return
    if name in TESTED:
        assert f".{name} import" in (TOP / "tests" / TESTED[name]).read_text()
        return
    main = getattr(module, "main", None)
    if main is None:
        imports = re.compile(rf"^from (\S+ import .*\b{name}\b|\S+\.{name} import)", re.MULTILINE)
        assert any(imports.search(path.read_text()) for path in FILES.values()), "no program, and none imports it"
        return
    if name == "page_speed":
        (tmp_path / "data").mkdir()
        module_of("big_database").main(["--tiny", DATABASE])
    if name == "big_database":
        (tmp_path / "data").mkdir()
    main(["--tiny", "--json", "figures.json", *WORDS.get(name, ())])
    if (tmp_path / "figures.json").exists():
        json.loads((tmp_path / "figures.json").read_text())
