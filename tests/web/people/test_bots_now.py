"""What owners' bots do just now: asked once however many look, and a sentence where nobody answers."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from cgos_protocol.errors import Code, Forbidden, OurFault, Unavailable
from cgos_server.service.control import VersionNow
from cgos_server.web.people.bots_now import FRESH_MS, KEPT, SILENT, BotsNow, Now

PLAYS = VersionNow(
    name="Tree", venue="9x9", state="playing", since=1.0, games=[7], slots=1, why="It plays.", paired=True
)
REQUEST: Any = None


class Game:
    """A game process that counts how often it is asked."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []
        self.answer: Any = [PLAYS]
        self.gate = asyncio.Event()
        self.gate.set()
        self.ms = 1_000_000

    async def on_behalf(self, credential: str, _request: Any, deed: Any) -> Any:
        self.calls.append((credential, deed.bot))
        answer = self.answer
        await self.gate.wait()
        if isinstance(answer, Exception):
            raise answer
        return [answer, []]  # of the node that has it and of another one


@pytest.fixture
def game() -> Game:
    return Game()


@pytest.fixture
def bots(game: Game) -> BotsNow:
    return BotsNow(game.on_behalf, lambda: game.ms, 0.02)


async def test_many_who_look_at_once_ask_once(game: Game, bots: BotsNow) -> None:
    game.gate.clear()
    looks = [asyncio.ensure_future(bots.look("Tree", f"s{count}", REQUEST)) for count in range(50)]
    await asyncio.sleep(0)
    game.gate.set()
    assert await asyncio.gather(*looks) == [Now([PLAYS])] * 50
    assert game.calls == [("s0", "Tree")]
    game.ms += FRESH_MS - 1
    await bots.look("Tree", "s", REQUEST)
    assert len(game.calls) == 1
    game.ms += 1
    await bots.look("Tree", "s", REQUEST)
    assert len(game.calls) == 2
    game.ms -= 60_000  # a clock that was set back
    await bots.look("Tree", "s", REQUEST)
    assert len(game.calls) == 3


@pytest.mark.parametrize("fault", [Unavailable(Code.NO_SERVER, "None runs."), OurFault("It broke off.")])
async def test_where_nobody_answers_a_sentence_says_so_and_is_remembered(
    game: Game, bots: BotsNow, fault: Any
) -> None:  # fmt: skip
    game.answer = fault
    assert await bots.look("Tree", "s", REQUEST) == Now(None, SILENT)
    assert await bots.look("Tree", "t", REQUEST) == Now(None, SILENT)
    assert len(game.calls) == 1


async def test_a_game_process_that_hangs_is_not_waited_for_by_each_in_turn(game: Game, bots: BotsNow) -> None:
    game.gate.clear()
    answers = await asyncio.gather(*(bots.look("Tree", "s", REQUEST) for _ in range(20)))
    assert answers == [Now(None, SILENT)] * 20
    assert len(game.calls) == 1


async def test_who_goes_away_while_asking_leaves_the_others_their_answer(game: Game, bots: BotsNow) -> None:
    game.gate.clear()
    first, second = (asyncio.ensure_future(bots.look("Tree", "s", REQUEST)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    game.gate.set()
    assert await second == Now([PLAYS])
    assert first.cancelled()


async def test_one_persons_refusal_is_nobody_elses(game: Game, bots: BotsNow) -> None:
    game.answer = Forbidden(Code.SCOPE, "This token was not made for it.")
    assert await bots.look("Tree", "s", REQUEST) == Now(None, "This token was not made for it.")
    game.answer = [PLAYS]
    assert await bots.look("Tree", "t", REQUEST) == Now([PLAYS])


async def test_what_was_done_with_a_bot_shows_at_once(game: Game, bots: BotsNow) -> None:
    await bots.look("Tree", "s", REQUEST)
    bots.forget("Tree")
    bots.forget(None)
    bots.forget("Nobody")
    await bots.look("Tree", "s", REQUEST)
    assert len(game.calls) == 2


async def test_as_many_bots_as_there_are_places_are_remembered(game: Game, bots: BotsNow) -> None:
    for count in range(KEPT + 10):
        await bots.look(f"b{count}", "s", REQUEST)
    await bots.look("b0", "s", REQUEST)
    await bots.look(f"b{KEPT + 9}", "s", REQUEST)
    assert len(game.calls) == KEPT + 11
