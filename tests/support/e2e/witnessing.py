"""Several witnesses at a real server, and what their memories are held against."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator

from support.e2e.processes import ServerProcess
from support.e2e.witness import Witness


@contextlib.contextmanager
def witnesses(serving: ServerProcess, count: int = 4, *, port: int = 0, first: int = 0) -> Iterator[list[Witness]]:
    """At another port than the first venue's where `port` says so; their numbers begin with `first`."""
    numbers = range(first, first + count)
    threads = [Witness(port or serving.port, f"witness{number}", number) for number in numbers]
    for thread in threads:
        thread.start()
    try:
        yield threads
    finally:
        for thread in threads:
            thread.stop()


def plies(serving: ServerProcess) -> int:
    return int(serving.query("select count(*) from moves")[0][0])


def ended(serving: ServerProcess) -> int:
    return int(serving.query("select count(*) from games where ended_at is not null")[0][0])


def assert_nothing_told_is_lost(serving: ServerProcess, threads: list[Witness]) -> None:
    """Every move and every result that any bot was ever told stands in the database, with one meaning."""
    heard = [(dict(thread.moves), {game: set(endings) for game, endings in thread.ends.items()}) for thread in threads]
    stored = {(game, ply): move for game, ply, move in serving.query("select game_id, ply, move from moves")}
    results = dict(serving.query("select id, result from games"))
    for moves, ends in heard:
        assert {place: move for place, move in moves.items() if stored.get(place) != move} == {}
        for game, ended_as in ends.items():
            assert ended_as == {results[game]}
    assert [conflict for thread in threads for conflict in thread.conflicts] == []


def assert_every_result_is_rated_once(serving: ServerProcess) -> None:
    """To be asked when nobody plays any more."""
    rated = [game for (game,) in serving.query("select game_id from ledger where kind = 'game' order by seq")]
    decided = [
        game
        for (game,) in serving.query(
            "select id from games where ended_at is not null and reason not in ('abort', 'void') order by id"
        )
    ]
    assert sorted(rated) == decided
    seqs = [seq for (seq,) in serving.query("select seq from ledger order by seq")]
    assert seqs == list(range(1, 1 + len(seqs)))


def assert_the_better_of_two_is_rated_higher(serving: ServerProcess) -> None:
    """To be asked when nobody plays any more, in one venue. Who is the better one is for the results to say."""
    points = Counter[int]()
    for black, white, score2 in serving.query("select black_id, white_id, score2 from ledger where kind = 'game'"):
        points.update({black: score2, white: 2 - score2})
    ratings = dict(serving.query("select version_id, mean from ratings"))
    worse, better = sorted(points, key=lambda version: points[version])
    assert points[worse] == points[better] or ratings[worse] < 1800 < ratings[better]
