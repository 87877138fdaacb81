"""Addresses as people type them."""

from __future__ import annotations

import socket

import pytest

from cgos_server.assembly.listeners import url_of


@pytest.mark.parametrize(
    ("host", "shown"),
    [("127.0.0.1", "127.0.0.1"), ("", "localhost"), ("0.0.0.0", "localhost"), ("::", "localhost"), ("::1", "[::1]")],
)
def test_an_address_for_every_host_is_one_that_this_machine_reaches(host: str, shown: str) -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
        assert url_of(sock, host) == f"http://{shown}:{port}"
        assert url_of(sock, host, "ws") == f"ws://{shown}:{port}"
