"""Asks two questions on a real server among real bots: is Mcts-60 stronger than Mcts-50, and than itself?

The server is the shipped one in a process of its own, the bots are the client's built-in ones, and the ladder goes on
meanwhile. Each test is played to its end. Figures: how the tests ended, with how many games, beside what was expected;
and how much of the time of the bots went to games of the ladder and of questions, before, during and after. Loopback
only, bounded, stops by itself.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Final

from benchmarks.reporting import program, table
from benchmarks.tournaments.event_site import VENUE, Site, until
from cgos_protocol.api.questions import AskedQuestion
from cgos_server.service.questions.asking import AskTest

LOOK_S: Final = 1.0
START_S: Final = 60.0

PLAYOUTS: Final = (5, 20, 50, 60, 150)
"""Of the bots of the ladder; there is a second Mcts-60, whose name is Mcts-60-again."""

TESTS: Final = (("Mcts-60", "Mcts-50"), ("Mcts-60-again", "Mcts-60"))
"""(new, old)."""


def run(
    upper: Annotated[float, "upper bound of the tests, normalized Elo; the lower one is 0"] = 100.0,
    window: Annotated[float, "seconds that are looked at before and after"] = 180.0,
    limit: Annotated[float, "seconds that the tests may take"] = 5400.0,
    size: Annotated[int, "of the board"] = 9,
    fewer: Annotated[int, "the bots' playouts are divided by this"] = 1,
) -> dict[str, Any]:
    """All figures."""
    with tempfile.TemporaryDirectory(prefix="cgos-questions-") as folder:
        site = Site(Path(folder), size, interval_s=0.5)
        site.start()
        try:
            with _bots(site, fewer):
                return _asked(site, upper, window, limit=limit)
        finally:
            site.stop()


def _asked(site: Site, upper: float, window: float, limit: float) -> dict[str, Any]:
    before = _spent(site, window)
    began = _now_ms()
    asked = [
        site.say(AskTest(version=new, against=old, venue=VENUE, upper=upper, most_games=2000)) for new, old in TESTS
    ]
    until(lambda: not site.query("SELECT 1 FROM questions WHERE ended_at IS NULL"), limit, "a test goes on")
    during = _between(site, began, _now_ms())
    after = _spent(site, window)
    figures = {
        "tests": [_figures(site, answer) for answer in asked],
        "time": {"before": before, "during": during, "after": after},
    }
    _print(figures)
    return figures


def _figures(site: Site, answer: AskedQuestion) -> dict[str, Any]:
    detail = site.get(f"/questions/{answer.question}")
    return {
        "version": detail["version"],
        "against": detail["against"][0],
        "state": detail["state"],
        "games": sum(detail["answer"][word] for word in ("wins", "draws", "losses")),
        "expected_games": {cost.case: round(cost.games) for cost in answer.costs},
        "llr": detail["answer"]["llr"],
        "elo": [detail["answer"][word] for word in ("lower", "elo", "upper")],
        "hours": (detail["ended_at"] - detail["asked_at"]) / 3600,
        "text": detail["text"],
    }


def _spent(site: Site, seconds: float) -> dict[str, float]:
    """Let so much time pass, and look at it."""
    began = _now_ms()
    time.sleep(seconds)
    return _between(site, began, _now_ms())


def _between(site: Site, began: int, ended: int) -> dict[str, float]:
    """Shares of the time of all bots, in per cent: in games of the ladder, of questions, and in none."""
    rows = site.query(
        "SELECT q.game_id IS NOT NULL, sum(min(coalesce(g.ended_at, ?), ?) - max(g.started_at, ?)) FROM games g"
        " LEFT JOIN question_games q ON q.game_id = g.id WHERE g.started_at < ? AND coalesce(g.ended_at, ?) > ?"
        " GROUP BY 1",
        *(ended, ended, began, ended, ended, began),
    )
    whole = (ended - began) * (len(PLAYOUTS) + 1) / 2  # two bots a game
    spent = {"ladder": 0.0, "questions": 0.0}
    for is_asked, ms in rows:
        spent["questions" if is_asked else "ladder"] = round(100.0 * ms / whole, 1)
    return spent | {"waiting": round(100.0 - sum(spent.values()), 1), "seconds": (ended - began) / 1000}


@contextlib.contextmanager
def _bots(site: Site, fewer: int) -> Iterator[None]:
    """All bots, each with one slot. The names say playouts as they are when `fewer` is 1."""
    secret = site.directory / "bots.password"
    secret.write_text("secret-of-the-bots\n")
    secret.chmod(0o600)
    names = {f"Mcts-{playouts}": playouts for playouts in PLAYOUTS} | {"Mcts-60-again": 60}
    lines = [f'[server]\nurl = "ws://127.0.0.1:{site.websocket}"\n']
    for number, (name, playouts) in enumerate(names.items()):
        lines.append(
            f'[[bot]]\nname = "{name}"\npassword_file = "{secret.name}"\nvenues = ["{VENUE}"]\nslots = 1\n'
            f'seed = {number}\nbuiltin = "mcts"\nplayouts = {playouts // fewer}\n'
        )
    file = site.directory / "bots.toml"
    file.write_text("\n".join(lines))
    with (site.directory / "bots.log").open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "cgos_client", "run", "--config", str(file)], stdout=output, stderr=output
        )
    try:
        until(lambda: _signed_in(site) == len(names), START_S, "not all bots are there")
        yield
    finally:
        process.kill()
        process.wait(10)


def _signed_in(site: Site) -> int:
    status = site.status()
    return 0 if status is None else len(status.bots)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _print(figures: dict[str, Any]) -> None:
    for test in figures["tests"]:
        print(test["text"], end="\n\n")
    columns = ("ladder", "questions", "waiting")
    rows = [(word, *(spent[column] for column in columns)) for word, spent in figures["time"].items()]
    print(table("time of the bots, per cent", ("", *columns), rows))


main = program(run, upper=1000.0, window=1.0, limit=120.0, size=5, fewer=5)

if __name__ == "__main__":
    main()
