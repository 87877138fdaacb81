"""Tie-breakers: the vectors, slow transcriptions of the definitions, and what must hold for any event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from support.core.vectors import Vectors, parametrize
from support.tournaments.events import entrants

from cgos_protocol.errors import Refused
from cgos_server.tournaments.base import BLACK_WINS, DRAWN, VOID, WHITE_WINS, Bye, Entrant, Event, Game, Result
from cgos_server.tournaments.base import Round as Round_
from cgos_server.tournaments.ledger import ledger
from cgos_server.tournaments.standings.mms import mms
from cgos_server.tournaments.standings.tiebreaks import ASCENDING, TIE_BREAKERS, description, standings_by

GO_RESULTS = {"B": BLACK_WINS, "W": WHITE_WINS, "D": DRAWN}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "go_case" in metafunc.fixturenames:
        parametrize(metafunc, "go_case", "tie_breakers")


def value(event: Event, word: str, **options: Any) -> dict[int, float | None]:
    return {row.entrant: row.values[0] for row in standings_by(event, [word], **options).rows}


def order_of(event: Event, order: Sequence[str], **options: Any) -> list[int]:
    return [row.entrant for row in standings_by(event, order, **options).rows]


def event_of(rounds: Sequence[Round_], count: int, **options: Any) -> Event:
    return Event(
        system="swiss", entrants=entrants([2400.0 - 100 * at for at in range(count)]), rounds=tuple(rounds), **options
    )


# --- vectors


def go_event(case: dict[str, Any]) -> tuple[Event, dict[str, int]]:
    ids = {name: at for at, name in enumerate(case["start"], 1)}
    rounds = [
        Round_(
            number=number,
            games=tuple(
                Game(black=ids[black], white=ids[white], result=GO_RESULTS[how])
                for black, white, how in round_case["games"]
            ),
            byes=tuple(Bye(ids[name]) for name in round_case["free"]),
        )
        for number, round_case in enumerate(case["rounds"], 1)
    ]
    return Event(
        system="mcmahon", entrants=tuple(Entrant(id=id_, name=name) for name, id_ in ids.items()), rounds=tuple(rounds)
    ), ids


@pytest.mark.parametrize("variant", ["mcmahon", "epm"])
def test_go_tie_breakers(go_case: dict[str, Any], variant: str) -> None:
    event, ids = go_event(go_case)
    start = {ids[name]: 2 * count for name, count in go_case["start"].items()}
    options: dict[str, Any] = {"start": start, "absences": "all" if variant == "mcmahon" else "pairing"}
    names = {"mms": "mms", "game-points": "wins", "sos": "sos", "sosos": "sosos", "sodos": "sodos", "cuss": "cuss"}
    for word, key in names.items():
        assert value(event, word, **options) == {ids[name]: row[key] for name, row in go_case[variant].items()}, word
    lines = ledger(event).lines
    for name, row in go_case[variant].items():
        id_ = ids[name]
        assert mms(lines[id_], start[id_]) == 2 * row["pairing_mms"]
        terms = [
            mms(lines[id_], start[id_], number, options["absences"] == "all") / 2
            for number in range(1, len(event.rounds) + 1)
        ]
        assert terms == row["cuss_terms"]
    expected = [ids[name] for name in go_case[f"{variant}_order_mms_sos_sodos_cuss"]]
    assert order_of(event, ["mms", "sos", "sodos", "cuss"], **options) == expected


FIDE = (
    *("points", "buchholz-cut1", "buchholz", "direct", "aroc"),
    *("wins", "wins-black", "games-black", "sonneborn-berger", "rating", "seed"),
)


def chess_ids(names: Sequence[str]) -> dict[str, int]:
    return {name: at for at, name in enumerate(names, 1)}


def check_fide(case: Mapping[str, Any]) -> None:
    ids = chess_ids([player["id"] for player in case["players"]])
    rounds = [
        Round_(
            number=round_case["round"],
            games=tuple(
                Game(black=ids[board["black"]], white=ids[board["white"]], result=Result(2 - made, made))
                for board, made in zip(round_case["boards"], round_case["results_white_half_points"], strict=True)
            ),
            byes=() if round_case["bye"] is None else (Bye(ids[round_case["bye"]]),),
        )
        for round_case in case["rounds"]
    ]
    players = tuple(
        Entrant(id=ids[player["id"]], name=player["id"], rating=player["elo"]) for player in case["players"]
    )
    table = standings_by(Event(system="mwm", entrants=players, rounds=tuple(rounds)), FIDE)
    assert [row.name for row in table.rows] == case["final"]["ranking"]
    halves = {"points": "score", "buchholz-cut1": "bh_cut1", "buchholz": "bh", "direct": "de"}
    whole = {"wins": "wins", "wins-black": "wins_black", "games-black": "games_black"}
    for row in table.rows:
        result = dict(zip(table.order, row.values, strict=True))
        wanted = case["final"]["tiebreaks"][row.name]
        for word, key in halves.items():
            assert 2 * (result[word] or 0) == wanted[key], (row.name, word)
        for word, key in whole.items():
            assert result[word] == wanted[key], (row.name, word)
        assert result["aroc"] == pytest.approx(wanted["aroc"], abs=1e-9)
        assert 4 * (result["sonneborn-berger"] or 0) == wanted["sb"]


def test_fide_tie_breakers_of_whole_events(vectors: Vectors) -> None:
    cases = vectors("mwm_tournaments")["tournaments"]
    assert cases
    for case in cases:
        check_fide(case)


def test_fide_tie_breakers_of_the_worked_example(vectors: Vectors) -> None:
    check_fide(vectors("mwm_example_2_1"))


def test_tcec_final_rankings(vectors: Vectors) -> None:
    for case in vectors("tcec_rounds")["tournaments"]:
        late = [name for round_case in case["rounds"] for name in round_case["before"].get("join", ())]
        ids = chess_ids([*case["seed_order"], *late])
        joined = {
            name: round_case["round"] for round_case in case["rounds"] for name in round_case["before"].get("join", ())
        }
        worth = 4 if case["format"] == "double" else 2
        rounds = [
            Round_(
                number=round_case["round"],
                games=tuple(
                    Game(black=ids[black], white=ids[white], result=VOID if made is None else Result(2 - made, made))
                    for (white, black), made in zip(
                        round_case["playing_order"], round_case["results_white_half_points"], strict=True
                    )
                ),
                byes=() if round_case["bye"] is None else (Bye(ids[round_case["bye"]], worth),),
            )
            for round_case in case["rounds"]
        ]
        players = tuple(Entrant(id=id_, name=name, joined=joined.get(name, 1)) for name, id_ in ids.items())
        table = standings_by(
            Event(system="tcec", entrants=players, rounds=tuple(rounds)),
            ("points", "byes", "games-black", "sonneborn-berger", "seed"),
        )
        final = case["final"]
        assert [row.name for row in table.rows] == final["ranking"], case["name"]
        for row in table.rows:
            points, byes, black, berger, _ = row.values
            assert points is not None
            assert berger is not None
            assert (2 * points, byes, black, 4 * berger) == (
                final["score_half_points"][row.name],
                final["byes"][row.name],
                final["black_games"][row.name],
                final["sonneborn_berger_quarter_points"][row.name],
            ), (case["name"], row.name)


# --- any event, against slow transcriptions

RESULTS = (
    WHITE_WINS,
    BLACK_WINS,
    DRAWN,
    WHITE_WINS,
    BLACK_WINS,
    Result(0, 2, "forfeit"),
    Result(0, 0, "forfeit"),
    VOID,
    None,
)


@st.composite
def events(draw: st.DrawFn) -> Event:
    """Rounds by lot, without any rules: rematches, byes of all kinds, absent and late entrants, several games."""
    count = draw(st.integers(1, 7))
    ratings = draw(st.lists(st.sampled_from([None, 1800.0, 2000.0, 2250.5]), min_size=count, max_size=count))
    late = draw(st.lists(st.integers(1, 3), min_size=count, max_size=count))
    players = tuple(replace(player, joined=at) for player, at in zip(entrants(ratings), late, strict=True))
    rounds = []
    for number in range(1, draw(st.integers(0, 4)) + 1):
        there = draw(st.permutations([player.id for player in players if player.joined <= number]))
        away = draw(st.integers(0, min(2, len(there))))
        byes = tuple(Bye(id_, draw(st.sampled_from([0, 1, 2])), draw(st.booleans())) for id_ in there[:away])
        games = []
        left = there[away:]
        for white, black in zip(left[::2], left[1::2], strict=False):
            games.append(
                Game(
                    black=black,
                    white=white,
                    result=draw(st.sampled_from(RESULTS)),
                    handicap=draw(st.sampled_from([0, 0, 3])),
                )
            )
            if draw(st.integers(0, 4)) == 0:
                games.append(Game(black=white, white=black, result=draw(st.sampled_from(RESULTS))))
        rounds.append(Round_(number=number, games=tuple(games), byes=byes))
    return Event(system="swiss", entrants=players, seed=draw(st.integers(0, 99)), rounds=tuple(rounds))


def games_of(event: Event, id_: int) -> list[tuple[int, int, int, bool]]:
    """Round, opponent, half points, whether with Black: of games really played."""
    collected = []
    for round_ in event.rounds:
        for game in round_.games:
            if game.result is not None and game.result.how == "played":
                if game.white == id_:
                    collected.append((round_.number, game.black, game.result.white, False))
                if game.black == id_:
                    collected.append((round_.number, game.white, game.result.black, True))
    return collected


def made(event: Event, id_: int, rounds: Sequence[int]) -> int:
    """Half points in these rounds."""
    total = 0
    for number in rounds:
        round_ = event.rounds[number - 1]
        for game in round_.games:
            if game.result is not None:
                total += game.result.white * (game.white == id_) + game.result.black * (game.black == id_)
        total += sum(bye.points for bye in round_.byes if bye.entrant == id_)
    return total


def slots(event: Event, number: int) -> int:
    round_ = event.rounds[number - 1]
    return max([1, *(sum(id_ in game.pair for game in round_.games) for id_ in range(1, len(event.entrants) + 1))])


@settings(max_examples=60)
@given(events())
def test_buchholz_and_sonneborn_berger_literally(event: Event) -> None:
    numbers = range(1, len(event.rounds) + 1)
    final = {entrant.id: made(event, entrant.id, numbers) for entrant in event.entrants}
    sums: dict[str, dict[int, float]] = {word: {} for word in ("buchholz", "cut1", "cut2", "median", "berger", "black")}
    for id_ in final:
        scores = [Fraction(final[opponent], 2) for _, opponent, _, _ in games_of(event, id_)]
        for number in numbers:
            round_ = event.rounds[number - 1]
            virtual = (
                Fraction(made(event, id_, range(1, number)), 2)
                + max(Fraction(0), slots(event, number) - Fraction(made(event, id_, [number]), 2))
                + sum(Fraction(slots(event, later), 2) for later in range(number + 1, len(event.rounds) + 1))
            )
            unplayed = [
                game for game in round_.games if id_ in game.pair and game.result and game.result.how != "played"
            ]
            scores += [virtual] * len(unplayed)
            for bye in round_.byes:
                if bye.entrant == id_ and (bye.points or not bye.requested):
                    scores += [virtual] * slots(event, number)
        scores.sort()
        sums["buchholz"][id_] = float(sum(scores))
        sums["cut1"][id_] = float(sum(scores[1:]))
        sums["cut2"][id_] = float(sum(scores[2:]))
        sums["median"][id_] = float(sum(scores[1:-1]))
        sums["berger"][id_] = sum(points * final[opponent] for _, opponent, points, _ in games_of(event, id_)) / 4
        sums["black"][id_] = sum(black and points == 2 for _, _, points, black in games_of(event, id_))
    assert value(event, "points") == {id_: score / 2 for id_, score in final.items()}
    assert value(event, "buchholz") == sums["buchholz"]
    assert value(event, "buchholz-cut1") == sums["cut1"]
    assert value(event, "buchholz-cut2") == sums["cut2"]
    assert value(event, "median-buchholz") == sums["median"]
    assert value(event, "sonneborn-berger") == sums["berger"]
    assert value(event, "wins-black") == sums["black"]


@settings(max_examples=60)
@given(events(), st.booleans())
def test_sums_of_scores_literally(event: Event, with_start: bool) -> None:
    start = {entrant.id: 2 * (entrant.id % 3) for entrant in event.entrants} if with_start else None
    numbers = range(1, len(event.rounds) + 1)

    def there(id_: int, number: int) -> bool:
        round_ = event.rounds[number - 1]
        return any(id_ in game.pair for game in round_.games) or any(
            bye.entrant == id_ and (bye.points > 0 or not bye.requested) for bye in round_.byes
        )

    def score(id_: int, upto: int) -> Fraction:
        joined = event.entrants[id_ - 1].joined
        away = sum(joined <= number and not there(id_, number) for number in range(1, upto + 1))
        begun = Fraction(start[id_], 2) + away // 2 if start else Fraction(0)
        return begun + Fraction(made(event, id_, range(1, upto + 1)), 2)

    def over(id_: int, values: Mapping[int, Fraction]) -> Fraction:
        total = sum((values[opponent] for _, opponent, _, _ in games_of(event, id_)), Fraction(0))
        for number in numbers:
            mine = [game for game in event.rounds[number - 1].games if id_ in game.pair]
            unplayed = sum(game.result is not None and game.result.how != "played" for game in mine)
            total += values[id_] * (unplayed if mine else slots(event, number))
        return total

    ids = [entrant.id for entrant in event.entrants]
    final = {id_: score(id_, len(event.rounds)) for id_ in ids}
    sos = {id_: over(id_, final) for id_ in ids}
    assert value(event, "mms", start=start) == {id_: float(final[id_]) for id_ in ids}
    assert value(event, "sos", start=start) == {id_: float(sos[id_]) for id_ in ids}
    assert value(event, "sosos", start=start) == {id_: float(over(id_, sos)) for id_ in ids}
    assert value(event, "sodos", start=start) == {
        id_: float(sum(Fraction(points, 2) * final[opponent] for _, opponent, points, _ in games_of(event, id_)))
        for id_ in ids
    }
    assert value(event, "cuss", start=start) == {id_: float(sum(score(id_, n) for n in numbers)) for id_ in ids}


@settings(max_examples=60)
@given(events(), st.sampled_from([("points",), (), ("points", "buchholz"), ("wins", "direct", "seed")]))
def test_direct_encounter_literally(event: Event, before: tuple[str, ...]) -> None:
    table = standings_by(event, (*before, "direct"))
    equal = {row.entrant: row.values[:-1] for row in table.rows}
    for row in table.rows:
        tied = [id_ for id_, values in equal.items() if values == row.values[:-1]]
        played = {(id_, opponent) for id_ in tied for _, opponent, _, _ in games_of(event, id_)}
        all_met = all((tied_id, other) in played for tied_id in tied for other in tied if tied_id != other)
        among = sum(points for _, opponent, points, _ in games_of(event, row.entrant) if opponent in tied) / 2
        if "direct" not in before:
            assert row.values[-1] == (among if all_met and len(tied) > 1 else None)


@settings(max_examples=30)
@given(events(), st.randoms(use_true_random=False))
def test_no_number_or_order_of_entrants_matters(event: Event, random: Any) -> None:
    listed = list(event.entrants)
    random.shuffle(listed)
    new = {entrant.id: at * 7 for at, entrant in enumerate(listed, 1)}

    def renamed(round_: Round_) -> Round_:
        games = [replace(game, white=new[game.white], black=new[game.black]) for game in round_.games]
        byes = [replace(bye, entrant=new[bye.entrant]) for bye in round_.byes]
        random.shuffle(games)
        return replace(round_, games=tuple(games), byes=tuple(byes))

    other = replace(
        event,
        entrants=tuple(replace(entrant, id=new[entrant.id]) for entrant in listed),
        rounds=tuple(map(renamed, event.rounds)),
    )
    words = [word for word in TIE_BREAKERS if word not in ("seed", "lots")]
    first = {new[row.entrant]: (row.place, row.values) for row in standings_by(event, words).rows}
    assert {row.entrant: (row.place, row.values) for row in standings_by(other, words).rows} == first


@settings(max_examples=40)
@given(events())
def test_standings_are_consistent_with_the_results(event: Event) -> None:
    table = standings_by(event, list(TIE_BREAKERS))
    given_away = sum(
        (game.result.white + game.result.black) / 2 for round_ in event.rounds for game in round_.games if game.result
    ) + sum(bye.points / 2 for round_ in event.rounds for bye in round_.byes)
    assert sum(row.values[0] or 0 for row in table.rows) == given_away
    assert sorted(row.entrant for row in table.rows) == [entrant.id for entrant in event.entrants]
    assert [row.place for row in table.rows] == list(range(1, len(table.rows) + 1))  # seeds leave nobody equal
    berger = value(event, "sonneborn-berger")
    sodos = value(event, "sodos")
    assert berger == sodos  # without starting points they are the same sum


def test_sum_of_sos_counts_everybodys_score_once_a_round() -> None:
    """With only played games and byes: everybody's score is added once for each round."""
    rounds = [
        Round_(
            number=1,
            games=(Game(black=2, white=1, result=WHITE_WINS), Game(black=4, white=3, result=DRAWN)),
            byes=(Bye(5),),
        ),
        Round_(
            number=2,
            games=(Game(black=1, white=5, result=BLACK_WINS), Game(black=3, white=2, result=DRAWN)),
            byes=(Bye(4),),
        ),
    ]
    event = event_of(rounds, 5)
    assert sum(result or 0 for result in value(event, "sos").values()) == 2 * sum(
        result or 0 for result in value(event, "points").values()
    )


def test_a_virtual_opponent_takes_what_the_player_did_not_get() -> None:
    """Three rounds; a bye asked for in round 2 after a win: virtual opponents of 1 + left + one later round's half."""
    for points, left in ((2, 0.0), (1, 0.5)):
        rounds = [
            Round_(number=1, games=(Game(black=2, white=1, result=WHITE_WINS),)),
            Round_(number=2, games=(), byes=(Bye(1, points, True),)),
            Round_(number=3, games=(Game(black=1, white=2, result=WHITE_WINS),)),
        ]
        assert value(event_of(rounds, 2), "buchholz")[1] == 1.0 + 1.0 + (1.0 + left + 0.5)


def test_rounds_of_two_games_count_twice_for_a_virtual_opponent() -> None:
    rounds = [
        Round_(
            number=1,
            games=(Game(black=2, white=1, result=DRAWN), Game(black=1, white=2, result=DRAWN)),
            byes=(Bye(3, 4),),
        ),
        Round_(
            number=2,
            games=(Game(black=1, white=3, result=DRAWN), Game(black=3, white=1, result=DRAWN)),
            byes=(Bye(2, 4),),
        ),
    ]
    values = value(event_of(rounds, 3), "buchholz")
    assert values[3] == 2 * 2.0 + 2 * (0.0 + 1.0)  # before the round, and half a point of each game of the next one
    assert values[2] == 2 * 2.0 + 2 * (1.0 + 0.0)


def test_an_absence_has_no_virtual_opponent_announced_or_not() -> None:
    played = [Round_(number=1, games=(Game(black=2, white=1, result=WHITE_WINS),)), Round_(number=2)]
    keys = [played[0], Round_(number=2, games=(), byes=(Bye(1, 0, True),))]
    assert value(event_of(played, 2), "buchholz") == value(event_of(keys, 2), "buchholz") == {1: 0.0, 2: 1.0}


def test_direct_encounter_separates_two_and_not_three_who_have_not_all_met() -> None:
    rounds = [
        Round_(number=1, games=(Game(black=1, white=2, result=WHITE_WINS), Game(black=4, white=3, result=WHITE_WINS))),
        Round_(number=2, games=(Game(black=4, white=1, result=WHITE_WINS), Game(black=2, white=3, result=BLACK_WINS))),
    ]
    event = event_of(rounds, 4)
    assert value(event, "direct") == dict.fromkeys(range(1, 5))
    table = standings_by(event, ["points", "direct"])
    assert [(row.place, row.entrant, row.values[1]) for row in table.rows] == [
        (1, 2, None),
        (2, 1, None),
        (2, 3, None),
        (4, 4, None),
    ]
    for result, places in ((DRAWN, [1, 2, 2, 4]), (BLACK_WINS, [1, 2, 3, 4])):
        met = replace(event, rounds=(*rounds, Round_(number=3, games=(Game(black=3, white=1, result=result),))))
        assert [row.place for row in standings_by(met, ["points", "direct"]).rows] == places
    drawn = replace(event, rounds=(*rounds, Round_(number=3, games=(Game(black=3, white=1, result=DRAWN),))))
    assert [row.values[1] for row in standings_by(drawn, ["points", "direct"]).rows] == [None, 0.5, 0.5, None]


def test_direct_encounter_looks_at_those_equal_in_every_word_before() -> None:
    """Three with a point each in a circle, then a fourth word that leaves two of them equal."""
    circle = (
        Game(black=2, white=1, result=WHITE_WINS),
        Game(black=3, white=2, result=WHITE_WINS),
        Game(black=1, white=3, result=WHITE_WINS),
    )
    event = Event(system="swiss", entrants=entrants([2000.0, 2000.0, 1900.0]), rounds=(Round_(number=1, games=circle),))
    assert [row.values[1] for row in standings_by(event, ["points", "direct"]).rows] == [1.0, 1.0, 1.0]
    table = standings_by(event, ["points", "rating", "direct"])
    assert [(row.entrant, row.values[2]) for row in table.rows] == [(1, 1.0), (2, 0.0), (3, None)]


def test_unknown_words_are_refused_with_the_choices() -> None:
    with pytest.raises(Refused, match=r"no tie-breaker 'bucholz'.*buchholz-cut1"):
        standings_by(event_of([], 2), ["points", "bucholz"])
    with pytest.raises(Refused):
        description("bucholz")


def test_every_word_is_described_and_every_ascending_word_is_one() -> None:
    assert set(ASCENDING) <= set(TIE_BREAKERS)
    for word in TIE_BREAKERS:
        assert description(word).endswith("."), word
    assert len(set(TIE_BREAKERS.values())) == len(TIE_BREAKERS)


def test_given_values_replace_those_of_the_record() -> None:
    event = event_of([], 3)
    assert order_of(event, ["seed"]) == [1, 2, 3]
    assert order_of(event, ["seed"], given={"seed": {1: 2.0, 2: 3.0, 3: 1.0}}) == [3, 1, 2]


def test_lots_follow_the_events_seed() -> None:
    first, second = (value(event_of([], 6, seed=seed), "lots") for seed in (1, 2))
    assert first != second
    assert first == value(event_of([Round_(number=1)], 6, seed=1), "lots")


def test_performance_leaves_out_handicap_and_unrated_opponents() -> None:
    players = entrants([2000.0, 2100.0, None])
    plain = Event(
        system="swiss", entrants=players, rounds=(Round_(number=1, games=(Game(black=2, white=1, result=DRAWN),)),)
    )
    more = replace(
        plain,
        rounds=(
            *plain.rounds,
            Round_(number=2, games=(Game(black=2, white=1, result=WHITE_WINS, handicap=2),)),
            Round_(number=3, games=(Game(black=3, white=1, result=DRAWN),)),
        ),
    )
    assert value(plain, "performance") == {1: 2100.0, 2: 2000.0, 3: None}
    assert value(more, "performance") == {1: 2100.0, 2: 2000.0, 3: 2000.0}
