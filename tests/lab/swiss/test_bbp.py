"""The program bbpPairings as a system: what it is told, what its answers become, what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.lab.fake_bbp import fake_bbp

from cgos_protocol.errors import Refused
from cgos_server.lab.running import Work
from cgos_server.lab.swiss import bbp
from cgos_server.lab.swiss.bbp import bbp_pairings
from cgos_server.lab.tournaments import Asked, run_all
from cgos_server.tournaments.ledger import ledger
from cgos_server.tournaments.simulation.one_event import Plan, seed_of, simulate

PLAN = Plan(system="dutch", players=9, rounds=4)


@pytest.mark.parametrize("players", [8, 9])
def test_an_event_is_paired_by_the_program_and_ranked_as_mwm_ranks(tmp_path: Path, players: int) -> None:
    program = bbp_pairings(str(fake_bbp(tmp_path)))
    plan = Plan(system="dutch", players=players, rounds=4)
    done = simulate(plan, 7, program)
    assert done.strength == simulate(plan, 7).strength
    by_rating = [one.id for one in sorted(done.event.entrants, key=lambda one: -(one.rating or 0.0))]
    first = done.event.rounds[0]
    in_games = [id_ for game in first.games for id_ in (game.white, game.black)]
    assert in_games == by_rating[: len(in_games)]
    assert [bye.entrant for bye in first.byes] == by_rating[len(in_games) :]
    lines = ledger(done.event).lines
    assert all(times == 1 for times in ledger(done.event).met.values())
    scores = [lines[id_].score for id_ in done.order]
    assert scores == sorted(scores, reverse=True)
    assert done.measures.rounds == 4


def test_it_is_told_who_is_first_and_how_many_rounds(tmp_path: Path) -> None:
    copy = tmp_path / "copy.trf"
    program = bbp_pairings(str(fake_bbp(tmp_path, f"open({str(copy)!r}, 'a').write(text)")))
    done = simulate(PLAN, 3, program)
    reports = copy.read_bytes().decode().split("012 ")[1:]
    assert len(reports) == 4
    assert all("\r\nXXR 4\r\n" in report for report in reports)
    colors = {word for report in reports for word in re.findall(r"^XXC (\w+)\r$", report, re.MULTILINE)}
    assert len(colors) == 1, "the same one in all rounds"
    assert colors <= {"white1", "black1"}
    ratings = [int(line[48:52]) for line in reports[0].splitlines() if line.startswith("001")]
    assert ratings == sorted(ratings, reverse=True)
    assert len(ratings) == PLAN.players
    played = next(line for line in reports[-1].splitlines() if line.startswith("001"))
    best = max(done.event.entrants, key=lambda one: one.rating or 0.0).id
    before = sum(
        game.result.white if game.white == best else game.result.black
        for number, game in done.event.games
        if number < 4 and best in game.pair and game.result is not None
    )
    assert float(played[80:84]) == before / 2


def test_who_is_first_has_either_color_by_lot(tmp_path: Path) -> None:
    copy = tmp_path / "copy.trf"
    program = bbp_pairings(str(fake_bbp(tmp_path, f"open({str(copy)!r}, 'a').write(text)")))
    for index in range(8):
        simulate(Plan(system="dutch", players=2, rounds=1), seed_of(1, index), program)
    assert set(re.findall(r"XXC (\w+)", copy.read_text())) == {"white1", "black1"}


def test_the_figures_are_the_same_for_any_number_of_processes(tmp_path: Path) -> None:
    asked = [Asked(plan=PLAN, tournaments=6, by=bbp_pairings(str(fake_bbp(tmp_path))))]
    assert run_all(asked, Work(2, 2)) == run_all(asked, Work(2, 1))


@pytest.mark.parametrize(
    ("version", "label", "is_old"),
    [
        ("v4.1.0", "bbpPairings v4.1.0", True),
        ("v5.0.1", "bbpPairings v5.0.1", True),
        ("v6.0.0", "bbpPairings v6.0.0", False),
        ("non-release build v5.0.1-3-gabcdef0", "bbpPairings non-release build v5.0.1-3-gabcdef0", True),
        ("non-release build", "bbpPairings non-release build", None),
    ],
)
def test_its_version_says_by_whose_rules_it_pairs(
    tmp_path: Path, version: str, label: str, is_old: bool | None
) -> None:
    program = bbp_pairings(str(fake_bbp(tmp_path, version=version)))
    assert (program.label, program.is_old) == (label, is_old)


def test_what_is_no_such_program_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"nowhere cannot be run: No such file or directory\. Name the program"):
        bbp_pairings(str(tmp_path / "nowhere"))
    with pytest.raises(Refused, match="does not say its version"):
        bbp_pairings("/bin/echo")
    with pytest.raises(Refused, match="cannot be run"):
        bbp_pairings(str(tmp_path))


@pytest.mark.parametrize(
    ("insertion", "says"),
    [
        ("sys.exit(1)", "finds no round by its rules. Take fewer rounds"),
        ("print('Bad\\nfile.', file=sys.stderr); sys.exit(3)", "ended with 3: Bad file."),
        ("sys.exit(2)", "ended with 2."),
        ("sys.exit()", "wrote no pairs that can be read"),
        ("open(sys.argv[4], 'w').write('1\\n1 2\\n'); sys.exit()", "no round of 9 players: '1"),
        ("open(sys.argv[4], 'w').write('5\\n1 1\\n2 3\\n4 5\\n6 7\\n8 0\\n'); sys.exit()", "no round of 9 players"),
        ("open(sys.argv[4], 'w').write('5\\n1 2\\n3 4\\n5 6\\n7 8\\n0 9\\n'); sys.exit()", "no round of 9 players"),
        ("open(sys.argv[4], 'w').write('5\\n1 2 9\\n3 4\\n5 6\\n7 8\\n'); sys.exit()", "no round of 9 players"),
        ("open(sys.argv[4], 'w').write('none'); sys.exit()", "no round of 9 players"),
        ("open(sys.argv[4], 'w').write(''); sys.exit()", "no round of 9 players"),
        ("open(sys.argv[4], 'wb').write(b'\\xff'); sys.exit()", "wrote no pairs that can be read"),
    ],
)
def test_answers_that_are_none_are_refused(tmp_path: Path, insertion: str, says: str) -> None:
    program = bbp_pairings(str(fake_bbp(tmp_path, insertion)))
    with pytest.raises(Refused, match=re.escape(says)):
        simulate(PLAN, 1, program)


def test_it_is_not_waited_for_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = bbp_pairings(str(fake_bbp(tmp_path, "import time; time.sleep(60)")))
    monkeypatch.setattr(bbp, "SECONDS", 0.2)
    with pytest.raises(Refused, match=r"gave no answer within 0\.2 seconds"):
        simulate(PLAN, 1, program)
