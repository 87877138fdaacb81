"""Outcomes for people and programs. Must not know: how cases are played."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Final

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from cgos_client.conformance.language import Case
from cgos_client.conformance.outcome import Outcome, Verdict

_STYLES: Final = {
    Verdict.PASSED: "green",
    Verdict.DIFFERS: "bold red",
    Verdict.QUIRK: "yellow",
    Verdict.SKIPPED: "dim",
}
_DIALOGUE_LINES: Final = 12


def as_json(outcome: Outcome) -> str:
    """One outcome as one line of JSON; times in seconds."""
    step = outcome.step
    return json.dumps(
        {
            "case": outcome.case.name,
            "title": outcome.case.title,
            "topic": outcome.case.topic,
            "verdict": outcome.verdict.value,
            "why": outcome.why,
            "step": None if step is None else {"file": outcome.case.file, "line": step.line, "text": step.text},
            "expected": outcome.expected,
            "got": outcome.got,
            "peers": list(outcome.quirks),
            "seconds": round(outcome.seconds, 2),
            "dialogue": list(outcome.dialogue) if outcome.verdict is Verdict.DIFFERS else [],
        },
        separators=(",", ":"),
    )


def as_line(outcome: Outcome) -> str:
    """One outcome as one line for people without a terminal."""
    why = f"  {_how(outcome)}" if outcome.why else ""
    return f"{outcome.verdict.value:10}  {outcome.case.name:28}{why}".rstrip()


def print_table(outcomes: Sequence[Outcome], console: Console) -> None:
    """All outcomes as a table, and the dialogues of those that differ."""
    table = Table(box=SIMPLE_HEAD)
    for name in ("topic", "case", "verdict", "how"):
        table.add_column(name)
    for outcome in outcomes:
        verdict = Text(outcome.verdict.value, _STYLES[outcome.verdict])
        table.add_row(Text(outcome.case.topic), Text(outcome.case.name), verdict, Text(_how(outcome)))
    console.print(table)
    for outcome in outcomes:
        if outcome.verdict is Verdict.DIFFERS:
            console.print(Text(f"{outcome.case.name}: {outcome.case.title}", "bold"))
            for line in outcome.dialogue[-_DIALOGUE_LINES:]:
                console.print(Text(f"  {line}"))


def summary(outcomes: Sequence[Outcome]) -> str:
    """``61 cases: 58 passed, 2 peer quirk, 1 skipped``."""
    count = Counter(outcome.verdict for outcome in outcomes)
    parts = [f"{count[verdict]} {verdict.value}" for verdict in Verdict if count[verdict]]
    return f"{len(outcomes)} cases: {', '.join(parts) or 'none'}"


def print_list(cases: Sequence[Case]) -> None:
    """What there is, one case a line."""
    for case in cases:
        click.echo(f"{case.topic:12}  {case.name:28}  {case.title}" + (" (harsh)" if case.harsh else ""))


def _how(outcome: Outcome) -> str:
    where = f"line {outcome.step.line}: " if outcome.step is not None and outcome.verdict is Verdict.DIFFERS else ""
    return "".join(letter if letter.isprintable() else "?" for letter in where + outcome.why)
