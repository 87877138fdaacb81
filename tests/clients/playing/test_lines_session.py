"""Whole sessions: a scripted server on one side, an engine on the other."""

from __future__ import annotations

import asyncio
import logging
import time

import msgspec
import pytest

from cgos_client.bridge.engine import EngineFailure, EngineMove, EngineUnfit
from cgos_client.bridge.gtp_engine import GtpEngine
from cgos_client.bridge.supervisor import SupervisedEngine

SETUP = "setup 17 9 7.0 60000 Other(1700?) Bot(1800)"


async def test_a_whole_game(bench):
    bench.agenda.games_left = 1

    async def server(peer):
        assert await peer.sign_in() == ["e1 cgos-client 0", "Bot", "open-sesame"]
        await peer.say("info welcome", SETUP, "genmove b 60000")
        assert await peer.hear() == "D4"
        await peer.say("play w e5 59000", "genmove b 60000")
        assert await peer.hear() == "F6"
        await peer.say("play w PASS 58000", "genmove b 60000")
        assert await peer.hear() == "G7"
        await peer.say("play w PASS 58000", "genmove b 60000")
        assert await peer.hear() == "PASS"
        await peer.say("gameover 2026-11-21 B+72.0 ")
        assert await peer.hear() == "quit"
        assert await peer.hear() == ""

    assert await bench.run(bench.gtp(), [server]) == 0
    assert msgspec.structs.asdict(bench.results[0]) == {
        "game": 17,
        "size": 9,
        "komi": 7.0,
        "color": "black",
        "opponent": "Other",
        "opponent_rating": "1700?",
        "result": "B+72.0",
        "detail": "",
        "won": True,
        "moves": 7,
    }
    assert bench.commands() == [
        "(start)",
        "list_commands",
        "name",
        "version",
        "boardsize 9",
        "cgos-opponent_name Other",
        "cgos-opponent_rating 1700?",
        "clear_board",
        "komi 7.0",
        "time_settings 60 0 0",
        "time_left b 60 0",
        "genmove b",
        "play w E5",
        "time_left b 60 0",
        "genmove b",
        "play w PASS",
        "time_left b 60 0",
        "genmove b",
        "play w PASS",
        "time_left b 60 0",
        "genmove b",
        "cgos-gameover B+72.0",
        "quit",
    ]


async def test_ready_between_games_and_results_as_white(bench):
    bench.agenda.games_left = 2

    async def server(peer):
        await peer.sign_in()
        await peer.say("setup 1 9 6.5 60000 Bot(5) Other(1)", "play b D4 60000", "genmove w 60000")
        assert await peer.hear() == "E5"
        await peer.say("gameover 2026-11-21 B+Resign Resignation")
        assert await peer.hear() == "ready"
        await peer.say("setup 2 9 6.5 60000 Bot(5) Other(1)", "gameover 2026-11-21 Abort nobody moved")
        assert await peer.hear() == "quit"

    assert await bench.run(bench.memory("E5"), [server]) == 0
    assert [(r.color, r.won, r.result, r.detail) for r in bench.results] == [
        ("white", False, "B+Resign", "Resignation"),
        ("white", None, "Abort", "nobody moved"),
    ]


async def test_resume_replays_all_moves_and_goes_on(bench):
    bench.agenda.games_left = 1

    async def cut(peer):
        await peer.sign_in()
        await peer.say(SETUP, "genmove b 60000")
        assert await peer.hear() == "D4"
        await peer.say("play w E5 60000")

    async def resumed(peer):
        await peer.sign_in()
        await peer.say(SETUP + "  D4 60000 E5 60000 F6 59000 c3 58000 ", "genmove b 40000")
        assert await peer.hear() == "G7"
        await peer.say("gameover 2026-11-21 W+Time ")
        assert await peer.hear() == "quit"

    assert await bench.run(bench.gtp(), [cut, resumed]) == 0
    commands = bench.commands()
    assert commands.count("(start)") == 1, "the engine lives on over a lost connection"
    again = commands.index("boardsize 9", commands.index("boardsize 9") + 1)
    assert [line for line in commands[again:] if line.startswith(("play", "genmove", "time_left", "clear"))] == [
        "clear_board",
        "play b D4",
        "play w E5",
        "play b F6",
        "play w C3",
        "time_left b 40 0",
        "genmove b",
    ]
    assert len(bench.pauses) == 1
    assert 0 <= bench.pauses[0] <= 1
    assert bench.results[0].won is False
    assert bench.results[0].moves == 5


@pytest.mark.parametrize("color", ["b", "w"])
async def test_a_game_that_begins_with_an_opening(bench, color):
    bench.agenda.games_left = 1
    opening = "E5 60000 C3 60000" if color == "b" else "E5 60000 C3 60000 G7 60000"

    async def script(peer):
        await peer.sign_in()
        await peer.say(f"{SETUP} {opening}", f"genmove {color} 60000")
        assert await peer.hear() == "D4"
        await peer.say("gameover 2026-11-21 B+Resign ")
        assert await peer.hear() == "quit"

    assert await bench.run(bench.gtp(), [script]) == 0
    commands = [line for line in bench.commands() if line.startswith(("play", "genmove"))]
    played = ["play b E5", "play w C3", *(["play b G7"] if color == "w" else [])]
    assert commands == [*played, f"genmove {color}"]
    assert bench.results[0].moves == len(played) + 1


@pytest.mark.parametrize("fault", ["die", "hang", "unfinished", "mute", "offboard", "refuse", "long"])
async def test_an_engine_that_fails_at_a_move_is_restarted_and_answers(bench, caplog, fault):
    bench.agenda.games_left = 1

    async def server(peer):
        await peer.sign_in()
        await peer.say(SETUP, "genmove b 60000")
        assert await peer.hear() == "D4"
        await peer.say("play w E5 60000", "genmove b 60000")
        assert await peer.hear() == "F6"
        await peer.say("gameover 2026-11-21 B+Resign ")
        assert await peer.hear() == "quit"

    engine = bench.gtp("--fault", fault, "--at", "2", timeout=2.0 if fault in ("hang", "unfinished", "mute") else 20.0)
    assert await bench.run(engine, [server]) == 0
    commands = bench.commands()
    restarted = commands[len(commands) - commands[::-1].index("(start)") :]
    assert [line for line in restarted if line.startswith(("play", "genmove"))] == [
        "play b D4",
        "play w E5",
        "genmove b",
    ]
    sentence = next(record.getMessage() for record in caplog.records if "restarting it" in record.getMessage())
    words = {
        "die": "ended with exit status 3 instead of answering 'genmove b'",
        "hang": "did not answer 'genmove b' within 2 s",
        "unfinished": "but not the empty line that ends a GTP answer",
        "mute": "it wrote 'I think D4', but nothing that begins with '=' or '?'",
        "offboard": "'T19', which is no move on 9x9",
        "refuse": "refused 'genmove b': 'I do not want to'",
        "long": "a line of over 1048576 bytes",
    }
    assert words[fault] in sentence


async def test_an_engine_that_never_moves_resigns_then_gives_up(bench, caplog):
    async def game(peer, number):
        await peer.say(f"setup {number} 9 7.0 60000 Other(1) Bot(1)", "genmove b 60000")
        assert await peer.hear() == "RESIGN"
        await peer.say("gameover 2026-11-21 W+Resign Resignation")

    async def server(peer):
        await peer.sign_in()
        for number in (1, 2):
            await game(peer, number)
            assert await peer.hear() == "ready"
        await game(peer, 3)
        assert await peer.hear() == "quit"

    assert await bench.run(bench.gtp("--fault", "die", "--times", "100"), [server]) == 1
    assert len(bench.results) == 3
    assert bench.commands().count("(start)") == 9
    assert "3 games in a row were lost because the engine failed: the engine ended with exit status 3" in caplog.text


async def test_a_refused_opponent_move_is_replayed_once_restarted(bench):
    bench.agenda.games_left = 1

    async def server(peer):
        await peer.sign_in()
        await peer.say("setup 1 9 6.5 60000 Bot(5) Other(1)", "play b D4 60000", "genmove w 60000")
        assert await peer.hear() == "E5"
        await peer.say("gameover 2026-11-21 B+Resign ")
        assert await peer.hear() == "quit"

    assert await bench.run(bench.gtp("--fault", "play"), [server]) == 0
    assert bench.commands().count("play b D4") == 2


async def test_an_engine_that_does_not_play_the_size_resigns_once_and_leaves(bench, caplog):
    async def server(peer):
        await peer.sign_in()
        await peer.say(SETUP, "genmove b 60000")
        assert await peer.hear() == "RESIGN"
        await peer.say("gameover 2026-11-21 W+Resign ")
        assert await peer.hear() == "quit"

    assert await bench.run(bench.gtp("--fault", "size"), [server]) == 1
    assert "the engine does not play on 9x9" in caplog.text
    assert bench.commands().count("(start)") == 1


async def test_the_time_spent_on_failures_is_taken_off(bench):
    bench.agenda.games_left = 1

    def slow_failure():
        time.sleep(0.01)
        return EngineFailure("slow")

    async def server(peer):
        await peer.sign_in()
        await peer.say(SETUP, "genmove b 40")
        assert await peer.hear() == "D4"
        await peer.say("gameover 2026-11-21 B+Resign ")
        await peer.hear()

    assert await bench.run(bench.memory(slow_failure, "D4"), [server]) == 0
    assert bench.heard.count("start") == 2
    assert bench.left_ms[0] == 40
    assert bench.left_ms[1] <= 30


async def test_gameover_while_the_engine_thinks(bench):
    """The flag fell: the answer is not sent any more, and the engine is ready before the client is."""
    bench.agenda.games_left = 2
    never = asyncio.Event()

    async def server(peer):
        await peer.sign_in()
        await peer.say(SETUP, "genmove b 1000", "info still there")
        await peer.say("gameover 2026-11-21 W+Time ")
        assert await peer.hear() == "ready"
        await peer.say("setup 18 9 7.0 60000 Other(1) Bot(1)", "genmove b 60000")
        assert await peer.hear() == "C3"
        await peer.say("gameover 2026-11-21 B+Resign ")
        assert await peer.hear() == "quit"

    assert await bench.run(bench.memory(never, "C3"), [server]) == 0
    over = bench.heard.index("over W+Time")
    assert bench.heard[over - 1] == "settle"
    assert [result.moves for result in bench.results] == [0, 1]


async def test_talk_while_the_engine_thinks_is_heard_and_the_move_still_sent(bench):
    bench.agenda.games_left = 1
    gate = asyncio.Event()

    async def server(peer):
        await peer.sign_in()
        await peer.say(SETUP, "genmove b 60000", "info still there", "hmm", "username")
        assert await peer.hear() == "Bot"
        gate.set()
        assert await peer.hear() == "C3"
        await peer.say("gameover 2026-11-21 B+Resign ")
        assert await peer.hear() == "quit"

    assert await bench.run(bench.memory(gate, "C3"), [server]) == 0
    assert bench.heard.count("genmove b") == 1


async def test_asked_again_while_the_engine_thinks(bench):
    """The first answer is given up, and the engine's board with it."""
    bench.agenda.games_left = 1

    async def server(peer):
        await peer.sign_in()
        await peer.say(SETUP, "genmove b 60000")
        await bench.move_requested.wait()
        await peer.say("genmove b 50000")
        assert await peer.hear() == "C3"
        await peer.say("gameover 2026-11-21 B+Resign ")
        assert await peer.hear() == "quit"

    assert await bench.run(bench.memory(asyncio.Event(), "C3"), [server]) == 0
    assert bench.heard.count("new 9 14 60000 Other 1700?") == 2


async def test_connection_lost_while_the_engine_thinks(bench):
    bench.agenda.games_left = 1
    never = asyncio.Event()

    async def cut(peer):
        await peer.sign_in()
        await peer.say(SETUP, "genmove b 60000")

    async def resumed(peer):
        await peer.sign_in()
        await peer.say(SETUP, "genmove b 50000")
        assert await peer.hear() == "C3"
        await peer.say("gameover 2026-11-21 B+Resign ")
        assert await peer.hear() == "quit"

    assert await bench.run(bench.memory(never, "C3"), [cut, resumed]) == 0
    assert bench.heard.count("new 9 14 60000 Other 1700?") == 2


async def test_analysis_is_announced_and_passed_on(bench):
    bench.agenda.games_left = 1
    analysis = '{"winrate":0.53,"comment":"a good move ü"}'

    async def server(peer):
        assert (await peer.sign_in())[0] == "e1 cgos-client 0 genmove_analyze"
        await peer.say(SETUP, "genmove b 60000")
        assert await peer.hear() == f"D4 {analysis}"
        await peer.say("gameover 2026-11-21 B+Resign ")
        assert await peer.hear() == "quit"

    assert await bench.run(bench.gtp("--analysis", analysis), [server]) == 0
    assert "cgos-genmove_analyze b" in bench.commands()


async def test_analysis_is_not_sent_where_the_server_did_not_offer_it(bench):
    bench.agenda.games_left = 1

    async def server(peer):
        await peer.say("protocol")
        assert await peer.hear() == "e1 cgos-client 0"
        await peer.say("username", "password", SETUP, "genmove b 60000")
        assert [await peer.hear() for _ in range(3)] == ["Bot", "open-sesame", "D4"]
        await peer.say("gameover 2026-11-21 B+Resign ")
        assert await peer.hear() == "quit"

    assert await bench.run(bench.memory(EngineMove("D4", "{}"), analyses=True), [server]) == 0


async def test_broken_analysis_costs_nothing_but_itself(bench, caplog):
    bench.agenda.games_left = 1

    async def server(peer):
        await peer.sign_in()
        await peer.say(SETUP, "genmove b 60000")
        assert await peer.hear() == "D4"
        await peer.say("gameover 2026-11-21 B+Resign ")
        assert await peer.hear() == "quit"

    assert await bench.run(bench.gtp("--analysis", '{"winrate":'), [server]) == 0
    assert "is not JSON" in caplog.text


async def test_the_password_is_never_logged(bench, caplog):
    caplog.set_level(logging.DEBUG)
    bench.agenda.games_left = 1

    async def server(peer):
        assert (await peer.sign_in())[2] == "open-sesame"
        await peer.say(SETUP, "gameover 2026-11-21 Abort ")
        assert await peer.hear() == "quit"

    assert await bench.run(bench.memory(), [server]) == 0
    assert "client: Bot" in caplog.text
    assert "client: (secret)" in caplog.text
    assert "open-sesame" not in caplog.text
    assert "open-sesame" not in repr(bench.identity)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (["genmove b 1000"], "'genmove' came before 'setup'"),
        (["play b D4 1000"], "'play' came before 'setup'"),
        (["setup 1 9 7.0 60000 Alice(1) Carol(1)"], "not for Bot"),
        (["setup one 9 7.0 60000 Alice(1) Bot(1)"], "'one' is not a whole number"),
    ],
)
async def test_nonsense_from_the_server_ends_the_session_with_a_sentence(bench, caplog, lines, words):
    async def server(peer):
        await peer.sign_in()
        await peer.say(*lines)
        assert await peer.hear() == ""

    assert await bench.run(bench.memory(), [server], once=True) == 1
    assert words in caplog.text


async def test_unknown_lines_and_a_repeated_question_do_no_harm(bench, caplog):
    bench.agenda.games_left = 1

    async def server(peer):
        await peer.sign_in()
        await peer.say("ok", "", "  username  ")
        assert await peer.hear() == "Bot"
        await peer.say(SETUP, "gameover 2026-11-21 Draw ")
        assert await peer.hear() == "quit"

    assert await bench.run(bench.memory(), [server]) == 0
    assert "does not know: ok" in caplog.text
    assert bench.results[0].won is None


async def test_a_repeated_ending_is_counted_once(bench):
    """A server that cannot know whether the ending was heard tells it again at the next sign-in."""
    bench.agenda.games_left = 2

    async def first(peer):
        await peer.sign_in()
        await peer.say(SETUP, "genmove b 60000")
        assert await peer.hear() == "D4"
        await peer.say("gameover 2026-11-21 B+Resign ")

    async def second(peer):
        await peer.sign_in()
        await peer.say(SETUP + " D4 60000", "gameover 2026-11-21 B+Resign ")
        assert await peer.hear() == "ready"
        await peer.say("setup 18 9 7.0 60000 Other(1) Bot(1)", "gameover 2026-11-21 W+Forfeit ")
        assert await peer.hear() == "quit"

    assert await bench.run(bench.memory("D4"), [first, second]) == 0
    assert [result.game for result in bench.results] == [17, 18]


async def test_an_engine_that_cannot_start_ends_the_client_before_it_connects(bench, caplog):
    assert await bench.run(bench.memory(), [], once=True) == 1  # nobody there to talk to: the connection is closed
    assert "no connection" in caplog.text
    assert await bench.run(bench.gtp("--fault", "dead", "--times", "100"), []) == 1
    assert bench.commands() == ["(start)"] * 3
    assert "exit status 7" in caplog.text


@pytest.mark.parametrize("command", ["/no/such/engine", "true"])
async def test_the_reason_for_giving_up_at_the_start_is_said_once(bench, caplog, command):
    assert await bench.run(SupervisedEngine(make=lambda: GtpEngine([command])), []) == 1
    errors = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert len(errors) == 1
    assert errors[0].startswith("the engine ")


async def test_a_move_that_no_engine_can_make_good(bench):
    """An unfit engine is not tried again, but the game gets its answer."""

    async def server(peer):
        await peer.sign_in()
        await peer.say(SETUP, "genmove b 60000")
        assert await peer.hear() == "RESIGN"
        await peer.say("gameover 2026-11-21 W+Resign ")
        assert await peer.hear() == "quit"

    assert await bench.run(bench.memory(EngineUnfit("out of order")), [server]) == 1
