"""What a TRF report says besides games: points, absences, accelerations, teams."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cgos_protocol.lines.misread import Misread
from cgos_server.tournaments.files import trf
from cgos_server.tournaments.files.trf_records import STANDARD_POINTS, Byes, Extra, Forbidden, Records, records


def read(*lines: str) -> Records:
    return records(trf.read("\n".join(lines).encode()))


def test_a_file_without_lines_says_nothing() -> None:
    assert read() == Records()
    assert read("everything else is kept", "777 by others", "DAT    1 MAIL") == Records()


def test_the_older_and_the_newer_codes_say_the_same() -> None:
    old = read("012 Open", "092 FIDE_DUTCH_2025", "XXR 9", "XXC white1", "XXP 1 2", "XXS PAB=0.5")
    new = read("012 Open", "192 FIDE_DUTCH_2025", "142 9", "152 W", "260   1 999    1    2", "162  P 0.5")
    assert replace(old, type="") == new
    assert (old.name, old.coded, old.rounds, old.color) == ("Open", "FIDE_DUTCH_2025", 9, "w")
    assert old.points == {**STANDARD_POINTS, "PAB": 5}


def test_a_coded_type_wins_over_words() -> None:
    assert read("192 FIDE_BURSTEIN", "092 Swiss").coded == "FIDE_BURSTEIN"
    assert read("092 Swiss", "192 FIDE_BURSTEIN").coded == "FIDE_BURSTEIN"


WON_3 = {"WW": 30, "BW": 30, "FW": 30, "FPB": 30}
DRAWN_1 = {"WD": 10, "BD": 10, "HPB": 10}
LOST_1 = {"WL": 10, "BL": 10}


@pytest.mark.parametrize(
    ("lines", "points"),
    [
        (["XXS W=3 D=1 L=1"], {**WON_3, **DRAWN_1, **LOST_1}),
        (["XXS PAB=3 D=1", "XXS W=3 WW=2"], {**WON_3, **DRAWN_1, "WW": 20, "PAB": 30}),
        (["162  W 3.0    D 1.0"], {**WON_3, **DRAWN_1, "PAB": 30}),
        (["162  P 0.5    W 3.0    L 1.0    A 0.5    X 1.0"], {**WON_3, **LOST_1, "PAB": 5, "ZPB": 5, "FL": 5}),
        (["BBW  3.0", "BBD  1.0", "BBL  1.0", "BBZ  0.1"], {**WON_3, **DRAWN_1, **LOST_1, "PAB": 30, "ZPB": 1}),
        (["BBU  0.5", "BBF  0.2", "BBW  3.0"], {**WON_3, "PAB": 5, "FL": 2}),
    ],
)
def test_points(lines: list[str], points: dict[str, int]) -> None:
    assert read(*lines).points == {**STANDARD_POINTS, **points}


def test_who_is_absent_and_who_must_not_meet() -> None:
    general = read("XXZ 3 4", "XXZ 5", "240 H   2    1    7", "240 z 3 2", "XXP 1 2 3", "260   1   2    4    5")
    assert general.absent == [(0, (3, 4)), (1, (5,))]
    assert general.byes == [Byes(line=2, kind="H", round=2, ids=(1, 7)), Byes(line=3, kind="Z", round=3, ids=(2,))]
    assert general.forbidden == [
        Forbidden(line=4, first=1, last=999, ids=(1, 2, 3)),
        Forbidden(line=5, first=1, last=2, ids=(4, 5)),
    ]


def test_accelerations() -> None:
    general = read("XXA    2  1.0       0.5", "250       1.0   1   2    2    5", "250  1.0        1   2    4    5")
    every = [general.fictitious(range(1, 9), number) for number in (1, 2, 3, 4)]
    assert [points.get(2, 0) for points in every] == [10, 10, 5, 0]
    assert [points.get(5, 0) for points in every] == [10, 10, 0, 0]
    assert 6 not in every[0]
    assert read("XXA    2").accelerations == []


def test_teams_and_points_of_their_own_are_counted() -> None:
    general = read("013 Reds", "310   1 Blues", "299 H       0.5   1    1")
    assert (general.team_lines, general.abnormal) == (2, 1)


@pytest.mark.parametrize(
    ("lines", "of_teams"),
    [
        (["013 Reds"], True),
        (["310   1 Reds"], True),
        (["013 Reds", "082 2"], True),
        (["013 Reds", "082 0"], False),
        (["013 Reds", "082"], True),
        (["013 Reds", "092 Individual: Swiss-System"], False),
        (["013 Reds", "082 2", "092 Individual Swiss"], False),
        (["013 Reds", "082 0", "092 Team: Swiss-System"], True),
        (["082 2"], False),
        (["013 Reds", "092 Team: Swiss-System", "192 FIDE_DUTCH_2026_BAKU"], False),
        (["092 Individual: Swiss-System", "192 FIDE_TEAM_BAKU"], True),
        (["192 FIDE_SCHILLER_4x3"], True),
    ],
)
def test_lines_of_teams_alone_make_no_tournament_of_teams(lines: list[str], of_teams: bool) -> None:
    assert read(*lines).of_teams == of_teams


def test_the_order_of_the_lines_may_count() -> None:
    assert read("XXC rank black1").by_rank
    assert not read("XXC black1").by_rank


def test_our_comment() -> None:
    general = read("### of others", '### cgos-server {"system":"epm","seed":7,"options":{"a":true}}')
    assert (general.extra, general.extra_line) == (Extra(system="epm", seed=7, options={"a": True}), 1)


@pytest.mark.parametrize(
    ("line", "column", "problem"),
    [
        ("XXR", None, ""),
        ("XXR many", 5, "'many' is no number of rounds"),
        ("XXR 0", 5, "'0' is no number of rounds"),
        ("142 9 9", 7, "followed by 2 words"),
        ("XXZ 1 x", 7, "'x' is no starting rank"),
        ("XXZ 99999", 5, "'99999' is no starting rank"),
        ("XXP 1 -2", 7, "'-2' is no starting rank"),
        ("XXP 1 ²", 7, "is no starting rank"),
        ("240 Q   1    2", 5, "not a list of byes"),
        ("240 H", 5, "not a list of byes"),
        ("240 H 0 1", 7, "'0' is no round"),
        ("260   1", 5, "not a list of forbidden pairs"),
        ("XXS W", 5, "'W' is no points"),
        ("XXS W=3 Q=2", 9, "'Q=2' is no points"),
        ("162  W1.25", 4, "no points for a kind of result"),
        ("BBW  x", 6, "'x' is not a number of points"),
        ("BBW", 4, "followed by 0 words"),
        ("XXA", 5, "acceleration of nobody"),
        ("XXA    1  x.0", 10, "'x.0' is not a number of points"),
        ("250       1.0   1   2    4", 28, "the starting rank is missing"),
        ('### cgos-server {"seed":"x"}', 17, "the comment is not ours"),
        ("### cgos-server " + '{"x":' * 5000, 17, "the comment is not ours"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(line: str, column: int | None, problem: str) -> None:
    if column is None:
        assert read(line) == Records()
        return
    with pytest.raises(Misread) as refused:
        read("012 Open", line)
    assert (refused.value.line, refused.value.column) == (2, column)
    assert problem in refused.value.sentence
