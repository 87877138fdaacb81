"""Events that hypothesis draws: nobody's pairing, everything that a record can have."""

from __future__ import annotations

from hypothesis import strategies as st
from msgspec.structs import replace

from cgos_server.tournaments.base import VOID, Bye, Entrant, Event, Explanation, Game, Request, Result, Round

LETTERS = st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp"))
WORDS = st.lists(st.text(LETTERS, min_size=1, max_size=20), min_size=1, max_size=3).map(" ".join)
PLAYED = [Result(0, 2), Result(1, 1), Result(2, 0), Result(0, 0), Result(0, 1), Result(1, 0)]
FORFEITS = [Result(0, 2, "forfeit"), Result(2, 0, "forfeit"), Result(0, 0, "forfeit")]
RESULTS = st.sampled_from([*PLAYED, *FORFEITS, VOID])
RATINGS = st.none() | st.integers(-900, 12_000).map(float) | st.floats(-900, 12_000)


@st.composite
def events(draw: st.DrawFn, open_games: bool = True) -> Event:
    """Whose last round, if any, has a game or a bye given: files cannot tell another from requests."""
    ids = draw(st.lists(st.integers(1, 9999), max_size=7, unique=True))
    bye_points = draw(st.sampled_from([0, 1, 2]))
    number = draw(st.integers(0, 4)) if ids else 0
    rounds = [draw(_rounds(at, ids, bye_points, open_games and at == number)) for at in range(1, number + 1)]
    while rounds and not (rounds[-1].games or any(not bye.requested for bye in rounds[-1].byes)):
        rounds.pop()
    last_round: dict[int, int] = {}
    for round_ in reversed(rounds):
        there = [id_ for game in round_.games for id_ in game.pair] + [bye.entrant for bye in round_.byes]
        last_round.update(dict.fromkeys(there, round_.number))
    entrants = tuple(draw(_entrants(id_, last_round.get(id_, len(rounds) + 1))) for id_ in ids)
    withdrawn = tuple(sorted(draw(st.sets(st.sampled_from(ids))))) if ids else ()
    past = [
        Request(bye.entrant, earlier.number, bye.points) for earlier in rounds for bye in earlier.byes if bye.requested
    ]
    follow = [
        Request(id_, len(rounds) + 1 + draw(st.integers(0, 2)), draw(st.sampled_from([0, 1, 2])))
        for id_ in ids
        if id_ not in withdrawn and draw(st.booleans())
    ]
    pairs = [(id_, other) for id_ in sorted(ids) for other in sorted(ids) if id_ < other]
    unrequested = any(not bye.requested for earlier in rounds for bye in earlier.byes)
    return Event(
        system=draw(st.sampled_from(["dutch", "swiss", "mwm"])),
        entrants=entrants,
        name=draw(st.just("") | WORDS),
        options=draw(st.dictionaries(st.text(LETTERS, max_size=5), st.booleans() | st.integers(-5, 5), max_size=2)),
        planned=draw(st.none() | st.integers(len(rounds) + 1, 12)),
        seed=draw(st.integers(0, 2**63 - 1)),
        rounds=tuple(rounds),
        withdrawn=withdrawn,
        requests=(*past, *follow),
        forbidden=tuple(sorted(draw(st.sets(st.sampled_from(pairs), max_size=3)))) if pairs else (),
        bye_points=bye_points if unrequested else 2,
        tie_breakers=draw(st.sampled_from([(), ("points", "buchholz")])),
    )


@st.composite
def _rounds(draw: st.DrawFn, number: int, ids: list[int], bye_points: int, open_games: bool) -> Round:
    order = draw(st.permutations(ids))
    paired = 2 * draw(st.integers(0, len(ids) // 2))
    results = RESULTS | st.none() if open_games else RESULTS
    games = [
        Game(
            black=black,
            white=white,
            result=draw(results),
            handicap=draw(st.sampled_from([0, 0, 0, 4])),
            reason="because",
        )
        for white, black in zip(order[:paired:2], order[1:paired:2], strict=True)
    ]
    byes = [
        draw(st.sampled_from([None, Bye(id_, bye_points), *(Bye(id_, points, requested=True) for points in (0, 1, 2))]))
        for id_ in order[paired:]
    ]
    return Round(
        number=number, games=tuple(games), byes=tuple(bye for bye in byes if bye), explanation=Explanation("So it is.")
    )


@st.composite
def _entrants(draw: st.DrawFn, id_: int, latest: int) -> Entrant:
    return Entrant(
        id=id_,
        name=draw(WORDS),
        rating=draw(RATINGS),
        start=draw(st.none() | st.integers(-4, 40)),
        grade=draw(st.sampled_from(["", "4d", "12k"])),
        country=draw(st.just("") | WORDS),
        club=draw(st.just("") | WORDS),
        joined=draw(st.integers(1, latest)),
    )


@st.composite
def growths(draw: st.DrawFn) -> tuple[Event, Event]:
    """An event, and what became of it: open games played, perhaps another entrant, another round, other plans."""
    before = draw(events())
    entrants, rounds = before.entrants, [_finished(draw, round_) for round_ in before.rounds]
    if draw(st.booleans()):
        free = max((entrant.id for entrant in entrants), default=0) % 9999 + 1
        if all(entrant.id != free for entrant in entrants):
            entrants = (*entrants, draw(_entrants(free, len(rounds) + 1)))
    ids = [entrant.id for entrant in entrants]
    if draw(st.booleans()) and ids:
        new_round = draw(_rounds(len(rounds) + 1, ids, before.bye_points, True))
        if new_round.games:
            rounds.append(new_round)
    number = len(rounds)
    gone = draw(st.sets(st.sampled_from(ids))) if ids else set()
    past = [
        Request(bye.entrant, round_.number, bye.points) for round_ in rounds for bye in round_.byes if bye.requested
    ]
    asking = draw(st.lists(st.sampled_from(ids), unique=True)) if ids else []
    follow = [Request(id_, number + 1, draw(st.sampled_from([0, 1, 2]))) for id_ in asking if id_ not in gone]
    pairs = draw(st.sets(st.sampled_from(before.forbidden))) if before.forbidden else set()
    if len(ids) > 1:
        pairs.add((min(ids[:2]), max(ids[:2])))
    after = replace(
        before,
        name=draw(st.sampled_from([before.name, "Another"])),
        entrants=tuple(
            replace(entrant, country=draw(st.sampled_from([entrant.country, "NOR"]))) for entrant in entrants
        ),
        planned=draw(st.sampled_from([before.planned, None, 20])),
        seed=draw(st.sampled_from([before.seed, 7])),
        rounds=tuple(rounds),
        requests=(*past, *follow),
        withdrawn=tuple(sorted(gone)),
        forbidden=tuple(sorted(pairs)),
    )
    return before, after


def _finished(draw: st.DrawFn, round_: Round) -> Round:
    games = (replace(game, result=game.result or draw(RESULTS)) for game in round_.games)
    return replace(round_, games=tuple(games))


def as_in_files(event: Event) -> Event:
    """What files tell of it: games, byes and requests in one order, without reasons."""
    rounds = tuple(
        Round(
            number=round_.number,
            games=tuple(sorted((replace(game, reason="", id=0) for game in round_.games), key=lambda game: game.pair)),
            byes=tuple(sorted(round_.byes, key=lambda bye: bye.entrant)),
        )
        for round_ in event.rounds
    )
    return replace(
        event,
        rounds=rounds,
        requests=tuple(sorted(event.requests, key=lambda request: (request.round, request.entrant))),
        forbidden=tuple(sorted(event.forbidden)),
        withdrawn=tuple(sorted(event.withdrawn)),
    )
