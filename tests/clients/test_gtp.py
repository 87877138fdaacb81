"""The GTP process: answers read to their end, faults said in plain words, nothing left running."""

from __future__ import annotations

import asyncio
import os

import pytest
from cgos_client.engine import EngineFailure, EngineUnfit, NewGame, normal_move
from cgos_client.gtp import GtpEngine

from cgos_server.core.games.base import Color

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


async def test_a_program_that_does_not_speak_gtp():
    engine = GtpEngine(["echo", "usage: something else"])
    with pytest.raises(EngineFailure, match="ended with exit status 0 instead of answering 'list_commands'"):
        await engine.start()
    await engine.close()


async def test_an_engine_that_loads_for_long_is_waited_for_with_a_word(bench, monkeypatch, caplog):
    monkeypatch.setattr("cgos_client.gtp_process.QUIET_SECONDS", 0.05)
    engine = await started(bench, "--fault", "loads")
    await engine.close()
    assert engine.label == "Fake 1.0"
    assert caplog.text.count("the engine has not answered 'list_commands' yet; waiting for it") == 1


async def test_a_program_that_hears_the_command_and_does_not_know_it(monkeypatch):
    monkeypatch.setattr("cgos_client.gtp_process.QUIET_SECONDS", 0.05)
    engine = GtpEngine(["cat"])
    with pytest.raises(EngineUnfit, match=r"answered 'list_commands' with 'list_commands', .* in its GTP mode"):
        await engine.start()
    await engine.close()


async def test_an_engine_that_echoes_what_it_hears_may_still_answer(bench):
    engine = await started(bench, "--fault", "echo")
    await engine.close()
    assert engine.label == "Fake 1.0"


async def test_a_list_without_end(bench, monkeypatch):
    monkeypatch.setattr("cgos_client.gtp_process.QUIET_SECONDS", 0.05)
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
    monkeypatch.setattr("cgos_client.gtp_process.CLOSE_SECONDS", 0.3)
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
    monkeypatch.setattr("cgos_client.gtp_process.CLOSE_SECONDS", 0.3)
    wrapper = tmp_path / "engine.sh"
    wrapper.write_text('#!/bin/sh\n"$@"\nexit $?\n')
    wrapper.chmod(0o755)
    engine = GtpEngine([str(wrapper), *bench.fake_gtp("--fault", "stubborn")], 20.0)
    await engine.start()
    await engine.close()  # returns only when both pipes are closed, that is, when the child is gone as well
