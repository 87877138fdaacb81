"""The fold of the headline rating: what it counts, how it steps, what it shows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from support.core.bayes_venue import BAYES, FIXED, Venue, pool, random_games

from cgos_protocol.errors import OurFault
from cgos_server.core.rating.base import Z95, Entry, Kind, RatingSystem, Refitting, normal_rating
from cgos_server.core.rating.bayes.likelihood import step as likelihood_step
from cgos_server.core.rating.bayes.system import Bayes


def test_it_is_a_rating_system_with_refits() -> None:
    system: RatingSystem = BAYES
    assert isinstance(system, Refitting)
    assert (system.name, system.sure) == ("bayes", True)


# --- steps -----------------------------------------------------------------------------------------------------------


def test_a_step_is_one_newton_step_along_the_refits_covariance() -> None:
    venue, _ = pool(1, 6, 60)
    venue.refit()
    belief, hyper = venue.state.belief, venue.state.base.hyper
    k, C, x = 5, belief._C.copy(), belief._x[:11].copy()
    a, b = 2, 5
    slope, weight = likelihood_step(x[k + a] - x[k + b], 1.0, hyper.advantage, hyper.draw)
    along = C[:, k + a] - C[:, k + b]
    variance = along[k + a] - along[k + b]
    venue.game(3, 6, 2)
    assert belief._x[:11] == pytest.approx(x + along * slope / (1 + weight * variance), abs=1e-9)
    for at in (a, b):
        shrunk = C[k + at, k + at] - weight * along[k + at] ** 2 / (1 + weight * variance)
        assert belief.marginal(at)[1] == pytest.approx(shrunk, rel=1e-9)


def test_a_step_hardly_differs_from_a_refit() -> None:
    """A settled pool: 100 results on top of 1200 that the refit knows, and then another refit."""
    venue, true = pool(2, 12, 1200)
    venue.refit()
    for entry in random_games(np.random.default_rng(3), true, 100):
        venue.game(*entry)
    stepped = venue.ratings()
    venue.refit(cold=False)
    for version, rating in venue.ratings().items():
        assert abs(stepped[version].mean - rating.mean) < 0.05 * rating.spread
        assert stepped[version].spread == pytest.approx(rating.spread, rel=0.03)


def test_ratings_do_not_swing_where_no_refit_comes() -> None:
    venue, _ = pool(4, 10, 400)
    stepped = venue.ratings()
    venue.refit()
    for version, rating in venue.ratings().items():
        assert abs(stepped[version].mean - rating.mean) < 3.0 * rating.spread


def test_both_sides_change_and_before_is_where_they_stood() -> None:
    venue, _ = pool(5, 5, 30)
    before = venue.ratings()
    changes = venue.game(3, 4, 2)
    after = venue.ratings()
    assert [change.version for change in changes] == [3, 4]
    for change in changes:
        assert change.before.mean == pytest.approx(before[change.version].mean, abs=1e-9)
        assert change.after.mean == pytest.approx(after[change.version].mean, abs=1e-9)
        assert change.after.spread == pytest.approx(after[change.version].spread, rel=1e-9)
        assert change.after.games == change.before.games + 1
        assert change.after.spread < change.before.spread
    assert changes[0].after.mean > changes[0].before.mean
    assert changes[1].after.mean < changes[1].before.mean


def test_before_any_draw_a_drawn_game_is_half_a_win_and_makes_a_cold_refit_due() -> None:
    venue, _ = pool(6, 4, 40)
    venue.refit()
    assert not venue.system.wanted(venue.state).cold
    before = venue.difference(1, 3)[0]
    belief, hyper = venue.state.belief, venue.state.base.hyper
    assert hyper.draw == 0.0
    mean, variance = belief.joint_difference(0, 2)
    slope, weight = likelihood_step(mean, 0.5, hyper.advantage, 0.0)
    venue.game(1, 3, 1)
    assert venue.difference(1, 3)[0] - before == pytest.approx(variance * slope / (1 + weight * variance), abs=1e-9)
    assert venue.system.wanted(venue.state).cold
    venue.refit()
    assert venue.state.base.hyper.draw > 0
    assert not venue.system.wanted(venue.state).cold
    assert venue.system.predict(venue.state, 3, 4).draw > 0


def test_a_repeated_game_is_only_counted_as_played() -> None:
    venue, _ = pool(7, 4, 20)
    wanted, ratings = venue.system.wanted(venue.state), venue.ratings()
    changes = venue.game(3, 4, 2, repeat=True)
    assert venue.system.wanted(venue.state) == wanted
    for change in changes:
        assert change.after == change.before._replace(games=change.before.games + 1)
    for version, rating in venue.ratings().items():
        assert rating == ratings[version]._replace(games=ratings[version].games + (version in (3, 4)))


# --- what it comes to ------------------------------------------------------------------------------------------------


def test_a_cold_refit_does_not_know_the_order_of_results() -> None:
    venue, _ = pool(8, 6, 80)
    other = Venue()
    games = [entry for entry in venue.entries if entry.kind is Kind.GAME]
    for entry in venue.entries[:8]:
        other.say(entry.kind, entry.version, value=entry.value)
        other.joined()
    for at in np.random.default_rng(0).permutation(len(games)):
        other.game(games[at].black or 0, games[at].white or 0, games[at].score2 or 0)
    assert venue.refit().notes == other.refit().notes
    assert venue.ratings() == other.ratings()


@pytest.mark.parametrize("system", [BAYES, FIXED])
def test_a_voided_result_subtracts_exactly(system: Bayes) -> None:
    venue, _ = pool(9, 5, 40, system=system)
    other, _ = pool(9, 5, 40, system=system)
    games = venue.ratings()[3].games
    venue.game(3, 4, 2)
    before = venue.ratings()
    changes = venue.say(Kind.CORRECTION, black=3, white=4, was2=2)
    assert venue.system.wanted(venue.state).urgent
    for change in changes:
        assert change.before[:2] == change.after[:2] == pytest.approx(before[change.version][:2])
    assert venue.ratings()[3].games == games
    venue.refit()
    other.refit()
    assert not venue.system.wanted(venue.state).urgent
    assert venue.ratings() == other.ratings()


def test_a_changed_verdict_counts_as_the_new_one_and_a_restored_game_counts_again() -> None:
    venue, _ = pool(10, 4, 20)
    other, _ = pool(10, 4, 20)
    venue.game(3, 4, 2)
    venue.say(Kind.CORRECTION, black=3, white=4, was2=2, score2=None)
    venue.say(Kind.CORRECTION, black=3, white=4, was2=None, score2=2)
    venue.say(Kind.CORRECTION, black=3, white=4, was2=2, score2=1)
    other.game(3, 4, 1)
    venue.refit()
    other.refit()
    assert venue.ratings() == other.ratings()


def test_a_correction_of_what_was_never_counted_is_our_fault_and_changes_nothing() -> None:
    venue, _ = pool(11, 4, 0)
    before = venue.system.dump(venue.state)
    with pytest.raises(OurFault):
        venue.say(Kind.CORRECTION, black=3, white=4, was2=2)
    assert venue.system.dump(venue.state) == before


@pytest.mark.parametrize("system", [BAYES, FIXED])
def test_versions_that_won_or_lost_all_or_never_played_are_finite(system: Bayes) -> None:
    venue = Venue(system)
    venue.enter(1, 2, 3, 4)
    venue.anchor(1, 1800.0)
    venue.play(2, 1, "+" * 20)
    venue.play(3, 1, "-" * 20)
    for cold in (True, False):
        venue.refit(cold)
        ratings = venue.ratings()
        assert ratings[2].mean > 1800 > ratings[3].mean
        assert all(math.isfinite(rating.mean) and 0 < rating.spread < 1000 for rating in ratings.values())
        assert ratings[4].provisional
        assert ratings[4].spread > ratings[2].spread


def test_groups_that_never_met_are_each_fine_and_far_from_sure_of_each_other() -> None:
    venue = Venue()
    venue.enter(1, 2, 3, 4)
    venue.play(1, 2, "+-" * 30)
    venue.play(3, 4, "+-" * 30)
    venue.refit()
    within, across = venue.difference(1, 2)[1], venue.difference(1, 3)[1]
    assert math.sqrt(within) < 70
    assert math.sqrt(across) > 150


def test_new_versions_are_as_unsure_as_the_prior_is_wide() -> None:
    """Center, their common mean and width: 500, 300 and 350 Elo together."""
    venue = Venue()
    venue.enter(1)
    entered = venue.ratings()[1]
    venue.joined()
    assert venue.ratings()[1][2:5] == entered[2:5]
    mean, variance = venue.state.belief.marginal(0)
    assert mean == 2000.0
    assert variance == pytest.approx(500**2 + 300**2 + 350**2 + 0.005 * 1000**2)
    venue.refit()
    mean, variance = venue.state.belief.marginal(0)
    assert mean == pytest.approx(2000.0)
    assert math.sqrt(variance) == pytest.approx(684, rel=0.02)


def test_who_enters_after_a_refit_stands_where_the_next_refit_puts_it() -> None:
    venue, _ = pool(12, 8, 160)
    venue.refit()
    venue.enter(99)
    newcomer = venue.ratings()[99]
    ahead = [venue.system.difference(venue.state, 99, 3), venue.system.predict(venue.state, 99, 3)]
    venue.joined()
    assert venue.ratings()[99] == pytest.approx(newcomer), "waiting costs nothing and changes nothing"
    assert venue.system.difference(venue.state, 99, 3) == pytest.approx(ahead[0])
    assert venue.system.predict(venue.state, 99, 3) == pytest.approx(ahead[1])
    entered = venue.state.belief.marginal(8)
    venue.refit(cold=False)
    assert venue.state.belief.marginal(8)[0] == pytest.approx(entered[0], abs=15)
    assert venue.state.belief.marginal(8)[1] == pytest.approx(entered[1], rel=0.1)


# --- anchors, knowledge, lineage -------------------------------------------------------------------------------------


def test_an_anchor_is_shown_as_it_was_stated_and_holds_the_scale() -> None:
    venue = Venue()
    venue.enter(1, 2)
    venue.anchor(1, 1500.0)
    venue.play(2, 1, "+-+-" * 40)
    venue.refit()
    assert venue.ratings()[1] == normal_rating(1500.0, 1.0, games=160, provisional=False, anchor=True)
    assert venue.ratings()[2].mean == pytest.approx(1500, abs=15)
    venue.anchor(1, 1600.0, sd=5.0)
    assert venue.system.wanted(venue.state).urgent
    assert venue.ratings()[1][:2] == (1600.0, 5.0)
    assert venue.ratings()[2].mean == pytest.approx(1600, abs=15)
    stepped = venue.ratings()[2].mean
    venue.refit()
    assert venue.ratings()[2].mean == pytest.approx(stepped, abs=3)


def test_who_is_no_anchor_any_more_is_one_of_the_others() -> None:
    venue, _ = pool(13, 8, 200, anchors=3)
    venue.refit()
    venue.say(Kind.UNANCHOR, 3)
    freed = venue.ratings()[3]
    assert not freed.anchor
    assert freed.spread > 10
    venue.refit(cold=False)
    fitted = venue.ratings()[3]
    assert abs(freed.mean - fitted.mean) < fitted.spread
    assert venue.say(Kind.UNANCHOR, 3) == ()
    again, _ = pool(13, 8, 200, anchors=2)
    again.refit()
    venue.refit()
    assert venue.ratings()[3].mean == pytest.approx(again.ratings()[3].mean, abs=0.05)


def test_a_rating_from_elsewhere_is_knowledge_and_the_venues_own_start_is_none() -> None:
    venue = Venue()
    venue.enter(1, 2)
    venue.anchor(1, 1000.0)
    venue.enter(3, value=1500.0)  # where newcomers stood before the venue's own start was changed
    venue.enter(4, value=1200.0, sd=200.0)
    venue.enter(5, value=1200.0, sd=40.0)
    none, plain, imported, sure = (venue.ratings()[version] for version in (2, 3, 4, 5))
    assert plain[:2] == pytest.approx(none[:2])
    assert abs(imported.mean - 1200) < 100 < imported.spread
    assert abs(sure.mean - 1200) < 10
    assert sure.spread < 41 * math.sqrt(2)
    assert sure.provisional  # whatever is known: it has not played
    venue.refit()
    assert venue.ratings()[4].mean == pytest.approx(imported.mean, abs=30)


def test_a_successor_starts_from_its_predecessor() -> None:
    venue, _ = pool(14, 6, 200)
    venue.refit()
    venue.enter(20, other=5)
    venue.enter(21, other=5, sd=30.0)
    old, new, near = (venue.ratings()[version] for version in (5, 20, 21))
    assert abs(new.mean - old.mean) < 60
    assert abs(near.mean - old.mean) < 30
    learned, stated = venue.difference(20, 5)[1], venue.difference(21, 5)[1]
    hyper = venue.state.base.hyper
    assert learned - stated == pytest.approx((1 - hyper.fresh) * (hyper.step**2 - 30**2))
    assert stated > (1 - hyper.fresh) ** 2 * (30**2 + 100**2)  # the mean step is not known either
    venue.refit(cold=False)
    assert venue.ratings()[20].mean == pytest.approx(new.mean, abs=20)


def test_equals_about_one_center_are_saved_joined_and_succeeded() -> None:
    venue, _ = pool(21, 12, 0)
    for first in range(1, 13):
        for second in range(1, first):
            venue.play(first, second, "+-" * 3)
    venue.refit()
    assert venue.state.base.hyper.w == (1.0,)
    loaded = venue.system.load(venue.system.dump(venue.state))
    assert dict(venue.system.standings(loaded)) == dict(venue.ratings())
    venue.enter(30)
    venue.enter(31, other=5)
    venue.game(30, 31, 2)
    stepped = venue.ratings()
    venue.refit(cold=False)
    for version in (30, 31):
        assert abs(venue.ratings()[version].mean - stepped[version].mean) < stepped[version].spread


def test_a_link_that_is_taken_back_leaves_nothing() -> None:
    venue, _ = pool(15, 6, 100)
    venue.refit()
    before = venue.ratings()
    venue.say(Kind.LINK, 4, other=3, sd=20.0)
    venue.refit(cold=False)
    after = venue.ratings()
    assert abs(after[4].mean - after[3].mean) < abs(before[4].mean - before[3].mean) - 50
    venue.say(Kind.LINK, 4, other=3)
    venue.say(Kind.UNLINK, 4, other=3)
    venue.refit()
    for version, rating in venue.ratings().items():
        assert rating.mean == pytest.approx(before[version].mean, abs=1e-6)
        assert rating.spread == pytest.approx(before[version].spread, rel=1e-6)
    assert venue.say(Kind.UNLINK, 4, other=3) == ()


def test_residuals_find_the_anchor_that_plays_below_its_number() -> None:
    rng = np.random.default_rng(16)
    true = {version: 1600.0 + 100.0 * version for version in range(1, 9)}
    stated = {2: 1800.0, 4: 2000.0, 6: 2200.0, 8: 2400.0}
    venue = Venue()
    venue.enter(*true)
    for version, value in stated.items():
        venue.anchor(version, value)
    assert venue.system.anchor_residuals(venue.state) == []
    for game in random_games(rng, true | {4: 1800.0}, 1000):
        venue.game(*game)
    venue.refit()
    residuals = {residual.version: residual for residual in venue.system.anchor_residuals(venue.state)}
    assert set(residuals) == set(stated)
    assert residuals[4].z < -3
    assert residuals[4].mean == pytest.approx(1800, abs=4 * residuals[4].mean_sd)
    assert all(abs(residuals[version].z) < abs(residuals[4].z) / 1.5 for version in (2, 6, 8))


def test_one_anchor_alone_has_nothing_to_be_measured_by() -> None:
    venue, _ = pool(17, 4, 100, anchors=1)
    venue.refit()
    assert venue.system.anchor_residuals(venue.state) == []


# --- gauge, provisional ----------------------------------------------------------------------------------------------


def test_without_anchors_the_mean_of_the_established_is_held() -> None:
    venue, _ = pool(18, 6, 0, anchors=0)
    ratings = venue.ratings().values()
    assert all(rating.provisional for rating in ratings)
    assert np.mean([rating.mean for rating in ratings]) == pytest.approx(2000.0)
    for first, second in ((1, 2), (2, 3), (3, 1)):
        venue.play(first, second, "++-" * 40)
    venue.refit()
    venue.refit()
    established = {version for version, rating in venue.ratings().items() if not rating.provisional}
    assert established == {1, 2, 3}
    venue.refit()
    for version in (4, 5):
        venue.game(version, 6, 2)
    venue.game(1, 2, 2)
    venue.enter(7)
    venue.joined()
    ratings = venue.ratings()
    assert np.mean([ratings[version].mean for version in established]) == pytest.approx(2000.0)
    belief = venue.state.belief
    first = belief._size - belief.n
    C = belief._C[first : belief._size, first : belief._size]
    for at in (3, 6):
        row = np.zeros(len(C))
        row[at] += 1.0
        row[[0, 1, 2]] -= 1 / 3
        centered = row @ C @ row
        if at == 6:  # no results since the refit
            widened = 1 + min(belief._site[at] * C[at, at], 1)  # 87 games a version: once
            assert ratings[venue.state.ids[at]].spread == pytest.approx(math.sqrt(centered * widened), rel=1e-9)


def test_without_anchors_one_established_version_alone_is_not_the_origin() -> None:
    """It would be known exactly, and so never be provisional again."""
    venue, _ = pool(18, 6, 0, anchors=0)
    alone = 0
    for _ in range(40):
        for other in (2, 3, 4, 5, 6):
            venue.play(1, other, "+-")
        venue.refit()
        ratings = venue.ratings()
        alone += [version for version, rating in ratings.items() if not rating.provisional] == [1]
        assert min(rating.spread for rating in ratings.values()) > 5.0
    assert alone > 1


def test_all_is_shown_at_once_as_it_is_shown_one_by_one() -> None:
    for anchors in (0, 2):
        venue, _ = pool(19, 6, 50, anchors=anchors)
        venue.refit()
        venue.game(3, 4, 2)
        venue.enter(9)
        for version, rating in venue.ratings().items():
            alone = venue.system._rating(venue.state, version)
            assert alone[2:] == rating[2:]
            assert alone[:2] == pytest.approx(rating[:2], rel=1e-12)


def test_provisional_says_the_interval_is_wide() -> None:
    venue, _ = pool(20, 6, 150)
    venue.refit()
    venue.enter(9)
    ratings = venue.ratings()
    assert ratings[9].provisional
    for rating in ratings.values():
        assert rating.provisional == (not rating.anchor and Z95 * rating.spread > 100)
    wide = Bayes(2000.0, provisional=1000.0)
    assert not wide._rating(venue.state, 3).provisional


def test_the_prior_s_share_widens_what_is_shown() -> None:
    venue, _ = pool(21, 6, 20)
    venue.refit()
    belief = venue.state.belief
    for at in range(2, 6):
        variance = belief.marginal(at)[1]
        share = venue.state.base.sites.PS[at, 0, 0] * variance
        twice = 2 if 2 * 20 / 6 < 14 else 1
        assert belief.shown(at, centered=False).sd == pytest.approx(math.sqrt(variance * (1 + twice * min(share, 1))))
        assert 0 < share < 1


# --- predictions -----------------------------------------------------------------------------------------------------


def test_predictions_sum_to_one_and_know_the_first_move() -> None:
    venue = Venue()
    venue.enter(1, 2, 3)
    for _ in range(60):
        venue.game(1, 2, 2)
        venue.game(2, 1, 2)
        venue.game(1, 2, 1)
        venue.game(2, 1, 0)
    venue.refit()
    assert venue.state.base.hyper.advantage > 20
    for black in (1, 2, 3):
        for white in {1, 2, 3} - {black}:
            outcome = venue.system.predict(venue.state, black, white)
            assert sum(outcome) == pytest.approx(1.0, abs=1e-12)
            assert min(outcome) > 0
    even = venue.system.predict(venue.state, 1, 2)
    assert even.win > even.loss
    assert even.score == pytest.approx((60 * 2 + 60 / 2) / 240 + 0.0, abs=0.15)


def test_a_prediction_averages_over_what_is_not_known() -> None:
    venue = Venue(FIXED)
    venue.enter(1, 2)
    venue.anchor(1, 2000.0)
    venue.anchor(2, 2400.0)
    assert venue.system.predict(venue.state, 2, 1).win == pytest.approx(1 / 1.1, abs=1e-4)
    venue.enter(3)
    rng = np.random.default_rng(0)
    drawn = rng.normal(2000 - 2400, math.sqrt(500**2 + 1), 400_000)
    expected = float(np.mean(1 / (1 + 10 ** (-drawn / 400))))
    assert venue.system.predict(venue.state, 3, 2).win == pytest.approx(expected, abs=4e-3)


@pytest.mark.parametrize("anchors", [0, 2])
def test_two_do_not_differ_by_more_than_is_open_of_both(anchors: int) -> None:
    """Where a pool as a whole stands is unknown without anchors, and is no part of who in it is stronger."""
    venue, _ = pool(22, 6, 300, anchors=anchors)
    venue.refit()
    venue.play(3, 4, "++-+")
    venue.enter(7)
    shown = venue.system.standings(venue.state)
    for version in range(anchors + 1, 8):
        for other in range(version + 1, 8):
            mean, sd = venue.system.difference(venue.state, version, other)
            assert mean == pytest.approx(shown[version].mean - shown[other].mean)
            assert 0 < sd <= (shown[version].spread + shown[other].spread) * (1 + 1e-9)


def test_superiority_is_that_of_the_joint_distribution_and_the_prior_s_share() -> None:
    venue, _ = pool(22, 6, 100)
    venue.refit()
    belief = venue.state.belief
    for first, second in ((3, 4), (1, 5), (6, 3)):
        mean, variance = venue.difference(first, second)
        for version in (first, second):
            own = belief.marginal(version - 1)[1]
            variance += min(venue.state.base.sites.PS[version - 1, 0, 0] * own, 1.0) * own
        assert venue.system.difference(venue.state, first, second) == pytest.approx((mean, math.sqrt(variance)))
        share = venue.system.superiority(venue.state, first, second)
        assert share == pytest.approx(0.5 * (1 + math.erf(mean / math.sqrt(2 * variance))))
        assert share + venue.system.superiority(venue.state, second, first) == pytest.approx(1.0)
    assert venue.system.superiority(venue.state, 3, 3) == 0.5


# --- what makes no sense ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"kind": Kind.GAME, "black": 1, "white": 9, "score2": 2}, KeyError),
        ({"kind": Kind.GAME, "black": 1, "white": 1, "score2": 2}, OurFault),
        ({"kind": Kind.GAME, "black": 1, "white": 2, "score2": 3}, OurFault),
        ({"kind": Kind.GAME, "black": 1, "white": 2}, OurFault),
        ({"kind": Kind.ENTER, "version": 1}, OurFault),
        ({"kind": Kind.ENTER}, OurFault),
        ({"kind": Kind.ENTER, "version": 9, "value": math.nan}, OurFault),
        ({"kind": Kind.ENTER, "version": 9, "other": 8}, KeyError),
        ({"kind": Kind.ENTER, "version": 9, "other": 1, "sd": 0.0}, OurFault),
        ({"kind": Kind.ANCHOR, "version": 1}, OurFault),
        ({"kind": Kind.ANCHOR, "version": 1, "value": math.inf}, OurFault),
        ({"kind": Kind.ANCHOR, "version": 1, "value": 2000.0, "sd": -1.0}, OurFault),
        ({"kind": Kind.ANCHOR, "version": 9, "value": 2000.0}, KeyError),
        ({"kind": Kind.UNANCHOR, "version": 9}, KeyError),
        ({"kind": Kind.LINK, "version": 1, "other": 1}, OurFault),
        ({"kind": Kind.LINK, "version": 1, "other": 9}, KeyError),
        ({"kind": Kind.CORRECTION, "black": 1, "white": 2, "was2": 5}, OurFault),
    ],
)
def test_what_makes_no_sense_changes_nothing(fields: dict[str, Any], error: type[Exception]) -> None:
    venue, _ = pool(31, 2, 3, anchors=0)
    before = BAYES.dump(venue.state)
    with pytest.raises(error):
        BAYES.fold(venue.state, Entry(len(venue.entries) + 1, **fields))
    assert BAYES.dump(venue.state) == before
