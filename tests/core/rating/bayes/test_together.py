"""What is known of many versions together: the literal posterior, scaled as results came, for any choice of versions."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from support.bayes_venue import BAYES, FIXED, Venue, pool

from cgos_server.core.rating.bayes.system import Bayes

Floats = NDArray[np.float64]


def literal(venue: Venue) -> tuple[Floats, Floats]:
    """Covariance of all who joined, by index, and G, element by element."""
    belief = venue.state.belief
    k, n = belief._k, belief.n
    C = np.array([[belief._C[k + i, k + j] for j in range(n)] for i in range(n)])
    scale = [np.sqrt(belief.marginal(i)[1] / C[i, i]) for i in range(n)]
    C *= np.outer(scale, scale)
    free = [i for i in range(n) if i not in venue.state.anchors]
    G = np.array([[sum(C[i, f] * C[f, j] for f in free) for j in range(n)] for i in range(n)])
    return C, G


@pytest.mark.parametrize("system", [BAYES, FIXED])
def test_it_is_the_posterior_and_its_product_over_those_who_are_no_anchors(system: Bayes) -> None:
    venue, _ = pool(11, 9, 80, anchors=2, system=system)
    venue.refit()
    C, G = literal(venue)
    asked = [7, 2, 1, 9]
    found = system.joint(venue.state, asked)
    places = [venue.state.index[version] for version in asked]
    assert found.covariance == pytest.approx(C[np.ix_(places, places)], rel=1e-9)
    assert found.gram == pytest.approx(G[np.ix_(places, places)], rel=1e-9)


def test_results_since_the_refit_narrow_it_as_they_narrow_the_ratings_shown() -> None:
    venue, _ = pool(12, 9, 60)
    venue.refit()
    before = BAYES.joint(venue.state, range(1, 10))
    for _ in range(6):
        venue.play(3, 7, "+-+")
    after = BAYES.joint(venue.state, range(1, 10))
    C, G = literal(venue)
    assert after.covariance == pytest.approx(C, rel=1e-9)
    assert after.gram == pytest.approx(G, rel=1e-9)
    narrowed = np.diagonal(after.covariance) / np.diagonal(before.covariance)
    assert (narrowed[[2, 6]] < 0.98).all()
    assert np.delete(narrowed, [2, 6]) == pytest.approx(1.0)
    assert np.linalg.eigvalsh(after.covariance).min() > 0
    for one, other in ((3, 7), (3, 4), (5, 6)):
        at = after.covariance
        variance = at[one - 1, one - 1] + at[other - 1, other - 1] - 2 * at[one - 1, other - 1]
        assert variance == pytest.approx(venue.difference(one, other)[1], rel=1e-9)


@pytest.mark.parametrize("system", [BAYES, FIXED])
def test_versions_that_have_not_joined_are_as_if_they_had(system: Bayes) -> None:
    venue, _ = pool(13, 8, 50, system=system)
    venue.refit()
    venue.play(3, 5, "++-")
    venue.enter(20, 21)
    asked = [20, 4, 1, 21, 5]
    waiting = system.joint(venue.state, asked)
    venue.joined()
    joined = system.joint(venue.state, asked)
    assert waiting.covariance == pytest.approx(joined.covariance, rel=1e-9)
    assert waiting.gram == pytest.approx(joined.gram, rel=1e-9)


def test_before_anybody_has_joined_all_are_alike() -> None:
    venue = Venue()
    venue.enter(1, 2, 3)
    found = BAYES.joint(venue.state, [3, 1, 2])
    assert np.ptp(np.diagonal(found.covariance)) == 0
    assert 0 < found.covariance[0, 1] < found.covariance[0, 0]
    assert found.gram == pytest.approx(found.covariance @ found.covariance)
    assert BAYES.joint(venue.state, []).gram.shape == (0, 0)
    with pytest.raises(KeyError):
        BAYES.joint(venue.state, [1, 9])


def test_a_snapshot_stays_as_it_was_whatever_happens_next() -> None:
    venue, _ = pool(14, 8, 50)
    venue.refit()
    venue.anchor(5, 2100.0)  # from here on the belief owns its covariance and writes to it
    asked = [1, 4, 5, 8]
    expected = BAYES.joint(venue.state, asked)
    taken = BAYES.snapshot(venue.state, asked)
    venue.play(4, 8, "+++")
    venue.anchor(8, 2500.0)
    venue.enter(30, value=1900.0, sd=50.0)
    found = taken.compute()
    assert (found.covariance == expected.covariance).all()
    assert (found.gram == expected.gram).all()
    now = BAYES.joint(venue.state, asked)
    assert now.covariance[3, 3] < 4.0 < expected.covariance[3, 3]
