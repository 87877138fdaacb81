"""Double elimination: the vectors, who has how many losses, passes, and all that is not a plain win."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.core.vectors import parametrize
from support.tournaments.events import NO_SHOW, better_wins, by_lot, entrants, finish, play, play_round, won_by

from cgos_protocol.errors import Refused
from cgos_server.tournaments.base import (
    BLACK_WINS,
    DRAWN,
    VOID,
    WHITE_WINS,
    Entrant,
    Event,
    Request,
    Result,
)
from cgos_server.tournaments.event import begin, enter, forbid, rejoin, request_bye, withdraw
from cgos_server.tournaments.ledger import ledger
from cgos_server.tournaments.tournament import (
    from_json,
    is_over,
    lots,
    next_round,
    ready_games,
    standings,
    system_of,
    to_json,
)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "case" in metafunc.fixturenames:
        named = lambda case: f"{case['n']} players, {len(case['upsets'])} upsets"  # noqa: E731
        parametrize(metafunc, "case", "double_elimination", named=named)


def _event(n: int, **options: Any) -> Event:
    return Event(system="double-elimination", entrants=entrants([None] * n), options=options)


def test_vectors(case: dict[str, Any]) -> None:
    upsets = {(number, min(a, b), max(a, b)) for number, a, b in case["upsets"]}
    event = _event(case["n"])
    games = 0
    for number, expected in enumerate(case["rounds"], 1):
        paired = next_round(event)
        assert paired.number == number
        assert [game.pair for game in paired.games] == [tuple(sorted(game[:2])) for game in expected["games"]]
        assert [bye.entrant for bye in paired.byes] == expected["byes"]
        event = begin(event, paired)
        event = finish(event, lambda game, number=number: won_by(game, game.pair[(number, *game.pair) in upsets]))
        won = [game.white if game.result == WHITE_WINS else game.black for game in event.rounds[-1].games]
        assert won == [game[2] for game in expected["games"]]
        games += len(won)
    assert is_over(event)
    assert games == case["games"]
    assert standings(event).rows[0].entrant == case["champion"]


@settings(max_examples=60)
@given(n=st.integers(2, 16), seed=st.integers(0, 10_000))
def test_everybody_but_the_winner_loses_twice(n: int, seed: int) -> None:
    event = _event(n)
    rule = by_lot(seed, draws=0)
    losses: Counter[int] = Counter()
    passes: Counter[int] = Counter()
    out: dict[int, int] = {}
    games = 0
    while not is_over(event):
        paired = next_round(event)
        assert paired == next_round(from_json(to_json(event)))
        assert ready_games(event) == (paired,)
        groups = [[id_ for id_ in range(1, n + 1) if losses[id_] == lost] for lost in (0, 1)]
        details = paired.explanation.details
        assert [details["unbeaten"], details["beaten_once"]] == groups
        _check_round(event, paired, groups, passes)
        passes.update(bye.entrant for bye in paired.byes)
        event = finish(begin(event, paired), rule)
        for game in event.rounds[-1].games:
            loser = game.black if game.result == WHITE_WINS else game.white
            losses[loser] += 1
            games += 1
            if losses[loser] == 2:
                out[loser] = paired.number
    table = standings(event)
    champion = table.rows[0].entrant
    assert sorted(losses[id_] for id_ in range(1, n + 1) if id_ != champion) == [2] * (n - 1)
    assert games == 2 * (n - 1) + losses[champion]
    assert losses[champion] < 2
    order = sorted(out, key=lambda id_: (-out[id_], id_))
    assert [row.entrant for row in table.rows[1:]] == order
    assert table.rows[1].place == 2
    for row in table.rows[1:]:
        assert row.place == 2 + sum(number > out[row.entrant] for number in out.values())


def _check_round(event: Event, paired: Any, groups: list[list[int]], passes: Counter[int]) -> None:
    group_of = {id_: at for at, group in enumerate(groups) for id_ in group}
    busy = [id_ for game in paired.games for id_ in game.pair] + [bye.entrant for bye in paired.byes]
    assert sorted(busy) == sorted(group_of)
    if [len(group) for group in groups] == [1, 1]:
        assert paired.explanation.details["final"]
        assert len(paired.games) == 1
        return
    known = ledger(event)
    for at, group in enumerate(groups):
        sits = [bye.entrant for bye in paired.byes if group_of[bye.entrant] == at]
        assert sits == (sorted(group, key=lambda id_: (passes[id_], id_))[:1] if len(group) % 2 else [])
        rest = [id_ for id_ in group if id_ not in sits]
        pairs = [game.pair for game in paired.games if group_of[game.white] == at]
        assert all(group_of[id_] == at for pair in pairs for id_ in pair)
        without = _first(rest, known.met)
        assert paired.explanation.details["rematches"][at] == (without is None)
        assert pairs == (without if without is not None else _first(rest, {}))


def _first(order: list[int], met: Any) -> list[tuple[int, int]] | None:
    """The best seed takes the worst whom it has not met, unless the rest fails."""
    if not order:
        return []
    for other in reversed(order[1:]):
        if (order[0], other) not in met:
            rest = _first([id_ for id_ in order[1:] if id_ != other], met)
            if rest is not None:
                return [(order[0], other), *rest]
    return None


STRANGE = (DRAWN, VOID, NO_SHOW, Result(0, 2, "forfeit"), Result(2, 0, "forfeit"), WHITE_WINS, BLACK_WINS)


@settings(max_examples=60)
@given(
    n=st.integers(0, 10),
    seed=st.integers(0, 10_000),
    changes=st.lists(
        st.tuples(st.sampled_from(["withdraw", "rejoin", "ask", "enter"]), st.integers(0, 99)), max_size=10
    ),
    replays=st.integers(0, 2),
)
def test_it_ends_whoever_comes_and_goes(n: int, seed: int, changes: list[tuple[str, int]], replays: int) -> None:
    event = _event(n, replays=replays)
    rng = random.Random(seed)
    left = list(changes)
    for _ in range(100):
        if left and event.entrants:
            event = _changed(event, *left.pop())
        if is_over(event):
            with pytest.raises(Refused):
                next_round(event)
            if not left:
                break
            continue
        paired = next_round(event)
        assert paired == next_round(from_json(to_json(event)))
        assert paired.number in (len(event.rounds), len(event.rounds) + 1)
        busy = [id_ for game in paired.games for id_ in game.pair] + [bye.entrant for bye in paired.byes]
        assert busy
        assert len(set(busy)) == len(busy)
        assert not set(busy) & set(event.withdrawn)
        assert all(game.reason for game in paired.games)
        assert paired.explanation.summary
        event = finish(begin(event, paired), lambda _game: rng.choice(STRANGE))
    assert is_over(event)
    table = standings(event)
    assert sorted(row.entrant for row in table.rows) == sorted(entrant.id for entrant in event.entrants)
    for round_ in event.rounds:
        games = [game for game in round_.games if game.result != VOID]
        assert max(Counter(game.pair for game in games).values(), default=0) <= replays + 1


def _changed(event: Event, what: str, which: int) -> Event:
    id_ = event.entrants[which % len(event.entrants)].id
    if what == "enter":
        return enter(event, Entrant(id=len(event.entrants) + 1, name=f"late-{which}"))
    if what == "ask":
        return request_bye(event, Request(id_, len(event.rounds) + 1 + which % 2, which % 3))
    return withdraw(event, id_) if what == "withdraw" else rejoin(event, id_)


def test_the_unbeaten_may_lose_the_final_once() -> None:
    event = play(_event(4), better_wins, 3)
    final = next_round(event)
    assert final.explanation.details["final"]
    assert [game.pair for game in final.games] == [(1, 2)]
    event = finish(begin(event, final), lambda game: won_by(game, 2))
    assert not is_over(event)
    last = next_round(event)
    assert not last.explanation.details["final"]
    assert "this match decides" in last.explanation.summary
    assert last.games[0].white == final.games[0].black
    for winner in (1, 2):
        ended = finish(begin(event, last), lambda game, winner=winner: won_by(game, winner))
        assert is_over(ended)
        assert [row.entrant for row in standings(ended).rows][:2] == [winner, 3 - winner]


def test_draws_are_replayed_in_their_round() -> None:
    event = _event(4)
    event = begin(event, next_round(event))
    event = finish(event, lambda game: DRAWN if game.pair == (1, 4) else better_wins(game))
    for _ in range(2):
        again = next_round(event)
        last = [game for game in event.rounds[0].games if game.pair == (1, 4)][-1]
        assert again.number == 1
        assert [(game.white, game.black) for game in again.games] == [(last.black, last.white)]
        assert ready_games(event) == (again,)
        event = finish(begin(event, again), lambda _game: DRAWN)
    paired = next_round(event)
    assert paired.number == 2
    assert [game.pair for game in paired.games] == [(1, 2), (3, 4)]


def test_void_games_are_played_again_and_forfeits_are_losses() -> None:
    event = play_round(_event(2), lambda _game: VOID)
    assert next_round(event).number == 1
    event = play(event, lambda game: Result(0, 2, "forfeit") if game.white == 2 else Result(2, 0, "forfeit"))
    assert [row.entrant for row in standings(event).rows] == [2, 1]
    assert [len(round_.games) for round_ in event.rounds] == [2, 1]


def test_both_lose_where_neither_comes() -> None:
    event = play_round(_event(4), lambda game: NO_SHOW if game.pair == (1, 4) else better_wins(game))
    paired = next_round(event)
    assert paired.explanation.details["unbeaten"] == [2]
    assert paired.explanation.details["beaten_once"] == [1, 3, 4]


def test_who_withdraws_is_out() -> None:
    event = withdraw(play_round(_event(4), better_wins), 1)
    paired = next_round(event)
    assert [game.pair for game in paired.games] == [(3, 4)]
    assert [bye.entrant for bye in paired.byes] == [2]
    event = play(event, better_wins)
    table = standings(event)
    assert table.rows[0].entrant == 2
    assert next(row.values for row in table.rows if row.entrant == 1) == (1, 0)
    assert table.rows[-1].entrant == 1


def test_who_withdraws_during_a_match_leaves_the_other_unharmed() -> None:
    event = play_round(_event(4), lambda game: DRAWN if game.pair == (1, 4) else better_wins(game))
    paired = next_round(withdraw(event, 1))
    assert paired.number == 2
    assert paired.explanation.details["unbeaten"] == [2, 4]


def test_a_match_that_withdrawal_left_open_stays_so() -> None:
    event = play_round(_event(4), lambda game: DRAWN if game.pair == (1, 4) else better_wins(game))
    event = rejoin(play_round(withdraw(event, 1), better_wins), 1)
    paired = next_round(event)
    assert paired.number == 3
    assert 1 in paired.explanation.details["unbeaten"]


def test_who_has_left_unbeaten_is_behind_all_who_are_still_in() -> None:
    event = withdraw(play_round(_event(4), better_wins), 1)
    rows = standings(event).rows
    assert [(row.place, row.entrant, row.values) for row in rows] == [
        (1, 2, (2, 0)),
        (2, 3, (2, 1)),
        (2, 4, (2, 1)),
        (4, 1, (1, 0)),
    ]


def test_who_returns_has_the_losses_of_before() -> None:
    event = play_round(withdraw(play_round(_event(5), better_wins), 5), better_wins)
    paired = next_round(rejoin(event, 5))
    assert 5 in paired.explanation.details["beaten_once"]
    assert 5 not in next_round(event).explanation.details["beaten_once"]


@pytest.mark.parametrize("points", [0, 1, 2])
def test_who_asks_for_a_bye_sits_out_without_a_loss(points: int) -> None:
    event = request_bye(play_round(_event(8), better_wins), Request(1, 2, points))
    paired = next_round(event)
    assert [(bye.entrant, bye.points, bye.requested) for bye in paired.byes] == [(2, 2, False), (1, points, True)]
    event = finish(begin(event, paired), better_wins)
    after = next_round(event)
    assert 1 in after.explanation.details["unbeaten"]
    assert [row.entrant for row in standings(play(event, better_wins)).rows][:2] == [1, 2]


def test_a_round_in_which_nobody_can_play() -> None:
    event = request_bye(request_bye(_event(2), Request(1, 2)), Request(2, 2))
    event = play_round(event, better_wins)
    paired = next_round(event)
    assert paired.games == ()
    assert [bye.entrant for bye in paired.byes] == [1, 2]
    event = begin(event, paired)
    assert not is_over(event)
    assert next_round(event).explanation.details["final"]


def test_it_is_no_final_while_somebody_else_is_still_in() -> None:
    event = play(_event(4), better_wins, 2)
    assert next_round(event).explanation.details["beaten_once"] == [2, 3]
    paired = next_round(request_bye(event, Request(3, 3)))
    assert paired.games == ()
    assert not paired.explanation.details["final"]
    assert [bye.entrant for bye in paired.byes] == [1, 2, 3]


def test_nobody_comes_late() -> None:
    event = enter(play_round(_event(4), better_wins), Entrant(id=5, name="late"))
    paired = next_round(event)
    assert sorted(id_ for game in paired.games for id_ in game.pair) == [1, 2, 3, 4]
    assert "late entered after the start and is not paired" in paired.explanation.summary


def test_two_who_must_not_meet_are_kept_apart() -> None:
    paired = next_round(forbid(_event(4), 1, 4))
    assert [game.pair for game in paired.games] == [(1, 3), (2, 4)]
    paired = next_round(forbid(_event(3), 2, 3))
    assert [game.pair for game in paired.games] == [(1, 3)]
    assert [bye.entrant for bye in paired.byes] == [2]
    with pytest.raises(Refused, match="bot-1 and bot-2 cannot be paired"):
        next_round(forbid(_event(2), 1, 2))
    final = play(_event(4), better_wins, 3)
    with pytest.raises(Refused, match="Withdraw one of them"):
        next_round(forbid(final, 1, 2))
    assert is_over(withdraw(forbid(final, 1, 2), 1))


def test_two_who_must_not_meet_any_more_do_not_go_on_with_their_match() -> None:
    event = forbid(play_round(_event(4), lambda game: DRAWN if game.pair == (1, 4) else better_wins(game)), 1, 4)
    with pytest.raises(Refused, match="must not meet"):
        next_round(event)
    assert next_round(withdraw(event, 4)).number == 2


def test_rematches_are_not_forbidden_pairs() -> None:
    event = play(_event(5), better_wins, 2)
    assert next_round(event).explanation.details["rematches"] == [False, True]
    assert next_round(forbid(event, 1, 3)).games == next_round(event).games
    with pytest.raises(Refused, match="must not meet"):
        next_round(forbid(event, 3, 4))


@pytest.mark.parametrize("n", [0, 1])
def test_too_few(n: int) -> None:
    event = _event(n)
    with pytest.raises(Refused, match="at least two entrants"):
        next_round(event)
    assert is_over(event)
    assert ready_games(event) == ()
    assert len(standings(event).rows) == n


def test_its_length_is_not_known() -> None:
    event = _event(8)
    assert system_of(event).length(event) is None


def test_no_more_rounds_than_planned() -> None:
    event = Event(system="double-elimination", entrants=entrants([None] * 8), planned=2)
    event = play(event, better_wins)
    assert len(event.rounds) == 2
    with pytest.raises(Refused, match="over after 2 rounds"):
        system_of(event).pair(event, lots(event))


def test_nothing_is_ready_while_games_are_open() -> None:
    event = begin(_event(4), next_round(_event(4)))
    assert ready_games(event) == ()
    assert not is_over(event)
    with pytest.raises(Refused, match="without a result"):
        next_round(event)
