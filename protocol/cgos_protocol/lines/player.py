"""The engine side of the CGOS line protocol as a table: states x lines, and the lines that the server says.

For maintainers: what a client may say is decided in `STATES` alone. Every state has a rule for every kind of line (a
new kind falls to the state's rule for any other line), a rule's method returns exactly one event, and a line that
nobody asked for is a counted case, never an exception. What the server says always moves the state: the client
follows us, not the other way round. Must not know: sockets, timers, accounts, rules of games.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

import msgspec

from cgos_protocol.games.base import Color
from cgos_protocol.games.notation import COLUMNS, vertex
from cgos_protocol.lines.move_word import first_word
from cgos_protocol.lines.words import error_line, safe_text, safe_word, seat, whole_ms
from cgos_protocol.names import name_fault, password_fault
from cgos_protocol.session import Credentials, GameSetup

CLIENT_MAX: Final = 200
"""Characters kept of a client's description of itself."""

ANALYSIS_MAX: Final = 65_536
"""Longest analysis in bytes; a longer one is dropped and the move counts."""

SIGN_IN_MAX: Final = 4_096
"""Longest line in bytes while signing in."""


class State(enum.StrEnum):
    """What the server last said, and so what it expects."""

    PROTOCOL = "protocol"
    """The greeting was sent: who are you?"""
    USERNAME = "username"
    PASSWORD = "password"
    CHECKING = "checking"
    """The reception has the credentials; nothing is expected."""
    WAITING = "waiting"
    """Signed in, no game."""
    OK = "ok"
    """A game is on, not to move."""
    GENMOVE = "genmove"
    """To move."""
    GAMEOVER = "gameover"
    """The game has ended and `ready` is owed."""
    CLOSED = "closed"
    """Nothing is said or heard any more."""


# What each move asks for, bound once: Python 3.11 looks a member up through its enum's metaclass.
_OK: Final = State.OK
_GENMOVE: Final = State.GENMOVE
_CLOSED: Final = State.CLOSED


class Kind(enum.StrEnum):
    """How a line is told apart before the state is looked at."""

    EMPTY = "(empty line)"
    QUIT = "quit"
    READY = "ready"
    ENGINE = "e1..."
    VIEWER = "v1..."
    TEXT = "(any other line)"


class Why(enum.StrEnum):
    """Why a line was ignored."""

    EMPTY = "empty line"
    CHECKING = "sign-in is being checked"
    UNASKED = "no answer was due"
    NOT_READY = "only ready is expected"
    CLOSED = "the connection is closed"


class Reply(NamedTuple):
    """Write this; sign-in goes on."""

    data: bytes


class Move(NamedTuple):
    """The answer to `genmove`.

    :ivar text: one word as sent, printable ASCII; whether it is a move is the referee's business
    :ivar analysis: compact JSON in one line, or None
    """

    text: str
    analysis: str | None


class Ready(NamedTuple):
    """The engine wants its next game."""


class Quit(NamedTuple):
    """The engine leaves in order: close now, without a word."""


class Watch(NamedTuple):
    """It is a viewer: from here on :mod:`cgos_protocol.lines.viewer` has the word. `client` as in `Credentials`."""

    client: str


class Ignored(NamedTuple):
    """Nothing to do but to count it; see :attr:`CgosPlayer.ignored`."""

    why: Why


class Fatal(NamedTuple):
    """Write this one line, then close. `code` is a stable word for logs and counters."""

    data: bytes
    code: str


Event: TypeAlias = Reply | Credentials | Move | Ready | Quit | Watch | Ignored | Fatal
"""Credentials: the client has said who it is; its address is not known here."""


class Rule(NamedTuple):
    """What a kind of line means in a state.

    :ivar line: the line as documentation writes it
    :ivar meaning: what is done, for documentation
    :ivar act: does it and returns the event
    :ivar then: the states it may lead to; none: the state stays
    """

    line: str
    meaning: str
    act: Callable[[CgosPlayer, bytes], Event]
    then: tuple[State, ...] = ()


class CgosPlayer:
    """One engine's connection, without the connection: lines in, events out; calls in, bytes out.

    Calls in a closed state return ``b""``. Times are milliseconds; what is negative is written as 0.

    :ivar state: where the dialogue stands
    :ivar ignored: lines ignored so far, empty ones included; the owner of the connection sets the limit
    :ivar dropped: analyses dropped so far: not announced, not JSON, or too long
    """

    __slots__ = ("_analysis", "_client", "_name", "dropped", "ignored", "state")

    def __init__(self) -> None:
        self.state = State.PROTOCOL
        self.ignored = 0
        self.dropped = 0
        self._client = ""
        self._analysis = False
        self._name = ""

    def receive(self, line: bytes) -> Event:
        """What `line` (with or without its end) means now. Never raises."""
        line = line.strip()
        kind = _WORDS.get(line[:6].lower()) or _GREETINGS.get(line[:2], Kind.TEXT)
        return STATES[self.state][kind].act(self, line)

    def plain_move(self, line: bytes) -> str | None:
        """What :meth:`receive` makes of the most frequent line of all, a bare vertex when it was asked for: its text.
        None: `line` is something else, and nothing has changed."""
        move = _VERTICES.get(line)
        if move is None or self.state is not _GENMOVE:
            return None
        self.state = _OK
        return move

    # What the server says. Order of the words is the protocol's; no field can be added to these lines.

    def greeting(self) -> bytes:
        """The first line of the connection."""
        return b"protocol genmove_analyze\n"

    def accepted(self) -> bytes:
        """Sign-in succeeded. CGOS has no word for it: the next line is `info` or `setup`."""
        return self._say(State.WAITING, "")

    def refused(self, sentence: str) -> bytes:
        """Say why, once; the connection is to be closed after it. In any state."""
        return self._say(State.CLOSED, error_line(sentence))

    def setup(self, setup: GameSetup) -> bytes:
        """A game begins or goes on; it is not this engine's move until `genmove`."""
        words = [
            f"setup {setup.game} {setup.size} {setup.komi2 / 2:.1f} {whole_ms(setup.level_ms)}",
            seat(setup.white, setup.white_label),
            seat(setup.black, setup.black_label),
        ]
        words += [f"{safe_word(move)} {whole_ms(left)}" for move, left in setup.moves]
        return self._say(_OK, " ".join(words) + "\n")

    def genmove(self, color: Color, left_ms: int) -> bytes:
        """Your move: `color` is the engine's own."""
        return self._say(_GENMOVE, f"genmove {_LETTERS[color]} {whole_ms(left_ms)}\n")

    def played(self, color: Color, move: str, left_ms: int, then_left_ms: int | None) -> bytes:
        """The opponent, who is `color`, moved; with `then_left_ms` it is the engine's move, in one segment."""
        played = f"play {_LETTERS[color]} {safe_word(move)} {whole_ms(left_ms)}\n"
        if then_left_ms is None:
            return self._say(_OK, played)
        return self._say(_GENMOVE, f"{played}genmove {_LETTERS[1 - color]} {whole_ms(then_left_ms)}\n")

    def game_over(self, date: str, result: str, detail: str) -> bytes:
        """The game has ended. `result` as in :attr:`cgos_protocol.verdict.Verdict.text`.

        Clients know ``B+...``, ``W+...``, ``Draw`` and ``Abort``; anything else is sent as ``Abort`` and said in words.
        With an empty detail the line ends in a blank, as it always did.
        """
        if not _RESULT.fullmatch(result):
            result, detail = "Abort", f"{result}: the game does not count. {detail}"
        return self._say(State.GAMEOVER, f"gameover {safe_word(date)} {safe_word(result)} {safe_text(detail)}\n")

    def info(self, text: str) -> bytes:
        """A sentence to the engine's author; nothing is written where nothing is left of it."""
        text = safe_text(text)
        return self._say(self.state, f"info {text}\n" if text else "")

    def _say(self, state: State, text: str) -> bytes:
        if self.state is _CLOSED:
            return b""
        self.state = state
        return text.encode("ascii")

    # What the client says: one method a rule of `STATES`.

    def _ignore(self, why: Why) -> Event:
        self.ignored += 1
        return Ignored(why)

    def _quit(self, _: bytes) -> Event:
        self.state = State.CLOSED
        return Quit()

    def _fatal(self, code: str, sentence: str) -> Event:
        self.state = State.CLOSED
        return Fatal(error_line(sentence).encode("ascii"), code)

    def _engine(self, text: str) -> Event:
        words = text.split(" ")[1:]
        self._analysis = "genmove_analyze" in words
        self._client = " ".join(words)[:CLIENT_MAX]
        self.state = State.USERNAME
        return Reply(b"username\n")

    def _viewer(self, text: str) -> Event:
        self.state = State.CLOSED  # this table has nothing more to say
        return Watch(text[2:].strip()[:CLIENT_MAX])

    def _stranger(self, _: bytes) -> Event:
        return self._fatal("stranger", "This is a CGOS server. Begin with: e1 <client>")

    def _username(self, name: str) -> Event:
        fault = name_fault(name)  # an operator's name may begin with admin; the reception knows who it is
        if fault is not None:
            return self._fatal("name", fault)
        self._name = name
        self.state = State.PASSWORD
        return Reply(b"password\n")

    def _password(self, text: str) -> Event:
        words = text.split(" ")
        if len(words) > 2:
            return self._fatal("password", "Send the password, or the old and the new one separated by a blank.")
        for word in words:
            fault = password_fault(word)
            if fault is not None:
                return self._fatal("password", fault)
        self.state = State.CHECKING
        return Credentials(
            name=self._name,
            secret=words[0],
            new_secret=words[1] if len(words) == 2 else None,
            client=self._client,
            analysis=self._analysis,
        )

    def _move(self, line: bytes) -> Event:
        self.state = State.OK
        text, rest = first_word(line)
        if not rest:
            return Move(text, None)
        analysis = _compact(rest) if self._analysis else None
        if analysis is None:
            self.dropped += 1
        return Move(text, analysis)

    def _ready(self, _: bytes) -> Event:
        self.state = State.WAITING
        return Ready()


_WORDS: Final[Mapping[bytes, Kind]] = {b"": Kind.EMPTY, b"quit": Kind.QUIT, b"ready": Kind.READY}
_GREETINGS: Final[Mapping[bytes, Kind]] = {b"e1": Kind.ENGINE, b"v1": Kind.VIEWER}
_LETTERS: Final = ("b", "w")
_VERTICES: Final[Mapping[bytes, str]] = {
    text.encode(): text
    for column in range(len(COLUMNS))
    for row in range(len(COLUMNS))
    for text in (vertex(column, row), vertex(column, row).lower())
}
"""Bare vertices of the largest board, in either case."""
_RESULT = re.compile(r"[BW]\+[!-~]+|Draw|Abort")
_UNREADABLE: Final = f"A line has at most {SIGN_IN_MAX} bytes here, all of them printable text: send plain ASCII."


def _readable(line: bytes) -> str | None:
    """`line` with single blanks between its words, or None where it is too long or not printable text."""
    if len(line) > SIGN_IN_MAX:
        return None
    try:
        text = b" ".join(line.split()).decode()
    except UnicodeDecodeError:
        return None
    return text if text.isprintable() else None


def _compact(analysis: bytes) -> str | None:
    """One JSON value without the white space between its parts; None where it is none or too long.

    The text of its numbers and strings stays as it was sent, so numbers may be larger than a float.
    """
    if len(analysis) > ANALYSIS_MAX:
        return None
    try:
        return msgspec.json.format(analysis, indent=-1).decode()
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _ignored(why: Why) -> Callable[[CgosPlayer, bytes], Event]:
    """What counts a line, and does nothing else."""
    return lambda player, _: player._ignore(why)


def _text(act: Callable[[CgosPlayer, str], Event]) -> Callable[[CgosPlayer, bytes], Event]:
    """What reads a line of the sign-in, which has to be text, and hands it to `act`."""

    def read(player: CgosPlayer, line: bytes) -> Event:
        text = _readable(line)
        return player._fatal("bytes", _UNREADABLE) if text is None else act(player, text)

    return read


def _rules(text: Rule, special: Mapping[Kind, Rule] | None = None) -> Mapping[Kind, Rule]:
    """One state's rules: `text` for every kind of line without one of its own."""
    always = {
        Kind.EMPTY: Rule("(empty line)", "ignored", _ignored(Why.EMPTY)),
        Kind.QUIT: Rule("quit", "the client leaves: close", CgosPlayer._quit, (State.CLOSED,)),
    }
    return dict.fromkeys(Kind, text) | always | dict(special or {})


STATES: Final[Mapping[State, Mapping[Kind, Rule]]] = {
    State.PROTOCOL: _rules(
        Rule("(any other line)", "Error, close", CgosPlayer._stranger, (State.CLOSED,)),
        {
            Kind.ENGINE: Rule(
                "e1 <client>",
                "an engine; with the word genmove_analyze its moves may carry analysis; asked for its name",
                _text(CgosPlayer._engine),
                (State.USERNAME, State.CLOSED),
            ),
            Kind.VIEWER: Rule(
                "v1 <client>",
                "a viewer: this dialogue ends, that of viewers begins",
                _text(CgosPlayer._viewer),
                (State.CLOSED,),
            ),
        },
    ),
    State.USERNAME: _rules(
        Rule(
            "<name>",
            "asked for the password; a name against the rules: Error, close",
            _text(CgosPlayer._username),
            (State.PASSWORD, State.CLOSED),
        )
    ),
    State.PASSWORD: _rules(
        Rule(
            "<password>, or <old> <new>",
            "sign in, and change the password; more words or against the rules: Error, close",
            _text(CgosPlayer._password),
            (State.CHECKING, State.CLOSED),
        )
    ),
    State.CHECKING: _rules(Rule("(any other line)", "ignored", _ignored(Why.CHECKING))),
    State.WAITING: _rules(Rule("(any other line)", "ignored", _ignored(Why.UNASKED))),
    State.OK: _rules(Rule("(any other line)", "ignored", _ignored(Why.UNASKED))),
    State.GENMOVE: _rules(
        Rule(
            "<move>, or <move> <JSON>",
            "the first word is the move; the rest is kept where analysis was announced and it is JSON, else dropped",
            CgosPlayer._move,
            (State.OK,),
        )
    ),
    State.GAMEOVER: _rules(
        Rule("(any other line)", "ignored: only ready is expected", _ignored(Why.NOT_READY)),
        {Kind.READY: Rule("ready", "wants the next game", CgosPlayer._ready, (State.WAITING,))},
    ),
    State.CLOSED: dict.fromkeys(Kind, Rule("(any line)", "ignored", _ignored(Why.CLOSED))),
}
"""The table. In every state: what each kind of line means."""

_SAID: Final = (
    ("(connected)", "S: protocol genmove_analyze", "the greeting", "protocol"),
    ("checking", "S: (nothing)", "signed in", "waiting"),
    ("any but closed", "S: Error: <sentence>", "why the server closes the connection", "closed"),
    (
        "waiting",
        "S: setup <game> <size> <komi> <ms> <white>(<rating>) <black>(<rating>)[ <move> <ms left> ...]",
        "a game begins, or goes on after a reconnection",
        "ok",
    ),
    ("ok", "S: genmove <b|w> <ms left>", "the engine is to move", "genmove"),
    ("ok", "S: play <b|w> <move> <ms left of the mover>", "the opponent moved", "ok"),
    ("ok, genmove", "S: gameover <YYYY-MM-DD> <result> <text or nothing>", "the game has ended", "gameover"),
    ("any but closed", "S: info <text>", "a word to the author; no answer", "the same"),
)


def table() -> list[tuple[str, str, str, str]]:
    """All of it for documentation: (state, line, meaning, next state); ``C:`` the client speaks, ``S:`` the server."""
    rows = [
        (state.value, f"C: {rule.line}", rule.meaning, " or ".join(rule.then) or "the same")
        for state, rules in STATES.items()
        for kind, rule in rules.items()
        if kind is Kind.TEXT or rule is not rules[Kind.TEXT]
    ]
    return [*_SAID[:1], *rows, *_SAID[1:]]
