"""Kinds of values that configuration keys have: lengths of time, networks, words, numbers in their ranges.

Must not know: which keys there are.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Annotated

import msgspec


def doc(sentence: str) -> msgspec.Meta:
    """What a key means, for people."""
    return msgspec.Meta(description=sentence)


def us(seconds: float) -> int:
    """Seconds as whole microseconds."""
    return round(seconds * 1_000_000)


_UNITS = {"h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000}
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


@dataclass(frozen=True, slots=True)
class Networks:
    """Addresses and networks, written as text with commas between them: ``127.0.0.1, 10.0.0.0/8``."""

    parts: tuple[IPv4Network | IPv6Network, ...] = ()

    @classmethod
    def parse(cls, value: object) -> Networks:
        """Raises ValueError for anything else; a list of such texts is taken too."""
        texts = value.split(",") if isinstance(value, str) else value
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise ValueError
        return cls(tuple(ip_network(text.strip(), strict=False) for text in texts if text.strip()))

    def __str__(self) -> str:
        return ", ".join(map(str, self.parts))


@dataclass(frozen=True, slots=True)
class Words:
    """A list of words, written as text with commas between them: ``cgos-elo, gor``."""

    parts: tuple[str, ...] = ()

    @classmethod
    def parse(cls, value: object) -> Words:
        """Raises ValueError for anything else; a list of such texts is taken too."""
        texts = value.split(",") if isinstance(value, str) else value
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            raise ValueError
        return cls(tuple(text.strip() for text in texts if text.strip()))

    def __str__(self) -> str:
        return ", ".join(self.parts)


Port = Annotated[int, msgspec.Meta(ge=0, le=65_535)]
Positive = Annotated[float, msgspec.Meta(gt=0, le=1_000_000)]
NotNegative = Annotated[float, msgspec.Meta(ge=0, le=1_000_000)]
Count = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]
