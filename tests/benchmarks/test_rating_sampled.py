"""The headline's posterior beside the sampled one, in the smallest form in which its errors would show."""

from __future__ import annotations

from benchmarks.ratings import rating_sampled


def test_two_families_are_where_they_would_be_sampled() -> None:
    """Links, strangers and anchors: means within .15 standard deviations, superiority within .03."""
    figures = rating_sampled.run(pools=["two families"], chains=32, sweeps=500)["two families"]
    assert figures["r_hat"] < 1.02
    assert figures["error"] < 0.03
    assert figures["mean"] < rating_sampled.MEANS
    assert 0.9 < figures["sd_least"] < figures["sd_most"] < 1.1
    assert figures["superiority"] < rating_sampled.SUPERIORITY
    assert max(figures["best"], figures["three"]) < rating_sampled.SUPERIORITY
    assert figures["inside"] > 0.93
