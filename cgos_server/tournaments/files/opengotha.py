"""Events of OpenGotha's XML files (data version 200 and 201), and what of its parameters has no place here.

====================================  ==================================================================================
``Player``                            an entrant, in their order; ``rank`` is the grade; who is registered only
                                      preliminarily counts as withdrawn
``genMMZero``, floor, bar,            starting points of everybody
``smmsCorrection``
``participating``, ``ByePlayer``      byes; an absence gives what ``gen...2ValueAbsent`` says, a bye what
                                      ``gen...2ValueBye`` says, and where sums of both are rounded down
                                      (``genRoundDownNBWMMS``), the bye that completes a point gives all of it
``PlacementCriterion``                the order of standings, in the words of
                                      :data:`cgos_server.tournaments.standings.gotha_sums.GOTHA_SUMS`
``genCountNotPlayedGamesAsHalfPoint`` those words with ``-half``
``hd...``, ``pai...``                 options of the system ``weighted``, as far as it has them
====================================  ==================================================================================

A tournament of OpenGotha is of McMahon where its first criterion is MMS; in all others everybody starts with nothing.
Facts of OpenGotha 3.5 by L. Vannier: its user's guide, and its files. Must not know: systems beyond the words of their
options, files.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from cgos_protocol.errors import Refused
from cgos_protocol.lines.misread import one_line
from cgos_server.tournaments.base import (
    BLACK_WINS,
    DRAWN,
    LOSS,
    WHITE_WINS,
    WIN,
    Bye,
    Entrant,
    Event,
    Game,
    OptionValue,
    Request,
    Result,
    Round,
)
from cgos_server.tournaments.files.halves import requests_in
from cgos_server.tournaments.files.opengotha_xml import Element, elements
from cgos_server.tournaments.standings.gotha_sums import GOTHA_SUMS
from cgos_server.tournaments.standings.grades import grade_index

SYSTEM: Final = "weighted"
MOST_ROUNDS: Final = 20
"""Of OpenGotha."""

_OLD_RATINGS: Final = 201
"""Data version; older ones count ratings from 2050."""

_RESULTS: Final[Mapping[str, Result | None]] = MappingProxyType(
    {
        "UNKNOWN": None,
        "WHITEWINS": WHITE_WINS,
        "BLACKWINS": BLACK_WINS,
        "EQUAL": DRAWN,
        "BOTHLOSE": Result(LOSS, LOSS),
        "BOTHLOOSE": Result(LOSS, LOSS),  # the spelling of Pairgoth
        "BOTHWIN": Result(WIN, WIN),
    }
)
_BY_DEFAULT: Final = "_BYDEF"
"""Ends the words of results of games that never started."""

_CRITERIA: Final[Mapping[str, str]] = MappingProxyType(
    {
        "MMS": "mms",
        "NBW": "points",
        "RATING": "rating",
        "CUSSM": "cuss",
        **{word.upper(): word for word in GOTHA_SUMS if not word.endswith("-half")},
    }
)
"""OpenGotha's names of criteria -> our words."""

_SEEDINGS: Final = MappingProxyType({"SPLITANDFOLD": "folding", "SPLITANDSLIP": "translation"})
_PLACES: Final = MappingProxyType({"MID": "middle", "TOP": "top", "BOT": "bottom"})
_NO_EFFECT: Final = MappingProxyType(
    {
        "paiBaRandom": "chance",
        "paiMaAvoidMixingCategories": "categories",
        "paiSeMinimizeHandicap": "small handicaps",
        "paiSeAvoidSameGeo": "countries and clubs kept apart",
    }
)
"""Parts of its pairing that are left out here, where they weigh anything."""


@dataclass(slots=True, kw_only=True)
class _File:
    """The elements by what they are; parameter sets are empty elements where the file has none.

    :ivar keys: OpenGotha's key of a player -> id
    """

    version: int
    players: list[Element] = field(default_factory=list)
    games: list[Element] = field(default_factory=list)
    byes: list[Element] = field(default_factory=list)
    criteria: list[Element] = field(default_factory=list)
    sets: dict[str, Element] = field(default_factory=dict)
    teams: int = 0
    keys: dict[str, int] = field(default_factory=dict)

    def parameters(self, name: str) -> Element:
        return self.sets.get(name) or Element(name, 1, {})

    @property
    def words(self) -> list[str]:
        """Names of the criteria in their order, in upper case, without NULL."""
        ordered = sorted(self.criteria, key=lambda one: one.whole("number", 1, 1, 99))
        names = [one.values.get("name", "").strip().upper() for one in ordered]
        return [name for name in names if name not in ("", "NULL", "NUL")]

    @property
    def is_mcmahon(self) -> bool:
        return not self.words or self.words[0] == "MMS"


def to_event(data: bytes, system: str | None) -> tuple[Event, tuple[str, ...]]:
    """The event of a file's bytes, and sentences about what of the file has no effect here.

    :param system: its word; None: ``weighted``, which restates OpenGotha's pairing
    :raises Misread: where it cannot be understood
    """
    file = _sorted(elements(data))
    general = file.parameters("GeneralParameterSet")
    planned = general.whole("numberOfRounds", 5, 1, MOST_ROUNDS)
    games = _games(file)
    byes = _bye_players(file)
    begun = max([0, *games, *byes])
    rounds, to_come = _rounds(file, games, byes=byes, begun=begun, last=max(begun, planned))
    event = Event(
        system=system or SYSTEM,
        entrants=tuple(_entrants(file)),
        name=one_line(general.values.get("name", "")),
        options=_options(file, begun) if system in (None, SYSTEM) else {},
        planned=max(begun, planned),
        rounds=rounds,
        withdrawn=tuple(
            at for at, one in enumerate(file.players, 1) if one.values.get("registeringStatus", "FIN") == "PRE"
        ),
        requests=(*requests_in(rounds), *to_come),
        tie_breakers=tuple(_order(file)),
    )
    return event, tuple(_remarks(file, begun))


def _sorted(every: Sequence[Element]) -> _File:
    file = _File(version=every[0].whole("dataVersion", 200, 0, 10**6))
    for one in every:
        parent, _, name = one.path.rpartition("/")
        if name == "Player":
            file.players.append(one)
        elif name == "Game":
            file.games.append(one)
        elif name == "ByePlayer" and one.values:  # without attributes it only holds others, as Pairgoth writes it
            file.byes.append(one)
        elif name == "Team":
            file.teams += 1
        elif name == "PlacementCriterion" and "/PlacementParameterSet/" in f"{parent}/":
            file.criteria.append(one)
        elif name.endswith("ParameterSet"):
            file.sets.setdefault(name, one)
    for at, one in enumerate(file.players, 1):
        key = _key(one.values.get("name", "") + one.values.get("firstName", ""))
        if not key:
            raise one.fault("the player has no name", "Give one")
        if key in file.keys:
            raise one.fault(f"there is a second {_name(one)!r}", "Give every player another name")
        file.keys[key] = at
    for key, at in [*file.keys.items()]:
        file.keys.setdefault(_ascii(key), at)
    return file


def _key(name: str) -> str:
    return name.replace(" ", "").upper()


def _ascii(key: str) -> str:
    """Without accents, as older files name players."""
    return unicodedata.normalize("NFKD", key).encode("ascii", "ignore").decode()


def _name(player: Element) -> str:
    return one_line(f"{player.values.get('name', '')} {player.values.get('firstName', '')}")


def _player(file: _File, element: Element, attribute: str) -> int:
    """The id of the player whom an attribute names."""
    key = _key(element.values.get(attribute, ""))
    id_ = file.keys.get(key) or file.keys.get(_ascii(key))
    if id_ is None:
        raise element.fault(f"there is no player {key!r}", "Name one of the players")
    return id_


def _entrants(file: _File) -> Iterator[Entrant]:
    general = file.parameters("GeneralParameterSet")
    zero, floor, bar = (
        _grade(general, name, usual)
        for name, usual in (("genMMZero", "30K"), ("genMMFloor", "20K"), ("genMMBar", "4D"))
    )
    for at, one in enumerate(file.players, 1):
        rank = _grade(one, "rank", "30K")
        rating = one.whole("rating", -900, -(10**6), 10**6) + (2050 if file.version < _OLD_RATINGS else 0)
        start = max(min(rank, bar), floor) - zero + one.whole("smmsCorrection", 0, -30, 30)
        yield Entrant(
            id=at,
            name=_name(one),
            rating=float(rating),
            start=2 * start if file.is_mcmahon else 0,
            grade=one.values.get("rank", "30K").strip().lower(),
            country=one_line(one.values.get("country", "")),
            club=one_line(one.values.get("club", "")),
        )


def _grade(element: Element, name: str, usual: str) -> int:
    text = element.values.get(name, "").strip() or usual
    try:
        return grade_index(text)
    except Refused as refused:
        raise element.fault(f"{name} is {text!r}, which is no grade", "Give such as 4K or 2D") from refused


def _games(file: _File) -> dict[int, list[Game]]:
    """By round, in the order of tables."""
    games: dict[int, list[tuple[int, Game]]] = defaultdict(list)
    busy: dict[tuple[int, int], Element] = {}
    for one in file.games:
        number = one.whole("roundNumber", 1, 1, MOST_ROUNDS)
        white, black = (_player(file, one, name) for name in ("whitePlayer", "blackPlayer"))
        for id_ in (white, black):
            if (number, id_) in busy:
                problem = f"player {_name(file.players[id_ - 1])} is in another game of round {number}"
                raise one.fault(f"{problem} (line {busy[(number, id_)].line})", "Leave one of them")
            busy[(number, id_)] = one
        word = one.values.get("result", "RESULT_UNKNOWN").removeprefix("RESULT_")
        result = _RESULTS.get(word.removesuffix(_BY_DEFAULT))
        if result is None and word != "UNKNOWN":
            raise one.fault(f"{word!r} is no result", "Give such as RESULT_WHITEWINS")
        if result is not None and word.endswith(_BY_DEFAULT):
            result = replace(result, how="forfeit")
        game = Game(black=black, white=white, result=result, handicap=one.whole("handicap", 0, 0, 9))
        games[number].append((one.whole("tableNumber", 1, 1, 10**6), game))
    return {
        number: [game for _, game in sorted(those, key=lambda one: one[0])] for number, those in sorted(games.items())
    }


def _bye_players(file: _File) -> dict[int, set[int]]:
    byes: dict[int, set[int]] = defaultdict(set)
    for one in file.byes:
        byes[one.whole("roundNumber", 1, 1, MOST_ROUNDS)].add(_player(file, one, "player"))
    return byes


def _rounds(
    file: _File, games: Mapping[int, Sequence[Game]], byes: Mapping[int, set[int]], begun: int, last: int
) -> tuple[tuple[Round, ...], list[Request]]:
    """The rounds that have begun, and absences in those to come."""
    general = file.parameters("GeneralParameterSet")
    kind = "MMS" if file.is_mcmahon else "NBW"
    absence, bye = (
        general.whole(f"gen{kind}2Value{what}", usual, 0, WIN)
        for what, usual in (("Absent", 1 if file.is_mcmahon else 0), ("Bye", WIN))
    )
    rounded = general.flag("genRoundDownNBWMMS", default=True)
    busy = {number: {id_ for game in games.get(number, ()) for id_ in game.pair} for number in range(1, last + 1)}
    given: dict[int, list[Bye]] = defaultdict(list)
    to_come: list[Request] = []
    for id_, one in enumerate(file.players, 1):
        total = 0
        there = one.values.get("participating", "")
        for number in range(1, last + 1):
            has_bye = id_ in byes.get(number, ())
            is_absent = there[number - 1 : number] == "0"
            if id_ in busy[number] or not (has_bye or is_absent):
                continue
            before = total // 2 * 2 if rounded else total
            total += bye if has_bye else absence
            points = (total // 2 * 2 if rounded else total) - before
            if number <= begun:
                given[number].append(Bye(id_, points, requested=not has_bye))
            else:
                to_come.append(Request(id_, number, points))
    rounds = tuple(
        Round(number=number, games=tuple(games.get(number, ())), byes=tuple(given[number]))
        for number in range(1, begun + 1)
    )
    return rounds, to_come


def _order(file: _File) -> Iterator[str]:
    half = file.parameters("GeneralParameterSet").flag("genCountNotPlayedGamesAsHalfPoint", default=False)
    words = (_CRITERIA[name] for name in file.words if name in _CRITERIA)
    return (f"{word}-half" if half and word in GOTHA_SUMS else word for word in words)


def _options(file: _File, begun: int) -> dict[str, OptionValue]:
    """Of ``weighted``. Starting points are the entrants' own: floor and bar only say whose games are even."""
    handicap, pairing = file.parameters("HandicapParameterSet"), file.parameters("PairingParameterSet")
    options: dict[str, OptionValue] = {"absences": "none"}
    if _has_handicap(handicap) and file.is_mcmahon and handicap.flag("hdBasedOnMMS", default=True):
        general = file.parameters("GeneralParameterSet")
        options["handicap"] = True
        options["reduction"] = min(9, handicap.whole("hdCorrection", 1, 0, 99))
        options["floor"] = general.values.get("genMMZero", "30K").strip().lower()
        options["bar"] = handicap.values.get("hdNoHdRankThreshold", "1D").strip().lower()
    if method := _SEEDINGS.get(_seeding(pairing, begun)):
        options["method"] = method
    for option, name in (("from_above", "paiMaDUDDUpperMode"), ("from_below", "paiMaDUDDLowerMode")):
        if place := _PLACES.get(pairing.values.get(name, "MID").strip().upper()):
            options[option] = place
    return options


def _has_handicap(handicap: Element) -> bool:
    return handicap.whole("hdCeiling", 9, 0, 9) > 0


def _seeding(pairing: Element, begun: int) -> str:
    """The word of the way of seeding in the next round."""
    first = begun < pairing.whole("paiMaLastRoundForSeedSystem1", 2, 0, MOST_ROUNDS)
    usual = "SPLITANDRANDOM" if first else "SPLITANDFOLD"
    return pairing.values.get(f"paiMaSeedSystem{1 if first else 2}", usual).strip().upper()


def _remarks(file: _File, begun: int) -> Iterator[str]:
    """What of the file has no effect here, in sentences."""
    lost = [name for name in file.words if name not in _CRITERIA]
    if lost:
        yield f"These criteria of OpenGotha's order of places have no effect here: {', '.join(lost)}."
    if file.words and file.words[0] not in ("MMS", "NBW"):
        yield f"Tournaments by {file.words[0]} are unknown here; it is read as a Swiss one."
    handicap, pairing = file.parameters("HandicapParameterSet"), file.parameters("PairingParameterSet")
    if _has_handicap(handicap) and not handicap.flag("hdBasedOnMMS", default=True):
        yield "Handicaps by grades have no effect here: the next rounds are even."
    elif _has_handicap(handicap) and handicap.whole("hdCeiling", 9, 0, 9) < 9:
        yield "The ceiling of handicaps has no effect here: it is 9 stones."
    if _seeding(pairing, begun) not in _SEEDINGS:
        yield f"The seeding {_seeding(pairing, begun)} has no effect here; the next round is seeded by folding."
    weighing = [what for name, what in _NO_EFFECT.items() if pairing.values.get(name, "0").strip() not in ("", "0")]
    if weighing:
        yield f"These parts of OpenGotha's pairing have no effect here: {', '.join(weighing)}."
    if file.teams:
        yield "The file names teams; they have no effect here."
    if any(not one.flag("knownColor", default=True) for one in file.games):
        yield "Colors that are not known are taken as the file has them."
