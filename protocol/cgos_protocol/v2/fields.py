"""Types of the fields of messages of ``cgos.v2``, with what is allowed there.

Patterns are for clients, not checked here: a name against them is refused in words, another word as a move loses. Must
not know: single messages.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from cgos_protocol.clock import TimeSystem
from cgos_protocol.event_news import EventWhat
from cgos_protocol.games.base import Ko
from cgos_protocol.games.notation import COLUMNS, PASS_WORD
from cgos_protocol.ids import GameId, QuestionId
from cgos_protocol.names import BOT_NAME_PATTERN, EVENT_NAME_PATTERN, PASSWORD_PATTERN
from cgos_protocol.verdict import Reason

Text = Annotated[str, Meta(max_length=200)]
Name = Annotated[str, Meta(max_length=64)]
Count = Annotated[int, Meta(ge=0, le=1 << 53)]
GameNumber = Annotated[GameId, Meta(ge=0, le=1 << 53)]
QuestionNumber = Annotated[QuestionId, Meta(ge=1, le=1 << 53)]
GamesWanted = Annotated[int, Meta(ge=2, le=1_000_000)]
Elo = Annotated[float, Meta(ge=-1_000, le=1_000)]
Rate = Annotated[float, Meta(gt=0, lt=1)]
PlyNumber = Annotated[int, Meta(ge=1, le=1 << 53)]
BotName = Annotated[Name, Meta(extra_json_schema={"pattern": BOT_NAME_PATTERN})]
WireName = Annotated[Name, Meta(extra_json_schema={"pattern": f"^$|{BOT_NAME_PATTERN}"})]
EventName = Annotated[Name, Meta(extra_json_schema={"pattern": EVENT_NAME_PATTERN})]
VersionName = Annotated[Name, Meta(extra_json_schema={"pattern": "^[ -~]{0,32}$"})]
Secret = Annotated[str, Meta(max_length=256, extra_json_schema={"pattern": PASSWORD_PATTERN})]
_ROW = "([1-9]|1[0-9]|2[0-5])"
_MOVE = f"^([{COLUMNS}{COLUMNS.lower()}]{_ROW}|[Pp][Aa][!-~]*|[Rr][Ee][Ss][Ii][Gg][Nn])$"
MoveText = Annotated[str, Meta(max_length=64, extra_json_schema={"pattern": _MOVE})]
Spelled = Annotated[str, Meta(extra_json_schema={"pattern": f"^([{COLUMNS}]{_ROW}|{PASS_WORD})$"})]
Label = Annotated[str, Meta(extra_json_schema={"pattern": r"^[0-9]+\??$"})]
Date = Annotated[str, Meta(extra_json_schema={"pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"})]
Result = Annotated[
    str,
    Meta(extra_json_schema={"pattern": r"^([BW]\+([0-9]+\.[05]|Resign|Time|Illegal|Forfeit)|Draw|Abort|Void)$"}),
]
SystemWord = Annotated[str, Meta(extra_json_schema={"enum": [system.value for system in TimeSystem]})]
KoWord = Annotated[str, Meta(extra_json_schema={"enum": [ko.value for ko in Ko]})]
WhatWord = Annotated[str, Meta(extra_json_schema={"enum": [what.value for what in EventWhat]})]
ReasonWord = Annotated[str, Meta(extra_json_schema={"enum": [reason.value for reason in Reason]})]
