"""`ask` and `question` over the API of a server elsewhere: what is sent, and what failures look like."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.cli.question_answers import OPEN

from cgos_protocol.api.questions import AskedQuestion
from cgos_protocol.errors import Invalid, Refused
from cgos_server.cli.questions import elsewhere, waiting
from cgos_server.cli.questions.elsewhere import Elsewhere, request_of
from cgos_server.service.commands.surfaces import ApiRoute
from cgos_server.service.questions.asking import AskChallenge, AskGauntlet, AskTest
from cgos_server.service.questions.managing import QuestionPrioritize, QuestionStop
from cgos_server.web.api.operations import BY_ID

INDEX = {
    "server": "s", "version": "1", "api": 1, "at": 0, "openapi": "/o", "documentation": "/d", "venues": ["9x9"],
}  # fmt: skip
COST = {"case": "no difference", "difference": 0.0, "games": 400.4, "hours": 3.25, "accepted": 0.05}
ASKED = {
    "question": 7,
    "venue": "9x9",
    "kind": "test",
    "sentence": "Question 7: is B stronger than A?",
    "costs": [COST],
}


class Fake(ThreadingHTTPServer):
    """Answers what it is told to; `asked` is what came: method, path, token and body."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: list[tuple[str, str, str | None, Any]] = []
        self.answers: dict[tuple[str, str], list[tuple[int, Any]]] = {}

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def says(self, method: str, path: str, *answers: Any, status: int = 200) -> None:
        """On such a request, one after the other; the last one again and again."""
        self.answers[method, "/api/v1" + path] = [(status, answer) for answer in answers]


class _Handler(BaseHTTPRequestHandler):
    server: Fake

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        body = json.loads(self.rfile.read(length)) if length else None
        self.server.asked.append((self.command, self.path, self.headers.get("Authorization"), body))
        left = self.server.answers.get((self.command, self.path), [(404, b"no page")])
        status, answer = left.pop(0) if len(left) > 1 else left[0]
        data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "http://elsewhere.example/api")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = _answer

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def fake() -> Iterator[Fake]:
    with Fake() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def token(tmp_path: Path) -> str:
    file = tmp_path / "token"
    file.write_text("cgos_secret\n")
    return str(file)


@pytest.mark.parametrize(
    "command",
    [
        AskTest(version="B", against="A", venue="9x9", lower=-10.0, dry=True),
        AskGauntlet(version="B", opponents=["A", "C"], venue="9x9", ends_at=5),
        AskChallenge(version="B", venue="9x9", most_games=20),
        QuestionPrioritize(question=7, priority=-5),  # type: ignore[arg-type]
        QuestionStop(question=7),  # type: ignore[arg-type]
    ],
)
def test_a_command_is_sent_as_the_api_has_it(command: Any) -> None:
    (route,) = command.on(ApiRoute)
    path, body = request_of(command, route)
    operation = BY_ID[route.id]
    assert path == operation.path.replace("{question}", "7")
    if operation.body is None:
        assert body is None
        return
    sent = msgspec.convert(body, operation.body)
    assert all(getattr(sent, name) == getattr(command, name) for name in sent.__struct_fields__)


def test_a_test_is_asked_elsewhere(run: Any, fake: Fake, token: str) -> None:
    fake.says("GET", "", INDEX)
    fake.says("POST", "/questions/tests", ASKED, status=201)
    done = run("ask", "test", "B", "A", "--upper", "20", "--server", fake.address + "/", "--token-file", token)
    assert done.stdout == "7\n"
    assert done.stderr.startswith("Question 7: is B stronger than A?\n")
    assert "no difference  0.0    400    3.2         5.0" in done.stderr
    assert fake.asked == [
        ("GET", "/api/v1", "Bearer cgos_secret", None),
        ("POST", "/api/v1/questions/tests", "Bearer cgos_secret",
         {"version": "B", "against": "A", "venue": "9x9", "upper": 20.0}),
    ]  # fmt: skip


def test_costs_alone_are_data(run: Any, fake: Fake, token: str) -> None:
    fake.says("POST", "/questions/tests", ASKED | {"question": None}, status=201)
    words = ("ask", "test", "B", "A", "--dry", "--venue", "9x9", "--server", fake.address, "--token-file", token)
    assert run(*words).stdout.splitlines()[0].split() == ["case", "Elo", "games", "hours", "accepted", "%"]
    assert msgspec.json.decode(run(*words, "--json").stdout, type=AskedQuestion).question is None
    assert "nothing to wait for" in run(*words, "--wait", fails=2).stderr


@pytest.mark.parametrize(("state", "code"), [("accepted", 0), ("rejected", 1), ("not answered", 3)])
def test_waiting_ends_as_the_question_does(
    run: Any, fake: Fake, monkeypatch: pytest.MonkeyPatch, state: str, code: int
) -> None:
    monkeypatch.setattr(waiting.time, "sleep", lambda _: None)
    monkeypatch.setenv("CGOS_TOKEN", "by environment")
    monkeypatch.setattr("cgos_server.cli.questions.sources.ELSEWHERE_S", 0.0)
    monkeypatch.setattr("cgos_server.cli.questions.sources._There.every_s", 0.0)
    fake.says("POST", "/questions/tests", ASKED, status=201)
    fake.says("GET", "/questions/7", OPEN, OPEN | {"state": state})
    done = run("ask", "test", "B", "A", "--venue", "9x9", "--wait", "--server", fake.address, fails=code)
    assert done.stdout == "six\nlines\n"
    assert "Question 7: LLR 1.20 (-2.94, 2.94), 40 games, about 200 more\n" in done.stderr
    assert {authorized for _, _, authorized, _ in fake.asked} == {"Bearer by environment"}


def test_refusals_are_the_servers_sentences(run: Any, fake: Fake, token: str) -> None:
    problem = {"title": "Forbidden", "status": 403, "detail": "A has not agreed.", "code": "not-agreed"}
    fake.says("POST", "/questions/tests", problem, status=403)
    words = ("ask", "test", "B", "A", "--venue", "9x9", "--server", fake.address, "--token-file", token)
    assert run(*words, fails=1).stderr == "Error: A has not agreed.\n"
    assert run(*words, "--wait", fails=2).stderr == "Error: A has not agreed.\n"


def test_managing_elsewhere(run: Any, fake: Fake, token: str) -> None:
    fake.says("PUT", "/questions/7/priority", {"sentence": "Question 7 has the priority -5."})
    done = run("question", "prioritize", "7", "-5", "--server", fake.address, "--token-file", token)
    assert done.stderr == "Question 7 has the priority -5.\n"
    assert fake.asked[-1][3] == {"priority": -5}


def test_reading_elsewhere_needs_no_token(run: Any, fake: Fake) -> None:
    fake.says("GET", "/questions?bot=B&limit=20", {"items": [], "next": None})
    run("question", "list", "--bot", "B", "--server", fake.address)
    fake.says("GET", "/questions/7", OPEN)
    assert run("question", "show", "7", "--text", "--server", fake.address).stdout == "six\nlines\n"
    fake.says("GET", "/questions/7/games", {"items": []})
    run("question", "games", "7", "--server", fake.address)
    assert {authorized for _, _, authorized, _ in fake.asked} == {None}


def test_what_cannot_be_asked(run: Any, fake: Fake, tmp_path: Path) -> None:
    ask = ("ask", "test", "B", "A", "--venue", "9x9")
    assert "CGOS_TOKEN" in run(*ask, "--server", fake.address, fails=1).stderr
    assert "give --server, too" in run(*ask, "--token-file", str(tmp_path / "x"), fails=2).stderr
    (tmp_path / "empty").write_text("\n")
    for file, words in ((tmp_path / "none", "cannot be read"), (tmp_path / "empty", "first line is empty")):
        assert words in run(*ask, "--server", fake.address, "--token-file", str(file), fails=1).stderr
    for address in ("go.example", "ftp://go.example", "http:///x", "http://x/?a=1"):
        assert "is no address of a server" in run("question", "list", "--server", address, fails=1).stderr
    fake.says("GET", "", INDEX | {"venues": ["9x9", "13x13"]})
    with pytest.raises(Invalid, match="one of: 9x9, 13x13"):
        Elsewhere(fake.address).venue(None)


def test_a_token_goes_nowhere_else(fake: Fake) -> None:
    fake.says("GET", "/questions/7", b"", status=302)
    with pytest.raises(Refused, match=r"It sends on to http://elsewhere\.example/api: give that address"):
        Elsewhere(fake.address, "t").get("/questions/7", dict)
    assert len(fake.asked) == 1


def test_what_is_no_such_server_is_said_so(fake: Fake, monkeypatch: pytest.MonkeyPatch) -> None:
    there = Elsewhere(fake.address)
    with pytest.raises(Refused, match="answers 404 and is no server with this API"):
        there.get("/x", dict)
    fake.says("GET", "/x", b"<html>")
    with pytest.raises(Refused, match="is not one of this program's version"):
        there.get("/x", dict)
    fake.says("GET", "/x", b"[" + b"1," * 5000 + b"1]")
    monkeypatch.setattr(elsewhere, "LARGEST", 1000)
    with pytest.raises(Refused, match="without an end"):
        there.get("/x", list)
    address = fake.address
    fake.socket.close()
    with pytest.raises(Refused, match="does not answer"):
        Elsewhere(address).get("/x", list)
