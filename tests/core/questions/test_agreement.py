from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cgos_protocol.session import EVERYBODY, Limits
from cgos_server.core.questions.agreement import agrees

NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_.-]{2,8}", fullmatch=True)


@pytest.mark.parametrize(
    ("accepts", "asker", "agreed"),
    [
        (set(), "Anna", False),
        (set(), None, True),
        ({"Anna"}, "Anna", True),
        ({"ANNA"}, "Anna", True),
        ({"new-bot"}, "Anna", True),
        ({"New-Bot-1.2", "An", "Annabel"}, "Anna", False),
        ({"Carl", EVERYBODY}, "Anna", True),
        ({"Carl"}, "Anna", False),
        ({"Carl"}, None, True),
    ],
)
def test_who_may_ask(accepts: set[str], asker: str | None, agreed: bool) -> None:
    assert agrees(accepts, asker=asker, bot="New-Bot") is agreed


def test_who_said_nothing_plays_in_nobodys_questions() -> None:
    assert not agrees(Limits().accepts, asker="Anna", bot="New-Bot")


@given(st.frozensets(NAMES), st.frozensets(NAMES), NAMES, NAMES)
def test_more_names_agree_to_no_less(here: frozenset[str], there: frozenset[str], asker: str, bot: str) -> None:
    either = agrees(here, asker=asker, bot=bot) or agrees(there, asker=asker, bot=bot)
    assert agrees(here | there, asker=asker, bot=bot) == either
    assert agrees({name.swapcase() for name in here}, asker=asker, bot=bot) == agrees(here, asker=asker, bot=bot)
    assert agrees(here | {asker}, asker=asker, bot=bot)
    assert agrees(here | {bot}, asker=asker, bot=bot)
