"""Writes a file of bots for somebody who has none yet, and a password that nobody has to think up.

Must not know: how the answers are asked for, what is done with the file.
"""

from __future__ import annotations

import json
import os
import secrets
from pathlib import Path

from cgos_client.addresses import Address
from cgos_client.playing.bots_file import BotTable
from cgos_client.settings import BadSetting


def text(address: Address, bot: BotTable, password_file: str) -> str:
    """The file. Everything that may be set is there, what is not needed as a comment.

    :param bot: its name, slots, venues (for WebSocket servers) and engine; without an engine the built-in bot plays
    """
    over_websocket = not address.over_tcp
    mark = "" if over_websocket else "# "
    engine = (
        f"engine = {json.dumps(bot.engine)}"
        if bot.engine
        else 'builtin = "mcts"                # or "random", "greedy"; or engine = ["gnugo", "--mode", "gtp"]'
    )
    venues = json.dumps(bot.venues or ["9x9"])
    return f"""\
# Bots for `cgos-client run --config` this file. Relative paths count from here.

[server]
url = {json.dumps(str(address))}      # ws://, wss://; HOST:PORT or cgoss:// for CGOS lines over TCP
# lines = true                  # CGOS lines over WebSocket
# encoding = "msgpack"          # messages over WebSocket; "json" can be read in a log
# ca_file = "ca.pem"            # certificates to trust, where the server has one of its own
# leave_within_s = 600          # how long running games may go on after Ctrl-C

# One table for each bot; all run at once.
[[bot]]
name = {json.dumps(bot.name)}
password_file = {json.dumps(password_file)}
# token_file = "bot.token"      # in its place: a token that the operator made
{engine}
# playouts = 100                # for builtin = "mcts"
# engine_timeout_s = 60         # a little above the engine's longest thought
{mark}venues = {venues}             # over WebSocket: where it plays
{mark}slots = {bot.slots}                       # games at once, each with an engine process of its own
# version = "1.0"               # rated by itself; change it when the engine gets stronger
# wire_name = "MyBot-1"         # how the version is shown; else name-version
# predecessor = "MyBot-0.9"     # the version that it comes from; else the newest one
# author = ""
# parameters = {{ playouts = 100 }}
# games = 10                    # leave after so many
# games_a_day = 100
# avoid = ["MyOtherBot"]        # who not to meet
# accepts = ["TheirAccount"]    # whose tests and challenges it plays in; "*" for everybody's
# hours = "22-6"                # when its games may begin, in UTC
# events = ["spring-cup"]       # tournaments of the server that it enters
# log_dir = "logs"              # wire.log and gtp.log, rotated
# sgf_dir = "games"             # one file for each game
"""


def write(path: Path, address: Address, bot: BotTable) -> Path | None:
    """Write :func:`text`, and beside it a password for the bot where there is none: its path, with mode 0600.

    Returns None where the password was there already. Raises BadSetting where `path` exists or cannot be written.
    """
    password = path.with_name(f"{bot.name}.password")
    if not _write_new(path, text(address, bot, password.name), 0o666):
        raise BadSetting(f"{path} exists: give another name, or take it away first")
    return password if _write_new(password, secrets.token_hex(16) + "\n", 0o600) else None


def _write_new(path: Path, content: str, mode: int) -> bool:
    """Write a file that was not there yet; False where it was. Raises BadSetting where it cannot be written."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(content)
    except FileExistsError:
        return False
    except OSError as error:
        raise BadSetting(f"{path} cannot be written ({error.strerror})") from None
    return True
