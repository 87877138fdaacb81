"""What is wrong with a configuration, each problem with its place and its remedy.

Must not know: where values come from, what they mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from cgos_protocol.errors import Code, ConfigError

Key = tuple[str | int, ...]
"""The way to a value: names of tables and keys, numbers for venues."""

Place = Callable[[Key], str]
"""Says where a value comes from, for people."""


class ConfigErrors(ConfigError):
    """All that is wrong with a configuration; the message has one line for each problem."""

    def __init__(self, problems: Iterable[ConfigError]) -> None:
        self.problems = tuple(problems)
        self.code = Code.CONFIG
        self.place = self.problems[0].place
        self.sentence = "\n".join(str(problem) for problem in self.problems)
        Exception.__init__(self, self.sentence)


def objected(place: str, sentence: str) -> ConfigError:
    """A problem out of a sentence that may bring its own remedy after a full stop, a semicolon or a colon."""
    for cut in (". ", "; ", ": "):
        problem, separator, remedy = sentence.partition(cut)
        if separator and " " in problem:
            return ConfigError(place, problem, remedy[0].upper() + remedy[1:])
    return ConfigError(place, sentence.rstrip("."), "Change it and start again.")
