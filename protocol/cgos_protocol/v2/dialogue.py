"""``cgos.v2`` as an order of messages: who may say what when, what errors and closings mean, how much of anything.

Declarations for the description of the protocol and for whoever holds the server against it; a test holds the states
against the sessions themselves. Must not know: connections, encodings, a server's configuration.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

from cgos_protocol.errors import Code
from cgos_protocol.lines.player import ANALYSIS_MAX
from cgos_protocol.v2.session import UNSEEN_MAX, WATCHED_MAX


class Step(NamedTuple):
    """One message that may be said in a state.

    :ivar then: the next state; the same for most
    :ivar where: values of the message's fields on which the step depends
    """

    by: Literal["server", "client"]
    message: str
    then: str
    where: Mapping[str, Any] = {}


class State(NamedTuple):
    """A state of a dialogue.

    :ivar errors: by a client's message that is no step of this state: the code of the error that answers it
    """

    meaning: str
    steps: tuple[Step, ...]
    errors: Mapping[str, str] = {}


def _client(then: str, *messages: str) -> tuple[Step, ...]:
    return tuple(Step("client", message, then) for message in messages)


def _server(then: str, *messages: str) -> tuple[Step, ...]:
    return tuple(Step("server", message, then) for message in messages)


_WATCHING: Final = ("watch_venue", "watch_game", "unwatch")
_WATCHED: Final = ("picture", "fact", "shown")
_OF_EVENTS: Final = ("enter_event", "withdraw_event", "check_in")
_OF_QUESTIONS: Final = ("ask", "stop_question")
_PLAYING: Final = ("move", "seen", "sync", "ready", "pause", "drain", "limits", *_OF_EVENTS, *_OF_QUESTIONS)
_ANY_TIME: Final = ("info", "latency")
_IN_GAMES: Final = ("move", "seen", "sync", "limits")
_TOLD: Final = ("game", "turn", "moved", "over", "event", "asked", "question")
_FATAL: Final = Step("server", "error", "closed", {"fatal": True})


def _common(state: str) -> tuple[Step, ...]:
    """What may be said in every state from `new` to `draining`."""
    return (*_client(state, *_WATCHING), *_server(state, *_WATCHED, *_ANY_TIME, "error"), _FATAL)


def _signed_in(state: str, meaning: str, last: Sequence[Step] = ()) -> State:
    """A state in which games are played."""
    games = (
        *_client(state, *_IN_GAMES, *_OF_EVENTS, *_OF_QUESTIONS),
        *_server(state, *_TOLD),
    )
    wishes = (*_client("in", "ready"), *_client("paused", "pause"), *_client("draining", "drain"))
    return State(meaning, (*games, *wishes, *last, *_common(state)), {"sign_in": "signed-in"})


CONNECTION: Final[Mapping[str, State]] = {
    "opened": State(
        "The handshake is done. The server speaks first.",
        (*_server("new", "welcome"), _FATAL),
    ),
    "new": State(
        "Nobody is signed in. Say `sign_in` to play; watching needs none.",
        (*_client("checking", "sign_in"), *_common("new")),
        dict.fromkeys(_PLAYING, Code.NOT_SIGNED_IN),
    ),
    "checking": State(
        "The sign-in is looked at. Wait for `signed_in`: a wrong one is answered by a fatal `error`.",
        (*_server("in", "signed_in"), *_common("checking")),
        dict.fromkeys(_PLAYING, Code.NOT_SIGNED_IN) | {"sign_in": "signed-in"},
    ),
    "in": _signed_in("in", "The bot is in, and takes games as it has free slots. Each game is a dialogue of its own."),
    "paused": _signed_in("paused", "No new game comes; running games go on."),
    "draining": _signed_in(
        "draining", "No new game comes; after the last one the server says `drained`.", _server("closed", "drained")
    ),
    "closed": State("The server closes the connection. Nothing more is heard or said.", ()),
}
"""A connection, from `opened` to `closed`. It may break in any state."""

GAME: Final[Mapping[str, State]] = {
    "unknown": State(
        "A game that was not told on this connection.",
        (*_server("waiting", "game"),),
        {"move": Code.NO_GAME},
    ),
    "waiting": State(
        "It is the opponent's move, or the server has yet to say whose it is.",
        (
            *_server("to_move", "turn"),
            Step("server", "moved", "to_move", {"your_turn": True}),
            Step("server", "moved", "waiting", {"your_turn": False}),
            *_server("waiting", "game"),
            *_server("ended", "over"),
        ),
        {"move": "not-your-turn"},
    ),
    "to_move": State(
        "The bot's clock runs. Answer with `move`, at the ply of `turn`, or the one after that of `moved`.",
        (
            *_client("waiting", "move"),
            *_server("waiting", "game"),
            *_server("to_move", "turn"),
            *_server("ended", "over"),
        ),
    ),
    "ended": State(
        "The result is told. Answer with `seen`; without it the server tells the end once more at the next sign-in.",
        (*_client("unknown", "seen"), *_server("waiting", "game")),
        {"move": Code.NO_GAME},
    ),
}
"""One game on a connection; messages carry its number in `game`. An `error` moves none of these states."""


class Fatal(enum.StrEnum):
    """Whether the connection closes after an error of a code; the error's field `fatal` has the last word."""

    NEVER = "never"
    AT_TIMES = "at times"
    ALWAYS = "always"


class ErrorCode(NamedTuple):
    """What a code of `error` means. `again`: the very same sign-in may succeed later."""

    meaning: str
    fatal: Fatal = Fatal.NEVER
    again: bool = False


def _fatal(meaning: str, again: bool = False) -> ErrorCode:
    """A code after which the connection always closes."""
    return ErrorCode(meaning, Fatal.ALWAYS, again)


CODES: Final[Mapping[str, ErrorCode]] = {
    Code.INVALID: ErrorCode("The message has not the shape that it must have, or a value is out of range."),
    "malformed": ErrorCode("The frame holds no message: no JSON or MessagePack, or nested too deeply."),
    "utf-8": ErrorCode("Text that is no UTF-8. Fatal in a text frame.", Fatal.AT_TIMES),
    "wrong-frame": _fatal("A text frame where MessagePack was chosen, or a binary one where JSON was."),
    Code.TOO_LARGE: _fatal("The message is longer than it may be."),
    "fragments": _fatal("A message in too many frames."),
    "flood": _fatal("Too many messages of no use, or pings, within a minute."),
    "login-timeout": _fatal("Neither a sign-in nor a wish to watch in time."),
    Code.NOT_SIGNED_IN: ErrorCode("Sign in first, or wait until that has succeeded."),
    "signed-in": ErrorCode("A connection signs in once."),
    Code.NAME: _fatal("The bot's name is against the rules."),
    Code.WIRE_NAME: _fatal("The version's wire name is against the rules, or taken."),
    Code.HOURS: ErrorCode(
        "`limits.hours` cannot be read; the text says how to write them. Fatal in a sign-in.", Fatal.AT_TIMES
    ),
    Code.PASSWORD: _fatal("The password is against the rules."),
    Code.NO_VENUE: ErrorCode("The server has no such venue. Fatal at a sign-in.", Fatal.AT_TIMES),
    Code.OPERATOR: _fatal("Operators use the CGOS ports or the command line."),
    Code.NO_GAME: ErrorCode("No running game of this bot, or no game of this venue, has that number."),
    "gap": ErrorCode("The ply is not the next one: send `sync`."),
    "not-your-turn": ErrorCode("It is not this bot's move; wait for `turn` or `moved` with `your_turn`."),
    "contradiction": ErrorCode("Another move stands at that ply already: send `sync`."),
    "analysis": ErrorCode(
        "The move counts; its analysis, or what followed its word, was dropped: the text names the field."
    ),
    Code.TOO_MANY: ErrorCode("The connection watches as many games as it may."),
    Code.NO_EVENT: ErrorCode("No event of that name is coming or on, or not in a venue in which the bot is signed in."),
    Code.NO_ENTRANT: ErrorCode("The bot is not in that event."),
    Code.ENTERED: ErrorCode("The bot's owner or the operator withdrew it from that event."),
    Code.EVENT_CLOSED: ErrorCode("The event takes nobody now, or not this bot; the text says why."),
    Code.EVENT_LIMIT: ErrorCode("The event's limits of places, owners, families or ratings keep the bot out."),
    Code.EVENT_PHASE: ErrorCode("The event is too far for that, or not far enough."),
    Code.EVENT_OVER: ErrorCode("The event is over."),
    Code.FIELD_FIXED: ErrorCode("The field of the event is fixed: nobody enters late."),
    Code.QUESTION: ErrorCode("Such a question cannot be asked; the text says why."),
    Code.BOUNDS: ErrorCode("A test cannot have such bounds or error rates."),
    Code.QUESTION_BUDGET: ErrorCode("The question cannot be answered within its games or its time."),
    Code.NOT_AGREED: ErrorCode("An opponent of somebody else has not agreed: its `limits.accepts`."),
    Code.NO_OWNER: ErrorCode("A bot asks on behalf of the account that owns it, and nobody owns this one."),
    Code.FULL: ErrorCode("The account has as many open questions as it may."),
    Code.NOT_RATED: ErrorCode("An opponent of a gauntlet has no rating in the venue."),
    Code.UNKNOWN_BOT: ErrorCode("There is no such version or opponent."),
    Code.NO_QUESTION: ErrorCode("There is no such question, or it has ended."),
    Code.NOT_ALLOWED: ErrorCode("The question is not about this bot, or not its owner's."),
    Code.STARTING: ErrorCode("The server is starting. Ask again in a moment."),
    "replaced": _fatal("Another client signed in as this bot, and this connection did not answer."),
    Code.ALREADY_HERE: _fatal(
        "This bot is signed in, and that connection answers. `retry_after_s` is given.", again=True
    ),
    "dismissed": _fatal("An operator ends the connection."),
    Code.WRONG_PASSWORD: _fatal("The name has another password, or this is no token of it."),
    Code.TOO_MANY_FAILURES: _fatal("Too many wrong passwords: the text says when to try again.", again=True),
    Code.NAME_TAKEN: _fatal("The name, or the version's wire name, is somebody else's; capitals make no difference."),
    Code.NAME_OR_PASSWORD: _fatal("A new name or password is against the rules."),
    Code.PREDECESSOR: _fatal("The version cannot succeed the one that was named; the text says why."),
    Code.VERSION: _fatal("The version's name is longer than it may be, or not printable ASCII."),
    Code.REGISTRATION_CLOSED: _fatal("Nobody has the name, and only the operator adds new ones."),
    Code.WAITS_APPROVAL: _fatal(
        "The name is registered; the operator has yet to let it in. Try again later.", again=True
    ),
    Code.DISABLED: _fatal("The operator has shut the bot out; the text says why."),
    Code.UNKNOWN_NAME: _fatal("Nobody has the name, so its password cannot be changed."),
    Code.UNKNOWN_TOKEN: _fatal("Nobody has the name, so it has no token: register with a password."),
    Code.TOKEN_CANNOT_CHANGE: _fatal("A password is changed with the old password."),
    Code.ALREADY_ARRIVING: _fatal(
        "Another sign-in of this bot is just being looked at. `retry_after_s` is given.", again=True
    ),
    Code.BUSY: _fatal("Too many sign in at once: try again in half a minute.", again=True),
    Code.STORE: ErrorCode(
        "The server cannot reach its database just now. Fatal in a sign-in, with `retry_after_s`.", Fatal.AT_TIMES, True
    ),
    Code.OUR_FAULT: ErrorCode(
        "The server failed, by a fault of its own: tell its operator. Not fatal after an `ask`.", Fatal.AT_TIMES
    ),
}
"""Codes of `error`: what policy refuses has its :class:`~cgos_protocol.errors.Code`; the others are the protocol's."""


class Close(NamedTuple):
    """What a close code means. `again`: come back, after a pause that grows with each attempt."""

    meaning: str
    again: bool


CLOSE_CODES: Final[Mapping[int, Close]] = {
    1000: Close("In order: the client closed, or it asked for `drain` and heard `drained`.", False),
    1001: Close("The server stops.", True),
    1002: Close("What was sent is against the rules of WebSocket.", False),
    1003: Close("A text frame where MessagePack is spoken, or a binary one where JSON is; an `error` said so.", False),
    1006: Close("No close frame came: the connection broke, or the server dropped a reader that was too slow.", True),
    1007: Close("Text that is no UTF-8; an `error` said so.", False),
    1008: Close("A fatal `error` said why; its `code` and `retry_after_s` say whether to come back.", False),
    1009: Close("A message longer than it may be.", False),
    1012: Close("The server, or the proxy before it, starts again.", True),
}


class Limit(NamedTuple):
    """A bound that the server sets. `key` is the key of its configuration that changes it; empty: none does."""

    value: int
    unit: str
    meaning: str
    key: str = ""


LIMITS: Final[Mapping[str, Limit]] = {
    "message_bytes": Limit(262_144, "bytes", "of one message of the client", "websocket.max_message_bytes"),
    "message_bytes_before_sign_in": Limit(65_536, "bytes", "of one message before `signed_in`"),
    "message_frames": Limit(64, "frames", "of one message"),
    "analysis_bytes": Limit(ANALYSIS_MAX, "bytes", "of the analysis of one move, as compact JSON"),
    "watched_games": Limit(WATCHED_MAX, "games", "that one connection watches at once"),
    "unseen_games": Limit(UNSEEN_MAX, "games", "that ended on one connection and still want `seen`"),
    "sign_in_s": Limit(30, "seconds", "until `sign_in` or a wish to watch", "limits.login_timeout_s"),
    "ping_s": Limit(20, "seconds", "between two pings of the server", "websocket.ping_s"),
    "pong_s": Limit(40, "seconds", "after a ping without its pong: the connection is lost", "websocket.pong_timeout_s"),
    "useless_messages": Limit(
        120, "messages a minute", "that were errors, repetitions or changes of mind", "limits.ignored_lines_per_minute"
    ),
    "control_frames": Limit(600, "frames a minute", "that are pings, or pongs that nobody asked for"),
    "unread_bytes": Limit(
        1_048_576, "bytes", "that wait for a player that does not read: it is dropped", "limits.outbox_bytes"
    ),
}
"""The values are those of the configuration's defaults, and of :mod:`cgos_server.net`; a test holds them equal."""
