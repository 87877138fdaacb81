"""Families, tails and equals against the published vectors: sites of successors, cold refits, ends of intervals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.core.rating_pools import linked, pool
from support.core.vectors import parametrize
from support.core.within import within

from cgos_server.core.rating.bayes import fit, prior_sites
from cgos_server.core.rating.bayes.pool import Floats, Hyper, Prior

Case = dict[str, Any]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for kind in ("successor_site", "cold_refit"):
        if kind in metafunc.fixturenames:
            parametrize(metafunc, kind, "family_and_tails", kind)


def test_successor_site(successor_site: Case) -> None:
    inputs, expected, tolerance = (successor_site[key] for key in ("input", "expected", "tolerance"))
    _, tail, equals = inputs["shares_body_tail_spike"]
    own = successor_site["name"].startswith("own sd")
    hyper = Hyper(
        s=inputs["s"],
        w=tuple(inputs["w"]),
        step=inputs["link_sd"],
        fresh=inputs["f"],
        tail=tail,
        equals=equals,
    )
    links = linked([(1, 0, inputs["link_sd"] if own else None, inputs["f"] == 0)])
    mixture = prior_sites.of_successors(hyper, links)
    Sg, mu, PS, PH = (np.array([inputs[name]]) for name in ("covariance", "mean", "PS", "PH"))
    updated = prior_sites.update(Sg, mu, PS=PS, PH=PH, mixture=mixture)
    damping = prior_sites.DAMPING
    largest = np.abs(expected["PS_undamped"]).max()
    matrix = tolerance["matrix_rel_to_largest"] * largest
    shift = max(matrix, 1e-12 * np.abs(np.linalg.inv(Sg[0])).max()) * max(np.abs(mu).max(), 1.0)
    if inputs["f"] == 0:
        exact = prior_sites.exact_links(1.0 / prior_sites.steps(hyper, links), 3)[0]
        within(exact, expected["PS_undamped"], matrix, "PS")
    else:
        within((updated.PS - PS)[0] / damping + PS[0], expected["PS_undamped"], matrix, "PS")
        within((updated.PH - PH)[0] / damping + PH[0], expected["PH_undamped"], shift, "PH")
    within(updated.rho[-1, 0], expected["rho_link"], tolerance["rho_abs"], "rho of the link")
    roots = np.zeros((3, 3))
    kinds = mixture.kind[:-1]
    roots[kinds, mixture.along[:-1]] = updated.rho[:-1, 0]
    within(roots, expected["rho_root"], tolerance["rho_abs"], "rho of the root")
    roots = prior_sites.of_roots(hyper)
    nobody = prior_sites.update(np.zeros((0, 4, 4)), np.zeros((0, 4)), np.zeros((0, 4, 4)), np.zeros((0, 4)), roots)
    total = prior_sites.sums((roots, nobody), (mixture, updated), links, 3)
    for name, by in (("q1", total.q1), ("q2", total.q2), ("R_body_tail_spike_link", total.by_class)):
        wanted = np.array(expected[name])
        within(by, wanted, tolerance["q_rel"] * np.abs(wanted) + 1e-9, name)


def summed_where_close(w: Floats, centers: Floats) -> list[float]:
    """In the order of the centers, the sums over centers nearer than 100 Elo to the one before."""
    order = np.argsort(centers)
    sums: list[float] = []
    for position, k in enumerate(order):
        if position and centers[k] - centers[order[position - 1]] < 100.0:
            sums[-1] += float(w[k])
        else:
            sums.append(float(w[k]))
    return sums


def test_cold_refit(cold_refit: Case) -> None:
    inputs, expected, tolerance = (cold_refit[key] for key in ("input", "expected", "tolerance"))
    n, initial = inputs["n"], inputs["initial"]
    prior = Prior(initial=float(initial), gathered=False)  # the vectors know no sixth start
    given = pool(n, inputs["cells"], anchors=inputs["anchors"], links=inputs["links"], prior=prior)
    posterior = fit.cold(given)
    hyper, ends = posterior.hyper, posterior.ends
    evidence = np.array(posterior.details["log_evidence"])
    within(evidence - evidence[0], expected["evidence_minus_first"], tolerance["evidence_nat"], "evidence")
    assert posterior.start == expected["start"]
    sd = np.array(expected["sd"])
    variance = np.diagonal(posterior.C)[:n]
    within(posterior.x[:n] / sd, np.array(expected["mean"]) / sd, tolerance["mean_sd"], "mean in sd")
    within(np.sqrt(variance) / sd, 1.0, tolerance["sd_rel"], "relative sd")
    shown = np.sqrt(variance * (1.0 + ends.kappa * np.clip(ends.own * variance, 0.0, 1.0) * ends.fresh))
    within(shown / expected["shown_sd"], 1.0, tolerance["sd_rel"], "relative shown sd")
    within(np.log(hyper.s / expected["s"]), 0.0, tolerance["ln_s"], "ln s")
    if expected["tau"] is not None:
        within(np.log(hyper.step / expected["tau"]), 0.0, tolerance["ln_tau"], "ln tau")
    if inputs["links"]:
        within(hyper.fresh, expected["f"], tolerance["f_abs"], "f")
        within(posterior.x[-1] / expected["mu_sd"], expected["mu"] / expected["mu_sd"], tolerance["mu_sd"], "mu in sd")
    shares = (1.0 - hyper.tail - hyper.equals, hyper.tail, hyper.equals)
    within(shares, expected["shares"], tolerance["weights_abs"], "shares")
    for new, share in expected["fresh_share"].items():
        within(ends.fresh[int(new)], share, tolerance["weights_abs"], f"fresh share of {new}")
    within(
        np.sort(summed_where_close(np.array(hyper.w), posterior.x[n : n + 3])),
        np.sort(summed_where_close(np.array(expected["weights"]), posterior.x[n : n + 3])),
        tolerance["weights_abs"],
        "weights",
    )
    lower, upper = posterior.x[:n] - ends.below * shown, posterior.x[:n] + ends.above * shown
    within(lower / sd, np.array(expected["lower"]) / sd, tolerance["interval_sd"], "lower ends in sd")
    within(upper / sd, np.array(expected["upper"]) / sd, tolerance["interval_sd"], "upper ends in sd")
