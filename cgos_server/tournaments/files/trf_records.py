"""What a tournament report says about the whole tournament: rounds, points, absences, forbidden pairs, teams.

Each thing has a code of TRF16 or TRF-2026 (digits) and often one of TRF(x) (``XX``) or of bbpPairings (``BB``); all are
read alike:

====================  =================================================================================
``012``               name
``142``, ``XXR``      number of rounds
``192``               type of tournament, coded
``092``               type of tournament in words
``162``, ``XXS``,     points for each kind of result
``BBW`` to ``BBU``
``XXZ``               ids absent from the round that is to be paired
``240``               byes of F, H or Z points in a round
``XXP``, ``260``      ids that must not meet each other, for ever or from one round to another
``XXA``, ``250``      fictitious points of an acceleration
``152``, ``XXC``      initial color; ``XXC rank``: the order of the lines is the order of the players
``013``, ``310``      teams; whether it is a tournament of teams: :attr:`Records.of_teams`
``082``               number of teams
``299``               points that do not follow from results
``### cgos-server``   our own comment, see :class:`Extra`
====================  =================================================================================

Every other line is somebody else's and says nothing here. Must not know: events, systems, files.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Final

import msgspec

from cgos_server.tournaments.files.trf import ID_MAX, ROUND_MAX, Document, fault, tenths

EXTRA: Final = "### cgos-server "

_WIN: Final = ("WW", "BW", "FW", "FPB")
_DRAW: Final = ("WD", "BD", "HPB")
_LOSS: Final = ("WL", "BL")

STANDARD_POINTS: Final[Mapping[str, int]] = MappingProxyType(
    {**dict.fromkeys((*_WIN, "PAB"), 10), **dict.fromkeys(_DRAW, 5), **dict.fromkeys((*_LOSS, "ZPB", "FL"), 0)}
)
"""Tenths, by the words of ``XXS``: win, draw and loss with White and with Black; bye of zero, half and full points and
that of the pairing; win and loss by forfeit."""

_SHORT: Final = MappingProxyType({"W": _WIN, "D": _DRAW, "L": _LOSS})
_162: Final = MappingProxyType(
    {"W": _WIN, "D": _DRAW, "L": _LOSS, "A": ("ZPB", "FL"), "Z": ("ZPB", "FL"), "P": ("PAB",), "X": ()}
)
_BB: Final = MappingProxyType(
    {"BBW": _WIN, "BBD": _DRAW, "BBL": _LOSS, "BBZ": ("ZPB",), "BBF": ("FL",), "BBU": ("PAB",)}
)
_162_PART: Final = re.compile(r"\s*([A-Z])\s*([0-9]{0,2}[.,]?[0-9]?)(?=\s|\Z)", re.ASCII)
_WORD: Final = re.compile(r"\S+")
_CODE: Final = re.compile(r"[A-Z]+(_[A-Z0-9]+)+", re.ASCII)
_TEAM_WORD: Final = re.compile(r"\bteams?\b")


class ExtraEntrant(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What a player's line cannot hold."""

    name: str = ""
    rating: float | None = None
    country: str = ""
    start: int | None = None
    grade: str = ""
    club: str = ""
    joined: Annotated[int, msgspec.Meta(ge=1)] | None = None


class ExtraGame(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What the cells of a game cannot hold."""

    round: int
    black: int
    white: int
    handicap: int = 0
    void: bool = False
    no_contest: bool = False


class Extra(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """What the format has no place for, as JSON behind ``### cgos-server``, a comment to all other programs.

    :ivar entrants: by starting rank, what their lines cannot hold; `name`, `rating` and `country` hold only as long as
        the line still shows their beginnings
    :ivar given: [round, id] of byes by the pairing whose points are not those of ``U``
    """

    system: str = ""
    options: dict[str, bool | int | float | str] = {}
    seed: int = 0
    tie_breakers: tuple[str, ...] = ()
    withdrawn: tuple[int, ...] = ()
    entrants: dict[str, ExtraEntrant] = {}
    games: tuple[ExtraGame, ...] = ()
    given: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Byes:
    """A 240 line: `kind` is F, H or Z. `line` is the index in the document."""

    line: int
    kind: str
    round: int
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Forbidden:
    """An XXP or 260 line: none of `ids` may meet another of them from round `first` to `last`."""

    line: int
    first: int
    last: int
    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Acceleration:
    """Fictitious points of ids `first` to `last` in rounds `begin` to `end`, in tenths."""

    first: int
    last: int
    begin: int
    end: int
    points: int


@dataclass(slots=True, kw_only=True)
class Records:
    """What the lines say that are not players'. Indices are of the document's lines.

    :ivar rounds: None: not said
    :ivar points: tenths by the words of :data:`STANDARD_POINTS`
    :ivar points_line: the last one that gives some
    :ivar absent: (index, ids) of each XXZ line
    :ivar accelerations: where two say something of the same player and round, the later one holds
    :ivar type: in words
    :ivar coded: the code of the type, also where 092 has one and there is no 192; empty: none said
    :ivar declared_teams: what the number of teams is said to be; empty: not said
    :ivar team_lines: how many lines name teams
    :ivar abnormal: how many lines give points that do not follow from results
    :ivar by_rank: the order of the lines is that of the players
    :ivar color: ``w`` or ``b`` where the initial color is said
    :ivar extra_line: index of our comment
    """

    name: str = ""
    type: str = ""
    coded: str = ""
    rounds: int | None = None
    points: dict[str, int] = field(default_factory=lambda: dict(STANDARD_POINTS))
    points_line: int = 0
    absent: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    byes: list[Byes] = field(default_factory=list)
    forbidden: list[Forbidden] = field(default_factory=list)
    accelerations: list[Acceleration] = field(default_factory=list)
    declared_teams: str = ""
    team_lines: int = 0
    abnormal: int = 0
    by_rank: bool = False
    color: str = ""
    extra: Extra = field(default_factory=Extra)
    extra_line: int | None = None

    @property
    def of_teams(self) -> bool:
        """Whether teams are paired. Lines of teams alone do not say it: reports of single players have them too, to
        tell who belongs together. What says it comes first in this order: the code of the type, the type in words, the
        declared number of teams (0: single players); where nothing does, lines of teams."""
        coded, words = self.coded.upper(), self.type.lower()
        if coded:
            return any(word in coded for word in ("TEAM", "SCHILLER", "SCHEVENINGEN"))
        if _TEAM_WORD.search(words) or "individual" in words:
            return "individual" not in words
        declared_none = self.declared_teams != "" and not self.declared_teams.strip("0")
        return self.team_lines > 0 and not declared_none

    def fictitious(self, ids: Iterable[int], number: int) -> dict[int, int]:
        """The fictitious points of players in a round, in tenths, where they have some."""
        points = {}
        left = sorted(ids)
        for one in reversed(self.accelerations):
            if one.begin <= number <= one.end:
                those = slice(bisect_left(left, one.first), bisect_right(left, one.last))
                points.update(dict.fromkeys(left[those], one.points))
                del left[those]
        return points


def records(document: Document) -> Records:
    """What a document says about the whole tournament.

    :raises Misread: where a line of a known code cannot be understood
    """
    general = Records()
    given_bye = False
    for at, line in enumerate(document.lines):
        text, code = line.text, line.text[:3]
        if code in ("", "001"):
            continue
        if code == "012":
            general.name = general.name or text[3:].strip()
        elif code == "192":
            general.coded = general.coded or text[3:].strip()
        elif code == "092":
            general.type = general.type or text[3:].strip()
        elif code == "082":
            general.declared_teams = text[3:].strip()
        elif code in ("142", "XXR"):
            if text[3:].strip():
                general.rounds = _whole(at, _single(at, text), "number of rounds", ROUND_MAX)
        elif code in ("XXS", "162") or code in _BB:
            general.points_line = at
            given_bye = _scoring(at, text, general.points) or given_bye
            if not given_bye and code != "XXS":
                general.points["PAB"] = general.points["FPB"]
        elif code == "XXZ":
            general.absent.append((at, _ids(at, _words(text))))
        elif code == "XXP":
            general.forbidden.append(Forbidden(line=at, first=1, last=ROUND_MAX, ids=_ids(at, _words(text))))
        elif code == "240":
            general.byes.append(_byes(at, text))
        elif code == "260":
            general.forbidden.append(_forbidden(at, text))
        elif code == "XXA":
            general.accelerations += _accelerated(at, text)
        elif code == "250":
            general.accelerations += _range_accelerated(at, text)
        elif code == "XXC":
            _configured(text, general)
        elif code == "152":
            general.color = text[3:].strip().lower()[:1]
        elif code in ("013", "310"):
            general.team_lines += 1
        elif code == "299":
            general.abnormal += 1
        elif text.startswith(EXTRA):
            general.extra, general.extra_line = _extra(at, text), at
    if not general.coded and _CODE.fullmatch(general.type):
        general.coded = general.type
    return general


def _words(text: str) -> list[re.Match[str]]:
    """The words behind the code of a line."""
    return list(_WORD.finditer(text, 3))


def _single(at: int, text: str) -> re.Match[str]:
    words = _words(text)
    if len(words) != 1:
        column = words[1].start() + 1 if words else 4
        raise fault(at, column, f"{text[:3]} is followed by {len(words)} words", "Give one number")
    return words[0]


def _whole(at: int, word: re.Match[str], what: str, most: int) -> int:
    """The number from 1 to `most` that a word of the line is."""
    digits = word[0]
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 8 and 1 <= int(digits) <= most):
        raise fault(at, word.start() + 1, f"{digits!r} is no {what}", f"Give a number from 1 to {most}")
    return int(digits)


def _ids(at: int, words: list[re.Match[str]]) -> tuple[int, ...]:
    return tuple(_whole(at, word, "starting rank", ID_MAX) for word in words)


def _scoring(at: int, text: str, points: dict[str, int]) -> bool:
    """Reads points into `points`; whether the line says what the bye of the pairing gives."""
    given: dict[str, int] = {}
    code = text[:3]
    if code in _BB:
        word = _single(at, text)
        value = tenths(word[0])
        if value is None:
            raise fault(at, word.start() + 1, f"{word[0]!r} is not a number of points", "Give points such as 1.0")
        given.update(dict.fromkeys(_BB[code], value))
    elif code == "XXS":
        for word in _WORD.finditer(text, 3):
            key, _, number = word[0].upper().partition("=")
            value = tenths(number)
            if value is None or (key not in _SHORT and key not in STANDARD_POINTS):
                raise fault(at, word.start() + 1, f"{word[0]!r} is no points", "Give CODE=POINTS such as WW=1.0")
            given.update(dict.fromkeys(_SHORT.get(key, (key,)), value))
    else:
        begin, stop = 3, len(text.rstrip())
        while begin < stop:
            part = _162_PART.match(text, begin)
            value = tenths(part[2]) if part else None
            if part is None or value is None or part[1] not in _162:
                raise fault(at, begin + 1, "no points for a kind of result", "Give such as W 1.0, of W D L A P X")
            given.update(dict.fromkeys(_162[part[1]], value))
            begin = part.end()
    points.update(given)
    return "PAB" in given


def _byes(at: int, text: str) -> Byes:
    words = _words(text)
    if len(words) < 2 or words[0][0].upper() not in ("F", "H", "Z"):
        column = words[0].start() + 1 if words else 5
        raise fault(at, column, "not a list of byes", "Give F, H or Z, the round, and starting ranks")
    return Byes(
        line=at, kind=words[0][0].upper(), round=_whole(at, words[1], "round", ROUND_MAX), ids=_ids(at, words[2:])
    )


def _forbidden(at: int, text: str) -> Forbidden:
    words = _words(text)
    if len(words) < 2:
        raise fault(at, 5, "not a list of forbidden pairs", "Give first and last round, and starting ranks")
    first, last = (_whole(at, word, "round", ROUND_MAX) for word in words[:2])
    return Forbidden(line=at, first=first, last=last, ids=_ids(at, words[2:]))


def _accelerated(at: int, text: str) -> Iterator[Acceleration]:
    words = _words(text)
    if not words:
        raise fault(at, 5, "acceleration of nobody", "Give a starting rank in columns 5 to 8")
    id_ = _whole(at, words[0], "starting rank", ID_MAX)
    for number, begin in enumerate(range(9, len(text), 5), 1):
        part = text[begin : begin + 5]
        if part.strip():
            yield Acceleration(first=id_, last=id_, begin=number, end=number, points=_points(at, begin, part))


def _range_accelerated(at: int, text: str) -> Iterator[Acceleration]:
    if not text[9:13].strip():  # match points of teams only
        return
    value = _points(at, 9, text[9:13])
    numbers = []
    for begin, stop, what in (
        (22, 26, "starting rank"),
        (27, 31, "starting rank"),
        (14, 17, "round"),
        (18, 21, "round"),
    ):
        word = _WORD.search(text, begin, stop)
        if word is None:
            raise fault(at, begin + 1, f"the {what} is missing", f"Give it in columns {begin + 1} to {stop}")
        numbers.append(_whole(at, word, what, ROUND_MAX if what == "round" else ID_MAX))
    first, last, begin_round, end_round = numbers
    yield Acceleration(first=first, last=last, begin=begin_round, end=end_round, points=value)


def _points(at: int, begin: int, part: str) -> int:
    value = tenths(part)
    if value is None:
        raise fault(at, begin + 1, f"{part.strip()!r} is not a number of points", "Give points such as 1.0")
    return value


def _configured(text: str, general: Records) -> None:
    for word in text[3:].lower().split():
        general.by_rank = general.by_rank or word == "rank"
        if word in ("white1", "black1"):
            general.color = word[0]


def _extra(at: int, text: str) -> Extra:
    try:
        return msgspec.json.decode(text[len(EXTRA) :], type=Extra)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as problem:
        raise fault(at, len(EXTRA) + 1, f"the comment is not ours: {problem}", "Take the line out") from problem
