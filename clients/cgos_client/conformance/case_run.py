"""Plays one case: its actors, what they say, what the server is held against.

Every wait has a deadline, and no game is left behind: what a case began is resigned when it ends. Must not know: which
server it is, other cases, how outcomes are shown.
"""

from __future__ import annotations

import asyncio
import operator
import random
import string
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from cgos_client.conformance.actor import Actor
from cgos_client.conformance.expectations import Expectations, RunSettings
from cgos_client.conformance.language import (
    Action,
    Case,
    Compare,
    Connects,
    Expect,
    Leaves,
    Let,
    Pair,
    Play,
    RunsOut,
    Send,
    SignsIn,
    Step,
    Wait,
)
from cgos_client.conformance.outcome import Differs, KnownQuirk, Outcome, Skipped, Verdict
from cgos_client.conformance.patterns import BadPattern, Made, fill, to_bytes
from cgos_client.errors import CannotConnect
from cgos_protocol.verdict import by_score

NAME_MAX: Final = 18
CLEAN_UP_SECONDS: Final = 10.0
CLIENT: Final = "cgos-client conformance"
THOUGHT_SECONDS: Final = 3.0
"""What a move may take in a case, beyond two times of silence."""
_OPERATORS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "==": operator.eq,
    "!=": operator.ne,
}
_ALPHABET: Final = string.ascii_lowercase + string.digits


class CaseRun:
    """One case on one server.

    :param rng: makes names and passwords
    """

    def __init__(self, case: Case, settings: RunSettings, rng: random.Random) -> None:
        self._case = case
        self._settings = settings
        self._rng = rng
        self._actors: dict[str, Actor] = {}
        self._expected = Expectations(settings)
        self._variables = self._expected.variables
        self._dialogue: list[str] = []
        self._tasks = asyncio.TaskGroup()

    async def play(self) -> Outcome:
        """Play the case to its end and leave nothing behind."""
        begun = time.monotonic()
        verdict, why, at, expected, got = Verdict.PASSED, "", None, "", ""
        async with self._tasks:
            try:
                for step in self._case.steps:
                    at = step
                    await self._step(step)
                at = None
                self._expected.hold_what_is_left(self._actors.values())
            except (Differs, CannotConnect) as error:
                verdict, why = Verdict.DIFFERS, str(error)
                if isinstance(error, Differs):
                    expected, got = error.expected, error.got
            except KnownQuirk as known:
                self._expected.quirks.append(known.quirk)
            except Skipped as skipped:
                verdict, why = Verdict.SKIPPED, str(skipped)
            await self._clean_up()
        if verdict is Verdict.PASSED and self._expected.quirks:
            verdict = Verdict.QUIRK
            why = "; ".join(f"{' and '.join(quirk.peers)}: {quirk.why}" for quirk in self._expected.quirks)
        peers = tuple(dict.fromkeys(peer for quirk in self._expected.quirks for peer in quirk.peers))
        return Outcome(
            case=self._case,
            verdict=verdict,
            seconds=time.monotonic() - begun,
            why=why,
            step=at,
            expected=expected,
            got=got,
            quirks=peers,
            dialogue=tuple(self._dialogue),
        )

    async def _step(self, step: Step) -> None:
        try:
            await self._act(step.action)
        except BadPattern as bad:
            raise Skipped(f"{self._case.file}, line {step.line}: {bad}") from None

    async def _act(self, action: Action) -> None:
        match action:
            case Connects(actor):
                await self._connect(actor)
            case SignsIn():
                await self._sign_in(action)
            case Pair():
                await self._pair(action)
            case Play(moves):
                for move in moves:
                    await self._play_move(move)
            case Send(actor, text, whole):
                await self._send(self._actor(actor), text, whole)
            case Expect():
                await self._expected.expect(self._actor(action.actor), action)
            case RunsOut(actor):
                await self._run_out(self._actor(actor))
            case Leaves(actor, hard):
                await self._actor(actor).close(hard)
            case Wait(seconds):
                await asyncio.sleep(seconds)
            case Let(name, template):
                self._variables[name] = self._value(template)
            case Compare():
                self._compare(action)

    # -- actors

    def _actor(self, role: str) -> Actor:
        if role not in self._actors:
            actor = Actor(
                role=role,
                name=self._fresh_name(),
                password=self._fresh(12),
                changed=self._expected.changed.set,
                dialogue=self._dialogue,
            )
            self._introduce(role, actor)
        return self._actors[role]

    def _introduce(self, role: str, actor: Actor) -> None:
        """From now on the case means `actor` by `role`."""
        self._actors[role] = actor
        self._variables[role], self._variables[f"{role}.password"] = actor.name, actor.password

    def _fresh(self, length: int) -> str:
        return "".join(self._rng.choice(_ALPHABET) for _ in range(length))

    def _fresh_name(self, length: int = 0) -> str:
        prefix = self._settings.prefix
        length = length or min(NAME_MAX, len(prefix) + 8)
        if length <= len(prefix):
            return "".join(self._rng.choice(string.ascii_lowercase) for _ in range(length))
        return prefix + self._fresh(length - len(prefix))

    async def _connect(self, role: str) -> Actor:
        actor = self._actor(role)
        actor.viewer = False
        await actor.connect(self._settings.host, self._settings.port, self._tasks)
        return actor

    async def _sign_in(self, action: SignsIn) -> None:
        actor = self._actor(action.actor)
        if action.name is not None:
            actor.name = self._filled(action.name)
        if action.password is not None:
            actor.password = self._filled(action.password).split(" ")[-1]
        words = actor.password if action.password is None else self._filled(action.password)
        await self._connect(action.actor)
        for expected, answer in (
            ("protocol *", f"e1 {self._filled(action.saying or CLIENT)}"),
            ("username", actor.name),
            ("password", words),
        ):
            line = await self._expected.next_fitting(actor, expected, f"{action.actor} signing in")
            if expected == "protocol *":
                self._variables["analysis"] = "yes" if "genmove_analyze" in line.split() else "no"
            await actor.send(answer.encode("latin-1") + b"\n")

    async def _send(self, actor: Actor, text: str, whole: bool) -> None:
        data = to_bytes(self._filled(text))
        if data[:2] == b"v1" and not actor.viewer:
            actor.viewer = True
        await actor.send(data + b"\n" if whole else data)

    # -- values

    def _filled(self, template: str) -> str:
        for role in ("black", "white"):
            if f"${role}" in template and role not in self._variables:
                raise BadPattern(f"${role} is known after 'pair'")
        return fill(template, self._variables)

    def _value(self, template: str) -> str:
        kind, _, rest = template.partition("(")
        match kind:
            case "name":
                return self._fresh_name(int(rest[:-1]))
            case "password":
                return self._fresh(int(rest[:-1]))
            case "upper":
                return self._filled(rest[:-1]).upper()
        return self._filled(template)

    def _compare(self, action: Compare) -> None:
        left, right = self._filled(action.left), self._filled(action.right)
        try:
            holds = _OPERATORS[action.operator](_sum(left), _sum(right))
        except ValueError:
            holds = action.operator in ("==", "!=") and _OPERATORS[action.operator](left, right)
        if not holds:
            shown = f"{left} {action.operator} {right}"
            if action.needed:
                what = f"{action.why} ({action.text})" if action.why else action.text
                raise Skipped(f"it needs {what}, which is {shown} here")
            raise Differs(action.text, f"not so: {shown}")

    # -- games

    async def _pair(self, action: Pair) -> None:
        """Two bots sign in and wait until they meet; games with strangers are resigned. Raises Skipped."""
        if action.again:
            roles = ("black", "white")
        else:
            roles = ("one", "two")
            for role in roles:
                await self._sign_in(SignsIn(role, saying=action.saying))
        pair = [self._actors[role] for role in roles]
        names = {actor.name for actor in pair}
        deadline = time.monotonic() + self._settings.patience
        met: dict[str, str] = {}
        while len(met) < 2:
            waiting = [actor for actor in pair if actor.name not in met]
            arrived = await self._expected.until(partial(self._first_line, waiting), deadline - time.monotonic())
            if arrived is None:
                raise Skipped(f"not paired with ourselves within {self._settings.patience:g} s")
            actor, line = arrived
            words = line.split()
            if words[0] == "setup":
                self._expected.obey(actor, line)
                seats = [words[5].partition("(")[0], words[6].partition("(")[0]]
                if set(seats) == names:
                    met[actor.name] = line
                    continue
            await self._stranger(actor, words)
        if len(set(met.values())) != 1:
            raise Differs("the same 'setup' for both sides", " and ".join(map(repr, met.values())))
        self._begin(next(iter(met.values())).split(), pair)

    def _first_line(self, pair: Sequence[Actor]) -> tuple[Actor, str] | None:
        for actor in pair:
            self._expected.drop_info(actor)
            if actor.lines:
                return actor, actor.lines.pop(0)
            if actor.closed:
                raise Differs("the bot stays signed in and is paired", "the connection was closed")
        return None

    async def _stranger(self, actor: Actor, words: Sequence[str]) -> None:
        """One line of a game with somebody else's bot: it is resigned as soon as that is possible."""
        self._expected.obey(actor, " ".join(words))
        match words[0]:
            case "genmove":
                await actor.send(b"resign\n")
            case "gameover":
                await actor.send(b"ready\n")
            case "setup" | "play":
                pass
            case _:
                raise Differs("the bot stays signed in and is paired", repr(" ".join(words)[:200]))

    def _begin(self, words: Sequence[str], pair: Sequence[Actor]) -> None:
        """The case's game: who is who, and what the server plays."""
        by_name = {actor.name: actor for actor in pair}
        for role, word in (("white", words[5]), ("black", words[6])):
            actor = by_name[word.partition("(")[0]]
            actor.role = role
            self._introduce(role, actor)
        self._actors.pop("one", None)
        self._actors.pop("two", None)
        self._expected.game = words[1]
        self._expected.moves.clear()
        size, komi2, least = int(words[2]), round(2 * float(words[3])), THOUGHT_SECONDS + 2 * self._settings.quiet
        self._variables.update(
            gid=words[1],
            size=words[2],
            komi=words[3],
            level=words[4],
            empty=by_score(-komi2).text,
            full=by_score(2 * size**2 - komi2).text,
        )
        self._variables.update(dict.fromkeys(("black.left", "white.left"), words[4]))
        if int(words[4]) < least * 1000:
            raise Skipped(f"a side has {words[4]} ms here, and a move of these cases may take {least:g} s")

    async def _play_move(self, move: str) -> None:
        """The side to move is asked, answers, and the other side is told."""
        letter, role = self._to_move()
        mover, other = self._actors[role], self._actors["white" if role == "black" else "black"]
        await self._expected.next_fitting(mover, f"genmove {letter} <ms>", role)
        await mover.send(move.encode() + b"\n")
        expected = f"play {letter} /{move}/ <ms>"
        line = await self._expected.next_line(other, f"{other.role}: {expected!r}")
        words = line.split()
        self._expected.obey(other, line)
        if len(words) != 4 or words[:2] != ["play", letter] or words[2].upper() != move.upper():
            raise Differs(f"'play {letter} {move.upper()} <ms>'", repr(line[:200]))
        self._expected.moves.append(Made(move, words[3]))
        self._variables[f"{role}.left"] = words[3]

    def _to_move(self) -> tuple[str, str]:
        """The side to move as its letter and its role."""
        return ("b", "black") if len(self._expected.moves) % 2 == 0 else ("w", "white")

    async def _run_out(self, actor: Actor) -> None:
        """Asked for a move, `actor` says nothing until its game is over.

        No line tells how many periods follow the one that runs. Where the time told is up and the game goes on, the
        actor comes back: it is told the rest of the running period. Raises Skipped where that takes too long, Differs
        where no time is left and nothing happens.
        """
        wish = f"genmove {self._to_move()[0]} <ms>"
        waited = 0.0
        while True:
            line = await self._expected.next_fitting(actor, wish, actor.role)
            left = int(line.split()[2]) / 1000
            if waited and not left:
                raise Differs(f"the game of {actor.role}, who has no time left, is over", repr(line))
            if waited + left > self._settings.longest:
                raise Skipped(f"its flag falls after more than {self._settings.longest:g} s")
            begun = time.monotonic()
            if await self._expected.spoken(actor, left + self._settings.answer):
                return
            waited += time.monotonic() - begun
            await actor.close(hard=True)
            await self._sign_in(SignsIn(actor.role))
            await self._expected.next_fitting(actor, "setup $gid *", f"{actor.role} coming back")
            await self._expected.spoken(actor, self._settings.answer)
            if actor.lines and actor.lines[0].startswith("gameover "):
                return

    # -- the end

    async def _clean_up(self) -> None:
        """Resign what is still played, then leave."""
        try:
            async with asyncio.timeout(CLEAN_UP_SECONDS):
                while players := self._players():
                    for actor in players:
                        if actor.closed:
                            await self._sign_in(SignsIn(actor.role))
                        if actor.owes_move:
                            await actor.send(b"resign\n")
                    await self._expected.until(
                        lambda: True if not self._players() or any(player.owes_move for player in players) else None,
                        2.0,
                    )
        except (TimeoutError, CannotConnect, Differs, Skipped):
            pass  # the server is told by the connection's end, and its clock does the rest
        for actor in self._actors.values():
            await actor.close()

    def _players(self) -> list[Actor]:
        """Who has to stay until a game is over: both sides of the case's own, and who plays against strangers."""
        own = [self._actors[role] for role in ("black", "white") if self._expected.game]
        if not all(actor.in_game for actor in own):
            own = []
        others = [actor for role, actor in self._actors.items() if role not in ("black", "white")]
        return own + [actor for actor in others if actor.in_game and not actor.closed]


def _sum(text: str) -> float:
    """``5``, ``5 - 3 + 1``. Raises ValueError where that is not what it is."""
    first, *rest = text.split(" ")
    terms = zip(rest[::2], rest[1::2], strict=True)
    return float(first) + sum(float(term) if sign == "+" else -float(term) for sign, term in terms)
