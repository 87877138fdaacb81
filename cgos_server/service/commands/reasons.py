"""Words that people give along with what they do, as they are kept and told.

Must not know: what they are given for.
"""

from __future__ import annotations

from typing import Final

from cgos_protocol.errors import Code, Invalid

REASON_MAX: Final = 200
"""Characters of a reason."""

LABEL_MAX: Final = 80
"""Characters of a label."""

ADDRESS_MAX: Final = 64
"""Characters of a person's address."""


def one_line(reason: str) -> str:
    """A reason as it is kept and told: without line ends, and without what no terminal and no page should be told."""
    return " ".join("".join(each for each in word if each.isprintable()) for word in reason.split())[:REASON_MAX]


def shown_label(label: str) -> str:
    """What something is for, as it is kept."""
    return one_line(label)[:LABEL_MAX]


def shown_address(address: str) -> str:
    """A person's address as it is kept: what a proxy says of it may be anything."""
    return one_line(address)[:ADDRESS_MAX]


def connections(count: int) -> str:
    """How many connections of a bot were closed."""
    return "1 connection" if count == 1 else f"{count} connections"


def reason_for(reason: str, what: str) -> str:
    """The reason as it is kept, for which there has to be one. Raises Refused (``reason``); `what` needs it."""
    kept = one_line(reason)
    if not kept:
        raise Invalid(Code.REASON, f"Give the reason why {what}: it is kept, and people are told.")
    return kept
