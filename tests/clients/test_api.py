"""The Python reader of the API against a server that says what a test wants: limits, broken streams, nonsense."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from cgos_client import api
from cgos_client.errors import ServerFault
from cgos_client.settings import BadSetting

Answer = Callable[[BaseHTTPRequestHandler], None]


class Scripted:
    """Answers one request after the other as it was told; the last answer stays."""

    def __init__(self, *answers: Answer) -> None:
        self.requests: list[tuple[str, dict[str, str]]] = []
        outer, left = self, list(answers)

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer.requests.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
                (left.pop(0) if len(left) > 1 else left[0])(self)
                self.close_connection = True

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self.address = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Scripted:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def whole(status: int, body: Any, **headers: str) -> Answer:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    return answer


def chunks(*parts: bytes, end: bool = True, **headers: str) -> Answer:
    """A stream in pieces; without `end` it breaks."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for part in parts:
            handler.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
        if end:
            handler.wfile.write(b"0\r\n\r\n")

    return answer


def move(ply: int) -> bytes:
    event = {"event": "move", "game": 7, "ply": ply, "color": "bw"[(ply + 1) % 2], "move": "D4", "left": "1:00",
            "left_ms": 60_000, "used_ms": 10, "at": 1}  # fmt: skip
    return json.dumps(event).encode() + b"\n"


END = b'{"event":"end","game":7,"result":"B+R","reason":"resignation","sentence":"x","moves":4,"ended_at":1}\n'


def game(number: int) -> bytes:
    row: dict[str, Any] = dict.fromkeys(("ended_at", "result", "reason", "corrected"))
    row |= {"id": number, "venue": "9x9", "black": "a", "white": "b", "black_label": "1", "white_label": "2",
            "started_at": 1, "moves": 3, "opening": ""}  # fmt: skip
    return json.dumps(row).encode() + b"\n"


def problem(status: int, code: str, **more: Any) -> dict[str, Any]:
    return {"title": "No", "status": status, "detail": f"Because of {code}.", "code": code} | more


VENUES = {"items": []}


@pytest.fixture
def waits() -> list[float]:
    return []


def test_a_limit_is_waited_for_as_long_as_it_says(waits: list[float]) -> None:
    limited = whole(429, problem(429, "too-many", limit="requests"), Retry_After="7")
    with Scripted(limited, limited, whole(200, VENUES)) as server:
        assert api.Server(server.address, sleep=waits.append).venues() == []
    assert waits == [7.0, 7.0]


def test_patience_has_an_end(waits: list[float]) -> None:
    limited = whole(429, problem(429, "too-many", limit="bulk"), Retry_After="7")
    with Scripted(limited) as server:
        with pytest.raises(api.ApiRefused, match="too-many") as raised:
            api.Server(server.address, patience=20, sleep=waits.append).venues()
        assert waits == [7.0, 7.0]
        with pytest.raises(api.ApiRefused):
            api.Server(server.address, patience=0, sleep=waits.append).venues()
    assert raised.value.problem.limit == "bulk"
    assert raised.value.retry_after == 7.0
    assert len(waits) == 2


def test_other_refusals_are_raised_at_once(waits: list[float]) -> None:
    with Scripted(whole(404, problem(404, "no-venue")), whole(502, b"<html>")) as server:
        reader = api.Server(server.address, sleep=waits.append)
        with pytest.raises(api.ApiRefused, match="no-venue"):
            reader.venue("x")
        with pytest.raises(api.ApiRefused, match="502"):
            reader.venue("x")
    assert waits == []


def test_names_are_quoted_and_the_token_is_sent() -> None:
    with Scripted(whole(404, problem(404, "no-venue"))) as server:
        with pytest.raises(api.ApiRefused):
            api.Server(server.address, token="secret").venue("../a b/ü?")
        path, headers = server.requests[0]
    assert path == "/api/v1/venues/..%2Fa%20b%2F%C3%BC%3F"
    assert headers["authorization"] == "Bearer secret"


def test_a_redirect_is_not_followed() -> None:
    with Scripted(whole(302, b"", Location="http://elsewhere.example/")) as server:
        with pytest.raises(api.CannotConnect, match="elsewhere"):
            api.Server(server.address, token="secret").venues()
        assert len(server.requests) == 1


def test_packed_answers_are_read() -> None:
    with Scripted(whole(200, gzip.compress(json.dumps(VENUES).encode()), Content_Encoding="gzip")) as server:
        assert api.Server(server.address).venues() == []
        assert server.requests[0][1]["accept-encoding"] == "gzip"


@pytest.mark.parametrize("body", [b"[]", b"{", b'{"items": 3}'])
def test_nonsense_is_the_servers_fault(body: bytes) -> None:
    with Scripted(whole(200, body)) as server, pytest.raises(ServerFault):
        api.Server(server.address).venues()


def test_nobody_there() -> None:
    with Scripted(whole(200, VENUES)) as server:
        address = server.address
    with pytest.raises(api.CannotConnect, match="cannot be reached"):
        api.Server(address, timeout=5).venues()
    for wrong in ("localhost:8080", "ftp://x", "http://", "http://x/?a=1"):
        with pytest.raises(BadSetting):
            api.Server(wrong)


def test_a_live_game_goes_on_where_it_broke(waits: list[float]) -> None:
    first = chunks(move(1), b"\n", move(2)[:20], move(2)[20:], end=False)
    again = chunks(move(2), move(3), end=True)
    with Scripted(first, again, chunks(move(4), END)) as server:
        events = list(api.Server(server.address, sleep=waits.append).live(7))
        paths = [path for path, _ in server.requests]
    assert [event.ply for event in events[:-1] if isinstance(event, api.LiveMove)] == [1, 2, 3, 4]
    assert isinstance(events[-1], api.LiveEnd)
    assert [path.split("since=")[1].split("&")[0] for path in paths] == ["0", "2", "3"]
    assert len(waits) == 2


def test_a_stream_that_never_comes_is_given_up(waits: list[float]) -> None:
    with Scripted(chunks(end=False)) as server, pytest.raises(api.ConnectionLost):
        list(api.Server(server.address, sleep=waits.append).live(7))
    assert 3 <= len(waits) <= 10
    assert waits == sorted(waits) or max(waits) <= 15


def test_an_export_goes_on_where_it_broke(waits: list[float]) -> None:
    packed = gzip.compress(game(1) + game(2) + game(3))
    broken = chunks(packed[: len(packed) - 12], end=False, Content_Encoding="gzip")
    with Scripted(broken, chunks(game(3), game(4))) as server:
        ids = [exported.id for exported in api.Server(server.address, sleep=waits.append).export_games(venue="9x9")]
        last = server.requests[-1][0]
    assert ids == sorted(set(ids))
    assert ids[-2:] == [3, 4]
    assert "venue=9x9" in last


def test_an_export_does_not_go_on_in_a_restored_database(waits: list[float]) -> None:
    broken = chunks(game(1), game(2), game(3)[:30], Incarnation="0001")
    refusal = whole(409, problem(409, "other-incarnation"))
    with Scripted(broken, refusal) as server:
        games = api.Server(server.address, sleep=waits.append).export_games(venue="9x9")
        assert [next(games).id, next(games).id] == [1, 2]
        with pytest.raises(api.ApiRefused, match="other-incarnation"):
            next(games)
        assert "incarnation" not in server.requests[0][0]
        assert "after=2&incarnation=0001" in server.requests[1][0]


def test_a_ledger_is_read_in_one_incarnation() -> None:
    page = {"venue": "9x9", "items": [], "next": 5, "last_entry": 9, "incarnation": "0001"}
    with Scripted(whole(200, page), whole(200, page | {"next": None})) as server:
        assert list(api.Server(server.address).ledger("9x9", after=3, incarnation="0001")) == []
        first, second = (path for path, _ in server.requests)
    assert "after=3&incarnation=0001" in first
    assert "after=5&incarnation=0001" in second


def test_a_line_that_is_cut_off_is_not_taken(waits: list[float]) -> None:
    cut = chunks(game(1), game(2)[:30], end=True)
    with Scripted(cut, chunks(game(2))) as server:
        ids = [exported.id for exported in api.Server(server.address, sleep=waits.append).export_games()]
        assert "after=1" in server.requests[1][0]
    assert ids == [1, 2]


def test_pages_are_asked_for_when_they_are_reached() -> None:
    def page(numbers: list[int], after: int | None) -> Answer:
        return whole(200, {"items": [json.loads(game(number)) for number in numbers], "next": after})

    with Scripted(page([9, 8], 8), page([7], None)) as server:
        games: Iterator[Any] = api.Server(server.address).games(bot="a", running=False)
        assert next(games).id == 9
        assert len(server.requests) == 1
        assert [row.id for row in games] == [8, 7]
        assert "before=8" in server.requests[1][0]
        assert "running=false" in server.requests[1][0]
