"""Declarations by their words: the project's own, those of plug-ins, and what is said of those that cannot be used."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from cgos_protocol.catalog import Catalog, Kind
from cgos_protocol.errors import Code, Refused
from cgos_protocol.options import Flag, Number
from cgos_protocol.plugins import Plugin
from cgos_server.core.pairing import registry as pairing
from cgos_server.core.pairing.base import Candidate, MatchmakerDeclaration, Pair, Pairing, PairingPass
from cgos_server.core.rating import registry as rating
from cgos_server.core.rating.base import RatingDeclaration
from cgos_server.core.rating.incremental.gor import SYSTEM, Gor
from cgos_server.tournaments import registry as tournaments
from cgos_server.tournaments.base import TournamentDeclaration

OWN = {"gor": "cgos_server.core.rating.incremental.gor:SYSTEM"}
KIND = Kind("rating system", Code.RATING_SYSTEM, RatingDeclaration)
OTHER = replace(SYSTEM, name="other")


def plugin(load: Callable[[], Any], name: str = "other", distribution: str = "cgos-other") -> Plugin:
    return Plugin(name, distribution, "1.2", load)


def catalog(*plugins: Plugin) -> Catalog[RatingDeclaration]:
    return Catalog(KIND, OWN, plugins)


def test_own_and_others_are_found_by_their_words() -> None:
    every = catalog(plugin(lambda: OTHER))
    assert every.names == every.usable == ("gor", "other")
    assert every.find("gor") is SYSTEM
    assert every.find("other") is OTHER
    assert every.origins == {"other": "cgos-other 1.2"}
    assert (every.origin("gor"), every.origin("nobody")) == ("", "")
    assert every.problems == []
    with pytest.raises(Refused, match=r"no rating system 'nobody'\. Choose one of: gor, other\.") as caught:
        every.find("nobody")
    assert caught.value.code == "rating-system"


def test_nothing_is_imported_before_it_is_asked_for() -> None:
    loaded: list[str] = []

    def load() -> RatingDeclaration:
        loaded.append("other")
        return OTHER

    every = catalog(plugin(load))
    assert every.names == ("gor", "other")
    every.find("gor")
    assert loaded == []
    every.find("other")
    every.find("other")
    assert loaded == ["other"]


def test_a_class_is_called() -> None:
    class Declared(RatingDeclaration):
        def __init__(self) -> None:
            super().__init__(name="other", about="other ratings", make=Gor)

    assert catalog(plugin(lambda: Declared)).find("other").about == "other ratings"


def test_the_projects_own_name_holds() -> None:
    every = catalog(plugin(lambda: replace(OTHER, name="gor"), "gor"))
    assert every.find("gor") is SYSTEM
    assert every.names == ("gor",)
    (problem,) = every.problems
    assert problem.startswith("The rating system 'gor' of cgos-other 1.2 is left out")


def test_of_two_with_one_name_neither_is_used() -> None:
    every = catalog(plugin(lambda: OTHER), plugin(lambda: OTHER, distribution="cgos-third"))
    with pytest.raises(Refused, match=r"in cgos-other 1\.2 and cgos-third 1\.2\. Uninstall one"):
        every.find("other")
    assert every.usable == ("gor",)
    assert len(every.problems) == 1


def failing() -> Any:
    raise ImportError("no module named numbers2")


def leaving() -> Any:
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("load", "words"),
    [
        (failing, "cannot be loaded: ImportError: no module named numbers2"),
        (leaving, "cannot be loaded: SystemExit: 3"),
        (lambda: "a system", "is no cgos_server.core.rating.base.RatingDeclaration"),
        (lambda: SYSTEM, "is declared as 'gor'"),
        (lambda: replace(OTHER, about=""), "does not say what it is about"),
        (lambda: replace(OTHER, options={"k": 24}), "has an option 'k' that is none of"),
        (lambda: replace(OTHER, options={"the k": Flag(default=True)}), "has an option 'the k'"),
        (lambda: replace(OTHER, options={"k": Number(0, 1, default=2)}), "Give a number from 0 to 1"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason(load: Callable[[], Any], words: str) -> None:
    every = catalog(plugin(load))
    with pytest.raises(Refused) as caught:
        every.find("other")
    assert words in caught.value.sentence
    assert "of cgos-other 1.2 " in caught.value.sentence
    assert every.problems == [caught.value.sentence]
    assert every.usable == ("gor",)


def test_a_matchmakers_option_that_every_one_has_is_refused() -> None:
    declared = MatchmakerDeclaration(
        name="other", about="as others", make=_Method, options={"grace": Flag(default=True)}
    )
    every = Catalog[MatchmakerDeclaration](pairing.KIND, {}, [plugin(lambda: declared)])
    with pytest.raises(Refused, match=r"of cgos-other 1\.2 has an option that every .* has already.*: grace\."):
        every.find("other")
    usable = replace(declared, options={"graces": Flag(default=True)})
    assert Catalog[MatchmakerDeclaration](pairing.KIND, {}, [plugin(lambda: usable)]).problems == []


def test_a_tournament_system_that_no_word_reaches_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    declared = replace(tournaments.systems().find("swiss"), name="dutch")
    every = Catalog[TournamentDeclaration](tournaments.KIND, {}, [plugin(lambda: declared, "dutch")])
    assert every.usable == ()
    (problem,) = every.problems
    assert problem.startswith("The tournament system 'dutch' of cgos-other 1.2 has a name that is short for mwm here.")
    monkeypatch.setattr(tournaments, "systems", lambda: every)
    assert tournaments.words() == tuple(tournaments.SHORT)


def test_a_failure_while_it_is_made_is_a_sentence() -> None:
    def make(initial: float) -> Gor:
        raise ZeroDivisionError(f"{initial} / 0")

    with pytest.raises(Refused, match=r"of cgos-other 1\.2 cannot be made: ZeroDivisionError: 5\.0 / 0"):
        catalog(plugin(lambda: replace(OTHER, make=make))).make("other", 5.0)
    with pytest.raises(Refused, match="says that its name is 'gor'"):
        catalog(plugin(lambda: OTHER)).make("other", 5.0)


def test_a_rating_system_that_contradicts_its_declaration_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    every = Catalog[RatingDeclaration](KIND, {}, [plugin(lambda: replace(SYSTEM, sure=True), "gor")])
    monkeypatch.setattr(rating, "systems", lambda: every)
    with pytest.raises(Refused, match="sure must be the same in both"):
        rating.rating_system("gor", 1400.0, {})


@pytest.mark.parametrize("registry", [rating.systems, pairing.matchmakers, tournaments.systems])
def test_every_declaration_of_the_project_is_one_that_a_plug_in_could_make(
    registry: Callable[[], Catalog[Any]],
) -> None:
    own = registry()
    as_plugins = [Plugin(name, "cgos-server", "0", lambda name=name: own.find(name)) for name in own.names]  # type: ignore[misc]
    again: Catalog[Any] = Catalog(own._kind, {}, as_plugins)
    assert again.problems == []
    assert again.usable == own.names
    for name in own.names:
        assert all(option.meaning for option in own.find(name).options.values()), name


class _Method:
    name = "given"

    def __init__(self, decided: Callable[[], Pairing]) -> None:
        self._decided = decided

    def pair(self, pairing_pass: PairingPass, rng: Any) -> Pairing:
        return self._decided()


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([(1, 2), (2, 3)], "no candidate, or twice"),
        ([(1, 9)], "no candidate, or twice"),
        ([(1, 3)], "two that must not meet"),
        (None, "TypeError"),
    ],
)
def test_what_a_plug_in_pairs_is_checked(
    pairs: list[tuple[int, int]] | None, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = MatchmakerDeclaration(name="given", about="as given", make=_Method)
    every = Catalog[MatchmakerDeclaration](pairing.KIND, {}, [plugin(lambda: declared, "given")])
    monkeypatch.setattr(pairing, "matchmakers", lambda: every)
    pairing_pass = PairingPass(
        candidates=[
            Candidate(number, f"bot{number}", 1500.0, apart=(3,) if number == 1 else ()) for number in (1, 2, 3)
        ]
    )
    method: Any = _Method(lambda: Pairing(pairs=[Pair(first, second, "so") for first, second in pairs]))  # type: ignore[union-attr]
    with pytest.raises(Refused, match=words):
        pairing.decide(method, pairing_pass, random.Random(1))
