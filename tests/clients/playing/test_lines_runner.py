"""When the client connects again, when it gives up and when it leaves."""

from __future__ import annotations

import asyncio
import random
import signal
import socket

import pytest

from cgos_client.errors import CannotConnect
from cgos_client.playing.transport import connect
from cgos_client.retry import REFUSALS, SETTLED_SECONDS, SHORT, Pauses, Retries, heals_by_waiting, pause_named

SETUP = "setup 17 9 7.0 60000 Other(1700?) Bot(1800)"


def test_pauses_grow_to_a_minute_and_start_anew():
    pauses = Pauses(random.Random(3))
    steps = [2, 4, 8, 16, 32, 60, 60, 60]
    for step in steps:
        assert step / 2 <= pauses.next() <= step
    pauses.reset()
    assert 1 <= pauses.next() <= 2


def test_for_some_seconds_attempts_follow_one_another_soon():
    """A node that takes over listens within that time, and its bots are not to wait much longer than it needs."""
    retries = Retries(random.Random(5))
    waited = [retries.pause() for _ in range(SHORT + 3)]
    assert all(1 <= pause <= 2 for pause in waited[:SHORT])
    assert 8 <= sum(waited[:SHORT]) <= 16
    assert [2 <= waited[SHORT] <= 4, 4 <= waited[SHORT + 1] <= 8, 8 <= waited[SHORT + 2] <= 16] == [True] * 3
    retries.signed_in(1.0, had_game=True)
    assert retries.pause() <= 1
    assert all(1 <= retries.pause() <= 2 for _ in range(SHORT))


def test_after_a_good_session_clients_come_back_at_once_but_not_together():
    first = []
    for seed in range(200):
        retries = Retries(random.Random(seed))
        retries.signed_in(SETTLED_SECONDS, had_game=False)
        first.append(retries.pause())
        assert 1 <= retries.pause() <= 2, "nobody answered"
        retries.signed_in(1.0, had_game=True)
        assert retries.pause(at_least=30) >= 30, "the server named a pause"
    assert max(first) <= 1
    assert max(sum(moment <= pause < moment + 0.1 for pause in first) for moment in first) < 40


def test_pauses_differ_between_clients():
    assert len({Pauses(random.Random(seed)).next() for seed in range(20)}) == 20


@pytest.mark.parametrize(
    ("sentence", "heals"),
    [
        ("Sorry, password doesn't match", False),
        ("Wrong password. Check it and try again.", False),
        ("The name Bot is taken by bot: capitals make no difference. Choose another.", False),
        ("A name has at least 3 characters.", False),
        ("Bot is disabled: ask the operator why.", False),
        ("There is no bot Bot here, and new ones are added by the operator only.", False),
        ("You are already logged on!  Closing connection.", True),
        ("Bot is signed in here already. If that connection is dead, try again in 30 s.", True),
        ("Bot is registered and waits for approval by the operator. Try again later.", True),
        ("Too many bots are signing in at once. Please try again in half a minute.", True),
        ("The server cannot check passwords now (closed). Please try again.", True),
        ("The server is shutting down.", True),
    ],
)
def test_which_refusals_heal(sentence, heals):
    assert heals_by_waiting(sentence) is heals


async def test_a_wrong_password_ends_the_client_after_some_tries(bench, caplog):
    async def server(peer):
        await peer.sign_in()
        await peer.say("Error: Sorry, password doesn't match")

    assert await bench.run(bench.memory(), [server] * REFUSALS) == 1
    assert "the server refused the sign-in as Bot: Sorry, password doesn't match" in caplog.text
    assert len(bench.pauses) == REFUSALS - 1
    assert all(step / 2 <= pause <= step for pause, step in zip(bench.pauses, [20, 40, 60, 60], strict=True))
    assert bench.heard == ["start", "close"]


async def test_a_refusal_that_passes_is_waited_out(bench):
    bench.agenda.games_left = 1

    async def refuse(peer):
        await peer.sign_in()
        await peer.say("Error: You are already logged on!")

    async def play(peer):
        await peer.sign_in()
        await peer.say(SETUP, "gameover 2026-11-21 B+Forfeit ")
        assert await peer.hear() == "quit"

    assert await bench.run(bench.memory(), [refuse] * 8 + [play]) == 0
    assert len(bench.pauses) == 8
    assert max(bench.pauses) <= 60


async def test_the_server_names_the_pause(bench):
    bench.agenda.games_left = 1

    async def refuse(peer):
        await peer.sign_in()
        await peer.say("Error: Bot is signed in here already; your next attempt is looked at in 40 s.")

    async def play(peer):
        await peer.sign_in()
        await peer.say(SETUP, "gameover 2026-11-21 B+Forfeit ")
        assert await peer.hear() == "quit"

    assert await bench.run(bench.memory(), [refuse, play]) == 0
    assert 40 <= bench.pauses[0] <= 44


@pytest.mark.parametrize(
    ("sentence", "seconds"),
    [("Try again in 30 s.", 30), ("Try again in 2 min.", 120), ("Please try again.", 0), ("GTP in 4 steps", 0)],
)
def test_pauses_that_a_sentence_names(sentence, seconds):
    assert pause_named(sentence) == seconds


async def test_who_is_thrown_out_was_not_refused(bench, caplog):
    async def kick(peer):
        await peer.sign_in()
        await peer.say("info hello", "Error: The operator closes your connection.")

    assert await bench.run(bench.memory(), [kick], once=True) == 1
    assert "the server ended the connection: The operator closes" in caplog.text
    assert "refused" not in caplog.text


async def test_a_web_server_is_no_cgos_server(bench, caplog):
    async def server(peer):
        await peer.say("HTTP/1.1 408 Request Timeout", "Connection: close")

    assert await bench.run(bench.memory(), [server], once=True) == 1
    assert "comes from a web server" in caplog.text
    assert "ws://" in caplog.text


async def test_the_pause_is_short_again_after_a_game(bench):
    bench.agenda.games_left = 1

    async def close(peer):
        await peer.sign_in()

    async def lose_in_game(peer):
        await peer.sign_in()
        await peer.say(SETUP, "genmove b 60000")
        assert await peer.hear() == "D4"

    async def end(peer):
        await peer.sign_in()
        await peer.say(SETUP + " D4 60000", "gameover 2026-11-21 B+Time ")
        assert await peer.hear() == "quit"

    assert await bench.run(bench.memory("D4"), [*[close] * (SHORT + 2), lose_in_game, end]) == 0
    *short, second, third, after_game = bench.pauses
    assert max(short) <= 2 <= second <= 4 <= third
    assert after_game <= 2


async def test_once_means_one_connection(bench):
    async def server(peer):
        await peer.sign_in()

    assert await bench.run(bench.memory(), [server], once=True) == 1
    assert bench.pauses == []


async def test_first_stop_ends_after_the_game(bench, caplog):
    caplog.set_level("INFO")

    async def server(peer):
        await peer.sign_in()
        await peer.say(SETUP, "genmove b 60000")
        assert await peer.hear() == "D4"
        bench.runner.stop()
        await peer.say("play w E5 60000", "genmove b 60000")
        assert await peer.hear() == "F6"
        await peer.say("gameover 2026-11-21 B+Resign ")
        assert await peer.hear() == "quit"
        assert await peer.hear() == ""

    assert await bench.run(bench.memory("D4", "F6"), [server]) == 0
    assert "leaving after game 17; ask again to leave at once" in caplog.text
    assert [result.result for result in bench.results] == ["B+Resign"]


async def test_second_stop_ends_at_once(bench):
    async def server(peer):
        await peer.sign_in()
        await peer.say(SETUP, "genmove b 60000")
        await bench.move_requested.wait()
        bench.runner.stop()
        bench.runner.stop()
        assert await peer.hear() == "quit"
        assert await peer.hear() == ""

    assert await bench.run(bench.memory(asyncio.Event()), [server]) == 130
    assert bench.heard[-1] == "close"


async def test_stop_without_a_game_ends_at_once(bench):
    async def server(peer):
        await peer.sign_in()
        await peer.say("info you wait for an opponent")
        bench.runner.stop()
        assert await peer.hear() == "quit"

    assert await bench.run(bench.memory(), [server]) == 0


async def test_stop_during_a_pause(bench):
    async def stop(_):
        bench.runner.stop()
        await asyncio.sleep(0)

    bench.pause = stop
    assert await bench.run(bench.memory(), []) == 0


async def test_a_signal_is_a_stop(bench):
    async def server(peer):
        await peer.sign_in()
        signal.raise_signal(signal.SIGTERM)
        assert await peer.hear() == "quit"

    assert await bench.run(bench.memory(), [server]) == 0


async def test_leaving_does_not_wait_for_a_game_that_is_gone(bench, monkeypatch):
    """Stopped in a game, cut off, signed in again: the game has ended meanwhile and nothing comes."""
    monkeypatch.setattr("cgos_client.playing.lines_session.LEAVING_SECONDS", 0.2)

    async def cut(peer):
        await peer.sign_in()
        await peer.say(SETUP, "genmove b 60000")
        assert await peer.hear() == "D4"
        bench.runner.stop()

    async def empty(peer):
        await peer.sign_in()
        assert await peer.hear() == "quit"

    assert await bench.run(bench.memory("D4"), [cut, empty]) == 0


async def test_a_silent_server_counts_as_lost(bench, monkeypatch, caplog):
    monkeypatch.setattr("cgos_client.playing.lines_session.LEAVING_SECONDS", 0.05)
    monkeypatch.setattr("cgos_client.playing.lines_session.IDLE_SECONDS", 0.1)

    async def server(peer):
        await peer.sign_in()
        assert await peer.hear() == ""

    assert await bench.run(bench.memory(), [server], once=True) == 1
    assert "the server said nothing for too long" in caplog.text


@pytest.mark.parametrize("lines", [[], ["SSH-2.0-OpenSSH_9.2"], ["protocol", "username"]])
async def test_a_port_that_asks_for_no_sign_in_is_left_soon(bench, monkeypatch, caplog, lines):
    """The long deadline is for servers that have been signed in to."""
    monkeypatch.setattr("cgos_client.playing.lines_session.LEAVING_SECONDS", 0.1)
    monkeypatch.setattr("cgos_client.playing.lines_session.SIGN_IN_SECONDS", 0.3)
    bench.agenda.games_left = 1

    async def stranger(peer):
        await peer.say(*lines)
        while await peer.hear():
            pass

    async def server(peer):
        await peer.sign_in()
        await peer.say(SETUP, "gameover 2026-11-21 B+Forfeit ")
        assert await peer.hear() == "quit"

    assert await bench.run(bench.memory(), [stranger, stranger, server]) == 0
    sentence = "the server does not speak the CGOS protocol or does not answer: it did not ask for the password"
    assert caplog.text.count(sentence) == 2
    first, second = bench.pauses
    assert 1 <= first <= 2
    assert 1 <= second <= 2


async def test_a_line_without_end_and_a_closed_port(fake_server):
    async def flood(peer):
        await peer.say("x" * (3 << 20))

    async def unfinished(peer):
        peer.writer.write(b"info last words")

    async with fake_server(flood, unfinished) as server:
        connection = await connect("127.0.0.1", server.port)
        assert await connection.read(10) is None
        assert "more than 1048576 bytes" in connection.lost
        await connection.send("nobody hears this")
        await connection.close()
        connection = await connect("127.0.0.1", server.port)
        assert await connection.read(10) == "info last words"
        assert await connection.read(10) is None
        assert connection.lost == "the server closed the connection"
        await connection.close()

    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        with pytest.raises(CannotConnect, match="cannot be reached"):
            await connect("127.0.0.1", unused.getsockname()[1])


def test_a_pause_is_at_least_as_long_as_the_server_asks():
    pauses = Pauses(random.Random(1))
    assert 30 <= pauses.next(at_least=30) <= 33
    assert pauses.next() <= 4
