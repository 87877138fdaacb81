"""What is stored of a venue's ratings is what is shown, and replaying it gives the same again."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from cgos_server.core.rating.base import Entry, Kind
from cgos_server.core.rating.registry import rating_system
from cgos_server.service.ratings.venue_ratings import VenueRatings
from cgos_server.storage.writing.records import LedgerAdded, RatingMoved, RatingNow, Record

VERSIONS = 5


def of_two(system: str, score2: int) -> VenueRatings:
    """Two versions, each of which has won ten games; twenty more had this result for Black, in turn."""
    ratings = VenueRatings(1, rating_system(system, 1800.0, {}))
    for version in (1, 2):
        ratings.enter(version, 1800.0, 0)
    for number in range(40):
        ratings.game(number, 1 + number % 2, 2 - number % 2, 2 if number < 20 else score2, 0)
    return ratings


def test_the_share_of_draws_is_what_the_headline_has_learned() -> None:
    shares = []
    for score2 in (0, 1):
        ratings = of_two("bayes", score2)
        begun = ratings.begin("bayes", True)
        ratings.finish(begun, ratings.refitting("bayes").refit(begun.job), 0, 0)
        shares.append(ratings.draws)
    assert shares[0] < 0.05 < 0.3 < shares[1] < 0.7, "none, and half of the games of equals"
    assert of_two("cgos-elo", 1).draws == 0.0, "it takes a draw for half a win"


def test_another_headline_system_knows_each_rating_by_itself_or_not_how_sure_it_is() -> None:
    joint, separate, unsure = (of_two(system, 0).joint_ratings([1, 2]) for system in ("bayes", "glicko2", "cgos-elo"))
    assert joint.note == ""
    assert joint.covariance[0, 1] != 0.0
    glicko = of_two("glicko2", 0).rating(1)
    assert separate.note.endswith("the interval takes the ratings' errors for independent.")
    assert separate.means[0] == glicko.mean
    assert separate.covariance[0].tolist() == [glicko.spread**2, 0.0]
    assert separate.first_move_sd > 50.0
    assert unsure.note.endswith("the interval takes them as known.")
    assert not unsure.covariance.any()


EVENTS = st.one_of(
    st.tuples(st.just("game"), st.integers(0, VERSIONS - 1), st.integers(1, VERSIONS - 1), st.integers(0, 2)),
    st.tuples(st.just("anchor"), st.integers(0, VERSIONS - 1), st.integers(0, 3000), st.just(0)),
    st.tuples(st.just("unanchor"), st.integers(0, VERSIONS - 1), st.just(0), st.just(0)),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(EVENTS, max_size=60), st.booleans())
def test_replay_of_the_stored_rows_is_what_is_shown(events: list[tuple[str, int, int, int]], compat: bool) -> None:
    system = rating_system("cgos-elo", 1800.0, {"compat": compat})
    ratings = VenueRatings(7, system)
    records: list[Record] = []
    for version in range(VERSIONS):
        records += ratings.enter(version, 1800.0 + 10 * version, 1_000).records
    for number, (kind, version, other, score2) in enumerate(events):
        if kind == "game":
            white = (version + other) % VERSIONS
            records += ratings.game(number, version, white, score2, 1_000 + number).records
        elif kind == "anchor":
            records += ratings.anchor(version, float(other), 1_000 + number).records
        else:
            records += ratings.unanchor(version, 1_000 + number).records

    ledger = [record for record in records if isinstance(record, LedgerAdded)]
    assert [entry.seq for entry in ledger] == list(range(1, len(ledger) + 1))
    again = rating_system("cgos-elo", 1800.0, {"compat": compat})
    state = again.start()
    for row in ledger:
        entry = Entry(row.seq, Kind(row.kind), row.version_id, row.black_id, row.white_id, row.score2, row.value)
        state, _ = again.fold(state, entry)
    shown: dict[int, RatingNow] = {}
    before: dict[int, float] = {}
    for record in records:
        if isinstance(record, RatingNow):
            shown[record.version_id] = record
        elif isinstance(record, RatingMoved):
            assert before.get(record.version_id, record.before_mean) == record.before_mean
            before[record.version_id] = record.after_mean
    replayed = again.standings(state)
    assert {version: (row.mean, row.spread, row.games, bool(row.anchor)) for version, row in shown.items()} == {
        version: (rating.mean, rating.spread, rating.games, rating.anchor) for version, rating in replayed.items()
    }
