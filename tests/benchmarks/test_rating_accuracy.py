"""The accuracy benchmark on a tiny pool: it runs, goes on where it was, and measures what it says."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from benchmarks.ratings import rating_accuracy
from cgos_server.lab.ratings import pools as pools


def accuracy(tmp_path: Path, *words: str) -> dict[str, Any]:
    """What the benchmark finds with these arguments."""
    figures = tmp_path / "figures.json"
    command = [sys.executable, rating_accuracy.__file__, "--versions", "8", "--rounds", "6", "--workers", "1"]
    subprocess.run([*command, "--cache", tmp_path, "--json", figures, *words], check=True, timeout=120)
    content: dict[str, Any] = json.loads(figures.read_text())
    return content


def test_a_tiny_pool_is_measured_and_kept(tmp_path: Path) -> None:
    picture = tmp_path / "picture.svg"
    words = ["--replicates", "2", "--pools", "normal", "--picture", str(picture)]
    figures = accuracy(tmp_path, *words)
    kept = (tmp_path / "rating_accuracy.jsonl").read_text()
    main = figures["experiments"]["normal, bayes"]
    assert main["replicates"] == 2
    assert set(main["systems"]) == {"bayes", "cgos-elo", "gor", "egf2021", "glicko2"}
    after = main["systems"]["bayes"]["5"]
    assert 0 < after["rmse"] < 1000
    assert 0 <= after["inside"] <= 1
    assert 0 <= after["pairs"] <= 1
    assert main["refits"][0] >= 1
    assert main["refits"][1] >= 1
    assert "normal, cgos-elo, compat" in figures["experiments"]
    labels = {"".join(text.itertext()) for text in ElementTree.fromstring(picture.read_text()).iter()}
    assert "bayes" in labels

    again = accuracy(tmp_path, *words)
    assert again == figures
    assert (tmp_path / "rating_accuracy.jsonl").read_text() == kept


def test_newcomers_are_measured(tmp_path: Path) -> None:
    newcomers = accuracy(tmp_path, "--replicates", "3", "--pools", "newcomers")["experiments"]["newcomers, stated"]
    assert newcomers["newcomers"] == 8
    assert len(newcomers["systems"]["bayes"]["rmse"]) == 6
    assert 5 < newcomers["established"]["bayes"] < 50


def test_an_interrupted_run_leaves_a_line_that_is_passed_over(tmp_path: Path) -> None:
    kept = tmp_path / "rating_accuracy.jsonl"
    words = ["--replicates", "2", "--pools", "normal-8"]
    figures = accuracy(tmp_path, *words)
    kept.write_text(kept.read_text()[:-100])
    assert (
        accuracy(tmp_path, *words)["experiments"]["normal-8, bayes"]["systems"]
        == (figures["experiments"]["normal-8, bayes"]["systems"])
    )


def test_the_limit_is_read_between_its_columns() -> None:
    for games, rmse in zip(pools.LIMIT_GAMES, pools.LIMITS["normal"], strict=True):
        assert pools.limit_games("normal", rmse) == pytest.approx(games)
    between = math.sqrt(87 * 64)
    assert pools.limit_games("normal", between) == pytest.approx(math.sqrt(20 * 40))
    assert pools.limit_games("normal", 300) < 5
    assert pools.limit_games("normal", 20) > 320


def test_results_have_the_shares_they_should() -> None:
    rng = pools.generator(1, "shares")
    plain = [pools.score2(rng, pools.POOLS["normal"], 200.0) for _ in range(4000)]
    assert sum(plain) / 8000 == pytest.approx(1 / (1 + 10**-0.5), abs=0.03)
    assert 1 not in plain
    drawn = [pools.score2(rng, pools.POOLS["normal-draws"], 0.0) for _ in range(4000)]
    assert drawn.count(1) / 4000 == pytest.approx(1.7 / 3.7, abs=0.03)
    first = [pools.score2(rng, pools.POOLS["normal-first"], 0.0) for _ in range(4000)]
    assert sum(first) / 8000 == pytest.approx(1 / (1 + 10**-0.15), abs=0.03)


def test_the_window_pairs_neighbors() -> None:
    rng = pools.generator(1, "window")
    ratings = rng.normal(2000.0, 350.0, 64)
    width = pools.window(ratings)
    assert width >= 500
    pairs = pools.permuted_window(rng, ratings)
    assert sorted(number for pair in pairs for number in pair) == list(range(64))
    assert pools.window(ratings[:4]) == 3000
    far = [
        abs(ratings[first] - ratings[second])
        for _ in range(50)
        for first, second in pools.permuted_window(rng, ratings)
    ]
    assert max(far) < width + 200
    assert sum(far) / len(far) < width / 2


def test_the_side_that_had_the_first_move_less_often_has_it() -> None:
    colors = pools.Colors(pools.generator(1, "colors"))
    firsts = [colors.first(3, 7)[0] for _ in range(20)]
    assert firsts.count(3) == 10
