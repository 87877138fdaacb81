"""Refits of the learned prior: published edges, fixed points, following, and what order and history may not change."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.core.rating_pools import apart, linked, pool, sds, shuffled, simulated

from cgos_server.core.rating.bayes import fit
from cgos_server.core.rating.bayes.joint import Factors, join
from cgos_server.core.rating.bayes.linear import invert
from cgos_server.core.rating.bayes.pool import MEAN_STEP_SD, Floats, Hyper, Pool, Posterior, Prior

PLAIN = Prior(initial=2000.0, advantage_sd=0.0, tail=0.0, equals=False, early_log_sd=0.4)
"""As the published edges of the learned prior have it."""


def normal_pool(n: int, games: int, seed: int = 1, *, draw: float = 0.0, advantage: float = 0.0) -> tuple[Pool, Floats]:
    truth = np.random.default_rng(seed).normal(2000.0, 350.0, n)
    return simulated(truth, games, seed, draw=draw, advantage=advantage, anchors=(0, 1)), truth


def difference(of: Posterior, i: int, j: int) -> tuple[float, float]:
    variance = of.C[i, i] + of.C[j, j] - 2 * of.C[i, j]
    return float(of.x[i] - of.x[j]), float(variance**0.5)


def same(first: Posterior, second: Posterior) -> None:
    assert first.hyper == second.hyper
    assert (first.iterations, first.start) == (second.iterations, second.start)
    for a, b in ((first.x, second.x), (first.C, second.C)):
        assert np.array_equal(a, b)
    for name in ("one", "two", "T", "V", "PS", "PH", "linked", "LS", "LH"):
        assert np.array_equal(getattr(first.sites, name), getattr(second.sites, name)), name


# Edges whose outcome is published for the constants of the learned prior.


def test_without_games_everybody_is_where_the_pool_is_expected() -> None:
    posterior = fit.cold(pool(5, prior=PLAIN))
    assert posterior.x == pytest.approx(np.append(np.full(9, 2000.0), 0.0))
    expected = (posterior.hyper.s**2 + 500.0**2 + 300.0**2) ** 0.5
    assert sds(posterior, 5) == pytest.approx(np.full(5, expected), rel=0.01)
    assert expected == pytest.approx(680.0, abs=2.0)


def test_nobody_at_all() -> None:
    posterior = fit.cold(pool(0))
    assert posterior.x == pytest.approx(np.append(np.full(4, 2000.0), 0.0))
    again = fit.warm(pool(2), posterior.hyper, posterior.sites, posterior.x)
    assert again.x == pytest.approx(np.append(np.full(6, 2000.0), 0.0))


def test_five_wins_and_an_idle_third() -> None:
    posterior = fit.cold(pool(3, [(0, 1, 5, 0, 0)], prior=PLAIN))
    assert posterior.x[:3] == pytest.approx([2407, 1593, 2000], abs=6)
    assert sds(posterior, 3) == pytest.approx([608, 608, 685], rel=0.01)


def test_five_hundred_wins() -> None:
    posterior = fit.cold(pool(3, [(0, 1, 500, 0, 0)], prior=PLAIN))
    assert posterior.x[:3] == pytest.approx([2742, 1258, 2000], abs=15)


def test_an_anchor_that_loses() -> None:
    posterior = fit.cold(pool(3, [(0, 1, 5, 0, 0)], anchors=[(1, 1500, 1)], prior=PLAIN))
    assert posterior.x[:3] == pytest.approx([2433, 1500, 2163], abs=6)
    assert sds(posterior, 1) == pytest.approx([463], rel=0.01)


def test_even_results_everywhere() -> None:
    """Half of 200 games for every pair of 64: the width step must not run away, and all differences are known well."""
    n = 64
    cells = [(i, j, 100, 0, 100) for i in range(n) for j in range(i + 1, n)]
    posterior = fit.cold(pool(n, cells, prior=PLAIN))
    center = np.eye(n) - 1.0 / n
    centered = np.sqrt(np.diagonal(center @ posterior.C[:n, :n] @ center))
    assert centered == pytest.approx(np.full(n, 2.0), rel=0.3)
    assert posterior.x[:n] == pytest.approx(np.full(n, 2000.0), abs=1e-6)
    assert sum(posterior.iterations) < 300


def test_two_groups_that_never_met() -> None:
    truth = np.random.default_rng(3).normal(2000.0, 300.0, 10)
    group = simulated(truth, 300, 4)
    both = replace(
        group,
        n=20,
        first=np.concatenate([group.first, group.first + 10]),
        second=np.concatenate([group.second, group.second + 10]),
        **{name: np.tile(getattr(group, name), 2) for name in ("wins", "draws", "losses")},
    )
    posterior = fit.cold(both)
    mean = np.concatenate([np.full(10, 0.1), np.full(10, -0.1)])
    assert 100 < float(mean @ posterior.C[:20, :20] @ mean) ** 0.5 < 250
    within = [difference(posterior, i, j)[1] for i in range(10) for j in range(i)]
    across = [difference(posterior, i, j + 10)[1] for i in range(10) for j in range(10)]
    assert np.median(within) < np.median(across) - 50


HARD: dict[str, Pool] = {
    "hundreds to nothing": pool(3, [(0, 1, 500, 0, 0), (1, 2, 500, 0, 0)]),
    "a ladder of clean sweeps": pool(12, [(i, i + 1, 1000, 0, 0) for i in range(11)]),
    "all games drawn": pool(16, [(i, j, 0, 200, 0) for i in range(16) for j in range(i + 1, 16)]),
    "lost everything": pool(9, [(8, j, 0, 0, 40) for j in range(8)] + [(0, j, 3, 0, 3) for j in range(1, 8)]),
    "a certain anchor loses": pool(2, [(0, 1, 5000, 0, 0)], anchors=[(1, 1500, 1e-6)]),
    "anchors that disagree": pool(2, [(0, 1, 0, 0, 500)], anchors=[(0, 3000, 1), (1, 1000, 1)]),
    "anchors alone": pool(2, [(0, 1, 3, 1, 2)], anchors=[(0, 2100, 1), (1, 1900, 30)]),
    "a far anchor": pool(4, [(0, 1, 9, 0, 0), (2, 3, 1, 0, 1)], anchors=[(1, 9000, 1)]),
    "the first move decides": pool(4, [(i, j, 30, 0, 0) for i in range(4) for j in range(4) if i != j]),
    "one": pool(1),
}


@pytest.mark.parametrize("name", HARD)
def test_hard_pools_stay_finite_and_definite(name: str) -> None:
    posterior = fit.cold(HARD[name])
    for part in (
        posterior.x,
        posterior.C,
        posterior.sites.T,
        posterior.sites.V,
        posterior.sites.PS,
        posterior.sites.PH,
    ):
        assert np.isfinite(part).all()
    assert (np.linalg.eigvalsh(posterior.C) > 0).all()
    again = fit.warm(HARD[name], posterior.hyper, posterior.sites, posterior.x)
    assert apart(again, posterior, HARD[name].n) < 0.05


@st.composite
def pools(draw: st.DrawFn) -> Pool:
    n = draw(st.integers(1, 7))
    index = st.integers(0, n - 1)
    pairs = draw(st.lists(st.tuples(index, index).filter(lambda p: p[0] != p[1]), unique=True, max_size=12))
    counts = st.integers(0, 30)
    cells = [(*pair, draw(counts), draw(st.integers(0, 5)), draw(counts)) for pair in pairs]
    value = st.floats(500.0, 3500.0)
    anchors = [(i, draw(value), draw(st.floats(0.5, 100.0))) for i in draw(st.lists(index, unique=True, max_size=2))]
    own = [(i, draw(value), draw(st.floats(20.0, 400.0))) for i in draw(st.lists(index, unique=True, max_size=2))]
    link = st.tuples(index, index, st.none() | st.floats(10.0, 300.0), st.booleans()).filter(lambda p: p[0] > p[1])
    links = {new: (new, *rest) for new, *rest in draw(st.lists(link, max_size=4))}
    return pool(n, cells, anchors=anchors, own=own, links=list(links.values()))


@given(pools(), st.booleans())
@settings(max_examples=40)
def test_any_small_pool(of: Pool, learned: bool) -> None:
    """Finite, positive definite, settled: on from a cold refit nothing moves by more than a twentieth of an sd."""
    of = replace(of, prior=replace(of.prior, learned=learned))
    posterior = fit.cold(of)
    assert np.isfinite(posterior.x).all()
    assert (np.linalg.eigvalsh(posterior.C) > 0).all()
    assert np.array_equal(posterior.C, posterior.C.T)
    assert posterior.C.flags.c_contiguous
    assert apart(fit.warm(of, posterior.hyper, posterior.sites, posterior.x), posterior, of.n) < 0.05
    x, C = fit.rebuild(of, posterior.hyper, posterior.sites)
    assert np.array_equal(x, posterior.x)
    assert np.array_equal(C, posterior.C)


def test_the_order_of_results_changes_nothing() -> None:
    given_pool, _ = normal_pool(12, 200, draw=0.3)
    same(fit.cold(given_pool), fit.cold(shuffled(given_pool, 9)))


def test_the_fixed_point_is_reached() -> None:
    """The refit's own tolerance is a thousandth of an sd: fifty more rounds stay within a hundredth."""
    given_pool, _ = normal_pool(20, 300, 5)
    posterior = fit.cold(given_pool)
    on = fit.warm(given_pool, posterior.hyper, posterior.sites, posterior.x, follow=(None, (0,) * 50))
    assert apart(on, posterior, 20) < 0.05
    assert np.abs(sds(on, 20) / sds(posterior, 20) - 1).max() < 0.02


def test_warm_refits_lead_where_a_cold_one_with_the_same_width_is() -> None:
    """A hundred results arrive in tens; warm all the way against warm at once from the last."""
    late, _ = normal_pool(16, 400, 6)
    early = replace(late, wins=np.floor(late.wins / 2), losses=np.floor(late.losses / 2))
    now = fit.cold(early)
    hyper = now.hyper
    for share in (0.2, 0.4, 0.6, 0.8, 1.0):
        step = replace(
            late,
            wins=early.wins + np.floor(share * (late.wins - early.wins)),
            losses=early.losses + np.floor(share * (late.losses - early.losses)),
        )
        now = fit.warm(step, hyper, now.sites, now.x)
    nobody = np.zeros(0, dtype=np.int64)
    nothing = replace(now.sites, one=nobody, two=nobody, T=np.zeros(0), V=np.zeros(0))
    settled = fit.warm(late, hyper, now.sites, now.x, follow=(None, (0,) * 60))
    fresh = fit.warm(late, hyper, nothing, now.x, follow=(None, (0,) * 60))
    assert apart(now, settled, 16) < 0.05
    assert apart(fresh, settled, 16) < 0.01


def test_versions_pairs_and_voids_come_and_go() -> None:
    given_pool, _ = normal_pool(10, 150, 7)
    now = fit.cold(given_pool)
    more = replace(
        given_pool,
        n=12,
        first=np.append(given_pool.first, [10, 11]),
        second=np.append(given_pool.second, [3, 10]),
        wins=np.append(given_pool.wins, [2.0, 1.0]),
        draws=np.append(given_pool.draws, [0.0, 0.0]),
        losses=np.append(given_pool.losses, [1.0, 0.0]),
    )
    grown = fit.warm(more, now.hyper, now.sites, now.x)
    assert len(grown.sites.PS) == 12
    assert sds(grown, 12)[11] > sds(grown, 12)[10] > sds(now, 10).max()
    back = {name: np.where(more.first >= 10, 0.0, getattr(more, name)) for name in ("wins", "losses")}
    voided = fit.warm(replace(more, **back), now.hyper, grown.sites, grown.x)
    assert np.array_equal(voided.sites.one, now.sites.one)
    assert apart(voided, now, 10) < 0.05


def test_a_version_that_stops_being_an_anchor_begins_as_a_newcomer() -> None:
    given_pool, _ = normal_pool(8, 200, 8)
    now = fit.cold(given_pool)
    free = replace(given_pool, anchors=tuple(anchor[:1] for anchor in given_pool.anchors))
    later = fit.warm(free, now.hyper, now.sites, now.x)
    assert later.sites.PS[1, 0, 0] > 0
    assert (later.sites.PS[0] == 0).all()
    assert sds(later, 8)[1] > 5


@pytest.mark.parametrize("learned", [True, False])
def test_a_recorded_refit_is_followed_bit_for_bit(learned: bool) -> None:
    given_pool, _ = normal_pool(14, 200, 9, draw=0.3, advantage=40.0)
    given_pool = replace(given_pool, prior=replace(given_pool.prior, learned=learned))
    posterior = fit.cold(given_pool)
    same(posterior, fit.cold(given_pool, follow=(posterior.start, posterior.iterations)))
    more = replace(given_pool, wins=given_pool.wins + 1)
    on = fit.warm(more, posterior.hyper, posterior.sites, posterior.x)
    same(on, fit.warm(more, posterior.hyper, posterior.sites, posterior.x, follow=(None, on.iterations)))


def test_following_ends_where_the_recorded_refit_did() -> None:
    """Whatever the last round was: one after which a slow drift would have been followed faster, too."""
    for seed in range(12):
        given_pool, _ = normal_pool(5 + seed, 20 + 30 * seed, seed)
        posterior = fit.cold(given_pool)
        same(posterior, fit.cold(given_pool, follow=(posterior.start, posterior.iterations)))
        more = replace(given_pool, losses=given_pool.losses + (given_pool.first == 2))
        on = fit.warm(more, posterior.hyper, posterior.sites, posterior.x)
        same(on, fit.warm(more, posterior.hyper, posterior.sites, posterior.x, follow=(None, on.iterations)))


def test_following_takes_over_start_and_iterations() -> None:
    given_pool, _ = normal_pool(14, 100, 10)
    posterior = fit.cold(given_pool)
    other = fit.cold(given_pool, follow=(3, (*posterior.iterations[:-1], 7)))
    assert (other.start, other.iterations) == (3, (*posterior.iterations[:-1], 7))


def test_equals_are_looked_for_about_a_single_center() -> None:
    """Three centers would take chance for groups."""
    truth = np.full(40, 2000.0)
    truth[:2] = 1800.0, 2400.0
    given_pool = simulated(truth, 1200, 3)
    three = fit.cold(replace(given_pool, prior=replace(given_pool.prior, gathered=False)))
    posterior = fit.cold(given_pool)
    assert (three.start, len(three.hyper.w)) == (4, 3)
    assert (posterior.start, posterior.hyper.w) == (5, (1.0,))
    assert posterior.iterations[:7] == three.iterations[:7]
    assert posterior.x[2:40].std() < three.x[2:40].std()
    same(posterior, fit.cold(given_pool, follow=(posterior.start, posterior.iterations)))
    same(three, fit.cold(given_pool, follow=(three.start, three.iterations)))
    x, C = fit.rebuild(given_pool, posterior.hyper, posterior.sites)
    assert np.array_equal(x, posterior.x)
    assert np.array_equal(C, posterior.C)
    more = replace(given_pool, wins=given_pool.wins + 1)
    assert len(fit.warm(more, posterior.hyper, posterior.sites, posterior.x).x) == 43


def test_strengths_that_differ_are_not_looked_for_as_equals() -> None:
    given_pool, _ = normal_pool(14, 200, 9)
    posterior = fit.cold(given_pool)
    assert len(posterior.iterations) == 8  # two stages before the starts, five starts, the last stage
    assert posterior.hyper.equals == 0.0


def test_rebuilding_other_counts_is_refused() -> None:
    given_pool, _ = normal_pool(6, 30, 11)
    posterior = fit.cold(given_pool)
    with pytest.raises(ValueError, match="do not belong to these counts"):
        fit.rebuild(
            replace(given_pool, wins=given_pool.wins * 0, losses=given_pool.losses * 0),
            posterior.hyper,
            posterior.sites,
        )


@pytest.mark.parametrize("learned", [True, False])
def test_advantage_and_draws_are_learned(learned: bool) -> None:
    """40 % draws between equals (nu = 4/3) and 60 Elo for the first move, from 12 000 games."""
    given_pool, truth = normal_pool(30, 12_000, 12, draw=4 / 3, advantage=60.0)
    posterior = fit.cold(replace(given_pool, prior=replace(given_pool.prior, learned=learned)))
    assert posterior.hyper.advantage == pytest.approx(60.0, abs=12.0)
    assert posterior.hyper.draw == pytest.approx(4 / 3, rel=0.1)
    error = posterior.x[:30] - truth
    assert float(((error / sds(posterior, 30)) ** 2).mean()) < 2
    assert sds(posterior, 30).max() < 40


def test_an_advantage_of_no_width_is_not_learned() -> None:
    given_pool, _ = normal_pool(8, 400, 13, advantage=80.0)
    off = replace(given_pool, prior=PLAIN)
    assert fit.cold(off).hyper.advantage == 0.0
    assert fit.cold(given_pool).hyper.advantage > 30.0


def test_colors_of_a_pair_multiply() -> None:
    """Without an advantage it does not matter who had the first move; with one, wins by it weigh less."""
    listed = pool(2, [(0, 1, 6, 0, 4), (1, 0, 3, 0, 7)], prior=PLAIN)
    merged = pool(2, [(0, 1, 13, 0, 7)], prior=PLAIN)
    assert fit.cold(listed).x == pytest.approx(fit.cold(merged).x, abs=1e-6)
    always = pool(2, [(0, 1, 8, 0, 2)])
    known = Hyper(s=350.0, w=(1 / 3,) * 3, advantage=100.0)
    empty = fit.cold(pool(0)).sites
    with_it, without = (fit.warm(always, replace(known, advantage=h), empty, np.zeros(0)) for h in (100.0, 0.0))
    assert difference(with_it, 0, 1)[0] < difference(without, 0, 1)[0] - 50


def test_a_link_carries_a_predecessors_strength() -> None:
    given_pool, _ = normal_pool(8, 2000, 14)
    newcomer = replace(given_pool, n=9)
    alone = fit.cold(newcomer)
    successor = fit.cold(replace(newcomer, links=linked([(8, 5, 40.0, True)])))
    assert 40 < difference(successor, 8, 5)[1] == pytest.approx((40**2 + MEAN_STEP_SD**2) ** 0.5, rel=0.01)
    assert abs(difference(successor, 8, 5)[0]) < 20
    assert difference(alone, 8, 5)[1] > 250


def test_outside_knowledge_keeps_the_prior_factor() -> None:
    prior = Prior(initial=2000.0)
    known, idle = fit.cold(pool(2, own=[(0, 2500, 100)], prior=prior)), fit.cold(pool(2, prior=prior))
    assert 2400 < known.x[0] < 2500
    assert sds(known, 2)[0] < 100 < sds(idle, 2)[0]
    assert known.sites.PS[0, 0, 0] > 0


def test_four_components_and_two_work_too() -> None:
    given_pool, truth = normal_pool(12, 600, 15)
    for count in (1, 2, 4):
        posterior = fit.cold(replace(given_pool, prior=replace(given_pool.prior, components=count)))
        assert len(posterior.hyper.w) == count
        assert len(posterior.x) == 12 + count + 2
        assert np.abs((posterior.x[:12] - truth) / sds(posterior, 12)).max() < 5


def test_the_precision_is_positive_definite_as_assembled() -> None:
    given_pool, _ = normal_pool(70, 700, 16, draw=0.2)
    posterior = fit.cold(given_pool)
    joint = join(given_pool, 3)
    sites = posterior.sites
    PS, PH = sites.PS[joint.roots], sites.PH[joint.roots]
    precision, _ = joint.with_sites(Factors(sites.T, sites.V, PS=PS, PH=PH, LS=sites.LS, LH=sites.LH))
    assert (np.linalg.eigvalsh(precision) > 0).all()
    assert invert(precision).matrix == pytest.approx(posterior.C, rel=1e-9, abs=1e-6)
