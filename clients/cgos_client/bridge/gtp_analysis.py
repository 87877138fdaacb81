"""What engines say about a position, made into the JSON that CGOS stores with a move.

Reads the forms of ``kata-genmove_analyze`` and ``lz-genmove_analyze`` (KataGo's GTP_Extensions.md) and JSON itself;
keeps the result within a length. All figures are from the mover's side, as in both forms. Pure and lenient: what
cannot be read is left out and named in a remark, never raised. Must not know: processes, the move that was chosen
otherwise than as a vertex.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

ANALYSIS_LIMIT = 60_000
"""Characters of analysis that are passed on: there are servers that close the connection on a line of 64 KiB."""

_LEVELS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
_VALUE = re.compile(r"[-+]?(\d|\.\d|nan|inf)|[A-HJ-Za-hj-z]\d{1,2}$|(pass|resign|true|false)$", re.IGNORECASE)
"""A number, a vertex or one of the words that stand for a value; everything else in an info line is a key."""


class AnalysisText(NamedTuple):
    """An analysis ready to be sent.

    :ivar text: one line of JSON, or None where there is nothing to send
    :ivar remark: a clause that says what was left out and why, or nothing
    """

    text: str | None
    remark: str = ""


def from_json(lines: Sequence[str]) -> AnalysisText:
    """The analysis of an engine that writes CGOS's JSON itself: the last line that is JSON, or all of them as one."""
    starts = [index for index, line in enumerate(lines) if line.startswith("{")]
    if not starts:
        return AnalysisText(None)
    problem = ""
    for text in (lines[starts[-1]], " ".join(lines[starts[0] :])):
        try:
            analysis = json.loads(text, parse_constant=_not_a_number)
            return AnalysisText(text) if len(text) <= ANALYSIS_LIMIT else bounded(analysis)
        except RecursionError:
            problem = "it is nested too deeply"
        except ValueError as error:
            problem = problem or str(error)
    return AnalysisText(None, f"is not JSON ({problem}) and is left out")


def from_info(lines: Sequence[str], size: int, move: str, *, per_10000: bool) -> AnalysisText:
    """The analysis of an engine that writes ``info move ...`` lines: the last complete block counts.

    :param size: board edge in points
    :param move: the move that was chosen, upper case
    :param per_10000: True for the form of Leela Zero, whose chances are whole numbers from 0 to 10 000
    """
    block = _last_block([_sections(line) for line in lines if _is_info(line)])
    candidates = [candidate for words in block.candidates if (candidate := _candidate(words, per_10000)) is not None]
    if not candidates:
        return AnalysisText(None, "has no readable 'info move' and is left out")
    chosen = next((candidate for candidate in candidates if candidate["move"] == move), candidates[0])
    root = _figures(block.root, per_10000)
    analysis: dict[str, Any] = {
        key: figure for key in ("winrate", "score") if (figure := root.get(key, chosen.get(key))) is not None
    }
    visits = root.get("visits", sum(candidate.get("visits", 0) for candidate in candidates))
    if visits:
        analysis["visits"] = visits
    if block.ownership is not None and len(block.ownership) == size * size:
        analysis["ownership"] = "".join(_level(text) for text in block.ownership)
    analysis["moves"] = candidates
    return bounded(analysis)


def bounded(analysis: Any, limit: int = ANALYSIS_LIMIT) -> AnalysisText:
    """`analysis` as one line of JSON of at most `limit` characters: without ownership, then without its last moves."""
    text = _dumped(analysis)
    if len(text) <= limit:
        return AnalysisText(text)
    length = len(text)
    if isinstance(analysis, dict):
        rest = {key: value for key, value in analysis.items() if key != "ownership"}
        moves = rest.get("moves")
        text = _dumped(rest)
        if len(text) > limit and isinstance(moves, list):
            room = limit - len(_dumped(rest | {"moves": []}))
            rest["moves"] = list(_that_fit(moves, room))
            text = _dumped(rest)
        if len(text) <= limit:
            return AnalysisText(text, f"of {length} characters is too long and is shortened")
    return AnalysisText(None, f"of {length} characters is too long and is left out")


def _that_fit(moves: Sequence[Any], room: int) -> Iterator[Any]:
    for move in moves:
        room -= len(_dumped(move)) + 1
        if room < 0:
            return
        yield move


def _dumped(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=True)


def _not_a_number(text: str) -> float:
    raise ValueError(f"{text} is no JSON number")


class _Block(NamedTuple):
    """One look at the position.

    :ivar candidates: the figures of each candidate move, as written
    :ivar root: the figures of the position itself
    :ivar ownership: one figure a point, None where there is none
    """

    candidates: list[dict[str, list[str]]]
    root: dict[str, list[str]]
    ownership: list[str] | None


def _is_info(line: str) -> bool:
    return line.startswith(("info ", "rootInfo ", "ownership "))


def _last_block(lines: Sequence[_Block]) -> _Block:
    """Engines print a whole block on a line, or a line for each candidate: then the next block begins again at 0."""
    last = _Block([], {}, None)
    for block in lines:
        if last.candidates and block.candidates and not _continues(last.candidates, block.candidates):
            last = _Block([], {}, None)
        last = _Block(last.candidates + block.candidates, last.root | block.root, block.ownership or last.ownership)
    return last


def _continues(before: Sequence[Mapping[str, list[str]]], more: Sequence[Mapping[str, list[str]]]) -> bool:
    order, next_order = _whole(before[-1].get("order")), _whole(more[0].get("order"))
    if order is not None and next_order is not None:
        return next_order > order
    return more[0].get("move") not in [known.get("move") for known in before]


def _sections(line: str) -> _Block:
    """The sections of one line. A key is followed by its values; what is not known is read and ignored."""
    block = _Block([], {}, None)
    current: dict[str, list[str]] = {}
    ownership: list[str] | None = None
    values: list[str] = []
    for word in line.split():
        if word == "info":
            current, values = {}, []
            block.candidates.append(current)
        elif word == "rootInfo":
            current, values = block.root, []
        elif word == "ownership":
            ownership = values = []
        elif _VALUE.match(word):
            values.append(word)
        else:
            values = current.setdefault(word, [])
    return block._replace(ownership=ownership)


def _candidate(words: Mapping[str, list[str]], per_10000: bool) -> dict[str, Any] | None:
    if not words.get("move"):
        return None
    move = words["move"][0].upper()
    line = [vertex.upper() for vertex in words.get("pv", [])]
    candidate: dict[str, Any] = {"move": move} | _figures(words, per_10000)
    following = line[1:] if line[:1] == [move] else line
    if following:
        candidate["pv"] = " ".join(following)
    return candidate


def _figures(words: Mapping[str, list[str]], per_10000: bool) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for key in ("winrate", "prior"):
        chance = _chance(words.get(key), per_10000)
        if chance is not None:
            figures[key] = chance
    score = _number(words.get("scoreLead")) if "scoreLead" in words else _number(words.get("scoreMean"))
    if score is not None:
        figures["score"] = round(score, 2)
    visits = _whole(words.get("visits"))
    if visits is not None:
        figures["visits"] = visits
    return figures


def _number(words: Sequence[str] | None) -> float | None:
    try:
        number = float(words[0]) if words else math.nan
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _whole(words: Sequence[str] | None) -> int | None:
    number = _number(words)
    return int(number) if number is not None and 0 <= number < 1e15 else None


def _chance(words: Sequence[str] | None, per_10000: bool) -> float | None:
    number = _number(words)
    if number is None:
        return None
    assert words, "no number without a word"
    if per_10000 and not ("." in words[0] and number <= 1):  # some write chances as fractions in this form too
        number /= 10_000
    return round(min(1.0, max(0.0, number)), 5)


def _level(text: str) -> str:
    number = _number([text]) or 0.0
    return _LEVELS[int((min(1.0, max(-1.0, number)) + 1) / 2 * 62 + 0.5)]
