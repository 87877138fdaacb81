"""The state table of the CGOS engine side: whole, as documented, and unbreakable by any bytes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.games.base import Color
from cgos_protocol.lines.framing import LineFramer
from cgos_protocol.lines.move_word import MOVE_MAX
from cgos_protocol.lines.player import (
    ANALYSIS_MAX,
    CLIENT_MAX,
    SIGN_IN_MAX,
    STATES,
    CgosPlayer,
    Fatal,
    Ignored,
    Kind,
    Move,
    Quit,
    Ready,
    Reply,
    State,
    Watch,
    Why,
    table,
)
from cgos_protocol.session import Credentials, GameSetup

At = Callable[[State], CgosPlayer]

_EXAMPLES = {
    Kind.EMPTY: [b"", b"\r", b" \t"],
    Kind.QUIT: [b"quit", b"QUIT\r", b" Quit\n"],
    Kind.READY: [b"ready", b"READY\r"],
    Kind.ENGINE: [b"e1 client", b"e1", b"e1 \x00", b"e12"],
    Kind.VIEWER: [b"v1 viewer", b"v1"],
    Kind.TEXT: [
        b"alice",
        b"a b",
        b"D4",
        b"x",
        b"one two three",
        b"\xff\xfe",
        b"E5 {}",
        b"quitter",
        b"quit all",
        b"D\x004",
    ],
}


@pytest.mark.parametrize("state", State)
def test_every_state_has_a_rule_for_every_kind_and_leads_where_it_says(state: State, at: At) -> None:
    rules = STATES[state]
    assert set(rules) == set(Kind)
    for rule in set(rules.values()):
        reached = set()
        for kind in (kind for kind in Kind if rules[kind] is rule):
            for line in _EXAMPLES[kind]:
                player = at(state)
                event = player.receive(line)
                reached.add(player.state)
                if isinstance(event, Quit | Fatal):
                    assert player.state is State.CLOSED
                elif isinstance(event, Ignored):
                    assert player.state is state
        assert reached == (set(rule.then) or {state}), rule.meaning


@pytest.mark.parametrize("state", [state for state in State if state is not State.CLOSED])
def test_quit_closes_in_every_state(state: State, at: At) -> None:
    for line in (b"quit", b"QUIT", b"quit\r", b" Quit \r\n"):
        player = at(state)
        assert player.receive(line) == Quit()
        assert player.state is State.CLOSED
        assert player.receive(b"D4") == Ignored(Why.CLOSED)


@pytest.mark.parametrize("state", State)
def test_an_empty_line_changes_nothing_but_is_counted(state: State, at: At) -> None:
    player = at(state)
    before = player.ignored
    event = player.receive(b"\r\n")
    assert isinstance(event, Ignored)
    assert player.state is state
    assert player.ignored == before + 1


def test_every_ignored_line_is_counted(at: At) -> None:
    for state in (State.CHECKING, State.WAITING, State.OK, State.GAMEOVER, State.CLOSED):
        player = at(state)
        for _ in range(7):
            assert isinstance(player.receive(b"D4"), Ignored)
        assert player.ignored == 7


def test_the_documentation_table_names_every_rule_once() -> None:
    rows = table()
    assert len(set(rows)) == len(rows)
    assert all(len(row) == 4 and all(row) for row in rows)
    heard = [row for row in rows if row[1].startswith("C: ")]
    assert {state for state, *_ in heard} == set(State)
    assert len(heard) == sum(len(set(rules.values())) for rules in STATES.values())
    assert ("gameover", "C: ready", "wants the next game", "waiting") in rows
    assert ("genmove", "C: quit", "the client leaves: close", "closed") in rows
    assert all(set(then.split(" or ")) <= {*State, "the same"} for *_, then in rows)
    sent = {row[1].split()[1] for row in rows if row[1].startswith("S: ")}
    assert sent == {"protocol", "(nothing)", "Error:", "setup", "genmove", "play", "gameover", "info"}


def test_the_server_moves_the_state_as_documented(at: At) -> None:
    setup = GameSetup(1, 9, 14, 60_000, "Alice", "1800", "Bob", "1800")
    says: dict[str, Callable[[CgosPlayer], bytes]] = {
        "S: protocol": lambda player: player.greeting(),
        "S: (nothing)": lambda player: player.accepted(),
        "S: Error:": lambda player: player.refused("No."),
        "S: setup": lambda player: player.setup(setup),
        "S: genmove": lambda player: player.genmove(Color.BLACK, 1),
        "S: play": lambda player: player.played(Color.WHITE, "D4", 1, None),
        "S: gameover": lambda player: player.game_over("2026-03-01", "Draw", ""),
        "S: info": lambda player: player.info("hello"),
    }
    for before, line, _, then in table():
        key = " ".join(line.split()[:2])
        if line.startswith("C:"):
            continue
        states = [state for state in State if state in before.split(", ")]
        if before == "any but closed":
            states = [state for state in State if state is not State.CLOSED]
        for state in states or [State.PROTOCOL]:
            player = at(state)
            assert says[key](player).decode().split(" ")[0] in (line.split()[1], "")
            assert player.state == (state if then == "the same" else then)


def test_after_the_end_nothing_is_said(at: At) -> None:
    player = at(State.CLOSED)
    setup = GameSetup(1, 9, 14, 60_000, "Alice", "1800", "Bob", "1800")
    assert player.refused("again") == b""
    assert player.info("hello") == b""
    assert player.setup(setup) == b""
    assert player.genmove(Color.BLACK, 1) == b""
    assert player.played(Color.WHITE, "D4", 1, 1) == b""
    assert player.game_over("2026-03-01", "Draw", "") == b""
    assert player.accepted() == b""
    assert player.state is State.CLOSED


def test_the_client_may_describe_itself_at_length(at: At) -> None:
    player = CgosPlayer()
    assert player.receive(b"e1  a\tlong  story " + b"x" * 500) == Reply(b"username\n")
    player.receive(b"Alice")
    event = player.receive(b"secret")
    assert isinstance(event, Credentials)
    assert event.client.startswith("a long story xxx")
    assert len(event.client) == CLIENT_MAX


@pytest.mark.parametrize("state", [State.PROTOCOL, State.USERNAME, State.PASSWORD])
def test_a_huge_line_is_not_for_signing_in(state: State, at: At) -> None:
    event = at(state).receive(b"e1" + b" x" * SIGN_IN_MAX)
    assert isinstance(event, Fatal)
    assert event.code == "bytes"


@given(st.sampled_from([State.PROTOCOL, State.USERNAME, State.PASSWORD]), st.binary(max_size=20))
def test_bytes_that_are_no_text_end_the_sign_in(at: At, state: State, noise: bytes) -> None:
    line = b"e1 good" + noise + b"\x01name"
    event = at(state).receive(line)
    assert isinstance(event, Fatal)
    assert event.data.startswith(b"Error: ")


def test_the_secret_is_handed_on_as_it_is(at: At) -> None:
    secret = "".join(chr(code) for code in range(33, 127))
    event = at(State.PASSWORD).receive(secret.encode() + b" " + secret[::-1].encode() + b"\r\n")
    assert event == Credentials("Alice", secret, secret[::-1], "test genmove_analyze", True)


def test_a_long_move_is_cut(at: At) -> None:
    event = at(State.GENMOVE).receive(b"x" * 300_000)
    assert event == Move("x" * MOVE_MAX, None)


@given(st.binary(min_size=1, max_size=80))
def test_a_move_is_one_printable_word_of_what_was_sent(at: At, line: bytes) -> None:
    player = at(State.GENMOVE)
    event = player.receive(line)
    stripped = line.strip()
    if not stripped:
        assert event == Ignored(Why.EMPTY)
    elif stripped.lower() == b"quit":
        assert event == Quit()
    else:
        assert isinstance(event, Move)
        word = stripped.split()[0]
        assert event.text.isascii()
        assert event.text.isprintable()
        assert len(event.text) == min(len(word), MOVE_MAX)
        assert [a for a in event.text if a.isalnum()] == [
            chr(b) for b in word[:MOVE_MAX] if chr(b).isascii() and chr(b).isalnum()
        ]
        assert player.state is State.OK


@pytest.mark.parametrize(
    "analysis",
    [
        b"[" * 30_000 + b"]" * 30_000,
        b"[" * 60_000,
        b'"' + b"x" * ANALYSIS_MAX + b'"',
        b'"\xc3"',
        b'"a\x00b"',
        b'"\\ud800"',
        b"1 2",
        b"{'a': 1}",
        b"Infinity",
    ],
    ids=["deep", "open", "long", "not UTF-8", "NUL", "half a character", "two", "quotes", "no number"],
)
def test_analysis_that_cannot_be_kept_is_dropped_and_counted(analysis: bytes, at: At) -> None:
    player = at(State.GENMOVE)
    assert player.receive(b"D4 " + analysis) == Move("D4", None)
    assert player.dropped == 1


def test_the_longest_analysis_is_kept(at: At) -> None:
    player = at(State.GENMOVE)
    analysis = b'"' + b"x" * (ANALYSIS_MAX - 2) + b'"'
    assert player.receive(b"D4 " + analysis) == Move("D4", analysis.decode())
    assert player.dropped == 0


def test_analysis_keeps_its_numbers_and_letters(at: At) -> None:
    event = at(State.GENMOVE).receive('D4 {"a" : 0.10, "b" : 1E+2, "c" : "\u6771 \\u6771", "d" : [ ]}'.encode())
    assert event == Move("D4", '{"a":0.10,"b":1E+2,"c":"\u6771 \\u6771","d":[]}')


_CHUNKS = st.lists(
    st.one_of(
        st.binary(max_size=30),
        st.sampled_from([b"\n", b"\r\n", b"e1 x genmove_analyze\n", b"v1 x\n", b"Alice\n", b"secret\n", b"D4\n"]),
        st.sampled_from(
            [b'D4 {"a": 1}\n', b"pass\n", b"ready\n", b"quit", b"quit\n", b"a b c\n", b"\x00\n", b"\xff\n"]
        ),
    ),
    max_size=25,
)
_CALLS: list[Callable[[CgosPlayer], bytes]] = [
    lambda player: player.accepted(),
    lambda player: player.setup(GameSetup(1, 9, 14, 60_000, "Alice", "1800", "Bob", "1800?", (("D4", 5),))),
    lambda player: player.genmove(Color.WHITE, 5),
    lambda player: player.played(Color.BLACK, "C3", 5, 6),
    lambda player: player.played(Color.BLACK, "C3", 5, None),
    lambda player: player.game_over("2026-03-01", "Void", "the server failed"),
    lambda player: player.info("hello"),
    lambda player: player.refused("Enough."),
]


@given(st.sampled_from(State), _CHUNKS, st.lists(st.one_of(st.none(), st.sampled_from(_CALLS)), max_size=25))
def test_any_bytes_in_any_state_are_answered_ignored_or_the_end(
    at: At,
    heard: Callable[[bytes], list[str]],
    state: State,
    chunks: list[bytes],
    calls: list[Callable[[CgosPlayer], bytes] | None],
) -> None:
    player, framer = at(state), LineFramer()
    for number, chunk in enumerate(chunks):
        for line in framer.feed(chunk, number):
            before, was = player.state, player.ignored
            event = player.receive(line.text)
            match event:
                case Reply(data):
                    assert len(heard(data)) == 1
                case Fatal(data, code):
                    assert heard(data)[0].startswith("Error: ")
                    assert code
                    assert player.state is State.CLOSED
                case Ignored():
                    assert player.state is before
                    assert player.ignored == was + 1
                case Move():
                    assert before is State.GENMOVE
                    assert player.state is State.OK
                case Ready():
                    assert before is State.GAMEOVER
                    assert player.state is State.WAITING
                case Credentials():
                    assert before is State.PASSWORD
                    assert player.state is State.CHECKING
                case Quit():
                    assert player.state is State.CLOSED
                case Watch():
                    assert before is State.PROTOCOL
                    assert player.state is State.CLOSED
                case _:
                    raise AssertionError(event)
            if before is State.CLOSED:
                assert player.state is State.CLOSED
        call = calls[number] if number < len(calls) else None
        if call is not None:
            heard(call(player))


@given(st.sampled_from(State), st.from_regex(rb"[A-Za-z][0-9]{1,2}", fullmatch=True) | st.binary(max_size=8))
def test_the_short_way_of_a_vertex_leads_where_the_table_does(
    at: Callable[[State], CgosPlayer], state: State, line: bytes
) -> None:
    short, by_table = at(state), at(state)
    move = short.plain_move(line)
    if move is None:
        assert short.state is state
    else:
        assert by_table.receive(line) == Move(move, None)
        assert short.state is by_table.state


@pytest.mark.parametrize("line", [b"A1", b"d4", b"Z25"])
def test_a_vertex_takes_the_short_way_only_when_it_was_asked_for(
    at: Callable[[State], CgosPlayer], line: bytes
) -> None:
    assert at(State.GENMOVE).plain_move(line) == line.decode()
    assert at(State.OK).plain_move(line) is None
