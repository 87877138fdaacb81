"""A process that measures the rating systems of some checkout of this project, by the benchmarks of this one.

Must not know: what is measured.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from benchmarks.reporting import ROOT

HOST = """
import importlib, json, sys
from pathlib import Path

tree, root, module, function = sys.argv[1:]
import cgos_protocol, cgos_server
if not Path(cgos_server.__file__).is_relative_to(tree):
    sys.exit(f"{cgos_server.__file__} was loaded in place of {tree}: an installed package stands before it")
# The two packages are that tree's from now on, the benchmarks this tree's.
sys.path.insert(0, root)
measure = getattr(importlib.import_module(module), function)
print("{}", flush=True)
for line in sys.stdin:
    print(json.dumps(measure(**json.loads(line))), flush=True)
"""
"""Answers each line of JSON, the arguments by name, with what the module's function gives."""


class TreeChild:
    """Such a process, while the context lasts.

    :param tree: the checkout whose `cgos_server` and `cgos_protocol` are measured
    :param measure: a function of a module of these benchmarks; takes and gives what JSON has
    """

    def __init__(self, tree: Path, measure: Callable[..., Mapping[str, Any]]) -> None:
        self._tree = tree
        paths = os.pathsep.join(map(str, (tree, tree / "clients", tree / "protocol")))
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", HOST, str(tree), str(ROOT), measure.__module__, measure.__name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": paths, "OPENBLAS_NUM_THREADS": "1"},
        )

    def __enter__(self) -> TreeChild:
        self._answer()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    def ask(self, **arguments: Any) -> dict[str, Any]:
        """What the function gives for these, in that tree. Raises RuntimeError where it failed."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(arguments) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process of {self._tree} ended")
        answer: dict[str, Any] = json.loads(line)
        return answer
