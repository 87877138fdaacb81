"""How pairing has been, counted up from rows by hand, and from a database."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.errors import OurFault, Refused
from cgos_server.core.pairing.base import Candidate, PairingPass
from cgos_server.core.pairing.explain import encode_inputs
from cgos_server.service.pairing import statistics as pairing_stats
from cgos_server.service.pairing.statistics import Bin, Tally, candidates_of, common, spread, statistics, union
from cgos_server.storage import schema
from cgos_server.storage.opening import open_store
from cgos_server.storage.reading.answers import ConnectionSpan, PairedGame, PairedRound
from cgos_server.storage.reading.history import History
from cgos_server.storage.writing import records as r
from cgos_server.storage.writing.group_commit import CommitListener

NAMES = {1: "Ann", 2: "Bea", 3: "Cid", 4: "Dot"}


def game(
    number: int,
    black: int,
    white: int,
    at: int,
    until: int | None,
    *,
    pairing_pass: int | None = 1,
    labels: tuple[str, str] = ("1800", "1750?"),
    opening: str = "",
    **detail: Any,
) -> PairedGame:
    over = None if until is None else "score"
    return PairedGame(
        id=number,
        round=pairing_pass,
        black_id=black,
        white_id=white,
        black_label=labels[0],
        white_label=labels[1],
        started_at=at,
        ended_at=until,
        reason=over,
        opening=opening,
        detail=detail if pairing_pass else None,
    )


def round_(number: int, at: int, candidates: list[Candidate], sits_out: tuple[int, ...] = ()) -> PairedRound:
    return PairedRound(
        id=number,
        number=number,
        at=at,
        policy="rolling",
        method="birk",
        inputs=encode_inputs(PairingPass(candidates=candidates)),
        sits_out={str(v): "Odd." for v in sits_out},
        notes=[],
    )


def ready(version: int, waited_s: float = 0.0) -> Candidate:
    return Candidate(version, NAMES[version], 1800.0, round(waited_s * 1e6))


def span(version: int, opened: int, closed: int | None) -> ConnectionSpan:
    return ConnectionSpan(version_id=version, opened_at=opened, closed_at=closed)


def test_nothing_was_played() -> None:
    tally = Tally("9x9", 100, 0)
    assert tally.versions == []
    figures = tally.result(NAMES, [])
    assert (figures.games, figures.rounds, figures.in_games, figures.again, figures.most, figures.versions) == (
        0, 0, None, None, None, [],
    )  # fmt: skip
    assert (figures.gaps.count, figures.gaps.largest) == (0, 0.0)


def test_games_are_counted_by_version() -> None:
    tally = Tally("9x9", 100, 0)
    tally.games([
        game(5, 1, 2, 5_000, None, labels=("1800", "x")),
        game(4, 3, 1, 4_000, 4_500, pairing_pass=None, labels=("1700?", "1810")),
        game(3, 1, 2, 3_000, 3_900, opening="Star", gave_way=["last", "kin"]),
        game(2, 2, 1, 2_000, 2_900, gave_way=["last"]),
        game(1, 1, 2, 1_000, 1_900, expected=0.25, bits=0.5),
    ])  # fmt: skip
    figures = tally.result(NAMES, [])
    assert (figures.games, figures.arranged, figures.opened, figures.rounds) == (5, 1, 1, 1)
    assert (figures.since, figures.until) == (1_000, 5_000)
    assert (figures.gaps.count, figures.gaps.largest, figures.gaps.median) == (4, 110.0, 50.0)
    assert (figures.expected.count, figures.expected.mean) == (1, 0.75)
    assert (figures.bits.count, figures.bits.mean) == (1, 0.5)
    assert figures.gave_way == {"last": 2, "kin": 1}
    ann, bea, cid = figures.versions
    assert [version.name for version in figures.versions] == ["Ann", "Bea", "Cid"]
    assert (ann.games, ann.black, ann.opponents, ann.most, ann.most_share) == (5, 3, 2, "Bea", 0.8)
    assert (bea.games, bea.black, bea.opponents, bea.most, bea.most_share) == (4, 1, 1, "Ann", 1.0)
    # Ann met Bea, Bea, Bea, Cid, Bea: two of four games were against the last opponent; of Bea's all three.
    assert (ann.again, bea.again, cid.again) == (0.5, 1.0, None)
    assert figures.again == (2 + 3 + 0) / (4 + 3 + 0)
    # Whoever played most, and of those whoever met one opponent most.
    assert figures.most == ("Ann", "Bea", 0.8)


def test_the_most_frequent_opponent_counts_of_the_last_hundred_games_only() -> None:
    tally = Tally("9x9", 1_000, 0)
    tally.games(game(1_000 - at, 1, 2 if at < 40 else 3, 1_000 - at, 1_000 - at) for at in range(300))
    figures = tally.result(NAMES, [])
    ann = figures.versions[0]
    assert (ann.games, ann.most, ann.most_share) == (300, "Cid", 0.6)
    # Bea has too few games to be compared with; Cid met nobody else.
    assert figures.most == ("Cid", "Ann", 1.0)


def test_only_so_many_games_and_only_since_then() -> None:
    rows = [game(at, 1, 2, 100 * at, None) for at in range(9, 0, -1)]
    tally = Tally("9x9", 4, 0)
    tally.games(rows)
    assert tally.full
    assert (tally.result(NAMES, []).games, tally.span) == (4, (600, 900))
    tally = Tally("9x9", 100, 350)
    tally.games(rows)
    assert tally.full
    assert (tally.result(NAMES, []).games, tally.span) == (6, (350, 900))


def test_waits_are_those_of_who_was_paired() -> None:
    tally = Tally("9x9", 100, 0)
    tally.games([game(2, 1, 2, 2_000, 2_500, pairing_pass=2), game(1, 3, 1, 1_000, 1_500, pairing_pass=1)])
    more = tally.rounds([
        round_(2, 2_000, [ready(1, 3.0), ready(2, 0.5), ready(4, 9.0)], sits_out=(4,)),
        round_(1, 1_000, [ready(1, 1.0), ready(3, 2.0), ready(4, 4.0), ready(2, 7.0)], sits_out=(4, 2)),
    ])  # fmt: skip
    assert more
    figures = tally.result(NAMES, [])
    assert (figures.waits.count, figures.waits.mean, figures.waits.median, figures.waits.largest) == (
        4,
        1.625,
        1.0,
        3.0,
    )
    assert (figures.sat_out, figures.looked_at, figures.methods) == (3, 2, {"birk": 2})
    by_name = {version.name: version for version in figures.versions}
    assert (by_name["Ann"].wait_s, by_name["Bea"].wait_s, by_name["Dot"].wait_s) == (2.0, 0.5, None)
    assert (by_name["Dot"].games, by_name["Dot"].sat_out, by_name["Dot"].most) == (0, 2, None)


def test_rounds_before_the_span_do_not_count() -> None:
    tally = Tally("9x9", 100, 0)
    assert not tally.rounds([round_(1, 1_000, [ready(1)])])
    tally.games([game(2, 1, 2, 2_000, 2_500, pairing_pass=2)])
    assert not tally.rounds([round_(2, 2_000, [ready(1), ready(2)]), round_(1, 1_999, [ready(1), ready(2)])])
    assert tally.result(NAMES, []).looked_at == 1
    tally = Tally("9x9", 100, 0, most_rounds=1)
    tally.games([game(2, 1, 2, 1_000, 2_500, pairing_pass=2)])
    assert not tally.rounds([round_(2, 2_000, [ready(1)]), round_(1, 1_999, [ready(1)])])
    assert tally.result(NAMES, []).looked_at == 1


def test_time_in_games_is_of_the_time_signed_in() -> None:
    tally = Tally("9x9", 100, 0)
    tally.games([game(2, 1, 2, 2_000, None), game(1, 1, 2, 1_000, 1_500), game(0, 1, 3, 500, 11_000)])
    figures = tally.result(NAMES, [span(1, 0, 700), span(1, 800, None), span(2, 1_200, 2_600), span(3, 100, 500)])
    assert (figures.since, figures.until) == (500, 11_000)
    shares = {version.name: version.in_games for version in figures.versions}
    # Bea is there from 1200 to 2600 and plays until 1500 and from 2000; Cid is never there within the span.
    assert shares == {"Ann": 1.0, "Bea": (300 + 600) / 1_400, "Cid": None}
    assert figures.in_games == pytest.approx((200 + 10_200 + 900) / (200 + 10_200 + 1_400))


def test_a_crash_hides_the_end_of_a_connection() -> None:
    day = 86_400_000
    tally = Tally("9x9", 100, 0)
    tally.games([game(2, 1, 2, day, day + 1_000), game(1, 3, 1, 0, 1_000)])
    spans = [span(1, 0, None), span(1, day, None), span(2, day, None), span(3, 0, None)]
    shares = {version.name: version.in_games for version in tally.result(NAMES, spans).versions}
    # Ann's first connection lasted until her next one at the latest; Cid was not heard of after its game.
    assert shares == {"Ann": pytest.approx(2_000 / (day + 1_000)), "Bea": 1.0, "Cid": 1.0}


def test_spreads() -> None:
    distribution = spread([-1.0, 0.0, 5.0, 10.0, 99.0], (0, 5, 10))
    assert distribution.bins == [Bin(0, 5, 2), Bin(5, 10, 1), Bin(10, None, 2)]
    assert (distribution.count, distribution.mean, distribution.median, distribution.p90, distribution.largest) == (
        5,
        22.6,
        5.0,
        99.0,
        99.0,
    )


spans = st.lists(st.tuples(st.integers(0, 30), st.none() | st.integers(0, 30)), max_size=6)


def covered(some: list[tuple[int, int | None]]) -> set[int]:
    return {at for begin, end in some for at in range(max(begin, 5), min(25 if end is None else end, 25))}


@given(spans, spans)
def test_times_are_united_and_shared(some: list[tuple[int, int | None]], others: list[tuple[int, int | None]]) -> None:
    mine, theirs = union(some, 5, 25), union(others, 5, 25)
    assert [at for begin, end in mine for at in range(begin, end)] == sorted(covered(some))
    assert all(first[1] < second[0] for first, second in itertools.pairwise(mine))
    both = common(mine, theirs)
    assert [at for begin, end in both for at in range(begin, end)] == sorted(covered(some) & covered(others))


def test_candidates_of_a_recorded_pairing_pass() -> None:
    candidates = [ready(1, 1.0), ready(2)]
    assert candidates_of(encode_inputs(PairingPass(candidates=candidates))) == candidates
    assert candidates_of("") == (), "they are kept no longer"
    for text in ("[]", "{}", '{"candidates": 3}'):
        with pytest.raises(OurFault, match="inputs of a round"):
            candidates_of(text)


async def test_a_database_is_read_in_portions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "cgos.sqlite"
    schema.prepare(path)
    await fill(path)
    async with History(path) as history:
        whole = await statistics(history, "9x9")
        monkeypatch.setattr(pairing_stats, "_GAMES_AT_ONCE", 2)
        monkeypatch.setattr(pairing_stats, "_ROUNDS_AT_ONCE", 1)
        assert await statistics(history, "9x9") == whole
        last = await statistics(history, "9x9", last=3)
        since = await statistics(history, "9x9", since=3_000)
        assert await statistics(history, "13x13") != whole
        with pytest.raises(Refused, match="There is no venue"):
            await statistics(history, "8x8")
    assert (whole.games, whole.rounds, whole.looked_at, whole.arranged) == (6, 5, 5, 1)
    assert (last.games, last.looked_at, last.since) == (3, 3, 4_000)
    assert (since.games, since.looked_at, since.since) == (4, 4, 3_000)
    assert whole.waits.count == 10
    assert whole.in_games == pytest.approx(2 * (5 * 500 + 500) / (2 * (6_500 - 1_000)))


async def fill(path: Path) -> None:
    """Six games of Ann and Bea, half a second each, one a second."""

    def unexpected(error: Exception) -> None:
        raise error

    store = await open_store(path, CommitListener(failed=unexpected, on_error=unexpected))
    rows: list[r.Record] = [r.VenueAdded(1, "9x9", "{}", 0), r.VenueAdded(2, "13x13", "{}", 0)]
    for number, name in ((1, "Ann"), (2, "Bea")):
        rows.append(r.BotAdded(number, name, name.lower(), "", "active", 0))
        rows.append(r.VersionAdded(number, number, name, name.lower(), "", "", "", "", 0))
        rows.append(r.ConnectionOpened(number, 1, number, "", "", 900))
    inputs = encode_inputs(PairingPass(candidates=[ready(1, 1.0), ready(2)]))
    for at in range(1, 7):
        arranged = at == 2
        if not arranged:
            rows.append(r.RoundAdded(at, 1, at, 1_000 * at, "rolling", "birk", "{}", "1", inputs, "{}", "[]"))
        pairing_pass = None if arranged else at
        rows.append(r.GameAdded(at, 1, pairing_pass, 1, 2, "1800", "1700", "{}", "", 1_000 * at))
        if pairing_pass is not None:
            rows.append(r.PairingAdded(at, pairing_pass, 1, 2, "", "", '{"expected":0.64,"bits":0.94}'))
        rows.append(r.GameEnded(1_000 * at + 500, 0, "resignation", None, "", "B+Resign", 2, 2, at))
    await store.commit(rows)
    await store.close()
