"""Values that configuration keys have: times, networks, words, addresses, numbers in their ranges.

Must not know: which keys there are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated
from urllib.parse import SplitResult, urlsplit

import msgspec

from cgos_protocol.options import Number, Parsed


def us(seconds: float) -> int:
    """Seconds as whole microseconds."""
    return round(seconds * 1_000_000)


_UNITS = {"h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000}
_HOST = re.compile(r"(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?")
_VENUE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,31}")
_TIME_OF_DAY = re.compile(r"([01]\d|2[0-3]):([0-5]\d)")
_SPAN = re.compile(r"(?:(\d+)h)?(?:(\d+)m(?!s))?(?:(\d+(?:\.\d+)?)s)?(?:(\d+)ms)?")


@dataclass(frozen=True, slots=True)
class Span:
    """A length of time that people write as a number of seconds or as text such as ``5m`` or ``1h30m``."""

    us: int

    @classmethod
    def parse(cls, value: object) -> Span:
        """Raises ValueError for anything else, negative lengths included."""
        if isinstance(value, str):
            match = _SPAN.fullmatch(value.strip())
            if match is not None and any(match.groups()):
                parts = zip(match.groups(), _UNITS.values(), strict=True)
                return cls(sum(round(float(number) * unit) for number, unit in parts if number))
            value = float(value)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e9:
            raise ValueError
        return cls(us(value))

    def __str__(self) -> str:
        rest, text = self.us, ""
        for unit, size in _UNITS.items():
            number, rest = divmod(rest, size)
            text += f"{number}{unit}" if number else ""
        return text or "0s"


def _texts(value: object) -> list[str]:
    """Texts with commas between them, or in a list; empty ones are left out. Raises ValueError for anything else."""
    texts = value.split(",") if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError
    return [text.strip() for text in texts if text.strip()]


@dataclass(frozen=True, slots=True)
class Networks:
    """Addresses and networks, written as text with commas between them: ``127.0.0.1, 10.0.0.0/8``."""

    parts: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def parse(cls, value: object) -> Networks:
        """Raises ValueError for anything else; a list of such texts is taken too."""
        return cls(tuple(ip_network(text, strict=False) for text in _texts(value)))

    def __str__(self) -> str:
        return ", ".join(map(str, self.parts))


@dataclass(frozen=True, slots=True)
class Words:
    """A list of words, written as text with commas between them: ``cgos-elo, gor``."""

    parts: tuple[str, ...] = ()

    @classmethod
    def parse(cls, value: object) -> Words:
        """Raises ValueError for anything else; a list of such texts is taken too."""
        return cls(tuple(_texts(value)))

    def __str__(self) -> str:
        return ", ".join(self.parts)


@dataclass(frozen=True, slots=True)
class Options:
    """Options of a plug-in by their words, written as a table or as text: ``reach=3, model=gor``. The words of a table
    in the table have a dot: ``steady-elo.k=24``."""

    parts: tuple[tuple[str, bool | int | float | str], ...] = ()

    @classmethod
    def parse(cls, value: object) -> Options:
        """Raises ValueError for anything else."""
        if isinstance(value, str):
            pairs = [text.partition("=") for text in value.split(",") if text.strip()]
            if not all(key.strip() and equals for key, equals, _ in pairs):
                raise ValueError
            return cls(tuple((key.strip(), scalar(text.strip())) for key, _, text in pairs))
        return cls(tuple(_flat(value, "")))

    def of(self, owner: str) -> dict[str, bool | int | float | str]:
        """Those in the table of that name."""
        return {key.removeprefix(f"{owner}."): value for key, value in self.parts if key.startswith(f"{owner}.")}

    def __str__(self) -> str:
        texts = (json.dumps(value) if isinstance(value, bool) else str(value) for _, value in self.parts)
        return ", ".join(f"{key}={text}" for (key, _), text in zip(self.parts, texts, strict=True))


def scalar(text: str) -> bool | int | float | str:
    """Numbers, ``true`` and ``false`` as such, anything else as text."""
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text
    return value if isinstance(value, bool | int | float) else text


def _flat(table: object, before: str) -> Iterator[tuple[str, bool | int | float | str]]:
    if not isinstance(table, dict):
        raise ValueError
    for key, value in table.items():
        if isinstance(value, bool | int | float | str):
            yield f"{before}{key}", value
        else:
            yield from _flat(value, f"{before}{key}.")


@dataclass(frozen=True, slots=True)
class TimeOfDay:
    """Hours and minutes as ``03:30``; empty for none.

    :ivar minute: of the day
    """

    minute: int | None = None

    @classmethod
    def parse(cls, value: object) -> TimeOfDay:
        """Raises ValueError for anything else."""
        if value == "":
            return cls()
        match = _TIME_OF_DAY.fullmatch(value) if isinstance(value, str) else None
        if match is None:
            raise ValueError
        return cls(60 * int(match[1]) + int(match[2]))

    def __str__(self) -> str:
        return "" if self.minute is None else f"{self.minute // 60:02}:{self.minute % 60:02}"


@dataclass(frozen=True, slots=True)
class PublicAddress:
    """Host and port as ``cgos.example.org:6809``, IPv6 in brackets; empty for none."""

    text: str = ""

    @classmethod
    def parse(cls, value: object) -> PublicAddress:
        """Raises ValueError for anything else."""
        if value != "":
            _is_host(value, urlsplit(f"//{value}"), needs_port=True)
        return cls(str(value))

    @property
    def port(self) -> int | None:
        """Its port, None where there is no address."""
        return urlsplit(f"//{self.text}").port

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class WebSocketUrl:
    """``wss://cgos.example.org`` or ``ws://...``, with a port or without, with nothing behind it; empty for none."""

    text: str = ""

    @classmethod
    def parse(cls, value: object) -> WebSocketUrl:
        """Raises ValueError for anything else."""
        text = str(value).rstrip("/")
        if value != "":
            parts = urlsplit(text)
            if parts.scheme not in ("ws", "wss"):
                raise ValueError
            _is_host(value, parts, needs_port=False)
        return cls(text)

    def __str__(self) -> str:
        return self.text


def _is_host(value: object, parts: SplitResult, *, needs_port: bool) -> None:
    """Raises ValueError unless these are the parts of a host and a port."""
    if not isinstance(value, str) or not _HOST.fullmatch(parts.netloc) or parts.path or parts.query or parts.fragment:
        raise ValueError
    if parts.port == 0 or (needs_port and parts.port is None):
        raise ValueError


def _venue_name(value: object) -> str:
    if not isinstance(value, str) or not _VENUE_NAME.fullmatch(value):
        raise ValueError
    return str(value)


Port = Annotated[int, Number(0, 65_535, whole=True)]
Positive = Annotated[float, Number(0, 1_000_000, above=True)]
NotNegative = Annotated[float, Number(0, 1_000_000)]
Share = Annotated[float, Number(0, 1)]
Count = Annotated[int, Number(1, 1_000_000, whole=True)]
VenueName = Annotated[str, Parsed(_venue_name, "1 to 32 letters, digits, _, . or -, beginning with a letter or digit")]
