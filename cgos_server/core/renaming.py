"""Names replaced in texts: whole names only, capitals or not, and in JSON only in values.

Names consist of letters, digits, ``_``, ``.`` and ``-``, so a name ends where none of these follows; a full stop behind
it ends a sentence, unless the name goes on after it. Must not know: whose names, which texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec


class Renaming:
    """New names for old ones.

    :param names: old name -> new name, at least one
    :ivar names: the same, by the old names in small letters
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = {old.lower(): new for old, new in names.items()}
        # The longest first: a version's name begins with that of its bot.
        longest_first = sorted(self.names, key=len, reverse=True)
        self._old = re.compile(
            rf"(?<![A-Za-z0-9_-])(?<![A-Za-z0-9_-]\.)(?:{'|'.join(map(re.escape, longest_first))})"
            r"(?![A-Za-z0-9_-])(?!\.[A-Za-z0-9_-])",
            re.IGNORECASE,
        )

    def text(self, text: str) -> str:
        """`text` with the new names."""
        return self._old.sub(lambda match: self.names[match[0].lower()], text)

    def json(self, text: str) -> str:
        """The same of a JSON text, whose keys stay; the very same text where nothing is replaced. What is no JSON is
        taken as a text."""
        if self.text(text) == text:
            return text
        try:
            old = msgspec.json.decode(text)
        except msgspec.DecodeError:
            return self.text(text)
        new = self.values(old)
        return text if new == old else msgspec.json.encode(new).decode()

    def values(self, value: Any) -> Any:
        """The same of a value as JSON has it."""
        match value:
            case str():
                return self.text(value)
            case list():
                return [self.values(each) for each in value]
            case dict():
                return {key: self.values(each) for key, each in value.items()}
        return value


def shortest(names: Iterable[str]) -> list[str]:
    """Those of the names, in small letters, that have none of the others in them: where any name stands, one of these
    does. A version's name begins with that of its bot, so that a bot of a thousand versions has one."""
    kept: list[str] = []
    for name in sorted({name.lower() for name in names}, key=lambda name: (len(name), name)):
        if not any(each in name for each in kept):
            kept.append(name)
    return kept
