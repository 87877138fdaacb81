"""How the server logs: structlog over the standard library, one handler, text for people or one JSON object a line.

Every event has a UTC time; connection, bot and game ids are bound by the callers. Warnings and errors are counted,
values that look like secrets are masked, and tracebacks never show local variables. Must not know what is logged or
why.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Mapping
from typing import Any, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

MASK = "***"

_SECRET_WORDS = ("password", "passwd", "token", "secret")
QUIET_LOGGERS = ("aiosqlite", "alembic", "asyncio", "sqlalchemy", "starlette", "uvicorn")
"""Of libraries, which say much that no operator asks for: heard from warnings on."""
_MULTI_LINE = ("exception", "stack")


class LogCounts:
    """Counts events of level warning and above, from our own loggers and from other libraries'."""

    __slots__ = ("errors", "warnings")

    def __init__(self) -> None:
        self.warnings = 0
        self.errors = 0

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        """The structlog processor. Needs ``level`` in the event."""
        level = event.get("level")
        if level == "warning":
            self.warnings += 1
        elif level in ("error", "critical"):
            self.errors += 1
        return event

    def by_level(self) -> dict[str, int]:
        """Level -> events so far, for the metrics."""
        return {"warning": self.warnings, "error": self.errors}


def configure(log_format: str, level: str, stream: TextIO) -> LogCounts:
    """Send everything that this process logs to `stream` (the server passes ``sys.stderr``).

    Other libraries are heard from level warning on. May be called again: the latest call holds.

    :param log_format: ``text`` (colored on a terminal), ``json``, or ``auto``: text on a terminal, else JSON
    :param level: a name of the standard library's levels, capitals or not; raises KeyError for others
    """
    as_json = log_format == "json" or (log_format == "auto" and not stream.isatty())
    counts = LogCounts()
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        mask_secrets,
        counts,
    ]
    threshold = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(threshold),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, structlog.stdlib.ExtraAdder(), *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_renderer(as_json, stream)],
        )
    )
    root = logging.getLogger()
    for old in root.handlers[:]:
        if isinstance(old.formatter, structlog.stdlib.ProcessorFormatter):
            root.removeHandler(old)
    root.addHandler(handler)
    root.setLevel(threshold)
    for name in QUIET_LOGGERS:
        logging.getLogger(name).setLevel(max(threshold, logging.WARNING))
    return counts


def _renderer(as_json: bool, stream: TextIO) -> list[Processor]:
    if as_json:
        return [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(default=str)]
    # The console renderer would pick rich's tracebacks, which print local variables, passwords among them.
    console = structlog.dev.ConsoleRenderer(
        colors=stream.isatty(), pad_event_to=28, exception_formatter=structlog.dev.plain_traceback
    )
    return [escape_controls, console]


def mask_secrets(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Replace every value whose key speaks of a password, token or secret, at any depth."""
    return {key: MASK if _is_secret(key) else _masked(value) for key, value in event.items()}


def escape_controls(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Make what peers sent harmless for a terminal: control characters appear as escapes."""
    return {
        key: _printable(value) if isinstance(value, str) and key not in _MULTI_LINE else value
        for key, value in event.items()
    }


def _is_secret(key: object) -> bool:
    lowered = str(key).lower()
    return any(word in lowered for word in _SECRET_WORDS)


def _masked(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: MASK if _is_secret(key) else _masked(inner) for key, inner in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return _masked(value._asdict())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _masked({field.name: getattr(value, field.name) for field in dataclasses.fields(value)})
    if isinstance(value, list | tuple | set | frozenset) and not _is_exc_info(value):
        return [_masked(inner) for inner in value]
    return value


def _is_exc_info(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) == 3 and isinstance(value[1], BaseException)


def _printable(text: str) -> str:
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)
