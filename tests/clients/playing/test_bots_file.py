"""The file of bots: what it holds, all that may be wrong with it, and the one that 'init' writes."""

from __future__ import annotations

import os
import stat
import tomllib

import pytest
from click.testing import CliRunner

from cgos_client.addresses import server_address
from cgos_client.cli import init
from cgos_client.cli.main import main
from cgos_client.playing import bots_file
from cgos_client.playing.bots_file import BadBotsFile, BotTable
from cgos_client.settings import BadSetting

WHOLE = """
[server]
url = "ws://localhost:6868"

[[bot]]
name = "First"
password_file = "first.password"
venues = ["9x9", "19x19"]
slots = 3
version = "1.2"
predecessor = "First-1.1"
accepts = ["*"]
events = ["spring-cup"]
engine = ["gnugo", "--mode", "gtp"]
parameters = { level = 3, style = "calm", patient = true }
sgf_dir = "games"

[[bot]]
name = "Second"
token_file = "/etc/second.token"
url = "localhost:6809"
builtin = "mcts"
playouts = 50
"""


def test_a_whole_file(tmp_path):
    path = tmp_path / "bots.toml"
    path.write_text(WHOLE)
    bots = bots_file.load(path)
    first, second = bots.bot
    assert first.slots == 3
    assert first.predecessor == "First-1.1"
    assert first.events == ["spring-cup"]
    assert (first.accepts, second.accepts) == (["*"], [])
    assert first.parameters == {"level": 3, "style": "calm", "patient": True}
    assert first.engine == ["gnugo", "--mode", "gtp"]
    assert first.password_file == tmp_path / "first.password"
    assert first.sgf_dir == tmp_path / "games"
    assert str(second.token_file) == "/etc/second.token"
    assert bots.server.address(first) == server_address("ws://localhost:6868")
    assert bots.server.address(second) == server_address("localhost:6809")


def problems(tmp_path, text: str) -> list[str]:
    path = tmp_path / "bots.toml"
    path.write_text(text)
    with pytest.raises(BadBotsFile) as caught:
        bots_file.load(path)
    assert str(caught.value) == "\n".join(caught.value.problems)
    assert all(problem.startswith(f"{path}: ") for problem in caught.value.problems)
    return [problem.removeprefix(f"{path}: ") for problem in caught.value.problems]


def test_everything_that_is_wrong_is_said_at_once(tmp_path):
    sentences = problems(
        tmp_path,
        """
extra = 1
[server]
url = "ws://"
encodng = "json"
[[bot]]
name = "x"
venues = ["9x9", "9x9"]
password_file = "pw"
token_file = "token"
builtin = "random"
playouts = 5
[[bot]]
slots = 0
venues = "9x9"
engine = ["e"]
password_file = 7
[[bot]]
name = "Lines"
url = "localhost:6809"
venues = ["9x9"]
version = "2"
password_file = "pw"
""",
    )
    assert sentences == [
        "server.encodng: is no key; did you mean encoding?",
        "extra: is no table of this file; there are [server] and [[bot]]",
        "bot x: name 'x' cannot be used: A name has at least 3 characters.",
        'bot x.playouts: is for builtin = "mcts"',
        "bot x: give either password_file or token_file",
        "bot 2.name: is missing",
        "bot 2.password_file: 7 is not possible. Give the path of a file or directory.",
        'bot 2.venues: "9x9" is not possible. Give a list of texts, such as ["one", "two"].',
        "bot 2.slots: 0 is not possible. Give a whole number from 1 to 256.",
        'bot Lines: give either engine = ["program", "argument"] or builtin = "mcts"',
        'bot Lines.version: CGOS lines have no words for it; it needs url = "ws://..."',
        "bot Lines.venues: over TCP every venue has a port of its own, which url names",
        "server.url 'ws://' names no host: write ws://HOST:PORT",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[server", "is not TOML"),
        ("", "server.url: is missing"),
        ('[server]\nurl = "ws://h:1"', "bot: is missing"),
        ('server = 1\nbot = 1', "server: is no table"),
        ('[server]\nurl = "http://h"\n[[bot]]\nname = "Abc"', "server.url 'http://h': choose tcp://"),
        (WHOLE.replace('venues = ["9x9", "19x19"]', ""), "bot First.venues: is missing"),
        (WHOLE.replace('"19x19"', '"9x9"'), "bot First.venues: names a venue twice"),
        (WHOLE.replace('["gnugo", "--mode", "gtp"]', "[]"), "bot First.engine: names no program"),
        (WHOLE.replace("ws://localhost:6868", "localhost:6809"), "bot First.slots: CGOS lines have no words for it"),
        (WHOLE.replace("ws://localhost:6868", "localhost:6809"), "over TCP every venue has a port of its own"),
        (WHOLE.replace("6868\"", '6868"\nlines = true'), "bot First.venues: CGOS lines are spoken in one venue"),
        (WHOLE.replace("Second", "first").replace('url = "localhost:6809"', 'venues = ["9x9"]'), "is there twice"),
        (WHOLE.replace('"calm"', "[1]"), "bot First.parameters: {"),
        (WHOLE.replace('"mcts"', '"alphago"'), 'builtin: "alphago" is not possible. Give "greedy", "mcts" or'),
        (WHOLE.replace("50", '"many"'), 'Second.playouts: "many" is not possible. Give a whole number from 1 to 1000'),
        (WHOLE.replace('"1.2"', "1.2"), "First.version: 1.2 is not possible. Give text of at most 64 characters."),
        (WHOLE.replace("playouts = 50", "engine_timeout_s = -1"), "engine_timeout_s: -1 is not possible. Give a "),
        (WHOLE.replace("playouts = 50", "name = 5").replace('name = "Second"', ""), "Give text of 1 to 200 "),
        (WHOLE.replace("6868\"", '6868"\nlines = 1'), "server.lines: 1 is not possible. Give true or false."),
        (WHOLE.replace('"1.2"', '"1.2"\nhours = "6-6"'), "First.hours: '6-6' begin and end at once."),
        (WHOLE.replace("playouts = 50", "seed = 1.5"), "Second.seed: 1.5 is not possible. Give a whole number."),
    ],
)  # fmt: skip
def test_single_faults(tmp_path, text, words):
    assert [problem for problem in problems(tmp_path, text) if words in problem]


def test_files_with_passwords_are_among_what_is_wrong(tmp_path):
    path = tmp_path / "bots.toml"
    text = WHOLE.replace("/etc/second.token", "second.token").replace("slots = 3", "slots = 0")
    path.write_text(text + '[[bot]]\npassword_file = "third.password"\nvenues = ["9x9"]\nbuiltin = "mcts"\n')
    (tmp_path / "second.token").write_text("x\n")
    with pytest.raises(BadBotsFile) as caught:
        bots_file.load_with_secrets(path)
    assert [problem.removeprefix(f"{path}: ") for problem in caught.value.problems] == [
        "bot First.slots: 0 is not possible. Give a whole number from 1 to 256.",
        "bot 3.name: is missing",
        f"bot First.password_file {tmp_path / 'first.password'}: the file cannot be read (No such file or directory)",
        f"bot Second.token_file {tmp_path / 'second.token'}: the first line cannot be used: "
        "A password has at least 3 characters.",
        f"bot 3.password_file {tmp_path / 'third.password'}: the file cannot be read (No such file or directory)",
    ]


def test_passwords_are_read_where_nothing_is_wrong(tmp_path):
    path = tmp_path / "bots.toml"
    path.write_text(WHOLE.replace("/etc/second.token", "second.token"))
    (tmp_path / "first.password").write_text("sesame\n")
    (tmp_path / "second.token").write_text("token-of-second\n")
    bots, words = bots_file.load_with_secrets(path)
    assert [bot.name for bot in bots.bot] == ["First", "Second"]
    assert words == ["sesame", "token-of-second"]


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(BadBotsFile, match=r"cannot be read .*'cgos-client init' writes one"):
        bots_file.load(tmp_path / "nowhere")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(BadBotsFile, match="is not UTF-8 text"):
        bots_file.load(tmp_path / "binary")


# -- init


@pytest.mark.parametrize("address", ["ws://localhost:6868", "wss://h", "localhost:6809", "cgos://h:1"])
@pytest.mark.parametrize("engine", [(), ("gnugo", "--mode", "gtp", 'a "quoted" \\ word')])
def test_what_init_writes_can_be_read(tmp_path, address, engine):
    path = tmp_path / "bots.toml"
    over_websocket = address.startswith("ws")
    venues = ("9x9", "13x13") if over_websocket else ()
    password = init.write(
        path,
        server_address(address),
        BotTable(name="MyBot", venues=list(venues), engine=list(engine), slots=2 if over_websocket else 1),
    )
    bots = bots_file.load(path)
    (bot,) = bots.bot
    assert bots.server.address(bot) == server_address(address)
    assert (bot.name, bot.password_file) == ("MyBot", tmp_path / "MyBot.password")
    assert tuple(bot.venues) == venues
    assert tuple(bot.engine or ()) == engine
    assert (bot.builtin is None) == bool(engine)
    assert password == tmp_path / "MyBot.password"
    assert stat.S_IMODE(os.stat(password).st_mode) == 0o600
    assert len(password.read_text().strip()) == 32


def test_every_key_is_in_what_init_writes():
    """As a value or as a comment that becomes one."""
    text = init.text(server_address("ws://h"), BotTable(name="MyBot", venues=["9x9"]), "pw")
    for line in text.splitlines():
        if line.startswith("# ") and " = " in line:
            text = text.replace(line, line[2:])
    text = text.replace("# playouts", "playouts")
    raw = tomllib.loads(text)
    known = set(bots_file.BotTable.__struct_fields__) | set(bots_file.ServerTable.__struct_fields__)
    assert known - {*raw["server"], *raw["bot"][0]} == {"engine", "seed"}


def test_init_overwrites_nothing(tmp_path):
    path = tmp_path / "bots.toml"
    answers = server_address("ws://h"), BotTable(name="MyBot", venues=["9x9"])
    (tmp_path / "MyBot.password").write_text("mine")
    assert init.write(path, *answers) is None
    assert (tmp_path / "MyBot.password").read_text() == "mine"
    with pytest.raises(BadSetting, match="exists"):
        init.write(path, *answers)
    with pytest.raises(BadSetting, match="cannot be written"):
        init.write(tmp_path / "no" / "folder", *answers)


def test_init_asks(tmp_path):
    path = tmp_path / "bots.toml"
    answers = "ws://there:1\nMyBot\n9x9 19x19\ngnugo --mode gtp\n"
    result = CliRunner().invoke(main, ["init", str(path)], input=answers)
    assert result.exit_code == 0, result.output
    assert f"cgos-client run --config {path}" in result.output
    bot = bots_file.load(path).bot[0]
    assert (bot.venues, bot.engine) == (["9x9", "19x19"], ["gnugo", "--mode", "gtp"])


def test_init_with_options_asks_nothing(tmp_path):
    path = tmp_path / "bots.toml"
    options = ["--server", "localhost:6809", "--name", "MyBot", "--engine", ""]
    result = CliRunner().invoke(main, ["init", str(path), *options])
    assert result.exit_code == 0, result.output
    assert "Server" not in result.output
    assert bots_file.load(path).bot[0].builtin == "mcts"
    again = CliRunner().invoke(main, ["init", str(path), *options])
    assert again.exit_code == 2
    assert "exists" in again.output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--server", "nonsense"], "HOST:PORT"),
        (["--server", "ws://h", "--name", "x"], "at least 3 characters"),
        (["--server", "ws://h"], "There is nobody to ask: give --server, --name"),
        (["--server", "ws://h", "--name", "MyBot", "--venue", "9x9", "--engine", "'"], "No closing quotation"),
    ],
)
def test_init_refuses(tmp_path, options, words):
    result = CliRunner().invoke(main, ["init", str(tmp_path / "bots.toml"), *options], input="")
    assert result.exit_code == 2
    assert words in result.output
