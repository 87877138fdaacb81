"""Every code that a connection of cgos.v2 may be told is documented."""

from __future__ import annotations

import re
from pathlib import Path

from cgos_protocol.errors import Code
from cgos_protocol.v2.dialogue import CODES

ROOT = Path(__file__).parents[3]
SOURCES = (
    "protocol/cgos_protocol/v2/session.py",
    "protocol/cgos_protocol/v2/encoding.py",
    "protocol/cgos_protocol/v2/places.py",
    "cgos_server/net/websocket/connection.py",
    "cgos_server/net/websocket/bot.py",
)
POLICY = (
    "cgos_server/service/people/accounts.py",
    "cgos_server/service/people/failures.py",
    "cgos_server/service/people/passwords.py",
    "cgos_server/live/venue/player.py",
    "cgos_server/live/signing_in/arrivals.py",
    "cgos_server/live/signing_in/duplicate_login.py",
    "cgos_server/live/signing_in/multi_venue.py",
)


def refusals(text: str) -> set[str]:
    """The codes of refusals that a module names."""
    return {Code[name] for name in re.findall(r"\bCode\.([A-Z0-9_]+)", text)}


def test_every_code_that_the_connection_says_is_documented() -> None:
    text = "".join((ROOT / path).read_text("utf-8") for path in SOURCES)
    own = re.findall(r'(?:_error|Malformed|violated|_violated|ws\.Error|refused\(self,)\(?\s*"([a-z0-9-]+)"', text)
    codes = {*own, *refusals(text)}
    assert {"invalid", "malformed", "too-large", "flood", "no-venue", "fragments", "login-timeout"} <= codes
    assert codes <= set(CODES), sorted(codes - set(CODES))


def test_every_refusal_of_a_sign_in_is_documented() -> None:
    text = "".join((ROOT / path).read_text("utf-8") for path in POLICY)
    codes = {*refusals(text), *re.findall(r'\.refused\(\s*"([a-z0-9-]+)"', text)}
    assert {"wrong-password", "name-taken", "already-here", "already-arriving", "busy", "store"} <= codes
    assert codes - {"drained"} <= set(CODES), sorted(codes - set(CODES))
