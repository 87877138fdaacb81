"""The learned prior against the published vectors: sites, width, cold and warm refits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.core.rating_pools import pool
from support.core.vectors import parametrize
from support.core.within import within

from cgos_server.core.rating.bayes import fit, prior_sites, sites
from cgos_server.core.rating.bayes.pool import Floats, Hyper, Pool, Posterior, Prior, Sites

KINDS = ("game_site", "prior_site", "width", "cold_refit", "warm_refit")
Case = dict[str, Any]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for kind in KINDS:
        if kind in metafunc.fixturenames:
            parametrize(metafunc, kind, "learned_prior", kind)


def alone(*values: float) -> list[Floats]:
    return [np.array([float(value)]) for value in values]


def test_game_site(game_site: Case) -> None:
    inputs, expected = game_site["input"], game_site["expected"]
    score, games = inputs["W"], inputs["N"]
    margin = score - games / 2
    cell = sites.Cells(np.array([0]), np.array([1]), *alone(margin, margin, games, 0.0, 0.0))
    v = inputs["C_ii"] + inputs["C_jj"] - 2 * inputs["C_ij"]
    updated = sites.update(cell, *alone(inputs["x_i"] - inputs["x_j"], v, inputs["T"], inputs["V"]), 0.0, 0.0)
    if expected.get("skipped"):
        assert (updated.T[0], updated.V[0], updated.moved[0]) == (inputs["T"], inputs["V"], 0.0)
        return
    a, b, tolerance = expected["a"], expected["b"], game_site["tolerance"]["same_nodes"]
    assert v == pytest.approx(expected["v"])
    assert updated.cavity.precision[0] == pytest.approx(expected["cavity_precision"], rel=1e-9)
    assert updated.cavity.mean[0] == pytest.approx(expected["cavity_mean"], rel=1e-9, abs=1e-9)
    within(updated.tilted.mean[0], a, tolerance * b**0.5, "mean")
    within(updated.tilted.variance[0], b, tolerance * b, "variance")
    within(updated.T[0], expected["T"], tolerance / b, "T")
    within(updated.V[0], expected["V"], tolerance * (abs(a) + b**0.5) / b, "V")


def test_prior_site(prior_site: Case) -> None:
    inputs, expected = prior_site["input"], prior_site["expected"]
    Sg, mu, PS, PH = (np.array(inputs[name], dtype=float)[None] for name in ("Sg", "mu", "PS", "PH"))
    mixture = prior_sites.of_roots(Hyper(s=inputs["s"], w=tuple(inputs["w"])))
    updated = prior_sites.update(Sg, mu, PS=PS, PH=PH, mixture=mixture)
    largest = np.abs(expected["PS_undamped"]).max()
    shift = max(1e-6 * largest, 1e-12 * np.abs(np.linalg.inv(Sg)).max()) * np.abs(mu).max()
    within(updated.rho[:, 0], expected["rho"], 1e-6, "rho")
    within(updated.PS[0], expected["PS"], 1e-6 * largest, "PS")
    within(updated.PH[0], expected["PH"], shift, "PH")
    for name, actual in (("q1", updated.q1), ("q2", updated.q2)):
        allowed = np.maximum(1e-9, 1e-6 * np.abs(expected[name]))
        within(actual[:, 0], expected[name], allowed, name)


def test_width(width: Case) -> None:
    inputs, expected = width["input"], width["expected"]
    R = np.array(inputs["R"])
    step = {name: inputs[name] for name in ("q1", "q2", "s", "median")}
    fitted_width = prior_sites.width(known=float(R.sum()), log_sd=0.4, **step)
    assert fitted_width.s == pytest.approx(expected["s"], rel=1e-6)
    total = prior_sites.Sums(R, *(np.zeros(4),) * 3, fresh=0.0, links=0)
    within(prior_sites.weights(total), expected["w"], 1e-9, "w")


def pool_of(case: Case, added: list[list[float]] | None = None) -> Pool:
    """The vectors know neither color nor draws: the score of the first and the rest as losses, no advantage."""
    counts: dict[tuple[int, int], tuple[float, float]] = {}
    for i, j, score, games in [*case["pairs"], *(added or [])]:
        won, lost = counts.get((i, j), (0.0, 0.0))
        counts[i, j] = (won + score, lost + games - score)
    return pool(
        case["n"],
        [(*pair, won, 0, lost) for pair, (won, lost) in counts.items()],
        anchors=case["anchors"],
        own=case["own"],
        prior=Prior(initial=case["initial"], advantage_sd=0.0, tail=0.0, equals=False, early_log_sd=0.4),
    )


def shown(of: Posterior, n: int) -> Floats:
    variance = np.diagonal(of.C)[:n]
    share = np.clip(of.sites.PS[:, 0, 0] * variance, 0.0, 1.0)
    sds: Floats = np.sqrt(variance * (1.0 + share))
    return sds


def check(posterior: Posterior, expected: Case, tolerance: dict[str, float], n: int) -> None:
    variance = np.array(expected["variance"])
    sd = np.sqrt(variance)
    within(posterior.x[:n] / sd, expected["mean"] / sd, tolerance["mean_sd"], "mean in sd")
    within(np.diagonal(posterior.C)[:n] / variance, 1.0, tolerance["var_rel"], "relative variance")
    within(shown(posterior, n) / expected["shown_sd"], 1.0, tolerance["shown_sd_rel"], "relative shown sd")


def sorted_weights(w: Floats, centers: Floats, distinct: bool) -> list[float]:
    """By center where all are apart; else the sums over centers nearer than 100 Elo to the one before."""
    order = np.argsort(centers)
    sums: list[float] = []
    for position, k in enumerate(order):
        if position and not distinct and centers[k] - centers[order[position - 1]] < 100.0:
            sums[-1] += float(w[k])
        else:
            sums.append(float(w[k]))
    return sums


def test_cold_refit(cold_refit: Case) -> None:
    inputs, expected, tolerance = cold_refit["input"], cold_refit["expected"], cold_refit["tolerance"]
    n, initial = inputs["n"], inputs["initial"]
    posterior = fit.cold(pool_of(inputs))
    check(posterior, expected, tolerance, n)
    assert posterior.start in expected["chosen_any_of"]
    width, means = posterior.details["one_component"]
    within(np.log(width / expected["one_component"]["s"]), 0.0, tolerance["ln_s"], "ln s of one component")
    sd = np.sqrt(expected["variance"])
    within(means / sd, expected["one_component"]["mean"] / sd, 0.02, "mean of one component in sd")
    within(np.log(posterior.hyper.s / expected["s"]), 0.0, tolerance["ln_s"], "ln s")
    for i, j, value in expected["covariance"]:
        within(posterior.C[i, j] / (sd[i] * sd[j]), value / (sd[i] * sd[j]), tolerance["cov_sd"], f"covariance {i} {j}")

    centers, distinct = np.array(expected["centers"]), expected["components_distinct"]
    mine = posterior.x[n : n + 3]
    within(
        sorted_weights(np.array(posterior.hyper.w), mine, distinct),
        sorted_weights(np.array(expected["w"]), centers, distinct),
        tolerance["w_abs"],
        "weights",
    )
    spread = np.array(expected["centers_sd"])[np.argsort(centers)]
    within(np.sort(mine) / spread, np.sort(centers) / spread, tolerance["center_sd"], "centers in sd")

    # The published evidence is in absolute coordinates: what that adds for anchors, own factors and nudged cavities.
    known = sum((value**2 - (value - initial) ** 2) / (2 * sd**2) for _, value, sd in inputs["anchors"] + inputs["own"])
    free = sorted(set(range(n)) - {anchor[0] for anchor in inputs["anchors"]})
    known += 0.5 * prior_sites.NUDGE * float((posterior.x[free] ** 2 - (posterior.x[free] - initial) ** 2).sum())
    evidence = np.array(posterior.details["log_evidence"])
    within(evidence + known, expected["log_evidence"], tolerance["log_evidence"], "log evidence")


def test_warm_refit(warm_refit: Case) -> None:
    inputs, expected = warm_refit["input"], warm_refit["expected"]
    n, state = inputs["n"], inputs["state"]
    rows = np.array(sorted(state["game_sites"]))
    PS, PH = np.zeros((n, 4, 4)), np.zeros((n, 4))
    for row in state["prior_sites"]:
        PS[row["id"]], PH[row["id"]] = row["PS"], row["PH"]
    PH -= PS.sum(axis=2) * inputs["initial"]
    known = Sites(
        one=rows[:, 0].astype(np.int64),
        two=rows[:, 1].astype(np.int64),
        T=rows[:, 2],
        V=rows[:, 3],
        PS=PS,
        PH=PH,
        linked=np.zeros((0, 2), dtype=np.int64),
        LS=np.zeros((0, 6, 6)),
        LH=np.zeros((0, 6)),
    )
    hyper = Hyper(s=state["s"], w=tuple(state["w"]))
    x, C = fit.rebuild(pool_of(inputs), hyper, known)
    sd = np.sqrt(inputs["variance_before"])
    within(x[:n] / sd, inputs["mean_before"] / sd, 1e-6, "mean before")
    within(np.diagonal(C)[:n] / sd**2, 1.0, 1e-6, "variance before")
    added = pool_of(inputs, inputs["added"])
    check(fit.warm(added, hyper, known, x), expected, warm_refit["tolerance"], n)
    same = fit.warm(added, hyper, known, x, follow=(None, (0,) * expected["iterations"]))
    check(same, expected, dict.fromkeys(("mean_sd", "var_rel", "shown_sd_rel"), 0.005), n)
