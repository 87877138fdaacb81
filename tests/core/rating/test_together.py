"""What is known of many versions together: the literal posterior, scaled as results came, for any choice of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from support.core.bayes_venue import BAYES, FIXED, Venue, pool

from cgos_server.core.rating.bayes.system import Bayes
from cgos_server.core.rating.whole_history.system import WholeHistory

Floats = NDArray[np.float64]


def literal(venue: Venue) -> tuple[Floats, Floats]:
    """Covariance and G of all who joined, by index, seen from their mean."""
    belief = venue.state.belief
    k, n = belief._k, belief.n
    C = np.array([[belief._C[k + i, k + j] for j in range(n)] for i in range(n)])
    from_mean = np.eye(n) - 1.0 / n
    gain = np.array(belief._gain)
    if not venue.state.anchors:
        C, gain = from_mean @ C @ from_mean, np.array(belief._gain_centered)
    scale = 1.0 / np.sqrt(1.0 + np.diagonal(C) * gain)
    C = C * np.outer(scale, scale)
    free = np.diag([float(i not in venue.state.anchors) for i in range(n)])
    return from_mean @ C @ from_mean, from_mean @ C @ free @ C @ from_mean


@pytest.mark.parametrize("system", [BAYES, FIXED])
@pytest.mark.parametrize("anchors", [0, 2])
def test_it_is_the_posterior_and_its_product_over_those_who_are_no_anchors(system: Bayes, anchors: int) -> None:
    venue, _ = pool(11, 9, 80, anchors=anchors, system=system)
    venue.refit()
    for _ in range(6):
        venue.play(3, 7, "+-+")
    C, G = literal(venue)
    versions = [7, 2, 1, 9]
    joint = system.joint(venue.state, versions)
    places = [venue.state.index[version] for version in versions]
    assert joint.covariance == pytest.approx(C[np.ix_(places, places)], rel=1e-9)
    assert joint.gram == pytest.approx(G[np.ix_(places, places)], rel=1e-9)


def spread(matrix: Floats, first: int, second: int) -> float:
    """Quadratic form of the difference of two versions, numbered from 1."""
    a, b = first - 1, second - 1
    return float(matrix[a, a] + matrix[b, b] - 2 * matrix[a, b])


def test_results_since_the_refit_narrow_it_as_they_narrow_the_ratings_shown() -> None:
    venue, _ = pool(12, 9, 60)
    venue.refit()
    before = BAYES.joint(venue.state, range(1, 10)).covariance
    for _ in range(6):
        venue.play(3, 7, "+-+")
    after = BAYES.joint(venue.state, range(1, 10)).covariance
    assert np.linalg.eigvalsh(after).min() > -1e-6
    for first, second in ((3, 7), (3, 4), (5, 6)):
        assert spread(after, first, second) == pytest.approx(venue.difference(first, second)[1], rel=1e-9)
    assert spread(after, 3, 7) < 0.98 * spread(before, 3, 7)
    assert spread(after, 5, 6) == pytest.approx(spread(before, 5, 6))


def test_a_result_takes_the_trace_down_by_the_quadratic_form() -> None:
    """Against a literal Kalman update of the whole covariance, anchors' hold on the height included."""
    venue, _ = pool(15, 9, 80)
    venue.refit()
    belief = venue.state.belief
    k, n = belief._k, belief.n
    C = np.array([[belief._C[k + i, k + j] for j in range(n)] for i in range(n)])
    free = [i for i in range(n) if i not in venue.state.anchors]
    joint = BAYES.joint(venue.state, [9, 4])
    f = 1e-5
    d = np.zeros(n)
    d[venue.state.index[9]], d[venue.state.index[4]] = 1.0, -1.0
    along = C @ d
    after = C - np.outer(along, along) * f / (1.0 + f * d @ along)
    dropped = sum(C[i, i] - after[i, i] for i in free)
    expected = f * spread(joint.gram, 1, 2) / (1.0 + f * spread(joint.covariance, 1, 2))
    assert expected == pytest.approx(dropped, rel=1e-9)


@pytest.mark.parametrize("system", [BAYES, FIXED])
def test_versions_that_have_not_joined_are_as_if_they_had(system: Bayes) -> None:
    venue, _ = pool(13, 8, 50, system=system)
    venue.refit()
    venue.play(3, 5, "++-")
    venue.enter(20, 21)
    waiting = system.joint(venue.state, [20, 4, 1, 21, 5])
    venue.joined()
    joined = system.joint(venue.state, [20, 4, 1, 21, 5])
    for version in range(1, 6):
        for other in range(version + 1, 6):
            for before, after in zip(waiting, joined, strict=True):
                assert spread(before, version, other) == pytest.approx(spread(after, version, other), rel=1e-9)


@pytest.mark.parametrize("anchors", [0, 2])
def test_the_height_of_the_pool_does_not_drown_the_differences(anchors: int) -> None:
    """Without anchors nothing is known of it, and single precision must still tell what games are worth."""
    venue, _ = pool(16, 12, 400, anchors=anchors)
    venue.refit()
    joint = BAYES.joint(venue.state, range(1, 13))
    for matrix in joint:
        short = matrix.astype(np.float32).astype(np.float64)
        for first, second in ((3, 7), (5, 6), (11, 12)):
            assert spread(short, first, second) == pytest.approx(spread(matrix, first, second), rel=1e-3)


def test_before_anybody_has_joined_all_are_alike() -> None:
    venue = Venue()
    venue.enter(1, 2, 3)
    joint = BAYES.joint(venue.state, [3, 1, 2])
    assert np.ptp(np.diagonal(joint.covariance)) == 0
    assert joint.covariance[0, 0] > 0
    assert joint.gram == pytest.approx(joint.covariance @ joint.covariance)
    assert BAYES.joint(venue.state, []).gram.shape == (0, 0)
    with pytest.raises(KeyError):
        BAYES.joint(venue.state, [1, 9])


def test_a_snapshot_stays_as_it_was_whatever_happens_next() -> None:
    venue, _ = pool(14, 8, 50)
    venue.refit()
    venue.anchor(5, 2100.0)  # from here on the belief owns its covariance and writes to it
    versions = [1, 4, 5, 8]
    expected = BAYES.joint(venue.state, versions)
    taken = BAYES.snapshot(venue.state, versions)
    venue.play(4, 8, "+++")
    venue.anchor(8, 2500.0)
    venue.enter(30, value=1900.0, sd=50.0)
    joint = taken.compute()
    assert (joint.covariance == expected.covariance).all()
    assert (joint.gram == expected.gram).all()
    now = BAYES.joint(venue.state, versions)
    assert spread(now.covariance, 2, 4) < 0.9 * spread(expected.covariance, 2, 4)


@pytest.mark.parametrize("system", [FIXED, WholeHistory(2000.0)])
@pytest.mark.parametrize("anchors", [0, 2])
def test_joint_ratings_are_those_shown_with_their_covariance(system: Any, anchors: int) -> None:
    venue, _ = pool(11, 9, 80, anchors=anchors, system=system)
    venue.refit()
    venue.play(3, 7, "+-+")
    joint = system.joint_ratings(venue.state, [7, 3, 9])
    shown = venue.ratings()
    assert joint.means == pytest.approx([shown[version].mean for version in (7, 3, 9)])
    assert np.sqrt(np.diagonal(joint.covariance)) == pytest.approx([shown[version].spread for version in (7, 3, 9)])
    apart = joint.covariance[0, 0] + joint.covariance[2, 2] - 2.0 * joint.covariance[0, 2]
    if anchors:
        assert apart == pytest.approx(venue.difference(7, 9)[1])
    assert np.linalg.eigvalsh(joint.covariance).min() > 0.0
    assert joint.note == ""


def test_an_anchor_that_is_hardly_known_is_an_error_that_all_share() -> None:
    venue, _ = pool(11, 9, 300, anchors=0)
    venue.anchor(1, 2000.0, sd=60.0)
    venue.refit()
    covariance = BAYES.joint_ratings(venue.state, [7, 3, 9]).covariance
    assert covariance.min() > 0.7 * 60.0**2


def test_a_version_of_which_nothing_is_known_is_as_uncertain_as_it_is_shown() -> None:
    venue, _ = pool(11, 9, 80)
    venue.enter(20)
    joint = BAYES.joint_ratings(venue.state, [20, 3])
    shown = venue.ratings()[20]
    assert joint.means[0] == pytest.approx(shown.mean)
    assert joint.covariance[0].tolist() == pytest.approx([shown.spread**2, 0.0])


def test_games_tell_what_the_first_move_is_worth() -> None:
    few, many = (BAYES.joint_ratings(pool(11, 9, games)[0].state, [3]).first_move_sd for games in (10, 400))
    assert 15.0 < many < 25.0 < 45.0 < few < BAYES.advantage_sd
    assert Bayes(2000.0, advantage_sd=0.0).joint_ratings(pool(11, 9, 10)[0].state, [3]).first_move_sd == 0.0
