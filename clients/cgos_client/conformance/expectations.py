"""Holds what the server says against what a case expects, and against the laws.

Knows what a case has found out so far: values, the game and its moves, quirks. Every wait has a deadline. Must not
know: how connections are made, what is sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NoReturn, TypeVar

import msgspec

from cgos_client.conformance import laws
from cgos_client.conformance.actor import Actor
from cgos_client.conformance.language import Expect, Quirk, Which
from cgos_client.conformance.outcome import Differs, KnownQuirk, Skipped
from cgos_client.conformance.patterns import Made, fits

T = TypeVar("T")


class RunSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What holds for all cases of a run; times in seconds.

    :ivar prefix: how the names of all bots begin
    :ivar patience: how long two bots may wait for their game
    :ivar answer: how long an answer may take
    :ivar quiet: how long nothing is to come where nothing is expected
    :ivar longest: the longest time control whose flag is waited for
    """

    host: str
    port: int
    prefix: str
    patience: float
    answer: float
    quiet: float
    longest: float


class Expectations:
    """What one case hears.

    :ivar changed: set whenever something came
    :ivar variables: the values of ``$name``
    :ivar game: the number of the case's own game, empty before there is one
    :ivar moves: that game's moves so far
    :ivar quirks: what known servers do, seen here
    """

    def __init__(self, settings: RunSettings) -> None:
        self.changed = asyncio.Event()
        self.variables: dict[str, str] = {"longest": str(round(settings.longest * 1000))}
        self.game = ""
        self.moves: list[Made] = []
        self.quirks: list[Quirk] = []
        self._settings = settings

    async def until(self, condition: Callable[[], T | None], seconds: float) -> T | None:
        """The first value of `condition` that is not None; None when `seconds` have passed."""
        try:
            async with asyncio.timeout(seconds):
                while True:
                    self.changed.clear()
                    value = condition()
                    if value is not None:
                        return value
                    await self.changed.wait()
        except TimeoutError:
            return condition()

    async def next_line(self, actor: Actor, expected: str) -> str:
        """The next line that is no `info`, taken. Raises Differs where none comes."""
        await self.spoken(actor, self._settings.answer)
        if actor.lines:
            return actor.lines.pop(0)
        raise Differs(expected, _silence(actor))

    async def next_fitting(self, actor: Actor, pattern: str, when: str) -> str:
        """The next line that is no `info`, taken and held against `pattern`. Raises Differs.

        :param when: what the actor is doing, for the sentence where no line comes
        """
        line = await self.next_line(actor, f"{when}: {pattern!r}")
        self.hold(actor, pattern, line)
        return line

    async def spoken(self, actor: Actor, seconds: float) -> bool | None:
        """Wait until a line has come that is no `info`, or none will come any more; None when `seconds` have passed."""
        return await self.until(partial(self.has_spoken, actor), seconds)

    def has_spoken(self, actor: Actor) -> bool | None:
        """True once a line waits that is no `info`, or none will come."""
        self.drop_info(actor)
        return True if actor.lines or actor.closed else None

    def drop_info(self, actor: Actor) -> None:
        while actor.lines and actor.lines[0].startswith("info "):
            self.obey(actor, actor.lines.pop(0))

    def obey(self, actor: Actor, line: str) -> None:
        fault = laws.broken(line, actor.viewer)
        if fault is not None:
            raise Differs("what every client understands", f"{fault}: {line[:200]!r}")

    def hold(self, actor: Actor, pattern: str, line: str) -> None:
        """Hold a line against a pattern and the laws. Raises Differs."""
        values = fits(pattern, line, self.variables, self.moves)
        if values is None:
            self._unlike(actor, line, self._shown(pattern))
        self.obey(actor, line)
        self.variables.update(values)

    def _unlike(self, actor: Actor, line: str | None, expected: str) -> NoReturn:
        """Something else than `expected` came, or nothing (None). Raises Differs or Skipped."""
        if line is not None:
            self._not_in_mid_case(actor, line)
            self.obey(actor, line)
        raise Differs(expected, _silence(actor) if line is None else repr(line[:300]))

    def _not_in_mid_case(self, actor: Actor, line: str) -> None:
        """Another game than the case's own: the server paired a bot that was to wait. Raises Skipped.

        Where the bot could not be paired it is the server that is wrong, and nothing is raised.
        """
        words = line.split()
        if words[:1] == ["setup"] and words[1:2] != [self.game] and not (actor.viewer or actor.uncalled):
            raise Skipped("the server paired a bot in the middle of the case")

    def hold_what_is_left(self, actors: Iterable[Actor]) -> None:
        for actor in actors:
            for line in actor.lines:
                self.obey(actor, line)

    # -- expectations

    async def expect(self, actor: Actor, action: Expect) -> None:
        """Raises Differs, KnownQuirk or Skipped where `actor` does not hear what it should."""
        match action.which, action.pattern:
            case Which.NONE, _:
                await self._expect_none(actor, action)
            case Which.SOME, pattern if pattern != "(closed)":
                await self._expect_some(actor, action)
            case _, "(nothing)":
                await self._expect_nothing(actor, action)
            case _, "(closed)":
                await self._expect_closed(actor, action)
            case _:
                await self._expect_next(actor, action)

    async def _expect_next(self, actor: Actor, action: Expect) -> None:
        wants_info = action.pattern.startswith("info ")

        def ready() -> bool | None:
            return True if wants_info and actor.lines else self.has_spoken(actor)

        await self.until(ready, action.seconds or self._settings.answer)
        line = actor.lines.pop(0) if actor.lines else None
        values = fits(action.pattern, line, self.variables, self.moves) if line is not None else None
        if line is not None and values is not None and laws.broken(line, actor.viewer) is None:
            self.variables.update(values)
        elif not self._is_quirk(action.quirks, line, actor.closed):
            self._unlike(actor, line, self._shown(action.pattern))

    async def _expect_some(self, actor: Actor, action: Expect) -> None:
        def find() -> int | None:
            for at, line in enumerate(actor.lines):
                if fits(action.pattern, line, self.variables, self.moves) is not None:
                    return at
            return -1 if actor.closed else None

        at = await self.until(find, action.seconds or self._settings.answer)
        if at is not None and at >= 0:
            self.hold(actor, action.pattern, actor.lines.pop(at))
            return
        if any(self._is_quirk(action.quirks, line, actor.closed) for line in [*actor.lines, None]):
            return
        latest = "; ".join(map(repr, actor.lines[-5:])) or "nothing"
        raise Differs(self._shown(action.pattern) + " among its lines", latest[:300])

    async def _expect_none(self, actor: Actor, action: Expect) -> None:
        def find() -> str | None:
            matching = (line for line in actor.lines if fits(action.pattern, line, self.variables) is not None)
            return next(matching, None)

        line = await self.until(find, action.seconds or self._settings.quiet)
        if line is not None and not self._is_quirk(action.quirks, line, actor.closed):
            raise Differs("no line " + self._shown(action.pattern), repr(line[:300]))

    async def _expect_nothing(self, actor: Actor, action: Expect) -> None:
        if await self.spoken(actor, action.seconds or self._settings.quiet):
            line = actor.lines.pop(0) if actor.lines else None
            if not self._is_quirk(action.quirks, line, actor.closed):
                self._unlike(actor, line, "silence")

    async def _expect_closed(self, actor: Actor, action: Expect) -> None:
        def ended() -> bool | None:
            if action.which is Which.SOME:
                self.hold_what_is_left([actor])
                actor.lines.clear()
            return self.has_spoken(actor)

        await self.until(ended, action.seconds or self._settings.answer)
        if actor.closed and not actor.lines:
            return
        line = actor.lines.pop(0) if actor.lines else None
        if not self._is_quirk(action.quirks, line, actor.closed):
            self._unlike(actor, line, "the connection is closed")

    def _is_quirk(self, quirks: Sequence[Quirk], line: str | None, closed: bool) -> bool:
        """True where `quirks` know what happened and the case goes on. Raises KnownQuirk where it ends there."""
        for quirk in quirks:
            match quirk.pattern:
                case "(anything)":
                    known = True
                case "(nothing)":
                    known = line is None and not closed
                case "(closed)":
                    known = line is None and closed
                case "(blank line)":
                    known = line == ""
                case pattern:
                    values = fits(pattern, line, self.variables, self.moves) if line is not None else None
                    self.variables.update(values or {})
                    known = values is not None
            if known and not quirk.goes_on:
                raise KnownQuirk(quirk)
            if known:
                self.quirks.append(quirk)
                return True
        return False

    def _shown(self, pattern: str) -> str:
        """`pattern` with the values that are known."""
        for name in sorted(self.variables, key=len, reverse=True):
            pattern = pattern.replace(f"${name}", self.variables[name])
        return repr(pattern.replace("<moves>", " ".join(f"{made.move} {made.left}" for made in self.moves)))


def _silence(actor: Actor) -> str:
    """What came in place of a line."""
    return "the connection was closed" if actor.closed else "nothing"
