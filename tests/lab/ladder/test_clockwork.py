"""The simulated ladder's figures add up, and its command line says them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.pairing import pairing_days as days


def test_both_policies_side_by_side(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "figures.json"
    words = ["--bots", "6", "--hours", "0.5", "--fastest", "10", "--spread", "4", "--method", "random"]
    days.main([*words, "--option", "repeat_most=20", "--json", str(out)])
    by_policy = {figures["policy"]: figures for figures in json.loads(out.read_text())}
    assert by_policy["rolling"]["games"] > by_policy["barrier"]["games"] > 0
    output = capsys.readouterr().out
    for figures in by_policy.values():
        assert f"{figures['games']:,}" in output
        assert 0.0 < figures["lowest_utilization"] <= figures["utilization"] <= 1.0
        assert figures["wait_p50"] <= figures["wait_p90"] <= figures["wait_p99"] <= figures["wait_max"]
        assert all(abs(sum(row) - 1.0) < 1e-3 for row in figures["thirds"])


def test_time_in_a_game_is_what_its_bots_think() -> None:
    """Two bots alone meet at once, whatever the policy: all that is lost is settling and the wait for the next pass."""
    pool = days.Pool.draw(2, 50.0, 1.0, 1)
    method = days.matchmaker("random", {})
    figures = days.simulate(pool, days.Policy.ROLLING, method, 10.0, interval=1.0, settle=4.0)
    assert figures.wait_p50 <= 1.0
    assert figures.utilization == pytest.approx(100.0 / 104.5, abs=0.005)
    assert figures.games == pytest.approx(36_000 / 104.5, rel=0.02)
