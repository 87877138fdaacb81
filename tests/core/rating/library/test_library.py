"""The rating as a library: its example, its promises, its refusals."""

from __future__ import annotations

import doctest
import math
import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from itertools import permutations
from random import Random

import numpy as np
import pytest
import rustworkx
from hypothesis import given, settings
from hypothesis import strategies as st

import cgos_server.core.rating
from cgos_server.core.rating import BradleyTerry, Difference, Estimate, FirstMoverWarning
from cgos_server.core.rating.base import Z95
from cgos_server.core.rating.bayes.system import Bayes, BayesFit, Job
from cgos_server.core.rating.library import bradley_terry as library
from cgos_server.core.rating.library.findings import components


def test_the_example_in_its_documentation_is_true() -> None:
    ran = doctest.testmod(library)
    assert ran.attempted >= 14
    assert ran.failed == 0


def test_the_interface_alone_does_not_cost_numpy() -> None:
    code = "import sys, cgos_server.core.rating.base; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert {"BradleyTerry", "Estimate"} <= set(dir(cgos_server.core.rating))
    with pytest.raises(AttributeError, match="Bradly"):
        cgos_server.core.rating.Bradly  # noqa: B018


def pool() -> BradleyTerry:
    model = BradleyTerry()
    model.anchor("low", 1600)
    model.anchor("high", 2400, sd=10)
    for opponent, wins in (("low", 18), ("high", 2)):
        model.add("new", opponent, 1, games=wins)
        model.add("new", opponent, 0, games=20 - wins)
        model.add(opponent, "new", 0, games=wins)
        model.add(opponent, "new", 1, games=20 - wins)
    return model


def estimate(mean: float, sd: float, games: int, anchor: bool = False) -> Estimate:
    """One with an even interval."""
    return Estimate(mean=mean, sd=sd, lower=mean - Z95 * sd, upper=mean + Z95 * sd, games=games, anchor=anchor)


def test_a_newcomer_between_two_anchors_is_in_the_middle() -> None:
    model = pool()
    new = model.rating("new")
    assert new.mean == pytest.approx(2000, abs=10)
    assert new.games == 80
    assert not new.anchor
    low, high = new.interval
    assert (low + high) / 2 == pytest.approx(new.mean)
    assert high - low == pytest.approx(2 * 1.96 * new.sd, rel=1e-3)
    assert 20 < new.sd < 80
    assert model.superiority("new", "low") > 0.999
    assert model.superiority("low", "new") < 0.001
    assert model.predict("new", "low").score == pytest.approx(0.9, abs=0.03)
    assert sum(model.predict("low", "new")) == pytest.approx(1.0)
    assert model.predict("new", "low").draw == 0.0
    assert list(model.standings()) == ["high", "new", "low"]
    assert model.standings()["high"] == estimate(2400, 10, games=40, anchor=True)


def test_a_rating_is_written_with_its_interval() -> None:
    assert str(estimate(1873.4, 42 / 1.96, games=10)) == "1873 ± 42"
    assert str(Estimate(mean=1873, sd=21, lower=1829, upper=1913, games=10)) == "1873 ± 42"
    assert str(Estimate(mean=2750, sd=400, lower=2320, upper=4600, games=10)) == "2750, 2320 to 4600"


def test_what_is_added_later_counts_and_what_is_taken_back_does_not() -> None:
    model, other = pool(), pool()
    model.add("new", "low", 0, games=30)
    lower = model.rating("new")
    assert lower.mean < other.rating("new").mean
    assert lower.games == 110
    model.add("new", "low", 0, games=-30)
    assert model.rating("new") == other.rating("new")


def test_one_by_one_is_the_same_as_counted() -> None:
    first, second = pool(), BradleyTerry()
    second.anchor("low", 1600)
    second.anchor("high", 2400, sd=10)
    for number in range(20):
        for opponent, wins in (("high", 2), ("low", 18)):
            second.add("new", opponent, float(number < wins))
            second.add(opponent, "new", float(number >= wins))
    assert second.rating("new").mean == pytest.approx(first.rating("new").mean, abs=1e-6)
    assert second.rating("new").sd == pytest.approx(first.rating("new").sd, rel=1e-6)


@pytest.fixture
def fits(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is fitted from now on: ``cold`` and ``warm``."""
    done: list[str] = []
    refit = Bayes.refit

    def noted(system: Bayes, job: Job) -> BayesFit:
        done.append("cold" if job.cold else "warm")
        return refit(system, job)

    monkeypatch.setattr(Bayes, "refit", noted)
    return done


def test_a_result_played_moves_the_ratings_without_a_fit(fits: list[str]) -> None:
    model = pool()
    before = model.standings()
    assert fits == ["cold"]
    model.play("new", "low", 0)
    model.version("next", "new")
    model.play("low", "next", 1)
    after = model.standings()
    assert after["new"].mean < before["new"].mean
    assert after["next"].mean < after["new"].mean
    assert (after["new"].games, after["low"].games, after["next"].games) == (81, 42, 1)
    assert model.superiority("new", "next") > 0.5
    assert model.predict("new", "next").score > 0.5
    assert fits == ["cold"]


def test_a_refit_goes_on_from_the_last_and_a_fit_begins_anew(fits: list[str]) -> None:
    model = pool()
    assert model.refit() is model
    for _ in range(3):
        model.play("new", "low", 0)
    stepped = model.rating("new")
    refitted = model.refit().rating("new")
    assert fits == ["cold", "warm"]
    fitted = model.fit().rating("new")
    assert fits == ["cold", "warm", "cold"]
    assert stepped.mean == pytest.approx(fitted.mean, abs=fitted.sd / 3)
    assert refitted.mean == pytest.approx(fitted.mean, abs=fitted.sd / 10)


def test_results_count_the_same_whichever_way_they_came() -> None:
    model, other = pool(), pool()
    model.fit()
    for _ in range(5):
        model.play("new", "low", 0)
        other.add("new", "low", 0)
    assert model.fit().standings() == other.standings()
    model.add("new", "low", 0, games=-5)
    assert model.standings() == pool().standings()


def test_a_refit_is_cold_where_the_pool_has_outgrown_the_last_one(fits: list[str]) -> None:
    model = pool().refit()
    model.play("new", "low", 1)
    model.refit()
    assert fits == ["cold", "warm"]
    model.play("new", "low", 0.5)
    model.refit()
    assert fits == ["cold", "warm", "cold"], "the first draw"
    model.version("stranger")
    model.refit()
    assert fits == ["cold", "warm", "cold", "cold"], "a third more names"


@pytest.mark.parametrize(
    "change",
    [
        lambda model: model.add("new", "low", 1),
        lambda model: model.anchor("new", 1900),
        lambda model: model.known("new", 1900, 100),
        lambda model: model.version("new", "low"),
        lambda model: model.unlink("son"),
    ],
)
def test_what_is_only_noted_is_fitted_before_the_next_answer(
    change: Callable[[BradleyTerry], object], fits: list[str]
) -> None:
    model = pool()
    model.version("son", "new")
    before = model.standings()
    change(model)
    assert fits == ["cold"]
    after = model.standings()
    assert fits == ["cold", "cold"]
    assert after != before
    assert after == model.fit().standings()


def test_a_successor_stands_by_its_predecessor() -> None:
    model = pool()
    for name, predecessor in (("son", "high"), ("stranger", None)):
        model.version(name, predecessor)
        model.play("low", name, 1)
    model.fit()
    son, stranger = model.rating("son"), model.rating("stranger")
    assert stranger.mean + 100 < son.mean < 2450
    assert son.sd < stranger.sd
    model.version("son", "high", sd=20, surely=True)
    close = model.rating("son")
    assert son.mean < close.mean < 2450
    assert close.sd < son.sd
    model.unlink("son")
    assert model.rating("son").mean == pytest.approx(model.rating("stranger").mean, abs=0.1)
    model.version("son", "high")
    assert model.rating("son") == son


def test_what_was_measured_elsewhere_is_a_start() -> None:
    model = pool()
    model.known("guest", 2700, 50)
    assert model.rating("guest").mean == pytest.approx(2700, abs=60)
    model.add("guest", "low", 0, games=20)
    assert model.rating("guest").mean < 2600
    assert not model.rating("guest").anchor


def test_names_are_counted_and_listed_as_they_came() -> None:
    model = pool()
    model.version("son", "new")
    assert len(model) == 4
    assert list(model) == ["low", "high", "new", "son"]
    assert "son" in model
    assert "nobody" not in model
    assert [model.rating(name).games for name in model] == [40, 40, 80, 0]


def test_a_printed_pool_is_its_standings() -> None:
    model = pool()
    new = model.rating("new")
    assert str(model).splitlines() == [
        "name  rating  interval  games",
        "high    2400      ± 20     40  anchor",
        f"new     {new.mean:.0f}  {f'± {Z95 * new.sd:.0f}':>8}     80",
        "low     1600       ± 2     40  anchor",
    ]
    assert repr(model) == "<BradleyTerry: 3 names, 80 games>"
    for number in range(30):
        model.version(("weak", number), "low", sd=1)
    rows = str(model).splitlines()
    assert len(rows) == 22
    assert rows[-1] == "and 13 more"


def test_a_pickled_pool_has_the_same_ratings_to_the_bit() -> None:
    model = pool()
    model.version("son", "new")
    for change in (
        lambda model: model.add("son", "new", 1, games=3),
        lambda model: model.fit(),
        lambda model: model.play("son", "low", 0),
        lambda model: model.version("grandson", "son"),
        lambda model: model.unlink("son"),
        lambda model: model.refit(),
    ):
        again = pickle.loads(pickle.dumps(model))
        change(model)
        change(again)
        assert pickle.loads(pickle.dumps(again)).standings() == model.standings()
        assert again.superiority("son", "new") == model.superiority("son", "new")


NAMES = "abcde"
_PAIRS = st.sampled_from(list(permutations(NAMES, 2)))
_RESULTS = st.tuples(_PAIRS, st.sampled_from((0, 0.5, 1)))
_ACTS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), _RESULTS),
        st.tuples(st.just("play"), _RESULTS),
        st.tuples(st.just("take back"), _RESULTS),
        st.tuples(st.just("version"), _PAIRS),
        st.tuples(st.just("unlink"), _PAIRS),
        st.tuples(st.just("refit"), _PAIRS),
    ),
    max_size=25,
)


@settings(max_examples=20, deadline=None)
@given(acts=_ACTS, learned=st.booleans(), seed=st.integers(0, 9))
def test_however_it_came_a_fit_is_the_one_from_the_counts(acts: list[tuple], learned: bool, seed: int) -> None:
    """What is left in the end, said to a new pool in another order: the same ratings, and to the bit where the names
    came in the same order."""
    model, counts, predecessors = BradleyTerry(learned=learned), Counter(), {}
    for act, about in acts:
        match act:
            case "add" | "play":
                (first, second), score = about
                getattr(model, act)(first, second, score)
                counts[about] += 1
            case "take back":
                (first, second), score = about
                if counts[about]:
                    model.add(first, second, score, games=-1)
                    counts[about] -= 1
            case "version":
                new, old = about
                if old in model and predecessors.get(new, old) == old and new not in line(old, predecessors):
                    model.version(new, old)
                    predecessors[new] = old
            case "unlink" if predecessors.pop(about[0], None):
                model.unlink(about[0])
            case "refit":
                model.refit()
    random = Random(seed)
    same_order, other_order = list(model), random.sample(list(model), len(model))
    results = list(counts.items())
    random.shuffle(results)
    standings = model.fit().standings()
    for order in (same_order, other_order):
        other = BradleyTerry(learned=learned)
        for name in order:
            other.version(name)
        for new, old in predecessors.items():
            other.version(new, old)
        for ((first, second), score), games in results:
            other.add(first, second, score, games=games)
        if order == same_order:
            assert other.standings() == standings
        elif not learned:
            for name, rating in other.standings().items():
                assert rating.mean == pytest.approx(standings[name].mean, abs=0.01)
                assert rating.interval == pytest.approx(standings[name].interval, abs=0.01)
                assert rating.games == standings[name].games


def line(name: str | None, predecessors: dict[str, str]) -> list[str]:
    """The name, its predecessor, and so on."""
    names = []
    while name is not None:
        names.append(name)
        name = predecessors.get(name)
    return names


def test_draws_are_learned() -> None:
    model = pool()
    model.add("new", "peer", 0.5, games=30)
    model.add("peer", "new", 0.5, games=30)
    assert model.predict("new", "peer").draw > 0.3
    assert abs(model.rating("peer").mean - model.rating("new").mean) < 30


@pytest.mark.parametrize("learned", [True, False])
def test_without_anchors_the_mean_is_held(learned: bool) -> None:
    model = BradleyTerry(1500, learned=learned)
    model.add(("tuple", 1), 2, 1, games=12)
    model.add(2, frozenset({3}), 1, games=10)
    assert sum(rating.mean for rating in model.standings().values()) / 3 == pytest.approx(1500)
    assert list(model.standings()) == [("tuple", 1), 2, frozenset({3})]


@pytest.mark.parametrize("learned", [True, False])
def test_it_is_the_mean_of_all_however_well_some_are_known(learned: bool) -> None:
    model = BradleyTerry(1500, learned=learned)
    for first, second in permutations(range(9), 2):
        model.add(first, second, first % 2, games=50)
        model.add(first, second, second % 2, games=50)
    model.add(0, "new", 1)
    once = model.standings()
    assert model.fit().standings() == once
    model.play(1, "new", 1)
    model.version("newer", "new")
    assert sum(rating.mean for rating in model.standings().values()) / 11 == pytest.approx(1500)


def test_results_played_leave_nothing_but_their_count() -> None:
    model = pool().fit()
    model.play("new", "low", 1)
    size = len(pickle.dumps(model))
    for _ in range(300):
        model.play("new", "low", 1)
    assert len(pickle.dumps(model)) < size + 100


def test_an_empty_pool_has_empty_standings() -> None:
    assert BradleyTerry().standings() == {}
    assert BradleyTerry().fit().standings() == {}


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda model: model.add("a", "b", 0.7), ValueError, "0.5"),
        (lambda model: model.add("a", "b", math.nan), ValueError, "0.5"),
        (lambda model: model.add("a", "a", 1), ValueError, "itself"),
        (lambda model: model.add("a", "b", 1, games=1.5), ValueError, "whole"),
        (lambda model: model.add("a", "b", 1, games=math.inf), ValueError, "whole"),
        (lambda model: model.add("a", "b", 1, games=-1), ValueError, "take back"),
        (lambda model: model.add("new", "low", 1, games=-99), ValueError, "take back"),
        (lambda model: model.play("a", "b", 2), ValueError, "0.5"),
        (lambda model: model.play("a", "a", 1), ValueError, "itself"),
        (lambda model: model.anchor("a", math.inf), ValueError, "give a number"),
        (lambda model: model.anchor("a", 2000, sd=0), ValueError, "an sd above 0"),
        (lambda model: model.known("a", math.nan, 10), ValueError, "give a number"),
        (lambda model: model.known("a", 2000, math.inf), ValueError, "an sd above 0"),
        (lambda model: model.version("a", "nobody"), KeyError, "'nobody' is not in this pool"),
        (lambda model: model.version("new", "new"), ValueError, "its own predecessor"),
        (lambda model: model.version("a", "a"), KeyError, "'a' is not in this pool"),
        (lambda model: model.version("son", "low"), ValueError, "'son' succeeds 'new': unlink"),
        (lambda model: model.version("new", "grandson"), ValueError, "'grandson' descends from 'new'"),
        (lambda model: model.version("a", "new", sd=0), ValueError, "an sd above 0"),
        (lambda model: model.version("a", sd=30), ValueError, "no predecessor"),
        (lambda model: model.version("a", surely=True), ValueError, "no predecessor"),
        (lambda model: model.unlink("nobody"), KeyError, "nobody"),
        (lambda model: model.unlink("new"), ValueError, "no predecessor"),
        (lambda model: model.rating("nobody"), KeyError, "nobody"),
        (lambda model: model.superiority("new", "nobody"), KeyError, "nobody"),
        (lambda model: model.predict("nobody", "new"), KeyError, "nobody"),
        (lambda _: BradleyTerry(math.nan), ValueError, "finite"),
        (lambda _: BradleyTerry(prior_sd=0.0), ValueError, "wide"),
    ],
)
def test_refusals_are_sentences_and_change_nothing(
    change: Callable[[BradleyTerry], object], error: type[Exception], words: str
) -> None:
    model = pool()
    model.version("son", "new")
    model.version("grandson", "son")
    before = model.standings()
    with pytest.raises(error, match=words):
        change(model)
    assert model.standings() == before


def two_groups(anchored: bool) -> BradleyTerry:
    model = BradleyTerry()
    if anchored:
        model.anchor("a", 1900, sd=20)
    for one, other, score in (
        ("a", "b", 1),
        ("b", "c", 0.5),
        ("c", "a", 0),
        ("d", "a", 1),
        ("b", "d", 0),
        ("c", "d", 0),
    ):
        model.add(one, other, score, games=3)
        model.add(other, one, score, games=2)
    return model


@pytest.mark.parametrize("anchored", [False, True])
def test_matrices_say_what_each_pair_is_asked(anchored: bool) -> None:
    model = two_groups(anchored)
    names = list(model)
    superior, covariance = model.superiority_matrix(), model.covariance()
    for (i, one), (j, other) in permutations(enumerate(names), 2):
        assert superior[i, j] == pytest.approx(model.superiority(one, other), abs=1e-12)
        variance = covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]
        difference = model.difference(one, other)
        assert math.sqrt(variance) == pytest.approx(difference.sd, rel=1e-9)
        assert difference.mean == pytest.approx(
            model.rating(one).mean - model.rating(other).mean, abs=40 * anchored + 1e-9
        )
        assert difference.lower < difference.mean < difference.upper
    assert (np.diagonal(superior) == 0.5).all()
    assert (np.linalg.eigvalsh(covariance) > 0).all()
    assert covariance[0, 0] <= model.rating("a").sd ** 2 * 1.001 or anchored
    some = ["d", "b"]
    at = [names.index(name) for name in some]
    assert (model.superiority_matrix(some) == superior[np.ix_(at, at)]).all()
    assert (model.covariance(some) == covariance[np.ix_(at, at)]).all()
    with pytest.raises(KeyError, match="nobody"):
        model.covariance(["nobody"])


def test_an_empty_pool_has_empty_matrices() -> None:
    assert BradleyTerry().superiority_matrix().shape == BradleyTerry().covariance().shape == (0, 0)


def test_a_difference_is_written_with_its_sign() -> None:
    assert str(Difference(mean=41.2, sd=63 / Z95)) == "+41 ± 63"
    assert str(Difference(mean=-41.2, sd=63 / Z95)) == "-41 ± 63"


def test_what_was_learned_is_told() -> None:
    model = BradleyTerry()
    for one, other in permutations("abc", 2):
        model.add(one, other, 1, games=40)
        model.add(one, other, 0.5, games=30)
        model.add(one, other, 0, games=30)
    learned = model.learned()
    assert learned.drawn == pytest.approx(0.3, abs=0.03)
    assert learned.draw == pytest.approx(2 * learned.drawn / (1 - learned.drawn))
    assert 20 < learned.advantage < 60
    assert 5 < learned.advantage_sd < 20
    assert sum(learned.weights) == pytest.approx(1.0)
    assert learned.width > 0
    assert learned.step is None
    model.version("d", "a")
    assert model.learned().step is not None
    fixed = BradleyTerry(learned=False, prior_sd=300)
    fixed.add("a", "b", 1)
    assert (fixed.learned().width, fixed.learned().weights) == (300.0, (1.0,))


def test_how_sure_the_first_moves_worth_is_by_a_grid() -> None:
    """One strength and the advantage, about an anchor, with a fixed prior."""
    model = BradleyTerry(learned=False, advantage_sd=80.0)
    model.anchor("rock", 2000, sd=0.01)
    for first, second, wins, losses in (("rock", "new", 20, 12), ("new", "rock", 9, 4)):
        model.add(first, second, 1, games=wins)
        model.add(first, second, 0, games=losses)
    strengths, advantages = np.meshgrid(np.linspace(-700, 700, 701), np.linspace(-500, 500, 501))

    def won(logit: np.ndarray) -> np.ndarray:
        return -np.log1p(np.exp(-math.log(10) / 400 * logit))

    log = -0.5 * (strengths / 500) ** 2 - 0.5 * (advantages / 80) ** 2
    log += 20 * won(advantages - strengths) + 12 * won(strengths - advantages)
    log += 9 * won(strengths + advantages) + 4 * won(-strengths - advantages)
    weight = np.exp(log - log.max())
    weight /= weight.sum()
    mean = (weight * advantages).sum()
    sd = math.sqrt((weight * (advantages - mean) ** 2).sum())
    assert model.learned().advantage == pytest.approx(mean, abs=3)  # the mode of a slightly skewed distribution
    assert model.learned().advantage_sd == pytest.approx(sd, rel=0.02)


def test_winners_named_first_are_noticed_once() -> None:
    model = BradleyTerry()
    for one, other in (("a", "b"), ("b", "c"), ("a", "c")):
        model.add(one, other, 1, games=3)
    model.fit()  # nine games may be chance
    model.add("a", "d", 1)
    with pytest.warns(FirstMoverWarning, match="won all 10 games.*neutral=True"):
        model.fit()
    model.add("a", "d", 1)
    model.fit()
    chain, both = BradleyTerry(), BradleyTerry()
    for one, other in (("a", "b"), ("b", "c")):
        chain.add(one, other, 1, games=30)  # who is better may just have moved first
    chain.fit()
    for one, other in (("a", "b"), ("b", "a")):
        both.add(one, other, 1, games=30)
        both.add(one, other, 0.5, games=3)
    with pytest.warns(FirstMoverWarning, match="won all 60 games that were won, 6 were drawn"):
        both.fit()
    said = BradleyTerry()
    for one, other in (("a", "b"), ("b", "c"), ("a", "c")):
        said.beat(one, other, games=30)
    said.fit()


def test_names_that_no_chain_of_games_joins_are_in_different_groups() -> None:
    model = BradleyTerry()
    model.add("a", "b", 1)
    model.beat("b", "c")
    assert model.groups() == [["a", "b", "c"]]
    assert "No chain" not in str(model)
    model.add("x", "y", 0.5)
    model.version("without games")
    assert model.groups() == [["a", "b", "c"], ["x", "y"]]
    remark = (
        "No chain of games joins the 2 groups of names (sizes 3, 2): ratings of different groups cannot be compared."
    )
    assert str(model).splitlines()[-1] == remark
    model.version("y 2", "y")
    assert model.groups() == [["a", "b", "c"], ["x", "y", "y 2"]]
    model.add("a", "x", 1)
    assert len(model.groups()) == 1
    model.add("a", "x", 1, games=-1)  # taken back
    assert len(model.groups()) == 2
    model.anchor("a", 2000)
    model.anchor("y", 1800)
    assert len(model.groups()) == 1


@given(st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=14))
def test_groups_are_the_components_of_the_graph_of_games(pairs: list[tuple[int, int]]) -> None:
    graph: rustworkx.PyGraph[None, None] = rustworkx.PyGraph()
    graph.add_nodes_from([None] * 12)
    graph.add_edges_from_no_data(pairs)
    groups = components(12, pairs)
    assert sorted(map(sorted, groups)) == sorted(map(sorted, rustworkx.connected_components(graph)))
    assert [len(group) for group in groups] == sorted(map(len, groups), reverse=True)
