"""Transcripts: the text of a file as cases, each a list of steps. The language is described in ``README.md``.

What is wrong with a file is said with its name and line. Must not know: how steps are played.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import msgspec

from cgos_client.conformance.patterns import BadPattern, check


class BadTranscript(Exception):
    """A file is not in the language of transcripts. The text names file and line."""


class Quirk(NamedTuple):
    """What known servers do instead.

    :ivar peers: their names, as the transcripts call them
    :ivar goes_on: the case goes on after it; else it ends there
    """

    peers: tuple[str, ...]
    pattern: str
    why: str
    goes_on: bool


class Which(enum.StrEnum):
    """Which lines an expectation is about."""

    NEXT = ""
    SOME = "..."
    NONE = "!"


class Connects(NamedTuple):
    """``ACTOR connects``: open a connection, say nothing."""

    actor: str


class SignsIn(NamedTuple):
    """``ACTOR signs in [as NAME] [with PASSWORD] [saying TEXT]``; templates, None for the actor's own."""

    actor: str
    name: str | None = None
    password: str | None = None
    saying: str | None = None


class Pair(NamedTuple):
    """``pair [saying TEXT]``: two new bots meet; ``pair again``: the same two, after their `ready`."""

    saying: str | None = None
    again: bool = False


class Play(NamedTuple):
    """``play MOVE ...``: the two sides in turn, each move asked for and relayed."""

    moves: tuple[str, ...]


class Send(NamedTuple):
    """``ACTOR> TEXT`` (a line end is added) or ``ACTOR>> BYTES`` (nothing is)."""

    actor: str
    text: str
    whole: bool


class Expect(NamedTuple):
    """``ACTOR< PATTERN``: what the server says.

    :ivar which: the next line (``<``), some line not yet taken (``<...``), or no line at all (``<!``)
    :ivar seconds: how long it may take, or how long nothing may come; None for the usual
    """

    actor: str
    pattern: str
    which: Which
    seconds: float | None
    quirks: tuple[Quirk, ...] = ()


class RunsOut(NamedTuple):
    """``ACTOR runs out of time``: asked for a move, it thinks until its flag falls, in whichever time system."""

    actor: str


class Leaves(NamedTuple):
    """``ACTOR drops`` (as a broken line) or ``ACTOR closes`` (in order)."""

    actor: str
    hard: bool


class Wait(NamedTuple):
    """``wait N s``."""

    seconds: float


class Let(NamedTuple):
    """``let $NAME = TEMPLATE``, or ``name(N)``, ``password(N)``, ``upper(TEMPLATE)``."""

    name: str
    template: str


class Compare(msgspec.Struct, frozen=True, kw_only=True):
    """``check A <= B`` (else the case differs) or ``needs A <= B -- WHY`` (else it is skipped).

    :ivar left: a value, or values added and subtracted; so is `right`
    :ivar why: what is needed, in words; may be empty
    """

    text: str
    left: str
    operator: str
    right: str
    needed: bool
    why: str = ""


Action: TypeAlias = Connects | SignsIn | Pair | Play | Send | Expect | RunsOut | Leaves | Wait | Let | Compare


class Step(NamedTuple):
    """One line of a case."""

    line: int
    text: str
    action: Action


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the protocol's description, as a dialogue.

    :ivar harsh: what it does to servers that cannot take it; empty for most. Such cases are played last
    :ivar alone: its bots may be paired, with whomever: such cases are played one at a time
    """

    name: str
    title: str
    file: str
    line: int
    steps: tuple[Step, ...]
    harsh: str = ""
    alone: bool = False

    @property
    def topic(self) -> str:
        """What it is about: the file's name."""
        return self.file.removesuffix(".txt")


def parse(file: str, text: str) -> list[Case]:
    """The cases of one file. Raises BadTranscript."""
    cases: list[Case] = []
    steps: list[Step] = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        try:
            if line.startswith("==="):
                steps = []
                cases.append(_header(file, number, line))
            elif not cases:
                raise BadPattern("a step before the first case: begin a case with '=== name: title'")
            elif line.startswith("harsh: "):
                cases[-1] = msgspec.structs.replace(cases[-1], harsh=line.removeprefix("harsh: "))
            elif line == "alone":
                cases[-1] = msgspec.structs.replace(cases[-1], alone=True)
            elif line.lstrip().startswith("quirk "):
                steps[-1] = _with_quirk(steps, line)
            else:
                steps.append(Step(number, line, _action(line)))
            if steps:
                alone = cases[-1].alone or any(_may_be_paired(step.action) for step in steps)
                cases[-1] = msgspec.structs.replace(cases[-1], steps=tuple(steps), alone=alone)
        except BadPattern as bad:
            raise BadTranscript(f"{file}, line {number}: {bad}") from None
    return cases


_HEADER = re.compile(r"=== ([a-z0-9-]+): (.+)")
_QUIRK = re.compile(r"quirk ([a-z]+(?: [a-z]+)*)(, goes on)?: (.+?)(?: +-- (.+))?")
_SUM = r"\S+(?: [+-] \S+)*"
_COMPARE = re.compile(rf"({_SUM}) (<=|>=|<|>|==|!=) ({_SUM})(?: +-- (.+))?")


def _header(file: str, number: int, line: str) -> Case:
    fit = _HEADER.fullmatch(line)
    if fit is None:
        raise BadPattern("a case begins with '=== name: title', its name of small letters, digits and '-'")
    return Case(name=fit[1], title=fit[2], file=file, line=number, steps=())


def _may_be_paired(action: Action) -> bool:
    return isinstance(action, SignsIn | Pair) or (isinstance(action, Send) and ".password" in action.text)


def _with_quirk(steps: Sequence[Step], line: str) -> Step:
    fit = _QUIRK.fullmatch(line.strip())
    if fit is None:
        raise BadPattern("write 'quirk SERVER ...: pattern -- why', or 'quirk SERVER ..., goes on: pattern -- why'")
    last = steps[-1].action if steps else None
    if not isinstance(last, Expect):
        raise BadPattern("a quirk belongs to the expectation above it")
    check(fit[3])
    quirk = Quirk(tuple(fit[1].split()), fit[3], fit[4] or fit[3], fit[2] is not None)
    return steps[-1]._replace(action=last._replace(quirks=(*last.quirks, quirk)))


def _action(line: str) -> Action:
    for pattern, make in _STEPS:
        fit = re.fullmatch(pattern, line)
        if fit is not None:
            return make(fit)
    raise BadPattern(f"no step of this language: {line!r}")


def _expect(fit: re.Match[str]) -> Expect:
    check(fit[3])
    return Expect(fit[1], fit[3], Which(fit[2] or ""), float(fit[4]) if fit[4] else None)


def _compare(fit: re.Match[str]) -> Compare:
    whole = _COMPARE.fullmatch(fit[2])
    if whole is None:
        raise BadPattern(f"compare two values with <=, >=, <, >, == or !=: {fit[2]!r}")
    text = f"{whole[1]} {whole[2]} {whole[3]}"
    return Compare(
        text=text, left=whole[1], operator=whole[2], right=whole[3], needed=fit[1] == "needs", why=whole[4] or ""
    )


_STEPS: Sequence[tuple[str, Callable[[re.Match[str]], Action]]] = (
    (r"([a-z]+)<(\.\.\.|!)? (.+?)(?: +\[(?:within|for) (\d+(?:\.\d+)?) s\])?", _expect),
    (r"([a-z]+)>> (.+)", lambda fit: Send(fit[1], fit[2], False)),
    (r"([a-z]+)>(?: (.*))?", lambda fit: Send(fit[1], fit[2] or "", True)),
    (r"([a-z]+) connects", lambda fit: Connects(fit[1])),
    (r"([a-z]+) signs in(?: as (\S+))?(?: with (.+?))?(?: saying (.+))?", lambda fit: SignsIn(*fit.groups())),
    (r"pair again", lambda _: Pair(again=True)),
    (r"pair(?: saying (.+))?", lambda fit: Pair(fit[1])),
    (r"play (.+)", lambda fit: Play(tuple(fit[1].split()))),
    (r"([a-z]+) runs out of time", lambda fit: RunsOut(fit[1])),
    (r"([a-z]+) (drops|closes)", lambda fit: Leaves(fit[1], fit[2] == "drops")),
    (r"wait (\d+(?:\.\d+)?) s", lambda fit: Wait(float(fit[1]))),
    (r"let \$([a-z]+(?:\.[a-z]+)*) = (.+)", lambda fit: Let(fit[1], fit[2])),
    (r"(check|needs) (.+)", _compare),
)
