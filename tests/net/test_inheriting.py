"""Sockets that one program leaves to the next: what is taken, what is closed, what is refused."""

from __future__ import annotations

import os
import socket

import msgspec
import pytest

from cgos_protocol.errors import Code, Refused
from cgos_server.net.inheriting import VARIABLE, Inheritance, Ports, inherited, variable

HOST = "127.0.0.1"


def bound(ports: Ports, port: int = 0, whose: str = "venue 9x9", host: str = HOST) -> socket.socket:
    return ports.bind(host, port, whose, next_free=False, backlog=8)


@pytest.fixture
def left() -> Inheritance:
    """Two sockets of a program that is gone."""
    before = Ports()
    lines, pages = bound(before), bound(before, whose="the pages")
    before.keep()
    pages.close()  # before the games end
    inheritance = before.leave("0.1.0")
    lines.close()
    return inheritance


def test_who_connects_while_nobody_accepts_is_served_by_the_next_program(left: Inheritance) -> None:
    environment = variable(left)
    (number, _) = left.sockets.values()
    assert os.get_inheritable(number)
    address = socket.fromfd(number, socket.AF_INET, socket.SOCK_STREAM)
    with address, socket.create_connection(address.getsockname(), 1) as waiting:
        ports = inherited(environment)
        assert VARIABLE not in environment
        with bound(ports) as sock:
            assert not sock.get_inheritable()
            sock.setblocking(True)
            accepted, peer = sock.accept()
            with accepted:
                assert peer == waiting.getsockname()
        pause = ports.opened()
    assert pause is not None
    assert 0 <= pause < 60


def test_what_nobody_takes_is_closed(left: Inheritance) -> None:
    number = left.sockets["127.0.0.1:0 the pages"]
    with socket.fromfd(number, socket.AF_INET, socket.SOCK_STREAM) as copy:
        address = copy.getsockname()
    ports = inherited(variable(left))
    ports.opened()
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(address, 1)


def test_a_port_whose_address_changed_is_bound_anew(left: Inheritance) -> None:
    number = left.sockets["127.0.0.1:0 the pages"]
    with socket.fromfd(number, socket.AF_INET, socket.SOCK_STREAM) as copy:
        port = copy.getsockname()[1]
    ports = inherited(variable(left))
    with bound(ports, port, "the pages", host="0.0.0.0") as sock:
        assert sock.getsockname() == ("0.0.0.0", port)
    ports.opened()


def test_a_server_that_was_started_knows_of_no_pause() -> None:
    ports = inherited({})
    assert (ports.version, ports.opened()) == ("", None)


def test_garbage_in_the_variable_is_refused_in_a_sentence() -> None:
    with socket.socket() as silent, open(os.devnull, "rb") as file:
        for sockets in (
            {"a": 0},
            {"a": -1},
            {"a": 1 << 40},
            {"a": 987_654},
            {"a": silent.fileno()},
            {"a": file.fileno()},
        ):
            given = Inheritance(sockets=sockets, version="1", since=0.0)
            with pytest.raises(Refused, match=f"{VARIABLE} does not name the sockets") as caught:
                inherited(variable(given))
            assert caught.value.code is Code.INHERITED
    for text in ("", "{}", "[1]", "\udcff", msgspec.json.encode({"sockets": {"a": "b"}, "version": "1"}).decode()):
        with pytest.raises(Refused, match="Remove it from the environment"):
            inherited({VARIABLE: text})
