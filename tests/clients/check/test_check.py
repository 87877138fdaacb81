"""What ``cgos-client check`` finds: a sound engine passes, and a fault is named where it would have cost a game."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from click.testing import CliRunner

from cgos_client.bridge.gtp_engine import GtpEngine
from cgos_client.check import positions as check_positions
from cgos_client.check import running as check
from cgos_client.check.cases import CASES
from cgos_client.check.running import Status
from cgos_client.cli.main import main
from cgos_protocol.games.base import Color, Illegality, Ko, Ruleset
from cgos_protocol.games.go_rules import Go

KATA = "info move D4 visits 9 winrate 0.5 order 0 pv D4 E5"
NAMES = [name for name, _ in CASES]


async def checked(bench, *options, names=NAMES, seconds=20.0, size=9):
    """Case -> finding, with the fake engine; it passes on every move unless told otherwise."""
    command = bench.fake_gtp(*(options if "--always" in options else ("--moves", "PASS", *options)))
    broken = set()
    sentences = []
    findings = await check.run_cases(
        [(name, case) for name, case in CASES if name in names],
        lambda: GtpEngine(command, seconds, broken, 20.0),
        size,
        sentences.append,
    )
    assert sentences
    return {finding.case: finding for finding in findings}


def statuses(findings):
    return {name: finding.status for name, finding in findings.items() if finding.status is not Status.PASSED}


@pytest.mark.parametrize("size", [9, 13, 19])
def test_the_positions_are_what_they_claim(size):
    def played(moves, komi2=15, ko=Ko.POSITIONAL):
        position = Go().new(Ruleset(size=size, komi2=komi2, ko=ko))
        for before, move in zip(("", *moves), moves, strict=False):
            assert (before, move) != ("PASS", "PASS")
            assert position.play(position.read(move)) is None, move
        return position

    played(check_positions.ko_fight(size))
    played(check_positions.after_superko(size))
    for puzzle in (check_positions.simple_ko(), check_positions.superko(size)):
        position = played(puzzle.moves)
        assert position.to_play is puzzle.to_play
        assert position.play(position.read(puzzle.point)) is Illegality.KO
    position = played(check_positions.superko(size).moves, ko=Ko.SIMPLE)
    assert position.play(position.read("B1")) is None, "the ko of the last move does not forbid it"
    dead = check_positions.dead_stone(size)
    position = played(dead.moves, dead.komi2)
    assert position.to_play is Color.WHITE
    assert position.stones()[dead.point] is Color.BLACK
    position.play(position.read("PASS"))
    assert position.score() == 1, "passing loses"


async def test_an_engine_that_only_passes_breaks_no_rule(bench):
    findings = await checked(bench)
    assert list(findings) == [*NAMES, "output"]
    assert statuses(findings) == {"dead stones": Status.WARNING}
    assert findings["dead stones"].sentence == (
        "It passed with a dead stone at J5 on the board. The server takes all stones for alive: B+0.5, a won game lost."
    )
    assert "--capture-all-dead" in findings["dead stones"].remedy
    assert findings["long game"].sentence.endswith("of 2 moves, 60 s a side, ended W+7.5; every move was legal.")
    assert check.exit_status(list(findings.values())) == 0


async def test_an_engine_that_knows_no_superko(bench):
    findings = await checked(bench, "--always", "B1", names=["ko", "superko", "long game"])
    assert statuses(findings) == {"superko": Status.FAILED, "long game": Status.FAILED}
    assert (
        "'genmove b' with B1: KO attempted. The server ends the game there, W+Illegal." in findings["superko"].sentence
    )
    assert "positional superko" in findings["superko"].remedy
    assert "ended B+Illegal: move to occupied point: B1." in findings["long game"].sentence
    assert check.exit_status(list(findings.values())) == 1


async def test_an_engine_that_takes_a_ko_back_at_once(bench):
    findings = await checked(bench, "--always", "D4", names=["ko"])
    assert "'genmove w' with D4: KO attempted. The server ends the game there, B+Illegal." in findings["ko"].sentence


async def test_an_engine_that_refuses_legal_moves(bench):
    findings = await checked(bench, "--fault", "play", "--times", "99", names=["resume"])
    assert findings["resume"].status is Status.FAILED
    assert "It refused a legal move" in findings["resume"].sentence


async def test_an_engine_that_hangs_does_not_hang_the_check(bench):
    findings = await checked(bench, "--fault", "hang", "--times", "1", names=["board", "ko"], seconds=3.0)
    assert statuses(findings) == {"board": Status.FAILED}
    assert findings["board"].sentence == "The engine did not answer 'genmove b' within 3 s."
    assert "starts such an engine again" in findings["board"].remedy


async def test_an_engine_that_does_not_start(bench):
    findings = await checked(bench, "--fault", "dead", "--times", "99")
    assert list(findings) == ["start", "the rest"]
    assert "ended with exit status 7" in findings["start"].sentence
    assert findings["the rest"].status is Status.FAILED


async def test_an_engine_that_lacks_a_command(bench):
    findings = await checked(bench, "--without", "genmove")
    assert list(findings) == ["start", "the rest"]
    assert "does not list genmove, without which no game can be played" in findings["start"].sentence


async def test_an_engine_that_starts_only_once(bench):
    findings = await checked(bench, "--fault", "die", "--at", "2", "--times", "99", names=["start", "board", "killed"])
    assert findings["start"].status is Status.PASSED
    assert "ended with exit status 3" in findings["board"].sentence


async def test_an_engine_that_comes_back_after_it_was_killed(bench):
    findings = await checked(bench, names=["killed"])
    assert statuses(findings) == {}
    assert "After its process was ended it was back with a move in" in findings["killed"].sentence


async def test_an_engine_that_is_too_slow_when_it_is_short_of_time(bench):
    findings = await checked(bench, "--fault", "dawdle", "--at", "2", names=["short of time"])
    assert findings["short of time"].status is Status.FAILED
    assert "With 1 s left for the game it thought for " in findings["short of time"].sentence


@pytest.mark.parametrize(
    ("options", "status", "words"),
    [
        ((), Status.PASSED, "It lists no genmove_analyze command"),
        (("--kata", KATA), Status.PASSED, "kata-genmove_analyze brings"),
        (("--kata", "thinking"), Status.WARNING, "holds an analysis that has no readable 'info move'"),
        (("--analysis", "FORMLESS"), Status.WARNING, "cgos-genmove_analyze brings no 'play <move>'"),
        (("--lz", "x", "--refuse", "lz-genmove_analyze"), Status.WARNING, "refused 'lz-genmove_analyze b 100000'"),
    ],
)
async def test_analysis(bench, options, status, words):
    findings = await checked(bench, *options, names=["analysis"])
    assert findings["analysis"].status is status
    assert words in findings["analysis"].sentence


async def test_a_game_that_does_not_end_is_scored_at_the_limit(bench, monkeypatch):
    monkeypatch.setattr("cgos_client.check.cases.MOVES_A_POINT", 0.05)
    findings = await checked(bench, "--moves", "A1,B2,C3,D4,E5", names=["long game"])
    assert findings["long game"].status is Status.WARNING
    assert "of 4 moves, 60 s a side, was still going on" in findings["long game"].sentence
    assert "scored at the limit of 4 moves" in findings["long game"].sentence


async def test_a_game_lost_on_time(bench, monkeypatch):
    monkeypatch.setattr("cgos_client.check.cases.MS_A_POINT", 25)
    slow = ("--fault", "dawdle", "--at", "3", "--moves", "A1,B2,C3")
    findings = await checked(bench, *slow, names=["long game"])
    assert findings["long game"].status is Status.FAILED
    assert "ended W+Time: it needs more time than that." in findings["long game"].sentence
    findings = await checked(bench, *slow, "--times", "9", "--without", "time_left", names=["long game"])
    assert findings["long game"].status is Status.WARNING
    findings = await checked(bench, *slow, "--at", "1", "--times", "9", names=["long game"])
    assert "ended Abort: it needs more time than that." in findings["long game"].sentence


async def test_analysis_with_an_illegal_move(bench):
    findings = await checked(bench, "--always", "C3", "--kata", KATA, names=["analysis"])
    assert findings["analysis"].sentence == "kata-genmove_analyze chose C3, which is illegal."


async def test_time_commands(bench):
    findings = await checked(bench, "--without", "time_left", names=["time commands"])
    assert findings["time commands"].status is Status.WARNING
    assert "does not list time_left" in findings["time commands"].sentence
    findings = await checked(bench, "--refuse", "time_settings", names=["time commands"])
    assert findings["time commands"].status is Status.WARNING
    assert "refused 'time_settings 300 0 0'" in findings["time commands"].sentence


async def test_other_warnings(bench):
    findings = await checked(bench, "--without", "komi", "--fault", "knows-all", names=["start", "unknown command"])
    assert statuses(findings) == {"start": Status.WARNING, "unknown command": Status.WARNING}
    findings = await checked(bench, "--score", "B+30.5", names=["long game"])
    assert "It takes that for B+30.5: dead stones" in findings["long game"].sentence
    findings = await checked(bench, "--score", "W+7.5", names=["long game"])
    assert statuses(findings) == {}
    findings = await checked(bench, "--fault", "echo", names=["board"])
    assert findings["board"].status is Status.PASSED
    assert findings["output"].status is Status.WARNING
    assert "taken for an answer" in findings["output"].sentence


async def test_a_board_that_is_not_played_on(bench):
    findings = await checked(bench, "--fault", "size", names=["board"], size=13)
    assert findings["board"].sentence == (
        "The engine does not play on 13x13: the engine refused 'boardsize 13': 'unacceptable size'."
    )


async def test_an_engine_that_always_resigns(bench):
    findings = await checked(bench, "--always", "resign", names=["long game", "two passes", "dead stones"])
    assert findings["long game"].sentence.endswith("ended W+Resign; every move was legal.")
    assert "resigned at once" in findings["two passes"].sentence
    assert findings["dead stones"].status is Status.WARNING


def test_rows_are_wrapped_and_json_is_whole():
    findings = [check.Finding("ko", Status.PASSED, "word " * 30), check.Finding("board", Status.FAILED, "No.", "Mend.")]
    rows = list(check.lines(findings, 60))
    assert max(map(len, rows)) <= 60
    assert rows[-3:] == ["FAILED   board  No.", "                -> Mend.", "1 passed, 0 warnings, 1 failed"]
    warned = check.Finding("ko", Status.WARNING, "Perhaps.")
    assert list(check.lines([warned], 60))[-1] == "0 passed, 1 warning, 0 failed"
    assert json.loads(check.as_json(findings))[1] == {
        "case": "board",
        "status": "failed",
        "sentence": "No.",
        "remedy": "Mend.",
    }


@pytest.fixture
def own_logs():
    """What a command adds to the logs goes away with the test."""
    logger = logging.getLogger("cgos_client")
    before = list(logger.handlers)
    yield
    for handler in [handler for handler in logger.handlers if handler not in before]:
        logger.removeHandler(handler)
        handler.close()


def test_as_people_type_it(bench, tmp_path, own_logs):
    log = tmp_path / "log"
    result = CliRunner().invoke(
        main, ["check", "--json", "--seconds", "20", "--log", str(log), "--", *bench.fake_gtp("--moves", "PASS")]
    )
    assert result.exit_code == 0, result.output
    assert [finding["case"] for finding in json.loads(result.stdout)] == [*NAMES, "output"]
    assert "to engine: genmove b" in log.read_text()
    result = CliRunner().invoke(main, ["check", "--", "/no/such/engine"])
    assert result.exit_code == 1
    assert "FAILED   start" in result.stdout
    assert "cannot be started (No such file or directory)" in result.stdout


GNUGO = Path("/usr/games/gnugo")


@pytest.mark.skipif(not GNUGO.exists(), reason="GNU Go is not in /usr/games")
@pytest.mark.slow
async def test_gnu_go():
    """As it comes, it loses by superko and by passing too early; with the right options it does not."""

    async def findings_of(*options):
        levels = ["--level", "0", "--max-level", "0"]
        command = [str(GNUGO), "--mode", "gtp", *levels, "--chinese-rules", *options]
        return await check.run_cases(CASES, lambda: GtpEngine(command, 60.0), 9, lambda _: None)

    careless = await findings_of()
    status_of = {finding.case: finding.status for finding in careless}
    assert status_of["superko"] is Status.FAILED
    assert status_of["dead stones"] is Status.WARNING
    page = (Path(__file__).parents[3] / "docs" / "bot-author.md").read_text()
    shown = [finding for finding in careless if finding.case in ("ko", "superko", "dead stones")]
    assert all(finding.sentence in page and finding.remedy in page for finding in shown)
    careful = await findings_of("--positional-superko", "--capture-all-dead")
    assert {finding.status for finding in careful} == {Status.PASSED}
