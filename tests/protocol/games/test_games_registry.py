"""Which games can be asked for."""

from __future__ import annotations

import pytest

from cgos_protocol.errors import Refused
from cgos_protocol.games.base import Ruleset
from cgos_protocol.games.registry import game_kind, names


def test_every_name_leads_to_the_game_of_that_name() -> None:
    assert "go" in names()
    for name in names():
        assert game_kind(name).name == name


def test_the_default_rules_can_be_played() -> None:
    kind = game_kind(Ruleset().game)
    assert kind.check(Ruleset()) is None
    assert kind.points(Ruleset(size=19)) == 361
    assert kind.new(Ruleset()).ply == 0


def test_an_unknown_game_is_refused_with_the_choice() -> None:
    with pytest.raises(Refused, match='no game "chess": choose go') as caught:
        game_kind("chess")
    assert caught.value.code == "unknown-game"
