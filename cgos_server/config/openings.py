"""Reads the files of openings that a venue names, and says what is wrong in them.

A word of the list is a path or, with ``*`` and ``?`` in it, a pattern; a number and a colon before it weigh every
opening of its files. Files that end in ``.sgf`` are SGF, all others lists of moves. Must not know: who plays them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from cgos_protocol.errors import ConfigError
from cgos_protocol.games.base import Ruleset
from cgos_protocol.openings import WEIGHTS, Draft, Fault, Opening, OpeningSet, checked, parse, weight_of
from cgos_protocol.sgf.reading import decode, main_lines
from cgos_server.config.problems import ConfigErrors
from cgos_server.config.values import Words

LARGEST: Final = 8_000_000
"""Bytes of a file of openings."""

_WEIGHED: Final = re.compile(r"([0-9.eE+-]+)\s*:\s*(.+)")
_MOST_FAULTS: Final = 20
"""Faults of one file that are listed."""


class _Source(NamedTuple):
    """One file and what each of its openings weighs."""

    path: Path
    weight: float


def absolute(words: Words, base: Path) -> Words:
    """`words` with relative paths counted from `base`."""
    return Words(tuple(_placed(word, base) for word in words.parts))


def read(words: Words, rules: Ruleset, move_limit: int, place: str) -> OpeningSet:
    """All openings of the files that `words` name, checked against the venue's rules.

    :param move_limit: plies after which a game is scored as it stands
    :param place: where the list stands, for people
    :raises ConfigErrors: with every fault that was found, each with file and line
    """
    problems: list[ConfigError] = []
    openings: list[Opening] = []
    named: dict[str, str] = {}
    for source in _sources(words, place, problems):
        try:
            drafts, faults = _drafts(source.path, rules.size, place)
        except ConfigError as problem:
            problems.append(problem)
            continue
        for draft in drafts:
            opening = checked(draft._replace(weight=draft.weight * source.weight), rules, move_limit)
            if isinstance(opening, Fault):
                faults.append(opening)
            elif opening.name in named:
                what = f"opening {opening.name} stands in {named[opening.name]} already"
                faults.append(Fault(draft.line, what, "Give each its own name"))
            else:
                named[opening.name] = f"{source.path}, line {draft.line}"
                openings.append(opening)
        for fault in sorted(faults)[:_MOST_FAULTS]:
            where = f"{place}: {source.path}, line {fault.line}"
            problems.append(ConfigError(where, fault.problem, f"{fault.remedy}."))
    if problems:
        raise ConfigErrors(problems)
    return OpeningSet(tuple(openings))


def _placed(word: str, base: Path) -> str:
    match = _WEIGHED.fullmatch(word)
    weight, path = ("", word) if match is None else (f"{match[1]}: ", match[2])
    return weight + str((base / Path(path).expanduser()).absolute())


def _sources(words: Words, place: str, problems: list[ConfigError]) -> Iterator[_Source]:
    """The files in the order of their words, each once; problems are noted."""
    seen: set[Path] = set()
    for word in words.parts:
        match = _WEIGHED.fullmatch(word)
        weight = 1.0 if match is None else weight_of(match[1])
        if weight is None:
            remedy = f"Write {WEIGHTS} before the colon."
            problems.append(ConfigError(place, f"{word!r} has no weight that can be read", remedy))
            continue
        paths = _paths(word if match is None else match[2])
        if not paths:
            problems.append(ConfigError(place, f"no file is called {word}", "Correct the path, or leave it out."))
        for path in paths:
            if path not in seen:
                seen.add(path)
                yield _Source(path, weight)


def _paths(text: str) -> list[Path]:
    """The files that a path or a pattern means."""
    path = Path(text)
    if not any(sign in text for sign in "*?"):
        return [path]
    pattern = str(path.relative_to(path.anchor)).replace("[", "[[]")
    return sorted(file for file in Path(path.anchor).glob(pattern) if file.is_file())


def _drafts(path: Path, size: int, place: str) -> tuple[list[Draft], list[Fault]]:
    """What a file holds. Raises ConfigError where it cannot be read."""
    where = f"{place}: {path}"
    try:
        if path.stat().st_size > LARGEST:
            problem = f"is larger than {LARGEST // 1_000_000} MB"
            raise ConfigError(where, problem, "Give the openings alone, not whole games.")
        data = path.read_bytes()
    except OSError as error:
        remedy = "Give the path of a file that can be read."
        raise ConfigError(where, f"cannot be read ({error.strerror})", remedy) from error
    if path.suffix.lower() == ".sgf":
        drafts, faults = main_lines(decode(data), size, path.stem)
    else:
        try:
            drafts, faults = parse(data.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise ConfigError(where, "is not UTF-8 text", "Save it as UTF-8.") from error
    if not drafts and not faults:
        faults = [Fault(1, "there is no opening in the file", "Write one a line, or leave the file out")]
    return drafts, faults
