"""What may be a name and what may be a password, each fault answered with a sentence.

The rules are CGOS's: clients cut ``name(rating)`` at the first parenthesis and read lines as Tcl lists, so names are
plain words. Must not know: which names exist, who owns them, how passwords are stored.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final

NAME_MIN: Final = 3
NAME_MAX: Final = 18
NAME_PATTERN: Final = "^[A-Za-z0-9_.-]*$"
"""The characters of all names: of people, bots, versions and venues."""
PASSWORD_MIN: Final = 3
"""Of bots: what the CGOS lines have always taken."""
ACCOUNT_PASSWORD_MIN: Final = 10
"""Of people's accounts."""
PASSWORD_MAX: Final = 128
PASSWORD_RULE: Final = f"{PASSWORD_MIN} to {PASSWORD_MAX} printable ASCII characters without blanks"
ACCOUNT_PASSWORD_RULE: Final = f"{ACCOUNT_PASSWORD_MIN} to {PASSWORD_MAX} characters, also blanks and any letters"

BOT_NAME_PATTERN: Final = (
    rf"^(?![0-9])(?![Aa][Dd][Mm][Ii][Nn])(?![Qq][Uu][Ii][Tt]$)[A-Za-z0-9_.-]{{{NAME_MIN},{NAME_MAX}}}$"
)
"""What :func:`bot_name_fault` lets through, as a pattern of ECMA-262 for other programs."""
PASSWORD_PATTERN: Final = rf"^(?![Qq][Uu][Ii][Tt]$)[!-~]{{{PASSWORD_MIN},{PASSWORD_MAX}}}$"
"""The same of :func:`password_fault`."""
EVENT_NAME_PATTERN: Final = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
"""Of tournaments: words that can stand in addresses and file names."""

_NAME = re.compile(NAME_PATTERN)
_PASSWORD = re.compile(r"[!-~]*")
_UNSTABLE = frozenset({"Cc", "Cs", "Cn"})
"""Categories of Unicode that no password has: controls, halves of pairs, and what a later Unicode may normalize."""
_DIGITS = frozenset("0123456789")


def fold(name: str) -> str:
    """The key under which `name` is unique: two names that differ only in case are one."""
    return name.lower()


def name_fault(name: str) -> str | None:
    """None where a person or a bot may be called `name`, otherwise a sentence that says what to change."""
    if not _NAME.fullmatch(name):
        return "A name consists of the letters A to Z, digits, '_', '.' and '-' only."
    if len(name) < NAME_MIN:
        return f"A name has at least {NAME_MIN} characters."
    if len(name) > NAME_MAX:
        return f"A name has at most {NAME_MAX} characters, this one has {len(name)}."
    if name[0] in _DIGITS:
        return "A name does not begin with a digit."
    if fold(name) == "quit":
        return "This name cannot be used: a line that says only 'quit' closes the connection."
    return None


def bot_name_fault(name: str) -> str | None:
    """As :func:`name_fault`, and names that begin with ``admin`` are kept for operators."""
    fault = name_fault(name)
    if fault is None and fold(name).startswith("admin"):
        return "Names that begin with 'admin' are kept for the operators of this server: choose another."
    return fault


def password_fault(password: str) -> str | None:
    """None where `password` may be one, otherwise a sentence that says what to change."""
    if not _PASSWORD.fullmatch(password):
        return "A password consists of printable ASCII characters without blanks."
    if len(password) < PASSWORD_MIN:
        return f"A password has at least {PASSWORD_MIN} characters."
    if len(password) > PASSWORD_MAX:
        return f"A password has at most {PASSWORD_MAX} characters."
    if fold(password) == "quit":
        return "This password cannot be used: a line that says only 'quit' closes the connection."
    return None


def normalize_passphrase(text: str) -> str:
    """Return the password of an account as it is hashed: composed (NFC), without the blanks round it.

    One text can be typed in two ways: ``ä`` is one character on one keyboard and two on another.
    """
    return unicodedata.normalize("NFC", text).strip()


def account_password_fault(password: str) -> str | None:
    """None where the normalized `password` may be an account's, otherwise a sentence that says what to change."""
    if any(unicodedata.category(character) in _UNSTABLE for character in password):
        return "The password of an account has no control characters and no line breaks."
    if len(password) < ACCOUNT_PASSWORD_MIN:
        return f"The password of an account has at least {ACCOUNT_PASSWORD_MIN} characters."
    if len(password) > PASSWORD_MAX:
        return f"The password of an account has at most {PASSWORD_MAX} characters."
    return None
