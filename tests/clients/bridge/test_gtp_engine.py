"""The GTP process: answers read to their end, faults said in plain words, nothing left running."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import shlex
from pathlib import Path

import pytest

from cgos_client.bridge.engine import EngineFailure, EngineUnfit, NewGame, normal_move
from cgos_client.bridge.gtp_engine import GtpEngine
from cgos_client.bridge.supervisor import SupervisedEngine
from cgos_protocol.clock import TimeControl, TimeSystem
from cgos_protocol.games.base import Color

S = 1_000_000
NEW = NewGame(9, 15, 300_000, "Other", "1800?")


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("d4", "D4"),
        (" J9 ", "J9"),
        ("Pass", "PASS"),
        ("resign", "RESIGN"),
        ("I5", None),
        ("K1", None),
        ("A10", None),
        ("A0", None),
        ("D4 D5", None),
        ("", None),
    ],
)
def test_moves_on_9x9(text, move):
    assert normal_move(text, 9) == move


async def started(bench, *options):
    engine = GtpEngine(bench.fake_gtp(*options), 20.0)
    await engine.start()
    return engine


async def test_a_banner_is_skipped_and_reported(bench, caplog):
    engine = await started(bench, "--fault", "banner")
    assert engine.label == "Fake 1.0"
    await engine.new_game(NEW)
    assert (await engine.genmove(Color.BLACK, 1000)).text == "D4"
    await engine.close()
    assert "the engine wrote 'Welcome to this engine', where GTP has a line" in caplog.text


@pytest.mark.parametrize(
    ("noise", "warned"),
    [
        ("==========\nThreads: 4\n==========\n\n", "=========="),
        ("== GTP ready ==\n\n", "== GTP ready =="),
        ("=> weights loaded\n", "=> weights loaded"),
        ("?? no configuration, defaults are used\n\n", "?? no configuration"),
        ("=ready\n", "=ready"),
        ("? low on time\n", "? low on time"),
        ("= 100 visits\n", "= 100 visits"),
        ("GTP> ", "GTP>"),
        ("my engine: GTP> ", "my engine: GTP>"),
    ],
)
async def test_noise_that_looks_like_an_answer_is_told_from_one(bench, caplog, noise, warned):
    engine = await started(bench, "--noise", noise)
    assert engine.label == "Fake 1.0"
    await engine.new_game(NEW)
    assert (await engine.genmove(Color.BLACK, 1000)).text == "D4"
    await engine.close()
    assert f"the engine wrote '{warned}" in caplog.text


async def test_only_listed_commands_are_used(bench):
    names = ("time_settings", "time_left", "cgos-opponent_name", "cgos-opponent_rating", "cgos-gameover", "komi")
    engine = await started(bench, *(word for name in names for word in ("--without", name)))
    await engine.new_game(NEW)
    await engine.genmove(Color.BLACK, 1000)
    await engine.game_over("B+1.5")
    await engine.close()
    assert bench.commands()[4:] == ["boardsize 9", "clear_board", "genmove b", "quit"]


async def test_a_refused_komi_is_no_obstacle(bench, caplog):
    engine = await started(bench, "--fault", "komi")
    await engine.new_game(NEW)
    await engine.close()
    assert "refused 'komi 7.5': 'no komi here'; the game goes on without it" in caplog.text


@pytest.mark.parametrize("name", ["boardsize", "clear_board", "play", "genmove"])
async def test_a_command_without_which_no_game_can_be_played(bench, name):
    engine = GtpEngine(bench.fake_gtp("--without", name))
    with pytest.raises(EngineUnfit, match=f"does not list {name}"):
        await engine.start()
    await engine.close()


async def test_programs_that_cannot_be_started(tmp_path):
    with pytest.raises(EngineUnfit, match="No such file"):
        await GtpEngine(["/no/such/engine"]).start()
    with pytest.raises(EngineUnfit, match="Permission denied"):
        await GtpEngine([str(tmp_path)]).start()


async def test_a_program_in_the_folder_of_games_needs_no_path(bench, tmp_path, monkeypatch):
    program = tmp_path / "gnugo-of-a-test"
    program.write_text(f'#!/bin/sh\nexec {shlex.join(bench.fake_gtp())} "$@"\n')
    program.chmod(0o755)
    engine = GtpEngine([program.name, "--moves", "E5"], 20.0)
    with pytest.raises(EngineUnfit, match="'gnugo-of-a-test' cannot be started"):
        await engine.start()
    monkeypatch.setattr("cgos_client.bridge.gtp_process.GAMES", str(tmp_path))
    await engine.start()
    await engine.close()
    assert engine.label == "Fake 1.0"


async def test_a_program_that_does_not_speak_gtp():
    engine = GtpEngine(["echo", "usage: something else"])
    with pytest.raises(EngineFailure, match="ended with exit status 0 instead of answering 'list_commands'"):
        await engine.start()
    await engine.close()


async def test_an_engine_that_loads_for_long_is_waited_for_with_a_word(bench, monkeypatch, caplog):
    monkeypatch.setattr("cgos_client.bridge.gtp_process.QUIET_SECONDS", 0.05)
    engine = await started(bench, "--fault", "loads")
    await engine.close()
    assert engine.label == "Fake 1.0"
    assert caplog.text.count("the engine has not answered 'list_commands' yet; waiting for it") == 1


async def test_a_program_that_says_nothing_at_all():
    engine = GtpEngine(["sleep", "60"], 0.2)
    with pytest.raises(EngineFailure, match=r"'list_commands' within 0.2 s. .* started in its GTP mode\?"):
        await engine.start()
    await engine.close()


async def test_a_program_that_hears_the_command_and_does_not_know_it(monkeypatch):
    monkeypatch.setattr("cgos_client.bridge.gtp_process.QUIET_SECONDS", 0.05)
    engine = GtpEngine(["cat"])
    with pytest.raises(EngineUnfit, match=r"answered 'list_commands' with 'list_commands', .* in its GTP mode"):
        await engine.start()
    await engine.close()


async def test_an_engine_that_echoes_what_it_hears_may_still_answer(bench):
    engine = await started(bench, "--fault", "echo")
    await engine.close()
    assert engine.label == "Fake 1.0"


async def test_a_list_without_end(bench, monkeypatch):
    monkeypatch.setattr("cgos_client.bridge.gtp_process.QUIET_SECONDS", 0.05)
    engine = GtpEngine(bench.fake_gtp("--fault", "endless"))
    with pytest.raises(EngineFailure, match="'= name / play', but not the empty line that ends a GTP answer"):
        await engine.start()
    await engine.close()


async def test_an_abandoned_answer_is_not_taken_for_the_next_one(bench):
    engine = await started(bench, "--fault", "slow", "--moves", "D4,E5")
    await engine.new_game(NEW)
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await engine.genmove(Color.BLACK, 1000)
    await engine.new_game(NEW)
    await engine.play(Color.BLACK, "D4")
    assert (await engine.genmove(Color.WHITE, 1000)).text == "E5"
    await engine.close()


async def test_settling_with_an_engine_that_hangs(bench):
    engine = await started(bench, "--fault", "hang")
    await engine.new_game(NEW)
    await engine.settle(0.01)  # nothing is owed
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await engine.genmove(Color.BLACK, 1000)
    with pytest.raises(EngineFailure, match="did not answer 'genmove b' within"):
        await engine.settle(0.1)
    await engine.close()


async def test_an_engine_that_ignores_quit_is_ended(bench, monkeypatch):
    monkeypatch.setattr("cgos_client.bridge.gtp_process.CLOSE_SECONDS", 0.3)
    engine = await started(bench, "--fault", "stubborn")
    process = engine._process._process
    await engine.close()
    await engine.close()
    assert process.returncode == -9
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


async def test_a_killed_engine_says_so(bench):
    engine = await started(bench)
    os.kill(engine.pid, 11)
    with pytest.raises(EngineFailure, match=r"ended by signal 11 \(Segmentation fault\)"):
        await engine.play(Color.BLACK, "D4")
    await engine.close()


async def test_a_child_of_a_wrapper_script_is_ended_too(bench, tmp_path, monkeypatch):
    monkeypatch.setattr("cgos_client.bridge.gtp_process.CLOSE_SECONDS", 0.3)
    wrapper = tmp_path / "engine.sh"
    wrapper.write_text('#!/bin/sh\n"$@"\nexit $?\n')
    wrapper.chmod(0o755)
    engine = GtpEngine([str(wrapper), *bench.fake_gtp("--fault", "stubborn")], 20.0)
    await engine.start()
    await engine.close()  # returns only when both pipes are closed, that is, when the child is gone as well


KATA = "info move D4 visits 9 winrate 0.5 order 0 pv D4 E5"


async def test_the_best_way_of_asking_that_is_listed(bench):
    engine = await started(bench, "--kata", KATA, "--lz", "info move D4 visits 9 winrate 5000")
    assert engine.analyses
    await engine.new_game(NEW)
    move = await engine.genmove(Color.BLACK, 1000)
    await engine.close()
    assert move.text == "D4"
    assert json.loads(move.analysis)["moves"] == [{"move": "D4", "winrate": 0.5, "visits": 9, "pv": "E5"}]
    assert "kata-genmove_analyze b ownership true" in bench.commands()


async def test_a_way_of_asking_that_is_broken_is_left_for_the_next(bench, caplog):
    broken = set()
    options = ["--kata", "FORMLESS", "--lz", "FORMLESS", "--refuse", "lz-genmove_analyze", "--moves", "D4,E5,F6"]
    engine = GtpEngine(bench.fake_gtp(*options), 20.0, broken)
    await engine.start()
    await engine.new_game(NEW)
    await engine.play(Color.BLACK, "A1")
    assert (await engine.genmove(Color.WHITE, 60_000)).text == "D4"
    assert (await engine.genmove(Color.BLACK, 60_000)).text == "E5"
    await engine.close()
    commands = [line for line in bench.commands() if "genmove" in line]
    assert commands == [
        "kata-genmove_analyze w ownership true",
        "lz-genmove_analyze w 100000",
        "genmove w",
        "genmove b",
    ]
    after = bench.commands()[bench.commands().index(commands[0]) + 1 :]
    assert after[:2] == ["clear_board", "play b A1"]
    assert after[2].startswith("time_left w ")
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert warnings == [
        "the engine's answer to 'kata-genmove_analyze w ownership true' holds no move: 'thinking is done'; from now on "
        "it is asked with 'lz-genmove_analyze'",
        "the engine refused 'lz-genmove_analyze w 100000': 'not now'; from now on it is asked with 'genmove'",
    ]
    again = GtpEngine(bench.fake_gtp(*options), 20.0, broken)
    await again.start()
    assert not again.analyses
    await again.close()


async def test_an_engine_that_dies_of_the_first_analysis_is_not_asked_for_it_again(bench, caplog):
    broken = set()
    engine = SupervisedEngine(
        make=lambda: GtpEngine(bench.fake_gtp("--kata", KATA, "--fault", "die", "--times", "1"), 20.0, broken)
    )
    await engine.start()
    await engine.sit(NEW, [])
    assert (await engine.genmove(Color.BLACK, 60_000)).text == "D4"
    await engine.close()
    assert broken == {"kata-genmove_analyze"}
    assert "failed when it was first asked with 'kata-genmove_analyze'; from now on it is asked with" in caplog.text


async def test_a_remark_about_analysis_is_made_once(bench, caplog):
    caplog.set_level(logging.DEBUG, "cgos_client")
    engine = await started(bench, "--analysis", "{quiet}")
    await engine.new_game(NEW)
    for color in (Color.BLACK, Color.WHITE):
        assert (await engine.genmove(color, 1000)).analysis is None
    await engine.close()
    assert [record.levelname for record in caplog.records if "is not JSON" in record.getMessage()] == [
        "WARNING",
        "DEBUG",
    ]


@pytest.mark.parametrize(
    ("time", "stones_left", "commands"),
    [
        (TimeControl(system=TimeSystem.ABSOLUTE, main=S), 0, ["time_settings 1 0 0", "time_left b 9 0"]),
        (
            TimeControl(system=TimeSystem.FISCHER, main=60 * S, increment=S),
            0,
            ["kata-time_settings fischer 60 1", "time_left b 9 0"],
        ),
        (
            TimeControl(system=TimeSystem.BYOYOMI, main=0, period=10 * S, periods=3),
            2,
            ["kgs-time_settings byoyomi 0 10 3", "time_left b 9 2"],
        ),
        (TimeControl(system=TimeSystem.FIXED, period=10 * S), 0, ["time_settings 0 10 1", "time_left b 9 1"]),
        (TimeControl(system=TimeSystem.FIXED, period=-1), 0, ["time_left b 9 0"]),
    ],
)
async def test_what_an_engine_hears_of_its_clock(bench, time, stones_left, commands, caplog):
    more = ("kgs-time_settings", "kata-time_settings", "kata-list_time_settings")
    engine = await started(bench, *(word for name in more for word in ("--with", name)))
    await engine.new_game(NEW._replace(time=time))
    await engine.genmove(Color.BLACK, 9999, stones_left)
    await engine.close()
    assert [
        line for line in bench.commands() if line.split()[0] in (*more[:2], "time_settings", "time_left")
    ] == commands
    assert ("makes no sense: period cannot be negative" in caplog.text) is (time.period < 0)


async def test_a_refused_time_command_gives_way_to_the_next_and_costs_no_game(bench, caplog):
    byoyomi = TimeControl(system=TimeSystem.BYOYOMI, main=60 * S, period=10 * S, periods=3)
    refusing = ("kgs-time_settings", "time_left")
    engine = await started(bench, "--with", refusing[0], *(word for name in refusing for word in ("--refuse", name)))
    await engine.new_game(NEW._replace(time=byoyomi))
    assert (await engine.genmove(Color.BLACK, 9000, 1)).text == "D4"
    await engine.close()
    assert "time_settings 60 10 1" in bench.commands()
    assert "refused 'kgs-time_settings byoyomi 60 10 3': 'not now'; the game goes on without it" in caplog.text
    assert "refused 'time_left b 9 1'" in caplog.text


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("empty", "the engine's answer to 'genmove b' is empty"),
        ("prose", "the engine's answer to 'genmove b' holds no move: 'I play D4'"),
        ("offboard", "answered 'genmove b' with 'T19', which is no move on 9x9"),
        ("stderr", "it wrote '= D4' to its standard error; answers belong on its standard output"),
        ("last-words", r"ended with exit status 4 instead of answering 'genmove b'; its last words: .*out of memory'"),
    ],
)
async def test_broken_answers_in_clear_words(bench, fault, words):
    engine = GtpEngine(bench.fake_gtp("--fault", fault), 3.0, loading=20.0)
    await engine.start()
    await engine.new_game(NEW)
    with pytest.raises(EngineFailure, match=words):
        await engine.genmove(Color.BLACK, 1000)
    await engine.close()


@pytest.mark.parametrize("fault", ["two-lines", "junk"])
async def test_a_move_that_can_be_seen_is_taken_with_a_word(bench, fault, caplog):
    engine = await started(bench, "--fault", fault)
    await engine.new_game(NEW)
    assert (await engine.genmove(Color.BLACK, 1000)).text == "D4"
    await engine.close()
    assert "where GTP has the move alone; D4 was taken" in caplog.text


async def test_a_second_answer_is_not_taken_for_the_next_one(bench, caplog):
    engine = await started(bench, "--fault", "twice", "--moves", "D4,E5")
    await engine.new_game(NEW)
    assert (await engine.genmove(Color.BLACK, 1000)).text == "D4"
    await asyncio.sleep(0.2)  # both answers have been written in one go, but not necessarily read in one
    assert (await engine.genmove(Color.WHITE, 1000)).text == "E5"
    await engine.close()
    assert "the engine wrote '= D4' without having been asked" in caplog.text


async def test_an_engine_whose_wrapper_has_died_is_ended_too(bench, tmp_path, monkeypatch):
    monkeypatch.setattr("cgos_client.bridge.gtp_process.CLOSE_SECONDS", 0.3)
    wrapper = tmp_path / "engine.sh"
    wrapper.write_text('#!/bin/sh\nexec 3<&0\n"$@" <&3 &\necho $! > "$0.pid"\nwait\n')
    wrapper.chmod(0o755)
    engine = GtpEngine([str(wrapper), *bench.fake_gtp("--fault", "stubborn")], 20.0)
    await engine.start()
    os.kill(engine.pid, 9)
    child = int((tmp_path / "engine.sh.pid").read_text())
    os.kill(child, 0)
    await engine.close()
    for _ in range(100):  # it is not this process's child: somebody else takes note of its end
        try:
            state = Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[0]
        except FileNotFoundError:
            break
        if state == "Z":
            break
        await asyncio.sleep(0.05)
    else:
        pytest.fail("the engine outlives its client")
