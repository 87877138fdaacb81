"""Logs: one shape for everything, counted, in UTC, and never a secret."""

from __future__ import annotations

import io
import json
import logging
from dataclasses import dataclass
from datetime import UTC, datetime

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.session import Credentials
from cgos_server.observability.logs import LogCounts, configure, escape_controls, mask_secrets


def started(log_format: str = "json", level: str = "info") -> tuple[io.StringIO, LogCounts]:
    stream = io.StringIO()
    return stream, configure(log_format, level, stream)


def records(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_one_json_object_a_line_with_ids_and_utc_time() -> None:
    stream, _ = started()
    log = structlog.get_logger().bind(connection=4, bot="gnu-1")
    before = datetime.now(UTC)
    log.info("signed in", game=17)
    (record,) = records(stream)
    stamp = datetime.fromisoformat(str(record.pop("timestamp")))
    assert record == {"event": "signed in", "level": "info", "connection": 4, "bot": "gnu-1", "game": 17}
    assert stamp.tzinfo is UTC or stamp.utcoffset() == UTC.utcoffset(None)
    assert before <= stamp <= datetime.now(UTC)


def test_text_is_one_line_an_event_and_plain_off_a_terminal() -> None:
    stream, _ = started("text")
    structlog.get_logger().info("signed in", bot="gnu-1")
    (line,) = stream.getvalue().splitlines()
    assert line.endswith("bot=gnu-1")
    assert "signed in" in line
    assert "\x1b" not in line


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_auto_is_text_on_a_terminal_and_json_elsewhere() -> None:
    terminal, pipe = Terminal(), io.StringIO()
    configure("auto", "info", terminal)
    structlog.get_logger().info("hello")
    configure("auto", "info", pipe)
    structlog.get_logger().info("hello")
    assert "\x1b[" in terminal.getvalue()
    assert json.loads(pipe.getvalue())["event"] == "hello"


def test_the_level_holds_for_ours_and_libraries_speak_from_warning_on() -> None:
    stream, _ = started(level="info")
    structlog.get_logger().debug("no")
    # Not uvicorn's: whoever makes a uvicorn server in this process sets its logger's level.
    logging.getLogger("starlette.routing").info("no")
    logging.getLogger("alembic.runtime").info("no")
    logging.getLogger("alembic.runtime").warning("yes %d", 1)
    logging.getLogger("some.library").info("also")
    assert [(record["event"], record["logger"]) for record in records(stream)] == [
        ("yes 1", "alembic.runtime"),
        ("also", "some.library"),
    ]


def test_warnings_and_errors_are_counted_from_everywhere() -> None:
    _, counts = started()
    log = structlog.get_logger()
    log.info("a")
    log.warning("b")
    log.error("c")
    log.critical("d")
    logging.getLogger("uvicorn").warning("e")
    logging.getLogger("asyncio").error("f")
    assert (counts.warnings, counts.errors) == (2, 3)
    assert counts.by_level() == {"warning": 2, "error": 3}


def test_configuring_again_replaces_the_handler() -> None:
    first, _ = started()
    second, counts = started()
    structlog.get_logger().warning("once")
    assert first.getvalue() == ""
    assert len(records(second)) == 1
    assert counts.warnings == 1


def test_an_unknown_level_is_an_error() -> None:
    with pytest.raises(KeyError):
        configure("text", "loud", io.StringIO())


@dataclass
class Request:
    name: str
    api_token: str


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_no_secret_is_ever_printed(log_format: str) -> None:
    stream, _ = started(log_format)
    log = structlog.get_logger().bind(password="hunter2")
    sent = Credentials("gnu-1", "hunter2", "hunter2", "client", False, "127.0.0.1")
    log.info("a", New_Password="hunter2", tokens=["hunter2"], deep={"x": [{"client_secret": "hunter2"}]})
    log.info("b", credentials=sent, many=[sent], request=Request("x", "hunter2"))
    logging.getLogger("library").warning("c", extra={"session_token": "hunter2"})
    try:
        password = "hunter2"
        raise ValueError(len(password))
    except ValueError:
        log.exception("d", credentials=sent)
    text = stream.getvalue()
    assert "hunter2" not in text.replace('password = "hunter2"', "").replace('password = \\"hunter2\\"', "")
    assert text.count("***") >= 9
    assert "gnu-1" in text
    assert "Traceback" in text


def test_what_a_peer_sent_cannot_steer_the_terminal() -> None:
    stream, _ = started("text")
    structlog.get_logger().info("sign-in\nrefused", client="\x1b[2J\x9b1m evil\nline")
    text = stream.getvalue()
    assert text.count("\n") == 1
    assert "\x1b" not in text
    assert "\x9b" not in text
    assert "evil" in text


@given(st.text())
def test_escaped_text_is_printable(text: str) -> None:
    assert str(escape_controls(None, "info", {"client": text})["client"]).isprintable()


values = st.recursive(
    st.just("hunter2") | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["password", "Token", "x_secret_y"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["old_password", "TOKEN", "thesecret"]), values, max_size=3))
def test_masking_reaches_any_depth(event: dict[str, object]) -> None:
    assert "hunter2" not in str(mask_secrets(None, "info", {"outer": dict(event)}))
